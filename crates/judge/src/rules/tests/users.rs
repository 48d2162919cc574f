use proptest::prelude::*;

use super::TODAY;
use crate::facts::catalog::mount;
use crate::facts::{Choice, FactSet, Source, Subject};
use crate::rules::diagnostic::{FileDiagnostics, Severity};
use crate::rules::{
    EvaluationOptions, ExampleLoading, Level, LevelOverride, Risk, Rule, RuleFile, RuleSet,
    builtin, evaluate_rule,
};

fn rule_file(name: &str, text: String) -> RuleFile {
    RuleFile {
        name: name.to_owned(),
        text,
    }
}

fn load_user_file(text: String) -> (RuleSet, Vec<FileDiagnostics>) {
    RuleSet::from_files(
        (&[], ExampleLoading::Read),
        &[rule_file("user.toml", text)],
        TODAY,
    )
}

fn valid_rule_text(id: &str) -> String {
    format!(
        r#"[[rule]]
id         = "{id}"
since      = "1"
for        = "mount"
title      = "{{mount.point}} of {id}"
question   = "is it?"
level      = "warning"
confidence = "certain"
because    = """
    A reason
    on two lines."""
refs       = ["r"]
when       = {{ all = [
    {{ fact = "mount.fstype", is = "ext4" }},
    {{ fact = "mount.barrier", is = "off" }},
] }}

  [[rule.advise]]
  setting = "mount.options"
  remove  = ["nobarrier"]
  reach   = "whole-filesystem"
  risk    = "needs-remount"

  [[rule.evidence]]
  source = "s"
  year   = 2019
  says   = "much"
  caveat = "a little"

  [[rule.example]]
  name   = "a"
  facts  = {{ "mount.fstype" = "ext4", "mount.barrier" = "off" }}
  expect = "applies"

  [[rule.example]]
  name   = "b"
  facts  = {{ "mount.fstype" = "xfs" }}
  expect = "does not apply"

  [[rule.example]]
  name   = "c"
  expect = "undecided"
"#
    )
}

fn rule_debug_text_without_lines(rule: &Rule) -> String {
    let rule = rule.clone();
    let examples: Vec<_> = rule
        .examples
        .into_iter()
        .map(|one| crate::rules::model::RuleExample { line: 0, ..one })
        .collect();
    format!(
        "{:?}",
        Rule {
            line: 0,
            examples,
            ..rule
        }
    )
}

fn arbitrary_damaged_rule() -> impl Strategy<Value = String> {
    let text = valid_rule_text("bad.rule");
    let inside = "[[rule]]\n".len()..text.len() - 1;
    let with = prop_oneof![
        2 => ".{0,8}",
        1 => proptest::sample::select(vec!["\"\"\"", "'''", "[", "]", "{", "}", "\"", "#", "=", "\n", "[[rule", "[[off]]\n"])
            .prop_map(str::to_owned),
    ];
    (inside, 0..40usize, with).prop_map(move |(at, length, with)| {
        let (start, end) = (
            text.floor_char_boundary(at),
            text.floor_char_boundary((at + length).min(text.len() - 1)),
        );
        let mut text = text.clone();
        text.replace_range(start..end, &with);
        text
    })
}

