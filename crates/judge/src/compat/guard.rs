//! The final check of advice: the kernel, tool or server must accept and honour every value that
//! would be set. Unknown, ignored and deprecated values are rejected like refused ones.

use super::mkfs_tool::MkfsTool;
use super::mount::{mount_options, new_file_system_support, scheduler_support};
use super::server::{is_always_accepted, mysql_setting, postgres_value};
use super::{Effect, Support, mkfs_defaults, mkfs_feature};
use crate::facts::catalog::{boot, cluster, kernel, mount, mysql, postgres};
use crate::facts::{FactSet, Key, Scope, Subject};
use crate::settings::{NewFilesystem, Setting, SettingKind};
use crate::version::Version;

/// Whether advice to set or add these values may be shown. The error is a sentence that names what
/// refuses them, or what is unknown.
#[cfg(any(test, feature = "testing"))]
pub fn check_advice(
    setting: &Setting,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    check_advice_with(setting, values, &RelatedAdvice::default(), facts, subject)
}

/// Other advice of the same finding.
#[derive(Clone, Copy, Debug, Default)]
pub struct RelatedAdvice<'a> {
    /// The file system to create.
    pub filesystem: Option<&'a str>,
    /// Features to create it with, and to leave out.
    pub features: &'a [String],
}

/// With other advice of the finding: without a feature a new file system may be mountable where one
/// with it is not.
pub fn check_advice_with(
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
            check_options(values, beside.filesystem, facts, subject)
        }
        SettingKind::Filesystem => all(&|fs| check_filesystem(fs, beside.features, facts)),
        SettingKind::MkfsFeatures => all(&|word| check_mkfs_word(word, beside.filesystem, facts)),
        SettingKind::FastCommit => all(&|value| match value {
            "on" => check_feature("ext4", "fast_commit", facts),
            "off" => Ok(()),
            other => Err(format!("fast_commit is on or off, never {other}.")),
        }),
        SettingKind::Scheduler => {
            let (version, vendor) = kernel_release(facts)?;
            all(&|name| {
                require_accepted(
                    &format!("scheduler {name}"),
                    &scheduler_support(name, &version, &vendor),
                )
            })
        }
        SettingKind::Postgres | SettingKind::InitDb => {
            check_postgres(setting.own_name(), values, facts, subject)
        }
        SettingKind::Mysql => check_mysql(setting.own_name(), values, facts, subject),
        SettingKind::MkfsOptions
        | SettingKind::DirectoryFlags
        | SettingKind::Trim
        | SettingKind::Queue
        | SettingKind::Placement
        | SettingKind::Other => Ok(()),
    }
}

fn require_accepted(what: &str, ruling: &Support) -> Result<(), String> {
    let because = &ruling.because;
    match ruling.effect {
        Effect::Ok | Effect::DefaultAnyway => Ok(()),
        Effect::NoEffect => Err(format!("{what} has no effect here. {because}")),
        Effect::Deprecated => Err(format!("{what} is deprecated here. {because}")),
        Effect::Refused => Err(format!("{what} is refused here. {because}")),
        Effect::Unknown => Err(format!("{what} may be refused here. {because}")),
    }
}

fn kernel_release(facts: &FactSet) -> Result<(Version, String), String> {
    let version = facts.value(&Subject::host(), &kernel::VERSION);
    let vendor = facts.value(&Subject::host(), &kernel::VENDOR);
    version
        .zip(vendor)
        .ok_or_else(|| "The kernel's version and vendor are not known.".to_owned())
}

/// Options of the existing file system, or of the one to be created.
fn check_options(
    values: &[&str],
    made: Option<&str>,
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let (version, vendor) = kernel_release(facts)?;
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
    // Without a file system only options common to all are known.
    let fs = there.unwrap_or_else(|| made.unwrap_or("a new file system").to_owned());
    let rulings = mount_options(&fs, &words, &in_force, &version, &vendor);
    words
        .iter()
        .zip(&rulings)
        .try_for_each(|(option, ruling)| require_accepted(&format!("{option} ({fs})"), ruling))
}

/// A feature to create a file system with, or a word that omits one, which every kernel can mount.
fn check_mkfs_word(word: &str, fs: Option<&str>, facts: &FactSet) -> Result<(), String> {
    let asked = word.strip_suffix("=1").unwrap_or(word);
    match fs {
        _ if word.starts_with('^') || word.ends_with("=0") => Ok(()),
        Some(fs) => check_feature(fs, asked, facts),
        None => Err(format!(
            "It is unknown for which file system {word} is meant."
        )),
    }
}

/// The type of a new file system with these features. An unknown type is accepted if the kernel has
/// it loaded.
pub(super) fn check_filesystem(
    fs: &str,
    features: &[String],
    facts: &FactSet,
) -> Result<(), String> {
    let (version, vendor) = kernel_release(facts)?;
    let ruling = new_file_system_support(fs, &version, &vendor);
    let loaded = facts.value(&Subject::host(), &kernel::FILESYSTEMS);
    match loaded.filter(|_| ruling.effect.is_unknown()) {
        Some(loaded) if loaded.iter().any(|name| name == fs) => {}
        Some(_) => {
            require_accepted(fs, &ruling).map_err(|why| {
                format!("{why} /proc/filesystems does not list it; try `modprobe {fs}`.")
            })?;
        }
        None => require_accepted(fs, &ruling)?,
    }
    match mkfs_version(fs, facts) {
        Some(tool) => require_accepted(
            &format!("a new {fs}"),
            &mkfs_defaults(fs, &tool, &version, &vendor, features),
        ),
        None => Ok(()),
    }
}

/// The version of the tool that creates a file system.
fn mkfs_version(fs: &str, facts: &FactSet) -> Option<Version> {
    let maker = MkfsTool::for_filesystem(NewFilesystem::from_word(fs)?)?;
    facts.value(&Subject::host(), maker.version)
}

fn check_feature(fs: &str, name: &str, facts: &FactSet) -> Result<(), String> {
    let kernel = kernel_release(facts).ok();
    let kernel = kernel
        .as_ref()
        .map(|(version, vendor)| (version, vendor.as_str()));
    let ruling = mkfs_feature(fs, name, mkfs_version(fs, facts).as_ref(), kernel);
    require_accepted(&format!("the {fs} feature {name}"), &ruling)
}

fn check_postgres(
    name: &str,
    values: &[&str],
    facts: &FactSet,
    subject: &Subject,
) -> Result<(), String> {
    let cluster = facts.resolve(subject, Scope::Cluster);
    let version = cluster
        .as_ref()
        .and_then(|of| facts.value(of, &postgres::VERSION));
    let compressions = cluster
        .and_then(|of| facts.value(&of, &postgres::WAL_COMPRESSIONS))
        .unwrap_or_default();
    // Values that depend on build options are listed by the running server.
    let is_listed =
        |value: &str| name == "wal_compression" && compressions.iter().any(|one| one == value);
    values.iter().try_for_each(|value| match &version {
        Some(_) if is_listed(value) => Ok(()),
        Some(version) => require_accepted(
            &format!("{name} = {value}"),
            &postgres_value(name, value, version),
        ),
        None if is_always_accepted(name, value) => Ok(()),
        None => Err(format!(
            "It is unknown whether the server takes {name} = {value}: its version is unknown."
        )),
    })
}

fn check_mysql(
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
            "It is unknown whether the server knows {name}: its version is unknown."
        ));
    };
    let judge = |value: &&str| {
        require_accepted(
            &format!("{name} = {value}"),
            &mysql_setting(name, value, line, &version),
        )
    };
    values.iter().try_for_each(judge)
}
