//! Assumptions of the form `KEY[@SUBJECT]=VALUE`, and the host as it would be if they were true.
//!
//! `recipes` edits the recorded answers that contain an assumed fact, and all collectors run again
//! over the edited answers. An unknown fact is set directly instead.
//!
//! Every known reading that differs from the real host's, or comes from an edited answer, is marked
//! as assumed. Marked facts never unlock advice that can lose data. A second evaluation treats
//! assumed facts as observed, to name the advice that a real observation would unlock.

mod controller;
mod recipes;

use serde_json::Value as Json;

use super::Session;
use crate::collect::{self, Request};
use crate::facts::catalog::{self, kernel, mount};
use crate::facts::{FactRow, FactSet, KeyInfo, Reading, Scope, Source, Subject, Value, ValueKind};
use crate::host::{AnswerEdit, EditedHost, EditedLinesByQuestion, Host, HostError, HostErrorKind};
use crate::session::raw_answer::question_matches_source;
use crate::text::suggest::{nearest_word_hint, nearest_word_or_list_hint};
use crate::text::{self, json};
use crate::version::{Version, is_kernel_or_tool_release};
use crate::{compat, report};
use walwise_model::text::JoinText;

const MAX_LISTED_SUBJECTS: usize = 12;

pub fn parse_assumptions(texts: &[String], read: &FactSet) -> Result<Vec<Assumption>, Vec<String>> {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    for text in texts {
        match parse_assumption(text, read) {
            Ok(new) if new.with_fact(new.key.name, &found).is_some() => {
                let Assumption { subject, key, .. } = new;
                mistakes.push(format!("{} of {subject} is assumed twice", key.name));
            }
            Ok(new) => found.push(new),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(collect_assumption_refusals(&found, read));
    if mistakes.is_empty() {
        Ok(found)
    } else {
        Err(mistakes)
    }
}

/// Fails if the subject cannot have the fact. [`Session::evaluate_assumptions`] checks later
/// whether walwise can edit the answer that contains the fact.
pub fn assumption_from_parts(
    subject: &Subject,
    fact: &str,
    value: &str,
    read: &FactSet,
) -> Result<Assumption, String> {
    let key = find_assumable_key(fact)?;
    if !subjects_that_can_have_fact(key, read).contains(subject) {
        return Err(format!("{subject} has no {fact}"));
    }
    let (subject, value) = (subject.clone(), parse_assumed_value(key, value)?);
    Ok(Assumption {
        subject,
        key,
        value,
    })
}

fn parse_assumption(given: &str, read: &FactSet) -> Result<Assumption, String> {
    let shown = text::display_safe(given.as_bytes());
    let name = given.split(['@', '=']).next().unwrap_or_default();
    let rest = given.strip_prefix(name).unwrap_or_default();
    let key = find_assumable_key(name)?;
    let (subject, value) = match rest.strip_prefix('@') {
        Some(rest) => split_subject_and_value(rest, key, read)?,
        None => (find_sole_subject(key, read)?, rest.strip_prefix('=')),
    };
    let value =
        value.ok_or_else(|| format!("`{shown}` has no value; write KEY[@SUBJECT]=VALUE"))?;
    Ok(Assumption {
        subject,
        key,
        value: parse_assumed_value(key, value)?,
    })
}

fn find_assumable_key(name: &str) -> Result<&'static KeyInfo, String> {
    let Some(key) = catalog::find_by_name(name) else {
        let help = nearest_word_hint(name, catalog::all_keys().map(|info| info.name));
        let help = help.unwrap_or_else(|| "`walwise facts --list` lists all facts".to_owned());
        return Err(format!(
            "there is no fact `{}`; {help}",
            text::display_safe(name.as_bytes())
        ));
    };
    if !report::can_be_assumed(key.name) {
        return Err(format!(
            "{} is derived; assume one of its source facts (listed by `walwise facts {}`)",
            key.name, key.name
        ));
    }
    Ok(key)
}

/// A subject's name may itself contain `=`, so every `=` is tried.
fn split_subject_and_value<'t>(
    rest: &'t str,
    key: &KeyInfo,
    read: &FactSet,
) -> Result<(Subject, Option<&'t str>), String> {
    let candidates = subjects_that_can_have_fact(key, read);
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
    let near = nearest_word_hint(&shown, candidates.iter().map(subject_name_or_host));
    let there_is = near.unwrap_or_else(|| subject_choices_text(&candidates, ""));
    Err(format!(
        "no {} `{shown}` has the fact {}; {there_is}",
        key.scope, key.name
    ))
}

