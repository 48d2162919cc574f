//! Assumptions: facts that the user assumes, as `KEY[@SUBJECT]=VALUE`, and the host as it would
//! then be.
//!
//! An assumption edits the recorded answers that contain the fact (`recipes`), and all collectors
//! run again over them. A fact that is unknown is set directly instead. Every reading that differs,
//! or comes from an edited answer, is marked; marked facts can neither open an interlock nor unlock
//! advice that can lose data. Advice that the assumption would unlock is found by a second
//! evaluation in which the same facts count as observed.

mod assumption {

    use crate::facts::{KeyInfo, Subject, Value};

    #[derive(Clone, Debug)]
    pub struct Assumption {
        pub subject: Subject,
        pub key: &'static KeyInfo,
        pub value: Value,
    }
}
mod answer_edits {
    //! Edits of answers by the source of a fact, by line and by JSON path.

    use serde_json::Value as Json;

    use crate::facts::Source;
    use crate::host::{Edit, EditedAnswers, HostError, HostErrorKind};
    use crate::session::raw_answer::matches_source;
    use crate::text::json;

    /// Edits the answer that a source names.
    pub fn edit_answer(
        source: &Source,
        change: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Edit {
        let source = source.clone();
        Edit::new(
            move |question| matches_source(question, &source),
            move |text| Ok(change(text)),
        )
    }

    /// Removes an answer.
    pub fn remove_answer(path: &'static str, why: &'static str) -> Edit {
        let source = Source::file(path);
        Edit::new(
            move |question| matches_source(question, &source),
            move |_| Err(HostError::new(HostErrorKind::NotCollected, why)),
        )
    }

    /// Whether a value comes from an edited part of these answers.
    pub fn is_edited(edited: &EditedAnswers, source: &Source) -> bool {
        let line = if let Source::File { line, .. } = source {
            *line
        } else {
            None
        };
        edited.iter().any(|(question, lines)| {
            matches_source(question, source)
                && line.is_none_or(|line| lines.is_empty() || lines.contains(&line))
        })
    }

    /// Replaces lines; `new` gets number and line, and returns `None` to keep it.
    pub fn replace_lines(text: &str, new: impl Fn(u32, &str) -> Option<String>) -> String {
        let lines = (1..).zip(text.split('\n'));
        let lines =
            lines.map(|(number, line)| new(number, line).unwrap_or_else(|| line.to_owned()));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Replaces values of the JSON document in a text, by path; elements of a list have its path.
    pub fn edit_json(text: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) -> String {
        fn walk(value: &mut Json, path: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) {
            match value {
                Json::Object(fields) => {
                    for (key, value) in fields {
                        walk(value, &format!("{path}/{key}"), new);
                    }
                }
                Json::Array(all) => all.iter_mut().for_each(|value| walk(value, path, new)),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                    if let Some(new) = new(path, value) {
                        *value = new;
                    }
                }
            }
        }
        let Some((mut document, _)) = json::first_object(text.as_bytes()) else {
            return text.to_owned();
        };
        walk(&mut document, "", new);
        document.to_string()
    }
}
mod hypothesis {
    //! The host under assumptions, read from edited answers. Readings that differ from the real
    //! ones are marked.

    use super::answer_edits::is_edited;
    use super::assumption::Assumption;
    use crate::facts::{FactRow, FactSet, Reading, Source, Subject, Value, catalog};
    use crate::host::EditedAnswers;

    /// Assumptions, and the facts read under them.
    #[derive(Clone, Debug)]
    pub struct Hypothesis {
        pub(super) assumptions: Vec<Assumption>,
        /// The facts read, as if observed.
        pub(super) facts: FactSet,
        edited: EditedAnswers,
    }

    impl Hypothesis {
        pub(super) fn new(all: Vec<Assumption>, read: FactSet, edited: EditedAnswers) -> Self {
            Self {
                assumptions: all,
                facts: read,
                edited,
            }
        }

