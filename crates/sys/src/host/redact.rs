//! The filter for configuration files, command lines and environments: only allow-listed keys are
//! kept.
//!
//! Passwords occur in `primary_conninfo`, in options and devices of fstab, on command lines and in
//! environments, and an include can point at any file. Each source is therefore filtered by its own
//! syntax, and text that does not parse is dropped. Plain files are read only if listed, and only
//! content of the expected shape is kept.

mod device_mapper;
mod drbd;
mod kernel_parameters;
mod mount_options;
mod mounts;
mod mysql;
mod plain_files;
pub(crate) mod postgres;
mod process;
mod service_unit;
mod standbys;

use std::collections::BTreeMap;
use std::path::Path;

use mount_options::names_local_disk;
use mounts::completeness_word;

use crate::text::bytes::{lines, split_ascii_whitespace};

use super::{ConfigDialect, ConfigDirective, HostError, HostResult, Tool};
use crate::host::{is_in_word_list, path_from_bytes};

pub use plain_files::{AZURE_CHASSIS, PlainFileKind};
pub(crate) use process::{redact_command_line, redact_environment};

/// Reduces a configuration file to allow-listed settings. Fails if more settings remain than an
/// answer may hold.
pub fn redact_config(text: &[u8], dialect: ConfigDialect) -> HostResult {
    redact_config_with_key_check(text, dialect, &|_| false)
}

/// Like [`redact_config`], with `is_there` to check whether a key file exists. The answer has the
/// result of the check, never the path.
pub(crate) fn redact_config_with_key_check(
    text: &[u8],
    dialect: ConfigDialect,
    is_there: &dyn Fn(&Path) -> bool,
) -> HostResult {
    let settings = match dialect {
        ConfigDialect::Postgres => {
            keep_last_value_of_each_setting(postgres::redact_postgresql_conf(text))?
        }
        ConfigDialect::Mysql => keep_last_value_of_each_setting(mysql::redact_option_file(text))?,
        ConfigDialect::MysqlPersisted => mysql::redact_persisted_settings(text),
        ConfigDialect::Service => service_unit::redact_service_unit(text),
        ConfigDialect::Fstab => mounts::redact_fstab(text),
        ConfigDialect::MountUnit => mounts::redact_mount_unit(text),
        ConfigDialect::KernelCommandLine => kernel_parameters::redact_kernel_command_line(text),
        ConfigDialect::Crypttab => redact_crypttab(text, is_there),
    };
    Ok(settings.iter().flat_map(ConfigDirective::encode).collect())
}

/// The part of a program's output that is kept. Tables of device-mapper hold keys and are reduced
/// to target types and offsets. Of ZFS, pools, devices and the requested properties are kept, of
/// DRBD a few options, of PostgreSQL's control file one line. Other output is unchanged.
pub fn redact_program_output(tool: Tool, arguments: &[String], text: Vec<u8>) -> Vec<u8> {
    match (tool, arguments.first().map(String::as_str)) {
        (Tool::Dmsetup, Some("table")) => device_mapper::redact_table(&text),
        (Tool::Dmsetup, _) => device_mapper::redact_status(&text),
        (Tool::Drbdsetup, _) => drbd::redact_show_output(&text),
        (Tool::Zpool, _) => redact_zpool_status(&text),
        (Tool::Zfs, _) => redact_zfs_properties(&text),
        (Tool::PgControldata(_), _) => postgres::redact_control_data(&text),
        _ => text,
    }
}

#[cfg(any(test, feature = "testing"))]
pub fn mapper_targets_with_retention() -> impl Iterator<Item = (&'static str, bool)> {
    let targets = |list: &'static str, keeps| list.split(' ').map(move |target| (target, keeps));
    targets(device_mapper::TARGETS_WITH_STATUS, true)
        .chain(targets(device_mapper::OTHER_TARGETS, false))
}

/// The text before and after the first such byte.
fn split_once_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|b| *b == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

