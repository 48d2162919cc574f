"""Records what a file system writes in a guest of the lab (tests/lab), under a kernel of Debian.

The guest's disk lies above QEMU's blklogwrites. A request that completes while a flush is under way is logged before the
flush: the states in which it is missing all the same are not tried.
"""
import os, re, sys

import record, write_log

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from powercut import Guest, built

SIZE = 400 << 20
# What tests/lab/guest/drill.sh gives the file system; sfdisk aligns to 1 MiB.
START, LENGTH = 1 << 20, 380 << 20


class LoggedDisk:
    """A disk of zeros whose requests are logged, for a guest."""

    def __init__(self, home):
        self.log, self.image = (os.path.join(home, name) for name in ("crash-log", "crash-disk"))
        for path in (self.log, self.image):
            open(path, "wb").close()
        os.truncate(self.image, SIZE)

    def drives(self, device):
        return ["-blockdev", f"driver=file,node-name=disk,filename={self.image}",
                "-blockdev", f"driver=file,node-name=log,filename={self.log}",
                "-blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log,log-sector-size=512,log-super-update-interval=1",
                "-device", f"{device},drive=logged,serial=DRILL-0"]


def record_in_guest(series, configuration, out, walwise, commits, method, segments, physical):
    """Boots a guest with a configuration of tests/lab/drills.sh and cuts its power when the commits are acknowledged."""
    home = built(series, f"crash-{series}", walwise)
    disk = LoggedDisk(home)
    words = {"drill": configuration, "step": "record", "disks": 1, "ways": f"{method}:{segments}"}
    device = f"virtio-blk-pci,write-cache=on,physical_block_size={physical}"
    guest = Guest(home, disk, device, words, 1)
    try:
        guest.until(lambda _: f"ack {commits}\n" in guest.logged()[0], f"{commits} commits are acknowledged")
    finally:
        guest.cut()
    physical_bytes, kernel = re.search(r"^physical (\d+) of (\S+)", guest.said(), re.M).groups()
    with open(disk.log, "rb") as file:
        raw = file.read()
    description = {"fs": configuration.split("-")[0], "size": LENGTH, "physical": int(physical_bytes), "kernel": kernel}
    write_log.save(out, record.with_marks(raw, START + LENGTH, description, START))
