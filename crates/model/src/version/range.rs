//! The releases of one product that have a fault: from which release on, which release of each line
//! fixes it, and what a distribution's build or a build date tells where the number does not.

use jiff::civil::Date;

use super::Version;
use crate::ternary::Ternary;

/// Releases with a fault. A line is all but the last number of the release that ends it: 6.1 for
/// 6.1.66, 17 for 17.3.
#[derive(Clone, Debug, PartialEq)]
pub struct AffectedReleases {
    /// The first releases with it. One of three numbers stands for its own line, a shorter one for
    /// all from there on; without any, every release has it.
    pub from: Vec<Version>,
    /// The first release of each line without it; from the highest on none has it.
    pub fixed: Vec<Version>,
    /// The first builds of distributions without it (`5.14.0-427.el9`).
    pub builds: Vec<Version>,
    /// Lines that end without the fix (`5.10`), although distributions still build them.
    pub unfixed: Vec<Version>,
    /// Lines of which it is unverified whether they have the fix.
    pub unverified: Vec<Version>,
    /// The day of the fix: a build from before lacks it.
    pub fixed_on: Option<Date>,
    /// Whether packagers add the fix without another number than one in the tail (`2.1.11-1`).
    pub packaged: bool,
}

impl AffectedReleases {
    /// Whether a release has the fault.
    pub fn contains(&self, version: &Version) -> Ternary {
        match self.has_arrived(version) {
            Ternary::False => Ternary::False,
            arrived @ (Ternary::True | Ternary::Unknown) => arrived.and(!self.is_fixed(version)),
        }
    }

    pub fn versions(&self) -> impl Iterator<Item = &Version> {
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

    /// Whether the fault had arrived. A vendor's backports count as fixes and never as faults.
    fn has_arrived(&self, version: &Version) -> Ternary {
        if self.from.is_empty() {
            return Ternary::True;
        }
        let one = |from: &Version| match from.number_count() {
            0..=2 => (version >= from).into(),
            _ if !version.is_of_line(from, from.number_count() - 1) => Ternary::False,
            _ if version >= from => Ternary::True,
            _ if version.hides_stable_level() => Ternary::Unknown,
            _ => Ternary::False,
        };
        Ternary::any(self.from.iter().map(one))
    }

    fn is_fixed(&self, version: &Version) -> Ternary {
        // A level that was read elsewhere says more than the build behind it.
        let builds = self
            .builds
            .iter()
            .filter(|_| !version.tail().starts_with('('));
        let mut by_build = builds.map(|build| version.build_at_least(build));
        if let Some(decided) = by_build.find(|truth| *truth != Ternary::Unknown) {
            return decided;
        }
        match self.is_fixed_by_number(version) {
            Ternary::Unknown if version.0.built < self.fixed_on && version.0.built.is_some() => {
                Ternary::False
            }
            truth @ (Ternary::True | Ternary::Unknown | Ternary::False) => truth,
        }
    }

    fn is_fixed_by_number(&self, version: &Version) -> Ternary {
        if self.fixed.iter().max().is_some_and(|last| version >= last) {
            return Ternary::True;
        }
        let tail = version.tail();
        let hidden = version.hides_stable_level()
            || self.packaged && !tail.is_empty() && !tail.starts_with('(');
        let of = |lines: &[Version]| {
            lines
                .iter()
                .any(|line| version.is_of_line(line, line.number_count()))
        };
        // Beside `6.6.55` a `6.12` is the release of mainline, and names no line.
        let depth = self
            .fixed
            .iter()
            .map(Version::number_count)
            .max()
            .unwrap_or_default();
        let names_line =
            |fix: &&Version| fix.number_count() == depth && version.is_of_line(fix, depth - 1);
        match self.fixed.iter().find(names_line) {
            Some(fix) if version >= fix => Ternary::True,
            // `14` alone is a line, and no release of it.
            Some(fix) if version.number_count() < fix.number_count() => Ternary::Unknown,
            Some(_) if hidden => Ternary::Unknown,
            None if of(&self.unfixed) && !version.backports() => Ternary::False,
            None if of(&self.unverified) => Ternary::Unknown,
            // A distribution repairs a line on its own after its upstream has ended it.
            None if hidden || tail.starts_with('(') => Ternary::Unknown,
            Some(_) | None => Ternary::False,
        }
    }
}

impl Version {
    /// Whether its first numbers are those of another release.
    fn is_of_line(&self, other: &Self, depth: usize) -> bool {
        depth > 0 && (0..depth).all(|at| self.number(at) == other.number(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_all(list: &[&str]) -> Vec<Version> {
        list.iter()
            .map(|text| Version::parse(text).unwrap())
            .collect()
    }

    fn range(from: &[&str], fixed: &[&str]) -> AffectedReleases {
        AffectedReleases {
            from: parse_all(from),
            fixed: parse_all(fixed),
            builds: Vec::new(),
            unfixed: Vec::new(),
            unverified: Vec::new(),
            fixed_on: None,
            packaged: false,
        }
    }

    fn contains(range: &AffectedReleases, cases: &[(&str, Ternary)]) {
        for (text, expect) in cases {
            let version = Version::parse(text).unwrap();
            let version = version.clone().with_backports(text.contains(".el"));
            assert_eq!(range.contains(&version), *expect, "{text}");
        }
    }

    use Ternary::{False, True, Unknown};

    #[test]
    fn a_fault_of_one_stable_line_is_in_no_other() {
        contains(
            &range(&["6.1.64"], &["6.1.66"]),
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
    fn a_fault_of_mainline_stays_until_each_line_ends_it() {
        let mut range = range(&["5.10"], &["6.1.113", "6.6.55", "6.12"]);
        range.unfixed = parse_all(&["5.10"]);
        range.unverified = parse_all(&["6.11"]);
        range.builds = parse_all(&["5.14.0-427.el9"]);
        contains(
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
    fn servers_and_modules_have_lines_of_one_and_two_numbers() {
        contains(
            &range(&["14"], &["14.4"]),
            &[
                ("13.7", False),
                ("14", Unknown),
                ("14.3 (Debian 14.3-1)", True),
                ("14.4", False),
                ("15.0", False),
            ],
        );
        let mut packages = range(&[], &["2.1.14", "2.2.2"]);
        packages.packaged = true;
        contains(
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
    fn a_build_from_before_the_fix_lacks_it() {
        let mut range = range(&["5.10"], &["6.12"]);
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
        /// What the number hides never decides against a fault.
        #[test]
        fn a_hidden_level_is_never_fixed(minor in 0u64..20, level in 0u64..200) {
            let range = range(&["5.10"], &["6.1.113", "6.6.55", "6.12"]);
            let shown = Version::parse(&format!("6.{minor}.{level}")).unwrap();
            let hidden = Version::parse(&format!("6.{minor}.0-{level}-amd64")).unwrap();
            if range.contains(&shown) == Ternary::True {
                prop_assert_ne!(range.contains(&hidden), Ternary::False);
            }
        }
    }
}
