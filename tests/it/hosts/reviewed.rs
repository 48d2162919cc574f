//! Recorded hosts whose complete answers a person has reviewed: stack, verdict, evidence and
//! missing facts, in one snapshot. Review a changed part against the real behaviour of the
//! layers.

use serde_json::Value;

use super::check_recorded_host_target;

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
fn reviewed_hosts_match_verdict_snapshots() {
    let texts = HOSTS.map(|(name, target)| {
        let text = render_verdicts(&check_recorded_host_target(name, target));
        format!("=== {name}, {target}\n{text}")
    });
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots"}, {
        insta::assert_snapshot!("reviewed", texts.join("\n"));
    });
}

fn render_verdicts(report: &Value) -> String {
    let mut lines = Vec::new();
    for verdict in as_list(&report["verdicts"]) {
        lines.push(format!(
            "{}: {}",
            as_text(&verdict["target"]),
            as_text(&verdict["standing"]).to_uppercase()
        ));
        lines.push(format!("  {}", as_text(&verdict["sentence"])));
        let limits = as_text(&verdict["limits"]);
        lines.extend((!limits.is_empty()).then(|| format!("  {limits}")));
        lines.push("\nstack".to_owned());
        let stack = as_list(&report["stacks"])
            .iter()
            .find(|stack| stack["target"] == verdict["target"])
            .unwrap();
        lines.extend(as_list(&stack["layers"]).iter().map(render_layer));
        lines.push("\nevidence, worst first along each path".to_owned());
        for path in as_list(&verdict["paths"]) {
            for evidence in as_list(&path["evidence"]) {
                let line = render_evidence(evidence);
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        let missing: Vec<String> = as_list(&verdict["missing"])
            .iter()
            .map(render_missing_fact)
            .collect();
        if !missing.is_empty() {
            lines.push("\nmissing".to_owned());
            lines.extend(missing);
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

fn render_layer(layer: &Value) -> String {
    let indent = "  ".repeat(usize::try_from(layer["depth"].as_u64().unwrap()).unwrap());
    let words: Vec<&str> = ["subject", "text", "cache"]
        .map(|key| as_text(&layer[key]))
        .into_iter()
        .filter(|w| !w.is_empty())
        .collect();
    format!("  {indent}{}", words.join(" | "))
}

fn render_evidence(evidence: &Value) -> String {
    let source = match as_text(&evidence["source"]) {
        "" => String::new(),
        source => format!("  [{source}]"),
    };
    let (standing, layer) = (as_text(&evidence["standing"]), as_text(&evidence["layer"]));
    format!(
        "  {standing:<13} {layer:<11} {}{source}",
        as_text(&evidence["text"])
    )
}

fn render_missing_fact(need: &Value) -> String {
    let remedy = match &need["fix"] {
        Value::Null => String::new(),
        Value::String(word) => format!(": {word}"),
        remedy => format!(": {remedy}"),
    };
    format!(
        "  {} of {}, {}{remedy}",
        as_text(&need["fact"]),
        as_text(&need["subject"]),
        as_text(&need["why"])
    )
}

fn as_list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn as_text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
