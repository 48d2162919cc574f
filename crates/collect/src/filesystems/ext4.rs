//! ext2, ext3 and ext4 as the ext4 driver runs them: all options in force, the journal, counted
//! errors, features, clusters.
//!
//! Everyone can read the options and the journal (/proc/fs/ext4, /sys/fs/ext4). Only root can read
//! the superblock, which has features and clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::superblocks;
use crate::collector::Request;
use crate::fact_readings::FactReadings;
use crate::facts::catalog::mount::{self, JournalMode};
use crate::facts::{Choice, FactSet, FactValue, Key, Reading, Scope, Source, Subject};
use crate::host::{Host, SuperblockKind};
use crate::host_readings::{error_reading, file_reading};
use crate::text::{bytes, decode_display_safe, display_path, display_safe};
use crate::{attribute, parallel};

struct Ext4Readings {
    journal_task: Reading<String>,
    journal: Reading<bool>,
    of_mounts: FactReadings,
}

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mut by_device: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
    for subject in facts.subjects_where(&mount::FSTYPE, |fstype| {
        ["ext2", "ext3", "ext4"].contains(&fstype.as_str())
    }) {
        if let Some(device) = facts.applicable_subject(&subject, Scope::Device) {
            by_device.entry(device).or_default().push(subject);
        }
    }
    let devices: Vec<&Subject> = by_device.keys().collect();
    let found = parallel::map_items(&devices, |device| {
        read_ext4_facts(
            host,
            facts,
            device,
            by_device.get(device).map_or(&[], Vec::as_slice),
        )
    });
    let outside = external_journal_of_each_device(host, facts, &devices, &found);
    for (((device, mounts), found), outside) in by_device.iter().zip(&found).zip(outside) {
        let journal = outside.value().map(Subject::device);
        for subject in mounts {
            // A commit waits for the journal device as for the file system's own disk.
            if let Some(journal) = journal.as_ref().filter(|journal| *journal != device) {
                facts.add_layer_below(subject, journal);
            }
            facts.insert(subject, &mount::EXT4_JOURNAL_DEVICE, outside.clone());
            found.of_mounts.insert_for(subject, facts);
        }
    }
}

fn read_ext4_facts(
    host: &dyn Host,
    facts: &FactSet,
    device: &Subject,
    mounts: &[Subject],
) -> Ext4Readings {
    let read = superblocks::read_superblock(host, facts, device, SuperblockKind::Ext);
    let features = assumed_reading(facts, mounts, &mount::EXT4_FEATURES)
        .unwrap_or_else(|| read.clone().map(|found| found.features));
    let mut of_mounts = FactReadings::default();
    superblocks::add_superblock_uuid(&mut of_mounts, &read);
    let cluster = match features.value() {
        Some(words) if !words.iter().any(|word| word == "bigalloc") => {
            Reading::absent("the file system has no clusters, because bigalloc is off")
        }
        _ => read.and_then(|found| {
            found
                .cluster
                .ok_or_else(|| "the superblock has no cluster size".to_owned())
        }),
    };
    let name = PathBuf::from(OsString::from_vec(decode_display_safe(device.name())));
    let proc = Path::new("/proc/fs/ext4").join(&name);
    let sys = Path::new("/sys/fs/ext4").join(&name);
    let options = assumed_reading(facts, mounts, &mount::EXT4_OPTIONS)
        .unwrap_or_else(|| read_options_in_force(host, &proc.join("options")));
    let task = attribute::read_text(host, &sys.join("journal_task"));
    let journal = assumed_reading(facts, mounts, &mount::EXT4_JOURNAL)
        .unwrap_or_else(|| has_journal(&task, &options));
    let data = match journal.value() {
        Some(false) => Reading::absent("the file system has no journal"),
        _ => options.clone().and_then(|options| {
            let mode = options
                .iter()
                .rev()
                .find_map(|option| option.strip_prefix("data="));
            JournalMode::parse_word(mode.ok_or("the options in force contain no data=")?)
        }),
    };
    let of_features = features
        .clone()
        .map(|words| words.iter().any(|word| word == "fast_commit"));
    let fast_commit = if of_features.is_known() {
        of_features
    } else {
        fast_commit_from_fc_info(host, &proc.join("fc_info"), &options).unwrap_or(of_features)
    };
    let errors = attribute::read_number(host, &sys.join("errors_count"));
    of_mounts.add(&mount::EXT4_OPTIONS, options);
    of_mounts.add(&mount::EXT4_JOURNAL, journal.clone());
    of_mounts.add(&mount::EXT4_DATA, data);
    of_mounts.add(&mount::EXT4_ERRORS, errors);
    of_mounts.add(&mount::EXT4_FEATURES, features);
    of_mounts.add(&mount::EXT4_CLUSTER, cluster);
    of_mounts.add(&mount::EXT4_FAST_COMMIT, fast_commit);
    Ext4Readings {
        journal_task: task,
        journal,
        of_mounts,
    }
}

