//! Waiting until a new file system is quiet: what it writes by itself after mkfs and mount is not the load's.

use std::time::{Duration, Instant};

use crate::probes::Disks;

/// For how long nothing may be written.
const QUIET: Duration = Duration::from_millis(150);

const LONGEST: Duration = Duration::from_secs(3);

/// Waits until nothing is written to our device any more, within bounds.
pub fn settle(device: &Disks) {
    let begun = Instant::now();
    let (mut since, mut before) = (begun, device.read());
    while since.elapsed() < QUIET && begun.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(25));
        let now = device.read();
        if now != before {
            (since, before) = (Instant::now(), now);
        }
    }
}
