//! Which kernel runs, and who builds it.

use crate::facts::catalog::kernel;
use crate::facts::{FactSet, Subject};
use crate::validity;
use crate::version::Version;

/// The kernel's version and its vendor.
pub fn kernel_of(facts: &FactSet) -> Option<(Version, String)> {
    let host = Subject::host();
    facts.value(&host, &kernel::VERSION).zip(facts.value(&host, &kernel::VENDOR))
}

/// Whether one person builds both kernels, so that the next one has every feature in use.
pub fn built_again(now: Option<&(Version, String)>, then: Option<&(Version, String)>) -> bool {
    now.zip(then)
        .is_some_and(|((now, by), (then, next_by))| validity::builds_again((now, by), (then, next_by)))
}
