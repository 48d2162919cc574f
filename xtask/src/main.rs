mod assets;
mod compare;
mod diff;
mod man;
mod pictures;
mod rule_pack;
mod size;
mod stale;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

const USAGE: &str = "\
usage: cargo xtask size [--update]      tokens and lines of each module; fails above a ceiling
       cargo xtask assets               write the files in assets
       cargo xtask man DIR              write the manual pages
       cargo xtask pictures DIR         write a picture of every screen
       cargo xtask compare OLD NEW      compare the answers of two binaries for every recorded host
       cargo xtask diff OLD [NEW]       compare two packs of rules and tables
       cargo xtask stale [AGE]          list entries not checked within AGE (default: 1y)
";

/// Upper limits on the number of tokens per module; `cargo xtask size` checks them.
const CEILINGS_FILE: &str = "xtask/ceilings.txt";

type OutputFile = (String, String);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["size"] => check_module_sizes(false),
        ["size", "--update"] => check_module_sizes(true),
        ["assets"] => assets::asset_files(checkout_directory())
            .and_then(|files| write_files(checkout_directory(), &files)),
        ["man", directory] => {
            man::man_pages().and_then(|pages| write_files(Path::new(directory), &pages))
        }
        ["pictures", directory] => pictures::load_recorded_session_and_measurement(
            checkout_directory(),
        )
        .and_then(|(session, measured)| {
            let drawn = pictures::render_screen_pictures(&session, &measured, (100, 32));
            write_files(Path::new(directory), &drawn)
        }),
        ["compare", old, new] => {
            compare::compare_binaries(checkout_directory(), Path::new(old), Path::new(new))
        }
        ["diff", old, new @ ..] if new.len() < 2 => {
            diff::compare_packs(Path::new(old), new.first().map(Path::new))
        }
        ["stale"] => stale::list_due_entries("1y"),
        ["stale", age] => stale::list_due_entries(age),
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

fn write_files(directory: &Path, documents: &[OutputFile]) -> io::Result<String> {
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

fn checkout_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// Compares the modules' sizes with the ceilings; `update` first sets the ceilings to the current
/// sizes.
fn check_module_sizes(update: bool) -> io::Result<String> {
    let modules = size::module_sizes(checkout_directory())?;
    let ceilings = checkout_directory().join(CEILINGS_FILE);
    if update {
        fs::write(&ceilings, size::ceiling_table(&modules))?;
    }
    let above = size::exceeded_ceiling_messages(&modules, &fs::read_to_string(ceilings)?);
    if above.is_empty() {
        return Ok(size::size_table(&modules));
    }
    Err(io::Error::other(format!(
        "{}\n{}",
        size::size_table(&modules),
        above.join("\n")
    )))
}
