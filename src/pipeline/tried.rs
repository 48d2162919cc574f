//! Records of trials as facts of the targets that stand on the tried stack, and as notes.
//!
//! A trial decides something only where it was made: on this very disk, by its serial number or WWN, with the same
//! firmware, kernel and options, read live. Everything else is told and decides nothing, and so is a trial that is open.

use crate::drill::StackFingerprint;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::catalog::trial::{self, TrialBasis, TrialFilesystem};
use crate::facts::catalog::{device, mount};
use crate::facts::note::TrialNote;
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Source, Subject, Why};
use crate::trial::{Certificate, Contender, ExtentKind, TrialAnswer, TrialRecord, summary};

/// The least gain of a method that is worth a change, as a factor.
const WORTH: f64 = 1.05;

/// Puts the records in; `live` is whether the facts are of this machine. Of several on one disk the last that
/// answers counts.
pub fn to_facts(records: &[(String, TrialRecord)], live: bool, facts: &mut FactSet) {
    if records.is_empty() {
        return;
    }
    let of_kind = |fits: fn(TargetKind) -> bool| -> Vec<Subject> {
        let is_such = |of: &&Subject| facts.value(of, &target::KIND).is_some_and(fits);
        facts.subjects(Scope::Target).filter(is_such).cloned().collect()
    };
    let (directories, disks) = (of_kind(TargetKind::is_directory), of_kind(TargetKind::is_device));
    let mut records: Vec<&(String, TrialRecord)> = records.iter().collect();
    records.sort_by(|(_, a), (_, b)| a.started.cmp(&b.started));
    for (file, record) in records {
        let stack = fingerprint(record);
        let mut here = None;
        let mut elsewhere = None;
        // A loop file was in a directory, and a disk was free.
        let targets = match record.extent {
            ExtentKind::Loop => &directories,
            ExtentKind::Disk => &disks,
        };
        for target in targets {
            match differs(&stack, facts, target, live) {
                None => {
                    tell(record, file, target, facts);
                    here.get_or_insert(target);
                }
                Some(reason) => {
                    silent(&format!("the trial {file} is of something else: {reason}"), target, facts);
                    elsewhere.get_or_insert(reason);
                }
            }
        }
        let (file, says) = (file.clone(), summary(record));
        facts.warn(match (here, record.answer()) {
            (Some(target), Ok(_)) => {
                let (target, basis) = (target.name().to_owned(), basis(record.certificate()));
                TrialNote::Here { file, target, basis: basis.word(), chooses: basis.holds_order(), says }
            }
            (Some(target), Err(why)) => {
                let (target, why) = (target.name().to_owned(), why.words());
                TrialNote::Open { file, target, why, says }
            }
            (None, _) => {
                let reason = elsewhere.unwrap_or_else(|| "there is nothing to compare it with".to_owned());
                TrialNote::OtherStack { file, reason, says }
            }
        });
    }
}

/// What the trial was made on.
fn fingerprint(record: &TrialRecord) -> StackFingerprint {
    let mut stack = StackFingerprint::default();
    for line in &record.stack {
        stack.take(line);
    }
    stack
}

/// Why a target is not what was tried; `None` where it is.
fn differs(stack: &StackFingerprint, facts: &FactSet, target: &Subject, live: bool) -> Option<String> {
    if !live {
        return Some("this is a capture".to_owned());
    }
    if let Some(changed) = stack.changed(&StackFingerprint::from_facts(facts, target)) {
        return Some(changed);
    }
    let disks = facts.disks(target);
    let is_nameless = |disk: &&Subject| {
        facts.value(disk, &device::SERIAL).is_none() && facts.value(disk, &device::UNIT).is_none()
    };
    match disks.iter().find(is_nameless) {
        Some(disk) => Some(format!("{} shows neither a serial number nor a WWN", disk.name())),
        None if disks.is_empty() => Some("its disks are not known".to_owned()),
        None => None,
    }
}

