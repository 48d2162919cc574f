//! The ways in which a command ends early. The exit code of each is given by [`crate::cli::run`].

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Wrong use, or rules or an input file that cannot be used: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Anything else: exit code 1.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
    /// Ended by a signal: exit code 128 + n. The second field is an error while it ended.
    #[error("ended by a signal")]
    Signal(i32, Option<String>),
}
