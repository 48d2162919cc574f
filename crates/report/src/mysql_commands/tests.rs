use super::*;
use crate::sample_reports;
use walwise_judge::rules::{Change, Level};
use walwise_model::facts::{Choice as _, Reading, Source, Value};

const LINE: &str = "/etc/mysql/my.cnf";
const PERSISTED: &str = "/var/lib/mysql/mysqld-auto.cnf";

struct ServerCase {
    kind: &'static str,
    version: &'static str,
    running: bool,
    source: Source,
}

impl ServerCase {
    fn running_server(kind: &'static str, version: &'static str) -> Self {
        let source = Source::Default {
            of: format!("{kind} {version}"),
        };
        Self {
            kind,
            version,
            running: true,
            source,
        }
    }

    fn with_source(self, source: Source) -> Self {
        Self { source, ..self }
    }

    fn advice_with_commands(&self, setting: &str, now: Value, value: &str) -> Advice {
        let cluster = Subject::cluster("/var/lib/mysql");
        let mut facts = FactSet::default();
        let source = || Source::from_system_call("test");
        facts.set_server_area(&cluster, ServerArea::Mysql);
        facts.insert_known(
            &cluster,
            &super::cluster::KIND,
            ServerKind::from_word(self.kind).unwrap(),
            source(),
        );
        facts.insert_known(
            &cluster,
            &mysql::VERSION,
            Version::parse(self.version).unwrap(),
            source(),
        );
        facts.insert_known(&cluster, &mysql::RUNNING, self.running, source());
        if self.running {
            facts.insert_known(
                &cluster,
                &mysql::SOCKET,
                "/run/mysqld/mysqld.sock".to_owned(),
                source(),
            );
        }
        let advice = Advice {
            current: Reading::known(now, self.source.clone()),
            risk: Risk::None,
            ..sample_reports::advice_without_current_value(setting, Change::Set(value.to_owned()))
        };
        let mut findings = [sample_reports::applying_finding(
            "any",
            &cluster,
            Level::Warning,
            vec![advice],
        )];
        crate::build::add_server_commands_to_findings(&mut findings, &facts);
        findings[0].advice[0].clone()
    }

    fn sync_binlog_commands_text(&self) -> String {
        format_advice_commands(&self.advice_with_commands(
            "mysql.sync_binlog",
            Value::Whole(0),
            "1",
        ))
    }

    fn flush_method_commands_text(&self) -> String {
        format_advice_commands(&self.advice_with_commands(
            "mysql.innodb_flush_method",
            Value::Text("fsync".to_owned()),
            "O_DIRECT",
        ))
    }
}

fn format_advice_commands(advice: &Advice) -> String {
    let lines = advice
        .commands_by_purpose()
        .into_iter()
        .flat_map(|(word, commands)| {
            commands
                .iter()
                .map(move |command| format!("{word}: {command}\n"))
        });
    format!("{}\n{}", advice.risk.as_str(), lines.collect::<String>())
}

fn output_common_to_releases(
    releases: &[(&'static str, &'static str)],
    print: impl Fn(ServerCase) -> String,
) -> String {
    let printed: Vec<String> = releases
        .iter()
        .map(|(kind, version)| print(ServerCase::running_server(kind, version)))
        .collect();
    let first = printed.first().unwrap().clone();
    let client = |text: &str| text.replace(": mariadb ", ": mysql ");
    for (other, (kind, version)) in printed.iter().zip(releases) {
        assert_eq!(client(other), client(&first), "{kind} {version}");
    }
    let names: Vec<String> = releases
        .iter()
        .map(|(kind, version)| format!("{kind} {version}"))
        .collect();
    format!("== {}: {first}", names.join(", "))
}

