//! Parses a row of the release table as a rule about a faulty release.
//!
//! The condition is `where` and the range of releases. The examples are releases with the fault,
//! without the fault, and undecided ones.

use super::condition;
use super::example;
use super::fields::{CheckedTable, SpannedValue, TableSchema};
use super::rule_head::{self, RuleHeader};
use super::value;
use super::{LoadOptions, LoadedFile};
use crate::facts::{KeyInfo, Reading, UnknownReason, Value};
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::model::{
    Condition, ExampleFact, ExampleLoading, ExpectedOutcome, FactTest, FaultEffect, Rule,
    RuleExample, TestOperator,
};
use crate::rules::template::Template;
use crate::rules::{Basis, Confidence, Level};
use crate::version::{AffectedReleases, Version};

const RELEASE: TableSchema = TableSchema {
    what: "this release",
    required: &[
        "id", "since", "for", "product", "fact", "fixed", "effect", "title", "because", "remedy",
        "refs",
    ],
    optional: &[
        "checked",
        "where",
        "facts",
        "from",
        "builds",
        "never",
        "unverified",
        "fixed_on",
        "packaged",
        "caps",
        "affected",
        "unaffected",
        "undecided",
    ],
};

pub(super) fn parse_release_rule(
    item: SpannedValue<'_>,
    file: &str,
    terms: LoadOptions,
    loaded: &mut LoadedFile,
    problems: &mut Diagnostics,
) -> Option<(Rule, Span)> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &RELEASE, problems)?;
    let head = RuleHeader::parse(&fields, loaded, problems);
    let texts = head.parse_templates(false, problems);
    let product = fields.parse_text_field("product", problems);
    let effect = fields.parse_choice("effect", &FaultEffect::ALL, FaultEffect::as_str, problems);
    let caps = rule_head::parse_verdict_cap(&head, &fields, None, problems);
    if let (Some(_), Some(effect)) = (caps, effect.filter(|effect| !effect.is_loss())) {
        problems.report_mistake(
            fields.key_span("caps"),
            format!("a cap for a release that {}", effect.as_str()),
            "only the loss of an acknowledged commit caps a verdict",
        );
    }
    let fact = fields
        .get("fact")
        .and_then(|fact| condition::parse_fact(fact, &head.sight, problems));
    let range = AffectedReleases {
        from: parse_versions(&fields, "from", problems),
        fixed: parse_versions(&fields, "fixed", problems),
        builds: parse_versions(&fields, "builds", problems),
        unfixed: parse_versions(&fields, "never", problems),
        unverified: parse_versions(&fields, "unverified", problems),
        fixed_on: fields.parse_date("fixed_on", problems),
        packaged: fields
            .get("packaged")
            .and_then(|item| item.get_ref().as_bool())
            .unwrap_or(false),
    };
    let mut conditions: Vec<Condition> = Vec::new();
    for item in fields.table_list("where", problems) {
        conditions.extend(condition::parse_condition(item, &head.sight, problems));
    }
    let given = fields
        .get("facts")
        .map(|item| example::parse_facts(item, &head.sight, problems))
        .unwrap_or_default();
    let fact = fact?;
    conditions.push(Condition::Fact(FactTest {
        fact,
        op: TestOperator::InRange(range),
    }));
    let examples = match terms.examples {
        ExampleLoading::Read => release_examples(&fields, fact, &given, problems),
        ExampleLoading::Skipped => Vec::new(),
    };
    if problems.mistake_count() > before {
        return None;
    }
    let question = format!(
        "Is this a release of {} that {}?",
        product?.text,
        effect?.as_str()
    );
    let rule = Rule {
        id: head.id.as_ref()?.text.clone(),
        since: head.since?.text,
        checked: head.checked,
        scope: head.scope?,
        title: texts.title?,
        question: Template::parse(&question, |_| None).0,
        level: Level::Critical,
        caps,
        confidence: Confidence::Documented,
        basis: Basis::Documented,
        because: texts.because?,
        remedy: texts.remedy.action,
        no_remedy: None,
        refs: head.refs?.into(),
        overrides: Vec::new(),
        when: Condition::All(conditions),
        advise: Vec::new(),
        evidence: Vec::new(),
        examples,
        author: terms.author,
        file: file.to_owned(),
        line: problems.line_of_offset(item.span().start),
    };
    Some((rule, head.id?.span))
}

fn parse_versions(
    fields: &CheckedTable<'_>,
    key: &str,
    problems: &mut Diagnostics,
) -> Vec<Version> {
    let items = fields.table_list(key, problems).iter();
    items
        .filter_map(|item| value::parse_version(item, problems))
        .collect()
}

/// One example for each listed release, and one for each fact of `where`, with that fact unknown.
fn release_examples(
    fields: &CheckedTable<'_>,
    fact: &'static KeyInfo,
    given: &[ExampleFact],
    problems: &mut Diagnostics,
) -> Vec<RuleExample> {
    let mut examples = Vec::new();
    let lists = [
        ("affected", ExpectedOutcome::Applies),
        ("unaffected", ExpectedOutcome::DoesNotApply),
        ("undecided", ExpectedOutcome::Undecided),
    ];
    let line = problems.line_of_offset(fields.span.start);
    let example = |name: String, facts: Vec<ExampleFact>, expect| RuleExample {
        name,
        facts,
        stack: None,
        expect,
        advise: Some(Vec::new()),
        line,
    };
    for (key, expect) in lists {
        let items = fields.table_list(key, problems);
        for item in items {
            let Some(reading) = example::parse_reading(fact, item, problems) else {
                continue;
            };
            let name = reading
                .value()
                .map(|value| fact.format_value(value))
                .unwrap_or_default();
            let facts = given.iter().cloned().chain([(fact, reading)]).collect();
            examples.push(example(name, facts, expect));
        }
        if items.is_empty() && expect != ExpectedOutcome::Undecided {
            problems.report_missing_entry(
                fields,
                format!("a release without `{key}`"),
                format!("{key} = [..]: these releases are the tests of the row"),
            );
        }
    }
    let Some(first) = examples.first().cloned() else {
        return examples;
    };
    for (without, _) in given
        .iter()
        .chain([&(fact, Reading::<Value>::not_collected())])
    {
        let denied = || Reading::unknown(UnknownReason::Denied, "the example says so");
        let facts = first.facts.iter().cloned();
        let facts = facts.map(|(key, reading)| {
            if key.name == without.name {
                (key, denied())
            } else {
                (key, reading)
            }
        });
        let facts = facts.collect();
        examples.push(example(
            format!("{} is not known", without.name),
            facts,
            ExpectedOutcome::Undecided,
        ));
    }
    examples
}
