//! Every critical finding comes with a remedy, or with the reason why nothing here mends it: on
//! every recorded machine, in text and in JSON.

use std::collections::BTreeSet;

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::{json, text};
use walwise_sys::host::RecordedHost;

use super::{host, names, table::target_of};

/// The words of a text, however its lines are broken.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn whatever_is_critical_has_a_remedy() {
    let rules = RuleSet::builtin();
    let mut seen = BTreeSet::new();
    for name in names() {
        let recording = RecordedHost::parse(&std::fs::read(host(&name)).unwrap()).unwrap();
        for target in [None, Some(target_of(&name))] {
            let request = Request {
                target: target.map(Into::into),
                ..Request::default()
            };
            let mut session = Session::collect(&recording, &request, rules.clone(), &mut |_, _| {});
            session.named_target = target.map(str::to_owned);
            let report = session.report();
            let document: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
            let told = flat(&text::render(&report));
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
                // What lies beside the target that was asked for is only counted.
                if !beside(finding["subject"].as_str().unwrap()) {
                    assert!(
                        told.contains(&flat(&format!("fix {says}"))),
                        "{name}: {rule}: {says} in {told}"
                    );
                }
                seen.insert(rule.to_owned());
            }
        }
    }
    assert!(seen.len() >= 15, "{seen:?}");
}
