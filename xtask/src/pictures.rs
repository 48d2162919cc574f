//! Draws the screens, and renders the HTML page, from a recorded host and measurement.

use std::path::Path;
use std::{fs, io};

use walwise::session::{Session, measurable_targets_wal_first};
use walwise::tui::{self, ScreenOptions};
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_measure::measure::{Measurement, log_scale_histogram};
use walwise_report::{Report, html};
use walwise_sys::host::RecordedHost;
use walwise_testkit::drawn_screens::buffer_to_svg;

use crate::OutputFile;

/// Reads a recorded host, and a measurement of its first measurable target.
pub fn load_recorded_session_and_measurement(
    checkout: &Path,
) -> io::Result<(Session, Measurement)> {
    let read = |name: &str| fs::read(checkout.join("tests/screens").join(name));
    let host = RecordedHost::parse(&read("vm.host")?).map_err(io::Error::other)?;
    let request = Request {
        target: Some("/srv/pg/data".into()),
        without_programs: false,
        allow_missing: true,
        ..Request::default()
    };
    let mut session =
        Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| ());
    let measured: Measurement = serde_json::from_slice(&read("measurement.json")?)?;
    let (facts, _) = session.derived_facts_and_verdicts();
    if let Some(target) = measurable_targets_wal_first(&facts).into_iter().next() {
        session.measurements.insert(target, measured.clone());
    }
    Ok((session, measured))
}

/// Draws every screen. `size` is columns, then rows.
pub fn render_screen_pictures(
    session: &Session,
    measured: &Measurement,
    size: (u16, u16),
) -> Vec<OutputFile> {
    let options = ScreenOptions {
        colour: true,
        ascii: false,
        in_tmux: false,
    };
    let times = log_scale_histogram(&default_method_quantiles(measured));
    tui::draw_screens(session.build_report(), times, size, options)
        .into_iter()
        .map(|(title, drawn)| {
            (
                format!("{}.svg", title.to_lowercase()),
                buffer_to_svg(&drawn, &format!("walwise: {title}")),
            )
        })
        .collect()
}

/// Renders the page, dated at the start of the measurement, so that equal input gives an equal
/// page.
pub fn render_html_page(mut session: Session, measured: Measurement) -> String {
    session.traced = false;
    html::render_report_page(&Report {
        when: measured.when,
        ..session.build_report()
    })
}

/// Returns the times of commits with the default method, as quantiles, because a record holds no
/// samples.
fn default_method_quantiles(measurement: &Measurement) -> Vec<f64> {
    let default = measurement
        .comparisons
        .first()
        .map_or(measurement.best, |of| of.against);
    let row = measurement
        .methods
        .iter()
        .find(|row| row.method == default && row.pages == 1);
    row.and_then(|row| row.paced.as_ref())
        .map(|paced| paced.quantiles_us.clone())
        .unwrap_or_default()
}
