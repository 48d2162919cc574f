//! Text for pasting, parsed by the programs that will read it: findmnt and mount, systemd,
//! udev, and a Markdown renderer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{Choice as _, FactSet, Source, Subject};
use walwise_model::settings;
use walwise_model::text::{display_safe, is_display_unsafe};
use walwise_report::export::{fstab, udev};
use walwise_report::{Format, Report, markdown};
use walwise_sys::host::RecordedHost;

use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
use crate::support::loops::{LoopDevice, MountPoint, unmount};
use crate::support::programs::private_mounts_shell;
use crate::support::running::wait_for_condition;
use crate::support::{recorded, run, stderr, stdout};

const NAMES: [&str; 12] = [
    "plain",
    "two words",
    "tab\tand\nline",
    "back\\slash\\040",
    "quo\"te's",
    "per%cent %h %%",
    "-dash-and.dot",
    ".hidden",
    "#hash",
    "$HOME `id` $(id) ;&|<>*?[x]",
    "ünïcödé ☃",
    "  blanks  ",
];

type RenderReport = fn(&Report) -> String;

const PASTED: [(&str, RenderReport); 2] = [
    ("fstab", fstab::render_fstab_export),
    ("udev", udev::render_udev_rules),
];

fn uncommented_lines(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect()
}

fn nobarrier_report(path: &str, source: &str, point: &str, options: &[&str]) -> Report {
    let name = display_safe(point.as_bytes());
    let (place, fs, line) = (
        Subject::target(&name),
        Subject::mount(&name),
        Subject::boot(&name),
    );
    let seen = || Source::from_file_line(path, 3);
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut facts = FactSet::default();
    facts.add_subject(&place);
    facts.insert_known(&fs, &mount::POINT, name.clone(), seen());
    facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), seen());
    facts.insert_known(&fs, &mount::OPTIONS, words(&["rw", "noatime"]), seen());
    facts.insert_known(
        &fs,
        &mount::SUPER_OPTIONS,
        words(&["rw", "nobarrier"]),
        seen(),
    );
    facts.insert_known(
        &line,
        &boot::SOURCE,
        display_safe(source.as_bytes()),
        seen(),
    );
    facts.insert_known(&line, &boot::POINT, name, seen());
    facts.insert_known(&line, &boot::FSTYPE, "ext4".to_owned(), seen());
    facts.insert_known(&line, &boot::WRITTEN_TYPE, "ext4".to_owned(), seen());
    facts.insert_known(
        &line,
        &boot::OPTIONS,
        options
            .iter()
            .map(|word| display_safe(word.as_bytes()))
            .collect(),
        seen(),
    );
    facts.insert_known(&line, &boot::DUMP_AND_PASS, "0 2".to_owned(), seen());
    facts.insert_known(&line, &boot::WHOLE, true, seen());
    facts.insert_known(&line, &boot::WHERE, seen().to_string(), seen());
    facts.add_layer_below(&place, &fs);
    facts.set_fact_link(&place, &fs);
    facts.set_fact_link(&line, &fs);
    let mut session = Session::new(facts, RuleSet::builtin(), true);
    session.named_target = Some(point.to_owned());
    session.build_report()
}

fn reports_of_recorded_hosts() -> Vec<(String, Report)> {
    let read = |path: &PathBuf| {
        let host = RecordedHost::parse(&fs::read(path).unwrap()).unwrap();
        let session = Session::collect_from_host(
            &host,
            &Request::default(),
            RuleSet::builtin(),
            &mut |_, _| {},
        );
        (path.display().to_string(), session.build_report())
    };
    recorded::recorded_host_files().iter().map(read).collect()
}

#[test]
#[ignore = "exhaustive"]
fn every_format_of_every_recorded_host_is_safe_and_says_what_it_is() {
    for (name, mut report) in reports_of_recorded_hosts() {
        for (format, render) in PASTED {
            let text = render(&report);
            assert!(text.starts_with("# walwise "), "{name} {format}: {text}");
            assert!(
                uncommented_lines(&text).is_empty(),
                "{name} {format}: a capture masks names: {text}"
            );
            let empty = text.contains("# Nothing to change:\n# ");
            assert!(
                empty != text.contains("\n# ===="),
                "{name} {format}: empty without a reason: {text}"
            );
        }
        report.host.live = true;
        for text in Format::ALL
            .iter()
            .map(|format| format.render(&report).unwrap_or_else(|why| why))
        {
            assert!(
                text.lines().all(|line| !line.contains(is_display_unsafe)),
                "{name}: {text}"
            );
        }
    }
}

