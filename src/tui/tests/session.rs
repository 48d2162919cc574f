use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::deadline::Watchdog;
use crate::facts::{Choice as _, Subject};
use crate::report::Format;
use crate::tui::input_queue::InputQueue;
use crate::tui::job::{Job, JobProgress, JobResult, SaveOutcome};
use crate::tui::key_press::KeyPress;
use crate::tui::msg::{ExitReason, Msg};
use crate::tui::terminal::TerminalDisplay;
use crate::tui::test_sessions::{RICH, at_risk_report, buffer_text};
use crate::tui::worker_jobs::{JobRunner, Worker};
use crate::tui::{cancel_jobs_and_wait, event_loop};

struct ScriptedDisplay {
    steps: Vec<(&'static str, Vec<Msg>)>,
    out: Sender<Msg>,
    /// True if a shell could continue the stopped process.
    shell: bool,
    log: Vec<&'static str>,
}

impl TerminalDisplay for ScriptedDisplay {
    fn size(&self) -> Size {
        Size::new(100, 30)
    }

    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 100, 30));
        picture(&mut buffer);
        let shown = buffer_text(&buffer);
        if self
            .steps
            .first()
            .is_some_and(|(awaited, _)| shown.contains(awaited))
        {
            for msg in self.steps.remove(0).1 {
                self.out.send(msg).unwrap();
            }
        }
        Ok(())
    }

    fn clear_for_redraw(&mut self, _: Size) -> io::Result<()> {
        self.log.push("renew");
        Ok(())
    }

    fn copy_to_clipboard(&mut self, _: &str) -> io::Result<()> {
        self.log.push("copy");
        Ok(())
    }

    fn set_mouse_capture(&mut self, ours: bool) -> io::Result<()> {
        self.log
            .push(if ours { "mouse ours" } else { "mouse free" });
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<bool> {
        self.log.push("suspend");
        Ok(self.shell)
    }

    fn resume(&mut self) -> io::Result<bool> {
        self.log.push("resume");
        Ok(true)
    }
}

/// Reads the host once, then panics; a probe runs until cancelled.
#[derive(Default)]
struct PanicOnRescanWorker {
    reads: Mutex<u32>,
    cancelled: AtomicBool,
    saved: Mutex<Vec<(String, String, bool)>>,
}

