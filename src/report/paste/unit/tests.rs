//! Properties of a unit: named and spelled as systemd reads it, complete or absent.

use proptest::prelude::*;

use super::*;
use crate::report::paste::testing::{Written, active, add, name, remove, report, words};
use crate::report::sample;

const UNIT: &str = "/etc/systemd/system/srv.mount";

fn asked(written: &Written) -> String {
    let mut report = report(written, Some(remove(&["nobarrier"])), None);
    report.asked = Some("/srv/a".to_owned());
    render(&report)
}

/// A value as systemd reads it: blanks at the ends go, `%%` is one.
fn read_value(lines: &[&str], key: &str) -> Option<String> {
    let value = lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim().replace("%%", "%"))
}

#[test]
fn a_unit_gets_a_drop_in_with_its_options() {
    let written = Written { path: UNIT, options: words(&["nobarrier", "x=%h", "ro"]), ..Written::default() };
    let text = render(&report(&written, Some(remove(&["nobarrier"])), Some(add(&["noatime"]))));
    assert!(text.contains("\n# ==== /etc/systemd/system/srv.mount.d/50-walwise.conf ====\n"), "{text}");
    assert_eq!(active(&text), ["[Mount]", "Options=x=%h,ro,noatime"], "a specifier stays as it is spelled");
    let part = Written { whole: false, ..written };
    let text = render(&report(&part, Some(remove(&["nobarrier"])), None));
    assert!(active(&text).is_empty() && text.contains("#   remove nobarrier\n"), "{text}");
}

#[test]
fn a_line_of_fstab_becomes_a_unit_only_where_it_was_asked_for_and_can() {
    let quiet = render(&report(&Written::default(), Some(remove(&["nobarrier"])), None));
    assert!(active(&quiet).is_empty() && quiet.contains("--format fstab"), "{quiet}");

    let text = asked(&Written::default());
    assert!(text.contains("\n# ==== /etc/systemd/system/srv.mount ====\n"), "{text}");
    assert_eq!(
        active(&text),
        [
            "[Unit]",
            "Before=local-fs.target",
            "Requires=systemd-fsck@dev-disk-by\\x2duuid-1\\x2d2.service",
            "After=systemd-fsck@dev-disk-by\\x2duuid-1\\x2d2.service",
            "[Mount]",
            "What=/dev/disk/by-uuid/1-2",
            "Where=/srv",
            "Type=ext4",
            "Options=x-mine=1",
            "[Install]",
            "RequiredBy=local-fs.target",
        ]
    );
    let unchecked = asked(&Written { numbers: "0 0", ..Written::default() });
    assert!(!unchecked.contains("\nRequires="), "{unchecked}");

    let stays = [
        (Written { whole: false, ..Written::default() }, "not all of the line is known"),
        (Written { options: words(&["nobarrier", "nofail"]), ..Written::default() }, "its option nofail"),
        (
            Written { options: words(&["nobarrier", "x-systemd.automount"]), ..Written::default() },
            "x-systemd.automount",
        ),
        (Written { point: b"/".to_vec(), ..Written::default() }, "the root file system"),
        (Written { source: b"nas:/x".to_vec(), ..Written::default() }, "no device of this machine"),
        (Written { point: b"/a\nb".to_vec(), ..Written::default() }, "a unit cannot hold"),
        (Written { point: b"/a ".to_vec(), ..Written::default() }, "a unit cannot hold"),
    ];
    for (written, why) in stays {
        let text = asked(&written);
        assert!(active(&text).is_empty() && text.contains(why), "{why}: {text}");
    }
}

#[test]
fn labels_are_named_as_udev_names_their_links() {
    let device = |source: &str| device(source.as_bytes()).map(|device| String::from_utf8(device).unwrap());
    assert_eq!(device("LABEL=a b/é%").as_deref(), Some("/dev/disk/by-label/a\\x20b\\x2fé\\x25"));
    assert_eq!(device("PARTUUID=1-2").as_deref(), Some("/dev/disk/by-partuuid/1-2"));
    assert_eq!(device("/dev/mapper/vg-a").as_deref(), Some("/dev/mapper/vg-a"));
    for none in ["LABEL=", "LABEL=\"a\"", "ID=x", "nas:/x", "tmpfs"] {
        assert_eq!(device(none), None, "{none}");
    }
}

#[test]
fn captures_are_locked_and_a_blank_disk_mounts_nothing_as_it_comes() {
    let written = Written { path: UNIT, ..Written::default() };
    let mut captured = report(&written, Some(remove(&["nobarrier"])), None);
    captured.host.live = false;
    let text = render(&captured);
    assert!(active(&text).is_empty() && text.contains("# Options=x-mine=1\n"), "{text}");
    let blank = render(&sample::free_disk());
    assert!(active(&blank).is_empty() && blank.contains("# Type=xfs\n# Options=noatime\n"), "{blank}");
}

proptest! {
    /// Whatever a line holds: a unit of known lines whose values read back unchanged, or none.
    #[test]
    fn a_unit_is_read_back_or_there_is_none(source in name(), point in name(), option in name(), title: String) {
        prop_assume!(!option.iter().any(|b| b",\"".contains(b)) && option != b"nobarrier");
        let source = [b"/dev/", &source[..]].concat();
        let point = [b"/", &point[..]].concat();
        let options = vec![b"nobarrier".to_vec(), option.clone()];
        let written = Written { source: source.clone(), point: point.clone(), options, ..Written::default() };
        let mut report = report(&written, Some(remove(&["nobarrier"])), None);
        report.asked = Some("/srv/a".to_owned());
        report.plans[0].steps[0].title = title;
        let text = render(&report);
        let lines = active(&text);
        if lines.is_empty() {
            return Ok(());
        }
        let keys: Vec<&str> = lines.iter().map(|line| line.split('=').next().unwrap()).collect();
        prop_assert_eq!(keys, ["[Unit]", "Before", "Requires", "After", "[Mount]", "What", "Where", "Type", "Options", "[Install]", "RequiredBy"]);
        let read = |key| read_value(&lines, key).map(String::into_bytes);
        prop_assert_eq!(read("What"), Some(source));
        prop_assert_eq!(read("Where"), Some(point));
        prop_assert_eq!(read("Options"), Some(option));
        prop_assert!(lines.iter().all(|line| !line.ends_with('\\')));
    }
}
