//! The cloud of a disk, and whether its data outlives the machine. The exact model decides; for
//! Azure's SCSI disks, the controller does.
//!
//! Sources: Amazon's EC2 User Guide (NVMe volumes and instance store); 65-gce-disk-naming.rules of
//! google-guest-configs; 80-azure-disk.rules of azure-vm-utils; Alibaba's guide to NVMe disks.
//! Oracle's volumes report their model in the SCSI INQUIRY, and its local NVMe disks have their
//! makers' models. A prefix never decides: Google's `nvme_card-pd` is persistent, `nvme_card` and
//! `nvme_card0` are not.

use super::sysfs_device::SysfsBlockDevice;
use crate::facts::catalog::device::{self, CloudDiskService};
use crate::facts::catalog::host;
use crate::facts::{Choice, FactSet, Reading, Remedy, Source, UnknownReason};
use crate::text::suggest::edit_distance;
use crate::text_table::rows;

/// Documented models of cloud disks, each with its service and whether the disk is ephemeral.
fn cloud_disks() -> impl Iterator<Item = (&'static str, CloudDiskService, bool)> {
    rows(include_str!("cloud_models.txt")).filter_map(|[model, service, lifetime]| {
        let service = CloudDiskService::from_word(service)?;
        Some((model, service, !lifetime.is_empty()))
    })
}

/// The model of every disk under Hyper-V, including Azure's temporary disks.
const HYPERV: &str = "Msft Virtual Disk";

fn cloud_disk_of_model(model: &str) -> Option<(CloudDiskService, bool)> {
    // Google numbers its local SSDs: nvme_card0, nvme_card1.
    let model = match model.strip_prefix("nvme_card") {
        Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => "nvme_card",
        _ => model,
    };
    cloud_disks()
        .find(|(known, ..)| *known == model)
        .map(|(_, cloud, ephemeral)| (cloud, ephemeral))
}

/// The largest edit distance from a documented model at which a model counts as garbled.
const MAX_GARBLED_LETTERS: usize = 2;

fn resembles_known_model(model: &str) -> bool {
    cloud_disks().any(|(known, ..)| edit_distance(known, model) <= MAX_GARBLED_LETTERS)
        || edit_distance(HYPERV, model) <= MAX_GARBLED_LETTERS
}

pub fn insert_cloud_facts(node: &SysfsBlockDevice, facts: &mut FactSet) {
    if node.kind.is_disk() {
        let (cloud, ephemeral) = cloud_and_lifetime(node, facts);
        facts.insert(&node.subject, &device::CLOUD, cloud);
        facts.insert(&node.subject, &device::EPHEMERAL, ephemeral);
    }
}

/// The cloud, and whether the disk is ephemeral.
fn cloud_and_lifetime(
    node: &SysfsBlockDevice,
    facts: &FactSet,
) -> (Reading<CloudDiskService>, Reading<bool>) {
    let no_cloud = || Reading::absent("the disk's model is not that of a known cloud");
    let source = Source::derived_from([device::MODEL.name(), host::VIRTUALISATION.name()]);
    let machine = facts.host_value(&host::VIRTUALISATION).unwrap_or_default();
    let model = match facts.get(&node.subject, &device::MODEL) {
        Reading::Known { value, .. } => value,
        // The model that could not be read may be that of an ephemeral disk, so the lifetime is
        // unknown.
        Reading::Unknown { why, detail, .. }
            if why != UnknownReason::Absent && machine != "none" =>
        {
            let detail = format!(
                "the model of this virtual disk is unknown, so the disk may be ephemeral: {detail}"
            );
            let unread = Reading::unknown(why, detail.clone()).with_remedy(Remedy::RunAsRoot);
            return (Reading::unknown(why, detail), unread);
        }
        Reading::Unknown { .. } => String::new(),
    };
    if model == HYPERV && machine == "azure" {
        return azure_cloud_and_lifetime(node, source);
    }
    if model == HYPERV {
        return (no_cloud(), unknown_ephemeral_reading());
    }
    if let Some((cloud, ephemeral)) = cloud_disk_of_model(&model) {
        let by_model = Source::derived_from([device::MODEL.name()]);
        let ephemeral = Reading::known(ephemeral, by_model.clone());
        return (Reading::known(cloud, by_model), ephemeral);
    }
    if resembles_known_model(&model) {
        let detail = format!("`{model}` resembles a documented cloud model but does not match it");
        return (Reading::malformed(&detail), Reading::malformed(detail));
    }
    // A disk of any other model is not ephemeral, because `cloud_models.txt` has every ephemeral
    // model that clouds document.
    (no_cloud(), Reading::known(false, source))
}

