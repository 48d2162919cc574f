#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "for tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use walwise_model::settings::{self, NewFilesystem};

use super::{Report, ReportInput, RunContext, build_report};
use walwise_judge::durability::{
    Evidence, EvidenceLayer, FlushHop, FlushState, HopKind, PathVerdict, Verdict, VerdictKind,
};
use walwise_judge::rules::{
    Advice, AdviceBasis, Change, ConditionTrace, Confidence, EffectScope, Evaluation, Finding,
    Level, Outcome, Pack, Risk, RuleSet,
};
use walwise_measure::measure::{
    Caveat, CaveatId, Comparison, ComparisonConclusion, Estimate, Latencies, MeasuredLog,
    Measurement, Method, MethodResult,
};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::device::{
    self, CacheVolatility, ContentState, DeviceKind, QueueWriteCache, Transport,
};
use walwise_model::facts::catalog::target::{
    self, DirectoryRole, FlushDelivery, RedundancyState, TargetKind,
};
use walwise_model::facts::catalog::{boot, host, kernel, mount, postgres};
use walwise_model::facts::{
    FactSet, MissingFact, Reading, Remedy, ServerArea, Source, Subject, UnknownReason, Value,
};
use walwise_model::ternary::Ternary;

/// A database on ext4, mounted `nobarrier`, on a mirror of two disks, with a measurement.
pub fn at_risk() -> Report {
    let facts = at_risk_facts();
    let measurements = BTreeMap::from([(data_target(), measurement())]);
    build_sample_report(
        &facts,
        vec![at_risk_verdict()],
        at_risk_findings(),
        measurements,
    )
}

pub fn at_risk_with_measurement(
    found: Measurement,
    in_force: postgres::WalSyncMethod,
    flush: target::FlushDelivery,
) -> Report {
    let mut facts = at_risk_facts();
    facts.insert_known(
        &cluster_subject(),
        &postgres::WAL_SYNC_METHOD,
        in_force,
        Source::from_file_line("/srv/pg/15/main/postgresql.conf", 211),
    );
    facts.insert_known(
        &data_target(),
        &target::FLUSH,
        flush,
        Source::derived_from(["mount.barrier"]),
    );
    build_sample_report(
        &facts,
        vec![at_risk_verdict()],
        at_risk_findings(),
        BTreeMap::from([(data_target(), found)]),
    )
}

pub fn free_disk() -> Report {
    build_sample_report(
        &free_disk_facts(),
        Vec::new(),
        free_disk_findings(&free_disk_target()),
        BTreeMap::new(),
    )
}

pub fn free_disk_with_request(filesystem: NewFilesystem) -> Report {
    let wanted = BTreeMap::from([(free_disk_target(), filesystem)]);
    build_report_with_requests(
        &wanted,
        &free_disk_facts(),
        Vec::new(),
        free_disk_findings(&free_disk_target()),
        BTreeMap::new(),
    )
}

pub fn free_disks(count: usize) -> Report {
    let mut facts = FactSet::default();
    insert_host_facts(&mut facts);
    let names = (0..count).map(|number| format!("sd{number:05}"));
    let mut findings = Vec::new();
    for name in names {
        findings.extend(insert_free_disk_and_list_findings(&mut facts, &name));
    }
    build_sample_report(&facts, Vec::new(), findings, BTreeMap::new())
}

pub fn at_risk_and_free_disk() -> [Report; 2] {
    [at_risk(), free_disk()]
}

/// Builds a report in which advice to set `lazytime` is withheld, as if the kernel rejected the
/// option.
pub fn build_sample_report(
    facts: &FactSet,
    verdicts: Vec<Verdict>,
    findings: Vec<Finding>,
    measurements: BTreeMap<Subject, Measurement>,
) -> Report {
    build_report_with_requests(&BTreeMap::new(), facts, verdicts, findings, measurements)
}

