//! Runs the few programs of the allow-list, always for reading.
//!
//! A program is taken only from fixed system directories, and only if nobody but root can change
//! the program or its directories. The program runs without a shell, in the C locale, in its own
//! process group, until a deadline. A killed program may be stuck, so its exit is not awaited. No
//! file can be created in the working directory, because RAID tools write logs there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::fs::FileType;

use super::{files, untrusted_path_reason};
use crate::host::tool::{OutputAcceptancePolicy, system_directories};
use crate::host::{HostError, HostErrorKind, HostResult, Tool};
use crate::text;

const DEADLINE: Duration = Duration::from_secs(5);

/// Time limit for tools of RAID controllers, which query the firmware and every disk behind the
/// controller.
const CONTROLLER_DEADLINE: Duration = Duration::from_secs(20);

/// First pause between checks whether a program has exited after it closed its output. Pauses
/// double, up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Not even root can create a file there.
const WORKING_DIRECTORY: &str = "/proc";

/// Limit on the output of a program, in bytes; further output is discarded.
const LARGEST_OUTPUT: usize = 1 << 20;

pub fn run_tool(tool: Tool, arguments: &[String]) -> HostResult {
    let spec = tool.spec_if_read_only(arguments).ok_or_else(|| {
        HostError::failed("walwise does not run this program with these arguments")
    })?;
    if let (Tool::PgControldata(_), [_, directory]) = (tool, arguments) {
        check_pg_control_is_regular_file(Path::new(directory))?;
    }
    let candidates = tool.candidate_paths();
    let (name, program) = find_trusted_program(&candidates)?;
    let (deadline, printed_counts) = match spec.answer {
        OutputAcceptancePolicy::Success => (DEADLINE, false),
        OutputAcceptancePolicy::Printed => (DEADLINE, true),
        OutputAcceptancePolicy::Firmware => (CONTROLLER_DEADLINE, true),
    };
    run_with_deadline(
        Command::new(program).arg0(name).args(arguments),
        deadline,
        printed_counts,
    )
}

pub fn find_trusted_system_program(name: &str) -> Result<PathBuf, HostError> {
    let places = system_directories().into_iter();
    let candidates: Vec<PathBuf> = places.map(|place| Path::new(place).join(name)).collect();
    find_trusted_program(&candidates).map(|(_, program)| program)
}

pub fn run_trial_tool(name: &str, arguments: &[String], deadline: Duration) -> HostResult {
    let program = find_trusted_system_program(name)?;
    run_with_deadline(
        Command::new(program).arg0(name).args(arguments),
        deadline,
        false,
    )
}

/// Refuses a control file that is not a regular file, because pg_controldata would also open a pipe
/// or a device.
fn check_pg_control_is_regular_file(directory: &Path) -> Result<(), HostError> {
    match files::PathHandle::open(&directory.join("global/pg_control"))?.kind {
        FileType::RegularFile => Ok(()),
        _ => Err(HostError::failed("global/pg_control is not a regular file")),
    }
}

/// The first existing candidate, and its path with links resolved. A program that users other than
/// root can change is refused.
fn find_trusted_program(candidates: &[PathBuf]) -> Result<(&Path, PathBuf), HostError> {
    for candidate in candidates {
        match fs::canonicalize(candidate) {
            Ok(program) => {
                return check_trusted_program(&program).map(|()| (candidate.as_path(), program));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e.into()),
        }
    }
    Err(HostError::new(HostErrorKind::Absent, "not installed"))
}

fn check_trusted_program(program: &Path) -> Result<(), HostError> {
    let refuse = |why: String| Err(HostError::denied(format!("not run: {why}")));
    if !fs::symlink_metadata(program)?.is_file() {
        let program = text::display_safe(program.as_os_str().as_encoded_bytes());
        return refuse(format!("{program} is not a regular file"));
    }
    match untrusted_path_reason(program)? {
        Some(doubt) => refuse(doubt),
        None => Ok(()),
    }
}

