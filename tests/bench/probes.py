"""walwise's measurements beside pg_test_fsync and a real server, interleaved, as ratios. Used by tests/bench/run."""
import glob, json, math, os, random, re, shutil, statistics, subprocess, tempfile, threading

from filesystems import MKFS, disk_below, flushes, mounted
from shipped import WALWISE

BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:] or [""]
PG_TEST_FSYNC = os.path.join(BIN[0], "pg_test_fsync")
PAIRS = 6
STABILITY_RUNS = 20
SERVER_ROUNDS = 12
SERVER_SECONDS = 3
METHODS = ["fdatasync", "open_datasync", "fsync", "open_sync"]


def rows_of(text):
    """Every figure of pg_test_fsync's layout, by section and label."""
    found, section = {}, ""
    for line in text.splitlines():
        row = re.match(r"\s+(\S.*?)\s+([\d.]+) ops/sec", line)
        if row:
            found[(section, row[1])] = float(row[2])
        elif line and not line.startswith((" ", "(")) and line.endswith(":"):
            section = re.sub("^(Compare |Test if )", "", line.rstrip(":"))
    return found


def theirs(directory, seconds):
    argv = [PG_TEST_FSYNC, "-s", str(seconds), "-f", os.path.join(directory, "out")]
    return rows_of(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def ours(directory, seconds):
    argv = [WALWISE, "probe", directory, "--pg-test-fsync", "--seconds", str(seconds)]
    return rows_of(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def equivalence(kind, below):
    """Every line of --pg-test-fsync over the same line of pg_test_fsync -s 2."""
    with mounted(kind, below) as (directory, _):
        a, b = [], []
        for pair in range(PAIRS):
            # Each goes first in half of the pairs, for the first may leave the disk something to do.
            for measure, runs in [(theirs, a), (ours, b)][:: 1 if pair % 2 else -1]:
                runs.append(measure(directory, 2))
    lines = ["", "| line | pg_test_fsync | walwise | ratio of means | over itself |", "|---|---|---|---|---|"]
    inside = total = 0
    for key in a[0]:
        x, y = ([run[key] for run in runs if key in run] for runs in (a, b))
        if len(x) < PAIRS or len(y) < PAIRS:
            lines.append(f"| {key[0]}: {key[1]} | – | – | not in both | – |")
            continue
        ratio = statistics.mean(y) / statistics.mean(x)
        spread = [p / q for p in x for q in x if p is not q]
        # What is set against a mean of several runs varies less than one run over another.
        fits = min(spread) <= ratio <= max(spread)
        inside, total = inside + fits, total + 1
        lines.append(
            f"| {key[0]}: {key[1]} | {statistics.mean(x):.0f}/s | {statistics.mean(y):.0f}/s | {ratio:.2f}{'' if fits else ' (outside)'} "
            f"| {min(spread):.2f}–{max(spread):.2f} |")
    return [f"{PAIRS} pairs in turn, `pg_test_fsync -s 2` and `walwise probe --pg-test-fsync --seconds 2`.",
            f"*Over itself* is the range of one run of `pg_test_fsync` over another of the same session. {inside} of {total} ratios lie inside it.", *lines]


class Neighbour:
    """Somebody who writes and flushes on the same file system, in bursts."""

    def __init__(self, directory):
        self.file = os.path.join(directory, "neighbour")
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        block, nth = os.urandom(1 << 20), 0
        with open(self.file, "wb") as out:
            while not self.over.is_set():
                out.seek((nth % 64) << 20)
                for _ in range(8):
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
                nth += 8
                self.over.wait(0.05 if nth % 64 else 0.7)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        os.unlink(self.file)


def changes(winners):
    usual = max(set(winners), key=winners.count)
    return sum(winner != usual for winner in winners), usual


def stability(directory):
    """How often each names another winner than it mostly does."""
    lines = ["| disk | pg_test_fsync -s 1 (16 s) | mostly | walwise probe (at most 10 s) | mostly |", "|---|---|---|---|---|"]
    for name in ("quiet", "with a neighbour that writes"):
        them, us = [], []
        with Neighbour(directory) if name != "quiet" else tempfile.TemporaryDirectory():
            for _ in range(STABILITY_RUNS):
                first = {label: rate for (section, label), rate in theirs(directory, 1).items() if "one 8kB" in section}
                them.append(max(first, key=first.get))
                argv = [WALWISE, "probe", directory, "--format", "json"]
                us.append(json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)["best"])
        (a, most), (b, best) = changes(them), changes(us)
        lines.append(f"| {name} | {a} of {STABILITY_RUNS} name another | {most} | {b} of {STABILITY_RUNS} name another | {best} |")
    return [f"{STABILITY_RUNS} runs of each in turn in one directory: the method named as the best.", "", *lines]


def as_postgres(*argv, **options):
    return subprocess.run(["runuser", "-u", "postgres", "--", *argv], check=True, capture_output=True, text=True, **options)


class Run:
    """A run of pgbench: transactions per second, and flushes for each transaction at the loop and at the disk below it."""

    def __init__(self, sockets, clients, devices):
        before = [flushes(device) for device in devices]
        out = as_postgres(os.path.join(BIN[0], "pgbench"), "-h", sockets, "-N", "-n", "-c", str(clients), "-j", "2",
                          "-T", str(SERVER_SECONDS), "-M", "prepared", "bench").stdout
        done = int(re.search(r"actually processed: (\d+)", out)[1])
        self.rate = float(re.search(r"tps = ([\d.]+)", out)[1])
        self.flushes = [(flushes(device) - first) / done for device, first in zip(devices, before)]


def interval(pairs):
    """The geometric mean of paired ratios with its 95 % interval (bootstrap over the rounds, with a fixed seed)."""
    logs, dice = [math.log(pair) for pair in pairs], random.Random(1)
    means = sorted(statistics.mean(dice.choices(logs, k=len(logs))) for _ in range(4000))
    return [math.exp(value) for value in (statistics.mean(logs), means[100], means[-101])]


def server(below):
    """pgbench -N with every method, and the advised one over the best."""
    lines = ["| file system | clients | " + " | ".join(METHODS) + " | advised | over the best | 95 % |",
             "|---|---|" + "---|" * (len(METHODS) + 3)]
    for kind in MKFS:
        with mounted(kind, below) as (directory, loop), tempfile.TemporaryDirectory() as sockets:
            devices = [device for device in (loop, disk_below(below)) if device]
            data = os.path.join(directory, "data")
            os.mkdir(data)
            for path in (directory, data, sockets):
                shutil.chown(path, "postgres", "postgres")
            os.chmod(sockets, 0o755)
            parent = directory
            while parent != "/" and os.path.dirname(parent) != "/":
                parent = os.path.dirname(parent)
                os.chmod(parent, os.stat(parent).st_mode | 0o011)
            if kind == "btrfs":
                subprocess.run(["chattr", "+C", data], check=True)
            as_postgres(os.path.join(BIN[0], "initdb"), "-D", data, "-A", "trust", cwd="/")
            with open(os.path.join(data, "postgresql.auto.conf"), "a") as conf:
                conf.write(f"listen_addresses=''\nunix_socket_directories='{sockets}'\nshared_buffers=256MB\nmax_wal_size=2GB\n")
            control = os.path.join(BIN[0], "pg_ctl")
            as_postgres(control, "-D", data, "-l", os.path.join(directory, "log"), "-w", "start", cwd="/")
            try:
                as_postgres(os.path.join(BIN[0], "createdb"), "-h", sockets, "bench", cwd="/")
                as_postgres(os.path.join(BIN[0], "pgbench"), "-h", sockets, "-i", "-q", "-s", "10", "bench", cwd="/")
                argv = [WALWISE, "probe", directory, "--format", "json"]
                best = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)["best"]
                runs = {(clients, method): [] for clients in (1, 8) for method in METHODS}
                for nth in range(SERVER_ROUNDS):
                    # Another order each round, so that no method always follows the same one.
                    for method in METHODS[nth % 4:] + METHODS[:nth % 4]:
                        as_postgres(os.path.join(BIN[0], "psql"), "-h", sockets, "-d", "bench", "-qc",
                                    f"ALTER SYSTEM SET wal_sync_method = '{method}'", "-c", "SELECT pg_reload_conf()",
                                    "-c", "CHECKPOINT", cwd="/")
                        for clients in (1, 8):
                            runs[(clients, method)].append(Run(sockets, clients, devices))
            finally:
                as_postgres(control, "-D", data, "-m", "fast", "-w", "stop", cwd="/")
        for clients in (1, 8):
            of = {method: runs[(clients, method)] for method in METHODS}
            median = {method: statistics.median(run.rate for run in of[method]) for method in METHODS}
            flushed = {method: [statistics.median(run.flushes[at] for run in of[method]) for at in range(len(devices))]
                       for method in METHODS}
            top = max(median, key=median.get)
            mean, low, high = interval([a.rate / b.rate for a, b in zip(of[best], of[top])])
            figures = [f"{median[m]:.0f}/s, {' / '.join(f'{f:.2f}' for f in flushed[m])}" for m in METHODS]
            shown = ["1.00", "it is the best"] if top == best else [f"{mean:.2f}", f"{low:.2f}–{high:.2f}"]
            lines.append("| " + " | ".join([kind, str(clients), *figures, best, *shown]) + " |")
    return [f"`pgbench -N`, {SERVER_ROUNDS} rounds over the methods in turn, {SERVER_SECONDS} s each, on loop devices with direct I/O.",
            "Medians of transactions per second, and flushes for each transaction at the loop and at the disk below it, others' with",
            "them. *Advised* is what `walwise probe` names there. The ratio is of the same rounds, its interval a bootstrap over them;",
            "the best was chosen by these very figures, so the ratio errs to the low side.", "", *lines]
