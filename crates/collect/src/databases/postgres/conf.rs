//! PostgreSQL's configuration files with includes, in the order in which the server reads them.
//! Order and nesting limit follow the server's guc-file.l; the manual describes the files in
//! *Setting Parameters*.

use std::path::Path;

use crate::databases::ServerConfig;
use crate::databases::config_reader::ConfigReader;
use crate::facts::{FactSet, Source};
use crate::host::{ConfigDialect, ConfigDirective, Host, path_from_bytes};
use crate::text::display_path;

pub fn config_reader<'a>(
    host: &'a dyn Host,
    conf: &'a mut ServerConfig,
    facts: &'a mut FactSet,
) -> ConfigReader<'a> {
    ConfigReader::new(host, ConfigDialect::Postgres, &apply_directive, conf, facts)
}

fn apply_directive(reader: &mut ConfigReader<'_>, file: &Path, directive: ConfigDirective) {
    let name = String::from_utf8_lossy(&directive.key).to_ascii_lowercase();
    let included = || file.with_file_name(path_from_bytes(directive.value.as_slice()));
    match name.as_str() {
        "include" => reader.read_file(&included()),
        "include_if_exists" => reader.read_optional_file(&included()),
        "include_dir" => reader.read_directory(&included(), |name| {
            name.ends_with(b".conf") && !name.starts_with(b".")
        }),
        _ => {
            let source = Source::from_file_line(display_path(file), directive.line);
            reader.conf.add_setting(name, directive.value, source);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Reading;
    use crate::facts::UnknownReason;
    use crate::host::HostErrorKind;
    use crate::host::Question;
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
        config_reader(fake, &mut conf, &mut facts).read_file(Path::new("/pg/postgresql.conf"));
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
            config_reader(&fake, &mut conf, &mut facts).read_file(Path::new("/pg/0.conf"));
            prop_assert!(fake.asked_questions().len() <= 3 * crate::databases::config_reader::MAX_FILES + 120);
        }
    }
}
