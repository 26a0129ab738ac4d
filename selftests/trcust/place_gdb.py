# SPDX-License-Identifier: GPL-2.0
"""Compare places of variables with what gdb reads at the same stops.

gdb -nx -batch -x place_gdb.py PROGRAM, with the environment
  PLACE_EVAL     the program place_eval
  PLACE_MODULE   the module that is looked at (else the program)
  PLACE_DEBUG    its debug file, where it hasn't its own
  PLACE_ARGS     arguments of the program
  PLACE_WHERE    stop at the line table's "rows" or at functions' "entries"
  PLACE_STOPS    most addresses to stop at, spread evenly (200)
  PLACE_HITS     most stops at one address (1)
  PLACE_NAMES    globals to look at as well; NAME=EXPRESSION: gdb takes that
  PLACE_REFS     look at references; gdb 13 crashes at those in pieces
  PLACE_VERBOSE  print every variable
  PLACE_REMOTE   a socket: the program is run by QEMU, of which this process
                 has the memory: PLACE_PID
Prints a line for each difference, "reason COUNT TEXT" for what isn't there,
and for "param", "local", "global" a line with counts of
  same       both have the value           absent   neither has
  gdb        only gdb has it               trcust   only trcust has it
  differ     both have one, not the same   none     trcust has no such name
"""
import collections
import os
import subprocess
import gdb

LEAVES = 64		# of one variable
ELEMENTS = 16		# of one array
REGISTERS = {
    "32": "eax ecx edx ebx esp ebp esi edi eip eflags".split(),
    "64": ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 "
           "rip eflags").split(),
    "a64": ["x%d" % i for i in range(31)] + ["sp", "pc", "cpsr"],
}
THREAD = {"64": "fs_base", "a64": "TPIDR_EL0"}
REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
env = os.environ


class Evaluator:
    """A place_eval process."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [env["PLACE_EVAL"], *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, universal_newlines=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def part(value, key):
    """None: gdb hasn't it."""
    try:
        return None if value is None else value[key]
    except (gdb.error, RuntimeError):
        return None


