//! A stranger's whole machine, from its archive to every output: nothing fails, and everything is display-safe.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use walwise::collect::Request;
use walwise::host::RecordedHost;
use walwise::pipeline::Session;
use walwise::report::paste::{fstab, udev, unit};
use walwise::report::{conf, json, markdown, script, text};
use walwise::rules::RuleSet;

#[path = "../shown.rs"]
mod shown;

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::builtin);

fuzz_target!(|bytes: &[u8]| {
    let Ok(host) = RecordedHost::parse(&[b"walwise host 1\n", bytes].concat()) else { return };
    let session = Session::look(&host, &Request::default(), RULES.clone(), &mut |_, _| {});
    shown::facts(&session.read);
    let report = session.report();
    let renders = [
        json::render,
        text::render,
        conf::render,
        fstab::render,
        unit::render,
        udev::render,
        markdown::render,
    ];
    let script = script::render(&report).unwrap_or_else(|why| why);
    for output in renders.map(|render| render(&report)).into_iter().chain([script]) {
        output.split('\n').for_each(shown::safe);
    }
});
