//! `cargo xtask compare`: whether two binaries answer alike about every recorded host.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use walwise::inside::report::Format;

/// The commands besides those of each format, each followed by `--host FILE`.
const COMMANDS: [&[&str]; 3] =
    [&["facts", "--format", "json"], &["check", "--no-probe", "--verbose"], &["upgrade", "--kernel", "6.12"]];

/// Compares output, errors and exit codes; an error names what differs.
pub fn run(checkout: &Path, old: &Path, new: &Path) -> io::Result<String> {
    let hosts = fs::read_dir(checkout.join("tests/hosts"))?;
    let mut hosts: Vec<PathBuf> = hosts.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    hosts.retain(|path| path.extension().is_some_and(|extension| extension == "host"));
    hosts.sort();
    let formats = Format::ALL.map(|format| vec!["check", "--no-probe", "--format", format.name()]);
    let commands: Vec<Vec<&str>> = formats.into_iter().chain(COMMANDS.map(<[&str]>::to_vec)).collect();
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<Vec<String>> {
        let mut differing = Vec::new();
        while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
            for words in &commands {
                let [one, other] = [old, new].map(|binary| answer(binary, words, host));
                let (one, other) = (one?, other?);
                if without_moment(&one.stdout) != without_moment(&other.stdout)
                    || one.stderr != other.stderr
                    || one.status != other.status
                {
                    differing.push(format!("{} --host {}", words.join(" "), host.display()));
                }
            }
        }
        Ok(differing)
    };
    let found = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| io::Error::other("a thread panicked"))?);
        joined.collect::<io::Result<Vec<_>>>()
    })?;
    let mut differing = found.concat();
    differing.sort();
    let all = hosts.len() * commands.len();
    if differing.is_empty() {
        return Ok(format!("{all} answers of {} hosts are alike\n", hosts.len()));
    }
    let count = differing.len();
    Err(io::Error::other(format!("{count} of {all} answers differ:\n{}", differing.join("\n"))))
}

fn answer(binary: &Path, words: &[&str], host: &Path) -> io::Result<Output> {
    Command::new(binary).args(words).arg("--host").arg(host).stdin(Stdio::null()).output()
}

/// The output without the moment of the run (RFC 3339 in UTC, as every document states it).
fn without_moment(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let is_moment = |word: &str| {
        word.len() == 20 && word.ends_with('Z') && word.get(10..11) == Some("T") && word.starts_with("20")
    };
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':');
    words.filter(|word| !is_moment(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()))).collect()
}
