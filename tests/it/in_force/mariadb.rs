//! MariaDB: option files, includes, the command line and SET GLOBAL, with and without a restart.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use serde_json::{Value, json};

use super::{Viewer, ViewerReport, assert_views_agree, command_as_stranger};
use crate::support::mariadb::Mariadb;
use crate::support::programs::copy_walwise_into;
use crate::support::{run, walwise};

/// Settings that affect durability: name, two values, whether SET GLOBAL accepts the setting, and
/// the fact.
const SETTINGS: [(&str, &str, &str, bool, &str); 3] = [
    (
        "innodb_flush_log_at_trx_commit",
        "2",
        "1",
        true,
        "mysql.innodb_flush_log_at_trx_commit",
    ),
    ("sync_binlog", "0", "1", true, "mysql.sync_binlog"),
    (
        "innodb_doublewrite",
        "OFF",
        "ON",
        false,
        "mysql.innodb_doublewrite",
    ),
];

#[derive(Clone, Copy, Debug)]
enum SettingSource {
    File,
    CommandLine,
    SetGlobal,
}

fn option_lines(other: bool) -> String {
    let line = |(name, one, two, _, _): &(&str, &str, &str, bool, &str)| {
        format!("{name} = {}\n", if other { two } else { one })
    };
    format!(
        "[mysqld]\nlog-bin = bin\n{}",
        SETTINGS.iter().map(line).collect::<String>()
    )
}

fn apply_settings_through_source(server: &mut Mariadb, place: SettingSource, other: bool) {
    match place {
        SettingSource::File => server.write_option_file("conf.d/storage.cnf", &option_lines(other)),
        SettingSource::CommandLine => {
            let option = |(name, one, two, _, _): &(&str, &str, &str, bool, &str)| {
                format!(
                    "--{}={}",
                    name.replace('_', "-"),
                    if other { two } else { one }
                )
            };
            server.arguments = SETTINGS.iter().map(option).collect();
        }
        SettingSource::SetGlobal => {
            for (name, one, two, _, _) in SETTINGS.iter().filter(|(_, _, _, dynamic, _)| *dynamic) {
                let value = if other { two } else { one };
                server.sql(&format!("SET GLOBAL {name} = {value}")).unwrap();
            }
        }
    }
}

fn server_values(server: &Mariadb) -> BTreeMap<&'static str, Value> {
    let row = |(name, _, _, _, fact): &(&'static str, _, _, _, &'static str)| {
        let said = server
            .sql(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))
            .unwrap();
        let value = said.split('\t').nth(1).unwrap().to_owned();
        (
            *fact,
            value
                .parse::<u64>()
                .map_or_else(|_| json!(value.to_lowercase()), |number| json!(number)),
        )
    };
    SETTINGS.iter().map(row).collect()
}

fn reports_of_all_viewers(server: &Mariadb) -> BTreeMap<Viewer, ViewerReport> {
    let program = copy_walwise_into(server.temporary_directory());
    let id = |flag| run("id", &[flag, "mysql"]).trim().parse().unwrap();
    let mut owner = Command::new(&program);
    owner
        .uid(id("-u"))
        .gid(id("-g"))
        .current_dir("/")
        .env_clear()
        .env("LC_ALL", "C.UTF-8");
    let commands = [
        (Viewer::Root, walwise()),
        (Viewer::Owner, owner),
        (Viewer::Stranger, command_as_stranger(&program)),
    ];
    commands
        .into_iter()
        .map(|(viewer, command)| (viewer, ViewerReport::from_check(&server.data, command)))
        .collect()
}

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn all_viewers_report_mariadb_values_from_every_source() {
    let place = tempfile::tempdir().unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()]);
    let mut server = Mariadb::new_below(place.path(), &option_lines(true));
    server.start();
    let mut other = true;
    for place in [
        SettingSource::File,
        SettingSource::SetGlobal,
        SettingSource::CommandLine,
    ] {
        for restart in [false, true] {
            other = !other;
            apply_settings_through_source(&mut server, place, other);
            if restart {
                server.restart_without_ctime_gap();
            }
            let row = format!("{place:?}, restarted: {restart}");
            let sights = reports_of_all_viewers(&server);
            let shows = server_values(&server);
            assert_views_agree(&row, &server.data, &sights, &shows);
            for fact in shows.keys() {
                assert!(
                    sights[&Viewer::Root].known_value(fact).is_some(),
                    "{row}: root is told {fact}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs root, a mount name space and MariaDB 10.11"]
fn unresponsive_server_is_never_misreported() {
    let place = tempfile::tempdir().unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()]);
    let mut server = Mariadb::new_below(place.path(), &option_lines(true));
    let look_at = |row: &str, server: &Mariadb| {
        let shows = server_values(server);
        assert_views_agree(row, &server.data, &reports_of_all_viewers(server), &shows);
        kill(server.server_pid(), Signal::SIGSTOP).unwrap();
        let sights = reports_of_all_viewers(server);
        kill(server.server_pid(), Signal::SIGCONT).unwrap();
        assert_views_agree(
            &format!("{row}, stopped by a signal"),
            &server.data,
            &sights,
            &shows,
        );
        // A value set at run time is in no file.
        server.sql("SET GLOBAL sync_binlog = 0").unwrap();
        let shows = server_values(server);
        kill(server.server_pid(), Signal::SIGSTOP).unwrap();
        let sights = reports_of_all_viewers(server);
        kill(server.server_pid(), Signal::SIGCONT).unwrap();
        for (viewer, sight) in &sights {
            let known = sight.known_value("mysql.sync_binlog");
            assert!(
                known.is_none_or(|known| *known == shows["mysql.sync_binlog"]),
                "{row}: {viewer:?}"
            );
            assert_ne!(
                sight.best_database_evidence(&server.data),
                "durable",
                "{row}: {viewer:?}"
            );
        }
    };
    server.restart_without_ctime_gap();
    look_at("as it is", &server);
    server.mount_data_elsewhere();
    server.restart_without_ctime_gap();
    look_at("in a mount name space of its own", &server);
}
