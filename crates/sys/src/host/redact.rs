//! The filter for configuration files, command lines and environments: only allow-listed keys are
//! kept.
//!
//! Passwords occur in `primary_conninfo`, in options and devices of fstab, on command lines and in
//! environments, and an include can point at any file. Each source is therefore filtered by its own
//! syntax, and text that does not parse is dropped. Plain files are read only if listed, and only
//! content of the expected shape is kept.

mod device_mapper;
mod mysql;
mod last_values {
    //! Keeps only the last value of each key between two includes, because earlier values have no
    //! effect. The number of earlier lines is kept, so a key written a million times does not
    //! lengthen the answer.

    use std::collections::BTreeMap;

    use crate::host::{ConfigDirective, HostError, HostErrorKind};

    /// Limit on the settings kept per file; no real configuration has that many.
    const MAX_SETTINGS: usize = 2048;

    pub fn keep_last_values(
        settings: Vec<ConfigDirective>,
        is_include: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<ConfigDirective>, HostError> {
        let mut kept: Vec<ConfigDirective> = Vec::new();
        let mut after: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        // The settings are visited from the end, because each key stays at its last line. The order
        // matters, because two keys can name one setting (`loose_` of MySQL).
        for setting in settings.into_iter().rev() {
            if is_include(&setting.key) {
                after.clear();
            } else if let Some(last) = after.get(&setting.key).and_then(|at| kept.get_mut(*at)) {
                last.occurrences += 1;
                continue;
            } else {
                after.insert(setting.key.clone(), kept.len());
            }
            if kept.len() >= MAX_SETTINGS {
                let says =
                    format!("has more than {MAX_SETTINGS} settings and includes (walwise's limit)");
                return Err(HostError::new(HostErrorKind::Failed, says));
            }
            kept.push(setting);
        }
        kept.reverse();
        Ok(kept)
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        fn kept_rows(keys: &[&str]) -> Result<Vec<(u32, String, u32)>, HostError> {
            let settings = (1..)
                .zip(keys)
                .map(|(line, key)| ConfigDirective::new(line, *key, "x"))
                .collect();
            let kept = keep_last_values(settings, |key| key == b"include")?;
            Ok(kept
                .into_iter()
                .map(|s| (s.line, String::from_utf8(s.key).unwrap(), s.occurrences))
                .collect())
        }

        #[test]
        fn an_include_parts_what_stands_before_from_what_follows() {
            let row = |line, key: &str, times| (line, key.to_owned(), times);
            assert_eq!(
                kept_rows(&["a", "b", "a", "include", "a", "a"]).unwrap(),
                [
                    row(2, "b", 1),
                    row(3, "a", 2),
                    row(4, "include", 1),
                    row(6, "a", 2)
                ]
            );
        }

        #[test]
        fn a_bomb_is_small_or_refused() {
            assert_eq!(
                kept_rows(&vec!["fsync"; 100_000]).unwrap(),
                [(100_000, "fsync".to_owned(), 100_000)]
            );
            assert!(kept_rows(&vec!["include"; 100_000]).is_err());
        }

        proptest! {
            #[test]
            fn nothing_that_counts_is_lost(keys in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "include"]), 0..40)) {
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
                let kept = keep_last_values(all.clone(), |key| key == b"include").unwrap();
                prop_assert_eq!(values(&kept), values(&all));
                let times: u32 = kept.iter().map(|setting| setting.occurrences).sum();
                prop_assert_eq!(times as usize, keys.len());
            }
        }
    }
}
mod crypttab;
mod drbd;
mod kernel_parameters;
mod mount_options;
mod mounts;
mod plain_files;
mod postgres;
mod process;
mod service_unit;
mod standbys;
mod zfs;

use std::path::Path;

use super::{ConfigDialect, ConfigDirective, HostError, Tool};
pub use plain_files::{AZURE_CHASSIS, PlainFileKind};
pub use postgres::redact_value as postgres_value;
pub use process::{redact_command_line, redact_environment};

/// Reduces a configuration file to allow-listed settings. Fails if more settings remain than an
/// answer may hold.
pub fn redact_config(text: &[u8], dialect: ConfigDialect) -> Result<Vec<u8>, HostError> {
    config_with_key_check(text, dialect, &|_| false)
}

/// Like [`redact_config`], with `is_there` to check whether a key file exists. The answer has the
/// result of the check, never the path.
pub(crate) fn config_with_key_check(
    text: &[u8],
    dialect: ConfigDialect,
    is_there: &dyn Fn(&Path) -> bool,
) -> Result<Vec<u8>, HostError> {
    let settings = match dialect {
        ConfigDialect::Postgres => {
            last_values::keep_last_values(postgres::redact_settings(text), postgres::is_include)?
        }
        ConfigDialect::Mysql => {
            last_values::keep_last_values(mysql::redact_option_file(text), mysql::is_include)?
        }
        ConfigDialect::MysqlPersisted => mysql::redact_persisted_settings(text),
        ConfigDialect::Service => service_unit::redact_service_unit(text),
        ConfigDialect::Fstab => mounts::redact_fstab(text),
        ConfigDialect::MountUnit => mounts::redact_mount_unit(text),
        ConfigDialect::KernelCommandLine => kernel_parameters::redact_kernel_command_line(text),
        ConfigDialect::Crypttab => crypttab::redact_crypttab(text, is_there),
    };
    Ok(settings.iter().flat_map(ConfigDirective::encode).collect())
}

