//! Messages about a run rather than about one fact. A note is an enum variant with fields, declared
//! together with its sentence.
//!
//! The sentence is built only for display; code matches the variant. Fields with text from another
//! layer, such as an error message, are for display only, too. Tests can replace the sentences of
//! all notes by `x`, to prove that no code depends on a sentence.

mod mount {
    use super::notes;
    use crate::facts::UnknownReason;

    notes! {
        pub enum MountNote {
            NoTable { file: &'static str, reason: String } = "{file}: {reason}; mounts are unknown";
            MalformedLine { file: &'static str, line: u32, complaint: &'static str }
                = "{file}:{line}: {complaint}; line ignored";
            BeyondBound { left_out: usize, bound: usize }
                = "{left_out} mounts beyond the limit of {bound} were not read; facts about these mounts are unknown";
            BareSpace { file: &'static str, line: u32 }
                = "{file}:{line}: unescaped space; the text after it was read as further options";
        }
    }

    notes! {
        pub enum BootNote {
            /// A file that may define boot mounts could not be read, so a mount may have a line
            /// that walwise does not know.
            UnreadableSource { detail: String, why: UnknownReason } = "{detail} ({why}): the boot mounts that it defines are unknown";
            ExcessNumbers { file: &'static str, line: u32 }
                = "{file}:{line}: more than two fields follow the options (unescaped space?); systemd ignores the extra fields, \
                mount(8) ignores the whole line";
            NoMountLine { file: &'static str, line: u32 }
                = "{file}:{line}: device, absolute mount point or type is missing; line ignored";
            NoMountPoint { unit: String } = "{unit}: no mount point; unit ignored";
            MisnamedUnit { unit: String }
                = "{unit}: its name does not match its mount point, so systemd refuses it; unit ignored";
        }
    }
}
mod mysql {
    use super::notes;
    use crate::facts::Source;

    notes! {
        pub enum MysqlNote {
            UnknownDataDirectory { pid: u32, detail: String }
                = "database process {pid}: data directory not found ({detail}); run walwise as root";
            OtherMounts { detail: String }
                = "a database server is in another mount namespace (container?): {detail}; run walwise there to check it";
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} claims to be a database server and names {data}, which belongs to user {owner}: ignored";
            NoTablespace { pid: u32, data: String }
                = "database process {pid} names {data} but does not have its system tablespace open (still starting, in another \
                namespace, or not a server): ignored";
            DataTimeout { data: String } = "{data} could not be read in time; the server that uses it is unknown";
            NoData = "its data directory contains no server data";
            /// The user named an option file, but it does not determine the data directory.
            NoDataDirectory { detail: String } = "{detail}";
            OtherDirectory { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} but {told} in the running server: correct the line, or move \
                the files while the server is stopped";
            OtherValue { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} but {told} in the running server: it was set at run time, or \
                the file has changed since; a restart applies the file";
            PublicFile { file: String } = "{file} is writable by everyone, so the server ignores it";
            NoOptions { file: String } = "{file} does not have the expected format";
        }
    }
}
mod postgres {
    use super::notes;
    use crate::facts::{Source, UnknownReason};

    notes! {
        pub enum PostgresNote {
            UnknownDataDirectory { pid: u32, or_as_root: bool }
                = "PostgreSQL process {pid}: data directory not found; specify the directory as the target{help}",
                help = if *or_as_root { ", or run walwise as root" } else { "" };
            OtherMounts { detail: String }
                = "a PostgreSQL server is in another mount namespace (container?): {detail}; run walwise there to check it";
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} claims to be PostgreSQL and names {data}, which belongs to user {owner}: ignored";
            HiddenData { pid: u32, uid: u32, data: String, reason: String }
                = "process {pid} of user {uid} claims to be PostgreSQL and names {data}, which that user cannot read ({reason}): \
                ignored";
            OtherCluster { pid: u32, data: String }
                = "PostgreSQL process {pid} uses {data}, but {data} as seen from here is not its cluster (container?); run walwise where the server runs";
            ConfigTimeout { file: String } = "configuration file {file} could not be read in time; its cluster is unknown";
            DataTimeout { data: String } = "data directory {data} could not be read in time; its cluster is unknown";
            NoData { file: String, data: String } = "{file}: its data directory {data} does not exist";
            HiddenConfig { file: String }
                = "{file}: the setting data_directory cannot be read; run walwise as root";
            /// The user named a configuration file, but it sets no data directory.
            NoDataDirectory = "the file does not set data_directory; specify the directory as the target";
            HiddenClusters { detail: String, why: UnknownReason }
                = "{detail} ({why}): clusters in it are unknown{help}",
                help = if *why == UnknownReason::Denied { "; run walwise as root" } else { "" };
            OtherValue { cluster: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{cluster}: {setting} is {written} in {source} but {told} in the running server: a reload or restart is pending, \
                   or the server could not read the file";
            OverridesBeyondBound { data: String, most: usize }
                = "{data}: more than {most} databases and roles set synchronous_commit; those that turn it off were read first";
            IncludeLoop { file: String } = "{file}: the file includes itself, which the server refuses";
        }
    }
}
mod run;
mod server {
    use super::{Note, notes};

    notes! {
        pub enum ServerNote {
            UnlistableServers { reason: String } = "running servers cannot be listed: {reason}";
            ProcessesBeyondBound { count: u64, uid: Option<u32> }
                = "{count} more processes {whose} are named like database servers and were not checked; their data directories are unknown",
                whose = uid.map_or_else(|| "of unknown users".to_owned(), |uid| format!("of user {uid}"));
            RootProcess { pid: u32 }
                = "database process {pid} runs as root, and walwise reads no files of such a server; run the server as its own user";
            UnknownUserProcess { pid: u32, name: String }
                = "process {pid} is named {name} but does not run as a single known user, so walwise does not read its files";
            NoArguments { pid: u32, reason: String } = "the arguments of database process {pid} cannot be read: {reason}";
            UnusedFile { option: &'static str, file: String, why: Box<Note> } = "{option} {file} is not used: {why}";
            OtherDataDirectory { option: &'static str, file: String, data: String, target: String }
                = "{option} {file} names {data} as the data directory, so it does not apply to {target}";
            MissingInclude { path: String } = "{path} does not exist, and the server will not start without this file";
            IncludeDepth { file: String } = "{file}: includes are nested deeper than the server allows";
            FilesBeyondBound { file: String } = "{file} includes more files than walwise reads";
            /// The user named a configuration file, which is not used because a running server
            /// names its own on its command line.
            ServerRunning = "a server is running on the data directory, and its command line names its configuration files";
            ServerMayRun { detail: String } = "a server may be running on the data directory: {detail}";
        }
    }
}
mod storage {
    use super::notes;
    use crate::facts::Subject;

    notes! {
        pub enum StorageNote {
            NoDevices { directory: &'static str, reason: String } = "{directory}: {reason}; block devices are unknown";
            DevicesBeyondBound { left_out: usize, first: String, bound: usize }
                = "{left_out} block devices beyond the limit of {bound} were not read (first: {first}); facts about these devices are unknown";
            NoDisk { partition: Subject } = "{partition}: its disk is unknown";
            NoCacheSet { device: Subject, detail: String } = "{device}: its cache set is unknown: {detail}";
            NoMembers { directory: &'static str, reason: String, fstype: &'static str }
                = "{directory}: {reason}; members of {fstype} file systems are unknown";
            DisksBeyondBound { disks: usize, asked: usize } = "only {asked} of {disks} disks were queried about their caches";
            /// A bug in walwise: the thread that processed the answers about the disk panicked.
            DiskUnread { disk: Subject }
                = "{disk}: walwise failed to process its data; write cache, warnings and medium are unknown";
            RoutesBeyondBound { target: Subject, most: usize }
                = "{target} has more than {most} paths to its disks; walwise evaluated the paths together and used the worst path in each layer";
        }
    }
}
mod target {
    use super::notes;

    notes! {
        pub enum TargetNote {
            TargetIsFile { path: String } = "{path} is a file; specify its directory as the target";
            UnsupportedFileType { path: String } = "{path} is neither a block device nor a directory; specify the data directory or its disk";
            /// `meant` is a similar path that exists; `new` is true if the directory could be
            /// created.
            Missing { path: String, meant: Option<String>, new: bool }
                = "{path} does not exist{meant}{new}",
                meant = meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default(),
                new = if *new { "; add --new for a directory that does not exist yet" } else { "" };
            NoParent { path: String } = "{path} does not exist, nor does any directory above it";
            DanglingLink { path: String, to: String } = "{path} is a link to {to}, which does not exist";
            ParentIsFile { path: String, parent: String } = "{path} cannot be created as a directory: {parent} is a file";
            NoDevice { path: String } = "{path}: no such device";
            UnreadableDevice { path: String, reason: String } = "{path}: unknown device: {reason}";
            NoKernelDevice { path: String }
                = "{path} is a block device that /sys/dev/block does not list";
            AssumedDirectory { path: String, reason: String }
                = "{path}: {reason}; assumed to be a directory";
            UnreadablePath { path: String, reason: String } = "{path}: {reason}";
            MountedDevice { path: String, point: String } = "{path} is mounted on {point}; the target is this directory";
        }
    }
}

use std::fmt;

use serde::{Serialize, Serializer};

pub use mount::{BootNote, MountNote};
pub use mysql::MysqlNote;
pub use postgres::PostgresNote;
pub use run::{DrillNote, MeasurementNote, RulesNote, RunNote, TrialNote};
pub use server::ServerNote;
pub use storage::StorageNote;
pub use target::TargetNote;

/// Declares an enum of notes, with the sentence of each variant. `word = value` after a sentence
/// defines a placeholder that is not a field.
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
                #[cfg(any(test, feature = "testing"))]
                if $crate::facts::note::muted::are_notes_muted() {
                    return f.write_str($crate::facts::note::muted::SENTENCE);
                }
                match self { $(Self::$kind $({ $($field),+ })? => write!(f, $sentence $(, $word = $value)*)),+ }
            }
        }

        #[cfg(any(test, feature = "testing"))]
        impl $name {
            pub fn samples() -> Vec<Self> {
                vec![$(Self::$kind $({ $($field: $crate::facts::note::samples::Sample::sample()),+ })?),+]
            }
        }
    };
}
use notes;

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

        #[cfg(any(test, feature = "testing"))]
        impl $name {
            pub fn samples() -> Vec<Self> {
                [$($type::samples().into_iter().map(Self::from).collect::<Vec<_>>()),+].concat()
            }
        }
    };
}

