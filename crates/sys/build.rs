//! Generates the list of mount options whose values a capture may hold, from the tables of mount
//! options.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs, io};

/// Writes the allow-list to `mount_options.rs`. Each table is parsed line by line, so each array of
/// mount options must be on one line.
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=tables");
    let (mut kept, mut dropped) = (BTreeSet::new(), BTreeSet::new());
    for table in ["validity.toml", "systems.toml"] {
        for line in fs::read_to_string(Path::new("tables").join(table))?.lines() {
            let Some((key, array)) = line.split_once('=') else {
                continue;
            };
            let names = array.split('"').skip(1).step_by(2);
            let names = names
                .filter_map(|name| name.split('=').next())
                .map(str::to_owned);
            match key.trim() {
                "names" | "keeps" => kept.extend(names.filter(|name| !name.ends_with('*'))),
                "drops" => dropped.extend(names),
                _ => {}
            }
        }
    }
    let list: Vec<&String> = kept.difference(&dropped).collect();
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(
        Path::new(&out).join("mount_options.rs"),
        format!("&{list:?}"),
    )
}
