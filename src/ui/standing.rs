//! A target in a row, wherever targets are listed: mark and word of its standing, name, file system, price of a commit.

use ratatui::style::Style;

use super::theme::{TextRole, Theme};
use crate::durability::{Fate, FlushHop};
use crate::report::telling::short::file_system;
use crate::report::telling::{Tone, price, sign};
use crate::report::{Report, TargetSummary};

/// What a list says of a target.
pub struct TargetLine {
    /// The mark of its standing.
    pub mark: &'static str,
    pub standing: &'static str,
    pub style: Style,
    /// Its file system; empty where there is none.
    pub filesystem: String,
    /// What a durable commit costs; a dash where that was not measured.
    pub price: String,
}

impl TargetLine {
    pub fn new(report: &Report, target: &TargetSummary, theme: Theme) -> Self {
        let verdict = report.verdict(&target.target);
        let (mark, standing, style) = match verdict.map(|verdict| verdict.standing) {
            Some(standing) => {
                let is_answered = |hop: &FlushHop| matches!(hop.fate, Fate::Answered);
                let answers = verdict.is_some_and(|of| of.flush_path.iter().any(is_answered));
                let mark = match Tone::from(standing) {
                    Tone::Good if answers => "◆",
                    Tone::Good | Tone::Dim | Tone::Doubt | Tone::Bad => sign(standing),
                };
                (mark, standing.word(), theme.standing(standing))
            }
            None => {
                ("·", target.content.as_ref().map_or("no verdict", |_| "disk"), theme.style(TextRole::Dim))
            }
        };
        let price = price::median(report, target).unwrap_or_else(|| "–".to_owned());
        Self { mark, standing, style, filesystem: file_system(report, target), price }
    }
}
