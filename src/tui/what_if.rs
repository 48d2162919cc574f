//! Lets the user assume another value for a fact of the target.
//!
//! The worker evaluates the assumptions and parses values as `--assume` does. The choices are
//! listed once, when the overlay opens, because a large target has a hundred thousand facts.

use std::collections::BTreeSet;

use super::assumptions::AssumedFact;
use super::screen_data::ScreenData;
use super::widgets::text_field::TextField;
use crate::facts::{Choice, KeyInfo, Reading, Scope, Subject, ValueKind, catalog};
use crate::report::{Report, can_be_assumed};

/// Facts that users assume most often, in the order of the list.
const COMMON_FACTS: [&str; 13] = [
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

#[derive(Clone, Debug)]
pub struct SelectableFact {
    /// Heading in the list; shown only above the first fact of a group.
    pub group: &'static str,
    pub subject: Subject,
    pub key: &'static KeyInfo,
    pub actual: Reading<crate::facts::Value>,
    pub assumed_value: Option<String>,
}

impl SelectableFact {
    pub fn actual_value_text(&self) -> String {
        match &self.actual {
            Reading::Known { value, .. } => self.key.format_value(value),
            Reading::Unknown { why, .. } => format!("unknown: {why}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum PickerEntry<'a> {
    Fact(&'a SelectableFact),
    Value(&'static str),
    ActualValue,
}

#[derive(Clone, Debug)]
pub enum PickerOutcome {
    Fact(Box<SelectableFact>),
    /// All assumptions that hold from now on; empty if the last one was removed.
    Assumptions(Vec<AssumedFact>),
}

#[derive(Clone, Debug, Default)]
pub struct AssumptionPicker {
    choices: Vec<SelectableFact>,
    /// Set while the user chooses a value.
    pub fact: Option<Box<SelectableFact>>,
    pub input: TextField,
    pub chosen: usize,
    /// The worker's reason for refusing the value.
    pub mistake: Option<String>,
}

impl AssumptionPicker {
    /// Lists assumed facts first, then common ones, facts that would decide rules, and all others.
    pub fn with_all_facts(data: &ScreenData) -> Self {
        Self {
            choices: selectable_facts(data),
            ..Self::default()
        }
    }

    /// A picker for the value of one fact, without a list of facts; `None` if the fact cannot be
    /// assumed.
    pub fn for_fact(data: &ScreenData, subject: &Subject, fact: &str) -> Option<Self> {
        let choice = new_selectable_fact(data, subject, catalog::find_by_name(fact)?, "")?;
        Some(Self {
            fact: Some(Box::new(choice)),
            ..Self::default()
        })
    }

    /// Facts are searched by name and subject.
    pub fn matching_entries(&self) -> Vec<PickerEntry<'_>> {
        let has = |text: &str| self.input.matches(text);
        let Some(of) = &self.fact else {
            let fits =
                |choice: &&SelectableFact| has(&format!("{} {}", choice.key.name, choice.subject));
            return self
                .choices
                .iter()
                .filter(fits)
                .map(PickerEntry::Fact)
                .collect();
        };
        let values: &[&'static str] = match of.key.kind {
            ValueKind::Bool => &["yes", "no"],
            ValueKind::Choice(words) => words,
            _ => &[],
        };
        let mut entries: Vec<PickerEntry<'_>> = values
            .iter()
            .filter(|value| has(value))
            .map(|value| PickerEntry::Value(value))
            .collect();
        if of.assumed_value.is_some() && self.input.text().trim().is_empty() {
            entries.push(PickerEntry::ActualValue);
        }
        entries
    }

    /// The error is the reason why nothing can be chosen.
    pub fn current_choice(&self, held: &[AssumedFact]) -> Result<PickerOutcome, String> {
        let entries = self.matching_entries();
        let entry = entries.get(self.chosen);
        let Some(of) = &self.fact else {
            return match entry {
                Some(PickerEntry::Fact(choice)) => {
                    Ok(PickerOutcome::Fact(Box::new((*choice).clone())))
                }
                _ => Err("no fact of this target matches".to_owned()),
            };
        };
        let mut all: Vec<AssumedFact> = held
            .iter()
            .filter(|one| !one.is_for_fact(&of.subject, of.key.name))
            .cloned()
            .collect();
        let value = match entry {
            Some(PickerEntry::ActualValue) => return Ok(PickerOutcome::Assumptions(all)),
            Some(PickerEntry::Value(word)) => (*word).to_owned(),
            _ if self.input.text().trim().is_empty() => {
                return Err("type a value first".to_owned());
            }
            _ => match self.equals_sign_error() {
                Some(refused) => return Err(refused),
                None => self.input.text().trim().to_owned(),
            },
        };
        all.push(AssumedFact {
            subject: of.subject.clone(),
            fact: of.key.name,
            value,
        });
        Ok(PickerOutcome::Assumptions(all))
    }

    /// An error message if the typed value starts with `=`, which the prompt already shows.
    pub fn equals_sign_error(&self) -> Option<String> {
        let value = self.input.text().trim().strip_prefix('=')?.trim();
        let example = if value.is_empty() {
            String::new()
        } else {
            format!(": {value}")
        };
        Some(format!(
            "type the value of {} without “=”{example}",
            self.fact.as_ref()?.key.name
        ))
    }

    pub fn start_value_entry(&mut self, choice: Box<SelectableFact>) {
        self.fact = Some(choice);
        self.set_input("");
    }

    /// False if the list is already shown, or if the picker has none.
    pub fn return_to_fact_list(&mut self) -> bool {
        let returns = self.fact.is_some() && !self.choices.is_empty();
        self.fact = None;
        self.set_input("");
        returns
    }

    fn set_input(&mut self, text: &str) {
        self.input = TextField::new(text);
        self.start_over();
    }

    /// Called when the input has changed.
    pub fn start_over(&mut self) {
        self.chosen = 0;
        self.mistake = None;
    }

    /// Fills in the chosen fact or value, or else the current value of the fact.
    pub fn complete_input(&mut self) {
        let whole = match (&self.fact, self.matching_entries().get(self.chosen)) {
            (_, Some(PickerEntry::Fact(choice))) => {
                Some(format!("{} {}", choice.key.name, choice.subject))
            }
            (_, Some(PickerEntry::Value(word))) => Some((*word).to_owned()),
            (Some(of), _) => of.actual.value().map(ToString::to_string),
            (None, _) => None,
        };
        // A truncated value would be a different value.
        if let Some(whole) = whole.filter(|whole| whole.chars().count() <= TextField::MAX_CHARS) {
            self.set_input(&whole);
        }
    }
}

/// Whether the subject can have the fact, and collectors read such facts (derived facts cannot be
/// assumed).
pub fn can_assume(report: &Report, subject: &Subject, key: &KeyInfo) -> bool {
    let here = key.scope == subject.scope() && report.facts.contains_subject(subject);
    here && can_be_assumed(key.name) && !report.facts.is_fact_of_other_area(subject, key)
}

fn new_selectable_fact(
    data: &ScreenData,
    subject: &Subject,
    key: &'static KeyInfo,
    group: &'static str,
) -> Option<SelectableFact> {
    let report = data.report.as_deref()?;
    if !can_assume(report, subject, key) {
        return None;
    }
    let mut assumed_value = data.assumed_facts().iter();
    Some(SelectableFact {
        group,
        subject: subject.clone(),
        key,
        actual: report.facts.reading(subject, key.id).clone(),
        assumed_value: assumed_value
            .find(|one| one.is_for_fact(subject, key.name))
            .map(|one| one.value.clone()),
    })
}

fn selectable_facts(data: &ScreenData) -> Vec<SelectableFact> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut add = |group, subject: &Subject, fact: &str| {
        if let Some(key) = catalog::find_by_name(fact)
            && !seen.contains(&(subject.clone(), key.name))
            && let Some(choice) = new_selectable_fact(data, subject, key, group)
        {
            seen.insert((subject.clone(), key.name));
            all.push(choice);
        }
    };
    for held in data.assumed_facts() {
        add("assumed", &held.subject, held.fact);
    }
    let subjects = || data.focus.related.iter();
    for fact in COMMON_FACTS {
        // A battery that cannot be read is listed; a disk without a RAID controller has no battery
        // to list.
        let matters = |subject: &&Subject| {
            let report = data.report.as_deref();
            report.is_some_and(|report| is_known_or_obtainable(report, subject, fact))
        };
        subjects()
            .filter(matters)
            .for_each(|subject| add("common", subject, fact));
    }
    for (need, _) in &data.focus.needs {
        add("needed", &need.subject, &need.fact);
    }
    for &scope in Scope::ALL {
        for subject in subjects().filter(|subject| subject.scope() == scope) {
            catalog::all_keys()
                .filter(|key| key.scope == scope)
                .for_each(|key| add("other", subject, key.name));
        }
    }
    all
}

fn is_known_or_obtainable(report: &Report, subject: &Subject, fact: &str) -> bool {
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
