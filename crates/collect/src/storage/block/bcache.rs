//! bcache: the cache mode, which decides whether writes wait in the cache (writeback), and the
//! state of the cache, from `bcache/` in sysfs (Documentation/admin-guide/bcache.rst).
//!
//! A bcache device is above its backing device and the members of an attached cache set. In state
//! `no cache` the mode shown is the one that a cache would have.

use std::path::Path;

use super::sysfs_device::{self, SysfsBlockDevice};
use crate::attribute;
use crate::facts::catalog::device::{self, BcacheMode, BcacheState};
use crate::facts::{Choice, FactSet, Reading, UnknownReason};
use crate::host::Host;
use crate::host_readings::error_reading;
use crate::text::{display_path, is_decimal};

pub fn insert_bcache_facts(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let mode = node.read_text(host, "bcache/cache_mode").and_then(|text| {
        attribute::bracketed_value(&text)
            .and_then(BcacheMode::from_word)
            .ok_or_else(|| format!("`{text}` selects no mode"))
    });
    let state: Reading<BcacheState> =
        attribute::read_choice(host, &node.attribute_path("bcache/state"));
    let has_none = state.value().is_some_and(|state| !state.has_cache());
    facts.insert(&node.subject, &device::BCACHE_MODE, mode);
    facts.insert(&node.subject, &device::BCACHE_STATE, state);
    if !has_none {
        add_cache_set_members_below(host, node, facts);
    }
}

/// Each `cacheN` links to the `bcache` directory of a member.
fn add_cache_set_members_below(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let set = node.attribute_path("bcache/cache");
    let names = match host.list_directory(&set) {
        Ok(names) => names,
        Err(miss) => {
            let why: Reading<()> = error_reading(&miss, &display_path(&set));
            if let Reading::Unknown {
                why: UnknownReason::Denied | UnknownReason::TimedOut,
                detail,
                ..
            } = why
            {
                facts.add_note_once(format!(
                    "{}: its cache set is unknown: {detail}",
                    node.subject
                ));
            }
            return;
        }
    };
    let is_member = |name: &str| name.strip_prefix("cache").is_some_and(is_decimal);
    for name in names
        .iter()
        .filter(|name| name.to_str().is_some_and(is_member))
    {
        let Ok(target) = host.link_target(&set.join(name)) else {
            continue;
        };
        if let Some(disk) = target.parent().and_then(Path::file_name) {
            facts.add_layer_below(&node.subject, &sysfs_device::device_subject(disk));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Subject;
    use crate::testing::FakeHost;
    use walwise_model::text::JoinText;

    fn bcache_facts(mode: &str, state: &str) -> (FactSet, Subject) {
        let host = FakeHost::default()
            .with_files_in_directory("/sys/class/block/bcache0/bcache", &[("cache_mode", mode), ("state", state)])
            .with_symlink(
                "/sys/class/block/bcache0/bcache/cache/cache0",
                "../../../devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sdb/sdb1/bcache",
            );
        let node = SysfsBlockDevice::new("bcache0", "bcache");
        let mut facts = FactSet::default();
        insert_bcache_facts(&host, &node, &mut facts);
        (facts, node.subject)
    }

    #[test]
    fn bracketed_cache_mode_is_active() {
        let (facts, of) = bcache_facts("writethrough [writeback] writearound none", "dirty");
        assert_eq!(
            facts.value(&of, &device::BCACHE_MODE),
            Some(BcacheMode::Writeback)
        );
        assert_eq!(
            facts.value(&of, &device::BCACHE_STATE),
            Some(BcacheState::Dirty)
        );
        assert_eq!(facts.layers_directly_below(&of), [Subject::device("sdb1")]);
    }

    #[test]
    fn unknown_mode_is_malformed_and_no_cache_has_no_members() {
        for mode in ["writeback", "[wrong]", "[", "]["] {
            let (facts, of) = bcache_facts(mode, "no cache");
            assert_eq!(facts.value(&of, &device::BCACHE_MODE), None, "{mode}");
            assert!(facts.layers_directly_below(&of).is_empty());
        }
    }

    #[test]
    fn missing_bcache_attributes_are_absent() {
        let mut facts = FactSet::default();
        let node = SysfsBlockDevice::new("bcache0", "bcache");
        insert_bcache_facts(&FakeHost::default(), &node, &mut facts);
        assert!(matches!(
            facts.get(&node.subject, &device::BCACHE_MODE),
            Reading::Unknown {
                why: UnknownReason::Absent,
                ..
            }
        ));
    }

    proptest! {
        #[test]
        fn only_bracketed_mode_is_read(text in "[ -~]{0,30}", at in 0usize..4) {
            let modes = ["writethrough", "writeback", "writearound", "none"];
            let mode = |text: &str| {
                let node = SysfsBlockDevice::new("bcache0", "bcache");
                let mut facts = FactSet::default();
                insert_bcache_facts(&FakeHost::default().with_files_in_directory("/sys/class/block/bcache0/bcache", &[("cache_mode", text)]), &node, &mut facts);
                facts.value(&node.subject, &device::BCACHE_MODE)
            };
            let marked = mode(&text).map(|mode| format!("[{mode}]"));
            prop_assert!(marked.is_none_or(|marked| text.contains(&marked)));
            let words = modes.iter().enumerate().map(|(n, word)| if n == at { format!("[{word}]") } else { (*word).to_owned() });
            prop_assert_eq!(mode(&words.join_with(" ")), BcacheMode::from_word(modes[at]));
        }
    }
}
