//! `walwise drill`: the steps by which a person cuts the power of a machine and finds out what
//! survived.
//!
//! It prints, and writes into the directory that was named. The writer's standard output is the
//! log, which a machine with power has to keep; every line is therefore flushed before the next
//! commit begins.

mod child {
    //! The child that writes and reads for a drill, so that a signal ends the drill whatever the
    //! state of the disk.
    //!
    //! It does nothing before it is told to, and waits after every commit until that was printed.
    //! It is killed when the drill ends, like a power cut would end it, and its files remain.

    use std::io;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    use anyhow::anyhow;
    use serde::{Deserialize, Serialize};

    use crate::cli::CliError;
    use crate::cli::args::DrillWrite;
    use crate::drill::{Head, StackFingerprint, Survived, survived};
    use crate::host::path_bytes;
    use crate::measure::Method;
    use crate::probes::Control;
    use crate::probes::drill::{self, DrillDirectory, Segments};
    use crate::subprocess::{Bytes, Channel, PATIENCE, RecvError, Role, Subprocess};
    use crate::text::{error_words, safe};

    /// What the child is to do in a directory.
    #[derive(Serialize, Deserialize)]
    enum Request {
        Write(Bytes, Method, Segments, Head),
        Read(Bytes),
    }

    /// Why the child ended.
    #[derive(Serialize, Deserialize)]
    enum DrillFailure {
        /// The directory is not usable.
        Refused(String),
        Failed(String),
    }

    /// The child's messages.
    type Reply = Result<News, DrillFailure>;

    #[derive(Serialize, Deserialize)]
    enum News {
        /// The directory is usable.
        Ready,
        Begun,
        /// The commit of this number is durable.
        Commit(u64),
        /// A file was read.
        Busy,
        /// The result of reading.
        Found(String),
    }

    /// The interval between checks for a signal.
    const LOOK: Duration = Duration::from_millis(50);

    /// The longest time of a commit, or of reading a file; a slower disk cannot be drilled.
    const LONGEST: Duration = Duration::from_secs(120);

    /// The time for the kernel to release the child.
    const LETTING_GO: Duration = Duration::from_secs(1);

    /// A writer that waits for its start signal.
    pub(super) struct DrillWriter {
        child: Option<Subprocess>,
        directory: String,
    }

    impl DrillWriter {
        /// Starts it; an error when nothing may be written in that directory.
        pub(super) fn start(args: &DrillWrite, head: &Head) -> Result<Self, CliError> {
            let directory = safe(path_bytes(&args.directory));
            let path = Bytes::from(args.directory.as_path());
            let request = Request::Write(
                path,
                args.method.method(),
                args.segments.segments(),
                head.clone(),
            );
            let mut child = spawn(&request)?;
            match child.channel.recv(Some(PATIENCE)) {
                Ok(Ok(News::Ready)) => Ok(Self {
                    child: Some(child),
                    directory,
                }),
                other => Err(ended(other, &directory, PATIENCE)),
            }
        }

        /// Writes until it is cancelled. `tell` is called when it has begun, and after every
        /// commit.
        pub(super) fn run(
            &mut self,
            control: &Control,
            tell: &mut dyn FnMut(Option<u64>) -> io::Result<()>,
        ) -> Result<(), CliError> {
            let Some(child) = &mut self.child else {
                return Ok(());
            };
            let mut since = Instant::now();
            let mut go_on = true;
            while !control.is_cancelled() {
                if std::mem::take(&mut go_on) {
                    // If the child has exited, the next read reports it.
                    let _ = child.channel.send(&());
                    since = Instant::now();
                }
                let number = match child.channel.recv(Some(LOOK)) {
                    Ok(Ok(News::Begun)) => None,
                    Ok(Ok(News::Commit(number))) => Some(number),
                    Err(RecvError::Timeout) if since.elapsed() < LONGEST => continue,
                    other => return Err(ended(other, &self.directory, LONGEST)),
                };
                tell(number)
                    .map_err(|error| anyhow!("the reader is gone: {}", error_words(&error)))?;
                go_on = true;
            }
            Ok(())
        }

        /// Ends the child.
        pub(super) fn end(&mut self) {
            if let Some(child) = self.child.take() {
                child.end(LETTING_GO);
            }
        }
    }

    /// The surviving part of a directory's drill. Boot, stack and time are added by the caller.
    pub(super) fn read(directory: &Path) -> Result<Survived, CliError> {
        let mut child = spawn(&Request::Read(directory.into()))?;
        let mut patience = PATIENCE;
        loop {
            match child.channel.recv(Some(patience)) {
                Ok(Ok(News::Ready | News::Busy)) => patience = LONGEST,
                Ok(Ok(News::Found(text))) => {
                    child.wait();
                    return survived(&text).map_err(CliError::Usage);
                }
                other => {
                    child.kill();
                    return Err(ended(other, &safe(path_bytes(directory)), patience));
                }
            }
        }
    }

