mod arbitrary;
mod size_limits {
    use crate::rules::diagnostic::MAX_LISTED;
    use crate::rules::load;

    fn rule_text_with_field(field: &str, value: &str) -> String {
        let of = |name: &str, usual: &str| {
            if name == field {
                value.to_owned()
            } else {
                format!("\"{usual}\"")
            }
        };
        format!(
            "[[rule]]\nid = {}\nsince = \"1\"\nfor = \"mount\"\ntitle = {}\nlevel = \"warning\"\nconfidence = \"certain\"\n\
         because = {}\nrefs = [{}]\nwhen = {{ fact = {}, is = \"ext4\" }}\n[[rule.advise]]\nsetting = \"mount.options\"\n\
         add = [\"noatime\"]\nreach = \"this-mount\"\nrisk = \"none\"\napply = [{}]\n",
            of("id", "a.b"),
            of("title", "t"),
            of("because", "b"),
            of("refs", "r"),
            of("fact", "mount.fstype"),
            of("apply", "x {mount.point}"),
        )
    }

    #[test]
    fn refusal_of_long_texts_states_the_bound() {
        for text in [
            "{", "}", "[", "]", "\"", "'", "\\\\", "#", "\n", "{a.b}", "{a?", "`{",
        ] {
            let long = text.repeat(20_000 / text.len());
            for (open, close) in [("'''", "'''"), ("\"\"\"\n", "\"\"\"")] {
                let fits = (open == "'''") != text.contains(['\'', '\\']);
                for field in ["id", "title", "because", "refs", "fact", "apply"] {
                    if !fits || (text == "\"" && open != "'''") {
                        continue;
                    }
                    let loaded = load::parse_rule_file(
                        "a.toml",
                        &rule_text_with_field(field, &format!("{open}{long}{close}")),
                        load::LoadOptions::USER,
                    );
                    assert!(loaded.rules.is_empty(), "{field} of {text:?}");
                    assert!(loaded.diags.len() <= MAX_LISTED + 1);
                    let says =
                        |words: &str| loaded.diags.iter().any(|diag| diag.message.contains(words));
                    assert!(
                        says("the limit is 4000"),
                        "{field} of {text:?}: {:?}",
                        loaded.diags
                    );
                }
            }
        }
        let loaded = load::parse_rule_file(
            "a.toml",
            &rule_text_with_field("title", &format!("\"{}\"", "t".repeat(201))),
            load::LoadOptions::USER,
        );
        assert!(
            loaded
                .diags
                .iter()
                .any(|diag| diag.message == "a title of 201 bytes; the limit is 200")
        );
    }

    #[test]
    fn diagnostics_of_broken_syntax_are_limited() {
        for text in [
            "{",
            "}",
            "[",
            "]",
            "\"",
            "'",
            "\\",
            "#\n[",
            "[\n",
            "{\n",
            "a\n",
            "[[rule]]\n",
            "[[off]]\n",
            "a = [",
            "a={b=",
        ] {
            let loaded = load::parse_rule_file(
                "a.toml",
                &text.repeat(10_000 / text.len()),
                load::LoadOptions::USER,
            );
            let few = 1..=MAX_LISTED + 1;
            assert!(
                few.contains(&loaded.diags.len()),
                "{text:?}: {} mistakes",
                loaded.diags.len()
            );
            assert!(loaded.rules.is_empty());
        }
    }

    #[test]
    fn file_and_list_sizes_are_limited() {
        let says = |text: &str| {
            load::parse_rule_file("a.toml", text, load::LoadOptions::USER)
                .diags
                .remove(0)
                .message
        };
        assert!(says(&"#".repeat((1 << 20) + 1)).ends_with("the limit is 1048576"));
        let many = "[[off]]\nrule = \"a.b\"\nbecause = \"c\"\n".repeat(1001);
        assert_eq!(says(&many), "a list of 1001 items; the limit is 1000");
    }
}
mod example_coverage {
    //! Checks that the examples of the built-in rules exercise every fact of the conditions:
    //! without a fact, some example must change its outcome. A fact without such an example is
    //! without a test, or unnecessary.

    use std::collections::BTreeSet;

    use super::distinct_hosts::given_facts_mut;
    use crate::facts::{Reading, Value};
    use crate::rules::model::{Condition, ExampleFact, FactTest, Rule, RuleExample};
    use crate::rules::{RuleSet, builtin, examples};