/// Temporary disks of Azure machines of generations 1 and 2: part of the controller's path, and the
/// end of the unit's address (azure-vm-utils, 80-azure-disk.rules).
const AZURE_TEMPORARY: [(&str, &str); 2] = [
    ("/00000000-0001-", ""),
    ("/f8b3781a-1e82-4818-a1c3-63d806ec15bb/", ":1"),
];

/// Parts of the device paths of controllers for system and data disks of Azure machines.
const AZURE_PERSISTENT: [&str; 5] = [
    "/00000000-0000-",
    "/f8b3781a-1e82-4818-a1c3-63d806ec15bb/",
    "/f8b3781b-1e82-4818-a1c3-63d806ec15bb/",
    "/f8b3781c-1e82-4818-a1c3-63d806ec15bb/",
    "/f8b3781d-1e82-4818-a1c3-63d806ec15bb/",
];

/// All SCSI disks of Azure have the same model, so their controller decides.
fn azure_cloud_and_lifetime(
    node: &SysfsBlockDevice,
    source: Source,
) -> (Reading<CloudDiskService>, Reading<bool>) {
    let unit = node
        .first_matching_path_component(|part| part.split(':').count() == 4)
        .unwrap_or_default();
    let is_temporary = |(controller, end): &(&str, &str)| {
        node.device_path_contains(controller) && unit.ends_with(end)
    };
    let is_at = |controller: &&str| node.device_path_contains(controller);
    let known = |ephemeral| Reading::known(ephemeral, source.clone());
    let (cloud, ephemeral) = if AZURE_TEMPORARY.iter().any(is_temporary) {
        (CloudDiskService::AzureLocalDisk, known(true))
    } else if AZURE_PERSISTENT.iter().any(is_at) {
        (CloudDiskService::AzureManagedDisk, known(false))
    } else {
        let unknown = unknown_ephemeral_reading();
        (CloudDiskService::AzureManagedDisk, unknown)
    };
    (Reading::known(cloud, source), ephemeral)
}

