//! A flush path with a rail at the left: solid as far as the flush travels, ending at the hop where
//! it stops, absent below a drop. Beside it each hop with its state.

use ratatui::text::{Line, Span};

use super::text;
use crate::durability::{FlushHop, FlushState, HopKind};
use crate::facts::catalog::target::Flush;
use crate::report::view::flush::{needs_no_remark, sign};
use crate::tui::theme::{TextRole, Theme};

/// The width from which a hop's description fits beside its name.
const WIDE_LAYOUT: usize = 58;
/// Columns of rail and mark, of a name, and of a state.
const RAIL: usize = 5;
const NAME: usize = 17;
const FATE_WIDTH: usize = 11;
/// Longer paths merge layers that only pass flushes on.
const MAX_ROWS: usize = 12;

/// A row: one hop, or several layers that only pass flushes on.
struct PathRow<'a> {
    hop: &'a FlushHop,
    more: usize,
}

/// The first hop of each row, with the lines of the row.
pub fn rows(
    path: &[FlushHop],
    theme: Theme,
    columns: usize,
) -> Vec<(&FlushHop, Vec<Line<'static>>)> {
    let rows = merge_rows(path);
    let drawn = rows.iter().zip(rails(&rows));
    drawn
        .map(|(row, rail)| (row.hop, row.lines(rail, theme, columns)))
        .collect()
}

/// The hops as rows. In long paths, consecutive layers that pass flushes on share a row.
fn merge_rows(path: &[FlushHop]) -> Vec<PathRow<'_>> {
    let mut rows: Vec<PathRow<'_>> = Vec::new();
    let is_plain =
        |hop: &FlushHop| matches!((hop.kind, hop.state), (HopKind::Layer, FlushState::Passed));
    for hop in path {
        match rows.last_mut() {
            Some(last) if path.len() > MAX_ROWS && is_plain(last.hop) && is_plain(hop) => {
                last.more += 1;
            }
            _ => rows.push(PathRow { hop, more: 0 }),
        }
    }
    rows
}

/// Whether a flush reaches this hop, or may reach it.
fn is_reached(hop: &FlushHop) -> bool {
    matches!(hop.arrival, Flush::Sent | Flush::Unknown)
}

/// The rail before each row, and before its further lines.
fn rails(rows: &[PathRow<'_>]) -> Vec<[&'static str; 2]> {
    const GONE: [&str; 2] = ["   ", "   "];
    let mut parts = false;
    let mut rail = |at: usize, row: &PathRow<'_>| -> [&'static str; 2] {
        let hop = row.hop;
        let rest = rows.get(at.saturating_add(1)..).unwrap_or_default();
        let goes_on = rest
            .iter()
            .any(|below| below.hop.rank > hop.rank && is_reached(below.hop))
            && !hop.state.is_dropped();
        let is_followed = rest.first().is_some_and(|below| below.hop.rank == hop.rank);
        let is_many =
            hop.subjects.len() > 1 && matches!(hop.kind, HopKind::Layer | HopKind::FileSystem);
        if at == 0 {
            return ["┏━━", "┃  "];
        }
        if !is_reached(hop) {
            return GONE;
        }
        if matches!(hop.arrival, Flush::Unknown) {
            parts = false;
            return ["┊  ", if goes_on { "┊  " } else { "   " }];
        }
        match (
            std::mem::replace(&mut parts, is_many && goes_on),
            is_many,
            goes_on,
        ) {
            (false, true, true) => ["┣┓ ", "┃┃ "],
            (true, true, true) => ["┃┃ ", "┃┃ "],
            (true, false, true) => ["┣┛ ", "┃  "],
            (true, _, false) if !is_followed => ["┗┻━", "   "],
            (_, _, true) => ["┃  ", "┃  "],
            (_, _, false) if is_followed => ["┣━━", "┃  "],
            (_, _, false) => ["┗━━", "   "],
        }
    };
    rows.iter()
        .enumerate()
        .map(|(at, row)| rail(at, row))
        .collect()
}

