//! Reports layers between file systems and disks that the next kernel refuses, or may refuse, to
//! assemble.
//!
//! A RAID 0 that has run on Linux 5.4 or later has a fixed layout. Other RAID 0 arrays may be
//! refused if their disks differ in size.

use std::collections::BTreeMap;

use super::KernelChange;
use super::boot_dependencies::ZFS_POOLS;
use super::boot_needs::{devices_assembled_at_boot, uses_zfs};
use crate::model::upgrade::{BootNeedKind, UpgradeItem};
use walwise_judge::compat::KernelPart;
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::device::{
    ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind,
};
use walwise_model::facts::catalog::{boot, device, host};
use walwise_model::facts::{FactSet, Key, Subject};
use walwise_model::version::Version;

pub fn storage_layer_items(kernels: &KernelChange<'_>) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    let unchecked = |subject: &Subject, level| {
        let what = "the setup of the device at the next boot was not checked";
        UpgradeItem::new_undecided(subject, level, what)
    };
    let mut items = swap_problem_items(facts);
    let devices = devices_assembled_at_boot(facts);
    items.extend(crypttab_problem_items(kernels, &devices));
    let mapped = facts.subjects_where(&device::KIND, |kind| *kind == DeviceKind::Dm);
    items.extend(
        mapped
            .iter()
            .map(|subject| unchecked(subject, Level::Critical)),
    );
    let arrays = devices
        .iter()
        .filter(|(_, kind)| **kind == BootNeedKind::Array);
    items.extend(arrays.filter_map(|(subject, _)| stopped_or_degraded_array_item(facts, subject)));
    // An unchanged kernel assembles the devices as before.
    if kernels.is_unchanged {
        return items;
    }
    for (subject, kind) in &devices {
        match kind {
            BootNeedKind::Swap => items.push(unchecked(subject, Level::Warning)),
            BootNeedKind::Array => {
                items.extend(md_driver_and_metadata_items(kernels, subject));
                // Linux 5.4 and later start a RAID 0 of different-sized disks only with a fixed
                // layout. The layout matters only if the upgrade crosses, or may cross, Linux 5.4
                // in either direction.
                let needs_layout = |kernel: &Option<(Version, String)>| {
                    Some(kernel.as_ref()?.0.first_numbers() >= [5, 4])
                };
                let now = needs_layout(&kernels.now);
                if now.is_none() || needs_layout(&kernels.then) != now {
                    items.extend(raid0_layout_item(facts, subject));
                }
                items.extend(kernels.then.as_ref().and_then(|(then, _)| {
                    unsupported_consistency_policy_item(facts, subject, then)
                }));
            }
            BootNeedKind::Volume | BootNeedKind::Crypt | BootNeedKind::Multipath => {
                items.extend(device_mapper_items(kernels, subject));
            }
            BootNeedKind::Mount | BootNeedKind::Pool => {}
        }
    }
    // Ubuntu builds the module with each of its kernels.
    let is_built = kernels
        .then
        .as_ref()
        .is_some_and(|(_, vendor)| vendor.starts_with("ubuntu"));
    if uses_zfs(facts) && !is_built {
        let because = "The ZFS module is built separately; make sure that it is built for the new kernel before the next boot.";
        let what = "it is unknown whether a ZFS module is installed for the new kernel";
        items.push(
            UpgradeItem::new_critical_undecided(&Subject::host(), what)
                .with_reason(because)
                .with_name(ZFS_POOLS.to_owned()),
        );
    }
    items
}

