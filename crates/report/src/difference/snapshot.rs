//! Parses a saved report. The document is untrusted: a malformed part is dropped and counted, and
//! all text is made safe for display.
//!
//! Items of lists are parsed one at a time, because a document can have hundreds of megabytes.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{MethodSnapshot, ProbeSnapshot, ReportSnapshot};
use crate::model::difference::{DisplayedValue, FactState, FindingState};
use crate::model::{OLDEST_SCHEMA, Report, SCHEMA_VERSION};
use crate::report_reader::skip_to_json;
use walwise_measure::measure::{ALPHA, CaveatId, Estimate, MeasuredLog, Method, median_interval};
use walwise_model::facts::{Choice, Reading, Scope, Subject, UnknownReason, Value, catalog};
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
        let mut read = json.deserialize_map(&mut reading);
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

impl ReportSnapshot {
    /// Adds the parts of the report as their JSON, so that the report and its saved document give
    /// equal snapshots. Facts are added directly, because a report can have millions.
    pub fn from_report(report: &Report) -> Self {
        let mut reading = PartialReport::default();
        reading.add_part("when", &report.when);
        if let Some(asked) = &report.asked {
            reading.add_part("asked", asked);
        }
        reading.add_part("tool", &report.tool);
        reading.add_part("pack", &report.pack);
        reading.add_part("host", &report.host);
        for target in &report.targets {
            reading.add_part("targets", target);
        }
        for stack in &report.stacks {
            reading.add_part("stacks", stack);
        }
        for verdict in &report.verdicts {
            reading.add_part("verdicts", verdict);
        }
        for probe in &report.probes {
            reading.add_part("probes", probe);
        }
        for finding in &report.findings {
            reading.add_part("findings", finding);
        }
        for rule in &report.rules {
            reading.add_part("rules", rule);
        }
        let mut kept = reading.kept;
        for row in report.facts.rows() {
            let reading = || match row.reading {
                Reading::Known { value, .. } => Some(ReadingTag::Known {
                    value: value.clone(),
                }),
                Reading::Unknown { why, .. } => Some(ReadingTag::Unknown { why: *why }),
            };
            kept.insert_fact(row.subject.clone(), row.fact, reading);
        }
        kept
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
impl<'de> Visitor<'de> for &mut PartialReport {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.is_recommendation |= name == "document";
            match name.as_str() {
                "schema" | "when" | "asked" | "tool" | "pack" | "host" => {
                    self.add_or_count_malformed(&name, map.next_value()?);
                }
                "targets" | "stacks" | "verdicts" | "probes" | "findings" | "undecided"
                | "rules" | "facts" => map.next_value_seed(ListMember(self, &name))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A member of the report, by name. The report is refused unless the member is a list, because a
/// comparison without, for example, its verdicts would show no regression.
struct ListMember<'r>(&'r mut PartialReport, &'r str);

impl<'de> DeserializeSeed<'de> for ListMember<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListMember<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element()? {
            self.0.add_or_count_malformed(self.1, row);
        }
        Ok(())
    }
}

impl PartialReport {
    fn add_part<T: Serialize>(&mut self, name: &str, part: &T) {
        let json = serde_json::to_value(part).unwrap_or_default();
        self.add_or_count_malformed(name, json);
    }

    fn add_or_count_malformed(&mut self, name: &str, mut json: Json) {
        make_display_safe(&mut json);
        if self.add(name, &json).is_none() {
            self.kept.unreadable += 1;
        }
    }

    /// Adds a member, or an item of a list member, by the name of the member. A malformed part
    /// gives `None` and changes nothing.
    fn add(&mut self, name: &str, json: &Json) -> Option<()> {
        let kept = &mut self.kept;
        match name {
            "schema" => {
                // If the document has several `schema` members, the last one wins, even if its
                // value is malformed.
                self.schema = json.as_u64();
                self.schema?;
            }
            "when" => kept.origin.when = field(json, "")?,
            "asked" => kept.origin.asked = Some(field(json, "")?),
            "tool" => kept.origin.walwise = field(json, "/version")?,
            "pack" => kept.origin.pack = field(json, "/sha256")?,
            "host" => {
                let made = &mut kept.origin;
                (made.host, made.os, made.kernel, made.live) = (
                    field(json, "/name")?,
                    field(json, "/os")?,
                    field(json, "/kernel")?,
                    field(json, "/live")?,
                );
                made.privileged = field(json, "/privileged");
            }
            "targets" => {
                let (title, subjects) = (field(json, "/title")?, field(json, "/subjects")?);
                let target = kept.targets.entry(target_field(json)?).or_default();
                (target.title, target.subjects) = (title, subjects);
            }
            "stacks" => {
                let layers: Vec<LayerEntry> = field(json, "/layers")?;
                let layers = layers.iter().map(|layer| &layer.subject);
                kept.set_mount_and_device(&target_field(json)?, layers);
            }
            "verdicts" => {
                let standing = field(json, "/standing")?;
                kept.verdicts.insert(target_field(json)?, standing);
            }
            "probes" => kept.add_probe(json)?,
            "rules" => drop(kept.rules.insert(field(json, "/rule")?)),
            "facts" => {
                let (subject, fact): (_, String) =
                    (field(json, "/subject")?, field(json, "/fact")?);
                kept.insert_fact(subject, &fact, || field(json, "/reading"))?;
            }
            _ => kept.add_finding(json)?,
        }
        Some(())
    }
}

/// The value at a JSON pointer; `None` if it is missing or malformed.
fn field<T: DeserializeOwned>(json: &Json, pointer: &str) -> Option<T> {
    T::deserialize(json.pointer(pointer)?).ok()
}

/// `None` for a subject that is no target.
fn target_field(json: &Json) -> Option<Subject> {
    field(json, "/target").filter(|target: &Subject| target.scope() == Scope::Target)
}

fn make_display_safe(json: &mut Json) {
    match json {
        // Nearly all text of a report is printable ASCII, which needs no escaping.
        Json::String(text)
            if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
                && text.chars().any(is_display_unsafe) =>
        {
            *text = display_safe(text.as_bytes());
        }
        Json::Array(all) => all.iter_mut().for_each(make_display_safe),
        Json::Object(members) => members.values_mut().for_each(make_display_safe),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[derive(Deserialize)]
struct LayerEntry {
    subject: Subject,
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
enum ReadingTag {
    Known { value: Value },
    Unknown { why: UnknownReason },
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

impl ReportSnapshot {
    fn add_finding(&mut self, json: &Json) -> Option<()> {
        let (rule, subject) = (field(json, "/rule")?, field(json, "/subject")?);
        let (level, title) = (field(json, "/level")?, field(json, "/title")?);
        let applies = match json.pointer("/outcome/outcome")?.as_str()? {
            "applies" => true,
            "undecided" => false,
            "does-not-apply" => return Some(()),
            _ => return None,
        };
        let state = FindingState {
            applies,
            level,
            title,
        };
        self.findings.insert((rule, subject), state);
        Some(())
    }

    /// Only counts a fact that this version of walwise does not know. `None` without a reading.
    fn insert_fact(
        &mut self,
        subject: Subject,
        fact: &str,
        reading: impl FnOnce() -> Option<ReadingTag>,
    ) -> Option<()> {
        let Some(info) = catalog::find_by_name(fact) else {
            self.unknown_facts += 1;
            return Some(());
        };
        let state = match reading()? {
            ReadingTag::Known { value } => FactState::Known {
                value: DisplayedValue::from_value(info, &value),
            },
            ReadingTag::Unknown { why } => FactState::Unknown { why },
        };
        self.facts
            .entry(subject)
            .or_default()
            .insert(info.name, state);
        Some(())
    }

    fn add_probe(&mut self, json: &Json) -> Option<()> {
        let target = target_field(json)?;
        let found: MeasurementEntry = field(json, "/measurement")?;
        let against = found
            .caveats
            .iter()
            .filter(|caveat| caveat.prevents_comparison());
        let mut probe = ProbeSnapshot {
            doubts: against
                .map(|caveat| caveat.says.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            when: found.when,
            directory: found.directory,
            log: found.log,
            rows: BTreeMap::new(),
        };
        for json in &found.methods {
            let Some(row) = field::<MethodRow>(json, "") else {
                self.unreadable += 1;
                continue;
            };
            // Rows without paced commits are skipped: servers do not commit back to back.
            let Some((median, rounds)) = row.paced_median_and_round_times() else {
                continue;
            };
            match MethodSnapshot::new(row.as_server, median, rounds) {
                Some(kept) => drop(probe.rows.insert((row.method, row.pages), kept)),
                None => self.unreadable += 1,
            }
        }
        self.probes.insert(target, probe);
        Some(())
    }
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

    #[test]
    fn report_with_a_member_that_is_no_list_is_refused() {
        for other in [
            "{\"rule\": \"a.b\"}",
            "null",
            "true",
            "-1",
            "1",
            "0.5",
            "\"a.b\"",
        ] {
            let document =
                format!(r#"{{"schema": 3, "rules": {other}, "when": "2026-11-20T14:03:11Z"}}"#);
            let kept = ReportSnapshot::from_reader(document.as_bytes());
            assert!(kept.is_err(), "{other}");
        }
    }

    #[test]
    fn key_of_another_scope_is_no_target() {
        let document = r#"{"schema": 3,
        "targets": [{"target": "mount /srv", "title": "t", "subjects": []}],
        "stacks": [{"target": "device sda", "layers": []}],
        "verdicts": [{"target": "mount /srv", "standing": "durable"}],
        "probes": [{"target": "mount /srv", "measurement":
            {"when": "", "directory": "", "caveats": [], "methods": []}}]}"#;
        let kept = ReportSnapshot::from_reader(document.as_bytes()).unwrap();
        assert_eq!(kept.unreadable, 4);
        assert!(kept.targets.is_empty() && kept.verdicts.is_empty() && kept.probes.is_empty());
    }
}
