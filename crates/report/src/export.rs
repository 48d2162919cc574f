//! Text to paste: fstab lines, udev rules. Common parts: header, reasons as comments, and the lock.
//!
//! They show the plan's changes; settings without change are omitted. All text from a capture is a
//! comment, because a capture masks disk identities. So are changes that could lose data.

mod boot_mounts;
pub mod fstab;
pub mod udev;

use super::{Report, Step};
use walwise_judge::rules::Risk;
use walwise_model::escape::comment;

/// The header: tool, host and time, the kind of document, and instructions.
fn header(report: &Report, what: &str, how: &[&str]) -> String {
    let mut lines = vec![format!(
        "walwise {} on {}, {}: {what}; for review, nothing was changed.",
        report.tool.version, report.host.name, report.when
    )];
    lines.extend(how.iter().map(|&line| line.to_owned()));
    if !report.host.live {
        lines.push(
            "Made from a capture, which masks disk identities: nothing here can be pasted unchanged."
                .to_owned(),
        );
    }
    comments(&lines)
}

fn comments<S: AsRef<str>>(lines: &[S]) -> String {
    comment::lines(lines)
}

/// The heading of one part.
fn part_heading(title: &str) -> String {
    format!("\n# ==== {} ====\n", comment::escape_line(title))
}

/// The reasons of a change: level, title and rules of each step.
fn reasons(steps: &[&Step]) -> String {
    let one = |step: &&Step| {
        format!(
            "{}: {} ({})",
            step.level.as_str(),
            step.title,
            step.rules.join(", ")
        )
    };
    comments(&steps.iter().map(one).collect::<Vec<_>>())
}

/// Lines to paste, or comments if the report is a capture or a step could lose data.
fn paste_lines<S: AsRef<str>>(report: &Report, steps: &[&Step], lines: &[S]) -> String {
    let loses = steps
        .iter()
        .any(|step| step.advice.risk == Risk::DataLossIfWrong);
    if loses {
        let warning = "!!!! COMMITTED DATA MAY BE LOST if a fact is wrong !!!!";
        return comments(&[warning]) + &comments(lines);
    }
    if !report.host.live {
        return comments(lines);
    }
    lines
        .iter()
        .flat_map(|line| [comment::escape_line(line.as_ref()), "\n".to_owned()])
        .collect()
}

fn nothing_to_change(why: &[String]) -> String {
    comments(&["Nothing to change:"]) + &comments(why)
}

#[cfg(test)]
mod testing {
    //! Reports with one arbitrary boot line.

    use std::collections::BTreeMap;

    use crate::{Report, sample};
    use walwise_judge::rules::{Advice, Change, Level};
    use walwise_model::facts::catalog::{boot, mount};
    use walwise_model::facts::{FactSet, Source, Subject};
    use walwise_model::text::display_safe;

    /// The text of a line or a unit.
    #[derive(Clone, Debug)]
    pub struct Written {
        pub path: &'static str,
        pub source: Vec<u8>,
        pub point: Vec<u8>,
        pub fstype: &'static str,
        pub options: Vec<Vec<u8>>,
        pub numbers: &'static str,
        pub whole: bool,
    }

    impl Default for Written {
        fn default() -> Self {
            Self {
                path: "/etc/fstab",
                source: b"UUID=1-2".to_vec(),
                point: b"/srv".to_vec(),
                fstype: "ext4",
                options: vec![b"nobarrier".to_vec(), b"x-mine=1".to_vec()],
                numbers: "0 2",
                whole: true,
            }
        }
    }

    pub fn to_bytes(list: &[&str]) -> Vec<Vec<u8>> {
        list.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    pub fn add(list: &[&str]) -> Change {
        Change::Add(list.iter().map(|&word| word.to_owned()).collect())
    }

    pub fn remove(list: &[&str]) -> Change {
        Change::Remove(list.iter().map(|&word| word.to_owned()).collect())
    }

    /// A report of one ext4 target with this boot line, and with these changes advised to the line
    /// and to the mount.
    pub fn report(written: &Written, of_line: Option<Change>, of_mount: Option<Change>) -> Report {
        let point = display_safe(&written.point);
        let (place, fs, line) = (
            Subject::target("/srv/a"),
            Subject::mount(&point),
            Subject::boot(&point),
        );
        let origin = || Source::line(written.path, 9);
        let mut facts = FactSet::default();
        facts.add_subject(&place);
        facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), origin());
        facts.insert_known(
            &fs,
            &mount::OPTIONS,
            sample::word_list("rw,relatime"),
            origin(),
        );
        facts.insert_known(
            &fs,
            &mount::SUPER_OPTIONS,
            sample::word_list("rw,nobarrier,discard"),
            origin(),
        );
        facts.insert_known(
            &line,
            &boot::SOURCE,
            display_safe(&written.source),
            origin(),
        );
        facts.insert_known(&line, &boot::POINT, point, origin());
        // The type `auto` is known from the present mount.
        let known = if written.fstype == "auto" {
            "ext4"
        } else {
            written.fstype
        };
        facts.insert_known(&line, &boot::FSTYPE, known.to_owned(), origin());
        facts.insert_known(
            &line,
            &boot::WRITTEN_TYPE,
            written.fstype.to_owned(),
            origin(),
        );
        facts.insert_known(
            &line,
            &boot::OPTIONS,
            written
                .options
                .iter()
                .map(|word| display_safe(word))
                .collect(),
            origin(),
        );
        facts.insert_known(
            &line,
            &boot::DUMP_AND_PASS,
            written.numbers.to_owned(),
            origin(),
        );
        facts.insert_known(&line, &boot::WHOLE, written.whole, origin());
        facts.insert_known(&line, &boot::WHERE, origin().to_string(), origin());
        facts.add_edge(&place, &fs);
        facts.link(&place, &fs);
        facts.link(&line, &fs);
        let finding = |rule: &str, subject: &Subject, setting: &str, change| {
            let advice = Advice {
                ..sample::advice(setting, change)
            };
            sample::finding(rule, subject, Level::Warning, vec![advice])
        };
        let of_line = of_line.map(|change| finding("of.line", &line, "boot.options", change));
        let of_mount = of_mount.map(|change| finding("of.mount", &fs, "mount.options", change));
        sample::report(
            &facts,
            Vec::new(),
            of_line.into_iter().chain(of_mount).collect(),
            BTreeMap::new(),
        )
    }

    /// The lines that could be pasted unchanged.
    pub fn active(text: &str) -> Vec<&str> {
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect()
    }

    /// Hostile and ordinary names.
    pub fn name() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
        use proptest::prelude::*;
        let worst = prop::sample::select(
            b" \t\n\\\"'%#$`*?[]{}()<>|&;!~=,:.-_/aZ0\r\x1b\x7f\xff\xc3\xa9".to_vec(),
        );
        prop_oneof![
            prop::collection::vec(worst, 1..12),
            prop::collection::vec(1u8..=255, 1..12),
            "[a-z]{1,8}".prop_map(String::into_bytes)
        ]
    }
}
