//! Assumptions that are refused, because other facts are read from the same thing and would stay unchanged.
//!
//! The declaration of a fact names the others that are read from the same thing. An unknown fact can always be stated,
//! because nothing was read from its source; an assumption that equals the real value needs nothing else.

use super::assumption::Assumption;
use super::{carry, sense};
use crate::collect;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, KeyInfo, Subject, Supposing, catalog};

/// Why some of these cannot be assumed together.
pub fn objections(all: &[Assumption], read: &FactSet) -> Vec<String> {
    let of_one = |one: &Assumption| {
        let is_as_now = read.reading(&one.subject, one.key.id).value() == Some(&one.value);
        let nonsense = || sense::nonsense(one, all, read);
        objection(one, all, read).or_else(|| if is_as_now { None } else { nonsense() })
    };
    let mut found: Vec<String> = all.iter().filter_map(of_one).collect();
    found.extend(sense::contradictions(all, read));
    found
}

fn objection(one: &Assumption, all: &[Assumption], read: &FactSet) -> Option<String> {
    let Assumption { subject, key, value } = one;
    let now = read.reading(subject, key.id).value()?;
    if now == value {
        return None;
    }
    if inherits(subject, key, read) {
        return Some(format!("{} of {subject} is that of its disk; assume it of the disk", key.name));
    }
    match key.supposing {
        Supposing::Alone | Supposing::Judged => None,
        Supposing::Carries(cause) => {
            carry::follows(cause, one, all, read).err().map(|why| format!("{} of {subject}: {why}", key.name))
        }
        Supposing::With(others) => {
            let missing = |name: &&&str| {
                let Some(other) = catalog::find(name) else { return false };
                let about = read.resolve(subject, other.scope);
                let is_it = |one: &Assumption| one.key.name == **name && Some(&one.subject) == about.as_ref();
                read.lookup(subject, other).is_known() && !all.iter().any(is_it)
            };
            let missing: Vec<&str> = others.iter().filter(missing).copied().collect();
            let also = list(&missing)?;
            Some(format!(
                "{} of {subject} is read from the same thing as {also}, which would not stay: assume {} too",
                key.name,
                if missing.len() > 1 { "them" } else { "it" }
            ))
        }
        Supposing::Instead(leads) => {
            let of = |lead: &&str| catalog::find(lead);
            let speaks =
                |lead: &KeyInfo| lead.scope != subject.scope() || read.reading(subject, lead.id).is_known();
            if !leads.iter().filter_map(of).any(speaks) {
                return None;
            }
            let leads = leads.join(" or ");
            Some(format!("{} of {subject} only shows what others say: assume {leads} instead", key.name))
        }
        Supposing::Never => Some(format!(
            "{} of {subject} cannot be assumed: what is read beside it would be other too, and how is not modelled",
            key.name
        )),
    }
}

/// Whether a partition inherits this fact from its disk.
fn inherits(subject: &Subject, key: &KeyInfo, read: &FactSet) -> bool {
    let is_part = read.value(subject, &device::KIND).is_some_and(DeviceKind::is_partition);
    is_part && collect::is_of_whole_disk(key)
}

/// `a`, `a and b`, `a, b and c`; `None` for an empty list.
fn list(names: &[&str]) -> Option<String> {
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) })
}
