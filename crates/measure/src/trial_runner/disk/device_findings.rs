//! Findings of a trial about a device, in addition to the facts: from sysfs, this host's
//! configuration, and processes. A finding that could not be read is unknown, and
//! [`super::erase_refusal`] treats unknown as a refusal.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::config_references::{self, DeviceAliases};
use super::device_users;
use super::directory_entries::{file_name_text, is_absent_error, read_entry_paths};
use super::disk_id::{DiskId, read_visible_disk_identifiers, unique_disk_id};
use crate::trial_runner::reopen;

/// Unit of sizes and offsets in sysfs, in bytes.
const SECTOR_BYTES: u64 = 512;

/// The error is the reason why the finding could not be read.
pub type DeviceReadResult<T> = Result<T, String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFindings {
    pub owner: u32,
    pub is_open_to_all: bool,
    /// Size in bytes.
    pub size: DeviceReadResult<u64>,
    pub read_only: DeviceReadResult<bool>,
    pub removable: DeviceReadResult<bool>,
    /// True if the kernel hides the device, as for a path of a multipath disk. False if sysfs has
    /// no attribute `hidden`.
    pub hidden: bool,
    /// Devices stacked on this device or on the disk that contains it.
    pub holders: DeviceReadResult<Vec<String>>,
    /// Partitions of the device; for a partition, other partitions that overlap with it.
    pub partitions: DeviceReadResult<Vec<String>>,
    /// True if a mount in any namespace, swap or an array has claimed the device.
    pub claimed: DeviceReadResult<bool>,
    pub openers: DeviceReadResult<Vec<String>>,
    /// Users in the kernel that hold no claim: loop devices, and exports to other hosts.
    pub exports: DeviceReadResult<Vec<String>>,
    pub mentions: DeviceReadResult<Vec<String>>,
    pub disk_id: DeviceReadResult<DiskId>,
}

impl DeviceFindings {
    /// True if the use of the device may be transient, for example while udev probes a new device.
    pub fn may_be_in_transient_use(&self) -> bool {
        self.claimed == Ok(true) || self.openers.as_ref().is_ok_and(|all| !all.is_empty())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    pub number: u64,
    pub name: String,
    sysfs_directory: PathBuf,
    disk_directory: PathBuf,
}

impl BlockDevice {
    /// The error is a clause to put after the path of the device.
    pub fn from_number(number: u64) -> Result<Self, String> {
        let link = format!(
            "/sys/dev/block/{}:{}",
            rustix::fs::major(number),
            rustix::fs::minor(number)
        );
        let home = fs::canonicalize(&link).map_err(|e| format!("not found in sysfs: {e}"))?;
        let is_part = is_partition_directory(&home)?;
        let disk_directory = if is_part {
            home.parent().unwrap_or(&home).to_owned()
        } else {
            home.clone()
        };
        Ok(Self {
            number,
            name: file_name_text(&home),
            sysfs_directory: home,
            disk_directory,
        })
    }

    #[cfg(test)]
    pub fn missing_from_sysfs(number: u64) -> Self {
        let directory = PathBuf::from("/nonexistent");
        Self {
            number,
            name: String::new(),
            sysfs_directory: directory.clone(),
            disk_directory: directory,
        }
    }

    pub fn is_partition(&self) -> bool {
        self.sysfs_directory != self.disk_directory
    }

    pub fn disk_name(&self) -> String {
        file_name_text(&self.disk_directory)
    }

    /// The kernel writes `!` for a `/` in a name.
    pub fn device_node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// Value of `diskseq`, which increases with every new disk; empty before Linux 5.15.
    pub fn diskseq(&self) -> String {
        self.disk_attribute("diskseq")
    }

    /// An attribute of the disk in sysfs, display-safe; empty if it is missing.
    pub fn disk_attribute(&self, name: &str) -> String {
        let text = fs::read_to_string(self.disk_directory.join(name)).unwrap_or_default();
        crate::text::display_safe(text.trim().as_bytes())
    }

