//! Version numbers as kernels, file system tools and servers print them.
//!
//! The numbers are compared, `-rcN` is below its release, and whatever follows is a *vendor tail* that is kept and
//! shown but never compared. Every published crate treats some vendor tail as a pre-release; and what the number cannot
//! say (enterprise kernels backport features) is said by [`Version::backports`], which turns "below" into unknown.

use std::cmp::Ordering;
use std::fmt;

use crate::truth::Truth;

/// A parsed version. Equality and order look at the numbers and the release candidate only.
#[derive(Clone, Debug)]
pub struct Version {
    numbers: Vec<u64>,
    candidate: Option<u64>,
    tail: String,
    backports: bool,
}

impl Version {
    /// Reads a version at the start of the text: `6.1.0-28-amd64`, `6.18-rc3`, `1.46.5-2ubuntu1`, `16.4 (Debian)`,
    /// `v6.2`. `None` when it starts with no number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let mut numbers = Vec::new();
        loop {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at_checked(digits)?;
            numbers.push(number.parse().ok()?);
            rest = after;
            match after.strip_prefix('.') {
                Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
                _ => break,
            }
        }
        let mut candidate = None;
        for mark in ["-rc", "rc", "beta", "devel"] {
            if let Some(after) = rest.strip_prefix(mark) {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let (number, after) = after.split_at_checked(digits)?;
                candidate = Some(number.parse().unwrap_or(0));
                rest = after;
                break;
            }
        }
        let tail = rest.trim().to_owned();
        Some(Self { numbers, candidate, tail, backports: false })
    }

    /// Marks a kernel whose vendor backports features and fixes, so that "below" cannot be concluded from the number.
    #[must_use]
    pub fn with_backports(mut self, backports: bool) -> Self {
        self.backports = backports;
        self
    }

    /// Whether the vendor backports: see [`Version::with_backports`].
    pub fn backports(&self) -> bool {
        self.backports
    }

    /// What followed the numbers: `-28-amd64`, `-553.el8_10.x86_64`, or nothing.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// The numbers alone, such as `6.1.0`.
    pub fn base(&self) -> String {
        self.numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
    }

    /// The n-th number; 0 where the version is shorter.
    pub fn number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or(0)
    }

    /// How many numbers it has.
    pub fn depth(&self) -> usize {
        self.numbers.len()
    }

    /// At or above the other: true by number; below it false, or unknown where the vendor backports.
    pub fn at_least(&self, other: &Self) -> Truth {
        match (self.cmp(other) != Ordering::Less, self.backports) {
            (true, _) => Truth::True,
            (false, true) => Truth::Unknown,
            (false, false) => Truth::False,
        }
    }

    /// Has a fix that landed in each of these lines (`["6.12", "6.6.54", "6.1.112"]`): a bug fix is not a threshold.
    /// The highest line is the mainline release, from which on everything has it; a listed stable line has it from its
    /// number on; an unlisted line, and any vendor kernel below mainline, is unknown.
    pub fn has_fix(&self, fixed_in: &[Self]) -> Truth {
        let Some(mainline) = fixed_in.iter().max() else { return Truth::Unknown };
        if self >= mainline {
            return Truth::True;
        }
        let same_line =
            |v: &&Self| v.depth() > 2 && v.number(0) == self.number(0) && v.number(1) == self.number(1);
        match fixed_in.iter().find(same_line) {
            Some(fix) if self >= fix => Truth::True,
            // A distribution's `6.1.0-28-amd64` hides the stable level: not a mainline number, so not a "no" either.
            Some(_) if !self.backports && self.tail.is_empty() => Truth::False,
            _ => Truth::Unknown,
        }
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let depth = self.depth().max(other.depth());
        let numbers = (0..depth).map(|i| self.number(i).cmp(&other.number(i)));
        numbers.fold(Ordering::Equal, Ordering::then).then_with(|| match (self.candidate, other.candidate) {
            (None, None) => Ordering::Equal,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(&b),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base())?;
        if let Some(candidate) = self.candidate {
            write!(f, "-rc{candidate}")?;
        }
        let gap = if self.tail.starts_with('(') { " " } else { "" };
        write!(f, "{gap}{}", self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;
    use crate::truth::Truth;

    fn v(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn vendor_tails_never_count() {
        for (a, b) in [
            ("6.1.0-rpi7-rpi-v8", "6.1.0"),
            ("5.15.0-microsoft-standard-WSL2", "5.15"),
            ("1.46.5-2ubuntu1.1", "1.46.5"),
            ("8.0.36-28.1", "8.0.36"),
            ("16.4 (Debian 16.4-1)", "16.4"),
            ("v6.2", "6.2"),
        ] {
            assert_eq!(v(a), v(b), "{a} against {b}");
        }
    }

    #[test]
    fn numbers_and_candidates_order() {
        for (low, high) in [
            ("5.4", "5.15"),
            ("6.18-rc3", "6.18"),
            ("6.18-rc2", "6.18-rc10"),
            ("6.17", "6.18-rc1"),
            ("1.46", "1.46.1"),
            ("19beta3", "19"),
            ("5.14.0-362.el9", "5.15"),
        ] {
            assert!(v(low) < v(high), "{low} < {high}");
        }
        assert!(Version::parse("").is_none() && Version::parse("none").is_none());
    }

    #[test]
    fn printing_keeps_what_was_read() {
        for text in ["4.18.0-553.el8_10.x86_64", "6.18-rc3", "16.4 (Debian 16.4-1)"] {
            assert_eq!(v(text).to_string(), text);
        }
    }

    #[test]
    fn below_is_unknown_where_the_vendor_backports() {
        let el8 = v("4.18.0-553.el8_10.x86_64").with_backports(true);
        assert_eq!(el8.at_least(&v("4.18")), Truth::True);
        assert_eq!(el8.at_least(&v("5.4")), Truth::Unknown);
        assert_eq!(v("4.18.20").at_least(&v("5.4")), Truth::False);
    }

    #[test]
    fn a_fix_is_looked_up_by_line() {
        let fixed = [v("6.12"), v("6.6.54"), v("6.1.112")];
        for (version, expect) in [
            ("6.12.1", Truth::True),
            ("6.13", Truth::True),
            ("6.6.60", Truth::True),
            ("6.6.53", Truth::False),
            ("6.11.5", Truth::Unknown),
            ("6.1.0-28-amd64", Truth::Unknown),
        ] {
            assert_eq!(v(version).has_fix(&fixed), expect, "{version}");
        }
    }
}
