//! The dashboard of recorded hosts at four sizes: no repeated sentence, the path equals the
//! report's path, and reviewed snapshots.

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::text::is_display_unsafe;
use walwise_report::Report;
use walwise_report::view::flush_path::verdict_cause_text;
use walwise_sys::host::RecordedHost;

use crate::support::recorded::{SITUATIONS, recorded_host_file, screen_texts};

const SIZES: [(u16, u16); 4] = [(80, 24), (100, 30), (140, 45), (200, 60)];

const ABOVE: usize = 3;
const BELOW: usize = 2;

fn report_of_recorded_host(host: &str, target: Option<&str>) -> Report {
    let host = RecordedHost::parse(&std::fs::read(recorded_host_file(host)).unwrap()).unwrap();
    let request = Request {
        target: target.map(Into::into),
        ..Request::default()
    };
    Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| ()).build_report()
}

fn dashboard_rows(report: &Report, size: (u16, u16), ascii: bool) -> Vec<String> {
    let all = screen_texts(report.clone(), size, ascii);
    all.into_iter()
        .find(|(name, _)| *name == "Overview")
        .unwrap()
        .1
}

fn rows_without_frame(rows: &[String]) -> &[String] {
    &rows[ABOVE..rows.len() - BELOW]
}

/// The rows without the pane, which repeats the title of the selected row.
fn rows_without_details(rows: &[String]) -> Vec<String> {
    let rows = rows_without_frame(rows).iter();
    let edge = rows.clone().find_map(|row| {
        let (left, _) = row.split_once("│─ Details")?;
        Some(left.chars().count())
    });
    rows.take_while(|row| !row.starts_with("─ Details"))
        .map(|row| row.chars().take(edge.unwrap_or(usize::MAX)).collect())
        .collect()
}

#[test]
fn at_most_a_quarter_of_the_rows_is_left_below_the_content() {
    let mut empty = Vec::new();
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        for size in SIZES {
            let rows = dashboard_rows(&report, size, false);
            let blank = rows_without_frame(&rows)
                .iter()
                .rev()
                .take_while(|row| row.trim_matches([' ', '│']).is_empty())
                .count();
            if blank * 4 > rows_without_frame(&rows).len() {
                empty.push(format!(
                    "{situation} {size:?}: {blank} of {}\n{}",
                    rows_without_frame(&rows).len(),
                    rows.join("\n")
                ));
            }
        }
    }
    assert!(empty.is_empty(), "{}", empty.join("\n\n"));
}

/// Reasons of unknown facts may repeat, and so may text of fewer than five words.
#[test]
fn dashboard_repeats_no_sentence() {
    let mut twice = Vec::new();
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        for size in SIZES {
            let rows = dashboard_rows(&report, size, false);
            let mut seen = std::collections::BTreeSet::new();
            let list = rows_without_details(&rows);
            let known = list.iter().take_while(|row| !row.contains("Unknown"));
            for part in known.flat_map(|row| row.split("  ")).map(str::trim) {
                if part.split(' ').count() >= 5 && !seen.insert(part) {
                    twice.push(format!("{situation} {size:?}: {part}\n{}", rows.join("\n")));
                }
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n\n"));
}

const SIMPLY_PASSED: [&str; 3] = ["passed", "flush sent", "no cache"];

fn flush_path_text(rows: &[String]) -> Option<String> {
    let from = rows
        .iter()
        .position(|row| row.trim_start().starts_with("Path "))?;
    let rest = rows
        .iter()
        .skip(from + 1)
        .take_while(|row| row.starts_with("      "));
    Some(
        rows.iter()
            .skip(from)
            .take(1)
            .chain(rest)
            .map(|row| row.trim())
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[test]
fn fix_first_is_visible_at_every_size() {
    let mut hidden = Vec::new();
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        for size in SIZES {
            let rows = dashboard_rows(&report, size, false);
            let at = rows_without_frame(&rows)
                .iter()
                .position(|row| row.contains("Fix first"));
            if !report.verdicts.is_empty()
                && at.is_none_or(|at| at + 1 >= rows_without_frame(&rows).len())
            {
                hidden.push(format!("{situation} {size:?}\n{}", rows.join("\n")));
            }
        }
    }
    assert!(hidden.is_empty(), "{}", hidden.join("\n\n"));
}

#[test]
fn verdict_row_contains_its_cause() {
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        let [verdict] = &report.verdicts[..] else {
            continue;
        };
        let cause = verdict_cause_text(verdict);
        assert!(!cause.is_empty(), "{situation}");
        for size in SIZES {
            let rows = dashboard_rows(&report, size, false);
            let says = format!(
                "{}  {cause}",
                verdict.heading_with_exceptions().to_uppercase()
            );
            assert!(
                rows[ABOVE].to_uppercase().contains(&says.to_uppercase()),
                "{situation} {size:?} {says}\n{}",
                rows.join("\n")
            );
        }
    }
}

#[test]
fn flush_path_equals_that_of_the_report() {
    const FATES: [(&str, &str); 9] = [
        ("* ", "passed"),
        ("* ", "flush sent"),
        ("@ ", "answered"),
        ("o ", "no cache"),
        ("? ", "unknown"),
        ("? ", "unseen"),
        ("# ", "DISAGREES"),
        ("X ", "DROPPED"),
        ("! ", "LOST HERE"),
    ];
    let mut read = 0;
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        let [verdict] = &report.verdicts[..] else {
            continue;
        };
        for size in SIZES {
            let rows = dashboard_rows(&report, size, true);
            assert!(rows.concat().is_ascii(), "{situation} {size:?}");
            for hop in &verdict.flush_path {
                let word = hop.state.to_string();
                let Some((mark, _)) = FATES.iter().find(|(_, fate)| *fate == word) else {
                    continue;
                };
                let name: String = hop.name.chars().take(8).collect();
                let is_it = |row: &&String| {
                    row.contains(&format!("{mark}{name}")) && row.contains(&format!(" {word}"))
                };
                let in_a_line = flush_path_text(&rows).is_some_and(|line| {
                    line.contains(&name)
                        && (SIMPLY_PASSED.contains(&word.as_str()) || line.contains(&word))
                });
                assert!(
                    in_a_line || rows.iter().any(|row| is_it(&row)),
                    "{situation} {size:?}: {mark}{name} {word}\n{}",
                    rows.join("\n")
                );
                read += 1;
            }
        }
    }
    assert!(read > 60, "{read}");
}

#[test]
fn every_screen_of_every_situation_is_drawn() {
    for (_, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        for size in [
            (60, 15),
            (80, 24),
            (95, 60),
            (100, 30),
            (131, 38),
            (140, 45),
            (200, 60),
        ] {
            for (name, rows) in screen_texts(report.clone(), size, false) {
                assert!(rows.last().unwrap().contains("q quit"), "{name} {size:?}");
                assert!(
                    !rows.concat().chars().any(is_display_unsafe),
                    "{name} {size:?}: {rows:#?}"
                );
                let tabs = rows[1].contains("6 Export") || size.0 < 80;
                assert!(tabs, "{size:?}: {}", rows[1]);
            }
        }
    }
}

#[test]
fn dashboards_match_snapshots_at_four_sizes() {
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        let drawn = SIZES.map(|size| {
            let rows = dashboard_rows(&report, size, false);
            format!("{} x {}\n{}", size.0, size.1, rows.join("\n"))
        });
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("dashboard-{situation}"), drawn.join("\n\n"));
        });
    }
}
