//! Sections, bullets and grids of a report, independent of the output format.

use super::{RichText, Tone};
use crate::{LayerRow, Step};
use walwise_judge::durability::{EvidenceLayer, VerdictKind};
use walwise_judge::rules::{Finding, Level, Outcome, UserCommand};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::{MissingFact, Subject};

#[derive(Clone, Debug)]
pub struct Section {
    pub heading_level: HeadingLevel,
    /// An empty heading continues the previous section.
    pub heading: RichText,
    /// A sentence that continues the heading.
    pub lead: RichText,
    pub elements: Vec<Element>,
    /// True if documents such as HTML have the section, but not the terminal.
    pub is_appendix: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingLevel {
    Top,
    /// A subsection of the previous `Top` section.
    Part,
}

#[derive(Clone, Debug)]
pub enum Element {
    Sentence(RichText),
    Bullets(BulletList),
    Grid(Grid),
    Stack(Vec<LayerRow>),
    Instructions(Vec<StepInstruction>),
}

#[derive(Clone, Debug)]
pub struct BulletList {
    /// Column names in the order of the bullets' fields; empty if each bullet is a sentence.
    pub head: &'static [&'static str],
    pub bullets: Vec<Bullet>,
}

#[derive(Clone, Debug, Default)]
pub struct Bullet {
    pub badges: Vec<Badge>,
    /// Name of the subject; empty if the text names the subject.
    pub subject: String,
    pub text: RichText,
    /// A remark shown in parentheses after the text.
    pub note: RichText,
    /// Ids of rules, separated by commas; can be empty.
    pub rule: String,
    pub details: Vec<Detail>,
    pub item: ItemRef,
}

