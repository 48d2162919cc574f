//! Reports of findings that no rule made.

use std::collections::BTreeMap;

use walwise_judge::rules::{Evaluation, Finding, Pack, RuleSet};
use walwise_model::facts::{Area, FactSet};
use walwise_report::{Input, Report, RunContext, build};

/// The report of these findings about a live machine; everything they advise would be taken.
pub fn of(facts: &FactSet, findings: Vec<Finding>) -> Report {
    build(Input {
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
            engine: Area::Pg,
            pack: Pack::new(&RuleSet::default(), "0.1.0", &Vec::new()),
        },
        guard: &|_, _, _| Ok(()),
    })
}
