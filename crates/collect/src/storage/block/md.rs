//! Linux software RAID: level, members with states, activity and consistency policy, from `md/` in
//! sysfs (Documentation/admin-guide/md.rst).
//!
//! Levels without redundancy have no `degraded`, `sync_action` or bitmap, so those facts are
//! absent. The container array of a firmware RAID (`external:imsm`) has an empty level and no size;
//! its volumes are arrays themselves.

use super::sysfs_device::SysfsBlockDevice;
use crate::attribute;
use crate::facts::catalog::device::{self, ArrayLevel, ArrayMemberState, SyncAction};
use crate::facts::{Choice, FactSet, KeyInfo, Reading, Subject};
use crate::host::Host;
use crate::host_readings::file_reading;
use crate::text::{display_path, display_safe};
use walwise_model::text::JoinText;

const ATTRIBUTES: &[(KeyInfo, &str)] = &[
    (device::MD_STATE.info, "md/array_state"),
    (device::MD_SYNC_ACTION.info, "md/sync_action"),
    (device::MD_CONSISTENCY.info, "md/consistency_policy"),
    (device::MD_BITMAP.info, "md/bitmap/location"),
    (device::MD_DEGRADED.info, "md/degraded"),
    (device::MD_CHUNK.info, "md/chunk_size"),
    (device::MD_WRITE_BEHIND.info, "md/bitmap/backlog"),
];

pub fn insert_array_facts(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let text = |name: &str| node.read_text(host, name);
    let subject = &node.subject;
    let metadata = text("md/metadata_version");
    facts.insert(
        subject,
        &device::MD_LEVEL,
        array_level(text("md/level"), &metadata),
    );
    facts.insert(subject, &device::MD_METADATA, metadata);
    node.insert_attributes(host, ATTRIBUTES, facts);
    let disks = text("md/raid_disks").and_then(|text| {
        // During a reshape the old number follows in brackets: `5 (4)`.
        let first = text.split_whitespace().next();
        first
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| format!("`{text}` is not a number"))
    });
    let degraded = facts.value(subject, &device::MD_DEGRADED);
    let wanted = disks.value().copied().filter(|_| {
        facts
            .value(subject, &device::MD_LEVEL)
            .is_some_and(has_fixed_member_count)
    });
    let moves = facts
        .value(subject, &device::MD_SYNC_ACTION)
        .is_some_and(SyncAction::is_reshape);
    facts.insert(subject, &device::MD_DISKS, disks);
    let members = read_members(host, node).and_then(|all| match wanted.filter(|_| !moves) {
        Some(wanted) => {
            require_member_count_in_sync(all, wanted.saturating_sub(degraded.unwrap_or(0)))
        }
        None => Ok(all),
    });
    let list = |names: fn(&[ArrayMember]) -> Vec<String>| members.clone().map(|all| names(&all));
    let write_mostly = list(|all| member_names_in_state(all, ArrayMemberState::WriteMostly));
    facts.insert(subject, &device::MD_WRITE_MOSTLY, write_mostly);
    facts.insert(
        subject,
        &device::MD_SUSPECT,
        list(suspect_members_with_state),
    );
    let failed = list(|all| member_names_in_state(all, ArrayMemberState::Faulty));
    let shown = list(|all| all.iter().map(ArrayMember::name_and_states).collect());
    facts.insert(subject, &device::MD_MEMBERS, shown);
    let failed_ones: Vec<Subject> = failed
        .value()
        .into_iter()
        .flatten()
        .map(Subject::device)
        .collect();
    // Failed members leave the stack, unless all members have failed.
    if !facts
        .layers_directly_below(subject)
        .iter()
        .all(|member| failed_ones.contains(member))
    {
        for member in &failed_ones {
            facts.detach_layer_still_held(subject, member);
        }
    }
    facts.insert(subject, &device::MD_FAILED, failed);
}

