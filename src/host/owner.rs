//! The owner of what is read: whom a reading child becomes.
//!
//! How it becomes him is left to [`super::reader`].

use serde::{Deserialize, Serialize};

use crate::subprocess::Bytes;

/// Whom the child becomes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner {
    /// The user, who is not root.
    pub uid: u32,
    /// A process of this user, whose groups are taken; without one, his group in /etc/passwd alone.
    pub process: Option<u32>,
    /// Whether paths are relative to the process' own root.
    pub inside: bool,
    /// The socket to connect while the child is still root.
    pub socket: Option<Bytes>,
}
