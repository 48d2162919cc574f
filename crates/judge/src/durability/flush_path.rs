//! Builds the flush path of a target for the report: one hop per layer, with the outcome of a
//! flush there. The report adds the wording.

use std::collections::BTreeMap;

use super::device_view::{DiskAssessment, FlushOutcome};
use super::{Evidence, FlushHop, FlushState, HopKind, VerdictKind, kernel_view};
use crate::facts::catalog::controller::{self, MemberDiskCache};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::target::{FlushDelivery, FlushSuppressor};
use crate::facts::catalog::{cluster, mount};
use crate::facts::{FactSet, Scope, ServerKind, Subject};
use crate::ternary::Ternary;
use walwise_model::text::JoinText;

#[derive(Clone, Debug)]
pub struct AssessedHop {
    pub subject: Subject,
    /// Empty for disks, which are assessed separately.
    pub flush_fates: Vec<FlushOutcome>,
    pub evidence: Vec<Evidence>,
}

pub struct FlushPathInput<'a> {
    pub facts: &'a FactSet,
    /// For each server, whether it disables flushes, and the evidence about it.
    pub servers: &'a [(Subject, bool, Vec<Evidence>)],
    pub routes: &'a [Vec<AssessedHop>],
    /// Whether all paths were merged into one, so that the order of hops is unknown.
    pub merged: bool,
    pub disks: &'a BTreeMap<Subject, DiskAssessment>,
    /// Evidence from measurements and drills. It concerns no single hop.
    pub measured: &'a [Evidence],
    /// Names of layers that are not visible from here.
    pub unseen: &'a [&'static str],
}

struct PathNode<'a> {
    rank: u32,
    arrival: FlushOutcome,
    flush_fates: Vec<FlushOutcome>,
    evidence: Vec<&'a Evidence>,
    is_leaf: bool,
}

pub fn build_flush_path(judged: &FlushPathInput<'_>) -> Vec<FlushHop> {
    let FlushPathInput {
        facts,
        servers,
        disks,
        measured,
        ..
    } = *judged;
    let not_judged = FlushState::NotJudged;
    let mut hops = vec![new_hop(HopKind::Commit, "commit", not_judged, 0, &[])];
    for (subject, off, evidence) in servers {
        let kind = facts
            .value(subject, &cluster::KIND)
            .map_or("server", ServerKind::server_product_name);
        let passage = if *off {
            FlushOutcome::Dropped(FlushSuppressor::ServerSetting)
        } else {
            FlushOutcome::Sent
        };
        let evidence: Vec<&Evidence> = evidence.iter().collect();
        let state = layer_flush_state(worst_verdict_kind(&evidence), passage, false);
        hops.push(FlushHop {
            subjects: vec![subject.clone()],
            ..new_hop(HopKind::Server, kind, state, 1, &evidence)
        });
    }
    if servers.is_empty() {
        hops.push(new_hop(
            HopKind::Server,
            "no server yet",
            not_judged,
            1,
            &[],
        ));
    }

    let nodes = path_nodes(judged);
    let lowest = nodes.values().map(|node| node.rank).max().unwrap_or(1);
    let overall: Vec<&Evidence> = measured.iter().collect();
    let mut below: Vec<(Subject, FlushHop)> = Vec::new();
    for (subject, mut node) in nodes {
        let leaf = disks.get(&subject);
        if node.is_leaf {
            node.evidence
                .extend(overall.iter().filter(|says| !says.standing.is_durable()));
        }
        let hop = build_hop_of_node(facts, &subject, &node, leaf);
        below.push((subject, hop));
    }
    below.sort_by_key(|(_, hop)| hop.rank);
    let members: Vec<(Subject, FlushHop)> = below
        .iter()
        .filter(|(disk, _)| disks.get(disk).is_some_and(|leaf| leaf.is_raid_volume))
        .filter_map(|(disk, _)| {
            Some((
                disk.clone(),
                raid_member_disks_hop(facts, disk, lowest + 1)?,
            ))
        })
        .collect();
    below.extend(members);
    hops.extend(merge_and_name_hops(facts, below));
    let rank = hops.iter().map(|hop| hop.rank).max().unwrap_or_default() + 1;
    let is_dropped = hops.iter().any(|hop| hop.arrival.is_suppressed());
    hops.extend(judged.unseen.iter().map(|name| {
        let arrival = if is_dropped {
            FlushDelivery::Suppressed
        } else {
            FlushDelivery::Unknown
        };
        FlushHop {
            arrival,
            ..new_hop(HopKind::Beyond, name, FlushState::Unseen, rank, &[])
        }
    }));
    mark_first_hop_that_loses_commit(&mut hops);
    hops
}

