//! Mistakes in rule files and their display: the file, the line, a mark below the place, and the
//! probable intention. Remarks about parts without effect are shown the same way.
//!
//! This module knows nothing of rules. Positions are bytes of the file as it was read; a position
//! beyond the end is moved to the end rather than refused.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::text::lines::{Lines, line_of};
use crate::text::suggest::or_list;

/// A place in a file, in bytes.
pub type Span = Range<usize>;

/// What stands at a place.
pub trait Spot {
    fn spot(&self) -> Span;
}

impl Spot for Span {
    fn spot(&self) -> Span {
        self.clone()
    }
}

impl<T> Spot for toml::Spanned<T> {
    fn spot(&self) -> Span {
        self.span()
    }
}

impl<P: Spot> Spot for &P {
    fn spot(&self) -> Span {
        P::spot(self)
    }
}

/// How much is lost because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The entry that contains it is ignored.
    Mistake,
    /// It has no effect; nothing else is lost.
    Remark,
    /// It is in force; the author should know its consequences.
    Note,
}

/// A mistake in a file, or a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    pub weight: Weight,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// The other place that it refers to, where that is in another file.
    pub beside: Option<SourceLocation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file's name as the user knows it.
    pub file: String,
    /// Counted from one.
    pub line: usize,
}

impl Diag {
    pub fn mistake(
        span: Span,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Self {
        Self {
            weight: Weight::Mistake,
            span,
            message: message.into(),
            help: help.into(),
            beside: None,
        }
    }

    pub fn remark(span: Span, message: impl Into<String>, help: impl Into<Option<String>>) -> Self {
        Self {
            weight: Weight::Remark,
            ..Self::mistake(span, message, help)
        }
    }

    pub fn note(span: Span, message: impl Into<String>, help: impl Into<Option<String>>) -> Self {
        Self {
            weight: Weight::Note,
            ..Self::mistake(span, message, help)
        }
    }
}

/// The mistakes and remarks of one file.
#[derive(Clone, Debug)]
pub struct FileDiags {
    /// The file's name as the user knows it.
    pub file: String,
    pub text: String,
    /// Its mistakes and remarks, in order.
    pub diags: Vec<Diag>,
}

impl FileDiags {
    /// The mistakes, without the remarks.
    pub fn mistakes(&self) -> impl Iterator<Item = &Diag> {
        self.diags
            .iter()
            .filter(|diag| diag.weight == Weight::Mistake)
    }

    pub fn remarks(&self) -> impl Iterator<Item = &Diag> {
        self.diags
            .iter()
            .filter(|diag| diag.weight == Weight::Remark)
    }

    /// A mistake or remark in a line: `FILE:12: no effect: …`.
    pub fn sentence(&self, diag: &Diag) -> String {
        let help = diag
            .help
            .as_ref()
            .map(|help| format!("; {help}"))
            .unwrap_or_default();
        format!("{}:{}: {}{help}", self.file, self.line(diag), diag.message)
    }

    /// The line of a mistake or remark, counted from one.
    pub fn line(&self, diag: &Diag) -> usize {
        line_of(&self.text, diag.span.start)
    }

    /// All of them as text, with or without colours.
    pub fn render(&self, coloured: bool) -> String {
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let shown = self.diags.iter().map(|diag| self.show(&renderer, diag));
        shown.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    fn show(&self, renderer: &Renderer, diag: &Diag) -> String {
        let spot = AnnotationKind::Primary.span(self.within(&diag.span));
        let snippet = Snippet::source(self.text.as_str())
            .path(self.file.as_str())
            .annotation(spot);
        let level = match diag.weight {
            Weight::Mistake => Level::ERROR,
            Weight::Remark | Weight::Note => Level::WARNING,
        };
        let group: Group<'_> = level.primary_title(diag.message.as_str()).element(snippet);
        let group = match &diag.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        };
        renderer.render(&[group])
    }

