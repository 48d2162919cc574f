//! The changed lines of /etc/fstab, each below the present one.
//!
//! Only options change; the other fields stay. A line that is not completely known (it may hold a
//! password) is described, never rewritten. A free disk gets a commented line whose placeholders no
//! boot can mistake for a device.

use super::boot_mounts::{self, AbsentMount, BootMountEdit, DeclarationSite};
use super::{comments, header, nothing_to_change, part_heading, paste_lines, reasons};
use crate::{Plan, Report, TargetSummary, mkfs};
use walwise_model::escape::Command;
use walwise_model::escape::fstab::field;
use walwise_model::facts::Key;
use walwise_model::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use walwise_model::text::original_bytes;

pub fn render(report: &Report) -> String {
    let how = [
        "Copy /etc/fstab, replace each commented line with the one below it, then run",
        "  findmnt --verify --tab-file COPY",
        "After installing the copy: systemctl daemon-reload. Mounted file systems stay unchanged until remounted.",
    ];
    let lines = boot_mounts::boot_mount_edits(report);
    let mut parts: Vec<String> = lines
        .iter()
        .filter_map(|line| edit_text(report, line))
        .collect();
    let alone = report.targets.len() == 1;
    let disk = |disk: &TargetSummary| {
        if alone {
            new_filesystem_line(report, disk)
        } else {
            part_heading(&disk.title) + &separate_command(report, disk)
        }
    };
    parts.extend(
        report
            .targets
            .iter()
            .filter(|target| target.kind.is_device())
            .map(disk),
    );
    let bare = boot_mounts::not_mounted_at_boot(report);
    if parts.is_empty() && (bare.is_empty() || !lines.is_empty()) {
        parts.push(
            "\n".to_owned() + &nothing_to_change(&boot_mounts::no_change_reasons(report, &lines)),
        );
    }
    for AbsentMount { title, line } in bare {
        let says =
            "Neither /etc/fstab nor a unit in /etc/systemd/system mounts it: append this line.";
        let line = match line {
            Ok(line) => paste_lines(report, &[], &[line]),
            Err(why) => comments(&[format!("No line: {why}.")]),
        };
        parts.push(part_heading(title) + &comments(&[says]) + &line);
    }
    header(report, "lines for /etc/fstab", &how) + &parts.concat()
}

/// For a free disk among other targets: the command to check it alone, because each disk gets its
/// own document.
fn separate_command(report: &Report, target: &TargetSummary) -> String {
    comments(&[
        "A free disk. For the line of its new file system:".to_owned(),
        format!(
            "  {}",
            Command::or_placeholder(mkfs::recheck_command(
                report,
                &target.target,
                " --format fstab"
            ))
        ),
    ])
}

/// For a free disk: the requested file system, if any, and the steps up to the command that prints
/// the UUID.
fn mkfs_first(report: &Report, target: &TargetSummary) -> String {
    let wanted = report
        .plan(&target.target)
        .and_then(Plan::requested_filesystem);
    let script = Command::or_placeholder(mkfs::recheck_command(
        report,
        &target.target,
        " --format script",
    ));
    let uuid = Command::or_placeholder(
        Command::new("blkid -p -s UUID -o value ").value(target.target.name()),
    );
    let steps = [
        format!("Create the file system first ({script}). Insert the output of"),
        format!("  {uuid}"),
    ];
    comments(&wanted.into_iter().chain(steps).collect::<Vec<_>>())
}

