//! The command that creates the planned file system. Its words are safe in a shell, and none forces
//! anything.

use super::{Plan, Report, Step, options};
use walwise_judge::compat::mkfs_flag;
use walwise_model::escape::Command;
use walwise_model::facts::catalog::target::Attribute;
use walwise_model::facts::{Area, Choice as _, Subject};
use walwise_model::settings::{NewFilesystem, SettingKind};

/// The step that changes the setting of a kind.
pub fn changing_step(steps: &[Step], kind: SettingKind) -> Option<&Step> {
    steps
        .iter()
        .find(|step| step.advice.setting.kind == kind && !step.keeps())
}

/// The file system that a plan creates on a free disk.
pub struct PlannedFilesystem {
    /// The type of the file system.
    pub fstype: &'static str,
    /// The sixth field of its fstab line (fstab(5)).
    pub pass: u8,
    pub mount: String,
}

/// The file system that the steps create, if supported.
pub fn new_filesystem(steps: &[Step]) -> Option<NewFilesystem> {
    changing_step(steps, SettingKind::Filesystem)?
        .advice
        .change
        .values()
        .first()
        .and_then(|word| NewFilesystem::from_word(word))
}

/// The file system that the steps for a free disk create, and its mount options; the error says why
/// there is none.
pub fn planned_filesystem(steps: &[Step]) -> Result<PlannedFilesystem, String> {
    let advised = changing_step(steps, SettingKind::Filesystem);
    let advised = advised.and_then(|step| step.advice.change.values().first());
    let advised = advised.ok_or("no file system is recommended for it")?;
    let made =
        new_filesystem(steps).ok_or_else(|| format!("creating {advised} is not supported here"))?;
    let pass = match made {
        NewFilesystem::Ext4 => 2,
        NewFilesystem::Xfs | NewFilesystem::Btrfs => 0,
        NewFilesystem::Zfs => {
            return Err("zpool creates ZFS, which mounts its datasets itself".to_owned());
        }
    };
    let mount =
        changing_step(steps, SettingKind::MountOptions).and_then(|step| step.result.clone());
    let mount = mount.unwrap_or_else(|| "defaults".to_owned());
    if !is_plain_word(&mount, ",=_-.:") {
        return Err(format!("mount options that are not plain words: {mount}"));
    }
    Ok(PlannedFilesystem {
        fstype: made.as_str(),
        pass,
        mount,
    })
}

/// Whether a word is literal in a shell: letters, digits and `also`, not empty, no option.
pub fn is_plain_word(word: &str, also: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(good)
}

/// `mkfs.ext4 -m 1`, without the device; the error names the mistake in an option.
pub fn command(steps: &[Step], fstype: &str) -> Result<Command, String> {
    let values = |kind| {
        changing_step(steps, kind)
            .into_iter()
            .flat_map(|step| step.advice.change.values())
    };
    let mut words: Vec<String> = values(SettingKind::MkfsOptions).cloned().collect();
    for feature in values(SettingKind::MkfsFeatures) {
        let flag = mkfs_flag(fstype, feature)
            .ok_or_else(|| format!("no option of mkfs.{fstype} is known for {feature}"))?;
        words.push(format!("{flag} {feature}"));
    }
    for (at, word) in words.iter().enumerate() {
        if let Some(other) = words
            .iter()
            .skip(at)
            .find(|other| options::are_exclusive(SettingKind::MkfsOptions, word, other))
        {
            return Err(format!(
                "mkfs options that contradict each other: {word}, {other}"
            ));
        }
    }
    let line = options::join_mkfs(&words);
    let bad = |word: &&str| match word.strip_prefix('-') {
        // -f and -F would make mkfs overwrite what it finds.
        Some(flag) => !is_plain_word(flag, "") || flag.contains(['f', 'F']),
        None => !is_plain_word(word, "^_,=.:/-"),
    };
    if let Some(word) = line.split_whitespace().find(bad) {
        return Err(format!("a mkfs option that is not a plain word: {word}"));
    }
    let made = Command::new("mkfs.").value(fstype);
    let with = |command: Option<Command>, word: &str| command?.literal(" ").value_or_option(word);
    let all = line.split_whitespace().fold(made, with);
    all.ok_or_else(|| format!("mkfs options that cannot be written in a command: {line}"))
}

/// The command that makes a document about a free disk, with the requested file system; `None`
/// where the disk's name cannot be quoted.
pub fn recheck_command(report: &Report, target: &Subject, format: &'static str) -> Option<Command> {
    let wanted = report.plan(target).and_then(Plan::wanted);
    let ask = Command::check(target.name(), "")?;
    let ask = match wanted {
        Some(wanted) => ask.literal(" --fs ").value(wanted.filesystem.as_str())?,
        None => ask,
    };
    let ask = match report.engine {
        Area::Pg => ask,
        Area::Mysql => ask.literal(" --db mysql"),
    };
    report.host.command(ask.literal(format))
}

/// Whether a step disables copy-on-write for new files.
pub fn sets_nocow(step: &Step) -> bool {
    step.advice
        .change
        .values()
        .iter()
        .filter_map(|word| Attribute::from_word(word))
        .any(Attribute::is_nocow)
}
