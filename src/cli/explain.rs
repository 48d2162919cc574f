//! `walwise explain`: why a rule applies, does not, or cannot be decided, condition by condition.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::CliError;
use super::args::Explain;
use super::host;
use super::out::{Done, print};
use super::rule_files;
use super::rules::no_rule;
use crate::facts::{Need, Scope, Subject};
use crate::rules::explain::{self, Drawing};
use crate::rules::{self, Finding, Outcome, Rule, RuleSet};
use crate::{pipeline, report};

/// Prints the trace of one rule on every subject, or on those of one target.
pub(super) fn run(args: &Explain) -> Done {
    let rules = host::rules(args.from.rules.as_deref())?;
    if rules.find(&args.rule).is_none() {
        return Err(no_rule(&rules, &args.rule));
    }
    let session = host::look_assuming(&args.from, args.target.as_deref(), rules, &args.assume)?;
    let (facts, _) = session.judged();
    let Some(rule) = session.rules.find(&args.rule) else { return Ok(1) };
    let mut subjects = rules::subjects(rule, &facts);
    if args.target.is_some() {
        let concerns = report::Concerns::of(&facts);
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
    let mut text: String = findings.iter().filter(matters).map(explanation).collect();
    let others: Vec<&Finding> = findings.iter().filter(|f| !matters(f)).collect();
    match (others.as_slice(), text.is_empty() || args.target.is_some()) {
        ([], _) => {}
        (others, true) => text.extend(others.iter().map(|finding| explanation(finding))),
        (others, false) => {
            let names: Vec<String> = others.iter().map(|finding| finding.subject.to_string()).collect();
            let _ = writeln!(text, "does not apply to {}; name a target to see why", names.join(", "));
        }
    }
    text += &about(rule, &session.rules);
    let code = print(&text)?;
    Ok(rule_files::exit_code(code, &session.rules))
}

/// What is the same on every subject: who says so, what was measured, another level than it was written with, the pack.
fn about(rule: &Rule, rules: &RuleSet) -> String {
    let mut lines = vec![format!("sources: {}", rule.refs.join("; "))];
    for evidence in &rule.evidence {
        let mut about = evidence.lines().into_iter();
        lines.extend(about.next().map(|says| format!("evidence: {says}")));
        lines.extend(about.map(|line| format!("  {line}")));
    }
    let given = rules.overrides().iter().find(|given| given.rule == rule.id);
    lines.extend(given.map(rules::Override::sentence));
    lines.push(pipeline::pack(rules).words());
    lines.join("\n") + "\n"
}

fn explanation(finding: &Finding) -> String {
    let mut lines = vec![
        format!("{} on {}: {}", finding.rule, finding.subject, finding.outcome.word()),
        format!("  {}", finding.title),
    ];
    let trace = finding.trace.iter().flat_map(|trace| explain::lines(trace, Drawing::Unicode));
    lines.extend(trace.map(|line| format!("  {line}")));
    if let Outcome::Undecided { needs } = &finding.outcome {
        for (i, set) in needs.iter().enumerate() {
            let facts: Vec<String> = set.iter().map(need).collect();
            lines.push(format!(
                "  {} {}",
                if i == 0 { "would decide it:" } else { "or:" },
                facts.join(" and ")
            ));
        }
    }
    lines.join("\n") + "\n\n"
}

fn need(need: &Need) -> String {
    let help = need.remedy.as_ref().map(|remedy| format!(" → {remedy}")).unwrap_or_default();
    format!("{} of {} ({}{help})", need.fact, need.subject, need.why)
}
