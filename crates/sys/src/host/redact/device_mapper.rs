//! Device-mapper tables and status, without keys (dmsetup(8);
//! Documentation/admin-guide/device-mapper/*.rst).
//!
//! Tables are reduced to names, kinds of targets, offsets of linear targets, the mode of a cache,
//! and the policy of multipath without a path. Status is reduced to numbers and listed words. A
//! line of dmsetup is `NAME: START LENGTH TARGET …`; keys follow the target. dmsetup prints names
//! unmangled. Here they are mangled as in the kernel, so that a name is one word.

use std::fmt::Write as _;

use crate::host::is_in_word_list;
use crate::text::bytes::lines;

/// Targets whose status is kept. `?` replaces each word that is neither a number nor in
/// [`STATUS_WORDS`].
pub const TARGETS_WITH_STATUS: &str = "thin thin-pool snapshot snapshot-merge cache writecache raid mirror multipath vdo era \
    clone integrity verity";

/// Further targets of the kernel and of out-of-tree modules; any other target is reduced to
/// `other`. The status of these adds nothing: linear has no state, a disk's error reaches the file
/// system, and zoned only counts zones. The last ten are rare or for tests, and the verdict treats
/// each of them as unknown.
pub const OTHER_TARGETS: &str = "linear striped crypt inlinecrypt snapshot-origin delay dust error flakey log-writes zero \
    ebs switch unstriped zoned";

/// Words that are kept in a target's status; any other word becomes `?`.
const STATUS_WORDS: &str = "- A C D E Error F Fail Invalid Merge Overflow Unknown V check closed closing core \
    discard_passdown disk error error_if_no_space failed frozen idle ignore_discard \
    needs_check no_discard_passdown normal offline online opening out_of_data_space \
    passthrough queue_if_no_space raid0 raid1 raid10 raid10_far raid10_near raid10_offset \
    raid4 raid5_la raid5_ls raid5_n raid5_ra raid5_rs raid6_la_6 raid6_ls_6 raid6_n_6 \
    raid6_nc raid6_nr raid6_ra_6 raid6_rs_6 raid6_zr read-only recover recovering repair \
    reshape resync ro rw unknown writeback writethrough";
/// Letters for the health of copies and paths (`device_status_char` in drivers/md/dm-raid1.c,
/// `__raid_dev_status` in drivers/md/dm-raid.c).
const HEALTH_LETTERS: &[u8] = b"ADFRSUa-";
/// The largest number of copies whose health a word can show (`MAX_RAID_DEVICES` in
/// drivers/md/dm-raid.c).
const MAX_COPIES: usize = 253;
/// Modes of a cache. A cache without a listed mode is write-back.
const CACHE_MODES: &[&str] = &["writeback", "writethrough", "passthrough"];

struct DmTargetLine<'t> {
    name: &'t str,
    start: u64,
    target: &'static str,
    rest: Vec<&'t str>,
}

fn parse_target_lines(text: &[u8]) -> impl Iterator<Item = DmTargetLine<'_>> {
    lines(text).filter_map(|line| parse_target_line(str::from_utf8(line).ok()?))
}

fn parse_target_line(line: &str) -> Option<DmTargetLine<'_>> {
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.find(": ")?;
        let mut words = line.get(at + 2..)?.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        if let (Some(start), Some(_)) = (number(), number()) {
            let target = words.next()?;
            let mut known = [TARGETS_WITH_STATUS, OTHER_TARGETS]
                .into_iter()
                .flat_map(str::split_ascii_whitespace);
            let target = known.find(|known| *known == target).unwrap_or("other");
            return Some(DmTargetLine {
                name: line.get(..at)?,
                start,
                target,
                rest: words.collect(),
            });
        }
        from = at + 2;
    }
}

