//! Standard output of `drill write` is the log, which the user saves on another host. Each line is
//! therefore flushed before the next commit begins.

mod child {
    //! A subprocess writes and reads for a drill, so that a signal ends the drill even if the disk
    //! hangs.
    //!
    //! After each commit, the subprocess waits until the parent has printed the commit. At the end
    //! the subprocess is killed, and its files remain.

    use std::io;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    use anyhow::anyhow;
    use serde::{Deserialize, Serialize};

    use crate::cli::CliError;
    use crate::cli::args::DrillWriteArgs;
    use crate::drill::RunHeader;
    use crate::measure::Method;
    use crate::probes::CancelHandle;
    use crate::probes::drill::{self, DrillParentDirectory, SegmentMode};
    use crate::subprocess::{Channel, MessageBytes, RECV_TIMEOUT, RecvError, Role, Subprocess};
    use crate::text::{display_path, io_error_message};

    #[derive(Serialize, Deserialize)]
    enum DrillRequest {
        Write(MessageBytes, Method, SegmentMode, RunHeader),
        Read(MessageBytes),
    }

    #[derive(Serialize, Deserialize)]
    enum DrillFailure {
        Refused(String),
        Failed(String),
    }

    type DrillReply = Result<DrillEvent, DrillFailure>;

    #[derive(Serialize, Deserialize)]
    enum DrillEvent {
        Ready,
        Begun,
        Commit(u64),
        /// A file was read; this resets the parent's timeout.
        Busy,
        Found(RunHeader, Vec<(u64, u64)>),
    }

    const POLL_INTERVAL: Duration = Duration::from_millis(50);

    /// Time limit for one commit, or for reading one file.
    const COMMIT_TIMEOUT: Duration = Duration::from_secs(120);

    const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

    pub(super) struct DrillWriterChild {
        child: Subprocess,
        directory: String,
    }

    impl DrillWriterChild {
        pub(super) fn start_drill_child(
            args: &DrillWriteArgs,
            head: &RunHeader,
        ) -> Result<Self, CliError> {
            let directory = display_path(&args.directory);
            let path = MessageBytes::from(args.directory.as_path());
            let request = DrillRequest::Write(path, args.method, args.segments, head.clone());
            let mut child = spawn_drill_child(&request)?;
            match child.channel.recv(Some(RECV_TIMEOUT)) {
                Ok(Ok(DrillEvent::Ready)) => Ok(Self { child, directory }),
                other => Err(drill_child_error(other, &directory, RECV_TIMEOUT)),
            }
        }

        /// Calls `tell` with `None` at the start, and with the number of each commit once it is
        /// durable.
        pub(super) fn receive_commits_until_cancelled(
            &mut self,
            control: &CancelHandle,
            tell: &mut dyn FnMut(Option<u64>) -> io::Result<()>,
        ) -> Result<(), CliError> {
            let channel = &mut self.child.channel;
            let mut since = Instant::now();
            let mut go_on = true;
            while !control.is_cancelled() {
                if std::mem::take(&mut go_on) {
                    // If the child has exited, the next read reports this.
                    let _ = channel.send(&());
                    since = Instant::now();
                }
                let number = match channel.recv(Some(POLL_INTERVAL)) {
                    Ok(Ok(DrillEvent::Begun)) => None,
                    Ok(Ok(DrillEvent::Commit(number))) => Some(number),
                    Err(RecvError::Timeout) if since.elapsed() < COMMIT_TIMEOUT => continue,
                    other => return Err(drill_child_error(other, &self.directory, COMMIT_TIMEOUT)),
                };
                tell(number).map_err(|error| {
                    anyhow!(
                        "cannot write to standard output: {}",
                        io_error_message(&error)
                    )
                })?;
                go_on = true;
            }
            Ok(())
        }

        pub(super) fn stop_drill_child(self) {
            self.child.kill_and_wait_for_closed_channel(EXIT_TIMEOUT);
        }
    }

    /// The run, and the ranges of the commits found on the disk.
    pub(super) fn read_surviving_commits(
        directory: &Path,
    ) -> Result<(RunHeader, Vec<(u64, u64)>), CliError> {
        let mut child = spawn_drill_child(&DrillRequest::Read(directory.into()))?;
        let mut patience = RECV_TIMEOUT;
        loop {
            match child.channel.recv(Some(patience)) {
                Ok(Ok(DrillEvent::Ready | DrillEvent::Busy)) => patience = COMMIT_TIMEOUT,
                Ok(Ok(DrillEvent::Found(head, pages))) => {
                    child.close_channel_and_wait();
                    return Ok((head, pages));
                }
                other => {
                    child.kill();
                    return Err(drill_child_error(other, &display_path(directory), patience));
                }
            }
        }
    }

