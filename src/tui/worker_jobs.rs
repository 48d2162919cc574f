//! Runs the jobs of the screens on threads. A panic in the caller's [`Worker`] ends only its job,
//! and the screen reports the failure.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use super::job::{Job, JobId, JobProgress, JobResult};
use super::msg::Msg;

/// Work that the screens delegate. Every job runs on its own thread and may block.
pub trait Worker: Send + Sync {
    /// The error is a message for the user. Once `cancel` is set, a probe ends soon, with a report
    /// of the complete rounds or an error.
    fn run_job(
        &self,
        job: &Job,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<JobResult, String>;
}

pub struct JobRunner {
    worker: Arc<dyn Worker>,
    out: Sender<Msg>,
    running: BTreeMap<JobId, (Job, Arc<AtomicBool>)>,
}

impl JobRunner {
    pub fn new(worker: Arc<dyn Worker>, out: Sender<Msg>) -> Self {
        Self {
            worker,
            out,
            running: BTreeMap::new(),
        }
    }

    pub fn start_job(&mut self, id: JobId, job: Job) {
        let cancel = Arc::new(AtomicBool::new(false));
        self.running.insert(id, (job.clone(), Arc::clone(&cancel)));
        let (worker, out) = (Arc::clone(&self.worker), self.out.clone());
        let run = move || {
            let mut progress = |partial| {
                let _ = out.send(Msg::Progress(id, partial));
            };
            let run = || worker.run_job(&job, &cancel, &mut progress);
            let result = catch_unwind(AssertUnwindSafe(run));
            let result = result.unwrap_or_else(|panic| Err(panic_message(&*panic)));
            // Sending fails only after the main loop has ended.
            let _ = out.send(Msg::Done(id, result.unwrap_or_else(JobResult::Failed)));
        };
        if let Err(error) = thread::Builder::new().name(format!("job {id}")).spawn(run) {
            let failed = JobResult::Failed(format!("cannot start a thread: {error}"));
            let _ = self.out.send(Msg::Done(id, failed));
        }
    }

    pub fn cancel_job(&self, id: JobId) {
        if let Some((_, cancel)) = self.running.get(&id) {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    pub fn cancel_all_jobs(&self) {
        self.running
            .values()
            .for_each(|(_, cancel)| cancel.store(true, Ordering::Relaxed));
    }

    /// Whether a running job must clean up at the end: a probe removes scratch files, and a save
    /// completes a file.
    pub fn has_job_needing_cleanup(&self) -> bool {
        self.running
            .values()
            .any(|(job, _)| matches!(job, Job::Probe(_) | Job::Save(_) | Job::SaveReport))
    }

    pub fn remove_job(&mut self, id: JobId) {
        self.running.remove(&id);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    // A panic message may contain bytes read from the host.
    format!(
        "this is a bug in walwise: {}",
        crate::text::display_safe(text.as_bytes())
    )
}
