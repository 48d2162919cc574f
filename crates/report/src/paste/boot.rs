//! The intended form of a boot line: the changes that the plans make to it and to its mount,
//! joined.
//!
//! A change to a mount in force lasts only until the next boot, so it belongs in the line too.
//! Other written options stay, in their order. An option in force that no line names (a default in
//! the superblock, a manual remount) cannot be removed from the line; a note says so instead.

use std::collections::BTreeMap;

use walwise_model::facts::note::BootNote;
use walwise_model::settings::{Mounting, SettingKind};

use crate::{Report, Step, TargetSummary, options, remount, stack};
use walwise_judge::validity::inverse;
use walwise_model::facts::catalog::{boot, mount};
use walwise_model::facts::{Key, Note, Reading, Scope, Source, Subject, Why};
use walwise_model::quote::fstab;
use walwise_model::text::raw;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationSite {
    Fstab,
    /// A mount unit, by its path.
    Unit(String),
    /// The kernel's command line, or an unknown place.
    Other,
}

/// A boot mount, with the plans' changes to it.
pub struct BootMountEdit<'a> {
    pub subject: &'a Subject,
    pub place: DeclarationSite,
    /// The same for display: `/etc/fstab:9`.
    pub shown: String,
    /// The options as they are written.
    pub now: Vec<String>,
    pub remove: Vec<String>,
    pub add: Vec<String>,
    /// The steps behind the changes, the most serious first.
    pub steps: Vec<&'a Step>,
    /// Changes that could not be made, with the reason.
    pub notes: Vec<String>,
}

impl BootMountEdit<'_> {
    /// The intended options; `None` when they are right already.
    pub fn becomes(&self) -> Option<String> {
        let becomes = options::rewritten(&self.now, &self.add, &self.remove);
        (becomes != options::rewritten(&self.now, &[], &[])).then_some(becomes)
    }

    /// The written options, as one string.
    pub fn written(&self) -> String {
        options::rewritten(&self.now, &[], &[])
    }

    /// The change in words, for a line that is not completely known.
    pub fn edits(&self) -> String {
        let replaced = |word: &String| {
            self.now.iter().find(|old| {
                options::exclude(SettingKind::BootOptions, old, word) && !self.remove.contains(old)
            })
        };
        let out = self.remove.iter().map(|word| format!("remove {word}"));
        let into = self.add.iter().map(|word| match replaced(word) {
            Some(old) => format!("replace {old} with {word}"),
            None => format!("add {word}"),
        });
        out.chain(into).collect::<Vec<_>>().join("; ")
    }

    /// Whether everything written is known, so that it can be rewritten.
    pub fn is_whole(&self, report: &Report) -> bool {
        report.facts.value(self.subject, &boot::WHOLE) == Some(true)
    }
}

/// Everything that mounts targets at boot, in the order of their mount points.
pub fn lines(report: &Report) -> Vec<BootMountEdit<'_>> {
    let mut wanted: BTreeMap<&Subject, Vec<&Step>> = BTreeMap::new();
    for target in &report.targets {
        let steps = report
            .plan(&target.target)
            .map(|plan| plan.steps.as_slice())
            .unwrap_or_default();
        for line in target
            .subjects
            .iter()
            .filter(|subject| subject.scope() == Scope::Boot)
        {
            let of_line = wanted.entry(line).or_default();
            let mount = report.facts.resolve(line, Scope::Mount);
            let concerns = |step: &&Step| match step.advice.setting.kind.mount() {
                None => false,
                Some(Mounting::AtBoot) => step.subject == *line,
                Some(Mounting::Now) => Some(&step.subject) == mount.as_ref(),
            };
            let changes = steps.iter().filter(|step| !step.keeps());
            for step in changes.filter(concerns) {
                if !of_line.contains(&step) {
                    of_line.push(step);
                }
            }
        }
    }
    wanted
        .into_iter()
        .map(|(subject, steps)| line(report, subject, steps))
        .collect()
}

fn line<'a>(
    report: &'a Report,
    subject: &'a Subject,
    mut steps: Vec<&'a Step>,
) -> BootMountEdit<'a> {
    let place = match report.facts.reading(subject, boot::OPTIONS.id()).source() {
        Some(Source::File { path, .. }) if path == "/etc/fstab" => DeclarationSite::Fstab,
        Some(Source::File { path, .. }) if path.starts_with("/etc/systemd/") => {
            DeclarationSite::Unit(path.clone())
        }
        _ => DeclarationSite::Other,
    };
    let known = report.facts.value(subject, &boot::WHERE);
    let mut line = BootMountEdit {
        subject,
        place,
        shown: known.unwrap_or_else(|| subject.name().to_owned()),
        now: report
            .facts
            .value(subject, &boot::OPTIONS)
            .unwrap_or_default(),
        remove: Vec::new(),
        add: Vec::new(),
        steps: Vec::new(),
        notes: Vec::new(),
    };
    // The most serious first, and those about the line itself before consequences of the mount.
    steps.sort_by_key(|step| (std::cmp::Reverse(step.level), is_of_mounted(step)));
    for step in steps {
        follow(report, &mut line, step);
    }
    line
}

