//! Trials: candidate file systems made, mounted and measured side by side, and what may be said of
//! them. Pure.
//!
//! A *cell* is one candidate in one *block*; a block is a random order of all candidates on the
//! same extent, each made anew. In every block the reference runs twice under two names, and the
//! bare extent is measured too. Cells are run by `cells`; the meaning of their figures is decided
//! here, and never a winner without evidence for it.

mod looks {
    //! When the evidence may be looked at, declared before the first block, and what each look may
    //! err by.
    //!
    //! A trial that stops as soon as a difference shows finds one by chance sooner or later. The 5
    //! % are therefore divided equally among all looks and the end (Bonferroni; Jennison and
    //! Turnbull, *Group Sequential Methods*, ch. 2): whatever is said at any of them holds together
    //! with 95 % probability.

    /// The probability of error of a whole trial.
    pub const ALPHA: f64 = 0.05;

    /// The numbers of complete blocks at which a trial looks: about a quarter more from each to the
    /// next. The first is the smallest for which an interval of this level exists.
    pub const LOOKS: [usize; 13] = [10, 12, 15, 18, 22, 27, 33, 40, 50, 62, 78, 98, 124];

    /// The probability of error of one look, or of the end.
    pub const ALPHA_PER_LOOK: f64 = ALPHA / (LOOKS.len() + 1) as f64;

    /// The last block of any trial.
    pub const LAST: usize = 124;

    /// How a trial ended, which decides whether its last blocks may be looked at.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Ending {
        Running,
        Settled,
        /// Its time is over: the time was declared before, and the end is a look of its own.
        Budget,
        /// Somebody stopped it, perhaps because of what he saw: only what was said at the last look
        /// holds.
        Stopped,
    }

    /// The numbers of blocks to judge by, in order, when so many are complete.
    pub fn looks(blocks: usize, ending: Ending) -> Vec<usize> {
        let mut looks: Vec<usize> = LOOKS.into_iter().filter(|look| *look <= blocks).collect();
        match ending {
            Ending::Running | Ending::Settled | Ending::Stopped => {}
            Ending::Budget => {
                let end = blocks.min(LAST);
                if looks.last() != Some(&end) {
                    looks.push(end);
                }
            }
        }
        looks
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_a_declared_end_is_a_look_of_its_own() {
            assert_eq!(looks(13, Ending::Running), [10, 12]);
            assert_eq!(looks(13, Ending::Stopped), [10, 12]);
            assert_eq!(looks(13, Ending::Budget), [10, 12, 13]);
            assert_eq!(looks(12, Ending::Budget), [10, 12]);
            assert_eq!(looks(4, Ending::Budget), [4]);
            assert_eq!(looks(1_000_000, Ending::Budget), LOOKS);
            assert_eq!(LOOKS.last(), Some(&LAST));
            assert!(LOOKS.is_sorted());
        }
    }
}
mod candidate;
mod contest;
mod load;
mod promise;
mod ranks;
mod record;
mod certificate {
    //! What figures from a loop file are worth: the host's own file system measured beside the loop
    //! device, block by block.
    //!
    //! A flush of a loop device is an fsync of its file, so the host's journal is in every sample
    //! and draws all ratios towards 1. Where that shows, the trial says so.

    use super::contest::interval;
    use super::looks::LAST;
    use super::record::{ExtentKind, Runner, TrialRecord};

    /// Times the host's own latency from which figures are an indication only.
    const TOO_MUCH: f64 = 1.3;

