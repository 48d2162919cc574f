//! The two logs of a drill, line by line: the acknowledgements, kept by the listening machine, and
//! the pages found when the power was back.
//!
//! Other lines are skipped, because a console or a terminal shows other text too. A last line
//! without its newline does not count, because `ack 12` may be the beginning of `ack 1234`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stack::StackFingerprint;

/// The first line of both logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The id of the run, so that no two are mixed up.
    pub run: u64,
    /// The method of writing, as in `wal_sync_method`.
    pub method: String,
    pub segments: String,
    /// When it began, RFC 3339 in UTC.
    pub when: String,
    /// The directory, display-safe.
    pub directory: String,
}

const MARK: &str = "walwise-drill 1";
/// The prefix of a line with the id of the boot, /proc/sys/kernel/random/boot_id (random(4)).
pub const BOOT: &str = "boot ";
/// The last line of a writer that was stopped.
pub const STOPPED: &str = "stopped";

impl fmt::Display for Head {
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
            "{MARK} run={run:016x} method={method} segments={segments} when={when} directory={directory}"
        )
    }
}

impl Head {
    /// From its line; `None` for any other.
    pub fn parse(line: &str) -> Option<Self> {
        let (_, words) = line.split_once(MARK)?;
        // The directory comes last, for it may have spaces.
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

/// The log of acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The run that it belongs to.
    pub head: Head,
    /// The boot in which it was written; empty where that is unknown.
    pub boot: String,
    /// The stack below the directory.
    pub stack: StackFingerprint,
    /// The highest number; the writer counts from 1 without gaps. 0 for none.
    pub last: u64,
    /// Whether the writer was stopped rather than cut off.
    pub stopped: bool,
}

/// Parses the log of acknowledgements. The error is a sentence.
pub fn acknowledged(text: &str) -> Result<Acknowledged, String> {
    let mut found: Option<Acknowledged> = None;
    for line in whole_lines(text) {
        if let Some(head) = Head::parse(line) {
            if found
                .as_ref()
                .is_some_and(|found| found.head.run != head.run)
            {
                return Err("it holds two runs; give the log of one".to_owned());
            }
            found = Some(found.unwrap_or(Acknowledged {
                head,
                boot: String::new(),
                stack: StackFingerprint::default(),
                last: 0,
                stopped: false,
            }));
        } else if let Some(found) = &mut found {
            if let Some(number) = line.strip_prefix("ack ") {
                found.last = found.last.max(number.trim_end().parse().unwrap_or(0));
            } else if let Some(boot) = line.strip_prefix(BOOT) {
                boot.trim_end().clone_into(&mut found.boot);
            } else if line.trim_end() == STOPPED {
                found.stopped = true;
            } else {
                found.stack.take(line);
            }
        }
    }
    found.ok_or_else(|| {
        format!("no line of it begins with `{MARK}`; it is what `walwise drill write` printed")
    })
}

/// Numbers as ranges, both ends included, in order.
pub type Ranges = Vec<(u64, u64)>;

/// The log of surviving pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survived {
    /// The run that it belongs to.
    pub head: Head,
    /// The boot in which it was read; empty where that is unknown.
    pub boot: String,
    /// The stack below the directory.
    pub stack: StackFingerprint,
    /// The numbers of whole pages.
    pub pages: Ranges,
    /// When it was read, RFC 3339 in UTC.
    pub when: String,
}

impl fmt::Display for Survived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{BOOT}{}\n{}", self.head, self.boot, self.stack)?;
        for (from, to) in &self.pages {
            writeln!(f, "survived {from}-{to}")?;
        }
        writeln!(f, "read {}", self.when)
    }
}

/// Parses the output of [`Survived`]. The error is a sentence.
pub fn survived(text: &str) -> Result<Survived, String> {
    let mut lines = whole_lines(text);
    let head = lines.find_map(Head::parse).ok_or_else(|| {
        format!("no line of it begins with `{MARK}`; it is what `walwise drill read` printed")
    })?;
    let (mut boot, mut stack, mut pages) =
        (String::new(), StackFingerprint::default(), Ranges::new());
    for line in lines {
        stack.take(line);
        if let Some(named) = line.strip_prefix(BOOT) {
            named.trim_end().clone_into(&mut boot);
        }
        if let Some(when) = line.strip_prefix("read ") {
            return Ok(Survived {
                head,
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
                return Err(format!("`{line}` is no range of numbers"));
            };
            pages.push((from, to));
        }
    }
    Err("its end is missing, the line that begins with `read`".to_owned())
}

fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text
        .rfind('\n')
        .map_or("", |end| text.get(..=end).unwrap_or_default());
    whole.lines()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head() -> Head {
        Head {
            run: 0xabc,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "/srv/pg data".to_owned(),
        }
    }

    fn log(last: u64) -> Acknowledged {
        Acknowledged {
            head: head(),
            boot: String::new(),
            stack: StackFingerprint::default(),
            last,
            stopped: false,
        }
    }

    #[test]
    fn which_boot_it_was_and_how_it_ended_is_told() {
        let text = format!("{}\nboot 7a-b\nack 1\n", head());
        assert_eq!(
            acknowledged(&text),
            Ok(Acknowledged {
                boot: "7a-b".to_owned(),
                ..log(1)
            })
        );
        assert!(acknowledged(&(text + "stopped\n")).unwrap().stopped);
    }

    #[test]
    fn a_cut_line_acknowledges_nothing() {
        let text = format!(
            "login: \n{}\nack 1\nack 2\r\nkernel: noise\nack 34\nack 35",
            head()
        );
        assert_eq!(acknowledged(&text), Ok(log(34)));
        assert_eq!(
            acknowledged(&format!("{}\n", head())).map(|found| found.last),
            Ok(0)
        );
        assert!(acknowledged("ack 1\n").is_err());
        let other = Head { run: 1, ..head() };
        assert!(acknowledged(&format!("{}\nack 5\n{other}\nack 7\n", head())).is_err());
    }

    #[test]
    fn what_was_found_is_read_back() {
        let mut stack = StackFingerprint::default();
        assert!(stack.take("stack device 1 device.model=A = B") && !stack.take("stack trace"));
        let when = "2026-01-02T04:00:00Z".to_owned();
        let found = Survived {
            head: head(),
            boot: "7a".to_owned(),
            stack,
            pages: vec![(3, 9), (11, 11)],
            when,
        };
        assert_eq!(survived(&found.to_string()), Ok(found.clone()));
        assert!(
            survived(&format!("{}\nsurvived 1-2\n", head())).is_err(),
            "the end is missing"
        );
        assert!(survived(&format!("{}\nsurvived 1-x\nread now\n", head())).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(walwise-drill 1 run=0 method=a segments=b when=c directory=d\n|ack [0-9]{0,30}\n|survived [0-9]{0,3}-[0-9]{0,3}\n|read x\n|\\PC{0,20}|\n){0,12}") {
            if let Ok(found) = acknowledged(&text) {
                let named = text.contains(&format!("ack {}", found.last)) || text.contains("ack 0");
                prop_assert!(found.last == 0 || named);
            }
            if let Ok(found) = survived(&text) {
                prop_assert_eq!(survived(&found.to_string()), Ok(found));
            }
        }
    }
}
