//! PostgreSQL's configuration files with includes, in the order in which the server reads them.
//! Order and nesting limit follow the server's guc-file.l; the manual describes the files in
//! *Setting Parameters*.

use std::path::{Path, PathBuf};

use crate::databases::{ServerConfig, missing_include_note, too_many_includes_note};

use crate::facts::{FactSet, Note, Source, UnknownReason};
use crate::host::{ConfigDialect, Host, HostError, path_bytes, path_from_bytes};
use crate::text::display_path;

/// The server refuses to start with deeper includes.
const MAX_INCLUDE_DEPTH: usize = 10;
const MAX_FILES: usize = 256;

impl ServerConfig {
    fn reader<'a>(&'a mut self, host: &'a dyn Host, facts: &'a mut FactSet) -> ConfigReader<'a> {
        ConfigReader {
            host,
            facts,
            conf: self,
            chain: Vec::new(),
            is_limit_reached: false,
        }
    }

    /// An absent file is recorded as a gap; optional files need
    /// [`ServerConfig::read_optional_config_file`].
    pub fn read_config_file(&mut self, host: &dyn Host, path: &Path, facts: &mut FactSet) {
        self.reader(host, facts).read_file(path);
    }

    pub fn read_optional_config_file(&mut self, host: &dyn Host, path: &Path, facts: &mut FactSet) {
        self.reader(host, facts).read_optional_file(path);
    }
}

struct ConfigReader<'a> {
    host: &'a dyn Host,
    facts: &'a mut FactSet,
    conf: &'a mut ServerConfig,
    chain: Vec<PathBuf>,
    is_limit_reached: bool,
}

