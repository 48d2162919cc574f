//! Signals while something is being written: they end the probe, whose scratch files are removed, and then the program.
//!
//! Outside of that time they do what they always do, and one that our parent had us ignore, as nohup(1) does, stays
//! ignored. The surprise: the handlers stay for the life of the process, since they cannot be taken back; a switch
//! returns the usual behaviour instead.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::CliError;
use crate::probes::Control;

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

const CANNOT: &str = "cannot listen for signals, so nothing is written";

/// Listens for signals until it is dropped.
pub(super) struct Listener {
    cancel: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
    usual: Arc<AtomicBool>,
}

impl Listener {
    /// From now on signals raise the cancel flag instead of ending the program.
    pub(super) fn start() -> Result<Self, CliError> {
        // One that comes while there is but half a handler ends the program as it always does.
        let usual = Arc::new(AtomicBool::new(true));
        let listener = Self { cancel: Arc::default(), caught: Arc::default(), usual };
        let ignored = ignored();
        // One that came between the kernel's handler and what it calls would be lost, so they wait.
        let ending =
            ENDING.into_iter().filter_map(|number| Signal::try_from(number).ok()).collect::<SigSet>();
        let before = ending.thread_swap_mask(SigmaskHow::SIG_BLOCK).context(CANNOT)?;
        for signal in ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_conditional_default(signal, Arc::clone(&listener.usual))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&listener.caught), number))
                .and_then(|_| flag::register(signal, Arc::clone(&listener.cancel)))
                .context(CANNOT)?;
        }
        listener.usual.store(false, Ordering::Relaxed);
        before.thread_set_mask().context(CANNOT)?;
        Ok(listener)
    }

    /// The control that signals cancel.
    pub(super) fn control(&self) -> Control {
        Control::from(Arc::clone(&self.cancel))
    }

    /// Listens no more. The signal that came, if one did.
    pub(super) fn ended(self) -> Option<i32> {
        // First, so that none is swallowed that comes just now.
        self.usual.store(true, Ordering::Relaxed);
        let number = i32::try_from(self.caught.load(Ordering::Relaxed)).unwrap_or_default();
        (number != 0).then_some(number)
    }
}

/// The signals that are ignored: bit n - 1 for signal n, from `SigIgn` of proc_pid_status(5).
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.usual.store(true, Ordering::Relaxed);
    }
}
