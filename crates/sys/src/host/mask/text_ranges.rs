use std::ops::Range;

/// Words that are never masked in paths and answers. Words in the kernel's own paths are not masked
/// either.
pub const COMMON_WORDS: &str = "arch backup boot btrfs centos cluster data database db debian dev disk ext4 fedora home host linux \
    localdomain localhost log main mariadb mysql none opt oracle pgdata pgsql postgres postgresql proc raid redhat rhel \
    rocky root run server srv storage suse swap sys tmp ubuntu unknown usr var vg vg0 volume wal xfs zfs";

/// The fields between tabs (literal or escaped), ends of lines and zero bytes.
pub fn field_ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    const TAB: &[u8] = b"\\x09";
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let rest = text.get(start..)?;
        let end = (0..rest.len()).find(|i| {
            rest.get(*i).is_some_and(|b| matches!(b, b'\t' | b'\n' | 0))
                || rest.get(*i..).is_some_and(|rest| rest.starts_with(TAB))
        });
        at = end.map(|end| {
            start
                + end
                + if rest.get(end) == Some(&b'\\') {
                    TAB.len()
                } else {
                    1
                }
        });
        Some(start..start + end.unwrap_or(rest.len()))
    })
}

pub fn word_ranges_in_line(text: &[u8], line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    split_within_range(text, line, b' ')
}

pub fn split_within_range(
    text: &[u8],
    range: Range<usize>,
    separator: u8,
) -> impl Iterator<Item = Range<usize>> {
    let start = range.start;
    let bytes = text.get(range).unwrap_or_default();
    split_ranges(bytes, separator).map(move |piece| piece.start + start..piece.end + start)
}

pub fn line_ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    split_ranges(text, b'\n')
}

pub fn split_ranges(text: &[u8], separator: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split(move |b| *b == separator).map(move |piece| {
        let range = start..start + piece.len();
        start = range.end + 1;
        range
    })
}

/// Removes the blanks at both ends of the range. Bytes that are not graphic count as blanks.
pub fn trim_range(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Some(bytes) = text.get(range.clone()) else {
        return range;
    };
    let ink = |b: &u8| b.is_ascii_graphic();
    match (bytes.iter().position(ink), bytes.iter().rposition(ink)) {
        (Some(first), Some(last)) => range.start + first..range.start + last + 1,
        _ => range.start..range.start,
    }
}
