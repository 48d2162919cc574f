//! Tests `--assume`: assumed facts leave the report of the real host unchanged, their consequences
//! are reported, and none unlocks advice that can lose data.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;
use walwise::session::Session;
use walwise::session::assume::{self, Assumption};
use walwise_collect::Request;
use walwise_judge::rules::{Risk, RuleSet};
use walwise_model::facts::catalog::{self, controller, device, mount, probe};
use walwise_model::facts::{KeyInfo, Scope, Subject, Value as FactOf, ValueKind};
use walwise_report::{Report, WhatIf, text};
use walwise_sys::host::RecordedHost;

use crate::support::deadline::CommandInTime as _;
use crate::support::{recorded, stderr, stdout, walwise};

fn recorded_host_path(name: &str) -> String {
    recorded::recorded_host_file(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn all_recorded_hosts() -> Vec<String> {
    recorded::recorded_host_files()
        .iter()
        .map(|file| file.to_str().unwrap().to_owned())
        .collect()
}

fn check_json(arguments: &[&str]) -> (i32, Value) {
    let (code, out) = check_text(&[arguments, &["-v", "--format", "json"]].concat());
    (code, serde_json::from_str(&out).unwrap())
}

fn check_text(arguments: &[&str]) -> (i32, String) {
    let output = walwise().arg("check").args(arguments).output_in_time();
    assert_eq!(stderr(&output), "", "{arguments:?}");
    (output.status.code().unwrap(), stdout(&output))
}

fn assert_check_refused(arguments: &[&str]) -> String {
    let output = walwise().arg("check").args(arguments).output_in_time();
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), ""),
        "{arguments:?}"
    );
    stderr(&output)
}

fn json_elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn assumed_fact_value<'r>(what_if: &'r Value, subject: &str, name: &str) -> Option<&'r str> {
    let change = json_elements(&what_if["difference"]["facts"])
        .iter()
        .find(|c| c["subject"] == subject && c["fact"] == name)?;
    change["now"]["value"].as_str()
}

fn finding_change_class<'r>(what_if: &'r Value, rule: &str) -> Option<&'r str> {
    json_elements(&what_if["difference"]["findings"])
        .iter()
        .find(|f| f["rule"] == rule)?["class"]
        .as_str()
}

#[test]
fn assumptions_leave_the_actual_report_unchanged() {
    for name in [
        "el8-xfs-nobarrier",
        "el9-ext4",
        "megaraid-healthy",
        "ext4-nobarrier",
    ] {
        let host = recorded_host_path(name);
        for fail_on in [&[][..], &["--fail-on", "warning", "--fail-on-undecided"]] {
            let plain = [&["--host", host.as_str()][..], fail_on].concat();
            let supposed = [
                &plain[..],
                &["--assume", "kernel.release=3.10.0-514.el7.x86_64"],
            ]
            .concat();
            let ((code, mut real), (same, mut told)) = (check_json(&plain), check_json(&supposed));
            assert_eq!(code, same, "{host}");
            assert!(
                told["what_if"].is_object() && real["what_if"].is_null(),
                "{host}"
            );
            for report in [&mut real, &mut told] {
                let fields = report.as_object_mut().unwrap();
                fields.remove("what_if");
                fields.remove("when");
            }
            assert!(real == told, "{host}");
        }
    }
}

