//! Sections with the differences from an earlier report. Subjects with an equal change share a
//! line. Facts that change constantly, and derived facts, are only counted, so that they do not
//! hide other changes; the JSON has all facts.

mod limited_name_list {

    use crate::view::wording;
    use walwise_model::text::format_names_and_rest;

    const MAX_NAMES: usize = 6;

    pub fn join_distinct_names_with_limit(names: impl Iterator<Item = String>) -> String {
        let names: Vec<String> = names.collect();
        format_names_and_rest(
            &wording::distinct_texts(names.iter().map(String::as_str)),
            MAX_NAMES,
        )
    }
}
mod changed_facts {
    use std::collections::{BTreeMap, BTreeSet};

    use super::limited_name_list::join_distinct_names_with_limit;
    use crate::model::difference::{Difference, DisplayedValue, FactChange};
    use crate::view::{RichText, Section, wording};
    use walwise_model::facts::{FactStability, Subject};
    use walwise_model::text::JoinText;

    pub fn changed_fact_sections(difference: &Difference) -> Vec<Section> {
        let (mut both, mut follow, mut lost, mut learnt) = (vec![], vec![], vec![], vec![]);
        let mut drift = 0;
        for change in &difference.facts {
            let is_known_in_both = change.known_value_pair().is_some();
            let is_known_now = change
                .now
                .as_ref()
                .is_some_and(|now| now.known_value().is_some());
            match change.nature {
                FactStability::Drifting => drift += 1,
                FactStability::Concluded if is_known_in_both => follow.push(change),
                _ if !change.is_lasting() => {}
                _ if is_known_in_both => both.push(change),
                _ if is_known_now => learnt.push(change),
                _ => lost.push(change),
            }
        }
        let mut changed = Section::new_part("Changed");
        for ((fact, change), subjects) in group_subjects_by_fact_change(&both) {
            let subjects =
                join_distinct_names_with_limit(subjects.into_iter().map(wording::describe_subject));
            changed.push_sentence(RichText::code(fact).append(format!(" of {subjects}: {change}")));
        }
        let names = |changes: &[&FactChange]| {
            let distinct: BTreeSet<&str> = changes.iter().map(|change| change.fact).collect();
            join_distinct_names_with_limit(distinct.into_iter().map(str::to_owned))
        };
        let mut rest = Section::new_part("");
        if !follow.is_empty() {
            let because = if both.is_empty() {
                "Derived differences"
            } else {
                "Derived changes"
            };
            rest.push_sentence(format!("{because}: {}", names(&follow)));
        }
        for (what, changes) in [("Now unknown", lost), ("Newly readable", learnt)] {
            if !changes.is_empty() {
                let count = wording::count_with_noun(changes.len(), "fact");
                rest.push_sentence(format!("{what}: {count} ({})", names(&changes)));
            }
        }
        if drift > 0 {
            let count = wording::count_with_noun(drift, "fact");
            rest.push_sentence(format!(
                "Constantly changing, such as free space (listed only in the JSON report): {count}"
            ));
        }
        [changed, rest]
            .into_iter()
            .filter_map(Section::none_if_empty)
            .collect()
    }

    /// Groups are in the order of first occurrence. A change from or to an unknown value is left
    /// out.
    pub fn group_subjects_by_fact_change<'c>(
        changes: &[&'c FactChange],
    ) -> Vec<((&'static str, String), Vec<&'c Subject>)> {
        let mut groups: Vec<((&'static str, String), Vec<&Subject>)> = Vec::new();
        let mut at: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for change in changes {
            let Some((before, now)) = change.known_value_pair() else {
                continue;
            };
            let key = (change.fact, fact_change_text(before, now));
            let place = *at.entry(key.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, subjects)) => subjects.push(&change.subject),
                None => groups.push((key, vec![&change.subject])),
            }
        }
        groups
    }

    fn fact_change_text(before: &DisplayedValue, now: &DisplayedValue) -> String {
        let (DisplayedValue::Words(before), DisplayedValue::Words(now)) = (before, now) else {
            return format!("{} → {}", before.displayed_text(), now.displayed_text());
        };
        let part = |what: &str, of: &[String], other: &[String]| {
            let more = of.iter().filter(|word| !other.contains(word));
            let more = more.join_with(", ");
            (!more.is_empty()).then(|| format!("{what} {more}"))
        };
        let parts = [part("added", now, before), part("removed", before, now)];
        let text = parts.into_iter().flatten().join_with("; ");
        if text.is_empty() {
            "the same items, but different counts".to_owned()
        } else {
            text
        }
    }
}
mod latency_shift {

