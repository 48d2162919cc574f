use super::boot_dependencies::ZFS_POOLS;
use super::layers::{is_kernel_release_unchanged, is_other_distribution_release};
use super::{
    finding_applies, finding_tests_fact, index_findings, is_about_boot_line,
    is_same_custom_kernel_builder, is_undecided, kernel_version_and_vendor,
    upgrade_item_from_finding,
};
use crate::model::Report;
use crate::model::upgrade::{BootOutcome, UpgradeItem, UpgradeSection};
use walwise_judge::compat::{self, DiskFormat, KernelPart};
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::{device, host, kernel, mount};
use walwise_model::facts::{FactSet, Subject};

pub fn other_change_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
    let mut items = changed_finding_items(real, supposed);
    items.extend(changed_verdict_items(real, supposed));
    items.extend(unmountable_mkfs_default_items(&real.facts, &supposed.facts));
    items.extend(unsupported_disk_format_items(&real.facts, &supposed.facts));
    items
}

fn changed_finding_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
    let (before, now) = (index_findings(real), index_findings(supposed));
    let mut items = Vec::new();
    for (name, finding) in &now {
        let was = before.get(name).copied();
        let same = was.is_some_and(|was| {
            is_undecided(was) == is_undecided(finding)
                && finding_comparison_key(was) == finding_comparison_key(finding)
        });
        if is_about_boot_line(finding) && finding_applies(finding) {
            continue;
        }
        if same {
            // A critical kernel fault is reported even if the running kernel has it, too.
            items.extend(
                is_critical_kernel_version_finding(finding)
                    .then(|| upgrade_item_from_finding(UpgradeSection::Already, finding, true)),
            );
            continue;
        }
        // A *keep* finding confirms a setting, so a new *keep* finding means that a fault is gone.
        let part = match (is_undecided(finding), finding.level) {
            (true, _) => UpgradeSection::NotKnown,
            (false, Level::Keep) => UpgradeSection::Better,
            (false, _) if finding_tests_fact(finding, kernel::ZFS_SUPPORT.name()) => {
                UpgradeSection::Blocker
            }
            (false, _) => UpgradeSection::Changes,
        };
        let of_zfs = finding_tests_fact(finding, kernel::ZFS_SUPPORT.name());
        // Another distribution release has its own ZFS module. The ZFS rules then count only if the
        // user assumed a module version.
        let named = supposed
            .facts
            .is_assumed(&Subject::host(), kernel::ZFS_VERSION.id());
        if of_zfs && !named && is_other_distribution_release(&real.facts, &supposed.facts) {
            continue;
        }
        let answer = if is_undecided(finding) {
            BootOutcome::CannotBeTold
        } else {
            BootOutcome::Fails
        };
        let (answer, name) = (
            of_zfs.then_some(answer),
            of_zfs.then(|| ZFS_POOLS.to_owned()),
        );
        items.push(UpgradeItem {
            answer,
            name,
            ..upgrade_item_from_finding(part, finding, false)
        });
    }
    for (name, finding) in before {
        if now.contains_key(&name) || is_undecided(finding) || is_about_boot_line(finding) {
            continue;
        }
        // The end of a fault is an improvement. The end of advice may mean that the new kernel
        // lacks a feature.
        let part = if finding.level >= Level::Warning {
            UpgradeSection::Better
        } else {
            UpgradeSection::Changes
        };
        let what = format!("no longer applies: {}", finding.title);
        items.push(UpgradeItem {
            what,
            because: String::new(),
            fix: None,
            ..upgrade_item_from_finding(part, finding, false)
        });
    }
    items
}

fn is_critical_kernel_version_finding(finding: &Finding) -> bool {
    finding_applies(finding)
        && finding.level == Level::Critical
        && finding_tests_fact(finding, kernel::VERSION.name())
}

