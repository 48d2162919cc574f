//! What the screens show: the report so far, what goes on in the background, and what was made of
//! both. Where the user is stands in [`super::model`].

use std::sync::Arc;

use super::documents::Export;
use super::focus::Focus;
use super::job::JobId;
use super::raw::Raw;
use super::supposed::{Supposed, Supposition};
use super::theme::Theme;
use crate::durability::Verdict;
use crate::facts::Subject;
use crate::facts::catalog::target::TargetKind;
use crate::measure::{Measurement, Progress};
use crate::report::{FilesystemChoice, Plan, Report};
use crate::rules::RuleSet;

/// The data for the screens.
#[derive(Clone, Debug)]
pub struct Data {
    pub report: Option<Box<Report>>,
    /// Whether reading is complete. Before that no judgement is shown, because the rest may change
    /// it.
    pub complete: bool,
    /// The parts of it that concern the chosen target.
    pub focus: Focus,
    /// The rules by which it was judged, to tell what those that do not apply would say.
    pub rules: Arc<RuleSet>,
    /// The activity in the background.
    pub activity: Activity,
    /// The last probe that came to its end.
    pub ended: Option<ProbeReport>,
    /// The differences, while something is assumed.
    pub supposed: Option<Box<Supposed>>,
    /// The documents that were made of it, and what was saved.
    pub export: Export,
    /// The raw lines behind facts that were viewed.
    pub raw: Raw,
    pub theme: Theme,
}

impl Data {
    /// The verdict of the chosen target.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.report.as_ref()?.verdicts.get(self.focus.verdict?)
    }

    /// The plan of the chosen target.
    pub fn plan(&self) -> Option<&Plan> {
        self.report.as_ref()?.plans.get(self.focus.plan?)
    }

    /// The report with the chosen target, once everything was read.
    pub fn chosen(&self) -> Option<(&Report, &Subject)> {
        Some((
            self.report.as_deref().filter(|_| self.complete)?,
            self.focus.target.as_ref()?,
        ))
    }

    /// The file systems that can be asked for on the chosen target; none where it is no free disk.
    pub fn filesystems(&self) -> &[FilesystemChoice] {
        let plan = self.plan().filter(|_| self.complete);
        plan.map(|plan| plan.filesystems.as_slice())
            .unwrap_or_default()
    }

    pub fn suppositions(&self) -> &[Supposition] {
        self.supposed
            .as_ref()
            .map(|supposed| supposed.suppositions.as_slice())
            .unwrap_or_default()
    }

    /// The results so far of the running probe of the chosen target.
    pub fn live(&self) -> Option<&Measurement> {
        match &self.activity {
            Activity::Probing {
                target,
                progress: Some(progress),
                ..
            } if Some(target) == self.focus.target.as_ref() => progress.so_far.as_ref(),
            _ => None,
        }
    }

    /// Whether the chosen target can be measured at all; the error says why not.
    pub fn measurable(&self) -> Result<(), &'static str> {
        let report = self.report.as_ref().ok_or("nothing is known yet")?;
        let target = report
            .targets
            .get(self.focus.at)
            .ok_or("there is no target to measure")?;
        if !report.host.live {
            return Err("this is a capture of another machine: nothing can be measured here");
        }
        match target.kind {
            TargetKind::Directory => Ok(()),
            TargetKind::Device => Err("undecided until mounted: only a directory can be measured"),
            TargetKind::Created => {
                Err("undecided until it exists: only an existing directory can be measured")
            }
        }
    }

    /// The measurement of the chosen target.
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

/// The results of a probe that are not in the report.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReport {
    pub target: Subject,
    /// Times of its commits with the default, as [`Progress::histogram`].
    pub histogram: Vec<(f64, u64)>,
    /// Why it came to nothing, if it did. The report then still has the one before, and the
    /// histogram belongs to that.
    pub failed: Option<String>,
}

/// The one thing that goes on in the background.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    Idle,
    /// The machine is being read.
    Collecting {
        job: JobId,
        what: String,
    },
    /// It is being found out what a probe would write.
    Planning {
        job: JobId,
        target: Subject,
    },
    Probing {
        job: JobId,
        target: Subject,
        /// How it goes, once it has said so.
        progress: Option<Box<Progress>>,
        /// Whether it was asked to stop.
        cancelled: bool,
    },
    /// It is worked out what would be different.
    Supposing {
        job: JobId,
    },
    /// The plan is made for another file system.
    Wanting {
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
            | Self::Supposing { job }
            | Self::Wanting { job } => Some(*job),
        }
    }

    /// Whether something new can be started; the error says what is in the way.
    pub fn may_start(&self) -> Result<(), String> {
        match self {
            Self::Idle => Ok(()),
            Self::Collecting { .. } => Err("facts are still being collected".to_owned()),
            Self::Planning { .. } | Self::Probing { .. } => Err("a probe is running".to_owned()),
            Self::Supposing { .. } => {
                Err("it is still worked out what would be different".to_owned())
            }
            Self::Wanting { .. } => Err("the plan is still being made".to_owned()),
        }
    }
}