    use super::changed_facts::group_subjects_by_fact_change;
    use super::limited_name_list::join_distinct_names_with_limit;
    use crate::model::difference::{Difference, FactChange, MethodLatencyShift, ProbeLatencyShift};
    use crate::view::section::Grid;
    use crate::view::{RichText, Section, wording};
    use walwise_measure::measure::{Estimate, LatencyShift, ShiftDirection};
    use walwise_model::text::format_micros;

    pub fn latency_shift_section(difference: &Difference, probe: &ProbeLatencyShift) -> Section {
        let mut section = Section::new_part(
            RichText::plain("Commit latency on ")
                .append_code(probe.target.name())
                .append(format!(
                    ", then ({}) and now: medians, one commit every 10 ms",
                    probe.before
                )),
        );
        let is_judged = probe.doubts.is_empty();
        let rows = probe
            .rows
            .iter()
            .filter(|row| row.pages == 1)
            .map(|one| latency_shift_row(one, is_judged));
        section.push_grid(Grid {
            head: vec!["method", "then", "now", "shift", "99 % interval", ""],
            right_aligned: vec![false, true, true, true, true, false],
            rows: rows
                .map(|row| row.into_iter().map(RichText::plain).collect())
                .collect(),
            ..Grid::default()
        });
        let (then, now) = (&probe.directory_before, &probe.directory_now);
        if then != now {
            section.push_sentence(
                RichText::plain("Measured in ")
                    .append_code(then)
                    .append(" then, in ")
                    .append_code(now)
                    .append(" now."),
            );
        }
        section.push_sentence(latency_shift_sentence(probe));
        if probe.is_significant() {
            section.push_sentence(latency_cause_sentence(difference, probe));
        }
        if probe.main_shift_direction() == Some(ShiftDirection::Slower) {
            for known in &difference.known_changes {
                section.push_sentence(
                    RichText::plain(format!("Known: {}. {} (", known.title, known.because))
                        .append_code(&known.rule)
                        .append(")"),
                );
            }
        }
        section
    }

    fn latency_shift_row(row: &MethodLatencyShift, is_judged: bool) -> Vec<String> {
        let cells = match &row.shift {
            None => [String::new(), String::new(), "too few commits".to_owned()],
            Some(LatencyShift { percent, moved, .. }) => {
                let Estimate { value, low, high } = *percent;
                let signed = |remark: &str| {
                    [
                        signed_percent(value),
                        format!("{} – {}", signed_percent(low), signed_percent(high)),
                        remark.to_owned(),
                    ]
                };
                match moved {
                    _ if !is_judged => signed("not compared"),
                    ShiftDirection::Not => signed("no significant change"),
                    // The word `slower` or `faster` replaces the sign.
                    moved => {
                        let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                        [
                            format!("{:.0} % {}", value.abs(), shift_direction_word(*moved)),
                            format!("{least:.0} % – {most:.0} %"),
                            String::new(),
                        ]
                    }
                }
            }
        };
        let mut row = vec![
            row.method.name().to_owned(),
            format_micros(row.before_us.value),
            format_micros(row.now_us.value),
        ];
        row.extend(cells);
        row
    }

    fn signed_percent(value: f64) -> String {
        // Adding 0.0 turns -0 into 0.
        format!("{:+.0} %", value.round() + 0.0)
    }