impl ConfigReader<'_> {
    fn read_file(&mut self, path: &Path) {
        if self.is_limit_reached {
            return self.add_file_limit_gap();
        }
        let shown = display_path(path);
        if let Err(note) = self.check_include_limits(path) {
            return self.add_rejected_file_gap(note);
        }
        match self.host.config_directives(path, ConfigDialect::Postgres) {
            Ok(settings) => {
                self.chain.push(path.to_owned());
                for setting in settings {
                    let name = String::from_utf8_lossy(&setting.key).to_ascii_lowercase();
                    let there = || path_from_bytes(setting.value.clone());
                    let base = path.parent().unwrap_or(Path::new("/"));
                    match name.as_str() {
                        "include" => self.read_file(&base.join(there())),
                        "include_if_exists" => self.read_optional_file(&base.join(there())),
                        "include_dir" => self.read_include_directory(&base.join(there())),
                        _ => {
                            self.conf.add_setting(
                                name,
                                setting.value,
                                Source::from_file_line(&*shown, setting.line),
                            );
                        }
                    }
                }
                self.chain.pop();
                self.conf.mark_file_end(path);
            }
            Err(miss) => self.add_error_gap(&miss, &shown),
        }
    }

    fn read_optional_file(&mut self, path: &Path) {
        if self.is_limit_reached {
            return self.add_file_limit_gap();
        }
        let absent = |miss: HostError| miss.is_absent();
        if self
            .host
            .config_directives(path, ConfigDialect::Postgres)
            .is_err_and(absent)
        {
            let holder = path
                .ancestors()
                .skip(1)
                .find(|above| self.host.stat(above).is_ok());
            self.conf.mark_file_end(holder.unwrap_or(path));
        } else {
            self.read_file(path);
        }
    }

    /// Reads the `*.conf` files in byte order, without hidden ones.
    fn read_include_directory(&mut self, path: &Path) {
        let names = match self.host.list_directory(path) {
            Ok(names) => names,
            Err(miss) => return self.add_error_gap(&miss, &display_path(path)),
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
            if self.is_limit_reached {
                return self.add_file_limit_gap();
            }
            let file = path.join(name);
            if !self.host.stat(&file).is_ok_and(|stat| stat.is_dir()) {
                self.read_file(&file);
            }
        }
        self.conf.mark_file_end(path);
    }

    fn check_include_limits(&mut self, path: &Path) -> Result<(), Note> {
        let files = self.conf.increment_file_count();
        let file = display_path(path);
        if self.chain.iter().any(|above| above == path) {
            return Err(
                format!("{file}: the file includes itself, which the server refuses").into(),
            );
        }
        if self.chain.len() > MAX_INCLUDE_DEPTH {
            return Err(
                format!("{file}: includes are nested deeper than the server allows").into(),
            );
        }
        if files > MAX_FILES {
            self.is_limit_reached = true;
            return Err(too_many_includes_note(&file));
        }
        Ok(())
    }

    fn add_error_gap(&mut self, miss: &HostError, what: &str) {
        if miss.is_absent() {
            return self.add_rejected_file_gap(missing_include_note(what));
        }
        self.conf.add_error_gap(miss, what);
    }

    fn add_file_limit_gap(&mut self) {
        self.conf.add_config_gap(
            UnknownReason::NotCollected,
            "the configuration includes more files than walwise reads",
            None,
        );
    }

    /// Adds a note and a gap in the configuration for a file with which the server would refuse to
    /// start. A running server must have started with other contents of the file.
    fn add_rejected_file_gap(&mut self, note: Note) {
        self.conf
            .add_config_gap(UnknownReason::Malformed, note.to_string(), None);
        self.facts.add_note_once(note);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Reading;
    use crate::host::HostErrorKind;
    use crate::host::{ConfigDirective, Question};
    use crate::testing::{FakeHost, note_sentences};

    fn config_question(path: &str) -> Question {
        Question::Config(path.into(), ConfigDialect::Postgres)
    }

    fn with_settings(fake: FakeHost, path: &str, settings: &[(&str, &str)]) -> FakeHost {
        let encode = |(n, (key, value)): (usize, &(&str, &str))| {
            let line = u32::try_from(n).unwrap() + 1;
            ConfigDirective::new(line, *key, *value).encode()
        };
        let answer: Vec<Vec<u8>> = settings.iter().enumerate().map(encode).collect();
        fake.with_answer(config_question(path), answer.concat())
    }

    fn read_conf(fake: &FakeHost) -> (ServerConfig, FactSet) {
        let (mut conf, mut facts) = (ServerConfig::default(), FactSet::default());
        conf.read_config_file(fake, Path::new("/pg/postgresql.conf"), &mut facts);
        (conf, facts)
    }

    fn known_value_and_source(conf: &ServerConfig, name: &str) -> Option<(String, String)> {
        match conf.setting_reading(name)? {
            Reading::Known { value, source } => {
                Some((String::from_utf8(value).unwrap(), source.to_string()))
            }
            Reading::Unknown { .. } => None,
        }
    }

    #[test]
    fn includes_apply_in_order_and_last_setting_wins() {
        let fake = with_settings(
            FakeHost::default(),
            "/pg/postgresql.conf",
            &[
                ("fsync", "on"),
                ("include", "more/a.conf"),
                ("include_dir", "conf.d"),
                ("include_if_exists", "no.conf"),
            ],
        );
        let fake = with_settings(
            fake,
            "/pg/more/a.conf",
            &[
                ("fsync", "off"),
                ("wal_level", "minimal"),
                ("include", "b.conf"),
            ],
        );
        let fake = with_settings(fake, "/pg/more/b.conf", &[("commit_delay", "5")]);
        let fake = with_settings(fake, "/pg/conf.d/10.conf", &[("wal_level", "logical")]);
        let fake = with_settings(fake, "/pg/conf.d/9.conf", &[("wal_level", "replica")])
            .with_answer(
                Question::List("/pg/conf.d".into()),
                b"10.conf\09.conf\0.hidden.conf\0x.conf.bak",
            );
        let (conf, facts) = read_conf(&fake);
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(
            known_value_and_source(&conf, "fsync"),
            pair("off", "/pg/more/a.conf:1")
        );
        assert_eq!(
            known_value_and_source(&conf, "wal_level"),
            pair("replica", "/pg/conf.d/9.conf:1")
        );
        assert_eq!(
            known_value_and_source(&conf, "commit_delay"),
            pair("5", "/pg/more/b.conf:1")
        );
        assert!(
            conf.setting_reading("wal_recycle").is_none(),
            "nothing sets it and all was read"
        );
        assert_eq!(note_sentences(&facts), [] as [String; 0]);
    }

    #[test]
    fn denied_include_hides_only_earlier_settings() {
        let fake = with_settings(
            FakeHost::default(),
            "/pg/postgresql.conf",
            &[
                ("fsync", "on"),
                ("include", "secret.conf"),
                ("wal_level", "minimal"),
            ],
        )
        .with_error(config_question("/pg/secret.conf"), HostErrorKind::Denied);
        let (conf, _) = read_conf(&fake);
        assert_eq!(
            known_value_and_source(&conf, "wal_level")
                .map(|(value, _)| value)
                .as_deref(),
            Some("minimal")
        );
        for name in ["fsync", "full_page_writes"] {
            assert!(
                matches!(
                    conf.setting_reading(name),
                    Some(Reading::Unknown {
                        why: UnknownReason::Denied,
                        ..
                    })
                ),
                "{name}"
            );
        }
    }

    #[test]
    fn missing_or_cyclic_include_leaves_settings_unknown() {
        for (include, settings) in [
            ("gone.conf", None),
            ("postgresql.conf", None),
            ("deep.conf", Some("deep2.conf")),
        ] {
            let fake = with_settings(
                FakeHost::default(),
                "/pg/postgresql.conf",
                &[("include", include)],
            );
            let fake = match settings {
                Some(next) => with_settings(
                    with_settings(fake, "/pg/deep.conf", &[("include", next)]),
                    "/pg/deep2.conf",
                    &[("include", "deep.conf")],
                ),
                None => fake,
            };
            let (conf, facts) = read_conf(&fake);
            assert!(
                matches!(conf.setting_reading("fsync"), Some(Reading::Unknown { .. })),
                "{include}"
            );
            assert_eq!(
                note_sentences(&facts).len(),
                1,
                "{include}: {:?}",
                note_sentences(&facts)
            );
        }
    }

    proptest! {
        #[test]
        fn include_graphs_terminate(web in prop::collection::vec((0usize..6, 0usize..6, 0usize..3), 0..60)) {
            let mut fake = FakeHost::default();
            for from in 0..6 {
                let includes: Vec<(&str, String)> = web.iter().filter(|(a, ..)| *a == from)
                    .map(|(_, to, kind)| (["include", "include_if_exists", "fsync"][*kind], format!("{to}.conf")))
                    .collect();
                let includes: Vec<(&str, &str)> = includes.iter().map(|(key, value)| (*key, value.as_str())).collect();
                fake = with_settings(fake, &format!("/pg/{from}.conf"), &includes);
            }
            let (mut conf, mut facts) = (ServerConfig::default(), FactSet::default());
            conf.read_config_file(&fake, Path::new("/pg/0.conf"), &mut facts);
            prop_assert!(fake.asked_questions().len() <= 3 * MAX_FILES + 120);
        }
    }
}
