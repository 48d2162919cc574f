//! Trials: candidate file systems made, mounted and measured side by side, and what follows from
//! it; no I/O.
//!
//! A *cell* is one candidate in one *block*; a block is a random order of all candidates on the
//! same extent, each newly made. In every block the reference runs twice, under two names, and the
//! bare extent is measured too.

mod interim_analysis {
    //! The interim analyses of a trial, declared before the first block, and the error of each.

    /// Error probability of a whole trial.
    pub const ALPHA: f64 = 0.05;

    /// Numbers of complete blocks at which a trial is analysed, each about a quarter more than the
    /// last. The first is the smallest with an interval of this level. Fixed in advance: a trial
    /// that stops at the first difference finds one by chance sooner or later.
    pub const INTERIM_BLOCKS: [usize; 13] = [10, 12, 15, 18, 22, 27, 33, 40, 50, 62, 78, 98, 124];

    /// Error probability of one analysis, or of the end: an equal share each (Bonferroni; Jennison
    /// and Turnbull, *Group Sequential Methods*, ch. 2). All statements together hold with 95 %.
    pub const ALPHA_PER_ANALYSIS: f64 = ALPHA / (INTERIM_BLOCKS.len() + 1) as f64;

    /// Most blocks of a trial.
    pub const LAST_BLOCK: usize = 124;

    /// How a trial ended: this decides whether its last blocks count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Ending {
        Running,
        Settled,
        /// Time is up. The limit was declared before, so the end is an analysis of its own.
        Budget,
        /// Stopped by the user, perhaps because of the figures: only the last interim analysis
        /// counts.
        Stopped,
    }

    /// The numbers of blocks to analyse, in order, with this many complete.
    pub fn interim_blocks(blocks: usize, ending: Ending) -> Vec<usize> {
        let mut looks: Vec<usize> = INTERIM_BLOCKS
            .into_iter()
            .filter(|look| *look <= blocks)
            .collect();
        match ending {
            Ending::Running | Ending::Settled | Ending::Stopped => {}
            Ending::Budget => {
                let end = blocks.min(LAST_BLOCK);
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
            assert_eq!(interim_blocks(13, Ending::Running), [10, 12]);
            assert_eq!(interim_blocks(13, Ending::Stopped), [10, 12]);
            assert_eq!(interim_blocks(13, Ending::Budget), [10, 12, 13]);
            assert_eq!(interim_blocks(12, Ending::Budget), [10, 12]);
            assert_eq!(interim_blocks(4, Ending::Budget), [4]);
            assert_eq!(interim_blocks(1_000_000, Ending::Budget), INTERIM_BLOCKS);
            assert_eq!(INTERIM_BLOCKS.last(), Some(&LAST_BLOCK));
            assert!(INTERIM_BLOCKS.is_sorted());
        }
    }
}
mod candidate;
mod comparison;
mod flush_audit;
mod load;
mod record;
mod signed_ranks;
mod certificate {
    //! What loop file figures are worth: the host's file system is measured next to the loop
    //! device, block by block. A flush of a loop device is an fsync of its file, so the host's
    //! journal is in every sample and draws all ratios towards 1.

    use super::comparison::interval;
    use super::interim_analysis::LAST_BLOCK;
    use super::record::{CellTarget, ExtentKind, TrialRecord};

    /// Ratio to the host's own latency from which figures are only an indication.
    const MAX_LATENCY_RATIO: f64 = 1.3;