    fn within(&self, span: &Span) -> Span {
        let fit = |at: usize| {
            let mut before = (0..=at.min(self.text.len())).rev();
            before
                .find(|at| self.text.is_char_boundary(*at))
                .unwrap_or(0)
        };
        fit(span.start)..fit(span.end).max(fit(span.start))
    }
}

/// The largest number of mistakes that are listed per file.
pub const TOLD: usize = 1000;

/// As many mistakes and remarks as people read, in order; the rest is counted.
pub fn few(mut diags: Vec<Diag>) -> Vec<Diag> {
    let rest = diags.split_off(TOLD.min(diags.len()));
    if let Some(first) = rest.into_iter().find(|diag| diag.weight == Weight::Mistake) {
        let message = format!("more than {TOLD} mistakes; from here on they are not told");
        diags.push(Diag::mistake(
            first.span,
            message,
            "correct those before it first".to_owned(),
        ));
    }
    diags
}

/// Collects the mistakes of a file.
#[derive(Debug)]
pub struct Diagnostics {
    lines: Lines,
    diags: Vec<Diag>,
    /// Notes, which are listed beside the mistakes.
    notes: Vec<Diag>,
    /// Broken syntax, by line.
    broken: BTreeMap<usize, Diag>,
}

impl Diagnostics {
    /// A collector without mistakes for this file.
    pub fn new(source: &str) -> Self {
        let lines = Lines::new(source);
        Self {
            lines,
            diags: Vec::new(),
            notes: Vec::new(),
            broken: BTreeMap::new(),
        }
    }

    /// The line of a position, counted from one.
    pub fn line(&self, at: usize) -> usize {
        self.lines.line(at)
    }

    /// A mistake of syntax. Only the first of a line is kept; the others usually follow from it.
    pub fn broken_syntax(&mut self, span: Span, message: &str) {
        let line = self.line(span.start);
        let help = "texts stand in quotes, lists in [ ], tables of one line in { }, and a table has each key once";
        self.broken
            .entry(line)
            .or_insert(Diag::mistake(span, message, help.to_owned()));
    }

    pub fn report(&mut self, at: impl Spot, message: impl Into<String>, help: impl Into<String>) {
        self.diags
            .push(Diag::mistake(at.spot(), message, Some(help.into())));
    }

    /// A word that is none of these.
    pub fn unknown<'w>(
        &mut self,
        at: impl Spot,
        message: impl Into<String>,
        word: &str,
        known: impl IntoIterator<Item = &'w str>,
    ) {
        self.diags
            .push(Diag::mistake(at.spot(), message, or_list(word, known)));
    }

    /// A note to the author; no mistake.
    pub fn note(&mut self, at: impl Spot, message: impl Into<String>, help: impl Into<String>) {
        self.notes
            .push(Diag::note(at.spot(), message, Some(help.into())));
    }

    /// A missing entry. Not reported when it may only have been lost with broken syntax.
    pub fn missing(&mut self, at: impl Spot, message: impl Into<String>, help: impl Into<String>) {
        if self.broken.is_empty() {
            self.report(at, message, help);
        }
    }

    /// The mistakes in the order of the file.
    pub fn into_diags(mut self) -> Vec<Diag> {
        let mut diags = std::mem::take(&mut self.diags);
        diags.append(&mut self.notes);
        diags.retain(|diag| !self.broken.contains_key(&self.line(diag.span.start)));
        self.diags = diags;
        self.diags.extend(self.broken.into_values());
        self.diags
            .sort_by_key(|diag| (diag.span.start, diag.span.end));
        self.diags
    }

    /// The number of mistakes so far.
    pub fn count(&self) -> usize {
        self.diags.len()
    }

    /// Whether the limit of listed mistakes is reached, so that no further help is needed.
    pub fn is_full(&self) -> bool {
        self.diags.len() >= TOLD
    }

    /// Whether the syntax is broken anywhere.
    pub fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_many_mistakes_is_counted_and_not_told() {
        let diags = |count| {
            (0..count)
                .map(|at| Diag::mistake(at..at, "wrong", None))
                .collect::<Vec<_>>()
        };
        assert_eq!(few(diags(TOLD)).len(), TOLD);
        let few = few(diags(TOLD * 50));
        assert_eq!(few.len(), TOLD + 1);
        assert!(
            few.last()
                .unwrap()
                .message
                .starts_with("more than 1000 mistakes")
        );
    }
}
