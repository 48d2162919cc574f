//! The state fields that each program reports (health, mode, policy, errors, members), each
//! with the fact that records it or the reason to ignore it. The test fails for a program
//! without a row.

use std::collections::BTreeSet;

use crate::facts::catalog;
use crate::host::Tool;

enum FieldCoverage {
    Fact(&'static str),
    Ignored(&'static str),
}

use FieldCoverage::{Fact, Ignored};

type ToolFields = (
    &'static [&'static str],
    &'static [(&'static str, FieldCoverage)],
);

const VERSION: &[(&str, FieldCoverage)] = &[("version", Ignored("not a state"))];
const REDUNDANCY: FieldCoverage = Ignored(
    "redundancy is reported separately from the verdict, and an offline volume refuses reads",
);

const FIELDS: &[ToolFields] = &[
    (
        &[
            "mke2fs",
            "mkfs.xfs",
            "mkfs.btrfs",
            "mdadm",
            "mount",
            "mysqld",
            "mariadbd",
            "postgres",
            "pg_ctl",
        ],
        VERSION,
    ),
    (
        &["storcli", "perccli"],
        &[
            ("HwCfg/BBU", Fact("controller.battery")),
            ("Status/BBU Status", Fact("controller.battery")),
            (
                "Cachevault_Info/State, BBU_Info/State",
                Fact("controller.battery"),
            ),
            ("flags of /cX/cv and /cX/bbu", Fact("controller.battery")),
            (
                "Defaults/Cache When BBU Bad",
                Fact("controller.on_battery_failure"),
            ),
            ("Write Cache(initial setting)", Fact("controller.policy")),
            ("VD LIST/Cache", Fact("controller.policy_in_force")),
            (
                "Disk Cache Policy, TOPOLOGY/PDC, VD LIST/Cac",
                Fact("controller.disk_cache"),
            ),
            ("VD LIST/State, PD LIST/State", REDUNDANCY),
            (
                "Status/Controller Status",
                Ignored("a summary of the other fields"),
            ),
        ],
    ),
    (
        &["storcli2", "perccli2"],
        &[
            (
                "HwCfg/Energy Pack, Energy Pack Info/Status",
                Fact("controller.battery"),
            ),
            ("DefaultCache", Fact("controller.policy")),
            ("CurrentCache", Fact("controller.policy_in_force")),
            (
                "Drive Write Cache Policy, TOPOLOGY/PDC",
                Fact("controller.disk_cache"),
            ),
            (
                "Energy Pack Warning, Data Loss Warning",
                Ignored("settings of the alarm beeper"),
            ),
            ("VD LIST/State", REDUNDANCY),
        ],
    ),
    (
        &["MegaCli"],
        &[
            (
                "Battery State, isSOHGood, flags of GetBbuStatus",
                Fact("controller.battery"),
            ),
            ("Default Cache Policy", Fact("controller.policy")),
            ("Current Cache Policy", Fact("controller.policy_in_force")),
            (
                "Write Cache OK if Bad BBU",
                Fact("controller.on_battery_failure"),
            ),
            (
                "Disk Cache Policy, Is VD Cached",
                Fact("controller.disk_cache"),
            ),
            ("State", REDUNDANCY),
        ],
    ),
    (
        &["ssacli", "hpssacli", "hpacucli"],
        &[
            (
                "Battery/Capacitor Count, Battery/Capacitor Status",
                Fact("controller.battery"),
            ),
            ("Caching, Cache Ratio", Fact("controller.policy")),
            ("Cache Status", Fact("controller.policy_in_force")),
            ("Cache Status Details", Fact("controller.cache_detail")),
            (
                "No-Battery Write Cache",
                Fact("controller.on_battery_failure"),
            ),
            ("Drive Write Cache", Fact("controller.disk_cache")),
            ("LD Acceleration Method", Fact("controller.policy")),
            ("Status of a logical drive", REDUNDANCY),
            (
                "Controller Status",
                Ignored("a summary of the other fields"),
            ),
        ],
    ),
    (
        &["arcconf"],
        &[
            (
                "Status of battery, ZMM, supercap, backup unit",
                Fact("controller.battery"),
            ),
            (
                "Backup Power Status, Hardware Error",
                Fact("controller.battery"),
            ),
            ("Write-cache setting, Caching", Fact("controller.policy")),
            (
                "Write-cache status, Write-cache mode, Cache Status",
                Fact("controller.policy_in_force"),
            ),
            ("Cache Status Details", Fact("controller.cache_detail")),
            (
                "No-Battery Write Cache",
                Fact("controller.on_battery_failure"),
            ),
            (
                "Write Cache, Configured Drives",
                Fact("controller.disk_cache"),
            ),
            ("State of a disk", Fact("controller.disk_cache")),
            ("Status of Logical Device", REDUNDANCY),
            (
                "Controller Status",
                Ignored("a summary of the other fields"),
            ),
        ],
    ),
    (
        &["nvme"],
        &[
            ("id-ctrl vwc", Fact("nvme.volatile_cache")),
            ("get-feature 6", Fact("device.drive_cache")),
            ("smart-log critical_warning", Fact("nvme.critical_warning")),
            ("get-log 0xc0", Fact("nvme.capacitor")),
            (
                "smart-log percentage_used, media_errors",
                Ignored("these fields show wear; the drive itself warns through critical_warning"),
            ),
        ],
    ),
    (
        &["smartctl"],
        &[
            ("write_cache/enabled", Fact("device.drive_cache")),
            ("smart_status/nvme/value", Fact("nvme.critical_warning")),
            (
                "smart_status/passed",
                Ignored("predicts a failure, but does not show whether a flushed write is safe"),
            ),
        ],
    ),
    (
        &["hdparm", "sdparm"],
        &[("write cache", Fact("device.drive_cache"))],
    ),
    (
        &["dmsetup"],
        &[
            ("status", Fact("dm.state")),
            (
                "status, health letters and paths",
                Fact("dm.failed_members"),
            ),
            (
                "status, letters of lagging copies",
                Fact("dm.lagging_members"),
            ),
            ("status, dirty blocks of a cache", Fact("dm.dirty_blocks")),
            ("status, use of a thin pool", Fact("thin.data_percent")),
            ("table, mode of a cache", Fact("dm.cache_mode")),
            ("table, queue_if_no_path", Fact("dm.queue_if_no_path")),
        ],
    ),
    (
        &["drbdsetup"],
        &[
            ("protocol", Fact("drbd.protocol")),
            (
                "disk-flushes, disk-barrier, disk-drain",
                Fact("drbd.write_ordering"),
            ),
            ("md-flushes", Fact("drbd.md_flushes")),
        ],
    ),
    (
        &["zfs"],
        &[
            ("sync", Fact("zfs.sync")),
            ("logbias", Fact("zfs.logbias")),
            ("recordsize", Fact("zfs.recordsize")),
        ],
    ),
    (
        &["zpool"],
        &[
            ("state:", Fact("zfs.pool_state")),
            ("STATE of a device", Fact("zfs.lost_devices")),
            ("READ, WRITE, CKSUM", Fact("zfs.error_counts")),
            ("errors:", Fact("zfs.damaged")),
            (
                "status:, action:, scan:",
                Ignored("sentences that repeat the other fields"),
            ),
        ],
    ),
    (
        &["pg_controldata"],
        &[("Data page checksum version", Fact("pg.data_checksums"))],
    ),
];

#[test]
fn every_tool_field_has_fact_or_reason() {
    let fixed = Tool::FIXED.iter().map(|tool| tool.program_name());
    let major = Tool::MAJOR.iter().map(|tool| tool(0).program_name());
    let allowed: BTreeSet<&str> = fixed.chain(major).collect();
    let listed: Vec<&str> = FIELDS
        .iter()
        .flat_map(|(tools, _)| tools.iter().copied())
        .collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), allowed);
    assert_eq!(listed.len(), allowed.len(), "two rows for one program");
    for (tools, fields) in FIELDS {
        for (field, becomes) in *fields {
            match becomes {
                Fact(name) => assert!(
                    catalog::find_by_name(name).is_some(),
                    "{tools:?} {field}: no fact {name}"
                ),
                Ignored(reason) => assert!(!reason.is_empty(), "{tools:?} {field}"),
            }
        }
    }
}
