//! Checks that no output depends on the wording of a note.
//!
//! If every note's sentence is replaced by `x`, only the notes themselves may change in any format.

use super::Session;
use crate::facts::note::muted;
use crate::facts::{Choice as _, Note};
use crate::report::difference::ReportSnapshot;
use crate::report::exit::{self, FailThreshold};
use crate::report::{Format, Report, report_reader, sample_reports, server_conf};
use crate::rules::{Level, RuleSet};

fn reports_with_all_sample_notes() -> Vec<Report> {
    let mut judged = Session::new(sample_reports::at_risk().facts, RuleSet::builtin(), true);
    for note in Note::samples() {
        judged.facts.add_note_once(note);
    }
    let mut settled = sample_reports::at_risk();
    settled.plans.clear();
    let mut reports = vec![
        sample_reports::at_risk(),
        settled,
        sample_reports::free_disk(),
    ];
    for report in &mut reports {
        report.warnings.extend(Note::samples());
    }
    reports.extend([judged.build_report()]);
    reports
}

struct DocumentAndNotes {
    rest: String,
    /// Notes in the document: sentences if the format keeps a note in one piece, else single words.
    shown_notes: Vec<String>,
    /// The report's notes in the form of `shown_notes`.
    expected: Vec<String>,
    count: usize,
}

fn plain_words(text: &str) -> Vec<String> {
    let word = |word: &str| word.replace(['\\', '`'], "");
    text.split_whitespace()
        .filter(|word| *word != "-")
        .map(word)
        .collect()
}

fn split_off_notes(document: &str, notes: &[Note]) -> DocumentAndNotes {
    let sentences: Vec<String> = notes.iter().map(Note::to_string).collect();
    let count = notes.len();
    if let Ok(mut json) = serde_json::from_str::<serde_json::Value>(document)
        && let Some(told) = json.as_object_mut().unwrap().remove("warnings")
    {
        let told = serde_json::from_value(told).unwrap();
        return DocumentAndNotes {
            rest: json.to_string(),
            shown_notes: told,
            expected: sentences,
            count,
        };
    }
    if document.starts_with("<!DOCTYPE html>") {
        return split_off_html_notes(document, &sentences);
    }
    let is_heading = |line: &&str| line.trim_start_matches('#').trim() == "About this run";
    let Some(heading) = document.lines().find(is_heading) else {
        let lines: Vec<String> = sentences
            .iter()
            .map(|sentence| format!("# {sentence}"))
            .collect();
        let is_note = |line: &&str| lines.iter().any(|one| one == line);
        let (told, rest): (Vec<&str>, Vec<&str>) = document.lines().partition(is_note);
        let told: Vec<String> = told.into_iter().map(str::to_owned).collect();
        let count = told.len();
        return DocumentAndNotes {
            rest: rest.join("\n"),
            expected: told.clone(),
            shown_notes: told,
            count,
        };
    };
    let is_next = |line: &str| {
        if heading.starts_with('#') {
            line.starts_with('#')
        } else {
            line.starts_with(|c: char| !c.is_whitespace())
        }
    };
    let (mut rest, mut told, mut inside) = (String::new(), String::new(), false);
    for line in document.lines() {
        inside = line == heading || inside && !is_next(line);
        let part = if inside { &mut told } else { &mut rest };
        part.push_str(line);
        part.push('\n');
    }
    let expected = sentences
        .iter()
        .flat_map(|sentence| plain_words(sentence))
        .collect();
    DocumentAndNotes {
        rest,
        shown_notes: plain_words(&told[heading.len()..]),
        expected,
        count,
    }
}

const ROW: &str = "<dt><span class=\"dim\">Note</span></dt><dd>";

fn split_off_html_notes(document: &str, sentences: &[String]) -> DocumentAndNotes {
    let count = sentences.len();
    let (page, inside) = document.split_once(report_reader::BEGIN_TAG).unwrap();
    let (inside, end) = inside.split_once(report_reader::END_TAG).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(inside).unwrap();
    let listed: Vec<String> =
        serde_json::from_value(report.as_object_mut().unwrap().remove("warnings").unwrap())
            .unwrap();
    // Drops the notes of the summary, so that they are not counted twice.
    let glance = page.split(ROW).enumerate();
    let behind = |(at, piece): (usize, &str)| match at {
        0 => piece.to_owned(),
        _ => piece.split_once("</dd>\n").unwrap().1.to_owned(),
    };
    let page: String = glance.map(behind).collect();
    let (before, after) = page.split_once(">About this run<").unwrap();
    let (told, after) = after.split_once("</ul>").unwrap();
    let (_, told) = told.split_once("<ul").unwrap();
    let mut text = String::new();
    for piece in told.split('<') {
        let (tag, shown) = piece.split_once('>').unwrap();
        text.push_str(if tag.ends_with("code") { "" } else { " " });
        text.push_str(shown);
    }
    for (escaped, sign) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        text = text.replace(escaped, sign);
    }
    let mut told = plain_words(&text);
    told.extend(listed.iter().flat_map(|sentence| plain_words(sentence)));
    let expected = sentences
        .iter()
        .chain(sentences)
        .flat_map(|sentence| plain_words(sentence))
        .collect();
    DocumentAndNotes {
        rest: format!("{before}{after}{report}{end}"),
        shown_notes: told,
        expected,
        count,
    }
}

