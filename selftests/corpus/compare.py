# SPDX-License-Identifier: GPL-2.0
"""
Run by gdb: at many addresses of a program, compare the values that trcust's
expressions yield with what gdb prints at the same stop.

    gdb -batch -x compare.py PROGRAM

The environment:

    TRCUST      the compiler
    SCRATCH     a directory
    ARGUMENTS   of the program
    POINTS      how many addresses (300), HITS how many stops at each (3)
    REPORT      the file that gets the counts: "CLASS WHERE NUMBER" a line,
                and "why NUMBER REASON" for what gdb alone has
    PERF        1: count what perf probe has, too
    CORRUPT       1: corrupt every value, so that the comparison has to fail
    SHOW        a class whose pairs are printed

A pair is a variable and an address where it is in scope that the program came
to. WHERE: at the entry of its function, or inside. The classes:

    equal       both have it, and the same at every hit
    unequal     both have it, and not the same: printed always
    gdb-only    gdb has a value, trcust or its expression refuses
    ours-only   the other way round
    neither     both refuse
    early       trcust says that nothing has stored the variable's slot yet, or
                takes the register that will be stored there; gdb has what is
                left over in the slot (trcust/live_stores.sh compares these)
    unread      gdb fails to print it
    perf        of those that gdb has: perf probe has a place for it
"""
import collections
import os
import re
import struct
import subprocess
import sys
import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tdf as tdf_file  # noqa: E402

ENV = os.environ
SCRATCH = ENV["SCRATCH"]
HITS = int(ENV.get("HITS", "3"))
DATA_MAX = 1024
RPN_VECTOR = 0xe8
# the bytes are compared, not what they mean
SHAPES = "".join("language %s\ntype *\n\tmembers\n" % language
                 for language in ("c", "c++", "rust"))
# the worst of what a pair met at its hits counts
CLASSES = ("unequal", "gdb-only", "ours-only", "equal", "neither", "early",
           "unread")
EARLY = "its slot in the frame is not stored yet"


def gdb_bytes(value):
    """The bytes of a gdb.Value as (offset, bytes) runs; optimized out: None."""
    if value.is_optimized_out:
        return None
    if value.address is not None:
        return [(0, bytes(gdb.selected_inferior().read_memory(
            int(value.address), value.type.sizeof)))]
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return gdb_fields(value, kind)
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        size = kind.target().sizeof
        return gdb_runs(((i - low) * size, value[i])
                        for i in range(low, high + 1))
    if kind.code == gdb.TYPE_CODE_FLT:
        if kind.sizeof not in (4, 8):
            return None
        return [(0, struct.pack("<f" if kind.sizeof == 4 else "<d",
                                float(value)))]
    if "synthetic pointer" in str(value):
        return None
    mask = (1 << (8 * kind.sizeof)) - 1
    return [(0, (int(value) & mask).to_bytes(kind.sizeof, "little"))]


