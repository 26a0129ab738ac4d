#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""check_ctf.py DIR JSON: a CTF trace, as babeltrace2 reads it, and what
--format=json says of the same events agree, event by event and field by field.
Prints what differs; the last line is "N events, M values agree"."""
import calendar
import json
import math
import re
import struct
import sys
import time

import bt2

WHY = {
    "caller_unknown": "caller_unknown",
    "division_by_zero": "division_by_zero", "cut_before": "cut",
    "not_readable": "not_readable", "bad_selector": "bad_selector",
    "left_alone": "left_alone", "not_tried": "not_tried",
    "not_available_here": "not_available_here", "not_traced": "not_traced",
    "not_formatted": "not_formatted", "no_prefix": "no_prefix",
    "needs_module": "needs_module",
}
POINTERS = ("not_readable", "bad_selector", "left_alone", "not_tried")
VALUES = ("value", "cut", "no_end", "too_short", "as_text")


class Differs(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Differs(" ".join(str(w) for w in what))


def plain(field):
    """A CTF field as Python has it; enumerations as (number, names)."""
    if isinstance(field, bt2._VariantFieldConst):
        return plain(field.selected_option)
    if isinstance(field, bt2._EnumerationFieldConst):
        try:
            return (int(field), sorted(field.labels))
        except AssertionError:  # babeltrace2 2.0: there are none
            return (int(field), [])
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    if isinstance(field, bt2._RealFieldConst):
        return float(field)
    if isinstance(field, bt2._StringFieldConst):
        return str(field)
    if isinstance(field, bt2._StructureFieldConst):
        return {name: plain(value) for name, value in field.items()}
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(element) for element in field]
    raise Differs(f"a field of type {type(field)}")


def hidden(text):
    """Where CTF has \\xHH: for what is no UTF-8, where JSON has U+FFFD, and for
    zeros; in names for all controls."""
    return re.sub(r"(\\x[0-9A-F]{2}|\ufffd|\0|\x1b)+", "?", text)


def iso_ns(text):
    """ns since 1970 of a time as tracefmt prints it, in UTC."""
    match = re.fullmatch(r"(-?\d+-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?Z?",
                         text)
    if not match:
        return None
    seconds = calendar.timegm(time.strptime(
        f"{match[1]} {match[2]}", "%Y-%m-%d %H:%M:%S"))
    return seconds * 10**9 + int((match[3] or ".0")[1:].ljust(9, "0"))


def same_real(ctf, other):
    if isinstance(other, str):
        other = float(other.lower())
    if math.isnan(ctf) or math.isnan(other):
        return math.isnan(ctf) and math.isnan(other)
    if math.isinf(ctf) or math.isinf(other):
        return ctf == other
    try:
        narrow = struct.unpack("f", struct.pack("f", other))[0]
    except OverflowError:
        narrow = other
    return ctf in (other, narrow)


def same_struct(ctf, other, path):
    members = dict(other)
    for name, value in ctf.items():
        if re.fullmatch(r"(m\d+_)?anonymous\d+", name):
            inner = {key: members.pop(key) for key in list(members)
                     if isinstance(value, dict) and key in value}
            same(value, inner, f"{path}.{name}")
            continue
        key = name
        if key not in members:      # m1_a_b: not a name in CTF
            key = next((k for k in members if re.fullmatch(
                r"m\d+_" + re.sub(r"\W", "_", k), name) or
                re.sub(r"\W", "_", k) == name or
                k.lstrip("_") == name), None)
        expect(key is not None, path, "has no", name, "in JSON", list(members))
        same(value, members.pop(key), f"{path}.{key}")
    left = {k: v for k, v in members.items() if v not in ([], {})}
    expect(not left, path, "has in JSON only", left)


def same_enum(ctf, other, path):
    number, labels = ctf
    if isinstance(other, bool):
        expect(labels == [str(other).lower()], path, ctf, other)
    elif not isinstance(other, dict):
        expect(number == other, path, ctf, other)
    else:
        expect(number == other["value"], path, ctf, other)
        name = other["name"]
        if labels:
            expect(hidden(name) in map(hidden, labels), path, ctf, other)
        else:
            expect(name is None or "|" in name, path, ctf, other)


def same_bytes(ctf, other, path):
    data = bytes(ctf["bytes"])
    expect(ctf["length"] == len(data), path, ctf)
    expect(data.hex() == other, path, data.hex(), other)


def same_dict(ctf, other, path):
    keys = set(ctf)
    if keys == {"length", "bytes"} and not isinstance(other, dict):
        same_bytes(ctf, other, path)
    elif keys == {"value", "names"}:
        expect(ctf["value"] == other["value"], path, ctf, other)
        names = [n for n in ctf["names"].split(" | ")
                 if n != f"0x{ctf['value']:X}"]
        expect(names == other["names"], path, ctf, other)
    elif keys == {"address", "name"}:
        expect(ctf["address"] == int(other["address"], 16), path, ctf, other)
        expect(hidden(other.get("symbol", other.get("module", "")))
               in hidden(ctf["name"]), path, ctf, other)
    elif keys == {"status", "text"} and isinstance(other, str):
        status = ctf["status"][1][0]
        same(ctf["text"] if status == "value" else
             ctf["text"]["text"] if status == "not_text" else "", other, path)
    elif keys == {"end", "length", "frames"}:
        same(ctf["frames"], other["frames"], path)
        expect(ctf["end"][1] == [other["end"]], path, ctf["end"], other)
    else:
        expect(isinstance(other, dict), path, ctf, other)
        same_struct(ctf, other, path)


def same_list(ctf, other, path):
    if isinstance(other, int):          # an integer of 16 bytes
        data = bytes(ctf)
        expect(other in (int.from_bytes(data, "little", signed=s)
                         for s in (True, False)), path, ctf, other)
    elif isinstance(other, str):        # bytes
        expect(bytes(ctf).hex() == other, path, ctf, other)
    else:
        expect(len(ctf) == len(other), path, ctf, other)
        for i, (a, b) in enumerate(zip(ctf, other)):
            same(a, b, f"{path}[{i}]")


def same(ctf, other, path):
    same.values += 1
    if isinstance(ctf, dict):
        same_dict(ctf, other, path)
    elif isinstance(ctf, tuple):
        same_enum(ctf, other, path)
    elif isinstance(ctf, list):
        same_list(ctf, other, path)
    elif isinstance(ctf, float):
        expect(same_real(ctf, other), path, ctf, other)
    elif isinstance(ctf, str):
        expect(isinstance(other, str) and hidden(ctf) == hidden(other), path,
               repr(ctf), repr(other))
    elif isinstance(other, str):
        number = int(other, 16) if other.startswith("0x") else iso_ns(other)
        expect(ctf == number, path, ctf, other)
    else:
        expect(ctf == other and not isinstance(other, bool), path, ctf, other)


same.values = 0


def same_status(status, ctf, other, note, path):
    """A field that has its status in front of it."""
    same.values += 1
    if status == "value" or (status in VALUES and other is not None):
        same(ctf, other, path)
        return
    if status == "not_text":
        expect(hidden(ctf["text"]) == hidden(other), path, ctf, other)
        if note and note["why"] == "not_text":
            expect(bytes(ctf["data"]["bytes"]).hex().startswith(note["data"]),
                   path, ctf, note)
        return
    if status == "empty":
        expect(other == "", path, "is empty and in JSON", other)
        return
    if status == "other_item":
        same_bytes(ctf, other, path)
        return
    if status in WHY:
        expect(other in (None, ""), path, "is", status, "and in JSON", other)
        expect(note["why"] == WHY[status], path, status, note)
        if status in POINTERS:
            expect(ctf["pointer"] == int(note["pointer"], 16), path, ctf, note)
        return
    expect(note is not None, path, status, "without a note in JSON")
    if "data" in note and status == "incomplete":
        same_bytes(ctf, note["data"], path)


def same_elements(elements, other, note, path):
    """Elements of %R; JSON has the first note only, null for no element."""
    if other is None:
        expect(len(elements) <= 1, path, elements, other)
        if elements:
            same_status(elements[0]["status"][1][0], elements[0]["value"],
                        None, note, path)
        return
    expect(len(elements) == len(other), path, elements, other)
    for i, (element, b) in enumerate(zip(elements, other)):
        status = element["status"][1][0]
        if status in VALUES:
            same(element["value"], b, f"{path}[{i}]")
        elif status != "not_text" and status != "incomplete":
            expect(b is None, path, i, element, b)


def ctf_name(name):
    """Move leading underscores to the end and add one more."""
    bare = name.lstrip("_")
    return name if bare == name else bare + "_" * (len(name) - len(bare) + 1)


def same_fields(event, line):
    payload = {name: plain(field)
               for name, field in event.payload_field.items()}
    other = line.get("fields", {})
    notes = line.get("notes", {})
    for name in other:
        raw = ctf_name(name)
        expect(raw in payload, "field", name, "isn't in CTF")
        ctf, status = payload.pop(raw), payload.pop(raw + "_status_", None)
        length = payload.pop(raw + "_length_", None)
        expect(length is None or length == len(ctf), name, length, ctf)
        if status is not None:
            same_status(status[1][0], ctf, other[name], notes.get(name), name)
        elif length is not None and ctf and isinstance(ctf[0], dict) and \
                set(ctf[0]) == {"status", "value"}:
            same_elements(ctf, other[name], notes.get(name), name)
        elif length == 0 and other[name] is None:
            pass
        else:
            expect(name not in notes, name, "has a note in JSON only",
                   notes.get(name))
            same(ctf, other[name], name)
    stack = payload.pop("stack_", None)
    if stack:
        same(stack, line["context"]["stack"], "stack")
    if "data" in payload and "data" in line:
        same_bytes(payload.pop("data"), line["data"], "data")
    data = payload.pop("data", None)
    expect(not data or not data["length"], "data is in CTF only", data)
    expect(not payload, "in CTF only:", list(payload))


LACKS = {0: "none", 1: None, 2: "being changed", 4: "not readable"}


def same_otel(context, other):
    status = context.pop("otel_status")
    ids = [bytes(context.pop(name)) for name in ("trace_id", "span_id")]
    lack = LACKS.get(status, "not known yet")
    if status == 1 and not all(any(i) for i in ids):
        lack = "none"
    expect(other.get("otel") == lack, "otel", status, other)
    for name, i in zip(("trace_id", "span_id"), ids):
        expect(other[name] == (None if lack else i.hex()), name, i, other)


def same_context(event, line):
    other = line.get("context", {})
    if event.specific_context_field is None:
        return
    context = {name: plain(field) for name, field in
               event.specific_context_field.items()}
    if "otel_status" in context:
        same_otel(context, other)
    for name, field in context.items():
        same(field, other[name], name)


def same_event(message, line):
    event = message.event
    context = {name: plain(field)
               for name, field in event.common_context_field.items()}
    moved = re.search(r"moved=(-?\d+)$", context["flags"])
    ns = int(moved[1]) if moved else \
        message.default_clock_snapshot.ns_from_origin
    expect(ns == line["time_ns"], "time", ns, line["time_ns"])
    for name in ("major", "minor", "pid", "tid"):
        same(context[name], line[name], name)
    comm = line.get("context", {}).get("comm", line.get("comm"))
    same(context["comm"], comm or "-", "comm")
    flags = re.sub(r",?moved=-?\d+$", "", context["flags"])
    same([f for f in flags.split(",") if f not in ("", "-")],
         line.get("flags", []), "flags")
    same(event.packet.context_field["cpu_id"], line["cpu"], "cpu")
    desc = line.get("desc") or f"major {line['major']} minor {line['minor']}"
    expect(hidden(event.name) == hidden(desc), "name", repr(event.name),
           repr(desc))
    same_context(event, line)
    same_fields(event, line)


def main(folder, path):
    with open(path, encoding="utf-8") as file:
        lines = {line["event"]: line for line in map(json.loads, file)}
    count = wrong = discarded = 0
    for message in bt2.TraceCollectionMessageIterator(folder):
        if isinstance(message, bt2._DiscardedEventsMessageConst):
            discarded += message.count or 0
        if not isinstance(message, bt2._EventMessageConst):
            continue
        number = int(message.event.common_context_field["number"])
        count += 1
        try:
            expect(number in lines, "is in CTF only, or twice")
            same_event(message, lines.pop(number))
        except (Differs, KeyError, TypeError) as problem:
            wrong += 1
            if wrong < 20:
                print(f"event {number}: {type(problem).__name__}: {problem}")
    if lines:
        print(f"in JSON only: events {list(lines)[:20]}")
    print(f"{discarded} discarded")
    print(f"{count} events, {same.values} values agree"
          if not wrong and not lines else f"{wrong} of {count} events differ")
    return 1 if wrong or lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
