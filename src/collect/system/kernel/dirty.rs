//! The limit of unwritten data in the page cache: vm.dirty_* (the kernel's Documentation/admin-guide/sysctl/vm.rst).
//!
//! Of each pair the one that is not zero is in force. A ratio refers to the memory that could hold dirty pages, which
//! changes constantly; applied to all memory it gives the upper bound.

use std::path::Path;

use crate::collect::attribute;
use crate::facts::catalog::kernel;
use crate::facts::{FactSet, Reading, Subject};
use crate::host::Host;

const MEMORY: &str = "/proc/meminfo";

pub fn read(host: &dyn Host, facts: &mut FactSet) {
    let host_itself = Subject::host();
    let memory = memory(host);
    facts.put(&host_itself, &kernel::DIRTY_BACKGROUND, limit(host, "dirty_background", memory));
    facts.put(&host_itself, &kernel::DIRTY, limit(host, "dirty", memory));
}

fn limit(host: &dyn Host, name: &str, memory: Option<u64>) -> Reading<u64> {
    let file = |unit: &str| attribute::number(host, Path::new(&format!("/proc/sys/vm/{name}_{unit}")));
    match file("bytes") {
        Reading::Known { value: 0, .. } => file("ratio").and_then(|percent| {
            let total = memory.ok_or_else(|| format!("{percent} % of what {MEMORY} does not say"))?;
            percent.checked_mul(total / 100).ok_or_else(|| format!("{percent} % is no share"))
        }),
        bytes => bytes,
    }
}

/// Total memory in bytes, from the line `MemTotal:  16384 kB`.
fn memory(host: &dyn Host) -> Option<u64> {
    let text = host.read(Path::new(MEMORY)).ok()?;
    let line = text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(b"MemTotal:"))?;
    let number = std::str::from_utf8(line).ok()?.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;

    fn background(bytes: &str, ratio: &str, memory: impl AsRef<[u8]>) -> Reading<u64> {
        let files = [("dirty_background_bytes", bytes), ("dirty_background_ratio", ratio)];
        let host = Fake::default().files("/proc/sys/vm", &files).file(MEMORY, memory);
        let mut facts = FactSet::default();
        read(&host, &mut facts);
        facts.get(&Subject::host(), &kernel::DIRTY_BACKGROUND)
    }

    #[test]
    fn the_limit_in_force_is_named_with_its_source() {
        let memory = "MemTotal:       1000 kB\nMemFree: 3 kB\n";
        for (bytes, ratio, expect, from) in [
            ("0", "10", 102_400, "/proc/sys/vm/dirty_background_ratio"),
            ("67108864", "0", 67_108_864, "/proc/sys/vm/dirty_background_bytes"),
            ("0", "0", 0, "/proc/sys/vm/dirty_background_ratio"),
        ] {
            let reading = background(bytes, ratio, memory);
            assert_eq!(reading.value(), Some(&expect));
            assert_eq!(reading.source().unwrap().to_string(), from);
        }
    }

    proptest! {
        #[test]
        fn what_makes_no_sense_is_unknown_and_never_a_limit(
            bytes in "[0-9x]{0,22}", ratio in "[0-9x]{0,22}", memory: Vec<u8>
        ) {
            let reading = background(&bytes, &ratio, &memory);
            if let Some(value) = reading.value() {
                let asked = if bytes.bytes().all(|b| b == b'0') { &ratio } else { &bytes };
                prop_assert!(asked.parse::<u64>().is_ok(), "{value} of {asked}");
            }
        }
    }
}
