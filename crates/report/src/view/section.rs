//! The content of a report for people, as data: sections with a heading, and in them sentences,
//! bullets, grids and instructions. Nothing here depends on an output format.

use super::Tone;
use super::rich_text::RichText;
use crate::{LayerRow, Step};
use walwise_judge::durability::{Layer, VerdictKind};
use walwise_judge::rules::{Finding, Level, Outcome, UserCommand};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::{MissingFact, Subject};

#[derive(Clone, Debug)]
pub struct Section {
    pub heading_level: HeadingLevel,
    /// An empty heading continues the previous section.
    pub heading: RichText,
    /// A sentence after the heading, shown only if there is room.
    pub lead: RichText,
    pub elements: Vec<Element>,
    /// True if documents such as HTML have the section, but not the terminal.
    pub is_appendix: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingLevel {
    /// For a section about the host or a whole target.
    Top,
    /// For a part of the previous top section.
    Part,
}

#[derive(Clone, Debug)]
pub enum Element {
    Sentence(RichText),
    Bullets(Bullets),
    Grid(Grid),
    /// Top layer first.
    Stack(Vec<LayerRow>),
    /// In order of application.
    Instructions(Vec<Instruction>),
}

#[derive(Clone, Debug)]
pub struct Bullets {
    /// Column names in the order of the bullets' fields; empty if each bullet is a sentence.
    pub head: &'static [&'static str],
    pub bullets: Vec<Bullet>,
}

#[derive(Clone, Debug, Default)]
pub struct Bullet {
    pub badges: Vec<Badge>,
    /// Empty if the text names the subject.
    pub subject: String,
    pub text: RichText,
    /// A remark shown in parentheses after the text.
    pub note: RichText,
    /// Rule ids, shown if there is room.
    pub rule: String,
    pub details: Vec<Detail>,
    pub item: ItemRef,
}

/// What a bullet or an instruction is about, for the TUI, where both can be selected.
#[derive(Clone, Debug, Default)]
pub struct ItemRef {
    /// The key that identifies a selected item; empty if the text serves as the key.
    pub key: String,
    /// Rule ids behind the bullet or instruction.
    pub rules: Vec<String>,
    pub subject: Option<Subject>,
    /// The fact that a bullet is about or lacks.
    pub fact: Option<(Subject, String)>,
}

/// A label before a bullet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Badge {
    /// The level of a finding, and whether the finding is undecided.
    Level(Level, bool),
    Standing(VerdictKind),
    /// The heading of a target: its verdict, or for a device the contents.
    Verdict(RichText, Option<VerdictKind>),
    Layer(Layer),
    Change(String),
    /// The kind of a remark, for example `note` or `caveat`.
    Remark(&'static str),
    /// A setting with its change.
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

#[derive(Clone, Debug)]
pub struct Grid {
    pub head: Vec<&'static str>,
    /// True for each right-aligned column.
    pub right_aligned: Vec<bool>,
    /// For narrow pages, the grid is split into several grids with these columns.
    pub narrow_splits: &'static [&'static [usize]],
    pub rows: Vec<Vec<RichText>>,
}

#[derive(Clone, Debug)]
pub struct Instruction {
    /// The number in the plan, from 1; `None` for an option.
    pub number: Option<usize>,
    pub level: Level,
    pub setting: &'static str,
    pub subject: String,
    pub change: String,
    /// What the change affects and needs.
    pub affects: String,
    /// The kind of interruption, in one or two words.
    pub interrupts: &'static str,
    pub item: ItemRef,
    /// Reasons and commands; `None` if an earlier target shows them.
    pub details: Option<Vec<Detail>>,
}

