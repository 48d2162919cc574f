use std::collections::BTreeMap;

use walwise_judge::rules::{Evaluation, Finding, Pack, RuleSet};
use walwise_model::facts::{FactSet, ServerArea};
use walwise_report::{Report, ReportInput, RunContext, build_report};

/// Builds a report of a live host with these findings, none of which has to come from a rule; the
/// plan follows all of their advice.
pub fn report_of_findings(facts: &FactSet, findings: Vec<Finding>) -> Report {
    build_report(ReportInput {
        facts,
        verdicts: Vec::new(),
        evaluation: Evaluation {
            findings,
            tallies: Vec::new(),
        },
        measurements: BTreeMap::new(),
        overrides: BTreeMap::new(),
        wanted: &BTreeMap::new(),
        refusal_reason: &|_, _| None,
        context: RunContext {
            when: "2026-11-20T14:03:11Z".to_owned(),
            live: true,
            options: Vec::new(),
            version: "0.1.0".to_owned(),
            rules: 1,
            asked: None,
            engine: ServerArea::Pg,
            pack: Pack::new(&RuleSet::default(), "0.1.0", &Vec::new()),
        },
        guard: &|_, _, _| Ok(()),
    })
}
