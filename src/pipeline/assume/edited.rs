//! Edits by the source of a fact, of lines and of JSON, and whether a source was edited.

use serde_json::Value as Json;

use crate::facts::Source;
use crate::host::{Edit, EditedAnswers, Miss, MissKind};
use crate::pipeline::raw::is_of;
use crate::text::json;

/// Changes the answer that a source names.
pub fn at(source: &Source, change: impl Fn(&str) -> String + Send + Sync + 'static) -> Edit {
    let source = source.clone();
    Edit::new(move |question| is_of(question, &source), move |text| Ok(change(text)))
}

/// Takes an answer away.
pub fn gone(path: &'static str, why: &'static str) -> Edit {
    let source = Source::file(path);
    Edit::new(move |question| is_of(question, &source), move |_| Err(Miss::new(MissKind::NotCollected, why)))
}

/// Whether a value was read from what was edited of these answers.
pub fn is_edited(edited: &EditedAnswers, source: &Source) -> bool {
    let line = if let Source::File { line, .. } = source { *line } else { None };
    edited.iter().any(|(question, lines)| {
        is_of(question, source) && line.is_none_or(|line| lines.is_empty() || lines.contains(&line))
    })
}

/// The text with some lines replaced.
pub fn replaced(text: &str, new: impl Fn(u32, &str) -> Option<String>) -> String {
    let lines = (1..).zip(text.split('\n'));
    let lines = lines.map(|(number, line)| new(number, line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Changes what stands at some paths of the JSON document in a text; the elements of a list have its path.
pub fn at_paths(text: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) -> String {
    fn walk(value: &mut Json, path: &str, new: &dyn Fn(&str, &Json) -> Option<Json>) {
        match value {
            Json::Object(fields) => {
                for (key, value) in fields {
                    walk(value, &format!("{path}/{key}"), new);
                }
            }
            Json::Array(all) => all.iter_mut().for_each(|value| walk(value, path, new)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                if let Some(new) = new(path, value) {
                    *value = new;
                }
            }
        }
    }
    let Some((mut document, _)) = json::first(text.as_bytes()) else { return text.to_owned() };
    walk(&mut document, "", new);
    document.to_string()
}
