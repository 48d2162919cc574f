"""What a server says of its own settings, and whether the table says the same: that they are there, what changes them, their
defaults, units, words and ranges.
"""
import os, tomllib

from fetch import Failed

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../rules/tables/servers.toml")
POSTGRES = """SELECT name, context, coalesce(boot_val, ''), setting, coalesce(unit, ''), vartype, coalesce(min_val, ''),
    coalesce(max_val, ''), array_to_string(enumvals, ',') FROM pg_settings WHERE name = ANY ('{%s}')"""
MARIADB = """SELECT LOWER(VARIABLE_NAME), READ_ONLY, COALESCE(DEFAULT_VALUE, ''), COALESCE(GLOBAL_VALUE, ''), '', VARIABLE_TYPE,
    COALESCE(NUMERIC_MIN_VALUE, ''), COALESCE(NUMERIC_MAX_VALUE, ''), COALESCE(ENUM_VALUE_LIST, '')
    FROM information_schema.SYSTEM_VARIABLES WHERE LOWER(VARIABLE_NAME) IN (%s)"""
CONTEXTS = {"user": "session", "superuser": "session", "sighup": "reload", "postmaster": "restart", "internal": "initdb"}
SIZES = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
TIMES = {"us": 1e-3, "ms": 1, "s": 1e3, "min": 6e4, "h": 36e5, "d": 864e5}
# A server's other names for the same: the word that was written, and the one that it answers.
SAME = {("on", "pglz"), ("off", "0"), ("on", "1"), ("archive", "replica"), ("hot_standby", "replica")}


def split(text):
    """A number and its unit."""
    digits = text.rstrip("".join({c for unit in (*SIZES, *TIMES) for c in unit}))
    return float(digits), text[len(digits):]


def count(text, unit):
    """How many of a unit of pg_settings (`8kB`, `MB`, `ms`) a written value is."""
    number, own = split(text)
    scale = next((units for units in (SIZES, TIMES) if own in units), None)
    if not own or scale is None:
        return number
    times, base = split(unit) if unit[:1].isdigit() else (1, unit)
    return number * scale[own] / (times * scale[base])


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


class Table:
    """The rows of the table for one kind of server."""

    def __init__(self, kind):
        whole = tomllib.load(open(TABLE, "rb"))
        rows = whole["postgres"] if kind == "postgres" else [row for row in whole["mysql"] if row["of"] == kind]
        self.names = sorted({name for row in rows for name in row["names"]})
        self.rows = {name: [row for row in rows if name in row["names"]] for name in self.names}
        self.words = {name: {word for row in self.rows[name] for word in row.get("values", [])} for name in self.names}
        for row in whole["postgres_value"] if kind == "postgres" else []:
            self.words[row["of"]] |= set(row["names"])

    def unit(self, name, release):
        """How many bytes or microseconds a number without a unit counts in a release."""
        units = [(split_release(since), amount) for row in self.rows[name] for since, amount in row.get("unit", {}).items()]
        return next((amount for since, amount in sorted(units, reverse=True) if split_release(release) >= since), None)


def split_release(text):
    return [int(part) for part in text.split(".") if part.isdigit()]


def described(server, table):
    """What the server says of each setting that the table has of any release."""
    if server.program.kind == "postgres":
        rows = server.rows(POSTGRES % ",".join(table.names), "|")
    else:
        rows = server.rows(MARIADB % ",".join(f"'{name}'" for name in table.names), "\t")
    kind, answer = server.program.kind, {}
    for row in rows:
        if len(row) != 9:
            raise Failed(f"{server.version}: a row of settings has {len(row)} fields: {row}")
        name, context, default, setting, unit, form, low, high, words = row
        change = CONTEXTS.get(context) or {"YES": "restart", "NO": "statement"}.get(context, context)
        answer[name] = {"change": change, "default": default, "setting": setting, "unit": unit, "form": form.lower(), "low": low,
                        "high": high, "words": words_of(kind, words, table.words[name])}
    return answer


def words_of(kind, listed, known):
    """Its words; MariaDB reads them in any case, and lists some in another one than they are written in."""
    listed = [word for word in listed.split(",") if word]
    written = {word.lower(): word for word in known} if kind == "mariadb" else {}
    return [written.get(word.lower(), word) for word in listed]


