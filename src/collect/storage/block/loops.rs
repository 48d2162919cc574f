//! Loop devices: the backing file, and whether it is read with direct I/O, from `loop/` in sysfs.
//!
//! The mount of the file is joined later ([`crate::collect::stack`]). The kernel appends ` (deleted)` once the file is
//! unlinked; the text is kept as it is.

use super::node::Node;
use crate::collect::attribute;
use crate::facts::FactSet;
use crate::facts::catalog::device;
use crate::host::Host;

/// Records the backing file of a loop device and whether it is read with direct I/O.
pub fn describe(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    facts.put(&node.subject, &device::LOOP_FILE, attribute::text(host, &node.attribute("loop/backing_file")));
    facts.put(&node.subject, &device::LOOP_DIRECT, attribute::flag(host, &node.attribute("loop/dio")));
}