// Keeps only the last value of each key between two includes, because earlier values have no
// effect. The number of earlier lines is kept, so a key written a million times does not
// lengthen the answer.

/// Limit on the settings kept per file; no real configuration has that many.
const MAX_SETTINGS: usize = 2048;

fn keep_last_value_of_each_setting(
    settings: Vec<ConfigDirective>,
) -> Result<Vec<ConfigDirective>, HostError> {
    let mut kept: Vec<ConfigDirective> = Vec::new();
    let mut after: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    // The settings are visited from the end, because each key stays at its last line. The order
    // matters, because two keys can name one setting (`loose_` of MySQL).
    for setting in settings.into_iter().rev() {
        // No setting that is kept begins with this word.
        if setting.key.starts_with(b"include") {
            after.clear();
        } else if let Some(last) = after.get(&setting.key).and_then(|at| kept.get_mut(*at)) {
            last.occurrences += 1;
            continue;
        } else {
            after.insert(setting.key.clone(), kept.len());
        }
        if kept.len() >= MAX_SETTINGS {
            let says =
                format!("has more than {MAX_SETTINGS} settings and includes, the limit of walwise");
            return Err(HostError::failed(says));
        }
        kept.push(setting);
    }
    kept.reverse();
    Ok(kept)
}

// The output of zpool and zfs, reduced to pools, their devices, states, error counts and a few
// properties (zpool-status(8), zfs-get(8)).
//
// Names of damaged files and the history of a pool are dropped. Indentation is kept, because it
// alone shows the tree of a pool.

const PROPERTIES: [&str; 3] = ["sync", "logbias", "recordsize"];

/// Reduces `zpool status -P` to pool, state and damage, and to the tree under `config:` with its
/// indentation, names, states and error counts.
fn redact_zpool_status(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut in_tree = false;
    for line in lines(text) {
        let words: Vec<&[u8]> = split_ascii_whitespace(line).collect();
        match words.as_slice() {
            [label @ (b"pool:" | b"state:"), name] => {
                in_tree = false;
                out.extend([*label, b" ", *name, b"\n"].concat());
            }
            [b"config:"] => in_tree = true,
            [label, rest @ ..] if in_tree && line.starts_with(b"\t") => {
                let indent = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
                out.extend([line.get(..indent).unwrap_or_default(), *label].concat());
                let counts = rest
                    .iter()
                    .skip(1)
                    .take_while(|word| is_error_count_or_heading(word));
                for word in rest.iter().take(1).chain(counts) {
                    out.extend([b" ", *word].concat());
                }
                out.push(b'\n');
            }
            [b"errors:", rest @ ..] => {
                in_tree = false;
                out.extend([b"errors: ", zpool_damage_state(rest), b"\n"].concat());
            }
            [] => {}
            _ => in_tree = false,
        }
    }
    out
}

/// Accepts counts that `zpool status` has shortened (`1.21K`), and the headings of the columns.
fn is_error_count_or_heading(word: &[u8]) -> bool {
    let digits = match word {
        [digits @ .., b'K' | b'M' | b'G'] => digits,
        word => word,
    };
    let is_number = !digits.is_empty() && digits.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    is_number || [&b"READ"[..], b"WRITE", b"CKSUM"].contains(&word)
}

/// Reduces the sentence about damaged data to one word (`print_error_log` and `print_status_config`
/// in cmd/zpool of OpenZFS).
fn zpool_damage_state(words: &[&[u8]]) -> &'static [u8] {
    match words {
        [b"none"] | [b"No", b"known", b"data", b"errors"] => b"none",
        [b"permanent"] | [b"Permanent", b"errors", ..] => b"permanent",
        [count, b"data", b"errors" | b"errors,", ..] if is_error_count_or_heading(count) => {
            b"permanent"
        }
        _ => b"?",
    }
}

