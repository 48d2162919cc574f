//! A point in time as a host reports it: to the nanosecond, or only to the second.
//!
//! Old captures hold whole seconds. Such a moment may lie anywhere in its second, so no fraction is
//! assumed.

use std::fmt;
use std::str::FromStr;

const SECOND: u32 = 1_000_000_000;

/// Time since 1970, written as `SECONDS`, or `SECONDS.NANOSECONDS` with nine digits after the
/// point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTimestamp {
    second: u64,
    /// Nanoseconds within the second; `None` if the moment is known only to the second.
    nanos: Option<u32>,
}

impl HostTimestamp {
    pub fn from_unix_seconds(second: u64) -> Self {
        Self {
            second,
            nanos: None,
        }
    }

    pub fn from_unix_nanos(nanos: u64) -> Self {
        let second = u64::from(SECOND);
        Self {
            second: nanos / second,
            nanos: u32::try_from(nanos % second).ok(),
        }
    }

    /// Creates a moment that is known to the nanosecond. `None` if the moment is before 1970 or the
    /// nanoseconds are out of range.
    pub fn new(second: i64, nanos: i64) -> Option<Self> {
        let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < SECOND)?;
        Some(Self {
            second: second.try_into().ok()?,
            nanos: Some(nanos),
        })
    }

    pub fn unix_seconds(self) -> u64 {
        self.second
    }

    pub fn has_nanos(self) -> bool {
        self.nanos.is_some()
    }

    /// Nanoseconds since 1970. For a moment that is known only to the second, this is the start of
    /// that second.
    pub fn earliest_nanos(self) -> u128 {
        u128::from(self.second) * u128::from(SECOND) + u128::from(self.nanos.unwrap_or(0))
    }
}

impl fmt::Display for HostTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanos {
            Some(nanos) => write!(f, "{}.{nanos:09}", self.second),
            None => write!(f, "{}", self.second),
        }
    }
}

impl FromStr for HostTimestamp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (second, nanos) = match text.split_once('.') {
            Some((second, nanos)) => (second, Some(nanos)),
            None => (text, None),
        };
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(second) || nanos.is_some_and(|nanos| nanos.len() != 9 || !is_number(nanos)) {
            return Err(());
        }
        Ok(Self {
            second: second.parse().map_err(drop)?,
            nanos: nanos.map(str::parse).transpose().map_err(drop)?,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    pub fn any_timestamp() -> impl Strategy<Value = HostTimestamp> {
        (any::<u64>(), prop::option::of(0..SECOND))
            .prop_map(|(second, nanos)| HostTimestamp { second, nanos })
    }

    #[test]
    fn whole_seconds_parse_and_fractions_need_nine_digits() {
        assert_eq!("17".parse(), Ok(HostTimestamp::from_unix_seconds(17)));
        assert_eq!(
            "17.000000005".parse(),
            Ok(HostTimestamp::from_unix_nanos(17_000_000_005))
        );
        assert_eq!(
            HostTimestamp::new(17, 5),
            Some(HostTimestamp::from_unix_nanos(17_000_000_005))
        );
        for text in [
            "",
            "17.",
            "17.5",
            ".000000005",
            "17.00000000x",
            "+17",
            "17.+00000005",
            "-1",
        ] {
            assert_eq!(text.parse::<HostTimestamp>(), Err(()), "{text}");
        }
        assert_eq!(
            (
                HostTimestamp::new(-1, 0),
                HostTimestamp::new(1, 1_000_000_000)
            ),
            (None, None)
        );
    }

    proptest! {
        #[test]
        fn timestamp_text_round_trips(moment in any_timestamp(), text: String) {
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
            let _ = text.parse::<HostTimestamp>();
        }
    }
}
