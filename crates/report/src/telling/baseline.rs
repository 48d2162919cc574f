//! What is different since a report that was kept: what is dangerous now, what is fixed, which
//! facts changed, and how the price of a commit moved.
//!
//! Like changes of many things are one line, and what moves by itself or follows from other facts
//! is only counted, so that it does not drown what somebody changed; the JSON has all of it.

mod named {
    //! The names of many things in a line.

    use crate::telling::words;
    use walwise_model::text::first_of;

    /// How many names are told before the rest is counted.
    const NAMED: usize = 6;

    /// The first of several names, each once; the rest counted.
    pub fn named(names: impl Iterator<Item = String>) -> String {
        let names: Vec<String> = names.collect();
        first_of(&words::distinct(names.iter().map(String::as_str)), NAMED)
    }
}
mod facts {
    //! Which facts changed: what somebody or something did, like changes of many things in one
    //! line; the rest is counted.

    use std::collections::{BTreeMap, BTreeSet};

    use super::named::named;
    use crate::model::difference::{Difference, FactChange, Shown};
    use crate::telling::{Phrase, Section, words};
    use walwise_model::facts::{Nature, Subject};

    /// The facts that somebody or something changed; the others are counted.
    pub fn sections(difference: &Difference) -> Vec<Section> {
        let of = |nature: &[Nature]| {
            let wanted = |change: &&FactChange| nature.contains(&change.nature);
            difference.facts.iter().filter(wanted).collect::<Vec<_>>()
        };
        let lasting = of(&[Nature::Lasting, Nature::Identity, Nature::Assigned]);
        let follow: Vec<_> = of(&[Nature::Concluded])
            .into_iter()
            .filter(|change| change.values().is_some())
            .collect();
        let drift = of(&[Nature::Drifting]).len();
        let (both, one): (Vec<&FactChange>, Vec<&FactChange>) = lasting
            .into_iter()
            .partition(|change| change.values().is_some());
        let mut changed = Section::part("Changed");
        for ((fact, change), subjects) in alike(&both) {
            let subjects = named(subjects.into_iter().map(words::subject));
            changed.say(Phrase::code(fact).and(format!(" of {subjects}: {change}")));
        }
        let names = |changes: &[&FactChange]| {
            let distinct: BTreeSet<&str> = changes.iter().map(|change| change.fact).collect();
            named(distinct.into_iter().map(str::to_owned))
        };
        let mut rest = Section::part("");
        if !follow.is_empty() {
            let because = if both.is_empty() {
                "Different"
            } else {
                "Consequences"
            };
            rest.say(format!("{because}: {}", names(&follow)));
        }
        let known =
            |change: &&FactChange| change.now.as_ref().is_some_and(|now| now.value().is_some());
        let (learnt, lost): (Vec<&FactChange>, Vec<&FactChange>) = one.into_iter().partition(known);
        for (what, changes) in [("Now unknown", lost), ("Known now", learnt)] {
            if !changes.is_empty() {
                let count = words::count(changes.len(), "fact");
                rest.say(format!("{what}: {count}: {}", names(&changes)));
            }
        }
        if drift > 0 {
            let count = words::count(drift, "fact");
            rest.say(format!(
                "{count} that move by themselves, such as free space, are in the JSON only."
            ));
        }
        [changed, rest]
            .into_iter()
            .filter_map(Section::unless_empty)
            .collect()
    }

    /// Like changes of several things together, in the order of the first: the fact and its change
    /// in words, and of what.
    pub fn alike<'c>(
        changes: &[&'c FactChange],
    ) -> Vec<((&'static str, String), Vec<&'c Subject>)> {
        let mut groups: Vec<((&'static str, String), Vec<&Subject>)> = Vec::new();
        let mut at: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for change in changes {
            let Some((before, now)) = change.values() else {
                continue;
            };
            let key = (change.fact, change_words(before, now));
            let place = *at.entry(key.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, subjects)) => subjects.push(&change.subject),
                None => groups.push((key, vec![&change.subject])),
            }
        }
        groups
    }

    /// From what to what; of lists what came and what went.
    fn change_words(before: &Shown, now: &Shown) -> String {
        let (Shown::Words(before), Shown::Words(now)) = (before, now) else {
            return format!("{} → {}", before.text(), now.text());
        };
        let without = |of: &[String], other: &[String]| {
            let more = of.iter().filter(|word| !other.contains(word));
            more.cloned().collect::<Vec<_>>().join(", ")
        };
        let (came, went) = (without(now, before), without(before, now));
        let parts = [("added", came), ("gone", went)]
            .into_iter()
            .filter(|(_, words)| !words.is_empty());
        let parts: Vec<String> = parts
            .map(|(what, words)| format!("{what} {words}"))
            .collect();
        if parts.is_empty() {
            "the same words more or less often".to_owned()
        } else {
            parts.join("; ")
        }
    }
}
mod shift {
    //! How the price of a commit moved: a table, a sentence, and what is likely the cause.

