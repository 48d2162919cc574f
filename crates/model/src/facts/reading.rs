use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Value;
use crate::text::escape_display_unsafe_in_place;

/// The value of a fact with its source, or the reason why the value is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Reading<T> {
    /// The value was read, measured, concluded or assumed.
    Known {
        /// The value, in the data type of the fact.
        value: T,
        /// The file, program, server or measurement that gave the value.
        source: Source,
    },
    /// The value is unknown, and must never be replaced by a default.
    Unknown {
        /// The kind of reason why the value is unknown.
        why: UnknownReason,
        /// The failed attempt or the error, such as `reading /dev/sda`; can be empty.
        detail: String,
        /// A step that would make the value known; absent if there is none.
        #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
}

impl Reading<Value> {
    /// The reading with all its text escaped for display: value, source, detail and remedy.
    pub(super) fn into_display_safe(mut self) -> Self {
        match &mut self {
            Self::Known { source, .. } => source.escape_text_in_place(),
            Self::Unknown { detail, remedy, .. } => {
                escape_display_unsafe_in_place(detail);
                match remedy {
                    Some(Remedy::RunAs(text) | Remedy::Install(text) | Remedy::Do(text)) => {
                        escape_display_unsafe_in_place(text);
                    }
                    Some(Remedy::RunAsRoot | Remedy::RunProbe | Remedy::Mount) | None => {}
                }
            }
        }
        self.map(Value::into_display_safe)
    }
}

impl<T> Reading<T> {
    pub fn known(value: T, source: Source) -> Self {
        Self::Known { value, source }
    }

    pub fn unknown(why: UnknownReason, detail: impl Into<String>) -> Self {
        Self::Unknown {
            why,
            detail: detail.into(),
            remedy: None,
        }
    }

    pub fn absent(detail: impl Into<String>) -> Self {
        Self::unknown(UnknownReason::Absent, detail)
    }

    pub fn denied(detail: impl Into<String>) -> Self {
        Self::unknown(UnknownReason::Denied, detail)
    }

    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::unknown(UnknownReason::Malformed, detail)
    }

    pub fn ambiguous(detail: impl Into<String>) -> Self {
        Self::unknown(UnknownReason::Ambiguous, detail)
    }

    pub fn not_collected() -> Self {
        Self::uncollected("not read in this run")
    }

    pub fn uncollected(detail: impl Into<String>) -> Self {
        Self::unknown(UnknownReason::NotCollected, detail)
    }

    #[must_use]
    pub fn with_remedy(mut self, help: Remedy) -> Self {
        if let Self::Unknown { remedy, .. } = &mut self {
            *remedy = Some(help);
        }
        self
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Unknown { .. } => None,
        }
    }

    pub fn is_known(&self) -> bool {
        self.value().is_some()
    }

    pub fn is_absent(&self) -> bool {
        matches!(
            self,
            Self::Unknown {
                why: UnknownReason::Absent,
                ..
            }
        )
    }

    /// Whether the value is unknown but could be known. An absent value without a remedy is not a
    /// gap: some disks have no model name.
    pub fn is_fillable_gap(&self) -> bool {
        match self {
            Self::Known { .. } => false,
            Self::Unknown { why, remedy, .. } => remedy.is_some() || *why != UnknownReason::Absent,
        }
    }

    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Known { source, .. } => Some(source),
            Self::Unknown { .. } => None,
        }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Ok(change(value)))
    }

    /// An error of `change` makes the reading malformed, with source and error as the detail.
    pub fn and_then<U>(self, change: impl FnOnce(T) -> Result<U, String>) -> Reading<U> {
        self.and_then_reading(|value, source| match change(value) {
            Ok(value) => Reading::known(value, source),
            Err(detail) => Reading::malformed(format!("{source}: {detail}")),
        })
    }

    pub fn and_then_reading<U>(self, next: impl FnOnce(T, Source) -> Reading<U>) -> Reading<U> {
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

    /// Converts an unknown reading to another value type. A known reading becomes *not collected*,
    /// because its value does not have that type.
    pub fn into_unknown_reading<U>(self) -> Reading<U> {
        self.and_then_reading(|_, _| Reading::not_collected())
    }

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

choice! {
    /// The kinds of failed or omitted attempts to read a value.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum UnknownReason {
        /// The file, program or attribute does not exist.
        Absent = "not available",
        /// The file or attribute exists, but walwise may not read it.
        Denied = "denied",
        /// The file, program or server did not answer before its deadline.
        TimedOut = "timed out",
        /// There was an answer that walwise cannot parse.
        Malformed = "malformed",
        /// There was an answer, but several values fit it.
        Ambiguous = "ambiguous",
        /// The value was not part of this run, or is missing from the capture.
        NotCollected = "not collected",
    }
}

