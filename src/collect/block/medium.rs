//! What a disk is made of, for what speed can be expected of it, and whether it writes in shingled zones; both concluded
//! from how it is attached, its model, the kernel's rotational flag and `queue/zoned` (sysfs-block).
//!
//! The surprise: the rotational flag is believed on a disk that is really there and nowhere else. Virtual machines, RAID
//! controllers, networks and USB bridges show `1` whatever lies behind, so there the answer is `virtual`, or not known.

use super::topology::Node;
use crate::facts::catalog::device::{self, Zoned};
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, Reading, Remedy, Source, Subject, Why};
use crate::quote::Command;

/// Vendors of disks that a program plays, as the model begins or as it goes on behind the vendor.
const PLAYED: &[&str] = &["QEMU", "VMware", "VBOX", "ORCL-VBOX", "LIO-ORG", "Linux scsi_debug"];
/// A volume of an LSI controller's own RAID shows itself among plain SAS disks.
const VOLUMES: &[&str] = &["LSILOGIC Logical Volume", "LSI Logical Volume", "Dell VIRTUAL DISK"];

/// Records what a device that stands on nothing is made of, and how it writes.
pub fn describe(node: &Node, facts: &mut FactSet) {
    let medium = match node.kind {
        "zram" | "ram" => Reading::known("memory".to_owned(), Source::derived([device::KIND.name()])),
        "disk" => of_disk(&node.subject, facts),
        _ => return,
    };
    facts.put(&node.subject, &device::MEDIUM, medium);
    if node.kind == "disk" {
        let shingled = shingled(&node.subject, facts);
        facts.put(&node.subject, &device::SHINGLED, shingled);
    }
}

fn of_disk(disk: &Subject, facts: &FactSet) -> Reading<String> {
    let known =
        |word: &str, of: &[&str]| Reading::known(word.to_owned(), Source::derived(of.iter().copied()));
    let transport = match facts.get(disk, &device::TRANSPORT) {
        Reading::Known { value, .. } => value,
        unknown @ Reading::Unknown { .. } => return unknown,
    };
    let by = device::TRANSPORT.name();
    if ["virtio", "virtio-scsi", "xen", "vmware", "hyperv", "network", "megaraid", "raid"]
        .contains(&transport.as_str())
    {
        return known("virtual", &[by]);
    }
    let model = facts.value(disk, &device::MODEL).unwrap_or_default();
    if PLAYED.iter().chain(VOLUMES).any(|name| model.starts_with(name))
        || facts.value(disk, &device::CLOUD).is_some()
    {
        return known("virtual", &[device::MODEL.name()]);
    }
    match facts.get(&Subject::host(), &machine::VIRTUALISATION) {
        Reading::Known { value, .. } if value == "none" => {}
        // What a hypervisor hands through looks like what it plays.
        Reading::Known { .. } => return known("virtual", &[machine::VIRTUALISATION.name()]),
        unknown @ Reading::Unknown { .. } => return unknown,
    }
    let turns = facts.value(disk, &device::ROTATIONAL);
    let both = [by, device::ROTATIONAL.name(), machine::VIRTUALISATION.name()];
    match (transport.as_str(), turns) {
        ("pmem", _) => known("persistent memory", &[by, machine::VIRTUALISATION.name()]),
        ("mmc", _) => known("flash", &[by]),
        ("sata" | "sas" | "nvme", Some(true)) => known("platters", &both),
        ("sata" | "sas" | "nvme" | "usb", Some(false)) => known("flash", &both),
        ("usb", Some(true)) => {
            Reading::unknown(Why::Ambiguous, "USB bridges say that they turn whatever is behind them")
        }
        (_, None) => Reading::unknown(Why::Absent, "whether it turns is not known"),
        _ => Reading::unknown(Why::Ambiguous, "how it is attached does not tell what is behind"),
    }
}

/// `queue/zoned` shows disks that tell of their zones. One that hides them is suspected where platters take discards,
/// which is how smartmontools' drive database marks them too.
fn shingled(disk: &Subject, facts: &FactSet) -> Reading<String> {
    let by_zones = |word: &str| Reading::known(word.to_owned(), Source::derived([device::ZONED.name()]));
    match facts.get(disk, &device::ZONED) {
        Reading::Known { value: Zoned::HostAware, .. } => return by_zones("host-aware"),
        Reading::Known { value: Zoned::HostManaged, .. } => return by_zones("host-managed"),
        Reading::Known { value: Zoned::None, .. } => {}
        Reading::Unknown { why, detail, remedy } => return Reading::Unknown { why, detail, remedy },
    }
    let of = [device::ZONED.name(), device::MEDIUM.name(), device::DISCARD_MAX.name()];
    let known = |word: &str| Reading::known(word.to_owned(), Source::derived(of));
    match facts.get(disk, &device::MEDIUM) {
        Reading::Known { value, .. } if value != "platters" => known("no"),
        Reading::Known { .. } => match facts.get(disk, &device::DISCARD_MAX) {
            Reading::Known { value: 1.., .. } => known("suspected"),
            _ => Reading::unknown(Why::Absent, "a disk can write in zones without telling the kernel")
                .or_try(Remedy::Do(names_zones(disk))),
        },
        unknown @ Reading::Unknown { .. } => unknown,
    }
}

