//! Disks of clouds and drives with capacitors, each a recorded host: the verdict, what of the rules
//! about them applies and what does not, and what the verdict's evidence says. A person has
//! reviewed each row.

use super::checked_at;
use crate::support::{outcome, verdict};

/// A host recorded at /data, its verdict, rules with their subject that apply, and those that do
/// not, and words of the evidence.
type Row = (
    &'static str,
    &'static str,
    &'static [[&'static str; 2]],
    &'static [[&'static str; 2]],
    &'static str,
);

const PG: &str = "/data/pg";
const OF_PG: &str = "target /data/pg";
const CLUSTER: &str = "cluster /data/pg";
const NVME: &str = "device nvme1n1";

#[rustfmt::skip] // a row is a line
const ROWS: &[Row] = &[
    // Flushes are sent, or the disk or its driver says that it has no cache and its provider
    // documents what that is worth.
    ("ec2-gp3-pg16", "durable", &[["cloud.ebs-timeout", NVME]], &[["cloud.azure-host-caching", OF_PG]], "the provider's statement; a guest cannot verify it"),
    ("ec2-gp3-asked", "durable", &[], &[["cloud.ebs-timeout", NVME], ["cache.override-on-disk", NVME]], "the provider's statement; a guest cannot verify it"),
    ("azure-nvme-pg16", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[["cloud.ebs-timeout", NVME]], "reports no volatile cache, but no documentation says that its acknowledged writes are durable"),
    ("azure-premium-pg16", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[], "only the kernel reports no volatile cache"),
    ("azure-premium-asked", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[], "reports no volatile cache, but no documentation says that its acknowledged writes are durable"),
    ("gcp-pd-pg16", "durable", &[], &[["cloud.google-fsync", CLUSTER], ["cloud.azure-host-caching", OF_PG]], "caches writes in a volatile cache"),
    ("gcp-hyperdisk-pg16", "durable", &[["cloud.google-fsync", CLUSTER]], &[["cloud.ebs-timeout", NVME]], "caches writes in a volatile cache"),
    ("gcp-pd-write-through", "unproven", &[["verdict.unproven", OF_PG]], &[["disk.ephemeral", OF_PG]], "only the kernel reports no volatile cache"),
    ("alibaba-essd-pg16", "durable", &[], &[["cloud.ebs-timeout", NVME], ["disk.ephemeral", OF_PG]], "the provider's statement; a guest cannot verify it"),
    ("oci-block-volume-pg16", "unproven", &[["verdict.unproven", OF_PG]], &[["disk.ephemeral", OF_PG]], "only the kernel reports no volatile cache"),
    // A capacitor is the drive's word, and only a spent one changes the verdict.
    ("nvme-capacitor-healthy", "durable", &[], &[["disk.capacitor-failed", OF_PG], ["disk.capacitor-degraded", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], "nvme1n1 reports a healthy capacitor (118 %)"),
    ("nvme-capacitor-degraded", "durable", &[["disk.capacitor-degraded", OF_PG]], &[["disk.capacitor-failed", OF_PG]], "sufficient capacitor (62 %)"),
    ("nvme-capacitor-failed", "at-risk", &[["disk.capacitor-failed", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], &[["disk.capacitor-degraded", OF_PG]], "may not last through a power failure (0 %)"),
    ("nvme-capacitor-absent", "durable", &[], &[["disk.capacitor-failed", OF_PG], ["disk.capacitor-degraded", OF_PG]], "nvme1n1 reports no capacitor"),
    ("nvme-capacitor-unreadable", "durable", &[], &[["disk.capacitor-failed", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], "no warnings"),
    // A storage cluster, a soft mount, and data in the journal.
    ("krbd-pg16", "durable", &[], &[["verdict.unproven", OF_PG]], "rbd0 is stored by a Ceph cluster"),
    ("nfs4-soft-pg16", "unproven", &[["filesystem.nfs-soft", OF_PG], ["filesystem.nfs", OF_PG]], &[], "over the network"),
    ("chattr-j-pg16", "durable", &[["ext4.journal-data", OF_PG]], &[["mount.sync", OF_PG]], "goes through the journal (chattr +j)"),
    ("noload-commit-default", "durable", &[], &[["boot.refused-option", "boot /data"]], "caches writes in a volatile cache"),
    ("fc-multipath-fails", "unproven", &[["cloud.multipath-fails", "device dm-0"]], &[], "its caches are not visible from here"),
    ("fc-multipath-waits", "unproven", &[], &[["cloud.multipath-fails", "device dm-0"]], "its caches are not visible from here"),
];

/// Where such a host was recorded.
pub fn target_of(name: &str) -> Option<&'static str> {
    let row = ROWS.iter().find(|row| row.0 == name)?;
    Some(if row.0.starts_with("fc-") {
        "/data"
    } else {
        PG
    })
}

#[test]
fn the_same_evidence_is_the_same_verdict_and_a_capacitor_only_lowers() {
    for (name, standing, applies, not, says) in ROWS {
        let target = target_of(name).unwrap();
        let report = checked_at(name, target);
        assert_eq!(verdict(&report, target.as_ref()), Some(*standing), "{name}");
        for (rules, expect) in [(applies, "applies"), (not, "does-not-apply")] {
            for [rule, subject] in *rules {
                assert_eq!(
                    outcome(&report, rule, subject),
                    Some(expect),
                    "{name}: {rule} of {subject}"
                );
            }
        }
        let judged = report["verdicts"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["target"] == format!("target {target}"));
        let evidence = judged.unwrap()["paths"].to_string();
        assert!(evidence.contains(says), "{name}: {evidence}");
    }
}
