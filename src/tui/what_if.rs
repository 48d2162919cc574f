//! What if: the user chooses a fact of the target, then a value; the worker computes the
//! differences, which are shown beside the real machine.
//!
//! The worker parses values with the same code as `--assume`. The list of choices is built once,
//! when it is opened, because a large target has a hundred thousand facts.

use std::collections::BTreeSet;

use super::data::Data;
use super::supposed::Supposition;
use super::widgets::field::{Edit, Field};
use crate::facts::{KeyInfo, Reading, Scope, Subject, ValueKind, catalog};
use crate::report::{Report, can_be_assumed};

/// The most common choices, in this order. Any other fact is found by its name.
const SHORT_LIST: [&str; 13] = [
    "kernel.release",
    "controller.battery",
    "controller.policy_in_force",
    "controller.disk_cache",
    "device.write_cache",
    "device.cache_type",
    "nvme.volatile_cache",
    "mount.fstype",
    "mount.options",
    "mount.super_options",
    "boot.options",
    "pg.version",
    "mysql.version",
];

/// A fact that can be chosen.
#[derive(Clone, Debug)]
pub struct SelectableFact {
    /// The heading it stands under.
    pub group: &'static str,
    pub subject: Subject,
    pub key: &'static KeyInfo,
    pub really: Reading<crate::facts::Value>,
    pub supposed: Option<String>,
}

