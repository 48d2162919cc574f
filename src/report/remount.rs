//! The commands that change the options of a mounted file system: one remount where the table of inverses has a word
//! for each change, else an unmount and a mount with the whole list.
//!
//! The root file system cannot be unmounted, and a container gets its mounts from outside: both get a remark that names
//! the place of the change.

use super::{options, stack};
use crate::facts::catalog::host as machine;
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::{FactSet, Scope, Subject};
use crate::quote::Command;
use crate::rules::{Advice, Change, Finding, Risk};
use crate::settings::{Mounting, SettingKind};
use crate::validity::inverse;

/// Gives the advice of findings its commands.
pub fn complete(findings: &mut [Finding], facts: &FactSet) {
    for Finding { subject, advice, .. } in findings {
        for advice in advice {
            if let Some(mounted) = facts.resolve(subject, Scope::Mount) {
                add_commands(advice, facts, &mounted);
            }
        }
    }
}

/// Gives advice about the options of a mount its commands, behind those of its rule, and what they interrupt.
pub fn add_commands(advice: &mut Advice, facts: &FactSet, mounted: &Subject) {
    if advice.change == Change::Keep || !advice.own.is_empty() {
        return;
    }
    if advice.setting.kind == SettingKind::FastCommit {
        return unmounted(advice, facts, mounted);
    }
    if advice.setting.kind.mount() != Some(Mounting::Now) {
        return;
    }
    let Some(change) = MountChange::from_facts(facts, mounted, &advice.change) else { return };
    let loses = advice.risk == Risk::DataLossIfWrong;
    if !loses && change.remount.is_none() {
        advice.risk = Risk::NeedsUnmount;
    }
    advice.apply.extend(change.apply());
    advice.verify.extend(change.verify());
    advice.undo.extend(change.undo());
}

/// Words that a mount needs because what is taken away is in force without being shown in mountinfo: a default in the
/// superblock (tune2fs -o), which only /proc/fs/ext4 lists.
pub fn explicit(facts: &FactSet, mounted: &Subject, change: &Change) -> Vec<String> {
    let Some(fstype) = facts.value(mounted, &mount::FSTYPE) else { return Vec::new() };
    let hidden = hidden(facts, mounted, change.removed());
    let rows = hidden.iter().filter_map(|word| inverse(&fstype, word));
    let mut words: Vec<String> =
        rows.flat_map(|row| row.by.clone().map_or_else(|| row.with.clone(), |by| vec![by])).collect();
    words.dedup();
    words
}

/// Those of these words that are in force as a default of the file system. Where none of them is seen anywhere, it is a
/// default of the driver, as ext3 had without barriers: then the first that a remount takes back.
fn hidden(facts: &FactSet, mounted: &Subject, words: &[String]) -> Vec<String> {
    let shown = stack::in_force(facts, mounted).unwrap_or_default();
    let all = facts.value(mounted, &mount::EXT4_OPTIONS).unwrap_or_default();
    let is_hidden = |word: &&String| all.contains(word) && !shown.contains(word);
    let listed: Vec<String> = words.iter().filter(is_hidden).cloned().collect();
    if !listed.is_empty() || words.iter().any(|word| shown.contains(word)) {
        return listed;
    }
    let fstype = facts.value(mounted, &mount::FSTYPE).unwrap_or_default();
    let is_taken_back = |word: &&String| inverse(&fstype, word).is_some_and(|row| row.by.is_some());
    words.iter().find(is_taken_back).cloned().into_iter().collect()
}

/// Puts the commands of advice about an unmounted file system between an unmount and a mount with the options in force.
fn unmounted(advice: &mut Advice, facts: &FactSet, mounted: &Subject) {
    let Some(change) = MountChange::from_facts(facts, mounted, &Change::Keep) else { return };
    for commands in [&mut advice.apply, &mut advice.undo].into_iter().filter(|commands| !commands.is_empty())
    {
        let around = change.commands(None, &change.now);
        let at = around.len().min(1);
        let (before, after) = around.split_at(at);
        *commands = [before, commands.as_slice(), after].concat();
    }
}

/// A change of the options of a mount.
struct MountChange<'a> {
    point: String,
    fstype: String,
    /// What is mounted, where the whole list of options is known and mount(8) takes it back.
    source: Option<String>,
    is_contained: bool,
    /// Words to add, and those in force to take away.
    add: &'a [String],
    remove: Vec<String>,
    /// The words of a remount; `None` where an unmount is needed.
    remount: Option<Vec<String>>,
    /// The words of the remount that takes it back.
    back: Option<Vec<String>>,
    /// The whole list, now and after the change.
    now: String,
    becomes: String,
}

