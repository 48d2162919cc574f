//! Lost evidence never improves a result: deletes every line of every recorded host, and
//! damages every answer.
//!
//! A damaged capture is judged like `check TARGET --host FILE --fail-on-undecided --no-probe`.
//! `tests/lost` tries every damage and prints a table; the ordinary tests try random damages
//! for a minute, from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use walwise::session::Session;
use walwise_collect::{Request, run_all_collectors};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Level, Outcome, Risk, RuleSet};
use walwise_model::facts::{FactSet, Subject};
use walwise_report::Report;
use walwise_report::exit::{FailThreshold, exit_code};
use walwise_sys::host::capture_format::{self, Answers};
use walwise_sys::host::{ConfigDialect, Question, RecordedHost};

use super::garbled::HOSTS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CaptureDamage {
    Line,
    Answer,
    Empty,
    Half,
    /// Makes one byte of an answer non-printable.
    Byte,
    Letter,
    /// Zeros the second half of an answer.
    Zeros,
    Noise,
    Denied,
    Late,
    /// Truncates the capture after an answer.
    Tail,
}

const OF_ANSWERS: [CaptureDamage; 10] = [
    CaptureDamage::Answer,
    CaptureDamage::Empty,
    CaptureDamage::Half,
    CaptureDamage::Byte,
    CaptureDamage::Letter,
    CaptureDamage::Zeros,
    CaptureDamage::Noise,
    CaptureDamage::Denied,
    CaptureDamage::Late,
    CaptureDamage::Tail,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Improvement {
    /// The verdict became durable.
    Durable,
    Exit,
    /// New advice removes flushes.
    Advice,
}

/// Losses that a capture cannot reveal: the capture of a host that never had the item looks the
/// same. Each entry excuses improvements that the test would report, so the list has at most ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UndetectableLoss {
    /// A missing fstab line mounts nothing at the next boot; current mounts are in the mount table.
    FstabLine,
    /// A missing unit mounts and starts nothing.
    Unit,
    /// No server is running, so the verdict applies to any database that flushes.
    Server,
    /// A server option that is not set has its default.
    ServerOption,
    /// A kernel parameter that is not set has its default.
    KernelParameter,
}

impl UndetectableLoss {
    const ALL: [Self; 5] = [
        Self::FstabLine,
        Self::Unit,
        Self::Server,
        Self::ServerOption,
        Self::KernelParameter,
    ];

    fn from_question(question: &Question) -> Option<Self> {
        match question {
            Question::AsUser(_, inner) => Self::from_question(inner),
            Question::Config(_, dialect) => Some(match dialect {
                ConfigDialect::Fstab => Self::FstabLine,
                ConfigDialect::MountUnit | ConfigDialect::Service | ConfigDialect::Crypttab => {
                    Self::Unit
                }
                ConfigDialect::Postgres | ConfigDialect::Mysql | ConfigDialect::MysqlPersisted => {
                    Self::ServerOption
                }
                ConfigDialect::KernelCommandLine => Self::KernelParameter,
            }),
            Question::List(path) | Question::Link(path)
                if path.to_string_lossy().contains("/systemd/system") =>
            {
                Some(Self::Unit)
            }
            Question::Stat(path) | Question::RealPath(path) | Question::Read(path)
                if ["ibdata1", "PG_VERSION"]
                    .iter()
                    .any(|file| path.ends_with(file)) =>
            {
                Some(Self::Server)
            }
            Question::Link(path) if path.ends_with("cwd") => Some(Self::Server),
            Question::Servers
            | Question::ProcessStart(_)
            | Question::Tablespaces(_)
            | Question::CommandLine(_)
            | Question::Environment(_) => Some(Self::Server),
            Question::PgSettings(_) | Question::MysqlSettings(_) => Some(Self::ServerOption),
            _ => None,
        }
    }

    /// Whether the difference explains the gain: only servers and their options affect the verdict
    /// on commits.
    fn can_explain(self, gain: Improvement) -> bool {
        match (self, gain) {
            (_, Improvement::Advice)
            | (Self::FstabLine | Self::Unit | Self::KernelParameter, Improvement::Durable) => false,
            (Self::FstabLine | Self::Unit | Self::KernelParameter, Improvement::Exit)
            | (Self::Server | Self::ServerOption, Improvement::Durable | Improvement::Exit) => true,
        }
    }
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next_below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound.max(1) as u64).unwrap()
    }
}

