use walwise_model::facts::catalog::device::{
    self, ArrayLevel, ArrayState, ConsistencyPolicy, DeviceKind, NetworkTransport,
    ShingledRecording, SyncAction,
};
use walwise_model::facts::{FactSet, Key, Subject};
use walwise_model::text::{self, JoinText};

pub fn describe_device(facts: &FactSet, subject: &Subject) -> String {
    let text = |key| facts.value(subject, key);
    let size = facts.value(subject, &device::SIZE).map(text::format_bytes);
    let kind = facts.value(subject, &device::KIND);
    let named = |kind: &str| match text(&device::DM_NAME) {
        Some(name) => format!("{kind} {name}"),
        None => kind.to_owned(),
    };
    let first = match kind {
        Some(DeviceKind::Md) => describe_md_array(facts, subject),
        Some(DeviceKind::Lvm) => named(&describe_dm_device("LVM", "LVM ", facts, subject)),
        Some(DeviceKind::Crypt) => named("LUKS"),
        Some(DeviceKind::Multipath) => named("multipath"),
        Some(DeviceKind::Dmraid) => named("firmware RAID"),
        Some(DeviceKind::Vdo) => named("VDO"),
        Some(DeviceKind::Dm) => named(&describe_dm_device("device mapper", "dm-", facts, subject)),
        Some(DeviceKind::Loop) => match text(&device::LOOP_FILE) {
            Some(file) => format!("loop device on {file}"),
            None => "loop device".to_owned(),
        },
        Some(DeviceKind::Bcache) => {
            let mode = facts
                .value(subject, &device::BCACHE_MODE)
                .map(|mode| mode.to_string());
            let state = facts
                .value(subject, &device::BCACHE_STATE)
                .map(|state| state.to_string());
            join_with_commas("bcache", [mode, state])
        }
        Some(DeviceKind::Drbd) => match facts.value(subject, &device::DRBD_PROTOCOL) {
            Some(protocol) => format!("DRBD protocol {protocol}"),
            None => "DRBD".to_owned(),
        },
        Some(DeviceKind::Zvol) => "ZFS volume".to_owned(),
        Some(DeviceKind::Disk | DeviceKind::Other) | None => {
            text(&device::MODEL).unwrap_or_else(|| "disk".to_owned())
        }
        Some(DeviceKind::Ram) => "RAM disk".to_owned(),
        Some(DeviceKind::Zram) => "compressed RAM disk (zram)".to_owned(),
        Some(kind @ DeviceKind::Partition) => kind.to_string(),
    };
    let lasts = facts
        .value(subject, &device::EPHEMERAL)
        .filter(|gone| *gone)
        .map(|_| "ephemeral".to_owned());
    let zones = facts
        .value(subject, &device::SHINGLED)
        .and_then(|zones| match zones {
            ShingledRecording::No => None,
            ShingledRecording::Suspected => Some("possibly shingled".to_owned()),
            ShingledRecording::HostAware
            | ShingledRecording::HostManaged
            | ShingledRecording::DriveManaged => Some(format!("shingled, {zones}")),
        });
    let attached = transport_text(facts, subject, kind);
    [Some(first), size, attached, lasts, zones]
        .into_iter()
        .flatten()
        .join_with(", ")
}

fn transport_text(facts: &FactSet, subject: &Subject, kind: Option<DeviceKind>) -> Option<String> {
    let transport = facts.value(subject, &device::TRANSPORT)?;
    let words = match facts.value(subject, &device::FABRIC) {
        _ if !transport.is_recognised() => return None,
        Some(NetworkTransport::Tcp) => "NVMe over TCP",
        Some(NetworkTransport::Rdma) => "NVMe over RDMA",
        Some(NetworkTransport::Fc) => "NVMe over Fibre Channel",
        Some(NetworkTransport::Iscsi) => "iSCSI",
        Some(NetworkTransport::FibreChannel) => "Fibre Channel",
        Some(fabric @ (NetworkTransport::Nbd | NetworkTransport::Rbd)) => fabric.as_str(),
        None if transport.is_pmem() && kind.is_some_and(DeviceKind::is_disk) => "persistent memory",
        None => transport.as_str(),
    };
    Some(words.to_owned())
}

