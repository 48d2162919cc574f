"""File systems to measure on: fresh ext4, XFS and btrfs on loop devices, gone when the block ends. Needs root.

The loops use direct I/O, since a buffered one first writes everybody's dirty pages when it is flushed. Their images are written
whole, and mkfs leaves them so: it would discard the device otherwise, which punches the image empty.
"""
import contextlib, os, subprocess, tempfile

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}
SIZE = 3 << 30
PIECE = bytes(8 << 20)


def flushes(device):
    """Flushes that a whole disk completed (Documentation/block/stat.rst)."""
    with open(f"/sys/class/block/{device}/stat") as stat:
        return int(stat.read().split()[15])


def disk_below(path):
    """The whole disk that a directory lies on; nothing where it lies on none or on several."""
    number = os.stat(path).st_dev
    device = os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if os.path.exists(os.path.join(device, "partition")):
        device = os.path.dirname(device)
    return os.path.basename(device) if os.path.exists(os.path.join(device, "queue")) else None


@contextlib.contextmanager
def mounted(kind, below, size=SIZE):
    """A directory on a fresh file system of this kind, whose image lies in `below`, and the name of its loop."""
    with tempfile.TemporaryDirectory(dir=below) as room:
        image, point = os.path.join(room, "image"), os.path.join(room, "mount")
        with open(image, "wb") as out:
            for _ in range(size // len(PIECE)):
                out.write(PIECE)
            os.fsync(out.fileno())
        loop = subprocess.run(["losetup", "--find", "--show", "--direct-io=on", image], check=True, capture_output=True, text=True).stdout.strip()
        try:
            name = os.path.basename(loop)
            with open(f"/sys/class/block/{name}/loop/dio") as dio:
                if dio.read().strip() != "1":
                    raise SystemExit(f"{loop} refuses direct I/O on {below}")
            subprocess.run([*MKFS[kind], loop], check=True, stdout=subprocess.DEVNULL)
            if os.stat(image).st_blocks * 512 < size:
                raise SystemExit(f"mkfs.{kind} punched holes into the image")
            os.mkdir(point)
            subprocess.run(["mount", "-o", "noatime,nodiscard", loop, point], check=True)
            try:
                directory = os.path.join(point, "probe")
                os.mkdir(directory)
                yield directory, name
            finally:
                subprocess.run(["umount", point], check=True)
        finally:
            subprocess.run(["losetup", "--detach", loop], check=True)
