//! Assumptions: facts of this machine that the user assumes, as `KEY[@SUBJECT]=VALUE`, and the
//! machine as it would then be.
//!
//! An assumption edits the recorded answers that say the fact (`recipes`), and all collectors run
//! once more over them. Every reading that differs, or was read from what was edited, is marked. A
//! fact that is not known is stated instead: it is held fast whatever the answers say. Nothing that
//! is marked can open an interlock or unlock data-loss advice. The advice under an assumption is
//! therefore found on a second machine, on which the same facts count as observed.

mod assumption {
    //! An assumed fact, as a value.

    use crate::facts::{KeyInfo, Subject, Value};

    #[derive(Clone, Debug)]
    pub struct Assumption {
        pub subject: Subject,
        pub key: &'static KeyInfo,
        pub value: Value,
    }
}
mod edited {
    //! Edits by the source of a fact, of lines and of JSON, and whether a source was edited.

    use serde_json::Value as Json;

    use crate::facts::Source;
    use crate::host::{Edit, EditedAnswers, Miss, MissKind};
    use crate::session::raw::is_of;
    use crate::text::json;

    /// Changes the answer that a source names.
    pub fn at(source: &Source, change: impl Fn(&str) -> String + Send + Sync + 'static) -> Edit {
        let source = source.clone();
        Edit::new(
            move |question| is_of(question, &source),
            move |text| Ok(change(text)),
        )
    }

    /// Takes an answer away.
    pub fn gone(path: &'static str, why: &'static str) -> Edit {
        let source = Source::file(path);
        Edit::new(
            move |question| is_of(question, &source),
            move |_| Err(Miss::new(MissKind::NotCollected, why)),
        )
    }

    /// Whether a value was read from what was edited of these answers.
    pub fn is_edited(edited: &EditedAnswers, source: &Source) -> bool {
        let line = if let Source::File { line, .. } = source {
            *line
        } else {
            None
        };
        edited.iter().any(|(question, lines)| {
            is_of(question, source)
                && line.is_none_or(|line| lines.is_empty() || lines.contains(&line))
        })
    }

    /// The text with some lines replaced.
    pub fn replaced(text: &str, new: impl Fn(u32, &str) -> Option<String>) -> String {
        let lines = (1..).zip(text.split('\n'));
        let lines =
            lines.map(|(number, line)| new(number, line).unwrap_or_else(|| line.to_owned()));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Changes what stands at some paths of the JSON document in a text; the elements of a list
    /// have its path.
    pub fn at_paths(text: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) -> String {
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
        let Some((mut document, _)) = json::first(text.as_bytes()) else {
            return text.to_owned();
        };
        walk(&mut document, "", new);
        document.to_string()
    }
}
mod hypothesis {
    //! The machine as it would be, read over edited answers, beside the machine as it is: what
    //! differs is marked.

    use super::assumption::Assumption;
    use super::edited::is_edited;
    use crate::facts::{FactRow, FactSet, Reading, Source, Subject, Value, catalog};
    use crate::host::EditedAnswers;

    /// Assumptions, and what is read of the machine when they are true.
    #[derive(Clone, Debug)]
    pub struct Hypothesis {
        pub(super) all: Vec<Assumption>,
        /// What was read, as if all of it had been seen.
        pub(super) read: FactSet,
        edited: EditedAnswers,
    }

    impl Hypothesis {
        pub(super) fn new(all: Vec<Assumption>, read: FactSet, edited: EditedAnswers) -> Self {
            Self { all, read, edited }
        }

