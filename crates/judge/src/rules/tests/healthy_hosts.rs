//! Hosts without faults: no built-in rule may have a serious finding on these hosts or ask an
//! unanswerable question.
//!
//! The facts have values of real hosts that older advice misjudges: some disks, for example,
//! wrongly report rotation (sysfs-block; cloud providers' guides).

use crate::facts::{FactSet, Reading, Source, Subject, UnknownReason, catalog, testing};
use crate::rules::{
    EvaluationOptions, Finding, Level, Outcome, RuleSet, builtin, evaluate_rules,
    subjects_in_scope_order,
};

/// Fact names and values as text; a value that begins with `?` is unknown.
type FactTexts = &'static [(&'static str, &'static str)];

const COMMON: FactTexts = &[
    ("kernel.version", "6.1.140"),
    ("kernel.vendor", "debian"),
    ("kernel.elevator", ""),
    ("vm.dirty_background", "1717986918"),
    ("e2fsprogs.version", "1.47.0"),
    ("zfs.kernel_support", "not used"),
    ("mount.point", "/data"),
    ("mount.fstype", "ext4"),
    ("mount.class", "block"),
    ("mount.options", "rw,noatime"),
    ("mount.super_options", "rw"),
    ("mount.read_only", "no"),
    ("mount.atime", "noatime"),
    ("mount.free_percent", "60"),
    ("mount.barrier", "on"),
    ("mount.trimmed", "yes"),
    ("ext4.journal", "yes"),
    ("ext4.data", "ordered"),
    ("ext4.errors", "0"),
    ("ext4.fast_commit", "no"),
    ("target.path", "/data"),
    ("target.kind", "directory"),
    ("target.empty", "no"),
    ("target.io_error", "no"),
    ("target.flags", ""),
    ("target.swap_beside", ""),
    ("target.roles", ""),
    ("target.verdict", "durable"),
    ("target.commit_off_for", ""),
    ("target.flush_removal_allowed", "no"),
    ("probe.implausible", "no"),
    ("probe.flush_cost", "900"),
    ("device.path", "/dev/sda"),
    ("device.kind", "disk"),
    ("device.size", "107374182400"),
    ("device.read_only", "no"),
    ("device.scheduler", "none"),
    ("device.swap", "no"),
    ("device.shingled", "no"),
    ("device.medium", "virtual"),
    ("device.rotational", "yes"),
    ("device.logical_block", "512"),
    ("device.physical_block", "4096"),
    ("device.discard_max", "2147450880"),
    ("device.writeback_latency", "75000"),
    ("device.drive_cache", "?denied"),
    ("device.cloud", "?absent"),
    ("device.ephemeral", "no"),
    ("device.model", "?absent"),
    ("nvme.capacitor", "?absent"),
    ("device.cache_type", "?absent"),
];

