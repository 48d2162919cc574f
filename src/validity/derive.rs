//! Judges what the next boot mounts: each option of each line, as this kernel takes it; and what a mkfs would set that
//! this kernel cannot mount.

use super::Effect;
use super::mkfs::leave_out;
use super::mount::mount_options;
use crate::facts::catalog::{boot, host, kernel, mount};
use crate::facts::{FactSet, Key, Reading, Scope, Source, Subject, Why};
use crate::version::Version;

/// Puts into every boot subject which of its options this kernel refuses, ignores, deprecates, takes for granted, or is
/// undecided about. Where the kernel or the file system is not known, none of these is known.
pub fn derive(facts: &mut FactSet) {
    for (fs, tool, words) in [
        ("ext4", &host::E2FSPROGS, &host::EXT4_LEAVE_OUT),
        ("xfs", &host::XFSPROGS, &host::XFS_LEAVE_OUT),
        ("btrfs", &host::BTRFSPROGS, &host::BTRFS_LEAVE_OUT),
    ] {
        facts.put(&Subject::host(), words, left_out(facts, fs, tool));
    }
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let judged = judge(facts, &line);
        for (key, effect) in [
            (&boot::REFUSED, Effect::Refused),
            (&boot::NO_EFFECT, Effect::NoEffect),
            (&boot::DEPRECATED, Effect::Deprecated),
            (&boot::DEFAULT_ANYWAY, Effect::DefaultAnyway),
            (&boot::UNDECIDED, Effect::Unknown),
        ] {
            let of_effect = |all: Vec<(String, Effect)>| {
                all.into_iter().filter(|(_, is)| *is == effect).map(|(option, _)| option).collect()
            };
            facts.put(&line, key, judged.clone().map(of_effect));
        }
    }
}

fn judge(facts: &FactSet, line: &Subject) -> Reading<Vec<(String, Effect)>> {
    let host = Subject::host();
    let asked = [
        (line, boot::OPTIONS.name()),
        (line, boot::FSTYPE.name()),
        (&host, kernel::VERSION.name()),
        (&host, kernel::VENDOR.name()),
    ];
    let options = facts.value(line, &boot::OPTIONS);
    let fstype = facts.value(line, &boot::FSTYPE);
    let version = facts.value(&host, &kernel::VERSION);
    let vendor = facts.value(&host, &kernel::VENDOR);
    let (Some(options), Some(fstype), Some(version), Some(vendor)) = (options, fstype, version, vendor)
    else {
        return missing(facts, &asked);
    };
    let mounted = facts.resolve(line, Scope::Mount).and_then(|of| facts.value(&of, &mount::SUPER_OPTIONS));
    let rulings = mount_options(&fstype, &options, &mounted.unwrap_or_default(), &version, &vendor);
    let effects = options.into_iter().zip(rulings.into_iter().map(|ruling| ruling.effect)).collect();
    Reading::known(effects, concluded(facts, &asked))
}

/// What mkfs would set unasked although the kernel cannot mount it.
fn left_out(facts: &FactSet, fs: &str, tool: &Key<Version>) -> Reading<Vec<String>> {
    let host = Subject::host();
    let asked = [(&host, tool.name()), (&host, kernel::VERSION.name()), (&host, kernel::VENDOR.name())];
    let version = facts.value(&host, &kernel::VERSION);
    match (facts.value(&host, tool), version, facts.value(&host, &kernel::VENDOR)) {
        (Some(tool), Some(version), Some(vendor)) => {
            Reading::known(leave_out(fs, &tool, &version, &vendor), concluded(facts, &asked))
        }
        _ => missing(facts, &asked),
    }
}

/// The reading of what cannot be concluded: the first of these facts that is not known.
fn missing<T>(facts: &FactSet, asked: &[(&Subject, &'static str)]) -> Reading<T> {
    let unknown = asked.iter().find_map(|(subject, name)| match facts.reading(subject, name) {
        Reading::Unknown { why, detail, remedy } => Some((*name, *why, detail, remedy.clone())),
        Reading::Known { .. } => None,
    });
    match unknown {
        Some((name, why, detail, remedy)) => {
            Reading::Unknown { why, detail: format!("{name} is not known: {detail}"), remedy }
        }
        None => Reading::unknown(Why::Malformed, "the options or the kernel's version"),
    }
}

/// What is concluded from these facts, and whether somebody only stated one of them.
fn concluded(facts: &FactSet, asked: &[(&Subject, &'static str)]) -> Source {
    let stated = asked
        .iter()
        .filter_map(|(subject, name)| facts.reading(subject, name).source())
        .any(|source| !source.is_evidence());
    Source::Derived { of: asked.iter().map(|(_, name)| (*name).to_owned()).collect(), stated }
}
