//! Advice that was right ten years ago and is wrong today (`tests/traps.toml`). For each trap,
//! walwise must not give the advice on certain hosts, and gives the current rule instead.

use std::collections::BTreeSet;

use serde::Deserialize;
use walwise_judge::compat::{KernelPart, kernel_part_support, mount_options_support};
use walwise_judge::rules::{Advice, Outcome};
use walwise_model::facts::Subject;
use walwise_model::version::Version;
use walwise_report::{Report, script};

use crate::support::test_host::TestHost;

const TEXT: &str = include_str!("../traps.toml");

/// Traps are numbered from 1 without a gap.
const TRAPS: usize = 72;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvicePitfallTable {
    trap: Vec<AdvicePitfall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvicePitfall {
    number: usize,
    naive: String,
    right: String,
    not_applicable: Option<String>,
    #[serde(default)]
    case: Vec<AdvicePitfallCase>,
    #[serde(default)]
    row: Vec<MountOptionRow>,
    #[serde(default)]
    tests: Vec<String>,
}

type FactWords = std::collections::BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvicePitfallCase {
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    cluster: bool,
    #[serde(default)]
    over: Option<String>,
    #[serde(default)]
    top: FactWords,
    #[serde(default)]
    facts: FactWords,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    silent: Vec<String>,
    #[serde(default)]
    tells: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    only_option: Vec<String>,
    verdict: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MountOptionRow {
    fs: String,
    options: String,
    #[serde(default)]
    mounted: String,
    kernel: String,
    vendor: String,
    is: String,
}

fn read_advice_pitfalls() -> Vec<AdvicePitfall> {
    toml::from_str::<AdvicePitfallTable>(TEXT)
        .unwrap_or_else(|error| panic!("{error}"))
        .trap
}

impl AdvicePitfallCase {
    fn report(&self) -> Report {
        let mut machine = match self.on.as_deref() {
            None | Some("plain") => TestHost::new_with_volatile_cache(),
            Some("protected") => TestHost::new_with_protected_cache(),
            Some(other) => panic!("no machine is called {other}"),
        };
        if let Some(kind) = &self.over {
            machine = machine.with_layer(kind);
        }
        if self.cluster {
            machine = machine.with_cluster();
        }
        for (fact, word) in &self.facts {
            machine.set_fact(fact, word);
        }
        for (fact, word) in &self.top {
            machine.set_fact_of(&Subject::device("top"), fact, word);
        }
        machine.report(true)
    }

    fn case_deviations(&self) -> Vec<String> {
        let report = self.report();
        let mut problems = Vec::new();
        let applying: BTreeSet<&str> = report
            .findings
            .iter()
            .filter(|finding| finding.outcome == Outcome::Applies)
            .map(|finding| finding.rule.as_str())
            .collect();
        let known: BTreeSet<&str> = report
            .rules
            .iter()
            .map(|tally| tally.rule.as_str())
            .collect();
        for rule in self
            .says
            .iter()
            .filter(|rule| !applying.contains(rule.as_str()))
        {
            problems.push(format!("{rule} does not apply"));
        }
        for rule in &self.silent {
            if applying.contains(rule.as_str()) || !known.contains(rule.as_str()) {
                problems.push(format!("{rule} applies, or is no rule"));
            }
        }
        for wanted in &self.tells {
            let (rule, words) = wanted.split_once(": ").expect("RULE: words");
            let told = report.findings.iter().any(|finding| {
                let is = finding.rule == rule && finding.outcome == Outcome::Applies;
                is && format!("{} {}", finding.title, finding.because).contains(words)
            });
            if !told {
                problems.push(format!("{rule} does not say: {words}"));
            }
        }
        let steps = report
            .plans
            .iter()
            .flat_map(|plan| &plan.steps)
            .map(|step| &step.advice);
        let options = report
            .plans
            .iter()
            .flat_map(|plan| &plan.options)
            .map(|step| &step.advice);
        let found = report.findings.iter().flat_map(|finding| &finding.advice);
        let everything: BTreeSet<String> = steps
            .clone()
            .chain(options)
            .chain(found)
            .flat_map(advised_settings)
            .collect();
        let steps: BTreeSet<String> = steps.flat_map(advised_settings).collect();
        problems.extend(
            self.never
                .iter()
                .filter(|word| everything.contains(*word))
                .map(|w| format!("advises {w}")),
        );
        problems.extend(
            self.only_option
                .iter()
                .filter(|w| steps.contains(*w))
                .map(|w| format!("plans {w}")),
        );
        // A host without a script has no command that follows the advice.
        let script = script::render(&report).unwrap_or_default();
        let active = script
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .collect::<String>();
        for value in self
            .never
            .iter()
            .filter_map(|word| word.split_once(": "))
            .map(|(_, value)| value)
        {
            if value.len() > 8 && active.contains(value) {
                problems.push(format!("the script does {value}"));
            }
        }
        if let Some(wanted) = &self.verdict {
            let seen = report
                .verdicts
                .first()
                .map(|verdict| verdict.standing.as_str());
            if seen != Some(wanted) {
                problems.push(format!("the verdict is {seen:?} and not {wanted}"));
            }
        }
        problems
    }
}

fn advised_settings(advice: &Advice) -> Vec<String> {
    advice
        .change
        .set_or_added_values()
        .iter()
        .map(|value| format!("{}: {value}", advice.setting))
        .collect()
}

impl MountOptionRow {
    fn mount_option_effect(&self) -> &'static str {
        let list = |text: &str| -> Vec<String> {
            text.split(',')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let backports = self.vendor.starts_with("el") || self.vendor == "sles";
        let kernel = Version::parse(&self.kernel)
            .unwrap()
            .with_backports(backports);
        if self.fs == "scheduler" {
            return kernel_part_support(
                KernelPart::Scheduler,
                &self.options,
                &kernel,
                &self.vendor,
                false,
            )
            .effect
            .as_str();
        }
        let rulings = mount_options_support(
            &self.fs,
            &list(&self.options),
            &list(&self.mounted),
            &kernel,
            &self.vendor,
        );
        rulings.last().unwrap().effect.as_str()
    }
}

#[test]
fn outdated_advice_is_not_given() {
    let mut problems = Vec::new();
    for trap in read_advice_pitfalls() {
        let number = trap.number;
        for (index, case) in trap.case.iter().enumerate() {
            let said = case.case_deviations().into_iter();
            problems.extend(
                said.map(|problem| format!("trap {number}, case {}: {problem}", index + 1)),
            );
        }
        for row in &trap.row {
            let is = row.mount_option_effect();
            if is != row.is {
                problems.push(format!(
                    "trap {number}: {} {} on {} ({}) is {is} and not {}",
                    row.fs, row.options, row.kernel, row.vendor, row.is
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_pitfall_is_tested_or_explained() {
    let traps = read_advice_pitfalls();
    let numbers: Vec<usize> = traps.iter().map(|trap| trap.number).collect();
    assert_eq!(numbers, (1..=TRAPS).collect::<Vec<_>>());
    for trap in &traps {
        assert!(
            trap.naive.ends_with('.') && trap.right.ends_with('.'),
            "trap {}",
            trap.number
        );
        let shown = !trap.case.is_empty() || !trap.row.is_empty() || !trap.tests.is_empty();
        assert!(
            shown != trap.not_applicable.is_some(),
            "trap {} is neither shown nor not applicable",
            trap.number
        );
        for case in &trap.case {
            let checks = [
                &case.says,
                &case.silent,
                &case.tells,
                &case.never,
                &case.only_option,
            ];
            let checked = checks.iter().any(|list| !list.is_empty()) || case.verdict.is_some();
            assert!(checked, "a case of trap {} shows nothing", trap.number);
        }
    }
}

#[test]
fn tests_named_by_pitfalls_exist() {
    for trap in read_advice_pitfalls() {
        for test in &trap.tests {
            let (file, name) = test.split_once(": ").expect("file: test");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
            let before = text
                .split_once(&format!("fn {name}("))
                .map(|(before, _)| before);
            let above = before
                .and_then(|before| before.rsplit_once("#[test]"))
                .map(|(_, above)| above);
            let attributes = |above: &str| {
                above
                    .lines()
                    .all(|l| l.trim().is_empty() || l.trim().starts_with("#["))
            };
            assert!(above.is_some_and(attributes), "{test}");
        }
    }
}
