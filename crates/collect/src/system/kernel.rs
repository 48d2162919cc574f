//! The running kernel: release, version, vendor, available file systems, dirty limits, and
//! command-line parameters on mounting and scheduling.
//!
//! The release string of Debian and Ubuntu has only the ABI (`6.1.0-37-amd64`). The upstream stable
//! version comes from Debian's build string or Ubuntu's version signature; the release string
//! follows it in parentheses.

mod vendor;

use std::path::Path;

use jiff::civil::Date;

use crate::attribute;
use crate::collector::Request;
use crate::facts::catalog::{host, kernel};
use crate::facts::{FactSet, Reading, Remedy, Source};
use crate::host::{ConfigDialect, Host, Question};
use crate::host_readings::{file_reading, syscall_reading};
use crate::system::os::display_safe_value;
use crate::text::{bytes, display_safe};
use crate::version::Version;

const BUILD: &str = "/proc/version";
const UBUNTU_SIGNATURE: &str = "/proc/version_signature";

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let names = syscall_reading(host.ask(&Question::Uname), "uname");
    let names = names.map(|answer| bytes::lines(&answer).map(display_safe).collect::<Vec<_>>());
    let line = |at: usize, what: &str| {
        names.clone().and_then(|names| {
            names
                .get(at)
                .cloned()
                .ok_or_else(|| format!("the {what} is missing"))
        })
    };
    facts.insert_host(&host::NAME, line(1, "node name"));
    facts.insert_host(&kernel::BUILD, attribute::read_text(host, Path::new(BUILD)));
    let release = line(2, "release");
    let release = match (release.value(), facts.host_value(&kernel::BUILD)) {
        (Some(name), Some(build)) if !build.starts_with(&format!("Linux version {name} ")) => {
            // The personality UNAME26 changes uname(2) only (setarch(8), --uname-2.6). The reading
            // is *malformed*, not *ambiguous*: an ambiguous release is only mentioned, while a
            // malformed one leaves verdicts unproven.
            Reading::malformed(format!(
                "uname reports {name}, but {BUILD} reports another release"
            ))
        }
        _ => release,
    };
    facts.insert_host(&kernel::RELEASE, release);
    let release = facts.host_reading(&kernel::RELEASE);
    // A capture or container may lack /proc/version, so the build string of uname(2) replaces it.
    let built_by = facts.host_value(&kernel::BUILD);
    let built_by = built_by
        .or_else(|| line(3, "build").value().cloned())
        .unwrap_or_default();
    let vendor = release
        .clone()
        .map(|text| vendor::identify_vendor(&text, &built_by).name.to_owned());
    facts.insert_host(&kernel::VENDOR, vendor);
    // An assumed vendor overrides the one found here, so the fact is read back.
    let vendor = facts.host_value(&kernel::VENDOR);
    facts.insert_host(
        &kernel::VERSION,
        kernel_version(host, &release, &built_by, vendor.as_deref()),
    );
    let machine = line(4, "machine");
    let name = release.value().map(String::as_str);
    let size = machine.and_then(|machine| {
        page_size(&machine, name, vendor.as_deref()).ok_or_else(|| {
            format!("the page size of this kernel on {machine} is unknown to walwise")
        })
    });
    facts.insert_host(&kernel::PAGE_SIZE, size);
    facts.insert_host(&kernel::FILESYSTEMS, available_block_file_systems(host));
    facts.insert_host(&kernel::FAST_COMMIT, supports_fast_commit(host));
    let is_loaded = facts.host_reading(&kernel::FAST_COMMIT).is_known();
    facts.insert_host(&kernel::JBD2_DEBUG, has_jbd2_debug(host, is_loaded));
    facts.insert_host(
        &kernel::IO_URING_DISABLED,
        attribute::read_number(host, Path::new("/proc/sys/kernel/io_uring_disabled")),
    );
    for (key, parameter) in [
        (&kernel::ROOT_FLAGS, "rootflags"),
        (&kernel::ELEVATOR, "elevator"),
    ] {
        facts.insert_host(key, boot_parameter_values(host, parameter));
    }
    record_dirty_page_limits(host, facts);
}

