//! Writes reports as JSON. Characters that change a terminal's display are escaped, because people
//! `cat` reports; JSON itself does not require that.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::Report;
use super::recommendation::RecommendationDocument;
use walwise_model::text::is_display_unsafe;

pub fn render_report(report: &Report) -> String {
    to_pretty_json(report)
}

/// Renders the short JSON document with answers and fixes, each on one line.
pub fn render_recommendation(report: &Report) -> String {
    let mut document = Vec::new();
    let mut out = Serializer::with_formatter(
        &mut document,
        DisplaySafeJsonFormatter {
            max_pretty_depth: 4,
            ..DisplaySafeJsonFormatter::default()
        },
    );
    let _ = RecommendationDocument::new(report).serialize(&mut out);
    document.push(b'\n');
    String::from_utf8(document).unwrap_or_default()
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
    value.serialize(&mut Serializer::with_formatter(
        &mut *out,
        DisplaySafeJsonFormatter::default(),
    ))?;
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

struct DisplaySafeJsonFormatter {
    pretty: PrettyFormatter<'static>,
    depth: usize,
    /// Values nested deeper than this stay on one line.
    max_pretty_depth: usize,
}

impl Default for DisplaySafeJsonFormatter {
    fn default() -> Self {
        Self {
            pretty: PrettyFormatter::new(),
            depth: 0,
            max_pretty_depth: usize::MAX,
        }
    }
}

impl Formatter for DisplaySafeJsonFormatter {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest
            .char_indices()
            .find(|(_, c)| *c >= '\x7f' && is_display_unsafe(*c))
        {
            let (plain, found) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let mut escape = String::new();
            push_unicode_escape(&mut escape, c);
            out.write_all(escape.as_bytes())?;
            rest = found.strip_prefix(c).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.depth > self.max_pretty_depth {
            out.write_all(b"[")
        } else {
            self.pretty.begin_array(out)
        }
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth >= self.max_pretty_depth {
            out.write_all(b"]")
        } else {
            self.pretty.end_array(out)
        }
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if self.depth > self.max_pretty_depth {
            if first { Ok(()) } else { out.write_all(b", ") }
        } else {
            self.pretty.begin_array_value(out, first)
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.depth > self.max_pretty_depth {
            Ok(())
        } else {
            self.pretty.end_array_value(out)
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.depth > self.max_pretty_depth {
            out.write_all(b"{")
        } else {
            self.pretty.begin_object(out)
        }
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth >= self.max_pretty_depth {
            out.write_all(b"}")
        } else {
            self.pretty.end_object(out)
        }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if self.depth > self.max_pretty_depth {
            if first { Ok(()) } else { out.write_all(b", ") }
        } else {
            self.pretty.begin_object_key(out, first)
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.depth > self.max_pretty_depth {
            Ok(())
        } else {
            self.pretty.end_object_value(out)
        }
    }
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
