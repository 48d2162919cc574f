"""Writers of commits, and readers of what is left of them: walwise's drill, PostgreSQL and MariaDB. A writer acknowledges 0
when all that commits need is durable."""
import os, re, subprocess
from contextlib import contextmanager

import write_log
from recovery import DEADLINE, run_program

PGBIN = "/usr/lib/postgresql/15/bin"
# Some commits between two checkpoints, so that pages are written in place as well.
CHECKPOINT = 40


@contextmanager
def process(argv, **options):
    """A child that is killed at the end, as the power ends a writer."""
    child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *argv], text=True, **options)
    try:
        yield child
    finally:
        child.kill()
        child.wait(DEADLINE)


class Drill:
    """`walwise drill write`; its pages are read here as `drill read` reads them."""
    # A drill's segment has 2,048 pages; more commits would overwrite the first ones.
    most = 2000
    # A walwise that has to read the same in each state, and how many it has read.
    program, compared = None, 0

    def write(self, directory, commits, acknowledge, walwise, segments, method, settings):
        acknowledge(0)
        argv = [walwise, "drill", "write", directory, "--segments", segments, "--method", method]
        with process(argv, stdout=subprocess.PIPE) as writer:
            for line in writer.stdout:
                if line.startswith("ack "):
                    acknowledge(int(line.split()[1]))
                    if int(line.split()[1]) == commits:
                        return
        raise RuntimeError("the writer ended early")

    def surviving(self, directory):
        own, numbers = os.path.join(directory, "walwise-drill"), set()
        try:
            with open(os.path.join(own, "run")) as file:
                head = file.read()
            run = int(head.split(" run=")[1].split()[0], 16)
            names = [name for name in os.listdir(own) if name.startswith("segment-")]
        except (OSError, IndexError, ValueError):
            return numbers
        for name in names:
            numbers |= intact(os.path.join(own, name), run)
        if self.program:
            self.compare(directory, numbers)
        return numbers

    def compare(self, directory, numbers):
        done = subprocess.run([self.program, "drill", "read", directory], capture_output=True, text=True, timeout=DEADLINE)
        pairs = re.findall(r"^survived (\d+)-(\d+)$", done.stdout, re.M)
        found = {number for first, last in pairs for number in range(int(first), int(last) + 1)}
        self.compared += 1
        if done.returncode or found != numbers:
            raise AssertionError(f"walwise reads {sorted(found)}, not {sorted(numbers)}: {done.stderr}")


def intact(path, run):
    """Numbers of the intact pages of a segment; a read error ends it."""
    numbers = set()
    try:
        with open(path, "rb") as file:
            while len(data := file.read(write_log.PAGE)) == write_log.PAGE:
                magic, of_run, number = write_log.PAGE_HEAD.unpack_from(data)
                if magic == write_log.PAGE_MAGIC and of_run == run and data == write_log.page(run, number):
                    numbers.add(number)
    except OSError:
        pass
    return numbers


