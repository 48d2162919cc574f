//! The final check of advice: every value in it must be accepted by the kernel, tool or server it
//! is for. A value that is not known to be accepted is held back like a refused one.
//!
//! It checks values that advice would set, not those it removes. An ignored or deprecated value is
//! held back too.

use super::maker::Maker;
use super::mount::{mount_options, new_file_system, scheduler};
use super::server::{always, mysql_setting, postgres_value};
use super::{Effect, Ruling, mkfs_defaults, mkfs_feature};
use crate::facts::catalog::{boot, cluster, kernel, mount, mysql, postgres};
use crate::facts::{FactSet, Key, Scope, Subject};
use crate::settings::{NewFilesystem, Setting, SettingKind};
use crate::version::Version;

/// Whether advice to set or add these values may be shown for a subject. The error is a sentence
/// that names the refusing component, or the unknown point. Settings outside the control of kernel,
/// tool and server pass.
pub fn guard(
    setting: &Setting,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    guard_with(setting, values, &Beside::default(), facts, subject)
}

/// Other advice of the same finding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// The file system to make.
    pub filesystem: Option<&'a str>,
    /// Features to make it with, and to leave out.
    pub features: &'a [String],
}

/// The same, given other advice beside it: a file system that is created without a feature can be
/// mounted where one with it cannot.
pub fn guard_with(
    setting: &Setting,
    values: &[&str],
    beside: &Beside<'_>,
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
            options(values, beside.filesystem, facts, subject)
        }
        SettingKind::Filesystem => all(&|fs| filesystem(fs, beside.features, facts)),
        SettingKind::MkfsFeatures => all(&|word| made_with(word, beside.filesystem, facts)),
        SettingKind::FastCommit => all(&|value| match value {
            "on" => feature("ext4", "fast_commit", facts),
            "off" => Ok(()),
            other => Err(format!("Fast commit is on or off, and never {other}.")),
        }),
        SettingKind::Scheduler => {
            let (version, vendor) = kernel_of(facts)?;
            all(&|name| {
                accepted(
                    &format!("scheduler {name}"),
                    &scheduler(name, &version, &vendor),
                )
            })
        }
        SettingKind::Postgres | SettingKind::InitDb => {
            server(setting.own_name(), values, facts, subject)
        }
        SettingKind::Mysql => mysql_server(setting.own_name(), values, facts, subject),
        SettingKind::MkfsOptions
        | SettingKind::DirectoryFlags
        | SettingKind::Trim
        | SettingKind::Queue
        | SettingKind::Placement
        | SettingKind::Other => Ok(()),
    }
}

/// The ruling as the result of the check.
fn accepted(what: &str, ruling: &Ruling) -> Result<(), String> {
    let because = &ruling.because;
    match ruling.effect {
        Effect::Ok | Effect::DefaultAnyway => Ok(()),
        Effect::NoEffect => Err(format!("{what} has no effect here. {because}")),
        Effect::Deprecated => Err(format!("{what} is on its way out. {because}")),
        Effect::Refused => Err(format!("{what} is refused here. {because}")),
        Effect::Unknown => Err(format!(
            "Whether {what} is accepted here is not known. {because}"
        )),
    }
}

fn kernel_of(facts: &FactSet) -> Result<(Version, String), String> {
    let version = facts.value(&Subject::host(), &kernel::VERSION);
    let vendor = facts.value(&Subject::host(), &kernel::VENDOR);
    version
        .zip(vendor)
        .ok_or_else(|| "The kernel's version and vendor are not known.".to_owned())
}

/// Checks options of the existing file system, or of the one to be created.
fn options(
    values: &[&str],
    made: Option<&str>,
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let (version, vendor) = kernel_of(facts)?;
    let of = |scope, key: &Key<String>| {
        facts
            .resolve(subject, scope)
            .and_then(|at| facts.value(&at, key))
    };
    let there = of(Scope::Boot, &boot::FSTYPE).or_else(|| of(Scope::Mount, &mount::FSTYPE));
    let mounted = facts.resolve(subject, Scope::Mount);
    let in_force = mounted
        .and_then(|at| facts.value(&at, &mount::SUPER_OPTIONS))
        .unwrap_or_default();
    let words: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
    // Without a file system only the common options of all file systems are known.
    let fs = there.unwrap_or_else(|| made.unwrap_or("a new file system").to_owned());
    let rulings = mount_options(&fs, &words, &in_force, &version, &vendor);
    words
        .iter()
        .zip(&rulings)
        .try_for_each(|(option, ruling)| accepted(&format!("{option} ({fs})"), ruling))
}