/// The outcome is compared as well, because an undecided finding has the same title on every
/// kernel, but different missing facts.
fn finding_comparison_key(finding: &Finding) -> impl PartialEq + use<> {
    let advice: Vec<(&str, String)> = finding
        .advice
        .iter()
        .map(|advice| (advice.setting.name, advice.change.describe_change()))
        .collect();
    (
        finding.level,
        finding.title.clone(),
        finding.outcome.clone(),
        advice,
    )
}

fn changed_verdict_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
    let mut items = Vec::new();
    for Verdict {
        target,
        standing,
        sentence,
        ..
    } in &supposed.verdicts
    {
        let Some(before) = real.verdict(target).map(|verdict| verdict.standing) else {
            continue;
        };
        if before == *standing {
            continue;
        }
        let level = match standing {
            VerdictKind::AtRisk | VerdictKind::Contradictory => Level::Critical,
            VerdictKind::Unproven => Level::Warning,
            VerdictKind::ProvenByDrill | VerdictKind::Durable => Level::Keep,
        };
        let part = if *standing < before {
            UpgradeSection::Changes
        } else {
            UpgradeSection::Better
        };
        let what = format!(
            "the verdict changes from {} to {}",
            before.as_str(),
            standing.as_str()
        );
        items.push(UpgradeItem::new_change(part, level, target, what).with_reason(sentence));
    }
    items
}

fn unmountable_mkfs_default_items(real: &FactSet, supposed: &FactSet) -> Vec<UpgradeItem> {
    let of = |facts: &FactSet, fs: &str| {
        let key = match fs {
            "ext4" => &host::E2FSPROGS,
            "xfs" => &host::XFSPROGS,
            _ => &host::BTRFSPROGS,
        };
        let (version, vendor) = kernel_version_and_vendor(facts)?;
        Some(compat::mkfs_defaults_support(
            fs,
            &facts.host_value(key)?,
            &version,
            &vendor,
            &[],
        ))
    };
    let mut items = Vec::new();
    for fs in ["ext4", "xfs", "btrfs"] {
        let Some(then) = of(supposed, fs) else {
            continue;
        };
        if !then.effect.is_refused() && !then.effect.is_unknown() {
            continue;
        }
        let already = of(real, fs).is_some_and(|now| now.effect == then.effect);
        let part = if already {
            UpgradeSection::Already
        } else {
            UpgradeSection::Changes
        };
        let what = format!(
            "a new {fs} file system that these tools create may not be mountable with this kernel"
        );
        items.push(UpgradeItem {
            already,
            ..UpgradeItem::new_change(part, Level::Warning, &Subject::host(), what)
                .with_support(then)
        });
    }
    items
}

fn unsupported_disk_format_items(real: &FactSet, supposed: &FactSet) -> Vec<UpgradeItem> {
    let mut found: Vec<(Subject, DiskFormat)> = Vec::new();
    for (mounted, features) in supposed.known_values_by_subject(&mount::XFS_FEATURES) {
        if !features.iter().any(|feature| feature == "crc") {
            found.push((mounted.clone(), DiskFormat::XfsV4));
        }
    }
    for array in supposed.subjects_where(&device::MD_LEVEL, |level| level.is_linear()) {
        found.push((array, DiskFormat::MdLinear));
    }
    for array in supposed.subjects_where(&device::MD_METADATA, |metadata| metadata == "0.90") {
        found.push((array, DiskFormat::Md090));
    }
    // An unchanged kernel supports every format in use, whatever the compatibility tables contain.
    let same = is_kernel_release_unchanged(real, supposed);
    let mut items = Vec::new();
    let (now, then) = (
        kernel_version_and_vendor(real),
        kernel_version_and_vendor(supposed),
    );
    let again = is_same_custom_kernel_builder(now.as_ref(), then.as_ref());
    let Some((version, vendor)) = then else {
        return items;
    };
    for (subject, format) in found {
        let name = format.as_str();
        let then = compat::kernel_part_support(KernelPart::Format, name, &version, &vendor, again);
        let what = format!("it is {}", format.describe());
        let item = UpgradeItem::from_support(&subject, Level::Critical, what.clone(), what, then);
        items.extend(item.filter(|item| !item.undecided || !same));
    }
    items
}
