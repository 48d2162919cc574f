//! Lists the mount options of the tables, and names the commit of a packed crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules/tables");
    let root = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("no CARGO_MANIFEST_DIR"))?;
    list_options(&Path::new(&root).join("rules"))?;
    name_commit()
}

/// The arrays of mount options in the tables, each on one line.
fn list_options(rules: &Path) -> io::Result<()> {
    let (mut kept, mut dropped) = (BTreeSet::new(), BTreeSet::new());
    for table in ["tables/validity.toml", "tables/systems.toml"] {
        for line in fs::read_to_string(rules.join(table))?.lines() {
            let Some((key, array)) = line.split_once('=') else { continue };
            let names = array.split('"').skip(1).step_by(2);
            let names = names.filter_map(|name| name.split('=').next()).map(str::to_owned);
            match key.trim() {
                "names" | "keeps" => kept.extend(names.filter(|name| !name.ends_with('*'))),
                "drops" => dropped.extend(names),
                _ => {}
            }
        }
    }
    let list: Vec<&String> = kept.difference(&dropped).collect();
    fs::write(out("mount_options.rs")?, format!("&{list:?}"))
}

fn out(file: &str) -> io::Result<PathBuf> {
    let directory = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    Ok(Path::new(&directory).join(file))
}

/// The file that cargo puts into a packed crate. A repository is not asked: its commit would build everything anew.
const PACKED: &str = ".cargo_vcs_info.json";

/// `WALWISE_COMMIT` of a packed crate, unless whoever builds it says so (packaging/binary).
fn name_commit() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=WALWISE_COMMIT");
    if env::var_os("WALWISE_COMMIT").is_some() || !Path::new(PACKED).is_file() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={PACKED}");
    let text = fs::read_to_string(PACKED)?;
    let commit = text.split("\"sha1\": \"").nth(1).and_then(|rest| rest.split('"').next());
    if let Some(commit) = commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        println!("cargo::rustc-env=WALWISE_COMMIT={commit}");
    }
    Ok(())
}
