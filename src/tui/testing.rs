use ratatui::buffer::{Buffer, Cell};

use super::page::EnterEffect;
use super::screen_id::ScreenId;
use super::screenshots::{draw_screen, model_showing_report};
use super::theme::Theme;
use crate::report::Report;

/// Returns title and rows of every screen, without colours.
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
        .map(|screen| (screen.title(), rows(&draw_screen(&model, screen))))
        .to_vec()
}

pub fn find_dead_overview_links(report: Report, size: (u16, u16)) -> Vec<String> {
    let model = model_showing_report(
        report,
        Vec::new(),
        size,
        Theme {
            colour: false,
            ascii: false,
        },
    );
    let page = |screen: ScreenId| {
        let mut model = model.clone();
        model.screen = screen;
        model.build_page(&model.current_page_state())
    };
    let blocks = page(ScreenId::Overview).blocks.into_iter();
    let links = blocks.filter_map(|block| match block.enter {
        EnterEffect::Open(screen, key) => Some((screen, key)),
        EnterEffect::Nothing | EnterEffect::Unfold | EnterEffect::OpenPane => None,
    });
    let is_dead = |(screen, key): &(ScreenId, String)| {
        page(*screen)
            .selectable_blocks()
            .all(|block| block.key.as_ref() != Some(key))
    };
    links
        .filter(is_dead)
        .map(|(screen, key)| format!("{}: {key}", screen.title()))
        .collect()
}
