//! Joins the stages in order: look, measure, judge. The command line and the screens run the very same ones.
//!
//! Each judgement starts from what was read, never from the conclusions of an earlier one, so a report after a
//! measurement is independent of the one before.

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
use crate::facts::{FactSet, Note, Subject};
use crate::host::Host;
use crate::measure::Measurement;
use crate::report::{self, Report};
use crate::rules::{self, RuleSet};
use crate::settings::NewFilesystem;
use crate::sizing;
use crate::trial::TrialRecord;
use crate::{validity, workers};
use assume::Hypothesis;

mod caps;
mod drilled;
mod tried;
mod raw;
pub mod assume;
mod measuring;
pub mod upgrade;
mod pack;
mod wish;
mod recipe;
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
    /// The target that was asked for, as it was named, display-safe; `None` when everything found is examined.
    pub asked: Option<String>,
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
        Self::new(collect::run_all(host, request, &mut progress), rules, host.is_live())
    }

    /// A session with these facts and without measurements.
    pub fn new(read: FactSet, rules: impl Into<Arc<RuleSet>>, live: bool) -> Self {
        Self {
            rules: rules.into(),
            live,
            asked: None,
            read,
            traced: true,
            measured: BTreeMap::new(),
            drills: Vec::new(),
            trials: Vec::new(),
            wanted: BTreeMap::new(),
            hypothesis: None,
        }
    }

    /// Takes over what was wanted and measured before the host was read again; measurements of every target whose stack is
    /// unchanged. A measurement of another mount or disk would be wrong for this one.
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
                    self.read.warn(MeasurementNote::Age { target: target.name().to_owned(), change });
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
                version: env!("CARGO_PKG_VERSION").to_owned(),
                rules: self.rules.rules().len(),
                asked: self.asked.clone(),
                pack: pack(&self.rules),
            },
            guard: &guard,
        });
        report.warnings.extend(validity::newer(&facts).into_iter().map(Note::from));
        let notes = self.of_users_rules(&report);
        report.warnings.extend(notes);
        report
    }

    /// Notes on the changes by the user's rule files, and on their parts without effect here.
    fn of_users_rules(&self, report: &Report) -> Vec<Note> {
        let Self { rules, .. } = self;
        let not_in_force = rules.not_in_force().iter().cloned();
        let mut notes: Vec<_> = not_in_force.map(|sentence| RulesNote::Loss { sentence }).collect();
        notes.extend(rules.expired().iter().map(rules::Expired::note));
        notes.extend(rules.off().iter().map(rules::Off::note));
        for given in rules.overrides() {
            let tally = report.rules.iter().find(|tally| tally.rule == given.rule);
            notes.push(given.note(tally.is_some_and(rules::Tally::is_idle)));
        }
        notes.extend(rules.remarks().iter().cloned().map(|sentence| RulesNote::Remark { sentence }));
        notes.into_iter().map(Note::from).collect()
    }

    /// Evaluates all rules, on all processors.
    fn evaluation(&self, facts: &FactSet) -> rules::Evaluation {
        let on = |subjects: &[Subject]| rules::evaluate(subjects, &self.rules, facts, self.circumstances());
        rules::Evaluation::joined(workers::in_pieces(&rules::all_subjects(facts), on))
    }

    /// The rules that each rule overrides.
    fn overrides(&self) -> report::Overrides {
        let rules = self.rules.rules().iter().filter(|rule| !rule.overrides.is_empty());
        rules.map(|rule| (rule.id.clone(), rule.overrides.clone())).collect()
    }

    /// The circumstances of the run, for the rules.
    pub fn circumstances(&self) -> rules::Circumstances {
        rules::Circumstances { live: self.live, traced: self.traced }
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
        facts.know(&data, &target::KIND, target::TargetKind::Directory, Source::call("stat /db"));
        let line = Source::line("/proc/self/mountinfo", 31);
        facts.know(&top, &mount::SUPER_OPTIONS, vec![option.to_owned()], line);
        Session::new(facts, RuleSet::default(), true)
    }

    #[test]
    fn what_was_measured_stays_as_long_as_what_is_beneath() {
        for (option, stays) in [("nobarrier", true), ("barrier", false)] {
            let mut before = mounted("nobarrier");
            for probe in sample::at_risk().probes {
                before.measured.insert(Subject::target("/db"), probe.measurement);
            }
            assert!(!before.measured.is_empty());
            let mut now = mounted(option);
            now.keep(before);
            assert_eq!(now.measured.is_empty(), !stays, "{option}");
            let said = "what was measured of /db before is not shown any more: mount 1 mount.super_options was nobarrier and \
                        is barrier";
            assert_eq!(now.read.warnings().iter().any(|note| note.to_string() == said), !stays, "{option}");
        }
    }
}
