//! The programs that may be run. [`table`] has one row for each, with everything particular to it;
//! the live host finds and runs them. PostgreSQL's programs exist once per major version.

use std::borrow::Cow;

pub struct ToolSpec {
    pub name: &'static str,
    /// The package that provides it in most distributions.
    pub package: &'static str,
    pub home: InstallLocation,
    /// When its output counts as an answer.
    pub answer: OutputPolicy,
    /// The keys in its output that identify a machine.
    pub identities: IdentityKeys,
    /// Whether these arguments only read.
    reads: fn(&[&str]) -> bool,
}

/// Where Debian, Red Hat and others install MySQL's and MariaDB's servers.
pub const SERVER_DIRECTORIES: [&str; 3] = ["/usr/sbin", "/usr/libexec", "/usr/bin"];

#[derive(Clone, Copy, Debug)]
pub enum InstallLocation {
    /// With the system's other programs.
    System,
    /// In [`SERVER_DIRECTORIES`].
    Server,
    /// Where its maker's package installs it, or with the system's programs: the tool of a RAID
    /// controller.
    Maker(&'static [&'static str]),
    /// In the directory of its major release.
    Major,
}

/// When the output of a program counts as an answer, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub enum OutputPolicy {
    /// On exit status 0 only.
    Success,
    /// On any exit status: the status reports the state of the disk.
    Printed,
    /// The same, with more time, as it first queries a controller's firmware and every disk behind
    /// it.
    Firmware,
}

/// Keys before identities in a program's output, in lower case with single blanks.
#[derive(Clone, Copy, Debug)]
pub struct IdentityKeys {
    /// Serial numbers and names made of one.
    pub serials: &'static [&'static str],
    /// Addresses and world-wide names.
    pub names: &'static [&'static str],
    /// Prefixes of keys whose value is a disk's place followed by its serial number.
    pub members: &'static [&'static str],
}