fn redact_zfs_properties(text: &[u8]) -> Vec<u8> {
    let known = |line: &&[u8]| {
        let fields: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
        matches!(fields.as_slice(), [_, property, _] if PROPERTIES.iter().any(|p| p.as_bytes() == *property))
    };
    lines(text)
        .filter(known)
        .flat_map(|line| [line, b"\n"].concat())
        .collect()
}

// Encrypted devices that the boot unlocks: crypttab(5).
//
// For a key, the answer has only its kind and whether its file exists, never the path. Options are
// kept only if known, and their values only if these are numbers, algorithms or file system types.
// Each line is marked complete or not. A line that lost an option or a value, such as the path of
// a header, is incomplete.

/// Options that are kept with their values, which are algorithms, file systems and numbers.
const OPTIONS_WITH_VALUE: &str =
    "cipher hash key-slot sector-size size timeout tmp tries x-systemd.device-timeout";

/// Options that are kept without a value; a value makes the line incomplete.
const OPTIONS_WITHOUT_VALUE: &str = "_netdev bitlk discard fido2-device header initramfs keyfile-erase keyscript loud luks \
    no-read-workqueue no-write-workqueue noauto noearly nofail plain readonly same-cpu-crypt \
    submit-from-crypt-cpus swap tcrypt tpm2-device x-initrd.attach";

/// Reduces crypttab to one directive per line, whose key is the device's name. The value holds the
/// underlying device, the kind of key, the options and completeness, separated by tabs. `is_there`
/// checks whether a key file exists.
fn redact_crypttab(text: &[u8], is_there: &dyn Fn(&Path) -> bool) -> Vec<ConfigDirective> {
    let row = |(number, line): (u32, &[u8])| {
        let mut fields = split_ascii_whitespace(line);
        let name = fields.next().filter(|name| !name.starts_with(b"#"))?;
        let device = fields.next()?;
        let device = if names_local_disk(device) {
            device
        } else {
            b"file"
        };
        let key: &[u8] = match fields.next() {
            None | Some(b"none" | b"-") => b"none",
            Some(b"/dev/urandom" | b"/dev/random") => b"random",
            Some(key) if key.starts_with(b"/") && is_there(&path_from_bytes(key.to_vec())) => {
                b"there"
            }
            Some(_) => b"file",
        };
        let written = fields
            .next()
            .filter(|written| !matches!(*written, b"none" | b"-"))
            .unwrap_or_default();
        let spilled = fields.next().is_some_and(|more| !more.starts_with(b"#"));
        let options: Vec<&[u8]> = written
            .split(|b| *b == b',')
            .filter(|option| !option.is_empty())
            .collect();
        let kept: Vec<Vec<u8>> = options
            .iter()
            .copied()
            .filter_map(redact_crypttab_option)
            .collect();
        let all = !spilled && kept == options;
        Some(ConfigDirective::new(
            number,
            name,
            [device, key, &kept.join(&b',')[..], completeness_word(all)].join(&b'\t'),
        ))
    };
    (1..).zip(lines(text)).filter_map(row).collect()
}

fn redact_crypttab_option(written: &[u8]) -> Option<Vec<u8>> {
    let name = written.split(|b| *b == b'=').next().unwrap_or_default();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"=-:_.".contains(b);
    if is_in_word_list(OPTIONS_WITH_VALUE, name) && written.len() <= 60 && written.iter().all(plain)
    {
        return Some(written.to_vec());
    }
    (is_in_word_list(OPTIONS_WITHOUT_VALUE, name) || is_in_word_list(OPTIONS_WITH_VALUE, name))
        .then(|| name.to_vec())
}

#[cfg(test)]
mod crypttab_tests {
    use super::*;

