//! The conclusions about a target: the verdict, and the fate of its flushes.

use serde::{Deserialize, Serialize};

use crate::facts::choice;

choice! {
    /// The verdicts, worst first.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Standing {
        /// A committed transaction may be lost.
        AtRisk = "at risk",
        /// The layers disagree.
        Contradictory = "contradictory",
        /// Something needed is not known.
        Unproven = "unproven",
        /// The same, but it survived every power cut that was tried. It opens nothing that *unproven* keeps shut.
        ProvenByDrill = "proven by drill",
        /// It survives, and the evidence is named.
        Durable = "durable",
    }
}

impl Standing {
    /// Whether the evidence shows that a commit survives.
    pub fn is_durable(self) -> bool {
        matches!(self, Self::Durable)
    }

    /// Whether a commit survives by what was seen or tried, so that what is missing of the copies is a *but*.
    pub fn survives(self) -> bool {
        matches!(self, Self::Durable | Self::ProvenByDrill)
    }

    /// Whether a committed transaction may be lost by what was seen.
    pub fn is_at_risk(self) -> bool {
        matches!(self, Self::AtRisk)
    }

    /// Whether something needed is not known, and nothing speaks against it.
    pub fn is_unproven(self) -> bool {
        matches!(self, Self::Unproven)
    }

    /// Whether it rests on power cuts that were tried.
    pub fn is_proven_by_drill(self) -> bool {
        matches!(self, Self::ProvenByDrill)
    }
}

choice! {
    /// What happens to a flush on its way to the disks.
    pub enum Flush { Sent = "sent", NotNeeded = "not needed", Suppressed = "suppressed", Unknown = "unknown" }
}

impl Flush {
    /// Whether none arrives although some are asked for.
    pub fn is_suppressed(self) -> bool {
        matches!(self, Self::Suppressed)
    }
}

choice! {
    /// What suppresses flushes.
    pub enum Suppressor {
        FileSystem = "file system", MountOption = "mount option", QueueOverride = "queue override",
        ServerSetting = "server setting",
    }
}

choice! {
    /// What the copies and the parity beneath a target are worth when one more thing fails, worst first. The verdict is about
    /// a power failure alone.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Redundancy {
        /// More is missing than can be done without, or it does not run.
        Failed = "failed",
        /// Something is missing.
        Degraded = "degraded",
        /// Nothing is missing, and a member has failed: a spare, or one that a spare stands in for.
        FailedMember = "failed member",
        /// Parity that a power failure can leave wrong, so that a disk lost after it takes data with it.
        WriteHole = "write hole open",
        /// There are copies or parity, and what they are worth was not read.
        Unknown = "unknown",
        /// Nothing is missing.
        Whole = "whole",
        /// There are neither copies nor parity on this machine.
        None = "none",
    }
}

impl Redundancy {
    /// What a heading adds to the verdict; nothing where nothing is known to be missing.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Self::Failed => Some("failed"),
            Self::Degraded => Some("degraded"),
            Self::FailedMember => Some("with a failed member"),
            Self::WriteHole => Some("with its write hole open"),
            Self::Unknown | Self::Whole | Self::None => None,
        }
    }
}
