//! A step of a plan beneath its line: what becomes of the setting, why, how to do it, how to see that it was done, and how
//! to take it back; in the order and the words of the text report.

use super::details::Details;
use crate::report::telling::plan::how;
use crate::report::{Report, Step};
use crate::ui::data::Data;

/// Writes all about one step.
pub fn write(details: &mut Details, data: &Data, report: &Report, step: &Step) {
    let findings = data.focus.findings(report, &step.rules);
    details.paragraph(&step.title);
    for finding in &findings {
        details.reasons(report, finding);
    }
    if let Some(target) = report.targets.get(data.focus.at) {
        let others: Vec<String> = step.alternatives.iter().map(|other| other.rule.clone()).collect();
        let about = data.focus.findings(report, &others);
        details.told(&how(report, target, &about, step));
    }
    for finding in &findings {
        details.trace(finding);
    }
}
