//! The rules of a run: built-in and users' rules, without disabled ones, some with another level.
//!
//! Checks across files: duplicate ids and references to rules that do not exist. A file with
//! mistakes still contributes its other rules.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::civil::Date;

use super::builtin;
use super::diagnostic::{Diagnostic, FileDiagnostics, SourceLocation, Span};
use super::file::{RuleFile, UserFile};
use super::load::{self, LoadOptions, LoadedFile};
use super::model::{Author, Rule, RuleExamples};
use super::overrides::{ADJUSTABLE_LEVELS, DisabledRule, ExpiredStatement, LevelOverride};
use super::suggest::did_you_mean;
use crate::escape::Command;
use crate::text::{lines, names_and_count};

/// Rules in the order of their files.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    off: Vec<DisabledRule>,
    overrides: Vec<LevelOverride>,
    expired: Vec<ExpiredStatement>,
    user_files: Vec<UserFile>,
    not_in_force: Vec<String>,
    remarks: Vec<String>,
}

struct ParsedFile<'a> {
    file: &'a RuleFile,
    author: Author,
    loaded: LoadedFile,
}

impl<'a> ParsedFile<'a> {
    fn parse(file: &'a RuleFile, terms: LoadOptions) -> Self {
        Self {
            file,
            author: terms.author,
            loaded: load::load(&file.name, &file.text, terms),
        }
    }
}

