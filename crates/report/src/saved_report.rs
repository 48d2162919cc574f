//! A saved report as text, Markdown, JSON and HTML. The file is untrusted, so each part of it is
//! made safe for display or dropped.

use std::io::Read;

use super::difference::{ReportParseError, ReportSnapshot};
use super::view::saved_report::saved_report_sections;
use super::{html, json, markdown, report_reader, text};

pub struct SavedReport {
    snapshot: ReportSnapshot,
    json: String,
}

impl SavedReport {
    pub fn from_reader(mut document: impl Read) -> Result<Self, ReportParseError> {
        let mut bytes = Vec::new();
        document.read_to_end(&mut bytes).map_err(|error| {
            ReportParseError::Unreadable(walwise_model::text::io_error_message(&error))
        })?;
        let snapshot = ReportSnapshot::from_reader(bytes.as_slice())?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self {
            snapshot,
            json: json::make_json_display_safe(report_reader::embedded_json(&text).trim_start()),
        })
    }

    /// The report as JSON, without indentation if the JSON was extracted from HTML.
    pub fn display_safe_json(&self) -> &str {
        &self.json
    }

    pub fn to_text(&self) -> String {
        text::render_sections_text(&saved_report_sections(&self.snapshot))
    }

    pub fn to_markdown(&self) -> String {
        markdown::render_titled_sections(&self.title(), &saved_report_sections(&self.snapshot))
    }

    /// Renders the report as HTML with [`SavedReport::json`] embedded, so that walwise can read the
    /// document again.
    pub fn to_html(&self) -> String {
        html::render_sections_page(
            &self.title(),
            &saved_report_sections(&self.snapshot),
            &self.json,
        )
    }

    fn title(&self) -> String {
        format!("Saved report of {}", self.snapshot.origin.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;
    use walwise_model::facts::Subject;
    use walwise_model::text::JoinText;
    use walwise_model::text::is_display_unsafe;

    fn parse_saved_report(document: &str) -> SavedReport {
        SavedReport::from_reader(document.as_bytes()).unwrap()
    }

    #[test]
    fn json_and_html_parse_to_same_report() {
        for mut report in sample_reports::at_risk_and_free_disk() {
            report.host.name = "a<b\\u003c\u{202e}c</script>".to_owned();
            let written = json::render_report(&report);
            let (plain, page) = (
                parse_saved_report(&written),
                parse_saved_report(&html::render_report_page(&report)),
            );
            assert_eq!(plain.display_safe_json(), written);
            let plainly: String = written
                .lines()
                .flat_map(|line| [line.trim_start(), "\n"])
                .collect();
            assert_eq!(page.display_safe_json(), plainly);
            assert_eq!(plain.snapshot, page.snapshot);
            assert_eq!(plain.to_text(), page.to_text());
            assert_eq!(
                parse_saved_report(&plain.to_html()).display_safe_json(),
                plainly
            );
        }
    }

    #[test]
    fn findings_are_shown_without_commands() {
        for report in sample_reports::at_risk_and_free_disk() {
            let kept = parse_saved_report(&json::render_report(&report));
            for document in [
                kept.to_text().split_whitespace().join_with(" "),
                kept.to_html(),
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
                assert!(!kept.to_text().contains(command.as_str()), "{command}");
            }
        }
    }

    #[test]
    fn hostile_saved_report_is_escaped() {
        let evil = "\u{1b}]0;x\u{7}\u{202e}</script><svg onload=alert(1)>";
        let mut report = sample_reports::at_risk();
        report.host.name = evil.to_owned();
        report.host.os = evil.to_owned();
        for target in &mut report.targets {
            target.title = evil.to_owned();
        }
        for finding in &mut report.findings {
            finding.title = evil.to_owned();
            finding.subject = Subject::mount(evil);
        }
        // JSON allows tabs and carriage returns between values, but a terminal must not receive
        // them.
        let raw = serde_json::to_string_pretty(&report)
            .unwrap()
            .replace('\n', "\r\n\t");
        let kept = parse_saved_report(&raw);
        for document in [
            kept.to_text(),
            kept.to_markdown(),
            kept.to_html(),
            kept.display_safe_json().to_owned(),
        ] {
            let found = document
                .chars()
                .find(|c| *c != '\n' && is_display_unsafe(*c));
            assert_eq!(found, None, "{document}");
        }
        assert!(!kept.to_html().contains("<svg"), "{}", kept.to_html());
        assert_eq!(kept.to_html().matches("</script>").count(), 1);
    }

    #[test]
    fn invalid_document_gives_one_line_error() {
        let deep = format!("{{\"schema\": 3, \"facts\": {}", "[".repeat(100_000));
        let cut = json::render_report(&sample_reports::at_risk())
            .chars()
            .take(2_000)
            .collect::<String>();
        let page = format!("<!DOCTYPE html>\n{}{cut}", report_reader::BEGIN_TAG);
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
            let refused = SavedReport::from_reader(document.as_bytes())
                .map(|_| ())
                .unwrap_err()
                .to_string();
            assert!(!refused.contains('\n'), "{refused}");
        }
    }

    #[test]
    fn malformed_verdict_is_skipped_and_counted() {
        let mut json: serde_json::Value =
            serde_json::from_str(&json::render_report(&sample_reports::at_risk())).unwrap();
        json["verdicts"][0] = serde_json::json!({"target": 7});
        let told = parse_saved_report(&json.to_string()).to_text();
        assert!(
            told.contains("1 part of the report could not be read"),
            "{told}"
        );
        assert!(told.contains("NO VERDICT"), "{told}");
    }
}
