"""Recovers states under the kernel of a guest of the lab (tests/lab), beside this kernel.

One guest recovers them all: this process changes the content of its disks while the guest has nothing of them open. A server
recovers here, on the file system that the guest recovered: the server is a program, the same under each kernel.
"""
import os, re, socket, sys, time

import states, workloads
from explore import Results
from recovery import Outcome, recover

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
    """The first states of different content, by their digests; of equal ones that in which most is acknowledged."""
    found = {}
    for state in (state for drawn in states.rounds(explorer.entries, seed, explorer.physical) for state in drawn):
        if state.kind == states.BELOW:
            continue
        preview = explorer.durable(state.gap.first).preview()
        preview.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
        digest = f"{preview.digest:032x}"
        found[digest] = max(found.get(digest, state), state, key=lambda state: state.gap.acknowledged)
        if len(found) == limit:
            break
    # In the order of the log, so that the durable content only grows.
    return sorted(found.items(), key=lambda item: item[1].gap.first)


def content(explorer, state):
    image = explorer.durable(state.gap.first).copy(explorer.home)
    image.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
    return image


class StatesGuest:
    """A guest that recovers what is put on its disks."""

    def __init__(self, explorer, series, name, walwise):
        home = built(series, f"crash-{series}-{name}", walwise)
        self.disks = StatesDisks(explorer.home, explorer.size // explorer.disks, explorer.disks)
        words = {"drill": explorer.configuration, "step": "recover", "disks": explorer.disks, "ways": "fdatasync:recycled"}
        self.guest = Guest(home, self.disks, "virtio-blk-pci,write-cache=on", words)
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(DEADLINE)

    def __enter__(self):
        self.guest.until(lambda _: os.path.exists(self.disks.socket), "the port is there")
        self.connection.connect(self.disks.socket)
        self.port = self.connection.makefile("rw", newline="\n")
        if self.port.readline() != "ready\n":
            raise RuntimeError(f"the guest does not begin: {self.guest.said()[-2000:]}")
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.guest.cut()
        self.disks.close()

    def ask(self, explorer, state, number):
        image = content(explorer, state)
        self.disks.fill(image)
        image.close()
        print(number, file=self.port, flush=True)

    def answer(self, explorer, number):
        line = self.port.readline()
        found = re.fullmatch(r"state (\d+) (\w+)((?: \d+-\d+)*)\n", line)
        if not found or int(found[1]) != number:
            raise RuntimeError(f"state {number}: the guest answers {line!r}")
        how, commits = found[2], [list(map(int, pair.split("-"))) for pair in found[3].split()]
        if how != "unmounted" and explorer.workload is not workloads.ALL["drill"]:
            commits = recover(self.disks.files[0], explorer.kind, explorer.directory, explorer.workload.surviving).commits
        return Outcome(how != "unmounted", how == "sound", commits, "")

    def fails(self, explorer):
        """Whether what a cut leaves fails under the guest's kernel, as `Explorer.minimal` asks."""
        def failing(first, cut, missing):
            acknowledged = explorer.acknowledged(cut)
            self.ask(explorer, states.State(states.Gap(first, cut, (), acknowledged), "", tuple(missing)), 0)
            return self.answer(explorer, 0).fails(acknowledged)
        return failing


def recover_in_guest(explorer, series, name, limit, seed, walwise, results=None, seconds=float("inf")):
    """Up to `limit` distinct states: those that fail or differ from this kernel, and the fewest missing writes of the first failure."""
    begun, results, chosen = time.monotonic(), Results(results), distinct_states(explorer, limit, seed)
    writes = None
    with StatesGuest(explorer, series, name, walwise) as guest:
        for nth, (digest, state) in enumerate(chosen):
            if time.monotonic() - begun > seconds:
                break
            if digest not in results.outcomes:
                guest.ask(explorer, state, nth)
                # Meanwhile.
                if explorer.known_here:
                    explorer.outcome_of(state)
                results.insert(digest, guest.answer(explorer, nth))
            if writes is None and results.outcomes[digest].fails(state.gap.acknowledged):
                writes = len(explorer.minimal(state, guest.fails(explorer))[2])
    differences, failures, count, lost = [], [], 0, 0
    for nth, (digest, state) in enumerate(chosen):
        there = results.outcomes.get(digest)
        if there is None:
            continue
        count += 1
        lost += there.loses(state.gap.acknowledged)
        if there.fails(state.gap.acknowledged):
            failures.append(f"{nth} {state.kind}, acknowledged {state.gap.acknowledged}: {there}")
        if explorer.known_here and there != (here := explorer.outcome_of(state))._replace(error=""):
            differences.append(f"{nth} {state.kind}: {there}; here {here}")
    return {"states": count, "distinct": count, "losses": len(failures), "lost": lost, "first": failures[:1], "writes": writes,
            "differences": differences, "seconds": round(time.monotonic() - begun), "seed": seed}
