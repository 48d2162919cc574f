//! Most rules do not apply, and the report stores no traces for them. When the user unfolds such a
//! rule, it is evaluated again from the report's facts.

use ratatui::text::Line;

use super::PageContext;
use super::detail_lines::DetailLines;
use crate::facts::{Choice, Subject};
use crate::report::view::Badge;
use crate::rules::{self, EvaluationOptions, Finding, Level, Outcome};
use crate::tui::labels;
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::rule_results::{RuleResult, RuleSummary};
use crate::tui::theme::{DIM, PLAIN, level_style};
use crate::tui::widgets::columns::{self, Column, StyledText};

/// Limit on the traces that are shown for a rule that does not apply; `walwise explain` shows all.
const MAX_TRACES: usize = 8;

impl PageContext<'_> {
    pub fn rules_page(&self) -> Page {
        let mut page = Page::default();
        for &came_to in RuleResult::ALL {
            self.push_result_group(&mut page, came_to);
        }
        if page.blocks.is_empty() {
            let said = if self.state.filter.is_some() {
                "No matches."
            } else {
                "No rules."
            };
            page.push_text_block(vec![Line::styled(said, DIM)]);
        }
        page
    }

    /// Adds the details of a rule and returns its name.
    pub fn push_rule_details(&self, details: &mut DetailLines, at: usize) -> String {
        let Some(judged) = self.data.focus.rules.get(at) else {
            return String::new();
        };
        self.push_findings_and_traces(details, judged);
        judged.rule.clone()
    }

    fn push_result_group(&self, page: &mut Page, came_to: RuleResult) {
        let all = &self.data.focus.rules;
        let here = all.iter().filter(|judged| judged.result == came_to);
        let (shown, rows): (Vec<&RuleSummary>, Vec<Vec<StyledText>>) = here
            .map(|judged| (judged, self.rule_cells(judged)))
            .filter(|(judged, cells)| self.matches_filter(judged, cells))
            .unzip();
        if shown.is_empty() {
            return;
        }
        let aside = format!("{} of {}", shown.len(), all.len());
        page.push_heading(came_to.as_str(), &aside);
        let shape = [
            Column::new_cuttable(9),
            Column::new_wrapping(18),
            Column::new_wrapping_or_droppable(12, 1),
            Column::new_wrapping(self.room.columns.saturating_mul(2) / 5),
        ];
        for (lines, judged) in columns::wrapped_rows(&rows, &shape, self.room.columns)
            .into_iter()
            .zip(shown)
        {
            let is_amiss = judged
                .rule_findings_in_report(self.report)
                .any(|finding| finding.level >= Level::Warning);
            let key = format!("rule {}", judged.rule);
            let place = all.iter().position(|other| other.rule == judged.rule);
            let details = place.map_or(RowDetails::Nothing, RowDetails::Rule);
            page.blocks
                .push(PageBlock::new_row(key, details, lines).with_issue(is_amiss));
        }
    }

    fn matches_filter(&self, judged: &RuleSummary, cells: &[StyledText]) -> bool {
        let cells: Vec<&str> = cells.iter().map(|(said, _)| said.as_str()).collect();
        // A rule has one title per subject. The filter searches all titles, although the row shows
        // only the first.
        let titles: Vec<&str> = judged
            .rule_findings_in_report(self.report)
            .map(|finding| finding.title.as_str())
            .collect();
        self.state.passes_filter(&format!(
            "{} {} {}",
            judged.result.as_str(),
            cells.join(" "),
            titles.join(" ")
        ))
    }

    fn rule_cells(&self, judged: &RuleSummary) -> Vec<StyledText> {
        let mut findings = judged.rule_findings_in_report(self.report);
        if let Some(first) = findings.next() {
            let is_open = judged.result == RuleResult::Undecided;
            let like = findings
                .filter(|finding| {
                    std::mem::discriminant(&finding.outcome)
                        == std::mem::discriminant(&first.outcome)
                })
                .count();
            return vec![
                (
                    Badge::Level(first.level, is_open).badge_text(),
                    level_style(first.level),
                ),
                (judged.rule.clone(), PLAIN),
                (subject_and_more(&first.subject, like), PLAIN),
                (first.title.clone(), PLAIN),
            ];
        }
        // The rule's question is shown, because a finding's title would read as if the rule
        // applied.
        let rule = self.data.rules.find(&judged.rule);
        let level = rule.map(|rule| rule.level.as_str()).unwrap_or_default();
        let title = rule
            .map(|rule| rule.question.text_without_subject())
            .unwrap_or_default();
        let more = judged.unaffected.len().saturating_sub(1);
        let first = judged.unaffected.first();
        let of = first.map_or_else(String::new, |first| subject_and_more(first, more));
        vec![
            (level.to_owned(), DIM),
            (judged.rule.clone(), PLAIN),
            (of, DIM),
            (title, DIM),
        ]
    }
    fn push_findings_and_traces(&self, details: &mut DetailLines, judged: &RuleSummary) {
        let mut told: Option<&Finding> = None;
        for finding in judged.rule_findings_in_report(self.report) {
            details.push_paragraph(&finding.title);
            // Most rules give the same reason for all subjects; a repeated reason is left out.
            if told.is_none_or(|told| told.because != finding.because) {
                details.push_finding_explanation(self.report, finding, &[]);
                told = Some(finding);
            }
            details.push_missing_fact_sets(finding);
            details.push_trace(finding);
        }
        if judged.findings.is_empty() {
            self.push_rule_description(details, judged);
        }
        for subject in judged.unaffected.iter().take(MAX_TRACES) {
            self.push_reevaluated_trace(details, judged, subject);
        }
        let more = judged.unaffected.len().saturating_sub(MAX_TRACES);
        if more > 0 {
            details.push_paragraph(&format!(
                "The rule does not apply to {more} more subjects; `walwise explain {}` shows why.",
                judged.rule
            ));
        }
        if judged.result == RuleResult::NoSubject {
            details.push_paragraph("Nothing on this host is in the scope of this rule.");
        }
    }

    fn push_rule_description(&self, details: &mut DetailLines, judged: &RuleSummary) {
        let Some(rule) = self.data.rules.find(&judged.rule) else {
            return;
        };
        details.push_paragraph(&rule.title.text_without_subject());
        details.push_paragraph(&rule.because.text_without_subject());
        details.push_field("rule", &format!("{}, for each {}", rule.id, rule.scope));
        if !rule.refs.is_empty() {
            details.push_field("sources", &rule.refs.join(" · "));
        }
    }

    fn push_reevaluated_trace(
        &self,
        details: &mut DetailLines,
        judged: &RuleSummary,
        subject: &Subject,
    ) {
        let Some(rule) = self.data.rules.find(&judged.rule) else {
            return;
        };
        let circumstances = EvaluationOptions {
            live: self.report.host.live,
            traced: true,
        };
        let finding = rules::evaluate_rule(rule, &self.report.facts, subject, circumstances);
        if finding.outcome == Outcome::DoesNotApply {
            details.push_trace(&finding);
        } else {
            // The report of a very large stack leaves facts out, so a second evaluation can have
            // another outcome.
            let more = format!(
                "`walwise explain {}` shows why the rule does not apply to {subject}.",
                rule.id
            );
            details.push_paragraph(&more);
        }
    }
}

fn subject_and_more(subject: &Subject, more: usize) -> String {
    let name = labels::subject_label(subject);
    match more {
        0 => name,
        more => format!("{name} and {more} more"),
    }
}
