//! Judges the mounts of the next boot: the file system and each option of each line, for this
//! kernel; and the features of a mkfs that this kernel cannot mount.

use super::maker::Maker;
use super::mkfs::leave_out;
use super::mount::{file_system, holding, lists, mount_options, mount_options_here};
use super::zfs::zfs_supports;
use super::{Effect, Ruling};
use crate::facts::catalog::kernel::{self, ZfsSupport};
use crate::facts::catalog::{boot, device, mount};
use crate::facts::{FactSet, Key, Reading, Remedy, Scope, Source, Subject, Why};
use crate::settings::NewFilesystem;
use crate::version::Version;

/// Puts into every boot subject which of its options take effect, whether this kernel is known to
/// lack its file system, and which of its options it refuses, ignores, deprecates, has by default,
/// or is undecided about. All of these are unknown where the kernel or the file system is.
pub fn derive(facts: &mut FactSet) {
    for filesystem in NewFilesystem::ALL {
        let Some(maker) = Maker::of(filesystem) else {
            continue;
        };
        facts.put(
            &Subject::host(),
            maker.leave_out,
            left_out(facts, filesystem.word(), maker.version),
        );
    }
    facts.put(&Subject::host(), &kernel::ZFS_SUPPORT, zfs_support(facts));
    let mounts: Vec<Subject> = facts.subjects(Scope::Mount).cloned().collect();
    for mount in mounts {
        let unlisted = unlisted(facts, &mount);
        facts.put(&mount, &mount::UNLISTED_OPTIONS, unlisted);
    }
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let in_effect = facts
            .get(&line, &boot::OPTIONS)
            .map(|options| in_effect(facts, &line, &options));
        facts.put(&line, &boot::IN_EFFECT, in_effect);
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
                all.into_iter()
                    .filter(|(_, is)| is.effect == effect)
                    .map(|(option, _)| option)
                    .collect()
            };
            facts.put(&line, key, judged.clone().map(of_effect));
        }
    }
}

/// The options in force of a mount that the table does not list.
fn unlisted(facts: &FactSet, of: &Subject) -> Reading<Vec<String>> {
    let asked = [
        &mount::FSTYPE.info,
        &mount::OPTIONS.info,
        &mount::SUPER_OPTIONS.info,
    ];
    let asked = asked.map(|info| (of, info.name));
    let options = facts
        .value(of, &mount::OPTIONS)
        .zip(facts.value(of, &mount::SUPER_OPTIONS));
    match facts.value(of, &mount::FSTYPE).zip(options) {
        Some((fstype, (options, more))) => {
            let unlisted = options
                .into_iter()
                .chain(more)
                .filter(|option| !lists(&fstype, option));
            Reading::known(unlisted.collect(), concluded(facts, &asked))
        }
        None => missing(facts, &asked),
    }
}

/// The options of a line without those that a later one revokes, and those that another line makes
/// ineffective.
fn in_effect(facts: &FactSet, line: &Subject, options: &[String]) -> Vec<String> {
    let overruled = facts.value(line, &boot::OVERRULED).unwrap_or_default();
    let mut options = holding(
        &facts.value(line, &boot::FSTYPE).unwrap_or_default(),
        options,
    );
    options.retain(|option| !overruled.contains(option));
    options
}

/// The ruling of this kernel on each option of a line of the next boot. The present mount adds
/// evidence if it has the same type; evidence about this kernel needs both to be observed, not
/// assumed.
pub fn rulings(facts: &FactSet, line: &Subject) -> Reading<Vec<(String, Ruling)>> {
    let known = kernel_and(facts, line, &[boot::FSTYPE.name(), boot::OPTIONS.name()]);
    let Reading::Known {
        value: (fstype, version, vendor),
        source,
    } = known
    else {
        return known.map(|_| Vec::new());
    };
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let mounted = facts.resolve(line, Scope::Mount).filter(|mounted| {
        facts
            .value(mounted, &mount::FSTYPE)
            .is_none_or(|now| now == fstype)
    });
    let in_force = mounted.map(|of| facts.get(&of, &mount::SUPER_OPTIONS));
    let (in_force, of_mount) = match in_force {
        Some(Reading::Known { value, source }) => (value, Some(source)),
        Some(Reading::Unknown { .. }) | None => (Vec::new(), None),
    };
    let host = Subject::host();
    let seen = |key: &'static str| {
        facts
            .named(&host, key)
            .source()
            .is_some_and(Source::is_evidence)
    };
    let here = seen(kernel::VERSION.name()) && seen(kernel::VENDOR.name());
    let asked = if here {
        mount_options_here
    } else {
        mount_options
    };
    let rulings = asked(&fstype, &options, &in_force, &version, &vendor);
    let source = match of_mount {
        Some(mount) if !mount.is_evidence() => assumed(source),
        Some(_) | None => source,
    };
    Reading::known(options.into_iter().zip(rulings).collect(), source)
}

