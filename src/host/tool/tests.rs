//! Arguments that the rows must accept and those they must refuse.

use super::*;

#[test]
fn only_known_uses_are_allowed() {
    let allowed = |tool: Tool, arguments: &[&str]| {
        tool.only_reads(&arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
    };
    assert!(allowed(Tool::Mke2fs, &["-V"]));
    assert!(allowed(Tool::Hdparm, &["-W", "/dev/mapper/vg-lv"]));
    assert!(allowed(Tool::PgControldata(15), &["-D", "/var/lib/postgresql/15/main"]));
    let refused: [(Tool, &[&str]); 15] = [
        (Tool::PgControldata(15), &["-D", "pg"]),
        (Tool::PgControldata(15), &["-D", "/srv/../etc"]),
        (Tool::PgControldata(15), &["/srv/pg"]),
        (Tool::Postgres(15), &["-D", "/srv/pg"]),
        (Tool::Mysqld, &["--version", "--initialize"]),
        (Tool::Mke2fs, &["/dev/sda"]),
        (Tool::Mke2fs, &["-V", "/dev/sda"]),
        (Tool::Hdparm, &["-W", "/etc/passwd"]),
        (Tool::Hdparm, &["-W", "/dev/../etc/passwd"]),
        (Tool::Hdparm, &["-W", "/dev/"]),
        (Tool::Hdparm, &["-W", "-o"]),
        (Tool::Mount, &[]),
        (Tool::Postgres(16), &["-V", "--single"]),
        (Tool::PgCtl(16), &["start"]),
        (Tool::PgCtl(16), &["--version", "stop"]),
    ];
    for (tool, arguments) in refused {
        assert!(!allowed(tool, arguments), "{} {arguments:?}", tool.name());
    }
}

#[test]
fn storage_is_only_read() {
    let allowed = |tool: Tool, line: &str| {
        tool.only_reads(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    for (tool, line) in [
        (Tool::Storcli, "/cALL show all J nolog"),
        (Tool::Perccli, "/cALL/vALL show all J nolog"),
        (Tool::Storcli, "/c0/cv show status nolog"),
        (Tool::Storcli, "/c12/bbu show status nolog"),
        (Tool::Storcli2, "/call show all nolog J"),
        (Tool::Perccli2, "/call/vall show all nolog J"),
        (Tool::MegaCli, "-LDInfo -Lall -aALL -NoLog"),
        (Tool::Ssacli, "ctrl slot=0 ld all show detail"),
        (Tool::Arcconf, "getconfig 1 nologs"),
        (Tool::Nvme, "get-feature -f 6 -H /dev/nvme0n1"),
        (Tool::Nvme, "get-log -i 0xc0 -l 512 /dev/nvme0n1"),
        (Tool::Hdparm, "-W /dev/sda"),
        (Tool::Sdparm, "--get=WCE /dev/sda"),
        (Tool::Dmsetup, "table"),
        (Tool::Drbdsetup, "show --show-defaults"),
        (Tool::Zpool, "status -P"),
        (Tool::Zfs, "get -Hp -t filesystem,volume -o name,property,value sync,logbias,recordsize"),
        (Tool::Smartctl, "-q noserial -n standby -j -i -g wcache /dev/sda"),
    ] {
        assert!(allowed(tool, line), "{} {line}", tool.name());
    }
    for (tool, line) in [
        (Tool::Dmsetup, "table --showkeys"),
        (Tool::Dmsetup, "remove vg-lv"),
        (Tool::Dmsetup, "status vg-lv"),
        (Tool::Drbdsetup, "show"),
        (Tool::Drbdsetup, "down r0"),
        (Tool::Drbdsetup, "disk-options 0 --disk-flushes=no"),
        (Tool::Zpool, "status -v"),
        (Tool::Zfs, "set sync=disabled tank"),
        (Tool::Zfs, "get all"),
        (Tool::Storcli, "/cALL show all J"),
        (Tool::Storcli, "/c0/v0 set wrcache=awb nolog"),
        (Tool::Storcli, "/c0/vALL del nolog"),
        (Tool::Storcli2, "/call show all J"),
        (Tool::Storcli2, "/call/vall set wrcache=awb nolog J"),
        (Tool::Storcli, "/c/cv show status nolog"),
        (Tool::Storcli, "/c0/v0/cv show status nolog"),
        (Tool::MegaCli, "-LDInfo -Lall -aALL"),
        (Tool::MegaCli, "-AdpBbuCmd -BbuLearn -aALL -NoLog"),
        (Tool::MegaCli, "-LDSetProp WB -Lall -aALL -NoLog"),
        (Tool::Ssacli, "ctrl slot=all ld all show detail"),
        (Tool::Ssacli, "ctrl slot=0 modify nobatterywritecache=enable"),
        (Tool::Arcconf, "setcache 1 logicaldrive 0 wb"),
        (Tool::Arcconf, "getconfig 1"),
        (Tool::Nvme, "set-feature -f 6 -v 0 /dev/nvme0n1"),
        (Tool::Nvme, "get-log -i 0xd -l 512 /dev/nvme0n1"),
        (Tool::Nvme, "ocp clear-fw-activate-history /dev/nvme0n1"),
        (Tool::Nvme, "format /dev/nvme0n1"),
        (Tool::Hdparm, "-W0 /dev/sda"),
        (Tool::Hdparm, "-W 0 /dev/sda"),
        (Tool::Hdparm, "-W 1"),
        (Tool::Sdparm, "--set=WCE /dev/sda"),
        (Tool::Smartctl, "-s wcache,off /dev/sda"),
        (Tool::Smartctl, "-j -i /dev/sda"),
    ] {
        assert!(!allowed(tool, line), "{} {line}", tool.name());
    }
}

#[test]
fn a_name_is_of_one_program() {
    let major = Tool::MAJOR.iter().map(|of| of(17));
    for tool in Tool::FIXED.iter().copied().chain(major) {
        assert_eq!(Tool::of_name(&tool.name()), Some(tool));
        assert!(!tool.only_reads(&[]), "{}", tool.name());
    }
    assert_eq!(Tool::PgControldata(15).name(), "pg_controldata-15");
    for none in ["postgres", "postgres-", "postgres-x", "postgres--1", "sh", "", "mdadm-4"] {
        assert_eq!(Tool::of_name(none), None, "{none}");
    }
}
