//! What pgbench tells of a load: its log of transactions, and its summary. Pure.
//!
//! A line of the log is `client transaction microseconds script seconds microseconds` (PostgreSQL manual, pgbench,
//! *Per-LoggedTransaction Logging*): how long a transaction took, and when it ended. Anything else is an error: figures that are
//! not understood are none.

/// How long a load runs, and which part of it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadTime {
    /// Whole seconds, as pgbench takes them.
    pub seconds: u32,
    /// The last seconds of it, which count.
    pub counted: f64,
}

impl LoadTime {
    /// The time of a load of which so many seconds count: a fifth more is its warm-up.
    pub fn new(counted: f64) -> Self {
        let seconds = whole(1.2 * counted);
        Self { seconds, counted: counted.min(f64::from(seconds)) }
    }

    /// The same where all of it counts.
    pub fn without_warm_up(counted: f64) -> Self {
        let seconds = whole(counted);
        Self { seconds, counted: f64::from(seconds) }
    }
}

/// Whole seconds that hold so many, within bounds.
fn whole(seconds: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
    let whole = seconds.ceil().clamp(1.0, 3600.0) as u32;
    whole
}

/// A transaction: when it ended, in microseconds since 1970, and how many it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedTransaction {
    /// Its end.
    ended: u64,
    /// How long it took.
    micros: u64,
}

/// The transactions in a log of so many sessions; the error is a sentence.
pub fn transactions(log: &str, clients: u32) -> Result<Vec<LoggedTransaction>, String> {
    if !log.is_empty() && !log.ends_with('\n') {
        return Err("pgbench's log is cut".to_owned());
    }
    let wrong =
        |line: &str| format!("pgbench's log has a line that is none: {}", crate::text::safe(beginning(line)));
    log.lines().map(|line| transaction(line, clients).ok_or_else(|| wrong(line))).collect()
}

/// No more of a line than a sentence has room for.
fn beginning(line: &str) -> &[u8] {
    line.as_bytes().get(..200).unwrap_or(line.as_bytes())
}

fn transaction(line: &str, clients: u32) -> Option<LoggedTransaction> {
    let fields: Vec<u64> = line.split(' ').map(number).collect::<Option<_>>()?;
    let [client, _, micros, _, seconds, rest] = fields.as_slice() else { return None };
    let ended = seconds.checked_mul(1_000_000)?.checked_add(*rest)?;
    (*client < u64::from(clients) && *rest < 1_000_000 && *micros <= ended)
        .then_some(LoggedTransaction { ended, micros: *micros })
}

/// A number of digits alone: no sign, as parse() would take one.
fn number(word: &str) -> Option<u64> {
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| word.parse().ok())?
}

/// How many transactions pgbench says that it made.
pub fn processed(printed: &str) -> Option<u64> {
    const WORDS: &str = "number of transactions actually processed: ";
    number(printed.lines().find_map(|line| line.strip_prefix(WORDS))?.split('/').next()?)
}

