//! The output of `drbdsetup show --show-defaults`, reduced to one line per device. The line has the
//! minor number, the protocols of the peers, and the options that decide about flushes
//! (drbdsetup(8) and drbd.conf(5) of DRBD 8.4 and 9).
//!
//! Shared secrets, addresses, and names of hosts, resources and disks are dropped: only listed
//! words and numbers are kept. A resource whose end is missing yields no lines, because the missing
//! part may hold other options.

use std::fmt::Write as _;

/// Options of a disk that are kept; each is `yes` or `no`.
const OPTIONS: [&str; 4] = ["disk-barrier", "disk-flushes", "disk-drain", "md-flushes"];

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
    let text = without_quoted_text_and_comments(&String::from_utf8_lossy(text));
    let mut out = String::new();
    // The first words of the open sections.
    let mut open: Vec<&str> = Vec::new();
    let mut resource = DrbdResource::default();
    for part in text.split_inclusive(['{', '}', ';']) {
        let words = part.trim_end_matches(['{', '}', ';']);
        let statement: Vec<&str> = words.split_ascii_whitespace().collect();
        if part.ends_with('{') {
            open.push(statement.first().copied().unwrap_or_default());
            if open == ["resource", "_this_host", "volume"] {
                resource.volumes.push(DrbdVolume::default());
            }
        } else if part.ends_with('}') {
            open.pop();
            if open.is_empty() {
                std::mem::take(&mut resource).write_volume_lines(&mut out);
            }
        } else if part.ends_with(';') {
            resource.keep_statement(&open, &statement);
        }
    }
    out.into_bytes()
}

impl<'t> DrbdResource<'t> {
    fn keep_statement(&mut self, open: &[&str], statement: &[&'t str]) {
        match (open, statement) {
            (
                ["resource", "net"] | ["resource", "connection", "net"],
                ["protocol", protocol @ ("A" | "B" | "C")],
            ) if !self.protocols.contains(protocol) => self.protocols.push(protocol),
            (["resource", "_this_host", "volume"], ["device", "minor", number]) => {
                if let Some(volume) = self.volumes.last_mut() {
                    volume.minor = number.parse().ok();
                }
            }
            (["resource", "_this_host", "volume", "disk"], [name, value @ ("yes" | "no")]) => {
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

/// A quoted word, which can hold anything, becomes an empty one; a comment ends at the end of its
/// line.
fn without_quoted_text_and_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '#']) {
        let (before, marked) = rest.split_at(at);
        out.push_str(before);
        let inner = marked.get(1..).unwrap_or_default();
        let behind = if marked.starts_with('#') {
            inner.find('\n').and_then(|end| inner.get(end..))
        } else {
            out.push_str(" \"\" ");
            end_of_quote(inner).and_then(|end| inner.get(end + 1..))
        };
        rest = behind.unwrap_or_default();
    }
    out + rest
}

/// Finds the quote that ends a word. A quote after a backslash is part of the word.
fn end_of_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
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
