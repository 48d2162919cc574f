//! The JSON report inside an HTML document: where it begins and ends, and how it is read from
//! there.
//!
//! The document is untrusted: it is passed on piece by piece, and what is no report is found by
//! whoever reads the JSON.

use std::io::{self, BufRead, Read};

/// The line before the data. Nothing else in a document has it, because `<` in a text is escaped.
pub const BEGIN: &str = "<script type=\"application/json\" id=\"walwise-report\">\n";
/// The line behind it. No line of JSON begins with `<`.
pub const END: &str = "</script>\n";

/// The largest piece of a line that is held at once, in bytes.
const PIECE: u64 = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PagePart {
    /// The beginning, which says which of both it is.
    Start,
    Plain,
    /// HTML before the data, or behind it.
    Outside,
    Inside,
}

/// The JSON of a document that is JSON, or that is HTML and holds it.
pub struct ReportReader<R> {
    document: R,
    place: PagePart,
    piece: Vec<u8>,
    used: usize,
    at_line_start: bool,
}

impl<R: BufRead> ReportReader<R> {
    pub fn new(document: R) -> Self {
        Self {
            document,
            place: PagePart::Start,
            piece: Vec::new(),
            used: 0,
            at_line_start: true,
        }
    }

    /// The next piece of JSON; empty at the end.
    fn next(&mut self) -> io::Result<()> {
        loop {
            let begins_line = self.at_line_start;
            (self.used, self.at_line_start) = (0, false);
            self.piece.clear();
            self.document
                .by_ref()
                .take(PIECE)
                .read_until(b'\n', &mut self.piece)?;
            self.at_line_start = self.piece.ends_with(b"\n");
            if self.piece.is_empty() {
                return Ok(());
            }
            let first = self.piece.iter().find(|byte| !byte.is_ascii_whitespace());
            if self.place == PagePart::Start {
                self.place = match first {
                    None => continue,
                    Some(b'<') => PagePart::Outside,
                    Some(_) => PagePart::Plain,
                };
            }
            match self.place {
                PagePart::Outside if begins_line && self.piece == BEGIN.as_bytes() => {
                    self.place = PagePart::Inside;
                }
                PagePart::Outside => {}
                PagePart::Inside if begins_line && self.piece == END.as_bytes() => {
                    self.place = PagePart::Outside;
                }
                PagePart::Start | PagePart::Plain | PagePart::Inside => return Ok(()),
            }
        }
    }
}

impl<R: BufRead> Read for ReportReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.len() {
            self.next()?;
        }
        let mut rest = self.piece.get(self.used..).unwrap_or_default();
        let count = rest.read(into)?;
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inside(document: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        ReportReader::new(document).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn json_is_passed_on_and_that_of_a_page_is_found() {
        assert_eq!(inside(b" \n {\"a\": 1}\n"), b" {\"a\": 1}\n");
        assert_eq!(inside(b"<p>{\"a\": 1}</p>\n"), b"");
        let page = format!(
            "<!DOCTYPE html>\n<p>{}\n{BEGIN}{{\n  \"a\": 1\n}}\n{END}</body>\n",
            "x".repeat(200_000)
        );
        assert_eq!(inside(page.as_bytes()), b"{\n  \"a\": 1\n}\n");
    }

    proptest! {
        #[test]
        fn whatever_is_read_comes_to_an_end(
            pieces in prop::collection::vec(prop_oneof![
                Just(BEGIN.to_owned()), Just(END.to_owned()), Just("<".to_owned()), Just("\n".to_owned()), any::<String>(),
            ], 0..12),
        ) {
            let document = pieces.concat();
            prop_assert!(inside(document.as_bytes()).len() <= document.len());
        }
    }
}
