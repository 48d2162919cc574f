//! One disk: the tools that are asked about it, what they printed, and the facts that come of it.
//!
//! Which tool tells what is left to the file of each.

use std::collections::BTreeSet;

use crate::collect::refusal::refused;
use crate::facts::{FactValue, Key, KeyInfo, Reading, Remedy, Source, Value, Why};
use crate::host::{Host, MissKind, Tool};
use crate::quote::shell;
use crate::text::json;

#[derive(Default)]
pub struct DriveFacts {
    pub facts: Vec<(KeyInfo, Reading<Value>)>,
    /// Tools that did not answer in time.
    pub late: BTreeSet<Tool>,
}

impl DriveFacts {
    pub fn put<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
        self.facts.push((key.info, reading.map(FactValue::into_value)));
    }
}

/// Asks the tools about one disk.
pub struct Questions<'a> {
    pub host: &'a dyn Host,
    pub node: &'a str,
    pub late: &'a BTreeSet<Tool>,
    /// Why nothing is asked; it is then the answer to every question.
    pub unasked: Option<&'a Reading<Value>>,
}

impl Questions<'_> {
    /// The output of a tool for these arguments before the disk's node, or why there is none.
    pub fn ask(
        &self,
        tool: Tool,
        words: &[&str],
        drive: &mut DriveFacts,
    ) -> Result<ToolOutput, Reading<Value>> {
        if let Some(reading) = self.unasked {
            return Err(reading.clone());
        }
        let arguments: Vec<&str> = words.iter().copied().chain([self.node]).collect();
        let argv = shell::line(&tool.name(), &arguments);
        if self.late.contains(&tool) || drive.late.contains(&tool) {
            let says = format!("{argv}: not asked, because it timed out before");
            return Err(Reading::unknown(Why::TimedOut, says));
        }
        match self.host.run(tool, &arguments) {
            Ok(text) => Ok(ToolOutput { text, argv }),
            Err(miss) => Err(match miss.kind {
                MissKind::Absent => refused(&miss, &argv).or_try(Remedy::Install(tool.package().to_owned())),
                MissKind::TimedOut => {
                    drive.late.insert(tool);
                    refused(&miss, &argv)
                }
                // For root itself, becoming root is no remedy.
                MissKind::Denied => Reading::unknown(Why::Denied, format!("{argv}: {miss}")),
                _ => refused(&miss, &argv),
            }),
        }
    }
}

pub struct ToolOutput {
    pub text: Vec<u8>,
    pub argv: String,
}

impl ToolOutput {
    pub fn source(&self) -> Source {
        Source::Command { argv: self.argv.clone() }
    }

    /// The JSON document in it; null where there is none.
    pub fn json(&self) -> serde_json::Value {
        json::first(&self.text).map(|(first, _)| first).unwrap_or_default()
    }

    /// A known reading of the value, or that the answer lacks `what`.
    pub fn reading<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
        match value {
            Some(value) => Reading::known(value, self.source()),
            None => Reading::unknown(Why::Absent, format!("`{}` does not tell {what}", self.argv)),
        }
    }

    /// The same for what every answer holds: without it the answer is not whole.
    pub fn required<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
        match value {
            Some(value) => Reading::known(value, self.source()),
            None => Reading::unknown(Why::Malformed, format!("`{}` lacks {what}", self.argv)),
        }
    }
}

/// The same refusal for a fact of another type.
pub fn unknown<T>(refusal: &Reading<Value>) -> Reading<T> {
    refusal.clone().and_then(|_| Err("it was refused".to_owned()))
}
