//! The checks before a trial, the estimate of its costs, and the user's consent.

pub(super) mod disk {
    use std::io::{self, IsTerminal as _};
    use std::path::Path;

    use super::{
        TrialPlan, plan_trial_at_place, read_stdin_line, refuse, refuse_disk_of_running_server,
    };
    use crate::cli::args::TrialArgs;
    use crate::cli::{CliError, host, out};
    use crate::escape::ShellCommand;
    use crate::facts::catalog::device;
    use crate::facts::{FactSet, Scope, Subject};
    use crate::text;
    use crate::trial_runner::{self, EraseTarget, InspectedDisk, TrialPlace};

    /// The signatures that an interrupted trial can leave on a disk. A disk with any other
    /// signature is not cleared.
    const TRIAL_SIGNATURES: [&str; 8] = [
        "walwise trial",
        "ext2",
        "ext3",
        "ext4",
        "ext backup superblock",
        "xfs",
        "xfs allocation group",
        "btrfs",
    ];

    /// Checks a trial on a disk and plans it, without writing anything.
    pub(super) fn plan_disk_trial(args: &TrialArgs, path: &Path) -> Result<TrialPlan, CliError> {
        let spare = inspect_spare_disk(args, path)?;
        let node = spare.target.node.clone();
        if args.yes {
            return refuse(format!(
                "--yes applies only to a directory: to erase {node}, pass --erase with {}",
                erase_id_text(&spare.target)
            ));
        }
        check_erase_id_matches(&spare.target, args.erase.as_deref())?;
        if spare.leftover_mark.is_some() {
            return refuse(leftover_refusal_text(&spare));
        }
        let (facts, target, disk) = collect_facts_with_target_and_disk(&spare)?;
        if let Some(why) = trial_runner::erase_refusal_by_facts(&facts, &disk) {
            return refuse(format!("{node} {why}; nothing was written"));
        }
        if let Some(why) = spare.erase_refusal_after_wait(args.size << 20) {
            return refuse(format!("{why}; nothing was written"));
        }
        if !args.force {
            refuse_disk_of_running_server(&facts, &target)?;
        }
        if args.erase.is_none() && !io::stdin().is_terminal() {
            return refuse(no_terminal_refusal_text(&spare.target, args.size << 20));
        }
        let order = spare.target.clone();
        // The disk must be closed before the trial opens it again and locks it.
        drop(spare);
        plan_trial_at_place(
            args,
            &facts,
            &target,
            TrialPlace::Disk(order),
            String::new(),
        )
    }

    pub(in crate::cli::trial) fn inspect_and_confirm_disk_clear(
        args: &TrialArgs,
    ) -> Result<EraseTarget, CliError> {
        let path = host::absolute_path(&args.target)?;
        let spare = inspect_spare_disk(args, &path)?;
        let node = spare.target.node.clone();
        let Some(mark) = &spare.leftover_mark else {
            return refuse(format!("there is no trial data on {node}"));
        };
        if let Some(why) = spare.clear_refusal {
            return refuse(format!("{node} is not cleared: {why}"));
        }
        let bytes = mark.bytes;
        let (facts, _, disk) = collect_facts_with_target_and_disk(&spare)?;
        let others = facts.value(&disk, &device::SIGNATURES).map(|mut found| {
            found.retain(|name| !TRIAL_SIGNATURES.contains(&name.as_str()));
            found
        });
        let why = match others.as_deref() {
            None => Some("could not be read, so it may hold other data".to_owned()),
            Some([]) => trial_runner::clear_refusal_by_facts(&facts, &disk),
            Some(others) => Some(format!(
                "holds {}, which a trial never creates",
                others.join(", ")
            )),
        };
        if let Some(why) = why {
            return refuse(format!("{node} {why}; nothing was written"));
        }
        if let Some(why) = spare.erase_refusal_after_wait(bytes) {
            return refuse(format!("{why}; nothing was written"));
        }
        check_erase_id_matches(&spare.target, args.erase.as_deref())?;
        confirm_disk_erase(&spare.target, args.erase.as_deref(), bytes)?;
        Ok(spare.target)
    }

    fn inspect_spare_disk(args: &TrialArgs, path: &Path) -> Result<InspectedDisk, CliError> {
        if !rustix::process::geteuid().is_root() {
            return refuse("only root can erase a disk: run walwise as root".to_owned());
        }
        let Some(node) = path.to_str() else {
            return refuse(format!("{} is not a device", super::display_path(path)));
        };
        // `is_dir` is called only below /dev, because it can hang on another file system.
        if args.clear && (!node.starts_with("/dev/") || path.is_dir()) {
            return refuse(format!(
                "--clear requires a disk; {} is not a disk",
                super::display_path(path)
            ));
        }
        InspectedDisk::inspect(node)
            .map_err(|why| CliError::Usage(text::display_safe(why.as_bytes())))
    }

