"""What a disk holds after a power cut: mounted with recovery, read, unmounted and checked."""
import subprocess, time
from typing import NamedTuple

import loops

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

    def loses(self, acknowledged):
        return not self.mounted or bool(self.lost(acknowledged))

    def fails(self, acknowledged):
        return not self.sound or self.loses(acknowledged)


def run_program(argv, attempts=1):
    """Runs a program that has to succeed, at the latest in the last attempt."""
    for left in reversed(range(attempts)):
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=DEADLINE)
        if not done.returncode:
            return
        if left:
            time.sleep(0.1)
    raise RuntimeError(f"{' '.join(argv)}: {done.stdout[-2000:]}")


def ranges(numbers):
    result = []
    for number in sorted(numbers):
        if result and result[-1][1] == number - 1:
            result[-1][1] = number
        else:
            result.append([number, number])
    return result


def recover(file, kind, directory, surviving):
    """The outcome of a power cut that left this content; `surviving` reads the numbers of commits in a directory."""
    with loops.Loop(file) as device:
        try:
            run_program(["mount", "-i", "-t", kind, "-o", OPTIONS[kind], device, directory])
        except RuntimeError as error:
            return Outcome(False, False, [], str(error))
        try:
            commits = ranges(surviving(directory))
        finally:
            run_program(["umount", "-i", directory])
        try:
            run_program([*CHECKERS[kind], device])
        except RuntimeError as error:
            return Outcome(True, False, commits, str(error))
        return Outcome(True, True, commits, "")
