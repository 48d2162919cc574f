//! The request of a probe: directory, duration, server and disks. Unknown properties of the disks
//! (flush counts, speed) are never assumed; figures that need them stay unknown.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::server_log::ServerLog;
use super::{ProbeRefusal, wear};
use crate::facts::catalog::device::{self, CacheVolatility, DeviceKind, Medium, Transport};
use crate::facts::catalog::host::{self as machine, RunEnvironment};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::target as target_facts;
use crate::facts::catalog::target::FlushDelivery;
use crate::facts::{FactSet, Scope, Subject};
use crate::measure::{
    CommitLoad, CommitProfile, LogKind, MaxPlausibleCommitRate, Method, ProbeInclusion,
    Requirement, WalMethodInForce, Workload,
};
use crate::subprocess::OWN_PROGRAM;
use crate::text;

const SEGMENT_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeOptions {
    pub keep_samples: bool,
    pub nice: bool,
    /// True if network, FUSE and nearly full file systems are measured too.
    pub force: bool,
}

#[derive(Clone, Debug)]
pub struct ProbeRequest {
    pub target: PathBuf,
    pub scratch: Option<PathBuf>,
    /// `mount.class` of the target, if known. It identifies network and FUSE file systems without
    /// any access to the target.
    pub mount_class: Option<MountClass>,
    pub seconds: f64,
    pub file_bytes: u64,
    pub server: ServerLog,
    /// Commit sizes, in log pages, with which the server's methods are compared; if empty, the
    /// methods are not compared.
    pub pages: Vec<u32>,
    /// True if paced commits are made with every size in `pages`, not only with one page.
    pub all_paced: bool,
    /// Further methods, measured with one page per commit. [`ProbeRequest::new`] adds the methods
    /// that every probe measures, such as the unflushed write.
    pub extra: Vec<Method>,
    pub workloads: Vec<Workload>,
    /// The commits of [`Workload::Commit`].
    pub commits: CommitLoad,
    pub options: ProbeOptions,
    /// Kernel names of the disks at the bottom of the target's stack.
    pub leaves: Vec<String>,
    /// True if all `leaves` count flushes (`device.counts_flushes`).
    pub leaves_count_flushes: bool,
    /// Size of the smallest disk that is or may be flash; `None` if there is no such disk or a size
    /// is unknown.
    pub smallest_disk_bytes: Option<u64>,
    /// Highest plausible commit rate; `None` if unknown, as for memory and ZFS.
    pub speed_limit: Option<MaxPlausibleCommitRate>,
    /// Path of this program, which starts itself again as the cleaner of the scratch directory.
    pub program: PathBuf,
    pub seed: u64,
}

impl ProbeRequest {
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self {
            target: target.into(),
            scratch: None,
            mount_class: None,
            seconds: 10.0,
            file_bytes: SEGMENT_BYTES,
            server: ServerLog::default(),
            pages: vec![1, 2],
            all_paced: false,
            extra: Method::methods_with_inclusion(ProbeInclusion::Always).collect(),
            workloads: Vec::new(),
            commits: CommitLoad::new(None, None),
            options: ProbeOptions::default(),
            leaves: Vec::new(),
            leaves_count_flushes: false,
            smallest_disk_bytes: None,
            speed_limit: None,
            program: PathBuf::from(OWN_PROGRAM),
            seed: 1,
        }
    }

    /// Requests only the commits of one program: of `profile`, or else of the target's server.
    /// `server` is `None` without a server, and holds the `wal_sync_method` of PostgreSQL.
    pub fn restrict_to_commit_load(
        &mut self,
        profile: Option<CommitProfile>,
        requirement: Option<Requirement>,
        server: Option<WalMethodInForce>,
    ) -> Result<(), ProbeRefusal> {
        let own = server.map(|_| match self.server.log.kind {
            LogKind::Wal => CommitProfile::Postgres,
            LogKind::Redo => CommitProfile::Innodb,
        });
        let mut load = CommitLoad::new(profile.or(own), requirement);
        if let Some(in_force) = server.filter(|_| load.profile == own) {
            let method = self.server.method_in_force(in_force);
            load.method = match (method, profile) {
                (Some(method), _) => method,
                (None, Some(_)) => load.method,
                (None, None) => return Err(ProbeRefusal::UnknownFlushMethod),
            };
            if self.server.is_redo() {
                load.bytes = self.server.log.page_bytes;
            }
        }
        load.is_flush_suppressed = self.commits.is_flush_suppressed;
        self.pages.clear();
        (self.workloads, self.commits) = (vec![Workload::Commit], load);
        Ok(())
    }

    pub fn from_facts(target: &Subject, facts: &FactSet) -> Self {
        let leaves = facts.bottom_devices(target);
        let all_leaves =
            |holds: &dyn Fn(&Subject) -> bool| !leaves.is_empty() && leaves.iter().all(holds);
        let path = facts
            .value(target, &target_facts::PATH)
            .unwrap_or_else(|| target.name().to_owned());
        let mount_class = facts
            .applicable_subject(target, Scope::Mount)
            .and_then(|on| facts.value(&on, &mount::CLASS));
        Self {
            leaves_count_flushes: all_leaves(&|leaf| {
                facts.value(leaf, &device::COUNTS_FLUSHES) == Some(true)
            }),
            smallest_disk_bytes: wear::smallest_wearing_disk_bytes(&leaves, facts),
            leaves: leaves.iter().map(|leaf| leaf.name().to_owned()).collect(),
            speed_limit: max_plausible_commit_rate(target, facts, mount_class),
            mount_class,
            commits: CommitLoad {
                is_flush_suppressed: facts
                    .value(target, &target_facts::FLUSH)
                    .is_some_and(FlushDelivery::is_suppressed),
                ..CommitLoad::new(None, None)
            },
            server: ServerLog::from_facts(facts, target),
            ..Self::new(PathBuf::from(OsString::from_vec(
                text::decode_display_safe(&path),
            )))
        }
    }
}

