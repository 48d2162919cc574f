//! A machine from an archive: it answers the questions that were asked when the archive was made.
//!
//! A question that the archive lacks is *not collected*, never *absent*.

use std::path::{Path, PathBuf};

use super::archive::{Archive, ArchiveError};
use super::mask;
use super::{Host, HostError, HostErrorKind, Question};
use crate::bounds::Bounds;

#[derive(Clone, Debug, Default)]
pub struct RecordedHost {
    archive: Archive,
    problems: Vec<String>,
}

impl RecordedHost {
    /// Parses an archive; the notes list entries that could not be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, ArchiveError> {
        Self::new(bytes.to_owned())
    }

    pub fn new(text: Vec<u8>) -> Result<Self, ArchiveError> {
        let (archive, problems) = Archive::new(text)?;
        Ok(Self { archive, problems })
    }
}

impl Host for RecordedHost {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let unknown = || {
            Err(HostError::new(
                HostErrorKind::NotCollected,
                "not in the host archive",
            ))
        };
        // A question that was not asked as another user was asked as the user who made the archive.
        let answer = self
            .archive
            .get(question)
            .or_else(|| self.archive.get(question.inner()));
        answer.unwrap_or_else(unknown)
    }

    fn notes(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn bounds(&self) -> Bounds {
        Bounds::for_capture(self.archive.bytes())
    }

    fn possible_masks(&self, path: &Path) -> Vec<PathBuf> {
        mask::masked_candidates(self.archive.questions(), path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn it_answers_what_it_holds() {
        let host = RecordedHost::parse(
            b"walwise host 1\nlist /sys/block\n|sda\n|sdb\nread /x\n!denied Permission denied\nwhat\n",
        )
        .unwrap();
        assert_eq!(host.list(Path::new("/sys/block")).unwrap(), ["sda", "sdb"]);
        assert_eq!(
            host.read(Path::new("/x")).unwrap_err(),
            HostError::new(HostErrorKind::Denied, "Permission denied")
        );
        assert_eq!(
            host.read(Path::new("/y")).unwrap_err().kind,
            HostErrorKind::NotCollected
        );
        assert_eq!(host.notes().len(), 1);
        assert!(!host.is_live());
    }
}
