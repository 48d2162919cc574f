//! Version numbers as kernels, file system tools and servers print them.
//!
//! Numbers are compared, and `-rcN`, `betaN` and `devel` precede their release. The rest is a
//! *vendor tail*, which only [`Version::build_at_least`] compares. Crates for semantic versions do
//! not fit: they would parse some vendor tails as pre-releases. Enterprise kernels backport
//! features without a new number; for versions marked with [`Version::with_backports`],
//! [`Version::at_least`] is therefore unknown instead of false.

mod affected_releases;

use std::cmp::Ordering;
use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use affected_releases::AffectedReleases;

use crate::ternary::Ternary;
use crate::text::JoinText;

/// A parsed version. Equality and order use only the numbers and the pre-release part. The
/// components are boxed, so that the few facts that are versions do not enlarge all fact
/// values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Box<VersionComponents>);

#[derive(Clone, Debug)]
struct VersionComponents {
    numbers: Vec<u64>,
    pre_release: Option<PreRelease>,
    tail: String,
    backports: bool,
    built: Option<Date>,
}

/// A stage before a release. Stages are ordered as in [`STAGES`]: first PostgreSQL's `devel`, then
/// betas, then release candidates.
#[derive(Clone, Debug)]
struct PreRelease {
    stage: usize,
    number: u64,
    suffix: String,
}

const STAGES: [(&str, usize); 4] = [("devel", 0), ("beta", 1), ("-rc", 2), ("rc", 2)];

impl PreRelease {
    fn parse_prefix(text: &str) -> Option<(Self, &str)> {
        STAGES.into_iter().find_map(|(mark, stage)| {
            let after = text.strip_prefix(mark)?;
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (written, rest) = text.split_at_checked(mark.len() + digits)?;
            let number = after.get(..digits)?.parse().unwrap_or(0);
            Some((
                Self {
                    stage,
                    number,
                    suffix: written.to_owned(),
                },
                rest,
            ))
        })
    }
}

/// Whether a text is a release as uname(1) and tools print it. It has two or more numbers of at
/// most nine digits, and perhaps a printable tail: `-28-amd64`, `.el9` or `+`.
pub fn is_kernel_or_tool_release(text: &str) -> bool {
    let digits = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    // A dot at the end of the digits belongs to the tail, as in `.el9`.
    let end = text
        .get(..digits)
        .map(|start| start.strip_suffix('.').unwrap_or(start).len());
    let Some((numbers, tail)) = end.and_then(|end| text.split_at_checked(end)) else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.len() <= 9;
    let begins = |mark: char| {
        tail.strip_prefix(mark)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    // The tail is `+` alone for a kernel built from a modified source tree.
    let is_tail = tail.is_empty()
        || tail == "+"
        || ['-', '+', '~'].into_iter().any(begins)
        || tail
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    numbers.contains('.')
        && numbers.split('.').all(is_number)
        && is_tail
        && tail.bytes().all(|b| b.is_ascii_graphic())
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a version"))
    }
}