/// The same conclusion, partly from an assumption.
fn assumed(source: Source) -> Source {
    let mut of: Vec<String> = vec![mount::SUPER_OPTIONS.name().to_owned()];
    if let Source::Derived { of: others, .. } = source {
        of.splice(0..0, others);
    }
    Source::Derived { of, assumed: true }
}

/// The type of a line, where this kernel has no such file system.
fn refused_type(facts: &FactSet, line: &Subject) -> Reading<Vec<String>> {
    kernel_and(facts, line, &[boot::FSTYPE.name()]).map(|(fstype, version, vendor)| {
        let refused = file_system(&fstype, &version, &vendor).effect.is_refused();
        if refused { vec![fstype] } else { Vec::new() }
    })
}

/// The file system of a line with the kernel's version and vendor, derived from these and the named
/// facts of the line; unknown where any of them is.
fn kernel_and(
    facts: &FactSet,
    line: &Subject,
    names: &[&'static str],
) -> Reading<(String, Version, String)> {
    let host = Subject::host();
    let of_kernel = [
        (&host, kernel::VERSION.name()),
        (&host, kernel::VENDOR.name()),
    ];
    let asked: Vec<(&Subject, &'static str)> = names
        .iter()
        .map(|name| (line, *name))
        .chain(of_kernel)
        .collect();
    let version = facts.value(&host, &kernel::VERSION);
    let known = facts
        .value(line, &boot::FSTYPE)
        .zip(version)
        .zip(facts.value(&host, &kernel::VENDOR));
    match known.filter(|_| {
        asked
            .iter()
            .all(|(subject, name)| facts.named(subject, name).is_known())
    }) {
        Some(((fstype, version), vendor)) => {
            Reading::known((fstype, version, vendor), concluded(facts, &asked))
        }
        None => missing(facts, &asked),
    }
}

/// Features that mkfs sets by default although the kernel cannot mount them.
fn left_out(facts: &FactSet, fs: &str, tool: &Key<Version>) -> Reading<Vec<String>> {
    let host = Subject::host();
    let asked = [
        (&host, tool.name()),
        (&host, kernel::VERSION.name()),
        (&host, kernel::VENDOR.name()),
    ];
    let version = facts.value(&host, &kernel::VERSION);
    match (
        facts.value(&host, tool),
        version,
        facts.value(&host, &kernel::VENDOR),
    ) {
        (Some(tool), Some(version), Some(vendor)) => Reading::known(
            leave_out(fs, &tool, &version, &vendor),
            concluded(facts, &asked),
        ),
        _ => missing(facts, &asked),
    }
}

/// Whether the loaded OpenZFS supports the kernel.
fn zfs_support(facts: &FactSet) -> Reading<ZfsSupport> {
    let host = Subject::host();
    let classes = facts.known(&mount::CLASS);
    if classes.is_empty() {
        return Reading::unknown(Why::Absent, "no mounts were read");
    }
    let is_used = classes.iter().any(|(_, class)| class.is_zfs())
        || !facts.which(&device::KIND, |kind| kind.is_zvol()).is_empty();
    if !is_used {
        let of = [mount::CLASS.name(), device::KIND.name()];
        return Reading::known(ZfsSupport::NotUsed, Source::derived(of));
    }
    let asked = [
        (&host, kernel::ZFS_VERSION.name()),
        (&host, kernel::VERSION.name()),
    ];
    match facts
        .value(&host, &kernel::ZFS_VERSION)
        .zip(facts.value(&host, &kernel::VERSION))
    {
        Some((module, kernel)) => match zfs_supports(&module, &kernel) {
            Ok(true) => Reading::known(ZfsSupport::Supported, concluded(facts, &asked)),
            Ok(false) => Reading::known(ZfsSupport::TooNew, concluded(facts, &asked)),
            Err(detail) => Reading::unknown(Why::Ambiguous, detail).or_try(Remedy::Do(
                "look at Supported Platforms in the release notes of OpenZFS".to_owned(),
            )),
        },
        None => missing(facts, &asked),
    }
}

/// The reading of an impossible conclusion: the first of these facts that is unknown.
fn missing<T>(facts: &FactSet, asked: &[(&Subject, &'static str)]) -> Reading<T> {
    let unknown = asked
        .iter()
        .find_map(|(subject, name)| match facts.named(subject, name) {
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => Some((*name, *why, detail, remedy.clone())),
            Reading::Known { .. } => None,
        });
    match unknown {
        Some((name, why, detail, remedy)) => Reading::Unknown {
            why,
            detail: format!("{name} is not known: {detail}"),
            remedy,
        },
        None => Reading::unknown(Why::Malformed, "the options or the kernel's version"),
    }
}

/// The source of a conclusion from these facts, and whether one of them is assumed.
fn concluded(facts: &FactSet, asked: &[(&Subject, &'static str)]) -> Source {
    let assumed = asked
        .iter()
        .filter_map(|(subject, name)| facts.named(subject, name).source())
        .any(|source| !source.is_evidence());
    Source::Derived {
        of: asked.iter().map(|(_, name)| (*name).to_owned()).collect(),
        assumed,
    }
}
