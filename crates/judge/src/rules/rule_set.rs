//! The rules of a run: built-in and users' rules, without disabled rules, some with a changed
//! level.
//!
//! The module checks across files for duplicate ids and for references to unknown rules. A file
//! with mistakes still contributes its other rules.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::civil::Date;

use super::diagnostic::{Diagnostic, FileDiagnostics, SourceLocation, Span};
use super::load::{self, LoadOptions, LoadedFile, UserEntry};
use super::model::{Author, ExampleLoading, Rule};
use super::suggest::nearest_word_hint;
use super::{
    ADJUSTABLE_LEVELS, DisabledRule, ExpiredRuleOverride, Level, LevelOverride, RuleFile,
    UserRuleFile, builtin,
};
use crate::escape::ShellCommand;
use crate::text::{format_names_and_rest, line_index};

#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    off: Vec<DisabledRule>,
    overrides: Vec<LevelOverride>,
    expired: Vec<ExpiredRuleOverride>,
    user_files: Vec<UserRuleFile>,
    not_in_force: Vec<String>,
    remarks: Vec<String>,
}

struct ParsedFile<'a> {
    file: &'a RuleFile,
    author: Author,
    loaded: LoadedFile,
}

impl RuleSet {
    /// Built-in rules with their examples, parsed once. A test asserts that they have no mistakes.
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<RuleSet>> =
            LazyLock::new(|| Arc::new(RuleSet::parse_as_builtin(&builtin::builtin_files()).0));
        Arc::clone(&BUILTIN)
    }

    /// The built-in rules and those of users' files, with the mistakes in users' files. `today`
    /// decides which entries have expired.
    pub fn builtin_and_user_files(
        files: &[RuleFile],
        examples: ExampleLoading,
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        Self::from_files((&builtin::builtin_files(), examples), files, today)
    }

    /// Like [`Self::builtin_and_user_files`], for work on walwise's own rules: files in `ours`
    /// replace built-in files of equal name. `walwise check` must not use this: a user's file with
    /// the name of a built-in one would remove that file's rules.
    pub fn with_replaced_builtin(
        ours: &[RuleFile],
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        let same = |a: &RuleFile, b: &RuleFile| base_name(&a.name) == base_name(&b.name);
        let mut all = builtin::builtin_files();
        all.retain(|builtin| !ours.iter().any(|file| same(file, builtin)));
        all.extend_from_slice(ours);
        Self::from_files((&all, ExampleLoading::Read), users, today)
    }

    /// The rules in the files, read as if they came with walwise. A rule with a mistake is left
    /// out, and no `[[off]]` or `[[override]]` entry counts as expired.
    pub fn parse_as_builtin(files: &[RuleFile]) -> (Self, Vec<FileDiagnostics>) {
        Self::from_files((files, ExampleLoading::Read), &[], Date::MIN)
    }

    pub(super) fn from_files(
        (ours, examples): (&[RuleFile], ExampleLoading),
        users: &[RuleFile],
        today: Date,
    ) -> (Self, Vec<FileDiagnostics>) {
        let of_ours = LoadOptions::for_builtin_rules(examples);
        let ours = ours.iter().map(|file| (file, of_ours));
        let users_files = users.iter().map(|file| (file, LoadOptions::USER));
        let mut parts: Vec<ParsedFile<'_>> = ours
            .chain(users_files)
            .map(|(file, terms)| ParsedFile {
                file,
                author: terms.author,
                loaded: load::parse_rule_file(&file.name, &file.text, terms),
            })
            .collect();
        drop_duplicate_ids(&mut parts);
        add_remarks_on_empty_files(&mut parts);
        add_remarks_on_unknown_rule_ids(&mut parts);
        let mut set = Self {
            user_files: users.iter().map(UserRuleFile::from_file).collect(),
            ..Self::default()
        };
        set.rules = parts
            .iter_mut()
            .flat_map(|part| part.loaded.rules.drain(..))
            .map(|(rule, _)| rule)
            .collect();
        set.drop_expired_entries(&mut parts, today);
        set.apply_disabled_rules(&mut parts);
        set.apply_level_overrides(&mut parts);
        let mistakes = parts
            .into_iter()
            .filter(|part| !part.loaded.diags.is_empty())
            .map(|ParsedFile { file, loaded, .. }| {
                let mut diags = loaded.diags;
                diags.sort_by_key(|diag| (diag.span.start, diag.span.end));
                FileDiagnostics {
                    file: file.name.clone(),
                    text: file.text.clone(),
                    diags,
                }
            });
        let mistakes: Vec<FileDiagnostics> = mistakes.collect();
        for file in &mistakes {
            set.not_in_force.extend(ignored_entries_sentence(file));
            set.remarks
                .extend(file.remarks().map(|remark| file.one_line_text(remark)));
        }
        (set, mistakes)
    }

    #[must_use]
    pub fn with_notes_on_unread_files(
        mut self,
        not_in_force: Vec<String>,
        remarks: Vec<String>,
    ) -> Self {
        self.not_in_force.extend(not_in_force);
        self.remarks.extend(remarks);
        self
    }

    fn drop_expired_entries(&mut self, parts: &mut [ParsedFile<'_>], today: Date) {
        for loaded in loaded_files(parts) {
            loaded.entries.retain(|(entry, _)| {
                let expired = ExpiredRuleOverride::from_entry_if_expired(entry, today);
                let holds = expired.is_none();
                self.expired.extend(expired);
                holds
            });
        }
    }

    /// Rules that cap a verdict cannot be disabled, because no file may improve a verdict.
    fn apply_disabled_rules(&mut self, parts: &mut [ParsedFile<'_>]) {
        for LoadedFile { entries, diags, .. } in loaded_files(parts) {
            for (entry, span) in entries.iter().filter(|(entry, _)| entry.level.is_none()) {
                let id = &entry.rule;
                if let Some(other) = self.off.iter().find(|other| other.rule == *id) {
                    let message = format!(
                        "`{id}` is already switched off in {}:{}",
                        other.file, other.line
                    );
                    let help = "remove one of the two".to_owned();
                    diags.push(Diagnostic::new_remark(span.clone(), message, help));
                    continue;
                }
                match self.find(id).map(|rule| rule.caps) {
                    Some(Some(_)) => {
                        let message = format!("`{id}` caps verdicts and cannot be switched off");
                        let help = "a rule file cannot improve a verdict".to_owned();
                        diags.push(Diagnostic::new_mistake(span.clone(), message, help));
                    }
                    Some(None) => self.off.push(DisabledRule {
                        rule: id.clone(),
                        because: entry.because.clone(),
                        until: entry.until,
                        file: entry.file.clone(),
                        line: entry.line,
                    }),
                    None => {}
                }
            }
        }
        let Self { rules, off, .. } = self;
        rules.retain(|rule| off.iter().all(|off| off.rule != rule.id));
    }

    /// Optional rules keep their level, because advice that can lose data must stay optional.
    fn apply_level_overrides(&mut self, parts: &mut [ParsedFile<'_>]) {
        for LoadedFile { entries, diags, .. } in loaded_files(parts) {
            for (entry, span) in entries {
                if let Some(level) = entry.level {
                    diags.extend(self.apply_level_override(entry, level, span));
                }
            }
        }
    }

    fn apply_level_override(
        &mut self,
        given: &UserEntry,
        level: Level,
        span: &Span,
    ) -> Option<Diagnostic> {
        let mistake = |message: String, help: String| {
            Some(Diagnostic::new_mistake(span.clone(), message, help))
        };
        let remark = |message: String, help: &str| {
            Some(Diagnostic::new_remark(
                span.clone(),
                message,
                help.to_owned(),
            ))
        };
        if let Some(other) = self.overrides.iter().find(|other| other.rule == given.rule) {
            let place = format!("the first is in {}:{}", other.file, other.line);
            let message = format!("a second override for `{}`", given.rule);
            let second = mistake(message, format!("{place}; remove one of them"))?;
            let other_place = (other.file != given.file).then(|| SourceLocation {
                file: other.file.clone(),
                line: other.line,
            });
            return Some(Diagnostic {
                other_place,
                ..second
            });
        }
        let Some(rule) = self.rules.iter_mut().find(|rule| rule.id == given.rule) else {
            let off = self.off.iter().find(|off| off.rule == given.rule)?;
            let message = format!(
                "no effect: `{}` is switched off in {}:{}",
                off.rule, off.file, off.line
            );
            return remark(message, "remove one of the two");
        };
        let was = rule.level;
        if !ADJUSTABLE_LEVELS.contains(&rule.level) {
            let message = format!("`{}` is `{was}`, which cannot be changed", rule.id);
            return mistake(message, "to switch it off, use [[off]]".to_owned());
        }
        if was == level {
            let message = format!("no effect: `{}` is already `{was}`", rule.id);
            return remark(message, "remove it, or give another level");
        }
        rule.level = level;
        self.overrides.push(LevelOverride {
            rule: given.rule.clone(),
            level,
            was,
            because: given.because.clone(),
            until: given.until,
            file: given.file.clone(),
            line: given.line,
        });
        None
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn find(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Suggestion `did you mean …?` for an id that no rule has; `None` if no id is similar.
    pub fn similar_rule_id_hint(&self, id: &str) -> Option<String> {
        nearest_word_hint(id, self.rules.iter().map(|rule| rule.id.as_str()))
    }

    pub fn disabled_rules(&self) -> &[DisabledRule] {
        &self.off
    }

    pub fn level_overrides(&self) -> &[LevelOverride] {
        &self.overrides
    }

    pub fn expired_overrides(&self) -> &[ExpiredRuleOverride] {
        &self.expired
    }

    /// One sentence for each part of a user's file that should be in force but is not.
    pub fn not_in_force_sentences(&self) -> &[String] {
        &self.not_in_force
    }

    /// One sentence for each part of a user's file without effect.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn user_files(&self) -> &[UserRuleFile] {
        &self.user_files
    }
}

const MAX_LISTED_LINES: usize = 10;

fn ignored_entries_sentence(file: &FileDiagnostics) -> Option<String> {
    let mut lines: Vec<usize> = file
        .mistakes()
        .map(|diag| file.line_of_diagnostic(diag))
        .collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let named = format_names_and_rest(&named, MAX_LISTED_LINES);
    let (count, name) = (file.mistakes().count(), &file.file);
    let mistakes = if count == 1 {
        "an error".to_owned()
    } else {
        format!("{count} errors")
    };
    let lines = if lines.len() == 1 { "line" } else { "lines" };
    // The command names the related files too, because a mistake that concerns two files is found
    // only if both are read.
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
    let start = Some(ShellCommand::new("walwise rules check"));
    let all = beside.iter().map(|place| &place.file).chain([name]);
    let command = all.fold(start, |command, name| {
        command?.append_literal(" ").append_quoted_name(name)
    });
    (count > 0).then(|| {
        format!(
            "{name} has {mistakes} ({lines} {named}{together}); the affected entries are ignored; for details, run `{}`",
            ShellCommand::text_or_placeholder(command)
        )
    })
}

fn loaded_files<'p>(parts: &'p mut [ParsedFile<'_>]) -> impl Iterator<Item = &'p mut LoadedFile> {
    parts.iter_mut().map(|part| &mut part.loaded)
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn add_remarks_on_empty_files(parts: &mut [ParsedFile<'_>]) {
    for loaded in loaded_files(parts) {
        if loaded.rules.is_empty()
            && loaded.ids.is_empty()
            && loaded.entries.is_empty()
            && loaded.diags.is_empty()
        {
            let help = "add [[rule]], [[off]] or [[override]] entries; see rules/README.md in the repository of walwise";
            loaded.diags.push(Diagnostic::new_remark(
                0..0,
                "no effect: the file contains no entries",
                help.to_owned(),
            ));
        }
    }
}

fn drop_duplicate_ids(parts: &mut [ParsedFile<'_>]) {
    let mut first: BTreeMap<String, (usize, &RuleFile, usize, Author)> = BTreeMap::new();
    for (index, part) in parts.iter_mut().enumerate() {
        let LoadedFile {
            ids, rules, diags, ..
        } = &mut part.loaded;
        for (id, span) in ids.iter() {
            let Some((_, other, at, theirs)) = first.get(id) else {
                first.insert(id.clone(), (index, part.file, span.start, part.author));
                continue;
            };
            let place = SourceLocation {
                file: other.name.clone(),
                line: line_index::line_number_at(&other.text, *at),
            };
            let help = format!(
                "the first is in {}:{}; give one of them another id",
                place.file, place.line
            );
            let mistake =
                Diagnostic::new_mistake(span.clone(), format!("a second rule `{id}`"), help);
            let other_place = match theirs {
                Author::User => (place.file != part.file.name).then_some(place),
                Author::Walwise => None,
            };
            diags.push(Diagnostic {
                other_place,
                ..mistake
            });
        }
        rules.retain(|(rule, span)| {
            first
                .get(&rule.id)
                .is_some_and(|(place, _, at, _)| (*place, *at) == (index, span.start))
        });
    }
}

/// Adds remarks, not mistakes, about references to unknown rules: the rules may exist in another
/// version of walwise.
fn add_remarks_on_unknown_rule_ids(parts: &mut [ParsedFile<'_>]) {
    let known: Vec<String> = parts
        .iter()
        .flat_map(|part| &part.loaded.ids)
        .map(|(id, _)| id.clone())
        .collect();
    for loaded in loaded_files(parts) {
        let entries = loaded.entries.iter();
        let named = entries.map(|(entry, span)| (&entry.rule, span));
        let overridden = loaded.overridden.iter().map(|(id, span)| (id, span));
        for (id, span) in overridden
            .chain(named)
            .filter(|(id, _)| !known.contains(id))
        {
            let message = format!("no effect: rule `{id}` does not exist");
            let help = nearest_word_hint(id, known.iter().map(String::as_str))
                .unwrap_or_else(|| "`walwise rules list` lists all rules".to_owned());
            loaded
                .diags
                .push(Diagnostic::new_remark(span.clone(), message, help));
        }
    }
}
