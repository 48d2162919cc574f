//! The request of a probe: a directory, a duration, a server, and the disks below.
//!
//! Unknown properties of the disks (whether they count flushes, how fast they can be) are not
//! assumed; figures that depend on them are then unknown.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::method::WalSettings;
use super::redo::RedoShape;
use super::wear;
use crate::facts::catalog::device::{self, Cache, DeviceKind, Medium, Transport};
use crate::facts::catalog::host::{self as machine, Vantage};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::{postgres, target as target_facts};
use crate::facts::{Area, FactSet, Key, Scope, Subject};
use crate::measure::{Method, Occasion, SpeedLimit, Workload};
use crate::subprocess::PROGRAM;
use crate::text;

/// Size of a scratch file: a WAL segment, in bytes.
const SEGMENT: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Whether every sample is kept in the result.
    pub keep_samples: bool,
    /// Whether it runs at the lowest priority.
    pub nice: bool,
    /// Whether network file systems and nearly full ones are measured too.
    pub force: bool,
}

/// The log that commits wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLog {
    /// PostgreSQL's WAL, also where there is no server.
    Wal(WalSettings),
    Redo(RedoShape),
}

impl ServerLog {
    /// Whether it is InnoDB's.
    pub fn is_redo(&self) -> bool {
        matches!(self, Self::Redo(_))
    }
}

/// The subject and extent of the measurement.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// The directory the advice is for.
    pub target: PathBuf,
    /// The directory for the scratch directory, when the user named one.
    pub scratch: Option<PathBuf>,
    /// `mount.class` of the target, when known: a network or FUSE file system is then refused
    /// without being touched.
    pub mount_class: Option<MountClass>,
    /// The longest time in all, in seconds.
    pub seconds: f64,
    /// Size of a scratch file in bytes.
    pub file_bytes: u64,
    /// The server whose methods are measured.
    pub server: ServerLog,
    /// Numbers of pages of its log per commit with which the server's methods are compared; empty
    /// for no comparison.
    pub pages: Vec<u32>,
    /// Whether commits of every size are paced, not only those of one page.
    pub all_paced: bool,
    /// Further methods, with one page per commit. [`ProbeRequest::new`] puts the unflushed floor
    /// here.
    pub extra: Vec<Method>,
    /// Further workloads, each measured for the same time.
    pub workloads: Vec<Workload>,
    pub options: ProbeOptions,
    /// Kernel names of the disks at the bottom of the target's stack.
    pub leaves: Vec<String>,
    /// Whether all of them count flushes (`device.counts_flushes`).
    pub leaves_count_flushes: bool,
    /// Size of the smallest disk that wears by writing, in bytes; `None` where one is unknown or
    /// none wears.
    pub smallest_disk_bytes: Option<u64>,
    /// The highest plausible rate of commits; `None` for memory, ZFS and everything remote.
    pub speed_limit: Option<SpeedLimit>,
    /// The path of this program, which is started again as the watcher that removes the scratch
    /// directory if we are killed.
    pub program: PathBuf,
    /// Seed of the random order.
    pub seed: u64,
}

impl ProbeRequest {
    /// The default probe of a directory: PostgreSQL's methods and the floor, in ten seconds.
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self {
            target: target.into(),
            scratch: None,
            mount_class: None,
            seconds: 10.0,
            file_bytes: SEGMENT,
            server: ServerLog::Wal(WalSettings::default()),
            pages: vec![1, 2],
            all_paced: false,
            extra: Method::beside(Occasion::Always).collect(),
            workloads: Vec::new(),
            options: ProbeOptions::default(),
            leaves: Vec::new(),
            leaves_count_flushes: false,
            smallest_disk_bytes: None,
            speed_limit: None,
            program: PathBuf::from(PROGRAM),
            seed: 1,
        }
    }

    /// The probe of a target described by its facts: its file system, disks and server.
    pub fn of_target(target: &Subject, facts: &FactSet) -> Self {
        let leaves = facts.leaves(target);
        let all_leaves =
            |holds: &dyn Fn(&Subject) -> bool| !leaves.is_empty() && leaves.iter().all(holds);
        let path = facts
            .value(target, &target_facts::PATH)
            .unwrap_or_else(|| target.name().to_owned());
        let mount_class = facts
            .resolve(target, Scope::Mount)
            .and_then(|on| facts.value(&on, &mount::CLASS));
        Self {
            leaves_count_flushes: all_leaves(&|leaf| {
                facts.value(leaf, &device::COUNTS_FLUSHES) == Some(true)
            }),
            smallest_disk_bytes: wear::smallest(&leaves, facts),
            leaves: leaves.iter().map(|leaf| leaf.name().to_owned()).collect(),
            speed_limit: speed_limit(target, facts, mount_class),
            mount_class,
            server: server(target, facts),
            ..Self::new(PathBuf::from(OsString::from_vec(text::raw(&path))))
        }
    }
}

