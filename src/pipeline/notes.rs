//! No output depends on the sentence of a note: with every sentence replaced by `x`, all output stays the same, except
//! where notes are shown.
//!
//! The notes that each form shows are listed here a second time, by kind, so that a form that shows none, or shows them
//! where nobody looks, fails a test.

use super::Session;
use crate::facts::Note;
use crate::facts::note::{BootNote, MeasurementNote, muted};
use crate::report::difference::Kept;
use crate::report::exit::{self, FailCondition};
use crate::report::{Format, Report, conf, sample};
use crate::rules::{Level, RuleSet};

/// Reports with a note of every kind: with steps, without any, of a free disk, and as made by the whole pipeline from
/// facts on.
fn reports() -> Vec<Report> {
    let mut judged = Session::new(sample::at_risk().facts, RuleSet::builtin(), true);
    for note in Note::every() {
        judged.read.warn(note);
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

/// Whether a form shows a note, where it shows any.
fn tells(format: Format, note: &Note) -> bool {
    match format {
        Format::Text | Format::Json | Format::Markdown => true,
        Format::Script | Format::Udev => false,
        Format::Conf => {
            let missing = |of: &MeasurementNote| match of {
                MeasurementNote::Absence { .. } | MeasurementNote::Fragment { .. } => true,
                MeasurementNote::Failure { .. } | MeasurementNote::Age { .. } => false,
            };
            matches!(note, Note::Measurement(of) if missing(of))
        }
        Format::Fstab | Format::Unit => matches!(note, Note::Boot(BootNote::Gap { .. })),
    }
}

/// The text of a document, and the concatenated sentences of its notes, as words where the document breaks lines.
struct DocumentText {
    rest: String,
    told: Vec<String>,
}

/// The words of a text without Markdown's escapes and markup.
fn words(text: &str) -> Vec<String> {
    let word = |word: &str| word.replace(['\\', '`'], "");
    text.split_whitespace().filter(|word| *word != "-").map(word).collect()
}

/// Splits a document; `notes` are as currently worded.
fn parts(format: Format, document: &str, notes: &[Note]) -> DocumentText {
    let section = |is_next: fn(&str) -> bool| {
        let (mut rest, mut told, mut inside) = (String::new(), String::new(), false);
        for line in document.lines() {
            inside = line.trim_start_matches('#').trim() == "About this run" || inside && !is_next(line);
            let part = if inside { &mut told } else { &mut rest };
            part.push_str(line);
            part.push('\n');
        }
        let heading = told.find('\n').unwrap_or_default();
        DocumentText { rest, told: words(&told[heading..]) }
    };
    match format {
        Format::Text => section(|line| line.starts_with(|c: char| !c.is_whitespace())),
        Format::Markdown => section(|line| line.starts_with('#')),
        Format::Json => {
            let mut json: serde_json::Value = serde_json::from_str(document).unwrap();
            let told = json.as_object_mut().unwrap().remove("warnings").unwrap();
            DocumentText { rest: json.to_string(), told: serde_json::from_value(told).unwrap() }
        }
        Format::Script | Format::Conf | Format::Fstab | Format::Unit | Format::Udev => {
            let lines: Vec<String> = notes.iter().map(|note| format!("# {note}")).collect();
            let is_note = |line: &&str| lines.iter().any(|one| one == line);
            let (told, rest): (Vec<&str>, Vec<&str>) = document.lines().partition(is_note);
            DocumentText { rest: rest.join("\n"), told: told.into_iter().map(str::to_owned).collect() }
        }
    }
}

/// The expected notes, in the form in which [`parts`] finds them.
fn expected(format: Format, notes: &[Note]) -> Vec<String> {
    let sentences = notes.iter().filter(|note| tells(format, note)).map(Note::to_string);
    match format {
        Format::Text | Format::Markdown => sentences.flat_map(|sentence| words(&sentence)).collect(),
        Format::Json => sentences.collect(),
        Format::Script | Format::Conf | Format::Fstab | Format::Unit | Format::Udev => {
            sentences.map(|sentence| format!("# {sentence}")).collect()
        }
    }
}

type Render<'a> = &'a dyn Fn(&Report) -> Result<String, String>;

/// Whether a form of a report shows notes; an error where anything else changes with their sentences.
fn told(report: &Report, format: Format, render: Render<'_>) -> Result<bool, String> {
    let look = || {
        let document = render(report).unwrap_or_else(|why| why);
        let DocumentText { rest, told } = parts(format, &document, &report.warnings);
        let expected = expected(format, &report.warnings);
        if told.is_empty() || told == expected {
            Ok((rest, !told.is_empty()))
        } else {
            Err(format!("{format:?}: {told:#?} instead of {expected:#?}"))
        }
    };
    let (with, without) = (look()?, muted::during(look)?);
    if with == without { Ok(with.1) } else { Err(format!("{format:?}:\n{with:#?}\n{without:#?}")) }
}

#[test]
fn no_form_goes_by_the_sentence_of_a_note() {
    for format in Format::ALL {
        let all = reports();
        let count =
            all.iter().filter(|report| told(report, format, &|report| format.render(report)).unwrap());
        let expected = match format {
            Format::Text | Format::Json | Format::Markdown | Format::Conf => all.len(),
            // Only where nothing is to be changed.
            Format::Fstab | Format::Unit => 1,
            Format::Script | Format::Udev => 0,
        };
        assert_eq!(count.count(), expected, "{format:?}");
    }
}

#[test]
fn what_goes_by_the_sentence_of_a_note_is_found() {
    let has =
        |report: &Report, words: &str| report.warnings.iter().any(|note| note.to_string().starts_with(words));
    let report = &reports()[0];
    let acts = |report: &Report| {
        let line = if has(report, "not measured") { "commit_delay = 0\n" } else { "" };
        Ok(conf::render(report) + line)
    };
    let hides = |report: &Report| {
        let lines = conf::render(report);
        Ok(if has(report, "not measured") { lines } else { lines.replace("# x\n", "") })
    };
    let tells = |report: &Report| Ok(conf::render(report));
    assert_eq!(told(report, Format::Conf, &tells), Ok(true));
    assert!(told(report, Format::Conf, &acts).is_err(), "a line more");
    assert!(told(report, Format::Conf, &hides).is_err(), "a note less");
}

#[test]
fn nor_does_an_exit_code_or_a_comparison() {
    for report in reports() {
        let look = || {
            let mut codes = Vec::new();
            for level in [Level::Option, Level::Advice, Level::Warning, Level::Critical] {
                for undecided in [false, true] {
                    codes.push(exit::code(&report, FailCondition { level, undecided }));
                }
            }
            (codes, Kept::from_report(&report))
        };
        assert_eq!(look(), muted::during(look));
    }
}

/// The conclusions from facts, including notes.
#[test]
fn nor_does_anything_on_the_way_to_a_report() {
    let look = || {
        let mut report = reports().pop().unwrap();
        let told = std::mem::take(&mut report.warnings);
        (Report { when: String::new(), ..report }, told.len())
    };
    let (with, without) = (look(), muted::during(look));
    assert_eq!(with, without);
    assert!(with.1 >= Note::every().len() && !with.0.findings.is_empty());
}
