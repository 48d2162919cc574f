//! The final check of advice: the kernel, tool or server must accept and honour every value that
//! would be set. Unknown, ignored and deprecated values are rejected like refused ones.

use super::kernel_support::{
    KernelPart, kernel_part_support, mount_options_support, new_file_system_support,
};
use super::server::{
    every_postgres_accepts, mysql_assignment_support, postgres_assignment_support,
};
use super::{Effect, MkfsToolKeys, Support, mkfs_defaults_support, mkfs_feature_support};
use crate::facts::catalog::{boot, cluster, kernel, mount, mysql, postgres};
use crate::facts::{Choice, FactSet, Key, Scope, Subject};
use crate::settings::{NewFilesystem, Setting, SettingKind};
use crate::version::Version;

#[cfg(any(test, feature = "testing"))]
pub fn check_advice(
    setting: &Setting,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    check_advice_with_related(setting, values, &RelatedAdvice::default(), facts, subject)
}

/// The parts of a finding's other advice that can make a value acceptable.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelatedAdvice<'a> {
    pub filesystem: Option<&'a str>,
    /// Features to set or omit, as mkfs words: `fast_commit`, `^orphan_file`.
    pub features: &'a [String],
}

/// Whether advice to set or add these values may be shown, next to other advice of the same
/// finding. The error is a sentence that names the obstacle or the unknown fact.
pub fn check_advice_with_related(
    setting: &Setting,
    values: &[&str],
    beside: &RelatedAdvice<'_>,
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    if values.is_empty() {
        return Ok(());
    }
    let all = |judge: &dyn Fn(&str) -> Result<(), String>| {
        values.iter().try_for_each(|value| judge(value))
    };
    match setting.kind {
        SettingKind::MountOptions | SettingKind::BootOptions => {
            check_mount_options(values, beside.filesystem, facts, subject)
        }
        SettingKind::Filesystem => {
            all(&|fs| check_new_file_system_mountable(fs, beside.features, facts))
        }
        SettingKind::MkfsFeatures => {
            all(&|word| check_mkfs_feature_argument_mountable(word, beside.filesystem, facts))
        }
        SettingKind::FastCommit => all(&|value| match value {
            "on" => check_mkfs_feature("ext4", "fast_commit", facts),
            "off" => Ok(()),
            other => Err(format!("fast_commit must be on or off, not {other}.")),
        }),
        SettingKind::Scheduler => {
            let (version, vendor) = kernel_version_and_vendor(facts)?;
            all(&|name| {
                require_effective_support(
                    &format!("scheduler {name}"),
                    &kernel_part_support(KernelPart::Scheduler, name, &version, &vendor, false),
                )
            })
        }
        SettingKind::Postgres | SettingKind::InitDb => {
            check_postgres_setting(setting.name_without_area(), values, facts, subject)
        }
        SettingKind::Mysql => {
            check_mysql_setting(setting.name_without_area(), values, facts, subject)
        }
        SettingKind::MkfsOptions
        | SettingKind::DirectoryFlags
        | SettingKind::Trim
        | SettingKind::Queue
        | SettingKind::Placement
        | SettingKind::Other => Ok(()),
    }
}

fn require_effective_support(what: &str, ruling: &Support) -> Result<(), String> {
    let because = &ruling.because;
    match ruling.effect {
        Effect::Ok | Effect::DefaultAnyway => Ok(()),
        Effect::NoEffect => Err(format!(
            "{what} would have no effect on this host. {because}"
        )),
        Effect::Deprecated => Err(format!("{what} is deprecated on this host. {because}")),
        Effect::Refused => Err(format!("{what} would be refused on this host. {because}")),
        Effect::Unknown => Err(format!("{what} may be refused on this host. {because}")),
    }
}

fn kernel_version_and_vendor(facts: &FactSet) -> Result<(Version, String), String> {
    let version = facts.host_value(&kernel::VERSION);
    let vendor = facts.host_value(&kernel::VENDOR);
    version
        .zip(vendor)
        .ok_or_else(|| "The kernel's version or vendor is unknown.".to_owned())
}

