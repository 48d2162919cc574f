//! The next kernel: an fstab with mistakes of every kind on a recorded host, each reported exactly
//! once at its level. On the live host, the running kernel confirms which mounts fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::LoopDevice;
use crate::support::{fact, recorded, run, stderr, stdout, walwise};

/// A line of an fstab with the expected part, level, and a word of the sentence; `None` for a
/// correct line.
type Line = (
    &'static str,
    Option<(&'static str, &'static str, &'static str)>,
);

/// Written for Linux 6.1 and checked for Linux 6.17.
const LINES: &[Line] = &[
    ("UUID=01 / ext4 errors=remount-ro", None),
    ("UUID=02 /data xfs noatime", None),
    (
        "UUID=03 /m/removed btrfs inode_cache",
        Some(("blocker", "critical", "inode_cache is refused")),
    ),
    (
        "UUID=04 /m/ignored ext4 mand",
        Some(("loses-effect", "warning", "mand has no effect")),
    ),
    (
        "UUID=05 /m/deprecated xfs attr2",
        Some(("deprecated", "advice", "attr2 is deprecated")),
    ),
    (
        "UUID=06 /m/misspelt ext4 noatiem",
        Some(("not-known", "critical", "accepts noatiem")),
    ),
    (
        "UUID=07 /m/foreign ext4 nodatacow",
        Some(("blocker", "critical", "nodatacow is refused")),
    ),
    (
        "UUID=08 /m/strange xfs frobnicate",
        Some(("not-known", "critical", "accepts frobnicate")),
    ),
    (
        "UUID=nowhere /m/missing ext4 noatime",
        Some(("blocker", "critical", "UUID=nowhere is missing")),
    ),
    (
        "UUID=nowhere /m/optional ext4 noatime,nofail",
        Some(("blocker", "warning", "UUID=nowhere is missing")),
    ),
    (
        "UUID=09 /m/value ext4 data=orderly",
        Some(("blocker", "critical", "data=orderly is refused")),
    ),
    (
        "UUID=10 /m/alone ext4 journal_async_commit",
        Some(("blocker", "critical", "journal_async_commit is refused")),
    ),
    (
        "UUID=11 /m/type reiserfs noatime",
        Some(("blocker", "critical", "no reiserfs")),
    ),
    (
        "UUID=12 /m/undone btrfs nodatacow,compress=zstd",
        Some(("already", "warning", "compression overrides nodatacow")),
    ),
    (
        "UUID=13 /m/unsafe ext4 nobarrier",
        Some(("already", "critical", "barriers will be off")),
    ),
    ("UUID=14 /boot/efi vfat umask=0077", None),
    ("UUID=15 /m/by-hand ext4 noauto,noatime,commit=30", None),
    ("server:/export /m/nfs nfs4 hard,_netdev", None),
    ("tmpfs /tmp tmpfs size=1G", None),
];

/// A recorded host with another fstab.
fn host_with_fstab(dir: &Path, lines: &[Line]) -> String {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/sata-volatile.host");
    let recorded = fs::read_to_string(recorded).unwrap();
    let (before, fstab) = recorded.split_once("config fstab /etc/fstab\n").unwrap();
    let after = &fstab[fstab.find("\nconfig ").unwrap() + 1..];
    let rows = (1..).zip(lines).map(|(number, (line, _))| {
        let [source, point, fs, options] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        format!("|{number}\t{point}\t{source}\\\\x09{fs}\\\\x09{options}\\\\x09\\\\x09whole\n")
    });
    let rows = rows.collect::<Vec<_>>().concat();
    let ids = (1..=15)
        .map(|id| format!("|{id:02}\n"))
        .collect::<Vec<_>>()
        .concat();
    // The kernel's build text identifies the vendor.
    let before = before.replace("(gcc) #1 SMP", "(gcc) #1 SMP Debian 6.1.119-1 (2024-11-22)");
    let text =
        format!("{before}config fstab /etc/fstab\n{rows}list /dev/disk/by-uuid\n{ids}{after}");
    let path = dir.join("host");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn upgrade(arguments: &[&str]) -> Output {
    walwise().arg("upgrade").args(arguments).output_in_time()
}

/// Items of the answer, and the exit code.
fn upgrade_items(arguments: &[&str]) -> (i32, Vec<Value>) {
    let output = upgrade(&[arguments, &["--format", "json"]].concat());
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    (
        output.status.code().unwrap(),
        report["upgrade"]["items"].as_array().unwrap().clone(),
    )
}

fn text<'v>(item: &'v Value, key: &str) -> &'v str {
    item[key].as_str().unwrap_or_default()
}