    fn shift_direction_word(moved: ShiftDirection) -> &'static str {
        match moved {
            ShiftDirection::Slower => "slower",
            ShiftDirection::Faster => "faster",
            ShiftDirection::Not => "no significant change",
        }
    }

    fn latency_shift_sentence(probe: &ProbeLatencyShift) -> String {
        let Some(main) = probe.main_method_shift() else {
            return "No method was measured with one commit every 10 ms in both reports; measure again.".to_owned();
        };
        let method = main.method.name();
        match &main.shift {
            _ if !probe.doubts.is_empty() => format!(
                "Not compared, because of caveats ({}).",
                probe.doubts.join("; ")
            ),
            None => "Too few commits to compare.".to_owned(),
            Some(shift) if shift.moved == ShiftDirection::Not => format!(
                "No significant change: {method} {} (single measurements vary by {:.0} %).",
                signed_percent(shift.percent.value),
                shift.drift_percent
            ),
            Some(shift) => format!(
                "A commit with {method} is {:.0} % {} (at least {:.0} %), which exceeds the noise.",
                shift.percent.value.abs(),
                shift_direction_word(shift.moved),
                shift.percent.low.abs().min(shift.percent.high.abs())
            ),
        }
    }

    fn latency_cause_sentence(difference: &Difference, probe: &ProbeLatencyShift) -> String {
        if !difference.same_host {
            return "The reports are from different hosts, which can explain the shift.".to_owned();
        }
        if probe.likely_causes.is_empty() {
            return "No known fact that affects commit latency has changed.".to_owned();
        }
        let is_one = |change: &&FactChange| {
            probe
                .likely_causes
                .iter()
                .any(|cause| (&cause.subject, cause.fact) == (&change.subject, change.fact))
        };
        let changes: Vec<&FactChange> = difference.facts.iter().filter(is_one).collect();
        let groups = group_subjects_by_fact_change(&changes).into_iter();
        let causes: Vec<String> = groups
            .map(|((fact, change), subjects)| {
                let subjects = subjects.into_iter().map(wording::describe_subject);
                let subjects = join_distinct_names_with_limit(subjects);
                format!("{fact} of {subjects} ({change})")
            })
            .collect();
        match causes.as_slice() {
            [one] => format!("Likely cause: {one}."),
            several => format!(
                "Likely cause, one of: {}.",
                join_distinct_names_with_limit(several.iter().cloned())
            ),
        }
    }
}

use super::section::{Badge, Bullet, Element, ItemRef};
use super::{RichText, Section, wording};
use crate::Report;
use crate::model::difference::{Difference, FindingChange, FindingChangeKind, VerdictChange};
use limited_name_list::join_distinct_names_with_limit;
use walwise_judge::rules::Level;
use walwise_model::facts::{Scope, Subject};

/// Empty without a baseline.
pub fn baseline_sections(report: &Report) -> Vec<Section> {
    let Some(difference) = &report.baseline else {
        return Vec::new();
    };
    let before = &difference.before;
    let mut top = Section::new_top(format!(
        "Since the baseline of {} (walwise {}, {}, Linux {})",
        before.when, before.walwise, before.os, before.kernel
    ));
    if !difference.same_host {
        top.push_sentence(
            RichText::plain("ANOTHER HOST: the baseline is from ")
                .append_code(&before.host)
                .append(", this report from ")
                .append_code(&report.host.name)
                .append(". The differences are between two hosts, not changes on one host."),
        );
    }
    if !difference.has_changes_besides_drift() {
        top.push_sentence("No lasting differences.");
    }
    let mut sections = vec![top];
    let parts = [
        regressions_section(difference),
        improvements_section(difference),
        no_longer_checked_section(difference),
        lower_level_changes_section(difference),
        subject_changes_section(difference),
    ];
    sections.extend(parts.into_iter().flatten());
    sections.extend(changed_facts::changed_fact_sections(difference));
    sections.extend(
        difference
            .probes
            .iter()
            .map(|probe| latency_shift::latency_shift_section(difference, probe)),
    );
    sections.extend(remaining_findings_and_remarks_section(difference));
    sections
}

