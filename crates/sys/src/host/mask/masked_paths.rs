//! Finds the masked form of a path in a capture. Each mask in a captured path may stand for any
//! text.
//!
//! Original names are not stored, not even as hashes, which could be guessed. If two masked paths
//! match, both are returned, and the caller has to choose.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::{Question, path_bytes};

/// Lists paths in a capture that may be the masked form of `path`; empty if the capture holds
/// `path` itself.
pub fn masked_path_candidates(
    questions: impl Iterator<Item = Question>,
    path: &Path,
) -> Vec<PathBuf> {
    let asked = questions.filter_map(|question| match question.strip_as_user() {
        Question::Stat(path) | Question::RealPath(path) => Some(path.clone()),
        _ => None,
    });
    let asked: BTreeSet<PathBuf> = asked.collect();
    if asked.contains(path) {
        return Vec::new();
    }
    asked
        .into_iter()
        .filter(|known| may_be_masked_path(path_bytes(known), path_bytes(path)))
        .collect()
}

fn may_be_masked_path(masked: &[u8], path: &[u8]) -> bool {
    let parts = |path: &[u8]| path.split(|b| *b == b'/').count();
    let mut pairs = masked.split(|b| *b == b'/').zip(path.split(|b| *b == b'/'));
    parts(masked) == parts(path)
        && pairs.all(|(masked, part)| may_be_masked_path_part(masked, part))
}

/// Whether `part` may be the original of a masked part, whose text outside masks must be equal. The
/// set of reachable positions is tracked, so a hostile capture cannot cause backtracking.
fn may_be_masked_path_part(masked: &[u8], part: &[u8]) -> bool {
    let mut reached = BTreeSet::from([0]);
    let mut rest = masked;
    while let Some((first, after)) = rest.split_first() {
        if let Some(behind) = leading_mask_length(rest).and_then(|length| rest.get(length..)) {
            let first = reached.first().copied();
            reached = first
                .into_iter()
                .flat_map(|first| first + 1..=part.len())
                .collect();
            rest = behind;
        } else {
            reached = reached
                .into_iter()
                .filter(|at| part.get(*at) == Some(first))
                .map(|at| at + 1)
                .collect();
            rest = after;
        }
    }
    reached.contains(&part.len())
}

fn leading_mask_length(text: &[u8]) -> Option<usize> {
    let run = |text: &[u8], fits: fn(&u8) -> bool| text.iter().take_while(|b| fits(b)).count();
    // Masks of numbers and identifiers begin with up to four letters, followed by zeros and the
    // number of the mask in any grouping.
    let letters = run(text, u8::is_ascii_alphabetic).min(4);
    let (word, rest) = text.split_at(letters);
    let digits = run(rest, u8::is_ascii_digit);
    let words: [&[u8]; 3] = [b"host", b"user", b"name"];
    if words.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        let domain: &[u8] = b".example";
        let is_qualified = rest
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(domain));
        let length = letters + digits + if is_qualified { domain.len() } else { 0 };
        return (digits > 0).then_some(length);
    }
    let is_uuid = |text: &[u8]| text.starts_with(b"0000000-0000-4000-8000-");
    if is_uuid(rest) || rest.get(1..).is_some_and(is_uuid) {
        return Some(letters + run(rest, |b| b.is_ascii_hexdigit() || *b == b'-'));
    }
    if rest.starts_with(b"198.18.") {
        return Some(run(rest, |b| b.is_ascii_digit() || *b == b'.'));
    }
    (rest.starts_with(b"0") && digits >= 3).then_some(letters + digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_match_any_text_and_other_parts_only_themselves() {
        for (masked, path, may) in [
            ("/srv/pg/data", "/srv/pg/data", true),
            ("/srv/host1/data", "/srv/db-7/data", true),
            ("/srv/host12.example/data", "/srv/db-7.corp/data", true),
            ("/srv/host1/data", "/srv/db-7/main", false),
            ("/srv/host1/data", "/srv/db-7/x/data", false),
            ("/srv/host1/data", "/srv//data", false),
            ("/home/user2/pg-host1", "/home/alice/pg-db7", true),
            ("/home/user2/pg-host1", "/home/alice/pgdb7", false),
            ("/srv/hosts/data", "/srv/db7/data", false),
            (
                "/mnt/10000000-0000-4000-8000-000000000001",
                "/mnt/1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                true,
            ),
            ("/mnt/WDWC00000001", "/mnt/WDWCC7K0ABCD", true),
            ("/mnt/disk1", "/mnt/disk2", false),
            ("/mnt/pg15", "/mnt/pg16", false),
        ] {
            assert_eq!(
                may_be_masked_path(masked.as_bytes(), path.as_bytes()),
                may,
                "{masked} {path}"
            );
        }
    }
}
