//! A trial told to people: sentences and tables, made once. [`super::drawing`] draws them.

mod notes {
    //! What else a reader of a trial has to know: its resolution, what is missing, what each
    //! candidate was made of.

    use super::{name, percent};
    use crate::trial::promise::Promise;
    use crate::trial::record::{ExtentKind, TrialRecord};
    use crate::trial::result::WORTH_WAITING;

    /// All notes, in order.
    pub fn all(record: &TrialRecord) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(winner) = record.winner() {
            notes.push(format!(
                "{} is the fastest under every load that decides, each with 95 % confidence.",
                name(record, winner)
            ));
        }
        let twins = record.results();
        if let Some((result, twin)) = twins
            .iter()
            .find_map(|result| Some((result, result.contest.twin()?)))
        {
            let load = result.load.name();
            notes.push(format!(
                "Resolution: {} differs from itself by {} ({load}).",
                name(record, 0),
                percent(twin)
            ));
        }
        if let Some(times) = record.floor_spread() {
            notes.push(format!(
            "The bare extent's speed changed {times:.1}-fold from its slowest to its fastest tenth of blocks."
        ));
        }
        notes.extend(record.seconds_needed().map(still_needed));
        notes.extend(leaf_flushes(record));
        for (at, made) in record.candidates.iter().enumerate() {
            let word = made.candidate.word();
            if let Some(why) = record.failure(at) {
                notes.push(format!("{word} failed and is not ranked: {why}."));
            }
            match record.promise(at) {
                Promise::Broken(each) => notes.push(format!(
                    "{word} sent {each:.2} flushes per commit, so it is not ranked: its commits may be lost."
                )),
                Promise::NotMade => {
                    notes.push(format!(
                        "{word} is told not to flush: it shows what flushing costs and is never ranked."
                    ));
                }
                Promise::NotCounted => notes.push(format!(
                    "{word}: this machine does not count flushes, so durability is \
                 unchecked."
                )),
                Promise::Kept(_) => {}
            }
            let attribute = if made.candidate.is_nocow() {
                ", +C on the directory of the log"
            } else {
                ""
            };
            notes.push(format!(
                "{word}: {} DEVICE, mounted with {}{attribute} ({})",
                made.mkfs.join(" "),
                mounted(&made.mount),
                made.version
            ));
        }
        notes.extend(of_disk(record));
        notes.push("The 95 % confidence holds for each load on its own.".to_owned());
        notes.push(
            "Every file system was new and nearly empty; ageing can change the order.".to_owned(),
        );
        notes
    }

    /// What differs on a disk.
    fn of_disk(record: &TrialRecord) -> Vec<String> {
        match record.extent {
            ExtentKind::Loop => Vec::new(),
            ExtentKind::Disk => {
                let whole = record
                    .leaves
                    .iter()
                    .any(|leaf| record.directory.strip_prefix("/dev/") == Some(leaf));
                let of_part = (!whole).then(|| {
                "Flushes are those of the whole disk, as the kernel counts none for a partition: others' may be among them.".to_owned()
            });
                let made =
                    "mkfs was also told where the extent ends, and the UUID of each file system."
                        .to_owned();
                of_part.into_iter().chain([made]).collect()
            }
        }
    }

    /// How much longer it would take: `seconds` as its blocks scatter now.
    fn still_needed(seconds: f64) -> String {
        let (minutes, hours) = ((seconds / 60.0).ceil(), (seconds / 3600.0).ceil());
        if minutes <= 120.0 {
            format!("Not settled; about {minutes:.0} more minutes like these would be needed.")
        } else if seconds <= WORTH_WAITING {
            format!("Not settled; about {hours:.0} more hours like these would be needed.")
        } else {
            "Not settled; more time would not help while the disk is as unsteady as now.".to_owned()
        }
    }

    /// What the disks below counted; `None` where they count nothing.
    fn leaf_flushes(record: &TrialRecord) -> Option<String> {
        let of = |at: usize| {
            Some(format!(
                "{} {:.2}",
                name(record, at),
                record.leaf_flushes(at)?
            ))
        };
        let counted: Vec<String> = (0..record.candidates.len()).filter_map(of).collect();
        let disks = record.leaves.join(", ");
        (!counted.is_empty()).then(|| {
            format!(
                "{disks} counted so many flushes per commit, those of others among them: {}.",
                counted.join(", ")
            )
        })
    }

    fn mounted(options: &str) -> &str {
        if options.is_empty() {
            "defaults"
        } else {
            options
        }
    }
}

