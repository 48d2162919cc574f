//! Checks the wording of the built-in rules, as far as `rules/STYLE.md` can be tested: lengths,
//! units of numbers, and placeholders that always print something.

use super::super::model::{ExpectedOutcome, Rule, RuleExample};
use super::super::{Outcome, RuleSet, examples};
use crate::facts::{KeyInfo, Reading, Scope, UnknownReason};
use walwise_model::text::JoinText;

const TITLE: usize = 70;
const SENTENCE: usize = 25;

/// Units that must be separated from their number by a space.
const UNITS: [&str; 17] = [
    "%", "B", "kB", "MB", "GB", "TB", "KB", "KiB", "MiB", "GiB", "TiB", "ns", "us", "µs", "ms",
    "s", "rpm",
];
/// Units as words, which must not follow a number, each with its symbol.
const WORDY_UNITS: [(&str, &str); 10] = [
    ("per", "%"),
    ("percent", "%"),
    ("second", "s"),
    ("seconds", "s"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("microseconds", "µs"),
    ("bytes", "B"),
    ("megabytes", "MB or MiB"),
    ("gigabytes", "GB or GiB"),
];
const WORDS: [(&str, &str); 3] = [
    ("platters", "hard disks"),
    ("spinning", "hard disks"),
    ("beneath", "under or below"),
];

/// A typical value of a fact that identifies a subject, and is therefore always known.
fn typical_value_of_identifying_fact(fact: &KeyInfo) -> Option<&'static str> {
    Some(match fact.name {
        "target.path" => "/srv/pg/data",
        "mount.point" | "boot.point" => "/srv/pg",
        "mount.fstype" | "boot.fstype" => "ext4",
        "device.path" => "/dev/md0",
        "boot.where" => "/etc/fstab:12",
        "boot.source" => "/dev/vg0/pg",
        "kernel.version" => "6.12.48",
        _ => return None,
    })
}

fn typical_subject_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Host => "host",
        Scope::Device => "nvme0n1",
        Scope::Mount | Scope::Boot => "/srv/pg",
        Scope::Cluster | Scope::Target => "/srv/pg/data",
    }
}

/// The text with typical values of facts and, for other facts, with the values of the example. A
/// fact without either prints as `unknown`.
fn render_with_typical_values(
    text: &str,
    facts: impl Iterator<Item = &'static KeyInfo>,
    rule: &Rule,
    example: &RuleExample,
) -> String {
    let text = text
        .replace("{subject}", typical_subject_name(rule.scope))
        .replace("{which}", "nvme0n1");
    facts.fold(text, |text, fact| {
        let given = example.facts.iter().find(|(key, _)| key.id == fact.id);
        let value = given
            .and_then(|(_, reading)| reading.value())
            .map(|value| fact.format_value(value));
        let shown = typical_value_of_identifying_fact(fact)
            .map(str::to_owned)
            .or(value)
            .unwrap_or_else(|| "unknown".to_owned());
        text.replace(&format!("{{{}}}", fact.name), &shown)
    })
}

fn examples_where_rule_applies(rule: &Rule) -> impl Iterator<Item = &RuleExample> {
    rule.examples
        .iter()
        .filter(|example| example.expect == ExpectedOutcome::Applies)
}

fn rule_texts(rule: &Rule) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("title", rule.title.as_written()),
        ("question", rule.question.as_written()),
        ("because", rule.because.as_written()),
    ];
    all.extend(rule.remedy.iter().map(|text| ("remedy", text.as_written())));
    all.extend(
        rule.no_remedy
            .iter()
            .map(|text| ("no_remedy", text.as_written())),
    );
    all.extend(
        rule.advise
            .iter()
            .filter_map(|advice| Some(("price", advice.tradeoff.as_ref()?.as_written()))),
    );
    for study in &rule.evidence {
        all.push(("says", study.text.clone()));
        all.push(("caveat", study.caveat.clone()));
        all.extend(
            study
                .contradicted_by
                .iter()
                .map(|text| ("contradicted_by", text.clone())),
        );
    }
    all
}

