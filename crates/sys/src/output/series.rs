//! A series of documents in its own directory: numbered and dated names, and limits on what is
//! kept.
//!
//! The number decides the order, because a clock may have been wrong; the date is for people.
//! Because a series is read again later, its directory must not be controlled by another user
//! ([`super::draft`] checks this).

use std::cmp::Reverse;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

const MAX_DOCUMENTS: usize = 60;

/// Limit on the total size of a series, in bytes. The newest document stays even if it alone
/// exceeds the limit.
const MAX_BYTES: u64 = 256 << 20;

/// Builds the date part of a document name, such as `20261125T074131Z.json`, from the letters and
/// digits of `when` (RFC 3339).
pub fn dated_file_name(when: &str) -> String {
    let when: String = when
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(16)
        .collect();
    format!("{when}.json")
}

pub(super) fn document_name(number: u32, date_name: &str) -> String {
    format!("{number:06}-{date_name}")
}

/// Name with which a draft claims its number. A file of this name does not count as a document of
/// the series.
pub(super) fn draft_name(number: u32) -> String {
    format!(".walwise-{number:06}.tmp")
}

/// The names of a series, the newest first, each with its date: `2026-11-25 07:41`.
pub fn dated_documents_newest_first(names: Vec<String>) -> Vec<(String, String)> {
    let mut ours: Vec<String> = names
        .into_iter()
        .filter(|name| parse_document_number(name).is_some())
        .collect();
    ours.sort_by_cached_key(|name| newest_first(name));
    let dated = |name: String| {
        let when = name.split(['-', '.']).nth(1).unwrap_or_default();
        let parts = [0..4, 4..6, 6..8, 9..11, 11..13].map(|range| when.get(range));
        let date = match parts {
            [Some(year), Some(month), Some(day), Some(hour), Some(minute)] => {
                format!("{year}-{month}-{day} {hour}:{minute}")
            }
            _ => when.to_owned(),
        };
        (name, date)
    };
    ours.into_iter().map(dated).collect()
}

fn newest_first(name: &str) -> Reverse<(Option<u32>, String)> {
    Reverse((parse_document_number(name), name.to_owned()))
}

/// `None` for a name that does not belong to a series.
fn parse_document_number(name: &str) -> Option<u32> {
    let (number, when) = name.strip_suffix(".json")?.split_once('-')?;
    let plain = number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    let dated = !when.is_empty() && when.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain && dated {
        number.parse().ok()
    } else {
        None
    }
}

/// 0 without documents.
pub(super) fn newest_document_number(directory: impl AsFd) -> Result<u32, Errno> {
    Ok(document_names(directory)?
        .iter()
        .filter_map(|name| parse_document_number(name))
        .max()
        .unwrap_or(0))
}

fn document_names(directory: impl AsFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        names.extend(
            entry
                .file_name()
                .to_str()
                .ok()
                .filter(|name| parse_document_number(name).is_some())
                .map(str::to_owned),
        );
    }
    Ok(names)
}

/// Removes the oldest documents beyond the limits, but only regular files with names of the series.
/// If another process has already removed a document, this is not an error.
pub(super) fn remove_excess_documents(directory: impl AsFd) -> Result<(), Errno> {
    let mut documents = Vec::new();
    for name in document_names(directory.as_fd())? {
        match rustix::fs::statat(directory.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            stat => {
                let stat = stat?;
                if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                    documents.push((name, u64::try_from(stat.st_size).unwrap_or(0)));
                }
            }
        }
    }
    for name in documents_to_remove(documents) {
        match rustix::fs::unlinkat(directory.as_fd(), &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn documents_to_remove(mut documents: Vec<(String, u64)>) -> Vec<String> {
    documents.sort_by_cached_key(|(name, _)| newest_first(name));
    let mut bytes = 0_u64;
    let stays = documents.iter().enumerate().take_while(|(at, (_, size))| {
        bytes = bytes.saturating_add(*size);
        *at == 0 || (*at < MAX_DOCUMENTS && bytes <= MAX_BYTES)
    });
    let stay = stays.count();
    documents
        .into_iter()
        .skip(stay)
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_file_names_are_not_series_documents() {
        let ours = document_name(12, &dated_file_name("2026-11-25T07:41:31Z"));
        assert_eq!(ours, "000012-20261125T074131Z.json");
        assert_eq!(
            document_name(1, &dated_file_name("../2026")),
            "000001-2026.json"
        );
        let draft = draft_name(13);
        let others = [
            "db7.json",
            "1-a.json",
            "000001-.json",
            "000001-a.jso",
            "+00001-a.json",
            "000001-a/b.json",
            &draft,
        ];
        assert_eq!(
            dated_documents_newest_first(others.map(str::to_owned).to_vec()),
            []
        );
        let older = "000011-20270101T000000Z.json";
        let all = [&others[..], &[older, &ours]].concat();
        assert_eq!(
            dated_documents_newest_first(all.into_iter().map(str::to_owned).collect()),
            [(&*ours, "2026-11-25 07:41"), (older, "2027-01-01 00:00")]
                .map(|(name, date)| (name.to_owned(), date.to_owned()))
        );
    }

    proptest! {
        /// The newest document always stays. Others stay only within both limits, and none that
        /// stays is older than a removed one.
        #[test]
        fn newest_documents_within_limits_are_retained(sizes in prop::collection::vec(0_u64..(MAX_BYTES + 2), 0..130)) {
            let document = |(at, size): (usize, &u64)| (format!("{at:06}-a.json"), *size);
            let all: Vec<(String, u64)> = sizes.iter().enumerate().map(document).collect();
            let gone = documents_to_remove(all.clone());
            let (_, stays) = all.split_at(gone.len());
            prop_assert!(all.is_empty() || !stays.is_empty());
            prop_assert!(gone.iter().all(|name| stays.iter().all(|(stay, _)| stay > name)));
            let bytes: u64 = stays.iter().map(|(_, size)| *size).sum();
            prop_assert!(stays.len() <= MAX_DOCUMENTS && (bytes <= MAX_BYTES || stays.len() == 1));
        }
    }
}
