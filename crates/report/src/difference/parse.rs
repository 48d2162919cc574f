//! Parses a saved report. The document is untrusted: a malformed part is dropped and counted, and
//! all text is made safe for display.
//!
//! Items of lists are parsed one at a time, because a document can have hundreds of megabytes.

use std::fmt;
use std::io::{BufReader, Read};

use serde::Deserialize;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value as Json;

use super::{MethodSnapshot, ProbeSnapshot, ReportSnapshot};
use crate::model::difference::{DisplayedValue, FactState, FindingState};
use crate::model::{OLDEST_SCHEMA, SCHEMA_VERSION};
use crate::report_reader::skip_to_json;
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::Level;
use walwise_measure::measure::{ALPHA, CaveatId, Estimate, MeasuredLog, Method, median_interval};
use walwise_model::facts::{Choice, Subject, UnknownReason, Value, catalog};
use walwise_model::text::{display_safe, io_error_message, is_display_unsafe};

/// The largest accepted document, in bytes. A host with ten thousand disks has a document of 400
/// MB.
pub const MAX_BYTES: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum ReportParseError {
    #[error("not a walwise report ({0}); make one with `walwise check -v --format json`")]
    NotAReport(String),
    #[error(
        "this report has schema {0}; this version of walwise reads schemas {OLDEST_SCHEMA} to {SCHEMA_VERSION}; \
         make a new one with `walwise check --save`, or use the version that wrote it"
    )]
    UnsupportedSchema(u64),
    #[error(
        "the file contains only a recommendation, without the facts of a report; make a report with `walwise check -v --format json`, \
         or save one with `walwise check --save`"
    )]
    Recommendation,
    #[error("{0}")]
    Unreadable(String),
}

impl ReportSnapshot {
    /// Accepts a JSON document or an HTML page with embedded JSON.
    pub fn from_reader(document: impl Read) -> Result<Self, ReportParseError> {
        let mut reading = PartialReport::default();
        let mut document = BufReader::new(document);
        let is_html = skip_to_json(&mut document)
            .map_err(|error| ReportParseError::Unreadable(io_error_message(&error)))?;
        let mut json = serde_json::Deserializer::from_reader(document);
        let mut read = json.deserialize_map(ReportVisitor(&mut reading));
        if !is_html {
            read = read.and_then(|()| json.end());
        }
        match (reading.schema, read) {
            (Some(format), _)
                if !(u64::from(OLDEST_SCHEMA)..=u64::from(SCHEMA_VERSION)).contains(&format) =>
            {
                Err(ReportParseError::UnsupportedSchema(format))
            }
            (_, Ok(())) if reading.is_recommendation => Err(ReportParseError::Recommendation),
            (_, Err(error)) if error.is_io() => Err(ReportParseError::Unreadable(
                io_error_message(&error.into()),
            )),
            (_, Err(error)) => Err(ReportParseError::NotAReport(error.to_string())),
            (None, Ok(())) => Err(ReportParseError::NotAReport(
                "it has no schema version".to_owned(),
            )),
            (Some(_), Ok(())) => Ok(reading.kept),
        }
    }
}

#[derive(Default)]
struct PartialReport {
    kept: ReportSnapshot,
    schema: Option<u64>,
    is_recommendation: bool,
}

/// Collects the members of a JSON report. Members that precede a syntax error are kept, because the
/// schema version may be among them.
struct ReportVisitor<'r>(&'r mut PartialReport);

