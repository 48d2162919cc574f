//! The forms that the value of an option may have, as kernels read numbers and sizes.
//!
//! Options are left to the rows of the table, which name their form. Numbers are read as in C:
//! `010` is eight and `0x10` sixteen. A value that only some kernels accept is neither right nor
//! wrong here.

/// The form of an option's value.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Any value, even an empty one.
    #[default]
    Any,
    /// Anything that is not empty.
    Text,
    Number(Number),
    /// A size with an optional suffix k, m or g.
    Size(Size),
    Words(Vec<String>),
}

/// A whole number in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The least.
    pub low: u64,
    /// The most.
    pub high: u64,
    /// The largest value that at least some kernels accept.
    pub perhaps: u64,
    /// Further accepted values.
    pub also: Vec<u64>,
    /// Whether it must be a power of two.
    pub power_of_two: bool,
}

/// A size in a range, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The least.
    pub low: u64,
    /// The most.
    pub high: u64,
    /// Further accepted values, in bytes.
    pub also: Vec<u64>,
    /// The part of the value that counts.
    pub counts: Counts,
}

/// The part of a value that a file system uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    #[default]
    All,
    /// The whole value, which must be a power of two.
    PowerOfTwo,
    /// The lowest bit that is set.
    LowestBit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is refused; the accepted form.
    Refused(String),
    /// It depends on the kernel; the form that every kernel accepts.
    Unsure(String),
}

/// The largest signed number of 32 bits.
const INT_MAX: u64 = 0x7fff_ffff;

impl Form {
    /// The error in a value; `None` if it is right.
    pub fn wrong(&self, value: &str) -> Option<Wrong> {
        match self {
            Self::Any => None,
            Self::Text => value
                .is_empty()
                .then(|| Wrong::Refused("a value".to_owned())),
            Self::Number(number) => number.wrong(value),
            Self::Size(size) => size.wrong(value),
            Self::Words(words) => (!words.iter().any(|word| word == value))
                .then(|| Wrong::Refused(format!("one of {}", words.join(", ")))),
        }
    }
}

impl Number {
    fn wrong(&self, value: &str) -> Option<Wrong> {
        let what = self.words();
        // Old kernels accepted no sign.
        let (signed, digits) = value
            .strip_prefix('+')
            .map_or((false, value), |rest| (true, rest));
        let Some(number) = c_number(digits) else {
            return Some(Wrong::Refused(what));
        };
        if self.takes(number) {
            signed.then_some(Wrong::Unsure(what))
        } else if number > self.high && number <= self.perhaps && !self.power_of_two {
            Some(Wrong::Unsure(what))
        } else {
            Some(Wrong::Refused(what))
        }
    }

    fn takes(&self, number: u64) -> bool {
        let in_range = (self.low..=self.high).contains(&number);
        (in_range && (!self.power_of_two || number.is_power_of_two()))
            || self.also.contains(&number)
    }

    fn words(&self) -> String {
        let what = if self.power_of_two {
            "a power of two"
        } else {
            "a whole number"
        };
        let of = match (self.low, self.high) {
            (0, INT_MAX..) => String::new(),
            (low, INT_MAX..) => format!(" from {low} on"),
            (low, high) => format!(" from {low} to {high}"),
        };
        let or = self
            .also
            .first()
            .map(|also| format!(", or {also}"))
            .unwrap_or_default();
        format!("{what}{of}{or}")
    }
}

impl Size {
    fn wrong(&self, value: &str) -> Option<Wrong> {
        let refused = || Some(Wrong::Refused(self.words()));
        let Some(bytes) = size(value) else {
            return refused();
        };
        if self.also.contains(&bytes) {
            return None;
        }
        // A value that does not fit wraps around in some kernels.
        if bytes > INT_MAX {
            return Some(Wrong::Unsure(self.words()));
        }
        let counted = match self.counts {
            Counts::PowerOfTwo if !bytes.is_power_of_two() => return refused(),
            Counts::All | Counts::PowerOfTwo => bytes,
            Counts::LowestBit => bytes & bytes.wrapping_neg(),
        };
        if (self.low..=self.high).contains(&counted) {
            None
        } else {
            refused()
        }
    }

