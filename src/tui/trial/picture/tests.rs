use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::trial::fixtures::record_with_commit_rates;
use crate::trial::{Candidate, LoadShape, TrialLoad, TrialRecord, TrialState};
use crate::tui::test_sessions::{RICH, buffer_text as shown, styled_text};

/// Commits/s at which XFS may still be best.
const CLOSE: f64 = 4_120.0;
const ASCII: ScreenOptions = ScreenOptions {
    colour: false,
    ascii: true,
    in_tmux: false,
};

/// Builds the record of a running trial: five file systems at three client counts. `xfs` is the
/// rate of XFS in commits/s.
fn running_trial_record(blocks: usize, xfs: f64) -> TrialRecord {
    let candidates = [
        (Candidate::Ext4, 4_000.0, Some(1_000)),
        (Candidate::Ext4FastCommit, 4_060.0, Some(1_000)),
        (Candidate::Xfs, xfs, Some(1_000)),
        (Candidate::Btrfs, 1_900.0, Some(2_000)),
        (Candidate::BtrfsNocow, 3_950.0, Some(2_000)),
    ];
    let mut record = record_with_commit_rates(&candidates, blocks);
    let usual = |clients| TrialLoad {
        clients,
        shape: LoadShape::Usual,
    };
    record.loads = [1, 8, 32].map(usual).to_vec();
    for (nth, block) in record.blocks.iter_mut().enumerate() {
        for cell in &mut block.cells {
            // XFS is ahead with 8 clients, and varies between blocks with 32.
            let unsteady = 1.0 + 0.05 * ((nth * 5) % 3) as f64;
            let of_xfs = if cell.runner == crate::trial::CellSubject::Candidate(2) {
                [1.2, unsteady]
            } else {
                [1.0, 1.0]
            };
            for (faster, factor) in [3.0, 5.0].into_iter().zip(of_xfs) {
                let mut more = cell.samples[0];
                more.seconds /= faster * factor;
                cell.samples.push(more);
            }
        }
    }
    (record.ending, record.directory) = (TrialState::Running, "/srv/pg/trial".to_owned());
    record.leaves = vec!["nvme0n1".to_owned()];
    record
}

fn drawn_board(board: &TrialBoard, (width, height): (u16, u16), options: ScreenOptions) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw_board(board, "block 13, cell 4 of 8", 840.0, options, &mut buffer);
    buffer
}

#[test]
fn snapshots_of_trial_at_usual_sizes() {
    let board = TrialBoard::from_record(&running_trial_record(12, CLOSE));
    let mut texts: Vec<String> = [(80, 24), (100, 30), (140, 45)]
        .map(|size| styled_text(&drawn_board(&board, size, RICH)))
        .into();
    let begins = TrialBoard::from_record(&running_trial_record(0, CLOSE));
    texts.push(shown(&drawn_board(&begins, (80, 24), RICH)));
    texts.push(shown(&drawn_board(&board, (80, 24), ASCII)));
    insta::assert_snapshot!("trial", texts.join("\n\n"));
}

#[test]
fn ascii_board_is_ascii_and_colour_adds_nothing() {
    let board = TrialBoard::from_record(&running_trial_record(15, CLOSE));
    let plain = drawn_board(
        &board,
        (100, 30),
        ScreenOptions {
            colour: false,
            ascii: false,
            in_tmux: false,
        },
    );
    let drawn = shown(&drawn_board(&board, (100, 30), ASCII));
    assert!(drawn.is_ascii() && !drawn.contains('?'), "{drawn}");
    let mut rich = drawn_board(&board, (100, 30), RICH);
    for cell in &mut rich.content {
        cell.set_fg(ratatui::style::Color::Reset);
    }
    assert_eq!(rich, plain);
}

#[test]
fn load_answers_follow_blocks_and_intervals_shrink() {
    let open = shown(&drawn_board(
        &TrialBoard::from_record(&running_trial_record(0, CLOSE)),
        (80, 24),
        RICH,
    ));
    assert_eq!(
        open.matches("no comparison before block 10").count(),
        3,
        "{open}"
    );
    let some = shown(&drawn_board(
        &TrialBoard::from_record(&running_trial_record(15, 4_900.0)),
        (80, 24),
        RICH,
    ));
    assert!(
        some.contains("xfs is the fastest") && !some.contains("5 of 5"),
        "{some}"
    );
    let width = |blocks| {
        let board = TrialBoard::from_record(&running_trial_record(blocks, CLOSE));
        let found = board.loads[0].rows[2].place.interval().unwrap();
        found.high - found.low
    };
    assert!(width(27) < width(10));
}

#[test]
fn trial_without_result_states_reason() {
    let mut record = running_trial_record(12, CLOSE);
    for cell in record.blocks.iter_mut().flat_map(|block| &mut block.cells) {
        if cell.runner == crate::trial::CellSubject::Candidate(0) {
            (cell.error, cell.samples) = (Some("cannot mount".to_owned()), Vec::new());
        }
    }
    let drawn = shown(&drawn_board(
        &TrialBoard::from_record(&record),
        (80, 24),
        RICH,
    ));
    assert!(
        drawn.contains("the first candidate failed: cannot mount"),
        "{drawn}"
    );
}

#[test]
fn board_is_drawn_at_every_size() {
    let boards =
        [0, 12].map(|blocks| TrialBoard::from_record(&running_trial_record(blocks, CLOSE)));
    for width in 0..160 {
        for height in (0..30).chain([45, 60]) {
            for board in &boards {
                assert_eq!(drawn_board(board, (width, height), RICH).area.width, width);
            }
        }
    }
}
