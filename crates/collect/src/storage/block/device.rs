//! Block devices: kind, write cache and flushes of the queue, and limits (sysfs-block).
//!
//! A partition has no queue and inherits its disk's readings, with the disk's files as source.
//! `write back` in the queue of md or device-mapper does not describe the disks below, so every
//! layer is read.

use super::sysfs_device::SysfsBlockDevice;
use super::topology::collect_block_devices;
use super::{bcache, cloud, geometry, md, medium, multipath_identity, transport};
use crate::attribute;
use crate::collector::{Request, insert_subject_facts_in_parallel};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, KeyInfo, Reading, Remedy, Source, Subject};
use crate::host::Host;

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let nodes = collect_block_devices(host, facts, |node, facts| {
        node.insert_attributes(host, &[(device::READ_ONLY.info, "ro")], facts);
        if node.has_own_queue() {
            insert_facts_of_device_with_queue(host, node, facts);
        }
    });
    let first_partition = nodes
        .iter()
        .position(|node| !node.has_own_queue())
        .unwrap_or(nodes.len());
    let (whole, partitions) = nodes.split_at(first_partition);
    multipath_identity::link_paths_to_same_disk(whole.iter().map(|node| &node.subject), facts);
    insert_subject_facts_in_parallel(
        partitions,
        |node| &node.subject,
        facts,
        |nodes, facts| {
            for node in nodes {
                copy_disk_facts_to_partition(&node.subject, facts);
                geometry::insert_partition_alignment(host, node, facts);
            }
        },
    );
}

fn insert_facts_of_device_with_queue(
    host: &dyn Host,
    node: &SysfsBlockDevice,
    facts: &mut FactSet,
) {
    node.insert_attributes(host, QUEUE_ATTRIBUTES, facts);
    insert_write_cache_and_scheduler(host, node, facts);
    insert_kernel_counts_flushes_fact(host, node, facts);
    transport::insert_transport_facts(host, node, facts);
    multipath_identity::insert_disk_wwid(host, node, facts);
    geometry::insert_queue_limits(host, node, facts);
    cloud::insert_cloud_facts(node, facts);
    medium::insert_medium_facts(node, facts);
    if node.kind == DeviceKind::Md {
        md::insert_array_facts(host, node, facts);
    }
    if node.kind == DeviceKind::Loop {
        node.insert_attributes(host, LOOP_ATTRIBUTES, facts);
    }
    if node.kind == DeviceKind::Zram {
        node.insert_attributes(host, &[(device::ZRAM_BACKING.info, "backing_dev")], facts);
    }
    if node.kind == DeviceKind::Bcache {
        bcache::insert_bcache_facts(host, node, facts);
    }
}

const QUEUE_ATTRIBUTES: &[(KeyInfo, &str)] = &[
    (device::FUA.info, "queue/fua"),
    (device::ROTATIONAL.info, "queue/rotational"),
    (device::LOGICAL_BLOCK.info, "queue/logical_block_size"),
    (device::PHYSICAL_BLOCK.info, "queue/physical_block_size"),
    (device::DISCARD_MAX.info, "queue/discard_max_bytes"),
    (device::ZONED.info, "queue/zoned"),
    (device::OPTIMAL_IO.info, "queue/optimal_io_size"),
];

/// A suffix ` (deleted)`, which the kernel appends to the path of an unlinked file, is kept.
const LOOP_ATTRIBUTES: &[(KeyInfo, &str)] = &[
    (device::LOOP_FILE.info, "loop/backing_file"),
    (device::LOOP_DIRECT.info, "loop/dio"),
];

/// The remedy for kernels without queue/write_cache, which Linux 4.7 added (commit 93e9d8e836cb,
/// *block: add ability to flag write back caching on a device*).
const NEWER_KERNEL_REMEDY: &str =
    "boot Linux 4.7 or later; older kernels do not show whether they send flushes";

