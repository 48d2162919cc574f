//! Stamps that record when a rule or a table row was last compared with its source, and with which
//! source.
//!
//! Only somebody who opened the source on that day may write a stamp. Every other entry is marked
//! `unverified`.

use std::fmt;

use jiff::civil::Date;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// No one recorded opening the source.
    Unverified,
    Verified {
        day: Date,
        /// The product and its release or document.
        source: String,
    },
}

const UNVERIFIED: &str = "unverified";

impl Verification {
    /// Parses `2026-11-23 against SOURCE` or `unverified`; the error gives the expected form.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == UNVERIFIED {
            return Ok(Self::Unverified);
        }
        let parts = text.split_once(" against ");
        let stamp = parts.and_then(|(date, source)| Some((parse_day(date)?, source.trim())));
        match stamp {
            Some((day, source)) if !source.is_empty() => Ok(Self::Verified {
                day,
                source: source.to_owned(),
            }),
            _ => Err(
                "write \"2026-11-23 against SOURCE\", or \"unverified\" if no source was opened",
            ),
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unverified => f.write_str(UNVERIFIED),
            Self::Verified { day, source } => write!(f, "{day} against {source}"),
        }
    }
}

/// Parses a date written exactly like `2027-03-31`; `None` for any other spelling.
pub fn parse_day(text: &str) -> Option<Date> {
    text.parse()
        .ok()
        .filter(|date: &Date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_is_written() {
        for text in [
            "unverified",
            "2026-11-23 against guc_parameters.dat of PostgreSQL 19",
        ] {
            assert_eq!(
                Verification::parse(text).map(|checked| checked.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn nothing_else_is_a_stamp() {
        for text in [
            "",
            "Unverified",
            "2026-11-23",
            "2026-11-23 against ",
            "2026-11-23 against",
            "against mount(8)",
            "2026-11-31 against mount(8)",
            "2026-11-23T10:00 against mount(8)",
            "20261123 against mount(8)",
            "today against mount(8)",
        ] {
            assert!(Verification::parse(text).is_err(), "{text}");
        }
    }
}
