//! The mounts that a path lookup reaches, as opposed to those covered by others.
//!
//! The order of mountinfo is meaningless once mounts are moved or propagated, so the tree of mount
//! ids decides. A mount on the same mount point, or on a directory above, hides an earlier mount.
//! Mounts on a hidden mount are hidden as well. Hostile input may hold cycles, whose mounts are
//! never reached.

use std::collections::{BTreeSet, HashMap};

use super::mountinfo::MountEntry;

/// For each mount, whether a path lookup reaches it: the lookup reaches the parent mount, no
/// sibling covers a directory above, and no other mount is on top.
pub fn are_mounts_visible(entries: &[MountEntry]) -> Vec<bool> {
    let by_id: HashMap<u64, &MountEntry> = entries.iter().map(|entry| (entry.id, entry)).collect();
    let mut children: HashMap<u64, Vec<&MountEntry>> = HashMap::new();
    let mut points: HashMap<u64, BTreeSet<&[u8]>> = HashMap::new();
    for entry in entries {
        let parent = parent_id(entry, &by_id);
        children.entry(parent).or_default().push(entry);
        points.entry(parent).or_default().insert(&entry.point);
    }
    let mut id_counts: HashMap<u64, usize> = HashMap::new();
    for entry in entries {
        *id_counts.entry(entry.id).or_default() += 1;
    }
    // The mounts of a cycle are below no root, so the walk from the roots does not reach them. A
    // repeated id, which no kernel prints, makes its mounts unreachable.
    let (mut reached, mut open) = (BTreeSet::new(), vec![NO_MOUNT]);
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            let has_own_id = id_counts.get(&child.id) == Some(&1);
            if has_own_id && !is_covered(child, &points, &by_id) {
                reached.insert(child.line);
                open.push(child.id);
            }
        }
    }
    let is_visible = |entry: &MountEntry| {
        let on_top = points.get(&entry.id);
        reached.contains(&entry.line)
            && !on_top.is_some_and(|points| points.contains(entry.point.as_slice()))
            // The kernel marks a deleted mount point with this suffix.
            && !entry.point.ends_with(b"//deleted")
    };
    entries.iter().map(is_visible).collect()
}

/// The parent id of mounts whose parent is not in the mount table.
const NO_MOUNT: u64 = u64::MAX;

/// Mounts whose parent is not in the mount table get one common id and so count as siblings.
fn parent_id(entry: &MountEntry, by_id: &HashMap<u64, &MountEntry>) -> u64 {
    if by_id.contains_key(&entry.parent) && entry.parent != entry.id {
        entry.parent
    } else {
        NO_MOUNT
    }
}

fn is_covered(
    entry: &MountEntry,
    points: &HashMap<u64, BTreeSet<&[u8]>>,
    by_id: &HashMap<u64, &MountEntry>,
) -> bool {
    let parent = parent_id(entry, by_id);
    let Some(siblings) = points.get(&parent) else {
        return false;
    };
    let start = by_id
        .get(&parent)
        .map_or(b"".as_slice(), |parent| parent.point.as_slice());
    ancestors_from_root(&entry.point)
        .any(|above| above.len() >= start.len() && siblings.contains(above))
}

/// The directories strictly above a path, from the root down; the root has none.
pub fn ancestors_from_root(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'/')
        .map(|(at, _)| at);
    let ends = slashes.map(|at| at.max(1)).filter(|end| *end < path.len());
    ends.filter_map(|end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mountinfo::parse_mountinfo;

    fn are_parsed_mounts_visible(mounts: &[(u64, u64, &str)]) -> Vec<bool> {
        let line = |(id, parent, point): &(u64, u64, &str)| {
            format!("{id} {parent} 8:1 / {point} rw - ext4 /dev/sda1 rw\n")
        };
        are_mounts_visible(
            &parse_mountinfo(
                mounts.iter().map(line).collect::<String>().as_bytes(),
                usize::MAX,
            )
            .entries,
        )
    }

    #[test]
    fn mounts_with_a_repeated_id_are_not_visible() {
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/a"), (5, 1, "/a/x"), (5, 1, "/b")]),
            [true, true, false, false]
        );
    }

    #[test]
    fn topmost_mount_is_visible() {
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/a"), (3, 2, "/a")]),
            [true, false, true]
        );
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/"), (3, 1, "/a")]),
            [false, true, false]
        );
    }

    #[test]
    fn mount_above_hides_lower_mounts() {
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/a/b"), (3, 1, "/a")]),
            [true, false, true]
        );
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/a"), (3, 2, "/a/b"), (4, 2, "/a")]),
            [true, false, false, true]
        );
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (3, 1, "/a"), (2, 3, "/a/b")]),
            [true, true, true]
        );
    }

    #[test]
    fn name_prefix_is_no_parent_directory() {
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 0, "/"), (2, 1, "/a"), (3, 1, "/ab")]),
            [true, true, true]
        );
    }

    #[test]
    fn mount_cycles_are_invisible() {
        assert_eq!(
            are_parsed_mounts_visible(&[(1, 2, "/"), (2, 1, "/a"), (3, 9, "/b")]),
            [false, false, true]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_mount_trees_terminate(ids in proptest::collection::vec((0u64..8, 0u64..8, "/[ab]?(/[ab])?"), 0..12)) {
            let mounts: Vec<(u64, u64, &str)> = ids.iter().map(|(a, b, point)| (*a, *b, point.as_str())).collect();
            prop_assert_eq!(are_parsed_mounts_visible(&mounts).len(), mounts.len());
        }
    }
}
