//! The drill (power-cut test) compares commits acknowledged before a power cut with the disk
//! afterwards. [`crate::probes::drill`] does the I/O.
//!
//! An acknowledgement counts only if *another* host received it: the host that loses power may lose
//! its own log.

mod record;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::catalog::{self, host, kernel};
use crate::facts::{FactSet, FactStability, KeyInfo, Scope, Subject};

pub use record::{DrillRecord, date_part};

/// Pages in a WAL segment of 16 MiB, PostgreSQL's default.
pub(crate) const PAGES_PER_SEGMENT: u64 = 2048;

// The stack of a drill: the host, its kernel and everything below the directory, as facts. A
// drill counts only for an identical stack.
//
// Disks are numbered from the top, because a disk may have another kernel name after the power
// cut.

const LINE_PREFIX: &str = "stack ";

/// Maps a place and a fact name, such as `device 2 device.firmware`, to the value of the fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFacts(BTreeMap<String, String>);

impl StackFacts {
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
            stack.add_known_fact(facts, &machine, "host", name);
        }
        let mut counts: BTreeMap<Scope, usize> = BTreeMap::new();
        for subject in std::iter::once(target.clone()).chain(facts.layers_below(target)) {
            let nth = counts.entry(subject.scope()).or_default();
            *nth += 1;
            let place = format!("{} {nth}", subject.scope());
            for info in catalog::all_keys()
                .filter(|info| info.scope == subject.scope() && belongs_to_stack_facts(info))
            {
                stack.add_known_fact(facts, &subject, &place, info.name);
            }
        }
        stack
    }

    fn add_known_fact(&mut self, facts: &FactSet, subject: &Subject, place: &str, name: &str) {
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
    pub fn add_line_if_fact(&mut self, line: &str) -> bool {
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
            "{differs} was {} and is now {}",
            value(self),
            value(now)
        ))
    }
}

impl fmt::Display for StackFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(name, value)| writeln!(f, "{LINE_PREFIX}{name}={value}"))
    }
}

fn belongs_to_stack_facts(info: &KeyInfo) -> bool {
    let steady = !matches!(
        info.nature,
        FactStability::Assigned
            | FactStability::Drifting
            | FactStability::Measured
            | FactStability::Concluded
    );
    info.nature == FactStability::Identity || (info.affects_latency && steady)
}

// A WAL page of the drill: a run id, a number, and noise derived from both, by which a partly
// written page is recognised.

/// PostgreSQL's default for XLOG_BLCKSZ.
pub(crate) const PAGE_BYTES: usize = 8192;

const PAGE_MAGIC: u64 = u64::from_le_bytes(*b"WALDRILL");

pub(crate) fn fill_page(page: &mut [u8], run: u64, number: u64) {
    for (place, word) in (0..).zip(page.chunks_exact_mut(8)) {
        word.copy_from_slice(&nth_page_word(place, run, number).to_le_bytes());
    }
}

/// The number of an intact page of the drill `run`; `None` if any word of the page is wrong.
pub(crate) fn intact_page_number(page: &[u8], run: u64) -> Option<u64> {
    let word = |at: usize| {
        page.get(at..at + 8)?
            .try_into()
            .ok()
            .map(u64::from_le_bytes)
    };
    let number = word(16)?;
    let whole = (0..)
        .zip(page.chunks_exact(8))
        .all(|(place, word)| word == nth_page_word(place, run, number).to_le_bytes());
    (page.len() == PAGE_BYTES && whole).then_some(number)
}

