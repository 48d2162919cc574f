//! A disk for a trial, held open and locked: it is proven free before anything is written,
//! checked before every cell, and cleared at the end.
//!
//! While the disk is open, the kernel gives its number to no other disk. mkfs and mount get the
//! open disk by its path in /proc.
//!
//! File systems stay within the extent. mkfs.xfs also clears the device's last 128 KiB, so the
//! last MiB belongs to the trial too. It is checked like the extent and holds the mark of the
//! trial.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::ops::ControlFlow::{Break, Continue};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::fs::{FileType, FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::device_findings::{BlockDevice, is_claimed, open_device_by_kernel_name};
use super::disk_id::DiskId;
use super::erase_refusal::erase_refusal_by_findings;
use super::trial_mark::{
    MARK_BYTES, RESERVED_END_BYTES, SUPERBLOCK_BYTES, TrialId, TrialMark, Uuid, superblock_uuids,
    uuid_text,
};
use super::{BEGINNING_BYTES, find_foreign_signatures};
use crate::host::TrialTool;
use crate::probes::pwrite_all;
use crate::safe_path::random_u64;
use crate::settings::NewFilesystem;
use crate::subprocess::Channel;
use crate::trial_runner::blank::{BlankPattern, first_nonblank_offset, zero_range_durably};
use crate::trial_runner::extent::{Extent, disk_mkfs_args, run_trial_tool};
use crate::trial_runner::{TrialEvent, proc_fd_path, reopen, retry};

/// Time that other programs may have the device open, as udev does when a device appears, before
/// the device counts as used.
const USE_TIMEOUT: Duration = Duration::from_secs(5);

/// The disk that the user agreed to erase, with its properties at the time of that agreement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseTarget {
    pub node: String,
    pub number: u64,
    /// Value of `diskseq`, which increases with every new disk; empty before Linux 5.15.
    pub sequence: String,
    /// Offset from the beginning of the disk, and size, in bytes.
    pub extent: (u64, u64),
    pub known_by: DiskId,
}

impl EraseTarget {
    /// The error is a complete sentence.
    fn read(node: &str, device: &BlockDevice) -> Result<Self, String> {
        Ok(Self {
            node: node.to_owned(),
            number: device.number,
            sequence: device.diskseq(),
            known_by: device.disk_id().map_err(|why| format!("{node} {why}"))?,
            extent: device
                .offset_and_size()
                .map_err(|why| format!("{node} has an unknown size: {why}"))?,
        })
    }
}

#[derive(Debug)]
pub struct InspectedDisk {
    pub target: EraseTarget,
    pub leftover_mark: Option<TrialMark>,
    /// Reason why the leftovers of an earlier trial must not be cleared; `None` if clearing is
    /// allowed.
    pub clear_refusal: Option<&'static str>,
    descriptor: OwnedFd,
    device: BlockDevice,
}

impl InspectedDisk {
    /// Errors are complete sentences.
    pub fn inspect(path: &str) -> Result<Self, String> {
        let (held, place) = open_device_by_kernel_name(path)?;
        let target = EraseTarget::read(path, &place)?;
        let size = target.extent.1;
        let read = |at, length| {
            read_exact_at(&held, at, length).map_err(|e| format!("cannot read {path}: {e}"))
        };
        let left = match size.checked_sub(RESERVED_END_BYTES) {
            Some(at) => TrialMark::decode(&read(at, MARK_BYTES)?),
            None => None,
        };
        let clear_refusal = match &left {
            Some(mark) => mark.clear_refusal(
                &target.known_by,
                size,
                &superblock_uuids(&read(0, SUPERBLOCK_BYTES)?),
            ),
            None => None,
        };
        Ok(Self {
            target,
            leftover_mark: left,
            clear_refusal,
            descriptor: held,
            device: place,
        })
    }

    /// Reason why the findings forbid erasing the disk now; `None` if they allow it. A program that
    /// only probes the disk gets time to finish.
    pub fn erase_refusal_after_wait(&self, bytes: u64) -> Option<String> {
        let refusal = retry(USE_TIMEOUT, Duration::from_millis(200), || {
            let found = match self.device.inspect_for_erasing(&self.descriptor) {
                Ok(found) => found,
                Err(why) => return Break(Some(why)),
            };
            match erase_refusal_by_findings(&found, bytes) {
                Some(why) if found.may_be_in_transient_use() => Continue(Some(why)),
                refusal => Break(refusal),
            }
        });
        let why = refusal?;
        Some(format!("{} {why}", self.target.node))
    }
}

