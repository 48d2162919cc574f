//! The owner of what is read: whom a reading child becomes, as one line.
//!
//! How it becomes him is left to [`super::reader`].

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::path_bytes;
use crate::text;

/// The word that the first line of input begins with.
const WORD: &str = "owner";

/// Whom the child becomes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The user, who is not root.
    pub uid: u32,
    /// A process of this user, whose groups are taken; without one, his group in /etc/passwd alone.
    pub process: Option<u32>,
    /// Whether paths are relative to the process' own root.
    pub inside: bool,
    /// The socket to connect while the child is still root.
    pub socket: Option<PathBuf>,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, process, inside, socket } = self;
        let process = process.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
        let place = if *inside { "inside" } else { "here" };
        write!(f, "{WORD} {uid} {process} {place}")?;
        match socket {
            Some(path) => write!(f, " {}", text::safe(path_bytes(path))),
            None => Ok(()),
        }
    }
}

impl Owner {
    /// The inverse of its display form.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let is_one = words.next()? == WORD;
        let uid = words.next()?.parse().ok()?;
        let process = match words.next()? {
            "-" => None,
            pid => Some(pid.parse().ok()?),
        };
        let inside = match words.next()? {
            "inside" => true,
            "here" => false,
            _ => return None,
        };
        let socket = words.next().map(|path| PathBuf::from(OsString::from_vec(text::raw(path))));
        is_one.then_some(Self { uid, process, inside, socket })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_says_whom(uid: u32, process: Option<u32>, inside: bool, socket: Option<Vec<u8>>) {
            let socket = socket.map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
            let owner = Owner { uid, process, inside, socket };
            let line = owner.to_string();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(Owner::parse(&line), Some(owner));
        }

        #[test]
        fn other_lines_say_nobody(line: String) {
            prop_assume!(!line.starts_with(WORD));
            prop_assert_eq!(Owner::parse(&line), None);
        }
    }
}
