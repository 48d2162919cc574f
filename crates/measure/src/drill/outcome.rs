//! The outcome of a drill: the acknowledged commits that are lost.

use super::log::{Acknowledged, Survived};
use super::{PAGES, log::Ranges};

/// The outcome of a drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrillResult {
    /// The number of acknowledged commits.
    pub acknowledged: u64,
    /// The number of them that could be searched for: a cyclic WAL holds only the newest.
    pub examined: u64,
    /// The lost ones.
    pub lost: Ranges,
}

impl DrillResult {
    /// The number of lost commits.
    pub fn lost(&self) -> u64 {
        self.lost.iter().map(|(from, to)| to - from + 1).sum()
    }
}

/// Why these logs prove nothing about a power cut, in a sentence; `None` where they do.
pub fn no_cut(acknowledged: &Acknowledged, survived: &Survived) -> Option<&'static str> {
    if acknowledged.stopped {
        Some("the writer was stopped before the power was cut, and what it wrote last had its time")
    } else if acknowledged.boot.is_empty() || survived.boot.is_empty() {
        Some("the logs do not say whether the machine was started again in between")
    } else if acknowledged.boot == survived.boot {
        Some("the machine was not started again in between, so no power was cut")
    } else {
        None
    }
}

/// Compares the two logs. The error is a sentence.
pub fn compare(acknowledged: &Acknowledged, survived: &Survived) -> Result<DrillResult, String> {
    if acknowledged.head.run != survived.head.run {
        return Err(format!(
            "the logs are of two runs: {:016x} was acknowledged, {:016x} was read",
            acknowledged.head.run, survived.head.run
        ));
    }
    let newest = acknowledged.last;
    // The commit in progress at the power cut may have replaced the oldest one.
    let under_way = survived
        .pages
        .iter()
        .map(|(_, to)| *to)
        .max()
        .unwrap_or(0)
        .max(newest)
        .saturating_add(1);
    let oldest = under_way.saturating_sub(PAGES) + 1;
    let mut lost = Ranges::new();
    let mut at = oldest;
    let mut pages = survived.pages.clone();
    pages.sort_unstable();
    for (from, to) in pages {
        if from > newest {
            break;
        }
        if from > at {
            lost.push((at, from - 1));
        }
        at = at.max(to.saturating_add(1));
    }
    if at <= newest {
        lost.push((at, newest));
    }
    Ok(DrillResult {
        acknowledged: newest,
        examined: (newest + 1).saturating_sub(oldest),
        lost,
    })
}

#[cfg(test)]
mod tests {
    use super::super::log::Head;
    use super::super::stack::StackFingerprint;
    use super::*;

    fn outcome(last: u64, pages: &[(u64, u64)]) -> DrillResult {
        let head = Head {
            run: 1,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFingerprint::default();
        let survived = Survived {
            head: head.clone(),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: pages.to_vec(),
            when: String::new(),
        };
        compare(
            &Acknowledged {
                head,
                boot: "a".to_owned(),
                stack,
                last,
                stopped: false,
            },
            &survived,
        )
        .unwrap()
    }

    #[test]
    fn what_was_acknowledged_and_is_not_there_is_lost() {
        assert_eq!(outcome(10, &[(1, 10)]).lost(), 0);
        assert_eq!(outcome(10, &[(1, 11)]).lost(), 0, "one more was under way");
        assert_eq!(outcome(10, &[(1, 7), (9, 10)]).lost, [(8, 8)]);
        assert_eq!(outcome(10, &[]).lost, [(1, 10)]);
        assert_eq!(
            outcome(0, &[]),
            DrillResult {
                acknowledged: 0,
                examined: 0,
                lost: Vec::new()
            }
        );
    }

    #[test]
    fn a_wal_that_goes_round_is_asked_for_what_it_can_hold() {
        // 5001 may have overwritten 2953.
        let whole = outcome(5000, &[(2954, 5000)]);
        assert_eq!((whole.examined, whole.lost()), (2047, 0));
        assert_eq!(outcome(5000, &[(2954, 4998)]).lost, [(4999, 5000)]);
        let old = outcome(5000, &[(1, 2048)]);
        assert_eq!(
            (old.examined, old.lost()),
            (2047, 2047),
            "nothing after the first round arrived"
        );
        assert_eq!(
            outcome(5000, &[(2956, 5002)]).lost(),
            0,
            "two more came through, and a third was under way"
        );
    }

    #[test]
    fn logs_of_two_runs_are_not_compared() {
        let head = |run| Head {
            run,
            method: String::new(),
            segments: String::new(),
            when: String::new(),
            directory: String::new(),
        };
        let stack = StackFingerprint::default();
        let survived = Survived {
            head: head(2),
            boot: "b".to_owned(),
            stack: stack.clone(),
            pages: Vec::new(),
            when: String::new(),
        };
        let acknowledged = Acknowledged {
            head: head(1),
            boot: "a".to_owned(),
            stack,
            last: 3,
            stopped: false,
        };
        assert!(compare(&acknowledged, &survived).is_err());
    }
}
