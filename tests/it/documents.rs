//! Compares the claims of five published documents (`tests/trials/claims.toml`) with the records of
//! trials in `rules/trials`. The claims are outside `rules`, where every `.toml` file
//! belongs to the rule pack.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walwise_measure::trial::{PairOutcome, PairwiseComparison, TrialRecord};

#[derive(Deserialize)]
struct PublishedComparisons {
    claim: Vec<PublishedComparison>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedComparison {
    document: String,
    says: String,
    record: String,
    load: Option<String>,
    on: Option<String>,
    faster: Option<String>,
    slower: Option<String>,
    alike: Option<[String; 2]>,
    /// Speed-up that the document claims for the faster candidate, as a range.
    times: Option<[f64; 2]>,
    /// Result of the record for the claim.
    here: String,
}

const EQUIVALENCE: f64 = 1.05;

fn records_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn read_trial_record(name: &str) -> TrialRecord {
    let path = records_directory()
        .join("trials")
        .join(format!("{name}.json"));
    TrialRecord::parse(&fs::read_to_string(path).unwrap()).unwrap()
}

impl PublishedComparison {
    /// Returns the two compared candidates, the faster one first unless the document calls them
    /// equal.
    fn compared_candidates(&self) -> [&str; 2] {
        match (&self.faster, &self.slower, &self.times, &self.alike) {
            (Some(faster), Some(slower), Some(_), None) => [faster, slower],
            (None, None, None, Some([one, other])) => [one, other],
            _ => panic!("{}: name faster, slower and times, or alike", self.says),
        }
    }

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
                    .load_comparisons()
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

    /// Compares the document's claim with the trial's outcome. `bounds` is the interval of the
    /// logarithm of the ratio.
    fn judge_published_comparison(
        &self,
        outcome: PairOutcome,
        bounds: Option<(f64, f64)>,
    ) -> &'static str {
        let Some((low, high)) = bounds.map(|(low, high)| (low.exp(), high.exp())) else {
            return "this machine could not tell";
        };
        let is_equivalent = 1.0 / EQUIVALENCE <= low && high <= EQUIVALENCE;
        match (outcome, self.times) {
            (PairOutcome::Inconclusive, _) => "this machine could not tell",
            (_, None) if is_equivalent => "confirmed",
            (_, None) if high < 1.0 / EQUIVALENCE || EQUIVALENCE < low => "contradicted",
            (_, Some([least, most])) if least <= low && high <= most => "confirmed",
            (_, Some(_)) if is_equivalent => "no difference here",
            (_, Some(_)) if 1.0 < low => "direction only",
            (_, Some([least, _])) if high < least => "contradicted",
            (_, None | Some(_)) => "not settled",
        }
    }
}

#[test]
fn trial_records_judge_comparisons_as_recorded() {
    let claims = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials/claims.toml");
    let claims: PublishedComparisons =
        toml::from_str(&fs::read_to_string(claims).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for claim in &claims.claim {
        let record = read_trial_record(&claim.record);
        let (contest, [one, other]) = claim.comparison_in_record(&record);
        let bounds = contest.log_ratio_bounds(one, other);
        let found = claim.judge_published_comparison(contest.pair_outcome(one, other), bounds);
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
