//! Pictures of the screens for documents: the terminal drawing as SVG.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Rect, Size};

use super::data::ProbeReport;
use super::job::JobResult;
use super::key::KeyPress;
use super::model::Model;
use super::msg::Msg;
use super::page::EnterEffect;
use super::screen_id::ScreenId;
use super::theme::Theme;
use super::update::update;
use super::{frame, svg};
use crate::report::Report;

/// Every screen of a report at so many columns and rows: file name and content. `times` is the
/// histogram of the first measured target's probe.
pub fn pictures(report: Report, times: Vec<(f64, u64)>, size: (u16, u16)) -> Vec<(String, String)> {
    let model = session(
        report,
        times,
        size,
        Theme {
            colour: true,
            ascii: false,
        },
    );
    let picture = |screen: ScreenId| {
        let title = screen.title();
        (
            format!("{}.svg", title.to_lowercase()),
            svg::svg(&draw_screen(&model, screen), &format!("walwise: {title}")),
        )
    };
    ScreenId::ALL.map(picture).to_vec()
}

/// The same as lines of text without colours: title and rows of each screen.
pub fn screen_texts(
    report: Report,
    size: (u16, u16),
    ascii: bool,
) -> Vec<(&'static str, Vec<String>)> {
    let model = session(
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

/// Links of the overview whose block does not exist on the screen that they open. For tests.
pub fn dead_links(report: Report, size: (u16, u16)) -> Vec<String> {
    let model = session(
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
        model.page(&model.page_state())
    };
    let blocks = page(ScreenId::Overview).blocks.into_iter();
    let links = blocks.filter_map(|block| match block.enter {
        EnterEffect::Open(screen, key) => Some((screen, key)),
        EnterEffect::Nothing | EnterEffect::Unfold | EnterEffect::OpenPane => None,
    });
    let is_dead = |(screen, key): &(ScreenId, String)| {
        page(*screen)
            .selectable()
            .all(|block| block.key.as_ref() != Some(key))
    };
    links
        .filter(is_dead)
        .map(|(screen, key)| format!("{}: {key}", screen.title()))
        .collect()
}

fn session(report: Report, times: Vec<(f64, u64)>, size: (u16, u16), theme: Theme) -> Model {
    let (mut model, _) = Model::new(theme, Size::new(size.0, size.1));
    let measured = report.probes.first().map(|probe| probe.target.clone());
    model.data.last_probe = measured.map(|target| ProbeReport {
        target,
        histogram: times,
        error: None,
    });
    if let Some(job) = model.data.activity.job() {
        update(
            &mut model,
            Msg::Done(job, JobResult::Report(Box::new(report))),
        );
    }
    model
}

fn draw_screen(model: &Model, screen: ScreenId) -> Buffer {
    let mut model = model.clone();
    for key in [screen.digit()].into_iter().chain(preparing_keys(screen)) {
        update(&mut model, Msg::Key(KeyPress::from_name(key)));
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    frame::draw(&model, &mut buffer);
    buffer
}

/// Keys that show the main content of a screen.
fn preparing_keys(screen: ScreenId) -> Vec<&'static str> {
    match screen {
        ScreenId::Advice => vec!["enter"],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Note;
    use crate::facts::note::muted;
    use crate::report::sample;

    /// As for every format of the report; see `session/notes.rs`.
    #[test]
    fn no_screen_goes_by_the_sentence_of_a_note() {
        let mut report = sample::at_risk();
        report.warnings = Note::every();
        let look = || {
            let pictures = pictures(report.clone(), Vec::new(), (200, 400));
            let parted = |(name, svg): (String, String)| match svg.split_once("About this run") {
                Some((before, notes)) => (name, before.to_owned(), Some(notes.to_owned())),
                None => (name, svg, None),
            };
            pictures.into_iter().map(parted).collect::<Vec<_>>()
        };
        let mut telling = Vec::new();
        for (with, without) in look().into_iter().zip(muted::with_muted(look)) {
            assert_eq!((&with.0, &with.1), (&without.0, &without.1));
            assert_eq!(with.2.is_some(), without.2.is_some(), "{}", with.0);
            if let (Some(with), Some(without)) = (with.2, without.2) {
                telling.push(with.contains("not measured") && !without.contains("not measured"));
            }
        }
        assert_eq!(telling, [true], "only the overview shows them");
    }
}