    fn collect_fact_tests<'a>(cond: &'a Condition, tests: &mut Vec<&'a FactTest>) {
        match cond {
            Condition::All(kids) | Condition::Any(kids) => {
                kids.iter().for_each(|kid| collect_fact_tests(kid, tests));
            }
            Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
                collect_fact_tests(kid, tests);
            }
            Condition::Fact(test) => tests.push(test),
        }
    }

    fn examples_without_fact(example: &RuleExample, fact: &str) -> Vec<RuleExample> {
        let mut all = Vec::new();
        for place in 0.. {
            let mut other = example.clone();
            let given = given_facts_mut(&mut other);
            let known = |given: &&mut ExampleFact| given.0.name == fact && given.1.is_known();
            let Some((_, reading)) = given.into_iter().filter(known).nth(place) else {
                return all;
            };
            *reading = Reading::<Value>::denied("taken away");
            all.push(other);
        }
        all
    }

    fn does_condition_depend_on_fact(rule: &Rule, example: &RuleExample, fact: &str) -> bool {
        let truth = |example: &RuleExample| {
            examples::evaluate_rule_on_example(rule, example)
                .trace
                .map(|trace| trace.truth)
        };
        examples_without_fact(example, fact)
            .iter()
            .any(|less| truth(less) != truth(example))
    }

    #[test]
    fn every_fact_of_a_condition_decides_some_example() {
        let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
        let mut idle = Vec::new();
        for rule in set.rules() {
            let mut tests = Vec::new();
            collect_fact_tests(&rule.when, &mut tests);
            let facts: BTreeSet<&str> = tests.iter().map(|test| test.fact.name).collect();
            for fact in facts {
                if !rule
                    .examples
                    .iter()
                    .any(|example| does_condition_depend_on_fact(rule, example, fact))
                {
                    idle.push(format!("{}: no example hangs on {fact}", rule.id));
                }
            }
        }
        assert!(idle.is_empty(), "{}", idle.join("\n"));
    }

    /// Rules must not test the rotational flag, because virtual disks and RAID volumes may report
    /// it wrongly (sysfs-block, queue/rotational).
    #[test]
    fn no_rule_tests_the_rotational_flag() {
        let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
        for rule in set.rules() {
            let mut tests = Vec::new();
            collect_fact_tests(&rule.when, &mut tests);
            for advice in &rule.advise {
                advice
                    .when
                    .iter()
                    .for_each(|when| collect_fact_tests(when, &mut tests));
            }
            assert!(
                tests
                    .iter()
                    .all(|test| test.fact.name != "device.rotational"),
                "{}",
                rule.id
            );
        }
    }
}
mod healthy_hosts;
mod manual;
mod mistakes;
mod mutants;
mod properties;
mod safety;
mod evaluation_scale {
    //! Checks that the work of judging grows linearly with the size of the host.
    //!
    //! The tests count results and bound conditions, which dominate the time of the rules; measured
    //! times would vary.

    use std::collections::BTreeMap;

    use super::distinct_hosts;
    use crate::facts::{FactSet, KeyInfo, Scope, Subject, catalog};
    use crate::rules::bound_condition::{BoundCondition, SubjectContext};
    use crate::rules::model::Condition;
    use crate::rules::{
        EvaluationOptions, Outcome, RuleSet, builtin, evaluate_rules, rule_subjects,
        subjects_in_scope_order,
    };

