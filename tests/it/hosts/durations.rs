//! Durations and standbys in the verdicts of every recorded host. A duration comes from a setting
//! or a measurement, and a verdict mentions that a standby was not observed.

use serde_json::Value;

use crate::support::recorded::recorded_host_documents;

const UNITS: [&str; 8] = ["s", "ms", "µs", "min", "h", "second", "seconds", "minutes"];

const SETTINGS: [&str; 2] = ["wal_writer_delay", "innodb_flush_log_at_timeout"];

fn has_duration(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || ".'".contains(c)))
        .collect();
    let is_figure = |word: &str| word.parse::<f64>().is_ok();
    let is_pair = words
        .windows(2)
        .any(|pair| is_figure(pair[0]) && UNITS.contains(&pair[1]));
    is_pair
        || ["second", "seconds", "minute", "minutes"]
            .iter()
            .any(|unit| words.contains(unit))
}

#[test]
fn verdict_durations_name_setting_and_standby_is_unobserved() {
    let mut read = 0;
    for (name, report) in recorded_host_documents() {
        for verdict in report["verdicts"].as_array().unwrap() {
            let text = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
            let paths = verdict["paths"].as_array().into_iter().flatten();
            let evidence = paths.flat_map(|path| path["evidence"].as_array().into_iter().flatten());
            let read_here = evidence
                .filter(|says| says["layer"] != "measurement")
                .map(|says| says["text"].clone());
            let mut sentences: Vec<String> = read_here
                .filter_map(|says: Value| Some(says.as_str()?.to_owned()))
                .collect();
            sentences.extend(["limits", "host_loss", "second_fault"].map(text));
            for sentence in sentences.iter().filter(|sentence| has_duration(sentence)) {
                assert!(
                    SETTINGS.iter().any(|setting| sentence.contains(setting)),
                    "{name}: {sentence}"
                );
            }
            let loss = text("host_loss");
            let is_promise = loss.contains("survives the loss of this host");
            assert!(
                !is_promise || loss.contains("As configured (not observed)"),
                "{name}: {loss}"
            );
            read += sentences.len();
        }
    }
    assert!(read > 500, "only {read} sentences were read");
}