fn insert_write_cache_and_scheduler(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let subject = &node.subject;
    let has_queue = facts.value(subject, &device::LOGICAL_BLOCK).is_some();
    let mut believed = attribute::read_choice(host, &node.attribute_path("queue/write_cache"));
    if believed.is_absent() && has_queue {
        believed = believed.with_remedy(Remedy::Do(NEWER_KERNEL_REMEDY.to_owned()));
    }
    facts.insert(subject, &device::WRITE_CACHE, believed);
    let schedulers = node.read_text(host, "queue/scheduler");
    // A device without schedulers prints only `none`.
    let active = schedulers.map(|text| match attribute::bracketed_value(&text) {
        Some(word) => word.to_owned(),
        None => text,
    });
    facts.insert(subject, &device::SCHEDULER, active);
}

/// The number of fields of `stat` in kernels that count flushes (Linux 5.5 and later).
const FIELDS_WITH_FLUSHES: usize = 17;

fn insert_kernel_counts_flushes_fact(
    host: &dyn Host,
    node: &SysfsBlockDevice,
    facts: &mut FactSet,
) {
    let counts = if is_bio_based(node, facts) {
        Reading::known(false, Source::derived_from([device::KIND.name()]))
    } else {
        node.read_text(host, "stat")
            .map(|text| text.split_whitespace().count() >= FIELDS_WITH_FLUSHES)
    };
    facts.insert(&node.subject, &device::COUNTS_FLUSHES, counts);
}

/// The kernel counts no flushes of bio-based drivers.
fn is_bio_based(node: &SysfsBlockDevice, facts: &FactSet) -> bool {
    if node.kind.is_disk() {
        node.has_name_prefix("pmem") || node.device_path_contains("/nvme-subsystem/")
    } else if node.kind == DeviceKind::Multipath {
        // Only request-based multipath has schedulers; bio-based multipath prints just `none`.
        facts
            .value(&node.subject, &device::SCHEDULER)
            .is_none_or(|word| word == "none")
    } else {
        node.kind != DeviceKind::Loop
    }
}

const INHERITED: &[KeyInfo] = &[
    device::WRITE_CACHE.info,
    device::FUA.info,
    device::ROTATIONAL.info,
    device::SCHEDULER.info,
    device::LOGICAL_BLOCK.info,
    device::PHYSICAL_BLOCK.info,
    device::DISCARD_MAX.info,
    device::ZONED.info,
    device::COUNTS_FLUSHES.info,
    device::OPTIMAL_IO.info,
    device::MAX_IO.info,
    device::ATOMIC_WRITE_MAX.info,
    device::WRITEBACK_LATENCY.info,
    device::TRANSPORT.info,
    device::FABRIC.info,
    device::MEDIUM.info,
    device::SHINGLED.info,
    device::UNIT.info,
    device::DRIVER.info,
    device::MODEL.info,
    device::CACHE_TYPE.info,
];

