//! A target in a row, wherever targets are listed: mark and word of its standing, name, file system, price of a commit.

use super::theme::{TextRole, Theme};
use super::widgets::columns::{Column, StyledText};
use super::widgets::text::fit_middle;
use crate::durability::{Fate, FlushHop};
use crate::report::telling::short::file_system;
use crate::report::telling::{Tone, price, sign};
use crate::report::{Report, TargetSummary};

pub const SHAPE: [Column; 5] =
    [Column::keep(1), Column::keep(15), Column::keep(12), Column::drop(2), Column::drop(1)];

/// The mark of what is chosen.
pub fn mark(theme: Theme, is_chosen: bool) -> StyledText {
    (if is_chosen { "▸" } else { " " }.to_owned(), theme.style(TextRole::Accent))
}

/// What a list says of a target, its name in at most so many columns: its standing, its file system where there is one, and what a durable commit costs, a dash
/// where that was not measured.
pub fn cells(
    report: &Report,
    target: &TargetSummary,
    is_chosen: bool,
    most: usize,
    theme: Theme,
) -> Vec<StyledText> {
    let verdict = report.verdict(&target.target);
    let dim = theme.style(TextRole::Dim);
    let (sign, standing, style) = match verdict.map(|verdict| verdict.standing) {
        Some(standing) => {
            let is_answered = |hop: &FlushHop| matches!(hop.fate, Fate::Answered);
            let answers = verdict.is_some_and(|of| of.flush_path.iter().any(is_answered));
            let sign = match Tone::from(standing) {
                Tone::Good if answers => "◆",
                Tone::Good | Tone::Dim | Tone::Doubt | Tone::Bad => sign(standing),
            };
            (sign, standing.word(), theme.standing(standing))
        }
        None => ("·", target.content.as_ref().map_or("no verdict", |_| "disk"), dim),
    };
    let price = price::median(report, target).unwrap_or_else(|| "–".to_owned());
    let name = theme.style(if is_chosen { TextRole::Heading } else { TextRole::Plain });
    vec![
        mark(theme, is_chosen),
        (format!("{sign} {standing}"), style),
        (fit_middle(&target.title, most), name),
        (file_system(report, target), dim),
        (format!("{price:>8}"), dim),
    ]
}