type Render<'a> = &'a dyn Fn(&Report) -> Result<String, String>;

fn check_wording_independence(report: &Report, render: Render<'_>) -> Result<usize, String> {
    let look = || {
        let document = render(report).unwrap_or_else(|why| why);
        let DocumentAndNotes {
            rest,
            shown_notes: told,
            expected,
            count,
        } = split_off_notes(&document, &report.warnings);
        if told == expected {
            Ok((rest, count))
        } else {
            Err(format!("{told:#?} instead of {expected:#?}"))
        }
    };
    let (with, without) = (look()?, muted::with_muted_notes(look)?);
    if with == without {
        return Ok(with.1);
    }
    let differ = with
        .0
        .char_indices()
        .zip(without.0.chars())
        .find(|((_, one), other)| one != other);
    let from = differ.map_or(0, |((at, _), _)| at).saturating_sub(200);
    let near = |text: &str| {
        text.get(from..)
            .map(|rest| rest.chars().take(600).collect::<String>())
    };
    Err(format!(
        "{} and {} notes; {:#?}\n{:#?}",
        with.1,
        without.1,
        near(&with.0),
        near(&without.0)
    ))
}

#[test]
fn no_format_depends_on_note_wording() {
    let of = |format: Format| {
        reports_with_all_sample_notes()
            .iter()
            .map(|report| {
                check_wording_independence(report, &|report| format.render(report)).unwrap()
            })
            .sum::<usize>()
    };
    for format in Format::ALL {
        of(*format);
    }
    let all: usize = reports_with_all_sample_notes()
        .iter()
        .map(|report| report.warnings.len())
        .sum();
    assert_eq!(
        [Format::Text, Format::Json, Format::Markdown, Format::Html].map(of),
        [all; 4],
        "every note"
    );
    assert!(
        [Format::Conf, Format::Fstab]
            .map(of)
            .iter()
            .all(|count| *count > 0),
        "some"
    );
}

#[test]
fn wording_check_detects_dependent_renderers() {
    let has = |report: &Report, words: &str| {
        report
            .warnings
            .iter()
            .any(|note| note.to_string().starts_with(words))
    };
    let report = &reports_with_all_sample_notes()[0];
    let acts = |report: &Report| {
        let line = if has(report, "not measured") {
            "commit_delay = 0\n"
        } else {
            ""
        };
        Ok(server_conf::render(report) + line)
    };
    let hides = |report: &Report| {
        let lines = server_conf::render(report);
        Ok(if has(report, "not measured") {
            lines
        } else {
            lines.replace("# x\n", "")
        })
    };
    let tells = |report: &Report| Ok(server_conf::render(report));
    assert!(check_wording_independence(report, &tells).is_ok_and(|count| count > 0));
    assert!(
        check_wording_independence(report, &acts).is_err(),
        "a line more"
    );
    assert!(
        check_wording_independence(report, &hides).is_err(),
        "a note less"
    );
}

#[test]
fn exit_code_and_snapshot_ignore_note_wording() {
    for report in reports_with_all_sample_notes() {
        let look = || {
            let mut codes = Vec::new();
            for level in [
                Level::Optional,
                Level::Advice,
                Level::Warning,
                Level::Critical,
            ] {
                for undecided in [false, true] {
                    codes.push(exit::exit_code(&report, FailThreshold { level, undecided }));
                }
            }
            (codes, ReportSnapshot::from_report(&report))
        };
        assert_eq!(look(), muted::with_muted_notes(look));
    }
}

#[test]
fn report_building_ignores_note_wording() {
    let look = || {
        let mut report = reports_with_all_sample_notes().pop().unwrap();
        let told = std::mem::take(&mut report.warnings);
        (
            Report {
                when: String::new(),
                ..report
            },
            told.len(),
        )
    };
    let (with, without) = (look(), muted::with_muted_notes(look));
    assert_eq!(with, without);
    assert!(with.1 >= Note::samples().len() && !with.0.findings.is_empty());
}
