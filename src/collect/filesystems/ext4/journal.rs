//! The owner of a journal device, by the name of the journal's thread, where the list of journals leaves it open.
//!
//! The kernel names the journal's thread after it (fs/jbd2/journal.c): `jbd2/sdb1-8` for inode 8 of the file system
//! itself, `jbd2/sdc1` for another device. Kernels before 5.17 cut the name to 15 bytes. A name that may have been cut
//! proves nothing unless it can only be the file system's own.

use std::path::Path;

use crate::collect::attribute;
use crate::facts::{FactSet, Reading, Subject, Why};
use crate::host::Host;

/// The longest name in comm(5) of proc in older kernels, in bytes.
const LONGEST: usize = 15;

/// The device that holds the journal; absent where it lies inside. `task` is what
/// `journal_task` of the file system says.
pub fn device(host: &dyn Host, own: &Subject, task: Reading<String>, facts: &FactSet) -> Reading<String> {
    let thread = task.and_then(|text| match text.parse::<u32>() {
        Ok(0) => Err("its thread is out of sight".to_owned()),
        Ok(pid) => Ok(pid),
        Err(_) => Err(format!("`{text}` is no thread")),
    });
    let pid = match thread {
        Reading::Known { value, .. } => value,
        Reading::Unknown { why, detail, remedy } => return Reading::Unknown { why, detail, remedy },
    };
    let name = attribute::text(host, &Path::new("/proc").join(pid.to_string()).join("comm"));
    let inside =
        name.value().and_then(|name| name.strip_prefix("jbd2/")).map(|name| is_inside(name, own.name()));
    match inside {
        Some(Some(true)) => Reading::unknown(Why::Absent, "the journal is on the device itself"),
        Some(Some(false)) => name.and_then(|name| {
            let device = name.strip_prefix("jbd2/").unwrap_or_default().to_owned();
            if facts.contains(&Subject::device(device.clone())) {
                Ok(device)
            } else {
                Err(format!("{device} is not among the devices found"))
            }
        }),
        Some(None) => Reading::unknown(Why::Ambiguous, "the name of the journal's thread was cut"),
        None => name.and_then(|name| Err(format!("`{name}` is not a journal thread"))),
    }
}

/// Whether a thread's name is that of a journal inside this device; `None` where it was cut too early to tell.
fn is_inside(name: &str, own: &str) -> Option<bool> {
    if let Some(inode) = name.strip_prefix(own).and_then(|rest| rest.strip_prefix('-')) {
        return inode.bytes().all(|b| b.is_ascii_digit()).then_some(true);
    }
    (name.len() + "jbd2/".len() != LONGEST).then_some(false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Source;

    fn found(own: &str, task: &str, comm: &str) -> (Option<String>, Option<Why>) {
        let host = Fake::default().file("/proc/71/comm", comm);
        let task = Reading::known(task.to_owned(), Source::file("/sys/fs/ext4/x/journal_task"));
        let mut facts = FactSet::default();
        facts.mention(&Subject::device("sdc1"));
        let reading = device(&host, &Subject::device(own), task, &facts);
        let why = match &reading {
            Reading::Unknown { why, .. } => Some(*why),
            Reading::Known { .. } => None,
        };
        (reading.value().cloned(), why)
    }

    #[test]
    fn the_threads_name_tells_where_the_journal_is() {
        for (own, task, comm, expect) in [
            ("sdb1", "71", "jbd2/sdb1-8\n", (None, Some(Why::Absent))),
            ("sdb1", "71", "jbd2/sdc1\n", (Some("sdc1".to_owned()), None)),
            ("nvme0n1p1", "71", "jbd2/nvme0n1p1-\n", (None, Some(Why::Absent))),
            ("nvme10n11p1", "71", "jbd2/nvme10n11p\n", (None, Some(Why::Ambiguous))),
            ("nvme10n11p1", "71", "jbd2/nvme10n11p1-8\n", (None, Some(Why::Absent))),
            ("sdb1", "71", "jbd2/nvme10n1p1\n", (None, Some(Why::Ambiguous))),
            ("sdb1", "71", "jbd2/sdz9\n", (None, Some(Why::Malformed))),
            ("sdb1", "71", "kworker\n", (None, Some(Why::Malformed))),
            ("sdb1", "0", "jbd2/sdc1\n", (None, Some(Why::Malformed))),
            ("sdb1", "<none>", "jbd2/sdc1\n", (None, Some(Why::Malformed))),
        ] {
            assert_eq!(found(own, task, comm), expect, "{own} {task} {comm}");
        }
    }

    proptest! {
        /// No name of a thread makes a device the journal's that is not there.
        #[test]
        fn any_thread_is_a_journals_or_tells_nothing(own in "[a-z0-9]{1,12}", task in "[0-9a-z<>]{0,4}", comm in "(jbd2/)?[ -~]{0,12}") {
            let (device, _) = found(&own, &task, &comm);
            prop_assert!(device.is_none_or(|device| device == "sdc1"));
        }

        #[test]
        fn a_journal_inside_is_known_however_its_thread_was_cut(own in "[a-z0-9]{1,12}") {
            let whole = format!("jbd2/{own}-8");
            let cut: String = whole.chars().take(LONGEST).collect();
            prop_assert_eq!(found(&own, "71", &whole), (None, Some(Why::Absent)));
            prop_assert!(matches!(found(&own, "71", &cut), (None, Some(Why::Absent | Why::Ambiguous))));
        }
    }
}
