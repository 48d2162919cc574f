//! Further effects of the kernel's command line on the next boot: unexamined parameters that mount
//! or unlock something, and lines whose device is none, or holds another file system.
//!
//! The list is complete only where the names of its parameters were read. The root's parameters are
//! no reason to fail, because this boot has mounted it.

use super::weight::weight;
use crate::model::upgrade::Item;
use walwise_judge::rules::Level;
use walwise_judge::validity::Ruling;
use walwise_model::facts::catalog::boot;
use walwise_model::facts::catalog::boot::NamedDevice;
use walwise_model::facts::{FactSet, Scope, Subject};

pub fn items(facts: &FactSet) -> Vec<Item> {
    let mut items = parameters(facts);
    items.extend(
        facts
            .subjects(Scope::Boot)
            .filter_map(|line| not_a_device(facts, line)),
    );
    items.extend(
        facts
            .subjects(Scope::Boot)
            .filter_map(|line| another_type(facts, line)),
    );
    items
}

fn parameters(facts: &FactSet) -> Vec<Item> {
    let host = Subject::host();
    let Some(names) = facts.value(&host, &boot::PARAMETERS_UNREAD) else {
        let what = "it is unknown what else the kernel's command line mounts or unlocks".to_owned();
        return vec![Item::open(
            &host,
            Level::Critical,
            what,
            Ruling::unknown(""),
        )];
    };
    let item = |name: &String| {
        let (level, what, because) = told(name);
        Item::open(&host, level, what, Ruling::unknown(because))
    };
    names.iter().map(item).collect()
}

/// The level of a parameter, the unknown point, and the reason.
fn told(name: &str) -> (Level, String, &'static str) {
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
            "it is unknown which of several rootflags= on the kernel's command line hold".to_owned(),
            "The kernel takes the last, systemd joins them, and an initramfs does as it likes.",
        ),
        "rootfstype" => (
            Level::Critical,
            "it is unknown what rootfstype= on the kernel's command line does at the next boot".to_owned(),
            "The root is mounted as another type.",
        ),
        "systemd.swap" | "systemd.swap-extra" | "rd.systemd.swap-extra" => {
            (Level::Warning, not_looked_at(name), "")
        }
        _ => (Level::Critical, not_looked_at(name), ""),
    }
}

fn not_looked_at(name: &str) -> String {
    format!("what {name} on the kernel's command line does at the next boot is not looked at")
}

/// A line that names something other than a block device.
fn not_a_device(facts: &FactSet, line: &Subject) -> Option<Item> {
    match facts.value(line, &boot::DEVICE)? {
        NamedDevice::Other => {}
        NamedDevice::There | NamedDevice::Missing | NamedDevice::None => return None,
    }
    let named = facts.value(line, &boot::SOURCE).unwrap_or_default();
    let because = "systemd waits for a block device of that name, which never comes.";
    let item = Item::open(
        line,
        weight(facts, line),
        format!("{named} is not a block device"),
        Ruling::unknown(because),
    );
    Some(
        Item {
            place: facts.value(line, &boot::WHERE),
            ..item
        }
        .blocks(),
    )
}

/// A line that mounts a device with another type than the present mount.
fn another_type(facts: &FactSet, line: &Subject) -> Option<Item> {
    let there = facts.value(line, &boot::TYPE_THERE)?;
    let written = facts.value(line, &boot::WRITTEN_TYPE)?;
    let what =
        format!("it is written as {written}, and what is mounted from its device now is {there}");
    let item = Item::open(line, weight(facts, line), what, Ruling::unknown(""));
    let item = Item {
        place: facts.value(line, &boot::WHERE),
        ..item
    };
    let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
    let may_be = written
        .split(',')
        .any(|word| family(word) == family(&there));
    Some(if is_root || may_be {
        item
    } else {
        item.blocks()
    })
}

/// The family of file systems that can be mounted as one another.
fn family(fstype: &str) -> &str {
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
        assert_eq!(items(&facts).len(), 1, "names that were not kept");
        let names = ["mount.usr", "rd.lvm.lv", "resume", "rootfstype"]
            .map(str::to_owned)
            .to_vec();
        facts.know(&Subject::host(), &boot::PARAMETERS_UNREAD, names, from());
        let items = items(&facts);
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
            "what mount.usr on the kernel's command line does at the next boot is not looked at"
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
            facts.know(&line, &boot::POINT, point.to_owned(), from());
            facts.know(&line, &boot::WRITTEN_TYPE, written.to_owned(), from());
            facts.know(&line, &boot::TYPE_THERE, there.to_owned(), from());
            let item = another_type(&facts, &line).unwrap();
            assert_eq!(item.answer, Some(expected), "{point} {written}");
        }
    }

    #[test]
    fn a_line_with_something_else_than_a_block_device_fails() {
        let (mut facts, line) = (FactSet::default(), Subject::boot("/mnt"));
        facts.know(&line, &boot::SOURCE, "/dev/null".to_owned(), from());
        for (found, fails) in [
            (NamedDevice::Other, true),
            (NamedDevice::There, false),
            (NamedDevice::None, false),
        ] {
            facts.know(&line, &boot::DEVICE, found, from());
            let answer = not_a_device(&facts, &line).and_then(|item| item.answer);
            assert_eq!(answer, fails.then_some(Answer::Fails), "{found:?}");
        }
    }
}
