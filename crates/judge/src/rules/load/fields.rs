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
use crate::rules::diagnostic::{DiagnosticCollector, HasSpan, Span};
use crate::text::is_display_unsafe;

const MAX_TEXT_BYTES: usize = 4000;
const MAX_LIST_ITEMS: usize = 1000;

pub(super) type SpannedValue<'a> = &'a Spanned<DeValue<'a>>;

#[derive(Clone, Debug)]
pub(super) struct SpannedText {
    pub text: String,
    pub span: Span,
}

impl HasSpan for SpannedText {
    fn span(&self) -> Span {
        self.span.clone()
    }
}

impl HasSpan for CheckedTable<'_> {
    fn span(&self) -> Span {
        self.span.clone()
    }
}

impl SpannedText {
    /// The place of a part of the text in the file. If the file does not hold the text literally,
    /// for example because of an escape, the place of the entire text.
    pub fn span_of_part(&self, part: std::ops::Range<usize>) -> Span {
        // A literal text is one or three quotes shorter than its source at each end. With any other
        // difference, the text contains escapes.
        let quotes = match self.span.len().checked_sub(self.text.len()) {
            Some(2) => 1,
            Some(6) => 3,
            _ => return self.span.clone(),
        };
        let start = self.span.start + quotes;
        start + part.start..start + part.end
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
}

impl<'a> CheckedTable<'a> {
    pub fn from_item(
        item: SpannedValue<'a>,
        shape: &TableSchema,
        problems: &'a DiagnosticCollector,
    ) -> Option<Self> {
        let Some(table) = item.get_ref().as_table() else {
            problems.report_mistake(
                item,
                format!(
                    "{} must be a table, found {}",
                    shape.what,
                    toml_type_name(item)
                ),
                format!("write its keys: {}", shape.required.join(", ")),
            );
            return None;
        };
        Some(Self::new(table, item.span(), shape, problems))
    }