/// The highest plausible commit rate on a target. The rotational speed sets the limit only for
/// local SATA or SAS disks without a caching controller, where only the disk can acknowledge a
/// flush.
///
/// The kernel's rotational flag is ignored, because virtual disks and RAID volumes set the flag
/// too.
fn max_plausible_commit_rate(
    target: &Subject,
    facts: &FactSet,
    mount_class: Option<MountClass>,
) -> Option<MaxPlausibleCommitRate> {
    let leaves = facts.bottom_devices(target);
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
                .is_some_and(is_pass_through_kind)
    };
    let turning = |leaf: &Subject| {
        let attached = facts
            .value(leaf, &device::TRANSPORT)
            .is_some_and(Transport::is_sata_or_sas);
        let platters = facts
            .value(leaf, &device::MEDIUM)
            .is_none_or(Medium::is_rotational);
        let unprotected = !facts
            .value(leaf, &device::CACHE)
            .is_some_and(CacheVolatility::is_protected);
        let rpm = facts
            .value(leaf, &device::RPM)
            .and_then(|rpm| u32::try_from(rpm).ok());
        rpm.filter(|rpm| *rpm > 0 && attached && platters && unprotected)
    };
    let on_host = facts
        .host_value(&machine::SEEN_BY)
        .is_some_and(RunEnvironment::is_host);
    let physical = on_host
        && facts.host_value(&machine::VIRTUALISATION).as_deref() == Some("none")
        && facts.layers_below(target).iter().all(hands_on);
    // A flush may end on any of several disks, so the fastest disk sets the limit.
    let fastest = leaves
        .iter()
        .map(turning)
        .collect::<Option<Vec<u32>>>()
        .and_then(|all| all.into_iter().max());
    Some(fastest.filter(|_| physical).map_or_else(
        MaxPlausibleCommitRate::for_block_device,
        MaxPlausibleCommitRate::for_rpm,
    ))
}

