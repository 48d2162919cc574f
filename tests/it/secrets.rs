//! Secrets in every place where people store them, a different word for each place: no output of
//! walwise contains one.

mod planted;

use super::support::loops::mount_ext4;
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::{stderr, stdout};
use crate::support::deadline::CommandInTime as _;
use planted::{HostWithSecrets, PlantedSecrets, assert_no_secret_leaks};

const PG_CONF: &str = "\
primary_conninfo = 'host=x password={primary_conninfo}' # {comment behind a setting}
archive_command = 'push --key {archive_command}'
archive_cleanup_command = 'clean {archive_cleanup_command}'
restore_command = 'get {restore_command}'
recovery_end_command = 'end {recovery_end_command}'
ssl_passphrase_command = 'echo {ssl_passphrase_command}'
my.own = '{custom setting}'
include 'more.conf'
";

#[test]
#[ignore = "needs root: loop devices, a mount namespace and PostgreSQL 15"]
fn no_output_holds_a_secret_of_a_postgres() {
    let secrets = PlantedSecrets::default();
    let disk = mount_ext4(&[], "");
    let mut cluster = Cluster::new_below(&disk.point, &disk.point);
    cluster.append_to_file(
        "postgresql.conf",
        &secrets.replace_place_names_by_secrets(PG_CONF),
    );
    let more = "archive_command = 'true {included archive_command}'\nwal_sync_method = fsync # {comment}\n";
    cluster.append_to_file("more.conf", &secrets.replace_place_names_by_secrets(more));
    cluster.append_to_file(
        "postgresql.auto.conf",
        &secrets.replace_place_names_by_secrets("primary_conninfo = 'password={auto.conf}'\n"),
    );
    cluster.append_to_file(
        ".pgpass",
        &secrets.replace_place_names_by_secrets("*:*:*:*:{.pgpass}\n"),
    );
    cluster.append_to_file(
        "pg_hba.conf",
        &secrets.replace_place_names_by_secrets("# ldapbindpasswd={pg_hba.conf}\n"),
    );
    cluster.environment = vec![
        (
            "PGPASSWORD".to_owned(),
            secrets.secret_for_place("server's environment"),
        ),
        (
            "https_proxy".to_owned(),
            secrets.replace_place_names_by_secrets("http://user:{proxy}@files:3128/"),
        ),
        (
            "LD_LIBRARY_PATH".to_owned(),
            secrets.replace_place_names_by_secrets("/{variable with a path}"),
        ),
    ];
    cluster.arguments = secrets.replace_place_names_by_secrets(
        "-c primary_conninfo=password={argument} --my.own={long argument} -c my.more={short argument}",
    );
    cluster.start();
    // No current server starts with these lines.
    cluster.append_to_file(
        "recovery.conf",
        &secrets.replace_place_names_by_secrets("primary_conninfo = 'password={recovery.conf}'\n"),
    );
    assert!(
        cluster
            .sql("show primary_conninfo")
            .contains(&secrets.secret_for_place("argument"))
    );

    // The owner of the cluster is a superuser and can read every setting.
    for arguments in [&["capture", "--no-mask"][..], &["facts", "--target"]] {
        let output = cluster
            .walwise_as_owner()
            .args(arguments)
            .arg(&cluster.data)
            .output_in_time();
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains("wal_sync_method"), "{said}");
        assert_eq!(secrets.leaked_places(&said), []);
    }

    let covered = HostWithSecrets::new(&secrets, (&disk.disk.device, disk.path()));
    assert!(secrets.count() >= 25, "{}", secrets.count());
    let capture = assert_no_secret_leaks(&secrets, &covered, &cluster.data);
    for planted in [
        "/srv/six",
        "/srv/unit",
        "nosuid,password",
        "more.conf",
        "wal_sync_method",
        "iqn.x",
        "/srv/none",
    ] {
        assert!(
            capture.contains(planted),
            "{planted} was not read: {capture}"
        );
    }
    assert!(
        capture.contains("tmpfs https://files/"),
        "the mount table was not read: {capture}"
    );
    for arguments in [
        &["capture", "--no-mask"][..],
        &["check", "--no-probe", "--format", "json"],
        &["facts", "--target"],
    ] {
        let said = covered
            .run_walwise(&[arguments, &[covered.remote_mount_path().to_str().unwrap()]].concat());
        assert_eq!(secrets.leaked_places(&said), [], "{arguments:?}");
    }
}

const STORAGE_CNF: &str = "\
[mysqld]
# {server comment}
sync_binlog = 1 # {comment behind a setting}
loose_hashicorp_key_management_secret_id = {plugin option}
loose-keyring_vault_config = '{plugin file}'
loose_wsrep_sst_auth = 'sst:{wsrep_sst_auth}'
loose_wsrep_provider_options = 'socket.ssl_password={wsrep option}'
init_connect = 'SET @pw = \"{init_connect}\"'
loose_innodb_encryption_password = {unknown storage option}
[client]
password = {client password}
[mysqldump]
password = {dump password}
[mariadb-backup]
password = '{backup password}'
";

#[test]
#[ignore = "needs root: loop devices, a mount namespace and MariaDB 10.11"]
fn no_output_holds_a_secret_of_a_mariadb() {
    let secrets = PlantedSecrets::default();
    let disk = mount_ext4(&[], "");
    let mut server = Mariadb::new_below(
        &disk.point,
        &secrets.replace_place_names_by_secrets(STORAGE_CNF),
    );
    server.write_option_file(
        "conf.d/client.cnf",
        &secrets.replace_place_names_by_secrets(
            "[client]\nuser = root\npassword={included password}\n",
        ),
    );
    server.write_option_file(".mylogin.cnf", &secrets.secret_for_place("mylogin"));
    let persisted = r#"{"Version":1,"mysql_server":{"sync_binlog":{"Value":"1"},"admin_password":{"Value":"SECRET"}}}"#;
    let place = server.data.join("mysqld-auto.cnf");
    std::fs::write(
        place,
        persisted.replace("SECRET", &secrets.secret_for_place("persisted password")),
    )
    .unwrap();
    server.environment = vec![
        (
            "MYSQL_PWD".to_owned(),
            secrets.secret_for_place("MYSQL_PWD"),
        ),
        (
            "http_proxy".to_owned(),
            secrets.replace_place_names_by_secrets("http://user:{proxy}@files:3128/"),
        ),
    ];
    server.arguments = [
        "--loose-hashicorp-key={argument}",
        "--loose-password={password argument}",
    ]
    .map(|argument| secrets.replace_place_names_by_secrets(argument))
    .to_vec();
    server.start();
    assert!(
        server
            .sql("SELECT @@init_connect")
            .unwrap()
            .contains(&secrets.secret_for_place("init_connect"))
    );

    let covered = HostWithSecrets::new(&secrets, (&disk.disk.device, disk.path()));
    assert!(secrets.count() >= 25, "{}", secrets.count());
    let capture = assert_no_secret_leaks(&secrets, &covered, &server.data);
    for planted in [
        "client.cnf",
        "storage.cnf",
        "mysqld.sync_binlog",
        "/srv/six",
    ] {
        assert!(
            capture.contains(planted),
            "{planted} was not read: {capture}"
        );
    }
}
