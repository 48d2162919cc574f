//! The interlock opens in exactly the combinations that its specification allows.

use super::machine::Machine;
use crate::facts::{Reading, Subject};

/// Every fact that decides it, with all its values, unknown included; the first is the one that allows it.
const CONTROLLER: &[(&str, &[&str])] = &[
    (
        "controller.battery",
        &["healthy", "charging", "learning", "degraded", "failed", "absent", "unreadable", "?"],
    ),
    ("controller.policy", &["write back", "write through", "always write back", "?"]),
    ("controller.policy_in_force", &["write back", "write through", "?"]),
    ("controller.on_battery_failure", &["write through", "stays", "?"]),
    ("controller.disk_cache", &["off", "on", "disk default", "?"]),
];

const AROUND: &[(&str, &[&str])] = &[
    ("controller.battery", &["healthy", "failed", "?"]),
    ("mount.fstype", &["ext4", "xfs", "?"]),
    ("mount.barrier", &["on", "off", "no effect", "?"]),
    ("kernel.version", &["6.1.0", "9.0", "?"]),
    ("device.write_cache", &["write back", "write through", "?"]),
    ("probe.flush_cost", &["40", "4", "-1", "?"]),
    ("probe.implausible", &["false", "true"]),
    ("pg.fsync", &["true", "false", "?"]),
];

/// The specification, written from the product's words and from nothing in the code: the values that each fact must have.
fn allowed(fact: &str, value: &str) -> bool {
    match fact {
        "controller.battery" => value == "healthy",
        "controller.policy" | "controller.policy_in_force" | "device.write_cache" => value == "write back",
        "controller.on_battery_failure" => value == "write through",
        "controller.disk_cache" => value == "off",
        "mount.fstype" => value == "ext4",
        // "No effect" is an option that stands there and changes nothing: flushes are sent.
        "mount.barrier" => value == "on" || value == "no effect",
        "pg.fsync" => value == "true",
        // What kernel 9 does with the option nobody knows today.
        "kernel.version" => value == "6.1.0",
        "kernel.vendor" => value == "debian",
        // The commit takes 100 µs; the gain must be more than 5 % of it.
        "probe.flush_cost" => value == "40",
        "probe.implausible" => value == "false",
        "device.cache_type" => value == "write back" || value == "?" || value == "write through",
        _ => panic!("{fact} is not specified"),
    }
}

fn combinations(of: &[(&'static str, &'static [&'static str])]) -> Vec<Vec<(&'static str, &'static str)>> {
    of.iter().fold(vec![Vec::new()], |all, (fact, values)| {
        let extend = |chosen: &Vec<_>| {
            let chosen = chosen.clone();
            values.iter().map(move |value| chosen.iter().copied().chain([(*fact, *value)]).collect())
        };
        all.iter().flat_map(extend).collect()
    })
}

fn open(machine: &Machine) -> bool {
    matches!(machine.interlock(), Reading::Known { value: true, .. })
}

fn enumerate(facts: &[(&'static str, &'static [&'static str])], start: &Machine) {
    let mut opened = 0;
    for chosen in combinations(facts) {
        let machine = chosen.iter().fold(start.clone(), |m, (fact, value)| m.with(fact, value));
        let expect = chosen.iter().all(|(fact, value)| allowed(fact, value));
        assert_eq!(open(&machine), expect, "{chosen:?}: {:?}", machine.interlock());
        opened += usize::from(expect);
    }
    assert!(opened > 0);
}

#[test]
fn it_opens_for_exactly_one_state_of_the_controller() {
    enumerate(CONTROLLER, &Machine::protected());
}

#[test]
fn it_opens_for_exactly_the_allowed_surroundings() {
    enumerate(AROUND, &Machine::protected().with_cluster());
}

#[test]
fn no_pair_of_deviations_cancels_out() {
    let all: Vec<(&str, &str)> = CONTROLLER
        .iter()
        .chain(AROUND)
        .chain(&[
            ("device.cache_type", &["write back", "write through", "?"][..]),
            ("kernel.vendor", &["debian", "?"][..]),
        ])
        .flat_map(|(fact, values)| values.iter().map(|value| (*fact, *value)))
        .collect();
    let start = Machine::protected().with_cluster();
    for (i, a) in all.iter().enumerate() {
        for b in all.iter().skip(i + 1).filter(|b| b.0 != a.0) {
            let machine = start.clone().with(a.0, a.1).with(b.0, b.1);
            assert_eq!(open(&machine), allowed(a.0, a.1) && allowed(b.0, b.1), "{a:?} {b:?}");
        }
    }
}

#[test]
fn stated_facts_never_open_it() {
    let facts = CONTROLLER.iter().chain(AROUND).filter(|(fact, _)| *fact != "probe.implausible");
    for (fact, values) in facts {
        let machine = Machine::protected().with_cluster().with(fact, &format!("~{}", values[0]));
        let Reading::Unknown { detail, .. } = machine.interlock() else { panic!("{fact}: known") };
        assert!(detail.contains("stated") || detail.contains("measured"), "{fact}: {detail}");
    }
}

#[test]
fn measurements_of_another_host_never_open_it() {
    let mut machine = Machine::protected();
    assert!(open(&machine));
    machine.live = false;
    assert!(!machine.interlock().is_known());
}

#[test]
fn every_disk_must_be_protected() {
    let (md, other) = (Subject::device("md0"), Subject::device("sdb"));
    let pair = Machine::protected()
        .stand(&Subject::device("sda1"), &md)
        .stand(&md, &other)
        .on(&md, "device.kind", "md")
        .on(&md, "md.level", "raid1")
        .on(&md, "device.write_cache", "write back")
        .on(&other, "device.kind", "disk")
        .on(&other, "device.transport", "sata")
        .on(&other, "device.write_cache", "write back");
    assert!(!open(&pair));
}

#[test]
fn a_layer_that_may_hold_data_keeps_it_shut() {
    let (mount, lv) = (Subject::mount("/srv"), Subject::device("dm-0"));
    let target = Subject::target("/srv");
    let on = |kind: &str| {
        let mut machine = Machine::protected()
            .on(&target, "target.kind", "directory")
            .on(&mount, "mount.class", "block")
            .on(&mount, "mount.fstype", "ext4")
            .on(&mount, "mount.barrier", "on")
            .on(&mount, "ext4.journal", "true")
            .on(&lv, "device.kind", kind)
            .on(&lv, "device.write_cache", "write back")
            .on(&target, "probe.flush_cost", "40")
            .on(&target, "probe.commit", "100")
            .stand(&target, &mount)
            .stand(&mount, &lv)
            .stand(&lv, &Subject::device("sda"));
        crate::durability::judge(&mut machine.facts, true);
        machine.facts.value(&target, &crate::facts::catalog::target::INTERLOCK)
    };
    assert_eq!(on("lvm"), Some(true), "a linear volume");
    assert_eq!(on("crypt"), Some(true));
    assert_eq!(on("dm"), None, "a mapping of unknown type");
    assert_eq!(on("loop"), Some(false));
}

#[test]
fn what_is_missing_is_named() {
    let Reading::Unknown { detail, remedy, .. } =
        Machine::protected().with("controller.battery", "?").interlock()
    else {
        panic!("known")
    };
    assert!(detail.contains("controller.battery of device sda"), "{detail}");
    assert!(remedy.is_some());
}
