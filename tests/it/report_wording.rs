//! Screens and text report use the same words. On recorded hosts, every sentence that a screen
//! takes from the report also occurs in the output of `check`, apart from white space.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::{Change, Level, Outcome, RuleSet};
use walwise_measure::measure::Caveat;
use walwise_model::facts::catalog;
use walwise_model::settings;
use walwise_report::{Report, text, view};
use walwise_sys::host::RecordedHost;
use walwise_testkit::collapse_whitespace;

use crate::support::recorded::{
    recorded_host_documents, recorded_host_file, recorded_host_reports, screen_texts,
};

const HOSTS: [&str; 9] = [
    "ext4-nobarrier",
    "sata-volatile",
    "real-btrfs-on-loops",
    "megaraid-nobarrier",
    "megaraid-failed-battery",
    "zfs-sync-disabled",
    "unprivileged",
    "nfs4-soft",
    "lab-luks-on-lvm-on-md",
];

fn report_of_recorded_host(name: &str) -> Report {
    let host = RecordedHost::parse(&fs::read(recorded_host_file(name)).unwrap()).unwrap();
    let request = Request {
        target: None,
        allow_missing: true,
        without_programs: false,
        ..Request::default()
    };
    Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| ()).build_report()
}

fn screen_sentences(report: &Report) -> Vec<String> {
    let mut all: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    for verdict in &report.verdicts {
        all.extend([verdict.sentence.clone(), verdict.limits.clone()]);
        all.extend(
            verdict
                .paths
                .iter()
                .take(1)
                .flat_map(|path| &path.evidence)
                .map(|one| one.text.clone()),
        );
        for need in &verdict.missing {
            all.extend([view::wording::missing_fact_reason(need), need.fact.clone()]);
            all.extend(need.remedy.as_ref().map(ToString::to_string));
        }
    }
    for finding in report
        .findings
        .iter()
        .filter(|one| one.outcome == Outcome::Applies)
    {
        all.extend((finding.level > Level::Keep).then(|| finding.title.clone()));
        all.extend((finding.level >= Level::Warning).then(|| finding.because.to_string()));
    }
    for step in report
        .plans
        .iter()
        .flat_map(|plan| plan.steps.iter().chain(&plan.options))
    {
        all.extend([step.title.clone(), view::wording::step_change_text(step)]);
        all.extend(step.advice.tradeoff.clone());
        if step.advice.change != Change::Keep {
            all.extend(
                step.advice
                    .apply
                    .iter()
                    .chain(&step.advice.verify)
                    .chain(&step.advice.undo)
                    .map(ToString::to_string),
            );
        }
    }
    for probe in &report.probes {
        all.extend(
            probe
                .measurement
                .caveats
                .iter()
                .map(Caveat::text_with_effect_on_advice),
        );
    }
    for withheld in &report.withheld {
        all.extend([withheld.advice.clone(), withheld.because.clone()]);
    }
    all
}

