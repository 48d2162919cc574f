//! A FUSE file system that never answers: every process that uses it hangs until the guard is
//! dropped.

use crate::support::deadline::{CommandInTime as _, ThreadInTime as _};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

/// Completes the FUSE handshake and then reads every request without answering; a signal cannot
/// free a waiting process.
pub struct HungFuse {
    point: PathBuf,
    server: Option<JoinHandle<()>>,
}

impl HungFuse {
    pub fn mount(point: &Path) -> Self {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .unwrap();
        // mount(8) passes its standard input to the kernel as the FUSE device.
        let status = Command::new("mount")
            .args([
                "-i",
                "-t",
                "fuse",
                "-o",
                "fd=0,rootmode=40000,user_id=0,group_id=0,allow_other",
                "held",
            ])
            .arg(point)
            .stdin(Stdio::from(device.try_clone().unwrap()))
            .status_in_time();
        assert!(status.success(), "cannot mount FUSE at {}", point.display());
        let server = std::thread::spawn(move || answer_init_only(device));
        Self {
            point: point.to_owned(),
            server: Some(server),
        }
    }
}

impl Drop for HungFuse {
    fn drop(&mut self) {
        // A forced unmount ends the connection and frees every waiting process.
        Command::new("umount")
            .args(["-f", "-l"])
            .arg(&self.point)
            .status_in_time();
        if let Some(server) = self.server.take() {
            server.join_in_time();
        }
    }
}

/// Answers only FUSE_INIT (fuse(4), the kernel's include/uapi/linux/fuse.h), and returns when the
/// connection ends.
fn answer_init_only(mut device: File) {
    const INIT: u32 = 26;
    let mut request = vec![0; 256 << 10];
    while let Ok(length) = device.read(&mut request) {
        if length < 16 || u32::from_ne_bytes(request[4..8].try_into().unwrap()) != INIT {
            continue;
        }
        let mut answer = Vec::new();
        answer.extend(80u32.to_ne_bytes());
        answer.extend(0u32.to_ne_bytes());
        answer.extend(&request[8..16]);
        // Protocol 7.31, read-ahead, no flags.
        for word in [7u32, 31, 4096, 0] {
            answer.extend(word.to_ne_bytes());
        }
        // Maximum background requests, congestion threshold, largest write, time granularity.
        answer.extend([12u16, 10].iter().flat_map(|half| half.to_ne_bytes()));
        answer.extend(4096u32.to_ne_bytes());
        answer.extend(1u32.to_ne_bytes());
        answer.resize(80, 0);
        device.write_all(&answer).unwrap();
    }
}
