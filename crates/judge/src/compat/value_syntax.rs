//! Syntax of option values, as the kernel parses them. The number `010` is 8 and `0x10` is 16, as
//! in C; sizes are decimal.

#[derive(Clone, Copy, Debug)]
pub enum OptionSyntax<'a> {
    /// Any value, even an empty one.
    Any,
    Text,
    Number(NumberSyntax<'a>),
    /// A size in bytes, with an optional suffix k, m or g.
    Size(NumberSyntax<'a>),
    Words(&'a [String]),
}

#[derive(Clone, Copy, Debug)]
pub struct NumberSyntax<'a> {
    pub low: u64,
    pub high: u64,
    /// The largest plain number that some kernel accepts; other kernels refuse numbers above
    /// `high`.
    pub highest_accepted: u64,
    /// Values outside the range that are accepted too, such as 0.
    pub also: &'a [u64],
    pub counts: SizeConstraint,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeConstraint {
    #[default]
    All,
    /// All of the value counts, and the value must be a power of two.
    PowerOfTwo,
    /// Only the lowest set bit of the value counts: 4 KiB for `100k`.
    LowestBit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// No kernel accepts the value. The text describes the accepted syntax, for a message.
    Refused(String),
    /// Only some kernels accept the value. The text describes the syntax that all accept, for a
    /// message.
    KernelDependent(String),
}

/// Every kernel accepts option values up to this number.
pub const INT_MAX: u64 = 0x7fff_ffff;

impl OptionSyntax<'_> {
    /// The error in the value; `None` if every kernel accepts the value.
    pub fn error_in(&self, value: &str) -> Option<ValueError> {
        match self {
            Self::Any => None,
            Self::Text => value
                .is_empty()
                .then(|| ValueError::Refused("a value".to_owned())),
            Self::Number(number) => number.error_in_number(value),
            Self::Size(size) => size.error_in_size(value),
            Self::Words(words) => (!words.iter().any(|word| word == value))
                .then(|| ValueError::Refused(format!("one of {}", words.join(", ")))),
        }
    }
}

impl NumberSyntax<'_> {
    fn error_in_number(&self, value: &str) -> Option<ValueError> {
        let what = self.describe_number();
        // The sign is split off, because old kernels refuse a number with a plus sign and newer
        // ones accept it.
        let (signed, digits) = value
            .strip_prefix('+')
            .map_or((false, value), |rest| (true, rest));
        let Some(number) = parse_c_number(digits) else {
            return Some(ValueError::Refused(what));
        };
        if self.accepts(number) {
            signed.then_some(ValueError::KernelDependent(what))
        } else if number > self.high
            && number <= self.highest_accepted
            && !self.must_be_power_of_two()
        {
            Some(ValueError::KernelDependent(what))
        } else {
            Some(ValueError::Refused(what))
        }
    }

    fn accepts(&self, number: u64) -> bool {
        let in_range = (self.low..=self.high).contains(&number);
        (in_range && (!self.must_be_power_of_two() || number.is_power_of_two()))
            || self.also.contains(&number)
    }

    fn must_be_power_of_two(&self) -> bool {
        self.counts == SizeConstraint::PowerOfTwo
    }

    fn describe_number(&self) -> String {
        let what = if self.must_be_power_of_two() {
            "a power of two"
        } else {
            "a whole number"
        };
        let of = match (self.low, self.high) {
            (0, INT_MAX..) => String::new(),
            (low, INT_MAX..) => format!(" of at least {low}"),
            (low, high) => format!(" from {low} to {high}"),
        };
        let or = self
            .also
            .first()
            .map(|also| format!(", or {also}"))
            .unwrap_or_default();
        format!("{what}{of}{or}")
    }

    fn error_in_size(&self, value: &str) -> Option<ValueError> {
        let refused = || Some(ValueError::Refused(self.describe_size()));
        let Some(bytes) = parse_xfs_size(value) else {
            return refused();
        };
        if self.also.contains(&bytes) {
            return None;
        }
        // A size above `INT_MAX` wraps around in some kernels.
        if bytes > INT_MAX {
            return Some(ValueError::KernelDependent(self.describe_size()));
        }
        let counted = match self.counts {
            SizeConstraint::PowerOfTwo if !bytes.is_power_of_two() => return refused(),
            SizeConstraint::All | SizeConstraint::PowerOfTwo => bytes,
            SizeConstraint::LowestBit => bytes & bytes.wrapping_neg(),
        };
        if (self.low..=self.high).contains(&counted) {
            None
        } else {
            refused()
        }
    }

    fn describe_size(&self) -> String {
        let what = match self.counts {
            SizeConstraint::All => "a size",
            SizeConstraint::PowerOfTwo | SizeConstraint::LowestBit => "a power of two",
        };
        format!(
            "{what} from {} to {}, such as 64k",
            format_size_with_suffix(self.low),
            format_size_with_suffix(self.high)
        )
    }
}

