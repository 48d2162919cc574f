//! Before a trial: what it would do, whether it may, and the question.

pub(super) mod disk {
    //! Before a trial on a spare disk: whether it is free, and the consent, which is its serial
    //! number.

    use std::io::IsTerminal as _;
    use std::path::Path;

    use super::{TrialPlan, no_server_beside, planned, refuse, typed};
    use crate::cells::{self, EraseOrder, SpareDisk, TrialPlace};
    use crate::cli::args::{From, Trial};
    use crate::cli::{CliError, host, out};
    use crate::facts::catalog::device;
    use crate::facts::{FactSet, Scope, Subject};
    use crate::quote::Command;
    use crate::rules::RuleSet;
    use crate::text;

    /// Signatures of what a trial makes: others on a disk are not an earlier trial's.
    const OWN_SIGNATURES: [&str; 8] = [
        "walwise trial",
        "ext2",
        "ext3",
        "ext4",
        "ext backup superblock",
        "xfs",
        "xfs allocation group",
        "btrfs",
    ];

    /// Plans a trial on a disk; the error says why there is none. Nothing is written.
    pub(super) fn plan(args: &Trial, path: &Path) -> Result<TrialPlan, CliError> {
        let spare = looked_at(args, path)?;
        let node = spare.order.node.clone();
        if args.yes {
            return refuse(format!(
                "--yes applies only to a directory: to erase {node}, pass --erase with {}",
                asked(&spare.order)
            ));
        }
        named_rightly(&spare.order, args.erase.as_deref())?;
        if spare.left.is_some() {
            return refuse(left_on(&spare));
        }
        let (facts, target, disk) = facts(&spare)?;
        if let Some(why) = cells::by_facts(&facts, &disk) {
            return refuse(format!("{node} {why}; nothing was written"));
        }
        if let Some(why) = spare.refusal(args.extent.size << 20) {
            return refuse(format!("{why}; nothing was written"));
        }
        if !args.force {
            no_server_beside(&facts, &target)?;
        }
        let may_ask = args.erase.is_some() || std::io::stdin().is_terminal();
        if !may_ask {
            return refuse(refusal_without_name(&spare.order, args.extent.size << 20));
        }
        // It is not to be found open when it is looked at again.
        let SpareDisk { order, .. } = spare;
        planned(
            args,
            &facts,
            &target,
            TrialPlace::Disk(order),
            String::new(),
        )
    }

    /// What an earlier trial left on a disk, where it may be cleared and a person agrees; the error
    /// says why not.
    pub(in crate::cli::trial) fn to_clear(args: &Trial) -> Result<EraseOrder, CliError> {
        let path = host::absolute(Some(&args.target))?.unwrap_or_else(|| args.target.clone());
        let spare = looked_at(args, &path)?;
        let node = spare.order.node.clone();
        let Some(mark) = &spare.left else {
            return refuse(format!("no trial left anything on {node}"));
        };
        if let Some(why) = spare.forbidden {
            return refuse(format!("what is on {node} is not cleared: {why}"));
        }
        let bytes = mark.bytes;
        let (facts, _, disk) = facts(&spare)?;
        let others = facts.value(&disk, &device::SIGNATURES).map(|found| {
            found
                .into_iter()
                .filter(|name| !OWN_SIGNATURES.contains(&name.as_str()))
                .collect::<Vec<_>>()
        });
        let why = match others {
            None => Some("may hold something else, as it could not be read".to_owned()),
            Some(others) if others.is_empty() => cells::by_facts_of_use(&facts, &disk),
            Some(others) => Some(format!("holds {}, which no trial makes", others.join(", "))),
        };
        if let Some(why) = why {
            return refuse(format!("{node} {why}; nothing was written"));
        }
        if let Some(why) = spare.refusal(bytes) {
            return refuse(format!("{why}; nothing was written"));
        }
        named_rightly(&spare.order, args.erase.as_deref())?;
        let SpareDisk { order, .. } = spare;
        ask_for_its_name(&order, args.erase.as_deref(), bytes)?;
        Ok(order)
    }

    fn looked_at(args: &Trial, path: &Path) -> Result<SpareDisk, CliError> {
        if !rustix::process::geteuid().is_root() {
            return refuse("only root can erase a disk: run walwise as root".to_owned());
        }
        let Some(node) = path.to_str() else {
            return refuse(format!("{} is no device", super::shown(path)));
        };
        // Elsewhere a file system may never answer.
        if args.clear && (!node.starts_with("/dev/") || path.is_dir()) {
            return refuse(format!(
                "--clear is for a disk, and {} is none",
                super::shown(path)
            ));
        }
        SpareDisk::look(node).map_err(|why| CliError::Usage(text::safe(why.as_bytes())))
    }

