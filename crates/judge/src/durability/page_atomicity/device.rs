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

pub fn device_links(
    ask: &mut FactReader,
    of: &Subject,
    home: &Subject,
    page: Option<u64>,
) -> Vec<AtomicityLink> {
    let facts = ask.facts;
    let mut links = Vec::new();
    let mut ends = 0;
    for hop in facts.layers_below(of).iter().filter(|hop| *hop != home) {
        match hop.scope() {
            Scope::Device if facts.layers_directly_below(hop).is_empty() => {
                ends += 1;
                links.extend([
                    disk_atomicity_link(ask, hop, page),
                    request_size_link(ask, AtomicityLinkPlace::Device, hop, page),
                ]);
            }
            Scope::Device => links.extend(layer_links(ask, hop, page)),
            Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => {
                links.push(possibly_splitting_layer_link(hop));
            }
        }
    }
    let (ways, _) = find_routes(facts, of);
    links.extend(ways.into_iter().filter_map(|way| {
        Some(AtomicityLink::new(
            AtomicityLinkPlace::Layer,
            Ternary::Unknown,
            way.broken?,
        ))
    }));
    if ends == 0 {
        let says = format!("the underlying device of {} was not found", home.name());
        links.push(AtomicityLink::new(
            AtomicityLinkPlace::Device,
            Ternary::Unknown,
            says,
        ));
    }
    links
}

fn layer_links(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> Vec<AtomicityLink> {
    let Some(kind) = ask.read_and_record_use(hop, &device::KIND) else {
        return vec![AtomicityLink::unknown(
            AtomicityLinkPlace::Layer,
            ask,
            hop,
            &device::KIND,
        )];
    };
    match kind {
        DeviceKind::Partition => vec![partition_link(ask, hop, page)],
        DeviceKind::Lvm | DeviceKind::Dm => match ask.read_and_record_use(hop, &device::DM_TARGETS)
        {
            Some(targets)
                if !targets.is_empty() && targets.iter().all(|target| target == LINEAR_TARGET) =>
            {
                vec![
                    linear_mapping_link(ask, hop, page),
                    request_size_link(ask, AtomicityLinkPlace::Mapping, hop, page),
                ]
            }
            Some(_) => vec![possibly_splitting_layer_link(hop)],
            None => vec![AtomicityLink::unknown(
                AtomicityLinkPlace::Mapping,
                ask,
                hop,
                &device::DM_TARGETS,
            )],
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

fn possibly_splitting_layer_link(hop: &Subject) -> AtomicityLink {
    let says = format!(
        "{} may split or move a page; no documentation rules that out",
        hop.name()
    );
    AtomicityLink::new(AtomicityLinkPlace::Layer, Ternary::Unknown, says)
}

fn partition_link(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> AtomicityLink {
    let place = AtomicityLinkPlace::Partition;
    AtomicityLink::from_fact(place, ask, hop, &device::START, |start| {
        let holds = is_page_multiple(page, start);
        let of_page = match holds {
            Ternary::True => ", a multiple of the page size",
            Ternary::Unknown => "",
            Ternary::False => ", not a multiple of the page size",
        };
        let says = format!("{} begins at byte {start}{of_page}", hop.name());
        (holds, says)
    })
}

fn linear_mapping_link(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> AtomicityLink {
    let place = AtomicityLinkPlace::Mapping;
    AtomicityLink::from_fact(place, ask, hop, &device::DM_ALIGNMENT, |alignment| {
        let holds = is_page_multiple(page, alignment);
        let only = match holds {
            Ternary::True | Ternary::Unknown => "",
            Ternary::False => ", not of the page size",
        };
        let (name, alignment) = (hop.name(), format_bytes(alignment));
        let says = format!("{name} begins at a multiple of {alignment}{only}");
        (holds, says)
    })
}

fn request_size_link(
    ask: &mut FactReader,
    part: AtomicityLinkPlace,
    hop: &Subject,
    page: Option<u64>,
) -> AtomicityLink {
    AtomicityLink::from_fact(part, ask, hop, &device::MAX_IO, |most| {
        let (name, shown) = (hop.name(), format_bytes(most));
        let says = format!("{name} accepts at most {shown} in one request");
        (page_fits(page, most), says)
    })
}

fn disk_atomicity_link(ask: &mut FactReader, disk: &Subject, page: Option<u64>) -> AtomicityLink {
    let name = disk.name();
    let open =
        |says: String| AtomicityLink::new(AtomicityLinkPlace::Device, Ternary::Unknown, says);
    match ask.read_and_record_use(disk, &device::CLOUD) {
        // The volume is on Nitro: only EBS volumes attached by NVMe have this model, and only Nitro
        // instances attach volumes by NVMe.
        Some(CloudDiskService::AmazonEbs) => {
            let says = format!(
                "Amazon documents that {name} writes {} atomically (EBS on Nitro)",
                format_bytes(EBS_ATOMIC_BYTES)
            );
            AtomicityLink::new(
                AtomicityLinkPlace::Device,
                page_fits(page, EBS_ATOMIC_BYTES),
                says,
            )
        }
        Some(CloudDiskService::AmazonInstanceStore) => open(format!(
            "whether {name} writes a page atomically depends on the instance type"
        )),
        Some(CloudDiskService::AzureManagedDisk) => open(format!(
            "Microsoft documents atomic 16 KiB writes to {name}, but does not say on which file systems"
        )),
        Some(
            cloud @ (CloudDiskService::GooglePersistentDisk
            | CloudDiskService::GoogleLocalSsd
            | CloudDiskService::AzureLocalDisk
            | CloudDiskService::AlibabaBlockStorage
            | CloudDiskService::OracleBlockVolume),
        ) => open(format!(
            "no documentation states that {name} ({cloud}) writes a page atomically"
        )),
        None => kernel_atomic_write_link(ask, disk, page),
    }
}

fn kernel_atomic_write_link(
    ask: &mut FactReader,
    disk: &Subject,
    page: Option<u64>,
) -> AtomicityLink {
    let (name, place) = (disk.name(), AtomicityLinkPlace::Device);
    AtomicityLink::from_fact(place, ask, disk, &device::ATOMIC_WRITE_MAX, |most| {
        let says = match page_fits(page, most) {
            Ternary::True | Ternary::Unknown => format!(
                "{name} writes {} atomically only with RWF_ATOMIC, which the server does not request",
                format_bytes(most)
            ),
            Ternary::False => format!("{name} does not report atomic writes of a page"),
        };
        (Ternary::False, says)
    })
}
