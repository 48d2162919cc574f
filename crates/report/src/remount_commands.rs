//! Commands that change a mounted file system.
//!
//! One remount suffices if every removed option has a known inverse ([`find_remount_inverse`]).
//! Otherwise the file system is unmounted, and mounted with the full list of options. A change of
//! file system features always needs an unmount.
//!
//! The root file system cannot be unmounted, and the mounts of a container are configured outside
//! it. In both cases a shell comment names the place to edit.

use super::{mount_and_mkfs_options, stack};
use walwise_judge::compat::find_remount_inverse;
use walwise_judge::rules::{Advice, Change, Risk};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::host;
use walwise_model::facts::catalog::mount::{self, MountClass};
use walwise_model::facts::{FactSet, Subject};
use walwise_model::settings::{PresentOrBootMount, SettingKind};
use walwise_model::text::JoinText;

/// Adds the commands that change mount options, after the rule's own commands. Raises the risk if
/// an unmount is needed.
pub fn add_remount_commands_to_advice(advice: &mut Advice, facts: &FactSet, mounted: &Subject) {
    if advice.change == Change::Keep || !advice.own.is_empty() {
        return;
    }
    let place = MountedFilesystem::from_facts(facts, mounted);
    let (Some(place), Some(in_force)) = (place, stack::mount_options(facts, mounted)) else {
        return;
    };
    let now = mount_and_mkfs_options::explicit_options_after_change(&in_force, &[], &[], &[]);
    if advice.setting.kind == SettingKind::FastCommit {
        for commands in [&mut advice.apply, &mut advice.undo] {
            *commands = place.wrap_between_unmount_and_mount(commands, &now);
        }
    }
    if advice.setting.kind.present_or_boot_mount() != Some(PresentOrBootMount::Now) {
        return;
    }
    let hidden = hidden_default_options(facts, mounted, advice.change.removed_options());
    let change = MountOptionChange::new(&place.fstype, &in_force, &hidden, &advice.change);
    if change.add.is_empty() && change.remove.is_empty() {
        return;
    }
    if advice.risk != Risk::DataLossIfWrong && change.remount.is_none() {
        advice.risk = Risk::NeedsUnmount;
    }
    let becomes = mount_and_mkfs_options::explicit_options_after_change(
        &in_force,
        &[],
        &change.mount_options,
        &change.remove,
    );
    advice
        .apply
        .extend(place.mount_option_change_commands(change.remount.as_deref(), &becomes));
    advice
        .undo
        .extend(place.mount_option_change_commands(change.undo_remount.as_deref(), &now));
    advice
        .verify
        .extend(place.verify_mount_options_command(&change));
}

/// The options that must be added to override the defaults that the change removes. Defaults of the
/// superblock (tune2fs -o) and of the driver are not in mountinfo.
pub fn overrides_of_removed_defaults(
    facts: &FactSet,
    mounted: &Subject,
    change: &Change,
) -> Vec<String> {
    let fstype = facts.value(mounted, &mount::FSTYPE).unwrap_or_default();
    options_overriding_hidden_defaults(
        &fstype,
        &hidden_default_options(facts, mounted, change.removed_options()),
    )
}

fn options_overriding_hidden_defaults(fstype: &str, hidden: &[String]) -> Vec<String> {
    let rows = hidden
        .iter()
        .filter_map(|word| find_remount_inverse(fstype, word));
    let mut words: Vec<String> = rows
        .flat_map(|row| {
            row.by
                .clone()
                .map_or_else(|| row.with.clone(), |by| vec![by])
        })
        .collect();
    words.dedup();
    words
}

/// The options of `words` that are in force as a default of the file system. If no source lists any
/// option of `words`, the driver sets the default, such as no barriers in ext3. Only the first
/// option that a remount can revert is then returned.
fn hidden_default_options(facts: &FactSet, mounted: &Subject, words: &[String]) -> Vec<String> {
    let shown = stack::mount_options(facts, mounted).unwrap_or_default();
    let all = facts
        .value(mounted, &mount::EXT4_OPTIONS)
        .unwrap_or_default();
    let is_hidden = |word: &&String| all.contains(word) && !shown.contains(word);
    let listed: Vec<String> = words.iter().filter(is_hidden).cloned().collect();
    if !listed.is_empty() || words.iter().any(|word| shown.contains(word)) {
        return listed;
    }
    let fstype = facts.value(mounted, &mount::FSTYPE).unwrap_or_default();
    let is_taken_back =
        |word: &&String| find_remount_inverse(&fstype, word).is_some_and(|row| row.by.is_some());
    words
        .iter()
        .find(is_taken_back)
        .cloned()
        .into_iter()
        .collect()
}

