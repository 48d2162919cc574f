//! The JSON document of a report → the compared parts of it.
//!
//! The document is untrusted. A malformed part is lost alone and counted, text is made display-safe, and only another
//! format version is refused as a whole. It is parsed row by row, so that the document of a host with thousands of
//! disks is never completely in memory.

use crate::facts::Choice;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::kept::{Kept, KeptFact, KeptFinding, KeptProbe, KeptRow, Shown};
use crate::facts::{Scope, Subject, Value, Why, catalog};
use crate::measure::{CaveatId, Estimate, Method};
use crate::report::SCHEMA_VERSION;
use crate::text::{is_treacherous, safe};

/// The largest document that is read; that of a host with ten thousand disks has 400 MB.
pub const LARGEST: u64 = 1 << 30;

/// Why a document cannot be used for a comparison.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It is no report.
    #[error("this is no report of walwise ({0}); make one with `walwise check --format json`")]
    NoReport(String),
    /// It has a format that this version does not read.
    #[error(
        "this report has format {0}, and this version of walwise reads format {SCHEMA_VERSION}; \
         make a new one with `walwise check --save`, or compare with the version that made it"
    )]
    Format(u64),
    /// It exceeds [`LARGEST`].
    #[error("it has more than {} MiB, which no report has", LARGEST >> 20)]
    TooLarge,
}

impl Kept {
    /// The compared parts of a report, from its JSON document.
    pub fn parse(document: impl Read) -> Result<Self, Unusable> {
        Self::parse_up_to(LARGEST, document)
    }

    fn parse_up_to(largest: u64, document: impl Read) -> Result<Self, Unusable> {
        let mut limited = document.take(largest + 1);
        let mut reading = Reading::default();
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(limited.by_ref()));
        let read = Document(&mut reading).deserialize(&mut json).and_then(|()| json.end());
        drop(json);
        if limited.limit() == 0 {
            return Err(Unusable::TooLarge);
        }
        match (reading.format, read) {
            (Some(format), _) if format != u64::from(SCHEMA_VERSION) => Err(Unusable::Format(format)),
            (_, Err(error)) => Err(Unusable::NoReport(error.to_string())),
            (None, Ok(())) => Err(Unusable::NoReport("it does not say which format it has".to_owned())),
            (Some(_), Ok(())) => Ok(reading.kept),
        }
    }
}

/// The parts read so far.
#[derive(Default)]
struct Reading {
    kept: Kept,
    format: Option<u64>,
}

impl Reading {
    fn unreadable(&mut self) {
        self.kept.unreadable += 1;
    }

    /// Takes a row of a list, or counts it as unreadable.
    fn take(&mut self, list: List, row: &Json) {
        let kept = &mut self.kept;
        let taken = match list {
            List::Targets => target(kept, row),
            List::Stacks => stack(kept, row),
            List::Verdicts => verdict(kept, row),
            List::Probes => probe(kept, row),
            List::Findings => finding(kept, row),
            List::Rules => rule(kept, row),
            List::Facts => fact(kept, row),
        };
        if taken.is_none() {
            self.unreadable();
        }
    }

    /// Takes a field that is no list.
    fn field(&mut self, name: &str, value: &Json) {
        let made = &mut self.kept.made;
        let taken = match name {
            "schema" => {
                self.format = value.as_u64();
                self.format.map(|_| ())
            }
            "when" => text(value).map(|when| made.when = when),
            "asked" => text(value).map(|asked| made.asked = Some(asked)),
            "tool" => text(at(value, "version")).map(|version| made.walwise = version),
            "pack" => text(at(value, "sha256")).map(|sum| made.pack = sum),
            _ => host(&mut self.kept, value),
        };
        if taken.is_none() {
            self.unreadable();
        }
    }
}

/// The lists of a report that are compared.
#[derive(Clone, Copy)]
enum List {
    Targets,
    Stacks,
    Verdicts,
    Probes,
    Findings,
    Rules,
    Facts,
}

impl List {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "targets" => Self::Targets,
            "stacks" => Self::Stacks,
            "verdicts" => Self::Verdicts,
            "probes" => Self::Probes,
            "findings" | "undecided" => Self::Findings,
            "rules" => Self::Rules,
            "facts" => Self::Facts,
            _ => return None,
        })
    }
}