/// Lists subjects that are new or gone, then changed facts, one sentence each.
pub fn subject_and_fact_change_sentences(difference: &Difference) -> Vec<String> {
    let sections = subject_changes_section(difference)
        .into_iter()
        .chain(changed_facts::changed_fact_sections(difference));
    let sentence = |element: Element| match element {
        Element::Sentence(says) => Some(says.to_string()),
        Element::Bullets(_) | Element::Grid(_) | Element::Stack(_) | Element::Instructions(_) => {
            None
        }
    };
    sections
        .flat_map(|section| section.elements)
        .filter_map(sentence)
        .collect()
}

fn regressions_section(difference: &Difference) -> Option<Section> {
    let mut worse: Vec<&FindingChange> =
        serious_findings(difference, FindingChange::is_finding_worse).collect();
    worse.sort_by_key(|finding| std::cmp::Reverse(finding.latest_finding_level()));
    let open = serious_findings(difference, |finding| {
        finding.now.as_ref().is_some_and(|now| !now.applies)
            && matches!(
                finding.class,
                FindingChangeKind::Undecided | FindingChangeKind::Appeared
            )
    });
    let open: Vec<String> = open.map(|finding| finding.rule.clone()).collect();
    let mut section = Section::new_part("Worse now");
    let verdicts = changed_verdict_bullets(difference, |change| change.now < change.before);
    let findings = worse.into_iter().filter_map(|finding| {
        finding_change_bullet(finding, &previous_finding_state_suffix(finding))
    });
    section.push_bullets(&COLUMNS, verdicts.chain(findings).collect());
    if !open.is_empty() {
        let count = wording::count_with_noun(open.len(), "finding");
        let names = join_distinct_names_with_limit(open.into_iter());
        section.push_sentence(format!(
            "{count} at warning level or above can no longer be decided: {names}"
        ));
    }
    section.none_if_empty()
}

/// The findings of level `warning` or above that changed in this way.
fn serious_findings(
    difference: &Difference,
    has_changed: impl Fn(&FindingChange) -> bool,
) -> impl Iterator<Item = &FindingChange> {
    difference.findings.iter().filter(move |finding| {
        has_changed(finding) && finding.latest_finding_level() >= Level::Warning
    })
}

const COLUMNS: [&str; 4] = ["now", "of", "what", "rule"];

fn changed_verdict_bullets(
    difference: &Difference,
    has_changed: fn(&&VerdictChange) -> bool,
) -> impl Iterator<Item = Bullet> {
    let changes = difference.verdicts.iter().filter(has_changed);
    changes.map(|change| {
        let was = format!(", was {}", change.before);
        let says = RichText::code(change.target.name()).append(was);
        Bullet::with_badge(Badge::Standing(change.now), says)
    })
}

fn previous_finding_state_suffix(finding: &FindingChange) -> String {
    match (finding.class, &finding.before) {
        (FindingChangeKind::Level, Some(before)) => format!(", was {}", before.level),
        (FindingChangeKind::Decided, _) => ", was undecided".to_owned(),
        (FindingChangeKind::Appeared, _) => ", not in the baseline".to_owned(),
        _ => String::new(),
    }
}

fn improvements_section(difference: &Difference) -> Option<Section> {
    let verdicts = changed_verdict_bullets(difference, |change| change.now > change.before);
    let fixed = serious_findings(difference, FindingChange::is_finding_fixed);
    let fixed = fixed.filter_map(|finding| {
        let mut bullet = finding_change_bullet(finding, ", fixed")?;
        // No link to the rule: a fixed finding needs no fix.
        bullet.item.rules.clear();
        Some(bullet)
    });
    Section::new_part("Better now").with_bullets(&COLUMNS, verdicts.chain(fixed))
}

