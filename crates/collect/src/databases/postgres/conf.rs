//! PostgreSQL's configuration files with their includes, in the order in which the server reads
//! them.
//!
//! The host applies the allow-list of keys. Order and depth limit follow guc-file.l (PostgreSQL
//! manual, *Setting Parameters*).

use std::path::{Path, PathBuf};

pub use crate::databases::conf::Conf;
use crate::facts::note::{PostgresNote, ServerNote};
use crate::facts::{FactSet, Note, Reading, Source, Why};
use crate::host::{Dialect, Host, Miss, MissKind, path_bytes, path_of};
use crate::refusal::refused;
use crate::text::safe;

/// The deepest nesting of includes; the server refuses deeper ones.
const DEPTH: usize = 10;
/// The largest number of files that are read, however they include each other.
const FILES: usize = 256;

impl Conf {
    /// Adds a file with its includes. An absent file is a hole, so the caller must rule it out.
    pub fn file(&mut self, host: &dyn Host, path: &Path, facts: &mut FactSet) {
        ConfigReader {
            host,
            facts,
            conf: self,
            chain: Vec::new(),
            full: false,
        }
        .file(path);
    }

    /// Adds a file that may be absent.
    pub fn optional_file(&mut self, host: &dyn Host, path: &Path, facts: &mut FactSet) {
        ConfigReader {
            host,
            facts,
            conf: self,
            chain: Vec::new(),
            full: false,
        }
        .optional_file(path);
    }
}

/// Reads files into a configuration.
struct ConfigReader<'a> {
    host: &'a dyn Host,
    facts: &'a mut FactSet,
    conf: &'a mut Conf,
    /// The files that include the one being read, outermost first.
    chain: Vec<PathBuf>,
    /// Whether the limit of files is reached and reported.
    full: bool,
}