fn build_report_with_requests(
    wanted: &BTreeMap<Subject, NewFilesystem>,
    facts: &FactSet,
    verdicts: Vec<Verdict>,
    findings: Vec<Finding>,
    measurements: BTreeMap<Subject, Measurement>,
) -> Report {
    build_report(ReportInput {
        facts,
        verdicts,
        evaluation: Evaluation {
            findings,
            tallies: Vec::new(),
        },
        measurements,
        overrides: BTreeMap::new(),
        wanted,
        refusal_reason: &|_, _| None,
        context: RunContext {
            when: "2026-11-20T14:03:11Z".to_owned(),
            live: true,
            options: Vec::new(),
            version: "0.1.0".to_owned(),
            rules: 12,
            asked: None,
            engine: ServerArea::Pg,
            pack: empty_pack(),
        },
        guard: &|_, advice, _| {
            if advice
                .change
                .set_or_added_values()
                .iter()
                .any(|value| value == "lazytime")
            {
                Err("ext4 takes lazytime from Linux 4.0 on, and this is Linux 3.10".to_owned())
            } else {
                Ok(())
            }
        },
    })
}

pub fn empty_pack() -> Pack {
    Pack::new(&RuleSet::default(), "0.1.0", &Vec::new())
}

pub fn data_target() -> Subject {
    Subject::target("/srv/pg/15/main")
}

fn cluster_subject() -> Subject {
    Subject::cluster("/srv/pg/15/main")
}

pub fn applying_finding(
    rule: &str,
    subject: &Subject,
    level: Level,
    advice: Vec<Advice>,
) -> Finding {
    Finding {
        rule: rule.to_owned(),
        subject: subject.clone(),
        outcome: Outcome::Applies,
        level,
        confidence: Confidence::Certain,
        basis: AdviceBasis::Documented,
        settings: Arc::default(),
        title: format!("Title of {rule}"),
        because: format!("Because of what {rule} says.").into(),
        refs: ["kernel: Documentation/admin-guide/ext4.rst".to_owned()].into(),
        advice,
        held_back: Vec::new(),
        observed: BTreeSet::new(),
        remedy: None,
        trace: Some(Box::new(ConditionTrace {
            label: "all of".to_owned(),
            truth: Ternary::True,
            seen: None,
            kids: Vec::new(),
        })),
    }
}

pub fn advice_without_current_value(setting: &str, change: Change) -> Advice {
    Advice {
        own: Vec::new(),
        setting: settings::find_by_name(setting).expect("a setting that can be advised"),
        change,
        current: Reading::not_collected(),
        reach: EffectScope::ThisMount,
        risk: Risk::NeedsRemount,
        rank: None,
        tradeoff: None,
        apply: Vec::new(),
        verify: Vec::new(),
        undo: Vec::new(),
    }
}

