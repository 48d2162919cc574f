//! Drawing helpers that turn values into lines, independent of the model and of keys.
//!
//! Widths are terminal columns ([`unicode_width`]), never bytes or characters.

pub mod area {
    //! Cuts rectangles into parts. Each `split_` function returns the part in its name first, then
    //! the rest.
    //!
    //! The constraint solver of ratatui would take longer than all the drawing.

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::Widget;

    use super::text;
    use crate::tui::theme::DIM;

    pub fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
        let height = rows.min(area.height);
        let rest = Rect {
            y: area.y.saturating_add(height),
            height: area.height.saturating_sub(height),
            ..area
        };
        (Rect { height, ..area }, rest)
    }

    pub fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
        let (rest, lower) = split_top(area, area.height.saturating_sub(rows));
        (lower, rest)
    }

    pub fn split_left(area: Rect, columns: u16) -> (Rect, Rect) {
        let width = columns.min(area.width);
        let rest = Rect {
            x: area.x.saturating_add(width),
            width: area.width.saturating_sub(width),
            ..area
        };
        (Rect { width, ..area }, rest)
    }

    pub fn split_right(area: Rect, columns: u16) -> (Rect, Rect) {
        let (rest, right) = split_left(area, area.width.saturating_sub(columns));
        (right, rest)
    }

    pub fn saturating_columns(width: usize) -> u16 {
        u16::try_from(width).unwrap_or(u16::MAX)
    }

    pub fn draw_horizontal_line(area: Rect, buffer: &mut Buffer) {
        Span::styled("─".repeat(usize::from(area.width)), DIM).render(area, buffer);
    }

    /// Draws a heading over a horizontal line, which shows through runs of blanks in the heading.
    pub fn draw_heading(heading: &Line<'_>, area: Rect, buffer: &mut Buffer) {
        draw_horizontal_line(area, buffer);
        let mut at = 0;
        for span in heading.spans.iter().chain([&Span::raw("  ")]) {
            for part in span.content.split_inclusive("  ") {
                let said = part.trim_end_matches(' ');
                let (_, rest) = split_left(area, saturating_columns(at + 1));
                if !said.is_empty() {
                    let style = heading.style.patch(span.style);
                    Span::styled(format!(" {said} "), style).render(rest, buffer);
                }
                at += text::width(part);
            }
        }
    }

    pub fn inset_sides(area: Rect, columns: u16) -> Rect {
        split_left(split_right(area, columns).1, columns).1
    }

    pub fn centred_area(area: Rect, width: u16, height: u16) -> Rect {
        let (width, height) = (width.min(area.width), height.min(area.height));
        let half = |whole: u16, part: u16| whole.saturating_sub(part) / 2;
        Rect {
            x: area.x.saturating_add(half(area.width, width)),
            y: area.y.saturating_add(half(area.height, height)),
            width,
            height,
        }
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn split_parts_cover_the_area_exactly(w in 0_u16..200, h in 0_u16..200, n in 0_u16..250) {
                let area = Rect::new(3, 4, w, h);
                for (piece, rest) in [split_top(area, n), split_bottom(area, n), split_left(area, n), split_right(area, n)] {
                    prop_assert_eq!(piece.area() + rest.area(), area.area());
                    prop_assert!(piece.is_empty() || area.union(piece) == area);
                    prop_assert!(rest.is_empty() || area.union(rest) == area);
                }
                for piece in [inset_sides(area, n), centred_area(area, n, n)] {
                    prop_assert!(piece.is_empty() || area.union(piece) == area);
                }
            }
        }
    }
}
pub mod text;
pub mod axis {

    use super::text;
    use crate::report::time_axis::LogTimeAxis;
    use crate::text::bars::share_to_index;

    /// Returns a row of ticks and a row of labels for a time axis; `None` if fewer than two labels
    /// fit.
    pub fn time_axis_lines(axis: &LogTimeAxis, columns: usize) -> Option<[String; 2]> {
        let ticks = axis.ticks();
        let (shown, said) = axis_label_count_and_line(&ticks, columns);
        let is_tick = |column| {
            ticks
                .iter()
                .any(|(share, _)| share_to_index(*share, columns.saturating_sub(1)) == column)
        };
        let rule = (0..columns).map(|column| if is_tick(column) { '┬' } else { '─' });
        (shown > 1).then(|| [rule.collect(), text::pad_or_truncate(&said, columns)])
    }