const MACHINES: [(&str, FactTexts, &[&str]); 8] = [
    (
        "a KVM guest: virtio says that it turns, whatever it is",
        &[
            ("host.virtualisation", "kvm"),
            ("device.transport", "virtio"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
            ("device.cache", "volatile"),
        ],
        &[],
    ),
    (
        "Amazon: a volume on the network",
        &[
            ("host.virtualisation", "amazon"),
            ("device.transport", "nvme"),
            ("device.model", "Amazon Elastic Block Store"),
            ("device.cloud", "Amazon Elastic Block Store"),
            ("device.ephemeral", "no"),
            ("device.rotational", "no"),
            ("device.discard_max", "0"),
            ("device.write_cache", "write through"),
            ("device.cache", "none"),
            ("nvme.critical_warning", ""),
            ("nvme.volatile_cache", "no"),
        ],
        &[],
    ),
    (
        "Google: a persistent disk over SCSI",
        &[
            ("host.virtualisation", "google"),
            ("device.transport", "virtio-scsi"),
            ("device.model", "Google PersistentDisk"),
            ("device.cloud", "Google persistent disk"),
            ("device.ephemeral", "no"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
            ("device.cache", "volatile"),
        ],
        &[],
    ),
    (
        "Azure: temporary and lasting disks look alike, which is a question and no finding",
        &[
            ("host.virtualisation", "hyperv"),
            ("device.transport", "hyperv"),
            ("device.model", "Msft Virtual Disk"),
            ("device.ephemeral", "?ambiguous"),
            ("device.write_cache", "write through"),
            ("device.cache_type", "write through"),
            ("device.cache", "unknown"),
        ],
        &["disk.ephemeral"],
    ),
    (
        "VMware: a disk that turns in name and takes discards",
        &[
            ("host.virtualisation", "vmware"),
            ("device.transport", "vmware"),
            ("device.model", "VMware Virtual disk"),
            ("device.write_cache", "write through"),
            ("device.cache_type", "write through"),
            ("device.cache", "unknown"),
        ],
        &[],
    ),
    (
        "a volume of a RAID controller with a healthy battery, many times faster than platters",
        &[
            ("host.virtualisation", "none"),
            ("device.transport", "megaraid"),
            ("device.ephemeral", "no"),
            ("device.model", "BROADCOM MR9560-16i"),
            ("device.discard_max", "0"),
            ("device.write_cache", "write through"),
            ("device.cache_type", "write through"),
            ("device.cache", "protected"),
            ("controller.battery", "healthy"),
            ("controller.policy", "write back"),
            ("controller.policy_in_force", "write back"),
            ("controller.on_battery_failure", "write through"),
            ("controller.disk_cache", "off"),
            ("probe.flush_cost", "40"),
        ],
        &[],
    ),
    (
        "platters with a cache of their own that survives, faster than they turn",
        &[
            ("host.virtualisation", "none"),
            ("device.transport", "sata"),
            ("device.ephemeral", "no"),
            ("device.model", "WDC WD4003FFBX"),
            ("device.medium", "platters"),
            ("device.discard_max", "0"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
            ("device.drive_cache", "on"),
            ("device.cache", "volatile"),
            ("probe.flush_cost", "120"),
        ],
        &[],
    ),
    (
        "flash that calls its cache volatile and flushes it in no time",
        &[
            ("host.virtualisation", "none"),
            ("device.transport", "nvme"),
            ("device.medium", "flash"),
            ("device.ephemeral", "no"),
            ("device.rotational", "no"),
            ("device.write_cache", "write back"),
            ("device.cache", "volatile"),
            ("nvme.critical_warning", ""),
            ("nvme.volatile_cache", "yes"),
            ("probe.flush_cost", "25"),
        ],
        &[],
    ),
];

fn facts_of_healthy_host(own: FactTexts) -> FactSet {
    let (target, mount, disk) = (
        Subject::target("/data"),
        Subject::mount("/data"),
        Subject::device("sda"),
    );
    let mut set = FactSet::default();
    set.add_layer_below(&target, &mount);
    set.add_layer_below(&mount, &disk);
    set.set_fact_link(&target, &mount);
    set.set_fact_link(&target, &disk);
    for (name, text) in COMMON.iter().chain(own) {
        let info = catalog::find_by_name(name).unwrap();
        let subject = match name.split('.').next().unwrap() {
            "host" | "kernel" | "vm" | "e2fsprogs" | "zfs" => Subject::host(),
            "mount" | "ext4" => mount.clone(),
            "target" | "probe" => target.clone(),
            _ => disk.clone(),
        };
        let reading = match text.strip_prefix('?') {
            Some(why) => Reading::unknown(
                if why == "denied" {
                    UnknownReason::Denied
                } else {
                    UnknownReason::Absent
                },
                "not read",
            ),
            None => Reading::known(testing::parse_value(info, text), Source::from_file("x")),
        };
        set.insert_untyped_value(&subject, info, reading);
    }
    set
}

/// Whether more than a probe is needed to answer the finding's question, so that the host's row in
/// `MACHINES` must list the rule.
fn is_undecided_beyond_probe(finding: &Finding) -> bool {
    let Outcome::Undecided { needs } = &finding.outcome else {
        return false;
    };
    needs
        .first()
        .is_none_or(|best| best.iter().any(|need| !need.fact.starts_with("probe.")))
}

#[test]
fn healthy_hosts_have_no_serious_findings() {
    let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
    for (machine, own, open) in MACHINES {
        let facts = facts_of_healthy_host(own);
        let findings = evaluate_rules(
            &subjects_in_scope_order(&facts),
            &set,
            &facts,
            EvaluationOptions {
                live: true,
                traced: true,
            },
        )
        .findings;
        let serious = findings
            .iter()
            .filter(|finding| finding.level >= Level::Warning);
        let (mut found, mut asked) = (Vec::new(), Vec::new());
        for finding in serious {
            if finding.outcome == Outcome::Applies {
                found.push(finding.rule.as_str());
            } else if is_undecided_beyond_probe(finding) {
                asked.push(finding.rule.as_str());
            }
        }
        assert_eq!(found, Vec::<&str>::new(), "{machine}");
        asked.sort_unstable();
        assert_eq!(asked, open, "{machine}");
    }
}
