//! Messages over the errand's line. The child: it is ready, perhaps with a notice; the file exists; it refuses, and
//! why; the draft is written; all is done, under this name where a series gave it one; a warning behind that, or none.
//! The parent: part of the document; the end; rename it.

pub const READY: u8 = b'r';
pub const EXISTS: u8 = b'x';
pub const REFUSED: u8 = b'e';
pub const WRITTEN: u8 = b'w';
pub const DONE: u8 = b'd';
pub const WARNING: u8 = b'!';
pub const PART: u8 = b'p';
pub const ALL: u8 = b'a';
pub const NAME_IT: u8 = b'n';
