//! Pages that a power failure tears. A server that overwrites a page without keeping a copy cannot repair a
//! half-written page, and everything committed into that page is lost.
//!
//! The copy is unnecessary only on a file system that writes pages atomically, and there is one: ZFS with records as
//! large as a page. Neither a battery, nor a disk's atomic write size, nor data=journal suffices, because a page
//! reaches the disk as several writes of the page cache.

use super::sayer::Sayer;
use crate::durability::Bears::{AtRisk, Durable, Unproven};
use crate::durability::Mend;
use crate::durability::ask::Ask;
use crate::facts::catalog::mount;
use crate::facts::catalog::target::{self, Role};
use crate::facts::{FactValue, Key, Scope, Subject};

/// A setting that makes a server keep copies of pages.
pub struct Copies<'k, T> {
    /// The setting.
    pub key: &'k Key<T>,
    /// Whether copies are kept; `None` where that is unknown.
    pub kept: Option<bool>,
    /// The setting in words: `full_page_writes is off`.
    pub reads: String,
    /// The largest page, in bytes.
    pub page: u64,
    /// The remedy that makes the server keep copies.
    pub mend: Mend,
}

/// Whether pages lie on a target that a power failure can tear permanently; true also where the contents of the target
/// are unknown.
pub fn may_tear(ask: &mut Ask, of: &Subject) -> bool {
    let holds = |role: &Role| match role {
        Role::Data | Role::Tablespace | Role::Undo => true,
        Role::Wal | Role::Redo | Role::Binlog | Role::Doublewrite => false,
    };
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
    let Copies { key, reads, page, mend, .. } = copies;
    if copies.kept.is_none() {
        ask.miss(cluster, key, None);
        let says = format!("it is unknown whether a torn page can be repaired ({})", key.name());
        return sayer.say(ask, cluster, key, Unproven, says);
    }
    let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
    let home = ask.facts.resolve(of, Scope::Mount);
    let fstype = home.as_ref().and_then(|home| ask.need(home, &mount::FSTYPE));
    let record = home.as_ref().filter(|_| fstype.as_deref() == Some("zfs"));
    let record = record.and_then(|home| ask.need(home, &mount::ZFS_RECORD));
    let (bears, says) = match (fstype.as_deref(), record) {
        (None, _) => (Unproven, format!("{lost}, and it is unknown what the file system does with pages")),
        (Some("zfs"), Some(record)) if record >= *page => {
            (Durable, format!("ZFS writes pages atomically here, so none can be torn ({reads})"))
        }
        (Some("zfs"), None) => (Unproven, format!("{lost}, and the record size of ZFS is unknown")),
        (Some(_), _) => (AtRisk(mend.clone()), format!("{lost}, and what was committed into it is gone")),
    };
    sayer.say(ask, cluster, key, bears, says);
}
