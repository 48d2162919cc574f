//! Compares the table of server settings, and all advice for them, with real servers. The table
//! must agree with the installed release, and the release must run with every value that can be
//! advised.
//!
//! Cases are derived from rules and table, so that new rules and rows are tested automatically.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::compat::{
    Effect, ServerReleaseSetting, SettingChangeAction, check_advice, postgres_assignment_support,
    settings_of_server_release,
};
use walwise_judge::rules::RuleSet;
use walwise_model::facts::ServerKind;
use walwise_model::facts::{FactSet, Subject, catalog};
use walwise_model::version::Version;
use walwise_sys::host::LiveHost;

use super::support::advised::{self, parse_advised_value};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::stderr;
use crate::support::deadline::CommandInTime as _;

fn collect_server_facts(data: &Path, without_programs: bool) -> FactSet {
    let host = LiveHost::with_child_program(crate::support::programs::walwise_path().into());
    let request = Request {
        target: Some(data.to_owned()),
        allow_missing: true,
        without_programs,
        ..Request::default()
    };
    Session::collect_from_host(&host, &request, RuleSet::default(), &mut |_, _| {})
        .derived_facts_and_verdicts()
        .0
}

fn table_setting_names(of: ServerKind, releases: &[&str]) -> BTreeSet<&'static str> {
    let known = |release: &&str| settings_of_server_release(of, &Version::parse(release).unwrap());
    releases
        .iter()
        .flat_map(known)
        .map(|setting| setting.name)
        .collect()
}

#[test]
fn collected_defaults_equal_those_of_the_table() {
    for major in 12..=19 {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().canonicalize().unwrap();
        // Root's files are read as user nobody.
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(data.join("global")).unwrap();
        std::fs::write(data.join("PG_VERSION"), format!("{major}\n")).unwrap();
        std::fs::write(data.join("postgresql.conf"), "").unwrap();
        let (facts, subject) = (
            collect_server_facts(&data, true),
            Subject::cluster(data.to_str().unwrap()),
        );
        let mut compared = 0;
        for setting in settings_of_server_release(
            ServerKind::Postgres,
            &Version::parse(&major.to_string()).unwrap(),
        ) {
            let info = catalog::find_by_name(&format!("pg.{}", setting.name));
            let Some((info, default)) = info.zip(setting.default) else {
                continue;
            };
            // A value chosen by initdb is not a default of the server, and a computed default is
            // unknown before the start.
            if setting.changed_by == SettingChangeAction::Initdb || default == "-1" {
                continue;
            }
            let read = facts.reading(&subject, info.id);
            assert_eq!(
                read.value(),
                Some(&parse_advised_value(info.kind, default)),
                "{} of {major}: {read:?}",
                info.name
            );
            compared += 1;
        }
        assert!(compared >= 15, "{major}: {compared}");
    }
}

fn config_line(name: &str, value: &str) -> String {
    format!("{name} = '{value}'\n")
}

struct PgSetting {
    context: String,
    setting: String,
    boot: String,
    least: String,
    most: String,
    words: Vec<String>,
}

fn read_pg_settings(cluster: &Cluster) -> BTreeMap<String, PgSetting> {
    let answer = cluster.sql(
        "SELECT name, context, setting, boot_val, min_val, max_val, array_to_string(enumvals, ',') FROM pg_settings",
    );
    let row = |line: &str| {
        let fields: Vec<String> = line.split('|').map(str::to_owned).collect();
        let [name, context, setting, boot, least, most, words] =
            <[String; 7]>::try_from(fields).expect("seven fields");
        let words = words
            .split(',')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        (
            name,
            PgSetting {
                context,
                setting,
                boot,
                least,
                most,
                words,
            },
        )
    };
    // Other values may contain line breaks or bars; the values of storage settings do not.
    answer
        .lines()
        .filter(|line| line.split('|').count() == 7)
        .map(row)
        .collect()
}

