//! `walwise drill`: what a person needs to pull the plug on their own machine and see what survived.
//!
//! It prints, and writes into a directory that was named. The surprise: the writer's standard output is the log, to be kept
//! by a machine that keeps its power; so every line leaves before the next commit begins.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::Path;

use super::CliError;
use super::args::{Drill, DrillMethod, DrillStep, DrillWrite};
use super::out::{Done, print};
use super::signals::Listener;
use crate::drill::{Head, Outcome, Survived, acknowledged, compare, survived};
use crate::host::path_bytes;
use crate::measure::Method;
use crate::pipeline::now;
use crate::probes::drill::{self, Segments};
use crate::text::{error_words, safe};

/// The largest log that is read.
const LARGEST_LOG: u64 = 1 << 30;

/// Does what was asked for.
pub(super) fn run(args: &Drill) -> Done {
    match (&args.step, &args.directory) {
        (Some(DrillStep::Write(args)), _) => write(args),
        (Some(DrillStep::Read { directory }), _) => read(directory),
        (Some(DrillStep::Check { acknowledged, survived }), _) => check(acknowledged, survived),
        (None, Some(directory)) => print(&steps(directory)),
        (None, None) => Err(CliError::Usage("name the directory that the drill is about".to_owned())),
    }
}

/// What to do, in order.
fn steps(directory: &Path) -> String {
    let dir = shell_word(&safe(path_bytes(directory)));
    format!(
        "\
A drill of {dir}: whether commits that this machine calls durable are there after its power was cut.
No program can see that from within. Do it on a machine that holds nothing you need: what loses power may break.

1. On another machine, one that keeps its power, start the writer and keep what it acknowledges:
     ssh HOST walwise drill write {dir} | tee acknowledged.log
   Only what arrived there counts. --method and --segments say how it writes; fdatasync into a recycled segment is
   what PostgreSQL does by default. It fills 16 MiB in {dir}/{own}, in turn with others only with --segments fresh.

2. After a minute of load, cut the power: pull the plug, or switch the outlet off. A reset, a soft power-off or a
   virtual machine that is killed shows less: disks keep their power then, and with it what is in their caches.
   Behind a RAID controller with a battery, leave it without power for some minutes; then it is the battery that is
   tried too.

3. When it is up again, with the file system mounted as before:
     ssh HOST walwise drill read {dir} > survived.log

4. Anywhere:
     walwise drill check acknowledged.log survived.log
   Exit code 0: nothing is lost. 3: something is.

5. Remove what was written before the next round: ssh HOST rm -r {dir}/{own}
   One round that loses nothing shows little, for a cache may have been empty by chance: make twenty.
",
        own = drill::DIRECTORY
    )
}

/// A word as a shell takes it.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%=:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn write(args: &DrillWrite) -> Done {
    let (method, segments) = (args.method.method(), args.segments.segments());
    let head = Head {
        run: RandomState::new().build_hasher().finish(),
        method: args.method.word().to_owned(),
        segments: segments.to_string(),
        when: now(),
        directory: safe(path_bytes(&args.directory)),
    };
    if ["PG_VERSION", "ibdata1"].iter().any(|file| args.directory.join(file).exists()) {
        let directory = &head.directory;
        let says =
            format!("{directory} belongs to a database; name a directory beside it, on the same file system");
        return Err(CliError::Usage(says));
    }
    let listener = Listener::start()?;
    let mut stdout = io::stdout().lock();
    let mut tell = |number: Option<u64>| {
        match number {
            None => writeln!(stdout, "{head}")?,
            Some(number) => writeln!(stdout, "ack {number}")?,
        }
        stdout.flush()
    };
    let done = drill::write(&args.directory, method, segments, &head, &listener.control(), &mut tell);
    match (done, listener.ended()) {
        (Err(error), _) => Err(CliError::Other(error.into())),
        (Ok(()), Some(signal)) => {
            let place = safe(path_bytes(&drill::place(&args.directory)));
            Err(CliError::Signal(signal, Some(format!("what was written stays in {place}"))))
        }
        (Ok(()), None) => Ok(0),
    }
}

