use super::test_host::TestHost;
use crate::durability::{Verdict, VerdictKind};
use crate::facts::catalog::device::{CloudDiskService, NetworkTransport, Transport};
use crate::facts::{Choice, Remedy};
use walwise_model::text::JoinText;

fn with_write_back_reports(machine: TestHost) -> TestHost {
    machine
        .with_fact("device.write_cache", "write back")
        .with_fact("device.cache_type", "write back")
}

fn without_volatile_cache(machine: TestHost) -> TestHost {
    machine
        .with_fact("device.write_cache", "write through")
        .with_fact("device.cache_type", "write through")
        .with_fact("device.drive_cache", "off")
        .with_fact("nvme.volatile_cache", "false")
        .with_fact("nvme.critical_warning", "")
}

fn questions_to_guarantor_text(verdict: &Verdict) -> String {
    let asked = verdict
        .missing
        .iter()
        .filter(|need| need.fact == "device.cache");
    let says = asked.filter_map(|need| match &need.remedy {
        Some(Remedy::Do(says)) => Some(says.clone()),
        _ => None,
    });
    says.join_with("; ")
}

/// Columns: name, guarantor, verdict if flushes are sent, verdict without a volatile cache, and
/// words of the question to the guarantor if a verdict is unproven.
type GuarantorCase = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

fn assert_guarantor_case(row: &GuarantorCase, machine: &TestHost) {
    let (name, guarantor, with_flushes, without, question) = *row;
    for (machine, standing) in [
        (with_write_back_reports(machine.clone()), with_flushes),
        (without_volatile_cache(machine.clone()), without),
    ] {
        let verdict = machine.verdict();
        assert_eq!(
            verdict.standing.as_str(),
            standing,
            "{name}: {}",
            verdict.sentence
        );
        assert_eq!(
            machine.derived_fact_text("device.guarantor"),
            guarantor,
            "{name}"
        );
        let asked = questions_to_guarantor_text(&verdict);
        if standing == "unproven" && !question.is_empty() {
            assert!(
                asked.contains(question) && asked.contains("walwise drill"),
                "{name}: {asked:?}"
            );
            assert!(
                !format!("{:?}", verdict.missing).contains("smartctl"),
                "{name}: {:?}",
                verdict.missing
            );
        } else {
            assert_eq!(asked, "", "{name}");
        }
        let named = verdict
            .guarantors
            .iter()
            .map(|one| one.as_str())
            .join_with(",");
        assert_eq!(named, guarantor.replace('?', ""), "{name}");
        if verdict.standing == VerdictKind::Durable {
            let word = verdict.guarantors[0].noun_phrase(false);
            assert!(
                verdict.sentence.contains(&format!("according to {word}")),
                "{}",
                verdict.sentence
            );
        }
    }
}

#[test]
fn guarantor_of_each_network_transport() {
    const ARRAY: &str = "administrator of the array";
    let rows: [GuarantorCase; 7] = [
        ("tcp", "array", "unproven", "unproven", ARRAY),
        ("rdma", "array", "unproven", "unproven", ARRAY),
        ("fc", "array", "unproven", "unproven", ARRAY),
        ("iscsi", "array", "unproven", "unproven", ARRAY),
        ("fibre channel", "array", "unproven", "unproven", ARRAY),
        ("nbd", "array", "unproven", "unproven", "NBD server"),
        ("rbd", "storage cluster", "durable", "durable", ""),
    ];
    assert_eq!(rows.map(|row| row.0), NetworkTransport::WORDS);
    for row in rows {
        let machine = TestHost::with_volatile_disk()
            .with_fact("device.transport", "network")
            .with_fact("device.fabric", row.0);
        assert_guarantor_case(&row, &machine);
        assert_guarantor_case(&row, &machine.with_fact("host.virtualisation", "kvm"));
    }
}

#[test]
fn guarantor_of_each_transport() {
    const HYPERVISOR: &str = "the hypervisor's administrator";
    let rows: [GuarantorCase; 16] = [
        ("nvme", "drive", "durable", "durable", ""),
        ("scsi", "drive", "durable", "durable", ""),
        ("sata", "drive", "durable", "durable", ""),
        ("sas", "drive", "durable", "durable", ""),
        ("usb", "drive", "unproven", "unproven", ""),
        ("virtio", "hypervisor", "durable", "durable", ""),
        ("virtio-scsi", "hypervisor", "durable", "durable", ""),
        ("xen", "hypervisor", "durable", "unproven", HYPERVISOR),
        ("vmware", "hypervisor", "durable", "unproven", HYPERVISOR),
        ("hyperv", "hypervisor", "durable", "unproven", "portal"),
        ("mmc", "drive", "durable", "durable", ""),
        ("pmem", "drive", "unproven", "unproven", ""),
        (
            "network",
            "array",
            "unproven",
            "unproven",
            "administrator of the array",
        ),
        ("megaraid", "?", "unproven", "unproven", ""),
        ("raid", "?", "unproven", "unproven", ""),
        ("other", "?", "unproven", "unproven", ""),
    ];
    assert_eq!(rows.map(|row| row.0), Transport::WORDS);
    for row in rows {
        let machine = match row.1 {
            "hypervisor" => TestHost::with_volatile_disk().with_fact("host.virtualisation", "kvm"),
            _ => TestHost::with_volatile_disk()
                .with_fact("device.driver", "mpt3sas")
                .with_fact("host.virtualisation", "none"),
        };
        assert_guarantor_case(&row, &machine.with_fact("device.transport", row.0));
    }
}

