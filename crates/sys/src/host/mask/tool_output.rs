//! Identities in programs' output about hardware: serial numbers, world-wide names and addresses
//! after their keys.
//!
//! Keys are recognised in JSON (`"Serial Number" : "…"`) and in text (`Serial Number : …`),
//! whichever tool printed them. They are in lower case, with single blanks. Other forms of output
//! are ignored.

use super::{Identity, IdentityKind};
use walwise_model::text::JoinText;

/// A line for each key: `serial KEY` for a serial number, or for a name that contains one;
/// `address KEY` for an address or a world-wide name.
const KEYS: &str = include_str!("tool_output_keys.txt");

/// Prefixes of keys whose value is a disk's position followed by its serial number.
const POSITION_PREFIXES: [&str; 3] = ["segment ", "device ", "group "];

pub fn identities_after_keys(line: &[u8]) -> impl Iterator<Item = Identity<'_>> {
    let colons = line.iter().enumerate().filter(|(_, b)| **b == b':');
    colons.filter_map(|(colon, _)| {
        let key = key_before_colon(line.get(..colon)?);
        let after = line.get(colon + 1..)?;
        let is_listed = |what: &str| {
            KEYS.lines()
                .any(|line| line.strip_prefix(what) == Some(&key))
        };
        if is_listed("serial ") {
            value_after_colon(after).map(|value| (value, IdentityKind::Serial))
        } else if is_listed("address ") {
            value_after_colon(after).map(|value| (value, wwn_if_hex_else_serial(value)))
        } else {
            POSITION_PREFIXES
                .iter()
                .any(|prefix| key.starts_with(prefix))
                .then(|| serial_after_disk_position(after))?
                .map(|serial| (serial, IdentityKind::Serial))
        }
    })
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

fn value_after_colon(after: &[u8]) -> Option<&[u8]> {
    let text = after.trim_ascii();
    let value = match text.strip_prefix(b"\"") {
        Some(quoted) => quoted.get(..quoted.iter().position(|b| *b == b'"')?)?,
        None => text,
    };
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"0x").unwrap_or(value);
    looks_like_identity(value).then_some(value)
}

/// Finds the serial number at the end of a line, after a disk's position: `Present (0,0) 3LQ1WEH4`.
fn serial_after_disk_position(after: &[u8]) -> Option<&[u8]> {
    let text = after.trim_ascii_end();
    let blank = text.iter().rposition(u8::is_ascii_whitespace)?;
    let word = text.get(blank + 1..)?;
    let plain = word.iter().all(u8::is_ascii_alphanumeric);
    (plain && looks_like_identity(word)).then_some(word)
}

fn looks_like_identity(text: &[u8]) -> bool {
    text.iter().filter(|b| b.is_ascii_alphanumeric()).count() >= 4
        && text.iter().any(u8::is_ascii_digit)
}

/// `Wwn` only for hexadecimal digits; any other text counts as a serial.
fn wwn_if_hex_else_serial(text: &[u8]) -> IdentityKind {
    if text.len() >= 8 && text.iter().all(u8::is_ascii_hexdigit) {
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
        line.lines()
            .flat_map(|line| identities_after_keys(line.as_bytes()))
            .map(|(part, _)| str::from_utf8(part).unwrap())
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

    fn serial_keys() -> Vec<&'static str> {
        KEYS.lines()
            .filter_map(|line| line.strip_prefix("serial "))
            .collect()
    }

    proptest! {
        #[test]
        fn identities_are_parts_of_the_line(before: Vec<u8>, key in prop::sample::select(serial_keys()), value in "[ -~]{0,20}") {
            let line = [before, format!("\"{key}\" : \"{value}\" {key}:{value}").into_bytes()].concat();
            for (part, _) in identities_after_keys(&line) {
                prop_assert_eq!(&line[super::super::text_parts::range_in(&line, part)], part);
            }
        }
    }
}