def gdb_fields(value, kind):
    runs = []
    for field in kind.fields():
        if not hasattr(field, "bitpos") or field.bitsize:
            continue
        part = gdb_bytes(value[field])
        if part is None:
            continue
        runs += [(field.bitpos // 8 + at, data) for at, data in part]
    return runs or None


def gdb_runs(parts):
    runs = []
    for offset, value in parts:
        part = gdb_bytes(value)
        if part is None:
            return None
        runs += [(offset + at, data) for at, data in part]
    return runs


class Pair:
    """A variable at an address."""

    def __init__(self, symbol):
        self.symbol = symbol
        self.reason = None      # why trcust refuses
        self.parts = None       # its expressions
        self.met = set()        # of CLASSES


class Point:
    def __init__(self, address):
        function = outermost(address)
        self.address = address
        self.offset = address - function.start if function else 0
        self.function = function and function.function.linkage_name
        self.pairs = {name: Pair(symbol)
                      for name, symbol in scope(address).items()}
        self.left = HITS
        self.refused = False

    def where(self):
        return "inside" if self.offset else "entry"


def outermost(address):
    """The block of the function that isn't inlined; or None."""
    block = gdb.block_for_pc(address)
    function = None
    while block is not None and not block.is_global and not block.is_static:
        if block.function is not None:
            function = block
        block = block.superblock
    return function


def scope(address):
    """The variables that C's rules find from there."""
    names = {}
    block = gdb.block_for_pc(address)
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and \
                    symbol.addr_class != gdb.SYMBOL_LOC_LABEL:
                names.setdefault(symbol.name, symbol)
        if block.function is not None:
            break
        block = block.superblock
    return {name: symbol for name, symbol in names.items()
            if re.fullmatch(r"[A-Za-z_]\w*", name)}


def addresses(program):
    """Where statements begin, spread over the program."""
    text = subprocess.run(["objdump", "--dwarf=decodedline", program],
                          stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL).stdout.decode()
    found = set()
    for line in text.splitlines():
        match = re.match(r"\S+\s+\d+\s+(0x[0-9a-f]+).*\bx\b", line)
        if match:
            found.add(int(match.group(1), 16))
    found = sorted(found)
    return found[::max(1, len(found) // int(ENV.get("POINTS", "300")))]


def write_tsf(path, program, points):
    """Which pair is on which line; None: the point itself."""
    lines = ["MODNAME=\"%s\"" % program, "MAJOR=1"]
    where = {}
    for minor, point in enumerate(points, 1):
        lines.append("TRACE MINOR=%d, TP=@ADDR,%#x" % (minor, point.address))
        where[len(lines)] = point, None
        for name, pair in point.pairs.items():
            if pair.reason is None:
                lines[-1] += ","
                lines.append("\tVARS=(%s)" % name)
                where[len(lines)] = point, pair
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    return where


def refusals(text):
    """(line, reason) of every error among the messages."""
    line = reason = None
    for row in text.splitlines():
        match = re.match(r"[^\n:]*corpus\.tsf:(\d+):\d+: (\w+): (.*)", row)
        if match:
            if line:
                yield line, reason
            line, reason = int(match.group(1)), match.group(3)
            if match.group(2) != "error":
                line = None
        match = re.match(r" *\| '.*' at \S+: (.*)", row)
        if match:
            reason = match.group(1)
    if line:
        yield line, reason


def compile_points(program, points):
    """Leave out what trcust refuses, until it refuses nothing."""
    path = os.path.join(SCRATCH, "corpus.tsf")
    shapes = os.path.join(SCRATCH, "corpus.shapes")
    with open(shapes, "w") as out:
        out.write(SHAPES)
    for _ in range(6):
        where = write_tsf(path, program, points)
        run = subprocess.run([ENV["TRCUST"], "--site=exact", "--shapes",
                              shapes, path],
                             stderr=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, check=False)
        text = run.stderr.decode()
        if not run.returncode:
            break
        for line, reason in refusals(text):
            point, pair = where[line]
            if pair is None:
                point.refused = True
            else:
                pair.reason = reason
        points = [p for p in points if not p.refused]
    if run.returncode:
        raise RuntimeError("trcust refuses again and again: " + text[:2000])
    take_expressions(points)
    return points


def take_expressions(points):
    tdf = tdf_file.Tdf(os.path.join(SCRATCH, "corpus.tdf"))
    by_address = {p.address: p for p in points}
    for record in tdf.points:
        site = tdf.sites[record[7]]
        if site[1] != site[2]:
            raise RuntimeError("the site isn't at the nominal address")
        pairs = by_address[site[2]].pairs.values()
        kept = [pair for pair in pairs if pair.reason is None]
        for pair, parts in zip(kept, tdf.items(record[7])):
            pair.parts = parts


def their_bytes(pair, frame):
    """(value, runs of bytes, None when it is optimized out)"""
    value = pair.symbol.value(frame)
    if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    return value, gdb_bytes(value)


def is_same(value, theirs, kind, ours):
    if kind == tdf_file.STMT_ASCIIZ:
        pointer = value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
        return ours == int(value if pointer else value.address)
    return len(ours) == min(value.type.sizeof, DATA_MAX) and \
        all(ours[at:at + len(data)] == data[:max(0, len(ours) - at)]
            for at, data in theirs)


def is_early(pair, value, frame):
    """A register for trcust, memory of this frame for gdb."""
    kind, _, rpn = pair.parts[0]
    stack = int(frame.read_register("rsp"))
    plain = rpn[0] == RPN_VECTOR or \
        0x70 <= rpn[0] <= 0x8f and len(rpn) == 2 and not rpn[1]
    return value.address is not None and plain and \
        kind in (tdf_file.STMT_VALUE, tdf_file.STMT_ASCIIZ) and \
        abs(int(value.address) - stack) < 1 << 20


def compare(point, name, machine, frame):
    """What class the pair has at this hit."""
    pair = point.pairs[name]
    try:
        value, theirs = their_bytes(pair, frame)
    except (gdb.error, ValueError, RuntimeError):
        return "unread"
    try:
        if pair.parts is None:
            raise tdf_file.Fault(pair.reason)
        kind, ours = machine.item(pair.parts)
    except tdf_file.Fault as fault:
        pair.reason = str(fault)
        if theirs is not None and pair.reason.startswith(EARLY):
            return "early"
        return "neither" if theirs is None else "gdb-only"
    if theirs is None:
        return "ours-only"
    if is_same(value, theirs, kind, ours):
        return "equal"
    if is_early(pair, value, frame):
        return "early"
    print("UNEQUAL %#x %s: trcust %s, gdb %s" %
          (point.address, name, ours, theirs))
    return "unequal"


class Stop(gdb.Breakpoint):
    def __init__(self, point, bias):
        super().__init__("*%#x" % (point.address + bias), internal=True)
        self.point, self.bias = point, bias

    def stop(self):
        # gdb 13 reads entry values wrongly in the frame of an inlined copy
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        machine = tdf_file.Machine(frame, self.bias, ENV.get("CORRUPT") == "1")
        for name, pair in self.point.pairs.items():
            pair.met.add(compare(self.point, name, machine, frame))
        self.point.left -= 1
        if not self.point.left:
            self.enabled = False
        return False


def perf_names(program, point):
    """The variables that perf probe finds at the address."""
    run = subprocess.run(
        ["perf", "probe", "-x", program, "-D", "%s+%d $vars" %
         (point.function, point.offset)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return set(re.findall(r" (\w+)=", run.stdout.decode()))


def count_pairs(program, points):
    counts = collections.Counter()
    for point in points:
        met = {name: next(c for c in CLASSES if c in pair.met)
               for name, pair in point.pairs.items() if pair.met}
        if ENV.get("PERF") == "1" and met:
            names = perf_names(program, point)
            counts["perf " + point.where()] += sum(
                met[name] in ("equal", "unequal", "gdb-only")
                for name in names & met.keys())
        for name, word in met.items():
            pair = point.pairs[name]
            counts[word + " " + point.where()] += 1
            if word == ENV.get("SHOW"):
                print(word, hex(point.address), name, pair.reason)
            if word == "gdb-only":
                counts["why", pair.reason] += 1
    return counts


def write_report(counts):
    with open(ENV["REPORT"], "w") as f:
        for key, number in counts.most_common():
            if isinstance(key, tuple):
                f.write("why %d %s\n" % (number, key[1]))
            else:
                f.write("%s %d\n" % (key, number))


def main():
    program = gdb.current_progspace().filename
    for setting in ("pagination off", "confirm off", "print inferior-events off",
                    "debuginfod enabled off", "breakpoint always-inserted on"):
        gdb.execute("set " + setting, to_string=True)
    linked = int(gdb.parse_and_eval("(long)&main"))
    points = [Point(a) for a in addresses(program)]
    points = compile_points(program, [p for p in points if p.pairs])
    gdb.execute("tbreak main", to_string=True)
    gdb.execute("run %s >/dev/null 2>&1 </dev/null" %
                ENV.get("ARGUMENTS", ""), to_string=True)
    bias = int(gdb.parse_and_eval("(long)&main")) - linked
    stops = [Stop(point, bias) for point in points]
    gdb.execute("continue")
    counts = count_pairs(program, points)
    counts["points all"] = len(stops)
    write_report(counts)


main()
