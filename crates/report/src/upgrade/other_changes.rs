use super::boot_dependencies::ZFS_POOLS;
use super::layers::is_other_distribution_release;
use super::{
    KernelChange, finding_applies, finding_tests_fact, index_findings, is_about_boot_line,
    is_undecided, upgrade_item_from_finding,
};
use crate::model::Report;
use crate::model::upgrade::{BootOutcome, UpgradeItem, UpgradeSection};
use walwise_judge::compat::{self, DiskFormat, KernelPart};
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::{device, host, kernel, mount};
use walwise_model::facts::{FactSet, Subject};
use walwise_model::version::Version;

pub fn changed_finding_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
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
        let of_zfs = finding_tests_fact(finding, kernel::ZFS_SUPPORT.name());
        // A *keep* finding confirms a setting, so a new *keep* finding means that a fault is gone.
        let part = match (is_undecided(finding), finding.level) {
            (true, _) => UpgradeSection::NotKnown,
            (false, Level::Keep) => UpgradeSection::Better,
            (false, _) if of_zfs => UpgradeSection::Blocker,
            (false, _) => UpgradeSection::Changes,
        };
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
        items.push(UpgradeItem {
            answer: of_zfs.then_some(answer),
            name: of_zfs.then(|| ZFS_POOLS.to_owned()),
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
        items.push(UpgradeItem {
            what: format!("no longer applies: {}", finding.title),
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

pub fn changed_verdict_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
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
        let what = format!("the verdict changes from {before} to {standing}");
        items.push(UpgradeItem::new_change(part, level, target, what).with_reason(sentence));
    }
    items
}

pub fn unmountable_mkfs_default_items(kernels: &KernelChange<'_>) -> Vec<UpgradeItem> {
    let mut items = Vec::new();
    for (fs, key) in [
        ("ext4", &host::E2FSPROGS),
        ("xfs", &host::XFSPROGS),
        ("btrfs", &host::BTRFSPROGS),
    ] {
        let of = |facts: &FactSet, kernel: &Option<(Version, String)>| {
            let (version, vendor) = kernel.as_ref()?;
            let tool = facts.host_value(key)?;
            Some(compat::mkfs_defaults_support(
                fs,
                &tool,
                version,
                vendor,
                &[],
            ))
        };
        let then = of(kernels.supposed, &kernels.then)
            .filter(|then| then.effect.is_refused() || then.effect.is_unknown());
        let Some(then) = then else {
            continue;
        };
        let already = of(kernels.real, &kernels.now).is_some_and(|now| now.effect == then.effect);
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

pub fn unsupported_disk_format_items(kernels: &KernelChange<'_>) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    if kernels.then.is_none() {
        return Vec::new();
    }
    let lacks_crc = |features: &Vec<String>| !features.iter().any(|feature| feature == "crc");
    let found = [
        (
            DiskFormat::XfsV4,
            facts.subjects_where(&mount::XFS_FEATURES, lacks_crc),
        ),
        (
            DiskFormat::MdLinear,
            facts.subjects_where(&device::MD_LEVEL, |level| level.is_linear()),
        ),
        (
            DiskFormat::Md090,
            facts.subjects_where(&device::MD_METADATA, |metadata| metadata == "0.90"),
        ),
    ];
    let item = |(format, subject): (DiskFormat, Subject)| {
        let what = format!("it is {}", format.describe());
        let then = kernels.support(KernelPart::Format, format.as_str());
        UpgradeItem::from_support(&subject, what.clone(), what, then)
    };
    found
        .into_iter()
        .flat_map(|(format, subjects)| subjects.into_iter().map(move |subject| (format, subject)))
        .filter_map(item)
        // An unchanged kernel supports every format in use, whatever the compatibility tables
        // contain.
        .filter(|item| !item.undecided || !kernels.is_unchanged)
        .collect()
}