        /// Marks every reading that was edited, or differs from the real set: nothing but the
        /// assumptions can have changed it.
        pub fn mark(&self, facts: &mut FactSet, real: &FactSet) {
            let follows = |row: &FactRow<'_>| {
                row.reading.source().is_some_and(|source| {
                    source.is_evidence()
                        && (row.reading != real.named(row.subject, row.fact)
                            || is_edited(&self.edited, source))
                })
            };
            let names: Vec<String> = self.all.iter().map(|one| one.key.name.to_owned()).collect();
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
                    facts.put_value(&subject, key, reading);
                }
            }
            for one in &self.all {
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
use crate::facts::catalog::{kernel, mount};
use crate::facts::{FactSet, KeyInfo, Reading, Scope, Source, Subject, Value, ValueKind, catalog};
use crate::host::{EditedHost, Host};
use crate::report;
use crate::text;
use crate::text::suggest::{did_you_mean, or_list};
use crate::validity;
use crate::version::{Version, is_release};

/// The number of subjects that are listed to a user who named none.
const MOST_NAMED: usize = 12;

/// Parses assumptions about the machine with these facts; the error lists all mistakes at once.
pub fn parse(texts: &[String], read: &FactSet) -> Result<Vec<Assumption>, Vec<String>> {
    let (mut found, mut mistakes): (Vec<Assumption>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        match one(text, read) {
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

/// Parses one assumption with its parts given: the subject, the fact, and the value as typed.
/// Whether there is a recipe for it is left to [`Session::suppose`].
pub fn of(
    subject: &Subject,
    fact: &str,
    value: &str,
    read: &FactSet,
) -> Result<Assumption, String> {
    let key = fact_named(fact)?;
    if !candidates(key, read).contains(subject) {
        return Err(format!("{subject} has no {fact}"));
    }
    Ok(Assumption {
        subject: subject.clone(),
        key,
        value: read_value(key, value)?,
    })
}

fn one(given: &str, read: &FactSet) -> Result<Assumption, String> {
    let shown = text::safe(given.as_bytes());
    let name = given.split(['@', '=']).next().unwrap_or_default();
    let rest = given.strip_prefix(name).unwrap_or_default();
    let key = fact_named(name)?;
    let (subject, value) = match rest.strip_prefix('@') {
        Some(rest) => named(rest, key, read)?,
        None => (the_only(key, read)?, rest.strip_prefix('=')),
    };
    let value = value.ok_or_else(|| format!("`{shown}` has no value: KEY[@SUBJECT]=VALUE"))?;
    Ok(Assumption {
        subject,
        key,
        value: read_value(key, value)?,
    })
}

/// The fact of this name, if it can be assumed.
fn fact_named(name: &str) -> Result<&'static KeyInfo, String> {
    let Some(key) = catalog::find(name) else {
        let help = did_you_mean(name, catalog::all().map(|info| info.name));
        let help = help.unwrap_or_else(|| "`walwise facts --list` names all".to_owned());
        return Err(format!(
            "there is no fact `{}`; {help}",
            text::safe(name.as_bytes())
        ));
    };
    if !report::can_be_assumed(key.name) {
        return Err(format!(
            "{} is concluded by walwise; assume what it follows from (`walwise facts {}` says what that is)",
            key.name, key.name
        ));
    }
    Ok(key)
}

/// The named subject, and the value after it. A name may contain a `=`.
fn named<'t>(
    rest: &'t str,
    key: &KeyInfo,
    read: &FactSet,
) -> Result<(Subject, Option<&'t str>), String> {
    let candidates = candidates(key, read);
    let known = |name: &str| {
        let name = name
            .strip_prefix(key.scope.word())
            .and_then(|name| name.strip_prefix(' '))
            .unwrap_or(name);
        let name = text::safe(name.as_bytes());
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
    let shown = text::safe(name.as_bytes());
    let near = did_you_mean(&shown, candidates.iter().map(short));
    let there_is = near.unwrap_or_else(|| list(&candidates, ""));
    Err(format!(
        "there is no {} `{shown}` with a {}; {there_is}",
        key.scope, key.name
    ))
}

/// The host, or the one subject that has such a fact.
fn the_only(key: &KeyInfo, read: &FactSet) -> Result<Subject, String> {
    match candidates(key, read).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "{} is of a {}, and none was found",
            key.name, key.scope
        )),
        several => {
            let all = list(several, &format!("{}@", key.name));
            Err(format!(
                "{} is of a {}, and there are several; {all}",
                key.name, key.scope
            ))
        }
    }
}

/// The possible subjects of a fact here.
fn candidates(key: &KeyInfo, read: &FactSet) -> Vec<Subject> {
    if key.scope == Scope::Host {
        return vec![Subject::host()];
    }
    read.subjects(key.scope)
        .filter(|subject| !read.lacks_fact(subject, key))
        .cloned()
        .collect()
}

fn list(subjects: &[Subject], before: &str) -> String {
    if subjects.is_empty() {
        return "there is none".to_owned();
    }
    let names: Vec<String> = subjects
        .iter()
        .map(|one| format!("{before}{}", short(one)))
        .collect();
    format!("one of: {}", text::first_of(&names, MOST_NAMED))
}

/// The name of a subject as it stands after `@`.
fn short(subject: &Subject) -> &str {
    if subject.scope() == Scope::Host {
        "host"
    } else {
        subject.name()
    }
}

/// A value that the fact could have.
fn read_value(key: &KeyInfo, given: &str) -> Result<Value, String> {
    let given = given.trim();
    let wrong = || {
        let shown = text::safe(given.as_bytes());
        format!("{} is {}, and `{shown}` is not", key.name, key.kind.words())
    };
    let value = match key.kind {
        ValueKind::Bool => match given {
            "true" | "yes" | "on" => Some(Value::Bool(true)),
            "false" | "no" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        ValueKind::Count => given.parse().ok().map(Value::Whole),
        ValueKind::Bytes => size(given).map(Value::Whole),
        ValueKind::Micros | ValueKind::Number => given
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .map(Value::Number),
        ValueKind::Text if key.name == kernel::RELEASE.name() && !is_release(given) => None,
        ValueKind::Text => (!given.is_empty()).then(|| Value::Text(text::safe(given.as_bytes()))),
        ValueKind::Choice(words) => {
            if !words.contains(&given) {
                let shown = text::safe(given.as_bytes());
                let help = or_list(&shown, words.iter().copied()).unwrap_or_default();
                return Err(format!("{} is never `{shown}`; {help}", key.name));
            }
            Some(Value::Text(given.to_owned()))
        }
        ValueKind::Version if key.name == kernel::VERSION.name() && !is_release(given) => None,
        ValueKind::Version => {
            let shown = text::safe(given.as_bytes());
            Version::parse(&shown).map(Value::Version)
        }
        ValueKind::List | ValueKind::Choices(_) => {
            let words = given
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty() && given != "none");
            let words: Vec<String> = words.map(|word| text::safe(word.as_bytes())).collect();
            if let Some(other) = words.iter().find(|word| !catalog::allows(key, word)) {
                let all = key.kind.choices().unwrap_or_default();
                let help = or_list(other, all.iter().copied()).unwrap_or_default();
                return Err(format!("{} never holds `{other}`; {help}", key.name));
            }
            Some(Value::List(words))
        }
    };
    value.ok_or_else(wrong)
}

/// Bytes, with or without a binary unit: `16 MiB`, `16M`, `16777216`.
fn size(given: &str) -> Option<u64> {
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

/// Those that are refused: the fact is known, and there is no recipe for its answer.
fn objections(all: &[Assumption], read: &FactSet) -> Vec<String> {
    let lacks_recipe =
        |one: &&Assumption| is_other(one, read) && recipes::edits(one, all, read).is_none();
    let refused = all
        .iter()
        .filter(lacks_recipe)
        .map(|one| refusal(one, read));
    refused
        .chain(all.iter().filter_map(|one| misspelt(one, read)))
        .collect()
}

/// An option that is not in force and that no row of the table names would count as one without
/// faults.
fn misspelt(one: &Assumption, read: &FactSet) -> Option<String> {
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
        .find(|word| !now.contains(word) && !validity::lists(&fstype, word))?;
    Some(format!(
        "{} of {subject} never holds `{unknown}`: {fstype} has no such option",
        key.name
    ))
}

/// Whether the fact is known and has another value.
fn is_other(one: &Assumption, read: &FactSet) -> bool {
    read.reading(&one.subject, one.key.id)
        .value()
        .is_some_and(|now| *now != one.value)
}

/// Why an assumption is refused, with facts that are read from the same answer and have a recipe.
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
            "assume what it follows from (`walwise facts {}` says what that is)",
            key.name
        ),
        some => format!("assume {}", some.join(" or ")),
    };
    let shown = key.show(value);
    format!(
        "no answer of this machine can be edited to say {} = {shown} of {subject}; {instead}",
        key.name
    )
}

