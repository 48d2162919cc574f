//! The keys that rules and releases share, and the cap of the verdict.

use super::Loaded;
use super::cond::{self, Sight};
use super::fields::{CheckedTable, Text};
use super::prose::flowing;
use super::remedy::RemedyTemplates;
use crate::checked::SourceCheck;
use crate::facts::Scope;
use crate::facts::catalog::target::Standing;
use crate::rules::Level;
use crate::rules::diagnostic::Diagnostics;
use crate::rules::template::Template;

/// The longest title, in bytes.
const LONGEST_TITLE: usize = 200;

/// The keys that rules and releases share.
pub(super) struct RuleHead {
    pub id: Option<Text>,
    pub since: Option<Text>,
    pub checked: Option<SourceCheck>,
    pub scope: Option<Scope>,
    pub sight: Sight,
    pub title: Option<Text>,
    pub because: Option<Text>,
    pub remedy: Option<Text>,
    pub no_remedy: Option<Text>,
    pub refs: Option<Vec<String>>,
}

/// Its texts as templates.
pub(super) struct HeadTemplates {
    pub title: Option<Template>,
    pub because: Option<Template>,
    pub remedy: RemedyTemplates,
}

impl RuleHead {
    /// Reads them and reports every mistake.
    pub fn read(
        fields: &CheckedTable<'_>,
        loaded: &mut Loaded,
        problems: &mut Diagnostics,
    ) -> Self {
        let id = fields.text("id", problems);
        if let Some(id) = &id {
            loaded.ids.push((id.text.clone(), id.span.clone()));
            if !is_id(&id.text) {
                problems.report(
                    id,
                    format!("`{}` is no id", id.text),
                    "such as \"mount.ext4-nobarrier\": lower-case words, digits and dashes, with a dot",
                );
            }
        }
        let scope = fields.word("for", &Scope::ALL, Scope::word, problems);
        let title = fields.text("title", problems);
        if let Some(title) = title
            .as_ref()
            .filter(|title| title.text.len() > LONGEST_TITLE)
        {
            problems.report(
                title,
                format!(
                    "a title of {} bytes; the longest has {LONGEST_TITLE}",
                    title.text.len()
                ),
                "say the rest in `because`",
            );
        }
        let (remedy, no_remedy) = (
            fields.text("remedy", problems),
            fields.text("no_remedy", problems),
        );
        let refs = fields.texts("refs", problems);
        if fields
            .get("refs")
            .and_then(|refs| refs.get_ref().as_array())
            .is_some_and(|refs| refs.is_empty())
        {
            problems.missing(
                fields,
                "a rule without a source",
                "refs = [..]: who says so?",
            );
        }
        let checked = fields.text("checked", problems).and_then(|stamp| {
            let read = SourceCheck::parse(&stamp.text);
            read.map_err(|how| problems.report(stamp.span, "no stamp of a check", how.to_owned()))
                .ok()
        });
        Self {
            id,
            since: fields.text("since", problems),
            checked,
            scope,
            sight: Sight::from(scope),
            title,
            because: fields.text("because", problems),
            remedy,
            no_remedy,
            refs: refs.map(|refs| refs.into_iter().map(|source| source.text).collect()),
        }
    }

    /// Parses its texts; `{which}` needs a quantifier in the condition.
    pub fn texts(&self, quantifies: bool, problems: &mut Diagnostics) -> HeadTemplates {
        let mut parse = |text: &Text| {
            let find = |name: &str| cond::named(name, &text.span, &self.sight, problems);
            let template = Template::parse(&flowing(&text.text), find).0;
            if template.names_which() && !quantifies {
                problems.report(
                    text,
                    "`{which}` without a quantifier in the condition",
                    "write the condition with some = \"layer\" or the like",
                );
            }
            template
        };
        HeadTemplates {
            title: self.title.as_ref().map(&mut parse),
            because: self.because.as_ref().map(&mut parse),
            remedy: RemedyTemplates {
                here: self.remedy.as_ref().map(&mut parse),
                none: self.no_remedy.as_ref().map(&mut parse),
            },
        }
    }
}

/// The verdicts to which a rule can cap.
const CAPS: [Standing; 2] = [Standing::AtRisk, Standing::Unproven];

/// The cap of a rule, whose level is at least that of the verdict as a finding. One to *at risk*
/// needs a remedy.
pub(super) fn caps(
    head: &RuleHead,
    fields: &CheckedTable<'_>,
    level: Option<Level>,
    problems: &mut Diagnostics,
) -> Option<Standing> {
    let caps = fields.word("caps", &CAPS, Standing::word, problems)?;
    let least = if caps.is_at_risk() {
        Level::Critical
    } else {
        Level::Warning
    };
    if level.is_some_and(|level| level < least) {
        problems.report(
            fields.key_span("level"),
            format!("a rule that caps to `{}` below this level", caps.word()),
            format!("level = \"{}\"", least.word()),
        );
    }
    if caps.is_at_risk() && head.remedy.is_none() {
        problems.report(
            fields.key_span("caps"),
            format!("a rule that caps to `{}` without a remedy", caps.word()),
            "remedy = \"..\": what makes the data safe again?",
        );
    }
    Some(caps)
}

fn is_id(id: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    id.contains('.') && id.split('.').all(word)
}
