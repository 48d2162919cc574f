use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::overlay_widgets::{ChoiceList, WIDTH, input_line};
use crate::tui::changes_state::ReferenceList;
use crate::tui::click_map::{ClickMap, ClickTarget};
use crate::tui::job::ComparisonReference;
use crate::tui::model::Model;
use crate::tui::target_row::selection_mark;
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::{self, Column};

pub fn draw_reference_list(
    model: &Model,
    list: &ReferenceList,
    area: Rect,
    hits: &mut ClickMap,
    buffer: &mut Buffer,
) {
    let theme = model.data.theme;
    let matching = list.matching_choices();
    let (title, asks) = match list.of {
        ComparisonReference::SavedReport => ("Saved reports, newest first", "type to filter"),
        ComparisonReference::Upgrade => ("Upgrade to", "type to filter, or a kernel version"),
    };
    let why = list.chosen_reference_name().err();
    let why = why.map(|why| Line::styled(why, theme.role_style(TextRole::Doubt)));
    let drawn = ChoiceList {
        title,
        width: WIDTH,
        above: vec![input_line(theme, "/ ", list.filter.text(), asks)],
        count: matching.len(),
        chosen: list.chosen,
        below: why.into_iter().collect(),
    };
    let places = drawn.draw_list(theme, area, buffer, |shown, room| {
        let rows = shown.filter_map(|at| {
            let choice = matching.get(at)?;
            Some(vec![
                selection_mark(theme, at == list.chosen),
                (choice.label.clone(), theme.role_style(TextRole::Plain)),
                (choice.text.clone(), theme.role_style(TextRole::Dim)),
            ])
        });
        let columns = [1, 16, 10].map(Column::new_cuttable);
        columns::align_rows(&rows.collect::<Vec<_>>(), &columns, room)
    });
    for (at, row) in places {
        hits.add_area(row, ClickTarget::Entry(at));
    }
}
