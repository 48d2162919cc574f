//! Repeats the experiments of five published documents: compares records in `rules/trials` with the
//! claims in `tests/trials/claims.toml`. The claims are outside `rules`, where every `.toml` file
//! belongs to the rule pack.

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
    /// Least speed-up that the document claims for the faster candidate.
    least: Option<f64>,
    /// Result of the record for the claim.
    here: String,
}

fn records_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn read_trial_record(name: &str) -> TrialRecord {
    let path = records_directory()
        .join("trials")
        .join(format!("{name}.json"));
    TrialRecord::parse(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Claim {
    /// The two compared candidates, the faster one first unless the document calls them equal.
    fn compared_candidates(&self) -> [&str; 2] {
        match (&self.faster, &self.slower, &self.alike) {
            (Some(faster), Some(slower), None) => [faster, slower],
            (None, None, Some([one, other])) => [one, other],
            _ => panic!("{}: name faster and slower, or alike", self.says),
        }
    }

    /// The record's comparison of the two candidates, and their positions in it.
    fn comparison_in_record(&self, record: &TrialRecord) -> (PairwiseComparison, [usize; 2]) {
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
                let places = self.compared_candidates().map(place);
                (found.comparison, places)
            }
            (None, Some(load)) => {
                let found = record
                    .load_results()
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
                let places = self.compared_candidates().map(place);
                (found.comparison, places)
            }
            _ => panic!("{}: name a load, or on", self.says),
        }
    }

    /// Judges the claim by the record's outcome; `bounds` is the interval of the logarithm of the
    /// ratio.
    fn judge_claim(&self, outcome: PairOutcome, bounds: Option<(f64, f64)>) -> &'static str {
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
        let record = read_trial_record(&claim.record);
        let (contest, [one, other]) = claim.comparison_in_record(&record);
        let bounds = contest.bounds(one, other);
        let found = claim.judge_claim(contest.pair_outcome(one, other), bounds);
        let [first, second] = claim.compared_candidates();
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
