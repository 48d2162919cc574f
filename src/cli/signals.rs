//! Signals during a write: they end the probe, whose scratch files are removed, and then the
//! program.
//!
//! At other times they have their default effect, and a signal that our parent ignored for us, as
//! nohup(1) does, stays ignored. The handlers stay for the life of the process, since they cannot
//! be removed; a switch restores the default effect instead.

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

/// Handles signals until it is dropped.
pub(super) struct Listener {
    cancel: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
    usual: Arc<AtomicBool>,
}

impl Listener {
    /// From now on signals raise the cancel flag instead of ending the program.
    pub(super) fn start() -> Result<Self, CliError> {
        // A signal that arrives with the handlers half installed ends the program as usual.
        let usual = Arc::new(AtomicBool::new(true));
        let listener = Self {
            cancel: Arc::default(),
            caught: Arc::default(),
            usual,
        };
        let ignored = ignored();
        // A signal between the kernel's handler and its callback would be lost, so they wait.
        let ending = ENDING
            .into_iter()
            .filter_map(|number| Signal::try_from(number).ok())
            .collect::<SigSet>();
        let before = ending
            .thread_swap_mask(SigmaskHow::SIG_BLOCK)
            .context(CANNOT)?;
        for signal in ENDING
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
        {
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

    /// Stops handling signals. Returns the signal that arrived, if any.
    pub(super) fn ended(self) -> Option<i32> {
        // First of all, so that a signal that arrives right now is not swallowed.
        self.usual.store(true, Ordering::Relaxed);
        let number = i32::try_from(self.caught.load(Ordering::Relaxed)).unwrap_or_default();
        (number != 0).then_some(number)
    }
}

/// The signals that are ignored: bit n - 1 for signal n, from `SigIgn` of proc_pid_status(5).
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.usual.store(true, Ordering::Relaxed);
    }
}
