//! How much a line of the next boot matters when it fails.

use crate::facts::catalog::boot;
use crate::facts::{FactSet, Subject};
use crate::rules::Level;

/// The level of a failing line: the boot stops, or continues without it.
pub(super) fn weight(facts: &FactSet, line: &Subject) -> Level {
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let has = |word: &str| options.iter().any(|option| option == word);
    let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
    let by_itself = facts.value(line, &boot::AUTO) != Some(false);
    let waits = by_itself && !["nofail", "_netdev", "x-systemd.automount"].into_iter().any(has);
    if is_root || waits { Level::Critical } else { Level::Warning }
}
