//! The order and the number of commits: methods in a new random order every round, each with as many commits as fit its
//! share.
//!
//! The order is random so that no method always follows the same other; it is seeded, so that a run can be repeated.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, seeded, and good enough to shuffle.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The numbers below `n` in random order (Fisher and Yates).
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            #[expect(clippy::cast_possible_truncation, reason = "below i + 1")]
            let j = (self.next() % (i as u64 + 1)) as usize;
            order.swap(i, j);
        }
        order
    }
}

/// The number of commits of one method in one round: as many as fit its share of the round's time and bytes, at least
/// one.
pub fn commits(commit_us: f64, share_us: f64, commit_bytes: u64, share_bytes: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let by_time = (share_us / commit_us.max(0.1)).clamp(1.0, 1e6) as usize;
    let by_bytes = usize::try_from(share_bytes / commit_bytes.max(1)).unwrap_or(usize::MAX);
    by_time.min(by_bytes).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_holds_each_number_once() {
        let mut dice = Dice::new(5);
        let mut first = [0; 6];
        for _ in 0..600 {
            let order = dice.order(6);
            first[order[0]] += 1;
            let mut sorted = order;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
    }

    #[test]
    fn slow_disks_get_one_commit_and_fast_ones_no_flood() {
        assert_eq!(commits(8_300.0, 15_000.0, 8192, 1 << 20), 1);
        assert_eq!(commits(50_000.0, 15_000.0, 8192, 1 << 20), 1);
        assert_eq!(commits(200.0, 15_000.0, 8192, 1 << 20), 75);
        assert_eq!(commits(1.0, 15_000.0, 8192, 1 << 18), 32);
        assert_eq!(commits(0.0, 15_000.0, 8192, 0), 1);
    }
}