        /// Marks every reading that was edited or differs from the real one: only the assumptions
        /// can have changed it.
        pub fn mark(&self, facts: &mut FactSet, real: &FactSet) {
            let follows = |row: &FactRow<'_>| {
                row.reading.source().is_some_and(|source| {
                    source.is_evidence()
                        && (row.reading != real.reading_by_name(row.subject, row.fact)
                            || is_edited(&self.edited, source))
                })
            };
            let names: Vec<String> = self
                .assumptions
                .iter()
                .map(|one| one.key.name.to_owned())
                .collect();
            let mut marked: Vec<(Subject, &'static str, Reading<Value>)> = Vec::new();
            for row in facts.rows().filter(follows) {
                if let Reading::Known { value, .. } = row.reading {
                    let source = Source::Derived {
                        of: names.clone(),
                        assumed: true,
                    };
                    marked.push((
                        row.subject.clone(),
                        row.fact,
                        Reading::known(value.clone(), source),
                    ));
                }
            }
            for (subject, fact, reading) in marked {
                if let Some(key) = catalog::find(fact) {
                    facts.insert_value(&subject, key, reading);
                }
            }
            for one in &self.assumptions {
                facts.assume(
                    &one.subject,
                    one.key,
                    Reading::known(one.value.clone(), Source::Assumed),
                );
            }
        }
    }
}
mod controller;
mod recipes;

pub use assumption::Assumption;
pub use hypothesis::Hypothesis;

use super::Session;
use crate::collect::{self, Request};
use crate::compat;
use crate::facts::catalog::{kernel, mount};
use crate::facts::{FactSet, KeyInfo, Reading, Scope, Source, Subject, Value, ValueKind, catalog};
use crate::host::{EditedHost, Host};
use crate::report;
use crate::text;
use crate::text::suggest::{did_you_mean, suggestion_or_list};
use crate::version::{Version, is_release};

/// Subjects listed if the user names none and several fit.
const MAX_LISTED: usize = 12;

/// Parses assumptions about a host with these facts; the error lists all mistakes at once.
pub fn parse(texts: &[String], read: &FactSet) -> Result<Vec<Assumption>, Vec<String>> {
    let (mut found, mut mistakes): (Vec<Assumption>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        match parse_one(text, read) {
            Ok(new)
                if found
                    .iter()
                    .any(|old| old.subject == new.subject && old.key.name == new.key.name) =>
            {
                mistakes.push(format!(
                    "{} of {} is assumed twice",
                    new.key.name, new.subject
                ));
            }
            Ok(new) => found.push(new),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(objections(&found, read));
    if mistakes.is_empty() {
        Ok(found)
    } else {
        Err(mistakes)
    }
}

/// Parses one assumption from its parts: subject, fact, and the value as typed.
/// [`Session::suppose`] checks whether it is possible.
pub fn from_parts(
    subject: &Subject,
    fact: &str,
    value: &str,
    read: &FactSet,
) -> Result<Assumption, String> {
    let key = fact_named(fact)?;
    if !possible_subjects(key, read).contains(subject) {
        return Err(format!("{subject} has no {fact}"));
    }
    Ok(Assumption {
        subject: subject.clone(),
        key,
        value: parse_value(key, value)?,
    })
}

fn parse_one(given: &str, read: &FactSet) -> Result<Assumption, String> {
    let shown = text::display_safe(given.as_bytes());
    let name = given.split(['@', '=']).next().unwrap_or_default();
    let rest = given.strip_prefix(name).unwrap_or_default();
    let key = fact_named(name)?;
    let (subject, value) = match rest.strip_prefix('@') {
        Some(rest) => split_subject(rest, key, read)?,
        None => (only_subject(key, read)?, rest.strip_prefix('=')),
    };
    let value = value.ok_or_else(|| format!("`{shown}` has no value: KEY[@SUBJECT]=VALUE"))?;
    Ok(Assumption {
        subject,
        key,
        value: parse_value(key, value)?,
    })
}

/// The fact with this name, if it can be assumed.
fn fact_named(name: &str) -> Result<&'static KeyInfo, String> {
    let Some(key) = catalog::find(name) else {
        let help = did_you_mean(name, catalog::all().map(|info| info.name));
        let help = help.unwrap_or_else(|| "`walwise facts --list` lists all".to_owned());
        return Err(format!(
            "no fact `{}`; {help}",
            text::display_safe(name.as_bytes())
        ));
    };
    if !report::can_be_assumed(key.name) {
        return Err(format!(
            "{} is derived; assume a fact that it follows from (listed by `walwise facts {}`)",
            key.name, key.name
        ));
    }
    Ok(key)
}

/// The named subject, and the value after it. A subject may contain `=`.
fn split_subject<'t>(
    rest: &'t str,
    key: &KeyInfo,
    read: &FactSet,
) -> Result<(Subject, Option<&'t str>), String> {
    let candidates = possible_subjects(key, read);
    let known = |name: &str| {
        let name = name
            .strip_prefix(key.scope.as_str())
            .and_then(|name| name.strip_prefix(' '))
            .unwrap_or(name);
        let name = text::display_safe(name.as_bytes());
        candidates
            .iter()
            .find(|subject| subject.name() == name || subject.to_string() == name)
            .cloned()
    };
    let ends = rest.match_indices('=').map(|(at, _)| rest.split_at(at));
    let mut found = ends.filter_map(|(name, value)| Some((known(name)?, value.strip_prefix('='))));
    if let Some(found) = found.next() {
        return Ok(found);
    }
    let name = rest.split_once('=').map_or(rest, |(name, _)| name);
    if let Some(subject) = known(name) {
        return Ok((subject, None));
    }
    let shown = text::display_safe(name.as_bytes());
    let near = did_you_mean(&shown, candidates.iter().map(short_name));
    let there_is = near.unwrap_or_else(|| list_subjects(&candidates, ""));
    Err(format!(
        "there is no {} `{shown}` with a {}; {there_is}",
        key.scope, key.name
    ))
}

/// The host, or the only subject with such a fact.
fn only_subject(key: &KeyInfo, read: &FactSet) -> Result<Subject, String> {
    match possible_subjects(key, read).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "{} belongs to a {}; none was found",
            key.name, key.scope
        )),
        several => {
            let all = list_subjects(several, &format!("{}@", key.name));
            Err(format!(
                "{} belongs to a {}; there are several; {all}",
                key.name, key.scope
            ))
        }
    }
}

