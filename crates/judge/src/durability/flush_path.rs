//! Draws up the flush path of a target from its judged ways: one hop for each layer, each with its
//! fate.
//!
//! Nothing is judged anew: a fate is what the evidence of [`super::join`] says about one place.
//! Words for a hop are left to the report.

use std::collections::BTreeMap;

use super::claim::{Leaf, Passage};
use super::hop::{Fate, FlushHop, HopKind};
use super::{Evidence, Standing, belief};
use crate::facts::catalog::controller::{self, DiskCache};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::target::{Flush, Suppressor};
use crate::facts::catalog::{cluster, mount};
use crate::facts::{FactSet, Scope, ServerKind, Subject};
use crate::truth::Truth;

/// What was judged of one place on a way.
#[derive(Clone, Debug)]
pub struct JudgedHop {
    pub subject: Subject,
    /// What becomes of a flush there; nothing at disks, which are judged by themselves.
    pub passages: Vec<Passage>,
    pub evidence: Vec<Evidence>,
}

impl JudgedHop {
    /// A place of which nothing is said yet.
    pub fn at(subject: &Subject) -> Self {
        Self {
            subject: subject.clone(),
            passages: Vec::new(),
            evidence: Vec::new(),
        }
    }
}

/// What cannot be seen from where walwise runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// What the host mounted around a container.
    Host,
    /// What the hypervisor beneath a guest does.
    Hypervisor,
    /// Whether there is a hypervisor.
    Vantage,
}

/// All that the path is made of.
pub struct Judged<'a> {
    pub facts: &'a FactSet,
    /// The servers: whether each turns flushes off, and the evidence.
    pub servers: &'a [(Subject, bool, Vec<Evidence>)],
    /// The ways from the file system down, each from the top.
    pub ways: &'a [Vec<JudgedHop>],
    /// Whether the ways are all of them in one, so that their order says nothing.
    pub merged: bool,
    /// The disks at the bottoms.
    pub disks: &'a BTreeMap<Subject, Leaf>,
    /// What a measurement or a drill says of the whole.
    pub measured: &'a [Evidence],
    pub unseen: &'a [Unseen],
}

/// One place, with all that is said of it by the ways through it.
struct PathPlace<'a> {
    rank: usize,
    arrival: Passage,
    passages: Vec<Passage>,
    evidence: Vec<&'a Evidence>,
    is_end: bool,
}

/// The flush path, from the commit down.
pub fn flush_path(judged: &Judged<'_>) -> Vec<FlushHop> {
    let Judged {
        facts,
        servers,
        disks,
        measured,
        ..
    } = *judged;
    let mut hops = vec![bare(HopKind::Commit, "commit", Fate::NotJudged, 0)];
    for (subject, off, evidence) in servers {
        let kind = facts
            .value(subject, &cluster::KIND)
            .map_or("server", ServerKind::name);
        let passage = if *off {
            Passage::Dropped(Suppressor::ServerSetting)
        } else {
            Passage::Sent
        };
        let evidence: Vec<&Evidence> = evidence.iter().collect();
        let fate = on_the_way(worst(&evidence), passage, false);
        hops.push(FlushHop {
            subjects: vec![subject.clone()],
            ..told(HopKind::Server, kind, fate, 1, Passage::Sent, &evidence)
        });
    }
    if servers.is_empty() {
        hops.push(bare(HopKind::Server, "no server yet", Fate::NotJudged, 1));
    }

    let nodes = nodes(judged);
    let lowest = nodes.values().map(|node| node.rank).max().unwrap_or(1);
    let overall: Vec<&Evidence> = measured.iter().collect();
    let mut below: Vec<(Subject, FlushHop)> = Vec::new();
    for (subject, mut node) in nodes {
        let leaf = disks.get(&subject);
        if node.is_end {
            node.evidence
                .extend(overall.iter().filter(|says| !says.standing.is_durable()));
        }
        let hop = place(facts, &subject, &node, leaf);
        below.push((subject, hop));
    }
    below.sort_by_key(|(_, hop)| hop.rank);
    let volumes = below
        .iter()
        .filter(|(disk, _)| disks.get(disk).is_some_and(|leaf| leaf.is_volume));
    let members: Vec<FlushHop> = volumes
        .filter_map(|(disk, _)| members(facts, disk, lowest + 1))
        .collect();
    hops.extend(alike(facts, below));
    hops.extend(merge(members));
    let next = hops.iter().map(|hop| hop.rank).max().unwrap_or_default() + 1;
    let is_dropped = hops.iter().any(|hop| hop.arrival.is_suppressed());
    hops.extend(judged.unseen.iter().map(|unseen| {
        let name = match unseen {
            Unseen::Host => "host",
            Unseen::Hypervisor => "hypervisor",
            Unseen::Vantage => "virtual machine",
        };
        let arrival = if is_dropped {
            Flush::Suppressed
        } else {
            Flush::Unknown
        };
        FlushHop {
            rank: next,
            arrival,
            ..bare(HopKind::Beyond, name, Fate::Unseen, 0)
        }
    }));
    name_the_loss(&mut hops);
    hops
}

