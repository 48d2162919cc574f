"""Recovers the states of a log one after another and compares each with what was acknowledged."""
import base64, json, os, time
from collections import Counter

import states, workloads, write_log
from recovery import Outcome, recover


class Results:
    """Outcomes by the digest of the content, and a file from which an interrupted run goes on."""

    def __init__(self, path):
        self.outcomes, self.file = {}, open(path, "a+") if path else None
        if self.file:
            self.file.seek(0)
            text = self.file.read()
            # Without a last line that the end of the earlier run cut off.
            complete = text[:text.rfind("\n") + 1]
            self.file.truncate(len(complete))
            for line in complete.splitlines():
                state = json.loads(line)
                digest = state.pop("digest")
                self.outcomes[digest] = Outcome(**state)

    def insert(self, digest, outcome):
        self.outcomes[digest] = outcome
        if self.file:
            print(json.dumps({"digest": digest, **outcome._asdict()}), file=self.file, flush=True)


class Explorer:
    """`home` is a directory in memory. Results are kept by the digest of the content, so that no content is recovered twice."""

    def __init__(self, home, description, entries, results=None):
        self.kind, self.size, self.physical = (description[key] for key in ("fs", "size", "physical"))
        # What a section of tests/lab/drills.sh builds; a layer over the disks wants a guest.
        self.configuration = description.get("configuration", self.kind)
        self.disks, self.known_here = description.get("disks", 1), not description.get("layered")
        # Recordings of guests are of the drill.
        self.workload = workloads.ALL[description.get("workload", "drill")]
        self.home, self.entries = home, entries
        self.directory = os.path.join(home, "at")
        os.makedirs(self.directory, exist_ok=True)
        self.results = Results(results)
        self.outcomes = self.results.outcomes
        self.base = None
        self.first = 0

    def durable(self, first):
        """The content at the boundary before that entry."""
        if self.base is None or first < self.first:
            if self.base:
                self.base.close()
            self.base, self.first = states.Image.zeros(self.home, self.size), 0
        self.base.apply(self.entries, self.first, first)
        self.first = first
        return self.base

    def outcome(self, first, cut, missing):
        """The outcome of a power cut before the entry `cut`; nothing before `first` is missing."""
        base = self.durable(first)
        preview = base.preview()
        preview.apply(self.entries, first, cut, missing)
        digest = f"{preview.digest:032x}"
        if digest not in self.outcomes:
            image = base.copy(self.home)
            try:
                image.apply(self.entries, first, cut, missing)
                outcome = recover(image.file, self.kind, self.directory, self.workload.surviving)
            finally:
                image.close()
            self.results.insert(digest, outcome)
        return self.outcomes[digest]

    def outcome_of(self, state):
        return self.outcome(state.gap.first, state.gap.cut, state.missing)

    def explore(self, limit, seed, stop=False, sample=None, seconds=float("inf")):
        """Up to `limit` states: how many of each kind, and those that fail. What no disk promises is counted apart."""
        begun, counts, failures, below = time.monotonic(), Counter(), [], []
        drawn = (state for found in states.rounds(self.entries, seed, self.physical, sample) for state in found)
        for state in drawn:
            if sum(counts.values()) == limit or (stop and failures) or time.monotonic() - begun > seconds:
                break
            counts[state.kind] += 1
            if self.outcome_of(state).fails(state.gap.acknowledged):
                (below if state.kind == states.BELOW else failures).append(state)
        return {"states": sum(counts.values()), "distinct": len(self.outcomes), "gaps": len(states.gaps(self.entries)),
                "kinds": dict(counts), "fail below the physical sector": len(below),
                "seconds": round(time.monotonic() - begun, 1), "seed": seed}, failures

    def acknowledged(self, cut):
        return max(entry.acknowledged() or 0 for entry in self.entries[:cut])

    def fails(self, first, cut, missing):
        return self.outcome(first, cut, missing).fails(self.acknowledged(cut))

    def minimal(self, state, fails=None):
        """The earliest cut and the fewest missing writes that still fail, here or where `fails` recovers them."""
        fails = fails or self.fails
        first, cut, missing = state.gap.first, state.gap.cut, list(state.missing)
        for earlier in (at + 1 for at in range(first, cut) if self.entries[at].acknowledged() is not None):
            left = [item for item in missing if item[0] < earlier]
            if fails(first, earlier, left):
                cut, missing = earlier, left
                break
        return first, cut, fewest(missing, lambda left: fails(first, cut, left))

    def counter_example(self, state):
        """The smallest failure that begins with this state, as what `saved` writes."""
        first, cut, missing = self.minimal(state)
        outcome, acknowledged = self.outcome(first, cut, missing), self.acknowledged(cut)
        return {**outcome._asdict(), "cut": cut, "missing": missing, "acknowledged": acknowledged, "lost": outcome.lost(acknowledged),
                "log": base64.b64encode(write_log.compress(self.entries[:cut])).decode()}


def fewest(items, fails):
    """Delta debugging (Zeller's ddmin): a list of which no part can be left out."""
    parts = 2
    if fails([]):
        return []
    while len(items) > 1:
        size = -(-len(items) // parts)
        chunks = [items[at:at + size] for at in range(0, len(items), size)]
        rests = [[item for item in items if item not in chunk] for chunk in chunks]
        found = next((part for part in chunks + rests if part and fails(part)), None)
        if found and len(found) < len(items):
            parts, items = 2 if len(found) == size else max(parts - 1, 2), found
        elif parts >= len(items):
            break
        else:
            parts = min(len(items), 2 * parts)
    return items


def example_text(example, entries):
    """The counter-example as text."""
    lines = []
    for at, sectors in example["missing"]:
        entry = entries[at]
        part = "" if sectors is None else f", of it the sectors {', '.join(map(str, sectors))}"
        lines.append(f"missing: entry {at}, {len(entry.data)} bytes at {entry.offset}{part}")
    if not lines:
        lines.append("missing: no write; the commit was acknowledged before it was written")
    oldest = min((at for at, _ in example["missing"]), default=example["cut"])
    flushes = sum(entry.flags & write_log.FLUSH for entry in entries[oldest:example["cut"]])
    lines.append(f"acknowledged: commit {example['acknowledged']}, before the cut at entry {example['cut']}")
    lines.append(f"missing flush: {flushes} flushes between entry {oldest} and the cut")
    if not example["mounted"]:
        lines.append(f"outcome: cannot be mounted: {example['error']}")
    if example["mounted"] and not example["sound"]:
        lines.append(f"outcome: damaged: {example['error']}")
    if example["lost"]:
        lines.append("outcome: lost: " + ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in example["lost"]))
    return "\n".join(lines)


def replay_example(home, example):
    """Whether a saved counter-example still fails, and its text."""
    entries = write_log.decompress(base64.b64decode(example["log"]))
    explorer = Explorer(home, json.loads(entries[0].data), entries)
    missing = [(at, sectors) for at, sectors in example["missing"]]
    outcome = explorer.outcome(0, example["cut"], missing)
    now = {**example, **outcome._asdict(), "lost": outcome.lost(example["acknowledged"])}
    return outcome.fails(example["acknowledged"]), example_text(now, entries)