fn stopped_or_degraded_array_item(facts: &FactSet, subject: &Subject) -> Option<UpgradeItem> {
    let open = |what: String| UpgradeItem::new_critical_undecided(subject, what);
    match facts.value(subject, &device::MD_STATE) {
        Some(
            state @ (ArrayState::Clear
            | ArrayState::Inactive
            | ArrayState::Suspended
            | ArrayState::Broken),
        ) => {
            return Some(open(format!("the array is currently {state}")));
        }
        Some(
            ArrayState::ReadOnly
            | ArrayState::ReadAuto
            | ArrayState::Clean
            | ArrayState::Active
            | ArrayState::WritePending
            | ArrayState::ActiveIdle,
        ) => {}
        None => {
            return Some(open(
                "it is unknown whether the array is running".to_owned(),
            ));
        }
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
            "the array has lost more disks ({lacks}) than it tolerates ({spare})"
        ))
    })
}

fn unsupported_consistency_policy_item(
    facts: &FactSet,
    subject: &Subject,
    then: &Version,
) -> Option<UpgradeItem> {
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
    if then.first_numbers() >= from {
        return None;
    }
    let because = format!(
        "Linux {}.{} or later is required to assemble an array with {name}.",
        from[0], from[1]
    );
    let what = format!("the array has {name}");
    let item = UpgradeItem::new_critical_undecided(subject, what)
        .with_reason(because)
        .with_source(source);
    Some(item.into_blocker_if(!then.has_backports()))
}

fn md_driver_and_metadata_items(kernels: &KernelChange<'_>, subject: &Subject) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    let level = match facts.value(subject, &device::MD_LEVEL) {
        // A linear array is reported as an on-disk format, so an item about its driver would be a
        // duplicate.
        Some(level) if level.is_linear() => None,
        Some(level) => kernels.unsupported_driver_item(subject, KernelPart::Md, level.as_str()),
        None => {
            let what = "the RAID level of the array is unknown";
            Some(UpgradeItem::new_critical_undecided(subject, what))
        }
    };
    let metadata = match facts.value(subject, &device::MD_METADATA) {
        // Superblock 0.90 is reported as an on-disk format. `external:/` marks a volume of firmware
        // RAID, whose metadata is in its container.
        Some(metadata) if metadata == "0.90" || metadata.starts_with("external:/") => None,
        Some(metadata) => {
            kernels.unsupported_driver_item(subject, KernelPart::MdMetadata, &metadata)
        }
        None => {
            let what = "the superblock version of the array is unknown";
            Some(UpgradeItem::new_critical_undecided(subject, what))
        }
    };
    level.into_iter().chain(metadata).collect()
}