impl Version {
    /// Blanks at the ends and one leading `v` are ignored. `None` unless a number follows, every
    /// number fits in 64 bits, and the rest is printable ASCII.
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
        let (before, rest) = match PreRelease::parse_prefix(rest) {
            Some((before, rest)) => (Some(before), rest),
            None => (None, rest),
        };
        let tail = rest.trim_end().to_owned();
        if !tail
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        {
            return None;
        }
        Some(Self(Box::new(VersionComponents {
            numbers,
            pre_release: before,
            tail,
            backports: false,
            built: None,
        })))
    }

    /// Sets whether the vendor backports features. If so, a lower number does not prove that a
    /// feature is missing.
    #[must_use]
    pub fn with_backports(mut self, backports: bool) -> Self {
        self.0.backports = backports;
        self
    }

    pub fn has_backports(&self) -> bool {
        self.0.backports
    }

    /// Sets the build date, because a build from before the day of a fix lacks that fix.
    #[must_use]
    pub fn with_build_date(mut self, built: Option<Date>) -> Self {
        self.0.built = built;
        self
    }

    pub fn has_build_date(&self) -> bool {
        self.0.built.is_some()
    }

    /// Whether the build may have fixes that its numbers do not show. This is so if the vendor
    /// backports, or if the third number is 0 and a tail follows (`6.1.0-28-amd64`). Before a tail
    /// in brackets, the third number is the real one: `6.1.100 (6.1.0-28-amd64)`.
    fn may_have_hidden_fixes(&self) -> bool {
        let tail = self.vendor_tail();
        self.0.backports || (!tail.is_empty() && !tail.starts_with('(') && self.number(2) == 0)
    }

    /// Later than every stage for a release.
    fn stage_and_number(&self) -> (usize, u64) {
        match &self.0.pre_release {
            Some(PreRelease { stage, number, .. }) => (*stage, *number),
            None => (STAGES.len(), 0),
        }
    }

    /// The text after the numbers and the pre-release part: `-28-amd64`, `-553.el8_10.x86_64`, or
    /// empty.
    pub fn vendor_tail(&self) -> &str {
        self.0.tail.trim_start()
    }

    pub fn numeric_part(&self) -> String {
        self.0.numbers.iter().map(u64::to_string).join_with(".")
    }

    /// The number at `index`; 0 if the version has fewer numbers.
    pub fn number(&self, index: usize) -> u64 {
        self.0.numbers.get(index).copied().unwrap_or(0)
    }

    /// The first `N` numbers, compared as a release: `[6, 1]`.
    pub fn first_numbers<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|index| self.number(index))
    }

    pub fn number_count(&self) -> usize {
        self.0.numbers.len()
    }

    /// Whether the version is `other` or later. If the vendor backports, a lower number gives
    /// unknown, not false.
    pub fn at_least(&self, other: &Self) -> Ternary {
        match (self.cmp(other) != Ordering::Less, self.0.backports) {
            (true, _) => Ternary::True,
            (false, true) => Ternary::Unknown,
            (false, false) => Ternary::False,
        }
    }

    /// The build numbers and the vendor in the tail: `427.13.1` and `el9` of
    /// `5.14.0-427.13.1.el9_4.x86_64`, `1021` and `aws` of `6.8.0-1021-aws`. `None` for a tail
    /// without a leading number or without a vendor after the number.
    pub fn build_numbers_and_vendor(&self) -> Option<(Vec<u64>, &str)> {
        let mut numbers = Vec::new();
        for part in self
            .0
            .tail
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|part| !part.is_empty())
        {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, name) = part.split_at_checked(digits)?;
            if !number.is_empty() {
                numbers.push(number.parse().ok()?);
            }
            if !name.is_empty() {
                return (!numbers.is_empty()).then_some((numbers, name));
            }
        }
        None
    }

    /// Whether this version with its build is `other` or later, by version, then by build number.
    /// Unknown unless both tails have a build of the same vendor, because vendors number builds
    /// differently.
    pub fn build_at_least(&self, other: &Self) -> Ternary {
        match (
            self.build_numbers_and_vendor(),
            other.build_numbers_and_vendor(),
        ) {
            (Some((mine, my_vendor)), Some((least, vendor))) if my_vendor == vendor => {
                (self.cmp(other).then_with(|| mine.cmp(&least)) != Ordering::Less).into()
            }
            _ => Ternary::Unknown,
        }
    }

    /// Whether the version has a fix that landed in several releases, such as `["6.12", "6.6.54",
    /// "6.1.112"]`. The highest one is the mainline release: it and all later versions have the
    /// fix. A version of a listed stable line has the fix from the listed release on. An earlier
    /// version that may hide fixes is unknown, and so are versions of all other lines.
    pub fn is_fixed_in(&self, fixed_in: &[Self]) -> Ternary {
        let Some(mainline) = fixed_in.iter().max() else {
            return Ternary::Unknown;
        };
        if self >= mainline {
            return Ternary::True;
        }
        let same_line =
            |v: &&Self| v.number_count() > 2 && v.first_numbers::<2>() == self.first_numbers();
        match fixed_in.iter().find(same_line) {
            Some(fix) if self >= fix => Ternary::True,
            Some(_) if !self.may_have_hidden_fixes() => Ternary::False,
            _ => Ternary::Unknown,
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
        let depth = self.number_count().max(other.number_count());
        let numbers = (0..depth).map(|i| self.number(i).cmp(&other.number(i)));
        numbers
            .fold(Ordering::Equal, Ordering::then)
            .then_with(|| self.stage_and_number().cmp(&other.stage_and_number()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.numeric_part())?;
        if let Some(before) = &self.0.pre_release {
            f.write_str(&before.suffix)?;
        }
        f.write_str(&self.0.tail)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Version, is_kernel_or_tool_release};
    use crate::ternary::Ternary;

    fn parse_version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn vendor_tail_does_not_affect_order() {
        for (a, b) in [
            ("6.1.0-rpi7-rpi-v8", "6.1.0"),
            ("5.15.0-microsoft-standard-WSL2", "5.15"),
            ("1.46.5-2ubuntu1.1", "1.46.5"),
            ("8.0.36-28.1", "8.0.36"),
            ("16.4 (Debian 16.4-1)", "16.4"),
            ("v6.2", "6.2"),
        ] {
            assert_eq!(parse_version(a), parse_version(b), "{a} against {b}");
        }
    }

    #[test]
    fn numbers_and_pre_releases_are_ordered() {
        for (low, high) in [
            ("5.4", "5.15"),
            ("6.18-rc3", "6.18"),
            ("6.18-rc2", "6.18-rc10"),
            ("6.17", "6.18-rc1"),
            ("1.46", "1.46.1"),
            ("19beta3", "19"),
            ("19beta3", "19rc1"),
            ("19devel", "19beta1"),
            ("5.14.0-362.el9", "5.15"),
        ] {
            assert!(parse_version(low) < parse_version(high), "{low} < {high}");
        }
        assert!(Version::parse("").is_none() && Version::parse("none").is_none());
    }

    #[test]
    fn version_display_keeps_the_text() {
        for text in [
            "4.18.0-553.el8_10.x86_64",
            "6.18-rc3",
            "19beta3",
            "19devel",
            "16.4 (Debian 16.4-1)",
        ] {
            assert_eq!(parse_version(text).to_string(), text);
        }
    }

    #[test]
    fn lower_number_is_unknown_with_backports() {
        let el8 = parse_version("4.18.0-553.el8_10.x86_64").with_backports(true);
        assert_eq!(el8.at_least(&parse_version("4.18")), Ternary::True);
        assert_eq!(el8.at_least(&parse_version("5.4")), Ternary::Unknown);
        assert_eq!(
            parse_version("4.18.20").at_least(&parse_version("5.4")),
            Ternary::False
        );
    }

    #[test]
    fn builds_are_compared_with_those_of_the_same_vendor_only() {
        for (version, least, expect) in [
            ("5.14.0-427.el9", "5.14.0-427.el9", Ternary::True),
            (
                "5.14.0-427.13.1.el9_4.x86_64",
                "5.14.0-427.el9",
                Ternary::True,
            ),
            (
                "5.14.0-362.24.1.el9_3.x86_64",
                "5.14.0-427.el9",
                Ternary::False,
            ),
            (
                "5.14.0-427.el9.x86_64",
                "5.14.0-427.13.1.el9",
                Ternary::False,
            ),
            (
                "4.18.0-553.el8_10.x86_64",
                "5.14.0-427.el9",
                Ternary::Unknown,
            ),
            ("6.8.0-1021-aws", "6.8.0-1009-aws", Ternary::True),
            ("6.8.0-1008-aws", "6.8.0-1009-aws", Ternary::False),
            ("6.5.0-1023-aws", "6.8.0-1009-aws", Ternary::False),
            ("6.8.0-50-generic", "6.8.0-1009-aws", Ternary::Unknown),
            (
                "5.15.0-200.131.27.el8uek.x86_64",
                "5.15.0-200.el8uek",
                Ternary::True,
            ),
            (
                "6.4.0-150600.23.14-default",
                "6.4.0-150600.23.7-default",
                Ternary::True,
            ),
            (
                "5.10.215-203.850.amzn2.x86_64",
                "5.10.215-203.amzn2",
                Ternary::True,
            ),
            ("6.1.0-28-amd64", "6.1.0-9-amd64", Ternary::True),
            ("6.12.4", "5.14.0-427.el9", Ternary::Unknown),
            ("5.14.0-rc3", "5.14.0-427.el9", Ternary::Unknown),
        ] {
            assert_eq!(
                parse_version(version).build_at_least(&parse_version(least)),
                expect,
                "{version} against {least}"
            );
        }
        assert_eq!(parse_version("6.8").build_numbers_and_vendor(), None);
        assert_eq!(
            parse_version("6.8.0-generic").build_numbers_and_vendor(),
            None
        );
    }

    #[test]
    fn has_fix_compares_mainline_and_stable_lines() {
        let fixed = [
            parse_version("6.12"),
            parse_version("6.6.54"),
            parse_version("6.1.112"),
        ];
        for (version, expect) in [
            ("6.12.1", Ternary::True),
            ("6.13", Ternary::True),
            ("6.6.60", Ternary::True),
            ("6.6.53", Ternary::False),
            ("6.11.5", Ternary::Unknown),
            ("6.1.0-28-amd64", Ternary::Unknown),
            ("6.1.100 (6.1.0-28-amd64)", Ternary::False),
            ("6.1.112 (6.1.0-28-amd64)", Ternary::True),
        ] {
            assert_eq!(
                parse_version(version).is_fixed_in(&fixed),
                expect,
                "{version}"
            );
        }
    }

    fn arbitrary_version_text() -> impl Strategy<Value = String> {
        let numbers = prop::collection::vec(0u64..30, 1..5);
        let before = prop::sample::select(vec!["", "-rc1", "-rc10", "rc2", "beta3", "devel"]);
        let tail = prop_oneof![
            Just(String::new()),
            "[-+~_][a-z0-9._~+-]{0,12}",
            " \\([ -~]{0,12}\\)"
        ];
        (numbers, before, tail).prop_map(|(numbers, before, tail)| {
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            format!("{}{before}{tail}", numbers.join("."))
        })
    }

    proptest! {
        #[test]
        fn parsed_version_text_parses_back(text: String) {
            if let Some(version) = Version::parse(&text) {
                let again = Version::parse(&version.to_string()).unwrap();
                prop_assert_eq!(&again, &version);
                prop_assert_eq!(again.to_string(), version.to_string());
            }
        }

        #[test]
        fn version_text_round_trips(text in arbitrary_version_text()) {
            prop_assert_eq!(parse_version(&text).to_string(), text);
        }

        #[test]
        fn version_order_is_total(a in arbitrary_version_text(), b in arbitrary_version_text(), c in arbitrary_version_text()) {
            let [a, b, c] = [parse_version(&a), parse_version(&b), parse_version(&c)];
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            prop_assert_eq!(a.at_least(&b), Ternary::from(a >= b));
        }
    }

    #[test]
    fn kernel_and_tool_releases_are_recognised() {
        for taken in [
            "6.12",
            "6.12.0",
            "6.18-rc3",
            "6.18.0-rc3+",
            "6.12.0+",
            "3.10.0-1160.119.1.el7.x86_64",
            "6.12.57+deb13-cloud-amd64",
            "6.6.87.2-microsoft-standard-WSL2",
            "2.6.32.el6",
            "6.18.44-fc-v445",
            "1.47.2-3ubuntu1",
            "6.1.0~rc1",
        ] {
            assert!(is_kernel_or_tool_release(taken), "{taken}");
        }
        for refused in [
            "",
            "0",
            "6",
            "6.",
            ".6",
            "6..12",
            "6.12.",
            "6.12,6.13",
            "6.12abc",
            "6.12\nx",
            "6.12-x y",
            "6.12-\u{e9}",
            "6.12-",
            "6.12--x",
            " 6.12",
            "6.12 ",
            "v6.12",
            "-6.12",
            "6.12..el9",
            "99999999999999999999.1",
            "new",
        ] {
            assert!(!is_kernel_or_tool_release(refused), "{refused:?}");
        }
    }
}
