//! The report as JSON: pretty, in a fixed order, with a newline at its end; and its schema.
//!
//! A document is complete before its first byte is written, so nobody reads half of one. The surprise: characters that
//! change how a terminal shows others are escaped although JSON does not ask for it, because people `cat` reports.

use serde::Serialize;

use super::Report;
use crate::text::is_treacherous;

/// The report as a JSON document.
pub fn render(report: &Report) -> String {
    pretty(report)
}

/// Any of our values as a JSON document, escaped like the report.
pub fn pretty<T: Serialize>(value: &T) -> String {
    // Maps with other than string keys are the one thing that cannot be serialised, and our values have no maps.
    let plain = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut document = escape(&plain);
    document.push('\n');
    document
}

/// The schema that every report keeps, as a JSON document.
pub fn schema_json() -> String {
    let schema = schemars::schema_for!(Report);
    let mut document = serde_json::to_string_pretty(&schema).unwrap_or_default();
    document.push('\n');
    document
}

/// Escapes what serde_json leaves: outside of strings a JSON document is plain ASCII, so this touches only strings.
fn escape(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if (c as u32) < 0x7f || !is_treacherous(c) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn treacherous_text_is_escaped_and_comes_back() {
        let planted = "a\u{9b}31m\u{202e}b\u{200b}\u{7f}\u{e0041}\x1b\né";
        let mut report = sample::at_risk();
        report.host.name = planted.to_owned();
        let document = render(&report);
        let structural = |c: char| c == '\n';
        assert!(!document.chars().any(|c| is_treacherous(c) && !structural(c)), "{document}");
        let back: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(back["host"]["name"], planted);
        assert!(document.ends_with("}\n"));
    }

    #[test]
    fn the_schema_in_assets_is_current() {
        let kept = include_str!("../../assets/report.schema.json");
        let advice = "cargo run -- generate schema > assets/report.schema.json";
        assert!(kept == schema_json(), "assets/report.schema.json is stale; write it anew: {advice}");
    }

    #[test]
    fn sample_reports_keep_the_schema() {
        let schema = serde_json::from_str(&schema_json()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for report in sample::all() {
            let document: serde_json::Value = serde_json::from_str(&render(&report)).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", report.host.name);
        }
    }
}
