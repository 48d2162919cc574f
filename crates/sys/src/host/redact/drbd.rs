//! `drbdsetup show --show-defaults`, reduced to one line per device: minor number, protocols of its
//! peers, and the options that decide about flushes (drbdsetup(8) and drbd.conf(5) of DRBD 8.4 and
//! 9).
//!
//! Shared secrets, addresses, and names of hosts, resources and disks are dropped: only listed
//! words and numbers are kept. A resource whose end is missing yields no lines, because the missing
//! part may hold other options.

use std::fmt::Write as _;

/// Options of a disk that are kept; each is `yes` or `no`.
const OPTIONS: [&str; 4] = ["disk-barrier", "disk-flushes", "disk-drain", "md-flushes"];

#[derive(Clone, Copy)]
enum DrbdSectionKind {
    Resource,
    ThisHost,
    Connection,
    Volume,
    Disk,
    Net,
    Other,
}

#[derive(Default)]
struct DrbdResource<'t> {
    protocols: Vec<&'t str>,
    volumes: Vec<DrbdVolume<'t>>,
}

#[derive(Default)]
struct DrbdVolume<'t> {
    minor: Option<u32>,
    options: Vec<(&'static str, &'t str)>,
}

/// Reduces the output to lines `MINOR: NAME=VALUE …`. DRBD 8.4 prints one connection before the
/// devices, DRBD 9 prints several connections after them.
pub fn redact_show_output(text: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    let mut open: Vec<DrbdSectionKind> = Vec::new();
    let mut statement: Vec<&str> = Vec::new();
    let mut resource = DrbdResource::default();
    for token in tokens(text) {
        match token {
            Token::Word(word) => statement.push(word),
            Token::End => {
                resource.keep_statement(&open, &statement);
                statement.clear();
            }
            Token::Open => {
                open.push(section_kind(statement.first().copied().unwrap_or_default()));
                if let [
                    DrbdSectionKind::Resource,
                    DrbdSectionKind::ThisHost,
                    DrbdSectionKind::Volume,
                ] = open.as_slice()
                {
                    resource.volumes.push(DrbdVolume::default());
                }
                statement.clear();
            }
            Token::Close => {
                open.pop();
                if open.is_empty() {
                    std::mem::take(&mut resource).write_volume_lines(&mut out);
                }
                statement.clear();
            }
        }
    }
    out.into_bytes()
}

fn section_kind(word: &str) -> DrbdSectionKind {
    match word {
        "resource" => DrbdSectionKind::Resource,
        "_this_host" => DrbdSectionKind::ThisHost,
        "connection" => DrbdSectionKind::Connection,
        "volume" => DrbdSectionKind::Volume,
        "disk" => DrbdSectionKind::Disk,
        "net" => DrbdSectionKind::Net,
        _ => DrbdSectionKind::Other,
    }
}

impl<'t> DrbdResource<'t> {
    fn keep_statement(&mut self, open: &[DrbdSectionKind], statement: &[&'t str]) {
        match (open, statement) {
            (
                [DrbdSectionKind::Resource, DrbdSectionKind::Net]
                | [
                    DrbdSectionKind::Resource,
                    DrbdSectionKind::Connection,
                    DrbdSectionKind::Net,
                ],
                ["protocol", protocol @ ("A" | "B" | "C")],
            ) if !self.protocols.contains(protocol) => self.protocols.push(protocol),
            (
                [
                    DrbdSectionKind::Resource,
                    DrbdSectionKind::ThisHost,
                    DrbdSectionKind::Volume,
                ],
                ["device", "minor", number],
            ) => {
                if let Some(volume) = self.volumes.last_mut() {
                    volume.minor = number.parse().ok();
                }
            }
            (
                [
                    DrbdSectionKind::Resource,
                    DrbdSectionKind::ThisHost,
                    DrbdSectionKind::Volume,
                    DrbdSectionKind::Disk,
                ],
                [name, value @ ("yes" | "no")],
            ) => {
                let known = OPTIONS.into_iter().find(|option| option == name);
                if let (Some(name), Some(volume)) = (known, self.volumes.last_mut()) {
                    volume.options.push((name, value));
                }
            }
            _ => {}
        }
    }

    fn write_volume_lines(self, out: &mut String) {
        for volume in self.volumes {
            let Some(minor) = volume.minor else { continue };
            let _ = write!(out, "{minor}:");
            for protocol in &self.protocols {
                let _ = write!(out, " protocol={protocol}");
            }
            for (name, value) in volume.options {
                let _ = write!(out, " {name}={value}");
            }
            out.push('\n');
        }
    }
}

enum Token<'t> {
    Word(&'t str),
    End,
    Open,
    Close,
}

/// Splits a configuration into words, braces and ends of statements. A quoted word, which can hold
/// anything, becomes an empty word; a comment ends at the end of its line.
fn tokens(text: &[u8]) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (first, after) = rest.split_first()?;
            rest = after;
            match first {
                b'{' => return Some(Token::Open),
                b'}' => return Some(Token::Close),
                b';' => return Some(Token::End),
                b'#' => rest = text_after_position(rest, rest.iter().position(|b| *b == b'\n')),
                b'"' => {
                    rest = text_after_position(rest, end_of_quote(rest));
                    return Some(Token::Word(""));
                }
                space if space.is_ascii_whitespace() => {}
                _ => {
                    let is_end =
                        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'{' | b'}' | b';' | b'"');
                    let length = after.iter().position(is_end).unwrap_or(after.len()) + 1;
                    let whole = text.get(text.len() - after.len() - 1..).unwrap_or_default();
                    rest = whole.get(length..).unwrap_or_default();
                    let word = whole.get(..length).unwrap_or_default();
                    return Some(Token::Word(std::str::from_utf8(word).unwrap_or_default()));
                }
            }
        }
    })
}

