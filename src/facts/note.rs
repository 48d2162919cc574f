//! Messages about a run rather than one fact: each note is a kind with its fields, declared once beside its sentence.
//!
//! The sentence is made only where it is read; code that acts on a note goes by its kind. A field with the words of
//! another layer, such as why a file could not be read, is for display alone. In tests all sentences of a thread can be
//! replaced by `x`, which shows that nothing depends on one.

mod mount;
#[cfg(test)]
pub(crate) mod muted;
mod mysql;
mod postgres;
mod run;
#[cfg(test)]
mod samples;
mod server;
mod storage;
mod target;

use std::fmt;

use serde::{Serialize, Serializer};

pub use mount::{BootNote, MountNote};
pub use mysql::MysqlNote;
pub use postgres::PostgresNote;
pub use run::{DrillNote, MeasurementNote, RulesNote, RunNote, TrialNote};
pub use server::ServerNote;
pub use storage::StorageNote;
pub use target::TargetNote;

/// Declares the notes of one area: the kinds, their fields, and the sentence of each. A field that is not displayed
/// directly is a word of the sentence, with its replacement.
macro_rules! notes {
    ($(#[$meta:meta])* pub enum $name:ident { $(
        $(#[$about:meta])* $kind:ident $({ $($field:ident: $type:ty),+ $(,)? })?
            = $sentence:literal $(, $word:ident = $value:expr)*;
    )+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$about])* $kind $({ $($field: $type),+ })?),+ }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                #[cfg(test)]
                if $crate::facts::note::muted::is_on() {
                    return f.write_str($crate::facts::note::muted::SENTENCE);
                }
                match self { $(Self::$kind $({ $($field),+ })? => write!(f, $sentence $(, $word = $value)*)),+ }
            }
        }

        #[cfg(test)]
        impl $name {
            /// One of every kind.
            pub(crate) fn every() -> Vec<Self> {
                vec![$(Self::$kind $({ $($field: $crate::facts::note::samples::Sample::sample()),+ })?),+]
            }
        }
    };
}
use notes;

/// Joins the areas.
macro_rules! areas {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$about:meta])* $area:ident($type:ident)),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$about])* $area($type)),+ }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$area(note) => note.fmt(f)),+ }
            }
        }

        $(impl From<$type> for $name {
            fn from(note: $type) -> Self {
                Self::$area(note)
            }
        })+

        #[cfg(test)]
        impl $name {
            /// One of every kind.
            pub(crate) fn every() -> Vec<Self> {
                [$($type::every().into_iter().map(Self::from).collect::<Vec<_>>()),+].concat()
            }
        }
    };
}

areas! {
    /// Something that concerns the run rather than one fact, such as an abandoned read or a malformed line.
    pub enum Note {
        /// About mounts.
        Mount(MountNote),
        /// About mounts of the next boot.
        Boot(BootNote),
        /// About devices and their members.
        Storage(StorageNote),
        /// About the requested target.
        Target(TargetNote),
        /// About database servers of every kind.
        Server(ServerNote),
        /// About PostgreSQL.
        Postgres(PostgresNote),
        /// About MySQL and MariaDB.
        Mysql(MysqlNote),
        /// About measurements.
        Measurement(MeasurementNote),
        /// About records of drills.
        Drill(DrillNote),
        /// About records of trials.
        Trial(TrialNote),
        /// About the user's rules.
        Rules(RulesNote),
        /// About reading as a whole, and the report.
        Run(RunNote),
    }
}

/// As its sentence.
impl Serialize for Note {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_sentence_of_its_own() {
        // In some kinds the words of another layer stand alone.
        let own = |sentence: &String| *sentence != <String as samples::Sample>::sample();
        let all: Vec<String> = Note::every().iter().map(Note::to_string).filter(own).collect();
        let sentences: BTreeSet<&String> = all.iter().collect();
        assert_eq!(sentences.len(), all.len(), "{all:#?}");
        for sentence in &sentences {
            assert!(!sentence.contains("  ") && !sentence.contains('\n'), "{sentence}");
        }
    }

    #[test]
    fn a_muted_note_says_nothing_of_itself() {
        for note in Note::every() {
            let json = |note: &Note| serde_json::to_value(note).unwrap();
            let sentence = note.to_string();
            assert_ne!(sentence, muted::SENTENCE);
            assert_eq!(json(&note), sentence);
            muted::during(|| assert_eq!((note.to_string(), json(&note)), ("x".to_owned(), "x".into())));
            assert_eq!(note.to_string(), sentence);
        }
    }
}
