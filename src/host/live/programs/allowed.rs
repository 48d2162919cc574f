//! The exact arguments with which each program may be run. All of them only read; what is not listed is refused.
//!
//! It knows nothing of where programs are and how they run. The surprise: one digit makes some of these write
//! (`hdparm -W0`), and the tools of RAID controllers leave log files unless they are told not to.

use crate::host::Tool;

/// Whether these are arguments that only read.
pub fn only_reads(tool: Tool, arguments: &[String]) -> bool {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match (tool, arguments.as_slice()) {
        (Tool::Mke2fs | Tool::MkfsXfs, ["-V"])
        | (
            Tool::MkfsBtrfs | Tool::Mdadm | Tool::Mount | Tool::Postgres(_) | Tool::Mysqld | Tool::Mariadbd,
            ["--version"],
        )
        // `--showkeys` would print the keys of encrypted devices.
        | (Tool::Dmsetup, ["table" | "status"])
        | (Tool::Zpool, ["status", "-P"]) => true,
        (Tool::Zfs, [arguments @ .., "sync,logbias,recordsize"]) => arguments == ZFS_GET,
        // It opens the control file in that directory, and only to read it.
        (Tool::PgControldata(_), ["-D", directory]) => is_path(directory),
        (_, [before @ .., device]) if is_device(device) => reads_device(tool, before),
        (_, arguments) => reads_controller(tool, arguments),
    }
}

/// Properties of every dataset and volume.
const ZFS_GET: [&str; 6] = ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value"];

/// Whether these arguments before the node of a device only read it.
fn reads_device(tool: Tool, arguments: &[&str]) -> bool {
    match tool {
        Tool::Nvme => {
            matches!(arguments, ["id-ctrl" | "smart-log", "-o", "json"] | ["get-feature", "-f", "6", "-H"])
        }
        // A disk that sleeps is not woken, and none is asked who it is.
        Tool::Smartctl => matches!(
            arguments,
            ["-q", "noserial", "-n", "standby", "-j", "-H"]
                | ["-q", "noserial", "-n", "standby", "-g", "wcache"]
                | ["-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache"]
        ),
        // With a value behind it, it would write.
        Tool::Hdparm => arguments == ["-W"],
        Tool::Sdparm => arguments == ["--get=WCE"],
        _ => false,
    }
}

/// Whether these arguments only read what a controller knows.
fn reads_controller(tool: Tool, arguments: &[&str]) -> bool {
    match (tool, arguments) {
        // Without `nolog` they write a log where they stand.
        (Tool::Storcli | Tool::Perccli, ["/cALL" | "/cALL/vALL", "show", "all", "J", "nolog"])
        | (Tool::Storcli2 | Tool::Perccli2, ["/call" | "/call/vall", "show", "all", "nolog", "J"])
        | (
            Tool::MegaCli,
            ["-LDInfo", "-Lall", "-aALL", "-NoLog"] | ["-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog"],
        )
        | (Tool::Ssacli | Tool::Hpssacli | Tool::Hpacucli, ["ctrl", "all", "show", "detail"]) => true,
        (Tool::Storcli | Tool::Perccli, [unit, "show", "status", "nolog"]) => {
            let number = |part| unit.strip_prefix("/c").and_then(|unit| unit.strip_suffix(part));
            ["/cv", "/bbu"].into_iter().filter_map(number).any(is_number)
        }
        (Tool::Ssacli | Tool::Hpssacli | Tool::Hpacucli, ["ctrl", slot, "ld", "all", "show", "detail"]) => {
            slot.strip_prefix("slot=").is_some_and(is_number)
        }
        (Tool::Arcconf, ["getconfig", number, "nologs"]) => is_number(number),
        _ => false,
    }
}

/// Up to three digits: of a controller or a slot.
fn is_number(word: &str) -> bool {
    (1..=3).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_device(path: &str) -> bool {
    is_path(path) && path.starts_with("/dev/")
}

/// Whether it is a path from the root that is written without detours.
fn is_path(path: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_uses_are_allowed() {
        let allowed = |tool, arguments: &[&str]| {
            only_reads(tool, &arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
        };
        assert!(allowed(Tool::Mke2fs, &["-V"]));
        assert!(allowed(Tool::Hdparm, &["-W", "/dev/mapper/vg-lv"]));
        assert!(allowed(Tool::PgControldata(15), &["-D", "/var/lib/postgresql/15/main"]));
        let refused: [(Tool, &[&str]); 13] = [
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
        ];
        for (tool, arguments) in refused {
            assert!(!allowed(tool, arguments), "{} {arguments:?}", tool.name());
        }
    }

    #[test]
    fn storage_is_only_read() {
        let allowed = |tool, line: &str| {
            only_reads(tool, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
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
            (Tool::Hdparm, "-W /dev/sda"),
            (Tool::Sdparm, "--get=WCE /dev/sda"),
            (Tool::Dmsetup, "table"),
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
}