/// The size of a memory page in bytes. On aarch64, Red Hat Enterprise Linux has pages of 4 KiB
/// since release 9 (coreos-assembler issue 3617). Earlier releases, and kernels with `64k` in their
/// release, have 64 KiB.
fn page_size(machine: &str, release: Option<&str>, vendor: Option<&str>) -> Option<u64> {
    const LARGE: u64 = 64 << 10;
    const SMALL: u64 = 4 << 10;
    match (machine, vendor?) {
        ("aarch64", "el7" | "el8") => Some(LARGE),
        ("aarch64", "el9" | "el10") if release?.contains("64k") => Some(LARGE),
        ("x86_64", _) | ("aarch64", "el9" | "el10") => Some(SMALL),
        _ => None,
    }
}

/// A value of the fact `kernel.vendor`; `other` if unknown.
pub fn kernel_vendor_of(release: &str) -> &'static str {
    vendor::identify_vendor(release, "").name
}

/// The upstream stable version for vendors that publish it outside the release string, and
/// otherwise the version in the release string.
fn kernel_version(
    host: &dyn Host,
    release: &Reading<String>,
    build: &str,
    vendor: Option<&str>,
) -> Reading<Version> {
    let level = release
        .value()
        .and_then(|release| upstream_stable_version(host, release, build));
    let version = level.unwrap_or_else(|| {
        release.clone().and_then(|text| {
            let version =
                Version::parse(&text).ok_or_else(|| format!("`{text}` is not a version"))?;
            let own = vendor::identify_vendor(&text, build);
            let stated = vendor.filter(|vendor| *vendor != own.name);
            Ok(version.with_backports(stated.map_or(own.backports, vendor::may_backport)))
        })
    });
    version.map(|version| version.with_build_date(parse_build_date(build)))
}

fn upstream_stable_version(
    host: &dyn Host,
    release: &str,
    build: &str,
) -> Option<Reading<Version>> {
    let (level, source) = match vendor::identify_vendor(release, build).name {
        "debian" | "debian-cloud" => (vendor::debian_upstream_version(build), BUILD),
        // The signature looks like `Ubuntu 5.15.0-119.129-generic 5.15.160`.
        "ubuntu" | "ubuntu-cloud" => {
            let signature = host
                .read_attribute(Path::new(UBUNTU_SIGNATURE))
                .unwrap_or_default();
            (
                signature.split_whitespace().nth(2).map(str::to_owned),
                UBUNTU_SIGNATURE,
            )
        }
        _ => return None,
    };
    let version = Version::parse(&format!("{} ({release})", level?))?;
    Some(Reading::known(version, Source::from_file(source)))
}

fn available_block_file_systems(host: &dyn Host) -> Reading<Vec<String>> {
    const LIST: &str = "/proc/filesystems";
    file_reading(host.read(Path::new(LIST)), LIST).map(|text| {
        // Types without a device have `nodev` before the tab. OpenZFS has `nodev` too, although its
        // pools are on devices.
        let names = bytes::lines(&text).filter_map(|line| {
            line.strip_prefix(b"\t")
                .or_else(|| line.strip_prefix(b"nodev\t").filter(|name| *name == b"zfs"))
        });
        names.map(display_safe).collect()
    })
}

fn supports_fast_commit(host: &dyn Host) -> Reading<bool> {
    const FEATURE: &str = "/sys/fs/ext4/features/fast_commit";
    let reading = attribute::read_text(host, Path::new(FEATURE)).map(|text| text == "supported");
    if !reading.is_absent() {
        return reading;
    }
    Reading::absent(format!(
        "{FEATURE}: ext4 is not loaded, or does not report the feature"
    ))
    .with_remedy(Remedy::Do(
        "mount an ext4 file system to load ext4".to_owned(),
    ))
}

/// Only a kernel with CONFIG_JBD2_DEBUG has this parameter (fs/jbd2/journal.c). Its absence
/// proves nothing unless jbd2, which ext4 needs, is loaded (`is_loaded`).
fn has_jbd2_debug(host: &dyn Host, is_loaded: bool) -> Reading<bool> {
    const PARAMETER: &str = "/sys/module/jbd2/parameters/jbd2_debug";
    let parameter = attribute::read_text(host, Path::new(PARAMETER));
    if parameter.is_absent() && is_loaded {
        return Reading::known(false, Source::from_file(PARAMETER));
    }
    parameter.map(|_| true)
}

fn boot_parameter_values(host: &dyn Host, name: &str) -> Reading<Vec<String>> {
    const COMMAND_LINE: &str = "/proc/cmdline";
    let settings =
        host.config_directives(Path::new(COMMAND_LINE), ConfigDialect::KernelCommandLine);
    file_reading(settings, COMMAND_LINE).map(|settings| {
        let last = settings
            .iter()
            .rfind(|setting| setting.key == name.as_bytes());
        let words = last
            .into_iter()
            .flat_map(|setting| setting.value.split(|b| *b == b','));
        words
            .filter(|word| !word.is_empty())
            .map(display_safe)
            .collect()
    })
}