/// The whole document.
struct Document<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match (List::named(&name), name.as_str()) {
                (Some(list), _) => map.next_value_seed(Rows(self.0, list))?,
                (None, "schema" | "when" | "asked" | "tool" | "pack" | "host") => {
                    self.0.field(&name, &map.next_value()?);
                }
                (None, _) => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A list of the document, row by row; anything else in its place is one mistake.
struct Rows<'r>(&'r mut Reading, List);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element::<Json>()? {
            self.0.take(self.1, &row);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.unreadable();
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.unreadable();
        Ok(())
    }
}

/// A member of an object; null without one.
fn at<'j>(json: &'j Json, name: &str) -> &'j Json {
    json.get(name).unwrap_or(&Json::Null)
}

/// Text, made display-safe. Text written by walwise is safe already and passes unchanged.
fn text(json: &Json) -> Option<String> {
    let text = json.as_str()?;
    Some(if text.chars().any(is_treacherous) { safe(text.as_bytes()) } else { text.to_owned() })
}

fn words(json: &Json) -> Option<Vec<String>> {
    json.as_array()?.iter().map(text).collect()
}

fn subject(json: &Json) -> Option<Subject> {
    Subject::parse(&text(json)?)
}

/// A subject that is a target.
fn target_of(json: &Json) -> Option<Subject> {
    subject(at(json, "target")).filter(|subject| subject.scope() == Scope::Target)
}

/// A word of one of our types, as in JSON.
fn word<T: serde::de::DeserializeOwned>(json: &Json) -> Option<T> {
    serde_json::from_value(json.clone()).ok()
}

fn host(kept: &mut Kept, json: &Json) -> Option<()> {
    let made = &mut kept.made;
    made.host = text(at(json, "name"))?;
    made.os = text(at(json, "os"))?;
    made.kernel = text(at(json, "kernel"))?;
    made.privileged = at(json, "privileged").as_bool();
    made.live = at(json, "live").as_bool()?;
    Some(())
}

fn target(kept: &mut Kept, json: &Json) -> Option<()> {
    let (title, subjects) = (text(at(json, "title"))?, at(json, "subjects").as_array()?);
    let subjects = subjects.iter().map(subject).collect::<Option<Vec<_>>>()?;
    let target = kept.targets.entry(target_of(json)?).or_default();
    (target.title, target.subjects) = (title, subjects);
    Some(())
}

fn stack(kept: &mut Kept, json: &Json) -> Option<()> {
    let layers = at(json, "layers").as_array()?.iter();
    let layers = layers.map(|layer| subject(at(layer, "subject"))).collect::<Option<Vec<_>>>()?;
    kept.stand(&target_of(json)?, layers.iter());
    Some(())
}

fn verdict(kept: &mut Kept, json: &Json) -> Option<()> {
    kept.verdicts.insert(target_of(json)?, word(at(json, "standing"))?);
    Some(())
}

fn rule(kept: &mut Kept, json: &Json) -> Option<()> {
    kept.rules.insert(text(at(json, "rule"))?);
    Some(())
}

fn finding(kept: &mut Kept, json: &Json) -> Option<()> {
    let applies = match at(at(json, "outcome"), "outcome").as_str()? {
        "applies" => true,
        "undecided" => false,
        "does-not-apply" => return Some(()),
        _ => return None,
    };
    let (rule, subject) = (text(at(json, "rule"))?, subject(at(json, "subject"))?);
    let finding = KeptFinding { applies, level: word(at(json, "level"))?, title: text(at(json, "title"))? };
    kept.findings.insert((rule, subject), finding);
    Some(())
}

fn fact(kept: &mut Kept, json: &Json) -> Option<()> {
    let (subject, name) = (subject(at(json, "subject"))?, at(json, "fact").as_str()?);
    let reading = at(json, "reading");
    let Some(info) = catalog::find(name) else {
        kept.foreign += 1;
        return Some(());
    };
    let state = match at(reading, "state").as_str()? {
        "known" => KeptFact::Known { value: Shown::of(info, &value(at(reading, "value"))?) },
        "unknown" => KeptFact::Unknown { why: word::<Why>(at(reading, "why"))? },
        _ => return None,
    };
    kept.facts.entry(subject).or_default().insert(info.name, state);
    Some(())
}

/// A value by its shape. A version stays text, because it is only shown.
fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(number) => match number.as_u64() {
            Some(whole) => Value::Whole(whole),
            None => Value::Number(number.as_f64()?),
        },
        Json::String(_) => Value::Text(text(json)?),
        Json::Array(_) => Value::List(words(json)?),
        Json::Null | Json::Object(_) => return None,
    })
}