    /// Certificate of a loop file; times are multiples of the file's latency.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Certificate {
        /// Not needed: nothing lies between the file systems and the disk.
        NotNeeded,
        Unknown,
        /// As fast as the file: the whole interval is within a third.
        Faithful,
        /// Too much scatter: from the low to the high multiple.
        Unsettled(f64, f64),
        /// Slower or faster: the order holds, but ratios are nearer to 1 than on the disk.
        OrderOnly(f64),
        /// Much slower or faster: figures are only an indication.
        Indicative(f64),
    }

    impl TrialRecord {
        pub fn certificate(&self) -> Certificate {
            match self.extent {
                ExtentKind::Loop => self.loop_certificate(),
                ExtentKind::Disk => Certificate::NotNeeded,
            }
        }

        fn loop_certificate(&self) -> Certificate {
            let (floor, host) = (
                self.samples(CellTarget::Floor, 0),
                self.samples(CellTarget::Host, 0),
            );
            let pairs = floor
                .into_iter()
                .zip(host)
                .filter_map(|(floor, host)| floor.zip(host));
            let ratios: Vec<f64> = pairs
                .map(|(floor, host)| (host.rate() / floor.rate()).ln())
                .filter(|ratio| ratio.is_finite())
                .take(LAST_BLOCK)
                .collect();
            let most = MAX_LATENCY_RATIO.ln();
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

        /// Speed of the bare extent in its best tenth of blocks, as a multiple of that in its
        /// worst; `None` without blocks.
        pub fn floor_spread(&self) -> Option<f64> {
            let mut rates: Vec<f64> = self
                .samples(CellTarget::Floor, 0)
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
        use crate::trial::Candidate;
        use crate::trial::sample::{record, with_floor_rate};

        fn record_with_floor(times: impl Fn(usize) -> f64) -> TrialRecord {
            with_floor_rate(
                record(
                    &[
                        (Candidate::Ext4, 4_000.0, None),
                        (Candidate::Xfs, 4_000.0, None),
                    ],
                    15,
                ),
                times,
            )
        }

        #[test]
        fn figures_are_certified_only_where_the_blocks_show_it() {
            assert_eq!(
                record_with_floor(|_| 1.0).certificate(),
                Certificate::Faithful
            );
            assert!(
                matches!(record_with_floor(|_| 0.9).certificate(), Certificate::OrderOnly(times) if times > 1.05)
            );
            assert!(
                matches!(record_with_floor(|_| 0.5).certificate(), Certificate::Indicative(times) if times > 1.9)
            );
            let scattered = record_with_floor(|nth| if nth % 2 == 0 { 0.5 } else { 2.0 });
            assert!(
                matches!(scattered.certificate(), Certificate::Unsettled(low, high) if low < 0.8 && high > 1.3)
            );
        }
    }
}
mod methods;
mod result {
    //! Results of each load, and when a trial may stop.

    use super::comparison::{PairwiseComparison, TrialOutcome};
    use super::interim_analysis::{Ending, LAST_BLOCK};
    use super::load::TrialLoad;
    use super::record::TrialRecord;

    /// Longest time in seconds that is announced: beyond it the disk is too unsteady for a trial.
    pub const MAX_WAIT_SECONDS: f64 = 86_400.0;

    /// Result of one load.
    #[derive(Clone, Debug)]
    pub struct LoadResult {
        pub index: usize,
        pub load: TrialLoad,
        /// Ranked candidates, by number in the record; the comparison counts in this order.
        pub ranked: Vec<usize>,
        pub comparison: PairwiseComparison,
    }

    impl LoadResult {
        /// Numbers in the record of these places in the ranking.
        pub fn candidate_indices(&self, places: &[usize]) -> Vec<usize> {
            places
                .iter()
                .filter_map(|place| self.ranked.get(*place).copied())
                .collect()
        }
    }

    impl TrialRecord {
        /// Results of all loads, in order; empty if the reference is not ranked, or nothing else
        /// is.
        pub fn results(&self) -> Vec<LoadResult> {
            let ranked = self.ranked_candidates();
            if ranked.first() != Some(&0) || ranked.len() < 2 {
                return Vec::new();
            }
            let of = |(at, load): (usize, &TrialLoad)| {
                let contest = PairwiseComparison::from_figures(
                    &self.paired_figures(&ranked, at),
                    self.ending,
                );
                LoadResult {
                    index: at,
                    load: *load,
                    ranked: ranked.clone(),
                    comparison: contest,
                }
            };
            self.loads.iter().enumerate().map(of).collect()
        }

        /// True if further blocks cannot change a deciding load, or none may follow.
        pub fn is_settled(&self) -> bool {
            let results = self.results();
            let open = |result: &LoadResult| {
                result.load.is_deciding() && result.comparison.outcome().is_undecided()
            };
            let by_method = || {
                self.compares_methods()
                    && self
                        .method_comparisons()
                        .iter()
                        .any(|found| found.comparison.outcome().is_undecided())
            };
            // More blocks would not help: a candidate that failed once stays unranked.
            self.blocks.len() >= LAST_BLOCK
                || !self.blocks.is_empty() && !results.iter().any(open) && !by_method()
        }

        /// Estimated seconds until it is settled; `None` without figures, or once settled.
        pub fn seconds_needed(&self) -> Option<f64> {
            let deciding = self
                .results()
                .into_iter()
                .filter(|result| result.load.is_deciding());
            let blocks = deciding
                .filter_map(|result| result.comparison.blocks_needed())
                .max()?;
            let done = self.blocks.len().max(1);
            let each = self.seconds / done as f64;
            Some(blocks.saturating_sub(done) as f64 * each)
        }

        /// The only possible best candidate of every deciding load, if there is one.
        pub fn winner(&self) -> Option<usize> {
            let deciding = self
                .results()
                .into_iter()
                .filter(|result| result.load.is_deciding());
            let winners: Vec<Option<usize>> = deciding
                .map(|result| match result.comparison.outcome() {
                    TrialOutcome::Best(place) => {
                        result.candidate_indices(&[place]).first().copied()
                    }
                    TrialOutcome::TooFewBlocks
                    | TrialOutcome::Inconclusive
                    | TrialOutcome::Equivalent(_)
                    | TrialOutcome::Undecided(_) => None,
                })
                .collect();
            let first = winners.first().copied().flatten()?;
            winners
                .iter()
                .all(|winner| *winner == Some(first))
                .then_some(first)
        }

        /// Sets how it ended, which decides whether the last blocks count.
        pub fn set_ending(&mut self, ending: Ending, seconds: f64) {
            self.ending = ending;
            self.seconds = seconds;
        }
    }
}
mod answer;
mod forest;
mod view;
mod render {
    //! The view of a trial as text for a terminal and as Markdown.

    use super::view::{LoadTable, NOT_RANKED, TableCell, TrialView};
    use crate::text::page::TextBuilder;
    use crate::text::wrap::display_width;

    /// Columns before a table.
    const INDENT: usize = 2;

    impl TrialView {
        /// Text for a terminal, without the tables of loads that decide nothing.
        pub fn text(&self) -> String {
            let mut lines = self.header.clone();
            for part in self.loads.iter().filter(|part| part.is_deciding) {
                lines.extend([
                    String::new(),
                    part.title.clone(),
                    format!("  {}", part.sentence),
                ]);
                lines.extend(table_lines(part));
            }
            let others = other_load_lines(&self.loads);
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
            lines.extend(self.header.iter().map(|line| format!("{line}  ")));
            let cell = |cell: &TableCell| match &cell.interval {
                Some(interval) => format!("{} ({interval})", cell.text),
                None => cell.text.clone(),
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
                if !part.unranked.is_empty() {
                    lines.push(format!(
                        "| *{NOT_RANKED}:* |{}",
                        " |".repeat(part.columns.len().saturating_sub(1))
                    ));
                    lines.extend(part.unranked.iter().map(row));
                }
            }
            lines.extend([String::new(), "## Notes".to_owned(), String::new()]);
            lines.extend(self.notes.iter().map(|note| format!("- {note}")));
            lines.join("\n") + "\n"
        }
    }

    /// One line per sentence of the loads that decide nothing; loads with the same sentence share
    /// it.
    fn other_load_lines(loads: &[LoadTable]) -> Vec<String> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        for part in loads.iter().filter(|part| !part.is_deciding) {
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

    fn table_lines(part: &LoadTable) -> Vec<String> {
        let words = |row: &Vec<TableCell>| {
            row.iter()
                .map(|cell| cell.text.clone())
                .collect::<Vec<String>>()
        };
        let head = part.columns.iter().map(|word| (*word).to_owned()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(part.rows.iter().chain(&part.unranked).map(words))
            .collect();
        let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
        let mut page = TextBuilder::unbounded();
        page.table(INDENT, &rows, &right);
        let mut lines: Vec<String> = page.finish().lines().map(str::to_owned).collect();
        if !part.unranked.is_empty() {
            let whole = lines
                .iter()
                .map(|line| display_width(line))
                .max()
                .unwrap_or_default()
                .saturating_sub(INDENT);
            let line = format!("{:INDENT$}{:-<whole$}", "", format!("-- {NOT_RANKED} "));
            lines.insert(rows.len() - part.unranked.len(), line);
        }
        lines
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn loads_that_decide_nothing_share_an_answer() {
            let load = |title: &str, sentence: &str| LoadTable {
                title: title.to_owned(),
                sentence: sentence.to_owned(),
                ..LoadTable::default()
            };
            let loads = vec![
                load("one", "Same."),
                load("other", "Else."),
                load("two", "Same."),
            ];
            let text = TrialView {
                loads,
                ..TrialView::default()
            }
            .text();
            assert_eq!(text, "\none, two: Same.\nother: Else.\n\n");
        }
    }
}

pub use answer::TrialAnswer;
pub use candidate::{Candidate, trial_mkfs_options, trial_mount_options};
pub use certificate::Certificate;
#[cfg(any(test, feature = "testing"))]
pub use comparison::PairOutcome;
pub use comparison::{Cuts, EQUIVALENCE_MARGIN, PairedFigures, PairwiseComparison, TrialOutcome};
pub use forest::{ForestPlace, ForestRow};
pub use interim_analysis::{Ending, INTERIM_BLOCKS};
pub(crate) use load::SEGMENT_BYTES;
pub use load::{CommitShape, Preset, TrialLoad};
pub use record::{
    CandidateRecord, CellTarget, ExtentKind, FORMAT_VERSION, Sample, TrialBlock, TrialCell,
    TrialRecord,
};
pub use result::{LoadResult, MAX_WAIT_SECONDS};
pub use signed_ranks::Interval;
pub use view::{LoadTable, NOT_RANKED, TableCell, percent_interval, summary, trial_view};

#[cfg(any(test, feature = "testing"))]
pub mod sample {
    //! Records of trials for tests.

    #![allow(clippy::indexing_slicing, reason = "for tests")]

    use super::candidate::Candidate;
    use super::interim_analysis::Ending;
    use super::load::{Preset, TrialLoad};
    use super::record::{
        CandidateRecord, CellTarget, ExtentKind, FORMAT_VERSION, Sample, TrialBlock, TrialCell,
        TrialRecord,
    };

    /// A cell's figures at this rate.
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

    /// Blocks in which the candidates run at these rates, with a small deviation in a fixed
    /// pattern.
    pub fn record(candidates: &[(Candidate, f64, Option<u64>)], blocks: usize) -> TrialRecord {
        let loads = vec![TrialLoad::preset_loads(Preset::Commits, &[1])[0]];
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
                        CellTarget::Candidate(at),
                        sample(rate * off(block, at), *flushes),
                    )
                });
            let twin = cell(
                CellTarget::Twin,
                sample(candidates[0].1 * off(block, 9), Some(1_000)),
            );
            let floor = cell(CellTarget::Floor, sample(6_000.0 * off(block, 2), None));
            let host = cell(CellTarget::Host, sample(6_000.0 * off(block, 4), None));
            TrialBlock {
                cells: own.chain([twin, floor, host]).collect(),
                written: 1 << 20,
            }
        };
        let made = |(candidate, ..): &(Candidate, f64, Option<u64>)| CandidateRecord {
            candidate: *candidate,
            mkfs: vec!["mkfs".to_owned(), "-q".to_owned()],
            version: "1".to_owned(),
            mount: String::new(),
        };
        TrialRecord {
            trial: FORMAT_VERSION,
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

    /// The record with the bare extent at `times(block)` times its rate.
    pub fn with_floor_rate(mut record: TrialRecord, times: impl Fn(usize) -> f64) -> TrialRecord {
        for (nth, block) in record.blocks.iter_mut().enumerate() {
            for cell in block
                .cells
                .iter_mut()
                .filter(|cell| cell.runner == CellTarget::Floor)
            {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds /= times(nth));
            }
        }
        record
    }
}