fn unknown_ephemeral_reading() -> Reading<bool> {
    let detail = "Hyper-V gives temporary disks the same model as permanent ones";
    let help =
        "look for DATALOSS_WARNING_README.txt on the disk: Azure puts this file on temporary disks";
    Reading::ambiguous(detail).with_remedy(Remedy::Do(help.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Subject;
    use crate::text_table::check_rows;

    #[test]
    fn table_of_models_is_complete() {
        check_rows::<3>(include_str!("cloud_models.txt"));
        assert_eq!(cloud_disks().count(), 11);
        assert_eq!(
            cloud_disks().filter(|(.., ephemeral)| *ephemeral).count(),
            5
        );
    }

    #[test]
    fn cloud_models_match_exactly() {
        for (model, expect) in [
            ("nvme_card-pd", Some(false)),
            ("nvme_card", Some(true)),
            ("nvme_card3", Some(true)),
            ("nvme_card12", Some(true)),
            ("nvme_card-pd2", None),
            ("nvme_cards", None),
            ("Google EphemeralDisk", Some(true)),
            ("Google PersistentDisk", Some(false)),
            ("Amazon EC2 NVMe Instance Storage", Some(true)),
            ("Amazon EC2 NVMe Instance Storage 2", None),
            ("Amazon Elastic Block Store", Some(false)),
            ("Microsoft NVMe Direct Disk v2", Some(true)),
            ("MSFT NVMe Accelerator v1.0", Some(false)),
            ("Msft Virtual Disk", None),
        ] {
            assert_eq!(
                cloud_disk_of_model(model).map(|(_, ephemeral)| ephemeral),
                expect,
                "{model}"
            );
        }
    }

    #[test]
    fn ephemeral_state_depends_on_model_and_virtualisation() {
        let known = |model: &str| Reading::known(model.to_owned(), Source::from_file("x"));
        let unknown = |why| Reading::unknown(why, "x");
        for (virtualisation, model, expect) in [
            (Some("none"), known("Samsung SSD 870"), Some(false)),
            (Some("kvm"), known("QEMU QEMU HARDDISK"), Some(false)),
            (Some("hyperv"), known(HYPERV), None),
            (Some("kvm"), known("Google Ephem~ralDisk"), None),
            (
                Some("amazon"),
                known("Amazon EC2 NVMe Instance Storage"),
                Some(true),
            ),
            (
                Some("none"),
                known("Amazon EC2 NVMe Instance Storage"),
                Some(true),
            ),
            (None, known("Samsung SSD 870"), Some(false)),
            (Some("kvm"), unknown(UnknownReason::Absent), Some(false)),
            (Some("kvm"), unknown(UnknownReason::Malformed), None),
            (Some("kvm"), unknown(UnknownReason::NotCollected), None),
            (Some("kvm"), unknown(UnknownReason::Denied), None),
            (None, unknown(UnknownReason::TimedOut), None),
            (Some("none"), unknown(UnknownReason::Malformed), Some(false)),
        ] {
            let mut facts = FactSet::default();
            let node = SysfsBlockDevice::new("sda", "disk");
            let shown = format!("{virtualisation:?} {model:?}");
            facts.insert(&node.subject, &device::MODEL, model);
            if let Some(word) = virtualisation {
                facts.insert_known(
                    &Subject::host(),
                    &host::VIRTUALISATION,
                    word.to_owned(),
                    Source::from_file("x"),
                );
            }
            insert_cloud_facts(&node, &mut facts);
            assert_eq!(
                facts.value(&node.subject, &device::EPHEMERAL),
                expect,
                "{shown}"
            );
        }
    }

    #[test]
    fn azure_scsi_disks_are_classified_by_controller() {
        const PLACE: &str = "../../devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00";
        for (machine, controller, unit, cloud, ephemeral) in [
            (
                "azure",
                "f8b3781a-1e82-4818-a1c3-63d806ec15bb",
                0,
                Some(CloudDiskService::AzureManagedDisk),
                Some(false),
            ),
            (
                "azure",
                "f8b3781a-1e82-4818-a1c3-63d806ec15bb",
                1,
                Some(CloudDiskService::AzureLocalDisk),
                Some(true),
            ),
            (
                "azure",
                "f8b3781b-1e82-4818-a1c3-63d806ec15bb",
                1,
                Some(CloudDiskService::AzureManagedDisk),
                Some(false),
            ),
            (
                "azure",
                "00000000-0000-8899-0000-000000000000",
                0,
                Some(CloudDiskService::AzureManagedDisk),
                Some(false),
            ),
            (
                "azure",
                "00000000-0001-8899-0000-000000000000",
                0,
                Some(CloudDiskService::AzureLocalDisk),
                Some(true),
            ),
            (
                "azure",
                "another",
                0,
                Some(CloudDiskService::AzureManagedDisk),
                None,
            ),
            (
                "hyperv",
                "f8b3781a-1e82-4818-a1c3-63d806ec15bb",
                0,
                None,
                None,
            ),
            (
                "hyperv",
                "f8b3781a-1e82-4818-a1c3-63d806ec15bb",
                1,
                None,
                None,
            ),
        ] {
            let mut facts = FactSet::default();
            let mut node = SysfsBlockDevice::new("sdc", "disk");
            node.device_path =
                format!("{PLACE}/{controller}/host1/target1:0:0/1:0:0:{unit}/block/sdc")
                    .into_bytes();
            facts.insert_known(
                &node.subject,
                &device::MODEL,
                HYPERV.to_owned(),
                Source::from_file("x"),
            );
            facts.insert_known(
                &Subject::host(),
                &host::VIRTUALISATION,
                machine.to_owned(),
                Source::from_file("x"),
            );
            insert_cloud_facts(&node, &mut facts);
            let case = format!("{machine} {controller} {unit}");
            assert_eq!(facts.value(&node.subject, &device::CLOUD), cloud, "{case}");
            assert_eq!(
                facts.value(&node.subject, &device::EPHEMERAL),
                ephemeral,
                "{case}"
            );
        }
    }

    proptest! {
        #[test]
        fn only_complete_cloud_models_match(disk in prop::sample::select(cloud_disks().collect::<Vec<_>>()), cut in 1usize..8, more in "[ -~]{1,4}") {
            let (model, cloud, ephemeral) = disk;
            prop_assert_eq!(cloud_disk_of_model(model), Some((cloud, ephemeral)));
            let half = &model[..model.len() - cut];
            prop_assert!(cloud_disk_of_model(half).is_none() || cloud_disks().any(|(known, ..)| known == half));
            let longer = format!("{model}{more}");
            let numbered = model == "nvme_card" && more.bytes().all(|b| b.is_ascii_digit());
            prop_assert!(cloud_disk_of_model(&longer).is_none() || numbered || cloud_disks().any(|(known, ..)| known == longer));
        }
    }
}
