//! Generates the reference of the built-in rules as Markdown. Section headings are the first
//! comments of the rule files.

use crate::settings::Setting;
use std::collections::BTreeMap;

use super::builtin;
use super::evidence::Study;
use super::model::{
    AdviceSpec, ChangeEffect, ChangeSpec, Condition, ExpectedOutcome, QuantifiedElement, Rule,
    TestOperator,
};
use super::rule_set::RuleSet;
use super::template::Template;
use crate::facts::KeyInfo;

const HEAD: &str = "\
# Reference of the rules

All built-in rules, one section each. `cargo xtask reference` generates this page from the rules; `walwise explain RULE`
shows a rule with the facts of a host.

A rule *applies* when its condition holds, and is *undecided* while an unknown fact could still change the result. Advice
that can lose data is given only if every deciding fact was read on the host itself. `{fact}` stands for the value of a
fact. `{fact? of }` stands for ` of ` and the value, or for nothing if the fact is unknown. `{subject}` is the name of the
rule's subject; `{which}` lists the layers or disks that the condition found.

";

pub fn render_rule_reference() -> String {
    let set = RuleSet::builtin();
    let mut page = MarkdownBuilder {
        text: HEAD.to_owned(),
    };
    let files: Vec<(&str, &str)> = builtin::builtin_sources().collect();
    page.write_line(0, "## Contents");
    page.write_line(0, "");
    for (file, text) in &files {
        page.write_line(
            0,
            &format!(
                "- {} ([{}]({}))",
                file_title(text),
                base_name(file),
                base_name(file)
            ),
        );
        for rule in rules_of_file(&set, file) {
            page.write_line(
                1,
                &format!(
                    "- [{}](#{}): {}",
                    rule.id,
                    heading_anchor(&rule.id),
                    template_markdown(&rule.title)
                ),
            );
        }
    }
    page.write_line(0, &format!("- [The facts](#{})", "the-facts"));
    for (file, text) in &files {
        page.write_line(0, &format!("\n## {}", file_title(text)));
        rules_of_file(&set, file).for_each(|rule| page.write_rule(rule));
    }
    page.write_facts_and_settings(&set);
    page.text
}

fn rules_of_file<'s>(set: &'s RuleSet, file: &'s str) -> impl Iterator<Item = &'s Rule> {
    set.rules().iter().filter(move |rule| rule.file == file)
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

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

/// The anchor that Markdown renderers derive from the heading of a rule, its id.
fn heading_anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect()
}

fn escape_markdown(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*")
}

