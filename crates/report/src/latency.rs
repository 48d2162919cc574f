//! Commit latencies of this run and of earlier reports. A latency belongs to the stack it was
//! measured on, so an earlier one is used only if all layers below the target are unchanged.
//!
//! Latencies that were measured while flushes were suppressed are left out, because such commits
//! are not durable.

use std::io::Read;

use serde::Deserialize;
use serde_json::Value as Json;

use super::model::latency::{CommitLatency, MethodLatency};
use super::model::{ProbeResult, Report, TargetSummary};
use walwise_measure::measure::{Measurement, MethodResult};
use walwise_model::facts::catalog::postgres::{self, WalSyncMethod};
use walwise_model::facts::catalog::target::{FLUSH, FlushDelivery};
use walwise_model::facts::{Scope, Subject};

/// Maximum number of bytes that are read of an earlier report.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum number of latencies that are read from an earlier report, and of methods per latency.
const MAX_ROWS: usize = 256;

/// The row of one-page commits with the method in force, or else with the best method, or else the
/// first row.
pub(crate) fn measurement_and_main_row<'a>(
    report: &'a Report,
    target: &TargetSummary,
) -> Option<(&'a Measurement, &'a MethodResult)> {
    let measurement = report.measurement(&target.target)?;
    Some((
        measurement,
        measurement
            .in_force_or_best_row(wal_sync_method_in_force(report, target.cluster.as_ref()))?,
    ))
}

/// True if flushes are known to be suppressed, so that commits of a measurement are not durable.
pub fn are_flushes_suppressed(report: &Report, target: &Subject) -> bool {
    report
        .facts
        .value(target, &FLUSH)
        .is_some_and(FlushDelivery::is_suppressed)
}

pub fn wal_sync_method_in_force(
    report: &Report,
    cluster: Option<&Subject>,
) -> Option<WalSyncMethod> {
    report.facts.value(cluster?, &postgres::WAL_SYNC_METHOD)
}

/// Adds the latest earlier latency of each target that was not measured in this run, if the stack
/// below the target is unchanged.
pub fn add_earlier_latencies(report: &mut Report, mut earlier: Vec<CommitLatency>) {
    earlier.sort_by(|a, b| b.when.cmp(&a.when));
    for price in earlier {
        let known = report
            .prices
            .iter()
            .any(|known| known.target == price.target);
        let same = stack_layer_descriptions(report, &price.target)
            .is_some_and(|layers| layers == price.layers);
        if !known && same {
            report.prices.push(price);
        }
    }
    report.prices.sort_by(|a, b| a.target.cmp(&b.target));
}

/// The document is untrusted: malformed entries are left out, and a malformed document gives no
/// latencies.
pub fn read_latencies(document: impl Read) -> Vec<CommitLatency> {
    #[derive(Deserialize)]
    struct SavedLatencies {
        #[serde(default, alias = "prices")]
        commit_latencies: Vec<Json>,
    }
    let Ok(SavedLatencies {
        commit_latencies: prices,
    }) = serde_json::from_reader(std::io::BufReader::new(document.take(MAX_BYTES)))
    else {
        return Vec::new();
    };
    prices
        .into_iter()
        .take(MAX_ROWS)
        .filter_map(|price| sanitise_latency(CommitLatency::deserialize(price).ok()?))
        .collect()
}

fn sanitise_latency(mut price: CommitLatency) -> Option<CommitLatency> {
    let when: jiff::Timestamp = price.when.parse().ok()?;
    price.when = when.to_string();
    price.methods.truncate(MAX_ROWS);
    price.methods.retain(|row| {
        let times = [row.median_us, row.low_us, row.high_us].into_iter();
        times.chain(row.p99_us).all(|us| us.is_finite() && us > 0.0)
    });
    let is_target = price.target.scope() == Scope::Target;
    (is_target && !price.methods.is_empty()).then_some(price)
}

pub(crate) fn latencies_from_probes(report: &Report) -> Vec<CommitLatency> {
    let probes = report.probes.iter();
    probes
        .filter_map(|probe| latency_from_probe(report, probe))
        .collect()
}