    #[test]
    fn crypttab_key_paths_are_removed() {
        let text = "# name device key options\n\
            data UUID=1-2 /root/secret.key luks,discard,x-initrd.attach,nofail\n\
            swap /dev/sda3 /dev/urandom swap,cipher=aes-xts-plain64,size=512\n\
            old /dev/sdb1 none plain,header=/root/header\n\
            file /var/me.img\n\
            broken\n\
            kept UUID=1-2 /root/kept.key luks,tries=3\n\
            script UUID=1-2 /root/kept.key luks,keyscript=/lib/gone\n\
            more UUID=1-2 none luks nofail\n\
            said UUID=1-2 none luks # nofail\n\
            hardware /dev/sda3 /dev/hw_random swap,,frobnicate\n";
        let rows: Vec<(u32, String, String)> =
            redact_crypttab(text.as_bytes(), &|key| key.ends_with("kept.key"))
                .into_iter()
                .map(|row| {
                    (
                        row.line,
                        String::from_utf8(row.key).unwrap(),
                        String::from_utf8(row.value).unwrap(),
                    )
                })
                .collect();
        let row = |line, name: &str, value: &str| (line, name.to_owned(), value.to_owned());
        assert_eq!(
            rows,
            [
                row(
                    2,
                    "data",
                    "UUID=1-2\tfile\tluks,discard,x-initrd.attach,nofail\twhole"
                ),
                row(
                    3,
                    "swap",
                    "/dev/sda3\trandom\tswap,cipher=aes-xts-plain64,size=512\twhole"
                ),
                row(4, "old", "/dev/sdb1\tnone\tplain,header\tpart"),
                row(5, "file", "file\tnone\t\twhole"),
                row(7, "kept", "UUID=1-2\tthere\tluks,tries=3\twhole"),
                row(8, "script", "UUID=1-2\tthere\tluks,keyscript\tpart"),
                row(9, "more", "UUID=1-2\tnone\tluks\tpart"),
                row(10, "said", "UUID=1-2\tnone\tluks\twhole"),
                row(11, "hardware", "/dev/sda3\tfile\tswap\tpart"),
            ]
        );
    }
}

#[cfg(test)]
mod zfs_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pool_tree_and_known_zfs_properties_are_kept() {
        let status = "  pool: tank\n state: DEGRADED\nstatus: One or more devices could not be used.\n\
            action: Replace the device.\n  scan: none requested\nconfig:\n\n\
            \tNAME             STATE     READ WRITE CKSUM\n\ttank             DEGRADED     0     0     0\n\
            \t  mirror-0       DEGRADED     0     0     0\n\t    /dev/sda1    ONLINE       0     0     0\n\
            \t    12345678901  UNAVAIL      0 1.21K     0  was /dev/sdb1\n\nerrors: Permanent errors have been detected in the \
            following files:\n\n        /tank/secret\n";
        let expect = "pool: tank\nstate: DEGRADED\n\tNAME STATE READ WRITE CKSUM\n\ttank DEGRADED 0 0 0\n\
            \t  mirror-0 DEGRADED 0 0 0\n\t    /dev/sda1 ONLINE 0 0 0\n\t    12345678901 UNAVAIL 0 1.21K 0\nerrors: permanent\n";
        assert_eq!(
            String::from_utf8(redact_zpool_status(status.as_bytes())).unwrap(),
            expect
        );
        let get = "tank\tsync\tstandard\ntank\tkeylocation\tfile:///root/key\ntank/pg\trecordsize\t131072\nx\n";
        assert_eq!(
            redact_zfs_properties(get.as_bytes()),
            b"tank\tsync\tstandard\ntank/pg\trecordsize\t131072\n"
        );
    }

    #[test]
    fn zpool_errors_sentence_is_reduced_to_damage_state() {
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
            let left = redact_zpool_status(format!("errors: {sentence}\n").as_bytes());
            assert_eq!(left, format!("errors: {word}\n").as_bytes(), "{sentence}");
            assert_eq!(redact_zpool_status(&left), left);
        }
    }

    proptest! {
        #[test]
        fn zfs_property_reduction_is_idempotent(text in "([ \\t]{0,4}(pool:|state:|config:|errors:|[a-z/0-9-]{1,8})( [A-Z]{1,6})?\\n){0,12}", bad in "[^\n]{0,20}") {
            let once = redact_zfs_properties(text.as_bytes());
            prop_assert_eq!(redact_zfs_properties(&once), once);
            let lines = format!("a\tsync\talways\n{bad}\nb\tsync\tdisabled\n");
            let left = redact_zfs_properties(lines.as_bytes());
            prop_assert!(left.starts_with(b"a\tsync\talways\n") && left.ends_with(b"b\tsync\tdisabled\n"));
            let most = redact_zpool_status(text.as_bytes());
            let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
            prop_assert!(most.split(|b| *b == b'\n').all(|line| words(line) <= 5));
        }
    }
}

