//! The link of the file system: whether it puts a page in one piece at a multiple of its size, and whether it passes direct
//! I/O on. Only ext4 with the feature bigalloc is documented for that (Documentation/filesystems/ext4/bigalloc.rst).
//!
//! ext4 turns direct I/O into buffered I/O where data goes through the journal, and for some encrypted files
//! (`ext4_should_use_dio` in fs/ext4/file.c, `fscrypt_dio_supported` in fs/crypto/inline_crypt.c).

use super::link::{Link, LinkPlace, multiple, size};
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::mount::{self, JournalMode};
use crate::facts::catalog::target::{self, Attribute};
use crate::truth::Truth;

/// The links of the file system of a target.
pub fn links(ask: &mut Ask, of: &Subject, home: &Subject, fstype: &str, page: Option<u64>) -> Vec<Link> {
    if fstype != "ext4" {
        let says = format!("{fstype} is not ext4 with clusters of a page, as Amazon documents");
        return vec![Link::new(LinkPlace::FileSystem, Truth::False, says)];
    }
    vec![clusters(ask, home, page), direct(ask, of, home)]
}

/// Whether clusters are multiples of a page, so that each page lies within one.
fn clusters(ask: &mut Ask, home: &Subject, page: Option<u64>) -> Link {
    let part = LinkPlace::FileSystem;
    let Some(features) = ask.value(home, &mount::EXT4_FEATURES) else {
        return Link::unread(part, ask, home, &mount::EXT4_FEATURES);
    };
    if !features.iter().any(|feature| feature == "bigalloc") {
        let says = "ext4 has no clusters (bigalloc), so a page can lie in several places";
        return Link::new(part, Truth::False, says);
    }
    let Some(cluster) = ask.value(home, &mount::EXT4_CLUSTER) else {
        return Link::unread(part, ask, home, &mount::EXT4_CLUSTER);
    };
    let of = if cluster == 0 { Truth::Unknown } else { multiple(page, cluster) };
    let says = match of {
        Truth::True | Truth::Unknown => format!("ext4 has clusters of {}", size(cluster)),
        Truth::False => format!("ext4 has clusters of {}, no multiple of a page", size(cluster)),
    };
    Link::new(part, of, says)
}

/// Whether direct I/O stays direct.
fn direct(ask: &mut Ask, of: &Subject, home: &Subject) -> Link {
    let part = LinkPlace::FileSystem;
    let data = ask.value(home, &mount::EXT4_DATA);
    match data {
        Some(JournalMode::Journal) => {
            return Link::new(part, Truth::False, "data=journal turns direct I/O into buffered I/O");
        }
        Some(JournalMode::Ordered | JournalMode::Writeback) => {}
        None if ask.value(home, &mount::EXT4_JOURNAL) == Some(false) => {}
        None => return Link::unread(part, ask, home, &mount::EXT4_DATA),
    }
    let journalled = |flag: &Attribute| matches!(flag, Attribute::JournalData);
    match ask.value(of, &target::FLAGS) {
        Some(flags) if flags.iter().any(journalled) => {
            return Link::new(part, Truth::False, "the attribute +j turns direct I/O into buffered I/O");
        }
        Some(_) => {}
        None => return Link::unread(part, ask, of, &target::FLAGS),
    }
    let features = ask.value(home, &mount::EXT4_FEATURES).unwrap_or_default();
    if features.iter().any(|feature| feature == "encrypt") {
        let says = "files may be encrypted, which can turn direct I/O into buffered I/O";
        return Link::new(part, Truth::Unknown, says);
    }
    Link::new(part, Truth::True, "ext4 passes direct I/O on")
}