/// Links a bullet or an instruction to its rules, subject and fact, so that the TUI can select it.
#[derive(Clone, Debug, Default)]
pub struct ItemRef {
    /// The key that identifies the item when it is selected; empty if the text serves as the key.
    pub key: String,
    pub rules: Vec<String>,
    pub subject: Option<Subject>,
    /// The fact that the bullet is about, or that its finding lacks.
    pub fact: Option<(Subject, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Badge {
    /// The level of a finding, and whether the finding is undecided.
    Level(Level, bool),
    Standing(VerdictKind),
    /// The heading of a target: its verdict, or the contents of a disk, which has no verdict.
    Verdict(RichText, Option<VerdictKind>),
    Layer(EvidenceLayer),
    Change(String),
    /// The kind of a remark, for example `note` or `caveat`.
    Remark(&'static str),
    Setting(RichText),
}

impl Badge {
    pub fn tone(&self) -> Tone {
        match self {
            Self::Level(level, _) => match level {
                Level::Critical => Tone::Bad,
                Level::Warning => Tone::Doubt,
                Level::Keep => Tone::Good,
                Level::Advice | Level::Optional => Tone::Dim,
            },
            Self::Standing(standing) | Self::Verdict(_, Some(standing)) => (*standing).into(),
            Self::Verdict(_, None)
            | Self::Layer(_)
            | Self::Change(_)
            | Self::Remark(_)
            | Self::Setting(_) => Tone::Dim,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub head: Vec<&'static str>,
    /// One entry per column of the grid.
    pub right_aligned: Vec<bool>,
    /// For narrow pages, the grid is split into several grids with these columns.
    pub narrow_splits: &'static [&'static [usize]],
    pub rows: Vec<Vec<RichText>>,
}

#[derive(Clone, Debug)]
pub struct StepInstruction {
    /// The number in the plan, from 1; `None` for an option.
    pub number: Option<usize>,
    pub level: Level,
    pub setting: &'static str,
    pub subject: String,
    pub change: String,
    pub affects: String,
    /// The kind of interruption, in one or two words.
    pub interrupts: &'static str,
    pub item: ItemRef,
    /// Reasons and commands; `None` if an earlier target shows them.
    pub details: Option<Vec<Detail>>,
}

#[derive(Clone, Debug)]
pub enum Detail {
    Sentence(RichText),
    Field(&'static str, RichText),
    /// Further text of the preceding field.
    Continuation(RichText),
    /// A label and its text, which text reports may omit.
    Verbose(&'static str, RichText),
    Diff {
        before: Vec<String>,
        after: Vec<String>,
        /// The complete new value, as written in a file.
        result: Option<String>,
    },
    /// The purpose of the commands, as a label, and the commands.
    Commands(&'static str, Vec<ShellCommand>),
    UserCommand(UserCommand),
}

impl ItemRef {
    pub(crate) fn new(key: String, rules: &[String], subject: &Subject) -> Self {
        Self {
            key,
            rules: rules.to_vec(),
            subject: Some(subject.clone()),
            fact: None,
        }
    }

    pub fn from_step(step: &Step) -> Self {
        let key = format!("step {} {}", step.advice.setting, step.subject);
        Self::new(key, &step.rules, &step.subject)
    }

    pub(crate) fn from_finding(finding: &Finding) -> Self {
        let missing: Option<&MissingFact> = match &finding.outcome {
            Outcome::Undecided { needs } => needs.first().and_then(|set| set.first()),
            Outcome::Applies | Outcome::DoesNotApply => None,
        };
        let key = format!("found {} {}", finding.rule, finding.subject);
        Self {
            fact: missing.map(|need| (need.subject.clone(), need.fact.clone())),
            ..Self::new(key, std::slice::from_ref(&finding.rule), &finding.subject)
        }
    }
}

impl Section {
    pub(crate) fn new_top(heading: impl Into<RichText>) -> Self {
        Self {
            heading_level: HeadingLevel::Top,
            heading: heading.into(),
            lead: RichText::default(),
            elements: Vec::new(),
            is_appendix: false,
        }
    }

    pub(crate) fn new_part(heading: impl Into<RichText>) -> Self {
        Self {
            heading_level: HeadingLevel::Part,
            ..Self::new_top(heading)
        }
    }

    #[must_use]
    pub(crate) fn with_sentence(mut self, sentence: impl Into<RichText>) -> Self {
        self.push_sentence(sentence);
        self
    }

    /// An empty sentence is left out.
    pub(crate) fn push_sentence(&mut self, sentence: impl Into<RichText>) {
        let sentence = sentence.into();
        if !sentence.is_empty() {
            self.elements.push(Element::Sentence(sentence));
        }
    }

    pub(crate) fn push_sentences(&mut self, sentences: impl IntoIterator<Item = String>) {
        for sentence in sentences {
            self.push_sentence(sentence);
        }
    }

    pub(crate) fn push_bullets(&mut self, head: &'static [&'static str], bullets: Vec<Bullet>) {
        if !bullets.is_empty() {
            self.elements
                .push(Element::Bullets(BulletList { head, bullets }));
        }
    }

    /// `None` without bullets and other elements.
    pub(crate) fn with_bullets(
        mut self,
        head: &'static [&'static str],
        bullets: impl IntoIterator<Item = Bullet>,
    ) -> Option<Self> {
        self.push_bullets(head, bullets.into_iter().collect());
        self.none_if_empty()
    }

    /// `None` without steps and other elements.
    pub(crate) fn with_instructions(mut self, steps: Vec<StepInstruction>) -> Option<Self> {
        if !steps.is_empty() {
            self.elements.push(Element::Instructions(steps));
        }
        self.none_if_empty()
    }

    /// `None` without rows and other elements.
    pub(crate) fn with_grid(mut self, grid: Grid) -> Option<Self> {
        self.push_grid(grid);
        self.none_if_empty()
    }

    pub fn push_grid(&mut self, grid: Grid) {
        if !grid.rows.is_empty() {
            self.elements.push(Element::Grid(grid));
        }
    }

    pub fn bullets_mut(&mut self) -> impl Iterator<Item = &mut Bullet> {
        self.elements
            .iter_mut()
            .filter_map(|element| match element {
                Element::Bullets(list) => Some(&mut list.bullets),
                Element::Sentence(_)
                | Element::Grid(_)
                | Element::Stack(_)
                | Element::Instructions(_) => None,
            })
            .flatten()
    }

    pub(crate) fn none_if_empty(self) -> Option<Self> {
        (!self.elements.is_empty()).then_some(self)
    }
}

pub struct CellRenderer<C> {
    pub text: fn(&str) -> C,
    pub code: fn(&str) -> C,
    pub rich_text: fn(&RichText) -> C,
    pub badge: fn(&Badge) -> C,
    pub bullet: fn(&Bullet) -> C,
}

impl BulletList {
    /// Arranges the bullets as a table with column headings. Columns that no bullet fills are left
    /// out.
    pub(crate) fn headings_and_rows<C: Clone + Default>(
        &self,
        form: &CellRenderer<C>,
    ) -> (Vec<&'static str>, Vec<Vec<C>>) {
        let bullets = self.bullets.iter();
        let marks = bullets.clone().map(|one| one.badges.len()).max();
        let has = |filled: fn(&Bullet) -> bool| self.bullets.iter().any(filled);
        let has_subject = has(|one| !one.subject.is_empty());
        let has_note = has(|one| !one.note.is_empty());
        let has_rule = has(|one| !one.rule.is_empty());
        let cells = |one: &Bullet| {
            let mut cells: Vec<C> = one.badges.iter().map(form.badge).collect();
            cells.resize(marks.unwrap_or_default(), C::default());
            cells.extend(has_subject.then(|| (form.text)(&one.subject)));
            cells.push((form.bullet)(one));
            cells.extend(has_note.then(|| (form.rich_text)(&one.note)));
            cells.extend(has_rule.then(|| (form.code)(&one.rule)));
            cells
        };
        let rows: Vec<Vec<C>> = bullets.map(cells).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let head = self.head.iter().copied().chain(std::iter::repeat(""));
        (head.take(columns).collect(), rows)
    }
}

impl StepInstruction {
    pub(crate) const HEAD: [&str; 6] = ["", "level", "setting", "of", "change", "affects"];

    /// Arranges steps as rows of a table, without steps that have no number.
    pub(crate) fn numbered_step_rows<C>(steps: &[Self], form: &CellRenderer<C>) -> Vec<Vec<C>> {
        let row = |step: &Self| {
            Some(vec![
                (form.text)(&step.number?.to_string()),
                (form.badge)(&Badge::Level(step.level, false)),
                (form.code)(step.setting),
                (form.text)(&step.subject),
                (form.text)(&step.change),
                (form.text)(&step.affects),
            ])
        };
        steps.iter().filter_map(row).collect()
    }
}

impl Bullet {
    pub(crate) fn from_sentence(says: impl Into<RichText>) -> Self {
        Self {
            text: says.into(),
            ..Self::default()
        }
    }

    pub(crate) fn with_badge(mark: Badge, says: impl Into<RichText>) -> Self {
        Self {
            badges: vec![mark],
            text: says.into(),
            ..Self::default()
        }
    }

    /// The subject to print before the text in a line; empty if the text begins with it.
    pub(crate) fn leading_subject(&self) -> &str {
        let text = self.text.to_string();
        let begins_with_subject = text
            .strip_prefix("/dev/")
            .into_iter()
            .chain([text.as_str()])
            .filter_map(|text| text.strip_prefix(self.subject.as_str()))
            .any(|rest| rest.starts_with(' '));
        if begins_with_subject {
            ""
        } else {
            &self.subject
        }
    }
}

impl Badge {
    pub fn badge_text(&self) -> String {
        match self {
            Self::Level(level, open) => {
                format!("{level}{}", if *open { "?" } else { "" })
            }
            Self::Standing(standing) => standing.to_string(),
            Self::Layer(layer) => layer.to_string(),
            Self::Change(word) => word.clone(),
            Self::Remark(word) => (*word).to_owned(),
            Self::Setting(phrase) | Self::Verdict(phrase, _) => phrase.to_string(),
        }
    }
}