/// The 64-bit word at index `place` of a page. Words 0 to 2 are the header; later words are noise.
fn nth_page_word(place: u64, run: u64, number: u64) -> u64 {
    match place {
        0 => PAGE_MAGIC,
        1 => run,
        2 => number,
        _ => splitmix64_finaliser(
            run ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ^ place.wrapping_mul(0xbf58_476d_1ce4_e5b9),
        ),
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn splitmix64_finaliser(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrillResult {
    pub acknowledged: u64,
    /// Acknowledged commits that the disk can still hold: a cyclic WAL keeps only the newest.
    pub examined: u64,
    pub lost_ranges: CommitNumberRanges,
}

impl DrillResult {
    pub fn lost_count(&self) -> u64 {
        self.lost_ranges
            .iter()
            .map(|(from, to)| to - from + 1)
            .sum()
    }
}

/// Reason that the logs do not prove a power cut, as a clause; `None` if the logs prove one.
pub fn unproven_power_cut_reason(
    acknowledged: &AckLog,
    survived: &ReadBackLog,
) -> Option<&'static str> {
    if acknowledged.was_stopped {
        Some(
            "the writer was stopped before the power cut, so its last writes had time to reach the disk",
        )
    } else if acknowledged.boot.is_empty() || survived.boot.is_empty() {
        Some("the logs do not show whether the host rebooted between writing and reading")
    } else if acknowledged.boot == survived.boot {
        Some("the host did not reboot between writing and reading, so the power was not cut")
    } else {
        None
    }
}

/// Compares the acknowledged commits with the pages on the disk. Fails if the logs belong to
/// different runs; the error is a clause.
pub fn find_lost_commits(
    acknowledged: &AckLog,
    survived: &ReadBackLog,
) -> Result<DrillResult, String> {
    if acknowledged.header.run != survived.header.run {
        return Err(format!(
            "the logs belong to different runs: {:016x} acknowledged, {:016x} read",
            acknowledged.header.run, survived.header.run
        ));
    }
    let newest = acknowledged.last_number;
    // The commit in progress at the power cut may have replaced the oldest page, so that page is
    // not expected.
    let under_way = survived
        .pages
        .iter()
        .map(|(_, to)| *to)
        .max()
        .unwrap_or(0)
        .max(newest)
        .saturating_add(1);
    let oldest = under_way.saturating_sub(PAGES_PER_SEGMENT) + 1;
    let mut lost_ranges = CommitNumberRanges::new();
    let mut at = oldest;
    let mut pages = survived.pages.clone();
    pages.sort_unstable();
    for (from, to) in pages {
        if from > newest {
            break;
        }
        if from > at {
            lost_ranges.push((at, from - 1));
        }
        at = at.max(to.saturating_add(1));
    }
    if at <= newest {
        lost_ranges.push((at, newest));
    }
    Ok(DrillResult {
        acknowledged: newest,
        examined: (newest + 1).saturating_sub(oldest),
        lost_ranges,
    })
}

// The two logs of a drill: acknowledgements that another host received, and pages found after the
// power cut.
//
// Unknown lines are skipped, because consoles print other text too. A last line without a newline
// is ignored: `ack 12` may be the beginning of `ack 1234`.

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    pub run: u64,
    /// Name of the method, as `walwise drill write --method` takes it.
    pub method: String,
    pub segments: String,
    /// Start of the run, RFC 3339 in UTC.
    pub when: String,
    /// Path of the drill's directory, display-safe; it may contain spaces.
    pub directory: String,
}

const LOG_HEADER: &str = "walwise-drill 1";
/// Prefix of the line with the boot id, /proc/sys/kernel/random/boot_id (random(4)).
pub const BOOT_PREFIX: &str = "boot ";
/// Last line of a log whose writer was stopped by the user.
pub const STOPPED_LINE: &str = "stopped";

impl fmt::Display for RunHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            method,
            segments,
            when,
            directory,
        } = self;
        write!(
            f,
            "{LOG_HEADER} run={run:016x} method={method} segments={segments} when={when} directory={directory}"
        )
    }
}

