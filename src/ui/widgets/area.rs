//! Rectangles cut from rectangles, never larger than the original.
//!
//! The frame uses these instead of a constraint solver, which would take longer than all the drawing.

use ratatui::layout::Rect;

/// The upper rows, and what is left.
pub fn top(area: Rect, rows: u16) -> (Rect, Rect) {
    let height = rows.min(area.height);
    let rest = Rect { y: area.y.saturating_add(height), height: area.height.saturating_sub(height), ..area };
    (Rect { height, ..area }, rest)
}

/// The lower rows, and what is left.
pub fn bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let (rest, lower) = top(area, area.height.saturating_sub(rows));
    (lower, rest)
}

/// The columns at the left, and what is left.
pub fn left(area: Rect, columns: u16) -> (Rect, Rect) {
    let width = columns.min(area.width);
    let rest = Rect { x: area.x.saturating_add(width), width: area.width.saturating_sub(width), ..area };
    (Rect { width, ..area }, rest)
}

/// The columns at the right, and what is left.
pub fn right(area: Rect, columns: u16) -> (Rect, Rect) {
    let (rest, right) = left(area, area.width.saturating_sub(columns));
    (right, rest)
}

/// Without so many columns at either side.
pub fn inset(area: Rect, columns: u16) -> Rect {
    left(right(area, columns).1, columns).1
}

/// In the middle, of this size where there is room for it.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
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
        fn pieces_fill_the_whole_and_nothing_more(w in 0_u16..200, h in 0_u16..200, n in 0_u16..250) {
            let area = Rect::new(3, 4, w, h);
            for (piece, rest) in [top(area, n), bottom(area, n), left(area, n), right(area, n)] {
                prop_assert_eq!(piece.area() + rest.area(), area.area());
                prop_assert!(piece.is_empty() || area.union(piece) == area);
                prop_assert!(rest.is_empty() || area.union(rest) == area);
            }
            for piece in [inset(area, n), centred(area, n, n)] {
                prop_assert!(piece.is_empty() || area.union(piece) == area);
            }
        }
    }
}