// Limits of dirty data in the page cache: vm.dirty_* (Documentation/admin-guide/sysctl/vm.rst
// of the kernel).
//
// Each limit is set as a ratio or in bytes; the nonzero setting is in force. A ratio applies
// to the memory that could hold dirty pages, which changes constantly. A ratio of all memory
// is therefore the upper bound.

fn record_dirty_page_limits(host: &dyn Host, facts: &mut FactSet) {
    let memory = total_memory_bytes(host);
    for (key, limit) in [
        (&kernel::DIRTY_BACKGROUND, "dirty_background"),
        (&kernel::DIRTY, "dirty"),
    ] {
        let reading = read_dirty_limit(host, limit, memory);
        facts.insert_host(key, reading);
    }
}

fn read_dirty_limit(host: &dyn Host, name: &str, memory: Option<u64>) -> Reading<u64> {
    let file = |unit: &str| {
        attribute::read_number(host, Path::new(&format!("/proc/sys/vm/{name}_{unit}")))
    };
    match file("bytes") {
        Reading::Known { value: 0, .. } => file("ratio").and_then(|percent| {
            let total = memory.ok_or_else(|| {
                format!("the limit is {percent} % of the total memory, which is unknown")
            })?;
            percent
                .checked_mul(total / 100)
                .ok_or_else(|| format!("{percent} % is not a valid percentage"))
        }),
        bytes => bytes,
    }
}

fn total_memory_bytes(host: &dyn Host) -> Option<u64> {
    let summary = host.ask(&Question::Resources).ok()?;
    display_safe_value(&summary, "memory_bytes")?.parse().ok()
}

// A kernel's build date, from the end of its build string (uname(2), version): Debian writes
// `6.1.140-1 (2025-05-22)`, Arch Linux `Thu, 10 Oct 2024 17:15:23 +0000`, others
// `Tue Nov 12 17:28:15 UTC 2024`.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Date at the end of a build string, in the time zone of the builder.
fn parse_build_date(build: &str) -> Option<Date> {
    let words: Vec<&str> = build.split_ascii_whitespace().collect();
    let last = words.last()?;
    if let Some(day) = last.strip_prefix('(').and_then(|day| day.strip_suffix(')')) {
        return day.parse().ok();
    }
    // The search starts at the right, because the compiler's date may come first.
    let (at, month) = words.iter().enumerate().rev().find_map(|(at, word)| {
        let month = MONTHS.iter().position(|month| month == word)?;
        Some((at, i8::try_from(month).ok()? + 1))
    })?;
    // The day follows the month in `Nov 12 17:28:15 UTC 2024`, and precedes it in Arch Linux's
    // `12 Nov 2024 17:28:15 +0000`.
    let after = *words.get(at + 1)?;
    let (day, year) = if after.len() == 4 {
        (*words.get(at.checked_sub(1)?)?, after)
    } else {
        (after, *last)
    };
    Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()
}

#[cfg(test)]
mod build_date_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_build_dates_of_distributions() {
        for (build, expect) in [
            (
                "#1 SMP PREEMPT_DYNAMIC Debian 6.1.140-1 (2025-05-22)",
                Some("2025-05-22"),
            ),
            (
                "Linux version 5.10.92 (a@b) (gcc (GCC) 11.2.0) #1 SMP Sun Jan 16 10:03:12 UTC 2022",
                Some("2022-01-16"),
            ),
            (
                "#129-Ubuntu SMP Fri Aug 2 19:25:20 UTC 2024",
                Some("2024-08-02"),
            ),
            (
                "#1 SMP PREEMPT_DYNAMIC Thu, 10 Oct 2024 17:15:23 +0000",
                Some("2024-10-10"),
            ),
            ("#1 SMP", None),
            ("", None),
        ] {
            assert_eq!(
                parse_build_date(build)
                    .map(|day| day.to_string())
                    .as_deref(),
                expect,
                "{build}"
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_build_string_never_panics(build in "[ -~]{0,60}") {
            parse_build_date(&build);
        }
    }
}

#[cfg(test)]
mod dirty_limits_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Subject;
    use crate::testing::FakeHost;

