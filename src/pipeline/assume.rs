//! Assumptions: facts of this machine that the user assumes, as `KEY[@SUBJECT]=VALUE`, and the machine as it would then
//! be.
//!
//! All collectors run once more over the machine's earlier answers, with the assumptions held fast; every reading that
//! differs is a consequence and is marked. An assumption is a cause: facts that are read from the same thing are
//! carried along, or the assumption is refused. Nothing that is marked can open an interlock or unlock data-loss
//! advice. The advice under an assumption is therefore found on a second machine, on which the same facts count as
//! observed.

mod assumption;
mod ext4;
mod carry;
mod sense;
mod refuse;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use assumption::Assumption;
pub use refuse::objections;

use super::Session;
use super::hypothesis::{Hypothesis, mark};
use crate::collect::{self, Request};
use crate::facts::catalog::kernel;
use crate::facts::{FactSet, KeyInfo, Reading, Scope, Source, Subject, Value, ValueKind, catalog};
use crate::host::Host;
use crate::report;
use crate::text;
use crate::text::suggest::{did_you_mean, or_list};
use crate::version::{Version, is_release};

/// The number of subjects that are listed to a user who named none.
const MOST_NAMED: usize = 12;

/// Parses assumptions about the machine with these facts; the error lists all mistakes at once, [`objections`]
/// included.
pub fn parse(texts: &[String], read: &FactSet) -> Result<Vec<Assumption>, Vec<String>> {
    let (mut found, mut mistakes): (Vec<Assumption>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        match one(text, read) {
            Ok(new) if found.iter().any(|old| old.subject == new.subject && old.key.name == new.key.name) => {
                mistakes.push(format!("{} of {} is assumed twice", new.key.name, new.subject));
            }
            Ok(new) => found.push(new),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(objections(&found, read));
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// Parses one assumption with its parts given: the subject, the fact, and the value as typed. Conflicts with other
/// assumptions are left to [`objections`].
pub fn of(subject: &Subject, fact: &str, value: &str, read: &FactSet) -> Result<Assumption, String> {
    let key = fact_named(fact)?;
    if !candidates(key, read).contains(subject) {
        return Err(format!("{subject} has no {fact}"));
    }
    Ok(Assumption { subject: subject.clone(), key, value: read_value_here(key, value, read)? })
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
    Ok(Assumption { subject, key, value: read_value_here(key, value, read)? })
}

/// The fact of this name, if it can be assumed.
fn fact_named(name: &str) -> Result<&'static KeyInfo, String> {
    let Some(key) = catalog::find(name) else {
        let help = did_you_mean(name, catalog::all().map(|info| info.name));
        let help = help.unwrap_or_else(|| "`walwise facts --list` names all".to_owned());
        return Err(format!("there is no fact `{}`; {help}", text::safe(name.as_bytes())));
    };
    if !report::can_be_assumed(key.name) {
        return Err(format!(
            "{} is concluded by walwise; assume what it follows from (`walwise facts {}` says what that is)",
            key.name, key.name
        ));
    }
    Ok(key)
}

/// A value that the fact could have on this machine.
fn read_value_here(key: &KeyInfo, given: &str, read: &FactSet) -> Result<Value, String> {
    let mut value = read_value(key, given)?;
    sense::of_any_machine(key.name, &value)?;
    if key.name == kernel::VERSION.name()
        && let Value::Version(version) = value
    {
        // The vendor of the kernel was not assumed.
        let backports = read.value(&Subject::host(), &kernel::VERSION).is_some_and(|known| known.backports());
        value = Value::Version(version.with_backports(backports));
    }
    Ok(value)
}

/// The named subject, and the value after it. A name may contain a `=`.
fn named<'t>(rest: &'t str, key: &KeyInfo, read: &FactSet) -> Result<(Subject, Option<&'t str>), String> {
    let candidates = candidates(key, read);
    let known = |name: &str| {
        let name =
            name.strip_prefix(key.scope.word()).and_then(|name| name.strip_prefix(' ')).unwrap_or(name);
        let name = text::safe(name.as_bytes());
        candidates.iter().find(|subject| subject.name() == name || subject.to_string() == name).cloned()
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
    Err(format!("there is no {} `{shown}` with a {}; {there_is}", key.scope, key.name))
}

/// The host, or the one subject that has such a fact.
fn the_only(key: &KeyInfo, read: &FactSet) -> Result<Subject, String> {
    match candidates(key, read).as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!("{} is of a {}, and none was found", key.name, key.scope)),
        several => {
            let all = list(several, &format!("{}@", key.name));
            Err(format!("{} is of a {}, and there are several; {all}", key.name, key.scope))
        }
    }
}

