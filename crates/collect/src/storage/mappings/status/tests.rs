use proptest::prelude::*;

use super::*;
use crate::host::Tool;
use crate::host::redact::{mapper_targets_with_retention, redact_program_output};

const POOL: &str = "discard_passdown queue_if_no_space";

/// Status lines, each with the expected state, failed members and lagging members.
fn status_cases() -> Vec<(
    String,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
)> {
    let cache =
        "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 migration_threshold 2048 smq 0";
    let mut cases: Vec<(String, &str, &[&str], &[&str])> = [
        (
            format!("thin-pool 1 19/4096 200/3200 - rw {POOL} - 1024"),
            "fine",
        ),
        (
            format!("thin-pool 1 19/4096 200/3200 17 rw {POOL} -"),
            "fine",
        ),
        (
            format!("thin-pool 1 19/4096 3200/3200 - out_of_data_space {POOL} - 1024"),
            "full",
        ),
        (
            format!("thin-pool 1 19/4096 3200/3200 - rw {POOL} - 1024"),
            "full",
        ),
        (
            format!("thin-pool 1 200/4096 200/3200 - ro {POOL} - 1024"),
            "read only",
        ),
        (
            format!("thin-pool 1 4096/4096 200/3200 - ro {POOL} needs_check 1024"),
            "needs check",
        ),
        (format!("{cache} rw -"), "fine"),
        (format!("{cache} ro -"), "read only"),
        (format!("{cache} ro needs_check"), "needs check"),
    ]
    .map(|(line, state)| (line, state, &[][..], &[][..]))
    .to_vec();
    let plain = [
        ("thin-pool Fail", "failed"),
        ("thin-pool failed", "failed"),
        ("thin-pool 19/4096 200/3200", "fine"),
        ("thin-pool 19/4096 3200/3200", "full"),
        ("thin 409600 819199", "fine"),
        ("thin 0 -", "fine"),
        ("thin Fail", "failed"),
        ("snapshot 16/20480 16", "fine"),
        ("snapshot 20480/20480 16", "full"),
        ("snapshot Invalid", "lost"),
        ("snapshot Overflow", "lost"),
        ("snapshot Merge failed", "failed"),
        ("snapshot-merge 16/20480 16", "fine"),
        ("snapshot-merge Merge failed", "failed"),
        ("cache Fail", "failed"),
        ("writecache 0 4096 100 20", "fine"),
        ("writecache 1 4096 100 20", "error"),
        ("integrity 0 819200 -", "fine"),
        ("integrity 3 819200 -", "error"),
        ("verity V", "fine"),
        ("verity C", "error"),
        ("vdo 253:1 normal - online online 100 4096", "fine"),
        ("vdo 253:1 normal - error offline 100 4096", "fine"),
        (
            "vdo 253:1 recovering recovering online online 100 4096",
            "fine",
        ),
        ("vdo 253:1 read-only - online online 100 4096", "read only"),
        ("vdo 253:1 normal - online online 4096 4096", "full"),
        ("era 8 10/4096 17 -", "fine"),
        ("era Fail", "failed"),
        (
            "clone 8 10/4096 8 100/200 0 0 4 hydration_threshold 1 hydration_batch_size 1 rw",
            "fine",
        ),
        ("clone 8 10/4096 8 100/200 0 0 0 ro", "read only"),
        ("clone 8 10/4096 8 100/200 0 0 0 Fail", "failed"),
    ];
    cases.extend(plain.map(|(line, state)| (line.to_owned(), state, &[][..], &[][..])));
    let legs: [(&str, &str, &[&str], &[&str]); 26] = [
        ("raid raid1 2 AA 204800/204800 idle 0 0 -", "fine", &[], &[]),
        ("raid raid1 2 AA 204800/204800 idle 0", "fine", &[], &[]),
        (
            "raid raid1 2 DA 204800/204800 idle 0 0 -",
            "degraded",
            &["member 1"],
            &[],
        ),
        (
            "raid raid1 2 A- 204800/204800 idle 0 0 -",
            "degraded",
            &["member 2"],
            &[],
        ),
        (
            "raid raid1 2 Aa 1024/204800 recover 0 0 -",
            "rebuilding",
            &[],
            &["member 2"],
        ),
        (
            "raid raid1 2 aa 1024/204800 resync 0 0 -",
            "resyncing",
            &[],
            &["member 1", "member 2"],
        ),
        (
            "raid raid1 2 DD 204800/204800 idle 0 0 -",
            "failed",
            &["member 1", "member 2"],
            &[],
        ),
        (
            "raid raid1 2 Da 1024/204800 idle 0 0 -",
            "failed",
            &["member 1"],
            &["member 2"],
        ),
        (
            "raid raid0 2 AD 204800/204800 idle 0 0 -",
            "failed",
            &["member 2"],
            &[],
        ),
        (
            "raid raid5_ls 3 AAA 204800/204800 check 0 0 -",
            "fine",
            &[],
            &[],
        ),
        (
            "raid raid5_ls 3 AAa 1024/204800 recover 0 0 -",
            "degraded, write hole open",
            &[],
            &["member 3"],
        ),
        (
            "raid raid5_ls 3 A-A 204800/204800 idle 0 0 -",
            "degraded, write hole open",
            &["member 2"],
            &[],
        ),
        (
            "raid raid5_ls 3 A-A 204800/204800 idle 0 0 A",
            "degraded",
            &["member 2"],
            &[],
        ),
        (
            "raid raid5_ls 3 --A 204800/204800 idle 0 0 -",
            "failed",
            &["member 1", "member 2"],
            &[],
        ),
        (
            "raid raid5_ls 3 aaa 1024/204800 resync 0 0 -",
            "resyncing",
            &[],
            &["member 1", "member 2", "member 3"],
        ),
        (
            "raid raid5_ls 3 AAA 204800/204800 idle 0 0 D",
            "read only",
            &["journal"],
            &[],
        ),
        (
            "raid raid6_zr 4 --AA 204800/204800 idle 0 0 -",
            "degraded, write hole open",
            &["member 1", "member 2"],
            &[],
        ),
        (
            "raid raid10_near 4 A-AA 204800/204800 idle 0 0 -",
            "degraded",
            &["member 2"],
            &[],
        ),
        ("mirror 2 253:3 253:4 200/200 1 AA 1 core", "fine", &[], &[]),
        (
            "mirror 2 253:3 253:4 200/200 1 AD 1 core",
            "degraded",
            &["member 2"],
            &[],
        ),
        (
            "mirror 2 253:3 253:4 100/200 1 AA 3 disk 253:2 A",
            "resyncing",
            &[],
            &["copies"],
        ),
        (
            "mirror 2 253:3 253:4 200/200 1 AA 3 disk 253:2 D",
            "degraded",
            &["log"],
            &[],
        ),
        (
            "mirror 2 253:3 253:4 200/200 1 DF 1 core",
            "failed",
            &["member 1", "member 2"],
            &[],
        ),
        (
            "multipath 2 0 0 0 1 1 A 0 2 2 8:0 A 0 0 1 8:16 A 0 0 1",
            "fine",
            &[],
            &[],
        ),
        (
            "multipath 2 0 0 0 2 1 A 0 2 0 8:0 A 0 8:16 A 0 E 0 1 0 8:32 F 3",
            "degraded",
            &["path 8:32"],
            &[],
        ),
        (
            "multipath 2 0 0 0 1 1 E 0 2 0 8:0 F 3 8:16 F 3",
            "no path",
            &["path 8:0", "path 8:16"],
            &[],
        ),
    ];
    cases.extend(
        legs.map(|(line, state, failed, lagging)| (line.to_owned(), state, failed, lagging)),
    );
    cases
}