impl ConfigReader<'_> {
    fn file(&mut self, path: &Path) {
        if self.full {
            return self.unread();
        }
        let shown = safe(path_bytes(path));
        if let Err(note) = self.enter(path) {
            return self.broken(note);
        }
        match self.host.config(path, Dialect::Postgres) {
            Ok(settings) => {
                self.chain.push(path.to_owned());
                for setting in settings {
                    let name = String::from_utf8_lossy(&setting.key).to_ascii_lowercase();
                    let there = || path_of(setting.value.clone());
                    let base = path.parent().unwrap_or(Path::new("/"));
                    match name.as_str() {
                        "include" => self.file(&base.join(there())),
                        "include_if_exists" => self.optional_file(&base.join(there())),
                        "include_dir" => self.directory(&base.join(there())),
                        _ => {
                            self.conf
                                .set(name, setting.value, Source::line(&*shown, setting.line));
                        }
                    }
                }
                self.chain.pop();
                self.conf.end(path);
            }
            Err(miss) => self.hole(&miss, &shown),
        }
    }

    fn optional_file(&mut self, path: &Path) {
        if self.full {
            return self.unread();
        }
        let absent = |miss: Miss| miss.kind == MissKind::Absent;
        if self.host.config(path, Dialect::Postgres).is_err_and(absent) {
            let holder = path
                .ancestors()
                .skip(1)
                .find(|above| self.host.stat(above).is_ok());
            self.conf.end(holder.unwrap_or(path));
        } else {
            self.file(path);
        }
    }

    /// Files whose names end in `.conf` and do not begin with a dot, in the order of their bytes.
    fn directory(&mut self, path: &Path) {
        let names = match self.host.list(path) {
            Ok(names) => names,
            Err(miss) => return self.hole(&miss, &safe(path_bytes(path))),
        };
        let mut names: Vec<_> = names
            .into_iter()
            .filter(|name| {
                let name = path_bytes(Path::new(name));
                name.ends_with(b".conf") && !name.starts_with(b".")
            })
            .collect();
        names.sort();
        for name in names {
            if self.full {
                return self.unread();
            }
            let file = path.join(name);
            if !self.host.stat(&file).is_ok_and(|stat| stat.is_dir()) {
                self.file(&file);
            }
        }
        self.conf.end(path);
    }

    /// Whether one more file may be read.
    fn enter(&mut self, path: &Path) -> Result<(), Note> {
        let files = self.conf.count_file();
        let file = || safe(path_bytes(path));
        if self.chain.iter().any(|above| above == path) {
            return Err(PostgresNote::Loop { file: file() }.into());
        }
        if self.chain.len() > DEPTH {
            return Err(PostgresNote::Depth { file: file() }.into());
        }
        if files > FILES {
            self.full = true;
            return Err(ServerNote::FilesBeyondBound { file: file() }.into());
        }
        Ok(())
    }

    fn hole(&mut self, miss: &Miss, what: &str) {
        if miss.kind == MissKind::Absent {
            return self.broken(ServerNote::NoInclude {
                path: what.to_owned(),
            });
        }
        if let Reading::Unknown {
            why,
            detail,
            remedy,
        } = refused::<()>(miss, what)
        {
            self.conf.hole(why, detail, remedy);
        }
    }

    /// Notes once that further files are unknown.
    fn unread(&mut self) {
        self.conf.hole(
            Why::NotCollected,
            "more files are included than walwise reads",
            None,
        );
    }

    /// A configuration that the server would refuse, so it runs with another one than is written.
    fn broken(&mut self, note: impl Into<Note>) {
        let note = note.into();
        self.conf.hole(Why::Malformed, note.to_string(), None);
        self.facts.warn(note);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::{ConfigDirective, Question};
    use crate::testing::{Fake, sentences};

    fn question(path: &str) -> Question {
        Question::Config(path.into(), Dialect::Postgres)
    }

    fn with(fake: Fake, path: &str, settings: &[(&str, &str)]) -> Fake {
        let encode = |(n, (key, value)): (usize, &(&str, &str))| {
            let line = u32::try_from(n).unwrap() + 1;
            ConfigDirective::new(line, *key, *value).encode()
        };
        let answer: Vec<Vec<u8>> = settings.iter().enumerate().map(encode).collect();
        fake.answer(question(path), answer.concat())
    }

    fn read(fake: &Fake) -> (Conf, FactSet) {
        let (mut conf, mut facts) = (Conf::default(), FactSet::default());
        conf.file(fake, Path::new("/pg/postgresql.conf"), &mut facts);
        (conf, facts)
    }

    fn known(conf: &Conf, name: &str) -> Option<(String, String)> {
        match conf.get(name)? {
            Reading::Known { value, source } => {
                Some((String::from_utf8(value).unwrap(), source.to_string()))
            }
            Reading::Unknown { .. } => None,
        }
    }

    #[test]
    fn includes_are_read_where_they_stand_and_the_last_setting_wins() {
        let fake = with(
            Fake::default(),
            "/pg/postgresql.conf",
            &[
                ("fsync", "on"),
                ("include", "more/a.conf"),
                ("include_dir", "conf.d"),
                ("include_if_exists", "no.conf"),
            ],
        );
        let fake = with(
            fake,
            "/pg/more/a.conf",
            &[
                ("fsync", "off"),
                ("wal_level", "minimal"),
                ("include", "b.conf"),
            ],
        );
        let fake = with(fake, "/pg/more/b.conf", &[("commit_delay", "5")]);
        let fake = with(fake, "/pg/conf.d/10.conf", &[("wal_level", "logical")]);
        let fake = with(fake, "/pg/conf.d/9.conf", &[("wal_level", "replica")]).answer(
            Question::List("/pg/conf.d".into()),
            b"10.conf\09.conf\0.hidden.conf\0x.conf.bak",
        );
        let (conf, facts) = read(&fake);
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(known(&conf, "fsync"), pair("off", "/pg/more/a.conf:1"));
        assert_eq!(
            known(&conf, "wal_level"),
            pair("replica", "/pg/conf.d/9.conf:1")
        );
        assert_eq!(known(&conf, "commit_delay"), pair("5", "/pg/more/b.conf:1"));
        assert!(
            conf.get("wal_recycle").is_none(),
            "nothing sets it and all was read"
        );
        assert_eq!(sentences(&facts), [] as [String; 0]);
    }

    #[test]
    fn a_denied_include_hides_what_comes_before_it_and_nothing_after() {
        let fake = with(
            Fake::default(),
            "/pg/postgresql.conf",
            &[
                ("fsync", "on"),
                ("include", "secret.conf"),
                ("wal_level", "minimal"),
            ],
        )
        .refuse(question("/pg/secret.conf"), MissKind::Denied);
        let (conf, _) = read(&fake);
        assert_eq!(
            known(&conf, "wal_level").map(|(value, _)| value).as_deref(),
            Some("minimal")
        );
        for name in ["fsync", "full_page_writes"] {
            assert!(
                matches!(
                    conf.get(name),
                    Some(Reading::Unknown {
                        why: Why::Denied,
                        ..
                    })
                ),
                "{name}"
            );
        }
    }

    #[test]
    fn what_the_server_would_refuse_is_said_and_leaves_the_rest_unknown() {
        for (include, settings) in [
            ("gone.conf", None),
            ("postgresql.conf", None),
            ("deep.conf", Some("deep2.conf")),
        ] {
            let fake = with(
                Fake::default(),
                "/pg/postgresql.conf",
                &[("include", include)],
            );
            let fake = match settings {
                Some(next) => with(
                    with(fake, "/pg/deep.conf", &[("include", next)]),
                    "/pg/deep2.conf",
                    &[("include", "deep.conf")],
                ),
                None => fake,
            };
            let (conf, facts) = read(&fake);
            assert!(
                matches!(conf.get("fsync"), Some(Reading::Unknown { .. })),
                "{include}"
            );
            assert_eq!(
                sentences(&facts).len(),
                1,
                "{include}: {:?}",
                sentences(&facts)
            );
        }
    }

    proptest! {
        /// Files that include each other in any way end, and read no more than a bounded number of
        /// files.
        #[test]
        fn any_web_of_includes_ends(web in prop::collection::vec((0usize..6, 0usize..6, 0usize..3), 0..60)) {
            let mut fake = Fake::default();
            for from in 0..6 {
                let includes: Vec<(&str, String)> = web.iter().filter(|(a, ..)| *a == from)
                    .map(|(_, to, kind)| (["include", "include_if_exists", "fsync"][*kind], format!("{to}.conf")))
                    .collect();
                let includes: Vec<(&str, &str)> = includes.iter().map(|(key, value)| (*key, value.as_str())).collect();
                fake = with(fake, &format!("/pg/{from}.conf"), &includes);
            }
            let (mut conf, mut facts) = (Conf::default(), FactSet::default());
            conf.file(&fake, Path::new("/pg/0.conf"), &mut facts);
            prop_assert!(fake.asked().len() <= 3 * FILES + 120);
        }
    }
}
