//! Ranges of releases that have a fault. Where the version number does not decide, distributions'
//! build numbers and build dates do.

use jiff::civil::Date;

use super::Version;
use crate::ternary::Ternary;

use Ternary::{False, True, Unknown};
/// Releases of one product that have a fault. A *line* is the fixed release without its last
/// number: 6.1 for 6.1.66, 17 for 17.3.
#[derive(Clone, Debug, PartialEq)]
pub struct AffectedReleases {
    /// First releases with the fault. A release of three numbers applies to its own line, a shorter
    /// release to all later releases. If the list is empty, every release before the fix has the
    /// fault.
    pub from: Vec<Version>,
    /// First fixed release of each line; from the highest one on, all releases are fixed.
    pub fixed: Vec<Version>,
    /// First fixed builds of distributions, such as `5.14.0-427.el9`.
    pub builds: Vec<Version>,
    /// Lines that end without the fix, such as `5.10`, although distributions still build kernels
    /// from them.
    pub unfixed: Vec<Version>,
    /// Lines whose fix was never verified in their sources.
    pub unverified: Vec<Version>,
    /// Day of the fix; a build from an earlier day lacks the fix.
    pub fixed_on: Option<Date>,
    /// Whether a package may contain the fix without a new version number, so that only the tail
    /// changes (`2.1.11-1`).
    pub packaged: bool,
}

impl AffectedReleases {
    pub fn contains(&self, version: &Version) -> Ternary {
        self.is_after_fault_introduced(version)
            .and(!self.is_fixed_in(version))
    }

    pub fn all_listed_versions(&self) -> impl Iterator<Item = &Version> {
        [
            &self.from,
            &self.fixed,
            &self.builds,
            &self.unfixed,
            &self.unverified,
        ]
        .into_iter()
        .flatten()
    }

    fn is_after_fault_introduced(&self, version: &Version) -> Ternary {
        if self.from.is_empty() {
            return True;
        }
        let one = |from: &Version| match from.number_count() {
            0..=2 => (version >= from).into(),
            _ if !version.shares_first_numbers_with(from, from.number_count() - 1) => False,
            _ if version >= from => True,
            _ if version.may_have_hidden_fixes() => Unknown,
            _ => False,
        };
        Ternary::any(self.from.iter().map(one))
    }

    fn is_fixed_in(&self, version: &Version) -> Ternary {
        // Before a tail in brackets, the numbers are those of the upstream release. They decide
        // more exactly than a build number, so builds are not compared then.
        let builds = self
            .builds
            .iter()
            .filter(|_| !version.vendor_tail().starts_with('('));
        let mut by_build = builds.map(|build| version.build_at_least(build));
        if let Some(decided) = by_build.find(|truth| *truth != Unknown) {
            return decided;
        }
        match self.is_fixed_by_number(version) {
            Unknown if version.0.built < self.fixed_on && version.0.built.is_some() => False,
            truth @ (True | Unknown | False) => truth,
        }
    }

    fn is_fixed_by_number(&self, version: &Version) -> Ternary {
        if self.fixed.iter().max().is_some_and(|last| version >= last) {
            return True;
        }
        let tail = version.vendor_tail();
        let hidden = version.may_have_hidden_fixes()
            || self.packaged && !tail.is_empty() && !tail.starts_with('(');
        let of = |lines: &[Version]| {
            lines
                .iter()
                .any(|line| version.shares_first_numbers_with(line, line.number_count()))
        };
        // A fix names a line only if it has as many numbers as the longest fix in the list. Next to
        // `6.6.55`, `6.12` is the mainline release and not a line.
        let depth = self
            .fixed
            .iter()
            .map(Version::number_count)
            .max()
            .unwrap_or_default();
        let names_line = |fix: &&Version| {
            fix.number_count() == depth && version.shares_first_numbers_with(fix, depth - 1)
        };
        match self.fixed.iter().find(names_line) {
            Some(fix) if version >= fix => True,
            // The version may be any release of its line, as `14` without a minor number.
            Some(fix) if version.number_count() < fix.number_count() => Unknown,
            Some(_) if hidden => Unknown,
            None if of(&self.unfixed) && !version.has_backports() => False,
            None if of(&self.unverified) => Unknown,
            // Unknown, because a distribution may fix a line itself after upstream has stopped
            // maintaining it.
            None if hidden || tail.starts_with('(') => Unknown,
            Some(_) | None => False,
        }
    }
}