proptest! {
    #[test]
    fn damaged_rule_leaves_other_rules_of_its_file(bad in arbitrary_damaged_rule(), before in 0..3usize, after in 0..3usize) {
        let ids: Vec<String> = (0..before + after).map(|number| format!("good.rule-{number}")).collect();
        let level = "[[override]]\nrule = \"good.rule-0\"\nlevel = \"advice\"\nbecause = \"b\"\n";
        let mut text: String = ids.iter().take(before).map(|id| valid_rule_text(id)).collect();
        text += &bad;
        text.extend(ids.iter().skip(before).map(|id| valid_rule_text(id)));
        text += level;
        let (set, found) = load_user_file(text);
        for id in &ids {
            let kept = set.find(id).map(rule_debug_text_without_lines);
            let mut alone = load_user_file(valid_rule_text(id)).0.find(id).unwrap().clone();
            if id == "good.rule-0" {
                alone.level = Level::Advice;
            }
            prop_assert_eq!(kept, Some(rule_debug_text_without_lines(&alone)), "{}", found[0].render(false));
        }
        prop_assert_eq!(set.level_overrides().len(), usize::from(!ids.is_empty()));
    }

    /// What the parser recovers may lack conditions, so that the rule would apply wrongly.
    #[test]
    fn a_rule_with_broken_syntax_is_never_used(at in 0..2000usize, with in proptest::sample::select(vec!["\"", "[", "{", "'", "\u{0}"])) {
        let mut text = valid_rule_text("bad.rule");
        text.insert_str(text.floor_char_boundary(at.min(text.len())), with);
        let errors = toml::de::DeTable::parse_recoverable(&text).1;
        let (set, found) = load_user_file(text);
        if !errors.is_empty() {
            prop_assert!(set.rules().is_empty());
            prop_assert!(found[0].mistakes().count() > 0);
        }
    }
}

/// Gives every built-in rule every level: the advice stays the same and optional rules stay
/// optional, so no plan gets advice that can lose data.
#[test]
fn level_overrides_never_change_advice() {
    let builtin = RuleSet::builtin();
    for &level in Level::ALL {
        let say = |rule: &Rule| {
            format!(
                "[[override]]\nrule = \"{}\"\nlevel = \"{}\"\nbecause = \"b\"\n",
                rule.id,
                level.as_str()
            )
        };
        let text: String = builtin.rules().iter().map(say).collect();
        let (set, found) = RuleSet::builtin_and_user_files(
            &[rule_file("user.toml", text)],
            ExampleLoading::Read,
            TODAY,
        );
        assert_eq!(
            found.iter().map(|file| file.diags.len()).sum::<usize>() + set.level_overrides().len(),
            builtin.rules().len()
        );
        for (rule, was) in set.rules().iter().zip(builtin.rules()) {
            assert_eq!(
                rule_debug_text_without_lines(&Rule {
                    level: was.level,
                    ..rule.clone()
                }),
                rule_debug_text_without_lines(was)
            );
            let fixed = |level| matches!(level, Level::Optional | Level::Keep);
            assert!(
                rule.level == was.level || !fixed(rule.level) && !fixed(was.level),
                "{}",
                rule.id
            );
            let can_lose = rule
                .advise
                .iter()
                .any(|advice| advice.risk == Risk::DataLossIfWrong);
            assert!(!can_lose || rule.level == Level::Optional, "{}", rule.id);
        }
        for given in set.level_overrides() {
            let LevelOverride {
                was, level: now, ..
            } = given;
            assert_eq!(
                (builtin.find(&given.rule).map(|rule| rule.level), *now),
                (Some(*was), level)
            );
        }
    }
}

#[test]
fn a_users_rule_never_advises_what_can_lose_data() {
    let (set, found) = RuleSet::from_files(
        (&[], ExampleLoading::Read),
        &builtin::builtin_files(),
        TODAY,
    );
    let risky = |rule: &&Rule| {
        rule.advise
            .iter()
            .any(|advice| advice.risk == Risk::DataLossIfWrong)
    };
    let ours = RuleSet::builtin();
    let ours: Vec<&Rule> = ours.rules().iter().filter(risky).collect();
    assert!(!ours.is_empty() && ours.iter().all(|rule| set.find(&rule.id).is_none()));
    assert_eq!(set.rules().iter().filter(risky).count(), 0);
    assert!(found.iter().all(|file| {
        file.mistakes()
            .all(|diag| diag.message.contains("can lose data"))
    }));

    // Advice whose value comes from a fact is blocked too. The value becomes known only when the
    // rule is evaluated.
    let text = valid_rule_text("user.from-fact").replace(
        "  setting = \"mount.options\"\n  remove  = [\"nobarrier\"]",
        "  setting = \"mount.options\"\n  add_from = \"mount.super_options\"",
    );
    let (set, found) = load_user_file(text);
    assert!(found.is_empty(), "{}", found[0].render(false));
    let at = Subject::mount("/srv");
    let mut facts = FactSet::default();
    facts.insert_known(
        &at,
        &mount::FSTYPE,
        "ext4".to_owned(),
        Source::from_file("/proc/self/mountinfo"),
    );
    facts.insert_known(
        &at,
        &mount::BARRIER,
        mount::BarrierState::Off,
        Source::from_file("/proc/self/mountinfo"),
    );
    facts.insert_known(
        &at,
        &mount::SUPER_OPTIONS,
        vec!["nobarrier".to_owned()],
        Source::from_file("/proc/self/mountinfo"),
    );
    let as_option = Rule {
        level: Level::Optional,
        ..set.rules()[0].clone()
    };
    let finding = evaluate_rule(
        &as_option,
        &facts,
        &at,
        EvaluationOptions {
            live: true,
            traced: false,
        },
    );
    assert!(
        finding.advice.is_empty() && finding.held_back[0].because.contains("user.toml"),
        "{finding:?}"
    );
}