pub struct LockedDisk {
    descriptor: OwnedFd,
    device: BlockDevice,
    target: EraseTarget,
    bytes: u64,
    trial_id: TrialId,
    mkfs_count: Cell<u16>,
    last_uuid: RefCell<Option<Uuid>>,
    /// True if the check after an mkfs failed; then only [`LockedDisk::clear`] may write.
    is_doubtful: Cell<bool>,
}

impl LockedDisk {
    /// Locks a disk that is proven free: the disk is inspected again, and every part that the trial
    /// will write is read first. `tell` gets the bytes read so far; an error from `tell` ends the
    /// read. The error is a complete sentence.
    pub fn lock_free_disk(
        order: &EraseTarget,
        bytes: u64,
        tell: &mut dyn FnMut(u64) -> Result<(), Errno>,
    ) -> Result<Self, String> {
        let disk = Self::reinspect_and_lock(order, bytes, TrialId::from_random(random_u64()))?;
        // The disk stays claimed while it is read and marked, so that no other program can use it.
        let claim = disk.open_exclusively()?;
        let end = order.extent.1;
        for part in [end - RESERVED_END_BYTES..end, 0..bytes] {
            match first_nonblank_offset(&disk.descriptor, part, BlankPattern::ZerosOrOnes, tell) {
                Ok(None) => {}
                Ok(Some(at)) => {
                    return Err(format!(
                        "{} is not free: it holds data at byte {at}; nothing was written",
                        order.node
                    ));
                }
                Err(e) => {
                    return Err(format!(
                        "cannot read {}: {e}; nothing was written",
                        order.node
                    ));
                }
            }
        }
        disk.check_no_users_or_foreign_data()?;
        disk.write_mark(true)?;
        drop(claim);
        Ok(disk)
    }

    /// Locks a disk with leftovers of an earlier trial, in order to clear them. The error is a
    /// complete sentence.
    pub fn lock_disk_with_leftovers(order: &EraseTarget) -> Result<Self, String> {
        let shown = InspectedDisk::inspect(&order.node)?;
        let mark = shown
            .leftover_mark
            .as_ref()
            .ok_or_else(|| format!("there is no trial data on {}", order.node))?;
        if let Some(why) = shown.clear_refusal {
            return Err(format!("{} is not cleared: {why}", order.node));
        }
        let disk = Self::reinspect_and_lock(order, mark.bytes, mark.trial_id)?;
        // The first read was before the lock, so another process could have changed the mark since.
        let again = disk.read_bytes_at(order.extent.1 - RESERVED_END_BYTES, MARK_BYTES)?;
        if TrialMark::decode(&again).as_ref() != Some(mark) {
            return Err(format!(
                "{} changed while it was checked; nothing was written",
                order.node
            ));
        }
        disk.check_no_users_or_foreign_data()?;
        let blank = || {
            first_nonblank_offset(
                &disk.descriptor,
                0..SUPERBLOCK_BYTES as u64,
                BlankPattern::ZerosOrOnes,
                &mut |_| Ok(()),
            )
        };
        if superblock_uuids(&disk.read_bytes_at(0, SUPERBLOCK_BYTES)?).is_empty()
            && blank() != Ok(None)
        {
            return Err(format!(
                "{} holds data that no trial is known to have written, so it is not cleared; inspect the disk and clear it manually",
                order.node
            ));
        }
        Ok(disk)
    }

    fn reinspect_and_lock(order: &EraseTarget, bytes: u64, seal: TrialId) -> Result<Self, String> {
        let shown = InspectedDisk::inspect(&order.node)?;
        if shown.target != *order {
            return Err(format!(
                "{} is a different disk now; nothing was written",
                order.node
            ));
        }
        if let Some(why) = shown.erase_refusal_after_wait(bytes) {
            return Err(format!("{why}; nothing was written"));
        }
        let InspectedDisk {
            descriptor: held,
            device: place,
            target: order,
            ..
        } = shown;
        // The device is opened for writing only after all checks.
        let held =
            reopen(&held, OFlags::RDWR).map_err(|e| format!("cannot open {}: {e}", order.node))?;
        lock_device(&held, &order.node)?;
        let disk = Self {
            descriptor: held,
            device: place,
            target: order,
            bytes,
            trial_id: seal,
            mkfs_count: Cell::new(0),
            last_uuid: RefCell::new(None),
            is_doubtful: Cell::new(false),
        };
        disk.check_identity()?;
        Ok(disk)
    }