/// The subjects here that can have a fact.
fn possible_subjects(key: &KeyInfo, read: &FactSet) -> Vec<Subject> {
    if key.scope == Scope::Host {
        return vec![Subject::host()];
    }
    read.subjects(key.scope)
        .filter(|subject| !read.lacks_fact(subject, key))
        .cloned()
        .collect()
}

fn list_subjects(subjects: &[Subject], before: &str) -> String {
    if subjects.is_empty() {
        return "there is none".to_owned();
    }
    let names: Vec<String> = subjects
        .iter()
        .map(|one| format!("{before}{}", short_name(one)))
        .collect();
    format!("one of: {}", text::names_and_count(&names, MAX_LISTED))
}

/// The subject as written after `@`.
fn short_name(subject: &Subject) -> &str {
    if subject.scope() == Scope::Host {
        "host"
    } else {
        subject.name()
    }
}

/// Parses a value of the fact's type.
fn parse_value(key: &KeyInfo, given: &str) -> Result<Value, String> {
    let given = given.trim();
    let wrong = || {
        let shown = text::display_safe(given.as_bytes());
        format!(
            "{} is {}, and `{shown}` is not",
            key.name,
            key.kind.description()
        )
    };
    let value = match key.kind {
        ValueKind::Bool => match given {
            "true" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        ValueKind::Count => given.parse().ok().map(Value::Whole),
        ValueKind::Bytes => parse_bytes(given).map(Value::Whole),
        ValueKind::Micros | ValueKind::Number => given
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .map(Value::Number),
        ValueKind::Text if key.name == kernel::RELEASE.name() && !is_release(given) => None,
        ValueKind::Text => {
            (!given.is_empty()).then(|| Value::Text(text::display_safe(given.as_bytes())))
        }
        ValueKind::Choice(words) => {
            if !words.contains(&given) {
                let shown = text::display_safe(given.as_bytes());
                let help = suggestion_or_list(&shown, words.iter().copied()).unwrap_or_default();
                return Err(format!("{} is never `{shown}`; {help}", key.name));
            }
            Some(Value::Text(given.to_owned()))
        }
        ValueKind::Version if key.name == kernel::VERSION.name() && !is_release(given) => None,
        ValueKind::Version => {
            let shown = text::display_safe(given.as_bytes());
            Version::parse(&shown).map(Value::Version)
        }
        ValueKind::List | ValueKind::Choices(_) => {
            let words = given
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty() && given != "none");
            let words: Vec<String> = words
                .map(|word| text::display_safe(word.as_bytes()))
                .collect();
            if let Some(other) = words.iter().find(|word| !catalog::allows(key, word)) {
                let all = key.kind.choices().unwrap_or_default();
                let help = suggestion_or_list(other, all.iter().copied()).unwrap_or_default();
                return Err(format!("{} never holds `{other}`; {help}", key.name));
            }
            Some(Value::List(words))
        }
    };
    value.ok_or_else(wrong)
}

