//! The interlock: whether advice that removes flushes may be given for a target. An unknown or
//! assumed fact, or a measurement of another host, keeps the interlock shut.
//!
//! Most hosts keep the interlock shut: nobarrier gains nothing unless protected storage still
//! requests flushes.

use std::cell::RefCell;

use super::VerdictKind;
use super::device_view::{CacheVolatility, DiskAssessment, FlushOutcome};
use super::fact_reader::FactReader;
use super::verdict_builder::TargetJudgement;
use crate::compat::{self, Effect};
use crate::facts::catalog::{kernel, mount, probe};
use crate::facts::{FactSet, Key, MissingFact, Reading, Scope, Source, Subject};
use crate::ternary::Ternary;

/// Advice to omit flushes requires a gain above this share of the commit latency.
const MIN_GAIN_SHARE: f64 = 0.05;

/// An unknown reading lists the missing facts. `live` means that the facts come from this host, so
/// measurements count.
pub fn evaluate_flush_removal_interlock(
    facts: &FactSet,
    target: &Subject,
    found: &TargetJudgement,
    disks: &[(&Subject, &DiskAssessment)],
    live: bool,
) -> Reading<bool> {
    let dependencies = RefCell::default();
    let target = FactReader {
        facts,
        subject: target,
        dependencies: &dependencies,
    };
    let mut conditions: Vec<(Ternary, String)> = vec![
        ext4_only_condition(target),
        (
            match found.verdict.standing {
                VerdictKind::Durable => Ternary::True,
                VerdictKind::Unproven | VerdictKind::ProvenByDrill => Ternary::Unknown,
                VerdictKind::Contradictory | VerdictKind::AtRisk => Ternary::False,
            },
            "commits are durable".to_owned(),
        ),
        (
            match found.flush {
                FlushOutcome::Sent => Ternary::True,
                FlushOutcome::Unknown => Ternary::Unknown,
                FlushOutcome::Dropped(_) | FlushOutcome::NotNeeded => Ternary::False,
            },
            "flushes are sent".to_owned(),
        ),
        (
            found.is_stateless,
            "no layer above the disks buffers data until a flush".to_owned(),
        ),
        (
            Ternary::all(disks.iter().map(|(_, leaf)| has_protected_cache(leaf))),
            "every disk's cache is protected".to_owned(),
        ),
        measured_gain_condition(target, live),
    ];
    // Evaluated last, and only if the other conditions do not decide, because it loads the option
    // table.
    if Ternary::all(conditions.iter().map(|(holds, _)| *holds)) != Ternary::False {
        conditions.push(nobarrier_condition(target));
    }
    let mut asked = dependencies.take();
    asked.extend(&found.dependencies);
    if !asked.assumed.is_empty() {
        let assumed: Vec<&str> = asked.assumed.iter().map(String::as_str).collect();
        conditions.push((
            Ternary::Unknown,
            format!(
                "these facts were read on this host, not assumed: {}",
                assumed.join(", ")
            ),
        ));
    }

    match Ternary::all(conditions.iter().map(|(holds, _)| *holds)) {
        Ternary::True => Reading::known(true, asked.source()),
        Ternary::False => Reading::known(false, asked.source()),
        Ternary::Unknown => {
            let open = conditions
                .iter()
                .filter(|(holds, _)| *holds == Ternary::Unknown);
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
            let detail = format!("it is unknown whether {}{missing}", open.join(", "));
            let remedy = asked
                .missing
                .iter()
                .find_map(|MissingFact { remedy, .. }| remedy.clone());
            let reading = Reading::ambiguous(detail);
            match remedy {
                Some(remedy) => reading.with_remedy(remedy),
                None => reading,
            }
        }
    }
}

/// Whether ext4 is the stack's only file system, so that nobarrier endangers no other one. A second
/// file system below a loop file keeps the interlock shut.
fn ext4_only_condition(target: FactReader) -> (Ternary, String) {
    let mounts: Vec<Subject> = target
        .facts
        .layers_below(target.subject)
        .into_iter()
        .filter(|hop| hop.scope() == Scope::Mount)
        .collect();
    let holds = match mounts.as_slice() {
        [] => Ternary::Unknown,
        [one] => match (
            target.for_subject(one).require(&mount::FSTYPE),
            target.for_subject(one).require(&mount::CLASS),
        ) {
            (Some(fstype), Some(class)) => Ternary::from(fstype == "ext4" && class.is_block()),
            (Some(fstype), None) if fstype != "ext4" => Ternary::False,
            _ => Ternary::Unknown,
        },
        _ => Ternary::False,
    };
    (holds, "the file system is ext4".to_owned())
}

fn nobarrier_condition(reader: FactReader) -> (Ternary, String) {
    let host = Subject::host();
    let host = reader.for_subject(&host);
    let kernel = host
        .require(&kernel::VERSION)
        .zip(host.require(&kernel::VENDOR));
    let holds =
        kernel.map_or(
            Ternary::Unknown,
            |(version, vendor)| match compat::mount_option_support(
                "ext4",
                "nobarrier",
                &version,
                &vendor,
            )
            .effect
            {
                Effect::Ok => Ternary::True,
                Effect::Unknown => Ternary::Unknown,
                Effect::DefaultAnyway | Effect::NoEffect | Effect::Deprecated | Effect::Refused => {
                    Ternary::False
                }
            },
        );
    (
        holds,
        "this kernel's ext4 accepts and honours nobarrier".to_owned(),
    )
}

fn has_protected_cache(leaf: &DiskAssessment) -> Ternary {
    match leaf.cache {
        CacheVolatility::Protected => Ternary::True,
        CacheVolatility::Unknown => Ternary::Unknown,
        CacheVolatility::Volatile | CacheVolatility::Contradictory | CacheVolatility::None => {
            Ternary::False
        }
    }
}

fn measured_gain_condition(target: FactReader, live: bool) -> (Ternary, String) {
    let measured = |key: &Key<f64>| {
        let value = target.require(key).filter(|value| value.is_finite());
        let here = matches!(target.reading(key).source(), Some(Source::Probe { .. }));
        value.filter(|_| here && live)
    };
    let holds = match (measured(&probe::FLUSH_COST), measured(&probe::COMMIT)) {
        (Some(cost), _) if cost <= 0.0 => Ternary::False,
        (Some(cost), Some(commit)) => Ternary::from(cost > commit * MIN_GAIN_SHARE),
        _ => Ternary::Unknown,
    };
    (
        holds,
        format!(
            "omitting flushes shortens commits by more than {:.0} %",
            MIN_GAIN_SHARE * 100.0
        ),
    )
}
