//! Joins the stages in order: look, measure, judge. The command line and the screens run the very
//! same ones.
//!
//! Each judgement starts from what was read, never from the conclusions of an earlier one, so a
//! report after a measurement is independent of the one before.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::collect::{self, CollectStep, Request};
use crate::drill::{Record, StackFingerprint};
use crate::durability;
use crate::facts::note::{MeasurementNote, RulesNote};
use crate::facts::{Area, FactSet, Note, Subject};
use crate::host::Host;
use crate::measure::Measurement;
use crate::report::{self, Report, RunOption};
use crate::rules::{self, RuleSet};
use crate::settings::NewFilesystem;
use crate::sizing;
use crate::trial::TrialRecord;
use crate::{validity, workers};
use assume::Hypothesis;

mod caps {
    //! The rules that cap verdicts, evaluated before the verdicts are joined. They read no fact
    //! that a verdict concludes.

    use crate::durability::{Cap, Caps};
    use crate::facts::catalog::kernel;
    use crate::facts::{FactSet, Need, Subject, Why};
    use crate::rules::{self, Circumstances, Outcome, RuleSet, Trace};
    use crate::truth::Truth;

    /// All caps on the subjects of these facts.
    pub fn caps(rules: &RuleSet, facts: &FactSet, live: bool) -> Caps {
        let circumstances = Circumstances { live, traced: true };
        let capping = rules
            .rules()
            .iter()
            .filter_map(|rule| Some((rule, rule.caps?)));
        Caps::new(capping.flat_map(|(rule, standing)| {
            rules::subjects(rule, facts)
                .into_iter()
                .map(move |subject| {
                    let finding = rules::evaluate_one(rule, facts, &subject, circumstances);
                    let (mut used, mut assumed) = (Vec::new(), Vec::new());
                    if let Some(trace) = &finding.trace {
                        collect(trace, &mut used, &mut assumed);
                    }
                    Cap {
                        rule: rule.id.clone(),
                        subject,
                        standing,
                        applies: match finding.outcome {
                            Outcome::Applies => Truth::True,
                            Outcome::DoesNotApply => Truth::False,
                            Outcome::Undecided { .. } => Truth::Unknown,
                        },
                        unread: unread(&finding.outcome)
                            .or_else(|| undated(&finding.outcome, &used, facts)),
                        reason: finding.title,
                        remedy: finding.remedy.map(|remedy| (remedy.here, remedy.says)),
                        facts: used,
                        assumed,
                    }
                })
        }))
    }

    /// A fact that could not be read and would decide. What a release hides is not unread.
    fn unread(outcome: &Outcome) -> Option<String> {
        let Outcome::Undecided { needs } = outcome else {
            return None;
        };
        let was_lost = |need: &&Need| !matches!(need.why, Why::Absent | Why::Ambiguous);
        needs
            .iter()
            .flatten()
            .find(was_lost)
            .map(|need| need.fact.clone())
    }

    /// The day of a kernel's build, which would decide where its number does not, and was not read.
    fn undated(outcome: &Outcome, used: &[&str], facts: &FactSet) -> Option<String> {
        let is_undecided =
            matches!(outcome, Outcome::Undecided { .. }) && used.contains(&kernel::VERSION.name());
        let host = Subject::host();
        let is_dated = facts
            .value(&host, &kernel::VERSION)
            .is_none_or(|version| version.is_dated());
        (is_undecided && !is_dated && !facts.get(&host, &kernel::BUILD).is_known())
            .then(|| kernel::BUILD.name().to_owned())
    }

