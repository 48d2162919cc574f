"""nbdkit plugin: a disk whose write cache is lost when the power goes. For tests/lab/drill.

Writes stay in memory until a FLUSH, or carry FUA. When the client goes away that is the power cut: `keep=nothing` drops all
that was not flushed, `keep=SEED` writes a random half of its sectors, as a real cache does that writes back out of order and
is torn between two sectors. Usage: nbdkit -f -U SOCKET python volatile.py file=IMAGE keep=nothing
"""
import os
import random
import sys

import nbdkit

API_VERSION = 2
SECTOR = 512
settings = {"file": None, "keep": "nothing"}
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
