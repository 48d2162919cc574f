//! What concerns the host and no target: who looked at what, the targets in a line each, and what
//! is said of the whole.

use std::collections::BTreeMap;

use super::findings;
use super::once::{Chapter, FindingsByTarget};
use super::section::{Bullet, Detail, Grid};
use super::{Phrase, Section, order, target, unknown, what_if, words};
use crate::{Report, TargetSummary};
use walwise_judge::rules::Outcome;
use walwise_model::facts::Subject;
use walwise_model::text::page::WIDTH;
use walwise_model::text::wrap::columns;

/// Said where there is no target.
pub const NOTHING: &str =
    "No database, data mount or free disk was found. Name a directory: walwise check DIR";

/// Who looked at what, in a line; the number of rules and the distribution where there is room.
pub fn line(report: &Report) -> String {
    let host = &report.host;
    // A release is known by its number, and all of them are Linux.
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
        let first = [
            Some(&*walwise),
            Some(&*host.name),
            os,
            Some(&*kernel),
            Some(&*host.seen_by),
        ];
        let all = first.into_iter().chain([eyes, capture, rules]);
        all.flatten().collect::<Vec<_>>().join(" · ")
    };
    let all = [joined(Some(&os), Some(&rules)), joined(Some(&os), None)];
    let fits = all.into_iter().find(|line| columns(line) <= WIDTH);
    fits.unwrap_or_else(|| joined(None, None))
}

/// Who looked at what, when and by which rules.
pub fn head(report: &Report) -> Vec<Section> {
    let host = &report.host;
    let eyes = match host.privileged {
        Some(true) => " as root",
        Some(false) => " without root's privileges",
        None => "",
    };
    let mut section = Section::top("");
    section.say(
        Phrase::plain("walwise ")
            .and_code(&report.tool.version)
            .and(" on ")
            .and_code(&host.name)
            .and(format!(": {}, Linux ", host.os))
            .and_code(&host.kernel)
            .and(format!(", seen from the {}{eyes}", host.seen_by)),
    );
    let origin = if host.live {
        ""
    } else {
        ", from a capture of that machine"
    };
    let (rules, pack) = (report.tool.rules, report.pack.words());
    section.say(Phrase::code(&report.when).and(format!(", {rules} rules ({pack}){origin}")));
    let mut sections = vec![section];
    if report.targets.is_empty() {
        sections.push(Section::top("").saying(NOTHING));
    }
    sections
}

/// Several targets in a line each: verdict, number of critical findings, name.
pub fn summary(findings: &FindingsByTarget<'_>, targets: &[&TargetSummary]) -> Option<Section> {
    if targets.len() < 2 {
        return None;
    }
    let row = |target: &&TargetSummary| {
        let standing = target::standing(findings.report, target);
        let standing = match order::criticals(findings, target) {
            0 => standing,
            count => standing.and(format!(", {count} critical")),
        };
        let choice = target
            .rank
            .map(|rank| format!(", choice {rank}: {}", target.rank_because));
        vec![
            standing,
            Phrase::code(&target.title).and(choice.unwrap_or_default()),
        ]
    };
    let mut section = Section::part("");
    let rows = targets.iter().map(row).collect();
    section.grid(Grid {
        head: vec!["verdict", "target"],
        right: Vec::new(),
        narrow: &[],
        rows,
    });
    Some(section)
}

/// What no target told: other findings, what was settled between rules, what was taken out, and
/// what is said of the run.
pub fn rest<'a>(report: &'a Report, chapter: &mut Chapter<'_, 'a>) -> Vec<Section> {
    let mut sections = findings::elsewhere(chapter);
    sections.extend(conflicts(report, |_| true));
    sections.extend(withheld(report, |_| true));
    sections.extend(unknown::of_host(report));
    sections.extend(warnings(report));
    sections.extend(report.what_if.iter().flat_map(what_if::sections));
    sections.extend(sources(report));
    sections
}

/// The rules that disagreed about these subjects.
pub fn conflicts(report: &Report, of: impl Fn(&Subject) -> bool) -> Option<Section> {
    let mut section = Section::top("Conflicting rules");
    let one = |conflict: &crate::Conflict| Bullet {
        says: Phrase::code(conflict.setting.name)
            .and(format!(" of {}", words::subject(&conflict.subject))),
        beneath: vec![
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
    section.bullets(&["setting"], conflicts.map(one).collect());
    section.unless_empty()
}

/// Advice about these subjects that was taken out.
pub fn withheld(report: &Report, of: impl Fn(&Subject) -> bool) -> Option<Section> {
    let mut section = Section::top("Not advised: not valid on this machine");
    let one = |withheld: &crate::Withheld| Bullet {
        says: format!(
            "{} for {}",
            withheld.advice,
            words::subject(&withheld.subject)
        )
        .into(),
        aside: Phrase::code(&withheld.rule),
        beneath: vec![Detail::Sentence(withheld.because.clone().into())],
        ..Bullet::default()
    };
    let withheld = report
        .withheld
        .iter()
        .filter(|withheld| of(&withheld.subject));
    section.bullets(&["advice", "rule"], withheld.map(one).collect());
    section.unless_empty()
}

/// What is to be said of the run.
pub fn warnings(report: &Report) -> Option<Section> {
    let mut section = Section::top("About this run");
    section.bullets(
        &[],
        report
            .warnings
            .iter()
            .map(|warning| Bullet::sentence(warning.to_string()))
            .collect(),
    );
    section.unless_empty()
}

/// The public sources of every rule that applies.
fn sources(report: &Report) -> Option<Section> {
    let applies = report
        .findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies);
    let rules: BTreeMap<&str, &[String]> = applies.map(|one| (&*one.rule, &*one.refs)).collect();
    let row = |(rule, refs): (&str, &[String])| vec![Phrase::code(rule), refs.join("; ").into()];
    let mut section = Section {
        is_appendix: true,
        ..Section::top("Sources")
    };
    let rows = rules.into_iter().map(row).collect();
    section.grid(Grid {
        head: vec!["rule", "rests on"],
        right: Vec::new(),
        narrow: &[],
        rows,
    });
    section.unless_empty()
}
