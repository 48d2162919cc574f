//! A server's configuration in the order in which it was read, for any kind of server.
//!
//! The last setting of a name wins, so a file that could not be read makes everything before it uncertain. Such a file
//! is kept as a hole in the sequence, and a name is known only if it is set after the last hole. A change since the
//! server started is also a hole for that server. Finding and reading the files is left to the collectors of each
//! server.

use std::path::{Path, PathBuf};

use crate::facts::{Reading, Remedy, Source, Why};

/// Everything that was read, first to last.
#[derive(Clone, Debug, Default)]
pub struct Conf {
    steps: Vec<ConfigEvent>,
    files: usize,
}

#[derive(Clone, Debug)]
enum ConfigEvent {
    Set {
        name: String,
        value: Vec<u8>,
        source: Source,
    },
    /// A setting of any name with this prefix; neither name nor value is known.
    Unclear {
        beginning: String,
        detail: String,
    },
    Hole {
        why: Why,
        detail: String,
        remedy: Option<Remedy>,
    },
    /// The end of a file or directory that was read, or of the directory that would hold an absent file.
    End(PathBuf),
}

impl Conf {
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>, source: Source) {
        self.steps.push(ConfigEvent::Set { name: name.into(), value: value.into(), source });
    }

    /// Adds an unknown setting of any name with this prefix.
    pub fn unclear(&mut self, beginning: impl Into<String>, detail: impl Into<String>) {
        self.steps.push(ConfigEvent::Unclear { beginning: beginning.into(), detail: detail.into() });
    }

    /// Adds a hole: something that could have set any name. Consecutive holes are merged.
    pub fn hole(&mut self, why: Why, detail: impl Into<String>, remedy: Option<Remedy>) {
        if matches!(self.steps.last(), Some(ConfigEvent::Hole { .. })) {
            return;
        }
        self.steps.push(ConfigEvent::Hole { why, detail: detail.into(), remedy });
    }

    /// Notes that a file or directory was read to its end.
    pub fn end(&mut self, path: impl Into<PathBuf>) {
        self.steps.push(ConfigEvent::End(path.into()));
    }

    /// Counts one more file and returns the number so far.
    pub fn count_file(&mut self) -> usize {
        self.files += 1;
        self.files
    }

    /// What is certain for a server that read all this before. `changed` says in words why a file or directory differs
    /// from what was read; its contents and everything before them become uncertain.
    #[must_use]
    pub fn doubt(&self, changed: impl Fn(&Path) -> Option<String>, remedy: Option<&Remedy>) -> Self {
        let step = |step: &ConfigEvent| match step {
            ConfigEvent::End(path) => changed(path).map_or_else(
                || step.clone(),
                |detail| ConfigEvent::Hole { why: Why::Ambiguous, detail, remedy: remedy.cloned() },
            ),
            ConfigEvent::Set { .. } | ConfigEvent::Unclear { .. } | ConfigEvent::Hole { .. } => step.clone(),
        };
        Self { steps: self.steps.iter().map(step).collect(), files: self.files }
    }

    /// The value of a name; `None` when everything was read and nothing sets it.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        self.steps.iter().rev().find_map(|step| match step {
            ConfigEvent::Set { name: found, value, source } => {
                (found == name).then(|| Reading::known(value.clone(), source.clone()))
            }
            ConfigEvent::Unclear { beginning, detail } => {
                name.starts_with(beginning.as_str()).then(|| Reading::unknown(Why::Ambiguous, detail.clone()))
            }
            ConfigEvent::Hole { why, detail, remedy } => {
                Some(Reading::Unknown { why: *why, detail: detail.clone(), remedy: remedy.clone() })
            }
            ConfigEvent::End(_) => None,
        })
    }

    /// The last value of a name, holes notwithstanding: for finding things, never for facts about them.
    pub fn hint(&self, name: &str) -> Option<&[u8]> {
        self.steps.iter().rev().find_map(|step| match step {
            ConfigEvent::Set { name: found, value, .. } if found == name => Some(value.as_slice()),
            _ => None,
        })
    }
}
