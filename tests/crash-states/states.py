"""The states that a power cut can leave of a log of writes.

A flush is a boundary: what its disk got before it is durable. Between two boundaries is a gap: the disk may have kept any subset of its
writes, each torn between two physical sectors. A write with FUA is durable from its own end on.
"""
import collections, hashlib, json, os, random
from typing import NamedTuple

from write_log import FLUSH, FUA, SECTOR

# Random subsets, and random subsets with torn writes, of each gap.
SUBSETS = 1000
ZEROS = bytes(SECTOR)
# Tears that a disk with larger physical sectors excludes.
BELOW = "torn below the physical sector"


class Gap(NamedTuple):
    """`first` is the entry after the boundary, `cut` the entry before which the power goes; `writes` may be missing then."""
    first: int
    cut: int
    writes: tuple
    acknowledged: int


class State(NamedTuple):
    """`missing` has pairs: the entry, and the numbers of its missing 512-byte sectors or None for all."""
    gap: Gap
    kind: str
    missing: tuple


def gaps(entries):
    """Every gap after the first acknowledgement."""
    pending, first, acknowledged, result = [], 0, None, []
    description = json.loads(entries[0].data)
    size = description["size"] // description.get("disks", 1)
    for at, entry in enumerate(entries):
        number = entry.acknowledged()
        if number is not None:
            acknowledged = number
        ends = entry.flags & (FLUSH | FUA) or at == len(entries) - 1
        if entry.is_write:
            pending.append(at)
        if ends and acknowledged is not None:
            cut = at + 1 if entry.is_write or number is not None else at
            result.append(Gap(first, cut, tuple(pending), acknowledged))
        if entry.flags & FLUSH:
            pending = [write for write in pending if entries[write].disk(size) != entry.disk(size)]
            first = pending[0] if pending else at + 1
        elif entry.flags & FUA:
            pending.pop()
    return result


def torn(entries, gap, dice, unit):
    """A random subset whose writes are torn between units."""
    missing = []
    for at in gap.writes:
        dropped = dice.random() < 0.4
        if dropped:
            missing.append((at, None))
        elif dice.random() < 0.7:
            units = range(0, len(entries[at].data), unit)
            lost = [unit_at for unit_at in units if dice.random() < 0.5]
            sectors = tuple((start + inner) // SECTOR for start in lost for inner in range(0, unit, SECTOR))
            if sectors:
                missing.append((at, sectors))
    return tuple(missing)


def gap_states(entries, nth, gap, seed, physical):
    """The states of a gap, the plainest first, then without end as often as SUBSETS says."""
    yield State(gap, "nothing", tuple((at, None) for at in gap.writes))
    if not gap.writes:
        return
    dice = random.Random(f"{seed} {nth}")

    def drawn():
        yield State(gap, "torn", torn(entries, gap, dice, physical))
        yield State(gap, "subset", tuple((at, None) for at in gap.writes if dice.random() < 0.5))
        if physical > SECTOR:
            yield State(gap, BELOW, torn(entries, gap, dice, SECTOR))
    yield from drawn()
    for at in dice.sample(gap.writes, len(gap.writes)):
        yield State(gap, "one missing", ((at, None),))
    yield State(gap, "everything", ())
    for _ in range(SUBSETS):
        yield from drawn()


def rounds(entries, seed, physical, sample=None):
    """All states: the first of each gap, then the second of each gap, and so on. With a sample only of as many gaps."""
    numbered = list(enumerate(gaps(entries)))
    if sample is not None and sample < len(numbered):
        numbered = sorted(random.Random(seed).sample(numbered, sample))
    left = [gap_states(entries, nth, gap, seed, physical) for nth, gap in numbered]
    while left:
        drawn = [(states, next(states, None)) for states in left]
        left = [states for states, state in drawn if state]
        yield [state for _, state in drawn if state]


class Image:
    """The content of a disk in a sparse file, and a digest of it that does not depend on how it came about."""

    def __init__(self, file, keys, digest=0):
        self.file, self.keys, self.digest = file, keys, digest

    @classmethod
    def zeros(cls, directory, size):
        file = os.open(directory, os.O_TMPFILE | os.O_RDWR)
        os.truncate(file, size)
        return cls(file, {})

    def preview(self):
        """The same content without a file: for the digest of what it would be."""
        return Image(None, collections.ChainMap({}, self.keys), self.digest)

    def copy(self, directory):
        """Another file with the same content, which recovery may change."""
        file = os.open(directory, os.O_TMPFILE | os.O_RDWR)
        os.truncate(file, os.fstat(self.file).st_size)
        self.write_to(file)
        return Image(file, collections.ChainMap({}, self.keys), self.digest)

    def write_to(self, file, start=0, length=None):
        """Writes an area of the content into a file of zeros."""
        end, at = start + (length or os.fstat(self.file).st_size), start
        while at < end:
            try:
                data = os.lseek(self.file, at, os.SEEK_DATA)
            except OSError:
                break
            at = min(os.lseek(self.file, data, os.SEEK_HOLE), end)
            if data < end:
                os.pwrite(file, os.pread(self.file, at - data, data), data - start)

    def close(self):
        os.close(self.file)

    def write(self, offset, data):
        first = offset // SECTOR
        if not data.strip(b"\0") and not any(self.keys.get(first + nth) for nth in range(len(data) // SECTOR)):
            return
        for nth in range(len(data) // SECTOR):
            content = data[nth * SECTOR:(nth + 1) * SECTOR]
            key = 0 if content == ZEROS else sector_key(first + nth, content)
            self.digest ^= key ^ self.keys.get(first + nth, 0)
            self.keys[first + nth] = key
        if self.file is not None:
            os.pwrite(self.file, data, offset)

    def apply(self, entries, first, to, missing=()):
        """Writes the entries from `first` to `to` without what is missing."""
        missing = dict(missing)
        for at in range(first, to):
            entry, sectors = entries[at], missing.get(at, ())
            if not entry.is_write or sectors is None:
                continue
            if not sectors:
                self.write(entry.offset, entry.data)
                continue
            for nth in set(range(len(entry.data) // SECTOR)) - set(sectors):
                self.write(entry.offset + nth * SECTOR, entry.data[nth * SECTOR:(nth + 1) * SECTOR])


def sector_key(number, content):
    return int.from_bytes(hashlib.blake2b(content, digest_size=16, salt=number.to_bytes(8, "little")).digest(), "little")
