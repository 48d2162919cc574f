//! The remedy of a rule, which every critical rule has to state.
//!
//! Advice counts as a remedy only where it is always given. Advice with a condition of its own, or with a value from a
//! fact, may be missing where the rule applies.

use crate::rules::Level;
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::model::AdviceSpec;
use crate::rules::template::Template;

/// The two texts, of which a rule has at most the one that fits.
pub(super) struct RemedyTemplates {
    pub here: Option<Template>,
    /// Why nothing on the host mends it.
    pub none: Option<Template>,
}

impl RemedyTemplates {
    /// Reports a critical rule without any instruction for its reader.
    pub fn check(&self, level: Option<Level>, advise: &[AdviceSpec], span: Span, problems: &mut Diagnostics) {
        let told =
            self.here.is_some() || self.none.is_some() || advise.iter().any(AdviceSpec::is_always_given);
        if level == Some(Level::Critical) && !told {
            problems.missing(
                span,
                "a critical rule without a remedy",
                "advise what mends it, or say it in `remedy`; `no_remedy` says why nothing on the host does",
            );
        }
    }
}
