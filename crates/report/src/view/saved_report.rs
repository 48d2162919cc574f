//! The sections of a saved report. The file may be forged, so its content is shown as text and
//! without commands.

use std::collections::BTreeSet;

use super::latency::HEADING;
use super::section::{Badge, Bullet, Grid};
use super::{RichText, Section, wording};
use crate::difference::{ProbeSnapshot, ReportSnapshot, TargetSnapshot};
use crate::model::difference::{FactState, FindingState};
use walwise_model::facts::Subject;
use walwise_model::text::{format_micros, format_micros_interval};

/// Targets in the order of their names, then other findings and the facts.
pub fn saved_report_sections(kept: &ReportSnapshot) -> Vec<Section> {
    let mut sections = vec![saved_report_header_section(kept)];
    let mut told: BTreeSet<&(String, Subject)> = BTreeSet::new();
    for (target, about) in &kept.targets {
        sections.push(saved_target_heading(kept, target, about));
        let findings: Vec<_> = kept
            .findings
            .iter()
            .filter(|(key, _)| about.subjects.contains(&key.1) && told.insert(key))
            .collect();
        sections.extend(saved_findings_section(
            Section::new_part("Findings"),
            &findings,
        ));
        sections.extend(kept.probes.get(target).and_then(saved_latency_section));
    }
    let rest: Vec<_> = kept
        .findings
        .iter()
        .filter(|(key, _)| !told.contains(key))
        .collect();
    sections.extend(saved_findings_section(
        Section::new_top("Other findings"),
        &rest,
    ));
    sections.extend(saved_facts_section(kept));
    sections
}

fn saved_report_header_section(kept: &ReportSnapshot) -> Section {
    let made = &kept.origin;
    let eyes = match made.privileged {
        Some(true) => " as root",
        Some(false) => " not as root",
        None => "",
    };
    let origin = if made.live { "" } else { ", from a capture" };
    let mut section = Section::new_top("");
    section.push_sentence(
        RichText::plain("Report saved by walwise ")
            .append_code(&made.walwise)
            .append(" on ")
            .append_code(&made.host)
            .append(format!(": {}, Linux ", made.os))
            .append_code(&made.kernel)
            .append(format!(", made at {}{eyes}{origin}.", made.when)),
    );
    section.push_sentence(
        RichText::plain("Shown as saved: nothing was checked again, and commands are omitted. ")
            .append_command("walwise check")
            .append(" checks this host."),
    );
    if kept.unreadable > 0 {
        section.push_sentence(format!(
            "{} of the report could not be read.",
            wording::count_with_noun(kept.unreadable, "part")
        ));
    }
    if kept.unknown_facts > 0 {
        let says = "not supported by this version.";
        section.push_sentence(format!(
            "Skipped: {} {says}",
            wording::count_with_noun(kept.unknown_facts, "fact")
        ));
    }
    section
}

fn saved_target_heading(
    kept: &ReportSnapshot,
    target: &Subject,
    about: &TargetSnapshot,
) -> Section {
    let name = if about.title.is_empty() {
        target.name()
    } else {
        &about.title
    };
    let standing = kept
        .verdicts
        .get(target)
        .map_or("no verdict", |standing| standing.as_str());
    Section::new_top(RichText::verdict(standing).append(": ").append_code(name))
}

type FindingEntry<'k> = (&'k (String, Subject), &'k FindingState);

fn saved_findings_section(section: Section, findings: &[FindingEntry<'_>]) -> Option<Section> {
    let mut findings = findings.to_vec();
    findings.sort_by_key(|(_, finding)| (!finding.applies, std::cmp::Reverse(finding.level)));
    let bullet = |((rule, subject), finding): FindingEntry<'_>| Bullet {
        subject: wording::describe_subject(subject),
        note: RichText::code(rule),
        ..Bullet::with_badge(
            Badge::Level(finding.level, !finding.applies),
            &*finding.title,
        )
    };
    section.with_bullets(
        &["level", "of", "finding", "rule"],
        findings.into_iter().map(bullet),
    )
}

fn saved_latency_section(probe: &ProbeSnapshot) -> Option<Section> {
    let mut section = Section::new_part(HEADING);
    let rows = probe.rows.iter().map(|((method, pages), row)| {
        let median = row.median_us;
        vec![
            RichText::code(method.name()),
            pages.to_string().into(),
            format_micros(median.value).into(),
            format_micros_interval(median.low, median.high).into(),
        ]
    });
    section.push_grid(Grid {
        head: vec!["method", "pages", "median", "95 % interval"],
        right_aligned: vec![false, true, true, true],
        rows: rows.collect(),
        ..Grid::default()
    });
    section.push_sentence(
        RichText::plain("Measured in ")
            .append_code(&probe.directory)
            .append(format!(" at {}.", probe.when)),
    );
    let doubts = probe.doubts.iter();
    section.with_bullets(
        &[],
        doubts.map(|says| Bullet::with_badge(Badge::Remark("caveat"), &**says)),
    )
}

fn saved_facts_section(kept: &ReportSnapshot) -> Option<Section> {
    let section = Section {
        is_appendix: true,
        ..Section::new_top("Facts")
    };
    let rows = kept.facts.iter().flat_map(|(subject, facts)| {
        facts.iter().map(move |(name, fact)| {
            let value = match fact {
                FactState::Known { value } => value.displayed_text(),
                FactState::Unknown { why } => format!("unknown: {why}"),
            };
            vec![
                wording::describe_subject(subject).into(),
                RichText::code(*name),
                value.into(),
            ]
        })
    });
    section.with_grid(Grid {
        head: vec!["of", "fact", "value"],
        rows: rows.collect(),
        ..Grid::default()
    })
}
