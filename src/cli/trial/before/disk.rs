//! Before a trial on a spare disk: whether it is free, and the consent, which is its serial number.

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
    planned(args, &facts, &target, TrialPlace::Disk(order), String::new())
}

/// What an earlier trial left on a disk, where it may be cleared and a person agrees; the error says why not.
pub(in crate::cli::trial) fn to_clear(args: &Trial) -> Result<EraseOrder, CliError> {
    let path = host::absolute(Some(&args.target))?.unwrap_or_else(|| args.target.clone());
    let spare = looked_at(args, &path)?;
    let node = spare.order.node.clone();
    let Some(mark) = &spare.left else { return refuse(format!("no trial left anything on {node}")) };
    if let Some(why) = spare.forbidden {
        return refuse(format!("what is on {node} is not cleared: {why}"));
    }
    let bytes = mark.bytes;
    let (facts, _, disk) = facts(&spare)?;
    let others = facts.value(&disk, &device::SIGNATURES).map(|found| {
        found.into_iter().filter(|name| !OWN_SIGNATURES.contains(&name.as_str())).collect::<Vec<_>>()
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
    let Some(node) = path.to_str() else { return refuse(format!("{} is no device", super::shown(path))) };
    // Elsewhere a file system may never answer.
    if args.clear && (!node.starts_with("/dev/") || path.is_dir()) {
        return refuse(format!("--clear is for a disk, and {} is none", super::shown(path)));
    }
    SpareDisk::look(node).map_err(|why| CliError::Usage(text::safe(why.as_bytes())))
}

/// The facts about a disk, with the target and the disk among them.
fn facts(spare: &SpareDisk) -> Result<(FactSet, Subject, Subject), CliError> {
    let EraseOrder { node, number, .. } = &spare.order;
    let session = host::look(&From::default(), Some(Path::new(node)), RuleSet::default())?;
    let facts = session.read;
    let target = facts.subjects(Scope::Target).next().cloned();
    let disk = target.as_ref().and_then(|target| facts.resolve(target, Scope::Device));
    let (Some(target), Some(disk)) = (target, disk) else {
        return refuse(format!("{node} is no device that is known here"));
    };
    let number = format!("{}:{}", rustix::fs::major(*number), rustix::fs::minor(*number));
    if facts.value(&disk, &device::DEVNO) != Some(number) {
        return refuse(format!("{node} is another device than a moment ago; nothing was written"));
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
    let line = Command::new("walwise trial ").value(&order.node)?.code(" --erase ");
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
        Some(why) => format!("{node} has the mark of an earlier trial, and {why}; nothing was written"),
        None => format!(
            "{node} still holds data of an interrupted trial; nothing was written. To clear the disk: {}",
            line_that_clears(&spare.order)
        ),
    }
}

/// Asks for the name of the disk; the error is the answer no.
pub(super) fn ask_for_its_name(order: &EraseOrder, erase: Option<&str>, bytes: u64) -> Result<(), CliError> {
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
    if agrees { Ok(()) } else { refuse("nothing was written".to_owned()) }
}
