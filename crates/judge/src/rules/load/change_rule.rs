//! Parses a row of `rules/known-changes.toml`: what an upgrade of the kernel or the distribution
//! changes for a server. The row becomes a rule that is evaluated only when another kernel is
//! assumed, as `walwise upgrade` does.

use super::fields::{CheckedTable, SpannedValue, TableSchema};
use super::rule_head::{RuleHeader, ShortRuleBody};
use super::{LoadOptions, LoadedFile, example, parse_question};
use crate::facts::Choice;
use crate::rules::diagnostic::{DiagnosticCollector, Span};
use crate::rules::model::{
    ChangeEffect, Condition, ExampleLoading, ExpectedOutcome, Rule, RuleExample, TestOperator,
};

const CHANGE_SCHEMA: TableSchema = TableSchema {
    what: "this change",
    required: &[
        "id", "since", "for", "effect", "where", "title", "question", "because", "remedy", "refs",
        "hit", "miss",
    ],
    optional: &["checked", "leaves"],
};

pub(super) fn parse_change_rule(
    item: SpannedValue<'_>,
    file: &str,
    terms: LoadOptions,
    loaded: &mut LoadedFile,
    problems: &DiagnosticCollector,
) -> Option<(Rule, Span)> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &CHANGE_SCHEMA, problems)?;
    let head = RuleHeader::parse(&fields, loaded, problems);
    let effect = fields.parse_choice("effect", ChangeEffect::ALL);
    let conditions = head.parse_where_conditions(&fields);
    let quantifies = conditions.iter().any(Condition::has_quantifier);
    let texts = head.parse_title_reason_and_remedies(quantifies, problems);
    let question = fields
        .parse_text_field("question")
        .map(|text| parse_question(&text, problems));
    let examples = match terms.examples {
        ExampleLoading::Read => change_examples(&fields, &head, &conditions, problems),
        ExampleLoading::Skipped => Vec::new(),
    };
    if problems.mistake_count() > before {
        return None;
    }
    let effect = effect?;
    let row = ShortRuleBody {
        question: question?,
        level: effect.finding_level(),
        caps: None,
        when: Condition::All(conditions),
        change: Some(effect),
        examples,
    };
    let line = problems.line_of_offset(item.span().start);
    head.into_documented_rule(texts, row, (terms.author, file, line))
}

/// Builds the examples: the host of `hit`, a variant for each item of `miss`, and a variant for
/// each tested fact in which that fact is unknown.
fn change_examples(
    fields: &CheckedTable<'_>,
    head: &RuleHeader,
    conditions: &[Condition],
    problems: &DiagnosticCollector,
) -> Vec<RuleExample> {
    let line = problems.line_of_offset(fields.span.start);
    let hit = fields
        .get("hit")
        .map(|item| example::parse_facts(item, &head.sight, problems))
        .unwrap_or_default();
    let stack = example::parse_stack(fields);
    let example = |name: &str, facts, expect| RuleExample {
        name: name.to_owned(),
        facts,
        stack: stack.clone(),
        expect,
        advise: Some(Vec::new()),
        line,
    };
    let mut examples = Vec::new();
    for item in fields.parse_list_field("miss") {
        let other = example::parse_facts(item, &head.sight, problems);
        let facts = example::facts_with_replaced_readings(&hit, &other);
        examples.push(example(
            "another host",
            facts,
            ExpectedOutcome::DoesNotApply,
        ));
    }
    let (mut tested, mut optional) = (Vec::new(), Vec::new());
    for condition in conditions.iter().filter(|one| !one.has_quantifier()) {
        condition.for_each_test(&mut |test| match test.op {
            TestOperator::Known(_) => optional.push(test.fact.name),
            _ => tested.push(test.fact),
        });
    }
    tested.dedup_by_key(|fact| fact.name);
    for fact in tested
        .into_iter()
        .filter(|fact| !optional.contains(&fact.name))
    {
        let facts = example::facts_with_replaced_readings(
            &hit,
            &[(fact, example::denied_example_reading())],
        );
        let name = format!("{} is not known", fact.name);
        examples.push(example(&name, facts, ExpectedOutcome::Undecided));
    }
    examples.push(example(
        "a host with the change",
        hit,
        ExpectedOutcome::Applies,
    ));
    examples
}