fn raid0_layout_item(facts: &FactSet, subject: &Subject) -> Option<UpgradeItem> {
    if facts.value(subject, &device::MD_LEVEL)? != ArrayLevel::Raid0 {
        return None;
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
    let because = "Linux 5.4 and later refuse a RAID 0 of different-sized disks unless raid0.default_layout specifies its data layout.";
    let what = "it is unknown whether the disks of the array have the same size";
    (!alike).then(|| {
        UpgradeItem::new_critical_undecided(subject, what)
            .with_reason(because)
            .with_source("kernel: md/raid0: avoid RAID0 data corruption due to layout confusion")
    })
}

fn device_mapper_items(kernels: &KernelChange<'_>, subject: &Subject) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    let targets = facts
        .value(subject, &device::DM_TARGETS)
        .unwrap_or_default();
    if targets.is_empty() {
        let kind = facts.value(subject, &device::KIND);
        let what = if facts.value(subject, &device::DM_NAME).is_some() {
            "the device-mapper targets of the device are unknown".to_owned()
        } else {
            let kind = kind.map(DeviceKind::as_str).unwrap_or_default();
            format!("it is unknown whether the new kernel supports {kind}")
        };
        return vec![UpgradeItem::new_critical_undecided(subject, what)];
    }
    let part = KernelPart::DeviceMapper;
    let item = |target: &String| kernels.unsupported_driver_item(subject, part, target);
    targets.iter().filter_map(item).collect()
}

fn crypttab_problem_items(
    kernels: &KernelChange<'_>,
    devices: &BTreeMap<Subject, BootNeedKind>,
) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    let all = facts.host_value(&boot::UNLOCKED);
    let because = if all.is_some() {
        "The device has no entry in crypttab. Other ways to unlock it, such as rd.luks.uuid= on the kernel command line, are not checked."
    } else {
        "crypttab was not read."
    };
    let all = all.unwrap_or_default();
    let unlisted = |subject: &Subject| {
        facts
            .value(subject, &device::DM_NAME)
            .is_none_or(|name| !all.contains(&name))
    };
    let what = "it is unknown whether the device is unlocked at boot";
    let mut items: Vec<UpgradeItem> = devices
        .iter()
        .filter(|(subject, kind)| **kind == BootNeedKind::Crypt && unlisted(subject))
        .map(|(subject, _)| UpgradeItem::new_critical_undecided(subject, what).with_reason(because))
        .collect();
    for name in &all {
        let is_in = |key: &Key<Vec<String>>| {
            facts
                .host_value(key)
                .is_some_and(|names| names.contains(name))
        };
        let level = if is_in(&boot::UNLOCKED_OPTIONAL) {
            Level::Warning
        } else {
            Level::Critical
        };
        let open = |what: &str, because: &str| {
            let what = format!("{name} in crypttab: {what}");
            UpgradeItem::new_undecided(&Subject::host(), level, what)
                .with_reason(because)
                .with_name(name.clone())
        };
        if is_in(&boot::UNLOCKED_MISSING) {
            items.push(
                open(
                    "the block device is missing",
                    "File systems on the encrypted device cannot be mounted.",
                )
                .into_blocker(),
            );
        } else if is_in(&boot::UNLOCKED_UNSEEN) {
            items.push(open(
                "it is unknown whether the device is unlocked",
                "The crypttab entry could not be read completely.",
            ));
        }
        if is_in(&boot::UNLOCKED_BY_DEFAULTS) && is_other_distribution_release(kernels.real, facts)
        {
            let because = "A plain-mode device whose entry sets neither cipher nor hash depends on the defaults of cryptsetup, which \
                           changed in 2.7.";
            items.push(
                open(
                    "the device may be opened with a different cipher or hash",
                    because,
                )
                .with_source("cryptsetup 2.7.0 release notes"),
            );
        }
    }
    items
}

pub fn is_other_distribution_release(real: &FactSet, supposed: &FactSet) -> bool {
    let of = |facts: &FactSet| {
        (
            facts.host_value(&host::OS_ID),
            facts.host_value(&host::OS_VERSION),
        )
    };
    let ((now, release), (then, next)) = (of(real), of(supposed));
    // An assumed version 9 means every release of 9, such as 9.1.
    let covers = |short: &Option<String>, long: &Option<String>| match (short, long) {
        (Some(short), Some(long)) => long
            .strip_prefix(short.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    now != then || !(covers(&release, &next) || covers(&next, &release))
}

/// No item is critical, because the boot continues without swap.
fn swap_problem_items(facts: &FactSet) -> Vec<UpgradeItem> {
    let list = |key: &Key<Vec<String>>| facts.host_value(key).unwrap_or_default().into_iter();
    let gone = list(&boot::SWAPS_MISSING).map(|swap| {
        swap_item(&swap, format!("the swap area {swap} does not exist"))
            .with_reason("The boot waits for the swap space, then continues without it.")
            .into_blocker()
    });
    let unfit = list(&boot::SWAPS_UNFIT).map(|swap| {
        let because = "The path is a directory, a character device, or a device whose file \
                       system is mounted. The boot continues without this swap space.";
        swap_item(&swap, format!("{swap} cannot be used as swap"))
            .with_reason(because)
            .into_blocker()
    });
    let open = list(&boot::SWAPS_UNSEEN).map(|swap| {
        let what = format!("it is unknown whether {swap} will be available as swap");
        swap_item(&swap, what)
    });
    gone.chain(unfit).chain(open).collect()
}

pub fn swap_item(swap: &str, what: String) -> UpgradeItem {
    UpgradeItem::new_undecided(&Subject::host(), Level::Warning, what).with_name(swap.to_owned())
}
