//! The intended lines of /etc/fstab, each below the present one; nothing for correct lines.
//!
//! Device, mount point, type and the two trailing numbers stay as they are; only options change. An
//! incompletely kept line (it may hold a password) is described as a change, never as a line. A
//! free disk gets a line too, behind a #, with placeholders that no boot can mistake for a device.

use super::boot::{self, AbsentMount, BootMountEdit, DeclarationSite};
use super::{comments, empty, head, part, pasted, reasons};
use crate::{Plan, Report, TargetSummary, mkfs};
use walwise_model::facts::Key;
use walwise_model::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use walwise_model::quote::Command;
use walwise_model::quote::fstab::field;
use walwise_model::text::raw;

/// The lines for every target of a report.
pub fn render(report: &Report) -> String {
    let how = [
        "Put each line in place of the one that is shown above it, in a copy of the file; then",
        "  findmnt --verify --tab-file COPY",
        "and when the copy is in place: systemctl daemon-reload. What is mounted is unchanged until remounted.",
    ];
    let lines = boot::lines(report);
    let mut parts: Vec<String> = lines
        .iter()
        .filter_map(|line| changed(report, line))
        .collect();
    let alone = report.targets.len() == 1;
    let disk = |disk: &TargetSummary| {
        if alone {
            fresh(report, disk)
        } else {
            part(&disk.title) + &ask_alone(report, disk)
        }
    };
    parts.extend(
        report
            .targets
            .iter()
            .filter(|target| target.kind.is_device())
            .map(disk),
    );
    let bare = boot::not_mounted_at_boot(report);
    if parts.is_empty() && (bare.is_empty() || !lines.is_empty()) {
        parts.push("\n".to_owned() + &empty(&boot::why_not(report, &lines)));
    }
    for AbsentMount { title, line } in bare {
        let says =
            "No line of /etc/fstab and no unit in /etc/systemd/system mounts it: append its line.";
        let line = match line {
            Ok(line) => pasted(report, &[], &[line]),
            Err(why) => comments(&[format!("No line: {why}.")]),
        };
        parts.push(part(title) + &comments(&[says]) + &line);
    }
    head(report, "lines for /etc/fstab", &how) + &parts.concat()
}

/// For a free disk among other targets: the command to ask about it alone, because disks are
/// handled one at a time.
fn ask_alone(report: &Report, target: &TargetSummary) -> String {
    comments(&[
        "A free disk. For what belongs to the file system that is made on it:".to_owned(),
        format!(
            "  {}",
            Command::or_why(mkfs::asked_again(report, &target.target, " --format fstab"))
        ),
    ])
}

/// For a free disk: why it is this file system, where the user wants it, and the steps before it
/// exists, up to the command that prints the UUID.
fn not_before(report: &Report, target: &TargetSummary) -> String {
    let wanted = report.plan(&target.target).and_then(Plan::wish);
    let script = Command::or_why(mkfs::asked_again(
        report,
        &target.target,
        " --format script",
    ));
    let uuid =
        Command::or_why(Command::new("blkid -p -s UUID -o value ").value(target.target.name()));
    let steps = [
        format!("Not before the file system is made ({script}). Put in what"),
        format!("  {uuid}"),
    ];
    comments(&wanted.into_iter().chain(steps).collect::<Vec<_>>())
}

/// The change to one line; `None` when it is right.
fn changed(report: &Report, line: &BootMountEdit<'_>) -> Option<String> {
    let becomes = line.becomes();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let mut out = part(&line.shown) + &reasons(&line.steps) + &comments(&line.notes);
    let Some(becomes) = becomes else {
        return Some(out);
    };
    let now = line.written();
    let whole = line.is_whole(report);
    match &line.place {
        DeclarationSite::Fstab => match (
            whole,
            written(report, line, &now),
            written(report, line, &becomes),
        ) {
            (true, Some(now), Some(becomes)) => {
                out += &comments(&[format!("now: {now}")]);
                out += &pasted(report, &line.steps, &[becomes]);
            }
            _ => {
                out += &comments(&[
                    "Not all of this line is known, so it is not rewritten. In its fourth field:"
                        .to_owned(),
                    format!("  {}", line.edits()),
                ]);
            }
        },
        DeclarationSite::Unit(path) => {
            out += &comments(&[
                format!("Its options stand in {path}, in Options=:"),
                format!("  {}", line.edits()),
            ]);
        }
        DeclarationSite::Other => {
            out += &comments(&[
                "Not a line of fstab: change it in the boot loader's configuration.".to_owned(),
                format!("now:     {now}"),
                format!("becomes: {becomes}"),
            ]);
        }
    }
    Some(out)
}

/// The whole line with these options; `None` when part of it is unknown.
fn written(report: &Report, line: &BootMountEdit<'_>, options: &str) -> Option<String> {
    let text = |key: &Key<String>| report.facts.value(line.subject, key);
    let parts = [
        text(&SOURCE)?,
        text(&POINT)?,
        text(&WRITTEN_TYPE)?,
        options.to_owned(),
    ];
    let mut fields: Vec<String> = parts
        .iter()
        .map(|part| field(&raw(part)))
        .collect::<Option<_>>()?;
    fields.push(text(&DUMP_AND_PASS)?);
    Some(fields.join(" ").trim_end().to_owned())
}

/// The line for a file system that does not exist yet.
fn fresh(report: &Report, target: &TargetSummary) -> String {
    let steps = report
        .plan(&target.target)
        .map(|plan| plan.steps.as_slice())
        .unwrap_or_default();
    let chosen = match mkfs::chosen(steps) {
        Ok(chosen) => chosen,
        Err(why) => return part(&target.title) + &comments(&[format!("No line: {why}.")]),
    };
    let mkfs::Chosen {
        fstype,
        pass,
        mount,
    } = chosen;
    part(&target.title)
        + &not_before(report, target)
        + &comments(&[
            "prints and the mount point, then remove the #.".to_owned(),
            format!("UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT {fstype} {mount} 0 {pass}"),
        ])
}

