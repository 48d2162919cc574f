//! Compares the advice that built-in rules can give for database servers with the table of
//! settings. The module `settings` compares that table with the installed servers.

use walwise_judge::compat::{SettingChangeAction, check_advice, settings_of_server_release};
use walwise_judge::rules::model::{Condition, TestOperator};
use walwise_judge::rules::{
    EvaluationOptions, Level, Outcome, Risk, Rule, RuleSet, evaluate_rule, evaluate_rules,
};
use walwise_model::facts::ServerArea;
use walwise_model::facts::catalog::postgres::WalSyncMethod;
use walwise_model::facts::catalog::{self, cluster, device, mysql, postgres, target, trial};
use walwise_model::facts::{Choice, FactSet, KeyInfo, Reading, Scope, ServerKind, Source, Subject};
use walwise_model::settings;
use walwise_model::version::Version;

use super::support::advised::{self, AdvisedSetting, parse_advised_value};

const NOW: EvaluationOptions = EvaluationOptions {
    live: true,
    traced: false,
};

struct ServerRelease {
    of: &'static str,
    version: Version,
    facts: FactSet,
}

fn parse_server_kind(of: &str) -> ServerKind {
    Choice::from_word(of).unwrap()
}

impl ServerRelease {
    fn new(of: &'static str, version: &str) -> Self {
        let version = self::parse_version(version);
        let source = || Source::from_file("/usr/sbin/server");
        let (subject, target) = (Subject::cluster("/db"), Subject::target("/db"));
        let mut facts = FactSet::default();
        facts.add_subject(&target);
        facts.set_fact_link(&target, &subject);
        facts.set_fact_link(&subject, &target);
        facts.insert_known(&subject, &cluster::KIND, parse_server_kind(of), source());
        let key = if of == "postgres" {
            &postgres::VERSION
        } else {
            &mysql::VERSION
        };
        facts.insert_known(&subject, key, version.clone(), source());
        // Without it, `pg.commit-delay` does not apply.
        facts.insert_known(&subject, &postgres::WAL_FLUSH_MEAN, 8300.0, source());
        if of == "postgres" && version.number(0) >= 15 {
            // Every other release is built with lz4, so that builds with and without the library
            // are covered.
            let lz4 = version.number(1).is_multiple_of(2).then_some("lz4");
            let values = ["off", "pglz"]
                .into_iter()
                .chain(lz4)
                .map(str::to_owned)
                .collect();
            facts.insert_known(&subject, &postgres::WAL_COMPRESSIONS, values, source());
        }
        let is_even = version.number(1).is_multiple_of(2);
        let method = if is_even {
            WalSyncMethod::OpenDatasync
        } else {
            WalSyncMethod::Fdatasync
        };
        facts.insert_known(&target, &trial::METHOD, method, source());
        Self { of, version, facts }
    }

    fn subject_for_rule_scope(rule: &Rule) -> Subject {
        match rule.scope {
            Scope::Cluster => Subject::cluster("/db"),
            Scope::Target => Subject::target("/db"),
            other => panic!(
                "{}: a rule for a {other} advises settings of a server",
                rule.id
            ),
        }
    }

    fn lacks_setting_of(&self, fact: &str) -> bool {
        let Some(name) = fact
            .split_once('.')
            .and_then(|(from, name)| (from == setting_area(self.of)).then_some(name))
        else {
            return false;
        };
        let has = |version: &Version| {
            settings_of_server_release(parse_server_kind(self.of), version)
                .iter()
                .any(|one| one.name == name)
        };
        !has(&self.version)
            && ["5.7.9", "10.5.0", "12.0", "99.0"]
                .iter()
                .any(|other| has(&parse_version(other)))
    }

    fn condition_can_never_hold(&self, cond: &Condition) -> bool {
        match cond {
            Condition::All(parts) => parts.iter().any(|part| self.condition_can_never_hold(part)),
            Condition::Any(parts) => parts.iter().all(|part| self.condition_can_never_hold(part)),
            Condition::Fact(test) => {
                !matches!(test.op, TestOperator::Known) && self.lacks_setting_of(test.fact.name)
            }
            Condition::Not(_) | Condition::Every(..) | Condition::Some(..) => false,
        }
    }

    fn condition_may_hold(&self, rule: &Rule, cond: &Condition) -> bool {
        let rule = Rule {
            when: cond.clone(),
            ..rule.clone()
        };
        let found = evaluate_rule(
            &rule,
            &self.facts,
            &Self::subject_for_rule_scope(&rule),
            NOW,
        );
        found.outcome != Outcome::DoesNotApply && !self.condition_can_never_hold(cond)
    }

