//! Prints, for each server release in a file, the table of settings, the check of values, and all
//! advice as the outputs print it.
//!
//! No such server runs here. `tests/servers/run` compares the result with real servers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

#[allow(dead_code, reason = "each binary uses its own share")]
#[path = "../it/support/advised.rs"]
mod advised;
#[path = "../it/support/reports.rs"]
mod reports;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use walwise_judge::compat::{
    ServerReleaseSetting, SettingChangeAction, check_advice, mysql_assignment_support,
    postgres_assignment_support, settings_of_server_release,
};
use walwise_judge::rules::{
    Advice, Change, EvaluationOptions, Finding, Level, Outcome, Rule, RuleSet, Template,
    evaluate_rule,
};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::cluster;
use walwise_model::facts::catalog::{mysql, postgres, target};
use walwise_model::facts::{Choice, FactSet, Reading, Scope, ServerKind, Source, Subject};
use walwise_model::version::Version;
use walwise_report::{script, server_conf};

use advised::AdvisedSetting;

/// The releases for which each row of the table was first valid, so that together they cover all
/// settings.
const RELEASES: [(ServerKind, &[&str]); 3] = [
    (
        ServerKind::Postgres,
        &["9.4.21", "12.0", "16.12", "18.2", "19.0"],
    ),
    (ServerKind::Mysql, &["5.7.4", "8.0.30", "8.4.0", "9.4.0"]),
    (
        ServerKind::Mariadb,
        &["10.5.9", "10.11.9", "11.4.3", "12.3.0"],
    ),
];

struct RequestedServer {
    kind: ServerKind,
    version: Version,
    facts: FactSet,
    place: Subject,
    cluster: Subject,
}

impl RequestedServer {
    fn new(asked: &Json) -> Self {
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        let kind = ServerKind::from_word(&text("kind")).unwrap();
        let version = Version::parse(&text("version")).unwrap();
        let seen = || Source::from_system_call("test");
        let (place, cluster) = (
            Subject::target(text("data")),
            Subject::cluster(text("data")),
        );
        let mut facts = FactSet::default();
        facts.insert_known(&place, &target::KIND, target::TargetKind::Directory, seen());
        facts.set_fact_link(&place, &cluster);
        facts.set_fact_link(&cluster, &place);
        facts.insert_known(&cluster, &cluster::KIND, kind, seen());
        facts.set_server_area(&cluster, kind.server_area());
        match kind {
            ServerKind::Postgres => {
                facts.insert_known(&cluster, &postgres::VERSION, version.clone(), seen());
                facts.insert_known(&cluster, &postgres::WAL_FLUSH_MEAN, 8300.0, seen());
                facts.insert_known(&cluster, &postgres::DATA, text("data"), seen());
                facts.insert_known(
                    &cluster,
                    &postgres::SOCKET_DIRECTORY,
                    text("socket"),
                    seen(),
                );
                facts.insert_known(
                    &cluster,
                    &postgres::PORT,
                    asked["port"].as_u64().unwrap_or_default(),
                    seen(),
                );
            }
            ServerKind::Mysql | ServerKind::Mariadb => {
                facts.insert_known(&cluster, &mysql::VERSION, version.clone(), seen());
                facts.insert_known(&cluster, &mysql::SOCKET, text("socket"), seen());
            }
        }
        Self {
            kind,
            version,
            facts,
            place,
            cluster,
        }
    }

    fn may_concern(&self, advised: &AdvisedSetting<'_>) -> bool {
        let subject = match advised.rule.scope {
            Scope::Cluster => &self.cluster,
            Scope::Target => &self.place,
            Scope::Host | Scope::Device | Scope::Mount | Scope::Boot => return true,
        };
        let circumstances = EvaluationOptions {
            live: true,
            traced: false,
        };
        let conditions = [Some(&advised.rule.when), advised.spec.when.as_ref()];
        conditions.into_iter().flatten().all(|when| {
            let rule = Rule {
                when: when.clone(),
                ..advised.rule.clone()
            };
            evaluate_rule(&rule, &self.facts, subject, circumstances).outcome
                != Outcome::DoesNotApply
        })
    }

