//! Draws the path of a flush, one row per hop. A hop is a layer of the storage stack on that path.
//! A rail at the left is solid as far as the flush travels and dotted where that is unknown. Below
//! the hop that stops or drops the flush, the rail is absent.

use ratatui::text::{Line, Span};

use super::text;
use crate::durability::{FlushHop, FlushState, HopKind};
use crate::facts::catalog::target::FlushDelivery;
use crate::report::view::flush_path::hop_symbol_word_and_tone;
use crate::tui::theme::{DIM, tone_style};

/// With at least this many columns, the description of a layer is at the right of its name,
/// otherwise below it.
const WIDE_LAYOUT: usize = 58;
const RAIL_WIDTH: usize = 5;
const NAME_WIDTH: usize = 17;
const FATE_WIDTH: usize = 11;
/// In a path with more layers, adjacent layers that only pass flushes on share a row.
const MAX_ROWS: usize = 12;

/// One row of the path; `more` counts the further layers on that row.
struct PathRow<'a> {
    hop: &'a FlushHop,
    more: usize,
}

/// Draws the path; each row is returned as its first layer and its lines.
pub fn path_rows(path: &[FlushHop], columns: usize) -> Vec<(&FlushHop, Vec<Line<'static>>)> {
    let rows = merge_passing_layers(path);
    let drawn = rows.iter().zip(row_rails(&rows));
    drawn
        .map(|(row, rail)| (row.hop, row.flush_path_row_lines(rail, columns)))
        .collect()
}

fn merge_passing_layers(path: &[FlushHop]) -> Vec<PathRow<'_>> {
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

fn can_flush_reach_hop(hop: &FlushHop) -> bool {
    matches!(hop.arrival, FlushDelivery::Sent | FlushDelivery::Unknown)
}