/// Generates the type and every list of all programs from the rows, so that no row can be
/// forgotten.
macro_rules! tools {
    (
        $($(#[$doc:meta])* $tool:ident = $name:literal of $package:literal, $home:expr, $answer:ident, $identities:expr
            => { $($words:pat $(if $guard:expr)?),+ };)+
        @major:
        $($(#[$major_doc:meta])* $major:ident = $major_name:literal of $major_package:literal, $major_home:expr,
            $major_answer:ident, $major_identities:expr => { $($major_words:pat $(if $major_guard:expr)?),+ };)+
    ) => {
        /// Programs that may be run: fixed paths, root-owned, read-only uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tool {
            $($(#[$doc])* $tool,)+
            $($(#[$major_doc])* $major(u32),)+
        }

        impl Tool {
            /// All programs that do not come once per major release.
            pub const FIXED: &'static [Self] = &[$(Self::$tool),+];

            /// The programs that come once per major release.
            pub const MAJOR: &'static [fn(u32) -> Self] = &[$(Self::$major),+];

            /// Its properties.
            pub fn row(self) -> &'static ToolSpec {
                use InstallLocation::{Major, Maker, Server, System};
                match self {
                    $(Self::$tool => {
                        static ROW: ToolSpec = ToolSpec {
                            name: $name,
                            package: $package,
                            home: $home,
                            answer: OutputPolicy::$answer,
                            identities: $identities,
                            reads: |words| $(matches!(words, $words $(if $guard)?))||+,
                        };
                        &ROW
                    })+
                    $(Self::$major(_) => {
                        static ROW: ToolSpec = ToolSpec {
                            name: $major_name,
                            package: $major_package,
                            home: $major_home,
                            answer: OutputPolicy::$major_answer,
                            identities: $major_identities,
                            reads: |words| $(matches!(words, $major_words $(if $major_guard)?))||+,
                        };
                        &ROW
                    })+
                }
            }

            /// The major release it belongs to; `None` for other programs.
            pub fn major(self) -> Option<u32> {
                match self {
                    $(Self::$tool)|+ => None,
                    $(Self::$major(major))|+ => Some(major),
                }
            }
        }
    };
}

mod table {
    //! The programs that may be run, one row each: name, package, home, when its output is an
    //! answer, its read-only uses, and the identities it prints. A program that is not listed here
    //! is not run.
    //!
    //! A new program is one row; the compiler and the tests next to this file point out the rest.
    //! One digit makes some of these write (`hdparm -W0`), and the tools of RAID controllers leave
    //! log files unless told not to.

    use super::{IdentityKeys, InstallLocation, OutputPolicy, ToolSpec};

    tools! {
        Mke2fs = "mke2fs" of "e2fsprogs", System, Success, NO_KEYS => { ["-V"] };
        MkfsXfs = "mkfs.xfs" of "xfsprogs", System, Success, NO_KEYS => { ["-V"] };
        /// btrfs-progs' mkfs.btrfs.
        MkfsBtrfs = "mkfs.btrfs" of "btrfs-progs", System, Success, NO_KEYS => { ["--version"] };
        /// mdadm, for its version.
        Mdadm = "mdadm" of "mdadm", System, Success, NO_KEYS => { ["--version"] };
        /// util-linux' mount, for its version.
        Mount = "mount" of "util-linux", System, Success, NO_KEYS => { ["--version"] };

        /// Broadcom's storcli for MegaRAID controllers. Without `nolog` it and its relatives write
        /// a log in the working directory.
        Storcli = "storcli" of "storcli",
            Maker(&["/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"]), Firmware, MEGARAID => {
            ["/cALL" | "/cALL/vALL", "show", "all", "J", "nolog"],
            [unit, "show", "status", "nolog"] if is_cache_module(unit)
        };
        /// The same under Dell's name.
        Perccli = "perccli" of "perccli",
            Maker(&["/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"]), Firmware, MEGARAID => {
            ["/cALL" | "/cALL/vALL", "show", "all", "J", "nolog"],
            [unit, "show", "status", "nolog"] if is_cache_module(unit)
        };
        /// storcli's successor for MegaRAID 9600 controllers.
        Storcli2 = "storcli2" of "storcli2", Maker(&["/opt/MegaRAID/storcli2/storcli2"]), Firmware, MEGARAID => {
            ["/call" | "/call/vall", "show", "all", "nolog", "J"]
        };
        /// The same under Dell's name, for PERC 12.
        Perccli2 = "perccli2" of "perccli2", Maker(&["/opt/MegaRAID/perccli2/perccli2"]), Firmware, MEGARAID => {
            ["/call" | "/call/vall", "show", "all", "nolog", "J"]
        };
        /// LSI's MegaCli, which storcli replaced.
        MegaCli = "MegaCli" of "MegaCli",
            Maker(&["/opt/MegaRAID/MegaCli/MegaCli64", "/opt/MegaRAID/MegaCli/MegaCli", "/usr/sbin/megacli"]), Firmware, MEGARAID => {
            ["-LDInfo", "-Lall", "-aALL", "-NoLog"],
            ["-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog"]
        };
        /// HPE's tool for Smart Array controllers.
        Ssacli = "ssacli" of "ssacli", Maker(&["/opt/smartstorageadmin/ssacli/bin/ssacli"]), Firmware, SMART_ARRAY => {
            ["ctrl", "all", "show", "detail"],
            ["ctrl", slot, "ld", "all", "show", "detail"] if is_slot(slot)
        };
        /// The same under its name before that.
        Hpssacli = "hpssacli" of "hpssacli", Maker(&["/opt/hp/hpssacli/bld/hpssacli"]), Firmware, SMART_ARRAY => {
            ["ctrl", "all", "show", "detail"],
            ["ctrl", slot, "ld", "all", "show", "detail"] if is_slot(slot)
        };
        /// The same under its first name.
        Hpacucli = "hpacucli" of "hpacucli", Maker(&["/opt/compaq/hpacucli/bld/hpacucli"]), Firmware, SMART_ARRAY => {
            ["ctrl", "all", "show", "detail"],
            ["ctrl", slot, "ld", "all", "show", "detail"] if is_slot(slot)
        };
        /// Microchip's (Adaptec's) tool.
        Arcconf = "arcconf" of "arcconf", Maker(&["/usr/Arcconf/arcconf", "/usr/StorMan/arcconf"]), Firmware, ADAPTEC => {
            ["getconfig", number, "nologs"] if is_number(number)
        };

        /// nvme-cli, for what a controller reports about itself.
        Nvme = "nvme" of "nvme-cli", System, Printed, IdentityKeys { serials: &["sn"], ..NO_KEYS } => {
            ["id-ctrl" | "smart-log", "-o", "json", disk] if is_device(disk),
            ["get-feature", "-f", "6", "-H", disk] if is_device(disk),
            ["get-log", "-i", "0xc0", "-l", "512", disk] if is_device(disk)
        };
        /// smartmontools. A sleeping disk is not woken, and identities are not requested.
        Smartctl = "smartctl" of "smartmontools", System, Printed, SMART => {
            ["-q", "noserial", "-n", "standby", "-j", "-H", disk] if is_device(disk),
            ["-q", "noserial", "-n", "standby", "-g", "wcache", disk] if is_device(disk),
            ["-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache", disk] if is_device(disk)
        };
        /// hdparm, for a SATA disk's write cache flag. With a value after `-W` it would write.
        Hdparm = "hdparm" of "hdparm", System, Success, NO_KEYS => { ["-W", disk] if is_device(disk) };
        /// sdparm, for a SCSI disk's write cache flag.
        Sdparm = "sdparm" of "sdparm", System, Printed, NO_KEYS => { ["--get=WCE", disk] if is_device(disk) };

        /// device-mapper's dmsetup, reduced to what [`crate::host::redact`] lists. `--showkeys`
        /// would print keys.
        Dmsetup = "dmsetup" of "dmsetup", System, Success, NO_KEYS => { ["table" | "status"] };
        /// DRBD's drbdsetup, for the configuration in force, reduced to what
        /// [`crate::host::redact`] lists: the rest holds shared secrets, addresses and names.
        Drbdsetup = "drbdsetup" of "drbd-utils", System, Success, NO_KEYS => { ["show", "--show-defaults"] };
        /// OpenZFS' zfs, for a few properties of all datasets and volumes.
        Zfs = "zfs" of "zfsutils-linux", System, Success, NO_KEYS => {
            ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value", "sync,logbias,recordsize"]
        };
        /// OpenZFS' zpool, reduced to pools and their devices.
        Zpool = "zpool" of "zfsutils-linux", System, Success, NO_KEYS => { ["status", "-P"] };

        /// MySQL's server, or MariaDB's under its old name.
        Mysqld = "mysqld" of "mysql-server", Server, Success, NO_KEYS => { ["--version"] };
        Mariadbd = "mariadbd" of "mariadb-server", Server, Success, NO_KEYS => { ["--version"] };

    // One for each major release of PostgreSQL.
    @major:
        /// The PostgreSQL server binary of this major version.
        Postgres = "postgres" of "postgresql", Major, Success, NO_KEYS => { ["--version"] };
        /// PostgreSQL's pg_ctl of this major version, which starts no server of another release
        /// than its own (pg_ctl.c, `find_other_exec`) and tells its version in a tenth of the
        /// server's time.
        PgCtl = "pg_ctl" of "postgresql", Major, Success, NO_KEYS => { ["--version"] };
        /// PostgreSQL's pg_controldata of this major version, reduced to whether pages carry
        /// checksums. It opens the control file in that directory, and only to read it.
        PgControldata = "pg_controldata" of "postgresql", Major, Success, NO_KEYS => { ["-D", directory] if is_path(directory) };
    }

    /// A program that prints no identities.
    const NO_KEYS: IdentityKeys = IdentityKeys {
        serials: &[],
        names: &[],
        members: &[],
    };

    const MEGARAID: IdentityKeys = IdentityKeys {
        serials: &[
            "battery serial number",
            "board tracer number",
            "custom serial number",
            "safe id",
            "serial no",
            "serial number",
            "sn",
        ],
        names: &[
            "sas address",
            "sas address 0",
            "sas address 1",
            "scsi naa id",
            "wwn",
        ],
        members: &[],
    };

    const SMART_ARRAY: IdentityKeys = IdentityKeys {
        serials: &[
            "backup unit serial number",
            "cache serial number",
            "drive serial number",
            "drive unique id",
            "host serial number",
            "logical drive label",
            "serial number",
            "unique identifier",
        ],
        names: &["wwid"],
        members: &[],
    };

    const ADAPTEC: IdentityKeys = IdentityKeys {
        serials: &[
            "controller serial number",
            "drive unique id",
            "serial number",
            "unit serial number",
            "volume unique identifier",
        ],
        names: &["controller world wide name", "world-wide name"],
        // Its disk lines have the serial number after the place, without a key.
        members: &["segment ", "device ", "group "],
    };

    const SMART: IdentityKeys = IdentityKeys {
        serials: &["serial_number"],
        names: &["logical_unit_id", "wwn"],
        members: &[],
    };

    /// The module that keeps a cache: `/c0/cv`, `/c12/bbu`.
    fn is_cache_module(unit: &str) -> bool {
        let number = |part| {
            unit.strip_prefix("/c")
                .and_then(|unit| unit.strip_suffix(part))
        };
        ["/cv", "/bbu"]
            .into_iter()
            .filter_map(number)
            .any(is_number)
    }

    fn is_slot(word: &str) -> bool {
        word.strip_prefix("slot=").is_some_and(is_number)
    }

    /// Up to three digits, as of a controller or a slot.
    fn is_number(word: &str) -> bool {
        (1..=3).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
    }

    fn is_device(path: &str) -> bool {
        is_path(path) && path.starts_with("/dev/")
    }

    /// Whether it is an absolute path without `.` or `..`.
    fn is_path(path: &str) -> bool {
        let plain =
            |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
        path.strip_prefix('/')
            .is_some_and(|rest| rest.split('/').all(plain))
    }
}

pub use table::Tool;

impl Tool {
    /// The program's name, with the number of the major release appended where it has one.
    pub fn name(self) -> Cow<'static, str> {
        let name = self.row().name;
        match self.major() {
            Some(major) => Cow::Owned(format!("{name}-{major}")),
            None => Cow::Borrowed(name),
        }
    }

    /// The program of this name, the inverse of [`Tool::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        let of_major = |tool: &fn(u32) -> Self| {
            let number = name.strip_prefix(tool(0).row().name)?.strip_prefix('-')?;
            number.parse().ok().map(tool)
        };
        let fixed = || {
            Self::FIXED
                .iter()
                .copied()
                .find(|tool| tool.row().name == name)
        };
        Self::MAJOR.iter().find_map(of_major).or_else(fixed)
    }

    pub fn package(self) -> &'static str {
        self.row().package
    }

    pub fn is_read_only(self, arguments: &[String]) -> bool {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        (self.row().reads)(&words)
    }
}

#[cfg(test)]
mod tests {
    //! Arguments that the rows must accept and those they must refuse.

    use super::*;

    #[test]
    fn only_known_uses_are_allowed() {
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
    fn storage_is_only_read() {
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
    fn a_name_is_of_one_program() {
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
