//! Derives facts from the tables, such as the mount options of the next boot that this kernel
//! refuses.

use super::kernel_support::{
    KernelPart, is_journal_ignored, is_option_listed, kernel_part_support, mount_options_support,
    options_not_overridden_later, refusal_without_journal, running_kernel_options_support,
};
use super::mkfs::mkfs_omit_arguments;
use super::zfs::openzfs_supports_kernel;
use super::{Effect, MkfsToolKeys, Support};
use crate::facts::catalog::kernel::{self, ZfsSupport};
use crate::facts::catalog::{boot, device, mount};
use crate::facts::{Choice, FactSet, Key, Reading, Remedy, Scope, Source, Subject};
use crate::settings::NewFilesystem;
use crate::version::Version;

/// Inserts the facts that follow from `rules/tables`: features that mkfs must omit, kernel support
/// of ZFS, and the effect of each boot line's options. The effect is unknown without the kernel
/// version or the line's file system type.
pub fn derive_compat_facts(facts: &mut FactSet) {
    for &filesystem in NewFilesystem::ALL {
        let Some(maker) = MkfsToolKeys::for_filesystem(filesystem) else {
            continue;
        };
        facts.insert(
            &Subject::host(),
            maker.leave_out,
            default_features_to_omit(facts, filesystem.as_str(), maker.version),
        );
    }
    facts.insert(
        &Subject::host(),
        &kernel::ZFS_SUPPORT,
        openzfs_kernel_support(facts),
    );
    let mounts: Vec<Subject> = facts.subjects_of_scope(Scope::Mount).cloned().collect();
    for mount in mounts {
        let unlisted = mount_options_missing_in_table(facts, &mount);
        facts.insert(&mount, &mount::UNLISTED_OPTIONS, unlisted);
    }
    let lines: Vec<Subject> = facts.subjects_of_scope(Scope::Boot).cloned().collect();
    for line in lines {
        let in_effect = facts
            .get(&line, &boot::OPTIONS)
            .map(|options| boot_options_in_effect(facts, &line, &options));
        facts.insert(&line, &boot::IN_EFFECT, in_effect);
        let refused = unsupported_type_of_boot_line(facts, &line);
        facts.insert(&line, &boot::REFUSED_TYPE, refused);
        let judged = boot_options_support(facts, &line);
        for (key, effect) in [
            (&boot::REFUSED, Effect::Refused),
            (&boot::NO_EFFECT, Effect::NoEffect),
            (&boot::DEPRECATED, Effect::Deprecated),
            (&boot::DEFAULT_ANYWAY, Effect::DefaultAnyway),
            (&boot::UNDECIDED, Effect::Unknown),
        ] {
            let of_effect = |all: Vec<(String, Support)>| {
                all.into_iter()
                    .filter(|(_, is)| is.effect == effect)
                    .map(|(option, _)| option)
                    .collect()
            };
            facts.insert(&line, key, judged.clone().map(of_effect));
        }
    }
}

fn mount_options_missing_in_table(facts: &FactSet, of: &Subject) -> Reading<Vec<String>> {
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
                .filter(|option| !is_option_listed(&fstype, option));
            Reading::known(unlisted.collect(), derived_source(facts, &asked))
        }
        None => unknown_reading_of_first_unknown(facts, &asked),
    }
}

/// Options of a boot line that neither a later option of the line nor another boot line overrides.
fn boot_options_in_effect(facts: &FactSet, line: &Subject, options: &[String]) -> Vec<String> {
    let overruled = facts.value(line, &boot::OVERRULED).unwrap_or_default();
    let mut options = options_not_overridden_later(
        &facts.value(line, &boot::FSTYPE).unwrap_or_default(),
        options,
    );
    options.retain(|option| !overruled.contains(option));
    options
}

/// An option in force on the current mount counts as accepted, unless that mount has another type
/// or the kernel is assumed.
pub fn boot_options_support(facts: &FactSet, line: &Subject) -> Reading<Vec<(String, Support)>> {
    let known = fstype_kernel_and_vendor(facts, line, &[boot::FSTYPE.name(), boot::OPTIONS.name()]);
    let Reading::Known {
        value: (fstype, version, vendor),
        source,
    } = known
    else {
        return known.into_unknown_reading();
    };
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let mounted = facts
        .applicable_subject(line, Scope::Mount)
        .filter(|mounted| {
            facts
                .value(mounted, &mount::FSTYPE)
                .is_none_or(|now| now == fstype)
        });
    let lacks_journal = mounted.as_ref().is_some_and(|of| lacks_journal(facts, of));
    let in_force = mounted.map(|of| facts.get(&of, &mount::SUPER_OPTIONS));
    let (in_force, of_mount) = match in_force {
        Some(Reading::Known { value, source }) => (value, Some(source)),
        Some(Reading::Unknown { .. }) | None => (Vec::new(), None),
    };
    let asked = if is_kernel_observed(facts) {
        running_kernel_options_support
    } else {
        mount_options_support
    };
    let mut rulings = asked(&fstype, &options, &in_force, &version, &vendor);
    if lacks_journal {
        let in_effect = options_not_overridden_later(&fstype, &options);
        for (option, ruling) in options.iter().zip(&mut rulings) {
            if in_effect.contains(option)
                && let Some(refused) = refusal_without_journal(option, &version, &vendor)
            {
                *ruling = refused;
            }
        }
    }
    let source = match of_mount {
        Some(mount) if !mount.is_evidence() => source_assuming_mount_options(source),
        Some(_) | None => source,
    };
    Reading::known(options.into_iter().zip(rulings).collect(), source)
}

