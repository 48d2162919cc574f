//! Known changes that can explain why commits are slower than in an earlier report.

use super::{Session, assume};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, UnknownReason, catalog};
use crate::report::difference::{ReportSnapshot, compare_snapshots};
use crate::report::{Difference, KernelUpgradeChange, Report};
use crate::rules::{self, Outcome, Rule};

impl Session {
    /// The explanations are known changes of the server or kernel that make commits slower.
    pub fn difference_with_explanations(
        &self,
        before: &ReportSnapshot,
        report: &Report,
    ) -> Difference {
        let mut difference = compare_snapshots(before, &ReportSnapshot::from_report(report));
        self.add_explanations_of_slower_commits(&report.facts, &mut difference);
        difference
    }

    /// Adds the known changes that apply to `facts` and do not apply with the host's facts of the
    /// earlier report. Nothing is added unless the commits of a target are slower beyond noise.
    fn add_explanations_of_slower_commits(&self, facts: &FactSet, difference: &mut Difference) {
        if !difference.has_slower_commits() {
            return;
        }
        let before = facts_with_earlier_host_facts(facts, difference);
        let rules = self.rules.rules().iter();
        for rule in rules.filter(|rule| {
            rule.change
                .is_some_and(rules::ChangeEffect::can_slow_commits)
        }) {
            let subjects = match rule.scope {
                Scope::Host => vec![Subject::host()],
                scope => facts.subjects_of_scope(scope).cloned().collect(),
            };
            for subject in subjects {
                let is_new = self.evaluate_rule_outcome(rule, facts, &subject) == Outcome::Applies
                    && self.evaluate_rule_outcome(rule, &before, &subject) == Outcome::DoesNotApply;
                if is_new {
                    difference.known_changes.push(KernelUpgradeChange {
                        rule: rule.id.clone(),
                        title: rule
                            .title
                            .render_for_subject(facts, &subject, &[])
                            .to_string(),
                        because: rule
                            .because
                            .render_for_subject(facts, &subject, &[])
                            .to_string(),
                    });
                }
            }
        }
    }

    fn evaluate_rule_outcome(&self, rule: &Rule, facts: &FactSet, subject: &Subject) -> Outcome {
        rules::evaluate_rule(rule, facts, subject, self.evaluation_options()).outcome
    }
}

fn facts_with_earlier_host_facts(facts: &FactSet, difference: &Difference) -> FactSet {
    let mut before = facts.clone();
    let of_host = difference
        .facts
        .iter()
        .filter(|change| change.subject == Subject::host());
    for change in of_host {
        let Some(key) = catalog::find_by_name(change.fact) else {
            continue;
        };
        let value = change
            .known_value_pair()
            .and_then(|(value, _)| assume::parse_assumed_value(key, &value.displayed_text()).ok());
        let reading = match value {
            Some(value) => Reading::known(value, Source::Assumed),
            None => Reading::unknown(UnknownReason::NotCollected, "not in the earlier report"),
        };
        before.insert_untyped_value(&Subject::host(), key, reading);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::{host, kernel};
    use crate::facts::{FactStability, Key};
    use crate::measure::{Estimate, LatencyShift, Method, ShiftDirection};
    use crate::report::{
        DisplayedValue, FactChange, FactState, MethodLatencyShift, ProbeLatencyShift,
    };
    use crate::version::Version;

    fn sample_probe_shift(moved: ShiftDirection) -> ProbeLatencyShift {
        let estimate = Estimate {
            value: 100.0,
            low: 90.0,
            high: 110.0,
        };
        ProbeLatencyShift {
            target: Subject::target("/data"),
            before: String::new(),
            directory_before: String::new(),
            directory_now: String::new(),
            method: Some(Method::Fdatasync),
            rows: vec![MethodLatencyShift {
                method: Method::Fdatasync,
                pages: 1,
                as_server: true,
                before_us: estimate,
                now_us: estimate,
                shift: Some(LatencyShift {
                    percent: estimate,
                    drift_percent: 1.0,
                    moved,
                }),
            }],
            doubts: Vec::new(),
            likely_causes: Vec::new(),
        }
    }

    fn host_fact_change<T>(key: &Key<T>, before: Option<&str>, now: &str) -> FactChange {
        let state = |text: &str| FactState::Known {
            value: DisplayedValue::Text(text.to_owned()),
        };
        FactChange {
            subject: Subject::host(),
            fact: key.name(),
            nature: FactStability::Lasting,
            before: before.map(state),
            now: Some(state(now)),
        }
    }

    fn explaining_rule_ids(
        (version, debug): (&str, bool),
        changes: Vec<FactChange>,
        moved: ShiftDirection,
    ) -> Vec<String> {
        let mut facts = FactSet::default();
        let host = Subject::host();
        let source = || Source::from_system_call("test");
        facts.insert_known(&host, &host::OS_ID, "ubuntu".to_owned(), source());
        let version = Version::parse(version).unwrap();
        facts.insert_known(&host, &kernel::VERSION, version, source());
        facts.insert_known(&host, &kernel::JBD2_DEBUG, debug, source());
        let session = Session::new(facts.clone(), rules::RuleSet::builtin(), true);
        let mut difference = Difference {
            facts: changes,
            probes: vec![sample_probe_shift(moved)],
            ..Difference::default()
        };
        session.add_explanations_of_slower_commits(&facts, &mut difference);
        let known = difference.known_changes.into_iter();
        known.map(|change| change.rule).collect()
    }

    #[test]
    fn slower_commits_are_explained_by_new_kernel_changes() {
        let slower = ShiftDirection::Slower;
        let to_68 = || host_fact_change(&kernel::VERSION, Some("6.5.0"), "6.8.12");
        let debug = |before| host_fact_change(&kernel::JBD2_DEBUG, before, "yes");
        let none: [&str; 0] = [];
        assert_eq!(
            explaining_rule_ids(("6.8.12", false), vec![to_68()], slower),
            ["change.ubuntu-6.8"]
        );
        assert_eq!(
            explaining_rule_ids(("6.12.1", true), vec![debug(Some("no"))], slower),
            ["change.jbd2-debug"]
        );
        for (host, changes, moved) in [
            (("6.8.12", false), vec![to_68()], ShiftDirection::Faster),
            (("6.8.12", false), vec![to_68()], ShiftDirection::Not),
            // The earlier kernel had the change too, or may have had it.
            (
                ("6.8.12", false),
                vec![host_fact_change(&kernel::VERSION, Some("6.8.4"), "6.8.12")],
                slower,
            ),
            (("6.12.1", true), vec![debug(None)], slower),
            (("6.8.12", true), Vec::new(), slower),
        ] {
            assert_eq!(
                explaining_rule_ids(host, changes, moved),
                none,
                "{host:?}, {moved:?}"
            );
        }
    }
}