    fn spawn(request: &Request) -> Result<Subprocess, CliError> {
        Subprocess::spawn(Role::Drill, request).map_err(|error| {
            anyhow!(
                "the child that does the drill did not start: {}",
                error_words(&error)
            )
            .into()
        })
    }

    /// Why no further message arrives.
    fn ended(last: Result<Reply, RecvError>, directory: &str, patience: Duration) -> CliError {
        match last {
            Ok(Err(DrillFailure::Refused(why))) => CliError::Usage(why),
            Ok(Err(DrillFailure::Failed(why))) => anyhow!(why).into(),
            Err(RecvError::Timeout) => anyhow!(
                "{directory}: no answer within {} s; look at dmesg",
                patience.as_secs()
            )
            .into(),
            Ok(Ok(_)) | Err(RecvError::Closed) => {
                anyhow!("the child that does the drill ended without a word").into()
            }
        }
    }

    /// Acts as the child.
    pub fn serve(mut channel: Channel) -> io::Result<()> {
        let served = match channel.recv(None)? {
            Request::Read(directory) => find(&PathBuf::from(directory), &mut channel),
            Request::Write(directory, method, segments, head) => write(
                &PathBuf::from(directory),
                method,
                segments,
                &head,
                &mut channel,
            ),
        };
        served.or_else(|failure| channel.send(&Reply::Err(failure)))
    }

    fn tell(channel: &mut Channel, news: News) -> Result<(), DrillFailure> {
        channel
            .send(&Reply::Ok(news))
            .map_err(|error| DrillFailure::Failed(error_words(&error)))
    }

    fn find(directory: &Path, channel: &mut Channel) -> Result<(), DrillFailure> {
        let parent = DrillDirectory::to_read(directory).map_err(DrillFailure::Refused)?;
        tell(channel, News::Ready)?;
        let mut is_busy = || drop(tell(channel, News::Busy));
        let (head, pages) = drill::read(&parent, &mut is_busy).map_err(DrillFailure::Refused)?;
        let found = Survived {
            head,
            boot: String::new(),
            stack: StackFingerprint::default(),
            pages,
            when: String::new(),
        };
        tell(channel, News::Found(found.to_string()))
    }

    fn write(
        directory: &Path,
        method: Method,
        segments: Segments,
        head: &Head,
        channel: &mut Channel,
    ) -> Result<(), DrillFailure> {
        let parent = DrillDirectory::to_write(directory).map_err(DrillFailure::Refused)?;
        tell(channel, News::Ready)?;
        channel
            .recv::<()>(None)
            .map_err(|error| DrillFailure::Failed(error.to_string()))?;
        let mut acknowledge = |number: Option<u64>| {
            channel.send(&Reply::Ok(number.map_or(News::Begun, News::Commit)))?;
            channel.recv::<()>(None)?;
            Ok(true)
        };
        drill::write(&parent, method, segments, head, &mut acknowledge)
            .map_err(|error| DrillFailure::Failed(error.to_string()))
    }
}

pub use child::serve;

use std::io::{self, Write};
use std::path::Path;

use super::args::{Drill, DrillMethod, DrillStep, DrillWrite, From};
use super::out::{self, ExitResult, print};
use super::signals::Listener;
use super::{CliError, host};
use crate::drill::{
    BOOT, DrillResult, Head, Record, STOPPED, StackFingerprint, Survived, acknowledged, compare,
    day, no_cut, survived,
};
use crate::facts::Scope;
use crate::host::{Host, LiveHost, Question, path_bytes};
use crate::measure::Method;
use crate::output::{Existing, Wish};
use crate::probes::drill::{self, Segments};
use crate::quote::Command;
use crate::rules::RuleSet;
use crate::session::now;
use crate::text::safe;
use crate::way::random;

/// The largest log that is read, in bytes.
const LARGEST_LOG: u64 = 1 << 30;

/// Executes the requested step.
pub(super) fn run(args: &Drill) -> ExitResult {
    match (&args.step, &args.directory) {
        (Some(DrillStep::Write(args)), _) => write(args),
        (Some(DrillStep::Read { directory }), _) => read(directory),
        (
            Some(DrillStep::Check {
                acknowledged,
                survived,
                record,
            }),
            _,
        ) => check(acknowledged, survived, record.as_deref()),
        (None, Some(directory)) => print(&steps(directory)?),
        (None, None) => Err(CliError::Usage(
            "name the directory that the drill is about".to_owned(),
        )),
    }
}

