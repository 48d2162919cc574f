//! What is found of a device when it is looked at for a trial, beside the facts: in sysfs, in the
//! tables of this machine, and among its processes. What could not be read is unknown, and
//! [`super::free`] takes that for a no.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::mention::{self, DeviceNames};
use super::plate::{KnownBy, known_by, plates};
use super::users;

/// Bytes of the kernel's sectors in sysfs.
const SECTOR: u64 = 512;

/// A reading; the error says what is in the way.
pub type LookedAt<T> = Result<T, String>;

/// A device, as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFindings {
    pub owner: u32,
    /// Whether others than its group may write to its node.
    pub is_open_to_all: bool,
    /// Its size in bytes.
    pub size: LookedAt<u64>,
    /// Whether it is read-only.
    pub read_only: LookedAt<bool>,
    /// Whether its medium can be taken out, and another put in.
    pub removable: LookedAt<bool>,
    /// Whether the kernel keeps it for itself, as a path.
    pub hidden: bool,
    /// What stands on it, or on the disk that it is a part of.
    pub holders: LookedAt<Vec<String>>,
    /// Its partitions; for a partition others that lie on the same sectors.
    pub parts: LookedAt<Vec<String>>,
    /// Whether somebody claims it: a mount in any namespace, swap, an array.
    pub claimed: LookedAt<bool>,
    /// Processes that have it open.
    pub openers: LookedAt<Vec<String>>,
    /// What the kernel has over it without a claim.
    pub exports: LookedAt<Vec<String>>,
    pub mentions: LookedAt<Vec<String>>,
    pub known_by: LookedAt<KnownBy>,
}

impl DeviceFindings {
    /// Whether somebody has it open who may only be looking at it, as udev does when it appears.
    pub fn may_pass(&self) -> bool {
        self.claimed == Ok(true) || self.openers.as_ref().is_ok_and(|all| !all.is_empty())
    }
}

/// Where a device is in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePlace {
    pub number: u64,
    pub name: String,
    home: PathBuf,
    /// The directory of the disk that it is or is a part of.
    disk: PathBuf,
}