#[test]
fn commands_by_server_release_and_source() {
    let told = || Source::Server {
        socket: "/run/mysqld/mysqld.sock".to_owned(),
    };
    let with_persist = [("mysql", "8.0.36"), ("mysql", "8.4.1"), ("mysql", "9.1.0")];
    let without = [
        ("mysql", "5.7.44"),
        ("mariadb", "10.11.19"),
        ("mariadb", "11.8.2"),
    ];
    let fixed = [
        with_persist.as_slice(),
        &[("mysql", "5.7.44"), ("mariadb", "10.11.19")],
    ]
    .concat();
    let said = [
        output_common_to_releases(&with_persist, |case| case.sync_binlog_commands_text()),
        "persisted before".to_owned(),
        output_common_to_releases(&with_persist, |case| {
            case.with_source(Source::from_file(PERSISTED))
                .sync_binlog_commands_text()
        }),
        "only the server says it".to_owned(),
        output_common_to_releases(&with_persist, |case| {
            case.with_source(told()).sync_binlog_commands_text()
        }),
        "stopped".to_owned(),
        output_common_to_releases(&fixed, |case| {
            ServerCase {
                running: false,
                ..case
            }
            .sync_binlog_commands_text()
        }),
        "without SET PERSIST".to_owned(),
        output_common_to_releases(&without, |case| case.sync_binlog_commands_text()),
        "in an option file before".to_owned(),
        output_common_to_releases(&without, |case| {
            case.with_source(Source::from_file_line(LINE, 7))
                .sync_binlog_commands_text()
        }),
        "on the command line before".to_owned(),
        output_common_to_releases(&[("mariadb", "10.3.39")], |case| {
            case.with_source(Source::from_file("/proc/10/cmdline"))
                .sync_binlog_commands_text()
        }),
        "not dynamic".to_owned(),
        output_common_to_releases(&fixed, |case| case.flush_method_commands_text()),
        "not dynamic, and persisted before".to_owned(),
        output_common_to_releases(&with_persist, |case| {
            case.with_source(Source::from_file(PERSISTED))
                .flush_method_commands_text()
        }),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn restart_risk_follows_server_table() {
    let doublewrite = |kind, version, now: &str| {
        let now = Value::Text(now.to_owned());
        ServerCase::running_server(kind, version)
            .advice_with_commands("mysql.innodb_doublewrite", now, "on")
            .risk
    };
    for (kind, version, now, risk) in [
        ("mysql", "5.7.44", "off", Risk::NeedsRestart),
        ("mysql", "8.4.1", "off", Risk::NeedsRestart),
        ("mariadb", "10.11.19", "off", Risk::NeedsRestart),
        ("mariadb", "11.2.2", "off", Risk::NeedsRestart),
        ("mariadb", "11.4.2", "off", Risk::None),
        ("mariadb", "11.4.2", "fast", Risk::None),
    ] {
        assert_eq!(
            doublewrite(kind, version, now),
            risk,
            "{kind} {version} {now}"
        );
    }
    for (version, risk) in [("8.0.26", Risk::None), ("8.0.25", Risk::NeedsRestart)] {
        let advice = ServerCase::running_server("mysql", version).advice_with_commands(
            "mysql.innodb_use_fdatasync",
            Value::Bool(false),
            "on",
        );
        assert_eq!(advice.risk, risk, "{version}");
    }
}

#[test]
fn unknown_old_value_has_no_undo_command() {
    let mut findings = [sample_reports::applying_finding(
        "any",
        &Subject::cluster("/var/lib/mysql"),
        Level::Warning,
        vec![Advice {
            risk: Risk::None,
            ..sample_reports::advice_without_current_value(
                "mysql.sync_binlog",
                Change::Set("1".to_owned()),
            )
        }],
    )];
    let mut facts = FactSet::default();
    crate::build::add_server_commands_to_findings(&mut findings, &facts);
    assert!(
        findings[0].advice[0].apply.is_empty(),
        "neither is the kind of server"
    );
    let cluster = Subject::cluster("/var/lib/mysql");
    facts.insert_known(
        &cluster,
        &super::cluster::KIND,
        ServerKind::Mariadb,
        Source::from_system_call("test"),
    );
    crate::build::add_server_commands_to_findings(&mut findings, &facts);
    let undo: Vec<&str> = findings[0].advice[0]
        .undo
        .iter()
        .map(ShellCommand::as_str)
        .collect();
    assert_eq!(
        undo,
        ["# the current value is unknown: record it before you change it"]
    );
}
