//! The transport of a disk, its network, model and serial number, and the cache type that it
//! reports. All come from the disk's path in the device tree and the attributes there; no program
//! runs.
//!
//! The driver decides more than the name: `sda` can be a RAID volume, a virtual disk or a SATA
//! disk. Single-port NVMe disks often appear as multipath disks, so their transport is that of
//! their controllers (drivers/nvme/host/multipath.c).

use std::path::{Path, PathBuf};

use super::sysfs_device::SysfsBlockDevice;
use crate::facts::catalog::device::{self, CacheType, NetworkTransport, Transport};
use crate::facts::{Choice, FactSet, Reading, Source, UnknownReason};
use crate::host::Host;
use crate::host_readings::file_reading;
use crate::text::{display_path, is_decimal};
use crate::{attribute, scsi_drivers};

pub fn insert_transport_facts(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    if !node.kind.is_disk() {
        return;
    }
    let driver = scsi_host_driver(host, node);
    facts.insert(&node.subject, &device::MODEL, read_model(host, node));
    if let Some(firmware) = read_firmware_revision(host, node) {
        facts.insert(&node.subject, &device::FIRMWARE, firmware);
    }
    if let Some(serial) = read_serial_number(host, node) {
        facts.insert(&node.subject, &device::SERIAL, serial);
    }
    let carrier = node
        .has_name_prefix("nvme")
        .then(|| nvme_transport_word(host, node));
    let transport = match &carrier {
        Some(carrier) => carrier
            .clone()
            .and_then(|carrier| parse_nvme_transport(&carrier)),
        None => disk_transport(node, &driver),
    };
    if transport
        .value()
        .is_some_and(|transport| transport.is_network())
    {
        facts.insert(
            &node.subject,
            &device::FABRIC,
            network_transport(node, driver.value(), carrier),
        );
    }
    facts.insert(&node.subject, &device::TRANSPORT, transport);
    facts.insert(&node.subject, &device::DRIVER, driver);
    facts.insert(
        &node.subject,
        &device::CACHE_TYPE,
        read_cache_type(host, node),
    );
}