    fn collect_facts_with_target_and_disk(
        spare: &InspectedDisk,
    ) -> Result<(FactSet, Subject, Subject), CliError> {
        let EraseTarget { node, number, .. } = &spare.target;
        let session = host::collect_live_session(Some(Path::new(node)))?;
        let facts = session.facts;
        let target = facts.subjects_of_scope(Scope::Target).next().cloned();
        let disk = target
            .as_ref()
            .and_then(|target| facts.applicable_subject(target, Scope::Device));
        let (Some(target), Some(disk)) = (target, disk) else {
            return refuse(format!("{node} is not a known device"));
        };
        let number = format!(
            "{}:{}",
            rustix::fs::major(*number),
            rustix::fs::minor(*number)
        );
        if facts.value(&disk, &device::DEVNO) != Some(number) {
            return refuse(format!(
                "{node} changed to another device during the check; nothing was written"
            ));
        }
        Ok((facts, target, disk))
    }

    fn erase_id_text(order: &EraseTarget) -> String {
        format!(
            "its {} {}",
            order.known_by.kind_name(),
            order.known_by.as_str()
        )
    }

    fn check_erase_id_matches(order: &EraseTarget, erase: Option<&str>) -> Result<(), CliError> {
        match erase {
            Some(word) if !order.known_by.matches_typed_id(word) => refuse(format!(
                "{} is not the {} of {}; nothing was written",
                text::display_safe(word.as_bytes()),
                order.known_by.kind_name(),
                order.node
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn no_terminal_refusal_text(order: &EraseTarget, bytes: u64) -> String {
        let again =
            trial_erase_command(order, "").map_or_else(String::new, |line| format!(": {line}"));
        format!(
            "nothing was written: the trial would erase the first {} and the last MiB of {}; to confirm, pass --erase with \
         {}{again}",
            text::format_bytes(bytes),
            order.node,
            erase_id_text(order)
        )
    }

    fn trial_erase_command(order: &EraseTarget, more: &'static str) -> Option<ShellCommand> {
        let line = ShellCommand::new("walwise trial ")
            .append_quoted_name(&order.node)?
            .append_literal(" --erase ");
        Some(
            line.append_quoted_name(order.known_by.as_str())?
                .append_literal(more),
        )
    }

    pub(in crate::cli::trial) fn clear_disk_command(order: &EraseTarget) -> String {
        ShellCommand::text_or_placeholder(trial_erase_command(order, " --clear"))
    }

    fn leftover_refusal_text(spare: &InspectedDisk) -> String {
        let node = &spare.target.node;
        match spare.clear_refusal {
            Some(why) => {
                format!("{node} has the mark of an earlier trial; {why}; nothing was written")
            }
            None => format!(
                "{node} still holds data of an interrupted trial; nothing was written. To clear the disk: {}",
                clear_disk_command(&spare.target)
            ),
        }
    }

    pub(super) fn confirm_disk_erase(
        order: &EraseTarget,
        erase: Option<&str>,
        bytes: u64,
    ) -> Result<(), CliError> {
        let agrees = match erase {
            Some(word) => order.known_by.matches_typed_id(word),
            None if io::stdin().is_terminal() => {
                out::print_notice(&format!(
                    "walwise will erase the first {} and the last MiB of {}; to confirm, type {}",
                    text::format_bytes(bytes),
                    order.node,
                    erase_id_text(order)
                ));
                read_stdin_line().is_some_and(|answer| order.known_by.matches_typed_id(&answer))
            }
            None => return refuse(no_terminal_refusal_text(order, bytes)),
        };
        if agrees {
            Ok(())
        } else {
            refuse("nothing was written".to_owned())
        }
    }
}

use std::io::{self, IsTerminal as _};
use std::path::Path;

use super::refuse;
use crate::cli::args::TrialArgs;
use crate::cli::{CliError, host, out};
use crate::drill::StackFacts;
use crate::escape::ShellCommand;
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Scope, Subject};
use crate::probes::wear;
use crate::safe_path::random_u64;
use crate::session::now_rfc3339;
use crate::text::{self, display_path};
use crate::trial::{
    Candidate, ExtentKind, FORMAT_VERSION, INTERIM_BLOCKS, TrialLoad, TrialRecord, TrialState,
};
use crate::trial_runner::{self, TrialJob, TrialPlace};
use walwise_model::text::JoinText as _;

pub(super) struct TrialPlan {
    pub(super) job: TrialJob,
    /// Candidates in the order of the record; the first is the reference.
    pub(super) candidates: Vec<Candidate>,
    /// The record of the trial, to which candidates and blocks are added later.
    pub(super) record: TrialRecord,
    /// Capacity of the smallest flash disk below the target, in bytes.
    smallest_disk_bytes: Option<u64>,
}

/// Checks a trial and plans it, without writing anything.
pub(super) fn plan_trial(args: &TrialArgs) -> Result<TrialPlan, CliError> {
    let target = host::absolute_path(&args.target)?;
    if !rustix::process::geteuid().is_root() {
        return refuse("a trial creates and mounts file systems: run it as root".to_owned());
    }
    // `is_dir` is called only below /dev, because stat(2) on another file system can hang.
    if target.starts_with("/dev") && !target.is_dir() {
        disk::plan_disk_trial(args, &target)
    } else {
        plan_directory_trial(args, &target)
    }
}

fn plan_directory_trial(args: &TrialArgs, directory: &Path) -> Result<TrialPlan, CliError> {
    if args.erase.is_some() || args.clear {
        let shown = display_path(directory);
        return refuse(format!(
            "{shown} is not a disk: --erase and --clear apply only to a disk"
        ));
    }
    let session = host::collect_live_session(Some(directory))?;
    let facts = &session.facts;
    let Some(target) = facts.subjects_of_scope(Scope::Target).next().cloned() else {
        return refuse(format!(
            "the file system of {} could not be determined",
            display_path(directory)
        ));
    };
    check_target_is_on_local_disk(facts, &target)?;
    // The directory is opened only after `check_target_is_on_local_disk`, because a network or FUSE
    // file system can hang.
    let place =
        trial_runner::LoopFileDirectory::open_and_check(directory).map_err(CliError::Usage)?;
    if !args.force {
        refuse_disk_of_running_server(facts, &target)?;
    }
    let bytes = args.size << 20;
    if !place.free_space.leaves_enough_space(bytes) {
        return refuse(format!(
            "{} has {} free; the trial needs {}, and 20 % of the file system (at least 5 GiB) must stay free; \
             choose a smaller --size or another directory",
            display_path(directory),
            text::format_bytes(place.free_space.free),
            text::format_bytes(bytes + trial_runner::TAIL_BYTES)
        ));
    }
    let filesystem = facts
        .applicable_subject(&target, Scope::Mount)
        .and_then(|on| facts.value(&on, &mount::FSTYPE));
    let filesystem = filesystem.unwrap_or_else(|| "an unknown file system".to_owned());
    let place = TrialPlace::Directory(directory.into());
    plan_trial_at_place(args, facts, &target, place, filesystem)
}

fn plan_trial_at_place(
    args: &TrialArgs,
    facts: &FactSet,
    target: &Subject,
    place: TrialPlace,
    host_filesystem: String,
) -> Result<TrialPlan, CliError> {
    let bytes = args.size << 20;
    let (extent, directory) = match &place {
        TrialPlace::Directory(directory) => (ExtentKind::Loop, text::display_safe(&directory.0)),
        TrialPlace::Disk(disk) => (ExtentKind::Disk, disk.node.clone()),
    };
    let candidates = candidates_with_installed_mkfs(&args.candidates)?;
    let leaves: Vec<String> = facts
        .distinct_bottom_disks(target)
        .iter()
        .map(|disk| disk.name().to_owned())
        .collect();
    let seed = args.seed.unwrap_or_else(random_u64);
    let record = TrialRecord {
        trial: FORMAT_VERSION,
        walwise: env!("CARGO_PKG_VERSION").to_owned(),
        started: now_rfc3339(),
        ending: TrialState::Running,
        seconds: 0.0,
        budget: args.budget,
        seed,
        extent,
        directory,
        bytes,
        host_filesystem,
        leaves: leaves.clone(),
        stack: StackFacts::from_facts(facts, target)
            .to_string()
            .lines()
            .map(str::to_owned)
            .collect(),
        load_seconds: args.seconds,
        loads: TrialLoad::preset_loads(args.preset, &args.clients),
        candidates: Vec::new(),
        blocks: Vec::new(),
    };
    let smallest_disk_bytes =
        wear::smallest_wearing_disk_bytes(&facts.bottom_devices(target), facts);
    Ok(TrialPlan {
        job: TrialJob {
            place,
            bytes,
            seed,
            leaves,
            budget: args.budget,
            writes: args.writes << 30,
        },
        candidates,
        record,
        smallest_disk_bytes,
    })
}

fn check_target_is_on_local_disk(facts: &FactSet, target: &Subject) -> Result<(), CliError> {
    let name = target.name();
    if facts
        .value(target, &target::KIND)
        .is_some_and(TargetKind::is_device)
    {
        return Ok(());
    }
    let mount = facts.applicable_subject(target, Scope::Mount);
    let why = match mount.and_then(|mount| facts.value(&mount, &mount::CLASS)) {
        Some(MountClass::Block) => return Ok(()),
        Some(MountClass::Memory) => "is on a file system in memory, so there is no disk to test",
        Some(MountClass::Network) => "is on a network file system",
        Some(MountClass::Fuse) => "is on a FUSE file system",
        Some(MountClass::Overlay) => "is on an overlay (container)",
        Some(MountClass::Zfs) => {
            "is on ZFS, which in most releases does not support direct I/O on loop files"
        }
        Some(MountClass::Other) => "is not on a disk of this host",
        None => "is on a file system that could not be read",
    };
    refuse(format!("{name} {why}; specify a directory on ext4 or XFS"))
}

fn candidates_with_installed_mkfs(asked: &[Candidate]) -> Result<Vec<Candidate>, CliError> {
    let usual = asked.is_empty();
    let all = if usual {
        Candidate::DEFAULTS.as_slice()
    } else {
        asked
    };
    let mut found = Vec::new();
    for candidate in all.iter().copied() {
        let Some(maker) = trial_runner::mkfs_program(candidate.filesystem()) else {
            continue;
        };
        match maker.find_program_path() {
            Ok(_) if found.contains(&candidate) => {
                return refuse(format!(
                    "{} is specified twice; specify each candidate once",
                    candidate.name()
                ));
            }
            Ok(_) => found.push(candidate),
            Err(miss) if usual => {
                out::print_notice(&format!(
                    "{} is skipped, because it needs {} ({miss})",
                    candidate.name(),
                    maker.as_str()
                ));
            }
            Err(miss) => {
                return refuse(format!(
                    "{} needs {} ({miss}); install {}",
                    candidate.name(),
                    maker.as_str(),
                    maker.package()
                ));
            }
        }
    }
    match found.first() {
        Some(first) if found.len() == 1 => refuse(format!(
            "{} alone cannot be compared: specify another candidate",
            first.name()
        )),
        Some(first) if first.has_barriers() => Ok(found),
        Some(first) => refuse(format!(
            "{} cannot be the first candidate, because it can lose commits: specify another \
             candidate first",
            first.name()
        )),
        None => refuse(
            "no mkfs program was found: install e2fsprogs, xfsprogs or btrfs-progs".to_owned(),
        ),
    }
}

fn refuse_disk_of_running_server(here: &FactSet, target: &Subject) -> Result<(), CliError> {
    let session = host::collect_live_session(None)?;
    let all = &session.facts;
    let ours = here.distinct_bottom_disks(target);
    let runs = |other: &&Subject| {
        let server = all.applicable_subject(other, Scope::Cluster);
        server.is_some_and(|server| {
            all.value(&server, all.database_profile_or_postgres(&server).running) != Some(false)
        })
    };
    for other in all.subjects_of_scope(Scope::Target).filter(runs) {
        let theirs = all.distinct_bottom_disks(other);
        // If the disk of either directory is unknown, both may be on the same disk.
        let is_unknown = ours.is_empty() || theirs.is_empty();
        if is_unknown || theirs.iter().any(|disk| ours.contains(disk)) {
            let is = if is_unknown { "may be" } else { "is" };
            return refuse(format!(
                "{} belongs to a database server and {is} on the same disk; a trial would slow the server down. Use \
                 --force to run the trial anyway",
                other.name()
            ));
        }
    }
    Ok(())
}

/// Estimates how many blocks fit into the time budget, with 2 s per mkfs and 20 % overhead per
/// load. A block measures the first candidate twice, and every other candidate once.
fn blocks_within_budget(plan: &TrialPlan) -> f64 {
    let record = &plan.record;
    let cell = 2.0 + 1.2 * record.load_seconds * record.loads.len() as f64;
    record.budget / (cell * (plan.candidates.len() + 1) as f64)
}

fn trial_cost_lines(plan: &TrialPlan) -> Vec<String> {
    let record = &plan.record;
    let names = plan.candidates.iter().map(|candidate| candidate.name());
    let threads = match record.loads.iter().map(|load| load.clients).max() {
        None | Some(1) => "1 thread".to_owned(),
        Some(most) => format!("{most} threads"),
    };
    let all = text::format_bytes(plan.job.writes);
    let disks = if record.leaves.is_empty() {
        "its disk".to_owned()
    } else {
        record.leaves.join(", ")
    };
    let mut lines = vec![format!(
        "the trial of {} takes at most {} and uses {threads} and about 100 MiB of memory",
        names.join_with(", "),
        duration_text(record.budget)
    )];
    match &plan.job.place {
        TrialPlace::Directory(_) => lines.push(format!(
            "the trial writes a loop file of {} in {}, and at most {all} in total to {disks}",
            text::format_bytes(record.bytes + trial_runner::TAIL_BYTES),
            record.directory
        )),
        TrialPlace::Disk(disk) => {
            let first = text::format_bytes(record.bytes);
            lines.push(format!(
                "the trial reads the first {first} and the last MiB of {}, then erases them",
                disk.node
            ));
            lines.push(format!(
                "the trial writes at most {all} in total to {disks}; clearing the disk afterwards \
                 takes extra time"
            ));
        }
    }
    if let Some(size) = plan.smallest_disk_bytes {
        lines.push(format!(
            "writing this amount {}",
            wear::wear_text(plan.job.writes, size)
        ));
    }
    lines.push(
        "the trial slows down other I/O on this disk and removes its own data at the end"
            .to_owned(),
    );
    let blocks = blocks_within_budget(plan).floor();
    let least = INTERIM_BLOCKS.first().copied().unwrap_or_default() as f64;
    if blocks < least {
        let counted = if (1.0..2.0).contains(&blocks) {
            "1 block".to_owned()
        } else {
            format!("{blocks:.0} blocks")
        };
        lines.push(format!(
            "the budget allows about {counted}; a result needs {least}: use a longer --budget, or fewer --candidates or \
             --clients"
        ));
    }
    lines
}

fn duration_text(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{:.0} s", seconds.ceil())
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

pub(super) fn show_costs_and_ask_consent(
    plan: &TrialPlan,
    args: &TrialArgs,
) -> Result<(), CliError> {
    let record = &plan.record;
    for line in trial_cost_lines(plan) {
        out::print_notice(&line);
    }
    match &plan.job.place {
        TrialPlace::Directory(_) => {
            warn_leftover_loop_devices();
            confirm_trial_start(args.yes)
        }
        TrialPlace::Disk(disk) => {
            disk::confirm_disk_erase(disk, args.erase.as_deref(), record.bytes)
        }
    }
}

fn warn_leftover_loop_devices() {
    for device in trial_runner::leftover_loop_devices() {
        let clear = ShellCommand::new("losetup --detach ").append_quoted_name(&device);
        let clear = clear.map_or_else(String::new, |line| line.to_string());
        out::print_notice(&format!(
            "{device} is attached to a deleted file, perhaps by a killed trial; if nothing else uses {device}, \
             detach it: {clear}"
        ));
    }
}

fn confirm_trial_start(yes: bool) -> Result<(), CliError> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return refuse(
            "nothing was written: run the trial on a terminal to confirm, or pass --yes".to_owned(),
        );
    }
    out::print_notice("type yes to start the trial; any other answer cancels it");
    if read_stdin_line().is_some_and(|answer| answer.trim() == "yes") {
        Ok(())
    } else {
        refuse("nothing was written".to_owned())
    }
}

/// Empty at the end of the input; `None` if it cannot be read.
fn read_stdin_line() -> Option<String> {
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::fixtures;

    #[test]
    fn cost_lines_mention_wear_only_for_flash_disk() {
        let record = fixtures::record_with_commit_rates(
            &[
                (Candidate::Ext4, 4_000.0, None),
                (Candidate::Xfs, 4_000.0, None),
            ],
            0,
        );
        let job = TrialJob {
            place: TrialPlace::Directory(Path::new("/srv").into()),
            bytes: 2 << 30,
            seed: 1,
            leaves: Vec::new(),
            budget: 60.0,
            writes: 64 << 30,
        };
        let candidates = vec![Candidate::Ext4, Candidate::Xfs];
        let mut plan = TrialPlan {
            job,
            candidates,
            record,
            smallest_disk_bytes: None,
        };
        let said = |plan: &TrialPlan| {
            trial_cost_lines(plan)
                .into_iter()
                .find(|line| line.contains("endurance"))
        };
        assert_eq!(said(&plan), None);
        plan.smallest_disk_bytes = Some(1 << 40);
        assert_eq!(
            said(&plan).unwrap(),
            "writing this amount uses 0.011 % of the endurance of an SSD of 1 TiB"
        );
    }
}
