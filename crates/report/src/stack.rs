//! Describes the stack below a target as rows. Each layer has one row, under its first parent. The
//! field `below` lists all layers directly below a layer.

use std::collections::BTreeSet;

use super::device_description::describe_device;
use super::distinct::extend_distinct;
use super::{DeviceContent, LayerRow, Stack, mount_and_mkfs_options};
use walwise_judge::durability::{Verdict, VerdictKind};
use walwise_model::facts::catalog::device::{self, CacheVolatility, QueueWriteCache};
use walwise_model::facts::catalog::mount::{self, BarrierState};
use walwise_model::facts::catalog::target::{self, TargetKind};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::text::JoinText;

pub fn build_stack(facts: &FactSet, top: &Subject, verdict: Option<&Verdict>) -> Stack {
    let weakest = verdict.map(verdict_deciding_subjects).unwrap_or_default();
    let mut layers = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(top.clone(), 0)];
    while let Some((subject, depth)) = open.pop() {
        if !seen.insert(subject.clone()) {
            continue;
        }
        let below = facts.layers_directly_below(&subject);
        open.extend(below.iter().rev().map(|base| (base.clone(), depth + 1)));
        layers.push(LayerRow {
            depth,
            says: describe_layer(facts, &subject),
            cache: cache_and_flush_text(facts, &subject),
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

/// The subjects of the layers that decide the verdict; empty if the verdict is durable.
fn verdict_deciding_subjects(verdict: &Verdict) -> BTreeSet<Subject> {
    let worst = verdict
        .paths
        .iter()
        .find(|path| path.standing == verdict.standing);
    let decides = |standing: VerdictKind| standing == verdict.standing && !standing.is_durable();
    worst
        .into_iter()
        .flat_map(|path| &path.evidence)
        .filter(|piece| decides(piece.standing))
        .map(|piece| piece.subject.clone())
        .collect()
}

fn describe_layer(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => describe_mount(facts, subject),
        Scope::Device => describe_device(facts, subject),
        Scope::Target => match facts.value(subject, &target::KIND) {
            Some(TargetKind::Created) => "directory (does not exist yet)".to_owned(),
            Some(TargetKind::Device) => {
                format!(
                    "device, {}",
                    DeviceContent::from_facts(facts, subject).heading()
                )
            }
            Some(TargetKind::Directory) | None => "directory".to_owned(),
        },
        Scope::Host | Scope::Boot | Scope::Cluster => String::new(),
    }
}

fn describe_mount(facts: &FactSet, subject: &Subject) -> String {
    let fstype = facts
        .value(subject, &mount::FSTYPE)
        .unwrap_or_else(|| "file system unknown".to_owned());
    let words =
        mount_options(facts, subject).map(|words| displayed_mount_options(&words).join(","));
    let of = bind_mounted_directory(facts, subject).map(|root| format!("(directory {root})"));
    [Some(fstype), words, of]
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .join_with(" ")
}

/// The directory below the file system's root that a bind mount shows; `None` for the root. A btrfs
/// subvolume is left out, because the mount options name it.
fn bind_mounted_directory(facts: &FactSet, subject: &Subject) -> Option<String> {
    let root = facts
        .value(subject, &mount::ROOT)
        .filter(|root| root != "/")?;
    let subvolume = format!("subvol={root}");
    let options = facts
        .value(subject, &mount::SUPER_OPTIONS)
        .unwrap_or_default();
    (!options.contains(&subvolume)).then_some(root)
}

/// The options that differ from the defaults, with the layers of an overlay only counted.
pub fn displayed_mount_options(words: &[String]) -> Vec<String> {
    collapse_overlay_layers(mount_and_mkfs_options::explicit_mount_options(words))
}

/// Replaces the lower layers of an overlay by text such as `lowerdir=12 layers`, because a
/// container has dozens of layers with long names.
fn collapse_overlay_layers(words: Vec<String>) -> Vec<String> {
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

/// The mount options, then the other superblock options, as in mountinfo; `None` if neither is
/// known.
pub fn mount_options(facts: &FactSet, subject: &Subject) -> Option<Vec<String>> {
    let mut words = facts.value(subject, &mount::OPTIONS);
    if let Some(more) = facts.value(subject, &mount::SUPER_OPTIONS) {
        extend_distinct(words.get_or_insert_default(), more);
    }
    words
}

fn cache_and_flush_text(facts: &FactSet, subject: &Subject) -> String {
    match subject.scope() {
        Scope::Mount => match facts.value(subject, &mount::BARRIER) {
            Some(BarrierState::Off) => "sends no flushes".to_owned(),
            Some(BarrierState::On | BarrierState::NoEffect) | None => String::new(),
        },
        Scope::Device => {
            let leaf = facts.layers_directly_below(subject).is_empty();
            let own = match facts.value(subject, &device::CACHE).filter(|_| leaf) {
                // Such a disk needs no flushes, so it does not matter whether they are passed on.
                Some(CacheVolatility::None) => return "no volatile cache".to_owned(),
                other => other.map(|cache| cache.to_string()),
            };
            let queue = facts.value(subject, &device::WRITE_CACHE).map(|belief| {
                match belief {
                    QueueWriteCache::WriteBack => "flushes passed on",
                    QueueWriteCache::WriteThrough => "flushes dropped",
                }
                .to_owned()
            });
            [own, queue].into_iter().flatten().join_with("; ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::Source;

    fn describe_test_mount(fstype: &str, root: &str, options: &str) -> String {
        let (mut facts, subject) = (FactSet::default(), Subject::mount("/data"));
        facts.insert_known(
            &subject,
            &mount::FSTYPE,
            fstype.to_owned(),
            Source::from_file("x"),
        );
        facts.insert_known(
            &subject,
            &mount::ROOT,
            root.to_owned(),
            Source::from_file("x"),
        );
        let options = options.split(',').map(str::to_owned).collect();
        facts.insert_known(
            &subject,
            &mount::SUPER_OPTIONS,
            options,
            Source::from_file("x"),
        );
        describe_mount(&facts, &subject)
    }

    #[test]
    fn bind_mounted_directory_is_shown() {
        assert_eq!(describe_test_mount("ext4", "/", "rw"), "ext4 rw");
        assert_eq!(
            describe_test_mount("ext4", "/pg/16", "rw"),
            "ext4 rw (directory /pg/16)"
        );
        assert_eq!(
            describe_test_mount("btrfs", "/@home", "rw,subvol=/@home"),
            "btrfs rw,subvol=/@home"
        );
        assert_eq!(
            describe_test_mount("btrfs", "/@home/pg", "rw,subvol=/@home"),
            "btrfs rw,subvol=/@home (directory /@home/pg)"
        );
    }

    #[test]
    fn overlay_lower_layers_are_counted() {
        assert_eq!(
            describe_test_mount(
                "overlay",
                "/",
                "rw,lowerdir=/a/1:/a/2:/a\\:3,upperdir=/u,workdir=/w"
            ),
            "overlay rw,lowerdir=3 layers,upperdir=/u,workdir=/w"
        );
        assert_eq!(
            describe_test_mount("overlay", "/", "rw,lowerdir+=/a,lowerdir+=/b,volatile"),
            "overlay rw,lowerdir=2 layers,volatile"
        );
    }
}
