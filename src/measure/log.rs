//! Which log of a server the methods of a measurement write: PostgreSQL's WAL or InnoDB's redo log, in pages of which
//! size, and which settings choose each method.
//!
//! How a server writes its log is left to the prober; a measurement repeats it, so that its readers need no server.

use serde::{Deserialize, Serialize};

use super::Method;

/// A kind of log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LogKind {
    /// PostgreSQL's, and what is measured without a server. Its setting has the methods' names.
    #[default]
    Wal,
    /// InnoDB's.
    Redo,
}

/// The log of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredLog {
    /// Which.
    pub kind: LogKind,
    /// Size of a page of it in bytes: a WAL page, a block of the redo log.
    pub page_bytes: u32,
    /// The method by which the redo log is written now, where that is known; of the WAL a fact says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Method>,
    /// The settings that choose a method of the redo log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<MethodSetting>,
}

/// The setting that chooses a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodSetting {
    /// The method.
    pub method: Method,
    /// The setting and its value: `innodb_log_file_buffering = off`.
    pub setting: String,
}

/// Size of a WAL page (XLOG_BLCKSZ), in bytes.
const WAL_PAGE: u32 = 8192;

impl Default for MeasuredLog {
    fn default() -> Self {
        Self { kind: LogKind::Wal, page_bytes: WAL_PAGE, in_force: None, settings: Vec::new() }
    }
}

impl MeasuredLog {
    /// Whether it is the WAL of an ordinary PostgreSQL.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it is InnoDB's.
    pub fn is_redo(&self) -> bool {
        matches!(self.kind, LogKind::Redo)
    }

    /// The size of a page in words: `8 kB`, `512 B`.
    pub fn page(&self) -> String {
        match self.page_bytes {
            bytes if bytes.is_multiple_of(1024) => format!("{} kB", bytes / 1024),
            bytes => format!("{bytes} B"),
        }
    }

    /// What is written at once, in words.
    pub fn pages(&self) -> String {
        match self.kind {
            LogKind::Wal => format!("{} pages", self.page()),
            LogKind::Redo => format!("redo log, blocks of {}", self.page()),
        }
    }

    /// The setting that chooses a method; `None` where the method has its name.
    pub fn setting(&self, method: Method) -> Option<&str> {
        self.settings.iter().find(|one| one.method == method).map(|one| one.setting.as_str())
    }

    /// A method in words, with the setting that chooses it.
    pub fn named(&self, method: Method) -> String {
        match self.setting(method) {
            Some(setting) => format!("{} by {setting}", method.name()),
            None => method.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_words_of_their_log() {
        let redo = |page_bytes| MeasuredLog { kind: LogKind::Redo, page_bytes, ..MeasuredLog::default() };
        assert_eq!(MeasuredLog::default().pages(), "8 kB pages");
        assert_eq!(redo(512).pages(), "redo log, blocks of 512 B");
        assert_eq!(redo(4096).pages(), "redo log, blocks of 4 kB");
    }
}
