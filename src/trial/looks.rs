//! When the evidence may be looked at, declared before the first block, and what each look may err by.
//!
//! A trial that stops as soon as a difference shows finds one by chance sooner or later. The 5 % are therefore divided
//! equally among all looks and the end (Bonferroni; Jennison and Turnbull, *Group Sequential Methods*, ch. 2): whatever
//! is said at any of them holds together with 95 % probability.

/// The probability of error of a whole trial.
pub const ALPHA: f64 = 0.05;

/// The numbers of complete blocks at which a trial looks: about a quarter more from each to the next. The first is the
/// smallest for which an interval of this level exists.
pub const LOOKS: [usize; 13] = [10, 12, 15, 18, 22, 27, 33, 40, 50, 62, 78, 98, 124];

/// The probability of error of one look, or of the end.
pub const ALPHA_PER_LOOK: f64 = ALPHA / (LOOKS.len() + 1) as f64;

/// The last block of any trial.
pub const LAST: usize = 124;

/// How a trial ended, which decides whether its last blocks may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Running,
    Settled,
    /// Its time is over: the time was declared before, and the end is a look of its own.
    Budget,
    /// Somebody stopped it, perhaps because of what he saw: only what was said at the last look holds.
    Stopped,
}

/// The numbers of blocks to judge by, in order, when so many are complete.
pub fn looks(blocks: usize, ending: Ending) -> Vec<usize> {
    let mut looks: Vec<usize> = LOOKS.into_iter().filter(|look| *look <= blocks).collect();
    match ending {
        Ending::Running | Ending::Settled | Ending::Stopped => {}
        Ending::Budget => {
            let end = blocks.min(LAST);
            if looks.last() != Some(&end) {
                looks.push(end);
            }
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declared_end_is_a_look_of_its_own() {
        assert_eq!(looks(13, Ending::Running), [10, 12]);
        assert_eq!(looks(13, Ending::Stopped), [10, 12]);
        assert_eq!(looks(13, Ending::Budget), [10, 12, 13]);
        assert_eq!(looks(12, Ending::Budget), [10, 12]);
        assert_eq!(looks(4, Ending::Budget), [4]);
        assert_eq!(looks(1_000_000, Ending::Budget), LOOKS);
        assert_eq!(LOOKS.last(), Some(&LAST));
        assert!(LOOKS.is_sorted());
    }
}