struct MountOptionChange<'a> {
    add: &'a [String],
    /// The options in force that the change removes.
    remove: Vec<String>,
    /// Options for a mount after an unmount: `add`, and options that override removed defaults.
    mount_options: Vec<String>,
    /// `None` if an unmount is needed.
    remount: Option<Vec<String>>,
    undo_remount: Option<Vec<String>>,
}

impl<'a> MountOptionChange<'a> {
    fn new(fstype: &str, in_force: &[String], hidden: &[String], change: &'a Change) -> Self {
        let add = change.set_or_added_values();
        let shown = change
            .removed_options()
            .iter()
            .filter(|word| in_force.contains(word));
        let remove: Vec<String> = shown.chain(hidden).cloned().collect();
        let rows: Vec<_> = remove
            .iter()
            .map(|word| find_remount_inverse(fstype, word))
            .collect();
        let inverses = rows
            .iter()
            .map(|row| row.and_then(|row| row.by.clone()))
            .collect::<Option<Vec<_>>>();
        let remount = inverses.map(|mut words| {
            words.dedup();
            [words, add.to_vec()].concat()
        });
        let replaced = |word: &String| {
            let rival = |old: &&String| {
                mount_and_mkfs_options::are_exclusive_options(SettingKind::MountOptions, old, word)
            };
            let by = find_remount_inverse(fstype, word).and_then(|row| row.by.clone());
            match (in_force.iter().find(rival), by) {
                (Some(old), Some(by)) if by.split(',').any(|one| one == old) => Some(by),
                (Some(old), _) => Some(old.clone()),
                (None, by) => by,
            }
        };
        let is_one_way = rows.iter().flatten().any(|row| row.one_way);
        let undo_remount = remount.as_ref().filter(|_| !is_one_way).map(|_| {
            remove
                .iter()
                .cloned()
                .chain(add.iter().filter_map(replaced))
                .collect()
        });
        let once = rows
            .iter()
            .flatten()
            .flat_map(|row| row.with.iter().cloned());
        let mount_options = add
            .iter()
            .cloned()
            .chain(options_overriding_hidden_defaults(fstype, hidden))
            .chain(once)
            .collect();
        Self {
            add,
            remove,
            mount_options,
            remount,
            undo_remount,
        }
    }
}

struct MountedFilesystem {
    point: String,
    fstype: String,
    /// The source, if it is a block device; any other mount is repeated from its line in fstab.
    source: Option<String>,
    is_contained: bool,
}

impl MountedFilesystem {
    fn from_facts(facts: &FactSet, mounted: &Subject) -> Option<Self> {
        let is_block = facts.value(mounted, &mount::CLASS) == Some(MountClass::Block);
        Some(Self {
            point: facts.value(mounted, &mount::POINT)?,
            fstype: facts.value(mounted, &mount::FSTYPE)?,
            source: facts.value(mounted, &mount::SOURCE).filter(|_| is_block),
            is_contained: facts
                .host_value(&host::CONTAINER)
                .is_some_and(|kind| kind != "none"),
        })
    }

    fn mount_option_change_commands(
        &self,
        remount: Option<&[String]>,
        list: &str,
    ) -> Vec<ShellCommand> {
        if self.is_contained {
            return vec![ShellCommand::from_comment(&format!(
                "set outside the container, in its volume options or in the host's /etc/fstab: {list}"
            ))];
        }
        let commands = match remount {
            Some(words) => self.remount_command(words).map(|command| vec![command]),
            None if self.point == "/" => Some(vec![ShellCommand::from_comment(&format!(
                "for the next boot: put {list} in the line for / in /etc/fstab and in rootflags= on the kernel command line"
            ))]),
            None => self.unmount_and_mount_commands(list).map(Vec::from),
        };
        commands.unwrap_or_default()
    }

