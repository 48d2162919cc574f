//! An attacker's server names files that only root can read. Root's walwise must not print their
//! contents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::attack_directory::{
    AttackDirectory, SECRET, create_attacker_symlink, write_attacker_file,
};
use super::attempts::Attempts;
use super::fakes::{FakeServer, FakeServerPrograms, create_mariadb_data, create_postgres_data};
use super::root::{self, VARIABLE};

const OUTPUTS: [&[&str]; 6] = [
    &["check", "--no-probe"],
    &["check", "--no-probe", "-v", "--format", "json"],
    &["check", "--no-probe", "--format", "markdown"],
    &["facts"],
    &["capture"],
    &["capture", "--no-mask"],
];

/// Number of fake servers at once: walwise may skip further servers of one user.
const AT_ONCE: usize = 8;

struct FakeServerSpec {
    program: &'static str,
    data: PathBuf,
    arguments: Vec<String>,
}

struct LeakScenario {
    ground: AttackDirectory,
    fakes: FakeServerPrograms,
    servers: Vec<FakeServerSpec>,
    words: Vec<(String, String)>,
}

impl LeakScenario {
    fn new() -> Self {
        let ground = AttackDirectory::new();
        let fakes = FakeServerPrograms::install_in(&ground);
        Self {
            ground,
            fakes,
            servers: Vec::new(),
            words: Vec::new(),
        }
    }

    fn create_secret_file(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let text = format!(
            "{word}\n/{word}\nfsync = {word}\nwal_sync_method = '{word}'\ndata_directory = '/{word}'\n\
             unix_socket_directories = '/{word}'\ninclude '{word}'\ninclude_dir '/{word}'\n[mysqld]\n\
             innodb_flush_method={word}\ndatadir=/{word}\nsocket=/{word}\n!include /{word}\n!includedir /{word}\n\
             [server]\nserver-uuid={word}\n"
        );
        let name = format!("file{}", self.words.len());
        self.words.push((lead.to_owned(), word));
        self.ground.create_root_only_file(&name, &text)
    }

    /// Creates a link in the vault whose target contains a unique word: only root may learn the
    /// target.
    fn create_secret_link(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let to = self.ground.create_directory(&word, 0o755);
        let at = self
            .ground
            .root_only_directory()
            .join(format!("link{}", self.words.len()));
        symlink(to, &at).unwrap();
        self.words.push((lead.to_owned(), word));
        at
    }

    fn create_secret_directory(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let directory = self
            .ground
            .root_only_directory()
            .join(format!("directory{}", self.words.len()));
        fs::create_dir(&directory).unwrap();
        for end in ["conf", "cnf", "d"] {
            fs::write(
                directory.join(format!("{word}.{end}")),
                "fsync = off\n[mysqld]\nskip-networking\n",
            )
            .unwrap();
        }
        self.words.push((lead.to_owned(), word));
        directory
    }

    fn create_data_directory(&self, server: &str) -> PathBuf {
        self.ground
            .create_attacker_directory(&format!("{server}{}", self.words.len()))
    }

    fn add_fake_postgres(&mut self, lay: impl FnOnce(&Path), arguments: &[&str]) {
        let data = self.create_data_directory("pg");
        create_postgres_data(&data);
        lay(&data);
        self.add_fake_server("postgres", data, arguments);
    }

    fn add_fake_mariadb(&mut self, lay: impl FnOnce(&Path), arguments: &[&str]) {
        let data = self.create_data_directory("my");
        create_mariadb_data(&data);
        lay(&data);
        self.add_fake_server("mariadbd", data, arguments);
    }

    fn add_fake_server(&mut self, program: &'static str, data: PathBuf, arguments: &[&str]) {
        let arguments = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        self.servers.push(FakeServerSpec {
            program,
            data,
            arguments,
        });
    }

    fn start_server(&self, server: &FakeServerSpec) -> FakeServer {
        let arguments: Vec<&str> = server.arguments.iter().map(String::as_str).collect();
        match server.program {
            "postgres" => self.fakes.start_postgres(&server.data, &arguments),
            _ => self.fakes.start_mariadb(&server.data, &arguments),
        }
    }

    fn attempt_all_outputs(&self, attempts: &mut Attempts) {
        let shadow = fs::read_to_string("/etc/shadow").unwrap();
        let shadow: Vec<String> = shadow
            .lines()
            .map(|line| line.split(':').take(3).collect::<Vec<_>>().join(":") + ":")
            .collect();
        for arguments in OUTPUTS {
            let (mut said, mut late) = (String::new(), false);
            for some in self.servers.chunks(AT_ONCE) {
                let running: Vec<FakeServer> = some
                    .iter()
                    .map(|server| self.start_server(server))
                    .collect();
                let ended = root::run_with_timeout(&mut root::walwise_from_cron(arguments));
                said += &ended.combined_output();
                late |= ended.late;
                // A restarted server has another pid.
                for (server, _) in some.iter().zip(running) {
                    let pid = server.data.join("postmaster.pid");
                    if pid.is_file() && !pid.is_symlink() {
                        fs::remove_file(pid).unwrap();
                    }
                }
            }
            let mut leaks: Vec<(String, bool)> = self
                .words
                .iter()
                .map(|(lead, word)| (lead.clone(), said.contains(word)))
                .collect();
            leaks.push((
                "/etc/shadow".to_owned(),
                shadow.iter().any(|line| said.contains(line)),
            ));
            leaks.push(("root's environment".to_owned(), said.contains(VARIABLE)));
            leaks.push(("root waits".to_owned(), late));
            for (lead, leaks) in leaks {
                let gains = if leaks {
                    vec!["root says what only root may know".to_owned()]
                } else {
                    Vec::new()
                };
                attempts.record_attempt(&format!("{}, {lead}", arguments.join(" ")), &gains);
            }
        }
    }
}

