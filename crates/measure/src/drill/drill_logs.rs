//! The two logs of a drill: acknowledgements that another host received, and pages found after the
//! power cut.
//!
//! Unknown lines are skipped, because consoles print other text too. A last line without a newline
//! is ignored: `ack 12` may be the beginning of `ack 1234`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stack_fingerprint::StackFingerprint;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    pub run: u64,
    /// A value of `wal_sync_method`.
    pub method: String,
    pub segments: String,
    /// Start of the run, RFC 3339 in UTC.
    pub when: String,
    /// Path of the drill's directory, display-safe; it may contain spaces.
    pub directory: String,
}

const LOG_HEADER: &str = "walwise-drill 1";
/// Prefix of the line with the boot id, /proc/sys/kernel/random/boot_id (random(4)).
pub const BOOT_PREFIX: &str = "boot ";
/// Last line of a log whose writer was stopped by the user.
pub const STOPPED_LINE: &str = "stopped";

impl fmt::Display for RunHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            method,
            segments,
            when,
            directory,
        } = self;
        write!(
            f,
            "{LOG_HEADER} run={run:016x} method={method} segments={segments} when={when} directory={directory}"
        )
    }
}

impl RunHeader {
    pub fn parse(line: &str) -> Option<Self> {
        let (_, words) = line.split_once(LOG_HEADER)?;
        // The directory comes last, because its path may contain spaces.
        let (words, directory) = words.split_once(" directory=")?;
        let value = |key: &str| {
            words
                .split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .map(str::to_owned)
        };
        Some(Self {
            run: u64::from_str_radix(&value("run")?, 16).ok()?,
            method: value("method")?,
            segments: value("segments")?,
            when: value("when")?,
            directory: directory.trim_end().to_owned(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckLog {
    pub header: RunHeader,
    /// Boot id at the time of writing; empty if unknown.
    pub boot: String,
    pub stack: StackFingerprint,
    /// Highest acknowledged number, or 0; the writer counts from 1 without gaps.
    pub last_number: u64,
    pub was_stopped: bool,
}

/// Parses the log of acknowledgements. The error is a clause, to be shown after the name of the
/// log.
pub fn parse_ack_log(text: &str) -> Result<AckLog, String> {
    let mut found: Option<AckLog> = None;
    for line in complete_lines(text) {
        if let Some(head) = RunHeader::parse(line) {
            if found
                .as_ref()
                .is_some_and(|found| found.header.run != head.run)
            {
                return Err("the log contains two runs; give the log of one run".to_owned());
            }
            found = Some(found.unwrap_or(AckLog {
                header: head,
                boot: String::new(),
                stack: StackFingerprint::default(),
                last_number: 0,
                was_stopped: false,
            }));
        } else if let Some(found) = &mut found {
            if let Some(number) = line.strip_prefix("ack ") {
                found.last_number = found
                    .last_number
                    .max(number.trim_end().parse().unwrap_or(0));
            } else if let Some(boot) = line.strip_prefix(BOOT_PREFIX) {
                boot.trim_end().clone_into(&mut found.boot);
            } else if line.trim_end() == STOPPED_LINE {
                found.was_stopped = true;
            } else {
                found.stack.try_add_line(line);
            }
        }
    }
    found.ok_or_else(|| {
        format!("no line begins with `{LOG_HEADER}`; give the output of `walwise drill write`")
    })
}

/// Ascending ranges of numbers, both ends included.
pub type NumberRanges = Vec<(u64, u64)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBackLog {
    pub header: RunHeader,
    /// Boot id at the time of reading; empty if unknown.
    pub boot: String,
    pub stack: StackFingerprint,
    pub pages: NumberRanges,
    /// Time of reading, RFC 3339 in UTC.
    pub when: String,
}

impl fmt::Display for ReadBackLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\n{BOOT_PREFIX}{}\n{}",
            self.header, self.boot, self.stack
        )?;
        for (from, to) in &self.pages {
            writeln!(f, "survived {from}-{to}")?;
        }
        writeln!(f, "read {}", self.when)
    }
}

/// Parses the log of pages found after the power cut. The error is like that of [`parse_ack_log`].
pub fn parse_read_back_log(text: &str) -> Result<ReadBackLog, String> {
    let mut lines = complete_lines(text);
    let header = lines.find_map(RunHeader::parse).ok_or_else(|| {
        format!("no line begins with `{LOG_HEADER}`; give the output of `walwise drill read`")
    })?;
    let (mut boot, mut stack, mut pages) = (
        String::new(),
        StackFingerprint::default(),
        NumberRanges::new(),
    );
    for line in lines {
        stack.try_add_line(line);
        if let Some(named) = line.strip_prefix(BOOT_PREFIX) {
            named.trim_end().clone_into(&mut boot);
        }
        if let Some(when) = line.strip_prefix("read ") {
            return Ok(ReadBackLog {
                header,
                boot,
                stack,
                pages,
                when: when.trim_end().to_owned(),
            });
        }
        let range = line
            .strip_prefix("survived ")
            .and_then(|range| range.trim_end().split_once('-'));
        if let Some((from, to)) = range {
            let (Ok(from), Ok(to)) = (from.parse(), to.parse()) else {
                return Err(format!("`{line}` is not a range of numbers"));
            };
            pages.push((from, to));
        }
    }
    Err("the last line of the log, which begins with `read`, is missing".to_owned())
}

fn complete_lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text
        .rfind('\n')
        .map_or("", |end| text.get(..=end).unwrap_or_default());
    whole.lines()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample_header() -> RunHeader {
        RunHeader {
            run: 0xabc,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "/srv/pg data".to_owned(),
        }
    }

    fn ack_log(last: u64) -> AckLog {
        AckLog {
            header: sample_header(),
            boot: String::new(),
            stack: StackFingerprint::default(),
            last_number: last,
            was_stopped: false,
        }
    }

    #[test]
    fn which_boot_it_was_and_how_it_ended_is_told() {
        let text = format!("{}\nboot 7a-b\nack 1\n", sample_header());
        assert_eq!(
            parse_ack_log(&text),
            Ok(AckLog {
                boot: "7a-b".to_owned(),
                ..ack_log(1)
            })
        );
        assert!(parse_ack_log(&(text + "stopped\n")).unwrap().was_stopped);
    }

    #[test]
    fn a_cut_line_acknowledges_nothing() {
        let text = format!(
            "login: \n{}\nack 1\nack 2\r\nkernel: noise\nack 34\nack 35",
            sample_header()
        );
        assert_eq!(parse_ack_log(&text), Ok(ack_log(34)));
        assert_eq!(
            parse_ack_log(&format!("{}\n", sample_header())).map(|found| found.last_number),
            Ok(0)
        );
        assert!(parse_ack_log("ack 1\n").is_err());
        let other = RunHeader {
            run: 1,
            ..sample_header()
        };
        assert!(parse_ack_log(&format!("{}\nack 5\n{other}\nack 7\n", sample_header())).is_err());
    }

    #[test]
    fn what_was_found_is_read_back() {
        let mut stack = StackFingerprint::default();
        assert!(
            stack.try_add_line("stack device 1 device.model=A = B")
                && !stack.try_add_line("stack trace")
        );
        let when = "2026-01-02T04:00:00Z".to_owned();
        let found = ReadBackLog {
            header: sample_header(),
            boot: "7a".to_owned(),
            stack,
            pages: vec![(3, 9), (11, 11)],
            when,
        };
        assert_eq!(parse_read_back_log(&found.to_string()), Ok(found.clone()));
        assert!(
            parse_read_back_log(&format!("{}\nsurvived 1-2\n", sample_header())).is_err(),
            "the end is missing"
        );
        assert!(
            parse_read_back_log(&format!("{}\nsurvived 1-x\nread now\n", sample_header())).is_err()
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(walwise-drill 1 run=0 method=a segments=b when=c directory=d\n|ack [0-9]{0,30}\n|survived [0-9]{0,3}-[0-9]{0,3}\n|read x\n|\\PC{0,20}|\n){0,12}") {
            if let Ok(found) = parse_ack_log(&text) {
                let named = text.contains(&format!("ack {}", found.last_number)) || text.contains("ack 0");
                prop_assert!(found.last_number == 0 || named);
            }
            if let Ok(found) = parse_read_back_log(&text) {
                prop_assert_eq!(parse_read_back_log(&found.to_string()), Ok(found));
            }
        }
    }
}
