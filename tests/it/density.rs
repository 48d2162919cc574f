//! Counts the truncations on the screens of all recorded hosts, and measures how full the
//! overview is, at four sizes. `--nocapture` prints the table.

use std::collections::BTreeMap;

use walwise_model::parallel;

use crate::support::recorded::{recorded_host_reports, screen_texts};

/// Size; percentage of non-blank cells in the design's drawing of the overview; and the minimum
/// percentage over all recorded hosts. The drawing at 200 × 60 has no curves.
const SIZES: [((u16, u16), f64, f64); 4] = [
    ((80, 24), 53.0, 53.0),
    ((100, 30), 48.3, 48.3),
    ((140, 45), 41.1, 41.1),
    ((200, 60), 21.1, 21.1),
];

/// Maximum number of truncations per screen, on average over all screens, at every size.
const MAX_TRUNCATIONS: f64 = 0.03;

/// Rows above the page: header, tabs, rule.
const ABOVE: usize = 3;

#[derive(Clone, Copy, Default)]
struct ScreenDensity {
    screens: usize,
    truncations: usize,
    inked: usize,
    cells: usize,
}

impl ScreenDensity {
    fn from_rows(rows: &[String], (columns, _): (u16, u16)) -> Self {
        let inked = |c: &char| !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(c);
        Self {
            screens: 1,
            truncations: rows.iter().map(|row| row.matches('…').count()).sum(),
            inked: rows[ABOVE..]
                .iter()
                .map(|row| row.chars().filter(inked).count())
                .sum(),
            cells: usize::from(columns) * (rows.len() - ABOVE),
        }
    }

    fn add(&mut self, other: Self) {
        self.screens += other.screens;
        self.truncations += other.truncations;
        self.inked += other.inked;
        self.cells += other.cells;
    }

    fn truncations_per_screen(self) -> f64 {
        self.truncations as f64 / self.screens as f64
    }

    fn inked_per_cent(self) -> f64 {
        self.inked as f64 * 100.0 / self.cells as f64
    }
}

type DensityTable = BTreeMap<(&'static str, usize), ScreenDensity>;

fn measure_densities() -> DensityTable {
    let of_host = |(_, report): &(_, walwise_report::Report)| {
        let of_size = |(at, (size, ..)): (usize, &((u16, u16), f64, f64))| {
            let screens = screen_texts(report.clone(), *size, false).into_iter();
            screens
                .map(|(name, rows)| ((name, at), ScreenDensity::from_rows(&rows, *size)))
                .collect::<Vec<_>>()
        };
        SIZES
            .iter()
            .enumerate()
            .flat_map(of_size)
            .collect::<Vec<_>>()
    };
    let mut table = DensityTable::new();
    for (key, tally) in parallel::map_items(recorded_host_reports(), of_host).concat() {
        table.entry(key).or_default().add(tally);
        table.entry(("all", key.1)).or_default().add(tally);
    }
    table
}

#[test]
#[ignore = "exhaustive"]
fn larger_terminals_leave_out_no_more_and_are_no_emptier() {
    let table = measure_densities();
    eprintln!("truncations a screen, inked cells in per cent (over all recorded hosts)");
    let mut amiss = Vec::new();
    for ((name, at), tally) in &table {
        let ((columns, rows), design, floor) = SIZES[*at];
        let (cut, inked) = (tally.truncations_per_screen(), tally.inked_per_cent());
        eprintln!("{name:<10} {columns:>3}x{rows}  {cut:>5.2}  {inked:>5.1}  (designed {design})");
        if *name == "all" && cut > MAX_TRUNCATIONS {
            amiss.push(format!("{columns}x{rows}: {cut:.2} truncations a screen"));
        }
        if *name == "Overview" && inked < floor {
            amiss.push(format!("{columns}x{rows}: {inked:.1} % inked"));
        }
    }
    assert!(amiss.is_empty(), "{amiss:#?}");
}
