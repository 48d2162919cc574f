//! A flush path drawn as a path: a rail down the left that is solid while the flush travels, turns into the hop where its
//! journey ends, and is gone below a drop; beside it each hop with its fate.

use ratatui::text::{Line, Span};

use super::text;
use crate::durability::{Fate, FlushHop, HopKind};
use crate::facts::catalog::target::Flush;
use crate::report::telling::flush::{self, mark};
use crate::ui::theme::{TextRole, Theme};

/// From so many columns on there is room for what a hop is beside its name.
const WIDE: usize = 58;
/// Columns of rail and mark, of a name and of a fate.
const RAIL: usize = 5;
const NAME: usize = 17;
const FATE: usize = 11;
/// More rows than these are fewer where flushes are only passed on.
const MOST: usize = 12;

/// A row: a hop, or several that only pass a flush on.
struct PathRow<'a> {
    hop: &'a FlushHop,
    more: usize,
}

/// The path in so many columns: the first hop of each row, and the lines of the row.
pub fn rows(path: &[FlushHop], theme: Theme, columns: usize) -> Vec<(&FlushHop, Vec<Line<'static>>)> {
    let rows = merged(path);
    let rails = rails(&rows);
    let drawn = rows.iter().zip(rails);
    let in_columns = |(row, rail): (&PathRow<'_>, _)| match columns {
        ..WIDE => narrow(row, rail, theme, columns),
        _ => wide(row, rail, theme, columns),
    };
    drawn.map(|(row, rail)| (row.hop, in_columns((row, rail)))).collect()
}

/// The hops in rows. Where there are too many, layers in a row that pass a flush on are one.
fn merged(path: &[FlushHop]) -> Vec<PathRow<'_>> {
    let mut rows: Vec<PathRow<'_>> = Vec::new();
    let is_plain = |hop: &FlushHop| match (hop.kind, hop.fate) {
        (HopKind::Layer, Fate::Passed) => true,
        (
            HopKind::Commit
            | HopKind::Server
            | HopKind::FileSystem
            | HopKind::Layer
            | HopKind::Disk
            | HopKind::Members
            | HopKind::Beyond,
            Fate::Passed
            | Fate::FlushSent
            | Fate::Answered
            | Fate::NoCache
            | Fate::NotJudged
            | Fate::Unknown
            | Fate::Unseen
            | Fate::Disagrees
            | Fate::Dropped
            | Fate::LostHere,
        ) => false,
    };
    for hop in path {
        match rows.last_mut() {
            Some(last) if path.len() > MOST && is_plain(last.hop) && is_plain(hop) => last.more += 1,
            _ => rows.push(PathRow { hop, more: 0 }),
        }
    }
    rows
}

/// Whether a flush gets as far as this hop, or may.
fn is_reached(hop: &FlushHop) -> bool {
    matches!(hop.arrival, Flush::Sent | Flush::Unknown)
}

fn is_doubted(hop: &FlushHop) -> bool {
    matches!(hop.arrival, Flush::Unknown)
}

/// What stands before each row, and before what is said beneath it.
fn rails(rows: &[PathRow<'_>]) -> Vec<[&'static str; 2]> {
    const GONE: [&str; 2] = ["   ", "   "];
    let mut parts = false;
    let mut rail = |at: usize, row: &PathRow<'_>| -> [&'static str; 2] {
        let hop = row.hop;
        let rest = rows.get(at.saturating_add(1)..).unwrap_or_default();
        let goes_on = rest.iter().any(|below| below.hop.rank > hop.rank && is_reached(below.hop))
            && !hop.fate.is_dropped();
        let is_followed = rest.first().is_some_and(|below| below.hop.rank == hop.rank);
        let is_many = hop.subjects.len() > 1 && matches!(hop.kind, HopKind::Layer | HopKind::FileSystem);
        if at == 0 {
            return ["┏━━", "┃  "];
        }
        if !is_reached(hop) {
            return GONE;
        }
        if is_doubted(hop) {
            parts = false;
            return ["┊  ", if goes_on { "┊  " } else { "   " }];
        }
        match (std::mem::replace(&mut parts, is_many && goes_on), is_many, goes_on) {
            (false, true, true) => ["┣┓ ", "┃┃ "],
            (true, true, true) => ["┃┃ ", "┃┃ "],
            (true, false, true) => ["┣┛ ", "┃  "],
            (true, _, false) if !is_followed => ["┗┻━", "   "],
            (_, _, true) => ["┃  ", "┃  "],
            (_, _, false) if is_followed => ["┣━━", "┃  "],
            (_, _, false) => ["┗━━", "   "],
        }
    };
    rows.iter().enumerate().map(|(at, row)| rail(at, row)).collect()
}

