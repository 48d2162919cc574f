"""walwise's screens beside other programs of the terminal, interleaved: first frame, key to frame, idle, memory, large hosts.
Used by tests/bench/run. The others are those of ANCHORS that are in PATH; what is not there is said and left out.
"""
import glob, os, random, shutil, statistics, subprocess, tempfile, time

import tree
from shipped import WALWISE
from terminal import Terminal, shows

SIZES = [(80, 24), (120, 40)]
STARTS = 30
ROUNDS = 200
IDLE_SECONDS = 20
LARGE = (1000, 10000)
LARGE_STARTS = 3
LARGE_ROUNDS = 60
# A program that has drawn nothing for so long has drawn what it knows; the others draw anew every second or later.
SETTLED = 0.3
# In the first frame of walwise.
QUIT = b"quit"
# The mark of the selected line, which nothing but a key moves, and the row of the tabs, which nothing but a screen changes.
LINE, TABS = "▌".encode(), b"\x1b[2;"
RANDOM = random.Random(6)


class Anchor:
    """Another program: a word of its first frame, and the keys that move in its table of processes."""

    def __init__(self, name, word, down, up):
        self.name, self.word, self.down, self.up = name, word, down, up
        self.path = shutil.which(name)

    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


ANCHORS = [Anchor("btm", b"Processes", b"j", b"k"), Anchor("htop", b"Quit", b"\x1bOB", b"\x1bOA")]


def there():
    return [anchor for anchor in ANCHORS if anchor.path]


def versions():
    """The sentence on what is compared with what."""
    found = ", ".join(anchor.version() for anchor in there())
    missing = ", ".join(f"`{anchor.name}`" for anchor in ANCHORS if not anchor.path)
    return f"Beside {found or 'nothing'}" + (f"; {missing} not in PATH and left out" if missing else "") + "."


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def ms(seconds):
    return f"{seconds * 1000:.1f} ms"


def spread(values):
    return f"{ms(statistics.median(values))} | {ms(percentile(values, 99))} | {ms(max(values))}"


def start(argv, word, size=(120, 40)):
    """A program that has drawn its first frame and what it knows; with the seconds until each."""
    terminal = Terminal(argv, size)
    shown = terminal.until(0, shows(word))
    if shown is None:
        terminal.close()
        raise RuntimeError(f"{argv[0]} never showed {word}")
    first = terminal.end_of_frame(shown[0]) - terminal.begun
    settled = terminal.until_quiet(SETTLED)
    # A busy machine may hold up whoever is not done yet; asked to draw anew, walwise offers what it does then.
    while word == QUIT and terminal.press(b"\x0c", shows(b"rescan"), SETTLED) is None:
        settled = terminal.until_quiet(SETTLED)
    return terminal, first, settled - terminal.begun


def programs():
    return [("walwise", [WALWISE], QUIT), *((anchor.name, [anchor.path], anchor.word) for anchor in there())]


def first_frames():
    times, checks = {}, []
    for _ in range(STARTS):
        for size in SIZES:
            for name, argv, word in programs():
                terminal, first, settled = start(argv, word, size)
                terminal.close()
                for key, value in ((0, first), (1, settled)):
                    times.setdefault((name, size), ([], []))[key].append(value)
        began = time.perf_counter()
        subprocess.run([WALWISE, "check", "--no-probe"], stdout=subprocess.DEVNULL)
        checks.append(time.perf_counter() - began)
    lines = ["| program | size | first frame, median | p99 | slowest | all that is known, median | p99 | slowest |",
             "|---|---|---|---|---|---|---|---|"]
    for (name, (columns, rows)), (first, settled) in sorted(times.items(), key=lambda item: item[0][1]):
        lines.append(f"| {name} | {columns}×{rows} | {spread(first)} | {spread(settled)} |")
    return [f"{STARTS} starts of each in turn, from exec to the last byte of the first frame with its keys or headings, and to",
            f"the last byte before nothing is drawn for {ms(SETTLED)}: of walwise that is with every fact of this host and the",
            f"verdict, for which `walwise check --no-probe` takes {ms(statistics.median(checks))} in the same turns. {versions()}", "", *lines]


