//! What retains WAL beyond `max_wal_size`, which standbys are missing, and how much WAL fits.

use super::server_facts::{ServerFacts, UnknownFact, derived_reading};
use crate::facts::catalog::postgres::ArchiveMode;
use crate::facts::catalog::{mount, postgres};
use crate::facts::{FactSet, Reading, Subject, UnknownReason};
use crate::servers::format_postgres_size;
use crate::text;

/// A WAL file that waits longer for the archiver is overdue (`pg.archiver-fails`).
const OVERDUE_MICROS: f64 = 3600e6;

/// Concludes what keeps WAL, and how much WAL the file system has room for.
pub(super) fn derive_retention_facts(facts: &mut FactSet, cluster: &Subject) {
    let server = ServerFacts {
        facts,
        subject: cluster,
    };
    let share = derived_reading(
        server.inactive_slot_share(),
        &[postgres::INACTIVE_SLOT_WAL.name()],
    );
    let missing = derived_reading(
        server.missing_standbys(),
        &[postgres::CONNECTED_STANDBYS.name()],
    );
    let room = [mount::FREE.name(), postgres::WAL_FILES.name()];
    let limit = derived_reading(server.wal_size_limit().map(format_postgres_size), &room);
    let cap = derived_reading(server.slot_wal_cap(), &room);
    let holder = derived_reading(
        server.wal_holder(),
        &[
            postgres::INACTIVE_SLOT.name(),
            postgres::ARCHIVER_FAILING.name(),
        ],
    );
    facts.insert(cluster, &postgres::INACTIVE_SLOT_SHARE, share);
    facts.insert(cluster, &postgres::MISSING_STANDBYS, missing);
    facts.insert(cluster, &postgres::WAL_SIZE_LIMIT, limit);
    facts.insert(cluster, &postgres::SLOT_WAL_CAP, cap);
    facts.insert(cluster, &postgres::WAL_HOLDER, holder);
}