/// The highest plausible rate of commits on a target. Platters limit it only where nothing in
/// between could answer for them: SATA or SAS disks of known speed, in this machine, behind no
/// controller with a cache. The kernel's rotational flag is ignored, because virtual disks and RAID
/// volumes set it.
fn speed_limit(
    target: &Subject,
    facts: &FactSet,
    mount_class: Option<MountClass>,
) -> Option<SpeedLimit> {
    let leaves = facts.leaves(target);
    let text = |leaf: &Subject, key: &Key<String>| facts.value(leaf, key);
    let is_disk = |leaf: &Subject| {
        facts
            .value(leaf, &device::KIND)
            .is_some_and(DeviceKind::is_disk)
            && !facts
                .value(leaf, &device::MEDIUM)
                .is_some_and(Medium::is_memory)
            && !facts
                .value(leaf, &device::TRANSPORT)
                .is_some_and(Transport::is_pmem)
            && !leaf.name().starts_with("pmem")
    };
    if !mount_class.is_some_and(MountClass::is_block)
        || leaves.is_empty()
        || !leaves.iter().all(is_disk)
    {
        return None;
    }
    let hands_on = |hop: &Subject| {
        hop.scope() != Scope::Device
            || facts
                .value(hop, &device::KIND)
                .is_some_and(hands_flushes_on)
    };
    let turning = |leaf: &Subject| {
        let attached = facts
            .value(leaf, &device::TRANSPORT)
            .is_some_and(Transport::is_sata_or_sas);
        let platters = facts.value(leaf, &device::MEDIUM).is_none_or(Medium::turns);
        let unprotected = !facts
            .value(leaf, &device::CACHE)
            .is_some_and(Cache::is_protected);
        let rpm = facts
            .value(leaf, &device::RPM)
            .and_then(|rpm| u32::try_from(rpm).ok());
        rpm.filter(|rpm| *rpm > 0 && attached && platters && unprotected)
    };
    let on_host = facts
        .value(&Subject::host(), &machine::SEEN_BY)
        .is_some_and(Vantage::is_host);
    let physical = on_host
        && text(&Subject::host(), &machine::VIRTUALISATION).as_deref() == Some("none")
        && facts.stack(target).iter().all(hands_on);
    // One flush can end on any of several disks, so the fastest one sets the limit.
    let fastest = leaves
        .iter()
        .map(turning)
        .collect::<Option<Vec<u32>>>()
        .and_then(|all| all.into_iter().max());
    Some(
        fastest
            .filter(|_| physical)
            .map_or_else(SpeedLimit::block_device, SpeedLimit::platter),
    )
}

/// Whether a layer of this kind passes requests on unchanged, so that no cache of its own answers
/// for the disks.
fn hands_flushes_on(kind: DeviceKind) -> bool {
    matches!(
        kind,
        DeviceKind::Disk
            | DeviceKind::Partition
            | DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Crypt
            | DeviceKind::Multipath
    )
}

/// How the server that uses a target writes its log, as far as its settings are known.
fn server(target: &Subject, facts: &FactSet) -> ServerLog {
    let Some(cluster) = facts.resolve(target, Scope::Cluster) else {
        return ServerLog::Wal(WalSettings::default());
    };
    match facts.area_of(&cluster) {
        Some(Area::Mysql) => {
            let told = RedoShape::from_facts(facts, target, &cluster);
            ServerLog::Redo(told.unwrap_or_else(RedoShape::usual))
        }
        Some(Area::Pg) | None => ServerLog::Wal(wal(&cluster, facts)),
    }
}