pub fn split_at_commas(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

fn insert_host_facts(facts: &mut FactSet) {
    let machine = Subject::host();
    let etc = || Source::from_file("/etc/os-release");
    facts.insert_known(
        &machine,
        &host::NAME,
        "db7".to_owned(),
        Source::from_system_call("uname"),
    );
    facts.insert_known(
        &machine,
        &host::OS_NAME,
        "Debian GNU/Linux 12 (bookworm)".to_owned(),
        etc(),
    );
    facts.insert_known(
        &machine,
        &kernel::RELEASE,
        "6.1.0-28-amd64".to_owned(),
        Source::from_system_call("uname"),
    );
    facts.insert_known(
        &machine,
        &host::SEEN_BY,
        host::RunEnvironment::Host,
        Source::derived_from(["host.virtualisation", "host.container"]),
    );
    facts.insert_known(
        &machine,
        &host::PRIVILEGED,
        false,
        Source::from_system_call("geteuid"),
    );
    let sentence = "/proc/self/mountinfo: line 31 is malformed and was skipped";
    facts.add_note_once(sentence);
}

fn insert_disk_facts(facts: &mut FactSet, name: &str, model: &str, cache: CacheVolatility) {
    let disk = Subject::device(name);
    let sys = |file: &str| Source::from_file(format!("/sys/block/{name}/{file}"));
    facts.insert_known(&disk, &device::KIND, DeviceKind::Disk, sys("device"));
    facts.insert_known(&disk, &device::PATH, format!("/dev/{name}"), sys("uevent"));
    facts.insert_known(&disk, &device::MODEL, model.to_owned(), sys("device/model"));
    facts.insert_known(&disk, &device::SIZE, 1_000_204_886_016, sys("size"));
    facts.insert_known(&disk, &device::TRANSPORT, Transport::Sata, sys("device"));
    facts.insert_known(
        &disk,
        &device::WRITE_CACHE,
        QueueWriteCache::WriteBack,
        sys("queue/write_cache"),
    );
    facts.insert_known(
        &disk,
        &device::CACHE,
        cache,
        Source::derived_from(["device.cache_type"]),
    );
}

fn at_risk_facts() -> FactSet {
    let mut facts = FactSet::default();
    insert_host_facts(&mut facts);
    insert_disk_facts(
        &mut facts,
        "sda",
        "INTEL SSDSC2KB960G8",
        CacheVolatility::Protected,
    );
    insert_disk_facts(
        &mut facts,
        "sdb",
        "Samsung SSD 870 EVO 1TB",
        CacheVolatility::Volatile,
    );
    let (md, fs) = (Subject::device("md0"), Subject::mount("/srv"));
    facts.insert_known(
        &md,
        &device::KIND,
        DeviceKind::Md,
        Source::from_file("/sys/block/md0/md"),
    );
    facts.insert_known(
        &md,
        &device::MD_LEVEL,
        device::ArrayLevel::Raid1,
        Source::from_file("/sys/block/md0/md/level"),
    );
    facts.insert_known(
        &md,
        &device::MD_DISKS,
        2,
        Source::from_file("/sys/block/md0/md/raid_disks"),
    );
    facts.insert_known(
        &md,
        &device::MD_DEGRADED,
        0,
        Source::from_file("/sys/block/md0/md/degraded"),
    );
    facts.insert_known(
        &md,
        &device::WRITE_CACHE,
        QueueWriteCache::WriteBack,
        Source::from_file("/sys/block/md0/queue/write_cache"),
    );
    let line = || Source::from_file_line("/proc/self/mountinfo", 24);
    facts.insert_known(&fs, &mount::POINT, "/srv".to_owned(), line());
    facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), line());
    facts.insert_known(&fs, &mount::OPTIONS, split_at_commas("rw,relatime"), line());
    facts.insert_known(
        &fs,
        &mount::SUPER_OPTIONS,
        split_at_commas("rw,nobarrier,errors=remount-ro"),
        line(),
    );
    facts.insert_known(
        &fs,
        &mount::BARRIER,
        mount::BarrierState::Off,
        Source::from_file("/proc/fs/ext4/md0/options"),
    );
    facts.insert(
        &fs,
        &mount::EXT4_FEATURES,
        Reading::denied("reading /dev/md0").with_remedy(Remedy::RunAsRoot),
    );
    let next = Subject::boot("/srv");
    let fstab = || Source::from_file_line("/etc/fstab", 9);
    facts.insert_known(&next, &boot::POINT, "/srv".to_owned(), fstab());
    facts.insert_known(
        &next,
        &boot::OPTIONS,
        split_at_commas("defaults,nobarrier"),
        fstab(),
    );
    let conf = || Source::from_file_line("/srv/pg/15/main/postgresql.conf", 211);
    facts.insert_known(
        &cluster_subject(),
        &postgres::NAME,
        "postgresql 15/main".to_owned(),
        conf(),
    );
    facts.insert_known(
        &cluster_subject(),
        &postgres::WAL_SYNC_METHOD,
        postgres::WalSyncMethod::Fdatasync,
        conf(),
    );
    facts.insert_known(
        &cluster_subject(),
        &postgres::WAL_INIT_ZERO,
        true,
        Source::Default {
            of: "PostgreSQL 15".to_owned(),
        },
    );
    facts.insert_known(
        &data_target(),
        &target::KIND,
        TargetKind::Directory,
        Source::from_system_call("stat"),
    );
    let roles = vec![DirectoryRole::Data, DirectoryRole::Wal];
    facts.insert_known(
        &data_target(),
        &target::ROLES,
        roles,
        Source::derived_from(["pg.data_directory"]),
    );
    for (top, base) in [
        (data_target(), fs.clone()),
        (fs.clone(), md.clone()),
        (md.clone(), Subject::device("sda")),
        (md, Subject::device("sdb")),
    ] {
        facts.add_layer_below(&top, &base);
    }
    facts.set_fact_link(&data_target(), &fs);
    facts.set_fact_link(&data_target(), &cluster_subject());
    facts.set_fact_link(&next, &fs);
    facts.set_fact_link(&cluster_subject(), &data_target());
    facts
}

pub fn verdict(target: &Subject, standing: VerdictKind) -> Verdict {
    Verdict {
        undecided: Vec::new(),
        caps_checked: 0,
        target: target.clone(),
        standing,
        redundancy: RedundancyState::None,
        second_fault: String::new(),
        host_loss: String::new(),
        exceptions: Vec::new(),
        seen_by: "host".to_owned(),
        guarantors: Vec::new(),
        sentence: String::new(),
        limits: String::new(),
        flush_path: Vec::new(),
        paths: Vec::new(),
        missing: Vec::new(),
    }
}

