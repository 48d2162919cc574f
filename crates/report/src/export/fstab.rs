//! The fstab lines with the plan's mount options; other fields never change. A line that is not
//! completely known, for example because of a password, is described and never rewritten.
//!
//! A free disk gets a commented line whose placeholders cannot match a device at boot.

use super::boot_mounts::{self, BootMountOptionsEdit, BootMountOrigin};
use super::{
    comment_lines, file_header, nothing_to_change_text, pasteable_or_commented_lines,
    section_heading_comment, step_reason_comments,
};
use crate::{Plan, Report, TargetSummary, mkfs};
use walwise_model::escape::ShellCommand;
use walwise_model::escape::fstab::encode_fstab_field;
use walwise_model::facts::Key;
use walwise_model::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use walwise_model::text::decode_display_safe;

pub fn render_fstab_export(report: &Report) -> String {
    let how = [
        "In a copy of /etc/fstab, replace each line marked “now:” with the line below it, then run",
        "  findmnt --verify --tab-file COPY",
        "After you install the copy, run systemctl daemon-reload. Mounted file systems keep their options until they are remounted.",
    ];
    let lines = boot_mounts::boot_mount_edits(report);
    let mut parts: Vec<String> = lines
        .iter()
        .filter_map(|line| boot_mount_edit_text(report, line))
        .collect();
    let alone = report.targets.len() == 1;
    let disk = |disk: &TargetSummary| {
        if alone {
            new_filesystem_section(report, disk)
        } else {
            section_heading_comment(&disk.title) + &free_disk_fstab_instructions(report, disk)
        }
    };
    parts.extend(
        report
            .targets
            .iter()
            .filter(|target| target.kind.is_device())
            .map(disk),
    );
    let bare = boot_mounts::targets_not_mounted_at_boot(report);
    if parts.is_empty() && (bare.is_empty() || !lines.is_empty()) {
        parts.push(
            "\n".to_owned()
                + &nothing_to_change_text(&boot_mounts::no_change_reasons(report, &lines)),
        );
    }
    for (target, line) in bare {
        let says = "Neither /etc/fstab nor a unit in /etc/systemd/system mounts this file system at boot. Line for /etc/fstab:";
        let line = match line {
            Ok(line) => pasteable_or_commented_lines(report, &[], &[line]),
            Err(why) => comment_lines(&[format!("No fstab line: {why}.")]),
        };
        parts.push(section_heading_comment(&target.title) + &comment_lines([says]) + &line);
    }
    file_header(report, "lines for /etc/fstab", &how) + &parts.concat()
}

fn free_disk_fstab_instructions(report: &Report, target: &TargetSummary) -> String {
    comment_lines(&[
        "Free disk. To get the fstab line for its new file system, run:".to_owned(),
        format!(
            "  {}",
            ShellCommand::text_or_placeholder(mkfs::walwise_check_command_for_disk(
                report,
                &target.target,
                " --format fstab"
            ))
        ),
    ])
}

fn mkfs_instructions(report: &Report, target: &TargetSummary) -> String {
    let wanted = report
        .plan(&target.target)
        .and_then(Plan::requested_filesystem_sentence);
    let script = ShellCommand::text_or_placeholder(mkfs::walwise_check_command_for_disk(
        report,
        &target.target,
        " --format script",
    ));
    let uuid = ShellCommand::text_or_placeholder(
        ShellCommand::new("blkid -p -s UUID -o value ").append_quoted_name(target.target.name()),
    );
    comment_lines(wanted.into_iter().chain([
        format!(
            "Create the file system first ({script}). Replace EDIT-THE-UUID with the output of"
        ),
        format!("  {uuid}"),
    ]))
}

/// `None` if the line neither changes nor has a note.
fn boot_mount_edit_text(report: &Report, line: &BootMountOptionsEdit<'_>) -> Option<String> {
    let becomes = line.new_options_if_changed();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let mut out = section_heading_comment(&line.display)
        + &step_reason_comments(&line.steps)
        + &comment_lines(&line.notes);
    let Some(becomes) = becomes else {
        return Some(out);
    };
    let now = line.written_options();
    let whole = line.are_all_fields_known(report);
    match &line.place {
        BootMountOrigin::Fstab => match (
            whole,
            rewritten_fstab_line(report, line, &now),
            rewritten_fstab_line(report, line, &becomes),
        ) {
            (true, Some(now), Some(becomes)) => {
                out += &comment_lines(&[format!("now: {now}")]);
                out += &pasteable_or_commented_lines(report, &line.steps, &[becomes]);
            }
            _ => {
                out += &comment_lines(&[
                    "This line could not be read completely, so edit it by hand. In field 4:"
                        .to_owned(),
                    format!("  {}", line.describe_edits()),
                ]);
            }
        },
        BootMountOrigin::Unit(path) => {
            out += &comment_lines(&[
                format!("Edit Options= in {path}:"),
                format!("  {}", line.describe_edits()),
            ]);
        }
        BootMountOrigin::Other => {
            out += &comment_lines(&[
                "Not an fstab line: change the options in the boot loader's configuration."
                    .to_owned(),
                format!("now:     {now}"),
                format!("result:  {becomes}"),
            ]);
        }
    }
    Some(out)
}