/// Bytes, with or without a binary unit: `16 MiB`, `16M`, `16777216`.
fn parse_bytes(given: &str) -> Option<u64> {
    let digits = given.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = given.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 1,
        "m" | "mib" => 2,
        "g" | "gib" => 3,
        "t" | "tib" => 4,
        _ => return None,
    };
    number.checked_mul(1024_u64.checked_pow(power)?)
}

/// Refusals: the fact is known, and no recipe can change it.
fn objections(all: &[Assumption], read: &FactSet) -> Vec<String> {
    let lacks_recipe =
        |one: &&Assumption| differs(one, read) && recipes::edits(one, all, read).is_none();
    let refused = all
        .iter()
        .filter(lacks_recipe)
        .map(|one| refusal(one, read));
    refused
        .chain(all.iter().filter_map(|one| unknown_option(one, read)))
        .collect()
}

/// Refuses an unknown mount option: without a table row it would count as harmless.
fn unknown_option(one: &Assumption, read: &FactSet) -> Option<String> {
    let Assumption {
        subject,
        key,
        value: Value::List(words),
    } = one
    else {
        return None;
    };
    let of_mount = [mount::OPTIONS.name(), mount::SUPER_OPTIONS.name()];
    let Some(Value::List(now)) = read.reading(subject, key.id).value() else {
        return None;
    };
    let fstype = read
        .value(subject, &mount::FSTYPE)
        .filter(|_| of_mount.contains(&key.name))?;
    let unknown = words
        .iter()
        .find(|word| !now.contains(word) && !compat::is_listed(&fstype, word))?;
    Some(format!(
        "{} of {subject} never holds `{unknown}`: {fstype} has no such option",
        key.name
    ))
}

/// Whether the fact is known with another value.
fn differs(one: &Assumption, read: &FactSet) -> bool {
    read.reading(&one.subject, one.key.id)
        .value()
        .is_some_and(|now| *now != one.value)
}