    fn dirty_background_limit(bytes: &str, ratio: &str, memory: impl AsRef<[u8]>) -> Reading<u64> {
        let files = [
            ("dirty_background_bytes", bytes),
            ("dirty_background_ratio", ratio),
        ];
        let host = FakeHost::default()
            .with_files_in_directory("/proc/sys/vm", &files)
            .with_answer(Question::Resources, memory);
        let mut facts = FactSet::default();
        record_dirty_page_limits(&host, &mut facts);
        facts.get(&Subject::host(), &kernel::DIRTY_BACKGROUND)
    }

    #[test]
    fn dirty_limit_comes_from_bytes_or_ratio() {
        let memory = "memory_bytes=1024000\ncpus=2\n";
        for (bytes, ratio, expect, from) in [
            ("0", "10", 102_400, "/proc/sys/vm/dirty_background_ratio"),
            (
                "67108864",
                "0",
                67_108_864,
                "/proc/sys/vm/dirty_background_bytes",
            ),
            ("0", "0", 0, "/proc/sys/vm/dirty_background_ratio"),
        ] {
            let reading = dirty_background_limit(bytes, ratio, memory);
            assert_eq!(reading.value(), Some(&expect));
            assert_eq!(reading.source().unwrap().to_string(), from);
        }
    }

