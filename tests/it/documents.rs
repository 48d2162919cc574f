//! The experiments of the five documents, repeated: `rules/TRIALS.md`, made of the records in `rules/trials` and of the claims
//! in `tests/trials/claims.toml`. These lie outside `rules`, where each `.toml` is of the pack.
//!
//! `WALWISE_UPDATE=1 cargo test --test it documents` writes it again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walwise::inside::trial::{Contest, PairOutcome, TrialRecord, tell};

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
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn record(name: &str) -> TrialRecord {
    let path = directory().join("trials").join(format!("{name}.json"));
    TrialRecord::parse(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Claim {
    /// The two that it compares; the first is said to be the faster one, unless they are said to be alike.
    fn pair(&self) -> [&str; 2] {
        match (&self.faster, &self.slower, &self.alike) {
            (Some(faster), Some(slower), None) => [faster, slower],
            (None, None, Some([one, other])) => [one, other],
            _ => panic!("{}: name faster and slower, or alike", self.says),
        }
    }

    /// The contest between those that it names, and their places there.
    fn contest(&self, record: &TrialRecord) -> (Contest, [usize; 2]) {
        let candidate = |word: &str| {
            let place = record.candidates.iter().position(|made| made.candidate.word() == word);
            place.unwrap_or_else(|| panic!("{}: no {word} in it", self.says))
        };
        match (&self.on, &self.load) {
            (Some(on), None) => {
                let on = candidate(on);
                let found = record.methods().into_iter().find(|found| found.candidate == on).unwrap();
                let place = |word| found.methods.iter().position(|(_, name)| *name == word).unwrap();
                let places = self.pair().map(place);
                (found.contest, places)
            }
            (None, Some(load)) => {
                let found = record.results().into_iter().find(|found| found.load.name() == *load);
                let found = found.unwrap_or_else(|| panic!("{}: no {load}", self.says));
                let place = |word| found.ranked.iter().position(|ranked| *ranked == candidate(word)).unwrap();
                let places = self.pair().map(place);
                (found.contest, places)
            }
            _ => panic!("{}: name a load, or on", self.says),
        }
    }

    /// What holds of it, by the outcome and the bounds of the logarithm.
    fn found(&self, outcome: PairOutcome, bounds: Option<(f64, f64)>) -> &'static str {
        if self.least.zip(bounds).is_some_and(|(least, (_, high))| high < least.ln()) {
            return "contradicted";
        }
        match (outcome, self.alike.is_some()) {
            (PairOutcome::Faster, false) | (PairOutcome::Alike, true) => "confirmed",
            (PairOutcome::Slower, false) | (PairOutcome::Faster | PairOutcome::Slower, true) => {
                "contradicted"
            }
            (PairOutcome::Alike, false) => "no difference here",
            (PairOutcome::Open, _) => "not settled",
            (PairOutcome::CannotTell, _) => "this machine could not tell",
        }
    }
}

fn told() -> String {
    let claims = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials/claims.toml");
    let claims: Claims = toml::from_str(&fs::read_to_string(claims).unwrap()).unwrap();
    let mut out = String::from(
        "# The documents' experiments, repeated\n\nMade by `WALWISE_UPDATE=1 cargo test --test it documents` from the records in \
         [trials](trials); do not edit. `tests/trials/documents` made those, with 0.1 the two of transactions. All are of one disk of a virtual machine, on loop files: \
         they say what holds there, today, and nothing about yours. *Confirmed* and *contradicted* hold with 95 % confidence over all \
         looks of a trial. Where two are said to be alike, *confirmed* means within 5 %, and *contradicted* that one is shown to \
         be faster, by however little.\n",
    );
    let mut document = "";
    for claim in &claims.claim {
        if claim.document != document {
            document = &claim.document;
            write!(out, "\n## {document}\n\n| it says | here | how many times as fast | under | record |\n|---|---|---|---|---|\n").unwrap();
        }
        let record = record(&claim.record);
        let (contest, [one, other]) = claim.contest(&record);
        let bounds = contest.bounds(one, other);
        let found = claim.found(contest.between(one, other), bounds);
        let [first, second] = claim.pair();
        let times = bounds.map_or_else(
            || "—".to_owned(),
            |(low, high)| {
                format!("{first} is {:.2} to {:.2} times as fast as {second}", low.exp(), high.exp())
            },
        );
        let under =
            claim.load.clone().or_else(|| claim.on.as_ref().map(|on| format!("commits on {on}"))).unwrap();
        writeln!(
            out,
            "| {} | {found} | {times} | {under} | [{}](trials/{}.json) |",
            claim.says, claim.record, claim.record
        )
        .unwrap();
    }
    out.push_str("\n## Records\n\n| record | when | blocks | seconds | its host, and the loop file |\n|---|---|---|---|---|\n");
    let mut names: Vec<&str> = claims.claim.iter().map(|claim| claim.record.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let record = record(name);
        let kernel = record
            .stack
            .iter()
            .find_map(|line| line.rsplit_once("kernel.release="))
            .map_or("?", |(_, kernel)| kernel);
        writeln!(
            out,
            "| [{name}](trials/{name}.json) | {} | {} | {:.0} | Linux {kernel}, {} |",
            record.started,
            record.blocks.len(),
            record.seconds,
            tell(&record).head.last().map_or("", String::as_str)
        )
        .unwrap();
    }
    out
}

#[test]
fn the_documents_experiments_are_told_from_their_records() {
    let path = directory().join("TRIALS.md");
    let told = told();
    if std::env::var_os("WALWISE_UPDATE").is_some() {
        fs::write(&path, &told).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, told, "WALWISE_UPDATE=1 cargo test --test it documents writes it again");
}
