//! Runs the stages in order: collect, measure, judge. The command line and the screens share it.
//!
//! Each evaluation starts from the facts read, never from earlier conclusions, so a report after a
//! measurement does not depend on the one before.

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
use crate::{compat, parallel};
use assume::Hypothesis;

mod caps {
    //! Rules that cap verdicts, evaluated before the verdicts. They read no fact that a verdict
    //! derives.

    use crate::durability::{Cap, Caps};
    use crate::facts::catalog::kernel;
    use crate::facts::{FactSet, MissingFact, Subject, UnknownReason};
    use crate::rules::{self, EvaluationOptions, Outcome, RuleSet, Trace};
    use crate::ternary::Ternary;

    pub fn caps(rules: &RuleSet, facts: &FactSet, live: bool) -> Caps {
        let circumstances = EvaluationOptions { live, traced: true };
        let capping = rules
            .rules()
            .iter()
            .filter_map(|rule| Some((rule, rule.caps?)));
        Caps::new(capping.flat_map(|(rule, standing)| {
            rules::rule_subjects(rule, facts)
                .into_iter()
                .map(move |subject| {
                    let finding = rules::evaluate_rule(rule, facts, &subject, circumstances);
                    let (mut used, mut assumed) = (Vec::new(), Vec::new());
                    if let Some(trace) = &finding.trace {
                        collect_trace_facts(trace, &mut used, &mut assumed);
                    }
                    Cap {
                        rule: rule.id.clone(),
                        subject,
                        standing,
                        applies: match finding.outcome {
                            Outcome::Applies => Ternary::True,
                            Outcome::DoesNotApply => Ternary::False,
                            Outcome::Undecided { .. } => Ternary::Unknown,
                        },
                        unread_fact: unread_fact(&finding.outcome)
                            .or_else(|| missing_build_date(&finding.outcome, &used, facts)),
                        reason: finding.title,
                        remedy: finding.remedy.map(|remedy| (remedy.here, remedy.text)),
                        facts: used,
                        assumed,
                    }
                })
        }))
    }

    /// A fact that could not be read and would decide. Absent and ambiguous facts do not count.
    fn unread_fact(outcome: &Outcome) -> Option<String> {
        let Outcome::Undecided { needs } = outcome else {
            return None;
        };
        let was_lost = |need: &&MissingFact| {
            !matches!(need.why, UnknownReason::Absent | UnknownReason::Ambiguous)
        };
        needs
            .iter()
            .flatten()
            .find(was_lost)
            .map(|need| need.fact.clone())
    }

    /// The kernel's build date, if it was not read and would decide where the version does not.
    fn missing_build_date(outcome: &Outcome, used: &[&str], facts: &FactSet) -> Option<String> {
        let is_undecided =
            matches!(outcome, Outcome::Undecided { .. }) && used.contains(&kernel::VERSION.name());
        let host = Subject::host();
        let is_dated = facts
            .value(&host, &kernel::VERSION)
            .is_none_or(|version| version.is_dated());
        (is_undecided && !is_dated && !facts.get(&host, &kernel::BUILD).is_known())
            .then(|| kernel::BUILD.name().to_owned())
    }

