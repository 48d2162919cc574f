//! A report that somebody kept, JSON or HTML with that inside, in a form for people or for
//! programs.
//!
//! Nothing in it is believed: [`super::difference`] reads its parts, each of which is display-safe
//! or lost alone.

use std::io::{BufReader, Read};

use super::difference::{Kept, Unusable};
use super::inside::ReportReader;
use super::telling::kept::sections;
use super::{html, json, markdown, text};

pub struct KeptReport {
    kept: Kept,
    json: String,
}

impl KeptReport {
    pub fn read(document: impl Read) -> Result<Self, Unusable> {
        let mut bytes = Vec::new();
        ReportReader::new(BufReader::new(document))
            .read_to_end(&mut bytes)
            .map_err(|error| Unusable::Unreadable(walwise_model::text::error_words(&error)))?;
        let kept = Kept::parse(bytes.as_slice())?;
        Ok(Self {
            kept,
            json: json::again(&String::from_utf8_lossy(&bytes)),
        })
    }

    /// The document that `walwise check --format json` wrote; one that comes out of a page has no
    /// indentation.
    pub fn json(&self) -> &str {
        &self.json
    }

    pub fn text(&self) -> String {
        text::sections(&sections(&self.kept))
    }

    /// As a Markdown document.
    pub fn markdown(&self) -> String {
        markdown::sections(&self.title(), &sections(&self.kept))
    }

    /// As an HTML document that holds the same data.
    pub fn html(&self) -> String {
        html::sections(&self.title(), &sections(&self.kept), &self.json)
    }

    fn title(&self) -> String {
        format!("A kept report of {}", self.kept.made.host)
    }
}

#[cfg(test)]
mod tests {
    //! What is read back is what was written, whatever form it was kept in; and whoever wrote it
    //! gains nothing.

    use super::*;
    use crate::{inside, sample};
    use walwise_model::facts::Subject;
    use walwise_model::text::is_treacherous;

    fn read(document: &str) -> KeptReport {
        KeptReport::read(document.as_bytes()).unwrap()
    }

    #[test]
    fn both_forms_come_back_as_the_same() {
        for mut report in sample::all() {
            report.host.name = "a<b\\u003c\u{202e}c</script>".to_owned();
            let written = json::render(&report);
            let (plain, page) = (read(&written), read(&html::render(&report)));
            assert_eq!(plain.json(), written);
            // A page leaves out the indentation.
            let plainly: String = written
                .lines()
                .flat_map(|line| [line.trim_start(), "\n"])
                .collect();
            assert_eq!(page.json(), plainly);
            assert_eq!(plain.kept, page.kept);
            assert_eq!(plain.text(), page.text());
            assert_eq!(read(&plain.html()).json(), plainly);
        }
    }

    #[test]
    fn everything_found_is_told_and_no_command_is() {
        for report in sample::all() {
            let kept = read(&json::render(&report));
            for document in [
                kept.text().split_whitespace().collect::<Vec<_>>().join(" "),
                kept.html(),
            ] {
                for finding in &report.findings {
                    assert!(
                        document.contains(&*finding.rule),
                        "{}: {document}",
                        finding.rule
                    );
                }
            }
            let steps = report.plans.iter().flat_map(|plan| &plan.steps);
            for command in steps.flat_map(|step| &step.advice.apply) {
                assert!(!kept.text().contains(command.as_str()), "{command}");
            }
        }
    }

    /// Whoever wrote the file wrote what a terminal and a browser would take for more than text.
    #[test]
    fn what_strangers_wrote_is_text() {
        let evil = "\u{1b}]0;x\u{7}\u{202e}</script><svg onload=alert(1)>";
        let mut report = sample::at_risk();
        report.host.name = evil.to_owned();
        report.host.os = evil.to_owned();
        for target in &mut report.targets {
            target.title = evil.to_owned();
        }
        for finding in &mut report.findings {
            finding.title = evil.to_owned();
            finding.subject = Subject::mount(evil);
        }
        // Space between values may be any of four characters.
        let raw = serde_json::to_string_pretty(&report)
            .unwrap()
            .replace('\n', "\r\n\t");
        let kept = read(&raw);
        for document in [
            kept.text(),
            kept.markdown(),
            kept.html(),
            kept.json().to_owned(),
        ] {
            let found = document.chars().find(|c| *c != '\n' && is_treacherous(*c));
            assert_eq!(found, None, "{document}");
        }
        assert!(!kept.html().contains("<svg"), "{}", kept.html());
        assert_eq!(kept.html().matches("</script>").count(), 1);
    }

    #[test]
    fn a_bad_file_is_refused_in_a_sentence() {
        let deep = format!("{{\"schema\": 3, \"facts\": {}", "[".repeat(100_000));
        let cut = json::render(&sample::at_risk())
            .chars()
            .take(2_000)
            .collect::<String>();
        let page = format!("<!DOCTYPE html>\n{}{cut}", inside::BEGIN);
        for document in [
            "",
            "x",
            "{}",
            "<html></html>",
            "[1]",
            "{\"schema\": 99}",
            &deep,
            &cut,
            &page,
        ] {
            let refused = KeptReport::read(document.as_bytes())
                .map(|_| ())
                .unwrap_err()
                .to_string();
            assert!(!refused.contains('\n'), "{refused}");
        }
    }

    /// A part that is not what it should be is lost alone, and that is said.
    #[test]
    fn a_bad_part_costs_itself() {
        let mut json: serde_json::Value =
            serde_json::from_str(&json::render(&sample::at_risk())).unwrap();
        json["verdicts"][0] = serde_json::json!({"target": 7});
        let told = read(&json.to_string()).text();
        assert!(told.contains("1 part of it could not be read"), "{told}");
        assert!(told.contains("NO VERDICT"), "{told}");
    }
}
