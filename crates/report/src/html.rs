//! One HTML document without scripts or external resources. The page embeds the JSON report, which
//! [`crate::report_reader`] extracts again.

mod markup;
pub(crate) mod anchors {
    //! Element ids, the targets of links. An id depends only on rule and subject, so that
    //! monitoring can build links without reading the page.

    use std::fmt::Write as _;

    use walwise_model::facts::Subject;
    use walwise_model::text;

    /// The length in bytes after which an encoded name is cut and gets a hash.
    const MAX_ID_BYTES: usize = 120;

    /// The element id of a finding, unique in a report: `finding-barrier.ext4-off-mount:~2fimages`.
    pub fn finding_anchor(rule: &str, subject: &Subject) -> String {
        // Rule ids have no colon and scope words have no hyphen, so the last hyphen before the
        // first colon separates rule and subject.
        format!(
            "finding-{}-{}",
            encode_fragment_id(rule),
            encode_fragment_id(&subject.to_string())
        )
    }

    pub fn rule_anchor(rule: &str) -> String {
        format!("rule-{}", encode_fragment_id(rule))
    }

    pub fn facts_anchor(subject: &Subject) -> String {
        format!("facts-{}", encode_fragment_id(&subject.to_string()))
    }

    /// Encodes a name with characters that need no escape in a link. A long name is cut and gets a
    /// hash, so that ids stay unique.
    fn encode_fragment_id(name: &str) -> String {
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
        text::truncate_with_hash(out, MAX_ID_BYTES, "~~", name.as_bytes())
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeSet;

        use super::*;

        #[test]
        fn anchors_are_plain_and_unique() {
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
                        let place = finding_anchor(rule, &subject);
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
mod findings_and_facts;
mod section;
mod dashboard {
    use std::collections::BTreeSet;

    use super::chart::TargetChartBuilder;
    use super::findings_and_facts::FactAppendix;
    use super::markup::{Markup, Tag, tag};
    use super::{section, tone_class};
    use crate::Report;
    use crate::view::short_report::{FixDetailLimit, ShortPart, VisibleFixes, short_report_parts};
    use crate::view::{self, Badge, Bullet, verdict_symbol};

    pub fn render_dashboard(report: &Report, facts: &FactAppendix<'_>) -> Markup {
        let findings = report.findings.iter();
        let told: BTreeSet<&str> = findings.map(|finding| &*finding.rule).collect();
        let mut out = Markup::default();
        let mut lines: Vec<Tag> = Vec::new();
        let targets = view::targets_worst_first(report);
        let mut pictures = targets.first().map(|target| {
            let of = TargetChartBuilder {
                report,
                target,
                place: 1,
                facts,
            };
            let both = [of.flush_path_chart(), of.latency_chart()]
                .into_iter()
                .flatten();
            tag("div")
                .attr("class", "halves")
                .add_all(both)
                .none_if_empty()
        });
        for piece in short_report_parts(report) {
            let block = match piece {
                ShortPart::Line(line) => match line.badges.first() {
                    Some(verdict @ Badge::Verdict(words, of)) => {
                        let (class, sign) =
                            (tone_class(verdict.tone()), of.map_or("·", verdict_symbol));
                        let verdict = tag("p")
                            .attr("class", &format!("verdict {class}"))
                            .add(tag("b").add_text(sign))
                            .add_text(" ")
                            .add(Markup::from_rich_text(words))
                            .add_text("  ")
                            .add(Markup::from_rich_text(&line.text));
                        Markup::from(verdict).append(pictures.take().unwrap_or_default())
                    }
                    Some(_) => {
                        lines.extend(definition(&line, &told));
                        continue;
                    }
                    None => tag("p").add(Markup::from_rich_text(&line.text)).into(),
                },
                ShortPart::Grid(grid) => section::grid_table(&grid),
                ShortPart::Answers(rows) => section::grid_table(&view::answers::answers_grid(rows)),
                ShortPart::Fixes(list) => {
                    let list = list.visible_fixes(FixDetailLimit::ALL[0]);
                    let fixes = list.entries.iter();
                    lines.extend(fixes.flat_map(|(_, fix)| definition(fix, &told)));
                    fix_list_end(list)
                }
                ShortPart::Section(one) => section::render_sections(&[one], true),
            };
            let list = tag("dl").add_all(std::mem::take(&mut lines));
            out = out.append(list.none_if_empty()).append(block);
        }
        out.append(tag("dl").add_all(lines).none_if_empty())
    }

    /// The term and the description of a bullet in a definition list.
    fn definition(bullet: &Bullet, told: &BTreeSet<&str>) -> impl Iterator<Item = Tag> {
        let label = bullet.badges.first();
        let mut says = Markup::from_rich_text(&bullet.text);
        if !bullet.note.is_empty() {
            says = says
                .append(Markup::from_static("  "))
                .append(Markup::from_rich_text(&bullet.note));
        }
        let description = tag("dd")
            .add(says.append(rule_links(bullet, told)))
            .add(section::details_markup(&bullet.details));
        label
            .map(|label| tag("dt").add(section::badge_markup(label)))
            .into_iter()
            .chain([description])
    }

    fn fix_list_end(list: VisibleFixes) -> Markup {
        let more = list.more.map(|more| tag("p").add_text(&more));
        let persist = list.persist.map(|command| {
            tag("p")
                .add_text("To keep mount options across reboots: ")
                .add(tag("code").add_text(command.as_str()))
        });
        Markup::concat(more.into_iter().chain(persist).map(Markup::from))
    }

    /// Formats the rule ids of a bullet, each as a link to the rule's section. `told` has the rules
    /// with a section on this page; others become plain code.
    fn rule_links(line: &Bullet, told: &BTreeSet<&str>) -> Markup {
        let each = line.rule.split(", ").filter(|rule| !rule.is_empty());
        Markup::concat(each.map(|rule| {
            let name = if told.contains(rule) {
                section::rule_link(rule)
            } else {
                tag("code").add_text(rule).into()
            };
            Markup::from_static(" ").append(name)
        }))
    }
}
pub mod trial;

use super::view::{self, Section, Tone};
use super::{Report, json, report_reader};
use chart::TargetChartBuilder;
use findings_and_facts::FactAppendix;
use markup::{Markup, Tag, tag};
use walwise_model::parallel;

/// Beginning of every page. The content security policy blocks scripts and external resources, in
/// case some text is not escaped.
const PAGE_HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"color-scheme\" content=\"light dark\">\n<style>\n";
const STYLE: &str = include_str!("html/style.css");

pub fn render_report_page(report: &Report) -> String {
    let targets = view::targets_worst_first(report);
    let facts = FactAppendix::from_report(report);
    let groups = view::full_report_section_groups(report);
    let numbered: Vec<(usize, &Vec<Section>)> = groups.iter().enumerate().collect();
    let chapters = parallel::map_items(&numbered, |(at, sections)| {
        // The first group is about the host, the last about subjects of no target. Each group in
        // between is about one target.
        let place = at.checked_sub(1);
        let target = place.and_then(|place| targets.get(place));
        let of = target.map(|target| TargetChartBuilder {
            report,
            target,
            place: *at,
            facts: &facts,
        });
        // The dashboard already has these charts for the first target.
        let pictures = of
            .filter(|_| *at > 1)
            .into_iter()
            .flat_map(|of| [of.flush_path_chart(), of.latency_chart()]);
        let further = of.into_iter().flat_map(TargetChartBuilder::detail_charts);
        let more = Markup::concat(pictures.flatten().chain(further));
        tag("section")
            .attr("id", &format!("part-{at}"))
            .add(section::render_sections(sections, *at == 1))
            .add(more)
    });
    let links = targets.iter().enumerate().map(|(at, target)| {
        let name = view::target::verdict_or_content_heading(report, target)
            .append(": ")
            .append_code(&target.title);
        let to = format!("#part-{}", at + 1);
        tag("li").add(
            tag("a")
                .attr("href", &to)
                .add(Markup::from_rich_text(&name)),
        )
    });
    let glance =
        titled_section("glance", "At a glance").add(dashboard::render_dashboard(report, &facts));
    let folds: Vec<_> = [
        (
            "Findings",
            "findings",
            false,
            findings_and_facts::rule_sections(report),
        ),
        ("Facts", "facts", true, facts.facts_table()),
    ]
    .into_iter()
    .filter(|(.., inner)| !inner.is_empty())
    .collect();
    let contents =
        tag("nav")
            .add(tag("h2").add_text("Contents"))
            .add(
                tag("ul")
                    .add_all(links)
                    .add_all(folds.iter().map(|(heading, id, ..)| {
                        tag("li").add(tag("a").attr("href", &format!("#{id}")).add_text(heading))
                    })),
            );
    let body = Markup::from(glance)
        .append(contents)
        .append(tag("p").add_text(&view::read_before_running_notice(report)))
        .append(Markup::concat(chapters))
        .append(Markup::concat(folds.into_iter().map(
            |(heading, id, is_appendix, inner)| {
                findings_and_facts::collapsible_section(heading, id, is_appendix, inner)
            },
        )));
    let title = format!("Database storage on {}", report.host.name);
    render_page(
        &title,
        body,
        COMMANDS_THAT_READ_REPORTS,
        &json::render_report(report),
    )
}

pub(crate) fn render_sections_page(title: &str, sections: &[Section], json: &str) -> String {
    render_page(
        title,
        section::render_sections(sections, true),
        COMMANDS_THAT_READ_REPORTS,
        json,
    )
}

const COMMANDS_THAT_READ_REPORTS: &str = "walwise show FILE, walwise check --baseline FILE";

fn render_page(title: &str, body: Markup, read_back: &str, json: &str) -> String {
    let header = tag("header").add(tag("h1").add_text(title));
    let held =
        format!("This page contains the report as JSON data. Commands that read it: {read_back}.");
    let footer = tag("footer").add(tag("p").add_text(&held));
    Markup::from_static(PAGE_HEAD)
        .append(Markup::from_static(STYLE))
        .append(Markup::from_static("</style>\n"))
        .append(tag("title").add_text(title))
        .append(Markup::from_static("\n</head>\n<body>\n"))
        .append(header)
        .append(tag("main").add(body))
        .append(footer)
        .append(Markup::from_static(report_reader::BEGIN_TAG))
        .append(Markup::from_json_data(json))
        .append(Markup::from_static(report_reader::END_TAG))
        .append(Markup::from_static("</body>\n</html>\n"))
        .into_string()
}

fn titled_section(id: &str, heading: &str) -> Tag {
    tag("section")
        .attr("id", id)
        .add(tag("h2").add_text(heading))
}

fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Dim => "dim",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sample_reports;
    use walwise_judge::rules::Outcome;
    use walwise_model::facts::catalog::target::{FLUSH, FlushDelivery};
    use walwise_model::facts::{Source, Subject};

    fn visible_text(page: &str) -> String {
        let body = page.split(report_reader::BEGIN_TAG).next().unwrap();
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
    fn page_has_all_findings_and_commands() {
        for report in sample_reports::at_risk_and_free_disk() {
            let page = render_report_page(&report);
            let text = visible_text(&page);
            for finding in report
                .findings
                .iter()
                .filter(|one| one.outcome != Outcome::DoesNotApply)
            {
                let place = format!(
                    " id=\"{}\"",
                    anchors::finding_anchor(&finding.rule, &finding.subject)
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

    #[test]
    fn every_link_has_its_anchor() {
        for report in sample_reports::at_risk_and_free_disk() {
            let page = render_report_page(&report);
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
    fn rendering_is_deterministic() {
        for report in sample_reports::at_risk_and_free_disk() {
            assert_eq!(
                render_report_page(&report),
                render_report_page(&report.clone())
            );
        }
    }

    #[test]
    fn hostile_names_add_no_html_elements() {
        let long = "x".repeat(10_000);
        for evil in [
            "</script><svg onload=alert(1)>",
            "<!--",
            "\u{202e}\"' onfocus=x ",
            &*long,
            "&lt;b&gt;",
        ] {
            let mut report = sample_reports::at_risk();
            let clean = render_report_page(&report);
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
            let page = render_report_page(&report);
            let tags = |page: &str| page.matches('<').count();
            assert_eq!(tags(&page), tags(&clean), "{evil}");
            assert!(!page.contains('\u{202e}'));
        }
    }

    #[test]
    fn section_references_name_existing_headings() {
        let mut told = 0;
        for report in sample_reports::at_risk_and_free_disk()
            .into_iter()
            .chain([sample_reports::free_disks(200)])
        {
            let page = render_report_page(&report);
            let text = visible_text(&page);
            assert!(!text.contains("(-v)"), "{text}");
            for place in text.split("(see “").skip(1) {
                let heading = place.split('”').next().unwrap();
                let heads = page
                    .split("<h")
                    .skip(1)
                    .map(|rest| visible_text(&rest.split("</h").next().unwrap()[2..]));
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

    #[test]
    fn flush_path_links_to_facts() {
        for report in sample_reports::at_risk_and_free_disk() {
            let page = render_report_page(&report);
            for subject in report
                .verdicts
                .iter()
                .flat_map(|verdict| &verdict.flush_path)
                .flat_map(|hop| &hop.subjects)
            {
                let place = anchors::facts_anchor(subject);
                if page.contains(&format!("<tbody id=\"{place}\"")) {
                    assert!(
                        page.matches(&format!("<a href=\"#{place}\"")).count() > 0,
                        "{subject}"
                    );
                }
            }
        }
        let page = render_report_page(&sample_reports::at_risk());
        assert!(
            page.contains("<a href=\"#facts-")
                && page.contains("role=\"group\" aria-labelledby=\"chart-1-path\"")
        );
    }

    #[test]
    fn charts_mark_caveats_and_missing_flushes() {
        let mut report = sample_reports::at_risk();
        let hatched = |report: &Report| {
            render_report_page(report)
                .matches("class=\"hatch\"")
                .count()
        };
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
        let page = render_report_page(&report);
        assert_eq!(page.matches("class=\"hatch\"").count(), 3);
        assert!(
            visible_text(&page).contains("Hatched: another process wrote"),
            "{page}"
        );
        report.probes[0].measurement.caveats.clear();
        assert_eq!(hatched(&report), 0);
        assert!(!page.contains("[not durable]"));
        let source = Source::derived_from(["mount.barrier"]);
        report.facts.insert_known(
            &sample_reports::data_target(),
            &FLUSH,
            FlushDelivery::Suppressed,
            source,
        );
        let page = render_report_page(&report);
        assert!(
            page.contains("[not durable]")
                && visible_text(&page).contains("No flush was sent, so this is not the latency")
        );
    }
}
