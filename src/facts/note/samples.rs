//! For tests: a sample of each type of field, so that there can be one note of every kind.

use jiff::civil::Date;

use super::{MountNote, Note};
use crate::facts::{Source, Subject, Why};

/// A type with a sample.
pub trait Sample {
    /// A value, different from any default.
    fn sample() -> Self;
}

macro_rules! samples {
    ($($type:ty = $value:expr;)+) => {
        $(impl Sample for $type {
            fn sample() -> Self {
                $value
            }
        })+
    };
}

samples! {
    String = "some words".to_owned();
    &'static str = "a word";
    bool = true;
    u32 = 4_242;
    u64 = 7_007;
    usize = 31;
    Date = jiff::civil::date(2027, 3, 31);
    Source = Source::line("/etc/some.conf", 9);
    Subject = Subject::device("sdx9");
    Why = Why::Denied;
    Note = MountNote::BareSpace { file: "/proc/self/mountinfo", line: 31 }.into();
}

impl<T: Sample> Sample for Box<T> {
    fn sample() -> Self {
        Self::new(T::sample())
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample() -> Self {
        Some(T::sample())
    }
}