fn change_action_for_context(context: &str) -> SettingChangeAction {
    match context {
        "user" | "superuser" => SettingChangeAction::Session,
        "sighup" => SettingChangeAction::Reload,
        "postmaster" => SettingChangeAction::Restart,
        "internal" => SettingChangeAction::Initdb,
        other => panic!("{other}"),
    }
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn settings_table_matches_installed_postgres() {
    let cluster = Cluster::new();
    let version = Version::parse(
        &cluster
            .run_server_program("postgres", &["--version"])
            .replace("postgres (PostgreSQL) ", ""),
    );
    let version = version.unwrap();
    let known = settings_of_server_release(ServerKind::Postgres, &version);
    // With every default written out, the server must have the same values as without any.
    let written = known
        .iter()
        .filter(|setting| setting.changed_by != SettingChangeAction::Initdb);
    let defaults: String = written
        .filter_map(|setting| Some(config_line(setting.name, setting.default?)))
        .collect();
    cluster.append_to_file("postgresql.conf", &defaults);
    cluster.start();
    let rows = read_pg_settings(&cluster);
    let mut wrong = Vec::new();
    for ServerReleaseSetting {
        name,
        default,
        changed_by: says,
    } in &known
    {
        let Some(row) = rows.get(*name) else {
            wrong.push(format!("{name} is not there"));
            continue;
        };
        if change_action_for_context(&row.context) != *says {
            wrong.push(format!("{name} is {}, not {says:?}", row.context));
        }
        let is_default = row.setting == row.boot || *default == Some(row.boot.as_str());
        if default.is_some() && *says != SettingChangeAction::Initdb && !is_default {
            wrong.push(format!(
                "{name}: {default:?} is {}, the default is {}",
                row.setting, row.boot
            ));
        }
        for word in &row.words {
            let ruling = postgres_assignment_support(name, word, &version);
            let known = ruling.effect == Effect::Ok || !ruling.source.is_empty();
            if !known || ruling.effect == Effect::Refused {
                wrong.push(format!("{name} = {word}: {ruling:?}"));
            }
        }
        for number in [&row.least, &row.most]
            .into_iter()
            .filter(|number| !number.is_empty())
        {
            if postgres_assignment_support(name, number, &version).effect == Effect::Refused
                && !number.starts_with('-')
            {
                wrong.push(format!(
                    "{name} = {number} is refused, and the server takes it"
                ));
            }
        }
    }
    let here: BTreeSet<&str> = known.iter().map(|setting| setting.name).collect();
    for name in table_setting_names(ServerKind::Postgres, &["9.4.21", "12.0", "16.12", "19.0"])
        .difference(&here)
    {
        if rows.contains_key(*name) {
            wrong.push(format!("{name} is there"));
        }
    }
    assert!(wrong.is_empty(), "{version}:\n{}", wrong.join("\n"));
    assert!(here.len() > 30, "{here:?}");
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn postgres_accepts_advised_and_refuses_held_back_values() {
    let cluster = Cluster::new();
    let (facts, subject) = (
        collect_server_facts(&cluster.data, false),
        Subject::cluster(cluster.path_string("data")),
    );
    let rules = RuleSet::builtin();
    let here = settings_of_server_release(ServerKind::Postgres, &Version::parse("15.0").unwrap());
    // The last of several values is the one that takes effect; sync methods have a separate test.
    let mut runs_with: BTreeMap<&str, String> = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for advised in advised::list_advised_settings("pg", &rules) {
        let name = advised.name;
        // A value chosen by initdb cannot be set in a configuration file.
        if here
            .iter()
            .any(|one| one.name == name && one.changed_by == SettingChangeAction::Initdb)
        {
            continue;
        }
        for value in advised.values {
            // Only a running server shows the libraries with which it was built.
            if name == "wal_compression" && value == "lz4" {
                continue;
            }
            let allowed = check_advice(advised.spec.setting, &[&value], &facts, &subject);
            let given = format!("{name}={value}");
            let mut command = cluster.server_command("postgres");
            let output = command
                .args(["-D", &cluster.path_string("data"), "-C", name, "-c", &given])
                .output_in_time();
            let taken = output.status.success();
            assert_eq!(
                taken,
                allowed.is_ok(),
                "{given}: {allowed:?}; {}",
                stderr(&output)
            );
            if taken {
                runs_with.insert(name, value);
            } else {
                refused.insert(name);
            }
        }
    }
    let lines: String = runs_with
        .iter()
        .map(|(name, value)| config_line(name, value))
        .collect();
    cluster.append_to_file("postgresql.conf", &lines);
    cluster.start();
    for (name, value) in &runs_with {
        let told = cluster.sql(&format!("SHOW {name}"));
        // With -1 the server computes the value.
        assert!(
            told == *value || (value == "-1" && !told.is_empty()),
            "{name}: {told}"
        );
        let error = cluster.sql(&format!(
            "SELECT error FROM pg_file_settings WHERE name = '{name}' AND NOT applied"
        ));
        assert!(error.is_empty(), "{name}: {error}");
    }
    assert!(
        runs_with.len() >= 12 && refused.contains("file_extend_method"),
        "{runs_with:?} {refused:?}"
    );
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn checksums_are_chosen_as_advised_when_a_cluster_is_made() {
    let cluster = Cluster::new();
    let rules = RuleSet::builtin();
    let commands: Vec<String> = advised::list_advised_settings("pg", &rules)
        .iter()
        .filter(|one| one.name == "data_checksums")
        .flat_map(|one| &one.spec.apply)
        .filter_map(|command| {
            Some(command.as_written()).filter(|source| source.starts_with("initdb "))
        })
        .collect();
    assert!(!commands.is_empty());
    for (number, command) in (0..).zip(commands) {
        let new = cluster.path_string(&format!("another{number}"));
        let command = command.replace("DIRECTORY", &new);
        let words: Vec<&str> = command.split_whitespace().collect();
        cluster.run_server_program(words[0], &words[1..]);
        let shown = cluster.run_server_program("pg_controldata", &[&new]);
        let on =
            |line: &str| line.starts_with("Data page checksum version:") && line.ends_with('1');
        assert!(shown.lines().any(on), "{command}: {shown}");
    }
}

fn variables_with_defaults(server: &Mariadb) -> BTreeMap<String, (bool, String)> {
    let answer = server.sql(
        "SELECT LOWER(VARIABLE_NAME), READ_ONLY, COALESCE(DEFAULT_VALUE, '') FROM information_schema.SYSTEM_VARIABLES",
    );
    let row = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        Some((fields.next()?, (fields.next()? == "YES", fields.next()?)))
    };
    answer.unwrap().lines().filter_map(row).collect()
}

#[test]
#[ignore = "needs root and MariaDB"]
fn mariadb_accepts_advised_values_and_matches_the_table() {
    let directory = tempfile::tempdir().unwrap();
    super::support::run("chmod", &["755", directory.path().to_str().unwrap()]);
    let mut server = Mariadb::new_below(directory.path(), "");
    let (facts, subject) = (
        collect_server_facts(&server.data, false),
        Subject::cluster(server.data.to_str().unwrap()),
    );
    let rules = RuleSet::builtin();
    let mut runs_with: BTreeMap<&str, String> = BTreeMap::new();
    for advised in advised::list_advised_settings("mysql", &rules) {
        for value in advised.values {
            if check_advice(advised.spec.setting, &[&value], &facts, &subject).is_ok() {
                assert!(
                    Mariadb::accepts_option(&format!("--{}={value}", advised.name)),
                    "{} = {value}",
                    advised.name
                );
                runs_with.insert(advised.name, value);
            }
        }
    }
    assert!(
        !Mariadb::accepts_option("--innodb_flush_method=sideways")
            && !Mariadb::accepts_option("--innodb_use_fdatasync=on")
    );
    let lines: Vec<String> = runs_with
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    server.write_option_file(
        "conf.d/storage.cnf",
        &format!("[mariadb]\n{}\n", lines.join("\n")),
    );
    server.start();
    for (name, value) in &runs_with {
        let shown = server
            .sql(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))
            .unwrap();
        assert_eq!(
            shown.to_lowercase(),
            format!("{name}\t{value}").to_lowercase()
        );
    }
    assert!(runs_with.len() >= 6, "{runs_with:?}");

    let release = server.sql("SELECT VERSION()").unwrap();
    let version = Version::parse(&release).unwrap();
    let (known, variables) = (
        settings_of_server_release(ServerKind::Mariadb, &version),
        variables_with_defaults(&server),
    );
    let mut wrong = Vec::new();
    for ServerReleaseSetting {
        name,
        default,
        changed_by,
    } in &known
    {
        match variables.get(*name) {
            None => wrong.push(format!("{name} is not there")),
            Some((read_only, is)) => {
                if (*changed_by == SettingChangeAction::Restart) != *read_only {
                    wrong.push(format!(
                        "{name}: {changed_by:?}, and read-only is {read_only}"
                    ));
                }
                if default.is_some_and(|default| !default.eq_ignore_ascii_case(is)) {
                    wrong.push(format!("{name}: the default is {is}, not {default:?}"));
                }
            }
        }
    }
    let here: BTreeSet<&str> = known.iter().map(|setting| setting.name).collect();
    for name in table_setting_names(ServerKind::Mariadb, &["10.5.9", "12.3.0"]).difference(&here) {
        if variables.contains_key(*name) {
            wrong.push(format!("{name} is there"));
        }
    }
    assert!(wrong.is_empty(), "{release}:\n{}", wrong.join("\n"));
    assert!(here.len() > 8, "{here:?}");
}
