//! Every critical finding of every recorded host has a remedy, or the reason why there is none, in
//! text and in JSON.

use std::collections::BTreeSet;

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::{json, text};
use walwise_sys::host::RecordedHost;
use walwise_testkit::collapse_whitespace;

use super::{host, recorded_host_names, table::recorded_target};

#[test]
#[ignore = "exhaustive"]
fn every_critical_finding_has_a_remedy() {
    let rules = RuleSet::builtin();
    let mut seen = BTreeSet::new();
    for name in recorded_host_names() {
        let recording = RecordedHost::parse(&std::fs::read(host(&name)).unwrap()).unwrap();
        for target in [None, Some(recorded_target(&name))] {
            let request = Request {
                target: target.map(Into::into),
                ..Request::default()
            };
            let mut session =
                Session::collect_from_host(&recording, &request, rules.clone(), &mut |_, _| {});
            session.named_target = target.map(str::to_owned);
            let report = session.build_report();
            let document: serde_json::Value =
                serde_json::from_str(&json::render_report(&report)).unwrap();
            let told = collapse_whitespace(&text::render(&report));
            let beside = |subject: &str| {
                target.is_some()
                    && subject != "host"
                    && !report
                        .targets
                        .iter()
                        .any(|t| t.subjects.iter().any(|of| of.to_string() == subject))
            };
            for finding in document["findings"].as_array().unwrap() {
                if finding["level"] != "critical" {
                    continue;
                }
                let rule = finding["rule"].as_str().unwrap();
                let says = finding["fix"]["text"].as_str();
                let says = says.unwrap_or_else(|| panic!("{name}: {rule} has no remedy"));
                assert!(
                    !says.is_empty() && !says.contains("unknown"),
                    "{name}: {rule}: {says}"
                );
                assert!(finding["fix"]["here"].is_boolean());
                // Findings about other targets are only counted in the report.
                if !beside(finding["subject"].as_str().unwrap()) {
                    assert!(
                        told.contains(&collapse_whitespace(&format!("fix {says}"))),
                        "{name}: {rule}: {says} in {told}"
                    );
                }
                seen.insert(rule.to_owned());
            }
        }
    }
    assert!(seen.len() >= 15, "{seen:?}");
}