    use super::facts::alike;
    use super::named::named;
    use crate::model::difference::{Difference, FactChange, ProbeShift, RowShift};
    use crate::telling::section::Grid;
    use crate::telling::{Phrase, Section, words};
    use walwise_measure::measure::{Estimate, Moved, Shift};
    use walwise_model::facts::Subject;
    use walwise_model::text::micros;

    /// How the price of a commit moved on a target.
    pub fn section(difference: &Difference, probe: &ProbeShift) -> Section {
        let mut section = Section::part(
            Phrase::plain("Commit latency on ")
                .and_code(probe.target.name())
                .and(format!(
                    ", then ({}) and now: medians, one commit every 10 ms",
                    probe.before
                )),
        );
        let is_judged = probe.doubts.is_empty();
        let rows = probe
            .rows
            .iter()
            .filter(|row| row.pages == 1)
            .map(|one| row(one, is_judged));
        section.grid(Grid {
            head: vec!["method", "then", "now", "shift", "99 % interval", ""],
            right: vec![false, true, true, true, true, false],
            narrow: &[],
            rows: rows
                .map(|row| row.into_iter().map(Phrase::plain).collect())
                .collect(),
        });
        let (then, now) = (&probe.directory_before, &probe.directory_now);
        if then != now {
            section.say(
                Phrase::plain("Measured in ")
                    .and_code(then)
                    .and(" then, in ")
                    .and_code(now)
                    .and(" now."),
            );
        }
        section.say(verdict(probe));
        if probe.has_moved() {
            section.say(why(difference, probe));
        }
        section
    }

    fn row(row: &RowShift, is_judged: bool) -> Vec<String> {
        let mut cells = vec![
            row.method.name().to_owned(),
            micros(row.before_us.value),
            micros(row.now_us.value),
        ];
        let Some(Shift {
            percent: Estimate { value, low, high },
            moved,
            ..
        }) = row.shift
        else {
            cells.extend([String::new(), String::new(), "too few commits".to_owned()]);
            return cells;
        };
        let signed = |remark: &str| {
            [
                percent(value),
                format!("{} – {}", percent(low), percent(high)),
                remark.to_owned(),
            ]
        };
        cells.extend(match moved {
            _ if !is_judged => signed("not judged"),
            Moved::Not => signed("no significant change"),
            // What has a word for its direction needs no sign.
            moved => {
                let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                [
                    format!("{:.0} % {}", value.abs(), moved_words(moved)),
                    format!("{least:.0} % – {most:.0} %"),
                    String::new(),
                ]
            }
        });
        cells
    }

    fn percent(value: f64) -> String {
        // Without this a little less than nothing is -0.
        format!("{:+.0} %", value.round() + 0.0)
    }

    fn moved_words(moved: Moved) -> &'static str {
        match moved {
            Moved::Slower => "slower",
            Moved::Faster => "faster",
            Moved::Not => "no significant change",
        }
    }

    /// What became of the price, in a sentence.
    fn verdict(probe: &ProbeShift) -> String {
        let Some(main) = probe.main() else {
            return "No method has paced commits both times: measure again.".to_owned();
        };
        if !probe.doubts.is_empty() {
            return format!(
                "Not judged, because of what limits the figures ({}).",
                probe.doubts.join("; ")
            );
        }
        let Some(shift) = &main.shift else {
            return "Too few commits to compare.".to_owned();
        };
        let method = main.method.name();
        match shift.moved {
            Moved::Not => format!(
                "No significant change: {method} {} (one of the measurements drifts by {:.0} % in itself).",
                percent(shift.percent.value),
                shift.drift_percent
            ),
            moved => format!(
                "A commit with {method} is {:.0} % {} (at least {:.0} %), beyond noise.",
                shift.percent.value.abs(),
                moved_words(moved),
                shift.percent.low.abs().min(shift.percent.high.abs())
            ),
        }
    }