struct RecordedEntry {
    question: Question,
    lines: Range<usize>,
}

struct LoadedCapture {
    name: &'static str,
    target: &'static str,
    lines: Vec<String>,
    entries: Vec<RecordedEntry>,
    plain: CaptureJudgement,
}

#[derive(Clone, Debug)]
struct CaptureJudgement {
    read: FactSet,
    /// The verdict about the target; `None` without a target.
    standing: Option<VerdictKind>,
    /// Exit code; `None` without anything to check.
    code: Option<u8>,
    advice: BTreeSet<String>,
}

impl CaptureJudgement {
    fn is_durable(&self) -> bool {
        self.standing.is_some_and(|standing| match standing {
            VerdictKind::Durable | VerdictKind::ProvenByDrill => true,
            VerdictKind::AtRisk | VerdictKind::Contradictory | VerdictKind::Unproven => false,
        })
    }

    fn improvements_after_damage(&self, after: &Self) -> Vec<Improvement> {
        let durable = (after.is_durable() && !self.is_durable()).then_some(Improvement::Durable);
        let exit = (after.code == Some(0) && self.code != Some(0)).then_some(Improvement::Exit);
        let advice = (!after.advice.is_subset(&self.advice)).then_some(Improvement::Advice);
        durable.into_iter().chain(exit).chain(advice).collect()
    }
}

/// Judges a capture like `check`; returns `None` if the facts equal `plain`, because the result is
/// then the same.
fn judge_capture(text: &str, target: &str, plain: Option<&FactSet>) -> Option<CaptureJudgement> {
    let Ok(host) = RecordedHost::parse(text.as_bytes()) else {
        return Some(CaptureJudgement {
            read: FactSet::default(),
            standing: None,
            code: None,
            advice: BTreeSet::new(),
        });
    };
    let request = Request {
        target: Some(target.into()),
        ..Request::default()
    };
    let read = run_all_collectors(&host, &request, &mut |_, _| {});
    if plain == Some(&read) {
        return None;
    }
    let mut session = Session::new(read, RuleSet::builtin(), false);
    session.named_target = Some(target.to_owned());
    session.traced = false;
    let report = session.build_report();
    let subject = Subject::target(target);
    let verdict = report
        .verdicts
        .iter()
        .find(|verdict| verdict.target == subject)
        .or(report.verdicts.first());
    let standing = verdict.map(|verdict| verdict.standing);
    let fail_on = FailThreshold {
        level: Level::Critical,
        undecided: true,
    };
    let code = verdict.is_some().then(|| exit_code(&report, fail_on));
    Some(CaptureJudgement {
        standing,
        code,
        advice: data_losing_advice(&report),
        read: session.facts,
    })
}

fn data_losing_advice(report: &Report) -> BTreeSet<String> {
    let applies = report
        .findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies);
    let risky = |finding: &walwise_judge::rules::Finding| {
        let risky = finding
            .advice
            .iter()
            .any(|advice| advice.risk == Risk::DataLossIfWrong);
        risky.then(|| format!("{} on {}", finding.rule, finding.subject))
    };
    applies.filter_map(risky).collect()
}

static CAPTURES: LazyLock<Vec<LoadedCapture>> = LazyLock::new(|| {
    HOSTS
        .iter()
        .map(|(name, target, _)| load_capture(name, target))
        .collect()
});

fn load_capture(name: &'static str, target: &'static str) -> LoadedCapture {
    let text = std::fs::read_to_string(super::host(name)).unwrap();
    let lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let is_question = |line: &&str| !line.is_empty() && !line.starts_with(['|', ':', '!']);
    let starts: Vec<usize> = (1..lines.len())
        .filter(|at| is_question(&lines[*at].as_str()))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let entry = |(start, end): (&usize, usize)| {
        let text = format!("{}\n{}\n", lines[0], lines[*start..end].join("\n"));
        let (answers, _) = capture_format::parse_capture(text.as_bytes()).unwrap();
        Some(RecordedEntry {
            question: answers.into_keys().next()?,
            lines: *start..end,
        })
    };
    let entries = starts.iter().zip(ends).filter_map(entry).collect();
    let plain = judge_capture(&text, target, None).unwrap();
    LoadedCapture {
        name,
        target,
        lines,
        entries,
        plain,
    }
}