use super::candidate::Contender;
use super::certificate::Certificate;
use super::contest::{Contest, MARGIN, TrialOutcome};
use super::forest::ForestPlace;
use super::looks::{Ending, LOOKS};
use super::methods::MethodContest;
use super::ranks::Interval;
use super::record::{ExtentKind, Runner, Sample, TrialRecord};
use super::result::LoadResult;
use crate::measure::{ALPHA, interval, median_of};
use crate::text;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telling {
    /// What was done, and what it is worth.
    pub head: Vec<String>,
    pub loads: Vec<TableOfLoad>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
}

/// What is said about a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOfLoad {
    pub title: String,
    pub sentence: String,
    /// Whether the trial goes on until it is settled; otherwise a terminal shows the answer alone.
    pub decides: bool,
    pub columns: Vec<&'static str>,
    /// A row for each ranked candidate.
    pub rows: Vec<Vec<TableCell>>,
    /// A row for each that was measured and is not ranked: below a line.
    pub below: Vec<Vec<TableCell>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableCell {
    pub says: String,
    /// Its interval, where the reader has room for it.
    pub interval: Option<String>,
}

impl TableCell {
    fn plain(says: String) -> Self {
        Self {
            says,
            interval: None,
        }
    }
}

const FIGURES: [&str; 5] = [
    "per second",
    "against the first",
    "median",
    "p99",
    "flushes",
];

