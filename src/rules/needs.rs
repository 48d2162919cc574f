//! What would decide a condition that cannot be decided: the smallest sets of unknown facts.

use super::ground::Ground;
use crate::facts::Need;

/// The smallest sets of missing facts of which each alone could decide it, smallest first.
pub(super) fn needs(_ground: &Ground<'_>) -> Vec<Vec<Need>> {
    Vec::new()
}