impl RunHeader {
    pub fn parse(line: &str) -> Option<Self> {
        let (_, words) = line.split_once(LOG_HEADER)?;
        // The directory comes last, because its path may contain spaces.
        let (words, directory) = words.split_once(" directory=")?;
        let value = |key: &str| {
            words
                .split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .map(str::to_owned)
        };
        Some(Self {
            run: u64::from_str_radix(&value("run")?, 16).ok()?,
            method: value("method")?,
            segments: value("segments")?,
            when: value("when")?,
            directory: directory.trim_end().to_owned(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckLog {
    pub header: RunHeader,
    /// Boot id at the time of writing; empty if unknown.
    pub boot: String,
    pub stack: StackFacts,
    /// Highest acknowledged number, or 0; the writer counts from 1 without gaps.
    pub last_number: u64,
    pub was_stopped: bool,
}

/// The error is a clause, to be shown after the name of the log.
pub fn parse_ack_log(text: &str) -> Result<AckLog, String> {
    let mut found: Option<AckLog> = None;
    for line in complete_lines(text) {
        if let Some(head) = RunHeader::parse(line) {
            if found
                .as_ref()
                .is_some_and(|found| found.header.run != head.run)
            {
                return Err("the log contains two runs; specify the log of one run".to_owned());
            }
            found = Some(found.unwrap_or(AckLog {
                header: head,
                boot: String::new(),
                stack: StackFacts::default(),
                last_number: 0,
                was_stopped: false,
            }));
        } else if let Some(found) = &mut found {
            if let Some(number) = line.strip_prefix("ack ") {
                found.last_number = found
                    .last_number
                    .max(number.trim_end().parse().unwrap_or(0));
            } else if let Some(boot) = line.strip_prefix(BOOT_PREFIX) {
                boot.trim_end().clone_into(&mut found.boot);
            } else if line.trim_end() == STOPPED_LINE {
                found.was_stopped = true;
            } else {
                found.stack.add_line_if_fact(line);
            }
        }
    }
    found.ok_or_else(|| {
        format!("no line begins with `{LOG_HEADER}`; specify the output of `walwise drill write`")
    })
}

/// Ascending ranges of numbers, both ends included.
pub(crate) type CommitNumberRanges = Vec<(u64, u64)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBackLog {
    pub header: RunHeader,
    /// Boot id at the time of reading; empty if unknown.
    pub boot: String,
    pub stack: StackFacts,
    pub pages: CommitNumberRanges,
    /// Time of reading, RFC 3339 in UTC.
    pub when: String,
}

impl fmt::Display for ReadBackLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\n{BOOT_PREFIX}{}\n{}",
            self.header, self.boot, self.stack
        )?;
        for (from, to) in &self.pages {
            writeln!(f, "survived {from}-{to}")?;
        }
        writeln!(f, "read {}", self.when)
    }
}

/// Parses the log of pages found after the power cut. The error is a clause, as in
/// [`parse_ack_log`].
pub fn parse_read_back_log(text: &str) -> Result<ReadBackLog, String> {
    let mut lines = complete_lines(text);
    let header = lines.find_map(RunHeader::parse).ok_or_else(|| {
        format!("no line begins with `{LOG_HEADER}`; specify the output of `walwise drill read`")
    })?;
    let (mut boot, mut stack, mut pages) = (
        String::new(),
        StackFacts::default(),
        CommitNumberRanges::new(),
    );
    for line in lines {
        stack.add_line_if_fact(line);
        if let Some(named) = line.strip_prefix(BOOT_PREFIX) {
            named.trim_end().clone_into(&mut boot);
        }
        if let Some(when) = line.strip_prefix("read ") {
            return Ok(ReadBackLog {
                header,
                boot,
                stack,
                pages,
                when: when.trim_end().to_owned(),
            });
        }
        let range = line
            .strip_prefix("survived ")
            .and_then(|range| range.trim_end().split_once('-'));
        if let Some((from, to)) = range {
            let (Ok(from), Ok(to)) = (from.parse(), to.parse()) else {
                return Err(format!("`{line}` is not a range of numbers"));
            };
            pages.push((from, to));
        }
    }
    Err("the last line of the log, which begins with `read`, is missing".to_owned())
}

fn complete_lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text
        .rfind('\n')
        .map_or("", |end| text.get(..=end).unwrap_or_default());
    whole.lines()
}

#[cfg(test)]
mod drill_logs_tests {
    use proptest::prelude::*;

    use super::*;

    fn sample_header() -> RunHeader {
        RunHeader {
            run: 0xabc,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "/srv/pg data".to_owned(),
        }
    }

    fn ack_log(last: u64) -> AckLog {
        AckLog {
            header: sample_header(),
            boot: String::new(),
            stack: StackFacts::default(),
            last_number: last,
            was_stopped: false,
        }
    }

    #[test]
    fn ack_log_keeps_boot_id_and_stop_marker() {
        let text = format!("{}\nboot 7a-b\nack 1\n", sample_header());
        assert_eq!(
            parse_ack_log(&text),
            Ok(AckLog {
                boot: "7a-b".to_owned(),
                ..ack_log(1)
            })
        );
        assert!(parse_ack_log(&(text + "stopped\n")).unwrap().was_stopped);
    }

    #[test]
    fn truncated_ack_line_is_ignored() {
        let text = format!(
            "login: \n{}\nack 1\nack 2\r\nkernel: noise\nack 34\nack 35",
            sample_header()
        );
        assert_eq!(parse_ack_log(&text), Ok(ack_log(34)));
        assert_eq!(
            parse_ack_log(&format!("{}\n", sample_header())).map(|found| found.last_number),
            Ok(0)
        );
        assert!(parse_ack_log("ack 1\n").is_err());
        let other = RunHeader {
            run: 1,
            ..sample_header()
        };
        assert!(parse_ack_log(&format!("{}\nack 5\n{other}\nack 7\n", sample_header())).is_err());
    }

    #[test]
    fn read_back_log_round_trips() {
        let mut stack = StackFacts::default();
        assert!(
            stack.add_line_if_fact("stack device 1 device.model=A = B")
                && !stack.add_line_if_fact("stack trace")
        );
        let when = "2026-01-02T04:00:00Z".to_owned();
        let found = ReadBackLog {
            header: sample_header(),
            boot: "7a".to_owned(),
            stack,
            pages: vec![(3, 9), (11, 11)],
            when,
        };
        assert_eq!(parse_read_back_log(&found.to_string()), Ok(found.clone()));
        assert!(
            parse_read_back_log(&format!("{}\nsurvived 1-2\n", sample_header())).is_err(),
            "the end of the log is missing"
        );
        assert!(
            parse_read_back_log(&format!("{}\nsurvived 1-x\nread now\n", sample_header())).is_err()
        );
    }

