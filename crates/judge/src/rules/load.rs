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

use toml::de::DeTable;

use self::condition::FactVisibility;
use self::fields::{CheckedTable, SpannedText, SpannedValue, TableSchema};
use self::rule_head::RuleHeader;
use self::split_tables::TableSection;
use super::diagnostic::{Diagnostic, DiagnosticCollector, Severity, Span, limit_diagnostics};
use super::model::{Author, Condition, ExampleLoading, ExpectedOutcome, Rule, RuleExample};
use super::template::Template;
use super::{AdviceBasis, Confidence, DisabledRule, Level, LevelOverride};
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
    pub off: Vec<(DisabledRule, Span)>,
    pub overrides: Vec<(LevelOverride, Span)>,
    pub diags: Vec<Diagnostic>,
}

impl LoadedFile {
    /// A section with broken syntax adds mistakes and ids, but no rules and no `[[off]]` or
    /// `[[override]]` entries.
    fn add_section(&mut self, piece: ParseResult, by: &TableSection<'_>) {
        let moved = |span: Span| span.start + by.start..span.end + by.start;
        let ParseResult {
            mut loaded, broken, ..
        } = piece;
        if broken {
            loaded.rules.clear();
            loaded.off.clear();
            loaded.overrides.clear();
        }
        for (rule, span) in loaded.rules {
            self.rules
                .push((rule.shifted_by_lines(by.lines), moved(span)));
        }
        for (off, span) in loaded.off {
            self.off.push((
                DisabledRule {
                    line: off.line + by.lines,
                    ..off
                },
                moved(span),
            ));
        }
        for (level, span) in loaded.overrides {
            self.overrides.push((
                LevelOverride {
                    line: level.line + by.lines,
                    ..level
                },
                moved(span),
            ));
        }
        self.ids
            .extend(loaded.ids.into_iter().map(|(id, span)| (id, moved(span))));
        self.overridden.extend(
            loaded
                .overridden
                .into_iter()
                .map(|(id, span)| (id, moved(span))),
        );
        self.diags
            .extend(loaded.diags.into_iter().map(|diag| Diagnostic {
                span: moved(diag.span),
                ..diag
            }));
    }
}

impl Rule {
    fn shifted_by_lines(mut self, lines: usize) -> Self {
        self.line += lines;
        self.examples
            .iter_mut()
            .for_each(|example| example.line += lines);
        self
    }
}

struct ParseResult {
    loaded: LoadedFile,
    broken: bool,
    has_unknown_tables: bool,
}

const MAX_FILE_BYTES: usize = 1 << 20;

/// The cost is bounded by the size of the file, the length of texts and lists, and the number of
/// listed mistakes.
pub(super) fn parse_rule_file(file: &str, source: &str, terms: LoadOptions) -> LoadedFile {
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
    let mut loaded = parse_section_by_section_if_broken(file, source, terms);
    loaded.diags = limit_diagnostics(loaded.diags);
    loaded
}

