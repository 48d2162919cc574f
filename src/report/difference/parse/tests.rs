//! A report and its document are kept alike, and what is wrong in a document costs itself.

use std::io::Read;

use super::*;
use crate::report::{json, sample};

#[test]
fn a_report_and_its_document_are_kept_alike() {
    for report in sample::all() {
        let kept = Kept::parse(json::render(&report).as_bytes()).unwrap();
        assert_eq!(kept, Kept::from_report(&report));
        assert!(!kept.facts.is_empty() && kept.unreadable == 0);
    }
    assert!(!Kept::from_report(&sample::at_risk()).probes.is_empty());
}

#[test]
fn a_caveat_that_nobody_knows_speaks_against_a_comparison() {
    let document = json::render(&sample::at_risk());
    for (id, doubts) in [("competing-io", 1), ("o-direct", 0), ("made-up", 1)] {
        let document = document.replace("\"competing-io\"", &format!("\"{id}\""));
        let kept = Kept::parse(document.as_bytes()).unwrap();
        assert_eq!(kept.probes.values().map(|probe| probe.doubts.len()).sum::<usize>(), doubts, "{id}");
    }
}

#[test]
fn what_is_no_report_or_of_another_format_is_refused_with_what_to_do() {
    for (document, says) in [
        ("", "walwise check -v --format json"),
        ("{", "walwise check -v --format json"),
        ("[]", "walwise check -v --format json"),
        ("{}", "which format"),
        (r#"{"schema": "3"}"#, "which format"),
        (r#"{"schema": 3} x"#, "walwise check -v --format json"),
        (r#"{"schema": 99}"#, "has format 99"),
        (r#"{"schema": 1, "facts": [}"#, "has format 1"),
    ] {
        let error = Kept::parse(document.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{document}: {error}");
    }
    for byte in [b' ', b'{', b'\0'] {
        let endless = std::io::repeat(byte);
        let refused = Kept::parse(endless.take(1 << 10));
        assert!(matches!(refused, Err(Unusable::NoReport(_))), "{refused:?}");
    }
    let broken = b"{\"schema\": 3, ".chain(FailingReader);
    assert!(matches!(Kept::parse(broken), Err(Unusable::Unreadable(why)) if why == "nothing came"));
}

/// A file whose reading fails.
struct FailingReader;

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("nothing came"))
    }
}

#[test]
fn every_mistake_costs_itself() {
    let document = r#"{"schema": 3, "when": 3, "host": [], "targets": {"a": [1]}, "verdicts": 7,
        "rules": [{"rule": "a.b"}, {"rule": null}, 4],
        "findings": [
            {"rule": "a.b", "subject": "device sda", "outcome": {"outcome": "applies"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "sda", "outcome": {"outcome": "applies"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "device sdb", "outcome": {"outcome": "maybe"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "device sdb", "outcome": {"outcome": "applies"}, "level": "dire", "title": "t"}],
        "facts": [
            {"subject": "device sda", "fact": "device.model", "reading": {"state": "known", "value": "A\u001b[31m"}},
            {"subject": "device sda", "fact": "device.colour", "reading": {"state": "known", "value": "red"}},
            {"subject": "device sda", "fact": "device.size", "reading": {"state": "known", "value": null}},
            {"subject": "device sda", "fact": "device.kind", "reading": {"state": "perhaps"}}]}"#;
    let kept = Kept::parse(document.as_bytes()).unwrap();
    let (sda, model) = (Subject::device("sda"), Shown::Text("A\\x1b[31m".to_owned()));
    assert_eq!(kept.value(&sda, "device.model"), Some(&model));
    assert_eq!((kept.findings.len(), kept.rules.len()), (1, 1));
    assert_eq!((kept.foreign, kept.unreadable), (1, 11));
}
