//! The outside of a trial: the child between, which makes the namespaces, and the handle by which a trial is run.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::inside;
use super::job::{Ear, News, Order, StageOrder, TrialJob, say};
use crate::errand::{Errand, Signals, Silence, SocketChannel, words};

/// The arguments by which our children know themselves.
const BETWEEN: &str = "__trial-between";
const INSIDE: &str = "__trial-inside";

/// How long the kernel may take to end everything.
const PATIENCE: Duration = Duration::from_secs(10);

/// Acts as one of the children of a trial if the arguments (the program's name first) ask for it.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.collect();
    if words(arguments.iter().cloned(), BETWEEN).is_some() {
        return Some(between().unwrap_or_else(|error| {
            let why = crate::text::error_words(&error);
            let why = format!("cannot make namespaces of its own: {why}; a container may not allow it");
            let _ = SocketChannel::home().map(|mut line| say(&mut line, &News::Failed(why)));
            ExitCode::FAILURE
        }));
    }
    words(arguments.into_iter(), INSIDE)?;
    dies_with_its_parent();
    Some(inside::run())
}

/// Makes the namespaces and starts the first process in them; ends after it.
fn between() -> io::Result<ExitCode> {
    dies_with_its_parent();
    // A server's System V memory is the namespace's and goes with it.
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC)?;
    // Nothing that is mounted in here is seen outside. What is unmounted outside is unmounted in here too, or it would
    // stay in use for as long as the trial lasts (mount_namespaces(7)).
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    let inside = Command::new("/proc/self/exe")
        .arg(INSIDE)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(if inside.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The kernel kills this process when its parent is gone; the end of the line ends it too.
fn dies_with_its_parent() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// A trial that is being run. When it is dropped, everything it made goes.
pub struct Arena {
    errand: Option<Errand>,
    ear: Ear,
}

impl Arena {
    /// Starts the children and orders the loop file.
    pub fn open(job: &TrialJob) -> io::Result<Self> {
        let mut errand = Errand::send(BETWEEN, &[], Signals::Ours)?;
        // A child that could make no namespaces has said so before it ended.
        let _ = say(&mut errand.line, &Order::Prepare(job.clone()));
        Ok(Self { errand: Some(errand), ear: Ear::default() })
    }

    /// Orders the blocks of a stage.
    pub fn measure(&mut self, stage: StageOrder) -> io::Result<()> {
        let errand = self.errand.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        say(&mut errand.line, &Order::Measure(stage))
    }

    /// What there is to tell within so long; `Ok(None)` for nothing yet, an error when the children are gone.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<News>, &'static str> {
        const GONE: &str = "the process that measures is gone";
        let errand = self.errand.as_mut().ok_or(GONE)?;
        match errand.line.hear(Some(patience)) {
            Ok(message) => self.ear.take(message).map_err(|()| GONE),
            // Killed before the inside could ask to die with it.
            Err(Silence::Late) if errand.has_ended() => Err(GONE),
            Err(Silence::Late) => Ok(None),
            Err(Silence::Ended) => Err(GONE),
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some(errand) = self.errand.take() {
            errand.end(PATIENCE);
        }
    }
}