fn parse_section_by_section_if_broken(file: &str, source: &str, terms: LoadOptions) -> LoadedFile {
    let whole = parse_file_or_section(file, source, terms, true);
    if !whole.broken && !whole.has_unknown_tables {
        return whole.loaded;
    }
    let mut loaded = LoadedFile::default();
    for piece in split_tables::split_at_table_headers(source) {
        let known = piece
            .name
            .is_none_or(|word| FILE_SCHEMA.optional.contains(&word));
        loaded.add_section(
            parse_file_or_section(file, piece.text, terms, known),
            &piece,
        );
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

/// `known` is false for a section whose table name is not valid in rule files; then only the keys
/// of that table are checked.
fn parse_file_or_section(file: &str, source: &str, terms: LoadOptions, known: bool) -> ParseResult {
    let problems = DiagnosticCollector::new(source);
    let (document, errors) = DeTable::parse_recoverable(source);
    for error in errors {
        problems.report_syntax_error(error.span().unwrap_or(0..0), error.message());
    }
    let mut loaded = LoadedFile::default();
    let before = problems.mistake_count();
    let top = CheckedTable::new(document.get_ref(), 0..0, &FILE_SCHEMA, &problems);
    let has_unknown_tables = problems.mistake_count() > before;
    if known {
        for item in top.repeated_tables("rule") {
            let rule = parse_full_rule(item, file, terms, &mut loaded, &problems);
            loaded.rules.extend(rule);
        }
        for item in top.repeated_tables("release") {
            let rule = release_rule::parse_release_rule(item, file, terms, &mut loaded, &problems);
            loaded.rules.extend(rule);
        }
        for item in top.repeated_tables("change") {
            let rule = change_rule::parse_change_rule(item, file, terms, &mut loaded, &problems);
            loaded.rules.extend(rule);
        }
        let entries = top.repeated_tables("off").iter();
        loaded.off = entries
            .filter_map(|item| parse_disabled_rule(item, file, &problems))
            .collect();
        let entries = top.repeated_tables("override").iter();
        loaded.overrides = entries
            .filter_map(|item| parse_level_override(item, file, &problems))
            .collect();
    }
    let broken = problems.has_syntax_errors();
    loaded.diags = problems.into_diags();
    ParseResult {
        loaded,
        broken,
        has_unknown_tables,
    }
}

fn parse_examples(
    fields: &CheckedTable<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Vec<RuleExample> {
    let mut examples: Vec<RuleExample> = Vec::new();
    for item in fields.parse_list_field("example") {
        let Some(example) = example::parse_example(item, sight, problems) else {
            continue;
        };
        if let Some((repeated, message)) = examples
            .iter()
            .find_map(|other| Some((other, example.duplicate_example_message(other)?)))
        {
            problems.report_mistake(
                item,
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
    item: SpannedValue<'_>,
    file: &str,
    terms: LoadOptions,
    loaded: &mut LoadedFile,
    problems: &DiagnosticCollector,
) -> Option<(Rule, Span)> {
    let author = terms.author;
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &RULE_SCHEMA, problems)?;
    let head = RuleHeader::parse(&fields, loaded, problems);
    let RuleHeader { scope, sight, .. } = &head;
    let level = fields.parse_level(Level::ALL);
    let caps = rule_head::parse_verdict_cap(&head, &fields, level);
    let confidence = fields.parse_choice("confidence", Confidence::ALL);
    let basis = fields.parse_choice("basis", AdviceBasis::ALL);
    let question = fields.parse_text_field("question");
    if let Some(question) = question
        .as_ref()
        .filter(|question| !question.text.trim_end().ends_with('?'))
    {
        problems.report_mistake(
            question,
            "the question does not end with a question mark",
            "ask a question whose answer is \"yes\" if the rule applies; it is shown while the rule is undecided",
        );
    }
    let overrides = fields.parse_text_list("overrides").unwrap_or_default();
    loaded.overridden.extend(
        overrides
            .iter()
            .map(|id| (id.text.clone(), id.span.clone())),
    );
    let when = fields
        .get("when")
        .and_then(|when| condition::parse_condition(when, sight, problems));
    let quantifies = when.as_ref().is_none_or(Condition::has_quantifier);
    let texts = head.parse_title_reason_and_remedies(quantifies, problems);
    let question = question.map(|text| parse_question(&text, problems));
    let items = fields.parse_list_field("advise").iter();
    let advise: Vec<AdviceSpec> = items
        .filter_map(|item| advice::parse_advice(item, sight, level, author, problems))
        .collect();
    let items = fields.parse_list_field("evidence").iter();
    let evidence = items
        .filter_map(|item| parse_evidence(item, problems))
        .collect();
    let examples = match terms.examples {
        ExampleLoading::Read => parse_examples(&fields, sight, problems),
        ExampleLoading::Skipped => Vec::new(),
    };
    let lacking =
        |expect: &&ExpectedOutcome| !examples.iter().any(|example| example.expect == **expect);
    let lacking: Vec<&str> = ExpectedOutcome::ALL
        .iter()
        .filter(lacking)
        .map(|expect| expect.as_str())
        .collect();
    let sound = problems.mistake_count() == before;
    if sound {
        texts.remedy.report_missing_remedy_if_critical(
            level,
            &advise,
            fields.span.clone(),
            problems,
        );
    }
    if sound && terms.examples == ExampleLoading::Read && !lacking.is_empty() {
        problems.report_missing_entry(
            &fields,
            format!("no example expects: {}", lacking.join(", ")),
            "add one example for each; examples are the rule's tests",
        );
    }
    if problems.mistake_count() > before {
        return None;
    }
    let scope = *scope;
    let rule = Rule {
        id: head.id.as_ref()?.text.clone(),
        since: head.since?.text,
        checked: head.checked,
        scope: scope?,
        title: texts.title?,
        question: question?,
        level: level?,
        caps,
        confidence: confidence?,
        basis: basis.unwrap_or(match confidence? {
            Confidence::Measured => AdviceBasis::Measured,
            Confidence::Experimental
            | Confidence::Documented
            | Confidence::CrashTested
            | Confidence::Certain => AdviceBasis::Documented,
        }),
        because: texts.because?,
        remedy: texts.remedy.action,
        no_remedy: texts.remedy.no_action,
        refs: head.refs?.into(),
        overrides: overrides.into_iter().map(|id| id.text).collect(),
        when: when?,
        change: None,
        advise,
        evidence,
        examples,
        author,
        file: file.to_owned(),
        line: problems.line_of_offset(item.span().start),
    };
    Some((rule, head.id?.span))
}

/// A fact in the text is a mistake, because an undecided rule may lack the fact's value.
fn parse_question(text: &SpannedText, problems: &DiagnosticCollector) -> Template {
    let (template, unknown) = Template::parse(&collapse_whitespace(&text.text), |_| None);
    if let Some(name) = unknown.first() {
        problems.report_mistake(
            text,
            format!("a question cannot contain the fact `{{{name}}}`"),
            "the fact may be unknown while the question is shown; only `{subject}` is always known",
        );
    }
    if template.has_which_placeholder() {
        problems.report_mistake(
            text,
            "`{which}` is allowed only in titles and reasons",
            WHICH_HELP,
        );
    }
    template
}

const DISABLED_RULE_SCHEMA: TableSchema = TableSchema {
    what: "this table",
    required: &["rule", "because"],
    optional: &["until"],
};
const OVERRIDE_SCHEMA: TableSchema = TableSchema {
    what: "this override",
    required: &["rule", "level", "because"],
    optional: &["until"],
};

fn parse_disabled_rule(
    item: SpannedValue<'_>,
    file: &str,
    problems: &DiagnosticCollector,
) -> Option<(DisabledRule, Span)> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &DISABLED_RULE_SCHEMA, problems)?;
    let rule = fields.parse_text_field("rule");
    let (because, until) = (parse_reason(&fields), fields.parse_date("until"));
    let (rule, because) = (rule?, because?);
    if problems.mistake_count() > before {
        return None;
    }
    let line = problems.line_of_offset(rule.span.start);
    Some((
        DisabledRule {
            rule: rule.text,
            because,
            until,
            file: file.to_owned(),
            line,
        },
        rule.span,
    ))
}

/// The field `was` of the result is a placeholder, because the user's file does not state the
/// rule's own level.
fn parse_level_override(
    item: SpannedValue<'_>,
    file: &str,
    problems: &DiagnosticCollector,
) -> Option<(LevelOverride, Span)> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &OVERRIDE_SCHEMA, problems)?;
    let rule = fields.parse_text_field("rule");
    let level = fields.parse_level(&ADJUSTABLE_LEVELS);
    let (because, until) = (parse_reason(&fields), fields.parse_date("until"));
    let (rule, level, because) = (rule?, level?, because?);
    if problems.mistake_count() > before {
        return None;
    }
    let line = problems.line_of_offset(rule.span.start);
    let file = file.to_owned();
    Some((
        LevelOverride {
            rule: rule.text,
            was: level,
            level,
            because,
            until,
            file,
            line,
        },
        rule.span,
    ))
}

fn parse_reason(fields: &CheckedTable<'_>) -> Option<String> {
    let because = fields.parse_text_field("because")?;
    let words = collapse_whitespace(&because.text);
    if words.is_empty() {
        fields.problems.report_mistake(
            because.span,
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

fn parse_evidence(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<PublishedMeasurement> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &EVIDENCE_SCHEMA, problems)?;
    let words = |key: &str| {
        fields
            .parse_text_field(key)
            .map(|SpannedText { text, .. }| collapse_whitespace(&text))
    };
    let (source, says, caveat) = (words("source"), words("says"), words("caveat"));
    let (kernel, hardware, contradicted_by) =
        (words("kernel"), words("hardware"), words("contradicted_by"));
    let year = fields
        .get("year")
        .and_then(|item| parse_year(item, problems));
    if problems.mistake_count() > before {
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

fn parse_year(item: SpannedValue<'_>, problems: &DiagnosticCollector) -> Option<u16> {
    let year = item
        .get_ref()
        .as_integer()
        .and_then(|year| year.as_str().parse().ok());
    let year = year.filter(|year| ACCEPTED_YEARS.contains(year));
    if year.is_none() {
        problems.report_mistake(
            item,
            "the year must be a whole number from 1990 to 2099",
            "write it without quotes, with four digits: 2019",
        );
    }
    year
}

const WHICH_HELP: &str = "use `{subject}`, the name of the subject";

/// Reports facts in the text that do not exist or are not visible from the rule's scope.
fn parse_one_line_template(
    text: &SpannedText,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Template {
    parse_template_with_visible_facts(
        &collapse_whitespace(&text.text),
        &text.span,
        sight,
        problems,
    )
}

/// Like [`parse_one_line_template`], but keeps line breaks.
fn parse_template_with_visible_facts(
    text: &str,
    span: &Span,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Template {
    let template = Template::parse(text, |name| {
        condition::find_visible_fact(name, span, sight, problems)
    })
    .0;
    if template.has_which_placeholder() {
        problems.report_mistake(
            span,
            "`{which}` is allowed only in titles and reasons",
            WHICH_HELP,
        );
    }
    template
}

fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().join_with(" ")
}

struct RemedyTemplates {
    pub action: Option<Template>,
    pub no_action: Option<Template>,
}

impl RemedyTemplates {
    /// A critical rule needs a remedy, advice that is always given, or a reason why nothing helps.
    /// Advice with a condition of its own, or with a value from a fact, is not always given.
    pub fn report_missing_remedy_if_critical(
        &self,
        level: Option<Level>,
        advise: &[AdviceSpec],
        span: Span,
        problems: &DiagnosticCollector,
    ) {
        let told = self.action.is_some()
            || self.no_action.is_some()
            || advise.iter().any(AdviceSpec::always_changes_setting);
        if level == Some(Level::Critical) && !told {
            problems.report_missing_entry(
            span,
            "a critical rule needs a remedy",
            "advise a fix, or describe it in `remedy`; if nothing on the host helps, give the reason in `no_remedy`",
        );
        }
    }
}
