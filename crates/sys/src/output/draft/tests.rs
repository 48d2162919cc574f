use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::deadline::{ThreadInTime, wait_for_condition};
use crate::output::FilePermissions;
use crate::safe_path::MissingDirectoryPolicy;
use std::sync::atomic::Ordering;

const USUAL: OutputOptions = OutputOptions {
    existing: ExistingFilePolicy::Replaced,
    access: FilePermissions::Private,
    executable: false,
    series: false,
    missing: MissingDirectoryPolicy::Refused,
};

const SERIES: OutputOptions = OutputOptions {
    series: true,
    ..USUAL
};

struct TestDirectory(tempfile::TempDir);

impl TestDirectory {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(&self, name: &str, options: OutputOptions, document: &str) -> Result<(), WriteError> {
        write(
            TrustedUser::current_user(),
            &self.join(name),
            options,
            document,
        )
    }
}

fn write(
    walker: TrustedUser,
    path: &Path,
    options: OutputOptions,
    document: &str,
) -> Result<(), WriteError> {
    let location = OutputLocation::resolve_and_check_writable(walker, path, options)?;
    location
        .write_draft(document.as_bytes())?
        .publish()
        .map(|_| ())
}

fn write_next_in_series(
    place: &TestDirectory,
    date: &str,
    document: &str,
) -> Result<String, WriteError> {
    let path = place.join(&series::dated_file_name(date));
    let location =
        OutputLocation::resolve_and_check_writable(TrustedUser::current_user(), &path, SERIES)?;
    let named = location.write_draft(document.as_bytes())?.publish()?;
    assert_eq!(named.warning, None);
    Ok(named.series_name.unwrap())
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn foreign_file_or_directory_is_not_continued() {
    let place = TestDirectory::new();
    let continued = OutputOptions {
        existing: ExistingFilePolicy::Continued,
        ..USUAL
    };
    place.write("record", continued, "first").unwrap();
    place.write("record", continued, "second").unwrap();
    chown(place.join("record"), Some(4242), None).unwrap();
    let refused = place.write("record", continued, "third").unwrap_err();
    assert!(
        matches!(&refused, WriteError::For(why) if why.contains("belongs to uid 4242")),
        "{refused:?}"
    );
    assert_eq!(fs::read(place.join("record")).unwrap(), b"second");
    // A document in another user's directory is not continued either, because that user can replace
    // the file at any time.
    chown(place.0.path(), Some(4242), None).unwrap();
    let refused = place.write("other", continued, "third").unwrap_err();
    assert!(
        matches!(&refused, WriteError::For(why) if why.contains("belongs to uid 4242")),
        "{refused:?}"
    );
}

fn permission_bits(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn replaced_file_keeps_no_mode_inode_or_links() {
    for old in [0o666, 0o6777, 0o4755, 0o400] {
        let place = TestDirectory::new();
        fs::write(place.join("report"), "theirs").unwrap();
        fs::set_permissions(place.join("report"), Permissions::from_mode(old)).unwrap();
        fs::hard_link(place.join("report"), place.join("other name")).unwrap();
        let open = fs::File::open(place.join("report")).unwrap();
        place.write("report", USUAL, "ours").unwrap();
        assert_eq!(fs::read(place.join("report")).unwrap(), b"ours");
        assert_eq!(permission_bits(&place.join("report")), 0o600, "{old:o}");
        let new = fs::metadata(place.join("report")).unwrap();
        assert_ne!(new.ino(), open.metadata().unwrap().ino());
        assert_eq!(
            (new.nlink(), new.uid()),
            (1, nix::unistd::geteuid().as_raw())
        );
        assert_eq!(fs::read(place.join("other name")).unwrap(), b"theirs");
        assert_eq!(place.file_names(), ["other name", "report"]);
    }
}

#[test]
fn mode_is_the_requested_one_or_follows_umask() {
    let place = TestDirectory::new();
    // This file has the mode that results from the umask of the test process.
    fs::write(place.join("usual"), "").unwrap();
    place
        .write(
            "by umask",
            OutputOptions {
                access: FilePermissions::Standard,
                ..USUAL
            },
            "",
        )
        .unwrap();
    let usual = if nix::unistd::geteuid().is_root() {
        0o600
    } else {
        permission_bits(&place.join("usual"))
    };
    assert_eq!(permission_bits(&place.join("by umask")), usual);
    for wanted in [0o600, 0o640, 0o644, 0o755] {
        place
            .write(
                "report",
                OutputOptions {
                    access: FilePermissions::Mode(wanted),
                    ..USUAL
                },
                "",
            )
            .unwrap();
        assert_eq!(permission_bits(&place.join("report")), wanted);
    }
}

#[test]
fn only_a_regular_file_is_ever_replaced() {
    let place = TestDirectory::new();
    fs::create_dir(place.join("directory")).unwrap();
    nix::unistd::mkfifo(&place.join("fifo"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.join("socket")).unwrap();
    symlink("/dev/null", place.join("link")).unwrap();
    symlink("fifo", place.join("other")).unwrap();
    let before = place.file_names();
    for name in ["directory", "fifo", "socket", "link", "other"] {
        assert!(place.write(name, USUAL, "ours").is_err(), "{name}");
    }
    assert_eq!(place.file_names(), before);
    assert!(
        fs::symlink_metadata(place.join("fifo"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
}

#[test]
fn own_symlink_is_followed_and_stays() {
    let place = TestDirectory::new();
    fs::create_dir(place.join("elsewhere")).unwrap();
    fs::write(place.join("elsewhere/file"), "old").unwrap();
    symlink("elsewhere/file", place.join("link")).unwrap();
    place.write("link", USUAL, "new").unwrap();
    assert_eq!(fs::read(place.join("elsewhere/file")).unwrap(), b"new");
    assert!(
        fs::symlink_metadata(place.join("link"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn kept_policy_never_replaces_an_existing_file() {
    let place = TestDirectory::new();
    let new = OutputOptions {
        existing: ExistingFilePolicy::Kept,
        ..USUAL
    };
    let location = OutputLocation::resolve_and_check_writable(
        TrustedUser::current_user(),
        &place.join("report"),
        new,
    )
    .unwrap();
    let draft = location.write_draft(b"ours").unwrap();
    fs::write(place.join("report"), "theirs").unwrap();
    assert_eq!(draft.publish(), Err(WriteError::Exists));
    assert_eq!(place.write("report", new, "ours"), Err(WriteError::Exists));
    assert_eq!(fs::read(place.join("report")).unwrap(), b"theirs");
    assert_eq!(place.file_names(), ["report"]);
    place.write("other", new, "ours").unwrap();
}

#[test]
fn concurrent_foreign_continuation_is_refused() {
    let continued = OutputOptions {
        existing: ExistingFilePolicy::Continued,
        ..USUAL
    };
    for first in [None, Some("begun")] {
        let place = TestDirectory::new();
        if let Some(text) = first {
            place.write("record", continued, text).unwrap();
        }
        let location = OutputLocation::resolve_and_check_writable(
            TrustedUser::current_user(),
            &place.join("record"),
            continued,
        )
        .unwrap();
        place.write("record", continued, "theirs").unwrap();
        let refused = location
            .write_draft(b"ours")
            .unwrap()
            .publish()
            .unwrap_err();
        assert!(
            matches!(&refused, WriteError::For(why) if why.contains("try again")),
            "{refused:?}"
        );
        assert_eq!(fs::read(place.join("record")).unwrap(), b"theirs");
        assert_eq!(place.file_names(), ["record"]);
    }
}

/// Another user replaces the file or its directory between the check and the write.
#[test]
fn swapped_directory_or_link_cannot_redirect_the_write() {
    let place = TestDirectory::new();
    fs::create_dir(place.join("reports")).unwrap();
    let location = OutputLocation::resolve_and_check_writable(
        TrustedUser::current_user(),
        &place.join("reports/x"),
        USUAL,
    )
    .unwrap();
    fs::rename(place.join("reports"), place.join("before")).unwrap();
    fs::create_dir(place.join("precious")).unwrap();
    fs::write(place.join("precious/x"), "precious").unwrap();
    symlink("precious", place.join("reports")).unwrap();
    location.write_draft(b"ours").unwrap().publish().unwrap();
    assert_eq!(fs::read(place.join("precious/x")).unwrap(), b"precious");
    assert_eq!(fs::read(place.join("before/x")).unwrap(), b"ours");

    let location = OutputLocation::resolve_and_check_writable(
        TrustedUser::current_user(),
        &place.join("y"),
        USUAL,
    )
    .unwrap();
    let draft = location.write_draft(b"ours").unwrap();
    symlink("precious/x", place.join("y")).unwrap();
    assert!(draft.publish().is_err());
    assert_eq!(fs::read(place.join("precious/x")).unwrap(), b"precious");
}

#[test]
fn unwritable_location_is_refused_before_writing() {
    let place = TestDirectory::new();
    assert!(
        OutputLocation::resolve_and_check_writable(
            TrustedUser::current_user(),
            &place.join("none/report"),
            USUAL
        )
        .is_err()
    );
    assert!(
        OutputLocation::resolve_and_check_writable(
            TrustedUser::current_user(),
            Path::new("/proc/report"),
            USUAL
        )
        .is_err()
    );
    drop(
        OutputLocation::resolve_and_check_writable(
            TrustedUser::current_user(),
            &place.join("report"),
            USUAL,
        )
        .unwrap(),
    );
    assert_eq!(place.file_names(), [""; 0], "a draft stays nowhere");
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn script_is_refused_in_foreign_directory() {
    let place = TestDirectory::new();
    let script = OutputOptions {
        executable: true,
        ..USUAL
    };
    place.write("setup.sh", script, "").unwrap();
    chown(place.0.path(), Some(4242), None).unwrap();
    assert!(
        matches!(place.write("setup.sh", script, ""), Err(WriteError::For(why)) if why.contains("uid 4242"))
    );
    let location = OutputLocation::resolve_and_check_writable(
        TrustedUser::current_user(),
        &place.join("report"),
        USUAL,
    )
    .unwrap();
    assert!(
        location
            .notice
            .is_some_and(|notice| notice.contains("belongs to uid 4242"))
    );
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn sticky_directory_lets_only_root_replace_foreign_files() {
    let place = TestDirectory::new();
    fs::set_permissions(place.0.path(), Permissions::from_mode(0o1777)).unwrap();
    fs::write(place.join("report"), "theirs").unwrap();
    chown(place.join("report"), Some(4242), None).unwrap();
    let other = TrustedUser {
        uid: 4343,
        gid: 4343,
    };
    assert!(
        matches!(write(other, &place.join("report"), USUAL, ""), Err(WriteError::For(why)) if why.contains("uid 4242"))
    );
    place.write("report", USUAL, "ours").unwrap();
    assert_eq!(fs::metadata(place.join("report")).unwrap().uid(), 0);
}

#[test]
fn excess_series_documents_are_removed_other_files_stay() {
    let place = TestDirectory::new();
    for other in ["notes.json", "000001.json", "x-000001-a.json"] {
        fs::write(place.join(other), "theirs").unwrap();
    }
    fs::create_dir(place.join("000000-directory.json")).unwrap();
    symlink(place.join("notes.json"), place.join("000000-link.json")).unwrap();
    for number in 1..70 {
        assert_eq!(
            write_next_in_series(&place, "a", "ours").unwrap(),
            format!("{number:06}-a.json")
        );
    }
    let kept = |number: u32| place.join(&format!("{number:06}-a.json")).exists();
    assert_eq!(
        (1..70).filter(|number| kept(*number)).collect::<Vec<u32>>(),
        (10..70).collect::<Vec<u32>>()
    );
    for other in [
        "notes.json",
        "000001.json",
        "x-000001-a.json",
        "000000-directory.json",
        "000000-link.json",
    ] {
        assert!(fs::symlink_metadata(place.join(other)).is_ok(), "{other}");
    }
}

#[test]
fn concurrent_series_writers_get_distinct_numbers() {
    for dates in [&["a"][..], &["a", "b", "c"]] {
        let place = TestDirectory::new();
        write_next_in_series(&place, "z", "0").unwrap();
        let text = |writer: usize| format!("{writer}").repeat(9000);
        let come = std::sync::atomic::AtomicU32::new(0);
        let written: Vec<(usize, String)> = std::thread::scope(|scope| {
            let write = |writer: usize| {
                let (place, come) = (&place, &come);
                scope.spawn(move || {
                    come.fetch_add(1, Ordering::SeqCst);
                    wait_for_condition("all have come", || come.load(Ordering::SeqCst) == 15);
                    let date = dates[writer % dates.len()];
                    (0..3)
                        .map(|_| {
                            (
                                writer,
                                write_next_in_series(place, date, &text(writer)).unwrap(),
                            )
                        })
                        .collect::<Vec<_>>()
                })
            };
            let writers: Vec<_> = (0..15).map(write).collect();
            writers
                .into_iter()
                .flat_map(ThreadInTime::join_in_time)
                .collect()
        });
        let names = place.file_names();
        let numbers: std::collections::BTreeSet<&str> =
            names.iter().map(|name| &name[..6]).collect();
        assert_eq!((names.len(), numbers.len()), (46, 46), "{names:?}");
        for (writer, name) in written {
            assert_eq!(
                fs::read_to_string(place.join(&name)).unwrap(),
                text(writer),
                "{name}"
            );
        }
    }
}

/// After the largest number, saving fails.
#[test]
fn series_numbers_skip_claims_and_run_out() {
    let place = TestDirectory::new();
    fs::write(place.join(&series::draft_name(1)), "").unwrap();
    assert_eq!(
        write_next_in_series(&place, "a", "").unwrap(),
        "000002-a.json"
    );
    fs::write(place.join("4294967295-a.json"), "").unwrap();
    let refused = write_next_in_series(&place, "a", "").unwrap_err();
    assert!(
        matches!(&refused, WriteError::For(why) if why.contains("is the last report number")),
        "{refused:?}"
    );
    assert_eq!(place.file_names().len(), 3);
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn series_is_refused_in_foreign_directory() {
    let place = TestDirectory::new();
    write_next_in_series(&place, "a", "").unwrap();
    chown(place.0.path(), Some(4242), None).unwrap();
    let refused = write_next_in_series(&place, "a", "").unwrap_err();
    assert!(
        matches!(&refused, WriteError::For(why) if why.contains("uid 4242")),
        "{refused:?}"
    );
}
