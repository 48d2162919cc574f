use super::super::{ExampleLoading, RuleFile, RuleSet, examples};
use super::TODAY;

const MANUAL: &str = include_str!("../../../rules/README.md");

fn toml_samples() -> Vec<&'static str> {
    MANUAL
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect()
}

#[test]
fn the_manual_names_rules_that_exist() {
    let builtin = RuleSet::builtin();
    let keys = ["id ", "rule ", "overrides "];
    let lines = toml_samples().into_iter().flat_map(str::lines);
    let naming = lines.filter(|line| keys.iter().any(|key| line.starts_with(key)));
    let named: Vec<&str> = naming.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(named.len() >= 4, "{named:?}");
    let unknown: Vec<&&str> = named
        .iter()
        .filter(|id| builtin.find(id).is_none())
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The first sample of the manual is a copy of a built-in rule. The file with the original is not
/// loaded, because ids must be unique.
#[test]
fn manual_sample_rule_loads_and_passes_examples() {
    let shown = toml_samples()[0];
    let file = |name: &str, text: &str| RuleFile {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let beside = file(
        "mount-options.toml",
        include_str!("../../../rules/mount-options.toml"),
    );
    let (set, mistakes) = RuleSet::parse_as_builtin(&[file("shown.toml", shown), beside]);
    assert!(
        mistakes.is_empty(),
        "{}",
        mistakes
            .first()
            .map(|all| all.render(false))
            .unwrap_or_default()
    );
    assert!(set.find("barrier.ext4-off").is_some());
    let failures: Vec<String> = examples::failures_of_rule_examples(set.rules())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn manual_sample_of_user_file_loads() {
    let shown = toml_samples()
        .into_iter()
        .find(|sample| sample.contains("[[off]]"))
        .unwrap();
    let file = RuleFile {
        name: "user.toml".to_owned(),
        text: shown.to_owned(),
    };
    let (set, mistakes) = RuleSet::builtin_and_user_files(&[file], ExampleLoading::Read, TODAY);
    assert!(
        mistakes.is_empty(),
        "{}",
        mistakes
            .first()
            .map(|all| all.render(false))
            .unwrap_or_default()
    );
    assert_eq!(
        (
            set.disabled_rules().len(),
            set.level_overrides().len(),
            set.remarks().len()
        ),
        (1, 1, 0),
        "{:?}",
        set.remarks()
    );
}
