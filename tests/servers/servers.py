"""Real servers, each in a directory of its own, on a socket of its own and without a network, as the user whose server it is.

A server of another release of Debian sees that release's /usr in the place of this machine's: in a mount name space of its own.
"""
import ctypes, glob, os, pwd, re, shlex, shutil, signal, subprocess, time

from fetch import Failed, put

PORT = 5432
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def call(what, *arguments):
    if getattr(LIBC, what)(*arguments):
        raise OSError(ctypes.get_errno(), what)


class Server:
    """What both kinds of server have in common: a directory, a user, processes."""

    def __init__(self, program, home, user):
        self.program, self.home, self.owner = program, os.path.join(home, f"{program.kind}-{program.release}"), pwd.getpwnam(user)
        self.bin, self.process = program.bin, None
        self.data, self.log = os.path.join(self.home, "data"), os.path.join(self.home, "log")
        self.directory(self.home)
        self.version = None

    def directory(self, path):
        os.makedirs(path, exist_ok=True)
        os.chown(path, self.owner.pw_uid, self.owner.pw_gid)
        return path

    def file(self, name, text):
        path = os.path.join(self.home, name)
        put(path, text)
        os.chmod(path, 0o644)
        os.chown(path, self.owner.pw_uid, self.owner.pw_gid)
        return path

    def enter(self):
        """In a child: the /usr of its release, and its user. What it starts does not outlive us."""
        if self.program.tree:
            call("unshare", CLONE_NEWNS)
            call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
            call("mount", self.program.tree.encode(), b"/usr", None, MS_BIND | MS_REC, None)
        os.setgroups([])
        os.setgid(self.owner.pw_gid)
        os.setuid(self.owner.pw_uid)
        os.umask(0o077)
        call("prctl", PR_SET_PDEATHSIG, signal.SIGQUIT, 0, 0, 0)

    def beside(self, *argv):
        """A program of this machine, as root, that sees what the running server sees."""
        names = os.open(f"/proc/{self.process.pid}/ns/mnt", os.O_RDONLY)
        try:
            return subprocess.run(argv, preexec_fn=lambda: call("setns", names, CLONE_NEWNS), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        finally:
            os.close(names)

    def options(self):
        path = f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin"
        return {"preexec_fn": self.enter, "cwd": self.home, "env": {"PATH": path, "LC_ALL": "C", "HOME": self.home}}

    def run(self, *argv):
        """One of its programs; whether it succeeded, and what it said."""
        done = subprocess.run(argv, **self.options(), **QUIET)
        return done.returncode == 0, done.stdout

    def must(self, *argv):
        good, said = self.run(*argv)
        if not good:
            raise Failed(f"{self.program.kind} {self.program.release}: {shlex.join(argv)}: {said[-3000:]}")
        return said

    def spawn(self, *argv):
        """Starts the server and waits until it answers; whether it does."""
        with open(self.log, "w") as log:
            os.fchown(log.fileno(), self.owner.pw_uid, self.owner.pw_gid)
            self.process = subprocess.Popen(argv, **self.options(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.process.poll() is not None:
                self.process = None
                return False
            if self.answers():
                return True
            time.sleep(0.05)
        self.stop()
        return False

    def answers(self):
        return self.sql("SELECT 1")[0]

    def stop(self):
        if self.process is not None:
            self.process.send_signal(self.STOP)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def said(self):
        return open(self.log, errors="replace").read()

    def rows(self, statement, separator):
        good, said = self.sql(statement)
        if not good:
            raise Failed(f"{self.program.kind} {self.program.release}: {statement}: {said}")
        return [line.split(separator) for line in said.splitlines()]


class Postgres(Server):
    STOP = signal.SIGINT

    def __init__(self, program, home):
        super().__init__(program, home, "postgres")
        if program.source == "npm":
            # The user of the server may not be let in to where it was fetched.
            self.bin = shutil.copytree(os.path.dirname(program.bin), os.path.join(self.home, "programs"), symlinks=True) + "/bin"
        self.socket = self.directory(os.path.join(self.home, "s"))
        self.psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1]
        self.version = self.must(f"{self.bin}/postgres", "--version").split()[2]
        self.initdb(self.data)
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.writelines(f"include '{self.file(name, '')}'\n" for name in ("before.conf", "walwise.conf"))

    def initdb(self, data, *more):
        self.must(f"{self.bin}/initdb", "-N", "-A", "trust", "-U", "postgres", *more, "-D", data)

    def start(self, *more, data=None):
        own = ["-k", self.socket, "-p", str(PORT), "-c", "listen_addresses="]
        return self.spawn(f"{self.bin}/postgres", "-D", data or self.data, *own, *more)

    def sql(self, text):
        """Statements, each a transaction of its own, as somebody types them."""
        argv = [self.psql, "-X", "-h", self.socket, "-p", str(PORT), "-U", "postgres", "-d", "postgres", "-At", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run(argv, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode == 0, done.stdout.strip()

    def errors(self, except_for=""):
        """What is wrong with the lines of ours, without one kind of error."""
        where = f"sourcefile LIKE '%/walwise.conf' AND error <> '{except_for}'"
        return ["|".join(row) for row in self.rows(f"SELECT sourceline, name, error FROM pg_file_settings WHERE {where}", "|")]

    def takes(self, name, value):
        """Whether it would start with this value."""
        return self.run(f"{self.bin}/postgres", "-D", self.data, "-C", name, "-c", f"{name}={value}")


class Mariadb(Server):
    STOP = signal.SIGTERM

    def __init__(self, program, home):
        super().__init__(program, home, "mysql")
        self.socket = os.path.join(self.home, "socket")
        self.defaults = f"--defaults-file={self.home}/my.cnf"
        self.directory(os.path.join(self.home, "tmp"))
        self.file("walwise.cnf", "")
        self.file("my.cnf", f"[mysqld]\ndatadir = {self.data}\nsocket = {self.socket}\npid-file = {self.home}/pid\ntmpdir = {self.home}/tmp\n"
                  f"skip-networking\n!include {self.home}/walwise.cnf\n")
        self.version = re.search(r"Ver (\S+)", self.must(f"{self.bin}/mariadbd", "--version")).group(1)
        self.must("/usr/bin/mariadb-install-db", self.defaults, "--skip-test-db")

    def start(self):
        return self.spawn(f"{self.bin}/mariadbd", self.defaults)

    def sql(self, text):
        argv = ["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot", "--password=", "-N", "-B", "-e", text]
        done = subprocess.run(argv, **QUIET)
        return done.returncode == 0, done.stdout.strip()

    def complaints(self, name):
        """What it said of a setting since it started."""
        marked = [line for line in self.said().splitlines() if "[Warning]" in line or "[ERROR]" in line]
        return [line for line in marked if name in line.replace("-", "_")]

    def takes(self, name, value):
        good, said = self.run(f"{self.bin}/mariadbd", "--no-defaults", f"--{name}={value}", "--verbose", "--help")
        # A switch takes any word, and is off then.
        complaint = re.search(r".*(?:\[ERROR\]|adjusted|ignoring option|unknown (?:variable|option)|wasn't recognized).*", said)
        return good and not complaint, complaint.group() if complaint else ""
