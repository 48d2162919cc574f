//! A session consists of the facts read from a host and the user's choices. Every report is
//! derived from these facts again, so it does not depend on an earlier report.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, LazyLock};

use assume::Hypothesis;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::collect::{self, CollectStep, Request};
use crate::drill::{DrillRecord, StackFacts};
use crate::durability::{self, VerdictCap, VerdictCaps};
use crate::facts::catalog::kernel;
use crate::facts::catalog::target::TargetKind;
use crate::facts::{FactSet, MissingFact, Note, NoteKind, ServerArea, Subject, UnknownReason};
use crate::host::Host;
use crate::measure::Measurement;
use crate::report::{self, Report, RunOption, mkfs_command, planned_filesystem};
use crate::rules::rule_pack::{self, FileSums, Pack};
use crate::rules::{self, ConditionTrace, EvaluationOptions, Outcome, RuleSet};
use crate::settings::NewFilesystem;
use crate::ternary::Ternary;
use crate::trial::TrialRecord;
use crate::{compat, measure, parallel, sizing};

pub mod assume;
mod known_changes;
mod measurement;
#[cfg(test)]
mod note_wording_tests;
mod raw_answer;
mod trial_facts;
pub mod upgrade;
mod wanted_filesystem;

pub use measurement::{
    CommitProfileOptions, MeasurementOptions, ProbeRowSelection, measurable_targets_wal_first,
    missing_directory_message, plan_target_probe, unreadable_target_reason, wal_method_in_force,
};
pub use raw_answer::raw_answer_lines;

#[derive(Clone)]
pub struct Session {
    pub rules: Arc<RuleSet>,
    /// True if the facts were read from the running host, false if from a capture.
    pub live: bool,
    /// Command-line options that commands in reports repeat, display-safe.
    pub options: Vec<RunOption>,
    /// The target as the user named it, display-safe; `None` to report everything found.
    pub named_target: Option<String>,
    /// The database server to assume if none exists yet.
    pub engine: ServerArea,
    /// The facts that were read, without conclusions.
    pub facts: FactSet,
    /// Whether findings keep the values that each condition was evaluated with.
    pub traced: bool,
    pub measurements: BTreeMap<Subject, Measurement>,
    /// Each record has its display-safe file name.
    pub drills: Vec<(String, DrillRecord)>,
    /// Each record has its display-safe file name.
    pub trials: Vec<(String, TrialRecord)>,
    wanted: BTreeMap<Subject, NewFilesystem>,
    /// The assumptions, and the facts without them.
    hypothesis: Option<(Hypothesis, FactSet)>,
}

impl Session {
    /// `progress` is called before each step with the facts read so far.
    pub fn collect_from_host(
        host: &dyn Host,
        request: &Request,
        rules: impl Into<Arc<RuleSet>>,
        progress: &mut dyn FnMut(CollectStep, &FactSet),
    ) -> Self {
        let mut progress = |step: CollectStep, so_far: &FactSet| {
            progress(step, so_far);
            match step {
                CollectStep::Reads(_) => {}
                CollectStep::Waits(_) => {
                    compat::preload_option_and_feature_tables(so_far, !request.without_programs);
                }
            }
        };
        Self::new(
            collect::run_all_collectors(host, request, &mut progress),
            rules,
            host.is_live(),
        )
    }

    pub fn new(read: FactSet, rules: impl Into<Arc<RuleSet>>, live: bool) -> Self {
        Self {
            rules: rules.into(),
            live,
            options: Vec::new(),
            named_target: None,
            engine: ServerArea::Pg,
            facts: read,
            traced: true,
            measurements: BTreeMap::new(),
            drills: Vec::new(),
            trials: Vec::new(),
            wanted: BTreeMap::new(),
            hypothesis: None,
        }
    }

    /// Takes over choices and measurements from the session before the host was read again. A
    /// measurement is kept only if its target can still be measured and has the same storage stack.
    pub fn carry_over_choices_and_measurements(&mut self, before: Self) {
        self.wanted = before.wanted;
        let there = measurable_targets_wal_first(&self.facts);
        for (target, measurement) in before.measurements {
            let changed = StackFacts::from_facts(&before.facts, &target)
                .first_difference(&StackFacts::from_facts(&self.facts, &target));
            match changed {
                _ if !there.contains(&target) => {}
                None => drop(self.measurements.insert(target, measurement)),
                Some(change) => {
                    self.facts.add_note_once(format!(
                        "the earlier measurement of {} is no longer shown: {change}",
                        target.name()
                    ));
                }
            }
        }
    }

