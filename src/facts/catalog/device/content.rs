//! The availability of a device for a new use.

use crate::facts::choice;

choice! {
    /// What was found on a device and of its use. One that could not be read is none of these.
    pub enum Content {
        /// Somebody uses it, or something was found on it.
        Holds = "holds",
        /// Not in use, and nothing was found in the places read.
        Free = "free",
        /// Not in use, and read whole: zeros or ones.
        Blank = "blank",
    }
}

impl Content {
    /// Whether a file system may be made on it: nobody uses it, and nothing was found.
    pub fn may_be_given(self) -> bool {
        matches!(self, Self::Free | Self::Blank)
    }
}
