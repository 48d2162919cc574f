"""Recovers states under the kernel of a guest of the lab (tests/lab), beside this kernel.

One guest recovers them all: this process changes the content of its disks while the guest has nothing of them open.
"""
import json, os, re, socket, sys

import states
from recovery import Outcome

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from powercut import DEADLINE, Guest, built


class StatesDisks:
    """The disks of a guest, and the port by which it is asked to recover what is on them."""

    def __init__(self, home, size, count):
        self.size = size
        self.socket = os.path.join(home, "states")
        self.files = [os.open(os.path.join(home, f"state-{nth}"), os.O_RDWR | os.O_CREAT | os.O_TRUNC) for nth in range(count)]
        self.fill(None)

    def fill(self, image):
        for nth, file in enumerate(self.files):
            os.truncate(file, 0)
            os.truncate(file, self.size)
            if image:
                image.write_to(file, nth * self.size, self.size)

    def drives(self, device):
        argv = ["-device", "virtio-serial-pci", "-chardev", f"socket,id=states,path={self.socket},server=on,wait=off",
                "-device", "virtserialport,chardev=states,name=states"]
        for nth in range(len(self.files)):
            path = os.path.join(os.path.dirname(self.socket), f"state-{nth}")
            argv += ["-drive", f"file={path},id=state{nth},if=none,format=raw,cache=unsafe",
                     "-device", f"{device},drive=state{nth},serial=DRILL-{nth}"]
        return argv

    def close(self):
        for file in self.files:
            os.close(file)


def distinct_states(explorer, limit, seed):
    """The first states of different content."""
    found = {}
    for state in (state for drawn in states.rounds(explorer.entries, seed, explorer.physical) for state in drawn):
        if state.kind == states.BELOW:
            continue
        preview = explorer.durable(state.gap.first).preview()
        preview.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
        found.setdefault(preview.digest, state)
        if len(found) == limit:
            break
    # In the order of the log, so that the durable content only grows.
    return sorted(found.values(), key=lambda state: state.gap.first)


def content(explorer, state):
    image = explorer.durable(state.gap.first).copy(explorer.home)
    image.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
    return image


def answers(port, asked):
    """What the guest found of that state: whether it mounted and is sound, and ranges of commits."""
    line = port.readline()
    found = re.fullmatch(r"state (\d+) (\w+)((?: \d+-\d+)*)\n", line)
    if not found or int(found[1]) != asked:
        raise RuntimeError(f"state {asked}: the guest answers {line!r}")
    how, commits = found[2], [list(map(int, pair.split("-"))) for pair in found[3].split()]
    return Outcome(how != "unmounted", how == "sound", commits, "")


def recover_in_guest(explorer, series, name, limit, seed, walwise):
    """Up to `limit` distinct states: how many a guest recovers as this kernel does, and those that it does not."""
    home = built(series, f"crash-{series}-{name}", walwise)
    disks = StatesDisks(explorer.home, explorer.size // explorer.disks, explorer.disks)
    differences, failures, chosen = [], [], distinct_states(explorer, limit, seed)
    words = {"drill": explorer.configuration, "step": "recover", "disks": explorer.disks, "ways": "fdatasync:recycled"}
    guest = Guest(home, disks, "virtio-blk-pci,write-cache=on", words)
    try:
        guest.until(lambda _: os.path.exists(disks.socket), "the port is there")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE)
            connection.connect(disks.socket)
            port = connection.makefile("rw", newline="\n")
            if port.readline() != "ready\n":
                raise RuntimeError(f"the guest does not begin: {guest.said()[-2000:]}")
            for nth, state in enumerate(chosen):
                image = content(explorer, state)
                disks.fill(image)
                image.close()
                print(nth, file=port, flush=True)
                here = explorer.outcome_of(state) if explorer.known_here else None
                there = answers(port, nth)
                if there.fails(state.gap.acknowledged):
                    failures.append(f"{nth} {state.kind}, acknowledged {state.gap.acknowledged}: {there}")
                if here and there != here._replace(error=""):
                    differences.append(f"{nth} {state.kind}: {there}; here {json.dumps(here)}")
    finally:
        guest.cut()
        disks.close()
    return {"states": len(chosen), "distinct": len(chosen), "losses": len(failures), "first": failures[:1],
            "differences": differences}
