//! No sentence about the verdict may contain a literal duration.
//!
//! The time that a commit waits for its flush is a setting. A duration in a sentence must therefore
//! come from that setting.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::files::{ParsedSource, is_for_tests, product_files};

const UNITS: [&str; 22] = [
    "s",
    "ms",
    "us",
    "µs",
    "sec",
    "secs",
    "second",
    "seconds",
    "millisecond",
    "milliseconds",
    "microsecond",
    "microseconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hour",
    "hours",
    "day",
    "days",
    "week",
];

/// Units that express a duration without a number, as in `the last second`.
const ALONE: [&str; 9] = [
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "millisecond",
    "milliseconds",
    "microseconds",
];

pub fn durations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for word in text
        .split(|c: char| c.is_whitespace() || "(),;:!?\"'`".contains(c))
        .filter(|word| !word.is_empty())
    {
        let word = word.trim_end_matches('.');
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let has_figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        if (has_figure(word) && UNITS.contains(&unit))
            || (has_figure(before) && UNITS.contains(&word))
        {
            found.push(format!("{before} {word}"));
        } else if ALONE.contains(&word.to_ascii_lowercase().as_str()) {
            found.push(word.to_owned());
        }
        before = word;
    }
    found
}

/// Collects string literals, inside macros as well. Attributes, comments and tests contain no
/// sentences.
#[derive(Default)]
struct Literals(Vec<String>);

impl Literals {
    fn collect_literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.collect_literals(group.stream()),
                TokenTree::Literal(literal) => self.0.push(literal.to_string()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.0.push(literal.value());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.collect_literals(call.tokens.clone());
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
}

pub fn verdict_sentences_hold_no_duration(sources: &[ParsedSource]) {
    let mut literals = Literals::default();
    for (_, file) in
        product_files(sources).filter(|(name, _)| name.starts_with("crates/judge/src/durability"))
    {
        literals.visit_file(file);
    }
    assert!(
        literals.0.len() > 300,
        "only {} literals were found",
        literals.0.len()
    );
    let found: Vec<&String> = literals
        .0
        .iter()
        .filter(|text| !durations(text).is_empty())
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_title_of_a_rule_about_the_verdict_holds_a_duration() {
    let rules = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
    let mut read = 0;
    for file in std::fs::read_dir(rules)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if file.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for rule in text.split("[[rule]]\n").skip(1) {
            let field = |name: &str| {
                let line = rule
                    .lines()
                    .find(|line| line.split('=').next().is_some_and(|key| key.trim() == name));
                line.and_then(|line| line.split_once('='))
                    .map(|(_, value)| value.trim())
            };
            let is_of_verdict = field("id").is_some_and(|id| id.starts_with("\"verdict."));
            if is_of_verdict || field("caps").is_some() {
                read += 1;
                let title = field("title").unwrap();
                assert!(durations(title).is_empty(), "{title}");
            }
        }
    }
    assert!(read >= 3, "only {read} rules about the verdict were found");
}

#[test]
fn durations_are_recognised() {
    for text in [
        "0.6 s by default",
        "once a second",
        "the last 3s",
        "10 ms",
        "within 5 minutes",
        "after 200ms,",
    ] {
        assert!(!durations(text).is_empty(), "{text}");
    }
    for text in [
        "the last {seconds} s of commits",
        "3 × wal_writer_delay",
        "2 disks",
        "raid10 sends",
        "8 members",
    ] {
        assert!(durations(text).is_empty(), "{text}");
    }
}
