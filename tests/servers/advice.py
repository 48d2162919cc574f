"""Gives a server what walwise prints for it, word for word: each line in a configuration file, each step of the script. What the server refuses, or takes with a complaint, is a refusal.
"""
import os, re, shutil, subprocess, time

from described import SAME, count
from fetch import Failed

LINE_OF_MYSQL = "# my.cnf, [mysqld]: "
STEP = "# apply:\n#   {}\n# verify:\n# undo:\n"


def lines(conf):
    """The settings among the lines that `--format conf` prints."""
    own = [line for line in conf.splitlines() if line and line[0] not in "#["]
    return own + [line.removeprefix(LINE_OF_MYSQL) for line in conf.splitlines() if line.startswith(LINE_OF_MYSQL)]


def commands(script):
    """The lines below `apply`, `verify` and `undo` of a step that `--format script` prints."""
    found = re.search(r"(?m)^# apply:\n((?:#   .*\n)*)# verify:\n((?:#   .*\n)*)# undo:\n((?:#   .*\n)*)", script)
    if not found:
        raise Failed(f"the script has no step: {script}")
    return [[line.removeprefix("#   ") for line in part.splitlines()] for part in found.groups()]


def same(value, shown):
    value, shown = value.lower(), shown.lower()
    return value in (shown, "-1") or (value, shown) in SAME  # -1 lets the server choose


