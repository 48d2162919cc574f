use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::fixes::{self, RecommendedFix};
use super::model::SCHEMA_VERSION;
use super::model::answer::{Answer, Topic};
use super::model::difference::Difference;
use super::model::what_if::WhatIf;
use super::view::dedup::FindingsByTarget;
use super::view::{self, wording};
use super::{FilesystemChoice, HostSummary, Report, TargetSummary, ToolSummary};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Level, Outcome, Risk};
use walwise_model::facts::{Note, Subject};

/// The document of `walwise check --format json`.
#[derive(Serialize, JsonSchema)]
pub struct RecommendationDocument<'r> {
    schema: u32,
    /// Always `recommendation`; the full report has no such key.
    document: &'static str,
    tool: &'r ToolSummary,
    /// Time of the report, RFC 3339 in UTC.
    when: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'r str>,
    host: &'r HostSummary,
    /// One entry per target, the worst first.
    targets: Vec<TargetAdvice<'r>>,
    /// Fixes for the host and for subjects outside all targets.
    fixes: Vec<FixEntry<'r>>,
    #[schemars(with = "Vec<String>")]
    warnings: &'r [Note],
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'r Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if: Option<&'r WhatIf>,
}

#[derive(Serialize, JsonSchema)]
struct TargetAdvice<'r> {
    target: &'r Subject,
    title: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictSummary<'r>>,
    answers: &'r BTreeMap<Topic, Answer>,
    /// File systems to choose from on a free disk.
    #[serde(default, skip_serializing_if = "<[FilesystemChoice]>::is_empty")]
    candidates: &'r [FilesystemChoice],
    /// Changes of the plan, and serious findings without a change, most urgent first.
    fixes: Vec<FixEntry<'r>>,
    /// Rules of level `advice` and above that are undecided.
    undecided: Vec<UndecidedRule<'r>>,
    /// One sentence per piece of withheld advice, with the reason.
    withheld: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct VerdictSummary<'r> {
    standing: VerdictKind,
    sentence: &'r str,
    /// Properties that cannot be observed on this host, in sentences; can be empty.
    limits: &'r str,
}

#[derive(Serialize, JsonSchema)]
struct FixEntry<'r> {
    level: Level,
    title: String,
    subject: &'r Subject,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    setting: Option<&'static walwise_model::settings::Setting>,
    commands: Vec<String>,
    /// Instruction for a manual change, if no command makes the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// `none`, `reload`, `restart`, `unmount` or `downtime`; absent for a manual change.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupts: Option<&'static str>,
    data_loss_if_wrong: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<String>,
    rules: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct UndecidedRule<'r> {
    level: Level,
    rule: &'r str,
    /// Facts that would decide the rule; can be empty.
    needs: Vec<&'r str>,
}

impl<'r> RecommendationDocument<'r> {
    pub fn new(report: &'r Report) -> Self {
        let by_target = FindingsByTarget::new(report);
        let (host, beside) = view::findings::host_and_other_untargeted_findings(report);
        let others = [host, beside].concat();
        let targets = view::target_order::sorted_targets_worst_first(&by_target);
        Self {
            schema: SCHEMA_VERSION,
            document: "recommendation",
            tool: &report.tool,
            when: &report.when,
            asked: report.asked.as_deref(),
            host: &report.host,
            targets: targets
                .into_iter()
                .map(|target| TargetAdvice::new(&by_target, target))
                .collect(),
            fixes: fixes::untargeted_fixes(&others)
                .into_iter()
                .map(FixEntry::from)
                .collect(),
            warnings: &report.warnings,
            baseline: report.baseline.as_ref(),
            what_if: report.what_if.as_ref(),
        }
    }
}

impl<'r> TargetAdvice<'r> {
    fn new(by_target: &FindingsByTarget<'r>, target: &'r TargetSummary) -> Self {
        let report = by_target.report;
        let about = by_target.target_findings(target);
        let open = about.iter().filter_map(|finding| match &finding.outcome {
            Outcome::Undecided { needs } if finding.level >= Level::Advice => Some(UndecidedRule {
                level: finding.level,
                rule: &finding.rule,
                needs: needs
                    .first()
                    .into_iter()
                    .flatten()
                    .map(|need| &*need.fact)
                    .collect(),
            }),
            Outcome::Applies | Outcome::DoesNotApply | Outcome::Undecided { .. } => None,
        });
        let withheld = report
            .withheld
            .iter()
            .filter(|one| target.subjects.contains(&one.subject));
        Self {
            target: &target.target,
            title: &target.title,
            verdict: report
                .verdict(&target.target)
                .map(|verdict| VerdictSummary {
                    standing: verdict.standing,
                    sentence: &verdict.sentence,
                    limits: &verdict.limits,
                }),
            answers: &target.answers,
            candidates: report
                .plan(&target.target)
                .map_or(&[], |plan| &plan.filesystems),
            fixes: fixes::target_fixes(report, target, about)
                .into_iter()
                .map(FixEntry::from)
                .collect(),
            undecided: open.collect(),
            withheld: withheld.map(wording::withheld_advice_text).collect(),
        }
    }
}

impl<'r> From<RecommendedFix<'r>> for FixEntry<'r> {
    fn from(fix: RecommendedFix<'r>) -> Self {
        Self {
            level: fix.level,
            title: fix.title,
            subject: fix.subject,
            setting: fix.setting,
            interrupts: (!fix.commands.is_empty()).then(|| fix.risk.interruption_word()),
            commands: fix.commands.iter().map(ToString::to_string).collect(),
            fix: fix.remedy,
            data_loss_if_wrong: fix.risk == Risk::DataLossIfWrong,
            seen: fix.source,
            rules: fix.rules,
        }
    }
}
