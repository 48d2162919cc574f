//! An unknown word in an enumerated fact counts like an unknown fact and never improves a result.
//! The test replaces every such fact of every recorded host.

use std::collections::BTreeMap;

use walwise::session::Session;
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{self, RuleSet};
use walwise_model::facts::{FactRow, FactSet, KeyInfo, Reading, Source, Subject, Value, catalog};
use walwise_sys::host::{HostError, HostErrorKind, Question};

use super::garbled::{GarbledHost, HOSTS};

const NOBODY_KNOWS: &str = "sideways";

#[derive(Debug, PartialEq)]
struct Judgements {
    standings: BTreeMap<Subject, VerdictKind>,
    concluded: Vec<(Subject, &'static str, Option<Value>)>,
    outcomes: Vec<(Subject, String, &'static str)>,
}

fn judge_facts(read: FactSet) -> Judgements {
    let session = Session::new(read, RuleSet::default(), false);
    let (facts, verdicts) = session.derived_facts_and_verdicts();
    let standings = verdicts
        .into_iter()
        .map(|verdict| (verdict.target, verdict.standing))
        .collect();
    let is_concluded =
        |row: &FactRow<'_>| row.fact.starts_with("target.") || row.fact == "device.cache";
    let concluded = facts.rows().filter(is_concluded);
    let concluded = concluded
        .map(|row| (row.subject.clone(), row.fact, row.reading.value().cloned()))
        .collect();
    let circumstances = rules::EvaluationOptions {
        live: false,
        traced: false,
    };
    let found = rules::evaluate_rules(
        &rules::subjects_in_scope_order(&facts),
        &RuleSet::builtin(),
        &facts,
        circumstances,
    )
    .findings;
    let outcomes = found
        .into_iter()
        .map(|finding| (finding.subject, finding.rule, finding.outcome.as_str()))
        .collect();
    Judgements {
        standings,
        concluded,
        outcomes,
    }
}

fn facts_with_allowed_words(facts: &FactSet) -> Vec<(Subject, &'static KeyInfo)> {
    let of = |row: FactRow<'_>| Some((row.subject.clone(), catalog::find_by_name(row.fact)?));
    facts
        .rows()
        .filter_map(of)
        .filter(|(_, info)| info.kind.allowed_words().is_some())
        .collect()
}

#[test]
#[ignore = "exhaustive"]
fn unknown_enum_word_is_judged_like_a_missing_fact() {
    let mut tried = BTreeMap::new();
    for (name, target, answers) in HOSTS.iter() {
        let read =
            super::garbled::collect_facts(&GarbledHost::with_unchanged_answers(answers), target);
        for (subject, info) in facts_with_allowed_words(&read) {
            let source = Source::from_file("/sys/word");
            let word = NOBODY_KNOWS.to_owned();
            let value = if info.kind.is_list() {
                Value::List(vec![word])
            } else {
                Value::Text(word)
            };
            let (mut unknown, mut absent) = (read.clone(), read.clone());
            unknown.insert_untyped_value(&subject, info, Reading::known(value, source));
            absent.insert_untyped_value(
                &subject,
                info,
                Reading::malformed("a word that nobody knows"),
            );
            assert_eq!(
                judge_facts(unknown),
                judge_facts(absent),
                "{name}: {} of {subject}",
                info.name
            );
            *tried.entry(info.name).or_insert(0) += 1;
        }
    }
    assert!(tried.len() >= 30, "{tried:#?}");
}

#[test]
#[ignore = "exhaustive"]
fn attribute_with_unknown_word_improves_nothing() {
    let mut tried = BTreeMap::new();
    for (name, target, answers) in HOSTS.iter() {
        let read =
            super::garbled::collect_facts(&GarbledHost::with_unchanged_answers(answers), target);
        let attribute =
            |subject: &Subject, info: &KeyInfo| match read.reading(subject, info.id).source()? {
                Source::File { path, line: None } => {
                    let question = Question::Read(path.into());
                    answers
                        .get_key_value(&question)
                        .map(|(question, _)| question)
                }
                _ => None,
            };
        for (subject, info) in facts_with_allowed_words(&read) {
            let Some(question) =
                attribute(&subject, info).filter(|of| is_short_single_line(answers, of))
            else {
                continue;
            };
            let with = |answer| {
                let host = GarbledHost {
                    answers,
                    question: Some(question),
                    answer,
                };
                judge_facts(super::garbled::collect_facts(&host, target)).standings
            };
            let unknown = with(Ok(NOBODY_KNOWS.as_bytes().to_vec()));
            let refused = with(Err(HostError::new(HostErrorKind::Failed, "refused")));
            assert_eq!(unknown, refused, "{name}: {question:?}");
            *tried.entry(info.name).or_insert(0) += 1;
        }
    }
    assert!(tried.len() >= 3, "{tried:#?}");
}

fn is_short_single_line(
    answers: &walwise_sys::host::capture_format::Answers,
    question: &Question,
) -> bool {
    let text = answers
        .get(question)
        .and_then(|answer| answer.as_deref().ok())
        .unwrap_or_default();
    text.len() < 80 && text.trim_ascii().split(|b| *b == b'\n').count() == 1
}