    fn spawn_drill_child(request: &DrillRequest) -> Result<Subprocess, CliError> {
        Subprocess::spawn(Role::Drill, request).map_err(|error| {
            anyhow!(
                "the drill process did not start: {}",
                io_error_message(&error)
            )
            .into()
        })
    }

    fn drill_child_error(
        last: Result<DrillReply, RecvError>,
        directory: &str,
        patience: Duration,
    ) -> CliError {
        match last {
            Ok(Err(DrillFailure::Refused(why))) => CliError::Usage(why),
            Ok(Err(DrillFailure::Failed(why))) => anyhow!(why).into(),
            Err(RecvError::Timeout) => anyhow!(
                "{directory}: no answer within {} s; check dmesg",
                patience.as_secs()
            )
            .into(),
            Ok(Ok(_)) | Err(RecvError::Closed) => {
                anyhow!("the drill process ended unexpectedly").into()
            }
        }
    }

    pub fn run_drill_child(mut channel: Channel) -> io::Result<()> {
        let served = match channel.recv(None)? {
            DrillRequest::Read(directory) => {
                serve_drill_read(&PathBuf::from(directory), &mut channel)
            }
            DrillRequest::Write(directory, method, segments, head) => serve_drill_write(
                &PathBuf::from(directory),
                method,
                segments,
                &head,
                &mut channel,
            ),
        };
        served.or_else(|failure| channel.send(&DrillReply::Err(failure)))
    }

    fn send_event(channel: &mut Channel, news: DrillEvent) -> Result<(), DrillFailure> {
        channel
            .send(&DrillReply::Ok(news))
            .map_err(|error| DrillFailure::Failed(io_error_message(&error)))
    }

    fn serve_drill_read(directory: &Path, channel: &mut Channel) -> Result<(), DrillFailure> {
        let parent =
            DrillParentDirectory::open_to_read_drill(directory).map_err(DrillFailure::Refused)?;
        send_event(channel, DrillEvent::Ready)?;
        let mut is_busy = || drop(send_event(channel, DrillEvent::Busy));
        let (head, pages) = drill::read_header_and_page_ranges(&parent, &mut is_busy)
            .map_err(DrillFailure::Refused)?;
        send_event(channel, DrillEvent::Found(head, pages))
    }

    fn serve_drill_write(
        directory: &Path,
        method: Method,
        segments: SegmentMode,
        head: &RunHeader,
        channel: &mut Channel,
    ) -> Result<(), DrillFailure> {
        let parent =
            DrillParentDirectory::open_to_write_drill(directory).map_err(DrillFailure::Refused)?;
        send_event(channel, DrillEvent::Ready)?;
        channel
            .recv::<()>(None)
            .map_err(|error| DrillFailure::Failed(error.to_string()))?;
        let mut acknowledge = |number: Option<u64>| {
            channel.send(&DrillReply::Ok(
                number.map_or(DrillEvent::Begun, DrillEvent::Commit),
            ))?;
            channel.recv::<()>(None)?;
            Ok(true)
        };
        drill::write_commits_until_stopped(&parent, method, segments, head, &mut acknowledge)
            .map_err(|error| DrillFailure::Failed(error.to_string()))
    }
}

pub use child::run_drill_child;

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::args::{DrillArgs, DrillCommand, DrillWriteArgs};
use super::out::{self, ExitResult, print_document};
use super::signals::SignalListener;
use super::{CliError, host};
use crate::drill::{
    BOOT_PREFIX, DrillRecord, DrillResult, ReadBackLog, RunHeader, STOPPED_LINE, StackFacts,
    date_part, find_lost_commits, parse_ack_log, parse_read_back_log, unproven_power_cut_reason,
};
use crate::escape::ShellCommand;
use crate::facts::Scope;
use crate::host::{Host, LiveHost, Question};
use crate::output::{ExistingFilePolicy, OutputOptions};
use crate::probes::drill;
use crate::safe_path::random_u64;
use crate::session::now_rfc3339;
use crate::text::{display_path, display_safe};
use walwise_model::text::JoinText as _;

const LARGEST_LOG: u64 = 1 << 30;

pub(super) fn run_drill(args: &DrillArgs) -> ExitResult {
    match (&args.step, &args.directory) {
        (Some(DrillCommand::Write(args)), _) => run_write(args),
        (Some(DrillCommand::Read { directory }), _) => run_read(directory),
        (
            Some(DrillCommand::Check {
                acknowledged,
                survived,
                record,
            }),
            _,
        ) => run_check(acknowledged, survived, record.as_deref()),
        (None, Some(directory)) => print_document(&drill_instructions(directory)?),
        (None, None) => Err(CliError::Usage("specify the directory to test".to_owned())),
    }
}

