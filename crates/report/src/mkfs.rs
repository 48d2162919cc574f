//! The mkfs command of a plan. Every word of the command is literal in a shell, and the force
//! options `-f` and `-F` are refused.

use super::{Plan, Report, Step, mount_and_mkfs_options};
use walwise_judge::compat::mkfs_flag;
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::target::InodeFlag;
use walwise_model::facts::{Choice as _, ServerArea, Subject};
use walwise_model::settings::{NewFilesystem, SettingKind};

pub fn find_step_changing_setting(steps: &[Step], kind: SettingKind) -> Option<&Step> {
    steps
        .iter()
        .find(|step| step.advice.setting.kind == kind && !step.keeps_setting())
}

pub struct PlannedFilesystem {
    pub fstype: &'static str,
    /// The sixth field of the fstab line, the fsck order (fstab(5)).
    pub pass: u8,
    pub mount: String,
}

/// The file system that the steps create; `None` if they create none, or one of a type that walwise
/// cannot create.
pub fn planned_filesystem_kind(steps: &[Step]) -> Option<NewFilesystem> {
    find_step_changing_setting(steps, SettingKind::Filesystem)?
        .advice
        .change
        .set_or_added_values()
        .first()
        .and_then(|word| NewFilesystem::from_word(word))
}

/// Type, fsck order and mount options of the file system that the steps create. The error is the
/// reason why no file system can be created.
pub fn planned_filesystem(steps: &[Step]) -> Result<PlannedFilesystem, String> {
    let advised = find_step_changing_setting(steps, SettingKind::Filesystem)
        .and_then(|step| step.advice.change.set_or_added_values().first())
        .ok_or("no file system is recommended for this disk")?;
    let made =
        planned_filesystem_kind(steps).ok_or_else(|| format!("walwise cannot create {advised}"))?;
    let pass = match made {
        NewFilesystem::Ext4 => 2,
        NewFilesystem::Xfs | NewFilesystem::Btrfs => 0,
        NewFilesystem::Zfs => {
            return Err(
                "ZFS pools are created with zpool, and ZFS mounts its datasets without fstab"
                    .to_owned(),
            );
        }
    };
    let mount = find_step_changing_setting(steps, SettingKind::MountOptions)
        .and_then(|step| step.result.clone())
        .unwrap_or_else(|| "defaults".to_owned());
    if !is_shell_literal_word(&mount, ",=_-.:") {
        return Err(format!(
            "mount options with characters that need quoting: {mount}"
        ));
    }
    Ok(PlannedFilesystem {
        fstype: made.as_str(),
        pass,
        mount,
    })
}

/// True if a shell takes the word literally. It is not empty, has only ASCII letters, digits and
/// characters of `also`, and does not begin with `-`.
pub fn is_shell_literal_word(word: &str, also: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(good)
}

/// Builds the mkfs command without the device, such as `mkfs.ext4 -m 1`. The error names the
/// invalid option.
pub fn mkfs_command(steps: &[Step], fstype: &str) -> Result<ShellCommand, String> {
    let values = |kind| {
        find_step_changing_setting(steps, kind)
            .into_iter()
            .flat_map(|step| step.advice.change.set_or_added_values())
    };
    let mut words: Vec<String> = values(SettingKind::MkfsOptions).cloned().collect();
    for feature in values(SettingKind::MkfsFeatures) {
        let flag = mkfs_flag(fstype, feature)
            .ok_or_else(|| format!("no mkfs.{fstype} option is known for {feature}"))?;
        words.push(format!("{flag} {feature}"));
    }
    for (at, word) in words.iter().enumerate() {
        if let Some(other) = words.iter().skip(at).find(|other| {
            mount_and_mkfs_options::are_exclusive_options(SettingKind::MkfsOptions, word, other)
        }) {
            return Err(format!(
                "mkfs options that exclude each other: {word}, {other}"
            ));
        }
    }
    let line = mount_and_mkfs_options::merge_mkfs_options(&words);
    let bad = |word: &&str| match word.strip_prefix('-') {
        // -f and -F would make mkfs overwrite existing data.
        Some(flag) => !is_shell_literal_word(flag, "") || flag.contains(['f', 'F']),
        None => !is_shell_literal_word(word, "^_,=.:/-"),
    };
    if let Some(word) = line.split_whitespace().find(bad) {
        return Err(format!(
            "a mkfs option that is unsafe or cannot be quoted: {word}"
        ));
    }
    let made = ShellCommand::new("mkfs.").append_quoted_name(fstype);
    let with = |command: Option<ShellCommand>, word: &str| {
        command?
            .append_literal(" ")
            .append_quoted_name_even_with_dash(word)
    };
    line.split_whitespace()
        .fold(made, with)
        .ok_or_else(|| format!("mkfs options that cannot be quoted in a command: {line}"))
}

/// `format` is a suffix of the command and begins with a blank. `None` if the target's name or an
/// option cannot be quoted for a shell.
pub fn walwise_check_command_for_disk(
    report: &Report,
    target: &Subject,
    format: &'static str,
) -> Option<ShellCommand> {
    let wanted = report
        .plan(target)
        .and_then(Plan::accepted_filesystem_request);
    let ask = ShellCommand::walwise_check_command(target.name(), "")?;
    let ask = match wanted {
        Some(wanted) => ask
            .append_literal(" --fs ")
            .append_quoted_name(wanted.filesystem.as_str())?,
        None => ask,
    };
    let ask = match report.engine {
        ServerArea::Pg => ask,
        ServerArea::Mysql => ask.append_literal(" --db mysql"),
    };
    report
        .host
        .append_run_options_to_command(ask.append_literal(format))
}

/// True if the step disables copy-on-write for new files in the directory (`chattr +C`).
pub fn sets_nocow(step: &Step) -> bool {
    step.advice
        .change
        .set_or_added_values()
        .iter()
        .filter_map(|word| InodeFlag::from_word(word))
        .any(InodeFlag::is_nocow)
}