#[test]
fn entries_without_effect_are_remarks() {
    let text = valid_rule_text("a.b")
        + "[[off]]\nrule = \"a.bb\"\nbecause = \"b\"\n[[override]]\nrule = \"a.b\"\nlevel = \"warning\"\nbecause = \"b\"\n";
    let (set, found) = load_user_file(text);
    let said: Vec<(Severity, Option<&str>)> = found[0]
        .diags
        .iter()
        .map(|diag| (diag.severity, diag.help.as_deref()))
        .collect();
    assert_eq!(
        said,
        [
            (Severity::Remark, Some("did you mean `a.b`?")),
            (Severity::Remark, Some("remove it, or give another level"))
        ]
    );
    assert_eq!((set.rules().len(), set.disabled_rules().len()), (1, 0));
    assert_eq!(
        (set.not_in_force_sentences().len(), set.remarks().len()),
        (0, 2)
    );
    assert_eq!(
        set.remarks()[1],
        "user.toml:47: no effect: `a.b` is already `warning`; remove it, or give another level"
    );
}

#[test]
fn second_level_override_is_a_mistake() {
    let say = |level: &str| {
        format!("[[override]]\nrule = \"a.b\"\nlevel = \"{level}\"\nbecause = \"as we see it\"\n")
    };
    let (set, found) = RuleSet::from_files(
        (&[], ExampleLoading::Read),
        &[
            rule_file("1.toml", valid_rule_text("a.b") + &say("critical")),
            rule_file("2.toml", say("advice")),
        ],
        TODAY,
    );
    assert_eq!(
        set.find("a.b").map(|rule| rule.level),
        Some(Level::Critical)
    );
    assert_eq!(found[0].mistakes().count(), 1);
    assert_eq!(
        (found[0].file.as_str(), found[0].diags[0].message.as_str()),
        ("2.toml", "a second override for `a.b`")
    );
    assert_eq!(
        set.level_overrides()[0]
            .to_level_changed_note(false)
            .to_string(),
        "rule a.b is raised from warning to critical: as we see it (1.toml:44)"
    );
}

