//! Reads rule files and reports all mistakes of a file together, each at its place.
//!
//! After a syntax error the TOML parser skips text, so a rule could lose a condition and mean
//! something else. Such a file is therefore read again, table by table.

mod advice;
mod change_rule;
mod condition;
mod example;
mod fields;
mod release_rule;
mod rule_head;
mod split_tables;
mod value;

use jiff::civil::Date;
use toml::de::DeTable;

use self::condition::FactVisibility;
use self::fields::{CheckedTable, Item, SpannedText, TableSchema};
use self::rule_head::{RuleBody, RuleHeader, RuleTexts};
use self::split_tables::TableSection;
use super::diagnostic::{
    Diagnostic, DiagnosticCollector, Place, Severity, Span, limit_diagnostics,
};
use super::model::{Author, Condition, ExampleLoading, ExpectedOutcome, Rule, RuleExample};
use super::template::Template;
use super::{AdviceBasis, Confidence, Level};
use crate::facts::Choice;
use crate::rules::ADJUSTABLE_LEVELS;
use crate::rules::model::AdviceSpec;
use crate::rules::published_evidence::PublishedMeasurement;
use walwise_model::text::JoinText;

const FILE_SCHEMA: TableSchema = TableSchema {
    what: "a rule file",
    required: &[],
    optional: &["rule", "release", "change", "off", "override"],
};
const RULE_SCHEMA: TableSchema = TableSchema {
    what: "this rule",
    required: &[
        "id",
        "since",
        "for",
        "title",
        "question",
        "level",
        "confidence",
        "because",
        "refs",
        "when",
    ],
    optional: &[
        "checked",
        "caps",
        "basis",
        "remedy",
        "no_remedy",
        "overrides",
        "advise",
        "evidence",
        "example",
    ],
};

#[derive(Clone, Copy, Debug)]
pub(super) struct LoadOptions {
    pub author: Author,
    pub examples: ExampleLoading,
}

impl LoadOptions {
    pub(super) const fn for_builtin_rules(examples: ExampleLoading) -> Self {
        Self {
            author: Author::Walwise,
            examples,
        }
    }

    pub(super) const USER: Self = Self {
        author: Author::User,
        examples: ExampleLoading::Read,
    };
}

#[derive(Debug, Default)]
pub(super) struct LoadedFile {
    pub rules: Vec<(Rule, Span)>,
    /// Ids of all rules, including rules with mistakes.
    pub ids: Vec<(String, Span)>,
    pub overridden: Vec<(String, Span)>,
    pub entries: Vec<(UserEntry, Span)>,
    pub diags: Vec<Diagnostic>,
}

/// An `[[off]]` or `[[override]]` entry of a user's file.
#[derive(Debug)]
pub(super) struct UserEntry {
    pub rule: String,
    /// The level that the entry assigns; `None` if it disables the rule.
    pub level: Option<Level>,
    pub because: String,
    /// Last day of the entry.
    pub until: Option<Date>,
    pub file: String,
    pub line: usize,
}

impl LoadedFile {
    /// Adds the entries of a section whose places count from `offset`.
    fn add_section(&mut self, section: Self, offset: usize) {
        self.rules.extend(moved(section.rules, offset));
        self.ids.extend(moved(section.ids, offset));
        self.overridden.extend(moved(section.overridden, offset));
        self.entries.extend(moved(section.entries, offset));
        self.diags.extend(section.diags.into_iter().map(|diag| {
            let span = moved_span(&diag.span, offset);
            Diagnostic { span, ..diag }
        }));
    }
}

fn moved<T>(entries: Vec<(T, Span)>, offset: usize) -> impl Iterator<Item = (T, Span)> {
    let entries = entries.into_iter();
    entries.map(move |(entry, span)| (entry, moved_span(&span, offset)))
}

fn moved_span(span: &Span, offset: usize) -> Span {
    span.start + offset..span.end + offset
}

struct ParseResult {
    loaded: LoadedFile,
    broken: bool,
    has_unknown_tables: bool,
}

const MAX_FILE_BYTES: usize = 1 << 20;

