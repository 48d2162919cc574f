//! Files named on the command line: a pipe without data ends every command, and a pipe with
//! data gives the same result as a file.

use std::any::TypeId;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Arg, CommandFactory};
use nix::sys::stat::Mode;
use walwise::cli::args::Cli;

use super::support::deadline::{ChildInTime as _, CommandInTime as _};
use super::support::recorded;
use super::support::running::RunningProgram;
use super::support::{stderr, stdout, walwise};

/// Arguments that name a directory without opening it.
const NOT_OPENED: [(&str, &str); 3] = [
    ("check", "scratch"),
    ("drill", "directory"),
    ("facts", "rules"),
];

fn all_commands() -> Vec<(Vec<String>, clap::Command)> {
    fn walk(
        command: &clap::Command,
        words: &[String],
        out: &mut Vec<(Vec<String>, clap::Command)>,
    ) {
        out.push((words.to_vec(), command.clone()));
        for kid in command
            .get_subcommands()
            .filter(|kid| kid.get_name() != "help")
        {
            walk(kid, &[words, &[kid.get_name().to_owned()]].concat(), out);
        }
    }
    let mut out = Vec::new();
    walk(&Cli::command(), &[], &mut out);
    out
}

fn is_path_argument(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

fn command_line_with_path(
    words: &[String],
    command: &clap::Command,
    tried: &Arg,
    path: &Path,
    spare: &Path,
) -> Vec<String> {
    let path = path.to_str().unwrap().to_owned();
    let mut line = words.to_vec();
    let has = |id: &str| {
        tried.get_id() != id && command.get_arguments().any(|other| other.get_id() == id)
    };
    // With a capture, these paths are on the captured host.
    let is_of_host =
        ["target", "mysql_defaults", "postgres_config"].contains(&tried.get_id().as_str());
    if has("host") && !is_of_host {
        line.extend([
            "--host".to_owned(),
            recorded::recorded_host_file("docker-volume")
                .display()
                .to_string(),
        ]);
    }
    line.extend(has("no_probe").then(|| "--no-probe".to_owned()));
    line.extend(has("kernel").then(|| "--kernel=6.12".to_owned()));
    line.extend(tried.get_long().map(|long| format!("--{long}={path}")));
    for argument in command.get_positionals() {
        match argument.get_id().as_str() {
            id if tried.get_id() == id => line.push(path.clone()),
            _ if !argument.is_required_set() => {}
            "rule" => line.push("pg.fsync-off".to_owned()),
            id => line.push(spare.join(id).display().to_string()),
        }
    }
    line
}

/// The commands are derived from clap's definitions, so a new option that names a file is tested
/// too.
#[test]
fn a_silent_pipe_ends_every_command_in_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("silent-pipe");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let spare = directory.path().join("spare");
    fs::create_dir_all(spare.join("directory")).unwrap();
    let head = "walwise-drill 1 run=3ffa4d685e4b194f method=fdatasync segments=recycled when=2026-11-22T13:27:57Z directory=/srv/d";
    let log = format!(
        "{head}\nboot 54bb039a-8418-44fd-a21c-dc0b40dd8247\nstack host host.name=vm\nack 1\n"
    );
    fs::write(spare.join("acknowledged"), &log).unwrap();
    fs::create_dir(spare.join("old")).unwrap();
    fs::write(spare.join("old/rules.toml"), "").unwrap();
    let mut runs = Vec::new();
    for (words, command) in all_commands() {
        for tried in command
            .get_arguments()
            .filter(|argument| is_path_argument(argument))
        {
            let line = command_line_with_path(&words, &command, tried, &fifo, &spare);
            let opened = !NOT_OPENED.contains(&(words.join(" ").as_str(), tried.get_id().as_str()));
            runs.push((line.join(" "), opened, RunningProgram::start_walwise(line)));
        }
    }
    assert!(
        runs.len() > 40,
        "the options that name files are not found: {}",
        runs.len()
    );
    let (mut silent, mut wrong) = (0, Vec::new());
    for (line, opened, run) in runs {
        // The command ends at the helper's deadline at the latest.
        let output = run.wait_for_output();
        if !opened {
            continue;
        }
        let says = stderr(&output);
        let refused = matches!(output.status.code(), Some(1 | 2)) && stdout(&output).is_empty();
        if !refused || says.lines().count() != 1 || !says.contains("silent-pipe") {
            wrong.push(format!("{line}: {:?} {says}", output.status));
        }
        silent += usize::from(
            says.contains("no data arrived through this pipe within 10 s; save the data to a file"),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(silent > 15, "{silent}");
}

#[test]
fn pipe_that_stops_sending_ends_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("pipe");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    // Opened for reading and writing, so that neither end blocks or closes.
    let mut both = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&fifo)
        .unwrap();
    let lines = [
        &["show", "FIFO"][..],
        &["check", "--no-probe", "--host", "FIFO"],
        &["rules", "check", "FIFO"],
    ];
    let run = |line: &&[&str]| {
        RunningProgram::start_walwise(
            line.iter()
                .map(|word| word.replace("FIFO", fifo.to_str().unwrap())),
        )
    };
    let runs: Vec<RunningProgram> = lines.iter().map(run).collect();
    std::io::Write::write_all(&mut both, &[b'\n'; 4]).unwrap();
    let stdin = {
        let mut command = walwise();
        command.args(["show", "-"]).stdin(both.try_clone().unwrap());
        command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for (line, run) in lines.iter().zip(runs) {
        let says = stderr(&run.wait_for_output());
        let silent =
            says.contains("arrived through this pipe within 10 s") && says.lines().count() == 1;
        assert!(silent, "{line:?}: {says}");
    }
    // The deadline for standard input equals that for the pipes of the other commands, and has
    // passed by now.
    let says = stderr(&stdin.output_in_time());
    assert!(
        says.contains("arrived through this pipe within 10 s"),
        "{says}"
    );
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let calm = recorded::recorded_host_file("docker-volume")
        .display()
        .to_string();
    let report = directory.path().join("report.json").display().to_string();
    let rules = directory.path().join("rules.toml").display().to_string();
    let check = [
        "check", "--host", &calm, "-v", "--format", "json", "--output", &report,
    ];
    assert!(matches!(
        walwise().args(check).status_in_time().code(),
        Some(0 | 3..=5)
    ));
    fs::write(&rules, "").unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["show", "FILE"], &report),
        (&["facts", "--host", "FILE"], &calm),
        (&["check", "--verbose", "--host", "FILE"], &calm),
        (&["check", "--host", &calm, "--baseline", "FILE"], &report),
        (&["rules", "check", "FILE"], &rules),
    ];
    let pipes = [
        (
            "/dev/fd/63",
            "cat \"$FILE\" | bash -c '\"$0\" \"$@\" 63<&0' \"$0\" \"$@\"",
        ),
        ("-", "cat \"$FILE\" | \"$0\" \"$@\""),
        ("/dev/stdin", "cat \"$FILE\" | \"$0\" \"$@\""),
        ("/dev/fd/3", "cat \"$FILE\" | \"$0\" \"$@\" 3<&0"),
        ("/proc/self/fd/3", "cat \"$FILE\" | \"$0\" \"$@\" 3<&0"),
        ("-", "\"$0\" \"$@\" <\"$FILE\""),
    ];
    let mut runs = Vec::new();
    for (words, file) in cases {
        for (name, script) in [(file, "\"$0\" \"$@\"")].into_iter().chain(pipes) {
            let mut command = Command::new("sh");
            command
                .args(["-c", script])
                .arg(walwise().get_program())
                .env("FILE", file)
                .process_group(0);
            command.args(words.iter().map(|word| word.replace("FILE", name)));
            runs.push((
                words,
                name,
                name == file,
                RunningProgram::start(&mut command),
            ));
        }
    }
    let mut of_file = String::new();
    for (words, name, is_file, run) in runs {
        let output = run.wait_for_output();
        let told = format!(
            "{:?}\n{}{}",
            output.status.code(),
            stdout(&output),
            stderr(&output)
        );
        // A complaint names the file or a line in the file.
        let unnamed = |line: &str| line.replacen(&format!("{name}:"), "FILE:", 1);
        // The line that names the rule pack also contains a timestamp.
        let timeless = |line: &&str| !line.contains(" rules (pack ");
        let told: Vec<String> = told.lines().filter(timeless).map(unnamed).collect();
        // Printed commands contain the path of the capture, and the length of the path changes
        // where lines wrap.
        let told: Vec<&str> = told
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        let told = told
            .join(" ")
            .replace(&format!("--host {name}"), "--host FILE");
        if is_file {
            of_file = told;
        } else {
            assert_eq!(told, of_file, "{words:?} {name}");
        }
    }
}