    /// The certificate of a loop file.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Certificate {
        /// None is needed: nothing lies between the file systems and the disk.
        NotNeeded,
        Unknown,
        /// The loop device is as fast as the file: whatever the interval holds is within a third.
        Faithful,
        /// The blocks scatter too much to say: from so many times the file's latency to so many.
        Unsettled(f64, f64),
        /// It is not: the order holds, ratios are nearer to 1 than on the disk. So many times the
        /// file's latency.
        OrderOnly(f64),
        /// It changes the picture: so many times the file's latency.
        Indicative(f64),
    }

    impl TrialRecord {
        pub fn certificate(&self) -> Certificate {
            match self.extent {
                ExtentKind::Loop => self.certificate_of_loop(),
                ExtentKind::Disk => Certificate::NotNeeded,
            }
        }

        fn certificate_of_loop(&self) -> Certificate {
            let (floor, host) = (
                self.samples(Runner::Floor, 0),
                self.samples(Runner::Host, 0),
            );
            let pairs = floor
                .into_iter()
                .zip(host)
                .filter_map(|(floor, host)| floor.zip(host));
            let ratios: Vec<f64> = pairs
                .map(|(floor, host)| (host.rate() / floor.rate()).ln())
                .filter(|ratio| ratio.is_finite())
                .take(LAST)
                .collect();
            let most = TOO_MUCH.ln();
            match interval(&ratios) {
                None => Certificate::Unknown,
                Some(found) if found.value.abs() > most => {
                    Certificate::Indicative(found.value.exp())
                }
                Some(found) if found.low > 0.0 || found.high < 0.0 => {
                    Certificate::OrderOnly(found.value.exp())
                }
                Some(found) if found.low >= -most && found.high <= most => Certificate::Faithful,
                Some(found) => Certificate::Unsettled(found.low.exp(), found.high.exp()),
            }
        }

        /// How many times faster the bare extent was in its best tenth of blocks than in its worst;
        /// `None` without blocks.
        pub fn floor_spread(&self) -> Option<f64> {
            let mut rates: Vec<f64> = self
                .samples(Runner::Floor, 0)
                .into_iter()
                .flatten()
                .map(|sample| sample.rate())
                .collect();
            rates.sort_by(f64::total_cmp);
            let tenth = rates.len() / 10;
            let worst = rates.get(tenth).copied().filter(|rate| *rate > 0.0)?;
            Some(rates.get(rates.len() - 1 - tenth)? / worst)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::trial::Contender;
        use crate::trial::sample::{record, slowed};

        fn with(times: impl Fn(usize) -> f64) -> TrialRecord {
            slowed(
                record(
                    &[
                        (Contender::Ext4, 4_000.0, None),
                        (Contender::Xfs, 4_000.0, None),
                    ],
                    15,
                ),
                times,
            )
        }

        #[test]
        fn figures_are_certified_only_where_the_blocks_show_it() {
            assert_eq!(with(|_| 1.0).certificate(), Certificate::Faithful);
            assert!(
                matches!(with(|_| 0.9).certificate(), Certificate::OrderOnly(times) if times > 1.05)
            );
            assert!(
                matches!(with(|_| 0.5).certificate(), Certificate::Indicative(times) if times > 1.9)
            );
            let scattered = with(|nth| if nth % 2 == 0 { 0.5 } else { 2.0 });
            assert!(
                matches!(scattered.certificate(), Certificate::Unsettled(low, high) if low < 0.8 && high > 1.3)
            );
        }
    }
}
mod methods;
mod result {
    //! What a record says about each load, and when a trial may stop.

    use super::contest::{Contest, TrialOutcome};
    use super::load::TrialLoad;
    use super::looks::{Ending, LAST};
    use super::record::TrialRecord;

    /// The longest time in seconds that a trial is said to need: with more, the disk is too
    /// unsteady for one.
    pub const WORTH_WAITING: f64 = 86_400.0;

    /// What the blocks say about one load.
    #[derive(Clone, Debug)]
    pub struct LoadResult {
        pub at: usize,
        pub load: TrialLoad,
        /// The ranked candidates, by number in the record; the contest counts in this order.
        pub ranked: Vec<usize>,
        pub contest: Contest,
    }

