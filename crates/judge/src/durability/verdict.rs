use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{EvidenceImpact, FlushHop, VerdictRemedy};
use crate::facts::catalog::device::WriteGuarantor;
pub use crate::facts::catalog::target::{RedundancyState, VerdictKind};
use crate::facts::{MissingFact, Subject, choice};

choice! {
    /// The source layer of a piece of evidence.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum EvidenceLayer {
        /// Whether the server flushes before it reports a commit.
        Database = "database" is_database,
        /// Whether the kernel passes a flush on.
        #[serde(rename = "kernel")]
        Kernel = "kernel",
        /// A report about the device's cache, by the disk, its controller or its hypervisor.
        #[serde(rename = "device")]
        Device = "device" is_device,
        /// The results of a probe's flushes, or of a power cut in a drill.
        Measurement = "measurement" is_measurement,
        /// A rule about a release or a setting that caps the verdict.
        Rule = "rule" is_rule,
    }
}

/// A piece of evidence for or against a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The origin of the evidence, such as `kernel` or `device`.
    pub layer: EvidenceLayer,
    /// The server, file system, layer or disk that the evidence is about.
    pub subject: Subject,
    /// The best verdict that the evidence allows.
    pub standing: VerdictKind,
    /// A clause without full stop: `sda caches writes in a volatile cache`.
    #[serde(rename = "text")]
    pub text: String,
    /// Source of the reading; empty if the value could not be read.
    pub source: String,
    /// The fix, if the evidence counts against a commit.
    #[serde(skip)]
    pub remedy: Option<VerdictRemedy>,
}

impl Evidence {
    pub fn new(
        layer: EvidenceLayer,
        subject: &Subject,
        bears: EvidenceImpact,
        says: String,
        source: String,
    ) -> Self {
        let (standing, mend) = bears.into_verdict_and_remedy();
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

/// One path from the target to a disk, with the evidence about its hops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathVerdict {
    /// The subjects on the path in order; the target is first and the disk last.
    pub hops: Vec<Subject>,
    /// The worst verdict of the path's evidence.
    pub standing: VerdictKind,
    /// The path's evidence, worst first.
    pub evidence: Vec<Evidence>,
}

/// An undecided rule that could cap a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UndecidedCapRule {
    /// Id of the rule: `area.name`.
    pub rule: String,
    /// The best verdict that is left if the rule applies.
    pub caps: VerdictKind,
    /// The rule's question; "yes" would mean that the cap applies.
    pub question: String,
}

/// The verdict about commits in one target directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The target directory, which may hold data or logs of several servers.
    pub target: Subject,
    /// The worst verdict of all paths.
    pub standing: VerdictKind,
    /// Copies and parity below, and whether one more disk failure is survived; not part of
    /// `standing`.
    pub redundancy: RedundancyState,
    /// Missing copies and the cost of one more disk failure, as sentences; empty if nothing is
    /// known to be missing.
    pub second_fault: String,
    /// Consequences for commits if this host is lost for good, as sentences. Empty if no standby is
    /// configured or the consequences are unknown.
    pub host_loss: String,
    /// Sessions with another verdict: `database app: synchronous_commit = off`.
    pub exceptions: Vec<String>,
    /// The place where walwise ran: `host`, `guest`, `container` or `unknown`.
    pub seen_by: String,
    /// Undecided rules that would lower the verdict if they applied.
    pub undecided: Vec<UndecidedCapRule>,
    /// Number of evaluated rules that could cap the verdict: known faults of releases, and settings
    /// that are reported to lose data.
    pub caps_checked: usize,
    /// Guarantors of disks with caches that cannot be inspected from this host, without duplicates;
    /// empty if a controller's tool shows the disks.
    #[serde(serialize_with = "serialize_guarantors")]
    #[schemars(with = "Vec<String>")]
    pub guarantors: Vec<WriteGuarantor>,
    /// One sentence about the loss and its cause, or about the commits that survive.
    pub sentence: String,
    /// Sentences about parts of the stack that are not visible from here; usually empty on bare
    /// metal.
    pub limits: String,
    /// The path of a commit's flush, hop by hop, and where the commit may be lost.
    pub flush_path: Vec<FlushHop>,
    /// Every path from the target to a disk, worst first.
    pub paths: Vec<PathVerdict>,
    /// Facts that were needed and are unknown.
    pub missing: Vec<MissingFact>,
}

fn serialize_guarantors<S: Serializer>(
    guarantors: &[WriteGuarantor],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(guarantors.iter().map(|guarantor| guarantor.as_str()))
}

const MAX_EXCEPTIONS: usize = 3;

impl Verdict {
    pub fn deciding_evidence(&self) -> impl Iterator<Item = &Evidence> {
        let evidence = self.paths.iter().flat_map(|path| &path.evidence);
        evidence.filter(|one| one.standing == self.standing)
    }

    /// The hop of the flush path that decides the verdict: the last disk if commits survive,
    /// otherwise the first hop with the verdict's standing. `None` if no hop is the cause.
    pub fn deciding_hop(&self) -> Option<&FlushHop> {
        let mut hops = self.flush_path.iter();
        if self.standing.commit_survives() {
            return hops.rfind(|hop| hop.kind.is_disk());
        }
        hops.find(|hop| hop.standing == self.standing)
    }

    /// The verdict with redundancy and deviating sessions: `durable, but degraded` or `durable,
    /// except database app: synchronous_commit = off`.
    #[cfg(any(test, feature = "testing"))]
    pub fn heading_with_exceptions(&self) -> String {
        format!("{}{}", self.standing.as_str(), self.heading_suffix())
    }

    pub fn heading_suffix(&self) -> String {
        let survives = self.standing.commit_survives();
        let copies = match self.redundancy.verdict_suffix() {
            Some(more) if survives => format!(", but {more}"),
            Some(more) => format!(", {more}"),
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