fn join_with_commas<const N: usize>(first: &str, more: [Option<String>; N]) -> String {
    std::iter::once(first.to_owned())
        .chain(more.into_iter().flatten())
        .join_with(", ")
}

/// `prefix` precedes the kernel's name of a target type that the list below does not translate.
fn describe_dm_device(maker: &str, prefix: &str, facts: &FactSet, subject: &Subject) -> String {
    let mut targets = facts
        .value(subject, &device::DM_TARGETS)
        .unwrap_or_default();
    targets.dedup();
    let mode = facts.value(subject, &device::DM_CACHE_MODE);
    let kind = match targets.as_slice() {
        [one] => match one.as_str() {
            "linear" => return maker.to_owned(),
            "thin" => "thin volume".to_owned(),
            "thin-pool" => format!("thin pool{}", thin_pool_fill_text(facts, subject)),
            "snapshot" => "snapshot".to_owned(),
            "snapshot-origin" => "volume with snapshots".to_owned(),
            "cache" => mode.map_or_else(|| "cache".to_owned(), |mode| format!("{mode} cache")),
            "writecache" => "write cache".to_owned(),
            "crypt" => "encrypted".to_owned(),
            "raid" => "RAID".to_owned(),
            other => return format!("{prefix}{other}"),
        },
        _ => return maker.to_owned(),
    };
    format!("{maker} {kind}")
}

fn thin_pool_fill_text(facts: &FactSet, subject: &Subject) -> String {
    let percent = |key: &Key<f64>, word: &str| {
        let share = facts.value(subject, key)?;
        Some(format!("{share:.0}% {word}"))
    };
    let shares = [
        percent(&device::THIN_DATA, "data"),
        percent(&device::THIN_METADATA, "metadata"),
    ];
    let shares = shares.into_iter().flatten().join_with(", ");
    if shares.is_empty() {
        shares
    } else {
        format!(" ({shares})")
    }
}

