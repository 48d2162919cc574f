//! A program that runs as another user than root: our own binary becomes him, and then the program.
//!
//! A child between the two is needed because everything has to be given up before the program begins: other groups, user,
//! capabilities, and the way to new ones. Which programs are run so is left to [`super::server`].

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use super::live::{Person, machine, processes, programs};
use super::reader::change::give_up_root;
use super::{Miss, child};

/// The hidden first argument that makes our binary this child; user, group, program and its arguments follow.
const ARGUMENT: &str = "__as";

/// A user of this system who is not root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemUser {
    /// His number.
    pub uid: u32,
    /// The number of his group.
    pub gid: u32,
}

impl SystemUser {
    /// The user of this name in /etc/passwd.
    pub fn called(name: &str) -> Option<Self> {
        machine::user_called(name).map(|(uid, gid)| Self { uid, gid })
    }

    /// A process of his, as `name (pid)`; `None` where there is none. Children that read on his behalf for us, and were told
    /// to end, are waited for.
    pub fn process(self) -> Result<Option<String>, Miss> {
        child::reap();
        processes::one_of(self.uid)
    }

    /// A command by which he runs a program.
    pub(super) fn command(self, program: &Path, words: &[String]) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg(ARGUMENT).arg(self.uid.to_string()).arg(self.gid.to_string()).arg(program).args(words);
        programs::plain(&mut command);
        command
    }
}

/// Becomes the user and the program if this process was started for that; otherwise `None`.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.nth(1)? != ARGUMENT {
        return None;
    }
    let why = becomes(arguments);
    // Whoever started it reads the last line.
    let _ = writeln!(std::io::stderr(), "{why}");
    Some(ExitCode::FAILURE)
}

/// Returns only with the reason why not.
fn becomes(mut arguments: impl Iterator<Item = OsString>) -> String {
    let mut number = || arguments.next().and_then(|word| word.to_str()?.parse::<u32>().ok());
    let (Some(uid), Some(gid)) = (number(), number()) else { return "nobody is named".to_owned() };
    let Some(program) = arguments.next() else { return "no program is named".to_owned() };
    if uid == 0 || gid == 0 {
        return "nothing is run as root on behalf of somebody".to_owned();
    }
    // A crash would hand its memory to whatever the host does with cores.
    let limited = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    if let Err(e) = limited {
        return format!("its limits cannot be set: {}", e.desc());
    }
    if let Err(miss) = give_up_root(&Person { uid, gid, groups: Vec::new() }) {
        return miss.detail;
    }
    let error = Command::new(&program).args(arguments).exec();
    crate::text::error_words(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_becomes_root_and_other_words_are_not_for_it() {
        let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>().into_iter();
        for line in
            [&["0", "26", "/bin/true"][..], &["26", "0", "/bin/true"], &["x", "26"], &["26", "26"], &[]]
        {
            assert!(!becomes(words(line)).is_empty(), "{line:?}");
        }
        assert!(serve(words(&["walwise", "check"])).is_none());
        assert!(serve(words(&["walwise"])).is_none());
    }

    #[test]
    fn users_are_those_of_the_system() {
        assert_eq!(SystemUser::called("root"), Some(SystemUser { uid: 0, gid: 0 }));
        assert_eq!(SystemUser::called("no such user"), None);
    }
}