#[cfg(test)]
mod tests {
    //! Properties of a line of fstab: correct where it can be pasted, and a comment where it
    //! cannot.

    use proptest::prelude::*;

    use super::*;
    use crate::paste::testing::{Written, active, add, name, remove, report, words};
    use crate::sample;
    use walwise_judge::rules::Risk;
    use walwise_model::facts::catalog::mount;
    use walwise_model::facts::note::BootNote;
    use walwise_model::facts::{Note, Reading, Scope, Source, Subject, Why};
    use walwise_model::settings::SettingKind;

    /// A field as libmount reads it (util-linux, lib/mangle.c): any three octal digits after a
    /// backslash are a byte.
    fn read(field: &str) -> Vec<u8> {
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
                words(&["nobarrier", "x-mine=1"]),
                "0 2",
                "UUID=1-2 /srv ext4 x-mine=1,noatime 0 2",
            ),
            (
                "LABEL=a b",
                "auto",
                words(&["defaults", "nobarrier"]),
                "",
                "LABEL=a\\040b /srv auto defaults,noatime",
            ),
            (
                "/dev/md0",
                "ext4",
                words(&["nobarrier", "relatime", "nofail"]),
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

    /// A remount names the default, where somebody had changed it by hand; the line needs it only
    /// where it names another.
    #[test]
    fn a_default_is_written_only_in_place_of_another_value() {
        for (written, expected) in [("x-mine=1", None), ("commit=60", Some("commit=5"))] {
            let written = Written {
                options: words(&[written]),
                ..Written::default()
            };
            let mut report = report(&written, None, Some(add(&["commit=5"])));
            let in_force = sample::words("rw,commit=60");
            report.facts.know(
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
            options: words(&["noatime", "rw"]),
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
                text.contains("# Nothing is to be changed here:\n# /etc/fstab:9: as it should be"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_in_force_and_written_nowhere_is_told() {
        let written = Written {
            options: words(&["noatime"]),
            ..Written::default()
        };
        let text = render(&report(&written, None, Some(remove(&["discard"]))));
        assert!(active(&text).is_empty(), "{text}");
        assert!(
            text.contains("# discard is current but not written here"),
            "{text}"
        );
    }

    #[test]
    fn a_line_that_is_not_known_as_a_whole_is_told_as_a_change() {
        let written = Written {
            whole: false,
            options: words(&["nobarrier", "relatime"]),
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
                "Its options stand in /etc/systemd/system/srv.mount",
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
        let many = render(&sample::disks(3));
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
                "# Nothing is to be changed here:\n# No database, data mount or free disk was found.\n"
            ),
            "{text}"
        );
    }

    proptest! {
        /// Whatever a line holds, the result is one line with the same parts, or nothing to paste.
        #[test]
        fn a_line_is_read_back_with_its_change(
            source in name(), point in name(), options in prop::collection::vec(name(), 0..3),
            numbers in prop::sample::select(vec!["", "0", "0 0", "0 2"]), title: String,
        ) {
            // Separators of options separate names too, as the reader of the file has seen it.
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
            prop_assert_eq!((read(fields[0]), read(fields[1]), fields[2]), (source, point, "ext4"));
            let mut expect: Vec<Vec<u8>> = options.into_iter().filter(|word| !crate::options::exclude(
                SettingKind::BootOptions, &walwise_model::text::safe(word), "noatime")).collect();
            expect.push(b"noatime".to_vec());
            prop_assert_eq!(read(fields[3]), expect.join(&b','));
            prop_assert_eq!(fields[4..].join(" "), numbers);
        }
    }

    /// The lines for a target without one, with what is mounted there and what is known of the next
    /// boot.
    fn without_a_line(point: &str, at_boot: Reading<bool>, note: Option<&BootNote>) -> String {
        let mut report = sample::at_risk();
        report.warnings.extend(note.cloned().map(Note::from));
        report
            .facts
            .put(&Subject::mount("/srv"), &mount::AT_BOOT, at_boot);
        let mounted = Subject::mount("/srv");
        let line = || Source::line("/proc/self/mountinfo", 24);
        report.facts.forget(&Subject::boot("/srv"));
        report
            .facts
            .know(&mounted, &mount::POINT, point.to_owned(), line());
        report
            .facts
            .know(&mounted, &mount::UUID, "1-2-3".to_owned(), line());
        report
            .facts
            .know(&mounted, &mount::CLASS, mount::MountClass::Block, line());
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
        assert!(!text.contains("Nothing is to be changed"), "{text}");
        let root = without_a_line("/", known(true), None);
        assert!(
            root.contains("on the root file system") && active(&root).is_empty(),
            "{root}"
        );
        let gap = BootNote::Gap {
            detail: "/etc/fstab: Permission denied".to_owned(),
            why: Why::Denied,
        };
        let unread = without_a_line(
            "/srv",
            Reading::unknown(Why::Denied, "/etc/fstab"),
            Some(&gap),
        );
        assert!(
            unread.contains(&gap.to_string()) && active(&unread).is_empty(),
            "{unread}"
        );
        let open = without_a_line(
            "/srv",
            Reading::unknown(Why::Ambiguous, "a link may lead there"),
            None,
        );
        assert!(
            open.contains("a link may lead there.") && active(&open).is_empty(),
            "{open}"
        );
    }
}
