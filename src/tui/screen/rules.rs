//! Rules: every rule with its result for the target and the host, applying ones first; unfolded,
//! its trace for each subject.
//!
//! The report keeps no traces of rules that do not apply, which are most. Such a rule is evaluated
//! again, over the facts of the report, when it is unfolded.

use ratatui::text::Line;

use super::details::Details;
use super::list_limits::no_target_page;
use crate::facts::Subject;
use crate::report::Report;
use crate::report::view::Badge;
use crate::rules::{self, EvaluationOptions, Finding, Level, Outcome};
use crate::tui::data::Data;
use crate::tui::labels;
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::rule_results::{RuleResult, RuleResults};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{self, Column, StyledText};

/// Traces shown of a rule that does not apply; `walwise explain` shows all.
const MAX_TRACES: usize = 8;

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, _)) = data.chosen_target() else {
        return no_target_page(data, "judge");
    };
    let mut page = Page::default();
    let view = RuleCatalog {
        data,
        state,
        report,
        room,
        theme: data.theme,
    };
    for came_to in RuleResult::ALL {
        view.push_group(&mut page, came_to);
    }
    if page.blocks.is_empty() {
        let said = if state.filter.is_some() {
            "No matches."
        } else {
            "No rules."
        };
        page.text(vec![Line::styled(said, data.theme.style(TextRole::Dim))]);
    }
    page
}

fn block_key(rule: &str) -> String {
    format!("rule {rule}")
}

struct RuleCatalog<'a> {
    data: &'a Data,
    state: &'a PageState,
    report: &'a Report,
    room: usize,
    theme: Theme,
}