/// The refusal of an assumption, with facts from the same answer that can be assumed instead.
fn refusal(one: &Assumption, read: &FactSet) -> String {
    let Assumption {
        subject,
        key,
        value,
    } = one;
    let source = read.reading(subject, key.id).source();
    let area = |key: &KeyInfo| key.name.split('.').next();
    let can_be = |other: &&KeyInfo| {
        let Reading::Known {
            value,
            source: from,
        } = read.reading(subject, other.id)
        else {
            return false;
        };
        let other = Assumption {
            subject: subject.clone(),
            key: catalog::find(other.name).unwrap_or(key),
            value: value.clone(),
        };
        other.key.name != key.name
            && area(other.key) == area(key)
            && Some(from) == source
            && recipes::edits(&other, &[], read).is_some()
    };
    let others: Vec<String> = catalog::all()
        .filter(can_be)
        .map(|other| other.name.to_owned())
        .collect();
    let instead = match others.as_slice() {
        [] => format!(
            "assume a fact that it follows from (listed by `walwise facts {}`)",
            key.name
        ),
        some => format!("assume {}", some.join(" or ")),
    };
    let shown = key.format_value(value);
    format!(
        "walwise cannot assume {} = {shown} of {subject}; {instead}",
        key.name
    )
}

impl Session {
    /// Reads the host again under the assumptions, from the earlier answers of `host`.
    pub fn suppose(
        &self,
        all: &[Assumption],
        host: &dyn Host,
        request: &Request,
    ) -> Result<Hypothesis, Vec<String>> {
        let refused = objections(all, &self.facts);
        if !refused.is_empty() {
            return Err(refused);
        }
        let (mut stated, mut edits) = (FactSet::default(), Vec::new());
        for one in all {
            // No recorded answer names the vendor of another kernel, so it is set directly.
            if !self.facts.reading(&one.subject, one.key.id).is_known()
                || one.key.name == kernel::VENDOR.name()
            {
                let seen = if one.key.name.starts_with("probe.") {
                    Source::Probe {
                        id: "assumed".to_owned(),
                    }
                } else {
                    Source::call("assumed")
                };
                stated.assume(
                    &one.subject,
                    one.key,
                    Reading::known(one.value.clone(), seen),
                );
            }
            if differs(one, &self.facts) {
                edits.extend(recipes::edits(one, all, &self.facts).into_iter().flatten());
            }
        }
        let host = EditedHost::new(host, edits);
        let read = collect::run_with_assumed(stated, &host, request, &mut |_, _| {});
        let is_not_read = |one: &&Assumption| {
            differs(one, &read) || {
                let reading = |facts: &FactSet| facts.reading(&one.subject, one.key.id).is_known();
                reading(&self.facts) && !reading(&read)
            }
        };
        let refused: Vec<String> = all
            .iter()
            .filter(is_not_read)
            .map(|one| refusal(one, &self.facts))
            .collect();
        if refused.is_empty() {
            Ok(Hypothesis::new(
                all.to_vec(),
                read,
                host.into_edited_answers(),
            ))
        } else {
            Err(refused)
        }
    }

    #[must_use]
    pub fn with_hypothesis(&self, hypothesis: &Hypothesis) -> Self {
        let mut supposed = Self {
            facts: hypothesis.facts.clone(),
            ..self.clone()
        };
        hypothesis.mark(&mut supposed.facts, &self.facts);
        supposed.hypothesis = Some((hypothesis.clone(), self.conclusions().0));
        supposed
    }

    /// What the assumptions would change in this report of the real host.
    pub fn what_if(
        &self,
        real: &report::Report,
        hypothesis: &Hypothesis,
    ) -> (report::Report, report::WhatIf) {
        let supposed = self.with_hypothesis(hypothesis).report();
        // As if observed and measured on this host, only to name the advice that would be offered.
        let pretended = Self {
            facts: hypothesis.facts.clone(),
            live: true,
            ..self.clone()
        }
        .report();
        let assumed = hypothesis.assumptions.iter().map(
            |Assumption {
                 subject,
                 key,
                 value,
             }| report::Assumed {
                subject: subject.clone(),
                fact: key.name.to_owned(),
                value: value.clone(),
                really: self.facts.reading(subject, key.id).clone(),
            },
        );
        let what_if = report::WhatIf::new(assumed.collect(), real, &supposed, &pretended);
        (supposed, what_if)
    }
}
