//! `walwise explain`: why a rule applies, does not, or cannot be decided, condition by condition.

use std::collections::BTreeSet;

use super::CliError;
use super::args::Explain;
use super::host;
use super::out::{ExitResult, print};
use super::rule_files;
use super::rules::no_rule;
use crate::facts::{Need, Scope, Subject};
use crate::rules::explain;
use crate::rules::{self, Finding, Outcome, Rule, RuleSet};
use crate::text::page::TextBuilder;
use crate::{pipeline, report};

/// Prints the trace of one rule on every subject, or on those of one target.
pub(super) fn run(args: &Explain) -> ExitResult {
    let rules = host::rules(args.from.rules.as_deref())?;
    if rules.find(&args.rule).is_none() {
        return Err(no_rule(&rules, &args.rule));
    }
    let session = host::look_assuming(&args.from, args.target.as_deref(), rules, &args.assume)?;
    let (facts, _) = session.judged();
    let Some(rule) = session.rules.find(&args.rule) else { return Ok(1) };
    let mut subjects = rules::subjects(rule, &facts);
    if args.target.is_some() {
        let concerns = report::Concerns::from_facts(&facts);
        let about = |target| concerns.subjects(target);
        let concerned: BTreeSet<Subject> = facts.subjects(Scope::Target).flat_map(about).collect();
        subjects.retain(|subject| subject.scope() == Scope::Host || concerned.contains(subject));
    }
    if subjects.is_empty() {
        let of = if args.target.is_some() { "none belongs to this target" } else { "none was found" };
        return Err(CliError::Usage(format!("`{}` is about a {}, and {of}", rule.id, rule.scope)));
    }
    let explain = |subject: &Subject| rules::evaluate_one(rule, &facts, subject, session.circumstances());
    let findings: Vec<Finding> = subjects.iter().map(explain).collect();
    let matters = |finding: &&Finding| finding.outcome != Outcome::DoesNotApply;
    let (told, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(matters);
    let mut page = TextBuilder::default();
    for finding in &told {
        explanation(&mut page, finding);
    }
    if told.is_empty() || args.target.is_some() {
        for finding in &others {
            explanation(&mut page, finding);
        }
    } else if !others.is_empty() {
        let names: Vec<String> = others.iter().map(|finding| finding.subject.to_string()).collect();
        page.para(0, &format!("does not apply to {}; name a target to see why", names.join(", ")));
    }
    about(&mut page, rule, &session.rules);
    let code = print(&page.finish())?;
    Ok(rule_files::exit_code(code, &session.rules))
}

/// The parts that are the same on every subject: references, measurements, a changed level, the pack.
fn about(page: &mut TextBuilder, rule: &Rule, rules: &RuleSet) {
    page.hanging(0, "sources: ", &rule.refs.join("; "));
    for evidence in &rule.evidence {
        for (line, at) in evidence.lines().iter().zip(0..) {
            if at == 0 { page.hanging(0, "evidence: ", line) } else { page.hanging(2, "", line) }
        }
    }
    if let Some(given) = rules.overrides().iter().find(|given| given.rule == rule.id) {
        page.para(0, &given.note(false).to_string());
    }
    page.para(0, &pipeline::pack(rules).words());
}

fn explanation(page: &mut TextBuilder, finding: &Finding) {
    page.para(0, &format!("{} on {}: {}", finding.rule, finding.subject, finding.outcome.word()));
    page.para(2, &finding.title);
    if let Some(trace) = &finding.trace {
        explain::lines(page, 2, trace);
    }
    if let Outcome::Undecided { needs } = &finding.outcome {
        for (set, at) in needs.iter().zip(0..) {
            let facts: Vec<String> = set.iter().map(need).collect();
            page.hanging(2, if at == 0 { "would decide it: " } else { "or: " }, &facts.join(" and "));
        }
    }
    page.gap();
}

fn need(need: &Need) -> String {
    let help = need.remedy.as_ref().map(|remedy| format!(" → {remedy}")).unwrap_or_default();
    format!("{} of {} ({}{help})", need.fact, need.subject, need.why)
}