    /// What may be the cause.
    fn why(difference: &Difference, probe: &ProbeShift) -> String {
        if !difference.same_host {
            return "The hosts differ, which is reason enough.".to_owned();
        }
        if probe.likely_causes.is_empty() {
            return "No known fact that affects it has changed.".to_owned();
        }
        let is_one = |change: &&FactChange| {
            probe
                .likely_causes
                .iter()
                .any(|cause| (&cause.subject, cause.fact) == (&change.subject, change.fact))
        };
        let changes: Vec<&FactChange> = difference.facts.iter().filter(is_one).collect();
        let words = |((fact, change), subjects): ((&str, String), Vec<&Subject>)| {
            format!(
                "{fact} of {} ({change})",
                named(subjects.into_iter().map(words::subject))
            )
        };
        let causes: Vec<String> = alike(&changes).into_iter().map(words).collect();
        match causes.as_slice() {
            [one] => format!("Likely cause: {one}."),
            several => format!("Likely cause, one of: {}.", named(several.iter().cloned())),
        }
    }
}

use super::section::{Bullet, Mark};
use super::{Phrase, Section, words};
use crate::Report;
use crate::model::difference::{Class, Difference, FindingChange, VerdictChange};
use named::named;
use walwise_judge::rules::Level;
use walwise_model::facts::{Scope, Subject};

/// The difference to the report that this one was compared with, if it was.
pub fn sections(report: &Report) -> Vec<Section> {
    let Some(difference) = &report.baseline else {
        return Vec::new();
    };
    let before = &difference.before;
    let mut top = Section::top(format!(
        "Since the baseline of {} (walwise {}, {}, Linux {})",
        before.when, before.walwise, before.os, before.kernel
    ));
    if !difference.same_host {
        top.say(
            Phrase::plain("ANOTHER HOST: the baseline is of ")
                .and_code(&before.host)
                .and(", this report of ")
                .and_code(&report.host.name)
                .and(". What follows compares two machines, not two times of one."),
        );
    }
    if !difference.has_lasting() {
        top.say("No lasting differences.");
    }
    let mut sections = vec![top];
    let parts = [
        worse(difference),
        better(difference),
        gone(difference),
        lesser(difference),
        things(difference),
    ];
    sections.extend(parts.into_iter().flatten());
    sections.extend(facts::sections(difference));
    sections.extend(
        difference
            .probes
            .iter()
            .map(|probe| shift::section(difference, probe)),
    );
    sections.extend(same(difference));
    sections
}

/// Worse verdicts and findings that weigh more, the worst first; then what could no longer be
/// decided.
fn worse(difference: &Difference) -> Option<Section> {
    let verdicts = difference
        .verdicts
        .iter()
        .filter(|change| change.now < change.before);
    let mut worse: Vec<&FindingChange> = difference
        .findings
        .iter()
        .filter(|f| f.is_worse() && f.level() >= Level::Warning)
        .collect();
    worse.sort_by_key(|finding| std::cmp::Reverse(finding.level()));
    let open = |f: &&FindingChange| {
        let undecided = f.now.as_ref().is_some_and(|now| !now.applies);
        undecided
            && matches!(f.class, Class::Undecided | Class::Appeared)
            && f.level() >= Level::Warning
    };
    let open: Vec<&FindingChange> = difference.findings.iter().filter(open).collect();
    let mut section = Section::part("Worse now");
    let findings = worse
        .into_iter()
        .filter_map(|finding| told(finding, &came(finding)));
    section.bullets(&HEAD, verdicts.map(verdict).chain(findings).collect());
    if !open.is_empty() {
        let count = words::count(open.len(), "finding");
        let names = named(open.iter().map(|finding| finding.rule.clone()));
        section.say(format!(
            "{count} that would weigh as much cannot be decided any more: {names}"
        ));
    }
    section.unless_empty()
}

/// The columns of what is worse or better.
const HEAD: [&str; 4] = ["now", "of", "what", "rule"];

fn verdict(change: &VerdictChange) -> Bullet {
    let says = Phrase::code(change.target.name()).and(format!(", was {}", change.before.word()));
    Bullet::marked(Mark::Standing(change.now), says)
}

