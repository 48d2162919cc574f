//! Edited output of RAID controller tools, for an assumed battery state or cache policy.
//!
//! The policy, the battery and the setting for a failed battery together decide a controller's
//! write mode, so one assumption edits all related lines. A tool prints all volumes of a controller
//! at once, so an assumption about one volume applies to all.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value as Json;

use super::{Assumption, edit_first_json_object, replace_lines};
use crate::facts::catalog::controller::{
    self, BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce,
};
use crate::facts::{Choice, FactSet, Key, Value};
use crate::host::{AnswerEdit, Question};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedWords {
    json: Vec<PrintedWord>,
    text: Vec<PrintedWord>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedWord {
    keys: Vec<String>,
    #[serde(default)]
    within: String,
    fact: String,
    /// What the tool prints for each value of the fact.
    words: BTreeMap<String, String>,
}

/// A table that fails to parse counts as empty; a test prevents that.
static PRINTED: LazyLock<PrintedWords> =
    LazyLock::new(|| toml::from_str(include_str!("controller_output.toml")).unwrap_or_default());

/// The word of each known fact about the controller, by the fact's name.
struct AssumedControllerState(BTreeMap<&'static str, String>);

/// Edits every recorded output of the tool that reported this disk's controller; `None` if the tool
/// is unknown.
pub fn controller_answer_edits(
    one: &Assumption,
    all: &[Assumption],
    read: &FactSet,
) -> Option<Vec<AnswerEdit>> {
    let tool = read.value(&one.subject, &controller::TOOL)?;
    let state = AssumedControllerState::from_assumptions(one, all, read);
    let is_json = tool.starts_with("storcli") || tool.starts_with("perccli");
    let of_tool = move |question: &Question| matches!(question, Question::Run(other, _) if other.name() == tool);
    Some(vec![AnswerEdit::new(of_tool, move |text| {
        if is_json {
            return Ok(edit_first_json_object(text, &|path, now| {
                state.json_replacement(path, now)
            }));
        }
        Ok(replace_lines(text, |_, line| {
            let (key, value) = line.split_once(':')?;
            let new = state.text_replacement(key.trim(), value.trim())?;
            Some(format!("{key}: {new}"))
        }))
    })])
}

impl AssumedControllerState {
    fn from_assumptions(one: &Assumption, all: &[Assumption], read: &FactSet) -> Self {
        let assumed = |name: &str| {
            let assumption = one.with_fact(name, all)?;
            Some(&assumption.value)
        };
        let keys = [
            &controller::BATTERY.info,
            &controller::POLICY.info,
            &controller::POLICY_IN_FORCE.info,
            &controller::ON_BATTERY_FAILURE.info,
            &controller::DISK_CACHE.info,
        ];
        let words = keys.into_iter().filter_map(|key| {
            let read = || read.reading(&one.subject, key.id).value();
            match assumed(key.name).or_else(read)? {
                Value::Text(word) => Some((key.name, word.clone())),
                _ => None,
            }
        });
        let mut new = Self(words.collect());
        if new.value(&controller::POLICY) == Some(CachePolicy::AlwaysWriteBack) {
            new.set(&controller::ON_BATTERY_FAILURE, BatteryFailurePolicy::Stays);
        }
        if assumed(controller::POLICY_IN_FORCE.name()).is_none()
            && let Some(in_force) = new.effective_cache_policy()
        {
            new.set(&controller::POLICY_IN_FORCE, in_force);
        }
        new
    }

    fn value<T: Choice>(&self, key: &Key<T>) -> Option<T> {
        T::from_word(self.0.get(key.name())?)
    }

    fn set<T: Choice>(&mut self, key: &Key<T>, value: T) {
        self.0.insert(key.name(), value.as_str().to_owned());
    }

    /// Derives the write mode from the policy, the battery and the setting for a failed battery;
    /// `None` if they do not determine it.
    fn effective_cache_policy(&self) -> Option<CachePolicyInForce> {
        let battery = self.value(&controller::BATTERY);
        Some(match (self.value(&controller::POLICY)?, battery) {
            (CachePolicy::WriteThrough, _) => CachePolicyInForce::WriteThrough,
            (CachePolicy::AlwaysWriteBack, _)
            | (CachePolicy::WriteBack, Some(BatteryCondition::Healthy)) => {
                CachePolicyInForce::WriteBack
            }
            (CachePolicy::WriteBack, Some(BatteryCondition::Failed | BatteryCondition::Absent)) => {
                match self.value(&controller::ON_BATTERY_FAILURE)? {
                    BatteryFailurePolicy::WriteThrough => CachePolicyInForce::WriteThrough,
                    BatteryFailurePolicy::Stays => CachePolicyInForce::WriteBack,
                }
            }
            (
                CachePolicy::WriteBack,
                Some(
                    BatteryCondition::Charging
                    | BatteryCondition::Learning
                    | BatteryCondition::Degraded
                    | BatteryCondition::Unreadable,
                )
                | None,
            ) => return None,
        })
    }

    /// `context` is the JSON path or the printed value.
    fn printed_word(&self, of: &[PrintedWord], key: &str, context: &str) -> Option<String> {
        let mut rows = of.iter();
        let row = rows.find(|row| {
            row.keys.iter().any(|own| own == key) && context.contains(row.within.as_str())
        })?;
        row.words.get(self.0.get(row.fact.as_str())?).cloned()
    }

    fn json_replacement(&self, path: &str, now: &Json) -> Option<Json> {
        let (_, key) = path.rsplit_once('/')?;
        let is_back = match key {
            "BBU Status" | "Energy Pack Status" if now.is_number() => return Some(0.into()),
            "DefaultCache" => true,
            "Cache" | "CurrentCache" => {
                self.value(&controller::POLICY_IN_FORCE)? == CachePolicyInForce::WriteBack
            }
            _ => return self.printed_word(&PRINTED.json, key, path).map(Json::from),
        };
        Some(self.replace_write_mode(now.as_str()?, is_back).into())
    }

    /// Replaces the write mode in a volume's cache code, such as `RAWBD` or `NR,WT`.
    fn replace_write_mode(&self, now: &str, is_back: bool) -> String {
        let mode = match self.value(&controller::POLICY) {
            Some(CachePolicy::AlwaysWriteBack) if is_back => "AWB",
            Some(CachePolicy::WriteThrough) if is_back => "WT",
            _ if is_back => "WB",
            _ => "WT",
        };
        let old = ["AWB", "FWB", "WB", "WT"]
            .into_iter()
            .find(|old| now.contains(old));
        old.map_or_else(|| now.to_owned(), |old| now.replace(old, mode))
    }

    fn text_replacement(&self, key: &str, now: &str) -> Option<String> {
        let is_back =
            self.value(&controller::POLICY_IN_FORCE) == Some(CachePolicyInForce::WriteBack);
        let (on, off) = match key {
            "Cache Status" if self.value(&controller::POLICY)? == CachePolicy::WriteThrough => {
                return None;
            }
            "Cache Status" => ("OK", "Temporarily Disabled"),
            "Write-cache status" | "Write-cache mode" => ("On", "Off"),
            _ => return self.printed_word(&PRINTED.text, key, now),
        };
        Some(if is_back { on } else { off }.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog;

    #[test]
    fn printed_words_are_for_values_of_facts() {
        let table: PrintedWords = toml::from_str(include_str!("controller_output.toml")).unwrap();
        for row in table.json.iter().chain(&table.text) {
            let key = catalog::find_by_name(&row.fact).unwrap();
            let known = key.kind.allowed_words().unwrap();
            let is_known = |word: &String| known.contains(&word.as_str());
            assert!(row.words.keys().all(is_known), "{row:?}");
        }
    }
}
