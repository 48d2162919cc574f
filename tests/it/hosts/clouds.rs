//! Recorded hosts with cloud disks and drives with capacitors: the verdict, the rules that apply or
//! do not, and the evidence. Every row was reviewed by a person.

use super::check_recorded_host_target;
use crate::support::{rule_outcome, verdict};

/// Host recorded at /data, verdict, applying rules with their subjects, rules that do not apply,
/// and words of the evidence.
type CloudHostRow = (
    &'static str,
    &'static str,
    &'static [[&'static str; 2]],
    &'static [[&'static str; 2]],
    &'static str,
);

const PG: &str = "/data/pg";
const OF_PG: &str = "target /data/pg";
const NVME: &str = "device nvme1n1";

#[rustfmt::skip] // a row is a line
const ROWS: &[CloudHostRow] = &[
    // Durable: flushes are sent, or disk or driver reports no cache and the provider documents what
    // that guarantees.
    ("ec2-gp3-pg16", "durable", &[["cloud.ebs-timeout", NVME]], &[["cloud.azure-host-caching", OF_PG]], "according to the provider; a guest cannot verify it"),
    ("ec2-gp3-asked", "durable", &[], &[["cloud.ebs-timeout", NVME], ["cache.override-on-disk", NVME]], "according to the provider; a guest cannot verify it"),
    ("azure-nvme-pg16", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[["cloud.ebs-timeout", NVME]], "reports no volatile cache, but no documentation states that its acknowledged writes are durable"),
    ("azure-premium-pg16", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[], "the kernel reports no volatile cache"),
    ("azure-premium-asked", "unproven", &[["cloud.azure-host-caching", OF_PG]], &[], "reports no volatile cache, but no documentation states that its acknowledged writes are durable"),
    ("gcp-pd-pg16", "durable", &[], &[["cloud.azure-host-caching", OF_PG]], "caches writes in a volatile cache"),
    ("gcp-hyperdisk-pg16", "durable", &[], &[["cloud.ebs-timeout", NVME]], "caches writes in a volatile cache"),
    ("gcp-pd-write-through", "unproven", &[["verdict.unproven", OF_PG]], &[["disk.ephemeral", OF_PG]], "the kernel reports no volatile cache"),
    ("alibaba-essd-pg16", "durable", &[], &[["cloud.ebs-timeout", NVME], ["disk.ephemeral", OF_PG]], "according to the provider; a guest cannot verify it"),
    ("oci-block-volume-pg16", "unproven", &[["verdict.unproven", OF_PG]], &[["disk.ephemeral", OF_PG]], "the kernel reports no volatile cache"),
    // A capacitor's health is only the drive's own report. A healthy capacitor leaves the verdict
    // unchanged; a spent one lowers it.
    ("nvme-capacitor-healthy", "durable", &[], &[["disk.capacitor-failed", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], "nvme1n1 reports a healthy capacitor (118 %)"),
    ("nvme-capacitor-degraded", "durable", &[], &[["disk.capacitor-failed", OF_PG]], "sufficient capacitor (62 %)"),
    ("nvme-capacitor-failed", "at-risk", &[["disk.capacitor-failed", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], &[], "may not last through a power failure (0 %)"),
    ("nvme-capacitor-absent", "durable", &[], &[["disk.capacitor-failed", OF_PG]], "nvme1n1 reports no capacitor"),
    ("nvme-capacitor-unreadable", "durable", &[], &[["disk.capacitor-failed", OF_PG], ["disk.incomplete-shutdowns", OF_PG]], "no warnings"),
    ("krbd-pg16", "durable", &[], &[["verdict.unproven", OF_PG]], "rbd0 is a Ceph volume"),
    ("nfs4-soft-pg16", "unproven", &[["filesystem.nfs-soft", OF_PG], ["filesystem.nfs", OF_PG]], &[], "network file system"),
    ("chattr-j-pg16", "durable", &[["ext4.journal-data", OF_PG]], &[["mount.sync", OF_PG]], "have the data-journalling flag (chattr +j)"),
    ("noload-commit-default", "durable", &[], &[["boot.refused-option", "boot /data"]], "caches writes in a volatile cache"),
    ("fc-multipath-fails", "unproven", &[["cloud.multipath-fails", "device dm-0"]], &[], "its caches are not visible from here"),
    ("fc-multipath-waits", "unproven", &[], &[["cloud.multipath-fails", "device dm-0"]], "its caches are not visible from here"),
];

/// Returns the target for which the host was recorded; `None` if the host is not one of [`ROWS`].
pub fn recorded_target(name: &str) -> Option<&'static str> {
    let row = ROWS.iter().find(|row| row.0 == name)?;
    Some(if row.0.starts_with("fc-") {
        "/data"
    } else {
        PG
    })
}

#[test]
fn cloud_and_capacitor_hosts_get_reviewed_verdicts() {
    for (name, standing, applies, not, says) in ROWS {
        let target = recorded_target(name).unwrap();
        let report = check_recorded_host_target(name, target);
        assert_eq!(verdict(&report, target.as_ref()), Some(*standing), "{name}");
        for (rules, expect) in [(applies, "applies"), (not, "does-not-apply")] {
            for [rule, subject] in *rules {
                assert_eq!(
                    rule_outcome(&report, rule, subject),
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
