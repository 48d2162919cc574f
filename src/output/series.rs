//! A series of documents in a directory of its own: numbered and dated names, and how many of them stay.
//!
//! The number gives the order, because a clock may have been wrong; the date is for people. A series is read again
//! later, so it is kept in no directory that another user controls ([`super::draft`]). What the documents are is left
//! to the caller.

use std::ffi::{CStr, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

/// The largest number of documents that stay.
const MOST: usize = 60;

/// The largest number of bytes that stay, unless the newest document alone has more.
const MOST_BYTES: u64 = 256 << 20;

/// The name of the document after `newest`: `000012-20261125T074131Z.json`. Of `when`, RFC 3339, letters and digits are
/// taken.
pub fn next_name(newest: Option<&str>, when: &str) -> String {
    let number = newest.and_then(number).map_or(1, |number| number.saturating_add(1));
    let when: String = when.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    format!("{number:06}-{when}.json")
}

/// The newest document among the names in a directory.
pub fn newest<S: AsRef<str>>(names: &[S]) -> Option<&str> {
    let ours = names.iter().map(AsRef::as_ref).filter(|name| number(name).is_some());
    ours.max_by_key(|name| (number(name), *name))
}

/// The number of a document of the series; `None` for any other name.
fn number(name: &str) -> Option<u32> {
    let (number, when) = name.strip_suffix(".json")?.split_once('-')?;
    let plain = number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    let dated = !when.is_empty() && when.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain && dated { number.parse().ok() } else { None }
}

/// Removes the oldest documents of a series beyond its bounds. Only regular files with names of the series are touched.
pub(super) fn prune(directory: impl AsFd) -> Result<(), Errno> {
    let mut documents = Vec::new();
    for entry in Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        let Ok(name) = name.to_str() else { continue };
        if number(name).is_none() {
            continue;
        }
        let stat = rustix::fs::statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            documents.push((name.to_owned(), u64::try_from(stat.st_size).unwrap_or(0)));
        }
    }
    for name in excess(documents) {
        rustix::fs::unlinkat(directory.as_fd(), OsStr::from_bytes(name.as_bytes()), AtFlags::empty())?;
    }
    Ok(())
}

/// Which documents go, of names with sizes: all but the newest that are within both bounds.
fn excess(mut documents: Vec<(String, u64)>) -> Vec<String> {
    documents.sort_by(|(a, _), (b, _)| (number(b), b).cmp(&(number(a), a)));
    let mut bytes = 0_u64;
    let stays = documents.iter().enumerate().take_while(|(at, (_, size))| {
        bytes = bytes.saturating_add(*size);
        *at == 0 || (*at < MOST && bytes <= MOST_BYTES)
    });
    let stay = stays.count();
    documents.into_iter().skip(stay).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_document_follows_the_newest() {
        let mut names: Vec<String> = Vec::new();
        // The clock goes back in between.
        for when in ["2026-11-25T07:41:31Z", "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"] {
            names.push(next_name(newest(&names), when));
        }
        assert_eq!(
            names,
            ["000001-20261125T074131Z.json", "000002-20000101T000000Z.json", "000003-20000101T000000Z.json"]
        );
        assert_eq!(newest(&names), Some("000003-20000101T000000Z.json"));
    }

    #[test]
    fn other_names_are_no_documents_of_the_series() {
        let others =
            ["db7.json", "1-a.json", "000001-.json", "000001-a.jso", "+00001-a.json", "000001-a/b.json"];
        assert_eq!(newest(&others), None);
        assert_eq!(next_name(newest(&others), "../2026"), "000001-2026.json");
    }

    proptest! {
        /// The newest always stays, the rest is within both bounds, and nothing older than what goes stays.
        #[test]
        fn what_stays_is_the_newest_within_bounds(sizes in prop::collection::vec(0_u64..(MOST_BYTES + 2), 0..130)) {
            let document = |(at, size): (usize, &u64)| (format!("{at:06}-a.json"), *size);
            let all: Vec<(String, u64)> = sizes.iter().enumerate().map(document).collect();
            let gone = excess(all.clone());
            let (_, stays) = all.split_at(gone.len());
            prop_assert!(all.is_empty() || !stays.is_empty());
            prop_assert!(gone.iter().all(|name| stays.iter().all(|(stay, _)| stay > name)));
            let bytes: u64 = stays.iter().map(|(_, size)| *size).sum();
            prop_assert!(stays.len() <= MOST && (bytes <= MOST_BYTES || stays.len() == 1));
        }
    }
}
