//! Rules: every rule with what it came to for the target and the host, what applies first; beneath
//! each the trace on everything it is about, with what was read, where, and what would settle it.
//!
//! The report keeps no trace of what does not apply, which is nearly everything. The surprise: such
//! a rule is evaluated again, over the facts of the report, when somebody unfolds it.

use ratatui::text::Line;

use super::details::Details;
use super::rest::no_target_page;
use crate::facts::Subject;
use crate::report::Report;
use crate::report::telling::Mark;
use crate::rules::{self, Circumstances, Finding, Level, Outcome};
use crate::tui::data::Data;
use crate::tui::judged::{CameTo, RuleResults};
use crate::tui::page::{Block, Enter, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::words;

/// Of what a rule does not apply to, so many traces are shown; `walwise explain` has them all.
const MOST: usize = 8;

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, _)) = data.chosen() else {
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
    for came_to in CameTo::ALL {
        view.group(&mut page, came_to);
    }
    if page.blocks.is_empty() {
        let said = if state.filter.is_some() {
            "No matches."
        } else {
            "There are no rules."
        };
        page.text(vec![Line::styled(said, data.theme.style(TextRole::Dim))]);
    }
    page
}

/// The name of a rule on this page.
fn key(rule: &str) -> String {
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
    fn group(&self, page: &mut Page, came_to: CameTo) {
        let here = self
            .data
            .focus
            .rules
            .iter()
            .filter(|judged| judged.came_to == came_to);
        let (shown, rows): (Vec<&RuleResults>, Vec<Vec<StyledText>>) = here
            .map(|judged| (judged, self.cells(judged)))
            .filter(|(judged, cells)| self.is_wanted(judged, cells))
            .unzip();
        if shown.is_empty() {
            return;
        }
        let title = match came_to {
            CameTo::Applies => "Applies",
            CameTo::Undecided => "Undecided",
            CameTo::DoesNotApply => "Does not apply",
            CameTo::Nothing => "Not applicable here",
        };
        let aside = format!("{} of {}", shown.len(), self.data.focus.rules.len());
        page.heading(self.theme, title, &aside);
        // Of the many that do not apply a line each has to do; unfolded they say everything.
        let matters = matches!(came_to, CameTo::Applies | CameTo::Undecided);
        let title = if matters {
            Column::wrap(self.room.saturating_mul(2) / 5)
        } else {
            Column::keep(20)
        };
        let shape = [Column::keep(9), Column::keep(18), Column::drop(1), title];
        for (mut lines, judged) in columns::wrapped(&rows, &shape, self.room)
            .into_iter()
            .zip(shown)
        {
            let key = key(&judged.rule);
            if self.state.is_unfolded(&key) {
                lines.extend(self.beneath(judged));
            }
            let is_amiss = judged
                .of(self.report)
                .any(|finding| finding.level >= Level::Warning);
            page.blocks
                .push(Block::item(key, Enter::Unfold, lines).amiss(is_amiss));
        }
    }

    fn is_wanted(&self, judged: &RuleResults, cells: &[StyledText]) -> bool {
        let cells: Vec<&str> = cells.iter().map(|(said, _)| said.as_str()).collect();
        // Titles differ from subject to subject, and only one is in the row.
        let titles: Vec<&str> = judged
            .of(self.report)
            .map(|finding| finding.title.as_str())
            .collect();
        self.state.passes(&format!(
            "{} {} {}",
            judged.came_to.word(),
            cells.join(" "),
            titles.join(" ")
        ))
    }

    fn cells(&self, judged: &RuleResults) -> Vec<StyledText> {
        let (plain, dim) = (
            self.theme.style(TextRole::Plain),
            self.theme.style(TextRole::Dim),
        );
        let mut findings = judged.of(self.report);
        if let Some(first) = findings.next() {
            let is_open = judged.came_to == CameTo::Undecided;
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
                    Mark::Level(first.level, is_open).words(),
                    self.theme.level(first.level),
                ),
                (judged.rule.clone(), plain),
                (format!("{}{more}", words::subject(&first.subject)), plain),
                (first.title.clone(), plain),
            ];
        }
        // Words that fit any machine: what is said of this one would be said as if it applied.
        let rule = self.data.rules.find(&judged.rule);
        let level = rule.map(|rule| rule.level.word()).unwrap_or_default();
        let title = rule
            .map(|rule| rule.question.unfilled())
            .unwrap_or_default();
        let of = judged.not.first().map(words::subject).unwrap_or_default();
        let more = judged.not.len().saturating_sub(1);
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

    fn beneath(&self, judged: &RuleResults) -> Vec<Line<'static>> {
        let mut details = Details::new(self.theme, self.room.saturating_sub(2));
        let mut told: Option<&Finding> = None;
        for finding in judged.of(self.report) {
            details.paragraph(&finding.title);
            // Most rules give the same reasons whatever they are about.
            if told.is_none_or(|told| told.because != finding.because) {
                details.reasons(self.report, finding, &[]);
                told = Some(finding);
            }
            details.needs(finding);
            details.trace(finding);
        }
        if judged.findings.is_empty() {
            self.about(&mut details, judged);
        }
        for subject in judged.not.iter().take(MOST) {
            self.why_not(&mut details, judged, subject);
        }
        let more = judged.not.len().saturating_sub(MOST);
        if more > 0 {
            details.paragraph(&format!(
                "It does not apply to {more} more; `walwise explain {}` says why.",
                judged.rule
            ));
        }
        if judged.came_to == CameTo::Nothing {
            details.paragraph("Not applicable here.");
        }
        details.gap();
        details.indented()
    }

    /// What a rule is about, where it says nothing of this machine.
    fn about(&self, details: &mut Details, judged: &RuleResults) {
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

    fn why_not(&self, details: &mut Details, judged: &RuleResults, subject: &Subject) {
        let Some(rule) = self.data.rules.find(&judged.rule) else {
            return;
        };
        let circumstances = Circumstances {
            live: self.report.host.live,
            traced: true,
        };
        let finding = rules::evaluate_one(rule, &self.report.facts, subject, circumstances);
        if finding.outcome == Outcome::DoesNotApply {
            details.trace(&finding);
        } else {
            // Of a stack that is too large the report leaves facts out, so this is not what was
            // judged.
            let more = format!(
                "`walwise explain {}` says why it does not apply to {subject}.",
                rule.id
            );
            details.paragraph(&more);
        }
    }
}
