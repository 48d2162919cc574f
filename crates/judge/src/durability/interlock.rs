//! The interlock: whether advice that removes flushes could be given for a target at all.
//!
//! It is a conjunction. A fact that is unknown, assumed instead of observed, or measured on another
//! host keeps it shut. The option nobarrier on storage with a protected cache gains nothing unless
//! that storage still asks for flushes, so the interlock is usually shut although nothing is wrong.

use super::Standing;
use super::ask::Ask;
use super::claim::{Cache, Leaf, Passage};
use super::join::Judgement;
use crate::facts::catalog::{kernel, mount, probe};
use crate::facts::{FactSet, Key, Need, Reading, Scope, Source, Subject, Why};
use crate::truth::Truth;
use crate::validity::{self, Effect};

/// The least gain from omitting flushes, as a share of a commit's time, that is worth considering.
const LEAST_GAIN: f64 = 0.05;

/// Whether flushes could be removed; unknown with the missing facts. `live` is whether the facts
/// are of this machine: measurements of another one do not count.
pub fn judge(
    facts: &FactSet,
    target: &Subject,
    found: &Judgement,
    disks: &[(&Subject, &Leaf)],
    live: bool,
) -> Reading<bool> {
    let mut ask = Ask::new(facts);
    let mut conditions: Vec<(Truth, String)> = vec![
        only_ext4(&mut ask, target),
        (
            match found.verdict.standing {
                Standing::Durable => Truth::True,
                Standing::Unproven | Standing::ProvenByDrill => Truth::Unknown,
                Standing::Contradictory | Standing::AtRisk => Truth::False,
            },
            format!("the verdict is {}", found.verdict.standing.word()),
        ),
        (
            match found.flush {
                Passage::Sent => Truth::True,
                Passage::Unknown => Truth::Unknown,
                Passage::Dropped(_) | Passage::NotNeeded => Truth::False,
            },
            "flushes are sent today".to_owned(),
        ),
        (
            found.plain,
            "no layer between holds data until it is flushed".to_owned(),
        ),
        (
            Truth::every(disks.iter().map(|(_, leaf)| protected(leaf))),
            "every disk's cache is protected now".to_owned(),
        ),
        gain(&mut ask, target, live),
    ];
    // On many hosts the table of options is loaded for this alone, so it is asked last and only if
    // it can matter.
    if Truth::every(conditions.iter().map(|(holds, _)| *holds)) != Truth::False {
        conditions.push(heeded(&mut ask));
    }
    let mut asked = ask.asked;
    asked.extend(&found.asked);
    if !asked.assumed.is_empty() {
        let assumed: Vec<&str> = asked.assumed.iter().map(String::as_str).collect();
        conditions.push((
            Truth::Unknown,
            format!(
                "seen on this machine rather than assumed: {}",
                assumed.join(", ")
            ),
        ));
    }

    match Truth::every(conditions.iter().map(|(holds, _)| *holds)) {
        Truth::True => Reading::known(true, asked.source()),
        Truth::False => Reading::known(false, asked.source()),
        Truth::Unknown => {
            let open = conditions
                .iter()
                .filter(|(holds, _)| *holds == Truth::Unknown);
            let open: Vec<&str> = open.map(|(_, what)| what.as_str()).collect();
            let missing: Vec<String> = asked
                .missing
                .iter()
                .map(|need| format!("{} of {}", need.fact, need.subject))
                .collect();
            let missing = if missing.is_empty() {
                String::new()
            } else {
                format!(" (missing: {})", missing.join(", "))
            };
            let detail = format!("not shown: {}{missing}", open.join("; "));
            let remedy = asked
                .missing
                .iter()
                .find_map(|Need { remedy, .. }| remedy.clone());
            let reading = Reading::unknown(Why::Ambiguous, detail);
            match remedy {
                Some(remedy) => reading.or_try(remedy),
                None => reading,
            }
        }
    }
}

/// Only ext4 heeds the option with nothing but its own journal at stake. Another file system
/// further down (under a loop file) keeps the interlock shut.
fn only_ext4(ask: &mut Ask, target: &Subject) -> (Truth, String) {
    let mounts: Vec<Subject> = ask
        .facts
        .stack(target)
        .into_iter()
        .filter(|hop| hop.scope() == Scope::Mount)
        .collect();
    let holds = match mounts.as_slice() {
        [] => Truth::Unknown,
        [one] => match (ask.need(one, &mount::FSTYPE), ask.need(one, &mount::CLASS)) {
            (Some(fstype), Some(class)) => Truth::from(fstype == "ext4" && class.is_block()),
            (Some(fstype), None) if fstype != "ext4" => Truth::False,
            _ => Truth::Unknown,
        },
        _ => Truth::False,
    };
    (holds, "the file system is ext4".to_owned())
}

/// Whether the kernel accepts and heeds the option, from the validity table.
fn heeded(ask: &mut Ask) -> (Truth, String) {
    let host = Subject::host();
    let kernel = ask
        .need(&host, &kernel::VERSION)
        .zip(ask.need(&host, &kernel::VENDOR));
    let holds = kernel.map_or(
        Truth::Unknown,
        |(version, vendor)| match validity::mount_option("ext4", "nobarrier", &version, &vendor)
            .effect
        {
            Effect::Ok => Truth::True,
            Effect::Unknown => Truth::Unknown,
            Effect::DefaultAnyway | Effect::NoEffect | Effect::Deprecated | Effect::Refused => {
                Truth::False
            }
        },
    );
    (
        holds,
        "this kernel's ext4 accepts and heeds nobarrier".to_owned(),
    )
}

fn protected(leaf: &Leaf) -> Truth {
    match leaf.cache {
        Cache::Protected => Truth::True,
        Cache::Unknown => Truth::Unknown,
        Cache::Volatile | Cache::Contradictory | Cache::None => Truth::False,
    }
}

/// Whether the probe measured a gain here.
fn gain(ask: &mut Ask, target: &Subject, live: bool) -> (Truth, String) {
    let mut measured = |key: &Key<f64>| {
        let value = ask.need(target, key).filter(|value| value.is_finite());
        let here = matches!(
            ask.facts.reading(target, key.id()).source(),
            Some(Source::Probe { .. })
        );
        value.filter(|_| here && live)
    };
    let holds = match (measured(&probe::FLUSH_COST), measured(&probe::COMMIT)) {
        (Some(cost), _) if cost <= 0.0 => Truth::False,
        (Some(cost), Some(commit)) => Truth::from(cost > commit * LEAST_GAIN),
        _ => Truth::Unknown,
    };
    (
        holds,
        "the probe measured here what a flush costs, and it is worth something".to_owned(),
    )
}