/// Runs the program in its own process group, so that terminal signals do not reach it, and returns
/// the output. With `printed_counts`, a failed program's output is returned too: some tools report
/// the state of a controller or disk by their exit status.
fn run_with_deadline(
    command: &mut Command,
    deadline: Duration,
    printed_counts: bool,
) -> HostResult {
    let deadline = Instant::now() + deadline;
    let mut process = command
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .current_dir(WORKING_DIRECTORY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let finished = collect_output_and_exit_status(&mut process, deadline);
    let Ok(([printed, complaints], status)) = finished else {
        if let Ok(group) = i32::try_from(process.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = process.try_wait();
        return Err(HostError::new(
            HostErrorKind::TimedOut,
            "the program did not exit in time and was killed",
        ));
    };
    if status.success() || printed_counts && !printed.trim_ascii().is_empty() {
        return Ok([printed, complaints].concat());
    }
    let complaint = String::from_utf8_lossy(&complaints);
    let denied = ["Permission denied", "Operation not permitted"]
        .iter()
        .any(|words| complaint.contains(words));
    let kind = if denied {
        HostErrorKind::Denied
    } else {
        HostErrorKind::Failed
    };
    let reason = last_unindented_error_line(&complaint);
    Err(HostError::new(
        kind,
        reason.map_or_else(
            || status.to_string(),
            |line| text::display_safe(line.as_bytes()),
        ),
    ))
}

/// Finds the line of the error output that gives the reason. This is the last one, because earlier
/// lines are warnings. An indented line continues the line before, as in mount(8)'s hint to use
/// dmesg.
fn last_unindented_error_line(complaint: &str) -> Option<&str> {
    let mut lines = complaint
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let whole = std::iter::once(first)
        .chain(lines)
        .find(|line| !line.starts_with([' ', '\t']));
    Some(whole.unwrap_or(first).trim())
}

struct DeadlinePassed;

fn collect_output_and_exit_status(
    process: &mut Child,
    deadline: Instant,
) -> Result<([Vec<u8>; 2], ExitStatus), DeadlinePassed> {
    let pipes = [
        process.stdout.take().map(OwnedFd::from),
        process.stderr.take().map(OwnedFd::from),
    ];
    let mut pipes = pipes.map(|pipe| pipe.map(File::from));
    let mut outputs = [Vec::new(), Vec::new()];
    while pipes.iter().any(Option::is_some) {
        let open = pipes.iter().flatten();
        let mut waiting: Vec<PollFd> = open
            .map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN))
            .collect();
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DeadlinePassed);
        }
        // If a signal interrupts the wait, the loop waits again.
        let _ = poll(
            &mut waiting,
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX),
        );
        let ready = waiting.iter().map(|fd| fd.any().unwrap_or(false));
        let mut ready = ready.collect::<Vec<_>>().into_iter();
        for (pipe, output) in pipes.iter_mut().zip(&mut outputs) {
            if let Some(open) = pipe
                && ready.next().unwrap_or(false)
                && !append_chunk_unless_closed(open, output)
            {
                *pipe = None;
            }
        }
    }
    let mut pause = SHORTEST_PAUSE;
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Ok((outputs, status)),
            // The program has closed its output, so it is about to exit.
            Ok(None) if Instant::now() < deadline => std::thread::sleep(pause),
            Ok(None) | Err(_) => return Err(DeadlinePassed),
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