    /// The known facts of a trace, and the assumed ones among them.
    fn collect(trace: &Trace, facts: &mut Vec<&'static str>, assumed: &mut Vec<String>) {
        if let Some(seen) = &trace.seen
            && let Some(source) = seen.reading.source()
        {
            facts.push(seen.fact);
            if !source.is_evidence() {
                assumed.push(format!("{} of {}", seen.fact, seen.subject));
            }
        }
        trace
            .kids
            .iter()
            .for_each(|kid| collect(kid, facts, assumed));
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::catalog::{device, target};

        /// Caps are evaluated before the layers are joined, when these are still unknown.
        #[test]
        fn no_capping_rule_reads_what_a_verdict_concludes() {
            let concluded = [
                device::CACHE.name(),
                target::VERDICT.name(),
                target::REDUNDANCY.name(),
                target::CACHE.name(),
                target::FLUSH.name(),
                target::SUPPRESSED_BY.name(),
                target::COMMIT_OFF_FOR.name(),
                target::INTERLOCK.name(),
                target::PAGE_WRITES.name(),
            ];
            let rules = RuleSet::builtin();
            let capping: Vec<_> = rules
                .rules()
                .iter()
                .filter(|rule| rule.caps.is_some())
                .collect();
            assert!(!capping.is_empty());
            for rule in capping {
                rule.when.for_each_test(&mut |test| {
                    assert!(!concluded.contains(&test.fact.name), "{}", rule.id);
                });
            }
        }
    }
}
mod drilled {
    //! Records of drills as facts of the targets on the drilled stack.
    //!
    //! A record that fits no target is reported with the difference: a new kernel or firmware is
    //! reason enough to repeat the drill.

    use crate::drill::Record;
    use crate::facts::catalog::target::{self, TargetKind};
    use crate::facts::note::DrillNote;
    use crate::facts::{FactSet, Scope, Subject};

    /// Puts the records in; `live` is whether the facts are of this machine.
    pub fn to_facts(records: &[(String, Record)], live: bool, facts: &mut FactSet) {
        let is_directory = |of: &&Subject| {
            facts
                .value(of, &target::KIND)
                .is_some_and(TargetKind::is_directory)
        };
        if records.is_empty() {
            return;
        }
        let targets: Vec<Subject> = facts
            .subjects(Scope::Target)
            .filter(is_directory)
            .cloned()
            .collect();
        for (file, record) in records {
            if !live {
                facts.warn(DrillNote::Capture { file: file.clone() });
                continue;
            }
            let told: Vec<Result<(), String>> = targets
                .iter()
                .map(|of| record.tell(facts, of, file))
                .collect();
            if told.iter().all(Result::is_err) {
                let file = file.clone();
                facts.warn(match told.into_iter().find_map(Result::err) {
                    Some(reason) => DrillNote::OtherStack { file, reason },
                    None => DrillNote::NoTarget { file },
                });
            }
        }
    }
}
pub mod assume;
mod measuring;
mod raw;
mod tried;
pub mod upgrade;
mod pack {
    //! The rules and tables that come with walwise as one pack, and its identity in a run.

    use std::sync::LazyLock;

    use super::upgrade::DISTRIBUTIONS;
    use crate::rules::pack::{self, Pack, Sums};
    use crate::rules::{self, RuleSet};
    use crate::validity;