impl ServerFacts<'_> {
    fn inactive_slot_share(&self) -> Result<f64, UnknownFact> {
        let retained = self.require(&postgres::INACTIVE_SLOT_WAL)?;
        let limit = self.require(&postgres::MAX_WAL_SIZE)?;
        Ok(retained as f64 / limit.max(1) as f64)
    }

    fn missing_standbys(&self) -> Result<u64, UnknownFact> {
        let wanted = self.require(&postgres::STANDBYS)?;
        if wanted == 0 {
            return Ok(0);
        }
        Ok(wanted.saturating_sub(self.require(&postgres::CONNECTED_STANDBYS)?))
    }

    /// Bytes that the WAL can occupy: those that it has and those that are free.
    fn wal_space(&self) -> Result<u64, UnknownFact> {
        let files = self.require(&postgres::WAL_FILES)?;
        let unknown = || {
            let detail = "the size of the WAL's file system is unknown";
            UnknownFact(Reading::unknown(UnknownReason::NotCollected, detail))
        };
        let free = self.log_mount_value(&mount::FREE).ok_or_else(unknown)?;
        let size = self.log_mount_value(&mount::SIZE).ok_or_else(unknown)?;
        Ok(files.saturating_add(free).min(size))
    }

    /// The largest power of two within half of the space. Servers refuse less than two
    /// segments.
    fn wal_size_limit(&self) -> Result<u64, UnknownFact> {
        let half = self.wal_space()? / 2;
        let least = self.require(&postgres::WAL_SEGMENT_SIZE)?.saturating_mul(2);
        let size = half.checked_ilog2().map_or(0, |power| 1 << power);
        if size < least {
            let detail = "the WAL's file system has no room for two segments";
            return Err(UnknownFact(Reading::unknown(UnknownReason::Absent, detail)));
        }
        Ok(size)
    }

    fn slot_wal_cap(&self) -> Result<String, UnknownFact> {
        let retained = self.require(&postgres::SLOT_WAL)?;
        let cap = self.wal_size_limit()?;
        // The next checkpoint would invalidate the slot at once.
        Ok(if retained >= cap {
            String::new()
        } else {
            format_postgres_size(cap)
        })
    }

    fn wal_holder(&self) -> Result<String, UnknownFact> {
        if self.inactive_slot_share()? >= 1.0 {
            let slot = self.require(&postgres::INACTIVE_SLOT)?;
            let retained = text::format_bytes(self.require(&postgres::INACTIVE_SLOT_WAL)?);
            return Ok(format!("inactive slot {slot} retains {retained}"));
        }
        if self.require(&postgres::ARCHIVE_MODE)? == ArchiveMode::Off {
            return Ok(String::new());
        }
        let waiting = self.require(&postgres::ARCHIVE_READY)?;
        let is_overdue = self
            .value(&postgres::ARCHIVE_WAIT)
            .is_some_and(|micros| micros >= OVERDUE_MICROS);
        let is_failing = is_overdue || self.require(&postgres::ARCHIVER_FAILING)?;
        Ok(if is_failing && waiting > 0 {
            format!("{waiting} WAL files wait for archiving")
        } else {
            String::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Key, Source};

    fn server_facts(values: &[(&Key<u64>, u64)]) -> (FactSet, Subject) {
        let (server, wal) = (Subject::cluster("/pg"), Subject::mount("/pg"));
        let mut facts = FactSet::default();
        facts.link(&server, &wal);
        let test = || Source::system_call("test");
        for (key, value) in [(&mount::SIZE, 12 << 30), (&mount::FREE, 6 << 30)] {
            facts.insert_known(&wal, key, value, test());
        }
        for (key, value) in [
            (&postgres::WAL_FILES, 3 << 30),
            (&postgres::MAX_WAL_SIZE, 1 << 30),
            (&postgres::WAL_SEGMENT_SIZE, 16 << 20),
        ]
        .iter()
        .chain(values)
        {
            facts.insert_known(&server, key, *value, test());
        }
        derive_retention_facts(&mut facts, &server);
        (facts, server)
    }

    #[test]
    fn limits_fit_the_space_that_the_wal_can_use() {
        let limits = |values: &[(&Key<u64>, u64)]| {
            let (facts, server) = server_facts(values);
            [&postgres::WAL_SIZE_LIMIT, &postgres::SLOT_WAL_CAP]
                .map(|key| facts.value(&server, key))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            limits(&[(&postgres::SLOT_WAL, 2 << 30)]),
            [some("4GB"), some("4GB")]
        );
        let over = limits(&[(&postgres::SLOT_WAL, 4 << 30)]);
        assert_eq!(
            over,
            [some("4GB"), some("")],
            "the slot would be invalidated at once"
        );
        let sparse = limits(&[(&postgres::WAL_FILES, 1 << 62), (&postgres::SLOT_WAL, 0)]);
        assert_eq!(sparse[0], some("4GB"), "not more than the file system");
        let large = limits(&[
            (&postgres::WAL_SEGMENT_SIZE, 4 << 30),
            (&postgres::SLOT_WAL, 0),
        ]);
        assert_eq!(large, [None, None], "two segments do not fit");
    }

    #[test]
    fn what_holds_the_wal_is_named() {
        let holder = |values: &[(&Key<u64>, u64)], mode: ArchiveMode| {
            let (mut facts, server) = server_facts(values);
            let test = || Source::system_call("test");
            facts.insert_known(
                &server,
                &postgres::INACTIVE_SLOT,
                "berlin".to_owned(),
                test(),
            );
            facts.insert_known(&server, &postgres::ARCHIVE_MODE, mode, test());
            facts.insert_known(&server, &postgres::ARCHIVER_FAILING, true, test());
            derive_retention_facts(&mut facts, &server);
            facts.value(&server, &postgres::WAL_HOLDER).unwrap()
        };
        let slot = |bytes| (&postgres::INACTIVE_SLOT_WAL, bytes);
        let waiting = (&postgres::ARCHIVE_READY, 7);
        assert_eq!(
            holder(&[slot(2 << 30), waiting], ArchiveMode::On),
            "inactive slot berlin retains 2 GiB"
        );
        assert_eq!(
            holder(&[slot(0), waiting], ArchiveMode::On),
            "7 WAL files wait for archiving"
        );
        assert_eq!(holder(&[slot(0), waiting], ArchiveMode::Off), "");
    }

    #[test]
    fn standbys_are_missing_only_if_commits_wait_for_them() {
        for (wanted, connected, missing) in [(0, 0, 0), (2, 1, 1), (1, 3, 0)] {
            let (facts, server) = server_facts(&[
                (&postgres::STANDBYS, wanted),
                (&postgres::CONNECTED_STANDBYS, connected),
            ]);
            assert_eq!(
                facts.value(&server, &postgres::MISSING_STANDBYS),
                Some(missing)
            );
        }
        let (facts, server) = server_facts(&[(&postgres::STANDBYS, 1)]);
        assert_eq!(facts.value(&server, &postgres::MISSING_STANDBYS), None);
    }
}
