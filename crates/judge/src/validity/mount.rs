//! Mount options, and other words that only the kernel accepts: file system types and I/O
//! schedulers.
//!
//! An option may depend on its neighbours and on the options in force, so the whole list is judged
//! at once. ext4, XFS and btrfs refuse options that they do not know. An option of another of the
//! three is therefore certainly refused, while an unlisted one stays unknown.

use super::builder::{Builder, builder};
use super::form::Wrong;
use super::life::backports;
use super::table::{Inverse, OptionEntry, key, table};
use super::{Effect, Ruling};
use crate::text::suggest::did_you_mean;
use crate::version::Version;

/// File systems whose options the table knows.
const FAMILIES: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// The ruling of a kernel on one mount option. `vendor` is the fact `kernel.vendor`.
pub fn mount_option(fs: &str, option: &str, kernel: &Version, vendor: &str) -> Ruling {
    let beside = [option.to_owned()];
    OptionQuery {
        fs,
        in_force: &[],
        here: false,
        kernel,
        vendor,
    }
    .one(option, &beside, &beside)
}

/// The options of a line that remain in effect: usually the last one of each group.
pub fn holding(fs: &str, options: &[String]) -> Vec<String> {
    let of = if fs == "ext3" { "ext4" } else { fs };
    table().holding(of, options)
}

/// How an option in force is taken back; `None` where only an unmount does it.
pub fn inverse(fs: &str, option: &str) -> Option<&'static Inverse> {
    table().inverse(fs, option)
}

/// The ruling of a kernel on each of these mount options together, given the options in force
/// (empty where it is not mounted).
pub fn mount_options(
    fs: &str,
    options: &[String],
    in_force: &[String],
    kernel: &Version,
    vendor: &str,
) -> Vec<Ruling> {
    OptionQuery {
        fs,
        in_force,
        here: false,
        kernel,
        vendor,
    }
    .all(options)
}

/// The same where this very kernel has the file system mounted with these options: it accepts those
/// in force.
pub fn mount_options_here(
    fs: &str,
    options: &[String],
    in_force: &[String],
    kernel: &Version,
    vendor: &str,
) -> Vec<Ruling> {
    OptionQuery {
        fs,
        in_force,
        here: true,
        kernel,
        vendor,
    }
    .all(options)
}

/// The context of a question about options.
struct OptionQuery<'a> {
    fs: &'a str,
    /// The options in force now.
    in_force: &'a [String],
    /// Whether the kernel that mounted it is the one in question.
    here: bool,
    kernel: &'a Version,
    vendor: &'a str,
}

/// Whether a kernel has a file system.
pub fn file_system(fs: &str, kernel: &Version, vendor: &str) -> Ruling {
    built("file system", fs, kernel, vendor)
}

/// The same for a file system to be created here, where mounting it shows at once whether it is
/// built in: only a feature that some distributions omit is unknown.
pub fn new_file_system(fs: &str, kernel: &Version, vendor: &str) -> Ruling {
    word("file system", fs, kernel, vendor)
}

/// The same for the next kernel of a person who has it in the running one: see
/// [`super::builds_again`].
pub fn file_system_again(fs: &str, kernel: &Version, vendor: &str) -> Ruling {
    again("file system", fs, kernel, vendor)
}

/// Whether the table has a row for an option of a file system, or of every one.
pub fn lists(fs: &str, option: &str) -> bool {
    let of = if fs == "ext3" { "ext4" } else { fs };
    table()
        .find(of, option)
        .or_else(|| table().find("vfs", option))
        .is_some()
}

/// An on-disk format that a kernel must have the code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFormat {
    /// XFS without checksums in its metadata.
    XfsV4,
    MdLinear,
    /// An md array with a superblock of version 0.90.
    Md090,
}

