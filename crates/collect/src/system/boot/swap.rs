//! The swap of the next boot, and whether it is active now.
//!
//! Lines of fstab and the names of swap units come from the files beside this one. Only active swap
//! is known to be swap, because the contents of devices and files are not read. The device of a
//! unit is not read either. A zram device is created at each boot by a service that is not
//! examined.

use super::device;
use super::entry::FSTAB;
use crate::facts::catalog::boot::{self, NamedDevice};
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Host, MissKind, path_bytes, path_of};
use crate::lookup::device_at;
use crate::storage::swap::active;
use crate::text;

/// Something that the next boot swaps to.
pub enum Swap {
    Unit(String),
    /// A line of fstab: a device or a file, its options, and whether these are all.
    Line {
        named: String,
        options: Vec<String>,
        whole: Option<bool>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SwapState {
    /// Active now, with known options only.
    Active,
    Missing,
    /// It exists, and cannot be swap.
    Unfit,
    /// Whether it is swap is not known.
    Unseen,
}

/// Records the swaps by state.
pub fn put(
    host: &dyn Host,
    swaps: &[Swap],
    facts: &mut FactSet,
    listed: &mut device::LinkDirectories,
) {
    let written = Source::file(FSTAB);
    let active = active(host, facts);
    let [mut all, mut missing, mut unfit, mut unseen] = [const { Vec::new() }; 4];
    for swap in swaps {
        let (name, found) = match swap {
            Swap::Unit(name) => (name, SwapState::Unseen),
            Swap::Line {
                named,
                options,
                whole,
            } => {
                let is_known =
                    *whole == Some(true) && options.iter().all(|option| is_known(option));
                (named, line(host, facts, named, is_known, &active, listed))
            }
        };
        match found {
            SwapState::Active => {}
            SwapState::Missing => missing.push(name.clone()),
            SwapState::Unfit => unfit.push(name.clone()),
            SwapState::Unseen => unseen.push(name.clone()),
        }
        all.push(name.clone());
    }
    let machine = Subject::host();
    for (key, names) in [
        (&boot::SWAPS, all),
        (&boot::SWAPS_MISSING, missing),
        (&boot::SWAPS_UNFIT, unfit),
        (&boot::SWAPS_UNSEEN, unseen),
    ] {
        facts.know(&machine, key, names, written.clone());
    }
}

/// Whether the effect of an option is known (fstab(5), swapon(8), systemd.swap(5)).
fn is_known(option: &str) -> bool {
    match option.split_once('=') {
        _ if option.starts_with("x-systemd.") => true,
        None => ["defaults", "sw", "discard", "nofail", "noauto"].contains(&option),
        Some(("discard", policy)) => ["once", "pages"].contains(&policy),
        Some(("pri", number)) => {
            let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
            is_number && number.parse().is_ok_and(|number: u16| number <= 32767)
        }
        Some(_) => false,
    }
}

fn line(
    host: &dyn Host,
    facts: &FactSet,
    named: &str,
    is_known: bool,
    active: &[Vec<u8>],
    listed: &mut device::LinkDirectories,
) -> SwapState {
    if named.starts_with("/dev/zram") {
        return SwapState::Unseen;
    }
    let on = device::found(host, facts, named);
    if is_active(host, facts, named, on.as_ref(), active) {
        return if is_known {
            SwapState::Active
        } else {
            SwapState::Unseen
        };
    }
    if on.is_some_and(|device| device::mounted(facts, &device).next().is_some()) {
        return SwapState::Unfit;
    }
    if named.starts_with('/') && !named.starts_with("/dev/") {
        return match host.stat(&path_of(text::raw(named))) {
            Ok(stat) if stat.is_file() || stat.is_block() => SwapState::Unseen,
            Ok(_) => SwapState::Unfit,
            Err(miss) if miss.kind == MissKind::Absent => SwapState::Missing,
            Err(_) => SwapState::Unseen,
        };
    }
    match device::of(host, facts, named, &Source::file(FSTAB), listed) {
        Reading::Known {
            value: NamedDevice::Missing,
            ..
        } => SwapState::Missing,
        Reading::Known {
            value: NamedDevice::Other,
            ..
        } => SwapState::Unfit,
        Reading::Known {
            value: NamedDevice::There | NamedDevice::None,
            ..
        }
        | Reading::Unknown { .. } => SwapState::Unseen,
    }
}

/// Whether it is swapped to now, by its path, by the path behind its links, or as the same device.
fn is_active(
    host: &dyn Host,
    facts: &FactSet,
    named: &str,
    on: Option<&Subject>,
    active: &[Vec<u8>],
) -> bool {
    let path = text::raw(named);
    let real = || {
        host.real_path(&path_of(path.clone()))
            .ok()
            .filter(|_| path.starts_with(b"/"))
    };
    active.contains(&path)
        || on.is_some_and(|on| {
            active
                .iter()
                .any(|other| device_at(host, other, facts).as_ref() == Some(on))
        })
        || real().is_some_and(|real| active.iter().any(|other| other == path_bytes(&real)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Key;
    use crate::facts::catalog::{device as block, host as machine};
    use crate::host::Question;
    use crate::testing::Fake;

    fn machine_with(active: &str) -> (Fake, FactSet) {
        let host = Fake::default()
            .file(
                "/proc/swaps",
                format!("Filename Type Size Used Priority\n{active}\n"),
            )
            .node("/var/there.swap", 0o100_600)
            .node("/etc/passwd", 0o100_644)
            .node("/srv", 0o040_755)
            .node("/dev/null", 0o020_666)
            .answer(Question::RealPath("/dev/disk/by-uuid/7".into()), "/dev/vdb")
            .answer(Question::List("/dev/disk/by-uuid".into()), b"7\0");
        let (mut facts, from) = (FactSet::default(), || Source::file("a test"));
        facts.know(
            &Subject::host(),
            &machine::CONTAINER,
            "none".to_owned(),
            from(),
        );
        for name in ["vda", "vdb"] {
            facts.know(
                &Subject::device(name),
                &block::KIND,
                block::DeviceKind::Disk,
                from(),
            );
        }
        facts.mention(&Subject::mount("/"));
        facts.stand(&Subject::mount("/"), &Subject::device("vda"));
        (host, facts)
    }

    fn found(active: &str, named: &str, options: &str) -> SwapState {
        let (host, mut facts) = machine_with(active);
        let options = options.split(',').map(str::to_owned).collect();
        let swap = Swap::Line {
            named: named.to_owned(),
            options,
            whole: Some(true),
        };
        put(
            &host,
            &[swap],
            &mut facts,
            &mut device::LinkDirectories::default(),
        );
        let has = |key: &Key<Vec<String>>| !facts.value(&Subject::host(), key).unwrap().is_empty();
        match (
            has(&boot::SWAPS_MISSING),
            has(&boot::SWAPS_UNFIT),
            has(&boot::SWAPS_UNSEEN),
        ) {
            (false, false, false) => SwapState::Active,
            (true, false, false) => SwapState::Missing,
            (false, true, false) => SwapState::Unfit,
            _ => SwapState::Unseen,
        }
    }

    #[test]
    fn only_what_is_active_is_known_to_be_swap() {
        for (active, named, expected) in [
            (
                "/var/there.swap file 1 0 -2",
                "/var/there.swap",
                SwapState::Active,
            ),
            ("", "/var/there.swap", SwapState::Unseen),
            (
                "/var/there.swap\\040(deleted) file 1 0 -2",
                "/var/there.swap",
                SwapState::Unseen,
            ),
            ("", "/etc/passwd", SwapState::Unseen),
            ("", "/var/gone.swap", SwapState::Missing),
            ("", "/srv", SwapState::Unfit),
            ("", "/dev/null", SwapState::Unfit),
            ("", "/dev/gone", SwapState::Missing),
            ("", "/dev/vda", SwapState::Unfit),
            ("", "/dev/vdb", SwapState::Unseen),
            ("/dev/vdb partition 1 0 -2", "/dev/vdb", SwapState::Active),
            ("/dev/vdb partition 1 0 -2", "UUID=7", SwapState::Active),
            ("", "UUID=7", SwapState::Unseen),
            ("/dev/vdb partition 1 0 -2", "UUID=8", SwapState::Missing),
            (
                "/dev/zram0 partition 1 0 -2",
                "/dev/zram0",
                SwapState::Unseen,
            ),
        ] {
            assert_eq!(
                found(active, named, "sw"),
                expected,
                "{named}, while active is {active}"
            );
        }
    }

    #[test]
    fn options_that_are_not_known_leave_it_open() {
        for options in [
            "defaults",
            "sw,pri=32767",
            "pri=0,discard",
            "discard=once",
            "discard=pages,nofail,x-systemd.makefs",
        ] {
            assert_eq!(
                found("/dev/vdb partition 1 0 -2", "/dev/vdb", options),
                SwapState::Active,
                "{options}"
            );
        }
        for options in [
            "bogus",
            "sw,pri=32768",
            "pri=+1",
            "pri=",
            "pri",
            "discard=often",
            "noatime",
        ] {
            assert_eq!(
                found("/dev/vdb partition 1 0 -2", "/dev/vdb", options),
                SwapState::Unseen,
                "{options}"
            );
        }
    }

    #[test]
    fn a_line_that_is_not_whole_and_a_unit_are_not_known() {
        let (host, mut facts) = machine_with("/dev/vdb partition 1 0 -2");
        let line = |whole| Swap::Line {
            named: "/dev/vdb".to_owned(),
            options: Vec::new(),
            whole,
        };
        let swaps = [
            Swap::Unit("dev-vdb.swap".to_owned()),
            line(Some(false)),
            line(None),
            line(Some(true)),
        ];
        put(
            &host,
            &swaps,
            &mut facts,
            &mut device::LinkDirectories::default(),
        );
        assert_eq!(
            facts
                .value(&Subject::host(), &boot::SWAPS_UNSEEN)
                .unwrap()
                .len(),
            3
        );
    }
}
