//! The effect of a record of drills on a verdict: one loss condemns, twenty clean cuts settle only what the part below
//! the database left open, and nothing is unlocked by them.

use super::machine::{Machine, data};
use crate::durability::Standing;
use crate::facts::Source;
use crate::facts::catalog::drill;
use crate::text::grouped;

/// A machine with a record that the user named.
fn drilled(mut machine: Machine, cuts: u64, lost: u64) -> Machine {
    let source = || Source::Drill { file: "drills.json".to_owned() };
    machine.facts.know(&data(), &drill::ON, "2026-11-22".to_owned(), source());
    machine.facts.know(&data(), &drill::CUTS, cuts, source());
    machine.facts.know(&data(), &drill::ACKNOWLEDGED, 1000 * cuts, source());
    machine.facts.know(&data(), &drill::LOST, lost, source());
    machine
}

#[test]
fn a_clean_drill_settles_what_nobody_could_tell_and_nothing_else() {
    let usb = || Machine::plain().with("device.transport", "usb");
    let server_unread = || usb().with_cluster().with("pg.fsync", "?");
    for (machine, without, with) in [
        (usb(), Standing::Unproven, Standing::ProvenByDrill),
        (Machine::plain().with("mount.barrier", "?"), Standing::Unproven, Standing::ProvenByDrill),
        (Machine::plain(), Standing::Durable, Standing::Durable),
        (usb().with("mount.barrier", "off"), Standing::AtRisk, Standing::AtRisk),
        (
            Machine::plain().with("device.write_cache", "write through"),
            Standing::Contradictory,
            Standing::Contradictory,
        ),
        (server_unread(), Standing::Unproven, Standing::Unproven),
    ] {
        assert_eq!(machine.clone().verdict().standing, without);
        let verdict = drilled(machine.clone(), 20, 0).verdict();
        assert_eq!(verdict.standing, with, "{}", verdict.sentence);
        assert_eq!(drilled(machine, 20, 3).verdict().standing, Standing::AtRisk);
    }
}

#[test]
fn the_sentence_says_when_how_often_and_how_much_that_shows() {
    let usb = Machine::plain().with("device.transport", "usb");
    let verdict = drilled(usb.clone(), 20, 0).verdict();
    for said in [
        "on 2026-11-22",
        &format!("of {} acknowledged commits none lost in 20 power cuts", grouped(20_000)),
        "less than 14 %",
    ] {
        assert!(verdict.sentence.contains(said), "{}", verdict.sentence);
    }
    assert!(drilled(usb.clone(), 1, 0).verdict().sentence.contains("less than 95 %"));
    assert!(verdict.paths[0].evidence.iter().any(|one| one.says.contains("USB")), "the doubt stays in sight");
    assert!(drilled(usb, 20, 3).verdict().sentence.contains("acknowledged commits 3 lost in 20 power cuts"));
}

#[test]
fn a_drill_opens_no_interlock() {
    let open = |machine: Machine| machine.interlock().value().copied();
    assert_eq!(open(Machine::protected()), Some(true));
    assert_eq!(open(drilled(Machine::protected(), 20, 0)), Some(true), "nor does it shut one");
    for fact in ["controller.battery", "controller.disk_cache", "mount.barrier", "device.write_cache"] {
        let machine = drilled(Machine::protected().with(fact, "?"), 20, 0);
        assert_ne!(open(machine), Some(true), "{fact}");
    }
}
