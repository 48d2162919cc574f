//! Reads rule files, reporting all mistakes of a file at once, each at its place. A file with
//! broken syntax is read table by table, because the parser recovers by skipping, and a rule
//! without some of its conditions is another rule.

mod fields;
mod split_tables;
mod remedy {
    //! The remedy of a rule, required for critical rules.
    //!
    //! Advice counts as a remedy only if it is always given: with a condition of its own or a value
    //! from a fact it may be missing.

    use crate::rules::Level;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::model::AdviceSpec;
    use crate::rules::template::Template;

    pub(super) struct RemedyTemplates {
        pub action: Option<Template>,
        /// Why nothing on the host fixes it.
        pub no_action: Option<Template>,
    }

    impl RemedyTemplates {
        /// Reports a critical rule that tells its reader nothing to do.
        pub fn check(
            &self,
            level: Option<Level>,
            advise: &[AdviceSpec],
            span: Span,
            problems: &mut Diagnostics,
        ) {
            let told = self.action.is_some()
                || self.no_action.is_some()
                || advise.iter().any(AdviceSpec::is_always_given);
            if level == Some(Level::Critical) && !told {
                problems.missing_entry(
                span,
                "a critical rule without a remedy",
                "advise a fix, or describe it in `remedy`; `no_remedy` says why nothing on the host fixes it",
            );
            }
        }
    }
}
mod condition;
mod value;
mod prose {
    //! The texts of rules: lines joined to paragraphs, with placeholders for facts.

    use super::condition::{self, VisibleScopes};
    use super::fields::SpannedText;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::template::Template;

    /// The help where `{which}` is not allowed.
    pub const WHICH_HELP: &str = "write `{subject}`, which is the subject's own name";

    /// Every fact in the text must exist and be visible.
    pub fn prose_template(
        text: &SpannedText,
        sight: &VisibleScopes,
        problems: &mut Diagnostics,
    ) -> Template {
        checked_template(&join_lines(&text.text), &text.span, sight, problems)
    }

    /// Without joining lines.
    pub fn checked_template(
        text: &str,
        span: &Span,
        sight: &VisibleScopes,
        problems: &mut Diagnostics,
    ) -> Template {
        let template = Template::parse(text, |name| {
            condition::visible_fact(name, span, sight, problems)
        })
        .0;
        if template.uses_which() {
            problems.report(
                span,
                "`{which}` stands in titles and reasons only",
                WHICH_HELP,
            );
        }
        template
    }

    /// Joins lines to one paragraph.
    pub fn join_lines(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
mod evidence {

    use super::fields::{CheckedTable, SpannedText, SpannedValue, TableSchema};
    use super::prose::join_lines;
    use crate::rules::diagnostic::Diagnostics;
    use crate::rules::evidence::Study;

    const EVIDENCE: TableSchema = TableSchema {
        what: "this evidence",
        required: &["source", "year", "says", "caveat"],
        optional: &["kernel", "hardware", "contradicted_by"],
    };

    /// Plausible years of a measurement about walwise's subject.
    const YEARS: std::ops::RangeInclusive<u16> = 1990..=2099;

    pub(super) fn parse_evidence(
        item: SpannedValue<'_>,
        problems: &mut Diagnostics,
    ) -> Option<Study> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &EVIDENCE, problems)?;
        let mut words = |key: &str| {
            fields
                .text(key, problems)
                .map(|SpannedText { text, .. }| join_lines(&text))
        };
        let (source, says, caveat) = (words("source"), words("says"), words("caveat"));
        let (kernel, hardware, contradicted_by) =
            (words("kernel"), words("hardware"), words("contradicted_by"));
        let year = fields
            .get("year")
            .and_then(|item| parse_year(item, problems));
        if problems.count() > before {
            return None;
        }
        Some(Study {
            source: source?,
            year: year?,
            kernel,
            hardware,
            text: says?,
            caveat: caveat?,
            contradicted_by,
        })
    }