/// A process with PostgreSQL's name has links to root's files in the place of its own. The attacker
/// wants their contents in a report or a capture.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn postgresql_links_to_root_files_leak_nothing() {
    let mut attempts = Attempts::for_attack("links to root's files in a PostgreSQL directory");
    let mut leads = LeakScenario::new();
    for name in [
        "PG_VERSION",
        "postmaster.pid",
        "postmaster.opts",
        "postgresql.conf",
        "postgresql.auto.conf",
        "global/pg_control",
        "standby.signal",
        "backup_label",
    ] {
        let secret = leads.create_secret_file(name);
        leads.add_fake_postgres(
            |data| create_attacker_symlink(&secret, &data.join(name)),
            &[],
        );
    }
    for name in ["pg_wal", "pg_tblspc/1", "pg_xlog"] {
        let secret = leads.create_secret_link(name);
        leads.add_fake_postgres(
            |data| {
                let _ = fs::remove_dir(data.join(name));
                create_attacker_symlink(&secret, &data.join(name));
            },
            &[],
        );
    }
    for name in ["pg_tblspc", "global"] {
        let secret = leads.create_secret_directory(name);
        leads.add_fake_postgres(
            |data| {
                fs::remove_dir_all(data.join(name)).unwrap();
                create_attacker_symlink(&secret, &data.join(name));
            },
            &[],
        );
    }
    for line in ["include", "include_if_exists", "include_dir"] {
        let secret = leads.create_secret_file(line);
        leads.add_fake_postgres(
            |data| {
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    format!("{line} '{}'\n", secret.display()),
                    0o644,
                );
            },
            &[],
        );
    }
    let secret = leads.create_secret_directory("include_dir of a directory");
    leads.add_fake_postgres(
        |data| {
            write_attacker_file(
                &data.join("postgresql.conf"),
                format!("include_dir '{}'\n", secret.display()),
                0o644,
            );
        },
        &[],
    );
    let secret = leads.create_secret_file("include in an included file by a link");
    leads.add_fake_postgres(
        |data| {
            write_attacker_file(&data.join("postgresql.conf"), "include 'more'\n", 0o644);
            create_attacker_symlink(&secret, &data.join("more"));
        },
        &[],
    );
    for option in ["config_file", "data_directory", "hba_file"] {
        let secret = leads.create_secret_file(option);
        leads.add_fake_postgres(|_| (), &["-c", &format!("{option}={}", secret.display())]);
    }
    let secret = leads.create_secret_link("data_directory that is a link");
    leads.add_fake_postgres(
        |_| (),
        &["-c", &format!("data_directory={}", secret.display())],
    );
    for special in ["/etc/shadow", "/proc/self/environ", "/proc/1/environ"] {
        for name in ["PG_VERSION", "postmaster.pid", "postgresql.conf"] {
            leads.words.push((
                format!("{name} -> {special}"),
                "no word of its own".to_owned(),
            ));
            leads.add_fake_postgres(
                |data| create_attacker_symlink(Path::new(special), &data.join(name)),
                &[],
            );
        }
    }
    leads.attempt_all_outputs(&mut attempts);
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn mariadb_links_to_root_files_leak_nothing() {
    let mut attempts = Attempts::for_attack("links to root's files in option files of MariaDB");
    let mut leads = LeakScenario::new();
    for option in ["--defaults-file", "--defaults-extra-file"] {
        let secret = leads.create_secret_file(option);
        leads.add_fake_mariadb(|_| (), &[&format!("{option}={}", secret.display())]);
        let secret = leads.create_secret_file(&format!("{option} by a link"));
        let at = leads
            .ground
            .create_attacker_directory("links")
            .join(format!("link{}.cnf", leads.words.len()));
        create_attacker_symlink(&secret, &at);
        leads.add_fake_mariadb(|_| (), &[&format!("{option}={}", at.display())]);
    }
    for line in ["!include", "!includedir"] {
        let secret = if line == "!include" {
            leads.create_secret_file(line)
        } else {
            leads.create_secret_directory(line)
        };
        let at = leads
            .ground
            .create_attacker_directory("lines")
            .join(format!("my{}.cnf", leads.words.len()));
        write_attacker_file(
            &at,
            format!("[mysqld]\n{line} {}\n", secret.display()),
            0o644,
        );
        leads.add_fake_mariadb(|_| (), &[&format!("--defaults-file={}", at.display())]);
    }
    for name in [
        "auto.cnf",
        "mysqld-auto.cnf",
        "ib_logfile0",
        "mysql_upgrade_info",
        "mariadb_upgrade_info",
    ] {
        let secret = leads.create_secret_file(name);
        leads.add_fake_mariadb(
            |data| {
                create_attacker_symlink(&secret, &data.join(name));
            },
            &[],
        );
    }
    for option in [
        "innodb-log-group-home-dir",
        "innodb-data-home-dir",
        "innodb-undo-directory",
        "log-bin",
    ] {
        let secret = leads.create_secret_link(option);
        leads.add_fake_mariadb(|_| (), &[&format!("--{option}={}", secret.display())]);
    }
    let secret = leads.create_secret_link("a link in the data directory");
    leads.add_fake_mariadb(
        |data| create_attacker_symlink(&secret, &data.join("#innodb_redo")),
        &[],
    );
    leads.attempt_all_outputs(&mut attempts);
    attempts.write_tally_and_assert();
}
