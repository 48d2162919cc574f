//! The column at the left of a wide dashboard: every target, and what is known of the host and of the stack of the chosen
//! one.

use ratatui::text::{Line, Span};

use super::facts;
use crate::facts::{Scope, Subject};
use crate::report::Report;
use crate::ui::data::Data;
use crate::ui::side::{Side, SideRow};
use crate::ui::standing;
use crate::ui::theme::TextRole;
use crate::ui::widgets::columns::{self, StyledText};

/// Its columns, with margins and the line at its right.
const WIDTH: u16 = 50;
const ROOM: usize = 47;
/// Columns of the name of a target.
const NAME: usize = 16;
/// The most facts of one thing.
const MOST: usize = 7;

/// The column in so many rows.
pub fn side(data: &Data, report: &Report, rows: usize) -> Side {
    let mut all = targets(data, report, rows / 2);
    for subject in concerned(data, report) {
        if all.len() >= rows {
            break;
        }
        let said = facts::of(report, &subject, data.theme, ROOM - 1, MOST);
        if !said.is_empty() {
            all.push(SideRow { line: Line::default(), target: None });
        }
        all.extend(said.into_iter().map(|line| SideRow { line: indented(line), target: None }));
    }
    all.truncate(rows);
    Side { rows: all, width: WIDTH }
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw(" "));
    line
}

/// What is told of: two disks, the host, file systems, the server, what the next boot does, and other devices.
fn concerned<'d>(data: &'d Data, report: &Report) -> impl Iterator<Item = Subject> + use<'d> {
    let mut first = facts::disks(data, report);
    first.truncate(2);
    first.push(Subject::host());
    let of_scope = |scope: Scope| data.focus.subjects().filter(move |subject| subject.scope() == scope);
    let others = [Scope::Mount, Scope::Cluster, Scope::Boot, Scope::Device].into_iter().flat_map(of_scope);
    let known = first.clone();
    first.into_iter().chain(others.filter(move |subject| !known.contains(subject)).cloned())
}

/// The targets, the worst first, the chosen one among them.
fn targets(data: &Data, report: &Report, most: usize) -> Vec<SideRow> {
    let theme = data.theme;
    let (place, count) = data.focus.place;
    let title = if count == 1 { " Target".to_owned() } else { format!(" Targets {count}, worst first") };
    let mut rows = vec![SideRow { line: Line::styled(title, theme.style(TextRole::Heading)), target: None }];
    let skipped = (place + 1).saturating_sub(most);
    let shown = data.focus.targets(report).enumerate().skip(skipped).take(most);
    let (places, cells): (Vec<usize>, Vec<Vec<StyledText>>) =
        shown.map(|(at, target)| (at, standing::cells(report, target, at == place, NAME, theme))).unzip();
    let lines = columns::lines(&cells, &standing::SHAPE, ROOM).into_iter().zip(places);
    rows.extend(lines.map(|(line, at)| SideRow { line, target: Some(at) }));
    let below = count.saturating_sub(skipped).saturating_sub(most);
    if below > 0 {
        let line = Line::styled(format!("  {below} more: t"), theme.style(TextRole::Dim));
        rows.push(SideRow { line, target: None });
    }
    rows
}
