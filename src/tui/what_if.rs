//! Assumptions: the user chooses a fact of the target, then a value; the worker computes the
//! differences.
//!
//! The worker parses values with the same code as `--assume`. The choices are listed once, on
//! opening, because a large target has a hundred thousand facts.

use std::collections::BTreeSet;

use super::data::Data;
use super::hypothesis::Supposition;
use super::widgets::field::{Edit, Field};
use crate::facts::{KeyInfo, Reading, Scope, Subject, ValueKind, catalog};
use crate::report::{Report, can_be_assumed};

/// The most common choices, in this order. Other facts are found by typing their name.
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

/// A fact that can be assumed.
#[derive(Clone, Debug)]
pub struct SelectableFact {
    /// Its heading in the list.
    pub group: &'static str,
    pub subject: Subject,
    pub key: &'static KeyInfo,
    pub actual: Reading<crate::facts::Value>,
    pub assumed_value: Option<String>,
}

impl SelectableFact {
    pub fn current_value(&self) -> String {
        match &self.actual {
            Reading::Known { value, .. } => self.key.format_value(value),
            Reading::Unknown { why, .. } => format!("unknown: {why}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum MenuItem<'a> {
    Fact(&'a SelectableFact),
    /// A possible value of the fact.
    Value(&'static str),
    /// No assumption.
    ActualValue,
}

/// The result of choosing an entry.
#[derive(Clone, Debug)]
pub enum Selection {
    /// A fact was chosen; its value is next.
    Fact(Box<SelectableFact>),
    /// All assumptions from now on; empty if the last one was removed.
    Assumptions(Vec<Supposition>),
}

/// Chooses a fact, then its value.
#[derive(Clone, Debug)]
pub struct Picker {
    choices: Vec<SelectableFact>,
    /// The fact whose value is being chosen.
    pub fact: Option<Box<SelectableFact>>,
    pub input: Field,
    /// Index of the chosen entry.
    pub chosen: usize,
    /// Why the value was refused.
    pub mistake: Option<String>,
}

impl Picker {
    /// Every fact of the chosen target that can be assumed: assumed ones, the short list, facts
    /// needed to decide rules, the rest.
    pub fn open(data: &Data) -> Self {
        Self {
            choices: selectable_facts(data),
            fact: None,
            input: Field::default(),
            chosen: 0,
            mistake: None,
        }
    }

    /// Asks for the value of this fact; `None` if it cannot be assumed.
    pub fn new(data: &Data, subject: &Subject, fact: &str) -> Option<Self> {
        let choice = selectable_fact(data, subject, catalog::find(fact)?, "")?;
        let of = Some(Box::new(choice));
        Some(Self {
            choices: Vec::new(),
            fact: of,
            input: Field::default(),
            chosen: 0,
            mistake: None,
        })
    }

    /// The entries that match the typed text; a fact matches if its name and subject have every
    /// word.
    pub fn entries(&self) -> Vec<MenuItem<'_>> {
        let words: Vec<String> = self
            .input
            .text()
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let has = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let Some(of) = &self.fact else {
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
            .map(|value| MenuItem::Value(value))
            .collect();
        if of.assumed_value.is_some() && words.is_empty() {
            entries.push(MenuItem::ActualValue);
        }
        entries
    }

    /// The result of Enter; the error says what is missing.
    pub fn select(&self, held: &[Supposition]) -> Result<Selection, String> {
        let entries = self.entries();
        let entry = entries.get(self.chosen);
        let Some(of) = &self.fact else {
            return match entry {
                Some(MenuItem::Fact(choice)) => Ok(Selection::Fact(Box::new((*choice).clone()))),
                _ => Err("no fact of this target matches".to_owned()),
            };
        };
        let mut all: Vec<Supposition> = held
            .iter()
            .filter(|one| !one.concerns(&of.subject, of.key.name))
            .cloned()
            .collect();
        let value = match entry {
            Some(MenuItem::ActualValue) => return Ok(Selection::Assumptions(all)),
            Some(MenuItem::Value(word)) => (*word).to_owned(),
            _ if self.input.text().trim().is_empty() => {
                return Err("no value typed yet".to_owned());
            }
            _ => match self.sign_mistake() {
                Some(refused) => return Err(refused),
                None => self.input.text().trim().to_owned(),
            },
        };
        all.push(Supposition {
            subject: of.subject.clone(),
            fact: of.key.name,
            value,
        });
        Ok(Selection::Assumptions(all))
    }

    /// Refuses a value that starts with `=`, which the prompt already shows.
    pub fn sign_mistake(&self) -> Option<String> {
        let value = self.input.text().trim().strip_prefix('=')?.trim();
        let example = if value.is_empty() {
            String::new()
        } else {
            format!(": {value}")
        };
        Some(format!(
            "type {} without “=”{example}",
            self.fact.as_ref()?.key.name
        ))
    }

    /// Asks for the value of a fact.
    pub fn ask_value(&mut self, choice: Box<SelectableFact>) {
        self.fact = Some(choice);
        self.edit(|typed| typed.edit(Edit::Clear));
    }

    /// Returns from the value to the list of facts; false if there is none.
    pub fn back(&mut self) -> bool {
        let returns = self.fact.is_some() && !self.choices.is_empty();
        self.fact = None;
        self.edit(|typed| typed.edit(Edit::Clear));
        returns
    }

    pub fn edit(&mut self, change: impl FnOnce(&mut Field)) {
        change(&mut self.input);
        self.chosen = 0;
        self.mistake = None;
    }

    /// Completes the typed text: to the name of the chosen fact, or to the current value.
    pub fn complete(&mut self) {
        let whole = match (&self.fact, self.entries().get(self.chosen)) {
            (_, Some(MenuItem::Fact(choice))) => {
                Some(format!("{} {}", choice.key.name, choice.subject))
            }
            (_, Some(MenuItem::Value(word))) => Some((*word).to_owned()),
            (Some(of), _) => of.actual.value().map(ToString::to_string),
            (None, _) => None,
        };
        // A truncated value would be a different value.
        if let Some(whole) = whole.filter(|whole| whole.chars().count() <= Field::MAX_CHARS) {
            self.edit(|typed| *typed = Field::new(&whole));
        }
    }
}

/// Whether this fact can be assumed: it is read, not derived, and possible for this subject.
pub fn may_suppose(report: &Report, subject: &Subject, key: &KeyInfo) -> bool {
    let here = key.scope == subject.scope() && report.facts.contains(subject);
    here && can_be_assumed(key.name) && !report.facts.lacks_fact(subject, key)
}

fn selectable_fact(
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
        actual: report.facts.reading(subject, key.id).clone(),
        assumed_value: held
            .find(|one| one.concerns(subject, key.name))
            .map(|one| one.value.clone()),
    })
}

fn selectable_facts(data: &Data) -> Vec<SelectableFact> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut add = |group, subject: &Subject, fact: &str| {
        if let Some(key) = catalog::find(fact)
            && !seen.contains(&(subject.clone(), key.name))
            && let Some(choice) = selectable_fact(data, subject, key, group)
        {
            seen.insert((subject.clone(), key.name));
            all.push(choice);
        }
    };
    for held in data.suppositions() {
        add("assumed", &held.subject, held.fact);
    }
    let subjects = || data.focus.subjects();
    for fact in SHORT_LIST {
        // An unreadable battery is listed like a readable one. Facts of disks without a controller
        // are found by name only.
        let matters = |subject: &&Subject| {
            let report = data.report.as_deref();
            report.is_some_and(|report| is_relevant(report, subject, fact))
        };
        subjects()
            .filter(matters)
            .for_each(|subject| add("common", subject, fact));
    }
    for (need, _) in &data.focus.needs {
        add("needed", &need.subject, &need.fact);
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

/// Whether a fact of the short list is known for this subject, or could be.
fn is_relevant(report: &Report, subject: &Subject, fact: &str) -> bool {
    match report.facts.reading_by_name(subject, fact) {
        Reading::Known { .. } => true,
        Reading::Unknown { why, remedy, .. } => {
            remedy.is_some()
                || !matches!(
                    why,
                    crate::facts::UnknownReason::Absent | crate::facts::UnknownReason::NotCollected
                )
        }
    }
}
