//! The end of a probe: requested by others through [`Control`], or caused by the probe itself for one of three reasons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::ProbeError;

/// The handle by which others end a probe. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Control {
    cancel: Arc<AtomicBool>,
}

impl Control {
    /// Ends the probe soon; its measurements so far are kept.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Control {
    /// A control over a flag that others raise, such as a signal handler.
    fn from(cancel: Arc<AtomicBool>) -> Self {
        Self { cancel }
    }
}

pub(super) enum Stop {
    Cancelled,
    /// Time or bytes are used up.
    Over,
    Failed(ProbeError),
}

impl From<ProbeError> for Stop {
    fn from(error: ProbeError) -> Self {
        Self::Failed(error)
    }
}
