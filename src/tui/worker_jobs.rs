//! Runs the jobs of the screens on threads. A panic in the caller's [`Worker`] ends only its job,
//! and the screen reports the failure.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use super::assumptions::{AssumedFact, AssumedHost};
use super::job::{
    ComparisonReference, HostChange, Job, JobId, JobProgress, JobResult, ReferenceChoice,
    ReferenceComparison, SaveOutcome, SaveRequest,
};
use super::msg::Msg;
use crate::facts::{Source, Subject};
use crate::report::{Format, Report};
use crate::settings::NewFilesystem;

/// Work that the screens delegate. Every method runs on its own thread and may block.
pub trait Worker: Send + Sync {
    fn collect_report(&self, progress: &mut dyn FnMut(JobProgress)) -> Result<Report, String>;

    /// Describes, without writing anything, what a probe would write, where, and for how long. The
    /// error is the reason why the target cannot be probed.
    fn describe_probe(&self, target: &Subject) -> Result<Vec<String>, String>;

    /// Measures the target and returns a new report. Once `cancel` is set, the probe ends soon,
    /// with a report of the complete rounds or an error.
    fn run_probe(
        &self,
        target: &Subject,
        cancel: &Arc<AtomicBool>,
        progress: &mut dyn FnMut(JobProgress),
    ) -> Result<Report, String>;

    /// The facts of the real host stay unchanged. The error names a refused assumption and the
    /// reason.
    fn evaluate_assumptions(&self, suppositions: &[AssumedFact]) -> Result<AssumedHost, String>;

    /// The report with this file system planned for a free disk; `None` restores the recommended
    /// one. The error is the reason why the file system cannot be created.
    fn replan_with_filesystem(
        &self,
        target: &Subject,
        filesystem: Option<NewFilesystem>,
    ) -> Result<Report, String>;

    /// The recorded lines from which a value was read, display-safe; empty if the source has none.
    fn raw_answer_lines(&self, source: &Source, value: &str) -> Vec<String>;

    /// The document is that of the real host's last report, without assumptions.
    fn render_document(&self, format: Format) -> Result<String, String>;

    /// Writes a document to a file atomically, and overwrites an existing file only if `replace` is
    /// set. The error is a message for the user.
    fn save_document(
        &self,
        format: Format,
        document: &str,
        name: &str,
        replace: bool,
    ) -> Result<SaveOutcome, String>;

    fn list_references(&self, of: ComparisonReference) -> Result<Vec<ReferenceChoice>, String>;

    /// Compares the last report of the real host with this choice; without a name, with the newest
    /// saved report, or `None` if there is none.
    fn compare_with_reference(
        &self,
        with: ComparisonReference,
        name: Option<&str>,
    ) -> Result<Option<ReferenceComparison>, String>;

    /// Lines that state where the report would be saved, for the user to confirm.
    fn describe_report_save(&self) -> Result<Vec<String>, String>;

    /// The report is the last one of the real host, without assumptions.
    fn save_report(&self) -> Result<SaveOutcome, String>;

    /// Reads facts of `/proc` and `/sys` again until one differs.
    fn wait_for_host_change(&self) -> Result<HostChange, String>;
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
            let result = catch_unwind(AssertUnwindSafe(|| {
                run_job(&*worker, &job, id, &cancel, &out)
            }));
            let result = result.unwrap_or_else(|panic| JobResult::Failed(panic_message(&*panic)));
            // Sending fails only after the main loop has ended.
            let _ = out.send(Msg::Done(id, result));
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

fn run_job(
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
        Job::Collect => worker.collect_report(&mut progress),
        Job::Probe(target) => worker.run_probe(target, cancel, &mut progress),
        Job::ChooseFilesystem(target, filesystem) => {
            worker.replan_with_filesystem(target, *filesystem)
        }
        Job::PlanProbe(target) => {
            return worker
                .describe_probe(target)
                .map_or_else(JobResult::Failed, JobResult::Plan);
        }
        Job::Suppose(suppositions) => {
            let supposed = worker.evaluate_assumptions(suppositions).map(Box::new);
            return supposed.map_or_else(JobResult::Failed, JobResult::AssumedHost);
        }
        Job::Raw(source, value) => {
            return JobResult::Raw(
                source.clone(),
                value.clone(),
                worker.raw_answer_lines(source, value),
            );
        }
        Job::Document(format) => {
            let document = worker.render_document(*format);
            return document
                .map_or_else(JobResult::Failed, |text| JobResult::Document(text.into()));
        }
        Job::Save(save) => {
            return render_and_save_document(worker, save)
                .map_or_else(JobResult::Failed, JobResult::Saved);
        }
        Job::ListReferences(of) => {
            let all = worker.list_references(*of);
            return all.map_or_else(JobResult::Failed, JobResult::References);
        }
        Job::Compare(with, name) => {
            let compared = worker.compare_with_reference(*with, name.as_deref());
            let compared = compared.map(|compared| compared.map(Box::new));
            return compared.map_or_else(JobResult::Failed, JobResult::Comparison);
        }
        Job::PlanReportSave => {
            let plan = worker.describe_report_save();
            return plan.map_or_else(JobResult::Failed, JobResult::Plan);
        }
        Job::SaveReport => {
            let saved = worker.save_report();
            return saved.map_or_else(JobResult::Failed, JobResult::Saved);
        }
        Job::Watch => {
            let moved = worker.wait_for_host_change().map(Box::new);
            return moved.map_or_else(JobResult::Failed, JobResult::Moved);
        }
    };
    report.map_or_else(JobResult::Failed, |report| {
        JobResult::Report(Box::new(report))
    })
}

fn render_and_save_document(
    worker: &dyn Worker,
    save: &SaveRequest,
) -> Result<SaveOutcome, String> {
    let document = match &save.document {
        Some(document) => Arc::clone(document),
        None => worker.render_document(save.format)?.into(),
    };
    worker.save_document(save.format, &document, &save.name, save.replace)
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
