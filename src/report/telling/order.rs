//! In which order targets are told: the worst first, free disks last. It orders only what is shown; the report itself keeps
//! the order of subjects.

use super::once::FindingsByTarget;
use crate::report::TargetSummary;
use crate::rules::{Level, Outcome};

/// The targets of a report: at risk, contradictory, with critical findings, unproven, durable, free disks by their rank.
pub fn worst_first<'a>(findings: &FindingsByTarget<'a>) -> Vec<&'a TargetSummary> {
    let mut targets: Vec<&TargetSummary> = findings.report.targets.iter().collect();
    let urgency = |target| findings.report.urgency(target, || criticals(findings, target) > 0);
    targets.sort_by_cached_key(|target| (urgency(target), target.rank));
    targets
}

/// How many critical findings apply to a target, its boot lines and all beneath it.
pub fn criticals(findings: &FindingsByTarget<'_>, target: &TargetSummary) -> usize {
    let critical = |level, outcome: &Outcome| level == Level::Critical && *outcome == Outcome::Applies;
    findings.about(target).iter().filter(|(_, finding)| critical(finding.level, &finding.outcome)).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::durability::Standing;
    use crate::facts::catalog::target::{self, TargetKind};
    use crate::facts::{FactSet, Source, Subject};
    use crate::report::{sample, text};

    /// Every combination of two lines' verdict and critical findings stands in the order of the list, whatever the names.
    #[test]
    fn the_worst_is_told_first() {
        let kinds = [
            (Some(Standing::AtRisk), true),
            (Some(Standing::AtRisk), false),
            (Some(Standing::Contradictory), false),
            (Some(Standing::Durable), true),
            (Some(Standing::Unproven), false),
            (Some(Standing::ProvenByDrill), false),
            (Some(Standing::Durable), false),
            (None, false),
        ];
        let severity = [0, 0, 1, 2, 3, 4, 5, 6];
        for (a, one) in kinds.iter().zip(severity) {
            for (b, other) in kinds.iter().zip(severity) {
                let text = text::render(&report(*a, *b));
                let at = |name: &str| text.find(&format!(": {name}\n")).unwrap();
                assert_eq!(at("/a") < at("/b"), one <= other, "{a:?} {b:?}\n{text}");
            }
        }
    }

    #[test]
    fn a_line_of_the_summary_counts_what_is_critical_about_the_boot_line_too() {
        let text = text::render(&report((Some(Standing::Durable), true), (None, false)));
        assert!(text.contains("\n  DURABLE, 1 critical  /a\n  UNREADABLE           /b\n"), "{text}");
    }

    fn report(a: (Option<Standing>, bool), b: (Option<Standing>, bool)) -> crate::report::Report {
        let mut facts = FactSet::default();
        let (mut verdicts, mut findings) = (Vec::new(), Vec::new());
        for (name, (standing, critical)) in [("/a", a), ("/b", b)] {
            let (place, fs, next) = (Subject::target(name), Subject::mount(name), Subject::boot(name));
            let kind = if standing.is_some() { TargetKind::Directory } else { TargetKind::Device };
            facts.know(&place, &target::KIND, kind, Source::call("test"));
            facts.stand(&place, &fs);
            facts.link(&place, &fs);
            facts.mention(&next);
            facts.link(&next, &fs);
            verdicts.extend(standing.map(|standing| sample::verdict(&place, standing)));
            if critical {
                findings.push(sample::finding("boot.one", &next, Level::Critical, Vec::new()));
            }
        }
        sample::report(&facts, verdicts, findings, BTreeMap::new())
    }
}