fn assumed_reading<T: FactValue>(
    facts: &FactSet,
    mounts: &[Subject],
    key: &Key<T>,
) -> Option<Reading<T>> {
    let held = mounts
        .iter()
        .find(|mount| facts.is_assumed(mount, key.id()))?;
    Some(facts.get(held, key))
}

/// The file has one option per line, defaults included.
fn read_options_in_force(host: &dyn Host, path: &Path) -> Reading<Vec<String>> {
    let shown = display_path(path);
    file_reading(host.read(path), &shown).map(|text| {
        let lines = bytes::lines(&text).map(<[u8]>::trim_ascii);
        lines
            .filter(|line| !line.is_empty())
            .map(display_safe)
            .collect()
    })
}

/// Without a journal, `journal_task` is `<none>`. Older kernels lack that file, but print `data=`
/// only with a journal.
fn has_journal(task: &Reading<String>, options: &Reading<Vec<String>>) -> Reading<bool> {
    let task = task.clone().map(|task| task != "<none>");
    match (&task, options) {
        (Reading::Unknown { .. }, Reading::Known { value, source })
            if value.iter().any(|option| option.starts_with("data=")) =>
        {
            Reading::known(true, source.clone())
        }
        _ => task,
    }
}

const JOURNALS_DIRECTORY: &str = "/proc/fs/jbd2";

/// /proc/fs/jbd2 lists internal journals with their inode (`sda1-8`) and external ones without
/// their file system (`sdb1`). If several are possible, the name of the journal's thread decides.
fn external_journal_of_each_device(
    host: &dyn Host,
    facts: &FactSet,
    devices: &[&Subject],
    found: &[Ext4Readings],
) -> Vec<Reading<String>> {
    let names: BTreeSet<String> = match host.list_directory(Path::new(JOURNALS_DIRECTORY)) {
        Ok(names) => names
            .iter()
            .map(|name| display_safe(name.as_encoded_bytes()))
            .collect(),
        Err(miss) => {
            return devices
                .iter()
                .map(|_| error_reading(&miss, JOURNALS_DIRECTORY))
                .collect();
        }
    };
    let inside: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| Some(name.rsplit_once('-')?.0))
        .collect();
    let lacks = |(device, ext4): &(&&Subject, &Ext4Readings)| {
        ext4.journal.value() == Some(&true) && !inside.contains(device.name())
    };
    let lacking = devices.iter().zip(found).filter(lacks).count();
    let is_device = |name: &&String| facts.contains_subject(&Subject::device(name.as_str()));
    let outside: Vec<&String> = names.iter().filter(is_device).collect();
    let each = |pair: (&&Subject, &Ext4Readings)| match outside.as_slice() {
        _ if !lacks(&pair) => Reading::absent("the file system has no external journal"),
        [only] if lacking == 1 => Reading::known(
            (*only).clone(),
            Source::from_file(format!("{JOURNALS_DIRECTORY}/{only}")),
        ),
        _ => {
            match external_journal_by_thread_name(host, pair.0, pair.1.journal_task.clone(), facts)
            {
                known @ Reading::Known { .. } => known,
                Reading::Unknown { .. } => Reading::ambiguous(
                    "the journal is on another device, which the kernel does not name",
                ),
            }
        }
    };
    devices.iter().zip(found).map(each).collect()
}

