//! What else a reader of a trial has to know: its resolution, what is missing, what each candidate was made of.

use super::{name, percent};
use crate::trial::promise::Promise;
use crate::trial::record::{ExtentKind, TrialRecord};
use crate::trial::result::WORTH_WAITING;

/// All notes, in order.
pub fn all(record: &TrialRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(winner) = record.winner() {
        notes.push(format!(
            "{} is the fastest under every load that decides, each with 95 % confidence.",
            name(record, winner)
        ));
    }
    let twins = record.results();
    if let Some((result, twin)) = twins.iter().find_map(|result| Some((result, result.contest.twin()?))) {
        let load = result.load.name();
        notes.push(format!(
            "Resolution: {} differs from itself by {} ({load}).",
            name(record, 0),
            percent(twin)
        ));
    }
    if let Some(times) = record.floor_spread() {
        notes.push(format!(
            "The bare extent's speed changed {times:.1}-fold from its slowest to its fastest tenth of blocks."
        ));
    }
    notes.extend(record.seconds_needed().map(still_needed));
    notes.extend(leaf_flushes(record));
    for (at, made) in record.candidates.iter().enumerate() {
        let word = made.candidate.word();
        if let Some(why) = record.failure(at) {
            notes.push(format!("{word} failed and is not ranked: {why}."));
        }
        match record.promise(at) {
            Promise::Broken(each) => notes.push(format!(
                "{word} sent {each:.2} flushes per commit, so it is not ranked: its commits may be lost."
            )),
            Promise::NotMade => {
                notes.push(format!(
                    "{word} is told not to flush: it shows what flushing costs and is never ranked."
                ));
            }
            Promise::NotCounted => notes.push(format!(
                "{word}: this machine does not count flushes, so durability is \
                 unchecked."
            )),
            Promise::Kept(_) => {}
        }
        let attribute = if made.candidate.is_nocow() { ", +C on the directory of the log" } else { "" };
        notes.push(format!(
            "{word}: {} DEVICE, mounted with {}{attribute} ({})",
            made.mkfs.join(" "),
            mounted(&made.mount),
            made.version
        ));
    }
    notes.extend(of_disk(record));
    notes.push("The 95 % confidence holds for each load on its own.".to_owned());
    notes.push("Every file system was new and nearly empty; ageing can change the order.".to_owned());
    notes
}

/// What differs on a disk.
fn of_disk(record: &TrialRecord) -> Vec<String> {
    match record.extent {
        ExtentKind::Loop => Vec::new(),
        ExtentKind::Disk => {
            let whole = record.leaves.iter().any(|leaf| record.directory.strip_prefix("/dev/") == Some(leaf));
            let of_part = (!whole).then(|| {
                "Flushes are those of the whole disk, as the kernel counts none for a partition: others' may be among them.".to_owned()
            });
            let made =
                "mkfs was also told where the extent ends, and the UUID of each file system.".to_owned();
            of_part.into_iter().chain([made]).collect()
        }
    }
}

/// How much longer it would take: `seconds` as its blocks scatter now.
fn still_needed(seconds: f64) -> String {
    let (minutes, hours) = ((seconds / 60.0).ceil(), (seconds / 3600.0).ceil());
    if minutes <= 120.0 {
        format!("Not settled; about {minutes:.0} more minutes like these would be needed.")
    } else if seconds <= WORTH_WAITING {
        format!("Not settled; about {hours:.0} more hours like these would be needed.")
    } else {
        "Not settled; more time would not help while the disk is as unsteady as now.".to_owned()
    }
}

/// What the disks below counted; `None` where they count nothing.
fn leaf_flushes(record: &TrialRecord) -> Option<String> {
    let of = |at: usize| Some(format!("{} {:.2}", name(record, at), record.leaf_flushes(at)?));
    let counted: Vec<String> = (0..record.candidates.len()).filter_map(of).collect();
    let disks = record.leaves.join(", ");
    (!counted.is_empty()).then(|| {
        format!(
            "{disks} counted so many flushes per commit, those of others among them: {}.",
            counted.join(", ")
        )
    })
}

fn mounted(options: &str) -> &str {
    if options.is_empty() { "defaults" } else { options }
}