#[cfg(test)]
mod last_values_tests {
    use proptest::prelude::*;

    use super::*;

    fn last_directives(keys: &[&str]) -> Result<Vec<(u32, String, u32)>, HostError> {
        let settings = (1..)
            .zip(keys)
            .map(|(line, key)| ConfigDirective::new(line, *key, "x"))
            .collect();
        let kept = keep_last_value_of_each_setting(settings)?;
        Ok(kept
            .into_iter()
            .map(|s| (s.line, String::from_utf8(s.key).unwrap(), s.occurrences))
            .collect())
    }

    #[test]
    fn last_values_are_kept_per_section_between_includes() {
        let row = |line, key: &str, times| (line, key.to_owned(), times);
        assert_eq!(
            last_directives(&["a", "b", "a", "include", "a", "a"]).unwrap(),
            [
                row(2, "b", 1),
                row(3, "a", 2),
                row(4, "include", 1),
                row(6, "a", 2)
            ]
        );
    }

    #[test]
    fn repeated_settings_collapse_and_many_includes_fail() {
        assert_eq!(
            last_directives(&vec!["fsync"; 100_000]).unwrap(),
            [(100_000, "fsync".to_owned(), 100_000)]
        );
        assert!(last_directives(&vec!["include"; 100_000]).is_err());
    }