    proptest! {
        #[test]
        fn malformed_dirty_limit_is_unknown(
            bytes in "[0-9x]{0,22}", ratio in "[0-9x]{0,22}", memory: Vec<u8>
        ) {
            let reading = dirty_background_limit(&bytes, &ratio, &memory);
            if let Some(value) = reading.value() {
                let asked = if bytes.bytes().all(|b| b == b'0') { &ratio } else { &bytes };
                prop_assert!(asked.parse::<u64>().is_ok(), "{value} of {asked}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Subject;
    use crate::host::ConfigDirective;
    use crate::ternary::Ternary;
    use crate::testing::FakeHost;

    fn collect_kernel_facts(release: &str, build: &str, fake: FakeHost) -> FactSet {
        let names = format!("Linux\ndb7\n{release}\n#1 SMP\nx86_64\n");
        let prefix = format!("Linux version {release} ");
        let build = build.strip_prefix(&prefix).unwrap_or(build);
        let host = fake
            .with_answer(Question::Uname, names)
            .with_file(BUILD, prefix + build);
        let mut facts = FactSet::default();
        collect_facts(&host, &Request::default(), &mut facts);
        facts
    }

    fn recorded_kernel_version(facts: &FactSet) -> Version {
        facts.host_value(&kernel::VERSION).unwrap()
    }

    #[test]
    fn stable_version_is_found_for_debian_and_ubuntu() {
        let debian = "Linux version 6.1.0-37-amd64 (gcc (Debian 12.2.0-14)) #1 SMP Debian 6.1.140-1 (2025-05-22)";
        let version = recorded_kernel_version(&collect_kernel_facts(
            "6.1.0-37-amd64",
            debian,
            FakeHost::default(),
        ));
        assert_eq!(version.to_string(), "6.1.140 (6.1.0-37-amd64)");
        assert_eq!(
            version.at_least(&Version::parse("6.1.112").unwrap()),
            Ternary::True
        );

        let signature = FakeHost::default()
            .with_file(UBUNTU_SIGNATURE, "Ubuntu 5.15.0-119.129-generic 5.15.160\n");
        let version = recorded_kernel_version(&collect_kernel_facts(
            "5.15.0-119-generic",
            "x #129-Ubuntu SMP",
            signature,
        ));
        assert_eq!(version.numeric_part(), "5.15.160");
        let version = recorded_kernel_version(&collect_kernel_facts(
            "5.15.0-119-generic",
            "x #129-Ubuntu SMP",
            FakeHost::default(),
        ));
        assert_eq!(version.numeric_part(), "5.15.0");
    }

    /// The release in uname's answer may be damaged, or replaced by the personality UNAME26.
    #[test]
    fn release_must_match_proc_version() {
        let names = "Linux\ndb7\n2.6.78-200.fc42.x86_64\n#1 SMP\nx86_64\n";
        for (build, is_known) in [
            ("Linux version 2.6.78-200.fc42.x86_64 (x) #1 SMP", true),
            ("Linux version 6.18.4-200.fc42.x86_64 (x) #1 SMP", false),
            ("Linux version 2.6.78-200.fc42.x86_64x (x)", false),
        ] {
            let host = FakeHost::default().with_answer(Question::Uname, names);
            let mut facts = FactSet::default();
            collect_facts(
                &host.with_file(BUILD, build),
                &Request::default(),
                &mut facts,
            );
            let release = facts.get(&Subject::host(), &kernel::RELEASE);
            let version = facts.get(&Subject::host(), &kernel::VERSION);
            assert_eq!(
                (release.is_known(), version.is_known()),
                (is_known, is_known)
            );
        }
    }

    #[test]
    fn enterprise_kernel_may_have_backports() {
        let facts = collect_kernel_facts("4.18.0-553.el8_10.x86_64", "x", FakeHost::default());
        assert_eq!(
            recorded_kernel_version(&facts).at_least(&Version::parse("5.4").unwrap()),
            Ternary::Unknown
        );
        assert_eq!(
            recorded_kernel_version(&facts).vendor_tail(),
            "-553.el8_10.x86_64"
        );
    }

    #[test]
    fn assumed_vendor_decides_backports() {
        for (release, stated, below_6_13) in [
            ("6.12.4", None, Ternary::False),
            ("6.12.0-55.9.1.el10_0.x86_64", None, Ternary::Unknown),
            ("6.12", Some("el10"), Ternary::Unknown),
            ("6.12", Some("debian"), Ternary::False),
            ("6.12.0-55.el10.x86_64", Some("mainline"), Ternary::False),
        ] {
            let release = Reading::known(release.to_owned(), Source::from_system_call("uname"));
            let version = kernel_version(&FakeHost::default(), &release, "", stated);
            let at_least = version
                .value()
                .unwrap()
                .at_least(&Version::parse("6.13").unwrap());
            assert_eq!(at_least, below_6_13, "{release:?} {stated:?}");
        }
    }

    #[test]
    fn jbd2_debug_is_false_only_if_jbd2_is_loaded() {
        const EXT4: &str = "/sys/fs/ext4/features/fast_commit";
        const PARAMETER: &str = "/sys/module/jbd2/parameters/jbd2_debug";
        for (files, expected) in [
            (&[][..], None),
            (&[EXT4][..], Some(false)),
            (&[EXT4, PARAMETER][..], Some(true)),
        ] {
            let host = FakeHost::default();
            let host = files
                .iter()
                .fold(host, |host, file| host.with_file(*file, "0\n"));
            let facts = collect_kernel_facts("6.12.1", "x", host);
            let found = facts.host_value(&kernel::JBD2_DEBUG);
            assert_eq!(found, expected, "{files:?}");
        }
    }

    #[test]
    fn file_systems_and_boot_parameters_are_read() {
        let setting = |key: &[u8], value: &[u8]| ConfigDirective::new(1, key, value).encode();
        let line = [
            setting(b"rootflags", b"subvol=@,nobarrier"),
            setting(b"elevator", b"noop"),
        ]
        .concat();
        let question = Question::Config("/proc/cmdline".into(), ConfigDialect::KernelCommandLine);
        let fake = FakeHost::default()
            .with_file(
                "/proc/filesystems",
                "nodev\tsysfs\n\text4\nnodev\ttmpfs\n\txfs\n",
            )
            .with_answer(question, line);
        let facts = collect_kernel_facts("6.6.1", "x", fake);
        assert_eq!(
            facts.host_value(&kernel::FILESYSTEMS).unwrap(),
            ["ext4", "xfs"]
        );
        assert_eq!(
            facts.host_value(&kernel::ROOT_FLAGS).unwrap(),
            ["subvol=@", "nobarrier"]
        );
        assert_eq!(facts.host_value(&kernel::ELEVATOR).unwrap(), ["noop"]);
        assert!(!facts.get(&Subject::host(), &kernel::FAST_COMMIT).is_known());
    }

    proptest! {
        #[test]
        fn malformed_answers_affect_only_themselves(release: Vec<u8>, noise in "[^\n]{0,20}") {
            let host = FakeHost::default()
                .with_answer(Question::Uname, [b"Linux\nme\n", release.as_slice(), b"\n#1\nx86_64\n"].concat())
                .with_file("/proc/version_signature", &release)
                .with_file("/sys/fs/ext4/features/fast_commit", &release)
                .with_file("/proc/filesystems", format!("nodev\tproc\n\text4\n{noise}\n\txfs\n"));
            let mut facts = FactSet::default();
            collect_facts(&host, &Request::default(), &mut facts);
            let known = facts.host_value(&kernel::FILESYSTEMS).unwrap();
            prop_assert!(known.contains(&"ext4".to_owned()) && known.contains(&"xfs".to_owned()));
            prop_assert!(!crate::testing::displayed_notes_and_readings(&facts).chars().any(crate::text::is_display_unsafe));
        }
    }
}