fn at_risk_flush_path() -> Vec<FlushHop> {
    let (sent, dropped) = (FlushDelivery::Sent, FlushDelivery::Suppressed);
    let hop = |rank, kind, of: Option<Subject>, name: &str, fate, arrival| FlushHop {
        kind,
        subjects: of.into_iter().collect(),
        name: name.to_owned(),
        text: format!("what is said of {name}"),
        state: fate,
        because: String::new(),
        source: String::new(),
        standing: VerdictKind::AtRisk,
        rank,
        arrival,
    };
    let (fs, disk) = (Subject::mount("/srv"), Subject::device);
    vec![
        hop(
            0,
            HopKind::Commit,
            None,
            "commit",
            FlushState::NotJudged,
            sent,
        ),
        hop(
            1,
            HopKind::Server,
            Some(cluster_subject()),
            "PostgreSQL",
            FlushState::Passed,
            sent,
        ),
        hop(
            2,
            HopKind::FileSystem,
            Some(fs),
            "ext4",
            FlushState::Dropped,
            sent,
        ),
        hop(
            3,
            HopKind::Layer,
            Some(disk("md0")),
            "md0",
            FlushState::Passed,
            dropped,
        ),
        hop(
            4,
            HopKind::Disk,
            Some(disk("sda")),
            "sda",
            FlushState::Answered,
            dropped,
        ),
        hop(
            4,
            HopKind::Disk,
            Some(disk("sdb")),
            "sdb",
            FlushState::LostHere,
            dropped,
        ),
    ]
}

fn at_risk_verdict() -> Verdict {
    let (fs, md) = (Subject::mount("/srv"), Subject::device("md0"));
    let piece = |layer, subject: &Subject, standing, says: &str, source: &str| Evidence {
        layer,
        subject: subject.clone(),
        standing,
        text: says.to_owned(),
        source: source.to_owned(),
        remedy: None,
    };
    let path = |disk: &str, standing, evidence| PathVerdict {
        hops: vec![data_target(), fs.clone(), md.clone(), Subject::device(disk)],
        standing,
        evidence,
    };
    let sdb = Subject::device("sdb");
    Verdict {
        undecided: Vec::new(),
        caps_checked: 0,
        target: data_target(),
        standing: VerdictKind::AtRisk,
        redundancy: RedundancyState::Whole,
        second_fault: String::new(),
        host_loss: String::new(),
        exceptions: Vec::new(),
        seen_by: "host".to_owned(),
        guarantors: Vec::new(),
        sentence:
            "A commit acknowledged now may be lost in a power failure: /srv is ext4 mounted nobarrier, and sdb \
                   caches writes in a volatile cache."
                .to_owned(),
        limits: String::new(),
        flush_path: at_risk_flush_path(),
        paths: vec![
            path(
                "sdb",
                VerdictKind::AtRisk,
                vec![
                    piece(
                        EvidenceLayer::Device,
                        &sdb,
                        VerdictKind::AtRisk,
                        "sdb caches writes in a volatile cache and gets no flush",
                        "/sys/class/scsi_disk/1:0:0:0/cache_type",
                    ),
                    piece(
                        EvidenceLayer::Kernel,
                        &fs,
                        VerdictKind::AtRisk,
                        "/srv sends no flushes of its own",
                        "/proc/fs/ext4/md0/options",
                    ),
                    piece(
                        EvidenceLayer::Database,
                        &cluster_subject(),
                        VerdictKind::Durable,
                        "the server flushes each commit",
                        "",
                    ),
                ],
            ),
            path("sda", VerdictKind::Durable, Vec::new()),
        ],
        missing: vec![MissingFact {
            subject: Subject::device("sda"),
            fact: "controller.battery".to_owned(),
            why: UnknownReason::Denied,
            detail: "reading /dev/sda".to_owned(),
            remedy: Some(Remedy::RunAsRoot),
        }],
    }
}

