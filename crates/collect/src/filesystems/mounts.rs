//! Current mounts, one subject each, from /proc/self/mountinfo, with size and free space.
//!
//! Mounts are named by mount point. A later mount on the same point gets a suffix such as `#2`; the
//! last one is visible. A call of statfs(2) on a network or FUSE file system may never return. Such
//! a mount is therefore queried only for a target on it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::mount_class_of_fstype;
use crate::collector::{Request, insert_subject_facts_in_parallel};
use crate::facts::catalog::mount::{self, AtimePolicy, MountClass};
use crate::facts::{FactSet, Note, NoteKind, Reading, Source, Subject, UnknownReason};
use crate::host::{Host, StatFs, path_bytes};
use crate::host_readings::syscall_reading;
use crate::path_lookup::mount_of_path;
use crate::text::display_safe;
use crate::{mountinfo, parallel, visibility};

const MOUNTINFO: &str = "/proc/self/mountinfo";

fn table_gap_note(sentence: String) -> Note {
    Note::new(NoteKind::IncompleteMountTable, sentence)
}

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let table = match mountinfo::read_mountinfo(host, Path::new(MOUNTINFO)) {
        Ok(table) => table,
        Err(miss) => {
            return facts.add_note_once(table_gap_note(format!(
                "{MOUNTINFO}: {miss}; mounts are unknown"
            )));
        }
    };
    for &(line, complaint) in &table.malformed {
        facts.add_note_once(table_gap_note(format!(
            "{MOUNTINFO}:{line}: {complaint}; line ignored"
        )));
    }
    for &line in &table.lines_with_blanks {
        facts.add_note_once(format!(
            "{MOUNTINFO}:{line}: unescaped space; the text after it was read as further options"
        ));
    }
    if table.skipped_lines > 0 {
        facts.add_note_once(table_gap_note(format!(
            "{} mounts beyond the limit of {} were not read; facts about these mounts are unknown",
            table.skipped_lines,
            host.subject_count_limits().mounts,
        )));
    }
    let in_sight = visibility::are_mounts_visible(&table.entries);
    let mut subjects = Vec::with_capacity(table.entries.len());
    let mut lain = HashMap::new();
    for (entry, visible) in table.entries.iter().zip(in_sight) {
        let subject = numbered_mount_subject(&entry.point, &mut lain, facts);
        facts.add_subject(&subject);
        subjects.push((subject, entry, visible));
    }
    insert_subject_facts_in_parallel(
        &subjects,
        |(subject, ..)| subject,
        facts,
        |mounts, facts| {
            for (subject, entry, visible) in mounts {
                record_mount(subject, entry, *visible, facts);
            }
        },
    );
    let target = request.target.as_deref().and_then(|path| {
        let real = host.real_path(path);
        mount_of_path(facts, real.as_deref().map_or(path_bytes(path), path_bytes))
    });
    let answers = parallel::map_items(&subjects, |(subject, entry, _)| {
        may_statfs_without_hanging(subject, target.as_ref(), facts)
            .then(|| mount_statfs(host, subject, entry, facts))
    });
    for ((subject, ..), answer) in subjects.iter().zip(answers) {
        if let Some(answer) = answer {
            record_space_and_block_size(subject, &answer, facts);
        }
    }
}

fn numbered_mount_subject<'a>(
    point: &'a [u8],
    lain: &mut HashMap<&'a [u8], u32>,
    facts: &FactSet,
) -> Subject {
    let name = display_safe(point);
    let count = lain.entry(point).or_default();
    loop {
        *count = count.saturating_add(1);
        let subject = Subject::mount(if *count == 1 {
            name.clone()
        } else {
            format!("{name}#{count}")
        });
        // A directory may itself have a name such as `/srv#2`, so the count is raised until the
        // name is free.
        if !facts.contains_subject(&subject) || *count == u32::MAX {
            return subject;
        }
    }
}