#[test]
fn every_mistake_is_named_once_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), LINES);
    let (code, items) = upgrade_items(&["--kernel", "6.17", "--host", &host]);
    let of_boot: Vec<&Value> = items
        .iter()
        .filter(|item| text(item, "subject").starts_with("boot "))
        .collect();
    let mut wrong = Vec::new();
    for (number, (line, expected)) in (1..).zip(LINES) {
        let place = format!("/etc/fstab:{number}");
        let found: Vec<&&Value> = of_boot
            .iter()
            .filter(|item| text(item, "place") == place)
            .collect();
        let right = match (&found[..], expected) {
            ([], None) => true,
            ([item], Some((part, level, what))) => {
                (text(item, "part"), text(item, "level")) == (part, level)
                    && text(item, "what").contains(what)
            }
            _ => false,
        };
        if !right {
            wrong.push(format!("{line}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mistakes = LINES
        .iter()
        .filter(|(_, expected)| expected.is_some())
        .count();
    assert_eq!(of_boot.len(), mistakes, "every item stands on a line");
    assert!(mistakes >= 10 && code == 3, "{mistakes} {code}");
    // Failures that stop the boot come first.
    let parts: Vec<&str> = items.iter().map(|item| text(item, "part")).collect();
    let first = parts.iter().take_while(|part| **part == "blocker").count();
    assert_eq!(
        first,
        parts.iter().filter(|part| **part == "blocker").count(),
        "{parts:?}"
    );

    let page = stdout(&upgrade(&["--kernel", "6.17", "--host", &host]));
    for (number, (line, expected)) in (1..).zip(LINES) {
        let named = page
            .lines()
            .filter(|row| row.contains(&format!("/etc/fstab:{number}:")))
            .count();
        assert_eq!(named, usize::from(expected.is_some()), "{line}\n{page}");
    }
    for says in [
        "Did you mean `noatime`?",
        "The boot stops in emergency mode.",
        "kernel.release = 6.17 (assumed",
    ] {
        let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(says), "{says}: {page}");
    }
}

/// A mistake counts for the upgrade only if the current kernel accepts it.
#[test]
fn what_the_upgrade_brings_is_told_from_what_is_there_already() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), LINES);
    let (_, items) = upgrade_items(&["--kernel", "6.17", "--host", &host]);
    let already = |what: &str| {
        let item = items
            .iter()
            .find(|item| text(item, "what").contains(what))
            .unwrap();
        item["already"].as_bool().unwrap()
    };
    assert!(!already("inode_cache is refused") && !already("no reiserfs"));
    assert!(
        already("nodatacow is refused") && already("data=orderly") && already("mand has no effect")
    );
    // The reverse direction: Linux 4.14 obeys an option that 6.17 refuses.
    let after = fs::read_to_string(&host)
        .unwrap()
        .replace("6.1.0-28-amd64", "6.17.3");
    let after = after.replace("Debian 6.1.119-1", "Debian 6.17.3-1");
    fs::write(&host, after).unwrap();
    let (_, items) = upgrade_items(&["--kernel", "4.14", "--host", &host]);
    let better = items
        .iter()
        .find(|item| text(item, "what").starts_with("inode_cache"))
        .unwrap();
    assert_eq!(
        (text(better, "part"), text(better, "subject")),
        ("better", "boot /m/removed")
    );
}