impl DevicePlace {
    /// That of a number; the error is a sentence.
    pub fn of(number: u64) -> Result<Self, String> {
        let link = format!(
            "/sys/dev/block/{}:{}",
            rustix::fs::major(number),
            rustix::fs::minor(number)
        );
        let home = fs::canonicalize(&link).map_err(|e| format!("cannot find it in sysfs: {e}"))?;
        let is_part = is_partition(&home)?;
        let disk = if is_part {
            home.parent().unwrap_or(&home).to_owned()
        } else {
            home.clone()
        };
        let name = home
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            number,
            name,
            home,
            disk,
        })
    }

    /// Whether it is a partition.
    pub fn is_part(&self) -> bool {
        self.home != self.disk
    }

    /// The kernel name of the disk that it is or is a part of.
    pub fn disk_name(&self) -> String {
        self.disk
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// Its node, as the kernel names it.
    pub fn node(&self) -> String {
        format!("/dev/{}", self.name.replace('!', "/"))
    }

    /// What the kernel counts up with every new disk; empty before Linux 5.15.
    pub fn sequence(&self) -> String {
        fs::read_to_string(self.disk.join("diskseq"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    /// Where it begins on its disk and how large it is, in bytes.
    pub fn extent(&self) -> LookedAt<(u64, u64)> {
        let start = if self.is_part() {
            number(&self.home.join("start"))?
        } else {
            0
        };
        Ok((start * SECTOR, number(&self.home.join("size"))? * SECTOR))
    }

    pub fn known_by(&self) -> LookedAt<KnownBy> {
        known_by(&self.disk_name(), &plates()).map_err(str::to_owned)
    }

    /// Looks at everything, with the device open.
    pub fn look(&self, held: &OwnedFd) -> Result<DeviceFindings, String> {
        let node = rustix::fs::fstat(held).map_err(|e| format!("cannot look at it: {e}"))?;
        let flag = |path: PathBuf| Ok(number(&path)? != 0);
        let numbers = self.numbers();
        let of_numbers =
            |look: fn(&[u64]) -> LookedAt<Vec<String>>| numbers.clone().and_then(|all| look(&all));
        let mentions = || Ok(mention::mentions(&mention::files()?, &self.names()?));
        Ok(DeviceFindings {
            owner: node.st_uid,
            is_open_to_all: node.st_mode & 0o002 != 0,
            size: self.extent().map(|(_, size)| size),
            read_only: flag(self.home.join("ro")),
            removable: flag(self.disk.join("removable")),
            hidden: number(&self.disk.join("hidden")).is_ok_and(|hidden| hidden != 0),
            holders: self.holders(),
            parts: self.parts(),
            claimed: is_claimed(held).map_err(|e| format!("O_EXCL: {e}")),
            openers: of_numbers(users::openers),
            exports: of_numbers(users::exports),
            mentions: mentions(),
            known_by: self.known_by(),
        })
    }

    /// Who came to use it, or what it was divided into; `None` where nobody did. The words follow
    /// its name, and an error is for a no like any other.
    pub fn company(&self) -> LookedAt<Option<String>> {
        let openers = users::openers(&self.numbers()?)?;
        let lists = [
            ("has partitions", self.parts()?),
            ("is in use by", self.holders()?),
            ("is open in", openers),
        ];
        let found = lists.into_iter().find(|(_, all)| !all.is_empty());
        Ok(found.map(|(does, all)| format!("{does}: {}", all.join(", "))))
    }

    /// The numbers by which it is reached: its own, and that of its disk.
    fn numbers(&self) -> LookedAt<Vec<u64>> {
        let mut all = vec![self.number];
        if self.is_part() {
            let text = text(&self.disk.join("dev"))?;
            let (major, minor) = text
                .split_once(':')
                .ok_or("sysfs shows no number of the disk")?;
            let of = |word: &str| {
                word.parse::<u32>()
                    .map_err(|e| format!("a device number: {e}"))
            };
            all.push(rustix::fs::makedev(of(major)?, of(minor)?));
        }
        Ok(all)
    }

    fn holders(&self) -> LookedAt<Vec<String>> {
        let mut all = names(&self.home.join("holders"))?;
        if self.is_part() {
            all.extend(names(&self.disk.join("holders"))?);
        }
        Ok(all)
    }

    /// The partitions on the same sectors.
    fn parts(&self) -> LookedAt<Vec<String>> {
        let (start, size) = self.extent()?;
        let mut found = Vec::new();
        for name in names(&self.disk)?
            .into_iter()
            .filter(|name| *name != self.name)
        {
            let home = self.disk.join(&name);
            if !is_partition(&home)? {
                continue;
            }
            let (from, length) = (
                number(&home.join("start"))? * SECTOR,
                number(&home.join("size"))? * SECTOR,
            );
            if from < start + size && start < from + length {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Everything that it is called.
    fn names(&self) -> LookedAt<DeviceNames> {
        let numbers = self.numbers()?;
        let (mut links, mut resolved) = (BTreeSet::new(), BTreeSet::new());
        for directory in names("/dev/disk".as_ref()).unwrap_or_default() {
            let home = Path::new("/dev/disk").join(&directory);
            for name in names(&home)? {
                let path = home.join(&name);
                let leads = rustix::fs::stat(&path).map(|found| found.st_rdev);
                if leads.is_ok_and(|number| numbers.contains(&number)) {
                    links.insert(path.to_string_lossy().into_owned());
                }
                if directory.starts_with("by-part") {
                    resolved.insert(name);
                }
            }
        }
        let plate = plates()
            .into_iter()
            .find(|plate| plate.name == self.disk_name());
        let words = plate.map(|plate| [plate.serial, plate.wwn].into_iter().flatten().collect());
        let part = self
            .is_part()
            .then(|| text(&self.home.join("partition")))
            .transpose()?;
        let disk = format!("/dev/{}", self.disk_name().replace('!', "/"));
        Ok(DeviceNames {
            node: self.node(),
            part_of: part.map(|number| (disk, number)),
            links,
            words: words.unwrap_or_default(),
            resolved,
        })
    }
}

/// Opens a device by the kernel's own name for it, for reading; the error is a sentence. A link,
/// and a node that somebody made elsewhere, is refused: it could lead to another device the next
/// time.
pub fn open(path: &str) -> Result<(OwnedFd, DevicePlace), String> {
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
            let leads = fs::canonicalize(path)
                .map(|to| crate::text::safe(to.as_os_str().as_encoded_bytes()));
            let leads = leads.unwrap_or_else(|_| "the device itself".to_owned());
            return Err(format!(
                "{path} is a link; name the device where it leads: {leads}"
            ));
        }
        _ => return Err(format!("{path} is not a block device")),
    }
    let device = DevicePlace::of(found.st_rdev).map_err(|why| format!("{path}: {why}"))?;
    if device.node() != path {
        return Err(format!(
            "{path} is not the kernel's own name for it; name {}",
            device.node()
        ));
    }
    let held = again(&place, OFlags::RDONLY).map_err(cannot)?;
    Ok((held, device))
}

/// Opens exactly the same device once more.
pub fn again(held: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    rustix::fs::open(
        path,
        flags | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Whether somebody claims it; the claim is tried and given up at once.
pub fn is_claimed(held: &OwnedFd) -> Result<bool, Errno> {
    match again(held, OFlags::RDONLY | OFlags::EXCL) {
        Ok(_) => Ok(false),
        Err(Errno::BUSY) => Ok(true),
        Err(e) => Err(e),
    }
}

/// Whether something in a disk's directory in sysfs is a partition.
fn is_partition(home: &Path) -> LookedAt<bool> {
    match fs::metadata(home.join("partition")) {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(e) => Err(format!("{}: {e}", home.display())),
    }
}

fn text(path: &Path) -> LookedAt<String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.trim().to_owned())
}

fn number(path: &Path) -> LookedAt<u64> {
    text(path)?
        .parse()
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn names(directory: &Path) -> LookedAt<Vec<String>> {
    let told = |e: std::io::Error| format!("{}: {e}", directory.display());
    let entries = fs::read_dir(directory).map_err(told)?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .map_err(told)
    };
    entries.map(name).collect()
}
