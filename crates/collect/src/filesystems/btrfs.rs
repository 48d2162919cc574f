//! btrfs: all member devices, the profiles of its block groups, and whether data is overwritten in
//! place, from /sys/fs/btrfs/UUID (ch-sysfs of btrfs-progs).
//!
//! A mount names one device but may span many, and a commit is only as durable as the worst of
//! these devices.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::unknown_members_note;
use crate::collector::Request;
use crate::fact_readings::FactReadings;
use crate::facts::catalog::mount;
use crate::facts::{FactSet, KeyInfo, Reading, Scope, Source, Subject};
use crate::host::Host;
use crate::host_readings::{error_reading, file_reading};
use crate::storage::block::sysfs_device;
use crate::text::{display_path, display_safe};

const SYSFS_DIRECTORY: &str = "/sys/fs/btrfs";

const PROFILES: &[&str] = &[
    "single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6",
];

const SYSFS_FACTS: &[KeyInfo] = &[
    mount::BTRFS_DEVICES.info,
    mount::BTRFS_DEVICE_COUNT.info,
    mount::BTRFS_DATA_PROFILES.info,
    mount::BTRFS_METADATA_PROFILES.info,
    mount::BTRFS_ERRORS.info,
    mount::BTRFS_MISSING.info,
];

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let mounts = facts.subjects_where(&mount::FSTYPE, |fstype| fstype == "btrfs");
    if mounts.is_empty() {
        return;
    }
    let members = list_filesystems_with_devices(host, facts);
    let mut known: BTreeMap<&Path, FactReadings> = BTreeMap::new();
    for subject in &mounts {
        let options = facts.get(subject, &mount::SUPER_OPTIONS);
        facts.insert(
            subject,
            &mount::BTRFS_NODATACOW,
            options.map(|options| is_nodatacow(&options)),
        );
        let device = facts.applicable_subject(subject, Scope::Device);
        let Some((home, devices)) = members
            .iter()
            .find(|(_, devices)| device.as_ref().is_some_and(|one| devices.contains(one)))
        else {
            for key in SYSFS_FACTS {
                facts.insert_untyped_value(subject, key, absent_from_sysfs_reading());
            }
            continue;
        };
        let names = devices
            .iter()
            .map(|device| device.name().to_owned())
            .collect();
        let source = Source::from_file(display_path(&home.join("devices")));
        facts.insert_known(
            subject,
            &mount::BTRFS_DEVICE_COUNT,
            devices.len() as u64,
            source.clone(),
        );
        facts.insert_known(subject, &mount::BTRFS_DEVICES, names, source.clone());
        if let Some(uuid) = home.file_name() {
            facts.insert_known(
                subject,
                &mount::UUID,
                display_safe(uuid.as_encoded_bytes()),
                source,
            );
        }
        for device in devices {
            facts.add_subject(device);
            facts.add_layer_below(subject, device);
        }
        known
            .entry(home)
            .or_insert_with(|| read_sysfs(host, home))
            .insert_for(subject, facts);
    }
}

fn read_sysfs(host: &dyn Host, home: &Path) -> FactReadings {
    let count =
        |file, count: CountParser| sum_device_counts(host, &home.join("devinfo"), file, count);
    let mut readings = FactReadings::default();
    readings.add(
        &mount::BTRFS_DATA_PROFILES,
        profiles_in_use(host, home, "data"),
    );
    readings.add(
        &mount::BTRFS_METADATA_PROFILES,
        profiles_in_use(host, home, "metadata"),
    );
    readings.add(&mount::BTRFS_ERRORS, count("error_stats", sum_error_counts));
    readings.add(
        &mount::BTRFS_MISSING,
        count("missing", parse_missing_device_count),
    );
    readings
}

type CountParser = fn(&str) -> Result<u64, String>;

fn sum_error_counts(text: &str) -> Result<u64, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let count = |pair: &[&str]| pair.get(1).and_then(|count| count.parse::<u64>().ok());
    let counts = words.chunks(2).map(count).collect::<Option<Vec<u64>>>();
    let counts = counts
        .filter(|counts| !counts.is_empty())
        .ok_or_else(|| format!("`{text}` is not a list of counts"))?;
    Ok(counts.into_iter().fold(0, u64::saturating_add))
}

fn parse_missing_device_count(text: &str) -> Result<u64, String> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        _ => Err(format!("`{text}` is neither 0 nor 1")),
    }
}

