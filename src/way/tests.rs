//! Paths as root and as another user, on directories of this test. Tests that need another owner need root, and are
//! ignored unless requested.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

use super::*;

const SOMEBODY: u32 = 4242;

struct Tree(tempfile::TempDir);

impl Tree {
    /// A directory that only we can write, with two more beneath it.
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(tree.at("one/two")).unwrap();
        for name in ["", "one", "one/two"] {
            tree.mode(name, 0o755);
        }
        tree
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
    }

    fn link(&self, to: &str, name: &str) {
        symlink(to, self.at(name)).unwrap();
    }

    fn file(&self, name: &str) -> Result<FileEnd, Obstacle> {
        Walker::ourselves().file(&self.at(name), CreationPolicy::Refused)
    }
}

fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).unwrap().ino()
}

#[test]
fn a_way_ends_where_the_kernel_s_would() {
    let tree = Tree::new();
    fs::write(tree.at("one/two/file"), "").unwrap();
    tree.link("one", "up");
    tree.link("../one/./two/../two", "one/round");
    tree.link(tree.at("one/two/file").to_str().unwrap(), "straight");
    for name in ["one/two/file", "up/two/file", "one/round/file", "straight", "one/../up/round/../two/file"] {
        let found = tree.file(name).unwrap();
        assert_eq!(
            rustix::fs::fstat(&found.end.directory).unwrap().st_ino,
            inode(&tree.at("one/two")),
            "{name}"
        );
        assert_eq!((found.name.to_str(), found.there.unwrap().st_ino), (Some("file"), inode(&tree.at(name))));
    }
    assert!(tree.file("one/two/new").unwrap().there.is_none());
    let here = Walker::ourselves().file(Path::new("no-such-file"), CreationPolicy::Refused);
    assert!(here.is_ok_and(|found| found.there.is_none()
        && rustix::fs::fstat(&found.end.directory).unwrap().st_ino == inode(Path::new("."))));
}

#[test]
fn what_is_no_file_and_no_way_is_refused() {
    let tree = Tree::new();
    fs::write(tree.at("file"), "").unwrap();
    tree.link("nowhere", "dangling");
    tree.link("round", "round");
    tree.link("/proc/self/fd/1", "open");
    for name in ["one", "one/", "one/two/..", "dangling", "round", "file/x", "none/x", "open", "file/"] {
        assert!(tree.file(name).is_err(), "{name}");
    }
    assert!(matches!(
        Walker::ourselves().file(Path::new(""), CreationPolicy::Refused),
        Err(Obstacle::Nameless)
    ));
    assert!(matches!(tree.file("dangling"), Err(Obstacle::Dangling { .. })));
    assert!(matches!(tree.file("open"), Err(Obstacle::OpenFile { .. })));
    assert!(matches!(tree.file("round"), Err(Obstacle::System { error: Errno::LOOP, .. })));
    let special = Walker::ourselves().file(Path::new("/dev/null"), CreationPolicy::Refused);
    assert!(special.is_ok_and(|found| FileType::from_raw_mode(found.there.unwrap().st_mode) != FileType::RegularFile));
}

#[test]
fn where_others_write_only_a_sticky_directory_will_do() {
    let tree = Tree::new();
    for name in ["one", "one/two"] {
        for (mode, fine) in [(0o777, false), (0o757, false), (0o1777, true), (0o755, true)] {
            tree.mode(name, mode);
            let found = tree.file("one/two/file");
            assert_eq!(found.is_ok(), fine, "{name} {mode:o} {found:?}");
        }
    }
}

/// Many systems give each user a group of their own and a umask of 002.
#[test]
fn a_directory_of_one_s_own_group_is_one_s_own_but_for_root() {
    let tree = Tree::new();
    tree.mode("one", 0o775);
    let gid = rustix::fs::stat(tree.at("one")).unwrap().st_gid;
    for (uid, gid, fine) in [(SOMEBODY, gid, true), (SOMEBODY, gid + 1, false), (0, gid, false)] {
        let found = Walker { uid, gid }.file(&tree.at("one/two/file"), CreationPolicy::Refused);
        assert_eq!(!matches!(found, Err(Obstacle::Shared { .. })), fine, "{uid} {gid}");
    }
}

#[test]
fn directories_are_made_where_that_is_wanted() {
    let tree = Tree::new();
    let walk = |name: &str, missing| Walker::ourselves().file(&tree.at(name), missing).is_ok();
    assert!(!walk("a/file", CreationPolicy::Refused));
    assert!(!tree.at("a").exists());
    assert!(walk("a/file", CreationPolicy::Made(0o700)) && walk("b/c/d/file", CreationPolicy::Made(0o700)));
    for made in ["a", "b", "b/c", "b/c/d"] {
        assert_eq!(fs::metadata(tree.at(made)).unwrap().permissions().mode() & 0o7777, 0o700, "{made}");
    }
    assert!(!tree.at("b/c/d/file").exists());
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn links_of_somebody_else_are_not_followed_anywhere() {
    let tree = Tree::new();
    fs::write(tree.at("one/two/file"), "").unwrap();
    tree.link("one", "up");
    tree.link("file", "one/two/last");
    for (link, way) in [("up", "up/two/file"), ("one/two/last", "one/two/last")] {
        assert!(tree.file(way).is_ok());
        lchown(tree.at(link), Some(SOMEBODY), None).unwrap();
        assert!(matches!(tree.file(way), Err(Obstacle::Link { .. })), "{way}");
    }
}

#[test]
#[ignore = "needs root: files of somebody else"]
fn in_a_directory_of_somebody_else_it_is_said_and_no_link_is_followed() {
    let tree = Tree::new();
    tree.link("two", "one/root");
    assert!(tree.file("one/root/file").unwrap().end.stranger.is_none());
    chown(tree.at("one"), Some(SOMEBODY), None).unwrap();
    let stranger = tree.file("one/two/file").unwrap().end.stranger.unwrap();
    assert_eq!(stranger, Stranger { at: tree.at("one"), who: "uid 4242".to_owned() });
    assert!(
        matches!(tree.file("one/root/file"), Err(Obstacle::Link { .. })),
        "root's link, but who moved it there?"
    );
    // A user needs no warning about his own directory.
    let theirs =
        Walker { uid: SOMEBODY, gid: SOMEBODY }.file(&tree.at("one/two/file"), CreationPolicy::Refused);
    assert!(theirs.unwrap().end.stranger.is_none());
}
