//! Work that fails or panics while the screens are open: the screens stay, report the failure, and
//! leave nothing on disk.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use walwise::session::Session;
use walwise::tui::{self, ExitReason, Job, JobProgress, JobResult, ScreenOptions, Worker};
use walwise_collect as collect;
use walwise_judge::rules::RuleSet;
use walwise_measure::measure::ProbePhase;
use walwise_measure::probes::{self, CancelHandle, ProbeRequest};
use walwise_report::Report;
use walwise_sys::host::LiveHost;

use super::{data_directory, directory_in_memory, path_str};
use crate::support::deadline::CommandInTime as _;
use crate::support::pty::Pty;

#[test]
fn failed_read_keeps_the_screens_and_last_report() {
    let place = data_directory();
    let capture = place.path().join("db.host");
    let captured = Command::new(crate::support::programs::walwise_path())
        .arg("capture")
        .output_in_time();
    fs::write(&capture, captured.stdout).unwrap();
    let mut pty = Pty::start_walwise(&["--host", capture.to_str().unwrap()]);
    pty.wait_for_text("1 Overview");
    pty.wait_for_text_gone("reading");
    fs::remove_file(&capture).unwrap();
    pty.press("r");
    pty.wait_for_text("reading the host failed");
    pty.press("p");
    pty.wait_for_text("Unavailable");
    pty.press("q");
    pty.assert_ends_clean(0);
}

const DIRECTORY: &str = "WALWISE_TEST_PANICS_IN";

/// Reads the host once without fault, and panics in the middle of every later read, every probe,
/// and any other request.
struct PanickingWorker {
    directory: PathBuf,
    reads: AtomicU32,
    looked: Mutex<Option<Session>>,
}

fn walwise_path() -> PathBuf {
    crate::support::programs::walwise_path().into()
}

impl Worker for PanickingWorker {
    fn run_job(
        &self,
        job: &Job,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<JobResult, String> {
        match job {
            Job::Collect => Ok(JobResult::Report(Box::new(self.collect_report(progress)))),
            Job::PlanProbe(_) => Ok(JobResult::Plan(vec!["It panics.".to_owned()])),
            Job::Probe(_) => Err(self.run_probe(cancel)?),
            Job::Raw(..) => Ok(JobResult::Raw(Vec::new())),
            Job::Document(_) => panic!("a panic while writing"),
            other => panic!("a panic during {other:?}"),
        }
    }
}

impl PanickingWorker {
    fn collect_report(&self, progress: &mut dyn FnMut(JobProgress)) -> Report {
        let host = LiveHost::with_child_program(walwise_path());
        let request = collect::Request {
            target: Some(self.directory.clone()),
            allow_missing: true,
            without_programs: true,
            ..collect::Request::default()
        };
        let again = self.reads.fetch_add(1, Ordering::SeqCst) > 0;
        let session =
            Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |what, _| {
                progress(JobProgress::Reading(what.name().to_owned()));
                assert!(!again, "a panic while \x1b[31mreading");
            });
        let report = session.build_report();
        *self.looked.lock().unwrap() = Some(session);
        report
    }

    fn run_probe(&self, cancel: &Arc<AtomicBool>) -> Result<String, String> {
        let mut request = ProbeRequest::new(&self.directory);
        request.program = walwise_path();
        let plan = probes::plan_probe(&request).map_err(|refusal| refusal.to_string())?;
        let found = probes::run_probe(&plan, &CancelHandle::from(Arc::clone(cancel)), &mut |now| {
            let is_there = fs::read_dir(&self.directory).unwrap().next().is_some();
            assert!(
                !(is_there && now.phase == ProbePhase::Rounds),
                "a panic while measuring"
            );
        });
        Ok(format!("it did not panic: {:?}", found.is_ok()))
    }
}

/// Runs only in the child process of the test below, in a terminal.
#[test]
fn screens_on_a_worker_that_panics() {
    let Some(directory) = std::env::var_os(DIRECTORY).filter(|_| std::io::stdin().is_terminal())
    else {
        return;
    };
    let worker = PanickingWorker {
        directory: directory.into(),
        reads: AtomicU32::new(0),
        looked: Mutex::default(),
    };
    let options = ScreenOptions {
        colour: true,
        ascii: false,
        in_tmux: false,
    };
    assert_eq!(
        tui::run_screens(Arc::new(worker), options).unwrap(),
        ExitReason::Quit
    );
}

#[test]
fn panicking_worker_fails_only_its_own_job() {
    let data = directory_in_memory();
    let this = std::env::current_exe().unwrap();
    let test = [
        "--exact",
        "journeys::failures::screens_on_a_worker_that_panics",
        "--nocapture",
        "--test-threads=1",
    ];
    let variables = [(DIRECTORY, path_str(&data))];
    let mut pty = Pty::start_program_in(Path::new("."), &variables, this.to_str().unwrap(), &test)
        .expecting_unchanged_directory(data.path());
    pty.wait_for_text("Fix first");
    pty.press("p");
    pty.wait_for_text("It panics.");
    pty.press("y");
    pty.wait_until("the probe has failed", |screen| {
        let shown = screen
            .contents()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        shown.contains("the probe failed: this is a bug in walwise: a panic while measuring")
    });
    pty.assert_directories_untouched("the scratch file went with the panic");
    pty.press("r");
    let shown =
        pty.wait_for_text("reading the host failed: this is a bug in walwise: a panic while");
    assert!(!shown.contains("panicked"), "{shown}");
    pty.press("e\r");
    pty.wait_for_text("a panic while writing");
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.press("q");
    pty.assert_ends_clean(0);
    assert!(
        !pty.all_output().contains("\x1b[31mreading"),
        "a panic's message is text from anywhere"
    );
}
