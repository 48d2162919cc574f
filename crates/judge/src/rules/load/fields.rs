//! Reads the fields of a table: presence, type, and the probable intention of unknown keys.
//!
//! Every mistake is reported at its place, and reading continues. Decoding is manual, because a
//! derived decoder either stops at the first mistake or silently drops misspelt operators.

use jiff::civil::Date;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::checked::day;
use crate::rules::Level;
use crate::rules::diagnostic::{Diagnostics, Span, Spot};
use crate::text::is_treacherous;

/// The longest text that is read, in bytes.
const LONGEST: usize = 4000;
/// The longest list that is read.
const MANY: usize = 1000;

/// A value of the file with its place.
pub(super) type SpannedValue<'a> = &'a Spanned<DeValue<'a>>;

/// A text of the file with its place.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    pub span: Span,
}

impl Spot for Text {
    fn spot(&self) -> Span {
        self.span.clone()
    }
}

impl Spot for CheckedTable<'_> {
    fn spot(&self) -> Span {
        self.span.clone()
    }
}

impl Text {
    /// The place of a part, in bytes of the text: exact where the file holds the text literally,
    /// otherwise the whole.
    pub fn at(&self, part: std::ops::Range<usize>) -> Span {
        // Literal means one quote on either side, or three of them; any other notation is longer.
        let quotes = match self.span.len().checked_sub(self.text.len()) {
            Some(2) => 1,
            Some(6) => 3,
            _ => return self.span.clone(),
        };
        let start = self.span.start + quotes;
        start + part.start..start + part.end
    }
}

/// The keys that a kind of table can have.
pub(super) struct TableSchema {
    pub what: &'static str,
    pub required: &'static [&'static str],
    pub optional: &'static [&'static str],
}

/// A table whose keys have been checked.
pub(super) struct CheckedTable<'a> {
    table: &'a DeTable<'a>,
    /// The place for mistakes about the table as a whole: its name, where it has one.
    pub span: Span,
}

impl<'a> CheckedTable<'a> {
    /// Opens a table of the file. Unknown and missing keys are reported.
    pub fn open(
        item: SpannedValue<'a>,
        shape: &TableSchema,
        problems: &mut Diagnostics,
    ) -> Option<Self> {
        let Some(table) = item.get_ref().as_table() else {
            problems.report(
                item,
                format!("{} is a table, found {}", shape.what, found(item)),
                format!("write its keys: {}", shape.required.join(", ")),
            );
            return None;
        };
        Some(Self::new(table, item.span(), shape, problems))
    }

    /// The same for a parsed table.
    pub fn new(
        table: &'a DeTable<'a>,
        span: Span,
        shape: &TableSchema,
        problems: &mut Diagnostics,
    ) -> Self {
        let TableSchema {
            what,
            required,
            optional,
        } = shape;
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !required.contains(&name) && !optional.contains(&name) {
                problems.unknown(
                    key,
                    format!("unknown key `{}` in {what}", shown(name)),
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
            problems.missing(&span, format!("{what} lacks {}", lacking.join(", ")), help);
        }
        Self { table, span }
    }

    pub fn get(&self, key: &str) -> Option<SpannedValue<'a>> {
        self.table.get(key)
    }

    /// The place of a key; that of the table where it lacks the key.
    pub fn key_span(&self, key: &str) -> Span {
        self.table
            .get_key_value(key)
            .map_or_else(|| self.spot(), |(key, _)| key.span())
    }

    pub fn text(&self, key: &str, problems: &mut Diagnostics) -> Option<Text> {
        text(self.get(key)?, problems)
    }

    /// A day, with or without quotes: `2027-03-31`.
    pub fn date(&self, key: &str, problems: &mut Diagnostics) -> Option<Date> {
        let item = self.get(key)?;
        let written = match item.get_ref() {
            DeValue::Datetime(date) => date.to_string(),
            _ => self.text(key, problems)?.text,
        };
        let date = day(&written);
        if date.is_none() {
            problems.report(
                item,
                format!("`{}` is no day", shown(&written)),
                "write a day as 2027-03-31",
            );
        }
        date
    }

