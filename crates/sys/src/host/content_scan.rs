//! The result of scanning a block device, and its encoding as an answer. The scan itself is in
//! [`super::live`].

use super::HostError;
use walwise_model::facts::choice;

choice! {
    pub enum ScanDepth {
        /// For a device that the user did not name: reads for at most one second, without ever holding
        /// the device exclusively.
        Brief = "passing",
        /// For a named device: reads for at most ten seconds, and looks for exclusive holders before
        /// and after.
        Thorough = "named",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ContentScan {
    /// Known signatures by name, such as `ext4`, `LVM2`, `GPT` or `LUKS`.
    pub signatures: Vec<String>,
    /// Whether the scan found a block that is neither all zeros nor all ones.
    pub has_data: bool,
    /// Whether a process holds the device exclusively (`O_EXCL`, open(2)); checked only by a
    /// thorough scan.
    pub is_held: bool,
    pub bytes_read: u64,
    /// The longest run of unread bytes; 0 if the whole device was read.
    pub unread_run: u64,
    /// Number of known metadata places, including both ends, that the scan had no time to read.
    pub unread_places: u64,
}

impl ContentScan {
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            signatures: found,
            has_data: data,
            is_held: held,
            bytes_read,
            unread_run,
            unread_places: places_left,
        } = self;
        let found = found.iter().map(|name| format!("signature {name}\n"));
        let flags = [("data", data), ("held", held)];
        let flags = flags
            .into_iter()
            .filter(|(_, is)| **is)
            .map(|(word, _)| format!("{word}\n"));
        let numbers =
            format!("read {bytes_read}\nunread-run {unread_run}\nplaces-left {places_left}\n");
        found
            .chain(flags)
            .chain([numbers])
            .collect::<String>()
            .into_bytes()
    }

    /// A missing number is an error: as 0 it would mean that nothing is unread, and the device
    /// would count as free.
    pub fn decode(answer: &[u8]) -> Result<Self, HostError> {
        let text = String::from_utf8_lossy(answer);
        let number = |name: &str| {
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let number = value.and_then(|value| value.parse().ok());
            number.ok_or_else(|| HostError::failed(format!("the answer lacks {name}")))
        };
        Ok(Self {
            signatures: text
                .lines()
                .filter_map(|l| l.strip_prefix("signature "))
                .map(str::to_owned)
                .collect(),
            has_data: text.lines().any(|line| line == "data"),
            is_held: text.lines().any(|line| line == "held"),
            bytes_read: number("read")?,
            unread_run: number("unread-run")?,
            unread_places: number("places-left")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn device_scan_round_trips(
            found in prop::collection::vec("[A-Za-z0-9_]{1,8}", 0..4),
            [data, held]: [bool; 2],
            [bytes_read, unread_run, places_left]: [u64; 3],
        ) {
            let content = ContentScan { signatures: found, has_data: data, is_held: held, bytes_read, unread_run, unread_places: places_left };
            prop_assert_eq!(ContentScan::decode(&content.encode()), Ok(content));
        }

        #[test]
        fn device_scan_decoder_never_panics(bytes: Vec<u8>) {
            let _ = ContentScan::decode(&bytes);
        }
    }

    #[test]
    fn device_scan_lacking_a_number_is_rejected() {
        let whole = String::from_utf8(ContentScan::default().encode()).unwrap();
        for line in whole.lines() {
            let cut = whole.replace(&format!("{line}\n"), "");
            assert!(ContentScan::decode(cut.as_bytes()).is_err(), "{line}");
        }
    }
}
