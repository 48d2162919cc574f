//! `cargo xtask`: commands for maintainers.

mod assets;
mod compare;
mod diff;
mod man;
mod pack;
mod pictures;
mod size;
mod stale;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use walwise_judge::rules::reference;

const USAGE: &str = "\
usage: cargo xtask size [--update]      tokens and lines of each module; fails above a ceiling
       cargo xtask assets               write the files in assets
       cargo xtask man DIR              write the manual pages
       cargo xtask pictures DIR         write a picture of every screen
       cargo xtask reference            print the reference of the rules
       cargo xtask compare OLD NEW      compare the answers of two binaries for every recorded host
       cargo xtask diff OLD [NEW]       compare two packs of rules and tables
       cargo xtask stale [AGE]          list entries not checked for a year, or never
";

/// The token ceilings of `size`, next to this package.
const CEILINGS: &str = "xtask/ceilings.txt";

/// A file name and its content.
type OutputFile = (String, String);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["size"] => check_sizes(false),
        ["size", "--update"] => check_sizes(true),
        ["assets"] => assets::files(checkout()).and_then(|files| write(checkout(), &files)),
        ["man", directory] => man::pages().and_then(|pages| write(Path::new(directory), &pages)),
        ["pictures", directory] => {
            let drawn = pictures::recorded_session(checkout())
                .map(|(session, measured)| pictures::pictures(session, measured, (100, 32)));
            drawn.and_then(|pictures| write(Path::new(directory), &pictures))
        }
        ["reference"] => Ok(reference::render()),
        ["compare", old, new] => compare::run(checkout(), Path::new(old), Path::new(new)),
        ["diff", old] => diff::run(Path::new(old), None),
        ["diff", old, new] => diff::run(Path::new(old), Some(Path::new(new))),
        ["stale"] => stale::run("1y"),
        ["stale", age] => stale::run(age),
        _ => Err(io::Error::other(USAGE)),
    };
    match done {
        Ok(text) => print(&text),
        Err(error) => {
            let _ = io::Write::write_all(&mut io::stderr(), format!("xtask: {error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

/// Writes files below a directory.
fn write(directory: &Path, documents: &[OutputFile]) -> io::Result<String> {
    for (name, text) in documents {
        let file = directory.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)?;
    }
    Ok(String::new())
}

fn print(text: &str) -> ExitCode {
    let printed = io::Write::write_all(&mut io::stdout(), text.as_bytes());
    if printed.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// The size of each module; an error if one is above its ceiling. `update` sets the ceilings to the
/// current sizes.
fn check_sizes(update: bool) -> io::Result<String> {
    let modules = size::modules(checkout())?;
    let ceilings = checkout().join(CEILINGS);
    if update {
        fs::write(&ceilings, size::ceiling_table(&modules))?;
    }
    let above = size::exceeded(&modules, &fs::read_to_string(ceilings)?);
    if above.is_empty() {
        return Ok(size::report(&modules));
    }
    Err(io::Error::other(format!(
        "{}\n{}",
        size::report(&modules),
        above.join("\n")
    )))
}