/// The sum is unknown if the file of one device cannot be read.
fn sum_device_counts(
    host: &dyn Host,
    devinfo: &Path,
    file: &str,
    count: CountParser,
) -> Reading<u64> {
    let names = file_reading(host.list_directory(devinfo), &display_path(devinfo));
    names.and_then_reading(|names, source| {
        let mut sum: u64 = 0;
        for name in &names {
            let path = devinfo.join(name).join(file);
            let text = file_reading(host.read(&path), &display_path(&path));
            let counted = text.and_then(|text| {
                let blanks: Vec<u8> = text
                    .iter()
                    .map(|b| if *b == b'\n' { b' ' } else { *b })
                    .collect();
                count(display_safe(&blanks).trim())
            });
            match counted {
                Reading::Known { value, .. } => sum = sum.saturating_add(value),
                unknown @ Reading::Unknown { .. } => return unknown,
            }
        }
        Reading::known(sum, source)
    })
}

fn list_filesystems_with_devices(
    host: &dyn Host,
    facts: &mut FactSet,
) -> Vec<(PathBuf, Vec<Subject>)> {
    let names = host
        .list_directory(Path::new(SYSFS_DIRECTORY))
        .unwrap_or_else(|miss| {
            facts.add_note_once(unknown_members_note(SYSFS_DIRECTORY, &miss, "btrfs"));
            Vec::new()
        });
    let is_uuid = |name: &&OsString| {
        name.to_str()
            .is_some_and(|name| name.len() == 36 && name.contains('-'))
    };
    let member = |name: &OsString| {
        let home = Path::new(SYSFS_DIRECTORY).join(name);
        let devices = host.list_directory(&home.join("devices")).ok()?;
        Some((
            home,
            devices
                .iter()
                .map(|device| sysfs_device::device_subject(device))
                .collect(),
        ))
    };
    names.iter().filter(is_uuid).filter_map(member).collect()
}

/// The profiles in use for `kind` (`data` or `metadata`), or else those of mixed block groups,
/// which small file systems have.
fn profiles_in_use(host: &dyn Host, home: &Path, kind: &str) -> Reading<Vec<String>> {
    let mut refusal = None;
    for kind in [kind, "mixed"] {
        let directory = home.join("allocation").join(kind);
        let shown = display_path(&directory);
        match host.list_directory(&directory) {
            Ok(names) => {
                let is_profile =
                    |name: &OsString| PROFILES.iter().find(|p| name.as_os_str() == **p);
                let found: Vec<String> = names
                    .iter()
                    .filter_map(is_profile)
                    .map(|p| (*p).to_owned())
                    .collect();
                if !found.is_empty() {
                    return Reading::known(found, Source::from_file(shown));
                }
            }
            Err(miss) => refusal = refusal.or(Some(error_reading(&miss, &shown))),
        }
    }
    let shown = display_path(&home.join("allocation").join(kind));
    refusal.unwrap_or_else(|| Reading::malformed(format!("{shown} contains no profile")))
}

/// The last option wins, and compression turns copy-on-write back on.
fn is_nodatacow(options: &[String]) -> bool {
    options
        .iter()
        .fold(false, |nocow, option| match option.as_str() {
            "nodatacow" => true,
            "datacow" | "datasum" => false,
            "compress=no" | "compress=none" | "compress-force=no" | "compress-force=none" => nocow,
            option if option.starts_with("compress") => false,
            _ => nocow,
        })
}

