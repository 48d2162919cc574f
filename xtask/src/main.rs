//! `cargo xtask`: what maintainers run.

mod size;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

const USAGE: &str = "usage: cargo xtask size [--update]";

/// The ceilings, beside this package.
const CEILINGS: &str = "xtask/ceilings.txt";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["size"] => sizes(false),
        ["size", "--update"] => sizes(true),
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

fn print(text: &str) -> ExitCode {
    let printed = io::Write::write_all(&mut io::stdout(), text.as_bytes());
    if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The size of each module, an error where one is above its ceiling; an update makes the present sizes the ceilings.
fn sizes(update: bool) -> io::Result<String> {
    let modules = size::modules(checkout())?;
    let ceilings = checkout().join(CEILINGS);
    if update {
        fs::write(&ceilings, size::table(&modules))?;
    }
    let above = size::above(&modules, &fs::read_to_string(ceilings)?);
    if above.is_empty() {
        return Ok(size::page(&modules));
    }
    Err(io::Error::other(format!("{}\n{}", size::page(&modules), above.join("\n"))))
}
