//! `walwise facts`: the collected facts with their sources, or the catalogue of all facts.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::CliError;
use super::args::{FactsArgs, TextOrJsonFormat};
use super::host;
use super::out::{ExitResult, print_document, print_json};
use crate::facts::{FactRow, FactSet, Reading, Subject, Value, catalog};
use crate::report::json;
use crate::rules::RuleSet;
use crate::text::display_path;
use crate::{parallel, text};

pub(super) fn run(args: &FactsArgs) -> ExitResult {
    let (paths, keys): (Vec<String>, Vec<String>) =
        (args.keys.iter().cloned()).partition(|word| is_path_argument(word));
    let paths = paths.iter().map(Path::new);
    let mut targets = args.target.as_deref().into_iter().chain(paths);
    let target = targets.next();
    if let (Some(target), Some(other)) = (target, targets.next()) {
        let [target, other] = [target, other].map(display_path);
        return Err(CliError::Usage(format!(
            "specify one directory or device, not both {target} and {other}"
        )));
    }
    if let Some(key) = keys
        .iter()
        .find(|key| !catalog::all_keys().any(|info| info.name.starts_with(key.as_str())))
    {
        let key = text::display_safe(key.as_bytes());
        return Err(CliError::Usage(format!(
            "no fact `{key}`; `walwise facts --list` lists all"
        )));
    }
    if args.list {
        return print_document(&fact_catalogue_text(args, &keys));
    }
    let session =
        host::open_session_with_assumptions(&args.from, target, RuleSet::default(), &args.assume)?;
    let (facts, _) = session.into_derived_facts_and_verdicts();
    // Leaked on purpose: freeing the facts of thousands of devices takes a tenth of the run time.
    let facts: &'static FactSet = Box::leak(Box::new(facts));
    match args.format {
        TextOrJsonFormat::Text => {
            for piece in fact_listing_texts(facts, &keys) {
                print_document(&piece)?;
            }
            Ok(0)
        }
        TextOrJsonFormat::Json => print_json(&matching_rows(facts, &keys)),
    }
}

/// Names of facts never contain a slash.
fn is_path_argument(word: &str) -> bool {
    word.contains('/') || [".", ".."].contains(&word)
}

fn matches_key_or_prefix(name: &str, keys: &[String]) -> bool {
    keys.is_empty() || keys.iter().any(|key| name.starts_with(key.as_str()))
}

fn matching_rows<'f>(facts: &'f FactSet, keys: &[String]) -> Vec<FactRow<'f>> {
    facts
        .rows()
        .filter(|row| matches_key_or_prefix(row.fact, keys))
        .collect()
}

fn fact_listing_texts(facts: &FactSet, keys: &[String]) -> Vec<String> {
    let subjects: Vec<&Subject> = facts.all_subjects().collect();
    let mut pieces = parallel::map_chunks(&subjects, |subjects| {
        let mut out = String::new();
        for subject in subjects {
            push_subject_facts(&mut out, facts, subject, keys);
        }
        out
    });
    if keys.is_empty() && !facts.notes().is_empty() {
        let lines = facts.notes().iter().map(|warning| format!("  {warning}\n"));
        pieces.push(format!("warnings\n{}\n", lines.collect::<String>()));
    }
    // An empty line separates subjects, so the last line, which is empty, is removed.
    if let Some(last) = pieces.iter_mut().rfind(|piece| !piece.is_empty()) {
        last.pop();
    }
    pieces
}

fn push_subject_facts(out: &mut String, facts: &FactSet, subject: &Subject, keys: &[String]) {
    let mut rows = facts
        .rows_of(subject)
        .filter(|row| matches_key_or_prefix(row.fact, keys))
        .peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "{subject}");
    for FactRow { fact, reading, .. } in rows {
        out.push_str("  ");
        push_padded_cell(out, fact, 28);
        push_reading(out, fact, reading);
        out.push('\n');
    }
    out.push('\n');
}

fn push_reading(out: &mut String, fact: &str, reading: &Reading<Value>) {
    match catalog::value_and_source_or_unknown_reason(fact, reading) {
        Ok((value, source)) => {
            push_padded_cell(out, &value, 32);
            out.push_str(&source);
        }
        Err((why, remedy)) => {
            let remedy = remedy.map(|remedy| format!(" → {remedy}"));
            let _ = write!(out, "unknown, {why}{}", remedy.unwrap_or_default());
        }
    }
}

/// `format!` padding is too slow for half a million cells.
fn push_padded_cell(out: &mut String, cell: &str, width: usize) {
    const BLANKS: &str = "                                ";
    out.push_str(cell);
    out.push_str(
        BLANKS
            .get(..width.saturating_sub(cell.chars().count()))
            .unwrap_or(BLANKS),
    );
    out.push(' ');
}

fn fact_catalogue_text(args: &FactsArgs, keys: &[String]) -> String {
    let infos = catalog::all_keys().filter(|info| matches_key_or_prefix(info.name, keys));
    if args.format == TextOrJsonFormat::Json {
        let list: Vec<_> = infos
            .map(|i| {
                json!({"fact": i.name, "label": i.display_label(), "group": i.group.as_str(), "scope": i.scope.as_str(),
                "kind": i.kind.value_kind_description(), "doc": i.doc.trim()})
            })
            .collect();
        return json::to_pretty_json(&list);
    }
    let mut out = String::new();
    for info in infos {
        let _ = writeln!(
            out,
            "{} ({}; {})\n    {}",
            info.name,
            info.scope,
            info.kind.value_kind_description(),
            info.doc.trim()
        );
    }
    out
}