    /// A list of texts; `None` when the key is absent.
    pub fn texts(&self, key: &str, problems: &mut Diagnostics) -> Option<Vec<Text>> {
        self.get(key).map(|item| texts(item, problems))
    }

    /// A list of tables; empty when the key is absent.
    pub fn tables(&self, key: &str, problems: &mut Diagnostics) -> &'a [Spanned<DeValue<'a>>] {
        self.get(key)
            .map(|item| list(item, problems))
            .unwrap_or_default()
    }

    /// A repeated table of the file; empty when there is none.
    pub fn many(&self, key: &str, problems: &mut Diagnostics) -> &'a [Spanned<DeValue<'a>>] {
        if self.get(key).is_some_and(|item| item.get_ref().is_table()) {
            problems.report(
                self.key_span(key),
                format!("`{key}` as a single table"),
                format!("a file can have several: write [[{key}]]"),
            );
            return &[];
        }
        self.tables(key, problems)
    }

    pub fn word<T: Copy>(
        &self,
        key: &str,
        all: &[T],
        word: fn(T) -> &'static str,
        problems: &mut Diagnostics,
    ) -> Option<T> {
        let Text { text, span } = self.text(key, problems)?;
        let meant = all.iter().copied().find(|one| word(*one) == text);
        if meant.is_none() {
            problems.unknown(
                span,
                format!("`{key}` is never `{text}`"),
                &text,
                all.iter().map(|one| word(*one)),
            );
        }
        meant
    }

    /// The level; `option` is the former word for `optional`.
    pub fn level(&self, all: &[Level], problems: &mut Diagnostics) -> Option<Level> {
        let is_former = self
            .get("level")
            .is_some_and(|item| item.get_ref().as_str() == Some("option"));
        if is_former && all.contains(&Level::Option) {
            return Some(Level::Option);
        }
        self.word("level", all, Level::word, problems)
    }
}

pub(super) fn text(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<Text> {
    let Some(text) = item.get_ref().as_str() else {
        problems.report(
            item,
            format!("expected text in quotes, found {}", found(item)),
            "write it in quotes",
        );
        return None;
    };
    if text.chars().any(|c| is_treacherous(c) && c != '\n') {
        problems.report(
            item,
            "characters that cannot be shown safely",
            "write it without control characters and without characters that change how others are shown",
        );
        return None;
    }
    if text.len() > LONGEST {
        problems.report(
            item,
            format!(
                "a text of {} bytes; the longest that is read has {LONGEST}",
                text.len()
            ),
            "say it in fewer words",
        );
        return None;
    }
    Some(Text {
        text: text.to_owned(),
        span: item.span(),
    })
}

/// The value as a list of texts.
pub(super) fn texts(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Vec<Text> {
    list(item, problems)
        .iter()
        .filter_map(|item| text(item, problems))
        .collect()
}

pub(super) fn list<'a>(
    item: SpannedValue<'a>,
    problems: &mut Diagnostics,
) -> &'a [Spanned<DeValue<'a>>] {
    let Some(list) = item.get_ref().as_array() else {
        problems.report(
            item,
            format!("expected a list in brackets, found {}", found(item)),
            "write it in brackets: [ … ]",
        );
        return &[];
    };
    if list.len() > MANY {
        problems.report(
            item,
            format!(
                "a list of {}; the longest that is read has {MANY}",
                list.len()
            ),
            "put what it lists into several rules",
        );
        return &[];
    }
    list
}

/// The kind of value found, in words.
pub(super) fn found(item: SpannedValue<'_>) -> &'static str {
    match item.get_ref() {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A name from the file within a message.
pub(super) fn shown(name: &str) -> String {
    crate::text::safe(name.as_bytes())
}