    /// Checks that the disk is still the same, is unused, and holds only data of this trial. The
    /// error is a complete sentence.
    fn check_unchanged_and_unused(&self) -> Result<(), String> {
        if self.is_doubtful.get() {
            return Err(format!(
                "{} returned unexpected data after a write, so the trial stopped writing to it",
                self.target.node
            ));
        }
        self.check_identity()?;
        self.wait_until_unclaimed()?;
        self.check_no_users_or_foreign_data()?;
        let found = superblock_uuids(&self.read_bytes_at(0, SUPERBLOCK_BYTES)?);
        let last = self.last_uuid.borrow();
        let has_last = last.as_ref().is_none_or(|last| found.contains(last));
        if has_last && found.iter().all(|uuid| self.trial_id.owns_uuid(uuid)) {
            return Ok(());
        }
        Err(format!(
            "{} holds data that this trial did not write, so the trial stopped writing to it",
            self.target.node
        ))
    }

    fn check_identity(&self) -> Result<(), String> {
        let EraseTarget { node, number, .. } = &self.target;
        let found =
            rustix::fs::fstat(&self.descriptor).map_err(|e| format!("cannot stat {node}: {e}"))?;
        let is_it = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
            && found.st_rdev == *number;
        let place = BlockDevice::from_number(*number).map_err(|why| format!("{node}: {why}"))?;
        let same =
            place == self.device && EraseTarget::read(node, &place).as_ref() == Ok(&self.target);
        if is_it && same {
            Ok(())
        } else {
            Err(format!("{node} is no longer the disk of this trial"))
        }
    }

    /// Checks that O_EXCL succeeds, which means that nothing has claimed the device. The check does
    /// not keep it open, because mkfs and mount claim it themselves.
    fn wait_until_unclaimed(&self) -> Result<(), String> {
        let node = &self.target.node;
        // The kernel may release an unmounted device a moment later, so the claim is tried again.
        retry(
            USE_TIMEOUT,
            Duration::from_millis(20),
            || match is_claimed(&self.descriptor) {
                Ok(false) => Break(Ok(())),
                Ok(true) => Continue(Err(format!("{node} is in use by another program"))),
                Err(e) => Break(Err(format!("cannot open {node}: {e}"))),
            },
        )
    }

    fn check_no_users_or_foreign_data(&self) -> Result<(), String> {
        let EraseTarget { node, extent, .. } = &self.target;
        // udev opens a device for a moment after a writer has closed it, so the check is repeated.
        retry(USE_TIMEOUT, Duration::from_millis(50), || {
            match self.device.describe_users() {
                Ok(None) => Break(Ok(())),
                Ok(Some(who)) => Continue(Err(format!("{node} {who}"))),
                Err(why) => Break(Err(format!("{node} may be in use: {why}"))),
            }
        })?;
        let length = BEGINNING_BYTES.min(usize::try_from(extent.1).unwrap_or(BEGINNING_BYTES));
        let last = self.read_bytes_at(
            extent.1 - RESERVED_END_BYTES,
            usize::try_from(RESERVED_END_BYTES).unwrap_or(MARK_BYTES),
        )?;
        let found = find_foreign_signatures(extent.1, self.read_bytes_at(0, length)?, last);
        if found.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{node} holds data that this trial did not write: {}",
            found.join(", ")
        ))
    }

    /// Opens the device with O_EXCL, which claims it until the result is dropped.
    fn open_exclusively(&self) -> Result<OwnedFd, String> {
        self.wait_until_unclaimed()?;
        reopen(&self.descriptor, OFlags::RDONLY | OFlags::EXCL)
            .map_err(|e| format!("cannot open {} exclusively: {e}", self.target.node))
    }

    /// With `is_changing`, the mark records that a superblock may be missing until the next mark.
    fn write_mark(&self, is_changing: bool) -> Result<(), String> {
        let disk = self.target.known_by.as_str().to_owned();
        let mark = TrialMark {
            bytes: self.bytes,
            trial_id: self.trial_id,
            is_changing,
            disk,
        }
        .encode();
        let at = self.target.extent.1 - RESERVED_END_BYTES;
        let done = pwrite_all(&self.descriptor, &mark, at)
            .and_then(|()| rustix::fs::fsync(&self.descriptor));
        done.map_err(|e| format!("cannot write the trial mark to {}: {e}", self.target.node))
    }

    /// Must be called before mkfs; returns the UUID of the new file system. The error is a complete
    /// sentence.
    fn begin_mkfs_and_return_uuid(&self) -> Result<String, String> {
        self.check_unchanged_and_unused()?;
        self.write_mark(true)?;
        self.mkfs_count.set(
            self.mkfs_count
                .get()
                .checked_add(1)
                .ok_or("the trial has created the maximum number of file systems")?,
        );
        let uuid = self.trial_id.filesystem_uuid(self.mkfs_count.get());
        self.last_uuid.replace(None);
        Ok(uuid_text(&uuid))
    }

    /// Must be called after mkfs. An error is a complete sentence and ends the trial.
    fn check_and_mark_after_mkfs(&self) -> Result<(), String> {
        let done = self.verify_superblock_and_write_mark();
        self.is_doubtful.set(done.is_err());
        done
    }

    fn verify_superblock_and_write_mark(&self) -> Result<(), String> {
        let uuid = self.trial_id.filesystem_uuid(self.mkfs_count.get());
        if !superblock_uuids(&self.read_bytes_at(0, SUPERBLOCK_BYTES)?).contains(&uuid) {
            return Err(format!(
                "{} does not hold the file system that was just created",
                self.target.node
            ));
        }
        self.last_uuid.replace(Some(uuid));
        self.check_unchanged_and_unused()?;
        self.write_mark(false)
    }

    /// Clears the extent, reads it back, and clears the mark last. `tell` gets the bytes cleared so
    /// far. The error is a complete sentence.
    fn clear_extent_and_mark(&self, tell: &mut dyn FnMut(u64)) -> Result<(), String> {
        // A failed check after an mkfs must not prevent clearing; the other checks still apply.
        self.is_doubtful.set(false);
        self.check_unchanged_and_unused()?;
        let claim = self.open_exclusively()?;
        self.write_mark(true)?;
        let told = |e: Errno| format!("cannot clear {}: {e}", self.target.node);
        zero_range_durably(&self.descriptor, 0..self.bytes, tell).map_err(told)?;
        let left = first_nonblank_offset(
            &self.descriptor,
            0..self.bytes,
            BlankPattern::Zeros,
            &mut |_| Ok(()),
        )
        .map_err(told)?;
        if let Some(at) = left {
            return Err(format!(
                "{} was cleared but still holds data at byte {at}",
                self.target.node
            ));
        }
        let end = self.target.extent.1;
        let done = zero_range_durably(&self.descriptor, end - RESERVED_END_BYTES..end, &mut |_| ())
            .map_err(told);
        drop(claim);
        done
    }

    fn read_bytes_at(&self, at: u64, length: usize) -> Result<Vec<u8>, String> {
        read_exact_at(&self.descriptor, at, length)
            .map_err(|e| format!("cannot read {}: {e}", self.target.node))
    }
}

