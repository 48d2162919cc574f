//! A trial is used only on a live host with the tested disk (serial number or WWN), firmware,
//! kernel and options. Any other trial, or one without a settled result, causes a note. The facts
//! about winners and methods are then marked as absent, with the reason.

use crate::drill::StackFacts;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::catalog::trial::{self, TrialBasis, TrialFilesystem};
use crate::facts::catalog::{device, mount};
use crate::facts::{Choice, FactSet, Reading, Scope, Source, Subject};
use crate::session::measurement::targets_of_kind;
use crate::trial::{
    Candidate, CandidateRanking, ExtentKind, LoopFidelity, TrialRecord, trial_summary_text,
};

/// Minimum speed ratio that justifies a sync method other than fdatasync.
const MIN_GAIN_FACTOR: f64 = 1.05;

/// Adds the results of trials as facts about the targets. If several records with a result fit one
/// target, the one that started last is used.
pub fn add_trial_facts(records: &[(String, TrialRecord)], live: bool, facts: &mut FactSet) {
    if records.is_empty() {
        return;
    }
    let directories = targets_of_kind(facts, TargetKind::is_directory);
    let disks = targets_of_kind(facts, TargetKind::is_device);
    let mut records: Vec<&(String, TrialRecord)> = records.iter().collect();
    records.sort_by(|(_, a), (_, b)| a.started.cmp(&b.started));
    for (file, record) in records {
        let mut stack = StackFacts::default();
        for line in &record.stack {
            stack.add_line_if_fact(line);
        }
        let (mut here, mut elsewhere) = (None, None);
        // The record concerns directories if the trial ran in a loop file, and free disks if it ran
        // on a disk.
        let targets = match record.extent {
            ExtentKind::Loop => &directories,
            ExtentKind::Disk => &disks,
        };
        for target in targets {
            match trial_record_unused_reason(&stack, facts, target, live) {
                None => {
                    add_trial_record_facts(record, file, target, facts);
                    here.get_or_insert(target);
                }
                Some(reason) => {
                    mark_trial_results_absent(
                        &format!("the trial {file} is not used here: {reason}"),
                        target,
                        facts,
                    );
                    elsewhere.get_or_insert(reason);
                }
            }
        }
        let says = trial_summary_text(record);
        facts.add_note_once(match (here, record.rank_candidates()) {
            (Some(target), Ok(_)) => {
                let basis = trial_basis(record.loop_fidelity());
                let chooses = if basis.is_order_valid_for_disk() {
                    "rules may use the result"
                } else {
                    "no rule uses the result"
                };
                format!(
                    "the trial {file} ran on the disk of {} ({basis}), and {chooses}: {says}",
                    target.name()
                )
            }
            (Some(target), Err(why)) => format!(
                "the trial {file} ran on the disk of {}, but its result is not used because {}: {says}",
                target.name(),
                why.as_str()
            ),
            (None, _) => {
                let reason = elsewhere
                    .unwrap_or_else(|| "there is no target to compare the trial with".to_owned());
                format!("the trial {file} ran on another stack ({reason}), so its result is not used here: {says}")
            }
        });
    }
}

fn trial_record_unused_reason(
    stack: &StackFacts,
    facts: &FactSet,
    target: &Subject,
    live: bool,
) -> Option<String> {
    if !live {
        return Some("this is a capture".to_owned());
    }
    if let Some(changed) = stack.first_difference(&StackFacts::from_facts(facts, target)) {
        return Some(changed);
    }
    let disks = facts.distinct_bottom_disks(target);
    let is_nameless = |disk: &&Subject| {
        facts.value(disk, &device::SERIAL).is_none() && facts.value(disk, &device::UNIT).is_none()
    };
    match disks.iter().find(is_nameless) {
        Some(disk) => Some(format!(
            "{} reports neither a serial number nor a WWN",
            disk.name()
        )),
        None if disks.is_empty() => Some("the target's disks are unknown".to_owned()),
        None => None,
    }
}