    impl LoadResult {
        /// The ranked candidates of these places in the contest, by number in the record.
        pub fn named(&self, places: &[usize]) -> Vec<usize> {
            places
                .iter()
                .filter_map(|place| self.ranked.get(*place).copied())
                .collect()
        }
    }

    impl TrialRecord {
        /// The results of all loads, in order; none where the reference cannot be ranked, or
        /// nothing beside it.
        pub fn results(&self) -> Vec<LoadResult> {
            let ranked = self.ranked();
            if ranked.first() != Some(&0) || ranked.len() < 2 {
                return Vec::new();
            }
            let of = |(at, load): (usize, &TrialLoad)| {
                let contest = Contest::judged(&self.figures(&ranked, at), self.ending);
                LoadResult {
                    at,
                    load: *load,
                    ranked: ranked.clone(),
                    contest,
                }
            };
            self.loads.iter().enumerate().map(of).collect()
        }

        /// Whether further blocks cannot change what the deciding loads say, or none may follow.
        pub fn is_settled(&self) -> bool {
            let results = self.results();
            let open =
                |result: &LoadResult| result.load.decides() && result.contest.outcome().is_open();
            let by_method = || {
                self.is_about_methods()
                    && self
                        .methods()
                        .iter()
                        .any(|found| found.contest.outcome().is_open())
            };
            // Without any result more blocks would not bring one: who failed once is not ranked.
            self.blocks.len() >= LAST
                || !self.blocks.is_empty() && !results.iter().any(open) && !by_method()
        }

        /// About how many more seconds would settle it; `None` where nothing is known yet, or it is
        /// settled.
        pub fn seconds_needed(&self) -> Option<f64> {
            let deciding = self
                .results()
                .into_iter()
                .filter(|result| result.load.decides());
            let blocks = deciding
                .filter_map(|result| result.contest.blocks_needed())
                .max()?;
            let done = self.blocks.len().max(1);
            let each = self.seconds / done as f64;
            Some(blocks.saturating_sub(done) as f64 * each)
        }

        /// The only candidate that may be the best for every deciding load, where it is one and the
        /// trial could tell.
        pub fn winner(&self) -> Option<usize> {
            let deciding = self
                .results()
                .into_iter()
                .filter(|result| result.load.decides());
            let winners: Vec<Option<usize>> = deciding
                .map(|result| match result.contest.outcome() {
                    TrialOutcome::Best(place) => result.named(&[place]).first().copied(),
                    TrialOutcome::TooFew
                    | TrialOutcome::CannotTell
                    | TrialOutcome::Alike(_)
                    | TrialOutcome::Open(_) => None,
                })
                .collect();
            let first = winners.first().copied().flatten()?;
            winners
                .iter()
                .all(|winner| *winner == Some(first))
                .then_some(first)
        }

        /// Whether its last blocks may be looked at.
        pub fn ended(&mut self, ending: Ending, seconds: f64) {
            self.ending = ending;
            self.seconds = seconds;
        }
    }
}
mod answer;
mod forest;
mod telling;
mod drawing {
    //! A told trial, drawn as text for a terminal and as Markdown.

    use super::telling::{NOT_RANKED, TableCell, TableOfLoad, Telling};
    use crate::text::page::TextBuilder;
    use crate::text::wrap::columns;

    /// Columns before a table.
    const INDENT: usize = 2;

    impl Telling {
        /// As text for a terminal: without the tables of loads that decide nothing.
        pub fn text(&self) -> String {
            let mut lines = self.head.clone();
            for part in self.loads.iter().filter(|part| part.decides) {
                lines.extend([
                    String::new(),
                    part.title.clone(),
                    format!("  {}", part.sentence),
                ]);
                lines.extend(table(part));
            }
            let others = others(&self.loads);
            if !others.is_empty() {
                lines.push(String::new());
                lines.extend(others);
            }
            lines.push(String::new());
            lines.extend(self.notes.iter().map(|note| format!("- {note}")));
            lines.join("\n") + "\n"
        }

