use std::collections::BTreeMap;
use std::sync::Arc;

use super::ScreenOptions;
use super::assumptions::{AssumedFact, AssumedHost};
use super::changes_state::ChangesScreenState;
use super::export_state::ExportState;
use super::job::{ComparisonReference, Job, JobId};
use super::raw_answers::RawAnswerCache;
use super::target_context::TargetContext;
use crate::durability::Verdict;
use crate::facts::Subject;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::catalog::target::TargetKind;
use crate::measure::{Measurement, ProbeProgress};
use crate::report::latency::wal_sync_method_in_force;
use crate::report::{FilesystemChoice, Plan, Report};
use crate::rules::RuleSet;

#[derive(Clone, Debug, Default)]
pub struct ScreenData {
    pub report: Option<Box<Report>>,
    /// False until all facts are read. Verdicts are hidden until then, because further facts may
    /// change them.
    pub complete: bool,
    pub focus: TargetContext,
    /// All rules in force; the report leaves out rules that do not apply.
    pub rules: Arc<RuleSet>,
    pub activity: BackgroundActivity,
    /// Started jobs whose results are still wanted.
    pub jobs: BTreeMap<JobId, Job>,
    pub last_probe: Option<FinishedProbe>,
    pub assumed_host: Option<Box<AssumedHost>>,
    pub export: ExportState,
    pub raw: RawAnswerCache,
    pub changes: ChangesScreenState,
    pub options: ScreenOptions,
}

impl ScreenData {
    pub fn is_job_running(&self, is_it: impl Fn(&Job) -> bool) -> bool {
        self.jobs.values().any(is_it)
    }

    pub fn is_comparison_running(&self, of: ComparisonReference) -> bool {
        self.is_job_running(|job| matches!(job, Job::Compare(with, _) if *with == of))
    }

    /// The results of these jobs will be ignored.
    pub fn forget_jobs(&mut self, is_it: impl Fn(&Job) -> bool) {
        self.jobs.retain(|_, job| !is_it(job));
    }

    pub fn target_verdict(&self) -> Option<&Verdict> {
        self.report.as_ref()?.verdict(self.focus.target.as_ref()?)
    }

    pub fn target_plan(&self) -> Option<&Plan> {
        self.report.as_ref()?.plan(self.focus.target.as_ref()?)
    }

    /// `None` until all facts are read, or without a target.
    pub fn report_and_chosen_target(&self) -> Option<(&Report, &Subject)> {
        Some((
            self.report.as_deref().filter(|_| self.complete)?,
            self.focus.target.as_ref()?,
        ))
    }

    /// Lists the file systems to choose from. Empty until all facts are read, and for a target that
    /// is not a free disk.
    pub fn filesystem_choices(&self) -> &[FilesystemChoice] {
        let plan = self.target_plan().filter(|_| self.complete);
        plan.map(|plan| plan.filesystems.as_slice())
            .unwrap_or_default()
    }

    pub fn assumed_facts(&self) -> &[AssumedFact] {
        self.assumed_host
            .as_ref()
            .map(|supposed| supposed.suppositions.as_slice())
            .unwrap_or_default()
    }

    /// The interim figures of a running probe. `None` if no probe of the chosen target runs, or if
    /// it has no figures yet.
    pub fn running_measurement(&self) -> Option<&Measurement> {
        match &self.activity {
            BackgroundActivity::Probing {
                target,
                progress: Some(progress),
                ..
            } if Some(target) == self.focus.target.as_ref() => progress.interim.as_ref(),
            _ => None,
        }
    }

    pub fn method_in_force(&self) -> Option<WalSyncMethod> {
        wal_sync_method_in_force(self.report.as_ref()?, self.focus.cluster.as_ref())
    }

    pub fn check_measurable(&self) -> Result<(), &'static str> {
        let report = self
            .report
            .as_ref()
            .ok_or("facts are still being collected")?;
        let target = report
            .targets
            .get(self.focus.position)
            .ok_or("there is no target to measure")?;
        if !report.host.live {
            return Err("a capture cannot be measured");
        }
        match target.kind {
            TargetKind::Directory => Ok(()),
            TargetKind::Device => {
                Err("cannot be measured until the device is formatted and mounted")
            }
            TargetKind::Created => Err("cannot be measured until the directory exists"),
        }
    }

    pub fn measurement_in_report(&self) -> Option<&Measurement> {
        let target = self.focus.target.as_ref()?;
        self.report.as_ref()?.measurement(target)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FinishedProbe {
    pub target: Subject,
    /// Commit times with the default method, in the form of [`ProbeProgress::histogram`].
    pub histogram: Vec<(f64, u64)>,
    /// Set if the probe failed or was cancelled without a result. Report and histogram then show
    /// the previous measurement of the target, if any.
    pub error: Option<String>,
}

/// A question that the user confirms before anything is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmationRequest {
    Probe(Subject),
    SaveReport,
}

/// Only one background activity runs at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BackgroundActivity {
    #[default]
    Idle,
    Collecting {
        job: JobId,
        what: String,
    },
    Planning {
        job: JobId,
        question: ConfirmationRequest,
    },
    Probing {
        job: JobId,
        target: Subject,
        /// Latest progress; `None` before the first report of the probe.
        progress: Option<Box<ProbeProgress>>,
        cancelled: bool,
    },
    Assuming {
        job: JobId,
    },
    Replanning {
        job: JobId,
    },
}

impl BackgroundActivity {
    pub fn job_id(&self) -> Option<JobId> {
        match self {
            Self::Idle => None,
            Self::Collecting { job, .. }
            | Self::Planning { job, .. }
            | Self::Probing { job, .. }
            | Self::Assuming { job }
            | Self::Replanning { job } => Some(*job),
        }
    }

    pub fn check_idle(&self) -> Result<(), &'static str> {
        Err(match self {
            Self::Idle => return Ok(()),
            Self::Collecting { .. } => "facts are still being collected",
            Self::Probing { .. } => "a probe is running",
            Self::Planning { .. } => "walwise is preparing a question",
            Self::Assuming { .. } => "the assumptions are still being evaluated",
            Self::Replanning { .. } => "the plan is still being computed",
        })
    }
}