fn split_sentences(text: &str) -> Vec<Vec<&str>> {
    let ends = |word: &&str| {
        word.trim_end_matches(['"', '\'', ')', '”'])
            .ends_with(['.', '?', '!'])
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.split_inclusive(ends).map(<[&str]>::to_vec).collect()
}

/// Mistakes in numbers and words of a text; commands in backticks are exempt.
fn wording_mistakes(text: &str) -> Vec<String> {
    let mut slips = Vec::new();
    let prose: String = text.split('`').step_by(2).join_with("CODE");
    let words: Vec<&str> = prose
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', ';', ':', '(', ')', '?']))
        .collect();
    for (at, word) in words.iter().enumerate() {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
        let glued = digits.len() < word.len() && UNITS.contains(&digits);
        if glued {
            slips.push(format!(
                "write {} {digits} for {word}",
                word.trim_end_matches(digits)
            ));
        }
        let before = at
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .copied()
            .unwrap_or_default();
        let unit = WORDY_UNITS.iter().find(|(unit, _)| {
            unit == word && (*unit != "per" || words.get(at + 1) == Some(&"cent"))
        });
        if let Some((_, symbol)) =
            unit.filter(|_| !before.is_empty() && before.bytes().all(|c| c.is_ascii_digit()))
        {
            slips.push(format!("write {before} {symbol} for {before} {word}"));
        }
        slips.extend(
            WORDS
                .iter()
                .filter(|(bad, _)| bad == word)
                .map(|(bad, good)| format!("write {good} for {bad}")),
        );
    }
    slips
}

#[test]
fn titles_and_questions_are_short() {
    let mut long = Vec::new();
    for rule in RuleSet::builtin().rules() {
        let source = rule.title.as_written();
        if source.ends_with('.') {
            long.push(format!(
                "{}: the title ends with a full stop: “{source}”",
                rule.id
            ));
        }
        let titles = examples_where_rule_applies(rule).map(|example| {
            render_with_typical_values(&source, rule.title.placeholder_facts(), rule, example)
        });
        let longest = titles
            .max_by_key(|title| title.chars().count())
            .unwrap_or(source);
        let question = rule
            .question
            .as_written()
            .replace("{subject}", typical_subject_name(rule.scope));
        for (what, text) in [("title", longest), ("question", question)] {
            let count = text.chars().count();
            if count > TITLE {
                long.push(format!(
                    "{}: the {what} has {count} characters, at most {TITLE}: “{text}”",
                    rule.id
                ));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn sentences_are_short() {
    let mut long = Vec::new();
    for rule in RuleSet::builtin().rules() {
        for (what, text) in rule_texts(rule) {
            for sentence in split_sentences(&text) {
                let words = sentence
                    .iter()
                    .filter(|word| word.contains(char::is_alphanumeric))
                    .count();
                if words > SENTENCE {
                    long.push(format!(
                        "{}, {what}: {words} words, at most {SENTENCE}: “{}”",
                        rule.id,
                        sentence.join(" ")
                    ));
                }
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn builtin_rules_have_no_wording_mistakes() {
    let mut wrong = Vec::new();
    for rule in RuleSet::builtin().rules() {
        for (what, text) in rule_texts(rule) {
            wrong.extend(
                wording_mistakes(&text)
                    .into_iter()
                    .map(|slip| format!("{}, {what}: {slip}: “{text}”", rule.id)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wording_mistakes_are_detected() {
    let found = |text: &str| wording_mistakes(text).len();
    assert_eq!(
        found("Up to 10 % of 128 MiB within 90 s, as `dd bs=1MiB` does it since 4.13."),
        0
    );
    assert_eq!(
        found("Up to 10% of 128MiB within 90 seconds, 5 per cent on platters."),
        5
    );
}

/// An unknown fact prints as `unknown` in titles and reasons, so the condition must require every
/// fact that they print.
#[test]
fn facts_in_titles_are_known_where_rules_apply() {
    let mut unread = Vec::new();
    for rule in RuleSet::builtin().rules() {
        assert_eq!(
            rule.question.placeholder_facts().count(),
            0,
            "{}: a question is asked where facts are unknown",
            rule.id
        );
        let texts = rule.title.as_written() + &rule.because.as_written();
        let printed = rule
            .title
            .placeholder_facts()
            .chain(rule.because.placeholder_facts());
        // An optional placeholder, `{fact? of }`, prints nothing if its fact is unknown.
        let required = printed.filter(|fact| texts.contains(&format!("{{{}}}", fact.name)));
        for fact in required.filter(|fact| typical_value_of_identifying_fact(fact).is_none()) {
            for example in examples_where_rule_applies(rule) {
                let mut without = example.clone();
                for (key, reading) in &mut without.facts {
                    if key.id == fact.id {
                        *reading = Reading::unknown(UnknownReason::NotCollected, "");
                    }
                }
                if examples::evaluate_rule_on_example(rule, &without).outcome == Outcome::Applies {
                    unread.push(format!(
                        "{}: applies with {} unknown, which it prints",
                        rule.id, fact.name
                    ));
                }
            }
        }
    }
    unread.dedup();
    assert!(unread.is_empty(), "{}", unread.join("\n"));
}
