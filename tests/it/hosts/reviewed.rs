//! Recorded machines whose whole answer a person has reviewed: stack, verdict, evidence and missing
//! facts, one snapshot each. A changed snapshot needs another review against the real behaviour of
//! the layers.

use serde_json::Value;

use super::checked_at;

/// File and target.
pub const HOSTS: [(&str, &str); 25] = [
    ("adaptec-arcconf", "/data"),
    ("bcache-writeback", "/data"),
    ("btrfs-raid1", "/data"),
    ("docker-volume", "/var/lib/postgresql/data"),
    ("drbd-protocol-a", "/data"),
    ("ec2-instance-store", "/data"),
    ("ec2-torn-by-partition-mariadb1011", "/data/mysql"),
    ("ec2-whole-pages-mariadb1011", "/data/mysql"),
    ("el7-without-write-cache", "/data"),
    ("fc-multipath", "/data"),
    ("hpe-healthy", "/data"),
    ("hpe-no-battery-write-cache", "/data"),
    ("loop-over-nobarrier", "/data"),
    ("luks", "/data"),
    ("lvm-thin", "/data"),
    ("md-raid1-one-leg-overridden", "/data"),
    ("md-raid5-degraded", "/data"),
    ("megaraid-always-write-back", "/data"),
    ("megaraid-disk-cache-on", "/data"),
    ("megaraid-healthy", "/data"),
    ("megaraid-no-tool", "/data"),
    ("nfs4", "/data"),
    ("real-btrfs-on-loops", "/mnt/capture-btrfs"),
    ("real-loop-ext4", "/mnt/capture-ext4"),
    ("zfs-sync-disabled", "/data"),
];

#[test]
fn stack_verdict_and_evidence_of_reviewed_hosts() {
    for (name, target) in HOSTS {
        let text = view(&checked_at(name, target));
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots"}, {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// The report's verdicts as an engineer reads them.
fn view(report: &Value) -> String {
    let mut lines = Vec::new();
    for verdict in list(&report["verdicts"]) {
        lines.push(format!(
            "{}: {}",
            text(&verdict["target"]),
            text(&verdict["standing"]).to_uppercase()
        ));
        lines.push(format!("  {}", text(&verdict["sentence"])));
        let limits = text(&verdict["limits"]);
        lines.extend((!limits.is_empty()).then(|| format!("  {limits}")));
        lines.push("\nstack".to_owned());
        let stack = list(&report["stacks"])
            .iter()
            .find(|stack| stack["target"] == verdict["target"])
            .unwrap();
        lines.extend(list(&stack["layers"]).iter().map(layer));
        lines.push("\nevidence, worst first along each path".to_owned());
        for path in list(&verdict["paths"]) {
            for evidence in list(&path["evidence"]) {
                let line = said(evidence);
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        let missing: Vec<String> = list(&verdict["missing"]).iter().map(need).collect();
        if !missing.is_empty() {
            lines.push("\nmissing".to_owned());
            lines.extend(missing);
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

fn layer(layer: &Value) -> String {
    let indent = "  ".repeat(usize::try_from(layer["depth"].as_u64().unwrap()).unwrap());
    let words: Vec<&str> = ["subject", "text", "cache"]
        .map(|key| text(&layer[key]))
        .into_iter()
        .filter(|w| !w.is_empty())
        .collect();
    format!("  {indent}{}", words.join(" | "))
}

fn said(evidence: &Value) -> String {
    let source = match text(&evidence["source"]) {
        "" => String::new(),
        source => format!("  [{source}]"),
    };
    let (standing, layer) = (text(&evidence["standing"]), text(&evidence["layer"]));
    format!(
        "  {standing:<13} {layer:<11} {}{source}",
        text(&evidence["text"])
    )
}

fn need(need: &Value) -> String {
    let remedy = match &need["fix"] {
        Value::Null => String::new(),
        Value::String(word) => format!(": {word}"),
        remedy => format!(": {remedy}"),
    };
    format!(
        "  {} of {}, {}{remedy}",
        text(&need["fact"]),
        text(&need["subject"]),
        text(&need["why"])
    )
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
