"""Writes a synthetic machine as a directory tree: /sys and /proc as `lsblk --sysroot DIR` reads them and as walwise reads
them when DIR is its root. Every thousand devices are the same mix of what large hosts have, with 500 mounts.

The attributes are those that Linux 6.1 shows (Documentation/ABI/stable/sysfs-block and sysfs-block-device; the layout of
/sys/devices is that of the drivers). Nothing is random, so a tree of one size is always the same.
"""
import contextlib, os, shutil, subprocess, tempfile

QUEUE = {
    "add_random": 0, "chunk_sectors": 0, "dax": 0, "discard_granularity": 4096, "discard_max_bytes": 2147450880,
    "discard_max_hw_bytes": 2147450880, "discard_zeroes_data": 0, "fua": 1, "hw_sector_size": 512, "io_poll": 0,
    "iostats": 1, "logical_block_size": 512, "max_hw_sectors_kb": 32767, "max_sectors_kb": 1280, "max_segments": 168,
    "minimum_io_size": 4096, "nomerges": 0, "nr_requests": 256, "nr_zones": 0, "optimal_io_size": 0,
    "physical_block_size": 4096, "read_ahead_kb": 128, "rotational": 0, "rq_affinity": 1,
    "scheduler": "[mq-deadline] none", "wbt_lat_usec": 2000, "write_cache": "write back", "write_same_max_bytes": 0,
    "write_zeroes_max_bytes": 0, "zone_append_max_bytes": 0, "zone_write_granularity": 0, "zoned": "none",
}
STAT = "  100 0 800 10 200 0 1600 20 0 30 40 5 0 40 1 60 8"