fn probe(kept: &mut Kept, json: &Json) -> Option<()> {
    let (target, found) = (target_of(json)?, at(json, "measurement"));
    let caveats = at(found, "caveats").as_array()?.iter();
    let spoils = |caveat: &&Json| {
        let refuses = at(caveat, "refuses_advice").as_bool().unwrap_or(true);
        // The effect of a caveat that another version of walwise knows and this one does not is unknown.
        let id = at(caveat, "id").as_str().and_then(CaveatId::of);
        refuses || id.is_none_or(CaveatId::slows_all_alike)
    };
    let against = caveats.filter(spoils);
    let mut probe = KeptProbe {
        when: text(at(found, "when"))?,
        directory: text(at(found, "directory"))?,
        doubts: against.map(|caveat| text(at(caveat, "says"))).collect::<Option<_>>()?,
        ..KeptProbe::default()
    };
    for json in at(found, "methods").as_array()? {
        match row(json) {
            // A row without samples is in the report only for its error.
            _ if at(json, "samples") == 0 => {}
            Some((which, row)) => drop(probe.rows.insert(which, row)),
            None => kept.unreadable += 1,
        }
    }
    kept.probes.insert(target, probe);
    Some(())
}

/// A row of a measurement.
fn row(json: &Json) -> Option<((Method, u32), KeptRow)> {
    let number = |name| at(json, name).as_f64();
    let median = at(json, "median_us");
    let end = |name| at(median, name).as_f64();
    let median = Estimate { value: end("value")?, low: end("low")?, high: end("high")? };
    let rounds: Vec<f64> =
        at(json, "rounds_us").as_array()?.iter().map(Json::as_f64).collect::<Option<_>>()?;
    let pages = u32::try_from(at(json, "pages").as_u64()?).ok()?;
    at(json, "samples").as_u64()?;
    let row = KeptRow::new(at(json, "as_server").as_bool()?, number("mean_us")?, median, &rounds)?;
    Some(((word(at(json, "method"))?, pages), row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{json, sample};

    #[test]
    fn a_report_and_its_document_are_kept_alike() {
        for report in sample::all() {
            let kept = Kept::parse(json::render(&report).as_bytes()).unwrap();
            assert_eq!(kept, Kept::of(&report));
            assert!(!kept.facts.is_empty() && kept.unreadable == 0);
        }
        assert!(!Kept::of(&sample::at_risk()).probes.is_empty());
    }

    #[test]
    fn a_caveat_that_nobody_knows_speaks_against_a_comparison() {
        let document = json::render(&sample::at_risk());
        for (id, doubts) in [("competing-io", 1), ("o-direct", 0), ("made-up", 1)] {
            let document = document.replace("\"competing-io\"", &format!("\"{id}\""));
            let kept = Kept::parse(document.as_bytes()).unwrap();
            assert_eq!(kept.probes.values().map(|probe| probe.doubts.len()).sum::<usize>(), doubts, "{id}");
        }
    }

    #[test]
    fn what_is_no_report_or_of_another_format_is_refused_with_what_to_do() {
        for (document, says) in [
            ("", "walwise check --format json"),
            ("{", "walwise check --format json"),
            ("[]", "walwise check --format json"),
            ("{}", "which format"),
            (r#"{"schema": "3"}"#, "which format"),
            (r#"{"schema": 3} x"#, "walwise check --format json"),
            (r#"{"schema": 99}"#, "has format 99"),
            (r#"{"schema": 1, "facts": [}"#, "has format 1"),
        ] {
            let error = Kept::parse(document.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(says), "{document}: {error}");
        }
        for byte in [b' ', b'{', b'\0'] {
            let endless = std::io::repeat(byte);
            let refused = Kept::parse_up_to(1 << 10, endless);
            assert!(matches!(refused, Err(Unusable::TooLarge | Unusable::NoReport(_))), "{refused:?}");
        }
        assert!(matches!(Kept::parse_up_to(9, "          {}".as_bytes()), Err(Unusable::TooLarge)));
    }

    #[test]
    fn every_mistake_costs_itself() {
        let document = r#"{"schema": 3, "when": 3, "host": [], "targets": {"a": [1]}, "verdicts": 7,
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
        let kept = Kept::parse(document.as_bytes()).unwrap();
        let (sda, model) = (Subject::device("sda"), Shown::Text("A\\x1b[31m".to_owned()));
        assert_eq!(kept.value(&sda, "device.model"), Some(&model));
        assert_eq!((kept.findings.len(), kept.rules.len()), (1, 1));
        assert_eq!((kept.foreign, kept.unreadable), (1, 11));
    }
}
