//! The lines in an answer to [`super::Question::PgSettings`] that are no settings. Each begins with a word in parentheses, which
//! no setting is called.

/// `(loaded)`, microseconds since 1970: when the server last loaded its configuration files.
pub const LOADED: &str = "(loaded)";

/// `(override)`, database, role, name, value: what new sessions there have instead. An empty database or role is every one.
pub const OVERRIDE: &str = "(override)";

/// `(overrides)`, then `all` or `more`: whether the lines of overrides are all. Without this line none was told.
pub const OVERRIDES: &str = "(overrides)";

/// How many overrides are told at most.
pub const MOST_OVERRIDES: usize = 100;