impl Worker for PanicOnRescanWorker {
    fn run_job(
        &self,
        job: &Job,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<JobResult, String> {
        let render = |format: Format| {
            assert!(format != Format::Udev, "no such form");
            format!("as {}\n", format.as_str())
        };
        match job {
            Job::Collect => {
                progress(JobProgress::Reading("mounts".to_owned()));
                let mut reads = self
                    .reads
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                *reads += 1;
                assert!(*reads == 1, "read it twice");
                Ok(JobResult::Report(Box::new(at_risk_report())))
            }
            Job::PlanProbe(_) => Ok(JobResult::Plan(vec!["Writes 16 MiB.".to_owned()])),
            Job::Probe(_) => {
                while !cancel.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                self.cancelled.store(true, Ordering::Relaxed);
                Ok(JobResult::Report(Box::new(at_risk_report())))
            }
            Job::Compare(..) => Ok(JobResult::Comparison(None)),
            Job::Raw(..) => Ok(JobResult::Raw(Vec::new())),
            Job::Document(format) => Ok(JobResult::Document(render(*format).into())),
            Job::Save(save) => {
                let document = save.document.as_deref().map(str::to_owned);
                let document = document.unwrap_or_else(|| render(save.format));
                let saved = (document, save.name.clone(), save.replace);
                self.saved.lock().unwrap().push(saved);
                let path = format!("/root/{}", save.name);
                Ok(JobResult::Saved(if save.replace {
                    SaveOutcome::At(path)
                } else {
                    SaveOutcome::Exists(path)
                }))
            }
            Job::Suppose(_)
            | Job::ChooseFilesystem(..)
            | Job::ListReferences(_)
            | Job::PlanReportSave
            | Job::SaveReport
            | Job::Watch => Err("not here".to_owned()),
        }
    }
}

fn run_scripted_session(
    shell: bool,
    steps: Vec<(&'static str, Vec<Msg>)>,
) -> (ExitReason, Vec<&'static str>, Arc<PanicOnRescanWorker>) {
    let (out, inbox) = channel();
    let worker = Arc::new(PanicOnRescanWorker::default());
    let as_worker: Arc<dyn Worker> = worker.clone();
    let mut jobs = JobRunner::new(as_worker, out.clone());
    let ends = out.clone();
    // The alarm ends a script that does not finish; the assertion below then reports its remaining
    // steps.
    let _alarm = Watchdog::new(move || drop(ends.send(Msg::Signal(signal_hook::consts::SIGTERM))));
    let mut display = ScriptedDisplay {
        steps,
        out,
        shell,
        log: Vec::new(),
    };
    let exit = event_loop(
        &mut display,
        &inbox,
        &InputQueue::default(),
        &mut jobs,
        RICH,
    )
    .unwrap();
    cancel_jobs_and_wait(&mut jobs, &inbox);
    assert!(display.steps.is_empty(), "never shown: {:?}", display.steps);
    (exit, display.log, worker)
}

fn key_message(name: &str) -> Msg {
    Msg::Key(KeyPress::from_name(name))
}

#[test]
fn first_frame_is_drawn_before_any_fact() {
    let steps = vec![
        ("reading this host", vec![]),
        ("AT RISK", vec![key_message("q")]),
    ];
    assert_eq!(run_scripted_session(true, steps).0, ExitReason::Quit);
}

#[test]
fn worker_panic_becomes_notice_and_screen_stays() {
    let steps = vec![
        ("AT RISK", vec![key_message("r")]),
        (
            "reading the host failed: this is a bug in walwise: read it twice",
            vec![key_message("4")],
        ),
        ("Plan, in order of application", vec![key_message("q")]),
    ];
    assert_eq!(run_scripted_session(true, steps).0, ExitReason::Quit);
}

#[test]
fn exit_cancels_probe_and_waits_for_it() {
    let steps = vec![
        ("AT RISK", vec![key_message("p")]),
        ("Writes 16 MiB.", vec![key_message("y")]),
        ("starting the probe", vec![Msg::Signal(15)]),
    ];
    let (exit, _, worker) = run_scripted_session(true, steps);
    assert_eq!(exit, ExitReason::Signal(15));
    assert!(worker.cancelled.load(Ordering::Relaxed));
}

#[test]
fn repeated_hangup_still_waits_for_probe_cleanup() {
    let (out, inbox) = channel();
    let mut jobs = JobRunner::new(Arc::new(PanicOnRescanWorker::default()), out.clone());
    jobs.start_job(1, Job::Probe(Subject::host()));
    out.send(Msg::Hangup).unwrap();
    out.send(Msg::Signal(signal_hook::consts::SIGHUP)).unwrap();
    cancel_jobs_and_wait(&mut jobs, &inbox);
    assert!(!jobs.has_job_needing_cleanup());
}

#[test]
fn nothing_is_drawn_while_suspended() {
    // Input during a suspension is processed at once, but drawn only after SIGCONT.
    let first = vec![
        key_message("ctrl-z"),
        key_message("4"),
        Msg::Signal(signal_hook::consts::SIGWINCH),
        Msg::Signal(signal_hook::consts::SIGCONT),
    ];
    let steps = vec![
        ("AT RISK", first),
        ("Plan, in order of application", vec![key_message("q")]),
    ];
    assert_eq!(run_scripted_session(true, steps).1, ["suspend", "resume"]);
}

#[test]
fn document_is_rendered_saved_and_failure_is_shown() {
    let place = |wanted| {
        Format::ALL
            .iter()
            .position(|format| *format == wanted)
            .unwrap()
    };
    let down = place(Format::Udev) - place(Format::Text);
    let steps = vec![
        ("AT RISK", vec![key_message("e")]),
        ("same output", vec![key_message("enter")]),
        ("as text", vec![key_message("s")]),
        ("Save as text", vec![key_message("enter")]),
        ("Replace it?", vec![key_message("y")]),
        (
            "saved: /root/walwise-db7-srv-pg-15-main.txt",
            [key_message("esc")]
                .into_iter()
                .chain((0..down).map(|_| key_message("j")))
                .collect(),
        ),
        ("▌udev", vec![key_message("enter")]),
        (
            "this is a bug in walwise: no such form",
            vec![
                key_message("m"),
                key_message("m"),
                key_message("y"),
                key_message("q"),
            ],
        ),
    ];
    let (exit, log, worker) = run_scripted_session(true, steps);
    assert_eq!(
        (exit, log),
        (ExitReason::Quit, vec!["mouse free", "mouse ours"])
    );
    let save = |replace| {
        (
            "as text\n".to_owned(),
            "walwise-db7-srv-pg-15-main.txt".to_owned(),
            replace,
        )
    };
    assert_eq!(*worker.saved.lock().unwrap(), [save(false), save(true)]);
}

#[test]
fn suspend_without_shell_shows_notice() {
    let steps = vec![
        ("AT RISK", vec![key_message("ctrl-z")]),
        ("there is no shell to return to", vec![key_message("q")]),
    ];
    assert_eq!(run_scripted_session(false, steps).1, ["suspend"]);
}

#[test]
fn interrupt_overtakes_earlier_input() {
    let (out, inbox) = channel();
    let mut jobs = JobRunner::new(Arc::new(PanicOnRescanWorker::default()), out.clone());
    let mut display = ScriptedDisplay {
        steps: Vec::new(),
        out: out.clone(),
        shell: true,
        log: Vec::new(),
    };
    let input = InputQueue::default();
    // Without the interrupt, the first key would quit.
    input.push(["q", "s", "ctrl-c", "y"].map(key_message).into());
    out.send(Msg::Input).unwrap();
    assert_eq!(
        event_loop(&mut display, &inbox, &input, &mut jobs, RICH).unwrap(),
        ExitReason::Signal(2)
    );
}

#[test]
fn many_resize_signals_cause_one_redraw() {
    let first = [(); 100]
        .map(|()| Msg::Signal(signal_hook::consts::SIGWINCH))
        .into_iter();
    let steps = vec![
        ("AT RISK", first.chain([key_message("4")]).collect()),
        ("Plan, in order of application", vec![key_message("q")]),
    ];
    assert_eq!(run_scripted_session(true, steps).1, ["renew"]);
}
