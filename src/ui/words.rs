//! Words for the rows of a screen, where the report's own sentences are too long. Everything else is said in the words of
//! the text report ([`crate::report::telling::words`]).

use crate::facts::Subject;
use crate::ui::widgets::text::fit_end;

/// The most columns that a subject takes in a row.
const SUBJECT: usize = 24;

/// A subject without its kind; of a long path the end.
pub fn subject(subject: &Subject) -> String {
    if subject.name().is_empty() { subject.to_string() } else { fit_end(subject.name(), SUBJECT) }
}
