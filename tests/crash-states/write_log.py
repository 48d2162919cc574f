"""Logs of block writes in the format of dm-log-writes, which QEMU's blklogwrites writes as well.

Reference: Documentation/admin-guide/device-mapper/log-writes.rst of the kernel. A recording starts on a disk of zeros. Its
first entry is a mark with the description of the disk in JSON; `ack N` marks say which commits were acknowledged by then.
Of several disks each has its part of the offsets, and a flush is of the disk that its offset names.
"""
import json, lzma, struct
from typing import NamedTuple

MAGIC = 0x6A736677736872
SUPER = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
SECTOR = 512

PAGE = 8192
PAGE_MAGIC = b"WALDRILL"
PAGE_HEAD = struct.Struct("<8sQQ")
BLOCK = 4096
HALF_MAGIC = b"half a page of walwise drill\0\0\0\0"
HALF = struct.Struct("<32sQQQ")


class Entry(NamedTuple):
    """One request; a discard is a write of zeros."""
    flags: int
    offset: int
    data: bytes

    def disk(self, size):
        """The number of the disk, of several of that size."""
        return self.offset // size

    @property
    def is_write(self):
        return len(self.data) > 0 and not self.flags & MARK

    def acknowledged(self):
        """The number of an `ack` mark."""
        if self.flags & MARK and self.data.startswith(b"ack "):
            return int(self.data.split()[1])
        return None


def mark(text):
    return Entry(MARK, 0, text.encode())


def parse(log):
    """The entries of a log. A last entry that the end of the file cuts off is left out."""
    magic, version, count, size = SUPER.unpack_from(log)
    if magic != MAGIC or version != 1:
        raise ValueError("not a log of dm-log-writes")
    entries, at = [], size
    for _ in range(count):
        if at + size > len(log):
            break
        sector, sectors, flags, data_bytes = ENTRY.unpack_from(log, at)
        at += size
        length = data_bytes if flags & MARK else sectors * size
        if flags & DISCARD:
            entries.append(Entry(flags, sector * size, bytes(length)))
            continue
        data = bytes(log[at:at + length])
        if len(data) < length:
            break
        at += -(-length // size) * size
        if flags & FLUSH and data:
            entries.append(Entry(FLUSH, sector * size, b""))
            flags &= ~FLUSH
        entries.append(Entry(flags, sector * size, data))
    return entries


def super_block(count):
    return pad(SUPER.pack(MAGIC, 1, count, SECTOR))


def pad(data):
    return data + bytes(-len(data) % SECTOR)


def format_log(entries):
    """The entries as a log with sectors of 512 bytes."""
    parts = [super_block(len(entries))]
    for entry in entries:
        is_mark, is_discard = entry.flags & MARK, entry.flags & DISCARD
        sectors = 0 if is_mark else len(entry.data) // SECTOR
        parts.append(pad(ENTRY.pack(entry.offset // SECTOR, sectors, entry.flags, len(entry.data) if is_mark else 0)))
        if not is_discard:
            parts.append(pad(entry.data))
    return b"".join(parts)


# Pages of `walwise drill write` are noise that their head determines (fill_page in crates/measure/src/drill.rs).

def page(run, number, cache={}):
    """The page of a commit."""
    if (run, number) not in cache:
        every = (1 << 64) - 1
        words = [int.from_bytes(PAGE_MAGIC, "little"), run, number]
        start = run ^ (number * 0x9E3779B97F4A7C15 & every)
        for place in range(3, PAGE // 8):
            z = start ^ (place * 0xBF58476D1CE4E5B9 & every)
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & every
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB & every
            words.append(z ^ (z >> 31))
        cache[run, number] = struct.pack(f"<{len(words)}Q", *words)
    return cache[run, number]


def halves(entries):
    """Blocks of 4 KiB that are half a page of some commit, with what names them: a file system may write them apart."""
    runs, newest = set(), 0
    for entry in entries:
        newest = max(newest, entry.acknowledged() or 0)
        at = entry.data.find(PAGE_MAGIC)
        if 0 <= at <= len(entry.data) - PAGE_HEAD.size:
            runs.add(PAGE_HEAD.unpack_from(entry.data, at)[1])
    return {page(run, number)[half * BLOCK:(half + 1) * BLOCK]: HALF.pack(HALF_MAGIC, run, number, half)
            for run in runs for number in range(1, newest + 2) for half in (0, 1)}


def replace_noise(data, names):
    """The write with halves of pages replaced by their names, so that it compresses."""
    if not data.strip(b"\0"):
        return data
    blocks = [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)]
    return b"".join(names[block].ljust(BLOCK, b"\0") if block in names else block for block in blocks)


def restore_noise(data):
    if HALF_MAGIC not in data:
        return data
    result = bytearray(data)
    for at in range(0, len(data), BLOCK):
        if data[at:at + len(HALF_MAGIC)] == HALF_MAGIC:
            _, run, number, half = HALF.unpack_from(data, at)
            result[at:at + BLOCK] = page(run, number)[half * BLOCK:(half + 1) * BLOCK]
    return bytes(result)


def compress(entries):
    names = halves(entries)
    bare = [entry._replace(data=replace_noise(entry.data, names)) for entry in entries]
    return lzma.compress(format_log(bare), preset=9 | lzma.PRESET_EXTREME)


def decompress(data):
    """The entries of a log that may be compressed."""
    if data.startswith(SUPER.pack(MAGIC, 1, 0, 0)[:8]):
        return parse(data)
    return [entry._replace(data=restore_noise(entry.data)) for entry in parse(lzma.decompress(data))]


def save(path, entries):
    with open(path, "wb") as file:
        file.write(compress(entries))


def load(path):
    """The description of a recording's disk, and all its entries."""
    with open(path, "rb") as file:
        entries = decompress(file.read())
    return json.loads(entries[0].data), entries