    pub fn new(
        table: &'a DeTable<'a>,
        span: Span,
        shape: &TableSchema,
        problems: &'a DiagnosticCollector,
    ) -> Self {
        let TableSchema {
            what,
            required,
            optional,
        } = shape;
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !required.contains(&name) && !optional.contains(&name) {
                problems.report_unknown_word(
                    key,
                    format!("unknown key `{}` in {what}", display_safe_name(name)),
                    name,
                    required.iter().chain(*optional).copied(),
                );
            }
        }
        let names = ["id", "name", "setting", "source", "rule"];
        let names = names
            .iter()
            .filter_map(|key| table.get(*key))
            .find(|name| name.get_ref().is_str());
        let span = names.map_or(span, Spanned::span);
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
            problems.report_missing_entry(
                &span,
                format!("{what} lacks {}", lacking.join(", ")),
                help,
            );
        }
        Self {
            table,
            problems,
            span,
        }
    }

    pub fn get(&self, key: &str) -> Option<SpannedValue<'a>> {
        self.table.get(key)
    }

    /// The place of the key, or of the table if the key is absent.
    pub fn key_span(&self, key: &str) -> Span {
        self.table
            .get_key_value(key)
            .map_or_else(|| self.span(), |(key, _)| key.span())
    }

    pub fn parse_text_field(&self, key: &str) -> Option<SpannedText> {
        parse_text(self.get(key)?, self.problems)
    }

    /// The Boolean value of the key; false if the key is absent.
    pub fn parse_flag(&self, key: &str) -> bool {
        let Some(item) = self.get(key) else {
            return false;
        };
        item.get_ref().as_bool().unwrap_or_else(|| {
            self.problems.report_mistake(
                item,
                format!("`{key}` must be true or false, without quotes"),
                "",
            );
            false
        })
    }

    /// A day with or without quotes: `2027-03-31`.
    pub fn parse_date(&self, key: &str) -> Option<Date> {
        let item = self.get(key)?;
        let written = match item.get_ref() {
            DeValue::Datetime(date) => date.to_string(),
            _ => self.parse_text_field(key)?.text,
        };
        let date = parse_strict_date(&written);
        if date.is_none() {
            self.problems.report_mistake(
                item,
                format!("`{}` is not a date", display_safe_name(&written)),
                "write the date as 2027-03-31",
            );
        }
        date
    }

    pub fn parse_text_list(&self, key: &str) -> Option<Vec<SpannedText>> {
        self.get(key).map(|item| parse_texts(item, self.problems))
    }

    pub fn parse_list_field(&self, key: &str) -> &'a [Spanned<DeValue<'a>>] {
        self.get(key)
            .map(|item| parse_list(item, self.problems))
            .unwrap_or_default()
    }

    /// The tables that repeat a header such as `[[rule]]`; none if there is no such header.
    pub fn repeated_tables(&self, key: &str) -> &'a [Spanned<DeValue<'a>>] {
        if self.get(key).is_some_and(|item| item.get_ref().is_table()) {
            self.problems.report_mistake(
                self.key_span(key),
                format!("`{key}` is a single table"),
                format!("write [[{key}]], because a file can contain several"),
            );
            return &[];
        }
        self.parse_list_field(key)
    }

    pub fn parse_choice<T: Choice>(&self, key: &str, all: &[T]) -> Option<T> {
        let SpannedText { text, span } = self.parse_text_field(key)?;
        let meant = all.iter().copied().find(|one| one.as_str() == text);
        if meant.is_none() {
            self.problems.report_unknown_word(
                span,
                format!("`{key}` cannot be `{text}`"),
                &text,
                all.iter().map(|one| one.as_str()),
            );
        }
        meant
    }

    /// Parses a level, and also accepts the former word `option` for `optional`.
    pub fn parse_level(&self, all: &[Level]) -> Option<Level> {
        let is_former = self
            .get("level")
            .is_some_and(|item| item.get_ref().as_str() == Some("option"));
        if is_former && all.contains(&Level::Optional) {
            return Some(Level::Optional);
        }
        self.parse_choice("level", all)
    }
}

pub(super) fn parse_text(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<SpannedText> {
    let Some(text) = item.get_ref().as_str() else {
        problems.report_mistake(
            item,
            format!("expected text in quotes, found {}", toml_type_name(item)),
            "write it in quotes",
        );
        return None;
    };
    if text.chars().any(|c| is_display_unsafe(c) && c != '\n') {
        problems.report_mistake(
            item,
            "the text contains characters that cannot be displayed safely",
            "remove control characters and invisible or direction-changing characters",
        );
        return None;
    }
    if text.len() > MAX_TEXT_BYTES {
        problems.report_mistake(
            item,
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
        span: item.span(),
    })
}

pub(super) fn parse_texts(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Vec<SpannedText> {
    parse_list(item, problems)
        .iter()
        .filter_map(|item| parse_text(item, problems))
        .collect()
}

pub(super) fn parse_list<'a>(
    item: SpannedValue<'a>,
    problems: &DiagnosticCollector,
) -> &'a [Spanned<DeValue<'a>>] {
    let Some(list) = item.get_ref().as_array() else {
        problems.report_mistake(
            item,
            format!(
                "expected a list in brackets, found {}",
                toml_type_name(item)
            ),
            "write it in brackets: [ … ]",
        );
        return &[];
    };
    if list.len() > MAX_LIST_ITEMS {
        problems.report_mistake(
            item,
            format!(
                "a list of {} items; the limit is {MAX_LIST_ITEMS}",
                list.len()
            ),
            "split the list across several rules",
        );
        return &[];
    }
    list
}

pub(super) fn toml_type_name(item: SpannedValue<'_>) -> &'static str {
    match item.get_ref() {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

pub(super) fn display_safe_name(name: &str) -> String {
    crate::text::display_safe(name.as_bytes())
}