    /// The offset from the beginning of the disk, and the size, in bytes.
    pub fn offset_and_size(&self) -> DeviceReadResult<(u64, u64)> {
        let start = if self.is_partition() {
            read_sysfs_number(&self.sysfs_directory.join("start"))?
        } else {
            0
        };
        Ok((
            start * SECTOR_BYTES,
            read_sysfs_number(&self.sysfs_directory.join("size"))? * SECTOR_BYTES,
        ))
    }

    pub fn disk_id(&self) -> DeviceReadResult<DiskId> {
        unique_disk_id(&self.disk_name(), &read_visible_disk_identifiers()).map_err(str::to_owned)
    }

    /// Collects the findings; `held` is an open descriptor of this device.
    pub fn inspect_for_erasing(&self, held: &OwnedFd) -> Result<DeviceFindings, String> {
        let node =
            rustix::fs::fstat(held).map_err(|e| format!("cannot stat the device node: {e}"))?;
        let flag = |path: PathBuf| Ok(read_sysfs_number(&path)? != 0);
        let numbers = self.own_and_disk_device_numbers();
        let of_numbers = |look: fn(&[u64]) -> DeviceReadResult<Vec<String>>| {
            numbers.clone().and_then(|all| look(&all))
        };
        let mentions = || {
            Ok(config_references::files_naming_device(
                &config_references::read_device_config_files()?,
                &self.read_aliases()?,
            ))
        };
        Ok(DeviceFindings {
            owner: node.st_uid,
            is_open_to_all: node.st_mode & 0o002 != 0,
            size: self.offset_and_size().map(|(_, size)| size),
            read_only: flag(self.sysfs_directory.join("ro")),
            removable: flag(self.disk_directory.join("removable")),
            hidden: read_sysfs_number(&self.disk_directory.join("hidden"))
                .is_ok_and(|hidden| hidden != 0),
            holders: self.holders(),
            partitions: self.overlapping_partitions(),
            claimed: is_claimed(held).map_err(|e| format!("O_EXCL: {e}")),
            openers: of_numbers(device_users::find_processes_with_device_open),
            exports: of_numbers(device_users::find_kernel_device_users),
            mentions: mentions(),
            disk_id: self.disk_id(),
        })
    }

    /// Describes devices stacked on this one, overlapping partitions, or processes that have it
    /// open, as a phrase to put after its name; `None` without any. The caller must treat an error
    /// as a refusal.
    pub fn describe_users(&self) -> DeviceReadResult<Option<String>> {
        let openers =
            device_users::find_processes_with_device_open(&self.own_and_disk_device_numbers()?)?;
        let lists = [
            ("has partitions", self.overlapping_partitions()?),
            ("is in use by", self.holders()?),
            ("is open in", openers),
        ];
        let found = lists.into_iter().find(|(_, all)| !all.is_empty());
        Ok(found.map(|(does, all)| format!("{does}: {}", all.join(", "))))
    }

    /// The device number and, for a partition, that of the disk that contains it.
    fn own_and_disk_device_numbers(&self) -> DeviceReadResult<Vec<u64>> {
        let mut all = vec![self.number];
        if self.is_partition() {
            let text = read_sysfs_text(&self.disk_directory.join("dev"))?;
            let (major, minor) = text
                .split_once(':')
                .ok_or("sysfs shows no device number for the disk")?;
            let of = |word: &str| {
                word.parse::<u32>()
                    .map_err(|e| format!("invalid device number in sysfs: {e}"))
            };
            all.push(rustix::fs::makedev(of(major)?, of(minor)?));
        }
        Ok(all)
    }

    fn holders(&self) -> DeviceReadResult<Vec<String>> {
        let mut all = read_entry_paths(&self.sysfs_directory.join("holders"))?;
        if self.is_partition() {
            all.extend(read_entry_paths(&self.disk_directory.join("holders"))?);
        }
        Ok(all.iter().map(|path| file_name_text(path)).collect())
    }

