"""Records what a file system writes in a guest of the lab (tests/lab), under a kernel of Debian.

The disks of the guest are nbdkit's (tests/lab/volatile.py), which append to one log: the order in it is that in which the
requests end. A disk might have made a request durable that ends after a flush began; such states are not tried.
"""
import os, re, sys

import record, write_log

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from powercut import Disks, Guest, built, settings

SIZE = 400 << 20
# What tests/lab/guest/drill.sh gives the file system; sfdisk aligns to 1 MiB.
START, LENGTH = 1 << 20, 380 << 20
# Layers over the disks, which the kernel that explores may lack.
LAYERS = ("lvm", "md")


def record_in_guest(series, configuration, out, walwise, commits, method, segments, physical):
    """Boots a guest with a configuration of tests/lab/drills.sh and cuts its power when the commits are acknowledged."""
    home = built(series, f"crash-{series}-{configuration}", walwise)
    count, device, *_ = settings(configuration)
    log = os.path.join(home, "crash-log")
    with open(log, "wb") as file:
        # The log ends where the power was cut.
        file.write(write_log.super_block((1 << 64) - 1))
    disks = Disks(home, ["nothing"] * count, SIZE, log)
    try:
        words = {"drill": configuration, "step": "record", "disks": count, "ways": f"{method}:{segments}"}
        guest = Guest(home, disks, f"{device},physical_block_size={physical}", words, 1)
        try:
            guest.until(lambda _: f"ack {commits}\n" in guest.logged()[0], f"{commits} commits are acknowledged")
        finally:
            guest.cut()
    finally:
        disks.close()
    kind, physical_bytes, kernel = re.search(r"^(\w+) on physical (\d+) of (\S+)", guest.said(), re.M).groups()
    with open(log, "rb") as file:
        raw = file.read()
    parts = configuration.split("-")
    description = {"fs": kind, "size": LENGTH * count, "disks": count, "physical": int(physical_bytes), "kernel": kernel,
                   "configuration": configuration, "layered": any(layer in parts for layer in LAYERS),
                   "verdict": re.search(r"^place 0 is (\S+)$", guest.said(), re.M)[1]}
    write_log.save(out, record.with_marks(raw, description, SIZE, START + LENGTH, START))
