//! What a report says to people, as data: sections with a heading, and in them sentences, bullets,
//! grids and instructions.
//!
//! Sections know no form; [`crate::text`], [`crate::markdown`] and the screens draw them.

use super::Tone;
use super::phrase::Phrase;
use crate::{LayerRow, Step};
use walwise_judge::durability::{Layer, Standing};
use walwise_judge::rules::{Finding, Level, Outcome, OwnCommand};
use walwise_model::facts::{Need, Subject};
use walwise_model::quote::Command;

/// A heading with what stands under it.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its place in the document.
    pub rank: Rank,
    /// Nothing where what it says follows from the section before.
    pub heading: Phrase,
    /// What continues the heading in the same sentence, where there is room.
    pub lead: Phrase,
    pub elements: Vec<Element>,
    /// Whether only a document for later reading has it.
    pub is_appendix: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// Of the host, or of a whole target.
    Top,
    /// A part of the one before.
    Part,
}

#[derive(Clone, Debug)]
pub enum Element {
    Sentence(Phrase),
    /// Things of a kind, each with what is said of it.
    Bullets(Bullets),
    Grid(Grid),
    /// A stack, the top first.
    Stack(Vec<LayerRow>),
    /// Steps of a plan, in order.
    Instructions(Vec<Instruction>),
}

#[derive(Clone, Debug)]
pub struct Bullets {
    /// Names of the columns that the bullets fill, in the order of their fields; none where each
    /// bullet is a sentence.
    pub head: &'static [&'static str],
    pub bullets: Vec<Bullet>,
}

/// A thing with what is said of it.
#[derive(Clone, Debug, Default)]
pub struct Bullet {
    pub marks: Vec<Mark>,
    /// What it is about; nothing where the sentence says so.
    pub of: String,
    pub says: Phrase,
    /// What stands in parentheses behind it.
    pub aside: Phrase,
    /// The rule that says so, where there is room.
    pub rule: String,
    pub beneath: Vec<Detail>,
    pub about: About,
}

/// What a bullet or an instruction is about, for forms in which it can be chosen.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The name under which it is chosen; none where its words name it.
    pub key: String,
    /// The rules that say it.
    pub rules: Vec<String>,
    pub subject: Option<Subject>,
    /// The fact that it is about, or that is missing.
    pub fact: Option<(Subject, String)>,
}

/// A word in front of a bullet. All marks of one kind take the same room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// How much it matters, and whether it is open.
    Level(Level, bool),
    /// What it leaves of a promise.
    Standing(Standing),
    /// A verdict as a heading, or what stands in its place.
    Verdict(Phrase, Option<Standing>),
    Layer(Layer),
    Change(String),
    /// What kind of remark it is.
    Remark(&'static str),
    /// A setting with what becomes of it.
    Setting(Phrase),
}