/// A component given with its current version changes nothing, and an older kernel is not an
/// upgrade.
#[test]
fn what_is_assumed_is_held_against_what_is() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/sata-volatile.host");
    let page = |arguments: &[&str]| {
        let output = upgrade(&[arguments, &["--host", host.to_str().unwrap()]].concat());
        stdout(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let older = "is older than the running kernel, 6.1.0-28-amd64";
    let next = page(&["--kernel", "6.12", "--os", "debian12"]);
    assert!(
        next.contains("assumed kernel.release = 6.12 (assumed; actual: 6.1.0-28-amd64)"),
        "{next}"
    );
    assert!(
        next.contains("unchanged os.id = debian unchanged os.version = 12"),
        "{next}"
    );
    assert!(
        !next.contains("actual: debian)") && !next.contains(older),
        "{next}"
    );
    assert!(page(&["--kernel", "5.10"]).contains(&format!("5.10 {older}")));
    for same in ["6.1", "6.1.0-28-amd64", "6.1.0-9-amd64"] {
        assert!(!page(&["--kernel", same]).contains("older than"), "{same}");
    }
}

#[test]
fn the_exit_code_is_that_of_what_stands_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    for (line, warning, undecided) in [
        ("UUID=01 /m/a ext4 noatime", 0, 0),
        ("UUID=01 /m/a xfs attr2", 0, 0),
        ("UUID=01 /m/a ext4 noatiem", 4, 5),
        ("UUID=01 /m/a ext4 nodatacow", 3, 3),
    ] {
        let host = host_with_fstab(
            dir.path(),
            &[("UUID=02 / ext4 defaults", None), (line, None)],
        );
        let code = |more: &[&str]| {
            let arguments = [&["--kernel", "6.17", "--host", host.as_str()][..], more].concat();
            let codes = ["text", "json"].map(|format| {
                upgrade(&[&arguments[..], &["--format", format]].concat())
                    .status
                    .code()
                    .unwrap()
            });
            assert_eq!(codes[0], codes[1], "{line}");
            codes[0]
        };
        assert_eq!(
            (
                code(&["--fail-on", "warning"]),
                code(&["--fail-on-undecided"])
            ),
            (warning, undecided),
            "{line}"
        );
    }
}

#[test]
fn a_distribution_without_the_file_system_is_a_blocker() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(
        dir.path(),
        &[
            ("UUID=01 / ext4 defaults", None),
            ("UUID=02 /m/a btrfs noatime", None),
        ],
    );
    let (code, items) = upgrade_items(&["--os", "rhel10", "--host", &host]);
    assert_eq!(code, 3, "{items:#?}");
    let blockers: Vec<&Value> = items
        .iter()
        .filter(|item| text(item, "part") == "blocker")
        .collect();
    assert!(
        blockers.len() == 1 && text(blockers[0], "what").contains("no btrfs"),
        "{blockers:#?}"
    );
    assert_eq!(
        upgrade_items(&["--kernel", "6.18", "--os", "debian", "--host", &host]).0,
        0
    );
}

/// New tools create file systems that the kernel cannot mount.
#[test]
fn newer_tools_than_the_kernel_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), &[("UUID=01 / ext4 defaults", None)]);
    let (_, items) = upgrade_items(&["--xfsprogs", "6.18", "--host", &host]);
    let item = items
        .iter()
        .find(|item| text(item, "what").contains("a newly created xfs"))
        .unwrap();
    assert!(text(item, "because").contains("parent"), "{item}");
}

