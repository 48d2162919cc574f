use super::test_host::{TestHost, data_target};
use crate::durability::{EvidenceLayer, VerdictCaps, VerdictKind};
use crate::facts::Subject;
use crate::scsi_drivers;

#[test]
fn verdict_by_queue_disk_report_and_barrier() {
    // Columns: queue, disk's report, barrier → verdict, cache, flush, suppressed by.
    for (queue, word, barrier, verdict, cache, flush, by) in [
        (
            "write back",
            "write back",
            "on",
            "durable",
            "volatile",
            "sent",
            "none",
        ),
        (
            "write back",
            "write back",
            "no effect",
            "durable",
            "volatile",
            "sent",
            "none",
        ),
        (
            "write back",
            "write back, no read (daft)",
            "on",
            "durable",
            "volatile",
            "sent",
            "none",
        ),
        (
            "write back",
            "write back",
            "off",
            "at risk",
            "volatile",
            "suppressed",
            "mount option",
        ),
        (
            "write back",
            "write back",
            "?",
            "unproven",
            "volatile",
            "unknown",
            "none",
        ),
        (
            "write back",
            "write through",
            "on",
            "durable",
            "volatile",
            "sent",
            "none",
        ),
        (
            "write back",
            "?",
            "on",
            "durable",
            "volatile",
            "sent",
            "none",
        ),
        (
            "write back",
            "?",
            "off",
            "at risk",
            "volatile",
            "suppressed",
            "mount option",
        ),
        (
            "write through",
            "write back",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
            "queue override",
        ),
        (
            "write through",
            "write back, no read (daft)",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
            "queue override",
        ),
        (
            "write through",
            "write back",
            "off",
            "at risk",
            "contradictory",
            "suppressed",
            "mount option,queue override",
        ),
        (
            "write through",
            "write through",
            "on",
            "unproven",
            "unknown",
            "unknown",
            "none",
        ),
        (
            "write through",
            "none",
            "on",
            "unproven",
            "unknown",
            "unknown",
            "none",
        ),
        (
            "write through",
            "write through",
            "off",
            "at risk",
            "unknown",
            "suppressed",
            "mount option",
        ),
        (
            "write through",
            "?",
            "on",
            "unproven",
            "unknown",
            "unknown",
            "none",
        ),
        (
            "write through",
            "?",
            "off",
            "at risk",
            "unknown",
            "suppressed",
            "mount option",
        ),
        (
            "?",
            "write back",
            "on",
            "unproven",
            "volatile",
            "unknown",
            "none",
        ),
        (
            "?",
            "write through",
            "on",
            "unproven",
            "unknown",
            "unknown",
            "none",
        ),
        ("?", "?", "on", "unproven", "unknown", "unknown", "none"),
        (
            "?",
            "?",
            "off",
            "at risk",
            "unknown",
            "suppressed",
            "mount option",
        ),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.write_cache", queue)
            .with_fact("device.cache_type", word)
            .with_fact("mount.barrier", barrier);
        assert_eq!(
            machine.verdict_cache_and_flush(),
            [verdict, cache, flush],
            "{queue} / {word} / {barrier}"
        );
        assert_eq!(
            machine.derived_fact_text("target.flush_suppressed_by"),
            by,
            "{queue} / {word} / {barrier}"
        );
        assert_eq!(machine.derived_fact_text("device.cache"), cache);
    }
}