/// `None` if a field is unknown or cannot be represented in fstab.
fn rewritten_fstab_line(
    report: &Report,
    line: &BootMountOptionsEdit<'_>,
    options: &str,
) -> Option<String> {
    let written = |text: &str| encode_fstab_field(&decode_display_safe(text));
    let field = |key: &Key<String>| report.facts.value(line.subject, key);
    let fields = [
        written(&field(&SOURCE)?)?,
        written(&field(&POINT)?)?,
        written(&field(&WRITTEN_TYPE)?)?,
        written(options)?,
        field(&DUMP_AND_PASS)?,
    ];
    Some(fields.join(" ").trim_end().to_owned())
}

fn new_filesystem_section(report: &Report, target: &TargetSummary) -> String {
    let body = match mkfs::planned_filesystem(report.steps(&target.target)) {
        Err(why) => comment_lines([format!("No fstab line: {why}.")]),
        Ok(mkfs::PlannedFilesystem {
            fstype,
            pass,
            mount,
        }) => {
            mkfs_instructions(report, target)
                + &comment_lines([
                    "and /EDIT/THE/MOUNT/POINT with the mount point, then uncomment the line."
                        .to_owned(),
                    format!("UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT {fstype} {mount} 0 {pass}"),
                ])
        }
    };
    section_heading_comment(&target.title) + &body
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;
    use crate::export::fstab_fixtures::{
        BootLineFields, any_name_bytes, boot_line_report, change_to_add, change_to_remove,
        uncommented_lines, words_to_bytes,
    };
    use crate::sample_reports;
    use walwise_judge::rules::Risk;
    use walwise_model::facts::catalog::mount;
    use walwise_model::facts::{Note, NoteKind, Reading, Scope, Source, Subject};
    use walwise_model::settings::SettingKind;

    /// Decodes a field like libmount (util-linux, lib/mangle.c): a backslash and three octal digits
    /// are one byte.
    fn unescape_field(field: &str) -> Vec<u8> {
        let bytes = field.as_bytes();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let digits = bytes
                .get(at + 1..at + 4)
                .and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits
                .filter(|_| bytes[at] == b'\\')
                .and_then(|digits| u8::from_str_radix(digits, 8).ok());
            out.push(code.unwrap_or(bytes[at]));
            at += if code.is_some() { 4 } else { 1 };
        }
        out
    }

    #[test]
    fn rewritten_line_keeps_unchanged_fields() {
        let cases = [
            (
                "UUID=1-2",
                "ext4",
                words_to_bytes(&["nobarrier", "x-mine=1"]),
                "0 2",
                "UUID=1-2 /srv ext4 x-mine=1,noatime 0 2",
            ),
            (
                "LABEL=a b",
                "auto",
                words_to_bytes(&["defaults", "nobarrier"]),
                "",
                "LABEL=a\\040b /srv auto defaults,noatime",
            ),
            (
                "/dev/md0",
                "ext4",
                words_to_bytes(&["nobarrier", "relatime", "nofail"]),
                "0",
                "/dev/md0 /srv ext4 nofail,noatime 0",
            ),
        ];
        for (source, fstype, options, numbers, expect) in cases {
            let written = BootLineFields {
                source: source.into(),
                fstype,
                options,
                numbers,
                ..BootLineFields::default()
            };
            let text = render_fstab_export(&boot_line_report(
                &written,
                Some(change_to_remove(&["nobarrier"])),
                Some(change_to_add(&["noatime"])),
            ));
            assert_eq!(uncommented_lines(&text), [expect], "{text}");
            let now = text
                .lines()
                .find(|line| line.starts_with("# now: "))
                .unwrap();
            assert!(now.contains("nobarrier") && now.ends_with(numbers), "{now}");
        }
    }

    #[test]
    fn default_option_only_replaces_another_value() {
        for (written, expected) in [("x-mine=1", None), ("commit=60", Some("commit=5"))] {
            let written = BootLineFields {
                options: words_to_bytes(&[written]),
                ..BootLineFields::default()
            };
            let mut report = boot_line_report(&written, None, Some(change_to_add(&["commit=5"])));
            let in_force = sample_reports::split_at_commas("rw,commit=60");
            report.facts.insert_known(
                &Subject::mount("/srv"),
                &mount::SUPER_OPTIONS,
                in_force,
                Source::Assumed,
            );
            let text = render_fstab_export(&report);
            let options = uncommented_lines(&text)
                .first()
                .and_then(|line| line.split(' ').nth(3));
            assert_eq!(options, expected, "{text}");
        }
    }

    #[test]
    fn correct_line_is_reported_as_ok() {
        let written = BootLineFields {
            options: words_to_bytes(&["noatime", "rw"]),
            ..BootLineFields::default()
        };
        for (of_line, of_mount) in [
            (None, None),
            (Some(change_to_remove(&["nobarrier"])), None),
            (
                Some(change_to_add(&["noatime"])),
                Some(change_to_add(&["noatime"])),
            ),
        ] {
            let text = render_fstab_export(&boot_line_report(&written, of_line, of_mount));
            assert!(
                uncommented_lines(&text).is_empty() && !text.contains("===="),
                "{text}"
            );
            assert!(
                text.contains("# Nothing to change:\n# /etc/fstab:9: OK"),
                "{text}"
            );
        }
    }

    #[test]
    fn active_option_missing_in_line_gets_note() {
        let written = BootLineFields {
            options: words_to_bytes(&["noatime"]),
            ..BootLineFields::default()
        };
        let text = render_fstab_export(&boot_line_report(
            &written,
            None,
            Some(change_to_remove(&["discard"])),
        ));
        assert!(uncommented_lines(&text).is_empty(), "{text}");
        assert!(
            text.contains("# discard is in force but not in this line"),
            "{text}"
        );
    }

    #[test]
    fn incomplete_line_gets_described_edit() {
        let written = BootLineFields {
            whole: false,
            options: words_to_bytes(&["nobarrier", "relatime"]),
            ..BootLineFields::default()
        };
        let text = render_fstab_export(&boot_line_report(
            &written,
            Some(change_to_remove(&["nobarrier"])),
            Some(change_to_add(&["noatime"])),
        ));
        assert!(uncommented_lines(&text).is_empty(), "{text}");
        assert!(
            text.contains("#   remove nobarrier; replace relatime with noatime\n"),
            "{text}"
        );
    }

    #[test]
    fn line_of_other_fstype_ignores_mount_steps() {
        let written = BootLineFields {
            fstype: "xfs",
            ..BootLineFields::default()
        };
        let text = render_fstab_export(&boot_line_report(
            &written,
            None,
            Some(change_to_remove(&["nobarrier"])),
        ));
        assert!(
            uncommented_lines(&text).is_empty() && text.contains("mounts a different file system"),
            "{text}"
        );
    }

    #[test]
    fn capture_and_risky_lines_are_commented_out() {
        let mut captured = boot_line_report(
            &BootLineFields::default(),
            Some(change_to_remove(&["nobarrier"])),
            None,
        );
        captured.host.live = false;
        let mut dangerous = boot_line_report(
            &BootLineFields::default(),
            Some(change_to_remove(&["nobarrier"])),
            None,
        );
        dangerous.plans[0].steps[0].advice.risk = Risk::DataLossIfWrong;
        for (report, says) in [
            (captured, "Generated from a capture"),
            (dangerous, "COMMITTED DATA MAY BE LOST"),
        ] {
            let text = render_fstab_export(&report);
            assert!(
                uncommented_lines(&text).is_empty() && text.contains(says),
                "{text}"
            );
            assert!(
                text.contains("# UUID=1-2 /srv ext4 x-mine=1 0 2\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn mount_unit_and_kernel_cmdline_are_named() {
        for (path, says) in [
            (
                "/etc/systemd/system/srv.mount",
                "Edit Options= in /etc/systemd/system/srv.mount:",
            ),
            ("/proc/cmdline", "boot loader's configuration"),
        ] {
            let written = BootLineFields {
                path,
                ..BootLineFields::default()
            };
            let text = render_fstab_export(&boot_line_report(
                &written,
                Some(change_to_remove(&["nobarrier"])),
                None,
            ));
            assert!(
                uncommented_lines(&text).is_empty() && text.contains(says),
                "{text}"
            );
        }
    }

    #[test]
    fn free_disk_line_is_commented_with_placeholders() {
        let text = render_fstab_export(&sample_reports::free_disk());
        assert!(uncommented_lines(&text).is_empty(), "{text}");
        assert!(
            text.contains("\n# UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT xfs noatime 0 0\n"),
            "{text}"
        );
        let many = render_fstab_export(&sample_reports::free_disks(3));
        assert!(
            uncommented_lines(&many).is_empty() && !many.contains("EDIT-THE-UUID"),
            "{many}"
        );
        assert!(
            many.contains("#   walwise check /dev/sd00001 --format fstab\n"),
            "{many}"
        );
    }

    #[test]
    fn report_without_targets_has_nothing_to_change() {
        let text = render_fstab_export(&sample_reports::build_sample_report(
            &walwise_model::facts::FactSet::default(),
            Vec::new(),
            Vec::new(),
            std::collections::BTreeMap::default(),
        ));
        assert!(
            text.contains(
                "# Nothing to change:\n# No database, data mount or free disk was found.\n"
            ),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn rewritten_line_parses_back(
            source in any_name_bytes(), point in any_name_bytes(), options in prop::collection::vec(any_name_bytes(), 0..3),
            numbers in prop::sample::select(vec!["", "0", "0 0", "0 2"]), title: String,
        ) {
            // Commas and quotes would split an option, and the change under test adds `noatime`
            // itself.
            let plain = |word: &Vec<u8>| !word.iter().any(|b| b",\"".contains(b)) && word != b"noatime";
            prop_assume!(options.iter().all(plain));
            let point = [b"/", &point[..]].concat();
            let written = BootLineFields { source: source.clone(), point: point.clone(), options: options.clone(), numbers, ..BootLineFields::default() };
            let mut report = boot_line_report(&written, Some(change_to_add(&["noatime"])), None);
            report.plans[0].steps[0].title = title;
            let text = render_fstab_export(&report);
            let lines = uncommented_lines(&text);
            prop_assert_eq!(lines.len(), 1, "{}", text);
            let fields: Vec<&str> = lines[0].split(' ').collect();
            prop_assert_eq!((unescape_field(fields[0]), unescape_field(fields[1]), fields[2]), (source, point, "ext4"));
            let mut expect: Vec<Vec<u8>> = options.into_iter().filter(|word| !crate::mount_and_mkfs_options::are_exclusive_options(
                SettingKind::BootOptions, &walwise_model::text::display_safe(word), "noatime")).collect();
            expect.push(b"noatime".to_vec());
            prop_assert_eq!(unescape_field(fields[3]), expect.join(&b','));
            prop_assert_eq!(fields[4..].join(" "), numbers);
        }
    }

    fn render_without_fstab_line(
        point: &str,
        at_boot: Reading<bool>,
        note: Option<&Note>,
    ) -> String {
        let mut report = sample_reports::at_risk();
        report.warnings.extend(note.cloned());
        report
            .facts
            .insert(&Subject::mount("/srv"), &mount::AT_BOOT, at_boot);
        let mounted = Subject::mount("/srv");
        let line = || Source::from_file_line("/proc/self/mountinfo", 24);
        report.facts.remove_facts(&Subject::boot("/srv"));
        report
            .facts
            .insert_known(&mounted, &mount::POINT, point.to_owned(), line());
        report
            .facts
            .insert_known(&mounted, &mount::UUID, "1-2-3".to_owned(), line());
        report
            .facts
            .insert_known(&mounted, &mount::CLASS, mount::MountClass::Block, line());
        for target in &mut report.targets {
            target
                .subjects
                .retain(|subject| subject.scope() != Scope::Boot);
        }
        render_fstab_export(&report)
    }

    #[test]
    fn target_not_mounted_at_boot_gets_line() {
        let known = |at_boot| Reading::known(at_boot, Source::derived_from(["boot.point"]));
        let text = render_without_fstab_line("/srv/my data", known(false), None);
        assert_eq!(
            uncommented_lines(&text),
            [r"UUID=1-2-3 /srv/my\040data ext4 errors=remount-ro,noatime 0 2"],
            "{text}"
        );
        assert!(!text.contains("Nothing to change"), "{text}");
        let root = render_without_fstab_line("/", known(true), None);
        assert!(
            root.contains("on the root file system") && uncommented_lines(&root).is_empty(),
            "{root}"
        );
        let gap = Note::new(NoteKind::UnreadBootSource, "/etc/fstab: Permission denied");
        let unread = render_without_fstab_line("/srv", Reading::denied("/etc/fstab"), Some(&gap));
        assert!(
            unread.contains(&gap.to_string()) && uncommented_lines(&unread).is_empty(),
            "{unread}"
        );
        let open =
            render_without_fstab_line("/srv", Reading::ambiguous("a link may lead there"), None);
        assert!(
            open.contains("a link may lead there") && uncommented_lines(&open).is_empty(),
            "{open}"
        );
    }
}
