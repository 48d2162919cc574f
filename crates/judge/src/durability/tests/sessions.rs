use super::test_host::TestHost;

#[test]
fn deviating_sessions_appear_in_heading() {
    let heading = |instance: &str, overrides: &str| {
        let machine = TestHost::with_volatile_disk()
            .with_postgres_cluster()
            .with_fact("pg.synchronous_commit", instance);
        let machine = machine.with_fact("pg.synchronous_commit_overrides", overrides);
        (
            machine.verdict().heading_with_exceptions(),
            machine.derived_fact_text("target.commit_off_for"),
        )
    };
    let pair = |heading: &str, off_for: &str| (heading.to_owned(), off_for.to_owned());
    let off = "database app: off";
    assert_eq!(
        heading("on", off),
        pair(
            "durable, except database app: synchronous_commit = off",
            "database app"
        )
    );
    assert_eq!(
        heading("on", "role bob: local,database b: remote_write"),
        pair("durable", "none")
    );
    assert_eq!(
        heading("off", "database app: off,role bob: on"),
        pair("at risk; role bob: synchronous_commit = on", "none")
    );
    assert_eq!(
        heading(
            "on",
            "role a: off,role b: off,role c: off,role d: off,role e: off"
        )
        .0,
        "durable, except role a: synchronous_commit = off; role b: synchronous_commit = off; role c: \
         synchronous_commit = off; and 2 more"
    );
    let failing = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("pg.synchronous_commit_overrides", off);
    assert_eq!(
        failing
            .with_fact("mount.barrier", "off")
            .with_fact("device.write_cache", "write back")
            .verdict()
            .heading_with_exceptions(),
        "at risk; database app: synchronous_commit = off"
    );
}

#[test]
fn host_loss_sentence_follows_standby_settings() {
    let loss = |commit: &str, standbys: &str| {
        let machine = TestHost::with_volatile_disk()
            .with_postgres_cluster()
            .with_fact("pg.synchronous_commit", commit);
        let machine = machine.with_fact("pg.max_wal_senders", "10");
        machine
            .with_fact("pg.synchronous_standbys", standbys)
            .verdict()
            .host_loss
    };
    assert_eq!(loss("on", "0"), "");
    assert_eq!(loss("on", "?"), "");
    assert_eq!(loss("?", "1"), "");
    assert_eq!(
        loss("on", "1"),
        "As configured (not observed), a commit survives the loss of this host once a standby has flushed it."
    );
    assert!(loss("remote_apply", "2").contains("once 2 standbys have flushed and applied it"));
    for commit in ["on", "remote_apply", "remote_write"] {
        assert!(
            loss(commit, "1").starts_with("As configured (not observed), "),
            "{commit}: nobody saw a standby"
        );
    }
    assert!(loss("remote_write", "1").contains("unless a standby also crashes"));
    let machine = TestHost::with_volatile_disk()
        .with_postgres_cluster()
        .with_fact("pg.synchronous_standbys", "1");
    assert_eq!(
        machine.verdict().host_loss,
        "",
        "who sends WAL is not known"
    );
    assert!(
        machine
            .clone()
            .with_fact("pg.max_wal_senders", "0")
            .verdict()
            .host_loss
            .contains("max_wal_senders = 0")
    );
    let machine = machine.with_fact("pg.max_wal_senders", "10");
    let machine = machine.with_fact(
        "pg.synchronous_commit_overrides",
        "role bob: local,role carl: remote_apply",
    );
    assert!(
        machine
            .verdict()
            .host_loss
            .ends_with(" Exceptions: role bob: synchronous_commit = local.")
    );
    for value in ["local", "off"] {
        assert!(
            loss(value, "1").starts_with("The last commits may be lost if this host is lost"),
            "{value}"
        );
    }
}

#[test]
fn async_commit_loss_follows_wal_writer_delay() {
    for (delay, says) in [
        (
            "200000",
            "up to the last 600.00 ms of commits (three times wal_writer_delay)",
        ),
        (
            "10000000",
            "up to the last 30.00 s of commits (three times wal_writer_delay)",
        ),
        ("?", "the commits of up to three wal_writer_delay intervals"),
    ] {
        let machine = TestHost::with_volatile_disk()
            .with_postgres_cluster()
            .with_fact("pg.synchronous_commit", "off");
        let sentence = machine
            .with_fact("pg.wal_writer_delay", delay)
            .verdict()
            .sentence;
        assert!(sentence.contains(says), "{delay}: {sentence}");
    }
}
