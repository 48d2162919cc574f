//! Pictures of the screens, and a page, of a recorded machine with a measurement.

use std::path::Path;
use std::{fs, io};

use walwise::session::{Session, measurable};
use walwise::tui;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_measure::measure::{Measurement, histogram};
use walwise_model::facts::Subject;
use walwise_report::{Report, html};
use walwise_sys::host::RecordedHost;

use crate::OutputFile;

/// The recorded machine in `tests/screens`, and a measurement there. Errors are those of reading.
pub fn recorded(checkout: &Path) -> io::Result<(Session, Measurement)> {
    let read = |name: &str| fs::read(checkout.join("tests/screens").join(name));
    let host = RecordedHost::parse(&read("vm.host")?).map_err(io::Error::other)?;
    let request = Request {
        target: Some("/srv/pg/data".into()),
        without_programs: false,
        new: true,
        ..Request::default()
    };
    let session = Session::look(&host, &request, RuleSet::builtin(), &mut |_, _| ());
    Ok((session, serde_json::from_slice(&read("measurement.json")?)?))
}

/// A picture of every screen on a terminal of this size, columns first. The measurement is assigned
/// to the first directory.
pub fn pictures(mut session: Session, measured: Measurement, size: (u16, u16)) -> Vec<OutputFile> {
    let target: Option<Subject> = measurable(&session.judged().0).into_iter().next();
    let times = default_times(&measured);
    if let Some(target) = target {
        session.measured.insert(target, measured);
    }
    tui::pictures(session.report(), histogram(&times), size)
}

/// The report on the first directory as one page, with this measurement; as it was made when that
/// began, so that the same measurement has the same page.
pub fn page(mut session: Session, measured: Measurement) -> String {
    let when = measured.when.clone();
    if let Some(target) = measurable(&session.judged().0).into_iter().next() {
        session.measured.insert(target, measured);
    }
    session.traced = false;
    html::render(&Report {
        when,
        ..session.report()
    })
}

/// Times of paced one-page commits with the default: the quantiles, since a record holds no
/// samples.
fn default_times(measurement: &Measurement) -> Vec<f64> {
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