impl<'de> Visitor<'de> for ReportVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let PartialReport {
            kept,
            schema: format,
            is_recommendation,
        } = self.0;
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "schema" => {
                    // If the document has several `schema` members, the last one wins, even if its
                    // value is malformed.
                    *format = None;
                    deserialize_or_count_malformed(kept, map.next_value()?, |_, schema| {
                        *format = Some(schema);
                    });
                }
                "document" => {
                    *is_recommendation = true;
                    map.next_value::<IgnoredAny>()?;
                }
                "when" => {
                    deserialize_or_count_malformed(kept, map.next_value()?, |kept, when| {
                        kept.origin.when = when;
                    });
                }
                "asked" => {
                    deserialize_or_count_malformed(kept, map.next_value()?, |kept, asked| {
                        kept.origin.asked = Some(asked);
                    });
                }
                "tool" => {
                    deserialize_or_count_malformed(
                        kept,
                        map.next_value()?,
                        |kept, tool: ToolEntry| {
                            kept.origin.walwise = tool.version;
                        },
                    );
                }
                "pack" => {
                    deserialize_or_count_malformed(
                        kept,
                        map.next_value()?,
                        |kept, pack: PackEntry| {
                            kept.origin.pack = pack.sha256;
                        },
                    );
                }
                "host" => deserialize_or_count_malformed(kept, map.next_value()?, set_host),
                "targets" => map.next_value_seed(RowInserter(kept, add_target))?,
                "stacks" => map.next_value_seed(RowInserter(kept, add_stack_of_target))?,
                "verdicts" => map.next_value_seed(RowInserter(kept, add_verdict))?,
                "probes" => map.next_value_seed(RowInserter(kept, add_probe))?,
                "findings" | "undecided" => map.next_value_seed(RowInserter(kept, add_finding))?,
                "rules" => map.next_value_seed(RowInserter(kept, add_rule))?,
                "facts" => map.next_value_seed(RowInserter(kept, add_fact))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct RowInserter<'k, T>(&'k mut ReportSnapshot, fn(&mut ReportSnapshot, T));

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for RowInserter<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for RowInserter<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element()? {
            deserialize_or_count_malformed(self.0, row, self.1);
        }
        Ok(())
    }
}

fn deserialize_or_count_malformed<T: DeserializeOwned>(
    kept: &mut ReportSnapshot,
    mut json: Json,
    keep: impl FnOnce(&mut ReportSnapshot, T),
) {
    make_display_safe(&mut json);
    match T::deserialize(json) {
        Ok(part) => keep(kept, part),
        Err(_) => kept.unreadable += 1,
    }
}

