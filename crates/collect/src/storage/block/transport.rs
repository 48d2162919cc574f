//! The transport of a disk, its network, model and serial number, and the cache type that it
//! reports.
//!
//! All of it comes from the disk's path in the device tree and the attributes there; no tool runs.
//! Whether the cache type is believed is left to `durability`. The driver decides more than the
//! name: `sda` can be a RAID volume, a virtual disk or a SATA disk. Single-port NVMe disks often
//! appear as multipath disks, so their transport is that of their controllers
//! (drivers/nvme/host/multipath.c).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::node::Node;
use crate::attribute;
use crate::drivers;
use crate::facts::catalog::device::{self, CacheType, Fabric, Transport};
use crate::facts::{Choice, FactSet, Reading, Source, UnknownReason};
use crate::host::{Host, path_bytes};
use crate::refusal::error_reading;
use crate::text::display_safe;

/// Caches the driver of each SCSI host and the transport of each NVMe subsystem, which many disks
/// share.
#[derive(Default)]
pub struct Transports {
    drivers: HashMap<String, Reading<String>>,
    subsystems: HashMap<String, Reading<String>>,
}

impl Transports {
    /// Records transport, driver, model and cache type of a whole disk; does nothing for other
    /// devices.
    pub fn describe(&mut self, host: &dyn Host, node: &Node, facts: &mut FactSet) {
        if !node.kind.is_disk() {
            return;
        }
        let driver = self.driver(host, node);
        facts.insert(&node.subject, &device::MODEL, model(host, node));
        if let Some(firmware) = firmware(host, node) {
            facts.insert(&node.subject, &device::FIRMWARE, firmware);
        }
        if let Some(serial) = serial(host, node) {
            facts.insert(&node.subject, &device::SERIAL, serial);
        }
        let carrier = node
            .has_name_prefix("nvme")
            .then(|| self.nvme_carrier(host, node));
        let transport = match &carrier {
            Some(carrier) => carrier
                .clone()
                .and_then(|carrier| transport_of_carrier(&carrier)),
            None => transport(node, &driver),
        };
        if transport
            .value()
            .is_some_and(|transport| transport.is_network())
        {
            facts.insert(
                &node.subject,
                &device::FABRIC,
                fabric(node, driver.value(), carrier),
            );
        }
        facts.insert(&node.subject, &device::TRANSPORT, transport);
        facts.insert(&node.subject, &device::DRIVER, driver);
        facts.insert(&node.subject, &device::CACHE_TYPE, cache_type(host, node));
    }

    /// `pcie`, `tcp`, `rdma`, `fc` …: of the controller, or of all controllers of a multipath disk.
    fn nvme_carrier(&mut self, host: &dyn Host, node: &Node) -> Reading<String> {
        let Some(subsystem) = node.path_component(|part| is_numbered(part, "nvme-subsys")) else {
            return attribute::text(host, &node.attribute("device/transport"));
        };
        let found = self.subsystems.get(&subsystem).cloned();
        found.unwrap_or_else(|| {
            let carrier = subsystem_carrier(host, &subsystem);
            self.subsystems.insert(subsystem, carrier.clone());
            carrier
        })
    }

    fn driver(&mut self, host: &dyn Host, node: &Node) -> Reading<String> {
        if let Some(unplaced) = unknown_device_path(node) {
            return unplaced;
        }
        let Some(adapter) = node.path_component(is_scsi_host) else {
            return Reading::unknown(UnknownReason::Absent, "the disk is on no SCSI host");
        };
        let path = Path::new("/sys/class/scsi_host")
            .join(&adapter)
            .join("proc_name");
        let read = || attribute::required(attribute::text(host, &path));
        self.drivers
            .entry(adapter.clone())
            .or_insert_with(read)
            .clone()
    }
}