/// How long each transaction took that ended in the time that counts, in microseconds. The load begins with the first
/// transaction.
pub fn counted(transactions: &[LoggedTransaction], time: LoadTime) -> Result<Vec<f64>, String> {
    let begun = transactions.iter().map(|one| one.ended - one.micros).min().unwrap_or(0);
    let at = |seconds: f64| begun as f64 + 1e6 * seconds;
    let (from, to) = (at(f64::from(time.seconds) - time.counted), at(f64::from(time.seconds)));
    // The last transactions may take their time; a clock that was set takes hours.
    let longest = at(f64::from(time.seconds) + 60.0);
    if transactions.iter().any(|one| one.ended as f64 > longest) {
        return Err("the clock was set while pgbench ran".to_owned());
    }
    let within = transactions.iter().filter(|one| (from..to).contains(&(one.ended as f64)));
    Ok(within.map(|one| one.micros as f64).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOG: &str = "0 1 1500 0 1764104400 1500\n\
                       1 1 2500 0 1764104400 2500\n\
                       0 2 998500 0 1764104401 0\n\
                       1 2 1000000 0 1764104401 2500\n";

    #[test]
    fn a_log_is_read_as_pgbench_writes_it() {
        let found = transactions(LOG, 2).unwrap();
        assert_eq!((found.len(), found[0].micros, found[3].ended), (4, 1_500, 1_764_104_401_002_500));
        assert_eq!(transactions("", 2), Ok(Vec::new()));
        // Two begin at 0 s and two end after 1 s: of 2 s, the last second counts.
        let time = LoadTime { seconds: 2, counted: 1.0 };
        assert_eq!(counted(&found, time), Ok(vec![998_500.0, 1_000_000.0]));
        let summary =
            "scaling factor: 10\nnumber of transactions actually processed: 1234\nlatency average = 1 ms\n";
        assert_eq!(processed(summary), Some(1_234));
        assert_eq!(processed("number of transactions actually processed: 20/20\n"), Some(20));
        assert_eq!((processed(""), processed("number of transactions actually processed: -1")), (None, None));
    }

    #[test]
    fn what_is_no_log_is_no_figure() {
        for wrong in [
            "0 1 1500 0 1764104400\n",
            "0 1 1500 0 1764104400 1500 0\n",
            "0 1 failed 0 1764104400 1500\n",
            "0 1 skipped 0 1764104400 1500\n",
            "0 1 -1500 0 1764104400 1500\n",
            "0 1 +1500 0 1764104400 1500\n",
            "0 1  1500 0 1764104400 1500\n",
            "0 1 1500 0 1764104400 1000000\n",
            "2 1 1500 0 1764104400 1500\n",
            "0 1 1500 0 99999999999999999999 1500\n",
            "0 1 1500 0 1764104400 1500",
            "\n",
        ] {
            assert!(transactions(wrong, 2).is_err(), "{wrong}");
        }
        let later = LOG.replace("1764104401 2500", "1764109999 2500");
        let later = transactions(&later, 2).unwrap();
        assert!(counted(&later, LoadTime { seconds: 2, counted: 1.0 }).unwrap_err().contains("clock"));
    }

    #[test]
    fn a_load_has_its_warm_up_within_whole_seconds() {
        for (asked, seconds, counted) in
            [(0.5, 1, 0.5), (1.0, 2, 1.0), (3.0, 4, 3.0), (0.1, 1, 0.1), (1e9, 3600, 3600.0)]
        {
            assert_eq!(LoadTime::new(asked), LoadTime { seconds, counted });
        }
        for seconds in 1..=3600 {
            let counted = f64::from(seconds);
            assert_eq!(LoadTime::without_warm_up(counted), LoadTime { seconds, counted });
            assert_eq!(LoadTime::without_warm_up(counted - 0.2), LoadTime { seconds, counted });
        }
    }

    proptest! {
        #[test]
        fn any_log_does_no_harm(log: String, clients in 0u32..300) {
            if let Ok(found) = transactions(&log, clients) {
                prop_assert_eq!(found.len(), log.lines().count());
                let _ = counted(&found, LoadTime::new(0.5));
            }
        }

        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec((0u32..4, 0u64..9_000_000, 0u64..1_000_000), 0..40)) {
            let line = |(nth, (client, micros, rest)): (usize, &(u32, u64, u64))| {
                format!("{client} {nth} {micros} 0 1764104400 {rest}\n")
            };
            let log: String = rows.iter().enumerate().map(line).collect();
            let found = transactions(&log, 4).unwrap();
            let told: Vec<(u64, u64)> = found.iter().map(|one| (one.micros, one.ended % 1_000_000)).collect();
            prop_assert_eq!(told, rows.iter().map(|(_, micros, rest)| (*micros, *rest)).collect::<Vec<_>>());
        }
    }
}
