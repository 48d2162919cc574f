//! `cargo xtask compare`: checks that two binaries give equal answers for every recorded host.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io};

use walwise_model::facts::Choice as _;
use walwise_model::parallel;
use walwise_report::Format;

const COMPARED_COMMANDS: [&[&str]; 3] = [
    &["facts", "--format", "json"],
    &["check", "--no-probe", "--verbose"],
    &["upgrade", "--kernel", "6.12"],
];

/// Compares standard output, standard error and exit codes; the error lists the commands whose
/// answers differ.
pub fn compare_binaries(checkout: &Path, old: &Path, new: &Path) -> io::Result<String> {
    let hosts = fs::read_dir(checkout.join("tests/hosts"))?;
    let mut hosts: Vec<PathBuf> = hosts
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    hosts.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "host")
    });
    hosts.sort();
    let formats = Format::WORDS
        .iter()
        .map(|word| vec!["check", "--no-probe", "--format", word]);
    let commands: Vec<Vec<&str>> = formats
        .chain(COMPARED_COMMANDS.map(<[&str]>::to_vec))
        .collect();
    let questions = hosts
        .iter()
        .flat_map(|host| commands.iter().map(move |words| (host, words)));
    let questions: Vec<(&PathBuf, &Vec<&str>)> = questions.collect();
    let found = parallel::map_chunks(&questions, |questions| -> io::Result<Vec<String>> {
        let mut differing = Vec::new();
        for (host, words) in questions {
            // One metric is the run time in seconds, which may differ by chance, so a differing
            // answer is requested again.
            if !(outputs_match(old, new, words, host)? || outputs_match(old, new, words, host)?) {
                differing.push(format!("{} --host {}", words.join(" "), host.display()));
            }
        }
        Ok(differing)
    });
    let differing = found.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    let all = questions.len();
    if differing.is_empty() {
        return Ok(format!(
            "{all} answers for {} hosts are equal\n",
            hosts.len()
        ));
    }
    let count = differing.len();
    Err(io::Error::other(format!(
        "{count} of {all} answers differ:\n{}",
        differing.join("\n")
    )))
}

fn outputs_match(old: &Path, new: &Path, words: &[&str], host: &Path) -> io::Result<bool> {
    let (one, other) = (
        run_for_recorded_host(old, words, host)?,
        run_for_recorded_host(new, words, host)?,
    );
    let is_printed = strip_times_and_hashes(&one.stdout) == strip_times_and_hashes(&other.stdout);
    Ok(is_printed && one.stderr == other.stderr && one.status == other.status)
}

fn run_for_recorded_host(binary: &Path, words: &[&str], host: &Path) -> io::Result<Output> {
    Command::new(binary)
        .args(words)
        .arg("--host")
        .arg(host)
        .stdin(Stdio::null())
        .output()
}

/// Removes the time (RFC 3339 in UTC) and the fingerprint of the pack, which may differ although
/// the answers are equal.
fn strip_times_and_hashes(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let is_of_run = |word: &str| {
        let is_moment = word.len() == 20 && word.ends_with('Z') && word.get(10..11) == Some("T");
        let is_hash = [12, 64].contains(&word.len()) && word.chars().all(|c| c.is_ascii_hexdigit());
        is_moment || is_hash
    };
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':');
    words
        .filter(|word| !is_of_run(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())))
        .collect()
}
