//! What the page must be: all that the report says, nothing from the machine as markup, and the same bytes each time.

use std::collections::BTreeSet;

use super::*;
use crate::facts::Subject;
use crate::report::sample;
use crate::rules::Outcome;

/// The words of a page, as they are read.
fn read(page: &str) -> String {
    let body = page.split(inside::BEGIN).next().unwrap();
    let texts = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let text = texts.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

#[test]
fn every_finding_has_its_place_and_every_command_is_whole() {
    for report in sample::all() {
        let page = render(&report);
        let text = read(&page);
        for finding in report.findings.iter().filter(|one| one.outcome != Outcome::DoesNotApply) {
            let place = format!(" id=\"{}\"", anchors::finding(&finding.rule, &finding.subject));
            assert_eq!(page.matches(&place).count(), 1, "{place}");
            assert!(text.contains(&finding.title) && text.contains(&*finding.because), "{}", finding.title);
        }
        for step in report.plans.iter().flat_map(|plan| plan.steps.iter().chain(&plan.options)) {
            for command in step.advice.apply.iter().chain(&step.advice.verify).chain(&step.advice.undo) {
                assert!(text.lines().any(|line| line == command.as_str()), "{command}");
            }
        }
    }
}

/// Every link leads to a place in the page, and no two places share a name.
#[test]
fn links_lead_somewhere() {
    for report in sample::all() {
        let page = render(&report);
        let values = |attribute: &str| -> Vec<String> {
            let pieces = page.split(attribute).skip(1);
            pieces.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let ids = values(" id=\"");
        let places: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(places.len(), ids.len(), "{ids:?}");
        for link in values(" href=\"") {
            let place = link.strip_prefix('#').unwrap().to_owned();
            assert!(places.contains(&place), "{link}");
        }
    }
}

#[test]
fn the_same_report_has_the_same_bytes() {
    for report in sample::all() {
        assert_eq!(render(&report), render(&report.clone()));
    }
}

/// Names are what others chose, and some are long.
#[test]
fn hostile_names_stay_text() {
    let long = "x".repeat(10_000);
    for evil in ["</script><svg onload=alert(1)>", "<!--", "\u{202e}\"' onfocus=x ", &*long, "&lt;b&gt;"] {
        let mut report = sample::at_risk();
        let clean = render(&report);
        report.host.name = evil.to_owned();
        report.targets[0].title = evil.to_owned();
        for finding in &mut report.findings {
            finding.title = evil.to_owned();
        }
        for step in &mut report.plans[0].steps {
            step.title = evil.to_owned();
        }
        for layer in &mut report.stacks[0].layers {
            layer.subject = Subject::mount(evil);
        }
        for hop in &mut report.verdicts[0].flush_path {
            hop.name = evil.to_owned();
        }
        let page = render(&report);
        let tags = |page: &str| page.matches('<').count();
        assert_eq!(tags(&page), tags(&clean), "{evil}");
        assert!(!page.contains('\u{202e}'));
    }
}