    /// The files that come with walwise: names and texts.
    pub fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
        let tables = validity::TABLES.iter().copied();
        let distributions = ("rules/tables/distributions.toml", DISTRIBUTIONS);
        rules::shipped().chain(tables).chain([distributions])
    }

    /// Their sums; the same in every run.
    static SHIPPED: LazyLock<Sums> = LazyLock::new(|| pack::sums(shipped()));

    /// The identity of a run's rules and tables.
    pub fn pack(rules: &RuleSet) -> Pack {
        Pack::new(rules, env!("CARGO_PKG_VERSION"), &SHIPPED)
    }

    /// The fingerprint of the files that come with walwise.
    pub fn shipped_fingerprint() -> String {
        pack::fingerprint(&SHIPPED)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Whoever opened a source says so; of everything else it is said that nobody did.
        #[test]
        fn every_entry_says_when_it_was_checked() {
            for (name, text) in shipped() {
                let document: toml::Table = toml::from_str(text).unwrap();
                let rows = document.iter().flat_map(|(kind, rows)| {
                    rows.as_array().unwrap().iter().map(move |row| (kind, row))
                });
                for (kind, row) in rows {
                    let stamp = row.get("checked").and_then(toml::Value::as_str);
                    let stamp = stamp
                        .unwrap_or_else(|| panic!("{name}: [[{kind}]] without a stamp: {row}"));
                    assert!(
                        walwise_model::checked::SourceCheck::parse(stamp).is_ok(),
                        "{name}: {stamp}"
                    );
                }
            }
        }

        /// A table that is not listed would not count, and two packs with different rulings would
        /// look the same.
        #[test]
        fn every_rule_file_and_table_of_the_directory_counts() {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            let mut there = Vec::new();
            for directory in ["rules", "rules/tables"] {
                for entry in std::fs::read_dir(root.join(directory)).unwrap() {
                    let path = entry.unwrap().path();
                    if path
                        .extension()
                        .is_some_and(|extension| extension == "toml")
                    {
                        there.push(format!(
                            "{directory}/{}",
                            path.file_name().unwrap().display()
                        ));
                    }
                }
            }
            there.sort();
            let mut counted: Vec<&str> = SHIPPED.iter().map(|(name, _)| name.as_str()).collect();
            counted.sort_unstable();
            assert_eq!(counted, there);
        }
    }
}
mod wish;
mod recipe {
    //! How walwise would make and mount a file system on a free device: the plan's own words, for a
    //! trial to follow.

    use super::Session;
    use crate::facts::Subject;
    use crate::report::{chosen, mkfs_command};
    use crate::settings::NewFilesystem;

    /// The words of a file system that is to be made.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FilesystemRecipe {
        /// Options of mkfs, as words.
        pub mkfs: Vec<String>,
        /// Mount options, `defaults` for none.
        pub mount: String,
    }

    impl Session {
        /// The recipe of a file system on a free device; the error says why there is none.
        pub fn recipe(
            &mut self,
            target: &Subject,
            filesystem: NewFilesystem,
        ) -> Result<FilesystemRecipe, String> {
            self.want(target, Some(filesystem))?;
            let report = self.report();
            let plan = report
                .plan(target)
                .ok_or_else(|| format!("there is no plan for {}", target.name()))?;
            let mount = chosen(&plan.steps)?.mount;
            let command = mkfs_command(&plan.steps, filesystem.word())?.to_string();
            // Every word is plain, so blanks part them.
            let mkfs = command
                .split_whitespace()
                .skip(1)
                .map(str::to_owned)
                .collect();
            Ok(FilesystemRecipe { mkfs, mount })
        }
    }
}
#[cfg(test)]
mod notes;

pub use measuring::{
    MeasurementOptions, RowSelection, measurable, method_in_force, prepare, to_be_made, unreadable,
};
pub use pack::{pack, shipped, shipped_fingerprint};
pub use raw::raw;

/// The facts read of a host, and everything needed to judge it.
#[derive(Clone)]
pub struct Session {
    /// The rules, shared by the sessions of a run.
    pub rules: Arc<RuleSet>,
    /// Whether the host is this machine.
    pub live: bool,
    /// The options of this run that its commands repeat, display-safe.
    pub options: Vec<RunOption>,
    /// The target that was asked for, as it was named, display-safe; `None` when everything found
    /// is examined.
    pub asked: Option<String>,
    /// Whose settings the answers are about where there is no server.
    pub engine: Area,
    /// The facts read, without any conclusions.
    pub read: FactSet,
    /// Whether reports have the trace of each finding; a page of text does without.
    pub traced: bool,
    /// Measurements by target.
    pub measured: BTreeMap<Subject, Measurement>,
    /// Records of drills, each with the name of its file, display-safe.
    pub drills: Vec<(String, Record)>,
    /// Records of trials, likewise.
    pub trials: Vec<(String, TrialRecord)>,
    /// The file system that the user wants, by free disk.
    wanted: BTreeMap<Subject, NewFilesystem>,
    /// The assumptions, and the real facts.
    hypothesis: Option<(Hypothesis, FactSet)>,
}

