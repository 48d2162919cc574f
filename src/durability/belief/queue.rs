//! The queue of a device that stands on others. It passes flushes on as *write back*, and drops them as *write through*,
//! which is right only where nothing below holds anything back.
//!
//! The surprise: many drivers always announce a cache, whatever lies below, so that *write through* on them is never how
//! they came up but somebody's doing.

use super::{BY_FILE_SYSTEM, BY_QUEUE, Bottom, Hop, evidence, own_state, plain};
use crate::durability::Standing;
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::facts::catalog::device::{self, WriteCache};
use crate::facts::{Scope, Subject};
use crate::truth::Truth;

/// Kinds whose driver announces a cache whatever is below it (drivers/md/md.c, drivers/block/loop.c,
/// drivers/md/bcache/super.c, drivers/block/drbd/drbd_main.c, and zvol_os.c of OpenZFS).
const ALWAYS_WRITE_BACK: [&str; 5] = ["md", "loop", "bcache", "drbd", "zvol"];

/// Judges the queue of a device that stands on others. A partition has none of its own; it uses its disk's.
pub fn queue(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Vec<Hop> {
    let kind = ask.need(hop, &device::KIND);
    let kind = kind.as_deref();
    if kind == Some("partition") {
        return Vec::new();
    }
    // These decide whether it is `plain`, so they count among what was asked.
    match kind {
        Some("md") => drop(ask.value(hop, &device::MD_LEVEL)),
        Some("lvm" | "dm" | "dmraid" | "vdo") => drop(ask.value(hop, &device::DM_TARGETS)),
        _ => {}
    }
    let mut found = vec![by_its_word(ask, hop, kind, bottom)];
    if let Some(kind) = kind {
        found.extend(by_its_kind(ask, hop, kind));
    } else {
        let says = format!("what kind of device {} is, is not known", hop.name());
        found.push((Passage::Unknown, evidence(ask, hop, &device::KIND, Standing::Unproven, says)));
    }
    found
}

fn by_its_word(ask: &mut Ask, hop: &Subject, kind: Option<&str>, bottom: Bottom) -> Hop {
    use Standing::{Contradictory, Durable, Unproven};
    let name = hop.name();
    let never = kind.is_some_and(|kind| ALWAYS_WRITE_BACK.contains(&kind))
        || own_state::targets(ask.facts, hop) == Some(own_state::Targets::Keep);
    let (passage, standing, says) = match ask.need(hop, &device::WRITE_CACHE) {
        Some(WriteCache::WriteBack) => (Passage::Sent, Durable, format!("{name} passes flushes on")),
        Some(WriteCache::WriteThrough) if bottom.write_back == Truth::True => (
            Passage::Dropped(BY_QUEUE),
            Contradictory,
            format!(
                "the queue of {name} says write through above a disk that says write back, so flushes are dropped"
            ),
        ),
        Some(WriteCache::WriteThrough) if never => (
            Passage::Dropped(BY_QUEUE),
            Contradictory,
            format!(
                "the queue of {name} says write through, which its driver never does by itself, so flushes are dropped"
            ),
        ),
        Some(WriteCache::WriteThrough) if bottom.write_back == Truth::Unknown => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, and whether a disk below says write back is not known"
            ),
        ),
        Some(WriteCache::WriteThrough) if plain(ask.facts, hop) == Truth::True => (
            Passage::NotNeeded,
            Durable,
            format!("{name} drops flushes like the disks below it, which say write through too"),
        ),
        Some(WriteCache::WriteThrough) => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, and whether it holds data until it is flushed is not known"
            ),
        ),
        None => (Passage::Unknown, Unproven, format!("whether {name} passes flushes on is not known")),
    };
    (passage, evidence(ask, hop, &device::WRITE_CACHE, standing, says))
}

/// What there is to say of a device because of what it is, beside what its queue says.
fn by_its_kind(ask: &mut Ask, hop: &Subject, kind: &str) -> Option<Hop> {
    use Standing::{AtRisk, Durable, Unproven};
    let name = hop.name();
    match kind {
        "zram" | "ram" => {
            let says = format!("{name} is kept in memory");
            Some((Passage::Dropped(BY_FILE_SYSTEM), evidence(ask, hop, &device::KIND, AtRisk, says)))
        }
        // Its cache is a second disk below it, which counts like every other; one that is not there is.
        "bcache" => {
            let disks = ask.facts.below(hop).len();
            let mode = ask.value(hop, &device::BCACHE_MODE);
            let state = ask.value(hop, &device::BCACHE_STATE);
            let without = state.is_some_and(|state| !state.has_cache())
                || matches!(mode.as_deref(), Some("none" | "writethrough" | "writearound"));
            let (standing, says) = match mode.as_deref() {
                Some("writeback") if disks > 1 => (
                    Durable,
                    format!(
                        "{name} keeps writes in its cache (bcache, writeback), whose disk holds committed data too"
                    ),
                ),
                _ if disks > 1 || without => return None,
                _ => {
                    ask.miss(hop, &device::BCACHE_MODE, None);
                    (Unproven, format!("{name} may keep writes in a cache (bcache) whose disk was not found"))
                }
            };
            let passage = if standing == Durable { Passage::Sent } else { Passage::Unknown };
            Some((passage, evidence(ask, hop, &device::BCACHE_MODE, standing, says)))
        }
        "drbd" => {
            let peer = match ask.value(hop, &device::DRBD_PROTOCOL).as_deref() {
                Some("A") => ", and its peer has a commit only some time after it was reported (protocol A)",
                Some("B") => ", and its peer has a commit in memory when it is reported (protocol B)",
                Some(_) => "",
                None => {
                    ask.miss(hop, &device::DRBD_PROTOCOL, None);
                    ", and when its peer has a commit is not known either"
                }
            };
            let says = format!(
                "{name} is DRBD, and whether it flushes the disk below (disk-flushes in drbdsetup show) is not known{peer}"
            );
            Some((Passage::Unknown, evidence(ask, hop, &device::KIND, Unproven, says)))
        }
        "zvol" => {
            let says = format!(
                "{name} is a volume of a ZFS pool, and whether it honours flushes (its property sync) is not known"
            );
            Some((Passage::Unknown, evidence(ask, hop, &device::KIND, Unproven, says)))
        }
        "other" if hop.scope() == Scope::Device => {
            let says = format!("{name} is a kind of device that walwise cannot see through");
            Some((Passage::Unknown, evidence(ask, hop, &device::KIND, Unproven, says)))
        }
        "lvm" | "dm" => {
            let targets = ask.value(hop, &device::DM_TARGETS)?;
            let holds = targets.iter().any(|target| target == "writecache")
                || targets.iter().any(|target| target == "cache")
                    && ask.value(hop, &device::DM_CACHE_MODE).is_none_or(|mode| mode == "writeback");
            let says = format!("{name} keeps writes in a cache, whose disk holds committed data too");
            holds.then(|| (Passage::Sent, evidence(ask, hop, &device::DM_TARGETS, Durable, says)))
        }
        _ => None,
    }
}