#[test]
fn guarantor_of_each_cloud_disk_service() {
    let rows: [GuarantorCase; 8] = [
        (
            "Amazon Elastic Block Store",
            "provider",
            "durable",
            "durable",
            "",
        ),
        (
            "Amazon EC2 instance store",
            "provider",
            "at risk",
            "at risk",
            "",
        ),
        (
            "Google persistent disk",
            "provider",
            "durable",
            "durable",
            "",
        ),
        ("Google local SSD", "provider", "at risk", "at risk", ""),
        (
            "Azure managed disk",
            "provider",
            "durable",
            "unproven",
            "host caching of sda in the Azure portal",
        ),
        ("Azure local disk", "provider", "at risk", "at risk", ""),
        (
            "Alibaba Elastic Block Storage",
            "provider",
            "durable",
            "durable",
            "",
        ),
        (
            "Oracle block volume",
            "provider",
            "durable",
            "unproven",
            "ask the provider",
        ),
    ];
    assert_eq!(rows.map(|row| row.0), CloudDiskService::WORDS);
    for row in rows {
        for (transport, fabric) in [
            ("nvme", "?"),
            ("virtio", "?"),
            ("virtio-scsi", "?"),
            ("hyperv", "?"),
            ("network", "iscsi"),
        ] {
            let ephemeral = if row.2 == "at risk" { "true" } else { "false" };
            let machine = TestHost::with_volatile_disk()
                .with_fact("host.virtualisation", "azure")
                .with_fact("device.transport", transport)
                .with_fact("device.fabric", fabric)
                .with_fact("device.cloud", row.0)
                .with_fact("device.ephemeral", ephemeral);
            assert_guarantor_case(&row, &machine);
        }
    }
}

#[test]
fn azure_disks_beyond_host_cache_limits_are_durable() {
    for (size, sector, standing) in [
        ("1099511627776", "512", "unproven"),
        ("4398046511103", "512", "unproven"),
        ("4398046511104", "512", "durable"),
        ("1099511627776", "4096", "durable"),
        ("?", "?", "unproven"),
    ] {
        for transport in ["nvme", "hyperv"] {
            let machine = TestHost::with_volatile_disk()
                .with_fact("device.transport", transport)
                .with_fact("device.cloud", "Azure managed disk")
                .with_fact("device.ephemeral", "false")
                .with_fact("device.size", size)
                .with_fact("device.logical_block", sector);
            assert_eq!(
                without_volatile_cache(machine).verdict_name(),
                standing,
                "{transport} {size} {sector}"
            );
        }
    }
}

#[test]
fn uncached_guest_disk_needs_documented_hypervisor() {
    for (virtualisation, standing) in [
        ("kvm", "durable"),
        ("vmware", "unproven"),
        ("hyperv", "unproven"),
        ("vm", "unproven"),
        ("none", "durable"),
    ] {
        for transport in ["nvme", "sata", "scsi"] {
            let machine = TestHost::with_volatile_disk()
                .with_fact("device.driver", "mpt3sas")
                .with_fact("device.transport", transport)
                .with_fact("host.virtualisation", virtualisation);
            assert_eq!(
                without_volatile_cache(machine).verdict_name(),
                standing,
                "{transport} {virtualisation}"
            );
        }
    }
}

#[test]
fn guarantors_of_several_disks_are_all_named() {
    use crate::facts::Subject;
    let second = Subject::device("sdb");
    let mut machine = TestHost::with_volatile_disk().with_fact("host.virtualisation", "none");
    machine
        .facts
        .add_layer_below(&Subject::device("sda1"), &second);
    for (fact, word) in [
        ("device.kind", "disk"),
        ("device.transport", "network"),
        ("device.fabric", "rbd"),
    ] {
        machine.set_fact_of(&second, fact, word);
    }
    machine.set_fact_of(&second, "device.write_cache", "write through");
    let verdict = machine.verdict();
    assert_eq!(
        verdict.standing,
        VerdictKind::Durable,
        "{}",
        verdict.sentence
    );
    assert!(
        verdict
            .sentence
            .contains("according to the drive and the Ceph cluster"),
        "{}",
        verdict.sentence
    );
}