    fn render_advice(&self, advised: &AdvisedSetting<'_>, value: &str) -> Json {
        let spec = advised.spec;
        let held_back = check_advice(spec.setting, &[value], &self.facts, &self.cluster).err();
        let commands = |templates: &[Template]| {
            templates
                .iter()
                .map(|one| one.shell_command(&self.facts, &self.cluster))
                .collect::<Vec<_>>()
        };
        let (apply, verify, undo) = (
            commands(&spec.apply),
            commands(&spec.verify),
            commands(&spec.undo),
        );
        let words = |all: &[ShellCommand]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut row = json!({
            "rule": advised.rule.id, "name": advised.name, "value": value, "held_back": held_back,
            "concerned": self.may_concern(advised), "apply": words(&apply), "verify": words(&verify),
            "undo": words(&undo),
        });
        let advice = Advice {
            own: Vec::new(),
            setting: spec.setting,
            change: Change::Set(value.to_owned()),
            current: Reading::not_collected(),
            reach: spec.reach,
            risk: spec.risk,
            rank: None,
            tradeoff: None,
            apply,
            verify,
            undo,
        };
        let finding = Finding {
            rule: advised.rule.id.clone(),
            subject: self.cluster.clone(),
            outcome: Outcome::Applies,
            // Optional advice enters a plan only once a user has ranked it, and is then printed
            // like any other advice.
            level: Level::Advice,
            confidence: advised.rule.confidence,
            basis: advised.rule.basis,
            settings: Arc::default(),
            title: "it's \"why\"".to_owned(),
            because: Arc::default(),
            refs: Arc::default(),
            advice: vec![advice],
            held_back: Vec::new(),
            observed: std::collections::BTreeSet::new(),
            remedy: None,
            trace: None,
        };
        let report = reports::report_of_findings(&self.facts, vec![finding]);
        row["conf"] = server_conf::render(&report).into();
        row["script"] = script::render(&report).unwrap().into();
        row
    }

    fn render_setting_support(&self, name: &str, value: &str) -> Json {
        let ruling = match self.kind {
            ServerKind::Postgres => postgres_assignment_support(name, value, &self.version),
            ServerKind::Mysql | ServerKind::Mariadb => {
                mysql_assignment_support(name, value, self.kind, &self.version)
            }
        };
        json!({
            "name": name, "value": value, "effect": ruling.effect.as_str(), "because": ruling.because,
            "known": !ruling.source.is_empty(),
        })
    }

    fn render_answers(&self, asked: &Json, rules: &RuleSet) -> Json {
        let known = settings_of_server_release(self.kind, &self.version);
        let here: BTreeSet<&str> = known.iter().map(|setting| setting.name).collect();
        let releases = RELEASES
            .iter()
            .filter(|(kind, _)| *kind == self.kind)
            .flat_map(|(_, releases)| *releases);
        let ever = releases.flat_map(|release| {
            settings_of_server_release(self.kind, &Version::parse(release).unwrap())
        });
        let elsewhere: BTreeSet<&str> = ever
            .map(|setting| setting.name)
            .filter(|name| !here.contains(name))
            .collect();
        let setting = |one: &ServerReleaseSetting| json!({ "name": one.name, "default": one.default, "change": change_word(one.changed_by) });
        let pair = |ask: &Json| {
            self.render_setting_support(ask[0].as_str().unwrap(), ask[1].as_str().unwrap())
        };
        let asks = asked["asks"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let area = if self.kind.is_postgres() {
            "pg"
        } else {
            "mysql"
        };
        let advice = advised::list_advised_settings(area, rules);
        let each = advice.iter().flat_map(|one| {
            one.values
                .iter()
                .map(move |value| self.render_advice(one, value))
        });
        json!({
            "settings": known.iter().map(setting).collect::<Vec<_>>(),
            "elsewhere": elsewhere,
            "rulings": asks.iter().map(pair).collect::<Vec<_>>(),
            "advised": each.collect::<Vec<_>>(),
        })
    }
}

fn change_word(by: SettingChangeAction) -> &'static str {
    match by {
        SettingChangeAction::Statement => "statement",
        SettingChangeAction::Session => "session",
        SettingChangeAction::Reload => "reload",
        SettingChangeAction::Restart => "restart",
        SettingChangeAction::Initdb => "initdb",
    }
}

#[test]
#[ignore = "tests/servers/run asks for it, in a file, and compares the answers with real servers"]
fn write_answers_for_requested_servers() {
    let path =
        |name| std::env::var_os(name).unwrap_or_else(|| panic!("tests/servers/run sets {name}"));
    let asked: Json =
        serde_json::from_slice(&std::fs::read(path("WALWISE_SERVERS")).unwrap()).unwrap();
    let rules = RuleSet::builtin();
    let answers: Vec<Json> = asked
        .as_array()
        .unwrap()
        .iter()
        .map(|server| RequestedServer::new(server).render_answers(server, &rules))
        .collect();
    std::fs::write(
        path("WALWISE_ANSWERS"),
        serde_json::to_vec_pretty(&answers).unwrap(),
    )
    .unwrap();
}
