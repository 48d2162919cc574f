//! The three factors of the judge, each visited exhaustively: a disk's facts, the facts joined to a leaf, and those
//! that the interlock adds.

use std::collections::{BTreeMap, BTreeSet};

use super::super::machine::{Machine, data};
use super::{ALL, Fact, allowed, start};
use crate::durability::Caps;
use crate::durability::claim::{Cache, Leaf, Passage, leaf};
use crate::durability::{Standing, interlock, join};
use crate::facts::catalog::target::Suppressor;
use crate::facts::{Reading, Subject};
use crate::truth::Truth;

/// The part of a leaf that is passed on: cache, passage, whether it reports write back, and the best standing that its
/// evidence allows.
type Class = (Cache, Passage, Truth, Standing);

/// The class of the one leaf that lets the interlock open.
const OPENING: Class = (Cache::Protected, Passage::Sent, Truth::True, Standing::Durable);

fn class(of: &Leaf) -> Class {
    let worst = of.evidence.iter().map(|says| says.standing).min().unwrap();
    (of.cache, of.passage, of.write_back, worst)
}

/// All values of these facts.
fn facts(names: &[&str]) -> Vec<Fact> {
    let find = |name: &&str| *ALL.iter().find(|(fact, _)| fact == name).unwrap();
    names.iter().map(find).collect()
}

/// Visits every combination, changing the machine in place.
fn each(
    of: &[Fact],
    machine: &mut Machine,
    chosen: &mut Vec<&'static str>,
    visit: &mut dyn FnMut(&Machine, &[&str]),
) {
    let Some(((fact, values), rest)) = of.split_first() else { return visit(machine, chosen) };
    for value in *values {
        machine.set(fact, value);
        chosen.push(value);
        each(rest, machine, chosen, visit);
        chosen.pop();
    }
}

/// Visits every combination of facts of a disk, holds its class against the specification, and collects the leaves.
fn disks(names: &[&str], start: &Machine, leaves: &mut BTreeMap<Class, Leaf>) -> usize {
    let (of, disk, mut visited) = (facts(names), Subject::device("sda"), 0);
    each(&of, &mut start.clone(), &mut Vec::new(), &mut |machine, chosen| {
        let found = leaf(&machine.facts, &disk);
        let opens = of.iter().zip(chosen).all(|((fact, _), value)| allowed(fact, value));
        assert_eq!(class(&found) == OPENING, opens, "{chosen:?}: {found:?}");
        leaves.entry(class(&found)).or_insert(found);
        visited += 1;
    });
    visited
}

/// Every leaf that a disk's facts can produce.
fn leaves() -> BTreeMap<Class, Leaf> {
    let mut found = BTreeMap::new();
    // Behind a controller: everything its tool reports, with everything the kernel reports of the volume.
    let behind = [
        "controller.battery",
        "controller.policy",
        "controller.policy_in_force",
        "controller.on_battery_failure",
        "controller.disk_cache",
        "device.write_cache",
        "device.cache_type",
    ];
    let mut visited = disks(&behind, &start(), &mut found);
    // Any attachment: everything a disk reports of itself.
    let own = [
        "device.transport",
        "nvme.volatile_cache",
        "nvme.critical_warning",
        "device.ephemeral",
        "device.write_cache",
        "device.cache_type",
        "device.drive_cache",
    ];
    visited += disks(&own, &start(), &mut found);
    // Everything that an NVMe drive says of its cache, its warnings and its capacitor.
    let capacitor = [
        "device.transport",
        "nvme.volatile_cache",
        "nvme.critical_warning",
        "nvme.capacitor",
        "device.write_cache",
        "device.drive_cache",
    ];
    visited += disks(&capacitor, &start(), &mut found);
    let kinds =
        ["device.kind", "device.transport", "device.fabric", "device.write_cache", "device.cache_type"];
    visited += disks(&kinds, &start(), &mut found);
    assert_eq!(visited, 17_280 + 41_310 + 16_524 + 12_240);
    found
}

