//! Counts the attempts of strangers and their gains. An attack that gained anything fails its test
//! at the end, after all its variants. With `WALWISE_TALLY=FILE` each attack appends a line there,
//! from which the table of SECURITY.md is made.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// One attack, in all its variants.
pub struct Attempts {
    attack: &'static str,
    made: usize,
    gains: Vec<String>,
    lost: usize,
}

impl Attempts {
    /// An attack, by its name; SECURITY.md counts it under its kind.
    pub fn at(attack: &'static str) -> Self {
        Self {
            attack,
            made: 0,
            gains: Vec::new(),
            lost: 0,
        }
    }

    /// Records an attempt and the stranger's gains, which should be empty.
    pub fn made(&mut self, how: &str, gains: &[String]) {
        self.made += 1;
        self.lost += usize::from(!gains.is_empty());
        self.gains
            .extend(gains.iter().map(|gain| format!("{how}: {gain}")));
    }

    /// Fails if anything was gained.
    pub fn end(self) {
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

/// The turns of a race: for a moment, or for `WALWISE_RACE_SECONDS`.
pub fn race() -> impl Iterator<Item = usize> {
    let seconds = env::var("WALWISE_RACE_SECONDS").map_or(1, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    // A slow machine gets at least a few turns.
    (0..).take_while(move |turn| *turn < 4 || Instant::now() < end)
}

/// Whether races are run long.
pub fn long() -> bool {
    env::var_os("WALWISE_RACE_SECONDS").is_some()
}
