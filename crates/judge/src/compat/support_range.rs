//! Support for an option over kernel versions: steps from a version on, and steps of single
//! vendors. A backporting vendor's kernel is unknown if a later step changes the option, because
//! its number does not tell. Steps that only release candidates have count for these only.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::builder::vendor_family;
use super::{Effect, Support};
use crate::version::Version;

/// An effect from a kernel version on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectChange {
    /// The first kernel: its version, and its vendor's release as in `3.10.0-1127`.
    pub from: Version,
    /// The effect.
    pub is: Effect,
    #[serde(default)]
    pub because: String,
    #[serde(default)]
    pub source: String,
}

/// All steps of an option, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct SupportRange {
    /// Steps of the mainline kernel.
    pub steps: Vec<EffectChange>,
    /// Steps of vendors that differ.
    pub vendors: BTreeMap<String, Vec<EffectChange>>,
}

/// The first major version that the table does not cover.
const FIRST_UNKNOWN_MAJOR: u64 = 8;

impl SupportRange {
    /// `because` and `source` apply to steps without their own.
    pub fn new(
        mut steps: Vec<EffectChange>,
        mut vendors: BTreeMap<String, Vec<EffectChange>>,
        because: &str,
        source: &str,
    ) -> Self {
        for step in steps.iter_mut().chain(vendors.values_mut().flatten()) {
            for (own, common) in [(&mut step.because, because), (&mut step.source, source)] {
                if own.is_empty() {
                    common.clone_into(own);
                }
            }
        }
        Self { steps, vendors }
    }

    /// How a kernel supports the option.
    pub fn support_for_kernel(&self, kernel: &Version, vendor: &str) -> Support {
        let possible = self.possible_steps(kernel, vendor);
        let Some((step, later)) = possible.split_first() else {
            return Support::unknown(format!("Kernel {kernel} is older than the table."));
        };
        if kernel.number(0) >= FIRST_UNKNOWN_MAJOR && !step.is.is_refused() {
            return Support::unknown(format!("Kernel {kernel} is newer than the table."));
        }
        common_support(&possible).unwrap_or_else(|| {
            let other = later.iter().find(|other| other.is != step.is);
            Support::unknown(other.map_or_else(String::new, |later| {
                format!(
                    "Since Linux {} it is {}; it is unknown whether the vendor backported that to {kernel}.",
                    later.from,
                    later.is.as_str()
                )
            }))
        })
    }

    /// For a kernel that has it mounted, so that refusal and absence are ruled out. Statements
    /// about the vendor's own kernels stand, because they are about the effect.
    pub fn support_if_accepted(&self, kernel: &Version, vendor: &str) -> Option<Support> {
        if self.vendor_step(kernel, vendor).is_some() {
            return None;
        }
        let taken: Vec<&EffectChange> = self
            .possible_steps(kernel, vendor)
            .into_iter()
            .filter(|step| !step.is.is_refused() && !step.is.is_unknown())
            .collect();
        let here = || Support {
            effect: Effect::Ok,
            because: String::new(),
            source: String::new(),
        };
        if taken.is_empty() {
            Some(here())
        } else {
            common_support(&taken)
        }
    }

    /// For a kernel by the builder of one that has the feature: only removal from the kernel
    /// counts.
    pub fn support_if_rebuilt(&self, kernel: &Version, vendor: &str) -> Support {
        let ruling = self.support_for_kernel(kernel, vendor);
        if ruling.effect.is_refused() || kernel.number(0) >= FIRST_UNKNOWN_MAJOR {
            return ruling;
        }
        self.support_if_accepted(kernel, vendor).unwrap_or(ruling)
    }