/// Returns the part of a program's output that is kept. Tables of device-mapper, which hold keys,
/// are reduced to kinds and counts; output of ZFS to pools, devices and the requested properties;
/// the configuration of DRBD to a few options; the control file of PostgreSQL to one line. Other
/// output is unchanged.
pub fn redact_program_output(tool: Tool, arguments: &[String], text: Vec<u8>) -> Vec<u8> {
    match (tool, arguments.first().map(String::as_str)) {
        (Tool::Dmsetup, Some("table")) => device_mapper::reduce_table(&text),
        (Tool::Dmsetup, _) => device_mapper::reduce_status(&text),
        (Tool::Drbdsetup, _) => drbd::reduce_show_output(&text),
        (Tool::Zpool, _) => zfs::reduce_pool_status(&text),
        (Tool::Zfs, _) => zfs::keep_known_properties(&text),
        (Tool::PgControldata(_), _) => postgres::redact_control_data(&text),
        _ => text,
    }
}

#[cfg(any(test, feature = "testing"))]
pub fn mapper_targets_with_retention() -> impl Iterator<Item = (&'static str, bool)> {
    device_mapper::TARGETS.iter().map(|(target, fields)| {
        (
            *target,
            matches!(fields, device_mapper::StatusRetention::Keep),
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A secret that is no part of any allow-listed name.
    const SECRET: &str = "Zk7hunter2";

    fn holds_secret(answer: &[u8]) -> bool {
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
        fn secrets_stay_in_configuration_files(lines in config_lines()) {
            for (dialect, joined) in [
                (ConfigDialect::Postgres, lines.join("\n")),
                (ConfigDialect::MountUnit, format!("[Mount]\n{}", lines.join("\n"))),
                (ConfigDialect::Mysql, format!("[client]\n{}\n[mysqld]\n{}", lines.join("\n"), lines.join("\n"))),
                (ConfigDialect::MysqlPersisted, lines.join("\n")),
                (ConfigDialect::Service, format!("[Service]\nExecStart=/bin/x {}\n{}", lines.join(" "), lines.join("\n"))),
                (ConfigDialect::Service, format!("[Service]\nEnvironment={}\n", lines.join(" "))),
            ] {
                let answer = redact_config(joined.as_bytes(), dialect).unwrap_or_default();
                prop_assert!(!holds_secret(&answer), "{dialect:?}: {}", String::from_utf8_lossy(&answer));
            }
        }

        #[test]
        fn secrets_stay_in_mount_options(keys in prop::collection::vec(unlisted_key(), 1..5)) {
            let options: Vec<String> = keys.iter().map(|key| format!("{key}={SECRET},noatime,{SECRET}")).collect();
            let line = format!("me:{SECRET}@host:/x /mnt cifs {}", options.join(","));
            prop_assert!(!holds_secret(&redact_config(line.as_bytes(), ConfigDialect::Fstab).unwrap()));
            prop_assert!(!holds_secret(&PlainFileKind::MountTable.redact(line.into_bytes()).unwrap()));
            let local: Vec<String> = keys.iter().map(|key| format!("{key}={SECRET},{SECRET},noatime")).collect();
            for fstype in ["ext4", "auto"] {
                let line = format!("/dev/sda1 /mnt {fstype} {}", local.join(","));
                prop_assert!(!holds_secret(&redact_config(line.as_bytes(), ConfigDialect::Fstab).unwrap()));
            }
            let crypt = format!("data /dev/sda1 /etc/{SECRET}.key luks,{SECRET},{}", options.join(","));
            prop_assert!(!holds_secret(&redact_config(crypt.as_bytes(), ConfigDialect::Crypttab).unwrap()));
            let kernel = format!("root=/dev/sda1 rootflags={} {SECRET} init={SECRET}", options.join(","));
            prop_assert!(!holds_secret(&redact_config(kernel.as_bytes(), ConfigDialect::KernelCommandLine).unwrap()));
        }

        #[test]
        fn secrets_stay_on_command_lines(
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
            prop_assert!(!holds_secret(&answer), "{}", String::from_utf8_lossy(&answer));
        }

        #[test]
        fn secrets_stay_in_environments(key in unlisted_key(), directory in "/[a-z]{1,8}") {
            let text = format!("{key}={SECRET}\0PGPASSWORD={SECRET}\0LD_PRELOAD=/{SECRET}/lib.so\0PGDATA={directory}\0");
            let answer = redact_environment(text.as_bytes());
            prop_assert!(!holds_secret(&answer));
            prop_assert_eq!(answer, format!("LD_PRELOAD=lib.so\nPGDATA={directory}\n").into_bytes());
        }

        #[test]
        fn secrets_stay_in_what_programs_print(
            before in "[ -~]{0,20}", after in "[ -~]{0,20}", property in unlisted_key(), tail in "[a-z]{1,8}",
        ) {
            let no = |tool, line: &str, text: &str| {
                let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
                holds_secret(&redact_program_output(tool, &words, text.as_bytes().to_vec()))
            };
            let status = format!("  pool: tank\nstatus: {before}{SECRET}\naction: {SECRET}\n  scan: {SECRET}\nconfig:\n\n\
                \ttank ONLINE 0 0 0 {before}{SECRET}\n\nerrors: {SECRET}\n\n        /tank/{SECRET}{after}\n");
            prop_assert!(!no(Tool::Zpool, "status -P", &status));
            let get = format!("tank\t{property}\t{SECRET}\ntank\tsync\tstandard\t{SECRET}\n{before}{SECRET}\n{tail} {SECRET}\n");
            prop_assert!(!no(Tool::Zfs, "get -Hp", &get));
        }

        #[test]
        fn a_bad_line_costs_itself(
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
        fn any_bytes_do_no_harm(text: Vec<u8>) {
            for dialect in ConfigDialect::ALL {
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
