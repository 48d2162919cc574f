use std::collections::BTreeMap;

use super::dedup::{FindingsByTarget, ShownItemsTracker};
use super::section::{Bullet, Detail, Grid};
use super::{RichText, Section, findings, target, target_order, unknown_facts, what_if, wording};
use crate::{Report, TargetSummary};
use walwise_judge::rules::Outcome;
use walwise_model::facts::catalog::host::RunEnvironment;
use walwise_model::facts::{Choice, Subject};
use walwise_model::text::JoinText;
use walwise_model::text::page_layout::WIDTH;
use walwise_model::text::wrap::display_width;

pub(crate) const NO_TARGETS_SENTENCE: &str =
    "No database, data mount or free disk was found. To check a directory, run walwise check DIR";

/// If the line is too long, the number of rules is left out, and then the distribution as well.
pub(crate) fn header_line(report: &Report) -> String {
    let host = &report.host;
    // Shortens `Debian GNU/Linux 12 (bookworm)` to `Debian 12`.
    let os = host
        .os
        .split(" (")
        .next()
        .unwrap_or(&host.os)
        .replace(" GNU/Linux", "");
    let eyes = host
        .privileged
        .map(|privileged| if privileged { "root" } else { "not root" });
    let capture = (!host.live).then_some("capture");
    let walwise = format!("walwise {}", report.tool.version);
    let kernel = format!("Linux {}", host.kernel);
    let rules = format!("{} rules", report.tool.rules);
    let joined = |os: Option<&str>, rules: Option<&str>| {
        [
            Some(&*walwise),
            Some(&*host.name),
            os,
            Some(&*kernel),
            Some(&*host.seen_by),
        ]
        .into_iter()
        .chain([eyes, capture, rules])
        .flatten()
        .join_with(" · ")
    };
    [joined(Some(&os), Some(&rules)), joined(Some(&os), None)]
        .into_iter()
        .find(|line| display_width(line) <= WIDTH)
        .unwrap_or_else(|| joined(None, None))
}

pub(crate) fn header_sections(report: &Report) -> Vec<Section> {
    let host = &report.host;
    let eyes = match host.privileged {
        Some(true) => ", as root",
        Some(false) => ", not as root",
        None => "",
    };
    let place = match RunEnvironment::from_word(&host.seen_by) {
        Some(RunEnvironment::Host) => "on the host",
        Some(RunEnvironment::Guest) => "in a guest",
        Some(RunEnvironment::Container) => "in a container",
        None => "host or guest unknown",
    };
    let mut section = Section::new_top("");
    section.push_sentence(
        RichText::plain("walwise ")
            .append_code(&report.tool.version)
            .append(" on ")
            .append_code(&host.name)
            .append(format!(": {}, Linux ", host.os))
            .append_code(&host.kernel)
            .append(format!(", {place}{eyes}")),
    );
    let origin = if host.live { "" } else { ", from a capture" };
    let (rules, pack) = (
        report.tool.rules,
        report.pack.version_and_short_fingerprint(),
    );
    section.push_sentence(
        RichText::code(&report.when).append(format!(", {rules} rules ({pack}){origin}")),
    );
    let mut sections = vec![section];
    if report.targets.is_empty() {
        sections.push(Section::new_top("").with_sentence(NO_TARGETS_SENTENCE));
    }
    sections
}

/// `None` with fewer than two targets.
pub(crate) fn targets_summary_section(
    findings: &FindingsByTarget<'_>,
    targets: &[&TargetSummary],
) -> Option<Section> {
    if targets.len() < 2 {
        return None;
    }
    let row = |target: &&TargetSummary| {
        let standing = target::verdict_or_content_heading(findings.report, target);
        let standing = match target_order::critical_finding_count(findings, target) {
            0 => standing,
            count => standing.append(format!(", {count} critical")),
        };
        let title = RichText::code(&target.title);
        let title = match target.rank {
            Some(rank) => title.append(format!(", choice {rank}: {}", target.rank_because)),
            None => title,
        };
        vec![standing, title]
    };
    Section::new_part("").with_grid(Grid {
        head: vec!["verdict", "target"],
        rows: targets.iter().map(row).collect(),
        ..Grid::default()
    })
}

pub(crate) fn host_sections<'a>(
    report: &'a Report,
    chapter: &mut ShownItemsTracker<'a>,
) -> Vec<Section> {
    let mut sections = findings::untargeted_finding_sections(chapter);
    sections.extend(conflicts_section(report, |_| true));
    sections.extend(withheld_section(report, |_| true));
    sections.extend(unknown_facts::unknown_fact_count_section(report));
    sections.extend(run_notes_section(report));
    sections.extend(report.what_if.iter().flat_map(what_if::what_if_sections));
    sections.extend(rule_sources_section(report));
    sections
}

/// `of` selects the subjects whose conflicts are shown.
pub(crate) fn conflicts_section(report: &Report, of: impl Fn(&Subject) -> bool) -> Option<Section> {
    let one = |conflict: &crate::Conflict| Bullet {
        text: RichText::code(conflict.setting.name).append(format!(
            " of {}",
            wording::describe_subject(&conflict.subject)
        )),
        details: vec![
            Detail::Field("followed", conflict.followed.clone().into()),
            Detail::Field(
                "overruled",
                format!("{}, because {}", conflict.overruled, conflict.because).into(),
            ),
        ],
        ..Bullet::default()
    };
    let conflicts = report
        .conflicts
        .iter()
        .filter(|conflict| of(&conflict.subject));
    Section::new_top("Conflicting rules").with_bullets(&["setting"], conflicts.map(one))
}

/// `of` selects the subjects whose advice is shown.
pub(crate) fn withheld_section(report: &Report, of: impl Fn(&Subject) -> bool) -> Option<Section> {
    let one = |withheld: &crate::WithheldAdvice| Bullet {
        text: format!(
            "{} for {}",
            withheld.advice,
            wording::describe_subject(&withheld.subject)
        )
        .into(),
        note: RichText::code(&withheld.rule),
        details: vec![Detail::Sentence(withheld.because.clone().into())],
        ..Bullet::default()
    };
    let withheld = report
        .withheld
        .iter()
        .filter(|withheld| of(&withheld.subject));
    Section::new_top("Withheld: not valid on this host")
        .with_bullets(&["advice", "rule"], withheld.map(one))
}

pub fn run_notes_section(report: &Report) -> Option<Section> {
    let warnings = report.warnings.iter();
    Section::new_top("About this run").with_bullets(
        &[],
        warnings.map(|warning| Bullet::from_sentence(warning.to_string())),
    )
}

/// Lists the sources of the rules that apply. Documents show this section, the terminal does not.
fn rule_sources_section(report: &Report) -> Option<Section> {
    let applies = report
        .findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies);
    let rules: BTreeMap<&str, &[String]> = applies.map(|one| (&*one.rule, &*one.refs)).collect();
    let row = |(rule, refs): (&str, &[String])| vec![RichText::code(rule), refs.join("; ").into()];
    Section {
        is_appendix: true,
        ..Section::new_top("Sources")
    }
    .with_grid(Grid {
        head: vec!["rule", "sources"],
        rows: rules.into_iter().map(row).collect(),
        ..Grid::default()
    })
}
