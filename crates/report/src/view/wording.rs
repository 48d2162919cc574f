use std::collections::BTreeSet;

use crate::{Alternative, Plan, Report, Step, WithheldAdvice, mount_and_mkfs_options};
use walwise_judge::rules::{Change, EffectScope, Risk};
use walwise_model::facts::catalog::target;
use walwise_model::facts::{Key, MissingFact, Scope, Subject, Value};
use walwise_model::text::JoinText;

/// Describes a step's change, such as `remove nobarrier; relatime → noatime`, `off → on` or `keep
/// fdatasync`.
pub fn step_change_text(step: &Step) -> String {
    let advice = &step.advice;
    let now = advice
        .current
        .value()
        .map(|now| advice.setting.format_config_value(now));
    match (&advice.change, now) {
        (Change::Set(value), Some(now)) => format!("{now} → {value}"),
        (Change::Set(value), None) => value.clone(),
        (Change::Keep, Some(now)) => format!("keep {now}"),
        (Change::Keep, None) => "keep".to_owned(),
        (Change::Add(_) | Change::Remove(_) | Change::Edit { .. }, _) => {
            step_list_change_text(step)
        }
    }
}

fn step_list_change_text(step: &Step) -> String {
    let advice = &step.advice;
    let now: &[String] = match advice.current.value() {
        Some(Value::List(words)) => words,
        _ => &[],
    };
    let mounts = advice.setting.kind.present_or_boot_mount().is_some();
    let replaced = |word: &String| {
        now.iter().find(|old| {
            mounts
                && *old != word
                && mount_and_mkfs_options::exclusive_mount_option_family(old)
                    == mount_and_mkfs_options::exclusive_mount_option_family(word)
        })
    };
    let added = advice
        .change
        .set_or_added_values()
        .iter()
        .map(|word| match replaced(word) {
            Some(old) => format!("{old} → {word}"),
            None => format!("add {word}"),
        });
    let removed = advice.change.removed_options();
    let present: Vec<&str> = removed
        .iter()
        .filter(|word| now.contains(word))
        .map(String::as_str)
        .collect();
    let named = if present.is_empty() {
        removed.join(" or ")
    } else {
        present.join(", ")
    };
    // Removed options come first, because they are dangerous and narrow screens cut the end.
    (!named.is_empty())
        .then(|| format!("remove {named}"))
        .into_iter()
        .chain(added)
        .join_with(", ")
}

/// The level of a rule before the user changed it, such as ` (originally critical)`; empty for
/// rules that the user did not change.
pub fn original_level_suffix(report: &Report, rule: &str) -> String {
    let was = report.pack.level_before_override(rule);
    was.map(|was| format!(" (originally {was})"))
        .unwrap_or_default()
}

pub fn describe_subject(subject: &Subject) -> String {
    match subject.scope() {
        Scope::Host => "this host".to_owned(),
        Scope::Boot => format!("{} at the next boot", subject.name()),
        Scope::Cluster => format!("the server on {}", subject.name()),
        Scope::Mount | Scope::Device | Scope::Target => subject.name().to_owned(),
    }
}

pub fn shared_storage_sentences(report: &Report, of: &Subject) -> Vec<String> {
    let shares = |(what, fact): (&str, &Key<Vec<String>>)| {
        let others = report.facts.value(of, fact).unwrap_or_default();
        let says = format!("This target shares {what} with {}.", others.join(", "));
        (!others.is_empty()).then_some(says)
    };
    [
        ("the disks", &target::SHARES_DISK),
        ("the file system", &target::SHARES_FILE_SYSTEM),
        ("the thin pool", &target::SHARES_THIN_POOL),
    ]
    .into_iter()
    .filter_map(shares)
    .collect()
}

pub(crate) fn distinct_texts<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    words.filter(|word| seen.insert(*word)).collect()
}

pub fn count_with_noun(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

pub(crate) fn effect_scope_text(reach: EffectScope) -> &'static str {
    match reach {
        EffectScope::ThisMount => "this mount",
        EffectScope::WholeFilesystem => "the whole file system",
        EffectScope::NewFiles => "new files in this directory",
        EffectScope::Server => "the server",
        EffectScope::Device => "the device and all layers above it",
        EffectScope::NextBoot => "the next boot",
    }
}

pub(crate) fn risk_text(risk: Risk) -> &'static str {
    match risk {
        Risk::None => "effective immediately",
        Risk::NeedsReload => "needs a reload",
        Risk::NeedsRestart => "needs a restart",
        Risk::NeedsRemount => "needs a remount",
        Risk::NeedsUnmount => "needs the file system unmounted",
        Risk::NeedsNewFilesystem => "needs a new file system",
        Risk::DataLossIfWrong => "can lose data if a fact is wrong",
    }
}

pub(crate) fn interruption_text(risk: Risk) -> &'static str {
    if risk == Risk::DataLossIfWrong {
        "none; data may be lost"
    } else {
        risk.interruption_word()
    }
}

/// Lists what a plan interrupts, the most severe first: `downtime of /srv`,
/// `restart of the server on /srv/pg`.
pub fn plan_interruption_texts(plan: &Plan) -> Vec<String> {
    let none = interruption_text(Risk::None);
    let mut all = Vec::new();
    for (risk, on) in plan.interruptions() {
        let what = interruption_text(risk);
        if what != none {
            let on = on.into_iter().map(describe_subject).join_with(", ");
            all.push(format!("{what} of {on}"));
        }
    }
    if all.is_empty() {
        all.push(none.to_owned());
    }
    all
}

pub(crate) fn alternative_text(step: &Step, other: &Alternative) -> String {
    let place = if other.rank == step.advice.rank.unwrap_or(1) {
        ", with no meaningful difference"
    } else {
        ""
    };
    let text = format!("{}{place}: {}.", other.value, other.title);
    match &other.tradeoff {
        Some(price) => format!("{text} Trade-off: {price}"),
        None => text,
    }
}

pub(crate) fn effect_and_risk_text(affected: EffectScope, danger: Risk) -> String {
    let waits = affected == EffectScope::NextBoot;
    let mut parts = vec![effect_scope_text(affected)];
    parts.extend(waits.then_some("nothing changes now"));
    parts.extend((!waits || danger >= Risk::NeedsNewFilesystem).then(|| risk_text(danger)));
    parts.join("; ")
}

pub(crate) fn withheld_advice_text(one: &WithheldAdvice) -> String {
    format!(
        "{} for {}: {}",
        one.advice,
        describe_subject(&one.subject),
        one.because
    )
}

pub fn missing_fact_text(need: &MissingFact) -> String {
    let text = format!(
        "{} of {}: {}",
        need.fact,
        describe_subject(&need.subject),
        missing_fact_reason(need)
    );
    match &need.remedy {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

pub fn missing_fact_reason(need: &MissingFact) -> String {
    if need.detail.is_empty() {
        need.why.to_string()
    } else {
        format!("{} ({})", need.why, need.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::Choice;

    #[test]
    fn next_boot_effects_are_never_immediate() {
        for &affected in EffectScope::ALL {
            for &danger in Risk::ALL {
                let said = effect_and_risk_text(affected, danger);
                let waits = affected == EffectScope::NextBoot;
                assert_eq!(said.contains("nothing changes now"), waits, "{said}");
                assert!(!(waits && said.contains("immediately")), "{said}");
                let grave = danger >= Risk::NeedsNewFilesystem;
                assert!(!grave || said.ends_with(risk_text(danger)), "{said}");
            }
        }
    }
}
