//! The drill (power-cut test) compares commits acknowledged before a power cut with the disk
//! afterwards. [`crate::probes::drill`] does the I/O.
//!
//! An acknowledgement counts only if *another* host received it: the host that loses power may lose
//! its own log.

mod wal_page {
    //! A WAL page of the drill: a run id, a number, and noise derived from both, by which a partly
    //! written page is recognised.

    /// PostgreSQL's default for XLOG_BLCKSZ.
    pub const PAGE_BYTES: usize = 8192;

    const PAGE_MAGIC: u64 = u64::from_le_bytes(*b"WALDRILL");

    pub fn fill_page(page: &mut [u8], run: u64, number: u64) {
        for (place, word) in (0..).zip(page.chunks_exact_mut(8)) {
            word.copy_from_slice(&expected_word(place, run, number).to_le_bytes());
        }
    }

    /// Returns the number of an intact page of the drill `run`; `None` if any word of the page is
    /// wrong.
    pub fn page_number(page: &[u8], run: u64) -> Option<u64> {
        let word = |at: usize| {
            page.get(at..at + 8)?
                .try_into()
                .ok()
                .map(u64::from_le_bytes)
        };
        let number = word(16)?;
        let whole = (0..)
            .zip(page.chunks_exact(8))
            .all(|(place, word)| word == expected_word(place, run, number).to_le_bytes());
        (page.len() == PAGE_BYTES && whole).then_some(number)
    }

    /// Returns the 64-bit word at index `place` of a page. Words 0 to 2 are the header; later words
    /// are noise, made by the finaliser of SplitMix64.
    fn expected_word(place: u64, run: u64, number: u64) -> u64 {
        match place {
            0 => PAGE_MAGIC,
            1 => run,
            2 => number,
            _ => {
                let z = run
                    ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    ^ place.wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn filled_page(run: u64, number: u64) -> Vec<u8> {
            let mut page = vec![0; PAGE_BYTES];
            fill_page(&mut page, run, number);
            page
        }

        #[test]
        fn a_page_is_known_only_if_every_sector_is_its_own() {
            let new = filled_page(7, 3000);
            assert_eq!(page_number(&new, 7), Some(3000));
            assert_eq!(page_number(&new, 8), None, "of another run");
            assert_eq!(page_number(&new[..PAGE_BYTES - 512], 7), None);
            assert_eq!(page_number(&vec![0; PAGE_BYTES], 7), None);
            let old = filled_page(7, 3000 - 2048);
            for sector in 0..PAGE_BYTES / 512 {
                let mut torn = new.clone();
                torn[sector * 512..(sector + 1) * 512]
                    .copy_from_slice(&old[sector * 512..(sector + 1) * 512]);
                assert_eq!(page_number(&torn, 7), None, "sector {sector}");
            }
        }
    }
}
mod stack_fingerprint {
    //! The stack of a drill: the host, its kernel and everything below the directory, as facts. A
    //! drill counts only for an identical stack.
    //!
    //! Disks are numbered from the top, because a disk may have another kernel name after the power
    //! cut.

    use std::collections::BTreeMap;
    use std::fmt;

    use crate::facts::catalog::{host, kernel};
    use crate::facts::{FactSet, FactStability, KeyInfo, Scope, Subject, catalog};

    const LINE_PREFIX: &str = "stack ";

    /// Maps a place and a fact name, such as `device 2 device.firmware`, to the value of the fact.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct StackFingerprint(BTreeMap<String, String>);

    impl StackFingerprint {
        pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
            let mut stack = Self::default();
            let machine = Subject::host();
            let of_host = [
                host::NAME.name(),
                host::VIRTUALISATION.name(),
                kernel::RELEASE.name(),
                kernel::ZFS_NO_FLUSH.name(),
            ];
            for name in of_host {
                stack.add_reading(facts, &machine, "host", name);
            }
            let mut counts: BTreeMap<Scope, usize> = BTreeMap::new();
            for subject in std::iter::once(target.clone()).chain(facts.layers_below(target)) {
                let nth = counts.entry(subject.scope()).or_default();
                *nth += 1;
                let place = format!("{} {nth}", subject.scope());
                for info in catalog::all_keys()
                    .filter(|info| info.scope == subject.scope() && identifies_stack(info))
                {
                    stack.add_reading(facts, &subject, &place, info.name);
                }
            }
            stack
        }

        fn add_reading(&mut self, facts: &FactSet, subject: &Subject, place: &str, name: &str) {
            let reading = facts.reading_by_name(subject, name);
            let (Some(value), Some(source)) = (reading.value(), reading.source()) else {
                return;
            };
            // The suffix makes an assumed value differ from an observed one.
            let typed = if source.is_evidence() {
                ""
            } else {
                " (assumed)"
            };
            self.0
                .insert(format!("{place} {name}"), format!("{value}{typed}"));
        }

        pub fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        /// Adds a line in the format of [`Display`](fmt::Display); returns false for any other
        /// line.
        pub fn try_add_line(&mut self, line: &str) -> bool {
            let Some((name, value)) = line
                .strip_prefix(LINE_PREFIX)
                .and_then(|rest| rest.split_once('='))
            else {
                return false;
            };
            self.0.insert(name.to_owned(), value.trim_end().to_owned());
            true
        }

        /// The first difference, as a clause such as `device 1 device.firmware was 1.2 and is 1.3`.
        pub fn first_difference(&self, now: &Self) -> Option<String> {
            let names = self.0.keys().chain(now.0.keys());
            let differs = names
                .into_iter()
                .find(|name| self.0.get(*name) != now.0.get(*name))?;
            let value = |of: &Self| {
                of.0.get(differs)
                    .map_or("unknown", String::as_str)
                    .to_owned()
            };
            Some(format!(
                "{differs} was {} and is {}",
                value(self),
                value(now)
            ))
        }
    }

    impl fmt::Display for StackFingerprint {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0
                .iter()
                .try_for_each(|(name, value)| writeln!(f, "{LINE_PREFIX}{name}={value}"))
        }
    }

    fn identifies_stack(info: &KeyInfo) -> bool {
        let steady = !matches!(
            info.nature,
            FactStability::Assigned
                | FactStability::Drifting
                | FactStability::Measured
                | FactStability::Concluded
        );
        info.nature == FactStability::Identity || (info.affects_latency && steady)
    }
}
mod drill_logs;
mod outcome;
mod record;

#[cfg(test)]
pub use drill_logs::AckLog;
pub use drill_logs::{
    BOOT_PREFIX, NumberRanges, ReadBackLog, RunHeader, STOPPED_LINE, parse_ack_log,
    parse_read_back_log,
};
pub use outcome::{DrillResult, find_lost_commits, unproven_power_cut_reason};
pub use record::{DrillRecord, date_part};
pub use stack_fingerprint::StackFingerprint;
pub use wal_page::{PAGE_BYTES, fill_page, page_number};

/// Pages in a WAL segment of 16 MiB, PostgreSQL's default.
pub const PAGES_PER_SEGMENT: u64 = 2048;
