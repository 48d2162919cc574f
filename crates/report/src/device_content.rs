//! The contents of a device. A device is *blank* only if all of it was read. An unreadable device
//! is neither *free* nor in use.

use schemars::JsonSchema;
use serde::Serialize;

use walwise_model::facts::catalog::device::{self, ContentState};
use walwise_model::facts::{FactSet, Reading, Remedy, Scope, Subject};
use walwise_model::text;

/// The contents of a device. They decide whether a database may use the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum DeviceContent {
    /// The device is in use or holds data.
    Holds {
        /// The contents by name: `xfs`, `GPT`, `a mount at /srv`, `swap in use`, `unrecognised
        /// data`.
        holds: Vec<String>,
    },
    /// The contents are unknown, for example because walwise lacks the permission to read the
    /// device.
    Unreadable {
        /// The reason why the contents are unknown.
        because: String,
        /// The instruction that makes the contents readable; absent if none is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// The device is not in use, and the parts that were read contain no data.
    Free {
        /// Capacity of the device in bytes; `null` if unknown.
        size: Option<u64>,
        /// Bytes of the device that were searched for data; `null` if unknown.
        bytes_read: Option<u64>,
        /// Length of the longest range that was not searched, in bytes; `null` if unknown.
        unread_run: Option<u64>,
    },
    /// The device is not in use. It was read completely and contains only zeros or only ones.
    Blank,
}

impl DeviceContent {
    pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
        match facts.applicable_subject(target, Scope::Device) {
            Some(disk) => Self::from_disk(facts, &disk),
            None => Self::Unreadable {
                because: "the underlying device is unknown".to_owned(),
                remedy: None,
            },
        }
    }

    fn from_disk(facts: &FactSet, disk: &Subject) -> Self {
        match facts.get(disk, &device::CONTENT) {
            Reading::Known { value, .. } => match value {
                ContentState::Holds => Self::Holds {
                    holds: facts.value(disk, &device::HOLDS).unwrap_or_default(),
                },
                ContentState::Free => Self::Free {
                    size: facts.value(disk, &device::SIZE),
                    bytes_read: facts.value(disk, &device::BYTES_READ),
                    unread_run: facts.value(disk, &device::UNREAD_RUN),
                },
                ContentState::Blank => Self::Blank,
            },
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => Self::Unreadable {
                because: if detail.is_empty() {
                    why.to_string()
                } else {
                    detail
                },
                remedy,
            },
        }
    }

    pub fn may_get_new_file_system(&self) -> bool {
        matches!(self, Self::Free { .. } | Self::Blank)
    }

    /// The heading: `holds xfs, LVM2`, `unreadable`, `free` or `blank`.
    pub fn heading(&self) -> String {
        match self {
            Self::Holds { holds } => {
                format!("holds {}", text::format_names_and_rest(holds, MAX_NAMED))
            }
            Self::Unreadable { .. } => "unreadable".to_owned(),
            Self::Free { .. } => "free".to_owned(),
            Self::Blank => "blank".to_owned(),
        }
    }

    pub fn explanation_text(&self) -> String {
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
                format!("Whether this device holds data is unknown: {because}.{remedy}")
            }
            Self::Free {
                size,
                bytes_read,
                unread_run,
            } => {
                let of = size
                    .map(|size| format!(" (of {})", text::format_bytes(size)))
                    .unwrap_or_default();
                let read = bytes_read.map_or_else(|| "parts".to_owned(), text::format_bytes);
                let missed = match unread_run {
                    Some(run) => format!(
                        "up to {} of contiguous data may have been missed",
                        format_bytes_rounded_up(*run)
                    ),
                    None => "the amount of data that may have been missed is unknown".to_owned(),
                };
                format!(
                    "No mount, swap area or other device uses this device. No data was found in the \
                     {read} sampled{of}; {missed}."
                )
            }
            Self::Blank => {
                "No mount, swap area or other device uses this device. The device was read completely \
                 and contains only zeros or only ones."
                    .to_owned()
            }
        }
    }
}

fn format_bytes_rounded_up(bytes: u64) -> String {
    let (unit, word) = if bytes < 1 << 20 {
        (1 << 10, "KiB")
    } else {
        (1 << 20, "MiB")
    };
    format!("{} {word}", text::group_digits(bytes.div_ceil(unit)))
}

const MAX_NAMED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::Source;

    fn content_from_reading(content: Reading<ContentState>) -> DeviceContent {
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
    fn only_free_and_blank_devices_are_available() {
        let known = |content| content_from_reading(Reading::known(content, Source::Assumed));
        let unread =
            content_from_reading(Reading::malformed("reading /dev/sdb: Input/output error"));
        let cases = [
            (
                known(ContentState::Holds),
                "holds GPT, LVM2, ext4 and 1 more",
                false,
            ),
            (unread, "unreadable", false),
            (known(ContentState::Free), "free", true),
            (known(ContentState::Blank), "blank", true),
        ];
        for (content, words, given) in cases {
            assert_eq!(
                (
                    content.heading().as_str(),
                    content.may_get_new_file_system()
                ),
                (words, given)
            );
        }
    }

    #[test]
    fn byte_counts_are_rounded_up() {
        for (bytes, told) in [
            (0, "0 KiB"),
            (1, "1 KiB"),
            (44_612_346, "43 MiB"),
            (2_601_140_224, "2 481 MiB"),
        ] {
            assert_eq!(format_bytes_rounded_up(bytes), told);
        }
    }

    #[test]
    fn free_device_text_states_unread_range() {
        let says = content_from_reading(Reading::known(ContentState::Free, Source::Assumed))
            .explanation_text();
        assert!(
            says.contains("in the 64 MiB sampled")
                && says.contains("up to 20 MiB of contiguous data may have been"),
            "{says}"
        );
    }
}
