//! Linux software RAID: level, missing members, what it is doing and how it stays consistent, from `md/` in sysfs
//! (Documentation/admin-guide/md.rst).
//!
//! Members are found by the topology. The surprise: levels without redundancy have no `degraded` and no `sync_action`,
//! so those stay unknown as absent.

use super::attribute;
use super::topology::Node;
use crate::facts::FactSet;
use crate::facts::catalog::device;
use crate::host::Host;

/// Records what an array says of itself.
pub fn describe(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let texts = [
        (&device::MD_LEVEL, "md/level"),
        (&device::MD_SYNC_ACTION, "md/sync_action"),
        (&device::MD_CONSISTENCY, "md/consistency_policy"),
    ];
    for (key, name) in texts {
        facts.put(&node.subject, key, attribute::text(host, &node.attribute(name)));
    }
    facts.put(&node.subject, &device::MD_DEGRADED, attribute::number(host, &node.attribute("md/degraded")));
    let disks = attribute::text(host, &node.attribute("md/raid_disks")).and_then(|text| {
        // While an array is being reshaped the old count follows in brackets: `5 (4)`.
        let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
        first.ok_or_else(|| format!("`{text}` is no number"))
    });
    facts.put(&node.subject, &device::MD_DISKS, disks);
}
