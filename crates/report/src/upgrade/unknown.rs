//! The unknown points about the lines of the next boot: options and file systems that the table
//! lacks, and properties that were not read.
//!
//! Each becomes an item, because a line without any item counts as working. An option is looked up
//! in the table and not taken from a finding, so that switching a rule off makes nothing known.

use super::builder::{built_again, kernel_of};
use super::item::{applies, looks_at};
use super::need::root_without_line;
use super::weight::weight;
use crate::model::Report;
use crate::model::upgrade::Item;
use walwise_judge::rules::{Finding, Level};
use walwise_judge::validity::{self, Ruling};
use walwise_model::facts::catalog::{boot, device, kernel, mount};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::version::Version;

/// An item for every unknown point.
pub fn items(real: &Report, supposed: &Report) -> Vec<Item> {
    let mut items = Vec::new();
    let (now, then) = (kernel_of(&real.facts), kernel_of(&supposed.facts));
    let facts = &supposed.facts;
    for line in facts.subjects(Scope::Boot) {
        let of_line = |what: String, ruling: Ruling| Item {
            place: facts.value(line, &boot::WHERE),
            sure: sure(supposed, line),
            ..Item::open(line, weight(facts, line), what, ruling)
        };
        items.extend(
            options(facts, line)
                .into_iter()
                .map(|(what, ruling)| of_line(what, ruling)),
        );
        items.extend(unseen(facts, line).into_iter().map(|what| Item {
            sure: None,
            ..of_line(what.to_owned(), Ruling::unknown(""))
        }));
        items.extend(
            file_system(real, now.as_ref(), then.as_ref(), facts, line)
                .into_iter()
                .map(|(what, ruling)| Item {
                    sure: None,
                    ..of_line(what, ruling)
                }),
        );
    }
    if let (Some(root), Some((version, vendor))) = (root_without_line(facts), &then)
        && let Some(fstype) = facts.value(&root, &mount::FSTYPE)
    {
        let again = built_again(now.as_ref(), then.as_ref());
        let judge = if again {
            validity::file_system_again
        } else {
            validity::file_system
        };
        let ruling = judge(&fstype, version, vendor);
        if ruling.effect.is_refused() {
            let what = format!("that kernel has no {fstype}");
            items.push(Item::open(&root, Level::Critical, what, ruling).blocks());
        } else if ruling.effect.is_unknown() && now != then {
            let what = format!("it is unknown whether that kernel has {fstype}");
            items.push(Item::open(&root, Level::Critical, what, ruling));
        }
    }
    if facts.value(&Subject::host(), &boot::READ) != Some(true) {
        let what = "not all that fstab and the mount units mount is known".to_owned();
        items.push(Item::open(
            &Subject::host(),
            Level::Critical,
            what,
            Ruling::unknown(""),
        ));
    }
    items
}

/// The level that a rule assigns to unknown options, however they turn out.
fn sure(supposed: &Report, line: &Subject) -> Option<Level> {
    let of_line = |finding: &&Finding| finding.subject == *line && applies(finding);
    let about = |finding: &&Finding| looks_at(finding, boot::UNDECIDED.name());
    supposed
        .findings
        .iter()
        .filter(of_line)
        .find(about)
        .map(|finding| finding.level)
}

/// Options that the table does not know, with its ruling.
fn options(facts: &FactSet, line: &Subject) -> Vec<(String, Ruling)> {
    let fstype = facts
        .value(line, &boot::FSTYPE)
        .unwrap_or_else(|| "this file system".to_owned());
    let rulings = validity::rulings(facts, line);
    let unknown = rulings
        .value()
        .into_iter()
        .flatten()
        .filter(|(_, ruling)| ruling.effect.is_unknown());
    unknown
        .map(|(option, ruling)| {
            (
                format!("it is unknown whether {fstype} accepts {option}"),
                ruling.clone(),
            )
        })
        .collect()
}

/// Properties that were not, or could not be, read.
fn unseen(facts: &FactSet, line: &Subject) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let mounted = facts.resolve(line, Scope::Mount).is_some();
    let fstype = facts.value(line, &boot::FSTYPE);
    if fstype.as_deref().is_none_or(|fstype| fstype == "auto") {
        missing.push("it is unknown which file system it is");
    } else if validity::rulings(facts, line).value().is_none() {
        missing.push("its options, or the kernel, are not known");
    }
    if facts.value(line, &boot::WHOLE) != Some(true) {
        missing.push("an option that is not kept may stand there");
    }
    let device = facts.value(line, &boot::DEVICE);
    // The present mount shows that a device exists.
    if device.is_none() && !mounted {
        missing.push("it is unknown whether its device is there");
    }
    if facts.value(line, &boot::AUTO).is_none() {
        missing.push("it is unknown whether the boot mounts it");
    }
    missing
}

/// A file system that the kernel may lack.
fn file_system(
    real: &Report,
    now: Option<&(Version, String)>,
    then: Option<&(Version, String)>,
    facts: &FactSet,
    line: &Subject,
) -> Option<(String, Ruling)> {
    let (version, vendor) = then.filter(|then| Some(*then) != now)?;
    let fstype = facts
        .value(line, &boot::FSTYPE)
        .filter(|fstype| fstype != "auto")?;
    let again = built_again(now, then) && in_use(&real.facts, &fstype);
    let judge = if again {
        validity::file_system_again
    } else {
        validity::file_system
    };
    let ruling = judge(&fstype, version, vendor);
    ruling.effect.is_unknown().then(|| {
        (
            format!("it is unknown whether that kernel has {fstype}"),
            ruling,
        )
    })
}

/// Whether the running kernel has a file system: it is mounted, or the kernel lists it.
fn in_use(facts: &FactSet, fstype: &str) -> bool {
    let built_in = facts
        .value(&Subject::host(), &kernel::FILESYSTEMS)
        .unwrap_or_default();
    let is_swap = fstype == "swap" && !facts.which(&device::SWAP, |swap| *swap).is_empty();
    is_swap
        || built_in.iter().any(|known| known == fstype)
        || !facts
            .which(&mount::FSTYPE, |mounted| mounted == fstype)
            .is_empty()
}
