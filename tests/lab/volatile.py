"""nbdkit plugin: a disk whose write cache is lost when the power goes. For tests/lab/drill.

Writes stay in memory until a FLUSH, or carry FUA. When the client goes away that is the power cut: `keep=nothing` drops all
that was not flushed, `keep=SEED` writes a random half of its sectors, as a real cache does that writes back out of order and
is torn between two sectors. Usage: nbdkit -f -U SOCKET python volatile.py file=IMAGE keep=nothing

With `log=PATH` requests are appended there in the format of tests/crash-states/write_log.py, in the order in which they end;
`base=BYTES` is where this disk begins among several that share the log.
"""
import os
import random
import struct
import sys

import nbdkit

API_VERSION = 2
SECTOR = 512
FLUSH, FUA = 1, 2
settings = {"file": None, "keep": "nothing", "log": None, "base": "0"}
cache = {}  # number of a sector -> its bytes
counts = {"writes": 0, "flushes": 0}


def config(key, value):
    if key not in settings:
        raise RuntimeError(f"unknown parameter {key}")
    settings[key] = value


def thread_model():
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def open(readonly):
    return os.open(settings["file"], os.O_RDWR)


def append_to_log(flags, offset, data=b""):
    if settings["log"] is None:
        return
    head = struct.pack("<QQQQ", (int(settings["base"]) + offset) // SECTOR, len(data) // SECTOR, flags, 0)
    # One write to a file that is open for appending: the disks take turns.
    log = os.open(settings["log"], os.O_WRONLY | os.O_APPEND)
    try:
        os.write(log, head.ljust(SECTOR, b"\0") + data)
    finally:
        os.close(log)


def get_size(fd):
    return os.fstat(fd).st_size


def can_flush(fd):
    return True


def can_fua(fd):
    return nbdkit.FUA_NATIVE


def pread(fd, buf, offset, flags):
    data = bytearray(os.pread(fd, len(buf), offset))
    for at in range(0, len(buf), SECTOR):
        cached = cache.get((offset + at) // SECTOR)
        if cached is not None:
            data[at:at + SECTOR] = cached
    buf[:] = data


def pwrite(fd, buf, offset, flags):
    counts["writes"] += 1
    durable = flags & nbdkit.FLAG_FUA
    append_to_log(FUA if durable else 0, offset, bytes(buf))
    if durable:
        os.pwrite(fd, buf, offset)
    for at in range(0, len(buf), SECTOR):
        sector = (offset + at) // SECTOR
        if durable:
            cache.pop(sector, None)
        else:
            cache[sector] = bytes(buf[at:at + SECTOR])


def flush(fd, flags):
    counts["flushes"] += 1
    append_to_log(FLUSH, 0)
    for sector, data in cache.items():
        os.pwrite(fd, data, sector * SECTOR)
    cache.clear()


def close(fd):
    kept = 0
    if settings["keep"] != "nothing":
        dice = random.Random(int(settings["keep"]))
        for sector in sorted(cache):
            if dice.random() < 0.5:
                os.pwrite(fd, cache[sector], sector * SECTOR)
                kept += 1
    print(f"power cut: {len(cache)} sectors were not flushed, {kept} of them kept, {counts}", file=sys.stderr, flush=True)
    cache.clear()
    os.close(fd)
