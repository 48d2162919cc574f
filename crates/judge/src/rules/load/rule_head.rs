use super::condition::{self, FactVisibility};
use super::fields::{CheckedTable, Item};
use super::{LoadOptions, LoadedFile, collapse_whitespace};
use crate::facts::catalog::target::VerdictKind;
use crate::facts::{Choice, Scope};
use crate::provenance::VerificationStamp;
use crate::rules::diagnostic::{Place, Span};
use crate::rules::model::{AdviceSpec, ChangeEffect, Condition, Rule, RuleExample};
use crate::rules::published_evidence::PublishedMeasurement;
use crate::rules::template::Template;
use crate::rules::{AdviceBasis, Confidence, Level};

const MAX_TITLE_BYTES: usize = 200;

/// The keys that all tables with a rule have in common.
pub(super) struct RuleHeader {
    id: Option<(String, Span)>,
    since: Option<String>,
    checked: Option<VerificationStamp>,
    scope: Option<Scope>,
    pub sight: FactVisibility,
    refs: Option<Vec<String>>,
}

pub(super) struct RuleTexts {
    pub title: Option<Template>,
    pub because: Option<Template>,
    pub remedy: Option<Template>,
    pub no_remedy: Option<Template>,
}

/// The parts of a rule that depend on the kind of its table. A part that is required but missing is
/// `None`.
#[derive(Default)]
pub(super) struct RuleBody {
    pub question: Option<Template>,
    pub level: Option<Level>,
    pub caps: Option<VerdictKind>,
    pub confidence: Option<Confidence>,
    pub basis: Option<AdviceBasis>,
    pub overrides: Vec<String>,
    pub when: Option<Condition>,
    pub change: Option<ChangeEffect>,
    pub advise: Vec<AdviceSpec>,
    pub evidence: Vec<PublishedMeasurement>,
    pub examples: Vec<RuleExample>,
}

impl RuleHeader {
    pub fn parse(fields: &CheckedTable<'_>, loaded: &mut LoadedFile) -> Self {
        let id = fields.parse_text_field("id");
        if let Some(id) = &id {
            loaded.ids.push((id.text.clone(), id.span()));
            if !is_valid_rule_id(&id.text) {
                id.report_mistake(
                    format!("`{}` is not a valid rule id", id.text),
                    "use lower-case letters, digits, hyphens and at least one dot, as in \"mount.ext4-nobarrier\"",
                );
            }
        }
        let scope = fields.parse_choice("for", Scope::ALL);
        let refs = fields.parse_text_list("refs");
        if fields.get("refs").is_some_and(Item::is_empty_list) {
            fields.report_missing_entry(
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
                read.map_err(|how| stamp.report_mistake("`checked` is not valid", how))
                    .ok()
            });
        Self {
            id: id.map(|id| (id.text, id.span)),
            since: fields.parse_text_field("since").map(|since| since.text),
            checked,
            scope,
            sight: FactVisibility::for_rule_scope(scope),
            refs: refs.map(|refs| refs.into_iter().map(|source| source.text).collect()),
        }
    }

    /// `{which}` is a mistake unless the condition has a quantifier.
    pub fn parse_texts(&self, fields: &CheckedTable<'_>, quantifies: bool) -> RuleTexts {
        let parse = |key: &str| {
            let text = fields.parse_text_field(key)?;
            if key == "title" && text.text.len() > MAX_TITLE_BYTES {
                text.report_mistake(
                    format!(
                        "a title of {} bytes; the limit is {MAX_TITLE_BYTES}",
                        text.text.len()
                    ),
                    "shorten the title, and move details to `because`",
                );
            }
            let find = |name: &str| self.sight.find_fact(name, &text);
            let template = Template::parse(&collapse_whitespace(&text.text), find).0;
            if template.has_which_placeholder() && !quantifies {
                text.report_mistake(
                    "`{which}` needs a quantifier in the condition",
                    "use a quantifier in the condition, such as some = \"layer\"",
                );
            }
            Some(template)
        };
        RuleTexts {
            title: parse("title"),
            because: parse("because"),
            remedy: parse("remedy"),
            no_remedy: parse("no_remedy"),
        }
    }

    /// All of the conditions must hold.
    pub fn parse_where_conditions(&self, fields: &CheckedTable<'_>) -> Vec<Condition> {
        let items = fields.parse_list_field("where").into_iter();
        items
            .filter_map(|item| condition::parse_condition(item, &self.sight))
            .collect()
    }

    /// `None` if the table has a mistake or lacks a required part.
    pub fn into_rule(
        self,
        fields: &CheckedTable<'_>,
        texts: RuleTexts,
        body: RuleBody,
        (file, options): (&str, LoadOptions),
    ) -> Option<(Rule, Span)> {
        if fields.has_mistakes() {
            return None;
        }
        let (id, span) = self.id?;
        let confidence = body.confidence?;
        let rule = Rule {
            id,
            since: self.since?,
            checked: self.checked,
            scope: self.scope?,
            title: texts.title?,
            question: body.question?,
            level: body.level?,
            caps: body.caps,
            confidence,
            basis: body.basis.unwrap_or(match confidence {
                Confidence::Measured => AdviceBasis::Measured,
                Confidence::Experimental
                | Confidence::Documented
                | Confidence::CrashTested
                | Confidence::Certain => AdviceBasis::Documented,
            }),
            because: texts.because?,
            remedy: texts.remedy,
            no_remedy: texts.no_remedy,
            refs: self.refs?.into(),
            overrides: body.overrides,
            when: body.when?,
            change: body.change,
            advise: body.advise,
            evidence: body.evidence,
            examples: body.examples,
            author: options.author,
            file: file.to_owned(),
            line: fields.first_line,
        };
        Some((rule, span))
    }
}

const ALLOWED_CAPS: [VerdictKind; 2] = [VerdictKind::AtRisk, VerdictKind::Unproven];

/// The rule's level must be at least as severe as the cap, and *at risk* also needs a remedy.
pub(super) fn parse_verdict_cap(
    fields: &CheckedTable<'_>,
    level: Option<Level>,
    texts: &RuleTexts,
) -> Option<VerdictKind> {
    let caps = fields.parse_choice("caps", &ALLOWED_CAPS)?;
    let least = if caps.is_at_risk() {
        Level::Critical
    } else {
        Level::Warning
    };
    if level.is_some_and(|level| level < least) {
        fields.key_place("level").report_mistake(
            format!("a rule that caps verdicts at `{caps}` needs a higher level"),
            format!("level = \"{least}\""),
        );
    }
    if caps.is_at_risk() && texts.remedy.is_none() {
        fields.key_place("caps").report_mistake(
            format!("a rule that caps verdicts at `{caps}` needs a remedy"),
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
