//! `walwise capture`: this host as one text file, for others to examine.

use super::args::{Capture, From};
use super::host;
use super::out::{Delivery, ExitResult};
use crate::collect;
use crate::host::{LiveHost, RecordingHost};
use crate::pipeline;
use crate::rules::RuleSet;

/// Reads everything that a check would read and writes the questions with their answers.
pub(super) fn run(args: &Capture) -> ExitResult {
    let delivery = Delivery::find(&args.output, false)?;
    let live = LiveHost::to_look();
    let recording = RecordingHost::new(&live);
    let from = From { new: true, servers: args.servers.clone(), ..From::default() };
    let session = host::look_at(&recording, &from, args.target.as_deref(), RuleSet::default())?;
    collect::ask_of_all(&recording, &session.read);
    let comment =
        format!("walwise {}, {}; read it before you share it", env!("CARGO_PKG_VERSION"), pipeline::now());
    delivery.deliver(&recording.archive(&comment, !args.no_mask))
}