fn check_mount_options(
    values: &[&str],
    made: Option<&str>,
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let (version, vendor) = kernel_version_and_vendor(facts)?;
    let of = |scope, key: &Key<String>| {
        facts
            .applicable_subject(subject, scope)
            .and_then(|at| facts.value(&at, key))
    };
    let there = of(Scope::Boot, &boot::FSTYPE).or_else(|| of(Scope::Mount, &mount::FSTYPE));
    let mounted = facts.applicable_subject(subject, Scope::Mount);
    let in_force = mounted
        .and_then(|at| facts.value(&at, &mount::SUPER_OPTIONS))
        .unwrap_or_default();
    let words: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
    // `a new file system` stands for an unknown type, so that only the options common to all file
    // systems are accepted.
    let fs = there.unwrap_or_else(|| made.unwrap_or("a new file system").to_owned());
    let rulings = mount_options_support(&fs, &words, &in_force, &version, &vendor);
    words.iter().zip(&rulings).try_for_each(|(option, ruling)| {
        require_effective_support(&format!("{option} ({fs})"), ruling)
    })
}

/// A word that omits a feature is always accepted, because any kernel mounts a file system without
/// the feature.
fn check_mkfs_feature_argument_mountable(
    word: &str,
    fs: Option<&str>,
    facts: &FactSet,
) -> Result<(), String> {
    let asked = word.strip_suffix("=1").unwrap_or(word);
    match fs {
        _ if word.starts_with('^') || word.ends_with("=0") => Ok(()),
        Some(fs) => check_mkfs_feature(fs, asked, facts),
        None => Err(format!("It is unknown which file system {word} is for.")),
    }
}

/// Checks that the running kernel can mount a new file system of this type. The table of kernels
/// decides first, then /proc/filesystems. The error is a sentence.
pub(super) fn check_new_file_system_mountable(
    fs: &str,
    features: &[String],
    facts: &FactSet,
) -> Result<(), String> {
    let (version, vendor) = kernel_version_and_vendor(facts)?;
    let ruling = new_file_system_support(fs, &version, &vendor);
    let loaded = facts.host_value(&kernel::FILESYSTEMS);
    match loaded.filter(|_| ruling.effect.is_unknown()) {
        Some(loaded) if loaded.iter().any(|name| name == fs) => {}
        Some(_) => {
            require_effective_support(fs, &ruling).map_err(|why| {
                format!("{why} /proc/filesystems does not list {fs}; try `modprobe {fs}`.")
            })?;
        }
        None => require_effective_support(fs, &ruling)?,
    }
    match mkfs_version(fs, facts) {
        Some(tool) => require_effective_support(
            &format!("a new {fs} file system"),
            &mkfs_defaults_support(fs, &tool, &version, &vendor, features),
        ),
        None => Ok(()),
    }
}

fn mkfs_version(fs: &str, facts: &FactSet) -> Option<Version> {
    let maker = MkfsToolKeys::for_filesystem(NewFilesystem::from_word(fs)?)?;
    facts.host_value(maker.version)
}

fn check_mkfs_feature(fs: &str, name: &str, facts: &FactSet) -> Result<(), String> {
    let kernel = kernel_version_and_vendor(facts).ok();
    let kernel = kernel
        .as_ref()
        .map(|(version, vendor)| (version, vendor.as_str()));
    let ruling = mkfs_feature_support(fs, name, mkfs_version(fs, facts).as_ref(), kernel);
    require_effective_support(&format!("the {fs} feature {name}"), &ruling)
}

fn check_postgres_setting(
    name: &str,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let cluster = facts.applicable_subject(subject, Scope::Cluster);
    let version = cluster
        .as_ref()
        .and_then(|of| facts.value(of, &postgres::VERSION));
    let compressions = cluster
        .and_then(|of| facts.value(&of, &postgres::WAL_COMPRESSIONS))
        .unwrap_or_default();
    // The running server lists the compression methods of its build. A listed method is accepted,
    // whatever the table of settings says.
    let is_listed =
        |value: &str| name == "wal_compression" && compressions.iter().any(|one| one == value);
    values.iter().try_for_each(|value| match &version {
        Some(_) if is_listed(value) => Ok(()),
        Some(version) => require_effective_support(
            &format!("{name} = {value}"),
            &postgres_assignment_support(name, value, version),
        ),
        None if every_postgres_accepts(name, value) => Ok(()),
        None => Err(format!(
            "The server's version is unknown; the server may not accept {name} = {value}."
        )),
    })
}

fn check_mysql_setting(
    name: &str,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let of = facts.applicable_subject(subject, Scope::Cluster);
    let line = of.as_ref().and_then(|of| facts.value(of, &cluster::KIND));
    let version = of.and_then(|of| facts.value(&of, &mysql::VERSION));
    let (Some(line), Some(version)) = (line, version) else {
        return Err(format!(
            "The server's version is unknown; the server may not support {name}."
        ));
    };
    let judge = |value: &&str| {
        require_effective_support(
            &format!("{name} = {value}"),
            &mysql_assignment_support(name, value, line, &version),
        )
    };
    values.iter().try_for_each(judge)
}
