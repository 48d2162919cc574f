//! Messages about a run rather than one fact: each note is a kind with fields, declared once with
//! its sentence.
//!
//! The sentence is made only where it is displayed; code matches the kind. A field with another
//! layer's words, such as why a file could not be read, is for display only. Tests can replace all
//! sentences of a thread by `x`, which shows that nothing depends on them.

mod mount {
    //! Notes about mounts, present and at the next boot.

    use super::notes;
    use crate::facts::UnknownReason;

    notes! {
        /// Notes about the mount table.
        pub enum MountNote {
            NoTable { file: &'static str, reason: String } = "{file}: {reason}; no mounts are known";
            MalformedLine { file: &'static str, line: u32, complaint: &'static str }
                = "{file}:{line}: {complaint}; line ignored";
            /// More mounts than the limit.
            BeyondBound { left_out: usize, bound: usize }
                = "mounts beyond the limit of {bound}: {left_out}; what is on them is unknown";
            /// A space within a field, where it ends the field.
            BareSpace { file: &'static str, line: u32 }
                = "{file}:{line}: unescaped space; the text after it was read as further options";
        }
    }

    notes! {
        /// Notes about lines and units that mount at boot.
        pub enum BootNote {
            /// A source of boot mounts could not be read, so a mount without any line may be
            /// mounted nevertheless.
            UnreadableSource { detail: String, why: UnknownReason } = "{detail} ({why}): what it mounts at boot is unknown";
            /// A line with too many fields.
            ExcessNumbers { file: &'static str, line: u32 }
                = "{file}:{line}: more than two fields follow the options, as after an unescaped space; systemd ignores the rest, \
                mount(8) the whole line";
            /// A line that mounts nothing.
            NoMountLine { file: &'static str, line: u32 }
                = "{file}:{line}: device, absolute mount point or type is missing; line ignored";
            /// A unit that mounts nothing.
            NoMountPoint { unit: String } = "{unit}: no mount point; unit ignored";
            /// A unit that systemd does not load.
            MisnamedUnit { unit: String }
                = "{unit}: its name does not match its mount point, so systemd refuses it; unit ignored";
        }
    }
}
mod mysql {
    //! Notes about MySQL and MariaDB: processes that are ignored, incomplete option files, answers
    //! of a server that differ from its files.

    use super::notes;
    use crate::facts::Source;

    notes! {
        /// Notes about MySQL and MariaDB.
        pub enum MysqlNote {
            /// A process whose arguments are hidden.
            NoArguments { pid: u32, reason: String } = "the arguments of database process {pid} cannot be read: {reason}";
            /// A process whose data directory cannot be found.
            UnknownDataDirectory { pid: u32, detail: String }
                = "database process {pid}: data directory not found ({detail}); run walwise as root";
            /// A process in a container.
            OtherMounts { detail: String }
                = "a database server is in another mount namespace (container?): {detail}; run walwise there to check it";
            /// A process that names another user's data directory.
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} claims to be a database server and names {data}, which belongs to user {owner}: ignored";
            /// A process that names a directory whose tablespace it does not have open.
            NoTablespace { pid: u32, data: String }
                = "database process {pid} names {data} and does not have its system tablespace open (starting, in another namespace, \
                or no server): ignored";
            /// A data directory that does not answer.
            DataTimeout { data: String } = "{data} did not answer in time: its server is unknown";
            /// An option file that was named and leads to no data.
            NoData = "its data directory holds no server data";
            /// An option file that was named, and whose data directory cannot be determined.
            NoDataDirectory { detail: String } = "{detail}";
            /// A directory that differs between file and server.
            OtherDirectory { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} and {told} in the running server: correct the line, or move the \
                files while the server is stopped";
            /// A setting that differs between file and server.
            OtherValue { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} and {told} in the running server: set at run time, or the \
                file was changed since; a restart undoes it";
            /// An option file that anyone could have written.
            PublicFile { file: String } = "{file} is writable by everyone, so the server ignores it";
            /// A file that is no option file.
            NoOptions { file: String } = "{file} does not have the expected format";
            /// Includes nested too deeply.
            IncludeDepth { file: String } = "{file}: includes nest deeper than the server follows";
        }
    }
}
mod postgres {
    //! Notes about PostgreSQL: processes that are ignored, clusters that were not found, incomplete
    //! configurations.

    use super::notes;
    use crate::facts::{Source, UnknownReason};

    notes! {
        /// Notes about PostgreSQL.
        pub enum PostgresNote {
            /// A process whose arguments are hidden.
            NoArguments { pid: u32, reason: String } = "the arguments of PostgreSQL process {pid} cannot be read: {reason}";
            /// A process whose data directory cannot be found.
            UnknownDataDirectory { pid: u32, or_as_root: bool }
                = "PostgreSQL process {pid}: data directory not found; name the directory{help}",
                help = if *or_as_root { ", or run walwise as root" } else { "" };
            /// A process in a container.
            OtherMounts { detail: String }
                = "a PostgreSQL server is in another mount namespace (container?): {detail}; run walwise there to check it";
            /// A process that names another user's data directory.
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} claims to be PostgreSQL and names {data}, which belongs to user {owner}: ignored";
            /// A process that names a directory that its user cannot read.
            HiddenData { pid: u32, uid: u32, data: String, reason: String }
                = "process {pid} of user {uid} claims to be PostgreSQL and names {data}, which that user cannot read ({reason}): \
                ignored";
            /// A process that names another cluster, or one in another namespace.
            OtherCluster { pid: u32, data: String }
                = "PostgreSQL process {pid} uses {data}, which is not its cluster here (container?): run walwise where the server runs";
            /// A configuration that does not answer.
            ConfigTimeout { file: String } = "{file} did not answer in time: its cluster is unknown";
            /// A data directory that does not answer.
            DataTimeout { data: String } = "{data} did not answer in time: the cluster in it is unknown";
            /// A configuration of a data directory that is not there.
            NoData { file: String, data: String } = "{file}: its data directory {data} does not exist";
            /// A configuration that cannot be read, so that the data directory is unknown.
            HiddenConfig { file: String }
                = "{file}: data_directory cannot be read; run walwise as root";
            /// A configuration that was named and leads nowhere.
            NoDataDirectory = "no data_directory in it: name the directory as the target";
            /// A directory of clusters that cannot be listed.
            HiddenClusters { detail: String, why: UnknownReason }
                = "{detail} ({why}): clusters in it are unknown{help}",
                help = if *why == UnknownReason::Denied { "; run walwise as root" } else { "" };
            /// A setting that differs between file and server.
            OtherValue { cluster: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{cluster}: {setting} is {written} in {source} and {told} in the running server: a reload or restart is pending, \
                   or the server could not read it";
            /// More overrides than are read.
            OverridesBeyondBound { data: String, most: usize }
                = "{data}: more than {most} databases and roles set synchronous_commit; those that turn it off were read first";
            /// A file that includes itself.
            IncludeLoop { file: String } = "{file}: the file includes itself, which the server refuses";
            /// Includes nested too deeply.
            IncludeDepth { file: String } = "{file}: includes nest deeper than the server allows";
        }
    }
}
mod run;
mod server {
    //! Notes about database servers of every kind: their processes, and configurations that the
    //! user named.

    use super::{Note, notes};

    notes! {
        /// Notes about servers of any kind.
        pub enum ServerNote {
            /// The process list cannot be read.
            UnlistableServers { reason: String } = "running servers cannot be listed: {reason}";
            /// More processes of one user than the limit.
            ProcessesBeyondBound { count: u64, uid: Option<u32> }
                = "{count} more processes {whose} are named like database servers and were not checked: what they serve is unknown",
                whose = uid.map_or_else(|| "of unknown users".to_owned(), |uid| format!("of user {uid}"));
            /// A server that runs as root.
            RootProcess { pid: u32 }
                = "database process {pid} runs as root, and walwise reads nothing as root for a server: run it as a user of its own";
            /// A process that does not run as one known user.
            UnknownUserProcess { pid: u32, name: String }
                = "process {pid} is named {name} but does not run as one known user, so nothing is read for it";
            /// A configuration that was named and does not apply, for the reason in another note.
            UnusedFile { option: &'static str, file: String, why: Box<Note> } = "{option} {file} is not used: {why}";
            /// A configuration that was named and is for another directory.
            OtherDataDirectory { option: &'static str, file: String, data: String, target: String }
                = "{option} {file} names {data} as the data directory, so it does not apply to {target}";
            /// An included file that does not exist.
            MissingInclude { path: String } = "{path} does not exist, and the server will not start without it";
            /// More files than are read.
            FilesBeyondBound { file: String } = "{file}: more files are included than walwise reads";
            /// A running server reads what its own command line names.
            ServerRunning = "a server is running on the data directory, and its command line names the files it reads";
            /// The same, where it is not known whether one runs.
            ServerMayRun { detail: String } = "a server may be running on the data directory: {detail}";
        }
    }
}
mod storage {
    //! Notes about devices and their members.

    use super::notes;
    use crate::facts::Subject;

    notes! {
        pub enum StorageNote {
            /// The kernel's list of block devices cannot be read.
            NoDevices { directory: &'static str, reason: String } = "{directory}: {reason}; no block devices are known";
            /// More devices than the limit.
            DevicesBeyondBound { left_out: usize, first: String, bound: usize }
                = "block devices beyond the limit of {bound}: {left_out}, the first {first}; what is on them is unknown";
            /// A partition whose disk is unknown.
            NoDisk { partition: Subject } = "{partition}: its disk is unknown";
            /// The cache set of a bcache device.
            NoCacheSet { device: Subject, detail: String } = "{device}: its cache set is unknown: {detail}";
            /// The members of a file system that spans devices.
            NoMembers { directory: &'static str, reason: String, fstype: &'static str }
                = "{directory}: {reason}; members of {fstype} file systems are unknown";
            /// More disks than are queried.
            DisksBeyondBound { disks: usize, asked: usize } = "of {disks} disks, only {asked} were queried for their caches";
            /// A disk whose answers were not processed, by a bug of walwise.
            DiskUnread { disk: Subject }
                = "{disk}: processing its answers failed; write cache, warnings and medium are unknown";
            /// A stack with more paths than are followed.
            RoutesBeyondBound { target: Subject, most: usize }
                = "{target} has more than {most} paths to its disks; they were judged together, each layer by its worst";
        }
    }
}
mod target {
    //! Notes about the requested target, and why it cannot be one.

    use super::notes;

    notes! {
        /// Notes about a path that was named as the target.
        pub enum TargetNote {
            /// A file, where a directory belongs.
            TargetIsFile { path: String } = "{path} is a file: name its directory";
            /// Neither a directory nor a device.
            UnsupportedFileType { path: String } = "{path} is neither a block device nor a directory: no database can be on it";
            /// It does not exist; another may have been meant, or it may have to be created.
            Missing { path: String, meant: Option<String>, new: bool }
                = "{path} does not exist{meant}{new}",
                meant = meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default(),
                new = if *new { "; add --new for a directory that does not exist yet" } else { "" };
            /// The same where it may be created, and no directory above it exists.
            NoParent { path: String } = "{path} does not exist, nor does any directory above it";
            /// A link whose target does not exist.
            DanglingLink { path: String, to: String } = "{path} is a link to {to}, which does not exist";
            /// Something other than a directory on the path.
            ParentIsFile { path: String, parent: String } = "{path} cannot become a directory: {parent} is a file";
            /// A device path that does not exist.
            NoDevice { path: String } = "{path}: no such device";
            /// A device that could not be examined.
            UnreadableDevice { path: String, reason: String } = "{path}: unknown device: {reason}";
            /// A device that the kernel does not list.
            NoKernelDevice { path: String }
                = "{path} is a block device that /sys/dev/block does not list";
            /// A path that could not be examined, and is used as named.
            AssumedDirectory { path: String, reason: String }
                = "{path}: {reason}; assumed to be a directory";
            /// A path that could not be examined.
            UnreadablePath { path: String, reason: String } = "{path}: {reason}";
            /// A device that is mounted.
            MountedDevice { path: String, point: String } = "{path} is mounted on {point}: the target is that directory";
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

/// Declares the notes of one area: the kinds, their fields, and the sentence of each. A field that
/// is not displayed directly is a word of the sentence, with its replacement.
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
                if $crate::facts::note::muted::is_on() {
                    return f.write_str($crate::facts::note::muted::SENTENCE);
                }
                match self { $(Self::$kind $({ $($field),+ })? => write!(f, $sentence $(, $word = $value)*)),+ }
            }
        }

        #[cfg(any(test, feature = "testing"))]
        impl $name {
            /// One of every kind.
            pub fn every() -> Vec<Self> {
                vec![$(Self::$kind $({ $($field: $crate::facts::note::samples::Sample::sample()),+ })?),+]
            }
        }
    };
}
use notes;

/// Joins the notes of all areas into one type.
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
            /// One of every kind.
            pub fn every() -> Vec<Self> {
                [$($type::every().into_iter().map(Self::from).collect::<Vec<_>>()),+].concat()
            }
        }
    };
}

areas! {
    /// Something that concerns the run rather than one fact, such as an abandoned read or a
    /// malformed line.
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

#[cfg(any(test, feature = "testing"))]
pub mod muted {
    //! For tests: replaces every sentence of a note by `x`, in one thread, while a function runs.

    use std::cell::Cell;

    /// The sentence of a muted note.
    pub const SENTENCE: &str = "x";

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether notes are muted in this thread.
    pub fn is_on() -> bool {
        ON.get()
    }

    /// Calls a function with notes muted.
    pub fn with_muted<T>(act: impl FnOnce() -> T) -> T {
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
    //! For tests: a sample of each type of field, so that there can be one note of every kind.

    use jiff::civil::Date;

    use super::{MountNote, Note};
    use crate::facts::{Source, Subject, UnknownReason};

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
    fn every_kind_has_a_sentence_of_its_own() {
        // In some kinds the words of another layer stand alone.
        let own = |sentence: &String| *sentence != <String as samples::Sample>::sample();
        let all: Vec<String> = Note::every()
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
    fn a_muted_note_says_nothing_of_itself() {
        for note in Note::every() {
            let json = |note: &Note| serde_json::to_value(note).unwrap();
            let sentence = note.to_string();
            assert_ne!(sentence, muted::SENTENCE);
            assert_eq!(json(&note), sentence);
            muted::with_muted(|| {
                assert_eq!(
                    (note.to_string(), json(&note)),
                    ("x".to_owned(), "x".into())
                );
            });
            assert_eq!(note.to_string(), sentence);
        }
    }
}
