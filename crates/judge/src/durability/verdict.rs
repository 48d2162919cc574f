//! The verdict as a value, with the evidence it was joined from.

use serde::{Serialize, Serializer};

use super::{Bears, FlushHop, Mend};
use crate::facts::catalog::device::Guarantor;
pub use crate::facts::catalog::target::{Redundancy, Standing};
use crate::facts::{Need, Subject};

/// Where a piece of evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Whether the server flushes before it reports.
    Database,
    /// Whether a flush travels on, as the kernel sees it.
    #[serde(rename = "kernel")]
    Belief,
    /// What the disk, its controller or its hypervisor says of its cache.
    #[serde(rename = "device")]
    Claim,
    /// What happened when we flushed.
    Measurement,
    /// What a rule knows of a release or a setting, and caps the verdict with.
    Rule,
}

impl Layer {
    /// Its word on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Belief => "kernel",
            Self::Claim => "device",
            Self::Measurement => "measurement",
            Self::Rule => "rule",
        }
    }

    /// Whether the evidence comes from the server.
    pub fn is_database(self) -> bool {
        matches!(self, Self::Database)
    }

    /// Whether it was measured.
    pub fn is_measurement(self) -> bool {
        matches!(self, Self::Measurement)
    }

    /// Whether a rule knows it.
    pub fn is_rule(self) -> bool {
        matches!(self, Self::Rule)
    }

    /// Whether it comes from a disk, or from the controller in front of it.
    pub fn is_claim(self) -> bool {
        matches!(self, Self::Claim)
    }
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Which layer speaks.
    pub layer: Layer,
    /// About what.
    pub subject: Subject,
    /// What it allows at best.
    pub standing: Standing,
    /// In a sentence without a full stop: `sda holds writes in a volatile cache`.
    #[serde(rename = "text")]
    pub says: String,
    /// Where it was read; empty when it could not be.
    pub source: String,
    /// What would mend it, where it speaks against a commit.
    #[serde(skip)]
    pub mend: Option<Mend>,
}

impl Evidence {
    /// The evidence of a layer about a subject.
    pub fn new(
        layer: Layer,
        subject: &Subject,
        bears: Bears,
        says: String,
        source: String,
    ) -> Self {
        let (standing, mend) = bears.parts();
        Self {
            layer,
            subject: subject.clone(),
            standing,
            says,
            source,
            mend,
        }
    }
}

/// One way from the target to a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Path {
    /// From the target down to the disk.
    pub hops: Vec<Subject>,
    /// What it comes to.
    pub standing: Standing,
    /// What speaks for that, worst first.
    pub evidence: Vec<Evidence>,
}

/// A rule that may cap a verdict, and a fact that decides it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct UndecidedCap {
    /// The rule's id.
    pub rule: String,
    /// The verdict where it applies.
    pub caps: Standing,
    /// What is unknown, as a question.
    pub question: String,
}

/// The verdict of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The target.
    pub target: Subject,
    /// The worst of all paths.
    pub standing: Standing,
    /// What the copies and the parity beneath are worth when one more thing fails; no part of
    /// `standing`.
    pub redundancy: Redundancy,
    /// What is missing of them and what another fault would cost, in sentences; empty where nothing
    /// is known to be.
    pub second_fault: String,
    /// What becomes of commits when this host is lost for good, in sentences; empty where no
    /// standby is waited for.
    pub host_loss: String,
    /// Sessions for which the standing is another: `database app: synchronous_commit = off`.
    pub exceptions: Vec<String>,
    /// `host`, `guest` or `container`: from where it was judged.
    pub seen_by: String,
    /// Rules that would make it worse, if they applied, and of which that is unknown.
    pub undecided: Vec<UndecidedCap>,
    /// How many rules that could cap it were evaluated: known faults of releases, and settings with
    /// a reported loss.
    pub caps_checked: usize,
    /// On whose word its disks are taken that nobody can see into, each once; empty where a
    /// controller's tool shows them.
    #[serde(serialize_with = "words")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub guarantors: Vec<Guarantor>,
    /// One sentence: what may be lost and why, or what survives.
    pub sentence: String,
    /// What cannot be seen from here, in a sentence; mostly empty on bare metal.
    pub limits: String,
    /// The way of a commit's flush, hop by hop: where it gets to, and where the commit may be lost.
    pub flush_path: Vec<FlushHop>,
    /// Every path, worst first.
    pub paths: Vec<Path>,
    /// What is missing.
    pub missing: Vec<Need>,
}

fn words<S: Serializer>(guarantors: &[Guarantor], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(guarantors.iter().map(|guarantor| guarantor.word()))
}

/// The largest number of sessions that a heading names.
const MOST_EXCEPTIONS: usize = 3;

impl Verdict {
    /// The verdict as a heading, with missing copies and deviating sessions:
    /// `durable, but degraded`, `durable, except database app: synchronous_commit = off`.
    pub fn heading(&self) -> String {
        format!("{}{}", self.standing.word(), self.reservations())
    }

    /// What stands behind the standing in a heading; mostly nothing.
    pub fn reservations(&self) -> String {
        let survives = self.standing.survives();
        let copies = match self.redundancy.heading() {
            Some(more) if survives => format!(", but {more}"),
            Some(more) => format!(", and {more}"),
            None => String::new(),
        };
        let named = self
            .exceptions
            .get(..MOST_EXCEPTIONS)
            .unwrap_or(&self.exceptions)
            .join("; ");
        match self.exceptions.len().saturating_sub(MOST_EXCEPTIONS) {
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
