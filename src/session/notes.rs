//! No output may depend on the wording of a note: with every sentence replaced by `x`, everything
//! except the notes themselves stays the same. Every format is covered without naming it here.

use super::Session;
use crate::facts::Note;
use crate::facts::note::muted;
use crate::report::difference::ReportSnapshot;
use crate::report::exit::{self, FailCondition};
use crate::report::{Format, Report, conf, embedded_json, sample};
use crate::rules::{Level, RuleSet};

/// Reports with every kind of note: with steps, without steps, of a free disk, and one that the
/// whole pipeline made from facts.
fn reports() -> Vec<Report> {
    let mut judged = Session::new(sample::at_risk().facts, RuleSet::builtin(), true);
    for note in Note::every() {
        judged.facts.add_note(note);
    }
    let mut settled = sample::at_risk();
    settled.plans.clear();
    let mut reports = vec![sample::at_risk(), settled, sample::free_disk()];
    for report in &mut reports {
        report.warnings.extend(Note::every());
    }
    reports.extend([judged.report()]);
    reports
}

/// A document, split into its notes and the rest.
struct DocumentText {
    rest: String,
    /// Its notes as words, or as whole sentences where the document keeps them whole.
    shown_notes: Vec<String>,
    /// The notes as expected, in the same form.
    expected: Vec<String>,
    count: usize,
}

/// The words of a text without Markdown escapes and markup.
fn plain_words(text: &str) -> Vec<String> {
    let word = |word: &str| word.replace(['\\', '`'], "");
    text.split_whitespace()
        .filter(|word| *word != "-")
        .map(word)
        .collect()
}

/// Splits a document that shows all notes in a JSON array, all under a heading, or some as
/// comments.
fn split_document(document: &str, notes: &[Note]) -> DocumentText {
    let sentences: Vec<String> = notes.iter().map(Note::to_string).collect();
    let count = notes.len();
    if let Ok(mut json) = serde_json::from_str::<serde_json::Value>(document)
        && let Some(told) = json.as_object_mut().unwrap().remove("warnings")
    {
        let told = serde_json::from_value(told).unwrap();
        return DocumentText {
            rest: json.to_string(),
            shown_notes: told,
            expected: sentences,
            count,
        };
    }
    if document.starts_with("<!DOCTYPE html>") {
        return split_html(document, &sentences);
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
        return DocumentText {
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
    DocumentText {
        rest,
        shown_notes: plain_words(&told[heading.len()..]),
        expected,
        count,
    }
}

/// Precedes each note in the summary of an HTML page.
const ROW: &str = "<dt><span class=\"dim\">Note</span></dt><dd>";

/// Splits an HTML page, which lists all notes under a heading and again in the embedded report.
fn split_html(document: &str, sentences: &[String]) -> DocumentText {
    let count = sentences.len();
    let (page, inside) = document.split_once(embedded_json::BEGIN_TAG).unwrap();
    let (inside, end) = inside.split_once(embedded_json::END_TAG).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(inside).unwrap();
    let listed: Vec<String> =
        serde_json::from_value(report.as_object_mut().unwrap().remove("warnings").unwrap())
            .unwrap();
    // The summary at the top lists each note once more.
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
    DocumentText {
        rest: format!("{before}{after}{report}{end}"),
        shown_notes: told,
        expected,
        count,
    }
}

type Render<'a> = &'a dyn Fn(&Report) -> Result<String, String>;

/// The number of notes that a format shows; an error if anything else changes with their wording.
fn notes_shown(report: &Report, render: Render<'_>) -> Result<usize, String> {
    let look = || {
        let document = render(report).unwrap_or_else(|why| why);
        let DocumentText {
            rest,
            shown_notes: told,
            expected,
            count,
        } = split_document(&document, &report.warnings);
        if told == expected {
            Ok((rest, count))
        } else {
            Err(format!("{told:#?} instead of {expected:#?}"))
        }
    };
    let (with, without) = (look()?, muted::with_muted(look)?);
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
fn no_form_goes_by_the_sentence_of_a_note() {
    let of = |format: Format| {
        reports()
            .iter()
            .map(|report| notes_shown(report, &|report| format.render(report)).unwrap())
            .sum::<usize>()
    };
    for format in Format::ALL {
        of(format);
    }
    let all: usize = reports().iter().map(|report| report.warnings.len()).sum();
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
fn what_goes_by_the_sentence_of_a_note_is_found() {
    let has = |report: &Report, words: &str| {
        report
            .warnings
            .iter()
            .any(|note| note.to_string().starts_with(words))
    };
    let report = &reports()[0];
    let acts = |report: &Report| {
        let line = if has(report, "not measured") {
            "commit_delay = 0\n"
        } else {
            ""
        };
        Ok(conf::render(report) + line)
    };
    let hides = |report: &Report| {
        let lines = conf::render(report);
        Ok(if has(report, "not measured") {
            lines
        } else {
            lines.replace("# x\n", "")
        })
    };
    let tells = |report: &Report| Ok(conf::render(report));
    assert!(notes_shown(report, &tells).is_ok_and(|count| count > 0));
    assert!(notes_shown(report, &acts).is_err(), "a line more");
    assert!(notes_shown(report, &hides).is_err(), "a note less");
}

#[test]
fn nor_does_an_exit_code_or_a_comparison() {
    for report in reports() {
        let look = || {
            let mut codes = Vec::new();
            for level in [
                Level::Optional,
                Level::Advice,
                Level::Warning,
                Level::Critical,
            ] {
                for undecided in [false, true] {
                    codes.push(exit::exit_code(&report, FailCondition { level, undecided }));
                }
            }
            (codes, ReportSnapshot::from_report(&report))
        };
        assert_eq!(look(), muted::with_muted(look));
    }
}

/// The whole pipeline from facts on, notes included.
#[test]
fn nor_does_anything_on_the_way_to_a_report() {
    let look = || {
        let mut report = reports().pop().unwrap();
        let told = std::mem::take(&mut report.warnings);
        (
            Report {
                when: String::new(),
                ..report
            },
            told.len(),
        )
    };
    let (with, without) = (look(), muted::with_muted(look));
    assert_eq!(with, without);
    assert!(with.1 >= Note::every().len() && !with.0.findings.is_empty());
}
