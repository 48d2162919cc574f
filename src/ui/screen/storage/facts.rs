//! The facts of one layer, and what the verdict rests on of it: in groups, or as a list of what was looked for; each
//! unfolds.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::fact::{FactLine, FactState};
use super::groups::{self, DisplayGroup};
use super::layer::StackNode;
use crate::durability::Evidence;
use crate::facts::{Need, Reading, Scope, Subject, catalog};
use crate::report::Report;
use crate::report::telling::target::heading;
use crate::report::telling::words as told;
use crate::ui::data::Data;
use crate::ui::page::{Block, Enter, PageState};
use crate::ui::raw::Raw;
use crate::ui::screen::details::Details;
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::text;
use crate::ui::words;

/// All that is known of a layer.
pub struct LayerDetails<'a> {
    subject: &'a Subject,
    /// Also what is known to be unknown.
    known: Vec<FactLine<'a>>,
    evidence: Vec<&'a Evidence>,
    /// For the target, the verdict.
    verdict: Option<String>,
    data: &'a Data,
    report: &'a Report,
}

impl<'a> LayerDetails<'a> {
    /// What is known of it; of the target also the verdict, and evidence about what is not shown here.
    pub fn new(data: &'a Data, report: &'a Report, subject: &'a Subject, is_top: bool) -> Self {
        let mut known: Vec<FactLine<'a>> =
            report.facts.rows_of(subject).map(|row| fact(subject, row.fact, row.reading)).collect();
        // What nobody asked for has no row, and may still be what is missing.
        for (need, _) in data.focus.needs.iter().filter(|(need, _)| need.subject == *subject) {
            if !known.iter().any(|fact| fact.name == need.fact) {
                known.push(FactLine {
                    name: &need.fact,
                    said: FactState::Unknown(Box::new(need.clone()), true),
                });
            }
        }
        let concerned = |of: &Subject| of.scope() == Scope::Host || data.focus.concerned.contains(of);
        let about = |piece: &&Evidence| piece.subject == *subject || is_top && !concerned(&piece.subject);
        let mut evidence: Vec<&Evidence> = Vec::new();
        let paths = data.verdict().into_iter().flat_map(|verdict| &verdict.paths);
        for piece in paths.flat_map(|path| &path.evidence).filter(about) {
            if !evidence.contains(&piece) {
                evidence.push(piece);
            }
        }
        let verdict = data.verdict().filter(|_| is_top);
        let verdict = verdict.map(|verdict| {
            let more = [&verdict.second_fault, &verdict.host_loss].map(String::as_str);
            let says = std::iter::once(verdict.sentence.as_str()).chain(more).filter(|says| !says.is_empty());
            format!("{}: {}", heading(verdict), says.collect::<Vec<_>>().join(" "))
        });
        Self { subject, known, evidence, verdict, data, report }
    }

    /// How many of them are unknown and could be known.
    pub fn gaps(&self) -> usize {
        self.known.iter().filter(|fact| fact.is_gap()).count()
    }

