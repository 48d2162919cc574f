//! DRBD: the point at which a device acknowledges a write, and the flushes that the device sends.
//!
//! The sources are /proc/drbd of DRBD 8.4, the version in the kernel
//! (drivers/block/drbd/drbd_proc.c), and drbdsetup(8). /proc/drbd of DRBD 9 has only the version. A
//! device without a connection has no protocol.

use std::collections::BTreeMap;
use std::path::Path;

use crate::collector::Request;
use crate::facts::catalog::device::{self, DeviceKind, DrbdOrdering, DrbdProtocol};
use crate::facts::{Choice, FactSet, Reading};
use crate::host::{Host, Tool};
use crate::host_readings::{file_reading, query_tool};
use crate::text::bytes;

const PROC: &str = "/proc/drbd";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DeviceReport {
    protocol: Option<DrbdProtocol>,
    ordering: Option<DrbdOrdering>,
    md_flushes: Option<bool>,
}

type ReportsByMinor = BTreeMap<u32, DeviceReport>;

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let devices = facts.subjects_where(&device::KIND, |kind: &DeviceKind| kind.is_drbd());
    if devices.is_empty() {
        return;
    }
    let listed = file_reading(host.read(Path::new(PROC)), PROC).map(|text| parse_proc_drbd(&text));
    let shown = query_tool(host, request, Tool::Drbdsetup, &["show", "--show-defaults"])
        .map(|text| parse_drbdsetup_show(&text));
    for subject in devices {
        let minor = subject
            .name()
            .strip_prefix("drbd")
            .and_then(|minor| minor.parse().ok());
        let said = [&listed, &shown].map(|devices| find_device_report(devices, minor));
        let no_peer = "the device has no connection to a peer";
        let no_disk = "the device has no backing disk on this host (diskless)";
        let protocol = said
            .each_ref()
            .map(|said| report_field(said, |said| said.protocol, no_peer));
        facts.insert(
            &subject,
            &device::DRBD_PROTOCOL,
            first_known_or_second(protocol),
        );
        let ordering = said
            .each_ref()
            .map(|said| report_field(said, |said| said.ordering, no_disk));
        facts.insert(
            &subject,
            &device::DRBD_ORDERING,
            first_known_or_second(ordering),
        );
        let [_, shown] = &said;
        let md_flushes = report_field(shown, |said| said.md_flushes, no_disk);
        facts.insert(&subject, &device::DRBD_MD_FLUSHES, md_flushes);
    }
}

fn find_device_report(
    devices: &Reading<ReportsByMinor>,
    minor: Option<u32>,
) -> Reading<DeviceReport> {
    devices.as_ref().and_then_reading(|devices, source| {
        match minor.map(|minor| devices.get(&minor)) {
            Some(Some(said)) => Reading::known(said.clone(), source),
            Some(None) => Reading::absent(format!("{source} does not list this device")),
            None => Reading::malformed("the device name has no minor number"),
        }
    })
}

fn report_field<T>(
    said: &Reading<DeviceReport>,
    what: fn(&DeviceReport) -> Option<T>,
    otherwise: &str,
) -> Reading<T> {
    said.as_ref()
        .and_then_reading(|said, source| match what(said) {
            Some(value) => Reading::known(value, source),
            None => Reading::absent(format!("{source}: {otherwise}")),
        })
}

/// `listed` (/proc/drbd) if known, else `shown` (drbdsetup). If both are unknown, `shown` is the
/// better answer, because its remedy names the missing tool.
fn first_known_or_second<T>([listed, shown]: [Reading<T>; 2]) -> Reading<T> {
    if listed.is_known() { listed } else { shown }
}

/// Parses /proc/drbd. A device is a line such as
/// ` 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----`. If the device has a
/// resource, the next line contains `wo:f` or another write ordering.
fn parse_proc_drbd(text: &[u8]) -> ReportsByMinor {
    let mut devices = ReportsByMinor::new();
    let mut last = None;
    for line in bytes::lines(text).filter_map(|line| str::from_utf8(line).ok()) {
        let head = line.trim_start().split_once(": cs:");
        if let Some((minor, rest)) =
            head.and_then(|(minor, rest)| Some((minor.parse().ok()?, rest)))
        {
            let mut words = rest
                .split_ascii_whitespace()
                .skip_while(|word| !word.starts_with("ds:"))
                .skip(1);
            let protocol = words.next().and_then(DrbdProtocol::from_word);
            devices.insert(
                minor,
                DeviceReport {
                    protocol,
                    ..DeviceReport::default()
                },
            );
            last = Some(minor);
        } else if let Some(letter) = line
            .split_ascii_whitespace()
            .find_map(|word| word.strip_prefix("wo:"))
            && let Some(said) = last.take().and_then(|minor| devices.get_mut(&minor))
        {
            said.ordering = match letter {
                "b" => Some(DrbdOrdering::Barrier),
                "f" => Some(DrbdOrdering::Flush),
                "d" => Some(DrbdOrdering::Drain),
                "n" => Some(DrbdOrdering::None),
                _ => None,
            };
        }
    }
    devices
}

