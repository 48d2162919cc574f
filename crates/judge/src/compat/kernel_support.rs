//! Kernel support for mount options, file system types, block drivers and I/O schedulers.
//!
//! Support for an option depends on the other options of the line and on options in force, so whole
//! lists are checked. ext4, XFS and btrfs refuse each other's options; any other unlisted option is
//! unknown.

use super::kernel_builder::{KernelBuilder, builder_for_vendor};
use super::support_range::may_contain_backports;
use super::table::{OptionEntry, RemountInverse, option_key, option_table};
use super::value_syntax::ValueError;
use super::{Effect, Support};
use crate::text::suggest::did_you_mean;
use crate::version::Version;

/// File systems whose options the table covers.
const FAMILIES: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Support for an option that is alone on its line; `vendor` is the value of the fact
/// `kernel.vendor`.
pub fn mount_option_support(fs: &str, option: &str, kernel: &Version, vendor: &str) -> Support {
    let beside = [option.to_owned()];
    OptionQuery {
        fs,
        in_force: &[],
        is_this_kernel: false,
        kernel,
        vendor,
    }
    .support_of_option(option, &beside, &beside)
}

/// The options without those that another option of the line revokes, usually a later one.
pub fn options_in_effect(fs: &str, options: &[String]) -> Vec<String> {
    let of = if fs == "ext3" { "ext4" } else { fs };
    option_table().options_in_effect(of, options)
}

/// How a remount reverts the option; `None` if only an unmount does.
pub fn remount_inverse(fs: &str, option: &str) -> Option<&'static RemountInverse> {
    option_table().find_remount_inverse(fs, option)
}

/// Support of each option in the presence of the others. `in_force` is empty if the file system is
/// not mounted.
pub fn mount_options_support(
    fs: &str,
    options: &[String],
    in_force: &[String],
    kernel: &Version,
    vendor: &str,
) -> Vec<Support> {
    OptionQuery {
        fs,
        in_force,
        is_this_kernel: false,
        kernel,
        vendor,
    }
    .support_of_all(options)
}

/// Like [`mount_options_support`], for the running kernel, which evidently accepts the options in
/// force.
pub fn mount_options_support_here(
    fs: &str,
    options: &[String],
    in_force: &[String],
    kernel: &Version,
    vendor: &str,
) -> Vec<Support> {
    OptionQuery {
        fs,
        in_force,
        is_this_kernel: true,
        kernel,
        vendor,
    }
    .support_of_all(options)
}

struct OptionQuery<'a> {
    fs: &'a str,
    in_force: &'a [String],
    /// Whether `kernel` is the kernel that has the file system mounted.
    is_this_kernel: bool,
    kernel: &'a Version,
    vendor: &'a str,
}

pub fn file_system_support(fs: &str, kernel: &Version, vendor: &str) -> Support {
    built_in_support("file system", fs, kernel, vendor)
}

/// Support for mounting a file system that is about to be created on this host. A custom kernel
/// counts like a distribution's, because the first mount shows whether the driver is missing.
pub fn new_file_system_support(fs: &str, kernel: &Version, vendor: &str) -> Support {
    table_support("file system", fs, kernel, vendor)
}

/// Support by the next kernel of a builder whose running kernel has the file system.
pub fn file_system_support_if_rebuilt(fs: &str, kernel: &Version, vendor: &str) -> Support {
    table_support_if_rebuilt("file system", fs, kernel, vendor)
}

/// Whether the table lists the option, for `fs` or for all file systems.
pub fn is_option_listed(fs: &str, option: &str) -> bool {
    let of = if fs == "ext3" { "ext4" } else { fs };
    option_table()
        .find_row(of, option)
        .or_else(|| option_table().find_row("vfs", option))
        .is_some()
}

/// An on-disk format that needs code in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFormat {
    /// XFS without metadata checksums.
    XfsV4,
    MdLinear,
    /// An md array with superblock 0.90.
    Md090,
}

impl DiskFormat {
    pub fn describe(self) -> &'static str {
        match self {
            Self::XfsV4 => "an XFS file system in the old format (V4, crc=0)",
            Self::MdLinear => "a linear md array",
            Self::Md090 => "an md array with superblock version 0.90",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::XfsV4 => "xfs v4",
            Self::MdLinear => "md linear",
            Self::Md090 => "md 0.90",
        }
    }
}

