//! The rules that cap verdicts, evaluated before the verdicts are joined. They read no fact that a verdict concludes.

use crate::durability::{Cap, Caps};
use crate::facts::catalog::kernel;
use crate::facts::{FactSet, Need, Subject, Why};
use crate::rules::{self, Circumstances, Outcome, RuleSet, Trace};
use crate::truth::Truth;

/// All caps on the subjects of these facts.
pub fn caps(rules: &RuleSet, facts: &FactSet, live: bool) -> Caps {
    let circumstances = Circumstances { live, traced: true };
    let capping = rules.rules().iter().filter_map(|rule| Some((rule, rule.caps?)));
    Caps::new(capping.flat_map(|(rule, standing)| {
        rules::subjects(rule, facts).into_iter().map(move |subject| {
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
                unread: unread(&finding.outcome).or_else(|| undated(&finding.outcome, &used, facts)),
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
    let Outcome::Undecided { needs } = outcome else { return None };
    let was_lost = |need: &&Need| !matches!(need.why, Why::Absent | Why::Ambiguous);
    needs.iter().flatten().find(was_lost).map(|need| need.fact.clone())
}

/// The day of a kernel's build, which would decide where its number does not, and was not read.
fn undated(outcome: &Outcome, used: &[&str], facts: &FactSet) -> Option<String> {
    let is_undecided = matches!(outcome, Outcome::Undecided { .. }) && used.contains(&kernel::VERSION.name());
    let host = Subject::host();
    let is_dated = facts.value(&host, &kernel::VERSION).is_none_or(|version| version.is_dated());
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
    trace.kids.iter().for_each(|kid| collect(kid, facts, assumed));
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
        let capping: Vec<_> = rules.rules().iter().filter(|rule| rule.caps.is_some()).collect();
        assert!(!capping.is_empty());
        for rule in capping {
            rule.when.for_each_test(&mut |test| assert!(!concluded.contains(&test.fact.name), "{}", rule.id));
        }
    }
}
