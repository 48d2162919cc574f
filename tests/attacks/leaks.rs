//! An attacker's server names files that only root can read. Root's walwise must not print their
//! contents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::attempts::Attempts;
use super::fakes::{Fake, Fakes, mariadb_data, postgres_data};
use super::ground::{Ground, SECRET, link, put};
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

struct Server {
    program: &'static str,
    data: PathBuf,
    arguments: Vec<String>,
}

struct Leads {
    ground: Ground,
    fakes: Fakes,
    servers: Vec<Server>,
    words: Vec<(String, String)>,
}

impl Leads {
    fn new() -> Self {
        let ground = Ground::new();
        let fakes = Fakes::on(&ground);
        Self {
            ground,
            fakes,
            servers: Vec::new(),
            words: Vec::new(),
        }
    }

    fn secret(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let text = format!(
            "{word}\n/{word}\nfsync = {word}\nwal_sync_method = '{word}'\ndata_directory = '/{word}'\n\
             unix_socket_directories = '/{word}'\ninclude '{word}'\ninclude_dir '/{word}'\n[mysqld]\n\
             innodb_flush_method={word}\ndatadir=/{word}\nsocket=/{word}\n!include /{word}\n!includedir /{word}\n\
             [server]\nserver-uuid={word}\n"
        );
        let name = format!("file{}", self.words.len());
        self.words.push((lead.to_owned(), word));
        self.ground.hide(&name, &text)
    }

    /// Creates a link in the vault whose target contains a unique word: only root may learn the
    /// target.
    fn secret_link(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let to = self.ground.shared(&word, 0o755);
        let at = self
            .ground
            .vault()
            .join(format!("link{}", self.words.len()));
        symlink(to, &at).unwrap();
        self.words.push((lead.to_owned(), word));
        at
    }

