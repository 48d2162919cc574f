//! Reads rule files: TOML to rules, with all mistakes of a file at once, each at its place.
//!
//! A rule with a mistake is left out and the others are kept; the caller decides the consequences
//! of a mistake. Checks across files (a duplicate id) are left to [`super::set`]. A file with
//! broken syntax is read again table by table. The parser recovers by skipping, and a rule that has
//! lost some of its conditions is another rule.

mod fields;
mod pieces;
mod remedy {
    //! The remedy of a rule, which every critical rule has to state.
    //!
    //! Advice counts as a remedy only where it is always given. Advice with a condition of its own,
    //! or with a value from a fact, may be missing where the rule applies.

    use crate::rules::Level;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::model::AdviceSpec;
    use crate::rules::template::Template;

    /// The two texts, of which a rule has at most the one that fits.
    pub(super) struct RemedyTemplates {
        pub here: Option<Template>,
        /// Why nothing on the host mends it.
        pub none: Option<Template>,
    }

    impl RemedyTemplates {
        /// Reports a critical rule without any instruction for its reader.
        pub fn check(
            &self,
            level: Option<Level>,
            advise: &[AdviceSpec],
            span: Span,
            problems: &mut Diagnostics,
        ) {
            let told = self.here.is_some()
                || self.none.is_some()
                || advise.iter().any(AdviceSpec::is_always_given);
            if level == Some(Level::Critical) && !told {
                problems.missing(
                span,
                "a critical rule without a remedy",
                "advise what mends it, or say it in `remedy`; `no_remedy` says why nothing on the host does",
            );
            }
        }
    }
}
mod cond;
mod value;
mod prose {
    //! The texts of rules: lines joined to paragraphs, and the facts named in them.

    use super::cond::{self, Sight};
    use super::fields::Text;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::template::Template;

    /// The advice where `{which}` is not allowed.
    pub const WHICH: &str = "write `{subject}`, which is the subject's own name";

    /// A text with facts in it, each of which exists and is visible.
    pub fn prose(text: &Text, sight: &Sight, problems: &mut Diagnostics) -> Template {
        template(&flowing(&text.text), &text.span, sight, problems)
    }

    /// The same of a text at this place.
    pub fn template(
        text: &str,
        span: &Span,
        sight: &Sight,
        problems: &mut Diagnostics,
    ) -> Template {
        let template = Template::parse(text, |name| cond::named(name, span, sight, problems)).0;
        if template.names_which() {
            problems.report(span, "`{which}` stands in titles and reasons only", WHICH);
        }
        template
    }

