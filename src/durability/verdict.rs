//! The verdict as a value, with the evidence it was joined from.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Bears, Mend};
pub use crate::facts::catalog::target::{Redundancy, Standing};
use crate::facts::{Need, Subject};

/// The origin of a piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The server: whether it flushes before it reports a commit.
    Database,
    /// The kernel: whether a flush travels on.
    Belief,
    /// The disk, its controller or its hypervisor: the statement about its cache.
    Claim,
    /// The probe or the drill: what happened to our flushes.
    Measurement,
}

impl Layer {
    /// Its word on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Belief => "belief",
            Self::Claim => "claim",
            Self::Measurement => "measurement",
        }
    }

    /// Whether the evidence comes from the server.
    pub fn is_database(self) -> bool {
        match self {
            Self::Database => true,
            Self::Belief | Self::Claim | Self::Measurement => false,
        }
    }

    /// Whether it comes from a disk, or from the controller in front of it.
    pub fn is_claim(self) -> bool {
        match self {
            Self::Claim => true,
            Self::Database | Self::Belief | Self::Measurement => false,
        }
    }
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The layer it comes from.
    pub layer: Layer,
    /// The subject it is about.
    pub subject: Subject,
    /// The best standing that it allows.
    pub standing: Standing,
    /// In a sentence without a full stop: `sda holds writes in a volatile cache`.
    pub says: String,
    /// Where it was read; empty when it could not be read.
    pub source: String,
    /// The remedy, where it endangers a commit.
    #[serde(skip)]
    pub mend: Option<Mend>,
}

impl Evidence {
    /// The evidence of a layer about a subject.
    pub fn new(layer: Layer, subject: &Subject, bears: Bears, says: String, source: String) -> Self {
        let (standing, mend) = bears.parts();
        Self { layer, subject: subject.clone(), standing, says, source, mend }
    }
}

/// One way from the target to a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Path {
    /// From the target down to the disk.
    pub hops: Vec<Subject>,
    /// The standing along it.
    pub standing: Standing,
    /// The evidence for that, worst first.
    pub evidence: Vec<Evidence>,
}

/// The verdict of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The target.
    pub target: Subject,
    /// The worst standing of all paths.
    pub standing: Standing,
    /// The state of the copies and parity below, for one more fault; not part of `standing`.
    pub redundancy: Redundancy,
    /// Missing copies and the cost of another fault, in sentences; empty where nothing is known to be missing.
    pub second_fault: String,
    /// The fate of commits when this host is lost for good, in sentences; empty where no standby is waited for.
    pub host_loss: String,
    /// Sessions with another standing: `database app: synchronous_commit = off`.
    pub exceptions: Vec<String>,
    /// The vantage point: `host`, `guest` or `container`.
    pub seen_by: String,
    /// One sentence: what may be lost and why, or what survives.
    pub sentence: String,
    /// What is invisible from here, in a sentence; usually empty on bare metal.
    pub limits: String,
    /// Every path, worst first.
    pub paths: Vec<Path>,
    /// The missing facts.
    pub missing: Vec<Need>,
}

/// The largest number of sessions that a heading names.
const MOST_EXCEPTIONS: usize = 3;

impl Verdict {
    /// The verdict as a heading, with missing copies and deviating sessions: `durable, but degraded`,
    /// `durable, except database app: synchronous_commit = off`.
    pub fn heading(&self) -> String {
        self.heading_by(self.standing.word())
    }

    /// The same with another spelling of the standing, such as in capitals.
    pub fn heading_by(&self, word: &str) -> String {
        let survives = self.standing.survives();
        let heading = match self.redundancy.heading() {
            Some(more) if survives => format!("{word}, but {more}"),
            Some(more) => format!("{word}, and {more}"),
            None => word.to_owned(),
        };
        let named = self.exceptions.get(..MOST_EXCEPTIONS).unwrap_or(&self.exceptions).join("; ");
        match self.exceptions.len().saturating_sub(MOST_EXCEPTIONS) {
            _ if named.is_empty() => heading,
            more => {
                let and_more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let joined = if survives { ", except " } else { "; " };
                format!("{heading}{joined}{named}{and_more}")
            }
        }
    }
}