    /// Returns how many labels fit, and the row of labels. Each mark is a position from 0 to 1 and
    /// a label.
    pub fn axis_label_count_and_line(marks: &[(f64, String)], columns: usize) -> (usize, String) {
        let ticks: Vec<(usize, String)> = marks
            .iter()
            .map(|(share, label)| {
                (
                    share_to_index(*share, columns.saturating_sub(1)),
                    label.clone(),
                )
            })
            .collect();
        let labels = fitting_axis_labels(&ticks, columns);
        let line = labels.iter().fold(String::new(), |said, (from, label)| {
            let gap = from.saturating_sub(text::width(&said));
            said + &text::spaces(gap) + label
        });
        (labels.len(), line)
    }

    /// Chooses the first and last label, then as many between as fit, from the left; none if the
    /// first and last do not fit. A tick's number is the centre of its label; a returned number is
    /// the label's first column.
    fn fitting_axis_labels(ticks: &[(usize, String)], columns: usize) -> Vec<(usize, String)> {
        let placed = |(at, label): &(usize, String)| {
            let wide = text::width(label);
            (
                at.saturating_sub(wide / 2)
                    .min(columns.saturating_sub(wide)),
                label.clone(),
            )
        };
        let end = |(from, label): &(usize, String)| from + text::width(label);
        let (Some(first), Some(last)) = (ticks.first().map(placed), ticks.last().map(placed))
        else {
            return Vec::new();
        };
        if ticks.len() > 1 && end(&first) >= last.0 || end(&last) > columns {
            return Vec::new();
        }
        let mut shown = vec![first];
        for tick in ticks
            .iter()
            .take(ticks.len().saturating_sub(1))
            .skip(1)
            .map(placed)
        {
            let before = shown.last().map(end).unwrap_or_default();
            if tick.0 > before && end(&tick) < last.0 {
                shown.push(tick);
            }
        }
        shown.extend((ticks.len() > 1).then_some(last));
        shown
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        #[test]
        fn axis_ticks_are_at_their_times() {
            let lines =
                time_axis_lines(&LogTimeAxis::from_ends(100.0, 500.0).unwrap(), 40).unwrap();
            assert_eq!(
                lines.map(|line| line.trim_end().to_owned()),
                [
                    "┬─────────┬──────┬─────────┬───────────┬",
                    "100 µs 150 µs 200 µs    300 µs    500 µs"
                ]
            );
        }

        proptest! {
            #[test]
            fn axis_positions_ascend_and_lines_fill_width(
                low in 0.001_f64..1e9,
                factor in 1.0_f64..1e3,
                columns in 0_usize..150,
            ) {
                let high = low * factor;
                let axis = LogTimeAxis::from_spans([(low, high)].into_iter()).unwrap();
                let places: Vec<usize> =
                    (0..=20).map(|step| share_to_index(axis.position_of_time(axis.time_at_position(f64::from(step) / 20.0)), columns)).collect();
                prop_assert!(places.is_sorted());
                if let Some([ticks, labels]) = time_axis_lines(&axis, columns) {
                    prop_assert_eq!(text::width(&ticks), columns);
                    prop_assert_eq!(text::width(&labels), columns);
                    let shown = labels.split("  ").filter(|label| !label.trim().is_empty());
                    prop_assert!(labels.matches('s').count() >= 2);
                    prop_assert!(shown.count() >= 1);
                }
            }
        }
    }
}
pub mod interval {
    //! Draws an estimate on an axis as `├──●──┤`: the dot marks the value, and the ends mark the
    //! interval.

    use super::text;
    use crate::measure::Estimate;
    use crate::report::time_axis::LogTimeAxis;
    use crate::text::bars::{format_interval_bar, share_to_index};

