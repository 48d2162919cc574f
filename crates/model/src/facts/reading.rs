//! The reading of one fact: the value with its source, or the reason why there is none, with a
//! remedy.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::text::escape_in_place;

/// A value with its origin, or the reason there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Reading<T> {
    /// Read, and from where.
    Known {
        /// What was read.
        value: T,
        /// Where it was read.
        source: Source,
    },
    /// Not known; never to be replaced by a default.
    Unknown {
        /// The kind of reason.
        why: UnknownReason,
        /// What happened, to what; a fragment such as `reading /dev/sda`.
        detail: String,
        /// What would settle it, when something would.
        #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
}

impl Reading<Value> {
    /// The reading with whatever could control a terminal escaped, in its value, source and reason.
    pub(super) fn escaped(mut self) -> Self {
        match &mut self {
            Self::Known { source, .. } => source.escape(),
            Self::Unknown { detail, remedy, .. } => {
                escape_in_place(detail);
                match remedy {
                    Some(Remedy::RunAs(text) | Remedy::Install(text) | Remedy::Do(text)) => {
                        escape_in_place(text);
                    }
                    Some(Remedy::RunAsRoot | Remedy::RunProbe | Remedy::Mount) | None => {}
                }
            }
        }
        self.map(Value::escaped)
    }
}

impl<T> Reading<T> {
    /// A known reading.
    pub fn known(value: T, source: Source) -> Self {
        Self::Known { value, source }
    }

    /// An unknown reading.
    pub fn unknown(why: UnknownReason, detail: impl Into<String>) -> Self {
        Self::Unknown {
            why,
            detail: detail.into(),
            remedy: None,
        }
    }

    /// The reading of a fact that was not read.
    pub fn not_collected() -> Self {
        Self::unknown(UnknownReason::NotCollected, "not read")
    }

    /// The same with a remedy; a known reading is unchanged.
    #[must_use]
    pub fn with_remedy(self, help: Remedy) -> Self {
        match self {
            Self::Unknown { why, detail, .. } => Self::Unknown {
                why,
                detail,
                remedy: Some(help),
            },
            known @ Self::Known { .. } => known,
        }
    }

    /// The value, when known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Unknown { .. } => None,
        }
    }

    pub fn is_known(&self) -> bool {
        self.value().is_some()
    }

    /// Whether the machine does not have it.
    pub fn is_absent(&self) -> bool {
        matches!(
            self,
            Self::Unknown {
                why: UnknownReason::Absent,
                ..
            }
        )
    }

    /// Whether it is unknown and could be known. What is absent and needs nothing is no gap: a disk
    /// without a model has none.
    pub fn is_gap(&self) -> bool {
        match self {
            Self::Known { .. } => false,
            Self::Unknown { why, remedy, .. } => remedy.is_some() || *why != UnknownReason::Absent,
        }
    }

    /// The source, when known.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Known { source, .. } => Some(source),
            Self::Unknown { .. } => None,
        }
    }

    /// Maps the value and keeps its source.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Ok(change(value)))
    }

    /// Maps the value or makes it malformed (the error says how), and keeps its source.
    pub fn and_then<U>(self, change: impl FnOnce(T) -> Result<U, String>) -> Reading<U> {
        self.then(|value, source| match change(value) {
            Ok(value) => Reading::known(value, source),
            Err(detail) => {
                Reading::unknown(UnknownReason::Malformed, format!("{source}: {detail}"))
            }
        })
    }

    /// Maps value and source to a new reading; an unknown one is unchanged.
    pub fn then<U>(self, next: impl FnOnce(T, Source) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known { value, source } => next(value, source),
            Self::Unknown {
                why,
                detail,
                remedy,
            } => Reading::Unknown {
                why,
                detail,
                remedy,
            },
        }
    }

    /// The same reading of a borrowed value.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Self::Known { value, source } => Reading::known(value, source.clone()),
            Self::Unknown {
                why,
                detail,
                remedy,
            } => Reading::Unknown {
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            },
        }
    }
}

/// Why a value is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnknownReason {
    /// The file, program or attribute is not there.
    Absent,
    /// It is there and we may not read it.
    Denied,
    /// It did not answer before its deadline.
    TimedOut,
    /// It answered something we cannot read.
    Malformed,
    /// It answered, and the answer does not decide.
    Ambiguous,
    /// Nobody asked: not part of this run, or not in the capture.
    NotCollected,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "absent",
            Self::Denied => "denied",
            Self::TimedOut => "timed out",
            Self::Malformed => "malformed",
            Self::Ambiguous => "ambiguous",
            Self::NotCollected => "not collected",
        })
    }
}

