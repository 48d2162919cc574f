//! A trace as text: the tree of conditions, each with its result, its reading and its source.
//!
//! This module draws and does not print; the command line and the screens show the same lines.

use super::model::Cond;
use super::{Seen, Trace};
use crate::facts::{Reading, catalog};
use crate::text::page::TextBuilder;
use crate::truth::Truth;

/// One condition of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceCondition {
    /// The branches before it: `│  ├─ `.
    pub branch: String,
    /// The condition in words.
    pub label: String,
    pub truth: Truth,
    /// The reading, or why there is none.
    pub seen: String,
    /// The source, or the remedy.
    pub from: String,
}

/// The conditions of a trace, each with its result.
pub fn rows(trace: &Trace) -> Vec<TraceCondition> {
    let mut rows = Vec::new();
    add(trace, String::new(), "", &mut rows);
    rows
}

fn add(trace: &Trace, branch: String, stem: &str, rows: &mut Vec<TraceCondition>) {
    let (seen, from) = trace.seen.as_ref().map(told).unwrap_or_default();
    rows.push(TraceCondition {
        branch,
        label: trace.label.clone(),
        truth: trace.truth,
        seen,
        from,
    });
    for (index, kid) in trace.kids.iter().enumerate() {
        let last = index + 1 == trace.kids.len();
        let branch = format!("{stem}{}", if last { "└─ " } else { "├─ " });
        let stem = format!("{stem}{}", if last { "   " } else { "│  " });
        add(kid, branch, &stem, rows);
    }
}

fn told(seen: &Seen) -> (String, String) {
    match &*seen.reading {
        Reading::Known { value, source } => (catalog::show(seen.fact, value), source.to_string()),
        Reading::Unknown {
            why,
            detail,
            remedy,
        } => {
            let why = if detail.is_empty() {
                why.to_string()
            } else {
                format!("{why}: {detail}")
            };
            (
                why,
                remedy
                    .as_ref()
                    .map(|remedy| format!("→ {remedy}"))
                    .unwrap_or_default(),
            )
        }
    }
}

/// The tests of a condition that does not hold on which that depends, each with what was seen:
/// `device.size at least 300 MiB (128 MiB)`. Of an undecided condition those that are unknown.
pub fn against(trace: &Trace) -> Vec<String> {
    let mut all = Vec::new();
    gather(trace, trace.truth, &mut all);
    all
}

fn gather(trace: &Trace, truth: Truth, all: &mut Vec<String>) {
    if trace.truth != truth {
        return;
    }
    match &trace.seen {
        Some(seen) => all.push(format!("{} ({})", trace.label, told(seen).0)),
        None => trace.kids.iter().for_each(|kid| gather(kid, truth, all)),
    }
}

/// The same as lines of a page.
pub fn lines(page: &mut TextBuilder, indent: usize, trace: &Trace) {
    let cells = |row: TraceCondition| {
        vec![
            row.branch + &row.label,
            row.truth.word().to_owned(),
            row.seen,
            row.from,
        ]
    };
    page.table(
        indent,
        &rows(trace).into_iter().map(cells).collect::<Vec<_>>(),
        &[],
    );
}

/// A condition as a tree of words, independent of facts.
pub fn condition(cond: &Cond) -> Vec<String> {
    let rows = rows(&unseen(cond));
    rows.into_iter()
        .map(|row| row.branch + &row.label)
        .collect()
}

fn unseen(cond: &Cond) -> Trace {
    let kids: Vec<Trace> = match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().map(unseen).collect(),
        Cond::Not(cond) | Cond::Every(_, cond) | Cond::Some(_, cond) => vec![unseen(cond)],
        Cond::Fact(_) => Vec::new(),
    };
    Trace {
        label: cond.label(),
        truth: Truth::Unknown,
        seen: None,
        kids,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::{device, kernel, mount, probe};
    use crate::facts::{FactSet, Remedy, Source, Subject, Why};
    use crate::rules::{Circumstances, evaluate_one, tests};
    use crate::version::Version;

    #[test]
    fn a_trace_reads_as_a_tree_with_what_was_seen() {
        let (target, top) = (Subject::target("/db"), Subject::mount("/db"));
        let mut facts = FactSet::default();
        facts.link(&target, &top);
        facts.stand(&target, &top);
        facts.know(
            &top,
            &mount::FSTYPE,
            "ext4".to_owned(),
            Source::line("/proc/self/mountinfo", 31),
        );
        facts.know(
            &top,
            &mount::CLASS,
            mount::MountClass::Block,
            Source::line("/proc/self/mountinfo", 31),
        );
        let kernel = Version::parse("6.1.0-28-amd64").unwrap();
        facts.know(
            &Subject::host(),
            &kernel::VERSION,
            kernel,
            Source::call("uname"),
        );
        facts.know(
            &target,
            &probe::FLUSH_COST,
            1820.0,
            Source::Probe {
                id: "fsync".to_owned(),
            },
        );
        for (disk, cache) in [("sda", Some(device::Cache::Protected)), ("sdb", None)] {
            facts.stand(&top, &Subject::device(disk));
            let help = Remedy::Install("storcli64".to_owned());
            let unknown = Reading::unknown(Why::Absent, "running storcli64").or_try(help);
            let known = |cache| Reading::known(cache, Source::derived(["controller.battery"]));
            facts.put(
                &Subject::device(disk),
                &device::CACHE,
                cache.map_or(unknown, known),
            );
        }
        let rules = tests::good();
        let rule = rules.find("mount.barrier-option").unwrap();
        let finding = evaluate_one(
            rule,
            &facts,
            &target,
            Circumstances {
                live: true,
                traced: true,
            },
        );
        let mut page = TextBuilder::default();
        page.verbatim(0, &condition(&rule.when).join("\n"));
        page.gap();
        let trace = finding.trace.as_ref().unwrap();
        lines(&mut page, 0, trace);
        insta::assert_snapshot!(page.finish());
        let unknown = against(trace);
        assert_eq!(
            unknown[0],
            "device.cache is protected (absent: running storcli64)"
        );
    }
}