fn make_display_safe(json: &mut Json) {
    match json {
        Json::String(text) if !is_printable_ascii(text) && text.chars().any(is_display_unsafe) => {
            *text = display_safe(text.as_bytes());
        }
        Json::Array(all) => all.iter_mut().for_each(make_display_safe),
        Json::Object(members) => members.values_mut().for_each(make_display_safe),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// True for text that needs no escaping, which applies to nearly all text of a report.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[derive(Deserialize)]
struct ToolEntry {
    version: String,
}

#[derive(Deserialize)]
struct PackEntry {
    sha256: String,
}

#[derive(Deserialize)]
struct HostEntry {
    name: String,
    os: String,
    kernel: String,
    #[serde(default)]
    privileged: Json,
    live: bool,
}

fn set_host(
    kept: &mut ReportSnapshot,
    HostEntry {
        name,
        os,
        kernel,
        privileged,
        live,
    }: HostEntry,
) {
    let made = &mut kept.origin;
    (made.host, made.os, made.kernel) = (name, os, kernel);
    (made.privileged, made.live) = (privileged.as_bool(), live);
}

#[derive(Deserialize)]
struct TargetRow {
    target: Subject,
    title: String,
    subjects: Vec<Subject>,
}

fn add_target(
    kept: &mut ReportSnapshot,
    TargetRow {
        target,
        title,
        subjects,
    }: TargetRow,
) {
    let target = kept.targets.entry(target).or_default();
    (target.title, target.subjects) = (title, subjects);
}

#[derive(Deserialize)]
struct StackRow {
    target: Subject,
    layers: Vec<LayerEntry>,
}

#[derive(Deserialize)]
struct LayerEntry {
    subject: Subject,
}

fn add_stack_of_target(kept: &mut ReportSnapshot, StackRow { target, layers }: StackRow) {
    kept.set_mount_and_device(&target, layers.iter().map(|layer| &layer.subject));
}

#[derive(Deserialize)]
struct VerdictRow {
    target: Subject,
    standing: VerdictKind,
}

fn add_verdict(kept: &mut ReportSnapshot, VerdictRow { target, standing }: VerdictRow) {
    kept.verdicts.insert(target, standing);
}

#[derive(Deserialize)]
struct RuleRow {
    rule: String,
}

fn add_rule(kept: &mut ReportSnapshot, RuleRow { rule }: RuleRow) {
    kept.rules.insert(rule);
}

#[derive(Deserialize)]
struct FindingRow {
    rule: String,
    subject: Subject,
    outcome: OutcomeTag,
    level: Level,
    title: String,
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
enum OutcomeTag {
    Applies,
    Undecided,
    DoesNotApply,
}

fn add_finding(
    kept: &mut ReportSnapshot,
    FindingRow {
        rule,
        subject,
        outcome,
        level,
        title,
    }: FindingRow,
) {
    let applies = match outcome {
        OutcomeTag::Applies => true,
        OutcomeTag::Undecided => false,
        OutcomeTag::DoesNotApply => return,
    };
    kept.findings.insert(
        (rule, subject),
        FindingState {
            applies,
            level,
            title,
        },
    );
}

#[derive(Deserialize)]
struct FactEntry {
    subject: Subject,
    fact: String,
    #[serde(default)]
    reading: Json,
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
enum ReadingTag {
    Known { value: Value },
    Unknown { why: UnknownReason },
}

fn add_fact(
    kept: &mut ReportSnapshot,
    FactEntry {
        subject,
        fact,
        reading,
    }: FactEntry,
) {
    let Some(info) = catalog::find_by_name(&fact) else {
        kept.unknown_facts += 1;
        return;
    };
    let state = match ReadingTag::deserialize(reading) {
        Ok(ReadingTag::Known { value }) => FactState::Known {
            value: DisplayedValue::from_value(info, &value),
        },
        Ok(ReadingTag::Unknown { why }) => FactState::Unknown { why },
        Err(_) => {
            kept.unreadable += 1;
            return;
        }
    };
    kept.facts
        .entry(subject)
        .or_default()
        .insert(info.name, state);
}

#[derive(Deserialize)]
struct ProbeRow {
    target: Subject,
    measurement: MeasurementEntry,
}

#[derive(Deserialize)]
struct MeasurementEntry {
    when: String,
    directory: String,
    caveats: Vec<CaveatEntry>,
    #[serde(default)]
    log: MeasuredLog,
    methods: Vec<Json>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CaveatEntry {
    id: Json,
    #[serde(alias = "text")]
    says: Json,
    refuses_advice: Json,
}

/// Id of a caveat in reports of schema 3: fsync takes longer paced than back to back. It does not
/// prevent a comparison.
const SCHEMA_3_CAVEAT: &str = "fsync-pace";

impl CaveatEntry {
    fn prevents_comparison(&self) -> bool {
        // The effect of an unknown caveat is unknown, so the caveat prevents the comparison.
        let id = self.id.as_str().and_then(CaveatId::from_word);
        let is_known = id.is_some() || self.id == SCHEMA_3_CAVEAT;
        self.refuses_advice.as_bool().unwrap_or(true)
            || !is_known
            || id.is_some_and(CaveatId::affects_all_methods_alike)
    }
}

#[derive(Deserialize)]
struct MethodRow {
    method: Method,
    pages: u32,
    as_server: bool,
    paced: Option<PacedEntry>,
    /// Times of paced commits in reports of schema 3, in microseconds, in the order measured. Only
    /// the default method and fsync have such times.
    #[serde(default)]
    paced_us: Vec<f64>,
}

#[derive(Deserialize)]
struct PacedEntry {
    median_us: Estimate,
    rounds_us: Vec<f64>,
}

impl MethodRow {
    fn paced_median_and_round_times(&self) -> Option<(Estimate, &[f64])> {
        let of_schema_3 = || {
            Some((
                median_interval(&self.paced_us, ALPHA)?,
                self.paced_us.as_slice(),
            ))
        };
        self.paced
            .as_ref()
            .map(|paced| (paced.median_us, paced.rounds_us.as_slice()))
            .or_else(of_schema_3)
    }
}

fn add_probe(
    kept: &mut ReportSnapshot,
    ProbeRow {
        target,
        measurement,
    }: ProbeRow,
) {
    let MeasurementEntry {
        when,
        directory,
        caveats,
        log,
        methods,
    } = measurement;
    let against = caveats.iter().filter(|caveat| caveat.prevents_comparison());
    let Some(doubts) = against
        .map(|caveat| caveat.says.as_str().map(str::to_owned))
        .collect()
    else {
        kept.unreadable += 1;
        return;
    };
    let mut probe = ProbeSnapshot {
        when,
        directory,
        log,
        doubts,
        ..ProbeSnapshot::default()
    };
    for json in methods {
        deserialize_or_count_malformed(kept, json, |kept, row: MethodRow| {
            // Rows without paced commits are skipped: servers do not commit back to back.
            let Some((median, rounds)) = row.paced_median_and_round_times() else {
                return;
            };
            match MethodSnapshot::new(row.as_server, median, rounds) {
                Some(kept) => drop(probe.rows.insert((row.method, row.pages), kept)),
                None => kept.unreadable += 1,
            }
        });
    }
    kept.probes.insert(target, probe);
}

#[cfg(test)]
mod tests {

    use std::io::Read;

    use super::*;
    use crate::{json, sample_reports};

    #[test]
    fn parsed_snapshot_equals_original() {
        for report in sample_reports::at_risk_and_free_disk() {
            let kept =
                ReportSnapshot::from_reader(json::render_report(&report).as_bytes()).unwrap();
            assert_eq!(kept, ReportSnapshot::from_report(&report));
            assert!(!kept.facts.is_empty() && kept.unreadable == 0);
        }
        assert!(
            !ReportSnapshot::from_report(&sample_reports::at_risk())
                .probes
                .is_empty()
        );
    }

    #[test]
    fn unknown_caveat_prevents_comparison() {
        let document = json::render_report(&sample_reports::at_risk());
        for (id, doubts) in [("competing-io", 1), ("o-direct", 0), ("made-up", 1)] {
            let document = document.replace("\"competing-io\"", &format!("\"{id}\""));
            let kept = ReportSnapshot::from_reader(document.as_bytes()).unwrap();
            assert_eq!(
                kept.probes
                    .values()
                    .map(|probe| probe.doubts.len())
                    .sum::<usize>(),
                doubts,
                "{id}"
            );
        }
    }

    #[test]
    fn invalid_documents_are_rejected_with_instructions() {
        for (document, says) in [
            ("", "walwise check -v --format json"),
            ("{", "walwise check -v --format json"),
            ("[]", "walwise check -v --format json"),
            ("{}", "no schema version"),
            (r#"{"schema": "3"}"#, "no schema version"),
            (r#"{"schema": 3} x"#, "walwise check -v --format json"),
            (r#"{"schema": 99}"#, "has schema 99"),
            (r#"{"schema": 1, "facts": [}"#, "has schema 1"),
        ] {
            let error = ReportSnapshot::from_reader(document.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{document}: {error}");
        }
        for byte in [b' ', b'{', b'\0'] {
            let endless = std::io::repeat(byte);
            let refused = ReportSnapshot::from_reader(endless.take(1 << 10));
            assert!(
                matches!(refused, Err(ReportParseError::NotAReport(_))),
                "{refused:?}"
            );
        }
        let broken = b"{\"schema\": 3, ".chain(FailingReader);
        assert!(
            matches!(ReportSnapshot::from_reader(broken), Err(ReportParseError::Unreadable(why)) if why == "nothing came")
        );
    }

    struct FailingReader;

    impl Read for FailingReader {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("nothing came"))
        }
    }

    #[test]
    fn malformed_entries_are_skipped_and_counted() {
        let document = r#"{"schema": 3, "when": 3, "host": [], "targets": [7], "verdicts": [{"target": 7}],
        "rules": [{"rule": "a.b"}, {"rule": null}, 4],
        "findings": [
            {"rule": "a.b", "subject": "device sda", "outcome": {"outcome": "applies"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "sda", "outcome": {"outcome": "applies"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "device sdb", "outcome": {"outcome": "maybe"}, "level": "warning", "title": "t"},
            {"rule": "a.b", "subject": "device sdb", "outcome": {"outcome": "applies"}, "level": "dire", "title": "t"}],
        "facts": [
            {"subject": "device sda", "fact": "device.model", "reading": {"state": "known", "value": "A\u001b[31m"}},
            {"subject": "device sda", "fact": "device.colour", "reading": {"state": "known", "value": "red"}},
            {"subject": "device sda", "fact": "device.size", "reading": {"state": "known", "value": null}},
            {"subject": "device sda", "fact": "device.kind", "reading": {"state": "perhaps"}}]}"#;
        let kept = ReportSnapshot::from_reader(document.as_bytes()).unwrap();
        let (sda, model) = (
            Subject::device("sda"),
            DisplayedValue::Text("A\\x1b[31m".to_owned()),
        );
        assert_eq!(kept.known_value(&sda, "device.model"), Some(&model));
        assert_eq!((kept.findings.len(), kept.rules.len()), (1, 1));
        assert_eq!((kept.unknown_facts, kept.unreadable), (1, 11));
    }
}
