//! A kept report: what it says of host, targets, findings and prices, without having looked at
//! anything.
//!
//! Whoever wrote the file may not be walwise. What it says is told as text, and its commands are
//! not repeated.

use std::collections::BTreeSet;

use super::price::PRICE;
use super::section::{Bullet, Grid, Mark};
use super::{Phrase, Section, words};
use crate::difference::{Kept, KeptProbe, KeptTarget};
use crate::model::difference::{KeptFact, KeptFinding};
use walwise_model::facts::Subject;
use walwise_model::text::{micros, micros_between};

/// All of it, the targets in the order of their names.
pub fn sections(kept: &Kept) -> Vec<Section> {
    let mut sections = vec![head(kept)];
    let mut told: BTreeSet<(&str, &Subject)> = BTreeSet::new();
    for (target, about) in &kept.targets {
        sections.push(target_heading(kept, target, about));
        let findings: Vec<_> = kept
            .findings
            .iter()
            .filter(|((_, subject), _)| about.subjects.contains(subject))
            .collect();
        let findings: Vec<_> = findings
            .into_iter()
            .filter(|((rule, subject), _)| told.insert((rule.as_str(), subject)))
            .collect();
        sections.extend(found(Section::part("Findings"), &findings));
        sections.extend(kept.probes.get(target).and_then(price));
    }
    let rest: Vec<_> = kept
        .findings
        .iter()
        .filter(|((rule, subject), _)| !told.contains(&(rule.as_str(), subject)))
        .collect();
    sections.extend(found(Section::top("Other findings"), &rest));
    sections.extend(facts(kept));
    sections
}

fn head(kept: &Kept) -> Section {
    let made = &kept.made;
    let eyes = match made.privileged {
        Some(true) => " as root",
        Some(false) => " without root's privileges",
        None => "",
    };
    let origin = if made.live {
        ""
    } else {
        ", from a capture of that machine"
    };
    let mut section = Section::top("");
    section.say(
        Phrase::plain("A kept report by walwise ")
            .and_code(&made.walwise)
            .and(" of ")
            .and_code(&made.host)
            .and(format!(": {}, Linux ", made.os))
            .and_code(&made.kernel)
            .and(format!(", made at {}{eyes}{origin}.", made.when)),
    );
    section.say(
        Phrase::plain(
            "It is told as it was written; nothing was looked at now, and its commands are left out. ",
        )
        .and_command("walwise check")
        .and(" looks at this host."),
    );
    if kept.unreadable > 0 {
        section.say(format!(
            "{} of it could not be read.",
            words::count(kept.unreadable, "part")
        ));
    }
    if kept.foreign > 0 {
        let says = "in it that this version does not know.";
        section.say(format!(
            "There is {} {says}",
            words::count(kept.foreign, "fact")
        ));
    }
    section
}

fn target_heading(kept: &Kept, target: &Subject, about: &KeptTarget) -> Section {
    let name = if about.title.is_empty() {
        target.name()
    } else {
        &about.title
    };
    let standing = kept
        .verdicts
        .get(target)
        .map_or("no verdict", |standing| standing.word());
    Section::top(Phrase::verdict(standing).and(": ").and_code(name))
}

type Found<'k> = (&'k (String, Subject), &'k KeptFinding);

/// Findings, what applies before what is open, and the worst first.
fn found(mut section: Section, findings: &[Found<'_>]) -> Option<Section> {
    let mut findings = findings.to_vec();
    findings.sort_by_key(|(_, finding)| (!finding.applies, std::cmp::Reverse(finding.level)));
    let bullet = |((rule, subject), finding): Found<'_>| Bullet {
        of: words::subject(subject),
        aside: Phrase::code(rule),
        ..Bullet::marked(
            Mark::Level(finding.level, !finding.applies),
            &*finding.title,
        )
    };
    section.bullets(
        &["level", "of", "finding", "rule"],
        findings.into_iter().map(bullet).collect(),
    );
    section.unless_empty()
}

fn price(probe: &KeptProbe) -> Option<Section> {
    let mut section = Section::part(PRICE);
    let rows = probe.rows.iter().map(|((method, pages), row)| {
        let median = row.median_us;
        vec![
            Phrase::code(method.name()),
            pages.to_string().into(),
            micros(median.value).into(),
            micros_between(median.low, median.high).into(),
        ]
    });
    section.grid(Grid {
        head: vec!["method", "pages", "median", "95 % interval"],
        right: vec![false, true, true, true],
        narrow: &[],
        rows: rows.collect(),
    });
    section.say(
        Phrase::plain("Measured in ")
            .and_code(&probe.directory)
            .and(format!(" at {}.", probe.when)),
    );
    let doubts = probe
        .doubts
        .iter()
        .map(|says| Bullet::marked(Mark::Remark("caveat"), &**says));
    section.bullets(&[], doubts.collect());
    section.unless_empty()
}

/// Every fact, where there is room.
fn facts(kept: &Kept) -> Option<Section> {
    let mut section = Section {
        is_appendix: true,
        ..Section::top("Facts")
    };
    let rows = kept.facts.iter().flat_map(|(subject, facts)| {
        facts.iter().map(move |(name, fact)| {
            let value = match fact {
                KeptFact::Known { value } => value.text(),
                KeptFact::Unknown { why } => format!("not known: {why}"),
            };
            vec![
                words::subject(subject).into(),
                Phrase::code(*name),
                value.into(),
            ]
        })
    });
    let rows = rows.collect();
    section.grid(Grid {
        head: vec!["of", "fact", "value"],
        right: Vec::new(),
        narrow: &[],
        rows,
    });
    section.unless_empty()
}
