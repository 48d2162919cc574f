//! The rules of a run: the built-in ones and the user's, without those that are off, some with
//! another level.
//!
//! Checks across files are made here: duplicate ids, and names of rules that do not exist. A file
//! with mistakes still contributes its other rules; the caller decides whether to continue with
//! them.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::builtin;
use super::diagnostic::{Diag, FileDiags, SourceLocation, Span};
use super::file::{RuleFile, UserFile};
use super::load::{self, Loaded, Terms};
use super::model::{Author, Rule, RuleExamples};
use super::others::{Expired, GIVEN, Off, Override};
use super::suggest::did_you_mean;
use crate::quote::Command;
use crate::text::{first_of, lines};

/// Rules, in the order of their files.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    off: Vec<Off>,
    overrides: Vec<Override>,
    expired: Vec<Expired>,
    user_files: Vec<UserFile>,
    not_in_force: Vec<String>,
    remarks: Vec<String>,
}

/// A file with its parsed contents.
struct ParsedFile<'a> {
    file: &'a RuleFile,
    author: Author,
    loaded: Loaded,
}

impl<'a> ParsedFile<'a> {
    fn parse(file: &'a RuleFile, terms: Terms) -> Self {
        Self {
            file,
            author: terms.author,
            loaded: load::load(&file.name, &file.text, terms),
        }
    }
}

impl RuleSet {
    /// The rules that come with walwise, and their examples. A test asserts that they have no
    /// mistakes.
    pub fn builtin() -> Self {
        Self::parse(&builtin::files()).0
    }

    /// The built-in rules, with or without their examples, and those of the user's files. The
    /// mistakes are those of the user's files. `today` decides which of their statements have
    /// expired.
    pub fn with_user_files(
        files: &[RuleFile],
        examples: RuleExamples,
        today: Date,
    ) -> (Self, Vec<FileDiags>) {
        Self::read((&builtin::files(), examples), files, today)
    }

    /// For work on walwise's own rules: like [`Self::with_user_files`], but files of its source
    /// replace the built-in ones of the same name. Never for a check, where a name must not remove
    /// rules.
    pub fn in_place_of_builtin(
        ours: &[RuleFile],
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiags>) {
        let same = |a: &RuleFile, b: &RuleFile| base_name(&a.name) == base_name(&b.name);
        let mut all = builtin::files();
        all.retain(|builtin| !ours.iter().any(|file| same(file, builtin)));
        all.extend_from_slice(ours);
        Self::read((&all, RuleExamples::Read), users, today)
    }

    /// Reads files as if they came with walwise, where nothing expires; a rule with a mistake is
    /// left out.
    pub fn parse(files: &[RuleFile]) -> (Self, Vec<FileDiags>) {
        Self::read((files, RuleExamples::Read), &[], Date::MIN)
    }