    /// Facts of `count` hosts, joined into one host. Each has a directory on a mount on two disks,
    /// a server and a boot line. `known` selects the known value of each fact.
    fn facts_of_many_hosts(
        count: usize,
        known: &BTreeMap<&'static str, usize>,
        set: &RuleSet,
    ) -> FactSet {
        let conds: Vec<&Condition> = set.rules().iter().map(|rule| &rule.when).collect();
        let values = distinct_hosts::distinct_fact_values(&conds);
        let mut facts = FactSet::default();
        let put = |facts: &mut FactSet, subject: &Subject| {
            let info = |name: &&'static str| {
                catalog::find_by_name(name).filter(|info| info.scope == subject.scope())
            };
            let of_scope = values.keys().filter_map(info);
            let read = |info: &KeyInfo| {
                distinct_hosts::observed_readings(
                    &values[info.name][known[info.name] % values[info.name].len()],
                )
                .remove(0)
            };
            of_scope.for_each(|info| facts.insert_untyped_value(subject, info, read(info)));
        };
        put(&mut facts, &Subject::host());
        for machine in 0..count {
            let at = |name: &str| format!("/{name}/{machine}");
            let (target, mount) = (Subject::target(at("data")), Subject::mount(at("data")));
            let (boot, cluster) = (Subject::boot(at("data")), Subject::cluster(at("data")));
            let disks = [Subject::device(at("sda")), Subject::device(at("sdb"))];
            facts.add_layer_below(&target, &mount);
            for disk in &disks {
                facts.add_layer_below(&mount, disk);
            }
            for (from, to) in [
                (&target, &mount),
                (&target, &cluster),
                (&cluster, &target),
                (&boot, &mount),
            ] {
                facts.set_fact_link(from, to);
            }
            for subject in [&target, &mount, &boot, &cluster, &disks[0], &disks[1]] {
                put(&mut facts, subject);
            }
        }
        facts
    }

    fn condition_count(ground: &BoundCondition<'_>) -> usize {
        1 + ground.children().iter().map(condition_count).sum::<usize>()
    }

    /// Numbers of conditions, findings, undecided findings, and subjects to which rules do not
    /// apply.
    fn evaluation_counts(set: &RuleSet, facts: &FactSet, host: bool) -> [usize; 4] {
        let about = |subject: &&Subject| host == (subject.scope() == Scope::Host);
        let mut conditions = 0;
        for rule in set.rules() {
            for subject in rule_subjects(rule, facts).iter().filter(about) {
                conditions += condition_count(&BoundCondition::from_context(
                    &rule.when,
                    &SubjectContext::new(facts, subject),
                ));
            }
        }
        let all = subjects_in_scope_order(facts);
        let all: Vec<Subject> = all.iter().filter(about).cloned().collect();
        let came_to = evaluate_rules(
            &all,
            set,
            facts,
            EvaluationOptions {
                live: true,
                traced: false,
            },
        );
        let undecided = came_to
            .findings
            .iter()
            .filter(|finding| finding.outcome != Outcome::Applies)
            .count();
        let not = came_to
            .tallies
            .iter()
            .map(|tally| tally.does_not_apply.len())
            .sum();
        [conditions, came_to.findings.len(), undecided, not]
    }

    #[test]
    #[ignore = "exhaustive"]
    fn evaluation_work_grows_linearly_with_hosts() {
        let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
        let names = set
            .rules()
            .iter()
            .flat_map(|rule| distinct_hosts::distinct_fact_values(&[&rule.when]).into_keys());
        let names: Vec<&'static str> = names.collect();
        for round in 0..3 {
            let known = names
                .iter()
                .enumerate()
                .map(|(index, name)| (*name, index * round))
                .collect();
            let one = facts_of_many_hosts(1, &known, &set);
            let many = facts_of_many_hosts(200, &known, &set);
            assert!(subjects_in_scope_order(&many).len() > 1000);
            assert_eq!(
                evaluation_counts(&set, &many, false),
                evaluation_counts(&set, &one, false).map(|count| count * 200),
                "round {round}"
            );
            assert_eq!(
                evaluation_counts(&set, &many, true),
                evaluation_counts(&set, &one, true),
                "what the host is asked does not grow"
            );
        }
    }
}
mod distinct_hosts;
mod users;
mod wording;

use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::{
    Evaluation, EvaluationOptions, Outcome, RuleFile, RuleOutcomeCounts, RuleSet, evaluate_rules,
    examples, subjects_in_scope_order,
};
use crate::facts::{FactSet, Scope, Subject};

pub(super) const TODAY: Date = date(2026, 11, 23);

pub(super) fn good_rule_set() -> RuleSet {
    let text = include_str!("../../../../tests/rules/good.toml").to_owned();
    let (set, mistakes) = RuleSet::parse_as_builtin(&[RuleFile {
        name: "good.toml".to_owned(),
        text,
    }]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    set
}

#[test]
fn good_rules_pass_their_examples() {
    let failures: Vec<String> = examples::failures_of_rule_examples(good_rule_set().rules())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bad_rules_report_expected_diagnostics() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../../tests/rules/bad");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for entry in std::fs::read_dir(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/rules/bad"
        ))
        .unwrap()
        {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let name = format!("{stem}.toml");
            let text = std::fs::read_to_string(path).unwrap();
            let (_, mistakes) = RuleSet::parse_as_builtin(&[RuleFile { name, text }]);
            assert!(!mistakes.is_empty());
            let shown: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
            insta::assert_snapshot!(stem, shown.join("\n\n"));
        }
    });
}

