//! The list of targets, the worst first, filtered by the typed text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pane::{Choices, typed};
use crate::report::TargetSummary;
use crate::ui::command;
use crate::ui::hits::{Hit, Hits};
use crate::ui::model::Model;
use crate::ui::standing;
use crate::ui::theme::TextRole;
use crate::ui::widgets::columns;

const WIDTH: u16 = 76;
/// Columns of a name.
const NAME: usize = 44;

pub fn draw(model: &Model, filter: &str, chosen: usize, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    let theme = model.data.theme;
    let Some(report) = model.data.report.as_deref() else { return };
    let found: Vec<(usize, &TargetSummary)> = command::overlay_targets(model, filter).collect();
    let none = Line::styled("No target has such a name.", theme.style(TextRole::Doubt));
    let list = Choices {
        title: "Targets, worst first",
        width: WIDTH,
        above: vec![typed(theme, "/ ", filter, "type to filter")],
        count: found.len(),
        chosen,
        below: if found.is_empty() { vec![none] } else { Vec::new() },
    };
    let cells = |at: usize| {
        let (_, target) = found.get(at)?;
        Some(standing::cells(report, target, at == chosen, NAME, theme))
    };
    let places = list.draw(theme, area, buffer, |shown, room| {
        columns::lines(&shown.filter_map(cells).collect::<Vec<_>>(), &standing::SHAPE, room)
    });
    for (at, place) in places {
        if let Some((target, _)) = found.get(at) {
            hits.add(place, Hit::Target(*target));
        }
    }
}
