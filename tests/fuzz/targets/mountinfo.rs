//! Fuzzes mount tables: a bad line must not affect other lines, and the facts must be display-safe.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use walwise_collect::{self as collect, Request, mountinfo};
use walwise_sys::host::{Host, HostError, HostErrorKind, Question};

#[path = "../shown.rs"]
mod shown;

/// A host whose mount table is the fuzzer's input; every other answer is *absent*.
struct MountTableHost<'a>(&'a [u8]);

impl Host for MountTableHost<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        match question {
            Question::Read(path) if path == Path::new("/proc/self/mountinfo") => {
                Ok(self.0.to_vec())
            }
            _ => Err(HostError::new(HostErrorKind::Absent, "no such file")),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let table = mountinfo::parse_mountinfo(bytes, usize::MAX);
    let lines = bytes
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .count();
    assert_eq!(table.entries.len() + table.malformed.len(), lines);
    let good = b"\n27 1 254:0 / /x rw - ext4 /dev/vda rw\n";
    let more = mountinfo::parse_mountinfo(&[bytes, good].concat(), usize::MAX);
    assert_eq!(
        more.entries.last().map(|entry| entry.point.as_slice()),
        Some(b"/x".as_slice())
    );
    assert_eq!(
        more.entries.get(..table.entries.len()),
        Some(table.entries.as_slice())
    );
    shown::assert_facts_display_safe(&collect::run_all_collectors(
        &MountTableHost(bytes),
        &Request::default(),
        &mut |_, _| {},
    ));
});
