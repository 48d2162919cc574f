//! The command that creates an advised file system, from words that are safe in a shell and force
//! nothing.

use super::{Plan, Report, Step, options};
use walwise_judge::validity::mkfs_flag;
use walwise_model::facts::catalog::target::Attribute;
use walwise_model::facts::{Area, Choice as _, Subject};
use walwise_model::quote::Command;
use walwise_model::settings::{NewFilesystem, SettingKind};

/// The step that changes the setting of a kind.
pub fn step(steps: &[Step], kind: SettingKind) -> Option<&Step> {
    steps
        .iter()
        .find(|step| step.advice.setting.kind == kind && !step.keeps())
}

/// The file system that a plan creates on a free disk.
pub struct Chosen {
    /// The type of the file system.
    pub fstype: &'static str,
    /// The sixth field of its fstab line (fstab(5)).
    pub pass: u8,
    pub mount: String,
}

/// The file system that steps make, where it is among those that can be.
pub fn made(steps: &[Step]) -> Option<NewFilesystem> {
    step(steps, SettingKind::Filesystem)?
        .advice
        .change
        .values()
        .first()
        .and_then(|word| NewFilesystem::from_word(word))
}

/// The file system that the steps for a free disk create, and its mount options; the error says why
/// there is none.
pub fn chosen(steps: &[Step]) -> Result<Chosen, String> {
    let advised = step(steps, SettingKind::Filesystem);
    let advised = advised.and_then(|step| step.advice.change.values().first());
    let advised = advised.ok_or("no file system is advised for it")?;
    let made = made(steps).ok_or_else(|| format!("making {advised} is not supported here"))?;
    let pass = match made {
        NewFilesystem::Ext4 => 2,
        NewFilesystem::Xfs | NewFilesystem::Btrfs => 0,
        NewFilesystem::Zfs => {
            return Err("zpool makes ZFS, which mounts its datasets by itself".to_owned());
        }
    };
    let mount = step(steps, SettingKind::MountOptions).and_then(|step| step.result.clone());
    let mount = mount.unwrap_or_else(|| "defaults".to_owned());
    if !plain(&mount, ",=_-.:") {
        return Err(format!("mount options that are not plain words: {mount}"));
    }
    Ok(Chosen {
        fstype: made.word(),
        pass,
        mount,
    })
}

/// Whether a word is literal in a shell: letters, digits and `also`, not empty, no option.
pub fn plain(word: &str, also: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(good)
}

/// `mkfs.ext4 -m 1`, without the device; the error names the mistake in an option.
pub fn command(steps: &[Step], fstype: &str) -> Result<Command, String> {
    let values = |kind| {
        step(steps, kind)
            .into_iter()
            .flat_map(|step| step.advice.change.values())
    };
    let mut words: Vec<String> = values(SettingKind::MkfsOptions).cloned().collect();
    for feature in values(SettingKind::MkfsFeatures) {
        let flag = mkfs_flag(fstype, feature)
            .ok_or_else(|| format!("it is not known how mkfs.{fstype} is told of {feature}"))?;
        words.push(format!("{flag} {feature}"));
    }
    for (at, word) in words.iter().enumerate() {
        if let Some(other) = words
            .iter()
            .skip(at)
            .find(|other| options::exclude(SettingKind::MkfsOptions, word, other))
        {
            return Err(format!(
                "mkfs options that contradict each other: {word}, {other}"
            ));
        }
    }
    let line = options::mkfs_joined(&words);
    let bad = |word: &&str| match word.strip_prefix('-') {
        // -f and -F would make mkfs overwrite what it finds.
        Some(flag) => !plain(flag, "") || flag.contains(['f', 'F']),
        None => !plain(word, "^_,=.:/-"),
    };
    if let Some(word) = line.split_whitespace().find(bad) {
        return Err(format!("a mkfs option that is not a plain word: {word}"));
    }
    let made = Command::new("mkfs.").value(fstype);
    let with = |command: Option<Command>, word: &str| command?.code(" ").option(word);
    let all = line.split_whitespace().fold(made, with);
    all.ok_or_else(|| format!("mkfs options that cannot be written in a command: {line}"))
}

/// The command that asks for a document about a free disk, with the file system that the user
/// wants; `None` where the name of the disk cannot be written.
pub fn asked_again(report: &Report, target: &Subject, format: &'static str) -> Option<Command> {
    let wanted = report.plan(target).and_then(Plan::wanted);
    let ask = Command::check(target.name(), "")?;
    let ask = match wanted {
        Some(wanted) => ask.code(" --fs ").value(wanted.filesystem.word())?,
        None => ask,
    };
    let ask = match report.engine {
        Area::Pg => ask,
        Area::Mysql => ask.code(" --db mysql"),
    };
    report.host.command(ask.code(format))
}

/// Whether a step makes new files be overwritten in place.
pub fn sets_nocow(step: &Step) -> bool {
    step.advice
        .change
        .values()
        .iter()
        .filter_map(|word| Attribute::from_word(word))
        .any(Attribute::is_nocow)
}
