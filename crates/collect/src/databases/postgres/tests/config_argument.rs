use super::*;
use crate::config_argument_error;

const FILE: &str = "/srv/conf/own.conf";

fn with_named_config(fake: FakeHost, lines: &[(&str, &str)]) -> FakeHost {
    let fake = with_conf_file(fake, FILE, lines);
    with_conf_file(fake, "/srv/conf/more.conf", &[("commit_delay", "7")])
}

fn request_with_config_file(target: Option<&str>) -> Request {
    Request {
        target: target.map(Into::into),
        postgres_config: Some(FILE.into()),
        ..Request::default()
    }
}

#[test]
fn named_config_replaces_standard_config() {
    let lines = [
        ("data_directory", DATA),
        ("fsync", "on"),
        ("include", "more.conf"),
    ];
    for (lines, target, source) in [
        (&lines[..], None, "/srv/pg /srv/conf/own.conf:1"),
        (&lines[..], Some(DATA), "/srv/pg /srv/conf/own.conf:1"),
        (&lines[1..], Some(DATA), "/srv/pg /srv/pg"),
    ] {
        let fake = with_named_config(host_with_stopped_cluster(), lines);
        let facts = collect(&fake, &request_with_config_file(target));
        let line = lines.len() - 1;
        for (name, expected) in [
            ("pg.data_directory", source.to_owned()),
            ("pg.running", "no /srv/pg/postmaster.pid".to_owned()),
            ("pg.fsync", format!("yes /srv/conf/own.conf:{line}")),
            ("pg.commit_delay", "7 /srv/conf/more.conf:1".to_owned()),
            (
                "pg.wal_level",
                "replica default of PostgreSQL 15".to_owned(),
            ),
        ] {
            assert_eq!(
                value_and_source(&facts, name),
                expected,
                "{name}: {}",
                displayed_notes_and_readings(&facts)
            );
        }
        let config = Question::Config(FILE.into(), ConfigDialect::Postgres);
        assert!(
            !fake.asked_questions().contains(&config),
            "never as who we are"
        );
        assert!(
            fake.asked_questions()
                .contains(&Question::AsUser(26, Box::new(config))),
            "as the owner of the data"
        );
        assert_eq!(note_sentences(&facts), [] as [String; 0]);
    }
    let facts = collect(
        &with_named_config(host_with_stopped_cluster(), &lines[1..]),
        &request_with_config_file(None),
    );
    let says = note_sentences(&facts).join("\n");
    assert!(
        says.contains("not used: the file does not set data_directory; specify the directory"),
        "{says}"
    );
}

#[test]
fn named_config_is_unused_for_running_server() {
    let lines = [("data_directory", DATA), ("fsync", "on")];
    let facts = collect(
        &with_named_config(host_with_running_cluster(), &lines),
        &request_with_config_file(Some(DATA)),
    );
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        "no /srv/pg/postgresql.conf:1",
        "{}",
        displayed_notes_and_readings(&facts)
    );
    let says = note_sentences(&facts).join("\n");
    assert!(
        says.contains("not used: a server is running on the data directory"),
        "{says}"
    );

    let out_of_sight =
        with_named_config(host_with_running_cluster(), &lines).with_answer(Question::Servers, "");
    let unreadable = with_named_config(host_with_running_cluster(), &lines).with_error(
        Question::Read(format!("{DATA}/postmaster.pid").into()),
        HostErrorKind::Denied,
    );
    for fake in [out_of_sight, unreadable] {
        let facts = collect(&fake, &request_with_config_file(Some(DATA)));
        assert!(
            !value_and_source(&facts, "pg.fsync").contains("own.conf"),
            "{}",
            displayed_notes_and_readings(&facts)
        );
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|says| says.contains("not used: a server may be running")),
            "{}",
            displayed_notes_and_readings(&facts)
        );
    }
}

#[test]
fn config_with_other_data_does_not_apply_to_target() {
    let other = with_named_config(
        host_with_stopped_cluster(),
        &[("data_directory", "/srv/other"), ("fsync", "on")],
    )
    .with_answer(Question::RealPath("/srv/other".into()), "/srv/other")
    .with_answer(
        Question::Stat("/srv/other".into()),
        directory_stat_answer(26),
    )
    .with_file("/srv/other/PG_VERSION", "15\n");
    let facts = collect(&other, &request_with_config_file(Some(DATA)));
    assert_eq!(
        value_and_source(&facts, "pg.fsync"),
        "no /srv/pg/postgresql.conf:1",
        "{}",
        displayed_notes_and_readings(&facts)
    );
    assert_eq!(
        facts.value(&Subject::cluster("/srv/other"), &postgres::FSYNC),
        Some(true)
    );
    assert!(
        note_sentences(&facts)[0].contains("so it does not apply to /srv/pg"),
        "{:?}",
        note_sentences(&facts)
    );
}

#[test]
fn unreadable_named_config_is_error() {
    let config = Question::Config(FILE.into(), ConfigDialect::Postgres);
    let fake = with_named_config(host_with_stopped_cluster(), &[])
        .with_error(config, HostErrorKind::Absent);
    let says = config_argument_error(&fake, &request_with_config_file(Some(DATA))).unwrap();
    assert!(
        says.starts_with(
            "cannot use /srv/conf/own.conf for --postgres-config: refused; pass the configuration file"
        ),
        "{says}"
    );
    assert_eq!(
        config_argument_error(
            &with_named_config(host_with_stopped_cluster(), &[]),
            &request_with_config_file(None)
        ),
        None
    );
}
