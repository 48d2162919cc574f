//! Complete tasks on file systems of their own: a new server on a free disk, and a check after an
//! upgrade.

use std::fs;

use super::{assume_older_kernel, data_directory, start_probe};
use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{LoopDevice, mount_ext4};
use crate::support::pty::Pty;
use crate::support::{run, stdout, walwise};

pub(super) fn last_clipboard_text(pty: &Pty) -> String {
    let written = pty.all_output();
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

fn check_output_lines_without_timestamp(target: &str, format: &str) -> Vec<String> {
    lines_without_timestamp(&stdout(
        &walwise()
            .args(["check", target, "--no-probe", "--format", format])
            .output_in_time(),
    ))
}

fn lines_without_timestamp(document: &str) -> Vec<String> {
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
    // The amount of a disk that is read in one second differs from run to run.
    document
        .lines()
        .filter(|line| !line.starts_with("# No mount, swap area"))
        .map(line)
        .collect()
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_free_disk_is_found_among_all_that_is_there() {
    let disk = LoopDevice::new(512);
    let mut pty = Pty::start_walwise(&[]);
    // The tabs leave no room for the path on a narrow terminal.
    pty.resize(100, 24);
    let mut shown = pty.wait_for_text("Fix first");
    while !selected_target(&shown).ends_with(&disk.device) {
        let before = selected_target(&shown);
        pty.press("]");
        shown = pty.wait_until("next target", |screen| {
            selected_target(&screen.contents()) != before
        });
    }
    pty.wait_for_text("Durability");
    pty.press("4");
    let shown = pty.wait_for_text("in order of application");
    assert!(shown.contains("mkfs.options"), "{shown}");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
#[ignore = "needs root: loop devices"]
fn screens_lead_from_free_disk_to_exported_plan() {
    let place = data_directory();
    let disk = LoopDevice::new(512);
    let mut pty = Pty::start_walwise_in(place.path(), &[], &[&disk.device]);
    let shown = pty.wait_for_text("Fix first");
    for said in [
        "Durability",
        "No mount, swap area",
        "ext4",
        "mkfs options",
        "mount options",
    ] {
        assert!(shown.contains(said), "{said}:\n{shown}");
    }
    // The probe needs a file system first.
    pty.press("p");
    pty.wait_for_text("Unavailable (probe");
    pty.press("2");
    let shown = pty.wait_for_text("from the target down");
    assert!(
        shown.contains("device, ") && shown.contains(disk.name()),
        "{shown}"
    );
    assume_older_kernel(&mut pty);
    pty.press("W");
    pty.wait_for_text_gone("WHAT IF");
    pty.press("1");
    pty.wait_for_text("Fix first");
    pty.press("4");
    let shown = pty.wait_for_text("in order of application");
    assert!(shown.contains("downtime"), "{shown}");
    pty.press("y");
    let line = format!(
        "walwise check {} --format script --output setup.sh",
        disk.device
    );
    pty.wait_for_text("clipboard: walwise check");
    assert_eq!(last_clipboard_text(&pty), line);
    pty.press("\r");
    pty.wait_for_text("published comparison");
    // The export must equal the commands that `check` prints for the disk; the rest of the output
    // contains values that change constantly.
    pty.press("e");
    pty.wait_for_text("Nothing is written until you press s");
    let forms = ["script", "conf", "fstab", "udev"];
    for (format, down) in forms.into_iter().zip(["j", "jj", "j", "j"]) {
        pty.press(down);
        pty.press("s");
        pty.wait_for_text(&format!("Save as {format}"));
        pty.press(&format!("\x15{format}.plan\r"));
        let file = place.path().join(format!("{format}.plan"));
        pty.wait_until("it says where", |screen| {
            let said: String = screen.contents().split_whitespace().collect();
            said.contains(&format!("saved:{}", file.display())) && !said.contains("Saveas")
        });
        assert_eq!(
            lines_without_timestamp(&fs::read_to_string(&file).unwrap()),
            check_output_lines_without_timestamp(&disk.device, format),
            "{format}"
        );
        pty.accept_changed_file(&file);
    }
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
#[ignore = "needs root: loop devices"]
fn screens_lead_from_baseline_change_to_command() {
    let place = data_directory();
    let mounted = mount_ext4(&[], "");
    let data = mounted.create_subdirectory("data");
    let data = data.to_str().unwrap();
    let kept = place.path().join("before.json");
    let file = kept.to_str().unwrap();
    // The host's own disk may already be at risk, so the exit code proves nothing.
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
    let mut pty = Pty::start_walwise_in(
        place.path(),
        &[],
        &["check", data, "--no-probe", "--baseline", file],
    );
    pty.assert_ends_clean(3);
    let said = pty.all_output();
    for wanted in ["AT RISK", "nobarrier", "worse"] {
        assert!(
            said.to_lowercase().contains(&wanted.to_lowercase()),
            "{wanted}:\n{said}"
        );
    }
    let mut pty = Pty::start_walwise_in(place.path(), &[], &[data]);
    let shown = pty.wait_for_text("Fix first");
    assert!(
        shown.contains("AT RISK") && shown.contains("DROPPED"),
        "{shown}"
    );
    pty.press("\r");
    pty.wait_for_text("With nobarrier, the journal sends no flush");
    pty.press("y");
    pty.wait_for_text("clipboard");
    let commands = last_clipboard_text(&pty);
    assert!(
        commands.contains("mount -o remount,barrier=1,"),
        "{commands}"
    );
    // The copied command must remove the risk, so the screen is checked after a rescan.
    for command in commands.lines() {
        run("sh", &["-c", command]);
    }
    pty.press("\x1b");
    pty.wait_for_text_gone("esc back");
    pty.press("1r");
    pty.wait_until("rescan", |screen| {
        let shown = screen.contents();
        shown.contains("Fix first") && !shown.contains("DROPPED") && !shown.contains("reading")
    });
    pty.press("q");
    pty.assert_ends_clean(0);
}

fn selected_target(screen: &str) -> String {
    let header = screen.lines().next().unwrap_or_default();
    let title = header.trim_end().trim_end_matches(" ▾");
    title.rsplit("  ").next().unwrap_or_default().to_owned()
}

/// Latency measured without barriers must not count for commits with barriers, or walwise would
/// suspect the disk.
#[test]
#[ignore = "needs root: loop devices"]
fn measurement_before_a_remount_is_not_used_after_it() {
    let mounted = mount_ext4(&[], "nobarrier");
    let data = mounted.create_subdirectory("data");
    let mut pty = Pty::start_walwise(&[data.to_str().unwrap()]);
    pty.resize(80, 40);
    start_probe(&mut pty);
    pty.press("c");
    pty.wait_for_text("rounds in");
    mounted.remount("barrier=1");
    pty.press("1r");
    let shown = pty.wait_for_text("recommended");
    assert!(!shown.contains("none arrived"), "{shown}");
    pty.press("q");
    pty.assert_ends_clean(0);
}
