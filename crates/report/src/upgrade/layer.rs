//! The layers between file systems and disks, and the next kernel's ability to assemble them:
//! arrays, volumes, encrypted devices, paths, swap, and the module of ZFS.
//!
//! The table judges the facts; unread facts are reported as unknown. A RAID 0 that has run on Linux
//! 5.4 or later has a settled layout. One that has not may be refused where its disks differ in
//! size.

use super::builder::{built_again, kernel_of};
use super::ground::ZFS;
use super::need::{devices, uses_zfs};
use crate::model::upgrade::{Item, Kind};
use walwise_judge::rules::Level;
use walwise_judge::validity::{self, BlockDriver, Ruling};
use walwise_model::facts::catalog::device::{
    ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind,
};
use walwise_model::facts::catalog::{boot, device, host as machine, kernel};
use walwise_model::facts::{FactSet, Subject};
use walwise_model::version::Version;

/// Every failure, and everything unknown.
pub fn items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let (now, then) = (kernel_of(real), kernel_of(supposed));
    let mut items = swaps(supposed);
    items.extend(unlocked(real, supposed));
    items.extend(by_hand(supposed));
    let devices = devices(supposed);
    let arrays = devices.iter().filter(|(_, kind)| kind.is_array());
    items.extend(arrays.filter_map(|(subject, _)| stopped(supposed, subject)));
    // A device that this kernel has assembled is assembled again.
    if runs_alike(real, supposed) {
        return items;
    }
    let again = built_again(now.as_ref(), then.as_ref());
    let judge = |layer: BlockDriver, name: &str| match &then {
        Some((version, vendor)) if again => validity::layer_again(layer, name, version, vendor),
        Some((version, vendor)) => validity::layer(layer, name, version, vendor),
        None => Ruling::unknown("The kernel is not known."),
    };
    for (subject, kind) in &devices {
        match kind {
            Kind::Swap => {
                let what = "what sets it up at the next boot was not looked at".to_owned();
                items.push(Item::open(
                    subject,
                    Level::Warning,
                    what,
                    Ruling::unknown(""),
                ));
            }
            Kind::Array => {
                items.extend(array(supposed, subject, &judge));
                let settles = |kernel: &Option<(Version, String)>| {
                    kernel.as_ref().map(|(version, _)| settles_layouts(version))
                };
                // Neither a later nor an earlier kernel has to accept what these two both do.
                let differs = settles(&now).is_none_or(|now| settles(&then) != Some(now));
                items.extend(layout(supposed, subject).filter(|_| differs));
                items.extend(
                    then.as_ref()
                        .and_then(|(then, _)| policy(supposed, subject, then)),
                );
            }
            Kind::Volume | Kind::Crypt | Kind::Multipath => {
                items.extend(mapped(supposed, subject, &judge));
            }
            Kind::Mount | Kind::Pool => {}
        }
    }
    if uses_zfs(supposed) {
        let because = "The ZFS module is built separately; make sure that one is built for this kernel before the next boot.";
        let what = "it is unknown whether there is a ZFS module for that kernel";
        items.push(Item {
            name: Some(ZFS.to_owned()),
            ..Item::open(
                &Subject::host(),
                Level::Critical,
                what.to_owned(),
                Ruling::unknown(because),
            )
        });
    }
    items
}