/// What a person can ask for the zones.
fn names_zones(disk: &Subject) -> String {
    let ask = Command::or_why(Command::new("smartctl -i /dev/").value(disk.name()));
    format!("{ask} names its zones, if any")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;

    struct Disk {
        transport: &'static str,
        model: &'static str,
        rotational: bool,
        virtualisation: &'static str,
        zoned: &'static str,
        discard: u64,
    }

    const PLAIN: Disk = Disk {
        transport: "sata",
        model: "WDC WD20EFAX-68F",
        rotational: true,
        virtualisation: "none",
        zoned: "none",
        discard: 0,
    };

    fn concluded(disk: &Disk) -> (Option<String>, Option<String>) {
        let mut facts = FactSet::default();
        let node = Node::new("sda", "disk");
        let source = || Source::file("x");
        facts.know(&node.subject, &device::TRANSPORT, disk.transport.to_owned(), source());
        facts.know(&node.subject, &device::MODEL, disk.model.to_owned(), source());
        facts.know(&node.subject, &device::ROTATIONAL, disk.rotational, source());
        let zoned = Reading::known(disk.zoned, source()).and_then(Zoned::read);
        facts.put(&node.subject, &device::ZONED, zoned);
        facts.know(&node.subject, &device::DISCARD_MAX, disk.discard, source());
        facts.know(&Subject::host(), &machine::VIRTUALISATION, disk.virtualisation.to_owned(), source());
        describe(&node, &mut facts);
        (facts.value(&node.subject, &device::MEDIUM), facts.value(&node.subject, &device::SHINGLED))
    }

    #[test]
    fn the_rotational_flag_counts_on_real_disks_alone() {
        for (disk, medium) in [
            (PLAIN, Some("platters")),
            (Disk { rotational: false, ..PLAIN }, Some("flash")),
            (Disk { transport: "nvme", rotational: false, ..PLAIN }, Some("flash")),
            (Disk { virtualisation: "kvm", ..PLAIN }, Some("virtual")),
            (Disk { transport: "megaraid", ..PLAIN }, Some("virtual")),
            (Disk { transport: "virtio", ..PLAIN }, Some("virtual")),
            (Disk { transport: "network", ..PLAIN }, Some("virtual")),
            (Disk { transport: "vmware", ..PLAIN }, Some("virtual")),
            (Disk { transport: "sas", model: "LSILOGIC Logical Volume", ..PLAIN }, Some("virtual")),
            (Disk { model: "QEMU HARDDISK", ..PLAIN }, Some("virtual")),
            (Disk { transport: "pmem", ..PLAIN }, Some("persistent memory")),
            (Disk { transport: "usb", ..PLAIN }, None),
            (Disk { transport: "usb", rotational: false, ..PLAIN }, Some("flash")),
            (Disk { transport: "scsi", ..PLAIN }, None),
        ] {
            assert_eq!(concluded(&disk).0.as_deref(), medium, "{} {}", disk.transport, disk.model);
        }
    }

    #[test]
    fn zones_are_told_suspected_or_not_known() {
        for (disk, shingled) in [
            (Disk { zoned: "host-managed", ..PLAIN }, Some("host-managed")),
            (Disk { zoned: "host-aware", virtualisation: "kvm", ..PLAIN }, Some("host-aware")),
            (Disk { discard: 1 << 30, ..PLAIN }, Some("suspected")),
            (PLAIN, None),
            (Disk { discard: 1 << 30, rotational: false, ..PLAIN }, Some("no")),
            // A thin volume of a hypervisor shows the same pair as a shingled disk.
            (Disk { discard: 1 << 30, virtualisation: "kvm", ..PLAIN }, Some("no")),
            (Disk { zoned: "sometimes", ..PLAIN }, None),
        ] {
            assert_eq!(concluded(&disk).1.as_deref(), shingled, "{} {}", disk.zoned, disk.discard);
        }
    }
}