impl RuleCatalog<'_> {
    fn push_group(&self, page: &mut Page, came_to: RuleResult) {
        let here = self
            .data
            .focus
            .rules
            .iter()
            .filter(|judged| judged.result == came_to);
        let (shown, rows): (Vec<&RuleResults>, Vec<Vec<StyledText>>) = here
            .map(|judged| (judged, self.cells(judged)))
            .filter(|(judged, cells)| self.matches_filter(judged, cells))
            .unzip();
        if shown.is_empty() {
            return;
        }
        let title = match came_to {
            RuleResult::Applies => "Applies",
            RuleResult::Undecided => "Undecided",
            RuleResult::DoesNotApply => "Does not apply",
            RuleResult::NoSubject => "Not applicable here",
        };
        let aside = format!("{} of {}", shown.len(), self.data.focus.rules.len());
        page.heading(self.theme, title, &aside);
        // Most rules do not apply, so each of them gets one line; unfolding shows everything.
        let matters = matches!(came_to, RuleResult::Applies | RuleResult::Undecided);
        let title = if matters {
            Column::wrap(self.room.saturating_mul(2) / 5)
        } else {
            Column::keep(20)
        };
        let shape = [Column::keep(9), Column::keep(18), Column::drop(1), title];
        for (mut lines, judged) in columns::wrapped_rows(&rows, &shape, self.room)
            .into_iter()
            .zip(shown)
        {
            let key = block_key(&judged.rule);
            if self.state.is_unfolded(&key) {
                lines.extend(self.detail_lines(judged));
            }
            let is_amiss = judged
                .findings_in(self.report)
                .any(|finding| finding.level >= Level::Warning);
            page.blocks
                .push(Block::item(key, EnterEffect::Unfold, lines).with_issue(is_amiss));
        }
    }

    fn matches_filter(&self, judged: &RuleResults, cells: &[StyledText]) -> bool {
        let cells: Vec<&str> = cells.iter().map(|(said, _)| said.as_str()).collect();
        // Titles differ between subjects, and the row shows only the first.
        let titles: Vec<&str> = judged
            .findings_in(self.report)
            .map(|finding| finding.title.as_str())
            .collect();
        self.state.passes(&format!(
            "{} {} {}",
            judged.result.label(),
            cells.join(" "),
            titles.join(" ")
        ))
    }

    fn cells(&self, judged: &RuleResults) -> Vec<StyledText> {
        let (plain, dim) = (
            self.theme.style(TextRole::Plain),
            self.theme.style(TextRole::Dim),
        );
        let mut findings = judged.findings_in(self.report);
        if let Some(first) = findings.next() {
            let is_open = judged.result == RuleResult::Undecided;
            let like = findings
                .filter(|finding| {
                    std::mem::discriminant(&finding.outcome)
                        == std::mem::discriminant(&first.outcome)
                })
                .count();
            let more = if like > 0 {
                format!(" and {like} more")
            } else {
                String::new()
            };
            return vec![
                (
                    Badge::Level(first.level, is_open).text(),
                    self.theme.level(first.level),
                ),
                (judged.rule.clone(), plain),
                (
                    format!("{}{more}", labels::subject_label(&first.subject)),
                    plain,
                ),
                (first.title.clone(), plain),
            ];
        }
        // The unfilled title: a filled one would read as if the rule applied here.
        let rule = self.data.rules.find(&judged.rule);
        let level = rule.map(|rule| rule.level.as_str()).unwrap_or_default();
        let title = rule
            .map(|rule| rule.question.unfilled())
            .unwrap_or_default();
        let of = judged
            .unaffected
            .first()
            .map(labels::subject_label)
            .unwrap_or_default();
        let more = judged.unaffected.len().saturating_sub(1);
        let of = if more > 0 {
            format!("{of} and {more} more")
        } else {
            of
        };
        vec![
            (level.to_owned(), dim),
            (judged.rule.clone(), plain),
            (of, dim),
            (title, dim),
        ]
    }

    fn detail_lines(&self, judged: &RuleResults) -> Vec<Line<'static>> {
        let mut details = Details::new(self.theme, self.room.saturating_sub(2));
        let mut told: Option<&Finding> = None;
        for finding in judged.findings_in(self.report) {
            details.paragraph(&finding.title);
            // Most rules give the same reason for every subject.
            if told.is_none_or(|told| told.because != finding.because) {
                details.reasons(self.report, finding, &[]);
                told = Some(finding);
            }
            details.needs(finding);
            details.trace(finding);
        }
        if judged.findings.is_empty() {
            self.push_description(&mut details, judged);
        }
        for subject in judged.unaffected.iter().take(MAX_TRACES) {
            self.push_trace(&mut details, judged, subject);
        }
        let more = judged.unaffected.len().saturating_sub(MAX_TRACES);
        if more > 0 {
            details.paragraph(&format!(
                "Does not apply to {more} more; `walwise explain {}` shows why.",
                judged.rule
            ));
        }
        if judged.result == RuleResult::NoSubject {
            details.paragraph("Not applicable here.");
        }
        details.gap();
        details.indented()
    }

    /// The description of a rule without findings.
    fn push_description(&self, details: &mut Details, judged: &RuleResults) {
        let Some(rule) = self.data.rules.find(&judged.rule) else {
            return;
        };
        details.paragraph(&rule.title.unfilled());
        details.paragraph(&rule.because.unfilled());
        details.field("rule", &format!("{}, for {}", rule.id, rule.scope));
        if !rule.refs.is_empty() {
            details.field("sources", &rule.refs.join(" · "));
        }
    }

    fn push_trace(&self, details: &mut Details, judged: &RuleResults, subject: &Subject) {
        let Some(rule) = self.data.rules.find(&judged.rule) else {
            return;
        };
        let circumstances = EvaluationOptions {
            live: self.report.host.live,
            traced: true,
        };
        let finding = rules::evaluate_rule(rule, &self.report.facts, subject, circumstances);
        if finding.outcome == Outcome::DoesNotApply {
            details.trace(&finding);
        } else {
            // The report of a very large stack leaves facts out, so this evaluation differs from
            // the original one.
            let more = format!(
                "`walwise explain {}` shows why it does not apply to {subject}.",
                rule.id
            );
            details.paragraph(&more);
        }
    }
}
