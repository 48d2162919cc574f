//! Saves reports for later comparison, and finds the newest one.
//!
//! Reports are in the state directory (XDG Base Directory Specification), one directory per host
//! and target, mode 0700. Root uses /var/lib/walwise regardless of the environment, because sudo
//! may pass on another user's variables. [`crate::output::series`] names and rotates the files.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use super::error::path_error_text;
use super::host::absolute_path;
use super::{CliError, file_reader};
use crate::facts::Subject;
use crate::facts::catalog::host;
use crate::host::path_bytes;
use crate::output::{FilePermissions, OutputOptions, series};
use crate::report::difference::MAX_BYTES;
use crate::report::{CommitLatency, latency};
use crate::safe_path::MissingDirectoryPolicy;
use crate::session::{self, Session};
use crate::text;

const ROOT_STATE_DIRECTORY: &str = "/var/lib/walwise";

const MAX_DIRECTORIES: usize = 64;

/// Length limit in characters, for the encoded host and for the encoded target.
const MAX_NAME_LENGTH: usize = 100;

pub(super) struct ReportStore {
    pub directory: PathBuf,
}

/// The commit latencies in the newest saved reports of this host. At most [`MAX_DIRECTORIES`]
/// report directories are read; the reason for an unreadable one goes to `notify`.
pub(super) fn read_saved_latencies(session: &Session, notify: impl Fn(&str)) -> Vec<CommitLatency> {
    let warn = |path: &Path, error: &io::Error| {
        let why = path_error_text("read", path, error);
        notify(&format!("an earlier commit latency may be missing: {why}"));
    };
    // Without a state directory, no report was ever saved.
    let Ok(whole) = ReportStore::for_target(session, None) else {
        return Vec::new();
    };
    let (Some(state), Some(host)) = (whole.directory.parent(), whole.directory.file_name()) else {
        return Vec::new();
    };
    let names = file_reader::list_file_names(state)
        .or_else(empty_if_missing)
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
        let store = ReportStore {
            directory: state.join(name),
        };
        let path = store
            .find_newest_report()
            .map_err(|error| warn(&store.directory, &error))
            .ok()??;
        file_reader::open_regular_file(&path, MAX_BYTES)
            .map_err(|error| warn(&path, &error))
            .ok()
    };
    names
        .iter()
        .filter(of_host)
        .take(MAX_DIRECTORIES)
        .filter_map(open)
        .flat_map(latency::read_latencies)
        .collect()
}

fn empty_if_missing(error: io::Error) -> io::Result<Vec<String>> {
    if error.kind() == io::ErrorKind::NotFound {
        Ok(Vec::new())
    } else {
        Err(error)
    }
}

impl ReportStore {
    pub fn for_target(session: &Session, target: Option<&Path>) -> Result<Self, CliError> {
        let name = session
            .facts
            .value(&Subject::host(), &host::NAME)
            .unwrap_or_else(|| "unknown".to_owned());
        // Removes trailing slashes and `.` components, so that each target has one directory.
        let target = target.map(absolute_path).transpose()?;
        let target = target.map(|target| target.components().collect::<PathBuf>());
        let directory = state_directory(
            nix::unistd::geteuid().is_root(),
            env::var_os("XDG_STATE_HOME").map(PathBuf::from),
            env::var_os("HOME").map(PathBuf::from),
        );
        let Some(directory) = directory else {
            return Err(CliError::Usage(
                "HOME is not set, so there is no directory for baselines; write the report to a file with \
                 --format json --output FILE"
                    .to_owned(),
            ));
        };
        Ok(Self {
            directory: directory.join(report_directory_name(&name, target.as_deref())),
        })
    }

    pub fn find_newest_report(&self) -> io::Result<Option<PathBuf>> {
        let newest = self.list_dated_reports()?.into_iter().next();
        Ok(newest.map(|(path, _)| path))
    }

    /// The newest report is first.
    pub fn list_dated_reports(&self) -> io::Result<Vec<(PathBuf, String)>> {
        let names = file_reader::list_file_names(&self.directory).or_else(empty_if_missing)?;
        let dated = series::dated_documents_newest_first(names).into_iter();
        Ok(dated
            .map(|(name, date)| (self.directory.join(name), date))
            .collect())
    }

    /// Opening the path creates a missing directory; committing it removes older reports beyond the
    /// limits of [`series`].
    pub fn next_report_destination(&self) -> (PathBuf, OutputOptions) {
        let path = self
            .directory
            .join(series::dated_file_name(&session::now_rfc3339()));
        let missing = MissingDirectoryPolicy::Made(0o700);
        let wish = OutputOptions {
            access: FilePermissions::Private,
            series: true,
            missing,
            ..OutputOptions::default()
        };
        (path, wish)
    }
}

/// The directory for saved reports. Relative paths are ignored, as the XDG Base Directory
/// Specification demands. `None` if no absolute path is left.
fn state_directory(root: bool, state: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from(ROOT_STATE_DIRECTORY));
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

/// Builds the directory name for a host and a target, such as `db7` or `db7@%2Fsrv%2Fpg`.
fn report_directory_name(host: &str, target: Option<&Path>) -> String {
    let target = target
        .map(|target| format!("@{}", encode_path_component(path_bytes(target))))
        .unwrap_or_default();
    format!("{}{target}", encode_path_component(host.as_bytes()))
}

/// A long name is cut and gets a hash suffix.
fn encode_path_component(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let letter = |byte: &u8| {
        if plain(byte) {
            char::from(*byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    let whole: String = bytes.iter().map(letter).collect();
    // A leading dot would hide the directory, or refer to its parent.
    let whole = whole
        .strip_prefix('.')
        .map_or(whole.clone(), |rest| format!("%2E{rest}"));
    text::truncate_with_hash(whole, MAX_NAME_LENGTH, "~", bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn state_directory_follows_root_and_xdg_rules() {
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
                state_directory(root, state.clone(), home.clone()),
                expected,
                "{root} {state:?} {home:?}"
            );
        }
    }

    #[test]
    fn directory_names_are_unique_safe_and_bounded() {
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
                let name = report_directory_name(host, target.map(Path::new));
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