pub fn disk_format_support(format: DiskFormat, kernel: &Version, vendor: &str) -> Support {
    match format {
        DiskFormat::XfsV4 | DiskFormat::MdLinear => {
            built_in_support("format", format.name(), kernel, vendor)
        }
        // Every kernel with md reads superblock 0.90, so the builder does not matter.
        DiskFormat::Md090 => table_support("format", format.name(), kernel, vendor),
    }
}

/// Support by the next kernel of a builder whose running kernel supports the format.
pub fn format_support_if_rebuilt(format: DiskFormat, kernel: &Version, vendor: &str) -> Support {
    table_support_if_rebuilt("format", format.name(), kernel, vendor)
}

/// A layer between a file system and its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDriver {
    /// An md level, such as `raid1`.
    Md,
    /// An md superblock version, such as `1.2`.
    MdMetadata,
    /// A device-mapper target, such as `multipath`.
    DeviceMapper,
}

impl BlockDriver {
    fn name(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::MdMetadata => "md metadata",
            Self::DeviceMapper => "device mapper",
        }
    }
}

/// `name` is an md level, an md superblock version or a device-mapper target, depending on `layer`.
pub fn layer_support(layer: BlockDriver, name: &str, kernel: &Version, vendor: &str) -> Support {
    match layer {
        BlockDriver::Md | BlockDriver::DeviceMapper => {
            built_in_support(layer.name(), name, kernel, vendor)
        }
        // Every kernel with md reads all superblock versions, so the builder does not matter.
        BlockDriver::MdMetadata => table_support(layer.name(), name, kernel, vendor),
    }
}

/// Support by the next kernel of a builder whose running kernel has the driver.
pub fn layer_support_if_rebuilt(
    layer: BlockDriver,
    name: &str,
    kernel: &Version,
    vendor: &str,
) -> Support {
    table_support_if_rebuilt(layer.name(), name, kernel, vendor)
}

pub fn scheduler_support(name: &str, kernel: &Version, vendor: &str) -> Support {
    table_support("scheduler", name, kernel, vendor)
}

fn table_support(of: &str, name: &str, kernel: &Version, vendor: &str) -> Support {
    find_row(of, name).map_or_else(
        |unknown| unknown,
        |row| row.support.support_for_kernel(kernel, vendor),
    )
}

fn table_support_if_rebuilt(of: &str, name: &str, kernel: &Version, vendor: &str) -> Support {
    find_row(of, name).map_or_else(
        |unknown| unknown,
        |row| row.support.support_if_rebuilt(kernel, vendor),
    )
}

/// Vendor name in the tables for all custom kernels. Rows with this name are about features that no
/// custom kernel lacks.
const CUSTOM_BUILD: &str = "own";

/// Table rows without a vendor hold for distributions only, because other builders may leave a
/// feature out.
fn built_in_support(of: &str, name: &str, kernel: &Version, vendor: &str) -> Support {
    let row = match find_row(of, name) {
        Ok(row) => row,
        Err(unknown) => return unknown,
    };
    let ruling = row.support.support_for_kernel(kernel, vendor);
    let because = match builder_for_vendor(vendor) {
        KernelBuilder::Distribution => return ruling,
        // A feature missing from the vendor's other kernels is missing from the cloud kernel too.
        KernelBuilder::Cloud
            if ruling.effect.is_refused()
                || is_certainly_supported(&row.support.support_for_kernel(kernel, "")) =>
        {
            return ruling;
        }
        KernelBuilder::Cloud => {
            "The vendor's cloud kernels are built with fewer features than its others."
        }
        KernelBuilder::Custom if ruling.effect.is_refused() => return ruling,
        KernelBuilder::Custom if row.support.vendors.contains_key(CUSTOM_BUILD) => {
            return row.support.support_for_kernel(kernel, CUSTOM_BUILD);
        }
        KernelBuilder::Custom => {
            "This is not a distribution's kernel, and its build options are unknown."
        }
    };
    Support::unknown(because)
}

fn is_certainly_supported(ruling: &Support) -> bool {
    !ruling.effect.is_refused() && !ruling.effect.is_unknown()
}

fn find_row(of: &str, name: &str) -> Result<&'static OptionEntry, Support> {
    let row = option_table().find_row(of, name).map(|(row, _)| row);
    row.ok_or_else(|| Support::unknown(format!("The {of} {name} is not in walwise's tables.")))
}

