//! The JSON document in what a tool prints: complaints may stand before and behind it.
//!
//! What the document says is left to whoever asked the tool.

use serde_json::{Deserializer, Value};

/// The first document, an object, and what stands behind it; `None` where there is none.
pub fn first(answer: &[u8]) -> Option<(Value, &[u8])> {
    let start = answer.iter().position(|b| *b == b'{')?;
    let answer = answer.get(start..)?;
    let mut documents = Deserializer::from_slice(answer).into_iter();
    let first = documents.next()?.ok()?;
    Some((first, answer.get(documents.byte_offset()..)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn complaints_stand_before_and_behind_the_document() {
        for (answer, behind) in
            [("{\"a\": 1}", ""), ("warning: old\n{\"a\": 1}\n", "\n"), ("{\"a\": 1} {\"b\"", " {\"b\"")]
        {
            assert_eq!(first(answer.as_bytes()), Some((json!({ "a": 1 }), behind.as_bytes())), "{answer}");
        }
        for none in ["", "no such device", "{\"a\": 1", "[1] x"] {
            assert_eq!(first(none.as_bytes()), None, "{none}");
        }
    }
}
