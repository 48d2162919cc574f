//! Drawing at every size that a terminal may have. The sizes are distributed among the processors by width.

use std::num::NonZero;
use std::ops::RangeInclusive;
use std::thread;

use ratatui::layout::Size;

use crate::ui::frame::LEAST;
use crate::ui::model::Model;
use crate::ui::sample::{RICH, begun, picture, states};

/// The widest and the highest terminal.
const MOST: Size = Size { width: 200, height: 60 };

/// One session of each screen that has much to show, by its name in [`states`].
const SCREENS: [&str; 6] =
    ["overview unfolded", "storage unfolded", "after a probe", "advice unfolded", "rules", "export shown"];

/// Draws these sessions at all widths in all of these heights.
fn draw(sessions: &[Model], widths: RangeInclusive<u16>, heights: &[u16]) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |first: usize| {
        for mut model in sessions.iter().cloned() {
            for width in widths.clone().skip(first).step_by(threads) {
                for height in heights {
                    model.size = Size::new(width, *height);
                    assert_eq!(picture(&model).area.as_size(), model.size);
                }
            }
        }
    };
    thread::scope(|scope| (0..threads).for_each(|first| drop(scope.spawn(move || part(first)))));
}

#[test]
#[ignore = "exhaustive"]
fn every_screen_is_drawn_at_every_size() {
    let all: Vec<u16> = (0..=MOST.height).collect();
    // Below the least size there is one picture, whatever the session.
    draw(&[begun((80, 24), RICH)], 0..=MOST.width, &all);
    let screens = states((80, 24), RICH).into_iter().filter(|(name, _)| SCREENS.contains(name));
    let screens: Vec<Model> = screens.map(|(_, model)| model).collect();
    assert_eq!(screens.len(), SCREENS.len());
    draw(&screens, LEAST.width..=MOST.width, &all[usize::from(LEAST.height)..]);
}

#[test]
#[ignore = "exhaustive"]
fn whatever_goes_on_every_width_and_every_height_is_drawn() {
    let sessions: Vec<Model> = states((80, 24), RICH).into_iter().map(|(_, model)| model).collect();
    draw(&sessions, LEAST.width..=130, &[LEAST.height, 30]);
    let all: Vec<u16> = (LEAST.height..=MOST.height).collect();
    for width in [LEAST.width, 120] {
        draw(&sessions, width..=width, &all);
    }
}