fn path_nodes<'a>(judged: &FlushPathInput<'a>) -> BTreeMap<Subject, PathNode<'a>> {
    let mut nodes: BTreeMap<Subject, PathNode<'a>> = BTreeMap::new();
    let off = judged.servers.iter().any(|(_, off, _)| *off);
    for way in judged.routes {
        let mut flush = if off {
            FlushOutcome::Dropped(FlushSuppressor::ServerSetting)
        } else {
            FlushOutcome::Sent
        };
        let last = way.len().saturating_sub(1);
        let shown = |(at, hop): &(usize, &AssessedHop)| {
            *at == last || !has_no_hop_of_its_own(judged.facts, &hop.subject)
        };
        for (rank, (at, hop)) in (2..).zip(way.iter().enumerate().filter(shown)) {
            let is_end = at == last || judged.disks.contains_key(&hop.subject);
            let rank = match hop.subject.scope() {
                _ if !judged.merged => rank,
                Scope::Device if is_end => 4,
                Scope::Device => 3,
                Scope::Host | Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => 2,
            };
            let node = nodes.entry(hop.subject.clone()).or_insert(PathNode {
                rank,
                arrival: flush,
                flush_fates: Vec::new(),
                evidence: Vec::new(),
                is_leaf: is_end,
            });
            node.rank = node.rank.max(rank);
            node.arrival = node.arrival.min(flush);
            node.flush_fates.extend(&hop.flush_fates);
            node.evidence.extend(&hop.evidence);
            // The order of merged layers is unknown, so no hop changes the outcome for the hops
            // after it.
            flush = if judged.merged {
                flush
            } else {
                hop.flush_fates
                    .iter()
                    .fold(flush, |flush, at| flush_outcome_after_hop(flush, *at))
            };
        }
    }
    nodes
}

/// Whether a subject gets no hop of its own. A target is only a directory of its file system, and a
/// partition uses its disk's queue.
fn has_no_hop_of_its_own(facts: &FactSet, subject: &Subject) -> bool {
    subject.scope() == Scope::Target
        || facts
            .value(subject, &device::KIND)
            .is_some_and(DeviceKind::is_partition)
}

fn flush_outcome_after_hop(flush: FlushOutcome, here: FlushOutcome) -> FlushOutcome {
    let worse = flush.min(here);
    if worse < FlushOutcome::Sent {
        worse
    } else {
        flush.max(here)
    }
}

fn build_hop_of_node(
    facts: &FactSet,
    subject: &Subject,
    node: &PathNode<'_>,
    leaf: Option<&DiskAssessment>,
) -> FlushHop {
    let passage = node
        .flush_fates
        .iter()
        .min()
        .copied()
        .unwrap_or(FlushOutcome::Sent);
    let is_below_drop = node.arrival.to_flush_delivery().is_suppressed();
    let (kind, fate) = if let Some(leaf) = leaf {
        (
            HopKind::Disk,
            disk_flush_state(leaf, is_below_drop, &node.evidence),
        )
    } else {
        let is_device = subject.scope() == Scope::Device;
        let keeps = is_below_drop
            && is_device
            && kernel_view::holds_no_unflushed_data(facts, subject) == Ternary::False;
        let kind = if is_device {
            HopKind::Layer
        } else {
            HopKind::FileSystem
        };
        (
            kind,
            layer_flush_state(worst_verdict_kind(&node.evidence), passage, keeps),
        )
    };
    let name = if kind == HopKind::FileSystem {
        let fstype = facts.value(subject, &mount::FSTYPE);
        fstype.unwrap_or_else(|| "file system".to_owned())
    } else {
        subject.name().to_owned()
    };
    FlushHop {
        subjects: vec![subject.clone()],
        arrival: node.arrival.to_flush_delivery(),
        ..new_hop(kind, &name, fate, node.rank, &node.evidence)
    }
}

/// State of a flush at a server, file system or layer. `keeps_unflushed` means that the layer holds
/// data that no flush writes out, so the commit is lost there.
fn layer_flush_state(
    standing: VerdictKind,
    passage: FlushOutcome,
    keeps_unflushed: bool,
) -> FlushState {
    match (passage, standing) {
        (_, VerdictKind::Contradictory) => FlushState::Disagrees,
        _ if keeps_unflushed => FlushState::LostHere,
        (FlushOutcome::Dropped(_), _) => FlushState::Dropped,
        (_, VerdictKind::AtRisk) => FlushState::LostHere,
        (_, VerdictKind::Unproven | VerdictKind::ProvenByDrill) | (FlushOutcome::Unknown, _) => {
            FlushState::Unknown
        }
        (FlushOutcome::Sent, VerdictKind::Durable) => FlushState::Passed,
        (FlushOutcome::NotNeeded, VerdictKind::Durable) => FlushState::NoCache,
    }
}

