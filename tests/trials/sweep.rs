//! What trials named beside an exhaustive sweep of pgbench: how much the named set loses to the best of all.

use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use walwise::inside::trial::TrialRecord;

use crate::simulated::median;

/// What `tests/bench/sweep` kept.
#[derive(Deserialize)]
struct Kept {
    seconds: f64,
    each_seconds: f64,
    oltp: serde_json::Value,
    methods: serde_json::Value,
    sweep: Vec<Place>,
}

/// One place of the sweep, with its rate in each round.
#[derive(Deserialize)]
struct Place {
    candidate: String,
    method: String,
    clients: u32,
    rates: Vec<f64>,
}

impl Place {
    fn rate(&self) -> f64 {
        median(&self.rates)
    }

    fn name(&self) -> String {
        format!("{}, {}", self.candidate, self.method)
    }

    /// Whether no confidence of 95 % says that it is slower than another place: the interval of the median of ratios, round by
    /// round, by order statistics (Conover, *Practical Nonparametric Statistics*, ch. 3.2), holds no difference.
    fn may_equal(&self, other: &Self) -> bool {
        let mut ratios: Vec<f64> =
            self.rates.iter().zip(&other.rates).map(|(own, other)| (own / other).ln()).collect();
        ratios.sort_by(f64::total_cmp);
        let outside = outside(ratios.len());
        ratios.len() < 6 || ratios[outside] <= 0.0 && ratios[ratios.len() - 1 - outside] >= 0.0
    }
}

/// How many values of so many lie outside an interval of 95 % on each side.
fn outside(of: usize) -> usize {
    let (mut below, mut term) = (0.0, 0.5f64.powi(i32::try_from(of).unwrap()));
    for k in 0..of {
        below += term;
        if below > 0.025 {
            return k.saturating_sub(1);
        }
        term *= (of - k) as f64 / (k + 1) as f64;
    }
    0
}

/// What the two trials name at a number of sessions: candidates, each with the methods that may be its best.
fn named(oltp: &TrialRecord, methods: &TrialRecord, clients: u32) -> Vec<(String, Vec<String>)> {
    let result =
        oltp.results().into_iter().find(|result| result.load.decides() && result.load.clients == clients);
    let result = result.unwrap();
    let name = |record: &TrialRecord, at: usize| record.candidates[at].candidate.word().to_owned();
    let by_method = methods.methods();
    let of = |candidate: String| {
        let found = by_method.iter().find(|found| name(methods, found.candidate) == candidate);
        let methods = found.map_or_else(
            || vec!["fdatasync".to_owned()],
            |found| found.named(&found.contest.may_be_best()).into_iter().map(str::to_owned).collect(),
        );
        (candidate, methods)
    };
    result.named(&result.contest.may_be_best()).into_iter().map(|at| of(name(oltp, at))).collect()
}

/// The table, and what of it is wrong.
pub fn table(file: &Path) -> (String, Vec<String>) {
    let kept: Kept = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let record = |value: &serde_json::Value| TrialRecord::parse(&value.to_string()).unwrap();
    let (oltp, methods) = (record(&kept.oltp), record(&kept.methods));
    let rounds = kept.sweep.iter().map(|place| place.rates.len()).min().unwrap_or(0);
    let mut out = format!(
        "Two trials on a loop file, `--preset oltp` in {:.0} min and `--preset \
         methods` in {:.0} min, and\nbeside them every candidate, sync method and number of sessions under pgbench -N, {rounds} rounds of {:.0} s each in random \
         order, {:.0} min\nin all. The set is what may be best for all that the trials say. *Loses*: the best place of the set to the best of all, by medians of\n\
         the sweep; *in its noise*: the rounds do not tell the two apart, at 95 %.\n\n\
         | sessions | best of all | per second | the trials name | best of these | per second | loses | worst of these |\n|---|---|---|---|---|---|---|---|\n",
        oltp.seconds / 60.0,
        methods.seconds / 60.0,
        kept.each_seconds,
        kept.seconds / 60.0,
    );
    let mut wrong = Vec::new();
    let mut sessions: Vec<u32> = kept.sweep.iter().map(|place| place.clients).collect();
    sessions.sort_unstable();
    sessions.dedup();
    for clients in sessions {
        let here = || kept.sweep.iter().filter(|place| place.clients == clients);
        let by_rate = |a: &&Place, b: &&Place| f64::total_cmp(&a.rate(), &b.rate());
        let best = here().max_by(by_rate).unwrap();
        let set = named(&oltp, &methods, clients);
        let is_named = |place: &&Place| {
            set.iter()
                .any(|(candidate, methods)| *candidate == place.candidate && methods.contains(&place.method))
        };
        let mine = here().filter(is_named).max_by(by_rate).unwrap();
        let worst = here().filter(is_named).min_by(by_rate).unwrap();
        let loses = |place: &Place| 100.0 * (1.0 - place.rate() / best.rate());
        let noise = if mine.may_equal(best) { ", in its noise" } else { "" };
        let words: Vec<String> =
            set.iter().map(|(candidate, methods)| format!("{candidate} ({})", methods.join(", "))).collect();
        writeln!(
            out,
            "| {clients} | {} | {:.0} | {} | {} | {:.0} | {:.1} %{noise} | {:.1} % |",
            best.name(),
            best.rate(),
            words.join("; "),
            mine.name(),
            mine.rate(),
            loses(mine),
            loses(worst),
        )
        .unwrap();
        if loses(mine) > 3.0 && noise.is_empty() {
            wrong.push(format!("{clients} sessions: the named set loses {:.1} %", loses(mine)));
        }
    }
    out.push_str(
        "\n| sessions | place | per second, median | slowest round | fastest |\n|---|---|---|---|---|\n",
    );
    let mut all: Vec<&Place> = kept.sweep.iter().collect();
    all.sort_by(|a, b| a.clients.cmp(&b.clients).then(b.rate().total_cmp(&a.rate())));
    for place in all {
        let low = place.rates.iter().copied().fold(f64::INFINITY, f64::min);
        let high = place.rates.iter().copied().fold(0.0, f64::max);
        writeln!(
            out,
            "| {} | {} | {:.0} | {low:.0} | {high:.0} |",
            place.clients,
            place.name(),
            place.rate()
        )
        .unwrap();
    }
    (out, wrong)
}

#[test]
fn an_interval_of_order_statistics_is_that_of_the_tables() {
    // Conover, table A3: of 6, 8, 9, 15 and 20 values the 1st, 1st, 2nd, 4th and 6th are the lower ends.
    assert_eq!([6, 8, 9, 15, 20].map(outside), [0, 0, 1, 3, 5]);
}
