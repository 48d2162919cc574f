//! The life of an option over kernel versions: steps, each from a version on, and steps of single vendors.
//!
//! It knows versions and effects, not options. The surprise: below a later step a backporting vendor's kernel is unknown,
//! because nobody can tell from its number whether it took that step; at the last step everybody is known.

use std::collections::BTreeMap;

use super::{Effect, Ruling};
use crate::version::Version;

/// From a kernel on, an effect.
#[derive(Clone, Debug)]
pub struct Step {
    /// The first kernel: its version, and its vendor's release as in `3.10.0-1127`.
    pub from: Version,
    /// What becomes of the option.
    pub is: Effect,
    /// Why.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// All steps of an option, each list in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// Of the mainline kernel.
    pub steps: Vec<Step>,
    /// Of vendors that went their own way.
    pub vendors: BTreeMap<String, Vec<Step>>,
}

/// The first kernel that the table was not written for.
const NOT_YET: u64 = 8;

impl Life {
    /// What a kernel makes of the option.
    pub fn at(&self, kernel: &Version, vendor: &str) -> Ruling {
        if let Some(step) = self.vendors.get(vendor).and_then(|steps| last(steps, kernel)) {
            return step.ruling();
        }
        let Some(step) = last(&self.steps, kernel) else {
            return Ruling::unknown(format!("The table does not reach back to kernel {kernel}."));
        };
        let later =
            self.steps.iter().filter(|later| later.from > step.from).find(|later| later.is != step.is);
        match later {
            Some(later) if backports(kernel, vendor) => Ruling::unknown(format!(
                "From kernel {} on it is {}; whether the vendor carried that into {kernel} is not known.",
                later.from,
                later.is.word()
            )),
            _ if kernel.number(0) >= NOT_YET && !step.is.is_refused() => {
                Ruling::unknown(format!("Kernel {kernel} is newer than the table."))
            }
            _ => step.ruling(),
        }
    }
}

impl Step {
    fn ruling(&self) -> Ruling {
        Ruling { effect: self.is, because: self.because.clone(), source: self.source.clone() }
    }

    fn reached(&self, kernel: &Version) -> bool {
        reached(&self.from, kernel)
    }
}

/// Whether a kernel is at or above another, the vendor's release counted in.
pub fn reached(from: &Version, kernel: &Version) -> bool {
    kernel > from || (kernel == from && release(kernel) >= release(from))
}

fn last<'s>(steps: &'s [Step], kernel: &Version) -> Option<&'s Step> {
    steps.iter().rev().find(|step| step.reached(kernel))
}

/// Whether the number of a kernel says less than it seems.
pub fn backports(kernel: &Version, vendor: &str) -> bool {
    kernel.backports() || vendor.starts_with("el") || vendor == "sles"
}

/// The vendor's release behind the version: 1127 in `3.10.0-1127.19.1.el7.x86_64`; 0 where there is none.
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
        let step = |(from, is): &(&str, Effect)| Step {
            from: v(from),
            is: *is,
            because: String::new(),
            source: String::new(),
        };
        Life { steps: steps.iter().map(step).collect(), vendors: BTreeMap::new() }
    }

    #[test]
    fn a_backporting_kernel_is_known_only_where_nothing_changes_later() {
        let changing = life(&[("3.10", Effect::Ok), ("4.10", Effect::NoEffect), ("4.19", Effect::Refused)]);
        let at = |kernel: &str, vendor: &str| changing.at(&v(kernel), vendor).effect;
        assert_eq!(at("4.9.1", "mainline"), Effect::Ok);
        assert_eq!(at("4.18.20", "mainline"), Effect::NoEffect);
        assert_eq!(at("4.18.0-553.el8_10", "el8"), Effect::Unknown);
        assert_eq!(at("4.19", "mainline"), Effect::Refused);
        assert_eq!(at("5.14.0-362.el9", "el9"), Effect::Refused);
        assert_eq!(at("2.6.32", "el6"), Effect::Unknown);
        assert_eq!(at("8.1", "mainline"), Effect::Refused, "what is gone stays gone");
        assert_eq!(life(&[("3.10", Effect::Ok)]).at(&v("8.1"), "mainline").effect, Effect::Unknown);
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
