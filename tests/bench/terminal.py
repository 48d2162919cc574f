"""A program in a terminal of its own (a PTY), with the time of every byte that it draws. Used by screens.py.

Nothing is drawn: what a screen shows is found by words that it writes whole. The one question that is answered is where the
cursor is, without which btm waits two seconds for a terminal that never tells.
"""
import fcntl, os, pty, re, signal, struct, termios, threading, time

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-Za-z]|\][^\x07]*\x07|[=>78M])")
WHERE = b"\x1b[6n"
# A frame is over when nothing more comes for this long; the next one of any program here is later than that.
FRAME_GAP = 0.008
# Beyond this a program is taken to have no answer.
PATIENCE = 20.0


class Terminal:
    def __init__(self, argv, size=(120, 40), env=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        name = os.ttyname(slave)
        self.news = threading.Condition()
        self.drawn = []  # (when, bytes)
        self.over = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm-256color",
               "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **(env or {})}
        # The first process of a session that opens a terminal gets it as its own. No fork of this interpreter is timed.
        files = [(os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        self.begun = time.perf_counter()
        self.pid = os.posix_spawn(argv[0], argv, env, file_actions=files, setsid=True)
        os.close(slave)

    def read(self):
        tail = b""
        while True:
            try:
                got = os.read(self.master, 1 << 16)
            except OSError:
                got = b""
            when = time.perf_counter()
            # A question may come in two pieces.
            if WHERE in tail + got:
                os.write(self.master, b"\x1b[1;1R")
            tail = (tail + got)[1 - len(WHERE):]
            with self.news:
                if got:
                    self.drawn.append((when, got))
                else:
                    self.over = True
                self.news.notify_all()
            if not got:
                return

    def mark(self):
        """What is drawn from now on begins here."""
        with self.news:
            return len(self.drawn)

    def since(self, mark):
        with self.news:
            return self.drawn[mark:]

    def until(self, mark, wanted, patience=PATIENCE):
        """Waits until this much was drawn; gives the place behind it and the time of its last byte, or nothing."""
        deadline = time.perf_counter() + patience
        with self.news:
            while True:
                said = b"".join(part for _, part in self.drawn[mark:])
                if self.drawn[mark:] and wanted(said):
                    return len(self.drawn), self.drawn[-1][0]
                left = deadline - time.perf_counter()
                if self.over or left <= 0:
                    return None
                self.news.wait(left)

    def until_quiet(self, gap):
        """Waits until nothing was drawn for this long; gives the time of the last byte."""
        with self.news:
            while True:
                last = self.drawn[-1][0] if self.drawn else time.perf_counter()
                left = last + gap - time.perf_counter()
                if left <= 0 or self.over:
                    return last
                self.news.wait(left)

    def press(self, keys, wanted=lambda said: True, patience=2.0):
        """Seconds from writing keys to the first and to the last byte of the frame that answers them; nothing where there is
        none."""
        mark = self.mark()
        began = time.perf_counter()
        os.write(self.master, keys)
        answer = self.until(mark, wanted, patience)
        if answer is None:
            return None
        behind, first = answer
        return first - began, self.end_of_frame(behind) - began

    def end_of_frame(self, behind):
        """The last byte of the frame of which this much was drawn: whatever follows without a gap belongs to it."""
        with self.news:
            at = behind - 1
            while True:
                last = self.drawn[at][0]
                if at + 1 < len(self.drawn):
                    if self.drawn[at + 1][0] - last > FRAME_GAP:
                        return last
                    at += 1
                    continue
                left = last + FRAME_GAP - time.perf_counter()
                if left <= 0 or self.over:
                    return last
                self.news.wait(left)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.reader.join(2)
        os.close(self.master)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def shows(word):
    """Whether this word was written whole, whatever its colours."""
    return lambda said: word in ESCAPES.sub(b" ", said)
