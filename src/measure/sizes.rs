//! The comparison by size of commit, as lines of text: the cost of more pages, in a loop and with pauses.

use super::order::median_of;
use super::{Measurement, MethodResult};
use crate::text;

/// A heading and one line per server method and number of pages; empty for one and two pages alone, which the
/// comparison itself shows.
pub fn sizes(found: &Measurement) -> Vec<String> {
    let rows = || found.methods.iter().filter(|row| row.as_server && row.samples > 0);
    if rows().all(|row| row.pages <= 2) {
        return Vec::new();
    }
    let heading = format!(
        "{:<24} {:>5} {:>9} {:>9} {:>9} {:>9}  beside one page",
        "", "pages", "median", "p95", "p99", "paced"
    );
    let lines = rows().map(|row| line(row, rows().find(|one| one.method == row.method && one.pages == 1)));
    [String::new(), heading].into_iter().chain(lines).collect()
}

fn line(row: &MethodResult, one_page: Option<&MethodResult>) -> String {
    let time = |us: f64| text::micros(us);
    let p99 = row.p99_us.map_or_else(|| "-".to_owned(), time);
    let paced = if row.paced_us.is_empty() { "-".to_owned() } else { time(median_of(&row.paced_us)) };
    let one_page = one_page.filter(|one| row.pages > 1 && one.median_us.value > 0.0);
    let beside = one_page
        .map_or_else(String::new, |one| format!("{:.2} ×", row.median_us.value / one.median_us.value));
    let (name, pages) = (row.method.name(), row.pages);
    let (median, p95) = (time(row.median_us.value), time(row.p95_us));
    let line = format!("{name:<24} {pages:>5} {median:>9} {p95:>9} {p99:>9} {paced:>9}  {beside}");
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cell, Method, SampleContext, Samples, summarise};

    #[test]
    fn every_size_has_a_line() {
        let cell =
            |pages: u32, us| Cell { rounds: vec![vec![us]; 12], ..Cell::new(Method::Fdatasync, pages, true) };
        let of = |sizes: &[u32]| {
            let cells = sizes.iter().map(|pages| cell(*pages, 100.0 + 20.0 * f64::from(*pages)));
            let samples = Samples { cells: cells.collect(), paced: vec![cell(1, 300.0)] };
            sizes_of(&summarise(&samples, &SampleContext::default()))
        };
        assert_eq!(of(&[1, 2]), "");
        insta::assert_snapshot!(of(&[1, 2, 8]), @r#"
                         pages    median       p95       p99     paced  beside one page
fdatasync                    1    120 µs    120 µs         -    300 µs
fdatasync                    2    140 µs    140 µs         -         -  1.17 ×
fdatasync                    8    260 µs    260 µs         -         -  2.17 ×
"#);
    }

    fn sizes_of(found: &Measurement) -> String {
        sizes(found).join("\n")
    }
}
