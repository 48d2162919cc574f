//! The whole report as one HTML document that runs nothing and asks nobody for anything: the
//! dashboard first, then what [`super::telling`] has, every finding and the facts; and the JSON
//! report inside, as data.
//!
//! How text is kept from being markup is the business of `markup`. [`super::inside`] finds the data
//! again.

mod markup;
pub mod anchors {
    //! Places in the document that a link can name: a rule, and each finding.
    //!
    //! A place is known from the finding alone, so that monitoring can link to it without having
    //! read the document.

    use std::fmt::Write as _;

    use walwise_model::facts::Subject;
    use walwise_model::text;

    /// The longest part of a name that is taken as it is.
    const LONGEST: usize = 120;

    /// The place of a finding: `finding-barrier.ext4-off-mount:~2fimages`. No two findings of a
    /// report share one.
    pub fn finding(rule: &str, subject: &Subject) -> String {
        // A rule has no colon and the word of a scope no hyphen, so the last hyphen before the
        // first colon is between them.
        format!(
            "finding-{}-{}",
            encoded(rule),
            encoded(&subject.to_string())
        )
    }

    /// The place of what a rule says.
    pub fn rule(rule: &str) -> String {
        format!("rule-{}", encoded(rule))
    }

    /// The place of the facts about something.
    pub fn facts(subject: &Subject) -> String {
        format!("facts-{}", encoded(&subject.to_string()))
    }

    /// A name as part of an identity, which has no blank and nothing that a link would have to
    /// escape. A long one is cut and told apart.
    fn encoded(name: &str) -> String {
        let mut out = String::new();
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => {
                    out.push(char::from(byte));
                }
                b' ' => out.push(':'),
                byte => drop(write!(out, "~{byte:02x}")),
            }
        }
        text::cut_apart(out, LONGEST, "~~", name.as_bytes())
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeSet;

        use super::*;

        #[test]
        fn places_are_plain_and_told_apart() {
            let long = "/x".repeat(5000);
            let longer = "/x".repeat(5001);
            let names = [
                "/images",
                "/images/",
                "/a b",
                "/a:b",
                "a-b",
                "/é",
                "\"><svg onload=x>",
                "",
                &long,
                &longer,
            ];
            let mut seen = BTreeSet::new();
            for rule in ["barrier.ext4-off", "barrier.ext4", "barrier"] {
                for name in names {
                    for subject in [
                        Subject::mount(name),
                        Subject::target(name),
                        Subject::device(name),
                    ] {
                        let place = finding(rule, &subject);
                        assert!(
                            place
                                .bytes()
                                .all(|b| b.is_ascii_alphanumeric() || b"_-.:~".contains(&b)),
                            "{place}"
                        );
                        assert!(place.len() <= 300 && seen.insert(place.clone()), "{place}");
                    }
                }
            }
        }
    }
}
mod chart;
mod evidence;
mod section;
mod dashboard {
    //! The first screen: what the short report says, with the way of the flush and the price of a
    //! commit as pictures.

    use std::collections::BTreeSet;

    use super::chart::Charted;
    use super::evidence::FactsTold;
    use super::markup::{Markup, Tag, tag};
    use super::{class, section};
    use crate::Report;
    use crate::telling::short::{FixDetail, Piece, VisibleFixes, pieces};
    use crate::telling::{self, Bullet, Mark, sign};

    pub fn dashboard(report: &Report, facts: &FactsTold<'_>) -> Markup {
        let told: BTreeSet<&str> = report
            .findings
            .iter()
            .map(|finding| &*finding.rule)
            .collect();
        let mut out = Markup::default();
        let mut lines: Vec<Tag> = Vec::new();
        let targets = telling::worst_first(report);
        let first = targets.first().copied();
        let mut pictures = first.map(|target| {
            pictures(Charted {
                report,
                target,
                place: 1,
                facts,
            })
        });
        for piece in pieces(report) {
            let block = match piece {
                Piece::Line(line) => match line.marks.first() {
                    Some(verdict @ Mark::Verdict(words, of)) => {
                        let (class, sign) = (class(verdict.tone()), of.map_or("·", sign));
                        let verdict = tag("p")
                            .with("class", &format!("verdict {class}"))
                            .add(tag("b").text(sign))
                            .text(" ")
                            .add(Markup::phrase(words))
                            .text("  ")
                            .add(Markup::phrase(&line.says));
                        Markup::from(verdict).and(pictures.take().unwrap_or_default())
                    }
                    Some(label) => {
                        let says = Markup::phrase(&line.says).and(rules(&line, &told));
                        lines.push(tag("dt").add(section::mark(label)));
                        lines.push(tag("dd").add(says).add(section::details(&line.beneath)));
                        continue;
                    }
                    None => tag("p").add(Markup::phrase(&line.says)).into(),
                },
                Piece::Grid(grid) => section::figures(&grid),
                Piece::Answers(rows) => section::figures(&telling::answers::grid(rows)),
                Piece::Fixes(list) => fixes(list.visible(FixDetail::ALL[0]), &told),
                Piece::Section(one) => section::group(&[one], true),
            };
            out = out.and(listed(&mut lines)).and(block);
        }
        out.and(listed(&mut lines))
    }