#[test]
fn exports_ignore_assumptions() {
    let host = recorded_host_path("el8-xfs-nobarrier");
    for format in ["script", "conf"] {
        let plain = ["/data", "--host", &host, "--format", format];
        let supposed = [
            &plain[..],
            &[
                "--assume",
                "kernel.release=4.9",
                "--assume",
                "mount.super_options@/data=rw",
            ],
        ]
        .concat();
        let without_date = |text: String| {
            text.lines()
                .filter(|l| !l.contains("20"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(
            without_date(check_text(&plain).1),
            without_date(check_text(&supposed).1),
            "{format}"
        );
    }
}

#[test]
fn assumed_kernel_changes_dependent_facts() {
    let host = recorded_host_path("el8-xfs-nobarrier");
    let (code, report) = check_json(&["--host", &host, "--assume", "kernel.release=6.1.5"]);
    let what_if = &report["what_if"];
    assert_eq!(
        code, 3,
        "what it was: the kernel that runs refuses nobarrier"
    );
    assert_eq!(
        what_if["assumed"][0]["really"]["value"],
        "4.18.0-553.el8_10.x86_64"
    );
    assert_eq!(
        assumed_fact_value(what_if, "host", "kernel.version"),
        Some("6.1.5")
    );
    assert_eq!(
        assumed_fact_value(what_if, "host", "kernel.vendor"),
        Some("mainline")
    );
    // Linux 4.14 ignores an option that the 4.18 of RHEL 8 refuses.
    let (_, report) = check_json(&["--host", &host, "--assume", "kernel.release=4.14.200"]);
    let what_if = &report["what_if"];
    assert_eq!(
        finding_change_class(what_if, "boot.refused-option"),
        Some("fixed")
    );
    assert_eq!(
        finding_change_class(what_if, "boot.ineffective-option"),
        Some("new")
    );
    let (_, page) = check_text(&["-v", "--host", &host, "--assume", "kernel.release=4.14.200"]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "What if",
        "kernel.release = 4.14.200 (assumed; actual: 4.18.0-553.el8_10.x86_64)",
        "kernel.version of host: 4.18.0-553.el8_10.x86_64 → 4.14.200 (assumed)",
        "(boot.ineffective-option)",
    ] {
        assert!(page.contains(says), "{says}: {page}");
    }
}

#[test]
fn another_disk_can_be_assumed_as_the_manual_says() {
    let manual =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/USE.md")).unwrap();
    let line = manual
        .split('`')
        .find(|word| word.contains("--assume nvme.volatile_cache"))
        .unwrap();
    let assumed = line.replace('\'', "");
    let assumed = assumed
        .split(" --assume ")
        .skip(1)
        .flat_map(|one| ["--assume", one]);
    let arguments: Vec<&str> = assumed.collect();
    let host = recorded_host_path("lab-nvme");
    let (_, report) = check_json(&[&["--host", &host], &arguments[..]].concat());
    assert_eq!(
        assumed_fact_value(&report["what_if"], "device nvme0n1", "device.cache"),
        Some("none")
    );
}

#[test]
fn assumptions_change_facts_derived_by_collectors() {
    let (_, report) = check_json(&[
        "/data",
        "--host",
        &recorded_host_path("sata-volatile"),
        "--assume",
        "device.rotational@sda=false",
    ]);
    assert_eq!(
        assumed_fact_value(&report["what_if"], "device sda", "device.medium"),
        Some("flash")
    );
    let (_, report) = check_json(&[
        "/data",
        "--host",
        &recorded_host_path("sata-volatile"),
        "--assume",
        "device.write_cache@sda=write through",
    ]);
    let verdicts = json_elements(&report["what_if"]["difference"]["verdicts"]);
    assert_eq!(
        verdicts.len(),
        1,
        "the queue says write through, and the disk write back: {verdicts:?}"
    );
    let (_, report) = check_json(&[
        "/data",
        "--host",
        &recorded_host_path("sata-volatile"),
        "--assume",
        "mount.super_options@/data=rw,nobarrier",
        "--assume",
        "kernel.release=4.4",
    ]);
    assert_eq!(
        assumed_fact_value(&report["what_if"], "mount /data", "mount.barrier"),
        Some("off")
    );
    assert_eq!(
        finding_change_class(&report["what_if"], "mount.no-flush"),
        Some("new")
    );
}

#[test]
fn facts_and_explain_accept_assumptions() {
    let host = recorded_host_path("el8-xfs-nobarrier");
    let said = |arguments: &[&str]| {
        let output = walwise()
            .args(arguments)
            .args(["--host", &host])
            .output_in_time();
        assert_eq!(stderr(&output), "", "{arguments:?}");
        stdout(&output)
    };
    let kernel = ["--assume", "kernel.release=4.14.200"];
    let facts = said(&[&["facts", "kernel."][..], &kernel].concat());
    let line = |name: &str| {
        facts
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap()
    };
    for (name, value) in [
        ("kernel.release", "4.14.200"),
        ("kernel.version", "4.14.200"),
    ] {
        assert!(
            line(name).contains(value) && line(name).contains("assumed"),
            "{}",
            line(name)
        );
    }
    assert!(
        line("kernel.elevator").ends_with(" /proc/cmdline"),
        "{}",
        line("kernel.elevator")
    );
    let rule = ["explain", "boot.refused-option"];
    assert!(
        said(&rule).contains("boot.refused-option on boot /data: applies"),
        "{}",
        said(&rule)
    );
    let supposed = said(&[&rule[..], &kernel].concat());
    assert!(
        !supposed.contains(": applies") && supposed.contains("does not apply"),
        "{supposed}"
    );
    for command in [&["facts"][..], &rule] {
        let output = walwise()
            .args(command)
            .args(["--host", &host, "--assume", "colour=red"])
            .output_in_time();
        assert_eq!(
            (output.status.code(), stdout(&output).as_str()),
            (Some(2), ""),
            "{command:?}"
        );
        assert!(
            stderr(&output).contains("no fact `colour`"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn assumption_without_effect_is_reported() {
    let (_, page) = check_text(&[
        "--host",
        &recorded_host_path("sata-volatile"),
        "--assume",
        "host.name=db2",
    ]);
    assert!(
        page.contains("host.name = db2 (assumed; actual: db1)"),
        "{page}"
    );
    assert!(page.contains("Nothing else would change."), "{page}");
}

/// The short report leaves derived facts to `-v`, and says so if nothing else differs.
#[test]
fn assumption_that_changes_only_derived_facts_is_reported() {
    let host = recorded_host_path("ec2-ebs");
    let check = |detail: &[&str]| {
        let assumed = ["--host", &host, "--assume", "kernel.release=6.1.0-29-amd64"];
        check_text(&[&assumed[..], detail].concat()).1
    };
    let (short, full) = (check(&[]), check(&["-v"]));
    assert!(
        short.contains("No verdict, finding or step would change"),
        "{short}"
    );
    assert!(!short.contains("Derived facts"), "{short}");
    assert!(full.contains("Derived facts"), "{full}");
}

/// An accepted unknown option would count as harmless, because no rule judges unknown options.
#[test]
fn a_mount_option_that_the_file_system_lacks_is_refused() {
    let host = recorded_host_path("sata-volatile");
    for (assumption, says) in [
        (
            "mount.super_options@/data=rw,nobarier",
            "cannot contain `nobarier`",
        ),
        ("mount.options@/data=rw,noatiem", "cannot contain `noatiem`"),
    ] {
        let complaint = assert_check_refused(&["--host", host.as_str(), "--assume", assumption]);
        assert!(complaint.contains(says), "{complaint}");
    }
}

#[test]
fn all_invalid_assumptions_are_reported_at_once() {
    let host = recorded_host_path("sata-volatile");
    let wrong = [
        ("kernel.relase=6.1", "did you mean `kernel.release`?"),
        ("colour=red", "`walwise facts --list` lists all facts"),
        ("kernel.release", "has no value"),
        (
            "device.fua=true",
            "there are several; specify one of: device.fua@sda, device.fua@sdz",
        ),
        (
            "device.fua@sdx=true",
            "no device `sdx` has the fact device.fua",
        ),
        ("device.fua@sda=maybe", "true or false, not `maybe`"),
        (
            "mount.class@/data=blok",
            "mount.class cannot be `blok`; did you mean `block`?",
        ),
        ("host.memory=much", "a size in bytes"),
        ("e2fsprogs.version=new", "a version"),
        ("host.cpus=-1", "a count"),
        ("pg.fsync=off", "none was found"),
        ("target.verdict=durable", "is derived"),
        ("host.name=a", ""),
        ("host.name=b", "host.name of host is assumed twice"),
        ("kernel.release@\u{1b}[31m=1", "\\x1b[31m"),
    ];
    let arguments: Vec<&str> = wrong
        .iter()
        .flat_map(|(assumption, _)| ["--assume", assumption])
        .collect();
    let complaint = assert_check_refused(&[&["--host", host.as_str()][..], &arguments].concat());
    for (assumption, says) in wrong {
        assert!(complaint.contains(says), "{assumption}: {complaint}");
    }
    let mistakes = wrong.iter().filter(|(_, says)| !says.is_empty()).count();
    assert_eq!(complaint.lines().count(), mistakes + 1, "{complaint}");
    assert!(!complaint.contains('\u{1b}'));
}

#[test]
fn assumed_values_parse_by_fact_kind() {
    let host = recorded_host_path("sata-volatile");
    for (assumption, expected) in [
        ("device.fua@sda=yes", Value::from(true)),
        ("device.fua@device sda=off", Value::from(false)),
        ("host.memory=16 GiB", Value::from(16_u64 << 30)),
        ("host.memory=4096", Value::from(4096)),
        ("host.cpus=3", Value::from(3)),
        ("device.writeback_latency@sda=2000", Value::from(2000.0)),
        (
            "device.write_cache@sda=write through",
            Value::from("write through"),
        ),
        (
            "mount.super_options@/=rw, discard",
            serde_json::json!(["rw", "discard"]),
        ),
        ("kernel.root_flags=none", serde_json::json!([])),
        (
            "e2fsprogs.version=1.46.5-2ubuntu1",
            Value::from("1.46.5-2ubuntu1"),
        ),
        ("os.name=a=b@c", Value::from("a=b@c")),
    ] {
        let (_, report) = check_json(&["--host", &host, "--assume", assumption]);
        assert_eq!(
            report["what_if"]["assumed"][0]["value"], expected,
            "{assumption}"
        );
    }
}

#[test]
fn assumptions_from_screens_and_command_line_parse_alike() {
    let machine = analyse_host(&recorded_host_path("sata-volatile"));
    let read = &machine.session.facts;
    let (disk, mount) = (Subject::device("sda"), Subject::mount("/data"));
    for (subject, fact, value) in [
        (Subject::host(), "kernel.release", "4.4"),
        (Subject::host(), "host.memory", "16 GiB"),
        (Subject::host(), "host.cpus", "-1"),
        (Subject::host(), "kernel.relase", "6.1"),
        (disk.clone(), "device.fua", "yes"),
        (disk.clone(), "device.fua", "maybe"),
        (disk.clone(), "controller.battery", "failed"),
        (disk, "device.cache", "protected"),
        (mount.clone(), "mount.options", "rw, noatime"),
        (mount.clone(), "mount.class", "blok"),
        (mount, "os.name", "a\u{1b}"),
    ] {
        let written = if subject == Subject::host() {
            format!("{fact}={value}")
        } else {
            format!("{fact}@{subject}={value}")
        };
        let chosen = assume::assumption_from_parts(&subject, fact, value, read);
        let same = |one: &Assumption| (one.subject.clone(), one.key.name, one.value.clone());
        match (chosen, assume::parse_assumptions(&[written], read)) {
            (Ok(chosen), Ok(written)) => assert_eq!(same(&chosen), same(&written[0])),
            // On the screens the user cannot choose another subject, so the messages differ.
            (Err(_), Err(_)) if fact == "os.name" => {}
            (Err(chosen), Err(written)) => assert_eq!([chosen], written[..]),
            (chosen, written) => panic!("{fact} {value}: {chosen:?} {written:?}"),
        }
    }
}

struct AnalysedHost {
    host: RecordedHost,
    session: Session,
    report: Report,
}

fn analyse_host(path: &str) -> AnalysedHost {
    let host = RecordedHost::parse(&fs::read(path).unwrap()).unwrap();
    let session = Session::collect_from_host(
        &host,
        &Request::default(),
        RuleSet::builtin(),
        &mut |_, _| {},
    );
    let report = session.build_report();
    AnalysedHost {
        host,
        session,
        report,
    }
}

impl AnalysedHost {
    /// Evaluates the assumptions; `None` if one of them is refused.
    fn evaluate_what_if_report(&self, assumptions: &[Assumption]) -> Option<(Report, WhatIf)> {
        let hypothesis = self
            .session
            .evaluate_assumptions(assumptions, &self.host, &Request::default())
            .ok()?;
        Some(self.session.evaluate_what_if(&self.report, &hypothesis))
    }

    fn flush_removal_assumptions(&self) -> Vec<Assumption> {
        let read = &self.session.facts;
        let facts = |target: &Subject| {
            [
                (&probe::FLUSH_COST.info, 5000.0),
                (&probe::COMMIT.info, 9000.0),
            ]
            .map(|(key, us)| Assumption {
                subject: target.clone(),
                key,
                value: FactOf::Number(us),
            })
        };
        let measured = read.subjects_of_scope(Scope::Target).flat_map(facts);
        let on = |mount: &Subject| {
            let options = read.value(mount, &mount::SUPER_OPTIONS)?;
            let without: Vec<String> = options
                .iter()
                .filter(|word| *word != "nobarrier")
                .cloned()
                .collect();
            let (key, value) = (&mount::SUPER_OPTIONS.info, FactOf::List(without));
            (value != FactOf::List(options)).then(|| Assumption {
                subject: mount.clone(),
                key,
                value,
            })
        };
        measured
            .chain(read.subjects_of_scope(Scope::Mount).filter_map(on))
            .collect()
    }
}

fn data_losing_advice(report: &Report) -> Vec<String> {
    let found = report
        .findings
        .iter()
        .flat_map(|f| f.advice.iter().map(move |a| (&f.subject, a)));
    let steps = report
        .plans
        .iter()
        .flat_map(|plan| plan.steps.iter().chain(&plan.options));
    let all = found.chain(steps.map(|step| (&step.subject, &step.advice)));
    let risky = all.filter(|(_, advice)| advice.risk == Risk::DataLossIfWrong);
    risky
        .map(|(of, advice)| {
            format!(
                "{of} {} {}",
                advice.setting,
                advice.change.describe_change()
            )
        })
        .collect()
}

#[test]
fn assumed_facts_unlock_no_data_losing_advice() {
    let mut offered = 0;
    let with_controllers = |path: &String| {
        ["adaptec", "hpe", "megaraid"]
            .iter()
            .any(|of| path.contains(of))
    };
    for path in all_recorded_hosts().into_iter().filter(with_controllers) {
        let machine = analyse_host(&path);
        let (supposed, what_if) = machine
            .evaluate_what_if_report(&machine.flush_removal_assumptions())
            .unwrap();
        assert_eq!(
            data_losing_advice(&supposed),
            data_losing_advice(&machine.report),
            "{path}"
        );
        offered += what_if.would_be_offered.len();
        let mut report = machine.report.clone();
        report.what_if = Some(what_if.clone());
        let page = text::render(&report);
        let (_, told) = page.split_once("\nWhat if\n").unwrap();
        assert_eq!(
            told.contains("Would be offered"),
            !what_if.would_be_offered.is_empty(),
            "{path}"
        );
        assert!(!told.contains("mount -o"), "{path}: {told}");
        for offer in &what_if.would_be_offered {
            assert!(
                offer.advice.contains("nobarrier") && offer.tradeoff.is_some(),
                "{path}: {offer:?}"
            );
            assert!(
                !what_if.steps.iter().any(|step| step.advice == offer.advice),
                "{path}"
            );
        }
    }
    assert!(
        offered > 0,
        "no recorded machine would ever be offered anything"
    );
}

#[test]
fn concluded_facts_are_marked_as_judged() {
    let mut concluded = BTreeSet::new();
    for path in all_recorded_hosts() {
        let machine = analyse_host(&path);
        let (judged, _) = machine.session.derived_facts_and_verdicts();
        let read = &machine.session.facts;
        let new = judged
            .rows()
            .filter(|row| row.reading != read.reading_by_name(row.subject, row.fact));
        concluded.extend(new.map(|row| row.fact));
    }
    let marked = catalog::all_keys()
        .filter(|key| key.is_judged)
        .map(|key| key.name);
    assert_eq!(concluded, marked.collect());
}

fn random_assumptions(machine: &AnalysedHost, choices: &[prop::sample::Index]) -> Vec<Assumption> {
    let words: Vec<(Subject, &'static KeyInfo, FactOf)> = (catalog::all_keys())
        .filter(|key| !key.is_judged)
        .flat_map(|key| {
            let values: Vec<FactOf> = match key.kind {
                ValueKind::Bool => vec![FactOf::Bool(true), FactOf::Bool(false)],
                ValueKind::Choice(words) => words
                    .iter()
                    .map(|&word| FactOf::Text(word.to_owned()))
                    .collect(),
                _ => Vec::new(),
            };
            let subjects: Vec<Subject> = match key.scope {
                Scope::Host => vec![Subject::host()],
                scope => machine
                    .session
                    .facts
                    .subjects_of_scope(scope)
                    .cloned()
                    .collect(),
            };
            subjects.into_iter().flat_map(move |of| {
                values
                    .clone()
                    .into_iter()
                    .map(move |value| (of.clone(), key, value))
            })
        })
        .collect();
    let chosen = choices.iter().map(|which| which.get(&words).clone());
    chosen
        .map(|(subject, key, value)| Assumption {
            subject,
            key,
            value,
        })
        .collect()
}

/// Checks that assumptions unlock no advice that can lose data. Returns how many pieces of advice
/// would become possible; `None` if the assumptions are refused.
fn assert_no_data_losing_advice_unlocked(
    machine: &AnalysedHost,
    all: &[Assumption],
) -> Option<usize> {
    let (supposed, what_if) = machine.evaluate_what_if_report(all)?;
    assert_eq!(
        data_losing_advice(&supposed),
        data_losing_advice(&machine.report),
        "{all:?}"
    );
    let (real, _) = machine.session.derived_facts_and_verdicts();
    for row in supposed.facts.rows() {
        if row.reading.is_known()
            && row.reading.value() != real.reading_by_name(row.subject, row.fact).value()
        {
            assert!(
                !row.reading.source().unwrap().is_evidence(),
                "{} {}",
                row.subject,
                row.fact
            );
        }
    }
    assert_eq!(what_if.assumed.len(), all.len());
    Some(what_if.would_be_offered.len())
}

proptest! {
    #[test]
#[ignore = "exhaustive"]
    fn no_assumption_offers_what_can_lose_data(
        which: prop::sample::Index,
        choices: [prop::sample::Index; 6],
    ) {
        static MACHINES: LazyLock<Vec<AnalysedHost>> = LazyLock::new(|| all_recorded_hosts().iter().map(|path| analyse_host(path)).collect());
        let machine = which.get(&MACHINES);
        let mut all = machine.flush_removal_assumptions();
        for one in random_assumptions(machine, &choices) {
            all.push(one);
            if assert_no_data_losing_advice_unlocked(machine, &all).is_none() {
                all.pop();
            }
        }
    }
}

#[test]
fn assumed_controller_and_cache_facts_unlock_no_advice() {
    let mut held = BTreeMap::new();
    let mut offered = 0;
    for name in [
        "megaraid-nobarrier",
        "storcli-energy-pack-absent",
        "megaraid-9600",
        "hpe-healthy",
        "adaptec-arcconf",
    ] {
        let machine = analyse_host(&recorded_host_path(name));
        let read = &machine.session.facts;
        for key in [
            &controller::BATTERY.info,
            &controller::POLICY.info,
            &controller::POLICY_IN_FORCE.info,
            &controller::ON_BATTERY_FAILURE.info,
            &controller::DISK_CACHE.info,
            &device::WRITE_CACHE.info,
        ] {
            let disk = read
                .subjects_of_scope(Scope::Device)
                .find(|disk| read.reading(disk, key.id).is_known());
            for word in disk.iter().flat_map(|_| key.kind.allowed_words().unwrap()) {
                let value = FactOf::Text((*word).to_owned());
                let one = Assumption {
                    subject: disk.unwrap().clone(),
                    key,
                    value,
                };
                let would = assert_no_data_losing_advice_unlocked(
                    &machine,
                    &[machine.flush_removal_assumptions(), vec![one]].concat(),
                );
                if let Some(would) = would {
                    held.entry(key.name)
                        .or_insert_with(BTreeSet::new)
                        .insert(*word);
                    offered += would;
                }
            }
        }
    }
    let words = |name: &str| held.get(name).map_or(0, BTreeSet::len);
    assert_eq!(words("controller.battery"), 7, "{held:?}");
    assert_eq!(
        [words("controller.policy"), words("controller.disk_cache")],
        [3, 3],
        "{held:?}"
    );
    assert!(held.len() == 6 && offered > 0, "{held:?} {offered}");
}