    /// The known facts of a trace, and those of them that are assumed.
    fn collect_trace_facts(
        trace: &Trace,
        facts: &mut Vec<&'static str>,
        assumed: &mut Vec<String>,
    ) {
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
            .for_each(|kid| collect_trace_facts(kid, facts, assumed));
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::facts::catalog::{device, target};

        /// Caps are evaluated before the verdicts, whose facts are still unknown then.
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
mod drill_facts {
    //! Drill records as facts of the targets on the tested stack.
    //!
    //! A record that fits no target is reported with the difference: a new kernel or firmware calls
    //! for a new drill.

    use crate::drill::Record;
    use crate::facts::catalog::target::{self, TargetKind};
    use crate::facts::note::DrillNote;
    use crate::facts::{FactSet, Scope, Subject};

    /// Adds the records; `live`: the facts are of this host.
    pub fn add_facts(records: &[(String, Record)], live: bool, facts: &mut FactSet) {
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
                facts.add_note(DrillNote::OnCapture { file: file.clone() });
                continue;
            }
            let told: Vec<Result<(), String>> = targets
                .iter()
                .map(|of| record.insert_facts(facts, of, file))
                .collect();
            if told.iter().all(Result::is_err) {
                let file = file.clone();
                facts.add_note(match told.into_iter().find_map(Result::err) {
                    Some(reason) => DrillNote::OtherStack { file, reason },
                    None => DrillNote::NoTarget { file },
                });
            }
        }
    }
}
pub mod assume;
mod measurement;
mod raw_answer;
mod trial_facts;
pub mod upgrade;
mod pack {
    //! The rules and tables shipped with walwise as one pack, and its identity in a run.

    use std::sync::LazyLock;

    use super::upgrade::DISTRIBUTIONS;
    use crate::compat;
    use crate::rules::pack::{self, FileSums, Pack};
    use crate::rules::{self, RuleSet};

    /// The shipped files: names and texts.
    pub fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
        let tables = compat::TABLES.iter().copied();
        let distributions = ("rules/tables/distributions.toml", DISTRIBUTIONS);
        rules::builtin_sources()
            .chain(tables)
            .chain([distributions])
    }

    /// Computed once: the files are compiled in.
    static SHIPPED: LazyLock<FileSums> = LazyLock::new(|| pack::file_sums(shipped()));

    /// The identity of a run's rules and tables.
    pub fn pack(rules: &RuleSet) -> Pack {
        Pack::new(rules, env!("CARGO_PKG_VERSION"), &SHIPPED)
    }

    /// The fingerprint of the shipped files.
    pub fn shipped_fingerprint() -> String {
        pack::fingerprint(&SHIPPED)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// An entry has the date of its check, or `unverified`.
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
                        walwise_model::provenance::Verification::parse(stamp).is_ok(),
                        "{name}: {stamp}"
                    );
                }
            }
        }

        /// An unlisted table would not count, and two packs with different tables would look the
        /// same.
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
mod wanted_filesystem;
mod recipe {
    //! How walwise would create and mount a file system on a free device: the commands of the plan,
    //! for a trial to follow.

    use super::Session;
    use crate::facts::Subject;
    use crate::report::{mkfs_command, planned_filesystem};
    use crate::settings::NewFilesystem;