    /// The lines so far, as a list of labels with what they say.
    fn listed(lines: &mut Vec<Tag>) -> Markup {
        let lines = std::mem::take(lines);
        if lines.is_empty() {
            Markup::default()
        } else {
            tag("dl").adding(lines).into()
        }
    }

    /// What to fix first, as a list.
    fn fixes(list: VisibleFixes, told: &BTreeSet<&str>) -> Markup {
        let mut entries: Vec<Tag> = Vec::new();
        for (_, fix) in list.entries {
            let aside = Markup::fixed("  ").and(Markup::phrase(&fix.aside));
            let says = Markup::phrase(&fix.says).and(aside).and(rules(&fix, told));
            entries.extend(
                fix.marks
                    .first()
                    .map(|level| tag("dt").add(section::mark(level))),
            );
            entries.push(tag("dd").add(says).add(section::details(&fix.beneath)));
        }
        let more = list
            .more
            .map(|more| tag("p").text(&more))
            .map_or_else(Markup::default, Markup::from);
        let persist = list.persist.map(|command| {
            let command = tag("code").text(command.as_str());
            Markup::from(
                tag("p")
                    .text("To keep mount options over a reboot: ")
                    .add(command),
            )
        });
        listed(&mut entries)
            .and(more)
            .and(persist.unwrap_or_default())
    }

    /// The rules behind a line, with links to what they say.
    fn rules(line: &Bullet, told: &BTreeSet<&str>) -> Markup {
        let each = line.rule.split(", ").filter(|rule| !rule.is_empty());
        Markup::all(each.map(|rule| {
            let name = if told.contains(rule) {
                section::rule(rule)
            } else {
                tag("code").text(rule).into()
            };
            Markup::fixed(" ").and(name)
        }))
    }

    fn pictures(of: Charted<'_>) -> Markup {
        let both = [of.path(), of.price()];
        let both: Vec<Markup> = both.into_iter().flatten().collect();
        if both.is_empty() {
            Markup::default()
        } else {
            tag("div").with("class", "halves").adding(both).into()
        }
    }
}
pub mod trial;

