//! The subprocess that writes a document: it finds the place, reports it, receives the document, and renames it when
//! told to.
//!
//! If its parent exits or gives up, the channel closes and its draft is removed. It reports a notice about the place,
//! that the draft is written, and the name of the document; each may be a refusal instead. It receives the path and the
//! options, the parts of the document with an empty one at the end, and the order to rename it.

use std::io;
use std::path::PathBuf;

use super::draft::{NamedDocument, OutputLocation, Refused, WriteOptions};
use crate::subprocess::{Bytes, Channel};
use crate::way::Walker;

/// Acts as the subprocess.
pub fn serve(mut channel: Channel) -> io::Result<()> {
    match write(&mut channel) {
        Ok(named) => channel.send(&Ok::<_, Refused>(named)),
        Err(WriteFailure::Refused(refused)) => channel.send(&Err::<(), _>(refused)),
        Err(WriteFailure::Alone) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

enum WriteFailure {
    Refused(Refused),
    /// The parent is gone, or gave up.
    Alone,
}

impl<T: Into<Refused>> From<T> for WriteFailure {
    fn from(refused: T) -> Self {
        Self::Refused(refused.into())
    }
}

fn write(channel: &mut Channel) -> Result<NamedDocument, WriteFailure> {
    let (path, options): (Bytes, WriteOptions) = channel.recv(None).map_err(|_| WriteFailure::Alone)?;
    let location = OutputLocation::find(Walker::ourselves(), &PathBuf::from(path), options)?;
    channel.send(&Ok::<_, Refused>(&location.notice)).map_err(|_| WriteFailure::Alone)?;
    let mut document = Vec::new();
    loop {
        let Bytes(part) = channel.recv(None).map_err(|_| WriteFailure::Alone)?;
        if part.is_empty() {
            break;
        }
        document.extend(part);
    }
    let draft = location.write(&document)?;
    channel.send(&Ok::<_, Refused>(())).map_err(|_| WriteFailure::Alone)?;
    channel.recv::<()>(None).map_err(|_| WriteFailure::Alone)?;
    Ok(draft.name_it()?)
}
