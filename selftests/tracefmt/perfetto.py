#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks a file of the JSON Trace Event format by the rules of its document
("Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU),
and prints what a viewer shows:

	perfetto.py FILE [EVENTS]

A line for each slice, async slice and instant; EVENTS (the output of
--format=json of the same trace) must have the same events, fields and times."""

import json
import sys

REQUIRED = {"B": {"name", "cat"}, "E": {"name", "cat"}, "i": {"name", "cat", "s"},
            "b": {"name", "cat", "id"}, "e": {"name", "cat", "id"},
            "M": {"name", "cat", "args"}}
METADATA = {"process_name", "thread_name"}
UNITS = {"ms", "ns"}


def fail(text):
    sys.exit(f"perfetto.py: {text}")


def need(condition, text):
    if not condition:
        fail(text)


def no_twins(pairs):
    names = [name for name, _ in pairs]
    need(len(names) == len(set(names)), f"a name twice in {names}")
    return dict(pairs)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, object_pairs_hook=no_twins,
                         parse_constant=lambda c: fail(f"{c} is no JSON"))


def check_event(event):
    need(isinstance(event, dict), "an event that is no object")
    phase = event.get("ph")
    need(phase in REQUIRED, f"unknown phase {phase!r}")
    missing = {"ts", "pid", "tid"} | REQUIRED[phase]
    missing -= event.keys()
    need(not missing, f"{event} has no {missing}")
    need(isinstance(event["ts"], (int, float)), "ts is no number")
    for key in "pid", "tid":
        need(isinstance(event[key], int) and event[key] >= 0,
             f"{key} {event[key]!r}")
    for key in "name", "cat":
        need(isinstance(event.get(key, ""), str), f"{key} is no string")
    need(isinstance(event.get("args", {}), dict), "args is no object")
    need(event.get("s", "t") in ("g", "p", "t"), "scope of an instant")
    if phase == "M":
        need(event["name"] in METADATA, f"metadata {event['name']!r}")
        need(isinstance(event["args"]["name"], str), "a name is no string")


def ns(ts):
    return round(ts * 1000)


def show(kind, event, end=None, depth=0):
    name = event["name"]
    if end is None:
        length = "open"
    else:
        length = ns(end["ts"]) - ns(event["ts"])
        if "unmatched" in end.get("args", {}):
            length = f"{length} unmatched"
    print(kind, event["pid"], event["tid"], ns(event["ts"]), length,
          f"{'  ' * depth}{name}")


class Viewer:
    """Puts B and E, b and e together as the document says."""

    def __init__(self):
        self.stacks, self.asyncs, self.last = {}, {}, {}

    def see(self, event):
        phase, thread = event["ph"], (event["pid"], event["tid"])
        if phase == "M":
            print("name", *thread, event["name"], event["args"]["name"])
            return
        if phase in "BE":
            need(event["ts"] >= self.last.get(thread, event["ts"]),
                 f"{event} is older than the event before it")
            self.last[thread] = event["ts"]
        stack = self.stacks.setdefault(thread, [])
        tie = event.get("cat"), event.get("id"), event.get("name")
        if phase == "B":
            stack.append(event)
        elif phase == "E":
            need(stack, f"{event} ends nothing")
            need(stack[-1]["name"] == event["name"], f"{event} ends another")
            show("slice", stack.pop(), event, len(stack))
        elif phase == "b":
            need(tie not in self.asyncs, f"{tie} begins twice")
            self.asyncs[tie] = event
        elif phase == "e":
            need(tie in self.asyncs, f"{tie} ends, and never began")
            show("async", self.asyncs.pop(tie), event)
        else:
            show("instant", event, event)

    def finish(self):
        for stack in self.stacks.values():
            for depth, event in enumerate(stack):
                show("slice", event, None, depth)
        for event in self.asyncs.values():
            show("async", event)


def numbered(events):
    """Event number to (event, its fields)."""
    found = {}
    for event in events:
        args = event.get("args", {})
        for number, fields in (("event", "fields"), ("post event", "returns")):
            if number in args:
                need(args[number] not in found, f"event {args[number]} twice")
                found[args[number]] = event, args.get(fields, {})
    return found


def compare(events, path):
    found = numbered(events)
    first = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            want = json.loads(line)
            first = want["time_ns"] if first is None else first
            need(want["event"] in found, f"event {want['event']} is missing")
            event, fields = found.pop(want["event"])
            need(ns(event["ts"]) == want["time_ns"] - first,
                 f"time of event {want['event']}")
            need(event["tid"] % 10000000 == want["tid"], "thread of an event")
            need(fields == (want.get("fields") or {}),
                 f"event {want['event']}: {fields} is not {want.get('fields')}")
    need(not found, f"events {list(found)} are nowhere else")


def main():
    trace = load(sys.argv[1])
    need(isinstance(trace.get("traceEvents"), list), "no traceEvents")
    need(trace.get("displayTimeUnit") in UNITS, "displayTimeUnit")
    viewer = Viewer()
    for event in trace["traceEvents"]:
        check_event(event)
        viewer.see(event)
    viewer.finish()
    if len(sys.argv) > 2:
        compare(trace["traceEvents"], sys.argv[2])


main()
