//! Prints figures in the layout of `pg_test_fsync` 15 (src/bin/pg_test_fsync/pg_test_fsync.c), so
//! that scripts written for the tool keep working.

use super::{PG_TEST_FSYNC_CASES, PgTestFsyncSection, WorkloadRow};

const PREFERENCE_ORDER: &str =
    "(in wal_sync_method preference order, except fdatasync is Linux's default)";

fn heading_lines(group: PgTestFsyncSection) -> &'static [&'static str] {
    match group {
        PgTestFsyncSection::OneWrite => &[
            "Compare file sync methods using one 8kB write:",
            PREFERENCE_ORDER,
        ],
        PgTestFsyncSection::TwoWrites => &[
            "Compare file sync methods using two 8kB writes:",
            PREFERENCE_ORDER,
        ],
        PgTestFsyncSection::Sizes => &[
            "Compare open_sync with different write sizes:",
            "(This is designed to compare the cost of writing 16kB in different write",
            "open_sync sizes.)",
        ],
        PgTestFsyncSection::OtherDescriptor => &[
            "Test if fsync on non-write file descriptor is honored:",
            "(If the times are similar, fsync() can sync data written on a different",
            "descriptor.)",
        ],
        PgTestFsyncSection::NotSynced => &["Non-sync'ed 8kB writes:"],
    }
}

/// `rows` are in the order of [`PG_TEST_FSYNC_CASES`]; `seconds` is the time per test.
pub fn format_like_pg_test_fsync(rows: &[WorkloadRow], seconds: f64) -> String {
    let unit = if (seconds - 1.0).abs() < 1e-9 {
        "second"
    } else {
        "seconds"
    };
    let mut lines = vec![
        format!("{seconds} {unit} per test"),
        "O_DIRECT supported on this platform for open_datasync and open_sync.".to_owned(),
    ];
    let (mut last, mut refused) = (None, false);
    for (test, row) in PG_TEST_FSYNC_CASES.iter().zip(rows) {
        let group = test.section;
        if last != Some(group) {
            lines.extend(o_direct_footnote_lines(refused, last));
            lines.push(String::new());
            lines.extend(heading_lines(group).iter().map(|line| (*line).to_owned()));
            (last, refused) = (Some(group), false);
        }
        if test.label == "open_sync" {
            lines.push(format!("        {:<30}{:>21}", "fsync_writethrough", "n/a"));
        }
        refused |= row.error.is_some();
        let label = test.label;
        lines.push(if row.samples > 0 && row.mean_us > 0.0 {
            format!(
                "        {label:<30}{:>13.3} ops/sec  {:>6.0} usecs/op",
                1e6 / row.mean_us,
                row.mean_us
            )
        } else {
            format!("        {label:<30}{:>21}", "n/a*")
        });
    }
    lines.join("\n") + "\n"
}

/// The footnote about refused O_DIRECT, which `pg_test_fsync` prints only below the two sections
/// that compare methods.
fn o_direct_footnote_lines(refused: bool, group: Option<PgTestFsyncSection>) -> Vec<String> {
    let says = refused
        && matches!(
            group,
            Some(PgTestFsyncSection::OneWrite | PgTestFsyncSection::TwoWrites)
        );
    let lines = [
        "* This file system and its mount options do not support direct",
        "  I/O, e.g. ext4 in journaled mode.",
    ];
    if says {
        lines.map(str::to_owned).to_vec()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::{PgTestFsyncTest, RoundSamples, RowSamples, Workload, WorkloadResult};

    fn workload_rows(times_us: &[f64], refused: &[bool]) -> Vec<WorkloadRow> {
        let series = |((test, us), refused): ((&PgTestFsyncTest, &f64), &bool)| {
            let pass = RoundSamples {
                times_us: vec![*us; 3],
                seconds: 1.0,
                ..RoundSamples::default()
            };
            let error = refused.then(|| "refused".to_owned());
            let rounds = if *refused { Vec::new() } else { vec![pass] };
            RowSamples {
                rounds,
                error,
                ..RowSamples::new(test.row_name(), 8192)
            }
        };
        let series: Vec<RowSamples> = PG_TEST_FSYNC_CASES
            .iter()
            .zip(times_us)
            .zip(refused)
            .map(series)
            .collect();
        WorkloadResult::new(Workload::PgTestFsync, &series, false).rows
    }

    #[test]
    fn layout_matches_pg_test_fsync_output() {
        // Output of `pg_test_fsync -s 1` of PostgreSQL 15 on a busy virtual machine.
        let theirs = include_str!("pg_test_fsync_layout.txt");
        let ours = format_like_pg_test_fsync(&workload_rows(&[100.0; 16], &[false; 16]), 1.0);
        let shape = |text: &str| -> Vec<String> {
            let without = |line: &str| match line.split_once(" ops/sec") {
                Some((before, after)) => {
                    let label = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
                    let width = (before.len(), after.len());
                    format!("{} {width:?}", label.trim_end())
                }
                None => line.to_owned(),
            };
            text.lines().map(without).collect()
        };
        assert_eq!(shape(&ours), shape(theirs));
    }

    proptest! {
        #[test]
        fn rates_and_refusals_can_be_read_from_the_layout(
            times in proptest::collection::vec(1.0..1e6f64, 16),
            refused in proptest::collection::vec(any::<bool>(), 16),
        ) {
            let rows = workload_rows(&times, &refused);
            let text = format_like_pg_test_fsync(&rows, 2.0);
            prop_assert!(text.starts_with("2 seconds per test\n"));
            let mut lines = text.lines();
            for (test, row) in PG_TEST_FSYNC_CASES.iter().zip(&rows) {
                let line = lines.find_map(|line| line.trim_start().strip_prefix(test.label.trim_start())).unwrap();
                match line.split_once(" ops/sec") {
                    Some((rate, _)) => {
                        let rate: f64 = rate.trim().parse().unwrap();
                        prop_assert!((rate - 1e6 / row.mean_us).abs() < 1e-3);
                    }
                    None => prop_assert!(row.error.is_some() && line.trim() == "n/a*"),
                }
            }
        }
    }
}