/// One damage to one capture; the place is a line number or the index of an entry.
#[derive(Clone, Copy, Debug)]
struct DamageCase {
    capture: usize,
    damage: CaptureDamage,
    at: usize,
}

fn all_damage_cases() -> Vec<DamageCase> {
    let mut all = Vec::new();
    for (number, capture) in CAPTURES.iter().enumerate() {
        let trial = |damage, at| DamageCase {
            capture: number,
            damage,
            at,
        };
        all.extend((1..capture.lines.len()).map(|at| trial(CaptureDamage::Line, at)));
        for (at, _) in capture.entries.iter().enumerate() {
            all.extend(OF_ANSWERS.into_iter().map(|damage| trial(damage, at)));
        }
    }
    all
}

impl DamageCase {
    /// Returns the capture with the damage; `None` if the answer is too short to damage.
    fn damaged_text(&self, draw: &mut SplitMix64) -> Option<String> {
        let LoadedCapture { lines, entries, .. } = &CAPTURES[self.capture];
        let joined = |parts: &[&[String]]| parts.concat().join("\n") + "\n";
        if self.damage == CaptureDamage::Line {
            return Some(joined(&[&lines[..self.at], &lines[self.at + 1..]]));
        }
        let RecordedEntry {
            question,
            lines: Range { start, end },
        } = &entries[self.at];
        if self.damage == CaptureDamage::Answer {
            return Some(joined(&[&lines[..*start], &lines[*end..]]));
        }
        if self.damage == CaptureDamage::Tail {
            return Some(joined(&[&lines[..*end]]));
        }
        let refused = |miss: &str| {
            Some(joined(&[
                &lines[..=*start],
                &[miss.to_owned()],
                &lines[*end..],
            ]))
        };
        match self.damage {
            CaptureDamage::Denied => return refused("!denied Permission denied"),
            CaptureDamage::Late => return refused("!timed-out no answer"),
            _ => {}
        }
        let header = &lines[..1];
        let (answers, _) =
            capture_format::parse_capture(joined(&[header, &lines[*start..*end]]).as_bytes())
                .unwrap();
        let bytes = answers.into_values().next()?.ok()?;
        let changed = damage_bytes(bytes, self.damage, draw)?;
        let entry =
            capture_format::render_capture(&Answers::from([(question.clone(), Ok(changed))]), "");
        let entry: Vec<String> = entry.lines().skip(1).map(str::to_owned).collect();
        Some(joined(&[&lines[..*start], &entry, &lines[*end..]]))
    }

    fn describe_damage_place(&self) -> String {
        let LoadedCapture {
            name,
            lines,
            entries,
            ..
        } = &CAPTURES[self.capture];
        let (question, line) = match self.damage {
            CaptureDamage::Line => (
                self.damaged_entry().map(|entry| entry.lines.start),
                lines[self.at].as_str(),
            ),
            _ => (Some(entries[self.at].lines.start), ""),
        };
        let question = question.map(|at| lines[at].as_str()).unwrap_or_default();
        format!("{name}: {:?}: {question} {line}", self.damage)
    }

