//! The rules of a run: the built-in ones, the user's, less those that were switched off with a reason.
//!
//! What concerns several files is checked here: an id that is used twice, and rules that are named but do not exist.
//! The surprise: a file with mistakes still gives its other rules; whether to go on with them is the caller's choice.

use std::collections::BTreeMap;

use super::builtin;
use super::diagnostic::{Diag, FileDiags, Span, line_of};
use super::load::{self, Loaded, Off};
use super::model::Rule;
use super::suggest::did_you_mean;

/// A rule file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    /// Its name as the user knows it.
    pub name: String,
    /// What it contains.
    pub text: String,
}

/// Rules, in the order of their files.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    off: Vec<Off>,
}

impl RuleSet {
    /// The rules that come with walwise. A test asserts that they have no mistakes.
    pub fn builtin() -> Self {
        Self::parse(&builtin::files()).0
    }

    /// The built-in rules and those of the user's files. The mistakes are those of the user's files.
    pub fn with_user_files(files: &[RuleFile]) -> (Self, Vec<FileDiags>) {
        let mut all = builtin::files();
        all.extend_from_slice(files);
        Self::parse(&all)
    }

    /// For working on rule files: like [`Self::with_user_files`], but a file that is called like a built-in one stands in
    /// its place. Never for a check, where a name must not take rules away.
    pub fn in_place_of_builtin(files: &[RuleFile]) -> (Self, Vec<FileDiags>) {
        let replaced =
            |builtin: &RuleFile| files.iter().any(|f| base_name(&f.name) == base_name(&builtin.name));
        let mut all = builtin::files();
        all.retain(|builtin| !replaced(builtin));
        all.extend_from_slice(files);
        Self::parse(&all)
    }

    /// Reads files; a rule with a mistake is left out.
    pub fn parse(files: &[RuleFile]) -> (Self, Vec<FileDiags>) {
        let mut loaded: Vec<(&RuleFile, Loaded)> =
            files.iter().map(|file| (file, load::load(&file.name, &file.text))).collect();
        let twice = duplicates(&mut loaded);
        let unknown = strangers(&loaded);
        for (index, diag) in twice.into_iter().chain(unknown) {
            if let Some((_, loaded)) = loaded.get_mut(index) {
                loaded.diags.push(diag);
                loaded.diags.sort_by_key(|diag| diag.span.start);
            }
        }
        let mut set = Self::default();
        let mut mistakes = Vec::new();
        for (file, loaded) in loaded {
            set.rules.extend(loaded.rules.into_iter().map(|(rule, _)| rule));
            set.off.extend(loaded.off.into_iter().map(|(off, _)| off));
            if !loaded.diags.is_empty() {
                let (name, text) = (file.name.clone(), file.text.clone());
                mistakes.push(FileDiags { file: name, text, diags: loaded.diags });
            }
        }
        let Self { rules, off } = &mut set;
        rules.retain(|rule| off.iter().all(|off| off.rule != rule.id));
        (set, mistakes)
    }

    /// All rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of this id.
    pub fn find(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// `did you mean …?` for an id that is not there.
    pub fn did_you_mean(&self, id: &str) -> Option<String> {
        did_you_mean(id, self.rules.iter().map(|rule| rule.id.as_str()))
    }

    /// What was switched off, and why.
    pub fn off(&self) -> &[Off] {
        &self.off
    }
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Ids that are used twice; the later rule is left out.
fn duplicates(loaded: &mut [(&RuleFile, Loaded)]) -> Vec<(usize, Diag)> {
    let mut first: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, (file, loaded)) in loaded.iter_mut().enumerate() {
        for (id, span) in &loaded.ids {
            if let Some((_, _, place)) = first.get(id) {
                let help = Some(format!("the other one is {place}"));
                found.push((
                    index,
                    Diag { span: span.clone(), message: format!("a second rule `{id}`"), help },
                ));
            } else {
                let place = format!("{}:{}", file.name, line_of(&file.text, span.start));
                first.insert(id.clone(), (index, span.start, place));
            }
        }
        loaded.rules.retain(|(rule, span)| {
            first.get(&rule.id).is_some_and(|(file, at, _)| (*file, *at) == (index, span.start))
        });
    }
    found
}

/// Rules that are overridden or switched off but do not exist.
fn strangers(loaded: &[(&RuleFile, Loaded)]) -> Vec<(usize, Diag)> {
    let known: Vec<&str> = loaded.iter().flat_map(|(_, l)| &l.ids).map(|(id, _)| id.as_str()).collect();
    let named = |loaded: &Loaded| -> Vec<(String, Span)> {
        let off = loaded.off.iter().map(|(off, span)| (off.rule.clone(), span.clone()));
        loaded.overridden.iter().cloned().chain(off).collect()
    };
    let mut found = Vec::new();
    for (index, (_, loaded)) in loaded.iter().enumerate() {
        for (id, span) in named(loaded).into_iter().filter(|(id, _)| !known.contains(&id.as_str())) {
            let help = did_you_mean(&id, known.iter().copied());
            found.push((index, Diag { span, message: format!("there is no rule `{id}`"), help }));
        }
    }
    found
}
