//! The programs that may be run, one row each: name, package, home, when its output is an answer, its read-only uses,
//! and the identities it prints. A program that is not listed here is not run.
//!
//! A new program is one row; the compiler and the tests beside this file point out the rest. One digit makes some of
//! these write (`hdparm -W0`), and the tools of RAID controllers leave log files unless told not to.

use super::{Identities, InstallLocation, OutputPolicy, ToolSpec};

tools! {
    Mke2fs = "mke2fs" of "e2fsprogs", System, Success, NOTHING => { ["-V"] };
    MkfsXfs = "mkfs.xfs" of "xfsprogs", System, Success, NOTHING => { ["-V"] };
    /// btrfs-progs' mkfs.btrfs.
    MkfsBtrfs = "mkfs.btrfs" of "btrfs-progs", System, Success, NOTHING => { ["--version"] };
    /// mdadm, for its version.
    Mdadm = "mdadm" of "mdadm", System, Success, NOTHING => { ["--version"] };
    /// util-linux' mount, for its version.
    Mount = "mount" of "util-linux", System, Success, NOTHING => { ["--version"] };

    /// Broadcom's storcli for MegaRAID controllers. Without `nolog` it and its relatives write a log in the working
    /// directory.
    Storcli = "storcli" of "storcli",
        Maker(&["/opt/MegaRAID/storcli/storcli64", "/opt/MegaRAID/storcli/storcli"]), Firmware, MEGARAID => {
        ["/cALL" | "/cALL/vALL", "show", "all", "J", "nolog"],
        [unit, "show", "status", "nolog"] if is_module(unit)
    };
    /// The same under Dell's name.
    Perccli = "perccli" of "perccli",
        Maker(&["/opt/MegaRAID/perccli/perccli64", "/opt/MegaRAID/perccli/perccli"]), Firmware, MEGARAID => {
        ["/cALL" | "/cALL/vALL", "show", "all", "J", "nolog"],
        [unit, "show", "status", "nolog"] if is_module(unit)
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

    /// nvme-cli, for what a controller says of itself.
    Nvme = "nvme" of "nvme-cli", System, Printed, Identities { serials: &["sn"], ..NOTHING } => {
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
    /// hdparm, for a SATA disk's write cache flag. With a value behind `-W` it would write.
    Hdparm = "hdparm" of "hdparm", System, Success, NOTHING => { ["-W", disk] if is_device(disk) };
    /// sdparm, for a SCSI disk's write cache flag.
    Sdparm = "sdparm" of "sdparm", System, Printed, NOTHING => { ["--get=WCE", disk] if is_device(disk) };

    /// device-mapper's dmsetup, reduced to what [`crate::host::redact`] lists. `--showkeys` would print keys.
    Dmsetup = "dmsetup" of "dmsetup", System, Success, NOTHING => { ["table" | "status"] };
    /// DRBD's drbdsetup, for the configuration in force, reduced to what [`crate::host::redact`] lists: the rest holds
    /// shared secrets, addresses and names.
    Drbdsetup = "drbdsetup" of "drbd-utils", System, Success, NOTHING => { ["show", "--show-defaults"] };
    /// OpenZFS' zfs, for a few properties of all datasets and volumes.
    Zfs = "zfs" of "zfsutils-linux", System, Success, NOTHING => {
        ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value", "sync,logbias,recordsize"]
    };
    /// OpenZFS' zpool, reduced to pools and their devices.
    Zpool = "zpool" of "zfsutils-linux", System, Success, NOTHING => { ["status", "-P"] };

    /// MySQL's server, or MariaDB's under its old name.
    Mysqld = "mysqld" of "mysql-server", Server, Success, NOTHING => { ["--version"] };
    Mariadbd = "mariadbd" of "mariadb-server", Server, Success, NOTHING => { ["--version"] };

// One for each major release of PostgreSQL.
@major:
    /// The PostgreSQL server binary of this major version.
    Postgres = "postgres" of "postgresql", Major, Success, NOTHING => { ["--version"] };
    /// PostgreSQL's pg_ctl of this major version, which starts no server of another release than its own (pg_ctl.c,
    /// `find_other_exec`) and tells its version in a tenth of the server's time.
    PgCtl = "pg_ctl" of "postgresql", Major, Success, NOTHING => { ["--version"] };
    /// PostgreSQL's pg_controldata of this major version, reduced to whether pages carry checksums. It opens the control
    /// file in that directory, and only to read it.
    PgControldata = "pg_controldata" of "postgresql", Major, Success, NOTHING => { ["-D", directory] if is_path(directory) };
}

/// A program that prints no identities.
const NOTHING: Identities = Identities { serials: &[], names: &[], members: &[] };

const MEGARAID: Identities = Identities {
    serials: &[
        "battery serial number",
        "board tracer number",
        "custom serial number",
        "safe id",
        "serial no",
        "serial number",
        "sn",
    ],
    names: &["sas address", "sas address 0", "sas address 1", "scsi naa id", "wwn"],
    members: &[],
};

const SMART_ARRAY: Identities = Identities {
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

const ADAPTEC: Identities = Identities {
    serials: &[
        "controller serial number",
        "drive unique id",
        "serial number",
        "unit serial number",
        "volume unique identifier",
    ],
    names: &["controller world wide name", "world-wide name"],
    // Its disk lines put the serial number after the place, without a key.
    members: &["segment ", "device ", "group "],
};

const SMART: Identities =
    Identities { serials: &["serial_number"], names: &["logical_unit_id", "wwn"], members: &[] };

/// The module that keeps a cache: `/c0/cv`, `/c12/bbu`.
fn is_module(unit: &str) -> bool {
    let number = |part| unit.strip_prefix("/c").and_then(|unit| unit.strip_suffix(part));
    ["/cv", "/bbu"].into_iter().filter_map(number).any(is_number)
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
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(plain))
}