fn format_size_with_suffix(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(
        || bytes.to_string(),
        |(unit, letter)| format!("{}{letter}", bytes / unit),
    )
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a number as the kernel's `kstrtouint` and `simple_strtoul` do with base 0.
fn parse_c_number(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (hex, text.strip_prefix('0')) {
        (Some(hex), _) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
            u64::from_str_radix(hex, 16).ok()
        }
        (None, Some(octal)) if is_digits(octal) => u64::from_str_radix(octal, 8).ok(),
        (None, _) if is_digits(text) => text.parse().ok(),
        (Some(_) | None, _) => None,
    }
}

/// Parses a size as XFS does (`suffix_kstrtoint` in fs/xfs/xfs_super.c).
fn parse_xfs_size(text: &str) -> Option<u64> {
    let suffixes = [('k', 10), ('m', 20), ('g', 30)];
    let found = suffixes.into_iter().find_map(|(letter, shift)| {
        let rest = text
            .strip_suffix(letter)
            .or_else(|| text.strip_suffix(letter.to_ascii_uppercase()))?;
        Some((rest, shift))
    });
    let (number, shift) = found.unwrap_or((text, 0));
    let number: u64 = number.parse().ok().filter(|_| is_digits(number))?;
    (number <= INT_MAX).then(|| number << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_like_in_c() {
        fn form(low: u64, high: u64, also: &[u64], counts: SizeConstraint) -> OptionSyntax<'_> {
            OptionSyntax::Number(NumberSyntax {
                low,
                high,
                highest_accepted: 0xffff_ffff,
                also,
                counts,
            })
        }
        let blocks = form(1, 1 << 30, &[0], SizeConstraint::PowerOfTwo);
        for taken in ["0", "1", "32", "0x10", "010", "1073741824"] {
            assert_eq!(blocks.error_in(taken), None, "{taken}");
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
                matches!(blocks.error_in(refused), Some(ValueError::Refused(_))),
                "{refused}"
            );
        }
        assert!(matches!(
            blocks.error_in("+4"),
            Some(ValueError::KernelDependent(_))
        ));
        assert!(matches!(
            form(0, INT_MAX, &[], SizeConstraint::All).error_in("2147483648"),
            Some(ValueError::KernelDependent(_))
        ));
        assert!(matches!(
            form(1, INT_MAX, &[], SizeConstraint::All).error_in("0"),
            Some(ValueError::Refused(_))
        ));
    }

    #[test]
    fn sizes_are_read_as_xfs_does() {
        fn form(counts: SizeConstraint, also: &[u64]) -> OptionSyntax<'_> {
            OptionSyntax::Size(NumberSyntax {
                low: 4096,
                high: 1 << 30,
                highest_accepted: 1 << 30,
                also,
                counts,
            })
        }
        for (counts, taken, refused) in [
            (
                SizeConstraint::LowestBit,
                ["4k", "100k", "1G", "4096"],
                ["6k", "2k", "0", "1t"],
            ),
            (
                SizeConstraint::PowerOfTwo,
                ["4k", "16K", "1g", "8192"],
                ["6k", "100k", "0x1000", "m"],
            ),
        ] {
            for value in taken {
                assert_eq!(form(counts, &[]).error_in(value), None, "{value}");
            }
            for value in refused {
                assert!(
                    matches!(
                        form(counts, &[]).error_in(value),
                        Some(ValueError::Refused(_))
                    ),
                    "{value}"
                );
            }
        }
        assert_eq!(form(SizeConstraint::PowerOfTwo, &[0]).error_in("0k"), None);
        assert!(matches!(
            form(SizeConstraint::LowestBit, &[]).error_in("3g"),
            Some(ValueError::KernelDependent(_))
        ));
    }
}