        pub fn markdown(&self) -> String {
            let mut lines = vec!["# Trial".to_owned(), String::new()];
            lines.extend(self.head.iter().map(|line| format!("{line}  ")));
            let cell = |cell: &TableCell| match &cell.interval {
                Some(interval) => format!("{} ({interval})", cell.says),
                None => cell.says.clone(),
            };
            let row = |row: &Vec<TableCell>| {
                format!(
                    "| {} |",
                    row.iter().map(cell).collect::<Vec<_>>().join(" | ")
                )
            };
            for part in &self.loads {
                lines.extend([
                    String::new(),
                    format!("## {}", part.title),
                    String::new(),
                    part.sentence.clone(),
                ]);
                if part.columns.is_empty() {
                    continue;
                }
                lines.extend([String::new(), format!("| {} |", part.columns.join(" | "))]);
                lines.push(format!("|{}", "---|".repeat(part.columns.len())));
                lines.extend(part.rows.iter().map(row));
                if !part.below.is_empty() {
                    lines.push(format!(
                        "| *{NOT_RANKED}:* |{}",
                        " |".repeat(part.columns.len().saturating_sub(1))
                    ));
                    lines.extend(part.below.iter().map(row));
                }
            }
            lines.extend([String::new(), "## Notes".to_owned(), String::new()]);
            lines.extend(self.notes.iter().map(|note| format!("- {note}")));
            lines.join("\n") + "\n"
        }
    }

    /// A line for each answer of the loads that decide nothing; those that have the same one share
    /// it.
    fn others(loads: &[TableOfLoad]) -> Vec<String> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        for part in loads.iter().filter(|part| !part.decides) {
            match found
                .iter_mut()
                .find(|(sentence, _)| *sentence == part.sentence)
            {
                Some((_, titles)) => titles.push(&part.title),
                None => found.push((&part.sentence, vec![&part.title])),
            }
        }
        found
            .into_iter()
            .map(|(sentence, titles)| format!("{}: {sentence}", titles.join(", ")))
            .collect()
    }

    /// The lines of a table, in columns.
    fn table(part: &TableOfLoad) -> Vec<String> {
        let words = |row: &Vec<TableCell>| {
            row.iter()
                .map(|cell| cell.says.clone())
                .collect::<Vec<String>>()
        };
        let head = part.columns.iter().map(|word| (*word).to_owned()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(part.rows.iter().chain(&part.below).map(words))
            .collect();
        let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
        let mut page = TextBuilder::unbounded();
        page.table(INDENT, &rows, &right);
        let mut lines: Vec<String> = page.finish().lines().map(str::to_owned).collect();
        if !part.below.is_empty() {
            let whole = lines
                .iter()
                .map(|line| columns(line))
                .max()
                .unwrap_or_default()
                .saturating_sub(INDENT);
            let line = format!("{:INDENT$}{:-<whole$}", "", format!("-- {NOT_RANKED} "));
            lines.insert(rows.len() - part.below.len(), line);
        }
        lines
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn loads_that_decide_nothing_share_an_answer() {
            let load = |title: &str, sentence: &str| TableOfLoad {
                title: title.to_owned(),
                sentence: sentence.to_owned(),
                ..TableOfLoad::default()
            };
            let loads = vec![
                load("one", "Same."),
                load("other", "Else."),
                load("two", "Same."),
            ];
            let text = Telling {
                loads,
                ..Telling::default()
            }
            .text();
            assert_eq!(text, "\none, two: Same.\nother: Else.\n\n");
        }
    }
}

