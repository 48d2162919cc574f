//! The exit code of a check, and of a look at the next kernel, from the report alone.
//!
//! 0 nothing, 3 a critical finding, 4 a finding of the requested level, 5 nothing found but an
//! undecided rule of that level, a verdict that is unproven, or what mounts at boot could not be
//! read. 3 takes precedence over 4, and 4 over 5. If one target was asked for, findings beside it
//! do not count, but those of the host do. A verdict counts like a finding although no rule made
//! it.

use std::collections::BTreeSet;

use super::model::Report;
use super::model::upgrade::{Item, Upgrade};
use walwise_judge::durability::Standing;
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::note::{BootNote, Note};
use walwise_model::facts::{Scope, Subject};

/// The conditions under which a check fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailCondition {
    /// The lowest failing level. A `keep` never fails.
    pub level: Level,
    /// Whether an undecided rule of that level fails, too.
    pub undecided: bool,
}

impl Default for FailCondition {
    fn default() -> Self {
        Self {
            level: Level::Critical,
            undecided: false,
        }
    }
}

/// What a report has at a level or above, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportConcern {
    /// A finding or a verdict, at this level.
    Found(Level),
    /// A rule that is undecided.
    Undecided,
    Nothing,
}

/// The exit code: 0, 3, 4 or 5.
pub fn code(report: &Report, fail_on: FailCondition) -> u8 {
    match concern(report, fail_on) {
        ReportConcern::Found(Level::Critical) => 3,
        ReportConcern::Found(Level::Warning | Level::Advice | Level::Option | Level::Keep) => 4,
        ReportConcern::Undecided => 5,
        ReportConcern::Nothing => 0,
    }
}

/// What a check fails for.
pub(super) fn concern(report: &Report, fail_on: FailCondition) -> ReportConcern {
    let reaches = |level: Level| level >= fail_on.level && level > Level::Keep;
    let verdicts = report
        .verdicts
        .iter()
        .filter_map(|verdict| level(verdict.standing));
    let findings = counted(report);
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
        .any(|note| matches!(note, Note::Boot(BootNote::Gap { .. })));
    let open = unproven
        || unread
        || findings
            .iter()
            .any(|f| is_open(&f.outcome) && reaches(f.level));
    match worst {
        Some(level) => ReportConcern::Found(level),
        None if fail_on.undecided && open => ReportConcern::Undecided,
        None => ReportConcern::Nothing,
    }
}

impl Upgrade {
    /// The exit code, by the rules of `check`.
    pub fn exit_code(&self, fail_on: FailCondition) -> u8 {
        let counted: Vec<&Item> = self.counted(fail_on.level).collect();
        let decided = |item: &&Item| {
            if item.undecided {
                item.sure
            } else {
                Some(item.level)
            }
        };
        let worst = counted
            .iter()
            .filter_map(decided)
            .filter(|level| *level >= fail_on.level)
            .max();
        match worst {
            Some(Level::Critical) => 3,
            Some(_) => 4,
            None if fail_on.undecided && !counted.is_empty() => 5,
            None => 0,
        }
    }
}

/// The level of a verdict; `None` for one that counts for nothing.
pub(super) fn level(standing: Standing) -> Option<Level> {
    match standing {
        Standing::AtRisk | Standing::Contradictory => Some(Level::Critical),
        Standing::Unproven => Some(Level::Warning),
        Standing::ProvenByDrill | Standing::Durable => None,
    }
}

/// The findings that count: all, or for a requested target those about it and about the host.
pub(super) fn counted(report: &Report) -> Vec<&Finding> {
    let known: BTreeSet<&Subject> = report
        .targets
        .iter()
        .flat_map(|target| &target.subjects)
        .collect();
    let counts = |finding: &&Finding| {
        report.asked.is_none()
            || finding.subject.scope() == Scope::Host
            || known.contains(&finding.subject)
    };
    report.findings.iter().filter(counts).collect()
}

/// How many rules of a level are undecided that count.
pub(super) fn undecided(report: &Report, level: Level) -> usize {
    counted(report)
        .iter()
        .filter(|finding| finding.level == level && is_open(&finding.outcome))
        .count()
}

