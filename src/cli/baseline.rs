//! The report that a check is compared with, and the storage of a report for the next time.
//!
//! A kept report is in the state directory (XDG Base Directory Specification), one per host and target, readable by its
//! owner alone. Root's is in /var/lib/walwise whatever the environment says, because sudo may pass on another user's.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use super::args::Check;
use super::host::absolute;
use super::{CliError, input, out};
use crate::facts::Subject;
use crate::facts::catalog::host;
use crate::host::path_bytes;
use crate::output::{Access, Destination, Wish};
use crate::pipeline::Session;
use crate::quote::Command;
use crate::report::Format;
use crate::report::difference::Kept;
use crate::text;
use crate::way::CreationPolicy;

/// The value of `--baseline` for the report that was kept last.
const LAST: &str = "last";

/// Root's state directory.
const OF_ROOT: &str = "/var/lib/walwise";

/// The longest part of a file name that is taken from a host or a target.
const LONGEST: usize = 100;

/// Checks that the options are compatible.
pub(super) fn check(args: &Check) -> Result<(), CliError> {
    if args.baseline.is_none() || args.format.compares() {
        return Ok(());
    }
    let forms: Vec<_> = Format::ALL.into_iter().filter(|form| form.compares()).map(Format::name).collect();
    Err(CliError::Usage(format!(
        "a difference is shown in {} only; leave out --baseline, or take --format {}",
        forms.join(" and "),
        forms.join(" or ")
    )))
}

/// The report to compare with, if one was requested.
pub(super) fn load(args: &Check, session: &Session) -> Result<Option<Kept>, CliError> {
    let Some(name) = &args.baseline else { return Ok(None) };
    let last = name == Path::new(LAST);
    let path = if last { place(session, args.target.as_deref())? } else { name.clone() };
    let refuse = |what: String| CliError::Usage(format!("cannot compare with {}: {what}", path.display()));
    let kept = input::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if last => CliError::Usage(format!(
            "no baseline is kept in {}; `{}` keeps one",
            text::safe(path_bytes(&path)),
            keeps(args.target.as_deref())
        )),
        io::ErrorKind::IsADirectory => refuse(format!(
            "it is a directory; name a report, or write `--baseline {LAST}` before the target"
        )),
        _ => refuse(text::error_words(&error)),
    })?;
    Kept::parse(kept).map(Some).map_err(|error| refuse(error.to_string()))
}

/// The command that keeps a baseline.
fn keeps(target: Option<&Path>) -> String {
    let of = |target: &Path| Command::check(&text::safe(path_bytes(target)), " --save");
    Command::or_why(target.map_or(Some(Command::new("walwise check --save")), of))
}

/// Finds the place of a report for the next time, and creates its directories.
pub(super) fn keep(session: &Session, target: Option<&Path>) -> Result<(PathBuf, Destination), CliError> {
    let path = place(session, target)?;
    let wish = Wish { access: Access::Private, missing: CreationPolicy::AllMade(0o700), ..Wish::default() };
    let found = out::destination(&path, wish)?;
    Ok((path, found))
}

/// The path of the kept report of this host and target.
fn place(session: &Session, target: Option<&Path>) -> Result<PathBuf, CliError> {
    let name = session.read.value(&Subject::host(), &host::NAME).unwrap_or_else(|| "unknown".to_owned());
    // In a canonical form: without a trailing slash or `.` components.
    let target = absolute(target)?.map(|target| target.components().collect::<PathBuf>());
    let directory = directory(
        nix::unistd::geteuid().is_root(),
        env::var_os("XDG_STATE_HOME").map(PathBuf::from),
        env::var_os("HOME").map(PathBuf::from),
    );
    let Some(directory) = directory else {
        return Err(CliError::Usage(
            "there is no place to keep a baseline, as HOME is not set; write the report to a file of your choice with \
             --format json --output FILE"
                .to_owned(),
        ));
    };
    Ok(directory.join(file_name(&name, target.as_deref())))
}

/// The state directory. A relative path is ignored, as the specification demands.
fn directory(root: bool, state: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from(OF_ROOT));
    }
    let own = || home.map(|home| home.join(".local/state")).filter(|path| path.is_absolute());
    state.filter(|path| path.is_absolute()).or_else(own).map(|state| state.join("walwise"))
}

/// The name of a file for a host and a target: `db7.json`, `db7@%2Fsrv%2Fpg.json`.
fn file_name(host: &str, target: Option<&Path>) -> String {
    let target = target.map(|target| format!("@{}", encoded(path_bytes(target)))).unwrap_or_default();
    format!("{}{target}.json", encoded(host.as_bytes()))
}

/// Bytes as part of a file name; a long one is cut and made unique by its hash (FNV-1a).
fn encoded(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let letter = |byte: &u8| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    let whole: String = bytes.iter().map(letter).collect();
    match whole.get(..LONGEST) {
        Some(beginning) if whole.len() > LONGEST => {
            let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            format!("{beginning}~{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_state_directory_is_root_s_own_or_the_user_s() {
        let path = |text: &str| Some(PathBuf::from(text));
        let cases = [
            (true, path("/x"), path("/home/a"), path("/var/lib/walwise")),
            (true, None, None, path("/var/lib/walwise")),
            (false, path("/x"), path("/home/a"), path("/x/walwise")),
            (false, path("x"), path("/home/a"), path("/home/a/.local/state/walwise")),
            (false, None, path("/home/a"), path("/home/a/.local/state/walwise")),
            (false, None, path("a"), None),
            (false, None, None, None),
        ];
        for (root, state, home, expected) in cases {
            assert_eq!(directory(root, state.clone(), home.clone()), expected, "{root} {state:?} {home:?}");
        }
    }

    /// Every host and target has a file of its own, with a name that any file system accepts.
    #[test]
    fn names_of_files_are_told_apart() {
        let long = "/x".repeat(500);
        let longer = "/x".repeat(501);
        let hosts = ["db7", "db7@", "db7@%2Fsrv", "../db7", ".", "\u{202e}"];
        let targets = ["/", "/srv", "/srv/pg", "/srv%2Fpg", "/srv\n", long.as_str(), longer.as_str()];
        let mut seen = BTreeSet::new();
        for host in hosts {
            for target in targets.iter().copied().map(Some).chain([None]) {
                let name = file_name(host, target.map(Path::new));
                assert!(name.len() <= 255 && !name.contains('/') && name.is_ascii(), "{name}");
                assert!(name != "." && name != "..", "{name}");
                assert!(seen.insert(name.clone()), "{name} twice");
            }
        }
    }
}