fn record_mount(
    subject: &Subject,
    entry: &mountinfo::MountEntry,
    in_sight: bool,
    facts: &mut FactSet,
) {
    let source = Source::from_file_line(MOUNTINFO, entry.line);
    let mut text = |key, value| facts.insert_known(subject, key, value, source.clone());
    text(&mount::POINT, display_safe(&entry.point));
    text(&mount::FSTYPE, display_safe(&entry.fstype));
    text(&mount::SOURCE, display_safe(&entry.source));
    text(&mount::ROOT, display_safe(&entry.root));
    text(&mount::DEVNO, entry.devno.clone());
    facts.insert_known(subject, &mount::IN_SIGHT, in_sight, source.clone());
    facts.insert_known(
        subject,
        &mount::OPTIONS,
        redacted_options(&entry.options),
        source.clone(),
    );
    facts.insert_known(
        subject,
        &mount::SUPER_OPTIONS,
        redacted_options(&entry.super_options),
        source.clone(),
    );
    // An assumed fact overrides mountinfo, so from here on the values are taken from `facts`.
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_default();
    let [options, of_superblock] = [&mount::OPTIONS, &mount::SUPER_OPTIONS]
        .map(|key| facts.value(subject, key).unwrap_or_default());
    let major = entry
        .devno
        .split_once(':')
        .and_then(|(major, _)| major.parse().ok())
        .unwrap_or(0);
    facts.insert_known(
        subject,
        &mount::CLASS,
        mount_class_of_fstype(&fstype, major),
        source.clone(),
    );
    facts.insert_known(
        subject,
        &mount::ATIME,
        atime_policy(&options),
        source.clone(),
    );
    facts.insert_known(
        subject,
        &mount::READ_ONLY,
        has_option(&options, "ro") || has_option(&of_superblock, "ro"),
        source,
    );
}

fn has_option(options: &[String], word: &str) -> bool {
    options.iter().any(|option| option == word)
}

/// Reads never update the access time with `noatime`, rarely with `relatime`, and always without
/// both options.
fn atime_policy(options: &[String]) -> AtimePolicy {
    if has_option(options, "noatime") {
        AtimePolicy::Never
    } else if has_option(options, "relatime") {
        AtimePolicy::Relative
    } else {
        AtimePolicy::Always
    }
}

fn redacted_options(options: &[Vec<u8>]) -> Vec<String> {
    let show = |option: &Vec<u8>| {
        let text = display_safe(option);
        let secret = |key: &str| {
            ["pass", "secret", "token"]
                .iter()
                .any(|word| key.contains(word))
        };
        match text.split_once('=') {
            Some((key, _)) if secret(key) => format!("{key}=<hidden>"),
            _ => text,
        }
    };
    options.iter().map(show).collect()
}

fn may_statfs_without_hanging(
    subject: &Subject,
    target: Option<&Subject>,
    facts: &FactSet,
) -> bool {
    match facts.value(subject, &mount::CLASS) {
        Some(MountClass::Block | MountClass::Zfs | MountClass::Memory | MountClass::Overlay) => {
            true
        }
        Some(MountClass::Network | MountClass::Fuse) | None => target == Some(subject),
        Some(MountClass::Other) => false,
    }
}

fn mount_statfs(
    host: &dyn Host,
    subject: &Subject,
    entry: &mountinfo::MountEntry,
    facts: &FactSet,
) -> Reading<StatFs> {
    let point = display_safe(&entry.point);
    if facts.value(subject, &mount::IN_SIGHT) != Some(true) {
        return Reading::absent(format!("another mount covers {point}"));
    }
    let answer = host.statfs(Path::new(OsStr::from_bytes(&entry.point)));
    syscall_reading(answer, &format!("statfs {point}"))
}