impl DiskFormat {
    pub fn words(self) -> &'static str {
        match self {
            Self::XfsV4 => "an XFS of the old format (V4, crc=0)",
            Self::MdLinear => "a linear md array",
            Self::Md090 => "an md array with a superblock of version 0.90",
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

/// Whether a kernel has the code for it.
pub fn format(format: DiskFormat, kernel: &Version, vendor: &str) -> Ruling {
    match format {
        DiskFormat::XfsV4 | DiskFormat::MdLinear => built("format", format.name(), kernel, vendor),
        // Every kernel with md has this.
        DiskFormat::Md090 => word("format", format.name(), kernel, vendor),
    }
}

/// The same for the next kernel of a person who has it in the running one: see
/// [`super::builds_again`].
pub fn format_again(format: DiskFormat, kernel: &Version, vendor: &str) -> Ruling {
    again("format", format.name(), kernel, vendor)
}

/// A layer between a file system and its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDriver {
    /// The level of an md array.
    Md,
    /// The superblock of an md array.
    MdMetadata,
    /// A target of the device mapper.
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

/// Whether a kernel has the code for a kind of layer, by its name in the kernel.
pub fn layer(layer: BlockDriver, name: &str, kernel: &Version, vendor: &str) -> Ruling {
    match layer {
        BlockDriver::Md | BlockDriver::DeviceMapper => built(layer.name(), name, kernel, vendor),
        // Every kernel with md has these.
        BlockDriver::MdMetadata => word(layer.name(), name, kernel, vendor),
    }
}

/// The same for the next kernel of a person who has it in the running one: see
/// [`super::builds_again`].
pub fn layer_again(layer: BlockDriver, name: &str, kernel: &Version, vendor: &str) -> Ruling {
    again(layer.name(), name, kernel, vendor)
}

/// Whether a kernel has an I/O scheduler.
pub fn scheduler(name: &str, kernel: &Version, vendor: &str) -> Ruling {
    word("scheduler", name, kernel, vendor)
}

fn word(of: &str, name: &str, kernel: &Version, vendor: &str) -> Ruling {
    found(of, name).map_or_else(|unknown| unknown, |row| row.life.at(kernel, vendor))
}

fn again(of: &str, name: &str, kernel: &Version, vendor: &str) -> Ruling {
    found(of, name).map_or_else(|unknown| unknown, |row| row.life.again(kernel, vendor))
}

/// The vendor under which a row holds the steps for self-built kernels: features that no kernel is
/// built without.
const EVERYBODY: &str = "own";

/// Whether a feature is built into a kernel: the table's statements about all kernels hold for
/// those of distributions.
fn built(of: &str, name: &str, kernel: &Version, vendor: &str) -> Ruling {
    let row = match found(of, name) {
        Ok(row) => row,
        Err(unknown) => return unknown,
    };
    let ruling = row.life.at(kernel, vendor);
    let because = match builder(vendor) {
        Builder::Distribution => return ruling,
        // A cloud kernel lacks at least everything that its vendor leaves out.
        Builder::Cloud if ruling.effect.is_refused() || is_there(&row.life.at(kernel, "")) => {
            return ruling;
        }
        Builder::Cloud => {
            "The kernels that it makes for clouds are built with less than its others."
        }
        Builder::Own if ruling.effect.is_refused() => return ruling,
        Builder::Own if row.life.vendors.contains_key(EVERYBODY) => {
            return row.life.at(kernel, EVERYBODY);
        }
        Builder::Own => {
            "It is not a distribution's kernel, and it is unknown what it was built with."
        }
    };
    Ruling::unknown(because)
}

fn is_there(ruling: &Ruling) -> bool {
    !ruling.effect.is_refused() && !ruling.effect.is_unknown()
}

fn found(of: &str, name: &str) -> Result<&'static OptionEntry, Ruling> {
    let row = table().find(of, name).map(|(row, _)| row);
    row.ok_or_else(|| Ruling::unknown(format!("The table does not know the {of} {name}.")))
}

impl OptionQuery<'_> {
    fn all(&self, options: &[String]) -> Vec<Ruling> {
        let holding = holding(self.fs, options);
        options
            .iter()
            .map(|option| self.one(option, options, &holding))
            .collect()
    }