/// Option words of a user's rule get into commands and fstab, so words that could break these are
/// mistakes.
#[test]
fn unsafe_option_words_in_user_rules_are_mistakes() {
    let with = |setting: &str, change: &str| {
        let text = valid_rule_text("a.b").replace(
            "  setting = \"mount.options\"\n  remove  = [\"nobarrier\"]",
            &format!("  setting = \"{setting}\"\n  {change}"),
        );
        assert!(text.contains(change));
        load_user_file(text)
            .1
            .iter()
            .flat_map(crate::rules::diagnostic::FileDiagnostics::mistakes)
            .count()
    };
    for (setting, change) in [
        ("mount.options", "add = [\"noatime\"]"),
        ("mount.options", "add = [\"x-systemd.device-timeout=10s\"]"),
        ("mkfs.options", "add = [\"-b 4096\"]"),
        ("mkfs.features", "add = [\"^64bit\"]"),
    ] {
        assert_eq!(with(setting, change), 0, "{setting} {change}");
    }
    for (setting, change) in [
        ("mount.options", "add = [\"-onobarrier\"]"),
        ("mount.options", "add = [\"noatime;id\"]"),
        ("mount.options", "add = [\"nobarrier=1\"]"),
        ("mount.options", "add = [\"checkpoint=disable\"]"),
        ("mkfs.options", "add = [\"-O^has_journal\"]"),
        ("mkfs.options", "add = [\"-O  ^has_journal\"]"),
        ("mkfs.options", "add = [\"-t ext2\"]"),
        ("mkfs.options", "add = [\"; rm -rf /\"]"),
        ("mkfs.features", "add = [\"-has_journal\"]"),
        ("mkfs.features", "add = [\"none\"]"),
        ("mkfs.features", "add = [\"^FEATURE_C2\"]"),
        ("mkfs.features", "remove = [\"has_journal\"]"),
        ("filesystem", "set = \"tmpfs\""),
        ("mysql.sync_binlog", "set = \"-1\""),
        ("mysql.sync_binlog", "set = \"1000\""),
        ("mysql.innodb_flush_log_at_trx_commit", "set = \"99\""),
    ] {
        assert!(with(setting, change) > 0, "{setting} {change}");
    }
}

#[test]
fn off_and_override_expire_after_until_date() {
    let off = |until: &str| format!("[[off]]\nrule = \"a.b\"\nbecause = \"b\"\nuntil = {until}\n");
    let level = |until: &str| {
        format!(
            "[[override]]\nrule = \"a.b\"\nlevel = \"advice\"\nbecause = \"b\"\nuntil = {until}\n"
        )
    };
    let written = load_user_file(valid_rule_text("a.b")).0.rules()[0].level;
    assert_ne!(written, Level::Advice);
    for (until, holds) in [
        ("2026-11-22", false),
        ("\"2026-11-22\"", false),
        ("2026-11-23", true),
        ("\"2027-01-01\"", true),
    ] {
        let (set, found) = load_user_file(valid_rule_text("a.b") + &off(until));
        assert!(found.is_empty(), "{}", found[0].render(false));
        assert_eq!(
            (set.find("a.b").is_none(), set.disabled_rules().len()),
            (holds, usize::from(holds)),
            "{until}"
        );
        assert_eq!(
            set.expired_overrides().len(),
            usize::from(!holds),
            "{until}"
        );
        let (set, found) = load_user_file(valid_rule_text("a.b") + &level(until));
        assert!(found.is_empty(), "{}", found[0].render(false));
        let level = if holds { Level::Advice } else { written };
        assert_eq!(set.rules()[0].level, level, "{until}");
        let day = until.trim_matches('"');
        let said: Vec<String> = set
            .level_overrides()
            .iter()
            .map(|given| given.to_level_changed_note(false).to_string())
            .collect();
        let ended: Vec<String> = set
            .expired_overrides()
            .iter()
            .map(|ended| ended.to_expired_note().to_string())
            .collect();
        assert!(
            said.iter().chain(&ended).any(|note| note.contains(&format!(
                "{} {day}",
                if holds { "until" } else { "expired after" }
            ))),
            "{said:?} {ended:?}"
        );
        assert_eq!(ended.len(), usize::from(!holds));
    }
}

/// An entry with such a last day would never expire.
#[test]
fn invalid_until_dates_are_mistakes() {
    for until in [
        "\"soon\"",
        "2026",
        "\"2026-13-01\"",
        "2026-11-23T10:00:00Z",
        "\"\"",
        "[]",
        "10:00:00",
    ] {
        let (set, found) = load_user_file(
            valid_rule_text("a.b")
                + &format!("[[off]]\nrule = \"a.b\"\nbecause = \"b\"\nuntil = {until}\n"),
        );
        assert_eq!(
            (found[0].mistakes().count(), set.disabled_rules().len()),
            (1, 0),
            "{until}"
        );
        assert!(set.find("a.b").is_some(), "{until}");
    }
}