    /// Includes what measurements, drills and trials prove.
    pub fn derived_facts_and_verdicts(&self) -> (FactSet, Vec<durability::Verdict>) {
        self.derive_facts_and_verdicts(self.facts.clone())
    }

    /// Like [`Session::derived_facts_and_verdicts`], but consumes the session to avoid a copy: half
    /// a million facts of a large host take time to copy.
    pub fn into_derived_facts_and_verdicts(mut self) -> (FactSet, Vec<durability::Verdict>) {
        let read = mem::take(&mut self.facts);
        self.derive_facts_and_verdicts(read)
    }

    fn derive_facts_and_verdicts(&self, mut facts: FactSet) -> (FactSet, Vec<durability::Verdict>) {
        for (target, measurement) in &self.measurements {
            let in_force = wal_method_in_force(&facts, target);
            measure::insert_probe_facts(measurement, target, in_force, &mut facts);
        }
        add_drill_facts(&self.drills, self.live, &mut facts);
        trial_facts::add_trial_facts(&self.trials, self.live, &mut facts);
        compat::derive_compat_facts(&mut facts);
        sizing::derive_sizing_facts(&mut facts);
        let caps = evaluate_verdict_caps(&self.rules, &facts, self.live);
        let verdicts = durability::judge_targets(&mut facts, self.live, &caps);
        if let Some((hypothesis, real)) = &self.hypothesis {
            hypothesis.mark_readings_as_assumed(&mut facts, real);
        }
        (facts, verdicts)
    }

    pub fn build_report(&self) -> Report {
        let (facts, verdicts) = self.derived_facts_and_verdicts();
        let evaluation = self.evaluate_rules(&facts);
        let guard =
            |subject: &Subject, advice: &rules::Advice, beside: &compat::RelatedAdvice<'_>| {
                let values = advice.change.set_or_added_values().iter();
                let values: Vec<&str> = values.map(String::as_str).collect();
                compat::check_advice_with_related(advice.setting, &values, beside, &facts, subject)
            };
        let mut report = report::build_report(report::ReportInput {
            facts: &facts,
            verdicts,
            evaluation,
            measurements: self.measurements.clone(),
            overrides: self.overrides_by_rule(),
            wanted: &self.wanted,
            refusal_reason: &|target, filesystem| {
                self.filesystem_refusal(&facts, target, filesystem)
            },
            context: report::RunContext {
                when: now_rfc3339(),
                live: self.live,
                options: self.options.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                rules: self.rules.rules().len(),
                asked: self.named_target.clone(),
                engine: self.engine,
                pack: build_rule_pack(&self.rules),
            },
            guard: &guard,
        });
        report
            .warnings
            .extend(compat::notes_on_newer_releases(&facts));
        let notes = self.user_rule_notes(&report);
        report.warnings.extend(notes);
        report
    }

    fn user_rule_notes(&self, report: &Report) -> Vec<Note> {
        let Self { rules, .. } = self;
        let not_in_force = rules.not_in_force_sentences().iter().cloned();
        let not_in_force =
            not_in_force.map(|sentence| Note::new(NoteKind::RulesNotInForce, sentence));
        let expired = rules.expired_overrides().iter();
        let disabled = rules.disabled_rules().iter();
        let changed = rules.level_overrides().iter().map(|given| {
            let mut tallies = report.rules.iter();
            let tally = tallies.find(|tally| tally.rule == given.rule);
            given
                .to_level_changed_note(tally.is_some_and(rules::RuleOutcomeCounts::has_no_subjects))
        });
        not_in_force
            .chain(expired.map(rules::ExpiredRuleOverride::to_expired_note))
            .chain(disabled.map(rules::DisabledRule::to_disabled_note))
            .chain(changed)
            .chain(rules.remarks().iter().cloned().map(Note::from))
            .collect()
    }

    fn evaluate_rules(&self, facts: &FactSet) -> rules::Evaluation {
        let on = |subjects: &[Subject]| {
            rules::evaluate_rules(subjects, &self.rules, facts, self.evaluation_options())
        };
        let subjects = rules::subjects_in_scope_order(facts);
        rules::Evaluation::merge(parallel::map_chunks(&subjects, on))
    }

    fn overrides_by_rule(&self) -> report::RuleOverrides {
        let rules = self.rules.rules().iter();
        rules
            .filter(|rule| !rule.overrides.is_empty())
            .map(|rule| (rule.id.clone(), rule.overrides.clone()))
            .collect()
    }

    pub fn evaluation_options(&self) -> rules::EvaluationOptions {
        rules::EvaluationOptions {
            live: self.live,
            traced: self.traced,
        }
    }
}

