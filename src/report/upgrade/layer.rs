//! What stands between the file systems and the disks, and what the next kernel needs to put it together: arrays, volumes,
//! encrypted devices, paths, swap, and the module of ZFS.
//!
//! What was read here is judged by the table; what was not read is told to be unknown. The surprise: a RAID 0 that has run on
//! Linux 5.4 or later has its layout settled, while one that has not may be refused where its disks differ in size.

use super::need::{Kind, ZFS, devices, uses_zfs};
use super::{Item, built_again, kernel_of};
use crate::facts::catalog::device::{ArrayLevel, DeviceKind};
use crate::facts::catalog::{boot, device, host as machine};
use crate::facts::{FactSet, Subject};
use crate::rules::Level;
use crate::validity::{self, Layer, Ruling};
use crate::version::Version;

/// Everything that does not work, or of which that cannot be told.
pub fn items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let (now, then) = (kernel_of(real), kernel_of(supposed));
    let mut items = swaps(supposed);
    items.extend(unlocked(real, supposed));
    // What this kernel has put together, it puts together again.
    if then.is_some() && now == then {
        return items;
    }
    let again = built_again(now.as_ref(), then.as_ref());
    let judge = |layer: Layer, name: &str| match &then {
        Some((version, vendor)) if again => validity::layer_again(layer, name, version, vendor),
        Some((version, vendor)) => validity::layer(layer, name, version, vendor),
        None => Ruling::unknown("The kernel is not known."),
    };
    for (subject, kind) in &devices(supposed) {
        match kind {
            Kind::Swap => {
                let what = "what sets it up at the next boot was not looked at".to_owned();
                items.push(Item::open(subject, Level::Warning, what, Ruling::unknown("")));
            }
            Kind::Array => {
                items.extend(array(supposed, subject, &judge));
                let differs = now.as_ref().is_none_or(|(version, _)| !settles_layouts(version));
                items.extend(layout(supposed, subject).filter(|_| differs));
            }
            Kind::Volume | Kind::Crypt | Kind::Multipath => {
                items.extend(mapped(supposed, subject, &judge));
            }
            Kind::Mount | Kind::Pool => {}
        }
    }
    if uses_zfs(supposed) {
        let because = "The module of ZFS is built apart from the kernel; see that one is built for it before the next boot.";
        let what = "whether there is a module of ZFS for that kernel is not known";
        items.push(Item {
            name: Some(ZFS.to_owned()),
            ..Item::open(&Subject::host(), Level::Critical, what.to_owned(), Ruling::unknown(because))
        });
    }
    items
}

/// Whether a kernel wants the layout of a RAID 0 settled, and so has it settled for what it runs.
fn settles_layouts(kernel: &Version) -> bool {
    (kernel.number(0), kernel.number(1)) >= (5, 4)
}

fn array(facts: &FactSet, subject: &Subject, judge: &impl Fn(Layer, &str) -> Ruling) -> Vec<Item> {
    let mut items = Vec::new();
    match facts.value(subject, &device::MD_LEVEL) {
        // It has a row of its own among the formats.
        Some(level) if level.is_linear() => {}
        Some(level) => items.extend(ruled(subject, level.word(), judge(Layer::Md, level.word()))),
        None => {
            let what = "of which level the array is, is not known".to_owned();
            items.push(Item::open(subject, Level::Critical, what, Ruling::unknown("")));
        }
    }
    match facts.value(subject, &device::MD_METADATA) {
        // A volume of firmware RAID has that of its container.
        Some(metadata) if metadata == "0.90" || metadata.starts_with("external:/") => {}
        Some(metadata) => {
            let what = format!("metadata {metadata}");
            items.extend(ruled(subject, &what, judge(Layer::MdMetadata, &metadata)));
        }
        None => {
            let what = "which superblock the array has, is not known".to_owned();
            items.push(Item::open(subject, Level::Critical, what, Ruling::unknown("")));
        }
    }
    items
}

/// A RAID 0 whose disks are not known to be of one size.
fn layout(facts: &FactSet, subject: &Subject) -> Option<Item> {
    match facts.value(subject, &device::MD_LEVEL)? {
        ArrayLevel::Raid0 => {}
        ArrayLevel::Linear
        | ArrayLevel::Raid1
        | ArrayLevel::Raid4
        | ArrayLevel::Raid5
        | ArrayLevel::Raid6
        | ArrayLevel::Raid10
        | ArrayLevel::Multipath
        | ArrayLevel::Faulty
        | ArrayLevel::Container => return None,
    }
    let members = facts.value(subject, &device::MD_MEMBERS).unwrap_or_default();
    let size = |member: &String| {
        let name = member.split(' ').next().unwrap_or(member);
        facts.value(&Subject::device(name), &device::SIZE)
    };
    let sizes: Option<Vec<u64>> = members.iter().map(size).collect();
    let alike = sizes
        .is_some_and(|sizes| sizes.len() > 1 && sizes.windows(2).all(|pair| pair.first() == pair.last()));
    let ruling = Ruling {
        source: "kernel: md/raid0: avoid RAID0 data corruption due to layout confusion".to_owned(),
        ..Ruling::unknown(
            "Kernels from 5.4 on refuse a RAID 0 of disks that differ in size unless raid0.default_layout says how it was written.",
        )
    };
    (!alike).then(|| {
        Item::open(
            subject,
            Level::Critical,
            "whether its disks are of one size is not known".to_owned(),
            ruling,
        )
    })
}