impl Version {
    fn shares_first_numbers_with(&self, other: &Self, depth: usize) -> bool {
        depth > 0 && (0..depth).all(|at| self.number(at) == other.number(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_versions(list: &[&str]) -> Vec<Version> {
        list.iter()
            .map(|text| Version::parse(text).unwrap())
            .collect()
    }

    fn affected_releases(from: &[&str], fixed: &[&str]) -> AffectedReleases {
        AffectedReleases {
            from: parse_versions(from),
            fixed: parse_versions(fixed),
            builds: Vec::new(),
            unfixed: Vec::new(),
            unverified: Vec::new(),
            fixed_on: None,
            packaged: false,
        }
    }

    fn assert_contains(range: &AffectedReleases, cases: &[(&str, Ternary)]) {
        for (text, expect) in cases {
            let version = Version::parse(text).unwrap();
            let version = version.clone().with_backports(text.contains(".el"));
            assert_eq!(range.contains(&version), *expect, "{text}");
        }
    }

    use Ternary::{False, True, Unknown};

    #[test]
    fn a_fault_of_one_stable_line_is_in_no_other() {
        assert_contains(
            &affected_releases(&["6.1.64"], &["6.1.66"]),
            &[
                ("6.1.63", False),
                ("6.1.64", True),
                ("6.1.65-1-default", True),
                ("6.1.66", False),
                ("6.2.3", False),
                ("5.14.0-503.el9", False),
                ("6.1.64 (6.1.0-14-amd64)", True),
                ("6.1.0-14-amd64", Unknown),
            ],
        );
    }

    #[test]
    fn mainline_fault_ends_by_release_line() {
        let mut range = affected_releases(&["5.10"], &["6.1.113", "6.6.55", "6.12"]);
        range.unfixed = parse_versions(&["5.10"]);
        range.unverified = parse_versions(&["6.11"]);
        range.builds = parse_versions(&["5.14.0-427.el9"]);
        assert_contains(
            &range,
            &[
                ("5.4.200", False),
                ("5.10.92", True),
                ("5.10.223 (5.10.0-32-amd64)", True),
                ("5.19.17", True),
                ("6.1.112", True),
                ("6.1.113", False),
                ("6.1.0-28-amd64", Unknown),
                ("6.11.3", Unknown),
                ("6.8.12 (6.8.0-50-generic)", Unknown),
                ("6.12", False),
                ("6.13-rc1", False),
                ("5.14.0-362.24.1.el9_3.x86_64", True),
                ("5.14.0-427.13.1.el9_4.x86_64", False),
                ("6.6.0-1.el8", Unknown),
            ],
        );
    }

    #[test]
    fn short_release_lines_are_compared() {
        assert_contains(
            &affected_releases(&["14"], &["14.4"]),
            &[
                ("13.7", False),
                ("14", Unknown),
                ("14.3 (Debian 14.3-1)", True),
                ("14.4", False),
                ("15.0", False),
            ],
        );
        let mut packages = affected_releases(&[], &["2.1.14", "2.2.2"]);
        packages.packaged = true;
        assert_contains(
            &packages,
            &[
                ("2.1.13", True),
                ("2.1.11-1", Unknown),
                ("2.1.14-1", False),
                ("2.2.0", True),
                ("2.3.2-2", False),
                ("0.8.3", True),
            ],
        );
    }

    #[test]
    fn build_before_fix_date_lacks_the_fix() {
        let mut range = affected_releases(&["5.10"], &["6.12"]);
        range.fixed_on = Some(Date::constant(2024, 10, 4));
        for (day, expect) in [(None, Unknown), (Some(3), True), (Some(4), Unknown)] {
            let built = day.map(|day| Date::constant(2024, 10, day));
            let version = Version::parse("5.14.0-427.el9")
                .unwrap()
                .with_backports(true);
            assert_eq!(
                range.contains(&version.with_build_date(built)),
                expect,
                "{day:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn hidden_stable_level_is_never_certainly_fixed(minor in 0u64..20, level in 0u64..200) {
            let range = affected_releases(&["5.10"], &["6.1.113", "6.6.55", "6.12"]);
            let shown = Version::parse(&format!("6.{minor}.{level}")).unwrap();
            let hidden = Version::parse(&format!("6.{minor}.0-{level}-amd64")).unwrap();
            if range.contains(&shown) == Ternary::True {
                prop_assert_ne!(range.contains(&hidden), Ternary::False);
            }
        }
    }
}
