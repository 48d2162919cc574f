//! Reads the fields of a TOML table, and reports missing keys, wrong types and unknown keys.
//!
//! The fields are decoded by hand, because a derived decoder stops at the first mistake or silently
//! drops misspelt operators.

use jiff::civil::Date;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::facts::Choice;
use crate::provenance::parse_strict_date;
use crate::rules::Level;
use crate::rules::diagnostic::{DiagnosticCollector, Place, PlaceInFile, Span};
use crate::text::is_display_unsafe;

const MAX_TEXT_BYTES: usize = 4000;
const MAX_LIST_ITEMS: usize = 1000;

/// A value in a rule file, with the collector of the file's mistakes.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub source: &'a Spanned<DeValue<'a>>,
    pub problems: &'a DiagnosticCollector,
}

#[derive(Clone, Debug)]
pub(super) struct SpannedText<'a> {
    pub text: String,
    pub span: Span,
    pub problems: &'a DiagnosticCollector,
}

impl Place for Item<'_> {
    fn span(&self) -> Span {
        self.source.span()
    }

    fn problems(&self) -> &DiagnosticCollector {
        self.problems
    }
}

impl Place for SpannedText<'_> {
    fn span(&self) -> Span {
        self.span.clone()
    }

    fn problems(&self) -> &DiagnosticCollector {
        self.problems
    }
}

impl Place for CheckedTable<'_> {
    fn span(&self) -> Span {
        self.span.clone()
    }

    fn problems(&self) -> &DiagnosticCollector {
        self.problems
    }
}

impl<'a> SpannedText<'a> {
    /// The place of a part of the text in the file. If the file does not hold the text literally,
    /// for example because of an escape, the place of the entire text.
    pub fn part(&self, part: std::ops::Range<usize>) -> PlaceInFile<'a> {
        // A literal text is one or three quotes shorter than its source at each end. With any other
        // difference, the text contains escapes.
        let quotes = match self.span.len().checked_sub(self.text.len()) {
            Some(2) => 1,
            Some(6) => 3,
            _ => return (self.span.clone(), self.problems),
        };
        let start = self.span.start + quotes;
        (start + part.start..start + part.end, self.problems)
    }
}

impl<'a> Item<'a> {
    pub fn value(self) -> &'a DeValue<'a> {
        self.source.get_ref()
    }

    pub fn type_name(self) -> &'static str {
        match self.value() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    pub fn text(self) -> Option<SpannedText<'a>> {
        let Some(text) = self.value().as_str() else {
            self.report_mistake(
                format!("expected text in quotes, found {}", self.type_name()),
                "write it in quotes",
            );
            return None;
        };
        if text.chars().any(|c| is_display_unsafe(c) && c != '\n') {
            self.report_mistake(
                "the text contains characters that cannot be displayed safely",
                "remove control characters and invisible or direction-changing characters",
            );
            return None;
        }
        if text.len() > MAX_TEXT_BYTES {
            self.report_mistake(
                format!(
                    "a string of {} bytes; the limit is {MAX_TEXT_BYTES}",
                    text.len()
                ),
                "shorten the text",
            );
            return None;
        }
        Some(SpannedText {
            text: text.to_owned(),
            span: self.span(),
            problems: self.problems,
        })
    }

    pub fn texts(self) -> Vec<SpannedText<'a>> {
        self.list().into_iter().filter_map(Item::text).collect()
    }

    pub fn list(self) -> Vec<Item<'a>> {
        let Some(list) = self.value().as_array() else {
            self.report_mistake(
                format!("expected a list in brackets, found {}", self.type_name()),
                "write it in brackets: [ … ]",
            );
            return Vec::new();
        };
        if list.len() > MAX_LIST_ITEMS {
            self.report_mistake(
                format!(
                    "a list of {} items; the limit is {MAX_LIST_ITEMS}",
                    list.len()
                ),
                "split the list across several rules",
            );
            return Vec::new();
        }
        list.iter().map(|source| Item { source, ..self }).collect()
    }

    pub fn is_empty_list(self) -> bool {
        self.value().as_array().is_some_and(|list| list.is_empty())
    }
}

pub(super) struct TableSchema {
    pub what: &'static str,
    pub required: &'static [&'static str],
    pub optional: &'static [&'static str],
}

pub(super) struct CheckedTable<'a> {
    table: &'a DeTable<'a>,
    pub problems: &'a DiagnosticCollector,
    /// The place of mistakes that concern the entire table: its id, name, setting, source or rule,
    /// or else the table itself.
    pub span: Span,
    /// First line of the table, counted from one.
    pub first_line: usize,
    /// The number of mistakes in the file before this table was read.
    mistakes_before: usize,
}

impl<'a> CheckedTable<'a> {
    pub fn from_item(item: Item<'a>, schema: &TableSchema) -> Option<Self> {
        let Some(table) = item.value().as_table() else {
            item.report_mistake(
                format!(
                    "{} must be a table, found {}",
                    schema.what,
                    item.type_name()
                ),
                format!("write its keys: {}", schema.required.join(", ")),
            );
            return None;
        };
        Some(Self::new(table, (item.span(), item.problems), schema))
    }

