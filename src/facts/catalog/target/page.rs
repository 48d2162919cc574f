//! The conclusion about the pages that a server overwrites on a target.

use crate::facts::choice;

choice! {
    /// What becomes of a page on its way to the device when the power fails.
    pub enum PageWrites {
        /// The file system never overwrites a page in place.
        Whole = "whole",
        /// The provider documents that it is written whole or not at all, and every link of the documented setup was read and holds.
        Documented = "documented",
        /// No link is known to be broken, and not every one is known.
        Unknown = "unknown",
        /// A link is broken, so that half a page can be left.
        Broken = "broken",
    }
}