/// Whether a step is about the options of what is mounted now.
fn is_of_mounted(step: &Step) -> bool {
    match step.advice.setting.kind.mount() {
        Some(Mounting::Now) => true,
        Some(Mounting::AtBoot) | None => false,
    }
}

/// Applies a step to a line, or notes why not.
fn follow<'a>(report: &Report, line: &mut BootMountEdit<'a>, step: &'a Step) {
    let (add, remove) = (step.advice.change.values(), step.advice.change.removed());
    let words = step.advice.change.words();
    if is_of_mounted(step) && !same_type(report, line.subject, &step.subject) {
        let note = format!("not here, since another type of file system will be mounted: {words}");
        return line.notes.push(note);
    }
    let excluded = |word: &String| {
        line.remove.contains(word)
            || line
                .add
                .iter()
                .any(|other| options::exclude(SettingKind::BootOptions, other, word))
    };
    if add.iter().any(excluded) || remove.iter().any(|word| line.add.contains(word)) {
        return line.notes.push(format!(
            "not followed, because a graver finding wants the opposite: {words}"
        ));
    }
    // An option in force that is written nowhere comes from elsewhere, and stays until somebody
    // looks there.
    let in_force = stack::in_force(&report.facts, &step.subject).unwrap_or_default();
    for word in remove
        .iter()
        .filter(|word| in_force.contains(word) && !line.now.contains(word))
    {
        line.notes.push(format!(
            "{word} is current but not written here: a default of the file system or kernel, or a manual remount"
        ));
    }
    // A word that only brings a default back is not needed where the line changes no default.
    let fstype = report
        .facts
        .value(&step.subject, &mount::FSTYPE)
        .unwrap_or_default();
    let is_default = |word: &String| {
        let takes_back =
            |old: &String| inverse(&fstype, old).is_some_and(|row| row.by.as_ref() == Some(word));
        in_force.iter().any(takes_back) && !line.now.iter().any(takes_back)
    };
    let new = |word: &&String| {
        let is_needless = is_of_mounted(step) && is_default(word);
        !(is_needless || line.now.contains(word) || line.add.contains(word))
    };
    let explicit = if is_of_mounted(step) {
        remount::explicit(&report.facts, &step.subject, &step.advice.change)
    } else {
        Vec::new()
    };
    let added: Vec<String> = add
        .iter()
        .filter(new)
        .chain(explicit.iter().filter(|word| !line.now.contains(word)))
        .cloned()
        .collect();
    let gone = |word: &&String| line.now.contains(word) && !line.remove.contains(word);
    let removed: Vec<String> = remove.iter().filter(gone).cloned().collect();
    if !added.is_empty() || !removed.is_empty() {
        line.steps.push(step);
    }
    line.add.extend(added);
    line.remove.extend(removed);
}

/// Whether the line will mount the type of file system that is mounted now.
fn same_type(report: &Report, line: &Subject, mounted: &Subject) -> bool {
    let now = report.facts.value(mounted, &mount::FSTYPE);
    now.is_some() && now == report.facts.value(line, &boot::FSTYPE)
}

/// A target that will not be mounted after the next boot.
pub struct AbsentMount<'a> {
    pub title: &'a str,
    /// The line that mounts it, or why there is none.
    pub line: Result<String, String>,
}

/// The targets without a known boot mount; empty where that is uncertain.
pub fn not_mounted_at_boot(report: &Report) -> Vec<AbsentMount<'_>> {
    let is_missing = |target: &&TargetSummary| {
        let mounted = report.facts.resolve(&target.target, Scope::Mount);
        mounted.and_then(|mounted| report.facts.value(&mounted, &mount::AT_BOOT)) == Some(false)
    };
    let missing = report.targets.iter().filter(is_missing);
    missing
        .map(|target| AbsentMount {
            title: &target.title,
            line: line_for(report, target),
        })
        .collect()
}

/// Notes about sources of boot mounts that could not be read.
fn unread(report: &Report) -> impl Iterator<Item = &Note> {
    report.warnings.iter().filter(|note| match note {
        Note::Boot(note) => matches!(note, BootNote::Gap { .. }),
        Note::Mount(_)
        | Note::Storage(_)
        | Note::Target(_)
        | Note::Server(_)
        | Note::Postgres(_)
        | Note::Mysql(_)
        | Note::Measurement(_)
        | Note::Drill(_)
        | Note::Trial(_)
        | Note::Rules(_)
        | Note::Run(_) => false,
    })
}