    /// Lines joined to one paragraph.
    pub fn flowing(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
mod evidence {
    //! Published measurements in a rule.

    use super::fields::{CheckedTable, SpannedValue, TableSchema, Text};
    use super::prose::flowing;
    use crate::rules::diagnostic::Diagnostics;
    use crate::rules::evidence::Study;

    const EVIDENCE: TableSchema = TableSchema {
        what: "this evidence",
        required: &["source", "year", "says", "caveat"],
        optional: &["kernel", "hardware", "contradicted_by"],
    };

    /// The plausible years of a measurement about walwise's subject.
    const YEARS: std::ops::RangeInclusive<u16> = 1990..=2099;

    /// Reads a piece of evidence.
    pub(super) fn evidence(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<Study> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &EVIDENCE, problems)?;
        let mut words = |key: &str| {
            fields
                .text(key, problems)
                .map(|Text { text, .. }| flowing(&text))
        };
        let (source, says, caveat) = (words("source"), words("says"), words("caveat"));
        let (kernel, hardware, contradicted_by) =
            (words("kernel"), words("hardware"), words("contradicted_by"));
        let year = fields.get("year").and_then(|item| year(item, problems));
        if problems.count() > before {
            return None;
        }
        Some(Study {
            source: source?,
            year: year?,
            kernel,
            hardware,
            says: says?,
            caveat: caveat?,
            contradicted_by,
        })
    }

    fn year(item: SpannedValue<'_>, problems: &mut Diagnostics) -> Option<u16> {
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
mod others {
    //! Statements of a file about rules elsewhere: that one is off, or has another level.

    use super::fields::{CheckedTable, SpannedValue, TableSchema};
    use super::prose::flowing;
    use crate::rules::diagnostic::{Diagnostics, Span};
    use crate::rules::others::{GIVEN, Off, Override};

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

    pub(super) fn off(
        item: SpannedValue<'_>,
        file: &str,
        problems: &mut Diagnostics,
    ) -> Option<(Off, Span)> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &OFF, problems)?;
        let rule = fields.text("rule", problems);
        let (because, until) = (reason(&fields, problems), fields.date("until", problems));
        let (rule, because) = (rule?, because?);
        if problems.count() > before {
            return None;
        }
        let line = problems.line(rule.span.start);
        Some((
            Off {
                rule: rule.text,
                because,
                until,
                file: file.to_owned(),
                line,
            },
            rule.span,
        ))
    }

    /// Parses an `[[override]]`. The rule's own level is unknown here.
    pub(super) fn level(
        item: SpannedValue<'_>,
        file: &str,
        problems: &mut Diagnostics,
    ) -> Option<(Override, Span)> {
        let before = problems.count();
        let fields = CheckedTable::open(item, &OVERRIDE, problems)?;
        let rule = fields.text("rule", problems);
        let level = fields.level(&GIVEN, problems);
        let (because, until) = (reason(&fields, problems), fields.date("until", problems));
        let (rule, level, because) = (rule?, level?, because?);
        if problems.count() > before {
            return None;
        }
        let line = problems.line(rule.span.start);
        let file = file.to_owned();
        Some((
            Override {
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

    /// The reason, which must not be empty.
    fn reason(fields: &CheckedTable<'_>, problems: &mut Diagnostics) -> Option<String> {
        let because = fields.text("because", problems)?;
        let words = flowing(&because.text);
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
mod head;
mod release;

use toml::de::DeTable;

use self::cond::Sight;
use self::fields::{CheckedTable, SpannedValue, TableSchema, Text};
use self::head::RuleHead;
use self::pieces::TableSection;
use self::prose::{WHICH, flowing};
use super::diagnostic::{Diag, Diagnostics, Span, Weight, few};
use super::model::{Author, Cond, Example, Expect, Rule, RuleExamples};
use super::others::{Off, Override};
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
pub(super) struct Terms {
    /// The author of its rules.
    pub author: Author,
    /// Whether their examples are read.
    pub examples: RuleExamples,
}

impl Terms {
    /// Those of a file that comes with walwise.
    pub(super) const fn ours(examples: RuleExamples) -> Self {
        Self {
            author: Author::Walwise,
            examples,
        }
    }

    /// Those of a user's file.
    pub(super) const USERS: Self = Self {
        author: Author::User,
        examples: RuleExamples::Read,
    };
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The rules without mistakes, each with the place of its id.
    pub rules: Vec<(Rule, Span)>,
    /// The ids of all rules, those with mistakes too.
    pub ids: Vec<(String, Span)>,
    /// The ids that rules say they override.
    pub overridden: Vec<(String, Span)>,
    pub off: Vec<(Off, Span)>,
    /// Rules to which it gives another level.
    pub levels: Vec<(Override, Span)>,
    pub diags: Vec<Diag>,
}

impl Loaded {
    /// Adds the contents of a piece of the file; a piece with broken syntax adds only its mistakes
    /// and ids.
    fn add(&mut self, piece: Read, by: &TableSection<'_>) {
        let moved = |span: Span| span.start + by.start..span.end + by.start;
        let Read {
            mut loaded, broken, ..
        } = piece;
        if broken {
            loaded.rules.clear();
            loaded.off.clear();
            loaded.levels.clear();
        }
        for (rule, span) in loaded.rules {
            self.rules.push((rule.moved(by.lines), moved(span)));
        }
        for (off, span) in loaded.off {
            self.off.push((
                Off {
                    line: off.line + by.lines,
                    ..off
                },
                moved(span),
            ));
        }
        for (level, span) in loaded.levels {
            self.levels.push((
                Override {
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
        self.diags.extend(loaded.diags.into_iter().map(|diag| Diag {
            span: moved(diag.span),
            ..diag
        }));
    }
}

impl Rule {
    /// The same, moved down by so many lines.
    fn moved(mut self, lines: usize) -> Self {
        self.line += lines;
        self.examples
            .iter_mut()
            .for_each(|example| example.line += lines);
        self
    }
}

/// The result of one parse.
struct Read {
    loaded: Loaded,
    /// Whether its syntax is broken.
    broken: bool,
    /// Whether it has tables unknown to rule files.
    strange: bool,
}

/// The largest file that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// Reads a file. The cost is bounded by its size, the length of its texts and lists, and the number
/// of listed mistakes.
pub(super) fn load(file: &str, source: &str, terms: Terms) -> Loaded {
    if source.len() > LARGEST {
        let message = format!(
            "a file of {} bytes; the largest that is read has {LARGEST}",
            source.len()
        );
        let help = "put its rules into several files".to_owned();
        return Loaded {
            diags: vec![Diag::mistake(0..0, message, help)],
            ..Loaded::default()
        };
    }
    let mut loaded = whole_or_pieces(file, source, terms);
    loaded.diags = few(loaded.diags);
    loaded
}

fn whole_or_pieces(file: &str, source: &str, terms: Terms) -> Loaded {
    let whole = read(file, source, terms, true);
    if !whole.broken && !whole.strange {
        return whole.loaded;
    }
    let mut loaded = Loaded::default();
    for piece in pieces::of(source) {
        let known = piece.word.is_none_or(|word| FILE.optional.contains(&word));
        loaded.add(read(file, piece.text, terms, known), &piece);
    }
    // Mistakes that show only when the pieces are taken together.
    if !loaded
        .diags
        .iter()
        .any(|diag| diag.weight == Weight::Mistake)
    {
        loaded.diags = whole.loaded.diags;
    }
    loaded
}

/// Parses a text; if it is not known to be part of a rule file, only its keys are examined.
fn read(file: &str, source: &str, terms: Terms, known: bool) -> Read {
    let mut problems = Diagnostics::new(source);
    let (document, errors) = DeTable::parse_recoverable(source);
    for error in errors {
        problems.broken_syntax(error.span().unwrap_or(0..0), error.message());
    }
    let mut loaded = Loaded::default();
    let before = problems.count();
    let top = CheckedTable::new(document.get_ref(), 0..0, &FILE, &mut problems);
    let strange = problems.count() > before;
    if known {
        for item in top.many("rule", &mut problems) {
            let rule = rule(item, file, terms, &mut loaded, &mut problems);
            loaded.rules.extend(rule);
        }
        for item in top.many("release", &mut problems) {
            let rule = release::release(item, file, terms, &mut loaded, &mut problems);
            loaded.rules.extend(rule);
        }
        for item in top.many("off", &mut problems) {
            loaded.off.extend(others::off(item, file, &mut problems));
        }
        for item in top.many("override", &mut problems) {
            loaded
                .levels
                .extend(others::level(item, file, &mut problems));
        }
    }
    let broken = problems.is_broken();
    loaded.diags = problems.into_diags();
    Read {
        loaded,
        broken,
        strange,
    }
}

/// The examples of a rule, without those that repeat another one.
fn examples(fields: &CheckedTable<'_>, sight: &Sight, problems: &mut Diagnostics) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for item in fields.tables("example", problems) {
        let Some(example) = example::example(item, sight, problems) else {
            continue;
        };
        if let Some((repeated, message)) = examples
            .iter()
            .find_map(|other| Some((other, example.repeats(other)?)))
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

fn rule(
    item: SpannedValue<'_>,
    file: &str,
    terms: Terms,
    loaded: &mut Loaded,
    problems: &mut Diagnostics,
) -> Option<(Rule, Span)> {
    let author = terms.author;
    let before = problems.count();
    let fields = CheckedTable::open(item, &RULE, problems)?;
    let head = RuleHead::read(&fields, loaded, problems);
    let RuleHead { scope, sight, .. } = &head;
    let level = fields.level(&Level::ALL, problems);
    let caps = head::caps(&head, &fields, level, problems);
    let confidence = fields.word("confidence", &Confidence::ALL, Confidence::word, problems);
    let basis = fields.word("basis", &Basis::ALL, Basis::word, problems);
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
        .and_then(|when| cond::cond(when, sight, problems));
    let quantifies = when.as_ref().is_none_or(Cond::quantifies);
    let texts = head.texts(quantifies, problems);
    let question = question.map(|text| asked(&text, problems));
    let mut advise = Vec::new();
    for item in fields.tables("advise", problems) {
        advise.extend(advice::advice(item, sight, level, author, problems));
    }
    let mut evidence = Vec::new();
    for item in fields.tables("evidence", problems) {
        evidence.extend(evidence::evidence(item, problems));
    }
    let examples = match terms.examples {
        RuleExamples::Read => examples(&fields, sight, problems),
        RuleExamples::Left => Vec::new(),
    };
    let lacking = |expect: &Expect| !examples.iter().any(|example| example.expect == *expect);
    let lacking: Vec<&str> = Expect::ALL
        .into_iter()
        .filter(lacking)
        .map(Expect::word)
        .collect();
    let sound = problems.count() == before;
    if sound {
        texts
            .remedy
            .check(level, &advise, fields.span.clone(), problems);
    }
    if sound && terms.examples == RuleExamples::Read && !lacking.is_empty() {
        problems.missing(
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
        remedy: texts.remedy.here,
        no_remedy: texts.remedy.none,
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

/// A question: the subject is all that is certain where it is asked.
fn asked(text: &Text, problems: &mut Diagnostics) -> Template {
    let (template, unknown) = Template::parse(&flowing(&text.text), |_| None);
    if let Some(name) = unknown.first() {
        problems.report(
            text,
            format!("`{{{name}}}` in a question"),
            "the fact may be unknown where it is asked; `{subject}` is not",
        );
    }
    if template.names_which() {
        problems.report(text, "`{which}` stands in titles and reasons only", WHICH);
    }
    template
}