class Keys:
    """Seconds to the first and to the last byte of what answers a key, by program and kind of key."""

    def __init__(self):
        self.times, self.without = {}, {}

    def press(self, terminal, of, key, wanted=lambda said: True):
        answer = terminal.press(key, wanted)
        # Keys come at any moment of the program's own clock.
        time.sleep(RANDOM.uniform(0.005, 0.03))
        return of, answer

    def note(self, of, answer):
        self.times.setdefault(of, ([], []))
        if answer is None:
            self.without[of] = self.without.get(of, 0) + 1
        else:
            self.times[of][0].append(answer[0])
            self.times[of][1].append(answer[1])

    def round(self, nth, terminal):
        """A line down and up and two screens of walwise, from the first line of the overview and back to it."""
        screen = b"24563"[nth % 5:nth % 5 + 1]
        return [
            self.press(terminal, ("walwise", "a line"), b"j", lambda said: LINE in said),
            self.press(terminal, ("walwise", "a line"), b"k", lambda said: LINE in said),
            self.press(terminal, ("walwise", "a screen"), screen, lambda said: TABS in said),
            self.press(terminal, ("walwise", "a screen"), b"1", lambda said: TABS in said),
        ]

    def lines(self, while_):
        lines = []
        for (name, kind), (first, last) in self.times.items():
            none = self.without.get((name, kind), 0)
            none = f" ({none} unanswered)" if none else ""
            lines.append(f"| {name} | {kind}{none} | {while_} | {len(last)} | {ms(statistics.median(first))} "
                         f"| {ms(percentile(first, 99))} | {spread(last)} |" if last else f"| {name} | {kind}{none} | {while_} |")
        return lines


KEYS_HEAD = ["| program | key to | while | keys | first byte, median | p99 | last byte, median | p99 | slowest |",
             "|---|---|---|---|---|---|---|---|---|"]


def is_probing(directory):
    return any(name.startswith(".walwise-probe-") for name in os.listdir(directory))


def probe(terminal, directory):
    """Starts a probe as a user does, and returns to the overview."""
    terminal.press(b"p")
    deadline = time.monotonic() + 20
    while not is_probing(directory) and time.monotonic() < deadline:
        terminal.press(b"y")
    terminal.press(b"1", lambda said: TABS in said)
    # However often j was pressed before: the first line is selected.
    terminal.press(b"g")


def keys(below):
    lines = list(KEYS_HEAD)
    with tempfile.TemporaryDirectory(dir=below) as directory:
        others = [(anchor, start([anchor.path], anchor.word)[0]) for anchor in there()]
        walwise = start([WALWISE, directory], QUIT)[0]
        try:
            for probing in (False, True):
                found = Keys()
                nth = 0
                while nth < ROUNDS:
                    if probing and not is_probing(directory):
                        probe(walwise, directory)
                    said = found.round(nth, walwise)
                    for anchor, terminal in others:
                        said += [found.press(terminal, (anchor.name, "a line"), key) for key in (anchor.down, anchor.up)]
                    # What straddles the end of a probe is not counted.
                    if not probing or is_probing(directory):
                        nth += 1
                        for of, answer in said:
                            found.note(of, answer)
                lines += found.lines("a probe runs" if probing else "idle")
        finally:
            for terminal in [walwise, *(terminal for _, terminal in others)]:
                terminal.close()
    return [f"{ROUNDS} rounds: a few keys to each in turn, all of them open at 120×40. From writing the key to the first and to the last",
            "byte of the frame that answers it; of walwise the frame with the moved mark or the other tab, for while it probes it",
            f"draws progress too; of the others whatever comes first. The probe is walwise's own, of an idle disk. {versions()}", "", *lines]


def family(pid):
    """A process and all below it."""
    all_of_it = [pid]
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(task) as children:
            for child in children.read().split():
                all_of_it += family(int(child))
    return all_of_it