fn copy_disk_facts_to_partition(partition: &Subject, facts: &mut FactSet) {
    let disk = facts.layers_directly_below(partition).first().cloned();
    for key in INHERITED {
        if let Some(disk) = &disk {
            facts.copy_reading(partition, key, disk);
        } else {
            let detail = format!("the disk of {partition} is unknown");
            facts.insert_untyped_value(partition, key, Reading::absent(detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::collect_facts;
    use crate::collector::{CollectFn, Request};
    use crate::facts::catalog::device::{self, CacheType, Transport};
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Scope, Source, Subject, UnknownReason};
    use crate::filesystems::mounts;
    use crate::host::{HostErrorKind, Question};
    use crate::storage_stack;
    use crate::testing::{FakeHost, displayed_notes_and_readings};

    const SDA: &str =
        "../../devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    const SDB: &str = "../../devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host1/target1:0:0/1:0:0:0/block/sdb";

    fn with_block_device(
        fake: FakeHost,
        name: &str,
        place: &str,
        number: (u32, u32),
        kind: &str,
        sectors: u64,
    ) -> FakeHost {
        let directory = format!("/sys/class/block/{name}");
        let uevent = format!(
            "MAJOR={}\nMINOR={}\nDEVNAME={name}\nDEVTYPE={kind}",
            number.0, number.1
        );
        let fake = fake.with_files_in_directory(
            &directory,
            &[
                ("size", &sectors.to_string()),
                ("uevent", &uevent),
                ("ro", "0"),
            ],
        );
        fake.with_symlink(directory, place)
    }

    fn with_queue(fake: FakeHost, name: &str, write_cache: &str, scheduler: &str) -> FakeHost {
        let attributes = [
            ("queue/write_cache", write_cache),
            ("queue/fua", "0"),
            ("queue/rotational", "0"),
            ("queue/scheduler", scheduler),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("queue/discard_max_bytes", "0"),
            ("queue/zoned", "none"),
            (
                "stat",
                "80173 10343 9208906 72285 27534 81265 28340616 75153 0 14668 148532 12758 27 298 1020 2580 72",
            ),
        ];
        fake.with_files_in_directory(&format!("/sys/class/block/{name}"), &attributes)
    }

    fn stat_answer(major: u32, minor: u32) -> String {
        format!(
            "mode=16877 uid=0 gid=0 major={major} minor={minor} node_major=0 node_minor=0 inode=2 size=4096"
        )
    }

    fn host_with_disks() -> FakeHost {
        let mut fake = FakeHost::default();
        for (name, place, number) in [("sda", SDA, (8, 0)), ("sdb", SDB, (8, 16))] {
            fake = with_block_device(fake, name, place, number, "disk", 1_000_000);
            fake = with_queue(fake, name, "write back", "none [mq-deadline] kyber");
        }
        fake = with_block_device(
            fake,
            "sda1",
            &format!("{SDA}/sda1"),
            (8, 1),
            "partition",
            900_000,
        );
        fake = with_block_device(
            fake,
            "md0",
            "../../devices/virtual/block/md0",
            (9, 0),
            "disk",
            900_000,
        );
        fake = with_queue(fake, "md0", "write back", "none");
        fake = fake
            .with_files_in_directory(
                "/sys/class/block/md0/md",
                &[("level", "raid1"), ("degraded", "1"), ("raid_disks", "2")],
            )
            .with_symlink("/sys/class/block/md0/slaves/sda1", "x")
            .with_symlink("/sys/class/block/md0/slaves/sdb", "x");
        fake = with_block_device(
            fake,
            "dm-0",
            "../../devices/virtual/block/dm-0",
            (252, 0),
            "disk",
            800_000,
        );
        fake = with_queue(fake, "dm-0", "write back", "none");
        fake = fake
            .with_files_in_directory(
                "/sys/class/block/dm-0/dm",
                &[("name", "vg-data"), ("uuid", "LVM-Hk2nWcXY")],
            )
            .with_symlink("/sys/class/block/dm-0/slaves/md0", "x");
        fake = with_block_device(
            fake,
            "loop0",
            "../../devices/virtual/block/loop0",
            (7, 0),
            "disk",
            2048,
        );
        fake = with_queue(fake, "loop0", "write back", "[none] mq-deadline");
        fake = fake
            .with_files_in_directory(
                "/sys/class/block/loop0/loop",
                &[("backing_file", "/srv/disk image (deleted)"), ("dio", "0")],
            )
            .with_answer(Question::Stat("/srv".into()), stat_answer(252, 0));
        for n in 1..8 {
            fake = with_block_device(
                fake,
                &format!("loop{n}"),
                "../../devices/virtual/block/loop",
                (7, n),
                "disk",
                0,
            );
        }
        fake.with_files_in_directory(
            "/sys/class/scsi_host",
            &[
                ("host0/proc_name", "ahci"),
                ("host1/proc_name", "usb-storage"),
            ],
        )
        .with_files_in_directory(
            "/sys/class/scsi_disk",
            &[
                ("0:0:0:0/cache_type", "write back"),
                ("1:0:0:0/cache_type", "sometimes"),
            ],
        )
        .with_files_in_directory(
            "/sys/class/block/sda/device",
            &[("vendor", "ATA     "), ("model", "Samsung SSD 870 ")],
        )
        .with_files_in_directory(
            "/sys/class/block/sdb/device",
            &[("vendor", "Kingston"), ("model", "DataTraveler\x1b[1m")],
        )
        .with_file(
            "/proc/self/mountinfo",
            "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
             21 20 252:0 / /srv rw,noatime - xfs /dev/mapper/vg-data rw,noquota\n\
             22 20 7:0 / /mnt ro - ext4 /dev/loop0 ro\n",
        )
    }

    fn run_collectors(host: &FakeHost, collectors: &[CollectFn]) -> FactSet {
        let mut facts = FactSet::default();
        for collector in collectors {
            collector(host, &Request::default(), &mut facts);
        }
        facts
    }

    fn collect_devices(host: &FakeHost) -> FactSet {
        run_collectors(
            host,
            &[
                mounts::collect_facts,
                collect_facts,
                storage_stack::collect_facts,
            ],
        )
    }

    fn subject_names(subjects: &[Subject]) -> Vec<String> {
        subjects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn partition_of_array_has_array_below() {
        let fake = with_block_device(
            host_with_disks(),
            "md0p1",
            "../../devices/virtual/block/md0/md0p1",
            (259, 0),
            "partition",
            800_000,
        );
        let fake = fake.with_file(
            "/proc/self/mountinfo",
            "20 1 259:0 / / rw,relatime - ext4 /dev/md0p1 rw\n",
        );
        let facts = collect_devices(&fake);
        let (part, array) = (Subject::device("md0p1"), Subject::device("md0"));
        assert_eq!(
            facts.value(&part, &device::KIND),
            Some(device::DeviceKind::Partition)
        );
        assert_eq!(
            facts.layers_directly_below(&part),
            std::slice::from_ref(&array)
        );
        assert_eq!(
            subject_names(&facts.bottom_devices(&Subject::mount("/"))),
            ["device sdb", "device sda"]
        );
        assert_eq!(
            facts.value(&part, &device::WRITE_CACHE),
            facts.value(&array, &device::WRITE_CACHE)
        );
    }

    #[test]
    fn failed_member_leaves_stack_but_stays_held() {
        let failed = |of_a: &str| {
            let states = [("dev-sda1/state", of_a), ("dev-sdb/state", "faulty")];
            collect_devices(
                &host_with_disks().with_files_in_directory("/sys/class/block/md0/md", &states),
            )
        };
        let (array, sdb) = (Subject::device("md0"), Subject::device("sdb"));
        let facts = failed("in_sync");
        assert_eq!(
            subject_names(facts.layers_directly_below(&array)),
            ["device sda1"]
        );
        assert!(
            facts
                .layer_edges()
                .any(|(top, base)| (top, base) == (&array, &sdb))
        );
        assert_eq!(
            subject_names(failed("faulty").layers_directly_below(&array)).len(),
            2,
            "then they are what is left to look at"
        );
    }

    #[test]
    fn loop_device_is_linked_to_its_backing_device() {
        for (backing, below) in [
            ("/dev/sdb", vec!["device sdb"]),
            ("/dev/disk/by-id/x", vec!["device sdb"]),
            ("/dev/shm/image", vec!["mount /dev/shm"]),
            ("/dev/sdgone", vec![]),
        ] {
            let fake = host_with_disks()
                .with_file("/sys/class/block/loop0/loop/backing_file", backing)
                .with_answer(Question::RealPath("/dev/disk/by-id/x".into()), "/dev/sdb")
                .with_answer(Question::Stat("/dev/shm/image".into()), stat_answer(0, 6))
                .with_file(
                    "/proc/self/mountinfo",
                    "20 1 0:5 / /dev rw - devtmpfs udev rw\n21 20 0:6 / /dev/shm rw - tmpfs tmpfs rw\n",
                );
            let facts = collect_devices(&fake);
            assert_eq!(
                subject_names(facts.layers_directly_below(&Subject::device("loop0"))),
                below,
                "{backing}"
            );
        }
    }

    #[test]
    fn stack_reaches_every_disk() {
        let facts = collect_devices(&host_with_disks());
        let stack = subject_names(&facts.layers_below(&Subject::mount("/mnt")));
        let expect = [
            "device loop0",
            "mount /srv",
            "device dm-0",
            "device md0",
            "device sda1",
            "device sdb",
            "device sda",
        ];
        assert_eq!(stack, expect);
        assert_eq!(
            subject_names(&facts.bottom_devices(&Subject::mount("/mnt"))),
            ["device sdb", "device sda"]
        );
        assert_eq!(
            facts.applicable_subject(&Subject::mount("/"), Scope::Device),
            Some(Subject::device("sda1"))
        );
    }

    #[test]
    fn kind_transport_model_and_cache_type_are_read() {
        let facts = collect_devices(&host_with_disks());
        let kind = |name| {
            facts
                .value(&Subject::device(name), &device::KIND)
                .unwrap()
                .as_str()
        };
        assert_eq!(
            ["sda", "sda1", "md0", "dm-0", "loop0", "loop1"].map(kind),
            ["disk", "partition", "md", "lvm", "loop", "loop"]
        );
        let (sda, sdb) = (Subject::device("sda"), Subject::device("sdb"));
        assert_eq!(facts.value(&sda, &device::TRANSPORT), Some(Transport::Sata));
        assert_eq!(facts.value(&sdb, &device::TRANSPORT), Some(Transport::Usb));
        assert_eq!(
            facts.value(&sda, &device::MODEL).as_deref(),
            Some("Samsung SSD 870")
        );
        assert_eq!(
            facts.value(&sdb, &device::MODEL),
            None,
            "an escape sequence is no model"
        );
        assert_eq!(
            facts.value(&sda, &device::CACHE_TYPE),
            Some(CacheType::WriteBack)
        );
        assert!(
            !facts.get(&sdb, &device::CACHE_TYPE).is_known(),
            "an unknown word is malformed"
        );
        assert_eq!(facts.value(&sda, &device::SIZE), Some(512_000_000));
        assert_eq!(
            facts.value(&sda, &device::SCHEDULER).as_deref(),
            Some("mq-deadline")
        );
        assert_eq!(
            facts.value(&Subject::device("md0"), &device::MD_DEGRADED),
            Some(1)
        );
    }

    #[test]
    fn partition_inherits_queue_facts() {
        let facts = collect_devices(&host_with_disks());
        let (disk, partition) = (Subject::device("sda"), Subject::device("sda1"));
        for key in super::INHERITED {
            assert_eq!(
                facts.reading(&disk, key.id),
                facts.reading(&partition, key.id),
                "{}",
                key.name
            );
        }
        assert!(facts.get(&partition, &device::WRITE_CACHE).is_known());
    }

    #[test]
    fn only_request_based_devices_count_flushes() {
        let facts = collect_devices(&host_with_disks());
        let counts = |name| {
            facts
                .value(&Subject::device(name), &device::COUNTS_FLUSHES)
                .unwrap()
        };
        assert_eq!(
            ["sda", "sda1", "loop0", "md0", "dm-0"].map(counts),
            [true, true, true, false, false]
        );
        let old = host_with_disks().with_files_in_directory(
            "/sys/class/block/sda",
            &[("stat", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")],
        );
        assert_eq!(
            collect_devices(&old).value(&Subject::device("sda"), &device::COUNTS_FLUSHES),
            Some(false)
        );
    }

    #[test]
    fn empty_devices_need_one_query() {
        let host = host_with_disks();
        run_collectors(&host, &[collect_facts]);
        let about = |name: &str| {
            let prefix = format!("/sys/class/block/{name}");
            let asks = |q: &Question| matches!(q, Question::Read(p) | Question::List(p) | Question::Link(p) if p.starts_with(&prefix));
            host.asked_questions().iter().filter(|q| asks(q)).count()
        };
        assert_eq!(about("loop5"), 1);
        assert_eq!(about("sda1"), 6);
    }

    #[test]
    fn queries_grow_linearly_with_disks() {
        let cost = |disks: u32| {
            let mut fake = FakeHost::default();
            for n in 0..disks {
                fake = with_block_device(fake, &format!("sd{n}"), "x", (8, n), "disk", 8);
            }
            run_collectors(&fake, &[collect_facts]);
            fake.asked_questions().len() - 1
        };
        assert_eq!(cost(40), 4 * cost(10));
    }

    #[test]
    fn denied_attribute_has_remedy() {
        let question = Question::Read("/sys/class/block/sda/queue/write_cache".into());
        let facts = collect_devices(&host_with_disks().with_error(question, HostErrorKind::Denied));
        let reading = facts.get(&Subject::device("sda"), &device::WRITE_CACHE);
        assert!(
            matches!(
                reading,
                crate::facts::Reading::Unknown {
                    why: UnknownReason::Denied,
                    remedy: Some(_),
                    ..
                }
            ),
            "{reading:?}"
        );
    }

    #[test]
    fn devices_are_found_by_source_and_logdev() {
        let host = host_with_disks()
            .with_file(
                "/proc/self/mountinfo",
                "20 1 0:30 / / rw - bcachefs /dev/sda1:/dev/mapper/vg-data rw\n\
             21 20 252:0 / /srv rw - xfs /dev/mapper/vg-data rw,logdev=/dev/sdb\n",
            )
            .with_answer(
                Question::RealPath("/dev/mapper/vg-data".into()),
                "/dev/dm-0",
            );
        let facts = collect_devices(&host);
        assert_eq!(
            subject_names(facts.layers_directly_below(&Subject::mount("/"))),
            ["device sda1", "device dm-0"]
        );
        let srv = Subject::mount("/srv");
        assert_eq!(
            subject_names(facts.layers_directly_below(&srv)),
            ["device dm-0", "device sdb"]
        );
        assert_eq!(facts.value(&srv, &mount::EXTRA_DEVICES).unwrap(), ["sdb"]);
        let gone = host_with_disks().with_file(
            "/proc/self/mountinfo",
            "21 20 252:0 / /srv rw - xfs /dev/mapper/vg-data rw,logdev=/dev/sdgone\n",
        );
        let reading = collect_devices(&gone).get(&srv, &mount::EXTRA_DEVICES);
        assert!(
            matches!(
                reading,
                crate::facts::Reading::Unknown {
                    why: UnknownReason::Ambiguous,
                    ..
                }
            ),
            "{reading:?}"
        );
    }

    #[test]
    fn mount_facts_are_derived_from_mountinfo() {
        let facts = collect_devices(&host_with_disks());
        let srv = Subject::mount("/srv");
        assert_eq!(
            facts.value(&srv, &mount::ATIME),
            Some(mount::AtimePolicy::Never)
        );
        assert_eq!(
            facts.value(&srv, &mount::CLASS),
            Some(mount::MountClass::Block)
        );
        assert_eq!(
            facts.value(&Subject::mount("/mnt"), &mount::READ_ONLY),
            Some(true)
        );
        assert_eq!(
            facts.value(&Subject::mount("/mnt"), &mount::ATIME),
            Some(mount::AtimePolicy::Always)
        );
    }

    #[test]
    fn overlay_is_linked_to_upper_mount_outside_containers() {
        let host = host_with_disks().with_file(
            "/proc/self/mountinfo",
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         21 20 0:50 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/var/lib/u,workdir=/var/lib/w\n",
        );
        for (container, expect) in [("none", vec!["mount /"]), ("docker", vec![])] {
            let mut facts = FactSet::default();
            facts.insert_known(
                &Subject::host(),
                &crate::facts::catalog::host::CONTAINER,
                container.to_owned(),
                Source::Assumed,
            );
            for collector in [
                mounts::collect_facts,
                collect_facts,
                storage_stack::collect_facts,
            ] {
                collector(&host, &Request::default(), &mut facts);
            }
            assert_eq!(
                subject_names(facts.layers_directly_below(&Subject::mount("/merged"))),
                expect
            );
        }
    }

    proptest! {
        #[test]
        fn damaged_disk_files_affect_only_that_disk(noise: Vec<u8>, which in prop::sample::select(vec![
            "size", "uevent", "ro", "stat", "queue/write_cache", "queue/fua", "queue/rotational", "queue/scheduler",
            "queue/logical_block_size", "queue/discard_max_bytes", "queue/zoned", "device/model", "device/vendor",
        ])) {
            let clean = collect_devices(&host_with_disks());
            let noisy = collect_devices(&host_with_disks().with_file(format!("/sys/class/block/sdb/{which}"), &noise));
            let sda = Subject::device("sda");
            let of = |facts: &FactSet| facts.rows().filter(|row| *row.subject == sda)
                .map(|row| format!("{} {:?}", row.fact, row.reading)).collect::<Vec<_>>();
            prop_assert_eq!(of(&noisy), of(&clean));
            prop_assert!(!displayed_notes_and_readings(&noisy).chars().any(crate::text::is_display_unsafe));
        }
    }
}