/// Whether more than a measurement is missing: a run without a probe lacks its facts by choice.
fn is_open(outcome: &Outcome) -> bool {
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
    use crate::sample;
    use walwise_model::facts::{Need, Why};

    /// Every level found, every level undecided, every verdict, every option: compared with the
    /// table, written in reverse, from the code to its conditions.
    #[test]
    fn the_table_holds_everywhere() {
        let levels: Vec<Option<Level>> = Level::ALL.into_iter().map(Some).chain([None]).collect();
        let standings = [
            None,
            Some(Standing::AtRisk),
            Some(Standing::Contradictory),
            Some(Standing::Unproven),
            Some(Standing::Durable),
        ];
        let empty = sample::free_disk();
        for found in &levels {
            for open in &levels {
                for standing in standings {
                    let report = report(&empty, *found, *open, standing);
                    for level in Level::ALL {
                        for undecided in [false, true] {
                            let code = code(&report, FailCondition { level, undecided });
                            let expected = expected(*found, *open, standing, level, undecided);
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

    /// Findings beside the requested target never count, whatever their level; those about the host
    /// or a layer below it do; and without a requested target all do.
    #[test]
    fn what_lies_beside_the_asked_target_does_not_count() {
        let empty = report(&sample::free_disk(), None, None, None);
        let disk = Subject::device("sdc");
        let beside = [
            Subject::mount("/other"),
            Subject::boot("/other"),
            Subject::device("sdz"),
        ];
        for level in Level::ALL {
            let fail_on = FailCondition {
                level,
                undecided: true,
            };
            for subject in beside
                .iter()
                .chain([&disk, &Subject::host(), &sample::new_disk()])
            {
                for asked in [None, Some("/dev/sdc".to_owned())] {
                    let counts = asked.is_none() || !beside.contains(subject);
                    let finding = sample::finding("rule.one", subject, level, Vec::new());
                    for finding in [undecided(finding.clone(), &[]), finding] {
                        let open = is_open(&finding.outcome);
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
                            code(&report, fail_on),
                            if counts { worth } else { 0 },
                            "{subject} {level:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_only_a_measurement_lacks_is_not_open() {
        let mut report = report(&sample::free_disk(), None, None, None);
        let cases: [(&[&[&str]], u8); 6] = [
            (&[&["probe.best"]], 0),
            (&[&["probe.best", "probe.fsync_us"]], 0),
            (&[&["probe.best"], &["ext4.features"]], 0),
            (&[&["probe.best", "ext4.features"]], 5),
            (&[&["ext4.features"], &["probe.best"]], 5),
            (&[&[]], 5),
        ];
        for (needs, expected) in cases {
            let finding =
                sample::finding("rule.one", &sample::new_disk(), Level::Critical, Vec::new());
            report.findings = vec![undecided(finding, needs)];
            let fail_on = FailCondition {
                level: Level::Critical,
                undecided: true,
            };
            assert_eq!(code(&report, fail_on), expected, "{needs:?}");
        }
    }

    fn undecided(finding: Finding, needs: &[&[&str]]) -> Finding {
        let need = |fact: &&str| Need {
            subject: finding.subject.clone(),
            fact: (*fact).to_owned(),
            why: Why::NotCollected,
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

    fn expected(
        found: Option<Level>,
        open: Option<Level>,
        standing: Option<Standing>,
        fail_on: Level,
        undecided: bool,
    ) -> u8 {
        let bad = matches!(standing, Some(Standing::AtRisk | Standing::Contradictory));
        if found == Some(Level::Critical) || bad {
            return 3;
        }
        let doubtful = standing == Some(Standing::Unproven) && fail_on <= Level::Warning;
        if found.is_some_and(|level| level != Level::Keep && level >= fail_on) || doubtful {
            return 4;
        }
        let would = open.is_some_and(|level| level != Level::Keep && level >= fail_on)
            || standing == Some(Standing::Unproven);
        if undecided && would { 5 } else { 0 }
    }

    fn report(
        empty: &Report,
        found: Option<Level>,
        open: Option<Level>,
        standing: Option<Standing>,
    ) -> Report {
        let target = sample::new_disk();
        let finding = |level| sample::finding("rule.one", &target, level, Vec::new());
        let mut report = empty.clone();
        report.findings = found.map(finding).into_iter().collect();
        report
            .findings
            .extend(open.map(|level| undecided(finding(level), &[])));
        report.findings.push(walwise_judge::rules::Finding {
            outcome: Outcome::DoesNotApply,
            ..finding(Level::Critical)
        });
        report.verdicts = standing
            .map(|standing| sample::verdict(&target, standing))
            .into_iter()
            .collect();
        report
    }
}