/// An array that is not running: nothing proves that the boot assembles it.
fn stopped(facts: &FactSet, subject: &Subject) -> Option<Item> {
    let open = |what: String| Item::open(subject, Level::Critical, what, Ruling::unknown(""));
    match facts.value(subject, &device::MD_STATE) {
        Some(
            state @ (ArrayState::Clear
            | ArrayState::Inactive
            | ArrayState::Suspended
            | ArrayState::Broken),
        ) => {
            return Some(open(format!("the array is {} now", state.word())));
        }
        Some(
            ArrayState::ReadOnly
            | ArrayState::ReadAuto
            | ArrayState::Clean
            | ArrayState::Active
            | ArrayState::WritePending
            | ArrayState::ActiveIdle,
        ) => {}
        None => return Some(open("it is unknown whether the array runs".to_owned())),
    }
    let spare = match facts.value(subject, &device::MD_LEVEL)? {
        ArrayLevel::Raid0 | ArrayLevel::Linear | ArrayLevel::Faulty => 0,
        ArrayLevel::Raid4 | ArrayLevel::Raid5 => 1,
        ArrayLevel::Raid6 => 2,
        ArrayLevel::Raid1 | ArrayLevel::Raid10 | ArrayLevel::Multipath => {
            facts.value(subject, &device::MD_DISKS)?.saturating_sub(1)
        }
        ArrayLevel::Container => return None,
    };
    let lacks = facts.value(subject, &device::MD_DEGRADED)?;
    (lacks > spare).then(|| {
        open(format!(
            "the array lacks {lacks} of its disks, and can do without {spare}"
        ))
    })
}

/// The consistency policy of an array, before a kernel that does not know it.
fn policy(facts: &FactSet, subject: &Subject, then: &Version) -> Option<Item> {
    let (name, from, source) = match facts.value(subject, &device::MD_CONSISTENCY)? {
        ConsistencyPolicy::Journal => ("a journal", [4, 4], "kernel: md/raid5-cache, 4.4"),
        ConsistencyPolicy::Ppl => (
            "a partial parity log",
            [4, 12],
            "kernel: md/raid5-ppl, 4.12",
        ),
        ConsistencyPolicy::None
        | ConsistencyPolicy::Resync
        | ConsistencyPolicy::Bitmap
        | ConsistencyPolicy::Unknown => return None,
    };
    if [then.number(0), then.number(1)] >= from {
        return None;
    }
    let because = format!(
        "Linux {}.{} and later assemble an array with {name}.",
        from[0], from[1]
    );
    let ruling = Ruling {
        source: source.to_owned(),
        ..Ruling::unknown(because)
    };
    let item = Item::open(
        subject,
        Level::Critical,
        format!("the array has {name}"),
        ruling,
    );
    Some(if then.backports() {
        item
    } else {
        item.blocks()
    })
}

/// Devices of the device mapper that neither LVM nor a file read here explains.
fn by_hand(facts: &FactSet) -> Vec<Item> {
    let of = |kind: DeviceKind| matches!(kind, DeviceKind::Dm);
    let open = |subject: Subject| {
        let what = "what sets it up at the next boot was not looked at".to_owned();
        Item::open(&subject, Level::Critical, what, Ruling::unknown(""))
    };
    facts
        .which(&device::KIND, |kind| of(*kind))
        .into_iter()
        .map(open)
        .collect()
}

/// Whether a kernel requires a settled layout of a RAID 0, so that running ones have it.
fn settles_layouts(kernel: &Version) -> bool {
    (kernel.number(0), kernel.number(1)) >= (5, 4)
}

fn array(
    facts: &FactSet,
    subject: &Subject,
    judge: &impl Fn(BlockDriver, &str) -> Ruling,
) -> Vec<Item> {
    let mut items = Vec::new();
    match facts.value(subject, &device::MD_LEVEL) {
        // It has a row of its own among the formats.
        Some(level) if level.is_linear() => {}
        Some(level) => items.extend(ruled(
            subject,
            level.word(),
            judge(BlockDriver::Md, level.word()),
        )),
        None => {
            let what = "the level of the array is unknown".to_owned();
            items.push(Item::open(
                subject,
                Level::Critical,
                what,
                Ruling::unknown(""),
            ));
        }
    }
    match facts.value(subject, &device::MD_METADATA) {
        // A volume of firmware RAID has the metadata of its container.
        Some(metadata) if metadata == "0.90" || metadata.starts_with("external:/") => {}
        Some(metadata) => {
            let what = format!("metadata {metadata}");
            items.extend(ruled(
                subject,
                &what,
                judge(BlockDriver::MdMetadata, &metadata),
            ));
        }
        None => {
            let what = "it is unknown which superblock the array has".to_owned();
            items.push(Item::open(
                subject,
                Level::Critical,
                what,
                Ruling::unknown(""),
            ));
        }
    }
    items
}

