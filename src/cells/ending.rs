//! How the inside of a trial ends when nobody listens any more or its time is over: at once, or after it has cleared what it
//! wrote to a disk, within bounds.

use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long what is being done may take to end: a program that makes a file system, an unmount.
const LONGEST_STEP: Duration = Duration::from_secs(90);

/// Bytes per second below which clearing is given up, as on a disk that fails.
const SLOWEST: u64 = 16 << 20;

/// What there is to do at the end.
#[derive(Clone, Copy, Debug, Default)]
struct Duties {
    is_over: bool,
    /// The longest time that the end may take; `None` where nothing has to be done.
    clearing: Option<Duration>,
}

/// The end of a trial, shared by the threads that may call it.
#[derive(Clone, Default)]
pub struct TrialEnd(Arc<Mutex<Duties>>);

impl TrialEnd {
    /// From now on so many bytes of a disk are to be cleared at the end, during loads of so many seconds in all; false where
    /// it is over already, and nothing may be written.
    pub fn has_to_clear(&self, bytes: u64, load_seconds: f64) -> bool {
        let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loads = Duration::from_secs_f64(load_seconds.clamp(0.0, 86_400.0));
        // Written and read back.
        duties.clearing = Some(LONGEST_STEP + loads + Duration::from_secs(2 * bytes / SLOWEST));
        !duties.is_over
    }

    /// Whether it is over.
    pub fn has_come(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Ends this process: at once, or when there was time to clear a disk.
    pub fn come(&self) {
        let longest = {
            let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            duties.is_over = true;
            match duties.clearing {
                // Nothing can be written any more, as that is begun under the same lock.
                None => exit(0),
                Some(longest) => longest,
            }
        };
        std::thread::sleep(longest);
        exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_begins_nothing_and_what_must_clear_has_time_for_it() {
        let end = TrialEnd::default();
        assert!(!end.has_come() && end.has_to_clear(2 << 30, 1.0));
        let longest = end.0.lock().unwrap().clearing.unwrap();
        assert!(longest > Duration::from_secs(2 * 128) && longest < Duration::from_secs(600), "{longest:?}");
        end.0.lock().unwrap().is_over = true;
        assert!(end.has_come() && !end.has_to_clear(1, 1.0));
    }
}