/// A count of commits above zero proves the feature; zero proves nothing. Linux 5.10 and later have
/// `fc_info` for every file system (ext4_register_sysfs in fs/ext4/sysfs.c), so a kernel without it
/// has no fast commits.
fn fast_commit_from_fc_info(
    host: &dyn Host,
    path: &Path,
    options: &Reading<Vec<String>>,
) -> Option<Reading<bool>> {
    let source = || Source::from_file(display_path(path));
    let text = match host.read(path) {
        Ok(text) => text,
        Err(miss) if miss.is_absent() && options.is_known() => {
            return Some(Reading::known(false, source()));
        }
        Err(_) => return None,
    };
    let count = String::from_utf8_lossy(&text).lines().find_map(|line| {
        let (count, word) = line.trim().split_once(' ')?;
        (word.trim() == "commits").then(|| count.parse::<u64>().ok())?
    });
    (count? > 0).then(|| Reading::known(true, source()))
}

// The kernel thread of a journal is named after it (fs/jbd2/journal.c): `jbd2/sdb1-8` for inode 8
// of the file system itself, `jbd2/sdc1` for another device. Kernels before 5.17 truncate the name
// to 15 bytes; a truncated name is used only if no external journal could have it.

/// The maximum length of /proc/PID/comm in kernels before 5.17, without the newline.
const MAX_COMM_BYTES: usize = 15;

/// *Absent* for an internal journal. `task` is the process id in the file system's `journal_task`.
fn external_journal_by_thread_name(
    host: &dyn Host,
    own: &Subject,
    task: Reading<String>,
    facts: &FactSet,
) -> Reading<String> {
    let thread = task.and_then(|text| match text.parse::<u32>() {
        Ok(0) => Err("the journal's thread is not visible".to_owned()),
        Ok(pid) => Ok(pid),
        Err(_) => Err(format!("`{text}` is not a thread id")),
    });
    let name = thread.and_then_reading(|pid, _| {
        attribute::read_text(host, &Path::new("/proc").join(pid.to_string()).join("comm"))
    });
    name.and_then_reading(|name, source| {
        let Some(device) = name.strip_prefix("jbd2/") else {
            return Reading::malformed(format!("{source}: `{name}` is not a journal thread"));
        };
        match is_internal_journal(device, own.name()) {
            Some(true) => Reading::absent("the journal is on the device itself"),
            Some(false) if facts.contains_subject(&Subject::device(device)) => {
                Reading::known(device.to_owned(), source)
            }
            Some(false) => {
                Reading::malformed(format!("{source}: {device} is not among the devices found"))
            }
            None => Reading::ambiguous("the name of the journal's thread was truncated"),
        }
    })
}

/// `None` if undecidable, for example because the name is truncated.
fn is_internal_journal(name: &str, own: &str) -> Option<bool> {
    if let Some(inode) = name
        .strip_prefix(own)
        .and_then(|rest| rest.strip_prefix('-'))
    {
        return inode.bytes().all(|b| b.is_ascii_digit()).then_some(true);
    }
    (name.len() + "jbd2/".len() != MAX_COMM_BYTES).then_some(false)
}

