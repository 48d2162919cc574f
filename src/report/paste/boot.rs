//! What a line of the next boot should read: the changes that the plans want of it and of the mount that it makes, joined.
//!
//! A change of a mount in force lasts until the next boot only, so it belongs into the line too. What is written and not
//! concerned stays, in its order. The surprise: an option in force that no line names (a default in the superblock, a
//! remount by hand) cannot be taken out of the line, and that is said instead.

use std::collections::BTreeMap;

use crate::facts::catalog::{boot, mount};
use crate::facts::{Scope, Source, Subject};
use crate::report::{Report, Step, options, stack};
use crate::rules::Change;

/// Where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of /etc/fstab.
    Fstab,
    /// A mount unit, by its path.
    Unit(String),
    /// The kernel's command line, or what nobody knows.
    Other,
}

/// Something that mounts at boot, with what the plans want of it.
pub struct Line<'a> {
    /// What it is about.
    pub subject: &'a Subject,
    /// Where it is written.
    pub place: Place,
    /// The same as people read it: `/etc/fstab:9`.
    pub shown: String,
    /// The options as they are written.
    pub now: Vec<String>,
    /// What of them is taken away.
    pub remove: Vec<String>,
    /// What is put behind them.
    pub add: Vec<String>,
    /// The steps that want this, the gravest first.
    pub steps: Vec<&'a Step>,
    /// What could not be followed, and why.
    pub notes: Vec<String>,
}

impl Line<'_> {
    /// The options as they should be; `None` when they are.
    pub fn becomes(&self) -> Option<String> {
        let becomes = options::rewritten(&self.now, &self.add, &self.remove);
        (becomes != options::rewritten(&self.now, &[], &[])).then_some(becomes)
    }

    /// The options as they are written, as one string.
    pub fn written(&self) -> String {
        options::rewritten(&self.now, &[], &[])
    }

    /// The change as words, for a line that is not known as a whole.
    pub fn edits(&self) -> String {
        let replaced = |word: &String| {
            self.now
                .iter()
                .find(|old| options::exclude("boot.options", old, word) && !self.remove.contains(old))
        };
        let out = self.remove.iter().map(|word| format!("take out {word}"));
        let into = self.add.iter().map(|word| match replaced(word) {
            Some(old) => format!("put {word} in place of {old}"),
            None => format!("add {word}"),
        });
        out.chain(into).collect::<Vec<_>>().join("; ")
    }

    /// Whether all that is written is known, so that it can be written anew.
    pub fn is_whole(&self, report: &Report) -> bool {
        report.facts.value(self.subject, &boot::WHOLE) == Some(true)
    }
}

/// Everything that mounts targets at boot, in the order of their mount points.
pub fn lines(report: &Report) -> Vec<Line<'_>> {
    let mut wanted: BTreeMap<&Subject, Vec<&Step>> = BTreeMap::new();
    for target in &report.targets {
        let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
        for line in target.subjects.iter().filter(|subject| subject.scope() == Scope::Boot) {
            let of_line = wanted.entry(line).or_default();
            let mount = report.facts.resolve(line, Scope::Mount);
            let concerns = |step: &&Step| match step.advice.setting.as_str() {
                _ if step.advice.change == Change::Keep => false,
                "boot.options" => step.subject == *line,
                "mount.options" => Some(&step.subject) == mount.as_ref(),
                _ => false,
            };
            for step in steps.iter().filter(concerns) {
                if !of_line.contains(&step) {
                    of_line.push(step);
                }
            }
        }
    }
    wanted.into_iter().map(|(subject, steps)| line(report, subject, steps)).collect()
}

fn line<'a>(report: &'a Report, subject: &'a Subject, mut steps: Vec<&'a Step>) -> Line<'a> {
    let place = match report.facts.reading(subject, boot::OPTIONS.name()).source() {
        Some(Source::File { path, .. }) if path == "/etc/fstab" => Place::Fstab,
        Some(Source::File { path, .. }) if path.starts_with("/etc/systemd/") => Place::Unit(path.clone()),
        _ => Place::Other,
    };
    let known = report.facts.value(subject, &boot::WHERE);
    let mut line = Line {
        subject,
        place,
        shown: known.unwrap_or_else(|| subject.name().to_owned()),
        now: report.facts.value(subject, &boot::OPTIONS).unwrap_or_default(),
        remove: Vec::new(),
        add: Vec::new(),
        steps: Vec::new(),
        notes: Vec::new(),
    };
    // The gravest first, and what was said of the line itself before what follows from the mount.
    steps.sort_by_key(|step| (std::cmp::Reverse(step.level), step.advice.setting != "boot.options"));
    for step in steps {
        follow(report, &mut line, step);
    }
    line
}

/// Takes a step into a line, or says why not.
fn follow<'a>(report: &Report, line: &mut Line<'a>, step: &'a Step) {
    let (add, remove) = (step.advice.change.values(), step.advice.change.removed());
    let words = step.advice.change.words();
    if step.advice.setting == "mount.options" && !same_type(report, line.subject, &step.subject) {
        let note = format!("not here, since another type of file system will be mounted: {words}");
        return line.notes.push(note);
    }
    let excluded = |word: &String| {
        line.remove.contains(word)
            || line.add.iter().any(|other| options::exclude("boot.options", other, word))
    };
    if add.iter().any(excluded) || remove.iter().any(|word| line.add.contains(word)) {
        return line.notes.push(format!("not followed, since what is graver wants the opposite: {words}"));
    }
    // An option that is in force and written nowhere comes from elsewhere, and stays until somebody looks there.
    let in_force = stack::in_force(&report.facts, &step.subject).unwrap_or_default();
    for word in remove.iter().filter(|word| in_force.contains(word) && !line.now.contains(word)) {
        line.notes.push(format!(
            "{word} is in force and not written here: a default of the file system or of the kernel, or a remount by hand"
        ));
    }
    let new = |word: &&String| !line.now.contains(word) && !line.add.contains(word);
    let added: Vec<String> = add.iter().filter(new).cloned().collect();
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

/// Why nothing is to be changed in any of these lines.
pub fn why_not(report: &Report, lines: &[Line<'_>]) -> Vec<String> {
    if report.targets.is_empty() {
        return vec!["No database, data mount or blank disk was found.".to_owned()];
    }
    let right = lines.iter().map(|line| format!("{}: as it should be, as far as it was judged.", line.shown));
    let bare = report.targets.iter().filter(|target| {
        target.kind != "device" && !target.subjects.iter().any(|subject| subject.scope() == Scope::Boot)
    });
    let bare = bare.map(|target| {
        format!("{}: nothing in /etc/fstab or /etc/systemd/system was found that mounts it.", target.title)
    });
    let unread =
        report.warnings.iter().filter(|warning| warning.ends_with("what it mounts at boot is not known"));
    right.chain(bare).chain(unread.cloned()).collect()
}
