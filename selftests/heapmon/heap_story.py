# SPDX-License-Identifier: GPL-2.0
"""A heap's story, the same each time, and what files made of it must say.

heap_story.py events EVENTS SPAN   as heap monitoring text; SPAN: microseconds
heap_story.py collapsed VALUE FILE EVENTS
heap_story.py massif FILE EVENTS SPAN
"""
import collections
import random
import re
import sys

STACKS = [["work(int)", "run", "main"], ["work(int)", "start;up", "main"],
          ["leaf %d" % i for i in range(40)],
          ["grow", "grow", "grow", "run", "main"], ["run", "main"], ["main"],
          ["rare", "main"]]
WEIGHTS = [40, 30, 10, 10, 5, 4, 1]
BEGIN = 1700000000000000


def events(count, span):
    """(time, address, size or None, stack)"""
    rng = random.Random(7)
    live = []
    free = list(range(0x10000, 0x10000 + 64 * count, 64))
    rng.shuffle(free)
    for i in range(count):
        time = BEGIN + span * i // count
        # it grows in the first half and shrinks in the second
        if live and rng.random() < (0.3 if i < count // 2 else 0.6):
            address = live.pop(rng.randrange(len(live)))
            free.append(address)
            yield time, address, None, STACKS[5]
        else:
            address = free.pop()
            live.append(address)
            stack = rng.choices(STACKS, WEIGHTS)[0]
            yield time, address, rng.randrange(64), stack




def history(count, span):
    """Sums by stack at the end, and at the peak; [(time, passed, bytes)]"""
    sums = collections.defaultdict(collections.Counter)
    at_peak, peak, now, passed = {}, 0, 0, 0
    blocks, course, last = {}, [], None
    for time, address, size, stack in events(count, span):
        if size is None:
            size, of = blocks.pop(address)
            sums[of].update(frees=1, free_bytes=size, temporary=last == address)
            now -= size
        else:
            of = tuple(stack)
            blocks[address] = size, of
            sums[of].update(allocs=1, alloc_bytes=size)
            now += size
            last = address
        passed += size
        course.append((time, passed, now))
        if now > peak:
            peak = now
            at_peak = {of: (s["allocs"] - s["frees"],
                            s["alloc_bytes"] - s["free_bytes"])
                       for of, s in sums.items()}
    return sums, at_peak, peak, course


VALUES = {
    "alloc_space": lambda s, p: s["alloc_bytes"],
    "alloc_objects": lambda s, p: s["allocs"],
    "inuse_space": lambda s, p: s["alloc_bytes"] - s["free_bytes"],
    "inuse_objects": lambda s, p: s["allocs"] - s["frees"],
    "peak_space": lambda s, p: p[1],
    "peak_objects": lambda s, p: p[0],
    "temporary": lambda s, p: s["temporary"],
}


def check_collapsed(value, path, count):
    sums, at_peak, _, _ = history(count, 1000)
    expected = collections.Counter()
    for stack, s in sums.items():
        number = VALUES[value](s, at_peak.get(stack, (0, 0)))
        if number > 0:
            expected[";".join(f.replace(";", ":")
                              for f in reversed(stack))] += number
    got = collections.Counter()
    for line in open(path):
        stack, number = line.rstrip("\n").rsplit(" ", 1)
        assert stack not in got, stack
        got[stack] = int(number)
    assert sum(expected.values()) > 0
    assert got == expected, (got - expected, expected - got)


def read_tree(lines, depth):
    children, size, text = re.fullmatch(
        " {%d}n([0-9]+): ([0-9]+) (.*)" % depth, next(lines)).groups()
    below = [read_tree(lines, depth + 1) for _ in range(int(children))]
    assert not below or sum(b[0] for b in below) == int(size), text
    return int(size), text, below


def read_massif(path):
    lines = iter(open(path).read().splitlines())
    head = [next(lines) for _ in range(3)]
    assert head[0].startswith("desc: ") and head[1].startswith("cmd: ")
    unit = head[2].removeprefix("time_unit: ")
    snapshots = []
    for line in lines:
        assert line == "#-----------"
        assert next(lines) == "snapshot=%d" % len(snapshots)
        assert next(lines) == "#-----------"
        fields = dict(next(lines).split("=") for _ in range(5))
        tree = fields["heap_tree"] != "empty" and read_tree(lines, 0)
        snapshots.append((int(fields["time"]), int(fields["mem_heap_B"]),
                          fields["heap_tree"], tree))
    return unit, snapshots


def check_peak_tree(tree, at_peak):
    """The callers with 1 % and more are there, with their bytes."""
    by_caller = collections.Counter()
    for stack, (_, size) in at_peak.items():
        by_caller[stack[0]] += size
    total = sum(by_caller.values())
    got = {text.split(": ", 1)[1]: size for size, text, _ in tree[2]
           if text.startswith("0x")}
    assert tree[0] == total
    assert got == {c: s for c, s in by_caller.items() if 100 * s >= total}, got
    work = [b for b in tree[2] if b[1].endswith(": work(int)")][0]
    assert [b[1] for b in work[2]] in (["0x0: run", "0x0: start;up"],
                                       ["0x0: start;up", "0x0: run"])


def check_massif(path, count, span):
    _, at_peak, peak, course = history(count, span)
    unit, snapshots = read_massif(path)
    peaks = [s for s in snapshots if s[2] == "peak"]
    assert unit == ("ms" if span >= 110000 else "B"), unit
    assert len(peaks) == 1 and peaks[0][1] == peak, peaks
    check_peak_tree(peaks[0][3], at_peak)
    assert all(s[3][0] == s[1] for s in snapshots if s[3])
    assert snapshots[0][:2] == (0, 0) and snapshots[-1][1] == course[-1][2]
    assert min(count, 50) <= len(snapshots) <= 102, len(snapshots)
    assert len([s for s in snapshots if s[2] == "detailed"]) >= 4
    times = [s[0] for s in snapshots]
    assert times == sorted(times)
    known = {((c[0] - BEGIN) // 1000 if unit == "ms" else c[1], c[2])
             for c in course} | {(0, 0)}
    assert all(s[:2] in known for s in snapshots)
    # they are spread over all of it
    end = times[-1]
    assert all(b - a <= max(end / 20, 1) for a, b in zip(times, times[1:]))


def main(action, *rest):
    if action == "events":
        for time, address, size, stack in events(int(rest[0]), int(rest[1])):
            print("1-1 %d 0x%x %s" % (time, address,
                                      "del notype" if size is None
                                      else "%d novtbl" % size),
                  "|".join(stack))
    elif action == "collapsed":
        check_collapsed(rest[0], rest[1], int(rest[2]))
    else:
        check_massif(rest[0], int(rest[1]), int(rest[2]))


main(*sys.argv[1:])
