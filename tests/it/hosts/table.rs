//! One table of recorded hosts: verdict, cache of the deciding disk, whether the disk's queue
//! passes flushes, and the fact for which the host was recorded.

use super::{check_recorded_host_target, clouds, reviewed, torn_writes};
use crate::situations;
use crate::support::verdict;

/// File, target, verdict, disk, cache, queue, then subject, name and value of a fact. `?` precedes
/// the reason of an unknown fact, and `-` marks an absent value.
type HostRow = [&'static str; 9];

#[rustfmt::skip] // a row is a line
const HOSTS: &[HostRow] = &[
    ["azure-disk", "/data", "unproven", "sdc", "unknown", "write through", "device sdc", "device.cloud", "Azure managed disk"],
    ["azure-nvme-local", "/data", "at-risk", "nvme1n1", "unknown", "write through", "device nvme1n1", "device.ephemeral", "yes"],
    ["ec2-ebs", "/data", "durable", "nvme1n1", "none", "write through", "device nvme1n1", "device.cloud", "Amazon Elastic Block Store"],
    ["el8-xfs-nobarrier", "/data", "durable", "vdb", "volatile", "write back", "mount /data", "mount.fstype", "xfs"],
    ["el9-ext4", "/data", "durable", "vdb", "volatile", "write back", "mount /data", "mount.barrier", "on"],
    ["alinux3-old-e2fsprogs", "/data", "durable", "vdb", "volatile", "write back", "host", "e2fsprogs.version", "1.45.6"],
    ["ext4-nobarrier", "/data", "at-risk", "sda", "volatile", "write back", "mount /data", "mount.barrier", "off"],
    ["gcp-local-ssd", "/data", "at-risk", "nvme1n1", "volatile", "write back", "device nvme1n1", "device.cloud", "Google local SSD"],
    ["gcp-pd", "/data", "durable", "sdb", "volatile", "write back", "device sdb", "device.cloud", "Google persistent disk"],
    ["held-fuse", "/data", "unproven", "-", "-", "-", "mount /data", "mount.class", "fuse"],
    ["hpe-disk-cache-on", "/data", "at-risk", "sda", "volatile", "write through", "device sda", "controller.disk_cache", "on"],
    ["hpe-no-tool", "/data", "unproven", "sda", "unknown", "write through", "device sda", "controller.battery", "?absent"],
    ["imsm", "/data", "durable", "sda", "volatile", "write back", "device md126", "md.metadata", "external:/md127/0"],
    ["iscsi", "/data", "unproven", "sdb", "volatile", "write back", "device sdb", "device.fabric", "iscsi"],
    ["lab-drbd-no-flushes", "/lab/drbd-no-flushes", "durable", "sda", "volatile", "write back", "device drbd0", "drbd.write_ordering", "drain"],
    ["lab-drbd-pair", "/lab/drbd-pair", "durable", "sda", "volatile", "write back", "device drbd0", "drbd.md_flushes", "yes"],
    ["lvm-cache", "/data", "durable", "nvme1n1", "volatile", "write back", "device dm-3", "device.kind", "lvm"],
    ["md-raid1", "/data", "durable", "sda", "volatile", "write back", "device md0", "md.degraded", "0"],
    ["md-raid5-ppl", "/data", "durable", "sda", "volatile", "write back", "device md0", "md.consistency_policy", "ppl"],
    ["megaraid-failed-battery", "/data", "durable", "sda", "none", "write through", "device sda", "controller.battery", "failed"],
    ["megaraid-9600", "/data", "durable", "sda", "protected", "write back", "device sda", "controller.tool", "storcli2"],
    ["megaraid-learning", "/data", "durable", "sda", "none", "write back", "device sda", "controller.battery", "learning"],
    ["perc12-critical-pack", "/data", "at-risk", "sda", "volatile", "write back", "device sda", "controller.battery", "failed"],
    ["smartraid-arcconf", "/data", "durable", "sda", "protected", "write back", "device sda", "controller.disk_cache", "off"],
    ["megaraid-nobarrier", "/data", "durable", "sda", "protected", "write back", "device sda", "controller.on_battery_failure", "write through"],
    ["megaraid-not-root", "/data", "unproven", "sda", "unknown", "write back", "device sda", "controller.battery", "?denied"],
    ["nfs4-soft", "/data", "unproven", "-", "-", "-", "mount /data", "mount.class", "network"],
    ["nine-p", "/data", "unproven", "-", "-", "-", "mount /data", "mount.class", "network"],
    ["nvme-multipath", "/data", "unproven", "nvme1n1", "unknown", "write through", "device nvme1n1", "device.transport", "nvme"],
    ["nvme-plp", "/data", "unproven", "nvme1n1", "unknown", "write through", "device nvme1n1", "device.medium", "flash"],
    ["nvme-tcp", "/data", "unproven", "nvme1n1", "volatile", "write back", "device nvme1n1", "device.fabric", "tcp"],
    ["nvme-volatile", "/data", "durable", "nvme1n1", "volatile", "write back", "device nvme1n1", "device.fua", "yes"],
    ["overlay-container", "/var/lib/postgresql", "unproven", "-", "-", "-", "mount /", "mount.class", "overlay"],
    ["real-loop-xfs", "/mnt/capture-xfs", "at-risk", "vda", "volatile", "write back", "mount /", "ext4.journal", "no"],
    ["sata-cache-off", "/data", "unproven", "sda", "unknown", "write through", "device sda", "device.cache_type", "write through"],
    ["sata-override", "/data", "contradictory", "sda", "contradictory", "write through", "device sda", "device.cache_type", "write back"],
    ["sata-temporary-override", "/data", "unproven", "sda", "unknown", "write through", "device sda", "device.cache_type", "write through"],
    ["sata-volatile", "/data", "durable", "sda", "volatile", "write back", "device sda", "device.medium", "platters"],
    ["sd-card", "/srv/db", "unproven", "mmcblk0", "unknown", "write through", "device mmcblk0", "device.transport", "mmc"],
    ["sshfs", "/data", "unproven", "-", "-", "-", "mount /data", "mount.class", "fuse"],
    ["tmpfs", "/data", "at-risk", "-", "-", "-", "mount /data", "mount.class", "memory"],
    ["unprivileged", "/data", "durable", "sda", "volatile", "write back", "host", "host.privileged", "no"],
    ["usb-disk", "/data", "unproven", "sdb", "volatile", "write back", "device sdb", "device.transport", "usb"],
    ["virtio-write-through", "/data", "durable", "vdb", "none", "write through", "device vdb", "device.cache_type", "write through"],
    ["vmware-pvscsi", "/data", "unproven", "sdb", "unknown", "write through", "host", "host.seen_by", "guest"],
    ["xen-blkfront", "/data", "durable", "xvdb", "volatile", "write back", "device xvdb", "device.transport", "xen"],
    ["zfs-mirror", "/data", "unproven", "-", "-", "-", "mount /data", "zfs.sync", "?absent"],
    ["thin-pool-failed", "/pg", "at-risk", "sdb", "volatile", "write back", "device dm-2", "dm.state", "failed"],
    ["zfs-vdev-node-gone", "/data/pg", "durable", "nvme1n1", "volatile", "write back", "mount /data", "zfs.pool_state", "DEGRADED"],
    ["storcli-energy-pack-absent", "/data", "at-risk", "sda", "volatile", "write back", "device sda", "controller.battery", "absent"],
    ["write-back-fell-to-write-through", "/data", "durable", "sda", "none", "write back", "device sda", "controller.policy_in_force", "write through"],
    ["zram", "/data", "at-risk", "zram0", "volatile", "write through", "device zram0", "device.kind", "zram"],
    ["zfs-sync-standard", "/data", "durable", "nvme1n1", "volatile", "write back", "mount /data", "zfs.sync", "standard"],
    ["lab-bcache-writeback", "/lab/bcache-writeback", "durable", "sda", "volatile", "write back", "device bcache0", "bcache.cache_mode", "writeback"],
    ["lab-bcache-writethrough", "/lab/bcache-writethrough", "durable", "sda", "volatile", "write back", "device bcache0", "bcache.cache_mode", "writethrough"],
    ["lab-btrfs-raid1", "/lab/btrfs-raid1", "durable", "sda", "volatile", "write back", "mount /lab/btrfs-raid1", "btrfs.data_profiles", "[\"raid1\"]"],
    ["lab-cloud-ephemeral", "/lab/cloud-ephemeral", "at-risk", "sda", "volatile", "write back", "device sda", "device.cloud", "Google local SSD"],
    ["lab-ext4-external-journal", "/lab/ext4-external-journal", "durable", "sda", "volatile", "write back", "mount /lab/ext4-external-journal", "ext4.journal_device", "sdb"],
    ["lab-loop", "/lab/loop", "durable", "sda", "volatile", "write back", "device sda", "device.kind", "disk"],
    ["lab-luks-on-lvm-on-md", "/lab/luks-on-lvm-on-md", "durable", "sda", "volatile", "write back", "device dm-1", "dm.targets", "[\"crypt\"]"],
    ["lab-lvm-cache-writeback", "/lab/lvm-cache-writeback", "durable", "sdb", "volatile", "write back", "device dm-0", "dm.cache_mode", "writeback"],
    ["lab-lvm-snapshot", "/lab/lvm-snapshot", "durable", "sda", "volatile", "write back", "device dm-0", "dm.targets", "[\"snapshot-origin\"]"],
    ["lab-lvm-thin", "/lab/lvm-thin", "durable", "sda", "volatile", "write back", "device dm-4", "dm.targets", "[\"thin\"]"],
    ["lab-lvm-writecache", "/lab/lvm-writecache", "durable", "sdb", "volatile", "write back", "device dm-0", "dm.targets", "[\"writecache\"]"],
    ["lab-md-raid1-degraded", "/lab/md-raid1-degraded", "durable", "sda", "volatile", "write back", "device md0", "md.degraded", "1"],
    ["lab-md-raid1-mixed", "/lab/md-raid1-mixed", "durable", "sda", "volatile", "write back", "device md0", "md.level", "raid1"],
    ["lab-md-raid1-resync", "/lab/md-raid1-resync", "durable", "sda", "volatile", "write back", "device md0", "md.sync_action", "resync"],
    ["lab-md-raid10", "/lab/md-raid10", "durable", "sda", "volatile", "write back", "device md0", "md.level", "raid10"],
    ["lab-dm-integrity", "/lab/dm-integrity", "durable", "sda", "volatile", "write back", "device dm-0", "device.kind", "dm"],
    ["lab-dm-unlisted", "/lab/dm-unlisted", "unproven", "sda", "volatile", "write back", "device dm-0", "device.kind", "dm"],
    ["lab-imsm", "/lab/imsm", "durable", "sda", "volatile", "write back", "device md127", "md.level", "container"],
    ["lab-lvm-raid1", "/lab/lvm-raid1", "durable", "sda", "volatile", "write back", "target /lab/lvm-raid1", "target.redundancy", "whole"],
    ["lab-md-raid1-failed-spare", "/lab/md-raid1-failed-spare", "durable", "sda", "volatile", "write back", "target /lab/md-raid1-failed-spare", "target.redundancy", "failed member"],
    ["lab-md-raid5-degraded", "/lab/md-raid5-degraded", "at-risk", "sda", "volatile", "write back", "target /lab/md-raid5-degraded", "target.redundancy", "degraded"],
    ["lab-md-raid5-bitmap", "/lab/md-raid5-bitmap", "durable", "sda", "volatile", "write back", "device md0", "md.consistency_policy", "bitmap"],
    ["lab-md-raid5-journal", "/lab/md-raid5-journal", "durable", "sda", "none", "write through", "device md0", "md.consistency_policy", "journal"],
    ["lab-md-raid5-ppl", "/lab/md-raid5-ppl", "durable", "sda", "volatile", "write back", "device md0", "md.consistency_policy", "ppl"],
    ["lab-megaraid", "/lab/megaraid", "unproven", "sda", "unknown", "write back", "device sda", "device.driver", "megaraid_sas"],
    ["lab-multipath", "/lab/multipath", "durable", "sda", "volatile", "write back", "device dm-0", "device.kind", "multipath"],
    ["lab-nvme", "/lab/nvme", "durable", "nvme0n1", "volatile", "write back", "device nvme0n1", "nvme.volatile_cache", "yes"],
    ["lab-override-inherited", "/lab/override-inherited", "contradictory", "sda", "volatile", "write back", "device dm-0", "device.write_cache", "write through"],
    ["lab-override-middle", "/lab/override-middle", "contradictory", "sda", "volatile", "write back", "device sda", "device.write_cache", "write back"],
    ["lab-override-temporary", "/lab/override-temporary", "contradictory", "sda", "contradictory", "write through", "device sda", "device.drive_cache", "on"],
    ["lab-pmem", "/lab/pmem", "unproven", "pmem0", "unknown", "write back", "device pmem0", "device.transport", "pmem"],
    ["lab-sata-cache-off", "/lab/sata-cache-off", "durable", "sdb", "none", "write through", "device sdb", "device.drive_cache", "off"],
    ["lab-sd-card", "/lab/sd-card", "unproven", "mmcblk0", "unknown", "write through", "device mmcblk0", "device.transport", "mmc"],
    ["lab-swap-beside", "/lab/swap-beside", "durable", "sda", "volatile", "write back", "target /lab/swap-beside", "target.swap_beside", "[\"sda\"]"],
    ["lab-usb", "/lab/usb", "unproven", "sda", "volatile", "write back", "device sda", "device.transport", "usb"],
    ["btrfs-compressed-pg17", "/data/pg", "durable", "sda", "volatile", "write back", "mount /data", "mount.fstype", "btrfs"],
    ["btrfs-fedora42-pg16", "/data/pg", "at-risk", "sda", "volatile", "write back", "host", "kernel.version", "6.15.4-200.fc42.x86_64"],
    ["btrfs-kernel-5-19-pg14", "/data/pg", "at-risk", "sda", "volatile", "write back", "host", "kernel.version", "5.19.5"],
    ["btrfs-kernel-6-11-pg11", "/data/pg", "durable", "sda", "volatile", "write back", "host", "kernel.version", "6.11.9"],
    ["btrfs-profiles", "/data", "durable", "sda", "volatile", "write back", "mount /data", "btrfs.data_profiles", "[\"raid1\"]"],
    ["cephfs-pg16", "/data/pg", "unproven", "-", "-", "-", "mount /data", "mount.class", "network"],
    ["debian-12-3-mysql8038", "/data/mysql", "at-risk", "nvme1n1", "volatile", "write back", "host", "kernel.version", "6.1.64 (6.1.0-14-amd64)"],
    ["ext4-guides-and-errors", "/data", "durable", "sda", "volatile", "write back", "mount /data", "ext4.data", "journal"],
    ["ext4-without-journal-pg16", "/data/pg", "at-risk", "nvme1n1", "volatile", "write back", "mount /data", "ext4.journal", "no"],
    ["free-volume-beside-pg16", "/data/pg", "durable", "nvme1n1", "none", "write through", "device sda", "device.medium", "virtual"],
    ["fstab-mistakes-pg16", "/data/pg", "durable", "nvme1n1", "none", "write through", "mount /data", "mount.barrier", "on"],
    ["lvm-thin-full-pg16", "/data/pg", "unproven", "sda", "volatile", "write back", "mount /data", "mount.fstype", "xfs"],
    ["mariadb114-fast-doublewrite", "/data/mysql", "at-risk", "vdb", "volatile", "write back", "mount /data", "mount.fstype", "ext4"],
    ["mariadb1011-binlogs-fill", "/data/mysql", "at-risk", "vdb", "volatile", "write back", "cluster /data/mysql", "mysql.replicas", "1"],
    ["mariadb13-log-archive", "/data/mysql", "at-risk", "vdb", "volatile", "write back", "cluster /data/mysql", "mysql.innodb_log_archive", "yes"],
    ["pg16-wal-kept", "/data/pg", "durable", "nvme1n1", "none", "write through", "cluster /data/pg", "pg.inactive_slot", "berlin"],
    ["pg16-wal-limit-above-volume", "/data/pg", "durable", "nvme1n1", "none", "write through", "cluster /data/pg", "pg.wal_size_limit", "16GB"],
    ["md-raid0-broken", "/data", "at-risk", "sda", "volatile", "write back", "device md0", "md.level", "raid0"],
    ["md-raid1-kernel-5-15", "/data", "durable", "sda", "volatile", "write back", "host", "kernel.version", "5.15.13"],
    ["md-raid1-kernel-5-8", "/data", "durable", "sda", "volatile", "write back", "host", "kernel.version", "5.8.18"],
    ["md-raid1-kernel-6-9", "/data", "durable", "sda", "volatile", "write back", "host", "kernel.version", "6.9.12"],
    ["md-raid1-write-behind", "/data", "durable", "sda", "volatile", "write back", "device md0", "md.level", "raid1"],
    ["md-raid10-bitmap", "/lab/md-raid10", "durable", "sda", "volatile", "write back", "device md0", "md.bitmap", "+8"],
    ["md-raid5-grown-smr-pg16", "/data/pg", "durable", "sda", "volatile", "write back", "device md0", "md.level", "raid5"],
    ["mysql8013-redo-apart", "/data/mysql", "at-risk", "nvme1n1", "volatile", "write back", "mount /data", "mount.fstype", "reiserfs"],
    ["mysql84-hard-disk-exfat", "/data/mysql", "unproven", "sdb", "volatile", "write back", "mount /data", "mount.fstype", "exfat"],
    ["nvme-read-only-pg16", "/data/pg", "unproven", "nvme1n1", "none", "write through", "device nvme1n1", "device.read_only", "no"],
    ["postgres-eatmydata", "/data/pg", "at-risk", "nvme1n1", "none", "write through", "mount /data", "mount.fstype", "xfs"],
    ["postgres-non-durable", "/data/pg", "at-risk", "nvme1n1", "none", "write through", "mount /data", "mount.fstype", "xfs"],
    ["postgres14-kernel-5-4", "/data/pg", "durable", "nvme1n1", "none", "write through", "host", "kernel.version", "5.4.290"],
    ["postgres18-io-uring", "/data/pg", "unproven", "nvme1n1", "none", "write through", "cluster /data/pg", "pg.io_method", "io_uring"],
    ["rhel8-aarch64-64k", "/data", "unproven", "nvme1n1", "unknown", "write back", "host", "kernel.page_size", "65536"],
    ["vmware-pvscsi-short-timeout", "/data", "unproven", "sdb", "unknown", "write through", "host", "host.seen_by", "guest"],
    ["xfs-external-log", "/data", "durable", "sda", "volatile", "write back", "mount /data", "mount.fstype", "xfs"],
    ["xfs-kernel-6-3-mysql8029", "/data/mysql", "at-risk", "nvme1n1", "volatile", "write back", "host", "kernel.version", "6.3.4"],
    ["zfs-128k-mariadb1011", "/data/mysql", "at-risk", "nvme1n1", "volatile", "write back", "mount /data", "zfs.recordsize", "131072"],
    ["zfs-2-2-1-mariadb1069", "/data/mysql", "at-risk", "nvme1n1", "volatile", "write back", "host", "zfs.version", "2.2.1"],
    ["zfs-damaged-pool", "/data", "at-risk", "nvme1n1", "volatile", "write back", "mount /data", "zfs.pool_state", "ONLINE"],
    ["zvol-openzfs-2-3-1-pg16", "/data/pg", "at-risk", "zd0", "unknown", "write back", "host", "zfs.version", "2.3.1"],
    ["seed-vm-ext4", "/data01", "unproven", "sdb", "volatile", "?absent", "mount /data01", "mount.barrier", "on"],
    ["seed-vm-btrfs", "/data01", "unproven", "sdb", "volatile", "?absent", "mount /data01", "btrfs.nodatacow", "yes"],
    ["seed-sas-ext3", "/data", "at-risk", "sda", "unknown", "?absent", "mount /", "mount.barrier", "off"],
    ["seed-desktop-ext3", "/data", "at-risk", "sda", "volatile", "?absent", "mount /data", "mount.barrier", "off"],
    ["seed-raid-xfs", "/data", "at-risk", "sdb", "unknown", "?absent", "mount /data", "mount.barrier", "off"],
    ["seed-cloud-fast-commit", "/mnt/vdc1", "at-risk", "vdc", "volatile", "write back", "mount /mnt/vdc1", "ext4.fast_commit", "yes"],
    ["seed-cloud-nobarrier", "/mnt/vdc1", "at-risk", "vdc", "volatile", "write back", "mount /mnt/vdc1", "ext4.data", "writeback"],
];

#[test]
fn recorded_hosts_match_verdict_table() {
    for [
        name,
        target,
        standing,
        disk,
        cache,
        queue,
        subject,
        fact,
        value,
    ] in HOSTS
    {
        let report = check_recorded_host_target(name, target);
        assert_eq!(verdict(&report, target.as_ref()), Some(*standing), "{name}");
        let disk = format!("device {disk}");
        for (subject, fact, value) in [
            (disk.as_str(), "device.cache", cache),
            (&disk, "device.write_cache", queue),
            (subject, fact, value),
        ] {
            assert_eq!(
                fact_in_table_notation(&report, subject, fact),
                *value,
                "{name}: {fact} of {subject}"
            );
        }
    }
}

#[test]
fn every_recorded_host_is_in_a_test() {
    for name in super::recorded_host_names() {
        assert!(
            target_in_table(&name).is_some(),
            "{name} is neither reviewed, nor in the table, nor a situation"
        );
    }
    assert!(reviewed::HOSTS.len() >= 15 && HOSTS.len() >= 25);
}

pub fn recorded_target(name: &str) -> &'static str {
    target_in_table(name).unwrap()
}

fn target_in_table(name: &str) -> Option<&'static str> {
    let mut here = HOSTS
        .iter()
        .map(|row| (row[0], row[1]))
        .chain(reviewed::HOSTS);
    here.find(|(other, _)| *other == name)
        .map(|(_, target)| target)
        .or_else(|| situations::recorded_target(name))
        .or_else(|| clouds::recorded_target(name))
        .or_else(|| torn_writes::recorded_target(name))
}

fn fact_in_table_notation(report: &serde_json::Value, subject: &str, fact: &str) -> String {
    let row = report["facts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["subject"] == subject && row["fact"] == fact);
    let Some(reading) = row.map(|row| &row["reading"]) else {
        return "-".to_owned();
    };
    match (&reading["value"], &reading["why"]) {
        (serde_json::Value::Bool(value), _) => if *value { "yes" } else { "no" }.to_owned(),
        (serde_json::Value::String(value), _) => value.clone(),
        (serde_json::Value::Null, why) => format!("?{}", why.as_str().unwrap_or_default()),
        (value, _) => value.to_string(),
    }
}