    /// Draws an estimate in exactly `columns` columns; blank unless its value is a positive time.
    pub fn interval_bar(estimate: Estimate, axis: &LogTimeAxis, columns: usize) -> String {
        let is_time = |us: f64| us.is_finite() && us > 0.0;
        if !is_time(estimate.value) {
            return text::spaces(columns);
        }
        let or_value = |end: f64| if is_time(end) { end } else { estimate.value };
        let estimate = Estimate {
            low: or_value(estimate.low),
            high: or_value(estimate.high),
            ..estimate
        };
        format_interval_bar(axis.positions_of_estimate(estimate), columns)
    }

    pub fn progress_bar(share: f64, columns: usize) -> String {
        let done = share_to_index(share, columns);
        (0..columns)
            .map(|column| if column < done { '█' } else { '░' })
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        fn sample_axis() -> LogTimeAxis {
            LogTimeAxis::from_ends(10.0, 1_000.0).unwrap()
        }

        #[test]
        fn interval_bar_marks_value_between_ends() {
            let drawn =
                |value, low, high| interval_bar(Estimate { value, low, high }, &sample_axis(), 11);
            assert_eq!(drawn(100.0, 40.0, 250.0), "   ├─●─┤   ");
            assert_eq!(drawn(100.0, 100.0, 100.0), "     ●     ");
            assert_eq!(drawn(100.0, 1.0, 9_000.0), "◂────●────▸");
            assert_eq!(drawn(1.0, 1.0, 1.0), "◂          ");
            assert_eq!(drawn(5_000.0, 5_000.0, 5_000.0), "          ▸");
        }

        proptest! {
            #[test]
            fn interval_bar_always_fills_its_columns(
                figures in prop::array::uniform3(prop_oneof![
                    Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(0.0), Just(1e300), 1e-3_f64..1e6,
                ]),
                columns in 0_usize..80,
            ) {
                let [value, low, high] = figures;
                let drawn = interval_bar(Estimate { value, low, high }, &sample_axis(), columns);
                prop_assert_eq!(drawn.chars().count(), columns);
                prop_assert_eq!(progress_bar(value, columns).chars().count(), columns);
            }
        }
    }
}
pub mod columns;
pub mod ecdf;
pub mod diff {
    use ratatui::style::Style;
    use ratatui::text::{Line, Span};

    use super::text;
    use crate::tui::theme::{BAD, GOOD, PLAIN};

    const SIGN_WIDTH: usize = 2;

    /// Draws the old value above the new one; an empty old value is left out. Rows break at commas,
    /// and inside a word only if the word is longer than a row.
    pub fn diff_lines(before: &[String], after: &[String], room: usize) -> Vec<Line<'static>> {
        let mut all = match before {
            [] => Vec::new(),
            before => diff_side_lines("-", before, after, BAD, room),
        };
        all.extend(diff_side_lines("+", after, before, GOOD, room));
        all
    }

    fn diff_side_lines(
        sign: &str,
        words: &[String],
        others: &[String],
        role: Style,
        room: usize,
    ) -> Vec<Line<'static>> {
        let inner = room.saturating_sub(SIGN_WIDTH).max(1);
        let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
        let mut used = 0_usize;
        let last = words.len().saturating_sub(1);
        for (i, word) in words.iter().enumerate() {
            let role = if others.contains(word) { PLAIN } else { role };
            let comma = if i < last { "," } else { "" };
            for piece in text::wrap(&format!("{word}{comma}"), inner) {
                let wide = text::width(&piece);
                if used > 0 && used + wide > inner {
                    rows.push(Vec::new());
                    used = 0;
                }
                used += wide;
                if let Some(row) = rows.last_mut() {
                    row.push(Span::styled(piece, role));
                }
            }
        }
        let with_sign = |(i, mut spans): (usize, Vec<Span<'static>>)| {
            let sign = if i == 0 { sign } else { "" };
            spans.insert(
                0,
                Span::styled(text::pad_or_truncate(sign, SIGN_WIDTH), role),
            );
            Line::from(spans)
        };
        rows.into_iter().enumerate().map(with_sign).collect()
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        fn split_at_commas(text: &str) -> Vec<String> {
            text.split(',').map(str::to_owned).collect()
        }

        fn drawn_diff_lines(before: &str, after: &str, room: usize) -> Vec<String> {
            diff_lines(&split_at_commas(before), &split_at_commas(after), room)
                .iter()
                .map(ToString::to_string)
                .collect()
        }

        #[test]
        fn old_value_is_drawn_above_new_value() {
            assert_eq!(
                drawn_diff_lines("rw,nobarrier", "rw", 40),
                ["- rw,nobarrier", "+ rw"]
            );
            assert_eq!(
                drawn_diff_lines("rw,nobarrier", "rw", 12),
                ["- rw,", "  nobarrier", "+ rw"]
            );
            assert_eq!(drawn_diff_lines("0", "100", 40), ["- 0", "+ 100"]);
        }

        proptest! {
            #[test]
            fn diff_lines_keep_all_text_within_width(
                before in prop::collection::vec("[a-z=]{1,12}", 1..6),
                after in prop::collection::vec("[a-z=]{1,12}", 1..6),
                room in 3_usize..40,
            ) {
                let lines = diff_lines(&before, &after, room);
                let mut joined = String::new();
                for line in &lines {
                    prop_assert!(line.width() <= room, "{line}");
                    joined.push_str(line.to_string().get(SIGN_WIDTH..).unwrap_or_default());
                }
                prop_assert_eq!(joined, format!("{}{}", before.join(","), after.join(",")));
            }
        }
    }
}
pub mod flush_path;
pub mod histogram;
pub mod text_field;
pub mod trace {
    use ratatui::text::Line;