#[test]
fn wrong_use_is_said() {
    for (arguments, says) in [
        (&["--kernel", "soon"][..], "--kernel takes a version"),
        (&["--os", "debain13"], "did you mean `debian`"),
        (&["--os", "fedora42"], "--kernel"),
        (&["--xfsprogs", "new"], "--xfsprogs takes a version"),
        (
            &["--kernel", "6.12", "--assume", "kernel.colour=red"],
            "no fact `kernel.colour`",
        ),
        (&[], "--kernel <VERSION>|--os <NAME>|--e2fsprogs"),
    ] {
        let output = upgrade(arguments);
        let complaint = stderr(&output);
        assert!(
            output.status.code() == Some(2) && complaint.contains(says),
            "{arguments:?}: {complaint}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

/// Recorded hosts of every kind with a later or earlier kernel: each gets an answer.
#[test]
fn any_machine_can_be_asked_about_any_kernel() {
    let kernels = [
        &["--kernel", "3.10.0-1160.el7.x86_64"][..],
        &["--os", "rhel10"],
        &["--kernel", "7.2", "--os", "debian"],
    ];
    let mut seen = BTreeSet::new();
    for (at, host) in recorded::recorded_host_files().iter().enumerate() {
        let kernel = kernels[at % kernels.len()];
        let (code, items) = upgrade_items(&[kernel, &["--host", host.to_str().unwrap()]].concat());
        assert!([0, 3].contains(&code), "{}: {code}", host.display());
        seen.extend(items.iter().map(|item| text(item, "part").to_owned()));
    }
    assert!(
        seen.contains("changes") && seen.contains("better"),
        "{seen:?}"
    );
}

/// The live host with an fstab of real devices: the running kernel refuses each line reported as
/// refused, and mounts every other line.
#[test]
#[ignore = "needs root: mounts loop devices, and a file over /etc/fstab in a name space of its own"]
fn what_is_said_to_be_refused_is_refused() {
    let disk = |fs: &str| {
        let disk = LoopDevice::new(512);
        disk.mkfs(&[&format!("mkfs.{fs}"), "-q"]);
        disk
    };
    let disks = [
        ("ext4", disk("ext4")),
        ("xfs", disk("xfs")),
        ("btrfs", disk("btrfs")),
    ];
    let lines = [
        ("ext4", "nodatacow"),
        ("ext4", "data=orderly"),
        ("ext4", "journal_async_commit"),
        ("ext4", "noatime,commit=30"),
        ("xfs", "nobarrier"),
        ("xfs", "noatime,logbsize=64k"),
        ("xfs", "data=ordered"),
        ("btrfs", "inode_cache"),
        ("btrfs", "noatime,compress=zstd"),
    ];
    let of = |fs: &str| &disks.iter().find(|(name, _)| *name == fs).unwrap().1;
    let dir = tempfile::tempdir().unwrap();
    let fstab = dir.path().join("fstab");
    let row = |(at, (fs, options)): (usize, &(&str, &str))| {
        format!("{} /walwise-none/{at} {fs} {options} 0 0\n", of(fs).device)
    };
    let mut table = lines
        .iter()
        .enumerate()
        .map(row)
        .collect::<Vec<_>>()
        .concat();
    table.push_str("/dev/walwise-none /walwise-none/missing ext4 defaults 0 0\n");
    fs::write(&fstab, table).unwrap();
    let kernel = run("uname", &["-r"]);
    let program = walwise();
    let script = format!(
        "mount --bind {} /etc/fstab && exec {} upgrade --kernel {} --format json",
        fstab.display(),
        program.get_program().to_str().unwrap(),
        kernel.trim()
    );
    let output = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", &script])
        .output_in_time();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let items = report["upgrade"]["items"].as_array().unwrap();
    let blockers = |at: usize| {
        let of_line = |item: &&Value| text(item, "subject") == format!("boot /walwise-none/{at}");
        let blocks = |item: &&Value| text(item, "part") == "blocker";
        items.iter().filter(of_line).filter(blocks).count()
    };
    for (at, (fs, options)) in lines.iter().enumerate() {
        let refused = of(fs).try_mount(options).is_err();
        assert_eq!(
            blockers(at),
            usize::from(refused),
            "{fs} {options}: {items:#?}"
        );
    }
    // In a container the administrator chooses the devices under /dev.
    if fact(&report, "host", "host.container") == Some(&Value::from("none")) {
        let missing = items
            .iter()
            .filter(|item| text(item, "subject") == "boot /walwise-none/missing")
            .count();
        assert_eq!(missing, 1, "{items:#?}");
        assert_eq!(output.status.code(), Some(3));
    }
}

/// After the upgrade, with the earlier report as baseline: each mistake appears once, and only
/// those that the new kernel causes are marked new.
#[test]
fn with_a_baseline_from_before_every_mistake_is_named_once() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), LINES);
    let check = |arguments: &[&str]| {
        let output = walwise()
            .args(["check", "--host", &host])
            .args(arguments)
            .output_in_time();
        stdout(&output)
    };
    let before = dir.path().join("before.json");
    fs::write(&before, check(&["-v", "--format", "json"])).unwrap();
    let after = fs::read_to_string(&host)
        .unwrap()
        .replace("6.1.0-28-amd64", "6.17.3");
    let after = after.replace("Debian 6.1.119-1", "Debian 6.17.3-1");
    fs::write(&host, after).unwrap();
    let baseline = ["--baseline", before.to_str().unwrap()];
    let report: Value = serde_json::from_str(&check(
        &[&baseline[..], &["-v", "--format", "json"]].concat(),
    ))
    .unwrap();
    let findings = report["baseline"]["findings"].as_array().unwrap();
    let serious = |finding: &&Value| {
        finding["now"]["applies"] == true
            && ["critical", "warning", "advice"].contains(&text(&finding["now"], "level"))
    };
    let mut new = Vec::new();
    for (line, expected) in LINES {
        let point = line.split(' ').nth(1).unwrap();
        let subject = format!("boot {point}");
        let found: Vec<&Value> = findings
            .iter()
            .filter(|finding| text(finding, "subject") == subject)
            .filter(serious)
            .collect();
        let levels: Vec<&str> = found
            .iter()
            .map(|finding| text(&finding["now"], "level"))
            .collect();
        // An unknown option is a warning, whatever its effect.
        let level = |(part, level, _)| {
            if part == "not-known" {
                "warning"
            } else {
                level
            }
        };
        assert_eq!(levels, expected.map(level).as_slice(), "{line}: {found:#?}");
        new.extend(
            found
                .iter()
                .filter(|finding| text(finding, "class") == "new")
                .map(|_| point),
        );
    }
    assert_eq!(
        new,
        ["/m/removed", "/m/type"],
        "6.1 still takes the one and may have the other"
    );
    let page = check(&[&baseline[..], &["-v"]].concat());
    let worse = page
        .split_once("Worse now")
        .unwrap()
        .1
        .split_once("Better now")
        .unwrap()
        .0;
    for (number, (line, _)) in (1..).zip(LINES) {
        let named = worse.matches(&format!("/etc/fstab:{number}:")).count();
        assert_eq!(
            named,
            usize::from(new.contains(&line.split(' ').nth(1).unwrap())),
            "{line}\n{worse}"
        );
    }
}

