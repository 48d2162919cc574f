//! A pool as `zpool status -P` prints it (zpool-status(8)), and the facts derived from it.

use proptest::prelude::*;

use super::*;
use crate::collect::testing::Fake;
use crate::facts::catalog::mount::MountClass;
use crate::host::Question;

const STATUS: &str = "pool: tank\nstate: ONLINE\n\tNAME STATE\n\ttank ONLINE\n\t  mirror-0 ONLINE\n\t    /dev/sda1 ONLINE\n\
    \t    /dev/sdb1 ONLINE\n\tspecial\n\t  /dev/sdc1 ONLINE\n\tlogs\n\t  /dev/nvme0n1p1 ONLINE\n\tcache\n\t  /dev/sdd1 ONLINE\n\
    \tspares\n\t  /dev/sde1 AVAIL\npool: cold\nstate: DEGRADED\n\tcold DEGRADED\n\t  raidz1-0 DEGRADED\n\t    /dev/sdf1 ONLINE\n\
    \t    1234567890 UNAVAIL\n";

fn machine(status: &str) -> Fake {
    let properties = "tank\tsync\tstandard\ntank/pg\tsync\tdisabled\ntank/pg\tlogbias\tlatency\ntank/pg\trecordsize\t32768\n\
        cold\tsync\tsometimes\ncold\tlogbias\tboth\n";
    Fake::default()
        .answer(Question::Run(Tool::Zpool, vec!["status".into(), "-P".into()]), status)
        .answer(Question::Run(Tool::Zfs, GET.map(str::to_owned).to_vec()), properties)
        .files("/sys/module/zfs/parameters", &[("zfs_nocacheflush", "0"), ("zil_nocacheflush", "1")])
        .file("/sys/module/zfs/version", "2.1.11-1\n")
        .file("/run/udev/data/b230:16", "S:zvol/tank/vol\nE:DEVTYPE=disk\n")
}

fn collect(host: &Fake) -> FactSet {
    let mut facts = FactSet::default();
    for name in ["sda1", "sdb1", "sdc1", "sdd1", "sde1", "sdf1", "nvme0n1p1"] {
        facts.mention(&Subject::device(name));
    }
    for (point, dataset) in [("/pg", "tank/pg"), ("/cold", "cold")] {
        let subject = Subject::mount(point);
        facts.know(&subject, &mount::CLASS, MountClass::Zfs, Source::file("x"));
        facts.know(&subject, &mount::SOURCE, dataset.to_owned(), Source::file("x"));
    }
    let volume = Subject::device("zd16");
    facts.know(&volume, &device::KIND, device::DeviceKind::Zvol, Source::file("x"));
    facts.know(&volume, &device::DEVNO, "230:16".to_owned(), Source::file("x"));
    run(host, &Request::default(), &mut facts);
    facts
}

#[test]
fn datasets_and_volumes_stand_on_whatever_a_commit_waits_for() {
    let facts = collect(&machine(STATUS));
    let devices = ["sda1", "sdb1", "sdc1", "nvme0n1p1"].map(Subject::device);
    assert_eq!(facts.below(&Subject::mount("/pg")), devices);
    assert_eq!(facts.below(&Subject::device("zd16")), devices);
    assert_eq!(facts.value(&Subject::mount("/pg"), &mount::ZFS_DEVICES).unwrap().len(), 4);
}

#[test]
fn a_device_that_is_not_told_leaves_the_list_unknown_and_the_rest_found() {
    let facts = collect(&machine(STATUS));
    let cold = Subject::mount("/cold");
    assert_eq!(facts.below(&cold), [Subject::device("sdf1")]);
    assert!(matches!(facts.get(&cold, &mount::ZFS_DEVICES), Reading::Unknown { why: Why::Ambiguous, .. }));
    assert_eq!(facts.value(&cold, &mount::ZFS_POOL_STATE).as_deref(), Some("DEGRADED"));
}

#[test]
fn properties_are_those_of_the_dataset_and_unknown_words_are_malformed() {
    let facts = collect(&machine(STATUS));
    let pg = Subject::mount("/pg");
    assert_eq!(facts.value(&pg, &mount::ZFS_SYNC), Some(ZfsSync::Disabled));
    assert_eq!(facts.value(&pg, &mount::ZFS_RECORD), Some(32768));
    assert_eq!(facts.value(&pg, &mount::ZFS_LOGBIAS), Some(Logbias::Latency));
    let cold = Subject::mount("/cold");
    let malformed = |name| matches!(facts.named(&cold, name), Reading::Unknown { why: Why::Malformed, .. });
    assert!(malformed("zfs.sync") && malformed("zfs.logbias"));
    assert_eq!(facts.value(&Subject::host(), &kernel::ZFS_NO_FLUSH), Some(true));
    assert_eq!(facts.value(&Subject::host(), &kernel::ZFS_VERSION).unwrap().base(), "2.1.11");
}

#[test]
fn missing_tools_are_named_and_no_zfs_asks_nothing() {
    let facts = collect(&Fake::default());
    let reading = facts.get(&Subject::mount("/pg"), &mount::ZFS_SYNC);
    assert!(matches!(reading, Reading::Unknown { remedy: Some(Remedy::Install(_)), .. }), "{reading:?}");
    let host = Fake::default();
    run(&host, &Request::default(), &mut FactSet::default());
    assert!(host.asked().is_empty());
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes: Vec<u8>) {
        parse_pools(&bytes);
        parse_properties(&bytes);
    }

    #[test]
    fn a_bad_line_costs_itself(bad in "[^\n\t]{0,30}") {
        prop_assume!(!bad.trim_start().starts_with("pool:") && !bad.trim_start().starts_with("state:"));
        let broken = STATUS.replacen("\tspecial\n", &format!("{bad}\n\tspecial\n"), 1);
        prop_assert_eq!(parse_pools(broken.as_bytes()), parse_pools(STATUS.as_bytes()));
    }
}
