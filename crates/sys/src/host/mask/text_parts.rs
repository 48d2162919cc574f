//! Parts of a text, and the range of a part in its text.

use std::ops::Range;

/// Words that are never masked in paths and answers. Words in the kernel's own paths are not masked
/// either.
pub const COMMON_WORDS: &str = "arch backup boot btrfs centos cluster data database db debian dev disk ext4 fedora home host linux \
    localdomain localhost log main mariadb mysql none opt oracle pgdata pgsql postgres postgresql proc raid redhat rhel \
    rocky root run server srv storage suse swap sys tmp ubuntu unknown usr var vg vg0 volume wal xfs zfs";

/// The place of `part` in `text`, of which it is a slice.
pub fn range_in(text: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    start..start.wrapping_add(part.len())
}

pub fn text_after<'t>(text: &'t [u8], mark: &[u8]) -> Option<&'t [u8]> {
    let at = text.windows(mark.len()).position(|part| part == mark)?;
    text.get(at + mark.len()..)
}

/// The fields between tabs (literal or escaped), ends of lines and zero bytes.
pub fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const TAB: &[u8] = b"\\x09";
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let ends = |at: &usize| {
            text.get(*at..).is_some_and(|tail| {
                matches!(tail, [b'\t' | b'\n' | 0, ..]) || tail.starts_with(TAB)
            })
        };
        let Some(end) = (0..text.len()).find(ends) else {
            return rest.take();
        };
        let (field, tail) = text.split_at(end);
        rest = tail.strip_prefix(TAB).or_else(|| tail.get(1..));
        Some(field)
    })
}

/// Removes the blanks at both ends. Bytes that are not graphic count as blanks.
pub fn trim_to_graphic(text: &[u8]) -> &[u8] {
    let first = text
        .iter()
        .position(u8::is_ascii_graphic)
        .unwrap_or(text.len());
    let end = text
        .iter()
        .rposition(u8::is_ascii_graphic)
        .map_or(first, |last| last + 1);
    text.get(first..end).unwrap_or_default()
}