    proptest! {
        #[test]
        fn effective_values_and_counts_are_preserved(keys in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "include"]), 0..40)) {
            let all: Vec<ConfigDirective> = (1..).zip(&keys).map(|(line, key)| ConfigDirective::new(line, *key, line.to_string())).collect();
            let values = |settings: &[ConfigDirective]| {
                let (mut now, mut at_include) = (BTreeMap::new(), Vec::new());
                for setting in settings {
                    if setting.key == b"include" {
                        at_include.push(now.clone());
                    }
                    now.insert(setting.key.clone(), setting.value.clone());
                }
                (now, at_include)
            };
            let kept = keep_last_value_of_each_setting(all.clone()).unwrap();
            prop_assert_eq!(values(&kept), values(&all));
            let times: u32 = kept.iter().map(|setting| setting.occurrences).sum();
            prop_assert_eq!(times as usize, keys.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use walwise_model::facts::Choice as _;

    /// A secret that is no part of any allow-listed name.
    const SECRET: &str = "Zk7hunter2";

    fn contains_secret(answer: &[u8]) -> bool {
        answer
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes())
    }

    fn unlisted_key() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("primary_conninfo".to_owned()),
            Just("password".to_owned()),
            Just("archive_command".to_owned()),
            Just("credentials".to_owned()),
            "[yz][a-z_]{2,12}",
        ]
    }

    fn config_lines() -> impl Strategy<Value = Vec<String>> {
        let known = prop::sample::select(vec![
            "fsync",
            "include",
            "What",
            "[Mount]",
            "rootflags",
            "root",
            "port",
            "datadir",
            "!include",
            "[mysqld]",
            "[Service]",
            "-D",
            "PGDATA",
        ]);
        let sep = prop::sample::select(vec!["=", " = ", " ", "='", "=\""]);
        let other = (known, sep, "[ -\\[\\]-~]{0,12}").prop_map(|(k, s, v)| format!("{k}{s}{v}"));
        // The answer must not contain the secret, even if the previous line leaves a quote open.
        let secret = (
            unlisted_key(),
            prop::sample::select(vec!["=", " = ", " "]),
            "['\"]?",
        )
            .prop_map(|(k, s, q)| format!("{k}{s}{q}{SECRET}{q}"));
        prop::collection::vec(prop_oneof![other, secret], 1..8)
    }

    proptest! {
        #[test]
        fn no_secret_leaks_from_configuration_files(lines in config_lines()) {
            for (dialect, joined) in [
                (ConfigDialect::Postgres, lines.join("\n")),
                (ConfigDialect::MountUnit, format!("[Mount]\n{}", lines.join("\n"))),
                (ConfigDialect::Mysql, format!("[client]\n{}\n[mysqld]\n{}", lines.join("\n"), lines.join("\n"))),
                (ConfigDialect::MysqlPersisted, lines.join("\n")),
                (ConfigDialect::Service, format!("[Service]\nExecStart=/bin/x {}\n{}", lines.join(" "), lines.join("\n"))),
                (ConfigDialect::Service, format!("[Service]\nEnvironment={}\n", lines.join(" "))),
            ] {
                let answer = redact_config(joined.as_bytes(), dialect).unwrap_or_default();
                prop_assert!(!contains_secret(&answer), "{dialect:?}: {}", String::from_utf8_lossy(&answer));
            }
        }

        #[test]
        fn no_secret_leaks_from_mount_options(keys in prop::collection::vec(unlisted_key(), 1..5)) {
            let options: Vec<String> = keys.iter().map(|key| format!("{key}={SECRET},noatime,{SECRET}")).collect();
            let line = format!("me:{SECRET}@host:/x /mnt cifs {}", options.join(","));
            prop_assert!(!contains_secret(&redact_config(line.as_bytes(), ConfigDialect::Fstab).unwrap()));
            prop_assert!(!contains_secret(&PlainFileKind::MountTable.redact(line.into_bytes()).unwrap()));
            let local: Vec<String> = keys.iter().map(|key| format!("{key}={SECRET},{SECRET},noatime")).collect();
            for fstype in ["ext4", "auto"] {
                let line = format!("/dev/sda1 /mnt {fstype} {}", local.join(","));
                prop_assert!(!contains_secret(&redact_config(line.as_bytes(), ConfigDialect::Fstab).unwrap()));
            }
            let crypt = format!("data /dev/sda1 /etc/{SECRET}.key luks,{SECRET},{}", options.join(","));
            prop_assert!(!contains_secret(&redact_config(crypt.as_bytes(), ConfigDialect::Crypttab).unwrap()));
            let kernel = format!("root=/dev/sda1 rootflags={} {SECRET} init={SECRET}", options.join(","));
            prop_assert!(!contains_secret(&redact_config(kernel.as_bytes(), ConfigDialect::KernelCommandLine).unwrap()));
        }

        #[test]
        fn no_secret_leaks_from_command_lines(
            words in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec!["-D", "-c", "-i", "-F", "--datadir"]).prop_map(str::to_owned),
                    "-[a-zA-Z]{1,3}",
                    "--[a-z]{1,6}=x",
                    unlisted_key().prop_map(|key| format!("--{key}={SECRET}")),
                    unlisted_key().prop_map(|key| format!("-c{key}={SECRET}")),
                    unlisted_key().prop_map(|key| format!("-c\0{key}={SECRET}")),
                ],
                0..8,
            ),
            program in prop::sample::select(vec!["/bin/postgres", "mysqld"]),
        ) {
            let line = format!("{program}\0{}\0", words.join("\0"));
            let answer = redact_command_line(line.as_bytes());
            prop_assert!(!contains_secret(&answer), "{}", String::from_utf8_lossy(&answer));
        }

        #[test]
        fn no_secret_leaks_from_environments(key in unlisted_key(), directory in "/[a-z]{1,8}") {
            let text = format!("{key}={SECRET}\0PGPASSWORD={SECRET}\0LD_PRELOAD=/{SECRET}/lib.so\0PGDATA={directory}\0");
            let answer = redact_environment(text.as_bytes());
            prop_assert!(!contains_secret(&answer));
            prop_assert_eq!(answer, format!("LD_PRELOAD=lib.so\nPGDATA={directory}\n").into_bytes());
        }

        #[test]
        fn no_secret_leaks_from_program_output(
            before in "[ -~]{0,20}", after in "[ -~]{0,20}", property in unlisted_key(), tail in "[a-z]{1,8}",
        ) {
            let no = |tool, line: &str, text: &str| {
                let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
                contains_secret(&redact_program_output(tool, &words, text.as_bytes().to_vec()))
            };
            let status = format!("  pool: tank\nstatus: {before}{SECRET}\naction: {SECRET}\n  scan: {SECRET}\nconfig:\n\n\
                \ttank ONLINE 0 0 0 {before}{SECRET}\n\nerrors: {SECRET}\n\n        /tank/{SECRET}{after}\n");
            prop_assert!(!no(Tool::Zpool, "status -P", &status));
            let get = format!("tank\t{property}\t{SECRET}\ntank\tsync\tstandard\t{SECRET}\n{before}{SECRET}\n{tail} {SECRET}\n");
            prop_assert!(!no(Tool::Zfs, "get -Hp", &get));
        }

        #[test]
        fn malformed_line_affects_no_other_setting(
            bad in prop::collection::vec(any::<u8>().prop_filter("one line", |b| !matches!(b, b'\n' | b'\\')), 0..40)
        ) {
            // A heading would move the next line into another section.
            prop_assume!(!bad.trim_ascii().starts_with(b"["));
            for (dialect, head, good) in [
                (ConfigDialect::Postgres, "", ["fsync = off", "commit_delay = 10"]),
                (ConfigDialect::Mysql, "[mysqld]\n", ["datadir = /a", "sync_binlog = 1"]),
                (ConfigDialect::Service, "[Service]\n", ["User=pg", "Environment=PGDATA=/a"]),
                (ConfigDialect::Fstab, "", ["/dev/sda1 /a ext4 noatime 0 0", "/dev/sda2 /b xfs defaults 0 0"]),
                (ConfigDialect::MountUnit, "[Mount]\n", ["Type=ext4", "Where=/a"]),
                (ConfigDialect::Crypttab, "", ["a /dev/sda1 none luks", "b UUID=1 /key discard"]),
            ] {
                let settings = |lines: &[&[u8]]| {
                    let answer = redact_config(&[head.as_bytes(), &lines.join(&b'\n')].concat(), dialect).unwrap();
                    let line = |line: &[u8]| line.splitn(2, |b| *b == b'\t').nth(1).map(<[u8]>::to_vec);
                    // A bad line in a mount unit may be a second value, and the unit then counts as
                    // incomplete.
                    let one = |setting: &Vec<u8>| !setting.starts_with(b"kept\t");
                    answer.split(|b| *b == b'\n').filter_map(line).filter(one).collect::<Vec<_>>()
                };
                let [first, last] = good.map(str::as_bytes);
                let (clean, noisy) = (settings(&[first, last]), settings(&[first, &bad, last]));
                prop_assert_eq!(clean.len(), 2, "{:?}", dialect);
                for setting in &clean {
                    prop_assert!(noisy.contains(setting), "{dialect:?}");
                }
            }
        }

        #[test]
        fn redaction_never_panics(text: Vec<u8>) {
            for &dialect in ConfigDialect::ALL {
                let _ = redact_config(&text, dialect);
            }
            for &tool in Tool::FIXED {
                redact_program_output(tool, &[], text.clone());
                redact_program_output(tool, &["table".to_owned()], text.clone());
            }
            redact_command_line(&text);
            redact_environment(&text);
            let _ = PlainFileKind::Pid.redact(text.clone());
            let _ = PlainFileKind::MountTable.redact(text);
        }
    }
}
