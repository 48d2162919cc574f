//! Situations that a database administrator meets (`tests/situations.toml`), each a recorded host
//! with the answer of an expert. What walwise says of each is compared with that answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{check_json, findings, stderr, walwise};

const TEXT: &str = include_str!("../situations.toml");

static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(TEXT).unwrap());

/// They are numbered from 1 without a gap.
const SITUATIONS: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
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
    upgrade: Option<Upgrade>,
    #[serde(default)]
    later: Vec<Later>,
}

/// What `walwise upgrade` says of a move to another release.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Upgrade {
    to: String,
    fails: BTreeMap<String, String>,
}

/// What an expert says, too, and walwise does not yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Later {
    what: String,
    /// The rule that will say it, where it is named already.
    rule: Option<String>,
}

/// What walwise says of a target.
struct Answer {
    verdict: String,
    sentences: String,
    /// Rules that apply, with the level.
    applies: BTreeMap<String, String>,
    /// Critical rules and warnings that a fact would decide, and not a measurement.
    open: BTreeSet<String>,
    change: BTreeSet<String>,
    keep: BTreeSet<String>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether a fact other than a measurement would decide an open finding. Below a layer that hides
/// the disks there is none.
fn waits_for_a_fact(finding: &Value) -> bool {
    let needs = list(&finding["outcome"]["needs"]).iter().flat_map(list);
    let facts: Vec<String> = needs.map(|need| text(&need["fact"])).collect();
    !facts.is_empty() && facts.iter().all(|fact| !fact.starts_with("probe."))
}

impl Answer {
    fn of(situation: &Situation) -> Self {
        let path = host(situation);
        let (_, report) = check_json(&[&situation.target, "--host", &path]);
        let subject = format!("target {}", situation.target);
        let found = list(&report["verdicts"])
            .iter()
            .find(|verdict| verdict["target"] == subject.as_str());
        let verdict =
            found.unwrap_or_else(|| panic!("{}: no verdict on {subject}", situation.name));
        let sentences = ["sentence", "host_loss", "limits"].map(|part| text(&verdict[part]));
        let sentences: Vec<String> = sentences
            .into_iter()
            .filter(|one| !one.is_empty())
            .collect();
        let rule = |finding: &Value| text(&finding["rule"]);
        let heavy =
            |finding: &&Value| ["critical", "warning"].contains(&text(&finding["level"]).as_str());
        let steps = list(&report["plans"])
            .iter()
            .flat_map(|plan| list(&plan["steps"]));
        let settings = |keep: bool| {
            let steps = steps
                .clone()
                .filter(|step| (step["level"] == "keep") == keep);
            // Every report says of these that they stay; an expert need not.
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
            steps.map(|step| text(&step["advice"]["setting"])).collect()
        };
        Self {
            verdict: text(&verdict["standing"]),
            sentences: sentences.join(" "),
            applies: findings(&report)
                .filter(|finding| finding["outcome"]["outcome"] == "applies")
                .map(|finding| (rule(finding), text(&finding["level"])))
                .collect(),
            open: list(&report["undecided"])
                .iter()
                .filter(heavy)
                .filter(|finding| waits_for_a_fact(finding))
                .map(rule)
                .collect(),
            change: settings(false),
            keep: settings(true),
        }
    }

    /// Where it differs from what the expert demands.
    fn differences(&self, situation: &Situation) -> Vec<String> {
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
        for Later { what, rule } in later {
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

/// The target of a recorded host that is one of the situations.
pub fn target_of(host: &str) -> Option<&'static str> {
    TABLE
        .situation
        .iter()
        .find(|situation| situation.host == host)
        .map(|found| found.target.as_str())
}

fn host(situation: &Situation) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(&situation.host);
    path.with_extension("host").to_str().unwrap().to_owned()
}

/// What fails after a move to another release, by name with the reason.
fn failures(situation: &Situation, to: &str) -> BTreeMap<String, String> {
    let output = walwise()
        .args([
            "upgrade",
            "--host",
            &host(situation),
            "--os",
            to,
            "--format",
            "json",
        ])
        .output_in_time();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let fails = list(&report["upgrade"]["needs"])
        .iter()
        .filter(|need| need["answer"] != "works");
    let why = |need: &Value| {
        list(&need["why"])
            .iter()
            .map(text)
            .collect::<Vec<_>>()
            .join("; ")
    };
    fails.map(|need| (text(&need["name"]), why(need))).collect()
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
        let answer = Answer::of(situation);
        let mut differs = answer.differences(situation);
        if let Some(Upgrade { to, fails }) = &situation.upgrade {
            let is = failures(situation, to);
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