/// How a finding came to be worse, where that is more than that it applies.
fn came(finding: &FindingChange) -> String {
    match (finding.class, &finding.before) {
        (Class::Level, Some(before)) => format!(", was {}", before.level.word()),
        (Class::Decided, _) => ", was undecided".to_owned(),
        (Class::Appeared, _) => ", not in the baseline".to_owned(),
        _ => String::new(),
    }
}

/// Better verdicts, and what is fixed.
fn better(difference: &Difference) -> Option<Section> {
    let verdicts = difference
        .verdicts
        .iter()
        .filter(|change| change.now > change.before);
    let fixed = difference
        .findings
        .iter()
        .filter(|f| f.is_fixed() && f.level() >= Level::Warning);
    let mut section = Section::part("Better now");
    let fixed = fixed.filter_map(|finding| told(finding, ", fixed"));
    section.bullets(&HEAD, verdicts.map(verdict).chain(fixed).collect());
    section.unless_empty()
}

/// What was found and is not looked at any more.
fn gone(difference: &Difference) -> Option<Section> {
    let gone =
        |f: &&FindingChange| f.class == Class::Gone && f.before.as_ref().is_some_and(|b| b.applies);
    let serious = difference
        .findings
        .iter()
        .filter(gone)
        .filter(|f| f.level() >= Level::Warning);
    let mut section = Section::part("No longer examined");
    section.bullets(
        &HEAD,
        serious.filter_map(|finding| told(finding, "")).collect(),
    );
    section.unless_empty()
}

fn told(finding: &FindingChange, how: &str) -> Option<Bullet> {
    let latest = finding.latest()?;
    let of = words::subject(&finding.subject);
    let aside = Phrase::code(&finding.rule).and(how);
    Some(Bullet {
        of,
        aside,
        ..Bullet::marked(Mark::Level(latest.level, false), &*latest.title)
    })
}

/// What came and went and weighs less than a warning, in a line each.
fn lesser(difference: &Difference) -> Option<Section> {
    let light = || {
        difference
            .findings
            .iter()
            .filter(|finding| finding.level() < Level::Warning)
    };
    let lines = [
        (
            "New, lower level",
            light().filter(|f| f.is_worse()).collect::<Vec<_>>(),
        ),
        (
            "Gone, lower level",
            light().filter(|f| f.is_fixed()).collect(),
        ),
    ];
    let mut section = Section::part("");
    for (what, findings) in lines
        .into_iter()
        .filter(|(_, findings)| !findings.is_empty())
    {
        let ids = named(findings.iter().map(|finding| finding.rule.clone()));
        section.say(format!("{what}: {ids}"));
    }
    section.unless_empty()
}

