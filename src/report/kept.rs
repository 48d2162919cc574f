//! A report that somebody kept, JSON or HTML with that inside, in a form for people or for programs.
//!
//! Nothing in it is believed: [`super::difference`] reads its parts, each of which is display-safe or lost alone.

use std::io::{BufReader, Read};

use super::difference::{Kept, Unusable};
use super::inside::ReportReader;
use super::telling::kept::sections;
use super::{html, json, markdown, text};

pub struct KeptReport {
    kept: Kept,
    json: String,
}

impl KeptReport {
    pub fn read(document: impl Read) -> Result<Self, Unusable> {
        let mut bytes = Vec::new();
        ReportReader::new(BufReader::new(document))
            .read_to_end(&mut bytes)
            .map_err(|error| Unusable::Unreadable(crate::text::error_words(&error)))?;
        let kept = Kept::parse(bytes.as_slice())?;
        Ok(Self { kept, json: json::again(&String::from_utf8_lossy(&bytes)) })
    }

    /// The document that `walwise check --format json` wrote; one that comes out of a page has no indentation.
    pub fn json(&self) -> &str {
        &self.json
    }

    pub fn text(&self) -> String {
        text::sections(&sections(&self.kept))
    }

    /// As a Markdown document.
    pub fn markdown(&self) -> String {
        markdown::sections(&self.title(), &sections(&self.kept))
    }

    /// As an HTML document that holds the same data.
    pub fn html(&self) -> String {
        html::sections(&self.title(), &sections(&self.kept), &self.json)
    }

    fn title(&self) -> String {
        format!("A kept report of {}", self.kept.made.host)
    }
}

#[cfg(test)]
mod tests;
