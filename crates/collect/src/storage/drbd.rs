//! DRBD: when a device reports a write as done, and what it flushes: from /proc/drbd of DRBD 8.4,
//! the version in the kernel (drivers/block/drbd/drbd_proc.c), and from drbdsetup(8).
//!
//! The host's redaction decides which options are passed on. DRBD 9 prints only its version into
//! /proc/drbd, and there a device without a connection has no protocol. The lower device is among
//! the `slaves` that the topology reads.

use std::collections::BTreeMap;
use std::path::Path;

use crate::collector::{Collector, Request};
use crate::facts::catalog::device::{self, DeviceKind, DrbdOrdering, DrbdProtocol};
use crate::facts::{Choice, FactSet, Reading, Remedy, Source, Why};
use crate::host::{Host, MissKind, Tool};
use crate::refusal::{not_run, refused};

/// Reads what DRBD is set to.
pub const COLLECTOR: Collector = Collector { id: "DRBD", run };

const PROC: &str = "/proc/drbd";
const SHOW: [&str; 2] = ["show", "--show-defaults"];
const COMMAND: &str = "drbdsetup show --show-defaults";

/// What one of the two says of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    protocol: Option<DrbdProtocol>,
    ordering: Option<DrbdOrdering>,
    md_flushes: Option<bool>,
}

/// Devices by minor number.
type Devices = BTreeMap<u32, Said>;

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let devices = facts.which(&device::KIND, |kind: &DeviceKind| kind.is_drbd());
    if devices.is_empty() {
        return;
    }
    let listed = match host.read(Path::new(PROC)) {
        Ok(text) => Reading::known(parse_proc(&text), Source::file(PROC)),
        Err(miss) => refused(&miss, PROC),
    };
    let shown = show(host, request);
    for subject in devices {
        let minor = subject
            .name()
            .strip_prefix("drbd")
            .and_then(|minor| minor.parse().ok());
        let (listed, shown) = (of(&listed, minor), of(&shown, minor));
        let no_peer = "it has no connection to a peer";
        let no_disk = "it has no disk on this host";
        let protocol = told(&listed, |said| said.protocol, no_peer);
        let ordering = told(&listed, |said| said.ordering, no_disk);
        facts.put(
            &subject,
            &device::DRBD_PROTOCOL,
            first(protocol, told(&shown, |said| said.protocol, no_peer)),
        );
        facts.put(
            &subject,
            &device::DRBD_ORDERING,
            first(ordering, told(&shown, |said| said.ordering, no_disk)),
        );
        facts.put(
            &subject,
            &device::DRBD_MD_FLUSHES,
            told(&shown, |said| said.md_flushes, no_disk),
        );
    }
}

/// What drbdsetup shows of all devices. Anybody may ask for it.
fn show(host: &dyn Host, request: &Request) -> Reading<Devices> {
    if request.without_programs {
        return not_run();
    }
    match host.run(Tool::Drbdsetup, &SHOW) {
        Ok(text) => Reading::known(
            parse_show(&text),
            Source::Command {
                argv: COMMAND.to_owned(),
            },
        ),
        Err(miss) if miss.kind == MissKind::Absent => {
            refused(&miss, COMMAND).or_try(Remedy::Install(Tool::Drbdsetup.package().to_owned()))
        }
        Err(miss) => refused(&miss, COMMAND),
    }
}

/// What is said of the device with this minor number.
fn of(devices: &Reading<Devices>, minor: Option<u32>) -> Reading<Said> {
    devices.as_ref().then(
        |devices, source| match minor.map(|minor| devices.get(&minor)) {
            Some(Some(said)) => Reading::known(said.clone(), source),
            Some(None) => Reading::unknown(Why::Absent, format!("{source} does not list it")),
            None => Reading::unknown(Why::Malformed, "its name holds no number"),
        },
    )
}

/// One thing that is said, or why it is not.
fn told<T>(said: &Reading<Said>, what: fn(&Said) -> Option<T>, otherwise: &str) -> Reading<T> {
    said.as_ref().then(|said, source| match what(said) {
        Some(value) => Reading::known(value, source),
        None => Reading::unknown(Why::Absent, format!("{source}: {otherwise}")),
    })
}

/// The first that is known. The second says why neither is: it has the way out.
fn first<T>(listed: Reading<T>, shown: Reading<T>) -> Reading<T> {
    if listed.is_known() { listed } else { shown }
}

