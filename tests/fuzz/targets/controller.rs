//! Answers of RAID controllers' tools: a battery is healthy and a cache protected only where the
//! answer contains such a word, and everything is display-safe. The first byte selects the tool; a
//! byte 1e separates two answers.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog::{controller, device};
use walwise_model::facts::{Scope, Subject};
use walwise_sys::host::{Host, HostError, HostErrorKind, Question, RecordedHost, Tool};

#[path = "../shown.rs"]
mod shown;

/// A machine with a controller, and the tool that is asked.
type Machine = (RecordedHost, &'static [Tool]);

static MACHINES: LazyLock<[Machine; 6]> = LazyLock::new(|| {
    let host = |bytes: &[u8]| RecordedHost::parse(bytes).expect("a host archive");
    [
        (
            host(include_bytes!("../../hosts/megaraid-healthy.host")),
            &[Tool::Storcli],
        ),
        (
            host(include_bytes!("../../hosts/megaraid-healthy.host")),
            &[Tool::MegaCli],
        ),
        (
            host(include_bytes!("../../hosts/hpe-healthy.host")),
            &[Tool::Ssacli],
        ),
        (
            host(include_bytes!("../../hosts/adaptec-arcconf.host")),
            &[Tool::Arcconf],
        ),
        (
            host(include_bytes!("../../hosts/megaraid-9600.host")),
            &[Tool::Storcli2],
        ),
        (
            host(include_bytes!("../../hosts/smartraid-arcconf.host")),
            &[Tool::Arcconf],
        ),
    ]
});

/// Words of the tools for what works, or is as good.
const GOOD: [&str; 8] = [
    "opti",
    "operational",
    "ready",
    "ok",
    "yes",
    "no",
    "present",
    "0",
];

/// The machine, whose tool prints what the fuzzer wrote.
struct Answering<'a> {
    machine: &'a Machine,
    first: &'a [u8],
    second: &'a [u8],
}

impl Host for Answering<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let (host, tools) = self.machine;
        match question {
            Question::Run(tool, arguments) if tools.contains(tool) => {
                let is_second = arguments.iter().any(|word| {
                    word.contains("/vALL")
                        || word.contains("/vall")
                        || word == "ld"
                        || word.contains("Bbu")
                });
                Ok(if is_second { self.second } else { self.first }.to_vec())
            }
            Question::Run(..) => Err(HostError::new(HostErrorKind::Absent, "not installed")),
            other => host.ask(other),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else {
        return;
    };
    let Some(machine) = MACHINES.get(usize::from(which & 7)) else {
        return;
    };
    let mut parts = text.splitn(2, |b| *b == 0x1e);
    let (first, second) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let host = Answering {
        machine,
        first,
        second,
    };
    let request = Request {
        target: Some("/data".into()),
        ..Request::default()
    };
    let session = Session::collect(&host, &request, RuleSet::default(), &mut |_, _| {});
    let (facts, _) = session.conclusions();
    shown::facts(&facts);
    let said = String::from_utf8_lossy(text).to_lowercase();
    let good = GOOD.iter().any(|word| said.contains(word));
    for disk in facts
        .subjects(Scope::Device)
        .cloned()
        .collect::<Vec<Subject>>()
    {
        let healthy =
            facts.value(&disk, &controller::BATTERY) == Some(controller::Battery::Healthy);
        let protected = facts
            .value(&disk, &device::CACHE)
            .is_some_and(device::Cache::is_protected);
        assert!(good || !(healthy || protected), "{disk}");
        assert!(
            healthy || !protected,
            "{disk} is protected by a battery that is not healthy"
        );
    }
});
