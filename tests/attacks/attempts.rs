//! Counts what strangers try and what they get. An attack that got anything fails its test at its end, after every variant
//! had its turn. With `WALWISE_TALLY=FILE` each attack leaves a line there, from which the table of SECURITY.md is made.

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
    /// An attack, in the words of the table.
    pub fn at(attack: &'static str) -> Self {
        Self { attack, made: 0, gains: Vec::new(), lost: 0 }
    }

    /// One attempt, and what the stranger gained by it; nothing is what it should be.
    pub fn made(&mut self, how: &str, gains: &[String]) {
        self.made += 1;
        self.lost += usize::from(!gains.is_empty());
        self.gains.extend(gains.iter().map(|gain| format!("{how}: {gain}")));
    }

    /// Fails when anything was gained.
    pub fn end(self) {
        let Self { attack, made, gains, lost } = self;
        if let Some(tally) = env::var_os("WALWISE_TALLY") {
            let mut file = OpenOptions::new().create(true).append(true).open(tally).unwrap();
            writeln!(file, "{attack}\t{made}\t{lost}").unwrap();
        }
        assert!(made > 0, "{attack}: nothing was tried");
        assert!(gains.is_empty(), "{attack}: {lost} of {made} attempts succeeded\n{}", gains.join("\n"));
    }
}

/// How long a race is run: a moment, or `WALWISE_RACE_SECONDS`.
pub fn race() -> impl Iterator<Item = usize> {
    let seconds = env::var("WALWISE_RACE_SECONDS").map_or(1, |seconds| seconds.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    // A slow machine has a few turns, too.
    (0..).take_while(move |turn| *turn < 4 || Instant::now() < end)
}

/// Whether races are run long.
pub fn long() -> bool {
    env::var_os("WALWISE_RACE_SECONDS").is_some()
}
