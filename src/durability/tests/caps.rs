//! Caps: a rule lowers the verdict of every target above its subject, never raises one, and names itself where it is
//! undecided.

use super::machine::{Machine, data};
use crate::durability::{Cap, Caps, Layer, Standing, Verdict, judge};
use crate::facts::Subject;
use crate::truth::Truth;

/// The verdict of a machine with one cap.
fn capped(mut machine: Machine, subject: &Subject, standing: Standing, applies: Truth) -> Verdict {
    let remedy = standing.is_at_risk().then(|| (true, "Boot another kernel.".to_owned()));
    let cap = Cap {
        rule: "release.example".to_owned(),
        subject: subject.clone(),
        standing,
        applies,
        reason: "this release loses data".to_owned(),
        remedy,
        unread: None,
        facts: Vec::new(),
        assumed: Vec::new(),
    };
    let verdicts = judge(&mut machine.facts, true, &Caps::new([cap]));
    verdicts.into_iter().find(|verdict| verdict.target == data()).unwrap()
}

fn unflushed() -> Machine {
    Machine::plain().with("mount.barrier", "off")
}

fn subjects(machine: &Machine) -> Vec<Subject> {
    let mut all = machine.facts.stack(&data());
    all.extend([Subject::host(), data()]);
    all
}

#[test]
fn a_cap_lowers_and_never_raises_whatever_it_is_about() {
    for (start, before) in
        [(Machine::plain as fn() -> Machine, Standing::Durable), (unflushed, Standing::AtRisk)]
    {
        for subject in subjects(&start()) {
            for standing in [Standing::AtRisk, Standing::Unproven] {
                let verdict = capped(start(), &subject, standing, Truth::True);
                assert_eq!(verdict.standing, before.min(standing), "{subject} {standing}");
                let evidence = verdict.paths.iter().flat_map(|path| &path.evidence);
                assert_eq!(evidence.filter(|one| one.layer == Layer::Rule).count(), verdict.paths.len());
            }
        }
    }
}

#[test]
fn an_undecided_cap_leaves_the_verdict_and_is_named() {
    for subject in subjects(&Machine::plain()) {
        let verdict = capped(Machine::plain(), &subject, Standing::AtRisk, Truth::Unknown);
        assert_eq!(verdict.standing, Standing::Durable);
        assert_eq!(verdict.undecided.len(), 1, "{subject}");
        assert!(verdict.limits.contains("release.example"), "{}", verdict.limits);
        let below = capped(unflushed(), &subject, Standing::AtRisk, Truth::Unknown);
        assert!(below.undecided.is_empty(), "nothing is left to lower");
        let false_cap = capped(Machine::plain(), &subject, Standing::AtRisk, Truth::False);
        assert!(false_cap.undecided.is_empty() && false_cap.standing == Standing::Durable);
    }
}