pub use answer::TrialAnswer;
pub use candidate::{Contender, mkfs_of_trials, mount_of_trials};
pub use certificate::Certificate;
pub use contest::{Contest, Cuts, MARGIN, PairOutcome, PairedFigures, TrialOutcome};
pub use forest::{ForestPlace, ForestRow};
pub(crate) use load::SEGMENT;
pub use load::{CommitShape, Preset, TrialLoad};
pub use looks::{Ending, LOOKS};
pub use ranks::Interval;
pub use record::{
    CandidateRecord, ExtentKind, FORMAT, Runner, Sample, TrialBlock, TrialCell, TrialRecord,
};
pub use result::{LoadResult, WORTH_WAITING};
pub use telling::{NOT_RANKED, TableCell, TableOfLoad, percent, summary, tell};

#[cfg(any(test, feature = "testing"))]
pub mod sample {
    //! Records of trials for tests.

    #![allow(clippy::indexing_slicing, reason = "for tests")]

    use super::candidate::Contender;
    use super::load::{Preset, TrialLoad};
    use super::looks::Ending;
    use super::record::{
        CandidateRecord, ExtentKind, FORMAT, Runner, Sample, TrialBlock, TrialCell, TrialRecord,
    };

    /// What a cell measured at this rate.
    pub fn sample(rate: f64, flushes: Option<u64>) -> Sample {
        let latency = 1e6 / rate;
        Sample {
            commits: 1_000,
            seconds: 1_000.0 / rate,
            p50_us: latency,
            p99_us: 2.0 * latency,
            flushes,
            leaf_flushes: None,
            calls: 1_000,
        }
    }

    /// Blocks in which the candidates run at these rates, each a little off by its place in a fixed
    /// pattern.
    pub fn record(candidates: &[(Contender, f64, Option<u64>)], blocks: usize) -> TrialRecord {
        let loads = vec![TrialLoad::of(Preset::Commits, &[1])[0]];
        let off = |block: usize, runner: usize| {
            1.0 + 0.01 * (((block * 7 + runner * 3) % 5) as f64 - 2.0)
        };
        let cell = |runner, sample| TrialCell {
            runner,
            samples: vec![sample],
            error: None,
        };
        let block = |block: usize| {
            let own = candidates
                .iter()
                .enumerate()
                .map(|(at, (_, rate, flushes))| {
                    cell(
                        Runner::Candidate(at),
                        sample(rate * off(block, at), *flushes),
                    )
                });
            let twin = cell(
                Runner::Twin,
                sample(candidates[0].1 * off(block, 9), Some(1_000)),
            );
            let floor = cell(Runner::Floor, sample(6_000.0 * off(block, 2), None));
            let host = cell(Runner::Host, sample(6_000.0 * off(block, 4), None));
            TrialBlock {
                cells: own.chain([twin, floor, host]).collect(),
                written: 1 << 20,
            }
        };
        let made = |(candidate, ..): &(Contender, f64, Option<u64>)| CandidateRecord {
            candidate: *candidate,
            mkfs: vec!["mkfs".to_owned(), "-q".to_owned()],
            version: "1".to_owned(),
            mount: String::new(),
        };
        TrialRecord {
            trial: FORMAT,
            walwise: "0.1.0".to_owned(),
            started: "2026-11-25T08:00:00Z".to_owned(),
            ending: Ending::Budget,
            seconds: 600.0,
            budget: 600.0,
            seed: 7,
            extent: ExtentKind::Loop,
            directory: "/srv".to_owned(),
            bytes: 2 << 30,
            host_filesystem: "ext4".to_owned(),
            leaves: vec!["sda".to_owned()],
            stack: Vec::new(),
            load_seconds: 0.5,
            loads,
            candidates: candidates.iter().map(made).collect(),
            blocks: (0..blocks).map(block).collect(),
        }
    }

    /// A record whose bare extent runs at so many times the rate of its file, block by block.
    pub fn slowed(mut record: TrialRecord, times: impl Fn(usize) -> f64) -> TrialRecord {
        for (nth, block) in record.blocks.iter_mut().enumerate() {
            for cell in block
                .cells
                .iter_mut()
                .filter(|cell| cell.runner == Runner::Floor)
            {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds /= times(nth));
            }
        }
        record
    }
}