/// Reduces a table to lines `NAME: TARGET`. A linear target is followed by its start and its offset
/// on the device below, in sectors. A cache is followed by its mode, multipath by its policy
/// without a path.
pub fn redact_table(text: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    for DmTargetLine {
        name,
        start,
        target,
        rest,
        ..
    } in parse_target_lines(text)
    {
        let more = match target {
            "linear" => linear_offsets(start, &rest),
            "cache" => cache_mode(&rest).to_owned(),
            "multipath" => no_path_policy(&rest).to_owned(),
            _ => String::new(),
        };
        let _ = writeln!(out, "{}: {target} {more}", mangle_name(name));
    }
    out.into_bytes()
}

fn linear_offsets(start: u64, rest: &[&str]) -> String {
    let offset = rest.get(1).and_then(|offset| offset.parse::<u64>().ok());
    offset.map_or_else(String::new, |offset| format!("{start} {offset}"))
}

/// The features whose number is at `at`. `None` if the features are cut.
fn features_after_count<'r, 't>(rest: &'r [&'t str], at: usize) -> Option<&'r [&'t str]> {
    let count = rest.get(at)?.parse().ok()?;
    rest.get(at + 1..)?.get(..count)
}

/// Finds the mode among the features of a cache, which follow three devices and the block size.
/// Empty if the features are cut.
fn cache_mode(rest: &[&str]) -> &'static str {
    features_after_count(rest, 4).map_or("", |features| {
        let mut modes = CACHE_MODES.iter();
        modes
            .find(|mode| features.contains(mode))
            .unwrap_or(&"writeback")
    })
}

/// Finds the policy of multipath without a path among its features. Empty if the features are cut.
fn no_path_policy(rest: &[&str]) -> &'static str {
    match features_after_count(rest, 0) {
        Some(features) if features.contains(&"queue_if_no_path") => "queue_if_no_path",
        Some(_) => "fail_if_no_path",
        None => "",
    }
}

/// Reduces the output of `dmsetup status` to lines `NAME: TARGET WORD…` for
/// [`TARGETS_WITH_STATUS`]; an unlisted word becomes `?`, so the others keep their positions.
pub fn redact_status(text: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    for DmTargetLine {
        name, target, rest, ..
    } in parse_target_lines(text)
    {
        if is_in_word_list(TARGETS_WITH_STATUS, target.as_bytes()) {
            let _ = write!(out, "{}: {target}", mangle_name(name));
            for word in rest.into_iter().filter(|word| !word.is_empty()) {
                let _ = write!(
                    out,
                    " {}",
                    if is_allowed_status_word(word) {
                        word
                    } else {
                        "?"
                    }
                );
            }
            out.push('\n');
        }
    }
    out.into_bytes()
}

fn is_allowed_status_word(word: &str) -> bool {
    let is_number =
        |text: &str| text.parse::<u64>().is_ok() && text.bytes().all(|b| b.is_ascii_digit());
    let is_pair = ['/', ':'].into_iter().any(|mark| {
        word.split_once(mark)
            .is_some_and(|(first, second)| is_number(first) && is_number(second))
    });
    let is_health = word.len() <= MAX_COPIES && word.bytes().all(|b| HEALTH_LETTERS.contains(&b));
    is_number(word) || is_pair || is_health || is_in_word_list(STATUS_WORDS, word.as_bytes())
}