fn template_markdown(template: &Template) -> String {
    escape_markdown(&template.as_written())
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
    fn write_line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn write_bold_heading(&mut self, text: &str) {
        self.write_line(0, &format!("\n**{text}**"));
        self.write_line(0, "");
    }

    fn write_rule(&mut self, rule: &Rule) {
        let Rule {
            id,
            since,
            scope,
            level,
            confidence,
            ..
        } = rule;
        self.write_line(0, &format!("\n### {id}"));
        self.write_bold_heading(&template_markdown(&rule.title));
        let (level, confidence) = (level.as_str(), confidence.as_str());
        let by = match rule.change.map(ChangeEffect::is_predicted) {
            Some(true) => "; used only by `walwise upgrade`",
            Some(false) => "; used only to explain a shift in commit latency",
            None => "",
        };
        self.write_line(
            0,
            &format!("*{level}, {confidence}; scope: {scope}; since {since}{by}*"),
        );
        self.write_line(0, "");
        self.write_line(0, &template_markdown(&rule.because));
        self.write_bold_heading("Applies when");
        self.write_condition(0, &rule.when);
        self.write_undecided_facts(rule);
        self.write_line(
            0,
            &format!(
                "\nThe question is then: {}",
                template_markdown(&rule.question)
            ),
        );
        self.write_bold_heading("Examples");
        for expect in ExpectedOutcome::ALL {
            for example in rule
                .examples
                .iter()
                .filter(|example| example.expect == expect)
            {
                self.write_line(
                    0,
                    &format!("- {}: {}", expect.as_str(), escape_markdown(&example.name)),
                );
            }
        }
        if !rule.advise.is_empty() {
            self.write_bold_heading("Advises");
            rule.advise
                .iter()
                .for_each(|advice| self.write_advice(advice));
        }
        if let Some(remedy) = &rule.remedy {
            let lead = if rule.advise.is_empty() {
                "Fix"
            } else {
                "Fix if no advice above applies"
            };
            self.write_bold_heading(lead);
            self.write_line(0, &template_markdown(remedy));
        }
        if let Some(none) = &rule.no_remedy {
            self.write_bold_heading(if rule.remedy.is_some() {
                "If the fix is unknown"
            } else {
                "No fix here"
            });
            self.write_line(0, &template_markdown(none));
        }
        if !rule.overrides.is_empty() {
            let ids: Vec<String> = rule
                .overrides
                .iter()
                .map(|id| format!("[{id}](#{})", heading_anchor(id)))
                .collect();
            self.write_line(
                0,
                &format!(
                    "\nIf both advise different values for one setting, this rule takes precedence over {}.",
                    ids.join(", ")
                ),
            );
        }
        if !rule.evidence.is_empty() {
            self.write_bold_heading("Evidence");
            rule.evidence
                .iter()
                .for_each(|evidence| self.write_evidence(evidence));
        }
        self.write_bold_heading("Sources");
        rule.refs
            .iter()
            .for_each(|source| self.write_line(0, &format!("- {}", escape_markdown(source))));
    }

    fn write_condition(&mut self, depth: usize, cond: &Condition) {
        let of = |relation: &QuantifiedElement| match relation {
            QuantifiedElement::Leaf => "disk at the bottom of the stack",
            QuantifiedElement::Layer => "block device in the stack",
            QuantifiedElement::Mount => "file system in the stack",
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
                self.write_line(
                    depth,
                    &format!("- {}{}", inline_code(test.fact.name), escape_markdown(rest)),
                );
                return;
            }
        };
        self.write_line(depth, &format!("- {says}"));
        for kid in kids {
            self.write_condition(depth + 1, kid);
        }
    }

    /// Lists the facts that can leave the rule undecided. A test of `known` always has a result, so
    /// such a test adds no fact.
    fn write_undecided_facts(&mut self, rule: &Rule) {
        let mut facts: Vec<&str> = Vec::new();
        rule.when.for_each_test(&mut |test| {
            if !matches!(test.op, TestOperator::Known(_)) && !facts.contains(&test.fact.name) {
                facts.push(test.fact.name);
            }
        });
        self.write_bold_heading("Undecided while");
        let facts: Vec<String> = facts.into_iter().map(inline_code).collect();
        match facts.as_slice() {
            [] => self.write_line(0, "its stack is unknown."),
            [one] => self.write_line(0, &format!("{one} is unknown.")),
            [some @ .., last] => {
                let some = some.join(", ");
                self.write_line(
                    0,
                    &format!("{some} or {last} is unknown and could still change the result."),
                );
            }
        }
    }

    fn write_advice(&mut self, advice: &AdviceSpec) {
        let does = match &advice.change {
            ChangeSpec::Fixed(change) => escape_markdown(&change.describe()),
            ChangeSpec::SetFrom(fact) => format!("set it to {}", inline_code(fact.name)),
            ChangeSpec::AddFrom(fact) => {
                format!("add the items listed in {}", inline_code(fact.name))
            }
            ChangeSpec::RemoveFrom(fact) => {
                format!("remove the items listed in {}", inline_code(fact.name))
            }
        };
        self.write_line(
            0,
            &format!("- {}: {does}", inline_code(advice.setting.name)),
        );
        let words = |word: &str| word.replace('-', " ");
        let (reach, risk) = (words(advice.reach.as_str()), words(advice.risk.as_str()));
        let rank = advice
            .rank
            .map(|rank| format!("; choice {rank}"))
            .unwrap_or_default();
        self.write_line(1, &format!("- affects: {reach}; risk: {risk}{rank}"));
        if let Some(when) = &advice.when {
            self.write_line(1, "- only when:");
            self.write_condition(2, when);
        }
        if let Some(tradeoff) = &advice.tradeoff {
            self.write_line(1, &format!("- trade-off: {}", template_markdown(tradeoff)));
        }
        for (what, commands) in [
            ("apply", &advice.apply),
            ("verify", &advice.verify),
            ("undo", &advice.undo),
        ] {
            for command in commands {
                self.write_line(
                    1,
                    &format!("- {what}: {}", inline_code(&command.as_written())),
                );
            }
        }
    }

    fn write_evidence(&mut self, evidence: &Study) {
        for (depth, line) in evidence
            .lines()
            .iter()
            .enumerate()
            .map(|(at, line)| (usize::from(at > 0), line))
        {
            self.write_line(depth, &format!("- {}", escape_markdown(line)));
        }
    }

    fn write_facts_and_settings(&mut self, set: &RuleSet) {
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
        self.write_line(0, "\n## The facts");
        self.write_line(0, "");
        for fact in facts.values() {
            let of = format!("of a {}, {}", fact.scope, fact.kind.description());
            self.write_line(
                0,
                &format!(
                    "- {} ({}): {}",
                    inline_code(fact.name),
                    escape_markdown(&of),
                    escape_markdown(fact.doc)
                ),
            );
        }
        self.write_line(0, "\n## The settings");
        self.write_line(0, "");
        for setting in advised.values() {
            self.write_line(
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

    #[test]
    fn every_rule_has_a_section_and_every_link_leads_to_one() {
        let text = render_rule_reference();
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
        let targets: std::collections::BTreeSet<String> =
            ids.iter().map(|id| heading_anchor(id)).collect();
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
