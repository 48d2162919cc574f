//! Notes about MySQL and MariaDB: processes that are not believed, option files with a hole, answers of a server that
//! differ from its files.

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
        /// An option file that was named, where it says the data are somewhere that cannot be told.
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