    fn parse_year(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<u16> {
        let year = item
            .get_ref()
            .as_integer()
            .and_then(|year| year.as_str().parse().ok());
        let year = year.filter(|year| YEARS.contains(year));
        if year.is_none() {
            problems.report(
                item,
                "a year is a number such as 2019",
                "write it without quotes, with four digits: 2019",
            );
        }
        year
    }
}
mod overrides {
    //! Statements of a file about rules elsewhere: `[[off]]` and `[[override]]`.

    use super::fields::{CheckedTable, SpannedValue, TableSchema};
    use super::prose::join_lines;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::overrides::{ADJUSTABLE_LEVELS, DisabledRule, LevelOverride};

    const OFF: TableSchema = TableSchema {
        what: "this table",
        required: &["rule", "because"],
        optional: &["until"],
    };
    const OVERRIDE: TableSchema = TableSchema {
        what: "this override",
        required: &["rule", "level", "because"],
        optional: &["until"],
    };

    pub(super) fn parse_off(
        item: SpannedValue<'_>,
        file: &str,
        problems: &mut Diagnostics,
    ) -> Option<(DisabledRule, Span)> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &OFF, problems)?;
        let rule = fields.text("rule", problems);
        let (because, until) = (
            parse_reason(&fields, problems),
            fields.date("until", problems),
        );
        let (rule, because) = (rule?, because?);
        if problems.count() > before {
            return None;
        }
        let line = problems.line(rule.span.start);
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

    /// The rule's own level is not known here.
    pub(super) fn parse_override(
        item: SpannedValue<'_>,
        file: &str,
        problems: &mut Diagnostics,
    ) -> Option<(LevelOverride, Span)> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &OVERRIDE, problems)?;
        let rule = fields.text("rule", problems);
        let level = fields.level(&ADJUSTABLE_LEVELS, problems);
        let (because, until) = (
            parse_reason(&fields, problems),
            fields.date("until", problems),
        );
        let (rule, level, because) = (rule?, level?, because?);
        if problems.count() > before {
            return None;
        }
        let line = problems.line(rule.span.start);
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

    fn parse_reason(fields: &CheckedTable<'_>, problems: &mut Diagnostics) -> Option<String> {
        let because = fields.text("because", problems)?;
        let words = join_lines(&because.text);
        if words.is_empty() {
            problems.report(
                because.span,
                "a reason without a word",
                "every report shows it: say why",
            );
            return None;
        }
        Some(words)
    }
}
mod advice;
mod example;
mod release;
mod rule_head;

use toml::de::DeTable;

use self::condition::VisibleScopes;
use self::fields::{CheckedTable, SpannedText, SpannedValue, TableSchema};
use self::prose::{WHICH_HELP, join_lines};
use self::rule_head::RuleHead;
use self::split_tables::TableSection;
use super::diagnostic::{Diagnostic, Diagnostics, Severity, Span, limit_diagnostics};
use super::model::{Author, Condition, Example, ExpectedOutcome, Rule, RuleExamples};
use super::overrides::{DisabledRule, LevelOverride};
use super::template::Template;
use super::{Basis, Confidence, Level};

const FILE: TableSchema = TableSchema {
    what: "a rule file",
    required: &[],
    optional: &["rule", "release", "off", "override"],
};
const RULE: TableSchema = TableSchema {
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

/// Who wrote a file, and how much of it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadOptions {
    pub author: Author,
    pub examples: RuleExamples,
}

impl LoadOptions {
    /// Options for a file that comes with walwise.
    pub(super) const fn builtin(examples: RuleExamples) -> Self {
        Self {
            author: Author::Walwise,
            examples,
        }
    }

