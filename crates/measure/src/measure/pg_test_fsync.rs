//! The tests of `pg_test_fsync` 15 in the tool's order, and its layout of their results
//! (src/bin/pg_test_fsync/pg_test_fsync.c), so that scripts written for the tool keep working.

use super::{Method, WorkloadRow};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgTestFsyncTest {
    /// Label of the row in its section.
    pub(crate) label: &'static str,
    /// `None` for the two tests that reopen the file in every operation.
    pub(crate) method: Option<Method>,
    pub(crate) writes_per_operation: usize,
    pub(crate) bytes_per_write: usize,
}

const fn test(
    label: &'static str,
    method: Option<Method>,
    writes_per_operation: usize,
    bytes_per_write: usize,
) -> PgTestFsyncTest {
    PgTestFsyncTest {
        label,
        method,
        writes_per_operation,
        bytes_per_write,
    }
}

/// The open methods flush after each of `writes` writes, the others once.
const fn method_tests(writes: usize) -> [PgTestFsyncTest; 4] {
    [
        test(
            "open_datasync",
            Some(Method::OpenDatasyncDirect),
            writes,
            8192,
        ),
        test("fdatasync", Some(Method::Fdatasync), writes, 8192),
        test("fsync", Some(Method::Fsync), writes, 8192),
        test("open_sync", Some(Method::OpenSyncDirect), writes, 8192),
    ]
}

const fn size_test(label: &'static str, writes: usize) -> PgTestFsyncTest {
    test(label, Some(Method::OpenSyncDirect), writes, 16384 / writes)
}

pub struct PgTestFsyncSection {
    /// First part of the names of rows in walwise's own layout.
    name: &'static str,
    heading: &'static [&'static str],
    pub(crate) tests: &'static [PgTestFsyncTest],
}

const PREFERENCE_ORDER: &str =
    "(in wal_sync_method preference order, except fdatasync is Linux's default)";

pub(crate) const PG_TEST_FSYNC_SECTIONS: [PgTestFsyncSection; 5] = [
    PgTestFsyncSection {
        name: "one 8 kB write",
        heading: &[
            "Compare file sync methods using one 8kB write:",
            PREFERENCE_ORDER,
        ],
        tests: &method_tests(1),
    },
    PgTestFsyncSection {
        name: "two 8 kB writes",
        heading: &[
            "Compare file sync methods using two 8kB writes:",
            PREFERENCE_ORDER,
        ],
        tests: &method_tests(2),
    },
    PgTestFsyncSection {
        name: "16 kB in writes of different sizes",
        heading: &[
            "Compare open_sync with different write sizes:",
            "(This is designed to compare the cost of writing 16kB in different write",
            "open_sync sizes.)",
        ],
        tests: &[
            size_test(" 1 * 16kB open_sync write", 1),
            size_test(" 2 *  8kB open_sync writes", 2),
            size_test(" 4 *  4kB open_sync writes", 4),
            size_test(" 8 *  2kB open_sync writes", 8),
            size_test("16 *  1kB open_sync writes", 16),
        ],
    },
    PgTestFsyncSection {
        name: "fsync through another descriptor",
        heading: &[
            "Test if fsync on non-write file descriptor is honored:",
            "(If the times are similar, fsync() can sync data written on a different",
            "descriptor.)",
        ],
        tests: &[
            test("write, fsync, close", None, 1, 8192),
            test(PgTestFsyncTest::WRITE_CLOSE_FSYNC, None, 1, 8192),
        ],
    },
    PgTestFsyncSection {
        name: "8 kB without a flush",
        heading: &["Non-sync'ed 8kB writes:"],
        tests: &[test("write", Some(Method::Floor), 1, 8192)],
    },
];

impl PgTestFsyncSection {
    pub(crate) fn workload_row_name(&self, test: &PgTestFsyncTest) -> String {
        format!("{}: {}", self.name, test.label.trim_start())
    }
}

impl PgTestFsyncTest {
    /// The fsync goes through a descriptor that is opened after the writing descriptor is closed.
    pub(crate) const WRITE_CLOSE_FSYNC: &str = "write, close, fsync";
}

pub fn pg_test_fsync_test_count() -> usize {
    let tests = PG_TEST_FSYNC_SECTIONS.iter().map(|section| section.tests);
    tests.map(<[_]>::len).sum()
}

/// `rows` are in the order of [`PG_TEST_FSYNC_SECTIONS`], or empty; `seconds` is the time per test.
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
    let mut rows = rows.iter();
    for section in &PG_TEST_FSYNC_SECTIONS {
        if rows.len() == 0 {
            break;
        }
        lines.push(String::new());
        lines.extend(section.heading.iter().map(|line| (*line).to_owned()));
        let mut refused = false;
        for (test, row) in section.tests.iter().zip(&mut rows) {
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
        // pg_test_fsync prints the footnote only below the two sections that compare methods.
        if refused && section.heading.contains(&PREFERENCE_ORDER) {
            lines.push(
                "* This file system and its mount options do not support direct\n  I/O, e.g. ext4 in journaled mode."
                    .to_owned(),
            );
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::{RoundSamples, RowSamples, Workload, WorkloadResult};

    fn tests_with_names() -> impl Iterator<Item = (&'static PgTestFsyncTest, String)> {
        let of = |section: &'static PgTestFsyncSection| {
            section
                .tests
                .iter()
                .map(|test| (test, section.workload_row_name(test)))
        };
        const { &PG_TEST_FSYNC_SECTIONS }.iter().flat_map(of)
    }

    fn workload_rows(times_us: &[f64], refused: &[bool]) -> Vec<WorkloadRow> {
        let series = |(((_, name), us), refused): (((_, String), &f64), &bool)| {
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
                ..RowSamples::new(name, 8192)
            }
        };
        let series: Vec<RowSamples> = tests_with_names()
            .zip(times_us)
            .zip(refused)
            .map(series)
            .collect();
        WorkloadResult::new(Workload::PgTestFsync, &series, false).rows
    }

    #[test]
    fn layout_matches_pg_test_fsync_output() {
        // Output of `pg_test_fsync -s 1` of PostgreSQL 15 on a busy virtual machine.
        let theirs = include_str!("pg_test_fsync_15.txt");
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
            for ((test, _), row) in tests_with_names().zip(&rows) {
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