fn drill_instructions(directory: &Path) -> Result<String, CliError> {
    let shown = display_path(directory);
    // A path with a leading dash would be parsed as an option.
    let dir = if shown.starts_with('-') {
        format!("./{shown}")
    } else {
        shown.clone()
    };
    let own = format!(
        "{}/{}",
        dir.trim_end_matches('/'),
        drill::DRILL_DIRECTORY_NAME
    );
    let remote = |program: &'static str, name: &str| {
        ShellCommand::new("ssh HOST ")
            .append_nested_command(&ShellCommand::new(program).append_quoted_name(name)?)
    };
    let commands = || {
        Some((
            remote("walwise drill write ", &dir)?,
            remote("walwise drill read ", &dir)?,
            remote("rm -r ", &own)?,
            ShellCommand::walwise_check_command(&dir, " --drill drills.json")?,
        ))
    };
    let cannot = || format!("{shown} cannot be quoted for a shell command; rename it");
    let (write, read, clear, check) = commands().ok_or_else(|| CliError::Usage(cannot()))?;
    Ok(format!(
        "\
A drill (power-cut test) of {shown}: do commits reported as durable survive a power cut?
Only a real power cut can show this. Use a host without data that you need: a power cut can damage files.

1. On another host that keeps power, start the writer and save its output:
     {write} | tee acknowledged.log
   Only the commits printed there count. --method and --segments select the writes; fdatasync into a recycled segment
   is PostgreSQL's default. The writer fills 16 MiB in {own}; --segments fresh creates further segments.

2. After a minute of load, cut the power: pull the plug, or switch the outlet off. A reset, a soft power-off or
   killing a virtual machine proves less, because the disks and their caches keep power.
   Behind a RAID controller with a battery, leave the power off for a few minutes to test
   the battery too.

3. When the host is up again, with the file system mounted as before:
     {read} > survived.log

4. On any host:
     walwise drill check acknowledged.log survived.log --record drills.json
   Exit code 0: no commit was lost. 3: commits were lost. On this host, the command
     {check}
   then uses the record and reports *proven by drill* where only a test can show durability,
   as long as the stack below {shown} is unchanged.

5. Before the next round, remove the written data: {clear}
   One round without loss proves little, because the cache may have been empty by chance. Run at least twenty.
"
    ))
}

fn run_write(args: &DrillWriteArgs) -> ExitResult {
    let head = RunHeader {
        run: random_u64(),
        method: json!(args.method).as_str().unwrap_or_default().to_owned(),
        segments: args.segments.to_string(),
        when: now_rfc3339(),
        directory: display_path(&args.directory),
    };
    let mut writer = child::DrillWriterChild::start_drill_child(args, &head)?;
    let (boot, stack) = (read_boot_id(), collect_stack_fingerprint(&args.directory)?);
    let listener = SignalListener::start()?;
    let mut stdout = io::stdout().lock();
    let control = listener.cancel_handle();
    let mut tell = |number: Option<u64>| {
        // A write to a full pipe would block, so that no signal could end the drill. A commit
        // counts as acknowledged only once it is printed.
        while !out::stdout_is_writable() {
            if control.is_cancelled() {
                return Ok(());
            }
        }
        match number {
            None => write!(stdout, "{head}\n{BOOT_PREFIX}{boot}\n{stack}")?,
            Some(number) => writeln!(stdout, "ack {number}")?,
        }
        stdout.flush()
    };
    let done = writer.receive_commits_until_cancelled(&control, &mut tell);
    writer.stop_drill_child();
    match (done, listener.stop_and_take_signal()) {
        (Err(error), _) => Err(error),
        (Ok(()), Some(signal)) => {
            // A write error is ignored, because the reader of standard output may have exited.
            if out::stdout_is_writable() {
                let _ = writeln!(stdout, "{STOPPED_LINE}").and_then(|()| stdout.flush());
            }
            let place = display_path(&drill::drill_directory_path(&args.directory));
            Err(CliError::Signal(
                signal,
                Some(format!("the written data stays in {place}")),
            ))
        }
        (Ok(()), None) => Ok(0),
    }
}

fn run_read(directory: &Path) -> ExitResult {
    let (header, pages) = child::read_surviving_commits(directory)?;
    print_document(
        &ReadBackLog {
            header,
            boot: read_boot_id(),
            stack: collect_stack_fingerprint(directory)?,
            pages,
            when: now_rfc3339(),
        }
        .to_string(),
    )
}

/// Empty if the id cannot be read.
fn read_boot_id() -> String {
    let answer = LiveHost::new().ask(&Question::Read("/proc/sys/kernel/random/boot_id".into()));
    answer
        .map(|id| display_safe(id.trim_ascii()))
        .unwrap_or_default()
}

fn collect_stack_fingerprint(directory: &Path) -> Result<StackFacts, CliError> {
    let session = host::collect_live_session(Some(directory))?;
    let target = session.facts.subjects_of_scope(Scope::Target).next();
    Ok(target
        .map(|target| StackFacts::from_facts(&session.facts, target))
        .unwrap_or_default())
}

