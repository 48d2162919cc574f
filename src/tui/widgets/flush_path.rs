//! A flush path drawn as a path: a rail down the left that is solid while the flush travels, turns
//! into the hop where its journey ends, and is gone below a drop; beside it each hop with its fate.

use ratatui::text::{Line, Span};

use super::text;
use crate::durability::{Fate, FlushHop, HopKind};
use crate::facts::catalog::target::Flush;
use crate::report::telling::flush::{is_well, sign};
use crate::tui::theme::{TextRole, Theme};

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
pub fn rows(
    path: &[FlushHop],
    theme: Theme,
    columns: usize,
) -> Vec<(&FlushHop, Vec<Line<'static>>)> {
    let rows = merged(path);
    let drawn = rows.iter().zip(rails(&rows));
    drawn
        .map(|(row, rail)| (row.hop, row.lines(rail, theme, columns)))
        .collect()
}

/// The hops in rows. Where there are too many, layers in a row that pass a flush on are one.
fn merged(path: &[FlushHop]) -> Vec<PathRow<'_>> {
    let mut rows: Vec<PathRow<'_>> = Vec::new();
    let is_plain = |hop: &FlushHop| matches!((hop.kind, hop.fate), (HopKind::Layer, Fate::Passed));
    for hop in path {
        match rows.last_mut() {
            Some(last) if path.len() > MOST && is_plain(last.hop) && is_plain(hop) => {
                last.more += 1;
            }
            _ => rows.push(PathRow { hop, more: 0 }),
        }
    }
    rows
}

/// Whether a flush gets as far as this hop, or may.
fn is_reached(hop: &FlushHop) -> bool {
    matches!(hop.arrival, Flush::Sent | Flush::Unknown)
}

/// What stands before each row, and before what is said beneath it.
fn rails(rows: &[PathRow<'_>]) -> Vec<[&'static str; 2]> {
    const GONE: [&str; 2] = ["   ", "   "];
    let mut parts = false;
    let mut rail = |at: usize, row: &PathRow<'_>| -> [&'static str; 2] {
        let hop = row.hop;
        let rest = rows.get(at.saturating_add(1)..).unwrap_or_default();
        let goes_on = rest
            .iter()
            .any(|below| below.hop.rank > hop.rank && is_reached(below.hop))
            && !hop.fate.is_dropped();
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
    /// In so many columns. What it is stands beside the name where there is room, and goes on in
    /// further lines where the hop is not all right.
    fn lines(
        &self,
        [rail, under]: [&'static str; 2],
        theme: Theme,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let hop = self.hop;
        let (name, says) = match self.more {
            0 => (hop.name.clone(), hop.says.clone()),
            more => (
                format!("{} layers", more + 1),
                format!("{} and all below it", hop.name),
            ),
        };
        let is_wide = columns >= WIDE;
        let (width, beneath, room) = if is_wide {
            (
                NAME,
                RAIL + NAME + 1,
                columns.saturating_sub(RAIL + NAME + FATE + 2),
            )
        } else {
            (
                columns.saturating_sub(RAIL + FATE + 1),
                RAIL,
                columns.saturating_sub(RAIL),
            )
        };
        let mut says = match is_wide {
            true if is_well(hop) => vec![says],
            false if hop.fate.is_sound() => Vec::new(),
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
    //! The path of seven stacks as they are drawn, and what holds for every path.

    use super::*;
    use crate::durability::Standing;
    use crate::facts::Subject;

    const PLAIN: Theme = Theme {
        colour: false,
        ascii: false,
    };

    /// A hop: its kind, names, what it is, its fate, its rank, and what arrives.
    fn hop(
        kind: HopKind,
        names: &str,
        says: &str,
        fate: Fate,
        rank: u32,
        arrival: Flush,
    ) -> FlushHop {
        let devices = names.split(' ').map(Subject::device);
        FlushHop {
            kind,
            subjects: devices.collect(),
            name: names.to_owned(),
            says: says.to_owned(),
            fate,
            because: String::new(),
            source: String::new(),
            standing: Standing::Durable,
            rank,
            arrival,
        }
    }

    fn commit() -> FlushHop {
        hop(
            HopKind::Commit,
            "commit",
            "reported once the flush below returns",
            Fate::NotJudged,
            0,
            Flush::Sent,
        )
    }

    fn drawn(path: &[FlushHop], columns: usize) -> Vec<String> {
        rows(path, PLAIN, columns)
            .iter()
            .flat_map(|(_, lines)| lines)
            .map(|line| line.to_string().trim_end().to_owned())
            .collect()
    }

    fn over_a_drop() -> [FlushHop; 5] {
        use Fate::{Dropped, LostHere, Passed};
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
            drawn(&over_a_drop(), 76),
            [
                "┏━━● commit            reported once the flush below returns",
                "┃  ● xfs               /data · rw,relatime                       passed",
                "┃  ● loop0             /images/data.img, 100 GiB                 passed",
                "┗━━✗ ext4              /images · nobarrier                       DROPPED",
                "   ! sda               SAMSUNG MZ7LH960 · volatile cache         LOST HERE",
            ]
        );
        assert_eq!(
            drawn(&over_a_drop(), 36),
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
        use Fate::{Disagrees, FlushSent, Passed, Unseen};
        use HopKind::{Beyond, Disk, Layer};
        let diamond = [
            commit(),
            hop(Layer, "dm-0", "LVM", Passed, 1, Flush::Sent),
            hop(Layer, "md0 md1", "2 × RAID1", Passed, 2, Flush::Sent),
            hop(Disk, "sda sdb", "2 × PM893", FlushSent, 3, Flush::Sent),
        ];
        let starts = |path: &[FlushHop]| -> Vec<String> {
            drawn(path, 76)
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
                Fate::Passed,
                rank,
                Flush::Sent,
            )
        });
        let disk = hop(HopKind::Disk, "sda", "", Fate::FlushSent, 30, Flush::Sent);
        let path: Vec<FlushHop> = [commit()].into_iter().chain(layers).chain([disk]).collect();
        assert_eq!(
            drawn(&path, 76),
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
            for line in drawn(&over_a_drop(), columns) {
                assert!(text::width(&line) <= columns.max(20), "{columns}: {line}");
            }
        }
    }
}