    /// Options for a user's file.
    pub(super) const USER: Self = Self {
        author: Author::User,
        examples: RuleExamples::Read,
    };
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct LoadedFile {
    /// Rules without mistakes, each with the place of its id.
    pub rules: Vec<(Rule, Span)>,
    /// The ids of all rules, including those with mistakes.
    pub ids: Vec<(String, Span)>,
    /// The ids in `overrides` of rules.
    pub overridden: Vec<(String, Span)>,
    pub off: Vec<(DisabledRule, Span)>,
    pub overrides: Vec<(LevelOverride, Span)>,
    pub diags: Vec<Diagnostic>,
}

impl LoadedFile {
    /// Adds a section of the file. One with broken syntax adds only its mistakes and ids.
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
            self.rules.push((rule.shifted(by.lines), moved(span)));
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
    /// Moves it down by a number of lines.
    fn shifted(mut self, lines: usize) -> Self {
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
    /// Whether it has tables unknown to rule files.
    has_unknown_tables: bool,
}

/// In bytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Reads a file. The cost is bounded by its size, by the length of texts and lists, and by the
/// number of listed mistakes.
pub(super) fn load(file: &str, source: &str, terms: LoadOptions) -> LoadedFile {
    if source.len() > MAX_FILE_BYTES {
        let message = format!(
            "a file of {} bytes; the largest that is read has {MAX_FILE_BYTES}",
            source.len()
        );
        let help = "put its rules into several files".to_owned();
        return LoadedFile {
            diags: vec![Diagnostic::mistake(0..0, message, help)],
            ..LoadedFile::default()
        };
    }
    let mut loaded = load_recovering(file, source, terms);
    loaded.diags = limit_diagnostics(loaded.diags);
    loaded
}

fn load_recovering(file: &str, source: &str, terms: LoadOptions) -> LoadedFile {
    let whole = parse(file, source, terms, true);
    if !whole.broken && !whole.has_unknown_tables {
        return whole.loaded;
    }
    let mut loaded = LoadedFile::default();
    for piece in split_tables::table_sections(source) {
        let known = piece.name.is_none_or(|word| FILE.optional.contains(&word));
        loaded.add_section(parse(file, piece.text, terms, known), &piece);
    }
    // Some mistakes show only in the file as a whole.
    if !loaded
        .diags
        .iter()
        .any(|diag| diag.severity == Severity::Mistake)
    {
        loaded.diags = whole.loaded.diags;
    }
    loaded
}

/// If `known` is false the text is no table of rule files, and only its keys are checked.
fn parse(file: &str, source: &str, terms: LoadOptions, known: bool) -> ParseResult {
    let mut problems = Diagnostics::new(source);
    let (document, errors) = DeTable::parse_recoverable(source);
    for error in errors {
        problems.broken_syntax(error.span().unwrap_or(0..0), error.message());
    }
    let mut loaded = LoadedFile::default();
    let before = problems.count();
    let top = CheckedTable::new(document.get_ref(), 0..0, &FILE, &mut problems);
    let strange = problems.count() > before;
    if known {
        for item in top.repeated_tables("rule", &mut problems) {
            let rule = parse_rule(item, file, terms, &mut loaded, &mut problems);
            loaded.rules.extend(rule);
        }
        for item in top.repeated_tables("release", &mut problems) {
            let rule = release::parse_release(item, file, terms, &mut loaded, &mut problems);
            loaded.rules.extend(rule);
        }
        for item in top.repeated_tables("off", &mut problems) {
            loaded
                .off
                .extend(overrides::parse_off(item, file, &mut problems));
        }
        for item in top.repeated_tables("override", &mut problems) {
            loaded
                .overrides
                .extend(overrides::parse_override(item, file, &mut problems));
        }
    }
    let broken = problems.is_broken();
    loaded.diags = problems.into_diags();
    ParseResult {
        loaded,
        broken,
        has_unknown_tables: strange,
    }
}

/// Reports examples that repeat another one.
fn parse_examples(
    fields: &CheckedTable<'_>,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for item in fields.tables("example", problems) {
        let Some(example) = example::parse_example(item, sight, problems) else {
            continue;
        };
        if let Some((repeated, message)) = examples
            .iter()
            .find_map(|other| Some((other, example.duplicated_case(other)?)))
        {
            problems.report(
                item,
                message,
                format!(
                    "the other stands in line {}; give it facts and a name of its own",
                    repeated.line
                ),
            );
        }
        examples.push(example);
    }
    examples
}

fn parse_rule(
    item: SpannedValue<'_>,
    file: &str,
    terms: LoadOptions,
    loaded: &mut LoadedFile,
    problems: &mut Diagnostics,
) -> Option<(Rule, Span)> {
    let author = terms.author;
    let before = problems.count();
    let fields = CheckedTable::open(item, &RULE, problems)?;
    let head = RuleHead::parse(&fields, loaded, problems);
    let RuleHead { scope, sight, .. } = &head;
    let level = fields.level(&Level::ALL, problems);
    let caps = rule_head::parse_cap(&head, &fields, level, problems);
    let confidence = fields.choice("confidence", &Confidence::ALL, Confidence::as_str, problems);
    let basis = fields.choice("basis", &Basis::ALL, Basis::as_str, problems);
    let question = fields.text("question", problems);
    if let Some(question) = question
        .as_ref()
        .filter(|question| !question.text.trim_end().ends_with('?'))
    {
        problems.report(
            question,
            "a question without a question mark",
            "it stands where the rule is undecided, and \"yes\" means that the rule applies",
        );
    }
    let overrides = fields.texts("overrides", problems).unwrap_or_default();
    loaded.overridden.extend(
        overrides
            .iter()
            .map(|id| (id.text.clone(), id.span.clone())),
    );
    let when = fields
        .get("when")
        .and_then(|when| condition::parse_condition(when, sight, problems));
    let quantifies = when.as_ref().is_none_or(Condition::has_quantifier);
    let texts = head.templates(quantifies, problems);
    let question = question.map(|text| question_template(&text, problems));
    let mut advise = Vec::new();
    for item in fields.tables("advise", problems) {
        advise.extend(advice::parse_advice(item, sight, level, author, problems));
    }
    let mut evidence = Vec::new();
    for item in fields.tables("evidence", problems) {
        evidence.extend(evidence::parse_evidence(item, problems));
    }
    let examples = match terms.examples {
        RuleExamples::Read => parse_examples(&fields, sight, problems),
        RuleExamples::Skipped => Vec::new(),
    };
    let lacking =
        |expect: &ExpectedOutcome| !examples.iter().any(|example| example.expect == *expect);
    let lacking: Vec<&str> = ExpectedOutcome::ALL
        .into_iter()
        .filter(lacking)
        .map(ExpectedOutcome::as_str)
        .collect();
    let sound = problems.count() == before;
    if sound {
        texts
            .remedy
            .check(level, &advise, fields.span.clone(), problems);
    }
    if sound && terms.examples == RuleExamples::Read && !lacking.is_empty() {
        problems.missing_entry(
            &fields,
            format!("no example of: {}", lacking.join(", ")),
            "examples are the rule's tests",
        );
    }
    if problems.count() > before {
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
            Confidence::Measured => Basis::Measured,
            Confidence::Experimental | Confidence::Documented | Confidence::Certain => {
                Basis::Documented
            }
        }),
        because: texts.because?,
        remedy: texts.remedy.action,
        no_remedy: texts.remedy.no_action,
        refs: head.refs?.into(),
        overrides: overrides.into_iter().map(|id| id.text).collect(),
        when: when?,
        advise,
        evidence,
        examples,
        author,
        file: file.to_owned(),
        line: problems.line(item.span().start),
    };
    Some((rule, head.id?.span))
}

/// Parses a question, in which only the subject is certain to be known.
fn question_template(text: &SpannedText, problems: &mut Diagnostics) -> Template {
    let (template, unknown) = Template::parse(&join_lines(&text.text), |_| None);
    if let Some(name) = unknown.first() {
        problems.report(
            text,
            format!("`{{{name}}}` in a question"),
            "the fact may be unknown where it is asked; `{subject}` is not",
        );
    }
    if template.uses_which() {
        problems.report(
            text,
            "`{which}` stands in titles and reasons only",
            WHICH_HELP,
        );
    }
    template
}