/// A line below a bullet or an instruction.
#[derive(Clone, Debug)]
pub enum Detail {
    Sentence(RichText),
    /// A label and its text.
    Field(&'static str, RichText),
    /// More text for the field above.
    Continuation(RichText),
    /// A label and its text, shown only if there is room.
    Verbose(&'static str, RichText),
    /// The present and the resulting value of a setting.
    Diff {
        before: Vec<String>,
        after: Vec<String>,
        /// The complete resulting value, as written in a file.
        result: Option<String>,
    },
    /// The label is the purpose of the commands.
    Commands(&'static str, Vec<ShellCommand>),
    /// A command of the user's own rule.
    UserCommand(UserCommand),
}

impl ItemRef {
    pub fn from_step(step: &Step) -> Self {
        Self {
            key: format!("step {} {}", step.advice.setting, step.subject),
            rules: step.rules.clone(),
            subject: Some(step.subject.clone()),
            fact: None,
        }
    }

    pub fn from_finding(finding: &Finding) -> Self {
        let missing: Option<&MissingFact> = match &finding.outcome {
            Outcome::Undecided { needs } => needs.first().and_then(|set| set.first()),
            Outcome::Applies | Outcome::DoesNotApply => None,
        };
        Self {
            key: format!("found {} {}", finding.rule, finding.subject),
            rules: vec![finding.rule.clone()],
            subject: Some(finding.subject.clone()),
            fact: missing.map(|need| (need.subject.clone(), need.fact.clone())),
        }
    }
}

impl Section {
    /// A section about the host or a whole target.
    pub fn new_top(heading: impl Into<RichText>) -> Self {
        Self {
            heading_level: HeadingLevel::Top,
            heading: heading.into(),
            lead: RichText::default(),
            elements: Vec::new(),
            is_appendix: false,
        }
    }

    /// A part of the previous top section.
    pub fn new_part(heading: impl Into<RichText>) -> Self {
        Self {
            heading_level: HeadingLevel::Part,
            ..Self::new_top(heading)
        }
    }

    #[must_use]
    pub fn with_sentence(mut self, sentence: impl Into<RichText>) -> Self {
        self.push_sentence(sentence);
        self
    }

    /// An empty sentence is left out.
    pub fn push_sentence(&mut self, sentence: impl Into<RichText>) {
        let sentence = sentence.into();
        if !sentence.is_empty() {
            self.elements.push(Element::Sentence(sentence));
        }
    }

    pub fn push_sentences(&mut self, sentences: Vec<String>) {
        for sentence in sentences {
            self.push_sentence(sentence);
        }
    }

    pub fn push_bullets(&mut self, head: &'static [&'static str], bullets: Vec<Bullet>) {
        if !bullets.is_empty() {
            self.elements
                .push(Element::Bullets(Bullets { head, bullets }));
        }
    }

    pub fn push_grid(&mut self, grid: Grid) {
        if !grid.rows.is_empty() {
            self.elements.push(Element::Grid(grid));
        }
    }

    /// `None` if the section has no elements.
    pub fn none_if_empty(self) -> Option<Self> {
        (!self.elements.is_empty()).then_some(self)
    }
}

/// How an output format renders table cells.
pub struct CellRenderer<C> {
    pub text: fn(&str) -> C,
    pub code: fn(&str) -> C,
    pub rich_text: fn(&RichText) -> C,
    pub badge: fn(&Badge) -> C,
    /// The text of a bullet with its details.
    pub bullet: fn(&Bullet) -> C,
}

impl Bullets {
    /// The column names, and a row for each bullet. Columns that no bullet fills are left out.
    pub fn table<C: Clone + Default>(
        &self,
        form: &CellRenderer<C>,
    ) -> (Vec<&'static str>, Vec<Vec<C>>) {
        let marks = self
            .bullets
            .iter()
            .map(|one| one.badges.len())
            .max()
            .unwrap_or_default();
        let has = |filled: fn(&Bullet) -> bool| self.bullets.iter().any(filled);
        let (of, aside) = (
            has(|one| !one.subject.is_empty()),
            has(|one| !one.note.is_empty()),
        );
        let by_rule = has(|one| !one.rule.is_empty());
        let cells = |one: &Bullet| {
            let mut cells: Vec<C> = one.badges.iter().map(form.badge).collect();
            cells.resize(marks, C::default());
            cells.extend(of.then(|| (form.text)(&one.subject)));
            cells.push((form.bullet)(one));
            cells.extend(aside.then(|| (form.rich_text)(&one.note)));
            cells.extend(by_rule.then(|| (form.code)(&one.rule)));
            cells
        };
        let rows: Vec<Vec<C>> = self.bullets.iter().map(cells).collect();
        let columns = rows.first().map_or(0, Vec::len);
        (
            self.head
                .iter()
                .copied()
                .chain(std::iter::repeat(""))
                .take(columns)
                .collect(),
            rows,
        )
    }
}

impl Instruction {
    /// The columns of [`Self::table`].
    pub const HEAD: [&str; 6] = ["", "level", "setting", "of", "change", "affects"];

    /// Steps without a number are left out.
    pub fn table<C>(steps: &[Self], form: &CellRenderer<C>) -> Vec<Vec<C>> {
        let row = |step: &Self| {
            let number = (form.text)(&step.number?.to_string());
            let [of, change, affects] =
                [&step.subject, &step.change, &step.affects].map(|says| (form.text)(says));
            let level = (form.badge)(&Badge::Level(step.level, false));
            Some(vec![
                number,
                level,
                (form.code)(step.setting),
                of,
                change,
                affects,
            ])
        };
        steps.iter().filter_map(row).collect()
    }
}

impl Bullet {
    pub fn from_sentence(says: impl Into<RichText>) -> Self {
        Self {
            text: says.into(),
            ..Self::default()
        }
    }

    pub fn with_badge(mark: Badge, says: impl Into<RichText>) -> Self {
        Self {
            badges: vec![mark],
            text: says.into(),
            ..Self::default()
        }
    }
}

impl Badge {
    pub fn text(&self) -> String {
        match self {
            Self::Level(level, open) => {
                format!("{}{}", level.as_str(), if *open { "?" } else { "" })
            }
            Self::Standing(standing) => standing.as_str().to_owned(),
            Self::Layer(layer) => layer.as_str().to_owned(),
            Self::Change(word) => word.clone(),
            Self::Remark(word) => (*word).to_owned(),
            Self::Setting(phrase) | Self::Verdict(phrase, _) => phrase.to_string(),
        }
    }
}
