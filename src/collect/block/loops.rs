//! Loop devices: the file beneath, and whether it is read directly, from `loop/` in sysfs.
//!
//! On which mount the file lies is joined later ([`crate::collect::stack`]). The surprise: the kernel appends ` (deleted)` when
//! the file has been unlinked; the text is kept as it is.

use super::topology::Node;
use crate::collect::attribute;
use crate::facts::FactSet;
use crate::facts::catalog::device;
use crate::host::Host;

/// Records what lies beneath a loop device.
pub fn describe(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    facts.put(&node.subject, &device::LOOP_FILE, attribute::text(host, &node.attribute("loop/backing_file")));
    facts.put(&node.subject, &device::LOOP_DIRECT, attribute::flag(host, &node.attribute("loop/dio")));
}