impl OptionQuery<'_> {
    fn support_of_all(&self, options: &[String]) -> Vec<Support> {
        let holding = options_in_effect(self.fs, options);
        options
            .iter()
            .map(|option| self.support_of_option(option, options, &holding))
            .collect()
    }

    /// `beside` are all options of the line; `holding` are the ones that remain in effect.
    fn support_of_option(&self, option: &str, beside: &[String], holding: &[String]) -> Support {
        let table = option_table();
        let family = option_family(self.fs, self.kernel, self.vendor);
        let of_its_own = table.find_row(family.unwrap_or(self.fs), option);
        let Some((row, value)) = of_its_own.or_else(|| table.find_row("vfs", option)) else {
            let seen = self
                .is_shown_in_force(option, &[])
                .then(|| Support::from_current_mount(Effect::Ok));
            return seen
                .unwrap_or_else(|| unlisted_option_support(self.fs, family, option, self.kernel));
        };
        if row.not_on_ext3 && self.fs == "ext3" {
            return row.refused_because(
                "The ext4 driver refuses it for a file system mounted as ext3.".to_owned(),
            );
        }
        let ruling = self.support_of_row(option, row);
        if ruling.effect.is_unknown() || ruling.effect.is_refused() {
            return ruling;
        }
        match value.and_then(|value| row.syntax.error_in(value)) {
            Some(ValueError::Refused(what)) => {
                return row.refused_because(format!("`{}` takes {what}.", option_key(option)));
            }
            Some(ValueError::KernelDependent(what)) => {
                return Support::unknown(format!(
                    "Not every kernel accepts this value; for `{}`, all accept {what}.",
                    option_key(option)
                ));
            }
            None => {}
        }
        let lacks = !row.needs_any.iter().any(|other| holding.contains(other));
        if lacks && !row.needs_any.is_empty() && row.without.is_refused() {
            let because = format!(
                "It is refused without {}. {}",
                row.needs_any.join(" or "),
                row.because
            );
            return row.refused_because(because.trim().to_owned());
        }
        if holding.iter().any(|held| held == option)
            && let Some(refused) = self.conflict_support(family.unwrap_or(self.fs), option, beside)
        {
            return refused;
        }
        // A file system mounted with an option supports that option, unless `needs_any` makes
        // support depend on a clean shutdown.
        let able = row.needs_any.is_empty() && self.is_shown_in_force(option, &row.shown_as);
        if lacks && row.without.is_unknown() && !able {
            return Support {
                effect: row.without,
                because: row.because.clone(),
                source: row.source.clone(),
            };
        }
        ruling
    }

    /// Support of `option` if another option of the line makes it refused or unknown.
    fn conflict_support(&self, of: &str, option: &str, beside: &[String]) -> Option<Support> {
        let rulings = option_table()
            .conflicts(of, option, beside)
            .map(|(conflict, other)| {
                let ruling = conflict
                    .support
                    .support_for_kernel(self.kernel, self.vendor);
                Support {
                    because: format!("It is combined with {other}. {}", ruling.because),
                    ..ruling
                }
            });
        let refuses = |ruling: &Support| ruling.effect.is_refused() || ruling.effect.is_unknown();
        rulings.into_iter().find(refuses)
    }

    fn support_of_row(&self, option: &str, row: &OptionEntry) -> Support {
        if let Some(now) = row
            .in_force
            .iter()
            .find(|now| self.in_force.contains(&now.option))
        {
            return Support {
                effect: now.is,
                because: now.because.clone(),
                source: row.source.clone(),
            };
        }
        let ruling = row.support.support_for_kernel(self.kernel, self.vendor);
        if !ruling.effect.is_unknown() || !self.is_shown_in_force(option, &row.shown_as) {
            return ruling;
        }
        row.support
            .support_if_accepted(self.kernel, self.vendor)
            .map_or(ruling, |taken| Support::from_current_mount(taken.effect))
    }

    /// Whether the kernel lists the option as in force, under its own name or one in `shown_as`.
    fn is_shown_in_force(&self, option: &str, shown_as: &[String]) -> bool {
        self.is_this_kernel
            && self
                .in_force
                .iter()
                .any(|shown| shown == option || shown_as.contains(shown))
    }
}

