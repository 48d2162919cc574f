//! Generates the list of rule files to compile in, so that a new file needs no code.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=rules");
    let root = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| io::Error::other("no CARGO_MANIFEST_DIR"))?;
    let directory = Path::new(&root).join("rules");
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            names.extend(path.file_name().and_then(OsStr::to_str).map(str::to_owned));
        }
    }
    names.sort();
    let mut list = String::from("[\n");
    for name in names {
        let text = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/rules/{name}\")");
        writeln!(list, "    (\"rules/{name}\", include_str!({text})),")
            .map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(Path::new(&out).join("rules.rs"), list)
}
