//! The texts of the built-in rules, as far as `rules/STYLE.md` can be tested: lengths, numbers with
//! units, placeholders that always print something.

use super::super::examples;
use super::super::model::{Example, ExpectedOutcome, Rule};
use super::super::{Outcome, RuleSet};
use crate::facts::{KeyInfo, Reading, Scope, UnknownReason};

/// The most characters of a rendered title, and of a question.
const TITLE: usize = 70;
/// The most words of a sentence.
const SENTENCE: usize = 25;

/// Units that follow a number and a space.
const UNITS: [&str; 17] = [
    "%", "B", "kB", "MB", "GB", "TB", "KB", "KiB", "MiB", "GiB", "TiB", "ns", "us", "µs", "ms",
    "s", "rpm",
];
/// Units as words, which never follow a number, with the symbol for each.
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
/// Words to replace.
const WORDS: [(&str, &str); 3] = [
    ("platters", "hard disks"),
    ("spinning", "hard disks"),
    ("beneath", "under or below"),
];

/// A typical name of what identifies a subject, which is always known.
fn name(fact: &KeyInfo) -> Option<&'static str> {
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

fn subject(scope: Scope) -> &'static str {
    match scope {
        Scope::Host => "host",
        Scope::Device => "nvme0n1",
        Scope::Mount | Scope::Boot => "/srv/pg",
        Scope::Cluster | Scope::Target => "/srv/pg/data",
    }
}

/// A text with the values of an example, and typical names.
fn rendered(
    text: &str,
    facts: impl Iterator<Item = &'static KeyInfo>,
    rule: &Rule,
    example: &Example,
) -> String {
    let text = text
        .replace("{subject}", subject(rule.scope))
        .replace("{which}", "nvme0n1");
    facts.fold(text, |text, fact| {
        let given = example.facts.iter().find(|(key, _)| key.id == fact.id);
        let value = given
            .and_then(|(_, reading)| reading.value())
            .map(|value| fact.format_value(value));
        let shown = name(fact)
            .map(str::to_owned)
            .or(value)
            .unwrap_or_else(|| "unknown".to_owned());
        text.replace(&format!("{{{}}}", fact.name), &shown)
    })
}

fn applying(rule: &Rule) -> impl Iterator<Item = &Example> {
    rule.examples
        .iter()
        .filter(|example| example.expect == ExpectedOutcome::Applies)
}

/// The texts of a rule with the name of each, `{fact}` as written.
fn texts(rule: &Rule) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("title", rule.title.source()),
        ("question", rule.question.source()),
        ("because", rule.because.source()),
    ];
    all.extend(rule.remedy.iter().map(|text| ("remedy", text.source())));
    all.extend(
        rule.no_remedy
            .iter()
            .map(|text| ("no_remedy", text.source())),
    );
    all.extend(
        rule.advise
            .iter()
            .filter_map(|advice| Some(("price", advice.tradeoff.as_ref()?.source()))),
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

/// A sentence ends with a word that ends with a mark.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    let ends = |word: &&str| {
        word.trim_end_matches(['"', '\'', ')', '”'])
            .ends_with(['.', '?', '!'])
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.split_inclusive(ends).map(<[&str]>::to_vec).collect()
}

/// What is wrong with numbers and words of a text; commands in backticks are exempt.
fn slips(text: &str) -> Vec<String> {
    let mut slips = Vec::new();
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("CODE");
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
        let source = rule.title.source();
        if source.ends_with('.') {
            long.push(format!(
                "{}: the title ends with a full stop: “{source}”",
                rule.id
            ));
        }
        let titles =
            applying(rule).map(|example| rendered(&source, rule.title.facts(), rule, example));
        let longest = titles
            .max_by_key(|title| title.chars().count())
            .unwrap_or(source);
        let question = rule
            .question
            .source()
            .replace("{subject}", subject(rule.scope));
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
        for (what, text) in texts(rule) {
            for sentence in sentences(&text) {
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
fn numbers_have_units_and_things_their_names() {
    let mut wrong = Vec::new();
    for rule in RuleSet::builtin().rules() {
        for (what, text) in texts(rule) {
            wrong.extend(
                slips(&text)
                    .into_iter()
                    .map(|slip| format!("{}, {what}: {slip}: “{text}”", rule.id)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn slips_are_found() {
    let found = |text: &str| slips(text).len();
    assert_eq!(
        found("Up to 10 % of 128 MiB within 90 s, as `dd bs=1MiB` does it since 4.13."),
        0
    );
    assert_eq!(
        found("Up to 10% of 128MiB within 90 seconds, 5 per cent on platters."),
        5
    );
}

/// A title or reason with an unknown fact prints `unknown`, so a rule applies only if the facts it
/// prints are known.
#[test]
fn what_a_rule_prints_is_known_where_it_applies() {
    let mut unread = Vec::new();
    for rule in RuleSet::builtin().rules() {
        assert_eq!(
            rule.question.facts().count(),
            0,
            "{}: a question is asked where facts are unknown",
            rule.id
        );
        let texts = rule.title.source() + &rule.because.source();
        let printed = rule.title.facts().chain(rule.because.facts());
        // An optional one, `{fact? of }`, prints nothing.
        let required = printed.filter(|fact| texts.contains(&format!("{{{}}}", fact.name)));
        for fact in required.filter(|fact| name(fact).is_none()) {
            for example in applying(rule) {
                let mut without = example.clone();
                for (key, reading) in &mut without.facts {
                    if key.id == fact.id {
                        *reading = Reading::unknown(UnknownReason::NotCollected, "");
                    }
                }
                if examples::example_finding(rule, &without).outcome == Outcome::Applies {
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
