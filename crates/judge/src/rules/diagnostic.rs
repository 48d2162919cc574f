//! Mistakes in rule files and their display: file, line, a mark below the place, and a suggested
//! correction.
//!
//! Positions are byte offsets in the file; a position after the end is moved to the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::text::line_index::{LineIndex, line_number_at};
use crate::text::suggest::nearest_word_or_list_hint;
use walwise_model::text::JoinText;

pub type Span = Range<usize>;

/// A place in a rule file where a mistake can be reported.
pub trait Place {
    fn span(&self) -> Span;
    fn problems(&self) -> &DiagnosticCollector;

    /// Line number, counted from one.
    fn line(&self) -> usize {
        self.problems().line_of_offset(self.span().start)
    }

    fn report_mistake(&self, message: impl Into<String>, help: impl Into<String>) {
        let mistake = Diagnostic::new_mistake(self.span(), message, Some(help.into()));
        self.problems().diags.borrow_mut().push(mistake);
    }

    fn report_unknown_word<'w>(
        &self,
        message: impl Into<String>,
        word: &str,
        known: impl IntoIterator<Item = &'w str>,
    ) {
        let help = nearest_word_or_list_hint(word, known);
        let mistake = Diagnostic::new_mistake(self.span(), message, help);
        self.problems().diags.borrow_mut().push(mistake);
    }

    fn report_note(&self, message: impl Into<String>, help: impl Into<String>) {
        let note = Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::new_mistake(self.span(), message, Some(help.into()))
        };
        self.problems().notes.borrow_mut().push(note);
    }

    /// Reports a missing entry, unless a syntax error may have hidden the entry.
    fn report_missing_entry(&self, message: impl Into<String>, help: impl Into<String>) {
        if !self.problems().has_syntax_errors() {
            self.report_mistake(message, help);
        }
    }
}

pub type PlaceInFile<'a> = (Span, &'a DiagnosticCollector);

impl Place for PlaceInFile<'_> {
    fn span(&self) -> Span {
        self.0.clone()
    }

    fn problems(&self) -> &DiagnosticCollector {
        self.1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The entry with the mistake is ignored.
    Mistake,
    /// The marked part has no effect; the rest of its entry is in force.
    Remark,
    /// The marked part is in force, but may have consequences that the author overlooked.
    Note,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
    /// A place in another file that the mistake concerns as well.
    pub other_place: Option<SourceLocation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: String,
    /// Line number, counted from one.
    pub line: usize,
}

