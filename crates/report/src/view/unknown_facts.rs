use std::collections::BTreeMap;

use super::dedup::ShownItemsTracker;
use super::section::{Badge, Bullet, Detail};
use super::{RichText, Section, wording};
use crate::missing_facts::{self, FactRemedy};
use crate::{Report, TargetSummary};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::MissingFact;
use walwise_model::parallel;

const MAX_NAMED: usize = 8;

const HEADING: &str = "Unknown";

pub(crate) fn target_unknown_facts_section(
    chapter: &ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Option<Section> {
    let needs = missing_target_facts(chapter, target);
    let bullet = |(help, group): (FactRemedy, RemedyGroup<'_>)| {
        let mut names =
            RichText::comma_separated_codes(group.names.iter().take(MAX_NAMED).copied());
        let more = group.names.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            names = names.append(format!(" and {more} more"));
        }
        Bullet {
            details: vec![Detail::Sentence(names)],
            ..Bullet::from_sentence(format!(
                "{}: {}",
                wording::count_with_noun(group.count, "fact"),
                help.instruction_text(group.count)
            ))
        }
    };
    let groups = group_by_remedy(chapter.report, &needs);
    Section::new_part(format!(
        "{HEADING}: {}",
        wording::count_with_noun(needs.len(), "fact")
    ))
    .with_bullets(&["facts"], groups.into_iter().rev().map(bullet))
}

pub(crate) fn unknown_facts_line(
    chapter: &ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Bullet {
    let needs = missing_target_facts(chapter, target);
    let says = match (needs.len(), missing_facts_summary(chapter.report, &needs)) {
        (0, _) => NONE_MISSING_TEXT.into(),
        (_, Some(says)) => says.into(),
        (count, None) => RichText::plain(wording::count_with_noun(count, "fact"))
            .append_section_reference(HEADING),
    };
    Bullet::with_badge(Badge::Remark("Unknown"), says)
}

pub const NONE_MISSING_TEXT: &str = "nothing relevant";

/// Formats the number of missing facts, and the instruction that makes the most of them readable.
/// `None` without such an instruction.
pub(crate) fn missing_facts_summary(report: &Report, needs: &[MissingFact]) -> Option<String> {
    let groups = group_by_remedy(report, needs)
        .into_iter()
        .filter(|(help, _)| *help != FactRemedy::NoKnownWay);
    let (help, RemedyGroup { count, .. }) = groups.max_by_key(|(_, group)| group.count)?;
    let most = if count == needs.len() {
        String::new()
    } else {
        format!(", {count} of them")
    };
    Some(format!(
        "{}{most}: {}",
        wording::count_with_noun(needs.len(), "fact"),
        help.instruction_text(count)
    ))
}

/// Facts that no target needs are counted as well; absent values without a remedy are not.
pub(crate) fn unknown_fact_count_section(report: &Report) -> Option<Section> {
    let subjects: Vec<_> = report.facts.all_subjects().collect();
    let parts = parallel::map_chunks(&subjects, |subjects| {
        subjects
            .iter()
            .flat_map(|subject| report.facts.rows_of(subject))
            .filter(|row| row.reading.is_fillable_gap())
            .count()
    });
    let (says, names) = match parts.into_iter().sum() {
        0 => return None,
        1 => ("1 host fact is unknown; ".to_owned(), " gives the reason."),
        count => (
            format!("{count} host facts are unknown; "),
            " gives the reason for each.",
        ),
    };
    let facts = report
        .host
        .append_run_options_to_command(ShellCommand::new("walwise facts"))?;
    let says = RichText::plain(says)
        .append_command(facts.as_str())
        .append(names);
    Some(Section::new_top("").with_sentence(says))
}

#[derive(Default)]
struct RemedyGroup<'n> {
    count: usize,
    names: Vec<&'n str>,
}

fn missing_target_facts(
    chapter: &ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Vec<MissingFact> {
    let about = chapter.target_findings(target).iter().copied();
    missing_facts::target_missing_facts(chapter.report, target, about)
        .into_iter()
        .map(|needed| needed.need)
        .collect()
}

fn group_by_remedy<'n>(
    report: &Report,
    needs: &'n [MissingFact],
) -> BTreeMap<FactRemedy, RemedyGroup<'n>> {
    let mut groups: BTreeMap<FactRemedy, RemedyGroup<'n>> = BTreeMap::new();
    for need in needs {
        let group = groups
            .entry(FactRemedy::from_missing_fact(need, report))
            .or_default();
        group.count += 1;
        if !group.names.contains(&&*need.fact) {
            group.names.push(&need.fact);
        }
    }
    groups
}
