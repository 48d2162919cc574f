//! What the page must be: all that the report says, nothing from the machine as markup, and the same bytes each time.

use std::collections::BTreeSet;

use super::*;
use crate::facts::catalog::target::{FLUSH, Flush};
use crate::facts::{Source, Subject};
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

/// A page has no option `-v`: it names the heading that has the rest, and that heading is there.
#[test]
fn what_is_cut_is_named_by_its_place() {
    let mut told = 0;
    for report in sample::all().into_iter().chain([sample::disks(200)]) {
        let page = render(&report);
        let text = read(&page);
        assert!(!text.contains("(-v)"), "{text}");
        for place in text.split("(see “").skip(1) {
            let heading = place.split('”').next().unwrap();
            let heads = page.split("<h").skip(1).map(|rest| read(&rest.split("</h").next().unwrap()[2..]));
            assert!(
                heads.into_iter().any(|head| head.ends_with(heading) || head.starts_with(heading)),
                "{heading}"
            );
            told += 1;
        }
    }
    assert!(told > 0);
}

/// A hop of which the document has facts leads to them.
#[test]
fn hops_lead_to_their_facts() {
    for report in sample::all() {
        let page = render(&report);
        for subject in
            report.verdicts.iter().flat_map(|verdict| &verdict.flush_path).flat_map(|hop| &hop.subjects)
        {
            let place = anchors::facts(subject);
            if page.contains(&format!("<tbody id=\"{place}\"")) {
                assert!(page.matches(&format!("<a href=\"#{place}\"")).count() > 0, "{subject}");
            }
        }
    }
    let page = render(&sample::at_risk());
    assert!(
        page.contains("<a href=\"#facts-")
            && page.contains("role=\"group\" aria-labelledby=\"chart-1-path\"")
    );
}

/// Rounds in which others were seen are hatched and named, and a price without a flush is called none.
#[test]
fn charts_say_what_limits_them() {
    let mut report = sample::at_risk();
    let hatched = |report: &Report| render(report).matches("class=\"hatch\"").count();
    let measurement = &mut report.probes[0].measurement;
    for row in &mut measurement.methods {
        row.rounds_us = (1..=71).map(f64::from).collect();
    }
    assert_eq!(hatched(&report), 1);
    report.probes[0].measurement.caveats[0].rounds = vec![1, 2, 30, 70, 71];
    let page = render(&report);
    assert_eq!(page.matches("class=\"hatch\"").count(), 3);
    assert!(read(&page).contains("Hatched: another process wrote"), "{page}");
    report.probes[0].measurement.caveats.clear();
    assert_eq!(hatched(&report), 0);
    assert!(!page.contains("no durable price"));
    let source = Source::derived(["mount.barrier"]);
    report.facts.know(&sample::data(), &FLUSH, Flush::Suppressed, source);
    let page = render(&report);
    assert!(page.contains("no durable price") && read(&page).contains("No durable price. No flush was sent"));
}