    fn damaged_entry(&self) -> Option<&'static RecordedEntry> {
        let entries = &CAPTURES[self.capture].entries;
        match self.damage {
            CaptureDamage::Line => entries.iter().find(|entry| entry.lines.contains(&self.at)),
            _ => entries.get(self.at),
        }
    }

    /// Returns a difference that explains all gains. After a truncation, the undetectable losses in
    /// the missing part must together explain them.
    fn explaining_loss(&self, gains: &[Improvement]) -> Option<UndetectableLoss> {
        let explains = |kind: &UndetectableLoss| gains.iter().all(|gain| kind.can_explain(*gain));
        let LoadedCapture {
            target,
            lines,
            entries,
            plain,
            ..
        } = &CAPTURES[self.capture];
        match self.damage {
            CaptureDamage::Line
            | CaptureDamage::Answer
            | CaptureDamage::Empty
            | CaptureDamage::Half => {
                UndetectableLoss::from_question(&self.damaged_entry()?.question).filter(explains)
            }
            CaptureDamage::Tail => {
                let tail = entries[self.at..].iter().skip(1);
                let lost: Vec<(UndetectableLoss, Range<usize>)> = tail
                    .filter_map(|entry| {
                        Some((
                            UndetectableLoss::from_question(&entry.question)?,
                            entry.lines.clone(),
                        ))
                    })
                    .collect();
                let is_left = |at: &usize| !lost.iter().any(|(_, range)| range.contains(at));
                let text: String = (0..lines.len())
                    .filter(is_left)
                    .flat_map(|at| [lines[at].as_str(), "\n"])
                    .collect();
                let after = judge_capture(&text, target, Some(&plain.read))?;
                let kinds = lost.iter().map(|(kind, _)| *kind).filter(explains);
                let explained = plain.improvements_after_damage(&after);
                kinds
                    .max()
                    .filter(|_| gains.iter().all(|gain| explained.contains(gain)))
            }
            CaptureDamage::Byte
            | CaptureDamage::Letter
            | CaptureDamage::Zeros
            | CaptureDamage::Noise
            | CaptureDamage::Denied
            | CaptureDamage::Late => None,
        }
    }

    fn find_improvements(&self, seed: u64) -> Vec<Improvement> {
        let mut draw = SplitMix64(
            seed ^ (self.capture as u64) << 40 ^ (self.at as u64) << 8 ^ self.damage as u64,
        );
        let LoadedCapture { target, plain, .. } = &CAPTURES[self.capture];
        let Some(text) = self.damaged_text(&mut draw) else {
            return Vec::new();
        };
        let Some(after) = judge_capture(&text, target, Some(&plain.read)) else {
            return Vec::new();
        };
        plain.improvements_after_damage(&after)
    }
}

fn damage_bytes(
    mut bytes: Vec<u8>,
    damage: CaptureDamage,
    draw: &mut SplitMix64,
) -> Option<Vec<u8>> {
    let middle = bytes.len() / 2;
    match damage {
        CaptureDamage::Line
        | CaptureDamage::Answer
        | CaptureDamage::Tail
        | CaptureDamage::Denied
        | CaptureDamage::Late => {
            return None;
        }
        CaptureDamage::Empty => bytes.clear(),
        CaptureDamage::Half => bytes.truncate(middle),
        CaptureDamage::Byte => {
            let at = draw.next_below(bytes.len());
            *bytes.get_mut(at)? = [0, 1, 0x7f, 0xff][draw.next_below(4)];
        }
        CaptureDamage::Letter => {
            let letters: Vec<usize> = (0..bytes.len())
                .filter(|at| bytes[*at].is_ascii_alphabetic())
                .collect();
            let at = *letters.get(draw.next_below(letters.len()))?;
            bytes[at] = if bytes[at] == b'~' { b'#' } else { b'~' };
        }
        CaptureDamage::Zeros => bytes[middle..].fill(0),
        CaptureDamage::Noise => bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::try_from(draw.next_below(256)).unwrap()),
    }
    Some(bytes)
}

#[derive(Default)]
struct RunSummary {
    tried: BTreeMap<CaptureDamage, usize>,
    better: BTreeMap<usize, (DamageCase, Vec<Improvement>)>,
    explained: BTreeMap<UndetectableLoss, usize>,
}

