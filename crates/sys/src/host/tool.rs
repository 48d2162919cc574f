//! Properties of the programs that may be run, such as name, package and allowed arguments;
//! [`table`] has one row for each program. The live host finds and runs the programs. The programs
//! of PostgreSQL are installed once per major release.

use std::borrow::Cow;

pub struct ToolSpec {
    pub name: &'static str,
    /// Package that provides the program in most distributions.
    pub package: &'static str,
    pub home: InstallLocation,
    pub answer: OutputAcceptancePolicy,
    /// Command lines with which the program only reads. `{n}` stands for a number of up to three
    /// digits, `{disk}` for a path below /dev, `{directory}` for an absolute path.
    allowed: &'static [&'static str],
}

/// Directories in which Debian, Red Hat and others install the servers of MySQL and MariaDB.
pub const SERVER_DIRECTORIES: [&str; 3] = ["/usr/sbin", "/usr/libexec", "/usr/bin"];

#[derive(Clone, Copy, Debug)]
pub enum InstallLocation {
    System,
    Server,
    /// Paths used by the package of a RAID controller's manufacturer; the system directories are
    /// searched too.
    Maker(&'static [&'static str]),
    Major,
}

/// Whether the output of a failed program counts as an answer, and how long the program may run.
#[derive(Clone, Copy, Debug)]
pub enum OutputAcceptancePolicy {
    Success,
    /// Output counts with any exit status, because the exit status reports the state of the disk.
    Printed,
    /// Output counts with any exit status, and the program gets more time, because it first queries
    /// a controller's firmware and every disk behind the controller.
    Firmware,
}

