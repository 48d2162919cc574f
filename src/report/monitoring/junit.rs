//! The report as JUnit's XML, for the test view of a CI: a case for each verdict, each finding, and each rule that applies
//! to nothing.
//!
//! At risk, contradictory and critical are failures; a warning and an unproven verdict are too, of their own type. What is
//! undecided is skipped. It has no time, so the same host makes the same bytes.

use std::fmt::Write as _;

use super::{is_doubtful, standing_word};
use crate::durability::Verdict;
use crate::report::model::Report;
use crate::rules::{Finding, Level, Outcome};
use crate::text::push_escaped;

/// The document.
pub fn render(report: &Report) -> String {
    let host = &report.host.name;
    let verdict = |verdict: &Verdict| Case {
        class: "walwise.verdict".to_owned(),
        name: verdict.target.to_string(),
        result: if is_doubtful(verdict.standing) {
            CaseResult::Failed(standing_word(verdict.standing), verdict.sentence.clone())
        } else {
            CaseResult::Passed
        },
    };
    let verdicts: Vec<Case> = report.verdicts.iter().map(verdict).collect();
    let quiet = report.rules.iter().filter(|tally| tally.applies == 0 && tally.undecided == 0);
    let quiet = quiet.map(|tally| Case {
        class: "walwise.rule".to_owned(),
        name: tally.rule.clone(),
        result: CaseResult::Passed,
    });
    let rules: Vec<Case> = report.findings.iter().map(case).chain(quiet).collect();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (name, cases) in [("verdicts", verdicts), ("rules", rules)] {
        suite(&mut text, &format!("{host} {name}"), &cases);
    }
    text + "</testsuites>\n"
}

struct Case {
    class: String,
    name: String,
    result: CaseResult,
}

/// What became of a case.
enum CaseResult {
    Passed,
    /// Its type, and why.
    Failed(String, String),
    /// Why.
    Skipped(String),
}

fn case(finding: &Finding) -> Case {
    let failed = || {
        let why = format!("{}: {}", finding.title, finding.because);
        CaseResult::Failed(finding.level.word().to_owned(), why)
    };
    let result = match &finding.outcome {
        Outcome::Undecided { .. } => CaseResult::Skipped(finding.title.clone()),
        Outcome::DoesNotApply => CaseResult::Passed,
        Outcome::Applies => match finding.level {
            Level::Critical | Level::Warning => failed(),
            Level::Advice | Level::Option | Level::Keep => CaseResult::Passed,
        },
    };
    Case { class: format!("walwise.{}", finding.rule), name: finding.subject.to_string(), result }
}

fn suite(text: &mut String, name: &str, cases: &[Case]) {
    let count = |is: fn(&CaseResult) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
        escaped(name),
        cases.len(),
        count(|result| matches!(result, CaseResult::Failed(..))),
        count(|result| matches!(result, CaseResult::Skipped(_)))
    );
    for Case { class, name, result } in cases {
        let head = format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(class), escaped(name));
        let _ = match result {
            CaseResult::Passed => writeln!(text, "{head}/>"),
            CaseResult::Failed(kind, why) => writeln!(
                text,
                "{head}><failure type=\"{}\" message=\"{}\"/></testcase>",
                escaped(kind),
                escaped(why)
            ),
            CaseResult::Skipped(why) => {
                writeln!(text, "{head}><skipped message=\"{}\"/></testcase>", escaped(why))
            }
        };
    }
    text.push_str("  </testsuite>\n");
}

/// Text in an attribute. Characters that XML 1.0 forbids are controls, which display-safe text does not have.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let is_forbidden = c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
        push_escaped(&mut out, if is_forbidden { ' ' } else { c });
    }
    out
}