/// A device has a line ` 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----` and,
/// with its resource, one below it with `wo:f`.
fn parse_proc(text: &[u8]) -> Devices {
    let mut devices = Devices::new();
    let mut last = None;
    for line in text
        .split(|b| *b == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok())
    {
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
                Said {
                    protocol,
                    ..Said::default()
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

/// Lines `MINOR: NAME=VALUE …`, as redaction leaves them.
fn parse_show(text: &[u8]) -> Devices {
    let line = |line: &[u8]| {
        let (minor, words) = std::str::from_utf8(line).ok()?.split_once(':')?;
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
        let said = Said {
            protocol: protocols
                .filter_map(|(_, word)| DrbdProtocol::from_word(word))
                .min(),
            ordering: ordering([
                is_on("disk-barrier"),
                is_on("disk-flushes"),
                is_on("disk-drain"),
            ]),
            md_flushes: is_on("md-flushes"),
        };
        Some((minor.parse().ok()?, said))
    };
    text.split(|b| *b == b'\n').filter_map(line).collect()
}

/// The first method that is allowed is used (`max_allowed_wo` in drbd_receiver.c).
fn ordering(allowed: [Option<bool>; 3]) -> Option<DrbdOrdering> {
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
    use crate::facts::{Key, Subject};
    use crate::host::Question;
    use crate::testing::Fake;

    const TABLE: &str = "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 0123456789ABCDEF0123456\n \
        0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n    \
        ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:d oos:0\n \
        1: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----\n    ns:0 ep:1 wo:f oos:0\n \
        2: cs:Unconfigured\n10: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent A r---n-\n";
    const OF_9: &str = "version: 9.1.16 (api:2/proto:110-121)\nTransports (api:18): tcp\n";
    const SHOWN: &str = "0: protocol=C disk-barrier=no disk-flushes=yes disk-drain=yes md-flushes=no\n\
        1: disk-barrier=no disk-flushes=no disk-drain=no md-flushes=yes\n2:\n10: protocol=C protocol=A\n";

    fn asking() -> Question {
        Question::Run(Tool::Drbdsetup, SHOW.map(str::to_owned).to_vec())
    }

    fn collect(host: &Fake, without_programs: bool) -> FactSet {
        let mut facts = FactSet::default();
        for name in ["drbd0", "drbd1", "drbd2", "drbd3", "drbd10"] {
            facts.know(
                &Subject::device(name),
                &device::KIND,
                DeviceKind::Drbd,
                Source::file("x"),
            );
        }
        facts.know(
            &Subject::device("sda"),
            &device::KIND,
            DeviceKind::Disk,
            Source::file("x"),
        );
        run(
            host,
            &Request {
                without_programs,
                ..Request::default()
            },
            &mut facts,
        );
        facts
    }

    /// A fact of each device in turn; `?` where it is unknown.
    fn all<T: crate::facts::FactValue + ToString>(facts: &FactSet, key: &Key<T>) -> String {
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
    fn the_kernel_says_what_is_in_force_and_drbdsetup_the_rest() {
        let both = collect(
            &Fake::default().file(PROC, TABLE).answer(asking(), SHOWN),
            false,
        );
        assert_eq!(all(&both, &device::DRBD_PROTOCOL), "C ? ? ? A");
        assert_eq!(all(&both, &device::DRBD_ORDERING), "drain flush ? ? ?");
        assert_eq!(all(&both, &device::DRBD_MD_FLUSHES), "false true ? ? ?");
        let of_9 = collect(
            &Fake::default().file(PROC, OF_9).answer(asking(), SHOWN),
            false,
        );
        assert_eq!(
            all(&of_9, &device::DRBD_PROTOCOL),
            "C ? ? ? A",
            "the weakest of several"
        );
        assert_eq!(all(&of_9, &device::DRBD_ORDERING), "flush none ? ? ?");
        let old = collect(&Fake::default().file(PROC, TABLE), false);
        assert_eq!(all(&old, &device::DRBD_ORDERING), "drain flush ? ? ?");
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
    fn without_programs_or_devices_none_is_run() {
        let host = Fake::default().file(PROC, TABLE).answer(asking(), SHOWN);
        let facts = collect(&host, true);
        assert_eq!(all(&facts, &device::DRBD_PROTOCOL), "C ? ? ? A");
        let why = facts.get(&Subject::device("drbd0"), &device::DRBD_MD_FLUSHES);
        assert!(
            matches!(
                why,
                Reading::Unknown {
                    why: Why::NotCollected,
                    ..
                }
            ),
            "{why:?}"
        );
        assert!(!host.asked().contains(&asking()));
        let host = Fake::default();
        run(&host, &Request::default(), &mut FactSet::default());
        assert!(host.asked().is_empty());
    }

    #[test]
    fn the_first_method_that_is_allowed_is_used() {
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
                ordering(allowed).map(DrbdOrdering::word),
                expect,
                "{allowed:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm_and_a_bad_line_costs_itself(bad: Vec<u8>) {
            let bad = bad.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect::<Vec<_>>();
            // A line below a device is its own, so this one stands below a device that has had it.
            let table = [TABLE.as_bytes(), b" 11: cs:Unconfigured\nwo:f\n", &bad, b"\n 12: cs:Unconfigured\n"].concat();
            let (clean, noisy) = (parse_proc(TABLE.as_bytes()), parse_proc(&table));
            prop_assume!(!bad.windows(5).any(|part| part == b": cs:"));
            prop_assert!(clean.iter().all(|(minor, said)| noisy.get(minor) == Some(said)));
            prop_assert!(noisy.contains_key(&12));
            let shown = parse_show(&[&bad, b"\n".as_slice(), SHOWN.as_bytes()].concat());
            prop_assert!(parse_show(SHOWN.as_bytes()).keys().all(|minor| shown.contains_key(minor)));
        }
    }
}
