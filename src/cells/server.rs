//! A temporary server on a mounted candidate: made, filled, loaded by pgbench or sysbench, and stopped before it is unmounted.
//!
//! Its data directory, its log and its socket are in the directory of the candidate's log, which is its user's alone. Only
//! what pgbench writes down is in memory, so that no write of it reaches the candidate. All its programs run as that user.
//! Whatever they leave in that directory is a stranger's word: it is opened without following links, and read with a bound.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Gid, Pid, Uid, chown};
use rustix::fs::{Dir, FileType, MemfdFlags, Mode, OFlags};

use super::job::ServerOrder;
use super::pgbench::{self, LoadTime};
use super::sysbench::{self, SysbenchLoad};
use super::timing::{LoadMeans, counted, sample, with_flushes};
use super::volume::Mounted;
use crate::host::{LoadScript, SERVER_LOGS, ServerTask};
use crate::trial::{CandidateRecord, CommitShape, Sample, TrialLoad};

/// How long the server may take until it answers, and to stop.
const STARTING: Duration = Duration::from_secs(60);
const STOPPING: Duration = Duration::from_secs(10);

/// Bytes of memory for what pgbench writes down, and of what the server says that is read.
const LOG_BYTES: u64 = 64 << 20;

/// The largest number of files in which pgbench logs a run: one for each of its threads.
const MOST_LOGS: usize = 256;
const LONGEST_COMPLAINT: u64 = 64 << 10;

/// A running server. It is stopped when it is dropped.
pub struct TemporaryServer<'a> {
    order: &'a ServerOrder,
    process: Child,
    /// What the server says.
    says: OwnedFd,
    /// Bytes of it until it first answered: what it complained of while it started was no reason to end.
    said_before: u64,
    logs: LogRoom,
    /// Loads that it has had.
    runs: u64,
}

impl<'a> TemporaryServer<'a> {
    /// Makes, starts and fills one on a candidate; the error is a sentence.
    pub fn start(
        order: &'a ServerOrder,
        candidate: &CandidateRecord,
        on: &Mounted<'_>,
    ) -> Result<Self, String> {
        give(&on.log, order)?;
        let logs = LogRoom::make(order)?;
        run(ServerTask::Make, order)?;
        let says = rustix::fs::memfd_create("walwise", MemfdFlags::CLOEXEC);
        let says = says.map_err(|e| format!("cannot hear the server: {e}"))?;
        let settings: Vec<&str> =
            order.settings.iter().chain(&candidate.settings).map(String::as_str).collect();
        let process = order.programs.start(&settings, order.user, &says);
        let process = process.map_err(|miss| format!("{}: {miss}", order.programs.server().name()))?;
        let mut server = Self { order, process, says, said_before: 0, logs, runs: 0 };
        server.wait()?;
        run(ServerTask::Fill(order.scale), order)?;
        on.sync()?;
        Ok(server)
    }