/// What would make an unknown fact known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Run walwise as root.
    RunAsRoot,
    /// Run it as this user.
    RunAs(String),
    /// Let walwise measure; the value names the command.
    RunProbe,
    /// Install this package.
    Install(String),
    /// Mount the file system first.
    Mount,
    /// Anything else, as an instruction.
    Do(String),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunAsRoot => f.write_str("run walwise as root"),
            Self::RunAs(user) => write!(f, "run walwise as {user}"),
            Self::RunProbe => f.write_str("run the probe: walwise check DIR"),
            Self::Install(package) => write!(f, "install {package}"),
            Self::Mount => f.write_str("mount the file system, then check the directory"),
            Self::Do(what) => f.write_str(what),
        }
    }
}

/// Where a value was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Source {
    /// A file, and the line where that matters.
    File {
        /// The file, display-safe.
        path: String,
        /// Counted from one.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// A system call on something.
    Call {
        /// Such as `uname` or `statfs /srv`.
        name: String,
    },
    /// A program's answer.
    Command {
        /// The program and its arguments.
        argv: String,
    },
    /// A running server's answer.
    Server {
        /// The socket that was asked.
        socket: String,
    },
    /// Our own measurement on this host.
    Probe {
        /// Which one.
        id: String,
    },
    /// The documented default, because nothing sets it.
    Default {
        /// Of what: `PostgreSQL 15`.
        of: String,
    },
    /// Concluded by walwise from other facts.
    Derived {
        /// The facts it was concluded from.
        of: Vec<String>,
        /// Whether an assumed value is among them; such a conclusion opens no interlock.
        assumed: bool,
    },
    /// The record of a drill, which is a file that anybody could have written. Never enough for a
    /// setting that can lose data.
    Drill {
        /// The record, display-safe.
        file: String,
    },
    /// The record of a trial, likewise.
    Trial {
        /// The record, display-safe.
        file: String,
    },
    /// Stated by the user with `--assume`. Never enough for a setting that can lose data.
    Assumed,
}

impl Source {
    /// A file as a whole.
    pub fn file(path: impl Into<String>) -> Self {
        Self::File {
            path: path.into(),
            line: None,
        }
    }

    /// A line of a file, counted from one.
    pub fn line(path: impl Into<String>, line: u32) -> Self {
        Self::File {
            path: path.into(),
            line: Some(line),
        }
    }

    /// A system call.
    pub fn call(name: impl Into<String>) -> Self {
        Self::Call { name: name.into() }
    }

    /// A conclusion from named facts, none of them assumed.
    pub fn derived<I: IntoIterator<Item: Into<String>>>(of: I) -> Self {
        Self::Derived {
            of: of.into_iter().map(Into::into).collect(),
            assumed: false,
        }
    }

    fn escape(&mut self) {
        match self {
            Self::File { path: text, .. }
            | Self::Call { name: text }
            | Self::Command { argv: text }
            | Self::Server { socket: text }
            | Self::Probe { id: text }
            | Self::Default { of: text }
            | Self::Drill { file: text }
            | Self::Trial { file: text } => escape_in_place(text),
            Self::Derived { of, .. } => of.iter_mut().for_each(escape_in_place),
            Self::Assumed => {}
        }
    }

    /// Whether the value was seen on this machine rather than typed in: required of every fact that
    /// decides a setting which can lose data. A default counts, because it is in force.
    pub fn is_evidence(&self) -> bool {
        matches!(
            self,
            Self::File { .. }
                | Self::Call { .. }
                | Self::Command { .. }
                | Self::Server { .. }
                | Self::Probe { .. }
                | Self::Default { .. }
                | Self::Derived { assumed: false, .. }
        )
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: None } => f.write_str(path),
            Self::File {
                path,
                line: Some(line),
            } => write!(f, "{path}:{line}"),
            Self::Call { name } => f.write_str(name),
            Self::Command { argv } => write!(f, "`{argv}`"),
            Self::Server { socket } => write!(f, "the server at {socket}"),
            Self::Probe { id } => write!(f, "probe {id}"),
            Self::Default { of } => write!(f, "default of {of}"),
            Self::Derived { of, assumed: false } => write!(f, "concluded from {}", of.join(", ")),
            Self::Derived { of, assumed: true } => {
                write!(f, "concluded from {} (partly assumed)", of.join(", "))
            }
            Self::Drill { file } => write!(f, "drills recorded in {file}"),
            Self::Trial { file } => {
                write!(f, "the trial recorded in {file}, measured on this disk")
            }
            Self::Assumed => f.write_str("assumed"),
        }
    }
}