    pub fn new(
        table: &'a DeTable<'a>,
        (span, problems): PlaceInFile<'a>,
        schema: &TableSchema,
    ) -> Self {
        let TableSchema {
            what,
            required,
            optional,
        } = schema;
        let names = ["id", "name", "setting", "source", "rule"];
        let mut names = names.iter().filter_map(|key| table.get(*key));
        let name = names.find(|name| name.get_ref().is_str());
        let fields = Self {
            table,
            problems,
            first_line: problems.line_of_offset(span.start),
            span: name.map_or(span, Spanned::span),
            mistakes_before: problems.mistake_count(),
        };
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !required.contains(&name) && !optional.contains(&name) {
                (key.span(), problems).report_unknown_word(
                    format!("unknown key `{}` in {what}", display_safe_name(name)),
                    name,
                    required.iter().chain(*optional).copied(),
                );
            }
        }
        let lacking: Vec<String> = required
            .iter()
            .filter(|key| !table.contains_key(**key))
            .map(|key| format!("`{key}`"))
            .collect();
        if !lacking.is_empty() {
            let help = match lacking.as_slice() {
                [one] => format!("add a line {} = …", one.trim_matches('`')),
                _ => "add a line for each".to_owned(),
            };
            let message = format!("{what} lacks {}", lacking.join(", "));
            fields.report_missing_entry(message, help);
        }
        fields
    }

    /// Whether a mistake was found in the table so far, its nested tables included.
    pub fn has_mistakes(&self) -> bool {
        self.problems.mistake_count() > self.mistakes_before
    }

    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        let problems = self.problems;
        self.table.get(key).map(|source| Item { source, problems })
    }

    /// The place of the key, or of the table if the key is absent.
    pub fn key_place(&self, key: &str) -> PlaceInFile<'a> {
        let key = self.table.get_key_value(key);
        let span = key.map_or_else(|| self.span(), |(key, _)| key.span());
        (span, self.problems)
    }

    /// The place of the key's value, or of the table if the key is absent.
    pub fn value_place(&self, key: &str) -> PlaceInFile<'a> {
        let span = self
            .get(key)
            .map_or_else(|| self.span(), |item| item.span());
        (span, self.problems)
    }

    pub fn parse_text_field(&self, key: &str) -> Option<SpannedText<'a>> {
        self.get(key)?.text()
    }

    /// The Boolean value of the key; false if the key is absent.
    pub fn parse_flag(&self, key: &str) -> bool {
        let Some(item) = self.get(key) else {
            return false;
        };
        item.value().as_bool().unwrap_or_else(|| {
            item.report_mistake(format!("`{key}` must be true or false, without quotes"), "");
            false
        })
    }

    /// A day with or without quotes: `2027-03-31`.
    pub fn parse_date(&self, key: &str) -> Option<Date> {
        let item = self.get(key)?;
        let written = match item.value() {
            DeValue::Datetime(date) => date.to_string(),
            _ => item.text()?.text,
        };
        let date = parse_strict_date(&written);
        if date.is_none() {
            item.report_mistake(
                format!("`{}` is not a date", display_safe_name(&written)),
                "write the date as 2027-03-31",
            );
        }
        date
    }

    pub fn parse_text_list(&self, key: &str) -> Option<Vec<SpannedText<'a>>> {
        self.get(key).map(Item::texts)
    }

    pub fn parse_list_field(&self, key: &str) -> Vec<Item<'a>> {
        self.get(key).map(Item::list).unwrap_or_default()
    }

    /// The tables that repeat a header such as `[[rule]]`; none if there is no such header.
    pub fn repeated_tables(&self, key: &str) -> Vec<Item<'a>> {
        if self.get(key).is_some_and(|item| item.value().is_table()) {
            self.key_place(key).report_mistake(
                format!("`{key}` is a single table"),
                format!("write [[{key}]], because a file can contain several"),
            );
            return Vec::new();
        }
        self.parse_list_field(key)
    }

    pub fn parse_choice<T: Choice>(&self, key: &str, all: &[T]) -> Option<T> {
        let text = self.parse_text_field(key)?;
        let meant = all.iter().copied().find(|one| one.as_str() == text.text);
        if meant.is_none() {
            text.report_unknown_word(
                format!("`{key}` cannot be `{}`", text.text),
                &text.text,
                all.iter().map(|one| one.as_str()),
            );
        }
        meant
    }

    /// Parses a level, and also accepts the former word `option` for `optional`.
    pub fn parse_level(&self, all: &[Level]) -> Option<Level> {
        let is_former = self
            .get("level")
            .is_some_and(|item| item.value().as_str() == Some("option"));
        if is_former && all.contains(&Level::Optional) {
            return Some(Level::Optional);
        }
        self.parse_choice("level", all)
    }
}

pub(super) fn display_safe_name(name: &str) -> String {
    crate::text::display_safe(name.as_bytes())
}
