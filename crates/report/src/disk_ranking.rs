//! Ranks free disks by transport, write cache, rotation and size, in this order. An unknown
//! property ranks below the best known value.

use std::cmp::Reverse;

use super::TargetSummary;
use walwise_model::facts::catalog::device::{self, CacheVolatility, Transport};
use walwise_model::facts::{FactSet, Scope};
use walwise_model::text::{self, JoinText};

/// A single free disk gets no rank.
pub fn rank_free_disks(facts: &FactSet, targets: &mut [TargetSummary]) {
    let free = targets.iter_mut().filter(|target| target.is_free_disk());
    let mut disks: Vec<_> = free
        .map(|target| (rank_key_and_reason(facts, target), target))
        .collect();
    if disks.len() < 2 {
        return;
    }
    disks.sort_by(|((a, _), one), ((b, _), other)| (a, &one.target).cmp(&(b, &other.target)));
    for (((_, reason), target), place) in disks.into_iter().zip(1..) {
        target.rank = Some(place);
        target.rank_because = reason;
    }
}

/// The best disk has the smallest key.
fn rank_key_and_reason(facts: &FactSet, target: &TargetSummary) -> (impl Ord + use<>, String) {
    let mut subjects = target.subjects.iter();
    let disk = subjects.find(|subject| subject.scope() == Scope::Device);
    let transport = disk.and_then(|disk| facts.value(disk, &device::TRANSPORT));
    let attachment = match transport {
        Some(Transport::Usb | Transport::Mmc) => 2,
        Some(Transport::Network) | None => 1,
        Some(
            Transport::Nvme
            | Transport::Scsi
            | Transport::Sata
            | Transport::Sas
            | Transport::Virtio
            | Transport::VirtioScsi
            | Transport::Xen
            | Transport::Vmware
            | Transport::Hyperv
            | Transport::Pmem
            | Transport::Megaraid
            | Transport::Raid
            | Transport::Other,
        ) => 0,
    };
    let (cache, cache_text) = match disk.and_then(|disk| facts.value(disk, &device::CACHE)) {
        Some(CacheVolatility::None) => (0, "no volatile cache"),
        Some(CacheVolatility::Protected) => (0, "cache protected against power failure"),
        Some(CacheVolatility::Volatile) => (1, "volatile cache, so every commit waits for a flush"),
        Some(CacheVolatility::Contradictory) => (3, "contradictory cache reports"),
        Some(CacheVolatility::Unknown) | None => (2, "cache unknown"),
    };
    let (rotation, rotation_text) =
        match disk.and_then(|disk| facts.value(disk, &device::ROTATIONAL)) {
            Some(false) => (0, Some("not rotational")),
            None => (1, None),
            Some(true) => (2, Some("reports itself as rotational")),
        };
    let size = disk.and_then(|disk| facts.value(disk, &device::SIZE));
    let reasons = [
        Some(cache_text.to_owned()),
        rotation_text.map(str::to_owned),
        transport
            .filter(|transport| transport.is_recognised())
            .map(|transport| transport.to_string()),
        size.map(text::format_bytes),
    ];
    (
        (
            attachment,
            cache,
            rotation,
            Reverse(size.unwrap_or_default()),
        ),
        reasons.into_iter().flatten().join_with(", "),
    )
}

#[cfg(test)]
mod tests {
    use crate::sample_reports;
    use walwise_model::facts::catalog::target::{self, TargetKind};
    use walwise_model::facts::{Choice, FactSet, Source, Subject};

    use super::*;
    use walwise_model::facts::catalog::device::ContentState;

    #[test]
    fn disks_rank_by_transport_cache_rotation_and_size() {
        let mut facts = FactSet::default();
        let mut disk =
            |name: &str, cache: Option<&str>, transport: &str, rotational: bool, size: u64| {
                let (block, place) = (
                    Subject::device(name),
                    Subject::target(format!("/dev/{name}")),
                );
                let seen = || Source::from_system_call("test");
                facts.insert_known(
                    &block,
                    &device::TRANSPORT,
                    Transport::from_word(transport).unwrap(),
                    seen(),
                );
                facts.insert_known(&block, &device::ROTATIONAL, rotational, seen());
                facts.insert_known(&block, &device::SIZE, size, seen());
                if let Some(cache) = cache {
                    facts.insert_known(
                        &block,
                        &device::CACHE,
                        CacheVolatility::from_word(cache).unwrap(),
                        seen(),
                    );
                }
                facts.insert_known(&place, &target::KIND, TargetKind::Device, seen());
                facts.insert_known(&block, &device::CONTENT, ContentState::Free, seen());
                facts.add_layer_below(&place, &block);
                facts.set_fact_link(&place, &block);
            };
        disk("a", Some("none"), "usb", false, 9);
        disk("b", Some("contradictory"), "sata", false, 9);
        disk("c", None, "sata", false, 9);
        disk("d", Some("volatile"), "sata", false, 9);
        disk("e", Some("protected"), "sata", true, 9);
        disk("f", Some("none"), "nvme", false, 3);
        disk("g", Some("none"), "nvme", false, 5);
        let report = sample_reports::build_sample_report(
            &facts,
            Vec::new(),
            Vec::new(),
            std::collections::BTreeMap::new(),
        );
        let mut ranks: Vec<(u32, &str)> = report
            .targets
            .iter()
            .map(|t| (t.rank.unwrap(), t.target.name()))
            .collect();
        ranks.sort_unstable();
        let order: Vec<&str> = ranks.iter().map(|(_, name)| *name).collect();
        assert_eq!(
            order,
            [
                "/dev/g", "/dev/f", "/dev/e", "/dev/d", "/dev/c", "/dev/b", "/dev/a"
            ]
        );
    }

    #[test]
    fn one_free_disk_needs_no_rank() {
        assert_eq!(sample_reports::free_disk().targets[0].rank, None);
    }
}