fn run_damage_cases(trials: &[DamageCase], seed: u64, deadline: Instant) -> RunSummary {
    let next = AtomicUsize::new(0);
    let ran = Mutex::new(RunSummary::default());
    let work = || {
        while Instant::now() < deadline {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(at) else { return };
            let gains = trial.find_improvements(seed);
            let difference = if gains.is_empty() {
                None
            } else {
                trial.explaining_loss(&gains)
            };
            let mut ran = ran.lock().unwrap();
            *ran.tried.entry(trial.damage).or_default() += 1;
            match difference {
                _ if gains.is_empty() => {}
                Some(difference) => *ran.explained.entry(difference).or_default() += 1,
                None => drop(ran.better.insert(at, (*trial, gains))),
            }
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    ran.into_inner().unwrap()
}

fn shuffled_cases(seed: u64) -> Vec<DamageCase> {
    let (mut trials, mut draw) = (all_damage_cases(), SplitMix64(seed));
    for at in (1..trials.len()).rev() {
        trials.swap(at, draw.next_below(at + 1));
    }
    trials
}

impl RunSummary {
    fn render_table(&self, seed: u64) -> String {
        let tried: usize = self.tried.values().sum();
        let mut table = format!("{} hosts, {tried} damages, seed {seed}\n", CAPTURES.len());
        for (damage, count) in &self.tried {
            let of_it = self
                .better
                .values()
                .filter(|(trial, _)| trial.damage == *damage);
            writeln!(
                table,
                "{:10} {count:7} tried {:5} better",
                format!("{damage:?}"),
                of_it.count()
            )
            .unwrap();
        }
        for gain in [Improvement::Durable, Improvement::Exit, Improvement::Advice] {
            let count = self
                .better
                .values()
                .filter(|(_, gains)| gains.contains(&gain))
                .count();
            writeln!(table, "{gain:?}: {count}").unwrap();
        }
        for difference in UndetectableLoss::ALL {
            let count = self.explained.get(&difference).copied().unwrap_or_default();
            writeln!(table, "another machine, {difference:?}: {count}").unwrap();
        }
        for (trial, gains) in self.better.values() {
            writeln!(table, "{gains:?} {}", trial.describe_damage_place()).unwrap();
        }
        table
    }
}

/// A recorded host, the prefix of a line to delete, and the exit code without the line. Each line
/// held evidence that could only lower the verdict.
const DELETED: &[(&str, &str, Option<u8>)] = &[
    ("lab-cloud-ephemeral", "|EphemeralDisk", Some(5)),
    ("lab-cloud-ephemeral", "|Google  ", Some(5)),
    ("gcp-local-ssd", "|nvme_card", Some(5)),
    ("nvme-capacitor-failed", "|0100: ", Some(5)),
    ("nvme-capacitor-failed", "|01f0: ", Some(5)),
    ("nvme-capacitor-failed", "run nvme get-log", Some(5)),
    ("loop-over-nobarrier", "|21 20 8:0 / /images ", None),
    ("lab-btrfs-raid1", "list /sys/fs/btrfs", None),
];

#[test]
fn a_deleted_line_leaves_the_verdict_unproven() {
    for (name, line, expect) in DELETED {
        let capture = CAPTURES
            .iter()
            .find(|capture| capture.name == *name)
            .unwrap();
        let is_it = |text: &&String| text.starts_with(line);
        assert!(
            capture.lines.iter().any(|text| is_it(&text)),
            "{name}: {line}"
        );
        let left: Vec<&str> = capture
            .lines
            .iter()
            .filter(|text| !is_it(text))
            .map(String::as_str)
            .collect();
        let after = judge_capture(&(left.join("\n") + "\n"), capture.target, None).unwrap();
        assert_eq!(
            after.standing,
            Some(VerdictKind::Unproven),
            "{name}: {line}"
        );
        assert!(
            expect.is_none() || after.code == *expect,
            "{name}: {line}: {:?}",
            after.code
        );
    }
}

fn number_from_env(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|number| number.parse().unwrap())
}

#[test]
#[ignore = "needs a minute, or what tests/lost gives it"]
#[expect(clippy::print_stdout, reason = "the table is for people")]
fn lost_evidence_improves_nothing() {
    let seed = number_from_env("LOST_SEED").unwrap_or(1);
    let trials = shuffled_cases(seed);
    let seconds = Duration::from_secs(number_from_env("LOST_SECONDS").unwrap_or(60));
    let ran = run_damage_cases(&trials, seed, Instant::now() + seconds);
    println!("{}of {} damages", ran.render_table(seed), trials.len());
    assert!(ran.better.is_empty(), "{}", ran.render_table(seed));
}
