//! Finds the boot lines (fstab, mount units) that the plan changes, because a remount lasts only
//! until the next boot. If an option to be removed is in force but not in the line, a note names
//! the option.

use std::collections::BTreeMap;

use crate::distinct::extend_distinct;
use crate::{Report, Step, TargetSummary, mount_and_mkfs_options, remount_commands, stack};
use walwise_judge::compat::find_remount_inverse;
use walwise_model::escape::fstab;
use walwise_model::facts::catalog::{boot, mount};
use walwise_model::facts::{Key, NoteKind, Reading, Scope, Source, Subject, UnknownReason};
use walwise_model::settings::{PresentOrBootMount, SettingKind};
use walwise_model::text::{JoinText, decode_display_safe};

pub enum BootMountOrigin {
    Fstab,
    /// A mount unit, by its path.
    Unit(String),
    /// Another file, such as the kernel's command line, or an unknown place.
    Other,
}

pub struct BootMountOptionsEdit<'a> {
    pub subject: &'a Subject,
    pub place: BootMountOrigin,
    /// The place for display, such as `/etc/fstab:9`.
    pub display: String,
    pub options: Vec<String>,
    pub remove: Vec<String>,
    pub add: Vec<String>,
    /// Steps that change the line, the most severe first.
    pub steps: Vec<&'a Step>,
    /// Changes that could not be made, each with the reason.
    pub notes: Vec<String>,
}

impl BootMountOptionsEdit<'_> {
    /// The options as fstab writes them; `None` if nothing changes.
    pub fn new_options_if_changed(&self) -> Option<String> {
        let becomes = mount_and_mkfs_options::apply_change_to_written_options(
            &self.options,
            &self.add,
            &self.remove,
        );
        (becomes != self.written_options()).then_some(becomes)
    }

    pub fn written_options(&self) -> String {
        mount_and_mkfs_options::apply_change_to_written_options(&self.options, &[], &[])
    }

    pub fn describe_edits(&self) -> String {
        let replaced = |word: &String| {
            self.options.iter().find(|old| {
                mount_and_mkfs_options::are_exclusive_options(SettingKind::BootOptions, old, word)
                    && !self.remove.contains(old)
            })
        };
        let out = self.remove.iter().map(|word| format!("remove {word}"));
        let into = self.add.iter().map(|word| match replaced(word) {
            Some(old) => format!("replace {old} with {word}"),
            None => format!("add {word}"),
        });
        out.chain(into).join_with("; ")
    }

    /// True if every field of the line is known. A line with an unrecorded value, such as a
    /// password or a comment, cannot be rewritten.
    pub fn are_all_fields_known(&self, report: &Report) -> bool {
        let options = report.facts.value(self.subject, &boot::OPTIONS);
        report.facts.value(self.subject, &boot::WHOLE) == Some(true)
            && options.is_some_and(|options| {
                let hides_value =
                    |option: &String| boot::OPTIONS_WITHOUT_VALUE.contains(&option.as_str());
                !options.iter().any(hides_value)
            })
    }
}

pub fn boot_mount_edits(report: &Report) -> Vec<BootMountOptionsEdit<'_>> {
    let mut wanted: BTreeMap<&Subject, Vec<&Step>> = BTreeMap::new();
    for target in &report.targets {
        let steps = report.steps(&target.target);
        for line in target
            .subjects
            .iter()
            .filter(|subject| subject.scope() == Scope::Boot)
        {
            let of_line = wanted.entry(line).or_default();
            let mount = report.facts.applicable_subject(line, Scope::Mount);
            let concerns = |step: &&Step| match step.advice.setting.kind.present_or_boot_mount() {
                None => false,
                Some(PresentOrBootMount::AtBoot) => step.subject == *line,
                Some(PresentOrBootMount::Now) => Some(&step.subject) == mount.as_ref(),
            };
            let changes = steps.iter().filter(|step| !step.keeps_setting());
            extend_distinct(of_line, changes.filter(concerns));
        }
    }
    wanted
        .into_iter()
        .map(|(subject, steps)| boot_mount_edit(report, subject, steps))
        .collect()
}

