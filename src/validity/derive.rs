//! Judges what the next boot mounts: the file system and each option of each line, as this kernel takes them.

use super::mount::{file_system, mount_options};
use super::{Effect, Ruling};
use crate::facts::catalog::{boot, kernel, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::version::Version;

/// The facts that [`derive`] concludes, by name.
pub const CONCLUDED: [&str; 6] = [
    boot::REFUSED_TYPE.name(),
    boot::REFUSED.name(),
    boot::NO_EFFECT.name(),
    boot::DEPRECATED.name(),
    boot::DEFAULT_ANYWAY.name(),
    boot::UNDECIDED.name(),
];

/// Puts into every boot subject whether this kernel is known to lack its file system, and which of its options it refuses,
/// ignores, deprecates, takes for granted, or is undecided about. Where the kernel or the file system is not known, none
/// of these is known.
pub fn derive(facts: &mut FactSet) {
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let refused = refused_type(facts, &line);
        facts.put(&line, &boot::REFUSED_TYPE, refused);
        let judged = rulings(facts, &line);
        for (key, effect) in [
            (&boot::REFUSED, Effect::Refused),
            (&boot::NO_EFFECT, Effect::NoEffect),
            (&boot::DEPRECATED, Effect::Deprecated),
            (&boot::DEFAULT_ANYWAY, Effect::DefaultAnyway),
            (&boot::UNDECIDED, Effect::Unknown),
        ] {
            let of_effect = |all: Vec<(String, Ruling)>| {
                all.into_iter().filter(|(_, is)| is.effect == effect).map(|(option, _)| option).collect()
            };
            facts.put(&line, key, judged.clone().map(of_effect));
        }
    }
}

/// What this kernel makes of each option of a line that the next boot mounts.
pub fn rulings(facts: &FactSet, line: &Subject) -> Reading<Vec<(String, Ruling)>> {
    kernel_and(facts, line, &[boot::FSTYPE.name(), boot::OPTIONS.name()]).map(|(fstype, version, vendor)| {
        let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
        let mounted =
            facts.resolve(line, Scope::Mount).and_then(|of| facts.value(&of, &mount::SUPER_OPTIONS));
        let rulings = mount_options(&fstype, &options, &mounted.unwrap_or_default(), &version, &vendor);
        options.into_iter().zip(rulings).collect()
    })
}

/// The type of a line, where this kernel has no such file system.
fn refused_type(facts: &FactSet, line: &Subject) -> Reading<Vec<String>> {
    kernel_and(facts, line, &[boot::FSTYPE.name()]).map(|(fstype, version, vendor)| {
        let refused = file_system(&fstype, &version, &vendor).effect == Effect::Refused;
        if refused { vec![fstype] } else { Vec::new() }
    })
}

/// The file system of a line with the kernel's version and vendor, concluded from these and the named facts of the line; unknown
/// where any of them is.
fn kernel_and(facts: &FactSet, line: &Subject, names: &[&str]) -> Reading<(String, Version, String)> {
    let host = Subject::host();
    let of_kernel = [(&host, kernel::VERSION.name()), (&host, kernel::VENDOR.name())];
    let asked: Vec<(&Subject, &str)> = names.iter().map(|name| (line, *name)).chain(of_kernel).collect();
    for (subject, name) in &asked {
        if let Reading::Unknown { why, detail, remedy } = facts.reading(subject, name) {
            let detail = format!("{name} is not known: {detail}");
            return Reading::Unknown { why: *why, detail, remedy: remedy.clone() };
        }
    }
    let version = facts.value(&host, &kernel::VERSION);
    let known = facts.value(line, &boot::FSTYPE).zip(version).zip(facts.value(&host, &kernel::VENDOR));
    let Some(((fstype, version), vendor)) = known else {
        return Reading::unknown(Why::Malformed, "the file system or the kernel's version");
    };
    let mut sources = asked.iter().filter_map(|(subject, name)| facts.reading(subject, name).source());
    let assumed = sources.any(|source| !source.is_evidence());
    let of = asked.iter().map(|(_, name)| (*name).to_owned()).collect();
    Reading::known((fstype, version, vendor), Source::Derived { of, assumed })
}
