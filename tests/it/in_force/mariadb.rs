//! MariaDB: files, includes, the command line and SET GLOBAL, with and without a restart.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use serde_json::{Value, json};

use super::{Sight, Viewer, agree, stranger};
use crate::support::mariadb::Mariadb;
use crate::support::programs::copy_of_walwise;
use crate::support::{run, walwise};

/// The settings that decide durability, with two values of each, whether SET GLOBAL takes it, and
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

/// Where a value can stand.
#[derive(Clone, Copy, Debug)]
enum Place {
    File,
    CommandLine,
    SetGlobal,
}

fn lines(other: bool) -> String {
    let line = |(name, one, two, _, _): &(&str, &str, &str, bool, &str)| {
        format!("{name} = {}\n", if other { two } else { one })
    };
    format!(
        "[mysqld]\nlog-bin = bin\n{}",
        SETTINGS.iter().map(line).collect::<String>()
    )
}

fn write(server: &mut Mariadb, place: Place, other: bool) {
    match place {
        Place::File => server.write("conf.d/storage.cnf", &lines(other)),
        Place::CommandLine => {
            let option = |(name, one, two, _, _): &(&str, &str, &str, bool, &str)| {
                format!(
                    "--{}={}",
                    name.replace('_', "-"),
                    if other { two } else { one }
                )
            };
            server.arguments = SETTINGS.iter().map(option).collect();
        }
        Place::SetGlobal => {
            for (name, one, two, _, _) in SETTINGS.iter().filter(|(_, _, _, dynamic, _)| *dynamic) {
                let value = if other { two } else { one };
                server.sql(&format!("SET GLOBAL {name} = {value}")).unwrap();
            }
        }
    }
}

fn shown(server: &Mariadb) -> BTreeMap<&'static str, Value> {
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

fn look(server: &Mariadb) -> BTreeMap<Viewer, Sight> {
    let program = copy_of_walwise(server.own());
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
        (Viewer::Stranger, stranger(&program)),
    ];
    commands
        .into_iter()
        .map(|(viewer, command)| (viewer, Sight::of(&server.data, command)))
        .collect()
}

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn whatever_sets_it_all_see_what_mariadb_shows() {
    let place = tempfile::tempdir().unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()]);
    let mut server = Mariadb::beneath(place.path(), &lines(true));
    server.start();
    let mut other = true;
    for place in [Place::File, Place::SetGlobal, Place::CommandLine] {
        for restart in [false, true] {
            other = !other;
            write(&mut server, place, other);
            if restart {
                server.restart_at_once();
            }
            let row = format!("{place:?}, restarted: {restart}");
            let sights = look(&server);
            let shows = shown(&server);
            agree(&row, &server.data, &sights, &shows);
            for fact in shows.keys() {
                assert!(
                    sights[&Viewer::Root].known(fact).is_some(),
                    "{row}: root is told {fact}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs root, a mount name space and MariaDB 10.11"]
fn a_server_that_says_nothing_is_never_called_what_it_is_not() {
    let place = tempfile::tempdir().unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()]);
    let mut server = Mariadb::beneath(place.path(), &lines(true));
    let look_at = |row: &str, server: &Mariadb| {
        let shows = shown(server);
        agree(row, &server.data, &look(server), &shows);
        kill(server.process(), Signal::SIGSTOP).unwrap();
        let sights = look(server);
        kill(server.process(), Signal::SIGCONT).unwrap();
        agree(
            &format!("{row}, stopped by a signal"),
            &server.data,
            &sights,
            &shows,
        );
        // What was set since its start stands nowhere.
        server.sql("SET GLOBAL sync_binlog = 0").unwrap();
        let shows = shown(server);
        kill(server.process(), Signal::SIGSTOP).unwrap();
        let sights = look(server);
        kill(server.process(), Signal::SIGCONT).unwrap();
        for (viewer, sight) in &sights {
            let known = sight.known("mysql.sync_binlog");
            assert!(
                known.is_none_or(|known| *known == shows["mysql.sync_binlog"]),
                "{row}: {viewer:?}"
            );
            assert_ne!(sight.allowed(&server.data), "durable", "{row}: {viewer:?}");
        }
    };
    server.restart_at_once();
    look_at("as it is", &server);
    server.see_data_elsewhere();
    server.restart_at_once();
    look_at("in a mount name space of its own", &server);
}