fn boot_mount_edit<'a>(
    report: &'a Report,
    subject: &'a Subject,
    mut steps: Vec<&'a Step>,
) -> BootMountOptionsEdit<'a> {
    let place = match report.facts.reading(subject, boot::OPTIONS.id()).source() {
        Some(Source::File { path, .. }) if path == "/etc/fstab" => BootMountOrigin::Fstab,
        Some(Source::File { path, .. }) if path.starts_with("/etc/systemd/") => {
            BootMountOrigin::Unit(path.clone())
        }
        _ => BootMountOrigin::Other,
    };
    let known = report.facts.value(subject, &boot::WHERE);
    let mut line = BootMountOptionsEdit {
        subject,
        place,
        display: known.unwrap_or_else(|| subject.name().to_owned()),
        options: report
            .facts
            .value(subject, &boot::OPTIONS)
            .unwrap_or_default(),
        remove: Vec::new(),
        add: Vec::new(),
        steps: Vec::new(),
        notes: Vec::new(),
    };
    steps.sort_by_key(|step| (std::cmp::Reverse(step.level), changes_present_mount(step)));
    for step in steps {
        merge_step_into_edit(report, &mut line, step);
    }
    line
}

fn changes_present_mount(step: &Step) -> bool {
    step.advice.setting.kind.present_or_boot_mount() == Some(PresentOrBootMount::Now)
}

fn merge_step_into_edit<'a>(report: &Report, line: &mut BootMountOptionsEdit<'a>, step: &'a Step) {
    let (facts, change) = (&report.facts, &step.advice.change);
    let (add, remove) = (change.set_or_added_values(), change.removed_options());
    let is_present = changes_present_mount(step);
    let fstype = facts.value(&step.subject, &mount::FSTYPE);
    let is_same_type = fstype.is_some() && fstype == facts.value(line.subject, &boot::FSTYPE);
    if is_present && !is_same_type {
        return line.notes.push(format!(
            "not changed here, because this line mounts a different file system type: {}",
            change.describe_change()
        ));
    }
    let excluded = |word: &String| {
        line.remove.contains(word)
            || line.add.iter().any(|other| {
                mount_and_mkfs_options::are_exclusive_options(SettingKind::BootOptions, other, word)
            })
    };
    if add.iter().any(excluded) || remove.iter().any(|word| line.add.contains(word)) {
        return line.notes.push(format!(
            "not applied, because a more severe finding requires the opposite: {}",
            change.describe_change()
        ));
    }
    // An option that is in force but not in the boot line comes from elsewhere, so editing the line
    // would not remove the option.
    let in_force = stack::mount_options(facts, &step.subject).unwrap_or_default();
    for word in remove {
        if in_force.contains(word) && !line.options.contains(word) {
            line.notes.push(format!(
                "{word} is in force but not in this line; it may be a default of the file system or kernel, or come from a manual remount"
            ));
        }
    }
    // An added option that only restores a default is redundant unless the line overrides that
    // default.
    let fstype = fstype.unwrap_or_default();
    let is_default = |word: &String| {
        let takes_back = |old: &String| {
            find_remount_inverse(&fstype, old).is_some_and(|row| row.by.as_ref() == Some(word))
        };
        in_force.iter().any(takes_back) && !line.options.iter().any(takes_back)
    };
    let mut added = add.to_vec();
    added.retain(|word| !(is_present && is_default(word) || line.add.contains(word)));
    if is_present {
        added.extend(remount_commands::overrides_of_removed_defaults(
            facts,
            &step.subject,
            change,
        ));
    }
    added.retain(|word| !line.options.contains(word));
    let mut removed = remove.to_vec();
    removed.retain(|word| line.options.contains(word) && !line.remove.contains(word));
    if !added.is_empty() || !removed.is_empty() {
        line.steps.push(step);
    }
    line.add.extend(added);
    line.remove.extend(removed);
}

/// Lists the targets that are mounted now but not at boot, with the fstab line that mounts the
/// target, or the reason why no line can be given. Targets whose mount at boot is unknown are left
/// out.
pub fn targets_not_mounted_at_boot(
    report: &Report,
) -> Vec<(&TargetSummary, Result<String, String>)> {
    let facts = &report.facts;
    let is_missing = |target: &&TargetSummary| {
        let mounted = facts.applicable_subject(&target.target, Scope::Mount);
        mounted.and_then(|mounted| facts.value(&mounted, &mount::AT_BOOT)) == Some(false)
    };
    let missing = report.targets.iter().filter(is_missing);
    missing
        .map(|target| (target, fstab_line_for_mounted_target(report, target)))
        .collect()
}

