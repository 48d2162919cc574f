//! Counts the attempts of an attack and what the attacker gained.
//!
//! An attack that gained anything fails its test at the end, after all variants. With
//! `WALWISE_TALLY=FILE`, each attack appends a line to FILE.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

pub struct Attempts {
    attack: &'static str,
    made: usize,
    gains: Vec<String>,
    lost: usize,
}

impl Attempts {
    pub fn for_attack(attack: &'static str) -> Self {
        Self {
            attack,
            made: 0,
            gains: Vec::new(),
            lost: 0,
        }
    }

    /// Records one attempt; `gains` must be empty for the attack to count as repelled.
    pub fn record_attempt(&mut self, how: &str, gains: &[String]) {
        self.made += 1;
        self.lost += usize::from(!gains.is_empty());
        self.gains
            .extend(gains.iter().map(|gain| format!("{how}: {gain}")));
    }

    pub fn write_tally_and_assert(self) {
        let Self {
            attack,
            made,
            gains,
            lost,
        } = self;
        if let Some(tally) = env::var_os("WALWISE_TALLY") {
            let mut file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(tally)
                .unwrap();
            writeln!(file, "{attack}\t{made}\t{lost}").unwrap();
        }
        assert!(made > 0, "{attack}: nothing was tried");
        assert!(
            gains.is_empty(),
            "{attack}: {lost} of {made} attempts succeeded\n{}",
            gains.join("\n")
        );
    }
}

/// Repeats a race for 1 second, or for `WALWISE_RACE_SECONDS`.
pub fn race_turns() -> impl Iterator<Item = usize> {
    let seconds = env::var("WALWISE_RACE_SECONDS").map_or(1, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    // A slow machine gets at least four turns.
    (0..).take_while(move |turn| *turn < 4 || Instant::now() < end)
}

pub fn is_long_run() -> bool {
    env::var_os("WALWISE_RACE_SECONDS").is_some()
}
