//! When something that walwise knows was last compared with its source, and with which.
//!
//! A stamp is set by whoever opened the source on that day, and by nobody else. All other knowledge
//! is unverified, and says so instead of saying nothing. Where the stamps stand is left to the
//! readers of rules and tables.

use std::fmt;

use jiff::civil::Date;

/// The stamp of a rule or of a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceCheck {
    /// Nobody says that a source was opened.
    Unverified,
    Against {
        day: Date,
        /// The product and its release or document.
        source: String,
    },
}

/// The word of an entry whose source nobody has opened.
const UNVERIFIED: &str = "unverified";

impl SourceCheck {
    /// Parses a stamp; the error says how one is written.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == UNVERIFIED {
            return Ok(Self::Unverified);
        }
        let parts = text.split_once(" against ");
        let stamp = parts.and_then(|(date, source)| Some((day(date)?, source.trim())));
        match stamp {
            Some((day, source)) if !source.is_empty() => Ok(Self::Against {
                day,
                source: source.to_owned(),
            }),
            _ => Err(
                "write \"2026-11-23 against WHAT\", or \"unverified\" where no source was opened",
            ),
        }
    }
}

impl fmt::Display for SourceCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unverified => f.write_str(UNVERIFIED),
            Self::Against { day, source } => write!(f, "{day} against {source}"),
        }
    }
}

/// A day and nothing else: `2027-03-31`, without a time.
pub fn day(text: &str) -> Option<Date> {
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
                SourceCheck::parse(text).map(|checked| checked.to_string()),
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
            assert!(SourceCheck::parse(text).is_err(), "{text}");
        }
    }
}
