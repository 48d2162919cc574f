//! Pages that a power failure tears. A server that overwrites a page without keeping a copy cannot repair a
//! half-written page, and everything committed into that page is lost.
//!
//! The copy is unnecessary on a file system that writes pages atomically, and there is one: ZFS with records as large as
//! a page. Neither a battery, nor a disk's atomic write size, nor data=journal suffices. Where every link of a provider's
//! documented chain holds ([`crate::durability::page`]), its word stands for the copy, and that proves nothing.

use super::sayer::Sayer;
use crate::durability::Bears::{AtRisk, Durable, Unproven};
use crate::durability::Mend;
use crate::durability::ask::Ask;
use crate::durability::page::{self, PageFate};
use crate::facts::catalog::target::{self, Role};
use crate::facts::{FactValue, Key, Subject};
use crate::truth::Truth;

/// A setting that makes a server keep copies of pages.
pub struct Copies<'k, T> {
    pub key: &'k Key<T>,
    /// Whether copies are kept; `None` where that is unknown.
    pub kept: Option<bool>,
    /// The setting in words: `full_page_writes is off`.
    pub reads: String,
    /// The remedy that makes the server keep copies.
    pub mend: Mend,
}

/// Whether pages lie on a target that a power failure can tear permanently; true also where the contents of the target
/// are unknown.
pub fn may_tear(ask: &mut Ask, of: &Subject) -> bool {
    let holds = |role: &Role| matches!(role, Role::Data | Role::Tablespace | Role::Undo);
    ask.value(of, &target::ROLES).is_none_or(|roles| roles.iter().any(holds))
}

/// Judges the setting for the pages on a target.
pub fn judge<T: FactValue>(
    ask: &mut Ask,
    of: &Subject,
    cluster: &Subject,
    copies: &Copies<'_, T>,
    sayer: &mut Sayer,
) {
    if copies.kept == Some(true) || !may_tear(ask, of) {
        return;
    }
    let Copies { key, reads, mend, .. } = copies;
    if copies.kept.is_none() {
        ask.miss(cluster, key, None);
        let says = format!("it is unknown whether a torn page can be repaired ({})", key.name());
        return sayer.say(ask, cluster, key, Unproven, says);
    }
    let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
    let (bears, says) = match page::judge(ask, of, cluster) {
        PageFate::Whole => {
            (Durable, format!("ZFS writes pages atomically here, so none can be torn ({reads})"))
        }
        PageFate::Unread(says, _) => (Unproven, format!("{lost}, and {says}")),
        PageFate::Chain(chain) => match chain.holds() {
            Truth::True => (
                Unproven,
                format!("only Amazon's documentation says that no page can be torn here ({reads})"),
            ),
            Truth::Unknown | Truth::False => {
                (AtRisk(mend.clone()), format!("{lost}, and what was committed into it is gone"))
            }
        },
    };
    sayer.say(ask, cluster, key, bears, says);
}
