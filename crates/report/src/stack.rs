//! The stack below a target, in drawing order and in words.
//!
//! Each layer appears once, under the first that stands on it; `below` keeps every edge, so no part
//! of the graph is lost. This module only words facts. A layer without a cache of its own matters
//! too, because a queue in the middle can stop flushes.

use std::collections::BTreeSet;

use super::layer::block;
use super::{DeviceContent, LayerRow, Stack, options};
use walwise_judge::durability::{Standing, Verdict};
use walwise_model::facts::catalog::device::{self, Cache, WriteCache};
use walwise_model::facts::catalog::mount::{self, Barrier};
use walwise_model::facts::catalog::target::{self, TargetKind};
use walwise_model::facts::{FactSet, Scope, Subject};

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
    Stack {
        target: top.clone(),
        layers,
        left_out: None,
    }
}

/// The subjects of the evidence that decides the verdict.
fn weakest(verdict: &Verdict) -> BTreeSet<Subject> {
    let worst = verdict
        .paths
        .iter()
        .find(|path| path.standing == verdict.standing);
    let decides = |standing: Standing| standing == verdict.standing && !standing.is_durable();
    let evidence = worst.into_iter().flat_map(|path| &path.evidence);
    evidence
        .filter(|piece| decides(piece.standing))
        .map(|piece| piece.subject.clone())
        .collect()
}

/// The description of a layer.
fn says(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => mounted(facts, subject),
        Scope::Device => block(facts, subject),
        Scope::Target => match facts.value(subject, &target::KIND) {
            Some(TargetKind::Created) => "directory (does not exist yet)".to_owned(),
            Some(TargetKind::Device) => {
                format!(
                    "device, {}",
                    DeviceContent::from_facts(facts, subject).words()
                )
            }
            Some(TargetKind::Directory) | None => "directory".to_owned(),
        },
        Scope::Host | Scope::Boot | Scope::Cluster => String::new(),
    }
}

fn mounted(facts: &FactSet, subject: &Subject) -> String {
    let fstype = facts
        .value(subject, &mount::FSTYPE)
        .unwrap_or_else(|| "file system not known".to_owned());
    let words = in_force(facts, subject).map(|words| layered(options::tidy(&words)).join(","));
    let of = part_of(facts, subject).map(|root| format!("(directory {root} of it)"));
    [Some(fstype), words, of]
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The mounted directory of the file system, where it is not the whole, as for a bind mount. A
/// subvolume of btrfs is among its options.
fn part_of(facts: &FactSet, subject: &Subject) -> Option<String> {
    let root = facts
        .value(subject, &mount::ROOT)
        .filter(|root| root != "/")?;
    let subvolume = format!("subvol={root}");
    let options = facts
        .value(subject, &mount::SUPER_OPTIONS)
        .unwrap_or_default();
    (!options.contains(&subvolume)).then_some(root)
}

/// Options with the lower layers of an overlay counted instead of named: a container has dozens,
/// with long names.
pub fn layered(words: Vec<String>) -> Vec<String> {
    let lower = |word: &String| {
        let (name, layers) = word.split_once('=')?;
        matches!(name, "lowerdir" | "lowerdir+" | "datadir+").then(|| {
            layers
                .replace("\\:", "")
                .split(':')
                .filter(|layer| !layer.is_empty())
                .count()
        })
    };
    let count: usize = words.iter().filter_map(lower).sum();
    let mut told = false;
    let mut tell = |word: String| match lower(&word) {
        None => Some(word),
        Some(_) if std::mem::replace(&mut told, true) => None,
        Some(_) => Some(format!(
            "lowerdir={count} {}",
            if count > 1 { "layers" } else { "layer" }
        )),
    };
    words.into_iter().filter_map(&mut tell).collect()
}

/// The options of a mount and of its superblock together, in the order of mountinfo; `None` when
/// neither is known.
pub fn in_force(facts: &FactSet, subject: &Subject) -> Option<Vec<String>> {
    let mut words = facts.value(subject, &mount::OPTIONS);
    if let Some(more) = facts.value(subject, &mount::SUPER_OPTIONS) {
        words.get_or_insert_default().extend(more);
    }
    words
}

/// The relevant properties of a layer's cache, in words.
fn cache(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => match facts.value(subject, &mount::BARRIER) {
            Some(Barrier::Off) => "sends no flushes".to_owned(),
            Some(Barrier::On | Barrier::NoEffect) | None => String::new(),
        },
        Scope::Device => {
            let leaf = facts.below(subject).is_empty();
            let own =
                facts
                    .value(subject, &device::CACHE)
                    .filter(|_| leaf)
                    .map(|cache| match cache {
                        Cache::None => "none claimed".to_owned(),
                        Cache::Volatile
                        | Cache::Contradictory
                        | Cache::Unknown
                        | Cache::Protected => cache.to_string(),
                    });
            let queue = facts.value(subject, &device::WRITE_CACHE).map(|belief| {
                match belief {
                    WriteCache::WriteBack => "flushes passed on",
                    WriteCache::WriteThrough => "flushes dropped",
                }
                .to_owned()
            });
            [own, queue]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::Source;

    fn said(fstype: &str, root: &str, options: &str) -> String {
        let (mut facts, subject) = (FactSet::default(), Subject::mount("/data"));
        facts.know(
            &subject,
            &mount::FSTYPE,
            fstype.to_owned(),
            Source::file("x"),
        );
        facts.know(&subject, &mount::ROOT, root.to_owned(), Source::file("x"));
        let options = options.split(',').map(str::to_owned).collect();
        facts.know(&subject, &mount::SUPER_OPTIONS, options, Source::file("x"));
        mounted(&facts, &subject)
    }

    #[test]
    fn a_part_of_a_file_system_is_marked() {
        assert_eq!(said("ext4", "/", "rw"), "ext4 rw");
        assert_eq!(
            said("ext4", "/pg/16", "rw"),
            "ext4 rw (directory /pg/16 of it)"
        );
        assert_eq!(
            said("btrfs", "/@home", "rw,subvol=/@home"),
            "btrfs rw,subvol=/@home"
        );
        assert_eq!(
            said("btrfs", "/@home/pg", "rw,subvol=/@home"),
            "btrfs rw,subvol=/@home (directory /@home/pg of it)"
        );
    }

    #[test]
    fn the_layers_of_an_overlay_are_counted() {
        assert_eq!(
            said(
                "overlay",
                "/",
                "rw,lowerdir=/a/1:/a/2:/a\\:3,upperdir=/u,workdir=/w"
            ),
            "overlay rw,lowerdir=3 layers,upperdir=/u,workdir=/w"
        );
        assert_eq!(
            said("overlay", "/", "rw,lowerdir+=/a,lowerdir+=/b,volatile"),
            "overlay rw,lowerdir=2 layers,volatile"
        );
    }
}
