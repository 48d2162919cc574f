//! Compares the conclusions of five published documents with walwise's findings on hosts as the
//! documents describe them. This test generates `snapshots/seeds.txt`.
//!
//! The hosts are recorded hosts (`seed-*`), composed from the documents. Conclusions that are still
//! correct are listed too.

use std::fmt::Write;

use serde_json::Value;

use super::check_recorded_host_target;
use crate::support::report_findings;

struct DocumentConclusions {
    source: &'static str,
    machine: &'static str,
    rows: &'static [ConclusionRow],
}

/// The document's conclusion; host, target, rule and subject of walwise's finding, which may be
/// undecided; whether both agree; and words of the finding's reason.
type ConclusionRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static str,
);

const DOCUMENTS: &[DocumentConclusions] = &[
    DocumentConclusions {
        source: "digoal: Use pg_test_fsync test which wal_sync_method is fastest in your filesystem (2011)",
        machine: "RAID 1 of SAS disks at 10,000 rpm under ext3, PostgreSQL 9.0; and its /dev/shm",
        rows: &[
            (
                "a method that the platform lacks keeps the server from starting",
                "seed-sas-ext3",
                "/data",
                "pg.sync-method-lacking",
                "cluster /data",
                true,
                "refuses to start",
            ),
            (
                "ext3 is measured without asking whether it flushes",
                "seed-sas-ext3",
                "/data",
                "filesystem.ext3",
                "target /data",
                false,
                "sent no flushes by default",
            ),
            (
                "412,626 fdatasync per second in /dev/shm",
                "seed-sas-ext3",
                "/dev/shm",
                "filesystem.memory",
                "target /dev/shm",
                false,
                "reveals nothing about a disk",
            ),
        ],
    },
    DocumentConclusions {
        source: "ilsistemista.net: a comparison of ext3, ext4, XFS and btrfs (2010)",
        machine: "Fedora 14 on a desktop with two cores and one hard disk",
        rows: &[
            (
                "a database server is almost bound to use ext3: four times as fast as ext4 and XFS, sixteen times as btrfs",
                "seed-desktop-ext3",
                "/data",
                "filesystem.ext3",
                "target /data",
                false,
                "their author withdrew the conclusion",
            ),
            (
                "(added later) ext3 had no barriers, so what was flushed may be in the disk's cache only",
                "seed-desktop-ext3",
                "/data",
                "barrier.ext4-off",
                "mount /data",
                true,
                "fsync does not flush the disk",
            ),
        ],
    },
    DocumentConclusions {
        source: "digoal: btrfs vs ext4 fsync (2015)",
        machine: "CentOS 7 in a virtual machine with one virtual disk of 40 GiB, PostgreSQL 9.5, btrfs-progs 4.3.1",
        rows: &[
            (
                "fdatasync on btrfs is about a third of ext4's",
                "seed-vm-btrfs",
                "/data01",
                "filesystem.btrfs",
                "target /data01",
                true,
                "at least two device flushes",
            ),
            (
                "mount btrfs with nodatacow",
                "seed-vm-btrfs",
                "/data01",
                "btrfs.nodatacow-mount",
                "target /data01",
                false,
                "a database needs nothing else",
            ),
            (
                "mount btrfs with discard",
                "seed-vm-btrfs",
                "/data01",
                "mount.btrfs-sync-discard",
                "target /data01",
                false,
                "while the transaction commits",
            ),
            (
                "mount btrfs with space_cache",
                "seed-vm-btrfs",
                "/data01",
                "boot.deprecated-option",
                "boot /data01",
                false,
                "space_cache v1 will be removed",
            ),
            (
                "make btrfs with one copy of its metadata (-m single)",
                "seed-vm-btrfs",
                "/data01",
                "btrfs.metadata-single",
                "target /data01",
                false,
                "",
            ),
            (
                "mount ext4 with discard",
                "seed-vm-ext4",
                "/data01",
                "mount.sync-discard",
                "target /data01",
                false,
                "recommends fstrim instead",
            ),
            (
                "mount with nodiratime beside noatime",
                "seed-vm-ext4",
                "/data01",
                "boot.nodiratime",
                "boot /data01",
                false,
                "already covers directories",
            ),
            (
                "ext4 stays the choice",
                "seed-vm-ext4",
                "/data01",
                "filesystem.keep",
                "target /data01",
                true,
                "equally good choices",
            ),
        ],
    },
    DocumentConclusions {
        source: "yangyidba: xfs vs ext4 性能压测对比 (2019)",
        machine: "CentOS 7.2, ten SSDs in RAID 5 behind a controller that writes back, Percona Server 5.7.22",
        rows: &[
            (
                "XFS is 5 to 10 % faster under many threads, ext4 steadier, alike below that",
                "seed-raid-xfs",
                "/data",
                "filesystem.keep",
                "target /data",
                true,
                "5 to 10 %",
            ),
            (
                "mount XFS with nobarrier where a battery protects the cache",
                "seed-raid-xfs",
                "/data",
                "mount.no-flush",
                "target /data",
                false,
                "A power failure can then lose commits",
            ),
            (
                "the controller writes back (nothing is said of its battery)",
                "seed-raid-xfs",
                "/data",
                "cache.controller-unprotected",
                "device sdb",
                false,
                "",
            ),
            (
                "mount with inode64 against a full disk that is not full; no longer needed since 3.7",
                "seed-raid-xfs",
                "/data",
                "boot.default-noise",
                "boot /backup",
                true,
                "have been defaults",
            ),
        ],
    },
    DocumentConclusions {
        source: "Alibaba Cloud: Ext4 Fast Commit (2021)",
        machine: "Alibaba Cloud Linux 3 with kernel 5.10 and e2fsprogs 1.46.2 built by hand",
        rows: &[
            (
                "fast_commit doubles what fs_mark creates and flushes, so it will help MySQL and PostgreSQL",
                "seed-cloud-fast-commit",
                "/mnt/vdc1",
                "release.ext4-fast-commit",
                "mount /mnt/vdc1",
                false,
                "a power cut can leave the file empty",
            ),
            (
                "e2fsprogs must be 1.46.0 or later",
                "alinux3-old-e2fsprogs",
                "/data",
                "ext4.fast-commit-tools-too-old",
                "target /data",
                false,
                "Before 1.46.5, e2fsck could crash",
            ),
            (
                "with data=ordered, fsync waits for I/O that has nothing to do with it",
                "seed-cloud-nobarrier",
                "/mnt/vdc1",
                "ext4.data-writeback",
                "target /mnt/vdc1",
                false,
                "For a WAL overwritten in place, the option gains almost nothing",
            ),
            (
                "it was measured with nobarrier as well, faster by a half",
                "seed-cloud-nobarrier",
                "/mnt/vdc1",
                "barrier.ext4-off",
                "mount /mnt/vdc1",
                false,
                "fsync does not flush the disk",
            ),
            (
                "and with data=writeback",
                "seed-cloud-nobarrier",
                "/mnt/vdc1",
                "ext4.data-writeback",
                "target /mnt/vdc1",
                false,
                "warns of wrong data after a crash",
            ),
        ],
    },
];