impl PathRow<'_> {
    /// Its lines. The description is beside the name if it fits, and wraps only for a hop with a
    /// problem.
    fn lines(
        &self,
        [rail, under]: [&'static str; 2],
        theme: Theme,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let hop = self.hop;
        let (name, says) = match self.more {
            0 => (hop.name.clone(), hop.text.clone()),
            more => (
                format!("{} layers", more + 1),
                format!("{} and all below it", hop.name),
            ),
        };
        let is_wide = columns >= WIDE_LAYOUT;
        let (width, beneath, room) = if is_wide {
            (
                NAME,
                RAIL + NAME + 1,
                columns.saturating_sub(RAIL + NAME + FATE_WIDTH + 2),
            )
        } else {
            (
                columns.saturating_sub(RAIL + FATE_WIDTH + 1),
                RAIL,
                columns.saturating_sub(RAIL),
            )
        };
        let mut says = match is_wide {
            true if needs_no_remark(hop) => vec![says],
            false if hop.state.is_sound() => Vec::new(),
            _ => text::wrap(&says, room),
        }
        .into_iter();
        let beside = is_wide.then(|| text::pad(&says.next().unwrap_or_default(), room));
        let dim = theme.style(TextRole::Dim);
        let (mark, word, tone) = sign(hop);
        let mut lines = vec![Line::from(vec![
            Span::styled(rail, dim),
            Span::styled(mark, theme.tone(tone)),
            Span::raw(format!(
                " {} ",
                text::pad(&text::fit_middle(&name, width), width)
            )),
            Span::styled(beside.unwrap_or_default(), dim),
            Span::raw(if is_wide { " " } else { "" }),
            Span::styled(word, theme.tone(tone)),
        ])];
        let more = says.filter(|says| !says.is_empty());
        lines.extend(
            more.map(|says| Line::from(Span::styled(text::pad(under, beneath) + &says, dim))),
        );
        lines
    }
}

#[cfg(test)]
mod tests {
    //! The drawn paths of seven stacks, and properties of every path.

    use super::*;
    use crate::durability::VerdictKind;
    use crate::facts::Subject;

    const PLAIN: Theme = Theme {
        colour: false,
        ascii: false,
    };

    /// A hop: kind, names, description, state, rank, and what arrives.
    fn hop(
        kind: HopKind,
        names: &str,
        says: &str,
        fate: FlushState,
        rank: u32,
        arrival: Flush,
    ) -> FlushHop {
        let devices = names.split(' ').map(Subject::device);
        FlushHop {
            kind,
            subjects: devices.collect(),
            name: names.to_owned(),
            text: says.to_owned(),
            state: fate,
            because: String::new(),
            source: String::new(),
            standing: VerdictKind::Durable,
            rank,
            arrival,
        }
    }

    fn commit() -> FlushHop {
        hop(
            HopKind::Commit,
            "commit",
            "reported once the flush below returns",
            FlushState::NotJudged,
            0,
            Flush::Sent,
        )
    }

    fn drawn_lines(path: &[FlushHop], columns: usize) -> Vec<String> {
        rows(path, PLAIN, columns)
            .iter()
            .flat_map(|(_, lines)| lines)
            .map(|line| line.to_string().trim_end().to_owned())
            .collect()
    }

    fn over_a_drop() -> [FlushHop; 5] {
        use FlushState::{Dropped, LostHere, Passed};
        use HopKind::{Disk, FileSystem, Layer};
        [
            commit(),
            hop(
                FileSystem,
                "xfs",
                "/data · rw,relatime",
                Passed,
                1,
                Flush::Sent,
            ),
            hop(
                Layer,
                "loop0",
                "/images/data.img, 100 GiB",
                Passed,
                2,
                Flush::Sent,
            ),
            hop(
                FileSystem,
                "ext4",
                "/images · nobarrier",
                Dropped,
                3,
                Flush::Sent,
            ),
            hop(
                Disk,
                "sda",
                "SAMSUNG MZ7LH960 · volatile cache",
                LostHere,
                4,
                Flush::Suppressed,
            ),
        ]
    }