#[test]
fn verdict_by_kernel_cache_type_and_disk_answer() {
    // Columns: queue, kernel's cache_type, disk's answer, barrier → verdict, cache, flush.
    for (queue, kept, answer, barrier, verdict, cache, flush) in [
        (
            "write through",
            "write through",
            "off",
            "on",
            "durable",
            "none",
            "not needed",
        ),
        (
            "write through",
            "none",
            "off",
            "on",
            "durable",
            "none",
            "not needed",
        ),
        (
            "write through",
            "?",
            "off",
            "on",
            "unproven",
            "unknown",
            "unknown",
        ),
        (
            "write through",
            "write through",
            "off",
            "off",
            "durable",
            "none",
            "suppressed",
        ),
        // A disk set to `temporary write through`: only its own answer reveals the cache.
        (
            "write through",
            "write through",
            "on",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "write back",
            "off",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "?",
            "on",
            "on",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write back",
            "write back",
            "on",
            "on",
            "durable",
            "volatile",
            "sent",
        ),
        (
            "write back",
            "write back",
            "off",
            "on",
            "durable",
            "volatile",
            "sent",
        ),
        (
            "write back",
            "write back",
            "off",
            "off",
            "at risk",
            "volatile",
            "suppressed",
        ),
        (
            "write back",
            "write through",
            "on",
            "on",
            "durable",
            "volatile",
            "sent",
        ),
        ("?", "?", "off", "on", "unproven", "unknown", "unknown"),
        (
            "?",
            "write through",
            "off",
            "on",
            "unproven",
            "none",
            "unknown",
        ),
        ("?", "?", "on", "on", "unproven", "volatile", "unknown"),
    ] {
        for (transport, virtualisation) in [
            ("sata", "none"),
            ("sas", "none"),
            ("scsi", "none"),
            ("virtio-scsi", "kvm"),
        ] {
            let machine = TestHost::with_volatile_disk()
                .with_fact("host.virtualisation", virtualisation)
                .with_fact("device.transport", transport)
                .with_fact("device.driver", "mpt3sas")
                .with_fact("device.write_cache", queue)
                .with_fact("device.cache_type", kept)
                .with_fact("device.drive_cache", answer)
                .with_fact("mount.barrier", barrier);
            let case = format!("{transport}: {queue} / {kept} / {answer} / {barrier}");
            assert_eq!(
                machine.verdict_cache_and_flush(),
                [verdict, cache, flush],
                "{case}"
            );
        }
    }
    let bridge = TestHost::with_volatile_disk()
        .with_fact("device.transport", "usb")
        .with_fact("device.write_cache", "write through")
        .with_fact("device.cache_type", "write through")
        .with_fact("device.drive_cache", "off");
    assert_eq!(
        bridge.verdict_name(),
        "unproven",
        "a bridge may answer for its disk"
    );
}

