"""Records what a file system writes under `walwise drill write`, without a guest.

QEMU's storage daemon exports a disk of zeros over FUSE beneath its blklogwrites driver; a loop device lies above. The
daemon serves one request at a time, so the order in the log is the order on the disk. A request that is in flight while a
flush starts is logged on one side of it: the states in which a disk would have chosen the other side are not tried.
Acknowledged numbers are written to the last block of the disk, beyond the file system, and become marks.
"""
import json, os, platform, subprocess, time

import loops, write_log
from recovery import ran

RESERVED = 64 << 10
SIZES = {"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 160 << 20}
# A drill's segment has 2,048 pages; more commits would overwrite the first ones.
MOST_COMMITS = 2000


def make(kind, device, size):
    usable = size - RESERVED
    argv = {
        "ext4": ["mke2fs", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", "-b", "4096", "-t", "ext4", device, f"{usable >> 10}k"],
        "xfs": ["mkfs.xfs", "-q", "-f", "-K", "-d", f"size={usable}", device],
        "btrfs": ["mkfs.btrfs", "-q", "-f", "-K", "-b", str(usable), device],
    }[kind]
    ran(argv)


class Export:
    """A disk of zeros whose requests are logged."""

    def __init__(self, home, size):
        self.path, self.log, disk = (os.path.join(home, name) for name in ("export", "raw-log", "disk"))
        for path in (self.path, self.log, disk):
            open(path, "wb").close()
        os.truncate(disk, size)
        self.daemon = subprocess.Popen([
            "setpriv", "--pdeathsig", "KILL", "qemu-storage-daemon",
            "--blockdev", f"driver=file,node-name=disk,filename={disk}",
            "--blockdev", f"driver=file,node-name=log,filename={self.log}",
            "--blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log,log-sector-size=512",
            "--export", f"type=fuse,id=export,node-name=logged,mountpoint={self.path},writable=on"])
        end = time.monotonic() + 60
        while os.path.getsize(self.path) != size:
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise RuntimeError("qemu-storage-daemon exports nothing")
            time.sleep(0.02)

    def close(self):
        self.daemon.terminate()
        self.daemon.wait(60)


def acknowledge(disk, size, number):
    os.pwrite(disk, b"ack %d\n".ljust(4096, b"\0") % number, size - 4096)


def drill(walwise, directory, segments, method, commits, seen):
    """Runs the writer until that many commits are acknowledged."""
    writer = subprocess.Popen([walwise, "drill", "write", directory, "--segments", segments, "--method", method], stdout=subprocess.PIPE, text=True)
    try:
        for line in writer.stdout:
            if line.startswith("ack "):
                seen(int(line.split()[1]))
                if int(line.split()[1]) == commits:
                    return
        raise RuntimeError("the writer ended early")
    finally:
        writer.terminate()
        writer.wait(60)


def with_marks(raw, size, description):
    """The log with acknowledgements as marks, without other writes to the reserved area and without what mkfs zeroes again."""
    entries, disk = [write_log.mark(json.dumps(description))], bytearray(size)
    made = False
    for entry in write_log.parsed(raw):
        if entry.is_write and entry.offset >= size - RESERVED:
            if entry.data.startswith(b"ack "):
                entries.append(write_log.mark(entry.data.split(b"\n")[0].decode()))
                made = True
            continue
        area = slice(entry.offset, entry.offset + len(entry.data))
        if made or not entry.is_write or disk[area] != entry.data:
            entries.append(entry)
        if not made and entry.is_write:
            disk[area] = entry.data
    return entries


def record(home, kind, out, walwise, commits, segments="recycled", method="fdatasync", options="defaults", cache=None):
    size = SIZES[kind]
    directory = os.path.join(home, "at")
    os.makedirs(directory)
    export = Export(home, size)
    try:
        with open(export.path, "r+b", buffering=0) as disk:
            with loops.Loop(disk.fileno()) as device:
                make(kind, device, size)
                if cache:
                    with open(f"/sys/block/{os.path.basename(device)}/queue/write_cache", "w") as file:
                        file.write(cache)
                with open(f"/sys/block/{os.path.basename(device)}/queue/physical_block_size") as file:
                    physical = int(file.read())
                ran(["mount", "-t", kind, "-o", options, device, directory])
                try:
                    ran(["sync", "-f", directory])
                    acknowledge(disk.fileno(), size, 0)
                    drill(walwise, directory, segments, method, min(commits, MOST_COMMITS), lambda number: acknowledge(disk.fileno(), size, number))
                    length = os.path.getsize(export.log)
                finally:
                    ran(["umount", directory])
    finally:
        export.close()
    with open(export.log, "rb") as file:
        raw = file.read()
    description = {"fs": kind, "size": size, "physical": physical, "kernel": platform.release()}
    entries = with_marks(raw, size, description)
    # What unmounting wrote comes after the last acknowledgement; the recording ends there.
    last = max(at for at, entry in enumerate(entries) if entry.acknowledged() is not None)
    write_log.saved(out, entries[:last + 1])
    return length
