//! What the screens show: the report so far, the background activity, and what was derived from
//! both. [`super::model`] has the user's position.

use std::sync::Arc;

use super::documents::Export;
use super::focus::Focus;
use super::hypothesis::{AssumedHost, Supposition};
use super::job::JobId;
use super::raw_answers::RawAnswers;
use super::theme::Theme;
use crate::durability::Verdict;
use crate::facts::Subject;
use crate::facts::catalog::target::TargetKind;
use crate::measure::{Measurement, Progress};
use crate::report::{FilesystemChoice, Plan, Report};
use crate::rules::RuleSet;

#[derive(Clone, Debug)]
pub struct Data {
    pub report: Option<Box<Report>>,
    /// Whether reading is complete. Verdicts are hidden until then, because further facts may
    /// change them.
    pub complete: bool,
    /// What concerns the chosen target.
    pub focus: Focus,
    /// The rules of the report, to describe those that do not apply.
    pub rules: Arc<RuleSet>,
    pub activity: Activity,
    /// The last finished probe.
    pub last_probe: Option<ProbeReport>,
    /// Set while something is assumed.
    pub assumed_host: Option<Box<AssumedHost>>,
    /// Rendered documents, and what was saved.
    pub export: Export,
    /// Raw answers of facts that were viewed.
    pub raw: RawAnswers,
    pub theme: Theme,
}

impl Data {
    pub fn verdict(&self) -> Option<&Verdict> {
        self.report.as_ref()?.verdicts.get(self.focus.verdict?)
    }

    pub fn plan(&self) -> Option<&Plan> {
        self.report.as_ref()?.plans.get(self.focus.plan?)
    }

    /// The report with the chosen target, once reading is complete.
    pub fn chosen_target(&self) -> Option<(&Report, &Subject)> {
        Some((
            self.report.as_deref().filter(|_| self.complete)?,
            self.focus.target.as_ref()?,
        ))
    }

    /// The file systems to choose from; empty unless the target is a free disk.
    pub fn filesystems(&self) -> &[FilesystemChoice] {
        let plan = self.plan().filter(|_| self.complete);
        plan.map(|plan| plan.filesystems.as_slice())
            .unwrap_or_default()
    }

    pub fn suppositions(&self) -> &[Supposition] {
        self.assumed_host
            .as_ref()
            .map(|supposed| supposed.suppositions.as_slice())
            .unwrap_or_default()
    }

    /// The results so far of the running probe of the chosen target.
    pub fn running_measurement(&self) -> Option<&Measurement> {
        match &self.activity {
            Activity::Probing {
                target,
                progress: Some(progress),
                ..
            } if Some(target) == self.focus.target.as_ref() => progress.interim.as_ref(),
            _ => None,
        }
    }

    /// Whether the chosen target can be measured; the error is the reason.
    pub fn check_measurable(&self) -> Result<(), &'static str> {
        let report = self
            .report
            .as_ref()
            .ok_or("facts are still being collected")?;
        let target = report
            .targets
            .get(self.focus.position)
            .ok_or("no target to measure")?;
        if !report.host.live {
            return Err("a capture cannot be measured, only the host itself");
        }
        match target.kind {
            TargetKind::Directory => Ok(()),
            TargetKind::Device => Err("measurable once it is formatted and mounted"),
            TargetKind::Created => Err("measurable once the directory exists"),
        }
    }

    pub fn measurement(&self) -> Option<&Measurement> {
        Some(
            &self
                .report
                .as_ref()?
                .probes
                .get(self.focus.probe?)?
                .measurement,
        )
    }
}

/// What the report does not have of the last probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReport {
    pub target: Subject,
    /// Commit times with the default method, as [`Progress::histogram`].
    pub histogram: Vec<(f64, u64)>,
    /// Why it failed. The report then still has the previous measurement, and the histogram is of
    /// that.
    pub error: Option<String>,
}

/// The background activity; only one runs at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    Idle,
    Collecting {
        job: JobId,
        what: String,
    },
    /// Working out what a probe would write.
    Planning {
        job: JobId,
        target: Subject,
    },
    Probing {
        job: JobId,
        target: Subject,
        /// Set once the probe reports progress.
        progress: Option<Box<Progress>>,
        /// Whether it was asked to stop.
        cancelled: bool,
    },
    /// Evaluating assumptions.
    Assuming {
        job: JobId,
    },
    /// Planning for another file system.
    Replanning {
        job: JobId,
    },
}

impl Activity {
    pub fn job(&self) -> Option<JobId> {
        match self {
            Self::Idle => None,
            Self::Collecting { job, .. }
            | Self::Planning { job, .. }
            | Self::Probing { job, .. }
            | Self::Assuming { job }
            | Self::Replanning { job } => Some(*job),
        }
    }

    /// Whether a job can start; the error is the reason.
    pub fn may_start(&self) -> Result<(), String> {
        match self {
            Self::Idle => Ok(()),
            Self::Collecting { .. } => Err("facts are still being collected".to_owned()),
            Self::Planning { .. } | Self::Probing { .. } => Err("a probe is running".to_owned()),
            Self::Assuming { .. } => Err("the assumptions are still being evaluated".to_owned()),
            Self::Replanning { .. } => Err("the plan is still being computed".to_owned()),
        }
    }
}
