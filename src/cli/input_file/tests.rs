use std::io::Write;
use std::os::unix::net::UnixListener;
use std::thread;

use nix::sys::stat::Mode as FileMode;

use super::*;
use crate::deadline::ThreadInTime as _;

const LARGEST: u64 = 9000;

fn read(path: &Path, kinds: AcceptedFileTypes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    InputFile::open(path, kinds, LARGEST)?
        .read_to_end(&mut bytes)
        .map(|_| bytes)
}

#[test]
fn sockets_devices_and_directories_are_refused_with_reason() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let _listener = UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("socket", at("link")).unwrap();
    for (path, what) in [
        (at("socket"), "it is a socket"),
        (at("link"), "it is a socket"),
        (PathBuf::from("/dev/zero"), "it is a device"),
        (directory.path().to_owned(), "it is a directory"),
    ] {
        let says = read(&path, AcceptedFileTypes::FilesAndPipes)
            .unwrap_err()
            .to_string();
        assert_eq!(says, format!("{what}; specify a regular file or a pipe"));
    }
    let kind = |name: &str| {
        read(&at(name), AcceptedFileTypes::FilesAndPipes)
            .unwrap_err()
            .kind()
    };
    assert_eq!(
        (kind("."), kind("none")),
        (ErrorKind::IsADirectory, ErrorKind::NotFound)
    );
    nix::unistd::mkfifo(&at("fifo"), FileMode::S_IRWXU).unwrap();
    let says = read(&at("fifo"), AcceptedFileTypes::Files)
        .unwrap_err()
        .to_string();
    assert_eq!(says, "it is not a regular file; specify a regular file");
}

#[test]
fn size_limit_applies_to_files_and_pipes() {
    let directory = tempfile::tempdir().unwrap();
    let (file, fifo) = (directory.path().join("file"), directory.path().join("fifo"));
    nix::unistd::mkfifo(&fifo, FileMode::S_IRWXU).unwrap();
    for size in [0, 1, LARGEST, LARGEST + 1, LARGEST * 9] {
        let document = vec![b'x'; usize::try_from(size).unwrap()];
        fs::write(&file, &document).unwrap();
        let writer = {
            let (fifo, document) = (fifo.clone(), document.clone());
            // Opening a fifo for writing blocks until the reader opens it, and the reader may close
            // it early.
            thread::spawn(move || {
                File::options()
                    .write(true)
                    .open(fifo)
                    .unwrap()
                    .write_all(&document)
            })
        };
        for path in [&fifo, &file] {
            match read(path, AcceptedFileTypes::FilesAndPipes) {
                Ok(bytes) => assert!(bytes == document && size <= LARGEST, "{path:?} {size}"),
                Err(error) => {
                    assert!(size > LARGEST, "{path:?} {size}: {error}");
                    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
                }
            }
        }
        let _ = writer.join_in_time();
    }
}

#[test]
fn descriptor_paths_name_parent_process() {
    let parent = nix::unistd::getppid();
    for directory in DESCRIPTOR_DIRECTORIES {
        assert_eq!(
            parent_descriptor_path(&Path::new(directory).join("63")),
            PathBuf::from(format!("/proc/{parent}/fd/63"))
        );
    }
    for other in [
        "/dev/fd",
        "/dev/fd/x",
        "/dev/fd/3/4",
        "/dev/stdin",
        "fd/3",
        "/proc/1/fd/3",
    ] {
        assert_eq!(parent_descriptor_path(Path::new(other)), Path::new(other));
    }
}

#[test]
fn directory_entries_lists_files_or_fails() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), "").unwrap();
    assert_eq!(
        directory_entries(directory.path()).unwrap(),
        [directory.path().join("a")]
    );
    assert!(directory_entries(&directory.path().join("none")).is_err());
}