/// What is gone, new, or under another name. Targets are named one by one, for somebody asked about
/// them.
fn things(difference: &Difference) -> Option<Section> {
    let is_target = |subject: &&Subject| subject.scope() == Scope::Target;
    let mut section = Section::part("");
    for target in difference.gone.iter().filter(is_target) {
        let says = " is gone: nothing of what the baseline said of it was looked at";
        section.say(Phrase::code(target.name()).and(says));
    }
    for target in difference.appeared.iter().filter(is_target) {
        section.say(Phrase::code(target.name()).and(" is new"));
    }
    let plain = |subjects: &[Subject]| {
        subjects
            .iter()
            .filter(|s| !is_target(s))
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    for (what, names) in [
        ("Gone", plain(&difference.gone)),
        ("New", plain(&difference.appeared)),
    ] {
        if !names.is_empty() {
            section.say(format!("{what}: {}", named(names.into_iter())));
        }
    }
    if !difference.renamed.is_empty() {
        let pairs = difference
            .renamed
            .iter()
            .map(|pair| format!("{} → {}", pair.before, pair.now.name()));
        section.say(format!("Renamed: {}", named(pairs)));
    }
    section.unless_empty()
}

/// What is still there, counted by level, and what limits the comparison.
fn same(difference: &Difference) -> Option<Section> {
    let applies = |f: &&FindingChange| f.now.as_ref().is_some_and(|now| now.applies);
    let still: Vec<Level> = difference
        .findings
        .iter()
        .filter(|finding| finding.class == Class::Same)
        .filter(applies)
        .map(FindingChange::level)
        .collect();
    let count = |level| still.iter().filter(|found| **found == level).count();
    let counts: Vec<String> = [Level::Critical, Level::Warning, Level::Advice]
        .into_iter()
        .filter(|level| count(*level) > 0)
        .map(|level| match level {
            Level::Warning => words::count(count(level), level.word()),
            _ => format!("{} {}", count(level), level.word()),
        })
        .collect();
    let mut section = Section::part("");
    if !counts.is_empty() {
        section.say(format!("Still there: {}", counts.join(", ")));
    }
    let remarks = difference
        .remarks
        .iter()
        .map(|one| Bullet::marked(Mark::Remark("note"), &**one));
    section.bullets(&[], remarks.collect());
    section.unless_empty()
}

#[cfg(test)]
mod tests {
    use crate::difference::{Kept, difference};
    use crate::{Report, sample, text};
    use walwise_model::facts::Source;
    use walwise_model::facts::Subject;
    use walwise_model::facts::catalog::{device, kernel};

    /// The report of [`sample::at_risk`] with rounds enough to compare, on a machine with this
    /// scheduler and kernel.
    fn report(scheduler: &str, release: &str, factor: f64) -> Report {
        let mut report = sample::at_risk();
        for name in ["sda", "sdb"] {
            let source = Source::file("/sys/block");
            report.facts.know(
                &Subject::device(name),
                &device::SCHEDULER,
                scheduler.to_owned(),
                source,
            );
        }
        report.facts.know(
            &Subject::host(),
            &kernel::RELEASE,
            release.to_owned(),
            Source::call("uname"),
        );
        let rows = report
            .probes
            .iter_mut()
            .flat_map(|probe| &mut probe.measurement.methods);
        for row in rows.filter_map(|row| row.paced.as_mut()) {
            row.rounds_us = vec![row.median_us.value * factor; 20];
            row.median_us.value *= factor;
        }
        report
            .probes
            .iter_mut()
            .for_each(|probe| probe.measurement.caveats.clear());
        report
    }

    /// What is told between the head and the targets.
    fn section(report: &Report) -> String {
        let text = text::render(report);
        let section = text.split_once("Since the baseline").unwrap().1;
        section.split_once("\nAT RISK").unwrap().0.to_owned()
    }

    #[test]
    fn a_slower_commit_after_an_upgrade() {
        let (before, mut now) = (
            report("none", "6.1.0-28-amd64", 0.5),
            report("bfq", "6.12.0-1-amd64", 1.0),
        );
        let mut before = Kept::from_report(&before);
        before
            .verdicts
            .values_mut()
            .for_each(|standing| *standing = walwise_judge::durability::Standing::Durable);
        before
            .findings
            .retain(|(rule, _), _| !rule.contains("nobarrier"));
        let mut after = Kept::from_report(&now);
        after.rules = now
            .findings
            .iter()
            .map(|finding| finding.rule.clone())
            .collect();
        before.rules = after.rules.clone();
        now.baseline = Some(difference(&before, &after));
        insta::assert_snapshot!(section(&now));
    }

    #[test]
    fn a_direction_is_said_once_and_only_where_it_is_judged() {
        let (before, mut now) = (
            report("none", "6.1.0-28-amd64", 4.0),
            report("none", "6.1.0-28-amd64", 1.0),
        );
        now.baseline = Some(difference(
            &Kept::from_report(&before),
            &Kept::from_report(&now),
        ));
        let told = section(&now);
        assert!(
            told.contains(" 75 % faster ") && !told.contains("-75 %"),
            "{told}"
        );
        assert!(told.contains("is 75 % faster (at least "), "{told}");
        for probe in &mut now.baseline.as_mut().unwrap().probes {
            probe.doubts.push("a test".to_owned());
        }
        let told = section(&now);
        assert!(
            told.contains("-75 %") && told.contains("not judged") && !told.contains("faster"),
            "{told}"
        );
    }

    #[test]
    fn nothing_different_is_said_in_a_line() {
        let mut now = report("none", "6.1.0-28-amd64", 1.0);
        now.baseline = Some(difference(
            &Kept::from_report(&now),
            &Kept::from_report(&now),
        ));
        let told = section(&now);
        assert!(
            told.contains("No lasting differences.") && told.contains("No significant change"),
            "{told}"
        );
        assert!(
            !told.contains("Changed") && !told.contains("note"),
            "{told}"
        );
    }
}
