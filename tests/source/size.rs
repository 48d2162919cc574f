//! No module outgrows its ceiling: a commit that raises one in `xtask/ceilings.txt` says why in its
//! body.

#[path = "../../xtask/src/size.rs"]
#[allow(dead_code, reason = "xtask prints what this test does not")]
mod counted;

use std::fs;
use std::path::Path;

#[test]
fn no_module_is_above_its_ceiling() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ceilings = fs::read_to_string(checkout.join("xtask/ceilings.txt")).unwrap();
    let above = counted::exceeded(&counted::modules(&checkout).unwrap(), &ceilings);
    assert!(above.is_empty(), "{}", above.join("\n"));
}