impl<'a> MountChange<'a> {
    fn from_facts(facts: &FactSet, mounted: &Subject, change: &'a Change) -> Option<Self> {
        let fstype = facts.value(mounted, &mount::FSTYPE)?;
        let in_force = stack::in_force(facts, mounted)?;
        let (add, removed) = (change.values(), change.removed());
        let explicit = explicit(facts, mounted, change);
        let mut remove: Vec<String> =
            removed.iter().filter(|word| in_force.contains(word)).cloned().collect();
        remove.extend(hidden(facts, mounted, removed));
        if remove.is_empty() && add.is_empty() && *change != Change::Keep {
            return None;
        }
        let rows: Vec<_> = remove.iter().map(|word| inverse(&fstype, word)).collect();
        let inverses = rows.iter().map(|row| row.and_then(|row| row.by.clone())).collect::<Option<Vec<_>>>();
        let once = rows.iter().flatten().flat_map(|row| row.with.iter().cloned());
        let replaced = |word: &String| {
            let rival = |old: &&String| options::exclude(SettingKind::MountOptions, old, word);
            let by = inverse(&fstype, word).and_then(|row| row.by.clone());
            match (in_force.iter().find(rival), by) {
                (Some(old), Some(by)) if by.split(',').any(|one| one == old) => Some(by),
                (Some(old), _) => Some(old.clone()),
                (None, by) => by,
            }
        };
        let is_one_way = rows.iter().flatten().any(|row| row.one_way);
        let back = remove.iter().cloned().chain(add.iter().filter_map(replaced));
        let back = (inverses.is_some() && !is_one_way).then(|| back.collect());
        let next: Vec<String> = add.iter().cloned().chain(explicit).chain(once).collect();
        let class = facts.value(mounted, &mount::CLASS);
        Some(Self {
            point: facts.value(mounted, &mount::POINT)?,
            source: facts.value(mounted, &mount::SOURCE).filter(|_| class == Some(MountClass::Block)),
            is_contained: facts
                .value(&Subject::host(), &machine::CONTAINER)
                .is_some_and(|kind| kind != "none"),
            remount: inverses.map(|mut inverses| {
                inverses.dedup();
                [inverses, add.to_vec()].concat()
            }),
            now: options::changed(&in_force, &[], &[], &[]),
            becomes: options::changed(&in_force, &[], &next, &remove),
            fstype,
            add,
            remove,
            back,
        })
    }

    fn apply(&self) -> Vec<Command> {
        self.commands(self.remount.as_deref(), &self.becomes)
    }

    fn undo(&self) -> Vec<Command> {
        self.commands(self.back.as_deref(), &self.now)
    }

    fn verify(&self) -> Option<Command> {
        let shown = |verb: &str, words: &[String]| {
            (!words.is_empty()).then(|| format!("{verb} {}", words.join(", ")))
        };
        let says = [shown("shows", self.add), shown("must not show", &self.remove)];
        let says = says.into_iter().flatten().collect::<Vec<_>>().join("; ");
        Some(Command::new("findmnt -no OPTIONS ").value(&self.point)?.code("   ").remarked(&says))
    }

    /// A remount with these words, else an unmount and a mount with this list.
    fn commands(&self, remount: Option<&[String]>, list: &str) -> Vec<Command> {
        if self.is_contained {
            let outside = "outside the container, which declares this mount: in its volumes, or in the host's /etc/fstab";
            return vec![Command::remark(&format!("{outside}: {list}"))];
        }
        let commands = match remount {
            Some(words) => self.remount(words).map(|command| vec![command]),
            None if self.point == "/" => {
                return vec![Command::remark(&format!(
                    "at the next boot: put {list} in the line of / in /etc/fstab and in rootflags= of the kernel's command line"
                ))];
            }
            None => self.mount_again(list),
        };
        commands.unwrap_or_default()
    }

    fn remount(&self, words: &[String]) -> Option<Command> {
        Command::new("mount -o remount,").value(&words.join(","))?.code(" ").value(&self.point)
    }

    fn mount_again(&self, list: &str) -> Option<Vec<Command>> {
        let unmount = Command::new("umount ").value(&self.point)?.code("   # stop what uses it first");
        let mount = if let Some(source) = &self.source {
            let typed = Command::new("mount -t ").value(&self.fstype)?.code(" -o ").value(list)?;
            typed.code(" ").value(source)?.code(" ").value(&self.point)?
        } else {
            let line = Command::new("mount ").value(&self.point)?;
            line.code("   ").remarked("after this change in its line of /etc/fstab")
        };
        Some(vec![unmount, mount])
    }
}
