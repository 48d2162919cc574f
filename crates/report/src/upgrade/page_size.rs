//! Reports consequences of a different memory page size of the next kernel.
//!
//! The signature of a swap area depends on the page size (mkswap(8)). A kernel can mount a file
//! system with blocks larger than a page only if it supports large folios for that file system.

use super::KernelChange;
use super::layers::swap_item;
use crate::model::upgrade::{UpgradeItem, UpgradeSection};
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::{boot, kernel, mount};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::text::format_bytes;
use walwise_model::version::Version;

pub fn page_size_items(kernels: &KernelChange<'_>) -> Vec<UpgradeItem> {
    let size = |facts: &FactSet| facts.host_value(&kernel::PAGE_SIZE);
    let then = size(kernels.supposed);
    let large_blocks = kernels
        .supposed
        .subjects_of_scope(Scope::Mount)
        .filter_map(|mount| large_block_item(kernels, mount, then));
    let (now, then) = match (size(kernels.real), then) {
        (_, None) if !kernels.is_unchanged => return large_blocks.collect(),
        (Some(now), Some(then)) if now != then => (now, then),
        _ => return Vec::new(),
    };
    let (from, to) = (format_bytes(now), format_bytes(then));
    let changes = UpgradeItem::new_change(
        UpgradeSection::Changes,
        Level::Warning,
        &Subject::host(),
        format!("the memory page size changes from {from} to {to}"),
    );
    let mut items = vec![changes.with_source("coreos-assembler issue 3617").with_reason(
        "Swap areas must be recreated. Huge page settings, and memory sizes given in pages, also change.",
    )];
    let swaps = kernels
        .supposed
        .host_value(&boot::SWAPS)
        .unwrap_or_default();
    items.extend(swaps.into_iter().map(|swap| {
        let what = format!("the swap area {swap} was created for {from} pages");
        let because = format!(
            "A kernel with {to} pages refuses it, and the boot continues without it. Run `mkswap` on it after the upgrade."
        );
        swap_item(&swap, what).with_reason(because).into_blocker()
    }));
    items.extend(large_blocks);
    items
}

/// Every kernel has memory pages of at least this size.
const SMALLEST_PAGE: u64 = 4 << 10;

/// `page` is the page size of the next kernel in bytes. If it is unknown, only blocks larger than
/// [`SMALLEST_PAGE`] are reported.
fn large_block_item(
    kernels: &KernelChange<'_>,
    subject: &Subject,
    page: Option<u64>,
) -> Option<UpgradeItem> {
    let fstype = kernels.supposed.value(subject, &mount::FSTYPE)?;
    let folios_since = match fstype.as_str() {
        "xfs" => Version::parse("6.12"),
        "ext4" => Version::parse("6.19"),
        "ext2" | "ext3" | "btrfs" => None,
        _ => return None,
    };
    let size = kernels.supposed.value(subject, &mount::BLOCK_SIZE);
    if size.is_some_and(|size| size <= page.unwrap_or(SMALLEST_PAGE))
        || size.is_none() && page.is_none()
    {
        return None;
    }
    let what = match size {
        Some(size) if page.is_some() => format!(
            "its {} blocks are larger than a memory page",
            format_bytes(size)
        ),
        Some(size) => format!(
            "it is unknown whether its {} blocks are larger than a memory page",
            format_bytes(size)
        ),
        None => "it is unknown whether its blocks are larger than a memory page".to_owned(),
    };
    let because = "A kernel can mount such a file system only with large folio support for its type. Back the file system up and recreate it with 4 KiB blocks.";
    let too_old = folios_since.is_none_or(|since| {
        kernels
            .then
            .as_ref()
            .is_some_and(|(version, _)| *version < since)
    });
    let item = UpgradeItem::new_critical_undecided(subject, what).with_reason(because);
    Some(item.into_blocker_if(size.is_some() && page.is_some() && too_old))
}
