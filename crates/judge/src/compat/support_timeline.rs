//! Support for an option over kernel versions: each step gives the effect from one version on.
//! Vendors may have steps of their own.
//!
//! A kernel of a backporting vendor may also have the effect of a later step. A step that exists
//! only in release candidates counts only for those candidates.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::kernel_build_kind::vendor_without_cloud_suffix;
use super::{Effect, Support};
use crate::version::Version;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectFromKernel {
    /// First kernel with the effect; may include the release number of a vendor, as in
    /// `3.10.0-1127`.
    pub from: Version,
    pub is: Effect,
    #[serde(default)]
    pub because: String,
    #[serde(default)]
    pub source: String,
}

#[derive(Clone, Debug, Default)]
pub struct SupportTimeline {
    pub steps: Vec<EffectFromKernel>,
    /// Steps of vendors whose kernels differ from mainline.
    pub vendors: BTreeMap<String, Vec<EffectFromKernel>>,
}

/// First major version of Linux that no row of `rules/tables` covers.
const FIRST_UNKNOWN_MAJOR: u64 = 8;

impl SupportTimeline {
    /// Creates the range; `because` and `source` apply to every step that does not give its own.
    pub fn new(
        mut steps: Vec<EffectFromKernel>,
        mut vendors: BTreeMap<String, Vec<EffectFromKernel>>,
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

    pub fn support_for_kernel(&self, kernel: &Version, vendor: &str) -> Support {
        let possible = self.possible_steps(kernel, vendor);
        let Some((step, later)) = possible.split_first() else {
            return Support::unknown(format!("Kernel {kernel} predates walwise's tables."));
        };
        if kernel.number(0) >= FIRST_UNKNOWN_MAJOR && !step.is.is_refused() {
            return Support::unknown(format!("Kernel {kernel} is newer than walwise's tables."));
        }
        support_common_to_steps(&possible).unwrap_or_else(|| {
            let other = later.iter().find(|other| other.is != step.is);
            Support::unknown(other.map_or_else(String::new, |later| {
                format!(
                    "Linux {} changes this to “{}”; it is unknown whether the vendor backported the change to {kernel}.",
                    later.from,
                    later.is.as_str()
                )
            }))
        })
    }

    /// Support by a kernel that has the option in force and therefore does not refuse the option.
    /// `None` if the possible effects disagree, or if the vendor has a step of its own.
    pub fn support_if_option_in_force(&self, kernel: &Version, vendor: &str) -> Option<Support> {
        if self.vendor_step(kernel, vendor).is_some() {
            return None;
        }
        let taken: Vec<&EffectFromKernel> = self
            .possible_steps(kernel, vendor)
            .into_iter()
            .filter(|step| !step.is.is_refused() && !step.is.is_unknown())
            .collect();
        if taken.is_empty() {
            return Some(Support::accepted_and_honoured(""));
        }
        support_common_to_steps(&taken)
    }

    /// Support by a kernel whose builder also built a kernel with the feature. Only a removal from
    /// Linux or an unlisted major version counts against the feature.
    pub fn support_same_builder(&self, kernel: &Version, vendor: &str) -> Support {
        let ruling = self.support_for_kernel(kernel, vendor);
        if ruling.effect.is_refused() || kernel.number(0) >= FIRST_UNKNOWN_MAJOR {
            return ruling;
        }
        self.support_if_option_in_force(kernel, vendor)
            .unwrap_or(ruling)
    }

    fn possible_steps(&self, kernel: &Version, vendor: &str) -> Vec<&EffectFromKernel> {
        if let Some(step) = self.vendor_step(kernel, vendor) {
            return vec![step];
        }
        let steps = self.mainline_steps(kernel);
        let Some(now) = steps
            .iter()
            .rposition(|step| has_reached_release(&step.from, kernel))
        else {
            return Vec::new();
        };
        let last = if may_contain_backports(kernel, vendor) {
            steps.len()
        } else {
            now + 1
        };
        steps.get(now..last).unwrap_or_default().to_vec()
    }

    fn vendor_step(&self, kernel: &Version, vendor: &str) -> Option<&EffectFromKernel> {
        self.vendors
            .get(vendor_without_cloud_suffix(vendor))
            .and_then(|steps| {
                let mut steps = steps.iter();
                steps.rfind(|step| has_reached_release(&step.from, kernel))
            })
    }

    /// Steps that one release candidate introduced and a later one withdrew count only for a
    /// candidate.
    fn mainline_steps(&self, kernel: &Version) -> Vec<&EffectFromKernel> {
        let release = |version: &Version| {
            Version::parse(&version.numeric_part()).filter(|release| version < release)
        };
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

/// The effect that holds whichever of the steps applies. `None` if the steps' effects differ and
/// one is *refused*, *no effect* or *unknown*.
fn support_common_to_steps(steps: &[&EffectFromKernel]) -> Option<Support> {
    let (first, others) = steps.split_first()?;
    if others.iter().all(|step| step.is == first.is) {
        return Some(first.to_support());
    }
    let heeded = |step: &&&EffectFromKernel| {
        matches!(
            step.is,
            Effect::Ok | Effect::DefaultAnyway | Effect::Deprecated
        )
    };
    if !steps.iter().all(|step| heeded(&step)) {
        return None;
    }
    // If all effects accept the option but differ, *ok* is reported, because it is the least
    // specific.
    Some(
        steps
            .iter()
            .find(|step| step.is.is_ok())
            .unwrap_or(first)
            .to_support(),
    )
}

impl EffectFromKernel {
    fn to_support(&self) -> Support {
        Support::new(self.is, self.because.clone(), &self.source)
    }
}

/// Vendors' release numbers count, too: `3.10.0-1160` has reached `3.10.0-1127`.
pub fn has_reached_release(from: &Version, kernel: &Version) -> bool {
    kernel > from
        || (kernel == from && vendor_release_number(kernel) >= vendor_release_number(from))
}

pub fn may_contain_backports(kernel: &Version, vendor: &str) -> bool {
    kernel.has_backports() || vendor.starts_with("el") || vendor == "sles"
}

/// 1127 for `3.10.0-1127.19.1.el7.x86_64`, and 0 if there is none.
pub fn vendor_release_number(version: &Version) -> u64 {
    let tail = version.vendor_tail().trim_start_matches('-');
    let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn timeline_of_steps(steps: &[(&str, Effect)]) -> SupportTimeline {
        let step = |(from, is): &(&str, Effect)| EffectFromKernel {
            from: test_version(from),
            is: *is,
            because: String::new(),
            source: String::new(),
        };
        SupportTimeline {
            steps: steps.iter().map(step).collect(),
            vendors: BTreeMap::new(),
        }
    }

    #[test]
    fn later_steps_make_backporting_kernels_unknown() {
        let changing = timeline_of_steps(&[
            ("3.10", Effect::Ok),
            ("4.10", Effect::NoEffect),
            ("4.19", Effect::Refused),
        ]);
        let at = |kernel: &str, vendor: &str| {
            changing
                .support_for_kernel(&test_version(kernel), vendor)
                .effect
        };
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
            timeline_of_steps(&[("3.10", Effect::Ok)])
                .support_for_kernel(&test_version("8.1"), "mainline")
                .effect,
            Effect::Unknown
        );
    }

    #[test]
    fn steps_between_release_candidates_apply_to_candidates_only() {
        let steps = [
            ("3.10", Effect::DefaultAnyway),
            ("5.10", Effect::Deprecated),
            ("6.18-rc1", Effect::Refused),
            ("6.18-rc3", Effect::Deprecated),
        ];
        let passing = timeline_of_steps(&steps);
        let at = |kernel: &str, vendor: &str| {
            passing
                .support_for_kernel(&test_version(kernel), vendor)
                .effect
        };
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
        // A step that starts in a release candidate and is not withdrawn is in the release too, and
        // vendors may backport it.
        let staying = timeline_of_steps(&[("3.10", Effect::Ok), ("6.18-rc1", Effect::Refused)]);
        assert_eq!(
            staying
                .support_for_kernel(&test_version("6.18"), "mainline")
                .effect,
            Effect::Refused
        );
        assert_eq!(
            staying
                .support_for_kernel(&test_version("5.14.0-503.el9"), "el9")
                .effect,
            Effect::Unknown
        );
    }

    #[test]
    fn option_in_force_decides_if_steps_agree() {
        let taken = |steps: &[(&str, Effect)], kernel: &str, vendor: &str| {
            timeline_of_steps(steps)
                .support_if_option_in_force(&test_version(kernel), vendor)
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
    fn vendor_release_numbers_order_kernels() {
        let mut with_vendor = timeline_of_steps(&[("3.10", Effect::Ok)]);
        with_vendor.vendors.insert(
            "el7".to_owned(),
            timeline_of_steps(&[("3.10.0", Effect::Ok), ("3.10.0-1127", Effect::NoEffect)]).steps,
        );
        let at = |kernel: &str| {
            with_vendor
                .support_for_kernel(&test_version(kernel), "el7")
                .effect
        };
        assert_eq!(at("3.10.0-957.el7.x86_64"), Effect::Ok);
        assert_eq!(at("3.10.0-1127.19.1.el7.x86_64"), Effect::NoEffect);
        assert_eq!(at("3.10.0-1160.el7.x86_64"), Effect::NoEffect);
    }
}
