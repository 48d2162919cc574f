//! DRBD: when a device reports a write as done, from /proc/drbd of DRBD 8.4, the version in the kernel
//! (drivers/block/drbd/drbd_proc.c).
//!
//! The lower device is among the `slaves` that the topology reads. DRBD 9 prints only its version there, and a device
//! without a connection has no protocol; both are unknown.

use std::collections::BTreeMap;
use std::path::Path;

use super::node::Node;
use crate::collect::refusal::refused;
use crate::facts::catalog::device::{self, DrbdProtocol};
use crate::facts::{Choice, FactSet, Reading, Remedy, Source, Why};
use crate::host::Host;

const PROC: &str = "/proc/drbd";

/// Reads protocols; the table is read once for all devices.
#[derive(Default)]
pub struct Drbd {
    table: Option<Reading<BTreeMap<u32, Option<DrbdProtocol>>>>,
}

impl Drbd {
    /// Records the protocol of a device.
    pub fn describe(&mut self, host: &dyn Host, node: &Node, facts: &mut FactSet) {
        let table = self.table.get_or_insert_with(|| match host.read(Path::new(PROC)) {
            Ok(text) => Reading::known(parse(&text), Source::file(PROC)),
            Err(miss) => refused(&miss, PROC),
        });
        let minor = node.name.to_str().and_then(|name| name.strip_prefix("drbd")?.parse::<u32>().ok());
        let help = || {
            Remedy::Do(
                "read it yourself as root: drbdsetup show --show-defaults (lines protocol and disk-flushes)"
                    .to_owned(),
            )
        };
        let reading = match (&*table, minor) {
            (Reading::Known { value, source }, Some(minor)) => match value.get(&minor) {
                Some(Some(protocol)) => Reading::known(*protocol, source.clone()),
                Some(None) => {
                    Reading::unknown(Why::Ambiguous, format!("{PROC} shows it connected to no peer"))
                        .or_try(help())
                }
                None => Reading::unknown(
                    Why::Absent,
                    format!("{PROC} does not list it, as that of DRBD 9 never does"),
                )
                .or_try(help()),
            },
            (Reading::Known { .. }, None) => Reading::unknown(Why::Malformed, "its name holds no number"),
            (Reading::Unknown { why, detail, .. }, _) => {
                Reading::unknown(*why, detail.clone()).or_try(help())
            }
        };
        facts.put(&node.subject, &device::DRBD_PROTOCOL, reading);
    }
}

/// Protocols by minor number. A line is ` 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----`.
fn parse(text: &[u8]) -> BTreeMap<u32, Option<DrbdProtocol>> {
    let line = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok()?;
        let (minor, rest) = line.trim_start().split_once(": cs:")?;
        let minor = minor.parse().ok()?;
        let mut words = rest.split_ascii_whitespace().skip_while(|word| !word.starts_with("ds:")).skip(1);
        Some((minor, words.next().and_then(DrbdProtocol::from_word)))
    };
    text.split(|b| *b == b'\n').filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;

    const TABLE: &str = "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 0123456789ABCDEF0123456\n \
        0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n    \
        ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0\n \
        1: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----\n \
        2: cs:Unconfigured\n10: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent A r---n-\n";

    fn protocol(table: &str, name: &str) -> Option<&'static str> {
        let mut facts = FactSet::default();
        let node = Node::new(name, "drbd");
        Drbd::default().describe(&Fake::default().file(PROC, table), &node, &mut facts);
        facts.value(&node.subject, &device::DRBD_PROTOCOL).map(DrbdProtocol::word)
    }

    #[test]
    fn the_letter_behind_the_states_is_the_protocol() {
        for (name, expect) in
            [("drbd0", Some("C")), ("drbd1", None), ("drbd2", None), ("drbd10", Some("A")), ("drbd3", None)]
        {
            assert_eq!(protocol(TABLE, name), expect, "{name}");
        }
        assert_eq!(
            protocol("version: 9.1.16 (api:2/proto:110-121)\nTransports (api:18): tcp\n", "drbd0"),
            None
        );
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm_and_a_bad_line_costs_itself(bad: Vec<u8>) {
            let line = [&bad.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect::<Vec<_>>()[..], b"\n"].concat();
            let mut table = parse(&[TABLE.as_bytes(), &line].concat());
            let clean = parse(TABLE.as_bytes());
            table.retain(|minor, _| clean.contains_key(minor));
            prop_assert_eq!(table.keys().collect::<Vec<_>>(), clean.keys().collect::<Vec<_>>());
        }
    }
}
