"""Logs of disks and writers that lie, made from an honest recording. A lie begins with the first commit."""
import json, random

from write_log import FLUSH, FUA


def first_commit(entries):
    return next(at for at, entry in enumerate(entries) if entry.acknowledged())


def swallowed(entries, seed):
    """The disk answers flushes and does nothing."""
    start = first_commit(entries)
    return [entry for at, entry in enumerate(entries) if at < start or not entry.flags & FLUSH]


def one_in_thousand(entries, seed):
    """The disk drops one flush in each thousand."""
    start, dice, result, lot, nth = first_commit(entries), random.Random(seed), [], None, 0
    for at, entry in enumerate(entries):
        if at > start and entry.flags & FLUSH:
            if nth % 1000 == 0:
                lot = nth + dice.randrange(1000)
            nth += 1
            if nth - 1 == lot:
                continue
        result.append(entry)
    return result


def early(entries, seed):
    """The writer acknowledges a commit before the flush that makes it durable."""
    result = []
    for entry in entries:
        if entry.acknowledged():
            flush = max(at for at, earlier in enumerate(result) if earlier.flags & FLUSH)
            result.insert(flush, entry)
        else:
            result.append(entry)
    return result


def one_leg(entries, seed, stripe=4096):
    """Of two striped legs only the first gets flushes: what they make durable is written once more, with FUA."""
    start, result, pending = first_commit(entries), [], []
    for at, entry in enumerate(entries):
        if at > start and entry.flags & FLUSH:
            result += [part._replace(flags=part.flags | FUA) for part in pending]
            pending = []
            continue
        result.append(entry)
        if at > start and entry.is_write:
            pending += [part for part in split(entry, stripe) if part.offset // stripe % 2 == 0]
    return result


def split(entry, stripe):
    """The write cut at the borders of stripes."""
    at = 0
    while at < len(entry.data):
        length = min(stripe - (entry.offset + at) % stripe, len(entry.data) - at)
        yield entry._replace(offset=entry.offset + at, data=entry.data[at:at + length])
        at += length


def flushed_leg(leg):
    """Of two mirrors only this one gets flushes."""
    def lie(entries, seed):
        description = json.loads(entries[0].data)
        start, size = first_commit(entries), description["size"] // description["disks"]
        return [entry for at, entry in enumerate(entries)
                if at < start or not entry.flags & FLUSH or entry.disk(size) == leg]
    return lie


# For recordings of two disks.
MIRROR = {"first-leg": flushed_leg(0), "second-leg": flushed_leg(1)}
ALL = {"swallowed": swallowed, "one-in-1000": one_in_thousand, "early": early, "one-leg": one_leg}