/// The instructions, in order.
fn steps(directory: &Path) -> Result<String, CliError> {
    let shown = safe(path_bytes(directory));
    let cannot = || {
        CliError::Usage(format!(
            "{shown} cannot be written into a command; give it another name"
        ))
    };
    // A name with a leading dash would be taken for an option.
    let dir = if shown.starts_with('-') {
        format!("./{shown}")
    } else {
        shown.clone()
    };
    let own = format!("{}/{}", dir.trim_end_matches('/'), drill::DIRECTORY);
    let remote = |program: &'static str, name: &str| {
        Command::new("ssh HOST ").command(&Command::new(program).value(name)?)
    };
    let write = remote("walwise drill write ", &dir).ok_or_else(cannot)?;
    let read = remote("walwise drill read ", &dir).ok_or_else(cannot)?;
    let clear = remote("rm -r ", &own).ok_or_else(cannot)?;
    let check = Command::check(&dir, " --drill drills.json").ok_or_else(cannot)?;
    Ok(format!(
        "\
A drill of {shown}: whether commits that this machine calls durable are there after its power was cut.
No program can see that from within. Do it on a machine that holds nothing you need: what loses power may break.

1. On another machine, one that keeps its power, start the writer and keep what it acknowledges:
     {write} | tee acknowledged.log
   Only what arrived there counts. --method and --segments say how it writes; fdatasync into a recycled segment is
   what PostgreSQL does by default. It fills 16 MiB in {own}, in turn with others only with --segments fresh.

2. After a minute of load, cut the power: pull the plug, or switch the outlet off. A reset, a soft power-off or a
   virtual machine that is killed shows less: disks keep their power then, and with it what is in their caches.
   Behind a RAID controller with a battery, leave it without power for some minutes; then it is the battery that is
   tried too.

3. When it is up again, with the file system mounted as before:
     {read} > survived.log

4. Anywhere:
     walwise drill check acknowledged.log survived.log --record drills.json
   Exit code 0: nothing is lost. 3: something is. With that record, on this machine,
     {check}
   says *proven by drill* where nothing but a test could show it, as long as {shown} stands on what was drilled.

5. Remove what was written before the next round: {clear}
   One round that loses nothing shows little, for a cache may have been empty by chance: make twenty.
"
    ))
}

fn write(args: &DrillWrite) -> ExitResult {
    let segments = args.segments.segments();
    let head = Head {
        run: random(),
        method: args.method.word().to_owned(),
        segments: segments.to_string(),
        when: now(),
        directory: safe(path_bytes(&args.directory)),
    };
    let mut writer = child::DrillWriter::start(args, &head)?;
    let (boot, stack) = (boot(), stack(&args.directory)?);
    let listener = Listener::start()?;
    let mut stdout = io::stdout().lock();
    let control = listener.control();
    let mut tell = |number: Option<u64>| {
        // A full pipe would block the end of the drill; a commit that was not printed was not
        // acknowledged.
        while !out::takes_more() {
            if control.is_cancelled() {
                return Ok(());
            }
        }
        match number {
            None => write!(stdout, "{head}\n{BOOT}{boot}\n{stack}")?,
            Some(number) => writeln!(stdout, "ack {number}")?,
        }
        stdout.flush()
    };
    let done = writer.run(&control, &mut tell);
    writer.end();
    match (done, listener.ended()) {
        (Err(error), _) => Err(error),
        (Ok(()), Some(signal)) => {
            // The reader may be gone, and the sentence with it.
            if out::takes_more() {
                let _ = writeln!(stdout, "{STOPPED}").and_then(|()| stdout.flush());
            }
            let place = safe(path_bytes(&drill::place(&args.directory)));
            Err(CliError::Signal(
                signal,
                Some(format!("what was written stays in {place}")),
            ))
        }
        (Ok(()), None) => Ok(0),
    }
}

fn read(directory: &Path) -> ExitResult {
    let found = child::read(directory)?;
    print(
        &Survived {
            boot: boot(),
            stack: stack(directory)?,
            when: now(),
            ..found
        }
        .to_string(),
    )
}

/// The id of the current boot; empty where it cannot be read.
fn boot() -> String {
    let answer = LiveHost::new().ask(&Question::Read("/proc/sys/kernel/random/boot_id".into()));
    answer.map(|id| safe(id.trim_ascii())).unwrap_or_default()
}

