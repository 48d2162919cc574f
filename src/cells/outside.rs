//! The outside of a trial: the child between, which makes the namespaces, and the handle by which a trial is run.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::disk::EraseOrder;
use super::inside;
use super::job::{Ear, MeasureOrder, News, Order, TrialJob, say};
use crate::errand::{Errand, Signals, Silence, SocketChannel, words};

/// The arguments by which our children know themselves.
const BETWEEN: &str = "__trial-between";
const INSIDE: &str = "__trial-inside";
/// What both are told where a disk is to be cleared when their parents are gone: the end of the line ends them then.
const CLEARS: &str = "clears";

/// How long the kernel may take to end everything.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a trial on a disk may be silent at its end: a program that makes a file system has a minute.
const PATIENCE_FOR_DISKS: Duration = Duration::from_secs(120);

/// Acts as one of the children of a trial if the arguments (the program's name first) ask for it.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.collect();
    if let Some(told) = words(arguments.iter().cloned(), BETWEEN) {
        return Some(between(&told).unwrap_or_else(|error| {
            let why = crate::text::error_words(&error);
            let why = format!("cannot create namespaces: {why}; in a container, run walwise on its host");
            let _ = SocketChannel::home().map(|mut line| say(&mut line, &News::Failed(why)));
            ExitCode::FAILURE
        }));
    }
    dies_with_its_parent(&words(arguments.into_iter(), INSIDE)?);
    Some(inside::run())
}

/// Makes the namespaces and starts the first process in them; ends after it.
fn between(told: &[OsString]) -> io::Result<ExitCode> {
    dies_with_its_parent(told);
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
    // Nothing that is mounted in here is seen outside. What is unmounted outside is unmounted in here too, or it would
    // stay in use for as long as the trial lasts (mount_namespaces(7)).
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    let inside = Command::new("/proc/self/exe")
        .arg(INSIDE)
        .args(told)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(if inside.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The kernel kills this process when its parent is gone, but for one that has a disk to clear; the end of the line ends
/// it too.
fn dies_with_its_parent(told: &[OsString]) {
    if told == [CLEARS] {
        return;
    }
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// A trial that is being run. When it is dropped, everything it made goes.
pub struct Arena {
    errand: Option<Errand>,
    ear: Ear,
    clears: bool,
    cleared: bool,
}

impl Arena {
    /// Starts the children and orders the loop file, or has them take the disk.
    pub fn open(job: &TrialJob) -> io::Result<Self> {
        Self::start(&Order::Prepare(job.clone()), job.place.is_disk())
    }

    /// Starts the children to clear what an earlier trial left on a disk.
    pub fn clear(disk: &EraseOrder) -> io::Result<Self> {
        Self::start(&Order::Clear(disk.clone()), true)
    }

    fn start(order: &Order, clears: bool) -> io::Result<Self> {
        let told = [OsStr::new(CLEARS)];
        let told = if clears { &told[..] } else { &[] };
        let mut errand = Errand::send(BETWEEN, told, Signals::Ours)?;
        // A child that could make no namespaces has said so before it ended.
        let _ = say(&mut errand.line, order);
        Ok(Self { errand: Some(errand), ear: Ear::default(), clears, cleared: false })
    }

    pub fn measure(&mut self, order: MeasureOrder) -> io::Result<()> {
        let errand = self.errand.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        say(&mut errand.line, &Order::Measure(order))
    }

    /// What there is to tell within so long; `Ok(None)` for nothing yet, an error when the children are gone.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<News>, &'static str> {
        const GONE: &str = "the process that measures is gone";
        let errand = self.errand.as_mut().ok_or(GONE)?;
        let news = match errand.line.hear(Some(patience)) {
            Ok(message) => self.ear.take(message).map_err(|()| GONE),
            // Killed before the inside could ask to die with it.
            Err(Silence::Late) if errand.has_ended() => Err(GONE),
            Err(Silence::Late) => Ok(None),
            Err(Silence::Ended) => Err(GONE),
        };
        self.cleared |= matches!(news, Ok(Some(News::Cleared)));
        news
    }

    /// Ends it. On a disk it hears how the disk is cleared, and returns whether it was; on a loop file there is nothing to
    /// clear.
    pub fn close(mut self, tell: &mut dyn FnMut(News)) -> bool {
        self.end(tell);
        self.cleared || !self.clears
    }

    fn end(&mut self, tell: &mut dyn FnMut(News)) {
        let Some(errand) = self.errand.take() else { return };
        if !self.clears {
            return errand.end(PATIENCE);
        }
        let (ear, cleared) = (&mut self.ear, &mut self.cleared);
        errand.close(PATIENCE_FOR_DISKS, |message| {
            if let Ok(Some(news)) = ear.take(message) {
                *cleared |= news == News::Cleared;
                tell(news);
            }
        });
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.end(&mut |_| ());
    }
}