fn to_owned_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn parse_line(line: &str) -> Option<TargetStatus> {
    let (target, words) = line.split_once(' ').unwrap_or((line, ""));
    parse_target_status(target, &words.split_ascii_whitespace().collect::<Vec<_>>())
}

#[test]
fn every_target_state_is_parsed() {
    for (line, state, failed, lagging) in status_cases() {
        let text = format!("x: 0 8 {line}\n").into_bytes();
        let kept = String::from_utf8(redact_program_output(
            Tool::Dmsetup,
            &["status".to_owned()],
            text,
        ))
        .unwrap();
        let status = kept
            .strip_prefix("x: ")
            .and_then(|kept| parse_line(kept.trim()));
        let status = status.unwrap_or_else(|| panic!("{line}: {kept}"));
        assert_eq!(
            (status.state.as_str(), status.failed.as_slice()),
            (state, to_owned_strings(failed).as_slice()),
            "{line}"
        );
        assert_eq!(status.lagging, to_owned_strings(lagging), "{line}");
    }
    for state in MappingHealth::ALL {
        assert!(
            status_cases()
                .iter()
                .any(|(_, word, ..)| *word == state.as_str()),
            "no case for {state}"
        );
    }
    for [target, _] in status_forms() {
        assert!(
            status_cases()
                .iter()
                .any(|(line, ..)| line.split(' ').next() == Some(target)),
            "no case for {target}"
        );
    }
}

