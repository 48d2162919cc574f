//! What the next boot swaps to, and whether it is there now.
//!
//! Lines of fstab and the names of swap units come from the files beside this one. The surprise: what a unit swaps to is not read,
//! and a zram device is made anew at each boot by somebody who is not looked for, so of neither is it known whether it will be there.

use std::path::Path;

use super::device;
use crate::facts::catalog::boot::{self, NamedDevice};
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Host, MissKind};
use crate::text;

/// Records them.
pub fn put(host: &dyn Host, swaps: Vec<String>, facts: &mut FactSet, listed: &mut device::Listed) {
    let written = Source::file(super::FSTAB);
    let (mut missing, mut unseen) = (Vec::new(), Vec::new());
    for swap in &swaps {
        let there = match swap.as_str() {
            unit if is_unit(unit) => None,
            zram if zram.starts_with("/dev/zram") => None,
            file if file.starts_with('/') && !file.starts_with("/dev/") => file_is_there(host, file),
            given => match device::of(host, facts, given, &written, listed) {
                Reading::Known { value: NamedDevice::There, .. } => Some(true),
                Reading::Known { value: NamedDevice::Missing, .. } => Some(false),
                Reading::Known { value: NamedDevice::None, .. } | Reading::Unknown { .. } => None,
            },
        };
        match there {
            Some(true) => {}
            Some(false) => missing.push(swap.clone()),
            None => unseen.push(swap.clone()),
        }
    }
    let machine = Subject::host();
    facts.know(&machine, &boot::SWAPS, swaps, written.clone());
    facts.know(&machine, &boot::SWAPS_MISSING, missing, written.clone());
    facts.know(&machine, &boot::SWAPS_UNSEEN, unseen, written);
}

fn is_unit(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "swap")
}

fn file_is_there(host: &dyn Host, file: &str) -> Option<bool> {
    match host.stat(&crate::collect::path_of(text::raw(file))) {
        Ok(_) => Some(true),
        Err(miss) => (miss.kind == MissKind::Absent).then_some(false),
    }
}