    /// Waits until it answers.
    fn wait(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            if run(ServerTask::Greet, self.order).is_ok() {
                self.said_before =
                    rustix::fs::fstat(&self.says).map_or(0, |stat| stat.st_size.cast_unsigned());
                return Ok(());
            }
            match self.process.try_wait() {
                Ok(None) if begun.elapsed() < STARTING => std::thread::sleep(Duration::from_millis(20)),
                Ok(None) => return Err(format!("the server does not answer{}", self.complaint())),
                Ok(Some(_)) | Err(_) => return Err(format!("the server did not start{}", self.complaint())),
            }
        }
    }

    /// The last line that the server said, behind a colon.
    fn complaint(&self) -> String {
        let file = self.says.try_clone().map(File::from);
        // The server writes on at the place of its descriptor, which is not to move.
        let read = file.and_then(|file| {
            let from = file.metadata()?.len().saturating_sub(LONGEST_COMPLAINT).max(self.said_before);
            let mut bytes = vec![0; usize::try_from(LONGEST_COMPLAINT).unwrap_or(0)];
            let count = file.read_at(&mut bytes, from)?;
            bytes.truncate(count);
            Ok(bytes)
        });
        last_words(&String::from_utf8_lossy(&read.unwrap_or_default()))
    }

    /// Runs a load on it, after a checkpoint.
    pub fn run(&mut self, load: TrialLoad, means: &LoadMeans<'_>) -> Result<Sample, String> {
        let script = match load.shape {
            CommitShape::SimpleUpdate => LoadScript::SimpleUpdate,
            CommitShape::TpcB => LoadScript::TpcB,
            CommitShape::WriteOnly => LoadScript::WriteOnly,
            CommitShape::Usual
            | CommitShape::TwoPages
            | CommitShape::Appends
            | CommitShape::OpenDatasync
            | CommitShape::Fsync
            | CommitShape::OpenSync
            | CommitShape::Neighbour
            | CommitShape::Files => return Err(format!("{}: no load of a server", load.name())),
        };
        let named = |why: String| format!("{}: {why}", load.name());
        run(ServerTask::Checkpoint, self.order).map_err(named)?;
        let time = match script {
            LoadScript::SimpleUpdate | LoadScript::TpcB => LoadTime::new(means.seconds),
            LoadScript::WriteOnly => LoadTime::without_warm_up(means.seconds),
        };
        self.runs += 1;
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = u32::try_from(processors).unwrap_or(1).min(load.clients);
        let (clients, seconds, nth) = (load.clients, time.seconds, self.runs);
        let before = counted(means.meters);
        let printed = run(ServerTask::Load { script, clients, threads, seconds, run: nth }, self.order);
        let after = counted(means.meters);
        let printed = printed.map_err(|why| named(format!("{why}{}", self.complaint())))?;
        match script {
            LoadScript::SimpleUpdate | LoadScript::TpcB => {
                let (micros, calls) = self.told_by_pgbench(&printed, clients, time).map_err(named)?;
                Ok(sample(&micros, time.counted, calls, (before, after)))
            }
            LoadScript::WriteOnly => {
                let SysbenchLoad { commits, seconds, p50_us, p99_us } =
                    sysbench::load(&printed).map_err(named)?;
                let told = Sample { commits, seconds, p50_us, p99_us, calls: commits, ..Sample::default() };
                Ok(with_flushes(told, (before, after)))
            }
        }
    }

    /// What pgbench's log holds of a load: how long the transactions took that count, and how many there were in all.
    fn told_by_pgbench(
        &self,
        printed: &str,
        clients: u32,
        time: LoadTime,
    ) -> Result<(Vec<f64>, u64), String> {
        let made = pgbench::transactions(&self.logs.take(&self.runs.to_string())?, clients)?;
        let all = made.len() as u64;
        if pgbench::processed(printed) != Some(all) {
            return Err("pgbench's log lacks transactions".to_owned());
        }
        Ok((pgbench::counted(&made, time)?, all))
    }

    /// Stops it; the error is a sentence.
    pub fn stop(mut self) -> Result<(), String> {
        self.end()
    }

    /// Has it stop at once: nobody needs what it holds. Its own processes are gone before it is.
    fn end(&mut self) -> Result<(), String> {
        let pid = Pid::from_raw(self.process.id().cast_signed());
        let begun = Instant::now();
        let mut signal = Some(self.order.programs.stops_by());
        let gone = || {
            // Whatever its user left running in here goes too. The first process of a namespace reaches nobody outside.
            if std::process::id() == 1 {
                let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
            }
        };
        loop {
            if let Ok(Some(_)) = self.process.try_wait() {
                gone();
                return self.logs.clear();
            }
            if let Some(signal) = signal.take() {
                let _ = kill(pid, signal);
            } else if begun.elapsed() > STOPPING {
                let _ = self.process.kill();
                let _ = self.process.wait();
                gone();
                let _ = self.logs.clear();
                return Err("the server did not stop".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for TemporaryServer<'_> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn run(task: ServerTask, order: &ServerOrder) -> Result<String, String> {
    order.programs.run(task, order.user).map_err(|miss| miss.to_string())
}

/// Why a server ended, from what it said, behind a colon and display-safe: the last reason, or the last line.
fn last_words(said: &str) -> String {
    let lines = || said.lines().rev().filter(|line| !line.trim().is_empty());
    // Behind the reason there may be hints and what followed from it; while it starts we are told that it does.
    let is_reason = |line: &&str| {
        ["FATAL:", "PANIC:", "[ERROR]"].iter().any(|word| line.contains(word))
            && !line.ends_with("is starting up")
    };
    let reason = lines().find(is_reason);
    let last = reason.or_else(|| lines().next());
    last.map(|line| format!(": {}", crate::text::safe(line.trim().as_bytes()))).unwrap_or_default()
}

/// Makes a directory the server's user's own; nobody else has seen its file system yet.
fn give(directory: &Path, order: &ServerOrder) -> Result<(), String> {
    let (uid, gid) = (Uid::from_raw(order.user.uid), Gid::from_raw(order.user.gid));
    chown(directory, Some(uid), Some(gid))
        .map_err(|e| format!("cannot give the server a directory: {}", e.desc()))
}

/// Memory over /dev/shm, which nobody outside sees: for what pgbench writes down, and for what initdb tries there and would
/// leave behind after a kill. The directory is held open.
struct LogRoom {
    directory: OwnedFd,
    mounted: bool,
}

impl LogRoom {
    fn make(order: &ServerOrder) -> Result<Self, String> {
        let (kind, flags) = (Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC);
        let options = format!("size={LOG_BYTES},mode=0700,uid={},gid={}", order.user.uid, order.user.gid);
        mount(kind, SERVER_LOGS, kind, flags, Some(options.as_str()))
            .map_err(|e| format!("cannot mount memory over {SERVER_LOGS}: {}", e.desc()))?;
        let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(SERVER_LOGS, directory, Mode::empty()) {
            Ok(directory) => Ok(Self { directory, mounted: true }),
            Err(e) => {
                let _ = umount2(SERVER_LOGS, MntFlags::MNT_DETACH);
                Err(format!("cannot open {SERVER_LOGS}: {e}"))
            }
        }
    }

    /// What the threads of a run wrote, one after the other, and takes it away. The error is a sentence.
    fn take(&self, run: &str) -> Result<String, String> {
        let cannot = |e: rustix::io::Errno| format!("cannot read pgbench's log: {e}");
        let (mut text, mut files) = (String::new(), 0);
        for entry in Dir::read_from(&self.directory).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name();
            if name.to_bytes().strip_prefix(run.as_bytes()).is_none_or(|rest| !rest.starts_with(b".")) {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&self.directory, name, flags, Mode::empty()).map_err(cannot)?;
            let found = rustix::fs::fstat(&file).map_err(cannot)?;
            files += 1;
            let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            if !is_file || found.st_nlink != 1 || files > MOST_LOGS {
                return Err("pgbench's log is not as pgbench writes it".to_owned());
            }
            // No more in all than there is memory for: a file may have holes.
            let left = LOG_BYTES.saturating_sub(text.len() as u64);
            File::from(file)
                .take(left + 1)
                .read_to_string(&mut text)
                .map_err(|_| "pgbench's log is no text")?;
            if text.len() as u64 > LOG_BYTES {
                return Err("pgbench's log is larger than the memory that it has".to_owned());
            }
            rustix::fs::unlinkat(&self.directory, name, rustix::fs::AtFlags::empty()).map_err(cannot)?;
        }
        Ok(text)
    }

    /// Gives the memory back.
    fn clear(&mut self) -> Result<(), String> {
        if !std::mem::take(&mut self.mounted) {
            return Ok(());
        }
        umount2(SERVER_LOGS, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW)
            .map_err(|e| format!("cannot unmount {SERVER_LOGS}: {}", e.desc()))
    }
}

impl Drop for LogRoom {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_last_words_are_its_reason() {
        let said = "LOG:  starting\nFATAL:  could not map \u{1b}[31mmemory\nHINT:  ask for less\nFATAL:  the database system is starting up\nLOG:  database system is shut down\n\n";
        assert_eq!(last_words(said), ": FATAL:  could not map \\x1b[31mmemory");
        assert_eq!(
            last_words("walwise cannot become user 1 (setgroups: no)\n"),
            ": walwise cannot become user 1 (setgroups: no)"
        );
        assert_eq!(last_words(""), "");
    }
}
