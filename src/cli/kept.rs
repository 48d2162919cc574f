//! Where reports are kept for the next time, and which is the newest.
//!
//! They are in the state directory (XDG Base Directory Specification), in one directory per host
//! and target, readable by their owner alone. Root's are in /var/lib/walwise whatever the
//! environment says, because sudo may pass on another user's. Names and bounds of the reports in
//! such a directory are left to [`crate::output::series`].

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use super::host::absolute;
use super::{CliError, input, out};
use crate::facts::Subject;
use crate::facts::catalog::host;
use crate::host::path_bytes;
use crate::output::{Access, Destination, Wish, series};
use crate::report::difference::LARGEST;
use crate::report::{Price, price};
use crate::session::{self, Session};
use crate::text;
use crate::way::CreationPolicy;

/// Root's state directory.
const OF_ROOT: &str = "/var/lib/walwise";

/// The largest number of directories that are looked through for prices.
const MOST_SHELVES: usize = 64;

/// The longest part of a file name that is taken from a host or a target.
const LONGEST: usize = 100;

/// The reports that are kept of a host and a target.
pub(super) struct Shelf {
    pub directory: PathBuf,
}

/// What commits cost on this host by the newest report of each shelf of it. What cannot be listed
/// or opened costs itself, with a warning.
pub(super) fn earlier_prices(session: &Session) -> Vec<Price> {
    let warn = |path: &Path, error: &io::Error| {
        out::notice(&format!(
            "an earlier commit latency may be missing: cannot read {}: {}",
            text::safe(path_bytes(path)),
            text::error_words(error)
        ));
    };
    // Without a place nothing was ever kept.
    let Ok(whole) = Shelf::of(session, None) else {
        return Vec::new();
    };
    let (Some(state), Some(host)) = (whole.directory.parent(), whole.directory.file_name()) else {
        return Vec::new();
    };
    let names = input::names(state)
        .or_else(none_of_what_is_missing)
        .unwrap_or_else(|error| {
            warn(state, &error);
            Vec::new()
        });
    let host = host.to_string_lossy();
    let of_host = |name: &&String| {
        name.strip_prefix(&*host)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
    };
    let open = |name: &String| {
        let shelf = Shelf {
            directory: state.join(name),
        };
        let path = shelf
            .newest()
            .map_err(|error| warn(&shelf.directory, &error))
            .ok()??;
        input::open_regular(&path, LARGEST)
            .map_err(|error| warn(&path, &error))
            .ok()
    };
    names
        .iter()
        .filter(of_host)
        .take(MOST_SHELVES)
        .filter_map(open)
        .flat_map(price::read)
        .collect()
}

/// No names, of a directory that does not exist.
fn none_of_what_is_missing(error: io::Error) -> io::Result<Vec<String>> {
    if error.kind() == io::ErrorKind::NotFound {
        Ok(Vec::new())
    } else {
        Err(error)
    }
}

impl Shelf {
    /// That of this host and target.
    pub fn of(session: &Session, target: Option<&Path>) -> Result<Self, CliError> {
        let name = session
            .read
            .value(&Subject::host(), &host::NAME)
            .unwrap_or_else(|| "unknown".to_owned());
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
        Ok(Self {
            directory: directory.join(directory_name(&name, target.as_deref())),
        })
    }

    /// The newest report; `None` where none is kept.
    pub fn newest(&self) -> io::Result<Option<PathBuf>> {
        let names = input::names(&self.directory).or_else(none_of_what_is_missing)?;
        Ok(series::newest(&names).map(|name| self.directory.join(name)))
    }

    /// Finds the place of one more report, and creates its directories. Older ones beyond the
    /// bounds go when it is there.
    pub fn place_next(&self) -> Result<Destination, CliError> {
        let path = self.directory.join(series::date_name(&session::now()));
        let missing = CreationPolicy::Made(0o700);
        let wish = Wish {
            access: Access::Private,
            series: true,
            missing,
            ..Wish::default()
        };
        out::destination(&path, wish)
    }
}

/// The state directory. A relative path is ignored, as the specification demands.
fn directory(root: bool, state: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from(OF_ROOT));
    }
    let own = || {
        home.map(|home| home.join(".local/state"))
            .filter(|path| path.is_absolute())
    };
    state
        .filter(|path| path.is_absolute())
        .or_else(own)
        .map(|state| state.join("walwise"))
}

/// The name of the directory for a host and a target: `db7`, `db7@%2Fsrv%2Fpg`.
fn directory_name(host: &str, target: Option<&Path>) -> String {
    let target = target
        .map(|target| format!("@{}", encoded(path_bytes(target))))
        .unwrap_or_default();
    format!("{}{target}", encoded(host.as_bytes()))
}

/// Bytes as part of a file name; a long one is cut and told apart.
fn encoded(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let letter = |byte: &u8| {
        if plain(byte) {
            char::from(*byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    let whole: String = bytes.iter().map(letter).collect();
    // Neither hidden nor a way upwards.
    let whole = whole
        .strip_prefix('.')
        .map_or(whole.clone(), |rest| format!("%2E{rest}"));
    text::cut_apart(whole, LONGEST, "~", bytes)
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
            (
                false,
                path("x"),
                path("/home/a"),
                path("/home/a/.local/state/walwise"),
            ),
            (
                false,
                None,
                path("/home/a"),
                path("/home/a/.local/state/walwise"),
            ),
            (false, None, path("a"), None),
            (false, None, None, None),
        ];
        for (root, state, home, expected) in cases {
            assert_eq!(
                directory(root, state.clone(), home.clone()),
                expected,
                "{root} {state:?} {home:?}"
            );
        }
    }

    /// Every host and target has a directory of its own, with a name that any file system accepts.
    #[test]
    fn names_of_files_are_told_apart() {
        let long = "/x".repeat(500);
        let longer = "/x".repeat(501);
        let hosts = ["db7", "db7@", "db7@%2Fsrv", "../db7", ".", "\u{202e}"];
        let targets = [
            "/",
            "/srv",
            "/srv/pg",
            "/srv%2Fpg",
            "/srv\n",
            long.as_str(),
            longer.as_str(),
        ];
        let mut seen = BTreeSet::new();
        for host in hosts {
            for target in targets.iter().copied().map(Some).chain([None]) {
                let name = directory_name(host, target.map(Path::new));
                assert!(
                    name.len() <= 255 && !name.contains('/') && name.is_ascii(),
                    "{name}"
                );
                assert!(!name.starts_with('.'), "{name}");
                assert!(seen.insert(name.clone()), "{name} twice");
            }
        }
    }
}
