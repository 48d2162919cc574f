//! Whether each file system issues flushes, from its current mount options.
//!
//! Barrier options belong to the superblock, so all mounts of a superblock get the same answer. On
//! ext4, barriers can be off although mountinfo does not print `nobarrier`. XFS may print
//! `nobarrier` long after the option lost its effect.

use std::collections::{BTreeMap, BTreeSet};

use super::listed_type;
use crate::collector::Request;
use crate::facts::catalog::kernel;
use crate::facts::catalog::mount::{self, BarrierState, MountClass};
use crate::facts::{FactSet, Reading, Subject};
use crate::host::Host;
use crate::parallel;
use crate::ternary::Ternary;
use crate::version::Version;

/// Options that turn barriers off on file systems of any type that `types.txt` marks with `flushes`.
const BARRIER_OFF_OPTIONS: &[&str] = &[
    "nobarrier",
    "barrier=0",
    "barrier=none",
    "fsync_mode=nobarrier",
    "journal_flush_disabled",
];

pub fn collect_facts(_: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mounts = facts.subjects_where(&mount::CLASS, |class| is_flushing_class(*class));
    let found = parallel::map_items(&mounts, |mount| {
        let superblock = facts.value(mount, &mount::DEVNO);
        (superblock, barrier_state_of_mount(mount, facts))
    });
    // All mounts of a superblock print the same options, unless these changed during the read.
    // Differing answers therefore make the barrier unknown.
    let mut answers: BTreeMap<&String, BTreeSet<BarrierState>> = BTreeMap::new();
    for (superblock, reading) in &found {
        if let (Some(superblock), Some(state)) = (superblock, reading.value()) {
            answers.entry(superblock).or_default().insert(*state);
        }
    }
    for (mount, (superblock, reading)) in mounts.iter().zip(&found) {
        let states = superblock
            .as_ref()
            .and_then(|superblock| answers.get(superblock));
        let reading = if states.is_some_and(|states| states.len() > 1) {
            Reading::ambiguous("the mounts of this file system show different barrier options")
        } else {
            reading.clone()
        };
        facts.insert(mount, &mount::BARRIER, reading);
    }
}

fn is_flushing_class(class: MountClass) -> bool {
    matches!(class, MountClass::Block | MountClass::Overlay)
}

fn barrier_state_of_mount(subject: &Subject, facts: &FactSet) -> Reading<BarrierState> {
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_default();
    let printed = facts.get(subject, &mount::SUPER_OPTIONS);
    let is_off = |options: &[String]| stated_barrier(options, &[]) == Some(BarrierState::Off);
    match fstype.as_str() {
        "ext2" | "ext3" | "ext4" => {
            let of_driver = facts.get(subject, &mount::EXT4_OPTIONS);
            let stated = of_driver
                .value()
                .and_then(|options| stated_barrier(options, &["barrier"]));
            match stated {
                Some(state) => of_driver.map(|_| state),
                None => old_ext3_default_barrier(&fstype, &printed, facts)
                    .unwrap_or_else(|| ext_barrier_from_mountinfo(printed)),
            }
        }
        "xfs" => {
            printed.and_then(
                |options| match (is_off(&options), xfs_honours_nobarrier(facts)) {
                    (false, _) => Ok(BarrierState::On),
                    (true, Ternary::False) => Ok(BarrierState::NoEffect),
                    (true, Ternary::True) => Ok(BarrierState::Off),
                    (true, Ternary::Unknown) => Err(
                        "nobarrier is set, but it is unknown whether this kernel honours it"
                            .to_owned(),
                    ),
                },
            )
        }
        // An overlay passes flushes on, except with `volatile`
        // (Documentation/filesystems/overlayfs.rst).
        "overlay" => printed.map(|options| {
            let volatile = ["volatile", "fsync=volatile"];
            if options
                .iter()
                .any(|option| volatile.contains(&option.as_str()))
            {
                BarrierState::Off
            } else {
                BarrierState::On
            }
        }),
        other if listed_type(other).is_some_and(|[_, _, flushes, _]| flushes == "flushes") => {
            printed.map(|options| stated_barrier(&options, &[]).unwrap_or(BarrierState::On))
        }
        other => Reading::ambiguous(format!(
            "walwise does not know whether {other} sends flushes"
        )),
    }
}