/// The change to one line; `None` without a change or a note.
fn edit_text(report: &Report, line: &BootMountEdit<'_>) -> Option<String> {
    let becomes = line.new_options();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let mut out = part_heading(&line.display) + &reasons(&line.steps) + &comments(&line.notes);
    let Some(becomes) = becomes else {
        return Some(out);
    };
    let now = line.written_options();
    let whole = line.is_completely_known(report);
    match &line.place {
        DeclarationSite::Fstab => match (
            whole,
            full_line(report, line, &now),
            full_line(report, line, &becomes),
        ) {
            (true, Some(now), Some(becomes)) => {
                out += &comments(&[format!("now: {now}")]);
                out += &paste_lines(report, &line.steps, &[becomes]);
            }
            _ => {
                out += &comments(&[
                    "This line could not be read completely, so edit it by hand. In field 4:"
                        .to_owned(),
                    format!("  {}", line.edits()),
                ]);
            }
        },
        DeclarationSite::Unit(path) => {
            out += &comments(&[
                format!("Its options are in {path}, in Options=:"),
                format!("  {}", line.edits()),
            ]);
        }
        DeclarationSite::Other => {
            out += &comments(&[
                "Not a line of fstab: change it in the boot loader's configuration.".to_owned(),
                format!("now:     {now}"),
                format!("result:  {becomes}"),
            ]);
        }
    }
    Some(out)
}

/// The full line with these options; `None` if part of it is unknown.
fn full_line(report: &Report, line: &BootMountEdit<'_>, options: &str) -> Option<String> {
    let text = |key: &Key<String>| report.facts.value(line.subject, key);
    let parts = [
        text(&SOURCE)?,
        text(&POINT)?,
        text(&WRITTEN_TYPE)?,
        options.to_owned(),
    ];
    let mut fields: Vec<String> = parts
        .iter()
        .map(|part| field(&original_bytes(part)))
        .collect::<Option<_>>()?;
    fields.push(text(&DUMP_AND_PASS)?);
    Some(fields.join(" ").trim_end().to_owned())
}

/// The line for a file system that does not exist yet.
fn new_filesystem_line(report: &Report, target: &TargetSummary) -> String {
    let steps = report
        .plan(&target.target)
        .map(|plan| plan.steps.as_slice())
        .unwrap_or_default();
    let chosen = match mkfs::planned_filesystem(steps) {
        Ok(chosen) => chosen,
        Err(why) => return part_heading(&target.title) + &comments(&[format!("No line: {why}.")]),
    };
    let mkfs::PlannedFilesystem {
        fstype,
        pass,
        mount,
    } = chosen;
    part_heading(&target.title)
        + &mkfs_first(report, target)
        + &comments(&[
            "and the mount point, then remove the #.".to_owned(),
            format!("UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT {fstype} {mount} 0 {pass}"),
        ])
}

#[cfg(test)]
mod tests {
    //! Properties of an fstab line: correct if it can be pasted, else a comment.

    use proptest::prelude::*;

    use super::*;
    use crate::export::testing::{Written, active, add, name, remove, report, to_bytes};
    use crate::sample;
    use walwise_judge::rules::Risk;
    use walwise_model::facts::catalog::mount;
    use walwise_model::facts::note::BootNote;
    use walwise_model::facts::{Note, Reading, Scope, Source, Subject, UnknownReason};
    use walwise_model::settings::SettingKind;

    /// A field as libmount reads it (util-linux, lib/mangle.c): any three octal digits after a
    /// backslash are a byte.
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
    fn a_line_keeps_all_but_what_is_changed() {
        let cases = [
            (
                "UUID=1-2",
                "ext4",
                to_bytes(&["nobarrier", "x-mine=1"]),
                "0 2",
                "UUID=1-2 /srv ext4 x-mine=1,noatime 0 2",
            ),
            (
                "LABEL=a b",
                "auto",
                to_bytes(&["defaults", "nobarrier"]),
                "",
                "LABEL=a\\040b /srv auto defaults,noatime",
            ),
            (
                "/dev/md0",
                "ext4",
                to_bytes(&["nobarrier", "relatime", "nofail"]),
                "0",
                "/dev/md0 /srv ext4 nofail,noatime 0",
            ),
        ];
        for (source, fstype, options, numbers, expect) in cases {
            let written = Written {
                source: source.into(),
                fstype,
                options,
                numbers,
                ..Written::default()
            };
            let text = render(&report(
                &written,
                Some(remove(&["nobarrier"])),
                Some(add(&["noatime"])),
            ));
            assert_eq!(active(&text), [expect], "{text}");
            let now = text
                .lines()
                .find(|line| line.starts_with("# now: "))
                .unwrap();
            assert!(now.contains("nobarrier") && now.ends_with(numbers), "{now}");
        }
    }

