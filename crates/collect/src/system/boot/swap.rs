//! The swap of the next boot, and whether it is active now.
//!
//! A path is known to be swap only while it is active, because the contents of devices and files
//! are not read. Swap units are not read either, so their swap stays unknown. A zram device is
//! created at each boot by a service that is not examined.

use super::{FSTAB, named_device};
use crate::facts::catalog::boot::{self, BootDeviceState};
use crate::facts::{FactSet, Source, Subject};
use crate::host::{Host, path_bytes, path_from_bytes};
use crate::path_lookup::device_of_path;
use crate::storage::swap::active_swap_paths;
use crate::text;

/// A line of fstab that declares swap.
pub struct SwapLine {
    pub source: String,
    pub options: Vec<String>,
    pub is_complete: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum NextBootSwapState {
    /// The swap is active now, with supported options only.
    Active,
    Missing,
    /// The path exists but cannot be swap.
    NotSwap,
    Unknown,
}

/// `units` are the names of swap units.
pub fn record_swaps(
    host: &dyn Host,
    lines: Vec<SwapLine>,
    units: impl Iterator<Item = String>,
    facts: &mut FactSet,
) {
    let active = active_swap_paths(host, facts);
    let lines = lines.into_iter().map(|line| {
        let state = next_boot_state_of_swap_line(host, facts, &line, &active);
        (line.source, state)
    });
    let units = units.map(|name| (name, NextBootSwapState::Unknown));
    let swaps: Vec<(String, NextBootSwapState)> = lines.chain(units).collect();
    for (key, wanted) in [
        (&boot::SWAPS, None),
        (&boot::SWAPS_MISSING, Some(NextBootSwapState::Missing)),
        (&boot::SWAPS_UNFIT, Some(NextBootSwapState::NotSwap)),
        (&boot::SWAPS_UNSEEN, Some(NextBootSwapState::Unknown)),
    ] {
        let swaps = swaps
            .iter()
            .filter(|(_, state)| wanted.is_none_or(|wanted| *state == wanted));
        let names = swaps.map(|(name, _)| name.clone()).collect();
        facts.insert_known(&Subject::host(), key, names, Source::from_file(FSTAB));
    }
}

/// Whether the option's effect is known (fstab(5), swapon(8), systemd.swap(5)).
fn is_known_option(option: &str) -> bool {
    match option.split_once('=') {
        _ if option.starts_with("x-systemd.") => true,
        None => ["defaults", "sw", "discard", "nofail", "noauto"].contains(&option),
        Some(("discard", policy)) => ["once", "pages"].contains(&policy),
        Some(("pri", number)) => {
            text::is_decimal(number) && number.parse().is_ok_and(|number: u16| number <= 32767)
        }
        Some(_) => false,
    }
}

fn next_boot_state_of_swap_line(
    host: &dyn Host,
    facts: &FactSet,
    line: &SwapLine,
    active: &[Vec<u8>],
) -> NextBootSwapState {
    let named = line.source.as_str();
    if named.starts_with("/dev/zram") {
        return NextBootSwapState::Unknown;
    }
    let on = named_device::find_device_by_path_or_tag(host, facts, named);
    if matches_active_swap(host, facts, named, on.as_ref(), active) {
        let is_known = line.is_complete == Some(true)
            && line.options.iter().all(|option| is_known_option(option));
        return if is_known {
            NextBootSwapState::Active
        } else {
            NextBootSwapState::Unknown
        };
    }
    if on.is_some_and(|device| {
        named_device::mounts_on_device(facts, &device)
            .next()
            .is_some()
    }) {
        return NextBootSwapState::NotSwap;
    }
    if named.starts_with('/') && !named.starts_with("/dev/") {
        return match host.stat(&path_from_bytes(text::decode_display_safe(named))) {
            Ok(stat) if stat.is_file() || stat.is_block_device() => NextBootSwapState::Unknown,
            Ok(_) => NextBootSwapState::NotSwap,
            Err(miss) if miss.is_absent() => NextBootSwapState::Missing,
            Err(_) => NextBootSwapState::Unknown,
        };
    }
    let written = Source::from_file(FSTAB);
    match named_device::presence_of_device_path_or_tag(host, facts, named, &written).value() {
        Some(BootDeviceState::Missing) => NextBootSwapState::Missing,
        Some(BootDeviceState::Other) => NextBootSwapState::NotSwap,
        Some(BootDeviceState::There | BootDeviceState::None) | None => NextBootSwapState::Unknown,
    }
}

fn matches_active_swap(
    host: &dyn Host,
    facts: &FactSet,
    named: &str,
    on: Option<&Subject>,
    active: &[Vec<u8>],
) -> bool {
    let path = text::decode_display_safe(named);
    let real = || {
        host.real_path(&path_from_bytes(path.clone()))
            .ok()
            .filter(|_| path.starts_with(b"/"))
    };
    active.contains(&path)
        || on.is_some_and(|on| {
            active
                .iter()
                .any(|other| device_of_path(host, other, facts).as_ref() == Some(on))
        })
        || real().is_some_and(|real| active.iter().any(|other| other == path_bytes(&real)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Key;
    use crate::facts::catalog::{device as block, host};
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn host_and_facts_with_active_swap(active: &str) -> (FakeHost, FactSet) {
        let host = FakeHost::default()
            .with_file(
                "/proc/swaps",
                format!("Filename Type Size Used Priority\n{active}\n"),
            )
            .with_stat_of_device_node("/var/there.swap", 0o100_600)
            .with_stat_of_device_node("/etc/passwd", 0o100_644)
            .with_stat_of_device_node("/srv", 0o040_755)
            .with_stat_of_device_node("/dev/null", 0o020_666)
            .with_answer(Question::RealPath("/dev/disk/by-uuid/7".into()), "/dev/vdb")
            .with_answer(Question::List("/dev/disk/by-uuid".into()), b"7\0");
        let (mut facts, from) = (FactSet::default(), || Source::from_file("a test"));
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            "none".to_owned(),
            from(),
        );
        for name in ["vda", "vdb"] {
            facts.insert_known(
                &Subject::device(name),
                &block::KIND,
                block::DeviceKind::Disk,
                from(),
            );
        }
        facts.add_subject(&Subject::mount("/"));
        facts.add_layer_below(&Subject::mount("/"), &Subject::device("vda"));
        (host, facts)
    }

    fn swap_state(active: &str, named: &str, options: &str) -> NextBootSwapState {
        let (host, mut facts) = host_and_facts_with_active_swap(active);
        let options = options.split(',').map(str::to_owned).collect();
        let line = SwapLine {
            source: named.to_owned(),
            options,
            is_complete: Some(true),
        };
        record_swaps(&host, vec![line], std::iter::empty(), &mut facts);
        let has = |key: &Key<Vec<String>>| !facts.host_value(key).unwrap().is_empty();
        match (
            has(&boot::SWAPS_MISSING),
            has(&boot::SWAPS_UNFIT),
            has(&boot::SWAPS_UNSEEN),
        ) {
            (false, false, false) => NextBootSwapState::Active,
            (true, false, false) => NextBootSwapState::Missing,
            (false, true, false) => NextBootSwapState::NotSwap,
            _ => NextBootSwapState::Unknown,
        }
    }

    #[test]
    fn swap_state_follows_active_swap_and_devices() {
        for (active, named, expected) in [
            (
                "/var/there.swap file 1 0 -2",
                "/var/there.swap",
                NextBootSwapState::Active,
            ),
            ("", "/var/there.swap", NextBootSwapState::Unknown),
            (
                "/var/there.swap\\040(deleted) file 1 0 -2",
                "/var/there.swap",
                NextBootSwapState::Unknown,
            ),
            ("", "/etc/passwd", NextBootSwapState::Unknown),
            ("", "/var/gone.swap", NextBootSwapState::Missing),
            ("", "/srv", NextBootSwapState::NotSwap),
            ("", "/dev/null", NextBootSwapState::NotSwap),
            ("", "/dev/gone", NextBootSwapState::Missing),
            ("", "/dev/vda", NextBootSwapState::NotSwap),
            ("", "/dev/vdb", NextBootSwapState::Unknown),
            (
                "/dev/vdb partition 1 0 -2",
                "/dev/vdb",
                NextBootSwapState::Active,
            ),
            (
                "/dev/vdb partition 1 0 -2",
                "UUID=7",
                NextBootSwapState::Active,
            ),
            ("", "UUID=7", NextBootSwapState::Unknown),
            (
                "/dev/vdb partition 1 0 -2",
                "UUID=8",
                NextBootSwapState::Missing,
            ),
            (
                "/dev/zram0 partition 1 0 -2",
                "/dev/zram0",
                NextBootSwapState::Unknown,
            ),
        ] {
            assert_eq!(
                swap_state(active, named, "sw"),
                expected,
                "{named}, while active is {active}"
            );
        }
    }

    #[test]
    fn unknown_swap_options_leave_state_unknown() {
        for options in [
            "defaults",
            "sw,pri=32767",
            "pri=0,discard",
            "discard=once",
            "discard=pages,nofail,x-systemd.makefs",
        ] {
            assert_eq!(
                swap_state("/dev/vdb partition 1 0 -2", "/dev/vdb", options),
                NextBootSwapState::Active,
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
                swap_state("/dev/vdb partition 1 0 -2", "/dev/vdb", options),
                NextBootSwapState::Unknown,
                "{options}"
            );
        }
    }

    #[test]
    fn incomplete_line_and_swap_unit_are_unknown() {
        let (host, mut facts) = host_and_facts_with_active_swap("/dev/vdb partition 1 0 -2");
        let line = |whole| SwapLine {
            source: "/dev/vdb".to_owned(),
            options: Vec::new(),
            is_complete: whole,
        };
        let lines = [Some(false), None, Some(true)].map(line).into();
        let units = ["dev-vdb.swap".to_owned()].into_iter();
        record_swaps(&host, lines, units, &mut facts);
        assert_eq!(facts.host_value(&boot::SWAPS_UNSEEN).unwrap().len(), 3);
    }
}