    fn rule_may_advise(&self, advised: &AdvisedSetting<'_>) -> bool {
        let when = [Some(&advised.rule.when), advised.spec.when.as_ref()];
        when.into_iter()
            .flatten()
            .all(|cond| self.condition_may_hold(advised.rule, cond))
    }
}

fn parse_version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn setting_area(of: &str) -> &'static str {
    if of == "postgres" { "pg" } else { "mysql" }
}

fn server_releases(of: &'static str) -> Vec<ServerRelease> {
    let minors = |line: &str, from: u32, to: u32| -> Vec<String> {
        (from..=to).map(|minor| format!("{line}.{minor}")).collect()
    };
    let versions: Vec<String> = match of {
        "postgres" => (12..=19)
            .flat_map(|major| minors(&major.to_string(), 0, 13))
            .collect(),
        "mysql" => [
            ("5.7", 9, 26),
            ("8.0", 11, 36),
            ("8.1", 0, 0),
            ("8.2", 0, 0),
            ("8.3", 0, 0),
            ("8.4", 0, 4),
        ]
        .into_iter()
        .flat_map(|(line, from, to)| minors(line, from, to))
        .chain((0..=9).flat_map(|series| minors(&format!("9.{series}"), 0, 1)))
        .collect(),
        _ => (5..=11)
            .flat_map(|series| minors(&format!("10.{series}"), 0, 9))
            .chain((0..=8).flat_map(|series| minors(&format!("11.{series}"), 0, 6)))
            .chain((0..=3).flat_map(|series| minors(&format!("12.{series}"), 0, 3)))
            .collect(),
    };
    versions
        .iter()
        .map(|version| ServerRelease::new(of, version))
        .collect()
}