#[cfg(test)]
mod external_journal_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Source;
    use crate::facts::UnknownReason;
    use crate::testing::FakeHost;

    fn external_journal_of_task(
        own: &str,
        task: &str,
        comm: &str,
    ) -> (Option<String>, Option<UnknownReason>) {
        let host = FakeHost::default().with_file("/proc/71/comm", comm);
        let task = Reading::known(
            task.to_owned(),
            Source::from_file("/sys/fs/ext4/x/journal_task"),
        );
        let mut facts = FactSet::default();
        facts.add_subject(&Subject::device("sdc1"));
        let reading = external_journal_by_thread_name(&host, &Subject::device(own), task, &facts);
        let why = match &reading {
            Reading::Unknown { why, .. } => Some(*why),
            Reading::Known { .. } => None,
        };
        (reading.value().cloned(), why)
    }

    #[test]
    fn journal_device_follows_thread_name() {
        for (own, task, comm, expect) in [
            (
                "sdb1",
                "71",
                "jbd2/sdb1-8\n",
                (None, Some(UnknownReason::Absent)),
            ),
            ("sdb1", "71", "jbd2/sdc1\n", (Some("sdc1".to_owned()), None)),
            (
                "nvme0n1p1",
                "71",
                "jbd2/nvme0n1p1-\n",
                (None, Some(UnknownReason::Absent)),
            ),
            (
                "nvme10n11p1",
                "71",
                "jbd2/nvme10n11p\n",
                (None, Some(UnknownReason::Ambiguous)),
            ),
            (
                "nvme10n11p1",
                "71",
                "jbd2/nvme10n11p1-8\n",
                (None, Some(UnknownReason::Absent)),
            ),
            (
                "sdb1",
                "71",
                "jbd2/nvme10n1p1\n",
                (None, Some(UnknownReason::Ambiguous)),
            ),
            (
                "sdb1",
                "71",
                "jbd2/sdz9\n",
                (None, Some(UnknownReason::Malformed)),
            ),
            (
                "sdb1",
                "71",
                "kworker\n",
                (None, Some(UnknownReason::Malformed)),
            ),
            (
                "sdb1",
                "0",
                "jbd2/sdc1\n",
                (None, Some(UnknownReason::Malformed)),
            ),
            (
                "sdb1",
                "<none>",
                "jbd2/sdc1\n",
                (None, Some(UnknownReason::Malformed)),
            ),
        ] {
            assert_eq!(
                external_journal_of_task(own, task, comm),
                expect,
                "{own} {task} {comm}"
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_thread_names_give_known_device_or_none(own in "[a-z0-9]{1,12}", task in "[0-9a-z<>]{0,4}", comm in "(jbd2/)?[ -~]{0,12}") {
            let (device, _) = external_journal_of_task(&own, &task, &comm);
            prop_assert!(device.is_none_or(|device| device == "sdc1"));
        }

        #[test]
        fn truncated_name_of_internal_journal_is_never_external(own in "[a-z0-9]{1,12}") {
            let whole = format!("jbd2/{own}-8");
            let cut: String = whole.chars().take(MAX_COMM_BYTES).collect();
            prop_assert_eq!(external_journal_of_task(&own, "71", &whole), (None, Some(UnknownReason::Absent)));
            prop_assert!(matches!(external_journal_of_task(&own, "71", &cut), (None, Some(UnknownReason::Absent | UnknownReason::Ambiguous))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Remedy;
    use crate::facts::UnknownReason;
    use crate::facts::catalog::{device, host};
    use crate::host::HostErrorKind;
    use crate::host::Question;
    use crate::testing::FakeHost;

    const OPTIONS: &str = "rw\nbarrier\ndelalloc\ncommit=5\ndata=ordered\nstripe=0\n";
    const IDLE: &str =
        "fc stats:\n0 commits\n1 ineligible\n0 numblks\n0us avg_commit_time\nIneligible reasons:\n";

    fn collect(host: &FakeHost, privileged: bool) -> FactSet {
        let mut facts = FactSet::default();
        let device = Subject::device("sda1");
        facts.insert_known(
            &Subject::host(),
            &host::PRIVILEGED,
            privileged,
            Source::Assumed,
        );
        facts.insert_known(
            &device,
            &device::PATH,
            "/dev/sda1".to_owned(),
            Source::Assumed,
        );
        for point in ["/", "/bind"] {
            facts.insert_known(
                &Subject::mount(point),
                &mount::FSTYPE,
                "ext4".to_owned(),
                Source::Assumed,
            );
            facts.set_fact_link(&Subject::mount(point), &device);
        }
        collect_facts(host, &Request::default(), &mut facts);
        facts
    }

    fn host_with_ext4(fc_info: &str) -> FakeHost {
        FakeHost::default()
            .with_file("/proc/fs/ext4/sda1/options", OPTIONS)
            .with_file("/proc/fs/ext4/sda1/fc_info", fc_info)
            .with_files_in_directory(
                "/sys/fs/ext4/sda1",
                &[("journal_task", "211"), ("errors_count", "3")],
            )
    }

    #[test]
    fn unprivileged_facts_are_read_once() {
        let host = host_with_ext4(IDLE);
        let facts = collect(&host, false);
        for mount in ["/", "/bind"].map(Subject::mount) {
            assert_eq!(
                facts.value(&mount, &mount::EXT4_DATA),
                Some(JournalMode::Ordered)
            );
            assert_eq!(facts.value(&mount, &mount::EXT4_JOURNAL), Some(true));
            assert_eq!(facts.value(&mount, &mount::EXT4_ERRORS), Some(3));
            let fast = facts.get(&mount, &mount::EXT4_FAST_COMMIT);
            assert!(
                matches!(
                    fast,
                    Reading::Unknown {
                        remedy: Some(Remedy::RunAsRoot),
                        ..
                    }
                ),
                "{fast:?}"
            );
        }
        assert_eq!(
            host.asked_questions().len(),
            5,
            "each file system is read once, regardless of its number of mounts"
        );
    }

    #[test]
    fn commit_count_proves_fast_commit() {
        let busy = host_with_ext4("fc stats:\n12 commits\n1 ineligible\n");
        assert_eq!(
            collect(&busy, false).value(&Subject::mount("/"), &mount::EXT4_FAST_COMMIT),
            Some(true)
        );
    }

    #[test]
    fn missing_fc_info_means_no_fast_commit() {
        let host = FakeHost::default().with_file("/proc/fs/ext4/sda1/options", OPTIONS);
        let value = |host: &FakeHost| {
            collect(host, false).value(&Subject::mount("/"), &mount::EXT4_FAST_COMMIT)
        };
        assert_eq!(value(&host), Some(false));
        assert_eq!(
            value(&FakeHost::default()),
            None,
            "nothing of the file system was read"
        );
        let question = Question::Read("/proc/fs/ext4/sda1/fc_info".into());
        assert_eq!(
            value(&host.with_error(question, HostErrorKind::Denied)),
            None
        );
    }

    #[test]
    fn features_are_read_with_root() {
        let question = || Question::Superblock("/dev/sda1".into(), SuperblockKind::Ext);
        let answer = "features has_journal fast_commit extent 64bit\n";
        let facts = collect(&host_with_ext4(IDLE).with_answer(question(), answer), true);
        let root = Subject::mount("/");
        assert_eq!(facts.value(&root, &mount::EXT4_FAST_COMMIT), Some(true));
        assert_eq!(facts.value(&root, &mount::EXT4_FEATURES).unwrap().len(), 4);
        let cluster = facts.get(&root, &mount::EXT4_CLUSTER);
        assert!(
            matches!(
                cluster,
                Reading::Unknown {
                    why: UnknownReason::Absent,
                    ..
                }
            ),
            "{cluster:?}"
        );
        for (answer, expect) in [
            ("features extent bigalloc\ncluster 16384\n", Some(16384)),
            // Older captures have no cluster size.
            ("features extent bigalloc\n", None),
            ("features extent bigalloc\ncluster many\n", None),
        ] {
            let facts = collect(&host_with_ext4(IDLE).with_answer(question(), answer), true);
            assert_eq!(
                facts.value(&root, &mount::EXT4_FEATURES).unwrap(),
                ["extent", "bigalloc"]
            );
            assert_eq!(facts.value(&root, &mount::EXT4_CLUSTER), expect, "{answer}");
        }
        let facts = collect(
            &host_with_ext4(IDLE).with_error(question(), HostErrorKind::Failed),
            true,
        );
        let reading = facts.get(&root, &mount::EXT4_FEATURES);
        assert!(
            matches!(
                reading,
                Reading::Unknown {
                    why: UnknownReason::Malformed,
                    ..
                }
            ),
            "{reading:?}"
        );
    }

    #[test]
    fn missing_journal_is_detected() {
        let host = FakeHost::default()
            .with_file("/proc/fs/ext4/sda1/options", "rw\nbarrier\n")
            .with_files_in_directory("/sys/fs/ext4/sda1", &[("journal_task", "<none>")]);
        let facts = collect(&host, false);
        assert_eq!(
            facts.value(&Subject::mount("/"), &mount::EXT4_JOURNAL),
            Some(false)
        );
        assert!(
            !facts
                .get(&Subject::mount("/"), &mount::EXT4_DATA)
                .is_known()
        );
    }

    #[test]
    fn unknown_journal_mode_is_malformed() {
        let mode = |options: &str| {
            let host = FakeHost::default().with_file("/proc/fs/ext4/sda1/options", options);
            collect(&host, false).get(&Subject::mount("/"), &mount::EXT4_DATA)
        };
        assert_eq!(
            mode("rw\ndata=writeback\n").value(),
            Some(&JournalMode::Writeback)
        );
        assert!(matches!(
            mode("rw\ndata=best\n"),
            Reading::Unknown {
                why: UnknownReason::Malformed,
                ..
            }
        ));
    }

    #[test]
    fn external_journal_is_added_to_stack() {
        let look = |names: &[&str]| {
            let mut facts = FactSet::default();
            for (point, device) in [("/a", "sda1"), ("/b", "dm-0")] {
                facts.insert_known(
                    &Subject::mount(point),
                    &mount::FSTYPE,
                    "ext4".to_owned(),
                    Source::Assumed,
                );
                facts.set_fact_link(&Subject::mount(point), &Subject::device(device));
                facts.add_layer_below(&Subject::mount(point), &Subject::device(device));
            }
            facts.add_subject(&Subject::device("sdb1"));
            facts.add_subject(&Subject::device("dm-0"));
            let mut host = host_with_ext4(IDLE)
                .with_files_in_directory("/sys/fs/ext4/dm-0", &[("journal_task", "212")]);
            for name in names {
                host = host.with_file(format!("/proc/fs/jbd2/{name}/info"), "");
            }
            collect_facts(&host, &Request::default(), &mut facts);
            ["/a", "/b"].map(|point| {
                let mount = Subject::mount(point);
                (
                    facts.get(&mount, &mount::EXT4_JOURNAL_DEVICE),
                    facts.layers_directly_below(&mount).len(),
                )
            })
        };
        let [a, b] = look(&["sda1-8", "dm-0-8"]);
        assert!(
            matches!(
                a,
                (
                    Reading::Unknown {
                        why: UnknownReason::Absent,
                        ..
                    },
                    1
                )
            ),
            "{a:?}"
        );
        assert!(
            matches!(
                b,
                (
                    Reading::Unknown {
                        why: UnknownReason::Absent,
                        ..
                    },
                    1
                )
            ),
            "{b:?}"
        );
        let [a, b] = look(&["sda1-8", "sdb1"]);
        assert!(
            matches!(
                a,
                (
                    Reading::Unknown {
                        why: UnknownReason::Absent,
                        ..
                    },
                    1
                )
            ),
            "{a:?}"
        );
        assert!(
            matches!(&b, (Reading::Known { value, .. }, 2) if value == "sdb1"),
            "{b:?}"
        );
        for (reading, below) in look(&["sdb1"]) {
            assert!(
                matches!(
                    reading,
                    Reading::Unknown {
                        why: UnknownReason::Ambiguous,
                        ..
                    }
                ),
                "{reading:?}"
            );
            assert_eq!(below, 1);
        }
    }
}