class Tree:
    """A tree being written."""

    def __init__(self, root):
        self.root = root
        self.devices = 0
        self.disks = 0
        self.dms = 0
        self.mds = 0
        self.mounts = []
        self.held = {}

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def file(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(f"{text}\n")

    def files(self, base, values):
        directory = self.path(base)
        os.makedirs(directory, exist_ok=True)
        for name, value in values.items():
            with open(os.path.join(directory, name), "w") as out:
                out.write(f"{value}\n")

    def link(self, name, to):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.path.relpath(self.path(to), os.path.dirname(path)), path)

    def device(self, place, devtype, size, queue=None, below=()):
        """A block device at this place in /sys/devices; `below` are the devices it stands on."""
        self.devices += 1
        name = os.path.basename(place)
        # Numbers as drivers give them do not matter; that they are different does.
        devno = f"{8 + self.devices // 4096}:{self.devices % 4096}"
        self.files(place, {
            "dev": devno, "size": size // 512, "ro": 0, "stat": STAT, "alignment_offset": 0, "inflight": "0 0",
            "uevent": f"MAJOR={devno.split(':')[0]}\nMINOR={devno.split(':')[1]}\nDEVNAME={name}\nDEVTYPE={devtype}",
        })
        if devtype == "disk":
            self.files(place, {"removable": 0, "hidden": 0, "range": 256, "ext_range": 256, "capability": 50})
            self.files(f"{place}/queue", QUEUE | (queue or {}))
            os.makedirs(self.path(f"{place}/slaves"))
            self.link(f"/sys/block/{name}", place)
        os.makedirs(self.path(f"{place}/holders"))
        self.link(f"/sys/class/block/{name}", place)
        self.link(f"/sys/dev/block/{devno}", place)
        self.link(f"{place}/subsystem", "/sys/class/block")
        for base in below:
            self.link(f"{place}/slaves/{os.path.basename(base)}", base)
            self.link(f"{base}/holders/{name}", place)
        self.held[place] = devno
        return place

    def scsi(self):
        n = self.disks
        self.disks += 1
        host, device = f"/sys/devices/pci0000:00/0000:00:{n % 30:02x}.0/host{n % 30}", f"{n % 30}:0:{n // 30}:0"
        unit = f"{host}/target{n % 30}:0:{n // 30}/{device}"
        self.files(unit, {"vendor": "SEAGATE ", "model": "ST4000NM0295    ", "rev": "DT31", "state": "running", "type": 0,
                          "queue_depth": 64})
        self.file(f"{unit}/scsi_disk/{device}/cache_type", "write through")
        self.file(f"{unit}/scsi_disk/{device}/FUA", 1)
        self.link(f"/sys/class/scsi_disk/{device}", f"{unit}/scsi_disk/{device}")
        if n < 30:
            self.file(f"{host}/scsi_host/host{n}/proc_name", "mpt3sas")
            self.link(f"/sys/class/scsi_host/host{n}", f"{host}/scsi_host/host{n}")
        place = self.device(f"{unit}/block/sd{letters(n)}", "disk", 4 << 40, {"rotational": 1, "write_cache": "write through"})
        self.link(f"{place}/device", unit)
        return place

    def nvme(self, n):
        control = f"/sys/devices/pci0000:3a/0000:3b:{n % 32:02x}.{n // 32}/nvme/nvme{n}"
        self.files(control, {"model": "SAMSUNG MZQL23T8HCLS-00A07", "serial": f"S64HNE0R{n:06}", "transport": "pcie",
                             "firmware_rev": "GDC5602Q", "state": "live"})
        place = self.device(f"{control}/nvme{n}n1", "disk", 3840 << 30, {"scheduler": "[none] mq-deadline"})
        self.link(f"{place}/device", control)
        return place

    def virtio(self, n):
        place = self.device(f"/sys/devices/pci0000:00/0000:00:04.0/virtio{n}/block/vd{letters(n)}", "disk", 1 << 40)
        self.files(place, {"cache_type": "write back", "serial": f"disk-{n}"})
        self.link(f"{place}/device", f"/sys/devices/pci0000:00/0000:00:04.0/virtio{n}")
        return place

    def partition(self, disk):
        name = os.path.basename(disk)
        place = f"{disk}/{name}{'p' if name[-1].isdigit() else ''}1"
        self.device(place, "partition", 1 << 39)
        self.files(place, {"partition": 1, "start": 2048})
        return place

    def dm(self, name, uuid, below):
        place = f"/sys/devices/virtual/block/dm-{self.dms}"
        self.dms += 1
        self.device(place, "disk", 100 << 30, {"scheduler": "none"}, below)
        self.files(f"{place}/dm", {"name": name, "uuid": uuid, "suspended": 0})
        return place

    def md(self, below):
        place = f"/sys/devices/virtual/block/md{self.mds}"
        self.mds += 1
        self.device(place, "disk", 2 << 40, {"scheduler": "none"}, below)
        self.files(f"{place}/md", {
            "level": "raid1", "raid_disks": len(below), "degraded": 0, "sync_action": "idle", "array_state": "clean",
            "metadata_version": 1.2, "consistency_policy": "bitmap", "chunk_size": 0,
        })
        for member in below:
            self.files(f"{place}/md/dev-{os.path.basename(member)}", {"state": "in_sync"})
        return place

    def loop(self, n):
        place = self.device(f"/sys/devices/virtual/block/loop{n}", "disk", 64 << 20)
        self.files(f"{place}/loop", {"backing_file": f"/var/lib/images/{n}.img", "autoclear": 1, "offset": 0, "dio": 0})
        return place

    def mount(self, devno, point, fstype, source, options="rw,relatime", super_options="rw", root="/"):
        os.makedirs(self.path(point), exist_ok=True)
        number = len(self.mounts) + 30
        above = 1 if point == "/" else 30
        self.mounts.append(f"{number} {above} {devno} {root} {point} {options} shared:{number} - {fstype} {source} {super_options}")

    def on(self, place, point, fstype, super_options="rw"):
        self.mount(self.held[place], point, fstype, f"/dev/{os.path.basename(place)}", super_options=super_options)

    def thousand(self, k):
        """A thousand devices and 500 mounts."""
        disks = [self.scsi() for _ in range(200)]
        parts = [self.partition(disk) for disk in disks]
        arrays = [self.md(parts[2 * i:2 * i + 2]) for i in range(40)]
        paths = [self.dm(f"mpath{k}-{i}", f"mpath-3600508b4{k:04}{i:04}", parts[80 + 2 * i:82 + 2 * i]) for i in range(40)]
        volumes = [self.dm(f"vg{k}-data{i}", f"LVM-{k:016}{i:016}", [(arrays + paths)[i % 80]]) for i in range(160)]
        crypts = [self.dm(f"crypt{k}-{i}", f"CRYPT-LUKS2-{k:016}{i:016}-c", [volumes[i]]) for i in range(60)]
        nvmes = [self.nvme(k * 60 + i) for i in range(60)]
        virtios = [self.virtio(k * 40 + i) for i in range(40)]
        nvme_parts = [self.partition(disk) for disk in nvmes]
        virtio_parts = [self.partition(disk) for disk in virtios]
        loops = [self.loop(k * 100 + i) for i in range(100)]
        if k == 0:
            self.on(virtio_parts[0], "/", "ext4", "rw,errors=remount-ro")
        for i, place in enumerate(volumes[60:] + nvme_parts[:40]):
            self.on(place, f"/data/{k}/ext4-{i}", "ext4", "rw,stripe=16")
        for i, place in enumerate(crypts + virtio_parts[1:]):
            self.on(place, f"/srv/{k}/xfs-{i}", "xfs", "rw,attr2,inode64,logbufs=8,logbsize=32k,noquota")
        for i, place in enumerate(loops):
            self.on(place, f"/snap/{k}/app-{i}", "squashfs", "ro,errors=continue")
        root = self.mounts[0].split()[2]
        for i in range(500 - len(self.mounts) % 500):
            layers = ":".join(f"/var/lib/docker/overlay2/l/{k:06}{i:06}{layer:014}" for layer in range(6))
            upper = f"/var/lib/docker/overlay2/{k:032}{i:032}"
            if i % 2 == 0:
                self.mount(f"0:{1000 + k * 500 + i}", f"{upper}/merged", "overlay", "overlay",
                           super_options=f"rw,lowerdir={layers},upperdir={upper}/diff,workdir={upper}/work")
            elif i % 4 == 1:
                self.mount(f"0:{1000 + k * 500 + i}", f"/run/user/{k * 500 + i}", "tmpfs", "tmpfs", super_options="rw,size=800k")
            else:
                self.mount(root, f"/var/lib/kubelet/pods/{k}-{i}/volume", "ext4", "/dev/vda1", root=f"/pods/{k}-{i}")