/// A RAID 0 whose disks may differ in size.
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
    let members = facts
        .value(subject, &device::MD_MEMBERS)
        .unwrap_or_default();
    let size = |member: &String| {
        let name = member.split(' ').next().unwrap_or(member);
        facts.value(&Subject::device(name), &device::SIZE)
    };
    let sizes: Option<Vec<u64>> = members.iter().map(size).collect();
    let alike = sizes.is_some_and(|sizes| {
        sizes.len() > 1 && sizes.windows(2).all(|pair| pair.first() == pair.last())
    });
    let ruling = Ruling {
        source: "kernel: md/raid0: avoid RAID0 data corruption due to layout confusion".to_owned(),
        ..Ruling::unknown(
            "Linux 5.4 and later refuse a RAID 0 of disks that differ in size unless raid0.default_layout says how it was written.",
        )
    };
    (!alike).then(|| {
        Item::open(
            subject,
            Level::Critical,
            "it is unknown whether its disks are of one size".to_owned(),
            ruling,
        )
    })
}

fn mapped(
    facts: &FactSet,
    subject: &Subject,
    judge: &impl Fn(BlockDriver, &str) -> Ruling,
) -> Vec<Item> {
    let targets = facts
        .value(subject, &device::DM_TARGETS)
        .unwrap_or_default();
    if targets.is_empty() {
        let is_mapped = facts.value(subject, &device::DM_NAME).is_some();
        let kind = facts
            .value(subject, &device::KIND)
            .map(DeviceKind::word)
            .unwrap_or_default();
        let what = if is_mapped {
            "it is unknown what it is made of".to_owned()
        } else {
            format!("it is unknown whether that kernel has {kind}")
        };
        return vec![Item::open(
            subject,
            Level::Critical,
            what,
            Ruling::unknown(""),
        )];
    }
    targets
        .iter()
        .filter_map(|target| ruled(subject, target, judge(BlockDriver::DeviceMapper, target)))
        .collect()
}

/// The item for a ruling on one word, unless it works.
fn ruled(subject: &Subject, name: &str, ruling: Ruling) -> Option<Item> {
    if ruling.effect.is_refused() {
        let what = format!("that kernel has no {name}");
        return Some(Item::open(subject, Level::Critical, what, ruling).blocks());
    }
    let unknown = ruling.effect.is_unknown();
    unknown.then(|| {
        Item::open(
            subject,
            Level::Critical,
            format!("it is unknown whether that kernel has {name}"),
            ruling,
        )
    })
}

