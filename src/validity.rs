//! The ruling of a kernel, a tool or a server on an option: option × file system × kernel, as data in
//! `rules/tables/validity.toml`, feature × file system × tool × kernel in `rules/tables/features.toml`, and setting × release
//! of a server in `rules/tables/servers.toml`.
//!
//! It is used twice: for the lines of the next boot ([`derive`]), and for every piece of advice before it is shown
//! ([`guard`]). It reads no machine. An option that is missing from the table is *unknown*, never refused and never
//! accepted. So is a step that a vendor may have backported to an older kernel.
#![warn(clippy::wildcard_enum_match_arm)]

mod builder;
mod form;
mod releases;
mod ruling;
mod life;
mod server;
mod table;
mod feature;
mod mkfs;
mod mount;
mod maker;
mod guard;
mod making;
mod on_disk;
mod zfs;
mod derive;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[rustfmt::skip]
mod vendors;

use crate::facts::{FactSet, Scope};

pub use builder::builds_again;
pub use derive::{derive, rulings};
pub use guard::{Beside, guard, guard_with};
pub use making::can_make;
pub use mkfs::{features, leave_out, mkfs_defaults, mkfs_feature, mkfs_flag};
pub use mount::{
    BlockDriver, DiskFormat, MountExample, examples, file_system, file_system_again, format, format_again,
    holding, layer, layer_again, mount_option, mount_options, scheduler,
};
pub use on_disk::{feature_checked, feature_on_disk};
pub use releases::{ProductRelease, newer, releases};
pub use ruling::{Effect, Ruling};
pub use server::{ChangedBy, ServerSetting, mysql_setting, postgres_value, server_settings};

/// Reads the tables by which these facts will be judged, while others are still being read; `versions` says whether the
/// tools that make file systems are among those.
pub fn read_ahead(facts: &FactSet, versions: bool) {
    if facts.subjects(Scope::Boot).next().is_some() {
        table::table();
    }
    if versions {
        feature::table();
    }
}

/// The tables as they are compiled in: names and texts.
pub const TABLES: &[(&str, &str)] = &[
    ("rules/tables/features.toml", feature::TEXT),
    ("rules/tables/leaving.toml", crate::servers::LEAVING),
    ("rules/tables/releases.toml", releases::TEXT),
    ("rules/tables/servers.toml", crate::servers::TEXT),
    ("rules/tables/systems.toml", table::SYSTEMS),
    ("rules/tables/validity.toml", table::OPTIONS),
    ("rules/tables/zfs.toml", zfs::TEXT),
];
