use ratatui::buffer::{Buffer, Cell};

use super::screen_id::ScreenId;
use super::screenshots::{model_showing_report, switch_and_draw_screen};
use super::theme::Theme;
use crate::report::Report;

/// Title and rows of every screen, without colours.
pub fn screen_texts(
    report: Report,
    size: (u16, u16),
    ascii: bool,
) -> Vec<(&'static str, Vec<String>)> {
    let model = model_showing_report(
        report,
        Vec::new(),
        size,
        Theme {
            colour: false,
            ascii,
        },
    );
    let rows = |buffer: &Buffer| {
        let all = buffer.content.chunks(usize::from(buffer.area.width).max(1));
        let line = |row: &[Cell]| {
            row.iter()
                .map(Cell::symbol)
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        all.map(line).collect()
    };
    ScreenId::ALL
        .map(|screen| {
            (
                screen.title(),
                rows(&switch_and_draw_screen(&model, screen)),
            )
        })
        .to_vec()
}
