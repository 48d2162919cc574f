//! Room for a cluster's WAL to grow: the free space of its file system in units of `max_wal_size`.
//!
//! Runs once clusters are joined to their file systems. `max_wal_size` is a soft limit (PostgreSQL manual, WAL
//! Configuration): WAL can outgrow it, so free space of one or two times its size is little.

use crate::collect::collector::{Collector, Request};
use crate::facts::catalog::{cluster, mount, postgres};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::Host;

/// Derives the room for WAL of every cluster.
pub const COLLECTOR: Collector = Collector { id: "room for WAL", run };

fn run(_: &dyn Host, _: &Request, facts: &mut FactSet) {
    let other =
        |cluster: &Subject| facts.value(cluster, &cluster::KIND).is_some_and(|kind| !kind.is_postgres());
    let clusters: Vec<Subject> = facts.subjects(Scope::Cluster).filter(|one| !other(one)).cloned().collect();
    for subject in clusters {
        let room = room(facts, &subject);
        facts.put(&subject, &postgres::WAL_ROOM, room);
    }
}

fn room(facts: &FactSet, cluster: &Subject) -> Reading<f64> {
    let free = match facts.resolve(cluster, Scope::Mount) {
        Some(mount) => facts.get(&mount, &mount::FREE),
        None => Reading::unknown(Why::NotCollected, "the file system of its WAL"),
    };
    match (facts.get(cluster, &postgres::MAX_WAL_SIZE), free) {
        (Reading::Known { value: 0, source }, _) => Reading::unknown(Why::Malformed, format!("{source}: 0")),
        (Reading::Known { value: size, .. }, Reading::Known { value: free, .. }) => {
            let of = [postgres::MAX_WAL_SIZE.name(), mount::FREE.name()];
            Reading::known(free as f64 / size as f64, Source::derived(of))
        }
        (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => unknown.map(|bytes| bytes as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;

    fn known(size: Option<u64>, free: Option<u64>) -> Option<f64> {
        let (cluster, wal) = (Subject::cluster("/pg"), Subject::mount("/wal"));
        let mut facts = FactSet::default();
        facts.mention(&cluster);
        facts.link(&cluster, &wal);
        if let Some(size) = size {
            facts.know(&cluster, &postgres::MAX_WAL_SIZE, size, Source::Assumed);
        }
        if let Some(free) = free {
            facts.know(&wal, &mount::FREE, free, Source::Assumed);
        }
        run(&Fake::default(), &Request::default(), &mut facts);
        facts.value(&cluster, &postgres::WAL_ROOM)
    }

    #[test]
    fn room_is_known_where_both_are() {
        assert_eq!(known(Some(1 << 30), Some(3 << 29)), Some(1.5));
        assert_eq!(known(Some(1 << 30), Some(0)), Some(0.0));
        for (size, free) in [(None, Some(1)), (Some(1), None), (None, None), (Some(0), Some(1))] {
            assert_eq!(known(size, free), None, "{size:?} {free:?}");
        }
    }
}