/// Escapes a name as the kernel stores it: characters outside libdevmapper's list become
/// hexadecimal.
fn mangle_name(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = *first == b'\\'
            && after.first() == Some(&b'x')
            && after
                .get(1..3)
                .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        if escaped || first.is_ascii_alphanumeric() || b"#+-.:=@_".contains(first) {
            out.push(char::from(*first));
        } else {
            let _ = write!(out, "\\x{first:02x}");
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "c0ffee0123456789c0ffee0123456789";

    fn utf8_text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn table_keeps_only_targets_offsets_and_modes() {
        let table_text = format!(
            "vg-data: 0 2097152 linear 253:0 2048\nvg-data: 2097152 8 striped 2 128 8:0 0 8:16 0\n\
             vg-far: 2048 8 linear 8:0 x\n\
             luks: 0 2064384 crypt aes-xts-plain64 {KEY} 0 8:17 32768\n\
             luks2: 0 8 crypt aes-xts-plain64 :64:logon:cryptsetup:{KEY} 0 8:17 32768 1 allow_discards\n\
             vg-thin: 0 8 thin 253:4 1\nvg-pool-tpool: 0 8 thin-pool 253:2 253:3 128 0 0 \n\
             vg-hot: 0 8 cache 253:5 253:6 253:7 128 2 metadata2 writethrough smq 0\n\
             vg-warm: 0 8 cache 253:5 253:6 253:7 128 0 smq 0\n\
             vg-odd: 0 8 cache writeback\n\
             mpa: 0 8 multipath 1 queue_if_no_path 1 alua 1 1 service-time 0 2 1 8:0 1 8:16 1\n\
             mpb: 0 8 multipath 0 0 1 1 queue_if_no_path 0 1 1 8:0 1\nmpc: 0 8 multipath x\na b: 0 8 {KEY} x\nno line at all\n"
        );
        let expect = "vg-data: linear 0 2048\nvg-data: striped \nvg-far: linear \nluks: crypt \nluks2: crypt \nvg-thin: thin \n\
            vg-pool-tpool: thin-pool \nvg-hot: cache writethrough\nvg-warm: cache writeback\nvg-odd: cache \n\
            mpa: multipath queue_if_no_path\nmpb: multipath fail_if_no_path\nmpc: multipath \na\\x20b: other \n";
        assert_eq!(utf8_text(redact_table(table_text.as_bytes())), expect);
    }

    #[test]
    fn status_keeps_only_numbers_and_listed_words() {
        let status_text = "vg-pool-tpool: 0 2097152 thin-pool 1 12/1024 300/4096 - rw discard_passdown queue_if_no_space - 1024\n\
            vg-bad-tpool: 0 8 thin-pool Fail\nvg-data: 0 8 linear \nr: 0 8 raid raid1 2 AD 8/8 idle 0 0 -\n\
            v: 0 8 vdo /dev/secret normal - online online 1 2\nm: 0 8 multipath 2 0 0 0 1 1 A 0 1 0 8:0 A 0 \n\
            c: 0 8 cache 8 1/2 mood 300\n";
        assert_eq!(
            utf8_text(redact_status(status_text.as_bytes())),
            "vg-pool-tpool: thin-pool 1 12/1024 300/4096 - rw discard_passdown queue_if_no_space - 1024\n\
             vg-bad-tpool: thin-pool Fail\nr: raid raid1 2 AD 8/8 idle 0 0 -\nv: vdo ? normal - online online 1 2\n\
             m: multipath 2 0 0 0 1 1 A 0 1 0 8:0 A 0\nc: cache 8 1/2 ? 300\n"
        );
    }

    proptest! {
        #[test]
        fn no_key_leaks_from_table_or_status(
            name in "[a-z][a-z0-9_.-]{0,9}", target in prop::sample::select(TARGETS_WITH_STATUS.split(' ').chain(OTHER_TARGETS.split(' ')).collect::<Vec<_>>()), before in "[ -~]{0,20}", after in "[ -~]{0,20}"
        ) {
            let line = format!("{name}: 0 2064384 {target} {before}{KEY}{after}\n");
            for answer in [redact_table(line.as_bytes()), redact_status(line.as_bytes())] {
                prop_assert!(!utf8_text(answer).contains(KEY));
            }
        }

        #[test]
        fn malformed_lines_do_not_affect_later_lines(bytes: Vec<u8>) {
            let again = redact_table(&[bytes.as_slice(), b"\nvg-data: 0 8 linear 8:0 0\n"].concat());
            prop_assert!(utf8_text(again).ends_with("vg-data: linear 0 0\n"));
            redact_status(&bytes);
        }
    }
}