/// Makes the fstab line that mounts the target's file system with its present options and the
/// recommended ones. The error is the reason why no line can be given.
fn fstab_line_for_mounted_target(
    report: &Report,
    target: &TargetSummary,
) -> Result<String, String> {
    let mounted = report
        .facts
        .applicable_subject(&target.target, Scope::Mount)
        .ok_or("the file system is not mounted")?;
    let text = |key: &Key<String>| match report.facts.get(&mounted, key) {
        Reading::Known { value, .. } => Ok(value),
        Reading::Unknown { detail, .. } => Err(detail),
    };
    if !report
        .facts
        .value(&mounted, &mount::CLASS)
        .is_some_and(mount::MountClass::is_block)
    {
        return Err("the file system is not on a block device of this host".to_owned());
    }
    let (point, fstype) = (text(&mount::POINT)?, text(&mount::FSTYPE)?);
    let uuid = report
        .facts
        .value(&mounted, &mount::UUID)
        .ok_or("the UUID of the file system is unknown; run walwise as root")?;
    let advised = report.steps(&target.target);
    let of_mount = advised
        .iter()
        .find(|step| step.subject == mounted && changes_present_mount(step));
    let now = || {
        let options = stack::mount_options(&report.facts, &mounted).unwrap_or_default();
        mount_and_mkfs_options::explicit_options_after_change(&options, &[], &[], &[])
    };
    let mut list = of_mount
        .and_then(|step| step.result.clone())
        .unwrap_or_else(now)
        .split(',')
        .filter(|word| *word != "rw")
        .join_with(",");
    if list.is_empty() {
        "defaults".clone_into(&mut list);
    }
    let pass = if fstype.starts_with("ext") { 2 } else { 0 };
    let written = |shown: &str| {
        fstab::encode_fstab_field(&decode_display_safe(shown))
            .ok_or_else(|| format!("{shown} cannot be represented in fstab"))
    };
    let (point, fstype, list) = (written(&point)?, written(&fstype)?, written(&list)?);
    Ok(format!("UUID={uuid} {point} {fstype} {list} 0 {pass}"))
}

pub fn no_change_reasons(report: &Report, lines: &[BootMountOptionsEdit<'_>]) -> Vec<String> {
    if report.targets.is_empty() {
        return vec!["No database, data mount or free disk was found.".to_owned()];
    }
    let (mut on_root, mut open) = (Vec::new(), Vec::new());
    for target in &report.targets {
        let mut subjects = target.subjects.iter();
        if target.kind.is_device() || subjects.any(|subject| subject.scope() == Scope::Boot) {
            continue;
        }
        let mounted = report
            .facts
            .applicable_subject(&target.target, Scope::Mount);
        let text = |key| report.facts.value(mounted.as_ref()?, key);
        // The kernel can mount the root file system without an fstab line.
        if text(&mount::POINT).as_deref() == Some("/") {
            on_root.push(format!(
                "{}: the directory is on the root file system, which needs no fstab line.",
                target.title
            ));
        }
        let found = mounted
            .as_ref()
            .map(|mounted| report.facts.get(mounted, &mount::AT_BOOT));
        let because = match (found, text(&mount::FSTYPE)) {
            (Some(Reading::Known { .. }), _) => continue,
            // File systems such as ZFS are not checked, because they can be mounted without fstab
            // lines.
            (
                Some(Reading::Unknown {
                    why: UnknownReason::NotCollected,
                    ..
                }),
                Some(fstype),
            ) => format!("not checked for {fstype}"),
            (Some(Reading::Unknown { detail, .. }), _) => detail,
            (None, _) => "the underlying device is unknown".to_owned(),
        };
        open.push(format!(
            "{}: it is unknown whether this file system will be mounted at the next boot ({because}).",
            target.title
        ));
    }
    let unread = report
        .warnings
        .iter()
        .filter(|note| note.kind == NoteKind::UnreadBootSource);
    lines
        .iter()
        .map(|line| format!("{}: OK (only the options were checked).", line.display))
        .chain(on_root)
        .chain(open)
        .chain(unread.map(ToString::to_string))
        .collect()
}