    /// The ruling on one option beside others; `holding` are those that remain in effect.
    fn one(&self, option: &str, beside: &[String], holding: &[String]) -> Ruling {
        let table = table();
        let family = family(self.fs, self.kernel, self.vendor);
        let of_its_own = table.find(family.unwrap_or(self.fs), option);
        let Some((row, value)) = of_its_own.or_else(|| table.find("vfs", option)) else {
            let seen = self.seen(option, &[]).then(|| Ruling::seen(Effect::Ok));
            return seen.unwrap_or_else(|| not_listed(self.fs, family, option, self.kernel));
        };
        if row.not_on_ext3 && self.fs == "ext3" {
            return row.refused(
                "The ext4 driver refuses it for a file system mounted as ext3.".to_owned(),
            );
        }
        let ruling = self.of_row(option, row);
        if ruling.effect.is_unknown() || ruling.effect.is_refused() {
            return ruling;
        }
        match value.and_then(|value| row.form.wrong(value)) {
            Some(Wrong::Refused(what)) => {
                return row.refused(format!("`{}` takes {what}.", key(option)));
            }
            Some(Wrong::Unsure(what)) => {
                return Ruling::unknown(format!(
                    "Not every kernel takes this value; all take {what} for `{}`.",
                    key(option)
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
            return row.refused(because.trim().to_owned());
        }
        if holding.iter().any(|held| held == option)
            && let Some(refused) = self.conflict(family.unwrap_or(self.fs), option, beside)
        {
            return refused;
        }
        // A file system that is mounted with it can do it, unless it depends on how the system went
        // down.
        let able = row.needs_any.is_empty() && self.seen(option, &row.shown_as);
        if lacks && row.without.is_unknown() && !able {
            return Ruling {
                effect: row.without,
                because: row.because.clone(),
                source: row.source.clone(),
            };
        }
        ruling
    }

    /// The ruling on an option because of another one on the line.
    fn conflict(&self, of: &str, option: &str, beside: &[String]) -> Option<Ruling> {
        let rulings = table()
            .conflicts(of, option, beside)
            .map(|(conflict, other)| {
                let ruling = conflict.life.at(self.kernel, self.vendor);
                Ruling {
                    because: format!("It stands beside {other}. {}", ruling.because),
                    ..ruling
                }
            });
        let refuses = |ruling: &Ruling| ruling.effect.is_refused() || ruling.effect.is_unknown();
        rulings.into_iter().find(refuses)
    }

    /// The ruling of its row, adjusted by the options in force.
    fn of_row(&self, option: &str, row: &OptionEntry) -> Ruling {
        if let Some(now) = row
            .in_force
            .iter()
            .find(|now| self.in_force.contains(&now.option))
        {
            return Ruling {
                effect: now.is,
                because: now.because.clone(),
                source: row.source.clone(),
            };
        }
        let ruling = row.life.at(self.kernel, self.vendor);
        if !ruling.effect.is_unknown() || !self.seen(option, &row.shown_as) {
            return ruling;
        }
        row.life
            .where_taken(self.kernel, self.vendor)
            .map_or(ruling, |taken| Ruling::seen(taken.effect))
    }

    /// Whether the kernel in question shows it in force, by itself or by one of these words.
    fn seen(&self, option: &str, shown_as: &[String]) -> bool {
        self.here
            && self
                .in_force
                .iter()
                .any(|shown| shown == option || shown_as.contains(shown))
    }
}

/// The ruling on an option that is listed neither for the file system nor for all.
fn not_listed(fs: &str, family: Option<&str>, option: &str, kernel: &Version) -> Ruling {
    let table = table();
    let covered = kernel.number(0) > 3 || (kernel.number(0) == 3 && kernel.number(1) >= 10);
    if let Some(family) = family.filter(|_| covered)
        && !table.has_key(family, option)
        && !table.has_key("vfs", option)
        && let Some(other) = FAMILIES
            .into_iter()
            .find(|other| table.has_key(other, option))
    {
        return Ruling {
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
        let (name, with_value) = (key(option), option.contains('='));
        let because = match (has(name), has(&format!("{name}="))) {
            (true, false) if with_value && !SUPERBLOCK_FLAGS.contains(&name) => {
                format!("{name} takes no value.")
            }
            (false, true) if !with_value => format!("{name} wants a value."),
            (true | false, true | false) => String::new(),
        };
        if !because.is_empty() {
            return Ruling {
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
    let others = of_it
        .map(|(_, name)| key(name))
        .filter(|name| *name != key(option) && !name.ends_with('*') && !NEVER_MEANT.contains(name));
    let near = did_you_mean(key(option), others);
    let near = near
        .map(|near| format!(" {}", capital(&near)))
        .unwrap_or_default();
    Ruling::unknown(format!(
        "The table does not know the option {option} of {fs}.{near}"
    ))
}

/// Flags that the kernel handles before the file system sees them, with or without a value
/// (fs/fs_context.c).
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

/// Options that can lose data: none of them is ever suggested for a misspelt word.
const NEVER_MEANT: [&str; 7] = [
    "async",
    "journal_async_commit",
    "nobarrier",
    "noload",
    "nologreplay",
    "norecovery",
    "rescue",
];

/// As a sentence of its own.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// The family whose options a file system type has.
fn family(fs: &str, kernel: &Version, vendor: &str) -> Option<&'static str> {
    // ext3 had its own driver until 4.2; vendors that backport used the ext4 driver earlier.
    let driver_of_its_own = kernel.number(0) < 4 || (kernel.number(0) == 4 && kernel.number(1) < 3);
    match fs {
        "ext3" if driver_of_its_own && !backports(kernel, vendor) => None,
        "ext3" => Some("ext4"),
        fs => FAMILIES.into_iter().find(|name| *name == fs),
    }
}

impl OptionEntry {
    fn refused(&self, because: String) -> Ruling {
        Ruling {
            effect: Effect::Refused,
            because,
            source: self.source.clone(),
        }
    }
}

/// An option of the table that can be mounted, with the option that it needs beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountExample {
    /// The option, with a value where it takes one.
    pub option: String,
    /// An option that it needs beside it; usually `None`.
    pub beside: Option<String>,
}

/// An example of every option of a file system for which the table allows one, including those
/// common to all.
pub fn examples(fs: &str) -> Vec<MountExample> {
    let table = table();
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
        found.push(MountExample {
            option,
            beside: row.needs_any.first().cloned(),
        });
    }
    found
}
