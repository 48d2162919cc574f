//! Whether a file system's stripe matches that of the md array below.
//!
//! ext4 prints `stripe=` in blocks, XFS `swidth=` in units of 512 bytes (ext4(5), xfs(5)). An array
//! reports its stripe as the preferred size of a write. Only a file system directly on the array is
//! compared, because a layer between may shift the start. mke2fs from 1.47.3 on sets no stripe on
//! flash.

use crate::collector::Request;
use crate::facts::catalog::device;
use crate::facts::catalog::mount::{self, StripeFit};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::Host;

/// Bytes per unit of XFS's `sunit` and `swidth`, whatever the disk's block size.
const SECTOR: u64 = 512;

pub fn collect_facts(_: &dyn Host, _: &Request, facts: &mut FactSet) {
    for subject in
        facts.subjects_where(&mount::FSTYPE, |fstype| fstype == "ext4" || fstype == "xfs")
    {
        let stripe = match facts.value(&subject, &mount::FSTYPE).as_deref() {
            Some("xfs") => xfs_stripe_bytes(facts, &subject),
            _ => ext4_stripe_bytes(facts, &subject),
        };
        let fits = stripe_fit(facts, &subject, &stripe);
        facts.insert(&subject, &mount::STRIPE, stripe);
        facts.insert(&subject, &mount::STRIPE_FITS, fits);
    }
}

/// A later occurrence overrides earlier ones; `None` if the option is missing.
fn last_number_of_option(options: &[String], name: &str) -> Option<Result<u64, String>> {
    let text = options
        .iter()
        .rev()
        .find_map(|option| option.strip_prefix(name)?.strip_prefix('='))?;
    Some(
        text.parse()
            .map_err(|_| format!("`{name}={text}` is not a number")),
    )
}

fn ext4_stripe_bytes(facts: &FactSet, subject: &Subject) -> Reading<u64> {
    let options = facts.get(subject, &mount::EXT4_OPTIONS);
    let blocks = options.and_then(|options| {
        last_number_of_option(&options, "stripe")
            .unwrap_or_else(|| Err("the options in force contain no stripe=".to_owned()))
    });
    blocks.and_then_reading(|blocks, source| {
        if blocks == 0 {
            return Reading::known(0, source);
        }
        let size = facts.get(subject, &mount::BLOCK_SIZE);
        size.and_then_reading(|size, _| Reading::known(blocks.saturating_mul(size), source))
    })
}

fn xfs_stripe_bytes(facts: &FactSet, subject: &Subject) -> Reading<u64> {
    facts
        .get(subject, &mount::SUPER_OPTIONS)
        .and_then(|options| {
            last_number_of_option(&options, "swidth")
                .unwrap_or(Ok(0))
                .map(|sectors| sectors.saturating_mul(SECTOR))
        })
}