/// Encrypted devices of crypttab that will not be unlocked, or for which that is unknown.
fn unlocked(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let Some(all) = supposed.value(&host, &boot::UNLOCKED) else {
        let what = "it is unknown whether the boot unlocks it";
        let crypts = devices(supposed)
            .into_iter()
            .filter(|(_, kind)| kind.is_crypt());
        let open = |(at, _): (Subject, Kind)| {
            Item::open(
                &at,
                Level::Critical,
                what.to_owned(),
                Ruling::unknown("crypttab was not read."),
            )
        };
        return crypts.map(open).collect();
    };
    let list = |key| supposed.value(&host, key).unwrap_or_default();
    let (missing, unseen) = (list(&boot::UNLOCKED_MISSING), list(&boot::UNLOCKED_UNSEEN));
    let unlisted = |subject: &Subject| {
        supposed
            .value(subject, &device::DM_NAME)
            .is_none_or(|name| !all.contains(&name))
    };
    let crypts = devices(supposed)
        .into_iter()
        .filter(|(subject, kind)| kind.is_crypt() && unlisted(subject));
    let mut items: Vec<Item> = crypts.map(|(subject, _)| {
        let because = "It has no line in crypttab; what else unlocks it, such as rd.luks on the kernel's command line, is not looked at.";
        Item::open(&subject, Level::Critical, "it is unknown whether the boot unlocks it".to_owned(), Ruling::unknown(because))
    }).collect();
    let (optional, by_defaults) = (
        list(&boot::UNLOCKED_OPTIONAL),
        list(&boot::UNLOCKED_BY_DEFAULTS),
    );
    for name in all.clone() {
        let level = if optional.contains(&name) {
            Level::Warning
        } else {
            Level::Critical
        };
        let open = |what: &str, ruling: Ruling| Item {
            name: Some(name.clone()),
            ..Item::open(&host, level, format!("{name} in crypttab: {what}"), ruling)
        };
        if missing.contains(&name) {
            items.push(
                open(
                    "no block device is there for it",
                    Ruling::unknown("Its contents cannot be mounted."),
                )
                .blocks(),
            );
        } else if unseen.contains(&name) {
            items.push(open(
                "it is unknown whether it is unlocked",
                Ruling::unknown("Not all of its line is known."),
            ));
        }
        if by_defaults.contains(&name) && changes_system(real, supposed) {
            let because = "A plain device whose line names neither cipher nor hash depends on the defaults of cryptsetup, which are \
                           others since 2.7.";
            let ruling = Ruling {
                source: "cryptsetup 2.7.0 release notes".to_owned(),
                ..Ruling::unknown(because)
            };
            items.push(open("it is unknown whether it is opened as before", ruling));
        }
    }
    items
}

/// Whether another release of the system is assumed, with other programs.
pub(super) fn changes_system(real: &FactSet, supposed: &FactSet) -> bool {
    let of = |facts: &FactSet| {
        let host = Subject::host();
        (
            facts.value(&host, &machine::OS_ID),
            facts.value(&host, &machine::OS_VERSION),
        )
    };
    let ((now, release), (then, next)) = (of(real), of(supposed));
    // "9" is any release of 9.
    let covers = |short: &Option<String>, long: &Option<String>| match (short, long) {
        (Some(short), Some(long)) => long
            .strip_prefix(short.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    now != then || !(covers(&release, &next) || covers(&next, &release))
}

/// Whether both are one kernel, so that everything in use stays in use.
pub(super) fn runs_alike(real: &FactSet, supposed: &FactSet) -> bool {
    let release = |facts: &FactSet| facts.value(&Subject::host(), &kernel::RELEASE);
    release(real).is_some() && release(real) == release(supposed)
}

/// Swap whose device is gone or no swap, or unknown. The boot continues without it.
fn swaps(facts: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let list = |key| facts.value(&host, key).unwrap_or_default();
    let (missing, unseen) = (list(&boot::SWAPS_MISSING), list(&boot::SWAPS_UNSEEN));
    let gone = missing.into_iter().map(|swap| {
        let says = Ruling::unknown("The boot waits for it, then continues without.");
        let item = Item::open(
            &host,
            Level::Warning,
            format!("the swap {swap} is not there"),
            says,
        );
        Item {
            name: Some(swap),
            ..item
        }
        .blocks()
    });
    let unfit = list(&boot::SWAPS_UNFIT).into_iter().map(|swap| {
        let says = Ruling::unknown(
            "It is a directory, a character device, or a device whose file system is mounted. The boot continues without it.",
        );
        let item = Item::open(&host, Level::Warning, format!("{swap} cannot be swap"), says);
        Item { name: Some(swap), ..item }.blocks()
    });
    let open = unseen.into_iter().map(|swap| {
        let what = format!("it is unknown whether {swap} will be swap");
        Item {
            name: Some(swap),
            ..Item::open(&host, Level::Warning, what, Ruling::unknown(""))
        }
    });
    gone.chain(unfit).chain(open).collect()
}
