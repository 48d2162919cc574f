//! Linux software RAID: level, members and their states, current activity and consistency policy,
//! from `md/` in sysfs (Documentation/admin-guide/md.rst).
//!
//! The devices below are found by the topology. Levels without redundancy have no `degraded`, no
//! `sync_action` and no bitmap, so those facts are unknown (absent). The container array of a
//! firmware RAID (`external:imsm`) has an empty level and no size; its volumes are arrays of their
//! own.

use super::node::Node;
use crate::attribute;
use crate::facts::catalog::device::{self, ArrayLevel, MemberState, SyncAction};
use crate::facts::{Choice, FactSet, Reading, Source, Subject, Why};
use crate::host::{Host, path_bytes};
use crate::refusal::refused;
use crate::text::safe;

/// Records the attributes of an array.
pub fn describe(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let text = |name: &str| attribute::text(host, &node.attribute(name));
    let number = |name: &str| attribute::number(host, &node.attribute(name));
    let subject = &node.subject;
    let metadata = text("md/metadata_version");
    facts.put(
        subject,
        &device::MD_LEVEL,
        level(text("md/level"), &metadata),
    );
    facts.put(subject, &device::MD_METADATA, metadata);
    facts.put(
        subject,
        &device::MD_STATE,
        attribute::choice(host, &node.attribute("md/array_state")),
    );
    facts.put(
        subject,
        &device::MD_SYNC_ACTION,
        attribute::choice(host, &node.attribute("md/sync_action")),
    );
    facts.put(
        subject,
        &device::MD_CONSISTENCY,
        attribute::choice(host, &node.attribute("md/consistency_policy")),
    );
    facts.put(subject, &device::MD_BITMAP, text("md/bitmap/location"));
    facts.put(subject, &device::MD_DEGRADED, number("md/degraded"));
    facts.put(subject, &device::MD_CHUNK, number("md/chunk_size"));
    facts.put(
        subject,
        &device::MD_WRITE_BEHIND,
        number("md/bitmap/backlog"),
    );
    let disks = text("md/raid_disks").and_then(|text| {
        // While an array is being reshaped the old count follows in brackets: `5 (4)`.
        let first = text
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        first.ok_or_else(|| format!("`{text}` is no number"))
    });
    let degraded = facts.value(subject, &device::MD_DEGRADED);
    let wanted = disks.value().copied().filter(|_| {
        facts
            .value(subject, &device::MD_LEVEL)
            .is_some_and(is_counted)
    });
    let moves = facts
        .value(subject, &device::MD_SYNC_ACTION)
        .is_some_and(SyncAction::is_reshape);
    facts.put(subject, &device::MD_DISKS, disks);
    let members = members(host, node).and_then(|all| match wanted.filter(|_| !moves) {
        Some(wanted) => all_there(all, wanted.saturating_sub(degraded.unwrap_or(0))),
        None => Ok(all),
    });
    facts.put(
        subject,
        &device::MD_WRITE_MOSTLY,
        members
            .clone()
            .map(|all| those(&all, MemberState::WriteMostly)),
    );
    facts.put(
        subject,
        &device::MD_SUSPECT,
        members.clone().map(|all| suspect(&all)),
    );
    let failed = members.clone().map(|all| those(&all, MemberState::Faulty));
    let failed_ones: Vec<Subject> = failed
        .value()
        .into_iter()
        .flatten()
        .cloned()
        .map(Subject::device)
        .collect();
    // Where all have failed, they are what is left to look at.
    if !facts
        .below(subject)
        .iter()
        .all(|member| failed_ones.contains(member))
    {
        for member in &failed_ones {
            facts.leave(subject, member);
        }
    }
    facts.put(subject, &device::MD_FAILED, failed);
    let shown = members.map(|all| all.iter().map(ArrayMember::shown).collect::<Vec<String>>());
    facts.put(subject, &device::MD_MEMBERS, shown);
}

/// A member of an array, and the words of its state.
#[derive(Clone, Debug)]
struct ArrayMember {
    name: String,
    states: Vec<MemberState>,
}

