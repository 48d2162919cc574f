//! Compares walwise's answers for typical situations of database administrators
//! (`tests/situations.toml`), each a recorded host, with an expert's answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{check_json, report_findings, stderr, walwise};

const TEXT: &str = include_str!("../situations.toml");

static TABLE: LazyLock<SituationTable> = LazyLock::new(|| toml::from_str(TEXT).unwrap());

/// Situations are numbered from 1 without a gap.
const SITUATIONS: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SituationTable {
    situation: Vec<Situation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Situation {
    number: usize,
    name: String,
    host: String,
    target: String,
    expert: String,
    verdict: String,
    #[serde(default)]
    tells: Vec<String>,
    #[serde(default)]
    must: BTreeMap<String, String>,
    #[serde(default)]
    must_not: Vec<String>,
    #[serde(default)]
    change: BTreeSet<String>,
    #[serde(default)]
    keep: BTreeSet<String>,
    #[serde(default)]
    open: BTreeSet<String>,
    upgrade: Option<ExpectedUpgrade>,
    #[serde(default)]
    later: Vec<FutureStatement>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedUpgrade {
    to: String,
    fails: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FutureStatement {
    what: String,
    /// The id of the future rule, if chosen already.
    rule: Option<String>,
}

struct WalwiseAnswer {
    verdict: String,
    sentences: String,
    applies: BTreeMap<String, String>,
    /// Critical rules and warnings that lack a fact other than a measurement.
    open: BTreeSet<String>,
    change: BTreeSet<String>,
    keep: BTreeSet<String>,
}

fn as_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn as_list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether every fact that the finding needs could be read without a measurement; false if the
/// finding lists no fact.
fn needs_only_readable_facts(finding: &Value) -> bool {
    let needs = as_list(&finding["outcome"]["needs"])
        .iter()
        .flat_map(as_list);
    let facts: Vec<String> = needs.map(|need| as_text(&need["fact"])).collect();
    !facts.is_empty() && facts.iter().all(|fact| !fact.starts_with("probe."))
}

impl WalwiseAnswer {
    fn from_check(situation: &Situation) -> Self {
        let path = recorded_host_path(situation);
        let (_, report) = check_json(&[&situation.target, "--host", &path]);
        let subject = format!("target {}", situation.target);
        let found = as_list(&report["verdicts"])
            .iter()
            .find(|verdict| verdict["target"] == subject.as_str());
        let verdict =
            found.unwrap_or_else(|| panic!("{}: no verdict on {subject}", situation.name));
        let sentences = ["sentence", "host_loss", "limits"].map(|part| as_text(&verdict[part]));
        let sentences: Vec<String> = sentences
            .into_iter()
            .filter(|one| !one.is_empty())
            .collect();
        let rule = |finding: &Value| as_text(&finding["rule"]);
        let heavy = |finding: &&Value| {
            ["critical", "warning"].contains(&as_text(&finding["level"]).as_str())
        };
        let steps = as_list(&report["plans"])
            .iter()
            .flat_map(|plan| as_list(&plan["steps"]));
        let settings = |keep: bool| {
            let steps = steps
                .clone()
                .filter(|step| (step["level"] == "keep") == keep);
            // Every report keeps these settings, so the expert need not list them.
            let always = |step: &&Value| {
                [
                    "pg.sync-method-in-force",
                    "pg.sync-method-new-default",
                    "mount.options-keep",
                ]
                .iter()
                .any(|rule| step["rules"] == serde_json::json!([rule]))
            };
            let steps = steps.filter(|step| !always(step));
            steps
                .map(|step| as_text(&step["advice"]["setting"]))
                .collect()
        };
        Self {
            verdict: as_text(&verdict["standing"]),
            sentences: sentences.join(" "),
            applies: report_findings(&report)
                .filter(|finding| finding["outcome"]["outcome"] == "applies")
                .map(|finding| (rule(finding), as_text(&finding["level"])))
                .collect(),
            open: as_list(&report["undecided"])
                .iter()
                .filter(heavy)
                .filter(|finding| needs_only_readable_facts(finding))
                .map(rule)
                .collect(),
            change: settings(false),
            keep: settings(true),
        }
    }

    fn differences_from_expected(&self, situation: &Situation) -> Vec<String> {
        let Situation {
            verdict,
            tells,
            must,
            must_not,
            change,
            keep,
            open,
            later,
            ..
        } = situation;
        let mut wrong = Vec::new();
        if self.verdict != *verdict {
            wrong.push(format!(
                "the verdict is {verdict}, and walwise says {}",
                self.verdict
            ));
        }
        for words in tells
            .iter()
            .filter(|words| !self.sentences.contains(words.as_str()))
        {
            wrong.push(format!("`{words}` is not said: {}", self.sentences));
        }
        for (rule, level) in must
            .iter()
            .filter(|(rule, level)| self.applies.get(*rule) != Some(level))
        {
            wrong.push(format!(
                "{rule} ({level}) is demanded, and walwise has {:?}",
                self.applies.get(rule)
            ));
        }
        for rule in must_not
            .iter()
            .filter(|rule| self.applies.contains_key(*rule))
        {
            wrong.push(format!("{rule} applies"));
        }
        for (what, demanded, is) in [
            ("changes", change, &self.change),
            ("keeps", keep, &self.keep),
            ("leaves open", open, &self.open),
        ] {
            if demanded != is {
                wrong.push(format!(
                    "the expert {what} {demanded:?}, and walwise {is:?}"
                ));
            }
        }
        for FutureStatement { what, rule } in later {
            if rule
                .as_ref()
                .is_some_and(|rule| self.applies.contains_key(rule))
            {
                wrong.push(format!(
                    "{rule:?} applies now and belongs into `must`: {what}"
                ));
            }
        }
        wrong
    }
}

pub fn recorded_target(host: &str) -> Option<&'static str> {
    TABLE
        .situation
        .iter()
        .find(|situation| situation.host == host)
        .map(|found| found.target.as_str())
}

fn recorded_host_path(situation: &Situation) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(&situation.host);
    path.with_extension("host").to_str().unwrap().to_owned()
}

fn upgrade_failures(situation: &Situation, to: &str) -> BTreeMap<String, String> {
    let output = walwise()
        .args([
            "upgrade",
            "--host",
            &recorded_host_path(situation),
            "--os",
            to,
            "--format",
            "json",
        ])
        .output_in_time();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let fails = as_list(&report["upgrade"]["needs"])
        .iter()
        .filter(|need| need["answer"] != "works");
    let why = |need: &Value| {
        as_list(&need["why"])
            .iter()
            .map(as_text)
            .collect::<Vec<_>>()
            .join("; ")
    };
    fails
        .map(|need| (as_text(&need["name"]), why(need)))
        .collect()
}

#[test]
fn every_situation_is_answered_as_an_expert_answers_it() {
    let numbers: Vec<usize> = TABLE
        .situation
        .iter()
        .map(|situation| situation.number)
        .collect();
    assert_eq!(numbers, (1..=SITUATIONS).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for situation in &TABLE.situation {
        let answer = WalwiseAnswer::from_check(situation);
        let mut differs = answer.differences_from_expected(situation);
        if let Some(ExpectedUpgrade { to, fails }) = &situation.upgrade {
            let is = upgrade_failures(situation, to);
            let as_said = fails.len() == is.len()
                && fails
                    .iter()
                    .all(|(name, words)| is.get(name).is_some_and(|why| why.contains(words)));
            if !as_said {
                differs.push(format!(
                    "after the move to {to} {fails:?} fails, and walwise says {is:?}"
                ));
            }
        }
        let Situation {
            number,
            name,
            host,
            expert,
            ..
        } = situation;
        eprintln!(
            "{number}. {name} ({host}): {}. {}",
            answer.verdict, answer.sentences
        );
        if !differs.is_empty() {
            wrong.push(format!(
                "{number}. {name}: {}\nThe expert: {}",
                differs.join("; "),
                expert.trim()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
