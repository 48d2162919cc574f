//! The table of verdicts in assets/verdicts.md: every combination of deciding facts, judged by the program itself and
//! merged where the verdict is the same. The test compares the file with the generated table.
//!
//! With `WALWISE_UPDATE=1` it writes the file again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::machine::Machine;
use walwise::inside::facts::Subject;

/// A value of a column: its word, and the facts that make it.
type Choice = (&'static str, &'static [(&'static str, &'static str)]);

/// A column: its title and all its values.
struct Column {
    title: &'static str,
    choices: &'static [Choice],
}

/// Verdict, and the columns of which each alone, if it could not be read, would leave it unproven.
type Outcome = (&'static str, BTreeSet<&'static str>);

/// Facts of the layer between file system and disk begin with this.
const TOP: &str = "top:";

fn apply(mut machine: Machine, facts: &[(&str, &str)], unknown: bool) -> Machine {
    for (fact, word) in facts {
        let word = if unknown { "?" } else { word };
        match fact.strip_prefix(TOP) {
            Some(fact) => machine.put(&Subject::device("top"), fact, word),
            None => machine.set(fact, word),
        }
    }
    machine
}

fn judged(start: &Machine, columns: &[Column], chosen: &[usize], without: Option<usize>) -> &'static str {
    let mut machine = start.clone();
    for (at, (column, choice)) in columns.iter().zip(chosen).enumerate() {
        machine = apply(machine, column.choices[*choice].1, without == Some(at));
    }
    machine.verdict().standing.word()
}

fn outcome(start: &Machine, columns: &[Column], chosen: &[usize]) -> Outcome {
    let verdict = judged(start, columns, chosen, None);
    let needed = |at: &usize| {
        let known = !columns[*at].choices[chosen[*at]].1.iter().all(|(_, word)| *word == "?");
        known && judged(start, columns, chosen, Some(*at)) == "unproven"
    };
    let missing = if verdict == "unproven" {
        BTreeSet::new()
    } else {
        (0..columns.len()).filter(needed).map(|at| columns[at].title).collect()
    };
    (verdict, missing)
}

/// Combinations brought together: sets of values per column with one verdict, no two of them overlapping, and for each
/// the outcomes of its combinations.
struct Row {
    sets: Vec<BTreeSet<usize>>,
    verdict: &'static str,
    missing: Vec<BTreeSet<&'static str>>,
}

fn together(all: Vec<(Vec<usize>, Outcome)>, columns: usize) -> Vec<Row> {
    // What is durable is told apart by what it rests on, everything else by the verdict alone.
    let key = |row: &Row| match row.verdict {
        "durable" => row.missing.first().cloned(),
        _ => None,
    };
    let row = |(chosen, (verdict, missing)): (Vec<usize>, Outcome)| Row {
        sets: chosen.into_iter().map(|choice| BTreeSet::from([choice])).collect(),
        verdict,
        missing: vec![missing],
    };
    let mut rows: Vec<Row> = all.into_iter().map(row).collect();
    loop {
        let before = rows.len();
        for column in (0..columns).rev() {
            let mut merged: BTreeMap<_, Row> = BTreeMap::new();
            for mut row in rows {
                let here = std::mem::take(&mut row.sets[column]);
                let at = (row.sets.clone(), row.verdict, key(&row));
                let same = merged.entry(at).or_insert(Row { missing: Vec::new(), ..row_like(&row) });
                same.sets[column].extend(here);
                same.missing.extend(row.missing);
            }
            rows = merged.into_values().collect();
        }
        if rows.len() == before {
            return rows;
        }
    }
}

fn row_like(row: &Row) -> Row {
    Row { sets: row.sets.clone(), verdict: row.verdict, missing: Vec::new() }
}

/// Facts whose absence always leaves the verdict open, and those for which it does so in some of the combinations.
fn without(row: &Row) -> String {
    let every = |title: &&&str| row.missing.iter().all(|set| set.contains(**title));
    let some: BTreeSet<&str> = row.missing.iter().flatten().copied().collect();
    let always: Vec<&str> = some.iter().filter(every).copied().collect();
    let at_times: Vec<&str> = some.iter().filter(|title| !every(title)).copied().collect();
    match at_times.as_slice() {
        [] => always.join("; "),
        titles => format!("{} (in part: {})", always.join("; "), titles.join("; ")).trim().to_owned(),
    }
}