/// The possible subjects of a fact here.
fn candidates(key: &KeyInfo, read: &FactSet) -> Vec<Subject> {
    if key.scope == Scope::Host {
        return vec![Subject::host()];
    }
    read.subjects(key.scope).filter(|subject| !read.lacks_fact(subject, key)).cloned().collect()
}

fn list(subjects: &[Subject], before: &str) -> String {
    if subjects.is_empty() {
        return "there is none".to_owned();
    }
    let names: Vec<String> = subjects.iter().map(|one| format!("{before}{}", short(one))).collect();
    format!("one of: {}", text::first_of(&names, MOST_NAMED))
}

/// The name of a subject as it stands after `@`.
fn short(subject: &Subject) -> &str {
    if subject.scope() == Scope::Host { "host" } else { subject.name() }
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
        ValueKind::Micros | ValueKind::Number => {
            given.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::Number)
        }
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
            let words = given.split(',').map(str::trim).filter(|word| !word.is_empty() && given != "none");
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

impl Session {
    /// This machine if the assumptions were true. `host` gives its earlier answers.
    #[must_use]
    pub fn assuming(&self, assumptions: &[Assumption], host: &dyn Host, request: &Request) -> Self {
        let (facts, _) = self.judged();
        let names: BTreeSet<String> = assumptions.iter().map(|one| one.key.name.to_owned()).collect();
        let hypothesis = Hypothesis { names: names.into_iter().collect(), real: facts };
        let source = |one: &Assumption| {
            let is_same = |typed: &Assumption| typed.subject == one.subject && typed.key.name == one.key.name;
            if assumptions.iter().any(is_same) {
                Source::Assumed
            } else {
                Source::Derived { of: hypothesis.names.clone(), assumed: true }
            }
        };
        let mut read = read_again(&carry::expanded(assumptions, &self.read), host, request, &source);
        mark(&mut read, &self.read, &hypothesis.names);
        Self { read, hypothesis: Some(hypothesis), ..self.clone() }
    }

    /// The same, as if the assumptions had been observed and measured on this very machine: only to name the advice
    /// that would then be offered.
    fn pretending(&self, assumptions: &[Assumption], host: &dyn Host, request: &Request) -> Self {
        let seen = |one: &Assumption| {
            if one.key.name.starts_with("probe.") {
                Source::Probe { id: "assumed".to_owned() }
            } else {
                Source::call("assumed")
            }
        };
        let all = carry::expanded(assumptions, &self.read);
        Self { read: read_again(&all, host, request, &seen), live: true, ..self.clone() }
    }

    /// The changes that the assumptions would cause in this report of the real machine.
    pub fn what_if(
        &self,
        real: &report::Report,
        assumptions: &[Assumption],
        host: &dyn Host,
        request: &Request,
    ) -> (report::Report, report::WhatIf) {
        let supposed = self.assuming(assumptions, host, request).report();
        let pretended = self.pretending(assumptions, host, request).report();
        let assumed = assumptions.iter().map(|Assumption { subject, key, value }| report::Assumed {
            subject: subject.clone(),
            fact: key.name.to_owned(),
            value: value.clone(),
            really: self.read.reading(subject, key.id).clone(),
        });
        let what_if = report::WhatIf::new(assumed.collect(), real, &supposed, &pretended);
        (supposed, what_if)
    }
}

/// Runs all collectors again on top of the assumptions.
fn read_again(
    assumptions: &[Assumption],
    host: &dyn Host,
    request: &Request,
    source: &dyn Fn(&Assumption) -> Source,
) -> FactSet {
    let mut upon = FactSet::default();
    for one in assumptions {
        upon.assume(&one.subject, one.key, Reading::known(one.value.clone(), source(one)));
    }
    collect::run_upon(upon, host, request, &mut |_, _| {})
}
