//! Kernel support for mount options, file system types, block drivers and I/O schedulers.
//!
//! Options are checked as one list, because support for one depends on the other options of the
//! line and on options in force.

use std::ops::RangeInclusive;

use super::kernel_build_kind::{KernelBuildKind, build_kind_of_vendor};
use super::support_timeline::{SupportTimeline, may_contain_backports};
use super::table::{OptionEntry, RemountInverse, option_table, option_without_value};
use super::value_syntax::ValueError;
use super::{Effect, Support};
use crate::facts::choice;
use crate::text::suggest::nearest_word_hint;
use crate::version::Version;

const FILE_SYSTEMS_WITH_OPTIONS: [&str; 3] = ["ext4", "xfs", "btrfs"];

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

/// The options that remain after a later option of the list has revoked or replaced earlier ones.
pub fn options_not_overridden_later(fs: &str, options: &[String]) -> Vec<String> {
    let of = if fs == "ext3" { "ext4" } else { fs };
    option_table().options_in_effect(of, options)
}

/// The table row that names how a later mount or remount reverts the option; `None` if the option
/// table has no such row.
pub fn find_remount_inverse(fs: &str, option: &str) -> Option<&'static RemountInverse> {
    option_table().find_remount_inverse(fs, option)
}

/// Support for each option of a line, given the other options of the line. `in_force` are the
/// options of the current mount; empty without one.
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
    .support_of_options(options)
}

/// Like [`mount_options_support`], for the running kernel, which evidently accepts the options in
/// force.
pub fn running_kernel_options_support(
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
    .support_of_options(options)
}

/// Whether an ext4 mount with these options ignores its journal.
pub fn is_journal_ignored(options: &[String]) -> bool {
    options
        .iter()
        .any(|option| matches!(option.as_str(), "noload" | "norecovery"))
}

/// Support for an option that ext4 without a journal refuses or may refuse; `None` for any other
/// option. Without a journal, ext4 checks the same options as after a mount with `noload`.
///
/// Source: `ext4_fill_super`, "fs mounted w/o journal", in fs/ext4/super.c.
pub fn refusal_without_journal(option: &str, kernel: &Version, vendor: &str) -> Option<Support> {
    let query = OptionQuery {
        fs: "ext4",
        in_force: &[],
        is_this_kernel: false,
        kernel,
        vendor,
    };
    let option = [option.to_owned()];
    let because = "The file system has no journal, and ext4 refuses journal options without one.";
    Some(Support {
        because: because.to_owned(),
        ..query.refusal_by_conflicting_option(query.fs, "noload", &option)?
    })
}

struct OptionQuery<'a> {
    fs: &'a str,
    in_force: &'a [String],
    is_this_kernel: bool,
    kernel: &'a Version,
    vendor: &'a str,
}

/// Whether the option table lists the option, for `fs` or for all file systems.
pub fn is_option_listed(fs: &str, option: &str) -> bool {
    let of = if fs == "ext3" { "ext4" } else { fs };
    option_table()
        .find_row(of, option)
        .or_else(|| option_table().find_row("vfs", option))
        .is_some()
}

choice! {
    /// A part of the kernel that `rules/tables/systems.toml` lists by name.
    pub enum KernelPart {
        FileSystem = "file system",
        Scheduler = "scheduler",
        /// An md level.
        Md = "md",
        /// A superblock version of md.
        MdMetadata = "md metadata",
        /// A device-mapper target.
        DeviceMapper = "device mapper",
        /// A [`DiskFormat`].
        Format = "format",
    }
}

choice! {
    pub enum DiskFormat {
        XfsV4 = "xfs v4",
        MdLinear = "md linear",
        Md090 = "md 0.90",
    }
}

impl DiskFormat {
    pub fn describe(self) -> &'static str {
        match self {
            Self::XfsV4 => "an XFS file system in the old format (V4, crc=0)",
            Self::MdLinear => "a linear md array",
            Self::Md090 => "an md array with superblock version 0.90",
        }
    }
}