    /// The facts that are looked for in what is said of a layer and of them.
    fn looked_for<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s FactLine<'a>> {
        self.known.iter().filter(move |fact| {
            (!state.only_unknown || fact.is_gap()) && state.passes(&format!("{layer} {}", fact.text()))
        })
    }

    /// Names of the facts that are looked for.
    pub fn found<'s>(&'s self, state: &'s PageState, layer: &'s str) -> impl Iterator<Item = &'s str> {
        let evidence = self.evidence(state, layer).map(|piece| piece.says.as_str());
        self.looked_for(state, layer).map(|fact| fact.name).chain(evidence)
    }

    fn evidence<'s>(&'s self, state: &'s PageState, layer: &'s str) -> impl Iterator<Item = &'s Evidence> {
        let wanted = move |piece: &&Evidence| {
            let said = format!("{layer} {} {} {}", piece.layer.word(), piece.says, piece.source);
            !state.only_unknown && state.passes(&said)
        };
        self.evidence.iter().copied().filter(wanted)
    }

    /// The verdict, the evidence, then the facts, as the user wants to see them: `state` says what is looked for, `place`
    /// what is unfolded.
    pub fn blocks(
        &self,
        layer: &StackNode<'_>,
        state: &PageState,
        place: &PageState,
        theme: Theme,
        room: usize,
    ) -> Vec<Block> {
        let said = layer.said();
        let mut blocks = Vec::new();
        let mut details = Details::new(theme, room);
        if let Some(verdict) =
            self.verdict.as_ref().filter(|verdict| !state.only_unknown && state.passes(verdict))
        {
            details.paragraph(verdict);
        }
        for piece in self.evidence(state, &said) {
            let source = if piece.source.is_empty() { String::new() } else { format!(" ({})", piece.source) };
            let says = format!("{}: {}{source}", piece.standing.word(), piece.says);
            details.field(piece.layer.word(), &says);
        }
        if !details.lines.is_empty() {
            blocks.push(Block::text(details.lines));
        }
        let facts: Vec<&FactLine<'_>> = self.looked_for(state, &said).collect();
        if state.only_unknown || state.is_searching() || state.with_sources {
            let widths = Widths::from_facts(&facts, room);
            let rows =
                facts.iter().map(|fact| self.block(fact, row(fact, &widths, theme), place, theme, room));
            blocks.extend(rows);
        } else {
            blocks.extend(self.grouped(&facts, place, theme, room));
        }
        blocks
    }

    /// The facts in groups, those that decide something first.
    fn grouped(&self, facts: &[&FactLine<'_>], place: &PageState, theme: Theme, room: usize) -> Vec<Block> {
        let decides = groups::deciding(self.data, self.report, self.subject);
        let mut blocks = Vec::new();
        // Where there is nothing but what is folded, nothing is.
        let folds = facts.iter().any(|fact| !DisplayGroup::of(fact.name, &decides).is_folded());
        for group in DisplayGroup::ALL {
            let of_group =
                || facts.iter().copied().filter(|fact| DisplayGroup::of(fact.name, &decides) == group);
            let count = of_group().count();
            if count == 0 {
                continue;
            }
            let heading = Span::styled(group.title(), theme.style(TextRole::Heading));
            let key = format!("group {} {}", self.subject, group.title());
            let is_folded = folds && group.is_folded();
            let is_open = !is_folded || place.is_unfolded(&key);
            if is_folded {
                let says = format!("   {}", told::count(count, "fact"));
                let line = Line::from(vec![heading, Span::styled(says, theme.style(TextRole::Dim))]);
                blocks.push(Block::item(key, Enter::Unfold, vec![line]));
            } else {
                blocks.push(Block::text(vec![Line::default(), Line::from(heading)]));
            }
            let rows = of_group().filter(|_| is_open);
            let name = groups::longest(rows.clone(), room);
            let drawn = |fact: &FactLine<'_>| groups::row(fact, theme, name, room);
            blocks.extend(rows.map(|fact| self.block(fact, drawn(fact), place, theme, room)));
        }
        blocks
    }

    /// A fact, with all of it beneath where it is opened.
    fn block(
        &self,
        fact: &FactLine<'_>,
        mut lines: Vec<Line<'static>>,
        place: &PageState,
        theme: Theme,
        room: usize,
    ) -> Block {
        let key = format!("fact {} {}", self.subject, fact.name);
        if place.is_unfolded(&key) {
            lines.extend(beneath(fact, &self.data.raw, theme, room.saturating_sub(2)));
        }
        let mut block = Block::item(key, Enter::Unfold, lines).amiss(fact.is_gap());
        block.fact = Some((self.subject.clone(), fact.name.to_owned()));
        block
    }
}

fn fact<'a>(subject: &Subject, name: &'a str, reading: &Reading<crate::facts::Value>) -> FactLine<'a> {
    let said = match reading {
        Reading::Known { value, source } => FactState::Known(catalog::show(name, value), source.to_string()),
        Reading::Unknown { why, detail, remedy } => {
            let need = Need {
                subject: subject.clone(),
                fact: name.to_owned(),
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            };
            FactState::Unknown(Box::new(need), reading.is_gap())
        }
    };
    FactLine { name, said }
}

/// Names longer than this have a line of their own.
const NAME: usize = 28;
/// Fewer columns than this beside the names are no room for a value and its source.
const LEAST_BESIDE: usize = 40;

struct Widths {
    room: usize,
    name: usize,
    value: usize,
    source: usize,
}