impl PathRow<'_> {
    fn is_commit(&self) -> bool {
        matches!(self.hop.kind, HopKind::Commit)
    }

    fn mark(&self, theme: Theme) -> Span<'static> {
        if self.is_commit() {
            return Span::styled("●", theme.style(TextRole::Good));
        }
        Span::styled(mark(self.hop.fate).to_string(), theme.fate(self.hop.fate))
    }

    fn name(&self) -> String {
        if self.more > 0 { format!("{} layers", self.more + 1) } else { self.hop.name.clone() }
    }

    fn says(&self) -> String {
        if self.more > 0 { format!("{} and all below it", self.hop.name) } else { self.hop.says.clone() }
    }

    fn fate(&self, theme: Theme) -> Span<'static> {
        // A commit is where the path begins: nothing is judged of it.
        let word = if self.is_commit() { "" } else { flush::word(self.hop.fate) };
        Span::styled(word.to_owned(), theme.fate(self.hop.fate))
    }
}

/// Whether nothing needs to be said of it beside its word.
pub fn is_well(fate: Fate) -> bool {
    matches!(fate, Fate::Passed | Fate::FlushSent | Fate::Answered | Fate::NoCache | Fate::NotJudged)
}

/// A hop in a line; what it is goes on in further ones where the hop is not all right.
fn wide(
    row: &PathRow<'_>,
    [rail, under]: [&'static str; 2],
    theme: Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(RAIL + NAME + FATE + 2);
    let dim = theme.style(TextRole::Dim);
    let says = if is_well(row.hop.fate) { vec![row.says()] } else { text::wrap(&row.says(), room) };
    let mut says = says.into_iter();
    let mut lines = vec![Line::from(vec![
        Span::styled(rail, dim),
        row.mark(theme),
        Span::raw(format!(" {} ", text::pad(&text::fit_middle(&row.name(), NAME), NAME))),
        Span::styled(text::pad(&says.next().unwrap_or_default(), room), dim),
        Span::raw(" "),
        row.fate(theme),
    ])];
    lines.extend(says.map(|says| {
        Line::from(vec![Span::styled(text::pad(under, RAIL + NAME + 1), dim), Span::styled(says, dim)])
    }));
    lines
}

/// The same without room for what a hop is, which stands beneath where the hop is not all right.
fn narrow(
    row: &PathRow<'_>,
    [rail, under]: [&'static str; 2],
    theme: Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let dim = theme.style(TextRole::Dim);
    let name = columns.saturating_sub(RAIL + FATE + 1);
    let mut lines = vec![Line::from(vec![
        Span::styled(rail, dim),
        row.mark(theme),
        Span::raw(format!(" {} ", text::pad(&text::fit_middle(&row.name(), name), name))),
        row.fate(theme),
    ])];
    if !row.hop.fate.is_sound() {
        let room = columns.saturating_sub(RAIL);
        for says in text::wrap(&row.says(), room).into_iter().filter(|says| !says.is_empty()) {
            lines.push(Line::from(vec![Span::styled(text::pad(under, RAIL), dim), Span::styled(says, dim)]));
        }
    }
    lines
}

#[cfg(test)]
mod tests;
