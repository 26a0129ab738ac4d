# SPDX-License-Identifier: GPL-2.0
"""json_lines.py EVENTS [TABLE]: what --format=json wrote is JSON Lines by the rules of
the page; TABLE, what --format=csv wrote of the same events, agrees."""
import csv
import datetime
import json
import re
import sys

KEYS = ["schema", "event", "time", "time_ns", "relative_ns", "boot_ns", "host",
        "trace", "major", "minor", "desc", "group", "types", "unformatted", "pid",
        "tid", "comm", "cpu", "length", "flags", "context", "fields", "notes",
        "data"]
TABLE = [key for key in KEYS if key not in ("relative_ns", "unformatted")]
NUMBERS = ["schema", "event", "time_ns", "boot_ns", "major", "minor", "pid", "tid",
           "cpu", "length"]


def wrong(text):
    sys.exit("line %d: %s" % (number, text))


def constant(name):
    wrong("%s is no JSON" % name)


def members(pairs):
    return dict(pairs)


def check_time(event):
    second, rest = divmod(event["time_ns"], 10 ** 9)
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=second)
    if event["time"] != "%s.%09dZ" % (day.isoformat(), rest):
        wrong("time %s is not %d" % (event["time"], event["time_ns"]))


def check_fields(event):
    notes = event.get("notes", {})
    for name, value in event.get("fields", {}).items():
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            wrong("field '%s'" % name)
        if value is None and name not in notes:
            wrong("field '%s' is null without a note" % name)
    for name, note in notes.items():
        if name not in event["fields"] or not note["why"]:
            wrong("note of '%s'" % name)
        if note["why"] == "not_text":
            bytes.fromhex(note["data"])


def check(event):
    known = [key for key in KEYS if key in event]
    if list(event) != known:
        wrong("keys %s" % list(event))
    for key in NUMBERS:
        if type(event[key]) is not int or (key != "time_ns" and
                                           event[key] < 0):
            wrong("%s is %r" % (key, event[key]))
    check_time(event)
    check_fields(event)
    if "data" in event and len(bytes.fromhex(event["data"])) > event["length"]:
        wrong("more data than the length says")
    if "unformatted" in event and "fields" in event:
        wrong("fields without a format")


def plain_text(cell):
    """The text of a cell, without its escapes."""
    cell = cell[1:] if cell[:1] == "'" else cell
    letters = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    text = re.sub(r"\\(x[0-9A-F]{2}|.)", lambda match: match[0] if
                  match[1][0] == "x" else letters[match[1]], cell)
    return re.sub(r"\\x([0-9A-F]{2})", lambda match: chr(int(match[1], 16)),
                  text)


def compare(event, row):
    """A cell is the member of its name."""
    if list(row) != TABLE:
        wrong("columns %s" % list(row))
    for key, cell in row.items():
        value = event.get(key)
        if key in ("fields", "notes", "context"):
            same = (json.loads(cell) if cell else None) == value
        elif key in ("flags", "types"):
            same = cell == " ".join(value or [])
        elif isinstance(value, str):
            same = "\ufffd" in value or "\\" in cell or \
                plain_text(cell) == value
        else:
            same = cell == ("" if value is None else str(value))
        if not same:
            wrong("%s: %r in the table, %r" % (key, cell, value))


events = []
number = 0
for line in open(sys.argv[1], "rb"):
    number += 1
    if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", line):
        wrong("a control character")
    event = json.loads(line.decode("utf-8", "strict"),
                       parse_constant=constant, object_pairs_hook=members)
    check(event)
    events.append(event)
if not events:
    sys.exit("no events")
if len(sys.argv) > 2:
    text = open(sys.argv[2], encoding="utf-8", newline="").read()
    if not text.endswith("\r\n"):
        sys.exit("the last row has no end")
    rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True,
                               restkey="more", restval=None))
    if len(rows) != len(events):
        sys.exit("%d rows of %d events" % (len(rows), len(events)))
    for number, (event, row) in enumerate(zip(events, rows), 1):
        if "more" in row or None in row.values():
            wrong("a row of another length")
        compare(event, row)