    #[test]
    fn the_rail_ends_where_the_flush_is_dropped() {
        assert_eq!(
            drawn_lines(&over_a_drop(), 76),
            [
                "┏━━● commit            reported once the flush below returns",
                "┃  ● xfs               /data · rw,relatime                       passed",
                "┃  ● loop0             /images/data.img, 100 GiB                 passed",
                "┗━━✗ ext4              /images · nobarrier                       DROPPED",
                "   ! sda               SAMSUNG MZ7LH960 · volatile cache         LOST HERE",
            ]
        );
        assert_eq!(
            drawn_lines(&over_a_drop(), 36),
            [
                "┏━━● commit",
                "┃  ● xfs                 passed",
                "┃  ● loop0               passed",
                "┗━━✗ ext4                DROPPED",
                "     /images · nobarrier",
                "   ! sda                 LOST HERE",
                "     SAMSUNG MZ7LH960 · volatile",
                "     cache",
            ]
        );
    }

    #[test]
    fn ways_part_and_join() {
        use FlushState::{Disagrees, FlushSent, Passed, Unseen};
        use HopKind::{Beyond, Disk, Layer};
        let diamond = [
            commit(),
            hop(Layer, "dm-0", "LVM", Passed, 1, Flush::Sent),
            hop(Layer, "md0 md1", "2 × RAID1", Passed, 2, Flush::Sent),
            hop(Disk, "sda sdb", "2 × PM893", FlushSent, 3, Flush::Sent),
        ];
        let starts = |path: &[FlushHop]| -> Vec<String> {
            drawn_lines(path, 76)
                .iter()
                .map(|line| {
                    line.chars()
                        .take(12)
                        .collect::<String>()
                        .trim_end()
                        .to_owned()
                })
                .collect()
        };
        assert_eq!(
            starts(&diamond),
            ["┏━━● commit", "┃  ● dm-0", "┣┓ ● md0 md1", "┗┻━● sda sdb"]
        );
        let legs = [
            commit(),
            hop(Layer, "md0", "RAID1", Passed, 1, Flush::Sent),
            hop(Disk, "sda", "", FlushSent, 2, Flush::Sent),
            hop(Disk, "sdb", "", Disagrees, 2, Flush::Sent),
        ];
        assert_eq!(
            starts(&legs),
            ["┏━━● commit", "┃  ● md0", "┣━━● sda", "┗━━≠ sdb"]
        );
        let guest = [
            commit(),
            hop(Disk, "vdb", "", FlushSent, 1, Flush::Sent),
            hop(Beyond, "hypervisor", "", Unseen, 2, Flush::Unknown),
        ];
        assert_eq!(starts(&guest), ["┏━━● commit", "┃  ● vdb", "┊  ? hypervi"]);
    }

    #[test]
    fn a_long_path_is_short_where_nothing_happens() {
        let layers = (1..30).map(|rank| {
            hop(
                HopKind::Layer,
                &format!("dm-{rank}"),
                "",
                FlushState::Passed,
                rank,
                Flush::Sent,
            )
        });
        let disk = hop(
            HopKind::Disk,
            "sda",
            "",
            FlushState::FlushSent,
            30,
            Flush::Sent,
        );
        let path: Vec<FlushHop> = [commit()].into_iter().chain(layers).chain([disk]).collect();
        assert_eq!(
            drawn_lines(&path, 76),
            [
                "┏━━● commit            reported once the flush below returns",
                "┃  ● 29 layers         dm-1 and all below it                     passed",
                "┗━━● sda                                                         flush sent",
            ]
        );
    }

    #[test]
    fn no_width_is_too_small() {
        for columns in 0..120 {
            for line in drawn_lines(&over_a_drop(), columns) {
                assert!(text::width(&line) <= columns.max(20), "{columns}: {line}");
            }
        }
    }
}
