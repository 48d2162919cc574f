//! The contents of a device, in the one type that every output shows: it holds something, could not
//! be read, is free, or is blank.
//!
//! The facts are settled by then; this module only words them. A device is *blank* only if it was
//! read completely, and an unreadable device is neither free nor held.

use serde::Serialize;

use walwise_model::facts::catalog::device::{self, Content};
use walwise_model::facts::{FactSet, Reading, Remedy, Scope, Subject};
use walwise_model::text;

/// What a device is to somebody who looks for one to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum DeviceContent {
    /// Somebody uses it, or something was found on it.
    Holds {
        /// What: `xfs`, `GPT`, `a mount at /srv`, `swap in use`, `data of no known kind`.
        holds: Vec<String>,
    },
    /// Whether it holds anything is not known.
    Unreadable {
        /// Why.
        because: String,
        /// What would let it be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// Not in use, and nothing was found in the places read.
    Free {
        /// Its size, in bytes.
        size: Option<u64>,
        /// How much of it was read, in bytes.
        bytes_read: Option<u64>,
        /// The longest run that was not read, in bytes.
        unread_run: Option<u64>,
    },
    /// Not in use, and read whole: zeros or ones.
    Blank,
}

impl DeviceContent {
    /// The contents of the device behind a target.
    pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
        match facts.resolve(target, Scope::Device) {
            Some(disk) => Self::of_disk(facts, &disk),
            None => Self::Unreadable {
                because: "the device is not known".to_owned(),
                remedy: None,
            },
        }
    }

    fn of_disk(facts: &FactSet, disk: &Subject) -> Self {
        match facts.get(disk, &device::CONTENT) {
            Reading::Known {
                value: Content::Holds,
                ..
            } => Self::Holds {
                holds: facts.value(disk, &device::HOLDS).unwrap_or_default(),
            },
            Reading::Known {
                value: Content::Free,
                ..
            } => Self::Free {
                size: facts.value(disk, &device::SIZE),
                bytes_read: facts.value(disk, &device::BYTES_READ),
                unread_run: facts.value(disk, &device::UNREAD_RUN),
            },
            Reading::Known {
                value: Content::Blank,
                ..
            } => Self::Blank,
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                let because = if detail.is_empty() {
                    why.to_string()
                } else {
                    detail
                };
                Self::Unreadable { because, remedy }
            }
        }
    }

    /// Whether a file system may be created on it.
    pub fn may_be_given(&self) -> bool {
        matches!(self, Self::Free { .. } | Self::Blank)
    }

    /// Its heading: `holds xfs, LVM2`, `unreadable`, `free`, `blank`.
    pub fn words(&self) -> String {
        match self {
            Self::Holds { holds } => format!("holds {}", text::first_of(holds, NAMED)),
            Self::Unreadable { .. } => "unreadable".to_owned(),
            Self::Free { .. } => "free".to_owned(),
            Self::Blank => "blank".to_owned(),
        }
    }

    /// The evidence for it, in sentences.
    pub fn sentence(&self) -> String {
        match self {
            Self::Holds { holds } => {
                format!(
                    "This device holds {}. No file system is advised for it.",
                    holds.join(", ")
                )
            }
            Self::Unreadable { because, remedy } => {
                let remedy = remedy
                    .as_ref()
                    .map(|remedy| format!(" To find out: {remedy}."))
                    .unwrap_or_default();
                format!("It is unknown whether it holds anything: {because}.{remedy}")
            }
            Self::Free {
                size,
                bytes_read,
                unread_run,
            } => {
                let of = size
                    .map(|size| format!(" of {}", text::bytes(size)))
                    .unwrap_or_default();
                let read = bytes_read.map_or_else(|| "the places read".to_owned(), text::bytes);
                let missed = match unread_run {
                    Some(run) => format!(
                        "up to {} of contiguous data may have been missed",
                        at_most(*run)
                    ),
                    None => "how much may have been missed is unknown".to_owned(),
                };
                format!(
                    "No mount, swap space or device uses it. No data found in {read}{of} sampled; {missed}."
                )
            }
            Self::Blank => {
                "No mount, swap space or device uses it. All of it was read: zeros or ones."
                    .to_owned()
            }
        }
    }
}

/// An upper bound, rounded up.
fn at_most(bytes: u64) -> String {
    let (unit, word) = if bytes < 1 << 20 {
        (1 << 10, "KiB")
    } else {
        (1 << 20, "MiB")
    };
    format!("{} {word}", text::grouped(bytes.div_ceil(unit)))
}

/// The number of contents that a heading names.
const NAMED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::{Source, Why};

    fn told(content: Reading<Content>) -> DeviceContent {
        let (mut facts, disk) = (FactSet::default(), Subject::device("sdb"));
        facts.put(&disk, &device::CONTENT, content);
        facts.know(
            &disk,
            &device::HOLDS,
            ["GPT", "LVM2", "ext4", "xfs"].map(str::to_owned).to_vec(),
            Source::Assumed,
        );
        facts.know(&disk, &device::BYTES_READ, 64 << 20, Source::Assumed);
        facts.know(&disk, &device::UNREAD_RUN, 20 << 20, Source::Assumed);
        DeviceContent::of_disk(&facts, &disk)
    }

    #[test]
    fn each_is_told_as_what_it_is_and_only_two_may_be_given() {
        let known = |content| told(Reading::known(content, Source::Assumed));
        let unread = told(Reading::unknown(
            Why::Malformed,
            "reading /dev/sdb: Input/output error",
        ));
        let cases = [
            (
                known(Content::Holds),
                "holds GPT, LVM2, ext4 and 1 more",
                false,
            ),
            (unread, "unreadable", false),
            (known(Content::Free), "free", true),
            (known(Content::Blank), "blank", true),
        ];
        for (content, words, given) in cases {
            assert_eq!(
                (content.words().as_str(), content.may_be_given()),
                (words, given)
            );
        }
    }

    #[test]
    fn a_bound_is_rounded_up() {
        for (bytes, told) in [
            (0, "0 KiB"),
            (1, "1 KiB"),
            (44_612_346, "43 MiB"),
            (2_601_140_224, "2 481 MiB"),
        ] {
            assert_eq!(at_most(bytes), told);
        }
    }

    #[test]
    fn a_free_device_says_how_much_could_be_missed() {
        let says = told(Reading::known(Content::Free, Source::Assumed)).sentence();
        assert!(
            says.contains("in 64 MiB sampled")
                && says.contains("up to 20 MiB of contiguous data may have been"),
            "{says}"
        );
    }
}
