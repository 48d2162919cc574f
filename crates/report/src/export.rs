//! Text to paste: fstab lines and udev rules.
//!
//! Settings without change are omitted. Lines are comments if a change could lose data, or if the
//! report is from a capture, which masks disk identities.

mod boot_mounts;
pub mod fstab;
pub mod udev;

use super::{Report, Step};
use walwise_judge::rules::Risk;
use walwise_model::escape::comment::{self, comment_lines};

/// The walwise version, host and time of the report, safe for a comment.
pub(crate) fn report_origin_text(report: &Report) -> String {
    comment::replace_unsafe_chars(&format!(
        "walwise {} on {}, {}",
        report.tool.version, report.host.name, report.when
    ))
}

fn file_header(report: &Report, what: &str, how: &[&str]) -> String {
    let first = format!(
        "{}: {what}, for review; nothing was changed.",
        report_origin_text(report)
    );
    let capture = (!report.host.live).then_some(
        "Generated from a capture, which masks disk identities: edit each line before you paste it.",
    );
    comment_lines(
        [&*first]
            .into_iter()
            .chain(how.iter().copied())
            .chain(capture),
    )
}

pub(crate) fn section_heading_comment(title: &str) -> String {
    format!("\n# ==== {} ====\n", comment::replace_unsafe_chars(title))
}

fn step_reason_comments(steps: &[&Step]) -> String {
    let one = |step: &&Step| format!("{}: {} ({})", step.level, step.title, step.rules.join(", "));
    comment_lines(steps.iter().map(one))
}

fn pasteable_or_commented_lines<S: AsRef<str>>(
    report: &Report,
    steps: &[&Step],
    lines: &[S],
) -> String {
    let mut risks = steps.iter().map(|step| step.advice.risk);
    if risks.any(|risk| risk == Risk::DataLossIfWrong) {
        let warning = "!!!! COMMITTED DATA MAY BE LOST if a fact is wrong !!!!";
        return comment_lines([warning]) + &comment_lines(lines);
    }
    if !report.host.live {
        return comment_lines(lines);
    }
    let lines = lines.iter().map(AsRef::as_ref);
    lines
        .map(|line| comment::replace_unsafe_chars(line) + "\n")
        .collect()
}

fn nothing_to_change_text<S: AsRef<str>>(why: &[S]) -> String {
    comment_lines(["Nothing to change:"]) + &comment_lines(why)
}

#[cfg(test)]
mod fstab_fixtures {

    use std::collections::BTreeMap;

    use crate::{Report, sample_reports};
    use walwise_judge::rules::{Advice, Change, Level};
    use walwise_model::facts::catalog::{boot, mount};
    use walwise_model::facts::{FactSet, Source, Subject};
    use walwise_model::text::display_safe;

    #[derive(Clone, Debug)]
    pub struct BootLineFields {
        pub path: &'static str,
        pub source: Vec<u8>,
        pub point: Vec<u8>,
        pub fstype: &'static str,
        pub options: Vec<Vec<u8>>,
        pub numbers: &'static str,
        pub whole: bool,
    }

    impl Default for BootLineFields {
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

    pub fn words_to_bytes(list: &[&str]) -> Vec<Vec<u8>> {
        list.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    pub fn change_to_add(list: &[&str]) -> Change {
        Change::Add(list.iter().map(|&word| word.to_owned()).collect())
    }

    pub fn change_to_remove(list: &[&str]) -> Change {
        Change::Remove(list.iter().map(|&word| word.to_owned()).collect())
    }

    pub fn boot_line_report(
        written: &BootLineFields,
        of_line: Option<Change>,
        of_mount: Option<Change>,
    ) -> Report {
        let point = display_safe(&written.point);
        let (place, fs, line) = (
            Subject::target("/srv/a"),
            Subject::mount(&point),
            Subject::boot(&point),
        );
        let origin = || Source::from_file_line(written.path, 9);
        let mut facts = FactSet::default();
        facts.add_subject(&place);
        facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), origin());
        facts.insert_known(
            &fs,
            &mount::OPTIONS,
            sample_reports::split_at_commas("rw,relatime"),
            origin(),
        );
        facts.insert_known(
            &fs,
            &mount::SUPER_OPTIONS,
            sample_reports::split_at_commas("rw,nobarrier,discard"),
            origin(),
        );
        facts.insert_known(
            &line,
            &boot::SOURCE,
            display_safe(&written.source),
            origin(),
        );
        facts.insert_known(&line, &boot::POINT, point, origin());
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
        facts.add_layer_below(&place, &fs);
        facts.set_fact_link(&place, &fs);
        facts.set_fact_link(&line, &fs);
        let finding = |rule: &str, subject: &Subject, setting: &str, change| {
            let advice = Advice {
                ..sample_reports::advice_without_current_value(setting, change)
            };
            sample_reports::applying_finding(rule, subject, Level::Warning, vec![advice])
        };
        let of_line = of_line.map(|change| finding("of.line", &line, "boot.options", change));
        let of_mount = of_mount.map(|change| finding("of.mount", &fs, "mount.options", change));
        sample_reports::build_sample_report(
            &facts,
            Vec::new(),
            of_line.into_iter().chain(of_mount).collect(),
            BTreeMap::new(),
        )
    }

    pub fn uncommented_lines(text: &str) -> Vec<&str> {
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect()
    }

    pub fn any_name_bytes() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
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