    fn wrap_between_unmount_and_mount(
        &self,
        commands: &[ShellCommand],
        list: &str,
    ) -> Vec<ShellCommand> {
        let elsewhere = |place: &str| {
            let lines = commands.iter().join_with("; ");
            vec![ShellCommand::from_comment(&format!("{place}: {lines}"))]
        };
        match self.unmount_and_mount_commands(list) {
            _ if commands.is_empty() => Vec::new(),
            _ if self.is_contained => {
                elsewhere("on the container's host, with the file system unmounted")
            }
            _ if self.point == "/" => elsewhere("from a rescue system"),
            Some([unmount, mount]) => [&[unmount], commands, &[mount]].concat(),
            None => Vec::new(),
        }
    }

    fn remount_command(&self, words: &[String]) -> Option<ShellCommand> {
        ShellCommand::new("mount -o remount,")
            .append_quoted_name(&words.join(","))?
            .append_literal(" ")
            .append_quoted_name(&self.point)
    }

    fn unmount_and_mount_commands(&self, list: &str) -> Option<[ShellCommand; 2]> {
        let unmount = ShellCommand::new("umount ")
            .append_quoted_name(&self.point)?
            .append_literal("   # first stop all processes that use it");
        let mount = if let Some(source) = &self.source {
            ShellCommand::new("mount -t ")
                .append_quoted_name(&self.fstype)?
                .append_literal(" -o ")
                .append_quoted_name(list)?
                .append_literal(" ")
                .append_quoted_name(source)?
                .append_literal(" ")
                .append_quoted_name(&self.point)?
        } else {
            let line = ShellCommand::new("mount ").append_quoted_name(&self.point)?;
            line.with_trailing_comment("after changing its line in /etc/fstab")
        };
        Some([unmount, mount])
    }

    fn verify_mount_options_command(&self, change: &MountOptionChange<'_>) -> Option<ShellCommand> {
        let lists = [
            ("must show", change.add),
            ("must not show", change.remove.as_slice()),
        ];
        let says = lists
            .into_iter()
            .filter(|(_, words)| !words.is_empty())
            .map(|(verb, words)| format!("{verb} {}", words.join(", ")))
            .join_with("; ");
        Some(
            ShellCommand::new("findmnt -no OPTIONS ")
                .append_quoted_name(&self.point)?
                .with_trailing_comment(&says),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;
    use walwise_model::facts::Source;

    #[test]
    fn feature_change_runs_while_unmounted() {
        for (point, container, expected) in [
            (
                "/data",
                "none",
                "umount /data   # first stop all processes that use it|tune2fs x|mount -t ext4 -o \
                 rw /dev/sda /data",
            ),
            ("/", "none", "# from a rescue system: tune2fs x"),
            (
                "/data",
                "docker",
                "# on the container's host, with the file system unmounted: tune2fs x",
            ),
        ] {
            let (mut facts, mounted) = (FactSet::default(), Subject::mount(point));
            let from = || Source::from_file("test");
            facts.insert_known(
                &Subject::host(),
                &host::CONTAINER,
                container.to_owned(),
                from(),
            );
            facts.insert_known(&mounted, &mount::POINT, point.to_owned(), from());
            facts.insert_known(&mounted, &mount::FSTYPE, "ext4".to_owned(), from());
            facts.insert_known(&mounted, &mount::SOURCE, "/dev/sda".to_owned(), from());
            facts.insert_known(&mounted, &mount::CLASS, MountClass::Block, from());
            facts.insert_known(
                &mounted,
                &mount::OPTIONS,
                sample_reports::split_at_commas("rw"),
                from(),
            );
            let change = Change::Set("off".to_owned());
            let mut advice = Advice {
                apply: vec![ShellCommand::new("tune2fs x")],
                ..sample_reports::advice_without_current_value("ext4.fast_commit", change)
            };
            add_remount_commands_to_advice(&mut advice, &facts, &mounted);
            let lines: Vec<&str> = advice.apply.iter().map(ShellCommand::as_str).collect();
            assert_eq!(lines.join("|"), expected);
        }
    }
}
