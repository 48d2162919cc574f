//! Background jobs: each on its own thread, with progress and result as messages.
//!
//! The caller's [`Worker`] does the work. A worker that panics loses only its own job; the screen
//! stays and reports the failure.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use super::hypothesis::{AssumedHost, Supposition};
use super::job::{Job, JobId, JobProgress, JobResult, Save, Saved};
use super::msg::Msg;
use crate::facts::{Source, Subject};
use crate::report::{Format, Report};
use crate::settings::NewFilesystem;

/// The work that the screens delegate. Every method runs on its own thread and may block.
pub trait Worker: Send + Sync {
    /// Reads the host and evaluates the rules. The error is a sentence for the user.
    fn collect(&self, progress: &mut dyn FnMut(JobProgress)) -> Result<Report, String>;

    /// Describes what a probe of this target would write, where, and for how long. Writes nothing.
    /// The error is the refusal.
    fn plan_probe(&self, target: &Subject) -> Result<Vec<String>, String>;

    /// Measures this target as planned and returns a new report. After `cancel` is set it ends
    /// soon, with the results so far in the report.
    fn probe(
        &self,
        target: &Subject,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<Report, String>;

    /// Evaluates assumptions; the facts of the real host are kept. The error says why one of them
    /// is refused.
    fn suppose(&self, suppositions: &[Supposition]) -> Result<AssumedHost, String>;

    /// Reports again with this file system for a free disk; `None` restores the recommended one.
    /// The error says why it cannot be created.
    fn choose_filesystem(
        &self,
        target: &Subject,
        filesystem: Option<NewFilesystem>,
    ) -> Result<Report, String>;

    /// The lines that this value was read from, display-safe; empty if its source has none.
    fn raw_lines(&self, source: &Source, value: &str) -> Vec<String>;

    /// The last report of the real host in this format.
    fn document(&self, format: Format) -> Result<String, String>;

    /// Writes a document to a file atomically; replaces an existing file only if allowed. The error
    /// is a sentence for the user.
    fn save(
        &self,
        format: Format,
        document: &str,
        name: &str,
        replace: bool,
    ) -> Result<Saved, String>;
}

pub struct Jobs {
    worker: Arc<dyn Worker>,
    out: Sender<Msg>,
    running: BTreeMap<JobId, (Job, Arc<AtomicBool>)>,
}

impl Jobs {
    /// Runs jobs of this worker; messages go to `out`.
    pub fn new(worker: Arc<dyn Worker>, out: Sender<Msg>) -> Self {
        Self {
            worker,
            out,
            running: BTreeMap::new(),
        }
    }

    pub fn start(&mut self, id: JobId, job: Job) {
        let cancel = Arc::new(AtomicBool::new(false));
        self.running.insert(id, (job.clone(), Arc::clone(&cancel)));
        let (worker, out) = (Arc::clone(&self.worker), self.out.clone());
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                perform(&*worker, &job, id, &cancel, &out)
            }));
            let result = result.unwrap_or_else(|panic| JobResult::Failed(panic_message(&*panic)));
            // After the loop has ended nobody receives it.
            let _ = out.send(Msg::Done(id, result));
        };
        if let Err(error) = thread::Builder::new().name(format!("job {id}")).spawn(run) {
            let failed = JobResult::Failed(format!("cannot start a thread: {error}"));
            let _ = self.out.send(Msg::Done(id, failed));
        }
    }

    pub fn cancel(&self, id: JobId) {
        if let Some((_, cancel)) = self.running.get(&id) {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Asks all jobs to stop.
    pub fn cancel_all(&self) {
        self.running
            .values()
            .for_each(|(_, cancel)| cancel.store(true, Ordering::Relaxed));
    }

    /// Whether a running job has files to clean up or complete.
    pub fn has_cleanup(&self) -> bool {
        self.running
            .values()
            .any(|(job, _)| matches!(job, Job::Probe(_) | Job::Save(_)))
    }

    pub fn remove(&mut self, id: JobId) {
        self.running.remove(&id);
    }
}

fn perform(
    worker: &dyn Worker,
    job: &Job,
    id: JobId,
    cancel: &Arc<AtomicBool>,
    out: &Sender<Msg>,
) -> JobResult {
    let mut progress = |partial| {
        let _ = out.send(Msg::Progress(id, partial));
    };
    let report = match job {
        Job::Collect => worker.collect(&mut progress),
        Job::Probe(target) => worker.probe(target, cancel, &mut progress),
        Job::ChooseFilesystem(target, filesystem) => worker.choose_filesystem(target, *filesystem),
        Job::PlanProbe(target) => {
            return worker
                .plan_probe(target)
                .map_or_else(JobResult::Failed, JobResult::Plan);
        }
        Job::Suppose(suppositions) => {
            let supposed = worker.suppose(suppositions).map(Box::new);
            return supposed.map_or_else(JobResult::Failed, JobResult::AssumedHost);
        }
        Job::Raw(source, value) => {
            return JobResult::Raw(
                source.clone(),
                value.clone(),
                worker.raw_lines(source, value),
            );
        }
        Job::Document(format) => {
            let document = worker.document(*format);
            return document
                .map_or_else(JobResult::Failed, |text| JobResult::Document(text.into()));
        }
        Job::Save(save) => {
            return perform_save(worker, save).map_or_else(JobResult::Failed, JobResult::Saved);
        }
    };
    report.map_or_else(JobResult::Failed, |report| {
        JobResult::Report(Box::new(report))
    })
}

fn perform_save(worker: &dyn Worker, save: &Save) -> Result<Saved, String> {
    let document = match &save.document {
        Some(document) => Arc::clone(document),
        None => worker.document(save.format)?.into(),
    };
    worker.save(save.format, &document, &save.name, save.replace)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    // The message may contain anything, including bytes read from the host.
    format!(
        "this is a bug in walwise: {}",
        crate::text::display_safe(text.as_bytes())
    )
}