/// The NVMe transport (`pcie`, `tcp`, `rdma`, `fc` …) of the controller, or of all controllers of a
/// multipath disk.
fn nvme_transport_word(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<String> {
    match node.first_matching_path_component(|part| is_word_with_number(part, "nvme-subsys")) {
        Some(subsystem) => subsystem_transport_word(host, &subsystem),
        None => node.read_text(host, "device/transport"),
    }
}

fn scsi_host_driver(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<String> {
    if let Some(unplaced) = unknown_device_path_reading(node) {
        return unplaced;
    }
    let Some(adapter) = node.first_matching_path_component(is_scsi_host) else {
        return Reading::absent("the disk is not on a SCSI host");
    };
    let path = Path::new("/sys/class/scsi_host").join(&adapter);
    attribute::malformed_if_absent(attribute::read_text(host, &path.join("proc_name")))
}

fn is_word_with_number(part: &str, word: &str) -> bool {
    part.strip_prefix(word).is_some_and(is_decimal)
}

fn is_scsi_host(part: &str) -> bool {
    is_word_with_number(part, "host")
}

/// Parses the kernel's word for an NVMe transport (`nvme_ctrl_ops.name`), such as `tcp`.
fn parse_nvme_transport(carrier: &str) -> Result<Transport, String> {
    match carrier {
        "pcie" | "apple-nvme" => Ok(Transport::Nvme),
        "tcp" | "rdma" | "fc" => Ok(Transport::Network),
        "loop" => Ok(Transport::Other),
        _ => Err(format!("`{carrier}` is not a known NVMe transport")),
    }
}

/// The component of the device path with the SCSI address: host, channel, target and unit, such as
/// `2:0:1:0`.
fn scsi_address(node: &SysfsBlockDevice) -> Option<String> {
    node.first_matching_path_component(|part| {
        part.split(':').count() == 4 && part.split(':').all(is_decimal)
    })
}

/// The serial number, which sysfs has only for NVMe and virtio disks.
fn read_serial_number(host: &dyn Host, node: &SysfsBlockDevice) -> Option<Reading<String>> {
    let file = match node {
        node if node.has_name_prefix("nvme") => "device/serial",
        node if node.has_name_prefix("vd") => "serial",
        _ => return None,
    };
    let reading = attribute::read_text_or_blank(host, &node.attribute_path(file));
    Some(reading.and_then(|serial| {
        Some(serial)
            .filter(|serial| !serial.is_empty())
            .ok_or_else(|| "the disk has no serial number".to_owned())
    }))
}

/// `None` for kinds of disks without a revision in sysfs.
fn read_firmware_revision(host: &dyn Host, node: &SysfsBlockDevice) -> Option<Reading<String>> {
    let file = match node {
        node if node.has_name_prefix("nvme") => "device/firmware_rev",
        node if scsi_address(node).is_some() => "device/rev",
        _ => return None,
    };
    Some(node.read_text(host, file))
}

fn read_model(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<String> {
    if node.has_name_prefix("mmcblk") {
        return node.read_text(host, "device/name");
    }
    let model = || attribute::malformed_if_absent(node.read_text(host, "device/model"));
    if node.has_name_prefix("nvme") {
        return model();
    }
    if let Some(unplaced) = unknown_device_path_reading(node) {
        return unplaced;
    }
    if scsi_address(node).is_none() {
        return Reading::absent("a disk of this kind has no model attribute");
    }
    // A model without its vendor could be the complete model of another maker.
    let vendor = attribute::read_text_or_blank(host, &node.attribute_path("device/vendor"));
    attribute::malformed_if_absent(vendor).and_then_reading(|vendor, _| {
        model().map(|model| match vendor.as_str() {
            // libata writes `ATA` as the vendor; the maker's name is in the model.
            "" | "ATA" => model,
            vendor => format!("{vendor} {model}"),
        })
    })
}

fn transport_of_row([_, _, _, transport, _]: &[&str; 5]) -> Option<Transport> {
    Transport::from_word(transport)
}

fn transport_of_name(node: &SysfsBlockDevice) -> Option<Transport> {
    let mut rows = node.mark_rows().filter(|[mark, ..]| !mark.starts_with('/'));
    rows.find_map(transport_of_row)
}

/// The transport of an NVMe subsystem, known only if all its controllers share one.
fn subsystem_transport_word(host: &dyn Host, subsystem: &str) -> Reading<String> {
    let home = Path::new("/sys/class/nvme-subsystem").join(subsystem);
    let shown = display_path(&home);
    file_reading(host.list_directory(&home), &shown).and_then_reading(|names, source| {
        let names = names.iter().filter_map(|name| name.to_str());
        let controllers = names.filter(|name| is_word_with_number(name, "nvme"));
        let mut carriers: Vec<Reading<String>> = controllers
            .map(|name| Path::new("/sys/class/nvme").join(name).join("transport"))
            .map(|path| attribute::read_text(host, &path))
            .collect();
        carriers.dedup_by(|one, other| one.value() == other.value());
        match carriers.as_slice() {
            [carrier] => carrier.clone(),
            [] => Reading::absent(format!("{source} has no controller")),
            [..] => Reading::ambiguous("the disk's paths have different transports"),
        }
    })
}

fn network_transport(
    node: &SysfsBlockDevice,
    driver: Option<&String>,
    nvme: Option<Reading<String>>,
) -> Reading<NetworkTransport> {
    if let Some(carrier) = nvme {
        return carrier.and_then(|carrier| NetworkTransport::parse_word(&carrier));
    }
    let is_iscsi = driver.is_some_and(|driver| driver == "iscsi_tcp");
    let word = node
        .mark_rows()
        .find_map(|[.., network]| NetworkTransport::from_word(network))
        .or(is_iscsi.then_some(NetworkTransport::Iscsi));
    match word {
        Some(fabric) => Reading::known(fabric, device_path_source(node)),
        None => Reading::ambiguous("the disk's device path does not show the network transport"),
    }
}

/// The unknown reading for a possible SCSI disk whose device path could not be read; `None` for
/// other disks.
fn unknown_device_path_reading<T>(node: &SysfsBlockDevice) -> Option<Reading<T>> {
    (node.device_path.is_empty() && transport_of_name(node).is_none()).then(|| {
        let detail = format!(
            "{}: the disk's device path is unknown",
            device_path_source(node)
        );
        Reading::malformed(detail)
    })
}

fn device_path_source(node: &SysfsBlockDevice) -> Source {
    Source::from_file(display_path(
        &Path::new(super::sysfs_device::CLASS).join(&node.name),
    ))
}

fn disk_transport(node: &SysfsBlockDevice, driver: &Reading<String>) -> Reading<Transport> {
    let place = device_path_source(node);
    if let Some(word) = transport_of_name(node) {
        return Reading::known(word, place);
    }
    // An unknown driver may belong to a RAID controller, so the transport is unknown unless the
    // device path decides.
    let by_place = node.mark_rows().find_map(transport_of_row);
    if let Reading::Unknown { why, detail, .. } = driver
        && *why != UnknownReason::Absent
        && by_place.is_none_or(Transport::is_sas)
    {
        return Reading::unknown(*why, detail.clone());
    }
    if let Some(word) = driver
        .value()
        .and_then(|driver| scsi_drivers::find_driver(driver)?.transport)
    {
        let adapter = node
            .first_matching_path_component(is_scsi_host)
            .unwrap_or_default();
        return Reading::known(
            word,
            Source::from_file(format!("/sys/class/scsi_host/{adapter}/proc_name")),
        );
    }
    let by_address = scsi_address(node).map(|_| Transport::Scsi);
    Reading::known(by_place.or(by_address).unwrap_or(Transport::Other), place)
}

fn cache_type_path(node: &SysfsBlockDevice) -> Option<PathBuf> {
    if node.has_name_prefix("vd") {
        return Some(node.attribute_path("cache_type"));
    }
    let disk = Path::new("/sys/class/scsi_disk").join(scsi_address(node)?);
    Some(disk.join("cache_type"))
}

fn read_cache_type(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<CacheType> {
    match cache_type_path(node) {
        Some(path) => attribute::read_choice(host, &path),
        None => Reading::absent("a disk of this kind reports its cache only to its driver"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

    fn transport_facts(name: &str, place: &str, fake: &FakeHost) -> [Option<String>; 2] {
        let mut node = SysfsBlockDevice::new(name, "disk");
        node.device_path = place.as_bytes().to_vec();
        let mut facts = FactSet::default();
        insert_transport_facts(fake, &node, &mut facts);
        [device::TRANSPORT.name(), device::FABRIC.name()].map(|name| {
            facts
                .reading_by_name(&node.subject, name)
                .value()
                .map(ToString::to_string)
        })
    }

    fn transport_and_fabric(name: &str, place: &str) -> String {
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
        let fake = FakeHost::default().with_files_in_directory("/sys/class/scsi_host", &files);
        let found = transport_facts(name, place, &fake);
        found
            .map(|word| word.unwrap_or_else(|| "-".to_owned()))
            .join(" ")
    }

    #[test]
    fn transport_follows_path_name_and_driver() {
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
            assert_eq!(transport_and_fabric(name, &place), expect, "{name} {place}");
        }
    }

    fn nvme_multipath_transport_facts(carriers: &[&str]) -> [Option<String>; 2] {
        let mut fake = FakeHost::default().with_file(
            "/sys/class/nvme-subsystem/nvme-subsys0/model",
            "SOME MODEL\n",
        );
        for (n, carrier) in carriers.iter().enumerate() {
            fake = fake
                .with_symlink(
                    format!("/sys/class/nvme-subsystem/nvme-subsys0/nvme{n}"),
                    "../../nvme-fabrics/ctl/nvme",
                )
                .with_file(
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
    fn multipath_nvme_transport_needs_agreeing_controllers() {
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
            assert_eq!(
                nvme_multipath_transport_facts(carriers),
                expect,
                "{carriers:?}"
            );
        }
    }

    #[test]
    fn single_nvme_transport_is_read_from_controller() {
        for (carrier, expect) in [("pcie", "nvme"), ("tcp", "network")] {
            let fake = FakeHost::default().with_files_in_directory(
                "/sys/class/block/nvme0n1",
                &[("device/transport", carrier)],
            );
            let place = "../../devices/pci0000:00/0000:00:06.0/nvme/nvme0/nvme0n1";
            assert_eq!(
                transport_facts("nvme0n1", place, &fake)[0].as_deref(),
                Some(expect)
            );
        }
    }

    #[test]
    fn firmware_revision_file_depends_on_disk_kind() {
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
            let fake = FakeHost::default().with_file(
                format!("/sys/class/block/{name}/device/{file}"),
                format!("{text}  \n"),
            );
            let mut node = SysfsBlockDevice::new(name, "disk");
            node.device_path = place.into_bytes();
            let mut facts = FactSet::default();
            insert_transport_facts(&fake, &node, &mut facts);
            assert_eq!(
                facts.value(&node.subject, &device::FIRMWARE).as_deref(),
                expect,
                "{name}"
            );
        }
    }
}