#[test]
fn advised_values_are_accepted_by_their_releases() {
    let rules = RuleSet::builtin();
    let mut wrong = Vec::new();
    for of in ["postgres", "mysql", "mariadb"] {
        let releases = server_releases(of);
        for advised in advised::list_advised_settings(setting_area(of), &rules) {
            let subject = ServerRelease::subject_for_rule_scope(advised.rule);
            let may: Vec<&ServerRelease> = releases
                .iter()
                .filter(|one| one.rule_may_advise(&advised))
                .collect();
            for value in &advised.values {
                let refused = may.iter().find_map(|release| {
                    let because =
                        check_advice(advised.spec.setting, &[value], &release.facts, &subject)
                            .err()?;
                    Some(format!(
                        "{} on {of} {}: {because}",
                        advised.rule.id, release.version
                    ))
                });
                wrong.extend(refused);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_advice_can_be_given_on_some_release() {
    let rules = RuleSet::builtin();
    for (area, servers) in [("pg", &["postgres"][..]), ("mysql", &["mysql", "mariadb"])] {
        let releases: Vec<ServerRelease> =
            servers.iter().flat_map(|of| server_releases(of)).collect();
        for advised in advised::list_advised_settings(area, &rules) {
            let possible = releases
                .iter()
                .any(|release| release.rule_may_advise(&advised));
            assert!(
                possible,
                "{} never advises {}",
                advised.rule.id, advised.name
            );
        }
    }
}

#[test]
fn advice_without_a_server_is_accepted_by_every_release() {
    let rules = RuleSet::builtin();
    let subject = Subject::target("/unused");
    let mut facts = FactSet::default();
    facts.insert_known(
        &subject,
        &target::ROLES,
        Vec::new(),
        Source::from_file("/proc"),
    );
    let mut advice = 0;
    for advised in advised::list_advised_settings("pg", &rules)
        .iter()
        .filter(|one| one.rule.scope == Scope::Target)
    {
        let found = evaluate_rule(advised.rule, &facts, &subject, NOW);
        if found.outcome == Outcome::DoesNotApply {
            continue;
        }
        for value in &advised.values {
            let ruling = check_advice(advised.spec.setting, &[value], &facts, &subject);
            assert!(ruling.is_ok(), "{}: {ruling:?}", advised.rule.id);
            advice += 1;
        }
    }
    assert!(advice >= 5, "four methods, and checksums: {advice}");
}

#[test]
fn advice_names_needed_reload_or_restart() {
    let rules = RuleSet::builtin();
    for of in ["postgres", "mysql", "mariadb"] {
        let releases = server_releases(of);
        for advised in advised::list_advised_settings(setting_area(of), &rules) {
            if advised.values.is_empty() {
                continue;
            }
            for release in releases
                .iter()
                .filter(|release| release.rule_may_advise(&advised))
            {
                let settings = settings_of_server_release(parse_server_kind(of), &release.version);
                let known = settings
                    .iter()
                    .find(|setting| setting.name == advised.name)
                    .unwrap();
                let needs = match known.changed_by {
                    SettingChangeAction::Statement | SettingChangeAction::Initdb => Risk::None,
                    SettingChangeAction::Session | SettingChangeAction::Reload => Risk::NeedsReload,
                    SettingChangeAction::Restart => Risk::NeedsRestart,
                };
                assert!(
                    advised.spec.risk >= needs,
                    "{}: {} on {of} {} needs {needs:?}",
                    advised.rule.id,
                    advised.name,
                    release.version
                );
            }
        }
    }
}

/// The expected values come from the public release notes of each server.
#[test]
fn unsupported_values_are_held_back() {
    for (of, version, setting, value, taken) in [
        (
            "postgres",
            "17.7",
            "pg.file_extend_method",
            "write_zeros",
            false,
        ),
        (
            "postgres",
            "17.8",
            "pg.file_extend_method",
            "write_zeros",
            true,
        ),
        ("postgres", "14.9", "pg.wal_compression", "pglz", false),
        ("postgres", "15.1", "pg.wal_compression", "zstd", false),
        (
            "postgres",
            "13.9",
            "pg.recovery_init_sync_method",
            "fsync",
            false,
        ),
        (
            "postgres",
            "16.4",
            "pg.wal_sync_method",
            "fsync_writethrough",
            false,
        ),
        ("mysql", "8.0.25", "mysql.innodb_use_fdatasync", "on", false),
        ("mysql", "8.0.26", "mysql.innodb_use_fdatasync", "on", true),
        (
            "mysql",
            "8.4.1",
            "mysql.innodb_data_file_buffering",
            "off",
            false,
        ),
        (
            "mysql",
            "8.4.1",
            "mysql.innodb_flush_log_at_trx_commit",
            "3",
            false,
        ),
        (
            "mariadb",
            "10.11.19",
            "mysql.innodb_flush_method",
            "O_DIRECT",
            true,
        ),
        (
            "mariadb",
            "11.4.2",
            "mysql.innodb_flush_method",
            "O_DIRECT",
            false,
        ),
        (
            "mariadb",
            "10.11.19",
            "mysql.innodb_data_file_buffering",
            "off",
            false,
        ),
        (
            "mariadb",
            "11.4.2",
            "mysql.innodb_data_file_buffering",
            "off",
            true,
        ),
        (
            "mariadb",
            "11.4.2",
            "mysql.innodb_use_fdatasync",
            "on",
            false,
        ),
    ] {
        let release = ServerRelease::new(of, version);
        let ruling = check_advice(
            settings::find_by_name(setting).unwrap(),
            &[value],
            &release.facts,
            &Subject::cluster("/db"),
        );
        assert_eq!(
            ruling.is_ok(),
            taken,
            "{of} {version} {setting} = {value}: {ruling:?}"
        );
    }
}

const PLACE: &[(&str, &str)] = &[
    ("kernel.version", "6.1.140"),
    ("vm.dirty_background", "1717986918"),
    ("mount.fstype", "ext4"),
    ("mount.super_options", "rw"),
    ("ext4.fast_commit", "off"),
    ("target.kind", "directory"),
    ("device.medium", "flash"),
    ("device.write_cache", "write back"),
    ("device.cache", "volatile"),
    ("pg.running", "off"),
    ("pg.wal_room", "60"),
    ("pg.wal_size_fit", "enough"),
    ("pg.wal_busy_rate", "1048576"),
    ("pg.wal_segment_size", "16777216"),
    ("pg.wal_buffers_full", "0"),
    ("pg.checkpoint_timeout_trade", ""),
    ("mysql.running", "off"),
    ("mysql.log_bin", "off"),
    ("mysql.redo_sizes_ignored", ""),
    ("mysql.redo_size_fit", "enough"),
    ("pg.wal_volume", "100"),
    ("pg.missing_standbys", "0"),
    ("pg.waiting_sessions", "0"),
    ("pg.inactive_slot_share", "0"),
    ("pg.inactive_slot_wal", "0"),
    ("pg.inactive_slot", ""),
    ("pg.max_slot_wal_keep_size", "-1"),
    ("pg.slot_wal_cap", ""),
    ("pg.archive_ready", "0"),
    ("pg.archiver_failing", "off"),
    ("pg.archive_failures", "0"),
    ("mysql.binlog_free_percent", "50"),
    ("mysql.binlog_percent", "1"),
    ("mysql.binlog_files", "0"),
    ("mysql.log_waits", "0"),
    ("mysql.log_buffer_wanted", ""),
    ("mysql.commits_per_group", "1"),
];

fn facts_with_defaults(release: &ServerRelease) -> FactSet {
    let (target, server) = (Subject::target("/db"), Subject::cluster("/db"));
    let (mount, disk) = (Subject::mount("/db"), Subject::device("sda"));
    let mut facts = release.facts.clone();
    facts.add_layer_below(&mount, &disk);
    for of in [&target, &server] {
        facts.add_layer_below(of, &mount);
        facts.set_fact_link(of, &mount);
        facts.set_fact_link(of, &disk);
    }
    facts.set_server_area(
        &server,
        if release.of == "postgres" {
            ServerArea::Pg
        } else {
            ServerArea::Mysql
        },
    );
    let log = if release.of == "postgres" {
        target::DirectoryRole::Wal
    } else {
        target::DirectoryRole::Redo
    };
    facts.insert_known(
        &target,
        &target::ROLES,
        vec![target::DirectoryRole::Data, log],
        Source::from_file("x"),
    );
    facts.insert_known(
        &target,
        &target::COMMIT_OFF_FOR,
        Vec::new(),
        Source::from_file("x"),
    );
    facts.insert_known(
        &disk,
        &device::TRANSPORT,
        device::Transport::Sata,
        Source::from_file("x"),
    );
    let at = |info: &KeyInfo| match info.scope {
        Scope::Target => target.clone(),
        Scope::Mount => mount.clone(),
        Scope::Device => disk.clone(),
        Scope::Host => Subject::host(),
        _ => server.clone(),
    };
    let settings = settings_of_server_release(parse_server_kind(release.of), &release.version);
    let own = format!("{}.", setting_area(release.of));
    for info in catalog::all_keys()
        .filter(|info| info.name.starts_with(&own) && !info.name.ends_with(".version"))
    {
        let setting = settings
            .iter()
            .find(|setting| Some(setting.name) == info.name.strip_prefix(&own));
        // The default -1 makes the server compute the value.
        let default = setting
            .and_then(|setting| setting.default)
            .filter(|default| *default != "-1");
        let reading = match default {
            Some(default) => Reading::known(
                parse_advised_value(info.kind, default),
                Source::Default { of: "x".to_owned() },
            ),
            None => Reading::absent("this release has none"),
        };
        facts.insert_untyped_value(&at(info), info, reading);
    }
    for (name, text) in PLACE {
        let info = catalog::find_by_name(name).unwrap();
        if info.scope != Scope::Cluster || name.starts_with(&own) {
            facts.insert_untyped_value(
                &at(info),
                info,
                Reading::known(parse_advised_value(info.kind, text), Source::from_file("x")),
            );
        }
    }
    facts
}

#[test]
fn default_settings_of_every_release_raise_no_findings() {
    let rules = RuleSet::builtin();
    for of in ["postgres", "mysql", "mariadb"] {
        for release in server_releases(of) {
            let facts = facts_with_defaults(&release);
            let about = [Subject::cluster("/db"), Subject::target("/db")];
            let found = evaluate_rules(&about, &rules, &facts, NOW).findings;
            for finding in found
                .iter()
                .filter(|one| one.rule.starts_with(setting_area(of)))
                // Skips rules about known changes: every fact here is assumed, including the
                // kernel.
                .filter(|one| {
                    rules
                        .find(&one.rule)
                        .is_none_or(|rule| rule.change.is_none())
                })
            {
                let at = format!("{of} {}: {}", release.version, finding.rule);
                match &finding.outcome {
                    Outcome::Applies => {
                        assert!(finding.level < Level::Warning, "{at}: {}", finding.title);
                    }
                    // Only a missing measurement may leave a rule undecided.
                    Outcome::Undecided { needs } => {
                        let best = needs
                            .first()
                            .unwrap_or_else(|| panic!("{at}: nothing would decide it"));
                        assert!(
                            best.iter().all(|need| need.fact.starts_with("probe.")),
                            "{at}: {best:?}"
                        );
                    }
                    Outcome::DoesNotApply => {}
                }
            }
        }
    }
}
