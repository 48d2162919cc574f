//! An answer about a target, made in [`crate::answers`].

use serde::Serialize;

use walwise_judge::rules::{Basis, Confidence, Risk};
use walwise_model::escape::Command;

/// The settings with an answer, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Filesystem,
    MkfsOptions,
    MountOptions,
    WalSyncMethod,
    #[serde(rename = "innodb_flush_method")]
    FlushMethod,
    #[serde(rename = "innodb_flush_log_at_trx_commit")]
    FlushLog,
    MaxWalSize,
    #[serde(rename = "innodb_redo_log_capacity")]
    RedoCapacity,
    CommitLatency,
}

impl Topic {
    pub const ALL: [Self; 9] = [
        Self::Filesystem,
        Self::MkfsOptions,
        Self::MountOptions,
        Self::WalSyncMethod,
        Self::FlushMethod,
        Self::FlushLog,
        Self::MaxWalSize,
        Self::RedoCapacity,
        Self::CommitLatency,
    ];

    /// The label of its row.
    pub fn label(self) -> &'static str {
        match self {
            Self::Filesystem => "filesystem",
            Self::MkfsOptions => "mkfs options",
            Self::MountOptions => "mount options",
            Self::WalSyncMethod => "wal_sync_method",
            Self::FlushMethod => "innodb_flush_method",
            Self::FlushLog => "innodb_flush_log_at_trx_commit",
            Self::MaxWalSize => "max_wal_size",
            Self::RedoCapacity => "innodb_redo_log_capacity",
            Self::CommitLatency => "commit latency",
        }
    }
}

/// The action for a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerAction {
    /// A rule says keep, and the value is in force.
    Keep,
    /// A step of the plan sets it.
    Change,
    /// A free disk gets it when its file system is created.
    Create,
    /// Every rule for it is decided, and none advises.
    NoAdvice,
    /// A fact or the measurement is missing.
    Undecided,
    /// A setting of the other server, or mkfs options of an existing file system.
    NotApplicable,
}

/// A setting as its server, the mount table or mkfs writes it, or a latency.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum AnswerValue {
    Text(String),
    Latency(Latency),
}

/// The latency of paced 8 kB commits by one client, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Latency {
    pub method: String,
    pub median_us: f64,
    /// The 95 % interval of the median.
    pub low_us: f64,
    pub high_us: f64,
    /// Only from 1,000 commits on.
    pub p99_us: Option<f64>,
}

/// The answer for one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Answer {
    pub action: AnswerAction,
    /// What should be in force; for *keep* the same as `current`.
    pub value: Option<AnswerValue>,
    pub current: Option<AnswerValue>,
    pub basis: Option<Basis>,
    pub confidence: Option<Confidence>,
    /// One line: the reason, or what is missing.
    pub reason: String,
    /// Commands that apply it, or that measure what is missing.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "Vec<String>"))]
    pub apply: Vec<Command>,
    /// The name of the setting on this server, if it differs from the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<&'static str>,
    /// What the change interrupts.
    #[serde(skip)]
    pub risk: Option<Risk>,
}

impl Answer {
    fn without_value(action: AnswerAction, reason: String) -> Self {
        Self {
            action,
            value: None,
            current: None,
            basis: None,
            confidence: None,
            reason,
            apply: Vec::new(),
            setting: None,
            risk: None,
        }
    }

    pub fn no_advice(reason: String) -> Self {
        Self::without_value(AnswerAction::NoAdvice, reason)
    }

    pub fn undecided(reason: String) -> Self {
        Self::without_value(AnswerAction::Undecided, reason)
    }

    pub fn not_applicable(reason: &str) -> Self {
        Self::without_value(AnswerAction::NotApplicable, reason.to_owned())
    }
}
