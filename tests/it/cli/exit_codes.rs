//! Tests the table of exit codes of `check` on one recorded host and its variants.

use std::fs;
use std::path::Path;

use super::exit_code_and_output;

fn modified_capture(changes: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/el9-ext4.host");
    let mut text = fs::read_to_string(path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "the recorded machine has no {from:?}");
        text = text.replace(from, to);
    }
    text
}

/// Returns the exit codes of `check` without options, with `--fail-on warning`, with
/// `--fail-on-undecided`, and with both.
fn check_exit_codes(capture: &str) -> [i32; 4] {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("host");
    fs::write(&path, capture).unwrap();
    let host = ["check", "/data", "--host", path.to_str().unwrap()];
    let options: [&[&str]; 4] = [
        &[],
        &["--fail-on", "warning"],
        &["--fail-on-undecided"],
        &["--fail-on", "warning", "--fail-on-undecided"],
    ];
    options.map(|options| {
        let formats = ["text", "json", "script", "conf"];
        let code = |format| {
            let (code, _, err) =
                exit_code_and_output(&[&host[..], options, &["--format", format]].concat());
            assert_eq!(err, "", "a finding is no error");
            code.unwrap()
        };
        let codes = formats.map(code);
        assert_eq!(
            codes, [codes[0]; 4],
            "the form of the report changes nothing of what it says"
        );
        codes[0]
    })
}

#[test]
fn findings_and_fail_options_decide_the_exit_code() {
    let cache = "read /sys/class/block/vdb/queue/write_cache\n|write back\n";
    let barrier = "|barrier\n";
    assert_eq!(
        check_exit_codes(&modified_capture(&[])),
        [0; 4],
        "nothing wrong; that nothing was measured is no doubt"
    );
    assert_eq!(
        check_exit_codes(&modified_capture(&[(cache, "")])),
        [0, 4, 5, 4],
        "unproven"
    );
    assert_eq!(
        check_exit_codes(&modified_capture(&[(barrier, "|nobarrier\n")])),
        [3; 4],
        "at risk"
    );
    assert_eq!(
        check_exit_codes(&modified_capture(&[(barrier, "|nobarrier\n"), (cache, "")])),
        [3; 4],
        "at risk and unproven"
    );
    let through = cache.replace("back", "through");
    assert_eq!(
        check_exit_codes(&modified_capture(&[(cache, &through)])),
        [3; 4],
        "contradictory"
    );
}
