//! Shares of a whole drawn in columns of text.

/// The signs of heights, the lowest first.
pub const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A share of the whole as a place from 0 to `last`; what lies outside is at the edge.
pub fn cell(share: f64, last: usize) -> usize {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=last above")]
    let place = (share * last as f64).round() as usize;
    place.min(last)
}

/// A share of the greatest height.
pub fn height(share: f64) -> char {
    HEIGHTS.get(cell(share, HEIGHTS.len() - 1)).copied().unwrap_or('█')
}

/// An interval by the shares of the field at which its lower end, its middle and its upper end stand: `├──●──┤`; what lies
/// outside is an arrow at the edge.
pub fn interval([low, at, high]: [f64; 3], columns: usize) -> String {
    let place = |share: f64, mark| {
        let mark = match share {
            share if share < 0.0 => '◂',
            share if share > 1.0 => '▸',
            _ => mark,
        };
        (cell(share, columns.saturating_sub(1)), mark)
    };
    let ((from, from_mark), (at, mark), (to, to_mark)) = (place(low, '├'), place(at, '●'), place(high, '┤'));
    let drawn = (0..columns).map(|column| match column {
        column if column == at => mark,
        column if column == from => from_mark,
        column if column == to => to_mark,
        column if (from..=to).contains(&column) => '─',
        _ => ' ',
    });
    drawn.collect()
}