impl Session {
    /// Reads the machine again as if the assumptions were true. `host` gives its earlier answers.
    pub fn suppose(
        &self,
        all: &[Assumption],
        host: &dyn Host,
        request: &Request,
    ) -> Result<Hypothesis, Vec<String>> {
        let refused = objections(all, &self.read);
        if !refused.is_empty() {
            return Err(refused);
        }
        let (mut stated, mut edits) = (FactSet::default(), Vec::new());
        for one in all {
            // No answer says whose kernel another one is.
            if !self.read.reading(&one.subject, one.key.id).is_known()
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
            if is_other(one, &self.read) {
                edits.extend(recipes::edits(one, all, &self.read).into_iter().flatten());
            }
        }
        let host = EditedHost::new(host, edits);
        let read = collect::run_upon(stated, &host, request, &mut |_, _| {});
        let is_not_read = |one: &&Assumption| {
            is_other(one, &read) || {
                let reading = |facts: &FactSet| facts.reading(&one.subject, one.key.id).is_known();
                reading(&self.read) && !reading(&read)
            }
        };
        let refused: Vec<String> = all
            .iter()
            .filter(is_not_read)
            .map(|one| refusal(one, &self.read))
            .collect();
        if refused.is_empty() {
            Ok(Hypothesis::new(all.to_vec(), read, host.edited()))
        } else {
            Err(refused)
        }
    }

    /// This machine if the assumptions were true.
    #[must_use]
    pub fn assuming(&self, hypothesis: &Hypothesis) -> Self {
        let mut supposed = Self {
            read: hypothesis.read.clone(),
            ..self.clone()
        };
        hypothesis.mark(&mut supposed.read, &self.read);
        supposed.hypothesis = Some((hypothesis.clone(), self.judged().0));
        supposed
    }

    /// The changes that the assumptions would cause in this report of the real machine.
    pub fn what_if(
        &self,
        real: &report::Report,
        hypothesis: &Hypothesis,
    ) -> (report::Report, report::WhatIf) {
        let supposed = self.assuming(hypothesis).report();
        // As if all had been observed and measured on this very machine, only to name the advice
        // that would be offered.
        let pretended = Self {
            read: hypothesis.read.clone(),
            live: true,
            ..self.clone()
        }
        .report();
        let assumed = hypothesis.all.iter().map(
            |Assumption {
                 subject,
                 key,
                 value,
             }| report::Assumed {
                subject: subject.clone(),
                fact: key.name.to_owned(),
                value: value.clone(),
                really: self.read.reading(subject, key.id).clone(),
            },
        );
        let what_if = report::WhatIf::new(assumed.collect(), real, &supposed, &pretended);
        (supposed, what_if)
    }
}
