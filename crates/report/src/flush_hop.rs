use super::device_description::describe_device;
use super::stack;
use walwise_judge::durability::{FlushHop, FlushState, HopKind};
use walwise_model::facts::catalog::controller::{self, MemberDiskCache};
use walwise_model::facts::catalog::device::{self, CacheVolatility};
use walwise_model::facts::catalog::{cluster, mysql, postgres};
use walwise_model::facts::{FactSet, FactValue, Key, ServerKind, Subject};
use walwise_model::text::JoinText;
use walwise_model::{settings, text};

pub fn hop_description(facts: &FactSet, hop: &FlushHop) -> String {
    let of_each = |one: fn(&FactSet, &Subject) -> String| {
        join_with_counts(hop.subjects.iter().map(|of| one(facts, of)))
    };
    match hop.kind {
        HopKind::Commit => "acknowledged once the flush below returns".to_owned(),
        HopKind::Server if hop.subjects.is_empty() => {
            "evaluated from the file system down".to_owned()
        }
        HopKind::Server => of_each(server_flush_settings_text),
        HopKind::FileSystem => of_each(mount_point_and_options_text),
        HopKind::Layer => of_each(describe_device),
        HopKind::Disk => {
            let contradicts = matches!(hop.state, FlushState::Disagrees);
            of_each(if contradicts {
                conflicting_caches_text
            } else {
                disk_and_cache_text
            })
        }
        HopKind::Members => of_each(raid_member_disk_cache_text),
        HopKind::Beyond => "not visible from this host".to_owned(),
    }
}

fn join_with_counts(all: impl Iterator<Item = String>) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for words in all {
        match counted.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => counted.push((words, 1)),
        }
    }
    let texts: Vec<String> = counted
        .into_iter()
        .map(|(words, count)| match count {
            1 => words,
            count => format!("{count} × {words}"),
        })
        .collect();
    text::format_names_and_rest(&texts, MAX_DESCRIPTIONS)
}

/// Maximum number of different descriptions shown for one layer of a flush path.
const MAX_DESCRIPTIONS: usize = 2;

fn join_with_middle_dots<const N: usize>(parts: [Option<String>; N]) -> String {
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .join_with(" · ")
}

fn setting_name_and_value<T: FactValue>(
    facts: &FactSet,
    of: &Subject,
    key: &Key<T>,
    name: &str,
) -> Option<String> {
    let value = facts.reading(of, key.id()).value()?;
    Some(format!(
        "{name} {}",
        settings::find_by_name(key.name())?.format_config_value(value)
    ))
}

fn server_flush_settings_text(facts: &FactSet, of: &Subject) -> String {
    let version = facts
        .value(of, facts.database_profile_or_postgres(of).version)
        .map(|version| version.to_string());
    match facts.value(of, &cluster::KIND) {
        Some(ServerKind::Mysql | ServerKind::Mariadb) => join_with_middle_dots([
            version,
            facts
                .value(of, &mysql::FLUSH_METHOD)
                .map(|method| method.to_string()),
            setting_name_and_value(facts, of, &mysql::FLUSH_LOG, "flush_log_at_trx_commit"),
        ]),
        Some(ServerKind::Postgres) | None => join_with_middle_dots([
            version,
            setting_name_and_value(facts, of, &postgres::FSYNC, "fsync"),
            facts
                .value(of, &postgres::WAL_SYNC_METHOD)
                .map(|method| method.to_string()),
        ]),
    }
}

fn mount_point_and_options_text(facts: &FactSet, of: &Subject) -> String {
    let words = stack::mount_options(facts, of)
        .map(|words| stack::displayed_mount_options(&words).join(","));
    join_with_middle_dots([Some(of.name().to_owned()), words])
}

fn disk_and_cache_text(facts: &FactSet, of: &Subject) -> String {
    let model = facts
        .value(of, &controller::MODEL)
        .or_else(|| facts.value(of, &device::MODEL));
    let named = model.or_else(|| facts.value(of, &device::KIND).map(|kind| kind.to_string()));
    let size = facts.value(of, &device::SIZE).map(text::format_bytes);
    let battery = facts
        .value(of, &controller::BATTERY)
        .map(|battery| format!("battery {battery}"));
    let cache = facts.value(of, &device::CACHE).map(|cache| match cache {
        CacheVolatility::Volatile => "volatile cache",
        CacheVolatility::Contradictory => "contradictory cache",
        CacheVolatility::Unknown => "cache unknown",
        CacheVolatility::Protected => "protected cache",
        CacheVolatility::None => "no volatile cache",
    });
    let named = [named, size].into_iter().flatten().join_with(", ");
    join_with_middle_dots([Some(named), cache.map(str::to_owned), battery])
}

fn conflicting_caches_text(facts: &FactSet, of: &Subject) -> String {
    let queue = facts.value(of, &device::WRITE_CACHE);
    match (queue, facts.value(of, &device::CACHE_TYPE)) {
        (Some(queue), Some(own)) => format!("queue: {queue} · disk: {own}"),
        _ => disk_and_cache_text(facts, of),
    }
}

fn raid_member_disk_cache_text(facts: &FactSet, of: &Subject) -> String {
    let caches = match facts.value(of, &controller::DISK_CACHE) {
        Some(MemberDiskCache::Off) => "drive caches off",
        Some(MemberDiskCache::On) => "drive caches on",
        Some(MemberDiskCache::DiskDefault) | None => "drive caches unknown",
    };
    caches.to_owned()
}
