//! Fuzzes a capture and renders every output: nothing may fail, and everything must be
//! display-safe.
#![no_main]


use libfuzzer_sys::fuzz_target;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::facts::Choice as _;
use walwise_report::Format;
use walwise_sys::host::RecordedHost;

#[path = "../shown.rs"]
mod shown;


fuzz_target!(|bytes: &[u8]| {
    let Ok(host) = RecordedHost::parse(&[b"walwise host 1\n", bytes].concat()) else {
        return;
    };
    let session = Session::collect(&host, &Request::default(), RuleSet::builtin(), &mut |_, _| {});
    shown::assert_facts_display_safe(&session.facts);
    let report = session.report();
    for format in Format::ALL {
        let output = format.render(&report).unwrap_or_else(|why| why);
        output.split('\n').for_each(shown::assert_display_safe);
    }
});
