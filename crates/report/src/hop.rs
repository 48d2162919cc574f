//! Describes the hops of a flush path: mount point, layer, the cache of a disk.
//!
//! The path itself is judged in [`walwise_judge::durability`].

use super::layer::describe_device;
use super::{options, stack};
use walwise_judge::durability::{FlushHop, FlushState, HopKind, Verdict};
use walwise_model::facts::catalog::controller::{self, DiskCache};
use walwise_model::facts::catalog::device::{self, Cache};
use walwise_model::facts::catalog::{cluster, mysql, postgres};
use walwise_model::facts::{FactSet, FactValue, Key, ServerKind, Subject};
use walwise_model::settings;
use walwise_model::text;

/// Fills in the description of every hop of a verdict.
pub fn describe(facts: &FactSet, verdict: &mut Verdict) {
    for hop in &mut verdict.flush_path {
        hop.text = description(facts, hop);
    }
}

fn description(facts: &FactSet, hop: &FlushHop) -> String {
    let of_each = |one: fn(&FactSet, &Subject) -> String| {
        count_equal(hop.subjects.iter().map(|of| one(facts, of)))
    };
    match hop.kind {
        HopKind::Commit => "reported once the flush below returns".to_owned(),
        HopKind::Server if hop.subjects.is_empty() => "judged from the file system down".to_owned(),
        HopKind::Server => of_each(server_text),
        HopKind::FileSystem => of_each(mount_text),
        HopKind::Layer => of_each(describe_device),
        HopKind::Disk => {
            let contradicts = matches!(hop.state, FlushState::Disagrees);
            of_each(if contradicts {
                conflicting_caches
            } else {
                disk_text
            })
        }
        HopKind::Members => of_each(members_text),
        HopKind::Beyond => "not visible from here".to_owned(),
    }
}

/// Joins descriptions; equal ones appear once, with their count.
fn count_equal(all: impl Iterator<Item = String>) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for words in all {
        match counted.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => counted.push((words, 1)),
        }
    }
    let words = |(words, count): (String, usize)| {
        if count > 1 {
            format!("{count} × {words}")
        } else {
            words
        }
    };
    text::names_and_count(
        &counted.into_iter().map(words).collect::<Vec<_>>(),
        MAX_KINDS,
    )
}

/// The number of different descriptions in one hop.
const MAX_KINDS: usize = 2;

fn join_parts<const N: usize>(parts: [Option<String>; N]) -> String {
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// A setting with its value: `fsync on`.
fn setting_text<T: FactValue>(
    facts: &FactSet,
    of: &Subject,
    key: &Key<T>,
    name: &str,
) -> Option<String> {
    let value = facts.reading(of, key.id()).value()?;
    Some(format!(
        "{name} {}",
        settings::find(key.name())?.config_value(value)
    ))
}

fn server_text(facts: &FactSet, of: &Subject) -> String {
    let version = facts
        .value(of, facts.database(of).version)
        .map(|version| version.to_string());
    match facts.value(of, &cluster::KIND) {
        Some(ServerKind::Mysql | ServerKind::Mariadb) => join_parts([
            version,
            facts
                .value(of, &mysql::FLUSH_METHOD)
                .map(|method| method.to_string()),
            setting_text(facts, of, &mysql::FLUSH_LOG, "flush_log_at_trx_commit"),
        ]),
        Some(ServerKind::Postgres) | None => join_parts([
            version,
            setting_text(facts, of, &postgres::FSYNC, "fsync"),
            facts
                .value(of, &postgres::WAL_SYNC_METHOD)
                .map(|method| method.to_string()),
        ]),
    }
}

fn mount_text(facts: &FactSet, of: &Subject) -> String {
    let words = stack::mount_options(facts, of)
        .map(|words| stack::count_overlay_layers(options::explicit_options(&words)).join(","));
    join_parts([Some(of.name().to_owned()), words])
}

fn disk_text(facts: &FactSet, of: &Subject) -> String {
    let model = facts
        .value(of, &controller::MODEL)
        .or_else(|| facts.value(of, &device::MODEL));
    let named = model.or_else(|| facts.value(of, &device::KIND).map(|kind| kind.to_string()));
    let size = facts.value(of, &device::SIZE).map(text::bytes);
    let battery = facts
        .value(of, &controller::BATTERY)
        .map(|battery| format!("battery {battery}"));
    let cache = facts.value(of, &device::CACHE).map(|cache| match cache {
        Cache::Volatile => "volatile cache",
        Cache::Contradictory => "contradictory cache",
        Cache::Unknown => "cache unknown",
        Cache::Protected => "protected cache",
        Cache::None => "no volatile cache",
    });
    let named = [named, size]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    join_parts([Some(named), cache.map(str::to_owned), battery])
}

/// The cache as reported by the queue and by the disk, where these contradict each other.
fn conflicting_caches(facts: &FactSet, of: &Subject) -> String {
    let queue = facts
        .value(of, &device::WRITE_CACHE)
        .map(|word| format!("queue: {word}"));
    let own = facts
        .value(of, &device::CACHE_TYPE)
        .map(|word| format!("disk: {word}"));
    match (queue, own) {
        (Some(queue), Some(own)) => join_parts([Some(queue), Some(own)]),
        _ => disk_text(facts, of),
    }
}

fn members_text(facts: &FactSet, of: &Subject) -> String {
    let caches = match facts.value(of, &controller::DISK_CACHE) {
        Some(DiskCache::Off) => "drive caches off",
        Some(DiskCache::On) => "drive caches on",
        Some(DiskCache::DiskDefault) | None => "drive caches unknown",
    };
    caches.to_owned()
}