    fn words(&self) -> String {
        let what = match self.counts {
            Counts::All => "a size",
            Counts::PowerOfTwo | Counts::LowestBit => "a power of two",
        };
        format!(
            "{what} from {} to {}, such as 64k",
            short(self.low),
            short(self.high)
        )
    }
}

/// Bytes as the greatest whole unit.
fn short(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(
        || bytes.to_string(),
        |(unit, letter)| format!("{}{letter}", bytes / unit),
    )
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A number as C writes it (`kstrtouint` and `simple_strtoul` of the kernel with base 0).
fn c_number(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (hex, text.strip_prefix('0')) {
        (Some(hex), _) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
            u64::from_str_radix(hex, 16).ok()
        }
        (None, Some(octal)) if digits(octal) => u64::from_str_radix(octal, 8).ok(),
        (None, _) if digits(text) => text.parse().ok(),
        (Some(_) | None, _) => None,
    }
}

/// A size as XFS reads it: `suffix_kstrtoint` in fs/xfs/xfs_super.c.
fn size(text: &str) -> Option<u64> {
    let suffixes = [('k', 10), ('m', 20), ('g', 30)];
    let found = suffixes.into_iter().find_map(|(letter, shift)| {
        let rest = text
            .strip_suffix(letter)
            .or_else(|| text.strip_suffix(letter.to_ascii_uppercase()))?;
        Some((rest, shift))
    });
    let (number, shift) = found.unwrap_or((text, 0));
    let number: u64 = number.parse().ok().filter(|_| digits(number))?;
    (number <= INT_MAX).then(|| number << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_writes_them() {
        let form = |low, high, also: &[u64], power_of_two| {
            Form::Number(Number {
                low,
                high,
                perhaps: 0xffff_ffff,
                also: also.to_vec(),
                power_of_two,
            })
        };
        let blocks = form(1, 1 << 30, &[0], true);
        for taken in ["0", "1", "32", "0x10", "010", "1073741824"] {
            assert_eq!(blocks.wrong(taken), None, "{taken}");
        }
        for refused in [
            "",
            "3",
            "33",
            "-1",
            "4294967296",
            "1k",
            "1.5",
            " 4",
            "4 ",
            "abc",
            "0x",
            "08",
            "2147483648",
        ] {
            assert!(
                matches!(blocks.wrong(refused), Some(Wrong::Refused(_))),
                "{refused}"
            );
        }
        assert!(matches!(blocks.wrong("+4"), Some(Wrong::Unsure(_))));
        assert!(matches!(
            form(0, INT_MAX, &[], false).wrong("2147483648"),
            Some(Wrong::Unsure(_))
        ));
        assert!(matches!(
            form(1, INT_MAX, &[], false).wrong("0"),
            Some(Wrong::Refused(_))
        ));
    }

    #[test]
    fn sizes_are_read_as_xfs_does() {
        let form = |counts, also: &[u64]| {
            Form::Size(Size {
                low: 4096,
                high: 1 << 30,
                also: also.to_vec(),
                counts,
            })
        };
        for (counts, taken, refused) in [
            (
                Counts::LowestBit,
                ["4k", "100k", "1G", "4096"],
                ["6k", "2k", "0", "1t"],
            ),
            (
                Counts::PowerOfTwo,
                ["4k", "16K", "1g", "8192"],
                ["6k", "100k", "0x1000", "m"],
            ),
        ] {
            for value in taken {
                assert_eq!(form(counts, &[]).wrong(value), None, "{value}");
            }
            for value in refused {
                assert!(
                    matches!(form(counts, &[]).wrong(value), Some(Wrong::Refused(_))),
                    "{value}"
                );
            }
        }
        assert_eq!(form(Counts::PowerOfTwo, &[0]).wrong("0k"), None);
        assert!(matches!(
            form(Counts::LowestBit, &[]).wrong("3g"),
            Some(Wrong::Unsure(_))
        ));
    }
}
