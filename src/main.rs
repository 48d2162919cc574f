//! The binary: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = walwise::host::child::serve(std::env::args_os()) {
        return code;
    }
    if let Some(code) = walwise::probes::watcher::serve(std::env::args_os()) {
        return code;
    }
    ExitCode::SUCCESS
}