/// The current time in UTC (RFC 3339), to the second.
pub fn now_rfc3339() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub fn today_utc() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Rules that cap verdicts are evaluated before the verdicts, and must not use facts derived from a
/// verdict.
fn evaluate_verdict_caps(rules: &RuleSet, facts: &FactSet, live: bool) -> VerdictCaps {
    let circumstances = EvaluationOptions { live, traced: true };
    let capping = rules
        .rules()
        .iter()
        .filter_map(|rule| Some((rule, rule.caps?)));
    VerdictCaps::new(capping.flat_map(|(rule, standing)| {
        rules::rule_subjects(rule, facts)
            .into_iter()
            .map(move |subject| {
                let finding = rules::evaluate_rule(rule, facts, &subject, circumstances);
                let (mut used, mut assumed) = (Vec::new(), Vec::new());
                if let Some(trace) = &finding.trace {
                    collect_used_and_assumed_facts(trace, &mut used, &mut assumed);
                }
                VerdictCap {
                    rule: rule.id.clone(),
                    subject,
                    standing,
                    applies: match finding.outcome {
                        Outcome::Applies => Ternary::True,
                        Outcome::DoesNotApply => Ternary::False,
                        Outcome::Undecided { .. } => Ternary::Unknown,
                    },
                    unread_fact: first_unread_fact_of_outcome(&finding.outcome)
                        .or_else(|| missing_build_date_fact(&finding.outcome, &used, facts)),
                    reason: finding.title,
                    remedy: finding.remedy,
                    facts: used,
                    assumed,
                }
            })
    }))
}

/// The first fact that an undecided rule needs and that is unknown, but neither absent nor
/// ambiguous.
fn first_unread_fact_of_outcome(outcome: &Outcome) -> Option<String> {
    let Outcome::Undecided { needs } = outcome else {
        return None;
    };
    let was_lost =
        |need: &&MissingFact| !matches!(need.why, UnknownReason::Absent | UnknownReason::Ambiguous);
    let need = needs.iter().flatten().find(was_lost)?;
    Some(need.fact.clone())
}

fn missing_build_date_fact(outcome: &Outcome, used: &[&str], facts: &FactSet) -> Option<String> {
    let is_undecided =
        matches!(outcome, Outcome::Undecided { .. }) && used.contains(&kernel::VERSION.name());
    let host = Subject::host();
    let is_dated = facts
        .value(&host, &kernel::VERSION)
        .is_none_or(|version| version.has_build_date());
    (is_undecided && !is_dated && !facts.get(&host, &kernel::BUILD).is_known())
        .then(|| kernel::BUILD.name().to_owned())
}

fn collect_used_and_assumed_facts(
    trace: &ConditionTrace,
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
        .for_each(|kid| collect_used_and_assumed_facts(kid, facts, assumed));
}

