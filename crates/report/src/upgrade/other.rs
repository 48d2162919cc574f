//! Changes besides the lines of the next boot: findings, verdicts, features of mkfs that the kernel
//! cannot mount, and formats that kernels do not support.

use super::builder::{built_again, kernel_of};
use super::ground::ZFS;
use super::item::{applies, by_name, is_open, item, looks_at, of_boot};
use super::layer::{changes_system, runs_alike};
use crate::model::Report;
use crate::model::upgrade::{Answer, Item, Part};
use walwise_judge::durability::{Standing, Verdict};
use walwise_judge::rules::{Finding, Level};
use walwise_judge::validity::{self, DiskFormat, Ruling};
use walwise_model::facts::catalog::{device, host, kernel, mount};
use walwise_model::facts::{FactSet, Subject};

/// All items of that kind.
pub fn items(real: &Report, supposed: &Report) -> Vec<Item> {
    let mut items = findings(real, supposed);
    items.extend(verdicts(real, supposed));
    items.extend(tools(&real.facts, &supposed.facts));
    items.extend(formats(&real.facts, &supposed.facts));
    items
}

fn findings(real: &Report, supposed: &Report) -> Vec<Item> {
    let (before, now) = (by_name(real), by_name(supposed));
    let mut items = Vec::new();
    for (name, finding) in &now {
        let was = before.get(name).copied();
        let same =
            was.is_some_and(|was| is_open(was) == is_open(finding) && says(was) == says(finding));
        if of_boot(finding) && applies(finding) {
            continue;
        }
        if same {
            // A kernel with a known fault is not passed over because the running one has it too.
            items.extend(is_of_kernel(finding).then(|| item(Part::Already, finding, true)));
            continue;
        }
        // A correct setting is better than a former mistake.
        let part = match (is_open(finding), finding.level) {
            (true, _) => Part::NotKnown,
            (false, Level::Keep) => Part::Better,
            (false, _) if looks_at(finding, kernel::ZFS_SUPPORT.name()) => Part::Blocker,
            (false, _) => Part::Changes,
        };
        let of_zfs = looks_at(finding, kernel::ZFS_SUPPORT.name());
        // Another system brings its own module, unless one is named.
        let named = supposed
            .facts
            .is_assumed(&Subject::host(), kernel::ZFS_VERSION.id());
        if of_zfs && !named && changes_system(&real.facts, &supposed.facts) {
            continue;
        }
        let answer = if is_open(finding) {
            Answer::CannotBeTold
        } else {
            Answer::Fails
        };
        let (answer, name) = (of_zfs.then_some(answer), of_zfs.then(|| ZFS.to_owned()));
        items.push(Item {
            answer,
            name,
            ..item(part, finding, false)
        });
    }
    for (name, finding) in before {
        if now.contains_key(&name) || is_open(finding) || of_boot(finding) {
            continue;
        }
        // What is not advised any more may be what the new kernel cannot do; only a fault that ends
        // is a gain.
        let part = if finding.level >= Level::Warning {
            Part::Better
        } else {
            Part::Changes
        };
        let what = format!("no longer: {}", finding.title);
        items.push(Item {
            what,
            because: String::new(),
            ..item(part, finding, false)
        });
    }
    items
}

/// Whether a finding is a critical fault of the kernel itself.
fn is_of_kernel(finding: &Finding) -> bool {
    applies(finding)
        && finding.level == Level::Critical
        && looks_at(finding, kernel::VERSION.name())
}

/// The parts of a finding that call for action. The question of an open one is the same on every
/// kernel; the missing facts are not.
fn says(finding: &Finding) -> impl PartialEq + use<> {
    let advice: Vec<(&str, String)> = finding
        .advice
        .iter()
        .map(|advice| (advice.setting.name, advice.change.words()))
        .collect();
    (
        finding.level,
        finding.title.clone(),
        finding.outcome.clone(),
        advice,
    )
}

fn verdicts(real: &Report, supposed: &Report) -> Vec<Item> {
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
            Standing::AtRisk | Standing::Contradictory => Level::Critical,
            Standing::Unproven => Level::Warning,
            Standing::ProvenByDrill | Standing::Durable => Level::Keep,
        };
        let part = if *standing < before {
            Part::Changes
        } else {
            Part::Better
        };
        let what = format!(
            "the verdict was {}, and is {} then",
            before.word(),
            standing.word()
        );
        let because = sentence.clone();
        items.push(Item {
            because,
            ..Item::told(part, level, target, what, Ruling::unknown(""))
        });
    }
    items
}

/// File systems that the tools create by default with features that the kernel cannot, or may not,
/// mount.
fn tools(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let of = |facts: &FactSet, fs: &str| {
        let key = match fs {
            "ext4" => &host::E2FSPROGS,
            "xfs" => &host::XFSPROGS,
            _ => &host::BTRFSPROGS,
        };
        let (version, vendor) = kernel_of(facts)?;
        Some(validity::mkfs_defaults(
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
            ..Item::told(part, Level::Warning, &Subject::host(), what, then)
        });
    }
    items
}

/// On-disk formats that not every kernel supports.
fn formats(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let mut found: Vec<(Subject, DiskFormat)> = Vec::new();
    for (mounted, features) in supposed.known(&mount::XFS_FEATURES) {
        if !features.iter().any(|feature| feature == "crc") {
            found.push((mounted.clone(), DiskFormat::XfsV4));
        }
    }
    for array in supposed.which(&device::MD_LEVEL, |level| level.is_linear()) {
        found.push((array, DiskFormat::MdLinear));
    }
    for array in supposed.which(&device::MD_METADATA, |metadata| metadata == "0.90") {
        found.push((array, DiskFormat::Md090));
    }
    // It is in use, so the running kernel supports it, whatever the table says.
    let same = runs_alike(real, supposed);
    let mut items = Vec::new();
    let (now, then) = (kernel_of(real), kernel_of(supposed));
    let judge = if built_again(now.as_ref(), then.as_ref()) {
        validity::format_again
    } else {
        validity::format
    };
    let Some((version, vendor)) = then else {
        return items;
    };
    for (subject, format) in found {
        let then = judge(format, &version, &vendor);
        let effect = then.effect;
        let is = Item::open(
            &subject,
            Level::Critical,
            format!("it is {}", format.words()),
            then,
        );
        if effect.is_refused() {
            items.push(is.blocks());
        } else if effect.is_unknown() && !same {
            items.push(is);
        }
    }
    items
}
