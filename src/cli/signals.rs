//! While a [`SignalListener`] exists, SIGINT, SIGTERM and SIGHUP cancel the measurement, which then
//! removes its scratch files.
//!
//! At other times these signals have their default effect. A signal that the parent process
//! ignored, as nohup(1) does, stays ignored. Handlers cannot be removed, so a flag restores the
//! default effect.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::CliError;
use crate::probes::CancelHandle;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

const CANNOT_LISTEN_ERROR: &str = "cannot install signal handlers, so nothing is written";

pub(super) struct SignalListener {
    cancel: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
    default_action: Arc<AtomicBool>,
}

impl SignalListener {
    pub(super) fn start() -> Result<Self, CliError> {
        // While only some handlers are installed, a signal still ends the program.
        let default_action = Arc::new(AtomicBool::new(true));
        let listener = Self {
            cancel: Arc::default(),
            caught: Arc::default(),
            default_action,
        };
        let ignored = read_ignored_signal_mask();
        // The signals are blocked meanwhile, because one that arrives after the handler is
        // installed but before its callback is registered would be lost.
        let ending = SIGNALS
            .into_iter()
            .filter_map(|number| Signal::try_from(number).ok())
            .collect::<SigSet>();
        let before = ending
            .thread_swap_mask(SigmaskHow::SIG_BLOCK)
            .context(CANNOT_LISTEN_ERROR)?;
        for signal in SIGNALS
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
        {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_conditional_default(signal, Arc::clone(&listener.default_action))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&listener.caught), number))
                .and_then(|_| flag::register(signal, Arc::clone(&listener.cancel)))
                .context(CANNOT_LISTEN_ERROR)?;
        }
        listener.default_action.store(false, Ordering::Relaxed);
        before.thread_set_mask().context(CANNOT_LISTEN_ERROR)?;
        Ok(listener)
    }

    pub(super) fn cancel_handle(&self) -> CancelHandle {
        CancelHandle::from(Arc::clone(&self.cancel))
    }

    pub(super) fn stop_and_take_signal(self) -> Option<i32> {
        // The default effect is restored first, so that a signal that arrives at this moment ends
        // the program.
        self.default_action.store(true, Ordering::Relaxed);
        let number = i32::try_from(self.caught.load(Ordering::Relaxed)).unwrap_or_default();
        (number != 0).then_some(number)
    }
}

/// Reads which signals are ignored: bit n - 1 for signal n, from `SigIgn` of proc_pid_status(5).
fn read_ignored_signal_mask() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        self.default_action.store(true, Ordering::Relaxed);
    }
}
