"""Recovers states under the kernel of a guest of the lab (tests/lab), beside this kernel."""
import json, os, re, sys

import states

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from powercut import Guest, built

# A guest that is emulated recovers them well before its deadline.
BATCH = 100


class StatesDisk:
    """One disk with the contents of states, each at a multiple of the size of their file system."""

    def __init__(self, home, size):
        self.size, self.path = size, os.path.join(home, "states")

    def fill(self, images):
        with open(self.path, "wb") as file:
            file.truncate(self.size * len(images))
            for nth, image in enumerate(images):
                image.write_to(file.fileno(), nth * self.size)

    def drives(self, device):
        return ["-drive", f"file={self.path},id=states,if=none,format=raw,cache=unsafe", "-device", f"{device},drive=states,serial=DRILL-0"]


def distinct_states(explorer, limit, seed):
    """The first states of different content, with their digests."""
    found = {}
    for state in (state for drawn in states.rounds(explorer.entries, seed, explorer.physical) for state in drawn):
        preview = explorer.durable(state.gap.first).preview()
        preview.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
        found.setdefault(preview.digest, state)
        if len(found) == limit:
            break
    return list(found.values())


def content(explorer, state):
    image = explorer.durable(state.gap.first).copy(explorer.home)
    image.apply(explorer.entries, state.gap.first, state.gap.cut, state.missing)
    return image


def guest_outcomes(console):
    """What a guest found, by the number of the state: whether it mounted and is sound, and ranges of commits."""
    return {int(number): (how, [list(map(int, pair.split("-"))) for pair in commits.split()])
            for number, how, commits in re.findall(r"^state (\d+) (\w+)((?: \d+-\d+)*)$", console, re.M)}


def recover_in_guest(explorer, series, limit, seed, walwise):
    """Up to `limit` distinct states: how many of them a guest recovers as this kernel does, and those that it does not."""
    home = built(series, f"crash-{series}", walwise)
    disk, differences, count, losses = StatesDisk(explorer.home, explorer.size), [], 0, 0
    chosen = distinct_states(explorer, limit, seed)
    for start in range(0, len(chosen), BATCH):
        batch = chosen[start:start + BATCH]
        images = [content(explorer, state) for state in batch]
        disk.fill(images)
        for image in images:
            image.close()
        words = {"drill": explorer.kind, "step": "recover", "states": len(batch), "size": explorer.size}
        guest = Guest(home, disk, "virtio-blk-pci,write-cache=on", words)
        try:
            guest.until(lambda console: "step ended" in console, "the states are recovered")
        finally:
            guest.cut()
        found = guest_outcomes(guest.said())
        for nth, state in enumerate(batch):
            here = explorer.outcome_of(state)
            how, commits = found.get(nth, ("absent", []))
            there = here._replace(mounted=how in ("sound", "damaged"), sound=how == "sound", commits=commits)
            count += 1
            losses += there.fails(state.gap.acknowledged)
            if (there.mounted, there.sound, there.commits) != (here.mounted, here.sound, here.commits):
                differences.append(f"{start + nth} {state.kind}: {how} {commits}; here {json.dumps(here)}")
    return {"states": count, "losses": losses, "differences": differences}
