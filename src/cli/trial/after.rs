//! After a trial: the disk that it wrote to is cleared, by the process that wrote, or by another where that was killed.

use std::time::Duration;

use anyhow::anyhow;

use super::before::disk::line_that_clears;
use crate::cells::{Arena, EraseOrder, News, SpareDisk};
use crate::cli::{CliError, out};
use crate::text;

/// How long the process that clears may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

/// Ends a trial, and makes sure that its disk is cleared; the error is a sentence.
pub(super) fn close(
    arena: Arena,
    disk: Option<&EraseOrder>,
    show: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let cleared = arena.close(&mut |news| tell(&news, show));
    let Some(disk) = disk.filter(|_| !cleared) else { return Ok(()) };
    let left = SpareDisk::look(&disk.node).map(|found| found.left.is_some());
    match left {
        // It was not taken.
        Ok(false) => return Ok(()),
        Ok(true) => {}
        Err(why) => return Err(format!("what was written to {} could not be cleared: {why}", disk.node)),
    }
    clear(disk, show).map_err(|why| {
        format!(
            "{} still holds what was written there: {why}; this clears it: {}",
            disk.node,
            line_that_clears(disk)
        )
    })
}

/// Clears what an earlier trial left.
pub(super) fn clear_left(disk: &EraseOrder) -> Result<(), CliError> {
    let shows = out::stderr_is_terminal();
    let done = clear(disk, &mut |line| {
        if shows {
            out::progress(line);
        }
    });
    if shows {
        out::progress("");
    }
    done.map_err(|why| anyhow!("{why}"))?;
    out::notice(&format!("{} is cleared: what the trial wrote there is zeros again", disk.node));
    Ok(())
}

/// Has another process clear it; the error is a sentence.
fn clear(disk: &EraseOrder, show: &mut dyn FnMut(&str)) -> Result<(), String> {
    let mut arena = Arena::clear(disk).map_err(|e| format!("cannot start the process that clears: {e}"))?;
    loop {
        match arena.recv(PATIENCE)? {
            Some(News::Cleared) => return Ok(()),
            Some(News::Failed(why)) => return Err(text::safe(why.as_bytes())),
            Some(news) => tell(&news, show),
            None => return Err("it does not answer".to_owned()),
        }
    }
}

fn tell(news: &News, show: &mut dyn FnMut(&str)) {
    match news {
        News::Clearing(bytes) => show(&format!("clearing the disk: {}", text::bytes(*bytes))),
        News::Prepared(_)
        | News::Ready(_)
        | News::Cell { .. }
        | News::Block(_)
        | News::Failed(_)
        | News::Cleared => {}
    }
}
