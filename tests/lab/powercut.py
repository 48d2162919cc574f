"""What the drills share: disks that forget what was not flushed, the guest on them, the power cut, and waiting for what it says."""
import os, re, subprocess, time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = {"6.1": "linux-image-amd64", "6.12": "linux-image-6.12-amd64"}
WALWISE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "walwise")
# Ten times what the slowest machine took: for guests that hang, not for days that are slow.
DEADLINE = 600
# A disk that keeps a random half may keep just what matters; each second cut keeps nothing.
FURTHER = 4


def sections(file):
    """The sections of a file of configurations by name, as tests/lab/sections takes them apart."""
    with open(os.path.join(HERE, file)) as text:
        parts = text.read().split("\n### ")[1:]
    return {name: body for name, body in (part.split("\n", 1) for part in parts)}


Settings = namedtuple("Settings", "disks device unseen fault")


def settings(name):
    """What the head of a configuration says of its disks, of what a guest cannot see of them, and of damage by a kernel."""
    text = sections("drills.sh")[name]

    def word(key, otherwise):
        found = re.search(rf"^#{key} (.*)$", text, re.M)
        return found[1] if found else otherwise
    return Settings(int(word("disks", "1")), word("disk", "virtio-blk-pci,write-cache=on"), word("unseen", ""), word("fault", ""))


class Failed(Exception):
    pass


class Disks:
    """The disks of one cut, from the factory to the second boot; what each keeps of what was not flushed is said in its turn."""

    def __init__(self, home, keeps, size=400 << 20, log=None):
        self.servers, self.sockets = [], []
        for nth, keep in enumerate(keeps):
            image, socket = (os.path.join(home, f"{kind}-{nth}") for kind in ("image", "socket"))
            for old in (image, socket):
                if os.path.exists(old):
                    os.unlink(old)
            with open(image, "wb") as file:
                file.truncate(size)
            printed = open(os.path.join(home, f"disk-{nth}.log"), "w")
            recorded = [f"log={log}", f"base={nth * size}"] if log else []
            self.servers.append(subprocess.Popen(
                ["nbdkit", "-f", "-U", socket, "python", os.path.join(HERE, "volatile.py"), f"file={image}", f"keep={keep}",
                 *recorded], stderr=printed, stdout=printed))
            self.sockets.append(socket)
        wait(lambda: all(os.path.exists(socket) for socket in self.sockets), "nbdkit listens", self.servers)

    def drives(self, device):
        """As arguments of qemu; `device` is what they are to the guest, with its options."""
        argv = ["-device", "qemu-xhci,p2=15,p3=15"] if device.startswith("usb-") else []
        for nth, socket in enumerate(self.sockets):
            argv += ["-drive", f"file=nbd:unix:{socket},id=disk{nth},if=none,format=raw,cache.writeback=on",
                     "-device", f"{device},drive=disk{nth},serial=DRILL-{nth}"]
        return argv

    def close(self):
        for server in self.servers:
            server.kill()
            server.wait()


def wait(so, what, processes=()):
    end = time.monotonic() + DEADLINE
    while not so():
        if time.monotonic() > end:
            raise Failed(f"waited in vain until {what}")
        for process in processes:
            if process.poll() is not None:
                raise Failed(f"ended before {what}")
        time.sleep(0.05)


def text_of(path):
    try:
        with open(path, errors="replace", newline="") as file:
            return file.read().replace("\r", "")
    except FileNotFoundError:
        return ""


class Guest:
    """A guest on those disks, told by words of its kernel's command line what to do. Besides its console it has logs: serial
    ports by the names log0, log1 and so on."""

    def __init__(self, home, disks, device, words, logs=0):
        self.console = os.path.join(home, "console-" + words["step"])
        self.logs = [os.path.join(home, f"log-{words['step']}-{nth}") for nth in range(logs)]
        append = "console=ttyS0 panic=-1 quiet init_on_alloc=0 mitigations=off " + " ".join(f"{key}={value}" for key, value in words.items()) + " end"
        for old in [self.console, *self.logs]:
            if os.path.exists(old):
                os.unlink(old)
        ports = ["-device", "virtio-serial-pci,max_ports=31"] if logs else []
        for nth, log in enumerate(self.logs):
            ports += ["-chardev", f"file,id=log{nth},path={log}", "-device", f"virtserialport,chardev=log{nth},name=log{nth}"]
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "qemu64,+rdrand", "-m", "768", "-nodefaults",
             "-no-user-config", "-display", "none", "-no-reboot", "-kernel", os.path.join(home, "vmlinuz"),
             "-initrd", os.path.join(home, "initrd"), "-serial", "file:" + self.console, "-append", append, *ports,
             *disks.drives(device)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def said(self):
        return text_of(self.console)

    def logged(self):
        """What is in each log."""
        return [text_of(log) for log in self.logs]

    def until(self, so, what):
        def done():
            said = self.said()
            if "step failed" in said:
                raise Failed(said[said.index("step failed"):][:2000])
            return so(said)
        try:
            wait(done, what, [self.process])
        except Failed as failed:
            # What it said while it was found to have ended counts.
            if not done():
                raise Failed(f"{failed}: {self.said()[-2000:]}")

    def cut(self):
        self.process.kill()
        self.process.wait()


def rounds(cut, first, count, shown):
    """What `count` cuts come to, which are numbered from `first`, and up to FURTHER more while what is to be seen is not shown."""
    done = []
    for nth in range(first, first + count + FURTHER):
        if nth >= first + count and shown(done):
            break
        done += cut(nth)
    return done


def built(series, name, walwise):
    """The directory of a guest with that kernel and program, ready to boot."""
    home = os.path.join(ROOT, "target", "lab", name)
    os.makedirs(home, exist_ok=True)
    unpacked = subprocess.run([os.path.join(HERE, "package"), KERNELS[series]], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([os.path.join(HERE, "image"), unpacked, walwise, home], check=True, cwd=ROOT)
    return home