/// `word` followed by digits: `host2`, `nvme0`.
fn is_numbered(part: &str, word: &str) -> bool {
    part.strip_prefix(word)
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn is_scsi_host(part: &str) -> bool {
    is_numbered(part, "host")
}

/// `carrier` is nvme_ctrl_ops.name.
fn transport_of_carrier(carrier: &str) -> Result<Transport, String> {
    match carrier {
        "pcie" | "apple-nvme" => Ok(Transport::Nvme),
        "tcp" | "rdma" | "fc" => Ok(Transport::Network),
        "loop" => Ok(Transport::Other),
        _ => Err(format!("`{carrier}` is not an NVMe transport")),
    }
}

/// `2:0:1:0`: host, channel, target and unit.
fn is_scsi_address(part: &str) -> bool {
    part.split(':').count() == 4
        && part
            .split(':')
            .all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// In sysfs of NVMe and virtio disks only, as lsblk(8) prints it.
fn serial(host: &dyn Host, node: &Node) -> Option<Reading<String>> {
    let file = match node {
        node if node.has_name_prefix("nvme") => "device/serial",
        node if node.has_name_prefix("vd") => "serial",
        _ => return None,
    };
    let reading = attribute::text_or_blank(host, &node.attribute(file));
    let nothing = || Err("the disk has no serial number".to_owned());
    Some(reading.and_then(|serial| {
        if serial.is_empty() {
            nothing()
        } else {
            Ok(serial)
        }
    }))
}

/// `None` for kinds of disks without a firmware revision.
fn firmware(host: &dyn Host, node: &Node) -> Option<Reading<String>> {
    let file = match node {
        node if node.has_name_prefix("nvme") => "device/firmware_rev",
        node if node.path_component(is_scsi_address).is_some() => "device/rev",
        _ => return None,
    };
    Some(attribute::text(host, &node.attribute(file)))
}

fn model(host: &dyn Host, node: &Node) -> Reading<String> {
    if node.has_name_prefix("mmcblk") {
        return attribute::text(host, &node.attribute("device/name"));
    }
    if node.has_name_prefix("nvme") {
        return attribute::required(attribute::text(host, &node.attribute("device/model")));
    }
    if let Some(unplaced) = unknown_device_path(node) {
        return unplaced;
    }
    if node.path_component(is_scsi_address).is_none() {
        return Reading::unknown(
            UnknownReason::Absent,
            "a disk of this kind has no model attribute",
        );
    }
    // A truncated model could be another maker's complete one.
    let vendor = match attribute::required(attribute::text_or_blank(
        host,
        &node.attribute("device/vendor"),
    )) {
        Reading::Known { value, .. } => value,
        hidden @ Reading::Unknown { .. } => return hidden,
    };
    let model = attribute::required(attribute::text(host, &node.attribute("device/model")));
    model.map(|model| match vendor.as_str() {
        // libata writes `ATA` as vendor; the maker is in the model.
        "" | "ATA" => model,
        vendor => format!("{vendor} {model}"),
    })
}

/// Components of device paths and their transport, most specific first.
const BY_DEVICE_PATH: &[(&str, Transport)] = &[
    ("/usb", Transport::Usb),
    ("/session", Transport::Network),
    ("/rport-", Transport::Network),
    ("/vbd-", Transport::Xen),
    ("/ata", Transport::Sata),
    ("/end_device-", Transport::Sas),
];

/// Name prefixes of whole disks and their transport.
const BY_NAME: &[(&str, Transport)] = &[
    ("vd", Transport::Virtio),
    ("xvd", Transport::Xen),
    ("mmcblk", Transport::Mmc),
    ("nbd", Transport::Network),
    ("rbd", Transport::Network),
    ("pmem", Transport::Pmem),
    ("cciss", Transport::Raid),
];

/// The transport that all paths of a subsystem share.
fn subsystem_carrier(host: &dyn Host, subsystem: &str) -> Reading<String> {
    let home = Path::new("/sys/class/nvme-subsystem").join(subsystem);
    let names = match host.list(&home) {
        Ok(names) => names,
        Err(miss) => return error_reading(&miss, &display_safe(path_bytes(&home))),
    };
    let mut carriers: Vec<Reading<String>> = Vec::new();
    for name in names
        .iter()
        .filter(|name| name.to_str().is_some_and(|name| is_numbered(name, "nvme")))
    {
        let carrier = attribute::text(
            host,
            &Path::new("/sys/class/nvme").join(name).join("transport"),
        );
        if !carriers
            .iter()
            .any(|other| other.value() == carrier.value())
        {
            carriers.push(carrier);
        }
    }
    match (carriers.pop(), carriers.is_empty()) {
        (Some(carrier), true) => carrier,
        (Some(_), false) => Reading::unknown(
            UnknownReason::Ambiguous,
            "its paths have different transports",
        ),
        (None, _) => Reading::unknown(
            UnknownReason::Absent,
            format!("{} has no controller", display_safe(path_bytes(&home))),
        ),
    }
}

fn fabric(node: &Node, driver: Option<&String>, nvme: Option<Reading<String>>) -> Reading<Fabric> {
    if let Some(carrier) = nvme {
        return carrier.and_then(|carrier| Fabric::parse_word(&carrier));
    }
    let by_place = [
        ("/session", Fabric::Iscsi),
        ("/rport-", Fabric::FibreChannel),
    ];
    let by_name = [("nbd", Fabric::Nbd), ("rbd", Fabric::Rbd)];
    let word = by_name
        .into_iter()
        .find(|(name, _)| node.has_name_prefix(name))
        .map(|(_, fabric)| fabric);
    let word = word.or_else(|| {
        by_place
            .iter()
            .find(|(part, _)| node.device_path_contains(part))
            .map(|(_, word)| *word)
    });
    let word = word.or_else(|| {
        driver
            .filter(|driver| *driver == "iscsi_tcp")
            .map(|_| Fabric::Iscsi)
    });
    match word {
        Some(fabric) => Reading::known(fabric, device_path_source(node)),
        None => Reading::unknown(UnknownReason::Ambiguous, "its device path names no network"),
    }
}

/// `Some` if the device path of a possible SCSI disk could not be read, so nothing else is known
/// either.
fn unknown_device_path<T>(node: &Node) -> Option<Reading<T>> {
    let by_name = BY_NAME
        .iter()
        .any(|(prefix, _)| node.has_name_prefix(prefix));
    (node.device_path.is_empty() && !by_name).then(|| {
        let detail = format!(
            "{}: the disk's attachment is unknown",
            device_path_source(node)
        );
        Reading::unknown(UnknownReason::Malformed, detail)
    })
}

fn device_path_source(node: &Node) -> Source {
    Source::file(display_safe(path_bytes(
        &Path::new(super::node::CLASS).join(&node.name),
    )))
}

fn transport(node: &Node, driver: &Reading<String>) -> Reading<Transport> {
    let place = device_path_source(node);
    let of = |list: &[(&str, Transport)], is: &dyn Fn(&str) -> bool| {
        list.iter()
            .find(|(word, _)| is(word))
            .map(|(_, transport)| *transport)
    };
    if let Some(word) = of(BY_NAME, &|prefix| node.has_name_prefix(prefix)) {
        return Reading::known(word, place);
    }
    // An unknown driver may be a RAID controller's, unless the device path decides.
    let by_place = of(BY_DEVICE_PATH, &|part| node.device_path_contains(part));
    if let Reading::Unknown { why, detail, .. } = driver
        && *why != UnknownReason::Absent
        && by_place.is_none_or(Transport::is_sas)
    {
        return Reading::unknown(*why, detail.clone());
    }
    if let Some(word) = driver
        .value()
        .and_then(|driver| drivers::find(driver)?.transport)
    {
        let adapter = node.path_component(is_scsi_host).unwrap_or_default();
        return Reading::known(
            word,
            Source::file(format!("/sys/class/scsi_host/{adapter}/proc_name")),
        );
    }
    let word = by_place.unwrap_or_else(|| {
        if node.path_component(is_scsi_address).is_some() {
            Transport::Scsi
        } else {
            Transport::Other
        }
    });
    Reading::known(word, place)
}

/// The attribute with the cache type that the disk reported to its driver.
fn cache_type_file(node: &Node) -> Option<PathBuf> {
    if node.has_name_prefix("vd") {
        return Some(node.attribute("cache_type"));
    }
    let address = node.path_component(is_scsi_address)?;
    Some(
        Path::new("/sys/class/scsi_disk")
            .join(address)
            .join("cache_type"),
    )
}

fn cache_type(host: &dyn Host, node: &Node) -> Reading<CacheType> {
    match cache_type_file(node) {
        Some(path) => attribute::choice(host, &path),
        None => Reading::unknown(
            UnknownReason::Absent,
            "a disk of this kind reports its cache only to its driver",
        ),
    }
}

#[cfg(test)]
mod tests {
    //! Disks of every transport, by their device paths in Linux.

    use super::*;
    use crate::testing::FakeHost;

    fn transport_facts(name: &str, place: &str, fake: &FakeHost) -> [Option<String>; 2] {
        let mut node = Node::new(name, "disk");
        node.device_path = place.as_bytes().to_vec();
        let mut facts = FactSet::default();
        Transports::default().describe(fake, &node, &mut facts);
        [device::TRANSPORT.name(), device::FABRIC.name()].map(|name| {
            facts
                .reading_by_name(&node.subject, name)
                .value()
                .map(ToString::to_string)
        })
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
        let files: Vec<(&str, &str)> = drivers
            .iter()
            .map(|(path, name)| (path.as_str(), name.as_str()))
            .collect();
        let fake = FakeHost::default().files("/sys/class/scsi_host", &files);
        let found = transport_facts(name, place, &fake);
        found
            .map(|word| word.unwrap_or_else(|| "-".to_owned()))
            .join(" ")
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
            (
                "nbd0",
                "../../devices/virtual/block/nbd0".to_owned(),
                "network nbd",
            ),
            (
                "rbd0",
                "../../devices/rbd/0/block/rbd0".to_owned(),
                "network rbd",
            ),
            (
                "pmem0",
                "../../devices/LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0".to_owned(),
                "pmem -",
            ),
            (
                "vda",
                "../../devices/pci0000:00/0000:00:04.0/virtio1/block/vda".to_owned(),
                "virtio -",
            ),
            (
                "xvda",
                "../../devices/vbd-51712/block/xvda".to_owned(),
                "xen -",
            ),
            (
                "mmcblk0",
                "../../devices/platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0".to_owned(),
                "mmc -",
            ),
        ] {
            assert_eq!(attached(name, &place), expect, "{name} {place}");
        }
    }

    /// A multipath disk of these controllers; its device path is the subsystem's
    /// (drivers/nvme/host/multipath.c).
    fn multipath(carriers: &[&str]) -> [Option<String>; 2] {
        let mut fake = FakeHost::default().file(
            "/sys/class/nvme-subsystem/nvme-subsys0/model",
            "SOME MODEL\n",
        );
        for (n, carrier) in carriers.iter().enumerate() {
            fake = fake
                .symlink(
                    format!("/sys/class/nvme-subsystem/nvme-subsys0/nvme{n}"),
                    "../../nvme-fabrics/ctl/nvme",
                )
                .file(
                    format!("/sys/class/nvme/nvme{n}/transport"),
                    format!("{carrier}\n"),
                );
        }
        transport_facts(
            "nvme0n1",
            "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1",
            &fake,
        )
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
            let fake = FakeHost::default()
                .files("/sys/class/block/nvme0n1", &[("device/transport", carrier)]);
            let place = "../../devices/pci0000:00/0000:00:06.0/nvme/nvme0/nvme0n1";
            assert_eq!(
                transport_facts("nvme0n1", place, &fake)[0].as_deref(),
                Some(expect)
            );
        }
    }

    /// Every kind of disk has its firmware revision in its own attribute, or none.
    #[test]
    fn the_firmware_s_revision_is_that_of_the_kind_of_disk() {
        let scsi = "../../devices/pci0000:00/0000:00:05.0/ata1/host1/target1:0:0/1:0:0:0/block/sda";
        let pci = "../../devices/pci0000:00/0000:00:06.0";
        for (name, place, file, expect) in [
            ("sda", scsi.to_owned(), "rev", Some("2B6Q")),
            (
                "nvme0n1",
                format!("{pci}/nvme/nvme0/nvme0n1"),
                "firmware_rev",
                Some("GDC5"),
            ),
            ("vda", format!("{pci}/virtio1/block/vda"), "rev", None),
        ] {
            let text = expect.unwrap_or("never read");
            let fake = FakeHost::default().file(
                format!("/sys/class/block/{name}/device/{file}"),
                format!("{text}  \n"),
            );
            let mut node = Node::new(name, "disk");
            node.device_path = place.into_bytes();
            let mut facts = FactSet::default();
            Transports::default().describe(&fake, &node, &mut facts);
            assert_eq!(
                facts.value(&node.subject, &device::FIRMWARE).as_deref(),
                expect,
                "{name}"
            );
        }
    }
}