    /// A remount names the default if it was changed by hand; the line needs it only if it names
    /// another value.
    #[test]
    fn a_default_is_written_only_in_place_of_another_value() {
        for (written, expected) in [("x-mine=1", None), ("commit=60", Some("commit=5"))] {
            let written = Written {
                options: to_bytes(&[written]),
                ..Written::default()
            };
            let mut report = report(&written, None, Some(add(&["commit=5"])));
            let in_force = sample::word_list("rw,commit=60");
            report.facts.insert_known(
                &Subject::mount("/srv"),
                &mount::SUPER_OPTIONS,
                in_force,
                Source::Assumed,
            );
            let text = render(&report);
            let options = active(&text)
                .first()
                .and_then(|line| line.split(' ').nth(3));
            assert_eq!(options, expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_said_of_a_line_that_is_right() {
        let written = Written {
            options: to_bytes(&["noatime", "rw"]),
            ..Written::default()
        };
        for (of_line, of_mount) in [
            (None, None),
            (Some(remove(&["nobarrier"])), None),
            (Some(add(&["noatime"])), Some(add(&["noatime"]))),
        ] {
            let text = render(&report(&written, of_line, of_mount));
            assert!(active(&text).is_empty() && !text.contains("===="), "{text}");
            assert!(
                text.contains("# Nothing to change:\n# /etc/fstab:9: OK"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_in_force_and_written_nowhere_is_told() {
        let written = Written {
            options: to_bytes(&["noatime"]),
            ..Written::default()
        };
        let text = render(&report(&written, None, Some(remove(&["discard"]))));
        assert!(active(&text).is_empty(), "{text}");
        assert!(
            text.contains("# discard is in force but not in this line"),
            "{text}"
        );
    }

    #[test]
    fn a_line_that_is_not_known_as_a_whole_is_told_as_a_change() {
        let written = Written {
            whole: false,
            options: to_bytes(&["nobarrier", "relatime"]),
            ..Written::default()
        };
        let text = render(&report(
            &written,
            Some(remove(&["nobarrier"])),
            Some(add(&["noatime"])),
        ));
        assert!(active(&text).is_empty(), "{text}");
        assert!(
            text.contains("#   remove nobarrier; replace relatime with noatime\n"),
            "{text}"
        );
    }

    #[test]
    fn another_type_of_file_system_gets_nothing_that_the_mounted_one_needs() {
        let written = Written {
            fstype: "xfs",
            ..Written::default()
        };
        let text = render(&report(&written, None, Some(remove(&["nobarrier"]))));
        assert!(
            active(&text).is_empty() && text.contains("another type of file system"),
            "{text}"
        );
    }

    #[test]
    fn captures_and_dangers_are_locked() {
        let mut captured = report(&Written::default(), Some(remove(&["nobarrier"])), None);
        captured.host.live = false;
        let mut dangerous = report(&Written::default(), Some(remove(&["nobarrier"])), None);
        dangerous.plans[0].steps[0].advice.risk = Risk::DataLossIfWrong;
        for (report, says) in [
            (captured, "Made from a capture"),
            (dangerous, "COMMITTED DATA MAY BE LOST"),
        ] {
            let text = render(&report);
            assert!(active(&text).is_empty() && text.contains(says), "{text}");
            assert!(
                text.contains("# UUID=1-2 /srv ext4 x-mine=1 0 2\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_unit_and_the_boot_loader_are_named_instead() {
        for (path, says) in [
            (
                "/etc/systemd/system/srv.mount",
                "Its options are in /etc/systemd/system/srv.mount",
            ),
            ("/proc/cmdline", "boot loader's configuration"),
        ] {
            let written = Written {
                path,
                ..Written::default()
            };
            let text = render(&report(&written, Some(remove(&["nobarrier"])), None));
            assert!(active(&text).is_empty() && text.contains(says), "{text}");
        }
    }

    #[test]
    fn a_blank_disk_gets_a_line_that_mounts_nothing_as_it_comes() {
        let text = render(&sample::free_disk());
        assert!(active(&text).is_empty(), "{text}");
        assert!(
            text.contains("\n# UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT xfs noatime 0 0\n"),
            "{text}"
        );
        let many = render(&sample::free_disks(3));
        assert!(
            active(&many).is_empty() && !many.contains("EDIT-THE-UUID"),
            "{many}"
        );
        assert!(
            many.contains("#   walwise check /dev/sd00001 --format fstab\n"),
            "{many}"
        );
    }

    #[test]
    fn an_empty_report_says_so() {
        let text = render(&sample::report(
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
        /// For any line, the result is one line with the same fields, or nothing to paste.
        #[test]
        fn a_line_is_read_back_with_its_change(
            source in name(), point in name(), options in prop::collection::vec(name(), 0..3),
            numbers in prop::sample::select(vec!["", "0", "0 0", "0 2"]), title: String,
        ) {
            // Option separators also split names, as in the parsed file.
            let plain = |word: &Vec<u8>| !word.iter().any(|b| b",\"".contains(b)) && word != b"noatime";
            prop_assume!(options.iter().all(plain));
            let point = [b"/", &point[..]].concat();
            let written = Written { source: source.clone(), point: point.clone(), options: options.clone(), numbers, ..Written::default() };
            let mut report = report(&written, Some(add(&["noatime"])), None);
            report.plans[0].steps[0].title = title;
            let text = render(&report);
            let lines = active(&text);
            prop_assert_eq!(lines.len(), 1, "{}", text);
            let fields: Vec<&str> = lines[0].split(' ').collect();
            prop_assert_eq!((unescape_field(fields[0]), unescape_field(fields[1]), fields[2]), (source, point, "ext4"));
            let mut expect: Vec<Vec<u8>> = options.into_iter().filter(|word| !crate::options::are_exclusive(
                SettingKind::BootOptions, &walwise_model::text::display_safe(word), "noatime")).collect();
            expect.push(b"noatime".to_vec());
            prop_assert_eq!(unescape_field(fields[3]), expect.join(&b','));
            prop_assert_eq!(fields[4..].join(" "), numbers);
        }
    }

    /// The output for a target without a line, with this mount point and this state of the next
    /// boot.
    fn without_a_line(point: &str, at_boot: Reading<bool>, note: Option<&BootNote>) -> String {
        let mut report = sample::at_risk();
        report.warnings.extend(note.cloned().map(Note::from));
        report
            .facts
            .insert(&Subject::mount("/srv"), &mount::AT_BOOT, at_boot);
        let mounted = Subject::mount("/srv");
        let line = || Source::line("/proc/self/mountinfo", 24);
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
        render(&report)
    }

    #[test]
    fn what_nothing_mounts_at_boot_is_told_with_the_line_that_would() {
        let known = |at_boot| Reading::known(at_boot, Source::derived(["boot.point"]));
        let text = without_a_line("/srv/my data", known(false), None);
        assert_eq!(
            active(&text),
            [r"UUID=1-2-3 /srv/my\040data ext4 errors=remount-ro,noatime 0 2"],
            "{text}"
        );
        assert!(!text.contains("Nothing to change"), "{text}");
        let root = without_a_line("/", known(true), None);
        assert!(
            root.contains("on the root file system") && active(&root).is_empty(),
            "{root}"
        );
        let gap = BootNote::UnreadableSource {
            detail: "/etc/fstab: Permission denied".to_owned(),
            why: UnknownReason::Denied,
        };
        let unread = without_a_line(
            "/srv",
            Reading::unknown(UnknownReason::Denied, "/etc/fstab"),
            Some(&gap),
        );
        assert!(
            unread.contains(&gap.to_string()) && active(&unread).is_empty(),
            "{unread}"
        );
        let open = without_a_line(
            "/srv",
            Reading::unknown(UnknownReason::Ambiguous, "a link may lead there"),
            None,
        );
        assert!(
            open.contains("a link may lead there.") && active(&open).is_empty(),
            "{open}"
        );
    }
}
