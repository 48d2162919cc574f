//! The next kernel: an fstab with mistakes of every kind on a recorded host, each reported exactly
//! once at its level. On the live host, the running kernel confirms which mounts fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::LoopDevice;
use crate::support::{
    check_json, known_fact_value, recorded, rule_outcome, run, stderr, stdout, walwise,
};

/// An fstab line, and the `part`, `level` and a piece of `what` of the expected item; `None` for a
/// correct line.
type FstabLineCase = (
    &'static str,
    Option<(&'static str, &'static str, &'static str)>,
);

/// Lines of an fstab written for Linux 6.1 and checked for Linux 6.17.
const LINES: &[FstabLineCase] = &[
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
        Some(("blocker", "critical", "noatiem is refused")),
    ),
    (
        "UUID=07 /m/foreign ext4 nodatacow",
        Some(("blocker", "critical", "nodatacow is refused")),
    ),
    (
        "UUID=08 /m/strange xfs frobnicate",
        Some(("blocker", "critical", "frobnicate is refused")),
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

fn host_with_fstab(dir: &Path, lines: &[FstabLineCase]) -> String {
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

fn run_upgrade(arguments: &[&str]) -> Output {
    walwise().arg("upgrade").args(arguments).output_in_time()
}

fn upgrade_items(arguments: &[&str]) -> (i32, Vec<Value>) {
    let output = run_upgrade(&[arguments, &["--format", "json"]].concat());
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    (
        output.status.code().unwrap(),
        report["upgrade"]["items"].as_array().unwrap().clone(),
    )
}

fn string_field<'v>(item: &'v Value, key: &str) -> &'v str {
    item[key].as_str().unwrap_or_default()
}

#[test]
fn every_fstab_mistake_is_reported_exactly_once() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), LINES);
    let (code, items) = upgrade_items(&["--kernel", "6.17", "--host", &host]);
    let of_boot: Vec<&Value> = items
        .iter()
        .filter(|item| string_field(item, "subject").starts_with("boot "))
        .collect();
    let mut wrong = Vec::new();
    for (number, (line, expected)) in (1..).zip(LINES) {
        let place = format!("/etc/fstab:{number}");
        let found: Vec<&&Value> = of_boot
            .iter()
            .filter(|item| string_field(item, "place") == place)
            .collect();
        let right = match (&found[..], expected) {
            ([], None) => true,
            ([item], Some((part, level, what))) => {
                (string_field(item, "part"), string_field(item, "level")) == (part, level)
                    && string_field(item, "what").contains(what)
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
    let parts: Vec<&str> = items
        .iter()
        .map(|item| string_field(item, "part"))
        .collect();
    let first = parts.iter().take_while(|part| **part == "blocker").count();
    assert_eq!(
        first,
        parts.iter().filter(|part| **part == "blocker").count(),
        "{parts:?}"
    );

    let page = stdout(&run_upgrade(&["--kernel", "6.17", "--host", &host]));
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

#[test]
fn new_problems_are_distinguished_from_existing_ones() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), LINES);
    let (_, items) = upgrade_items(&["--kernel", "6.17", "--host", &host]);
    let already = |what: &str| {
        let item = items
            .iter()
            .find(|item| string_field(item, "what").contains(what))
            .unwrap();
        item["already"].as_bool().unwrap()
    };
    assert!(!already("inode_cache is refused") && !already("no reiserfs"));
    assert!(
        already("nodatacow is refused") && already("data=orderly") && already("mand has no effect")
    );
    // Linux 4.14 accepts an option that 6.17 refuses.
    let after = fs::read_to_string(&host)
        .unwrap()
        .replace("6.1.0-28-amd64", "6.17.3");
    let after = after.replace("Debian 6.1.119-1", "Debian 6.17.3-1");
    fs::write(&host, after).unwrap();
    let (_, items) = upgrade_items(&["--kernel", "4.14", "--host", &host]);
    let better = items
        .iter()
        .find(|item| string_field(item, "what").starts_with("inode_cache"))
        .unwrap();
    assert_eq!(
        (
            string_field(better, "part"),
            string_field(better, "subject")
        ),
        ("better", "boot /m/removed")
    );
}

