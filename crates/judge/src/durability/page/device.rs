//! The lower links: alignment of partitions and linear mappings, request size, and the device's
//! promise. `atomic_write_unit_max_bytes` promises only for RWF_ATOMIC writes, which no server here
//! makes. NVMe's AWUPF is often wrong and is not used.

use super::link::{Link, LinkPlace, bytes_text, fits, is_multiple};
use crate::durability::fact_reader::FactReader;
use crate::durability::route::routes;
use crate::facts::catalog::device::{self, Cloud, DeviceKind};
use crate::facts::{Scope, Subject};
use crate::ternary::Ternary;

/// The largest write that EBS makes atomic (EC2 User Guide, *Block sizes for torn write
/// prevention*).
const EBS_ATOMIC_BYTES: u64 = 16384;

/// The only device-mapper target that moves a page by a fixed distance and does nothing else
/// (linear.rst).
const LINEAR_TARGET: &str = "linear";

pub fn links(ask: &mut FactReader, of: &Subject, home: &Subject, page: Option<u64>) -> Vec<Link> {
    let facts = ask.facts;
    let mut links = Vec::new();
    let mut ends = 0;
    for hop in facts.stack(of).iter().filter(|hop| *hop != home) {
        match hop.scope() {
            Scope::Device if facts.below(hop).is_empty() => {
                ends += 1;
                links.extend([
                    device_link(ask, hop, page),
                    request_size_link(ask, LinkPlace::Device, hop, page),
                ]);
            }
            Scope::Device => links.extend(layer_links(ask, hop, page)),
            Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => {
                links.push(unknown_layer_link(hop));
            }
        }
    }
    let (ways, _) = routes(facts, of);
    links.extend(
        ways.into_iter()
            .filter_map(|way| Some(Link::new(LinkPlace::Layer, Ternary::Unknown, way.broken?))),
    );
    if ends == 0 {
        let says = format!("the device under {} was not found", home.name());
        links.push(Link::new(LinkPlace::Device, Ternary::Unknown, says));
    }
    links
}

fn layer_links(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> Vec<Link> {
    let Some(kind) = ask.get(hop, &device::KIND) else {
        return vec![Link::unknown(LinkPlace::Layer, ask, hop, &device::KIND)];
    };
    match kind {
        DeviceKind::Partition => vec![partition_link(ask, hop, page)],
        DeviceKind::Lvm | DeviceKind::Dm => match ask.get(hop, &device::DM_TARGETS) {
            Some(targets)
                if !targets.is_empty() && targets.iter().all(|target| target == LINEAR_TARGET) =>
            {
                vec![
                    linear_link(ask, hop, page),
                    request_size_link(ask, LinkPlace::Mapping, hop, page),
                ]
            }
            Some(_) => vec![unknown_layer_link(hop)],
            None => vec![Link::unknown(
                LinkPlace::Mapping,
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
        | DeviceKind::Other => vec![unknown_layer_link(hop)],
    }
}

/// A layer without documentation of how it treats a page.
fn unknown_layer_link(hop: &Subject) -> Link {
    let says = format!(
        "{} may split or move a page; nothing documents otherwise",
        hop.name()
    );
    Link::new(LinkPlace::Layer, Ternary::Unknown, says)
}

fn partition_link(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> Link {
    let Some(start) = ask.get(hop, &device::START) else {
        return Link::unknown(LinkPlace::Partition, ask, hop, &device::START);
    };
    let holds = is_multiple(page, start);
    let of_page = match holds {
        Ternary::True => ", a multiple of a page",
        Ternary::Unknown => "",
        Ternary::False => ", no multiple of a page",
    };
    Link::new(
        LinkPlace::Partition,
        holds,
        format!("{} begins at byte {start}{of_page}", hop.name()),
    )
}

fn linear_link(ask: &mut FactReader, hop: &Subject, page: Option<u64>) -> Link {
    let Some(alignment) = ask.get(hop, &device::DM_ALIGNMENT) else {
        return Link::unknown(LinkPlace::Mapping, ask, hop, &device::DM_ALIGNMENT);
    };
    let holds = is_multiple(page, alignment);
    let only = match holds {
        Ternary::True | Ternary::Unknown => "",
        Ternary::False => " only",
    };
    let says = format!(
        "{} begins at a multiple of {}{only}",
        hop.name(),
        bytes_text(alignment)
    );
    Link::new(LinkPlace::Mapping, holds, says)
}

/// Whether a queue sends a page in one request.
fn request_size_link(
    ask: &mut FactReader,
    part: LinkPlace,
    hop: &Subject,
    page: Option<u64>,
) -> Link {
    match ask.get(hop, &device::MAX_IO) {
        Some(most) => {
            let says = format!(
                "{} takes {} at most in one request",
                hop.name(),
                bytes_text(most)
            );
            Link::new(part, fits(page, most), says)
        }
        None => Link::unknown(part, ask, hop, &device::MAX_IO),
    }
}

fn device_link(ask: &mut FactReader, disk: &Subject, page: Option<u64>) -> Link {
    let name = disk.name();
    let open = |says: String| Link::new(LinkPlace::Device, Ternary::Unknown, says);
    match ask.get(disk, &device::CLOUD) {
        // Only NVMe reports this model, and EBS with NVMe is Nitro.
        Some(Cloud::AmazonEbs) => {
            let says = format!(
                "Amazon documents that {name} writes {} whole (EBS on Nitro)",
                bytes_text(EBS_ATOMIC_BYTES)
            );
            Link::new(LinkPlace::Device, fits(page, EBS_ATOMIC_BYTES), says)
        }
        Some(Cloud::AmazonInstanceStore) => open(format!(
            "whether {name} writes a page whole depends on the type of the instance"
        )),
        Some(Cloud::AzureManagedDisk) => open(format!(
            "Microsoft documents that {name} writes 16 KiB whole, and no file system for it"
        )),
        Some(
            cloud @ (Cloud::GooglePersistentDisk
            | Cloud::GoogleLocalSsd
            | Cloud::AzureLocalDisk
            | Cloud::AlibabaBlockStorage
            | Cloud::OracleBlockVolume),
        ) => open(format!(
            "no documentation says that {name} ({cloud}) writes a page whole"
        )),
        None => kernel_promise_link(ask, disk, page),
    }
}

/// What the kernel announces for a device that is in no cloud.
fn kernel_promise_link(ask: &mut FactReader, disk: &Subject, page: Option<u64>) -> Link {
    let name = disk.name();
    let Some(most) = ask.get(disk, &device::ATOMIC_WRITE_MAX) else {
        return Link::unknown(LinkPlace::Device, ask, disk, &device::ATOMIC_WRITE_MAX);
    };
    let says = match fits(page, most) {
        Ternary::True | Ternary::Unknown => {
            format!(
                "{name} writes {} whole for RWF_ATOMIC alone, which the server does not request",
                bytes_text(most)
            )
        }
        Ternary::False => format!("{name} promises no whole write of a page"),
    };
    Link::new(LinkPlace::Device, Ternary::False, says)
}
