//! Pictures of the screens for documents: the same drawing as on a terminal, as SVG.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use super::jobs::JobResult;
use super::key::Key;
use super::model::{Ended, Model};
use super::msg::Msg;
use super::screen::ScreenId;
use super::theme::Theme;
use super::update::update;
use super::{frame, svg};
use crate::report::Report;

/// Every screen as it first shows a report, on a terminal of so many columns and rows: the name of a file, and what is in
/// it. `times` is the histogram of commits that the probe of the first measured target left.
pub fn pictures(report: Report, times: Vec<(f64, u64)>, size: (u16, u16)) -> Vec<(String, String)> {
    let theme = Theme { colour: true, ascii: false };
    let (mut model, _) = Model::new(theme, Size::new(size.0, size.1));
    let measured = report.probes.first().map(|probe| probe.target.clone());
    model.data.ended = measured.map(|target| Ended { target, histogram: times, failed: None });
    if let Some(job) = model.data.activity.job() {
        update(&mut model, Msg::Done(job, JobResult::Report(Box::new(report))));
    }
    ScreenId::ALL.map(|screen| picture(model.clone(), screen)).to_vec()
}

fn picture(mut model: Model, screen: ScreenId) -> (String, String) {
    for key in [screen.digit()].into_iter().chain(telling(screen)) {
        update(&mut model, Msg::Key(Key::named(key)));
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    frame::draw(&model, &mut buffer);
    let title = screen.title();
    (format!("{}.svg", title.to_lowercase()), svg::svg(&buffer, &format!("walwise: {title}")))
}

/// Keys that bring what a screen is for into sight.
fn telling(screen: ScreenId) -> Vec<&'static str> {
    match screen {
        ScreenId::Advice => vec!["enter"],
        _ => Vec::new(),
    }
}