    fn secret_directory(&mut self, lead: &str) -> PathBuf {
        let word = format!("{SECRET}n{}n", self.words.len());
        let directory = self
            .ground
            .vault()
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

    fn data(&self, server: &str) -> PathBuf {
        self.ground.theirs(&format!("{server}{}", self.words.len()))
    }

    fn postgres(&mut self, lay: impl FnOnce(&Path), arguments: &[&str]) {
        let data = self.data("pg");
        postgres_data(&data);
        lay(&data);
        self.add("postgres", data, arguments);
    }

    fn mariadb(&mut self, lay: impl FnOnce(&Path), arguments: &[&str]) {
        let data = self.data("my");
        mariadb_data(&data);
        lay(&data);
        self.add("mariadbd", data, arguments);
    }

    fn add(&mut self, program: &'static str, data: PathBuf, arguments: &[&str]) {
        let arguments = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        self.servers.push(Server {
            program,
            data,
            arguments,
        });
    }

    fn start(&self, server: &Server) -> Fake {
        let arguments: Vec<&str> = server.arguments.iter().map(String::as_str).collect();
        match server.program {
            "postgres" => self.fakes.postgres(&server.data, &arguments),
            _ => self.fakes.mariadb(&server.data, &arguments),
        }
    }

    fn all(&self, attempts: &mut Attempts) {
        let shadow = fs::read_to_string("/etc/shadow").unwrap();
        let shadow: Vec<String> = shadow
            .lines()
            .map(|line| line.split(':').take(3).collect::<Vec<_>>().join(":") + ":")
            .collect();
        for arguments in OUTPUTS {
            let (mut said, mut late) = (String::new(), false);
            for some in self.servers.chunks(AT_ONCE) {
                let running: Vec<Fake> = some.iter().map(|server| self.start(server)).collect();
                let ended = root::end(&mut root::walwise(arguments));
                said += &ended.said();
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
                attempts.made(&format!("{}, {lead}", arguments.join(" ")), &gains);
            }
        }
    }
}

/// A process with PostgreSQL's name has links to root's files in the place of its own. The attacker
/// wants their contents in a report or a capture.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn root_s_files_in_the_place_of_a_postgresql_s() {
    let mut attempts = Attempts::at("links to root's files in a PostgreSQL directory");
    let mut leads = Leads::new();
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
        let secret = leads.secret(name);
        leads.postgres(|data| link(&secret, &data.join(name)), &[]);
    }
    for name in ["pg_wal", "pg_tblspc/1", "pg_xlog"] {
        let secret = leads.secret_link(name);
        leads.postgres(
            |data| {
                let _ = fs::remove_dir(data.join(name));
                link(&secret, &data.join(name));
            },
            &[],
        );
    }
    for name in ["pg_tblspc", "global"] {
        let secret = leads.secret_directory(name);
        leads.postgres(
            |data| {
                fs::remove_dir_all(data.join(name)).unwrap();
                link(&secret, &data.join(name));
            },
            &[],
        );
    }
    for line in ["include", "include_if_exists", "include_dir"] {
        let secret = leads.secret(line);
        leads.postgres(
            |data| {
                put(
                    &data.join("postgresql.conf"),
                    format!("{line} '{}'\n", secret.display()),
                    0o644,
                );
            },
            &[],
        );
    }
    let secret = leads.secret_directory("include_dir of a directory");
    leads.postgres(
        |data| {
            put(
                &data.join("postgresql.conf"),
                format!("include_dir '{}'\n", secret.display()),
                0o644,
            );
        },
        &[],
    );
    let secret = leads.secret("include in an included file by a link");
    leads.postgres(
        |data| {
            put(&data.join("postgresql.conf"), "include 'more'\n", 0o644);
            link(&secret, &data.join("more"));
        },
        &[],
    );
    for option in ["config_file", "data_directory", "hba_file"] {
        let secret = leads.secret(option);
        leads.postgres(|_| (), &["-c", &format!("{option}={}", secret.display())]);
    }
    let secret = leads.secret_link("data_directory that is a link");
    leads.postgres(
        |_| (),
        &["-c", &format!("data_directory={}", secret.display())],
    );
    for special in ["/etc/shadow", "/proc/self/environ", "/proc/1/environ"] {
        for name in ["PG_VERSION", "postmaster.pid", "postgresql.conf"] {
            leads.words.push((
                format!("{name} -> {special}"),
                "no word of its own".to_owned(),
            ));
            leads.postgres(|data| link(Path::new(special), &data.join(name)), &[]);
        }
    }
    leads.all(&mut attempts);
    attempts.end();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn root_s_files_in_the_place_of_a_mariadb_s() {
    let mut attempts = Attempts::at("links to root's files in option files of MariaDB");
    let mut leads = Leads::new();
    for option in ["--defaults-file", "--defaults-extra-file"] {
        let secret = leads.secret(option);
        leads.mariadb(|_| (), &[&format!("{option}={}", secret.display())]);
        let secret = leads.secret(&format!("{option} by a link"));
        let at = leads
            .ground
            .theirs("links")
            .join(format!("link{}.cnf", leads.words.len()));
        link(&secret, &at);
        leads.mariadb(|_| (), &[&format!("{option}={}", at.display())]);
    }
    for line in ["!include", "!includedir"] {
        let secret = if line == "!include" {
            leads.secret(line)
        } else {
            leads.secret_directory(line)
        };
        let at = leads
            .ground
            .theirs("lines")
            .join(format!("my{}.cnf", leads.words.len()));
        put(
            &at,
            format!("[mysqld]\n{line} {}\n", secret.display()),
            0o644,
        );
        leads.mariadb(|_| (), &[&format!("--defaults-file={}", at.display())]);
    }
    for name in [
        "auto.cnf",
        "mysqld-auto.cnf",
        "ib_logfile0",
        "mysql_upgrade_info",
        "mariadb_upgrade_info",
    ] {
        let secret = leads.secret(name);
        leads.mariadb(
            |data| {
                link(&secret, &data.join(name));
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
        let secret = leads.secret_link(option);
        leads.mariadb(|_| (), &[&format!("--{option}={}", secret.display())]);
    }
    let secret = leads.secret_link("a link in the data directory");
    leads.mariadb(|data| link(&secret, &data.join("#innodb_redo")), &[]);
    leads.all(&mut attempts);
    attempts.end();
}