/// The state that an option sets, where `on` are the options that turn barriers on; `None` without
/// such an option.
fn stated_barrier(options: &[String], on: &[&str]) -> Option<BarrierState> {
    let has = |words: &[&str]| {
        options
            .iter()
            .any(|option| words.contains(&option.as_str()))
    };
    if has(BARRIER_OFF_OPTIONS) {
        Some(BarrierState::Off)
    } else {
        has(on).then_some(BarrierState::On)
    }
}

/// The barrier state of an ext4 file system, from mountinfo alone. mountinfo prints only deviations
/// from the superblock's defaults, so a missing option proves nothing: `tune2fs -o nobarrier` is
/// invisible there.
fn ext_barrier_from_mountinfo(printed: Reading<Vec<String>>) -> Reading<BarrierState> {
    printed.and_then_reading(|options, source| {
        match stated_barrier(&options, &["barrier", "barrier=1"]) {
            Some(state) => Reading::known(state, source),
            None => Reading::ambiguous(format!(
                "{source} shows no barrier option, but the superblock can turn barriers off"
            )),
        }
    })
}

/// *Off* for ext3 without a barrier option before Linux 3.1: the driver left barriers off by
/// default, and printed the option when on (commit 00eacd66cd8a). `None` for other mounts, and for
/// distribution kernels that may differ.
fn old_ext3_default_barrier(
    fstype: &str,
    printed: &Reading<Vec<String>>,
    facts: &FactSet,
) -> Option<Reading<BarrierState>> {
    let Reading::Known { value, source } = printed else {
        return None;
    };
    let said = value.iter().any(|option| {
        option == "barrier" || option.starts_with("barrier=") || option == "nobarrier"
    });
    let quiet = fstype == "ext3" && !said && is_kernel_at_least(facts, "3.1") == Ternary::False;
    quiet.then(|| Reading::known(BarrierState::Off, source.clone()))
}

/// Whether the kernel's XFS honours `nobarrier`: before Linux 4.10, and in RHEL 7 before
/// 3.10.0-1127 (7.8).
fn xfs_honours_nobarrier(facts: &FactSet) -> Ternary {
    let Some(version) = facts.host_value(&kernel::VERSION) else {
        return Ternary::Unknown;
    };
    if facts
        .host_value(&kernel::VENDOR)
        .is_some_and(|vendor| vendor == "el7")
    {
        let build = version
            .vendor_tail()
            .trim_start_matches('-')
            .split('.')
            .next()
            .and_then(|n| n.parse::<u32>().ok());
        return build.map_or(Ternary::Unknown, |build| Ternary::from(build < 1127));
    }
    // Unknown for an enterprise kernel with an older version, which may have dropped `nobarrier` by
    // a backport.
    !is_kernel_at_least(facts, "4.10")
}