#[derive(Clone, Debug)]
struct ArrayMember {
    name: String,
    states: Vec<ArrayMemberState>,
}

impl ArrayMember {
    fn name_and_states(&self) -> String {
        let states = self.states.iter().map(|state| state.as_str());
        std::iter::once(self.name.as_str())
            .chain(states)
            .join_with(" ")
    }
}

fn member_names_in_state(members: &[ArrayMember], state: ArrayMemberState) -> Vec<String> {
    members
        .iter()
        .filter(|member| member.states.contains(&state))
        .map(|member| member.name.clone())
        .collect()
}

fn suspect_members_with_state(members: &[ArrayMember]) -> Vec<String> {
    let each = members.iter().flat_map(|member| {
        let states = member
            .states
            .iter()
            .filter(|state| state.may_have_had_error());
        states.map(|state| format!("{} {state}", member.name))
    });
    each.collect()
}

fn has_fixed_member_count(level: ArrayLevel) -> bool {
    !matches!(
        level,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container
    )
}

/// Fails unless exactly `wanted` members, not counting replacements, are in sync, so that a member
/// that sysfs does not list cannot go unnoticed.
fn require_member_count_in_sync(
    members: Vec<ArrayMember>,
    wanted: u64,
) -> Result<Vec<ArrayMember>, String> {
    let spares = member_names_in_state(&members, ArrayMemberState::Replacement);
    let in_sync = member_names_in_state(&members, ArrayMemberState::InSync);
    let found = in_sync
        .iter()
        .filter(|member| !spares.contains(member))
        .count() as u64;
    if found == wanted {
        Ok(members)
    } else {
        Err(format!(
            "{found} members are listed as in sync, but the array reports {wanted}"
        ))
    }
}

/// A container has external metadata without a parent array; a volume's metadata names the parent
/// (`external:/md127/0`).
fn array_level(level: Reading<String>, metadata: &Reading<String>) -> Reading<ArrayLevel> {
    let is_container = |metadata: &String| {
        metadata
            .strip_prefix("external:")
            .is_some_and(|kind| !kind.contains('/'))
    };
    if !level.is_known() && metadata.value().is_some_and(is_container) {
        metadata.clone().map(|_| ArrayLevel::Container)
    } else {
        level.and_then(|word| ArrayLevel::parse_word(&word))
    }
}