fn append_chunk_unless_closed(pipe: &mut File, into: &mut Vec<u8>) -> bool {
    let mut piece = [0; 8192];
    match pipe.read(&mut piece) {
        Ok(count) => {
            let room = LARGEST_OUTPUT.saturating_sub(into.len()).min(count);
            into.extend_from_slice(piece.get(..room).unwrap_or_default());
            count > 0
        }
        Err(e) => e.kind() == io::ErrorKind::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn error_reason_is_the_last_unindented_line() {
        let mount = "mount: /tmp: wrong fs type, bad option.\n       dmesg(1) may have more information.\n\n";
        assert_eq!(
            last_unindented_error_line(mount),
            Some("mount: /tmp: wrong fs type, bad option.")
        );
        assert_eq!(
            last_unindented_error_line("warning: old\nno such device\n"),
            Some("no such device")
        );
        assert_eq!(
            last_unindented_error_line("   all of it is indented\n"),
            Some("all of it is indented")
        );
        assert_eq!(last_unindented_error_line(" \n"), None);
    }

    #[test]
    fn printed_output_counts_despite_exit_status() {
        let script = "echo 'required hardware component is not present'; exit 34";
        let run = |counts| {
            run_with_deadline(
                Command::new("/bin/sh").args(["-c", script]),
                PATIENT,
                counts,
            )
        };
        assert_eq!(
            run(true).unwrap(),
            b"required hardware component is not present\n"
        );
        assert_eq!(run(false).unwrap_err().kind, HostErrorKind::Failed);
        let silent = run_with_deadline(
            Command::new("/bin/sh").args(["-c", "echo no >&2; exit 1"]),
            PATIENT,
            true,
        );
        assert_eq!(silent.unwrap_err().detail, "no");
    }

    #[test]
    fn programs_cannot_create_log_files() {
        let script = "umask 0; : > storcli.log; ls storcli.log; pwd";
        let answer = run_with_deadline(Command::new("/bin/sh").args(["-c", script]), PATIENT, true);
        // The redirection fails, so no file is created, whether the shell exits or continues.
        let text = answer.map_or_else(|miss| miss.detail, |text| String::from_utf8(text).unwrap());
        assert!(!text.lines().any(|line| line == "storcli.log"), "{text}");
        assert!(!Path::new("/proc/storcli.log").exists());
    }

    #[test]
    fn irregular_pg_control_is_not_passed_to_tools() {
        let data = tempfile::tempdir().unwrap();
        fs::create_dir(data.path().join("global")).unwrap();
        let file = data.path().join("global/pg_control");
        let arguments = ["-D".to_owned(), data.path().to_str().unwrap().to_owned()];
        let asked = || run_tool(Tool::PgControldata(15), &arguments).unwrap_err();
        assert_eq!(asked().kind, HostErrorKind::Absent);
        nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(asked().detail, "global/pg_control is not a regular file");
        fs::remove_file(&file).unwrap();
        symlink("/dev/zero", &file).unwrap();
        assert_eq!(asked().detail, "global/pg_control is not a regular file");
    }

    #[test]
    fn programs_writable_by_others_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("mke2fs");
        fs::write(&program, "#!/bin/sh\necho hello\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o777)).unwrap();
        let link = dir.path().join("link");
        symlink(&program, &link).unwrap();
        for candidate in [&program, &link] {
            // Every user can write the program, so even root must refuse to run it.
            let miss =
                find_trusted_program(&[dir.path().join("none"), candidate.clone()]).unwrap_err();
            assert_eq!(miss.kind, HostErrorKind::Denied);
        }
        assert_eq!(
            find_trusted_program(&[dir.path().join("none")])
                .unwrap_err()
                .kind,
            HostErrorKind::Absent
        );
        assert_eq!(
            check_trusted_program(Path::new("/proc/self"))
                .unwrap_err()
                .kind,
            HostErrorKind::Denied
        );
    }

    #[test]
    fn stdout_precedes_stderr_and_environment_is_cleared() {
        let mut command = Command::new("/bin/sh");
        let answer = run_with_deadline(
            command.args(["-c", "echo err >&2; echo out; echo $HOME $LC_ALL"]),
            PATIENT,
            false,
        )
        .unwrap();
        assert_eq!(answer, b"out\nC\nerr\n");
    }

    #[test]
    fn failure_detail_is_the_program_error_output() {
        let script = "echo 'x: Permission denied while trying' >&2; exit 1";
        let miss = run_with_deadline(Command::new("/bin/sh").args(["-c", script]), PATIENT, false)
            .unwrap_err();
        assert_eq!(miss, HostError::denied("x: Permission denied while trying"));
        let miss = run_with_deadline(
            Command::new("/bin/sh").args(["-c", "exit 3"]),
            PATIENT,
            false,
        )
        .unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::Failed);
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        // A grandchild keeps the output open and must be killed too.
        let script = "sleep 1000 & sleep 1000";
        let miss = run_with_deadline(
            Command::new("/bin/sh").args(["-c", script]),
            Duration::from_millis(50),
            false,
        )
        .unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::TimedOut);
    }

    #[test]
    fn output_is_bounded() {
        let script = "head -c 3000000 /dev/zero";
        assert_eq!(
            run_with_deadline(Command::new("/bin/sh").args(["-c", script]), PATIENT, false)
                .unwrap()
                .len(),
            LARGEST_OUTPUT
        );
    }
}