#[test]
#[ignore = "exhaustive"]
fn a_disk_allows_it_in_exactly_one_state_and_so_does_what_is_joined_to_it() {
    let leaves = leaves();
    assert!(leaves.contains_key(&OPENING));
    let of = facts(&[
        "mount.fstype",
        "mount.barrier",
        "ext4.journal",
        "pg.fsync",
        "pg.synchronous_commit",
        "pg.synchronous_commit_overrides",
        "probe.implausible",
        "probe.flushes_per_commit",
    ]);
    let (target, disk) = (data(), Subject::device("sda"));
    let mut judgements = BTreeSet::new();
    for (class, leaf) in &leaves {
        let disks = BTreeMap::from([(disk.clone(), leaf.clone())]);
        let mut machine = start().with("device.counts_flushes", "true").with("btrfs.devices", "sda");
        each(&of, &mut machine, &mut Vec::new(), &mut |machine, chosen| {
            let found = join::judge(&machine.facts, &target, &disks, &Caps::default());
            let ready = found.verdict.standing == Standing::Durable
                && found.flush == Passage::Sent
                && found.plain == Truth::True;
            let fine = |(fact, value): (&str, &str)| match fact {
                // That it is ext4 is the interlock's own condition; that it has its journal is the file system's.
                "mount.fstype" => value != "?",
                "ext4.journal" => allowed(fact, value) || !chosen[0].starts_with("ext"),
                "probe.flushes_per_commit" => !value.starts_with('0'),
                _ => allowed(fact, value),
            };
            let expect = class.1 == Passage::Sent
                && class.3 == Standing::Durable
                && of.iter().zip(chosen).all(|((fact, _), value)| fine((fact, value)));
            assert_eq!(ready, expect, "{class:?} {chosen:?}: {:?}", found.verdict);
            judgements.insert((found.verdict.standing, found.flush, found.plain));
        });
    }
    assert!(judgements.len() > 10, "{judgements:?}");
}

#[test]
#[ignore = "exhaustive"]
fn the_interlock_is_the_conjunction_of_its_conditions() {
    let of = facts(&[
        "mount.fstype",
        "mount.class",
        "kernel.version",
        "kernel.vendor",
        "probe.flush_cost",
        "probe.commit",
    ]);
    let standings = [Standing::Durable, Standing::Unproven, Standing::Contradictory, Standing::AtRisk];
    let flushes =
        [Passage::Sent, Passage::NotNeeded, Passage::Unknown, Passage::Dropped(Suppressor::MountOption)];
    let caches = [Cache::Protected, Cache::None, Cache::Unknown, Cache::Contradictory, Cache::Volatile];
    let disk = Subject::device("sda");
    let start = start();
    let leaf = leaf(&start.facts, &disk);
    let judged =
        join::judge(&start.facts, &data(), &BTreeMap::from([(disk.clone(), leaf.clone())]), &Caps::default());
    let leaves = caches.map(|cache| Leaf { cache, ..leaf.clone() });
    // One disk of every kind, and beside a protected one every other kind.
    let mut below: Vec<Vec<&Leaf>> = leaves.iter().map(|leaf| vec![leaf]).collect();
    below.extend(leaves.iter().map(|leaf| vec![&leaves[0], leaf]));
    below.push(Vec::new());
    let mut visited = 0;
    each(&of, &mut start.clone(), &mut Vec::new(), &mut |machine, chosen| {
        let right = of.iter().zip(chosen).all(|((fact, _), value)| allowed(fact, value));
        let wrong = of.iter().zip(chosen).filter(|((fact, _), value)| !allowed(fact, value)).count();
        for standing in standings {
            for flush in flushes {
                for plain in [Truth::True, Truth::Unknown, Truth::False] {
                    let mut found = judged.clone();
                    (found.verdict.standing, found.flush, found.plain) = (standing, flush, plain);
                    let is_ready =
                        (standing, flush, plain) == (Standing::Durable, Passage::Sent, Truth::True);
                    // Where two conditions fail already, the disks are not all visited.
                    let few = if wrong + usize::from(!is_ready) > 1 { 1 } else { below.len() };
                    for disks in &below[..few] {
                        let protected =
                            !disks.is_empty() && disks.iter().all(|l| l.cache == Cache::Protected);
                        let disks: Vec<(&Subject, &Leaf)> = disks.iter().map(|leaf| (&disk, *leaf)).collect();
                        for (live, assumed) in [(true, false), (false, false), (true, true)] {
                            found.asked.assumed =
                                if assumed { BTreeSet::from(["a fact".to_owned()]) } else { BTreeSet::new() };
                            let seen = interlock::judge(&machine.facts, &data(), &found, &disks, live);
                            let opens = matches!(seen, Reading::Known { value: true, .. });
                            let expect = right && is_ready && protected && live && !assumed;
                            assert_eq!(
                                opens, expect,
                                "{chosen:?} {standing:?} {flush:?} {plain:?}: {seen:?}"
                            );
                            visited += 1;
                        }
                    }
                }
            }
        }
    });
    assert!(visited > 100_000, "{visited}");
}