    /// Steps that may hold for a kernel: the one for its number and, if its vendor backports, every
    /// later one.
    fn possible_steps(&self, kernel: &Version, vendor: &str) -> Vec<&EffectChange> {
        if let Some(step) = self.vendor_step(kernel, vendor) {
            return vec![step];
        }
        let steps = self.steps_for(kernel);
        let Some(now) = steps.iter().rposition(|step| step.is_reached_by(kernel)) else {
            return Vec::new();
        };
        let last = if backports(kernel, vendor) {
            steps.len()
        } else {
            now + 1
        };
        steps.get(now..last).unwrap_or_default().to_vec()
    }

    fn vendor_step(&self, kernel: &Version, vendor: &str) -> Option<&EffectChange> {
        self.vendors
            .get(vendor_family(vendor))
            .and_then(|steps| steps.iter().rev().find(|step| step.is_reached_by(kernel)))
    }

    /// Steps that a kernel can have taken. One that came and went between two release candidates is
    /// in these only.
    fn steps_for(&self, kernel: &Version) -> Vec<&EffectChange> {
        let release =
            |version: &Version| Version::parse(&version.base()).filter(|release| version < release);
        if release(kernel).is_some() {
            return self.steps.iter().collect();
        }
        let with_next = self
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| (step, self.steps.get(at + 1)));
        let shipped = with_next.filter(|(step, next)| match (release(&step.from), next) {
            (Some(release), Some(next)) => next.from > release,
            (None, _) | (_, None) => true,
        });
        shipped.map(|(step, _)| step).collect()
    }
}

/// The support common to these steps. Whether an honoured option is deprecated or the default makes
/// no difference.
fn common_support(steps: &[&EffectChange]) -> Option<Support> {
    let (first, others) = steps.split_first()?;
    if others.iter().all(|step| step.is == first.is) {
        return Some(first.to_support());
    }
    let heeded = |step: &&&EffectChange| {
        matches!(
            step.is,
            Effect::Ok | Effect::DefaultAnyway | Effect::Deprecated
        )
    };
    if !steps.iter().all(|step| heeded(&step)) {
        return None;
    }
    // The weakest statement, which is true of all.
    Some(
        steps
            .iter()
            .find(|step| step.is.is_ok())
            .unwrap_or(first)
            .to_support(),
    )
}

impl EffectChange {
    fn to_support(&self) -> Support {
        Support {
            effect: self.is,
            because: self.because.clone(),
            source: self.source.clone(),
        }
    }

    fn is_reached_by(&self, kernel: &Version) -> bool {
        is_reached(&self.from, kernel)
    }
}

/// Whether a kernel is at or above another, including the vendor's release.
pub fn is_reached(from: &Version, kernel: &Version) -> bool {
    kernel > from || (kernel == from && vendor_release(kernel) >= vendor_release(from))
}

/// Whether a kernel may contain more than its number says.
pub fn backports(kernel: &Version, vendor: &str) -> bool {
    kernel.backports() || vendor.starts_with("el") || vendor == "sles"
}

