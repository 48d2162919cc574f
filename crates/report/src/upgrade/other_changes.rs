//! Changes outside boot lines: findings, verdicts, mkfs features that the kernel cannot mount, and
//! on-disk formats.

use super::boot_dependencies::ZFS_POOLS;
use super::change::{
    applies, from_finding, index_findings, is_about_boot, is_undecided, tests_fact,
};
use super::kernel_vendor::{is_same_builder, kernel_and_vendor};
use super::layer::{is_other_release, is_same_kernel};
use crate::model::Report;
use crate::model::upgrade::{Answer, Item, Part};
use walwise_judge::compat::{self, DiskFormat, Support};
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::{device, host, kernel, mount};
use walwise_model::facts::{FactSet, Subject};

pub fn other_items(real: &Report, supposed: &Report) -> Vec<Item> {
    let mut items = finding_items(real, supposed);
    items.extend(verdict_items(real, supposed));
    items.extend(mkfs_default_items(&real.facts, &supposed.facts));
    items.extend(disk_format_items(&real.facts, &supposed.facts));
    items
}

fn finding_items(real: &Report, supposed: &Report) -> Vec<Item> {
    let (before, now) = (index_findings(real), index_findings(supposed));
    let mut items = Vec::new();
    for (name, finding) in &now {
        let was = before.get(name).copied();
        let same = was.is_some_and(|was| {
            is_undecided(was) == is_undecided(finding)
                && comparable_parts(was) == comparable_parts(finding)
        });
        if is_about_boot(finding) && applies(finding) {
            continue;
        }
        if same {
            // A known kernel fault is reported even if the running kernel has it too.
            items.extend(
                is_kernel_fault(finding).then(|| from_finding(Part::Already, finding, true)),
            );
            continue;
        }
        // A *keep* finding means that a mistake is gone.
        let part = match (is_undecided(finding), finding.level) {
            (true, _) => Part::NotKnown,
            (false, Level::Keep) => Part::Better,
            (false, _) if tests_fact(finding, kernel::ZFS_SUPPORT.name()) => Part::Blocker,
            (false, _) => Part::Changes,
        };
        let of_zfs = tests_fact(finding, kernel::ZFS_SUPPORT.name());
        // Another release has its own ZFS module, unless one is assumed.
        let named = supposed
            .facts
            .is_assumed(&Subject::host(), kernel::ZFS_VERSION.id());
        if of_zfs && !named && is_other_release(&real.facts, &supposed.facts) {
            continue;
        }
        let answer = if is_undecided(finding) {
            Answer::CannotBeTold
        } else {
            Answer::Fails
        };
        let (answer, name) = (
            of_zfs.then_some(answer),
            of_zfs.then(|| ZFS_POOLS.to_owned()),
        );
        items.push(Item {
            answer,
            name,
            ..from_finding(part, finding, false)
        });
    }
    for (name, finding) in before {
        if now.contains_key(&name) || is_undecided(finding) || is_about_boot(finding) {
            continue;
        }
        // Advice can disappear because the new kernel lacks a feature; only a fault that ends is an
        // improvement.
        let part = if finding.level >= Level::Warning {
            Part::Better
        } else {
            Part::Changes
        };
        let what = format!("no longer: {}", finding.title);
        items.push(Item {
            what,
            because: String::new(),
            ..from_finding(part, finding, false)
        });
    }
    items
}

/// Whether a finding is a critical fault of the kernel itself.
fn is_kernel_fault(finding: &Finding) -> bool {
    applies(finding)
        && finding.level == Level::Critical
        && tests_fact(finding, kernel::VERSION.name())
}

/// The parts of a finding that call for action. Of undecided ones the title is the same on every
/// kernel, but the missing facts differ.
fn comparable_parts(finding: &Finding) -> impl PartialEq + use<> {
    let advice: Vec<(&str, String)> = finding
        .advice
        .iter()
        .map(|advice| (advice.setting.name, advice.change.describe()))
        .collect();
    (
        finding.level,
        finding.title.clone(),
        finding.outcome.clone(),
        advice,
    )
}

fn verdict_items(real: &Report, supposed: &Report) -> Vec<Item> {
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
            Part::Changes
        } else {
            Part::Better
        };
        let what = format!(
            "the verdict changes from {} to {}",
            before.as_str(),
            standing.as_str()
        );
        let because = sentence.clone();
        items.push(Item {
            because,
            ..Item::change(part, level, target, what, Support::unknown(""))
        });
    }
    items
}

/// File systems that mkfs creates by default with features that the kernel cannot, or may not,
/// mount.
fn mkfs_default_items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let of = |facts: &FactSet, fs: &str| {
        let key = match fs {
            "ext4" => &host::E2FSPROGS,
            "xfs" => &host::XFSPROGS,
            _ => &host::BTRFSPROGS,
        };
        let (version, vendor) = kernel_and_vendor(facts)?;
        Some(compat::mkfs_defaults(
            fs,
            &facts.value(&Subject::host(), key)?,
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
            Part::Already
        } else {
            Part::Changes
        };
        let what = format!("a new {fs} may not mount with this kernel and these tools");
        items.push(Item {
            already,
            ..Item::change(part, Level::Warning, &Subject::host(), what, then)
        });
    }
    items
}

/// On-disk formats that not every kernel supports.
fn disk_format_items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let mut found: Vec<(Subject, DiskFormat)> = Vec::new();
    for (mounted, features) in supposed.known_values(&mount::XFS_FEATURES) {
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
    // A format in use is supported by the running kernel, whatever the table says.
    let same = is_same_kernel(real, supposed);
    let mut items = Vec::new();
    let (now, then) = (kernel_and_vendor(real), kernel_and_vendor(supposed));
    let judge = if is_same_builder(now.as_ref(), then.as_ref()) {
        compat::format_if_rebuilt
    } else {
        compat::format_support
    };
    let Some((version, vendor)) = then else {
        return items;
    };
    for (subject, format) in found {
        let then = judge(format, &version, &vendor);
        let effect = then.effect;
        let is = Item::undecided(
            &subject,
            Level::Critical,
            format!("it is {}", format.describe()),
            then,
        );
        if effect.is_refused() {
            items.push(is.into_blocker());
        } else if effect.is_unknown() && !same {
            items.push(is);
        }
    }
    items
}
