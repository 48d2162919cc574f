//! Reports kernel parameters that mount or unlock something, but whose effect is unknown. Also
//! reports boot lines whose device is not a block device or is mounted with another type now.
//!
//! If the names of the parameters are unknown, one undecided item represents all of them.

use super::severity::{boot_line_undecided_item, is_root_line};
use crate::model::upgrade::UpgradeItem;
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::boot::{self, BootDeviceState};
use walwise_model::facts::{FactSet, Scope, Subject};

pub fn kernel_parameter_and_boot_device_items(facts: &FactSet) -> Vec<UpgradeItem> {
    let mut items = unchecked_kernel_parameter_items(facts);
    for line in facts.subjects_of_scope(Scope::Boot) {
        items.extend(non_block_boot_source_item(facts, line));
        items.extend(mismatched_fstype_item(facts, line));
    }
    items
}

fn unchecked_kernel_parameter_items(facts: &FactSet) -> Vec<UpgradeItem> {
    let host = Subject::host();
    let Some(names) = facts.value(&host, &boot::PARAMETERS_UNREAD) else {
        let what = "it is unknown which other devices are mounted or unlocked through the kernel command line";
        return vec![UpgradeItem::new_critical_undecided(&host, what)];
    };
    let item = |name: &String| {
        let (level, what, because) = kernel_parameter_level_and_texts(name);
        UpgradeItem::new_undecided(&host, level, what).with_reason(because)
    };
    names.iter().map(item).collect()
}

/// The level of the parameter's item, a sentence on what is unknown, and the consequence of a
/// failure.
fn kernel_parameter_level_and_texts(name: &str) -> (Level, String, &'static str) {
    match name {
        "resume" => (
            Level::Warning,
            "it is unknown whether the device named by resume= on the kernel command line will exist"
                .to_owned(),
            "The boot waits for the device, then continues without it.",
        ),
        "rd.luks.uuid" | "rd.lvm.lv" | "rd.lvm.vg" | "rd.md.uuid" => (
            Level::Critical,
            format!(
                "it is unknown whether the device or volume named by {name} on the kernel command line will exist"
            ),
            "The device or volume is not active now. A dracut initramfs waits for it, and the \
             boot may stop there.",
        ),
        "rootflags" => (
            Level::Critical,
            "it is unknown which of the rootflags= parameters on the kernel command line takes effect"
                .to_owned(),
            "The kernel uses only the last rootflags=. systemd combines all of them; an initramfs may do \
             either.",
        ),
        "rootfstype" => (
            Level::Critical,
            "the effect of rootfstype= on the kernel command line at the next boot is unknown"
                .to_owned(),
            "The root file system is currently mounted with a different type.",
        ),
        "systemd.swap" | "systemd.swap-extra" | "rd.systemd.swap-extra" => {
            (Level::Warning, parameter_not_checked_text(name), "")
        }
        _ => (Level::Critical, parameter_not_checked_text(name), ""),
    }
}

fn parameter_not_checked_text(name: &str) -> String {
    format!("the effect of {name} on the kernel command line was not checked")
}

fn non_block_boot_source_item(facts: &FactSet, line: &Subject) -> Option<UpgradeItem> {
    if facts.value(line, &boot::DEVICE)? != BootDeviceState::Other {
        return None;
    }
    let named = facts.value(line, &boot::SOURCE).unwrap_or_default();
    let item = boot_line_undecided_item(facts, line, format!("{named} is not a block device"));
    let because = "systemd waits for a block device of that name, which never appears.";
    Some(item.with_reason(because).into_blocker())
}

fn mismatched_fstype_item(facts: &FactSet, line: &Subject) -> Option<UpgradeItem> {
    let there = facts.value(line, &boot::TYPE_THERE)?;
    let written = facts.value(line, &boot::WRITTEN_TYPE)?;
    let what = format!(
        "the line specifies the type {written}, but the device is currently mounted as {there}"
    );
    let may_be = written
        .split(',')
        .any(|word| filesystem_family(word) == filesystem_family(&there));
    let item = boot_line_undecided_item(facts, line, what);
    Some(item.into_blocker_if(!is_root_line(facts, line) && !may_be))
}

/// Types of one family can mount each other's file systems.
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
    use crate::model::upgrade::BootOutcome;
    use walwise_model::facts::Source;

    fn test_source() -> Source {
        Source::from_file("a test")
    }

    #[test]
    fn unchecked_parameters_are_undecided() {
        let mut facts = FactSet::default();
        assert_eq!(
            kernel_parameter_and_boot_device_items(&facts).len(),
            1,
            "names that were not kept"
        );
        let names = ["mount.usr", "rd.lvm.lv", "resume", "rootfstype"]
            .map(str::to_owned)
            .to_vec();
        facts.insert_known(
            &Subject::host(),
            &boot::PARAMETERS_UNREAD,
            names,
            test_source(),
        );
        let items = kernel_parameter_and_boot_device_items(&facts);
        assert!(
            items
                .iter()
                .all(|item| item.answer == Some(BootOutcome::CannotBeTold)),
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
            "the effect of mount.usr on the kernel command line was not checked"
        );
    }

    #[test]
    fn wrong_fstype_fails_unless_root_or_same_family() {
        for (point, written, there, expected) in [
            ("/mnt", "xfs", "ext4", BootOutcome::Fails),
            ("/mnt", "ext3", "ext4", BootOutcome::CannotBeTold),
            ("/", "xfs", "ext4", BootOutcome::CannotBeTold),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot(point));
            facts.insert_known(&line, &boot::POINT, point.to_owned(), test_source());
            facts.insert_known(
                &line,
                &boot::WRITTEN_TYPE,
                written.to_owned(),
                test_source(),
            );
            facts.insert_known(&line, &boot::TYPE_THERE, there.to_owned(), test_source());
            let item = mismatched_fstype_item(&facts, &line).unwrap();
            assert_eq!(item.answer, Some(expected), "{point} {written}");
        }
    }

    #[test]
    fn line_with_non_block_device_fails() {
        let (mut facts, line) = (FactSet::default(), Subject::boot("/mnt"));
        facts.insert_known(&line, &boot::SOURCE, "/dev/null".to_owned(), test_source());
        for (found, fails) in [
            (BootDeviceState::Other, true),
            (BootDeviceState::There, false),
            (BootDeviceState::None, false),
        ] {
            facts.insert_known(&line, &boot::DEVICE, found, test_source());
            let answer = non_block_boot_source_item(&facts, &line).and_then(|item| item.answer);
            assert_eq!(answer, fails.then_some(BootOutcome::Fails), "{found:?}");
        }
    }
}