fn find_sole_subject(key: &KeyInfo, read: &FactSet) -> Result<Subject, String> {
    match subjects_that_can_have_fact(key, read).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "{} is a fact of a {}, and none was found",
            key.name, key.scope
        )),
        several => {
            let all = subject_choices_text(several, &format!("{}@", key.name));
            Err(format!(
                "{} is a fact of a {}, and there are several; specify {all}",
                key.name, key.scope
            ))
        }
    }
}

/// Lists all subjects of the fact's scope, except those that are known to lack the fact.
fn subjects_that_can_have_fact(key: &KeyInfo, read: &FactSet) -> Vec<Subject> {
    if key.scope == Scope::Host {
        return vec![Subject::host()];
    }
    read.subjects_of_scope(key.scope)
        .filter(|subject| !read.is_fact_of_other_area(subject, key))
        .cloned()
        .collect()
}

fn subject_choices_text(subjects: &[Subject], before: &str) -> String {
    if subjects.is_empty() {
        return "there is none".to_owned();
    }
    let name = |one| format!("{before}{}", subject_name_or_host(one));
    let names: Vec<String> = subjects.iter().map(name).collect();
    let names = text::format_names_and_rest(&names, MAX_LISTED_SUBJECTS);
    format!("one of: {names}")
}

fn subject_name_or_host(subject: &Subject) -> &str {
    if subject.scope() == Scope::Host {
        "host"
    } else {
        subject.name()
    }
}