/// The places below the servers, each with what the ways through it say.
fn nodes<'a>(judged: &Judged<'a>) -> BTreeMap<Subject, PathPlace<'a>> {
    let mut nodes: BTreeMap<Subject, PathPlace<'a>> = BTreeMap::new();
    let off = judged.servers.iter().any(|(_, off, _)| *off);
    for way in judged.ways {
        let mut flush = if off {
            Passage::Dropped(Suppressor::ServerSetting)
        } else {
            Passage::Sent
        };
        let last = way.len().saturating_sub(1);
        let shown = |(at, hop): &(usize, &JudgedHop)| {
            *at == last || !is_passed_over(judged.facts, &hop.subject)
        };
        for (place, (at, hop)) in way.iter().enumerate().filter(shown).enumerate() {
            let is_end = at == last || judged.disks.contains_key(&hop.subject);
            let rank = match hop.subject.scope() {
                _ if !judged.merged => place + 2,
                Scope::Device if is_end => 4,
                Scope::Device => 3,
                Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => 2,
            };
            let node = nodes.entry(hop.subject.clone()).or_insert(PathPlace {
                rank,
                arrival: flush,
                passages: Vec::new(),
                evidence: Vec::new(),
                is_end,
            });
            node.rank = node.rank.max(rank);
            node.arrival = node.arrival.min(flush);
            node.passages.extend(&hop.passages);
            node.evidence.extend(&hop.evidence);
            // In merged ways nobody knows what is above what.
            flush = if judged.merged {
                flush
            } else {
                hop.passages
                    .iter()
                    .fold(flush, |flush, at| beyond(flush, *at))
            };
        }
    }
    nodes
}

/// What is no hop of its own: the target, which is a directory of its file system, and partitions,
/// which use the queue of their disk.
fn is_passed_over(facts: &FactSet, subject: &Subject) -> bool {
    match subject.scope() {
        Scope::Device => match facts.value(subject, &device::KIND) {
            Some(DeviceKind::Partition) => true,
            Some(
                DeviceKind::Disk
                | DeviceKind::Md
                | DeviceKind::Lvm
                | DeviceKind::Crypt
                | DeviceKind::Multipath
                | DeviceKind::Dmraid
                | DeviceKind::Vdo
                | DeviceKind::Dm
                | DeviceKind::Bcache
                | DeviceKind::Drbd
                | DeviceKind::Zvol
                | DeviceKind::Loop
                | DeviceKind::Zram
                | DeviceKind::Ram
                | DeviceKind::Other,
            )
            | None => false,
        },
        Scope::Target => true,
        Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster => false,
    }
}

/// What becomes of a flush beyond a hop that does this with it.
fn beyond(flush: Passage, here: Passage) -> Passage {
    let worse = flush.min(here);
    if worse < Passage::Sent {
        worse
    } else {
        flush.max(here)
    }
}