impl Session {
    /// Reads the host. `progress` hears of each step.
    pub fn look(
        host: &dyn Host,
        request: &Request,
        rules: impl Into<Arc<RuleSet>>,
        progress: &mut dyn FnMut(CollectStep, &FactSet),
    ) -> Self {
        let mut progress = |step: CollectStep, so_far: &FactSet| {
            progress(step, so_far);
            match step {
                CollectStep::Reads(_) => {}
                CollectStep::Waits(_) => validity::read_ahead(so_far, !request.without_programs),
            }
        };
        Self::new(
            collect::run_all(host, request, &mut progress),
            rules,
            host.is_live(),
        )
    }

    /// A session with these facts and without measurements.
    pub fn new(read: FactSet, rules: impl Into<Arc<RuleSet>>, live: bool) -> Self {
        Self {
            rules: rules.into(),
            live,
            options: Vec::new(),
            asked: None,
            engine: Area::Pg,
            read,
            traced: true,
            measured: BTreeMap::new(),
            drills: Vec::new(),
            trials: Vec::new(),
            wanted: BTreeMap::new(),
            hypothesis: None,
        }
    }

    /// Takes over what was wanted and measured before the host was read again; measurements of
    /// every target whose stack is unchanged. A measurement of another mount or disk would be wrong
    /// for this one.
    pub fn keep(&mut self, before: Self) {
        self.wanted = before.wanted;
        let there = measurable(&self.read);
        for (target, measurement) in before.measured {
            let changed = StackFingerprint::from_facts(&before.read, &target)
                .changed(&StackFingerprint::from_facts(&self.read, &target));
            match changed {
                _ if !there.contains(&target) => {}
                None => drop(self.measured.insert(target, measurement)),
                Some(change) => {
                    self.read.warn(MeasurementNote::Age {
                        target: target.name().to_owned(),
                        change,
                    });
                }
            }
        }
    }

    /// All facts: those read, those measured, and the conclusions from both.
    pub fn judged(&self) -> (FactSet, Vec<durability::Verdict>) {
        self.judge(self.read.clone())
    }

    /// The same, consuming the session: avoids a copy of half a million facts on a large host.
    pub fn into_judged(mut self) -> (FactSet, Vec<durability::Verdict>) {
        let read = mem::take(&mut self.read);
        self.judge(read)
    }

    fn judge(&self, mut facts: FactSet) -> (FactSet, Vec<durability::Verdict>) {
        for (target, measurement) in &self.measured {
            measuring::to_facts(measurement, target, &mut facts);
        }
        drilled::to_facts(&self.drills, self.live, &mut facts);
        tried::to_facts(&self.trials, self.live, &mut facts);
        validity::derive(&mut facts);
        sizing::derive(&mut facts);
        let caps = caps::caps(&self.rules, &facts, self.live);
        let verdicts = durability::judge(&mut facts, self.live, &caps);
        if let Some((hypothesis, real)) = &self.hypothesis {
            hypothesis.mark(&mut facts, real);
        }
        (facts, verdicts)
    }

