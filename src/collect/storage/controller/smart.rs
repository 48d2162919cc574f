//! The cache of a volume and its battery packs as the firmware of Smart Array and SmartRAID controllers reports them;
//! ssacli and arcconf print it in the same words.
//!
//! Reading lines, and telling the volume's fields from the controller's, is left to the parsers. A volume that is set
//! to cache may be accelerated by something other than the controller's cache, so only acceleration methods known to
//! use that cache count.

use super::fields::{Fields, plain};
use super::said::{FieldReading, Volume, in_force, write_back};
use crate::facts::catalog::controller::{Battery, OnFailure, Policy, WriteMode};

/// How a volume's cache writes: as configured, now, and without battery.
pub struct Modes {
    pub policy: FieldReading<Policy>,
    pub in_force: FieldReading<WriteMode>,
    pub on_failure: FieldReading<OnFailure>,
}

impl Modes {
    /// Puts them into a volume.
    pub fn into(self, volume: Volume) -> Volume {
        Volume { policy: self.policy, in_force: self.in_force, on_failure: self.on_failure, ..volume }
    }
}

/// Derives the modes from the fields of the volume and of the controller's cache. `keeps_no_writes` is whether the
/// cache has no room for writes.
pub fn modes(own: &Fields, cache: &Fields, keeps_no_writes: bool) -> Modes {
    let caching = own.said("caching", |word| match word {
        "enabled" => Some(Policy::WriteBack),
        "disabled" => Some(Policy::WriteThrough),
        _ => None,
    });
    // A cache that keeps no room for writes holds none back, whatever the volume is set to.
    let caching = if keeps_no_writes { caching.map(|_| Policy::WriteThrough) } else { caching };
    let caching = match caching {
        FieldReading::Is(Policy::WriteBack | Policy::AlwaysWriteBack) if is_accelerated_otherwise(own) => {
            FieldReading::disputed(
                "`Caching` is Enabled although `LD Acceleration Method` is not the controller's cache",
            )
        }
        FieldReading::Is(Policy::WriteBack | Policy::AlwaysWriteBack | Policy::WriteThrough)
        | FieldReading::Gap(..) => caching,
    };
    let on_failure = cache.said("no-battery write cache", |word| match word {
        "disabled" => Some(OnFailure::WriteThrough),
        "enabled" => Some(OnFailure::Stays),
        _ => None,
    });
    let now = cache.said("cache status", |word| match word {
        "ok" => Some(WriteMode::WriteBack),
        word if word.starts_with("temporarily disabled") || word.starts_with("permanently disabled") => {
            Some(WriteMode::WriteThrough)
        }
        _ => None,
    });
    let (policy, in_force) = match caching.is() {
        // The controller may hold caching back although the volume is set to cache.
        Some(Policy::WriteBack | Policy::AlwaysWriteBack) => (on_failure.clone().map(write_back), now),
        Some(Policy::WriteThrough) | None => (caching.clone().only_if(&on_failure), caching.map(in_force)),
    };
    Modes { policy, in_force, on_failure }
}

/// Why the cache does not work as it is set to, in the firmware's words.
pub fn detail(fields: &Fields) -> Option<String> {
    fields.get("cache status details").filter(|detail| !detail.is_empty()).map(str::to_owned)
}

/// Whether there are packs of batteries or capacitors, from their count.
pub fn packs(fields: &Fields, key: &str) -> FieldReading<Battery> {
    fields.said(key, |count| match count.parse() {
        Ok(0) => Some(Battery::Absent),
        Ok(1..=u32::MAX) => Some(Battery::Healthy),
        Err(_) => None,
    })
}

/// Whether the volume is accelerated by something other than the controller's cache. Old firmware prints nothing of it.
fn is_accelerated_otherwise(own: &Fields) -> bool {
    const METHOD: &str = "ld acceleration method";
    own.has(METHOD) && own.get(METHOD).is_none_or(|method| plain(method) != "controller cache")
}