fn is_kernel_at_least(facts: &FactSet, version: &str) -> Ternary {
    let running: Option<Version> = facts.host_value(&kernel::VERSION);
    match (running, Version::parse(version)) {
        (Some(running), Some(version)) => running.at_least(&version),
        _ => Ternary::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;

    fn barrier_state_name(
        fstype: &str,
        printed: &str,
        ext4: Option<&str>,
        release: &str,
        vendor: &str,
    ) -> Option<String> {
        let mut facts = FactSet::default();
        let (host, root) = (Subject::host(), Subject::mount("/"));
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let backports = vendor.starts_with("el");
        let version = Version::parse(release).unwrap().with_backports(backports);
        facts.insert_known(&host, &kernel::VERSION, version, Source::Assumed);
        facts.insert_known(&host, &kernel::VENDOR, vendor.to_owned(), Source::Assumed);
        facts.insert_known(&root, &mount::CLASS, MountClass::Block, Source::Assumed);
        facts.insert_known(&root, &mount::FSTYPE, fstype.to_owned(), Source::Assumed);
        facts.insert_known(
            &root,
            &mount::SUPER_OPTIONS,
            words(printed),
            Source::Assumed,
        );
        if let Some(options) = ext4 {
            facts.insert_known(&root, &mount::EXT4_OPTIONS, words(options), Source::Assumed);
        }
        barrier_state_of_mount(&root, &facts)
            .value()
            .map(ToString::to_string)
    }

    #[test]
    fn barrier_by_file_system_and_kernel() {
        for (fstype, printed, ext4, release, vendor, expect) in [
            (
                "ext4",
                "rw",
                Some("rw,barrier,data=ordered"),
                "6.1",
                "mainline",
                Some("on"),
            ),
            (
                "ext4",
                "rw,nobarrier",
                Some("rw,nobarrier"),
                "6.1",
                "mainline",
                Some("off"),
            ),
            ("ext4", "rw,nobarrier", None, "6.1", "mainline", Some("off")),
            (
                "ext4",
                "rw",
                Some("rw,nobarrier"),
                "6.1",
                "mainline",
                Some("off"),
            ),
            ("ext4", "rw", None, "6.1", "mainline", None),
            (
                "ext3",
                "rw,barrier=1",
                None,
                "2.6.32",
                "mainline",
                Some("on"),
            ),
            (
                "ext3",
                "rw,errors=continue",
                None,
                "2.6.32",
                "mainline",
                Some("off"),
            ),
            (
                "ext3",
                "rw,barrier=0",
                None,
                "2.6.32",
                "mainline",
                Some("off"),
            ),
            ("ext3", "rw,errors=continue", None, "3.1", "mainline", None),
            (
                "ext3",
                "rw,errors=continue",
                None,
                "2.6.32-754.el6.x86_64",
                "el6",
                None,
            ),
            (
                "ext4",
                "rw,errors=continue",
                None,
                "2.6.32",
                "mainline",
                None,
            ),
            ("xfs", "rw,noquota", None, "6.1", "mainline", Some("on")),
            (
                "xfs",
                "rw,nobarrier",
                None,
                "4.9.1",
                "mainline",
                Some("off"),
            ),
            (
                "xfs",
                "rw,nobarrier",
                None,
                "4.14.1",
                "mainline",
                Some("no effect"),
            ),
            (
                "xfs",
                "rw,nobarrier",
                None,
                "3.10.0-514.el7.x86_64",
                "el7",
                Some("off"),
            ),
            (
                "xfs",
                "rw,nobarrier",
                None,
                "3.10.0-1160.76.1.el7.x86_64",
                "el7",
                Some("no effect"),
            ),
            (
                "btrfs",
                "rw,nobarrier",
                None,
                "6.1",
                "mainline",
                Some("off"),
            ),
            ("btrfs", "rw", None, "6.1", "mainline", Some("on")),
            (
                "f2fs",
                "rw,fsync_mode=nobarrier",
                None,
                "6.1",
                "mainline",
                Some("off"),
            ),
            (
                "overlay",
                "rw,upperdir=/u,volatile",
                None,
                "6.1",
                "mainline",
                Some("off"),
            ),
            (
                "overlay",
                "rw,upperdir=/u",
                None,
                "6.1",
                "mainline",
                Some("on"),
            ),
            ("strangefs", "rw", None, "6.1", "mainline", None),
        ] {
            let found = barrier_state_name(fstype, printed, ext4, release, vendor);
            assert_eq!(found.as_deref(), expect, "{fstype} {printed} on {release}");
        }
    }

    #[test]
    fn differing_mounts_of_superblock_are_unknown() {
        let answers = |second: &str, devno: &str| {
            let mut facts = FactSet::default();
            let host = Subject::host();
            facts.insert_known(
                &host,
                &kernel::VERSION,
                Version::parse("6.1").unwrap(),
                Source::Assumed,
            );
            for (point, options, devno) in [("/a", "rw,nobarrier", "0:40"), ("/b", second, devno)] {
                let mount = Subject::mount(point);
                facts.insert_known(&mount, &mount::CLASS, MountClass::Block, Source::Assumed);
                facts.insert_known(&mount, &mount::FSTYPE, "btrfs".to_owned(), Source::Assumed);
                facts.insert_known(&mount, &mount::DEVNO, devno.to_owned(), Source::Assumed);
                let options = options.split(',').map(str::to_owned).collect();
                facts.insert_known(&mount, &mount::SUPER_OPTIONS, options, Source::Assumed);
            }
            collect_facts(
                &crate::testing::FakeHost::default(),
                &Request::default(),
                &mut facts,
            );
            ["/a", "/b"].map(|point| facts.value(&Subject::mount(point), &mount::BARRIER))
        };
        let (on, off) = (Some(BarrierState::On), Some(BarrierState::Off));
        assert_eq!(answers("rw,nobarrier,subvol=/b", "0:40"), [off, off]);
        assert_eq!(answers("rw", "0:41"), [off, on]);
        assert_eq!(answers("rw", "0:40"), [None, None], "read while it changed");
    }
}
