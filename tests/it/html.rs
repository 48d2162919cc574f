//! Checks the HTML report with other parsers and a browser. No script runs, nothing is loaded, the
//! embedded report is intact, hostile names stay text, and every finding is readable.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::{Outcome, RuleSet};
use walwise_measure::drill::StackFacts;
use walwise_measure::trial::TrialRecord;
use walwise_model::facts::Subject;
use walwise_report::{Format, Report, SavedReport, html, json};
use walwise_sys::host::RecordedHost;
use walwise_testkit::collapse_whitespace;

use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::{SITUATIONS, recorded_host_file, recorded_host_files};
use crate::support::{run, stderr, stdout, walwise};

fn report_of_recorded_host(host: &str, target: Option<&str>) -> Report {
    let host = RecordedHost::parse(&fs::read(recorded_host_file(host)).unwrap()).unwrap();
    let request = Request {
        target: target.map(Into::into),
        ..Request::default()
    };
    Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| ()).build_report()
}

fn render_page(report: &Report) -> String {
    Format::Html.render(report).unwrap()
}

fn write_page(directory: &Path, page: &str) -> PathBuf {
    let file = directory.join("report.html");
    fs::write(&file, page).unwrap();
    file
}

fn parse_page(page: &str) -> Value {
    let place = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/html/parse.py");
    let file = write_page(place.path(), page);
    serde_json::from_str(&run(
        "/usr/bin/python3",
        &[script.to_str().unwrap(), file.to_str().unwrap()],
    ))
    .unwrap()
}

/// Limit on a page's size per target, in bytes, without the embedded report.
const MOST: usize = 100_000;

fn size_without_report(page: &str) -> usize {
    let (before, inside) = page
        .split_once("<script type=\"application/json\"")
        .unwrap();
    let (_, behind) = inside.split_once("</script>").unwrap();
    before.len() + behind.len()
}

#[test]
#[ignore = "needs python3-html5lib"]
fn the_page_of_a_trial_runs_nothing_and_holds_its_record() {
    let record =
        crate::trial_records::decisive_trial_record(["ext4", "xfs"], &StackFacts::default());
    let page = html::trial::render_trial_page(&record);
    let found = parse_page(&page);
    assert_page_is_inert(&found);
    let [inside] = found["inside"].as_array().unwrap().as_slice() else {
        panic!("one record")
    };
    assert_eq!(
        TrialRecord::parse(inside.as_str().unwrap()).unwrap(),
        record
    );
    assert!(
        size_without_report(&page) <= MOST,
        "{} bytes beside the record",
        size_without_report(&page)
    );
}

/// A host with a measurement has the most charts.
#[test]
fn the_page_of_a_measured_host_is_small() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/report.html"))
        .unwrap();
    assert!(page.matches("<figure>").count() >= 4);
    assert!(
        size_without_report(&page) <= MOST,
        "{} bytes beside the report",
        size_without_report(&page)
    );
}

/// Compares the fastest of several alternating runs, so that load on the host does not matter. The
/// page may take a small multiple of the JSON's time.
#[test]
fn a_page_is_made_about_as_fast_as_its_json() {
    let timed = |make: &dyn Fn() -> String| {
        let begun = Instant::now();
        assert!(!make().is_empty());
        begun.elapsed().as_secs_f64() * 1e3
    };
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        let (mut fastest_page, mut fastest_json) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..10 {
            fastest_page = fastest_page.min(timed(&|| render_page(&report)));
            fastest_json = fastest_json.min(timed(&|| json::render_report(&report)));
        }
        eprintln!("{situation}: page {fastest_page:.1} ms, JSON {fastest_json:.1} ms");
        assert!(
            fastest_page <= 12.0 * fastest_json,
            "{situation}: {fastest_page} ms, JSON {fastest_json} ms"
        );
    }
}

fn assert_page_is_inert(found: &Value) {
    for what in ["scripts", "asked", "handlers", "nameless"] {
        assert_eq!(found[what], serde_json::json!([]), "{what}");
    }
    assert_eq!(
        found["policy"],
        serde_json::json!(["default-src 'none'; style-src 'unsafe-inline'; img-src data:"])
    );
    let style = found["style"].as_str().unwrap();
    assert!(
        !style.contains("url(") && !style.contains("@import"),
        "{style}"
    );
}

