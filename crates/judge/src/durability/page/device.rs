//! The links below the file system: where partitions and linear mappings begin, whether a queue
//! sends a page in one request, and what the device promises.
//!
//! A promise of the kernel (`atomic_write_unit_max_bytes`) is made to writes with RWF_ATOMIC alone,
//! which no server here requests, so it makes no link hold. An NVMe controller's own field (AWUPF)
//! is often wrong and is not used.

use super::link::{Link, LinkPlace, fits, multiple, size};
use crate::durability::ask::Ask;
use crate::durability::route::routes;
use crate::facts::catalog::device::{self, Cloud, DeviceKind};
use crate::facts::{Scope, Subject};
use crate::truth::Truth;

/// The largest write that EBS makes whole (EC2 User Guide, *Block sizes for torn write
/// prevention*).
const EBS_WHOLE: u64 = 16384;

/// The target of device-mapper that moves a page by a fixed distance and does nothing else to it
/// (linear.rst).
const PASSING: &str = "linear";

/// The links of everything beneath the file system.
pub fn links(ask: &mut Ask, of: &Subject, home: &Subject, page: Option<u64>) -> Vec<Link> {
    let facts = ask.facts;
    let mut links = Vec::new();
    let mut ends = 0;
    for hop in facts.stack(of).iter().filter(|hop| *hop != home) {
        match hop.scope() {
            Scope::Device if facts.below(hop).is_empty() => {
                ends += 1;
                links.extend([
                    promise(ask, hop, page),
                    undivided(ask, LinkPlace::Device, hop, page),
                ]);
            }
            Scope::Device => links.extend(layer(ask, hop, page)),
            Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => {
                links.push(other(hop));
            }
        }
    }
    let (ways, _) = routes(facts, of);
    links.extend(
        ways.into_iter()
            .filter_map(|way| Some(Link::new(LinkPlace::Layer, Truth::Unknown, way.broken?))),
    );
    if ends == 0 {
        let says = format!("the device under {} was not found", home.name());
        links.push(Link::new(LinkPlace::Device, Truth::Unknown, says));
    }
    links
}

/// The links of a device on others.
fn layer(ask: &mut Ask, hop: &Subject, page: Option<u64>) -> Vec<Link> {
    let Some(kind) = ask.value(hop, &device::KIND) else {
        return vec![Link::unread(LinkPlace::Layer, ask, hop, &device::KIND)];
    };
    match kind {
        DeviceKind::Partition => vec![partition(ask, hop, page)],
        DeviceKind::Lvm | DeviceKind::Dm => match ask.value(hop, &device::DM_TARGETS) {
            Some(targets)
                if !targets.is_empty() && targets.iter().all(|target| target == PASSING) =>
            {
                vec![
                    linear(ask, hop, page),
                    undivided(ask, LinkPlace::Mapping, hop, page),
                ]
            }
            Some(_) => vec![other(hop)],
            None => vec![Link::unread(
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
        | DeviceKind::Other => vec![other(hop)],
    }
}

/// A layer of which nobody says what it makes of a page.
fn other(hop: &Subject) -> Link {
    let says = format!(
        "{} may divide or move a page, as nothing documents that it does not",
        hop.name()
    );
    Link::new(LinkPlace::Layer, Truth::Unknown, says)
}

/// Where a partition begins.
fn partition(ask: &mut Ask, hop: &Subject, page: Option<u64>) -> Link {
    let Some(start) = ask.value(hop, &device::START) else {
        return Link::unread(LinkPlace::Partition, ask, hop, &device::START);
    };
    let holds = multiple(page, start);
    let of_page = match holds {
        Truth::True => ", a multiple of a page",
        Truth::Unknown => "",
        Truth::False => ", no multiple of a page",
    };
    Link::new(
        LinkPlace::Partition,
        holds,
        format!("{} begins at byte {start}{of_page}", hop.name()),
    )
}

/// Where the parts of a linear mapping begin.
fn linear(ask: &mut Ask, hop: &Subject, page: Option<u64>) -> Link {
    let Some(alignment) = ask.value(hop, &device::DM_ALIGNMENT) else {
        return Link::unread(LinkPlace::Mapping, ask, hop, &device::DM_ALIGNMENT);
    };
    let holds = multiple(page, alignment);
    let only = match holds {
        Truth::True | Truth::Unknown => "",
        Truth::False => " only",
    };
    let says = format!(
        "{} begins at a multiple of {}{only}",
        hop.name(),
        size(alignment)
    );
    Link::new(LinkPlace::Mapping, holds, says)
}

/// Whether a queue sends a page in one request.
fn undivided(ask: &mut Ask, part: LinkPlace, hop: &Subject, page: Option<u64>) -> Link {
    match ask.value(hop, &device::MAX_IO) {
        Some(most) => {
            let says = format!("{} takes {} at most in one request", hop.name(), size(most));
            Link::new(part, fits(page, most), says)
        }
        None => Link::unread(part, ask, hop, &device::MAX_IO),
    }
}

/// What is promised of the device.
fn promise(ask: &mut Ask, disk: &Subject, page: Option<u64>) -> Link {
    let name = disk.name();
    let open = |says: String| Link::new(LinkPlace::Device, Truth::Unknown, says);
    match ask.value(disk, &device::CLOUD) {
        // Only NVMe shows this model, and NVMe is Nitro.
        Some(Cloud::AmazonEbs) => {
            let says = format!(
                "Amazon documents that {name} writes {} whole (EBS on Nitro)",
                size(EBS_WHOLE)
            );
            Link::new(LinkPlace::Device, fits(page, EBS_WHOLE), says)
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
        None => announced(ask, disk, page),
    }
}

/// What the kernel announces of a device of no cloud.
fn announced(ask: &mut Ask, disk: &Subject, page: Option<u64>) -> Link {
    let name = disk.name();
    let Some(most) = ask.value(disk, &device::ATOMIC_WRITE_MAX) else {
        return Link::unread(LinkPlace::Device, ask, disk, &device::ATOMIC_WRITE_MAX);
    };
    let says = match fits(page, most) {
        Truth::True | Truth::Unknown => {
            format!(
                "{name} writes {} whole for RWF_ATOMIC alone, which the server does not request",
                size(most)
            )
        }
        Truth::False => format!("{name} promises no whole write of a page"),
    };
    Link::new(LinkPlace::Device, Truth::False, says)
}
