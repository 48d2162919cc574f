//! `walwise --version`: the version, the commit that the program was built from, and the rules and tables in it.
//!
//! Whoever builds it names the commit (packaging/binary), or the packed crate does (build.rs).

use crate::pipeline;

/// A line each; scripts may rely on the first one, which is `walwise VERSION`.
pub(super) fn lines() -> String {
    let commit = option_env!("WALWISE_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.unwrap_or("unknown: whoever built this did not name it");
    let pack = pipeline::shipped_fingerprint();
    format!("walwise {}\ncommit {commit}\npack   {pack}\n", env!("CARGO_PKG_VERSION"))
}