fn text_after_position(text: &[u8], place: Option<usize>) -> &[u8] {
    place
        .and_then(|place| text.get(place + 1..))
        .unwrap_or_default()
}

/// Finds the quote that ends a word. A quote after a backslash is part of the word.
fn end_of_quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|b| {
        let ends = *b == b'"' && !escaped;
        escaped = *b == b'\\' && !escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "Zk7hunter2";

    fn drbd_8_4_output(secret: &str) -> String {
        format!(
            "resource r0 {{\n    options {{\n    }}\n    net {{\n        protocol        \tC; # default\n        \
             cram-hmac-alg   \t\"sha1\";\n        shared-secret   \t\"{secret}\";\n        max-buffers     \t2048; # default\n    }}\n    \
             _remote_host {{\n        address\t\t\tipv4 10.0.0.2:7788;\n    }}\n    _this_host {{\n        \
             address\t\t\tipv4 10.0.0.1:7788;\n        volume 0 {{\n            device\t\t\tminor 3;\n            \
             disk\t\t\t\"/dev/vg/{secret}\";\n            meta-disk\t\t\tinternal;\n            disk {{\n                \
             size            \t0s; # bytes, default\n                disk-barrier    \tno; # default\n                \
             disk-flushes    \tno;\n                disk-drain      \tyes; # default\n                \
             md-flushes      \tyes; # default\n                al-extents      \t1237; # default\n            }}\n        }}\n        \
             volume 1 {{\n            device\t\t\tminor 4;\n        }}\n    }}\n}}\n"
        )
    }

    fn drbd_9_output(secret: &str) -> String {
        let connection = |id: u32, protocol: &str| {
            format!(
                "    connection {{\n        _peer_node_id {id};\n        path {{\n            _this_host ipv4 10.0.0.1:7789;\n            \
                 _remote_host ipv6 [fe80::1]:7789;\n        }}\n        net {{\n            protocol        \t{protocol};\n            \
                 shared-secret   \t\"{secret}\";\n            _name           \t\"{secret}\";\n        }}\n        \
                 volume 0 {{\n            disk {{\n                disk-flushes    \tyes;\n            }}\n        }}\n    }}\n"
            )
        };
        let (near, far) = (connection(1, "C"), connection(2, "A"));
        format!(
            "resource \"{secret}\" {{\n    options {{\n        quorum          \toff; # default\n    }}\n    _this_host {{\n        \
             node-id\t\t\t0;\n        volume 0 {{\n            device\t\t\tminor 1000;\n            disk\t\t\t\"/dev/vg/a\";\n            \
             meta-disk\t\t\tinternal;\n            disk {{\n                disk-barrier    \tno; # default\n                \
             disk-flushes    \tyes; # default\n                disk-drain      \tyes; # default\n                \
             md-flushes      \tno;\n            }}\n        }}\n    }}\n{near}{far}}}\n\n"
        )
    }

    const LINES_84: &str = "3: protocol=C disk-barrier=no disk-flushes=no disk-drain=yes md-flushes=yes\n4: protocol=C\n";
    const LINES_9: &str = "1000: protocol=C protocol=A disk-barrier=no disk-flushes=yes disk-drain=yes md-flushes=no\n";

    fn reduce(text: &str) -> String {
        String::from_utf8(redact_show_output(text.as_bytes())).unwrap()
    }

    #[test]
    fn minors_protocols_and_options_are_kept() {
        assert_eq!(reduce(&drbd_8_4_output(SECRET)), LINES_84);
        assert_eq!(reduce(&drbd_9_output(SECRET)), LINES_9);
        assert_eq!(
            reduce(&(drbd_8_4_output("a") + &drbd_9_output("b"))),
            format!("{LINES_84}{LINES_9}")
        );
        for none in [
            "# No currently configured DRBD found.\n",
            "",
            "0: cs:Connected\n",
            "} } }",
        ] {
            assert_eq!(reduce(none), "", "{none}");
        }
    }

    #[test]
    fn truncated_drbd_resource_is_dropped() {
        for whole in [drbd_8_4_output(SECRET), drbd_9_output(SECRET)] {
            let last = whole.rfind('}').unwrap();
            for (end, _) in whole.char_indices() {
                let lines = reduce(&whole[..end]);
                assert_eq!(lines.is_empty(), end <= last, "{end}");
            }
        }
    }

    proptest! {
        #[test]
        fn quoted_text_neither_leaks_nor_affects_output(before in "[ -~\n]{0,20}", after in "[ -~\n]{0,20}") {
            let quoted = format!("{before}{SECRET}{after}").replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(reduce(&drbd_8_4_output(&quoted)), LINES_84);
            prop_assert_eq!(reduce(&drbd_9_output(&quoted)), LINES_9);
        }

        #[test]
        fn only_listed_words_are_kept(bytes: Vec<u8>, at in 0usize..2000) {
            let whole = drbd_8_4_output(SECRET) + &drbd_9_output(SECRET);
            let (head, tail) = whole.as_bytes().split_at(at.min(whole.len()));
            for text in [bytes.clone(), [head, bytes.as_slice(), tail].concat()] {
                let lines = String::from_utf8(redact_show_output(&text)).unwrap();
                for line in lines.lines() {
                    let (minor, words) = line.split_once(':').unwrap();
                    prop_assert!(minor.parse::<u32>().is_ok(), "{line}");
                    for word in words.split_whitespace() {
                        let (name, value) = word.split_once('=').unwrap();
                        let known = OPTIONS.contains(&name) && ["yes", "no"].contains(&value);
                        prop_assert!(known || name == "protocol" && ["A", "B", "C"].contains(&value), "{line}");
                    }
                }
            }
        }
    }
}
