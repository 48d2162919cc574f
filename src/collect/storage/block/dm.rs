//! Device-mapper devices: name, unique id, and the kind that the id's prefix reveals without root.
//!
//! Only root can see the targets inside (linear, thin, cache …): see
//! [`crate::collect::storage::mappings`]. The prefixes are those that lsblk(8) uses. A partition on a multipath disk is
//! a device-mapper device too.

use super::node::Node;
use crate::collect::attribute;
use crate::facts::FactSet;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::host::Host;

/// Records name and unique id, and returns the id.
pub fn identify(host: &dyn Host, node: &Node, facts: &mut FactSet) -> String {
    facts.put(&node.subject, &device::DM_NAME, attribute::text(host, &node.attribute("dm/name")));
    let uuid = attribute::text(host, &node.attribute("dm/uuid"));
    let text = uuid.value().cloned().unwrap_or_default();
    facts.put(&node.subject, &device::DM_UUID, uuid);
    text
}

/// The kind by its unique id.
pub fn kind(uuid: &str) -> DeviceKind {
    match uuid.split_once('-') {
        Some(("LVM", _)) => DeviceKind::Lvm,
        Some(("CRYPT", rest)) if !rest.starts_with("VERITY-") && !rest.starts_with("INTEGRITY-") => {
            DeviceKind::Crypt
        }
        Some(("mpath", _)) => DeviceKind::Multipath,
        Some(("DMRAID", _)) => DeviceKind::Dmraid,
        Some(("VDO", _)) => DeviceKind::Vdo,
        Some((part, rest)) if part.starts_with("part") && rest.starts_with("mpath-") => DeviceKind::Partition,
        _ => DeviceKind::Dm,
    }
}

/// Whether it is an inner part of an LVM pool, cache or snapshot, which nobody but LVM may use.
pub fn is_lvm_internal(uuid: &str) -> bool {
    const INNER: &[&str] = &[
        "-tpool", "-tdata", "-tmeta", "-real", "-cow", "-cpool", "-cvol", "-cdata", "-cmeta", "-corig",
        "-pool",
    ];
    uuid.starts_with("LVM-") && INNER.iter().any(|suffix| uuid.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_the_kind() {
        for (uuid, expect) in [
            ("LVM-Hk2nWcXY", "lvm"),
            ("CRYPT-LUKS2-0f3c-luks", "crypt"),
            ("CRYPT-PLAIN-swap", "crypt"),
            ("CRYPT-VERITY-ab", "dm"),
            ("mpath-3600a0980", "multipath"),
            ("part1-mpath-3600a0980", "partition"),
            ("DMRAID-isw_ab_vol0", "dmraid"),
            ("VDO-0f3c", "vdo"),
            ("stratis-1-private-0f3c", "dm"),
            ("", "dm"),
        ] {
            assert_eq!(kind(uuid).word(), expect, "{uuid}");
        }
        assert!(is_lvm_internal("LVM-abc-tpool") && !is_lvm_internal("LVM-abc"));
    }
}