/// The vendor's release after the version: 1127 in `3.10.0-1127.19.1.el7.x86_64`; 0 without one.
pub fn vendor_release(version: &Version) -> u64 {
    let tail = version.tail().trim_start_matches('-');
    let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn life(steps: &[(&str, Effect)]) -> SupportRange {
        let step = |(from, is): &(&str, Effect)| EffectChange {
            from: v(from),
            is: *is,
            because: String::new(),
            source: String::new(),
        };
        SupportRange {
            steps: steps.iter().map(step).collect(),
            vendors: BTreeMap::new(),
        }
    }

    #[test]
    fn a_backporting_kernel_is_known_only_where_nothing_changes_later() {
        let changing = life(&[
            ("3.10", Effect::Ok),
            ("4.10", Effect::NoEffect),
            ("4.19", Effect::Refused),
        ]);
        let at =
            |kernel: &str, vendor: &str| changing.support_for_kernel(&v(kernel), vendor).effect;
        assert_eq!(at("4.9.1", "mainline"), Effect::Ok);
        assert_eq!(at("4.18.20", "mainline"), Effect::NoEffect);
        assert_eq!(at("4.18.0-553.el8_10", "el8"), Effect::Unknown);
        assert_eq!(at("4.19", "mainline"), Effect::Refused);
        assert_eq!(at("5.14.0-362.el9", "el9"), Effect::Refused);
        assert_eq!(at("2.6.32", "el6"), Effect::Unknown);
        assert_eq!(
            at("8.1", "mainline"),
            Effect::Refused,
            "what is gone stays gone"
        );
        assert_eq!(
            life(&[("3.10", Effect::Ok)])
                .support_for_kernel(&v("8.1"), "mainline")
                .effect,
            Effect::Unknown
        );
    }

    /// Release candidates are kernels too; what came and went between them is in no other kernel.
    #[test]
    fn what_came_and_went_between_candidates_is_in_them_only() {
        let steps = [
            ("3.10", Effect::DefaultAnyway),
            ("5.10", Effect::Deprecated),
            ("6.18-rc1", Effect::Refused),
            ("6.18-rc3", Effect::Deprecated),
        ];
        let passing = life(&steps);
        let at = |kernel: &str, vendor: &str| passing.support_for_kernel(&v(kernel), vendor).effect;
        for (kernel, vendor, expect) in [
            ("6.18-rc1", "mainline", Effect::Refused),
            ("6.18-rc2", "mainline", Effect::Refused),
            ("6.18-rc3", "mainline", Effect::Deprecated),
            ("6.18", "mainline", Effect::Deprecated),
            ("6.17.9", "mainline", Effect::Deprecated),
            ("5.14.0-503.el9", "el9", Effect::Deprecated),
            ("4.18.0-553.el8", "el8", Effect::DefaultAnyway),
            ("3.10.0-1160.el7", "el7", Effect::DefaultAnyway),
        ] {
            assert_eq!(at(kernel, vendor), expect, "{kernel} ({vendor})");
        }
        // A step that begins with a candidate and stays is in the release, and may be backported.
        let staying = life(&[("3.10", Effect::Ok), ("6.18-rc1", Effect::Refused)]);
        assert_eq!(
            staying.support_for_kernel(&v("6.18"), "mainline").effect,
            Effect::Refused
        );
        assert_eq!(
            staying
                .support_for_kernel(&v("5.14.0-503.el9"), "el9")
                .effect,
            Effect::Unknown
        );
    }

    #[test]
    fn what_is_taken_is_known_where_that_says_what_it_does() {
        let taken = |steps: &[(&str, Effect)], kernel: &str, vendor: &str| {
            life(steps)
                .support_if_accepted(&v(kernel), vendor)
                .map(|ruling| ruling.effect)
        };
        let gone = [("3.10", Effect::Deprecated), ("6.1", Effect::Refused)];
        assert_eq!(
            taken(&gone, "5.14.0-503.el9", "el9"),
            Some(Effect::Deprecated)
        );
        let by_build = [("3.10", Effect::Unknown)];
        assert_eq!(taken(&by_build, "6.1", "amazon"), Some(Effect::Ok));
        let ignored = [
            ("3.10", Effect::Ok),
            ("4.10", Effect::NoEffect),
            ("4.19", Effect::Refused),
        ];
        assert_eq!(
            taken(&ignored, "4.4.21-69-default", "sles"),
            None,
            "taken, and perhaps ignored"
        );
    }

    #[test]
    fn releases_order_within_a_version() {
        let mut with_vendor = life(&[("3.10", Effect::Ok)]);
        with_vendor.vendors.insert(
            "el7".to_owned(),
            life(&[("3.10.0", Effect::Ok), ("3.10.0-1127", Effect::NoEffect)]).steps,
        );
        let at = |kernel: &str| with_vendor.support_for_kernel(&v(kernel), "el7").effect;
        assert_eq!(at("3.10.0-957.el7.x86_64"), Effect::Ok);
        assert_eq!(at("3.10.0-1127.19.1.el7.x86_64"), Effect::NoEffect);
        assert_eq!(at("3.10.0-1160.el7.x86_64"), Effect::NoEffect);
    }
}
