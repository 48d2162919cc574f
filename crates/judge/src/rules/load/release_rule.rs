//! Parses a row of `rules/faulty-releases.toml` as a rule about a faulty release.
//!
//! The rule's condition joins `where` with the range of releases. Its examples are the releases
//! that the row lists as affected, unaffected and undecided.

use super::fields::{CheckedTable, SpannedValue, TableSchema};
use super::rule_head::{self, RuleHeader, ShortRuleBody};
use super::{LoadOptions, LoadedFile, condition, example, value};
use crate::facts::{Choice, KeyInfo, Reading, Source, Value};
use crate::rules::Level;
use crate::rules::diagnostic::{DiagnosticCollector, Span};
use crate::rules::model::{
    Condition, ExampleFact, ExampleLoading, ExpectedOutcome, FactTest, FaultEffect, Rule,
    RuleExample, TestOperator,
};
use crate::rules::template::Template;
use crate::version::{AffectedReleases, Version};

const RELEASE_SCHEMA: TableSchema = TableSchema {
    what: "this release",
    required: &[
        "id", "since", "for", "product", "fixed", "effect", "title", "because", "remedy", "refs",
    ],
    optional: &[
        "checked",
        "fact",
        "level",
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
    problems: &DiagnosticCollector,
) -> Option<(Rule, Span)> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &RELEASE_SCHEMA, problems)?;
    let head = RuleHeader::parse(&fields, loaded, problems);
    let texts = head.parse_title_reason_and_remedies(false, problems);
    let product = fields.parse_text_field("product");
    let effect = fields.parse_choice("effect", FaultEffect::ALL);
    let level = match fields.get("level") {
        Some(_) => fields.parse_level(&[Level::Warning, Level::Critical])?,
        None => Level::Critical,
    };
    let caps = rule_head::parse_verdict_cap(&head, &fields, Some(level));
    if let (Some(_), Some(effect)) = (caps, effect.filter(|effect| !effect.is_data_loss())) {
        problems.report_mistake(
            fields.key_span("caps"),
            format!("`caps` on a release that {}", effect.as_str()),
            "only releases that can lose acknowledged commits may cap a verdict",
        );
    }
    let named = product
        .as_ref()
        .and_then(|product| Some((product_version_fact_name(&product.text)?, &product.span)));
    let fact = match (fields.get("fact"), named) {
        (Some(fact), _) => condition::parse_fact(fact, &head.sight, problems),
        (None, Some((name, span))) => {
            condition::find_visible_fact(name, span, &head.sight, problems)
        }
        (None, None) => {
            problems.report_missing_entry(
                &fields,
                "the release needs `fact`, because its product is not built in",
                "add fact = \"..\" with the fact that holds the version of the product",
            );
            None
        }
    };
    let range = AffectedReleases {
        from: parse_versions(&fields, "from"),
        fixed: parse_versions(&fields, "fixed"),
        builds: parse_versions(&fields, "builds"),
        unfixed: parse_versions(&fields, "never"),
        unverified: parse_versions(&fields, "unverified"),
        fixed_on: fields.parse_date("fixed_on"),
        packaged: fields.parse_flag("packaged"),
    };
    let mut conditions = head.parse_where_conditions(&fields);
    let given = match fields.get("facts") {
        Some(item) => example::parse_facts(item, &head.sight, problems),
        None => conditions
            .iter()
            .filter_map(example_fact_satisfying_is_test)
            .collect(),
    };
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
    let row = ShortRuleBody {
        question: Template::parse(&question, |_| None).0,
        level,
        caps,
        when: Condition::All(conditions),
        change: None,
        examples,
    };
    let line = problems.line_of_offset(item.span().start);
    head.into_documented_rule(texts, row, (terms.author, file, line))
}

fn product_version_fact_name(product: &str) -> Option<&'static str> {
    match product {
        "Linux" => Some("kernel.version"),
        "OpenZFS" => Some("zfs.version"),
        "PostgreSQL" => Some("pg.version"),
        "MySQL" | "MariaDB" => Some("mysql.version"),
        _ => None,
    }
}

/// The tested fact with its value; `None` unless the condition tests one fact for equality.
fn example_fact_satisfying_is_test(condition: &Condition) -> Option<ExampleFact> {
    match condition {
        Condition::Fact(FactTest {
            fact,
            op: TestOperator::Is(value),
        }) => Some((*fact, Reading::known(value.clone(), Source::Assumed))),
        _ => None,
    }
}

fn parse_versions(fields: &CheckedTable<'_>, key: &str) -> Vec<Version> {
    let items = fields.parse_list_field(key).iter();
    items
        .filter_map(|item| value::parse_version(item, fields.problems))
        .collect()
}

/// One example for each listed release, and one for each fact of `where`, with that fact unknown.
fn release_examples(
    fields: &CheckedTable<'_>,
    fact: &'static KeyInfo,
    given: &[ExampleFact],
    problems: &DiagnosticCollector,
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
        let items = fields.parse_list_field(key);
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
                format!("the release lacks `{key}`"),
                format!("add {key} = [..]; the row is tested with these releases"),
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
        let facts = example::facts_with_replaced_readings(
            &first.facts,
            &[(*without, example::denied_example_reading())],
        );
        examples.push(example(
            format!("{} is not known", without.name),
            facts,
            ExpectedOutcome::Undecided,
        ));
    }
    examples
}