fn describe_md_array(facts: &FactSet, subject: &Subject) -> String {
    let level = facts
        .value(subject, &device::MD_LEVEL)
        .map_or("md array", ArrayLevel::display_name);
    let disks = facts.value(subject, &device::MD_DISKS);
    let missing = facts.value(subject, &device::MD_DEGRADED);
    let there = disks
        .zip(missing)
        .map(|(disks, missing)| format!("{} of {disks} disks", disks.saturating_sub(missing)));
    let doing = facts
        .value(subject, &device::MD_SYNC_ACTION)
        .and_then(|action| match action {
            SyncAction::Idle => None,
            SyncAction::Frozen => Some("frozen"),
            SyncAction::Resync => Some("resyncing"),
            SyncAction::Recover => Some("recovering"),
            SyncAction::Check => Some("being checked"),
            SyncAction::Repair => Some("being repaired"),
            SyncAction::Reshape => Some("being reshaped"),
        });
    let closed = facts
        .value(subject, &device::MD_CONSISTENCY)
        .and_then(|policy| match policy {
            ConsistencyPolicy::Journal => Some("journal"),
            ConsistencyPolicy::Ppl => Some("PPL"),
            ConsistencyPolicy::None
            | ConsistencyPolicy::Resync
            | ConsistencyPolicy::Bitmap
            | ConsistencyPolicy::Unknown => None,
        });
    let state = facts
        .value(subject, &device::MD_STATE)
        .and_then(|state| match state {
            ArrayState::Clear | ArrayState::Inactive => Some("not running"),
            ArrayState::Broken => Some("failed"),
            ArrayState::ReadOnly => Some("read-only"),
            ArrayState::ReadAuto => Some("read-only until the first write"),
            ArrayState::Suspended => Some("suspended"),
            ArrayState::Clean
            | ArrayState::Active
            | ArrayState::WritePending
            | ArrayState::ActiveIdle => None,
        });
    // A container array only holds metadata and never runs, so its state is not described.
    let state = state.filter(|_| {
        !facts
            .value(subject, &device::MD_LEVEL)
            .is_some_and(ArrayLevel::is_container)
    });
    let failed = facts
        .value(subject, &device::MD_FAILED)
        .filter(|failed| !failed.is_empty())
        .map(|failed| format!("failed: {}", failed.join(" ")));
    let [state, doing, closed] = [state, doing, closed].map(|word| word.map(str::to_owned));
    join_with_commas(level, [there, state, doing, closed, failed])
}

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::{KeyInfo, Source, Value};

    fn describe_test_device(facts: &[(&KeyInfo, Value)]) -> String {
        let mut set = FactSet::default();
        let subject = Subject::device("x");
        for (key, value) in facts {
            set.insert_untyped_value(
                &subject,
                key,
                walwise_model::facts::Reading::known(value.clone(), Source::from_file("x")),
            );
        }
        describe_device(&set, &subject)
    }

    fn text_value(word: &str) -> Value {
        Value::Text(word.to_owned())
    }

    #[test]
    fn device_descriptions_by_kind() {
        let list =
            |words: &[&str]| Value::List(words.iter().map(|&word| word.to_owned()).collect());
        let kind = |word| (&device::KIND.info, text_value(word));
        for (facts, expect) in [
            (
                vec![
                    kind("md"),
                    (&device::MD_LEVEL.info, text_value("raid5")),
                    (&device::MD_DISKS.info, Value::Whole(4)),
                    (&device::MD_DEGRADED.info, Value::Whole(1)),
                    (&device::MD_SYNC_ACTION.info, text_value("resync")),
                ],
                "RAID5, 3 of 4 disks, resyncing",
            ),
            (
                vec![
                    kind("md"),
                    (&device::MD_LEVEL.info, text_value("raid1")),
                    (&device::MD_SYNC_ACTION.info, text_value("idle")),
                ],
                "RAID1",
            ),
            (
                vec![
                    kind("bcache"),
                    (&device::BCACHE_MODE.info, text_value("writeback")),
                    (&device::BCACHE_STATE.info, text_value("dirty")),
                ],
                "bcache, writeback, dirty",
            ),
            (
                vec![kind("drbd"), (&device::DRBD_PROTOCOL.info, text_value("C"))],
                "DRBD protocol C",
            ),
            (
                vec![
                    kind("disk"),
                    (&device::TRANSPORT.info, text_value("network")),
                    (&device::FABRIC.info, text_value("tcp")),
                ],
                "disk, NVMe over TCP",
            ),
            (
                vec![kind("lvm"), (&device::DM_NAME.info, text_value("vg-data"))],
                "LVM vg-data",
            ),
            (
                vec![
                    kind("lvm"),
                    (&device::DM_NAME.info, text_value("vg-data")),
                    (&device::DM_TARGETS.info, list(&["thin"])),
                ],
                "LVM thin volume vg-data",
            ),
            (
                vec![
                    kind("lvm"),
                    (&device::DM_TARGETS.info, list(&["thin-pool"])),
                    (&device::THIN_DATA.info, Value::Number(81.4)),
                ],
                "LVM thin pool (81% data)",
            ),
            (
                vec![
                    kind("lvm"),
                    (&device::DM_TARGETS.info, list(&["cache"])),
                    (&device::DM_CACHE_MODE.info, text_value("writeback")),
                ],
                "LVM writeback cache",
            ),
            (
                vec![kind("crypt"), (&device::DM_NAME.info, text_value("data"))],
                "LUKS data",
            ),
            (
                vec![
                    kind("disk"),
                    (&device::MODEL.info, text_value("nvme_card0")),
                    (&device::TRANSPORT.info, text_value("nvme")),
                    (&device::EPHEMERAL.info, Value::Bool(true)),
                ],
                "nvme_card0, nvme, ephemeral",
            ),
        ] {
            assert_eq!(describe_test_device(&facts), expect);
        }
    }
}
