use std::path::Path;

use crate::error_readings::error_reading;
use crate::facts::catalog::{boot, mount};
use crate::facts::note::BootNote;
use crate::facts::{FactSet, Reading, Scope, Source, Subject, UnknownReason};
use crate::host::{HostError, path_bytes};
use crate::text::display_safe;

pub const FSTAB: &str = "/etc/fstab";
pub const COMMAND_LINE: &str = "/proc/cmdline";

pub struct BootEntry {
    pub point: Vec<u8>,
    pub source: Reading<String>,
    pub fstype: Reading<String>,
    pub options: Vec<u8>,
    pub dump_and_pass: Option<Vec<u8>>,
    pub is_complete: Option<bool>,
    pub auto: Reading<bool>,
    pub path: String,
    pub line: Option<u32>,
}

impl BootEntry {
    pub fn source(&self) -> Source {
        Source::File {
            path: self.path.clone(),
            line: self.line,
        }
    }

    pub fn record(self, facts: &mut FactSet) {
        let origin = self.source();
        let point = trim_mount_point(&self.point);
        let point = display_safe(point);
        let subject = new_boot_subject(facts, &point);
        let mounted = visible_mount_at(facts, &point);
        let undecided = |word: &String| word == "auto" || word.contains(',');
        let fstype = match (&mounted, self.fstype.value()) {
            (Some(mounted), word) if word.is_none_or(undecided) => {
                Some(facts.get(mounted, &mount::FSTYPE)).filter(Reading::is_known)
            }
            _ => None,
        };
        facts.insert_known(&subject, &boot::POINT, point, origin.clone());
        facts.insert(&subject, &boot::SOURCE, self.source);
        facts.insert(&subject, &boot::WRITTEN_TYPE, self.fstype.clone());
        facts.insert(&subject, &boot::FSTYPE, fstype.unwrap_or(self.fstype));
        if let Some(numbers) = &self.dump_and_pass {
            facts.insert_known(
                &subject,
                &boot::DUMP_AND_PASS,
                display_safe(numbers),
                origin.clone(),
            );
        }
        if let Some(whole) = self.is_complete {
            facts.insert_known(&subject, &boot::WHOLE, whole, origin.clone());
        }
        facts.insert_known(
            &subject,
            &boot::OPTIONS,
            split_options(&self.options),
            origin.clone(),
        );
        facts.insert_known(&subject, &boot::WHERE, origin.to_string(), origin);
        facts.insert(&subject, &boot::AUTO, self.auto);
        if let Some(mounted) = mounted {
            facts.link(&subject, &mounted);
        }
    }
}

/// The reason why lines could not be read; `None` if all were read or the file does not exist.
pub type ReadFailure = Option<Reading<bool>>;

/// True without `noauto`, and for `x-systemd.automount`, which mounts at the first access.
pub fn is_mounted_at_boot(options: &[String]) -> bool {
    let has = |word: &str| options.iter().any(|option| option == word);
    !has("noauto") || has("x-systemd.automount")
}

/// Splits options at commas outside double quotes (mount(8), for SELinux contexts).
pub fn split_options(text: &[u8]) -> Vec<String> {
    let mut quoted = false;
    let ends = |byte: &u8| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    };
    text.split(ends)
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
        .map(display_safe)
        .collect()
}

/// Returns the visible mount at a mount point: the last one, because later mounts cover earlier
/// ones.
pub fn visible_mount_at(facts: &FactSet, point: &str) -> Option<Subject> {
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

pub fn new_boot_subject(facts: &FactSet, point: &str) -> Subject {
    let first = Subject::boot(point);
    if !facts.contains(&first) {
        return first;
    }
    let taken = facts.subjects_of_scope(Scope::Boot).filter(|subject| {
        subject
            .name()
            .strip_prefix(point)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    });
    Subject::boot(format!("{point}#{}", taken.count() + 1))
}

pub fn trim_mount_point(point: &[u8]) -> &[u8] {
    match point {
        [rest @ .., b'/'] if !rest.is_empty() => trim_mount_point(rest),
        point => point,
    }
}

pub fn display_path(path: &Path) -> String {
    display_safe(path_bytes(path))
}

pub fn note_unread_file(facts: &mut FactSet, miss: &HostError, path: &str) -> ReadFailure {
    let unread = error_reading(miss, path);
    match &unread {
        Reading::Unknown { why, detail, .. } if *why != UnknownReason::Absent => {
            facts.add_note(BootNote::UnreadableSource {
                detail: detail.clone(),
                why: *why,
            });
            Some(unread)
        }
        _ => None,
    }
}
