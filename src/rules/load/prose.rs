//! The texts of rules: lines joined to paragraphs, and the facts named in them.

use super::cond::{self, Sight};
use super::fields::Text;
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::template::Template;

/// The advice where `{which}` is not allowed.
pub const WHICH: &str = "write `{subject}`, which is the subject's own name";

/// A text with facts in it, each of which exists and is visible.
pub fn prose(text: &Text, sight: &Sight, problems: &mut Diagnostics) -> Template {
    template(&flowing(&text.text), &text.span, sight, problems)
}

/// The same of a text at this place.
pub fn template(text: &str, span: &Span, sight: &Sight, problems: &mut Diagnostics) -> Template {
    let template = Template::parse(text, |name| cond::named(name, span, sight, problems)).0;
    if template.names_which() {
        problems.report(span, "`{which}` stands in titles and reasons only", WHICH);
    }
    template
}

/// Lines joined to one paragraph.
pub fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
