//! Pages that a power failure tears, with PostgreSQL: the same code judges MySQL's doublewrite.

use super::machine::Machine;

#[test]
fn without_copies_only_a_file_system_of_whole_pages_will_do() {
    let machine = |setting: &str, roles: &str, fstype: &str, record: &str| {
        Machine::plain()
            .with_cluster()
            .with("pg.full_page_writes", setting)
            .with("target.roles", roles)
            .with("mount.fstype", fstype)
            .with("mount.class", if fstype == "zfs" { "zfs" } else { "block" })
            .with("zfs.sync", "standard")
            .with("zfs.no_cache_flush", "false")
            .with("zfs.recordsize", record)
    };
    for (setting, roles, fstype, record, verdict) in [
        ("true", "data,wal", "ext4", "?", "durable"),
        ("false", "data,wal", "ext4", "?", "at risk"),
        ("false", "data", "xfs", "?", "at risk"),
        ("false", "tablespace", "xfs", "?", "at risk"),
        ("false", "wal", "ext4", "?", "durable"),
        ("?", "data", "ext4", "?", "unproven"),
        ("?", "wal", "ext4", "?", "durable"),
        ("false", "?", "ext4", "?", "at risk"),
        ("false", "data", "zfs", "8192", "durable"),
        ("false", "data", "zfs", "131072", "durable"),
        ("false", "data", "zfs", "4096", "at risk"),
        ("false", "data", "zfs", "?", "unproven"),
    ] {
        let found = machine(setting, roles, fstype, record).verdict();
        assert_eq!(found.standing.word(), verdict, "{setting} {roles} {fstype} {record}: {}", found.sentence);
    }
}
