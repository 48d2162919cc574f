//! The typed name of a fact, declared once in [`super::catalog`] and used by collectors, judgement,
//! rules, screens and documentation.

use std::marker::PhantomData;

use serde::Serialize;

use super::{Choice, Scope, Value, ValueKind, choice};
use crate::text;

/// How a fact behaves from one run to the next; reports are compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// Stays until someone or something changes it.
    Lasting,
    /// Stays with the thing itself, so that a device is recognised under another name.
    Identity,
    /// Holds names that the kernel assigns in the order of discovery.
    Assigned,
    /// Changes by itself, such as free space.
    Drifting,
    /// Follows from other facts.
    Concluded,
    /// Measured by walwise, so it has noise.
    Measured,
}

choice! {
    /// The group of a fact about a device or a mount, in outputs.
    pub enum FactGroup {
        /// What happens to a flush, and to the data it should make durable.
        Flushes = "flushes",
        /// Speed, and what it depends on.
        Speed = "speed",
        /// Faults and shortages.
        Health = "health",
        /// What it is.
        Identity = "identity",
        /// All else.
        Other = "other",
    }
}

/// A fact's index among all facts, sorted by name; facts are compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactId(pub(super) u16);

/// A fact's declaration, without its Rust type.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    pub id: FactId,
    /// The dotted name, such as `device.write_cache`.
    pub name: &'static str,
    pub scope: Scope,
    pub kind: ValueKind,
    /// One sentence, with the public source of the attribute.
    pub doc: &'static str,
    pub nature: Nature,
    pub group: FactGroup,
    /// Whether a change can affect commit latency.
    pub affects_latency: bool,
    /// Whether judgement concludes it; such facts cannot be assumed.
    pub is_judged: bool,
}

impl KeyInfo {
    /// Its name in plain words, without the area: `write cache`.
    pub fn label(&self) -> String {
        self.name
            .split_once('.')
            .map_or(self.name, |(_, rest)| rest)
            .replace('_', " ")
    }

    /// A value of this fact for display, with its unit: `16 MiB`, `182 µs`, `yes`.
    pub fn format_value(&self, value: &Value) -> String {
        match (self.kind, value) {
            (ValueKind::Bytes, Value::Whole(count)) => text::bytes(*count),
            (ValueKind::Micros, Value::Number(us)) => text::micros(*us),
            (_, value) => value.to_string(),
        }
    }
}

/// The typed name of a fact.
#[derive(Debug)]
pub struct Key<T> {
    pub info: KeyInfo,
    shape: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    pub const fn new(
        id: FactId,
        name: &'static str,
        scope: Scope,
        kind: ValueKind,
        doc: &'static str,
    ) -> Self {
        let (nature, group) = (Nature::Lasting, FactGroup::Other);
        let (prices, is_judged) = (false, false);
        let info = KeyInfo {
            id,
            name,
            scope,
            kind,
            doc,
            nature,
            group,
            affects_latency: prices,
            is_judged,
        };
        Self {
            info,
            shape: PhantomData,
        }
    }

    /// Marks an identity: it stays with the thing itself.
    #[must_use]
    pub const fn identity(mut self) -> Self {
        self.info.nature = Nature::Identity;
        self.info.group = FactGroup::Identity;
        self
    }

    /// Marks names that the kernel assigns.
    #[must_use]
    pub const fn assigned(mut self) -> Self {
        self.info.nature = Nature::Assigned;
        self
    }

    /// Marks what the thing is.
    #[must_use]
    pub const fn identifies(mut self) -> Self {
        self.info.group = FactGroup::Identity;
        self
    }

    /// Marks what decides about flushes.
    #[must_use]
    pub const fn affects_flushes(mut self) -> Self {
        self.info.group = FactGroup::Flushes;
        self
    }

    /// Marks what decides speed.
    #[must_use]
    pub const fn speed(mut self) -> Self {
        self.info.group = FactGroup::Speed;
        self
    }

    /// Marks faults and shortages.
    #[must_use]
    pub const fn health(mut self) -> Self {
        self.info.group = FactGroup::Health;
        self
    }

    /// Marks a value that changes by itself.
    #[must_use]
    pub const fn drifting(mut self) -> Self {
        self.info.nature = Nature::Drifting;
        self
    }

    /// Marks what follows from other facts.
    #[must_use]
    pub const fn concluded(mut self) -> Self {
        self.info.nature = Nature::Concluded;
        self
    }

    /// Marks a measurement.
    #[must_use]
    pub const fn measured(mut self) -> Self {
        self.info.nature = Nature::Measured;
        self
    }

    /// Marks what can affect commit latency.
    #[must_use]
    pub const fn affects_latency(mut self) -> Self {
        self.info.affects_latency = true;
        self
    }

    /// Marks what judgement concludes.
    #[must_use]
    pub const fn judged(mut self) -> Self {
        self.info.is_judged = true;
        self.concluded()
    }

    pub const fn id(&self) -> FactId {
        self.info.id
    }

    pub const fn name(&self) -> &'static str {
        self.info.name
    }
}

impl<T: Choice> Key<T> {
    /// Declares a fact that is one of a few words.
    pub const fn choice(id: FactId, name: &'static str, scope: Scope, doc: &'static str) -> Self {
        Self::new(id, name, scope, ValueKind::Choice(T::WORDS), doc)
    }
}