impl ArrayMember {
    /// `sda1 in_sync write_mostly`.
    fn shown(&self) -> String {
        let states = self.states.iter().map(|state| state.word());
        std::iter::once(self.name.as_str())
            .chain(states)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Names of the members whose state contains this word.
fn those(members: &[ArrayMember], state: MemberState) -> Vec<String> {
    members
        .iter()
        .filter(|member| member.states.contains(&state))
        .map(|member| member.name.clone())
        .collect()
}

fn suspect(members: &[ArrayMember]) -> Vec<String> {
    let each = members.iter().flat_map(|member| {
        let states = member.states.iter().filter(|state| state.is_suspect());
        states.map(|state| format!("{} {state}", member.name))
    });
    each.collect()
}

/// Whether the array itself counts the members of this level that are in sync.
fn is_counted(level: ArrayLevel) -> bool {
    !matches!(
        level,
        ArrayLevel::Multipath | ArrayLevel::Faulty | ArrayLevel::Container
    )
}

/// The members, if as many are in sync as the array counts. A member that is lost from the list is
/// one nobody judges.
fn all_there(members: Vec<ArrayMember>, wanted: u64) -> Result<Vec<ArrayMember>, String> {
    let spares = those(&members, MemberState::Replacement);
    let in_sync = those(&members, MemberState::InSync);
    let found = in_sync
        .iter()
        .filter(|member| !spares.contains(member))
        .count() as u64;
    if found == wanted {
        Ok(members)
    } else {
        Err(format!(
            "it lists {found} members in sync, and the array counts {wanted}"
        ))
    }
}

/// The metadata of a container is external and points at no other array, as that of a volume in it
/// does (`external:/md127/0`).
fn level(level: Reading<String>, metadata: &Reading<String>) -> Reading<ArrayLevel> {
    let external = metadata
        .value()
        .and_then(|text| text.strip_prefix("external:"));
    match (&level, external, metadata.source()) {
        (Reading::Unknown { .. }, Some(kind), Some(source)) if !kind.contains('/') => {
            Reading::known(ArrayLevel::Container, source.clone())
        }
        _ => level.and_then(|word| ArrayLevel::read(&word)),
    }
}

/// Name and state of every member.
fn members(host: &dyn Host, node: &Node) -> Reading<Vec<ArrayMember>> {
    let home = node.attribute("md");
    let shown = safe(path_bytes(&home));
    let names = match host.list(&home) {
        Ok(names) => names,
        Err(miss) => return refused(&miss, &shown),
    };
    let mut members = Vec::new();
    for name in names
        .iter()
        .filter(|name| name.as_encoded_bytes().starts_with(b"dev-"))
    {
        let member = safe(
            name.as_encoded_bytes()
                .strip_prefix(b"dev-")
                .unwrap_or_default(),
        );
        match attribute::text(host, &home.join(name).join("state")) {
            Reading::Known { value, .. } => {
                // An unknown word may be a failure.
                let words = value.split([',', ' ']).filter(|word| !word.is_empty());
                match words.map(MemberState::read).collect::<Result<Vec<_>, _>>() {
                    Ok(states) => members.push(ArrayMember {
                        name: member,
                        states,
                    }),
                    Err(detail) => {
                        return Reading::unknown(
                            Why::Malformed,
                            format!("state of {member}: {detail}"),
                        );
                    }
                }
            }
            // A member whose state cannot be seen may be the one that is missing.
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                return Reading::Unknown {
                    why,
                    detail,
                    remedy,
                };
            }
        }
    }
    Reading::known(members, Source::file(shown))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Fake;

    /// A RAID1 with one write-mostly and one failed leg, as md.rst describes its files.
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

    fn described(files: &[(&str, &str)]) -> (FactSet, Node) {
        let node = Node::new("md0", "md");
        let mut facts = FactSet::default();
        describe(
            &Fake::default().files("/sys/class/block/md0/md", files),
            &node,
            &mut facts,
        );
        (facts, node)
    }

    /// Rules name what is no trouble by leaving it out, so a word that nobody knows must not pass
    /// for one of them.
    #[test]
    fn a_word_that_is_new_is_unknown() {
        let words = [
            ("sync_action", "dream"),
            ("consistency_policy", "hope"),
            ("array_state", "x"),
            ("level", "raid7"),
        ];
        let (facts, node) = described(&words);
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
                        why: Why::Malformed,
                        ..
                    }
                ),
                "{reading:?}"
            );
        }
    }

    #[test]
    fn a_mirror_says_who_is_missing_and_who_lags() {
        let (facts, Node { subject, .. }) = described(MIRROR);
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

    /// Every word of a member's state is known and has a fact; any other word leaves the members
    /// unknown.
    #[test]
    fn every_state_of_a_member() {
        for state in MemberState::ALL {
            let (facts, Node { subject, .. }) = described(&[
                ("level", "raid1"),
                ("raid_disks", "2"),
                ("degraded", "0"),
                ("dev-sda1/state", "in_sync"),
                ("dev-sdb1/state", "in_sync"),
                (
                    "dev-sdc1/state",
                    if *state == MemberState::InSync {
                        "spare"
                    } else {
                        state.word()
                    },
                ),
            ]);
            let all = facts.value(&subject, &device::MD_MEMBERS);
            assert_eq!(all.map(|all| all.len()), Some(3), "{state}");
            let suspect = facts.value(&subject, &device::MD_SUSPECT).unwrap();
            assert_eq!(suspect.is_empty(), !state.is_suspect(), "{state}");
        }
        let (facts, Node { subject, .. }) = described(&[
            ("level", "raid1"),
            ("raid_disks", "2"),
            ("dev-sda1/state", "in_sync"),
            ("dev-sdb1/state", "in_sync,melancholy"),
        ]);
        for key in [&device::MD_MEMBERS, &device::MD_FAILED, &device::MD_SUSPECT] {
            assert!(matches!(
                facts.get(&subject, key),
                Reading::Unknown {
                    why: Why::Malformed,
                    ..
                }
            ));
        }
    }

    /// As many members are listed as the array counts, or their list is unknown.
    #[test]
    fn members_are_counted() {
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
            let (facts, Node { subject, .. }) = described(&files);
            assert_eq!(
                facts.value(&subject, &device::MD_MEMBERS).is_some(),
                known,
                "{level} {disks} {listed}"
            );
        }
    }

    #[test]
    fn a_member_that_cannot_be_seen_leaves_the_members_unknown() {
        let mut files = MIRROR.to_vec();
        files.push(("dev-sdd1/slot", "3"));
        let (facts, Node { subject, .. }) = described(&files);
        assert!(matches!(
            facts.get(&subject, &device::MD_MEMBERS),
            Reading::Unknown {
                why: Why::Absent,
                ..
            }
        ));
        assert_eq!(
            facts.value(&subject, &device::MD_LEVEL),
            Some(ArrayLevel::Raid1)
        );
    }

    #[test]
    fn containers_of_firmware_raid_are_told_from_their_volumes() {
        for (level, metadata, expect) in [
            ("", "external:imsm", Some("container")),
            ("raid1", "external:/md127/0", Some("raid1")),
            ("", "external:/md127/0", None),
            ("", "1.2", None),
        ] {
            let (facts, Node { subject, .. }) = described(&[
                ("level", level),
                ("metadata_version", metadata),
                ("raid_disks", "0"),
            ]);
            assert_eq!(
                facts
                    .value(&subject, &device::MD_LEVEL)
                    .map(ArrayLevel::word),
                expect,
                "{metadata}"
            );
        }
    }

    #[test]
    fn an_array_being_reshaped_shows_the_new_count() {
        let (facts, Node { subject, .. }) = described(&[("raid_disks", "5 (4)")]);
        assert_eq!(facts.value(&subject, &device::MD_DISKS), Some(5));
    }

    proptest! {
        /// Whatever the files of an array hold, each costs its own facts only.
        #[test]
        fn noise_in_one_file_costs_one_fact(noise: Vec<u8>, which in 0usize..10) {
            let mut host = Fake::default();
            for (n, (name, text)) in MIRROR.iter().enumerate() {
                let path = format!("/sys/class/block/md0/md/{name}");
                host = if n == which { host.file(path, &noise) } else { host.file(path, text) };
            }
            let (node, mut facts) = (Node::new("md0", "md"), FactSet::default());
            describe(&host, &node, &mut facts);
            let subject = &node.subject;
            prop_assert!(!crate::testing::shown(&facts).chars().any(crate::text::is_treacherous));
            prop_assert!(which == 0 || facts.value(subject, &device::MD_LEVEL) == Some(ArrayLevel::Raid1));
            prop_assert!(which == 3 || facts.value(subject, &device::MD_DISKS) == Some(3));
            prop_assert!(which == 4 || facts.value(subject, &device::MD_DEGRADED) == Some(1));
            prop_assert!(which == 9 || facts.value(subject, &device::MD_WRITE_BEHIND) == Some(256));
            // Without the numbers of all and of missing members the list of members cannot be told
            // from one that lost a line.
            let lagging = facts.value(subject, &device::MD_WRITE_MOSTLY);
            prop_assert!([3, 4].contains(&which) || lagging == Some(vec!["sdb1".to_owned()]));
        }
    }
}
