//! The lower links of the chain that keeps page writes atomic: alignment of partitions and linear
//! mappings, request size, and atomicity of device writes.
//!
//! `atomic_write_unit_max_bytes` holds only for RWF_ATOMIC writes, which no server here uses.
//! NVMe's AWUPF is often wrong and is not used.

use super::{AtomicityLink, AtomicityLinkPlace, is_page_multiple, page_fits};
use crate::durability::fact_reader::FactReader;
use crate::durability::find_routes;
use crate::facts::catalog::device::{self, CloudDiskService, DeviceKind};
use crate::facts::{Scope, Subject};
use crate::ternary::Ternary;
use crate::text::format_bytes;

/// The largest atomic write of EBS (EC2 User Guide, *Block sizes for torn write prevention*).
const EBS_ATOMIC_BYTES: u64 = 16384;

/// The only device-mapper target that moves a page by a fixed distance and does nothing else
/// (linear.rst).
const LINEAR_TARGET: &str = "linear";

pub fn device_links(target: FactReader, mount: &Subject, page: Option<u64>) -> Vec<AtomicityLink> {
    let facts = target.facts;
    let mut links = Vec::new();
    let mut ends = 0;
    let hops = facts.layers_below(target.subject);
    for hop in hops.iter().filter(|hop| *hop != mount) {
        let hop = target.for_subject(hop);
        match hop.subject.scope() {
            Scope::Device if hop.layers_directly_below().is_empty() => {
                ends += 1;
                links.extend([
                    disk_atomicity_link(hop, page),
                    request_size_link(hop, AtomicityLinkPlace::Device, page),
                ]);
            }
            Scope::Device => links.extend(layer_links(hop, page)),
            Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => {
                links.push(possibly_splitting_layer_link(hop));
            }
        }
    }
    let (ways, _) = find_routes(facts, target.subject);
    let broken = ways.into_iter().filter_map(|way| way.broken);
    links.extend(broken.map(|why| unknown(AtomicityLinkPlace::Layer, why)));
    if ends == 0 {
        let text = format!("the underlying device of {} was not found", mount.name());
        links.push(unknown(AtomicityLinkPlace::Device, text));
    }
    links
}

fn unknown(place: AtomicityLinkPlace, text: String) -> AtomicityLink {
    AtomicityLink::new(place, Ternary::Unknown, text)
}

fn layer_links(hop: FactReader, page: Option<u64>) -> Vec<AtomicityLink> {
    let Some(kind) = hop.read(&device::KIND) else {
        return vec![hop.unknown_link(AtomicityLinkPlace::Layer, &device::KIND)];
    };
    let place = AtomicityLinkPlace::Mapping;
    match kind {
        DeviceKind::Partition => vec![partition_link(hop, page)],
        DeviceKind::Lvm | DeviceKind::Dm => match hop.read(&device::DM_TARGETS) {
            Some(targets)
                if !targets.is_empty() && targets.iter().all(|target| target == LINEAR_TARGET) =>
            {
                vec![
                    linear_mapping_link(hop, page),
                    request_size_link(hop, place, page),
                ]
            }
            Some(_) => vec![possibly_splitting_layer_link(hop)],
            None => vec![hop.unknown_link(place, &device::DM_TARGETS)],
        },
        DeviceKind::Disk
        | DeviceKind::Md
        | DeviceKind::Crypt
        | DeviceKind::Multipath
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Bcache
        | DeviceKind::Drbd
        | DeviceKind::Zvol
        | DeviceKind::Loop
        | DeviceKind::Zram
        | DeviceKind::Ram
        | DeviceKind::Other => vec![possibly_splitting_layer_link(hop)],
    }
}

fn possibly_splitting_layer_link(hop: FactReader) -> AtomicityLink {
    let text = format!(
        "{} may split or move a page; no documentation rules that out",
        hop.name()
    );
    unknown(AtomicityLinkPlace::Layer, text)
}

fn partition_link(hop: FactReader, page: Option<u64>) -> AtomicityLink {
    let place = AtomicityLinkPlace::Partition;
    hop.link(place, &device::START, |start| {
        let holds = is_page_multiple(page, start);
        let of_page = match holds {
            Ternary::True => ", a multiple of the page size",
            Ternary::Unknown => "",
            Ternary::False => ", not a multiple of the page size",
        };
        let text = format!("{} begins at byte {start}{of_page}", hop.name());
        AtomicityLink::new(place, holds, text)
    })
}

fn linear_mapping_link(hop: FactReader, page: Option<u64>) -> AtomicityLink {
    let place = AtomicityLinkPlace::Mapping;
    hop.link(place, &device::DM_ALIGNMENT, |alignment| {
        let holds = is_page_multiple(page, alignment);
        let only = match holds {
            Ternary::True | Ternary::Unknown => "",
            Ternary::False => ", not of the page size",
        };
        let (name, alignment) = (hop.name(), format_bytes(alignment));
        let text = format!("{name} begins at a multiple of {alignment}{only}");
        AtomicityLink::new(place, holds, text)
    })
}

fn request_size_link(
    hop: FactReader,
    place: AtomicityLinkPlace,
    page: Option<u64>,
) -> AtomicityLink {
    hop.link(place, &device::MAX_IO, |most| {
        let (name, shown) = (hop.name(), format_bytes(most));
        let text = format!("{name} accepts at most {shown} in one request");
        AtomicityLink::new(place, page_fits(page, most), text)
    })
}

fn disk_atomicity_link(disk: FactReader, page: Option<u64>) -> AtomicityLink {
    let (name, place) = (disk.name(), AtomicityLinkPlace::Device);
    let text = match disk.read(&device::CLOUD) {
        // The volume is on Nitro: only EBS volumes attached by NVMe have this model, and only Nitro
        // instances attach volumes by NVMe.
        Some(CloudDiskService::AmazonEbs) => {
            let text = format!(
                "Amazon documents that {name} writes {} atomically (EBS on Nitro)",
                format_bytes(EBS_ATOMIC_BYTES)
            );
            return AtomicityLink::new(place, page_fits(page, EBS_ATOMIC_BYTES), text);
        }
        Some(CloudDiskService::AmazonInstanceStore) => {
            format!("whether {name} writes a page atomically depends on the instance type")
        }
        Some(CloudDiskService::AzureManagedDisk) => format!(
            "Microsoft documents atomic 16 KiB writes to {name}, but does not say on which file systems"
        ),
        Some(
            cloud @ (CloudDiskService::GooglePersistentDisk
            | CloudDiskService::GoogleLocalSsd
            | CloudDiskService::AzureLocalDisk
            | CloudDiskService::AlibabaBlockStorage
            | CloudDiskService::OracleBlockVolume),
        ) => format!("no documentation states that {name} ({cloud}) writes a page atomically"),
        None => return kernel_atomic_write_link(disk, page),
    };
    unknown(place, text)
}

fn kernel_atomic_write_link(disk: FactReader, page: Option<u64>) -> AtomicityLink {
    let (name, place) = (disk.name(), AtomicityLinkPlace::Device);
    disk.link(place, &device::ATOMIC_WRITE_MAX, |most| {
        place.broken(match page_fits(page, most) {
            Ternary::True | Ternary::Unknown => format!(
                "{name} writes {} atomically only with RWF_ATOMIC, which the server does not request",
                format_bytes(most)
            ),
            Ternary::False => format!("{name} does not report atomic writes of a page"),
        })
    })
}
