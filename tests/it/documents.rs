//! The experiments of the five documents, repeated: what the records in `rules/trials` say of the
//! claims in `tests/trials/claims.toml`. These lie outside `rules`, where each `.toml` is of the
//! pack.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walwise_measure::trial::{PairOutcome, PairwiseComparison, TrialRecord};

#[derive(Deserialize)]
struct Claims {
    claim: Vec<Claim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    document: String,
    says: String,
    record: String,
    load: Option<String>,
    on: Option<String>,
    faster: Option<String>,
    slower: Option<String>,
    alike: Option<[String; 2]>,
    /// How many times as fast the faster one is said to be, at least.
    least: Option<f64>,
    /// What the record says of it.
    here: String,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn record(name: &str) -> TrialRecord {
    let path = directory().join("trials").join(format!("{name}.json"));
    TrialRecord::parse(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Claim {
    /// The two that it compares; the first is said to be the faster one, unless they are said to be
    /// alike.
    fn pair(&self) -> [&str; 2] {
        match (&self.faster, &self.slower, &self.alike) {
            (Some(faster), Some(slower), None) => [faster, slower],
            (None, None, Some([one, other])) => [one, other],
            _ => panic!("{}: name faster and slower, or alike", self.says),
        }
    }

    /// The contest between those that it names, and their places there.
    fn contest(&self, record: &TrialRecord) -> (PairwiseComparison, [usize; 2]) {
        let candidate = |word: &str| {
            let place = record
                .candidates
                .iter()
                .position(|made| made.candidate.name() == word);
            place.unwrap_or_else(|| panic!("{}: no {word} in it", self.says))
        };
        match (&self.on, &self.load) {
            (Some(on), None) => {
                let on = candidate(on);
                let found = record
                    .method_comparisons()
                    .into_iter()
                    .find(|found| found.candidate == on)
                    .unwrap();
                let place = |word| {
                    found
                        .methods
                        .iter()
                        .position(|(_, name)| *name == word)
                        .unwrap()
                };
                let places = self.pair().map(place);
                (found.comparison, places)
            }
            (None, Some(load)) => {
                let found = record
                    .results()
                    .into_iter()
                    .find(|found| found.load.name() == *load);
                let found = found.unwrap_or_else(|| panic!("{}: no {load}", self.says));
                let place = |word| {
                    found
                        .ranked
                        .iter()
                        .position(|ranked| *ranked == candidate(word))
                        .unwrap()
                };
                let places = self.pair().map(place);
                (found.comparison, places)
            }
            _ => panic!("{}: name a load, or on", self.says),
        }
    }

    /// What holds of it, by the outcome and the bounds of the logarithm.
    fn found(&self, outcome: PairOutcome, bounds: Option<(f64, f64)>) -> &'static str {
        if self
            .least
            .zip(bounds)
            .is_some_and(|(least, (_, high))| high < least.ln())
        {
            return "contradicted";
        }
        match (outcome, self.alike.is_some()) {
            (PairOutcome::Faster, false) | (PairOutcome::Equivalent, true) => "confirmed",
            (PairOutcome::Slower, false) | (PairOutcome::Faster | PairOutcome::Slower, true) => {
                "contradicted"
            }
            (PairOutcome::Equivalent, false) => "no difference here",
            (PairOutcome::Undecided, _) => "not settled",
            (PairOutcome::Inconclusive, _) => "this machine could not tell",
        }
    }
}

#[test]
fn the_records_say_of_the_documents_claims_what_is_kept() {
    let claims = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials/claims.toml");
    let claims: Claims = toml::from_str(&fs::read_to_string(claims).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for claim in &claims.claim {
        let record = record(&claim.record);
        let (contest, [one, other]) = claim.contest(&record);
        let bounds = contest.bounds(one, other);
        let found = claim.found(contest.pair_outcome(one, other), bounds);
        let [first, second] = claim.pair();
        let times = bounds.map_or_else(
            || "—".to_owned(),
            |(low, high)| {
                format!(
                    "{first} is {:.2} to {:.2} times as fast as {second}",
                    low.exp(),
                    high.exp()
                )
            },
        );
        eprintln!(
            "{}: {}: {found}: {times} ({}, {})",
            claim.document, claim.says, claim.record, record.started
        );
        if found != claim.here {
            wrong.push(format!(
                "{}: {found}, and it is kept as {}",
                claim.says, claim.here
            ));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
