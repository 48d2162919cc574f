//! Parses a row of `rules/known-changes.toml`: what an upgrade of the kernel or the distribution
//! changes for a server. The row becomes a rule that is evaluated only when another kernel is
//! assumed, as `walwise upgrade` does.

use super::fields::{CheckedTable, Item, TableSchema};
use super::rule_head::{RuleBody, RuleHeader};
use super::{LoadOptions, LoadedFile, example, parse_question};
use crate::facts::Choice;
use crate::rules::Confidence;
use crate::rules::diagnostic::{Place, Span};
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
    item: Item<'_>,
    loaded: &mut LoadedFile,
    (file, options): (&str, LoadOptions),
) -> Option<(Rule, Span)> {
    let fields = CheckedTable::from_item(item, &CHANGE_SCHEMA)?;
    let head = RuleHeader::parse(&fields, loaded);
    let change = fields.parse_choice("effect", ChangeEffect::ALL);
    let conditions = head.parse_where_conditions(&fields);
    let quantifies = conditions.iter().any(Condition::has_quantifier);
    let texts = head.parse_texts(&fields, quantifies);
    let question = fields.parse_text_field("question");
    let body = RuleBody {
        question: question.map(|text| parse_question(&text)),
        level: change.map(ChangeEffect::finding_level),
        confidence: Some(Confidence::Documented),
        change,
        examples: match options.examples {
            ExampleLoading::Read => change_examples(&fields, &head, &conditions),
            ExampleLoading::Skipped => Vec::new(),
        },
        when: Some(Condition::All(conditions)),
        ..RuleBody::default()
    };
    head.into_rule(&fields, texts, body, (file, options))
}

/// Builds the examples: the host of `hit`, a variant for each item of `miss`, and a variant for
/// each tested fact in which that fact is unknown.
fn change_examples(
    fields: &CheckedTable<'_>,
    head: &RuleHeader,
    conditions: &[Condition],
) -> Vec<RuleExample> {
    let hit = RuleExample {
        name: "a host with the change".to_owned(),
        facts: fields
            .get("hit")
            .map(|item| example::parse_facts(item, &head.sight))
            .unwrap_or_default(),
        stack: example::parse_stack(fields),
        expect: ExpectedOutcome::Applies,
        advise: Some(Vec::new()),
        line: fields.line(),
    };
    let mut examples = Vec::new();
    for item in fields.parse_list_field("miss") {
        let other = example::parse_facts(item, &head.sight);
        let name = "another host".to_owned();
        let expect = ExpectedOutcome::DoesNotApply;
        examples.push(example::generated_example(name, &hit, other, expect));
    }
    let (mut tested, mut optional) = (Vec::new(), Vec::new());
    for condition in conditions.iter().filter(|one| !one.has_quantifier()) {
        condition.for_each_test(&mut |test| match test.op {
            TestOperator::Known => optional.push(test.fact.name),
            _ => tested.push(test.fact),
        });
    }
    tested.dedup_by_key(|fact| fact.name);
    tested.retain(|fact| !optional.contains(&fact.name));
    let unknown = tested.into_iter();
    examples.extend(unknown.map(|fact| example::example_without_fact(&hit, fact)));
    examples.push(hit);
    examples
}