#[test]
fn rules_about_disks_skip_subjects_without_disks() {
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
    let file = RuleFile {
        name: "any.toml".to_owned(),
        text: text.to_owned(),
    };
    let (set, mistakes) = RuleSet::parse_as_builtin(&[file]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    let (diskless, unseen) = (Subject::target("/shm"), Subject::target("/fuse"));
    let mut facts = FactSet::default();
    facts.add_subject(&diskless);
    facts.add_subject(&unseen);
    facts.mark_scope_inapplicable(&diskless, Scope::Device);
    let Evaluation { findings, tallies } = evaluate_rules(
        &subjects_in_scope_order(&facts),
        &set,
        &facts,
        EvaluationOptions {
            live: true,
            traced: true,
        },
    );
    let about: Vec<&Subject> = findings.iter().map(|finding| &finding.subject).collect();
    assert_eq!(about, [&unseen]);
    assert_eq!(
        findings[0].outcome,
        Outcome::Undecided { needs: Vec::new() }
    );
    assert_eq!(
        tallies,
        [RuleOutcomeCounts {
            undecided: 1,
            ..RuleOutcomeCounts::new("disk.memory")
        }]
    );
}

#[test]
fn ten_mistakes_are_ten_diagnostics() {
    let text = include_str!("../../../../tests/rules/bad/ten-mistakes.toml").to_owned();
    let (_, mistakes) = RuleSet::parse_as_builtin(&[RuleFile {
        name: "bad.toml".to_owned(),
        text,
    }]);
    assert_eq!(mistakes[0].diags.len(), 10, "{}", mistakes[0].render(false));
}

fn load_and_count_diagnostics(text: String) -> (RuleSet, usize) {
    let (set, mistakes) = RuleSet::parse_as_builtin(&[RuleFile {
        name: "any.toml".to_owned(),
        text,
    }]);
    let shown: String = mistakes
        .iter()
        .map(|file| file.render(true) + &file.render(false))
        .collect();
    assert_eq!(shown.is_empty(), mistakes.is_empty());
    (set, mistakes.iter().map(|file| file.diags.len()).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_loads_without_panic(text in any::<String>()) {
        load_and_count_diagnostics(text);
    }

    #[test]
    fn damaged_file_keeps_rules_or_reports_mistakes(at in 0..4000usize, length in 0..40usize, with in ".{0,8}") {
        let mut text = include_str!("../../../../tests/rules/good.toml").to_owned();
        let fit = |text: &str, at: usize| text.floor_char_boundary(at.min(text.len()));
        let (start, end) = (fit(&text, at), fit(&text, at + length));
        text.replace_range(start..end, &with);
        let (set, mistakes) = load_and_count_diagnostics(text);
        prop_assert!(mistakes > 0 || !set.rules().is_empty());
    }
}

#[test]
fn a_rule_is_switched_off_with_a_reason_and_ids_are_unique_across_files() {
    let file = |name: &str, text: &str| RuleFile {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let good = include_str!("../../../../tests/rules/good.toml");
    let off = "[[off]]\nrule = \"mount.ext4-nobarrier\"\nbecause = \"a   scratch disk\"\n";
    let (set, mistakes) =
        RuleSet::parse_as_builtin(&[file("good.toml", good), file("off.toml", off)]);
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(false));
    assert!(
        set.find("mount.ext4-nobarrier").is_none() && set.find("mount.barrier-option").is_some()
    );
    assert_eq!(set.disabled_rules()[0].because, "a scratch disk");

    let (set, mistakes) =
        RuleSet::parse_as_builtin(&[file("good.toml", good), file("again.toml", good)]);
    assert_eq!(set.rules().len(), 2);
    assert!(set.rules().iter().all(|rule| rule.file == "good.toml"));
    assert_eq!(
        mistakes[0].diags[0].help.as_deref(),
        Some("the first is in good.toml:4; give one of them another id")
    );
    assert_eq!(
        (mistakes[0].file.as_str(), mistakes[0].diags.len()),
        ("again.toml", 2)
    );
}

#[test]
fn every_example_of_a_critical_rule_has_a_remedy() {
    let set = RuleSet::builtin();
    for rule in set
        .rules()
        .iter()
        .filter(|rule| rule.level == super::Level::Critical)
    {
        for example in rule
            .examples
            .iter()
            .filter(|example| example.expect == super::model::ExpectedOutcome::Applies)
        {
            let finding = super::examples::evaluate_rule_on_example(rule, example);
            let advised = finding
                .advice
                .iter()
                .any(|advice| advice.change != super::Change::Keep);
            let told = finding.remedy.is_some_and(|remedy| !remedy.text.is_empty());
            assert!(advised || told, "{}: {}", rule.id, example.name);
        }
    }
}
