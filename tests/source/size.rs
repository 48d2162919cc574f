//! No module may exceed its limit in `xtask/ceilings.txt`. A commit that raises a limit must state
//! the reason in its message.

#[path = "../../xtask/src/size.rs"]
#[allow(dead_code, reason = "xtask prints what this test does not")]
mod xtask_size;

use std::fs;
use std::path::Path;

#[test]
fn no_module_is_above_its_ceiling() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ceilings = fs::read_to_string(checkout.join("xtask/ceilings.txt")).unwrap();
    let above =
        xtask_size::exceeded_ceiling_messages(&xtask_size::module_sizes(&checkout).unwrap(), &ceilings);
    assert!(above.is_empty(), "{}", above.join("\n"));
}
