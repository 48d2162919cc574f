//! The programs that may be run, by name. Where each lies and with which arguments it may be run is for the live host; this
//! only names them, for questions and archives. The surprise: PostgreSQL's programs are one each per major version.

/// Programs that may be run: fixed paths, root-owned, read-only uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// e2fsprogs' mke2fs, for `-V`.
    Mke2fs,
    /// xfsprogs' mkfs.xfs, for `-V`.
    MkfsXfs,
    /// btrfs-progs' mkfs.btrfs, for `--version`.
    MkfsBtrfs,
    /// mdadm, for `--version`.
    Mdadm,
    /// util-linux' mount, for `--version`.
    Mount,
    /// Broadcom's storcli for MegaRAID controllers, for `show`.
    Storcli,
    /// The same under Dell's name.
    Perccli,
    /// storcli's successor for MegaRAID 9600 controllers, for `show`.
    Storcli2,
    /// The same under Dell's name, for PERC 12.
    Perccli2,
    /// LSI's MegaCli, which storcli replaced, for what is called `Info` and `Get`.
    MegaCli,
    /// HPE's tool for Smart Array controllers, for `show`.
    Ssacli,
    /// The same under its name before that.
    Hpssacli,
    /// The same under its first name.
    Hpacucli,
    /// Microchip's (Adaptec's) tool, for `getconfig`.
    Arcconf,
    /// nvme-cli, for what a controller says of itself.
    Nvme,
    /// smartmontools, for identity and write cache of a disk that is awake.
    Smartctl,
    /// hdparm, for reading a SATA disk's write cache flag.
    Hdparm,
    /// sdparm, for reading a SCSI disk's write cache flag.
    Sdparm,
    /// device-mapper's dmsetup, for `table` and `status`, reduced to what [`super::redact`] lists.
    Dmsetup,
    /// OpenZFS' zfs, for `get` of a few properties of all datasets.
    Zfs,
    /// OpenZFS' zpool, for `status -P`, reduced to pools and their devices.
    Zpool,
    /// MySQL's server, or MariaDB's under its old name, for `--version`.
    Mysqld,
    /// MariaDB's server, for `--version`.
    Mariadbd,
    /// The PostgreSQL server binary of this major version, for `--version`.
    Postgres(u32),
    /// PostgreSQL's pg_controldata of this major version, for `-D DIRECTORY`, reduced to whether pages carry checksums.
    PgControldata(u32),
}

impl Tool {
    /// All programs but those of PostgreSQL, of which each version has its own.
    pub const FIXED: [Self; 23] = [
        Self::Mke2fs,
        Self::MkfsXfs,
        Self::MkfsBtrfs,
        Self::Mdadm,
        Self::Mount,
        Self::Storcli,
        Self::Perccli,
        Self::Storcli2,
        Self::Perccli2,
        Self::MegaCli,
        Self::Ssacli,
        Self::Hpssacli,
        Self::Hpacucli,
        Self::Arcconf,
        Self::Nvme,
        Self::Smartctl,
        Self::Hdparm,
        Self::Sdparm,
        Self::Dmsetup,
        Self::Zfs,
        Self::Zpool,
        Self::Mysqld,
        Self::Mariadbd,
    ];

    /// The program's name.
    pub fn name(self) -> String {
        match self {
            Self::Mke2fs => "mke2fs".to_owned(),
            Self::MkfsXfs => "mkfs.xfs".to_owned(),
            Self::MkfsBtrfs => "mkfs.btrfs".to_owned(),
            Self::Mdadm => "mdadm".to_owned(),
            Self::Mount => "mount".to_owned(),
            Self::Storcli => "storcli".to_owned(),
            Self::Perccli => "perccli".to_owned(),
            Self::Storcli2 => "storcli2".to_owned(),
            Self::Perccli2 => "perccli2".to_owned(),
            Self::MegaCli => "MegaCli".to_owned(),
            Self::Ssacli => "ssacli".to_owned(),
            Self::Hpssacli => "hpssacli".to_owned(),
            Self::Hpacucli => "hpacucli".to_owned(),
            Self::Arcconf => "arcconf".to_owned(),
            Self::Nvme => "nvme".to_owned(),
            Self::Smartctl => "smartctl".to_owned(),
            Self::Hdparm => "hdparm".to_owned(),
            Self::Sdparm => "sdparm".to_owned(),
            Self::Dmsetup => "dmsetup".to_owned(),
            Self::Zfs => "zfs".to_owned(),
            Self::Zpool => "zpool".to_owned(),
            Self::Mysqld => "mysqld".to_owned(),
            Self::Mariadbd => "mariadbd".to_owned(),
            Self::Postgres(major) => format!("postgres-{major}"),
            Self::PgControldata(major) => format!("pg_controldata-{major}"),
        }
    }

    /// The program of this name, the inverse of [`Tool::name`].
    pub fn of_name(name: &str) -> Option<Self> {
        if let Some(major) = name.strip_prefix("postgres-") {
            return major.parse().ok().map(Self::Postgres);
        }
        if let Some(major) = name.strip_prefix("pg_controldata-") {
            return major.parse().ok().map(Self::PgControldata);
        }
        Self::FIXED.into_iter().find(|tool| tool.name() == name)
    }

    /// The package that brings it, as most distributions call it.
    pub fn package(self) -> &'static str {
        match self {
            Self::Mke2fs => "e2fsprogs",
            Self::MkfsXfs => "xfsprogs",
            Self::MkfsBtrfs => "btrfs-progs",
            Self::Mdadm => "mdadm",
            Self::Mount => "util-linux",
            Self::Storcli => "storcli",
            Self::Perccli => "perccli",
            Self::Storcli2 => "storcli2",
            Self::Perccli2 => "perccli2",
            Self::MegaCli => "MegaCli",
            Self::Ssacli => "ssacli",
            Self::Hpssacli => "hpssacli",
            Self::Hpacucli => "hpacucli",
            Self::Arcconf => "arcconf",
            Self::Nvme => "nvme-cli",
            Self::Smartctl => "smartmontools",
            Self::Hdparm => "hdparm",
            Self::Sdparm => "sdparm",
            Self::Dmsetup => "dmsetup",
            Self::Zfs | Self::Zpool => "zfsutils-linux",
            Self::Mysqld => "mysql-server",
            Self::Mariadbd => "mariadb-server",
            Self::Postgres(_) | Self::PgControldata(_) => "postgresql",
        }
    }
}