fn at_risk_findings() -> Vec<Finding> {
    let (fs, next) = (Subject::mount("/srv"), Subject::boot("/srv"));
    let now = |text: &str| {
        Reading::known(
            Value::List(split_at_commas(text)),
            Source::from_file_line("/proc/self/mountinfo", 24),
        )
    };
    let barrier = Advice {
        current: now("rw,nobarrier,errors=remount-ro"),
        reach: EffectScope::WholeFilesystem,
        ..advice_without_current_value(
            "mount.options",
            Change::Remove(split_at_commas("nobarrier,barrier=0")),
        )
    };
    let noatime = Advice {
        current: now("rw,relatime"),
        ..advice_without_current_value("mount.options", Change::Add(split_at_commas("noatime")))
    };
    let at_boot = Advice {
        current: Reading::known(
            Value::List(split_at_commas("defaults,nobarrier")),
            Source::from_file_line("/etc/fstab", 9),
        ),
        reach: EffectScope::NextBoot,
        ..advice_without_current_value(
            "boot.options",
            Change::Remove(split_at_commas("nobarrier,barrier=0")),
        )
    };
    let server = |setting: &str, change, current| Advice {
        current: Reading::known(
            current,
            Source::from_file_line("/srv/pg/15/main/postgresql.conf", 211),
        ),
        reach: EffectScope::Server,
        risk: Risk::NeedsReload,
        ..advice_without_current_value(setting, change)
    };
    let method = server(
        "pg.wal_sync_method",
        Change::Keep,
        Value::Text("fdatasync".to_owned()),
    );
    let delay = Advice {
        tradeoff: Some("each commit waits 100 µs longer when others are in flight".to_owned()),
        apply: vec![ShellCommand::new(
            "psql -c 'alter system set commit_delay = 100'",
        )],
        ..server(
            "pg.commit_delay",
            Change::Set("100".to_owned()),
            Value::Whole(0),
        )
    };
    let lazy =
        advice_without_current_value("mount.options", Change::Add(split_at_commas("lazytime")));
    let undecided = |rule: &str, level| Finding {
        outcome: Outcome::Undecided {
            needs: vec![vec![MissingFact {
                subject: fs.clone(),
                fact: "ext4.features".to_owned(),
                why: UnknownReason::Denied,
                detail: "reading /dev/md0".to_owned(),
                remedy: Some(Remedy::RunAsRoot),
            }]],
        },
        ..applying_finding(rule, &fs, level, Vec::new())
    };
    vec![
        applying_finding("mount.noatime", &fs, Level::Advice, vec![noatime, lazy]),
        applying_finding("mount.ext4-nobarrier", &fs, Level::Critical, vec![barrier]),
        applying_finding("boot.ext4-nobarrier", &next, Level::Critical, vec![at_boot]),
        Finding {
            confidence: Confidence::Measured,
            ..applying_finding(
                "pg.sync-method-keep",
                &cluster_subject(),
                Level::Keep,
                vec![method],
            )
        },
        applying_finding(
            "pg.commit-delay",
            &cluster_subject(),
            Level::Optional,
            vec![delay],
        ),
        applying_finding(
            "device.mixed-caches",
            &Subject::device("md0"),
            Level::Warning,
            Vec::new(),
        ),
        applying_finding(
            "kernel.fsync-errors",
            &Subject::host(),
            Level::Warning,
            Vec::new(),
        ),
        undecided("ext4.journal-features", Level::Warning),
        undecided("ext4.fast-commit", Level::Optional),
    ]
}

fn method_result(method: Method, median: f64, as_server: bool) -> MethodResult {
    MethodResult {
        method,
        pages: 1,
        as_server,
        paced: as_server.then(|| latencies(1_200, median)),
        back_to_back: Some(latencies(4_000, median * 0.6)),
        flushes_per_commit: as_server.then_some(1.0),
        error: None,
    }
}

/// Makes latencies with this median, in microseconds. All other statistics are multiples of it.
pub fn latencies(samples: u64, median: f64) -> Latencies {
    Latencies {
        samples,
        mean_us: median * 1.05,
        median_us: Estimate {
            value: median,
            low: median * 0.98,
            high: median * 1.03,
        },
        p95_us: median * 1.3,
        p95_interval_us: None,
        p99_interval_us: None,
        p99_us: Some(median * 2.2),
        max_us: median * 11.0,
        quantiles_us: Vec::new(),
        rounds_us: vec![median; 5],
        samples_us: Vec::new(),
    }
}