/// Generates the enum of programs and all lists of them from the rows, so that no list can lack a
/// program.
macro_rules! tools {
    (
        $($(#[$doc:meta])* $tool:ident = $name:literal of $package:literal, $home:expr, $answer:ident => $allowed:expr;)+
        @major:
        $($(#[$major_doc:meta])* $major:ident = $major_name:literal of $major_package:literal, $major_home:expr,
            $major_answer:ident => $major_allowed:expr;)+
    ) => {
        /// Programs that may be run, from fixed paths that belong to root, and only for reading.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tool {
            $($(#[$doc])* $tool,)+
            $($(#[$major_doc])* $major(u32),)+
        }

        impl Tool {
            pub const FIXED: &'static [Self] = &[$(Self::$tool),+];

            pub const MAJOR: &'static [fn(u32) -> Self] = &[$(Self::$major),+];

            pub fn spec(self) -> ToolSpec {
                use InstallLocation::{Major, Maker, Server, System};
                use OutputAcceptancePolicy::{Firmware, Printed, Success};
                let (name, package, home, answer, allowed): (_, _, _, _, &[&str]) = match self {
                    $(Self::$tool => ($name, $package, $home, $answer, $allowed),)+
                    $(Self::$major(_) => ($major_name, $major_package, $major_home, $major_answer, $major_allowed),)+
                };
                ToolSpec { name, package, home, answer, allowed }
            }

            /// `None` for a program that is not installed once per release.
            pub fn major_release(self) -> Option<u32> {
                match self {
                    $(Self::$tool)|+ => None,
                    $(Self::$major(major))|+ => Some(major),
                }
            }
        }
    };
}

impl Tool {
    /// The program's name, followed by the major release if the program has one.
    pub fn name(self) -> Cow<'static, str> {
        let name = self.spec().name;
        match self.major_release() {
            Some(major) => Cow::Owned(format!("{name}-{major}")),
            None => Cow::Borrowed(name),
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        let of_major = |tool: &fn(u32) -> Self| {
            let number = name.strip_prefix(tool(0).spec().name)?.strip_prefix('-')?;
            number.parse().ok().map(tool)
        };
        let fixed = || {
            Self::FIXED
                .iter()
                .copied()
                .find(|tool| tool.spec().name == name)
        };
        Self::MAJOR.iter().find_map(of_major).or_else(fixed)
    }

    pub fn package(self) -> &'static str {
        self.spec().package
    }

    pub(crate) fn is_read_only(self, arguments: &[String]) -> bool {
        let mut allowed = self.spec().allowed.iter();
        allowed.any(|pattern| matches_pattern(pattern, arguments))
    }
}

// The programs that may be run, one row each: name, package, location, output policy,
// identifiers in the output, and allowed arguments. A program that is not listed is never run.
//
// To add a program, add a row; the compiler and the tests then report what is missing. Beware
// of arguments: one digit makes `hdparm -W0` write, and tools of RAID controllers leave log
// files unless an option disables them.

tools! {
    Mke2fs = "mke2fs" of "e2fsprogs", System, Success => &["-V"];
    MkfsXfs = "mkfs.xfs" of "xfsprogs", System, Success => &["-V"];
    MkfsBtrfs = "mkfs.btrfs" of "btrfs-progs", System, Success => &["--version"];
    Mdadm = "mdadm" of "mdadm", System, Success => &["--version"];
    Mount = "mount" of "util-linux", System, Success => &["--version"];

    /// Broadcom's storcli for MegaRAID controllers. Without `nolog`, storcli and the programs
    /// derived from it write a log in the working directory.
    Storcli = "storcli" of "storcli",
        Maker(&["/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"]), Firmware => STORCLI;
    /// storcli under Dell's name.
    Perccli = "perccli" of "perccli",
        Maker(&["/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"]), Firmware => STORCLI;
    /// storcli's successor for MegaRAID 9600 controllers.
    Storcli2 = "storcli2" of "storcli2", Maker(&["/opt/MegaRAID/storcli2/storcli2"]), Firmware => STORCLI2;
    /// storcli2 under Dell's name, for PERC 12.
    Perccli2 = "perccli2" of "perccli2", Maker(&["/opt/MegaRAID/perccli2/perccli2"]), Firmware => STORCLI2;
    /// LSI's MegaCli, which storcli replaced.
    MegaCli = "MegaCli" of "MegaCli",
        Maker(&["/opt/MegaRAID/MegaCli/MegaCli64", "/opt/MegaRAID/MegaCli/MegaCli", "/usr/sbin/megacli"]), Firmware => &[
        "-LDInfo -Lall -aALL -NoLog",
        "-AdpBbuCmd -GetBbuStatus -aALL -NoLog",
    ];
    /// HPE's tool for Smart Array controllers.
    Ssacli = "ssacli" of "ssacli", Maker(&["/opt/smartstorageadmin/ssacli/bin/ssacli"]), Firmware => SMART_ARRAY;
    /// ssacli under its earlier name.
    Hpssacli = "hpssacli" of "hpssacli", Maker(&["/opt/hp/hpssacli/bld/hpssacli"]), Firmware => SMART_ARRAY;
    /// ssacli under its first name.
    Hpacucli = "hpacucli" of "hpacucli", Maker(&["/opt/compaq/hpacucli/bld/hpacucli"]), Firmware => SMART_ARRAY;
    /// Tool for controllers of Microchip (formerly Adaptec).
    Arcconf = "arcconf" of "arcconf", Maker(&["/usr/Arcconf/arcconf", "/usr/StorMan/arcconf"]), Firmware => &["getconfig {n} nologs"];

    Nvme = "nvme" of "nvme-cli", System, Printed => &[
        "id-ctrl -o json {disk}",
        "smart-log -o json {disk}",
        "get-feature -f 6 -H {disk}",
        "get-log -i 0xc0 -l 512 {disk}",
    ];
    /// `-n standby` does not wake a sleeping disk. Serial numbers are not requested.
    Smartctl = "smartctl" of "smartmontools", System, Printed => &[
        "-q noserial -n standby -j -H {disk}",
        "-q noserial -n standby -g wcache {disk}",
        "-q noserial -n standby -j -i -g wcache {disk}",
    ];
    /// Reads the write cache flag of a SATA disk. With a value after `-W`, hdparm would write.
    Hdparm = "hdparm" of "hdparm", System, Success => &["-W {disk}"];
    Sdparm = "sdparm" of "sdparm", System, Printed => &["--get=WCE {disk}"];

    /// Output is reduced by [`crate::host::redact`]. `--showkeys` would print encryption keys.
    Dmsetup = "dmsetup" of "dmsetup", System, Success => &[
        "table",
        "status",
    ];
    /// [`crate::host::redact`] reduces the output, which holds shared secrets, addresses and names.
    Drbdsetup = "drbdsetup" of "drbd-utils", System, Success => &["show --show-defaults"];
    Zfs = "zfs" of "zfsutils-linux", System, Success => &["get -Hp -t filesystem,volume -o name,property,value sync,logbias,recordsize"];
    /// Output is reduced to OpenZFS pools and their devices.
    Zpool = "zpool" of "zfsutils-linux", System, Success => &["status -P"];

    /// The server of MySQL, or of MariaDB under its old name.
    Mysqld = "mysqld" of "mysql-server", Server, Success => &["--version"];
    Mariadbd = "mariadbd" of "mariadb-server", Server, Success => &["--version"];

// One program for each major release of PostgreSQL.
@major:
    Postgres = "postgres" of "postgresql", Major, Success => &["--version"];
    /// pg_ctl prints its version in a tenth of the time that the server needs. Both have the same
    /// version, because pg_ctl refuses to start a server of another release (pg_ctl.c,
    /// `find_other_exec`).
    PgCtl = "pg_ctl" of "postgresql", Major, Success => &["--version"];
    /// Output is reduced to whether pages carry checksums. pg_controldata opens the control
    /// file of the data directory only for reading.
    PgControldata = "pg_controldata" of "postgresql", Major, Success => &["-D {directory}"];
}

const STORCLI: &[&str] = &[
    "/cALL show all J nolog",
    "/cALL/vALL show all J nolog",
    "/c{n}/cv show status nolog",
    "/c{n}/bbu show status nolog",
];

const STORCLI2: &[&str] = &["/call show all nolog J", "/call/vall show all nolog J"];

const SMART_ARRAY: &[&str] = &["ctrl all show detail", "ctrl slot={n} ld all show detail"];

fn matches_pattern(pattern: &str, words: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split(' ').collect();
    parts.len() == words.len()
        && parts
            .iter()
            .zip(words)
            .all(|(part, word)| matches_pattern_word(part, word))
}

fn matches_pattern_word(part: &str, word: &str) -> bool {
    match (part, part.split_once("{n}")) {
        ("{disk}", _) => word.starts_with("/dev/") && is_plain_absolute_path(word),
        ("{directory}", _) => is_plain_absolute_path(word),
        (_, Some((before, after))) => word
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(is_short_number),
        (_, None) => part == word,
    }
}

fn is_short_number(word: &str) -> bool {
    (1..=3).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the path is absolute and has no component `.` or `..`.
fn is_plain_absolute_path(path: &str) -> bool {
    let plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    path.strip_prefix('/')
        .is_some_and(|rest| rest.split('/').all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_tool_arguments_are_allowed() {
        let allowed = |tool: Tool, arguments: &[&str]| {
            tool.is_read_only(&arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
        };
        assert!(allowed(Tool::Mke2fs, &["-V"]));
        assert!(allowed(Tool::Hdparm, &["-W", "/dev/mapper/vg-lv"]));
        assert!(allowed(
            Tool::PgControldata(15),
            &["-D", "/var/lib/postgresql/15/main"]
        ));
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
    fn only_reading_storage_commands_are_allowed() {
        let allowed = |tool: Tool, line: &str| {
            tool.is_read_only(
                &line
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
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
            (
                Tool::Zfs,
                "get -Hp -t filesystem,volume -o name,property,value sync,logbias,recordsize",
            ),
            (
                Tool::Smartctl,
                "-q noserial -n standby -j -i -g wcache /dev/sda",
            ),
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
            (
                Tool::Ssacli,
                "ctrl slot=0 modify nobatterywritecache=enable",
            ),
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
    fn tool_names_round_trip() {
        let major = Tool::MAJOR.iter().map(|of| of(17));
        for tool in Tool::FIXED.iter().copied().chain(major) {
            assert_eq!(Tool::from_name(&tool.name()), Some(tool));
            assert!(!tool.is_read_only(&[]), "{}", tool.name());
        }
        assert_eq!(Tool::PgControldata(15).name(), "pg_controldata-15");
        for none in [
            "postgres",
            "postgres-",
            "postgres-x",
            "postgres--1",
            "sh",
            "",
            "mdadm-4",
        ] {
            assert_eq!(Tool::from_name(none), None, "{none}");
        }
    }
}
