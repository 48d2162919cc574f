//! The effort of following a plan, summarised for all its steps: restarts of servers, remounts, new file systems.
//!
//! It repeats the steps' risks and judges nothing. A change for the next boot needs nothing now, and a disk without a
//! file system has nothing to remount.

use std::collections::BTreeMap;

use crate::facts::{Scope, Subject};
use crate::report::{Plan, Step};
use crate::rules::{Reach, Risk};

impl Plan {
    /// The effort of the steps, the greatest first, each with its subjects.
    pub fn takes(&self) -> Vec<(Risk, Vec<&Subject>)> {
        let mut takes: BTreeMap<Risk, Vec<&Subject>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| costs(step)) {
            let on = takes.entry(step.advice.risk).or_default();
            if !on.contains(&&step.subject) {
                on.push(&step.subject);
            }
        }
        takes.into_iter().rev().collect()
    }
}

/// Whether more than the command is needed.
fn costs(step: &Step) -> bool {
    match step.advice.risk {
        _ if step.keeps() => false,
        Risk::None => false,
        Risk::NeedsNewFilesystem | Risk::DataLossIfWrong => true,
        _ if step.advice.reach == Reach::NextBoot => false,
        Risk::NeedsRemount | Risk::NeedsUnmount => step.subject.scope() != Scope::Target,
        Risk::NeedsReload | Risk::NeedsRestart => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn each_thing_is_said_once_and_the_gravest_first() {
        let mut report = sample::at_risk();
        let plan = &mut report.plans[0];
        let step = |report: &mut Plan, setting: &str, subject: Subject, risk, reach| {
            let mut step = report.steps[0].clone();
            step.subject = subject;
            step.advice = crate::rules::Advice {
                reach,
                risk,
                ..sample::advice(setting, crate::rules::Change::Set("x".to_owned()))
            };
            report.steps.push(step);
        };
        plan.steps.truncate(1);
        plan.steps[0].advice.reach = Reach::NextBoot;
        let server = || Subject::cluster("/srv/pg");
        for setting in ["pg.fsync", "pg.full_page_writes"] {
            step(plan, setting, server(), Risk::NeedsRestart, Reach::Server);
        }
        step(plan, "mount.options", Subject::mount("/srv"), Risk::NeedsRemount, Reach::ThisMount);
        step(plan, "mount.options", Subject::target("/dev/sdc"), Risk::NeedsRemount, Reach::ThisMount);
        step(plan, "block.scheduler", Subject::device("sda"), Risk::None, Reach::Device);
        assert_eq!(
            plan.takes(),
            [(Risk::NeedsRemount, vec![&Subject::mount("/srv")]), (Risk::NeedsRestart, vec![&server()])]
        );
    }
}