    /// The report of the current state.
    pub fn report(&self) -> Report {
        let (facts, verdicts) = self.judged();
        let evaluation = self.evaluation(&facts);
        let guard = |subject: &Subject, advice: &rules::Advice, beside: &validity::Beside<'_>| {
            let values: Vec<&str> = advice.change.values().iter().map(String::as_str).collect();
            validity::guard_with(advice.setting, &values, beside, &facts, subject)
        };
        let mut report = report::build(report::Input {
            facts: &facts,
            verdicts,
            evaluation,
            measurements: self.measured.clone(),
            overrides: self.overrides(),
            wanted: &self.wanted,
            refusal: &|target, filesystem| self.refusal(&facts, target, filesystem),
            circumstances: report::RunContext {
                when: now(),
                live: self.live,
                options: self.options.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                rules: self.rules.rules().len(),
                asked: self.asked.clone(),
                engine: self.engine,
                pack: pack(&self.rules),
            },
            guard: &guard,
        });
        report
            .warnings
            .extend(validity::newer(&facts).into_iter().map(Note::from));
        let notes = self.of_users_rules(&report);
        report.warnings.extend(notes);
        report
    }

    /// Notes on the changes by the user's rule files, and on their parts without effect here.
    fn of_users_rules(&self, report: &Report) -> Vec<Note> {
        let Self { rules, .. } = self;
        let not_in_force = rules.not_in_force().iter().cloned();
        let mut notes: Vec<_> = not_in_force
            .map(|sentence| RulesNote::Loss { sentence })
            .collect();
        notes.extend(rules.expired().iter().map(rules::Expired::note));
        notes.extend(rules.off().iter().map(rules::Off::note));
        for given in rules.overrides() {
            let tally = report.rules.iter().find(|tally| tally.rule == given.rule);
            notes.push(given.note(tally.is_some_and(rules::Tally::is_idle)));
        }
        notes.extend(
            rules
                .remarks()
                .iter()
                .cloned()
                .map(|sentence| RulesNote::Remark { sentence }),
        );
        notes.into_iter().map(Note::from).collect()
    }

    /// Evaluates all rules, on all processors.
    fn evaluation(&self, facts: &FactSet) -> rules::Evaluation {
        let on = |subjects: &[Subject]| {
            rules::evaluate(subjects, &self.rules, facts, self.circumstances())
        };
        rules::Evaluation::joined(workers::in_pieces(&rules::all_subjects(facts), on))
    }

    /// The rules that each rule overrides.
    fn overrides(&self) -> report::Overrides {
        let rules = self
            .rules
            .rules()
            .iter()
            .filter(|rule| !rule.overrides.is_empty());
        rules
            .map(|rule| (rule.id.clone(), rule.overrides.clone()))
            .collect()
    }

    /// The circumstances of the run, for the rules.
    pub fn circumstances(&self) -> rules::Circumstances {
        rules::Circumstances {
            live: self.live,
            traced: self.traced,
        }
    }
}

/// The time, RFC 3339 in UTC, to the second.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::{mount, target};
    use crate::report::sample;

    /// A directory on a file system that is mounted with this option.
    fn mounted(option: &str) -> Session {
        let (data, top) = (Subject::target("/db"), Subject::mount("/db"));
        let mut facts = FactSet::default();
        facts.stand(&data, &top);
        facts.know(
            &data,
            &target::KIND,
            target::TargetKind::Directory,
            Source::call("stat /db"),
        );
        let line = Source::line("/proc/self/mountinfo", 31);
        facts.know(&top, &mount::SUPER_OPTIONS, vec![option.to_owned()], line);
        Session::new(facts, RuleSet::default(), true)
    }

    #[test]
    fn what_was_measured_stays_as_long_as_what_is_beneath() {
        for (option, stays) in [("nobarrier", true), ("barrier", false)] {
            let mut before = mounted("nobarrier");
            for probe in sample::at_risk().probes {
                before
                    .measured
                    .insert(Subject::target("/db"), probe.measurement);
            }
            assert!(!before.measured.is_empty());
            let mut now = mounted(option);
            now.keep(before);
            assert_eq!(now.measured.is_empty(), !stays, "{option}");
            let said = "what was measured of /db before is not shown any more: mount 1 mount.super_options was nobarrier and \
                        is barrier";
            assert_eq!(
                now.read
                    .warnings()
                    .iter()
                    .any(|note| note.to_string() == said),
                !stays,
                "{option}"
            );
        }
    }
}