    use super::columns::{self, Column, PART_GAP, StyledText};
    use crate::rules::{ConditionTrace, explain};
    use crate::ternary::Ternary;
    use crate::tui::theme::{DIM, DOUBT, GOOD, PLAIN};

    pub fn trace_lines(trace: &ConditionTrace, room: usize) -> Vec<Line<'static>> {
        let cells = |row: explain::TraceRow| -> Vec<StyledText> {
            let style = match row.truth {
                Ternary::True => GOOD,
                Ternary::Unknown => DOUBT,
                Ternary::False => PLAIN,
            };
            let read = format!("{}{PART_GAP}{}", row.reading, row.source);
            vec![
                (row.branch + &row.label + &row.subject, PLAIN),
                (row.truth.as_str().to_owned(), style),
                (read.trim_end().to_owned(), DIM),
            ]
        };
        let rows: Vec<_> = explain::trace_rows(trace).into_iter().map(cells).collect();
        let columns = [
            Column::new_wrapping(20),
            Column::new_cuttable(7),
            Column::new_wrapping(20),
        ];
        columns::wrapped_rows(&rows, &columns, room).concat()
    }
}
pub mod tree {
    /// Limit on drawn levels. Deeper branches are not drawn, because no screen is wide enough.
    const MAX_DEPTH: usize = 20;

    /// Returns the prefix of each node, such as `│  └─ `, which draws the branches of a tree, from
    /// the depth of each node. A node's parent is the last node above it with a smaller depth.
    pub fn branch_prefixes(depths: &[usize]) -> Vec<String> {
        (0..depths.len())
            .map(|at| node_branch_prefix(depths, at))
            .collect()
    }

    fn node_branch_prefix(depths: &[usize], at: usize) -> String {
        let depth = depths.get(at).copied().unwrap_or_default().min(MAX_DEPTH);
        let after = depths.get(at + 1..).unwrap_or_default();
        // True if another node of this level follows under the same parent.
        let goes_on = |level: usize| after.iter().find(|depth| **depth <= level) == Some(&level);
        let stem: String = (1..depth)
            .map(|level| if goes_on(level) { "│  " } else { "   " })
            .collect();
        let arm = match (depth, goes_on(depth)) {
            (0, _) => "",
            (_, true) => "├─ ",
            (_, false) => "└─ ",
        };
        stem + arm
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn branch_prefixes_connect_siblings_and_end_at_last() {
            assert_eq!(
                branch_prefixes(&[0, 1, 2, 3, 2, 1]),
                ["", "├─ ", "│  ├─ ", "│  │  └─ ", "│  └─ ", "└─ "]
            );
        }
    }
}
