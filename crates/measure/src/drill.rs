//! The drill: the commits that a writer acknowledged before the power was cut, compared with the
//! disk afterwards.
//!
//! This module has the pages, the logs and the comparison; [`crate::probes::drill`] writes and
//! reads files. An acknowledgement counts only if *another* machine received it, because a machine
//! that lost its power is no reliable witness.

mod page {
    //! A page of the drill's WAL: the id of its run, its number, and noise derived from both, so
    //! that a partly written page is recognised.

    /// Size of a page, in bytes (XLOG_BLCKSZ).
    pub const PAGE: usize = 8192;

    const MAGIC: u64 = u64::from_le_bytes(*b"WALDRILL");

    /// Makes the page with this number.
    pub fn fill(page: &mut [u8], run: u64, number: u64) {
        for (place, word) in (0..).zip(page.chunks_exact_mut(8)) {
            word.copy_from_slice(&word_at(place, run, number).to_le_bytes());
        }
    }

    /// The number of a page of this run; `None` for anything else, including a page with a foreign
    /// sector.
    pub fn number_of(page: &[u8], run: u64) -> Option<u64> {
        let word = |at: usize| {
            page.get(at..at + 8)?
                .try_into()
                .ok()
                .map(u64::from_le_bytes)
        };
        let number = word(16)?;
        let whole = (0..)
            .zip(page.chunks_exact(8))
            .all(|(place, word)| word == word_at(place, run, number).to_le_bytes());
        (page.len() == PAGE && whole).then_some(number)
    }

    /// The word at a place. Every word after the head is a function of place, run and number
    /// (SplitMix64's finisher).
    fn word_at(place: u64, run: u64, number: u64) -> u64 {
        match place {
            0 => MAGIC,
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

        fn page(run: u64, number: u64) -> Vec<u8> {
            let mut page = vec![0; PAGE];
            fill(&mut page, run, number);
            page
        }

        #[test]
        fn a_page_is_known_by_every_sector_of_it() {
            let new = page(7, 3000);
            assert_eq!(number_of(&new, 7), Some(3000));
            assert_eq!(number_of(&new, 8), None, "of another run");
            assert_eq!(number_of(&new[..PAGE - 512], 7), None);
            assert_eq!(number_of(&vec![0; PAGE], 7), None);
            // Torn: some sectors are still those of the page that was there before.
            let old = page(7, 3000 - 2048);
            for sector in 0..PAGE / 512 {
                let mut torn = new.clone();
                torn[sector * 512..(sector + 1) * 512]
                    .copy_from_slice(&old[sector * 512..(sector + 1) * 512]);
                assert_eq!(number_of(&torn, 7), None, "sector {sector}");
            }
        }
    }
}
mod stack {
    //! The object of a drill: the host, its kernel, and the stack below the directory, fact by
    //! fact, at the time of the power cut.
    //!
    //! A drill counts only for the same stack. The catalog marks its facts: those that identify a
    //! thing, and those that affect the price of a commit. The kernel's device names are left out.
    //! Disks are counted from the top instead, so a disk that comes back as sdb is still the same.

    use std::collections::BTreeMap;
    use std::fmt;

    use crate::facts::catalog::{host, kernel};
    use crate::facts::{FactSet, KeyInfo, Nature, Scope, Subject, catalog};

    const MARK: &str = "stack ";

    /// The facts, each as `device 2 device.firmware=GXM1003Q`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct StackFingerprint(BTreeMap<String, String>);

    impl StackFingerprint {
        /// The stack below a target.
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
                stack.add(facts, &machine, "host", name);
            }
            let mut counts: BTreeMap<Scope, usize> = BTreeMap::new();
            for subject in std::iter::once(target.clone()).chain(facts.stack(target)) {
                let nth = counts.entry(subject.scope()).or_default();
                *nth += 1;
                let place = format!("{} {nth}", subject.scope());
                for info in
                    catalog::all().filter(|info| info.scope == subject.scope() && tells(info))
                {
                    stack.add(facts, &subject, &place, info.name);
                }
            }
            stack
        }

        fn add(&mut self, facts: &FactSet, subject: &Subject, place: &str, name: &str) {
            let reading = facts.named(subject, name);
            let (Some(value), Some(source)) = (reading.value(), reading.source()) else {
                return;
            };
            // An assumed value was never observed.
            let typed = if source.is_evidence() {
                ""
            } else {
                " (assumed)"
            };
            self.0
                .insert(format!("{place} {name}"), format!("{value}{typed}"));
        }

        /// Whether nothing about it is known.
        pub fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        /// Adds a line as [`Self`] displays it; returns whether it was one.
        pub fn take(&mut self, line: &str) -> bool {
            let Some((name, value)) = line
                .strip_prefix(MARK)
                .and_then(|rest| rest.split_once('='))
            else {
                return false;
            };
            self.0.insert(name.to_owned(), value.trim_end().to_owned());
            true
        }

        /// The difference now, in a fragment such as `device 1 device.firmware was 1.2 and is 1.3`;
        /// `None` without one.
        pub fn changed(&self, now: &Self) -> Option<String> {
            let names = self.0.keys().chain(now.0.keys());
            let differs = names
                .into_iter()
                .find(|name| self.0.get(*name) != now.0.get(*name))?;
            let value = |of: &Self| {
                of.0.get(differs)
                    .map_or("not known", String::as_str)
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
                .try_for_each(|(name, value)| writeln!(f, "{MARK}{name}={value}"))
        }
    }

    /// Whether a fact distinguishes one stack from another.
    fn tells(info: &KeyInfo) -> bool {
        let steady = !matches!(
            info.nature,
            Nature::Assigned | Nature::Drifting | Nature::Measured | Nature::Concluded
        );
        info.nature == Nature::Identity || (info.prices && steady)
    }
}
mod log;
mod outcome;
mod record;

#[cfg(test)]
pub use log::Acknowledged;
pub use log::{BOOT, Head, Ranges, STOPPED, Survived, acknowledged, survived};
pub use outcome::{DrillResult, compare, no_cut};
pub use page::{PAGE, fill, number_of};
pub use record::{Record, day};
pub use stack::StackFingerprint;

/// Number of pages in a WAL segment: 16 MiB, PostgreSQL's default.
pub const PAGES: u64 = 2048;
