//! Writes reports as JSON. Characters that change a terminal's display are escaped, because people
//! `cat` reports; JSON itself does not require that.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::Report;
use super::recommendation::RecommendationDocument;
use walwise_model::text::is_display_unsafe;

pub fn render_report(report: &Report) -> String {
    to_pretty_json(report)
}

/// Renders the short JSON document with answers and fixes, each on one line.
pub fn render_recommendation(report: &Report) -> String {
    join_deep_lines(&to_pretty_json(&RecommendationDocument::new(report)))
}

pub fn to_pretty_json<T: Serialize>(value: &T) -> String {
    let mut document = Vec::new();
    // Serialising to memory fails only for maps with non-string keys, and the serialised types have
    // none.
    let _ = write_pretty_json(value, &mut document);
    String::from_utf8(document).unwrap_or_default()
}

/// Streams a value in the form of [`to_pretty_json`], because a report about ten thousand disks is
/// larger than all other data in memory.
pub fn write_pretty_json<T: Serialize>(value: &T, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(DisplaySafeWriter(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Escapes the characters of a JSON document that change a terminal's display. The `\u003c` of an
/// HTML page becomes `<` again.
pub(crate) fn make_json_display_safe(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    let mut rest = document.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                if let Some(behind) = rest.as_str().strip_prefix("u003c") {
                    out.push('<');
                    rest = behind.chars();
                } else {
                    out.push(c);
                    out.extend(rest.next());
                }
            }
            c if c >= '\x7f' && is_display_unsafe(c) => push_unicode_escape(&mut out, c),
            // JSON strings contain these characters only escaped, so here they are whitespace
            // between values.
            '\r' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn push_unicode_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Escapes characters that change a terminal's display. The serialiser writes each piece of a
/// string with one call and cuts strings only at ASCII characters, so every piece is whole UTF-8.
struct DisplaySafeWriter<W>(W);

impl<W: Write> Write for DisplaySafeWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut rest = std::str::from_utf8(piece).map_err(io::Error::other)?;
        while let Some((at, c)) = rest
            .char_indices()
            .find(|(_, c)| *c >= '\x7f' && is_display_unsafe(*c))
        {
            let (plain, found) = rest.split_at(at);
            self.0.write_all(plain.as_bytes())?;
            let mut escape = String::new();
            push_unicode_escape(&mut escape, c);
            self.0.write_all(escape.as_bytes())?;
            rest = found.strip_prefix(c).unwrap_or_default();
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Puts values nested deeper than four levels on one line. JSON strings contain no line ends.
fn join_deep_lines(pretty: &str) -> String {
    let mut joined = String::with_capacity(pretty.len());
    for line in pretty.lines() {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if indent > 8 || indent == 8 && text.starts_with(['}', ']']) {
            if joined.ends_with(',') {
                joined.push(' ');
            }
            joined.push_str(text);
        } else {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(line);
        }
    }
    joined + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, schemars::JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "the schema is made from it")]
    enum SchemaDocument<'r> {
        Recommendation(RecommendationDocument<'r>),
        Report(Box<Report>),
    }
    use crate::sample_reports;

    #[test]
    fn display_unsafe_text_is_escaped_and_parses_back() {
        let planted = "a\u{9b}31m\u{202e}b\u{200b}\u{7f}\u{e0041}\x1b\né";
        let mut report = sample_reports::at_risk();
        report.host.name = planted.to_owned();
        let document = render_report(&report);
        let structural = |c: char| c == '\n';
        assert!(
            !document
                .chars()
                .any(|c| is_display_unsafe(c) && !structural(c)),
            "{document}"
        );
        let back: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(back["host"]["name"], planted);
        assert!(document.ends_with("}\n"));
    }

    const SCHEMA: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/report.schema.json"
    );

    fn read_stored_schema() -> String {
        std::fs::read_to_string(SCHEMA).unwrap()
    }

    /// `WALWISE_UPDATE=1 cargo test --lib schema` writes assets/report.schema.json again.
    #[test]
    fn stored_schema_matches_types() {
        let made =
            serde_json::to_string_pretty(&schemars::schema_for!(SchemaDocument)).unwrap() + "\n";
        if std::env::var_os("WALWISE_UPDATE").is_some() {
            std::fs::write(SCHEMA, &made).unwrap();
        }
        assert!(
            made == read_stored_schema(),
            "stale: WALWISE_UPDATE=1 cargo test --lib schema, then look at it"
        );
    }

    #[test]
    fn sample_reports_conform_to_schema() {
        let schema = serde_json::from_str(&read_stored_schema()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for report in sample_reports::at_risk_and_free_disk() {
            for document in [render_report(&report), render_recommendation(&report)] {
                let document: serde_json::Value = serde_json::from_str(&document).unwrap();
                let errors: Vec<String> = validator
                    .iter_errors(&document)
                    .map(|e| format!("{}: {e}", e.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{}: {errors:#?}", report.host.name);
            }
        }
    }
}