impl SelectableFact {
    pub fn now(&self) -> String {
        match &self.really {
            Reading::Known { value, .. } => self.key.show(value),
            Reading::Unknown { why, .. } => format!("not known: {why}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum MenuItem<'a> {
    Fact(&'a SelectableFact),
    /// A value that the fact can have.
    Word(&'static str),
    /// No supposition: what it really is.
    Really,
}

/// The result of taking an entry.
#[derive(Clone, Debug)]
pub enum Taken {
    /// This fact was chosen; its value is asked for next.
    Fact(Box<SelectableFact>),
    /// All that is supposed from here on; nothing when the last supposition was taken back.
    Suppose(Vec<Supposition>),
}

/// The choice of a fact, then of its value.
#[derive(Clone, Debug)]
pub struct Picker {
    choices: Vec<SelectableFact>,
    /// The fact whose value is asked for.
    pub of: Option<Box<SelectableFact>>,
    pub typed: Field,
    /// Which entry is chosen, from 0.
    pub chosen: usize,
    /// Why what was taken cannot be supposed.
    pub mistake: Option<String>,
}

impl Picker {
    /// Every fact of the chosen target that can be assumed: the assumed ones, the short list, those
    /// that would settle something, the rest.
    pub fn open(data: &Data) -> Self {
        Self {
            choices: choices(data),
            of: None,
            typed: Field::default(),
            chosen: 0,
            mistake: None,
        }
    }

    /// The picker for the value of this fact; `None` where it cannot be assumed.
    pub fn new(data: &Data, subject: &Subject, fact: &str) -> Option<Self> {
        let choice = choice(data, subject, catalog::find(fact)?, "")?;
        let of = Some(Box::new(choice));
        Some(Self {
            choices: Vec::new(),
            of,
            typed: Field::default(),
            chosen: 0,
            mistake: None,
        })
    }

    /// The entries that match the typed text: for facts every word must appear in the name or the
    /// subject.
    pub fn entries(&self) -> Vec<MenuItem<'_>> {
        let words: Vec<String> = self
            .typed
            .text()
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let has = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let Some(of) = &self.of else {
            let fits =
                |choice: &&SelectableFact| has(&format!("{} {}", choice.key.name, choice.subject));
            return self
                .choices
                .iter()
                .filter(fits)
                .map(MenuItem::Fact)
                .collect();
        };
        let values: &[&'static str] = match of.key.kind {
            ValueKind::Bool => &["yes", "no"],
            ValueKind::Choice(words) => words,
            _ => &[],
        };
        let mut entries: Vec<MenuItem<'_>> = values
            .iter()
            .filter(|value| has(value))
            .map(|value| MenuItem::Word(value))
            .collect();
        if of.supposed.is_some() && words.is_empty() {
            entries.push(MenuItem::Really);
        }
        entries
    }

    /// The result of Enter; the error says what is missing.
    pub fn take(&self, held: &[Supposition]) -> Result<Taken, String> {
        let entries = self.entries();
        let entry = entries.get(self.chosen);
        let Some(of) = &self.of else {
            return match entry {
                Some(MenuItem::Fact(choice)) => Ok(Taken::Fact(Box::new((*choice).clone()))),
                _ => Err("no fact of this target has such a name".to_owned()),
            };
        };
        let mut all: Vec<Supposition> = held
            .iter()
            .filter(|one| !one.is_of(&of.subject, of.key.name))
            .cloned()
            .collect();
        let value = match entry {
            Some(MenuItem::Really) => return Ok(Taken::Suppose(all)),
            Some(MenuItem::Word(word)) => (*word).to_owned(),
            _ if self.typed.text().trim().is_empty() => {
                return Err("no value is typed yet".to_owned());
            }
            _ => match self.refused() {
                Some(refused) => return Err(refused),
                None => self.typed.text().trim().to_owned(),
            },
        };
        all.push(Supposition {
            subject: of.subject.clone(),
            fact: of.key.name,
            value,
        });
        Ok(Taken::Suppose(all))
    }

    /// Why what is typed is no value: the sign before it is already there.
    pub fn refused(&self) -> Option<String> {
        let value = self.typed.text().trim().strip_prefix('=')?.trim();
        let example = if value.is_empty() {
            String::new()
        } else {
            format!(": {value}")
        };
        Some(format!(
            "{} is typed without “=”{example}",
            self.of.as_ref()?.key.name
        ))
    }

    /// Asks for the value of a fact.
    pub fn ask(&mut self, choice: Box<SelectableFact>) {
        self.of = Some(choice);
        self.edit(|typed| typed.edit(Edit::Clear));
    }

    /// Returns from the value to the facts; false without any to return to.
    pub fn back(&mut self) -> bool {
        let returns = self.of.is_some() && !self.choices.is_empty();
        self.of = None;
        self.edit(|typed| typed.edit(Edit::Clear));
        returns
    }

    /// Changes what was typed.
    pub fn edit(&mut self, change: impl FnOnce(&mut Field)) {
        change(&mut self.typed);
        self.chosen = 0;
        self.mistake = None;
    }

    /// Completes what was typed: a fact to the name of the chosen one, a value to the present one.
    pub fn complete(&mut self) {
        let whole = match (&self.of, self.entries().get(self.chosen)) {
            (_, Some(MenuItem::Fact(choice))) => {
                Some(format!("{} {}", choice.key.name, choice.subject))
            }
            (_, Some(MenuItem::Word(word))) => Some((*word).to_owned()),
            (Some(of), _) => of.really.value().map(ToString::to_string),
            (None, _) => None,
        };
        // A part of a value would be another value.
        if let Some(whole) = whole.filter(|whole| whole.chars().count() <= Field::MOST) {
            self.edit(|typed| *typed = Field::new(&whole));
        }
    }
}

/// Whether this fact can be supposed: it is one that is read, and can be about such a subject.
pub fn may_suppose(report: &Report, subject: &Subject, key: &KeyInfo) -> bool {
    let here = key.scope == subject.scope() && report.facts.contains(subject);
    here && can_be_assumed(key.name) && !report.facts.lacks_fact(subject, key)
}

fn choice(
    data: &Data,
    subject: &Subject,
    key: &'static KeyInfo,
    group: &'static str,
) -> Option<SelectableFact> {
    let report = data.report.as_deref()?;
    if !may_suppose(report, subject, key) {
        return None;
    }
    let mut held = data.suppositions().iter();
    Some(SelectableFact {
        group,
        subject: subject.clone(),
        key,
        really: report.facts.reading(subject, key.id).clone(),
        supposed: held
            .find(|one| one.is_of(subject, key.name))
            .map(|one| one.value.clone()),
    })
}

fn choices(data: &Data) -> Vec<SelectableFact> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut add = |group, subject: &Subject, fact: &str| {
        if let Some(key) = catalog::find(fact)
            && !seen.contains(&(subject.clone(), key.name))
            && let Some(choice) = choice(data, subject, key, group)
        {
            seen.insert((subject.clone(), key.name));
            all.push(choice);
        }
    };
    for held in data.suppositions() {
        add("supposed", &held.subject, held.fact);
    }
    let subjects = || data.focus.subjects();
    for fact in SHORT_LIST {
        // A battery that nobody could read is asked for as well as one that was read; of a disk
        // that has no controller the fact is found by its name.
        let matters = |subject: &&Subject| {
            let report = data.report.as_deref();
            report.is_some_and(|report| matters(report, subject, fact))
        };
        subjects()
            .filter(matters)
            .for_each(|subject| add("often", subject, fact));
    }
    for (need, _) in &data.focus.needs {
        add("would settle", &need.subject, &need.fact);
    }
    for scope in Scope::ALL {
        for subject in subjects().filter(|subject| subject.scope() == scope) {
            catalog::all()
                .filter(|key| key.scope == scope)
                .for_each(|key| add("other", subject, key.name));
        }
    }
    all
}

/// Whether a fact of the short list applies to this subject, or would if it could be read.
fn matters(report: &Report, subject: &Subject, fact: &str) -> bool {
    match report.facts.named(subject, fact) {
        Reading::Known { .. } => true,
        Reading::Unknown { why, remedy, .. } => {
            remedy.is_some()
                || !matches!(
                    why,
                    crate::facts::Why::Absent | crate::facts::Why::NotCollected
                )
        }
    }
}
