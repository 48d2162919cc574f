//! A flush path in a line: `commit → PostgreSQL → ext4 ✗ DROPPED   sda ! LOST HERE`.
//!
//! The path is made in [`crate::durability`]; this module knows its marks and leaves drawing in rows to the screens.

use crate::durability::{Fate, FlushHop, HopKind};

/// The mark of a fate, beside its word.
pub fn mark(fate: Fate) -> char {
    match fate {
        Fate::Passed | Fate::FlushSent => '●',
        Fate::Answered => '◆',
        Fate::NoCache => '○',
        Fate::NotJudged => '·',
        Fate::Unknown | Fate::Unseen => '?',
        Fate::Disagrees => '≠',
        Fate::Dropped => '✗',
        Fate::LostHere => '!',
    }
}

/// The word of a fate, a dash where none is judged.
pub fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::NotJudged => "–",
        Fate::Passed
        | Fate::FlushSent
        | Fate::Answered
        | Fate::NoCache
        | Fate::Unknown
        | Fate::Unseen
        | Fate::Disagrees
        | Fate::Dropped
        | Fate::LostHere => fate.word(),
    }
}

/// A blank at which no line is broken: a hop stays in one piece.
pub const UNBROKEN: char = '\u{a0}';

/// The path in a line: hops of one rank beside each other, a mark and a word where it is not simply passed on, and no arrow
/// where no flush arrives.
pub fn line(path: &[FlushHop]) -> String {
    let mut out = String::new();
    let mut before: Option<u32> = None;
    for hop in path.iter().filter(|hop| is_told(hop)) {
        let glue = match before {
            None => "",
            Some(rank) if rank == hop.rank => " | ",
            Some(_) if hop.arrival.is_suppressed() => "\u{a0}\u{a0} ",
            Some(_) => " → ",
        };
        before = Some(hop.rank);
        out.push_str(glue);
        out.push_str(&name(hop).replace(' ', &UNBROKEN.to_string()));
    }
    out
}

/// Disks behind a controller are told where they matter.
fn is_told(hop: &FlushHop) -> bool {
    match hop.kind {
        HopKind::Members => !hop.fate.is_sound(),
        HopKind::Commit
        | HopKind::Server
        | HopKind::FileSystem
        | HopKind::Layer
        | HopKind::Disk
        | HopKind::Beyond => true,
    }
}

fn name(hop: &FlushHop) -> String {
    let name = match hop.kind {
        HopKind::Server if hop.subjects.is_empty() => format!("({})", hop.name),
        HopKind::Commit
        | HopKind::Server
        | HopKind::FileSystem
        | HopKind::Layer
        | HopKind::Disk
        | HopKind::Members
        | HopKind::Beyond => hop.name.clone(),
    };
    if hop.fate.is_sound() { name } else { format!("{name} {} {}", mark(hop.fate), hop.fate) }
}
