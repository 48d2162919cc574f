//! Notes about devices and their members.

use super::notes;
use crate::facts::Subject;

notes! {
    pub enum StorageNote {
        /// The kernel's list of block devices cannot be read.
        NoDevices { directory: &'static str, reason: String } = "{directory}: {reason}; no block device is known";
        /// More devices than have facts.
        DevicesBeyondBound { left_out: usize, first: String, bound: usize }
            = "block devices beyond the bound of {bound}: {left_out}, the first {first}; what lies on them is unknown";
        /// A partition of nothing.
        NoDisk { partition: Subject } = "{partition}: its disk is not known";
        /// The cache set of a bcache device.
        NoCacheSet { device: Subject, detail: String } = "{device}: its cache set is not known: {detail}";
        /// The members of a file system that spans devices.
        NoMembers { directory: &'static str, reason: String, fstype: &'static str }
            = "{directory}: {reason}; members of {fstype} file systems are not known";
        /// More disks than are asked.
        DisksBeyondBound { disks: usize, asked: usize } = "of {disks} disks only {asked} were asked for their caches";
        /// A disk whose answers were not read, by a mistake of ours.
        DiskUnread { disk: Subject }
            = "{disk}: reading its answers failed; its write cache, its warnings and its medium are unknown";
        /// A stack with more ways through it than are followed.
        RoutesBeyondBound { target: Subject, most: usize }
            = "{target} reaches its disks in more than {most} ways; they were judged together, each layer by its worst";
    }
}