fn run_check(acks: &Path, rest: &Path, record: Option<&Path>) -> ExitResult {
    let open_record = |path| {
        let wish = OutputOptions {
            existing: ExistingFilePolicy::Continued,
            ..OutputOptions::default()
        };
        Ok::<_, CliError>((path, out::open_destination(path, wish)?))
    };
    let record = record.map(open_record).transpose()?;
    let named =
        |path: &Path, says: String| CliError::Usage(format!("{}: {says}", display_path(path)));
    let log = |path: &Path| host::read_text_file(path, LARGEST_LOG);
    let acknowledged = parse_ack_log(&log(acks)?).map_err(|says| named(acks, says))?;
    let survived = parse_read_back_log(&log(rest)?).map_err(|says| named(rest, says))?;
    let outcome = find_lost_commits(&acknowledged, &survived).map_err(CliError::Usage)?;
    let no_cut = unproven_power_cut_reason(&acknowledged, &survived);
    print_document(&drill_summary(
        &acknowledged.header,
        &survived,
        &outcome,
        no_cut,
    ))?;
    if let Some((path, found)) = record {
        let mut drills = host::read_drill_record_if_any(path)?
            .unwrap_or_else(|| DrillRecord::new(&acknowledged.stack));
        drills
            .add_power_cut(&acknowledged, &survived, &outcome)
            .map_err(|says| named(path, format!("not recorded: {says}")))?;
        found
            .commit(drills.to_json().as_bytes())
            .map_err(anyhow::Error::from)?;
        out::print_notice(&format!(
            "recorded as the {} drill of this stack: {}",
            ordinal(drills.power_cut_count()),
            display_path(path)
        ));
    }
    Ok(drill_exit_code(&outcome, no_cut))
}

/// 3 if commits were lost, 5 if nothing was proven, 0 if every commit survived a power cut.
fn drill_exit_code(outcome: &DrillResult, no_cut: Option<&str>) -> u8 {
    match (outcome.lost_count(), outcome.examined, no_cut) {
        (1.., _, _) => 3,
        (0, 0, _) | (0, _, Some(_)) => 5,
        (0, _, None) => 0,
    }
}

fn drill_summary(
    head: &RunHeader,
    survived: &ReadBackLog,
    outcome: &DrillResult,
    no_cut: Option<&str>,
) -> String {
    let DrillResult {
        acknowledged,
        examined,
        lost_ranges: lost,
    } = outcome;
    let RunHeader {
        run,
        method,
        segments,
        when,
        directory,
    } = head;
    let says = match (examined, outcome.lost_count(), no_cut) {
        (0, ..) => {
            "no commit was acknowledged, so nothing is proven; run the writer longer".to_owned()
        }
        (_, 0, Some(why)) => format!("none was lost, but this proves nothing: {why}"),
        (_, 0, None) => format!(
            "none was lost: proven by one drill on {}",
            date_part(&survived.when)
        ),
        (_, count, _) => {
            let shown = lost.iter().take(10).map(|(from, to)| {
                if from == to {
                    from.to_string()
                } else {
                    format!("{from} to {to}")
                }
            });
            let shown = shown.join_with(", ");
            let more = if lost.len() > 10 { ", and more" } else { "" };
            let were = if count == 1 { "was" } else { "were" };
            format!("{count} {were} LOST, although reported as durable: numbers {shown}{more}")
        }
    };
    let directory = display_safe(directory.as_bytes());
    format!(
        "Drill {run:016x} of {directory}, started {when}, read back {}: {method} into {segments} segments.\n\
         {acknowledged} commits were acknowledged, and {examined} of them could be checked; \
         {says}.\n",
        survived.when
    )
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drill_exit_code_is_zero_only_for_proven_durability() {
        let outcome = |examined, lost: &[(u64, u64)]| DrillResult {
            acknowledged: examined,
            examined,
            lost_ranges: lost.to_vec(),
        };
        assert_eq!(drill_exit_code(&outcome(20, &[]), None), 0);
        assert_eq!(
            drill_exit_code(&outcome(20, &[]), Some("no power was cut")),
            5
        );
        assert_eq!(drill_exit_code(&outcome(0, &[]), None), 5);
        assert_eq!(
            drill_exit_code(&outcome(20, &[(3, 3)]), Some("no power was cut")),
            3
        );
    }

    #[test]
    fn drill_instructions_quote_directory_for_both_shells() {
        let told = |directory: &str| drill_instructions(Path::new(directory));
        assert!(
            told("/srv/pg-15")
                .unwrap()
                .contains("ssh HOST 'walwise drill write /srv/pg-15' |")
        );
        // Two shells parse the command, one on each host, so the path is quoted twice.
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
            "a control character cannot be pasted"
        );
    }
}
