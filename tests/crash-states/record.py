"""Records what a file system writes under a workload, without a guest.

QEMU's storage daemon exports a disk of zeros over FUSE beneath its blklogwrites driver; a loop device lies above. The
daemon serves one request at a time, so the order in the log is the order on the disk. A request that is in flight while a
flush starts is logged on one side of it: the states in which a disk would have chosen the other side are not tried.
Acknowledged numbers are written to the last block of the disk, beyond the file system, and become marks.
"""
import json, os, platform, re, subprocess, time

import loops, workloads, write_log
from recovery import run_program

RESERVED = 64 << 10
HONEST = "write back"
SIZES = {"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 160 << 20}
SERVER_SIZES = {"ext4": 320 << 20, "xfs": 384 << 20, "btrfs": 512 << 20}


def set_write_cache(device, cache):
    """Makes the kernel believe in a cache. A loop device keeps that when it gets another file."""
    path = f"/sys/block/{os.path.basename(device)}/queue/write_cache"
    with open(path, "w") as file:
        file.write(cache)
    with open(path) as file:
        if file.read().strip() != cache:
            raise RuntimeError(f"{device} does not take {cache}")


def make_file_system(kind, device, size):
    usable = size - RESERVED
    argv = {
        "ext4": ["mke2fs", "-q", "-F", "-E", "nodiscard", "-b", "4096", "-t", "ext4", device, f"{usable >> 10}k"],
        "xfs": ["mkfs.xfs", "-q", "-f", "-K", "-d", f"size={usable}", device],
        "btrfs": ["mkfs.btrfs", "-q", "-f", "-K", "-b", str(usable), device],
    }[kind]
    run_program(argv)


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


def acknowledged(data):
    """The newest number in a block of acknowledgements."""
    numbers = re.findall(rb"^ack (\d+)\n", data, re.M)
    return int(numbers[-1]) if numbers else None


def with_marks(raw, description, disk_size, reserved, start=0):
    """The log of the file systems at `start` of each disk, with the acknowledgements in the reserved area of the first one as
    marks, and without what mkfs writes for nothing."""
    size = description["size"] // description.get("disks", 1)
    entries, disk, made = [write_log.mark(json.dumps(description))], bytearray(description["size"]), False
    for entry in write_log.parse(raw):
        nth = entry.disk(disk_size)
        at = entry.offset - nth * disk_size - start
        if entry.is_write and nth == 0 and at + start >= reserved:
            if (number := acknowledged(entry.data)) is not None:
                entries.append(write_log.mark(f"ack {number}"))
                made = True
            continue
        if entry.is_write and not 0 <= at <= size - len(entry.data):
            continue
        entry = entry._replace(offset=nth * size + max(at, 0))
        area = slice(entry.offset, entry.offset + len(entry.data))
        if made or not entry.is_write or disk[area] != entry.data:
            entries.append(entry)
        if not made and entry.is_write:
            disk[area] = entry.data
    # What comes after the last acknowledgement was not waited for by anybody.
    return entries[:1 + max(at for at, entry in enumerate(entries) if entry.acknowledged() is not None)]


def record(home, kind, out, workload, commits, options="defaults", cache=None, **how):
    """Records a workload until that many commits are acknowledged. `cache` is what an administrator makes the kernel believe."""
    writer = workloads.ALL[workload]
    size, directory = (SIZES if workload == "drill" else SERVER_SIZES)[kind], os.path.join(home, "at")
    os.makedirs(directory)
    export = Export(home, size)
    try:
        with open(export.path, "r+b", buffering=0) as disk, loops.Loop(disk.fileno()) as device:
            make_file_system(kind, device, size)
            set_write_cache(device, cache or HONEST)
            with open(f"/sys/block/{os.path.basename(device)}/queue/physical_block_size") as file:
                physical = int(file.read())
            run_program(["mount", "-t", kind, "-o", options, device, directory])
            try:
                run_program(["sync", "-f", directory])
                writer.write(directory, min(commits, writer.most), lambda number: acknowledge(disk.fileno(), size, number), **how)
            finally:
                run_program(["umount", directory], attempts=50)
                set_write_cache(device, HONEST)
    finally:
        export.close()
    with open(export.log, "rb") as file:
        raw = file.read()
    description = {"fs": kind, "size": size, "physical": physical, "kernel": platform.release(), "workload": workload}
    write_log.save(out, with_marks(raw, description, size, size - RESERVED))
