"""File systems to measure on: fresh ext4, XFS and btrfs on loop devices, gone when the block ends. Needs root."""
import contextlib, os, subprocess, tempfile

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
SIZE = 3 << 30


@contextlib.contextmanager
def mounted(kind, below):
    """A directory on a fresh file system of this kind, whose image lies in `below`."""
    with tempfile.TemporaryDirectory(dir=below) as room:
        image, point = os.path.join(room, "image"), os.path.join(room, "mount")
        with open(image, "wb") as out:
            os.posix_fallocate(out.fileno(), 0, SIZE)
        subprocess.run([*MKFS[kind], image], check=True, stdout=subprocess.DEVNULL)
        os.mkdir(point)
        subprocess.run(["mount", "-o", "loop,noatime", image, point], check=True)
        try:
            directory = os.path.join(point, "probe")
            os.mkdir(directory)
            yield directory
        finally:
            subprocess.run(["umount", point], check=True)
