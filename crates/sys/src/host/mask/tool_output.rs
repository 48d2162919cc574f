//! Identities in programs' output about hardware: serial numbers, world-wide names and addresses
//! after their keys.
//!
//! Keys are recognised in JSON (`"Serial Number" : "…"`) and in text (`Serial Number : …`),
//! whichever tool printed them; each tool's row ([`crate::host::tool`]) lists its keys. Other forms
//! of output are ignored.

use std::ops::Range;

use super::IdentityKind;
use crate::host::Tool;
use crate::host::tool::IdentifierLabels;
use walwise_model::text::JoinText;

/// The keys of all programs, because one program's row may lack a key that another row has.
fn identity_keys_of_all_tools(
    of: fn(&IdentifierLabels) -> &'static [&'static str],
) -> impl Iterator<Item = &'static str> {
    Tool::FIXED
        .iter()
        .flat_map(move |tool| of(&tool.spec().identities))
        .copied()
}

pub fn identity_ranges_after_keys(answer: &[u8]) -> Vec<(Range<usize>, IdentityKind)> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in answer.split(|b| *b == b'\n') {
        places.extend(
            line_identity_ranges(line)
                .into_iter()
                .map(|(range, kind)| (range.start + start..range.end + start, kind)),
        );
        start += line.len() + 1;
    }
    places
}

fn line_identity_ranges(line: &[u8]) -> Vec<(Range<usize>, IdentityKind)> {
    let mut places = Vec::new();
    for colon in line
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b':')
        .map(|(at, _)| at)
    {
        let (before, after) = line.split_at(colon);
        let key = key_before_colon(before);
        let kind = if identity_keys_of_all_tools(|keys| keys.serials).any(|serial| serial == key) {
            IdentityKind::Serial
        } else if identity_keys_of_all_tools(|keys| keys.names).any(|name| name == key) {
            IdentityKind::Wwn
        } else if identity_keys_of_all_tools(|keys| keys.members)
            .any(|member| key.starts_with(member))
        {
            places.extend(serial_after_disk_position(after, colon));
            continue;
        } else {
            continue;
        };
        places.extend(
            identity_value_after_colon(after, colon)
                .map(|(range, text)| (range, wwn_if_hex_else_serial(kind, text))),
        );
    }
    places
}

fn key_before_colon(before: &[u8]) -> String {
    let text = String::from_utf8_lossy(before);
    let text = text.trim();
    let quoted = text
        .strip_suffix('"')
        .map(|text| text.rsplit('"').next().unwrap_or_default());
    let unquoted = if text.contains(':') { "" } else { text };
    quoted
        .unwrap_or(unquoted)
        .split_whitespace()
        .join_with(" ")
        .to_ascii_lowercase()
}

fn identity_value_after_colon(after: &[u8], colon: usize) -> Option<(Range<usize>, &[u8])> {
    let rest = after.get(1..)?;
    let is_ink = |b: &u8| !b.is_ascii_whitespace();
    let skipped = rest.iter().position(is_ink)?;
    let mut start = skipped;
    let mut end = rest.len();
    if rest.get(start) == Some(&b'"') {
        start += 1;
        end = start + rest.get(start..)?.iter().position(|b| *b == b'"')?;
    }
    let text = rest.get(start..end)?;
    let (first, last) = (
        text.iter().position(is_ink)?,
        text.iter().rposition(is_ink)?,
    );
    let text = text.get(first..=last)?;
    let hexadecimal = usize::from(text.starts_with(b"0x")) * 2;
    let text = text.get(hexadecimal..)?;
    let from = colon + 1 + start + first + hexadecimal;
    looks_like_identity(text).then_some((from..from + text.len(), text))
}

/// Finds the serial number at the end of a line, after a disk's position: `Present (0,0) 3LQ1WEH4`.
fn serial_after_disk_position(after: &[u8], colon: usize) -> Option<(Range<usize>, IdentityKind)> {
    let text = after.trim_ascii_end();
    let start = text.iter().rposition(u8::is_ascii_whitespace)? + 1;
    let word = text.get(start..)?;
    let plain = word.iter().all(u8::is_ascii_alphanumeric);
    (plain && looks_like_identity(word))
        .then_some((colon + start..colon + text.len(), IdentityKind::Serial))
}

fn looks_like_identity(text: &[u8]) -> bool {
    text.iter().filter(|b| b.is_ascii_alphanumeric()).count() >= 4
        && text.iter().any(u8::is_ascii_digit)
}

/// `Wwn` only for hexadecimal digits; any other text counts as a serial.
fn wwn_if_hex_else_serial(kind: IdentityKind, text: &[u8]) -> IdentityKind {
    let is_name = text.len() >= 8 && text.iter().all(u8::is_ascii_hexdigit);
    if kind == IdentityKind::Wwn && is_name {
        IdentityKind::Wwn
    } else {
        IdentityKind::Serial
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn identities_in(line: &str) -> Vec<&str> {
        identity_ranges_after_keys(line.as_bytes())
            .into_iter()
            .map(|(range, _)| &line[range])
            .collect()
    }

    #[test]
    fn identities_are_found_after_their_keys() {
        assert_eq!(
            identities_in(r#"  "Serial Number" : " SK74512345 ","#),
            ["SK74512345"]
        );
        assert_eq!(
            identities_in(r#"{"a":1,"SN":"PHYF8123","b":"x","WWN":"0x5000c5000707aa3c"}"#),
            ["PHYF8123", "5000c5000707aa3c"]
        );
        assert_eq!(
            identities_in("x\n   Serial  number        : 3LQ1WEH4  \ny"),
            ["3LQ1WEH4"]
        );
        assert_eq!(
            identities_in(
                "   Segment 1 : Present (Controller:1,Connector:0,Device:1)     Z1P3495C"
            ),
            ["Z1P3495C"]
        );
        // The owner of a MegaRAID 9600 can choose this serial number in the firmware.
        assert_eq!(
            identities_in(r#""Custom Serial Number" : "RACK7-4900042     ","#),
            ["RACK7-4900042"]
        );
        for none in [
            "   Serial number : *******",
            r#""Serial Number" : "N/A""#,
            "   Segment 0 : Inconsistent",
            "   Firmware : 5.2-0 (15421)",
            r#""PCI Address" : "00:02:00:00""#,
            "Serial Number",
            r#""SN" : "unfinished 123"#,
            "",
        ] {
            assert_eq!(identities_in(none), Vec::<&str>::new(), "{none}");
        }
    }

    proptest! {
        #[test]
        fn identity_ranges_lie_within_the_answer(answer: Vec<u8>, key in prop::sample::select(identity_keys_of_all_tools(|keys| keys.serials).collect::<Vec<_>>()), value in "[ -~]{0,20}") {
            let lines = [answer, format!("\n\"{key}\" : \"{value}\"\n{key}:{value}").into_bytes()].concat();
            for (range, _) in identity_ranges_after_keys(&lines) {
                prop_assert!(range.start < range.end && range.end <= lines.len());
            }
        }
    }
}
