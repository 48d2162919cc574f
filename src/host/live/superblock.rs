//! Reads the superblock of a file system from its device, and names its features and the size of its clusters.
//!
//! No tool is run, because `dumpe2fs` and `xfs_db` make the kernel write (fsync and BLKFLSBUF on the device). One small
//! read does not. ext4 is read through the page cache: its own buffers are the device's page cache, and a direct read
//! would write out the dirty page. XFS is read with direct I/O: it has its own buffers, and a page in the device's
//! cache may be older than the disk.

mod block;
mod crc32c;
mod ext;
mod xfs;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::fcntl::OFlag;

use self::block::Unreadable;
use super::device;
use super::files::miss;
use crate::host::{Miss, MissKind, Superblock};

/// The number of bytes read of an XFS, and the alignment for direct reads on disks with the largest blocks.
const PAGE: usize = 4096;

/// The answer to [`crate::host::Question::Superblock`]: a line of features, and one with the size of a cluster, in bytes,
/// where an ext4 has any.
pub fn answer(path: &Path, kind: Superblock) -> Result<Vec<u8>, Miss> {
    let (features, cluster) = match kind {
        Superblock::Ext => {
            let device = device::open(path, OFlag::empty())?;
            twice(|| cached(&device), ext::read)?
        }
        Superblock::Xfs => {
            let device = device::open(path, OFlag::O_DIRECT)?;
            (twice(|| direct(&device), xfs::features)?, None)
        }
    };
    let cluster = cluster.map_or_else(String::new, |size| format!("cluster {size}\n"));
    Ok(format!("features {}\n{cluster}", features.join(" ")).into_bytes())
}

/// Reads and parses, once more if the checksum is wrong: the kernel may have been writing.
fn twice<T>(
    read: impl Fn() -> io::Result<Vec<u8>>,
    parse: impl Fn(&[u8]) -> Result<T, Unreadable>,
) -> Result<T, Miss> {
    let once = || read().map(|bytes| parse(&bytes)).map_err(|e| miss(&e));
    let parsed = match once()? {
        Err(Unreadable::Checksum) => once()?,
        parsed => parsed,
    };
    parsed.map_err(|why| Miss::new(MissKind::Failed, why.says()))
}

/// Reads through the page cache.
fn cached(device: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; ext::SIZE];
    let count = device.read_at(&mut bytes, ext::OFFSET)?;
    bytes.truncate(count);
    Ok(bytes)
}

/// Reads with direct I/O, into page-aligned memory.
fn direct(device: &File) -> io::Result<Vec<u8>> {
    let mut room = vec![0; 2 * PAGE];
    let start = room.as_ptr().align_offset(PAGE);
    let page = room.get_mut(start..).and_then(|rest| rest.get_mut(..PAGE)).unwrap_or_default();
    let count = device.read_at(page, 0)?;
    Ok(page.get(..count).unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_wrong_checksum_is_read_once_more() {
        let reads = Cell::new(0);
        let read = || {
            reads.set(reads.get() + 1);
            Ok(vec![reads.get()])
        };
        let good_from = |first: u8| {
            move |bytes: &[u8]| {
                if bytes[0] >= first { Ok(vec!["x".to_owned()]) } else { Err(Unreadable::Checksum) }
            }
        };
        assert_eq!(twice(read, good_from(2)).unwrap(), ["x"]);
        assert_eq!(reads.replace(0), 2);
        let miss = twice(read, good_from(3)).unwrap_err();
        assert_eq!((miss.kind, reads.replace(0)), (MissKind::Failed, 2));
        assert!(miss.detail.contains("checksum"), "{miss}");
        assert!(twice(read, |_| Err::<(), _>(Unreadable::Foreign)).is_err());
        assert_eq!(reads.get(), 1, "what is something else stays so");
    }

    #[test]
    fn what_is_no_block_device_is_not_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/dev/null"), Path::new("/proc")] {
            for kind in Superblock::ALL {
                assert_eq!(
                    answer(path, kind).unwrap_err(),
                    Miss::new(MissKind::Failed, "is not a block device")
                );
            }
        }
    }
}