#[test]
fn forms_of_status_lines_are_known() {
    crate::text_table::check_rows::<2>(include_str!("../status_forms.txt"));
    let known = [
        "number",
        "number or dash",
        "error count",
        "used",
        "share",
        "counted",
        "any",
        "rest",
        "",
    ];
    for [target, forms] in status_forms() {
        for form in forms
            .split(',')
            .map(str::trim)
            .filter(|form| !known.contains(form))
        {
            for listed in form.split('/') {
                let (_, state) = listed.split_once('=').unwrap();
                assert!(
                    MappingHealth::from_word(state.trim()).is_some(),
                    "{target}: {form}"
                );
            }
        }
    }
}

#[test]
fn parsed_targets_match_retained_status() {
    for (target, leaves) in mapper_targets_with_retention() {
        assert_eq!(has_status_parser(target), leaves, "{target}");
    }
}

#[test]
fn truncated_or_unknown_status_is_rejected() {
    for line in [
        "thin-pool",
        "thin-pool Error",
        "thin-pool 1 19/4096 200/3200 - rw discard_passdown queue_if_no_space",
        "thin-pool 1 19/4096 200/3200 - rw discard_passdown queue_if_no_space ?",
        "thin-pool 1 19/4096 200/3200 - new discard_passdown queue_if_no_space -",
        "thin-pool 1 19/4096 3201/3200 - rw discard_passdown queue_if_no_space -",
        "thin -",
        "thin 12",
        "snapshot Unknown",
        "snapshot 16/20480",
        "raid raid1 2 A 204800/204800 idle 0 0 -",
        "raid raid1 2 AAA 204800/204800 idle 0 0 -",
        "raid raid1 2 AX 204800/204800 idle 0 0 -",
        "raid raid1 2 AA 204800/204800 dream 0 0 -",
        "raid raid7 2 AA 204800/204800 idle 0 0 -",
        "raid raid1 2 AA 204800/204800",
        "raid raid1 0  0/0 idle 0",
        "mirror 2 253:3 253:4 200/200 1 A 1 core",
        "mirror 2 253:3 253:4 200/200 1 AA",
        "mirror 2 253:3 253:4 200/200 1 AA 3 disk 253:2 ?",
        "multipath 2 0 0 0 2 1 A 0 2 0 8:0 A 0 8:16 A 0",
        "multipath 2 0 0 0 1 1 A 0 2 0 8:0 A 0",
        "multipath 2 0 0 0 1 1 A 0 1 0 8:0 ? 0",
        "multipath 2 0 0 0 1 1 ? 0 1 0 8:0 A 0",
        "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 ? 2048 ? 0 rw",
        "cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writeback 2 ? 2048 ? 0",
        "cache Error",
        "writecache 0",
        "integrity 0",
        "verity ?",
        "vdo 253:1 normal - online online 100",
        "vdo 253:1 odd - online online 100 200",
        "era Error",
        "clone 8 10/4096 8 100/200 0 0 0",
        "clone 8 10/4096 8 100/200 0 0 0 ?",
    ] {
        assert_eq!(parse_line(line), None, "{line}");
    }
}

proptest! {
    #[test]
    fn truncated_status_is_never_better(which in 0usize..66, keep in 0usize..40) {
        let cases = status_cases();
        let Some((line, ..)) = cases.get(which) else { return Ok(()) };
        let whole = parse_line(line).map(|status| status.state);
        let cut: Vec<&str> = line.split(' ').take(keep.max(1)).collect();
        if let Some(status) = parse_line(&cut.join(" ")) {
            prop_assert!(Some(status.state) >= whole, "{line}: {cut:?}");
        }
    }

    #[test]
    fn arbitrary_words_never_panic(target in prop::sample::select(status_forms().collect::<Vec<_>>()), words in prop::collection::vec("[0-9A-Da/:-]{1,4}", 0..20)) {
        parse_target_status(target[0], &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