    /// The facts about a disk, with the target and the disk among them.
    fn facts(spare: &SpareDisk) -> Result<(FactSet, Subject, Subject), CliError> {
        let EraseOrder { node, number, .. } = &spare.order;
        let session = host::look(&From::default(), Some(Path::new(node)), RuleSet::default())?;
        let facts = session.read;
        let target = facts.subjects(Scope::Target).next().cloned();
        let disk = target
            .as_ref()
            .and_then(|target| facts.resolve(target, Scope::Device));
        let (Some(target), Some(disk)) = (target, disk) else {
            return refuse(format!("{node} is no device that is known here"));
        };
        let number = format!(
            "{}:{}",
            rustix::fs::major(*number),
            rustix::fs::minor(*number)
        );
        if facts.value(&disk, &device::DEVNO) != Some(number) {
            return refuse(format!(
                "{node} is another device than a moment ago; nothing was written"
            ));
        }
        Ok((facts, target, disk))
    }

    /// `its serial number S123`.
    fn asked(order: &EraseOrder) -> String {
        format!("its {} {}", order.known_by.kind(), order.known_by.typed())
    }

    /// Refuses a name that is not the disk's.
    fn named_rightly(order: &EraseOrder, erase: Option<&str>) -> Result<(), CliError> {
        match erase {
            Some(word) if !order.known_by.is(word) => refuse(format!(
                "{} is not the {} of {}; nothing was written",
                text::safe(word.as_bytes()),
                order.known_by.kind(),
                order.node
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// What is told where nobody can type the name.
    fn refusal_without_name(order: &EraseOrder, bytes: u64) -> String {
        let again = again(order, "").map_or_else(String::new, |line| format!(": {line}"));
        format!(
            "nothing was written: the trial would erase the first {} and the last MiB of {}; to agree, pass --erase with \
         {}{again}",
            text::bytes(bytes),
            order.node,
            asked(order)
        )
    }

    /// `walwise trial /dev/sdb --erase S123` and more.
    fn again(order: &EraseOrder, more: &'static str) -> Option<Command> {
        let line = Command::new("walwise trial ")
            .value(&order.node)?
            .code(" --erase ");
        Some(line.value(order.known_by.typed())?.code(more))
    }

    /// The command that clears what a trial left on a disk.
    pub(in crate::cli::trial) fn line_that_clears(order: &EraseOrder) -> String {
        Command::or_why(again(order, " --clear"))
    }

    /// What an earlier trial left, and what clears it.
    fn left_on(spare: &SpareDisk) -> String {
        let node = &spare.order.node;
        match spare.forbidden {
            Some(why) => {
                format!("{node} has the mark of an earlier trial, and {why}; nothing was written")
            }
            None => format!(
                "{node} still holds data of an interrupted trial; nothing was written. To clear the disk: {}",
                line_that_clears(&spare.order)
            ),
        }
    }

    /// Asks for the name of the disk; the error is the answer no.
    pub(super) fn ask_for_its_name(
        order: &EraseOrder,
        erase: Option<&str>,
        bytes: u64,
    ) -> Result<(), CliError> {
        let agrees = match erase {
            Some(word) => order.known_by.is(word),
            None if std::io::stdin().is_terminal() => {
                out::notice(&format!(
                    "the trial erases the first {} and the last MiB of {}; type {} to start",
                    text::bytes(bytes),
                    order.node,
                    asked(order)
                ));
                typed().is_some_and(|answer| order.known_by.is(&answer))
            }
            None => return refuse(refusal_without_name(order, bytes)),
        };
        if agrees {
            Ok(())
        } else {
            refuse("nothing was written".to_owned())
        }
    }
}

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

use super::{refuse, shown};
use crate::cells::{self, TrialJob, TrialPlace};
use crate::cli::args::{From, Trial, TrialCandidate};
use crate::cli::{CliError, host, out};
use crate::drill::StackFingerprint;
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Scope, Subject};
use crate::probes::wear;
use crate::quote::Command;
use crate::rules::RuleSet;
use crate::session::now;
use crate::text;
use crate::trial::{Contender, Ending, ExtentKind, FORMAT, LOOKS, TrialLoad, TrialRecord};
use crate::way::random;

pub(super) struct TrialPlan {
    /// What the inside is told.
    pub(super) job: TrialJob,
    /// The candidates, the reference first.
    pub(super) candidates: Vec<Contender>,
    /// The record, without candidates and blocks.
    pub(super) record: TrialRecord,
    /// Size of the smallest disk beneath it that wears by writing, in bytes.
    smallest_disk_bytes: Option<u64>,
}

/// Plans a trial; the error says why there is none. Nothing is written.
pub(super) fn plan(args: &Trial) -> Result<TrialPlan, CliError> {
    let target = host::absolute(Some(&args.target))?.unwrap_or_else(|| args.target.clone());
    if !rustix::process::geteuid().is_root() {
        return refuse(
            "a trial makes and mounts file systems on a loop device or a disk: run it as root"
                .to_owned(),
        );
    }
    // Only names beneath /dev are looked at before it is known what they are: a file system
    // elsewhere may never answer.
    if target.starts_with("/dev") && !target.is_dir() {
        disk::plan(args, &target)
    } else {
        directory(args, &target)
    }
}

/// Plans a trial on a loop file in a directory.
fn directory(args: &Trial, directory: &Path) -> Result<TrialPlan, CliError> {
    if args.erase.is_some() || args.clear {
        let shown = shown(directory);
        return refuse(format!(
            "{shown} is not a disk: --erase and --clear apply only to a disk"
        ));
    }
    let session = host::look(&From::default(), Some(directory), RuleSet::default())?;
    let facts = &session.read;
    let Some(target) = facts.subjects(Scope::Target).next().cloned() else {
        return refuse(format!("cannot tell where {} is", shown(directory)));
    };
    on_a_disk_here(facts, &target)?;
    // Only now may it be touched: a file system elsewhere may never answer.
    let place = cells::LoopPlace::open(directory).map_err(CliError::Usage)?;
    if !args.force {
        no_server_beside(facts, &target)?;
    }
    let bytes = args.extent.size << 20;
    if !place.room.has(bytes) {
        return refuse(format!(
            "{} has {} free: the trial needs {} and must leave 20 % of the file system, and at least 5 GiB, free; \
             choose a smaller --size or another directory",
            shown(directory),
            text::bytes(place.room.free),
            text::bytes(bytes + cells::TAIL)
        ));
    }
    let filesystem = facts
        .resolve(&target, Scope::Mount)
        .and_then(|on| facts.value(&on, &mount::FSTYPE));
    let filesystem = filesystem.unwrap_or_else(|| "an unknown file system".to_owned());
    let place = TrialPlace::Directory(directory.into());
    planned(args, facts, &target, place, filesystem)
}

/// The plan of a trial at a place that is fit for it.
fn planned(
    args: &Trial,
    facts: &FactSet,
    target: &Subject,
    place: TrialPlace,
    host_filesystem: String,
) -> Result<TrialPlan, CliError> {
    let bytes = args.extent.size << 20;
    let (extent, directory) = match &place {
        TrialPlace::Directory(directory) => (ExtentKind::Loop, text::safe(&directory.0)),
        TrialPlace::Disk(disk) => (ExtentKind::Disk, disk.node.clone()),
    };
    let candidates = candidates(&args.candidates)?;
    let leaves: Vec<String> = facts
        .disks(target)
        .iter()
        .map(|disk| disk.name().to_owned())
        .collect();
    let seed = args.extent.seed.unwrap_or_else(random);
    let record = TrialRecord {
        trial: FORMAT,
        walwise: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        ending: Ending::Running,
        seconds: 0.0,
        budget: args.budget,
        seed,
        extent,
        directory,
        bytes,
        host_filesystem,
        leaves: leaves.clone(),
        stack: StackFingerprint::from_facts(facts, target)
            .to_string()
            .lines()
            .map(str::to_owned)
            .collect(),
        load_seconds: args.extent.seconds,
        loads: TrialLoad::of(args.preset.preset(), &args.clients),
        candidates: Vec::new(),
        blocks: Vec::new(),
    };
    let (budget, writes) = (args.budget, args.extent.writes << 30);
    let job = TrialJob {
        place,
        bytes,
        seed,
        leaves,
        budget,
        writes,
    };
    let smallest_disk_bytes = wear::smallest(&facts.leaves(target), facts);
    Ok(TrialPlan {
        job,
        candidates,
        record,
        smallest_disk_bytes,
    })
}

/// Refuses a directory that is not on a block device of this machine.
fn on_a_disk_here(facts: &FactSet, target: &Subject) -> Result<(), CliError> {
    let name = target.name();
    if facts
        .value(target, &target::KIND)
        .is_some_and(TargetKind::is_device)
    {
        return Ok(());
    }
    let mount = facts.resolve(target, Scope::Mount);
    let why = match mount.and_then(|mount| facts.value(&mount, &mount::CLASS)) {
        Some(MountClass::Block) => return Ok(()),
        Some(MountClass::Memory) => "is in memory, where there is no disk to try",
        Some(MountClass::Network) => "is on a network file system",
        Some(MountClass::Fuse) => "is on a FUSE file system",
        Some(MountClass::Overlay) => "is on an overlay, as in a container",
        Some(MountClass::Zfs) => {
            "is on ZFS, which allows no direct I/O on a loop file in most releases"
        }
        Some(MountClass::Other) => "is on no disk of this machine",
        None => "is on a file system that could not be read",
    };
    refuse(format!("{name} {why}; name a directory on ext4 or XFS"))
}

/// The candidates that were asked for, or the usual ones for which there are programs.
fn candidates(asked: &[TrialCandidate]) -> Result<Vec<Contender>, CliError> {
    let usual = asked.is_empty();
    let all: Vec<Contender> = if usual {
        Contender::USUAL.to_vec()
    } else {
        asked.iter().map(|asked| asked.candidate()).collect()
    };
    let mut found = Vec::new();
    for candidate in all {
        let Some(maker) = cells::maker(candidate.filesystem()) else {
            continue;
        };
        match maker.location() {
            Ok(_) if found.contains(&candidate) => {
                return refuse(format!(
                    "{} is named twice; the first is measured twice anyway",
                    candidate.word()
                ));
            }
            Ok(_) => found.push(candidate),
            Err(miss) if usual => {
                out::notice(&format!(
                    "without {}: {}: {miss}",
                    candidate.word(),
                    maker.name()
                ));
            }
            Err(miss) => {
                let (name, package) = (maker.name(), maker.package());
                return refuse(format!(
                    "{}: {name}: {miss}; install {package}",
                    candidate.word()
                ));
            }
        }
    }
    match found.first() {
        Some(first) if found.len() == 1 => refuse(format!(
            "{} alone has nothing to be compared with: name another candidate",
            first.word()
        )),
        Some(first) if first.promises_commits() => Ok(found),
        Some(first) => refuse(format!(
            "{} cannot be the first candidate, as its commits can be lost: name another \
             one first",
            first.word()
        )),
        None => refuse(
            "no file system can be made here: install e2fsprogs, xfsprogs or btrfs-progs"
                .to_owned(),
        ),
    }
}

/// Refuses where a running server's directories are on the same disk, or may be.
fn no_server_beside(here: &FactSet, target: &Subject) -> Result<(), CliError> {
    let session = host::look(&From::default(), None, RuleSet::default())?;
    let all = &session.read;
    let ours = here.disks(target);
    let runs = |other: &&Subject| {
        let server = all.resolve(other, Scope::Cluster);
        server
            .is_some_and(|server| all.value(&server, all.database(&server).running) != Some(false))
    };
    for other in all.subjects(Scope::Target).filter(runs) {
        let theirs = all.disks(other);
        // What is on no known disk may be on any.
        let may = if ours.is_empty() || theirs.is_empty() {
            "may be"
        } else {
            "is"
        };
        if may == "may be" || theirs.iter().any(|disk| ours.contains(disk)) {
            return refuse(format!(
                "{} of a database server {may} on the same disk, and a trial would slow that server down; use \
                 --force to start anyway",
                other.name()
            ));
        }
    }
    Ok(())
}

/// About how many blocks fit into the budget: of all candidates and the twin, where making a file
/// system takes two seconds; the bare extent and the host's file are short.
fn likely_blocks(plan: &TrialPlan) -> f64 {
    let record = &plan.record;
    let cell = 2.0 + 1.2 * record.load_seconds * record.loads.len() as f64;
    record.budget / (cell * (plan.candidates.len() + 1) as f64)
}

/// What a trial costs, line by line.
fn costs(plan: &TrialPlan) -> Vec<String> {
    let record = &plan.record;
    let words: Vec<&str> = plan
        .candidates
        .iter()
        .map(|candidate| candidate.word())
        .collect();
    let most = record
        .loads
        .iter()
        .map(|load| load.clients)
        .max()
        .unwrap_or(1);
    let threads = if most == 1 {
        "1 thread".to_owned()
    } else {
        format!("{most} threads")
    };
    let all = text::bytes(plan.job.writes);
    let disks = if record.leaves.is_empty() {
        "its disk".to_owned()
    } else {
        record.leaves.join(", ")
    };
    let mut lines = vec![format!(
        "a trial of {}: at most {}, {threads}, about 100 MiB of memory",
        words.join(", "),
        span(record.budget)
    )];
    match &plan.job.place {
        TrialPlace::Directory(_) => lines.push(format!(
            "it writes a loop file of {} in {}, and at most {all} in all to {disks}",
            text::bytes(record.bytes + cells::TAIL),
            record.directory
        )),
        TrialPlace::Disk(disk) => {
            let first = text::bytes(record.bytes);
            lines.push(format!(
                "it reads the first {first} and the last MiB of {} whole, and erases them",
                disk.node
            ));
            lines.push(format!(
                "it writes at most {all} in all to {disks}; clearing the disk at the end takes extra time"
            ));
        }
    }
    if let Some(size) = plan.smallest_disk_bytes {
        lines.push(format!(
            "writing that much {}",
            wear::words(plan.job.writes, size)
        ));
    }
    lines.push(
        "it slows down everything else on that disk, and removes what it wrote at the end"
            .to_owned(),
    );
    let blocks = likely_blocks(plan).floor();
    let least = LOOKS.first().copied().unwrap_or_default() as f64;
    if blocks < least {
        let counted = if (1.0..2.0).contains(&blocks) {
            "1 block".to_owned()
        } else {
            format!("{blocks:.0} blocks")
        };
        lines.push(format!(
            "the budget allows about {counted}, and an answer needs {least}: name a longer --budget, or fewer --candidates or \
             --clients"
        ));
    }
    lines
}

/// A time in words: seconds up to two minutes.
fn span(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{:.0} s", seconds.ceil())
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

/// Says what a trial costs, and asks; the error is the answer no.
pub(super) fn ask(plan: &TrialPlan, args: &Trial) -> Result<(), CliError> {
    let record = &plan.record;
    for line in costs(plan) {
        out::notice(&line);
    }
    match &plan.job.place {
        TrialPlace::Directory(_) => {
            tell_of_loops_left();
            ask_for_yes(args.yes)
        }
        TrialPlace::Disk(disk) => disk::ask_for_its_name(disk, args.erase.as_deref(), record.bytes),
    }
}

/// Tells of loop devices that an earlier trial may have left.
fn tell_of_loops_left() {
    for device in cells::leftovers() {
        let clear = Command::new("losetup --detach ")
            .value(&device)
            .map(|line| line.to_string())
            .unwrap_or_default();
        out::notice(&format!(
            "{device} is attached to a deleted file, perhaps by a killed trial; if nothing else uses {device}, \
             detach it: {clear}"
        ));
    }
}

fn ask_for_yes(yes: bool) -> Result<(), CliError> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return refuse(
            "nothing was written: confirm the trial on a terminal, or pass --yes".to_owned(),
        );
    }
    out::notice("type yes to start; anything else cancels");
    if typed().is_some_and(|answer| answer.trim() == "yes") {
        Ok(())
    } else {
        refuse("nothing was written".to_owned())
    }
}

/// A line that somebody types; `None` where none can be read.
fn typed() -> Option<String> {
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .ok()
        .map(|_| answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sample;

    #[test]
    fn what_wears_is_said_where_something_does() {
        let record = sample::record(
            &[
                (Contender::Ext4, 4_000.0, None),
                (Contender::Xfs, 4_000.0, None),
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
        let candidates = vec![Contender::Ext4, Contender::Xfs];
        let mut plan = TrialPlan {
            job,
            candidates,
            record,
            smallest_disk_bytes: None,
        };
        let said = |plan: &TrialPlan| costs(plan).into_iter().find(|line| line.contains("wears"));
        assert_eq!(said(&plan), None);
        plan.smallest_disk_bytes = Some(1 << 40);
        assert_eq!(
            said(&plan).unwrap(),
            "writing that much wears 0.011 % off a flash disk of 1 TiB"
        );
    }
}
