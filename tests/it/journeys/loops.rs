//! Complete jobs on file systems of their own: a new server on a free disk, and a check after an
//! upgrade.

use std::fs;

use super::{directory, start_probe, suppose_another_kernel};
use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{Loop, ext4};
use crate::support::pty::Pty;
use crate::support::{run, stdout, walwise};

/// The last text sent to the clipboard.
fn copied(pty: &Pty) -> String {
    let written = pty.written();
    let (_, rest) = written.rsplit_once("\x1b]52;c;").unwrap();
    let (coded, _) = rest.split_once(['\x07', '\x1b']).unwrap();
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = coded
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(value)
        .collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let number = four
            .iter()
            .fold(0_u32, |sum, digit| sum << 6 | u32::from(*digit))
            << (6 * (4 - four.len()));
        number.to_be_bytes()[1..four.len()].to_vec()
    });
    String::from_utf8(bytes.collect()).unwrap()
}

/// The lines of `walwise check` for a target, without the one with the time.
fn checked(target: &str, format: &str) -> Vec<String> {
    timeless(&stdout(
        &walwise()
            .args(["check", target, "--no-probe", "--format", format])
            .output_in_time(),
    ))
}

fn timeless(document: &str) -> Vec<String> {
    let is_time = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.len() == 20 && word.ends_with('Z') && word.contains('T')
    };
    let line = |line: &str| {
        line.split(' ')
            .map(|word| if is_time(word) { "NOW" } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    };
    // How much of a disk is read in a second is another each time.
    document
        .lines()
        .filter(|line| !line.starts_with("# No mount, swap space"))
        .map(line)
        .collect()
}

/// Started without a target it finds the disk, and what is to be made of it is one key away.
#[test]
#[ignore = "needs root: loop devices"]
fn a_free_disk_is_found_among_all_that_is_there() {
    let disk = Loop::new(512);
    let mut pty = Pty::walwise(&[]);
    let mut shown = pty.until_shown("Fix first");
    while !target(&shown).ends_with(&disk.device) {
        let before = target(&shown);
        pty.press("]");
        shown = pty.until("next target", |screen| target(&screen.contents()) != before);
    }
    pty.until_shown("Durability can't be checked until");
    pty.press("4");
    let shown = pty.until_shown("in order of application");
    assert!(shown.contains("mkfs.options"), "{shown}");
    pty.press("q");
    pty.ends(0);
}

/// The whole first job: known and unknown facts of the disk, the advice with its reasons, and the
/// plan as files.
#[test]
#[ignore = "needs root: loop devices"]
fn a_new_server_from_a_free_disk_to_the_exported_plan() {
    let place = directory();
    let disk = Loop::new(512);
    let mut pty = Pty::walwise_in(place.path(), &[], &[&disk.device]);
    let shown = pty.until_shown("Fix first");
    for said in [
        "Durability can't be checked until",
        "No mount, swap space",
        "ext4",
        "mkfs.options",
        "mount.options",
    ] {
        assert!(shown.contains(said), "{said}:\n{shown}");
    }
    // Nothing can be measured before there is a file system.
    pty.press("p");
    pty.until_shown("Unavailable (probe");
    pty.press("2");
    let shown = pty.until_shown("from the target down");
    assert!(
        shown.contains("device, ") && shown.contains(disk.name()),
        "{shown}"
    );
    // What is said by hand is marked, and stays out of the plan.
    suppose_another_kernel(&mut pty);
    pty.press("W");
    pty.until_gone("WHAT IF");
    pty.press("1");
    pty.until_shown("Fix first");
    pty.press("4");
    let shown = pty.until_shown("in order of application");
    assert!(shown.contains("downtime"), "{shown}");
    pty.press("y");
    let line = format!(
        "walwise check {} --format script --output setup.sh",
        disk.device
    );
    pty.until_shown("clipboard: walwise check");
    assert_eq!(copied(&pty), line);
    pty.press("\r");
    pty.until_shown("published figures");
    // What is to be pasted, as `check` of the same disk gives it; the rest also tells of what
    // changes all the time.
    pty.press("e");
    pty.until_shown("Nothing is written until you confirm with s");
    let forms = ["script", "conf", "fstab", "udev"];
    for (format, down) in forms.into_iter().zip(["jj", "j", "j", "j"]) {
        pty.press(down);
        pty.press("s");
        pty.until_shown(&format!("Save as {format}"));
        pty.press(&format!("\x15{format}.plan\r"));
        let file = place.path().join(format!("{format}.plan"));
        pty.until("it says where", |screen| {
            let said: String = screen.contents().split_whitespace().collect();
            said.contains(&format!("saved:{}", file.display())) && !said.contains("Saveas")
        });
        assert_eq!(
            timeless(&fs::read_to_string(&file).unwrap()),
            checked(&disk.device, format),
            "{format}"
        );
        pty.asked_for(&file);
    }
    pty.press("q");
    pty.ends(0);
}