impl Mark {
    /// What it is coloured by.
    pub fn tone(&self) -> Tone {
        match self {
            Self::Level(level, _) => match level {
                Level::Critical => Tone::Bad,
                Level::Warning => Tone::Doubt,
                Level::Keep => Tone::Good,
                Level::Advice | Level::Option => Tone::Dim,
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

/// Columns of figures or names.
#[derive(Clone, Debug)]
pub struct Grid {
    pub head: Vec<&'static str>,
    /// Which of them are aligned to the right.
    pub right: Vec<bool>,
    /// Where one row is too wide: the columns of each of several grids.
    pub narrow: &'static [&'static [usize]],
    pub rows: Vec<Vec<Phrase>>,
}

#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its place in the plan, from 1; none for an option.
    pub number: Option<usize>,
    pub level: Level,
    pub setting: &'static str,
    pub of: String,
    pub change: String,
    /// Who else is affected, and what it takes.
    pub affects: String,
    /// What it takes, in a word or two.
    pub takes: &'static str,
    pub about: About,
    /// Why and how; nothing where that was told under an earlier target.
    pub beneath: Option<Vec<Detail>>,
}

/// A line beneath a bullet or an instruction.
#[derive(Clone, Debug)]
pub enum Detail {
    Sentence(Phrase),
    /// What a word in front of it names.
    Field(&'static str, Phrase),
    /// It goes on with the field above.
    More(Phrase),
    /// A field, where there is room.
    Aside(&'static str, Phrase),
    /// What a setting reads now and will read; the whole of it where it is to be written somewhere.
    Becomes {
        before: Vec<String>,
        after: Vec<String>,
        /// All of it then, as it is written.
        whole: Option<String>,
    },
    /// Commands for one purpose.
    Commands(&'static str, Vec<Command>),
    /// A command of the user's own rule.
    Own(OwnCommand),
}

impl About {
    pub fn step(step: &Step) -> Self {
        Self {
            key: format!("step {} {}", step.advice.setting, step.subject),
            rules: step.rules.clone(),
            subject: Some(step.subject.clone()),
            fact: None,
        }
    }

    pub fn finding(finding: &Finding) -> Self {
        let missing: Option<&Need> = match &finding.outcome {
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
    /// A section of the host, or of a whole target.
    pub fn top(heading: impl Into<Phrase>) -> Self {
        Self {
            rank: Rank::Top,
            heading: heading.into(),
            lead: Phrase::default(),
            elements: Vec::new(),
            is_appendix: false,
        }
    }

    /// A part of the section before.
    pub fn part(heading: impl Into<Phrase>) -> Self {
        Self {
            rank: Rank::Part,
            ..Self::top(heading)
        }
    }

    /// The same with a sentence in it.
    #[must_use]
    pub fn saying(mut self, sentence: impl Into<Phrase>) -> Self {
        self.say(sentence);
        self
    }

    /// Adds a sentence, unless it says nothing.
    pub fn say(&mut self, sentence: impl Into<Phrase>) {
        let sentence = sentence.into();
        if !sentence.is_empty() {
            self.elements.push(Element::Sentence(sentence));
        }
    }

    pub fn say_all(&mut self, sentences: Vec<String>) {
        for sentence in sentences {
            self.say(sentence);
        }
    }

    /// Adds bullets, if there are any.
    pub fn bullets(&mut self, head: &'static [&'static str], bullets: Vec<Bullet>) {
        if !bullets.is_empty() {
            self.elements
                .push(Element::Bullets(Bullets { head, bullets }));
        }
    }

    /// Adds figures, if there are any.
    pub fn grid(&mut self, grid: Grid) {
        if !grid.rows.is_empty() {
            self.elements.push(Element::Grid(grid));
        }
    }

    /// The section, unless nothing stands under its heading.
    pub fn unless_empty(self) -> Option<Self> {
        (!self.elements.is_empty()).then_some(self)
    }
}

/// How a form writes what stands in the cells of a table.
pub struct Cells<C> {
    pub text: fn(&str) -> C,
    pub code: fn(&str) -> C,
    pub phrase: fn(&Phrase) -> C,
    pub mark: fn(&Mark) -> C,
    /// What a bullet says, with what belongs beneath it.
    pub told: fn(&Bullet) -> C,
}

impl Bullets {
    /// The names of the columns, and a row for each bullet; a column that none fills is left out.
    pub fn table<C: Clone + Default>(&self, form: &Cells<C>) -> (Vec<&'static str>, Vec<Vec<C>>) {
        let marks = self
            .bullets
            .iter()
            .map(|one| one.marks.len())
            .max()
            .unwrap_or_default();
        let has = |filled: fn(&Bullet) -> bool| self.bullets.iter().any(filled);
        let (of, aside) = (
            has(|one| !one.of.is_empty()),
            has(|one| !one.aside.is_empty()),
        );
        let by_rule = has(|one| !one.rule.is_empty());
        let cells = |one: &Bullet| {
            let mut cells: Vec<C> = one.marks.iter().map(form.mark).collect();
            cells.resize(marks, C::default());
            cells.extend(of.then(|| (form.text)(&one.of)));
            cells.push((form.told)(one));
            cells.extend(aside.then(|| (form.phrase)(&one.aside)));
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
    /// The names of the columns that steps of a plan fill.
    pub const HEAD: [&str; 6] = ["", "level", "setting", "of", "change", "affects"];

    /// The rows of those with a place in the plan.
    pub fn table<C>(steps: &[Self], form: &Cells<C>) -> Vec<Vec<C>> {
        let row = |step: &Self| {
            let number = (form.text)(&step.number?.to_string());
            let [of, change, affects] =
                [&step.of, &step.change, &step.affects].map(|says| (form.text)(says));
            let level = (form.mark)(&Mark::Level(step.level, false));
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
    pub fn sentence(says: impl Into<Phrase>) -> Self {
        Self {
            says: says.into(),
            ..Self::default()
        }
    }

    /// A sentence behind a mark.
    pub fn marked(mark: Mark, says: impl Into<Phrase>) -> Self {
        Self {
            marks: vec![mark],
            says: says.into(),
            ..Self::default()
        }
    }
}

impl Mark {
    pub fn words(&self) -> String {
        match self {
            Self::Level(level, open) => format!("{}{}", level.word(), if *open { "?" } else { "" }),
            Self::Standing(standing) => standing.word().to_owned(),
            Self::Layer(layer) => layer.word().to_owned(),
            Self::Change(word) => word.clone(),
            Self::Remark(word) => (*word).to_owned(),
            Self::Setting(phrase) | Self::Verdict(phrase, _) => phrase.to_string(),
        }
    }
}