impl Diagnostic {
    pub fn new_mistake(
        span: Span,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Self {
        Self {
            severity: Severity::Mistake,
            span,
            message: message.into(),
            help: help.into(),
            other_place: None,
        }
    }

    pub fn new_remark(
        span: Span,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Self {
        Self {
            severity: Severity::Remark,
            ..Self::new_mistake(span, message, help)
        }
    }
}

#[derive(Clone, Debug)]
pub struct FileDiagnostics {
    /// Display-safe path of a user's file, or name of a built-in file.
    pub file: String,
    pub text: String,
    pub diags: Vec<Diagnostic>,
}

impl FileDiagnostics {
    pub fn mistakes(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diags
            .iter()
            .filter(|diag| diag.severity == Severity::Mistake)
    }

    pub fn remarks(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diags
            .iter()
            .filter(|diag| diag.severity == Severity::Remark)
    }

    pub fn one_line_text(&self, diag: &Diagnostic) -> String {
        let help = diag
            .help
            .as_ref()
            .map(|help| format!("; {help}"))
            .unwrap_or_default();
        format!(
            "{}:{}: {}{help}",
            self.file,
            self.line_of_diagnostic(diag),
            diag.message
        )
    }

    pub fn line_of_diagnostic(&self, diag: &Diagnostic) -> usize {
        line_number_at(&self.text, diag.span.start)
    }

    pub fn render(&self, coloured: bool) -> String {
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let shown = self
            .diags
            .iter()
            .map(|diag| self.render_diagnostic(&renderer, diag));
        shown.join_with("\n\n") + "\n"
    }

    fn render_diagnostic(&self, renderer: &Renderer, diag: &Diagnostic) -> String {
        let spot = AnnotationKind::Primary.span(self.clamp_span(&diag.span));
        let snippet = Snippet::source(self.text.as_str())
            .path(self.file.as_str())
            .annotation(spot);
        let level = match diag.severity {
            Severity::Mistake => Level::ERROR,
            Severity::Remark | Severity::Note => Level::WARNING,
        };
        let group: Group<'_> = level.primary_title(diag.message.as_str()).element(snippet);
        let group = match &diag.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        };
        renderer.render(&[group])
    }

    fn clamp_span(&self, span: &Span) -> Span {
        let fit = |at: usize| {
            let mut before = (0..=at.min(self.text.len())).rev();
            before
                .find(|at| self.text.is_char_boundary(*at))
                .unwrap_or(0)
        };
        fit(span.start)..fit(span.end).max(fit(span.start))
    }
}

pub const MAX_LISTED: usize = 1000;

/// Cuts the list to `MAX_LISTED`, and adds a last entry if mistakes were cut off.
pub fn limit_diagnostics(mut diags: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let rest = diags.split_off(MAX_LISTED.min(diags.len()));
    if let Some(first) = rest
        .into_iter()
        .find(|diag| diag.severity == Severity::Mistake)
    {
        let message = format!("more than {MAX_LISTED} errors; the rest are not listed");
        diags.push(Diagnostic::new_mistake(
            first.span,
            message,
            "fix the errors above first".to_owned(),
        ));
    }
    diags
}

#[derive(Debug)]
pub struct DiagnosticCollector {
    lines: LineIndex,
    lines_before: usize,
    diags: RefCell<Vec<Diagnostic>>,
    notes: RefCell<Vec<Diagnostic>>,
    broken: RefCell<BTreeMap<usize, Diagnostic>>,
}

impl DiagnosticCollector {
    /// `lines_before` are the lines of the file before `source`.
    pub fn new(source: &str, lines_before: usize) -> Self {
        Self {
            lines: LineIndex::new(source),
            lines_before,
            diags: RefCell::default(),
            notes: RefCell::default(),
            broken: RefCell::default(),
        }
    }

    /// Line number in the file, counted from one.
    pub fn line_of_offset(&self, at: usize) -> usize {
        self.lines_before + self.lines.line_number(at)
    }

    /// Reports a syntax error, but only the first one of a line: the others usually follow from it.
    pub fn report_syntax_error(&self, span: Span, message: &str) {
        let line = self.lines.line_number(span.start);
        let help = "write strings in quotes, lists in [ ], inline tables in { }, and each key once per table";
        self.broken
            .borrow_mut()
            .entry(line)
            .or_insert(Diagnostic::new_mistake(span, message, help.to_owned()));
    }

    pub fn into_diags(self) -> Vec<Diagnostic> {
        let (mut diags, broken) = (self.diags.into_inner(), self.broken.into_inner());
        diags.extend(self.notes.into_inner());
        diags.retain(|diag| !broken.contains_key(&self.lines.line_number(diag.span.start)));
        diags.extend(broken.into_values());
        diags.sort_by_key(|diag| (diag.span.start, diag.span.end));
        diags
    }

    /// The number of mistakes found so far, without syntax errors and notes.
    pub fn mistake_count(&self) -> usize {
        self.diags.borrow().len()
    }

    /// At the limit, callers skip the slow search for similar names.
    pub fn is_mistake_limit_reached(&self) -> bool {
        self.mistake_count() >= MAX_LISTED
    }

    pub fn has_syntax_errors(&self) -> bool {
        !self.broken.borrow().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_beyond_the_limit_are_cut_off() {
        let diags = |count| {
            (0..count)
                .map(|at| Diagnostic::new_mistake(at..at, "wrong", None))
                .collect::<Vec<_>>()
        };
        assert_eq!(limit_diagnostics(diags(MAX_LISTED)).len(), MAX_LISTED);
        let few = limit_diagnostics(diags(MAX_LISTED * 50));
        assert_eq!(few.len(), MAX_LISTED + 1);
        assert!(
            few.last()
                .unwrap()
                .message
                .starts_with("more than 1000 errors")
        );
    }
}
