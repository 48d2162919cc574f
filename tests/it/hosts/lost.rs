//! Evidence that gets lost improves nothing: every line of every recorded host deleted, and every
//! answer damaged.
//!
//! A damaged capture is judged as `check TARGET --host FILE --fail-on-undecided --no-probe` judges
//! it. `tests/lost` tries all damages and prints their table; a minute of them, drawn by a seed,
//! belongs to the ordinary tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use walwise::session::Session;
use walwise_collect::{Request, run_all};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Level, Outcome, Risk, RuleSet};
use walwise_model::facts::{FactSet, Subject};
use walwise_report::Report;
use walwise_report::exit::{FailCondition, exit_code};
use walwise_sys::host::archive::{self, Answers};
use walwise_sys::host::{Dialect, Question, RecordedHost};

use super::garbled::HOSTS;

/// What happens to a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    /// A line is not there.
    Line,
    /// An answer is not there.
    Answer,
    /// An answer holds no byte.
    Empty,
    /// An answer ends in its middle.
    Half,
    /// One byte of an answer is none that is printed.
    Byte,
    /// One letter of an answer is another.
    Letter,
    /// The second half of an answer is zeros.
    Zeros,
    /// An answer is noise.
    Noise,
    /// An answer is refused.
    Denied,
    /// An answer does not come.
    Late,
    /// The capture ends after an answer.
    Tail,
}

const OF_ANSWERS: [Damage; 10] = [
    Damage::Answer,
    Damage::Empty,
    Damage::Half,
    Damage::Byte,
    Damage::Letter,
    Damage::Zeros,
    Damage::Noise,
    Damage::Denied,
    Damage::Late,
    Damage::Tail,
];

/// What got better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gain {
    /// The verdict is durable.
    Durable,
    /// The exit code is 0.
    Exit,
    /// Advice removes flushes.
    Advice,
}

/// What may be missing because the machine really is another one: a closed list, of at most ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// A line of fstab that is not there mounts nothing at the next boot. What is mounted now is in
    /// the mount table.
    FstabLine,
    /// A unit that is not there mounts and starts nothing.
    Unit,
    /// A server that does not run is judged by nobody, and the verdict then holds for any database
    /// that flushes.
    Server,
    /// An option of a server that is not set has its default.
    ServerOption,
    /// A parameter of the kernel that is not set has its default.
    KernelParameter,
}

impl Difference {
    const ALL: [Self; 5] = [
        Self::FstabLine,
        Self::Unit,
        Self::Server,
        Self::ServerOption,
        Self::KernelParameter,
    ];

