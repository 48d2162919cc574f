//! The comparison by commit size, as lines of text: paced and back-to-back latency.

use super::{Measurement, MethodResult};
use crate::text;

/// A heading and one line per server method and number of pages. Empty for one and two pages alone:
/// the comparison of methods shows them.
pub fn commit_size_lines(found: &Measurement) -> Vec<String> {
    let rows = || {
        found
            .methods
            .iter()
            .filter(|row| row.as_server && row.is_measured())
    };
    if rows().all(|row| row.pages <= 2) {
        return Vec::new();
    }
    let heading = format!(
        "{:<24} {:>5} {:>9} {:>9} {:>14}  against one page",
        "", "pages", "median", "p99", "back to back"
    );
    let lines = rows().map(|row| {
        line(
            row,
            rows().find(|one| one.method == row.method && one.pages == 1),
        )
    });
    [String::new(), heading].into_iter().chain(lines).collect()
}

fn line(row: &MethodResult, one_page: Option<&MethodResult>) -> String {
    let one = one_page
        .filter(|_| row.pages > 1)
        .and_then(MethodResult::median_us);
    let ratio = one
        .zip(row.median_us())
        .map(|(one, median)| format!("{:.2} ×", median / one));
    let (name, pages, ratio) = (row.method.name(), row.pages, ratio.unwrap_or_default());
    let (median, loops) = (
        text::micros_or_dash(row.median_us()),
        text::micros_or_dash(row.back_to_back_us()),
    );
    let p99 = text::micros_or_dash(row.p99_us());
    let line = format!("{name:<24} {pages:>5} {median:>9} {p99:>9} {loops:>14}  {ratio}");
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cell, Method, SampleContext, Samples, summarise};

    #[test]
    fn every_size_has_a_line() {
        let cell = |pages: u32, us| Cell {
            rounds: vec![vec![us]; 12],
            ..Cell::new(Method::Fdatasync, pages, true)
        };
        let of = |sizes: &[u32]| {
            let cells = sizes
                .iter()
                .map(|pages| cell(*pages, 100.0 + 20.0 * f64::from(*pages)));
            let samples = Samples {
                cells: cells.collect(),
                paced: vec![cell(1, 300.0), cell(8, 600.0)],
            };
            sizes_of(&summarise(&samples, &SampleContext::default()))
        };
        assert_eq!(of(&[1, 2]), "");
        insta::assert_snapshot!(of(&[1, 2, 8]), @r#"
                         pages    median       p99   back to back  against one page
fdatasync                    1    300 µs         –         120 µs
fdatasync                    2         –         –         140 µs
fdatasync                    8    600 µs         –         260 µs  2.00 ×
"#);
    }

    fn sizes_of(found: &Measurement) -> String {
        commit_size_lines(found).join("\n")
    }
}
