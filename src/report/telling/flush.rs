//! A flush path in a line: `commit → PostgreSQL → ext4 ✗ DROPPED   sda ! LOST HERE`.
//!
//! The path is made in [`crate::durability`]; this module knows its marks and leaves drawing in rows to the screens.

use super::Tone;
use crate::durability::{Fate, FlushHop, HopKind};

/// The mark of a hop, the word beside it, and what both are coloured by. The commit is where the path begins.
pub fn sign(hop: &FlushHop) -> (&'static str, &'static str, Tone) {
    let word = hop.fate.word();
    match hop.fate {
        Fate::NotJudged if matches!(hop.kind, HopKind::Commit) => ("●", "", Tone::Good),
        Fate::NotJudged => ("·", "–", Tone::Dim),
        Fate::Passed | Fate::FlushSent => ("●", word, Tone::Good),
        Fate::Answered => ("◆", word, Tone::Good),
        Fate::NoCache => ("○", word, Tone::Good),
        Fate::Unknown | Fate::Unseen => ("?", word, Tone::Doubt),
        Fate::Disagrees => ("≠", word, Tone::Bad),
        Fate::Dropped => ("✗", word, Tone::Bad),
        Fate::LostHere => ("!", word, Tone::Bad),
    }
}

/// Whether nothing needs to be said of it beside its word.
pub fn is_well(hop: &FlushHop) -> bool {
    match sign(hop).2 {
        Tone::Good | Tone::Dim => true,
        Tone::Doubt | Tone::Bad => false,
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
    !matches!(hop.kind, HopKind::Members) || !hop.fate.is_sound()
}

fn name(hop: &FlushHop) -> String {
    let is_to_come = matches!(hop.kind, HopKind::Server) && hop.subjects.is_empty();
    let name = if is_to_come { format!("({})", hop.name) } else { hop.name.clone() };
    if hop.fate.is_sound() { name } else { format!("{name} {} {}", sign(hop).0, hop.fate) }
}
