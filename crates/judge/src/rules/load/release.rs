//! A release with a fault: a row of the table of releases, read as a rule. Its condition is `where`
//! and the range; its examples are releases that have the fault, that lack it, and of which nobody
//! can tell.

use super::cond;
use super::example;
use super::fields::{CheckedTable, SpannedValue, TableSchema};
use super::head::{self, RuleHead};
use super::value;
use super::{Loaded, Terms};
use crate::facts::{KeyInfo, Reading, Value, Why};
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::model::{
    Cond, Example, Expect, FaultEffect, Given, Op, Rule, RuleExamples, Test,
};
use crate::rules::template::Template;
use crate::rules::{Basis, Confidence, Level};
use crate::version::{ReleaseRange, Version};

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

pub(super) fn release(
    item: SpannedValue<'_>,
    file: &str,
    terms: Terms,
    loaded: &mut Loaded,
    problems: &mut Diagnostics,
) -> Option<(Rule, Span)> {
    let before = problems.count();
    let fields = CheckedTable::open(item, &RELEASE, problems)?;
    let head = RuleHead::read(&fields, loaded, problems);
    let texts = head.texts(false, problems);
    let product = fields.text("product", problems);
    let effect = fields.word("effect", &FaultEffect::ALL, FaultEffect::word, problems);
    let caps = head::caps(&head, &fields, None, problems);
    if let (Some(_), Some(effect)) = (caps, effect.filter(|effect| !effect.is_loss())) {
        problems.report(
            fields.key_span("caps"),
            format!("a cap for what {}", effect.word()),
            "only the loss of an acknowledged commit caps a verdict",
        );
    }
    let fact = fields
        .get("fact")
        .and_then(|fact| cond::fact(fact, &head.sight, problems));
    let range = ReleaseRange {
        from: versions(&fields, "from", problems),
        fixed: versions(&fields, "fixed", problems),
        builds: versions(&fields, "builds", problems),
        never: versions(&fields, "never", problems),
        unverified: versions(&fields, "unverified", problems),
        fixed_on: fields.date("fixed_on", problems),
        packaged: fields
            .get("packaged")
            .and_then(|item| item.get_ref().as_bool())
            .unwrap_or(false),
    };
    let mut conditions: Vec<Cond> = Vec::new();
    for item in fields.tables("where", problems) {
        conditions.extend(cond::cond(item, &head.sight, problems));
    }
    let given = fields
        .get("facts")
        .map(|item| example::facts(item, &head.sight, problems))
        .unwrap_or_default();
    let fact = fact?;
    conditions.push(Cond::Fact(Test {
        fact,
        op: Op::InRange(range),
    }));
    let examples = match terms.examples {
        RuleExamples::Read => examples(&fields, fact, &given, problems),
        RuleExamples::Left => Vec::new(),
    };
    if problems.count() > before {
        return None;
    }
    let question = format!(
        "Is this a release of {} that {}?",
        product?.text,
        effect?.word()
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
        remedy: texts.remedy.here,
        no_remedy: None,
        refs: head.refs?.into(),
        overrides: Vec::new(),
        when: Cond::All(conditions),
        advise: Vec::new(),
        evidence: Vec::new(),
        examples,
        author: terms.author,
        file: file.to_owned(),
        line: problems.line(item.span().start),
    };
    Some((rule, head.id?.span))
}

fn versions(fields: &CheckedTable<'_>, key: &str, problems: &mut Diagnostics) -> Vec<Version> {
    let items = fields.tables(key, problems).iter();
    items
        .filter_map(|item| value::version(item, problems))
        .collect()
}

/// An example of each listed release, and one without each fact of `where`.
fn examples(
    fields: &CheckedTable<'_>,
    fact: &'static KeyInfo,
    given: &[Given],
    problems: &mut Diagnostics,
) -> Vec<Example> {
    let mut examples = Vec::new();
    let lists = [
        ("affected", Expect::Applies),
        ("unaffected", Expect::DoesNotApply),
        ("undecided", Expect::Undecided),
    ];
    let line = problems.line(fields.span.start);
    let example = |name: String, facts: Vec<Given>, expect| Example {
        name,
        facts,
        stack: None,
        expect,
        advise: Some(Vec::new()),
        line,
    };
    for (key, expect) in lists {
        let items = fields.tables(key, problems);
        for item in items {
            let Some(reading) = example::reading(fact, item, problems) else {
                continue;
            };
            let name = reading
                .value()
                .map(|value| fact.show(value))
                .unwrap_or_default();
            let facts = given.iter().cloned().chain([(fact, reading)]).collect();
            examples.push(example(name, facts, expect));
        }
        if items.is_empty() && expect != Expect::Undecided {
            problems.missing(
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
        let denied = || Reading::unknown(Why::Denied, "the example says so");
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
            Expect::Undecided,
        ));
    }
    examples
}