fn disk_flush_state(
    leaf: &DiskAssessment,
    is_below_drop: bool,
    evidence: &[&Evidence],
) -> FlushState {
    if evidence
        .iter()
        .any(|says| says.layer.is_measurement() && says.remedy.is_some())
    {
        return FlushState::Disagrees;
    }
    match worst_verdict_kind(evidence) {
        VerdictKind::AtRisk => FlushState::LostHere,
        VerdictKind::Contradictory => FlushState::Disagrees,
        VerdictKind::Unproven | VerdictKind::ProvenByDrill | VerdictKind::Durable
            if is_below_drop && !leaf.cache.is_safe_unflushed() =>
        {
            FlushState::LostHere
        }
        VerdictKind::Unproven | VerdictKind::ProvenByDrill => FlushState::Unknown,
        VerdictKind::Durable if leaf.cache.is_protected() => FlushState::Answered,
        VerdictKind::Durable if leaf.cache.is_safe_unflushed() => FlushState::NoCache,
        VerdictKind::Durable => match leaf.flush_outcome {
            FlushOutcome::Dropped(_) => FlushState::Dropped,
            FlushOutcome::Unknown => FlushState::Unknown,
            FlushOutcome::Sent => FlushState::FlushSent,
            FlushOutcome::NotNeeded => FlushState::NoCache,
        },
    }
}

/// The hop for the disks behind a RAID volume. `None` unless the controller's tool reports the
/// setting of their caches.
fn raid_member_disks_hop(facts: &FactSet, disk: &Subject, rank: u32) -> Option<FlushHop> {
    let fate = match facts.value(disk, &controller::DISK_CACHE)? {
        MemberDiskCache::Off => FlushState::NoCache,
        MemberDiskCache::On => FlushState::LostHere,
        MemberDiskCache::DiskDefault => FlushState::Unknown,
    };
    Some(FlushHop {
        subjects: vec![disk.clone()],
        arrival: FlushDelivery::NotNeeded,
        ..new_hop(HopKind::Members, "disks behind it", fate, rank, &[])
    })
}

fn merge_and_name_hops(facts: &FactSet, hops: Vec<(Subject, FlushHop)>) -> Vec<FlushHop> {
    let mut merged: Vec<(_, FlushHop)> = Vec::new();
    for (subject, hop) in hops {
        let name = (hop.kind == HopKind::FileSystem).then(|| hop.name.clone());
        let device = facts.value(&subject, &device::KIND);
        let place = (hop.rank, hop.kind, hop.arrival);
        let key = (device, name, place, hop.state, hop.standing);
        match merged.iter_mut().find(|(other, _)| *other == key) {
            Some((_, first)) => first.subjects.extend(hop.subjects),
            None => merged.push((key, hop)),
        }
    }
    merged
        .into_iter()
        .map(|(_, hop)| with_group_name(hop))
        .collect()
}

const MAX_NAME_COLUMNS: usize = 17;

fn with_group_name(mut hop: FlushHop) -> FlushHop {
    let count = hop.subjects.len();
    if count < 2 {
        return hop;
    }
    let all = hop.subjects.iter().map(Subject::name).join_with(" ");
    hop.name = match hop.kind {
        HopKind::FileSystem => format!("{count} × {}", hop.name),
        HopKind::Layer | HopKind::Disk if all.chars().count() <= MAX_NAME_COLUMNS => all,
        HopKind::Disk => format!("{count} disks"),
        HopKind::Layer => format!("{count} devices"),
        HopKind::Commit | HopKind::Server | HopKind::Members | HopKind::Beyond => hop.name,
    };
    hop
}

/// Marks the first hop that is at risk and drops flushes as the place where the commit is lost.
/// Does nothing if another hop may lose the commit already.
fn mark_first_hop_that_loses_commit(hops: &mut [FlushHop]) {
    if hops.iter().any(|hop| hop.state.may_lose_commit()) {
        return;
    }
    let drops = |hop: &&mut FlushHop| hop.state.is_dropped() && hop.standing.is_at_risk();
    if let Some(hop) = hops.iter_mut().find(drops) {
        hop.state = FlushState::LostHere;
    }
}

/// *Durable* if there is no evidence.
fn worst_verdict_kind(evidence: &[&Evidence]) -> VerdictKind {
    evidence
        .iter()
        .map(|says| says.standing)
        .min()
        .unwrap_or(VerdictKind::Durable)
}

/// A hop at which the flush arrives as sent.
fn new_hop(
    kind: HopKind,
    name: &str,
    state: FlushState,
    rank: u32,
    evidence: &[&Evidence],
) -> FlushHop {
    let standing = worst_verdict_kind(evidence);
    let decides = |one: &&&Evidence| one.standing == standing;
    // If several pieces of evidence decide, the disk's report about its cache is shown, because it
    // explains more than the state of the queue.
    let of_claim = evidence
        .iter()
        .filter(decides)
        .find(|one| one.layer.is_device());
    let decides = of_claim.or_else(|| evidence.iter().find(decides));
    let (because, source) = decides
        .map(|one| (one.text.clone(), one.source.clone()))
        .unwrap_or_default();
    FlushHop {
        kind,
        subjects: Vec::new(),
        name: name.to_owned(),
        text: String::new(),
        state,
        because,
        source,
        standing,
        rank,
        arrival: FlushDelivery::Sent,
    }
}