/// Support for a kernel part by name. For a list of file systems such as `udf,iso9660`, which
/// mount(8) tries in turn, the type with the most support counts. `is_same_builder` means that the
/// builder of this kernel also built a kernel with the part.
pub fn kernel_part_support(
    part: KernelPart,
    name: &str,
    kernel: &Version,
    vendor: &str,
    is_same_builder: bool,
) -> Support {
    // Every kernel with md reads all superblock versions.
    let is_in_every_build = matches!(part, KernelPart::Scheduler | KernelPart::MdMetadata)
        || part == KernelPart::Format && name == DiskFormat::Md090.as_str();
    let judge = |name| match find_timeline_or_unknown(part, name) {
        Err(unknown) => unknown,
        Ok(timeline) if is_same_builder => timeline.support_same_builder(kernel, vendor),
        Ok(timeline) if is_in_every_build => timeline.support_for_kernel(kernel, vendor),
        Ok(timeline) => support_by_build_kind(timeline, kernel, vendor),
    };
    let rank = |one: &Support| (one.effect.is_refused(), one.effect.is_unknown());
    name.split(|c| c == ',' && part == KernelPart::FileSystem)
        .map(judge)
        .min_by_key(rank)
        .unwrap_or_else(|| Support::unknown("The file system type is missing."))
}

/// Support for mounting a file system that is about to be created on this host. A custom kernel
/// counts like a distribution's, because the first mount shows whether the driver is missing.
pub fn new_file_system_support(fs: &str, kernel: &Version, vendor: &str) -> Support {
    find_timeline_or_unknown(KernelPart::FileSystem, fs).map_or_else(
        |unknown| unknown,
        |timeline| timeline.support_for_kernel(kernel, vendor),
    )
}

/// The vendor name of all custom kernels in `rules/tables/systems.toml`. Rows with this name are
/// about features that no custom kernel lacks.
const CUSTOM_BUILD: &str = "own";

/// For a custom kernel, only a refusal or a table entry for custom kernels decides.
fn support_by_build_kind(timeline: &SupportTimeline, kernel: &Version, vendor: &str) -> Support {
    let ruling = timeline.support_for_kernel(kernel, vendor);
    let because = match build_kind_of_vendor(vendor) {
        KernelBuildKind::Distribution => return ruling,
        // A cloud kernel refuses whatever the vendor's other kernels refuse. Support that the table
        // states without a vendor holds for cloud kernels too.
        KernelBuildKind::Cloud
            if ruling.effect.is_refused()
                || is_certainly_supported(&timeline.support_for_kernel(kernel, "")) =>
        {
            return ruling;
        }
        KernelBuildKind::Cloud => {
            "The vendor's cloud kernels are built with fewer features than its other kernels."
        }
        KernelBuildKind::Custom if ruling.effect.is_refused() => return ruling,
        KernelBuildKind::Custom if timeline.vendors.contains_key(CUSTOM_BUILD) => {
            return timeline.support_for_kernel(kernel, CUSTOM_BUILD);
        }
        KernelBuildKind::Custom => {
            "This is not a distribution kernel; its build options are unknown."
        }
    };
    Support::unknown(because)
}

fn is_certainly_supported(ruling: &Support) -> bool {
    !ruling.effect.is_refused() && !ruling.effect.is_unknown()
}

fn find_timeline_or_unknown(
    part: KernelPart,
    name: &str,
) -> Result<&'static SupportTimeline, Support> {
    let of = part.as_str();
    let row = option_table().find_row(of, name);
    row.map(|(row, _)| &row.support)
        .ok_or_else(|| Support::unknown(format!("The {of} {name} is not in walwise's tables.")))
}