/// What a record says of the disk that it was made on.
fn tell(record: &TrialRecord, file: &str, target: &Subject, facts: &mut FactSet) {
    let source = || Source::Trial { file: file.to_owned() };
    let answer = record.answer();
    if answer.is_ok() || !facts.get(target, &trial::BEST).is_known() {
        facts.know(target, &trial::SETTLED, answer.is_ok(), source());
        facts.know(target, &trial::BASIS, basis(record.certificate()), source());
    }
    let known = match answer {
        Ok(answer) => answer,
        Err(why) => {
            return silent(&format!("the trial {file} decides nothing, as {}", why.words()), target, facts);
        }
    };
    let words = |of: &[Contender]| of.iter().copied().filter_map(kind).collect::<Vec<TrialFilesystem>>();
    facts.know(target, &trial::BEST, words(&known.best), source());
    facts.know(target, &trial::SLOWER, words(&known.slower), source());
    if let Some((method, gain)) = method(record, &concerned(facts, target, &known)) {
        facts.know(target, &trial::METHOD, method, source());
        facts.know(target, &trial::METHOD_GAIN, gain, source());
    } else {
        let why = format!("the trial {file} does not settle which method is faster");
        facts.put(target, &trial::METHOD, Reading::unknown(Why::Absent, &*why));
        facts.put(target, &trial::METHOD_GAIN, Reading::unknown(Why::Absent, why));
    }
}

/// Nothing is known of file systems and methods, for a reason. It is no gap: nothing has to be found out.
fn silent(why: &str, target: &Subject, facts: &mut FactSet) {
    unknown(&trial::BEST, why, target, facts);
    unknown(&trial::SLOWER, why, target, facts);
    unknown(&trial::METHOD, why, target, facts);
    unknown(&trial::METHOD_GAIN, why, target, facts);
}

/// What an earlier record said stays.
fn unknown<T: FactValue>(key: &Key<T>, why: &str, target: &Subject, facts: &mut FactSet) {
    if !facts.get(target, key).is_known() {
        facts.put(target, key, Reading::unknown(Why::Absent, why));
    }
}

fn basis(certificate: Certificate) -> TrialBasis {
    match certificate {
        Certificate::NotNeeded => TrialBasis::Disk,
        Certificate::Faithful => TrialBasis::Faithful,
        Certificate::OrderOnly(_) => TrialBasis::OrderOnly,
        Certificate::Indicative(_) => TrialBasis::Indicative,
        Certificate::Unknown | Certificate::Unsettled(..) => TrialBasis::NotCertified,
    }
}

fn kind(candidate: Contender) -> Option<TrialFilesystem> {
    match candidate {
        Contender::Ext4 => Some(TrialFilesystem::Ext4),
        Contender::Ext4FastCommit => Some(TrialFilesystem::Ext4FastCommit),
        Contender::Xfs => Some(TrialFilesystem::Xfs),
        Contender::Btrfs => Some(TrialFilesystem::Btrfs),
        Contender::BtrfsNocow => Some(TrialFilesystem::BtrfsNocow),
        Contender::Ext4Nobarrier => None,
    }
}

/// The candidates whose methods concern a target: that of its file system, or all that it may get.
fn concerned(facts: &FactSet, target: &Subject, answer: &TrialAnswer) -> Vec<Contender> {
    if facts.value(target, &target::KIND).is_some_and(TargetKind::is_device) {
        return answer.best.clone();
    }
    let on = facts.resolve(target, Scope::Mount).and_then(|on| facts.value(&on, &mount::FSTYPE));
    let in_place = facts.value(target, &target::NOCOW) == Some(true);
    match on.as_deref() {
        Some("ext4") => vec![Contender::Ext4],
        Some("xfs") => vec![Contender::Xfs],
        Some("btrfs") if in_place => vec![Contender::BtrfsNocow],
        Some("btrfs") => vec![Contender::Btrfs],
        Some(_) | None => Vec::new(),
    }
}

/// The faster method on all of these and what it gains over fdatasync in percent, where they agree.
fn method(record: &TrialRecord, on: &[Contender]) -> Option<(WalSyncMethod, f64)> {
    let gains: Vec<(f64, f64)> =
        on.iter().map(|one| record.gain_of_open_datasync(*one)).collect::<Option<_>>()?;
    let least = gains.iter().map(|(low, _)| *low).reduce(f64::min)?;
    let most = gains.iter().map(|(_, high)| *high).reduce(f64::max)?;
    if least >= WORTH.ln() {
        // Rounded down, as it is a lower bound.
        Some((WalSyncMethod::OpenDatasync, (1000.0 * least.exp_m1()).floor() / 10.0))
    } else {
        (most < WORTH.ln()).then_some((WalSyncMethod::Fdatasync, 0.0))
    }
}

#[cfg(test)]
mod tests;