/// Refused if only another file system has the option, or if a value is missing or not allowed;
/// otherwise unknown.
fn unlisted_option_support(
    fs: &str,
    family: Option<&str>,
    option: &str,
    kernel: &Version,
) -> Support {
    let table = option_table();
    let covered = kernel.number(0) > 3 || (kernel.number(0) == 3 && kernel.number(1) >= 10);
    if let Some(family) = family.filter(|_| covered)
        && !table.has_option_key(family, option)
        && !table.has_option_key("vfs", option)
        && let Some(other) = FAMILIES
            .into_iter()
            .find(|other| table.has_option_key(other, option))
    {
        return Support {
            effect: Effect::Refused,
            because: format!("It is an option of {other}; {fs} refuses options it does not know."),
            source: format!("kernel: the mount options of fs/{family}"),
        };
    }
    if let Some(family) = family.filter(|_| covered) {
        let has = |name: &str| {
            table
                .names
                .contains_key(&(family.to_owned(), name.to_owned()))
        };
        let (name, with_value) = (option_key(option), option.contains('='));
        let because = match (has(name), has(&format!("{name}="))) {
            (true, false) if with_value && !SUPERBLOCK_FLAGS.contains(&name) => {
                format!("{name} takes no value.")
            }
            (false, true) if !with_value => format!("{name} needs a value."),
            (true | false, true | false) => String::new(),
        };
        if !because.is_empty() {
            return Support {
                effect: Effect::Refused,
                because,
                source: format!("kernel: the mount options of fs/{family}"),
            };
        }
    }
    let of_it = table
        .names
        .keys()
        .filter(|(of, _)| of == "vfs" || Some(of.as_str()) == family);
    let others = of_it.map(|(_, name)| option_key(name)).filter(|name| {
        *name != option_key(option) && !name.ends_with('*') && !NEVER_SUGGESTED.contains(name)
    });
    let near = did_you_mean(option_key(option), others);
    let near = near
        .map(|near| format!(" {}", capitalised(&near)))
        .unwrap_or_default();
    Support::unknown(format!(
        "The option {option} of {fs} is not in walwise's tables.{near}"
    ))
}

/// Flags that the kernel itself handles, before the file system driver; a value after a flag does
/// no harm (fs/fs_context.c).
const SUPERBLOCK_FLAGS: [&str; 10] = [
    "async",
    "dirsync",
    "lazytime",
    "mand",
    "nolazytime",
    "nomand",
    "posixacl",
    "ro",
    "rw",
    "sync",
];

/// Options that can lose data; a misspelt option is never corrected to one of these.
const NEVER_SUGGESTED: [&str; 7] = [
    "async",
    "journal_async_commit",
    "nobarrier",
    "noload",
    "nologreplay",
    "norecovery",
    "rescue",
];

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Driver whose options the type accepts: `ext4` also for ext3 on Linux 4.3 and later.
fn option_family(fs: &str, kernel: &Version, vendor: &str) -> Option<&'static str> {
    // ext3 had its own driver up to Linux 4.2; vendors that backport used the ext4 driver earlier.
    let driver_of_its_own = kernel.number(0) < 4 || (kernel.number(0) == 4 && kernel.number(1) < 3);
    match fs {
        "ext3" if driver_of_its_own && !may_contain_backports(kernel, vendor) => None,
        "ext3" => Some("ext4"),
        fs => FAMILIES.into_iter().find(|name| *name == fs),
    }
}

impl OptionEntry {
    fn refused_because(&self, because: String) -> Support {
        Support {
            effect: Effect::Refused,
            because,
            source: self.source.clone(),
        }
    }
}

/// A valid option for tests that mount a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountOptionExample {
    /// Includes a value if the option takes one.
    pub option: String,
    /// Another option that `option` needs on the same line.
    pub companion: Option<String>,
}

/// Every option of `fs` for which the table has an example, including options common to all file
/// systems.
pub fn mount_option_examples(fs: &str) -> Vec<MountOptionExample> {
    let table = option_table();
    let mut found = Vec::new();
    for ((of, name), index) in table
        .names
        .iter()
        .filter(|((of, _), _)| of == fs || of == "vfs")
    {
        let Some(row) = table.row(*index).filter(|row| row.mount_test.is_none()) else {
            continue;
        };
        if of == "vfs" && table.names.contains_key(&(fs.to_owned(), name.clone())) {
            continue;
        }
        let value = row.example.clone();
        let option = match name.strip_suffix('*') {
            Some(start) => format!("{start}walwise"),
            None if name.ends_with('=') => match value {
                Some(value) => format!("{name}{value}"),
                None => continue,
            },
            None => name.clone(),
        };
        found.push(MountOptionExample {
            option,
            companion: row.needs_any.first().cloned(),
        });
    }
    found
}
