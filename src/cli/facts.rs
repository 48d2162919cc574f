//! `walwise facts`: the facts that were read, and their sources.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::CliError;
use super::args::{Facts, PlainFormat};
use super::host;
use super::out::{ExitResult, print};
use crate::facts::{FactRow, FactSet, Reading, Value, catalog};
use crate::host::path_bytes;
use crate::report::json;
use crate::rules::RuleSet;
use crate::text;

/// Prints the catalogue, or the known facts.
pub(super) fn run(args: &Facts) -> ExitResult {
    let (paths, keys): (Vec<String>, Vec<String>) = args.keys.iter().cloned().partition(|word| is_path(word));
    let mut targets = args.target.iter().cloned().chain(paths.into_iter().map(PathBuf::from));
    let (target, others) = (targets.next(), targets.next());
    if let (Some(target), Some(other)) = (&target, &others) {
        let [target, other] = [target, other].map(|path| text::safe(path_bytes(path)));
        return Err(CliError::Usage(format!("one directory or device at a time: {target} or {other}")));
    }
    if let Some(key) = keys.iter().find(|key| !catalog::all().any(|info| info.name.starts_with(key.as_str())))
    {
        let key = text::safe(key.as_bytes());
        return Err(CliError::Usage(format!("there is no fact `{key}`; `walwise facts --list` names all")));
    }
    if args.list {
        return print(&catalogue(args, &keys));
    }
    let session = host::look_assuming(&args.from, target.as_deref(), RuleSet::default(), &args.assume)?;
    let (facts, _) = session.into_judged();
    match args.format {
        PlainFormat::Text => print(&listing(&facts, &keys)),
        PlainFormat::Json => print(&json::pretty(&rows(&facts, &keys))),
    }
}

/// Whether a word is a path and no fact: the name of a fact has no slash.
fn is_path(word: &str) -> bool {
    word.contains('/') || [".", ".."].contains(&word)
}

fn wanted(name: &str, keys: &[String]) -> bool {
    keys.is_empty() || keys.iter().any(|key| name == key || name.starts_with(key.as_str()))
}

fn rows<'f>(facts: &'f FactSet, keys: &[String]) -> Vec<FactRow<'f>> {
    facts.rows().filter(|row| wanted(row.fact, keys)).collect()
}

fn listing(facts: &FactSet, keys: &[String]) -> String {
    let mut out = String::new();
    let mut last = None;
    for FactRow { subject, fact, reading } in rows(facts, keys) {
        if last != Some(subject) {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{subject}");
            last = Some(subject);
        }
        let _ = writeln!(out, "  {fact:<28} {}", reading_text(fact, reading));
    }
    if keys.is_empty() && !facts.warnings().is_empty() {
        let _ = writeln!(out, "\nwarnings");
        for warning in facts.warnings() {
            let _ = writeln!(out, "  {warning}");
        }
    }
    out
}

fn reading_text(fact: &str, reading: &Reading<Value>) -> String {
    match reading {
        Reading::Known { value, source } => {
            let shown = catalog::show(fact, value);
            format!("{shown:<32} {source}")
        }
        Reading::Unknown { why, detail, remedy } => {
            let help = remedy.as_ref().map(|r| format!(" → {r}")).unwrap_or_default();
            format!("unknown, {why}: {detail}{help}")
        }
    }
}

fn catalogue(args: &Facts, keys: &[String]) -> String {
    let infos = catalog::all().filter(|info| wanted(info.name, keys));
    if args.format == PlainFormat::Json {
        let list: Vec<_> = infos
            .map(|i| {
                json!({"fact": i.name, "label": i.label(), "group": i.group.word(), "scope": i.scope.word(),
                "kind": i.kind.words(), "doc": i.doc.trim(),
                "to_be_assumed": i.supposing.words()})
            })
            .collect();
        return json::pretty(&list);
    }
    let mut out = String::new();
    for info in infos {
        let _ =
            writeln!(out, "{} ({}; {})\n    {}", info.name, info.scope, info.kind.words(), info.doc.trim());
        if let Some(words) = info.supposing.words() {
            let _ = writeln!(out, "    To be assumed: {words}.");
        }
    }
    out
}