fn finding_of_rule<'r>(report: &'r Value, rule: &str, subject: &str) -> &'r Value {
    let is_it = |f: &&Value| f["rule"] == rule && f["subject"] == subject;
    report_findings(report)
        .find(is_it)
        .unwrap_or_else(|| panic!("{rule} does not apply to {subject}"))
}

fn assert_reason_contains(finding: &Value, words: &str) {
    let because = finding["because"].as_str().unwrap();
    assert!(
        because.contains(words),
        "no sentence has `{words}`: {because}"
    );
}

fn render_seeds_page() -> String {
    let mut page = "# Five documents beside walwise\n\n\
        Made by `WALWISE_UPDATE=1 cargo test --test it seeds`; do not edit. What five published comparisons\n\
        and notes concluded, and what walwise finds on a machine like theirs (`tests/hosts/seed-*.host`).\n\
        `walwise rules show RULE` gives the reason.\n"
        .to_owned();
    for DocumentConclusions {
        source,
        machine,
        rows,
    } in DOCUMENTS
    {
        write!(
            page,
            "\n## {source}\n\n{machine}\n\n| it says | walwise |\n|---|---|\n"
        )
        .unwrap();
        for (says, host, target, rule, subject, agrees, words) in *rows {
            let report = check_recorded_host_target(host, target);
            let finding = finding_of_rule(&report, rule, subject);
            let (level, title) = (
                finding["level"].as_str().unwrap(),
                finding["title"].as_str().unwrap(),
            );
            let stance = if *agrees { "agrees" } else { "differs" };
            let open = if finding["outcome"]["outcome"] == "applies" {
                ""
            } else {
                ", undecided here"
            };
            assert_reason_contains(finding, words);
            writeln!(
                page,
                "| {says} | {stance}: {title} ({level}{open}, `{rule}`) |"
            )
            .unwrap();
        }
    }
    page
}

#[test]
fn seeds_page_is_up_to_date() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/it/hosts/snapshots/seeds.txt"
    );
    let page = render_seeds_page();
    if std::env::var_os("WALWISE_UPDATE").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        kept == page,
        "snapshots/seeds.txt is stale; write it anew: WALWISE_UPDATE=1 cargo test --test it seeds"
    );
}
