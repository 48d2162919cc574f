//! The words in which advice is told: what changes, who is affected, what could go wrong.

use std::collections::BTreeSet;

use crate::{Alternative, Plan, Report, Step, Withheld, options};
use walwise_judge::rules::{Change, Reach, Risk};
use walwise_model::facts::catalog::target;
use walwise_model::facts::{Key, Need, Reading, Scope, Subject, Value};

/// What a step changes: `relatime → noatime, remove nobarrier`, `off → on`, `keep fdatasync`.
pub fn change(step: &Step) -> String {
    let advice = &step.advice;
    let now = match &advice.current {
        Reading::Known { value, .. } => Some(advice.setting.written(value)),
        Reading::Unknown { .. } => None,
    };
    match &advice.change {
        Change::Set(value) => match now {
            Some(now) => format!("{now} → {value}"),
            None => value.clone(),
        },
        Change::Keep => match now {
            Some(now) => format!("keep {now}"),
            None => "keep".to_owned(),
        },
        Change::Add(_) | Change::Remove(_) | Change::Edit { .. } => list_change(step),
    }
}

fn list_change(step: &Step) -> String {
    let advice = &step.advice;
    let now: &[String] = match &advice.current {
        Reading::Known {
            value: Value::List(words),
            ..
        } => words,
        _ => &[],
    };
    let mounts = advice.setting.kind.mount().is_some();
    let replaced = |word: &String| {
        now.iter()
            .find(|old| mounts && *old != word && options::family(old) == options::family(word))
    };
    let added = advice
        .change
        .values()
        .iter()
        .map(|word| match replaced(word) {
            Some(old) => format!("{old} → {word}"),
            None => format!("add {word}"),
        });
    let removed = advice.change.removed();
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
    // What goes is what was dangerous, so it is said first: narrow screens cut the end.
    let gone = (!named.is_empty()).then(|| format!("remove {named}"));
    gone.into_iter().chain(added).collect::<Vec<_>>().join(", ")
}

/// The level that a rule was written with, where the user gave it another:
/// ` (critical as written)`.
pub fn level_as_written(report: &Report, rule: &str) -> String {
    let was = report.pack.level_as_written(rule);
    was.map(|was| format!(" ({} as written)", was.word()))
        .unwrap_or_default()
}

/// A subject as part of a sentence.
pub fn subject(subject: &Subject) -> String {
    match subject.scope() {
        Scope::Host => "this host".to_owned(),
        Scope::Boot => format!("{} at the next boot", subject.name()),
        Scope::Cluster => format!("the server on {}", subject.name()),
        Scope::Mount | Scope::Device | Scope::Target => subject.name().to_owned(),
    }
}

/// What a target shares with other targets of database servers, a sentence each.
pub fn shared(report: &Report, of: &Subject) -> Vec<String> {
    let shares = |(what, fact): (&str, &Key<Vec<String>>)| match report.value(of, fact.name()) {
        Some(Value::List(others)) if !others.is_empty() => {
            Some(format!("Shares {what} with {}.", others.join(", ")))
        }
        _ => None,
    };
    let all = [
        ("the disks", &target::SHARES_DISK),
        ("the file system", &target::SHARES_FILE_SYSTEM),
        ("the thin pool", &target::SHARES_THIN_POOL),
    ];
    all.into_iter().filter_map(shares).collect()
}

/// The different words of a list in order, each once.
pub fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    words.filter(|word| seen.insert(*word)).collect()
}

/// A count with its noun: `1 fact`, `3 facts`.
pub fn count(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Who else is affected.
pub fn reach(reach: Reach) -> &'static str {
    match reach {
        Reach::ThisMount => "this mount",
        Reach::WholeFilesystem => "the whole file system",
        Reach::NewFiles => "new files in this directory",
        Reach::Server => "the server",
        Reach::Device => "the device and all above it",
        Reach::NextBoot => "the next boot",
    }
}

/// What following the advice takes, and what could go wrong.
pub fn risk(risk: Risk) -> &'static str {
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

/// What following advice interrupts, in a word or two.
pub fn interruption(risk: Risk) -> &'static str {
    match risk {
        Risk::DataLossIfWrong => "none; data may be lost",
        Risk::None
        | Risk::NeedsReload
        | Risk::NeedsRestart
        | Risk::NeedsRemount
        | Risk::NeedsUnmount
        | Risk::NeedsNewFilesystem => risk.interrupts(),
    }
}

/// What following all of a plan interrupts, the gravest first: `downtime of /srv`,
/// `restart of the server on /srv/pg`.
pub fn takes(plan: &Plan) -> Vec<String> {
    let one = |(risk, on): (Risk, Vec<&Subject>)| {
        let what = interruption(risk);
        let on: Vec<String> = on.into_iter().map(subject).collect();
        format!("{what} of {}", on.join(", "))
    };
    let interrupts = |(risk, _): &(Risk, _)| interruption(*risk) != interruption(Risk::None);
    let all: Vec<String> = plan
        .takes()
        .into_iter()
        .filter(interrupts)
        .map(one)
        .collect();
    if all.is_empty() {
        vec!["none".to_owned()]
    } else {
        all
    }
}

/// A choice that comes after the one that is advised, or beside it.
pub fn alternative(step: &Step, other: &Alternative) -> String {
    let alike = other.rank == step.advice.rank.unwrap_or(1);
    let place = if alike {
        ", with no meaningful difference"
    } else {
        ""
    };
    let price = other
        .price
        .as_ref()
        .map(|price| format!(" Price: {price}"))
        .unwrap_or_default();
    format!("{}{place}: {}.{price}", other.value, other.title)
}

/// Who is affected, and what following the advice takes.
pub fn affects(affected: Reach, danger: Risk) -> String {
    match (affected, danger) {
        (Reach::NextBoot, Risk::NeedsNewFilesystem | Risk::DataLossIfWrong) => {
            format!("{}; nothing changes now; {}", reach(affected), risk(danger))
        }
        (Reach::NextBoot, _) => format!("{}; nothing changes now", reach(affected)),
        _ => format!("{}; {}", reach(affected), risk(danger)),
    }
}

/// Advice that was taken out, with the reason.
pub fn withheld(one: &Withheld) -> String {
    format!(
        "{} for {}: {}",
        one.advice,
        subject(&one.subject),
        one.because
    )
}

/// A missing fact: what it is, why it is missing, what would supply it.
pub fn need(need: &Need) -> String {
    let remedy = need
        .remedy
        .as_ref()
        .map(|remedy| format!("; {remedy}"))
        .unwrap_or_default();
    format!(
        "{} of {}: {}{remedy}",
        need.fact,
        subject(&need.subject),
        reason(need)
    )
}

pub fn reason(need: &Need) -> String {
    if need.detail.is_empty() {
        need.why.to_string()
    } else {
        format!("{} ({})", need.why, need.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What waits for the next boot changes nothing now, and no danger is left unsaid.
    #[test]
    fn who_is_affected_and_when_do_not_contradict() {
        for affected in Reach::ALL {
            for danger in Risk::ALL {
                let said = affects(affected, danger);
                let waits = affected == Reach::NextBoot;
                assert_eq!(said.contains("nothing changes now"), waits, "{said}");
                assert!(!(waits && said.contains("immediately")), "{said}");
                let grave = danger >= Risk::NeedsNewFilesystem;
                assert!(!grave || said.ends_with(risk(danger)), "{said}");
            }
        }
    }
}