fn is_pass_through_kind(kind: DeviceKind) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::postgres::{self, WalSyncMethod};
    use crate::facts::{KeyInfo, Reading, Value};
    use crate::version::Version;

    #[test]
    fn request_follows_facts_of_target() {
        let (target, fs, disk) = (
            Subject::target("/t\\x0a"),
            Subject::mount("/t"),
            Subject::device("sda"),
        );
        let cluster = Subject::cluster("/t");
        let mut facts = FactSet::default();
        facts.add_layer_below(&target, &fs);
        facts.add_layer_below(&fs, &disk);
        facts.set_fact_link(&target, &fs);
        facts.set_fact_link(&target, &cluster);
        let bare = ProbeRequest::from_facts(&target, &facts);
        assert_eq!((bare.target.to_str(), bare.leaves.len()), (Some("/t\n"), 1));
        assert!(
            !bare.leaves_count_flushes && bare.speed_limit.is_none(),
            "unknown counts nothing and limits nothing"
        );

        let source = || Source::from_system_call("test");
        facts.insert_known(&fs, &mount::CLASS, MountClass::Block, source());
        facts.insert_known(&disk, &device::KIND, DeviceKind::Disk, source());
        facts.insert_known(&disk, &device::COUNTS_FLUSHES, true, source());
        facts.insert_known(
            &cluster,
            &postgres::VERSION,
            Version::parse("15.4").unwrap(),
            source(),
        );
        facts.insert_known(
            &cluster,
            &postgres::WAL_LEVEL,
            postgres::WalLevel::Minimal,
            source(),
        );
        facts.insert_known(&cluster, &postgres::MAX_WAL_SENDERS, 0, source());
        let full = ProbeRequest::from_facts(&target, &facts);
        assert!(full.leaves_count_flushes && full.speed_limit.is_some());
        assert_eq!(full.mount_class, Some(MountClass::Block));
        assert!(!full.server.is_redo());
        assert!(full.server.methods.contains(&Method::OpenDatasyncDirect));
    }

    fn plausible_commit_rate_on(
        host: &[(RunEnvironment, &str)],
        disk: &[(KeyInfo, &str)],
        rpm: Option<u64>,
    ) -> Option<f64> {
        let (target, fs) = (Subject::target("/t"), Subject::mount("/t"));
        let (part, sda) = (Subject::device("sda1"), Subject::device("sda"));
        let source = || Source::from_system_call("test");
        let mut facts = FactSet::default();
        for (top, base) in [(&target, &fs), (&fs, &part), (&part, &sda)] {
            facts.add_layer_below(top, base);
        }
        facts.set_fact_link(&target, &fs);
        facts.insert_known(&fs, &mount::CLASS, MountClass::Block, source());
        facts.insert_known(&part, &device::KIND, DeviceKind::Partition, source());
        facts.insert_known(&sda, &device::KIND, DeviceKind::Disk, source());
        facts.insert_known(&sda, &device::ROTATIONAL, true, source());
        for (seen_by, technology) in host {
            facts.insert_known(&Subject::host(), &machine::SEEN_BY, *seen_by, source());
            facts.insert_known(
                &Subject::host(),
                &machine::VIRTUALISATION,
                (*technology).to_owned(),
                source(),
            );
        }
        for (key, value) in disk {
            facts.insert_untyped_value(
                &sda,
                key,
                Reading::known(Value::Text((*value).to_owned()), source()),
            );
        }
        if let Some(rpm) = rpm {
            facts.insert_known(&sda, &device::RPM, rpm, source());
        }
        ProbeRequest::from_facts(&target, &facts)
            .speed_limit
            .map(|limit| limit.per_second)
    }

    /// Commits with a method that the server does not use cannot answer a requirement of the
    /// server.
    #[test]
    fn an_unknown_flush_method_needs_a_profile() {
        let requirement = Requirement::parse("p99 < 10ms").ok();
        let profiles = CommitProfile::ALL.iter().copied().map(Some);
        for profile in [None].into_iter().chain(profiles) {
            for (server, is_known) in [
                (None, true),
                (Some(WalMethodInForce::Is(WalSyncMethod::Fsync)), true),
                (Some(WalMethodInForce::Default), false),
                (Some(WalMethodInForce::Unknown), false),
            ] {
                let mut request = ProbeRequest::new("/t");
                let result = request.restrict_to_commit_load(profile, requirement, server);
                let is_refused = matches!(result, Err(ProbeRefusal::UnknownFlushMethod));
                assert_eq!(is_refused, profile.is_none() && !is_known, "{profile:?}");
                assert_eq!(request.workloads.is_empty(), is_refused, "{profile:?}");
            }
        }
    }

    #[test]
    fn rotation_limits_rate_only_without_caching_layers() {
        let bare = [(RunEnvironment::Host, "none")];
        let guest = [(RunEnvironment::Guest, "kvm")];
        let (any, turns) = (Some(100_000.0), Some(180.0));
        let on = |transport| {
            [
                (device::TRANSPORT.info, transport),
                (device::MEDIUM.info, "platters"),
            ]
        };
        assert_eq!(
            plausible_commit_rate_on(&bare, &on("sata"), Some(7_200)),
            turns
        );
        assert_eq!(
            plausible_commit_rate_on(&bare, &on("sas"), Some(15_000)),
            Some(375.0)
        );
        // `plausible_commit_rate_on` sets the kernel's rotational flag, which alone proves no
        // rotational speed.
        assert_eq!(
            plausible_commit_rate_on(&guest, &on("sata"), Some(7_200)),
            any
        );
        assert_eq!(
            plausible_commit_rate_on(&guest, &[(device::TRANSPORT.info, "virtio")], None),
            any
        );
        assert_eq!(
            plausible_commit_rate_on(&bare, &[(device::TRANSPORT.info, "megaraid")], None),
            any
        );
        assert_eq!(
            plausible_commit_rate_on(&bare, &on("megaraid"), Some(7_200)),
            any
        );
        assert_eq!(plausible_commit_rate_on(&bare, &on("sata"), None), any);
        assert_eq!(plausible_commit_rate_on(&[], &on("sata"), Some(7_200)), any);
        let protected = [
            (device::TRANSPORT.info, "sata"),
            (device::CACHE.info, "protected"),
        ];
        assert_eq!(
            plausible_commit_rate_on(&bare, &protected, Some(7_200)),
            any
        );
        for memory in ["persistent memory", "memory"] {
            assert_eq!(
                plausible_commit_rate_on(&bare, &[(device::MEDIUM.info, memory)], None),
                None
            );
        }
        assert_eq!(
            plausible_commit_rate_on(&bare, &[(device::TRANSPORT.info, "pmem")], None),
            None
        );
    }
}