class Postgres:
    """A client that inserts a row a commit, and a checkpoint now and then."""
    most = 100000
    user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]

    def write(self, directory, commits, acknowledge, walwise, segments, method, settings):
        main, sockets = os.path.join(directory, "main"), os.path.dirname(directory)
        for path in (directory, sockets):
            os.chmod(path, 0o777)
        run_program([*self.user, f"{PGBIN}/initdb", "-D", main, "-A", "trust", "-E", "UTF8", "--no-sync"])
        options = ["listen_addresses=", "wal_sync_method=" + method, "max_wal_size=48MB", "shared_buffers=16MB", *settings]
        server = [*self.user, f"{PGBIN}/postgres", "-D", main, "-k", sockets, *(f"--{option}" for option in options)]
        with process(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            run_program([*self.user, f"{PGBIN}/pg_isready", "-q", "-h", sockets, "-t", "60"], attempts=100)
            client = [f"{PGBIN}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", sockets, "-U", "postgres", "postgres"]
            with process(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as psql:
                def ask(statement):
                    print(statement, file=psql.stdin, flush=True)
                    return psql.stdout.readline().strip()
                ask("CREATE TABLE commits (n int PRIMARY KEY, pad text) WITH (fillfactor = 50); CHECKPOINT; SELECT 1;")
                run_program(["sync", "-f", directory])
                acknowledge(0)
                for number in range(1, commits + 1):
                    if number % CHECKPOINT == 0:
                        ask("CHECKPOINT; SELECT 1;")
                    if ask(f"INSERT INTO commits VALUES ({number}, repeat(md5('{number}'), 8)) RETURNING n;") != str(number):
                        raise RuntimeError("the server ended early")
                    acknowledge(number)

    def surviving(self, directory):
        """The rows after recovery; none when the server does not start."""
        query = "SELECT string_agg(n::text, ',') AS rows FROM commits WHERE pad = repeat(md5(n::text), 8);\n"
        # A single-user server recovers as the postmaster does, and without the fsyncs that nothing reads here.
        argv = [*self.user, f"{PGBIN}/postgres", "--single", "-F", "-D", os.path.join(directory, "main"), "postgres"]
        done = subprocess.run(argv, input=query, capture_output=True, text=True, timeout=DEADLINE)
        rows = re.search(r'rows = "([\d,]*)"', done.stdout)
        return {int(row) for row in rows[1].split(",")} if rows and rows[1] else set()


class Mariadb:
    """A client that inserts a row a commit into InnoDB."""
    most = 100000
    server = ["mariadbd", "--no-defaults", "--user=mysql", "--skip-networking", "--innodb-log-file-size=8M",
              "--innodb-buffer-pool-size=16M"]

    def write(self, directory, commits, acknowledge, walwise, segments, method, settings):
        main, home = os.path.join(directory, "main"), os.path.dirname(directory)
        for path in (directory, home):
            os.chmod(path, 0o777)
        run_program(["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={main}", "--skip-test-db",
                     "--innodb-log-file-size=8M", "--auth-root-authentication-method=normal"])
        argv = [*self.server, f"--datadir={main}", f"--socket={home}/socket", *(f"--{setting}" for setting in settings)]
        with process(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            run_program(["mariadb-admin", "--no-defaults", f"--socket={home}/socket", "ping"], attempts=300)
            client = ["mariadb", "--no-defaults", "-N", "-B", "--unbuffered", f"--socket={home}/socket"]
            with process(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sql:
                def ask(statement):
                    print(statement, file=sql.stdin, flush=True)
                    return sql.stdout.readline().strip()
                ask("CREATE DATABASE crash; CREATE TABLE crash.commits (n INT PRIMARY KEY, pad TEXT) ENGINE=InnoDB; SELECT 1;")
                run_program(["sync", "-f", directory])
                acknowledge(0)
                for number in range(1, commits + 1):
                    insert = f"INSERT INTO crash.commits VALUES ({number}, REPEAT(MD5({number}), 8)); SELECT {number};"
                    if ask(insert) != str(number):
                        raise RuntimeError("the server ended early")
                    acknowledge(number)

    def surviving(self, directory):
        """The rows after recovery; none when the server does not start."""
        out = os.path.join(os.path.dirname(directory), "rows")
        os.chmod(os.path.dirname(directory), 0o777)
        if os.path.exists(out):
            os.unlink(out)
        query = f"SELECT n FROM crash.commits WHERE pad = REPEAT(MD5(n), 8) INTO OUTFILE '{out}';\n"
        # Nothing reads what the recovery itself flushes, or what a clean end would write.
        argv = [*self.server, f"--datadir={directory}/main", "--bootstrap", "--innodb-fast-shutdown=2",
                "--innodb-flush-method=nosync"]
        subprocess.run(argv, input=query, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, timeout=DEADLINE)
        if not os.path.exists(out):
            return set()
        with open(out) as file:
            return {int(line) for line in file}


ALL = {"drill": Drill(), "postgres": Postgres(), "mariadb": Mariadb()}
