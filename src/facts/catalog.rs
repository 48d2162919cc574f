//! Every fact, declared once: name, scope, kind, and one sentence with its public source.
//!
//! One file per area. Collectors, judgement, rules, screens, `facts --list` and did-you-mean all read these.
//! *Concluded* facts (the verdict, validity, probe results) are declared here too, because rules use them like any
//! other.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{KeyInfo, Value};

/// Declares the facts of an area: constants for code and the list `ALL` for everything that goes by name. Behind the kind
/// stands what marks a fact, if anything does: its [`Nature`](super::Nature), whether it `prices` a commit, and what
/// [`Supposing`](super::Supposing) it comes to. A fact without a kind is one of the words of its type.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident: $type:ty = $scope:ident $name:literal $($kind:expr)? $(, $mark:ident $(($($of:expr),+))?)*;)+) => {
        #[allow(unused_imports, reason = "an area may have choices alone, or no causes")]
        use crate::facts::{Cause, Kind};
        use crate::facts::{Key, KeyInfo, Scope};
        $($(#[doc = $doc])+
        pub const $id: Key<$type> = facts!(@key $name, Scope::$scope, concat!($($doc),+) $(, $kind)?)$(.$mark($($($of),+)?))*;)+
        /// All facts of this area.
        pub const ALL: &[KeyInfo] = &[$($id.info),+];
    };
    (@key $name:expr, $scope:expr, $doc:expr) => { Key::choice($name, $scope, $doc) };
    (@key $name:expr, $scope:expr, $doc:expr, $kind:expr) => { Key::new($name, $scope, $kind, $doc) };
}

pub mod boot;
pub mod cluster;
pub mod controller;
pub mod device;
pub mod drill;
pub mod host;
pub mod kernel;
pub mod mount;
pub mod mysql;
pub mod postgres;
pub mod probe;
pub mod target;

/// Every fact, area by area.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    [
        host::ALL,
        kernel::ALL,
        device::ALL,
        controller::ALL,
        mount::ALL,
        boot::ALL,
        cluster::ALL,
        postgres::ALL,
        mysql::ALL,
        target::ALL,
        probe::ALL,
        drill::ALL,
    ]
    .into_iter()
    .flatten()
}

/// A value of the fact of this name as people read it; as it is where there is no such fact.
pub fn show(name: &str, value: &Value) -> String {
    find(name).map_or_else(|| value.to_string(), |info| info.show(value))
}

/// The fact of this name.
pub fn find(name: &str) -> Option<&'static KeyInfo> {
    static BY_NAME: LazyLock<BTreeMap<&str, &KeyInfo>> =
        LazyLock::new(|| all().map(|info| (info.name, info)).collect());
    BY_NAME.get(name).copied()
}

/// Whether a word is among those that a choice allows; true for every other kind.
pub fn allows(info: &KeyInfo, word: &str) -> bool {
    info.kind.choices().is_none_or(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for info in all() {
            assert!(seen.insert(info.name), "{} is declared twice", info.name);
            assert!(info.doc.trim().ends_with('.'), "{}: a sentence, please", info.name);
        }
    }
}
