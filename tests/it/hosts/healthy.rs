//! Healthy hosts are decided. Of the recorded hosts that are durable and without warnings, at least
//! nine in ten leave no critical rule undecided and mention no undecided rule on the first screen.

use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::{Level, Outcome};
use walwise_report::exit::{FailThreshold, exit_code};

use super::garbled::{GarbledHost, HOSTS, collect_and_report};
use crate::support::deadline::CommandInTime as _;
use crate::support::{stdout, walwise};

#[test]
fn nine_of_ten_healthy_hosts_leave_nothing_undecided() {
    let fail_on = FailThreshold {
        level: Level::Critical,
        undecided: true,
    };
    let (mut healthy, mut open) = (0, Vec::new());
    for (name, target, answers) in HOSTS.iter() {
        let (_, mut report) =
            collect_and_report(&GarbledHost::with_unchanged_answers(answers), target);
        let warns = |outcome: &Outcome, level: Level| {
            *outcome == Outcome::Applies && level >= Level::Warning
        };
        let about: Vec<_> = report
            .targets
            .iter()
            .flat_map(|target| target.subjects.clone())
            .collect();
        report.asked = Some(target.clone());
        let found = report
            .findings
            .iter()
            .filter(|one| about.contains(&one.subject))
            // A server release without a fix does not make the storage unhealthy, so such findings
            // are skipped.
            .filter(|one| {
                !["release.pg-", "release.mysql-", "release.mariadb-"]
                    .iter()
                    .any(|of| one.rule.starts_with(of))
            });
        let mut verdicts = report
            .verdicts
            .iter()
            .filter(|verdict| verdict.target.name() == target);
        if !verdicts.all(|verdict| verdict.standing == VerdictKind::Durable)
            || found
                .into_iter()
                .any(|finding| warns(&finding.outcome, finding.level))
        {
            continue;
        }
        healthy += 1;
        if exit_code(&report, fail_on) != 0 {
            open.push(name);
            continue;
        }
        let path = super::host(name);
        let text = stdout(
            &walwise()
                .args(["check", target, "--host", path.to_str().unwrap()])
                .output_in_time(),
        );
        assert!(!text.contains("undecided"), "{name}: {text}");
    }
    assert!(healthy >= 50, "only {healthy} healthy hosts");
    assert!(
        open.len() * 10 <= healthy,
        "{} of {healthy} leave a critical rule undecided: {open:?}",
        open.len()
    );
}
