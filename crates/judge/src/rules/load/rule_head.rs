use super::condition::{self, FactVisibility};
use super::fields::{CheckedTable, SpannedText};
use super::{LoadedFile, RemedyTemplates, collapse_whitespace};
use crate::facts::catalog::target::VerdictKind;
use crate::facts::{Choice, Scope};
use crate::provenance::VerificationStamp;
use crate::rules::diagnostic::{DiagnosticCollector, Span};
use crate::rules::model::{Author, ChangeEffect, Condition, Rule, RuleExample};
use crate::rules::template::Template;
use crate::rules::{AdviceBasis, Confidence, Level};

const MAX_TITLE_BYTES: usize = 200;

pub(super) struct RuleHeader {
    pub id: Option<SpannedText>,
    pub since: Option<SpannedText>,
    pub checked: Option<VerificationStamp>,
    pub scope: Option<Scope>,
    pub sight: FactVisibility,
    pub title: Option<SpannedText>,
    pub because: Option<SpannedText>,
    pub remedy: Option<SpannedText>,
    pub no_remedy: Option<SpannedText>,
    pub refs: Option<Vec<String>>,
}

pub(super) struct HeaderTemplates {
    pub title: Option<Template>,
    pub because: Option<Template>,
    pub remedy: RemedyTemplates,
}

impl RuleHeader {
    pub fn parse(
        fields: &CheckedTable<'_>,
        loaded: &mut LoadedFile,
        problems: &DiagnosticCollector,
    ) -> Self {
        let id = fields.parse_text_field("id");
        if let Some(id) = &id {
            loaded.ids.push((id.text.clone(), id.span.clone()));
            if !is_valid_rule_id(&id.text) {
                problems.report_mistake(
                    id,
                    format!("`{}` is not a valid rule id", id.text),
                    "use lower-case letters, digits, hyphens and at least one dot, as in \"mount.ext4-nobarrier\"",
                );
            }
        }
        let scope = fields.parse_choice("for", Scope::ALL);
        let title = fields.parse_text_field("title");
        if let Some(title) = title
            .as_ref()
            .filter(|title| title.text.len() > MAX_TITLE_BYTES)
        {
            problems.report_mistake(
                title,
                format!(
                    "a title of {} bytes; the limit is {MAX_TITLE_BYTES}",
                    title.text.len()
                ),
                "shorten the title, and move details to `because`",
            );
        }
        let (remedy, no_remedy) = (
            fields.parse_text_field("remedy"),
            fields.parse_text_field("no_remedy"),
        );
        let refs = fields.parse_text_list("refs");
        if fields
            .get("refs")
            .and_then(|refs| refs.get_ref().as_array())
            .is_some_and(|refs| refs.is_empty())
        {
            problems.report_missing_entry(
                fields,
                "the rule has no source",
                "add refs = [..] with its public sources",
            );
        }
        let checked = fields
            .parse_text_field("checked")
            // Users' rules for walwise 0.1 may contain `unverified`. Such a rule counts as one
            // without a stamp.
            .filter(|stamp| stamp.text != "unverified")
            .and_then(|stamp| {
                let read = VerificationStamp::parse(&stamp.text);
                read.map_err(|how| {
                    problems.report_mistake(stamp.span, "`checked` is not valid", how.to_owned());
                })
                .ok()
            });
        Self {
            id,
            since: fields.parse_text_field("since"),
            checked,
            scope,
            sight: FactVisibility::for_rule_scope(scope),
            title,
            because: fields.parse_text_field("because"),
            remedy,
            no_remedy,
            refs: refs.map(|refs| refs.into_iter().map(|source| source.text).collect()),
        }
    }

    /// `{which}` is a mistake unless the condition has a quantifier.
    pub fn parse_title_reason_and_remedies(
        &self,
        quantifies: bool,
        problems: &DiagnosticCollector,
    ) -> HeaderTemplates {
        let mut parse = |text: &SpannedText| {
            let find =
                |name: &str| condition::find_visible_fact(name, &text.span, &self.sight, problems);
            let template = Template::parse(&collapse_whitespace(&text.text), find).0;
            if template.has_which_placeholder() && !quantifies {
                problems.report_mistake(
                    text,
                    "`{which}` needs a quantifier in the condition",
                    "use a quantifier in the condition, such as some = \"layer\"",
                );
            }
            template
        };
        HeaderTemplates {
            title: self.title.as_ref().map(&mut parse),
            because: self.because.as_ref().map(&mut parse),
            remedy: RemedyTemplates {
                action: self.remedy.as_ref().map(&mut parse),
                no_action: self.no_remedy.as_ref().map(&mut parse),
            },
        }
    }
}

/// The parts of a `[[release]]` or `[[change]]` row that are not in its header.
pub(super) struct ShortRuleBody {
    pub question: Template,
    pub level: Level,
    pub caps: Option<VerdictKind>,
    pub when: Condition,
    pub change: Option<ChangeEffect>,
    pub examples: Vec<RuleExample>,
}

impl RuleHeader {
    /// All of the conditions must hold.
    pub fn parse_where_conditions(&self, fields: &CheckedTable<'_>) -> Vec<Condition> {
        let items = fields.parse_list_field("where").iter();
        items
            .filter_map(|item| condition::parse_condition(item, &self.sight, fields.problems))
            .collect()
    }

    /// Builds the rule of a `[[release]]` or `[[change]]` row, which advises no setting. `line` is
    /// the first line of the row, counted from one.
    pub fn into_documented_rule(
        self,
        texts: HeaderTemplates,
        row: ShortRuleBody,
        (author, file, line): (Author, &str, usize),
    ) -> Option<(Rule, Span)> {
        let id = self.id?;
        let rule = Rule {
            id: id.text,
            since: self.since?.text,
            checked: self.checked,
            scope: self.scope?,
            title: texts.title?,
            question: row.question,
            level: row.level,
            caps: row.caps,
            confidence: Confidence::Documented,
            basis: AdviceBasis::Documented,
            because: texts.because?,
            remedy: texts.remedy.action,
            no_remedy: None,
            refs: self.refs?.into(),
            overrides: Vec::new(),
            when: row.when,
            change: row.change,
            advise: Vec::new(),
            evidence: Vec::new(),
            examples: row.examples,
            author,
            file: file.to_owned(),
            line,
        };
        Some((rule, id.span))
    }
}

const ALLOWED_CAPS: [VerdictKind; 2] = [VerdictKind::AtRisk, VerdictKind::Unproven];

/// The rule's level must be at least as severe as the cap, and *at risk* also needs a remedy.
pub(super) fn parse_verdict_cap(
    head: &RuleHeader,
    fields: &CheckedTable<'_>,
    level: Option<Level>,
) -> Option<VerdictKind> {
    let caps = fields.parse_choice("caps", &ALLOWED_CAPS)?;
    let least = if caps.is_at_risk() {
        Level::Critical
    } else {
        Level::Warning
    };
    if level.is_some_and(|level| level < least) {
        fields.problems.report_mistake(
            fields.key_span("level"),
            format!(
                "a rule that caps verdicts at `{}` needs a higher level",
                caps.as_str()
            ),
            format!("level = \"{}\"", least.as_str()),
        );
    }
    if caps.is_at_risk() && head.remedy.is_none() {
        fields.problems.report_mistake(
            fields.key_span("caps"),
            format!(
                "a rule that caps verdicts at `{}` needs a remedy",
                caps.as_str()
            ),
            "add remedy = \"..\" with the steps that make the data safe again",
        );
    }
    Some(caps)
}

fn is_valid_rule_id(id: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    id.contains('.') && id.split('.').all(word)
}
