//! One target: the verdict, the stack, the evidence, what was measured, the plan.

use super::write::{Document, code, strong, text};
use super::{findings, plan};
use crate::durability::{Path, Standing, Verdict};
use crate::facts::Subject;
use crate::measure::Measurement;
use crate::quote::comment;
use crate::report::text::telling::Part;
use crate::report::text::{measured, target as told, words};
use crate::report::{DeviceContent, DirectoryRow, Report, TargetSummary};
use crate::text::page::Page;

/// The verdict of a target in words.
pub fn standing(report: &Report, target: &TargetSummary) -> String {
    match report.verdict(&target.target) {
        Some(verdict) => verdict.heading(),
        None => target.content.as_ref().map_or_else(|| "no verdict".to_owned(), DeviceContent::words),
    }
}

/// Writes all about one target.
pub fn write<'a>(document: &mut Document, part: &mut Part<'_, 'a>, target: &'a TargetSummary) {
    let report = part.report;
    document.heading(2, &format!("{}: {}", standing(report, target), code(&target.title)));
    let verdict = report.verdict(&target.target);
    if let Some(verdict) = verdict {
        document.para(&strong(&verdict.sentence));
        document.para(&text(&verdict.second_fault));
        document.para(&text(&verdict.host_loss));
        document.para(&text(&verdict.limits));
    }
    if verdict.is_none() {
        for says in told::without_verdict(target) {
            document.para(&text(&says));
        }
    }
    let row = |directory: &DirectoryRow| {
        let verdict = directory.verdict.map_or("no verdict", Standing::word);
        vec![text(&directory.role), verdict.to_owned(), code(&directory.path)]
    };
    document.table(
        &["kept here", "verdict", "path"],
        &[],
        &target.directories.iter().map(row).collect::<Vec<_>>(),
    );
    stack(document, report, target);
    if let Some(verdict) = verdict {
        evidence(document, verdict);
    }
    for probe in report.probes.iter().filter(|probe| probe.target == target.target) {
        measurement(document, report, target, &probe.measurement);
    }
    if let Some(other) = part.like {
        document.para(&format!("Everything else is as for {}.", code(other)));
        return;
    }
    plan::write(document, part, target);
    findings::of_target(document, part, target);
    findings::unknown(document, part, target);
}

fn stack(document: &mut Document, report: &Report, target: &TargetSummary) {
    let Some(stack) = report.stack(&target.target) else { return };
    document.heading(3, "Stack");
    let mut page = Page::unbounded();
    let row = |layer| told::layer(layer).iter().map(|cell| comment::inline(cell)).collect();
    page.table(0, &stack.layers.iter().map(row).collect::<Vec<Vec<String>>>(), &[]);
    document.code("text", &page.finish().lines().collect::<Vec<_>>());
    if let Some(count) = stack.left_out {
        document.para(&format!("{count} more layers are left out."));
    }
}

/// The evidence of the worst way in full, the others in a line each.
fn evidence(document: &mut Document, verdict: &Verdict) {
    let Some((worst, others)) = verdict.paths.split_first() else { return };
    document.heading(3, "Evidence");
    let rows: Vec<Vec<String>> = worst
        .evidence
        .iter()
        .map(|piece| {
            vec![
                piece.standing.word().to_owned(),
                piece.layer.word().to_owned(),
                text(&piece.says),
                code(&piece.source),
            ]
        })
        .collect();
    document.table(&["", "layer", "says", "read from"], &[], &rows);
    let way = |path: &Path| {
        let hops: Vec<String> = path.hops.iter().map(|hop: &Subject| code(hop.name())).collect();
        format!("{} by way of {}", path.standing.word(), hops.join(" → "))
    };
    document.list(&others.iter().map(way).collect::<Vec<_>>());
    if !verdict.missing.is_empty() {
        document.heading(3, if verdict.standing.is_unproven() { "What would settle it" } else { "Missing" });
        document.list(&verdict.missing.iter().map(|need| text(&words::need(need))).collect::<Vec<_>>());
    }
}

fn measurement(document: &mut Document, report: &Report, target: &TargetSummary, measurement: &Measurement) {
    document.heading(3, "Price of one commit");
    document.para(&text(&measured::lead(measurement)));
    let mut rows = measured::rows(report, target, measurement);
    // Behind the method there are figures only, which are our own.
    for method in rows.iter_mut().filter_map(|row| row.first_mut()) {
        *method = code(method);
    }
    document.table(&measured::HEAD, &measured::RIGHT, &rows);
    document.list(
        &measured::remarks(report, target, measurement).iter().map(|one| text(one)).collect::<Vec<_>>(),
    );
}
