use super::drill_logs::{AckLog, ReadBackLog};
use super::{PAGES_PER_SEGMENT, drill_logs::NumberRanges};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrillResult {
    pub acknowledged: u64,
    /// Acknowledged commits that the disk can still hold: a cyclic WAL keeps only the newest.
    pub examined: u64,
    pub lost_ranges: NumberRanges,
}

impl DrillResult {
    pub fn lost_count(&self) -> u64 {
        self.lost_ranges
            .iter()
            .map(|(from, to)| to - from + 1)
            .sum()
    }
}

/// Reason that the logs do not prove a power cut, as a clause; `None` if the logs prove one.
pub fn unproven_power_cut_reason(
    acknowledged: &AckLog,
    survived: &ReadBackLog,
) -> Option<&'static str> {
    if acknowledged.was_stopped {
        Some(
            "the writer was stopped before the power cut, so its last writes had time to reach the disk",
        )
    } else if acknowledged.boot.is_empty() || survived.boot.is_empty() {
        Some("the logs do not show whether the host was restarted in between")
    } else if acknowledged.boot == survived.boot {
        Some("the host was not restarted in between, so the power was not cut")
    } else {
        None
    }
}

/// Compares the acknowledged commits with the pages on the disk. Fails if the logs belong to
/// different runs; the error is a clause.
pub fn find_lost_commits(
    acknowledged: &AckLog,
    survived: &ReadBackLog,
) -> Result<DrillResult, String> {
    if acknowledged.header.run != survived.header.run {
        return Err(format!(
            "the logs belong to different runs: {:016x} acknowledged, {:016x} read",
            acknowledged.header.run, survived.header.run
        ));
    }
    let newest = acknowledged.last_number;
    // The commit in progress at the power cut may have replaced the oldest page, so that page is
    // not expected.
    let under_way = survived
        .pages
        .iter()
        .map(|(_, to)| *to)
        .max()
        .unwrap_or(0)
        .max(newest)
        .saturating_add(1);
    let oldest = under_way.saturating_sub(PAGES_PER_SEGMENT) + 1;
    let mut lost_ranges = NumberRanges::new();
    let mut at = oldest;
    let mut pages = survived.pages.clone();
    pages.sort_unstable();
    for (from, to) in pages {
        if from > newest {
            break;
        }
        if from > at {
            lost_ranges.push((at, from - 1));
        }
        at = at.max(to.saturating_add(1));
    }
    if at <= newest {
        lost_ranges.push((at, newest));
    }
    Ok(DrillResult {
        acknowledged: newest,
        examined: (newest + 1).saturating_sub(oldest),
        lost_ranges,
    })
}

#[cfg(test)]
mod tests {
    use super::super::drill_logs::RunHeader;
    use super::super::stack_fingerprint::StackFingerprint;
    use super::*;

    fn compare_logs(last: u64, pages: &[(u64, u64)]) -> DrillResult {
        let head = RunHeader {
            run: 1,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFingerprint::default();
        let survived = ReadBackLog {
            header: head.clone(),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: pages.to_vec(),
            when: String::new(),
        };
        find_lost_commits(
            &AckLog {
                header: head,
                boot: "a".to_owned(),
                stack,
                last_number: last,
                was_stopped: false,
            },
            &survived,
        )
        .unwrap()
    }

    #[test]
    fn what_was_acknowledged_and_is_not_there_is_lost() {
        assert_eq!(compare_logs(10, &[(1, 10)]).lost_count(), 0);
        assert_eq!(
            compare_logs(10, &[(1, 11)]).lost_count(),
            0,
            "one more was under way"
        );
        assert_eq!(compare_logs(10, &[(1, 7), (9, 10)]).lost_ranges, [(8, 8)]);
        assert_eq!(compare_logs(10, &[]).lost_ranges, [(1, 10)]);
        assert_eq!(
            compare_logs(0, &[]),
            DrillResult {
                acknowledged: 0,
                examined: 0,
                lost_ranges: Vec::new()
            }
        );
    }

    #[test]
    fn a_wal_that_goes_round_is_asked_for_what_it_can_hold() {
        // The log has 2,048 pages, so the unacknowledged commit 5001 may have overwritten page
        // 2953.
        let whole = compare_logs(5000, &[(2954, 5000)]);
        assert_eq!((whole.examined, whole.lost_count()), (2047, 0));
        assert_eq!(
            compare_logs(5000, &[(2954, 4998)]).lost_ranges,
            [(4999, 5000)]
        );
        let old = compare_logs(5000, &[(1, 2048)]);
        assert_eq!(
            (old.examined, old.lost_count()),
            (2047, 2047),
            "nothing after the first round arrived"
        );
        assert_eq!(
            compare_logs(5000, &[(2956, 5002)]).lost_count(),
            0,
            "two more came through, and a third was under way"
        );
    }

    #[test]
    fn logs_of_two_runs_are_not_compared() {
        let head = |run| RunHeader {
            run,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFingerprint::default();
        let survived = ReadBackLog {
            header: head(2),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: Vec::new(),
            when: String::new(),
        };
        let acknowledged = AckLog {
            header: head(1),
            boot: "a".to_owned(),
            stack,
            last_number: 3,
            was_stopped: false,
        };
        assert!(find_lost_commits(&acknowledged, &survived).is_err());
    }
}
