//! The format as a whole: good files work as written, bad files report their mistakes.

mod arbitrary;
mod bounds;
mod coverage;
mod machines;
mod manual;
mod mistakes;
mod mutants;
mod properties;
mod safety;
mod scale;
mod users;
mod wording;
mod worlds;

use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::{Circumstances, Evaluation, Outcome, RuleFile, RuleSet, Tally, all_subjects, evaluate, examples};
use crate::facts::{FactSet, Scope, Subject};

/// The day on which the tests read users' files.
pub(super) const TODAY: Date = date(2026, 11, 23);

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

/// A rule about disks skips subjects that are known to stand on none, and is undecided on those that were not seen.
#[test]
fn what_has_no_disks_is_asked_nothing_about_them() {
    let text = r#"
[[rule]]
id = "disk.memory"
since = "0.1"
for = "target"
title = "{which}"
question = "is it?"
level = "critical"
confidence = "certain"
because = "b"
no_remedy = "n"
refs = ["r"]
when = { some = "leaf", holds = { fact = "device.kind", is = "ram" } }
example = [
    { name = "a", leaves = [{ "device.kind" = "ram" }], expect = "applies" },
    { name = "b", leaves = [{ "device.kind" = "disk" }], expect = "does not apply" },
    { name = "c", expect = "undecided" },
]
"#;
    let file = RuleFile { name: "any.toml".to_owned(), text: text.to_owned() };
    let (set, mistakes) = RuleSet::parse(&[file]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    let (diskless, unseen) = (Subject::target("/shm"), Subject::target("/fuse"));
    let mut facts = FactSet::default();
    facts.mention(&diskless);
    facts.mention(&unseen);
    facts.rule_out(&diskless, Scope::Device);
    let Evaluation { findings, tallies } =
        evaluate(&all_subjects(&facts), &set, &facts, Circumstances { live: true, traced: true });
    let about: Vec<&Subject> = findings.iter().map(|finding| &finding.subject).collect();
    assert_eq!(about, [&unseen]);
    assert_eq!(findings[0].outcome, Outcome::Undecided { needs: Vec::new() });
    assert_eq!(tallies, [Tally { undecided: 1, ..Tally::new("disk.memory") }]);
}

#[test]
fn ten_mistakes_are_ten_diagnostics() {
    let text = include_str!("../../tests/rules/bad/ten-mistakes.toml").to_owned();
    let (_, mistakes) = RuleSet::parse(&[RuleFile { name: "bad.toml".to_owned(), text }]);
    assert_eq!(mistakes[0].diags.len(), 10, "{}", mistakes[0].render(false));
}

/// Loads and renders a text, whatever it is.
fn read(text: String) -> (RuleSet, usize) {
    let (set, mistakes) = RuleSet::parse(&[RuleFile { name: "any.toml".to_owned(), text }]);
    let shown: String = mistakes.iter().map(|file| file.render(true) + &file.render(false)).collect();
    assert_eq!(shown.is_empty(), mistakes.is_empty());
    (set, mistakes.iter().map(|file| file.diags.len()).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        read(text);
    }

    #[test]
    fn a_damaged_file_is_read_as_far_as_it_goes(at in 0..4000usize, length in 0..40usize, with in ".{0,8}") {
        let mut text = include_str!("../../tests/rules/good.toml").to_owned();
        let fit = |text: &str, at: usize| text.floor_char_boundary(at.min(text.len()));
        let (start, end) = (fit(&text, at), fit(&text, at + length));
        text.replace_range(start..end, &with);
        let (set, mistakes) = read(text);
        prop_assert!(mistakes > 0 || !set.rules().is_empty());
    }
}

#[test]
fn a_rule_is_switched_off_with_a_reason_and_ids_are_unique_across_files() {
    let file = |name: &str, text: &str| RuleFile { name: name.to_owned(), text: text.to_owned() };
    let good = include_str!("../../tests/rules/good.toml");
    let off = "[[off]]\nrule = \"mount.ext4-nobarrier\"\nbecause = \"a   scratch disk\"\n";
    let (set, mistakes) = RuleSet::parse(&[file("good.toml", good), file("off.toml", off)]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    assert!(set.find("mount.ext4-nobarrier").is_none() && set.find("mount.barrier-option").is_some());
    assert_eq!(set.off()[0].because, "a scratch disk");

    let (set, mistakes) = RuleSet::parse(&[file("good.toml", good), file("again.toml", good)]);
    assert_eq!(set.rules().len(), 2);
    assert!(set.rules().iter().all(|rule| rule.file == "good.toml"));
    assert_eq!(
        mistakes[0].diags[0].help.as_deref(),
        Some("the other one is good.toml:4; give one of them another id")
    );
    assert_eq!((mistakes[0].file.as_str(), mistakes[0].diags.len()), ("again.toml", 2));
}

/// Every example of a critical rule has a remedy.
#[test]
fn every_example_of_a_critical_rule_has_a_remedy() {
    let set = RuleSet::builtin();
    for rule in set.rules().iter().filter(|rule| rule.level == super::Level::Critical) {
        for example in rule.examples.iter().filter(|example| example.expect == super::model::Expect::Applies)
        {
            let finding = super::examples::finding(rule, example);
            let advised = finding.advice.iter().any(|advice| advice.change != super::Change::Keep);
            let told = finding.remedy.is_some_and(|remedy| !remedy.says.is_empty());
            assert!(advised || told, "{}: {}", rule.id, example.name);
        }
    }
}