fn place(
    facts: &FactSet,
    subject: &Subject,
    node: &PathPlace<'_>,
    leaf: Option<&Leaf>,
) -> FlushHop {
    let passage = node.passages.iter().min().copied().unwrap_or(Passage::Sent);
    let is_below_drop = node.arrival.flush().is_suppressed();
    let (kind, fate) = if let Some(leaf) = leaf {
        (HopKind::Disk, at_disk(leaf, is_below_drop, &node.evidence))
    } else {
        let is_device = subject.scope() == Scope::Device;
        let keeps = is_below_drop && is_device && belief::plain(facts, subject) == Truth::False;
        let kind = if is_device {
            HopKind::Layer
        } else {
            HopKind::FileSystem
        };
        (kind, on_the_way(worst(&node.evidence), passage, keeps))
    };
    let name = match kind {
        HopKind::FileSystem => facts
            .value(subject, &mount::FSTYPE)
            .unwrap_or_else(|| "file system".to_owned()),
        HopKind::Commit
        | HopKind::Server
        | HopKind::Layer
        | HopKind::Disk
        | HopKind::Members
        | HopKind::Beyond => subject.name().to_owned(),
    };
    let rank = u32::try_from(node.rank).unwrap_or(u32::MAX);
    FlushHop {
        subjects: vec![subject.clone()],
        ..told(kind, &name, fate, rank, node.arrival, &node.evidence)
    }
}

/// The fate of a flush at a server, a file system or a layer. One that keeps data of its own, and
/// that no flush reaches, loses it.
fn on_the_way(standing: Standing, passage: Passage, keeps_unflushed: bool) -> Fate {
    match standing {
        Standing::Contradictory => Fate::Disagrees,
        Standing::AtRisk | Standing::Unproven | Standing::ProvenByDrill | Standing::Durable
            if keeps_unflushed =>
        {
            Fate::LostHere
        }
        Standing::AtRisk => match passage {
            Passage::Dropped(_) => Fate::Dropped,
            Passage::Unknown | Passage::Sent | Passage::NotNeeded => Fate::LostHere,
        },
        Standing::Unproven | Standing::ProvenByDrill => match passage {
            Passage::Dropped(_) => Fate::Dropped,
            Passage::Unknown | Passage::Sent | Passage::NotNeeded => Fate::Unknown,
        },
        Standing::Durable => match passage {
            Passage::Dropped(_) => Fate::Dropped,
            Passage::Unknown => Fate::Unknown,
            Passage::Sent => Fate::Passed,
            Passage::NotNeeded => Fate::NoCache,
        },
    }
}

/// The fate of a flush at a disk. Without flushes its cache decides.
fn at_disk(leaf: &Leaf, is_below_drop: bool, evidence: &[&Evidence]) -> Fate {
    // The disk claims one thing, and what was measured shows another.
    if evidence
        .iter()
        .any(|says| says.layer.is_measurement() && says.mend.is_some())
    {
        return Fate::Disagrees;
    }
    match worst(evidence) {
        Standing::AtRisk => Fate::LostHere,
        Standing::Contradictory => Fate::Disagrees,
        Standing::Unproven | Standing::ProvenByDrill | Standing::Durable
            if is_below_drop && !leaf.cache.is_safe_unflushed() =>
        {
            Fate::LostHere
        }
        Standing::Unproven | Standing::ProvenByDrill => Fate::Unknown,
        Standing::Durable if leaf.cache.is_protected() => Fate::Answered,
        Standing::Durable if leaf.cache.is_safe_unflushed() => Fate::NoCache,
        Standing::Durable => match leaf.passage {
            Passage::Dropped(_) => Fate::Dropped,
            Passage::Unknown => Fate::Unknown,
            Passage::Sent => Fate::FlushSent,
            Passage::NotNeeded => Fate::NoCache,
        },
    }
}

/// The disks behind a RAID controller's volume, where its tool tells of their caches.
fn members(facts: &FactSet, disk: &Subject, rank: usize) -> Option<FlushHop> {
    let fate = match facts.value(disk, &controller::DISK_CACHE)? {
        DiskCache::Off => Fate::NoCache,
        DiskCache::On => Fate::LostHere,
        DiskCache::DiskDefault => Fate::Unknown,
    };
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    let arrival = Flush::NotNeeded;
    let hop = bare(HopKind::Members, "disks behind it", fate, rank);
    Some(FlushHop {
        subjects: vec![disk.clone()],
        arrival,
        ..hop
    })
}