/// The directories for which no line of the next boot was found.
fn bare(report: &Report) -> impl Iterator<Item = &TargetSummary> {
    report.targets.iter().filter(|target| {
        !target.kind.is_device()
            && !target
                .subjects
                .iter()
                .any(|subject| subject.scope() == Scope::Boot)
    })
}

/// Whether a target lies on the root file system, which the kernel's command line mounts where no
/// line does.
fn is_on_root(report: &Report, target: &TargetSummary) -> bool {
    let mounted = report.facts.resolve(&target.target, Scope::Mount);
    mounted
        .and_then(|mounted| report.facts.value(&mounted, &mount::POINT))
        .as_deref()
        == Some("/")
}

/// The line of /etc/fstab for a target's file system: as mounted now, with the advised options; the
/// error says why there is none.
fn line_for(report: &Report, target: &TargetSummary) -> Result<String, String> {
    let mounted = report
        .facts
        .resolve(&target.target, Scope::Mount)
        .ok_or("it is not mounted")?;
    let text = |key: &Key<String>| match report.facts.get(&mounted, key) {
        Reading::Known { value, .. } => Ok(value),
        Reading::Unknown { detail, .. } => Err(detail),
    };
    if !report
        .facts
        .value(&mounted, &mount::CLASS)
        .is_some_and(mount::MountClass::is_block)
    {
        return Err("it is no file system on a block device of this machine".to_owned());
    }
    let (point, fstype) = (text(&mount::POINT)?, text(&mount::FSTYPE)?);
    let uuid = report
        .facts
        .value(&mounted, &mount::UUID)
        .ok_or("its UUID is unknown: run walwise as root")?;
    let advised = report
        .plan(&target.target)
        .map(|plan| plan.steps.as_slice())
        .unwrap_or_default();
    let of_mount = advised
        .iter()
        .find(|step| step.subject == mounted && is_of_mounted(step));
    let now = || {
        options::changed(
            &stack::in_force(&report.facts, &mounted).unwrap_or_default(),
            &[],
            &[],
            &[],
        )
    };
    let list = of_mount
        .and_then(|step| step.result.clone())
        .unwrap_or_else(now);
    let list = list
        .split(',')
        .filter(|word| *word != "rw")
        .collect::<Vec<_>>()
        .join(",");
    let list = if list.is_empty() {
        "defaults"
    } else {
        list.as_str()
    };
    let pass = if fstype.starts_with("ext") { 2 } else { 0 };
    let written =
        |shown: &str| fstab::field(&raw(shown)).ok_or_else(|| format!("fstab cannot hold {shown}"));
    let (point, fstype, list) = (written(&point)?, written(&fstype)?, written(list)?);
    Ok(format!("UUID={uuid} {point} {fstype} {list} 0 {pass}"))
}

/// Why none of these lines needs a change.
pub fn why_not(report: &Report, lines: &[BootMountEdit<'_>]) -> Vec<String> {
    if report.targets.is_empty() {
        return vec!["No database, data mount or free disk was found.".to_owned()];
    }
    let right = lines
        .iter()
        .map(|line| format!("{}: as it should be, as far as it was judged.", line.shown));
    let on_root = bare(report).filter(|target| is_on_root(report, target));
    let on_root = on_root.map(|target| {
        format!(
            "{}: on the root file system, which is mounted without a line there.",
            target.title
        )
    });
    let open = bare(report).filter_map(|target| {
        let mounted = report.facts.resolve(&target.target, Scope::Mount);
        let found = mounted
            .as_ref()
            .map(|mounted| report.facts.get(mounted, &mount::AT_BOOT));
        let fstype = mounted.and_then(|mounted| report.facts.value(&mounted, &mount::FSTYPE));
        let because = match (found, fstype) {
            (Some(Reading::Known { .. }), _) => return None,
            // ZFS and similar file systems are mounted without a line.
            (
                Some(Reading::Unknown {
                    why: Why::NotCollected,
                    ..
                }),
                Some(fstype),
            ) => {
                format!("of {fstype} that was not looked for")
            }
            (Some(Reading::Unknown { detail, .. }), _) => detail,
            (None, _) => "the device under it is unknown".to_owned(),
        };
        Some(format!(
            "{}: it is unknown whether the next boot mounts it: {because}.",
            target.title
        ))
    });
    right
        .chain(on_root)
        .chain(open)
        .chain(unread(report).map(Note::to_string))
        .collect()
}
