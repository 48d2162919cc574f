//! Replays a capture: answers the questions that were asked when the capture was made.
//!
//! A question that the capture lacks is *not collected*, never *absent*. Answers are parsed on
//! demand, because parsed answers of ten thousand disks would take several times the memory of
//! their text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use foldhash::fast::FixedState;

use super::capture_format::{CaptureParseError, parse_capture_entries, parse_entry};
use super::{Host, HostError, HostErrorKind, HostResult, Question, mask};
use crate::limits::SubjectLimits;

#[derive(Clone, Debug, Default)]
pub struct RecordedHost {
    text: Vec<u8>,
    /// The byte range of each entry, by the hash of its question. Offsets fit `u32`, because a
    /// capture has at most [`CAPTURE`](crate::limits::CAPTURE) bytes.
    places: BTreeMap<u64, Range<u32>>,
    problems: Vec<String>,
}

impl RecordedHost {
    /// [`Host::run_notes`] describes the entries that could not be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, CaptureParseError> {
        Self::from_capture(bytes.to_owned())
    }

    pub fn from_capture(text: Vec<u8>) -> Result<Self, CaptureParseError> {
        let mut places = BTreeMap::new();
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        // Only an intruder can write two questions with the same hash; the second has no answer.
        let problems = parse_capture_entries(&text, |place, question, _| {
            match places.entry(question_hash(&question)) {
                Entry::Vacant(free) => {
                    free.insert(narrow(place.start)..narrow(place.end));
                    true
                }
                Entry::Occupied(_) => false,
            }
        })?;
        Ok(Self {
            text,
            places,
            problems,
        })
    }

    fn recorded_answer(&self, question: &Question) -> Option<HostResult> {
        let (found, answer) = self.entry_at(self.places.get(&question_hash(question))?)?;
        (found == *question).then_some(answer)
    }

    fn entry_at(&self, place: &Range<u32>) -> Option<(Question, HostResult)> {
        let place = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
        parse_entry(self.text.get(place)?).ok()
    }
}

fn question_hash(question: &Question) -> u64 {
    FixedState::default().hash_one(question)
}

impl Host for RecordedHost {
    fn ask(&self, question: &Question) -> HostResult {
        let unknown = || {
            Err(HostError::new(
                HostErrorKind::NotCollected,
                "not in the capture",
            ))
        };
        // In a capture made without root, the questions on behalf of other users were answered with
        // the rights of the user who made the capture.
        self.recorded_answer(question)
            .or_else(|| self.recorded_answer(question.strip_as_user()))
            .unwrap_or_else(unknown)
    }

    fn run_notes(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn subject_count_limits(&self) -> SubjectLimits {
        SubjectLimits::for_capture(self.text.len())
    }

    fn possible_masked_paths(&self, path: &Path) -> Vec<PathBuf> {
        let entries = self.places.values();
        let questions = entries.filter_map(|place| Some(self.entry_at(place)?.0));
        mask::masked_path_candidates(questions, path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn recorded_answers_are_replayed_others_not_collected() {
        let host = RecordedHost::parse(
            b"walwise host 1\nlist /sys/block\n|sda\n|sdb\nread /x\n!denied Permission denied\nwhat\n",
        )
        .unwrap();
        assert_eq!(
            host.list_directory(Path::new("/sys/block")).unwrap(),
            ["sda", "sdb"]
        );
        assert_eq!(
            host.read(Path::new("/x")).unwrap_err(),
            HostError::denied("Permission denied")
        );
        assert_eq!(
            host.read(Path::new("/y")).unwrap_err().kind,
            HostErrorKind::NotCollected
        );
        assert_eq!(host.run_notes().len(), 1);
        assert!(!host.is_live());
    }
}
