//! Swap: the devices that hold it, from /proc/swaps (proc(5)).
//!
//! A swap file is attributed to the device below its mount. If a line names an unknown device, any
//! device that no line names may hold swap too. The same holds in an LXC container, where lxcfs
//! synthesises /proc/swaps.

use std::collections::BTreeSet;
use std::path::Path;

use crate::collector::Request;
use crate::escape::fstab::decode_fstab_field;
use crate::facts::catalog::{device, host};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::Host;
use crate::host_readings::error_reading;
use crate::path_lookup::{device_of_path, mount_of_path};
use crate::text::{bytes, display_safe};

const SWAPS: &str = "/proc/swaps";

/// The paths of active swap, as the kernel prints them; empty if unknown.
pub fn active_swap_paths(host: &dyn Host, facts: &FactSet) -> Vec<Vec<u8>> {
    if is_lxc_container(facts) {
        return Vec::new();
    }
    let text = host.read(Path::new(SWAPS)).unwrap_or_default();
    swaps(&text)
        .filter(|(_, kind)| kind.is_some())
        .map(|(path, _)| path)
        .collect()
}

fn is_lxc_container(facts: &FactSet) -> bool {
    facts.host_value(&host::CONTAINER).as_deref() == Some("lxc")
}

/// Path and kind of the swap in each line; a truncated line has no kind.
fn swaps(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, Option<&[u8]>)> {
    bytes::lines(text).skip(1).filter_map(|line| {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        Some((decode_fstab_field(words.next()?), words.next()))
    })
}

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let text = host.read(Path::new(SWAPS));
    let mut holders: BTreeSet<Subject> = BTreeSet::new();
    let mut lost: Option<String> = None;
    for (path, kind) in text.iter().flat_map(|text| swaps(text)) {
        let Some(kind) = kind else {
            lost = Some(format!("{SWAPS}: a line is truncated"));
            continue;
        };
        let found = if kind == b"partition" {
            device_of_path(host, &path, facts).map(|device| vec![device])
        } else {
            mount_of_path(facts, &path).map(|mount| facts.layers_directly_below(&mount).to_vec())
        };
        match found {
            Some(devices) => holders.extend(devices),
            None => {
                lost = Some(format!(
                    "{SWAPS}: the device that holds {} was not found",
                    display_safe(&path)
                ));
            }
        }
    }
    if is_lxc_container(facts) {
        lost = lost.or_else(|| Some(format!("{SWAPS} may show only the container's swap")));
    }
    let devices: Vec<Subject> = facts
        .subjects_of_scope(Scope::Device)
        .filter(|subject| facts.value(subject, &device::SIZE) != Some(0))
        .cloned()
        .collect();
    for subject in devices {
        let reading = match (&text, &lost) {
            (Err(miss), _) => error_reading(miss, SWAPS),
            (Ok(_), Some(detail)) if !holders.contains(&subject) => Reading::ambiguous(detail),
            _ => Reading::known(holders.contains(&subject), Source::from_file(SWAPS)),
        };
        facts.insert(&subject, &device::SWAP, reading);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::catalog::mount;
    use crate::testing::FakeHost;

    fn swap_facts_of_three_devices(lines: impl AsRef<[u8]>) -> [Option<bool>; 3] {
        let mut facts = FactSet::default();
        for name in ["sda1", "sda2", "dm-1"] {
            facts.add_subject(&Subject::device(name));
        }
        let srv = Subject::mount("/srv");
        facts.insert_known(&srv, &mount::POINT, "/srv".to_owned(), Source::Assumed);
        facts.insert_known(&srv, &mount::IN_SIGHT, true, Source::Assumed);
        facts.add_layer_below(&srv, &Subject::device("dm-1"));
        let text = [
            b"Filename\t\t\tType\t\tSize\tUsed\tPriority\n",
            lines.as_ref(),
        ]
        .concat();
        collect_facts(
            &FakeHost::default().with_file(SWAPS, text),
            &Request::default(),
            &mut facts,
        );
        ["sda1", "sda2", "dm-1"].map(|name| facts.value(&Subject::device(name), &device::SWAP))
    }

    #[test]
    fn swap_partitions_and_files_mark_devices() {
        assert_eq!(swap_facts_of_three_devices(""), [Some(false); 3]);
        let lines =
            "/dev/sda2    partition\t8388604\t0\t-2\n/srv/swap\\040file file\t1024\t0\t-3\n";
        assert_eq!(
            swap_facts_of_three_devices(lines),
            [Some(false), Some(true), Some(true)]
        );
    }

    #[test]
    fn swap_is_unknown_in_lxc() {
        let mut facts = FactSet::default();
        let sda = Subject::device("sda");
        facts.add_subject(&sda);
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            "lxc".to_owned(),
            Source::from_file("x"),
        );
        collect_facts(
            &FakeHost::default().with_file(SWAPS, "Filename\tType\n"),
            &Request::default(),
            &mut facts,
        );
        assert!(!facts.get(&sda, &device::SWAP).is_known());
    }

    #[test]
    fn unknown_swap_device_leaves_others_unknown() {
        assert_eq!(
            swap_facts_of_three_devices("/dev/gone partition 1 0 -1\n/dev/sda2 partition 1 0 -1\n"),
            [None, Some(true), None]
        );
    }

    proptest! {
        #[test]
        fn malformed_line_leaves_unlisted_devices_unknown(
            bad in prop::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..30),
            at in 0usize..3,
        ) {
            let good: [&[u8]; 2] = [b"/dev/sda2 partition 1 0 -1", b"/srv/swap file 1 0 -2"];
            let mut lines = good.to_vec();
            lines.insert(at, &bad);
            let blank = bad.iter().all(u8::is_ascii_whitespace);
            let expect = if blank { Some(false) } else { None };
            prop_assert_eq!(swap_facts_of_three_devices(lines.join(&b'\n')), [expect, Some(true), Some(true)]);
        }

        #[test]
        fn order_of_lines_does_not_matter(lines in Just(vec![
            "/dev/sda2 partition 1 0 -1", "/srv/swap file 1 0 -2", "/dev/gone partition 1 0 -3", "", "cut",
        ]).prop_shuffle(), count in 0usize..=5) {
            let some = &lines[..count];
            let backwards: Vec<&str> = some.iter().rev().copied().collect();
            prop_assert_eq!(swap_facts_of_three_devices(some.join("\n")), swap_facts_of_three_devices(backwards.join("\n")));
        }
    }
}