def leaves(value, type_, offset=0, depth=0):
    """(offset, value, type) of the scalars in a value."""
    type_ = type_.strip_typedefs()
    if type_.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in type_.fields():
            if not hasattr(field, "bitpos") or field.bitsize or depth > 4:
                continue
            yield from leaves(part(value, field), field.type,
                              offset + field.bitpos // 8, depth + 1)
            if type_.code == gdb.TYPE_CODE_UNION:
                break
    elif type_.code == gdb.TYPE_CODE_ARRAY:
        low, high = type_.range()
        element = type_.target()
        for i in range(low, min(high, low + ELEMENTS - 1) + 1):
            yield from leaves(part(value, i), element,
                              offset + (i - low) * element.sizeof, depth + 1)
    elif type_.code in REFERENCES and not env.get("PLACE_REFS"):
        return
    elif type_.sizeof in (1, 2, 4, 8):
        yield offset, value, type_


def number(value, type_):
    """The bytes of a scalar as a number; None: gdb has none."""
    try:
        if value is None or value.is_optimized_out:
            return None
        if type_.code in REFERENCES:
            return int(value.referenced_value().address)
        if type_.code == gdb.TYPE_CODE_FLT:
            return int(value.format_string(format="x"), 16)
        return int(value) & ((1 << 8 * type_.sizeof) - 1)
    except (gdb.error, ValueError, RuntimeError):
        return None


def extent(block):
    return block.start, block.end, str(block.function)


def blocks(block, to_function):
    while block and not block.is_global and not block.is_static:
        yield block
        if to_function and block.function:
            return
        block = block.superblock


def symbols_in_scope(frame):
    """(frame, symbol), innermost first, up to the function that isn't
    inlined. Where an inlined function begins gdb is still outside of it."""
    seen = set()
    try:
        for block in blocks(gdb.block_for_pc(frame.pc()), False):
            if extent(block) == extent(frame.block()):
                break
            seen.update(symbol.name for symbol in block)
    except RuntimeError:
        return
    while True:
        for block in blocks(frame.block(), True):
            for symbol in block:
                if not (symbol.is_variable or symbol.is_argument):
                    continue
                if symbol.name in seen or "@" in symbol.name:
                    continue
                seen.add(symbol.name)
                yield frame, symbol
        if frame.type() != gdb.INLINE_FRAME:
            return
        frame = frame.older()


class Comparison:
    def __init__(self, program):
        self.module = os.path.realpath(env.get("PLACE_MODULE") or program)
        debug = env.get("PLACE_DEBUG")
        self.evaluator = Evaluator(self.module, *[debug] if debug else [])
        self.totals = {kind: collections.Counter()
                       for kind in ("param", "local", "global")}
        self.reasons = collections.Counter()
        self.lines = []
        self.stops = 0
        self.machine = self.evaluator.ask("class")

    def compare(self, kind, name, offset, value, type_):
        theirs = number(value, type_)
        answer = self.evaluator.ask("get", name, offset, type_.sizeof)
        word, _, rest = answer.partition(" ")
        if word == "value":
            ours = int.from_bytes(bytes.fromhex(rest), "little")
            verdict = ("trcust" if theirs is None else
                       "same" if ours == theirs else "differ")
        elif word in ("absent", "fault"):
            verdict = "absent" if theirs is None else "gdb"
            self.reasons[rest.split(";")[0] if word == "absent" else word] += 1
        else:
            verdict = "none" if word == "none" else "differ"
        self.totals[kind][verdict] += 1
        if env.get("PLACE_VERBOSE") or verdict not in ("same", "absent"):
            self.lines.append("%s %#x %s %d %d gdb %s trcust %s" % (
                verdict, self.pc, name, offset, type_.sizeof,
                theirs if theirs is None else hex(theirs), answer))

    def compare_all(self, kind, name, value, type_):
        for i, leaf in enumerate(leaves(value, type_)):
            if i == LEAVES:
                break
            self.compare(kind, name, *leaf)

    def look(self, frame):
        self.stops += 1
        self.pc = frame.pc() - self.bias
        values = [int(frame.read_register(name)) & (2 ** 64 - 1)
                  for name in REGISTERS[self.machine]]
        if self.machine == "64":
            vectors = [frame.read_register("xmm%d" % i)["v2_int64"]
                       for i in range(16)]
            values += [int(vector[half]) & (2 ** 64 - 1)
                       for vector in vectors for half in range(2)]
        thread = THREAD.get(self.machine)
        base = int(frame.read_register(thread)) if thread else 0
        self.evaluator.ask("stop", *("%x" % value for value in (
            self.pc, self.pid, self.bias, base, *values)))
        for own, symbol in symbols_in_scope(frame):
            try:
                value = symbol.value(own)
            except gdb.error:
                value = None
            self.compare_all("param" if symbol.is_argument else "local",
                             symbol.name, value, symbol.type)
        for name in env.get("PLACE_NAMES", "").split():
            name, _, theirs = name.partition("=")
            value = gdb.parse_and_eval(theirs or name)
            self.compare_all("global", name, value, value.type)

    def start(self):
        """Run to main; the module is where it will stay."""
        ours = self.module == os.path.realpath(
            gdb.current_progspace().filename)
        linked = int(gdb.parse_and_eval("(long)&main")) if ours else 0
        remote = env.get("PLACE_REMOTE")
        if remote:
            gdb.execute("target remote " + remote, to_string=True)
        else:
            gdb.execute("set args %s >/dev/null 2>&1" %
                        env.get("PLACE_ARGS", ""))
        gdb.execute("tbreak main", to_string=True)
        gdb.execute("continue" if remote else "run", to_string=True)
        self.pid = int(env.get("PLACE_PID") or gdb.selected_inferior().pid)
        if ours:
            self.bias = int(gdb.parse_and_eval("(long)&main")) - linked
            return
        with open("/proc/%d/maps" % self.pid) as maps:
            self.bias = min(int(line.split("-")[0], 16) for line in maps
                            if line.rstrip().endswith(self.module))

    def addresses(self):
        found = [int(word, 16) + self.bias for word in self.evaluator.ask(
            env.get("PLACE_WHERE", "rows")).split()]
        found = sorted(set(found))
        most = int(env.get("PLACE_STOPS", "200"))
        if len(found) > most:
            found = [found[i * len(found) // most] for i in range(most)]
        return found

    def report(self):
        print(*self.lines, sep="\n")
        for reason, count in self.reasons.most_common():
            print("reason %d %s" % (count, reason))
        print("stops", self.stops)
        for kind, counter in self.totals.items():
            print(kind, *("%s=%d" % item for item in sorted(counter.items())))
        print("end")


def alive():
    return gdb.selected_inferior().pid != 0


def run_through(comparison):
    """Stop at each address PLACE_HITS times; what a breakpoint's stop() does
    in inlined functions may crash gdb."""
    stops = {address: gdb.Breakpoint("*%#x" % address, internal=True)
             for address in comparison.addresses()}
    left = dict.fromkeys(stops, int(env.get("PLACE_HITS", "1")))
    while alive():
        pc = gdb.newest_frame().pc()
        if left.get(pc):
            comparison.look(gdb.newest_frame())
            left[pc] -= 1
            stops[pc].enabled = left[pc] > 0
        gdb.execute("continue", to_string=True)


def main():
    for setting in ("confirm off", "pagination off", "height 0", "width 0",
                    "print frame-arguments none", "max-value-size unlimited",
                    "debuginfod enabled off", "breakpoint pending on"):
        gdb.execute("set " + setting)
    comparison = Comparison(gdb.current_progspace().filename)
    comparison.start()
    run_through(comparison)
    comparison.report()


main()