fn no_longer_checked_section(difference: &Difference) -> Option<Section> {
    let gone = serious_findings(difference, |finding| {
        finding.class == FindingChangeKind::Gone
            && finding.before.as_ref().is_some_and(|before| before.applies)
    });
    let bullets = gone.filter_map(|finding| finding_change_bullet(finding, ""));
    Section::new_part("No longer checked").with_bullets(&COLUMNS, bullets)
}

fn finding_change_bullet(finding: &FindingChange, how: &str) -> Option<Bullet> {
    let latest = finding.latest_finding_state()?;
    Some(Bullet {
        subject: wording::describe_subject(&finding.subject),
        note: RichText::code(&finding.rule).append(how),
        item: ItemRef::new(
            format!("changed {} {}", finding.rule, finding.subject),
            std::slice::from_ref(&finding.rule),
            &finding.subject,
        ),
        ..Bullet::with_badge(Badge::Level(latest.level, false), &*latest.title)
    })
}

fn lower_level_changes_section(difference: &Difference) -> Option<Section> {
    let mut section = Section::new_part("");
    let mut push = |what: &str, is_of_kind: fn(&FindingChange) -> bool| {
        let light = difference
            .findings
            .iter()
            .filter(|f| f.latest_finding_level() < Level::Warning && is_of_kind(f));
        push_named_sentence(&mut section, what, light.map(|f| f.rule.clone()));
    };
    push("New at lower levels", FindingChange::is_finding_worse);
    push("Gone at lower levels", FindingChange::is_finding_fixed);
    section.none_if_empty()
}

/// Nothing is pushed without names.
fn push_named_sentence(section: &mut Section, what: &str, names: impl Iterator<Item = String>) {
    let mut names = names.peekable();
    if names.peek().is_some() {
        section.push_sentence(format!("{what}: {}", join_distinct_names_with_limit(names)));
    }
}

/// Each target gets its own line, for the admin who is responsible for it.
fn subject_changes_section(difference: &Difference) -> Option<Section> {
    let is_target = |subject: &&Subject| subject.scope() == Scope::Target;
    let mut section = Section::new_part("");
    for target in difference.gone.iter().filter(is_target) {
        let says = " no longer exists; its baseline entries were skipped";
        section.push_sentence(RichText::code(target.name()).append(says));
    }
    for target in difference.appeared.iter().filter(is_target) {
        section.push_sentence(RichText::code(target.name()).append(" is new"));
    }
    for (what, subjects) in [("Gone", &difference.gone), ("New", &difference.appeared)] {
        let others = subjects.iter().filter(|subject| !is_target(subject));
        push_named_sentence(&mut section, what, others.map(ToString::to_string));
    }
    let pairs = difference
        .renamed
        .iter()
        .map(|pair| format!("{} → {}", pair.before, pair.now.name()));
    push_named_sentence(&mut section, "Renamed", pairs);
    section.none_if_empty()
}

fn remaining_findings_and_remarks_section(difference: &Difference) -> Option<Section> {
    let still = difference.findings.iter().filter(|finding| {
        finding.class == FindingChangeKind::Same
            && finding.now.as_ref().is_some_and(|now| now.applies)
    });
    let still: Vec<Level> = still.map(FindingChange::latest_finding_level).collect();
    let mut counts = Vec::new();
    for level in [Level::Critical, Level::Warning, Level::Advice] {
        let count = still.iter().filter(|found| **found == level).count();
        if count > 0 {
            counts.push(match level {
                Level::Warning => wording::count_with_noun(count, level.as_str()),
                _ => format!("{count} {level}"),
            });
        }
    }
    let mut section = Section::new_part("");
    if !counts.is_empty() {
        section.push_sentence(format!("Still present: {}", counts.join(", ")));
    }
    let remarks = difference.remarks.iter();
    section.with_bullets(
        &[],
        remarks.map(|one| Bullet::with_badge(Badge::Remark("note"), &**one)),
    )
}

