use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use super::job::JobResult;
use super::key_press::KeyPress;
use super::model::Model;
use super::msg::Msg;
use super::screen_data::FinishedProbe;
use super::screen_id::ScreenId;
use super::update::update;
use super::{ScreenOptions, frame};
use crate::report::Report;

/// Draws every screen at `size` (columns, rows), and returns it with its title. `times` is the
/// histogram of the first measured target.
pub fn draw_screens(
    report: Report,
    times: Vec<(f64, u64)>,
    (width, height): (u16, u16),
    options: ScreenOptions,
) -> Vec<(&'static str, Buffer)> {
    let (mut model, _) = Model::new_with_first_job(options, Size { width, height });
    let measured = report.probes.first().map(|probe| probe.target.clone());
    model.data.last_probe = measured.map(|target| FinishedProbe {
        target,
        histogram: times,
        error: None,
    });
    if let Some(job) = model.data.activity.job_id() {
        let report = JobResult::Report(Box::new(report));
        update(&mut model, Msg::Done(job, report));
    }
    let draw = |screen: ScreenId| {
        let mut model = model.clone();
        let key = KeyPress::from_name(screen.digit_key());
        update(&mut model, Msg::Key(key));
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        frame::draw(&model, &mut buffer);
        (screen.title(), buffer)
    };
    ScreenId::ALL.map(draw).to_vec()
}

#[cfg(test)]
mod tests {
    use walwise_testkit::drawn_screens::buffer_rows;

    use super::*;
    use crate::facts::Note;
    use crate::facts::note::muted;
    use crate::report::sample_reports;
    use crate::tui::test_sessions::RICH;

    /// If the sentences of all notes are replaced, only the notes themselves may change on a
    /// screen. `session/note_wording_tests.rs` tests the same for the report formats.
    #[test]
    fn no_screen_depends_on_note_wording() {
        let mut report = sample_reports::at_risk();
        report.warnings = Note::samples();
        let look = || {
            let drawn = draw_screens(report.clone(), Vec::new(), (200, 400), RICH);
            let parted = |(name, buffer): (&'static str, Buffer)| {
                let text = buffer_rows(&buffer).join("\n");
                match text.split_once("About this run") {
                    Some((before, notes)) => (name, before.to_owned(), Some(notes.to_owned())),
                    None => (name, text, None),
                }
            };
            drawn.into_iter().map(parted).collect::<Vec<_>>()
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