fn wal(cluster: &Subject, facts: &FactSet) -> WalSettings {
    WalSettings {
        major: facts
            .value(cluster, &postgres::VERSION)
            .map(|version| version.number(0)),
        wal_level: facts.value(cluster, &postgres::WAL_LEVEL),
        max_wal_senders: facts.value(cluster, &postgres::MAX_WAL_SENDERS),
        debug_io_direct: facts.value(cluster, &postgres::DEBUG_IO_DIRECT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::{KeyInfo, Reading, Value};
    use crate::version::Version;

    #[test]
    fn facts_decide_what_is_asked_for() {
        let (target, fs, disk) = (
            Subject::target("/t\\x0a"),
            Subject::mount("/t"),
            Subject::device("sda"),
        );
        let cluster = Subject::cluster("/t");
        let mut facts = FactSet::default();
        facts.stand(&target, &fs);
        facts.stand(&fs, &disk);
        facts.link(&target, &fs);
        facts.link(&target, &cluster);
        let bare = ProbeRequest::of_target(&target, &facts);
        assert_eq!((bare.target.to_str(), bare.leaves.len()), (Some("/t\n"), 1));
        assert!(
            !bare.leaves_count_flushes && bare.speed_limit.is_none(),
            "unknown counts nothing and limits nothing"
        );

        let source = || Source::call("test");
        facts.know(&fs, &mount::CLASS, MountClass::Block, source());
        facts.know(&disk, &device::KIND, DeviceKind::Disk, source());
        facts.know(&disk, &device::COUNTS_FLUSHES, true, source());
        facts.know(
            &cluster,
            &postgres::VERSION,
            Version::parse("15.4").unwrap(),
            source(),
        );
        facts.know(
            &cluster,
            &postgres::WAL_LEVEL,
            postgres::WalLevel::Minimal,
            source(),
        );
        facts.know(&cluster, &postgres::MAX_WAL_SENDERS, 0, source());
        let full = ProbeRequest::of_target(&target, &facts);
        assert!(full.leaves_count_flushes && full.speed_limit.is_some());
        assert_eq!(full.mount_class, Some(MountClass::Block));
        let ServerLog::Wal(server) = &full.server else {
            panic!("{:?}", full.server)
        };
        assert_eq!(server.major, Some(15));
        assert!(super::super::method::server_methods(server).contains(&Method::OpenDatasyncDirect));
    }

    /// The limit on ext4 on sda1 on sda, with these facts of host and disk.
    fn limit(host: &[(Vantage, &str)], disk: &[(KeyInfo, &str)], rpm: Option<u64>) -> Option<f64> {
        let (target, fs) = (Subject::target("/t"), Subject::mount("/t"));
        let (part, sda) = (Subject::device("sda1"), Subject::device("sda"));
        let source = || Source::call("test");
        let mut facts = FactSet::default();
        for (top, base) in [(&target, &fs), (&fs, &part), (&part, &sda)] {
            facts.stand(top, base);
        }
        facts.link(&target, &fs);
        facts.know(&fs, &mount::CLASS, MountClass::Block, source());
        facts.know(&part, &device::KIND, DeviceKind::Partition, source());
        facts.know(&sda, &device::KIND, DeviceKind::Disk, source());
        facts.know(&sda, &device::ROTATIONAL, true, source());
        for (seen_by, technology) in host {
            facts.know(&Subject::host(), &machine::SEEN_BY, *seen_by, source());
            facts.know(
                &Subject::host(),
                &machine::VIRTUALISATION,
                (*technology).to_owned(),
                source(),
            );
        }
        for (key, value) in disk {
            facts.put_value(
                &sda,
                key,
                Reading::known(Value::Text((*value).to_owned()), source()),
            );
        }
        if let Some(rpm) = rpm {
            facts.know(&sda, &device::RPM, rpm, source());
        }
        ProbeRequest::of_target(&target, &facts)
            .speed_limit
            .map(|limit| limit.per_second)
    }

    #[test]
    fn platters_limit_only_where_nothing_could_answer_for_them() {
        let bare = [(Vantage::Host, "none")];
        let guest = [(Vantage::Guest, "kvm")];
        let (any, turns) = (Some(100_000.0), Some(180.0));
        let on = |transport| {
            [
                (device::TRANSPORT.info, transport),
                (device::MEDIUM.info, "platters"),
            ]
        };
        assert_eq!(limit(&bare, &on("sata"), Some(7_200)), turns);
        assert_eq!(limit(&bare, &on("sas"), Some(15_000)), Some(375.0));
        // The rotational flag is set in all of these, and proves nothing: a guest's disk at 10,000
        // commits a second, a RAID volume, a disk of unknown speed.
        assert_eq!(limit(&guest, &on("sata"), Some(7_200)), any);
        assert_eq!(
            limit(&guest, &[(device::TRANSPORT.info, "virtio")], None),
            any
        );
        assert_eq!(
            limit(&bare, &[(device::TRANSPORT.info, "megaraid")], None),
            any
        );
        assert_eq!(limit(&bare, &on("megaraid"), Some(7_200)), any);
        assert_eq!(limit(&bare, &on("sata"), None), any);
        assert_eq!(limit(&[], &on("sata"), Some(7_200)), any);
        let protected = [
            (device::TRANSPORT.info, "sata"),
            (device::CACHE.info, "protected"),
        ];
        assert_eq!(limit(&bare, &protected, Some(7_200)), any);
        for memory in ["persistent memory", "memory"] {
            assert_eq!(limit(&bare, &[(device::MEDIUM.info, memory)], None), None);
        }
        assert_eq!(
            limit(&bare, &[(device::TRANSPORT.info, "pmem")], None),
            None
        );
    }
}
