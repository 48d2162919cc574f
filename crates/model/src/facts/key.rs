//! The typed keys of facts, and their properties. [`super::catalog`] declares all keys.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Scope, Value, ValueKind};
use crate::text;

/// How a fact behaves from one run to the next; a comparison of two reports depends on this
/// behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactStability {
    /// Stays the same until a person or a program changes it.
    Lasting,
    /// Belongs to the device itself, so that a device is recognised even under another name.
    Identity,
    /// Holds names that the kernel assigns in the order of discovery.
    Assigned,
    /// Changes constantly, such as free space.
    Drifting,
    /// Follows from other facts.
    Concluded,
    /// Measured by walwise, so the value is noisy.
    Measured,
}

choice! {
    /// The heading under which outputs list a fact of a device or a mount.
    pub enum FactGroup {
        /// Facts about flushes, and about the data that a flush should make durable.
        Flushes = "flushes",
        /// Speed, and the properties that affect speed.
        Speed = "speed",
        /// Faults and shortages.
        Health = "health",
        /// Names, kinds and sizes by which people recognise the device or mount.
        Identity = "identity",
        Other = "other",
    }
}

/// Index of a fact in the list of all facts, sorted by name. Indices compare faster than names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactId(pub(super) u16);

/// A fact's declaration, without its Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyInfo {
    pub id: FactId,
    /// The dotted name, such as `device.write_cache`.
    pub name: &'static str,
    pub scope: Scope,
    pub kind: ValueKind,
    /// One sentence for users. It names the public source of the value, if there is one.
    pub doc: &'static str,
    pub nature: FactStability,
    pub group: FactGroup,
    pub affects_latency: bool,
    /// Whether judgement concludes the fact, so that `--assume` refuses it.
    pub is_judged: bool,
}

impl KeyInfo {
    /// The fact's name in plain words, without the area: `write cache`.
    pub fn display_label(&self) -> String {
        self.name
            .split_once('.')
            .map_or(self.name, |(_, rest)| rest)
            .replace('_', " ")
    }

    pub fn format_value(&self, value: &Value) -> String {
        match (self.kind, value) {
            (ValueKind::Bytes, Value::Whole(count)) => text::format_bytes(*count),
            (ValueKind::Micros, Value::Number(us)) => text::format_micros(*us),
            (_, value) => value.to_string(),
        }
    }
}

#[derive(Debug)]
pub struct Key<T> {
    pub info: KeyInfo,
    shape: PhantomData<fn() -> T>,
}

/// Declares methods that set fields of a declaration.
macro_rules! marks {
    ($($(#[$about:meta])* $mark:ident: $($field:ident = $value:expr),+;)+) => {
        $($(#[$about])*
        #[must_use]
        pub(crate) const fn $mark(mut self) -> Self {
            $(self.info.$field = $value;)+
            self
        })+
    };
}

impl<T> Key<T> {
    pub const fn new(
        id: FactId,
        name: &'static str,
        scope: Scope,
        kind: ValueKind,
        doc: &'static str,
    ) -> Self {
        let info = KeyInfo {
            id,
            name,
            scope,
            kind,
            doc,
            nature: FactStability::Lasting,
            group: FactGroup::Other,
            affects_latency: false,
            is_judged: false,
        };
        Self {
            info,
            shape: PhantomData,
        }
    }

    marks! {
        /// Marks the fact as an identity: its value belongs to the device itself, even if the
        /// device's name changes.
        mark_device_identity: nature = FactStability::Identity, group = FactGroup::Identity;
        mark_kernel_assigned: nature = FactStability::Assigned;
        mark_drifting: nature = FactStability::Drifting;
        mark_concluded: nature = FactStability::Concluded;
        mark_measured: nature = FactStability::Measured;
        in_identity_group: group = FactGroup::Identity;
        in_flushes_group: group = FactGroup::Flushes;
        in_speed_group: group = FactGroup::Speed;
        in_health_group: group = FactGroup::Health;
        mark_affects_latency: affects_latency = true;
        /// Marks the fact as a result of judgement, and thereby also as concluded.
        mark_judged: is_judged = true, nature = FactStability::Concluded;
    }

    pub const fn id(&self) -> FactId {
        self.info.id
    }

    pub const fn name(&self) -> &'static str {
        self.info.name
    }
}