/// ZFS modules are built for one kernel, so an unsupported kernel leaves every pool unavailable
/// after the boot.
#[test]
fn a_kernel_beyond_what_openzfs_supports_stands_in_the_way() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/zfs-sync-standard.host");
    let of_zfs = |module: &str, kernel: &str| {
        let assumed = format!("zfs.version={module}");
        let arguments = [
            "--host",
            host.to_str().unwrap(),
            "--kernel",
            kernel,
            "--assume",
            &assumed,
        ];
        let (code, items) = upgrade_items(&arguments);
        let items: Vec<(String, bool)> = items
            .iter()
            .filter(|item| item["rule"] == "zfs.kernel-too-new")
            .map(|item| {
                (
                    item["part"].as_str().unwrap().to_owned(),
                    item["undecided"] == true,
                )
            })
            .collect();
        (code, items)
    };
    assert_eq!(
        of_zfs("2.1.11-1", "6.12"),
        (3, vec![("blocker".to_owned(), false)])
    );
    assert_eq!(of_zfs("2.3.2-2", "6.12"), (0, vec![]));
    let (_, open) = of_zfs("0.8.6", "6.12");
    assert_eq!(
        open,
        [("not-known".to_owned(), true)],
        "the table does not know that release"
    );
}

/// A type missing from the table counts as undecided.
#[test]
fn a_file_system_that_the_table_does_not_know_cannot_be_told() {
    let dir = tempfile::tempdir().unwrap();
    for (line, kernel) in [
        ("UUID=01 /m/a hfsplus noatime", "6.17"),
        ("UUID=02 /m/b newfs noatime", "6.12"),
    ] {
        let host = host_with_fstab(dir.path(), &[(line, None)]);
        let arguments = ["--host", &host, "--kernel", kernel];
        let (_, items) = upgrade_items(&arguments);
        let about = items.iter().find(|item| {
            item["what"]
                .as_str()
                .unwrap()
                .starts_with("it is unknown whether the new kernel has")
        });
        assert_eq!(
            about.unwrap_or_else(|| panic!("{line}: {items:?}"))["part"],
            "not-known",
            "{line}"
        );
        let (code, _) = upgrade_items(&[&arguments[..], &["--fail-on-undecided"]].concat());
        assert_eq!(code, 5, "{line}");
    }
    let host = host_with_fstab(
        dir.path(),
        &[
            ("UUID=14 /boot/efi vfat umask=0077", None),
            ("tmpfs /tmp tmpfs size=1G", None),
        ],
    );
    let (code, items) =
        upgrade_items(&["--host", &host, "--kernel", "6.17", "--fail-on-undecided"]);
    assert!(
        !items.iter().any(|item| item["part"] == "not-known"),
        "{code}: {items:?}"
    );
}

