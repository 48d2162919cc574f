use schemars::JsonSchema;
use serde::Serialize;
use walwise_judge::rules::{AdviceBasis, Confidence, Risk};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::choice;

choice! {
    /// The settings that every target has an answer for, in display order.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Topic {
        Filesystem = "filesystem",
        MkfsOptions = "mkfs options",
        MountOptions = "mount options",
        WalSyncMethod = "wal_sync_method",
        #[serde(rename = "innodb_flush_method")]
        FlushMethod = "innodb_flush_method",
        #[serde(rename = "innodb_flush_log_at_trx_commit")]
        FlushLog = "innodb_flush_log_at_trx_commit",
        MaxWalSize = "max_wal_size",
        #[serde(rename = "innodb_redo_log_capacity")]
        RedoCapacity = "innodb_redo_log_capacity",
        CommitLatency = "commit latency",
    }
}

/// The action that the plan takes for a setting, or the reason for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerAction {
    /// A rule confirms the value in force.
    Keep,
    /// A step of the plan changes the value.
    Change,
    /// The file system to be created on a free disk gets the value.
    Create,
    /// All rules for the setting are decided, and none gives advice.
    #[default]
    NoAdvice,
    /// A fact or a measurement is missing.
    Undecided,
    /// The setting belongs to the other kind of server, or the file system already exists.
    NotApplicable,
}

/// A value in the syntax of the server, mount table or mkfs, or a latency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnswerValue {
    Text(String),
    Latency(CommitLatencyValue),
}

/// The latency of paced 8 kB commits by one client, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CommitLatencyValue {
    pub method: String,
    pub median_us: f64,
    /// The low end of the 95 % interval of the median; `high_us` is the high end.
    pub low_us: f64,
    pub high_us: f64,
    /// Present only with 1,000 commits or more.
    pub p99_us: Option<f64>,
}

/// The mean duration of a running server's flushes of its log, from its own counters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProductionLatency {
    pub flush_mean_us: f64,
    /// Time of the last reset of the server's counters.
    pub since: Option<String>,
}

/// The action, the value in force and the recommended value of one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub action: AnswerAction,
    /// The recommended value; equals `current` if the action is `keep`.
    pub value: Option<AnswerValue>,
    pub current: Option<AnswerValue>,
    pub basis: Option<AdviceBasis>,
    pub confidence: Option<Confidence>,
    /// The reason for the action, or the missing fact or measurement, in one line.
    pub reason: String,
    /// Commands that apply the value, or that obtain the missing facts.
    #[schemars(with = "Vec<String>")]
    pub apply: Vec<ShellCommand>,
    /// The name of the setting on this server, if different from the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<&'static str>,
    /// Space that the log takes on disk, and the cause if the log exceeds its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// The latency that the server measures in production.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub production: Option<ProductionLatency>,
    /// The interruption or the risk of the recommended change.
    #[serde(skip)]
    pub risk: Option<Risk>,
}

impl Answer {
    fn without_value(action: AnswerAction, reason: impl Into<String>) -> Self {
        Self {
            action,
            reason: reason.into(),
            ..Self::default()
        }
    }

    pub fn no_advice(reason: impl Into<String>) -> Self {
        Self::without_value(AnswerAction::NoAdvice, reason)
    }

    pub fn undecided(reason: impl Into<String>) -> Self {
        Self::without_value(AnswerAction::Undecided, reason)
    }

    pub fn not_applicable(reason: &str) -> Self {
        Self::without_value(AnswerAction::NotApplicable, reason)
    }
}