fn latency_from_probe(report: &Report, probe: &ProbeResult) -> Option<CommitLatency> {
    let ProbeResult {
        target,
        measurement,
    } = probe;
    let mut targets = report.targets.iter();
    let summary = targets.find(|one| one.target == *target)?;
    if are_flushes_suppressed(report, target) || measurement.cancelled {
        return None;
    }
    let chosen = measurement_and_main_row(report, summary).map(|(_, row)| row);
    let row = |row: &MethodResult| {
        let paced = row.paced.as_ref()?;
        Some(MethodLatency {
            method: row.method,
            chosen: chosen.is_some_and(|chosen| std::ptr::eq(chosen, row)),
            median_us: paced.median_us.value,
            low_us: paced.median_us.low,
            high_us: paced.median_us.high,
            p99_us: paced.p99_us,
        })
    };
    let rows = measurement.one_page_server_rows_without_error();
    sanitise_latency(CommitLatency {
        target: target.clone(),
        when: measurement.when.clone(),
        layers: stack_layer_descriptions(report, target)?,
        methods: rows.filter_map(row).collect(),
    })
}

fn stack_layer_descriptions(report: &Report, target: &Subject) -> Option<Vec<String>> {
    let layers = report.stack(target)?.layers.iter();
    Some(
        layers
            .map(|layer| format!("{}: {}", layer.subject, layer.says))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, sample_reports};
    use walwise_model::facts::Source;

    fn report_with_latencies() -> Report {
        let mut report = sample_reports::at_risk();
        report.facts.insert_known(
            &sample_reports::data_target(),
            &FLUSH,
            FlushDelivery::Sent,
            Source::derived_from(["mount.barrier"]),
        );
        report.prices = latencies_from_probes(&report);
        report
    }

    #[test]
    fn saved_latencies_fill_in_unmeasured_targets() {
        let before = report_with_latencies();
        let [price] = &before.prices[..] else {
            panic!("{:?}", before.prices)
        };
        assert_eq!(
            price.methods.iter().filter(|method| method.chosen).count(),
            1
        );
        let mut now = Report {
            probes: Vec::new(),
            prices: Vec::new(),
            ..before.clone()
        };
        add_earlier_latencies(
            &mut now,
            read_latencies(json::render_report(&before).as_bytes()),
        );
        assert_eq!(now.prices, before.prices);
        // A measurement of this run is newer than any saved one, so the saved one is not added.
        let mut again = before.clone();
        let old = CommitLatency {
            when: "2020-01-01T00:00:00Z".to_owned(),
            ..price.clone()
        };
        add_earlier_latencies(&mut again, vec![old.clone()]);
        assert_eq!(again.prices, before.prices);
        now.prices = Vec::new();
        add_earlier_latencies(&mut now, vec![old, price.clone()]);
        assert_eq!(now.prices, before.prices);
    }

    #[test]
    fn latency_requires_flushes_and_same_stack() {
        let mut without = sample_reports::at_risk();
        without.facts.insert_known(
            &sample_reports::data_target(),
            &FLUSH,
            FlushDelivery::Suppressed,
            Source::derived_from(["mount.barrier"]),
        );
        assert!(
            latencies_from_probes(&without).is_empty(),
            "no flush was sent"
        );
        let before = report_with_latencies();
        for change in ["subject", "says", "less"] {
            let mut now = Report {
                probes: Vec::new(),
                prices: Vec::new(),
                ..before.clone()
            };
            let layers = &mut now.stacks[0].layers;
            match change {
                "subject" => layers[1].subject = Subject::mount("/other"),
                "says" => layers[1].says = "ext4 rw,nobarrier,data=writeback".to_owned(),
                _ => drop(layers.pop()),
            }
            add_earlier_latencies(&mut now, before.prices.clone());
            assert!(now.prices.is_empty(), "{change}");
        }
    }

    #[test]
    fn malformed_latencies_are_skipped() {
        let good = json::to_pretty_json(&report_with_latencies().prices[0]);
        let wrong = [
            good.replace("target /srv", "device sda"),
            good.replace("\"when\": \"2026", "\"when\": \"\u{202e}2026"),
            good.replace("\"method\": \"", "\"method\": \"\\u001b"),
            good.replace("\"methods\": [", "\"methods\": [7, "),
            "7".to_owned(),
            "{}".to_owned(),
        ];
        for wrong in wrong {
            assert_ne!(wrong, good);
            let document = format!("{{\"prices\": [{wrong}, {good}]}}");
            assert_eq!(
                read_latencies(document.as_bytes()),
                read_latencies(format!("{{\"prices\": [{good}]}}").as_bytes()),
                "{wrong}"
            );
        }
        for document in ["", "[]", "{\"prices\": 7}", "{\"prices\": [", "\u{0}"] {
            assert!(read_latencies(document.as_bytes()).is_empty(), "{document}");
        }
    }
}
