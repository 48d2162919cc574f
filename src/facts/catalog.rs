//! Every fact, declared once: name, scope, kind, and one sentence with its public source.
//!
//! One file per area. Collectors, judgement, rules, screens, `facts --list` and did-you-mean all read these.
//! *Concluded* facts (the verdict, validity, probe results) are declared here too, because rules use them like any
//! other.

use std::sync::LazyLock;

use super::{FactId, KeyInfo, Value};

/// Declares the facts of an area: constants for code, their `NAMES`, and the list `ALL` for everything that goes by name. Behind the kind
/// stands what marks a fact, if anything does: its [`Nature`](super::Nature), its group, and whether it `prices` a commit. A fact without a kind is one of the words of its type.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident: $type:ty = $scope:ident $name:literal $($kind:expr)? $(, $mark:ident)*;)+) => {
        #[allow(unused_imports, reason = "an area may have choices alone")]
        use crate::facts::ValueKind;
        use crate::facts::{Key, KeyInfo, Scope};
        $($(#[doc = $doc])+
        pub const $id: Key<$type> = facts!(@key $name, Scope::$scope, concat!($($doc),+) $(, $kind)?)$(.$mark())*;)+
        /// Their names.
        pub(super) const NAMES: &[&str] = &[$($name),+];
        /// All facts of this area.
        pub const ALL: &[KeyInfo] = &[$($id.info),+];
    };
    (@key $name:expr, $scope:expr, $doc:expr) => {
        Key::choice(crate::facts::catalog::place($name), $name, $scope, $doc)
    };
    (@key $name:expr, $scope:expr, $doc:expr, $kind:expr) => {
        Key::new(crate::facts::catalog::place($name), $name, $scope, $kind, $doc)
    };
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
pub mod trial;

/// A list of every area.
macro_rules! every {
    ($list:ident) => {
        [
            host::$list,
            kernel::$list,
            device::$list,
            controller::$list,
            mount::$list,
            boot::$list,
            cluster::$list,
            postgres::$list,
            mysql::$list,
            target::$list,
            probe::$list,
            drill::$list,
            trial::$list,
        ]
    };
}

/// Every fact, area by area.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    every!(ALL).into_iter().flatten()
}

/// How many names come before this one.
pub(super) const fn place(name: &str) -> FactId {
    let (mut before, areas) = (0, every!(NAMES));
    let mut areas = areas.as_slice();
    while let [area, others @ ..] = areas {
        let mut names = *area;
        while let [other, rest @ ..] = names {
            before += is_before(other.as_bytes(), name.as_bytes()) as u16;
            names = rest;
        }
        areas = others;
    }
    FactId(before)
}

/// Whether one name comes before another; that of bytes as they are, since comparing in general is not for constants.
const fn is_before(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return *a < *b;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.len() < other.len()
}

/// A value of the fact of this name as people read it; as it is where there is no such fact.
pub fn show(name: &str, value: &Value) -> String {
    find(name).map_or_else(|| value.to_string(), |info| info.show(value))
}

/// The fact of this name.
pub fn find(name: &str) -> Option<&'static KeyInfo> {
    static IN_ORDER: LazyLock<Vec<&KeyInfo>> = LazyLock::new(|| {
        let mut all: Vec<&KeyInfo> = all().collect();
        all.sort_unstable_by_key(|info| info.id);
        all
    });
    let at = IN_ORDER.binary_search_by_key(&name, |info| info.name).ok()?;
    IN_ORDER.get(at).copied()
}

/// Whether a word is among those that a choice allows; true for every other kind.
pub fn allows(info: &KeyInfo, word: &str) -> bool {
    info.kind.choices().is_none_or(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place_in_the_order_of_the_names() {
        let mut all: Vec<&KeyInfo> = all().collect();
        all.sort_by_key(|info| info.name);
        for (place, info) in (0..).zip(all) {
            assert_eq!(info.id, FactId(place), "{}", info.name);
        }
    }

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for info in all() {
            assert!(seen.insert(info.name), "{} is declared twice", info.name);
            assert!(info.doc.trim().ends_with('.'), "{}: a sentence, please", info.name);
        }
    }
}