fn parse_drbdsetup_show(text: &[u8]) -> ReportsByMinor {
    let line = |line: &[u8]| {
        let (minor, words) = str::from_utf8(line).ok()?.split_once(':')?;
        let words: Vec<(&str, &str)> = words
            .split_ascii_whitespace()
            .filter_map(|word| word.split_once('='))
            .collect();
        let value = |name: &str| {
            words
                .iter()
                .find(|(word, _)| *word == name)
                .map(|(_, value)| *value)
        };
        let is_on = |name| match value(name)? {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let protocols = words.iter().filter(|(word, _)| *word == "protocol");
        let said = DeviceReport {
            protocol: protocols
                .filter_map(|(_, word)| DrbdProtocol::from_word(word))
                .min(),
            ordering: first_allowed_write_ordering([
                is_on("disk-barrier"),
                is_on("disk-flushes"),
                is_on("disk-drain"),
            ]),
            md_flushes: is_on("md-flushes"),
        };
        Some((minor.parse().ok()?, said))
    };
    bytes::lines(text).filter_map(line).collect()
}

/// The first of the methods barrier, flush and drain that is allowed, or else *none*, as DRBD does
/// (`max_allowed_wo` in drbd_receiver.c). `None` if a setting before the first allowed one is
/// unknown.
fn first_allowed_write_ordering(allowed: [Option<bool>; 3]) -> Option<DrbdOrdering> {
    let methods = [
        DrbdOrdering::Barrier,
        DrbdOrdering::Flush,
        DrbdOrdering::Drain,
    ];
    for (method, is_allowed) in methods.into_iter().zip(allowed) {
        if is_allowed? {
            return Some(method);
        }
    }
    Some(DrbdOrdering::None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::UnknownReason;
    use crate::facts::{Key, Subject};
    use crate::facts::{Remedy, Source};
    use crate::host::Question;
    use crate::testing::FakeHost;

    const TABLE: &str = "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 0123456789ABCDEF0123456\n \
        0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n    \
        ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:d oos:0\n \
        1: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----\n    ns:0 ep:1 wo:f oos:0\n \
        2: cs:Unconfigured\n10: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent A r---n-\n";
    const OF_9: &str = "version: 9.1.16 (api:2/proto:110-121)\nTransports (api:18): tcp\n";
    const SHOWN: &str = "0: protocol=C disk-barrier=no disk-flushes=yes disk-drain=yes md-flushes=no\n\
        1: disk-barrier=no disk-flushes=no disk-drain=no md-flushes=yes\n2:\n10: protocol=C protocol=A\n";

    fn show_question() -> Question {
        Question::Run(
            Tool::Drbdsetup,
            ["show", "--show-defaults"].map(str::to_owned).to_vec(),
        )
    }

    fn collect_drbd_facts(host: &FakeHost, without_programs: bool) -> FactSet {
        let mut facts = FactSet::default();
        for name in ["drbd0", "drbd1", "drbd2", "drbd3", "drbd10"] {
            facts.insert_known(
                &Subject::device(name),
                &device::KIND,
                DeviceKind::Drbd,
                Source::from_file("x"),
            );
        }
        facts.insert_known(
            &Subject::device("sda"),
            &device::KIND,
            DeviceKind::Disk,
            Source::from_file("x"),
        );
        collect_facts(
            host,
            &Request {
                without_programs,
                ..Request::default()
            },
            &mut facts,
        );
        facts
    }

    fn joined_device_values<T: crate::facts::FactValue + ToString>(
        facts: &FactSet,
        key: &Key<T>,
    ) -> String {
        let one = |name: &str| {
            facts
                .value(&Subject::device(name), key)
                .map_or_else(|| "?".to_owned(), |value| value.to_string())
        };
        ["drbd0", "drbd1", "drbd2", "drbd3", "drbd10"]
            .map(one)
            .join(" ")
    }

    #[test]
    fn proc_and_drbdsetup_are_combined() {
        let both = collect_drbd_facts(
            &FakeHost::default()
                .with_file(PROC, TABLE)
                .with_answer(show_question(), SHOWN),
            false,
        );
        assert_eq!(
            joined_device_values(&both, &device::DRBD_PROTOCOL),
            "C ? ? ? A"
        );
        assert_eq!(
            joined_device_values(&both, &device::DRBD_ORDERING),
            "drain flush ? ? ?"
        );
        assert_eq!(
            joined_device_values(&both, &device::DRBD_MD_FLUSHES),
            "false true ? ? ?"
        );
        let of_9 = collect_drbd_facts(
            &FakeHost::default()
                .with_file(PROC, OF_9)
                .with_answer(show_question(), SHOWN),
            false,
        );
        assert_eq!(
            joined_device_values(&of_9, &device::DRBD_PROTOCOL),
            "C ? ? ? A",
            "the weakest of several"
        );
        assert_eq!(
            joined_device_values(&of_9, &device::DRBD_ORDERING),
            "flush none ? ? ?"
        );
        let old = collect_drbd_facts(&FakeHost::default().with_file(PROC, TABLE), false);
        assert_eq!(
            joined_device_values(&old, &device::DRBD_ORDERING),
            "drain flush ? ? ?"
        );
        let why = old.get(&Subject::device("drbd0"), &device::DRBD_MD_FLUSHES);
        assert!(
            matches!(
                why,
                Reading::Unknown {
                    remedy: Some(Remedy::Install(_)),
                    ..
                }
            ),
            "{why:?}"
        );
    }

    #[test]
    fn drbdsetup_is_not_run_without_programs_or_devices() {
        let host = FakeHost::default()
            .with_file(PROC, TABLE)
            .with_answer(show_question(), SHOWN);
        let facts = collect_drbd_facts(&host, true);
        assert_eq!(
            joined_device_values(&facts, &device::DRBD_PROTOCOL),
            "C ? ? ? A"
        );
        let why = facts.get(&Subject::device("drbd0"), &device::DRBD_MD_FLUSHES);
        assert!(
            matches!(
                why,
                Reading::Unknown {
                    why: UnknownReason::NotCollected,
                    ..
                }
            ),
            "{why:?}"
        );
        assert!(!host.asked_questions().contains(&show_question()));
        let host = FakeHost::default();
        collect_facts(&host, &Request::default(), &mut FactSet::default());
        assert!(host.asked_questions().is_empty());
    }

    #[test]
    fn first_allowed_write_ordering_is_used() {
        let (yes, no) = (Some(true), Some(false));
        for (allowed, expect) in [
            ([yes, no, no], Some("barrier")),
            ([no, yes, no], Some("flush")),
            ([no, no, yes], Some("drain")),
            ([no, no, no], Some("none")),
            ([None, yes, yes], None),
            ([no, None, yes], None),
            ([no, yes, None], Some("flush")),
        ] {
            assert_eq!(
                first_allowed_write_ordering(allowed).map(DrbdOrdering::as_str),
                expect,
                "{allowed:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn malformed_line_affects_only_itself(bad: Vec<u8>) {
            let bad = bad.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect::<Vec<_>>();
            // The `wo:` line of device 11 ends that device, so a `wo:` in the bad line after it
            // changes nothing.
            let table = [TABLE.as_bytes(), b" 11: cs:Unconfigured\nwo:f\n", &bad, b"\n 12: cs:Unconfigured\n"].concat();
            let (clean, noisy) = (parse_proc_drbd(TABLE.as_bytes()), parse_proc_drbd(&table));
            prop_assume!(!bad.windows(5).any(|part| part == b": cs:"));
            prop_assert!(clean.iter().all(|(minor, said)| noisy.get(minor) == Some(said)));
            prop_assert!(noisy.contains_key(&12));
            let shown = parse_drbdsetup_show(&[&bad, b"\n".as_slice(), SHOWN.as_bytes()].concat());
            prop_assert!(parse_drbdsetup_show(SHOWN.as_bytes()).keys().all(|minor| shown.contains_key(minor)));
        }
    }
}