#[cfg(test)]
mod tests {
    use crate::difference::{ReportSnapshot, compare_snapshots};
    use crate::{Report, sample_reports, text};
    use walwise_model::facts::Source;
    use walwise_model::facts::Subject;
    use walwise_model::facts::catalog::{device, kernel};

    fn report_with_scheduler_kernel_and_latency(
        scheduler: &str,
        release: &str,
        factor: f64,
    ) -> Report {
        let mut report = sample_reports::at_risk();
        for name in ["sda", "sdb"] {
            let source = Source::from_file("/sys/block");
            report.facts.insert_known(
                &Subject::device(name),
                &device::SCHEDULER,
                scheduler.to_owned(),
                source,
            );
        }
        report.facts.insert_known(
            &Subject::host(),
            &kernel::RELEASE,
            release.to_owned(),
            Source::from_system_call("uname"),
        );
        let rows = report
            .probes
            .iter_mut()
            .flat_map(|probe| &mut probe.measurement.methods);
        for row in rows.filter_map(|row| row.paced.as_mut()) {
            row.rounds_us = vec![row.median_us.value * factor; 20];
            row.median_us.value *= factor;
        }
        report
            .probes
            .iter_mut()
            .for_each(|probe| probe.measurement.caveats.clear());
        report
    }

    fn baseline_text(report: &Report) -> String {
        let text = text::render(report);
        let section = text.split_once("Since the baseline").unwrap().1;
        section.split_once("\nAT RISK").unwrap().0.to_owned()
    }

    #[test]
    fn baseline_text_after_kernel_upgrade() {
        let (before, mut now) = (
            report_with_scheduler_kernel_and_latency("none", "6.1.0-28-amd64", 0.5),
            report_with_scheduler_kernel_and_latency("bfq", "6.12.0-1-amd64", 1.0),
        );
        let mut before = ReportSnapshot::from_report(&before);
        before
            .verdicts
            .values_mut()
            .for_each(|standing| *standing = walwise_judge::durability::VerdictKind::Durable);
        before
            .findings
            .retain(|(rule, _), _| !rule.contains("nobarrier"));
        let mut after = ReportSnapshot::from_report(&now);
        after.rules = now
            .findings
            .iter()
            .map(|finding| finding.rule.clone())
            .collect();
        before.rules = after.rules.clone();
        now.baseline = Some(compare_snapshots(&before, &after));
        insta::assert_snapshot!(baseline_text(&now));
    }

    #[test]
    fn shift_direction_is_stated_only_if_comparable() {
        let (before, mut now) = (
            report_with_scheduler_kernel_and_latency("none", "6.1.0-28-amd64", 4.0),
            report_with_scheduler_kernel_and_latency("none", "6.1.0-28-amd64", 1.0),
        );
        now.baseline = Some(compare_snapshots(
            &ReportSnapshot::from_report(&before),
            &ReportSnapshot::from_report(&now),
        ));
        let told = baseline_text(&now);
        assert!(
            told.contains(" 75 % faster ") && !told.contains("-75 %"),
            "{told}"
        );
        assert!(told.contains("is 75 % faster (at least "), "{told}");
        for probe in &mut now.baseline.as_mut().unwrap().probes {
            probe.doubts.push("a test".to_owned());
        }
        let told = baseline_text(&now);
        assert!(
            told.contains("-75 %") && told.contains("not compared") && !told.contains("faster"),
            "{told}"
        );
    }

    #[test]
    fn equal_reports_have_no_lasting_differences() {
        let mut now = report_with_scheduler_kernel_and_latency("none", "6.1.0-28-amd64", 1.0);
        now.baseline = Some(compare_snapshots(
            &ReportSnapshot::from_report(&now),
            &ReportSnapshot::from_report(&now),
        ));
        let told = baseline_text(&now);
        assert!(
            told.contains("No lasting differences.") && told.contains("No significant change"),
            "{told}"
        );
        assert!(
            !told.contains("Changed") && !told.contains("note"),
            "{told}"
        );
    }
}
