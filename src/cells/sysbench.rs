//! What sysbench tells of a load: its histogram of latencies and its summary. Pure.
//!
//! A row of the histogram is `milliseconds |***** count`, and a value stands for all within 2 % of it (sysbench 1.0,
//! `sb_histogram.c`). Counts that do not agree are an error: figures that are not understood are none.

/// The most rows of a histogram, and the longest time in one, in milliseconds, as sysbench has them.
const MOST_ROWS: usize = 1_024;
const LONGEST_MS: f64 = 100_000.0;

/// The transactions of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct SysbenchLoad {
    /// How many there were.
    pub commits: u64,
    /// How many seconds they took together.
    pub seconds: f64,
    /// How long one took: the median, in microseconds.
    pub p50_us: f64,
    /// The 99th percentile of the same.
    pub p99_us: f64,
}

/// The load that was printed; the error is a sentence.
pub fn load(printed: &str) -> Result<SysbenchLoad, String> {
    let lacks = |what: &str| format!("sysbench did not print {what}");
    let commits =
        after(printed, "transactions:").and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let commits: u64 = commits.ok_or_else(|| lacks("its transactions"))?;
    let seconds = after(printed, "total time:").and_then(|rest| rest.trim().strip_suffix('s')?.parse().ok());
    let seconds: f64 =
        seconds.filter(|s: &f64| s.is_finite() && *s > 0.0).ok_or_else(|| lacks("its time"))?;
    let rows = rows(printed).ok_or_else(|| lacks("a histogram"))?;
    if rows.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count)) != Some(commits) {
        return Err("sysbench's histogram lacks transactions".to_owned());
    }
    let quantile = |share: f64| {
        let wanted = share * commits as f64;
        let mut seen = 0.0;
        let is_there = |(_, count): &&(f64, u64)| {
            seen += *count as f64;
            seen >= wanted
        };
        rows.iter().find(is_there).map_or(0.0, |(millis, _)| 1e3 * millis)
    };
    Ok(SysbenchLoad { commits, seconds, p50_us: quantile(0.5), p99_us: quantile(0.99) })
}

/// The rest of the line that begins with these words.
fn after<'a>(printed: &'a str, words: &str) -> Option<&'a str> {
    printed.lines().find_map(|line| line.trim_start().strip_prefix(words))
}

/// The rows of the histogram: milliseconds, and how many took as long; `None` where they are not as sysbench writes them.
fn rows(printed: &str) -> Option<Vec<(f64, u64)>> {
    let row = |(value, rest): (&str, &str)| {
        let millis =
            value.trim().parse().ok().filter(|millis| (f64::MIN_POSITIVE..=LONGEST_MS).contains(millis))?;
        Some((millis, rest.trim_start_matches('*').trim().parse().ok()?))
    };
    let rows = printed.lines().filter_map(|line| line.split_once('|')).map(row);
    let rows: Vec<(f64, u64)> = rows.collect::<Option<_>>()?;
    (rows.len() <= MOST_ROWS && rows.is_sorted_by(|(before, _), (after, _)| before < after)).then_some(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRINTED: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
        Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n\
        \x20      0.097 |**                                       6\n      19.295 |*                                        1\n\
        \x20     21.112 |                                         1\n \nSQL statistics:\n    transactions:                        8   (5309.45 per sec.)\n\
        General statistics:\n    total time:                          1.0097s\n    total number of events:              8\n";

    #[test]
    fn a_load_is_read_as_sysbench_prints_it() {
        let found = load(PRINTED).unwrap();
        assert_eq!(found, SysbenchLoad { commits: 8, seconds: 1.0097, p50_us: 97.0, p99_us: 21_112.0 });
        let none = "transactions: 0 (0 per sec.)\ntotal time: 1.0s\n";
        assert_eq!(load(none), Ok(SysbenchLoad { commits: 0, seconds: 1.0, p50_us: 0.0, p99_us: 0.0 }));
    }

    #[test]
    fn what_is_no_load_is_no_figure() {
        for (from, to) in [
            ("           8 ", "           9 "),
            ("           8 ", "          -8 "),
            ("1.0097s", "0.0000s"),
            ("1.0097s", "infs"),
            ("1.0097s", "1.0097"),
            ("total time", "time"),
            ("0.097 |**", "0.097 |*-"),
            ("0.097 |", "NaN |"),
            ("0.097 |", "1e306 |"),
            ("0.097 |", "20.097 |"),
            ("transactions:", "events:"),
        ] {
            assert!(PRINTED.contains(from), "{from}");
            assert!(load(&PRINTED.replace(from, to)).is_err(), "{to}");
        }
        assert!(load("").is_err());
    }

    proptest! {
        #[test]
        fn any_words_do_no_harm(printed: String, cut in 0usize..600) {
            let _ = load(&printed);
            let _ = load(PRINTED.get(cut.min(PRINTED.len())..).unwrap_or_default());
        }
    }
}