fn add_trial_record_facts(record: &TrialRecord, file: &str, target: &Subject, facts: &mut FactSet) {
    let source = || Source::Trial {
        file: file.to_owned(),
    };
    let answer = record.rank_candidates();
    if answer.is_ok() || !facts.get(target, &trial::BEST).is_known() {
        facts.insert_known(target, &trial::SETTLED, answer.is_ok(), source());
        facts.insert_known(
            target,
            &trial::BASIS,
            trial_basis(record.loop_fidelity()),
            source(),
        );
    }
    let known = match answer {
        Ok(answer) => answer,
        Err(why) => {
            return mark_trial_results_absent(
                &format!("the trial {file} has no usable result: {}", why.as_str()),
                target,
                facts,
            );
        }
    };
    let words = |of: &[Candidate]| -> Vec<TrialFilesystem> {
        let names = of.iter().map(|candidate| candidate.name());
        names.filter_map(TrialFilesystem::from_word).collect()
    };
    facts.insert_known(target, &trial::BEST, words(&known.best), source());
    facts.insert_known(target, &trial::SLOWER, words(&known.slower), source());
    if let Some((method, gain)) =
        preferred_sync_method(record, &candidates_for_target(facts, target, &known))
    {
        facts.insert_known(target, &trial::METHOD, method, source());
        facts.insert_known(target, &trial::METHOD_GAIN, gain, source());
    } else {
        let why = format!("the trial {file} does not show which sync method is faster");
        facts.insert(target, &trial::METHOD, Reading::absent(&*why));
        facts.insert(target, &trial::METHOD_GAIN, Reading::absent(why));
    }
}

/// Marks the facts of a trial as absent, because the report shows no remedy for absent facts.
fn mark_trial_results_absent(why: &str, target: &Subject, facts: &mut FactSet) {
    for key in [
        &trial::BEST.info,
        &trial::SLOWER.info,
        &trial::METHOD.info,
        &trial::METHOD_GAIN.info,
    ] {
        if !facts.reading(target, key.id).is_known() {
            facts.insert_untyped_value(target, key, Reading::absent(why));
        }
    }
}

fn trial_basis(certificate: LoopFidelity) -> TrialBasis {
    match certificate {
        LoopFidelity::NotNeeded => TrialBasis::Disk,
        LoopFidelity::Faithful => TrialBasis::Faithful,
        LoopFidelity::OrderOnly(_) => TrialBasis::OrderOnly,
        LoopFidelity::Indicative(_) => TrialBasis::Indicative,
        LoopFidelity::Unknown | LoopFidelity::Unsettled(..) => TrialBasis::NotCertified,
    }
}

/// The candidate with the target's own file system, or every winner of the trial if the target is a
/// free disk. Empty if no candidate has the target's file system.
fn candidates_for_target(
    facts: &FactSet,
    target: &Subject,
    answer: &CandidateRanking,
) -> Vec<Candidate> {
    if facts
        .value(target, &target::KIND)
        .is_some_and(TargetKind::is_device)
    {
        return answer.best.clone();
    }
    let on = facts
        .applicable_subject(target, Scope::Mount)
        .and_then(|on| facts.value(&on, &mount::FSTYPE));
    let in_place = facts.value(target, &target::NOCOW) == Some(true);
    match on.as_deref() {
        Some("ext4") => vec![Candidate::Ext4],
        Some("xfs") => vec![Candidate::Xfs],
        Some("btrfs") if in_place => vec![Candidate::BtrfsNocow],
        Some("btrfs") => vec![Candidate::Btrfs],
        Some(_) | None => Vec::new(),
    }
}

