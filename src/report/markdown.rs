//! The whole report as a Markdown document, for a ticket or a review: verdict, stack, evidence, plan, findings,
//! sources.
//!
//! It contains the same as the text, in tables and code blocks; escaping is left to [`write`]. Every finding appears
//! once, under the first target that it concerns, as in the text.

mod findings;
mod plan;
mod target;
mod write;

use super::text::order;
use super::text::telling::Telling;
use super::{Report, TargetSummary};
use write::{Document, code, text};

/// The document.
pub fn render(report: &Report) -> String {
    let mut document = Document::default();
    let telling = Telling::new(report);
    let targets = order::worst_first(&telling);
    let settled = telling.settled(&targets);
    head(&mut document, report);
    summary(&mut document, &telling, &targets);
    for (place, target) in targets.iter().enumerate() {
        target::write(&mut document, &mut settled.part(place), target);
    }
    findings::elsewhere(&mut document, &mut settled.rest());
    plan::conflicts(&mut document, report);
    plan::withheld(&mut document, report);
    findings::count_of_unknown(&mut document, report);
    if !report.warnings.is_empty() {
        document.heading(2, "About this run");
        document.list(&report.warnings.iter().map(|warning| text(&warning.to_string())).collect::<Vec<_>>());
    }
    findings::sources(&mut document, report);
    document.finish()
}

fn head(document: &mut Document, report: &Report) {
    let host = &report.host;
    document.heading(1, &format!("Storage under databases on {}", code(&host.name)));
    let eyes = match host.privileged {
        Some(true) => ", as root",
        Some(false) => ", without root's privileges",
        None => "",
    };
    let origin = if host.live {
        ""
    } else {
        ", from a capture of that machine, in which names and numbers may be masked"
    };
    document.para(&format!(
        "Made by walwise {} at {} on {}, {}, Linux {}, seen from the {}{eyes}{origin}; {} rules. Nothing was changed. \
         For review: commands are to be read before they are run, and what needs root says so.",
        code(&report.tool.version),
        code(&report.when),
        code(&host.name),
        text(&host.os),
        code(&host.kernel),
        text(&host.seen_by),
        report.tool.rules,
    ));
    if report.targets.is_empty() {
        document.para("No database, data mount or free disk was found.");
    }
}

/// Several targets in a row each.
fn summary(document: &mut Document, telling: &Telling<'_>, targets: &[&TargetSummary]) {
    if targets.len() < 2 {
        return;
    }
    let row = |target: &&TargetSummary| {
        let choice = target.rank.map(|rank| format!("choice {rank}: {}", text(&target.rank_because)));
        vec![
            target::standing(telling.report, target),
            order::criticals(telling, target).to_string(),
            code(&target.title),
            choice.unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = targets.iter().map(row).collect();
    document.table(&["verdict", "critical", "target", ""], &[false, true], &rows);
}

#[cfg(test)]
mod tests;
