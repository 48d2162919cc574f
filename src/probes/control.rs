//! What ends a probe: others through [`Control`], or the probe itself for one of three reasons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::ProbeError;

/// How others end a probe. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Control {
    cancel: Arc<AtomicBool>,
}

impl Control {
    /// Ends the probe soon; what was measured is kept.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Control {
    /// A control over a flag that somebody else raises, such as a signal handler.
    fn from(cancel: Arc<AtomicBool>) -> Self {
        Self { cancel }
    }
}

/// Why it goes no further.
pub(super) enum Stop {
    /// Somebody wanted it.
    Cancelled,
    /// Time or bytes are used up.
    Over,
    /// Something went wrong.
    Failed(ProbeError),
}

impl From<ProbeError> for Stop {
    fn from(error: ProbeError) -> Self {
        Self::Failed(error)
    }
}
