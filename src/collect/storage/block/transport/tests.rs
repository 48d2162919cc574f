//! Disks of every attachment by their places in the device tree, as the drivers of Linux name them.

use super::*;
use crate::collect::testing::Fake;

fn read(name: &str, place: &str, fake: &Fake) -> [Option<String>; 2] {
    let mut node = Node::new(name, "disk");
    node.place = place.as_bytes().to_vec();
    let mut facts = FactSet::default();
    Transports::default().describe(fake, &node, &mut facts);
    [device::TRANSPORT.name(), device::FABRIC.name()]
        .map(|name| facts.named(&node.subject, name).value().map(ToString::to_string))
}

fn attached(name: &str, place: &str) -> String {
    let driver = |n: u32, name: &str| (format!("host{n}/proc_name"), name.to_owned());
    let drivers = [
        driver(1, "ahci"),
        driver(2, "iscsi_tcp"),
        driver(3, "qla2xxx"),
        driver(4, "be2iscsi"),
        driver(5, "mpt3sas"),
        driver(6, "vmw_pvscsi"),
        driver(7, "storvsc"),
        driver(8, "virtio_scsi"),
        driver(9, "lpfc"),
    ];
    let files: Vec<(&str, &str)> =
        drivers.iter().map(|(path, name)| (path.as_str(), name.as_str())).collect();
    let fake = Fake::default().files("/sys/class/scsi_host", &files);
    let found = read(name, place, &fake);
    found.map(|word| word.unwrap_or_else(|| "-".to_owned())).join(" ")
}

#[test]
fn places_names_and_drivers_tell_the_attachment() {
    let scsi = |n: u32, way: &str| {
        format!(
            "../../devices/pci0000:00/0000:00:05.0/{way}host{n}{}",
            match n {
                2 | 4 => format!("/session1/target{n}:0:0/{n}:0:0:0/block/sda"),
                3 | 9 => format!("/rport-{n}:0-2/target{n}:0:0/{n}:0:0:0/block/sda"),
                _ => format!("/target{n}:0:0/{n}:0:0:0/block/sda"),
            }
        )
    };
    for (name, place, expect) in [
        ("sda", scsi(1, "ata1/"), "sata -"),
        ("sda", scsi(2, ""), "network iscsi"),
        ("sda", scsi(3, ""), "network fibre channel"),
        ("sda", scsi(4, ""), "network iscsi"),
        ("sda", scsi(5, ""), "sas -"),
        ("sda", scsi(6, ""), "vmware -"),
        ("sda", scsi(7, ""), "hyperv -"),
        ("sda", scsi(8, "virtio2/"), "virtio-scsi -"),
        ("sda", scsi(9, ""), "network fibre channel"),
        ("nbd0", "../../devices/virtual/block/nbd0".to_owned(), "network nbd"),
        ("rbd0", "../../devices/rbd/0/block/rbd0".to_owned(), "network rbd"),
        ("pmem0", "../../devices/LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0".to_owned(), "pmem -"),
        ("vda", "../../devices/pci0000:00/0000:00:04.0/virtio1/block/vda".to_owned(), "virtio -"),
        ("xvda", "../../devices/vbd-51712/block/xvda".to_owned(), "xen -"),
        ("mmcblk0", "../../devices/platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0".to_owned(), "mmc -"),
    ] {
        assert_eq!(attached(name, &place), expect, "{name} {place}");
    }
}

/// A multipath disk over these controllers, whose place is the subsystem's (drivers/nvme/host/multipath.c).
fn multipath(carriers: &[&str]) -> [Option<String>; 2] {
    let mut fake = Fake::default().file("/sys/class/nvme-subsystem/nvme-subsys0/model", "SOME MODEL\n");
    for (n, carrier) in carriers.iter().enumerate() {
        fake = fake
            .symlink(format!("/sys/class/nvme-subsystem/nvme-subsys0/nvme{n}"), "../../nvme-fabrics/ctl/nvme")
            .file(format!("/sys/class/nvme/nvme{n}/transport"), format!("{carrier}\n"));
    }
    read("nvme0n1", "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", &fake)
}

#[test]
fn a_multipath_nvme_disk_is_attached_as_all_its_controllers_are() {
    for (carriers, transport, fabric) in [
        (&["pcie"][..], Some("nvme"), None),
        (&["pcie", "pcie"], Some("nvme"), None),
        (&["tcp", "tcp"], Some("network"), Some("tcp")),
        (&["rdma"], Some("network"), Some("rdma")),
        (&["fc", "fc"], Some("network"), Some("fc")),
        (&["loop"], Some("other"), None),
        (&["tcp", "rdma"], None, None),
        (&[], None, None),
    ] {
        let expect = [transport, fabric].map(|word| word.map(str::to_owned));
        assert_eq!(multipath(carriers), expect, "{carriers:?}");
    }
}

#[test]
fn a_plain_nvme_disk_is_attached_as_its_controller_is() {
    for (carrier, expect) in [("pcie", "nvme"), ("tcp", "network")] {
        let fake = Fake::default().files("/sys/class/block/nvme0n1", &[("device/transport", carrier)]);
        let place = "../../devices/pci0000:00/0000:00:06.0/nvme/nvme0/nvme0n1";
        assert_eq!(read("nvme0n1", place, &fake)[0].as_deref(), Some(expect));
    }
}

/// A kind of disk has its firmware's revision where its kind keeps it, or none that could be read.
#[test]
fn the_firmware_s_revision_is_that_of_the_kind_of_disk() {
    let scsi = "../../devices/pci0000:00/0000:00:05.0/ata1/host1/target1:0:0/1:0:0:0/block/sda";
    let pci = "../../devices/pci0000:00/0000:00:06.0";
    for (name, place, file, expect) in [
        ("sda", scsi.to_owned(), "rev", Some("2B6Q")),
        ("nvme0n1", format!("{pci}/nvme/nvme0/nvme0n1"), "firmware_rev", Some("GDC5")),
        ("vda", format!("{pci}/virtio1/block/vda"), "rev", None),
    ] {
        let text = expect.unwrap_or("never read");
        let fake =
            Fake::default().file(format!("/sys/class/block/{name}/device/{file}"), format!("{text}  \n"));
        let mut node = Node::new(name, "disk");
        node.place = place.into_bytes();
        let mut facts = FactSet::default();
        Transports::default().describe(&fake, &node, &mut facts);
        assert_eq!(facts.value(&node.subject, &device::FIRMWARE).as_deref(), expect, "{name}");
    }
}
