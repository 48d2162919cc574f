//! Messages about a run rather than about one fact.
//!
//! The sentence is for display only; code matches the [`NoteKind`]. Tests can replace the sentences
//! of all notes by `x`, to prove that no code depends on a sentence.

use std::fmt;

use serde::{Serialize, Serializer};

/// What code needs to know about a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Mounts are unknown, because a part of the mount table was not read.
    IncompleteMountTable,
    /// A file that may define boot mounts could not be read, so a mount may have a line that
    /// walwise does not know.
    UnreadBootSource,
    /// The storage was not measured, or not completely.
    NotMeasured,
    /// Some of the user's rules cannot be put in force.
    RulesNotInForce,
    DataDirectoryTimeout,
    /// No code treats this note differently from others.
    Other,
}

/// A message about the run rather than about one fact, such as an abandoned read or a malformed
/// line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    sentence: String,
}

impl Note {
    pub fn new(kind: NoteKind, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { kind, sentence }
    }
}

impl<S: Into<String>> From<S> for Note {
    fn from(sentence: S) -> Self {
        Self::new(NoteKind::Other, sentence)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(any(test, feature = "testing"))]
        if muted::are_notes_muted() {
            return f.write_str(muted::SENTENCE);
        }
        f.write_str(&self.sentence)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(any(test, feature = "testing"))]
impl Note {
    /// Notes of every kind.
    pub fn samples() -> Vec<Self> {
        [
            (
                NoteKind::IncompleteMountTable,
                "/proc/self/mountinfo:31: too few fields; line ignored",
            ),
            (
                NoteKind::UnreadBootSource,
                "/etc/fstab (permission denied): the boot mounts that it defines are unknown",
            ),
            (
                NoteKind::NotMeasured,
                "not measured: the directory cannot be written",
            ),
            (
                NoteKind::RulesNotInForce,
                "the rules of my.toml are not in force: no such file",
            ),
            (
                NoteKind::DataDirectoryTimeout,
                "data directory /srv/pg could not be read in time; its cluster is unknown",
            ),
            (NoteKind::Other, "device sdx9: its disk is unknown"),
            (
                NoteKind::Other,
                "rule pg.some is switched off, until 2027-03-31: some words (my.toml:9)",
            ),
            (
                NoteKind::Other,
                "/dev/sdx9 is mounted on /srv; the target is this directory",
            ),
        ]
        .map(|(kind, sentence)| Self::new(kind, sentence))
        .into()
    }
}

#[cfg(any(test, feature = "testing"))]
pub mod muted {
    //! Test support: replaces the sentences of all notes by `x`, in one thread, while a function
    //! runs.

    use std::cell::Cell;

    pub const SENTENCE: &str = "x";

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    pub fn are_notes_muted() -> bool {
        ON.get()
    }

    pub fn with_muted_notes<T>(act: impl FnOnce() -> T) -> T {
        struct MuteGuard;
        impl Drop for MuteGuard {
            fn drop(&mut self) {
                ON.set(false);
            }
        }
        ON.set(true);
        let _guard = MuteGuard;
        act()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn muted_note_displays_placeholder() {
        for note in Note::samples() {
            let json = |note: &Note| serde_json::to_value(note).unwrap();
            let sentence = note.to_string();
            assert_ne!(sentence, muted::SENTENCE);
            assert_eq!(json(&note), sentence);
            muted::with_muted_notes(|| {
                assert_eq!(
                    (note.to_string(), json(&note)),
                    ("x".to_owned(), "x".into())
                );
            });
            assert_eq!(note.to_string(), sentence);
        }
    }
}