impl OptionQuery<'_> {
    fn support_of_options(&self, options: &[String]) -> Vec<Support> {
        let holding = options_not_overridden_later(self.fs, options);
        options
            .iter()
            .map(|option| self.support_of_option(option, options, &holding))
            .collect()
    }

    /// Support for one option of a line. `beside` are all options of the line, `holding` those that
    /// remain in effect.
    fn support_of_option(&self, option: &str, beside: &[String], holding: &[String]) -> Support {
        let table = option_table();
        let family = mount_option_driver(self.fs, self.kernel, self.vendor);
        let of_its_own = table.find_row(family.unwrap_or(self.fs), option);
        let Some((row, value)) = of_its_own.or_else(|| table.find_row("vfs", option)) else {
            let seen = self
                .is_in_force_on_running_kernel(option, &[])
                .then(|| Support::proven_by_current_mount(Effect::Ok));
            return seen
                .unwrap_or_else(|| unlisted_option_support(self.fs, family, option, self.kernel));
        };
        if row.not_on_ext3 && self.fs == "ext3" {
            return row.refused_support(
                "The ext4 driver refuses this option for a file system mounted as ext3.".to_owned(),
            );
        }
        let ruling = self.support_of_row(option, row);
        if ruling.effect.is_unknown() || ruling.effect.is_refused() {
            return ruling;
        }
        match value.and_then(|value| row.syntax().error_in(value)) {
            Some(ValueError::Refused(what)) => {
                return row
                    .refused_support(format!("`{}` takes {what}.", option_without_value(option)));
            }
            Some(ValueError::KernelDependent(what)) => {
                return Support::unknown(format!(
                    "Not every kernel accepts this value of `{}`; every kernel accepts {what}.",
                    option_without_value(option)
                ));
            }
            None => {}
        }
        let lacks = !row.needs_any.iter().any(|other| holding.contains(other));
        if lacks && !row.needs_any.is_empty() && row.without.is_refused() {
            let because = format!(
                "The option is refused without {}. {}",
                row.needs_any.join(" or "),
                row.because
            );
            return row.refused_support(because.trim().to_owned());
        }
        if holding.iter().any(|held| held == option)
            && let Some(refused) =
                self.refusal_by_conflicting_option(family.unwrap_or(self.fs), option, beside)
        {
            return refused;
        }
        // An option in force on this file system is supported. An option with `needs_any` may be in
        // force only because the file system was unmounted cleanly, so it proves nothing.
        let able =
            row.needs_any.is_empty() && self.is_in_force_on_running_kernel(option, &row.shown_as);
        if lacks && row.without.is_unknown() && !able {
            return Support::new(row.without, row.because.clone(), &row.source);
        }
        ruling
    }

    fn refusal_by_conflicting_option(
        &self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> Option<Support> {
        let rulings = option_table()
            .conflicts(of, option, beside)
            .map(|(conflict, other)| {
                let ruling = conflict
                    .support
                    .support_for_kernel(self.kernel, self.vendor);
                Support {
                    because: format!("The option is combined with {other}. {}", ruling.because),
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
            return Support::new(now.is, now.because.clone(), &row.source);
        }
        let ruling = row.support.support_for_kernel(self.kernel, self.vendor);
        if !ruling.effect.is_unknown() || !self.is_in_force_on_running_kernel(option, &row.shown_as)
        {
            return ruling;
        }
        row.support
            .support_if_option_in_force(self.kernel, self.vendor)
            .map_or(ruling, |taken| {
                Support::proven_by_current_mount(taken.effect)
            })
    }

    fn is_in_force_on_running_kernel(&self, option: &str, shown_as: &[String]) -> bool {
        self.is_this_kernel
            && self
                .in_force
                .iter()
                .any(|shown| shown == option || shown_as.contains(shown))
    }
}

/// Support for an option that the table does not list. On ext4, XFS and btrfs since Linux 3.10,
/// options of another file system and wrong uses of a value are refused. All other options are
/// unknown.
fn unlisted_option_support(
    fs: &str,
    family: Option<&str>,
    option: &str,
    kernel: &Version,
) -> Support {
    let table = option_table();
    let covered = kernel.first_numbers() >= [3, 10];
    if let Some(family) = family.filter(|_| covered)
        && !table.has_option_of_same_name(family, option)
        && !table.has_option_of_same_name("vfs", option)
        && let Some(other) = FILE_SYSTEMS_WITH_OPTIONS
            .into_iter()
            .find(|other| table.has_option_of_same_name(other, option))
    {
        return refused_by_driver(
            family,
            format!("This is an option of {other}; {fs} refuses unknown options."),
        );
    }
    if let Some(family) = family.filter(|_| covered) {
        let has = |name: &str| {
            table
                .names
                .contains_key(&(family.to_owned(), name.to_owned()))
        };
        let (name, with_value) = (option_without_value(option), option.contains('='));
        match (has(name), has(&format!("{name}="))) {
            (true, false) if with_value && !SUPERBLOCK_FLAGS.contains(&name) => {
                return refused_by_driver(family, format!("{name} takes no value."));
            }
            (false, true) if !with_value => {
                return refused_by_driver(family, format!("{name} needs a value."));
            }
            (true | false, true | false) => {}
        }
    }
    let of_it = table
        .names
        .keys()
        .filter(|(of, _)| of == "vfs" || Some(of.as_str()) == family);
    let others = of_it
        .map(|(_, name)| option_without_value(name))
        .filter(|name| {
            *name != option_without_value(option)
                && !name.ends_with('*')
                && !NEVER_SUGGESTED.contains(name)
        });
    let near = nearest_word_hint(option_without_value(option), others);
    let near = near
        .map(|near| format!(" {}", capitalize_first_letter(&near)))
        .unwrap_or_default();
    let is_compared = COMPARED_KERNELS.contains(&kernel.first_numbers());
    if let Some(family) = family.filter(|_| is_compared)
        && !table.has_option_of_same_name("vfs", option)
        && !is_handled_outside_driver(option)
    {
        return refused_by_driver(family, format!("{fs} refuses unknown options.{near}"));
    }
    if !option.contains('=') && table.has_option_of_same_name(fs, option) {
        return Support::unknown(format!(
            "The value of {option} was not recorded; capture the host again."
        ));
    }
    Support::unknown(format!(
        "The {fs} option {option} is not in walwise's tables.{near}"
    ))
}

fn refused_by_driver(family: &str, because: String) -> Support {
    Support {
        effect: Effect::Refused,
        because,
        source: format!("kernel: the mount options of fs/{family}"),
    }
}

/// Linux 5.10 to 7.2: the table has every option name in the sources of ext4, XFS and btrfs. Only a
/// comparison with the sources of a newer kernel extends the range.
const COMPARED_KERNELS: RangeInclusive<[u64; 2]> = [5, 10]..=[7, 2];

/// Whether mount(8), the kernel's superblock code or a security module takes the option, so that
/// the file system driver never sees it (libmount/src/optmap.c, fs/fs_context.c).
fn is_handled_outside_driver(option: &str) -> bool {
    let name = option_without_value(option);
    MOUNT_COMMAND_OPTIONS.contains(&name)
        || SUPERBLOCK_FLAGS.contains(&name)
        || ["verity.", "smackfs"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

const MOUNT_COMMAND_OPTIONS: [&str; 19] = [
    "bind",
    "encryption",
    "helper",
    "move",
    "nogroup",
    "noowner",
    "private",
    "rbind",
    "remount",
    "rprivate",
    "rshared",
    "rslave",
    "runbindable",
    "seclabel",
    "shared",
    "slave",
    "symfollow",
    "uhelper",
    "unbindable",
];

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

fn capitalize_first_letter(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn mount_option_driver(fs: &str, kernel: &Version, vendor: &str) -> Option<&'static str> {
    // ext3 had its own driver up to Linux 4.2; vendors that backport used the ext4 driver earlier.
    let driver_of_its_own = kernel.first_numbers() < [4, 3];
    match fs {
        "ext3" if driver_of_its_own && !may_contain_backports(kernel, vendor) => None,
        "ext3" => Some("ext4"),
        fs => FILE_SYSTEMS_WITH_OPTIONS
            .into_iter()
            .find(|name| *name == fs),
    }
}

impl OptionEntry {
    fn refused_support(&self, because: String) -> Support {
        Support::new(Effect::Refused, because, &self.source)
    }
}

#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountOptionTestCase {
    pub option: String,
    /// Another option that `option` needs on the same line.
    pub companion: Option<String>,
}

/// Options of `fs` for tests with real mounts, including options common to all file systems.
/// Options that need a value are left out if the table has no example.
#[cfg(any(test, feature = "testing"))]
pub fn mount_option_test_cases(fs: &str) -> Vec<MountOptionTestCase> {
    let table = option_table();
    let mut found = Vec::new();
    for ((of, name), index) in table
        .names
        .iter()
        .filter(|((of, _), _)| of == fs || of == "vfs")
    {
        let Some(row) = table.get(*index).filter(|row| row.mount_test.is_none()) else {
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
        found.push(MountOptionTestCase {
            option,
            companion: row.needs_any.first().cloned(),
        });
    }
    found
}