fn read_members(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<Vec<ArrayMember>> {
    let home = node.attribute_path("md");
    let names = file_reading(host.list_directory(&home), &display_path(&home));
    names.and_then_reading(|names, source| {
        let mut members = Vec::new();
        for name in &names {
            let Some(member) = name.as_encoded_bytes().strip_prefix(b"dev-") else {
                continue;
            };
            let member = display_safe(member);
            match attribute::read_text(host, &home.join(name).join("state")) {
                Reading::Known { value, .. } => {
                    // A word that is not a known state may mean a failure.
                    let words = value.split([',', ' ']).filter(|word| !word.is_empty());
                    let states = words.map(ArrayMemberState::parse_word);
                    match states.collect() {
                        Ok(states) => members.push(ArrayMember {
                            name: member,
                            states,
                        }),
                        Err(detail) => {
                            return Reading::malformed(format!("state of {member}: {detail}"));
                        }
                    }
                }
                // A member whose state is unreadable may have failed, so the list of members is
                // unknown.
                unknown @ Reading::Unknown { .. } => return unknown.into_unknown_reading(),
            }
        }
        Reading::known(members, source)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::UnknownReason;
    use crate::testing::FakeHost;

    /// The files of a RAID1 with a write-mostly and a failed member, spelled as in md.rst.
    const MIRROR: &[(&str, &str)] = &[
        ("level", "raid1"),
        ("metadata_version", "1.2"),
        ("array_state", "clean"),
        ("raid_disks", "3"),
        ("degraded", "1"),
        ("sync_action", "recover"),
        ("consistency_policy", "bitmap"),
        ("chunk_size", "0"),
        ("bitmap/location", "+8"),
        ("bitmap/backlog", "256"),
        ("dev-sda1/state", "in_sync"),
        ("dev-sdb1/state", "in_sync,write_mostly"),
        ("dev-sdc1/state", "faulty"),
    ];

    fn array_facts(files: &[(&str, &str)]) -> (FactSet, SysfsBlockDevice) {
        let node = SysfsBlockDevice::new("md0", "md");
        let mut facts = FactSet::default();
        insert_array_facts(
            &FakeHost::default().with_files_in_directory("/sys/class/block/md0/md", files),
            &node,
            &mut facts,
        );
        (facts, node)
    }

    #[test]
    fn unknown_array_words_are_malformed() {
        let words = [
            ("sync_action", "dream"),
            ("consistency_policy", "hope"),
            ("array_state", "x"),
            ("level", "raid7"),
        ];
        let (facts, node) = array_facts(&words);
        for key in [
            &device::MD_SYNC_ACTION.info,
            &device::MD_CONSISTENCY.info,
            &device::MD_STATE.info,
            &device::MD_LEVEL.info,
        ] {
            let reading = facts.reading(&node.subject, key.id);
            assert!(
                matches!(
                    reading,
                    Reading::Unknown {
                        why: UnknownReason::Malformed,
                        ..
                    }
                ),
                "{reading:?}"
            );
        }
    }

    #[test]
    fn failed_and_write_mostly_members_are_listed() {
        let (facts, SysfsBlockDevice { subject, .. }) = array_facts(MIRROR);
        let members = facts.value(&subject, &device::MD_MEMBERS).unwrap();
        assert_eq!(
            members,
            ["sda1 in_sync", "sdb1 in_sync write_mostly", "sdc1 faulty"]
        );
        assert_eq!(
            facts.value(&subject, &device::MD_WRITE_MOSTLY).unwrap(),
            ["sdb1"]
        );
        assert_eq!(facts.value(&subject, &device::MD_FAILED).unwrap(), ["sdc1"]);
        assert_eq!(
            facts.value(&subject, &device::MD_STATE),
            Some(device::ArrayState::Clean)
        );
        assert_eq!(facts.value(&subject, &device::MD_WRITE_BEHIND), Some(256));
        assert_eq!(
            facts.value(&subject, &device::MD_BITMAP).as_deref(),
            Some("+8")
        );
        assert_eq!(facts.value(&subject, &device::MD_DEGRADED), Some(1));
    }

    #[test]
    fn every_member_state_is_recognised() {
        for state in ArrayMemberState::ALL {
            let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&[
                ("level", "raid1"),
                ("raid_disks", "2"),
                ("degraded", "0"),
                ("dev-sda1/state", "in_sync"),
                ("dev-sdb1/state", "in_sync"),
                (
                    "dev-sdc1/state",
                    if *state == ArrayMemberState::InSync {
                        "spare"
                    } else {
                        state.as_str()
                    },
                ),
            ]);
            let all = facts.value(&subject, &device::MD_MEMBERS);
            assert_eq!(all.map(|all| all.len()), Some(3), "{state}");
            let suspect = facts.value(&subject, &device::MD_SUSPECT).unwrap();
            assert_eq!(suspect.is_empty(), !state.may_have_had_error(), "{state}");
        }
        let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&[
            ("level", "raid1"),
            ("raid_disks", "2"),
            ("dev-sda1/state", "in_sync"),
            ("dev-sdb1/state", "in_sync,melancholy"),
        ]);
        for key in [&device::MD_MEMBERS, &device::MD_FAILED, &device::MD_SUSPECT] {
            assert!(matches!(
                facts.get(&subject, key),
                Reading::Unknown {
                    why: UnknownReason::Malformed,
                    ..
                }
            ));
        }
    }

    #[test]
    fn member_count_must_match_in_sync_members() {
        for (level, disks, degraded, listed, known) in [
            ("raid1", "2", "0", 2, true),
            ("raid1", "2", "0", 1, false),
            ("raid1", "2", "1", 1, true),
            ("raid1", "2", "0", 0, false),
            ("raid1", "2", "0", 3, false),
            ("raid0", "2", "", 2, true),
            ("raid0", "2", "", 1, false),
            ("raid6", "6", "2", 4, true),
            ("raid6", "6", "2", 3, false),
        ] {
            let names: Vec<String> = (0..listed).map(|n| format!("dev-sd{n}/state")).collect();
            let mut files = vec![
                ("level", level),
                ("raid_disks", disks),
                ("degraded", degraded),
            ];
            files.extend(names.iter().map(|name| (name.as_str(), "in_sync")));
            let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&files);
            assert_eq!(
                facts.value(&subject, &device::MD_MEMBERS).is_some(),
                known,
                "{level} {disks} {listed}"
            );
        }
    }

    #[test]
    fn unreadable_member_leaves_members_unknown() {
        let mut files = MIRROR.to_vec();
        files.push(("dev-sdd1/slot", "3"));
        let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&files);
        assert!(matches!(
            facts.get(&subject, &device::MD_MEMBERS),
            Reading::Unknown {
                why: UnknownReason::Absent,
                ..
            }
        ));
        assert_eq!(
            facts.value(&subject, &device::MD_LEVEL),
            Some(ArrayLevel::Raid1)
        );
    }

    #[test]
    fn container_and_volume_levels_are_distinguished() {
        for (level, metadata, expect) in [
            ("", "external:imsm", Some("container")),
            ("raid1", "external:/md127/0", Some("raid1")),
            ("", "external:/md127/0", None),
            ("", "1.2", None),
        ] {
            let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&[
                ("level", level),
                ("metadata_version", metadata),
                ("raid_disks", "0"),
            ]);
            assert_eq!(
                facts
                    .value(&subject, &device::MD_LEVEL)
                    .map(ArrayLevel::as_str),
                expect,
                "{metadata}"
            );
        }
    }

    #[test]
    fn reshaping_array_has_new_disk_count() {
        let (facts, SysfsBlockDevice { subject, .. }) = array_facts(&[("raid_disks", "5 (4)")]);
        assert_eq!(facts.value(&subject, &device::MD_DISKS), Some(5));
    }

    proptest! {
        #[test]
        fn damaged_array_file_affects_only_its_fact(noise: Vec<u8>, which in 0usize..10) {
            let mut host = FakeHost::default();
            for (n, (name, text)) in MIRROR.iter().enumerate() {
                let path = format!("/sys/class/block/md0/md/{name}");
                host = if n == which { host.with_file(path, &noise) } else { host.with_file(path, text) };
            }
            let (node, mut facts) = (SysfsBlockDevice::new("md0", "md"), FactSet::default());
            insert_array_facts(&host, &node, &mut facts);
            let subject = &node.subject;
            prop_assert!(!crate::testing::displayed_notes_and_readings(&facts).chars().any(crate::text::is_display_unsafe));
            prop_assert!(which == 0 || facts.value(subject, &device::MD_LEVEL) == Some(ArrayLevel::Raid1));
            prop_assert!(which == 3 || facts.value(subject, &device::MD_DISKS) == Some(3));
            prop_assert!(which == 4 || facts.value(subject, &device::MD_DEGRADED) == Some(1));
            prop_assert!(which == 9 || facts.value(subject, &device::MD_WRITE_BEHIND) == Some(256));
            // Without `raid_disks` and `degraded` (files 3 and 4), a missing member cannot be
            // noticed.
            let lagging = facts.value(subject, &device::MD_WRITE_MOSTLY);
            prop_assert!([3, 4].contains(&which) || lagging == Some(vec!["sdb1".to_owned()]));
        }
    }
}
