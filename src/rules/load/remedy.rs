//! What a rule says of how to mend what it finds, and that no critical rule goes without.
//!
//! The surprise: advice counts only where it is always given. One with a condition of its own, or whose value comes from a
//! fact, may be missing where the rule applies.

use crate::rules::Level;
use crate::rules::diagnostic::{Problems, Span};
use crate::rules::model::AdviceSpec;
use crate::rules::template::Template;

/// The two texts, of which a rule has at most the one that fits.
pub(super) struct Remedy {
    /// What mends it.
    pub here: Option<Template>,
    /// Why nothing on the host does.
    pub none: Option<Template>,
}

impl Remedy {
    /// Reports a critical rule that tells its reader nothing to do.
    pub fn check(&self, level: Option<Level>, advise: &[AdviceSpec], span: Span, problems: &mut Problems) {
        let told =
            self.here.is_some() || self.none.is_some() || advise.iter().any(AdviceSpec::is_always_given);
        if level == Some(Level::Critical) && !told {
            let help =
                "advise what mends it, or say it in `remedy`; `no_remedy` says why nothing on the host does";
            problems.missing(span, "a critical rule without a remedy", help.to_owned());
        }
    }
}