/// The cost is bounded by the size of the file, the length of texts and lists, and the number of
/// listed mistakes.
pub(super) fn parse_rule_file(file: &str, source: &str, options: LoadOptions) -> LoadedFile {
    if source.len() > MAX_FILE_BYTES {
        let message = format!(
            "the file has {} bytes; the limit is {MAX_FILE_BYTES}",
            source.len()
        );
        let help = "split the rules across several files".to_owned();
        return LoadedFile {
            diags: vec![Diagnostic::new_mistake(0..0, message, help)],
            ..LoadedFile::default()
        };
    }
    let mut loaded = parse_section_by_section_if_broken(file, source, options);
    loaded.diags = limit_diagnostics(loaded.diags);
    loaded
}

fn parse_section_by_section_if_broken(
    file: &str,
    source: &str,
    options: LoadOptions,
) -> LoadedFile {
    let entire_file = TableSection {
        text: source,
        start: 0,
        lines: 0,
        name: None,
    };
    let whole = parse_section(file, &entire_file, options);
    if !whole.broken && !whole.has_unknown_tables {
        return whole.loaded;
    }
    let mut loaded = LoadedFile::default();
    for section in split_tables::split_at_table_headers(source) {
        let mut parsed = parse_section(file, &section, options);
        // A section with broken syntax adds mistakes and ids, but no rules and no `[[off]]` or
        // `[[override]]` entries.
        if parsed.broken {
            parsed.loaded.rules.clear();
            parsed.loaded.entries.clear();
        }
        loaded.add_section(parsed.loaded, section.start);
    }
    // Some mistakes are found only in the complete file. They are reported if no section has a
    // mistake.
    if !loaded
        .diags
        .iter()
        .any(|diag| diag.severity == Severity::Mistake)
    {
        loaded.diags = whole.loaded.diags;
    }
    loaded
}

/// If the name of the section's table is not valid in rule files, only the keys of the table are
/// checked. Places in the result are relative to the section, but line numbers to the file.
fn parse_section(file: &str, section: &TableSection<'_>, options: LoadOptions) -> ParseResult {
    let problems = DiagnosticCollector::new(section.text, section.lines);
    let (document, errors) = DeTable::parse_recoverable(section.text);
    for error in errors {
        problems.report_syntax_error(error.span().unwrap_or(0..0), error.message());
    }
    let mut loaded = LoadedFile::default();
    let top = CheckedTable::new(document.get_ref(), (0..0, &problems), &FILE_SCHEMA);
    let has_unknown_tables = top.has_mistakes();
    if section
        .name
        .is_none_or(|name| FILE_SCHEMA.optional.contains(&name))
    {
        for (name, parse) in [
            ("rule", parse_full_rule as RuleParser),
            ("release", release_rule::parse_release_rule),
            ("change", change_rule::parse_change_rule),
        ] {
            for item in top.repeated_tables(name) {
                let rule = parse(item, &mut loaded, (file, options));
                loaded.rules.extend(rule);
            }
        }
        for (name, schema) in [("off", &OFF_SCHEMA), ("override", &OVERRIDE_SCHEMA)] {
            let items = top.repeated_tables(name).into_iter();
            let entries = items.filter_map(|item| parse_user_entry(item, schema, file));
            loaded.entries.extend(entries);
        }
    }
    let broken = problems.has_syntax_errors();
    loaded.diags = problems.into_diags();
    ParseResult {
        loaded,
        broken,
        has_unknown_tables,
    }
}

