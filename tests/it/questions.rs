//! The number of questions to the host is constant for each device and mount, however many there
//! are.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use walwise_collect::{self as collect, Request};
use walwise_sys::host::{Host, HostError, HostErrorKind, Question};

struct CountingHost {
    disks: usize,
    asked: Mutex<BTreeMap<Question, usize>>,
}

impl CountingHost {
    fn synthetic_answer(&self, question: &Question) -> Option<String> {
        let all = || 0..self.disks;
        let path = question.path()?.to_str()?;
        match question {
            Question::List(_) if path == "/sys/class/block" => Some(
                all()
                    .map(|n| format!("vd{n}\0vd{n}p1\0"))
                    .collect::<Vec<_>>()
                    .concat(),
            ),
            Question::Read(_) if path == "/proc/self/mountinfo" => {
                let line = |n| {
                    format!(
                        "{} 1 254:{n} / /srv/{n} rw - ext4 /dev/vd{n}p1 rw\n",
                        n + 30
                    )
                };
                Some(all().map(line).collect::<Vec<_>>().concat())
            }
            Question::Link(_) => {
                let name = path.strip_prefix("/sys/class/block/")?;
                let disk = name
                    .strip_suffix("p1")
                    .map(|disk| format!("{disk}/"))
                    .unwrap_or_default();
                Some(format!(
                    "../../devices/pci0000:00/0000:00:04.0/virtio0/block/{disk}{name}"
                ))
            }
            Question::Read(_) => {
                let (name, attribute) = path.strip_prefix("/sys/class/block/")?.split_once('/')?;
                let (number, partition) = match name.strip_prefix("vd")?.split_once('p') {
                    Some((number, _)) => (number, true),
                    None => (name.strip_prefix("vd")?, false),
                };
                Some(match attribute {
                    "uevent" if partition => {
                        format!("MAJOR=254\nMINOR={number}\nDEVNAME={name}\nDEVTYPE=partition\n")
                    }
                    "uevent" => {
                        format!("MAJOR=253\nMINOR={number}\nDEVNAME={name}\nDEVTYPE=disk\n")
                    }
                    "size" => "2097152\n".to_owned(),
                    "ro" | "queue/fua" => "0\n".to_owned(),
                    "queue/write_cache" => "write back\n".to_owned(),
                    "queue/scheduler" => "[none] mq-deadline\n".to_owned(),
                    _ => return None,
                })
            }
            _ => None,
        }
    }
}

impl Host for CountingHost {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        *self
            .asked
            .lock()
            .unwrap()
            .entry(question.clone())
            .or_default() += 1;
        let answer = self
            .synthetic_answer(question)
            .ok_or_else(|| HostError::new(HostErrorKind::Absent, "not there"))?;
        Ok(answer.into_bytes())
    }
}

fn count_questions(disks: usize) -> BTreeMap<Question, usize> {
    let host = CountingHost {
        disks,
        asked: Mutex::default(),
    };
    let facts = collect::run_all_collectors(&host, &Request::default(), &mut |_, _| {});
    assert_eq!(
        facts
            .subjects_of_scope(walwise_model::facts::Scope::Device)
            .count(),
        2 * disks
    );
    assert_eq!(
        facts
            .subjects_of_scope(walwise_model::facts::Scope::Mount)
            .count(),
        disks
    );
    host.asked.into_inner().unwrap()
}

/// Limit of questions for a device, its partition and its mount together; the current number is
/// lower.
const MOST_PER_DISK: usize = 60;

#[test]
fn questions_grow_with_devices_and_mounts_and_no_faster() {
    let [once, twice, thrice] =
        [100, 200, 300].map(|disks| count_questions(disks).values().sum::<usize>());
    assert_eq!(
        thrice - twice,
        twice - once,
        "not linear: {once}, {twice}, {thrice}"
    );
    assert!(
        (twice - once).is_multiple_of(100),
        "every disk is asked the same"
    );
    assert!(
        (twice - once) / 100 <= MOST_PER_DISK,
        "{} questions for each disk",
        (twice - once) / 100
    );
}

#[test]
fn nothing_of_a_device_is_asked_twice() {
    let of_devices = |(question, times): &(Question, usize)| {
        *times > 1
            && question
                .path()
                .is_some_and(|path| path.starts_with(Path::new("/sys/class/block")))
    };
    let again: Vec<_> = count_questions(100)
        .into_iter()
        .filter(of_devices)
        .collect();
    assert!(again.is_empty(), "{again:?}");
}