#[test]
fn screen_sentences_occur_in_the_text_report() {
    let mut missing = Vec::new();
    for name in HOSTS {
        let report = report_of_recorded_host(name);
        assert!(!report.verdicts.is_empty(), "{name}");
        let told = collapse_whitespace(&text::render(&report));
        for sentence in screen_sentences(&report) {
            if !told.contains(&collapse_whitespace(&sentence)) {
                missing.push(format!("{name}: {sentence}"));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_worst_verdict_sentence_occurs_on_the_screens() {
    for name in HOSTS {
        let report = report_of_recorded_host(name);
        let shown = screen_texts(report.clone(), (110, 200), false);
        let shown: String = shown.iter().map(|(_, rows)| rows.concat()).collect();
        let is_line = |c: &char| ('\u{2500}'..='\u{257f}').contains(c);
        let is_text = |c: &char| !c.is_whitespace() && !is_line(c);
        let shown: String = shown.chars().filter(is_text).collect();
        let worst = report
            .verdicts
            .iter()
            .map(|verdict| verdict.standing)
            .min()
            .unwrap();
        let worst = report
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing == worst);
        let mut bare = worst.map(|verdict| verdict.sentence.split_whitespace().collect::<String>());
        assert!(bare.any(|bare| shown.contains(&bare)), "{name}");
    }
}

const SENTENCES: [&str; 10] = [
    "title",
    "because",
    "text",
    "sentence",
    "limits",
    "host_loss",
    "second_fault",
    "reason",
    "advice",
    "tradeoff",
];

const REPLACED: [&str; 21] = [
    "anew",
    "belief",
    "cannot be told",
    "fate",
    "for ever",
    "guarantor",
    "host archive",
    "it is told",
    "mended",
    "no rule advises",
    "nobody",
    "nothing that would",
    "once more",
    "price",
    "sayer",
    "seen from",
    "somebody",
    "tight loop",
    "told",
    "what belongs to",
    "whoever",
];

/// Limit per sentence, in words. A colon or a semicolon also ends a sentence.
const MAX_WORDS: usize = 25;

fn non_prose_words(sentence: &str) -> Vec<String> {
    let is_edge = |c: char| !c.is_alphanumeric() && c != '_' && c != '}' && c != '{';
    let words = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(is_edge));
    let is_fact = |word: &str| {
        catalog::find_by_name(word).is_some() && settings::find_by_name(word).is_none()
    };
    let is_size = |word: &str| {
        word.parse::<u64>()
            .is_ok_and(|number| number > 1 << 20 && number < u64::from(u32::MAX))
    };
    let is_blank = |word: &str| word.starts_with('{') && word.ends_with('}');
    words
        .filter(|word| is_fact(word) || is_size(word) || is_blank(word))
        .map(str::to_owned)
        .collect()
}

fn collect_sentences(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.extend(
                    value
                        .as_str()
                        .filter(|_| SENTENCES.contains(&&**key))
                        .map(str::to_owned),
                );
                collect_sentences(value, found);
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_sentences(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn sentences_contain_no_machine_identifiers() {
    let (mut all, mut wrong) = (0, Vec::new());
    for (_, document) in recorded_host_documents() {
        let mut sentences = Vec::new();
        collect_sentences(document, &mut sentences);
        all += sentences.len();
        let said =
            |sentence: &String| (!non_prose_words(sentence).is_empty()).then(|| sentence.clone());
        wrong.extend(sentences.iter().filter_map(said));
    }
    assert!(all > 1_000, "{all} sentences are no proof");
    assert_eq!(wrong, [""; 0]);
    for seen in [
        "pg.wal_size_fit is unknown",
        "Mount {mount.point} with noatime",
        "100663296 → 1073741824",
    ] {
        assert!(!non_prose_words(seen).is_empty(), "{seen}");
    }
}

fn lowercase_words(text: &str) -> Vec<String> {
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn find_replaced_phrases(text: &str) -> Vec<&'static str> {
    let padded = format!(" {} ", lowercase_words(text).join(" "));
    let phrases = REPLACED.into_iter();
    phrases
        .filter(|phrase| padded.contains(&format!(" {phrase} ")))
        .collect()
}

fn longest_sentence_words(text: &str) -> usize {
    let ended = collapse_whitespace(text).replace([';', ':'], ".");
    let sentences = ended.split(". ").map(|part| lowercase_words(part).len());
    sentences.max().unwrap_or(0)
}

#[test]
fn sentences_are_short_and_use_the_vocabulary() {
    let mut wrong = BTreeSet::new();
    for ((_, document), (_, report)) in recorded_host_documents()
        .iter()
        .zip(recorded_host_reports())
    {
        let mut sentences = Vec::new();
        collect_sentences(document, &mut sentences);
        sentences.retain(|sentence| longest_sentence_words(sentence) > MAX_WORDS);
        wrong.extend(sentences);
        let screens = screen_texts(report.clone(), (120, 60), false);
        let screens = screens.iter().map(|(_, rows)| rows.join("\n"));
        for text in screens.chain([text::render(report)]) {
            let phrases = find_replaced_phrases(&text).into_iter().map(str::to_owned);
            // Storage lists the fact device.guarantor by its name.
            wrong.extend(phrases.filter(|phrase| phrase != "guarantor"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        find_replaced_phrases("Its price, told again"),
        ["price", "told"]
    );
    assert_eq!(
        longest_sentence_words(&format!("One: {}", "word ".repeat(26))),
        26
    );
}
