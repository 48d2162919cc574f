//! Fuzzes the output of RAID controller tools.
//!
//! A battery may be healthy and a cache protected only if the output contains a word for that, and
//! everything must be display-safe. The first byte of the input selects the tool; the byte 0x1e
//! separates two outputs.
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

/// A host with a controller, and the tools whose output is fuzzed.
type FuzzedController = (RecordedHost, &'static [Tool]);

static MACHINES: LazyLock<[FuzzedController; 6]> = LazyLock::new(|| {
    let host = |bytes: &[u8]| RecordedHost::parse(bytes).expect("a capture");
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

/// Words by which a tool reports a working battery or a protected cache.
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

/// A host whose tool prints the fuzzer's input.
struct HostWithToolOutput<'a> {
    machine: &'a FuzzedController,
    first: &'a [u8],
    second: &'a [u8],
}

impl Host for HostWithToolOutput<'_> {
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
    let host = HostWithToolOutput {
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
    shown::assert_facts_display_safe(&facts);
    let said = String::from_utf8_lossy(text).to_lowercase();
    let good = GOOD.iter().any(|word| said.contains(word));
    for disk in facts
        .subjects_of_scope(Scope::Device)
        .cloned()
        .collect::<Vec<Subject>>()
    {
        let healthy =
            facts.value(&disk, &controller::BATTERY) == Some(controller::BatteryCondition::Healthy);
        let protected = facts
            .value(&disk, &device::CACHE)
            .is_some_and(device::CacheVolatility::is_protected);
        assert!(good || !(healthy || protected), "{disk}");
        assert!(
            healthy || !protected,
            "{disk} is protected by a battery that is not healthy"
        );
    }
});
