//! The life of an option over kernel versions: steps, each from a version on, and steps of single
//! vendors.
//!
//! This module knows versions and effects, not options. A backporting vendor's kernel below a later
//! step that changes the option is unknown, because its number does not tell whether it took that
//! step. At the last step every kernel is known. A step that only release candidates have does not
//! count for any other kernel.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::builder::family;
use super::{Effect, Ruling};
use crate::version::Version;

/// An effect, from a kernel on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectChange {
    /// The first kernel: its version, and its vendor's release as in `3.10.0-1127`.
    pub from: Version,
    /// The effect on the option.
    pub is: Effect,
    #[serde(default)]
    pub because: String,
    #[serde(default)]
    pub source: String,
}

/// All steps of an option, each list in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Steps of the mainline kernel.
    pub steps: Vec<EffectChange>,
    /// Steps of vendors that deviate.
    pub vendors: BTreeMap<String, Vec<EffectChange>>,
}

/// The first kernel that the table was not written for.
const NOT_YET: u64 = 8;

impl Life {
    /// Steps without a reason or source of their own have these.
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

    /// The ruling of a kernel on the option.
    pub fn at(&self, kernel: &Version, vendor: &str) -> Ruling {
        let possible = self.possible(kernel, vendor);
        let Some((step, later)) = possible.split_first() else {
            return Ruling::unknown(format!("The table does not reach back to kernel {kernel}."));
        };
        if kernel.number(0) >= NOT_YET && !step.is.is_refused() {
            return Ruling::unknown(format!("Kernel {kernel} is newer than the table."));
        }
        agreed(&possible).unwrap_or_else(|| {
            let other = later.iter().find(|other| other.is != step.is);
            Ruling::unknown(other.map_or_else(String::new, |later| {
                format!(
                    "Since Linux {} it is {}; it is unknown whether the vendor carried that into {kernel}.",
                    later.from,
                    later.is.word()
                )
            }))
        })
    }

    /// The same for a kernel that provably accepts the option, because it has it mounted: refusal
    /// and absence are ruled out. A statement about the vendor's own kernels stands, because it is
    /// about the effect.
    pub fn where_taken(&self, kernel: &Version, vendor: &str) -> Option<Ruling> {
        if self.of_vendor(kernel, vendor).is_some() {
            return None;
        }
        let taken: Vec<&EffectChange> = self
            .possible(kernel, vendor)
            .into_iter()
            .filter(|step| !step.is.is_refused() && !step.is.is_unknown())
            .collect();
        let here = || Ruling {
            effect: Effect::Ok,
            because: String::new(),
            source: String::new(),
        };
        if taken.is_empty() {
            Some(here())
        } else {
            agreed(&taken)
        }
    }

    /// The same for a kernel that has the feature because its predecessor had it and one person
    /// built both: only the removal from the kernel counts.
    pub fn again(&self, kernel: &Version, vendor: &str) -> Ruling {
        let ruling = self.at(kernel, vendor);
        if ruling.effect.is_refused() || kernel.number(0) >= NOT_YET {
            return ruling;
        }
        self.where_taken(kernel, vendor).unwrap_or(ruling)
    }

    /// The steps that may hold for a kernel: the one for its number and, where its vendor backports
    /// code, every later one.
    fn possible(&self, kernel: &Version, vendor: &str) -> Vec<&EffectChange> {
        if let Some(step) = self.of_vendor(kernel, vendor) {
            return vec![step];
        }
        let steps = self.steps_for(kernel);
        let Some(now) = steps.iter().rposition(|step| step.reached(kernel)) else {
            return Vec::new();
        };
        let last = if backports(kernel, vendor) {
            steps.len()
        } else {
            now + 1
        };
        steps.get(now..last).unwrap_or_default().to_vec()
    }

    fn of_vendor(&self, kernel: &Version, vendor: &str) -> Option<&EffectChange> {
        self.vendors
            .get(family(vendor))
            .and_then(|steps| steps.iter().rev().find(|step| step.reached(kernel)))
    }

    /// The steps that a kernel can have taken. A step that came and went between two candidates of
    /// a release is in these candidates only, which nobody ships or backports.
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

/// The common ruling of these steps. Whether a kernel warns about an option it heeds, or has it by
/// default, makes no difference.
fn agreed(steps: &[&EffectChange]) -> Option<Ruling> {
    let (first, others) = steps.split_first()?;
    if others.iter().all(|step| step.is == first.is) {
        return Some(first.ruling());
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
    // The weakest ruling, which is true of all.
    Some(
        steps
            .iter()
            .find(|step| step.is.is_ok())
            .unwrap_or(first)
            .ruling(),
    )
}

impl EffectChange {
    fn ruling(&self) -> Ruling {
        Ruling {
            effect: self.is,
            because: self.because.clone(),
            source: self.source.clone(),
        }
    }

    fn reached(&self, kernel: &Version) -> bool {
        reached(&self.from, kernel)
    }
}

/// Whether a kernel is at or above another, including the vendor's release.
pub fn reached(from: &Version, kernel: &Version) -> bool {
    kernel > from || (kernel == from && release(kernel) >= release(from))
}

/// Whether a kernel may contain more than its number says.
pub fn backports(kernel: &Version, vendor: &str) -> bool {
    kernel.backports() || vendor.starts_with("el") || vendor == "sles"
}

/// The vendor's release after the version: 1127 in `3.10.0-1127.19.1.el7.x86_64`; 0 without one.
pub fn release(version: &Version) -> u64 {
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

    fn life(steps: &[(&str, Effect)]) -> Life {
        let step = |(from, is): &(&str, Effect)| EffectChange {
            from: v(from),
            is: *is,
            because: String::new(),
            source: String::new(),
        };
        Life {
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
        let at = |kernel: &str, vendor: &str| changing.at(&v(kernel), vendor).effect;
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
                .at(&v("8.1"), "mainline")
                .effect,
            Effect::Unknown
        );
    }

    /// Candidates of a release are kernels, too; no other kernel has what came and went between
    /// them.
    #[test]
    fn what_came_and_went_between_candidates_is_in_them_only() {
        let steps = [
            ("3.10", Effect::DefaultAnyway),
            ("5.10", Effect::Deprecated),
            ("6.18-rc1", Effect::Refused),
            ("6.18-rc3", Effect::Deprecated),
        ];
        let passing = life(&steps);
        let at = |kernel: &str, vendor: &str| passing.at(&v(kernel), vendor).effect;
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
        assert_eq!(staying.at(&v("6.18"), "mainline").effect, Effect::Refused);
        assert_eq!(
            staying.at(&v("5.14.0-503.el9"), "el9").effect,
            Effect::Unknown
        );
    }

    #[test]
    fn what_is_taken_is_known_where_that_says_what_it_does() {
        let taken = |steps: &[(&str, Effect)], kernel: &str, vendor: &str| {
            life(steps)
                .where_taken(&v(kernel), vendor)
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
        let at = |kernel: &str| with_vendor.at(&v(kernel), "el7").effect;
        assert_eq!(at("3.10.0-957.el7.x86_64"), Effect::Ok);
        assert_eq!(at("3.10.0-1127.19.1.el7.x86_64"), Effect::NoEffect);
        assert_eq!(at("3.10.0-1160.el7.x86_64"), Effect::NoEffect);
    }
}
