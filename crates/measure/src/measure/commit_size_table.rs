use super::{Measurement, MethodResult};
use crate::text;

/// Empty unless a server's method was measured with more than two pages, because the comparison of
/// methods already shows one and two.
pub fn latency_by_commit_size_lines(found: &Measurement) -> Vec<String> {
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
        "{:<24} {:>5} {:>9} {:>9} {:>14}  relative to one page",
        "", "pages", "median", "p99", "back to back"
    );
    let lines = rows().map(|row| {
        latency_of_commit_size_line(
            row,
            rows().find(|one| one.method == row.method && one.pages == 1),
        )
    });
    [String::new(), heading].into_iter().chain(lines).collect()
}

fn latency_of_commit_size_line(row: &MethodResult, one_page: Option<&MethodResult>) -> String {
    let one = one_page
        .filter(|_| row.pages > 1)
        .and_then(MethodResult::paced_median_us);
    let ratio = one
        .zip(row.paced_median_us())
        .map(|(one, median)| format!("{:.2} ×", median / one));
    let (name, pages, ratio) = (row.method.name(), row.pages, ratio.unwrap_or_default());
    let (median, loops) = (
        text::format_micros_or_dash(row.paced_median_us()),
        text::format_micros_or_dash(row.back_to_back_median_us()),
    );
    let p99 = text::format_micros_or_dash(row.paced_p99_us());
    let line = format!("{name:<24} {pages:>5} {median:>9} {p99:>9} {loops:>14}  {ratio}");
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Method, MethodSamples, ProbeSamples, SampleContext, summarise_samples};

    #[test]
    fn commit_size_table_has_a_line_per_size() {
        let cell = |pages: u32| MethodSamples {
            rounds: vec![vec![100.0 + 20.0 * f64::from(pages)]; 12],
            paced: match pages {
                1 => vec![vec![300.0]; 12],
                8 => vec![vec![600.0]; 12],
                _ => Vec::new(),
            },
            ..MethodSamples::new(Method::Fdatasync, pages, true)
        };
        let of = |sizes: &[u32]| {
            let samples = ProbeSamples {
                cells: sizes.iter().map(|pages| cell(*pages)).collect(),
            };
            commit_size_text(&summarise_samples(&samples, &SampleContext::default()))
        };
        assert_eq!(of(&[1, 2]), "");
        insta::assert_snapshot!(of(&[1, 2, 8]), @r#"
                         pages    median       p99   back to back  relative to one page
fdatasync                    1    300 µs         –         120 µs
fdatasync                    2         –         –         140 µs
fdatasync                    8    600 µs         –         260 µs  2.00 ×
"#);
    }

    fn commit_size_text(found: &Measurement) -> String {
        latency_by_commit_size_lines(found).join("\n")
    }
}