    /// Reads the files that come with walwise, or that replace them, and those of the user.
    pub(super) fn read(
        (ours, examples): (&[RuleFile], RuleExamples),
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiags>) {
        let mut parts: Vec<ParsedFile<'_>> = ours
            .iter()
            .map(|file| ParsedFile::parse(file, Terms::ours(examples)))
            .collect();
        parts.extend(
            users
                .iter()
                .map(|file| ParsedFile::parse(file, Terms::USERS)),
        );
        let mut found = duplicates(&mut parts);
        found.extend(empty(&parts));
        found.extend(strangers(&parts));
        let mut set = Self {
            user_files: users.iter().map(UserFile::from_file).collect(),
            ..Self::default()
        };
        set.rules = parts
            .iter_mut()
            .flat_map(|part| part.loaded.rules.drain(..))
            .map(|(rule, _)| rule)
            .collect();
        set.expire(&mut parts, today);
        found.extend(set.switch_off(&parts));
        found.extend(set.give_levels(&parts));
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
                FileDiags {
                    file: file.name.clone(),
                    text: file.text.clone(),
                    diags: loaded.diags,
                }
            });
        let mistakes: Vec<FileDiags> = mistakes.collect();
        for file in &mistakes {
            set.not_in_force.extend(left_out(file));
            set.remarks
                .extend(file.remarks().map(|remark| file.sentence(remark)));
        }
        (set, mistakes)
    }

    /// The same with notes about the user's files: the unreadable ones, and remarks.
    #[must_use]
    pub fn with_notes(mut self, not_in_force: Vec<String>, remarks: Vec<String>) -> Self {
        self.not_in_force.extend(not_in_force);
        self.remarks.extend(remarks);
        self
    }

    /// Takes the statements out whose last day has passed.
    fn expire(&mut self, parts: &mut [ParsedFile<'_>], today: Date) {
        let mut holds = |expired: Option<Expired>| {
            let holds = expired.is_none();
            self.expired.extend(expired);
            holds
        };
        for Loaded { off, levels, .. } in parts.iter_mut().map(|part| &mut part.loaded) {
            off.retain(|(off, _)| holds(Expired::from_off(off, today)));
            levels.retain(|(given, _)| holds(Expired::from_override(given, today)));
        }
    }

    /// Removes the rules that are off.
    fn switch_off(&mut self, parts: &[ParsedFile<'_>]) -> Vec<(usize, Diag)> {
        let mut found = Vec::new();
        for (index, off, span) in each(parts, |loaded| &loaded.off) {
            match self.off.iter().find(|other| other.rule == off.rule) {
                Some(other) => {
                    let message = format!(
                        "`{}` is off already, by {}:{}",
                        off.rule, other.file, other.line
                    );
                    let help = "one of the two is enough".to_owned();
                    found.push((index, Diag::remark(span.clone(), message, help)));
                }
                None => match self.find(&off.rule).map(|rule| rule.caps) {
                    Some(Some(_)) => {
                        let message = format!("`{}` caps verdicts and stays on", off.rule);
                        let help = "nothing that a file states makes a verdict better".to_owned();
                        found.push((index, Diag::mistake(span.clone(), message, help)));
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

    /// Applies the levels that files give to rules. Options are excluded, which keeps advice that
    /// can lose data where it is.
    fn give_levels(&mut self, parts: &[ParsedFile<'_>]) -> Vec<(usize, Diag)> {
        let mut found = Vec::new();
        for (index, given, span) in each(parts, |loaded| &loaded.levels) {
            let mut mistake = |message: String, help: Option<String>| {
                found.push((index, Diag::mistake(span.clone(), message, help)));
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
                    diag.beside = Some(SourceLocation {
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
                    let help = "take out one of the two".to_owned();
                    found.push((index, Diag::remark(span.clone(), message, help)));
                }
                continue;
            };
            if !GIVEN.contains(&rule.level) {
                let help = "what is not wanted can be switched off: [[off]]".to_owned();
                mistake(
                    format!("`{}` is `{}` and stays it", rule.id, rule.level.word()),
                    Some(help),
                );
            } else if rule.level == given.level {
                let message = format!(
                    "no effect: `{}` is `{}` already",
                    rule.id,
                    rule.level.word()
                );
                let help = "take it out, or give another level".to_owned();
                found.push((index, Diag::remark(span.clone(), message, help)));
            } else {
                self.overrides.push(Override {
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

    /// The rules that were switched off, with the reasons.
    pub fn off(&self) -> &[Off] {
        &self.off
    }

    /// The levels that were given to rules, and why.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// The statements about rules that have expired.
    pub fn expired(&self) -> &[Expired] {
        &self.expired
    }

    /// Parts of the user's files that should be in force and are not, a sentence each.
    pub fn not_in_force(&self) -> &[String] {
        &self.not_in_force
    }

    /// Parts of the user's files without effect, a sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub fn user_files(&self) -> &[UserFile] {
        &self.user_files
    }
}

/// The number of lines that are named before the rest is counted.
const NAMED: usize = 10;

/// A sentence for the entries that are left out of a file because of mistakes.
fn left_out(file: &FileDiags) -> Option<String> {
    let mut lines: Vec<usize> = file.mistakes().map(|diag| file.line(diag)).collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let named = first_of(&named, NAMED);
    let (count, name) = (file.mistakes().count(), &file.file);
    let mistakes = if count == 1 {
        "a mistake".to_owned()
    } else {
        format!("{count} mistakes")
    };
    let lines = if lines.len() == 1 { "line" } else { "lines" };
    // A mistake between two files shows only when both are read.
    let mut beside: Vec<&SourceLocation> = Vec::new();
    for place in file.mistakes().filter_map(|diag| diag.beside.as_ref()) {
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
    let command = all.fold(start, |command, name| command?.code(" ").value(name));
    (count > 0).then(|| {
        format!(
            "{name} has {mistakes} ({lines} {named}{together}), and what they are in is left out: `{}`",
            Command::or_why(command)
        )
    })
}

/// The statements of files about other rules, with the index of the file.
fn each<'p, T: 'p>(
    parts: &'p [ParsedFile<'_>],
    of: fn(&Loaded) -> &Vec<(T, Span)>,
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
fn empty(parts: &[ParsedFile<'_>]) -> Vec<(usize, Diag)> {
    let nothing = |part: &ParsedFile<'_>| {
        let Loaded {
            rules,
            ids,
            off,
            levels,
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
        Diag::remark(
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
fn duplicates(parts: &mut [ParsedFile<'_>]) -> Vec<(usize, Diag)> {
    let mut first: BTreeMap<String, (usize, usize, SourceLocation, Author)> = BTreeMap::new();
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
            if let Some((_, _, place, theirs)) = first.get(id) {
                let help = format!(
                    "the other one is {}:{}; give one of them another id",
                    place.file, place.line
                );
                let mistake = Diag::mistake(span.clone(), format!("a second rule `{id}`"), help);
                let beside = match theirs {
                    Author::User => (place.file != file.name).then(|| place.clone()),
                    Author::Walwise => None,
                };
                found.push((index, Diag { beside, ..mistake }));
            } else {
                let place = SourceLocation {
                    file: file.name.clone(),
                    line: lines::line_of(&file.text, span.start),
                };
                first.insert(id.clone(), (index, span.start, place, *author));
            }
        }
        loaded.rules.retain(|(rule, span)| {
            first
                .get(&rule.id)
                .is_some_and(|(file, at, ..)| (*file, *at) == (index, span.start))
        });
    }
    found
}

/// Remarks on rules that are named but do not exist. No mistake: they may exist in another version
/// of walwise.
fn strangers(parts: &[ParsedFile<'_>]) -> Vec<(usize, Diag)> {
    let known: Vec<&str> = parts
        .iter()
        .flat_map(|part| &part.loaded.ids)
        .map(|(id, _)| id.as_str())
        .collect();
    let mut found = Vec::new();
    for (index, ParsedFile { loaded, .. }) in parts.iter().enumerate() {
        let off = loaded.off.iter().map(|(off, span)| (&off.rule, span));
        let levels = loaded
            .levels
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
            found.push((index, Diag::remark(span.clone(), message, help)));
        }
    }
    found
}