areas! {
    /// A message about the run rather than about one fact, such as an abandoned read or a malformed
    /// line.
    pub enum Note {
        Mount(MountNote),
        Boot(BootNote),
        Storage(StorageNote),
        Target(TargetNote),
        Server(ServerNote),
        Postgres(PostgresNote),
        Mysql(MysqlNote),
        Measurement(MeasurementNote),
        Drill(DrillNote),
        Trial(TrialNote),
        Rules(RulesNote),
        Run(RunNote),
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(any(test, feature = "testing"))]
pub mod muted {
    //! Test support: replaces the sentences of all notes by `x`, in one thread, while a function
    //! runs.

    use std::cell::Cell;

    pub const SENTENCE: &str = "x";

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    pub fn are_notes_muted() -> bool {
        ON.get()
    }

    pub fn with_muted_notes<T>(act: impl FnOnce() -> T) -> T {
        struct MuteGuard;
        impl Drop for MuteGuard {
            fn drop(&mut self) {
                ON.set(false);
            }
        }
        ON.set(true);
        let _guard = MuteGuard;
        act()
    }
}

#[cfg(any(test, feature = "testing"))]
mod samples {
    //! Test support: a sample value for each type of field, from which sample notes are built.

    use jiff::civil::Date;

    use super::{MountNote, Note};
    use crate::facts::{Source, Subject, UnknownReason};

    pub trait Sample {
        /// A sample value, which differs from the default of the type.
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
        Source = Source::from_file_line("/etc/some.conf", 9);
        Subject = Subject::device("sdx9");
        UnknownReason = UnknownReason::Denied;
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
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn note_sentences_are_distinct() {
        // Some variants print nothing but one field, which holds the sample string here.
        let own = |sentence: &String| *sentence != <String as samples::Sample>::sample();
        let all: Vec<String> = Note::samples()
            .iter()
            .map(Note::to_string)
            .filter(own)
            .collect();
        let sentences: BTreeSet<&String> = all.iter().collect();
        assert_eq!(sentences.len(), all.len(), "{all:#?}");
        for sentence in &sentences {
            assert!(
                !sentence.contains("  ") && !sentence.contains('\n'),
                "{sentence}"
            );
        }
    }

    #[test]
    fn muted_note_displays_placeholder() {
        for note in Note::samples() {
            let json = |note: &Note| serde_json::to_value(note).unwrap();
            let sentence = note.to_string();
            assert_ne!(sentence, muted::SENTENCE);
            assert_eq!(json(&note), sentence);
            muted::with_muted_notes(|| {
                assert_eq!(
                    (note.to_string(), json(&note)),
                    ("x".to_owned(), "x".into())
                );
            });
            assert_eq!(note.to_string(), sentence);
        }
    }
}
