//! An unknown word of a choice counts as no answer, and never as more: on every recorded machine,
//! for every choice that was read there, at every place that judges one.

use std::collections::BTreeMap;

use walwise::session::Session;
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{self, RuleSet};
use walwise_model::facts::{
    FactRow, FactSet, KeyInfo, Reading, Source, Subject, UnknownReason, Value, catalog,
};
use walwise_sys::host::{HostError, HostErrorKind, Question};

use super::garbled::{Garbled, HOSTS};

const NOBODY_KNOWS: &str = "sideways";

/// The results of all judgements: standings by target, and the result of each rule on each subject.
#[derive(Debug, PartialEq)]
struct Judged {
    standings: BTreeMap<Subject, VerdictKind>,
    concluded: Vec<(Subject, &'static str, Option<Value>)>,
    outcomes: Vec<(Subject, String, &'static str)>,
}

fn judged(read: FactSet) -> Judged {
    let session = Session::new(read, RuleSet::default(), false);
    let (facts, verdicts) = session.conclusions();
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
    let found = rules::evaluate(
        &rules::all_subjects(&facts),
        &RuleSet::builtin(),
        &facts,
        circumstances,
    )
    .findings;
    let outcomes = found
        .into_iter()
        .map(|finding| (finding.subject, finding.rule, finding.outcome.as_str()))
        .collect();
    Judged {
        standings,
        concluded,
        outcomes,
    }
}

/// Facts that are one or several of a few words.
fn of_choices(facts: &FactSet) -> Vec<(Subject, &'static KeyInfo)> {
    let of = |row: FactRow<'_>| Some((row.subject.clone(), catalog::find(row.fact)?));
    facts
        .rows()
        .filter_map(of)
        .filter(|(_, info)| info.kind.choices().is_some())
        .collect()
}

/// However it comes into the facts.
#[test]
fn a_word_that_nobody_knows_is_judged_like_none() {
    let mut tried = BTreeMap::new();
    for (name, target, answers) in HOSTS.iter() {
        let read = super::garbled::look_only(&Garbled::plain(answers), target);
        for (subject, info) in of_choices(&read) {
            let source = Source::file("/sys/word");
            let word = NOBODY_KNOWS.to_owned();
            let value = if info.kind.is_list() {
                Value::List(vec![word])
            } else {
                Value::Text(word)
            };
            let (mut unknown, mut absent) = (read.clone(), read.clone());
            unknown.insert_value(&subject, info, Reading::known(value, source));
            absent.insert_value(
                &subject,
                info,
                Reading::unknown(UnknownReason::Malformed, "a word that nobody knows"),
            );
            assert_eq!(
                judged(unknown),
                judged(absent),
                "{name}: {} of {subject}",
                info.name
            );
            *tried.entry(info.name).or_insert(0) += 1;
        }
    }
    assert!(tried.len() >= 30, "{tried:#?}");
}

/// Where it comes from the machine: an attribute with another word is worth as much as one that
/// cannot be read.
#[test]
fn an_attribute_with_a_word_that_nobody_knows_is_worth_none() {
    let mut tried = BTreeMap::new();
    for (name, target, answers) in HOSTS.iter() {
        let read = super::garbled::look_only(&Garbled::plain(answers), target);
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
        for (subject, info) in of_choices(&read) {
            let Some(question) = attribute(&subject, info).filter(|of| is_one_word(answers, of))
            else {
                continue;
            };
            let with = |answer| {
                let host = Garbled {
                    answers,
                    question: Some(question),
                    answer,
                };
                judged(super::garbled::look_only(&host, target)).standings
            };
            let unknown = with(Ok(NOBODY_KNOWS.as_bytes().to_vec()));
            let refused = with(Err(HostError::new(HostErrorKind::Failed, "refused")));
            assert_eq!(unknown, refused, "{name}: {question:?}");
            *tried.entry(info.name).or_insert(0) += 1;
        }
    }
    assert!(tried.len() >= 3, "{tried:#?}");
}

/// Whether an answer is nothing but the word, which may stand in brackets among others.
fn is_one_word(answers: &walwise_sys::host::archive::Answers, question: &Question) -> bool {
    let text = answers
        .get(question)
        .and_then(|answer| answer.as_deref().ok())
        .unwrap_or_default();
    text.len() < 80 && text.trim_ascii().split(|b| *b == b'\n').count() == 1
}
