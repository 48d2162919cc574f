//! The typed name of a fact. Each is declared once, in [`super::catalog`], and used by collectors,
//! judgement, rules, screens and documentation alike.

use std::marker::PhantomData;

use serde::Serialize;

use super::{Choice, Scope, Value, ValueKind, choice};
use crate::text;

/// How a fact behaves from one look at a machine to the next, by which two reports are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// It stays until somebody or something changes it.
    Lasting,
    /// It stays with the thing itself, so that a device is known again under another name.
    Identity,
    /// It holds names that the kernel hands out in the order in which it finds things.
    Assigned,
    /// It moves by itself, such as free space.
    Drifting,
    /// It follows from other facts.
    Concluded,
    /// We measured it, so it has noise.
    Measured,
}

choice! {
    /// What a fact tells of a device or a mount, by which outputs group facts.
    pub enum FactGroup {
        /// What becomes of a flush, and of what it is to make durable.
        Flushes = "flushes",
        /// How fast it can be, and the shape of what is fast.
        Speed = "speed",
        /// Whether it is well.
        Health = "health",
        /// What it is.
        Identity = "identity",
        /// All else.
        Other = "other",
    }
}

/// The place of a fact among all that are declared, in the order of their names: what facts are
/// compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactId(pub(super) u16);

/// What is declared of a fact, without its Rust type.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    /// Its place among all facts.
    pub id: FactId,
    /// The dotted name, such as `device.write_cache`.
    pub name: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// What its value is.
    pub kind: ValueKind,
    /// One sentence, with the public source of the attribute.
    pub doc: &'static str,
    /// How it behaves from one look to the next.
    pub nature: Nature,
    /// What it tells of the thing.
    pub group: FactGroup,
    /// Whether a change of it can move what a commit costs.
    pub prices: bool,
    /// Whether judgement concludes it.
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

    /// A value of this fact as people read it, with its unit: `16 MiB`, `182 µs`, `yes`.
    pub fn show(&self, value: &Value) -> String {
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
    /// The declaration.
    pub info: KeyInfo,
    shape: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// Declares a fact, whose place the catalog knows.
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
            prices,
            is_judged,
        };
        Self {
            info,
            shape: PhantomData,
        }
    }

    /// It tells the thing itself.
    #[must_use]
    pub const fn identity(mut self) -> Self {
        self.info.nature = Nature::Identity;
        self.info.group = FactGroup::Identity;
        self
    }

    /// It holds names that the kernel hands out.
    #[must_use]
    pub const fn assigned(mut self) -> Self {
        self.info.nature = Nature::Assigned;
        self
    }

    /// It tells what the thing is.
    #[must_use]
    pub const fn identifies(mut self) -> Self {
        self.info.group = FactGroup::Identity;
        self
    }

    /// It tells what becomes of a flush.
    #[must_use]
    pub const fn of_cache(mut self) -> Self {
        self.info.group = FactGroup::Flushes;
        self
    }

    /// It tells how fast the thing can be.
    #[must_use]
    pub const fn speed(mut self) -> Self {
        self.info.group = FactGroup::Speed;
        self
    }

    /// It tells whether the thing is well.
    #[must_use]
    pub const fn health(mut self) -> Self {
        self.info.group = FactGroup::Health;
        self
    }

    /// It moves by itself.
    #[must_use]
    pub const fn drifting(mut self) -> Self {
        self.info.nature = Nature::Drifting;
        self
    }

    /// It follows from other facts.
    #[must_use]
    pub const fn concluded(mut self) -> Self {
        self.info.nature = Nature::Concluded;
        self
    }

    /// We measured it.
    #[must_use]
    pub const fn measured(mut self) -> Self {
        self.info.nature = Nature::Measured;
        self
    }

    /// A change of it can move what a commit costs.
    #[must_use]
    pub const fn prices(mut self) -> Self {
        self.info.prices = true;
        self
    }

    /// Judgement concludes it.
    #[must_use]
    pub const fn judged(mut self) -> Self {
        self.info.is_judged = true;
        self.concluded()
    }

    /// Its place among all facts.
    pub const fn id(&self) -> FactId {
        self.info.id
    }

    /// Its name.
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