    /// The arguments to create a file system.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FilesystemRecipe {
        /// Arguments of mkfs.
        pub mkfs: Vec<String>,
        /// Mount options; `defaults` for none.
        pub mount: String,
    }

    impl Session {
        /// The recipe of a file system on a free device; the error is the refusal.
        pub fn recipe(
            &mut self,
            target: &Subject,
            filesystem: NewFilesystem,
        ) -> Result<FilesystemRecipe, String> {
            self.choose_filesystem(target, Some(filesystem))?;
            let report = self.report();
            let plan = report
                .plan(target)
                .ok_or_else(|| format!("there is no plan for {}", target.name()))?;
            let mount = planned_filesystem(&plan.steps)?.mount;
            let command = mkfs_command(&plan.steps, filesystem.as_str())?.to_string();
            // No argument contains blanks or quotes.
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

pub use measurement::{
    MeasurementOptions, RowSelection, measurable_targets, method_in_force, missing_directory,
    probe_plan, unreadable_target,
};
pub use pack::{pack, shipped, shipped_fingerprint};
pub use raw_answer::raw_answer;

/// The facts read of a host, and everything needed to evaluate them.
#[derive(Clone)]
pub struct Session {
    /// Shared by all sessions of a run.
    pub rules: Arc<RuleSet>,
    /// Whether the host is this one, not a capture.
    pub live: bool,
    /// The options that commands in reports repeat, display-safe.
    pub options: Vec<RunOption>,
    /// The target as the user named it, display-safe; `None` to report everything found.
    pub named_target: Option<String>,
    /// The server to advise for where none exists yet.
    pub engine: Area,
    /// The facts read, without conclusions.
    pub facts: FactSet,
    /// Whether reports include the trace of each finding.
    pub traced: bool,
    pub measurements: BTreeMap<Subject, Measurement>,
    /// Drill records, each with its display-safe file name.
    pub drills: Vec<(String, Record)>,
    /// Trial records, likewise.
    pub trials: Vec<(String, TrialRecord)>,
    /// The file system that the user chose, by free disk.
    wanted: BTreeMap<Subject, NewFilesystem>,
    /// The assumptions, and the real facts.
    hypothesis: Option<(Hypothesis, FactSet)>,
}

impl Session {
    /// Reads the host; `progress` is called after each step.
    pub fn collect(
        host: &dyn Host,
        request: &Request,
        rules: impl Into<Arc<RuleSet>>,
        progress: &mut dyn FnMut(CollectStep, &FactSet),
    ) -> Self {
        let mut progress = |step: CollectStep, so_far: &FactSet| {
            progress(step, so_far);
            match step {
                CollectStep::Reads(_) => {}
                CollectStep::Waits(_) => compat::preload_tables(so_far, !request.without_programs),
            }
        };
        Self::new(
            collect::run_all(host, request, &mut progress),
            rules,
            host.is_live(),
        )
    }

    /// A session with these facts and no measurements.
    pub fn new(read: FactSet, rules: impl Into<Arc<RuleSet>>, live: bool) -> Self {
        Self {
            rules: rules.into(),
            live,
            options: Vec::new(),
            named_target: None,
            engine: Area::Pg,
            facts: read,
            traced: true,
            measurements: BTreeMap::new(),
            drills: Vec::new(),
            trials: Vec::new(),
            wanted: BTreeMap::new(),
            hypothesis: None,
        }
    }

    /// Takes over choices and measurements after the host was read again. A measurement is kept
    /// only if the stack of its target is unchanged.
    pub fn carry_over(&mut self, before: Self) {
        self.wanted = before.wanted;
        let there = measurable_targets(&self.facts);
        for (target, measurement) in before.measurements {
            let changed = StackFingerprint::from_facts(&before.facts, &target)
                .difference(&StackFingerprint::from_facts(&self.facts, &target));
            match changed {
                _ if !there.contains(&target) => {}
                None => drop(self.measurements.insert(target, measurement)),
                Some(change) => {
                    self.facts.add_note(MeasurementNote::Outdated {
                        target: target.name().to_owned(),
                        change,
                    });
                }
            }
        }
    }

    /// All facts: read, measured and derived, with the verdicts.
    pub fn conclusions(&self) -> (FactSet, Vec<durability::Verdict>) {
        self.conclude(self.facts.clone())
    }

    /// Like [`Session::judged`], without copying half a million facts on a large host.
    pub fn into_conclusions(mut self) -> (FactSet, Vec<durability::Verdict>) {
        let read = mem::take(&mut self.facts);
        self.conclude(read)
    }

    fn conclude(&self, mut facts: FactSet) -> (FactSet, Vec<durability::Verdict>) {
        for (target, measurement) in &self.measurements {
            measurement::add_facts(measurement, target, &mut facts);
        }
        drill_facts::add_facts(&self.drills, self.live, &mut facts);
        trial_facts::add_facts(&self.trials, self.live, &mut facts);
        compat::derive(&mut facts);
        sizing::derive(&mut facts);
        let caps = caps::caps(&self.rules, &facts, self.live);
        let verdicts = durability::judge_targets(&mut facts, self.live, &caps);
        if let Some((hypothesis, real)) = &self.hypothesis {
            hypothesis.mark(&mut facts, real);
        }
        (facts, verdicts)
    }

    /// The report of the current state.
    pub fn report(&self) -> Report {
        let (facts, verdicts) = self.conclusions();
        let evaluation = self.evaluation(&facts);
        let guard =
            |subject: &Subject, advice: &rules::Advice, beside: &compat::RelatedAdvice<'_>| {
                let values: Vec<&str> = advice.change.values().iter().map(String::as_str).collect();
                compat::check_advice_with(advice.setting, &values, beside, &facts, subject)
            };
        let mut report = report::build(report::Input {
            facts: &facts,
            verdicts,
            evaluation,
            measurements: self.measurements.clone(),
            overrides: self.overrides(),
            wanted: &self.wanted,
            refusal_reason: &|target, filesystem| self.refusal(&facts, target, filesystem),
            context: report::RunContext {
                when: now(),
                live: self.live,
                options: self.options.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                rules: self.rules.rules().len(),
                asked: self.named_target.clone(),
                engine: self.engine,
                pack: pack(&self.rules),
            },
            guard: &guard,
        });
        report.warnings.extend(
            compat::newer_than_tables(&facts)
                .into_iter()
                .map(Note::from),
        );
        let notes = self.user_rule_notes(&report);
        report.warnings.extend(notes);
        report
    }

    /// Notes on changes by the user's rule files, and on their parts without effect here.
    fn user_rule_notes(&self, report: &Report) -> Vec<Note> {
        let Self { rules, .. } = self;
        let not_in_force = rules.not_in_force().iter().cloned();
        let mut notes: Vec<_> = not_in_force
            .map(|sentence| RulesNote::NotInForce { sentence })
            .collect();
        notes.extend(rules.expired().iter().map(rules::ExpiredStatement::note));
        notes.extend(rules.off().iter().map(rules::DisabledRule::note));
        for given in rules.overrides() {
            let tally = report.rules.iter().find(|tally| tally.rule == given.rule);
            notes.push(given.note(tally.is_some_and(rules::Tally::has_no_subjects)));
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
        rules::Evaluation::merge(parallel::map_chunks(&rules::all_subjects(facts), on))
    }

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

    pub fn circumstances(&self) -> rules::EvaluationOptions {
        rules::EvaluationOptions {
            live: self.live,
            traced: self.traced,
        }
    }
}

/// The current time in UTC, RFC 3339, in seconds.
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

    /// A directory on a file system mounted with this option.
    fn session_mounted_with(option: &str) -> Session {
        let (data, top) = (Subject::target("/db"), Subject::mount("/db"));
        let mut facts = FactSet::default();
        facts.add_edge(&data, &top);
        facts.insert_known(
            &data,
            &target::KIND,
            target::TargetKind::Directory,
            Source::call("stat /db"),
        );
        let line = Source::line("/proc/self/mountinfo", 31);
        facts.insert_known(&top, &mount::SUPER_OPTIONS, vec![option.to_owned()], line);
        Session::new(facts, RuleSet::default(), true)
    }

    #[test]
    fn what_was_measured_stays_as_long_as_what_is_beneath() {
        for (option, stays) in [("nobarrier", true), ("barrier", false)] {
            let mut before = session_mounted_with("nobarrier");
            for probe in sample::at_risk().probes {
                before
                    .measurements
                    .insert(Subject::target("/db"), probe.measurement);
            }
            assert!(!before.measurements.is_empty());
            let mut now = session_mounted_with(option);
            now.carry_over(before);
            assert_eq!(now.measurements.is_empty(), !stays, "{option}");
            let said = "the earlier measurement of /db is no longer shown: mount 1 mount.super_options was nobarrier and \
                        is barrier";
            assert_eq!(
                now.facts
                    .notes()
                    .iter()
                    .any(|note| note.to_string() == said),
                !stays,
                "{option}"
            );
        }
    }
}