fn stripe_fit(facts: &FactSet, subject: &Subject, stripe: &Reading<u64>) -> Reading<StripeFit> {
    let Some(array) = facts.applicable_subject(subject, Scope::Device) else {
        return Reading::absent("the underlying device of the file system is unknown");
    };
    let no_stripes = |source| Reading::known(StripeFit::NoStripes, source);
    let fit_with = |of_array: u64| {
        if of_array == 0 {
            return Reading::absent("the underlying md array does not report its stripe size");
        }
        stripe.as_ref().and_then_reading(|stripe, _| {
            let fit = match *stripe {
                0 => StripeFit::None,
                stripe if stripe == of_array => StripeFit::Fits,
                _ => StripeFit::Other,
            };
            let of = [
                mount::STRIPE.name(),
                device::OPTIMAL_IO.name(),
                device::MD_LEVEL.name(),
            ];
            Reading::known(fit, Source::derived_from(of))
        })
    };
    facts
        .get(&array, &device::KIND)
        .and_then_reading(|kind, source| {
            if !kind.is_md() {
                return no_stripes(source);
            }
            facts
                .get(&array, &device::MD_LEVEL)
                .and_then_reading(|level, source| {
                    if !level.is_striped() {
                        return no_stripes(source);
                    }
                    let of_array = facts.get(&array, &device::OPTIMAL_IO);
                    of_array.and_then_reading(|of_array, _| fit_with(of_array))
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;
    use crate::facts::catalog::device::ArrayLevel;
    use crate::facts::catalog::device::DeviceKind;
    use crate::testing::FakeHost;

    const STRIPE: u64 = 3 * 512 * 1024;

    fn stripe_facts(
        fstype: &str,
        options: &[&str],
        level: &str,
        block: Option<u64>,
    ) -> (Option<u64>, String) {
        let mut facts = FactSet::default();
        let (mount, array) = (Subject::mount("/srv"), Subject::device("md0"));
        let read = || Source::from_file("test");
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        facts.insert_known(&mount, &mount::FSTYPE, fstype.to_owned(), read());
        facts.insert_known(&mount, &mount::SUPER_OPTIONS, options.clone(), read());
        facts.insert_known(&mount, &mount::EXT4_OPTIONS, options, read());
        if let Some(block) = block {
            facts.insert_known(&mount, &mount::BLOCK_SIZE, block, read());
        }
        let kind = if level.is_empty() {
            DeviceKind::Lvm
        } else {
            DeviceKind::Md
        };
        facts.insert_known(&array, &device::KIND, kind, read());
        if let Some(level) = ArrayLevel::from_word(level) {
            facts.insert_known(&array, &device::MD_LEVEL, level, read());
        }
        facts.insert_known(&array, &device::OPTIMAL_IO, STRIPE, read());
        facts.set_fact_link(&mount, &array);
        collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
        let fits = match facts.get(&mount, &mount::STRIPE_FITS) {
            Reading::Known { value, .. } => value.to_string(),
            Reading::Unknown { why, .. } => format!("? {why}"),
        };
        (facts.value(&mount, &mount::STRIPE), fits)
    }

    #[test]
    fn file_system_stripe_is_compared_with_array() {
        for (fstype, options, level, block, stripe, fits) in [
            (
                "ext4",
                &["rw", "stripe=384"][..],
                "raid5",
                Some(4096),
                Some(STRIPE),
                "fits",
            ),
            (
                "ext4",
                &["rw", "stripe=384"],
                "raid5",
                Some(1024),
                Some(STRIPE / 4),
                "other",
            ),
            (
                "ext4",
                &["rw", "stripe=256"],
                "raid6",
                Some(4096),
                Some(1 << 20),
                "other",
            ),
            ("ext4", &["rw", "stripe=0"], "raid5", None, Some(0), "none"),
            (
                "ext4",
                &["rw", "stripe=384"],
                "raid5",
                None,
                None,
                "? not collected",
            ),
            ("ext4", &["rw"], "raid5", Some(4096), None, "? malformed"),
            (
                "xfs",
                &["rw", "sunit=1024", "swidth=3072"],
                "raid5",
                None,
                Some(STRIPE),
                "fits",
            ),
            (
                "xfs",
                &["rw", "sunit=1024", "swidth=2048"],
                "raid10",
                None,
                Some(1 << 20),
                "other",
            ),
            ("xfs", &["rw", "noquota"], "raid0", None, Some(0), "none"),
            (
                "xfs",
                &["rw", "swidth=x"],
                "raid5",
                None,
                None,
                "? malformed",
            ),
            ("xfs", &["rw"], "raid1", None, Some(0), "no stripes"),
            ("xfs", &["rw"], "", None, Some(0), "no stripes"),
        ] {
            let expected = (stripe, fits.to_owned());
            assert_eq!(
                stripe_facts(fstype, options, level, block),
                expected,
                "{fstype} {options:?} {level}"
            );
        }
    }
}