impl RuleSet {
    /// The built-in rules with their examples, parsed once. A test asserts that they have no mistakes.
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<RuleSet>> =
            LazyLock::new(|| Arc::new(RuleSet::parse(&builtin::builtin_files()).0));
        Arc::clone(&BUILTIN)
    }

    /// Built-in rules and users' rules, with the mistakes of users' files. `today` decides which
    /// statements have expired.
    pub fn with_user_files(
        files: &[RuleFile],
        examples: RuleExamples,
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        Self::from_files((&builtin::builtin_files(), examples), files, today)
    }

    /// For work on walwise's own rules: source files replace built-in ones of the same name. Never
    /// for a check, where a file name must not remove rules.
    pub fn replacing_builtin(
        ours: &[RuleFile],
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        let same = |a: &RuleFile, b: &RuleFile| base_name(&a.name) == base_name(&b.name);
        let mut all = builtin::builtin_files();
        all.retain(|builtin| !ours.iter().any(|file| same(file, builtin)));
        all.extend_from_slice(ours);
        Self::from_files((&all, RuleExamples::Read), users, today)
    }

    /// Reads files as if they came with walwise; nothing expires, and a rule with a mistake is left
    /// out.
    pub fn parse(files: &[RuleFile]) -> (Self, Vec<FileDiagnostics>) {
        Self::from_files((files, RuleExamples::Read), &[], Date::MIN)
    }

    /// Reads built-in files, or their replacements, and users' files.
    pub(super) fn from_files(
        (ours, examples): (&[RuleFile], RuleExamples),
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        let mut parts: Vec<ParsedFile<'_>> = ours
            .iter()
            .map(|file| ParsedFile::parse(file, LoadOptions::builtin(examples)))
            .collect();
        parts.extend(
            users
                .iter()
                .map(|file| ParsedFile::parse(file, LoadOptions::USER)),
        );
        let mut found = duplicates(&mut parts);
        found.extend(empty_files(&parts));
        found.extend(unknown_rules(&parts));
        let mut set = Self {
            user_files: users.iter().map(UserFile::from_file).collect(),
            ..Self::default()
        };
        set.rules = parts
            .iter_mut()
            .flat_map(|part| part.loaded.rules.drain(..))
            .map(|(rule, _)| rule)
            .collect();
        set.drop_expired(&mut parts, today);
        found.extend(set.apply_disabled(&parts));
        found.extend(set.apply_overrides(&parts));
        for (index, diag) in found {
            if let Some(part) = parts.get_mut(index) {
                part.loaded.diags.push(diag);
            }
        }
        let mistakes = parts
            .into_iter()
            .filter(|part| !part.loaded.diags.is_empty())
            .map(|part| {
                let ParsedFile {
                    file, mut loaded, ..
                } = part;
                loaded
                    .diags
                    .sort_by_key(|diag| (diag.span.start, diag.span.end));
                FileDiagnostics {
                    file: file.name.clone(),
                    text: file.text.clone(),
                    diags: loaded.diags,
                }
            });
        let mistakes: Vec<FileDiagnostics> = mistakes.collect();
        for file in &mistakes {
            set.not_in_force.extend(mistakes_sentence(file));
            set.remarks
                .extend(file.remarks().map(|remark| file.sentence(remark)));
        }
        (set, mistakes)
    }

    /// Adds notes about users' files: unreadable ones, and remarks.
    #[must_use]
    pub fn with_notes(mut self, not_in_force: Vec<String>, remarks: Vec<String>) -> Self {
        self.not_in_force.extend(not_in_force);
        self.remarks.extend(remarks);
        self
    }

    /// Removes statements whose last day has passed.
    fn drop_expired(&mut self, parts: &mut [ParsedFile<'_>], today: Date) {
        let mut holds = |expired: Option<ExpiredStatement>| {
            let holds = expired.is_none();
            self.expired.extend(expired);
            holds
        };
        for LoadedFile {
            off,
            overrides: levels,
            ..
        } in parts.iter_mut().map(|part| &mut part.loaded)
        {
            off.retain(|(off, _)| holds(ExpiredStatement::from_off(off, today)));
            levels.retain(|(given, _)| holds(ExpiredStatement::from_override(given, today)));
        }
    }

    /// Removes disabled rules.
    fn apply_disabled(&mut self, parts: &[ParsedFile<'_>]) -> Vec<(usize, Diagnostic)> {
        let mut found = Vec::new();
        for (index, off, span) in statements(parts, |loaded| &loaded.off) {
            match self.off.iter().find(|other| other.rule == off.rule) {
                Some(other) => {
                    let message = format!(
                        "`{}` is off already, by {}:{}",
                        off.rule, other.file, other.line
                    );
                    let help = "one of the two is enough".to_owned();
                    found.push((index, Diagnostic::remark(span.clone(), message, help)));
                }
                None => match self.find(&off.rule).map(|rule| rule.caps) {
                    Some(Some(_)) => {
                        let message = format!("`{}` caps verdicts and stays on", off.rule);
                        let help = "no file can improve a verdict".to_owned();
                        found.push((index, Diagnostic::mistake(span.clone(), message, help)));
                    }
                    Some(None) => self.off.push(off.clone()),
                    None => {}
                },
            }
        }
        let Self { rules, off, .. } = self;
        rules.retain(|rule| off.iter().all(|off| off.rule != rule.id));
        found
    }

    /// Applies changed levels. Optional rules are excluded: advice that can lose data stays there.
    fn apply_overrides(&mut self, parts: &[ParsedFile<'_>]) -> Vec<(usize, Diagnostic)> {
        let mut found = Vec::new();
        for (index, given, span) in statements(parts, |loaded| &loaded.overrides) {
            let mut mistake = |message: String, help: Option<String>| {
                found.push((index, Diagnostic::mistake(span.clone(), message, help)));
            };
            if let Some(other) = self.overrides.iter().find(|other| other.rule == given.rule) {
                let place = format!("the other one is {}:{}", other.file, other.line);
                mistake(
                    format!("a second level for `{}`", given.rule),
                    Some(format!("{place}; keep one of them")),
                );
                if other.file != given.file
                    && let Some((_, diag)) = found.last_mut()
                {
                    diag.other_place = Some(SourceLocation {
                        file: other.file.clone(),
                        line: other.line,
                    });
                }
                continue;
            }
            let off = self.off.iter().find(|off| off.rule == given.rule);
            let Some(rule) = self.rules.iter_mut().find(|rule| rule.id == given.rule) else {
                if let Some(off) = off {
                    let message = format!(
                        "no effect: `{}` is off, by {}:{}",
                        off.rule, off.file, off.line
                    );
                    let help = "remove one of the two".to_owned();
                    found.push((index, Diagnostic::remark(span.clone(), message, help)));
                }
                continue;
            };
            if !ADJUSTABLE_LEVELS.contains(&rule.level) {
                let help = "to switch it off, use [[off]]".to_owned();
                mistake(
                    format!(
                        "`{}` is `{}`, which cannot be changed",
                        rule.id,
                        rule.level.as_str()
                    ),
                    Some(help),
                );
            } else if rule.level == given.level {
                let message = format!(
                    "no effect: `{}` is `{}` already",
                    rule.id,
                    rule.level.as_str()
                );
                let help = "remove it, or give another level".to_owned();
                found.push((index, Diagnostic::remark(span.clone(), message, help)));
            } else {
                self.overrides.push(LevelOverride {
                    was: rule.level,
                    ..given.clone()
                });
                rule.level = given.level;
            }
        }
        found
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn find(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// `did you mean …?` for an unknown id.
    pub fn did_you_mean(&self, id: &str) -> Option<String> {
        did_you_mean(id, self.rules.iter().map(|rule| rule.id.as_str()))
    }

    pub fn off(&self) -> &[DisabledRule] {
        &self.off
    }

    pub fn overrides(&self) -> &[LevelOverride] {
        &self.overrides
    }

    pub fn expired(&self) -> &[ExpiredStatement] {
        &self.expired
    }

    /// Parts of users' files that should be in force and are not, a sentence each.
    pub fn not_in_force(&self) -> &[String] {
        &self.not_in_force
    }

    /// Parts of users' files without effect, a sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub fn user_files(&self) -> &[UserFile] {
        &self.user_files
    }
}

const MAX_LISTED_LINES: usize = 10;

/// A sentence for the entries left out of a file because of mistakes.
fn mistakes_sentence(file: &FileDiagnostics) -> Option<String> {
    let mut lines: Vec<usize> = file.mistakes().map(|diag| file.line(diag)).collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let named = names_and_count(&named, MAX_LISTED_LINES);
    let (count, name) = (file.mistakes().count(), &file.file);
    let mistakes = if count == 1 {
        "a mistake".to_owned()
    } else {
        format!("{count} mistakes")
    };
    let lines = if lines.len() == 1 { "line" } else { "lines" };
    // A mistake between two files shows only if both are read.
    let mut beside: Vec<&SourceLocation> = Vec::new();
    for place in file.mistakes().filter_map(|diag| diag.other_place.as_ref()) {
        if beside.iter().all(|other| other.file != place.file) {
            beside.push(place);
        }
    }
    let together: Vec<String> = beside
        .iter()
        .map(|place| format!("{}:{}", place.file, place.line))
        .collect();
    let together = if together.is_empty() {
        String::new()
    } else {
        format!(", with {}", together.join(", "))
    };
    let start = Some(Command::new("walwise rules check"));
    let all = beside.iter().map(|place| &place.file).chain([name]);
    let command = all.fold(start, |command, name| command?.literal(" ").value(name));
    (count > 0).then(|| {
        format!(
            "{name} has {mistakes} ({lines} {named}{together}), and the entries that contain them are left out: `{}`",
            Command::or_placeholder(command)
        )
    })
}

/// The statements of files about other rules, with the index of the file.
fn statements<'p, T: 'p>(
    parts: &'p [ParsedFile<'_>],
    of: fn(&LoadedFile) -> &Vec<(T, Span)>,
) -> impl Iterator<Item = (usize, &'p T, &'p Span)> {
    let list = move |(index, part): (usize, &'p ParsedFile<'_>)| {
        of(&part.loaded)
            .iter()
            .map(move |(one, span)| (index, one, span))
    };
    parts.iter().enumerate().flat_map(list)
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Remarks on files without any contents.
fn empty_files(parts: &[ParsedFile<'_>]) -> Vec<(usize, Diagnostic)> {
    let nothing = |part: &ParsedFile<'_>| {
        let LoadedFile {
            rules,
            ids,
            off,
            overrides: levels,
            diags,
            ..
        } = &part.loaded;
        rules.is_empty()
            && ids.is_empty()
            && off.is_empty()
            && levels.is_empty()
            && diags.is_empty()
    };
    let remark = || {
        let help =
            "write [[rule]], [[off]] or [[override]]; rules/README.md of walwise is the manual";
        Diagnostic::remark(
            0..0,
            "no effect: there is no rule in this file",
            help.to_owned(),
        )
    };
    parts
        .iter()
        .enumerate()
        .filter(|(_, part)| nothing(part))
        .map(|(index, _)| (index, remark()))
        .collect()
}

/// Mistakes for duplicate ids; the later rule is left out.
fn duplicates(parts: &mut [ParsedFile<'_>]) -> Vec<(usize, Diagnostic)> {
    let mut first: BTreeMap<String, (&RuleFile, usize, Author)> = BTreeMap::new();
    let mut found = Vec::new();
    for (
        index,
        ParsedFile {
            file,
            author,
            loaded,
        },
    ) in parts.iter_mut().enumerate()
    {
        for (id, span) in &loaded.ids {
            let Some((other, at, theirs)) = first.get(id) else {
                first.insert(id.clone(), (*file, span.start, *author));
                continue;
            };
            let place = SourceLocation {
                file: other.name.clone(),
                line: lines::line_of(&other.text, *at),
            };
            let help = format!(
                "the other one is {}:{}; give one of them another id",
                place.file, place.line
            );
            let mistake = Diagnostic::mistake(span.clone(), format!("a second rule `{id}`"), help);
            let other_place = match theirs {
                Author::User => (place.file != file.name).then_some(place),
                Author::Walwise => None,
            };
            found.push((
                index,
                Diagnostic {
                    other_place,
                    ..mistake
                },
            ));
        }
        loaded.rules.retain(|(rule, span)| {
            first.get(&rule.id).is_some_and(|(first_file, at, _)| {
                std::ptr::eq(*first_file, *file) && *at == span.start
            })
        });
    }
    found
}

/// Remarks on references to unknown rules. No mistake: they may exist in another version of
/// walwise.
fn unknown_rules(parts: &[ParsedFile<'_>]) -> Vec<(usize, Diagnostic)> {
    let known: Vec<&str> = parts
        .iter()
        .flat_map(|part| &part.loaded.ids)
        .map(|(id, _)| id.as_str())
        .collect();
    let mut found = Vec::new();
    for (index, ParsedFile { loaded, .. }) in parts.iter().enumerate() {
        let off = loaded.off.iter().map(|(off, span)| (&off.rule, span));
        let levels = loaded
            .overrides
            .iter()
            .map(|(given, span)| (&given.rule, span));
        let overridden = loaded.overridden.iter().map(|(id, span)| (id, span));
        for (id, span) in overridden
            .chain(off)
            .chain(levels)
            .filter(|(id, _)| !known.contains(&id.as_str()))
        {
            let message = format!("no effect: there is no rule `{id}`");
            let help = did_you_mean(id, known.iter().copied());
            let help = help.unwrap_or_else(|| "`walwise rules list` names them all".to_owned());
            found.push((index, Diagnostic::remark(span.clone(), message, help)));
        }
    }
    found
}
