//! The machine's raw answer behind a fact, line by line: fetched when the fact is unfolded.
//!
//! The worker has the answers; this module caches those that were viewed, until a newer report arrives. An answer is
//! not always the whole file: of configuration files and command lines only known keys are kept.

use std::collections::BTreeMap;

use super::job::{Job, JobResult};
use super::page::Block;
use crate::facts::{Reading, Source, catalog};
use crate::report::Report;

/// The answers that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Raw(BTreeMap<(String, String), Vec<String>>);

impl Raw {
    /// The lines that a value was read from, as far as they are known; `source` is what displays as that.
    pub fn lines(&self, source: &str, value: &str) -> &[String] {
        self.0.get(&(source.to_owned(), value.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The job that fetches what the fact of this block was read from, if it has one and that is not known yet.
    pub fn wanted(&self, report: Option<&Report>, block: &Block) -> Option<Job> {
        let (source, value) = origin(report?, block)?;
        let is_known = self.0.contains_key(&(source.to_string(), value.clone()));
        (!is_known).then_some(Job::Raw(source, value))
    }

    /// Takes what a job came to, if it is this.
    pub fn done(&mut self, result: JobResult) -> Option<JobResult> {
        match result {
            JobResult::Raw(source, value, lines) => {
                self.0.insert((source.to_string(), value), lines);
                None
            }
            other => Some(other),
        }
    }
}

/// Where the fact of a block was read, and its value.
fn origin(report: &Report, block: &Block) -> Option<(Source, String)> {
    let (subject, fact) = block.fact.as_ref()?;
    let Reading::Known { value, source } = report.facts.named(subject, fact) else {
        return None;
    };
    let is_answer = matches!(source, Source::File { .. } | Source::Command { .. });
    is_answer.then(|| (source.clone(), catalog::show(fact, value)))
}
