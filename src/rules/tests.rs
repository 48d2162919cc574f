//! The format as a whole: good files do what they say, bad files say what is wrong with them.

mod arbitrary;
mod properties;

use super::{RuleFile, RuleSet, examples};

/// The rules of a file of the test directory.
pub(super) fn good() -> RuleSet {
    let text = include_str!("../../tests/rules/good.toml").to_owned();
    let (set, mistakes) = RuleSet::parse(&[RuleFile { name: "good.toml".to_owned(), text }]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    set
}

#[test]
fn good_rules_do_what_their_examples_say() {
    let failures: Vec<String> = examples::run(good().rules()).iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bad_rules_say_what_is_wrong_with_them() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/rules/bad");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules/bad")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let name = format!("{stem}.toml");
            let text = std::fs::read_to_string(path).unwrap();
            let (_, mistakes) = RuleSet::parse(&[RuleFile { name, text }]);
            assert!(!mistakes.is_empty());
            let shown: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
            insta::assert_snapshot!(stem, shown.join("\n\n"));
        }
    });
}

#[test]
fn ten_mistakes_are_ten_diagnostics() {
    let text = include_str!("../../tests/rules/bad/ten-mistakes.toml").to_owned();
    let (_, mistakes) = RuleSet::parse(&[RuleFile { name: "bad.toml".to_owned(), text }]);
    assert_eq!(mistakes[0].diags.len(), 10, "{}", mistakes[0].render(false));
}
