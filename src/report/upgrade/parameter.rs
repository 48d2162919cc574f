//! Lines of the next boot whose device is no device, or holds another file system.
//!
//! The surprise: what the root is said to be is no reason to fail, as this boot has mounted it.

use super::unknown::weight;
use super::{Item, Ruling};
use crate::facts::catalog::boot;
use crate::facts::catalog::boot::NamedDevice;
use crate::facts::{FactSet, Scope, Subject};

/// An item of each.
pub fn items(facts: &FactSet) -> Vec<Item> {
    let mut items: Vec<Item> =
        facts.subjects(Scope::Boot).filter_map(|line| not_a_device(facts, line)).collect();
    items.extend(facts.subjects(Scope::Boot).filter_map(|line| another_type(facts, line)));
    items
}

/// A line that names something else than a block device.
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
        format!("{named} is no block device"),
        Ruling::unknown(because),
    );
    Some(Item { place: facts.value(line, &boot::WHERE), ..item }.blocks())
}

/// A line that mounts a device as another file system than the one that is mounted from it now.
fn another_type(facts: &FactSet, line: &Subject) -> Option<Item> {
    let there = facts.value(line, &boot::TYPE_THERE)?;
    let written = facts.value(line, &boot::WRITTEN_TYPE)?;
    let what = format!("it is written as {written}, and what is mounted from its device now is {there}");
    let item = Item::open(line, weight(facts, line), what, Ruling::unknown(""));
    let item = Item { place: facts.value(line, &boot::WHERE), ..item };
    let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
    let may_be = written.split(',').any(|word| family(word) == family(&there));
    Some(if is_root || may_be { item } else { item.blocks() })
}

/// File systems of which one may be mounted as the other.
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
    use crate::facts::Source;
    use crate::report::upgrade::Answer;

    fn from() -> Source {
        Source::file("a test")
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
        for (found, fails) in
            [(NamedDevice::Other, true), (NamedDevice::There, false), (NamedDevice::None, false)]
        {
            facts.know(&line, &boot::DEVICE, found, from());
            let answer = not_a_device(&facts, &line).and_then(|item| item.answer);
            assert_eq!(answer, fails.then_some(Answer::Fails), "{found:?}");
        }
    }
}