/// A step that would make an unknown fact known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Run walwise as root, because only root may read the value.
    RunAsRoot,
    /// Run walwise as this user, usually the owner of the database files.
    RunAs(String),
    /// Let walwise measure commits with `walwise check DIR`.
    RunProbe,
    /// Install the package with this name, because a program from it is missing.
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

/// The origin of a value: a file, program, server, measurement, conclusion or assumption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Source {
    /// A file, with the line if that matters.
    File {
        /// Path of the file, display-safe.
        path: String,
        /// Line number, counted from one.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// The result of a system call.
    Call {
        /// Name and argument, such as `uname` or `statfs /srv`.
        name: String,
    },
    /// The output of a program.
    Command {
        /// The program and its arguments.
        argv: String,
    },
    /// A running server's answer.
    Server {
        /// The socket that was queried.
        socket: String,
    },
    /// A measurement by walwise on this host.
    Probe {
        /// Name of the measurement.
        id: String,
    },
    /// The documented default, because no file or command sets the value.
    Default {
        /// The product and release with this default, such as `PostgreSQL 15`.
        of: String,
    },
    /// Concluded by walwise from other facts.
    Derived {
        /// The facts that the value was concluded from.
        of: Vec<String>,
        /// Whether one of these facts was assumed; such a conclusion never unlocks advice that can
        /// lose data.
        assumed: bool,
    },
    /// The record of a drill, a file that anybody could have written. It never justifies a setting
    /// that can lose data.
    Drill {
        /// Path of the drill's record, display-safe.
        file: String,
    },
    /// The record of a trial, a file that anybody could have written. It never justifies a setting
    /// that can lose data.
    Trial {
        /// Path of the trial's record, display-safe.
        file: String,
    },
    /// A value that the user stated with `--assume`. It never justifies a setting that can lose
    /// data.
    Assumed,
}

impl Source {
    pub fn from_file(path: impl Into<String>) -> Self {
        Self::File {
            path: path.into(),
            line: None,
        }
    }

    /// Lines count from one.
    pub fn from_file_line(path: impl Into<String>, line: u32) -> Self {
        Self::File {
            path: path.into(),
            line: Some(line),
        }
    }

    pub fn from_system_call(name: impl Into<String>) -> Self {
        Self::Call { name: name.into() }
    }

    /// A conclusion from the named facts, none of which is assumed.
    pub fn derived_from<I: IntoIterator<Item: Into<String>>>(of: I) -> Self {
        Self::Derived {
            of: of.into_iter().map(Into::into).collect(),
            assumed: false,
        }
    }

    fn escape_text_in_place(&mut self) {
        match self {
            Self::File { path: text, .. }
            | Self::Call { name: text }
            | Self::Command { argv: text }
            | Self::Server { socket: text }
            | Self::Probe { id: text }
            | Self::Default { of: text }
            | Self::Drill { file: text }
            | Self::Trial { file: text } => escape_display_unsafe_in_place(text),
            Self::Derived { of, .. } => of.iter_mut().for_each(escape_display_unsafe_in_place),
            Self::Assumed => {}
        }
    }

    /// Whether the value was read, measured or concluded on this host, or is the default in force;
    /// false for assumptions and records. Only evidence justifies a setting that can lose data.
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
            Self::Derived { of, assumed: false } => write!(f, "derived from {}", of.join(", ")),
            Self::Derived { of, assumed: true } => {
                write!(f, "derived from {} (partly assumed)", of.join(", "))
            }
            Self::Drill { file } => write!(f, "drills recorded in {file}"),
            Self::Trial { file } => {
                write!(f, "the trial run on this disk and recorded in {file}")
            }
            Self::Assumed => f.write_str("assumed"),
        }
    }
}
