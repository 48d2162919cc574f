//! The report as text for people: the answer first, then why, then what to do. This is also the screen-reader mode.
//!
//! Levels and verdicts are words and depth is indentation, so nothing depends on colour or drawing. Every finding is
//! printed once, under the first target it concerns, however many targets share a disk.

pub mod advice;
mod baseline;
mod findings;
pub mod measured;
pub(super) mod order;
pub mod target;
pub(super) mod telling;
pub(super) mod unknown;
pub mod upgrade;
pub mod what_if;
pub mod words;

use std::collections::BTreeSet;

use super::{Report, TargetSummary};
use crate::durability::Standing;
use crate::text::page::Page;
use crate::workers;
use telling::Telling;

/// The whole report.
pub fn render(report: &Report) -> String {
    let mut page = Page::default();
    let telling = Telling::new(report);
    let targets = order::worst_first(&telling);
    let settled = telling.settled(&targets);
    head(&mut page, report);
    baseline::write(&mut page, report);
    summary(&mut page, &telling, &targets);
    let places: Vec<(usize, &TargetSummary)> = targets.iter().copied().enumerate().collect();
    let written = workers::each(&places, |(place, target)| {
        let mut page = Page::default();
        target::write(&mut page, &mut settled.part(*place), target);
        page
    });
    for one in written {
        page.append(&one);
    }
    findings::elsewhere(&mut page, &mut settled.rest());
    advice::conflicts(&mut page, report);
    advice::withheld(&mut page, report);
    unknown::count(&mut page, report);
    warnings(&mut page, report);
    if let Some(supposed) = &report.what_if {
        what_if::write(&mut page, supposed);
    }
    page.finish()
}

fn head(page: &mut Page, report: &Report) {
    let host = &report.host;
    let eyes = match host.privileged {
        Some(true) => " as root",
        Some(false) => " without root's privileges",
        None => "",
    };
    page.para(
        0,
        &format!(
            "walwise {} on {}: {}, Linux {}, seen from the {}{eyes}",
            report.tool.version, host.name, host.os, host.kernel, host.seen_by
        ),
    );
    let origin = if host.live { "" } else { ", from a capture of that machine" };
    let (rules, pack) = (report.tool.rules, report.pack.words());
    page.para(0, &format!("{}, {rules} rules ({pack}){origin}", report.when));
    if report.targets.is_empty() {
        page.gap();
        page.para(0, "No database, data mount or free disk was found. Name a directory: walwise check DIR");
    }
}

/// Several targets in a line each: verdict, number of critical findings, name.
fn summary(page: &mut Page, telling: &Telling<'_>, targets: &[&TargetSummary]) {
    if targets.len() < 2 {
        return;
    }
    page.gap();
    let label = |target: &TargetSummary| {
        let standing = target::standing_words(telling.report, target);
        match order::criticals(telling, target) {
            0 => standing,
            count => format!("{standing}, {count} critical"),
        }
    };
    let labels: Vec<String> = targets.iter().map(|target| label(target)).collect();
    let width = labels.iter().map(String::len).max().unwrap_or_default() + 2;
    for (target, label) in targets.iter().zip(labels) {
        let choice = target.rank.map(|rank| format!(", choice {rank}: {}", target.rank_because));
        page.hanging(
            2,
            &format!("{label:<width$}"),
            &format!("{}{}", target.title, choice.unwrap_or_default()),
        );
    }
}

fn warnings(page: &mut Page, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    page.heading("About this run");
    for warning in &report.warnings {
        page.para(2, &warning.to_string());
    }
}

/// A verdict as a heading shows it.
fn shout(standing: Standing) -> String {
    standing.word().to_uppercase()
}

/// The different words of a list in order, each once.
pub(super) fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    words.filter(|word| seen.insert(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_database_at_risk() {
        insta::assert_snapshot!(render(&sample::at_risk()));
    }

    #[test]
    fn several_free_disks() {
        insta::assert_snapshot!(render(&sample::disks(3)));
    }

    #[test]
    fn a_free_disk() {
        insta::assert_snapshot!(render(&sample::free_disk()));
    }

    #[test]
    fn what_lies_beside_the_asked_target_is_counted_only() {
        let mut report = sample::at_risk();
        let beside = |rule: &str, level| {
            sample::finding(rule, &crate::facts::Subject::mount("/other"), level, Vec::new())
        };
        let mut open = beside("beside.open", crate::rules::Level::Warning);
        open.outcome = crate::rules::Outcome::Undecided { needs: Vec::new() };
        report.findings.extend([
            beside("beside.critical", crate::rules::Level::Critical),
            beside("beside.warning", crate::rules::Level::Warning),
            beside("beside.keep", crate::rules::Level::Keep),
            open,
        ]);
        let all = render(&report);
        assert!(all.contains("\nOther parts of this host\n") && all.contains("beside.open"), "{all}");
        report.asked = Some("/srv/pg/15/main".to_owned());
        let one = render(&report);
        let line = "\n2 findings about other parts of this host (1 critical): `walwise check`\n";
        assert!(one.contains(line) && !one.contains("beside."), "{one}");
        assert!(one.contains("Title of kernel.fsync-errors"), "{one}");
    }

    /// What a missing fact leaves open is told together, with the fact once; what nothing would settle is one line.
    #[test]
    fn what_is_open_is_told_by_what_would_settle_it() {
        use crate::facts::{Need, Subject, Why};
        use crate::rules::{Level, Outcome};
        let mut report = sample::at_risk();
        let disk = Subject::device("dm-7");
        let open = |rule: &str, facts: &[&str]| {
            let need = |fact: &&str| Need {
                subject: disk.clone(),
                fact: (*fact).to_owned(),
                why: Why::Denied,
                detail: "dmsetup".to_owned(),
                remedy: None,
            };
            let sets: Vec<Vec<Need>> = facts.iter().map(|fact| vec![need(fact)]).collect();
            let mut finding = sample::finding(rule, &disk, Level::Warning, Vec::new());
            finding.outcome = Outcome::Undecided { needs: sets };
            finding
        };
        report.findings.extend([
            open("layer.one", &["dm.targets"]),
            open("layer.other", &["md.level"]),
            open("layer.third", &["dm.targets"]),
            open("layer.blind", &[]),
        ]);
        let text = render(&report);
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
        assert_eq!(text.matches("dm.targets of ").count(), 1, "{text}");
        assert!(
            at("(layer.one)") < at("(layer.third)") && at("(layer.third)") < at("dm.targets of "),
            "{text}"
        );
        assert!(
            at("dm.targets of ") < at("(layer.other)") && at("would settle") < at("layer.blind"),
            "{text}"
        );
    }

    #[test]
    fn thousands_of_like_disks_are_told_once() {
        let one = sample::disks(1);
        let many = sample::disks(2_000);
        let (one, many) = (render(&one).lines().count(), render(&many).lines().count());
        assert!(many < one + 2_000 * 18, "{one} lines for one disk, {many} for 2000");
    }

    #[test]
    fn prose_fits_the_page() {
        use unicode_width::UnicodeWidthStr as _;
        for line in sample::all().iter().map(render).collect::<String>().lines() {
            let copied = ["apply", "verify", "undo"].iter().any(|word| line.trim_start().starts_with(word));
            assert!(copied || line.width() <= 80, "{line}");
        }
    }
}
