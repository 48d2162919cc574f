//! Suggestions for a target that does not exist: a neighbour in its nearest existing directory, a device, a mount
//! point, or a server's directory.
//!
//! Each name is compared within its own directory, because a slip is one in a word and not in a path.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::facts::catalog::{device, mount};
use crate::facts::{Area, Choice, FactSet, Key};
use crate::host::{Host, MissKind, path_bytes, path_of};
use crate::text::suggest::distance;
use crate::text::{raw, safe};

/// The number of directories followed at each level: the nearest ones.
const WIDEST: usize = 3;

/// The nearest path that exists and that this may have been meant for.
pub fn meant(host: &dyn Host, path: &Path, facts: &FactSet) -> Option<PathBuf> {
    let written = safe(path_bytes(path));
    let mut near: BTreeSet<(usize, String)> = BTreeSet::new();
    // A bare name of a device: `check sda` from whatever directory.
    let name = path.file_name().map(|name| safe(name.as_bytes())).unwrap_or_default();
    let known = known(facts);
    near.extend(
        known
            .iter()
            .filter(|known| known.strip_prefix("/dev/") == Some(&name))
            .map(|known| (0, known.clone())),
    );
    near.extend(known.iter().filter_map(|known| is_near(&written, known).map(|far| (far, known.clone()))));
    let beneath = walk(host, path).into_iter().map(|(far, path)| (far, safe(path_bytes(&path))));
    near.extend(beneath);
    // A mount point below a later mount stands in the kernel's table and cannot be reached.
    let is_gone = |near: &PathBuf| host.stat(near).is_err_and(|miss| miss.kind == MissKind::Absent);
    near.into_iter().map(|(_, near)| path_of(raw(&near))).find(|near| !is_gone(near))
}

/// Devices, mount points and directories of servers.
fn known(facts: &FactSet) -> BTreeSet<String> {
    let all = |key: &'static Key<String>| facts.known(key).into_iter().map(|(_, path)| path);
    let mappings = all(&device::DM_NAME).map(|name| format!("/dev/mapper/{name}"));
    let data = Area::ALL.iter().map(|area| area.database().data);
    [&device::PATH, &mount::POINT].into_iter().chain(data).flat_map(all).chain(mappings).collect()
}

/// The distance of two words that are near enough to be confused: one slip in three letters, at most 4; `None` for
/// others.
fn is_near(one: &str, other: &str) -> Option<usize> {
    let far = distance(one, other);
    let letters = one.chars().count().max(other.chars().count());
    (far <= (letters / 3).clamp(1, 4)).then_some(far)
}

/// Existing paths whose names differ only by slips, each with their sum.
fn walk(host: &dyn Host, path: &Path) -> Vec<(usize, PathBuf)> {
    let mut open = vec![(0, PathBuf::from("/"))];
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        let word = safe(name.as_bytes());
        let mut next: Vec<(usize, PathBuf)> = Vec::new();
        for (far, place) in &open {
            let exact = place.join(name);
            if host.stat(&exact).is_ok() {
                next.push((*far, exact));
                continue;
            }
            let names = host.list(place).unwrap_or_default();
            let near =
                names.iter().filter_map(|other| Some((is_near(&word, &safe(other.as_bytes()))?, other)));
            next.extend(near.map(|(slips, other)| (far + slips, place.join(other))));
        }
        next.sort();
        next.truncate(WIDEST);
        open = next;
    }
    open
}
