//! Names the commit of a packed crate.

use std::path::Path;
use std::{env, fs, io};

/// The file that cargo puts into a packed crate. A repository is not asked: its commit would build
/// everything anew.
const PACKED: &str = ".cargo_vcs_info.json";

/// `WALWISE_COMMIT` of a packed crate, unless whoever builds it says so (packaging/binary).
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=WALWISE_COMMIT");
    if env::var_os("WALWISE_COMMIT").is_some() || !Path::new(PACKED).is_file() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={PACKED}");
    let text = fs::read_to_string(PACKED)?;
    let commit = text
        .split("\"sha1\": \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    if let Some(commit) =
        commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        println!("cargo::rustc-env=WALWISE_COMMIT={commit}");
    }
    Ok(())
}