fn cell(column: &Column, set: &BTreeSet<usize>) -> String {
    let word = |at: &usize| column.choices[*at].0;
    let others: Vec<usize> = (0..column.choices.len()).filter(|at| !set.contains(at)).collect();
    match others.as_slice() {
        [] => "any".to_owned(),
        [one] if set.len() > 2 => format!("any but {}", word(one)),
        _ => set.iter().map(word).collect::<Vec<_>>().join(" *or* "),
    }
}

fn table(text: &mut String, start: &Machine, columns: &[Column]) {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for column in columns {
        let extend = |chosen: &Vec<usize>| {
            (0..column.choices.len()).map(|c| chosen.iter().copied().chain([c]).collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    let count = all.len();
    let judged = all
        .into_iter()
        .map(|chosen| {
            let o = outcome(start, columns, &chosen);
            (chosen, o)
        })
        .collect();
    let mut rows = together(judged, columns.len());
    let rank = |verdict: &str| {
        ["durable", "unproven", "contradictory", "at risk"].iter().position(|w| *w == verdict)
    };
    rows.sort_by_key(|row| (rank(row.verdict), row.sets.clone()));
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let _ =
        writeln!(text, "\n{count} combinations.\n\n| {} | verdict | unproven without |", titles.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len() + 2));
    for row in rows {
        let cells: Vec<String> =
            columns.iter().zip(&row.sets).map(|(column, set)| cell(column, set)).collect();
        let _ = writeln!(text, "| {} | **{}** | {} |", cells.join(" | "), row.verdict, without(&row));
    }
}

const BARRIERS: Column = Column {
    title: "file system",
    choices: &[("sends flushes", &[("mount.barrier", "on")]), ("nobarrier", &[("mount.barrier", "off")])],
};

const QUEUE: Column = Column {
    title: "queue",
    choices: &[
        ("write back", &[("device.write_cache", "write back")]),
        ("write through", &[("device.write_cache", "write through")]),
    ],
};

fn generate() -> String {
    let mut text = String::from(INTRODUCTION);
    text.push_str("\n## A SATA, SAS or SCSI disk\n\n*queue* is what the kernel believes (`queue/write_cache`), *kernel's copy* what it read of the disk's caching page\n(`cache_type`), *disk asked* its own answer as root (`smartctl -g wcache`, `hdparm -W`). Virtual SCSI disks of hypervisors\nare judged alike.\n");
    let asked = Column {
        title: "disk asked",
        choices: &[
            ("cache on", &[("device.drive_cache", "on")]),
            ("cache off", &[("device.drive_cache", "off")]),
            ("not asked", &[("device.drive_cache", "?")]),
        ],
    };
    let copy = Column {
        title: "kernel's copy",
        choices: &[
            ("write back", &[("device.cache_type", "write back")]),
            ("write through", &[("device.cache_type", "write through")]),
        ],
    };
    table(&mut text, &Machine::plain(), &[BARRIERS, QUEUE, copy, asked]);

    text.push_str("\n## An NVMe drive\n\n*VWC* is the drive's word on a volatile write cache (`nvme id-ctrl`), *feature 06h* whether that is on, *warnings* its\n`critical_warning` (`nvme smart-log`), *capacitor* what its OCP log page says of that (`nvme get-log -i 0xc0 -l 512`); all for root\nalone. Without an answer of the drive, a driver that passes forced unit access (`queue/fua`) counts as *has a cache*.\n");
    let nvme = Machine::plain().with("device.transport", "nvme").with("device.cache_type", "?");
    table(
        &mut text,
        &nvme,
        &[
            BARRIERS,
            QUEUE,
            Column {
                title: "VWC",
                choices: &[
                    ("has a cache", &[("nvme.volatile_cache", "true")]),
                    ("has none", &[("nvme.volatile_cache", "false")]),
                    ("not read", &[("nvme.volatile_cache", "?")]),
                ],
            },
            Column {
                title: "feature 06h",
                choices: &[
                    ("on", &[("device.drive_cache", "on")]),
                    ("off", &[("device.drive_cache", "off")]),
                    ("not read", &[("device.drive_cache", "?")]),
                ],
            },
            Column {
                title: "warnings",
                choices: &[
                    ("none", &[("nvme.critical_warning", "")]),
                    ("memory backup failed", &[("nvme.critical_warning", "memory backup failed")]),
                    ("not read", &[("nvme.critical_warning", "?")]),
                ],
            },
            Column {
                title: "capacitor",
                choices: &[
                    ("healthy", &[("nvme.capacitor", "healthy")]),
                    ("degraded", &[("nvme.capacitor", "degraded")]),
                    ("failed", &[("nvme.capacitor", "failed")]),
                    ("absent", &[("nvme.capacitor", "absent")]),
                    ("unreadable", &[("nvme.capacitor", "unreadable")]),
                    ("not read", &[("nvme.capacitor", "?")]),
                ],
            },
        ],
    );

    text.push_str("\n## Behind a RAID controller\n\nAs the controller's own tool tells (storcli, perccli, storcli2, MegaCli, ssacli, arcconf). *belief* is what the kernel makes of it.\n");
    table(
        &mut text,
        &Machine::protected().with("probe.flush_cost", "?"),
        &[
            Column {
                title: "battery or flash module",
                choices: &[
                    ("healthy", &[("controller.battery", "healthy")]),
                    ("charging", &[("controller.battery", "charging")]),
                    ("learning", &[("controller.battery", "learning")]),
                    ("degraded", &[("controller.battery", "degraded")]),
                    ("unreadable", &[("controller.battery", "unreadable")]),
                    ("failed", &[("controller.battery", "failed")]),
                    ("absent", &[("controller.battery", "absent")]),
                ],
            },
            Column {
                title: "policy",
                choices: &[
                    ("write back", &[("controller.policy", "write back")]),
                    ("always write back", &[("controller.policy", "always write back")]),
                    ("write through", &[("controller.policy", "write through")]),
                ],
            },
            Column {
                title: "in force",
                choices: &[
                    ("write back", &[("controller.policy_in_force", "write back")]),
                    ("write through", &[("controller.policy_in_force", "write through")]),
                ],
            },
            Column {
                title: "when the battery fails",
                choices: &[
                    ("falls back", &[("controller.on_battery_failure", "write through")]),
                    ("stays", &[("controller.on_battery_failure", "stays")]),
                ],
            },
            Column {
                title: "disks' own caches",
                choices: &[
                    ("off", &[("controller.disk_cache", "off")]),
                    ("on", &[("controller.disk_cache", "on")]),
                    ("disk default", &[("controller.disk_cache", "disk default")]),
                ],
            },
            Column {
                title: "belief",
                choices: &[
                    (
                        "sent",
                        &[
                            ("mount.barrier", "on"),
                            ("device.write_cache", "write back"),
                            ("device.cache_type", "write back"),
                        ],
                    ),
                    (
                        "none needed (queue and volume: write through)",
                        &[
                            ("mount.barrier", "on"),
                            ("device.write_cache", "write through"),
                            ("device.cache_type", "write through"),
                        ],
                    ),
                    (
                        "dropped (queue: write through, volume: write back)",
                        &[
                            ("mount.barrier", "on"),
                            ("device.write_cache", "write through"),
                            ("device.cache_type", "write back"),
                        ],
                    ),
                    (
                        "dropped (nobarrier)",
                        &[
                            ("mount.barrier", "off"),
                            ("device.write_cache", "write back"),
                            ("device.cache_type", "write back"),
                        ],
                    ),
                ],
            },
        ],
    );

    clouds(&mut text);
    text.push_str("\n## Disks of other kinds\n\nEach with barriers on, its queue *write back*, and nothing else known of it.\n\n| disk | verdict | why |\n|---|---|---|\n");
    for (what, facts) in [
        ("virtio-blk", &[("device.transport", "virtio")][..]),
        (
            "virtio-blk, queue and hypervisor say write through",
            &[
                ("device.transport", "virtio"),
                ("device.write_cache", "write through"),
                ("device.cache_type", "write through"),
            ],
        ),
        ("Xen", &[("device.transport", "xen"), ("device.cache_type", "?")]),
        ("eMMC, SD", &[("device.transport", "mmc"), ("device.cache_type", "?")]),
        ("USB", &[("device.transport", "usb")]),
        ("persistent memory", &[("device.transport", "pmem"), ("device.cache_type", "?")]),
        ("iSCSI", &[("device.transport", "network"), ("device.fabric", "iscsi")]),
        (
            "NVMe over TCP",
            &[("device.transport", "network"), ("device.fabric", "tcp"), ("device.cache_type", "?")],
        ),
        ("nbd, rbd", &[("device.transport", "network"), ("device.cache_type", "?")]),
        (
            "a cloud's instance disk",
            &[("device.transport", "nvme"), ("device.cache_type", "?"), ("device.ephemeral", "true")],
        ),
        ("zram, brd", &[("device.kind", "ram")]),
        ("a ZFS volume", &[("device.kind", "zvol")]),
        ("behind a RAID controller nobody asked", &[("device.transport", "raid")]),
    ] {
        let verdict = apply(Machine::plain(), facts, false).verdict();
        let worst = &verdict.paths[0].evidence[0];
        let why = verdict.paths[0]
            .evidence
            .iter()
            .rev()
            .find(|e| e.standing == worst.standing && e.layer == walwise::inside::durability::Layer::Claim)
            .unwrap_or(worst);
        let _ = writeln!(text, "| {what} | **{}** | {} |", verdict.standing.word(), why.says);
    }

    text.push_str("\n## Layers between file system and disk\n\n*layer's queue* is that of the layer, *below* what the disk beneath says, asked as root too; the file system sends flushes.\n");
    let below = Column {
        title: "below",
        choices: &[
            (
                "write back",
                &[
                    ("device.write_cache", "write back"),
                    ("device.cache_type", "write back"),
                    ("device.drive_cache", "on"),
                ],
            ),
            (
                "write through (cache off)",
                &[
                    ("device.write_cache", "write through"),
                    ("device.cache_type", "write through"),
                    ("device.drive_cache", "off"),
                ],
            ),
            (
                "overridden (write through, cache on)",
                &[
                    ("device.write_cache", "write through"),
                    ("device.cache_type", "write back"),
                    ("device.drive_cache", "on"),
                ],
            ),
        ],
    };
    let queue = Column {
        title: "layer's queue",
        choices: &[
            ("write back", &[("top:device.write_cache", "write back")]),
            ("write through", &[("top:device.write_cache", "write through")]),
        ],
    };
    let layer = Column {
        title: "layer",
        choices: &[
            ("LVM linear/striped", &[("top:device.kind", "lvm"), ("top:dm.targets", "linear")]),
            ("dm-crypt", &[("top:device.kind", "crypt"), ("top:dm.targets", "crypt")]),
            ("multipath", &[("top:device.kind", "multipath"), ("top:dm.targets", "multipath")]),
            ("thin volume", &[("top:device.kind", "lvm"), ("top:dm.targets", "thin")]),
            ("dm-cache/dm-writecache", &[("top:device.kind", "lvm"), ("top:dm.targets", "cache")]),
            ("LVM snapshot", &[("top:device.kind", "lvm"), ("top:dm.targets", "snapshot")]),
            ("md", &[("top:device.kind", "md"), ("top:md.level", "raid1")]),
            ("bcache without a cache", &[("top:device.kind", "bcache"), ("top:bcache.state", "no cache")]),
            (
                "bcache whose cache was not found",
                &[("top:device.kind", "bcache"), ("top:bcache.state", "clean")],
            ),
            ("loop file", &[("top:device.kind", "loop")]),
            ("DRBD", &[("top:device.kind", "drbd")]),
            ("zram", &[("top:device.kind", "zram")]),
        ],
    };
    table(&mut text, &Machine::plain().over("lvm"), &[layer, queue, below]);
    text.push_str(NOTES);
    text
}

/// A cloud's disks that outlive the machine, each as it is attached.
const CLOUDS: &[(&str, &[(&str, &str)])] = &[
    ("Amazon EBS", &[("device.transport", "nvme"), ("device.cloud", "Amazon Elastic Block Store")]),
    ("Azure, by NVMe", &[("device.transport", "nvme"), ("device.cloud", "Azure managed disk")]),
    ("Azure, by SCSI", &[("device.transport", "hyperv"), ("device.cloud", "Azure managed disk")]),
    (
        "Azure, of 4 TiB or more, or with sectors of 4 KiB",
        &[
            ("device.transport", "nvme"),
            ("device.cloud", "Azure managed disk"),
            ("device.size", "4398046511104"),
        ],
    ),
    ("Google, by NVMe", &[("device.transport", "nvme"), ("device.cloud", "Google persistent disk")]),
    ("Google, by SCSI", &[("device.transport", "virtio-scsi"), ("device.cloud", "Google persistent disk")]),
    ("Alibaba, by NVMe", &[("device.transport", "nvme"), ("device.cloud", "Alibaba Elastic Block Storage")]),
    ("Oracle, by SCSI", &[("device.transport", "virtio-scsi"), ("device.cloud", "Oracle block volume")]),
    (
        "Oracle, by iSCSI",
        &[
            ("device.transport", "network"),
            ("device.fabric", "iscsi"),
            ("device.cloud", "Oracle block volume"),
        ],
    ),
];

/// What can be known of such a disk: by NVMe, and by SCSI, whose driver keeps no word that nobody can change.
type Seen = &'static [(&'static str, &'static str)];
const EVIDENCE: &[(&str, Seen, Option<Seen>)] = &[
    (
        "flushes are sent",
        &[("device.write_cache", "write back")],
        Some(&[("device.write_cache", "write back"), ("device.cache_type", "write back")]),
    ),
    (
        "none is sent; asked, it says that it has no cache",
        &[("device.write_cache", "write through"), ("nvme.volatile_cache", "false")],
        Some(&[
            ("device.write_cache", "write through"),
            ("device.cache_type", "write through"),
            ("device.drive_cache", "off"),
        ]),
    ),
    (
        "none is sent; its driver was told of no cache",
        &[("device.write_cache", "write through"), ("device.fua", "false")],
        None,
    ),
    (
        "none is sent; nothing more is known",
        &[("device.write_cache", "write through")],
        Some(&[("device.write_cache", "write through"), ("device.cache_type", "write through")]),
    ),
];

/// The verdict follows the evidence and what the provider documents, and never the protocol, which this asserts.
fn clouds(text: &mut String) {
    let titles: Vec<&str> = EVIDENCE.iter().map(|(title, ..)| *title).collect();
    let _ = write!(
        text,
        "{CLOUD_NOTES}\n| disk | {} |\n|{}\n",
        titles.join(" | "),
        "---|".repeat(titles.len() + 1)
    );
    let mut of_evidence: BTreeMap<(&str, usize), BTreeSet<&str>> = BTreeMap::new();
    for (disk, facts) in CLOUDS {
        let guest = Machine::plain()
            .with("host.seen_by", "guest")
            .with("host.virtualisation", "kvm")
            .with("device.cache_type", "?");
        let guest = apply(guest, facts, false);
        let known = facts.iter().any(|(fact, _)| *fact == "device.cloud");
        let guest = if known { guest.with("device.ephemeral", "false") } else { guest };
        let _ = write!(text, "| {disk} |");
        let provider = disk.split(", by").next().unwrap_or(disk);
        for (place, (_, by_nvme, by_scsi)) in EVIDENCE.iter().enumerate() {
            let seen = if facts.contains(&("device.transport", "nvme")) { Some(*by_nvme) } else { *by_scsi };
            let Some(seen) = seen else {
                text.push_str(" – |");
                continue;
            };
            let word = apply(guest.clone(), seen, false).verdict().standing.word();
            of_evidence.entry((provider, place)).or_default().insert(word);
            let _ = write!(text, " **{word}** |");
        }
        text.push('\n');
    }
    assert!(
        of_evidence.values().all(|words| words.len() == 1),
        "the same disk and evidence, the same verdict: {of_evidence:?}"
    );
}

const CLOUD_NOTES: &str = "
## A cloud's disks that outlive the machine

All of it is on the word of the provider, and the report says so: a guest cannot see whether a flush is honoured, nor what becomes of
a write that was acknowledged. A disk that takes flushes is durable on that word. One that reports no volatile cache is durable where
the provider documents what its writes are worth: Amazon, Google and Alibaba do. Azure's hosts can cache writes (`cloud.azure-host-caching`),
and only its portal shows that, except for disks that no host caches. For Oracle's volumes no such document was found. The protocol
makes no difference, except that by SCSI the kernel's word may be an assumption, or somebody's, so the disk has to be asked.
";

const INTRODUCTION: &str = "\
# Verdicts

*A transaction has been reported committed; the power fails now; is it still there?* These tables are generated: every
combination was judged by the program, and combinations with the same outcome stand in one row. `any` means that every
value of the column comes to the same. *unproven without* lists what, if it alone could not be read, leaves the question open: for every
combination of the row, or *in part* for some. Where nothing is listed, what else is known decides, or it is open anyway.

Every machine here is ext4 with a journal on one disk, on bare metal, and a database that flushes before it reports.
";

const NOTES: &str = "
## What else decides

- Several disks: each is judged, and the worst governs.
- The database: `fsync=off`, `synchronous_commit=off` or a preloaded libeatmydata is **at risk** on any storage.
- Mount options: `nobarrier` counts by what lies below, on ext4, btrfs and f2fs alike; on XFS it has an effect before kernel
  4.10 and on RHEL 7 before 3.10.0-1127 only. Without a journal ext4 is **at risk**.
- ZFS: `sync=disabled` is **at risk**; `zfs_nocacheflush` counts like `nobarrier`.
- Measurement only lowers: no flush arrived at disks that need them is **at risk**, too few or faster than the disk can is
  **unproven**.
";

#[test]
fn the_table_in_the_documentation_is_what_the_program_says() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/verdicts.md");
    let now = generate();
    if std::env::var_os("WALWISE_UPDATE").is_some() {
        std::fs::write(file, &now).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        kept == now,
        "assets/verdicts.md is stale; write it anew: WALWISE_UPDATE=1 cargo test --test it verdicts"
    );
}
