//! The verdict as a value, with its evidence.

use serde::{Serialize, Serializer};

use super::{FlushHop, Impact, Remedy};
use crate::facts::catalog::device::Guarantor;
pub use crate::facts::catalog::target::{Redundancy, VerdictKind};
use crate::facts::{MissingFact, Subject};

/// The source layer of a piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The server: whether it flushes before it reports a commit.
    Database,
    /// The kernel's view: whether a flush is passed on.
    #[serde(rename = "kernel")]
    Kernel,
    /// The device's claim about its cache: disk, controller or hypervisor.
    #[serde(rename = "device")]
    Device,
    /// What happened when the probe flushed.
    Measurement,
    /// A rule about a release or a setting that caps the verdict.
    Rule,
}

impl Layer {
    /// The word in reports and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Kernel => "kernel",
            Self::Device => "device",
            Self::Measurement => "measurement",
            Self::Rule => "rule",
        }
    }

    pub fn is_database(self) -> bool {
        matches!(self, Self::Database)
    }

    pub fn is_measurement(self) -> bool {
        matches!(self, Self::Measurement)
    }

    pub fn is_rule(self) -> bool {
        matches!(self, Self::Rule)
    }

    pub fn is_device(self) -> bool {
        matches!(self, Self::Device)
    }
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Its layer.
    pub layer: Layer,
    /// Its subject.
    pub subject: Subject,
    /// The best verdict it allows.
    pub standing: VerdictKind,
    /// A clause without full stop: `sda holds writes in a volatile cache`.
    #[serde(rename = "text")]
    pub text: String,
    /// Where it was read; empty if it could not be read.
    pub source: String,
    /// The fix, if it counts against a commit.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

impl Evidence {
    pub fn new(
        layer: Layer,
        subject: &Subject,
        bears: Impact,
        says: String,
        source: String,
    ) -> Self {
        let (standing, mend) = bears.into_parts();
        Self {
            layer,
            subject: subject.clone(),
            standing,
            text: says,
            source,
            remedy: mend,
        }
    }
}

/// One path from the target to a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Path {
    /// From the target down to the disk.
    pub hops: Vec<Subject>,
    /// The worst verdict of its evidence.
    pub standing: VerdictKind,
    /// Its evidence, worst first.
    pub evidence: Vec<Evidence>,
}

/// An undecided rule that could cap a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct UndecidedCap {
    /// The rule's id.
    pub rule: String,
    /// The verdict if it applies.
    pub caps: VerdictKind,
    /// The open question.
    pub question: String,
}

/// The verdict of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The target.
    pub target: Subject,
    /// The worst of all paths.
    pub standing: VerdictKind,
    /// Copies and parity below, and whether one more fault is survived; no part of `standing`.
    pub redundancy: Redundancy,
    /// What is missing of them and what another fault would cost, in sentences; empty if nothing is
    /// known to be missing.
    pub second_fault: String,
    /// What happens to commits if this host is lost for good, in sentences; empty if no standby is
    /// waited for.
    pub host_loss: String,
    /// Sessions with another verdict: `database app: synchronous_commit = off`.
    pub exceptions: Vec<String>,
    /// The viewpoint: `host`, `guest` or `container`.
    pub seen_by: String,
    /// Undecided rules that would lower the verdict if they applied.
    pub undecided: Vec<UndecidedCap>,
    /// The number of evaluated rules that could cap it: known faults of releases, and settings with
    /// a reported loss.
    pub caps_checked: usize,
    /// Who vouches for disks that this host cannot look into, each once; empty if a controller's
    /// tool shows them.
    #[serde(serialize_with = "serialize_guarantors")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub guarantors: Vec<Guarantor>,
    /// One sentence: what may be lost and why, or what survives.
    pub sentence: String,
    /// What is not visible from here, in sentences; mostly empty on bare metal.
    pub limits: String,
    /// The path of a commit's flush, hop by hop, and where the commit may be lost.
    pub flush_path: Vec<FlushHop>,
    /// Every path, worst first.
    pub paths: Vec<Path>,
    /// Facts that were needed and are unknown.
    pub missing: Vec<MissingFact>,
}

fn serialize_guarantors<S: Serializer>(
    guarantors: &[Guarantor],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(guarantors.iter().map(|guarantor| guarantor.as_str()))
}

const MAX_EXCEPTIONS: usize = 3;

impl Verdict {
    /// The verdict as a heading, with redundancy and deviating sessions: `durable, but degraded`,
    /// `durable, except database app: synchronous_commit = off`.
    pub fn heading(&self) -> String {
        format!("{}{}", self.standing.as_str(), self.heading_suffix())
    }

    /// The part of the heading after the verdict; mostly empty.
    pub fn heading_suffix(&self) -> String {
        let survives = self.standing.survives();
        let copies = match self.redundancy.heading() {
            Some(more) if survives => format!(", but {more}"),
            Some(more) => format!(", and {more}"),
            None => String::new(),
        };
        let named = self
            .exceptions
            .get(..MAX_EXCEPTIONS)
            .unwrap_or(&self.exceptions)
            .join("; ");
        match self.exceptions.len().saturating_sub(MAX_EXCEPTIONS) {
            _ if named.is_empty() => copies,
            more => {
                let and_more = if more > 0 {
                    format!("; and {more} more")
                } else {
                    String::new()
                };
                let joined = if survives { ", except " } else { "; " };
                format!("{copies}{joined}{named}{and_more}")
            }
        }
    }
}