/// The stack below the directory, now.
fn stack(directory: &Path) -> Result<StackFingerprint, CliError> {
    let session = host::look(&From::default(), Some(directory), RuleSet::default())?;
    let target = session.read.subjects(Scope::Target).next();
    Ok(target
        .map(|target| StackFingerprint::from_facts(&session.read, target))
        .unwrap_or_default())
}

fn check(acks: &Path, rest: &Path, record: Option<&Path>) -> ExitResult {
    let wish = Wish {
        existing: Existing::Continued,
        ..Wish::default()
    };
    let recorded = record
        .map(|path| out::destination(path, wish))
        .transpose()?;
    let named =
        |path: &Path, says: String| CliError::Usage(format!("{}: {says}", safe(path_bytes(path))));
    let log = |path: &Path| host::text_file(path, LARGEST_LOG);
    let acknowledged = acknowledged(&log(acks)?).map_err(|says| named(acks, says))?;
    let survived = survived(&log(rest)?).map_err(|says| named(rest, says))?;
    let outcome = compare(&acknowledged, &survived).map_err(CliError::Usage)?;
    let no_cut = no_cut(&acknowledged, &survived);
    print(&verdict(&acknowledged.head, &survived, &outcome, no_cut))?;
    if let (Some(path), Some(found)) = (record, recorded) {
        let mut drills =
            host::drill_record_if_any(path)?.unwrap_or_else(|| Record::new(&acknowledged.stack));
        drills
            .add(&acknowledged, &survived, &outcome)
            .map_err(|says| named(path, format!("not recorded: {says}")))?;
        found
            .commit(drills.render().as_bytes())
            .map_err(anyhow::Error::from)?;
        out::notice(&format!(
            "recorded, the {} of its stack: {}",
            ordinal(drills.cuts()),
            safe(path_bytes(path))
        ));
    }
    Ok(exit_code(&outcome, no_cut))
}

/// 3 where something is lost, 5 where nothing was proven, 0 where everything was found after a
/// power cut.
fn exit_code(outcome: &DrillResult, no_cut: Option<&str>) -> u8 {
    match (outcome.lost(), outcome.examined, no_cut) {
        (1.., _, _) => 3,
        (0, 0, _) | (0, _, Some(_)) => 5,
        (0, _, None) => 0,
    }
}

fn verdict(
    head: &Head,
    survived: &Survived,
    outcome: &DrillResult,
    no_cut: Option<&str>,
) -> String {
    let DrillResult {
        acknowledged,
        examined,
        lost,
    } = outcome;
    let Head {
        run,
        method,
        segments,
        when,
        directory,
    } = head;
    let says = match (examined, outcome.lost(), no_cut) {
        (0, ..) => "nothing was acknowledged, so nothing is shown; let it run longer".to_owned(),
        (_, 0, Some(why)) => format!("none is lost, which shows nothing: {why}"),
        (_, 0, None) => format!(
            "none is lost: proven by drill on {}, once",
            day(&survived.when)
        ),
        (_, count, _) => {
            let shown = lost.iter().take(10).map(|(from, to)| {
                if from == to {
                    from.to_string()
                } else {
                    format!("{from} to {to}")
                }
            });
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

/// 1st, 2nd, 3rd, 4th, 11th.
fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

impl DrillMethod {
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
    fn only_a_drill_that_shows_something_ends_well() {
        let outcome = |examined, lost: &[(u64, u64)]| DrillResult {
            acknowledged: examined,
            examined,
            lost: lost.to_vec(),
        };
        assert_eq!(exit_code(&outcome(20, &[]), None), 0);
        assert_eq!(exit_code(&outcome(20, &[]), Some("no power was cut")), 5);
        assert_eq!(exit_code(&outcome(0, &[]), None), 5);
        assert_eq!(
            exit_code(&outcome(20, &[(3, 3)]), Some("no power was cut")),
            3
        );
    }

    #[test]
    fn a_directory_is_one_word_of_the_commands() {
        let told = |directory: &str| steps(Path::new(directory));
        assert!(
            told("/srv/pg-15")
                .unwrap()
                .contains("ssh HOST 'walwise drill write /srv/pg-15' |")
        );
        // Two shells parse it, one on each machine.
        assert!(
            told("/srv/a b")
                .unwrap()
                .contains("ssh HOST \"walwise drill write '/srv/a b'\" |")
        );
        assert!(
            told("/srv/a b")
                .unwrap()
                .contains("\n     walwise check '/srv/a b' --drill drills.json\n")
        );
        assert!(
            told("-x")
                .unwrap()
                .contains("ssh HOST 'walwise drill write ./-x' |")
        );
        assert!(
            told("/srv/a\x1b").is_err(),
            "nobody can paste what cannot be shown"
        );
    }
}
