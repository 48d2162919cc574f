//! Work in the background: each job on its own thread, its progress and result as messages.
//!
//! The work itself is defined by the [`Worker`] that the caller provides. A worker that panics
//! loses only its own job; the screen stays and reports the failure.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use super::job::{Job, JobId, JobResult, Partial, Save, Saved};
use super::msg::Msg;
use super::supposed::{Supposed, Supposition};
use crate::facts::{Source, Subject};
use crate::report::{Format, Report};
use crate::settings::NewFilesystem;

/// The work that the user interface delegates. Every method runs on a thread of its own and may
/// take as long as it needs.
pub trait Worker: Send + Sync {
    /// Reads the machine and judges what was read. The error is a sentence for the user.
    fn collect(&self, progress: &mut dyn FnMut(Partial)) -> Result<Report, String>;

    /// Says in a few lines what a probe of this target would write, where, and how long it takes.
    /// Writes nothing. The error says why it may not be probed.
    fn plan_probe(&self, target: &Subject) -> Result<Vec<String>, String>;

    /// Measures this target as planned and judges again. Once `cancel` is set it ends soon, and
    /// what was measured until then is in the report.
    fn probe(
        &self,
        target: &Subject,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(Partial),
    ) -> Result<Report, String>;

    /// Computes the differences if these facts were others. The facts of the real machine stay. The
    /// error says why one of them cannot be assumed.
    fn suppose(&self, suppositions: &[Supposition]) -> Result<Supposed, String>;

    /// Judges again with this file system wanted on a free disk, or with none. The error says why
    /// it cannot be made.
    fn want(&self, target: &Subject, filesystem: Option<NewFilesystem>) -> Result<Report, String>;

    /// The lines that this value was read from, display-safe; none where its source has none.
    fn raw(&self, source: &Source, value: &str) -> Vec<String>;

    /// The report of the machine itself, as it was given last, in this form.
    fn document(&self, format: Format) -> Result<String, String>;

    /// Writes a document to a file, whole or not at all; what is there is replaced only if it may
    /// be. The error is a sentence for the user.
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
    /// Jobs of this worker, heard on this channel.
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
            let result = result.unwrap_or_else(|panic| JobResult::Failed(panicked(&*panic)));
            // Nobody receives it once the user interface exits.
            let _ = out.send(Msg::Done(id, result));
        };
        if let Err(error) = thread::Builder::new().name(format!("job {id}")).spawn(run) {
            let failed = JobResult::Failed(format!("no thread could be started: {error}"));
            let _ = self.out.send(Msg::Done(id, failed));
        }
    }

    pub fn cancel(&self, id: JobId) {
        if let Some((_, cancel)) = self.running.get(&id) {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Asks all of them to stop.
    pub fn cancel_all(&self) {
        self.running
            .values()
            .for_each(|(_, cancel)| cancel.store(true, Ordering::Relaxed));
    }

    /// Whether something runs that has files to put away before its end.
    pub fn has_to_tidy(&self) -> bool {
        self.running
            .values()
            .any(|(job, _)| matches!(job, Job::Probe(_) | Job::Save(_)))
    }

    /// Forgets one that has ended.
    pub fn ended(&mut self, id: JobId) {
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
        Job::Want(target, filesystem) => worker.want(target, *filesystem),
        Job::PlanProbe(target) => {
            return worker
                .plan_probe(target)
                .map_or_else(JobResult::Failed, JobResult::Plan);
        }
        Job::Suppose(suppositions) => {
            let supposed = worker.suppose(suppositions).map(Box::new);
            return supposed.map_or_else(JobResult::Failed, JobResult::Supposed);
        }
        Job::Raw(source, value) => {
            return JobResult::Raw(source.clone(), value.clone(), worker.raw(source, value));
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

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    // The message may contain anything, including bytes read from the machine.
    format!(
        "this is a bug in walwise: {}",
        crate::text::safe(text.as_bytes())
    )
}