class Trial:
    def __init__(self, server, answer):
        self.server, self.refused, self.remarks, self.ways = server, [], [], 0
        self.tried, self.held_back, self.wrongly_held = set(), set(), []
        for control in self.CONTROLS:
            if self.way(*control)[0]:
                raise Failed(f"{server.version} takes {control}: whatever is given to it counts as taken")
        done = set()
        for advised in answer["advised"]:
            name, value = advised["name"], advised["value"]
            if advised["held_back"] is not None:
                self.held(advised)
                continue
            # initdb chooses whether there are checksums: no line of a file does.
            if not lines(advised["conf"]) and not advised["apply"] and name != "data_checksums":
                raise Failed(f"nothing is printed for {name} = {value!r}: {advised['conf']}")
            self.tried.add((name, value))
            for way in self.printed(advised):
                if (key := (name, value, *map(str, way))) not in done:
                    done.add(key)
                    self.ways += 1
                    self.attempt(name, value, way)

    def printed(self, advised):
        """The ways in which a piece of advice is printed for a server of this release."""
        ways = [("line", one) for one in lines(advised["conf"])]
        if advised["concerned"]:
            ways.append(("script", advised["script"]))
        return ways

    def held(self, advised):
        name, value = advised["name"], advised["value"]
        if (name, value) in self.held_back:
            return
        self.held_back.add((name, value))
        if " is refused here." in advised["held_back"] and self.server.takes(name, value)[0]:
            self.wrongly_held.append(f"{name} = {value!r} is taken, and held back: {advised['held_back']}")

    def attempt(self, name, value, way):
        self.differ(name, value)
        good, said = self.way(name, value, *way)
        if not good:
            self.refused.append(f"{way[0]} `{way[1]}`: {said.strip()[-400:]}")

    def way(self, name, value, kind, text, *more):
        return getattr(self, kind)(name, value, text, *more)

    def differ(self, name, value):
        """Lets the server run with another value, where one that it has already would prove nothing."""

    def shell(self, lines):
        """Runs the lines that are no comment, as the administrator of the server."""
        user = {"PGUSER": "postgres", "PGDATABASE": "postgres", "PGHOST": self.server.socket}
        said = ""
        for line in (line for line in lines if not line.startswith("#")):
            done = subprocess.run(["sh", "-c", line], env={**os.environ, **user, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said += done.stdout
            if done.returncode != 0:
                return False, said
        return True, said

    def script(self, name, value, text):
        """A step of the script: its commands apply the value, which comes into force, verify and undo it."""
        apply, verify, undo = commands(text)
        restart = "# then restart the server" in apply
        # Without a command, the line of the file applies the value, and has a way of its own.
        is_applied = any(not line.startswith("#") for line in apply)
        before = self.shown(name)
        good, said = self.shell(apply)
        if good and is_applied and restart:
            good, said = self.again(), self.server.said()
        if good and is_applied:
            good, said = self.settled(name, value)
        if good:
            good, said = self.shell(verify)
        undone, complaint = self.shell(undo)
        if is_applied:
            self.restore(name, before)
        if is_applied and restart:
            self.again()
        return good and undone, said if not good else complaint

    def again(self):
        self.server.stop()
        return self.server.start()


def another(row, value):
    """A value of a setting of PostgreSQL that is not this one."""
    if row["form"] in ("bool", "enum"):
        words = row["words"] or ["on", "off"]
        return next(word for word in words if not same(value, word) and not same(word, value))
    if row["form"] in ("integer", "real"):
        # The default first: the lowest of a range can be refused for the sake of another setting, as two megabytes of WAL.
        numbers = (row["default"], row["low"], row["high"])
        return next(number for number in numbers if float(number) != count(value, row["unit"]))
    # The only other setting that rules advise is debug_io_direct.
    return "data" if value != "data" else ""


class PostgresTrial(Trial):
    # What every server refuses, tried first. Checksums are chosen when a cluster is made, and are no line of a file.
    CONTROLS = [
        ("wal_sync_method", "sideways", "line", "wal_sync_method = sideways   # a word that there is not"),
        ("data_checksums", "on", "line", "data_checksums = on   # no line of a file"),
        ("wal_sync_method", "sideways", "script", STEP.format("psql -c \"ALTER SYSTEM SET wal_sync_method = 'sideways'\"")),
        ("wal_sync_method", "sideways", "script", STEP.format("psql -h /nowhere -c 'SHOW wal_sync_method'")),
    ]

    differing_for = None

    def differ(self, name, value):
        row = self.server.here[name]
        if self.differing_for == (name, value) or row["change"] == "initdb":
            return
        self.differing_for = (name, value)
        self.server.file("before.conf", f"{name} = '{another(row, value)}'\n")
        if row["change"] == "restart":
            if not self.again():
                raise Failed(f"{self.server.version} does not start with {name} = {another(row, value)}: {self.server.said()}")
        else:
            self.server.sql("SELECT pg_reload_conf()")
        if not self.settled(name, another(row, value))[0]:
            raise Failed(f"{self.server.version} does not run with {name} = {another(row, value)}")

    def shown(self, name):
        return self.server.sql(f"SHOW {name}")[1]

    def holds(self, name, value, shown):
        """Whether what is shown is the value: sizes and times have one unit in files, and another where they are shown."""
        row = self.server.here[name]
        if row["form"] not in ("integer", "real") or value == "-1":
            return same(value, shown)
        setting = self.server.sql(f"SELECT setting FROM pg_settings WHERE name = '{name}'")[1]
        return count(value, row["unit"]) == float(setting)

    def settled(self, name, value):
        """Whether the value comes into force; a reload takes a moment."""
        until = time.monotonic() + 10
        while not self.holds(name, value, shown := self.shown(name)):
            if time.monotonic() > until:
                return False, f"{name} is {shown!r}"
            time.sleep(0.02)
        waits = self.server.sql(f"SELECT pending_restart FROM pg_settings WHERE name = '{name}'")[1]
        return waits == "f", f"pending_restart is {waits}"

    def line(self, name, value, text):
        """A line in a file: without an error in pg_file_settings, and in force after a reload, or a restart where it says so."""
        self.server.file("walwise.conf", text + "\n")
        restart = "(needs a restart)" in text
        # With another value in force, what waits for a restart is an error until then.
        said = " ".join(self.server.errors("setting could not be applied" if restart else ""))
        good = not said
        if good and restart:
            good, said = self.again(), self.server.said()
        elif good:
            good, said = self.server.sql("SELECT pg_reload_conf()")
        if good:
            good, said = self.settled(name, value)
        if good:
            said = " ".join(self.server.errors())
            good = not said
        self.server.file("walwise.conf", "")
        if restart or self.server.process is None or not self.server.answers():
            self.again()
        else:
            self.server.sql("SELECT pg_reload_conf()")
        return good, said

    def restore(self, name, _):
        """Nothing: the step's own commands undo it."""

    def script(self, name, value, text):
        return self.checksums(text) if name == "data_checksums" else super().script(name, value, text)

    def checksums(self, text):
        """A step on a stopped cluster of its own: what the commands make of its checksums."""
        another = os.path.join(self.server.home, "another")
        apply, _, undo = ([line for line in part if not line.startswith("#")] for part in commands(text))
        is_new = any("DIRECTORY" in line for line in apply)
        if not is_new and self.server.run("test", "-x", os.path.join(self.server.bin, "pg_checksums"))[0] is False:
            self.remarks.append("`pg_checksums` is not part of these packages, so what it does was not tried")
            self.ways -= 1
            return True, ""
        if not is_new:
            self.server.initdb(another, *([] if int(self.server.version.split(".")[0]) < 18 else ["--no-data-checksums"]))
        for lines, becomes in ((apply, "on"), ([] if is_new else undo, "off")):
            for line in lines:
                line = re.sub(r"PATH=\S+", f"PATH={self.server.bin}:/usr/bin", line)
                line = line.replace("DIRECTORY", another).replace(self.server.data, another)
                good, said = self.server.run("env", f"PATH={self.server.bin}:/usr/bin:/bin", "sh", "-c", line)
                if not good:
                    return False, said
            if lines:
                self.server.stop()
                good, said = self.server.start(data=another), self.server.said()
                shown = self.shown("data_checksums") if good else said
                self.again()
                if shown != becomes:
                    return False, shown
        shutil.rmtree(another)
        return True, ""


class MariadbTrial(Trial):
    CONTROLS = [
        ("innodb_flush_method", "sideways", "line", "innodb_flush_method = sideways   # a word that there is not"),
        ("innodb_io_capacity", "1", "line", "innodb_io_capacity = 1   # less than the least"),
        ("innodb_flush_neighbors", "7", "script", STEP.format("mariadb -e 'SET GLOBAL innodb_flush_neighbors = 7'")),
    ]

    def shown(self, name):
        return self.server.sql(f"SELECT @@GLOBAL.{name}")[1]

    def settled(self, name, value):
        shown = self.shown(name)
        return same(value, shown), f"{name} is {shown!r}"

    def line(self, name, value, text):
        """A line in an option file: the server starts with it and does not complain of it."""
        self.server.stop()
        self.server.file("walwise.cnf", f"[mysqld]\n{text}\n")
        good = self.server.start()
        said = self.server.said()
        if good:
            complaints = self.server.complaints(name)
            good, said = self.settled(name, value)
            good, said = good and not complaints, " ".join([said, *complaints])
        self.server.stop()
        self.server.file("walwise.cnf", "")
        self.server.start()
        return good, said

    def restore(self, name, before):
        """The step cannot know the value before, if the server was not asked."""
        self.server.sql(f"SET GLOBAL {name} = {before if before.isdigit() else repr(before)}")