/// Hops of one rank that are of one kind and have the same fate, as one.
fn alike(facts: &FactSet, hops: Vec<(Subject, FlushHop)>) -> Vec<FlushHop> {
    let mut groups: Vec<(Option<DeviceKind>, FlushHop)> = Vec::new();
    for (subject, hop) in hops {
        let kind = facts.value(&subject, &device::KIND);
        let is_like = |(of, other): &&mut (Option<DeviceKind>, FlushHop)| {
            *of == kind && are_alike(other, &hop)
        };
        match groups.iter_mut().rev().find(is_like) {
            Some((_, first)) => first.subjects.extend(hop.subjects),
            None => groups.push((kind, hop)),
        }
    }
    groups.into_iter().map(|(_, hop)| named(hop)).collect()
}

fn merge(hops: Vec<FlushHop>) -> Vec<FlushHop> {
    let mut groups: Vec<FlushHop> = Vec::new();
    for hop in hops {
        match groups.iter_mut().find(|other| are_alike(other, &hop)) {
            Some(first) => first.subjects.extend(hop.subjects),
            None => groups.push(hop),
        }
    }
    groups
}

fn are_alike(one: &FlushHop, other: &FlushHop) -> bool {
    let of = |hop: &FlushHop| (hop.rank, hop.kind, hop.fate, hop.standing, hop.arrival);
    let name = |hop: &FlushHop| match hop.kind {
        HopKind::FileSystem => hop.name.clone(),
        HopKind::Commit
        | HopKind::Server
        | HopKind::Layer
        | HopKind::Disk
        | HopKind::Members
        | HopKind::Beyond => String::new(),
    };
    of(one) == of(other) && name(one) == name(other)
}

/// The most columns for the names of several.
const NAMES: usize = 17;

/// The same under the names of all, or under their number.
fn named(mut hop: FlushHop) -> FlushHop {
    let count = hop.subjects.len();
    if count < 2 {
        return hop;
    }
    let all = hop
        .subjects
        .iter()
        .map(Subject::name)
        .collect::<Vec<_>>()
        .join(" ");
    let one = &hop.name;
    let counted = match hop.kind {
        HopKind::FileSystem => format!("{count} × {one}"),
        HopKind::Disk => format!("{count} disks"),
        HopKind::Commit | HopKind::Server | HopKind::Layer | HopKind::Members | HopKind::Beyond => {
            format!("{count} devices")
        }
    };
    let is_short = match hop.kind {
        HopKind::Layer | HopKind::Disk => all.chars().count() <= NAMES,
        HopKind::Commit
        | HopKind::Server
        | HopKind::FileSystem
        | HopKind::Members
        | HopKind::Beyond => false,
    };
    hop.name = if is_short { all } else { counted };
    hop
}

/// Where a flush is dropped and nothing below holds data back, what waits for it in memory is lost
/// at that very place.
fn name_the_loss(hops: &mut [FlushHop]) {
    if hops.iter().any(|hop| hop.fate.loses()) {
        return;
    }
    let drops = |hop: &&mut FlushHop| hop.fate.is_dropped() && hop.standing.is_at_risk();
    if let Some(hop) = hops.iter_mut().find(drops) {
        hop.fate = Fate::LostHere;
    }
}

/// The worst that is said; *durable* where nothing is.
fn worst(evidence: &[&Evidence]) -> Standing {
    evidence
        .iter()
        .map(|says| says.standing)
        .min()
        .unwrap_or(Standing::Durable)
}

fn told(
    kind: HopKind,
    name: &str,
    fate: Fate,
    rank: u32,
    arrival: Passage,
    evidence: &[&Evidence],
) -> FlushHop {
    let standing = worst(evidence);
    let decides = |says: &&&Evidence| says.standing == standing;
    // What a disk says of its cache tells more than what its queue does.
    let of_claim = evidence
        .iter()
        .filter(decides)
        .find(|says| says.layer.is_claim());
    let decides = of_claim.or_else(|| evidence.iter().find(decides));
    let (because, source) = decides
        .map(|says| (says.says.clone(), says.source.clone()))
        .unwrap_or_default();
    FlushHop {
        because,
        source,
        standing,
        arrival: arrival.flush(),
        ..bare(kind, name, fate, rank)
    }
}

fn bare(kind: HopKind, name: &str, fate: Fate, rank: u32) -> FlushHop {
    FlushHop {
        kind,
        subjects: Vec::new(),
        name: name.to_owned(),
        says: String::new(),
        fate,
        because: String::new(),
        source: String::new(),
        standing: Standing::Durable,
        rank,
        arrival: Flush::Sent,
    }
}
