//! One mount of the next boot, decoded, and what every list of such mounts needs: options, names
//! and notes.
//!
//! The lists themselves are read beside this file.

use std::path::Path;

use crate::facts::catalog::{boot, mount};
use crate::facts::note::BootNote;
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::{Miss, path_bytes};
use crate::refusal::refused;
use crate::text::safe;

pub const FSTAB: &str = "/etc/fstab";
pub const COMMAND_LINE: &str = "/proc/cmdline";

/// One thing that will be mounted, decoded.
pub struct BootEntry {
    pub point: Vec<u8>,
    pub source: Reading<String>,
    pub fstype: Reading<String>,
    pub options: Vec<u8>,
    pub numbers: Option<Vec<u8>>,
    pub whole: Option<bool>,
    pub auto: Reading<bool>,
    pub path: String,
    pub line: Option<u32>,
}

impl BootEntry {
    pub fn origin(&self) -> Source {
        Source::File {
            path: self.path.clone(),
            line: self.line,
        }
    }

    pub fn put(self, facts: &mut FactSet) {
        let origin = self.origin();
        let point = trimmed(&self.point);
        let point = safe(point);
        let subject = unused(facts, &point);
        let mounted = mount_at(facts, &point);
        let undecided = |word: &String| word == "auto" || word.contains(',');
        let fstype = match (&mounted, self.fstype.value()) {
            (Some(mounted), word) if word.is_none_or(undecided) => {
                Some(facts.get(mounted, &mount::FSTYPE)).filter(Reading::is_known)
            }
            _ => None,
        };
        facts.know(&subject, &boot::POINT, point, origin.clone());
        facts.put(&subject, &boot::SOURCE, self.source);
        facts.put(&subject, &boot::WRITTEN_TYPE, self.fstype.clone());
        facts.put(&subject, &boot::FSTYPE, fstype.unwrap_or(self.fstype));
        if let Some(numbers) = &self.numbers {
            facts.know(
                &subject,
                &boot::DUMP_AND_PASS,
                safe(numbers),
                origin.clone(),
            );
        }
        if let Some(whole) = self.whole {
            facts.know(&subject, &boot::WHOLE, whole, origin.clone());
        }
        facts.know(
            &subject,
            &boot::OPTIONS,
            options(&self.options),
            origin.clone(),
        );
        facts.know(&subject, &boot::WHERE, origin.to_string(), origin);
        facts.put(&subject, &boot::AUTO, self.auto);
        if let Some(mounted) = mounted {
            facts.link(&subject, &mounted);
        }
    }
}

/// The reason why lines could not be read, here and below; `None` for a file that does not exist.
pub type Unread = Option<Reading<bool>>;

/// Whether a line with these options is mounted without being asked.
pub fn mounts_itself(options: &[String]) -> bool {
    let has = |word: &str| options.iter().any(|option| option == word);
    !has("noauto") || has("x-systemd.automount")
}

/// The comma-separated options; a comma inside double quotes does not separate (mount(8), needed
/// for SELinux contexts).
pub fn options(text: &[u8]) -> Vec<String> {
    let mut quoted = false;
    let ends = |byte: &u8| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    };
    text.split(ends)
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
        .map(safe)
        .collect()
}

/// The mount in sight on this mount point: the last of those with its name.
pub fn mount_at(facts: &FactSet, point: &str) -> Option<Subject> {
    let nth = |n: usize| {
        let subject = Subject::mount(if n > 1 {
            format!("{point}#{n}")
        } else {
            point.to_owned()
        });
        facts.contains(&subject).then_some(subject)
    };
    (1..).map_while(nth).last()
}

/// The first unused subject name for a mount point.
pub fn unused(facts: &FactSet, point: &str) -> Subject {
    let first = Subject::boot(point);
    if !facts.contains(&first) {
        return first;
    }
    let taken = facts.subjects(Scope::Boot).filter(|subject| {
        subject
            .name()
            .strip_prefix(point)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    });
    Subject::boot(format!("{point}#{}", taken.count() + 1))
}

pub fn trimmed(point: &[u8]) -> &[u8] {
    match point {
        [rest @ .., b'/'] if !rest.is_empty() => trimmed(rest),
        point => point,
    }
}

pub fn shown(path: &Path) -> String {
    safe(path_bytes(path))
}

/// Notes what kept a list of mounts from being read.
pub fn note(facts: &mut FactSet, miss: &Miss, path: &str) -> Unread {
    let unread = refused(miss, path);
    match &unread {
        Reading::Unknown { why, detail, .. } if *why != Why::Absent => {
            facts.warn(BootNote::Gap {
                detail: detail.clone(),
                why: *why,
            });
            Some(unread)
        }
        _ => None,
    }
}
