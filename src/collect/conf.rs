//! A server's configuration as it was read, first to last, whatever the server.
//!
//! The last setting of a name wins, so a file that could not be read makes everything before it uncertain: it is kept as
//! a hole in the sequence, and a name is known only when it is set after the last hole. What was changed since a server
//! started is such a hole too, as far as that server is concerned. How files are found and read is for others.

use std::path::{Path, PathBuf};

use crate::facts::{Reading, Remedy, Source, Why};

/// Everything that was read, first to last.
#[derive(Clone, Debug, Default)]
pub struct Conf {
    steps: Vec<Step>,
    files: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Set {
        name: String,
        value: Vec<u8>,
        source: Source,
    },
    /// Something about every name that begins like this, and nobody can say what.
    Unclear {
        beginning: String,
        detail: String,
    },
    Hole {
        why: Why,
        detail: String,
        remedy: Option<Remedy>,
    },
    /// The end of a file or directory that was read, or of the directory that would hold what is not there.
    End(PathBuf),
}

impl Conf {
    /// Adds one setting.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>, source: Source) {
        self.steps.push(Step::Set { name: name.into(), value: value.into(), source });
    }

    /// Adds something about every name that begins like this, of which it is not known what it sets.
    pub fn unclear(&mut self, beginning: impl Into<String>, detail: impl Into<String>) {
        self.steps.push(Step::Unclear { beginning: beginning.into(), detail: detail.into() });
    }

    /// Adds something that could have set anything. One after another is as good as the first.
    pub fn hole(&mut self, why: Why, detail: impl Into<String>, remedy: Option<Remedy>) {
        if matches!(self.steps.last(), Some(Step::Hole { .. })) {
            return;
        }
        self.steps.push(Step::Hole { why, detail: detail.into(), remedy });
    }

    /// Notes that a file or directory was read to its end.
    pub fn end(&mut self, path: impl Into<PathBuf>) {
        self.steps.push(Step::End(path.into()));
    }

    /// Counts one more file; the answer is how many there are now.
    pub fn count_file(&mut self) -> usize {
        self.files += 1;
        self.files
    }

    /// What is certain for a server that read all this before: whatever `changed` says of a file or directory that was
    /// read, in words, makes what stands in it and before it uncertain.
    #[must_use]
    pub fn doubt(&self, changed: impl Fn(&Path) -> Option<String>, remedy: Option<&Remedy>) -> Self {
        let step = |step: &Step| match step {
            Step::End(path) => changed(path).map_or_else(
                || step.clone(),
                |detail| Step::Hole { why: Why::Ambiguous, detail, remedy: remedy.cloned() },
            ),
            Step::Set { .. } | Step::Unclear { .. } | Step::Hole { .. } => step.clone(),
        };
        Self { steps: self.steps.iter().map(step).collect(), files: self.files }
    }

    /// What a name is set to; `None` when everything was read and nothing sets it.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Set { name: found, value, source } => {
                (found == name).then(|| Reading::known(value.clone(), source.clone()))
            }
            Step::Unclear { beginning, detail } => {
                name.starts_with(beginning.as_str()).then(|| Reading::unknown(Why::Ambiguous, detail.clone()))
            }
            Step::Hole { why, detail, remedy } => {
                Some(Reading::Unknown { why: *why, detail: detail.clone(), remedy: remedy.clone() })
            }
            Step::End(_) => None,
        })
    }

    /// The last value of a name, holes notwithstanding: for finding things, never for facts about them.
    pub fn hint(&self, name: &str) -> Option<&[u8]> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Set { name: found, value, .. } if found == name => Some(value.as_slice()),
            _ => None,
        })
    }
}
