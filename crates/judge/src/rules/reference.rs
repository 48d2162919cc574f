//! The reference of the built-in rules, as Markdown, generated from the loaded rules. Section
//! headings are the first comments of the rule files.

use crate::settings::Setting;
use std::collections::BTreeMap;

use super::builtin;
use super::evidence::Study;
use super::model::{AdviceSpec, ChangeSpec, Condition, ExpectedOutcome, Op, Relation, Rule};
use super::rule_set::RuleSet;
use super::template::Template;
use crate::facts::KeyInfo;

const HEAD: &str = "\
# Reference of the rules

What walwise knows, rule by rule. `cargo xtask reference` makes this page from the rules; `walwise explain RULE` shows
one with the facts of a machine.

A rule *applies* when its condition holds, and is *undecided* while something unknown could still change that; advice that
can lose data is given only when every fact that decides it was read on the machine itself. `{fact}` stands for what is
known of the fact, `{fact? of }` for ` of ` and the fact, or for nothing while it is unknown. `{subject}` is the name of what
the rule is about, `{which}` names what of its stack the condition found.

";

pub fn render() -> String {
    let set = RuleSet::builtin();
    let mut page = MarkdownBuilder {
        text: HEAD.to_owned(),
    };
    let files: Vec<(&str, &str)> = builtin::builtin_sources().collect();
    page.line(0, "## Contents");
    page.line(0, "");
    for (file, text) in &files {
        page.line(
            0,
            &format!(
                "- {} ([{}]({}))",
                file_title(text),
                base_name(file),
                base_name(file)
            ),
        );
        for rule in rules_of_file(&set, file) {
            page.line(
                1,
                &format!(
                    "- [{}](#{}): {}",
                    rule.id,
                    anchor(&rule.id),
                    template_markdown(&rule.title)
                ),
            );
        }
    }
    page.line(0, &format!("- [The facts](#{})", "the-facts"));
    for (file, text) in &files {
        page.line(0, &format!("\n## {}", file_title(text)));
        rules_of_file(&set, file).for_each(|rule| page.rule(rule));
    }
    page.facts(&set);
    page.text
}

fn rules_of_file<'s>(set: &'s RuleSet, file: &'s str) -> impl Iterator<Item = &'s Rule> {
    set.rules().iter().filter(move |rule| rule.file == file)
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// The first comment of a file, without full stop.
fn file_title(text: &str) -> String {
    let comment = text
        .lines()
        .map_while(|line| line.strip_prefix('#'))
        .map(str::trim);
    let comment = comment.collect::<Vec<_>>().join(" ");
    let sentence = comment
        .split_once(". ")
        .map_or(comment.as_str(), |(first, _)| first);
    escape_markdown(sentence.trim_end_matches('.'))
}

/// The anchor that renderers derive from a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect()
}

fn escape_markdown(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*")
}

fn template_markdown(template: &Template) -> String {
    escape_markdown(&template.source())
}

fn inline_code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{text}{fence}")
}

#[derive(Default)]
struct MarkdownBuilder {
    text: String,
}

