//! The whole report as one HTML document that runs nothing and asks nobody for anything: the dashboard first, then what
//! [`super::telling`] has, every finding and the facts; and the JSON report inside, as data.
//!
//! How text is kept from being markup is the business of [`markup`]. [`super::inside`] finds the data again.

mod markup;
pub mod anchors;
mod section;
mod evidence;
mod chart;
mod dashboard;
pub mod trial;

use super::telling::{self, Section, Tone};
use super::{Report, inside, json};
use crate::workers;
use chart::Charted;
use evidence::FactsTold;
use markup::{Markup, tag};

/// Nothing is run, nothing is loaded, whatever the document holds.
const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"color-scheme\" content=\"light dark\">\n<style>\n";
const STYLE: &str = include_str!("html/style.css");

pub fn render(report: &Report) -> String {
    let targets = telling::worst_first(report);
    let facts = FactsTold::of(report);
    let groups = telling::groups(report);
    let numbered: Vec<(usize, &Vec<Section>)> = groups.iter().enumerate().collect();
    let chapters = workers::each(&numbered, |(at, sections)| {
        // The first group is of the host, each other of a target, the last of the rest.
        let place = at.checked_sub(1);
        let target = place.and_then(|place| targets.get(place));
        let of = target.map(|target| Charted { report, target, place: *at, facts: &facts });
        // The dashboard has those of the first target.
        let pictures = of.filter(|_| *at > 1).into_iter().flat_map(|of| [of.path(), of.price()]);
        let further = of.into_iter().flat_map(Charted::further);
        let more = Markup::all(pictures.flatten().chain(further));
        tag("section").with("id", &format!("part-{at}")).add(section::group(sections, *at == 1)).add(more)
    });
    let links = targets.iter().enumerate().map(|(at, target)| {
        let name = telling::target::standing(report, target).and(": ").and_code(&target.title);
        let to = format!("#part-{}", at + 1);
        tag("li").add(tag("a").with("href", &to).add(Markup::phrase(&name)))
    });
    let glance = tag("section")
        .with("id", "glance")
        .add(tag("h2").text("At a glance"))
        .add(dashboard::dashboard(report, &facts));
    let folds = [
        ("Findings", "findings", false, evidence::findings(report)),
        ("Facts", "facts", true, facts.table()),
    ];
    let folds: Vec<_> = folds.into_iter().filter(|(.., inner)| !inner.is_empty()).collect();
    let contents =
        tag("nav").add(tag("h2").text("Contents")).add(tag("ul").adding(links).adding(
            folds.iter().map(|(heading, id, ..)| {
                tag("li").add(tag("a").with("href", &format!("#{id}")).text(heading))
            }),
        ));
    let masked = if report.host.live { "" } else { " In a capture names and numbers may be masked." };
    let review = format!(
        "For review: nothing was changed, commands are to be read before they are run, and what needs root says so.{masked}"
    );
    let body = Markup::from(glance).and(contents).and(tag("p").text(&review)).and(Markup::all(chapters)).and(
        Markup::all(
            folds
                .into_iter()
                .map(|(heading, id, is_appendix, inner)| evidence::fold(heading, id, is_appendix, inner)),
        ),
    );
    let title = format!("Storage under databases on {}", report.host.name);
    page(&title, body, READ_BACK, &json::render(report))
}

/// Sections alone, such as those of a kept report, with its data.
pub fn sections(title: &str, sections: &[Section], json: &str) -> String {
    page(title, section::group(sections, true), READ_BACK, json)
}

/// The commands that find the report in a document again.
const READ_BACK: &str = "walwise show FILE, walwise check --baseline FILE";

fn page(title: &str, body: Markup, read_back: &str, json: &str) -> String {
    let header = tag("header").add(tag("h1").text(title));
    let held = format!("This document holds its report as data: {read_back}.");
    let footer = tag("footer").add(tag("p").text(&held));
    Markup::fixed(HEAD)
        .and(Markup::fixed(STYLE))
        .and(Markup::fixed("</style>\n"))
        .and(tag("title").text(title))
        .and(Markup::fixed("\n</head>\n<body>\n"))
        .and(header)
        .and(tag("main").add(body))
        .and(footer)
        .and(Markup::fixed(inside::BEGIN))
        .and(Markup::data(json))
        .and(Markup::fixed(inside::END))
        .and(Markup::fixed("</body>\n</html>\n"))
        .finish()
}

/// The class that gives a tone its colour.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Dim => "dim",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
    }
}

#[cfg(test)]
mod tests;
