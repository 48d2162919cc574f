//! Passes the commit of a packed crate to the compiler as `WALWISE_COMMIT`.

use std::path::Path;
use std::{env, fs, io};

/// Cargo writes this file into a packed crate. Git is not queried, because each commit would then
/// rebuild walwise.
const PACKED: &str = ".cargo_vcs_info.json";

/// Sets WALWISE_COMMIT to the commit from which the source was packed, unless the packager has set
/// this variable in the environment (packaging/binary).
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