#[test]
fn assumed_versions_are_compared_with_actual_ones() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/sata-volatile.host");
    let page = |arguments: &[&str]| {
        let output = run_upgrade(&[arguments, &["--host", host.to_str().unwrap()]].concat());
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
fn exit_code_reflects_the_blockers() {
    let dir = tempfile::tempdir().unwrap();
    for (line, warning, undecided) in [
        ("UUID=01 /m/a ext4 noatime", 0, 0),
        ("UUID=01 /m/a xfs attr2", 0, 0),
        ("UUID=01 /m/a ext4 noatiem", 3, 3),
        ("UUID=01 /m/a vfat frobnicate", 0, 5),
        ("UUID=01 /m/a ext4 nodatacow", 3, 3),
    ] {
        let host = host_with_fstab(
            dir.path(),
            &[("UUID=02 / ext4 defaults", None), (line, None)],
        );
        let code = |more: &[&str]| {
            let arguments = [&["--kernel", "6.17", "--host", host.as_str()][..], more].concat();
            let codes = ["text", "json"].map(|format| {
                run_upgrade(&[&arguments[..], &["--format", format]].concat())
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
        .filter(|item| string_field(item, "part") == "blocker")
        .collect();
    assert!(
        blockers.len() == 1 && string_field(blockers[0], "what").contains("no btrfs"),
        "{blockers:#?}"
    );
    assert_eq!(
        upgrade_items(&["--kernel", "6.18", "--os", "debian", "--host", &host]).0,
        0
    );
}

#[test]
fn tools_newer_than_the_kernel_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let host = host_with_fstab(dir.path(), &[("UUID=01 / ext4 defaults", None)]);
    let (_, items) = upgrade_items(&["--xfsprogs", "6.18", "--host", &host]);
    let item = items
        .iter()
        .find(|item| string_field(item, "what").contains("a new xfs"))
        .unwrap();
    assert!(string_field(item, "because").contains("parent"), "{item}");
}

#[test]
fn upgrade_usage_errors_are_reported() {
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
        let output = run_upgrade(arguments);
        let complaint = stderr(&output);
        assert!(
            output.status.code() == Some(2) && complaint.contains(says),
            "{arguments:?}: {complaint}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
#[ignore = "exhaustive"]
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
        seen.extend(
            items
                .iter()
                .map(|item| string_field(item, "part").to_owned()),
        );
    }
    assert!(
        seen.contains("changes") && seen.contains("better"),
        "{seen:?}"
    );
}

#[test]
#[ignore = "needs root: mounts loop devices, and a file over /etc/fstab in a name space of its own"]
fn options_reported_as_refused_fail_to_mount() {
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
        let of_line =
            |item: &&Value| string_field(item, "subject") == format!("boot /walwise-none/{at}");
        let blocks = |item: &&Value| string_field(item, "part") == "blocker";
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
    if known_fact_value(&report, "host", "host.container") == Some(&Value::from("none")) {
        let missing = items
            .iter()
            .filter(|item| string_field(item, "subject") == "boot /walwise-none/missing")
            .count();
        assert_eq!(missing, 1, "{items:#?}");
        assert_eq!(output.status.code(), Some(3));
    }
}

#[test]
fn fstab_mistakes_are_reported_once_despite_baseline() {
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
            && ["critical", "warning", "advice"].contains(&string_field(&finding["now"], "level"))
    };
    let mut new = Vec::new();
    for (line, expected) in LINES {
        let point = line.split(' ').nth(1).unwrap();
        let subject = format!("boot {point}");
        let found: Vec<&Value> = findings
            .iter()
            .filter(|finding| string_field(finding, "subject") == subject)
            .filter(serious)
            .collect();
        let levels: Vec<&str> = found
            .iter()
            .map(|finding| string_field(&finding["now"], "level"))
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
                .filter(|finding| string_field(finding, "class") == "new")
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
fn kernel_unsupported_by_openzfs_is_a_blocker() {
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

#[test]
fn unknown_file_system_is_reported_as_not_known() {
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
                .starts_with("it is unknown whether the new kernel supports")
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

#[test]
fn on_disk_formats_without_kernel_support_are_blockers() {
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
            .filter(|item| string_field(item, "rule") == "release.ext4-direct-writes")
            .map(|item| string_field(item, "part"))
            .collect();
        assert_eq!(
            named.first(),
            Some(&part),
            "from {running} to {next}: {named:?}"
        );
    }
}

/// Edits of a recorded host so that a known change affects it, and further edits (`neighbours`)
/// so that the change does not.
struct KnownChangeCase {
    rule: &'static str,
    host: &'static str,
    edits: &'static [(&'static str, &'static str)],
    next: [&'static str; 2],
    neighbours: &'static [(&'static str, &'static str)],
    other_next: [&'static str; 2],
}

const IO_URING_HOST: &str = "postgres18-io-uring";
const MYSQL_HOST: &str = "mysql80-binlog-beside";
const MEMLOCK: &str = "|Max locked memory         8388608 ";
const MYSQL_OPTION: &str = "|14\tmysqld.datadir\t/data/mysql\n";
const IO_METHOD: &str = "|io_method\tio_uring\t\tconfiguration file\t\t\n";

const KNOWN_CHANGES: &[KnownChangeCase] = &[
    KnownChangeCase {
        rule: "change.pg-io-uring-memlock",
        host: IO_URING_HOST,
        edits: &[],
        next: ["--kernel", "7.0"],
        neighbours: &[
            (MEMLOCK, "|Max locked memory  268435456 "),
            ("io_method\tio_uring", "io_method\tworker"),
        ],
        other_next: ["--kernel", "6.12"],
    },
    KnownChangeCase {
        rule: "change.pg-no-huge-pages",
        host: IO_URING_HOST,
        edits: &[
            (
                IO_METHOD,
                "|io_method\tio_uring\t\tconfiguration file\t\t\n|huge_pages_status\toff\t\tdefault\t\t\n",
            ),
            (
                "|shared_buffers\t16384\t8kB",
                "|shared_buffers\t8388608\t8kB",
            ),
            ("|cpus=16", "|cpus=64"),
        ],
        next: ["--kernel", "7.0"],
        neighbours: &[
            ("huge_pages_status\toff", "huge_pages_status\ton"),
            ("|cpus=64", "|cpus=16"),
            ("shared_buffers\t8388608", "shared_buffers\t16384"),
        ],
        other_next: ["--kernel", "6.12"],
    },
    KnownChangeCase {
        rule: "change.pg-checksums",
        host: "azure-nvme-pg16",
        edits: &[],
        next: ["--os", "ubuntu26.04"],
        neighbours: &[("data_checksums\toff", "data_checksums\ton")],
        other_next: ["--os", "ubuntu24.04"],
    },
    KnownChangeCase {
        rule: "change.mysql-direct-io",
        host: MYSQL_HOST,
        edits: &[],
        next: ["--os", "ubuntu26.04"],
        neighbours: &[(
            MYSQL_OPTION,
            "|14\tmysqld.datadir\t/data/mysql\n|16\tmysqld.innodb_flush_method\tfsync\n",
        )],
        other_next: ["--os", "ubuntu24.04"],
    },
    KnownChangeCase {
        rule: "change.mysql-io-capacity",
        host: MYSQL_HOST,
        edits: &[(
            "nvme1n1/queue/rotational\n|0",
            "nvme1n1/queue/rotational\n|1",
        )],
        next: ["--os", "ubuntu26.04"],
        neighbours: &[
            (
                "nvme1n1/queue/rotational\n|1",
                "nvme1n1/queue/rotational\n|0",
            ),
            (
                MYSQL_OPTION,
                "|14\tmysqld.datadir\t/data/mysql\n|16\tmysqld.innodb_io_capacity\t200\n",
            ),
        ],
        other_next: ["--os", "ubuntu24.04"],
    },
    KnownChangeCase {
        rule: "change.mysql-binary-log",
        host: MYSQL_HOST,
        edits: &[("Ver 8.0.40", "Ver 5.7.44")],
        next: ["--os", "ubuntu22.04"],
        neighbours: &[
            ("Ver 5.7.44", "Ver 8.0.30"),
            (
                MYSQL_OPTION,
                "|14\tmysqld.datadir\t/data/mysql\n|16\tmysqld.log_bin\tbinlog\n",
            ),
        ],
        other_next: ["--kernel", "5.15"],
    },
    KnownChangeCase {
        rule: "change.mariadb-direct-io",
        host: "mariadb1011-ext4",
        edits: &[
            ("Ver 10.11.8", "Ver 10.5.29"),
            (
                "innodb_flush_method\tO_DIRECT",
                "innodb_flush_method\tfsync",
            ),
        ],
        next: ["--os", "debian12"],
        neighbours: &[
            ("Ver 10.5.29", "Ver 10.6.21"),
            (
                "|13\tmysqld.log_bin\tbinlog\n",
                "|13\tmysqld.log_bin\tbinlog\n|14\tmysqld.innodb_flush_method\tfsync\n",
            ),
        ],
        other_next: ["--os", "debian11"],
    },
    KnownChangeCase {
        rule: "change.mariadb-no-fsync",
        host: "mariadb1011-ext4",
        edits: &[(
            "innodb_flush_method\tO_DIRECT",
            "innodb_flush_method\tO_DIRECT_NO_FSYNC",
        )],
        next: ["--os", "debian13"],
        neighbours: &[(
            "innodb_flush_method\tO_DIRECT_NO_FSYNC",
            "innodb_flush_method\tO_DIRECT",
        )],
        other_next: ["--os", "debian12"],
    },
    KnownChangeCase {
        rule: "change.mariadb-io-uring",
        host: "mariadb1011-ext4",
        edits: &[("Ver 10.11.8", "Ver 10.6.4")],
        next: ["--kernel", "5.14.18-arch1-1"],
        neighbours: &[
            ("Ver 10.6.4", "Ver 10.5.29"),
            ("innodb_use_native_aio\tON", "innodb_use_native_aio\tOFF"),
        ],
        other_next: ["--kernel", "5.15.3-arch1-1"],
    },
    KnownChangeCase {
        rule: "change.btrfs-inode-cache",
        host: "btrfs-kernel-5-19-pg14",
        edits: &[("rw,space_cache=v2,", "rw,space_cache=v2,inode_cache,")],
        next: ["--kernel", "6.12"],
        neighbours: &[("inode_cache,", "")],
        other_next: ["--kernel", "6.8"],
    },
];

/// A server that runs under today's kernel proves nothing about the next one.
#[test]
fn a_known_change_is_named_where_its_condition_holds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edited.host");
    let judged = |text: &str, next: [&str; 2], rule: &str| -> Vec<bool> {
        fs::write(&path, text).unwrap();
        let (_, items) = upgrade_items(&["--host", path.to_str().unwrap(), next[0], next[1]]);
        let of_rule = items.iter().filter(|item| item["rule"] == rule);
        of_rule.map(|item| item["undecided"] == true).collect()
    };
    let edited = |text: &str, (old, new): &(&str, &str)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    };
    for case in KNOWN_CHANGES {
        let recorded = fs::read_to_string(recorded::recorded_host_file(case.host)).unwrap();
        let host = case
            .edits
            .iter()
            .fold(recorded, |text, edit| edited(&text, edit));
        assert_eq!(
            judged(&host, case.next, case.rule),
            [false],
            "{}",
            case.rule
        );
        assert_eq!(
            judged(&host, case.other_next, case.rule),
            [false; 0],
            "{} under {:?}",
            case.rule,
            case.other_next
        );
        for edit in case.neighbours {
            assert_eq!(
                judged(&edited(&host, edit), case.next, case.rule),
                [false; 0],
                "{} with {edit:?}",
                case.rule
            );
        }
    }
    let all: BTreeSet<&str> = KNOWN_CHANGES.iter().map(|case| case.rule).collect();
    let table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/known-changes.toml"))
            .unwrap();
    let rows = table.split("[[change]]").skip(1);
    let predicted = rows
        .filter(|row| !row.contains("\"slower if measured\""))
        .count();
    assert_eq!(all.len(), predicted, "every row has a host");

    let recorded = fs::read_to_string(recorded::recorded_host_file(IO_URING_HOST)).unwrap();
    for edit in [
        (MEMLOCK, "|Max locked memory  x"),
        ("max_connections\t1000", "max_connections\t100"),
    ] {
        let host = edited(&recorded, &edit);
        assert_eq!(
            judged(&host, ["--kernel", "7.0"], "change.pg-io-uring-memlock"),
            [true],
            "unknown or close to the limit: {edit:?}"
        );
    }
}

#[test]
fn a_kernel_that_forbids_io_uring_stops_postgresql() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edited.host");
    let recorded = fs::read_to_string(recorded::recorded_host_file(IO_URING_HOST)).unwrap();
    for (value, expected) in [("0", false), ("1", true), ("2", true)] {
        let sysctl = format!("read /proc/sys/kernel/io_uring_disabled\n|{value}\nuname\n");
        fs::write(&path, recorded.replacen("uname\n", &sysctl, 1)).unwrap();
        let (_, report) = check_json(&["--host", path.to_str().unwrap()]);
        let outcome = rule_outcome(&report, "pg.io-uring-disabled", "cluster /data/pg");
        let applies = outcome == Some("applies");
        assert_eq!(applies, expected, "{value}");
    }
}

#[test]
fn smaller_memory_pages_end_swap_and_large_blocks() {
    let host = recorded::recorded_host_file("rhel8-aarch64-64k");
    let host = host.to_str().unwrap();
    let (_, items) = upgrade_items(&["--host", host, "--os", "rhel9"]);
    let about_pages: Vec<&str> = items
        .iter()
        .map(|item| string_field(item, "what"))
        .filter(|what| what.contains("page"))
        .collect();
    assert_eq!(
        about_pages,
        [
            "the swap area /dev/nvme2n1 was created for 64 KiB pages",
            "the memory page size changes from 64 KiB to 4 KiB"
        ]
    );
    let (_, items) = upgrade_items(&["--host", host, "--os", "rhel8"]);
    assert!(
        !items
            .iter()
            .any(|item| string_field(item, "what").contains("pages")),
        "{items:?}"
    );
}

#[test]
fn an_upgrade_is_judged_for_the_named_target() {
    let host = recorded::recorded_host_file("mysql8013-redo-apart");
    let targets = |arguments: &[&str]| -> Vec<String> {
        let output = walwise()
            .args(["upgrade", "--format", "json", "--kernel", "7.0", "--host"])
            .arg(&host)
            .args(arguments)
            .output_in_time();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let targets = report["targets"].as_array().unwrap().iter();
        targets
            .map(|target| string_field(target, "target").to_owned())
            .collect()
    };
    let (all, one) = (targets(&[]), targets(&["/redo"]));
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(all.len() > 1, "{all:?}");
}
