//! The contents of a device for every output: in use, unreadable, free or blank.
//!
//! The facts are complete by then; this module only puts them into words. A device is *blank* only
//! if all of it was read; an unreadable device counts neither as free nor as in use.

use serde::Serialize;

use walwise_model::facts::catalog::device::{self, Content};
use walwise_model::facts::{FactSet, Reading, Remedy, Scope, Subject};
use walwise_model::text;

/// What a device holds, and so whether a database can get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum DeviceContent {
    /// In use, or something was found on it.
    Holds {
        /// What it holds: `xfs`, `GPT`, `a mount at /srv`, `swap in use`, `unrecognised data`.
        holds: Vec<String>,
    },
    /// Its contents could not be read.
    Unreadable {
        /// The reason.
        because: String,
        /// How to read it.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// Not in use, and nothing was found in the places read.
    Free {
        /// Its size, in bytes.
        size: Option<u64>,
        /// How much of it was read, in bytes.
        bytes_read: Option<u64>,
        /// The longest unread range, in bytes.
        unread_run: Option<u64>,
    },
    /// Not in use, and all of it was read: only zeros or ones.
    Blank,
}

impl DeviceContent {
    /// The contents of the device behind a target.
    pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
        match facts.resolve(target, Scope::Device) {
            Some(disk) => Self::from_disk(facts, &disk),
            None => Self::Unreadable {
                because: "the device is unknown".to_owned(),
                remedy: None,
            },
        }
    }

    fn from_disk(facts: &FactSet, disk: &Subject) -> Self {
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
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Free { .. } | Self::Blank)
    }

    /// A heading: `holds xfs, LVM2`, `unreadable`, `free`, `blank`.
    pub fn heading(&self) -> String {
        match self {
            Self::Holds { holds } => format!("holds {}", text::names_and_count(holds, MAX_NAMED)),
            Self::Unreadable { .. } => "unreadable".to_owned(),
            Self::Free { .. } => "free".to_owned(),
            Self::Blank => "blank".to_owned(),
        }
    }

    /// The evidence for it, in sentences.
    pub fn evidence_text(&self) -> String {
        match self {
            Self::Holds { holds } => {
                format!(
                    "This device holds {}. No file system is recommended for it.",
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
                        rounded_up(*run)
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

/// A size as an upper bound: rounded up.
fn rounded_up(bytes: u64) -> String {
    let (unit, word) = if bytes < 1 << 20 {
        (1 << 10, "KiB")
    } else {
        (1 << 20, "MiB")
    };
    format!("{} {word}", text::group_digits(bytes.div_ceil(unit)))
}

/// The number of contents that a heading names.
const MAX_NAMED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::{Source, UnknownReason};

    fn content_of(content: Reading<Content>) -> DeviceContent {
        let (mut facts, disk) = (FactSet::default(), Subject::device("sdb"));
        facts.insert(&disk, &device::CONTENT, content);
        facts.insert_known(
            &disk,
            &device::HOLDS,
            ["GPT", "LVM2", "ext4", "xfs"].map(str::to_owned).to_vec(),
            Source::Assumed,
        );
        facts.insert_known(&disk, &device::BYTES_READ, 64 << 20, Source::Assumed);
        facts.insert_known(&disk, &device::UNREAD_RUN, 20 << 20, Source::Assumed);
        DeviceContent::from_disk(&facts, &disk)
    }

    #[test]
    fn each_is_told_as_what_it_is_and_only_two_may_be_given() {
        let known = |content| content_of(Reading::known(content, Source::Assumed));
        let unread = content_of(Reading::unknown(
            UnknownReason::Malformed,
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
                (content.heading().as_str(), content.is_available()),
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
            assert_eq!(rounded_up(bytes), told);
        }
    }

    #[test]
    fn a_free_device_says_how_much_could_be_missed() {
        let says = content_of(Reading::known(Content::Free, Source::Assumed)).evidence_text();
        assert!(
            says.contains("in 64 MiB sampled")
                && says.contains("up to 20 MiB of contiguous data may have been"),
            "{says}"
        );
    }
}
