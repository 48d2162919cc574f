//! The view of a trial: sentences and tables that text and Markdown output share.

use super::comparison::{ComparisonOutcome, EQUIVALENCE_MARGIN, PairwiseComparison};
use super::forest_plot::CandidateStanding;
use super::method_comparison::MethodComparison;
use super::record::{CellSubject, ExtentKind, TrialRecord, TrialSample};
use super::signed_ranks::LogRatioInterval;
use super::{INTERIM_BLOCKS, LoadComparison, LoopFidelity, TrialState};
use crate::measure::{ALPHA, median_interval, median_of};
use crate::text;
use crate::trial::MAX_WAIT_SECONDS;
use crate::trial::flush_audit::FlushAuditResult;
use walwise_model::text::JoinText;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialView {
    pub header: Vec<String>,
    pub loads: Vec<LoadTable>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadTable {
    pub title: String,
    pub sentence: String,
    /// The terminal shows the tables of deciding loads only; of other loads it shows the sentence.
    pub is_deciding: bool,
    pub columns: Vec<&'static str>,
    /// One row per ranked candidate, or per sync method.
    pub rows: Vec<Vec<TableCell>>,
    /// Rows of the unranked candidates, shown below the others.
    pub unranked: Vec<Vec<TableCell>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableCell {
    pub text: String,
    /// Confidence interval of the value, which Markdown and HTML output show.
    pub interval: Option<String>,
}

impl TableCell {
    fn from_text(says: String) -> Self {
        Self {
            text: says,
            interval: None,
        }
    }
}

const FIGURE_COLUMNS: [&str; 5] = [
    "per second",
    "against the first",
    "median",
    "p99",
    "flushes",
];

fn column_headings(rows: &'static str) -> Vec<&'static str> {
    [&[rows], FIGURE_COLUMNS.as_slice()].concat()
}

pub fn trial_view(record: &TrialRecord) -> TrialView {
    TrialView {
        header: header_lines(record),
        loads: [load_tables(record), method_tables(record)].concat(),
        notes: trial_view_notes(record),
    }
}

fn header_lines(record: &TrialRecord) -> Vec<String> {
    let (candidates, blocks) = (record.candidates.len(), record.blocks.len());
    let minutes = record.seconds / 60.0;
    let ended = match record.ending {
        TrialState::Running => "still running",
        TrialState::Settled => "ended when settled",
        TrialState::Budget => "ended at the time limit",
        TrialState::Stopped => "stopped early",
    };
    let written = record
        .blocks
        .iter()
        .map(|block| block.written)
        .fold(record.bytes, u64::saturating_add);
    let written = text::format_bytes(written);
    let directory = &record.directory;
    let bytes = text::format_bytes(record.bytes);
    let disks = if record.leaves.is_empty() {
        "an unknown disk".to_owned()
    } else {
        record.leaves.join(", ")
    };
    let mut head = vec![
        format!(
            "Trial of {candidates} file systems: {blocks} blocks in {minutes:.1} min, {written} written, {ended}; seed {}",
            record.seed
        ),
        match record.extent {
            ExtentKind::Loop => format!(
                "Loop file of {bytes} in {directory} on {} ({disks}), direct I/O",
                record.host_filesystem
            ),
            ExtentKind::Disk => format!("The first {bytes} of {directory} ({disks})"),
        },
    ];
    let compared = "a flush of the loop device takes";
    head.push(match record.loop_fidelity() {
        LoopFidelity::NotNeeded => {
            "Measured on the disk itself; no comparison with a loop device is needed".to_owned()
        }
        LoopFidelity::Unknown => "Not certified: too few blocks to compare the loop device with its file".to_owned(),
        LoopFidelity::Unsettled(low, high) => {
            format!("Not certified: {compared} between {low:.2} and {high:.2} times as long as a flush of its file")
        }
        LoopFidelity::Faithful => format!("Certified: {compared} as long as a flush of its file, within a factor of 1.3"),
        LoopFidelity::OrderOnly(times) => {
            format!("Only the order is reliable: {compared} {times:.2} times as long as a flush of its file; ratios on a disk differ")
        }
        LoopFidelity::Indicative(times) => {
            format!("Indicative only: {compared} {times:.2} times as long as a flush of its file")
        }
    });
    head
}

fn load_tables(record: &TrialRecord) -> Vec<LoadTable> {
    let results = record.load_comparisons();
    let ended = record.ending != TrialState::Running;
    if record.blocks.is_empty() && ended || results.is_empty() && !record.blocks.is_empty() {
        let sentence = match record.first_error_of_candidate(0) {
            None if record.blocks.is_empty() => {
                "The trial ended before its first block was complete.".to_owned()
            }
            Some(why) => format!("Nothing can be compared: the first candidate failed: {why}."),
            None if record.indices_of_ranked_candidates().first() == Some(&0) => {
                format!(
                    "Nothing can be compared: only {} can be ranked.",
                    record.candidate_name(0)
                )
            }
            None => "Nothing can be compared: the first candidate can lose commits.".to_owned(),
        };
        return vec![LoadTable {
            title: "No result".to_owned(),
            sentence,
            is_deciding: true,
            ..LoadTable::default()
        }];
    }
    results
        .iter()
        .map(|result| load_table(record, result))
        .collect()
}

fn load_table(record: &TrialRecord, result: &LoadComparison) -> LoadTable {
    let row = |candidate: usize| {
        let place = result.ranked.iter().position(|ranked| *ranked == candidate);
        let against = reference_comparison_text(&result.comparison, place);
        let own = record
            .audit_candidate_flushes(candidate)
            .flush_cell_text(record.flushes_per_call(candidate, result.index));
        table_row(
            record,
            (candidate, result.index),
            record.candidate_name(candidate).to_owned(),
            against,
            own,
        )
    };
    let below = (0..record.candidates.len()).filter(|candidate| !result.ranked.contains(candidate));
    LoadTable {
        title: result.load.name(),
        sentence: load_outcome_sentence(record, result),
        is_deciding: result.load.must_be_settled(),
        columns: column_headings("candidate"),
        rows: result.ranked.iter().copied().map(row).collect(),
        unranked: below.map(row).collect(),
    }
}

fn method_tables(record: &TrialRecord) -> Vec<LoadTable> {
    let is_deciding = record.compares_only_sync_methods();
    let of = |found: MethodComparison| {
        let row = |(place, (load, method)): (usize, &(usize, &str))| {
            let against = reference_comparison_text(&found.comparison, Some(place));
            let flushes = record.flushes_per_call(found.candidate, *load);
            let flushes =
                flushes.map_or_else(|| "not counted".to_owned(), |each| format!("{each:.2}"));
            table_row(
                record,
                (found.candidate, *load),
                (*method).to_owned(),
                against,
                flushes,
            )
        };
        let said = |places: &[usize]| found.method_names(places).join(", ");
        LoadTable {
            title: format!("sync methods on {}", record.candidate_name(found.candidate)),
            sentence: outcome_sentence(record, &found.comparison, found.methods.len(), &said),
            is_deciding,
            columns: column_headings("method"),
            rows: found.methods.iter().enumerate().map(row).collect(),
            unranked: Vec::new(),
        }
    };
    record.method_comparisons().into_iter().map(of).collect()
}

fn table_row(
    record: &TrialRecord,
    (candidate, load): (usize, usize),
    name: String,
    against: String,
    flushes: String,
) -> Vec<TableCell> {
    let samples = record.samples(CellSubject::Candidate(candidate), load);
    let micros = |figure: fn(&TrialSample) -> f64| {
        // A sample without a finished commit has no latency.
        let finished = samples.iter().filter(|sample| sample.commits > 0);
        let values: Vec<f64> = finished.map(figure).collect();
        if values.is_empty() {
            return TableCell::from_text("—".to_owned());
        }
        let found = median_interval(&values, ALPHA);
        TableCell {
            text: text::format_micros(median_of(&values)),
            interval: found.map(|found| text::format_micros_interval(found.low, found.high)),
        }
    };
    let rate = record.median_commit_rate(CellSubject::Candidate(candidate), load);
    let rate = rate.map_or_else(|| "—".to_owned(), text::format_rounded_and_grouped);
    vec![
        TableCell::from_text(name),
        TableCell::from_text(rate),
        TableCell::from_text(against),
        micros(|sample| sample.p50_us),
        micros(|sample| sample.p99_us),
        TableCell::from_text(flushes),
    ]
}

fn reference_comparison_text(comparison: &PairwiseComparison, place: Option<usize>) -> String {
    if place == Some(0) {
        return "first".to_owned();
    }
    place
        .and_then(|place| comparison.interval_to_reference(place))
        .map_or_else(|| "—".to_owned(), format_percent_interval)
}

impl CandidateStanding {
    pub fn comparison_text(self) -> String {
        match self {
            Self::Reference { .. } => "first".to_owned(),
            Self::Ranked { interval, .. } | Self::Twin { interval } => {
                interval.map_or_else(|| "too few blocks".to_owned(), format_percent_interval)
            }
            Self::Unranked => NOT_RANKED.to_owned(),
        }
    }
}

pub const NOT_RANKED: &str = "not ranked";

/// Formats an interval as `+6.0 % (+2.1 to +9.9)`, without decimals if an end of the interval is 10
/// % or more from zero.
pub fn format_percent_interval(found: LogRatioInterval) -> String {
    let of = |log: f64| 100.0 * log.exp_m1();
    let [value, low, high] = [found.value, found.low, found.high].map(of);
    let digits = usize::from(low.abs().max(high.abs()) < 10.0);
    let signed = |value: f64| {
        let text = format!("{value:+.digits$}");
        // Zero is printed without a sign.
        let is_nothing = text
            .bytes()
            .all(|byte| !byte.is_ascii_digit() || byte == b'0');
        if is_nothing {
            text.replace(['+', '-'], "")
        } else {
            text
        }
    };
    format!("{} % ({} to {})", signed(value), signed(low), signed(high))
}

fn load_outcome_sentence(record: &TrialRecord, result: &LoadComparison) -> String {
    outcome_sentence(record, &result.comparison, result.ranked.len(), &|places| {
        let candidates = result.to_record_indices(places).into_iter();
        candidates
            .map(|candidate| record.candidate_name(candidate))
            .join_with(", ")
    })
}

/// `named` lists the names of the candidates or methods at the given indices.
fn outcome_sentence(
    record: &TrialRecord,
    contest: &PairwiseComparison,
    ranked: usize,
    named: &dyn Fn(&[usize]) -> String,
) -> String {
    let five = 100.0 * EQUIVALENCE_MARGIN.exp_m1();
    match contest.outcome() {
        ComparisonOutcome::TooFewBlocks => {
            let first = INTERIM_BLOCKS.first().copied().unwrap_or_default();
            format!(
                "Too few blocks for a result: {} complete, at least {first} needed.",
                record.blocks.len()
            )
        }
        ComparisonOutcome::Inconclusive => {
            let twin = contest
                .twin_interval()
                .map(format_percent_interval)
                .unwrap_or_default();
            format!(
                "Inconclusive: two runs of {} differ by {twin}. {}",
                record.candidate_name(0),
                inconclusive_reason(record)
            )
        }
        ComparisonOutcome::Best(place) => {
            format!("{} is the fastest, with 95 % confidence.", named(&[place]))
        }
        ComparisonOutcome::Equivalent(set) => {
            let others = if set.len() < ranked {
                "; the others are slower"
            } else {
                ""
            };
            format!(
                "No meaningful difference: {} are within {five:.0} % of each other, with 95 % confidence{others}.",
                named(&set)
            )
        }
        ComparisonOutcome::Undecided(set) => {
            let near = contest.candidates_equivalent_to_best();
            let safe = if near.is_empty() {
                String::new()
            } else {
                format!("; within {five:.0} % of the best: {}", named(&near))
            };
            format!(
                "Not settled: with 95 % confidence the best is one of {}{safe}.",
                named(&set)
            )
        }
    }
}

pub fn trial_summary_text(record: &TrialRecord) -> String {
    let results = record.load_comparisons();
    let deciding = results
        .iter()
        .filter(|result| result.load.must_be_settled());
    let told = deciding.map(|result| {
        format!(
            "{}: {}",
            result.load.name(),
            load_outcome_sentence(record, result)
        )
    });
    let told = told.join_with(" ");
    if told.is_empty() {
        "Nothing could be compared.".to_owned()
    } else {
        told
    }
}

fn inconclusive_reason(record: &TrialRecord) -> String {
    match record.raw_extent_rate_p90_to_p10() {
        Some(times) if times > 1.5 => {
            format!(
                "The speed of the raw extent varied {times:.1}-fold, possibly because of other I/O, burst credits, \
                 thermal throttling or background work in the disk."
            )
        }
        Some(_) | None => {
            "The speed of the raw extent was steady; at most one trial in twenty ends like this by chance."
                .to_owned()
        }
    }
}

fn trial_view_notes(record: &TrialRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(winner) = record.winner_index() {
        notes.push(format!(
            "{} is the fastest under every load that counts, each with 95 % confidence.",
            record.candidate_name(winner)
        ));
    }
    let twins = record.load_comparisons();
    if let Some((result, twin)) = twins
        .iter()
        .find_map(|result| Some((result, result.comparison.twin_interval()?)))
    {
        let load = result.load.name();
        notes.push(format!(
            "Resolution: two runs of {} differ by {} ({load}).",
            record.candidate_name(0),
            format_percent_interval(twin)
        ));
    }
    if let Some(times) = record.raw_extent_rate_p90_to_p10() {
        notes.push(format!(
            "The speed of the raw extent varied {times:.1}-fold between the slowest and the \
             fastest tenth of the blocks."
        ));
    }
    notes.extend(record.remaining_trial_seconds().map(remaining_time_note));
    notes.extend(disk_flush_note(record));
    for (at, made) in record.candidates.iter().enumerate() {
        let word = made.candidate.name();
        if let Some(why) = record.first_error_of_candidate(at) {
            notes.push(format!("{word} failed and is not ranked: {why}."));
        }
        match record.audit_candidate_flushes(at) {
            FlushAuditResult::Insufficient(each) => notes.push(format!(
                "{word} sent {each:.2} flushes per commit, so it is not ranked: its commits may be lost."
            )),
            FlushAuditResult::NoBarriers => {
                notes.push(format!(
                    "{word} runs without flushes: it shows the cost of flushes and is never ranked."
                ));
            }
            FlushAuditResult::NotCounted => notes.push(format!(
                "{word}: flushes could not be counted, so durability was not checked."
            )),
            FlushAuditResult::Sufficient(_) => {}
        }
        let attribute = if made.candidate.is_nocow() {
            ", +C on the log directory"
        } else {
            ""
        };
        let options = match made.mount.as_str() {
            "" => "defaults",
            options => options,
        };
        notes.push(format!(
            "{word}: {} DEVICE, mounted with {options}{attribute} ({})",
            made.mkfs.join(" "),
            made.version
        ));
    }
    notes.extend(disk_extent_notes(record));
    notes.push("95 % confidence holds for each load separately.".to_owned());
    notes.push(
        "Every file system was new and nearly empty; ageing can change the order.".to_owned(),
    );
    notes
}

fn disk_extent_notes(record: &TrialRecord) -> Vec<String> {
    match record.extent {
        ExtentKind::Loop => Vec::new(),
        ExtentKind::Disk => {
            let whole = record
                .leaves
                .iter()
                .any(|leaf| record.directory.strip_prefix("/dev/") == Some(leaf));
            let of_part = (!whole).then(|| {
            "Flushes are counted for the whole disk, including those of other programs: the kernel does not count them per partition.".to_owned()
        });
            let made =
                "mkfs was also given the size of the extent and a UUID for each file system."
                    .to_owned();
            of_part.into_iter().chain([made]).collect()
        }
    }
}

fn remaining_time_note(seconds: f64) -> String {
    let (minutes, hours) = ((seconds / 60.0).ceil(), (seconds / 3600.0).ceil());
    if minutes <= 120.0 {
        format!("Not settled; about {minutes:.0} more minutes are needed.")
    } else if seconds <= MAX_WAIT_SECONDS {
        format!("Not settled; about {hours:.0} more hours are needed.")
    } else {
        "Not settled; the disk's speed varies too much for a longer trial to help.".to_owned()
    }
}

/// `None` if the disks do not count flushes.
fn disk_flush_note(record: &TrialRecord) -> Option<String> {
    let of = |at: usize| {
        Some(format!(
            "{} {:.2}",
            record.candidate_name(at),
            record.disk_flushes_per_call(at)?
        ))
    };
    let counted: Vec<String> = (0..record.candidates.len()).filter_map(of).collect();
    let disks = record.leaves.join(", ");
    (!counted.is_empty()).then(|| {
        format!(
            "Flushes per commit counted by {disks}, including those of other programs: {}.",
            counted.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Candidate;
    use crate::trial::fixtures::record_with_commit_rates;

    #[test]
    fn zero_percentage_has_no_sign() {
        let said = |value: f64, low: f64, high: f64| {
            let [value, low, high] =
                [value, low, high].map(|percent: f64| (percent / 100.0).ln_1p());
            format_percent_interval(LogRatioInterval { value, low, high })
        };
        assert_eq!(said(-0.2, -26.0, 203.0), "0 % (-26 to +203)");
        assert_eq!(said(0.04, -0.04, 6.0), "0.0 % (0.0 to +6.0)");
        assert_eq!(said(-3.0, -10.2, 0.4), "-3 % (-10 to 0)");
    }

    #[test]
    fn winner_is_named_and_unflushed_candidate_is_unranked() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
            // btrfs has barriers but sends only 400 flushes, too few for its commits.
            (Candidate::Btrfs, 8_000.0, Some(400)),
        ];
        let record = record_with_commit_rates(&candidates, 15);
        assert_eq!(
            (
                record.indices_of_ranked_candidates(),
                record.winner_index(),
                record.needs_no_more_blocks()
            ),
            (vec![0, 2], Some(2), true)
        );
        let text = trial_view(&record).to_text();
        for says in [
            "xfs is the fastest, with 95 % confidence.",
            "Certified: a flush of the loop device takes as long as a flush of its file",
            "btrfs sent 0.40 flushes per commit, so it is not ranked",
            "ext4-nobarrier runs without flushes",
        ] {
            assert!(text.contains(says), "{says}: {text}");
        }
        let after_the_line: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.contains(" not ranked "))
            .skip(1)
            .collect();
        let below: Vec<&str> = after_the_line
            .iter()
            .filter_map(|line| line.split_whitespace().next())
            .take(2)
            .collect();
        assert_eq!(below, ["ext4-nobarrier", "btrfs"], "{text}");
        assert!(
            trial_view(&record)
                .to_markdown()
                .contains("| *not ranked:* |")
        );
        assert!(trial_summary_text(&record).starts_with("commits, 1 client: xfs is the fastest"));
    }

    #[test]
    fn disk_trial_notes_whole_disk_flush_counts() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
        ];
        let mut record = record_with_commit_rates(&candidates, 15);
        for block in &mut record.blocks {
            block.cells.retain(|cell| cell.runner != CellSubject::Host);
        }
        for (node, of_disk) in [("/dev/sda", false), ("/dev/sda1", true)] {
            (record.extent, record.directory) = (ExtentKind::Disk, node.to_owned());
            let text =
                trial_view(&TrialRecord::parse(&serde_json::to_string(&record).unwrap()).unwrap())
                    .to_text();
            assert!(
                text.contains(&format!("The first 2 GiB of {node} (sda)")),
                "{text}"
            );
            assert!(
                text.contains("no comparison with a loop device")
                    && text.contains("xfs is the fastest"),
                "{text}"
            );
            assert_eq!(
                text.contains("Flushes are counted for the whole disk"),
                of_disk,
                "{text}"
            );
        }
    }

    #[test]
    fn trial_without_blocks_has_no_table() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Xfs, 4_010.0, Some(1_000)),
        ];
        let text = trial_view(&record_with_commit_rates(&candidates, 0)).to_text();
        assert!(
            text.contains("No result\n  The trial ended before its first block was complete."),
            "{text}"
        );
        assert!(
            !text.contains("per second") && !text.contains('—'),
            "{text}"
        );
    }

    #[test]
    fn equal_candidates_have_no_meaningful_difference() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Xfs, 4_010.0, Some(1_000)),
        ];
        let record = record_with_commit_rates(&candidates, 22);
        let text = trial_view(&record).to_text();
        assert!(
            text.contains("No meaningful difference: ext4, xfs"),
            "{text}"
        );
        assert_eq!(record.winner_index(), None);
    }

    #[test]
    fn failed_candidate_is_unranked_and_failed_reference_prevents_result() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
        ];
        let failed = |candidate| {
            let mut record = record_with_commit_rates(&candidates, 12);
            let cells = record.blocks.iter_mut().flat_map(|block| &mut block.cells);
            for cell in cells
                .filter(|cell| cell.runner == CellSubject::Candidate(candidate))
                .take(1)
            {
                (cell.error, cell.samples) = (Some("cannot mount".to_owned()), Vec::new());
            }
            trial_view(&record).to_text()
        };
        assert!(failed(1).contains("xfs failed and is not ranked: cannot mount."));
        assert!(failed(1).contains("only ext4 can be ranked"));
        assert!(
            failed(0)
                .contains("Nothing can be compared: the first candidate failed: cannot mount.")
        );
    }

    #[test]
    fn trial_record_round_trips_and_is_display_safe() {
        let mut written = record_with_commit_rates(
            &[
                (Candidate::Ext4, 4_000.0, None),
                (Candidate::Xfs, 5_000.0, None),
            ],
            3,
        );
        let back = TrialRecord::parse(&serde_json::to_string(&written).unwrap()).unwrap();
        assert_eq!(
            (
                back.paired_log_throughput(&[0, 1], 0).block_count(),
                back.blocks.len()
            ),
            (3, 3)
        );
        assert!(
            trial_view(&back)
                .to_text()
                .contains("durability was not checked")
        );
        written.directory = "/srv/\u{1b}[31m".to_owned();
        let back = TrialRecord::parse(&serde_json::to_string(&written).unwrap()).unwrap();
        assert!(!trial_view(&back).to_text().contains('\u{1b}'));
        written.trial = 2;
        assert!(TrialRecord::parse(&serde_json::to_string(&written).unwrap()).is_err());
        assert!(TrialRecord::parse("{}").is_err());
    }
}