type RuleParser = fn(Item<'_>, &mut LoadedFile, (&str, LoadOptions)) -> Option<(Rule, Span)>;

fn parse_examples(fields: &CheckedTable<'_>, sight: &FactVisibility) -> Vec<RuleExample> {
    let mut examples: Vec<RuleExample> = Vec::new();
    for item in fields.parse_list_field("example") {
        let Some(example) = example::parse_example(item, sight) else {
            continue;
        };
        if let Some((repeated, message)) = examples
            .iter()
            .find_map(|other| Some((other, example.duplicate_example_message(other)?)))
        {
            item.report_mistake(
                message,
                format!(
                    "the other example is on line {}; give this one its own facts and name",
                    repeated.line
                ),
            );
        }
        examples.push(example);
    }
    examples
}

fn parse_full_rule(
    item: Item<'_>,
    loaded: &mut LoadedFile,
    (file, options): (&str, LoadOptions),
) -> Option<(Rule, Span)> {
    let fields = CheckedTable::from_item(item, &RULE_SCHEMA)?;
    let head = RuleHeader::parse(&fields, loaded);
    let sight = &head.sight;
    let level = fields.parse_level(Level::ALL);
    let overrides = fields.parse_text_list("overrides").unwrap_or_default();
    let names = overrides.iter().map(|id| (id.text.clone(), id.span()));
    loaded.overridden.extend(names);
    let when = fields
        .get("when")
        .and_then(|when| condition::parse_condition(when, sight));
    let quantifies = when.as_ref().is_none_or(Condition::has_quantifier);
    let texts = head.parse_texts(&fields, quantifies);
    let advise = fields.parse_list_field("advise").into_iter();
    let advise: Vec<AdviceSpec> = advise
        .filter_map(|item| advice::parse_advice(item, sight, level, options.author))
        .collect();
    let evidence = fields.parse_list_field("evidence").into_iter();
    let body = RuleBody {
        question: fields.parse_text_field("question").map(|text| {
            if !text.text.trim_end().ends_with('?') {
                text.report_mistake(
                    "the question does not end with a question mark",
                    "ask a question whose answer is \"yes\" if the rule applies; it is shown while the rule is undecided",
                );
            }
            parse_question(&text)
        }),
        level,
        caps: rule_head::parse_verdict_cap(&fields, level, &texts),
        confidence: fields.parse_choice("confidence", Confidence::ALL),
        basis: fields.parse_choice("basis", AdviceBasis::ALL),
        overrides: overrides.into_iter().map(|id| id.text).collect(),
        when,
        change: None,
        advise,
        evidence: evidence.filter_map(parse_evidence).collect(),
        examples: match options.examples {
            ExampleLoading::Read => parse_examples(&fields, sight),
            ExampleLoading::Skipped => Vec::new(),
        },
    };
    if !fields.has_mistakes() {
        report_missing_remedy_if_critical(&fields, &texts, &body);
        if options.examples == ExampleLoading::Read {
            report_missing_examples(&fields, &body.examples);
        }
    }
    head.into_rule(&fields, texts, body, (file, options))
}

fn report_missing_examples(fields: &CheckedTable<'_>, examples: &[RuleExample]) {
    let lacking =
        |expect: &&ExpectedOutcome| !examples.iter().any(|example| example.expect == **expect);
    let lacking: Vec<&str> = ExpectedOutcome::ALL
        .iter()
        .filter(lacking)
        .map(|expect| expect.as_str())
        .collect();
    if !lacking.is_empty() {
        fields.report_missing_entry(
            format!("no example expects: {}", lacking.join(", ")),
            "add one example for each; examples are the rule's tests",
        );
    }
}

/// A critical rule needs a remedy, advice that is always given, or a reason why nothing helps.
/// Advice with a condition of its own, or with a value from a fact, is not always given.
fn report_missing_remedy_if_critical(
    fields: &CheckedTable<'_>,
    texts: &RuleTexts,
    body: &RuleBody,
) {
    let has_remedy = texts.remedy.is_some()
        || texts.no_remedy.is_some()
        || body.advise.iter().any(AdviceSpec::always_changes_setting);
    if body.level == Some(Level::Critical) && !has_remedy {
        fields.report_missing_entry(
            "a critical rule needs a remedy",
            "advise a fix, or describe it in `remedy`; if nothing on the host helps, give the reason in `no_remedy`",
        );
    }
}

/// A fact in the text is a mistake, because an undecided rule may lack the fact's value.
fn parse_question(text: &SpannedText<'_>) -> Template {
    let (template, unknown) = Template::parse(&collapse_whitespace(&text.text), |_| None);
    if let Some(name) = unknown.first() {
        text.report_mistake(
            format!("a question cannot contain the fact `{{{name}}}`"),
            "the fact may be unknown while the question is shown; only `{subject}` is always known",
        );
    }
    report_which_placeholder(text, &template);
    template
}

fn report_which_placeholder(text: &SpannedText<'_>, template: &Template) {
    if template.has_which_placeholder() {
        text.report_mistake(
            "`{which}` is allowed only in titles and reasons",
            "use `{subject}`, the name of the subject",
        );
    }
}

const OFF_SCHEMA: TableSchema = TableSchema {
    what: "this table",
    required: &["rule", "because"],
    optional: &["until"],
};
const OVERRIDE_SCHEMA: TableSchema = TableSchema {
    what: "this override",
    required: &["rule", "level", "because"],
    optional: &["until"],
};

fn parse_user_entry(item: Item<'_>, schema: &TableSchema, file: &str) -> Option<(UserEntry, Span)> {
    let fields = CheckedTable::from_item(item, schema)?;
    let rule = fields.parse_text_field("rule");
    let is_override = schema.required.contains(&"level");
    let level = is_override.then(|| fields.parse_level(&ADJUSTABLE_LEVELS));
    let (because, until) = (parse_reason(&fields), fields.parse_date("until"));
    let (rule, because) = (rule?, because?);
    // Without its level, an override would disable the rule.
    if fields.has_mistakes() || level == Some(None) {
        return None;
    }
    let entry = UserEntry {
        line: rule.line(),
        rule: rule.text,
        level: level.flatten(),
        because,
        until,
        file: file.to_owned(),
    };
    Some((entry, rule.span))
}

fn parse_reason(fields: &CheckedTable<'_>) -> Option<String> {
    let because = fields.parse_text_field("because")?;
    let words = collapse_whitespace(&because.text);
    if words.is_empty() {
        because.report_mistake(
            "`because` is empty",
            "give the reason for turning off the rule or changing its level; every report shows it",
        );
        return None;
    }
    Some(words)
}

const EVIDENCE_SCHEMA: TableSchema = TableSchema {
    what: "this evidence",
    required: &["source", "year", "says", "caveat"],
    optional: &["kernel", "hardware", "contradicted_by"],
};

const ACCEPTED_YEARS: std::ops::RangeInclusive<u16> = 1990..=2099;

fn parse_evidence(item: Item<'_>) -> Option<PublishedMeasurement> {
    let fields = CheckedTable::from_item(item, &EVIDENCE_SCHEMA)?;
    let words = |key: &str| {
        let text = fields.parse_text_field(key);
        text.map(|text| collapse_whitespace(&text.text))
    };
    let (source, says, caveat) = (words("source"), words("says"), words("caveat"));
    let (kernel, hardware, contradicted_by) =
        (words("kernel"), words("hardware"), words("contradicted_by"));
    let year = fields.get("year").and_then(parse_year);
    if fields.has_mistakes() {
        return None;
    }
    Some(PublishedMeasurement {
        source: source?,
        year: year?,
        kernel,
        hardware,
        text: says?,
        caveat: caveat?,
        contradicted_by,
    })
}

fn parse_year(item: Item<'_>) -> Option<u16> {
    let year = item
        .value()
        .as_integer()
        .and_then(|year| year.as_str().parse().ok());
    let year = year.filter(|year| ACCEPTED_YEARS.contains(year));
    if year.is_none() {
        item.report_mistake(
            "the year must be a whole number from 1990 to 2099",
            "write it without quotes, with four digits: 2019",
        );
    }
    year
}

/// Reports facts in the text that do not exist or are not visible from the rule's scope.
fn parse_one_line_template(text: &SpannedText<'_>, sight: &FactVisibility) -> Template {
    let one_line = SpannedText {
        text: collapse_whitespace(&text.text),
        ..text.clone()
    };
    parse_template(&one_line, sight)
}

/// Like [`parse_one_line_template`], but keeps line breaks.
fn parse_template(text: &SpannedText<'_>, sight: &FactVisibility) -> Template {
    let template = Template::parse(&text.text, |name| sight.find_fact(name, text)).0;
    report_which_placeholder(text, &template);
    template
}

fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().join_with(" ")
}