def letters(n):
    """The n-th name of the kernel's disks: a … z, aa …"""
    name = ""
    n += 1
    while n:
        n, letter = divmod(n - 1, 26)
        name = chr(97 + letter) + name
    return name


def write(root, devices):
    """Writes a tree of this many thousand devices; gives how many devices and mounts it has."""
    tree = Tree(root)
    for k in range(devices // 1000):
        tree.thousand(k)
    tree.file("/proc/self/mountinfo", "\n".join(tree.mounts))
    tree.file("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority")
    tree.file("/proc/filesystems", "nodev\tsysfs\nnodev\ttmpfs\n\text4\n\txfs\n\tsquashfs")
    tree.file("/proc/meminfo", "MemTotal: 263856140 kB\nMemFree: 1000000 kB\nMemAvailable: 200000000 kB")
    tree.file("/proc/cmdline", "root=/dev/vda1 ro")
    tree.file("/proc/version", "Linux version 6.1.0-18-amd64 (build@host) (gcc) #1 SMP Debian 6.1.76-1")
    tree.file("/etc/os-release", 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"')
    return tree.devices, len(tree.mounts)


@contextlib.contextmanager
def machine(devices, program):
    """A tree in memory with the program in it, as long as it is used: its root, and how many devices and mounts it has.

    The kernel's own /proc is mounted beside the tree's, for files are opened through the descriptors in it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:
        devices, mounts = write(root, devices)
        install(root, program)
        kernel = os.path.join(root, "kernel")
        os.mkdir(kernel)
        os.symlink("/kernel/self/fd", os.path.join(root, "proc/self/fd"))
        subprocess.run(["mount", "-t", "proc", "proc", kernel], check=True)
        try:
            yield root, devices, mounts
        finally:
            subprocess.run(["umount", "-l", kernel], check=True)


def install(root, program):
    """Puts walwise with its libraries into the tree; its reading child is started through /proc/self/exe."""
    shutil.copy(program, os.path.join(root, "walwise"))
    shutil.copy(program, os.path.join(root, "proc/self/exe"))
    for word in subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split():
        if word.startswith("/"):
            target = os.path.join(root, word.lstrip("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(word, target)
