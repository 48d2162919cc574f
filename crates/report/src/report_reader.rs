//! Finds the JSON report in an HTML document.
//!
//! The document is untrusted, so it is read in chunks of at most `MAX_CHUNK`. The parser of the
//! JSON, not this module, validates the text found.

use std::io::{self, BufRead, Read as _};

/// The line before the JSON. It occurs only once, because `<` is escaped in the text of a report.
pub const BEGIN_TAG: &str = "<script type=\"application/json\" id=\"walwise-report\">\n";
/// The line after the JSON. No line of JSON begins with `<`.
pub const END_TAG: &str = "</script>\n";

const MAX_CHUNK: u64 = 64 << 10;

/// Reads up to the JSON: blanks, and in an HTML page everything up to `BEGIN_TAG`. Returns whether
/// the document is HTML.
pub(crate) fn skip_to_json(document: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let read = document.fill_buf()?;
        let blanks = read.iter().take_while(|byte| byte.is_ascii_whitespace());
        let (blanks, all) = (blanks.count(), read.len());
        let first = read.get(blanks).copied();
        document.consume(blanks);
        match first {
            Some(b'<') => break,
            None if all > 0 => {}
            None | Some(_) => return Ok(false),
        }
    }
    let (mut chunk, mut begins_line) = (Vec::new(), true);
    loop {
        chunk.clear();
        let chunk_reader = &mut document.by_ref().take(MAX_CHUNK);
        chunk_reader.read_until(b'\n', &mut chunk)?;
        if chunk.is_empty() || begins_line && chunk == BEGIN_TAG.as_bytes() {
            return Ok(true);
        }
        begins_line = chunk.ends_with(b"\n");
    }
}

/// The JSON of an HTML page, or the whole document if it embeds none.
pub fn embedded_json(document: &str) -> &str {
    match document.split_once(BEGIN_TAG) {
        Some((_, json)) => json.split_once(END_TAG).map_or(json, |(json, _)| json),
        None => document,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_from_json_on(mut document: &[u8]) -> (bool, String) {
        let is_html = skip_to_json(&mut document).unwrap();
        (is_html, String::from_utf8(document.to_vec()).unwrap())
    }

    #[test]
    fn json_is_found_in_plain_and_html_documents() {
        let plain = " \n {\"a\": 1}\n";
        assert_eq!(
            text_from_json_on(plain.as_bytes()),
            (false, "{\"a\": 1}\n".to_owned())
        );
        assert_eq!(embedded_json(plain), plain);
        assert_eq!(
            text_from_json_on(b"<p>{\"a\": 1}</p>\n"),
            (true, String::new())
        );
        let json = "{\n  \"a\": 1\n}\n";
        let page = format!(
            "<!DOCTYPE html>\n<p>{}\n{BEGIN_TAG}{json}{END_TAG}</body>\n",
            "x".repeat(200_000)
        );
        let (is_html, rest) = text_from_json_on(page.as_bytes());
        assert!(is_html && rest.starts_with(json), "{rest}");
        assert_eq!(embedded_json(&page), json);
    }

    proptest! {
        #[test]
        fn search_terminates_on_any_input(
            pieces in prop::collection::vec(prop_oneof![
                Just(BEGIN_TAG.to_owned()), Just(END_TAG.to_owned()), Just("<".to_owned()), Just("\n".to_owned()), any::<String>(),
            ], 0..12),
        ) {
            let document = pieces.concat();
            prop_assert!(text_from_json_on(document.as_bytes()).1.len() <= document.len());
        }
    }
}
