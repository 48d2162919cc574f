//! Refused assumptions and carried ones, on machines made of a few facts.

use super::carry::expanded;
use super::parse;
use crate::facts::catalog::controller::{self, Battery, OnFailure, Policy, WriteMode};
use crate::facts::catalog::device::{self, ArrayLevel, ConsistencyPolicy, WriteCache};
use crate::facts::catalog::{kernel, mount};
use crate::facts::{FactSet, FactValue, Source, Subject};
use crate::version::Version;

fn seen() -> Source {
    Source::call("seen")
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Debian with an XFS, a btrfs, an ext4, an array, and two volumes of a controller.
fn machine() -> FactSet {
    let (mut facts, host) = (FactSet::default(), Subject::host());
    facts.know(&host, &kernel::RELEASE, "6.12.48+deb13-amd64".to_owned(), seen());
    facts.know(&host, &kernel::VERSION, Version::parse("6.12.48").unwrap(), seen());
    facts.know(&host, &kernel::VENDOR, "debian".to_owned(), seen());
    for (point, fs, options) in [
        ("/x", "xfs", "rw attr2 inode64 logbufs=8 logbsize=32k noquota"),
        ("/b", "btrfs", "rw ssd discard=async space_cache=v2 subvolid=5 subvol=/"),
        ("/e", "ext4", "rw"),
    ] {
        let mounted = Subject::mount(point);
        facts.know(&mounted, &mount::FSTYPE, fs.to_owned(), seen());
        facts.know(&mounted, &mount::OPTIONS, words("rw relatime"), seen());
        facts.know(&mounted, &mount::SUPER_OPTIONS, words(options), seen());
    }
    let (xfs, btrfs, ext4) = (Subject::mount("/x"), Subject::mount("/b"), Subject::mount("/e"));
    facts.know(&xfs, &mount::XFS_FEATURES, words("v5 crc reflink"), seen());
    facts.know(&btrfs, &mount::BTRFS_DATA_PROFILES, words("single"), seen());
    facts.know(&btrfs, &mount::BTRFS_METADATA_PROFILES, words("dup"), seen());
    facts.know(&ext4, &mount::EXT4_FEATURES, words("has_journal filetype needs_recovery extent"), seen());
    facts.know(&ext4, &mount::EXT4_OPTIONS, words("rw barrier nodiscard commit=5 data=ordered"), seen());
    let array = Subject::device("md0");
    facts.know(&array, &device::MD_LEVEL, ArrayLevel::Raid5, seen());
    facts.know(&array, &device::MD_CONSISTENCY, ConsistencyPolicy::Resync, seen());
    facts.know(&array, &device::MD_BITMAP, "none".to_owned(), seen());
    facts.know(&array, &device::MD_WRITE_MOSTLY, Vec::new(), seen());
    facts.know(&array, &device::MD_MEMBERS, vec!["sdx in_sync".to_owned(), "sdy in_sync".to_owned()], seen());
    facts.know(&array, &device::MD_WRITE_BEHIND, 0, seen());
    facts.know(&array, &device::SCHEDULER, "none".to_owned(), seen());
    for name in ["sda", "sdb"] {
        let disk = Subject::device(name);
        facts.know(&disk, &controller::BATTERY, Battery::Failed, seen());
        facts.know(&disk, &controller::POLICY, Policy::WriteBack, seen());
        facts.know(&disk, &controller::POLICY_IN_FORCE, WriteMode::WriteThrough, seen());
        facts.know(&disk, &controller::ON_BATTERY_FAILURE, OnFailure::WriteThrough, seen());
        facts.know(&disk, &device::WRITE_CACHE, WriteCache::WriteBack, seen());
        facts.know(&disk, &device::NVME_VOLATILE, false, seen());
    }
    facts
}

fn said(assumed: &[&str]) -> String {
    let texts: Vec<String> = assumed.iter().map(|one| (*one).to_owned()).collect();
    parse(&texts, &machine()).err().unwrap_or_default().join("\n")
}

#[test]
fn what_is_no_value_of_any_machine_is_refused() {
    for (assumed, says) in [
        (&["mount.super_options@/x=rw,bogus"][..], "unknown what xfs makes of `bogus`"),
        (&["mount.super_options@/x=rw,discrad"], "makes of `discrad`"),
        (&["mount.super_options@/x=none"], "rw or ro"),
        (&["mount.super_options@/x=discard"], "rw or ro"),
        (&["mount.super_options@/x=rw,ro"], "rw or ro"),
        (&["mount.super_options@/x=rw,nobarrier"], "refuses `nobarrier`"),
        (&["mount.super_options@/x=rw,noatime"], "assume mount.options"),
        (&["mount.super_options@/x=rw,nofail"], "makes of `nofail`"),
        (&["mount.super_options@/x=rw,discard"], ""),
        (&["mount.super_options@/x=ro,attr2,inode64,logbufs=8,logbsize=256k,noquota"], ""),
        (&["mount.super_options@/b=rw,nodatacow,compress=zstd,datasum"], "take each other back"),
        (&["mount.super_options@/b=rw,compress=zstd,nodatacow"], "take each other back"),
        (&["mount.super_options@/b=rw,compress=zstd:99"], "compress"),
        (&["mount.super_options@/b=rw,data=ordered"], "refuses `data=ordered`"),
        (&["mount.super_options@/b=rw,nodatasum,nodatacow,ssd"], ""),
        (&["mount.super_options@/b=rw,nobarrier,subvolid=5,subvol=/"], ""),
        (&["mount.options@/x=rw,bogus"], "prints no `bogus`"),
        (&["mount.options@/x=none"], "rw or ro"),
        (&["mount.options@/x=rw,noatime,relatime"], "at once"),
        (&["mount.options@/x=rw,noatime,nodev"], ""),
        (&["btrfs.data_profiles@/b=bogus"], "never holds `bogus`"),
        (&["btrfs.metadata_profiles@/b=raid1,riad1"], "never holds `riad1`"),
        (&["btrfs.metadata_profiles@/b=none"], "every btrfs has one"),
        (&["btrfs.metadata_profiles@/b=raid1c3"], ""),
        (&["xfs.features@/x=bogus"], "no xfs with `bogus`"),
        (&["xfs.features@/x=none"], "assume all of them"),
        (&["xfs.features@/x=v5,crc,metadir"], "no xfs with `metadir`"),
        (&["xfs.features@/x=v5,crc,reflink,bigtime"], ""),
        (&["ext4.features@/e=has_journal,bogus"], "no ext4 with `bogus`"),
        (&["ext4.options@/e=rw,bogus", "mount.super_options@/e=rw,bogus"], "`bogus`"),
        (&["ext4.options@/e=none", "mount.super_options@/e=rw"], "rw or ro"),
        (
            &[
                "ext4.options@/e=rw,barrier,nodiscard,commit=5,data=ordered",
                "mount.super_options@/e=rw,nobarrier",
            ],
            "assume both alike",
        ),
        (&["mount.fstype@/x=bogus", "mount.super_options@/x=rw"], "no file system `bogus`"),
        (&["mount.fstype@/x=btrfs", "mount.super_options@/x=rw,inode64"], "inode64"),
        (&["md.bitmap@md0=bogus", "md.consistency_policy@md0=bitmap"], "md.bitmap is never `bogus`"),
        (&["md.write_mostly@md0=bogus"], "cannot be assumed"),
        (&["md.members@md0=sdx in_sync"], "cannot be assumed"),
        (&["device.scheduler@md0=bogus"], "bogus"),
        (&["kernel.release=6..12"], "kernel.release is never"),
        (&["kernel.release=6.12abc"], "kernel.release is never"),
        (&["kernel.version=6,12"], "kernel.version is a version"),
    ] {
        let told = said(assumed);
        assert!(if says.is_empty() { told.is_empty() } else { told.contains(says) }, "{assumed:?}: {told}");
    }
}

#[test]
fn what_excludes_something_is_refused_beside_it() {
    for (assumed, says) in [
        (&["md.consistency_policy@md0=journal", "md.bitmap@md0=+8"][..], "no array has"),
        (&["md.consistency_policy@md0=bitmap", "md.bitmap@md0=none"], "no array has"),
        (&["md.consistency_policy@md0=ppl", "md.bitmap@md0=file"], "no array has"),
        (&["md.consistency_policy@md0=bitmap", "md.bitmap@md0=+8"], ""),
        (&["md.consistency_policy@md0=journal", "md.bitmap@md0=none"], ""),
        (&["md.write_behind@md0=256", "md.bitmap@md0=none"], "only with a bitmap"),
        (&["kernel.release=6.12.0", "kernel.version=3.10"], "is no kernel 3.10"),
        (&["kernel.release=6.12.0", "kernel.version=6.12.5"], ""),
        (
            &["kernel.release=5.14.0-503.el9.x86_64", "kernel.vendor=debian"],
            "is a kernel of el9, not of debian",
        ),
        (&["kernel.release=6.12", "kernel.vendor=debian"], ""),
    ] {
        let told = said(assumed);
        assert!(if says.is_empty() { told.is_empty() } else { told.contains(says) }, "{assumed:?}: {told}");
    }
}

/// An assumption about another disk does not hold for this one.
#[test]
fn what_is_wanted_beside_it_is_wanted_of_the_same() {
    let wanted = "device.write_cache";
    assert!(said(&["nvme.volatile_cache@sda=true"]).contains(wanted));
    assert!(said(&["nvme.volatile_cache@sda=true", "device.write_cache@sdb=write through"]).contains(wanted));
    assert_eq!(said(&["nvme.volatile_cache@sda=true", "device.write_cache@sda=write through"]), "");
}

/// How a controller writes follows from its battery and its configured behaviour, whichever of them is assumed.
#[test]
fn how_a_controller_writes_follows_from_what_it_was_told() {
    for (assumed, expected) in [
        (&["controller.on_battery_failure@sda=stays"][..], Ok(Some("write back"))),
        (&["controller.policy@sda=always write back"], Ok(Some("write back"))),
        (&["controller.policy@sda=write through"], Ok(Some("write through"))),
        (&["controller.battery@sda=healthy"], Ok(Some("write back"))),
        (
            &["controller.battery@sda=absent", "controller.on_battery_failure@sda=stays"],
            Ok(Some("write back")),
        ),
        (
            &["controller.policy@sda=always write back", "controller.policy_in_force@sda=write back"],
            Ok(Some("write back")),
        ),
        (&["controller.battery@sda=learning"], Err("assume it too")),
        (&["controller.policy_in_force@sda=write back"], Err("would write through")),
        (
            &["controller.battery@sda=healthy", "controller.policy_in_force@sda=write through"],
            Err("would write back"),
        ),
        (
            &["controller.on_battery_failure@sda=stays", "controller.policy_in_force@sda=write through"],
            Err("would write back"),
        ),
    ] {
        let texts: Vec<String> = assumed.iter().map(|one| (*one).to_owned()).collect();
        let real = machine();
        match (parse(&texts, &real), expected) {
            (Ok(all), Ok(writes)) => {
                let all = expanded(&all, &real);
                let is_it = |subject: &Subject, name: &str| {
                    *subject == Subject::device("sda") && name == controller::POLICY_IN_FORCE.name()
                };
                let found = all.iter().find(|one| is_it(&one.subject, one.key.name));
                let found = found.and_then(|one| WriteMode::from_value(&one.value));
                assert_eq!(found.map(WriteMode::word), writes, "{assumed:?}");
            }
            (Err(told), Err(says)) => assert!(told.join("\n").contains(says), "{assumed:?}: {told:?}"),
            (is, _) => panic!("{assumed:?}: {is:?}"),
        }
    }
}
