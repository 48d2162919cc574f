use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use super::job::JobResult;
use super::key_press::KeyPress;
use super::model::Model;
use super::msg::Msg;
use super::screen_data::FinishedProbe;
use super::screen_id::ScreenId;
use super::theme::Theme;
use super::update::update;
use super::{frame, svg};
use crate::report::Report;

/// Draws every screen at `size` (columns, rows). Returns file names and SVG documents. `times` is
/// the histogram of the first measured target.
pub fn render_screens_svg(
    report: Report,
    times: Vec<(f64, u64)>,
    size: (u16, u16),
) -> Vec<(String, String)> {
    let model = model_showing_report(
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
            svg::buffer_to_svg(
                &switch_and_draw_screen(&model, screen),
                &format!("walwise: {title}"),
            ),
        )
    };
    ScreenId::ALL.map(picture).to_vec()
}

pub fn model_showing_report(
    report: Report,
    times: Vec<(f64, u64)>,
    size: (u16, u16),
    theme: Theme,
) -> Model {
    let (mut model, _) = Model::new_with_first_job(theme, Size::new(size.0, size.1));
    let measured = report.probes.first().map(|probe| probe.target.clone());
    model.data.last_probe = measured.map(|target| FinishedProbe {
        target,
        histogram: times,
        error: None,
    });
    if let Some(job) = model.data.activity.job_id() {
        update(
            &mut model,
            Msg::Done(job, JobResult::Report(Box::new(report))),
        );
    }
    model
}

pub fn switch_and_draw_screen(model: &Model, screen: ScreenId) -> Buffer {
    let mut model = model.clone();
    update(
        &mut model,
        Msg::Key(KeyPress::from_name(screen.digit_key())),
    );
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    frame::draw(&model, &mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Note;
    use crate::facts::note::muted;
    use crate::report::sample_reports;

    /// If the sentences of all notes are replaced, only the notes themselves may change on a
    /// screen. `session/note_wording_tests.rs` tests the same for the report formats.
    #[test]
    fn no_screen_depends_on_note_wording() {
        let mut report = sample_reports::at_risk();
        report.warnings = Note::samples();
        let look = || {
            let pictures = render_screens_svg(report.clone(), Vec::new(), (200, 400));
            let parted = |(name, svg): (String, String)| match svg.split_once("About this run") {
                Some((before, notes)) => (name, before.to_owned(), Some(notes.to_owned())),
                None => (name, svg, None),
            };
            pictures.into_iter().map(parted).collect::<Vec<_>>()
        };
        let mut telling = Vec::new();
        for (with, without) in look().into_iter().zip(muted::with_muted_notes(look)) {
            assert_eq!((&with.0, &with.1), (&without.0, &without.1));
            assert_eq!(with.2.is_some(), without.2.is_some(), "{}", with.0);
            if let (Some(with), Some(without)) = (with.2, without.2) {
                telling.push(with.contains("not measured") && !without.contains("not measured"));
            }
        }
        assert_eq!(telling, [true], "only the overview shows them");
    }
}
