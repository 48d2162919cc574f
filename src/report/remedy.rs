//! The remedy of each critical finding: its advice where there is some, else its rule's text, else why its advice was
//! withheld.
//!
//! The loader makes sure that one of the three exists. Advice takes precedence over the text, which is meant for
//! findings without any; a rule that a user raised may lack it.

use super::Withheld;
use crate::rules::{Change, Finding, Level, Mending, Outcome};

/// Gives every applying critical finding its remedy.
pub fn give(findings: &mut [Finding], withheld: &[Withheld]) {
    let critical =
        |finding: &&mut Finding| finding.level == Level::Critical && finding.outcome == Outcome::Applies;
    for finding in findings.iter_mut().filter(critical) {
        let told = finding.remedy.take();
        finding.remedy =
            by_advice(finding).or(told).or_else(|| none(finding, withheld)).or_else(|| Some(raised()));
    }
}

fn by_advice(finding: &Finding) -> Option<Mending> {
    let changes = finding.advice.iter().filter(|advice| advice.change != Change::Keep);
    let all: Vec<String> = changes
        .map(|advice| {
            if advice.setting.kind.is_placement() {
                format!("Move the data directory to {}.", advice.change.words())
            } else {
                format!("{}: {}", advice.setting, advice.change.words())
            }
        })
        .collect();
    (!all.is_empty()).then(|| Mending { here: true, says: all.join("; ") })
}

fn none(finding: &Finding, withheld: &[Withheld]) -> Option<Mending> {
    let of = |one: &&Withheld| one.rule == finding.rule && one.subject == finding.subject;
    let one = withheld.iter().find(of)?;
    Some(Mending { here: false, says: format!("Withheld: {}. {}", one.advice, one.because) })
}

/// For a rule of lower level that a user's file made critical.
fn raised() -> Mending {
    let says = "None is known: a user's file raised this rule to critical, and the rule names no remedy.";
    Mending { here: false, says: says.to_owned() }
}