/// The second job: one command says what is worse since the report kept from before, and the
/// screens lead from the thing to do to its reasons and the command that does it.
#[test]
#[ignore = "needs root: loop devices"]
fn after_an_upgrade_from_what_is_worse_to_the_command() {
    let place = directory();
    let mounted = ext4(&[], "");
    let data = mounted.dir("data");
    let data = data.to_str().unwrap();
    let kept = place.path().join("before.json");
    let file = kept.to_str().unwrap();
    // The machine beneath may be at risk before, so how it ends says nothing.
    walwise()
        .args([
            "check",
            data,
            "--no-probe",
            "-v",
            "--format",
            "json",
            "--output",
            file,
        ])
        .output_in_time();
    mounted.remount("nobarrier");
    let mut pty = Pty::walwise_in(
        place.path(),
        &[],
        &["check", data, "--no-probe", "--baseline", file],
    );
    pty.ends(3);
    let said = pty.written();
    for wanted in ["AT RISK", "nobarrier", "worse"] {
        assert!(
            said.to_lowercase().contains(&wanted.to_lowercase()),
            "{wanted}:\n{said}"
        );
    }
    let mut pty = Pty::walwise_in(place.path(), &[], &[data]);
    let shown = pty.until_shown("Fix first");
    assert!(
        shown.contains("AT RISK") && shown.contains("DROPPED"),
        "{shown}"
    );
    // From the verdict down to the thing to do, and in.
    pty.press("j");
    pty.until_shown("remove nobarrier");
    pty.press("\r");
    let shown = pty.until_shown("With nobarrier the journal sends no flush");
    assert!(shown.contains("critical"), "{shown}");
    pty.press("y");
    pty.until_shown("clipboard");
    let commands = copied(&pty);
    assert!(
        commands.contains("mount -o remount,barrier=1,"),
        "{commands}"
    );
    // What was copied does what was promised; read again, the danger is gone.
    for command in commands.lines() {
        run("sh", &["-c", command]);
    }
    pty.press("1r");
    pty.until("rescan", |screen| {
        let shown = screen.contents();
        shown.contains("Fix first") && !shown.contains("DROPPED") && !shown.contains("reading")
    });
    pty.press("q");
    pty.ends(0);
}

/// The target in the row of the tabs.
fn target(screen: &str) -> String {
    let tabs = screen.lines().nth(1).unwrap_or_default();
    tabs.split("Export")
        .nth(1)
        .unwrap_or_default()
        .trim_end_matches(" ▾")
        .trim()
        .to_owned()
}

/// The price of a commit without barriers proves nothing about one with them; mistaken for it, it
/// would accuse the disk.
#[test]
#[ignore = "needs root: loop devices"]
fn what_was_measured_before_a_remount_is_not_taken_for_how_it_is_now() {
    let mounted = ext4(&[], "nobarrier");
    let data = mounted.dir("data");
    let mut pty = Pty::walwise(&[data.to_str().unwrap()]);
    // There is room for the price of a commit beneath all that is critical here.
    pty.resize(80, 40);
    start_probe(&mut pty);
    pty.press("c");
    pty.until_shown("rounds in");
    mounted.remount("barrier=1");
    pty.press("1r");
    let shown = pty.until_shown("recommended");
    assert!(!shown.contains("none arrived"), "{shown}");
    pty.press("q");
    pty.ends(0);
}