fn absent_from_sysfs_reading<T>() -> Reading<T> {
    Reading::absent(format!(
        "no file system in {SYSFS_DIRECTORY} contains this device"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{FakeHost, note_sentences};
    use walwise_model::text::JoinText;

    const HOME: &str = "/sys/fs/btrfs/0c5f0f7c-7c1c-4d52-9f5b-2f4f0d1f5a11";

    fn collect(host: &FakeHost) -> FactSet {
        let mut facts = FactSet::default();
        let root = Subject::mount("/");
        facts.insert_known(&root, &mount::FSTYPE, "btrfs".to_owned(), Source::Assumed);
        facts.insert_known(
            &root,
            &mount::SUPER_OPTIONS,
            vec!["rw".to_owned(), "nodatacow".to_owned()],
            Source::Assumed,
        );
        facts.set_fact_link(&root, &Subject::device("sda2"));
        facts.add_layer_below(&root, &Subject::device("sda2"));
        collect_facts(host, &Request::default(), &mut facts);
        facts
    }

    #[test]
    fn member_devices_and_profiles_are_collected() {
        let host = FakeHost::default()
            .with_symlink(format!("{HOME}/devices/sda2"), "x")
            .with_symlink(format!("{HOME}/devices/sdb"), "x")
            .with_file("/sys/fs/btrfs/features/no_holes", "1")
            .with_files_in_directory(
                &format!("{HOME}/allocation"),
                &[
                    ("data/raid1/used_bytes", "1"),
                    ("data/total_bytes", "1"),
                    ("metadata/dup/used_bytes", "1"),
                ],
            );
        let (facts, root) = (collect(&host), Subject::mount("/"));
        assert_eq!(
            facts.bottom_devices(&root),
            [Subject::device("sda2"), Subject::device("sdb")]
        );
        assert_eq!(
            facts.value(&root, &mount::BTRFS_DEVICES).unwrap(),
            ["sda2", "sdb"]
        );
        assert_eq!(facts.value(&root, &mount::BTRFS_DEVICE_COUNT), Some(2));
        assert_eq!(
            facts.value(&root, &mount::BTRFS_DATA_PROFILES).unwrap(),
            ["raid1"]
        );
        assert_eq!(
            facts.value(&root, &mount::BTRFS_METADATA_PROFILES).unwrap(),
            ["dup"]
        );
        assert_eq!(facts.value(&root, &mount::BTRFS_NODATACOW), Some(true));
    }

    #[test]
    fn device_errors_are_summed_or_unknown() {
        let stats = |n: u64| {
            format!(
                "write_errs {n}\nread_errs 0\nflush_errs 1\ncorruption_errs 0\ngeneration_errs 0"
            )
        };
        let host = || {
            FakeHost::default()
                .with_symlink(format!("{HOME}/devices/sda2"), "x")
                .with_files_in_directory(
                    &format!("{HOME}/devinfo"),
                    &[
                        ("1/error_stats", &stats(3)),
                        ("2/error_stats", &stats(0)),
                        ("1/missing", "0"),
                        ("2/missing", "1"),
                    ],
                )
        };
        let root = Subject::mount("/");
        let facts = collect(&host());
        assert_eq!(facts.value(&root, &mount::BTRFS_ERRORS), Some(5));
        assert_eq!(facts.value(&root, &mount::BTRFS_MISSING), Some(1));
        for text in ["", "write_errs", "write_errs x"] {
            let facts = collect(&host().with_files_in_directory(
                &format!("{HOME}/devinfo"),
                &[("3/error_stats", text), ("3/missing", "0")],
            ));
            assert_eq!(facts.value(&root, &mount::BTRFS_ERRORS), None, "{text:?}");
        }
    }

    #[test]
    fn mixed_block_groups_set_both_profiles() {
        let host = FakeHost::default()
            .with_symlink(format!("{HOME}/devices/sda2"), "x")
            .with_files_in_directory(
                &format!("{HOME}/allocation"),
                &[("mixed/single/used_bytes", "1")],
            );
        let (facts, root) = (collect(&host), Subject::mount("/"));
        assert_eq!(
            facts.value(&root, &mount::BTRFS_DATA_PROFILES).unwrap(),
            ["single"]
        );
        assert_eq!(
            facts.value(&root, &mount::BTRFS_METADATA_PROFILES).unwrap(),
            ["single"]
        );
    }

    #[test]
    fn missing_sysfs_entry_leaves_profiles_unknown() {
        let facts = collect(&FakeHost::default());
        assert!(
            !facts
                .get(&Subject::mount("/"), &mount::BTRFS_DATA_PROFILES)
                .is_known()
        );
        assert_eq!(note_sentences(&facts).len(), 1);
    }

    #[test]
    fn last_datacow_or_compress_option_wins() {
        for (options, expect) in [
            (&["nodatacow", "compress=zstd:3"][..], false),
            (&["compress=zstd:3", "nodatasum", "nodatacow"], true),
            (&["nodatacow", "compress=no"], true),
            (&["rw"], false),
        ] {
            let options: Vec<String> = options.iter().map(|&o| o.to_owned()).collect();
            assert_eq!(is_nodatacow(&options), expect, "{options:?}");
        }
    }

    proptest! {
        #[test]
        fn error_counts_are_summed(counts in prop::collection::vec(("[a-z_]{1,12}", 0u64..1 << 40), 1..6), odd in "[a-z]{1,8}") {
            let text = counts.iter().map(|(name, count)| format!("{name} {count}")).join_with("\n");
            prop_assert_eq!(sum_error_counts(&text), Ok(counts.iter().map(|(_, count)| count).sum()));
            for bad in [format!("{text} {odd}"), format!("{text}\n{odd} {odd}")] {
                prop_assert!(sum_error_counts(&bad).is_err());
            }
        }

        #[test]
        fn sysfs_bytes_without_digits_give_no_counts(bytes: Vec<u8>) {
            let host = FakeHost::default()
                .with_symlink(format!("{HOME}/devices/sda2"), "x")
                .with_file(format!("{HOME}/devinfo/1/error_stats"), &bytes)
                .with_file(format!("{HOME}/devinfo/1/missing"), &bytes)
                .with_file(format!("{HOME}/allocation/data/total_bytes"), &bytes);
            let (facts, root) = (collect(&host), Subject::mount("/"));
            let digits = bytes.iter().any(u8::is_ascii_digit);
            prop_assert!(digits || facts.value(&root, &mount::BTRFS_ERRORS).is_none());
            prop_assert!(digits || facts.value(&root, &mount::BTRFS_MISSING).is_none());
            prop_assert!(!crate::testing::displayed_notes_and_readings(&facts).chars().any(crate::text::is_display_unsafe));
        }
    }
}