/// Contents of a disk may need code that the new kernel lacks, even if the file system does not
/// change.
#[test]
fn formats_that_a_kernel_has_no_code_for_stand_in_the_way() {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let formats = |host: &Path, arguments: &[&str]| {
        let arguments = [&["--host", host.to_str().unwrap()], arguments].concat();
        let (code, items) = upgrade_items(&arguments);
        let about = items
            .iter()
            .filter(|item| item["what"].as_str().unwrap().starts_with("it is a"));
        let rows: Vec<(String, bool)> = about
            .map(|item| {
                (
                    item["part"].as_str().unwrap().to_owned(),
                    item["undecided"] == true,
                )
            })
            .collect();
        (code, rows)
    };
    let xfs = hosts.join("el8-xfs-nobarrier.host");
    let v4 = ["--assume", "xfs.features@/data=v4,nlink,dirv2"];
    let blocker = (3, vec![("blocker".to_owned(), false)]);
    assert_eq!(
        formats(&xfs, &[&["--os", "rhel10"], &v4[..]].concat()),
        blocker
    );
    assert_eq!(formats(&xfs, &[&["--os", "rhel9"], &v4[..]].concat()).1, []);
    let open = vec![("not-known".to_owned(), true)];
    assert_eq!(
        formats(
            &xfs,
            &[&["--os", "debian13", "--kernel", "6.18"], &v4[..]].concat()
        )
        .1,
        open
    );
    assert_eq!(
        formats(
            &xfs,
            &["--os", "rhel10", "--assume", "xfs.features@/data=v5,crc"]
        )
        .1,
        []
    );

    let place = tempfile::tempdir().unwrap();
    let recorded = fs::read_to_string(hosts.join("lab-md-raid1-resync.host")).unwrap();
    let array = place.path().join("array");
    let linear = recorded.replace("/md/level\n|raid1\n", "/md/level\n|linear\n");
    assert_ne!(linear, recorded);
    fs::write(&array, linear).unwrap();
    assert_eq!(formats(&array, &["--kernel", "6.8"]), blocker);
    assert_eq!(
        formats(&array, &["--kernel", "6.12"]),
        blocker,
        "Debian builds 6.12 without it"
    );
    assert_eq!(
        formats(&array, &["--kernel", "6.14"]).1,
        open,
        "it came back"
    );
    assert_eq!(formats(&array, &["--kernel", "6.6"]).1, []);
}

/// A kernel known to damage data is reported both as the new kernel and as the running one.
#[test]
fn a_kernel_that_corrupts_data_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (running, next, part) in [
        ("6.1.119-1", "6.1.64", "changes"),
        ("6.1.64-1", "6.1.65", "changes"),
        ("6.1.64-1", "6.1.66", "better"),
    ] {
        let host = host_with_fstab(dir.path(), LINES);
        let recorded = fs::read_to_string(&host)
            .unwrap()
            .replace("6.1.119-1", running);
        fs::write(&host, recorded).unwrap();
        let (_, items) = upgrade_items(&["--host", &host, "--kernel", next]);
        let named: Vec<&str> = items
            .iter()
            .filter(|item| text(item, "rule") == "release.ext4-direct-writes")
            .map(|item| text(item, "part"))
            .collect();
        assert_eq!(
            named.first(),
            Some(&part),
            "from {running} to {next}: {named:?}"
        );
    }
}
