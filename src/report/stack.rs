//! The stack beneath a target, in drawing order and in words.
//!
//! Each layer appears once, under the first that stands on it; `below` keeps every edge, so nothing of the graph is lost.
//! It only words what was read and concluded. The surprise: a layer without a cache of its own still has a say, because a
//! queue in the middle can stop flushes.

use std::collections::BTreeSet;

use super::layer::block;
use super::{DeviceContent, LayerRow, Stack, options};
use crate::durability::{Standing, Verdict};
use crate::facts::catalog::device::{self, Cache, WriteCache};
use crate::facts::catalog::mount::{self, Barrier};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{FactSet, Scope, Subject};

/// The stack of a target.
pub fn stack(facts: &FactSet, top: &Subject, verdict: Option<&Verdict>) -> Stack {
    let weakest = verdict.map(weakest).unwrap_or_default();
    let mut layers = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(top.clone(), 0)];
    while let Some((subject, depth)) = open.pop() {
        if !seen.insert(subject.clone()) {
            continue;
        }
        let below = facts.below(&subject);
        open.extend(below.iter().rev().map(|base| (base.clone(), depth + 1)));
        layers.push(LayerRow {
            depth,
            says: says(facts, &subject),
            cache: cache(facts, &subject),
            weakest: weakest.contains(&subject),
            below: below.to_vec(),
            subject,
        });
    }
    Stack { target: top.clone(), layers, left_out: None }
}

/// What decides the verdict: the subjects of the evidence that makes its worst path what it is.
fn weakest(verdict: &Verdict) -> BTreeSet<Subject> {
    let worst = verdict.paths.iter().find(|path| path.standing == verdict.standing);
    let decides = |standing: Standing| standing == verdict.standing && !standing.is_durable();
    let evidence = worst.into_iter().flat_map(|path| &path.evidence);
    evidence.filter(|piece| decides(piece.standing)).map(|piece| piece.subject.clone()).collect()
}

/// What a layer is, in words.
fn says(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => mounted(facts, subject),
        Scope::Device => block(facts, subject),
        Scope::Target => match facts.value(subject, &target::KIND) {
            Some(TargetKind::Created) => "directory, to be created".to_owned(),
            Some(TargetKind::Device) => format!("device, {}", DeviceContent::of(facts, subject).words()),
            Some(TargetKind::Directory) | None => "directory".to_owned(),
        },
        Scope::Host | Scope::Boot | Scope::Cluster => String::new(),
    }
}

fn mounted(facts: &FactSet, subject: &Subject) -> String {
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_else(|| "file system not known".to_owned());
    let words = in_force(facts, subject).map(|words| options::tidy(&words).join(","));
    [fstype, words.unwrap_or_default()].join(" ").trim().to_owned()
}

/// The options of a mount and of its superblock together, in the order of mountinfo; `None` when neither is known.
pub fn in_force(facts: &FactSet, subject: &Subject) -> Option<Vec<String>> {
    let mut words = facts.value(subject, &mount::OPTIONS);
    if let Some(more) = facts.value(subject, &mount::SUPER_OPTIONS) {
        words.get_or_insert_default().extend(more);
    }
    words
}

/// What matters of a layer's cache, in words.
fn cache(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => match facts.value(subject, &mount::BARRIER) {
            Some(Barrier::Off) => "sends no flushes".to_owned(),
            Some(Barrier::On | Barrier::NoEffect) | None => String::new(),
        },
        Scope::Device => {
            let leaf = facts.below(subject).is_empty();
            let own = facts.value(subject, &device::CACHE).filter(|_| leaf).map(|cache| match cache {
                Cache::None => "none claimed".to_owned(),
                Cache::Volatile | Cache::Contradictory | Cache::Unknown | Cache::Protected => {
                    cache.to_string()
                }
            });
            let queue = facts.value(subject, &device::WRITE_CACHE).map(|belief| {
                match belief {
                    WriteCache::WriteBack => "flushes are passed on",
                    WriteCache::WriteThrough => "flushes are not passed on",
                }
                .to_owned()
            });
            [own, queue].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    }
}