/// The rails of each row: one string for the row's first line, and one for its further lines.
fn row_rails(rows: &[PathRow<'_>]) -> Vec<[&'static str; 2]> {
    const GONE: [&str; 2] = ["   ", "   "];
    let mut parts = false;
    let mut rail = |at: usize, row: &PathRow<'_>| -> [&'static str; 2] {
        let hop = row.hop;
        let rest = rows.get(at + 1..).unwrap_or_default();
        let goes_on = rest
            .iter()
            .any(|below| below.hop.rank > hop.rank && can_flush_reach_hop(below.hop))
            && !hop.state.is_dropped();
        let is_followed = rest.first().is_some_and(|below| below.hop.rank == hop.rank);
        let is_many =
            hop.subjects.len() > 1 && matches!(hop.kind, HopKind::Layer | HopKind::FileSystem);
        if at == 0 {
            return ["┏━━", "┃  "];
        }
        if !can_flush_reach_hop(hop) {
            return GONE;
        }
        if matches!(hop.arrival, FlushDelivery::Unknown) {
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
    /// In the narrow layout the description is below the name, or left out if the state needs no
    /// explanation.
    fn flush_path_row_lines(
        &self,
        [rail, under]: [&'static str; 2],
        columns: usize,
    ) -> Vec<Line<'static>> {
        let hop = self.hop;
        let (name, says) = match self.more {
            0 => (hop.name.clone(), hop.text.clone()),
            more => (
                format!("{} layers", more + 1),
                format!("{} and everything below it", hop.name),
            ),
        };
        let is_wide = columns >= WIDE_LAYOUT;
        let (width, beneath, room) = if is_wide {
            (
                NAME_WIDTH,
                RAIL_WIDTH + NAME_WIDTH + 1,
                columns.saturating_sub(RAIL_WIDTH + NAME_WIDTH + FATE_WIDTH + 2),
            )
        } else {
            (
                columns.saturating_sub(RAIL_WIDTH + FATE_WIDTH + 1),
                RAIL_WIDTH,
                columns.saturating_sub(RAIL_WIDTH),
            )
        };
        let is_clear = !is_wide && hop.state.needs_no_explanation();
        let mut says = text::wrap(if is_clear { "" } else { &says }, room).into_iter();
        let beside = is_wide.then(|| text::pad_or_truncate(&says.next().unwrap_or_default(), room));
        let (mark, word, tone) = hop_symbol_word_and_tone(hop);
        let mut lines = vec![Line::from(vec![
            Span::styled(rail, DIM),
            Span::styled(mark, tone_style(tone)),
            Span::raw(format!(
                " {} ",
                text::pad_or_truncate(&text::truncate_middle(&name, width), width)
            )),
            Span::styled(beside.unwrap_or_default(), DIM),
            Span::raw(if is_wide { " " } else { "" }),
            Span::styled(word, tone_style(tone)),
        ])];
        let more = says.filter(|says| !says.is_empty());
        lines.extend(more.map(|says| {
            Line::from(Span::styled(
                text::pad_or_truncate(under, beneath) + &says,
                DIM,
            ))
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durability::VerdictKind;
    use crate::facts::Subject;

    fn sample_hop(
        kind: HopKind,
        names: &str,
        says: &str,
        fate: FlushState,
        rank: u32,
        arrival: FlushDelivery,
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

    fn commit_hop() -> FlushHop {
        sample_hop(
            HopKind::Commit,
            "commit",
            "reported once the flush below returns",
            FlushState::NotJudged,
            0,
            FlushDelivery::Sent,
        )
    }

    fn drawn_path_lines(path: &[FlushHop], columns: usize) -> Vec<String> {
        path_rows(path, columns)
            .iter()
            .flat_map(|(_, lines)| lines)
            .map(|line| line.to_string().trim_end().to_owned())
            .collect()
    }

    fn path_with_dropped_flush() -> [FlushHop; 5] {
        use FlushState::{Dropped, LostHere, Passed};
        use HopKind::{Disk, FileSystem, Layer};
        [
            commit_hop(),
            sample_hop(
                FileSystem,
                "xfs",
                "/data · rw,relatime",
                Passed,
                1,
                FlushDelivery::Sent,
            ),
            sample_hop(
                Layer,
                "loop0",
                "/images/data.img, 100 GiB",
                Passed,
                2,
                FlushDelivery::Sent,
            ),
            sample_hop(
                FileSystem,
                "ext4",
                "/images · nobarrier",
                Dropped,
                3,
                FlushDelivery::Sent,
            ),
            sample_hop(
                Disk,
                "sda",
                "SAMSUNG MZ7LH960 · volatile cache",
                LostHere,
                4,
                FlushDelivery::Suppressed,
            ),
        ]
    }

    #[test]
    fn the_rail_ends_where_the_flush_is_dropped() {
        assert_eq!(
            drawn_path_lines(&path_with_dropped_flush(), 76),
            [
                "┏━━● commit            reported once the flush below returns",
                "┃  ● xfs               /data · rw,relatime                       passed",
                "┃  ● loop0             /images/data.img, 100 GiB                 passed",
                "┗━━✗ ext4              /images · nobarrier                       DROPPED",
                "   ! sda               SAMSUNG MZ7LH960 · volatile cache         LOST HERE",
            ]
        );
        assert_eq!(
            drawn_path_lines(&path_with_dropped_flush(), 36),
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
    fn rails_branch_and_join_at_parallel_layers() {
        use FlushState::{Disagrees, FlushSent, Passed, Unseen};
        use HopKind::{Beyond, Disk, Layer};
        let diamond = [
            commit_hop(),
            sample_hop(Layer, "dm-0", "LVM", Passed, 1, FlushDelivery::Sent),
            sample_hop(
                Layer,
                "md0 md1",
                "2 × RAID1",
                Passed,
                2,
                FlushDelivery::Sent,
            ),
            sample_hop(
                Disk,
                "sda sdb",
                "2 × PM893",
                FlushSent,
                3,
                FlushDelivery::Sent,
            ),
        ];
        let starts = |path: &[FlushHop]| -> Vec<String> {
            drawn_path_lines(path, 76)
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
            commit_hop(),
            sample_hop(Layer, "md0", "RAID1", Passed, 1, FlushDelivery::Sent),
            sample_hop(Disk, "sda", "", FlushSent, 2, FlushDelivery::Sent),
            sample_hop(Disk, "sdb", "", Disagrees, 2, FlushDelivery::Sent),
        ];
        assert_eq!(
            starts(&legs),
            ["┏━━● commit", "┃  ● md0", "┣━━● sda", "┗━━≠ sdb"]
        );
        let guest = [
            commit_hop(),
            sample_hop(Disk, "vdb", "", FlushSent, 1, FlushDelivery::Sent),
            sample_hop(Beyond, "hypervisor", "", Unseen, 2, FlushDelivery::Unknown),
        ];
        assert_eq!(starts(&guest), ["┏━━● commit", "┃  ● vdb", "┊  ? hypervi"]);
    }

    #[test]
    fn long_path_merges_layers_that_pass_flushes() {
        let layers = (1..30).map(|rank| {
            sample_hop(
                HopKind::Layer,
                &format!("dm-{rank}"),
                "",
                FlushState::Passed,
                rank,
                FlushDelivery::Sent,
            )
        });
        let disk = sample_hop(
            HopKind::Disk,
            "sda",
            "",
            FlushState::FlushSent,
            30,
            FlushDelivery::Sent,
        );
        let path: Vec<FlushHop> = [commit_hop()]
            .into_iter()
            .chain(layers)
            .chain([disk])
            .collect();
        assert_eq!(
            drawn_path_lines(&path, 76),
            [
                "┏━━● commit            reported once the flush below returns",
                "┃  ● 29 layers         dm-1 and everything below it              passed",
                "┗━━● sda                                                         flush sent",
            ]
        );
    }

    #[test]
    fn flush_path_fits_any_width() {
        for columns in 0..120 {
            for line in drawn_path_lines(&path_with_dropped_flush(), columns) {
                assert!(text::width(&line) <= columns.max(20), "{columns}: {line}");
            }
        }
    }
}