    /// The kind that a question is about.
    fn of(question: &Question) -> Option<Self> {
        match question {
            Question::AsUser(_, inner) => Self::of(inner),
            Question::Config(_, dialect) => Some(match dialect {
                Dialect::Fstab => Self::FstabLine,
                Dialect::MountUnit | Dialect::Service | Dialect::Crypttab => Self::Unit,
                Dialect::Postgres | Dialect::Mysql | Dialect::MysqlPersisted => Self::ServerOption,
                Dialect::KernelCommandLine => Self::KernelParameter,
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

    /// Whether it explains what got better: only a server and its options decide about commits.
    fn explains(self, gain: Gain) -> bool {
        match (self, gain) {
            (_, Gain::Advice)
            | (Self::FstabLine | Self::Unit | Self::KernelParameter, Gain::Durable) => false,
            (Self::FstabLine | Self::Unit | Self::KernelParameter, Gain::Exit)
            | (Self::Server | Self::ServerOption, Gain::Durable | Gain::Exit) => true,
        }
    }
}

/// Splitmix64: the same numbers for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound.max(1) as u64).unwrap()
    }
}

/// An answer of a capture: its question and its lines.
struct Entry {
    question: Question,
    lines: Range<usize>,
}

/// A recorded host as the text of its capture.
struct Capture {
    name: &'static str,
    target: &'static str,
    lines: Vec<String>,
    entries: Vec<Entry>,
    plain: Judged,
}

/// What is compared.
#[derive(Clone, Debug)]
struct Judged {
    read: FactSet,
    /// `None` where there is no target.
    standing: Option<VerdictKind>,
    /// `None` where there is nothing to check.
    code: Option<u8>,
    /// Advice that can lose data.
    advice: BTreeSet<String>,
}

impl Judged {
    fn is_durable(&self) -> bool {
        self.standing.is_some_and(|standing| match standing {
            VerdictKind::Durable | VerdictKind::ProvenByDrill => true,
            VerdictKind::AtRisk | VerdictKind::Contradictory | VerdictKind::Unproven => false,
        })
    }

    /// What is better afterwards.
    fn gains(&self, after: &Self) -> Vec<Gain> {
        let durable = (after.is_durable() && !self.is_durable()).then_some(Gain::Durable);
        let exit = (after.code == Some(0) && self.code != Some(0)).then_some(Gain::Exit);
        let advice = (!after.advice.is_subset(&self.advice)).then_some(Gain::Advice);
        durable.into_iter().chain(exit).chain(advice).collect()
    }
}

/// The report of a capture, and what was read; nothing where the facts read are those of `plain`.
fn judged(text: &str, target: &str, plain: Option<&FactSet>) -> Option<Judged> {
    let Ok(host) = RecordedHost::parse(text.as_bytes()) else {
        return Some(Judged {
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
    let read = run_all(&host, &request, &mut |_, _| {});
    if plain == Some(&read) {
        return None;
    }
    let mut session = Session::new(read, RuleSet::builtin(), false);
    session.named_target = Some(target.to_owned());
    session.traced = false;
    let report = session.report();
    let subject = Subject::target(target);
    let verdict = report
        .verdicts
        .iter()
        .find(|verdict| verdict.target == subject)
        .or(report.verdicts.first());
    let standing = verdict.map(|verdict| verdict.standing);
    let fail_on = FailCondition {
        level: Level::Critical,
        undecided: true,
    };
    let code = verdict.is_some().then(|| exit_code(&report, fail_on));
    Some(Judged {
        standing,
        code,
        advice: flushless(&report),
        read: session.facts,
    })
}

/// The advice of a report that can lose data, with what it is about.
fn flushless(report: &Report) -> BTreeSet<String> {
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

static CAPTURES: LazyLock<Vec<Capture>> = LazyLock::new(|| {
    HOSTS
        .iter()
        .map(|(name, target, _)| capture(name, target))
        .collect()
});

fn capture(name: &'static str, target: &'static str) -> Capture {
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
        let (answers, _) = archive::parse(text.as_bytes()).unwrap();
        Some(Entry {
            question: answers.into_keys().next()?,
            lines: *start..end,
        })
    };
    let entries = starts.iter().zip(ends).filter_map(entry).collect();
    let plain = judged(&text, target, None).unwrap();
    Capture {
        name,
        target,
        lines,
        entries,
        plain,
    }
}

/// One damage of one capture: for a line its number, for an answer that of its entry.
#[derive(Clone, Copy, Debug)]
struct Trial {
    capture: usize,
    damage: Damage,
    at: usize,
}

fn trials() -> Vec<Trial> {
    let mut all = Vec::new();
    for (number, capture) in CAPTURES.iter().enumerate() {
        let trial = |damage, at| Trial {
            capture: number,
            damage,
            at,
        };
        all.extend((1..capture.lines.len()).map(|at| trial(Damage::Line, at)));
        for (at, _) in capture.entries.iter().enumerate() {
            all.extend(OF_ANSWERS.into_iter().map(|damage| trial(damage, at)));
        }
    }
    all
}

impl Trial {
    /// The capture with its damage; nothing where the answer has nothing that could be damaged.
    fn text(&self, draw: &mut Draw) -> Option<String> {
        let Capture { lines, entries, .. } = &CAPTURES[self.capture];
        let joined = |parts: &[&[String]]| parts.concat().join("\n") + "\n";
        if self.damage == Damage::Line {
            return Some(joined(&[&lines[..self.at], &lines[self.at + 1..]]));
        }
        let Entry {
            question,
            lines: Range { start, end },
        } = &entries[self.at];
        if self.damage == Damage::Answer {
            return Some(joined(&[&lines[..*start], &lines[*end..]]));
        }
        if self.damage == Damage::Tail {
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
            Damage::Denied => return refused("!denied Permission denied"),
            Damage::Late => return refused("!timed-out no answer"),
            _ => {}
        }
        let header = &lines[..1];
        let (answers, _) =
            archive::parse(joined(&[header, &lines[*start..*end]]).as_bytes()).unwrap();
        let bytes = answers.into_values().next()?.ok()?;
        let changed = changed(bytes, self.damage, draw)?;
        let entry = archive::write(&Answers::from([(question.clone(), Ok(changed))]), "");
        let entry: Vec<String> = entry.lines().skip(1).map(str::to_owned).collect();
        Some(joined(&[&lines[..*start], &entry, &lines[*end..]]))
    }

    /// Where the damage is, in words.
    fn place(&self) -> String {
        let Capture {
            name,
            lines,
            entries,
            ..
        } = &CAPTURES[self.capture];
        let (question, line) = match self.damage {
            Damage::Line => (
                self.question().map(|entry| entry.lines.start),
                lines[self.at].as_str(),
            ),
            _ => (Some(entries[self.at].lines.start), ""),
        };
        let question = question.map(|at| lines[at].as_str()).unwrap_or_default();
        format!("{name}: {:?}: {question} {line}", self.damage)
    }

    /// The entry that is damaged.
    fn question(&self) -> Option<&'static Entry> {
        let entries = &CAPTURES[self.capture].entries;
        match self.damage {
            Damage::Line => entries.iter().find(|entry| entry.lines.contains(&self.at)),
            _ => entries.get(self.at),
        }
    }

    /// The difference that explains what got better: of the lost line or answer, or for a tail of
    /// one of the answers that explain it together.
    fn difference(&self, gains: &[Gain]) -> Option<Difference> {
        let explains = |kind: &Difference| gains.iter().all(|gain| kind.explains(*gain));
        let Capture {
            target,
            lines,
            entries,
            plain,
            ..
        } = &CAPTURES[self.capture];
        match self.damage {
            Damage::Line | Damage::Answer | Damage::Empty | Damage::Half => {
                Difference::of(&self.question()?.question).filter(explains)
            }
            Damage::Tail => {
                let tail = entries[self.at..].iter().skip(1);
                let lost: Vec<(Difference, Range<usize>)> = tail
                    .filter_map(|entry| {
                        Some((Difference::of(&entry.question)?, entry.lines.clone()))
                    })
                    .collect();
                let is_left = |at: &usize| !lost.iter().any(|(_, range)| range.contains(at));
                let text: String = (0..lines.len())
                    .filter(is_left)
                    .flat_map(|at| [lines[at].as_str(), "\n"])
                    .collect();
                let after = judged(&text, target, Some(&plain.read))?;
                let kinds = lost.iter().map(|(kind, _)| *kind).filter(explains);
                let explained = plain.gains(&after);
                kinds
                    .max()
                    .filter(|_| gains.iter().all(|gain| explained.contains(gain)))
            }
            Damage::Byte
            | Damage::Letter
            | Damage::Zeros
            | Damage::Noise
            | Damage::Denied
            | Damage::Late => None,
        }
    }

    /// What got better.
    fn gains(&self, seed: u64) -> Vec<Gain> {
        let mut draw =
            Draw(seed ^ (self.capture as u64) << 40 ^ (self.at as u64) << 8 ^ self.damage as u64);
        let Capture { target, plain, .. } = &CAPTURES[self.capture];
        let Some(text) = self.text(&mut draw) else {
            return Vec::new();
        };
        let Some(after) = judged(&text, target, Some(&plain.read)) else {
            return Vec::new();
        };
        plain.gains(&after)
    }
}

fn changed(mut bytes: Vec<u8>, damage: Damage, draw: &mut Draw) -> Option<Vec<u8>> {
    let middle = bytes.len() / 2;
    match damage {
        Damage::Line | Damage::Answer | Damage::Tail | Damage::Denied | Damage::Late => {
            return None;
        }
        Damage::Empty => bytes.clear(),
        Damage::Half => bytes.truncate(middle),
        Damage::Byte => {
            let at = draw.below(bytes.len());
            *bytes.get_mut(at)? = [0, 1, 0x7f, 0xff][draw.below(4)];
        }
        Damage::Letter => {
            let letters: Vec<usize> = (0..bytes.len())
                .filter(|at| bytes[*at].is_ascii_alphabetic())
                .collect();
            let at = *letters.get(draw.below(letters.len()))?;
            bytes[at] = if bytes[at] == b'~' { b'#' } else { b'~' };
        }
        Damage::Zeros => bytes[middle..].fill(0),
        Damage::Noise => bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::try_from(draw.below(256)).unwrap()),
    }
    Some(bytes)
}

/// What ran: how many damages of each kind, what got better for no reason, and how often a
/// difference was the reason.
#[derive(Default)]
struct Ran {
    tried: BTreeMap<Damage, usize>,
    better: BTreeMap<usize, (Trial, Vec<Gain>)>,
    explained: BTreeMap<Difference, usize>,
}

/// Tries damages on all processors, in order, until the deadline.
fn run(trials: &[Trial], seed: u64, deadline: Instant) -> Ran {
    let next = AtomicUsize::new(0);
    let ran = Mutex::new(Ran::default());
    let work = || {
        while Instant::now() < deadline {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(at) else { return };
            let gains = trial.gains(seed);
            let difference = if gains.is_empty() {
                None
            } else {
                trial.difference(&gains)
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

/// All damages in an order that the seed draws.
fn drawn(seed: u64) -> Vec<Trial> {
    let (mut trials, mut draw) = (trials(), Draw(seed));
    for at in (1..trials.len()).rev() {
        trials.swap(at, draw.below(at + 1));
    }
    trials
}

impl Ran {
    /// The table, and what got better for no reason, a line each.
    fn table(&self, seed: u64) -> String {
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
        for gain in [Gain::Durable, Gain::Exit, Gain::Advice] {
            let count = self
                .better
                .values()
                .filter(|(_, gains)| gains.contains(&gain))
                .count();
            writeln!(table, "{gain:?}: {count}").unwrap();
        }
        for difference in Difference::ALL {
            let count = self.explained.get(&difference).copied().unwrap_or_default();
            writeln!(table, "another machine, {difference:?}: {count}").unwrap();
        }
        for (trial, gains) in self.better.values() {
            writeln!(table, "{gains:?} {}", trial.place()).unwrap();
        }
        table
    }
}

/// Recorded hosts, the beginning of a line that is deleted, and the exit code afterwards: evidence
/// that could only lower the verdict was in it.
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
        let after = judged(&(left.join("\n") + "\n"), capture.target, None).unwrap();
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

/// A number that whoever runs the tests gives.
fn given(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|number| number.parse().unwrap())
}

#[test]
#[ignore = "needs a minute, or what tests/lost gives it"]
#[expect(clippy::print_stdout, reason = "the table is for people")]
fn lost_evidence_improves_nothing() {
    let seed = given("LOST_SEED").unwrap_or(1);
    let trials = drawn(seed);
    let seconds = Duration::from_secs(given("LOST_SECONDS").unwrap_or(60));
    let ran = run(&trials, seed, Instant::now() + seconds);
    println!("{}of {} damages", ran.table(seed), trials.len());
    assert!(ran.better.is_empty(), "{}", ran.table(seed));
}
