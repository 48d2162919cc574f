//! Notes about database servers of every kind: their processes, and configurations that the user named.

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
        /// A configuration that was named and says nothing, for the reason that is a note itself.
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
