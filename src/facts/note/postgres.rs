//! Notes about PostgreSQL: processes that are not believed, clusters that were not found, configurations with a hole.

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