/// The better sync method for all candidates in `on`, and its gain over fdatasync in percent.
/// `None` if figures are missing or leave the choice open.
fn preferred_sync_method(record: &TrialRecord, on: &[Candidate]) -> Option<(WalSyncMethod, f64)> {
    let gains: Vec<(f64, f64)> = on
        .iter()
        .map(|one| record.open_datasync_log_ratio_interval(*one))
        .collect::<Option<_>>()?;
    let least = gains.iter().map(|(low, _)| *low).reduce(f64::min)?;
    let most = gains.iter().map(|(_, high)| *high).reduce(f64::max)?;
    if least >= MIN_GAIN_FACTOR.ln() {
        // The gain is a lower bound, so the percentage is rounded down.
        Some((
            WalSyncMethod::OpenDatasync,
            (1000.0 * least.exp_m1()).floor() / 10.0,
        ))
    } else {
        (most < MIN_GAIN_FACTOR.ln()).then_some((WalSyncMethod::Fdatasync, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Note;
    use crate::facts::catalog::{host, kernel};
    use crate::report::{Report, sample_reports};
    use crate::rules::{Finding, Outcome, RuleSet};
    use crate::session::Session;
    use crate::settings::NewFilesystem;
    use crate::trial::fixtures::record_with_commit_rates;
    use crate::trial::{LoadShape, TrialLoad, TrialState};
    use crate::version::Version;
    use walwise_model::text::JoinText;

    const XFS_WINS: [(Candidate, f64, Option<u64>); 3] = [
        (Candidate::Ext4, 4_000.0, Some(1_000)),
        (Candidate::Xfs, 5_000.0, Some(1_000)),
        (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
    ];

    fn free_disk_session() -> Session {
        let mut facts = sample_reports::free_disk().facts;
        let seen = || Source::from_system_call("test");
        let machine = Subject::host();
        facts.insert_known(&machine, &host::NAME, "db7".to_owned(), seen());
        facts.insert_known(
            &machine,
            &kernel::RELEASE,
            "6.1.0-28-amd64".to_owned(),
            seen(),
        );
        facts.insert_known(
            &machine,
            &kernel::VERSION,
            Version::parse("6.1.0-28-amd64").unwrap(),
            seen(),
        );
        facts.insert_known(&machine, &kernel::VENDOR, "debian".to_owned(), seen());
        facts.insert_known(
            &machine,
            &kernel::FILESYSTEMS,
            vec!["ext4".to_owned()],
            seen(),
        );
        let disk = facts
            .applicable_subject(&sample_reports::free_disk_target(), Scope::Device)
            .unwrap();
        facts.insert_known(&disk, &device::READ_ONLY, false, seen());
        facts.insert_known(&disk, &device::SERIAL, "S1".to_owned(), seen());
        facts.insert_known(&disk, &device::FIRMWARE, "1.2".to_owned(), seen());
        Session::new(facts, RuleSet::builtin(), true)
    }

    fn record_with_current_stack(
        session: &Session,
        target: &Subject,
        mut record: TrialRecord,
    ) -> TrialRecord {
        let stack = StackFacts::from_facts(&session.facts, target).to_string();
        record.extent = ExtentKind::Disk;
        record.stack = stack.lines().map(str::to_owned).collect();
        record
    }

    fn report_with_trial(session: &Session, record: &TrialRecord) -> Report {
        let mut session = session.clone();
        session.trials = vec![("t.json".to_owned(), record.clone())];
        session.build_report()
    }

    fn first_choice_filesystem(report: &Report) -> &str {
        &report
            .plan(&sample_reports::free_disk_target())
            .unwrap()
            .steps[0]
            .advice
            .change
            .set_or_added_values()[0]
    }

    fn trial_notes(report: &Report) -> String {
        let notes: Vec<String> = report.warnings.iter().map(Note::to_string).collect();
        notes
            .into_iter()
            .filter(|note| note.starts_with("the trial "))
            .join_with("\n")
    }

    fn findings_without_trace(report: &Report) -> Vec<Finding> {
        report
            .findings
            .iter()
            .map(|finding| Finding {
                trace: None,
                ..finding.clone()
            })
            .collect()
    }

    #[test]
    fn trial_winner_is_first_choice_and_losers_stay_alternatives() {
        let session = free_disk_session();
        let target = sample_reports::free_disk_target();
        assert_eq!(
            first_choice_filesystem(&session.build_report()),
            "ext4",
            "without a trial"
        );
        let won =
            record_with_current_stack(&session, &target, record_with_commit_rates(&XFS_WINS, 15));
        let with = report_with_trial(&session, &won);
        assert_eq!(first_choice_filesystem(&with), "xfs");
        let step = &with.plan(&target).unwrap().steps[0];
        let others: Vec<(u32, &str)> = step
            .alternatives
            .iter()
            .map(|other| (other.rank, other.value.as_str()))
            .collect();
        assert_eq!(others, [(2, "ext4"), (2, "btrfs")], "none is called alike");
        assert!(
            step.rules.contains(&"trial.xfs-first".to_owned()),
            "{:?}",
            step.rules
        );
        let first = with
            .findings
            .iter()
            .find(|finding| finding.rule == "trial.xfs-first")
            .unwrap();
        let seen = crate::rules::explain::trace_rows(first.trace.as_ref().unwrap());
        assert!(
            seen.iter()
                .any(|row| row.source == "the trial run on this disk and recorded in t.json"),
            "the trace says where it comes from"
        );
        assert!(
            trial_notes(&with)
                .contains("ran on the disk of /dev/sdc (disk), and rules may use the result")
        );

        let mut wanting = session.clone();
        wanting.trials = vec![("t.json".to_owned(), won)];
        wanting
            .choose_filesystem(&target, Some(NewFilesystem::Ext4))
            .unwrap();
        let wanted = wanting.build_report();
        let plan = wanted.plan(&target).unwrap();
        assert_eq!(first_choice_filesystem(&wanted), "ext4");
        assert_eq!(
            plan.requested_filesystem_sentence().unwrap(),
            "ext4, as requested; the first choice here is xfs"
        );
        let values: Vec<&str> = plan.steps[0]
            .alternatives
            .iter()
            .map(|other| other.value.as_str())
            .collect();
        assert_eq!(values, ["xfs", "btrfs"], "each once");

        let other = [XFS_WINS[1], XFS_WINS[0]]
            .map(|(candidate, rate, flushes)| (candidate, 9_000.0 - rate, flushes));
        let lost =
            record_with_current_stack(&session, &target, record_with_commit_rates(&other, 15));
        let with = report_with_trial(&session, &lost);
        assert_eq!(first_choice_filesystem(&with), "ext4");
        assert!(
            with.plan(&target).unwrap().steps[0]
                .rules
                .contains(&"trial.ext4-first".to_owned())
        );
    }

    #[test]
    fn unsettled_or_foreign_trial_adds_note_and_changes_nothing() {
        let session = free_disk_session();
        let target = sample_reports::free_disk_target();
        let won = || {
            record_with_current_stack(&session, &target, record_with_commit_rates(&XFS_WINS, 15))
        };
        let without = session.build_report();
        let check = |session: &Session, record: &TrialRecord, says: &str| {
            let with = report_with_trial(session, record);
            assert_eq!(
                findings_without_trace(&with),
                findings_without_trace(&without),
                "{says}"
            );
            assert!(
                trial_notes(&with).contains(says),
                "{says}: {}",
                trial_notes(&with)
            );
        };
        check(
            &session,
            &TrialRecord {
                stack: Vec::new(),
                ..won()
            },
            "ran on another stack",
        );
        let mut firmware = won();
        firmware
            .stack
            .iter_mut()
            .for_each(|line| *line = line.replace("firmware=1.2", "firmware=1.3"));
        check(&session, &firmware, "firmware was 1.3 and is now 1.2");
        let mut kernel = won();
        kernel
            .stack
            .iter_mut()
            .for_each(|line| *line = line.replace("-28-", "-27-"));
        check(&session, &kernel, "kernel.release was 6.1.0-27");
        check(
            &session,
            &record_with_current_stack(&session, &target, record_with_commit_rates(&XFS_WINS, 9)),
            "because the trial is not settled",
        );
        check(
            &session,
            &TrialRecord {
                ending: TrialState::Running,
                ..won()
            },
            "did not finish",
        );
        let mut twin = won();
        for cell in twin.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            if cell.runner == crate::trial::CellSubject::Twin {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds *= 2.0);
            }
        }
        check(&session, &twin, "the trial was inconclusive");
        let in_a_directory = TrialRecord {
            extent: ExtentKind::Loop,
            ..won()
        };
        check(
            &session,
            &in_a_directory,
            "there is no target to compare the trial with",
        );

        let capture = Session {
            live: false,
            ..session.clone()
        };
        let without = capture.build_report();
        let with = report_with_trial(&capture, &won());
        assert_eq!(
            findings_without_trace(&with),
            findings_without_trace(&without)
        );
        assert!(trial_notes(&with).contains("this is a capture"));
    }

    /// A record never applies to a disk without serial number and WWN, because another such disk
    /// would look the same.
    #[test]
    fn trial_is_unused_on_disk_without_serial_or_wwn() {
        let mut session = free_disk_session();
        let target = sample_reports::free_disk_target();
        let disk = session
            .facts
            .applicable_subject(&target, Scope::Device)
            .unwrap();
        session
            .facts
            .insert(&disk, &device::SERIAL, Reading::absent("serial"));
        let with = report_with_trial(
            &session,
            &record_with_current_stack(&session, &target, record_with_commit_rates(&XFS_WINS, 15)),
        );
        assert_eq!(first_choice_filesystem(&with), "ext4");
        assert!(
            trial_notes(&with).contains("sdc reports neither a serial number nor a WWN"),
            "{}",
            trial_notes(&with)
        );
    }

    #[test]
    fn settled_trial_wins_over_later_unsettled() {
        let mut session = free_disk_session();
        let target = sample_reports::free_disk_target();
        let [won, mut open] = [15, 9].map(|blocks| {
            record_with_current_stack(
                &session,
                &target,
                record_with_commit_rates(&XFS_WINS, blocks),
            )
        });
        open.started = "2026-11-26T08:00:00Z".to_owned();
        session.trials = vec![("open.json".to_owned(), open), ("t.json".to_owned(), won)];
        let (facts, _) = session.derived_facts_and_verdicts();
        assert_eq!(facts.value(&target, &trial::SETTLED), Some(true));
        assert_eq!(
            facts.value(&target, &trial::BEST),
            Some(vec![TrialFilesystem::Xfs])
        );
        assert_eq!(
            facts.value(&target, &trial::SLOWER),
            Some(vec![TrialFilesystem::Ext4]),
            "nobarrier is no choice"
        );
        assert!(
            facts
                .rows_of(&target)
                .filter(|row| row.fact.starts_with("trial."))
                .all(|row| {
                    row.reading
                        .source()
                        .is_none_or(|source| !source.is_evidence())
                })
        );
    }

    #[test]
    fn trial_winning_sync_method_is_advised_for_new_server() {
        let session = free_disk_session();
        let target = sample_reports::free_disk_target();
        let with_method = |factor: f64| {
            let mut both = record_with_commit_rates(&XFS_WINS, 15);
            both.loads.push(TrialLoad {
                clients: 1,
                shape: LoadShape::OpenDatasync,
            });
            for cell in both.blocks.iter_mut().flat_map(|block| &mut block.cells) {
                let mut more = cell.samples[0];
                more.seconds /= factor;
                cell.samples.push(more);
            }
            report_with_trial(
                &session,
                &record_with_current_stack(&session, &target, both),
            )
        };
        let applies = |report: &Report, rule: &str| {
            report
                .findings
                .iter()
                .any(|one| one.rule == rule && one.outcome == Outcome::Applies)
        };
        assert!(applies(&with_method(1.3), "trial.sync-method"));
        assert!(applies(&with_method(1.0), "trial.sync-method-default"));
        let neither = report_with_trial(
            &session,
            &record_with_current_stack(&session, &target, record_with_commit_rates(&XFS_WINS, 15)),
        );
        assert!(
            !applies(&neither, "trial.sync-method")
                && !applies(&neither, "trial.sync-method-default")
        );
    }
}
