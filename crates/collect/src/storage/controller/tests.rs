//! Hosts with one disk behind a controller, from the tool's answer to the facts. The central
//! property: no fact becomes safer when parts of an answer are removed.

mod controller_host;
mod output_change_cases;
mod public_samples;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use self::controller_host::{ALL, ControllerHost, HEALTHY, controller_fact_values};
use self::output_change_cases::output_changes;
use super::samples::*;
use super::{REPORTED_FACTS, collect_facts};
use crate::collector::Request;
use crate::facts::catalog::controller;
use crate::facts::{Reading, Remedy, Subject, UnknownReason};
use crate::host::{CachingHost, RecordedHost, Tool};
use walwise_model::text::JoinText;

/// The values that count as safe, in the order of [`REPORTED_FACTS`].
const SAFE: [&[&str]; 5] = [
    &["healthy"],
    &["write back", "write through"],
    &["write through"],
    &["write through"],
    &["off"],
];

fn index_of_first_safer_fact(before: &[String; 5], after: &[String; 5]) -> Option<usize> {
    (0..5).find(|&i| SAFE[i].contains(&after[i].as_str()) && after[i] != before[i])
}

#[test]
fn every_tool_reports_healthy_controller() {
    for machine in ControllerHost::one_host_per_tool_output() {
        assert_eq!(
            machine.collected_fact_values(),
            HEALTHY,
            "{:?}",
            machine.answers[0].0
        );
    }
    let facts = ControllerHost::storcli().collect_controller_facts(&Request::default(), true);
    let disk = Subject::device("sda");
    assert_eq!(
        facts.value(&disk, &controller::MODEL).as_deref(),
        Some("MegaRAID 9361-8i")
    );
    assert_eq!(
        facts.value(&disk, &controller::TOOL).as_deref(),
        Some("storcli")
    );
    assert_eq!(
        facts.value(&disk, &controller::VOLUME).as_deref(),
        Some("VD 0")
    );
}

#[test]
fn output_changes_give_expected_values() {
    for (machine, old, new, fact, word) in output_changes() {
        let changed = machine.with_text_replaced(old, new);
        assert_eq!(
            changed.collected_fact_values()[fact],
            word,
            "{}: {new}",
            REPORTED_FACTS[fact].0.name
        );
    }
}

#[test]
fn synonymous_keys_give_equal_values() {
    use super::synonyms::{ADAPTEC, MEGARAID, MEGARAID_JSON, SMART_ARRAY, synonyms_of_family};
    let mut tried = 0;
    for machine in ControllerHost::one_host_per_tool_output() {
        let tool = machine.answers[0].0;
        let families = match tool {
            Tool::Arcconf => vec![ADAPTEC],
            Tool::Ssacli => vec![SMART_ARRAY],
            Tool::MegaCli => vec![MEGARAID],
            _ => vec![MEGARAID_JSON, MEGARAID],
        };
        let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for [canonical, synonym] in families.into_iter().flat_map(synonyms_of_family) {
            let row = names.entry(canonical).or_insert_with(|| vec![canonical]);
            row.push(synonym);
        }
        for row in names.values() {
            for (old, new) in row
                .iter()
                .flat_map(|old| row.iter().map(move |new| (*old, *new)))
            {
                let mut renamed = machine.clone();
                for (.., answer) in &mut renamed.answers {
                    *answer = rename_key(answer, old, new);
                }
                tried += usize::from(renamed.answers != machine.answers);
                assert_eq!(
                    renamed.collected_fact_values(),
                    HEALTHY,
                    "{}: {old} as {new}",
                    tool.name()
                );
            }
        }
    }
    assert!(tried > 40, "{tried}");
}

fn rename_key(answer: &str, old: &str, new: &str) -> String {
    let quoted = answer.replace(&format!("\"{old}\""), &format!("\"{new}\""));
    let line = |line: &str| {
        let lower = line.to_ascii_lowercase();
        let at = lower.find(old).filter(|at| {
            let before = lower.get(..*at).unwrap_or_default();
            let after = lower.get(at + old.len()..).unwrap_or_default();
            (before.trim().is_empty() || before.ends_with(", "))
                && !after.starts_with('"')
                && (after.is_empty() || after.starts_with([' ', ':', '(']))
        });
        match at {
            Some(at) => format!("{}{new}{}", &line[..at], &line[at + old.len()..]),
            None => line.to_owned(),
        }
    };
    quoted.split('\n').map(line).join_with("\n")
}

