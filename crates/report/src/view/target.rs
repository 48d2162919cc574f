use std::collections::BTreeSet;

use super::dedup::ShownItemsTracker;
use super::section::{Badge, Bullet, Element, Grid};
use super::{
    ReportPart, RichText, Section, answers, findings, latency, plan, unknown_facts, wording,
};
use crate::{DirectoryRow, Report, TargetSummary};
use walwise_judge::durability::Verdict;

pub fn verdict_or_content_heading(report: &Report, target: &TargetSummary) -> RichText {
    if let Some(verdict) = report.verdict(&target.target) {
        return verdict_text_with_reservations(verdict);
    }
    let Some(content) = &target.content else {
        return RichText::verdict("no verdict");
    };
    let words = content.heading();
    let (word, rest) = words.split_at(words.find(' ').unwrap_or(words.len()));
    RichText::verdict(word).append(rest)
}

/// A reservation is a lack of redundancy, or a session whose own settings make commits less
/// durable.
pub fn verdict_text_with_reservations(verdict: &Verdict) -> RichText {
    RichText::verdict(verdict.standing.as_str()).append(verdict.heading_suffix())
}

pub fn device_content_sentences(target: &TargetSummary) -> Vec<String> {
    let Some(content) = &target.content else {
        return Vec::new();
    };
    let mut sentences = vec![content.explanation_text()];
    if content.may_get_new_file_system() {
        let undecided = "Durability cannot be checked until the device is formatted and mounted.";
        sentences.push(undecided.to_owned());
    }
    let choice = |rank| format!("Rank {rank} among the free disks: {}.", target.rank_because);
    sentences.extend(target.rank.map(choice));
    sentences
}

pub(crate) fn target_heading(report: &Report, target: &TargetSummary) -> Section {
    Section::new_top(
        verdict_or_content_heading(report, target)
            .append(": ")
            .append_code(&target.title),
    )
}

pub(crate) fn target_report_part_sections<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
    part: ReportPart,
) -> Vec<Section> {
    let report = chapter.report;
    match part {
        ReportPart::Plan => plan::plan_sections(chapter, target),
        ReportPart::Evidence => report
            .verdict(&target.target)
            .map(evidence_sections)
            .unwrap_or_default(),
        ReportPart::Latency => latency::latency_section(report, target)
            .into_iter()
            .collect(),
        ReportPart::Unknown => {
            let undecided = findings::target_undecided_section(chapter, target);
            let unknown = unknown_facts::target_unknown_facts_section(chapter, target);
            undecided.into_iter().chain(unknown).collect()
        }
    }
}

/// Counts the known faults that were checked and that apply; `None` if no known fault was checked.
pub fn known_faults_sentence(verdict: &Verdict) -> Option<String> {
    let evidence = verdict.paths.iter().flat_map(|path| &path.evidence);
    let rules: BTreeSet<&str> = evidence
        .filter(|one| one.layer.is_rule())
        .map(|one| &*one.source)
        .collect();
    let here = match rules.len() {
        0 => "none applies".to_owned(),
        1 => "1 applies".to_owned(),
        count => format!("{count} apply"),
    };
    let checked = verdict.caps_checked;
    (checked > 0)
        .then(|| format!("Known faults that lose flushed data: {checked} checked, {here}."))
}

pub(crate) fn target_sections<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
) -> Vec<Section> {
    let report = chapter.report;
    let verdict = report.verdict(&target.target);
    let mut top = target_heading(report, target);
    match verdict {
        Some(verdict) => {
            top.push_sentence(RichText::strong(&verdict.sentence));
            for says in [&verdict.second_fault, &verdict.host_loss, &verdict.limits] {
                top.push_sentence(&**says);
            }
            top.push_sentences(known_faults_sentence(verdict));
        }
        None => top.push_sentences(device_content_sentences(target)),
    }
    let mut sections = vec![top];
    sections.extend(server_directories_section(target));
    let mut shared = Section::new_part("");
    shared.push_sentences(wording::shared_storage_sentences(report, &target.target));
    match (sections.as_mut_slice(), shared.none_if_empty()) {
        ([top], Some(shared)) => top.elements.extend(shared.elements),
        (_, shared) => sections.extend(shared),
    }
    let mut answered = Section::new_part("Answers");
    if chapter.same_as.is_none() {
        answered.push_grid(answers::answers_grid(answers::answer_rows(target)));
        if let Some(grid) = answers::filesystem_candidates_grid(report, target) {
            answered.push_grid(grid);
        }
    }
    sections.extend(answered.none_if_empty());
    sections.extend(findings::serious_findings_section(chapter, target));
    if let Some(stack) = report.stack(&target.target) {
        let mut section = Section::new_part("Stack");
        section.elements.push(Element::Stack(stack.layers.clone()));
        if let Some(count) = stack.left_out {
            section.push_sentence(format!("{count} more layers are omitted."));
        }
        sections.push(section);
    }
    sections.extend(verdict.into_iter().flat_map(evidence_sections));
    sections.extend(latency::latency_section(report, target));
    if let Some(other) = chapter.same_as {
        let says =
            RichText::plain("The rest of this report is the same as for ").append_code(other);
        sections.push(Section::new_part("").with_sentence(says));
        return sections;
    }
    sections.extend(plan::plan_sections(chapter, target));
    sections.extend(findings::findings_without_advice_section(chapter, target));
    sections.extend(findings::target_undecided_section(chapter, target));
    sections.extend(unknown_facts::target_unknown_facts_section(chapter, target));
    sections
}

/// Lists the server directories on a target; `None` if the target itself is the only one.
pub fn server_directories_section(target: &TargetSummary) -> Option<Section> {
    if target
        .directories
        .iter()
        .all(|directory| directory.path == target.target.name())
    {
        return None;
    }
    let row = |directory: &DirectoryRow| {
        let verdict = directory
            .verdict
            .map_or("no verdict", |standing| standing.as_str());
        vec![
            (&*directory.role).into(),
            verdict.into(),
            RichText::code(&directory.path),
        ]
    };
    Section::new_part("Stored here").with_grid(Grid {
        head: vec!["role", "verdict", "path"],
        rows: target.directories.iter().map(row).collect(),
        ..Grid::default()
    })
}

pub fn evidence_sections(verdict: &Verdict) -> Vec<Section> {
    let Some((worst, others)) = verdict.paths.split_first() else {
        return Vec::new();
    };
    let piece = |piece: &walwise_judge::durability::Evidence| Bullet {
        badges: vec![Badge::Standing(piece.standing), Badge::Layer(piece.layer)],
        text: (&*piece.text).into(),
        note: RichText::code(&piece.source),
        ..Bullet::default()
    };
    let mut bullets: Vec<Bullet> = worst.evidence.iter().map(piece).collect();
    bullets.extend(others.iter().map(|path| {
        Bullet::with_badge(
            Badge::Standing(path.standing),
            RichText::plain("same on the path ").append_rich_text(RichText::join(
                path.hops.iter().map(|hop| RichText::code(hop.name())),
                " → ",
            )),
        )
    }));
    let evidence = Section::new_part("Evidence")
        .with_bullets(&["", "layer", "evidence", "read from"], bullets);
    let missing = Section::new_part(if verdict.standing.is_unproven() {
        "Needed to decide"
    } else {
        "Missing"
    });
    let needs = verdict.missing.iter().map(wording::missing_fact_text);
    let missing = missing.with_bullets(&[], needs.map(Bullet::from_sentence));
    [evidence, missing].into_iter().flatten().collect()
}
