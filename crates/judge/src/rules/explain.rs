use super::model::Condition;
use super::{ConditionTrace, Observation};
use crate::facts::catalog;
use crate::ternary::Ternary;
use crate::text::page_layout::TextPage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// Lines that connect the label with its parent in the tree: `│  ├─ `.
    pub branch: String,
    pub label: String,
    /// The subject of the fact, as `  (device sda)`; empty without a reading.
    pub subject: String,
    pub truth: Ternary,
    /// The value that was read, or the reason why the fact is unknown.
    pub reading: String,
    /// The source of the value, or the remedy for an unknown fact.
    pub source: String,
}

pub fn trace_rows(trace: &ConditionTrace) -> Vec<TraceRow> {
    let mut rows = Vec::new();
    collect_rows(trace, String::new(), "", &mut rows);
    rows
}

fn collect_rows(trace: &ConditionTrace, branch: String, stem: &str, rows: &mut Vec<TraceRow>) {
    let (reading, source) = trace
        .seen
        .as_ref()
        .map(reading_and_remedy_or_source_texts)
        .unwrap_or_default();
    let subject = trace.seen.as_ref();
    let subject = subject.map(|seen| format!("  ({})", seen.subject));
    rows.push(TraceRow {
        branch,
        label: trace.label.clone(),
        subject: subject.unwrap_or_default(),
        truth: trace.truth,
        reading,
        source,
    });
    for (index, kid) in trace.kids.iter().enumerate() {
        let last = index + 1 == trace.kids.len();
        let branch = format!("{stem}{}", if last { "└─ " } else { "├─ " });
        let stem = format!("{stem}{}", if last { "   " } else { "│  " });
        collect_rows(kid, branch, &stem, rows);
    }
}

fn reading_and_remedy_or_source_texts(seen: &Observation) -> (String, String) {
    catalog::value_and_source_or_unknown_reason(seen.fact, &seen.reading).unwrap_or_else(
        |(why, remedy)| {
            let remedy = remedy.map(|remedy| format!("→ {remedy}"));
            (why, remedy.unwrap_or_default())
        },
    )
}

/// Tests that decide the result of a condition, with their readings: `device.size at least 300 MiB
/// (128 MiB)`. For an undecided condition, these are the unknown tests.
pub fn deciding_test_texts(trace: &ConditionTrace) -> Vec<String> {
    let mut all = Vec::new();
    collect_deciding_test_texts(trace, trace.truth, &mut all);
    all
}

fn collect_deciding_test_texts(trace: &ConditionTrace, truth: Ternary, all: &mut Vec<String>) {
    if trace.truth != truth {
        return;
    }
    match &trace.seen {
        Some(seen) => all.push(format!(
            "{} ({})",
            trace.label,
            reading_and_remedy_or_source_texts(seen).0
        )),
        None => trace
            .kids
            .iter()
            .for_each(|kid| collect_deciding_test_texts(kid, truth, all)),
    }
}

pub fn write_trace(page: &mut TextPage, indent: usize, trace: &ConditionTrace) {
    let cells = |row: TraceRow| {
        vec![
            row.branch + &row.label,
            row.truth.as_str().to_owned(),
            row.reading,
            row.source,
        ]
    };
    page.append_table(
        indent,
        &trace_rows(trace).into_iter().map(cells).collect::<Vec<_>>(),
        &[],
    );
}

pub fn condition_tree_lines(cond: &Condition) -> Vec<String> {
    let rows = trace_rows(&trace_without_readings(cond));
    rows.into_iter()
        .map(|row| row.branch + &row.label)
        .collect()
}

fn trace_without_readings(cond: &Condition) -> ConditionTrace {
    ConditionTrace {
        label: cond.node_label(),
        truth: Ternary::Unknown,
        seen: None,
        kids: cond.children().iter().map(trace_without_readings).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Reading;
    use crate::facts::catalog::{device, kernel, mount, probe};
    use crate::facts::{FactSet, Remedy, Source, Subject};
    use crate::rules::{EvaluationOptions, evaluate_rule, tests};
    use crate::version::Version;

    #[test]
    fn trace_prints_as_tree_with_readings() {
        let (target, top) = (Subject::target("/db"), Subject::mount("/db"));
        let mut facts = FactSet::default();
        facts.set_fact_link(&target, &top);
        facts.add_layer_below(&target, &top);
        facts.insert_known(
            &top,
            &mount::FSTYPE,
            "ext4".to_owned(),
            Source::from_file_line("/proc/self/mountinfo", 31),
        );
        facts.insert_known(
            &top,
            &mount::CLASS,
            mount::MountClass::Block,
            Source::from_file_line("/proc/self/mountinfo", 31),
        );
        let kernel = Version::parse("6.1.0-28-amd64").unwrap();
        facts.insert_known(
            &Subject::host(),
            &kernel::VERSION,
            kernel,
            Source::from_system_call("uname"),
        );
        facts.insert_known(
            &target,
            &probe::FLUSH_COST,
            1820.0,
            Source::Probe {
                id: "fsync".to_owned(),
            },
        );
        for (disk, cache) in [
            ("sda", Some(device::CacheVolatility::Protected)),
            ("sdb", None),
        ] {
            facts.add_layer_below(&top, &Subject::device(disk));
            let help = Remedy::Install("storcli64".to_owned());
            let unknown = Reading::absent("running storcli64").with_remedy(help);
            let known = |cache| Reading::known(cache, Source::derived_from(["controller.battery"]));
            facts.insert(
                &Subject::device(disk),
                &device::CACHE,
                cache.map_or(unknown, known),
            );
        }
        let rules = tests::good_rule_set();
        let rule = rules.find("mount.barrier-option").unwrap();
        let finding = evaluate_rule(
            rule,
            &facts,
            &target,
            EvaluationOptions {
                live: true,
                traced: true,
            },
        );
        let mut page = TextPage::default();
        page.append_verbatim_line(0, &condition_tree_lines(&rule.when).join("\n"));
        page.ensure_blank_line();
        let trace = finding.trace.as_ref().unwrap();
        write_trace(&mut page, 0, trace);
        insta::assert_snapshot!(page.into_text());
        let unknown = deciding_test_texts(trace);
        assert_eq!(
            unknown[0],
            "device.cache is protected (not available: running storcli64)"
        );
    }
}