def asks(here, table):
    """The values about which the table is asked, so that each can be compared with what the server says."""
    pairs = []
    for name, row in here.items():
        pairs += [[name, word] for word in sorted({*row["words"], *table.words[name]})]
        if row["low"] and row["high"] and is_number(row["low"]):
            pairs += [[name, number] for number in edges(row)]
    return pairs


def edges(row):
    """The least and the greatest number, and those beyond them."""
    low, high = row["low"], row["high"]
    # Beyond this the table's numbers are not told apart.
    if float(high) > 2**53:
        return [low, high]
    return [low, high, str(int(low) - 1), str(int(high) + 1)]


class Comparison:
    def __init__(self, server, table, here, answer):
        self.server, self.table, self.here, self.answer, self.differing, self.compared = server, table, here, answer, [], 0
        self.narrower = []
        self.rulings = {(one["name"], one["value"]): one for one in answer["rulings"]}
        for setting in answer["settings"]:
            self.setting(setting)
        for name in answer["elsewhere"]:
            self.same(name not in here, f"{name} is there, and the table knows it of other releases alone")

    def same(self, so, what):
        self.compared += 1
        if not so:
            self.differing.append(what)

    def setting(self, setting):
        name = setting["name"]
        row = self.here.get(name)
        self.same(row is not None, f"{name} is not there")
        if row is None:
            return
        self.same(setting["change"] == row["change"], f"{name}: what changes it is {row['change']}, in the table {setting['change']}")
        if setting["default"] is not None:
            self.default(name, setting, row)
        if row["form"] in ("bool", "boolean"):
            self.form(name, "switch")
        for word in sorted({*row["words"], *self.table.words[name]}):
            self.word(name, word, row)
        numbers = edges(row) if is_number(row["low"]) and is_number(row["high"]) else []
        for number, inside in zip(numbers, (True, True, False, False)):
            self.number(name, number, inside)
        unit = self.table.unit(name, self.server.version) if self.server.program.kind == "postgres" else None
        if unit is not None:
            self.same(unit == amount_of(row["unit"]), f"{name}: the unit is {row['unit']}, in the table {unit} bytes or microseconds")

    def default(self, name, setting, row):
        told, is_ = setting["default"], row["setting"] if setting["change"] == "initdb" else row["default"]
        if row["form"] in ("integer", "real"):
            same = count(told, row["unit"]) == float(is_)
        else:
            numbers = is_number(told) and is_number(is_) and float(told) == float(is_)
            same = numbers or told.lower() == is_.lower() or (told.lower(), is_.lower()) in SAME
        self.same(same, f"{name}: the default is {is_!r}, in the table {told!r}")

    def form(self, name, form):
        rows = [row for row in self.table.rows[name] if "takes" in row]
        if rows:
            self.same(rows[0]["takes"] in (form, "words"), f"{name} is a {form}, in the table it takes {rows[0]['takes']}")

    def word(self, name, word, row):
        ruling = self.rulings[(name, word)]
        taken = word in row["words"] or self.server.takes(name, word)[0]
        if ruling["effect"] in ("ok", "deprecated"):
            self.same(taken, f"{name} = {word} is refused, in the table it is {ruling['effect']}")
        elif ruling["effect"] == "refused":
            self.same(not taken, f"{name} = {word} is taken, in the table it is refused: {ruling['because']}")
        elif ruling["effect"] == "unknown":
            # Known to hang on something that no release tells, or not known at all.
            self.same(ruling["known"] or not taken, f"{name} = {word} is taken, and the table does not know it")
        else:
            raise Failed(f"{name} = {word}: {ruling}")

    def number(self, name, number, inside):
        limited = any("range" in row or "values" in row for row in self.table.rows[name])
        if (inside and number.startswith("-")) or (not inside and not limited):
            return
        effect = self.rulings[(name, number)]["effect"]
        if inside and limited and effect == "unknown":
            # A range may end sooner than that of the server: walwise prints nothing beyond it.
            self.compared += 1
            self.narrower.append(f"The range of `{name}` in the table leaves out {number}, which the server takes")
        elif inside:
            self.same(effect in ("ok", "deprecated"), f"{name} = {number} is its edge, in the table it is {effect}")
        else:
            self.same(effect not in ("ok", "deprecated"), f"{name} = {number} is beyond its edge, in the table it is {effect}")


def amount_of(unit):
    """How much a unit of pg_settings is, in bytes or microseconds, as the table has it."""
    times, base = split(unit) if unit[:1].isdigit() else (1, unit)
    return times * (TIMES[base] * 1000 if base in TIMES else SIZES[base])