/// Checks a feature to create a file system with, or a word that omits one, which every kernel can
/// mount.
fn made_with(word: &str, fs: Option<&str>, facts: &FactSet) -> Result<(), String> {
    let asked = word.strip_suffix("=1").unwrap_or(word);
    match fs {
        _ if word.starts_with('^') || word.ends_with("=0") => Ok(()),
        Some(fs) => feature(fs, asked, facts),
        None => Err(format!(
            "It is unknown for which file system {word} is meant."
        )),
    }
}

/// Checks the type of a file system to be created with these features. A type that the table leaves
/// open is accepted where the kernel has it loaded.
pub(super) fn filesystem(fs: &str, features: &[String], facts: &FactSet) -> Result<(), String> {
    let (version, vendor) = kernel_of(facts)?;
    let ruling = new_file_system(fs, &version, &vendor);
    let loaded = facts.value(&Subject::host(), &kernel::FILESYSTEMS);
    match loaded.filter(|_| ruling.effect.is_unknown()) {
        Some(loaded) if loaded.iter().any(|name| name == fs) => {}
        Some(_) => {
            accepted(fs, &ruling).map_err(|why| {
                format!("{why} /proc/filesystems does not list it: where it is a module, `modprobe {fs}` shows it.")
            })?;
        }
        None => accepted(fs, &ruling)?,
    }
    match tool(fs, facts) {
        Some(tool) => accepted(
            &format!("a new {fs}"),
            &mkfs_defaults(fs, &tool, &version, &vendor, features),
        ),
        None => Ok(()),
    }
}

/// The version of the tool that makes a file system.
fn tool(fs: &str, facts: &FactSet) -> Option<Version> {
    let maker = Maker::of(NewFilesystem::from_word(fs)?)?;
    facts.value(&Subject::host(), maker.version)
}

fn feature(fs: &str, name: &str, facts: &FactSet) -> Result<(), String> {
    let kernel = kernel_of(facts).ok();
    let kernel = kernel
        .as_ref()
        .map(|(version, vendor)| (version, vendor.as_str()));
    let ruling = mkfs_feature(fs, name, tool(fs, facts).as_ref(), kernel);
    accepted(&format!("the {fs} feature {name}"), &ruling)
}

fn server(name: &str, values: &[&str], facts: &FactSet, subject: &Subject) -> Result<(), String> {
    let cluster = facts.resolve(subject, Scope::Cluster);
    let version = cluster
        .as_ref()
        .and_then(|of| facts.value(of, &postgres::VERSION));
    let compressions = cluster
        .and_then(|of| facts.value(&of, &postgres::WAL_COMPRESSIONS))
        .unwrap_or_default();
    // What hangs on how the server was built, the running server lists.
    let is_listed =
        |value: &str| name == "wal_compression" && compressions.iter().any(|one| one == value);
    values.iter().try_for_each(|value| match &version {
        Some(_) if is_listed(value) => Ok(()),
        Some(version) => accepted(
            &format!("{name} = {value}"),
            &postgres_value(name, value, version),
        ),
        None if always(name, value) => Ok(()),
        None => Err(format!(
            "It is unknown whether the server takes {name} = {value}: its version is not."
        )),
    })
}

fn mysql_server(
    name: &str,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let of = facts.resolve(subject, Scope::Cluster);
    let line = of.as_ref().and_then(|of| facts.value(of, &cluster::KIND));
    let version = of.and_then(|of| facts.value(&of, &mysql::VERSION));
    let (Some(line), Some(version)) = (line, version) else {
        return Err(format!(
            "It is unknown whether the server knows {name}: its version is not."
        ));
    };
    let judge = |value: &&str| {
        accepted(
            &format!("{name} = {value}"),
            &mysql_setting(name, value, line, &version),
        )
    };
    values.iter().try_for_each(judge)
}