fn measurement() -> Measurement {
    Measurement {
        directory: "/srv/.walwise".to_owned(),
        when: "2026-11-20T14:02:40Z".to_owned(),
        seconds: 8.4,
        rounds: 71,
        bytes_written: 127 << 20,
        log: MeasuredLog::default(),
        methods: vec![
            method_result(Method::Fdatasync, 182.0, true),
            method_result(Method::OpenDatasync, 179.0, true),
            method_result(Method::Fsync, 346.0, true),
            method_result(Method::OpenDatasyncDirect, 171.0, false),
            MethodResult {
                back_to_back: None,
                error: Some("O_DIRECT is refused here".to_owned()),
                ..method_result(Method::FloorDirect, 0.0, false)
            },
        ],
        comparisons: vec![Comparison {
            method: Method::OpenDatasync,
            against: Method::Fdatasync,
            gain_percent: Estimate {
                value: 1.6,
                low: -0.4,
                high: 3.1,
            },
            settled: ComparisonConclusion::NoMeaningfulDifference,
        }],
        best: Method::Fdatasync,
        cancelled: false,
        caveats: vec![Caveat {
            id: CaveatId::CompetingIo,
            text: "another process wrote 14 MB/s to sdb during rounds 40 to 52".to_owned(),
            refuses_advice: false,
            rounds: (40..=52).collect(),
        }],
        workloads: Vec::new(),
    }
}

fn free_disk_facts() -> FactSet {
    let mut facts = FactSet::default();
    insert_host_facts(&mut facts);
    insert_free_disk_and_list_findings(&mut facts, "sdc");
    facts
}

fn insert_free_disk_and_list_findings(facts: &mut FactSet, name: &str) -> Vec<Finding> {
    let node = format!("/dev/{name}");
    let (disk, place) = (Subject::device(name), Subject::target(&node));
    insert_disk_facts(
        facts,
        name,
        "Micron_5300_MTFDDAK960TDS",
        CacheVolatility::Protected,
    );
    let read = || Source::from_system_call(format!("read {node}"));
    facts.insert_known(&disk, &device::CONTENT, ContentState::Free, read());
    facts.insert_known(&disk, &device::HOLDS, Vec::new(), read());
    facts.insert_known(&disk, &device::BYTES_READ, 101 << 20, read());
    facts.insert_known(&disk, &device::UNREAD_RUN, 447 << 20, read());
    facts.insert_known(&disk, &device::SIGNATURES, Vec::new(), read());
    facts.insert_known(
        &place,
        &target::KIND,
        TargetKind::Device,
        Source::derived_from(["device.content"]),
    );
    facts.insert_known(
        &place,
        &target::PATH,
        node.clone(),
        Source::derived_from(["device.path"]),
    );
    facts.add_layer_below(&place, &disk);
    facts.set_fact_link(&place, &disk);
    free_disk_findings(&place)
}

pub fn free_disk_target() -> Subject {
    Subject::target("/dev/sdc")
}

fn free_disk_findings(place: &Subject) -> Vec<Finding> {
    let choice = |rule: &str, value: &str, rank| {
        let advice = Advice {
            rank: Some(rank),
            reach: EffectScope::WholeFilesystem,
            risk: Risk::NeedsNewFilesystem,
            ..advice_without_current_value("filesystem", Change::Set(value.to_owned()))
        };
        Finding {
            confidence: Confidence::Documented,
            ..applying_finding(rule, place, Level::Advice, vec![advice])
        }
    };
    let mkfs = |value: &str, apply: &[&'static str]| Advice {
        reach: EffectScope::WholeFilesystem,
        risk: Risk::NeedsNewFilesystem,
        apply: apply
            .iter()
            .map(|&command| ShellCommand::new(command))
            .collect(),
        ..advice_without_current_value("mkfs.options", Change::Add(split_at_commas(value)))
    };
    vec![
        choice("filesystem.xfs", "xfs", 1),
        choice("filesystem.ext4", "ext4", 2),
        applying_finding(
            "filesystem.xfs-nrext64",
            place,
            Level::Advice,
            vec![mkfs("-i nrext64=0", &[])],
        ),
        applying_finding(
            "filesystem.ext4-orphan-file",
            place,
            Level::Advice,
            vec![mkfs(
                "-O ^orphan_file",
                &["mkfs.ext4 -O ^orphan_file /dev/sdc"],
            )],
        ),
        applying_finding(
            "mount.noatime-new",
            place,
            Level::Advice,
            vec![advice_without_current_value(
                "mount.options",
                Change::Add(split_at_commas("noatime")),
            )],
        ),
    ]
}