use super::telling::{self, Section, Tone};
use super::{Report, inside, json};
use chart::Charted;
use evidence::FactsTold;
use markup::{Markup, tag};
use walwise_model::workers;

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
        let of = target.map(|target| Charted {
            report,
            target,
            place: *at,
            facts: &facts,
        });
        // The dashboard has those of the first target.
        let pictures = of
            .filter(|_| *at > 1)
            .into_iter()
            .flat_map(|of| [of.path(), of.price()]);
        let further = of.into_iter().flat_map(Charted::further);
        let more = Markup::all(pictures.flatten().chain(further));
        tag("section")
            .with("id", &format!("part-{at}"))
            .add(section::group(sections, *at == 1))
            .add(more)
    });
    let links = targets.iter().enumerate().map(|(at, target)| {
        let name = telling::target::standing(report, target)
            .and(": ")
            .and_code(&target.title);
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
    let folds: Vec<_> = folds
        .into_iter()
        .filter(|(.., inner)| !inner.is_empty())
        .collect();
    let contents = tag("nav")
        .add(tag("h2").text("Contents"))
        .add(
            tag("ul")
                .adding(links)
                .adding(folds.iter().map(|(heading, id, ..)| {
                    tag("li").add(tag("a").with("href", &format!("#{id}")).text(heading))
                })),
        );
    let masked = if report.host.live {
        ""
    } else {
        " In a capture names and numbers may be masked."
    };
    let review = format!(
        "For review: nothing was changed, commands are to be read before they are run, and what needs root says so.{masked}"
    );
    let body = Markup::from(glance)
        .and(contents)
        .and(tag("p").text(&review))
        .and(Markup::all(chapters))
        .and(Markup::all(folds.into_iter().map(
            |(heading, id, is_appendix, inner)| evidence::fold(heading, id, is_appendix, inner),
        )));
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
mod tests {
    //! What the page must be: all that the report says, nothing from the machine as markup, and the
    //! same bytes each time.

    use std::collections::BTreeSet;

    use super::*;
    use crate::sample;
    use walwise_judge::rules::Outcome;
    use walwise_model::facts::catalog::target::{FLUSH, Flush};
    use walwise_model::facts::{Source, Subject};

    /// The words of a page, as they are read.
    fn read(page: &str) -> String {
        let body = page.split(inside::BEGIN).next().unwrap();
        let texts = body
            .split('<')
            .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        let text = texts
            .collect::<String>()
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"");
        text.replace("&amp;", "&")
    }

    #[test]
    fn every_finding_has_its_place_and_every_command_is_whole() {
        for report in sample::all() {
            let page = render(&report);
            let text = read(&page);
            for finding in report
                .findings
                .iter()
                .filter(|one| one.outcome != Outcome::DoesNotApply)
            {
                let place = format!(
                    " id=\"{}\"",
                    anchors::finding(&finding.rule, &finding.subject)
                );
                assert_eq!(page.matches(&place).count(), 1, "{place}");
                assert!(
                    text.contains(&finding.title) && text.contains(&*finding.because),
                    "{}",
                    finding.title
                );
            }
            for step in report
                .plans
                .iter()
                .flat_map(|plan| plan.steps.iter().chain(&plan.options))
            {
                for command in step
                    .advice
                    .apply
                    .iter()
                    .chain(&step.advice.verify)
                    .chain(&step.advice.undo)
                {
                    assert!(
                        text.lines().any(|line| line == command.as_str()),
                        "{command}"
                    );
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
                pieces
                    .map(|rest| rest.split('"').next().unwrap().to_owned())
                    .collect()
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
        for evil in [
            "</script><svg onload=alert(1)>",
            "<!--",
            "\u{202e}\"' onfocus=x ",
            &*long,
            "&lt;b&gt;",
        ] {
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

    /// A page has no option `-v`: it names the heading that has the rest, and that heading is
    /// there.
    #[test]
    fn what_is_cut_is_named_by_its_place() {
        let mut told = 0;
        for report in sample::all().into_iter().chain([sample::disks(200)]) {
            let page = render(&report);
            let text = read(&page);
            assert!(!text.contains("(-v)"), "{text}");
            for place in text.split("(see “").skip(1) {
                let heading = place.split('”').next().unwrap();
                let heads = page
                    .split("<h")
                    .skip(1)
                    .map(|rest| read(&rest.split("</h").next().unwrap()[2..]));
                assert!(
                    heads
                        .into_iter()
                        .any(|head| head.ends_with(heading) || head.starts_with(heading)),
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
            for subject in report
                .verdicts
                .iter()
                .flat_map(|verdict| &verdict.flush_path)
                .flat_map(|hop| &hop.subjects)
            {
                let place = anchors::facts(subject);
                if page.contains(&format!("<tbody id=\"{place}\"")) {
                    assert!(
                        page.matches(&format!("<a href=\"#{place}\"")).count() > 0,
                        "{subject}"
                    );
                }
            }
        }
        let page = render(&sample::at_risk());
        assert!(
            page.contains("<a href=\"#facts-")
                && page.contains("role=\"group\" aria-labelledby=\"chart-1-path\"")
        );
    }

    /// Rounds in which others were seen are hatched and named, and a price without a flush is
    /// called none.
    #[test]
    fn charts_say_what_limits_them() {
        let mut report = sample::at_risk();
        let hatched = |report: &Report| render(report).matches("class=\"hatch\"").count();
        let measurement = &mut report.probes[0].measurement;
        for row in measurement
            .methods
            .iter_mut()
            .filter_map(|row| row.paced.as_mut())
        {
            row.rounds_us = (1..=71).map(f64::from).collect();
        }
        assert_eq!(hatched(&report), 1);
        report.probes[0].measurement.caveats[0].rounds = vec![1, 2, 30, 70, 71];
        let page = render(&report);
        assert_eq!(page.matches("class=\"hatch\"").count(), 3);
        assert!(
            read(&page).contains("Hatched: another process wrote"),
            "{page}"
        );
        report.probes[0].measurement.caveats.clear();
        assert_eq!(hatched(&report), 0);
        assert!(!page.contains("[not durable]"));
        let source = Source::derived(["mount.barrier"]);
        report
            .facts
            .know(&sample::data(), &FLUSH, Flush::Suppressed, source);
        let page = render(&report);
        assert!(
            page.contains("[not durable]")
                && read(&page).contains("No flush was sent: not the latency")
        );
    }
}