/// A record becomes facts of the directories on the tested stack. A record that fits no directory
/// becomes a note with the difference, such as a new kernel. `live` is true if the facts describe
/// this host.
fn add_drill_facts(records: &[(String, DrillRecord)], live: bool, facts: &mut FactSet) {
    if records.is_empty() {
        return;
    }
    let targets = measurement::targets_of_kind(facts, TargetKind::is_directory);
    for (file, record) in records {
        if !live {
            facts.add_note_once(format!(
                "the drills in {file} apply only to the host on which they ran, and walwise is reading a capture"
            ));
            continue;
        }
        let insert = |target| record.insert_drill_facts(facts, target, file);
        let refused: Vec<String> = targets.iter().map(insert).filter_map(Result::err).collect();
        if refused.len() == targets.len() {
            let reason = refused.first().map_or("there is no target", String::as_str);
            facts.add_note_once(format!("the drills in {file} do not apply here: {reason}"));
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MkfsAndMountOptions {
    pub mkfs: Vec<String>,
    /// Mount options; `defaults` for none.
    pub mount: String,
}

impl Session {
    /// Plans the commands that create `filesystem` on `target`. Later reports also plan for
    /// this file system. The error states why there are no such commands.
    pub fn choose_filesystem_and_plan_mkfs(
        &mut self,
        target: &Subject,
        filesystem: NewFilesystem,
    ) -> Result<MkfsAndMountOptions, String> {
        self.choose_filesystem(target, Some(filesystem))?;
        let report = self.build_report();
        let plan = report
            .plan(target)
            .ok_or_else(|| format!("there is no plan for {}", target.name()))?;
        let mount = planned_filesystem(&plan.steps)?.mount;
        let command = mkfs_command(&plan.steps, filesystem.as_str())?.to_string();
        // Splitting at blanks is safe, because no argument contains blanks or quotes.
        let mkfs = command
            .split_whitespace()
            .skip(1)
            .map(str::to_owned)
            .collect();
        Ok(MkfsAndMountOptions { mkfs, mount })
    }
}

pub fn shipped_rule_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables = compat::TABLES.iter().copied();
    let distributions = ("rules/tables/distributions.toml", upgrade::TABLE_TEXT);
    rules::builtin_file_names_and_texts()
        .chain(tables)
        .chain([distributions])
}

static SHIPPED_FILE_SUMS: LazyLock<FileSums> =
    LazyLock::new(|| rule_pack::sha256_by_file_name(shipped_rule_files()));

pub fn build_rule_pack(rules: &RuleSet) -> Pack {
    Pack::new(rules, env!("CARGO_PKG_VERSION"), &SHIPPED_FILE_SUMS)
}

pub fn shipped_rules_fingerprint() -> String {
    rule_pack::fingerprint(&SHIPPED_FILE_SUMS)
}

#[cfg(test)]
mod pack_tests {
    use super::*;

    #[test]
    fn every_shipped_table_row_has_verification_date() {
        for (name, text) in shipped_rule_files() {
            let document: toml::Table = toml::from_str(text).unwrap();
            let rows = document.iter().flat_map(|(kind, rows)| {
                rows.as_array().unwrap().iter().map(move |row| (kind, row))
            });
            for (kind, row) in rows {
                let stamp = row.get("checked").and_then(toml::Value::as_str);
                let stamp =
                    stamp.unwrap_or_else(|| panic!("{name}: [[{kind}]] without a stamp: {row}"));
                assert!(
                    walwise_model::provenance::VerificationStamp::parse(stamp).is_ok(),
                    "{name}: {stamp}"
                );
            }
        }
    }

    /// The fingerprint must cover every file, because two packs that differ in an unlisted
    /// table would have the same fingerprint.
    #[test]
    fn fingerprint_covers_every_rule_file_and_table() {
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
        let mut counted: Vec<&str> = SHIPPED_FILE_SUMS
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        counted.sort_unstable();
        assert_eq!(counted, there);
    }
}

#[cfg(test)]
mod caps_tests {
    use super::*;
    use crate::facts::catalog::{device, target};

    /// Caps are evaluated before the verdicts, when facts that verdicts set are still unknown.
    #[test]
    fn capping_rules_read_no_facts_set_by_verdicts() {
        let concluded = [
            device::CACHE.name(),
            target::VERDICT.name(),
            target::REDUNDANCY.name(),
            target::CACHE.name(),
            target::FLUSH.name(),
            target::SUPPRESSED_BY.name(),
            target::COMMIT_OFF_FOR.name(),
            target::FLUSH_REMOVAL_ALLOWED.name(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::{mount, target};
    use crate::report::sample_reports;

    fn session_with_mount_option(option: &str) -> Session {
        let (data, top) = (Subject::target("/db"), Subject::mount("/db"));
        let mut facts = FactSet::default();
        facts.add_layer_below(&data, &top);
        facts.insert_known(
            &data,
            &target::KIND,
            target::TargetKind::Directory,
            Source::from_system_call("stat /db"),
        );
        let line = Source::from_file_line("/proc/self/mountinfo", 31);
        facts.insert_known(&top, &mount::SUPER_OPTIONS, vec![option.to_owned()], line);
        Session::new(facts, RuleSet::default(), true)
    }

    #[test]
    fn carry_over_keeps_measurement_only_on_same_stack() {
        for (option, stays) in [("nobarrier", true), ("barrier", false)] {
            let mut before = session_with_mount_option("nobarrier");
            for probe in sample_reports::at_risk().probes {
                before
                    .measurements
                    .insert(Subject::target("/db"), probe.measurement);
            }
            assert!(!before.measurements.is_empty());
            let mut now = session_with_mount_option(option);
            now.carry_over_choices_and_measurements(before);
            assert_eq!(now.measurements.is_empty(), !stays, "{option}");
            let said = "the earlier measurement of /db is no longer shown: mount 1 mount.super_options was nobarrier and \
                        is now barrier";
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