    proptest! {
        #[test]
        fn parsed_logs_agree_with_their_text(text in "(walwise-drill 1 run=0 method=a segments=b when=c directory=d\n|ack [0-9]{0,30}\n|survived [0-9]{0,3}-[0-9]{0,3}\n|read x\n|\\PC{0,20}|\n){0,12}") {
            if let Ok(found) = parse_ack_log(&text) {
                let named = text.contains(&format!("ack {}", found.last_number)) || text.contains("ack 0");
                prop_assert!(found.last_number == 0 || named);
            }
            if let Ok(found) = parse_read_back_log(&text) {
                prop_assert_eq!(parse_read_back_log(&found.to_string()), Ok(found));
            }
        }
    }
}

#[cfg(test)]
mod lost_commit_tests {
    use super::RunHeader;
    use super::StackFacts;
    use super::*;

    fn compare_logs(last: u64, pages: &[(u64, u64)]) -> DrillResult {
        let head = RunHeader {
            run: 1,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFacts::default();
        let survived = ReadBackLog {
            header: head.clone(),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: pages.to_vec(),
            when: String::new(),
        };
        find_lost_commits(
            &AckLog {
                header: head,
                boot: "a".to_owned(),
                stack,
                last_number: last,
                was_stopped: false,
            },
            &survived,
        )
        .unwrap()
    }

    #[test]
    fn missing_acknowledged_commits_are_lost() {
        assert_eq!(compare_logs(10, &[(1, 10)]).lost_count(), 0);
        assert_eq!(
            compare_logs(10, &[(1, 11)]).lost_count(),
            0,
            "one more commit was in flight"
        );
        assert_eq!(compare_logs(10, &[(1, 7), (9, 10)]).lost_ranges, [(8, 8)]);
        assert_eq!(compare_logs(10, &[]).lost_ranges, [(1, 10)]);
        assert_eq!(
            compare_logs(0, &[]),
            DrillResult {
                acknowledged: 0,
                examined: 0,
                lost_ranges: Vec::new()
            }
        );
    }

    #[test]
    fn cyclic_wal_is_examined_up_to_its_capacity() {
        // The log has 2,048 pages, so the unacknowledged commit 5001 may have overwritten page
        // 2953.
        let whole = compare_logs(5000, &[(2954, 5000)]);
        assert_eq!((whole.examined, whole.lost_count()), (2047, 0));
        assert_eq!(
            compare_logs(5000, &[(2954, 4998)]).lost_ranges,
            [(4999, 5000)]
        );
        let old = compare_logs(5000, &[(1, 2048)]);
        assert_eq!(
            (old.examined, old.lost_count()),
            (2047, 2047),
            "no write after the first round was stored"
        );
        assert_eq!(
            compare_logs(5000, &[(2956, 5002)]).lost_count(),
            0,
            "two more commits were stored, and a third was in flight"
        );
    }

    #[test]
    fn logs_of_two_runs_are_not_compared() {
        let head = |run| RunHeader {
            run,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFacts::default();
        let survived = ReadBackLog {
            header: head(2),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: Vec::new(),
            when: String::new(),
        };
        let acknowledged = AckLog {
            header: head(1),
            boot: "a".to_owned(),
            stack,
            last_number: 3,
            was_stopped: false,
        };
        assert!(find_lost_commits(&acknowledged, &survived).is_err());
    }
}

#[cfg(test)]
mod wal_page_tests {
    use super::*;

    fn filled_page(run: u64, number: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        fill_page(&mut page, run, number);
        page
    }

    #[test]
    fn torn_or_foreign_page_has_no_number() {
        let new = filled_page(7, 3000);
        assert_eq!(intact_page_number(&new, 7), Some(3000));
        assert_eq!(
            intact_page_number(&new, 8),
            None,
            "the page belongs to another run"
        );
        assert_eq!(intact_page_number(&new[..PAGE_BYTES - 512], 7), None);
        assert_eq!(intact_page_number(&vec![0; PAGE_BYTES], 7), None);
        let old = filled_page(7, 3000 - 2048);
        for sector in 0..PAGE_BYTES / 512 {
            let mut torn = new.clone();
            torn[sector * 512..(sector + 1) * 512]
                .copy_from_slice(&old[sector * 512..(sector + 1) * 512]);
            assert_eq!(intact_page_number(&torn, 7), None, "sector {sector}");
        }
    }
}
