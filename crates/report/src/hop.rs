//! The hops of a flush path in words: where a file system is mounted, what a layer is, what a disk
//! holds writes in.
//!
//! The path itself and the fates on it are made in [`walwise_judge::durability`].

use super::layer::block;
use super::{options, stack};
use walwise_judge::durability::{Fate, FlushHop, HopKind, Verdict};
use walwise_model::facts::catalog::controller::{self, DiskCache};
use walwise_model::facts::catalog::device::{self, Cache};
use walwise_model::facts::catalog::{cluster, mysql, postgres};
use walwise_model::facts::{FactSet, FactValue, Key, ServerKind, Subject};
use walwise_model::settings;
use walwise_model::text;

/// Words the hops of a verdict.
pub fn word(facts: &FactSet, verdict: &mut Verdict) {
    for hop in &mut verdict.flush_path {
        hop.says = says(facts, hop);
    }
}

fn says(facts: &FactSet, hop: &FlushHop) -> String {
    let of_each =
        |one: fn(&FactSet, &Subject) -> String| each(hop.subjects.iter().map(|of| one(facts, of)));
    match hop.kind {
        HopKind::Commit => "reported once the flush below returns".to_owned(),
        HopKind::Server if hop.subjects.is_empty() => "judged from the file system down".to_owned(),
        HopKind::Server => of_each(server),
        HopKind::FileSystem => of_each(mounted),
        HopKind::Layer => of_each(block),
        HopKind::Disk => {
            let contradicts = matches!(hop.fate, Fate::Disagrees);
            of_each(if contradicts { both_words } else { disk })
        }
        HopKind::Members => of_each(members),
        HopKind::Beyond => "not visible from here".to_owned(),
    }
}

/// The words of several things, the same ones once with their number.
fn each(all: impl Iterator<Item = String>) -> String {
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
    text::first_of(&counted.into_iter().map(words).collect::<Vec<_>>(), KINDS)
}

/// How many different things a hop names.
const KINDS: usize = 2;

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// A setting that people know by its name: `fsync on`.
fn setting<T: FactValue>(
    facts: &FactSet,
    of: &Subject,
    key: &Key<T>,
    name: &str,
) -> Option<String> {
    let value = facts.reading(of, key.id()).value()?;
    Some(format!(
        "{name} {}",
        settings::find(key.name())?.written(value)
    ))
}

fn server(facts: &FactSet, of: &Subject) -> String {
    let version = facts
        .value(of, facts.database(of).version)
        .map(|version| version.to_string());
    match facts.value(of, &cluster::KIND) {
        Some(ServerKind::Mysql | ServerKind::Mariadb) => joined([
            version,
            facts
                .value(of, &mysql::FLUSH_METHOD)
                .map(|method| method.to_string()),
            setting(facts, of, &mysql::FLUSH_LOG, "flush_log_at_trx_commit"),
        ]),
        Some(ServerKind::Postgres) | None => joined([
            version,
            setting(facts, of, &postgres::FSYNC, "fsync"),
            facts
                .value(of, &postgres::WAL_SYNC_METHOD)
                .map(|method| method.to_string()),
        ]),
    }
}

fn mounted(facts: &FactSet, of: &Subject) -> String {
    let words =
        stack::in_force(facts, of).map(|words| stack::layered(options::tidy(&words)).join(","));
    joined([Some(of.name().to_owned()), words])
}

fn disk(facts: &FactSet, of: &Subject) -> String {
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
        Cache::Unknown => "cache not known",
        Cache::Protected => "protected cache",
        Cache::None => "no volatile cache",
    });
    let named = [named, size]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    joined([Some(named), cache.map(str::to_owned), battery])
}

/// What the queue and the disk say where they contradict each other.
fn both_words(facts: &FactSet, of: &Subject) -> String {
    let queue = facts
        .value(of, &device::WRITE_CACHE)
        .map(|word| format!("queue: {word}"));
    let own = facts
        .value(of, &device::CACHE_TYPE)
        .map(|word| format!("disk: {word}"));
    match (queue, own) {
        (Some(queue), Some(own)) => joined([Some(queue), Some(own)]),
        _ => disk(facts, of),
    }
}

fn members(facts: &FactSet, of: &Subject) -> String {
    let caches = match facts.value(of, &controller::DISK_CACHE) {
        Some(DiskCache::Off) => "own caches off",
        Some(DiskCache::On) => "own caches on",
        Some(DiskCache::DiskDefault) | None => "own caches not known",
    };
    caches.to_owned()
}