pub(super) fn parse_assumed_value(key: &KeyInfo, given: &str) -> Result<Value, String> {
    let given = given.trim();
    let shown = text::display_safe(given.as_bytes());
    let is_of_kernel = [kernel::RELEASE.name(), kernel::VERSION.name()].contains(&key.name);
    let value = match key.kind {
        ValueKind::Bool => match given {
            "true" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        ValueKind::Count => given.parse().ok().map(Value::Whole),
        ValueKind::Bytes => parse_byte_size(given).map(Value::Whole),
        ValueKind::Micros | ValueKind::Number => given
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .map(Value::Number),
        ValueKind::Text | ValueKind::Version
            if is_of_kernel && !is_kernel_or_tool_release(given) =>
        {
            None
        }
        ValueKind::Text => (!given.is_empty()).then(|| Value::Text(shown.clone())),
        ValueKind::Choice(words) => {
            if !words.contains(&given) {
                let help =
                    nearest_word_or_list_hint(&shown, words.iter().copied()).unwrap_or_default();
                return Err(format!("{} cannot be `{shown}`; {help}", key.name));
            }
            Some(Value::Text(given.to_owned()))
        }
        ValueKind::Version => Version::parse(&shown).map(Value::Version),
        ValueKind::List | ValueKind::Choices(_) => {
            let words = given.split(',').map(str::trim);
            let words: Vec<String> = words
                .filter(|word| !word.is_empty() && given != "none")
                .map(|word| text::display_safe(word.as_bytes()))
                .collect();
            if let Some(other) = words
                .iter()
                .find(|word| !catalog::is_allowed_word(key, word))
            {
                let all = key.kind.allowed_words().unwrap_or_default();
                let help =
                    nearest_word_or_list_hint(other, all.iter().copied()).unwrap_or_default();
                return Err(format!("{} cannot contain `{other}`; {help}", key.name));
            }
            Some(Value::List(words))
        }
    };
    value.ok_or_else(|| {
        let kind = if is_of_kernel {
            "a release such as 6.12".to_owned()
        } else {
            key.kind.value_kind_description()
        };
        format!("{} must be {kind}, not `{shown}`", key.name)
    })
}

/// Accepts a plain number of bytes or binary units: `16777216`, `16M`, `16 MiB`.
fn parse_byte_size(given: &str) -> Option<u64> {
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

fn collect_assumption_refusals(all: &[Assumption], read: &FactSet) -> Vec<String> {
    let lacks_recipe = |one: &&Assumption| {
        differs_from_known_value(one, read)
            && recipes::edits_for_assumption(one, all, read).is_none()
    };
    let refused = all
        .iter()
        .filter(lacks_recipe)
        .map(|one| assumption_refusal_message(one, read));
    refused
        .chain(
            all.iter()
                .filter_map(|one| unknown_mount_option_refusal(one, read)),
        )
        .collect()
}

/// Refuses a new mount option that the compatibility table lacks, because rules would treat such an
/// option as harmless.
fn unknown_mount_option_refusal(one: &Assumption, read: &FactSet) -> Option<String> {
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
        .find(|word| !now.contains(word) && !compat::is_option_listed(&fstype, word))?;
    Some(format!(
        "{} of {subject} cannot contain `{unknown}`: {fstype} has no such option",
        key.name
    ))
}

fn differs_from_known_value(one: &Assumption, read: &FactSet) -> bool {
    read.reading(&one.subject, one.key.id)
        .value()
        .is_some_and(|now| *now != one.value)
}

fn assumption_refusal_message(one: &Assumption, read: &FactSet) -> String {
    let Assumption {
        subject,
        key,
        value,
    } = one;
    let source = read.reading(subject, key.id).source();
    let area = |key: &KeyInfo| key.name.split('.').next();
    let can_be = |other: &&'static KeyInfo| {
        let reading = read.reading(subject, other.id);
        let Some(value) = reading.value() else {
            return false;
        };
        let assumption = Assumption {
            subject: subject.clone(),
            key: other,
            value: value.clone(),
        };
        other.name != key.name
            && area(other) == area(key)
            && reading.source() == source
            && recipes::edits_for_assumption(&assumption, &[], read).is_some()
    };
    let others = catalog::all_keys().filter(can_be).map(|other| other.name);
    let instead = match others.join_with(" or ").as_str() {
        "" => format!(
            "assume one of its source facts (listed by `walwise facts {}`)",
            key.name
        ),
        others => format!("assume {others}"),
    };
    let shown = key.format_value(value);
    format!(
        "walwise cannot assume {} = {shown} for {subject}; {instead}",
        key.name
    )
}

impl Session {
    pub fn evaluate_assumptions(
        &self,
        all: &[Assumption],
        host: &dyn Host,
        request: &Request,
    ) -> Result<Hypothesis, Vec<String>> {
        let refused = collect_assumption_refusals(all, &self.facts);
        if !refused.is_empty() {
            return Err(refused);
        }
        let (mut stated, mut edits) = (FactSet::default(), Vec::new());
        for one in all {
            // No recorded answer contains the vendor of a kernel that is not running, so the vendor
            // is set directly.
            if !self.facts.reading(&one.subject, one.key.id).is_known()
                || one.key.name == kernel::VENDOR.name()
            {
                let seen = if one.key.name.starts_with("probe.") {
                    Source::Probe {
                        id: "assumed".to_owned(),
                    }
                } else {
                    Source::from_system_call("assumed")
                };
                stated.assume(
                    &one.subject,
                    one.key,
                    Reading::known(one.value.clone(), seen),
                );
            }
            if differs_from_known_value(one, &self.facts) {
                edits.extend(
                    recipes::edits_for_assumption(one, all, &self.facts)
                        .into_iter()
                        .flatten(),
                );
            }
        }
        let host = EditedHost::new(host, edits);
        let read = collect::run_with_assumed_facts(stated, &host, request, &mut |_, _| {});
        let is_not_read = |one: &&Assumption| {
            let is_known = |facts: &FactSet| facts.reading(&one.subject, one.key.id).is_known();
            differs_from_known_value(one, &read) || is_known(&self.facts) && !is_known(&read)
        };
        let refused: Vec<String> = all
            .iter()
            .filter(is_not_read)
            .map(|one| assumption_refusal_message(one, &self.facts))
            .collect();
        if refused.is_empty() {
            Ok(Hypothesis {
                assumptions: all.to_vec(),
                facts: read,
                edited: host.into_edited_lines(),
            })
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
        hypothesis.mark_readings_as_assumed(&mut supposed.facts, &self.facts);
        supposed.hypothesis = Some((hypothesis.clone(), self.derived_facts_and_verdicts().0));
        supposed
    }

    pub fn evaluate_what_if(
        &self,
        real: &report::Report,
        hypothesis: &Hypothesis,
    ) -> (report::Report, report::WhatIf) {
        let supposed = self.with_hypothesis(hypothesis).build_report();
        // Treats the assumptions as observed, to name advice that a real observation would unlock.
        let pretended = Self {
            facts: hypothesis.facts.clone(),
            live: true,
            ..self.clone()
        }
        .build_report();
        let assumed = hypothesis.assumptions.iter().map(
            |Assumption {
                 subject,
                 key,
                 value,
             }| report::FactAssumption {
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

fn answer_edit(
    source: &Source,
    change: impl Fn(&str) -> String + Send + Sync + 'static,
) -> AnswerEdit {
    let source = source.clone();
    AnswerEdit::new(
        move |question| question_matches_source(question, &source),
        move |text| Ok(change(text)),
    )
}

fn answer_removal(path: &'static str, why: &'static str) -> AnswerEdit {
    let source = Source::from_file(path);
    AnswerEdit::new(
        move |question| question_matches_source(question, &source),
        move |_| Err(HostError::new(HostErrorKind::NotCollected, why)),
    )
}

/// If the source has a line number, an edit counts only if it changes that line, or if its lines
/// are unknown.
fn is_source_edited(edited: &EditedLinesByQuestion, source: &Source) -> bool {
    let line = if let Source::File { line, .. } = source {
        *line
    } else {
        None
    };
    edited.iter().any(|(question, lines)| {
        question_matches_source(question, source)
            && line.is_none_or(|line| lines.is_empty() || lines.contains(&line))
    })
}

/// Replaces each line for which `new(number, line)` returns `Some`; numbers start at 1.
fn replace_lines(text: &str, new: impl Fn(u32, &str) -> Option<String>) -> String {
    let lines = (1..).zip(text.split('\n'));
    let lines = lines.map(|(number, line)| new(number, line).unwrap_or_else(|| line.to_owned()));
    lines.join_with("\n")
}

/// Replaces scalars in the first JSON object of `text`; text around the object is dropped.
/// `new` gets a path such as `/a/b`, without indices of lists.
fn edit_first_json_object(text: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) -> String {
    fn replace_scalars(value: &mut Json, path: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) {
        match value {
            Json::Object(fields) => {
                for (key, value) in fields {
                    replace_scalars(value, &format!("{path}/{key}"), new);
                }
            }
            Json::Array(all) => all
                .iter_mut()
                .for_each(|value| replace_scalars(value, path, new)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                if let Some(new) = new(path, value) {
                    *value = new;
                }
            }
        }
    }
    let Some(mut document) = json::first_json_object(text.as_bytes()) else {
        return text.to_owned();
    };
    replace_scalars(&mut document, "", new);
    document.to_string()
}

#[derive(Clone, Debug)]
pub struct Hypothesis {
    assumptions: Vec<Assumption>,
    /// Facts read from the edited answers, not yet marked as assumed.
    facts: FactSet,
    edited: EditedLinesByQuestion,
}

impl Hypothesis {
    /// Marks known readings that came from an edited answer or differ from the real ones. Only
    /// the assumptions can have caused the difference.
    pub fn mark_readings_as_assumed(&self, facts: &mut FactSet, real: &FactSet) {
        let follows = |row: &FactRow<'_>| {
            row.reading.source().is_some_and(|source| {
                source.is_evidence()
                    && (row.reading != real.reading_by_name(row.subject, row.fact)
                        || is_source_edited(&self.edited, source))
            })
        };
        let names = self.assumptions.iter().map(|one| one.key.name.to_owned());
        let source = Source::Derived {
            of: names.collect(),
            assumed: true,
        };
        let mark = |row: FactRow<'_>| {
            let reading = Reading::known(row.reading.value()?.clone(), source.clone());
            let key = catalog::find_by_name(row.fact)?;
            Some((row.subject.clone(), key, reading))
        };
        let marked: Vec<_> = facts.rows().filter(follows).filter_map(mark).collect();
        for (subject, key, reading) in marked {
            facts.insert_untyped_value(&subject, key, reading);
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

#[derive(Clone, Debug)]
pub struct Assumption {
    pub subject: Subject,
    pub key: &'static KeyInfo,
    pub value: Value,
}

impl Assumption {
    /// The assumption in `all` about the fact `name` of the same subject.
    fn with_fact<'a>(&self, name: &str, all: &'a [Self]) -> Option<&'a Self> {
        all.iter()
            .find(|other| other.subject == self.subject && other.key.name == name)
    }
}