fn record_space_and_block_size(subject: &Subject, answer: &Reading<StatFs>, facts: &mut FactSet) {
    facts.insert(subject, &mount::SIZE, answer.clone().map(|fs| fs.size));
    facts.insert(subject, &mount::FREE, answer.clone().map(|fs| fs.available));
    let block = answer
        .clone()
        .and_then_reading(|fs, source| match fs.block {
            Some(block) => Reading::known(block, source),
            None => Reading::unknown(
                UnknownReason::NotCollected,
                "the capture lacks the block size",
            ),
        });
    facts.insert(subject, &mount::BLOCK_SIZE, block);
    let size = facts.value(subject, &mount::SIZE);
    let percent = facts
        .get(subject, &mount::FREE)
        .and_then(|free| match size {
            None => Err("the size is unknown".to_owned()),
            Some(0) => Err("the size is 0".to_owned()),
            Some(size) => Ok(free as f64 / size as f64 * 100.0),
        });
    facts.insert(subject, &mount::FREE_PERCENT, percent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Question;
    use crate::testing::{FakeHost, note_sentences};

    const TABLE: &str = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
        21 20 0:40 / /net rw - nfs4 server:/x rw,password=hunter2\n\
        garbage\n\
        22 20 8:2 / /srv rw - xfs /dev/sda2 rw\n\
        23 22 8:3 / /srv rw - xfs /dev/sda3 rw\n";

    fn collect(target: Option<&str>) -> (FactSet, Vec<Question>) {
        collect_with_inode_count(target, 0)
    }

    fn collect_with_inode_count(target: Option<&str>, inodes: u64) -> (FactSet, Vec<Question>) {
        let statfs = StatFs {
            magic: 1,
            size: 400,
            available: 100,
            inodes,
            inodes_free: 1,
            block: Some(4096),
        }
        .encode();
        let mut fake = FakeHost::default().with_file(MOUNTINFO, TABLE);
        for point in ["/", "/net", "/srv"] {
            fake = fake.with_answer(Question::StatFs(point.into()), &statfs);
        }
        let request = Request {
            target: target.map(Into::into),
            ..Request::default()
        };
        let mut facts = FactSet::default();
        collect_facts(&fake, &request, &mut facts);
        (facts, fake.asked_questions())
    }

    #[test]
    fn last_mount_on_a_point_is_visible() {
        let (facts, _) = collect(None);
        let seen = |name| facts.value(&Subject::mount(name), &mount::IN_SIGHT);
        assert_eq!((seen("/srv"), seen("/srv#2")), (Some(false), Some(true)));
        assert!(!facts.get(&Subject::mount("/srv"), &mount::SIZE).is_known());
        assert_eq!(
            facts.value(&Subject::mount("/srv#2"), &mount::FREE_PERCENT),
            Some(25.0)
        );
        assert_eq!(
            mount_of_path(&facts, b"/srv/pg/data"),
            Some(Subject::mount("/srv#2"))
        );
        for path in [b"/srv2".as_slice(), b"/sr", b"/"] {
            assert_eq!(mount_of_path(&facts, path), Some(Subject::mount("/")));
        }
        assert_eq!(
            mount_of_path(&facts, b"/srv/"),
            Some(Subject::mount("/srv#2"))
        );
    }

    #[test]
    fn network_mounts_are_queried_only_for_target() {
        let net = Question::StatFs("/net".into());
        assert!(!collect(None).1.contains(&net));
        assert!(!collect(Some("/srv")).1.contains(&net));
        assert!(collect(Some("/net/pg")).1.contains(&net));
    }

    #[test]
    fn bad_lines_are_noted_and_passwords_hidden() {
        let (facts, _) = collect(None);
        assert_eq!(note_sentences(&facts).len(), 1);
        assert!(
            note_sentences(&facts)[0].contains("mountinfo:3"),
            "{:?}",
            note_sentences(&facts)
        );
        let options = facts
            .value(&Subject::mount("/net"), &mount::SUPER_OPTIONS)
            .unwrap();
        assert_eq!(options, ["rw", "password=<hidden>"]);
    }
}