def used(pid):
    """Nanoseconds of a processor, and how often it was woken, of a process and all below it."""
    spent = woken = 0
    for process in family(pid):
        for task in glob.glob(f"/proc/{process}/task/*"):
            with open(f"{task}/schedstat") as stat:
                spent += int(stat.read().split()[0])
            woken += sum(status(f"{task}/status", name) for name in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))
    return spent, woken


def status(file, name):
    with open(file) as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def memory(pid):
    """Peak, resident and proportional MiB."""
    rollup = f"/proc/{pid}/smaps_rollup"
    return [kib / 1024 for kib in (status(f"/proc/{pid}/status", "VmHWM"), status(rollup, "Rss"), status(rollup, "Pss"))]


def mib(sizes):
    return " | ".join(f"{size:.1f}" for size in sizes)


def idle(below):
    lines = ["| program | processor | woken a second | bytes drawn | peak, MiB | resident | proportional | after use: peak | resident | proportional |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(dir=below) as directory:
        commands = programs()
        commands.insert(1, ("walwise DIR", [WALWISE, directory], QUIT))
        opened = [(name, start(argv, word)[0]) for name, argv, word in commands]
        try:
            time.sleep(2)
            before = [(used(terminal.pid), terminal.mark(), memory(terminal.pid)) for _, terminal in opened]
            time.sleep(IDLE_SECONDS)
            after = [(used(terminal.pid), terminal.mark()) for _, terminal in opened]
            for (name, terminal), ((spent, woken), mark, fresh), ((spent2, woken2), mark2) in zip(opened, before, after):
                drawn = sum(len(part) for _, part in terminal.since(mark)[:mark2 - mark])
                for key in [b"2", b"3", b"4", b"5", b"6", b"1"] if name.startswith("walwise") else [b"j", b"k"] * 3:
                    terminal.press(key)
                lines.append(f"| {name} | {(spent2 - spent) / IDLE_SECONDS / 1e7:.3f} % | {(woken2 - woken) / IDLE_SECONDS:.1f} | {drawn} "
                             f"| {mib(fresh)} | {mib(memory(terminal.pid))} |")
        finally:
            for _, terminal in opened:
                terminal.close()
    return [f"Each untouched for {IDLE_SECONDS} s, side by side, two seconds after it had drawn what it knows: time of one processor and",
            "wake-ups of all threads and children. Use: every screen of walwise once; six keys in the table of the others.",
            versions(), "", *lines]


def large(peak_kib):
    lines = ["| devices | first frame, slowest | everything judged, median | peak, MiB | resident | `check --no-probe`: wall, median | peak, MiB | peaks |",
             "|---|---|---|---|---|---|---|---|"]
    pressed = list(KEYS_HEAD)
    for size in LARGE:
        with tree.machine(size, WALWISE) as (root, devices, _):
            inside = [shutil.which("chroot"), root, "/walwise"]
            check = [*inside, "check", "--no-probe"]
            firsts, settled, walls, found = [], [], [], Keys()
            for nth in range(LARGE_STARTS):
                terminal, first, all_known = start(inside, QUIT)
                firsts.append(first)
                settled.append(all_known)
                if nth + 1 < LARGE_STARTS:
                    terminal.close()
                began = time.perf_counter()
                subprocess.run(check, stdout=subprocess.DEVNULL)
                walls.append(time.perf_counter() - began)
            fresh = memory(terminal.pid)
            for round_ in range(LARGE_ROUNDS):
                said = found.round(round_, terminal)
                said.append(found.press(terminal, ("walwise", "next target"), b"]", lambda said: TABS in said))
                terminal.press(b"g")
                for of, answer in said:
                    found.note(of, answer)
            terminal.close()
            peak = statistics.median(peak_kib(check) / 1024 for _ in range(3))
            lines.append(f"| {devices:,} | {ms(max(firsts))} | {ms(statistics.median(settled))} | {fresh[0]:.0f} | {fresh[1]:.0f} "
                         f"| {ms(statistics.median(walls))} | {peak:.0f} | {fresh[0] / peak:.2f} × |")
            pressed += found.lines(f"idle, {devices:,} devices")
    return [f"The trees of `tests/bench/scale`, {LARGE_STARTS} starts; the screens and `check` in turn.", "", *lines, "", *pressed]
