//! The unique identity of a disk, as an attribute of sysfs that can be read again when it matters: before mkfs, in a
//! udev rule.
//!
//! Names such as sdb are assigned at every boot and are no identity. All name spaces of an NVMe disk share its serial
//! number, which therefore confirms an identity but is none by itself. Captures mask all identities.

use crate::facts::catalog::device;
use crate::facts::{Source, Subject};
use crate::report::Report;

/// An attribute and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file, below the disk's directory in /sys/class/block: `device/wwid`.
    pub file: String,
    /// Its value, trimmed: letters, digits, single characters of `_-.:` and blanks only.
    pub value: String,
}

/// The identifying attribute of a disk, if one was read on this very machine and is plain text.
pub fn of(report: &Report, disk: &Subject) -> Option<Identity> {
    let facts = [&device::UNIT, &device::SERIAL, &device::DM_UUID];
    facts.into_iter().filter(|_| report.host.live).find_map(|fact| {
        let reading = report.facts.get(disk, fact);
        let Some(Source::File { path, .. }) = reading.source() else { return None };
        let file = path.strip_prefix("/sys/class/block/")?.strip_prefix(disk.name())?.strip_prefix('/')?;
        let shared = fact.name() == device::SERIAL.name() && file == "device/serial";
        let value = reading.value()?;
        (!shared && plain(file, "_/") && plain(value, "_-.: "))
            .then(|| Identity { file: file.to_owned(), value: value.clone() })
    })
}

fn plain(text: &str, also: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(good) && text.trim() == text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn only_what_tells_one_disk_from_all_others_and_was_read_here_counts() {
        let wwid = ("device/wwid", "naa.5002538e40a1b2c3");
        let cases = [
            (vec![(&device::UNIT, wwid)], Some(wwid)),
            (vec![(&device::SERIAL, ("serial", "vol-1"))], Some(("serial", "vol-1"))),
            (vec![(&device::SERIAL, ("device/serial", "S4"))], None),
            (
                vec![(&device::UNIT, ("wwid", "eui.0025")), (&device::SERIAL, ("device/serial", "S4"))],
                Some(("wwid", "eui.0025")),
            ),
            (vec![(&device::DM_UUID, ("dm/uuid", "LVM-abc"))], Some(("dm/uuid", "LVM-abc"))),
            (vec![(&device::UNIT, ("device/wwid", "a\"b"))], None),
            (vec![(&device::UNIT, ("device/wwid", "*"))], None),
            (vec![(&device::UNIT, ("../sdb/device/wwid", "naa.5"))], None),
            (Vec::new(), None),
        ];
        for (facts, expect) in cases {
            let mut report = sample::free_disk();
            let disk = Subject::device("sdc");
            for (fact, (file, value)) in &facts {
                let source = Source::file(format!("/sys/class/block/sdc/{file}"));
                report.facts.know(&disk, fact, (*value).to_owned(), source);
            }
            let expect =
                expect.map(|(file, value)| Identity { file: file.to_owned(), value: value.to_owned() });
            assert_eq!(of(&report, &disk), expect);
            report.host.live = false;
            assert_eq!(of(&report, &disk), None, "a capture masks it");
        }
    }
}
