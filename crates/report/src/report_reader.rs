//! Extracts the JSON report from an HTML document.
//!
//! The document is untrusted, so it is read in chunks of at most `MAX_CHUNK`. The parser of the
//! JSON, not this module, validates the extracted text.

use std::io::{self, BufRead, Read};

/// The line before the JSON. It occurs only once, because `<` is escaped in the text of a report.
pub const BEGIN_TAG: &str = "<script type=\"application/json\" id=\"walwise-report\">\n";
/// The line after the JSON. No line of JSON begins with `<`.
pub const END_TAG: &str = "</script>\n";

const MAX_CHUNK: u64 = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentPosition {
    /// Nothing was read yet: the first character decides between JSON and HTML.
    Start,
    Plain,
    /// HTML before or after the JSON.
    Outside,
    Inside,
}

/// Passes a JSON document through, and extracts the JSON of an HTML page.
pub struct ReportJsonReader<R> {
    document: R,
    part: DocumentPosition,
    chunk: Vec<u8>,
    used: usize,
    at_line_start: bool,
}

impl<R: BufRead> ReportJsonReader<R> {
    pub fn new(document: R) -> Self {
        Self {
            document,
            part: DocumentPosition::Start,
            chunk: Vec::new(),
            used: 0,
            at_line_start: true,
        }
    }

    fn read_json_chunk(&mut self) -> io::Result<()> {
        loop {
            let begins_line = self.at_line_start;
            (self.used, self.at_line_start) = (0, false);
            self.chunk.clear();
            self.document
                .by_ref()
                .take(MAX_CHUNK)
                .read_until(b'\n', &mut self.chunk)?;
            self.at_line_start = self.chunk.ends_with(b"\n");
            if self.chunk.is_empty() {
                return Ok(());
            }
            let first = self.chunk.iter().find(|byte| !byte.is_ascii_whitespace());
            if self.part == DocumentPosition::Start {
                self.part = match first {
                    None => continue,
                    Some(b'<') => DocumentPosition::Outside,
                    Some(_) => DocumentPosition::Plain,
                };
            }
            match self.part {
                DocumentPosition::Outside if begins_line && self.chunk == BEGIN_TAG.as_bytes() => {
                    self.part = DocumentPosition::Inside;
                }
                DocumentPosition::Outside => {}
                DocumentPosition::Inside if begins_line && self.chunk == END_TAG.as_bytes() => {
                    self.part = DocumentPosition::Outside;
                }
                DocumentPosition::Start | DocumentPosition::Plain | DocumentPosition::Inside => {
                    return Ok(());
                }
            }
        }
    }
}

impl<R: BufRead> Read for ReportJsonReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.used == self.chunk.len() {
            self.read_json_chunk()?;
        }
        let mut rest = self.chunk.get(self.used..).unwrap_or_default();
        let count = rest.read(into)?;
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extract_json(document: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        ReportJsonReader::new(document)
            .read_to_end(&mut out)
            .unwrap();
        out
    }

    #[test]
    fn json_is_passed_through_or_extracted_from_html() {
        assert_eq!(extract_json(b" \n {\"a\": 1}\n"), b" {\"a\": 1}\n");
        assert_eq!(extract_json(b"<p>{\"a\": 1}</p>\n"), b"");
        let page = format!(
            "<!DOCTYPE html>\n<p>{}\n{BEGIN_TAG}{{\n  \"a\": 1\n}}\n{END_TAG}</body>\n",
            "x".repeat(200_000)
        );
        assert_eq!(extract_json(page.as_bytes()), b"{\n  \"a\": 1\n}\n");
    }

    proptest! {
        #[test]
        fn reader_terminates_on_any_input(
            pieces in prop::collection::vec(prop_oneof![
                Just(BEGIN_TAG.to_owned()), Just(END_TAG.to_owned()), Just("<".to_owned()), Just("\n".to_owned()), any::<String>(),
            ], 0..12),
        ) {
            let document = pieces.concat();
            prop_assert!(extract_json(document.as_bytes()).len() <= document.len());
        }
    }
}
