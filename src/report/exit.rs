//! The exit code of a check, from the report alone.
//!
//! 0 nothing, 3 a critical finding, 4 something that reaches the level asked for, 5 nothing found but something undecided
//! that would reach it; 3 before 4 before 5. The surprise: a verdict counts like a finding although no rule made it.

use super::Report;
use crate::durability::Standing;
use crate::rules::{Level, Outcome};

/// What makes a check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailOn {
    /// The least level that does. What is already right never does.
    pub level: Level,
    /// Whether a rule that cannot be decided and would reach the level does too.
    pub undecided: bool,
}

impl Default for FailOn {
    fn default() -> Self {
        Self { level: Level::Critical, undecided: false }
    }
}

/// The exit code: 0, 3, 4 or 5.
pub fn code(report: &Report, fail_on: FailOn) -> u8 {
    let reaches = |level: Level| level >= fail_on.level && level > Level::Keep;
    let verdicts = report.verdicts.iter().filter_map(|verdict| level(verdict.standing));
    let found = report.findings.iter().filter(|f| f.outcome == Outcome::Applies).map(|f| f.level);
    let worst = verdicts.chain(found).filter(|level| reaches(*level)).max();
    let open = report.findings.iter().any(|f| is_open(&f.outcome) && reaches(f.level));
    match worst {
        Some(Level::Critical) => 3,
        Some(_) => 4,
        None if fail_on.undecided && open => 5,
        None => 0,
    }
}

/// The level of a verdict.
fn level(standing: Standing) -> Option<Level> {
    match standing {
        Standing::AtRisk | Standing::Contradictory => Some(Level::Critical),
        Standing::Unproven => Some(Level::Warning),
        Standing::Durable => None,
    }
}

fn is_open(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Undecided { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durability::Verdict;
    use crate::report::sample;

    /// Every level found, every level undecided, every verdict, every option: against the table, written the other way
    /// round, from the code to what must be there.
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
        let empty = sample::blank();
        for found in &levels {
            for open in &levels {
                for standing in standings {
                    let report = report(&empty, *found, *open, standing);
                    for level in Level::ALL {
                        for undecided in [false, true] {
                            let code = code(&report, FailOn { level, undecided });
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
        let would = open.is_some_and(|level| level != Level::Keep && level >= fail_on);
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
        report.findings.extend(open.map(|level| crate::rules::Finding {
            outcome: Outcome::Undecided { needs: Vec::new() },
            ..finding(level)
        }));
        report
            .findings
            .push(crate::rules::Finding { outcome: Outcome::DoesNotApply, ..finding(Level::Critical) });
        report.verdicts = standing
            .map(|standing| Verdict {
                target: target.clone(),
                standing,
                seen_by: "host".to_owned(),
                sentence: String::new(),
                limits: String::new(),
                paths: Vec::new(),
                missing: Vec::new(),
            })
            .into_iter()
            .collect();
        report
    }
}