/// Whether the superblock of a mounted ext4 has no journal. A mount with `noload` only ignores it.
fn lacks_journal(facts: &FactSet, mounted: &Subject) -> bool {
    let is_ext4 = facts.value(mounted, &mount::FSTYPE).as_deref() == Some("ext4");
    let ignores_journal = facts
        .value(mounted, &mount::SUPER_OPTIONS)
        .is_none_or(|options| is_journal_ignored(&options));
    is_ext4 && !ignores_journal && facts.value(mounted, &mount::EXT4_JOURNAL) == Some(false)
}

fn source_assuming_mount_options(source: Source) -> Source {
    let mut of: Vec<String> = vec![mount::SUPER_OPTIONS.name().to_owned()];
    if let Source::Derived { of: others, .. } = source {
        of.splice(0..0, others);
    }
    Source::Derived { of, assumed: true }
}

/// Whether the facts describe the kernel that runs here; false if the user assumed its version or
/// vendor.
fn is_kernel_observed(facts: &FactSet) -> bool {
    [kernel::VERSION.name(), kernel::VENDOR.name()]
        .iter()
        .all(|key| {
            facts
                .reading_by_name(&Subject::host(), key)
                .source()
                .is_some_and(Source::is_evidence)
        })
}

/// The file system type of a boot line, if this kernel does not support the type; otherwise empty.
/// A type that the running kernel has mounted is never refused, because a third party may provide
/// the driver.
fn unsupported_type_of_boot_line(facts: &FactSet, line: &Subject) -> Reading<Vec<String>> {
    fstype_kernel_and_vendor(facts, line, &[boot::FSTYPE.name()]).map(
        |(fstype, version, vendor)| {
            let is_mounted = !facts
                .subjects_where(&mount::FSTYPE, |mounted| *mounted == fstype)
                .is_empty();
            let refused = !(is_mounted && is_kernel_observed(facts))
                && kernel_part_support(KernelPart::FileSystem, &fstype, &version, &vendor, false)
                    .effect
                    .is_refused();
            if refused { vec![fstype] } else { Vec::new() }
        },
    )
}

fn fstype_kernel_and_vendor(
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
            .all(|(subject, name)| facts.reading_by_name(subject, name).is_known())
    }) {
        Some(((fstype, version), vendor)) => {
            Reading::known((fstype, version, vendor), derived_source(facts, &asked))
        }
        None => unknown_reading_of_first_unknown(facts, &asked),
    }
}

fn default_features_to_omit(
    facts: &FactSet,
    fs: &str,
    tool: &Key<Version>,
) -> Reading<Vec<String>> {
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
            mkfs_omit_arguments(fs, &tool, &version, &vendor),
            derived_source(facts, &asked),
        ),
        _ => unknown_reading_of_first_unknown(facts, &asked),
    }
}

fn openzfs_kernel_support(facts: &FactSet) -> Reading<ZfsSupport> {
    let host = Subject::host();
    let classes = facts.known_values_by_subject(&mount::CLASS);
    if classes.is_empty() {
        return Reading::absent("the mounts were not read");
    }
    let is_used = classes.iter().any(|(_, class)| class.is_zfs())
        || !facts
            .subjects_where(&device::KIND, |kind| kind.is_zvol())
            .is_empty();
    if !is_used {
        let of = [mount::CLASS.name(), device::KIND.name()];
        return Reading::known(ZfsSupport::NotUsed, Source::derived_from(of));
    }
    let asked = [
        (&host, kernel::ZFS_VERSION.name()),
        (&host, kernel::VERSION.name()),
    ];
    match facts
        .value(&host, &kernel::ZFS_VERSION)
        .zip(facts.value(&host, &kernel::VERSION))
    {
        Some((module, kernel)) => match openzfs_supports_kernel(&module, &kernel) {
            Ok(true) => Reading::known(ZfsSupport::Supported, derived_source(facts, &asked)),
            Ok(false) => Reading::known(ZfsSupport::TooNew, derived_source(facts, &asked)),
            Err(detail) => Reading::ambiguous(detail).with_remedy(Remedy::Do(
                "see “Supported Platforms” in the release notes of OpenZFS".to_owned(),
            )),
        },
        None => unknown_reading_of_first_unknown(facts, &asked),
    }
}

fn unknown_reading_of_first_unknown<T>(
    facts: &FactSet,
    asked: &[(&Subject, &'static str)],
) -> Reading<T> {
    let unknown =
        asked.iter().find_map(
            |(subject, name)| match facts.reading_by_name(subject, name) {
                Reading::Unknown {
                    why,
                    detail,
                    remedy,
                } => Some((*name, *why, detail, remedy.clone())),
                Reading::Known { .. } => None,
            },
        );
    match unknown {
        Some((name, why, detail, remedy)) => Reading::Unknown {
            why,
            detail: format!("{name} is unknown: {detail}"),
            remedy,
        },
        None => Reading::malformed("the options or the kernel's version could not be parsed"),
    }
}

fn derived_source(facts: &FactSet, asked: &[(&Subject, &'static str)]) -> Source {
    let assumed = asked
        .iter()
        .filter_map(|(subject, name)| facts.reading_by_name(subject, name).source())
        .any(|source| !source.is_evidence());
    Source::Derived {
        of: asked.iter().map(|(_, name)| (*name).to_owned()).collect(),
        assumed,
    }
}
