"""What a disk holds after a power cut: mounted with recovery, read, unmounted and checked."""
import os, subprocess
from typing import NamedTuple

import loops, write_log

# For programs that hang, not for days that are slow.
DEADLINE = 120
CHECKERS = {"ext4": ["e2fsck", "-fn"], "xfs": ["xfs_repair", "-n"], "btrfs": ["btrfs", "check", "--readonly"]}
# The file system may be mounted elsewhere from the same recording.
OPTIONS = {"ext4": "defaults", "xfs": "nouuid", "btrfs": "defaults"}
PAGES_PER_SEGMENT = 2048


class Outcome(NamedTuple):
    """`error` is what the mount or the checker printed, if one failed."""
    mounted: bool
    sound: bool
    commits: list
    error: str

    def lost(self, acknowledged):
        """Ranges of acknowledged commits that are missing, as find_lost_commits in crates/measure/src/drill.rs counts them."""
        newest = max([acknowledged] + [to for _, to in self.commits])
        at, missing = max(1, newest + 2 - PAGES_PER_SEGMENT), []
        for first, to in self.commits:
            if first > acknowledged:
                break
            if first > at:
                missing.append((at, first - 1))
            at = max(at, to + 1)
        if at <= acknowledged:
            missing.append((at, acknowledged))
        return missing

    def fails(self, acknowledged):
        return not self.mounted or not self.sound or bool(self.lost(acknowledged))


def ran(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout[-2000:]}")


def ranges(numbers):
    result = []
    for number in sorted(numbers):
        if result and result[-1][1] == number - 1:
            result[-1][1] = number
        else:
            result.append([number, number])
    return result


def surviving(directory):
    """Numbers of the intact pages of a drill."""
    own, numbers = os.path.join(directory, "walwise-drill"), set()
    try:
        with open(os.path.join(own, "run")) as file:
            head = file.read()
        run = int(head.split(" run=")[1].split()[0], 16)
        names = [name for name in os.listdir(own) if name.startswith("segment-")]
    except (OSError, IndexError, ValueError):
        return numbers
    for name in names:
        numbers |= intact(os.path.join(own, name), run)
    return numbers


def intact(path, run):
    """Numbers of the intact pages of a segment; a read error ends it."""
    numbers = set()
    try:
        with open(path, "rb") as file:
            while len(data := file.read(write_log.PAGE)) == write_log.PAGE:
                magic, of_run, number = write_log.PAGE_HEAD.unpack_from(data)
                if magic == write_log.PAGE_MAGIC and of_run == run and data == write_log.page(run, number):
                    numbers.add(number)
    except OSError:
        pass
    return numbers


def recover(file, kind, directory):
    """The outcome of a power cut that left this content."""
    with loops.Loop(file) as device:
        try:
            ran(["mount", "-i", "-t", kind, "-o", OPTIONS[kind], device, directory])
        except RuntimeError as error:
            return Outcome(False, False, [], str(error))
        try:
            commits = ranges(surviving(directory))
        finally:
            ran(["umount", "-i", directory])
        try:
            ran([*CHECKERS[kind], device])
        except RuntimeError as error:
            return Outcome(True, False, commits, str(error))
        return Outcome(True, True, commits, "")