impl Widths {
    fn from_facts(facts: &[&FactLine<'_>], room: usize) -> Self {
        let longest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or_default();
        let name = longest(&mut facts.iter().map(|fact| text::width(fact.name)));
        let name = name.min((room.saturating_mul(9) / 20).max(NAME.min(room)));
        let rest = room.saturating_sub(name).saturating_sub(2);
        let value = longest(&mut facts.iter().filter_map(|fact| match &fact.said {
            FactState::Known(value, _) => Some(text::width(value)),
            FactState::Unknown(..) => None,
        }));
        let value = value.min(rest.saturating_sub(2) / 2);
        Self { room, name, value, source: rest.saturating_sub(value).saturating_sub(2) }
    }

    /// Columns beside the name.
    fn beside(&self) -> usize {
        self.room.saturating_sub(self.name).saturating_sub(2)
    }
}

/// A source in a row: of a path the end, of a conclusion that it is one.
fn short(source: &str, room: usize) -> String {
    if source.starts_with('/') { text::fit_end(source, room) } else { text::fit(source, room) }
}

/// One fact: what is known in one line where value and source have room in it, else each in as many as it takes, as why
/// something is not known.
fn row(fact: &FactLine<'_>, widths: &Widths, theme: Theme) -> Vec<Line<'static>> {
    let (plain, dim) = (theme.style(TextRole::Plain), theme.style(TextRole::Dim));
    match &fact.said {
        FactState::Known(value, source)
            if (widths.beside() >= LEAST_BESIDE || text::width(source) <= widths.source)
                && text::width(fact.name) <= widths.name
                && text::width(value) <= widths.value =>
        {
            vec![Line::from(vec![
                Span::raw(text::pad(fact.name, widths.name.saturating_add(2))),
                Span::raw(text::pad(value, widths.value)),
                Span::raw("  "),
                Span::styled(short(source, widths.source), dim),
            ])]
        }
        FactState::Known(value, source) => {
            folded(fact.name, &[(value.clone(), plain), (source.clone(), dim)], widths)
        }
        FactState::Unknown(need, is_gap) => {
            let role = if *is_gap { TextRole::Doubt } else { TextRole::Dim };
            let mut says = vec![(format!("unknown: {}", told::reason(need)), theme.style(role))];
            let remedy = words::remedy(need);
            if !remedy.is_empty() {
                says.push((format!("→ {remedy}"), plain));
            }
            folded(fact.name, &says, widths)
        }
    }
}

/// A name with all that is said of it beside it; where there is little room there, only what fits in the first line, and the
/// rest beneath.
fn folded(name: &str, says: &[(String, Style)], widths: &Widths) -> Vec<Line<'static>> {
    let indent = widths.name.saturating_add(2);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut name = Some(name);
    for (said, style) in says {
        let fits = text::width(said) <= widths.beside() && lines.is_empty();
        let is_beside = widths.beside() >= LEAST_BESIDE || fits;
        // A name that is longer than its column, or has nothing beside it, is alone in its line.
        if let Some(alone) = name.take_if(|name| text::width(name) > widths.name || !is_beside) {
            lines.push(Line::raw(alone.to_owned()));
        }
        let left = if is_beside { indent } else { 2 };
        for row in text::wrap(said, widths.room.saturating_sub(left)) {
            let left = text::pad(name.take().unwrap_or_default(), left);
            lines.push(Line::from(vec![Span::raw(left), Span::styled(row, *style)]));
        }
    }
    lines
}

fn beneath(fact: &FactLine<'_>, raw: &Raw, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut details = Details::new(theme, room);
    details.field("fact", fact.name);
    match &fact.said {
        FactState::Known(value, source) => {
            details.field("value", value);
            details.field("source", source);
            details.commands("reads", raw.lines(source, value));
        }
        FactState::Unknown(need, _) => {
            details.field("why", &told::reason(need));
            let remedy = words::remedy(need);
            if !remedy.is_empty() {
                details.field("remedy", &remedy);
            }
        }
    }
    if let Some(info) = catalog::find(fact.name) {
        details.field("means", info.doc.trim());
    }
    details.gap();
    details.indented()
}

/// A block a little to the right, as what stands beneath a layer.
pub fn indented(mut block: Block) -> Block {
    block.lines = crate::ui::screen::details::indented(block.lines);
    block
}
