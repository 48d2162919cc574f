//! Messages about a run rather than one fact: each note is a kind with its fields, declared once
//! beside its sentence.
//!
//! The sentence is made only where it is read; code that acts on a note goes by its kind. A field
//! with the words of another layer, such as why a file could not be read, is for display alone. In
//! tests all sentences of a thread can be replaced by `x`, which shows that nothing depends on one.

mod mount {
    //! Notes about mounts, present and at the next boot.

    use super::notes;
    use crate::facts::Why;

    notes! {
        /// Notes about the mount table.
        pub enum MountNote {
            NoTable { file: &'static str, reason: String } = "{file}: {reason}; no mount is known";
            MalformedLine { file: &'static str, line: u32, complaint: &'static str }
                = "{file}:{line}: {complaint}; the line was left out";
            /// More mounts than have facts.
            BeyondBound { left_out: usize, bound: usize }
                = "mounts beyond the bound of {bound}: {left_out}; what lies on them is unknown";
            /// A space within a field, where it ends the field.
            BareSpace { file: &'static str, line: u32 }
                = "{file}:{line}: a space that is not escaped; the text after it was read as further options";
        }
    }

    notes! {
        /// Notes about lines and units that mount at boot.
        pub enum BootNote {
            /// A source of boot mounts could not be read, so a mount without any line may be
            /// mounted nevertheless.
            Gap { detail: String, why: Why } = "{detail} ({why}): it is unknown what it mounts at boot";
            /// A line with too many fields.
            ExcessNumbers { file: &'static str, line: u32 }
                = "{file}:{line}: more than two numbers follow the options, as after a space that is not escaped; systemd leaves \
                   that out, mount(8) the whole line";
            /// A line that mounts nothing.
            NoMountLine { file: &'static str, line: u32 }
                = "{file}:{line}: not a device, an absolute mount point and a type; the line was left out";
            /// A unit that mounts nothing.
            NoMountPoint { unit: String } = "{unit}: no mount point in it; the unit was left out";
            /// A unit that systemd does not load.
            OtherName { unit: String }
                = "{unit}: its name is not that of its mount point, so systemd refuses it; the unit was left out";
        }
    }
}
mod mysql {
    //! Notes about MySQL and MariaDB: processes that are not believed, option files with a hole,
    //! answers of a server that differ from its files.

    use super::notes;
    use crate::facts::Source;

    notes! {
        /// Notes about MySQL and MariaDB.
        pub enum MysqlNote {
            /// A process whose arguments are hidden.
            NoArguments { pid: u32, reason: String } = "the arguments of database process {pid} cannot be read: {reason}";
            /// A process that leads nowhere.
            NoHome { pid: u32, detail: String }
                = "database process {pid} does not say where its data directory is ({detail}); run walwise as root";
            /// A process in a container.
            OtherMounts { detail: String }
                = "a database server runs where other file systems are mounted, such as in a container: {detail}; run walwise \
                   where the server runs";
            /// A process that names what is not its user's.
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} is called a database server and names {data}, which belongs to user {owner}: it is \
                   not believed";
            /// A process that names what it does not hold.
            NoTablespace { pid: u32, data: String }
                = "database process {pid} names {data} and has no system tablespace in it open (it starts, runs in another name \
                   space, or is none): it is not believed";
            /// A data directory that does not answer.
            DataSilence { data: String } = "{data} did not answer in time: nothing is known of the server on it";
            /// An option file that was named and leads to no data.
            NoData = "the data directory that it leads to holds no server's data";
            /// An option file that was named, where it says the data are somewhere that cannot be
            /// told.
            NoDataDirectory { detail: String } = "{detail}";
            /// A directory that is not as its file has it.
            OtherDirectory { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} and {told} in the running server: correct the line, or move the \
                   files while the server is stopped";
            /// A setting that is not as its file has it.
            OtherValue { server: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{server}: {setting} is {written} in {source} and {told} in the running server: it was set while the server runs, \
                   or the file was changed since, and a restart will undo that";
            /// An option file that anybody could have written.
            PublicFile { file: String } = "{file} is writable by everyone, so the server ignores it";
            /// A file that is no option file.
            NoOptions { file: String } = "{file} does not have the expected format";
            /// An include in an include, too often.
            Depth { file: String } = "{file}: includes nest deeper than the server follows them";
        }
    }
}
mod postgres {
    //! Notes about PostgreSQL: processes that are not believed, clusters that were not found,
    //! configurations with a hole.

    use super::notes;
    use crate::facts::{Source, Why};

    notes! {
        /// Notes about PostgreSQL.
        pub enum PostgresNote {
            /// A process whose arguments are hidden.
            NoArguments { pid: u32, reason: String } = "the arguments of PostgreSQL process {pid} cannot be read: {reason}";
            /// A process that leads nowhere.
            NoHome { pid: u32, or_as_root: bool }
                = "PostgreSQL process {pid} does not say where its data directory is: name the directory{help}",
                help = if *or_as_root { ", or run walwise as root" } else { "" };
            /// A process in a container.
            OtherMounts { detail: String }
                = "a PostgreSQL server runs where other file systems are mounted, such as in a container: {detail}; run walwise \
                   where the server runs";
            /// A process that names what is not its user's.
            OtherOwner { pid: u32, uid: u32, data: String, owner: u64 }
                = "process {pid} of user {uid} is called PostgreSQL and names {data}, which belongs to user {owner}: it is not \
                   believed";
            /// A process that names what its user may not see.
            HiddenData { pid: u32, uid: u32, data: String, reason: String }
                = "process {pid} of user {uid} is called PostgreSQL and names {data}, where that user may not look ({reason}): it \
                   is not believed";
            /// A process that names another's cluster, or one that is elsewhere.
            OtherCluster { pid: u32, data: String }
                = "PostgreSQL process {pid} uses {data}, but what is seen there is not its cluster (another name space, such as a \
                   container's): run walwise where the server runs";
            /// A configuration that does not answer.
            ConfigSilence { file: String } = "{file} did not answer in time: nothing is known of its cluster";
            /// A data directory that does not answer.
            DataSilence { data: String } = "{data} did not answer in time: nothing is known of the cluster in it";
            /// A configuration of a data directory that is not there.
            NoData { file: String, data: String } = "{file}: its data directory {data} does not exist";
            /// A configuration that cannot be read, so that nobody knows where the data are.
            HiddenConfig { file: String }
                = "{file}: where the cluster keeps its data cannot be read; run walwise as root";
            /// A configuration that was named and leads nowhere.
            NoDataDirectory = "it names no data_directory: name the directory as the target";
            /// A directory of clusters that cannot be listed.
            HiddenClusters { detail: String, why: Why }
                = "{detail} ({why}): clusters in it are not known{help}",
                help = if *why == Why::Denied { "; run walwise as root" } else { "" };
            /// A setting that is not as its file has it.
            OtherValue { cluster: String, setting: &'static str, written: String, source: Box<Source>, told: String }
                = "{cluster}: {setting} is {written} in {source} and {told} in the running server: a reload or restart is pending, \
                   or the server could not read it";
            /// More overrides than are read.
            OverridesBeyondBound { data: String, most: usize }
                = "{data}: more than {most} databases and roles set synchronous_commit; those that turn it off were read first";
            /// A file that includes itself.
            Loop { file: String } = "{file}: the file includes itself, which the server refuses";
            /// An include in an include, too often.
            Depth { file: String } = "{file}: includes nest deeper than the server allows";
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
            /// Nobody can say which servers run.
            NoList { reason: String } = "running servers cannot be listed: {reason}";
            /// More processes of one user than are looked at.
            ProcessesBeyondBound { count: u64, uid: Option<u32> }
                = "{count} more processes {whose} are called like database servers and were not looked at: what they serve is not \
                   known",
                whose = uid.map_or_else(|| "of no user known here".to_owned(), |uid| format!("of user {uid}"));
            /// A server of root's.
            RootProcess { pid: u32 }
                = "database process {pid} runs as root, and nothing is read as root for a server: run the server as a user of its \
                   own";
            /// A server of nobody's.
            NobodysProcess { pid: u32, name: String }
                = "process {pid} is called {name} and does not run as one user known here, so nothing is read for it";
            /// A configuration that was named and says nothing, for the reason that is a note
            /// itself.
            IdleFile { option: &'static str, file: String, why: Box<Note> } = "{option} {file} is not used: {why}";
            /// A configuration that was named and is about another directory.
            OtherData { option: &'static str, file: String, data: String, target: String }
                = "{option} {file} names {data} as the data directory, so it says nothing of {target}";
            /// An included file that does not exist.
            NoInclude { path: String } = "{path} does not exist, and the server will not start without it";
            /// More files than are read.
            FilesBeyondBound { file: String } = "{file}: more files are included than walwise reads";
            /// A server that reads what its own command line says.
            Runs = "a server runs on the data directory, and its own command line names what it reads";
            /// The same, where nobody knows whether there is one.
            MayRun { detail: String } = "a server may run on the data directory: {detail}";
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
            NoDevices { directory: &'static str, reason: String } = "{directory}: {reason}; no block device is known";
            /// More devices than have facts.
            DevicesBeyondBound { left_out: usize, first: String, bound: usize }
                = "block devices beyond the bound of {bound}: {left_out}, the first {first}; what lies on them is unknown";
            /// A partition of nothing.
            NoDisk { partition: Subject } = "{partition}: its disk is not known";
            /// The cache set of a bcache device.
            NoCacheSet { device: Subject, detail: String } = "{device}: its cache set is not known: {detail}";
            /// The members of a file system that spans devices.
            NoMembers { directory: &'static str, reason: String, fstype: &'static str }
                = "{directory}: {reason}; members of {fstype} file systems are not known";
            /// More disks than are asked.
            DisksBeyondBound { disks: usize, asked: usize } = "of {disks} disks only {asked} were asked for their caches";
            /// A disk whose answers were not read, by a mistake of ours.
            DiskUnread { disk: Subject }
                = "{disk}: reading its answers failed; its write cache, its warnings and its medium are unknown";
            /// A stack with more ways through it than are followed.
            RoutesBeyondBound { target: Subject, most: usize }
                = "{target} reaches its disks in more than {most} ways; they were judged together, each layer by its worst";
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
            File { path: String } = "{path} is a file: name its directory";
            /// Neither a directory nor a device.
            NoPlace { path: String } = "{path} is neither a block device nor a directory: no database can be on it";
            /// It is not there; another may have been meant, or it may be to be made.
            Absence { path: String, meant: Option<String>, new: bool }
                = "{path} does not exist{meant}{new}",
                meant = meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default(),
                new = if *new { "; add --new for a directory that does not exist yet" } else { "" };
            /// The same where it may be made, and nothing that it could be made in is there.
            NoParent { path: String } = "{path} does not exist, nor does any directory above it";
            /// A link that leads nowhere.
            DeadLink { path: String, to: String } = "{path} is a link to {to}, which does not exist";
            /// Something else than a directory on the way.
            FileAbove { path: String, parent: String } = "{path} cannot become a directory: {parent} is a file";
            /// The name of a device that is none.
            NoDevice { path: String } = "{path}: there is no such device";
            /// A device that could not be looked at.
            StrangeDevice { path: String, reason: String } = "{path}: nothing is known of such a device: {reason}";
            /// A device that the kernel does not list.
            NoKernelDevice { path: String }
                = "{path} is a block device that /sys/dev/block does not list: nothing is known of it";
            /// A path that could not be examined, and is used as named.
            PathAsNamed { path: String, reason: String }
                = "{path}: {reason}: it is taken for a directory, as it is written";
            /// A path that could not be examined.
            Refusal { path: String, reason: String } = "{path}: {reason}";
            /// A device that is mounted.
            MountPoint { path: String, point: String } = "{path} is mounted on {point}: the target is that directory";
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
    pub fn during<T>(act: impl FnOnce() -> T) -> T {
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
            muted::during(|| {
                assert_eq!(
                    (note.to_string(), json(&note)),
                    ("x".to_owned(), "x".into())
                );
            });
            assert_eq!(note.to_string(), sentence);
        }
    }
}
