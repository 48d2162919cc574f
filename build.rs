//! Lists the rule files under `rules/`, so that a new file is in the program without a line of its own.

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
    fs::write(Path::new(&variable("OUT_DIR")?).join("rules.rs"), list)
}
