//! Reports properties of boot lines that are unknown. A line without items counts as working, so
//! unknown properties become undecided items. Properties that could not be read are left out if the
//! boot continues without the line.
//!
//! Options are looked up in the compatibility tables and not taken from findings, so that disabling
//! a rule hides nothing.

use super::boot::option_effect_text;
use super::boot_needs::undeclared_root_mount;
use super::severity::{boot_line_severity, boot_line_undecided_item};
use super::{KernelChange, finding_applies, finding_tests_fact};
use crate::model::Report;
use crate::model::upgrade::UpgradeItem;
use walwise_judge::compat::{self, KernelPart, Support};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::{boot, device, kernel, mount};
use walwise_model::facts::{FactSet, Scope, Subject};

pub fn unknown_boot_line_property_items(
    supposed: &Report,
    kernels: &KernelChange<'_>,
) -> Vec<UpgradeItem> {
    let mut items = Vec::new();
    let facts = kernels.supposed;
    for line in facts.subjects_of_scope(Scope::Boot) {
        let of_line = |what: String| boot_line_undecided_item(facts, line, what);
        let rulings = compat::boot_options_support(facts, line);
        let unknown = rulings
            .value()
            .into_iter()
            .flatten()
            .filter(|(_, ruling)| ruling.effect.is_unknown());
        items.extend(unknown.map(|(option, ruling)| {
            UpgradeItem {
                certain_level: undecided_option_finding_level(supposed, line),
                ..of_line(option_effect_text(facts, line, option, ruling.effect))
                    .with_support(ruling.clone())
            }
        }));
        // If a line is neither critical nor mounted now, the boot continues even if its device or
        // type is wrong.
        let may_fail = boot_line_severity(facts, line) < Level::Critical
            && facts.applicable_subject(line, Scope::Mount).is_none();
        if !may_fail {
            let unread = unread_property_texts(facts, line);
            items.extend(unread.into_iter().map(|what| of_line(what.to_owned())));
        }
        items.extend(
            unknown_filesystem_text_and_support(kernels, line)
                .map(|(what, ruling)| of_line(what).with_support(ruling)),
        );
    }
    if let Some(root) = undeclared_root_mount(facts)
        && kernels.then.is_some()
        && let Some(fstype) = facts.value(&root, &mount::FSTYPE)
    {
        let item = kernels.unsupported_driver_item(&root, KernelPart::FileSystem, &fstype);
        items.extend(item.filter(|item| !item.undecided || kernels.now != kernels.then));
    }
    if facts.host_value(&boot::READ) != Some(true) {
        let what = "fstab or a mount unit could not be read completely";
        items.push(UpgradeItem::new_critical_undecided(&Subject::host(), what));
    }
    items
}

fn undecided_option_finding_level(supposed: &Report, line: &Subject) -> Option<Level> {
    let is_about = |finding: &&Finding| {
        finding.subject == *line
            && finding_applies(finding)
            && finding_tests_fact(finding, boot::UNDECIDED.name())
    };
    Some(supposed.findings.iter().find(is_about)?.level)
}

fn unread_property_texts(facts: &FactSet, line: &Subject) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let mounted = facts.applicable_subject(line, Scope::Mount).is_some();
    let fstype = facts.value(line, &boot::FSTYPE);
    if fstype.as_deref().is_none_or(|fstype| fstype == "auto") {
        missing.push("the file system type is unknown");
    } else if compat::boot_options_support(facts, line).value().is_none() {
        missing.push("the kernel version or the mount options are unknown");
    }
    if facts.value(line, &boot::WHOLE) != Some(true) {
        missing.push("an option that was not recorded may stop the boot");
    }
    let device = facts.value(line, &boot::DEVICE);
    // A line that is mounted now has an existing device, even if no fact names the device.
    if device.is_none() && !mounted {
        missing.push("it is unknown whether the device exists");
    }
    if facts.value(line, &boot::AUTO).is_none() {
        missing.push("it is unknown whether this file system is mounted at boot");
    }
    missing
}

fn unknown_filesystem_text_and_support(
    kernels: &KernelChange<'_>,
    line: &Subject,
) -> Option<(String, Support)> {
    let then = kernels.then.as_ref();
    let (version, vendor) = then.filter(|then| Some(*then) != kernels.now.as_ref())?;
    let fstype = kernels
        .supposed
        .value(line, &boot::FSTYPE)
        .filter(|fstype| fstype != "auto")?;
    let again = kernels.has_same_builder && running_kernel_supports_fstype(kernels.real, &fstype);
    let part = KernelPart::FileSystem;
    let ruling = compat::kernel_part_support(part, &fstype, version, vendor, again);
    ruling.effect.is_unknown().then(|| {
        (
            format!("it is unknown whether the new kernel supports {fstype}"),
            ruling,
        )
    })
}

fn running_kernel_supports_fstype(facts: &FactSet, fstype: &str) -> bool {
    let built_in = facts.host_value(&kernel::FILESYSTEMS).unwrap_or_default();
    let is_swap = fstype == "swap" && !facts.subjects_where(&device::SWAP, |swap| *swap).is_empty();
    is_swap
        || built_in.iter().any(|known| known == fstype)
        || !facts
            .subjects_where(&mount::FSTYPE, |mounted| mounted == fstype)
            .is_empty()
}
