//! The lines in an answer to [`super::Question::PgSettings`] that are no settings. Each begins with a word in
//! parentheses, which is never the name of a setting.

/// `(loaded)`, microseconds since 1970: when the server last loaded its configuration files.
pub const LOADED: &str = "(loaded)";

/// `(wal_compression)`, words with commas: the values of that setting that the server was built with; none before 15.
pub const COMPRESSIONS: &str = "(wal_compression)";

/// `(override)`, database, role, name, value: the value that new sessions there start with. An empty database or role
/// stands for every one.
pub const OVERRIDE: &str = "(override)";

/// `(overrides)`, then `all` or `more`: whether the lines of overrides are complete. Without this line none was read.
pub const OVERRIDES: &str = "(overrides)";

/// The largest number of overrides in an answer.
pub const MOST_OVERRIDES: usize = 100;