#[test]
#[ignore = "needs util-linux"]
fn findmnt_reads_a_line_as_it_was_meant() {
    for name in NAMES {
        let (source, point) = (format!("LABEL={name}"), format!("/srv/{name}"));
        let text = fstab::render_fstab_export(&nobarrier_report(
            "/etc/fstab",
            &source,
            &point,
            &["nobarrier", "x-mine=1"],
        ));
        let lines = uncommented_lines(&text);
        assert_eq!(lines.len(), 1, "{text}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fstab");
        fs::write(&file, text.as_bytes()).unwrap();
        let file = file.to_str().unwrap();
        let columns = "SOURCE,TARGET,FSTYPE,OPTIONS,FREQ,PASSNO";
        let json = run(
            "findmnt",
            &[
                "--tab-file",
                file,
                "--json",
                "--nocanonicalize",
                "--output",
                columns,
            ],
        );
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let row = &json["filesystems"][0];
        assert_eq!(row["target"], point, "{text}");
        assert_eq!(row["source"], source, "{text}");
        assert_eq!(
            (&row["fstype"], &row["options"]),
            (&"ext4".into(), &"x-mine=1".into()),
            "{text}"
        );
        let number = |key: &str| row[key].to_string().trim_matches('"').to_owned();
        assert_eq!(
            (number("freq"), number("passno")),
            ("0".to_owned(), "2".to_owned()),
            "{text}"
        );
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn pasted_fstab_line_mounts_with_the_advised_options() {
    let disk = LoopDevice::new(64);
    disk.mkfs(&["mkfs.ext4", "-q"]);
    let uuid = run("blkid", &["-p", "-s", "UUID", "-o", "value", &disk.device])
        .trim()
        .to_owned();
    let base = tempfile::tempdir().unwrap();
    let point = MountPoint(base.path().join("data of mine"));
    fs::create_dir(&point.0).unwrap();
    let mounted = point.0.to_str().unwrap();
    let written = mounted.replace(' ', "\\040");
    let table = base.path().join("fstab");
    let old = format!("# a comment\nUUID={uuid} {written} ext4 nobarrier,nofail,x-mine 0 2\n");
    fs::write(&table, &old).unwrap();
    run("mount", &["--fstab", table.to_str().unwrap(), mounted]);

    let walwise = crate::support::programs::walwise_path();
    let look =
        "mount --bind \"$1\" /etc/fstab && exec \"$2\" check \"$3\" --no-probe --format fstab";
    let output = private_mounts_shell(look)
        .args([table.as_os_str(), walwise.as_ref(), point.0.as_os_str()])
        .output_in_time();
    let text = stdout(&output);
    let lines = uncommented_lines(&text);
    assert_eq!(lines.len(), 1, "{text}{}", stderr(&output));
    let line = lines[0];
    assert!(
        line.starts_with(&format!("UUID={uuid} {written} ext4 nofail,x-mine"))
            && line.ends_with(" 0 2"),
        "{line}"
    );
    assert!(!line.contains("nobarrier"), "{line}");
    assert!(text.contains("\n# now: UUID="), "{text}");

    unmount(Path::new(mounted));
    // Another test may hold a copy of this mount in its own mount namespace, which keeps the
    // superblock and its options alive.
    let alive = Path::new("/sys/fs/ext4").join(Path::new(&disk.device).file_name().unwrap());
    wait_for_condition("the file system is nowhere mounted", || !alive.exists());
    let new = old
        .lines()
        .map(|old| if old.starts_with("UUID=") { line } else { old })
        .collect::<Vec<_>>();
    fs::write(&table, new.join("\n") + "\n").unwrap();
    run("mount", &["--fstab", table.to_str().unwrap(), mounted]);
    let options = run("findmnt", &["-no", "OPTIONS", mounted]);
    assert!(!options.contains("nobarrier"), "{options}");
}

fn scheduler_report(name: &str, file: &str, value: &str) -> Report {
    let mut report = nobarrier_report("/etc/fstab", "/dev/null", "/srv", &["nobarrier"]);
    let disk = Subject::device(name);
    let source = Source::from_file(format!("/sys/class/block/{name}/{file}"));
    report
        .facts
        .insert_known(&disk, &device::UNIT, value.to_owned(), source);
    let plan = report.plans.first_mut().unwrap();
    let step = plan.steps.first_mut().unwrap();
    step.subject = disk;
    step.advice.setting = settings::find_by_name("block.scheduler").unwrap();
    step.advice.change = walwise_judge::rules::Change::Set("64".to_owned());
    step.advice.risk = walwise_judge::rules::Risk::None;
    report
}

/// Returns the udev rules with `read_ahead_kb` instead of the scheduler, because every loop device
/// accepts that attribute.
fn read_ahead_rules(report: &Report) -> String {
    udev::render_udev_rules(report).replace("queue/scheduler", "queue/read_ahead_kb")
}

fn run_udevadm_test(rules: &str, device: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("99-walwise.rules"), rules).unwrap();
    let look = "set -e; mkdir -p /run/udev; for own in /run/udev /usr/lib/udev/rules.d; do mount -t tmpfs none $own; done\n\
        mount --bind \"$1\" /etc/udev/rules.d; exec udevadm test --action=change \"/sys/class/block/$2\"";
    let output = private_mounts_shell(look)
        .arg(dir.path())
        .arg(device)
        .output_in_time();
    stdout(&output) + &stderr(&output)
}

#[test]
#[ignore = "needs root: loop devices, udev"]
fn udev_takes_the_rules_and_finds_the_disk_by_its_identity() {
    let disk = LoopDevice::new(64);
    let ahead = format!("/sys/class/block/{}/queue/read_ahead_kb", disk.name());
    fs::write(&ahead, "128").unwrap();
    // A loop device has no serial number; the backing file identifies the device here.
    let file = fs::read_to_string(format!(
        "/sys/class/block/{}/loop/backing_file",
        disk.name()
    ))
    .unwrap();
    let short = Path::new(file.trim())
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(short, "image");
    let complaints = |says: &str| {
        says.lines()
            .any(|line| line.contains("99-walwise.rules") && line.contains("nvalid"))
    };

    let other = read_ahead_rules(&scheduler_report(disk.name(), "loop/autoclear", "1"));
    let says = run_udevadm_test(&other, disk.name());
    assert!(
        !complaints(&says) && uncommented_lines(&other).len() == 1,
        "{says}\n{other}"
    );
    assert_eq!(
        fs::read_to_string(&ahead).unwrap().trim(),
        "128",
        "another disk's rule: {says}"
    );

    let own = read_ahead_rules(&scheduler_report(disk.name(), "loop/autoclear", "0"));
    let says = run_udevadm_test(&own, disk.name());
    assert!(!complaints(&says), "{says}\n{own}");
    assert_eq!(
        fs::read_to_string(&ahead).unwrap().trim(),
        "64",
        "its own: {says}\n{own}"
    );

    let broken = own.replace("ATTR{queue", "ATRT{queue");
    assert!(
        complaints(&run_udevadm_test(&broken, disk.name())),
        "a broken rule is complained of"
    );
}

fn render_markdown(markdown: &str) -> String {
    let child = Command::new("cmark-gfm")
        .args([
            "--extension",
            "table",
            "--extension",
            "autolink",
            "--extension",
            "strikethrough",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    stdout(&child.output_for_input(markdown.as_bytes()))
}

#[test]
#[ignore = "needs cmark-gfm"]
fn a_renderer_finds_no_markup_in_names() {
    let evil = "<b>x</b> [a](http://b) ![c](d) **e** _f_ ~~g~~ `h` www.example.org me@example.org &amp; | i";
    let mut report = nobarrier_report("/etc/fstab", "/dev/null", "/srv", &["nobarrier"]);
    let tags = |html: &str| {
        let mut tags: Vec<String> = html
            .split('<')
            .skip(1)
            .map(|part| {
                part.split(['>', ' '])
                    .next()
                    .unwrap()
                    .trim_start_matches('/')
                    .to_owned()
            })
            .collect();
        tags.sort();
        tags.dedup();
        tags
    };
    let clean = tags(&render_markdown(&markdown::render(&report)));
    assert!(clean.contains(&"table".to_owned()), "{clean:?}");
    report.host.name = evil.to_owned();
    report.targets[0].title = evil.to_owned();
    report.warnings.push(evil.into());
    for finding in &mut report.findings {
        (finding.title, finding.because) = (evil.to_owned(), evil.into());
    }
    for step in &mut report.plans[0].steps {
        step.title = evil.to_owned();
    }
    let html = render_markdown(&markdown::render(&report));
    let allowed = [
        "code", "em", "h1", "h2", "h3", "h4", "li", "p", "pre", "strong", "table", "tbody", "td",
        "th", "thead", "tr", "ul",
    ];
    for tag in tags(&html) {
        assert!(allowed.contains(&tag.as_str()), "<{tag}> in {html}");
    }
    assert!(
        !html.contains("<em>f</em>")
            && !html.contains("<strong>e</strong>")
            && !html.contains("<code>h</code>"),
        "{html}"
    );
    assert!(
        html.contains("&lt;b&gt;x&lt;/b&gt; [a](http") && html.contains("&amp;amp; | i"),
        "{html}"
    );
}
