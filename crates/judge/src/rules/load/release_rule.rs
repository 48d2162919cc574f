//! Parses a row of `rules/faulty-releases.toml` as a rule about a faulty release.
//!
//! The rule's condition joins `where` with the range of releases. Its examples are the releases
//! that the row lists as affected, unaffected and undecided.

use super::fields::{CheckedTable, Item, TableSchema};
use super::rule_head::{self, RuleBody, RuleHeader};
use super::{LoadOptions, LoadedFile, condition, example, value};
use crate::facts::{Choice, KeyInfo, Reading, Source};
use crate::rules::diagnostic::{Place, Span};
use crate::rules::model::{
    Condition, ExampleFact, ExampleLoading, ExpectedOutcome, FactTest, FaultEffect, Rule,
    RuleExample, TestOperator,
};
use crate::rules::template::Template;
use crate::rules::{Confidence, Level};
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
    item: Item<'_>,
    loaded: &mut LoadedFile,
    (file, options): (&str, LoadOptions),
) -> Option<(Rule, Span)> {
    let fields = CheckedTable::from_item(item, &RELEASE_SCHEMA)?;
    let head = RuleHeader::parse(&fields, loaded);
    let texts = head.parse_texts(&fields, false);
    let product = fields.parse_text_field("product");
    let effect = fields.parse_choice("effect", FaultEffect::ALL);
    let level = match fields.get("level") {
        Some(_) => fields.parse_level(&[Level::Warning, Level::Critical])?,
        None => Level::Critical,
    };
    let caps = rule_head::parse_verdict_cap(&fields, Some(level), &texts);
    if let (Some(_), Some(effect)) = (caps, effect.filter(|effect| !effect.is_data_loss())) {
        fields.key_place("caps").report_mistake(
            format!("`caps` on a release that {effect}"),
            "only releases that can lose acknowledged commits may cap a verdict",
        );
    }
    let named = product
        .as_ref()
        .and_then(|product| Some((product_version_fact_name(&product.text)?, product)));
    let fact = match (fields.get("fact"), named) {
        (Some(fact), _) => condition::parse_fact(fact, &head.sight),
        (None, Some((name, product))) => head.sight.find_fact(name, product),
        (None, None) => {
            fields.report_missing_entry(
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
        Some(item) => example::parse_facts(item, &head.sight),
        None => conditions
            .iter()
            .filter_map(example_fact_satisfying_is_test)
            .collect(),
    };
    let fact = fact?;
    conditions.push(Condition::Fact(FactTest {
        fact,
        op: TestOperator::InRange(range),
        negated: false,
    }));
    let examples = match options.examples {
        ExampleLoading::Read => release_examples(&fields, fact, given),
        ExampleLoading::Skipped => Vec::new(),
    };
    let question = format!("Is this a release of {} that {}?", product?.text, effect?);
    let body = RuleBody {
        question: Some(Template::parse(&question, |_| None).0),
        level: Some(level),
        caps,
        confidence: Some(Confidence::Documented),
        when: Some(Condition::All(conditions)),
        examples,
        ..RuleBody::default()
    };
    head.into_rule(&fields, texts, body, (file, options))
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
            negated: false,
        }) => Some((*fact, Reading::known(value.clone(), Source::Assumed))),
        _ => None,
    }
}

fn parse_versions(fields: &CheckedTable<'_>, key: &str) -> Vec<Version> {
    let items = fields.parse_list_field(key).into_iter();
    items.filter_map(value::parse_version).collect()
}

/// One example for each listed release, and one for each fact of `where`, with that fact unknown.
fn release_examples(
    fields: &CheckedTable<'_>,
    fact: &'static KeyInfo,
    given: Vec<ExampleFact>,
) -> Vec<RuleExample> {
    let mut tested: Vec<&KeyInfo> = given.iter().map(|(fact, _)| *fact).collect();
    tested.push(fact);
    let base = RuleExample {
        name: String::new(),
        facts: given,
        stack: None,
        expect: ExpectedOutcome::Undecided,
        advise: Some(Vec::new()),
        line: fields.line(),
    };
    let mut examples = Vec::new();
    let lists = [
        ("affected", ExpectedOutcome::Applies),
        ("unaffected", ExpectedOutcome::DoesNotApply),
        ("undecided", ExpectedOutcome::Undecided),
    ];
    for (key, expect) in lists {
        let items = fields.parse_list_field(key);
        if items.is_empty() && expect != ExpectedOutcome::Undecided {
            fields.report_missing_entry(
                format!("the release lacks `{key}`"),
                format!("add {key} = [..]; the row is tested with these releases"),
            );
        }
        for item in items {
            let Some(reading) = example::parse_reading(fact, item) else {
                continue;
            };
            let name = reading
                .value()
                .map(|value| fact.format_value(value))
                .unwrap_or_default();
            let other = vec![(fact, reading)];
            examples.push(example::generated_example(name, &base, other, expect));
        }
    }
    if let Some(first) = examples.first().cloned() {
        let unknown = tested.into_iter();
        examples.extend(unknown.map(|fact| example::example_without_fact(&first, fact)));
    }
    examples
}
