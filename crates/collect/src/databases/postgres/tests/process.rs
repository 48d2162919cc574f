use proptest::prelude::*;

use super::*;
use crate::databases::server_processes::read_server_processes;

fn collect_postmasters(fake: &FakeHost) -> Vec<ServerProcess> {
    let (request, mut facts) = (Request::default(), FactSet::default());
    let read = read_server_processes(fake, &request, ServerArea::Pg, parse_option, &mut facts);
    read.unwrap().0
}

fn first_data_directory(fake: &FakeHost) -> Option<PathBuf> {
    process_data_directory(fake, &collect_postmasters(fake)[0])
}

fn host_with_postmaster(arguments: &str) -> FakeHost {
    FakeHost::default()
        .with_answer(
            Question::Servers,
            "10 1 26 postgres\n11 10 26 postgres\n12 1 27 mysqld\n13 1 0 postgres\n",
        )
        .with_answer(Question::CommandLine(10), arguments)
}

#[test]
fn children_and_other_servers_are_no_postmasters() {
    let fake = host_with_postmaster("-D /pg");
    let servers = collect_postmasters(&fake);
    assert_eq!(
        servers.iter().map(|server| server.pid).collect::<Vec<_>>(),
        [10],
        "13 has ended"
    );
    assert_eq!(first_data_directory(&fake), Some("/pg".into()));
}

#[test]
fn command_line_options_become_settings() {
    let fake = host_with_postmaster(
        "-D /a\\x20b\n-c wal_level=minimal\n-p 5433\n-k /run/x\n-c config_file=/e=x\n-D /p\\x0ag",
    );
    let servers = collect_postmasters(&fake);
    let setting = |name| {
        let value = last_option_value(&servers[0], name);
        value.map(|value| String::from_utf8(value.to_vec()).unwrap())
    };
    for (name, value) in [
        ("wal_level", "minimal"),
        ("port", "5433"),
        ("unix_socket_directories", "/run/x"),
        ("config_file", "/e=x"),
    ] {
        assert_eq!(setting(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(
        first_data_directory(&fake),
        Some("/p\ng".into()),
        "the last -D wins"
    );
}

#[test]
fn preloaded_eatmydata_is_reported_or_unknown() {
    let of = |fake: FakeHost| collect_postmasters(&fake).remove(0).preloaded_library;
    let environment =
        |text: &str| host_with_postmaster("-D /pg").with_answer(Question::Environment(10), text);
    let eater = "libeatmydata.so";
    assert_eq!(
        of(environment(&format!("LD_PRELOAD=x.so:{eater}\n")))
            .value()
            .unwrap(),
        eater
    );
    assert_eq!(of(environment("PGDATA=/pg\n")).value().unwrap(), "none");
    assert_eq!(
        of(environment("").with_file("/etc/ld.so.preload", format!("{eater}\n")))
            .value()
            .unwrap(),
        eater
    );
    let denied = |fake: FakeHost| {
        matches!(
            of(fake),
            Reading::Unknown {
                why: UnknownReason::Denied,
                ..
            }
        )
    };
    assert!(denied(
        host_with_postmaster("").with_error(Question::Environment(10), HostErrorKind::Denied)
    ));
    assert!(denied(environment("").with_error(
        Question::Read("/etc/ld.so.preload".into()),
        HostErrorKind::Denied
    )));
}

#[test]
fn pgdata_variable_names_data_directory() {
    let fake = host_with_postmaster("-c fsync=on")
        .with_answer(Question::Environment(10), "PGDATA=/srv/pg\nPGDATAX=/y\n");
    assert_eq!(first_data_directory(&fake), Some("/srv/pg".into()));
}

proptest! {
    #[test]
    fn arbitrary_process_data_never_panics(list: Vec<u8>, arguments: Vec<u8>, environment: Vec<u8>) {
        let list = [list.as_slice(), b"\n10 1 26 postgres\n"].concat();
        let fake = FakeHost::default().with_answer(Question::Servers, list)
            .with_answer(Question::CommandLine(10), arguments)
            .with_answer(Question::Environment(10), environment);
        collect_postmasters(&fake);
    }
}