fn mapped(facts: &FactSet, subject: &Subject, judge: &impl Fn(Layer, &str) -> Ruling) -> Vec<Item> {
    let targets = facts.value(subject, &device::DM_TARGETS).unwrap_or_default();
    if targets.is_empty() {
        let is_mapped = facts.value(subject, &device::DM_NAME).is_some();
        let kind = facts.value(subject, &device::KIND).map(DeviceKind::word).unwrap_or_default();
        let what = if is_mapped {
            "what it is made of is not known".to_owned()
        } else {
            format!("whether that kernel has {kind} is not known")
        };
        return vec![Item::open(subject, Level::Critical, what, Ruling::unknown(""))];
    }
    targets.iter().filter_map(|target| ruled(subject, target, judge(Layer::DeviceMapper, target))).collect()
}

/// What the table says of one word, where that is not that it works.
fn ruled(subject: &Subject, name: &str, ruling: Ruling) -> Option<Item> {
    if ruling.effect.is_refused() {
        let what = format!("that kernel has no {name}");
        return Some(Item::open(subject, Level::Critical, what, ruling).blocks());
    }
    let unknown = ruling.effect.is_unknown();
    unknown.then(|| {
        Item::open(subject, Level::Critical, format!("whether that kernel has {name} is not known"), ruling)
    })
}

/// Encrypted devices that crypttab names and that will not be unlocked, or of which that cannot be told.
fn unlocked(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let Some(all) = supposed.value(&host, &boot::UNLOCKED) else {
        let what = "whether the boot unlocks it is not known";
        let crypts = devices(supposed).into_iter().filter(|(_, kind)| kind.is_crypt());
        let open = |(at, _): (Subject, Kind)| {
            Item::open(&at, Level::Critical, what.to_owned(), Ruling::unknown("crypttab was not read."))
        };
        return crypts.map(open).collect();
    };
    let list = |key| supposed.value(&host, key).unwrap_or_default();
    let (missing, unseen) = (list(&boot::UNLOCKED_MISSING), list(&boot::UNLOCKED_UNSEEN));
    let (optional, by_defaults) = (list(&boot::UNLOCKED_OPTIONAL), list(&boot::UNLOCKED_BY_DEFAULTS));
    let mut items = Vec::new();
    for name in all {
        let level = if optional.contains(&name) { Level::Warning } else { Level::Critical };
        let open = |what: &str, ruling: Ruling| Item {
            name: Some(name.clone()),
            ..Item::open(&host, level, format!("{name} in crypttab: {what}"), ruling)
        };
        if missing.contains(&name) {
            items.push(
                open("its device is not there", Ruling::unknown("What lies on it cannot be mounted."))
                    .blocks(),
            );
        } else if unseen.contains(&name) {
            items.push(open(
                "whether it is unlocked is not known",
                Ruling::unknown("Not all of its line is known."),
            ));
        }
        if by_defaults.contains(&name) && changes_system(real, supposed) {
            let because = "A plain device whose line names neither cipher nor hash depends on the defaults of cryptsetup, which are \
                           others since 2.7.";
            let ruling =
                Ruling { source: "cryptsetup 2.7.0 release notes".to_owned(), ..Ruling::unknown(because) };
            items.push(open("whether it is opened as before is not known", ruling));
        }
    }
    items
}

/// Whether another release of the system is supposed, with other programs in it.
pub(super) fn changes_system(real: &FactSet, supposed: &FactSet) -> bool {
    let of = |facts: &FactSet| {
        let host = Subject::host();
        (facts.value(&host, &machine::OS_ID), facts.value(&host, &machine::OS_VERSION))
    };
    of(real) != of(supposed)
}

/// Swap whose device is gone, or was not looked for. The boot goes on without it.
fn swaps(facts: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let list = |key| facts.value(&host, key).unwrap_or_default();
    let (missing, unseen) = (list(&boot::SWAPS_MISSING), list(&boot::SWAPS_UNSEEN));
    let gone = missing.into_iter().map(|swap| {
        let says = Ruling::unknown("The boot waits for it and goes on without.");
        let item = Item::open(&host, Level::Warning, format!("the swap {swap} is not there"), says);
        Item { name: Some(swap), ..item }.blocks()
    });
    let open = unseen.into_iter().map(|swap| {
        let what = format!("whether the swap {swap} will be there is not known");
        Item { name: Some(swap), ..Item::open(&host, Level::Warning, what, Ruling::unknown("")) }
    });
    gone.chain(open).collect()
}