fn documents_without_one_element(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut rest = map.clone();
                rest.remove(key);
                all.push(Value::Object(rest));
                for smaller in documents_without_one_element(inner) {
                    let mut changed = map.clone();
                    changed.insert(key.clone(), smaller);
                    all.push(Value::Object(changed));
                }
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                let mut rest = list.clone();
                rest.remove(i);
                all.push(Value::Array(rest));
                for smaller in documents_without_one_element(inner) {
                    let mut changed = list.clone();
                    changed[i] = smaller;
                    all.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    all
}

fn answers_without_one_part(answer: &str) -> Vec<String> {
    if let Ok(document) = serde_json::from_str::<Value>(answer) {
        return documents_without_one_element(&document)
            .iter()
            .map(Value::to_string)
            .collect();
    }
    let lines: Vec<&str> = answer.lines().collect();
    let without = |i: usize| [&lines[..i], &lines[i + 1..]].concat().join("\n");
    (0..lines.len()).map(without).collect()
}

#[test]
#[ignore = "exhaustive"]
fn removing_output_never_makes_facts_safer() {
    // Some firmware does not print these lines, so an answer without one can be complete.
    const NOT_EVERYWHERE: [&str; 11] = [
        "Global Physical",
        "Over temperature",
        "Cac\" : \"R",
        "/dev/sdb",
        "isSOHGood",
        "Smart Path",
        "Something New",
        "I/O Bypass",
        "Is VD Cached",
        "/ 0% Write",
        ": 0 percent",
    ];
    let not_everywhere = |new: &str| NOT_EVERYWHERE.iter().any(|line| new.contains(line));
    let changed = output_changes()
        .into_iter()
        .filter(|(_, _, new, ..)| !not_everywhere(new));
    let changed = changed.map(|(machine, old, new, ..)| machine.with_text_replaced(old, new));
    for machine in ControllerHost::one_host_per_tool_output()
        .into_iter()
        .chain(changed)
    {
        let before = machine.collected_fact_values();
        for which in 0..machine.answers.len() {
            for answer in answers_without_one_part(&machine.answers[which].2) {
                let after = machine
                    .clone()
                    .with_nth_answer(which, answer.clone())
                    .collected_fact_values();
                let wrong = index_of_first_safer_fact(&before, &after);
                assert!(wrong.is_none(), "{before:?} became {after:?} by\n{answer}");
            }
        }
    }
}

#[test]
fn other_controllers_values_are_not_used() {
    let of_other = |text: &str| {
        text.replace("\"Controller\" : 0", "\"Controller\" : 1")
            .replace("00:02:00:00", "00:03:00:00")
            .replace("/dev/sda", "/dev/sdb")
            .replace("2b3c4d5e6f708192", "2b3c4d5e6f708193")
    };
    let both = |text: &str, other: &str| {
        let list =
            |text: &str| serde_json::from_str::<Value>(text).unwrap()["Controllers"][0].clone();
        serde_json::json!({ "Controllers": [list(other), list(text)] }).to_string()
    };
    // sda is behind a controller without a battery; the healthy controller has other disks.
    let bad = STORCLI_ALL
        .replace("\"BBU\" : \"Present\"", "\"BBU\" : \"Absent\"")
        .replace("\"Cachevault_Info\"", "\"Other\"")
        .replace("RWBD", "RAWBD")
        .replace("dsbl", "enbl");
    let mut machine = ControllerHost::storcli();
    machine.answers[0].2 = both(&bad, &of_other(STORCLI_ALL));
    machine.answers[1].2 = both(STORCLI_VOLUMES, &of_other(STORCLI_VOLUMES));
    let before = machine.collected_fact_values();
    assert_eq!(
        before,
        ["absent", "always write back", "write back", "stays", "on"]
    );
    for which in 0..2 {
        for answer in answers_without_one_part(&machine.answers[which].2) {
            let after = machine
                .clone()
                .with_nth_answer(which, answer.clone())
                .collected_fact_values();
            assert!(
                index_of_first_safer_fact(&before, &after).is_none(),
                "{before:?} became {after:?} by\n{answer}"
            );
        }
    }
}

#[test]
fn pass_through_disk_is_no_volume() {
    let jbod = ControllerHost {
        address: "0:0:5:0",
        ..ControllerHost::storcli()
    };
    assert_eq!(jbod.collected_fact_values(), ["?"; 5]);
    let facts = jbod.collect_controller_facts(&Request::default(), true);
    assert_eq!(
        facts
            .value(&Subject::device("sda"), &controller::VOLUME)
            .as_deref(),
        Some("none")
    );
    // In HBA mode disks have their own models, and none is listed as a volume.
    let hba = ControllerHost {
        model: "HP EG0300FBDBR",
        wwid: "naa.5000c50012345678",
        ..ControllerHost::ssacli()
    };
    let hba = hba.with_text_replaced("/dev/sda", "/dev/sdb");
    assert_eq!(hba.collected_fact_values(), ["?"; 5]);
    let facts = hba.collect_controller_facts(&Request::default(), true);
    assert_eq!(
        facts
            .value(&Subject::device("sda"), &controller::VOLUME)
            .as_deref(),
        Some("none")
    );
}

#[test]
fn refused_or_missing_tool_has_remedy() {
    let reading = |machine: &ControllerHost, request: &Request, privileged| {
        machine
            .collect_controller_facts(request, privileged)
            .get(&Subject::device("sda"), &controller::BATTERY)
    };
    let machine = ControllerHost::storcli();
    let request = Request::default();
    let denied = reading(&machine, &request, false);
    assert!(matches!(
        denied,
        Reading::Unknown {
            why: UnknownReason::Denied,
            remedy: Some(Remedy::RunAsRoot),
            ..
        }
    ));
    let install = |machine: ControllerHost| match reading(
        &ControllerHost {
            answers: Vec::new(),
            ..machine
        },
        &request,
        true,
    ) {
        Reading::Unknown {
            remedy: Some(Remedy::Install(name)),
            ..
        } => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(install(ControllerHost::storcli()), "storcli");
    assert_eq!(
        install(ControllerHost {
            model: "DELL PERC H730 Mini",
            ..ControllerHost::storcli()
        }),
        "perccli"
    );
    assert_eq!(install(ControllerHost::ssacli()), "ssacli");
    assert_eq!(install(ControllerHost::arcconf()), "arcconf");
    assert_eq!(install(ControllerHost::storcli2()), "storcli2");
    assert_eq!(
        install(ControllerHost {
            model: "DELL PERC H965i Front",
            ..ControllerHost::storcli2()
        }),
        "perccli2"
    );
    let unknown = ControllerHost {
        driver: "arcmsr",
        ..ControllerHost::storcli()
    };
    assert!(matches!(
        reading(&unknown, &request, true),
        Reading::Unknown {
            remedy: Some(Remedy::Do(_)),
            ..
        }
    ));
    let without = Request {
        without_programs: true,
        ..Request::default()
    };
    assert!(matches!(
        reading(&machine, &without, true),
        Reading::Unknown {
            why: UnknownReason::NotCollected,
            ..
        }
    ));
    let disk = ControllerHost {
        driver: "ahci",
        ..ControllerHost::storcli()
    };
    assert_eq!(reading(&disk, &request, true), Reading::not_collected());
}

#[test]
fn tool_without_controllers_falls_back_to_next_tool() {
    let mut machine = ControllerHost::megacli();
    let none = r#"{"Controllers":[{"Command Status":{"Status":"Failure","Description":"No Controller found"}}]}"#;
    machine.answers.push((Tool::Storcli, ALL, none.to_owned()));
    assert_eq!(machine.collected_fact_values(), HEALTHY);
}

#[test]
fn masked_capture_keeps_facts_and_hides_serials() {
    let identities = [
        "SK74512345",
        "500605b00d1234a0",
        "2b3c4d5e6f708192",
        "PDNLH0BRH8W",
        "CZJ64012AB",
        "B3D4DCF5A40001",
        "b3d4dcf5a40001",
        "5A4321B0C9D",
        "Z1P35ABC",
        "5000C5000707AA3C",
        "SPE4900042",
        "500062b220ab0040",
        "600062b220ab004069fa000000ce7e62",
        "00627ece000000fa694000ab20b26200",
        "1A17G300042",
        "50000D1F04800042",
        "600508B1001C50CDC910104454AF0042",
        "600508b1001c50cdc910104454af0042",
        "BTYF000000H9240AGN",
        "1B8F7E4BCC858DAE8029D94522BC0042",
        "Z1P34951",
    ];
    let mut told = 0;
    for machine in ControllerHost::one_host_per_tool_output() {
        let host = machine.to_fake_host();
        let recording = CachingHost::new(&host);
        let mut facts = machine.input_facts(true);
        collect_facts(&recording, &Request::default(), &mut facts);
        told += identities
            .iter()
            .filter(|id| recording.render_capture("", false).contains(*id))
            .count();
        let masked = recording.render_capture("", true);
        for identity in identities {
            assert!(!masked.contains(identity), "{identity} in {masked}");
        }
        let mut replayed = machine.input_facts(true);
        collect_facts(
            &RecordedHost::parse(masked.as_bytes()).unwrap(),
            &Request::default(),
            &mut replayed,
        );
        assert_eq!(
            controller_fact_values(&replayed),
            controller_fact_values(&facts)
        );
        assert_eq!(controller_fact_values(&replayed), HEALTHY);
    }
    assert!(told >= identities.len(), "the answers held them before");
}

proptest! {
    #[test]
    fn arbitrary_output_never_panics(answer: Vec<u8>) {
        super::storcli::parse_adapters(&answer, STORCLI_VOLUMES.as_bytes(), &|_, _| answer.clone());
        super::storcli::parse_adapters(STORCLI_ALL.as_bytes(), &answer, &|_, _| answer.clone());
        super::megacli::parse_adapters(&answer, &answer);
        super::ssacli::parse_adapters(&answer, &[(0, answer.clone())]);
        super::arcconf::parse_adapter(1, &answer);
        super::storcli2::parse_adapters(&answer, STORCLI2_VOLUMES.as_bytes());
        super::storcli2::parse_adapters(STORCLI2_ALL.as_bytes(), &answer);
        super::arcconf::parse_controller_count(&answer);
    }

    #[test]
    fn unknown_lines_change_nothing(which in 0_usize..6, at: prop::sample::Index, line in "~[ -9;-~]{0,30}(: [ -~]{0,20})?") {
        let machines = [ControllerHost::megacli(), ControllerHost::ssacli(), ControllerHost::arcconf(), ControllerHost::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH), ControllerHost::smartraid(), ControllerHost::arcconf_with_two_volumes("0:0:0:0")];
        let machine = machines[which].clone();
        let last = machine.answers.len() - 1;
        let mut lines: Vec<&str> = machine.answers[last].2.lines().collect();
        lines.insert(at.index(lines.len() + 1), &line);
        let answer = lines.join("\n");
        prop_assert_eq!(machine.with_nth_answer(last, answer).collected_fact_values(), HEALTHY.map(str::to_owned));
    }

    #[test]
    fn replaced_json_values_never_make_facts_safer(at: prop::sample::Index, word in prop_oneof![Just("null"), Just("[]"), Just("-1"), Just("\"\""), Just("{}"), Just("\"~\"")]) {
        let starts: Vec<usize> = STORCLI_ALL.match_indices(" : ").map(|(i, _)| i + 3).collect();
        let start = starts[at.index(starts.len())];
        let rest = &STORCLI_ALL[start..];
        prop_assume!(!rest.starts_with(['{', '[']));
        let end = match rest.strip_prefix('"') {
            Some(text) => text.find('"').unwrap() + 2,
            None => rest.find([',', ' ', '\n']).unwrap(),
        };
        let answer = format!("{}{word}{}", &STORCLI_ALL[..start], &rest[end..]);
        let machine = ControllerHost::storcli();
        let after = machine.clone().with_nth_answer(0, answer).collected_fact_values();
        prop_assert!(index_of_first_safer_fact(&machine.collected_fact_values(), &after).is_none());
    }
}

#[test]
fn external_storage_systems_battery_is_ignored() {
    let elsewhere = "MSA1500 CS in MY STORAGE\n   Battery/Capacitor Count: 1\n   Battery/Capacitor Status: OK\n";
    let machine = ControllerHost::ssacli();
    let with = |detail: String| {
        machine
            .clone()
            .with_nth_answer(0, detail)
            .collected_fact_values()
    };
    let without = SSACLI_DETAIL.replace(
        "   Battery/Capacitor Count: 1\n   Battery/Capacitor Status: OK\n",
        "",
    );
    assert_eq!(with(format!("{without}\n{elsewhere}"))[0], "?");
    assert_eq!(with(format!("{SSACLI_DETAIL}\n{elsewhere}")), HEALTHY);
    assert_eq!(with(format!("\n{elsewhere}{SSACLI_DETAIL}")), HEALTHY);
}

#[test]
fn disks_of_other_volumes_are_ignored() {
    let [own, other] = ["0:0:0:0", "0:0:1:0"].map(ControllerHost::arcconf_with_two_volumes);
    assert_eq!(own.collected_fact_values(), HEALTHY);
    assert_eq!(
        other.collected_fact_values(),
        ["healthy", "write back", "write back", "write through", "on"]
    );
    for answer in answers_without_one_part(ARCCONF_TWO) {
        let words = other
            .clone()
            .with_nth_answer(0, answer.clone())
            .collected_fact_values();
        assert!(words[4] != "off", "{answer}");
    }
}

#[test]
fn masked_serials_fall_back_to_port_address() {
    let places = [
        ("Controller:1,Connector:0,Device:", "Connector 0, Device "),
        ("Connector:0, Device:", "Connector 0, Device "),
        (
            "953869MB, SATA, HDD, Enclosure:0, Slot:",
            "Enclosure 0, Slot ",
        ),
        ("Connector:CN0, Backplane:0, Slot:", "Backplane 0, Slot "),
        ("953869MB, SATA, HDD, Channel:0, Device:", "somewhere "),
        ("0,", "somewhere "),
    ];
    for (member, disk) in places {
        for mask in ["*******", "WD-*****", "#####", "xxxx", "XXXXXXXX", ""] {
            let text = ARCCONF_TWO
                .replace("Controller:1,Connector:0,Device:", member)
                .replace("Connector 0, Device ", disk);
            let masked = ["Z1P35CR0", "Z1P34951", "Z1P34AC2", "Z1P34JK3", "*******"]
                .iter()
                .fold(text.clone(), |text, serial| text.replace(serial, mask));
            let only_disks = ["Z1P35CR0", "Z1P34AC2"].iter().fold(text, |text, serial| {
                text.replace(
                    &format!("Serial number                      : {serial}"),
                    &format!("Serial number : {mask}"),
                )
            });
            for answer in [masked, only_disks] {
                let caches = ["0:0:0:0", "0:0:1:0"].map(|at| {
                    ControllerHost::arcconf_with_two_volumes(at)
                        .with_nth_answer(0, answer.clone())
                        .collected_fact_values()[4]
                        .clone()
                });
                assert_eq!(caches, ["off", "on"], "{member} {mask}");
            }
        }
    }
}

#[test]
fn missing_disk_never_improves_cache_state() {
    let (head, list) = ARCCONF_TWO.split_once("      Device #0\n").unwrap();
    let disks: Vec<&str> = list.split("      Device #").collect();
    for mask in [None, Some("xxxx")] {
        for left_out in 0..1_u32 << disks.len() {
            let kept = disks
                .iter()
                .enumerate()
                .filter(|(at, _)| left_out >> at & 1 == 0);
            let kept = kept.map(|(at, disk)| {
                format!("      Device #{}{disk}", if at == 0 { "0\n" } else { "" })
            });
            let mut answer = format!("{head}{}", kept.collect::<String>());
            for serial in mask.into_iter().flat_map(|mask| {
                ["Z1P35CR0", "Z1P34951", "Z1P34AC2", "Z1P34JK3"].map(|serial| (serial, mask))
            }) {
                answer = answer.replace(serial.0, serial.1);
            }
            for (at, own) in [("0:0:0:0", 0b11), ("0:0:1:0", 0b1100)] {
                let cache = ControllerHost::arcconf_with_two_volumes(at)
                    .with_nth_answer(0, answer.clone())
                    .collected_fact_values()[4]
                    .clone();
                let may_be_off = at == "0:0:0:0" && left_out & own == 0;
                assert!(cache != "off" || may_be_off, "{at} {left_out:b} {mask:?}");
            }
        }
    }
}

#[test]
#[ignore = "exhaustive"]
fn harmful_changes_stay_harmful_in_pairs() {
    let opens = |machine: &ControllerHost| machine.collected_fact_values() == HEALTHY;
    let all: Vec<_> = output_changes()
        .into_iter()
        .map(|(machine, old, new, ..)| (machine, old, new))
        .collect();
    let says = |machine: &ControllerHost, old: &str| {
        machine
            .answers
            .iter()
            .any(|(.., answer)| answer.contains(old))
    };
    let (mut alone, mut pairs) = (0, 0);
    for (at, (machine, old, new)) in all.iter().enumerate() {
        let first = machine.clone().with_text_replaced(old, new);
        alone += usize::from(opens(&first));
        let same = |other: &ControllerHost| {
            other.answers == machine.answers && other.address == machine.address
        };
        for (_, also, then) in all
            .iter()
            .skip(at + 1)
            .filter(|(other, also, _)| same(other) && also != old && says(&first, also))
        {
            let second = machine.clone();
            let fine = opens(&first)
                && says(&second, also)
                && opens(&second.with_text_replaced(also, then));
            assert!(
                fine || !opens(&first.clone().with_text_replaced(also, then)),
                "{old:?} {new:?} {also:?} {then:?}"
            );
            pairs += 1;
        }
    }
    assert!(alone > 5 && pairs > 1000, "{alone} {pairs}");
}
