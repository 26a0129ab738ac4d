# SPDX-License-Identifier: GPL-2.0
"""
A TDF, and its expressions evaluated in a program that gdb has stopped: another
reading of include/rastrace/tdf.h and rpn.def than that of the kernel's side.
"""
import struct
import gdb

M64 = (1 << 64) - 1

STMT_MEM, STMT_ASCIIZ, STMT_VALUE, STMT_ABSENT = 1, 2, 3, 4
FLAG_MORE = 0x08


class Fault(Exception):
    """An expression that can't be evaluated, as the kernel would say."""


class Tdf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        tables = struct.unpack_from("<16I", self.data, 32)
        _, _, _, points, sites, stmts, rpn, _ = zip(tables[::2], tables[1::2])
        self.rpn = self.data[rpn[0]:rpn[0] + rpn[1]]
        self.stmts = [struct.unpack_from("<BBBBHHIIII", self.data,
                                         stmts[0] + 24 * i)
                      for i in range(stmts[1])]
        self.sites = [struct.unpack_from("<QQQIIBB15sB6xQII", self.data,
                                         sites[0] + 72 * i)
                      for i in range(sites[1])]
        self.points = [struct.unpack_from("<QHHHHIIIIIIII", self.data,
                                          points[0] + 48 * i)
                       for i in range(points[1])]

    def items(self, site):
        """The statements of each item: (kind, bytes, expression)."""
        first, count = self.sites[site][10:12]
        items = []
        for stmt in self.stmts[first:first + count]:
            part = (stmt[0], stmt[5], self.rpn[stmt[6]:stmt[6] + stmt[7]])
            if stmt[1] & FLAG_MORE:
                items[-1].append(part)
            else:
                items.append([part])
        return items


REGISTERS = {0: "rax", 1: "rdx", 2: "rcx", 3: "rbx", 4: "rsi", 5: "rdi",
             6: "rbp", 7: "rsp", 16: "rip", 49: "eflags", 58: "fs_base",
             59: "gs_base"}
REGISTERS.update({n: "r%d" % n for n in range(8, 16)})


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def leb(rpn, at, is_signed):
    value = shift = 0
    while True:
        byte = rpn[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            break
    if is_signed and byte & 0x40:
        value -= 1 << shift
    return value, at


FIXED = {0x08: "<B", 0x09: "<b", 0x0a: "<H", 0x0b: "<h", 0x0c: "<I",
         0x0d: "<i", 0x0e: "<Q", 0x0f: "<q"}


def divide(a, b):
    if not b:
        raise Fault("division by zero")
    q = abs(signed(a)) // abs(signed(b))
    return -q if (signed(a) < 0) != (signed(b) < 0) else q


BINARY = {
    0x1a: lambda a, b: a & b, 0x1b: divide, 0x1c: lambda a, b: a - b,
    0x1d: lambda a, b: a % b if b else divide(a, b),
    0x1e: lambda a, b: a * b, 0x21: lambda a, b: a | b,
    0x22: lambda a, b: a + b,
    0x24: lambda a, b: a << b if b < 64 else 0,
    0x25: lambda a, b: a >> b if b < 64 else 0,
    0x26: lambda a, b: signed(a) >> min(b, 63), 0x27: lambda a, b: a ^ b,
    0x29: lambda a, b: a == b, 0x2a: lambda a, b: signed(a) >= signed(b),
    0x2b: lambda a, b: signed(a) > signed(b),
    0x2c: lambda a, b: signed(a) <= signed(b),
    0x2d: lambda a, b: signed(a) < signed(b), 0x2e: lambda a, b: a != b,
}


class Machine:
    """Evaluates at the selected stop; `corrupt` makes every value wrong."""

    def __init__(self, frame, bias, corrupt=False):
        self.frame, self.bias, self.corrupt = frame, bias, corrupt

    def register(self, number):
        return int(self.frame.read_register(REGISTERS[number])) & M64

    def vector(self, number, byte):
        """8 bytes of XMM0 to XMM15, which are 17 to 32"""
        vector = self.frame.read_register("xmm%d" % (number - 17))
        return int(vector["v2_int64"][byte // 8]) & M64

    def memory(self, address, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except gdb.MemoryError as error:
            raise Fault("memory at %#x" % address) from error

    def evaluate(self, rpn):
        stack, at = [], 0
        while at < len(rpn):
            at = self.step(rpn, at, stack)
        return (stack[-1] + self.corrupt) & M64

    def step(self, rpn, at, stack):
        code = rpn[at]
        at += 1
        if code == 0x03:
            stack.append(struct.unpack_from("<Q", rpn, at)[0] + self.bias)
            at += 8
        elif code in FIXED:
            value, = struct.unpack_from(FIXED[code], rpn, at)
            stack.append(value & M64)
            at += struct.calcsize(FIXED[code])
        elif code in (0x10, 0x11):
            value, at = leb(rpn, at, code == 0x11)
            stack.append(value & M64)
        elif 0x30 <= code <= 0x4f:
            stack.append(code - 0x30)
        elif 0x70 <= code <= 0x8f:
            value, at = leb(rpn, at, True)
            stack.append((self.register(code - 0x70) + value) & M64)
        elif code == 0x92:
            number, at = leb(rpn, at, False)
            value, at = leb(rpn, at, True)
            stack.append((self.register(number) + value) & M64)
        elif code == 0xe8:
            number, at = leb(rpn, at, False)
            value, at = leb(rpn, at, True)
            stack.append(self.vector(number, value))
        elif code in BINARY:
            b, a = stack.pop(), stack.pop()
            stack.append(int(BINARY[code](a, b)) & M64)
        elif code == 0x23:
            value, at = leb(rpn, at, False)
            stack.append((stack.pop() + value) & M64)
        else:
            return self.step_more(rpn, at, code, stack)
        return at

    def step_more(self, rpn, at, code, stack):
        if code in (0x06, 0x94):
            size = 8
            if code == 0x94:
                size = rpn[at]
                at += 1
            stack.append(int.from_bytes(self.memory(stack.pop(), size),
                                        "little"))
        elif code == 0x12:
            stack.append(stack[-1])
        elif code == 0x13:
            stack.pop()
        elif code == 0x14:
            stack.append(stack[-2])
        elif code == 0x15:
            stack.append(stack[-1 - rpn[at]])
            at += 1
        elif code == 0x16:
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif code == 0x17:
            stack[-3:] = [stack[-1], stack[-3], stack[-2]]
        elif code == 0x19:
            stack.append(abs(signed(stack.pop())) & M64)
        elif code == 0x1f:
            stack.append(-stack.pop() & M64)
        elif code == 0x20:
            stack.append(~stack.pop() & M64)
        elif code in (0x28, 0x2f):
            jump, = struct.unpack_from("<h", rpn, at)
            at += 2
            if code == 0x2f or stack.pop():
                at += jump
        elif code != 0x96:
            raise ValueError("operation %#x" % code)
        return at

    def item(self, parts):
        """(kind, bytes): of a string its address instead of bytes."""
        data = b""
        for kind, size, rpn in parts:
            if kind == STMT_ABSENT:
                raise Fault("absent")
            value = self.evaluate(rpn)
            if kind == STMT_ASCIIZ:
                return kind, value
            if kind == STMT_VALUE:
                data += value.to_bytes(8, "little")[:size]
            else:
                data += self.memory(value, size)
        return STMT_MEM, data
