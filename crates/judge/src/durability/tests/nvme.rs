use super::test_host::TestHost;
use crate::durability::VerdictKind;

fn host_with_nvme_drive(queue: &str) -> TestHost {
    TestHost::with_volatile_disk()
        .with_fact("device.transport", "nvme")
        .with_fact("device.cache_type", "?")
        .with_fact("device.write_cache", queue)
}

#[test]
fn verdict_by_nvme_cache_reports() {
    // Columns: queue, VWC, feature 06h, warnings → verdict, cache, flush.
    for (queue, has_one, is_on, warnings, verdict, cache, flush) in [
        (
            "write back",
            "true",
            "on",
            "",
            "durable",
            "volatile",
            "sent",
        ),
        (
            "write back",
            "true",
            "?",
            "?",
            "unproven",
            "volatile",
            "sent",
        ),
        ("write back", "?", "?", "?", "unproven", "volatile", "sent"),
        ("write back", "true", "off", "", "durable", "none", "sent"),
        (
            "write back",
            "false",
            "?",
            "",
            "durable",
            "volatile",
            "sent",
        ),
        (
            "write through",
            "true",
            "off",
            "",
            "durable",
            "none",
            "not needed",
        ),
        (
            "write through",
            "true",
            "on",
            "",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "true",
            "?",
            "",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "?",
            "on",
            "",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "false",
            "on",
            "",
            "contradictory",
            "contradictory",
            "suppressed",
        ),
        (
            "write through",
            "false",
            "?",
            "",
            "durable",
            "none",
            "not needed",
        ),
        (
            "write through",
            "false",
            "off",
            "temperature,spare low",
            "durable",
            "none",
            "not needed",
        ),
        (
            "write through",
            "false",
            "?",
            "?",
            "unproven",
            "unknown",
            "unknown",
        ),
        (
            "write through",
            "?",
            "off",
            "",
            "unproven",
            "unknown",
            "unknown",
        ),
        (
            "write through",
            "false",
            "?",
            "memory backup failed",
            "at risk",
            "volatile",
            "not needed",
        ),
        (
            "write back",
            "true",
            "on",
            "memory backup failed",
            "at risk",
            "volatile",
            "sent",
        ),
        (
            "write through",
            "false",
            "?",
            "read-only",
            "unproven",
            "none",
            "not needed",
        ),
        (
            "write back",
            "true",
            "on",
            "singing",
            "unproven",
            "volatile",
            "sent",
        ),
    ] {
        let machine = host_with_nvme_drive(queue)
            .with_fact("nvme.volatile_cache", has_one)
            .with_fact("device.drive_cache", is_on)
            .with_fact("nvme.critical_warning", warnings);
        let case = format!("{queue} / {has_one} / {is_on} / {warnings}");
        assert_eq!(
            machine.verdict_cache_and_flush(),
            [verdict, cache, flush],
            "{case}"
        );
        let promised = machine.clone().with_fact("nvme.awupf", "255");
        assert_eq!(
            promised.verdict().paths,
            machine.verdict().paths,
            "nothing rests on AWUPF"
        );
    }
}