impl MarkdownBuilder {
    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, text: &str) {
        self.line(0, &format!("\n**{text}**"));
        self.line(0, "");
    }

    fn rule(&mut self, rule: &Rule) {
        let Rule {
            id,
            since,
            scope,
            level,
            confidence,
            ..
        } = rule;
        self.line(0, &format!("\n### {id}"));
        self.heading(&template_markdown(&rule.title));
        let (level, confidence) = (level.as_str(), confidence.as_str());
        self.line(
            0,
            &format!("*{level}, {confidence}; about a {scope}; since {since}*"),
        );
        self.line(0, "");
        self.line(0, &template_markdown(&rule.because));
        self.heading("Applies when");
        self.condition(0, &rule.when);
        self.undecided(rule);
        self.line(
            0,
            &format!(
                "\nThe question is then: {}",
                template_markdown(&rule.question)
            ),
        );
        self.heading("Examples");
        for expect in ExpectedOutcome::ALL {
            for example in rule
                .examples
                .iter()
                .filter(|example| example.expect == expect)
            {
                self.line(
                    0,
                    &format!("- {}: {}", expect.as_str(), escape_markdown(&example.name)),
                );
            }
        }
        if !rule.advise.is_empty() {
            self.heading("Advises");
            rule.advise.iter().for_each(|advice| self.advice(advice));
        }
        if let Some(remedy) = &rule.remedy {
            let lead = if rule.advise.is_empty() {
                "Fix"
            } else {
                "Fix, if none of that is given"
            };
            self.heading(lead);
            self.line(0, &template_markdown(remedy));
        }
        if let Some(none) = &rule.no_remedy {
            self.heading(if rule.remedy.is_some() {
                "If that is unknown"
            } else {
                "No fix here"
            });
            self.line(0, &template_markdown(none));
        }
        if !rule.overrides.is_empty() {
            let ids: Vec<String> = rule
                .overrides
                .iter()
                .map(|id| format!("[{id}](#{})", anchor(id)))
                .collect();
            self.line(
                0,
                &format!(
                    "\nIf both advise different values for one setting, it wins over {}.",
                    ids.join(", ")
                ),
            );
        }
        if !rule.evidence.is_empty() {
            self.heading("Evidence");
            rule.evidence
                .iter()
                .for_each(|evidence| self.evidence(evidence));
        }
        self.heading("Sources");
        rule.refs
            .iter()
            .for_each(|source| self.line(0, &format!("- {}", escape_markdown(source))));
    }

    /// A condition as nested lists.
    fn condition(&mut self, depth: usize, cond: &Condition) {
        let of = |relation: &Relation| match relation {
            Relation::Leaf => "disk at the bottom of the stack",
            Relation::Layer => "block device of the stack",
            Relation::Mount => "file system of the stack",
        };
        let (says, kids) = match cond {
            Condition::All(kids) => ("all of these:".to_owned(), kids.as_slice()),
            Condition::Any(kids) => ("at least one of these:".to_owned(), kids.as_slice()),
            Condition::Not(kid) => ("not:".to_owned(), std::slice::from_ref(&**kid)),
            Condition::Every(relation, kid) => (
                format!("for every {}:", of(relation)),
                std::slice::from_ref(&**kid),
            ),
            Condition::Some(relation, kid) => (
                format!("for at least one {}:", of(relation)),
                std::slice::from_ref(&**kid),
            ),
            Condition::Fact(test) => {
                let label = test.label();
                let rest = label.strip_prefix(test.fact.name).unwrap_or(&label);
                self.line(
                    depth,
                    &format!("- {}{}", inline_code(test.fact.name), escape_markdown(rest)),
                );
                return;
            }
        };
        self.line(depth, &format!("- {says}"));
        for kid in kids {
            self.condition(depth + 1, kid);
        }
    }

    /// Facts that leave the rule undecided while unknown; tests of `known` always have an answer.
    fn undecided(&mut self, rule: &Rule) {
        let mut facts: Vec<&str> = Vec::new();
        rule.when.for_each_test(&mut |test| {
            if !matches!(test.op, Op::Known(_)) && !facts.contains(&test.fact.name) {
                facts.push(test.fact.name);
            }
        });
        self.heading("Undecided while");
        let facts: Vec<String> = facts.into_iter().map(inline_code).collect();
        match facts.as_slice() {
            [] => self.line(0, "its stack is not known."),
            [one] => self.line(0, &format!("{one} is not known.")),
            [some @ .., last] => {
                let some = some.join(", ");
                self.line(
                    0,
                    &format!("{some} or {last} is not known and could still change the answer."),
                );
            }
        }
    }

    fn advice(&mut self, advice: &AdviceSpec) {
        let does = match &advice.change {
            ChangeSpec::Fixed(change) => escape_markdown(&change.describe()),
            ChangeSpec::SetFrom(fact) => format!("set it to {}", inline_code(fact.name)),
            ChangeSpec::AddFrom(fact) => format!("add what {} lists", inline_code(fact.name)),
            ChangeSpec::RemoveFrom(fact) => format!("remove what {} lists", inline_code(fact.name)),
        };
        self.line(
            0,
            &format!("- {}: {does}", inline_code(advice.setting.name)),
        );
        let words = |word: &str| word.replace('-', " ");
        let (reach, risk) = (words(advice.reach.as_str()), words(advice.risk.as_str()));
        let rank = advice
            .rank
            .map(|rank| format!("; choice {rank}"))
            .unwrap_or_default();
        self.line(1, &format!("- affects: {reach}; risk: {risk}{rank}"));
        if let Some(when) = &advice.when {
            self.line(1, "- only when:");
            self.condition(2, when);
        }
        if let Some(price) = &advice.tradeoff {
            self.line(1, &format!("- trade-off: {}", template_markdown(price)));
        }
        for (what, commands) in [
            ("apply", &advice.apply),
            ("verify", &advice.verify),
            ("undo", &advice.undo),
        ] {
            for command in commands {
                self.line(1, &format!("- {what}: {}", inline_code(&command.source())));
            }
        }
    }

    fn evidence(&mut self, evidence: &Study) {
        for (depth, line) in evidence
            .lines()
            .iter()
            .enumerate()
            .map(|(at, line)| (usize::from(at > 0), line))
        {
            self.line(depth, &format!("- {}", escape_markdown(line)));
        }
    }

    /// Every fact and setting that a rule names, with its description.
    fn facts(&mut self, set: &RuleSet) {
        let mut facts: BTreeMap<&str, &KeyInfo> = BTreeMap::new();
        let mut advised: BTreeMap<&str, &Setting> = BTreeMap::new();
        for rule in set.rules() {
            let conditions = std::iter::once(&rule.when)
                .chain(rule.advise.iter().filter_map(|a| a.when.as_ref()));
            for cond in conditions {
                cond.for_each_test(&mut |test| {
                    facts.insert(test.fact.name, test.fact);
                });
            }
            advised.extend(
                rule.advise
                    .iter()
                    .map(|advice| (advice.setting.name, advice.setting)),
            );
        }
        self.line(0, "\n## The facts");
        self.line(0, "");
        for fact in facts.values() {
            let of = format!("of a {}, {}", fact.scope, fact.kind.description());
            self.line(
                0,
                &format!(
                    "- {} ({}): {}",
                    inline_code(fact.name),
                    escape_markdown(&of),
                    escape_markdown(fact.doc)
                ),
            );
        }
        self.line(0, "\n## The settings");
        self.line(0, "");
        for setting in advised.values() {
            self.line(
                0,
                &format!(
                    "- {}: {}",
                    inline_code(setting.name),
                    escape_markdown(setting.doc)
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule appears once, and every internal link has a target.
    #[test]
    fn every_rule_has_a_section_and_every_link_leads_to_one() {
        let text = render();
        let headings: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
            .map(str::to_owned)
            .collect();
        let ids: Vec<String> = RuleSet::builtin()
            .rules()
            .iter()
            .map(|rule| rule.id.clone())
            .collect();
        assert_eq!(headings, ids);
        let targets: std::collections::BTreeSet<String> = ids.iter().map(|id| anchor(id)).collect();
        assert_eq!(targets.len(), ids.len(), "two headings with one anchor");
        for link in text
            .split("](#")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            assert!(targets.contains(link) || link == "the-facts", "{link}");
        }
    }
}