impl Extent for LockedDisk {
    fn check_still_usable(&self) -> Result<(), String> {
        self.check_unchanged_and_unused()
    }

    fn make_filesystem(
        &self,
        filesystem: NewFilesystem,
        maker: TrialTool,
        options: &[String],
    ) -> Result<(), String> {
        let path = proc_fd_path(&self.descriptor)?;
        let uuid = self.begin_mkfs_and_return_uuid()?;
        let (more, end) = disk_mkfs_args(filesystem, &uuid, self.bytes, path);
        run_trial_tool(maker, &[options, &more, &end].concat())?;
        self.check_and_mark_after_mkfs()
    }

    fn path_for_mount(&self) -> Result<String, String> {
        proc_fd_path(&self.descriptor)
    }

    /// O_EXCL claims the device until the result is dropped.
    fn open_device_direct(&self) -> Result<OwnedFd, Errno> {
        reopen(
            &self.descriptor,
            OFlags::RDWR | OFlags::DIRECT | OFlags::EXCL,
        )
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn preparation_or_clear_bytes(&self) -> u64 {
        self.bytes
    }

    fn device_name(&self) -> &str {
        &self.device.name
    }

    /// For a partition, this is the disk that contains it, because the kernel counts flushes per
    /// disk.
    fn flush_device_name(&self) -> String {
        self.device.disk_name()
    }

    fn clear(&self, channel: &mut Channel) -> Result<(), String> {
        self.clear_extent_and_mark(&mut |bytes| drop(channel.send(&TrialEvent::Clearing(bytes))))?;
        let _ = channel.send(&TrialEvent::Cleared);
        Ok(())
    }
}

/// Reads exactly `length` bytes. A short read is an error, because a part of a mark or
/// superblock proves nothing.
fn read_exact_at(held: &OwnedFd, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    File::from(held.try_clone()?).read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

/// Locks a device node: udev leaves a locked device alone, and nothing mounts it automatically
/// (systemd.io/BLOCK_DEVICE_LOCKING). Waits for udev, which may be probing the device.
pub fn lock_device(held: &OwnedFd, named: &str) -> Result<(), String> {
    retry(
        USE_TIMEOUT,
        Duration::from_millis(20),
        || match rustix::fs::flock(held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Break(Ok(())),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                Continue(Err(format!("{named} is locked by another process")))
            }
            Err(e) => Break(Err(format!("cannot lock {named}: {e}"))),
        },
    )
}
