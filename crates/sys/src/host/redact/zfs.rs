//! The output of zpool and zfs, reduced to pools, their devices, states, error counts and a few
//! properties (zpool-status(8), zfs-get(8)).
//!
//! Names of damaged files and the history of a pool are dropped. Indentation is kept, because it
//! alone shows the tree of a pool.

const PROPERTIES: [&str; 3] = ["sync", "logbias", "recordsize"];

/// Reduces `zpool status -P` to pool, state and damage, and to the tree under `config:` with its
/// indentation, names, states and error counts.
pub fn reduce_pool_status(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut in_tree = false;
    for line in text.split(|b| *b == b'\n') {
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        match words.as_slice() {
            [label @ (b"pool:" | b"state:"), name] => {
                in_tree = false;
                out.extend([*label, b" ", *name, b"\n"].concat());
            }
            [b"config:"] => in_tree = true,
            [label, rest @ ..] if in_tree && line.starts_with(b"\t") => {
                let indent = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
                out.extend([line.get(..indent).unwrap_or_default(), *label].concat());
                let counts = rest.iter().skip(1).take_while(|word| is_error_count(word));
                for word in rest.iter().take(1).chain(counts) {
                    out.extend([b" ", *word].concat());
                }
                out.push(b'\n');
            }
            [b"errors:", rest @ ..] => {
                in_tree = false;
                out.extend([b"errors: ", damage_word(rest), b"\n"].concat());
            }
            [] => {}
            _ => in_tree = false,
        }
    }
    out
}

/// Accepts counts that `zpool status` has shortened (`1.21K`), and the headings of the columns.
fn is_error_count(word: &[u8]) -> bool {
    let digits = word
        .strip_suffix(b"K")
        .or(word.strip_suffix(b"M"))
        .or(word.strip_suffix(b"G"))
        .unwrap_or(word);
    let is_number = !digits.is_empty() && digits.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    is_number || [&b"READ"[..], b"WRITE", b"CKSUM"].contains(&word)
}

/// Reduces the sentence about damaged data to one word (`print_error_log` and `print_status_config`
/// in cmd/zpool of OpenZFS).
fn damage_word(words: &[&[u8]]) -> &'static [u8] {
    match words {
        [b"none"] | [b"No", b"known", b"data", b"errors"] => b"none",
        [b"permanent"] | [b"Permanent", b"errors", ..] => b"permanent",
        [count, b"data", b"errors" | b"errors,", ..] if is_error_count(count) => b"permanent",
        _ => b"?",
    }
}

pub fn keep_known_properties(text: &[u8]) -> Vec<u8> {
    let known = |line: &&[u8]| {
        let fields: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
        matches!(fields.as_slice(), [_, property, _] if PROPERTIES.iter().any(|p| p.as_bytes() == *property))
    };
    text.split(|b| *b == b'\n')
        .filter(known)
        .flat_map(|line| [line, b"\n"].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_tree_and_known_properties_are_left() {
        let status = "  pool: tank\n state: DEGRADED\nstatus: One or more devices could not be used.\n\
            action: Replace the device.\n  scan: none requested\nconfig:\n\n\
            \tNAME             STATE     READ WRITE CKSUM\n\ttank             DEGRADED     0     0     0\n\
            \t  mirror-0       DEGRADED     0     0     0\n\t    /dev/sda1    ONLINE       0     0     0\n\
            \t    12345678901  UNAVAIL      0 1.21K     0  was /dev/sdb1\n\nerrors: Permanent errors have been detected in the \
            following files:\n\n        /tank/secret\n";
        let expect = "pool: tank\nstate: DEGRADED\n\tNAME STATE READ WRITE CKSUM\n\ttank DEGRADED 0 0 0\n\
            \t  mirror-0 DEGRADED 0 0 0\n\t    /dev/sda1 ONLINE 0 0 0\n\t    12345678901 UNAVAIL 0 1.21K 0\nerrors: permanent\n";
        assert_eq!(
            String::from_utf8(reduce_pool_status(status.as_bytes())).unwrap(),
            expect
        );
        let get = "tank\tsync\tstandard\ntank\tkeylocation\tfile:///root/key\ntank/pg\trecordsize\t131072\nx\n";
        assert_eq!(
            keep_known_properties(get.as_bytes()),
            b"tank\tsync\tstandard\ntank/pg\trecordsize\t131072\n"
        );
    }

    #[test]
    fn the_sentence_about_damaged_data_becomes_a_word() {
        for (sentence, word) in [
            ("No known data errors", "none"),
            ("1 data errors, use '-v' for a list", "permanent"),
            ("1.2K data errors, use '-v' for a list", "permanent"),
            (
                "Permanent errors have been detected in the following files:",
                "permanent",
            ),
            ("List of errors unavailable: permission denied", "?"),
            ("", "?"),
        ] {
            let left = reduce_pool_status(format!("errors: {sentence}\n").as_bytes());
            assert_eq!(left, format!("errors: {word}\n").as_bytes(), "{sentence}");
            assert_eq!(reduce_pool_status(&left), left);
        }
    }

    proptest! {
        #[test]
        fn reducing_twice_is_reducing_once(text in "([ \\t]{0,4}(pool:|state:|config:|errors:|[a-z/0-9-]{1,8})( [A-Z]{1,6})?\\n){0,12}", bad in "[^\n]{0,20}") {
            let once = keep_known_properties(text.as_bytes());
            prop_assert_eq!(keep_known_properties(&once), once);
            let lines = format!("a\tsync\talways\n{bad}\nb\tsync\tdisabled\n");
            let left = keep_known_properties(lines.as_bytes());
            prop_assert!(left.starts_with(b"a\tsync\talways\n") && left.ends_with(b"b\tsync\tdisabled\n"));
            let most = reduce_pool_status(text.as_bytes());
            let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
            prop_assert!(most.split(|b| *b == b'\n').all(|line| words(line) <= 5));
        }
    }
}