#[test]
fn capacitor_report_only_lowers_verdict() {
    let drive = |queue: &str, has_one: &str| {
        host_with_nvme_drive(queue)
            .with_fact("nvme.volatile_cache", has_one)
            .with_fact("nvme.critical_warning", "")
    };
    for (queue, has_one) in [
        ("write back", "true"),
        ("write back", "false"),
        ("write through", "false"),
    ] {
        let before = drive(queue, has_one);
        for (capacitor, percent, says) in [
            ("healthy", "118", "sda reports a healthy capacitor (118 %)"),
            (
                "degraded",
                "62",
                "reports a degraded but sufficient capacitor (62 %)",
            ),
            ("absent", "?", "sda reports no capacitor"),
        ] {
            let machine = before
                .clone()
                .with_fact("nvme.capacitor", capacitor)
                .with_fact("nvme.capacitor_percent", percent);
            let verdict = machine.verdict();
            assert!(
                verdict.paths[0]
                    .evidence
                    .iter()
                    .any(|one| one.text.contains(says)),
                "{verdict:?}"
            );
            assert_eq!(
                verdict.standing,
                before.verdict().standing,
                "{queue} {has_one} {capacitor}"
            );
            assert_eq!(
                machine.derived_fact_text("target.cache"),
                before.derived_fact_text("target.cache")
            );
            assert_ne!(
                machine.derived_fact_text("target.cache"),
                "protected",
                "it is no battery"
            );
        }
        let unreadable = before
            .clone()
            .with_fact("nvme.capacitor", "unreadable")
            .verdict();
        assert_eq!(unreadable.paths, before.verdict().paths, "nothing was said");
        let failed = before
            .clone()
            .with_fact("nvme.capacitor", "failed")
            .with_fact("nvme.capacitor_percent", "0");
        assert_eq!(
            (
                failed.verdict_name(),
                failed.derived_fact_text("target.cache").as_str()
            ),
            ("at risk", "volatile")
        );
        assert!(
            failed
                .verdict()
                .sentence
                .contains("may not last through a power failure (0 %)")
        );
    }
    let silent = drive("write through", "?").with_fact("nvme.capacitor", "healthy");
    assert_eq!(
        silent.verdict_name(),
        "unproven",
        "a capacitor does not say that there is no volatile cache"
    );
}

#[test]
fn fua_reveals_overridden_write_through_queue() {
    let drive = host_with_nvme_drive("write through");
    assert_eq!(drive.verdict_name(), "unproven");
    assert_eq!(
        drive
            .clone()
            .with_fact("device.fua", "false")
            .verdict_name(),
        "unproven"
    );
    let told = drive.clone().with_fact("device.fua", "true");
    assert_eq!(told.verdict_name(), "contradictory");
    assert!(
        told.verdict().sentence.contains("forced unit access"),
        "{}",
        told.verdict().sentence
    );
    // The drive's own report that it has no volatile cache outranks FUA, from which the cache was
    // only inferred.
    let asked = told
        .with_fact("nvme.volatile_cache", "false")
        .with_fact("nvme.critical_warning", "");
    assert_eq!(asked.verdict_name(), "durable");
    assert_eq!(
        drive
            .with_fact("device.transport", "sata")
            .with_fact("device.fua", "true")
            .verdict_name(),
        "unproven"
    );
}

#[test]
fn slow_flush_is_evidence_and_keeps_verdict() {
    let drive = host_with_nvme_drive("write back").with_fact("device.medium", "flash");
    let named = |machine: &TestHost| {
        let verdict = machine.verdict();
        assert_eq!(verdict.standing, VerdictKind::Durable);
        let says: Vec<&str> = verdict.paths[0]
            .evidence
            .iter()
            .map(|one| one.text.as_str())
            .collect();
        says.iter()
            .any(|says| says.starts_with("a flush takes 2.00 ms, even though sda"))
    };
    let dear = drive.clone().with_fact("probe.flush_cost", "2000");
    for claim in [
        ("nvme.volatile_cache", "false"),
        ("nvme.capacitor", "healthy"),
    ] {
        assert!(
            named(&dear.clone().with_fact(claim.0, claim.1)),
            "{claim:?}"
        );
        assert!(
            !named(
                &drive
                    .clone()
                    .with_fact(claim.0, claim.1)
                    .with_fact("probe.flush_cost", "30")
            ),
            "{claim:?}"
        );
        let network = dear
            .clone()
            .with_fact(claim.0, claim.1)
            .with_fact("device.medium", "virtual");
        assert!(
            !named(&network),
            "{claim:?}: behind a hypervisor a flush travels"
        );
    }
    assert!(
        !named(&dear.with_fact("nvme.volatile_cache", "true")),
        "it writes its cache out, as it should"
    );
}

#[test]
fn unproven_nvme_drive_names_nvme_id_ctrl() {
    let verdict = host_with_nvme_drive("write through").verdict();
    let need = verdict
        .missing
        .iter()
        .find(|need| need.fact == "nvme.volatile_cache")
        .unwrap();
    assert!(
        need.remedy
            .as_ref()
            .unwrap()
            .to_string()
            .contains("nvme id-ctrl")
    );
}
