//! Disks among volumes: found by name or number, or not at all.

use super::super::said::{Adapter, FieldReading, Volume};
use super::{Addresses, DiskIdentity, VolumeMatch, find};

fn volume(name: &str, target: Option<u32>, node: Option<&str>, wwn: Option<&str>) -> Volume {
    Volume {
        name: name.to_owned(),
        target,
        node: node.map(str::to_owned),
        wwn: wwn.map(str::to_owned),
        policy: FieldReading::missing("a test"),
        in_force: FieldReading::missing("a test"),
        on_failure: FieldReading::missing("a test"),
        disk_cache: FieldReading::missing("a test"),
    }
}

fn adapter(bus: Option<u32>, volumes: &[Volume]) -> Adapter {
    let pci = bus.map(|bus| [0, bus, 0, 0]);
    Adapter { pci, volumes: volumes.to_vec(), ..Adapter::unread("0", FieldReading::missing("a test")) }
}

fn disk(place: &str) -> DiskIdentity {
    DiskIdentity { node: "/dev/sda".to_owned(), wwn: Some("6001".to_owned()), ..DiskIdentity::default() }
        .at(place)
}

const VOLUME_1: &str = "../../devices/pci0000:00/0000:02:00.0/host3/target3:2:1/3:2:1:0/block/sda";
const PASSED_ON: &str = "../../devices/pci0000:00/0000:02:00.0/host3/target3:0:1/3:0:1:0/block/sda";

/// The name of the volume, `|` between several, `passed on`, or nothing.
fn found(disk: &DiskIdentity, adapters: &[Adapter], addresses: Addresses, controllers: usize) -> String {
    match find(disk, adapters, addresses, controllers) {
        VolumeMatch::Volume(_, volume) => volume.name.clone(),
        VolumeMatch::OneOf(volumes) => {
            volumes.iter().map(|(_, volume)| volume.name.as_str()).collect::<Vec<_>>().join("|")
        }
        VolumeMatch::PassedOn => "passed on".to_owned(),
        VolumeMatch::Nowhere(_) => String::new(),
    }
}

#[test]
fn the_place_tells_controller_and_address() {
    let disk = disk(VOLUME_1);
    assert_eq!((disk.pci, disk.address), (Some([0, 2, 0, 0]), Some((2, 1))));
    let nowhere = DiskIdentity::default().at("../../devices/virtual/block/loop0");
    assert_eq!((nowhere.pci, nowhere.address), (None, None));
}

#[test]
fn numbers_count_only_within_the_disks_own_controller() {
    use Addresses::MegaRaid;
    let numbered = |name: &str, target| volume(name, Some(target), None, None);
    let (here, there) = ([numbered("a0", 0), numbered("a1", 1)], [numbered("b1", 1)]);
    let of = |adapters: &[Adapter], controllers| found(&disk(VOLUME_1), adapters, MegaRaid, controllers);
    let at = |bus, volumes: &[Volume]| adapter(bus, volumes);
    assert_eq!(of(&[at(Some(2), &here), at(Some(3), &there)], 2), "a1");
    assert_eq!(of(&[at(Some(4), &here), at(Some(3), &there)], 2), "", "neither is this one");
    assert_eq!(of(&[at(None, &here)], 1), "a1");
    assert_eq!(of(&[at(None, &here)], 2), "", "it may be the other's");
    assert_eq!(of(&[at(None, &here), at(None, &there)], 2), "a1|b1");
    assert_eq!(of(&[at(Some(2), &here), at(Some(2), &there)], 2), "");
    assert_eq!(of(&[at(Some(2), &here[..1])], 1), "", "the list lacks this number");
    // Channel 3 begins with number 128.
    let far = disk(&VOLUME_1.replace("3:2:1", "3:3:1"));
    assert_eq!(found(&far, &[at(Some(2), &[numbered("a129", 129), here[1].clone()])], MegaRaid, 1), "a129");
    assert_eq!(found(&disk(PASSED_ON), &[at(Some(2), &here)], MegaRaid, 1), "passed on");
}

#[test]
fn names_are_believed_unless_they_contradict_each_other() {
    use Addresses::Opaque;
    let of = |volumes: &[Volume]| found(&disk(VOLUME_1), &[adapter(Some(2), volumes)], Opaque, 1);
    assert_eq!(
        of(&[volume("a", None, Some("/dev/sdb"), None), volume("b", None, Some("/dev/sda"), None)]),
        "b"
    );
    assert_eq!(of(&[volume("a", None, None, Some("6001"))]), "a");
    assert_eq!(of(&[volume("a", None, Some("/dev/sda"), Some("6002"))]), "");
    assert_eq!(of(&[volume("a", None, Some("/dev/sdb"), Some("6001"))]), "");
    assert_eq!(
        of(&[volume("a", None, Some("/dev/sda"), None), volume("b", None, Some("/dev/sda"), None)]),
        ""
    );
    assert_eq!(of(&[volume("a", None, None, None)]), "", "it may be a disk that is passed on");
    let logical = DiskIdentity { model: "HPE LOGICAL VOLUME".to_owned(), ..disk(VOLUME_1) };
    let two = [volume("a", None, None, None), volume("b", None, None, None)];
    assert_eq!(found(&logical, &[adapter(Some(2), &two)], Opaque, 1), "a|b");
    assert_eq!(found(&logical, &[adapter(Some(3), &two)], Opaque, 1), "");
}

/// hpsa and smartpqi show a RAID level of every disk, and none of one that is no volume.
#[test]
fn the_driver_says_which_disk_is_no_volume() {
    let volumes = [volume("a", None, None, None)];
    let of = |level: Option<&str>, addresses| {
        let disk = DiskIdentity { level: level.map(str::to_owned), ..disk(VOLUME_1) };
        found(&disk, &[adapter(Some(2), &volumes)], addresses, 1)
    };
    assert_eq!(of(Some("N/A"), Addresses::Opaque), "passed on");
    assert_eq!(of(Some("N/A"), Addresses::SmartArray), "passed on");
    assert_eq!(of(Some("RAID-1(1+0)"), Addresses::Opaque), "", "a volume's name decides, as before");
    assert_eq!(of(None, Addresses::Opaque), "", "older drivers do not say");
    assert_ne!(of(Some("N/A"), Addresses::MegaRaid), "passed on", "other drivers show no such thing");
}