    fn overlapping_partitions(&self) -> DeviceReadResult<Vec<String>> {
        let (start, size) = self.offset_and_size()?;
        let mut found = Vec::new();
        for home in read_entry_paths(&self.disk_directory)? {
            let name = file_name_text(&home);
            if name == self.name || !is_partition_directory(&home)? {
                continue;
            }
            let (from, length) = (
                read_sysfs_number(&home.join("start"))? * SECTOR_BYTES,
                read_sysfs_number(&home.join("size"))? * SECTOR_BYTES,
            );
            if from < start + size && start < from + length {
                found.push(name);
            }
        }
        Ok(found)
    }

    fn read_aliases(&self) -> DeviceReadResult<DeviceAliases> {
        let numbers = self.own_and_disk_device_numbers()?;
        let (mut links, mut resolved) = (BTreeSet::new(), BTreeSet::new());
        for home in read_entry_paths("/dev/disk".as_ref()).unwrap_or_default() {
            for path in read_entry_paths(&home)? {
                let leads = rustix::fs::stat(&path).map(|found| found.st_rdev);
                if leads.is_ok_and(|number| numbers.contains(&number)) {
                    links.insert(path.to_string_lossy().into_owned());
                }
                if file_name_text(&home).starts_with("by-part") {
                    resolved.insert(file_name_text(&path));
                }
            }
        }
        let plate = read_visible_disk_identifiers()
            .into_iter()
            .find(|plate| plate.name == self.disk_name());
        let words = plate.map(|plate| [plate.serial, plate.wwn].into_iter().flatten().collect());
        let part = self
            .is_partition()
            .then(|| read_sysfs_text(&self.sysfs_directory.join("partition")))
            .transpose()?;
        let disk = format!("/dev/{}", self.disk_name().replace('!', "/"));
        Ok(DeviceAliases {
            node: self.device_node(),
            parent_disk: part.map(|number| (disk, number)),
            links,
            ids: words.unwrap_or_default(),
            partition_links: resolved,
        })
    }
}

/// `path` must be the kernel's name of the device, because a link or another node could lead to a
/// different device later. The error is a complete sentence.
pub fn open_device_by_kernel_name(path: &str) -> Result<(OwnedFd, BlockDevice), String> {
    let cannot = |e: Errno| format!("cannot open {path}: {e}");
    let place = rustix::fs::open(
        path,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let place = place.map_err(cannot)?;
    let found = rustix::fs::fstat(&place).map_err(cannot)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::BlockDevice => {}
        FileType::Symlink => {
            let leads = fs::canonicalize(path).map(|to| crate::text::display_path(&to));
            let leads = leads.unwrap_or_else(|_| "the device itself".to_owned());
            return Err(format!(
                "{path} is a symbolic link; specify its target: {leads}"
            ));
        }
        _ => return Err(format!("{path} is not a block device")),
    }
    let device = BlockDevice::from_number(found.st_rdev).map_err(|why| format!("{path}: {why}"))?;
    if device.device_node() != path {
        return Err(format!(
            "{path} is not the kernel's name for the device; use {}",
            device.device_node()
        ));
    }
    let held = reopen(&place, OFlags::RDONLY).map_err(cannot)?;
    Ok((held, device))
}

/// True if a mount, swap or an array has claimed the device, so that opening it with O_EXCL
/// fails. The check does not keep the device open.
pub fn is_claimed(held: &OwnedFd) -> Result<bool, Errno> {
    match reopen(held, OFlags::RDONLY | OFlags::EXCL) {
        Ok(_) => Ok(false),
        Err(Errno::BUSY) => Ok(true),
        Err(e) => Err(e),
    }
}

fn is_partition_directory(home: &Path) -> DeviceReadResult<bool> {
    match fs::metadata(home.join("partition")) {
        Ok(_) => Ok(true),
        Err(e) if is_absent_error(&e) => Ok(false),
        Err(e) => Err(format!("{}: {e}", home.display())),
    }
}

fn read_sysfs_text(path: &Path) -> DeviceReadResult<String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.trim().to_owned())
}

fn read_sysfs_number(path: &Path) -> DeviceReadResult<u64> {
    read_sysfs_text(path)?
        .parse()
        .map_err(|e| format!("{}: {e}", path.display()))
}