fn read(directory: &Path) -> Done {
    let (head, pages) = drill::read(directory).map_err(CliError::Usage)?;
    print(&Survived { head, pages, when: now() }.to_string())
}

fn check(acks: &Path, rest: &Path) -> Done {
    let named = |path: &Path, says: String| CliError::Usage(format!("{}: {says}", safe(path_bytes(path))));
    let log = |path: &Path| {
        let size = fs::metadata(path).map_or(0, |found| found.len());
        if size > LARGEST_LOG {
            return Err(named(path, "it is larger than any log of a drill".to_owned()));
        }
        let bytes = fs::read(path).map_err(|error| named(path, error_words(&error)))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let acknowledged = acknowledged(&log(acks)?).map_err(|says| named(acks, says))?;
    let survived = survived(&log(rest)?).map_err(|says| named(rest, says))?;
    let outcome = compare(&acknowledged, &survived).map_err(CliError::Usage)?;
    print(&verdict(&acknowledged.head, &survived, &outcome))?;
    Ok(if outcome.lost() > 0 { 3 } else { 0 })
}

fn verdict(head: &Head, survived: &Survived, outcome: &Outcome) -> String {
    let Outcome { acknowledged, examined, lost } = outcome;
    let Head { run, method, segments, when, directory } = head;
    let says = match (examined, outcome.lost()) {
        (0, _) => "nothing was acknowledged, so nothing is shown; let it run longer".to_owned(),
        (_, 0) => format!("none is lost: proven by drill on {}, once", day(&survived.when)),
        (_, count) => {
            let shown = lost
                .iter()
                .take(10)
                .map(|(from, to)| if from == to { from.to_string() } else { format!("{from} to {to}") });
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = if lost.len() > 10 { ", and more" } else { "" };
            format!("{count} are LOST, numbers {shown}{more}: what is called durable there is not")
        }
    };
    let directory = safe(directory.as_bytes());
    format!(
        "Drill {run:016x} of {directory}, begun {when}, read {}: {method} into {segments} segments.\n\
         {acknowledged} commits were acknowledged; of the {examined} that could still be looked for, {says}.\n",
        survived.when
    )
}

/// The day of a time.
fn day(when: &str) -> &str {
    when.split_once('T').map_or(when, |(day, _)| day)
}

impl DrillMethod {
    /// As the probe writes.
    fn method(self) -> Method {
        match self {
            Self::Fdatasync => Method::Fdatasync,
            Self::Fsync => Method::Fsync,
            Self::OpenDatasync => Method::OpenDatasync,
            Self::OpenSync => Method::OpenSync,
            Self::OpenDatasyncDirect => Method::OpenDatasyncDirect,
            Self::OpenSyncDirect => Method::OpenSyncDirect,
        }
    }

    /// The word of the command line.
    fn word(self) -> &'static str {
        match self {
            Self::Fdatasync => "fdatasync",
            Self::Fsync => "fsync",
            Self::OpenDatasync => "open_datasync",
            Self::OpenSync => "open_sync",
            Self::OpenDatasyncDirect => "open_datasync_direct",
            Self::OpenSyncDirect => "open_sync_direct",
        }
    }
}

impl super::args::DrillSegments {
    fn segments(self) -> Segments {
        match self {
            Self::Recycled => Segments::Recycled,
            Self::Fresh => Segments::Fresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_word_of_the_commands() {
        assert_eq!(shell_word("/srv/pg-15"), "/srv/pg-15");
        assert_eq!(shell_word("/srv/it's here"), r"'/srv/it'\''s here'");
        assert!(steps(Path::new("/srv/a b")).contains("walwise drill write '/srv/a b' |"));
    }
}
