//! Replays a capture: answers the questions that were asked when the capture was made.
//!
//! A question that the capture lacks is *not collected*, never *absent*.

use std::path::{Path, PathBuf};

use super::capture_format::{CaptureParseError, IndexedCapture};
use super::{Host, HostError, HostErrorKind, HostResult, Question, mask};
use crate::limits::SubjectLimits;

#[derive(Clone, Debug, Default)]
pub struct RecordedHost {
    archive: IndexedCapture,
    problems: Vec<String>,
}

impl RecordedHost {
    /// [`Host::run_notes`] describes the entries that could not be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, CaptureParseError> {
        Self::from_capture(bytes.to_owned())
    }

    pub fn from_capture(text: Vec<u8>) -> Result<Self, CaptureParseError> {
        let (archive, problems) = IndexedCapture::new(text)?;
        Ok(Self { archive, problems })
    }
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
        let answer = self
            .archive
            .get(question)
            .or_else(|| self.archive.get(question.strip_as_user()));
        answer.unwrap_or_else(unknown)
    }

    fn run_notes(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn subject_count_limits(&self) -> SubjectLimits {
        SubjectLimits::for_capture(self.archive.byte_len())
    }

    fn possible_masked_paths(&self, path: &Path) -> Vec<PathBuf> {
        mask::masked_path_candidates(self.archive.questions(), path)
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
