//! The exit codes of `check`. The first one that applies wins:
//!
//! - 3: a critical finding or verdict
//! - 4: another finding or verdict of the requested level or above
//! - 5, only with [`FailThreshold::undecided`]: an undecided rule of the requested level or above,
//!   an unproven verdict, or boot mounts that could not be read
//! - 0: none of these
//!
//! With TARGET, only findings about the target and the host count.

use super::model::Report;
use super::model::upgrade::{Upgrade, UpgradeItem};
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::{NoteKind, Scope};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailThreshold {
    /// The lowest level of findings that fail the check. Findings of level `keep` never fail it.
    pub level: Level,
    /// True if undecided rules fail the check as well.
    pub undecided: bool,
}

impl Default for FailThreshold {
    fn default() -> Self {
        Self {
            level: Level::Critical,
            undecided: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorstResult {
    Finding(Level),
    Undecided,
    Nothing,
}

impl WorstResult {
    fn exit_code(self) -> u8 {
        match self {
            Self::Finding(Level::Critical) => 3,
            Self::Finding(Level::Warning | Level::Advice | Level::Optional | Level::Keep) => 4,
            Self::Undecided => 5,
            Self::Nothing => 0,
        }
    }

    fn new(worst: Option<Level>, is_undecided: bool) -> Self {
        match worst {
            Some(level) => Self::Finding(level),
            None if is_undecided => Self::Undecided,
            None => Self::Nothing,
        }
    }
}

pub fn exit_code(report: &Report, fail_on: FailThreshold) -> u8 {
    worst_result(report, fail_on).exit_code()
}

pub(super) fn worst_result(report: &Report, fail_on: FailThreshold) -> WorstResult {
    let reaches = |level: Level| level >= fail_on.level && level > Level::Keep;
    let verdicts = report
        .verdicts
        .iter()
        .filter_map(|verdict| verdict_level(verdict.standing));
    let findings = findings_for_requested_target(report);
    let found = findings
        .iter()
        .filter(|f| f.outcome == Outcome::Applies)
        .map(|f| f.level);
    let worst = verdicts.chain(found).filter(|level| reaches(*level)).max();
    let unproven = report
        .verdicts
        .iter()
        .any(|verdict| verdict.standing.is_unproven());
    let unread = report
        .warnings
        .iter()
        .any(|note| note.kind == NoteKind::UnreadBootSource);
    let open = unproven
        || unread
        || findings
            .iter()
            .any(|f| lacks_non_probe_facts(&f.outcome) && reaches(f.level));
    WorstResult::new(worst, fail_on.undecided && open)
}

impl Upgrade {
    /// Like [`exit_code`], but from the items of the upgrade instead of findings and verdicts.
    pub fn exit_code(&self, fail_on: FailThreshold) -> u8 {
        let counted: Vec<&UpgradeItem> = self.problem_items_from_level(fail_on.level).collect();
        let decided = |item: &&UpgradeItem| {
            if item.undecided {
                item.certain_level
            } else {
                Some(item.level)
            }
        };
        let worst = counted
            .iter()
            .filter_map(decided)
            .filter(|level| *level >= fail_on.level)
            .max();
        WorstResult::new(worst, fail_on.undecided && !counted.is_empty()).exit_code()
    }
}

pub(super) fn verdict_level(standing: VerdictKind) -> Option<Level> {
    match standing {
        VerdictKind::AtRisk | VerdictKind::Contradictory => Some(Level::Critical),
        VerdictKind::Unproven => Some(Level::Warning),
        VerdictKind::ProvenByDrill | VerdictKind::Durable => None,
    }
}

pub(super) fn findings_for_requested_target(report: &Report) -> Vec<&Finding> {
    let known = report.target_subjects();
    let counts = |finding: &&Finding| {
        report.asked.is_none()
            || finding.subject.scope() == Scope::Host
            || known.contains(&finding.subject)
    };
    report.findings.iter().filter(counts).collect()
}

pub(super) fn count_findings_lacking_non_probe_facts(report: &Report, level: Level) -> usize {
    findings_for_requested_target(report)
        .iter()
        .filter(|finding| finding.level == level && lacks_non_probe_facts(&finding.outcome))
        .count()
}

/// True if the finding lacks facts other than those of a measurement. A finding that a measurement
/// alone would decide does not count as undecided, because the user chose not to measure.
fn lacks_non_probe_facts(outcome: &Outcome) -> bool {
    let Outcome::Undecided { needs } = outcome else {
        return false;
    };
    needs.first().is_none_or(|best| {
        best.is_empty() || best.iter().any(|need| !need.fact.starts_with("probe."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;
    use walwise_model::facts::{Choice, MissingFact, Subject, UnknownReason};

    #[test]
    fn exit_code_of_every_combination() {
        let levels: Vec<Option<Level>> =
            Level::ALL.iter().copied().map(Some).chain([None]).collect();
        let standings = [
            None,
            Some(VerdictKind::AtRisk),
            Some(VerdictKind::Contradictory),
            Some(VerdictKind::Unproven),
            Some(VerdictKind::Durable),
        ];
        let empty = sample_reports::free_disk();
        for found in &levels {
            for open in &levels {
                for standing in standings {
                    let report = report_with_findings_and_verdict(&empty, *found, *open, standing);
                    for &level in Level::ALL {
                        for undecided in [false, true] {
                            let code = exit_code(&report, FailThreshold { level, undecided });
                            let expected =
                                expected_exit_code(*found, *open, standing, level, undecided);
                            assert_eq!(
                                code, expected,
                                "{found:?} {open:?} {standing:?} {level:?} {undecided}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn findings_outside_requested_target_are_ignored() {
        let empty =
            report_with_findings_and_verdict(&sample_reports::free_disk(), None, None, None);
        let disk = Subject::device("sdc");
        let beside = [
            Subject::mount("/other"),
            Subject::boot("/other"),
            Subject::device("sdz"),
        ];
        for &level in Level::ALL {
            let fail_on = FailThreshold {
                level,
                undecided: true,
            };
            for subject in
                beside
                    .iter()
                    .chain([&disk, &Subject::host(), &sample_reports::free_disk_target()])
            {
                for asked in [None, Some("/dev/sdc".to_owned())] {
                    let counts = asked.is_none() || !beside.contains(subject);
                    let finding =
                        sample_reports::applying_finding("rule.one", subject, level, Vec::new());
                    for finding in [make_undecided(finding.clone(), &[]), finding] {
                        let open = lacks_non_probe_facts(&finding.outcome);
                        let report = Report {
                            findings: vec![finding],
                            asked: asked.clone(),
                            ..empty.clone()
                        };
                        let worth = match level {
                            Level::Keep => 0,
                            _ if open => 5,
                            Level::Critical => 3,
                            _ => 4,
                        };
                        assert_eq!(
                            exit_code(&report, fail_on),
                            if counts { worth } else { 0 },
                            "{subject} {level:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn missing_probe_facts_alone_do_not_fail() {
        let mut report =
            report_with_findings_and_verdict(&sample_reports::free_disk(), None, None, None);
        let cases: [(&[&[&str]], u8); 6] = [
            (&[&["probe.best"]], 0),
            (&[&["probe.best", "probe.fsync_us"]], 0),
            (&[&["probe.best"], &["ext4.features"]], 0),
            (&[&["probe.best", "ext4.features"]], 5),
            (&[&["ext4.features"], &["probe.best"]], 5),
            (&[&[]], 5),
        ];
        for (needs, expected) in cases {
            let finding = sample_reports::applying_finding(
                "rule.one",
                &sample_reports::free_disk_target(),
                Level::Critical,
                Vec::new(),
            );
            report.findings = vec![make_undecided(finding, needs)];
            let fail_on = FailThreshold {
                level: Level::Critical,
                undecided: true,
            };
            assert_eq!(exit_code(&report, fail_on), expected, "{needs:?}");
        }
    }

    fn make_undecided(finding: Finding, needs: &[&[&str]]) -> Finding {
        let need = |fact: &&str| MissingFact {
            subject: finding.subject.clone(),
            fact: (*fact).to_owned(),
            why: UnknownReason::NotCollected,
            detail: String::new(),
            remedy: None,
        };
        let needs = needs
            .iter()
            .map(|set| set.iter().map(need).collect())
            .collect();
        Finding {
            outcome: Outcome::Undecided { needs },
            ..finding
        }
    }

    fn expected_exit_code(
        found: Option<Level>,
        open: Option<Level>,
        standing: Option<VerdictKind>,
        fail_on: Level,
        undecided: bool,
    ) -> u8 {
        let bad = matches!(
            standing,
            Some(VerdictKind::AtRisk | VerdictKind::Contradictory)
        );
        if found == Some(Level::Critical) || bad {
            return 3;
        }
        let doubtful = standing == Some(VerdictKind::Unproven) && fail_on <= Level::Warning;
        if found.is_some_and(|level| level != Level::Keep && level >= fail_on) || doubtful {
            return 4;
        }
        let would = open.is_some_and(|level| level != Level::Keep && level >= fail_on)
            || standing == Some(VerdictKind::Unproven);
        if undecided && would { 5 } else { 0 }
    }

    fn report_with_findings_and_verdict(
        empty: &Report,
        found: Option<Level>,
        open: Option<Level>,
        standing: Option<VerdictKind>,
    ) -> Report {
        let target = sample_reports::free_disk_target();
        let finding =
            |level| sample_reports::applying_finding("rule.one", &target, level, Vec::new());
        let mut report = empty.clone();
        report.findings = found.map(finding).into_iter().collect();
        report
            .findings
            .extend(open.map(|level| make_undecided(finding(level), &[])));
        report.findings.push(walwise_judge::rules::Finding {
            outcome: Outcome::DoesNotApply,
            ..finding(Level::Critical)
        });
        report.verdicts = standing
            .map(|standing| sample_reports::verdict(&target, standing))
            .into_iter()
            .collect();
        report
    }
}