#[test]
#[ignore = "needs python3-html5lib"]
fn page_is_inert_and_embeds_the_exact_report() {
    for (situation, host, target) in SITUATIONS {
        let report = report_of_recorded_host(host, target);
        let page = render_page(&report);
        let found = parse_page(&page);
        assert_page_is_inert(&found);
        let [inside] = found["inside"].as_array().unwrap().as_slice() else {
            panic!("{situation}")
        };
        let inside: Value = serde_json::from_str(inside.as_str().unwrap()).unwrap();
        let plain: Value = serde_json::from_str(&json::render_report(&report)).unwrap();
        assert!(inside == plain, "{situation}");
        let headings: Vec<u64> = found["headings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|level| level.as_u64().unwrap())
            .collect();
        assert_eq!(
            headings.iter().filter(|level| **level == 1).count(),
            1,
            "{situation}"
        );
        assert!(
            headings.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{situation}: {headings:?}"
        );
        let most = MOST * report.targets.len().max(1);
        assert!(
            size_without_report(&page) <= most,
            "{situation}: {} bytes beside the report",
            size_without_report(&page)
        );
    }
}

#[test]
#[ignore = "needs python3-html5lib"]
fn two_hundred_hostile_names_stay_text() {
    let shapes = [
        "</script><svg onload=alert({})>",
        "<img src=x{} onerror=alert(1)>",
        "\"><a href=javascript:alert({})>",
        "' onmouseover='x{}",
        "<!--{}",
        "]]><style>*{{}}</style>{}",
        "\u{202e}gnp.{}\u{2066}",
        "&lt;script&gt;{}&lt;/script&gt;",
        "</title></style></template><base href=//e{}.example>",
        "{}\u{0}\u{1b}]0;x\u{7}\r\n<meta http-equiv=refresh content=0>",
    ];
    let long = "</pre><script>".repeat(750);
    let mut report = report_of_recorded_host("loop-over-nobarrier", Some("/data"));
    let clean = parse_page(&render_page(&report));
    let names: Vec<String> = (0..200)
        .map(|number| match number % 20 {
            19 => format!("{long}{number}"),
            at => shapes[at % shapes.len()].replace("{}", &number.to_string()),
        })
        .collect();
    let mut names = names.iter().cycle().cloned();
    let mut next = || names.next().unwrap();
    for _ in 0..8 {
        (report.host.name, report.host.os, report.host.kernel) = (next(), next(), next());
        for target in &mut report.targets {
            (target.title, target.rank_because) = (next(), next());
        }
        for finding in &mut report.findings {
            (finding.title, finding.because) = (next(), next().into());
            finding.subject = Subject::mount(next());
        }
        for stack in &mut report.stacks {
            for layer in &mut stack.layers {
                (layer.says, layer.subject) = (next(), Subject::device(next()));
            }
        }
        for verdict in &mut report.verdicts {
            (verdict.sentence, verdict.limits) = (next(), next());
            for hop in &mut verdict.flush_path {
                (hop.name, hop.text, hop.because, hop.source) = (next(), next(), next(), next());
            }
        }
        for step in report.plans.iter_mut().flat_map(|plan| &mut plan.steps) {
            (step.title, step.result) = (next(), Some(next()));
        }
        let found = parse_page(&render_page(&report));
        assert_page_is_inert(&found);
        let elements = |found: &Value| {
            let mut all: Vec<String> = found["elements"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap().to_owned())
                .collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(elements(&found), elements(&clean));
        let ids = found["ids"].as_array().unwrap();
        let mut places: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), ids.len());
        let kept = SavedReport::from_reader(render_page(&report).as_bytes()).unwrap();
        assert_page_is_inert(&parse_page(&kept.to_html()));
    }
}

#[test]
#[ignore = "needs w3m"]
fn a_browser_without_pictures_shows_every_finding() {
    let place = tempfile::tempdir().unwrap();
    let all = recorded_host_files();
    let all = all
        .iter()
        .map(|file| (file.file_stem().unwrap().to_str().unwrap(), None));
    for (situation, target) in SITUATIONS
        .map(|(_, host, target)| (host, target))
        .into_iter()
        .chain(all)
    {
        let report = report_of_recorded_host(situation, target);
        let file = write_page(place.path(), &render_page(&report));
        let dump = run(
            "w3m",
            &[
                "-dump",
                "-cols",
                "400",
                "-T",
                "text/html",
                "-I",
                "UTF-8",
                "-O",
                "UTF-8",
                file.to_str().unwrap(),
            ],
        );
        let dump = collapse_whitespace(&dump);
        for finding in report
            .findings
            .iter()
            .filter(|finding| finding.outcome != Outcome::DoesNotApply)
        {
            assert!(
                dump.contains(&collapse_whitespace(&finding.title)),
                "{situation}: {}\n{dump}",
                finding.title
            );
            assert!(
                dump.contains(&*finding.rule),
                "{situation}: {}",
                finding.rule
            );
        }
        for verdict in &report.verdicts {
            // A browser may break a line within a path.
            let without_spaces = |text: &str| text.replace(char::is_whitespace, "");
            assert!(
                without_spaces(&dump).contains(&without_spaces(&verdict.sentence)),
                "{situation}: {}",
                verdict.sentence
            );
        }
        for verdict in &report.verdicts {
            let title = "Path of a commit";
            assert!(
                verdict.flush_path.is_empty() || dump.contains(title),
                "{situation}"
            );
        }
        assert!(
            !dump.contains("\"schema\"") && !dump.contains("CDATA"),
            "neither data nor pictures are shown"
        );
    }
}

#[test]
fn show_reads_the_report_from_its_html_page() {
    let place = tempfile::tempdir().unwrap();
    let host = recorded_host_file("loop-over-nobarrier");
    let of_host = |arguments: &[&str]| {
        let output = walwise()
            .args(arguments)
            .args(["--fail-on", "never", "--host"])
            .arg(&host)
            .output_in_time();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let page = write_page(
        place.path(),
        &of_host(&["check", "/data", "--format", "html"]),
    );
    let show = |arguments: &[&str]| {
        let output = walwise()
            .arg("show")
            .arg(&page)
            .args(arguments)
            .output_in_time();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let shown: Value = serde_json::from_str(&show(&["--format", "json"])).unwrap();
    let mut plain: Value =
        serde_json::from_str(&of_host(&["check", "/data", "-v", "--format", "json"])).unwrap();
    plain["when"] = shown["when"].clone();
    assert!(shown == plain);
    assert!(show(&[]).contains("AT RISK: "), "{}", show(&[]));
    let compared = of_host(&[
        "check",
        "/data",
        "-v",
        "--format",
        "json",
        "--baseline",
        page.to_str().unwrap(),
    ]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["baseline"]["facts"], serde_json::json!([]));
    assert_eq!(compared["baseline"]["remarks"], serde_json::json!([]));
    let other = write_page(place.path(), "<html><script>{}</script>");
    let output = walwise().arg("show").arg(other).output_in_time();
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("not a walwise report"),
        "{}",
        stderr(&output)
    );
}
