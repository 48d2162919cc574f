//! Authors' mistakes from `tests/rules/mistakes.toml`: each is reported once, at its place (marked
//! `«` and `»`), with help.

use serde::Deserialize;

use super::TODAY;
use crate::rules::builtin::builtin_files;
use crate::rules::diagnostic::{FileDiagnostics, Severity};
use crate::rules::{ExampleLoading, RuleFile, RuleSet};

#[derive(Deserialize)]
struct MistakeCases {
    rule: String,
    mistake: Vec<MistakeCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MistakeCase {
    name: String,
    /// The part of the good rule to replace; if absent, `write` replaces the entire rule.
    instead_of: Option<String>,
    write: String,
    /// Contents of another rule file, which is loaded before the file with the mistake.
    #[serde(default)]
    beside: String,
    #[serde(default)]
    crlf: bool,
    says: String,
    #[serde(rename = "do")]
    help: String,
    /// True if the diagnostic is a remark, so that the rule remains in force.
    #[serde(default)]
    in_force: bool,
}

/// Loads `files` together with only that built-in file whose rules the mistakes name. Parsing all
/// built-in files for each mistake would take seconds.
fn diagnostics_of_user_files(files: &[RuleFile]) -> Vec<FileDiagnostics> {
    let mut builtin = builtin_files();
    builtin.retain(|file| file.name.ends_with("mount-options.toml"));
    assert_eq!(builtin.len(), 1);
    RuleSet::from_files((&builtin, ExampleLoading::Skipped), files, TODAY).1
}

fn split_text_and_marked_ranges(marked: &str) -> (String, Vec<std::ops::Range<usize>>) {
    let (mut text, mut ranges, mut start) = (String::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            '«' => start = text.len(),
            '»' => ranges.push(start..text.len()),
            c => text.push(c),
        }
    }
    (text, ranges)
}

impl MistakeCase {
    fn diagnostic_mismatch(&self, rule: &str) -> Option<String> {
        let marked = match &self.instead_of {
            Some(old) if rule.matches(old.as_str()).count() == 1 => {
                rule.replacen(old.as_str(), &self.write, 1)
            }
            Some(old) => return Some(format!("`{old}` is not once in the good rule")),
            None => self.write.clone(),
        };
        let marked = if self.crlf {
            marked.replace('\n', "\r\n")
        } else {
            marked
        };
        let (text, places) = split_text_and_marked_ranges(&marked);
        let mut files = vec![RuleFile {
            name: "site.toml".to_owned(),
            text: text.clone(),
        }];
        if !self.beside.is_empty() {
            files.insert(
                0,
                RuleFile {
                    name: "other.toml".to_owned(),
                    text: self.beside.clone(),
                },
            );
        }
        let found = diagnostics_of_user_files(&files);
        let [file] = found.as_slice() else {
            return Some(format!("{} files have mistakes", found.len()));
        };
        let shown = file.render(false);
        let told: Vec<_> = file.diags.iter().map(|diag| diag.span.clone()).collect();
        if told != places {
            return Some(format!("{told:?} is marked instead of {places:?}\n{shown}"));
        }
        for (diag, place) in file.diags.iter().zip(&places) {
            let help = diag.help.as_deref().unwrap_or_default();
            if !diag.message.contains(&self.says)
                || !help.contains(&self.help)
                || self.help.is_empty()
            {
                return Some(shown);
            }
            if (diag.severity == Severity::Mistake) == self.in_force {
                return Some(format!("{:?}\n{shown}", diag.severity));
            }
            let before = &text[..place.start];
            let line = 1 + before.matches('\n').count();
            let column = 1 + before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .trim_start_matches('\u{feff}')
                .chars()
                .count();
            if !shown.contains(&format!("--> site.toml:{line}:{column}\n")) {
                return Some(format!("not in line {line}, column {column}\n{shown}"));
            }
            if !shown.contains('^') {
                return Some(shown);
            }
        }
        None
    }
}

#[test]
fn each_mistake_is_reported_once_at_its_span_with_help() {
    let table: MistakeCases =
        toml::from_str(include_str!("../../../../../tests/rules/mistakes.toml")).unwrap();
    let good = RuleFile {
        name: "site.toml".to_owned(),
        text: table.rule.clone(),
    };
    let found = diagnostics_of_user_files(&[good]);
    assert!(found.is_empty(), "{}", found[0].render(false));
    let wrong: String = table
        .mistake
        .iter()
        .filter_map(|mistake| {
            let why = mistake.diagnostic_mismatch(&table.rule)?;
            Some(format!("== {}\n{why}\n", mistake.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong}");
    assert!(table.mistake.len() >= 60, "{}", table.mistake.len());
}