/// The heads of a table whose rows are of this.
fn columns(rows: &'static str) -> Vec<&'static str> {
    [&[rows], FIGURES.as_slice()].concat()
}

pub fn tell(record: &TrialRecord) -> Telling {
    Telling {
        head: head(record),
        loads: [loads(record), methods(record)].concat(),
        notes: notes::all(record),
    }
}

fn head(record: &TrialRecord) -> Vec<String> {
    let (candidates, blocks) = (record.candidates.len(), record.blocks.len());
    let minutes = record.seconds / 60.0;
    let ended = match record.ending {
        Ending::Running => "still running",
        Ending::Settled => "ended when settled",
        Ending::Budget => "ended when its budget was used up",
        Ending::Stopped => "stopped before its end",
    };
    let written = record
        .blocks
        .iter()
        .map(|block| block.written)
        .fold(record.bytes, u64::saturating_add);
    let written = text::bytes(written);
    let directory = &record.directory;
    let bytes = text::bytes(record.bytes);
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
    head.push(match record.certificate() {
        Certificate::NotNeeded => {
            "Measured on the disk itself, so it needs no certificate".to_owned()
        }
        Certificate::Unknown => "Not certified: too few blocks to compare the loop file with its host".to_owned(),
        Certificate::Unsettled(low, high) => {
            format!("Not certified: {compared} between {low:.2} and {high:.2} times as long as one of its file")
        }
        Certificate::Faithful => format!("Certified: {compared} as long as one of its file, within a factor of 1.3"),
        Certificate::OrderOnly(times) => {
            format!("Order only: {compared} {times:.2} times as long as one of its file, so ratios on a disk differ")
        }
        Certificate::Indicative(times) => {
            format!("Indicative only: {compared} {times:.2} times as long as one of its file")
        }
    });
    head
}

fn loads(record: &TrialRecord) -> Vec<TableOfLoad> {
    let results = record.results();
    let ended = record.ending != Ending::Running;
    if record.blocks.is_empty() && ended || results.is_empty() && !record.blocks.is_empty() {
        let sentence = match record.failure(0) {
            None if record.blocks.is_empty() => {
                "The trial ended before its first block was complete.".to_owned()
            }
            Some(why) => format!("Nothing can be compared: the first candidate failed: {why}."),
            None if record.ranked().first() == Some(&0) => {
                format!(
                    "Nothing can be compared: only {} can be ranked.",
                    name(record, 0)
                )
            }
            None => {
                "Nothing can be compared: the first candidate's commits can be lost.".to_owned()
            }
        };
        return vec![TableOfLoad {
            title: "No result".to_owned(),
            sentence,
            decides: true,
            ..TableOfLoad::default()
        }];
    }
    results
        .iter()
        .map(|result| of_load(record, result))
        .collect()
}

fn of_load(record: &TrialRecord, result: &LoadResult) -> TableOfLoad {
    let row = |candidate: usize| {
        let place = result.ranked.iter().position(|ranked| *ranked == candidate);
        let against = match place {
            Some(0) => "first".to_owned(),
            Some(place) => result
                .contest
                .to_reference(place)
                .map_or_else(|| "—".to_owned(), percent),
            None => "—".to_owned(),
        };
        let own = record
            .promise(candidate)
            .says(record.flushes_each(candidate, result.at));
        row(
            record,
            (candidate, result.at),
            name(record, candidate),
            against,
            own,
        )
    };
    let below = (0..record.candidates.len()).filter(|candidate| !result.ranked.contains(candidate));
    TableOfLoad {
        title: result.load.name(),
        sentence: answer(record, result),
        decides: result.load.decides(),
        columns: columns("candidate"),
        rows: result.ranked.iter().copied().map(row).collect(),
        below: below.map(row).collect(),
    }
}

/// What methods do on each candidate. Its flushes are not told again for each.
fn methods(record: &TrialRecord) -> Vec<TableOfLoad> {
    let decides = record.is_about_methods();
    let of = |found: MethodContest| {
        let row = |(place, (load, method)): (usize, &(usize, &str))| {
            let against = match place {
                0 => "first".to_owned(),
                _ => found
                    .contest
                    .to_reference(place)
                    .map_or_else(|| "—".to_owned(), percent),
            };
            let flushes = record.flushes_each(found.candidate, *load);
            let flushes =
                flushes.map_or_else(|| "not counted".to_owned(), |each| format!("{each:.2}"));
            row(
                record,
                (found.candidate, *load),
                (*method).to_owned(),
                against,
                flushes,
            )
        };
        let said = |places: &[usize]| found.named(places).join(", ");
        TableOfLoad {
            title: format!("sync methods on {}", name(record, found.candidate)),
            sentence: sentence(record, &found.contest, found.methods.len(), &said),
            decides,
            columns: columns("method"),
            rows: found.methods.iter().enumerate().map(row).collect(),
            below: Vec::new(),
        }
    };
    record.methods().into_iter().map(of).collect()
}

/// A row: the figures of a candidate under a load.
fn row(
    record: &TrialRecord,
    (candidate, load): (usize, usize),
    name: String,
    against: String,
    flushes: String,
) -> Vec<TableCell> {
    let samples: Vec<Sample> = record
        .samples(Runner::Candidate(candidate), load)
        .into_iter()
        .flatten()
        .collect();
    let of = |figure: fn(&Sample) -> f64| samples.iter().map(figure).collect::<Vec<f64>>();
    // Where no commit ended in time there is no latency.
    let latencies = |figure: fn(&Sample) -> f64| {
        samples
            .iter()
            .filter(|sample| sample.commits > 0)
            .map(figure)
            .collect::<Vec<f64>>()
    };
    let micros = |values: &[f64]| {
        if values.is_empty() {
            return TableCell::plain("—".to_owned());
        }
        let found = interval(values, ALPHA);
        TableCell {
            says: text::micros(
                found
                    .as_ref()
                    .map_or_else(|| median_of(values), |found| found.value),
            ),
            interval: found.map(|found| text::micros_between(found.low, found.high)),
        }
    };
    let rate = if samples.is_empty() {
        "—".to_owned()
    } else {
        text::rounded(median_of(&of(Sample::rate)))
    };
    vec![
        TableCell::plain(name),
        TableCell::plain(rate),
        TableCell::plain(against),
        micros(&latencies(|sample| sample.p50_us)),
        micros(&latencies(|sample| sample.p99_us)),
        TableCell::plain(flushes),
    ]
}

fn name(record: &TrialRecord, candidate: usize) -> String {
    record
        .candidates
        .get(candidate)
        .map_or("?", |made| Contender::word(made.candidate))
        .to_owned()
}

fn names(record: &TrialRecord, candidates: &[usize]) -> String {
    candidates
        .iter()
        .map(|candidate| name(record, *candidate))
        .collect::<Vec<_>>()
        .join(", ")
}

impl ForestPlace {
    /// Where it stands against the first, in words.
    pub fn against(self) -> String {
        match self {
            Self::First { .. } => "first".to_owned(),
            Self::Ranked { interval, .. } | Self::Twin { interval } => {
                interval.map_or_else(|| "too few blocks".to_owned(), percent)
            }
            Self::Below => NOT_RANKED.to_owned(),
        }
    }
}

/// Said of who is measured and not ranked.
pub const NOT_RANKED: &str = "not ranked";

/// `+6.0 % (+2.1 to +9.9)`; without decimals where an end is 10 % or more away.
pub fn percent(found: Interval) -> String {
    let of = |log: f64| 100.0 * log.exp_m1();
    let [value, low, high] = [found.value, found.low, found.high].map(of);
    let digits = usize::from(low.abs().max(high.abs()) < 10.0);
    let signed = |value: f64| {
        let text = format!("{value:+.digits$}");
        // Nothing is neither more nor less.
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

fn answer(record: &TrialRecord, result: &LoadResult) -> String {
    sentence(record, &result.contest, result.ranked.len(), &|places| {
        names(record, &result.named(places))
    })
}

/// What a contest of so many says; `named` lists those at some places.
fn sentence(
    record: &TrialRecord,
    contest: &Contest,
    ranked: usize,
    named: &dyn Fn(&[usize]) -> String,
) -> String {
    let five = 100.0 * MARGIN.exp_m1();
    match contest.outcome() {
        TrialOutcome::TooFew => {
            let first = LOOKS.first().copied().unwrap_or_default();
            format!(
                "Too few blocks to say anything: {} complete, and at least {first} are needed.",
                record.blocks.len()
            )
        }
        TrialOutcome::CannotTell => {
            let twin = contest.twin().map(percent).unwrap_or_default();
            format!(
                "This machine cannot tell today: {} differs from itself by {twin}. {}",
                name(record, 0),
                reason(record)
            )
        }
        TrialOutcome::Best(place) => {
            format!("{} is the fastest, with 95 % confidence.", named(&[place]))
        }
        TrialOutcome::Alike(set) => {
            let others = if set.len() < ranked {
                "; the others are slower"
            } else {
                ""
            };
            format!(
                "No difference that matters: {} are within {five:.0} % of each other, with 95 % confidence{others}.",
                named(&set)
            )
        }
        TrialOutcome::Open(set) => {
            let near = contest.near_best();
            let safe = if near.is_empty() {
                String::new()
            } else {
                format!("; within {five:.0} % of it: {}", named(&near))
            };
            format!(
                "Not settled: with 95 % confidence the best is one of {}{safe}.",
                named(&set)
            )
        }
    }
}

/// What a trial says about its deciding loads, in one line.
pub fn summary(record: &TrialRecord) -> String {
    let results = record.results();
    let deciding = results.iter().filter(|result| result.load.decides());
    let told = deciding.map(|result| format!("{}: {}", result.load.name(), answer(record, result)));
    let told = told.collect::<Vec<_>>().join(" ");
    if told.is_empty() {
        "Nothing could be compared.".to_owned()
    } else {
        told
    }
}

/// Why the machine may be unable to tell.
fn reason(record: &TrialRecord) -> String {
    match record.floor_spread() {
        Some(times) if times > 1.5 => {
            format!(
                "The bare extent's own speed changed {times:.1}-fold: a neighbour, credits, heat or the disk's own work."
            )
        }
        Some(_) | None => {
            "The bare extent was steady; at most one trial in twenty ends like this by chance."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sample::record;

    #[test]
    fn nothing_has_no_sign() {
        let said = |value: f64, low: f64, high: f64| {
            let [value, low, high] =
                [value, low, high].map(|percent: f64| (percent / 100.0).ln_1p());
            percent(Interval { low, value, high })
        };
        assert_eq!(said(-0.2, -26.0, 203.0), "0 % (-26 to +203)");
        assert_eq!(said(0.04, -0.04, 6.0), "0.0 % (0.0 to +6.0)");
        assert_eq!(said(-3.0, -10.2, 0.4), "-3 % (-10 to 0)");
    }

    #[test]
    fn a_winner_is_named_and_who_does_not_flush_never_is() {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Ext4Nobarrier, 90_000.0, Some(0)),
            (Contender::Xfs, 5_000.0, Some(1_000)),
            // Promised, and not kept.
            (Contender::Btrfs, 8_000.0, Some(400)),
        ];
        let record = record(&candidates, 15);
        assert_eq!(
            (record.ranked(), record.winner(), record.is_settled()),
            (vec![0, 2], Some(2), true)
        );
        let text = tell(&record).text();
        for says in [
            "xfs is the fastest, with 95 % confidence.",
            "Certified: a flush of the loop device takes as long as one of its file",
            "btrfs sent 0.40 flushes per commit, so it is not ranked",
            "ext4-nobarrier is told not to flush",
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
        assert!(tell(&record).markdown().contains("| *not ranked:* |"));
        assert!(summary(&record).starts_with("commits, 1 client: xfs is the fastest"));
    }

    #[test]
    fn a_disk_needs_no_certificate_and_a_partition_says_whose_flushes_are_counted() {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Xfs, 5_000.0, Some(1_000)),
        ];
        let mut record = record(&candidates, 15);
        for block in &mut record.blocks {
            block.cells.retain(|cell| cell.runner != Runner::Host);
        }
        for (node, of_disk) in [("/dev/sda", false), ("/dev/sda1", true)] {
            (record.extent, record.directory) = (ExtentKind::Disk, node.to_owned());
            let text =
                tell(&TrialRecord::parse(&serde_json::to_string(&record).unwrap()).unwrap()).text();
            assert!(
                text.contains(&format!("The first 2 GiB of {node} (sda)")),
                "{text}"
            );
            assert!(
                text.contains("needs no certificate") && text.contains("xfs is the fastest"),
                "{text}"
            );
            assert_eq!(
                text.contains("Flushes are those of the whole disk"),
                of_disk,
                "{text}"
            );
        }
    }

    #[test]
    fn without_a_block_there_is_no_table() {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Xfs, 4_010.0, Some(1_000)),
        ];
        let text = tell(&record(&candidates, 0)).text();
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
    fn equal_candidates_are_called_alike() {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Xfs, 4_010.0, Some(1_000)),
        ];
        let record = record(&candidates, 22);
        let text = tell(&record).text();
        assert!(
            text.contains("No difference that matters: ext4, xfs"),
            "{text}"
        );
        assert_eq!(record.winner(), None);
    }

    #[test]
    fn a_failure_of_a_candidate_takes_it_out_and_one_of_the_first_ends_it() {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Xfs, 5_000.0, Some(1_000)),
        ];
        let failed = |candidate| {
            let mut record = record(&candidates, 12);
            let cells = record.blocks.iter_mut().flat_map(|block| &mut block.cells);
            for cell in cells
                .filter(|cell| cell.runner == Runner::Candidate(candidate))
                .take(1)
            {
                (cell.error, cell.samples) = (Some("cannot mount".to_owned()), Vec::new());
            }
            tell(&record).text()
        };
        assert!(failed(1).contains("xfs failed and is not ranked: cannot mount."));
        assert!(failed(1).contains("only ext4 can be ranked"));
        assert!(
            failed(0)
                .contains("Nothing can be compared: the first candidate failed: cannot mount.")
        );
    }

    #[test]
    fn a_record_is_read_back_and_made_safe() {
        let mut written = record(
            &[
                (Contender::Ext4, 4_000.0, None),
                (Contender::Xfs, 5_000.0, None),
            ],
            3,
        );
        let back = TrialRecord::parse(&serde_json::to_string(&written).unwrap()).unwrap();
        assert_eq!(
            (back.figures(&[0, 1], 0).blocks(), back.blocks.len()),
            (3, 3)
        );
        assert!(tell(&back).text().contains("durability is unchecked"));
        written.directory = "/srv/\u{1b}[31m".to_owned();
        let back = TrialRecord::parse(&serde_json::to_string(&written).unwrap()).unwrap();
        assert!(!tell(&back).text().contains('\u{1b}'));
        written.trial = 2;
        assert!(TrialRecord::parse(&serde_json::to_string(&written).unwrap()).is_err());
        assert!(TrialRecord::parse("{}").is_err());
    }
}
