//! Rules compiled into walwise: every file directly in `rules/` (`build.rs`).

use super::RuleFile;

/// Path and contents of each file, sorted by path: `("rules/mount.toml", "[[rule]] …")`.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/rules.rs"));

pub fn builtin_file_names_and_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}

pub fn builtin_files() -> Vec<RuleFile> {
    builtin_file_names_and_texts()
        .map(|(name, text)| RuleFile {
            name: name.to_owned(),
            text: text.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{RuleSet, examples};

    #[test]
    fn builtin_rules_parse_and_pass_their_examples() {
        let (set, mistakes) = RuleSet::parse_as_builtin(&builtin_files());
        let mistakes: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
        let failures: Vec<String> = examples::failures_of_rule_examples(set.rules())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
