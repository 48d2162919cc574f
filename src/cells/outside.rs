//! The outside of a trial: the child between, which makes the namespaces, and the handle by which a trial is run.

use std::io;
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::disk::EraseOrder;
use super::job::{MeasureOrder, News, Order, TrialJob};
use crate::subprocess::{Channel, RecvError, Role, Subprocess};

/// How long the kernel may take to end everything.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a trial on a disk may be silent at its end: a program that makes a file system has a minute.
const PATIENCE_FOR_DISKS: Duration = Duration::from_secs(120);

/// Acts as the child between: makes the namespaces and starts the first process in them; ends after it.
pub fn between(mut channel: Channel, inside: Role) -> io::Result<()> {
    enter().and_then(|()| inside.run()).map(drop).or_else(|error| {
        let why = crate::text::error_words(&error);
        let why = format!("cannot create namespaces: {why}; in a container, run walwise on its host");
        channel.send(&News::Failed(why))
    })
}

fn enter() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
    // Nothing that is mounted in here is seen outside. What is unmounted outside is unmounted in here too, or it would
    // stay in use for as long as the trial lasts (mount_namespaces(7)).
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    std::env::set_current_dir("/")
}

/// A trial that is being run. When it is dropped, everything it made goes.
pub struct Arena {
    child: Option<Subprocess>,
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
        let role = if clears { Role::TrialBetweenDisk } else { Role::TrialBetween };
        Ok(Self { child: Some(Subprocess::spawn(role, order)?), clears, cleared: false })
    }

    pub fn measure(&mut self, order: MeasureOrder) -> io::Result<()> {
        let child = self.child.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        child.channel.send(&Order::Measure(order))
    }

    /// What there is to tell within so long; `Ok(None)` for nothing yet, an error when the children are gone.
    pub fn recv(&mut self, timeout: Duration) -> Result<Option<News>, &'static str> {
        const GONE: &str = "the process that measures is gone";
        let child = self.child.as_mut().ok_or(GONE)?;
        match child.channel.recv(Some(timeout)) {
            Ok(news) => {
                self.cleared |= news == News::Cleared;
                Ok(Some(news))
            }
            // Killed before the inside could ask to die with it.
            Err(RecvError::Timeout) if child.has_ended() => Err(GONE),
            Err(RecvError::Timeout) => Ok(None),
            Err(RecvError::Closed) => Err(GONE),
        }
    }

    /// Ends it. On a disk it hears how the disk is cleared, and returns whether it was; on a loop file there is nothing to
    /// clear.
    pub fn close(mut self, tell: &mut dyn FnMut(News)) -> bool {
        self.end(tell);
        self.cleared || !self.clears
    }

    fn end(&mut self, tell: &mut dyn FnMut(News)) {
        let Some(child) = self.child.take() else { return };
        if !self.clears {
            return child.end(PATIENCE);
        }
        child.close(PATIENCE_FOR_DISKS, |news| {
            self.cleared |= news == News::Cleared;
            tell(news);
        });
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.end(&mut |_| ());
    }
}
