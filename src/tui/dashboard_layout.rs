//! Fits a dashboard to the terminal: if rows are left, parts get a longer form in order of
//! priority.

use super::page::Block;

#[derive(Default)]
pub struct DashboardPart {
    forms: Vec<(u8, Vec<Block>)>,
}

impl DashboardPart {
    pub fn new(blocks: Vec<Block>) -> Self {
        Self {
            forms: vec![(0, blocks)],
        }
    }

    pub fn min_rows(&self) -> usize {
        self.forms
            .first()
            .map_or(0, |(_, blocks)| total_height(blocks))
    }

    /// Adds a longer form of this part. Among all parts, the form with the lowest `turn` gets spare
    /// rows first.
    #[must_use]
    pub fn with_longer_form(mut self, turn: u8, blocks: Vec<Block>) -> Self {
        self.forms.push((turn, blocks));
        self
    }
}

/// Chooses forms that fit into `rows`. If even the shortest forms need more rows, the shortest are
/// used.
pub fn choose_fitting_forms(parts: Vec<DashboardPart>, rows: usize) -> Vec<Block> {
    let heights: Vec<Vec<usize>> = parts
        .iter()
        .map(|part| {
            part.forms
                .iter()
                .map(|(_, blocks)| total_height(blocks))
                .collect()
        })
        .collect();
    let mut taken = vec![0_usize; parts.len()];
    let mut used: usize = heights.iter().filter_map(|forms| forms.first()).sum();
    let mut turns: Vec<(u8, usize, usize)> = Vec::new();
    for (part, of) in parts.iter().enumerate() {
        turns.extend(
            of.forms
                .iter()
                .enumerate()
                .skip(1)
                .map(|(form, (turn, _))| (*turn, part, form)),
        );
    }
    turns.sort_unstable();
    for (_, part, form) in turns {
        let (Some(forms), Some(now)) = (heights.get(part), taken.get_mut(part)) else {
            continue;
        };
        let (Some(old), Some(new)) = (forms.get(*now), forms.get(form)) else {
            continue;
        };
        let after = (used + new).saturating_sub(*old);
        if new > old && after <= rows {
            (used, *now) = (after, form);
        }
    }
    let chosen = |(part, form): (DashboardPart, usize)| {
        part.forms.into_iter().nth(form).map(|(_, blocks)| blocks)
    };
    parts
        .into_iter()
        .zip(taken)
        .filter_map(chosen)
        .flatten()
        .collect()
}

pub fn total_height(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.lines.len()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::text::Line;

    use super::*;

    fn lines(count: usize) -> Vec<Block> {
        vec![Block::new_text(vec![Line::raw("x"); count])]
    }

    #[test]
    fn rows_are_spent_in_their_order() {
        let parts = || {
            vec![
                DashboardPart::new(lines(1)).with_longer_form(2, lines(3)),
                DashboardPart::new(lines(2))
                    .with_longer_form(1, lines(4))
                    .with_longer_form(3, lines(9)),
            ]
        };
        let drawn = |rows| {
            choose_fitting_forms(parts(), rows)
                .iter()
                .map(|block| block.lines.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(0), [1, 2], "never less than the shortest");
        assert_eq!(drawn(5), [1, 4]);
        assert_eq!(drawn(7), [3, 4]);
        assert_eq!(drawn(12), [3, 9]);
    }

    proptest! {
        #[test]
        fn no_more_rows_are_filled_than_there_are(
            sizes in prop::collection::vec((0_usize..5, prop::collection::vec((0_u8..9, 0_usize..20), 0..4)), 0..6),
            rows in 0_usize..80,
        ) {
            let least: usize = sizes.iter().map(|(first, _)| first).sum();
            let part = |(first, others): (usize, Vec<(u8, usize)>)| {
                others.into_iter().fold(DashboardPart::new(lines(first)), |part, (turn, size)| part.with_longer_form(turn, lines(size)))
            };
            let filled = choose_fitting_forms(sizes.into_iter().map(part).collect(), rows);
            prop_assert!(total_height(&filled) <= rows.max(least));
        }
    }
}