#[test]
fn unprovable_disks_name_the_reason() {
    for (transport, fabric, says) in [
        ("network", "tcp", "NVMe over TCP"),
        ("nvme", "rdma", "NVMe over RDMA"),
        ("scsi", "fibre channel", "Fibre Channel"),
        ("network", "iscsi", "iSCSI"),
        ("network", "?", "is remote"),
        ("pmem", "?", "ndctl"),
        ("other", "?", "cannot inspect"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.transport", transport)
            .with_fact("device.fabric", fabric);
        assert_eq!(machine.verdict_name(), "unproven", "{transport} {fabric}");
        let sentence = machine.verdict().sentence;
        assert!(sentence.contains(says), "{transport} {fabric}: {sentence}");
    }
    let gone = TestHost::with_volatile_disk()
        .with_fact("device.transport", "nvme")
        .with_fact("device.ephemeral", "true");
    assert_eq!(gone.verdict_name(), "at risk");
    assert!(
        gone.verdict().sentence.contains("sda is an ephemeral disk"),
        "{}",
        gone.verdict().sentence
    );
    assert_eq!(
        TestHost::with_volatile_disk()
            .with_fact("device.ephemeral", "false")
            .verdict_name(),
        "durable"
    );
    let unread = TestHost::with_volatile_disk().with_fact("device.ephemeral", "?");
    assert_eq!(
        unread.verdict_name(),
        "unproven",
        "a model that may not be read may be an ephemeral disk's"
    );
}

#[test]
fn remote_write_back_queue_means_volatile_cache() {
    for (fabric, word) in [
        ("tcp", "?"),
        ("rdma", "?"),
        ("iscsi", "write back"),
        ("iscsi", "?"),
        ("nbd", "?"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.transport", "network")
            .with_fact("device.fabric", fabric)
            .with_fact("device.cache_type", word)
            .with_fact("device.write_cache", "write back");
        let seen = [
            machine.verdict_name().to_owned(),
            machine.derived_fact_text("target.cache"),
            machine.derived_fact_text("target.flush"),
        ];
        assert_eq!(seen, ["unproven", "volatile", "sent"], "{fabric} {word}");
    }
}

#[test]
fn volatile_cache_evidence_has_a_source() {
    for transport in ["nvme", "xen", "virtio", "sata", "mmc"] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.transport", transport)
            .with_fact("device.cache_type", "?")
            .with_fact("device.write_cache", "write back");
        let verdict = machine.verdict();
        let evidence = verdict.paths.iter().flat_map(|path| &path.evidence);
        let says: Vec<_> = evidence
            .filter(|piece| piece.text.contains("in a volatile cache"))
            .collect();
        assert!(
            !says.is_empty() && says.iter().all(|piece| !piece.source.is_empty()),
            "{transport}: {says:?}"
        );
    }
}

#[test]
fn missing_facts_name_the_controller_tool() {
    for (driver, tool) in [
        ("megaraid_sas", "storcli"),
        ("hpsa", "ssacli"),
        ("aacraid", "arcconf"),
        ("arcmsr", "areca-cli"),
        ("3w-9xxx", "tw_cli"),
        ("smartpqi", "arcconf"),
        ("mpi3mr", "storcli2"),
        ("hptiop", "own tool"),
    ] {
        let verdict = TestHost::with_volatile_disk()
            .with_fact("device.transport", "raid")
            .with_fact("device.driver", driver)
            .verdict();
        assert_eq!(verdict.standing, VerdictKind::Unproven);
        let need = verdict
            .missing
            .iter()
            .find(|need| need.fact == "controller.battery")
            .unwrap();
        let remedy = need.remedy.as_ref().unwrap().to_string();
        assert!(remedy.contains(tool), "{driver}: {remedy}");
    }
}

#[test]
fn disks_behind_raid_drivers_are_unproven() {
    let controllers = scsi_drivers::ALL
        .iter()
        .filter(|driver| driver.raid_controller.is_some());
    let names: Vec<&str> = controllers
        .flat_map(|driver| driver.names.iter().copied())
        .collect();
    assert!(
        ["mpi3mr", "smartpqi", "hptiop", "esas2r", "ips", "megaraid"]
            .iter()
            .all(|name| names.contains(name))
    );
    for driver in names {
        for transport in ["raid", "sata", "sas", "scsi"] {
            let machine = TestHost::with_volatile_disk()
                .with_fact("device.transport", transport)
                .with_fact("device.driver", driver);
            assert_eq!(
                machine.verdict_name(),
                "unproven",
                "{driver} by {transport}"
            );
        }
    }
}

#[test]
fn verdict_by_ext4_journal() {
    for (fstype, journal, verdict) in [
        ("ext4", "true", "durable"),
        ("ext4", "false", "at risk"),
        ("ext2", "false", "at risk"),
        ("ext4", "?", "unproven"),
        ("xfs", "?", "durable"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("mount.fstype", fstype)
            .with_fact("ext4.journal", journal);
        assert_eq!(machine.verdict_name(), verdict, "{fstype} {journal}");
    }
}

/// Without a journal, the remedy would be to add one with tune2fs. A file system mounted without
/// loading its journal still has one, so tune2fs would refuse.
#[test]
fn norecovery_remedy_loads_existing_journal() {
    for (fact, options, features, says, mend) in [
        (
            "mount.super_options",
            "rw,norecovery",
            "?",
            "mounted with norecovery",
            "without norecovery",
        ),
        (
            "mount.super_options",
            "rw,noload",
            "?",
            "mounted with norecovery",
            "without norecovery",
        ),
        (
            "ext4.options",
            "rw,norecovery,barrier",
            "?",
            "mounted with norecovery",
            "without norecovery",
        ),
        (
            "mount.super_options",
            "rw,norecovery",
            "has_journal,extent",
            "mounted with norecovery",
            "without norecovery",
        ),
        (
            "mount.super_options",
            "rw,norecovery",
            "extent",
            "has no journal",
            "tune2fs -O has_journal",
        ),
        (
            "mount.super_options",
            "rw",
            "?",
            "has no journal",
            "tune2fs -O has_journal",
        ),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("ext4.journal", "false")
            .with_fact("ext4.features", features)
            .with_fact(fact, options);
        let (sentence, remedy) = (
            machine.verdict().sentence,
            machine.derived_fact_text("target.remedy"),
        );
        assert!(sentence.contains(says), "{options} {features}: {sentence}");
        assert!(remedy.contains(mend), "{options} {features}: {remedy}");
    }
}

#[test]
fn directory_flags_never_change_verdict() {
    let machine =
        TestHost::with_volatile_disk().with_fact("target.flags", "sync,journal-data,nocow");
    let verdict = machine.verdict();
    assert_eq!(verdict.standing, VerdictKind::Durable);
    let flags = verdict.paths[0]
        .evidence
        .iter()
        .filter(|e| e.source == "/a/file" && e.subject == data_target());
    assert_eq!(flags.count(), 3);
}

#[test]
fn verdict_by_zfs_sync_and_flush_settings() {
    let pool = |sync: &str, told: &str, queue: &str, answer: &str| {
        TestHost::with_volatile_disk()
            .with_fact("mount.class", "zfs")
            .with_fact("mount.fstype", "zfs")
            .with_fact("zfs.sync", sync)
            .with_fact("zfs.no_cache_flush", told)
            .with_fact("device.write_cache", queue)
            .with_fact("device.cache_type", queue)
            .with_fact("device.drive_cache", answer)
    };
    // Columns: `sync`, whether the module omits flushes, queue of the pool's disk, disk's answer →
    // verdict, flush.
    for (sync, told, queue, answer, verdict, flush) in [
        ("standard", "false", "write back", "?", "durable", "sent"),
        ("always", "false", "write back", "?", "durable", "sent"),
        (
            "disabled",
            "false",
            "write back",
            "?",
            "at risk",
            "suppressed",
        ),
        ("?", "false", "write back", "?", "unproven", "unknown"),
        ("standard", "?", "write back", "?", "unproven", "unknown"),
        (
            "standard",
            "true",
            "write back",
            "?",
            "at risk",
            "suppressed",
        ),
        ("?", "true", "write back", "?", "at risk", "suppressed"),
        (
            "standard",
            "true",
            "write through",
            "off",
            "durable",
            "suppressed",
        ),
        (
            "?",
            "true",
            "write through",
            "off",
            "unproven",
            "suppressed",
        ),
        (
            "disabled",
            "true",
            "write through",
            "off",
            "at risk",
            "suppressed",
        ),
    ] {
        let machine = pool(sync, told, queue, answer);
        let seen = [
            machine.verdict_name().to_owned(),
            machine.derived_fact_text("target.flush"),
        ];
        assert_eq!(
            seen,
            [verdict, flush],
            "{sync} / {told} / {queue} / {answer}"
        );
    }
    let sentence = pool("standard", "true", "write back", "?")
        .verdict()
        .sentence;
    assert!(sentence.contains("zfs_nocacheflush"), "{sentence}");
}

#[test]
fn verdict_by_transport_and_queue() {
    for (transport, queue, word, verdict, cache) in [
        ("nvme", "write back", "?", "durable", "volatile"),
        ("nvme", "write through", "?", "unproven", "unknown"),
        ("virtio", "write back", "write back", "durable", "volatile"),
        (
            "virtio",
            "write through",
            "write through",
            "durable",
            "none",
        ),
        (
            "virtio-scsi",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        (
            "virtio-scsi",
            "write back",
            "write back",
            "durable",
            "volatile",
        ),
        (
            "vmware",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        (
            "hyperv",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        ("xen", "write through", "?", "unproven", "unknown"),
        (
            "usb",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        ("usb", "write back", "write back", "unproven", "volatile"),
        (
            "sas",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        ("network", "write back", "?", "unproven", "volatile"),
        ("network", "write through", "?", "unproven", "unknown"),
        ("other", "write back", "?", "unproven", "unknown"),
        (
            "megaraid",
            "write back",
            "write back",
            "unproven",
            "unknown",
        ),
        (
            "raid",
            "write through",
            "write through",
            "unproven",
            "unknown",
        ),
        ("?", "write back", "write back", "unproven", "volatile"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.transport", transport)
            .with_fact("device.write_cache", queue)
            .with_fact("device.cache_type", word);
        assert_eq!(
            [
                machine.verdict_name(),
                &machine.derived_fact_text("device.cache")
            ],
            [verdict, cache],
            "{transport}: {queue} / {word}"
        );
    }
}

#[test]
fn verdict_by_raid_controller_cache() {
    // Columns: battery, policy, in force, on battery failure, member disks → verdict, cache.
    for (battery, policy, in_force, failure, members, verdict, cache) in [
        (
            "healthy",
            "write back",
            "write back",
            "write through",
            "off",
            "durable",
            "protected",
        ),
        (
            "healthy",
            "write back",
            "write back",
            "write through",
            "on",
            "at risk",
            "volatile",
        ),
        (
            "healthy",
            "write back",
            "write back",
            "write through",
            "disk default",
            "unproven",
            "unknown",
        ),
        (
            "healthy",
            "write back",
            "write back",
            "stays",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "healthy",
            "always write back",
            "write back",
            "stays",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "failed",
            "always write back",
            "write back",
            "stays",
            "off",
            "at risk",
            "volatile",
        ),
        (
            "failed",
            "always write back",
            "?",
            "?",
            "off",
            "at risk",
            "volatile",
        ),
        (
            "absent",
            "write back",
            "?",
            "stays",
            "?",
            "at risk",
            "volatile",
        ),
        (
            "absent",
            "write back",
            "write through",
            "write through",
            "off",
            "durable",
            "none",
        ),
        (
            "learning",
            "write back",
            "write through",
            "write through",
            "off",
            "durable",
            "none",
        ),
        (
            "learning",
            "write back",
            "write back",
            "write through",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "charging",
            "write back",
            "write back",
            "write through",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "degraded",
            "write back",
            "write back",
            "write through",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "unreadable",
            "write back",
            "write back",
            "write through",
            "off",
            "unproven",
            "unknown",
        ),
        (
            "?",
            "write through",
            "write through",
            "?",
            "off",
            "durable",
            "none",
        ),
        (
            "?",
            "write through",
            "write through",
            "?",
            "?",
            "unproven",
            "unknown",
        ),
    ] {
        for transport in ["megaraid", "raid"] {
            let machine = TestHost::with_volatile_disk()
                .with_fact("device.transport", transport)
                .with_fact("controller.battery", battery)
                .with_fact("controller.policy", policy)
                .with_fact("controller.policy_in_force", in_force)
                .with_fact("controller.on_battery_failure", failure)
                .with_fact("controller.disk_cache", members);
            assert_eq!(
                [
                    machine.verdict_name(),
                    &machine.derived_fact_text("device.cache")
                ],
                [verdict, cache],
                "{battery} / {policy} / {in_force} / {failure} / {members}"
            );
        }
    }
    let overridden = TestHost::with_protected_cache()
        .with_fact("device.write_cache", "write through")
        .with_fact("device.cache_type", "write back");
    assert_eq!(overridden.verdict_name(), "contradictory");
    assert_eq!(
        overridden
            .with_fact("controller.battery", "failed")
            .verdict_name(),
        "at risk",
        "the worst wins"
    );
    let by_driver = TestHost::with_volatile_disk()
        .with_fact("device.transport", "scsi")
        .with_fact("device.driver", "megaraid_sas");
    assert_eq!(
        by_driver.verdict_name(),
        "unproven",
        "its flushes may end in the driver"
    );
    for transport in ["scsi", "sas"] {
        let behind = |driver| {
            let disk = TestHost::with_volatile_disk()
                .with_fact("device.transport", transport)
                .with_fact("device.driver", driver);
            disk.with_fact("device.cache_type", "write back")
                .verdict_name()
        };
        assert_eq!(behind("mpt3sas"), "durable");
        assert_eq!(behind("?"), "unproven");
        assert_eq!(
            behind("fancyraid"),
            "unproven",
            "an adapter that nobody knows may have a cache"
        );
    }
}

#[test]
fn verdict_of_file_systems_without_a_disk() {
    for (class, fstype, verdict) in [
        ("memory", "tmpfs", "at risk"),
        ("network", "nfs4", "unproven"),
        ("fuse", "fuse.sshfs", "unproven"),
        ("zfs", "zfs", "unproven"),
        ("other", "what", "unproven"),
        ("block", "ext4", "unproven"),
        ("overlay", "overlay", "unproven"),
        ("?", "?", "unproven"),
    ] {
        let mount = Subject::mount("/nowhere");
        let mut machine = TestHost::with_volatile_disk();
        machine.facts = crate::facts::FactSet::default();
        let machine = machine
            .with_layer_below(&data_target(), &mount)
            .with_fact("target.kind", "directory")
            .with_fact_of(&mount, "mount.class", class)
            .with_fact_of(&mount, "mount.fstype", fstype)
            .with_fact_of(&mount, "mount.barrier", "on");
        assert_eq!(machine.verdict_name(), verdict, "{class}");
        assert_eq!(machine.derived_fact_text("target.cache"), "unknown");
    }
    assert_eq!(
        TestHost::with_volatile_disk()
            .with_fact("mount.class", "overlay")
            .with_fact("mount.super_options", "volatile")
            .verdict_name(),
        "at risk"
    );
    assert_eq!(
        TestHost::with_volatile_disk()
            .with_fact("mount.class", "overlay")
            .with_fact("mount.super_options", "rw")
            .verdict_name(),
        "durable"
    );
    assert_eq!(
        TestHost::with_volatile_disk()
            .with_fact("mount.class", "zfs")
            .with_fact("zfs.sync", "disabled")
            .verdict_name(),
        "at risk"
    );
}

#[test]
fn verdict_by_postgres_settings() {
    for (fact, value, verdict) in [
        ("pg.fsync", "true", "durable"),
        ("pg.fsync", "false", "at risk"),
        ("pg.fsync", "?", "unproven"),
        ("pg.synchronous_commit", "local", "durable"),
        ("pg.synchronous_commit", "off", "at risk"),
        ("pg.synchronous_commit", "?", "unproven"),
        (
            "pg.synchronous_commit_overrides",
            "database app: off",
            "durable",
        ),
        ("pg.synchronous_commit_overrides", "?", "unproven"),
        ("pg.fsync_disabled_by", "libeatmydata.so", "at risk"),
        ("pg.fsync_disabled_by", "?", "unproven"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_postgres_cluster()
            .with_fact(fact, value);
        assert_eq!(machine.verdict_name(), verdict, "{fact} = {value}");
    }
    let off = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("pg.fsync", "false");
    assert_eq!(
        off.derived_fact_text("target.flush_suppressed_by"),
        "server setting"
    );
    let stopped = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("pg.fsync_disabled_by", "?")
        .with_fact("pg.running", "false");
    assert_eq!(
        stopped.verdict_name(),
        "durable",
        "no server, no preloaded library"
    );
    let silent = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("pg.synchronous_commit_overrides", "?");
    assert_eq!(
        silent
            .clone()
            .with_fact("pg.running", "false")
            .verdict_name(),
        "durable",
        "no server, no sessions"
    );
    assert_eq!(silent.derived_fact_text("target.commit_off_for"), "?");
    assert_eq!(
        silent
            .with_fact("pg.synchronous_commit", "off")
            .verdict_name(),
        "at risk",
        "whatever others may have"
    );
}

#[test]
fn probe_results_lower_verdict() {
    let counted = TestHost::with_volatile_disk().with_fact("device.counts_flushes", "true");
    for (arrived, verdict) in [("0", "at risk"), ("0.2", "unproven"), ("1", "durable")] {
        assert_eq!(
            counted
                .clone()
                .with_fact("probe.flushes_per_commit", arrived)
                .verdict_name(),
            verdict,
            "{arrived}"
        );
    }
    let uncounted = TestHost::with_volatile_disk().with_fact("probe.flushes_per_commit", "0");
    assert_eq!(
        uncounted.verdict_name(),
        "durable",
        "where flushes are not counted, none counted says nothing"
    );
    assert_eq!(
        TestHost::with_volatile_disk()
            .with_fact("probe.implausible", "true")
            .verdict_name(),
        "unproven"
    );
    let expected = counted
        .with_fact("device.drive_cache", "off")
        .with_fact("device.write_cache", "write through")
        .with_fact("device.cache_type", "write through")
        .with_fact("probe.flushes_per_commit", "0");
    assert_eq!(
        expected.verdict_name(),
        "durable",
        "no flush is needed, none arrived"
    );
}

#[test]
fn flushes_of_others_are_no_evidence() {
    let counted = TestHost::with_volatile_disk().with_fact("device.counts_flushes", "true");
    for (arrived, is_evidence) in [
        ("1", true),
        ("2.5", true),
        ("3", true),
        ("3.01", false),
        ("4.03", false),
    ] {
        let verdict = counted
            .clone()
            .with_fact("probe.flushes_per_commit", arrived)
            .verdict();
        let measured = verdict.paths[0]
            .evidence
            .iter()
            .any(|piece| piece.layer == EvidenceLayer::Measurement);
        assert_eq!(measured, is_evidence, "{arrived}");
        assert_eq!(
            verdict
                .limits
                .contains("Other programs flush these disks too"),
            !is_evidence,
            "{arrived}"
        );
        assert_eq!(verdict.standing, VerdictKind::Durable, "{arrived}");
    }
}

#[test]
fn passthrough_disk_is_judged_by_its_own_report() {
    let passed = |driver: &str| {
        let transport = if driver == "megaraid_sas" {
            "megaraid"
        } else {
            "raid"
        };
        TestHost::with_volatile_disk()
            .with_fact("kernel.version", "6.1")
            .with_fact("device.transport", transport)
            .with_fact("device.driver", driver)
            .with_fact("controller.tool", "storcli")
            .with_fact("controller.volume", "none")
    };
    for driver in ["megaraid_sas", "smartpqi", "hpsa"] {
        let machine = passed(driver);
        assert_eq!(machine.verdict_name(), "durable", "{driver}");
        let volume = machine.clone().with_fact("controller.volume", "0");
        assert_eq!(
            volume.verdict_name(),
            "unproven",
            "{driver}: a volume is its controller's"
        );
        let quiet = machine
            .clone()
            .with_fact("device.write_cache", "write through")
            .with_fact("device.cache_type", "write through");
        assert_eq!(
            quiet
                .clone()
                .with_fact("device.drive_cache", "off")
                .verdict_name(),
            "durable",
            "{driver}"
        );
        let verdict = quiet.verdict();
        assert_eq!(verdict.standing, VerdictKind::Unproven, "{driver}");
        let remedies = format!("{:?}", verdict.missing);
        assert!(
            remedies.contains("smartctl") && !remedies.contains("storcli"),
            "{driver}: {remedies}"
        );
    }
    assert_eq!(
        passed("megaraid_sas")
            .with_fact("kernel.version", "4.4")
            .verdict_name(),
        "unproven"
    );
    assert_eq!(
        passed("smartpqi")
            .with_fact("kernel.version", "4.4")
            .verdict_name(),
        "durable"
    );
}

#[test]
fn verdict_sentences() {
    let risky = TestHost::with_volatile_disk()
        .with_fact("mount.barrier", "off")
        .verdict();
    assert_eq!(
        risky.sentence,
        "A commit acknowledged now may be lost in a power failure: /data (ext4) is mounted without barriers, so no flush \
         is sent; sda caches writes in a volatile cache."
    );
    assert!(risky.limits.is_empty());
    let sound = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .verdict();
    assert_eq!(
        sound.sentence,
        "A commit acknowledged now survives a power failure, according to the drive: flushes are passed down to sda, \
         which must write out its volatile cache."
    );
    let unread = TestHost::with_stack_only().verdict();
    assert!(
        unread.sentence.contains("is not proven to survive"),
        "{}",
        unread.sentence
    );
    assert!(
        unread.sentence.matches("; ").count() <= 2,
        "{}",
        unread.sentence
    );
    let guest = TestHost::with_volatile_disk()
        .with_fact("host.seen_by", "guest")
        .verdict();
    assert!(guest.limits.contains("hypervisor may ignore flushes"));
    assert_eq!(guest.standing, VerdictKind::Durable);
}

#[test]
fn evidence_names_its_source_and_layer() {
    let verdict = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .verdict();
    let path = &verdict.paths[0];
    for layer in [
        EvidenceLayer::Database,
        EvidenceLayer::Kernel,
        EvidenceLayer::Device,
    ] {
        assert!(
            path.evidence
                .iter()
                .any(|e| e.layer == layer && !e.source.is_empty()),
            "{layer:?}"
        );
    }
}

#[test]
fn assumed_fact_marks_derived_verdict() {
    let machine = TestHost::with_volatile_disk().with_fact("device.cache_type", "~write back");
    let mut facts = machine.facts;
    crate::durability::judge_targets(&mut facts, true, &VerdictCaps::default());
    for (of, fact) in [
        (data_target(), "target.verdict"),
        (data_target(), "target.cache"),
        (Subject::device("sda"), "device.cache"),
    ] {
        assert!(
            !facts
                .reading_by_name(&of, fact)
                .source()
                .unwrap()
                .is_evidence(),
            "{fact}"
        );
    }
}

#[test]
fn container_makes_verdict_unproven() {
    for (container, expected) in [
        ("none", "durable"),
        ("docker", "unproven"),
        ("container", "unproven"),
        ("?", "unproven"),
    ] {
        let host = TestHost::with_volatile_disk().with_fact("host.container", container);
        assert_eq!(host.verdict_name(), expected, "{container}");
    }
}
