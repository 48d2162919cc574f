//! What an NVMe drive says of the capacitor behind its memory. It is one more statement of the drive, beside its
//! volatile cache and its warnings, and never the protection that a controller's battery is: nothing observed here says
//! what the drive does once its capacitor fails.
//!
//! Like its warnings it can only lower a verdict: a healthy capacitor makes no volatile cache a protected one.

use super::statement::claim;
use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence, Mend};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, Capacitor};

/// The evidence, and whether the drive forgets although it may claim otherwise; `None` where it says nothing.
pub fn find(ask: &mut Ask, disk: &Subject) -> Option<(Evidence, bool)> {
    let name = disk.name();
    let left = |ask: &mut Ask| {
        let percent = ask.value(disk, &device::NVME_CAPACITOR_PERCENT);
        percent.map_or_else(String::new, |percent| format!(" ({percent:.0} %)"))
    };
    let (bears, says, forgets) = match ask.value(disk, &device::NVME_CAPACITOR)? {
        Capacitor::Healthy => {
            (Bears::Durable, format!("{name} calls its capacitor healthy{}", left(ask)), false)
        }
        Capacitor::Degraded => (
            Bears::Durable,
            format!(
                "{name} says that its capacitor holds less than when it was made, and enough{}",
                left(ask)
            ),
            false,
        ),
        Capacitor::Failed => (
            Bears::AtRisk(Mend::Replace(disk.clone())),
            format!("{name} says that its capacitor may not carry it through a power failure{}", left(ask)),
            true,
        ),
        Capacitor::Absent => (Bears::Durable, format!("{name} says that it has no capacitor"), false),
        // Nothing was said.
        Capacitor::Unreadable => return None,
    };
    Some((claim(ask, disk, &device::NVME_CAPACITOR, bears, says), forgets))
}
