//! Lists the rule files under `rules/`, so that a new file is in the program without a line of its own, and names the commit
//! of a packed crate.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules");
    let variable = |name| env::var(name).map_err(io::Error::other);
    let directory = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("rules");
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            names.extend(path.file_name().and_then(OsStr::to_str).map(str::to_owned));
        }
    }
    names.sort();
    let mut list = String::from("[\n");
    for name in names {
        let text = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/rules/{name}\")");
        writeln!(list, "    (\"rules/{name}\", include_str!({text})),").map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("rules.rs"), list)?;
    name_commit()
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
