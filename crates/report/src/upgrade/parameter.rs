//! Unexamined kernel parameters that mount or unlock something, and boot lines whose device is not
//! a block device or holds another file system.
//!
//! The list is complete only if the parameter names were read. The root's parameters do not count
//! as failing, because this boot has mounted it.

use super::severity::line_severity;
use crate::model::upgrade::Item;
use walwise_judge::compat::Support;
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::boot;
use walwise_model::facts::catalog::boot::NamedDevice;
use walwise_model::facts::{FactSet, Scope, Subject};

pub fn parameter_items(facts: &FactSet) -> Vec<Item> {
    let mut items = unread_parameters(facts);
    items.extend(
        facts
            .subjects(Scope::Boot)
            .filter_map(|line| non_device_line(facts, line)),
    );
    items.extend(
        facts
            .subjects(Scope::Boot)
            .filter_map(|line| mismatched_type(facts, line)),
    );
    items
}

fn unread_parameters(facts: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let Some(names) = facts.value(&host, &boot::PARAMETERS_UNREAD) else {
        let what = "it is unknown what else the kernel's command line mounts or unlocks".to_owned();
        return vec![Item::undecided(
            &host,
            Level::Critical,
            what,
            Support::unknown(""),
        )];
    };
    let item = |name: &String| {
        let (level, what, because) = parameter_risk(name);
        Item::undecided(&host, level, what, Support::unknown(because))
    };
    names.iter().map(item).collect()
}

/// The level of a parameter, what is unknown, and the reason.
fn parameter_risk(name: &str) -> (Level, String, &'static str) {
    match name {
        "resume" => (
            Level::Warning,
            "it is unknown whether the device of resume= on the kernel's command line will be there"
                .to_owned(),
            "The boot waits for it, then continues without.",
        ),
        "rd.luks.uuid" | "rd.lvm.lv" | "rd.lvm.vg" | "rd.md.uuid" => (
            Level::Critical,
            format!("it is unknown whether what {name} on the kernel's command line names will be there"),
            "It is not active now, and an initramfs of dracut waits for it and may stop.",
        ),
        "rootflags" => (
            Level::Critical,
            "it is unknown which of several rootflags= on the kernel's command line takes effect".to_owned(),
            "The kernel takes the last, systemd joins them, and an initramfs may differ.",
        ),
        "rootfstype" => (
            Level::Critical,
            "it is unknown what rootfstype= on the kernel's command line does at the next boot".to_owned(),
            "The root is mounted as another type.",
        ),
        "systemd.swap" | "systemd.swap-extra" | "rd.systemd.swap-extra" => {
            (Level::Warning, not_checked(name), "")
        }
        _ => (Level::Critical, not_checked(name), ""),
    }
}

fn not_checked(name: &str) -> String {
    format!("what {name} on the kernel's command line does at the next boot is not checked")
}

/// A line that names something other than a block device.
fn non_device_line(facts: &FactSet, line: &Subject) -> Option<Item> {
    match facts.value(line, &boot::DEVICE)? {
        NamedDevice::Other => {}
        NamedDevice::There | NamedDevice::Missing | NamedDevice::None => return None,
    }
    let named = facts.value(line, &boot::SOURCE).unwrap_or_default();
    let because = "systemd waits for a block device of that name, which never comes.";
    let item = Item::undecided(
        line,
        line_severity(facts, line),
        format!("{named} is not a block device"),
        Support::unknown(because),
    );
    Some(
        Item {
            place: facts.value(line, &boot::WHERE),
            ..item
        }
        .into_blocker(),
    )
}

/// A line whose type differs from the present mount of its device.
fn mismatched_type(facts: &FactSet, line: &Subject) -> Option<Item> {
    let there = facts.value(line, &boot::TYPE_THERE)?;
    let written = facts.value(line, &boot::WRITTEN_TYPE)?;
    let what = format!("it says {written}, but its device is mounted as {there} now");
    let item = Item::undecided(line, line_severity(facts, line), what, Support::unknown(""));
    let item = Item {
        place: facts.value(line, &boot::WHERE),
        ..item
    };
    let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
    let may_be = written
        .split(',')
        .any(|word| filesystem_family(word) == filesystem_family(&there));
    Some(if is_root || may_be {
        item
    } else {
        item.into_blocker()
    })
}

/// The family of types that can mount each other's file systems.
fn filesystem_family(fstype: &str) -> &str {
    match fstype {
        "ext2" | "ext3" | "ext4" => "ext",
        "msdos" | "vfat" => "fat",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::upgrade::Answer;
    use walwise_model::facts::Source;

    fn from() -> Source {
        Source::file("a test")
    }

    #[test]
    fn what_is_not_looked_at_cannot_be_told() {
        let mut facts = FactSet::default();
        assert_eq!(parameter_items(&facts).len(), 1, "names that were not kept");
        let names = ["mount.usr", "rd.lvm.lv", "resume", "rootfstype"]
            .map(str::to_owned)
            .to_vec();
        facts.insert_known(&Subject::host(), &boot::PARAMETERS_UNREAD, names, from());
        let items = parameter_items(&facts);
        assert!(
            items
                .iter()
                .all(|item| item.answer == Some(Answer::CannotBeTold)),
            "{items:?}"
        );
        let levels: Vec<Level> = items.iter().map(|item| item.level).collect();
        assert_eq!(
            levels,
            [
                Level::Critical,
                Level::Critical,
                Level::Warning,
                Level::Critical
            ]
        );
        assert_eq!(
            items[0].what,
            "what mount.usr on the kernel's command line does at the next boot is not checked"
        );
    }

    #[test]
    fn a_line_whose_device_holds_something_else_fails() {
        for (point, written, there, expected) in [
            ("/mnt", "xfs", "ext4", Answer::Fails),
            ("/mnt", "ext3", "ext4", Answer::CannotBeTold),
            ("/", "xfs", "ext4", Answer::CannotBeTold),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot(point));
            facts.insert_known(&line, &boot::POINT, point.to_owned(), from());
            facts.insert_known(&line, &boot::WRITTEN_TYPE, written.to_owned(), from());
            facts.insert_known(&line, &boot::TYPE_THERE, there.to_owned(), from());
            let item = mismatched_type(&facts, &line).unwrap();
            assert_eq!(item.answer, Some(expected), "{point} {written}");
        }
    }

    #[test]
    fn a_line_with_something_else_than_a_block_device_fails() {
        let (mut facts, line) = (FactSet::default(), Subject::boot("/mnt"));
        facts.insert_known(&line, &boot::SOURCE, "/dev/null".to_owned(), from());
        for (found, fails) in [
            (NamedDevice::Other, true),
            (NamedDevice::There, false),
            (NamedDevice::None, false),
        ] {
            facts.insert_known(&line, &boot::DEVICE, found, from());
            let answer = non_device_line(&facts, &line).and_then(|item| item.answer);
            assert_eq!(answer, fails.then_some(Answer::Fails), "{found:?}");
        }
    }
}
