//! The things to do: the steps of a plan and the findings beside it, the worst first, each with its rule and its command.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::quote::Command;
use crate::report::telling::once::Chapter;
use crate::report::telling::section::{Bullet, Detail, Mark};
use crate::report::telling::words;
use crate::report::{Step, TargetSummary};
use crate::rules::{Finding, Level, Outcome};

pub struct ToDo {
    level: Level,
    says: String,
    rules: Vec<String>,
    beneath: Vec<Detail>,
}

/// How many lines things may take that are not critical.
const LINES: usize = 10;

impl ToDo {
    /// A step of a plan. Where its cure takes several commands, one shows them.
    fn of_step(step: &Step, target: &TargetSummary) -> Self {
        let advice = &step.advice;
        let is_one = advice.apply.len() == 1 && advice.own.is_empty();
        let shows = || {
            let options = if target.kind.is_device() { " --only plan" } else { " --no-probe --only plan" };
            Command::check(target.target.name(), options)
        };
        let command = if is_one { advice.apply.first().cloned() } else { shows() };
        Self {
            level: step.level,
            says: format!("{}; {}", step.title.trim_end_matches('.'), words::interruption(advice.risk)),
            rules: step.rules.clone(),
            beneath: commands(command),
        }
    }

    /// A finding that is in no plan, if it is at least a warning.
    pub fn of_finding(finding: &Finding, target: Option<&TargetSummary>) -> Option<Self> {
        let matters = finding.outcome == Outcome::Applies && finding.level >= Level::Warning;
        let explain = || {
            let command = Command::new("walwise explain ").value(&finding.rule)?;
            match target {
                Some(target) => command.code(" ").value(target.target.name()),
                None => Some(command),
            }
        };
        let beneath = match &finding.remedy {
            Some(remedy) => vec![Detail::Sentence((&*remedy.says).into())],
            None => commands(explain()),
        };
        let says = match words::subject(&finding.subject) {
            of if finding.title.contains(&of) => finding.title.clone(),
            of => format!("{of}: {}", finding.title),
        };
        matters.then(|| Self { level: finding.level, says, rules: vec![finding.rule.clone()], beneath })
    }

    /// Whether data can be lost, or the next boot fails.
    pub fn is_critical(&self) -> bool {
        self.level == Level::Critical
    }

    /// As a line with its command.
    pub fn line(self) -> Bullet {
        Bullet {
            rule: self.rules.join(", "),
            beneath: self.beneath,
            ..Bullet::marked(Mark::Level(self.level, false), self.says)
        }
    }
}

fn commands(command: Option<Command>) -> Vec<Detail> {
    command.map(|command| Detail::Commands("", vec![command])).into_iter().collect()
}

/// Everything to do about a target, the worst first.
pub fn of_target(chapter: &Chapter<'_, '_>, target: &TargetSummary) -> Vec<ToDo> {
    let steps = chapter.report.plan(&target.target).into_iter().flat_map(|plan| &plan.steps);
    let steps: Vec<&Step> = steps.filter(|step| !step.keeps()).collect();
    let planned: BTreeSet<&str> = steps.iter().flat_map(|step| &step.rules).map(String::as_str).collect();
    let mut things: Vec<ToDo> = steps.into_iter().map(|step| ToDo::of_step(step, target)).collect();
    let mut told = BTreeSet::new();
    let beside = chapter.about(target).iter().map(|(_, finding)| *finding);
    for finding in beside.filter(|finding| !planned.contains(&*finding.rule)) {
        if let Some(thing) = ToDo::of_finding(finding, Some(target))
            && told.insert((finding.rule.clone(), thing.says.clone()))
        {
            things.push(thing);
        }
    }
    things.sort_by_key(|thing| Reverse(thing.level));
    things
}

/// What is critical and, as far as there is room, the rest; and how much was cut.
pub fn within_limit(things: Vec<ToDo>) -> (Vec<ToDo>, usize) {
    let (mut shown, mut cut, mut used) = (Vec::new(), 0, 0);
    for thing in things {
        let lines = 1 + thing.beneath.len();
        // What is cut has no more weight than what is shown.
        if thing.is_critical() || (cut == 0 && used + lines <= LINES) {
            used += lines;
            shown.push(thing);
        } else {
            cut += 1;
        }
    }
    (once(shown), cut)
}

/// The same, where of several in a row that one command shows the last has it.
fn once(mut things: Vec<ToDo>) -> Vec<ToDo> {
    let shows = |thing: &ToDo| match thing.beneath.as_slice() {
        [Detail::Commands(_, commands)] => Some(commands.clone()),
        _ => None,
    };
    let next: Vec<_> = things.iter().skip(1).map(shows).collect();
    for (thing, next) in things.iter_mut().zip(next) {
        if next.is_some() && shows(thing) == next {
            thing.beneath.clear();
        }
    }
    things
}
