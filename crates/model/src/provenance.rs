//! Stamps that record when a rule or a table row was last compared with its source, and with which
//! source. Only a person who opened the source on that day may write one.

use std::fmt;

use jiff::civil::Date;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationStamp {
    pub day: Date,
    /// The product and its release or document.
    pub source: String,
    /// The compared fields, and remarks such as `documented, not reproduced`.
    pub fields: Option<String>,
}

/// Separates the source from the compared fields.
const COVERS: &str = "; covers ";

impl VerificationStamp {
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        text.split_once(" against ")
            .and_then(|(date, source)| {
                let day = parse_strict_date(date)?;
                let (source, fields) = match source.split_once(COVERS) {
                    Some((source, fields)) => (source, Some(fields.to_owned())),
                    None => (source, None),
                };
                let source = source.trim().to_owned();
                (!source.is_empty()).then_some(Self {
                    day,
                    source,
                    fields,
                })
            })
            .ok_or(
                "write the date and source, as in \"2026-11-23 against SOURCE\", or omit the key if nobody compared the source",
            )
    }
}

impl fmt::Display for VerificationStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { day, source, .. } = self;
        write!(f, "{day} against {source}")
    }
}

/// Parses a date written exactly like `2027-03-31`; `None` for any other spelling.
pub fn parse_strict_date(text: &str) -> Option<Date> {
    text.parse()
        .ok()
        .filter(|date: &Date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_stamp_round_trips() {
        let text = "2026-11-23 against guc_parameters.dat of PostgreSQL 19";
        for (given, fields) in [
            (text.to_owned(), None),
            (
                format!("{text}; covers range, default"),
                Some("range, default"),
            ),
        ] {
            let read = VerificationStamp::parse(&given).unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.fields.as_deref(), fields);
        }
    }

    #[test]
    fn malformed_verification_stamp_is_rejected() {
        for text in [
            "",
            "unverified",
            "2026-11-23",
            "2026-11-23 against ",
            "2026-11-23 against",
            "against mount(8)",
            "2026-11-31 against mount(8)",
            "2026-11-23T10:00 against mount(8)",
            "20261123 against mount(8)",
            "today against mount(8)",
        ] {
            assert!(VerificationStamp::parse(text).is_err(), "{text}");
        }
    }
}
