//! Screens and text report use the same words: for recorded hosts, every sentence that a screen takes from the report
//! occurs in the output of `check`, apart from spaces and line ends.

use std::fs;

use walwise::inside::collect::Request;
use walwise::inside::host::RecordedHost;
use walwise::inside::measure::Caveat;
use walwise::inside::pipeline::Session;
use walwise::inside::report::{Report, telling, text};
use walwise::inside::rules::{Change, Level, Outcome, RuleSet};
use walwise::inside::ui;

use crate::support::recorded::file;

/// Hosts that differ: at risk, durable, a guest, a RAID with a battery, btrfs, ZFS, a swamp of unknowns, a network.
const HOSTS: [&str; 9] = [
    "ext4-nobarrier",
    "sata-volatile",
    "real-btrfs-on-loops",
    "megaraid-nobarrier",
    "megaraid-failed-battery",
    "zfs-sync-disabled",
    "unprivileged",
    "nfs4-soft",
    "lab-luks-on-lvm-on-md",
];

fn report(name: &str) -> Report {
    let host = RecordedHost::parse(&fs::read(file(name)).unwrap()).unwrap();
    let request = Request { target: None, new: true, without_programs: false, ..Request::default() };
    Session::look(&host, &request, RuleSet::builtin(), &mut |_, _| ()).report()
}

/// Text with one space wherever there is any.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentences of a report that are on the screens.
fn sentences(report: &Report) -> Vec<String> {
    let mut all: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    for verdict in &report.verdicts {
        all.extend([verdict.sentence.clone(), verdict.limits.clone()]);
        all.extend(verdict.paths.iter().take(1).flat_map(|path| &path.evidence).map(|one| one.says.clone()));
        for need in &verdict.missing {
            all.extend([telling::words::reason(need), need.fact.clone()]);
            all.extend(need.remedy.as_ref().map(ToString::to_string));
        }
    }
    for finding in report.findings.iter().filter(|one| one.outcome == Outcome::Applies) {
        all.extend((finding.level > Level::Keep).then(|| finding.title.clone()));
        all.extend((finding.level >= Level::Warning).then(|| finding.because.to_string()));
    }
    for step in report.plans.iter().flat_map(|plan| plan.steps.iter().chain(&plan.options)) {
        all.extend([step.title.clone(), telling::words::change(step)]);
        all.extend(step.advice.price.clone());
        if step.advice.change != Change::Keep {
            all.extend(
                step.advice
                    .apply
                    .iter()
                    .chain(&step.advice.verify)
                    .chain(&step.advice.undo)
                    .map(ToString::to_string),
            );
        }
    }
    for probe in &report.probes {
        all.extend(probe.measurement.caveats.iter().map(Caveat::in_full));
    }
    for withheld in &report.withheld {
        all.extend([withheld.advice.clone(), withheld.because.clone()]);
    }
    all
}

#[test]
fn what_screens_say_is_in_the_text_in_the_same_words() {
    let mut missing = Vec::new();
    for name in HOSTS {
        let report = report(name);
        assert!(!report.verdicts.is_empty(), "{name}");
        let told = flat(&text::render(&report));
        for sentence in sentences(&report) {
            if !told.contains(&flat(&sentence)) {
                missing.push(format!("{name}: {sentence}"));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The letters of a picture, without its markup.
fn letters(svg: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in svg.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&#160;", " ")
}

/// So the test above is about what is on the screens.
#[test]
fn those_sentences_are_on_the_screens() {
    for name in HOSTS {
        let report = report(name);
        let shown = ui::pictures(report.clone(), Vec::new(), (120, 200));
        let shown: String = shown.iter().map(|(_, svg)| letters(svg)).collect();
        let shown: String = shown.chars().filter(|c| !c.is_whitespace()).collect();
        let worst = report.verdicts.iter().map(|verdict| verdict.standing).min().unwrap();
        let worst = report.verdicts.iter().filter(|verdict| verdict.standing == worst);
        let mut bare = worst.map(|verdict| verdict.sentence.split_whitespace().collect::<String>());
        assert!(bare.any(|bare| shown.contains(&bare)), "{name}");
    }
}
