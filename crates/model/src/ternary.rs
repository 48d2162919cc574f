//! Three-valued logic (Kleene, *Introduction to Metamathematics*, 1952, §64) for conditions over
//! facts.
//!
//! *All* and *any* of nothing are unknown, because a stack without disks is a stack that could not
//! be read.

use std::ops::Not;

use schemars::JsonSchema;
use serde::Serialize;

/// The result of a condition: false, unknown or true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ternary {
    /// The condition certainly does not hold.
    False,
    /// A fact that would decide the condition is unknown.
    Unknown,
    /// The condition certainly holds.
    True,
}

impl Ternary {
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether all of the conditions hold; unknown for an empty list. Evaluation stops at the first
    /// [`Self::False`].
    pub fn all(of: impl IntoIterator<Item = Self>) -> Self {
        let mut lowest = None;
        for one in of {
            if one == Self::False {
                return one;
            }
            lowest = Some(lowest.map_or(one, |before| one.and(before)));
        }
        lowest.unwrap_or(Self::Unknown)
    }

    /// Whether any of the conditions holds; unknown for an empty list. Evaluation stops at the
    /// first [`Self::True`].
    pub fn any(of: impl IntoIterator<Item = Self>) -> Self {
        !Self::all(of.into_iter().map(Self::not))
    }

    /// The word on screens and in traces: `no`, `unknown` or `yes`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::False => "no",
            Self::Unknown => "unknown",
            Self::True => "yes",
        }
    }
}

impl From<bool> for Ternary {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl Not for Ternary {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ternary::{self, False, True, Unknown};

    const ALL: [Ternary; 3] = [False, Unknown, True];

    #[test]
    fn kleene_laws_hold_for_every_combination() {
        for a in ALL {
            assert_eq!(!!a, a);
            assert_eq!(a.and(False), False);
            assert_eq!(a.or(True), True);
            for b in ALL {
                assert_eq!(a.and(b), b.and(a));
                assert_eq!(a.or(b), b.or(a));
                assert_eq!(!a.and(b), (!a).or(!b), "De Morgan for {a:?}, {b:?}");
                for c in ALL {
                    assert_eq!(a.and(b.and(c)), a.and(b).and(c));
                    assert_eq!(a.and(b.or(c)), a.and(b).or(a.and(c)));
                }
            }
        }
    }

    #[test]
    fn known_result_does_not_depend_on_unknown_operand() {
        for a in ALL {
            for known in [True, False] {
                for (before, after) in
                    [(a.and(Unknown), a.and(known)), (a.or(Unknown), a.or(known))]
                {
                    assert!(before == Unknown || before == after, "{a:?} {known:?}");
                }
            }
        }
    }

    #[test]
    fn all_and_any_of_empty_and_mixed_lists() {
        assert_eq!(Ternary::all([]), Unknown);
        assert_eq!(Ternary::any([]), Unknown);
        assert_eq!(Ternary::all([Unknown, False]), False);
        assert_eq!(Ternary::all([Unknown, True]), Unknown);
        assert_eq!(Ternary::any([Unknown, True]), True);
    }
}
