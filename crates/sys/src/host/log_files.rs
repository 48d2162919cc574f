//! The log files of a database server in one directory, counted without their names.

use super::HostError;
use walwise_model::facts::choice;

choice! {
    pub enum LogFileKind {
        /// WAL segments of PostgreSQL: 24 hexadecimal digits (`XLogFileName`).
        WalSegment = "segment",
        /// Marks of segments that wait for the archiver: `*.ready` in `archive_status`.
        ArchiveReady = "ready",
        /// Binary logs of MySQL and MariaDB: the prefix, a dot and at least six digits.
        BinaryLog = "binlog",
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFileStats {
    pub count: u64,
    /// Allocated space in bytes (`st_blocks` of stat(2)).
    pub bytes: u64,
    /// Time since the last change of the oldest file, in seconds; `None` if there is no file.
    pub oldest_age: Option<u64>,
}

impl LogFileKind {
    /// `prefix` is the file name at the end of a binary log's path prefix.
    pub(crate) fn matches_file_name(self, name: &[u8], prefix: &[u8]) -> bool {
        match self {
            Self::WalSegment => {
                name.len() == 24 && name.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
            }
            Self::ArchiveReady => name.ends_with(b".ready"),
            Self::BinaryLog => name
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix(b"."))
                .is_some_and(|digits| digits.len() >= 6 && digits.iter().all(u8::is_ascii_digit)),
        }
    }
}

impl LogFileStats {
    /// Encodes count, bytes and age in one line, with `-` for a missing age.
    pub fn encode(&self) -> String {
        let age = self
            .oldest_age
            .map_or_else(|| "-".to_owned(), |age| age.to_string());
        format!("{} {} {age}\n", self.count, self.bytes)
    }

    pub fn decode(answer: &[u8]) -> Result<Self, HostError> {
        let parse = || {
            let mut words = str::from_utf8(answer).ok()?.split_ascii_whitespace();
            Some(Self {
                count: words.next()?.parse().ok()?,
                bytes: words.next()?.parse().ok()?,
                oldest_age: match words.next()? {
                    "-" => None,
                    age => Some(age.parse().ok()?),
                },
            })
        };
        parse().ok_or_else(|| HostError::failed("the counts of log files cannot be parsed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_file_names_match_their_kind() {
        let segment = b"000000010000000A000000FF";
        for (kind, name, expected) in [
            (LogFileKind::WalSegment, &segment[..], true),
            (
                LogFileKind::WalSegment,
                b"000000010000000A000000FF.partial",
                false,
            ),
            (LogFileKind::WalSegment, b"00000002.history", false),
            (
                LogFileKind::ArchiveReady,
                b"000000010000000A000000FF.ready",
                true,
            ),
            (
                LogFileKind::ArchiveReady,
                b"000000010000000A000000FF.done",
                false,
            ),
            (LogFileKind::BinaryLog, b"db1-bin.000001", true),
            (LogFileKind::BinaryLog, b"db1-bin.1000001", true),
            (LogFileKind::BinaryLog, b"db1-bin.index", false),
            (LogFileKind::BinaryLog, b"db1-bin-relay.000001", false),
            (LogFileKind::BinaryLog, b"db1-bin.00001", false),
        ] {
            assert_eq!(
                kind.matches_file_name(name, b"db1-bin"),
                expected,
                "{kind:?} {name:?}"
            );
        }
    }

    #[test]
    fn log_file_stats_round_trip() {
        for oldest_age in [None, Some(0), Some(u64::MAX)] {
            let files = LogFileStats {
                count: 3,
                bytes: u64::MAX,
                oldest_age,
            };
            assert_eq!(LogFileStats::decode(files.encode().as_bytes()), Ok(files));
        }
        for bad in ["", "1 2", "1 -2 3", "x 2 3"] {
            assert!(LogFileStats::decode(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
