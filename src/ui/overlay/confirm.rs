//! The question before a probe: what it would write, where, and for how long. Nothing is written before the answer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::pane::{answers, pane};
use crate::facts::Subject;
use crate::ui::hits::Hits;
use crate::ui::model::Model;
use crate::ui::theme::TextRole;
use crate::ui::widgets::text;

const WIDTH: u16 = 76;

/// Draws the plan, or why there is none.
pub fn draw(
    model: &Model,
    target: &Subject,
    plan: &Result<Vec<String>, String>,
    area: Rect,
    hits: &mut Hits,
    buffer: &mut Buffer,
) {
    let theme = model.data.theme;
    let room = usize::from(WIDTH.min(area.width).saturating_sub(4));
    let mut lines: Vec<Line<'static>> = Vec::new();
    let question: &[(&str, &str)] = match plan {
        Ok(says) => {
            lines.extend(says.iter().flat_map(|line| text::wrap(line, room)).map(Line::from));
            &[("y", "start"), ("n", "no")]
        }
        Err(why) => {
            lines.extend(
                text::wrap(why, room)
                    .into_iter()
                    .map(|line| Line::styled(line, theme.style(TextRole::Doubt))),
            );
            &[("esc", "close")]
        }
    };
    let title = match plan {
        Ok(_) => format!("Probe of {}", target.name()),
        Err(_) => format!("{} cannot be probed", target.name()),
    };
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4).min(area.height);
    let inner = pane(theme, &text::fit(&title, room), WIDTH.min(area.width), height, area, buffer);
    // The question stays visible even where the plan is longer than the screen.
    let kept = usize::from(inner.height.saturating_sub(2));
    lines.truncate(kept);
    let below = lines.len().saturating_add(1);
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        line.render(row, buffer);
    }
    if let Some(row) = inner.rows().nth(below) {
        answers(theme, question, row, hits, buffer);
    }
}
